//! `canopy man`: the manual pages in roff.

use super::console::print_bytes;
use crate::{Error, Result, output};
use clap::{Args, Command};
use std::path::{Path, PathBuf};

/// Arguments of `canopy man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write the page of canopy and of each command into this folder
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// Prints the main manual page, or writes all pages into a folder.
///
/// # Errors
///
/// [`Error::Io`] if a page cannot be written.
pub fn run(args: &ManArgs, command: Command) -> Result<()> {
    match &args.output {
        None => print_bytes(&page("canopy", command)?),
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
            write(folder, "canopy", command)
        }
    }
}

/// Writes the page `NAME.1` of `command`, and the pages of its subcommands.
fn write(folder: &Path, name: &str, mut command: Command) -> Result<()> {
    // The help subcommand would repeat the existing pages.
    command = command.disable_help_subcommand(true);
    command.build();
    for nested in command.get_subcommands() {
        write_one(folder, &format!("{name}-{}", nested.get_name()), nested)?;
    }
    write_one(folder, name, &command)
}

fn write_one(folder: &Path, name: &str, command: &Command) -> Result<()> {
    // The name of a page has no spaces. Its synopsis still shows the real command line.
    let page = page(name, command.clone().display_name(name.to_owned()))?;
    output::write(&folder.join(format!("{name}.1")), &page)
}

fn page(name: &str, command: Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command)
        .title(name.to_uppercase())
        .source(concat!("canopy ", env!("CARGO_PKG_VERSION")));
    let rendered = man.render(&mut page);
    rendered.map_err(|e| Error::io("the manual page", e))?;
    Ok(page)
}
