//! The command line: its arguments, and the commands that need no window.

pub mod adapters;
pub mod bake_env;
pub mod bench;
mod bitmap_font;
pub mod compare;
pub mod completions;
mod console;
pub mod deviation;
mod every_adapter;
pub mod export;
pub mod info;
pub mod lab;
mod logger;
pub mod man;
pub mod merge;
mod offscreen;
mod options;
mod path_draws;
mod progress;
pub mod query;
mod reflected;
pub mod render;
mod report;
mod route;
pub mod selftest;
pub mod settings;
pub mod shaders;
mod view;

pub use options::{CameraArgs, Common, LookArgs, TimeArgs};
pub use view::ViewArgs;

use crate::config::closest;
use clap::{
    CommandFactory, Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};
use std::{ffi::OsString, path::Path};

/// Real-time deferred renderer and scene viewer that rebuilds its BVHs on the GPU every frame for ray-traced
/// shadows.
#[derive(Debug, Parser)]
#[command(version, after_help = AFTER_HELP, max_term_width = 110)]
pub struct Cli {
    /// Options common to all commands.
    #[command(flatten)]
    pub common: Common,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
`canopy FILE…` is short for `canopy view FILE…`. Several files are merged into one scene. Without \
files, the built-in scene is shown.

Environment variables: RUST_LOG (log filter, overrides -v and -q), WGPU_BACKEND, WGPU_ADAPTER_NAME \
and CANOPY_SHADERS (used unless --backend, --adapter or --shaders is given).

Examples:
  canopy model.glb
  canopy render model.glb -o model.png --size 1920x1080 --shadows rays
  canopy render model.glb -o model.png --env beach.hdr
  canopy bake-env beach.hdr -o beach.json
  canopy render fox.glb -o fox-{frame:4}.png --frames 60 --fps 30 --clip Run
  canopy render model.glb -o model.exr --aov normal=normal.exr --aov cost=cost.png --stats s.json
  canopy render model.glb -o - --transparent | display
  canopy config shadows.mode";

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open the viewer (default); shows the built-in scene without a FILE
    View(ViewArgs),
    /// Render pictures or videos without a window
    Render(render::RenderArgs),
    /// List the contents of files, and what canopy ignores in them
    Info(info::InfoArgs),
    /// Write the merged world-space triangles, read back from the GPU, as OBJ
    Export(export::ExportArgs),
    /// Query a scene's BVHs: nearest points, box overlaps, ray hits or intersecting triangles
    Query(query::QueryArgs),
    /// Measure the distance between two surfaces: statistics, a picture, every vertex
    Deviation(deviation::DeviationArgs),
    /// Compare two pictures, two scenes, or two settings of one scene: error metrics, error map, times
    Compare(compare::CompareArgs),
    /// Merge the parts of a path-traced picture that several machines have rendered
    Merge(merge::MergeArgs),
    /// Bake an environment to spherical harmonics and prefiltered cubes, for use in other programs
    BakeEnv(bake_env::BakeArgs),
    /// Run benchmarks on this adapter: sorting, BVH builds, rays, frames, environments, shaders
    Bench(bench::BenchArgs),
    /// Compare ray-triangle tests, traversals and acceleration structures on the same rays
    Lab(lab::LabArgs),
    /// List the graphics adapters, and why each is usable or not
    Adapters(adapters::AdaptersArgs),
    /// Check every stage on this adapter against a CPU reference; needs no files, under a minute
    Selftest(selftest::SelftestArgs),
    /// List, write, check or compile the shaders
    Shaders(shaders::ShadersArgs),
    /// List the settings and their origins, or explain one
    Config(settings::ConfigArgs),
    /// Print a shell completion script
    Completions(completions::CompletionsArgs),
    /// Print the manual page
    Man(man::ManArgs),
}

impl Cli {
    /// Parses a command line. Without a command, it is parsed as `view`. A file named like a command
    /// therefore needs a path such as `./info`.
    ///
    /// # Errors
    ///
    /// Any error of clap, which also includes `--help` and `--version`.
    pub fn parse_from_os(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut args: Vec<OsString> = args.into_iter().collect();
        // With ignored errors, parsing stops at the first argument that is neither a global option nor a
        // command.
        let lenient = Self::command().ignore_errors(true);
        let names_command = match lenient.try_get_matches_from(&args) {
            Ok(matches) => matches.subcommand().is_some(),
            Err(answer) if !answer.use_stderr() => return Err(answer),
            Err(_) => false,
        };
        if !names_command {
            Self::check_first_word(&args)?;
            args.insert(1.min(args.len()), "view".into());
        }
        Self::try_parse_from(args)
    }

    /// Fails if the first word is not a file but resembles a command, or if `help` is followed by an unknown
    /// command.
    fn check_first_word(args: &[OsString]) -> Result<(), clap::Error> {
        let Err(mut error) = Self::command().try_get_matches_from(args) else {
            return Ok(());
        };
        let Some(ContextValue::String(word)) = error.remove(ContextKind::InvalidSubcommand) else {
            return Ok(());
        };
        let before = args.iter().take_while(|arg| **arg != *word);
        let before: Vec<_> = before.skip(1).filter_map(|arg| arg.to_str()).collect();
        let mut command = Self::command();
        let names: Vec<String> = command
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .chain(["help".to_owned()])
            .collect();
        let meant = closest(&word, names.iter().map(String::as_str));
        let hint = meant.map(|name| format!("; did you mean `{name}`?"));
        let helps = before.last() == Some(&"help");
        let is_name = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let is_mistyped = is_name && hint.is_some() && !Path::new(&word).exists();
        if helps || is_mistyped && !before.contains(&"--") {
            let what = format!("unknown command `{word}`{}", hint.unwrap_or_default());
            return Err(command.error(ErrorKind::InvalidSubcommand, what));
        }
        Ok(())
    }

