//! Options shared by several commands, and the parsers of their values.

use super::{logger, shaders};
use crate::{
    Error, Result,
    config::{
        Animation, BoxDepths, Camera, Config, ExposureMode, GroundMode, Image, OcclusionMode, ReflectionMode,
        ShadowMode, Tree, UpAxis, Window, layered::Layered, looks,
    },
    provenance::{Provenance, Search},
    scene::{
        framing::{Look, Viewpoint},
        srgb,
    },
};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use glam::Vec3;
use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

/// Options common to all commands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Every command")]
pub struct Common {
    /// Additional settings file, over the usual ones (see `canopy config`)
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Set any key of config.toml; VALUE is TOML, a bare word is a string
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// Part of the graphics adapter's name
    #[arg(long, value_name = "NAME", global = true)]
    pub adapter: Option<String>,
    /// Graphics API: vulkan, metal, dx12 or gl
    #[arg(long, value_name = "NAME", global = true)]
    pub backend: Option<String>,
    /// Read the shaders from this folder, not the built-in ones
    #[arg(long, value_name = "DIR", global = true)]
    pub shaders: Option<PathBuf>,
    /// Log the stages of the work with times; repeat for more detail
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Print errors only: no warnings, progress or summary
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
}

/// Appearance options of `view` and `render`.
#[derive(Debug, Args)]
pub struct LookArgs {
    /// Size of the picture or window in pixels
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Picture")]
    pub size: Option<[u32; 2]>,
    /// Look: a name (Studio, Outdoors, Quality, …) or a file
    #[arg(long = "look", value_name = "NAME|FILE", help_heading = "Picture")]
    pub named: Option<String>,
    /// Exposure in stops (EV), auto (by lights) or histogram (by picture)
    #[arg(
        long,
        value_name = "EV|auto|histogram",
        allow_hyphen_values = true,
        value_parser = exposure,
        help_heading = "Picture"
    )]
    pub exposure: Option<ExposureMode>,
    /// Background: environment, R,G,B (linear) or RRGGBB (sRGB)
    #[arg(long, value_name = "COLOR", value_parser = backdrop, help_heading = "Picture")]
    pub background: Option<Backdrop>,
    /// Ground plane for shadows; auto: unless the scene has a floor
    #[arg(
        long,
        value_name = "off|shadow|grid|auto",
        value_parser = GroundMode::ALL.map(GroundMode::name),
        hide_possible_values = true,
        help_heading = "Picture"
    )]
    pub ground: Option<String>,
    /// Environment light: .hdr or .exr; .ktx2 or .dds (cube maps)
    #[arg(long, value_name = "FILE|sky|studio", help_heading = "Light")]
    pub env: Option<PathBuf>,
    /// Direction in which sunlight travels; enables the sun
    #[arg(
        long,
        value_name = "X,Y,Z",
        allow_hyphen_values = true,
        value_parser = direction,
        help_heading = "Light"
    )]
    pub sun: Option<Vec3>,
    /// Shadow technique
    #[arg(
        long,
        value_name = "off|map|rays",
        value_parser = words(&ShadowMode::ALL, ShadowMode::name),
        hide_possible_values = true,
        help_heading = "Light"
    )]
    pub shadows: Option<ShadowMode>,
    /// Ray-traced ambient occlusion; auto: off in `view` on software adapters
    #[arg(
        long,
        value_name = "off|rays|auto",
        value_parser = words(&OcclusionMode::ALL, OcclusionMode::name),
        hide_possible_values = true,
        help_heading = "Light"
    )]
    pub occlusion: Option<OcclusionMode>,
    /// Ray-traced reflections; auto: off in `view` on software adapters
    #[arg(
        long,
        value_name = "off|rays|auto",
        value_parser = words(&ReflectionMode::ALL, ReflectionMode::name),
        hide_possible_values = true,
        help_heading = "Light"
    )]
    pub reflections: Option<ReflectionMode>,
    /// Treat BVH nodes with at most N triangles as leaves in traversal
    #[arg(
        long,
        value_name = "N",
        value_parser = within(Tree::LEAF_CUTOFF),
        help_heading = "Light"
    )]
    pub leaf_cutoff: Option<u32>,
    /// Draw BVH node boxes: a depth, a range of depths, or the leaves
    #[arg(
        long,
        value_name = "N|A-B|leaves|off",
        value_parser = boxes,
        help_heading = "Picture"
    )]
    pub tree_boxes: Option<BoxDepths>,
    /// Scene file to which the channel deviation measures the distance
    #[arg(long, value_name = "FILE", help_heading = "Picture")]
    pub deviation: Option<PathBuf>,
    /// Camera options.
    #[command(flatten)]
    pub camera: CameraArgs,
}

