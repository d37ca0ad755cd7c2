//! The command line: its arguments, and the commands that need no window.

pub mod adapters;
pub mod bake_env;
pub mod bench;
mod console;
pub mod export;
pub mod info;
mod offscreen;
mod options;
pub mod render;
mod view;

pub use options::{Common, LookArgs, Occlusion, Shadows, TimeArgs};
pub use view::ViewArgs;

use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;

/// Real-time deferred renderer and scene viewer: shadow rays through trees that are rebuilt every frame.
#[derive(Debug, Parser)]
#[command(version, about, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
`canopy FILE…` is short for `canopy view FILE…`. Several files make one scene; without any the built-in scene
is shown.

Environment: RUST_LOG (log filter, overrides -v and -q), WGPU_BACKEND and WGPU_ADAPTER_NAME (unless --backend
and --adapter are given).

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
    /// Measure on this adapter: sorting, trees, rays, whole frames, environments, shaders
    Bench(bench::BenchArgs),
    /// Write the merged world-space triangles, read back from the GPU, as OBJ
    Export(export::ExportArgs),
    /// Write an environment as spherical harmonics and prefiltered cubes, for use elsewhere
    BakeEnv(bake_env::BakeArgs),
    /// List what files hold, and what of it canopy ignores
    Info(info::InfoArgs),
    /// List the graphics adapters, and why one is or is not usable
    Adapters(adapters::AdaptersArgs),
}

impl Cli {
    /// Parses a command line. Without a command it is that of `view`, so that a file named like a command
    /// needs a path such as `./info`.
    ///
    /// # Errors
    ///
    /// clap's, which is also how `--help` and `--version` come back.
    pub fn parse_from_os(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut args: Vec<OsString> = args.into_iter().collect();
        // Parsing stops at the first argument that is neither an option of every command nor a command.
        let names_command = match Self::command()
            .ignore_errors(true)
            .try_get_matches_from(&args)
        {
            Ok(matches) => matches.subcommand().is_some(),
            Err(answer) if !answer.use_stderr() => return Err(answer),
            Err(_) => false,
        };
        if !names_command {
            args.insert(1.min(args.len()), "view".into());
        }
        Self::try_parse_from(args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        let words = std::iter::once("canopy").chain(line.split_whitespace());
        Cli::parse_from_os(words.map(OsString::from))
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn view_is_the_default() {
        for (line, files) in [
            ("", 0),
            ("a.glb b.obj", 2),
            ("--shadows map a.glb", 1),
            ("-v a.glb", 1),
            ("view a.glb -v", 1),
            // Files that are named like a command.
            ("./info", 1),
            ("a.glb info", 2),
            ("-- info", 1),
            ("-q -- render info", 2),
            ("--shadows map info", 1),
            ("--shadows map info -v --set a.b=c bench", 2),
            ("view info", 1),
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
        let view = parse("--config info x.glb").unwrap();
        assert!(matches!(view.command, Command::View(_)));
    }

    #[test]
    fn help_and_version_are_those_of_the_command() {
        let answer = |line: &str| parse(line).unwrap_err().to_string();
        for line in ["--help", "-h", "-v --help"] {
            assert!(answer(line).contains("bake-env"), "{line}");
        }
        for line in ["a.glb --help", "--shadows map --help", "view --help"] {
            assert!(answer(line).contains("--exit-after"), "{line}");
        }
        assert!(answer("info --help").contains("canopy info"));
        assert!(answer("-V").starts_with("canopy "));
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
            "info",
            "-v info",
            "--config",
            "a.glb --nonsense",
            "--nonsense info a.glb",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
