//! The command line: what can be asked, and the commands that need no window.

pub mod adapters;
pub mod bake_env;
pub mod bench;
pub mod export;
pub mod info;
pub mod render;

use crate::{
    Error, Result,
    config::{Animation, Camera, Config, OcclusionMode, ShadowMode, Tree, Window},
    scene::framing::Look,
};
use clap::{Args, Parser, Subcommand, ValueEnum};
use glam::Vec3;
use std::{ffi::OsString, io::Write, ops::RangeInclusive, path::PathBuf};

/// Real-time deferred renderer and scene viewer: shadow rays through trees that are regrown every frame.
#[derive(Debug, Parser)]
#[command(version, about, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
`canopy FILE…` is short for `canopy view FILE…`; several files make one scene, none shows the built-in scene.

Environment: RUST_LOG (log filter, over -v and -q), WGPU_BACKEND and WGPU_ADAPTER_NAME (where --backend and --adapter are not given).

Examples:
  canopy model.glb
  canopy render model.glb -o model.png --size 1920x1080 --shadows rays
  canopy render model.glb -o model.png --env beach.hdr
  canopy bake-env beach.hdr -o beach.json
  canopy render fox.glb -o fox-{frame:4}.png --frames 60 --fps 30 --clip Run
  canopy render model.glb -o model.exr --aov normal=normal.exr --aov cost=cost.png --stats stats.json";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open the viewer (the default); with no FILE, the built-in scene
    View(ViewArgs),
    /// Draw without a window
    Render(render::RenderArgs),
    /// Measure the tree on this adapter: its sort, build and rays, and whole frames
    Bench(bench::BenchArgs),
    /// Write the merged world-space triangles, read back from the GPU, as OBJ
    Export(export::ExportArgs),
    /// Write an environment as spherical harmonics and prefiltered cubes, for use elsewhere
    BakeEnv(bake_env::BakeArgs),
    /// Say what files hold, and what canopy ignores of it
    Info(info::InfoArgs),
    /// List the GPUs that wgpu can see, and why one is or is not usable
    Adapters(adapters::AdaptersArgs),
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// Settings over those of the usual places (see config.toml)
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Set any key of config.toml; VALUE is TOML, a bare word is a string
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// Part of the name of the graphics adapter to use
    #[arg(long, value_name = "NAME", global = true)]
    pub adapter: Option<String>,
    /// Graphics interface to use: vulkan, metal, dx12 or gl
    #[arg(long, value_name = "NAME", global = true)]
    pub backend: Option<String>,
    /// Say more about the work (repeat for more)
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
}

/// What `view` and `render` show, and how.
#[derive(Debug, Args)]
pub struct LookArgs {
    /// Size of the picture, or of the window
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<[u32; 2]>,
    /// Light from all around, and what is seen behind the scene: .hdr or .exr (equirectangular), or .ktx2 or .dds (cube map). Sets
    /// environment.file, and environment.source to auto
    #[arg(long, value_name = "FILE")]
    pub env: Option<PathBuf>,
    /// How shadows are made
    #[arg(long, value_name = "off|map|rays", hide_possible_values = true)]
    pub shadows: Option<Shadows>,
    /// Whether rays find out how much light arrives from everywhere
    #[arg(long, value_name = "off|rays|auto", hide_possible_values = true)]
    pub occlusion: Option<Occlusion>,
    /// Triangles that make a leaf for rays
    #[arg(long, value_name = "N", value_parser = within(Tree::LEAF_CUTOFF))]
    pub leaf_cutoff: Option<u32>,
    /// A camera of the file, by name or number
    #[arg(long, value_name = "NAME|N", conflicts_with_all = ["eye", "target"])]
    pub camera: Option<String>,
    /// Stand here
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = vector)]
    pub eye: Option<Vec3>,
    /// Look there (the middle of the scene if only --eye is given)
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = vector)]
    pub target: Option<Vec3>,
    /// Vertical field of view, where it is not a camera of the file
    #[arg(long, value_name = "DEG", value_parser = fov)]
    pub fov: Option<f64>,
    /// Direction in which the sun's light travels; switches the sun on
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = direction)]
    pub sun: Option<Vec3>,
}

/// What of the scene is shown: its moment and its variant.
#[derive(Debug, Args)]
pub struct TimeArgs {
    /// Clip to play, by name or number; "none" for the rest pose
    #[arg(long, value_name = "NAME|N")]
    pub clip: Option<String>,
    /// Time in the clip, in seconds
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = seconds)]
    pub time: Option<f64>,
    /// Variant of the file's materials, by name or number
    #[arg(long, value_name = "NAME|N")]
    pub variant: Option<String>,
}

/// `canopy view`.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Scene files (.gltf, .glb, .obj); several make one scene
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What is shown.
    #[command(flatten)]
    pub look: LookArgs,
    /// When.
    #[command(flatten)]
    pub time: TimeArgs,
    /// Leave after this many frames of the loaded scene
    #[arg(long, value_name = "FRAMES", value_parser = clap::value_parser!(u64).range(1..))]
    pub exit_after: Option<u64>,
    /// Save the window as this .png when --exit-after leaves, and with F12
    #[arg(long, value_name = "FILE")]
    pub screenshot: Option<PathBuf>,
    /// When --exit-after leaves, write frames, scenes, and the memory of the process and the GPU over time to this .json
    #[arg(long, value_name = "FILE", requires = "exit_after")]
    pub stats: Option<PathBuf>,
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

