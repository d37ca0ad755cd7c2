//! `canopy completions`: scripts that complete command lines.

use super::console::print_bytes;
use crate::Result;
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;

/// `canopy completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Prints the script for a shell.
///
/// # Errors
///
/// [`crate::Error::Io`] where standard output cannot be written.
pub fn run(args: &CompletionsArgs, command: Command) -> Result<()> {
    // Without a command the words are files.
    let files = Arg::new("files")
        .value_name("FILE")
        .num_args(0..)
        .value_hint(ValueHint::FilePath);
    let mut script = Vec::new();
    let mut command = command.arg(files);
    clap_complete::generate(args.shell, &mut command, "canopy", &mut script);
    print_bytes(&script)
}