/// Camera options.
#[derive(Debug, Args)]
pub struct CameraArgs {
    /// Up axis of the files; auto: as they state it, otherwise y
    #[arg(
        long,
        value_name = "y|z|x|-y|-z|-x|auto",
        allow_hyphen_values = true,
        value_parser = UpAxis::ALL.map(UpAxis::name),
        hide_possible_values = true,
        help_heading = "Camera"
    )]
    pub up: Option<String>,
    /// Camera of the file, by name or number
    #[arg(
        long,
        value_name = "NAME|N",
        conflicts_with_all = ["eye", "target"],
        help_heading = "Camera"
    )]
    pub camera: Option<String>,
    /// Camera position
    #[arg(
        long,
        value_name = "X,Y,Z",
        allow_hyphen_values = true,
        value_parser = vector,
        help_heading = "Camera"
    )]
    pub eye: Option<Vec3>,
    /// Camera target; default: centre of the scene
    #[arg(
        long,
        value_name = "X,Y,Z",
        allow_hyphen_values = true,
        value_parser = vector,
        help_heading = "Camera"
    )]
    pub target: Option<Vec3>,
    /// Vertical field of view in degrees, unless a file camera is used
    #[arg(long, value_name = "DEG", value_parser = fov, help_heading = "Camera")]
    pub fov: Option<f64>,
    /// View of the reopened picture, used unless one of these options is given.
    #[arg(skip)]
    pub view: Option<Viewpoint>,
}

/// Time and material variant.
#[derive(Debug, Args)]
#[command(next_help_heading = "Animation")]
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

/// Value of `--background`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Backdrop {
    /// The environment.
    Environment,
    /// A linear RGB colour.
    Color([f32; 3]),
}

/// Parses the name of one of `all`.
fn words<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let words = PossibleValuesParser::new(all.iter().map(move |one| name(*one)));
    words.try_map(move |word| {
        let found = all.iter().copied().find(|one| name(*one) == word);
        found.ok_or("no such word")
    })
}

impl Common {
    /// Makes canopy read its shaders from the folder given by `--shaders` or `CANOPY_SHADERS`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] and [`Error::NotFound`] if the folder has no shaders.
    pub fn read_shaders(&self) -> Result<()> {
        let named = std::env::var_os("CANOPY_SHADERS").map(PathBuf::from);
        if let Some(folder) = self.shaders.clone().or(named) {
            shaders::read_from(&folder)?;
        }
        Ok(())
    }

    /// Merges the settings in this order: the usual files, `--config`, `--set`, and the options that set
    /// keys.
    ///
    /// # Errors
    ///
    /// Any error of [`Layered::read`] and [`Layered::set`].
    pub fn settings(&self) -> Result<Layered> {
        let mut settings = Layered::read(self.config.as_deref(), &self.set)?;
        if let Some(adapter) = &self.adapter {
            settings.set("--adapter", "gpu.adapter", adapter.as_str())?;
        }
        if let Some(backend) = &self.backend {
            settings.set("--backend", "gpu.backend", backend.as_str())?;
        }
        Ok(settings)
    }

