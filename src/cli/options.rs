//! Options that several commands share, and how their values are parsed.

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

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Every command")]
pub struct Common {
    /// Settings file, over the usual ones (see `canopy config`)
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
    /// A folder of shaders in place of those compiled in
    #[arg(long, value_name = "DIR", global = true)]
    pub shaders: Option<PathBuf>,
    /// Log the stages of the work with their times; repeat for more
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Print errors only: no warnings, no progress, no last line
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
}

/// What `view` and `render` show.
#[derive(Debug, Args)]
pub struct LookArgs {
    /// Size of the picture or of the window, in pixels
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Picture")]
    pub size: Option<[u32; 2]>,
    /// A look by its name (Studio, Outdoors, Quality, …), or a file
    #[arg(long = "look", value_name = "NAME|FILE", help_heading = "Picture")]
    pub named: Option<String>,
    /// Stops (EV), auto (by the lights) or histogram (by the picture)
    #[arg(
        long,
        value_name = "EV|auto|histogram",
        allow_hyphen_values = true,
        value_parser = exposure,
        help_heading = "Picture"
    )]
    pub exposure: Option<ExposureMode>,
    /// Backdrop: environment, R,G,B (linear) or RRGGBB (sRGB)
    #[arg(long, value_name = "COLOR", value_parser = backdrop, help_heading = "Picture")]
    pub background: Option<Backdrop>,
    /// Below the scene, for its shadows; auto: unless it has a floor
    #[arg(
        long,
        value_name = "off|shadow|grid|auto",
        value_parser = GroundMode::ALL.map(GroundMode::name),
        hide_possible_values = true,
        help_heading = "Picture"
    )]
    pub ground: Option<String>,
    /// Environment as light: .hdr or .exr; .ktx2 or .dds (cube maps)
    #[arg(long, value_name = "FILE|sky|studio", help_heading = "Light")]
    pub env: Option<PathBuf>,
    /// Direction in which the sun's light travels; turns the sun on
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
    /// Ambient occlusion by rays; auto: not in software in `view`
    #[arg(
        long,
        value_name = "off|rays|auto",
        value_parser = words(&OcclusionMode::ALL, OcclusionMode::name),
        hide_possible_values = true,
        help_heading = "Light"
    )]
    pub occlusion: Option<OcclusionMode>,
    /// What glossy surfaces reflect, by rays; auto: not in software in `view`
    #[arg(
        long,
        value_name = "off|rays|auto",
        value_parser = words(&ReflectionMode::ALL, ReflectionMode::name),
        hide_possible_values = true,
        help_heading = "Light"
    )]
    pub reflections: Option<ReflectionMode>,
    /// Rays treat a node of the tree with at most N triangles as a leaf
    #[arg(
        long,
        value_name = "N",
        value_parser = within(Tree::LEAF_CUTOFF),
        help_heading = "Light"
    )]
    pub leaf_cutoff: Option<u32>,
    /// Boxes of the trees over the picture: of depths, or of leaves
    #[arg(
        long,
        value_name = "N|A-B|leaves|off",
        value_parser = boxes,
        help_heading = "Picture"
    )]
    pub tree_boxes: Option<BoxDepths>,
    /// Scene file whose surface the channel deviation measures from
    #[arg(long, value_name = "FILE", help_heading = "Picture")]
    pub deviation: Option<PathBuf>,
    /// From where.
    #[command(flatten)]
    pub camera: CameraArgs,
}

/// From where a scene is seen.
#[derive(Debug, Args)]
pub struct CameraArgs {
    /// Axis of the files that points up; auto: as they state it, else y
    #[arg(
        long,
        value_name = "y|z|x|-y|-z|-x|auto",
        allow_hyphen_values = true,
        value_parser = UpAxis::ALL.map(UpAxis::name),
        hide_possible_values = true,
        help_heading = "Camera"
    )]
    pub up: Option<String>,
    /// A camera of the file, by name or number
    #[arg(
        long,
        value_name = "NAME|N",
        conflicts_with_all = ["eye", "target"],
        help_heading = "Camera"
    )]
    pub camera: Option<String>,
    /// Position of the camera
    #[arg(
        long,
        value_name = "X,Y,Z",
        allow_hyphen_values = true,
        value_parser = vector,
        help_heading = "Camera"
    )]
    pub eye: Option<Vec3>,
    /// Point that the camera looks at; without, the scene's middle
    #[arg(
        long,
        value_name = "X,Y,Z",
        allow_hyphen_values = true,
        value_parser = vector,
        help_heading = "Camera"
    )]
    pub target: Option<Vec3>,
    /// Vertical field of view, unless a camera of the file is looked through
    #[arg(long, value_name = "DEG", value_parser = fov, help_heading = "Camera")]
    pub fov: Option<f64>,
    /// That of a picture, where neither of these is given.
    #[arg(skip)]
    pub view: Option<Viewpoint>,
}

