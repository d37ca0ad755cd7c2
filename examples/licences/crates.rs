//! The crates that canopy depends on, as cargo names them.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A crate with what it says of its licence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Crate {
    /// The name on the registry.
    pub(crate) name: String,
    /// The version.
    pub(crate) version: String,
    /// The licence as an SPDX expression; empty where the crate names none.
    pub(crate) licence: String,
    /// Whom the crate names as its authors.
    pub(crate) authors: Vec<String>,
    /// The folder with its source.
    pub(crate) folder: PathBuf,
}

/// What cargo says of the package in `root`. Without `target`, of its dependencies on every platform.
///
/// # Errors
///
/// When cargo fails, as where crates have to be downloaded and cannot be.
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
        // Crates for other platforms may not have been downloaded yet.
        output = run(&[])?;
    }
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("cargo metadata fails: {}", message.trim());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// A text of JSON; empty where it is none.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// A list of JSON; empty where it is none.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

/// The crates of `metadata` whose ids are accepted, without canopy's own packages, in alphabetical order.
pub(crate) fn crates(metadata: &Value, accepts: impl Fn(&str) -> bool) -> Vec<Crate> {
    let packages = list(metadata, "packages").filter(|package| {
        // Packages of the workspace come from no registry.
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