impl Cli {
    /// Parses a command line. A first argument that is no command belongs to `view`.
    ///
    /// # Errors
    ///
    /// clap's, which is also how `--help` and `--version` come back.
    pub fn parse_from_os(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut args: Vec<OsString> = args.into_iter().collect();
        let flag = |arg: &OsString| {
            let text = arg.to_string_lossy();
            ["--verbose", "--quiet"].contains(&&*text)
                || text.strip_prefix('-').is_some_and(|letters| {
                    !letters.is_empty() && letters.chars().all(|c| "vq".contains(c))
                })
        };
        let valued = ["--config", "--set", "--adapter", "--backend"];
        let mut first = 1;
        while let Some(arg) = args.get(first) {
            let text = arg.to_string_lossy();
            first += match text.split_once('=') {
                Some((name, _)) if valued.contains(&name) => 1,
                None if valued.contains(&&*text) => 2,
                _ if flag(arg) => 1,
                _ => break,
            };
        }
        let known = args.get(first).is_some_and(|arg| {
            let text = arg.to_string_lossy();
            let commands = <Self as clap::CommandFactory>::command();
            ["-h", "--help", "-V", "--version"].contains(&&*text)
                || commands.get_subcommands().any(|c| c.get_name() == text)
        });
        if !known {
            args.insert(first.min(args.len()), "view".into());
        }
        Self::try_parse_from(args)
    }
}

impl Common {
    /// The configuration with `--config`, `--set` and the options that stand for keys laid over it.
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

    /// Starts the log: warnings as they are, more with `-v`, less with `-q`, or what `RUST_LOG` says.
    pub fn start_log(&self) {
        let filter = match (self.quiet, self.verbose) {
            (true, _) => "off",
            // wgpu's own lines are for those who ask: what matters of them comes back as an error.
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
    /// Lays these options over `config`; `size` is the key that `--size` stands for.
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

    /// Where to stand and look.
    pub fn look(&self) -> Look {
        Look {
            eye: self.eye,
            target: self.target,
        }
    }
}

impl TimeArgs {
    /// Lays these options over `config`.
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

/// Writes to standard output. A reader that went away, as `head` does, is no failure.
fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("standard output", e))
        }
        _ => Ok(()),
    }
}

/// `JSON` as text with a newline at its end.
fn json_text(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

/// How an adapter is named in JSON.
fn adapter_json(info: &wgpu::AdapterInfo) -> serde_json::Value {
    serde_json::json!({
        "name": info.name,
        "backend": info.backend.to_str(),
        "driver": adapters::driver(info),
        "type": adapters::kind(info),
    })
}

/// Parses a number within the range of a key.
fn within(range: RangeInclusive<u32>) -> impl clap::builder::TypedValueParser<Value = u32> {
    let (least, most) = range.into_inner();
    clap::value_parser!(u32).range(i64::from(least)..=i64::from(most))
}

fn size(text: &str) -> Result<[u32; 2], String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        let words = std::iter::once("canopy").chain(line.split_whitespace());
        Cli::parse_from_os(words.map(OsString::from))
    }

    #[test]
    fn the_definition_is_sound() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn view_is_the_default() {
        for (line, files) in [
            ("", 0),
            ("a.glb b.obj", 2),
            ("--shadows map a.glb", 1),
            ("-v a.glb", 1),
            ("view a.glb -v", 1),
        ] {
            let Command::View(view) = parse(line).unwrap().command else {
                panic!("{line}: not view")
            };
            assert_eq!(view.files.len(), files, "{line}");
        }
        assert!(matches!(
            parse("-vv adapters").unwrap().command,
            Command::Adapters(_)
        ));
        assert_eq!(parse("-vv adapters").unwrap().common.verbose, 2);
        let global = parse("--set a.b=c --adapter=foo -q --backend vk info x.glb").unwrap();
        assert!(matches!(global.command, Command::Info(_)) && global.common.set == ["a.b=c"]);
        let view = parse("--config my.toml x.glb").unwrap();
        assert!(matches!(view.command, Command::View(_)));
    }

    #[test]
    fn negative_numbers_parse() {
        let cli = parse("render -o a.png --sun -0.5,-1,-0.3 --eye -1,2,3 --time -1").unwrap();
        let Command::Render(render) = cli.command else {
            panic!("not render")
        };
        assert_eq!(render.look.sun, Some(Vec3::new(-0.5, -1.0, -0.3)));
        assert_eq!(render.look.eye, Some(Vec3::new(-1.0, 2.0, 3.0)));
        assert_eq!(render.time.time, Some(-1.0));
    }

    #[test]
    fn bad_values_are_usage_errors() {
        for line in [
            "--size 0x5",
            "--size 100",
            "--sun 0,0,0",
            "--eye 1,2",
            "--eye 1,2,nan",
            "--fov 171",
            "--fov nan",
            "--leaf-cutoff 33",
            "--shadows soft",
            "--occlusion on",
            "--camera 0 --eye 1,2,3",
            "--exit-after 0",
            "bake-env a.hdr",
            "bake-env a.hdr -o b.json --order 4",
            "bake-env a.hdr -o b.json --face 100",
            "-v -q",
            "render model.glb",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