    /// Merges the settings like [`Self::settings`], but applies a picture's settings and a look before
    /// `--config` and `--set`, which override them. Logs a warning for each key of the picture that is
    /// skipped. Files of the picture that `options`, `--set` or `--config` replace need not exist.
    ///
    /// # Errors
    ///
    /// Any error of [`Self::settings`], [`Provenance::apply`] and [`looks::Look::find`].
    pub fn settings_over(
        &self,
        made: Option<(&Provenance, &Search<'_>)>,
        options: &LookArgs,
    ) -> Result<Config> {
        let mut config = Layered::read(None, &[])?.config;
        let own = self.config.as_ref().map(|path| {
            let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
            Ok::<_, Error>((path.display().to_string(), text))
        });
        let own = own.transpose()?;
        if let Some((made, search)) = made {
            let given = |key: &str| {
                let is_set = |set: &String| set.split('=').next().map(str::trim) == Some(key);
                let in_file = |(_, text): &(String, String)| names(text, key);
                options.gives(key) || self.set.iter().any(is_set) || own.as_ref().is_some_and(in_file)
            };
            for line in made.apply_except(&mut config, search, given)? {
                log::warn!("{}: {line}", search.picture.display());
            }
        }
        if let Some(name) = options.named.as_deref() {
            let look = looks::Look::find(name, looks::user_folder().as_deref())?;
            look.apply(&mut config)?;
        }
        if let Some((path, text)) = &own {
            config.merge(path, text)?;
        }
        for set in &self.set {
            config.set_text("--set", set)?;
        }
        for (option, key, value) in [
            ("--adapter", "gpu.adapter", &self.adapter),
            ("--backend", "gpu.backend", &self.backend),
        ] {
            if let Some(value) = value {
                config.set(option, key, value.as_str())?;
            }
        }
        Ok(config)
    }

    /// Starts the log: warnings by default, more with `-v`, nothing with `-q`. `RUST_LOG` overrides both.
    pub fn start_log(&self) {
        logger::start(self.quiet, self.verbose);
    }
}

/// True if the settings file with this `text` sets `key`, which must include its section.
fn names(text: &str, key: &str) -> bool {
    let Some((section, name)) = key.split_once('.') else {
        return false;
    };
    // A syntax error is reported later, when the file is merged.
    let table: toml::Table = text.parse().unwrap_or_default();
    let section = table.get(section).and_then(toml::Value::as_table);
    section.is_some_and(|section| section.contains_key(name))
}

/// True if `--env` names a built-in environment.
fn is_made(env: &Path) -> bool {
    ["sky", "studio"].iter().any(|made| env == Path::new(made))
}

impl LookArgs {
    /// Returns the environment file that `--env` names, or `None` for a built-in environment.
    pub(crate) fn env_file(&self) -> Option<&Path> {
        self.env.as_deref().filter(|env| !is_made(env))
    }

    /// True if one of these options sets `key`, whose value is a file.
    fn gives(&self, key: &str) -> bool {
        match key {
            "environment.file" => self.env_file().is_some(),
            "deviation.file" => self.deviation.is_some(),
            _ => false,
        }
    }

    /// Sets the keys of `config` that these options correspond to. `size` is the key that `--size` sets.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a value outside its range, [`Error::Scene`] for a file name that is not Unicode.
    pub fn apply(&self, config: &mut Config, size: &str) -> Result<()> {
        if let Some([width, height]) = self.size {
            let pixels = vec![i64::from(width), i64::from(height)];
            config.set("--size", size, pixels)?;
        }
        if let Some(exposure) = self.exposure {
            config.set("--exposure", "image.exposure", exposure.to_string())?;
        }
        match self.background {
            Some(Backdrop::Environment) => {
                config.set("--background", "environment.background", "environment")?;
            }
            Some(Backdrop::Color(color)) => {
                let color: Vec<f64> = color.map(f64::from).into();
                config.set("--background", "environment.background", "color")?;
                config.set("--background", "image.background", color)?;
            }
            None => {}
        }
        if let Some(ground) = &self.ground {
            config.set("--ground", "scene.ground", ground.as_str())?;
        }
        if let Some(env) = &self.env {
            let Some(name) = env.to_str() else {
                let what = "the name of the environment is not valid Unicode";
                return Err(Error::scene(env, what));
            };
            let is_made = is_made(env);
            if !is_made {
                config.set("--env", "environment.file", name)?;
            }
            let source = if is_made { name } else { "auto" };
            config.set("--env", "environment.source", source)?;
        }
        if let Some(file) = &self.deviation {
            let Some(name) = file.to_str() else {
                let what = "the name of the file to measure from is not valid Unicode";
                return Err(Error::scene(file, what));
            };
            config.set("--deviation", "deviation.file", name)?;
        }
        if let Some(mode) = self.shadows {
            config.shadows.mode = mode;
        }
        if let Some(mode) = self.occlusion {
            config.occlusion.mode = mode;
        }
        if let Some(mode) = self.reflections {
            config.reflections.mode = mode;
        }
        if let Some(cutoff) = self.leaf_cutoff {
            config.set("--leaf-cutoff", "tree.leaf_cutoff", i64::from(cutoff))?;
        }
        if let Some(depths) = self.tree_boxes {
            config.tree_boxes.show = depths;
        }
        self.camera.apply(config)?;
        if let Some(sun) = self.sun {
            let direction: Vec<f64> = sun.to_array().map(f64::from).into();
            config.set("--sun", "sun.direction", direction)?;
            config.set("--sun", "sun.enabled", "on")?;
        }
        Ok(())
    }

    /// Returns the eye, target or complete view that the options select for the first frame.
    pub fn look(&self) -> Look {
        self.camera.look()
    }

