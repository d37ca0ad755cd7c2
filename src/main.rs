//! The binary: parses the arguments, runs the command and returns the exit code.

use canopy::{
    cli::{self, Cli, Command},
    provenance::{FileRef, Provenance, Search},
};
use std::{io::Write, process::ExitCode};

fn main() -> ExitCode {
    quiet_device_selection();
    let cli = match Cli::parse_from_os(std::env::args_os()) {
        Ok(cli) => cli,
        Err(message) => {
            // Failing to write the message is not an error, because the reader of a pipe may have closed it.
            message.print().ok();
            return ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(2));
        }
    };
    cli.common.start_log();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The messages of the library's errors already include their causes.
            let line = error.to_string();
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            writeln!(std::io::stderr(), "error: {line}").ok();
            let is_usage = error.downcast_ref().is_some_and(canopy::Error::is_usage);
            ExitCode::from(if is_usage { 2 } else { 1 })
        }
    }
}

/// Disables Mesa's device-selection layer outside a desktop session, where it would write to standard error.
fn quiet_device_selection() {
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let quiet = cli.common.quiet;
    let settings = || -> canopy::Result<_> {
        let settings = cli.common.settings()?;
        check_keys(&settings.config)?;
        Ok(settings)
    };
    let config = || settings().map(|settings| settings.config);
    cli.common.read_shaders()?;
    match cli.command {
        Command::View(mut args) => {
            let Some(picture) = args.picture() else {
                let config = cli.common.settings_over(None, &args.look)?;
                return view(args, config, None);
            };
            let made = Provenance::required(&picture)?;
            // Screenshots are often saved outside the scene's folder, so recent files are searched too.
            let known = recent_files();
            let limits = config()?.frame.opening.load;
            let search = Search {
                picture: &picture,
                limits: &limits,
                elsewhere: &|file| known.iter().find(|known| file.is_like(known)).cloned(),
            };
            args.follow(&made, &search)?;
            let over = Some((&made, &search));
            let config = cli.common.settings_over(over, &args.look)?;
            view(args, config, Some(made))?;
        }
        Command::Render(mut args) => {
            let from = args.from.clone();
            let made = from.as_deref().map(Provenance::required).transpose()?;
            // Settings may come from a pipe, which can only be read once. They are read this early only for a
            // picture, because their limits apply to the search for its files.
            let limits = match from {
                Some(_) => config()?.frame.opening.load,
                None => canopy::config::Config::default().frame.opening.load,
            };
            let known = from.as_ref().map_or_else(Vec::new, |_| recent_files());
            let elsewhere = |file: &FileRef| known.iter().find(|known| file.is_like(known)).cloned();
            let search = from.as_deref().map(|picture| Search {
                picture,
                limits: &limits,
                elsewhere: &elsewhere,
            });
            let over = made.as_ref().zip(search.as_ref());
            if let Some((made, search)) = over {
                args.follow(made, search)?;
            }
            let config = cli.common.settings_over(over, &args.look)?;
            check_keys(&config)?;
            cli::render::run(args, config, quiet)?;
        }
        Command::Bench(args) => cli::bench::run(&args, config()?, quiet)?,
        Command::Lab(args) => cli::lab::run(&args, config()?, quiet)?,
        Command::Export(args) => cli::export::run(&args, config()?, quiet)?,
        Command::Query(args) => cli::query::run(&args, config()?, quiet)?,
        Command::Deviation(args) => cli::deviation::run(&args, config()?, quiet)?,
        Command::Compare(args) => cli::compare::run(&args, config()?, quiet)?,
        Command::BakeEnv(args) => cli::bake_env::run(&args, config()?, quiet)?,
        Command::Merge(args) => cli::merge::run(&args, &config()?, quiet)?,
        Command::Info(args) => cli::info::run(&args, &config()?, quiet)?,
        Command::Adapters(args) => cli::adapters::run(&args, &config()?)?,
        Command::Selftest(args) => cli::selftest::run(&args, &config()?)?,
        Command::Shaders(args) => cli::shaders::run(&args, &config()?)?,
        Command::Config(args) => cli::settings::run(&args, &settings()?)?,
        Command::Completions(args) => cli::completions::run(&args, Cli::definition())?,
        Command::Man(args) => cli::man::run(&args, Cli::definition())?,
    }
    Ok(())
}

/// Fails for unknown actions and keys in `[keys]`. Only a build with the viewer knows the existing ones.
#[cfg(feature = "viewer")]
fn check_keys(config: &canopy::config::Config) -> canopy::Result<()> {
    canopy::app::check_keys(&config.keys)
}

#[cfg(not(feature = "viewer"))]
fn check_keys(_config: &canopy::config::Config) -> canopy::Result<()> {
    Ok(())
}

#[cfg(feature = "viewer")]
fn recent_files() -> Vec<std::path::PathBuf> {
    canopy::app::recent_files()
}

#[cfg(not(feature = "viewer"))]
fn recent_files() -> Vec<std::path::PathBuf> {
    Vec::new()
}

#[cfg(feature = "viewer")]
fn view(
    args: cli::ViewArgs,
    mut config: canopy::config::Config,
    reopens: Option<Provenance>,
) -> anyhow::Result<()> {
    args.look.apply(&mut config, "window.size")?;
    args.time.apply(&mut config)?;
    config.window.watch |= args.watch;
    args.check_files()?;
    cli::shaders::read_source();
    let edits = args.saved_edits()?;
    let files = args.all_files();
    let is_compared = args.compare.is_some() || !args.compare_with.is_empty();
    canopy::app::run(canopy::app::Options {
        look: args.look.look(),
        compare: is_compared.then_some(canopy::app::CompareOptions {
            file: args.compare,
            with: args.compare_with,
        }),
        files,
        reopens,
        edits,
        config,
        exit_after: args.exit_after,
        screenshot: args.screenshot,
        stats: args.stats,
        profile: args.profile,
    })?;
    Ok(())
}

#[cfg(not(feature = "viewer"))]
fn view(
    _args: cli::ViewArgs,
    _config: canopy::config::Config,
    _reopens: Option<Provenance>,
) -> anyhow::Result<()> {
    anyhow::bail!(
        "this canopy was built without its viewer; use `canopy render`, or build with the feature \"viewer\""
    )
}