/// The time and the variant in which a scene is shown.
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

/// `--background`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Backdrop {
    /// The environment.
    Environment,
    /// A linear colour.
    Color([f32; 3]),
}

/// Parses the word of one of `all`.
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
    /// Has shaders read from the folder that is named, if one is.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] and [`Error::NotFound`] for a folder that has none.
    pub fn read_shaders(&self) -> Result<()> {
        let named = std::env::var_os("CANOPY_SHADERS").map(PathBuf::from);
        if let Some(folder) = self.shaders.clone().or(named) {
            shaders::read_from(&folder)?;
        }
        Ok(())
    }

    /// The settings: the usual files, then `--config`, then `--set`, then the options that stand for keys.
    ///
    /// # Errors
    ///
    /// Those of [`Layered::read`] and [`Layered::set`].
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

    /// As [`Self::settings`], with what a picture tells and a look below `--config` and `--set`, and a
    /// warning for each key of the picture that is not taken. Files of the picture that `options`, `--set` or
    /// `--config` replace need not be there.
    ///
    /// # Errors
    ///
    /// Those of [`Self::settings`], [`Provenance::apply`] and [`looks::Look::find`].
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
            for line in made.apply_but(&mut config, search, given)? {
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

    /// Starts the log: warnings by default, more with `-v`, nothing with `-q`, or what `RUST_LOG` says.
    pub fn start_log(&self) {
        logger::start(self.quiet, self.verbose);
    }
}

/// Whether a settings file sets `key`, which is in a section.
fn names(text: &str, key: &str) -> bool {
    let Some((section, name)) = key.split_once('.') else {
        return false;
    };
    // What is wrong with the file is told where it is merged.
    let table: toml::Table = text.parse().unwrap_or_default();
    let section = table.get(section).and_then(toml::Value::as_table);
    section.is_some_and(|section| section.contains_key(name))
}

/// True where `--env` names an environment that canopy makes itself.
fn is_made(env: &Path) -> bool {
    ["sky", "studio"].iter().any(|made| env == Path::new(made))
}

impl LookArgs {
    /// The environment, where `--env` names a file.
    pub(crate) fn env_file(&self) -> Option<&Path> {
        self.env.as_deref().filter(|env| !is_made(env))
    }

    /// Whether one of these options stands for `key`, whose value is a file.
    fn gives(&self, key: &str) -> bool {
        match key {
            "environment.file" => self.env_file().is_some(),
            "deviation.file" => self.deviation.is_some(),
            _ => false,
        }
    }

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
                let what = "the name of an environment has to be Unicode";
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
                let what = "the name of a file to compare with has to be Unicode";
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

    /// Eye and target of the first view.
    pub fn look(&self) -> Look {
        self.camera.look()
    }

    /// Takes over the size and the view of a picture, as far as no option says otherwise.
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
    /// Sets the keys of `config` that these options stand for.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a value out of its range.
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

    /// Eye and target of the first view.
    pub fn look(&self) -> Look {
        Look {
            eye: self.eye,
            target: self.target,
            view: self.view,
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
    // A shell takes a word that begins with # for a comment.
    let color = linear(text.strip_prefix('#').unwrap_or(text))
        .or_else(|| vector(text).ok().map(|color| color.to_array()));
    let is_allowed = |color: &[f32; 3]| color.iter().all(|c| Image::BACKGROUND.contains(c));
    color.filter(is_allowed).map(Backdrop::Color).ok_or_else(|| {
        "expected environment, a linear colour such as 0.2,0.2,0.2, or an sRGB one such as 808080".into()
    })
}

/// The linear colour of six hexadecimal digits, sRGB.
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

/// Frames per second.
pub(super) fn fps(text: &str) -> Result<f64, String> {
    let fps = text.parse().ok().filter(|n| (0.001..=1e6).contains(n));
    fps.ok_or_else(|| "expected frames per second, such as 30".into())
}

/// Seconds after which no more paths are traced.
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
