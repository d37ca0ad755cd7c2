//! Crates that canopy depends on, as reported by cargo.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A crate with its licence data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Crate {
    /// Name on the registry.
    pub(crate) name: String,
    /// The version.
    pub(crate) version: String,
    /// Licence as an SPDX expression; empty if the crate names none.
    pub(crate) licence: String,
    /// Authors that the crate names.
    pub(crate) authors: Vec<String>,
    /// Folder with its source.
    pub(crate) folder: PathBuf,
}

/// Returns the metadata that cargo reports for the package in `root`. Without `target`, includes dependencies
/// on every platform.
///
/// # Errors
///
/// If cargo fails, for example because crates cannot be downloaded.
pub(crate) fn metadata(root: &Path, target: Option<&str>) -> Result<Value> {
    let run = |network: &[&str]| {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command
            .args(["metadata", "--format-version", "1", "--locked"])
            .args(network);
        if let Some(target) = target {
            command.args(["--filter-platform", target]);
        }
        command.current_dir(root).output().context("cargo does not start")
    };
    let mut output = run(&["--offline"])?;
    if !output.status.success() {
        // Crates for other platforms may not be downloaded yet, so try again with network access.
        output = run(&[])?;
    }
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("cargo metadata fails: {}", message.trim());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns a string of JSON; empty if it is not a string.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Returns the items of a JSON list; empty if it is not a list.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

/// Returns the crates of `metadata` whose ids are accepted, in alphabetical order, without canopy's own
/// packages.
pub(crate) fn crates(metadata: &Value, accepts: impl Fn(&str) -> bool) -> Vec<Crate> {
    let packages = list(metadata, "packages").filter(|package| {
        // Packages of the workspace have no source.
        !package["source"].is_null() && accepts(text(package, "id"))
    });
    let mut crates: Vec<_> = packages.map(read).collect();
    crates.sort();
    crates
}

fn read(package: &Value) -> Crate {
    let manifest = Path::new(text(package, "manifest_path"));
    let authors = list(package, "authors").filter_map(Value::as_str);
    Crate {
        name: text(package, "name").into(),
        version: text(package, "version").into(),
        licence: text(package, "license").into(),
        authors: authors.map(str::to_owned).collect(),
        folder: manifest.parent().unwrap_or(Path::new("")).into(),
    }
}