    /// Takes over the size and view of a picture, unless options override them.
    pub fn follow(&mut self, made: &Provenance) {
        self.size.get_or_insert(made.size);
        let camera = &mut self.camera;
        let has_view = camera.eye.is_some() || camera.target.is_some();
        if !has_view && camera.camera.is_none() && camera.fov.is_none() && camera.up.is_none() {
            camera.view = Some(made.viewpoint());
        }
    }
}

impl CameraArgs {
    /// Sets the keys of `config` that these options correspond to.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a value outside its range.
    pub fn apply(&self, config: &mut Config) -> Result<()> {
        if let Some(up) = &self.up {
            config.set("--up", "scene.up", up.as_str())?;
        }
        if let Some(camera) = &self.camera {
            config.set("--camera", "camera.name", camera.as_str())?;
        }
        if let Some(fov) = self.fov {
            config.set("--fov", "camera.fov", fov)?;
        }
        Ok(())
    }

    /// Returns the eye, target or complete view that the options select for the first frame.
    pub fn look(&self) -> Look {
        Look {
            eye: self.eye,
            target: self.target,
            view: self.view,
        }
    }
}

impl TimeArgs {
    /// Sets the keys of `config` that these options correspond to.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a value outside its range.
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
pub(super) fn within(range: RangeInclusive<u32>) -> impl TypedValueParser<Value = u32> {
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

fn exposure(text: &str) -> Result<ExposureMode, String> {
    let mode = ExposureMode::try_from(text.to_owned());
    mode.map_err(|_| {
        let (least, most) = ExposureMode::STOPS.into_inner();
        format!("expected auto, histogram or stops from {least} to {most}, such as -1.5")
    })
}

fn boxes(text: &str) -> Result<BoxDepths, String> {
    text.to_owned().try_into()
}

fn backdrop(text: &str) -> Result<Backdrop, String> {
    if text == "environment" {
        return Ok(Backdrop::Environment);
    }
    // The # is optional, because a shell treats a word that starts with it as a comment.
    let color = linear(text.strip_prefix('#').unwrap_or(text))
        .or_else(|| vector(text).ok().map(|color| color.to_array()));
    let is_allowed = |color: &[f32; 3]| color.iter().all(|c| Image::BACKGROUND.contains(c));
    color.filter(is_allowed).map(Backdrop::Color).ok_or_else(|| {
        "expected environment, a linear colour such as 0.2,0.2,0.2, or an sRGB one such as 808080".into()
    })
}

/// Converts six hexadecimal digits, sRGB, to a linear colour.
fn linear(digits: &str) -> Option<[f32; 3]> {
    let is_hex = digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit());
    let number = is_hex.then(|| u32::from_str_radix(digits, 16).ok())??;
    let [_, r, g, b] = number.to_be_bytes();
    Some([r, g, b].map(|byte| srgb::decode(f32::from(byte) / 255.0)))
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

/// Parses a frame rate.
pub(super) fn fps(text: &str) -> Result<f64, String> {
    let fps = text.parse().ok().filter(|n| (0.001..=1e6).contains(n));
    fps.ok_or_else(|| "expected frames per second, such as 30".into())
}

/// Parses the time limit of path tracing, in seconds.
pub(super) fn time_limit(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|n| (0.001..=1e9).contains(n));
    seconds.ok_or_else(|| "expected seconds, such as 60".into())
}

fn seconds(text: &str) -> Result<f64, String> {
    let (least, most) = Animation::TIME.into_inner();
    let range = f64::from(least)..=f64::from(most);
    let seconds = text.parse().ok().filter(|n| range.contains(n));
    seconds.ok_or_else(|| "expected seconds, such as 1.5".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backgrounds_are_linear_or_srgb() {
        assert_eq!(backdrop("environment"), Ok(Backdrop::Environment));
        let color = Backdrop::Color([0.5, 0.0, 2.0]);
        assert_eq!(backdrop("0.5,0,2"), Ok(color));
        assert_eq!(backdrop("0080ff"), backdrop("#0080FF"));
        let Ok(Backdrop::Color(grey)) = backdrop("#0080FF") else {
            panic!("no colour")
        };
        assert_eq!([grey[0], grey[2]], [0.0, 1.0]);
        assert!((grey[1] - 0.215_86).abs() < 1e-4, "{grey:?}");
        for wrong in ["", "#12345", "#1234567", "#12345é", "1,2", "-1,0,0", "red"] {
            assert!(backdrop(wrong).is_err(), "{wrong}");
        }
    }
}
