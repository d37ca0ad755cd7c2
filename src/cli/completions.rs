//! `canopy completions`: prints shell completion scripts.

use super::console::print_bytes;
use crate::{
    Result,
    config::declared::{Group, Setting, groups},
};
use clap::{
    Arg, Args, Command, ValueHint,
    builder::{PossibleValue, PossibleValuesParser},
};
use clap_complete::Shell;

/// Arguments of `canopy completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Prints the completion script of a shell.
///
/// # Errors
///
/// [`crate::Error::Io`] if standard output cannot be written.
pub fn run(args: &CompletionsArgs, command: Command) -> Result<()> {
    // Without a command, positional arguments are files of `view`.
    let files = Arg::new("files")
        .value_name("FILE")
        .num_args(0..)
        .value_hint(ValueHint::FilePath);
    let mut script = Vec::new();
    let mut command = with_settings(command.arg(files));
    clap_complete::generate(args.shell, &mut command, "canopy", &mut script);
    print_bytes(&script)
}

/// Adds every setting as a possible value of `--set` and `config`. Only the scripts use this definition, so
/// that [`crate::config::Config::set`] still reports unknown keys.
fn with_settings(command: Command) -> Command {
    let keys = |ending: &str| {
        let settings = groups().flat_map(Group::all).filter(|setting| setting.is_key());
        let value = |setting: &Setting| {
            // Leaked on purpose: clap needs static strings, and the program ends once the script is written.
            let text: &'static str = format!("{}{ending}", setting.key).leak();
            PossibleValue::new(text).help(setting.label)
        };
        PossibleValuesParser::new(settings.map(value).collect::<Vec<_>>())
    };
    command
        .mut_arg("set", |arg| arg.value_parser(keys("=")))
        .mut_subcommand("config", |config| {
            config.mut_arg("key", |arg| arg.value_parser(keys("")))
        })
}
