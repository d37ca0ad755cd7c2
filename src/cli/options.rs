//! Options that several commands share, and how their values are parsed.

use crate::{
    Error, Result,
    config::{Animation, Camera, Config, OcclusionMode, ShadowMode, Tree, UpAxis, Window},
    scene::framing::Look,
};
use clap::{Args, ValueEnum};
use glam::Vec3;
use std::{ops::RangeInclusive, path::PathBuf};

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// Settings file, which overrides those in the usual places (see config.toml)
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Set any key of config.toml; VALUE is TOML, a bare word is a string
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// Part of the name of the graphics adapter
    #[arg(long, value_name = "NAME", global = true)]
    pub adapter: Option<String>,
    /// Graphics API: vulkan, metal, dx12 or gl
    #[arg(long, value_name = "NAME", global = true)]
    pub backend: Option<String>,
    /// Log more (repeat for more)
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Log nothing; print errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
}

/// What `view` and `render` show.
#[derive(Debug, Args)]
pub struct LookArgs {
    /// Size of the picture or of the window
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<[u32; 2]>,
    /// Environment that lights the scene and is seen behind it: .hdr or .exr (equirectangular), .ktx2 or .dds
    /// (cube map). Sets environment.file, and environment.source to auto
    #[arg(long, value_name = "FILE")]
    pub env: Option<PathBuf>,
    /// Shadow technique
    #[arg(long, value_name = "off|map|rays", hide_possible_values = true)]
    pub shadows: Option<Shadows>,
    /// Whether rays compute ambient occlusion; auto: on GPUs only
    #[arg(long, value_name = "off|rays|auto", hide_possible_values = true)]
    pub occlusion: Option<Occlusion>,
    /// Rays treat a node of the tree with at most N triangles as a leaf
    #[arg(long, value_name = "N", value_parser = within(Tree::LEAF_CUTOFF))]
    pub leaf_cutoff: Option<u32>,
    /// Axis of the files that points up; auto: as they state it, else y
    #[arg(
        long,
        value_name = "y|z|x|-y|-z|-x|auto",
        allow_hyphen_values = true,
        value_parser = UpAxis::ALL.map(UpAxis::name),
        hide_possible_values = true
    )]
    pub up: Option<String>,
    /// A camera of the file, by name or number
    #[arg(long, value_name = "NAME|N", conflicts_with_all = ["eye", "target"])]
    pub camera: Option<String>,
    /// Position of the camera
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = vector)]
    pub eye: Option<Vec3>,
    /// Point that the camera looks at (the middle of the scene if only --eye is given)
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = vector)]
    pub target: Option<Vec3>,
    /// Vertical field of view, unless a camera of the file is looked through
    #[arg(long, value_name = "DEG", value_parser = fov)]
    pub fov: Option<f64>,
    /// Direction in which the sun's light travels; turns the sun on
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = direction)]
    pub sun: Option<Vec3>,
}

/// The time and the variant in which a scene is shown.
#[derive(Debug, Args)]
pub struct TimeArgs {
    /// Clip to play, by name or number; "none" for the rest pose
    #[arg(long, value_name = "NAME|N")]
    pub clip: Option<String>,
    /// Time in the clip, in seconds
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = seconds)]
    pub time: Option<f64>,
    /// Material variant of the file, by name or number
    #[arg(long, value_name = "NAME|N")]
    pub variant: Option<String>,
}

/// [`ShadowMode`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[expect(missing_docs, reason = "ShadowMode documents them")]
pub enum Shadows {
    Off,
    Map,
    Rays,
}

/// [`OcclusionMode`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[expect(missing_docs, reason = "OcclusionMode documents them")]
pub enum Occlusion {
    Off,
    Rays,
    Auto,
}

impl Common {
    /// The configuration: the usual files, then `--config`, then `--set`, then the options that stand for
    /// keys.
    ///
    /// # Errors
    ///
    /// Those of [`Config::load`] and [`Config::set`].
    pub fn config(&self) -> Result<Config> {
        let mut config = Config::load(self.config.as_deref(), &self.set)?;
        if let Some(adapter) = &self.adapter {
            config.set("--adapter", "gpu.adapter", adapter.as_str())?;
        }
        if let Some(backend) = &self.backend {
            config.set("--backend", "gpu.backend", backend.as_str())?;
        }
        Ok(config)
    }

    /// Starts the log: warnings by default, more with `-v`, nothing with `-q`, or what `RUST_LOG` says.
    pub fn start_log(&self) {
        let filter = match (self.quiet, self.verbose) {
            (true, _) => "off",
            // wgpu's own lines are left out: those that matter come back as errors.
            (_, 0) => "off,canopy=warn",
            (_, 1) => "warn,canopy=info",
            (_, 2) => "info,canopy=debug",
            _ => "debug,canopy=trace",
        };
        env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(filter))
            .format_timestamp(None)
            .init();
    }
}