    /// Returns the definition of the command line, for manuals and completions.
    pub fn definition() -> clap::Command {
        Self::command()
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
    fn the_command_definition_is_valid() {
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
            // Files with the names of commands.
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
    fn help_and_version_match_the_command() {
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
    fn mistyped_commands_are_suggested() {
        for (line, command) in [
            ("rendr x.glb -o a.png", "render"),
            ("-v inof x.glb", "info"),
            ("--set a.b=c hlep", "help"),
        ] {
            let error = parse(line).unwrap_err();
            let hint = format!("did you mean `{command}`?");
            assert!(error.to_string().contains(&hint), "{line}: {error}");
            assert_eq!(error.exit_code(), 2, "{line}");
        }
        // Files, and words that resemble no command.
        for line in ["rendr.glb", "./rendr", "teapot", "-- rendr", "a.glb rendr"] {
            assert!(parse(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn help_is_also_a_subcommand() {
        assert!(parse("help").unwrap_err().to_string().contains("bake-env"));
        let of = |line: &str| parse(line).unwrap_err();
        assert!(of("help render").to_string().contains("--samples"));
        assert_eq!(of("help render").exit_code(), 0);
        let wrong = of("help rendr");
        assert!(wrong.to_string().contains("render"), "{wrong}");
        assert_eq!(wrong.exit_code(), 2);
    }

    /// Counts the lines that each option takes in the help.
    fn option_lines(help: &str) -> Vec<(String, usize)> {
        let mut options: Vec<(String, usize)> = Vec::new();
        let mut open = false;
        for line in help.lines() {
            let text = line.trim_start();
            let indent = line.len() - text.len();
            if text.starts_with('-') && indent <= 6 {
                options.push((text.to_owned(), 1));
                open = true;
            } else if text.is_empty() || indent < 6 {
                open = false;
            } else if let Some((_, lines)) = options.last_mut().filter(|_| open) {
                *lines += 1;
            }
        }
        options
    }

    /// clap would take the value of one option for the value of the other option.
    #[test]
    fn no_subcommand_option_shadows_a_global_option() {
        let command = Cli::command();
        let of_all: Vec<_> = command
            .get_arguments()
            .filter(|arg| arg.is_global_set())
            .collect();
        assert!(of_all.len() > 5);
        for own in command.get_subcommands().flat_map(clap::Command::get_arguments) {
            let is_same = |arg: &&clap::Arg| arg.get_id() == own.get_id();
            assert!(!of_all.iter().any(is_same), "{}", own.get_id());
        }
    }

    #[test]
    fn option_help_takes_at_most_two_lines_under_headings() {
        let names = Cli::command();
        let names = names.get_subcommands().map(clap::Command::get_name);
        let mut count = 0;
        for name in names {
            let helps = [80, 100].map(|width| {
                let command = Cli::command().term_width(width);
                let help = command.try_get_matches_from(["canopy", name, "--help"]);
                help.unwrap_err().to_string()
            });
            for help in &helps {
                for (option, lines) in option_lines(help) {
                    assert!(lines <= 2, "{name}: {option} takes {lines} lines\n{help}");
                    count += 1;
                }
            }
            let [_, help] = helps;
            assert!(help.lines().all(|line| line.chars().count() <= 110), "{help}");
            assert!(help.contains("\nEvery command:\n"), "{help}");
            if ["view", "render"].contains(&name) {
                for heading in ["Camera", "Light", "Picture", "Animation"] {
                    assert!(help.contains(&format!("\n{heading}:\n")), "{help}");
                }
            }
        }
        assert!(count > 160, "only {count} options were found");
        let counted = option_lines("Options:\n  -a, --all  one\n             two\n             three\n");
        assert_eq!(counted[0].1, 3, "three lines are seen");
    }

    #[test]
    fn negative_numbers_parse() {
        let cli = parse("render -o a.png --sun -0.5,-1,-0.3 --eye -1,2,3 --time -1").unwrap();
        let Command::Render(render) = cli.command else {
            panic!("not render")
        };
        assert_eq!(render.look.sun, Some(Vec3::new(-0.5, -1.0, -0.3)));
        assert_eq!(render.look.camera.eye, Some(Vec3::new(-1.0, 2.0, 3.0)));
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
            "--tree-boxes 5-2",
            "--tree-boxes leaf",
            "--shadows soft",
            "--occlusion on",
            "--reflections on",
            "--camera 0 --eye 1,2,3",
            "--exit-after 0",
            "bake-env a.hdr",
            "bake-env a.hdr -o b.json --order 4",
            "bake-env a.hdr -o b.json --face 100",
            "compare a.png b.png c.png",
            "compare a.png b.png --metric ssim",
            "compare a.glb b.glb --reference",
            "compare a.glb --reference --paths 0",
            "compare a.png b.png --ppd 0",
            "compare a.png b.png --tolerance -1",
            "--exposure bright",
            "--exposure 100",
            "--background 1,2",
            "--background #12345",
            "--background sky",
            "render a.glb -o a.png --transparent --background 0,0,0",
            "render a.glb -o a.png --format gif",
            "render a.glb -o a{frame}.png --frames 5-2",
            "render a.glb -o a{frame}.png --frames 0",
            "render a.glb -o a.exr --paths 9 --part 4/3",
            "completions tcsh",
            "-v -q",
            "render model.glb",
            "--config",
            "a.glb --nonsense",
            "--nonsense info a.glb",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