impl LookArgs {
    /// Sets the keys of `config` that these options stand for; `size` is that of `--size`.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a value out of its range, [`Error::Scene`] for a file name that is not Unicode.
    pub fn apply(&self, config: &mut Config, size: &str) -> Result<()> {
        if let Some([width, height]) = self.size {
            let pixels = vec![i64::from(width), i64::from(height)];
            config.set("--size", size, pixels)?;
        }
        if let Some(env) = &self.env {
            let Some(name) = env.to_str() else {
                let what = "the name of an environment has to be Unicode";
                return Err(Error::scene(env, what));
            };
            config.set("--env", "environment.file", name)?;
            config.set("--env", "environment.source", "auto")?;
        }
        if let Some(shadows) = self.shadows {
            config.shadows.mode = match shadows {
                Shadows::Off => ShadowMode::Off,
                Shadows::Map => ShadowMode::Map,
                Shadows::Rays => ShadowMode::Rays,
            };
        }
        if let Some(occlusion) = self.occlusion {
            config.occlusion.mode = match occlusion {
                Occlusion::Off => OcclusionMode::Off,
                Occlusion::Rays => OcclusionMode::Rays,
                Occlusion::Auto => OcclusionMode::Auto,
            };
        }
        if let Some(cutoff) = self.leaf_cutoff {
            config.set("--leaf-cutoff", "tree.leaf_cutoff", i64::from(cutoff))?;
        }
        if let Some(up) = &self.up {
            config.set("--up", "scene.up", up.as_str())?;
        }
        if let Some(camera) = &self.camera {
            config.set("--camera", "camera.name", camera.as_str())?;
        }
        if let Some(fov) = self.fov {
            config.set("--fov", "camera.fov", fov)?;
        }
        if let Some(sun) = self.sun {
            let direction: Vec<f64> = sun.to_array().map(f64::from).into();
            config.set("--sun", "sun.direction", direction)?;
            config.set("--sun", "sun.enabled", "on")?;
        }
        Ok(())
    }

    /// Eye and target of the first view.
    pub fn look(&self) -> Look {
        Look {
            eye: self.eye,
            target: self.target,
        }
    }
}

impl TimeArgs {
    /// Sets the keys of `config` that these options stand for.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a value out of its range.
    pub fn apply(&self, config: &mut Config) -> Result<()> {
        if let Some(clip) = &self.clip {
            config.set("--clip", "animation.clip", clip.as_str())?;
        }
        if let Some(time) = self.time {
            config.set("--time", "animation.time", time)?;
        }
        if let Some(variant) = &self.variant {
            config.set("--variant", "scene.variant", variant.as_str())?;
        }
        Ok(())
    }
}

/// Parses a number within the range of a key.
pub(super) fn within(
    range: RangeInclusive<u32>,
) -> impl clap::builder::TypedValueParser<Value = u32> {
    let (least, most) = range.into_inner();
    clap::value_parser!(u32).range(i64::from(least)..=i64::from(most))
}

pub(super) fn size(text: &str) -> Result<[u32; 2], String> {
    let side = |text: &str| text.parse().ok().filter(|n| Window::SIZE.contains(n));
    let (width, height) = text.split_once(['x', 'X']).unwrap_or_default();
    match (side(width), side(height)) {
        (Some(width), Some(height)) => Ok([width, height]),
        _ => {
            let (least, most) = Window::SIZE.into_inner();
            Err(format!(
                "expected WxH, such as 1280x720, each from {least} to {most}"
            ))
        }
    }
}

fn vector(text: &str) -> Result<Vec3, String> {
    let numbers: Vec<f32> = text
        .split(',')
        .filter_map(|n| n.trim().parse().ok().filter(|n: &f32| n.is_finite()))
        .collect();
    match numbers[..] {
        [x, y, z] if text.split(',').count() == 3 => Ok(Vec3::new(x, y, z)),
        _ => Err("expected three numbers, such as -0.5,1,2".into()),
    }
}

fn direction(text: &str) -> Result<Vec3, String> {
    let vector = vector(text)?;
    if vector.try_normalize().is_none() {
        return Err("has no direction".into());
    }
    Ok(vector)
}

fn fov(text: &str) -> Result<f64, String> {
    let (least, most) = Camera::FOV.into_inner();
    let range = f64::from(least)..=f64::from(most);
    let degrees = text.parse().ok().filter(|n| range.contains(n));
    degrees.ok_or_else(|| format!("expected degrees from {least} to {most}"))
}

fn seconds(text: &str) -> Result<f64, String> {
    let (least, most) = Animation::TIME.into_inner();
    let range = f64::from(least)..=f64::from(most);
    let seconds = text.parse().ok().filter(|n| range.contains(n));
    seconds.ok_or_else(|| "expected seconds, such as 1.5".into())
}
