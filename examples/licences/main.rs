//! Writes the licences of everything that is compiled into the program, with their full texts, to one file.
//!
//! `cargo run --example licences -- TARGET FILE`, where TARGET is a platform such as
//! x86_64-unknown-linux-gnu. `scripts/release` runs it.

mod crates;

use anyhow::{Context as _, Result, bail};
use crates::{Crate, list, text};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Lower-case prefixes of the names of licence and notice files.
const NAMES: [&str; 7] = [
    "license",
    "licence",
    "copying",
    "copyright",
    "notice",
    "unlicense",
    "ofl",
];

const MIT: &str = "\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the \"Software\"), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN
NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY,
WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, file] = &arguments[..] else {
        bail!("usage: cargo run --example licences -- TARGET FILE");
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let metadata = crates::metadata(root, Some(target))?;
    let shipped = shipped(&metadata);
    let crates = crates::crates(&metadata, |id| shipped.contains(id));
    let page = page(&crates, &std::fs::read_to_string(root.join("LICENSE-APACHE"))?)?;
    std::fs::write(file, page).with_context(|| file.clone())
}

/// Returns the ids of the crates in the program, without test dependencies and build dependencies.
fn shipped(metadata: &Value) -> BTreeSet<&str> {
    let resolve = &metadata["resolve"];
    let root = text(resolve, "root");
    let mut found = BTreeSet::from([root]);
    let mut ahead = vec![root];
    while let Some(id) = ahead.pop() {
        let node = list(resolve, "nodes").find(|node| text(node, "id") == id);
        let dependencies = node.into_iter().flat_map(|node| list(node, "deps"));
        let normal = dependencies.filter(|dep| list(dep, "dep_kinds").any(|k| k["kind"].is_null()));
        for dependency in normal.map(|dep| text(dep, "pkg")) {
            if found.insert(dependency) {
                ahead.push(dependency);
            }
        }
    }
    found
}

/// Formats the page: a table of crates, then every text once, with the crates that it applies to.
fn page(crates: &[Crate], apache: &str) -> Result<String> {
    let mut page = "# Licences of the software in canopy\n\n\
                    canopy itself is under MIT or Apache 2.0. The program contains the following crates.\n\n\
                    | crate | version | licence |\n|---|---|---|\n"
        .to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for of in crates {
        writeln!(page, "| {} | {} | {} |", of.name, of.version, of.licence)?;
        for text in texts_of(of, apache)? {
            let name = format!("{} {}", of.name, of.version);
            texts.entry(text).or_default().push(name);
        }
    }
    // Texts are in the order of their first crate.
    let mut texts: Vec<_> = texts.into_iter().map(|(text, of)| (of, text)).collect();
    texts.sort();
    for (of, text) in texts {
        write!(
            page,
            "\n## {}\n\n````text\n{}\n````\n",
            of.join(", "),
            text.trim_end()
        )?;
    }
    Ok(page)
}

/// Returns the texts that the crate's licence requires to be distributed.
fn texts_of(of: &Crate, apache: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    licence_files(&of.folder, 2, &mut files)?;
    files.sort();
    let mut texts = Vec::new();
    for file in files {
        let bytes = std::fs::read(&file).with_context(|| file.display().to_string())?;
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        texts.push(text.trim_matches('\n').to_owned());
    }
    if of.name == "meshopt" {
        texts.push(meshoptimizer(&of.folder)?);
    }
    if texts.is_empty() {
        texts.push(text_by_name(of, apache)?);
    }
    texts.dedup();
    Ok(texts)
}

/// Collects licence files in `folder` and in folders below it.
fn licence_files(folder: &Path, depth: u32, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if entry.file_type()?.is_dir() {
            let is_other = ["tests", "examples", "benches", "src"].contains(&name.as_str());
            if depth > 0 && !is_other {
                licence_files(&entry.path(), depth - 1, files)?;
            }
        } else if NAMES.iter().any(|start| name.starts_with(start))
            || name.contains("license")
            || name == "ufl.txt"
        {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Returns the licence of the C++ library in the crate meshopt, which is at the end of its header.
fn meshoptimizer(folder: &Path) -> Result<String> {
    let header = folder.join("vendor/src/meshoptimizer.h");
    let text = std::fs::read_to_string(&header).with_context(|| header.display().to_string())?;
    let licence = text.rsplit_once("/**").map_or("", |(_, licence)| licence);
    if !licence.contains("Permission is hereby granted") {
        bail!("{}: no licence at its end", header.display());
    }
    let lines = licence
        .lines()
        .map(|line| line.trim_start_matches([' ', '*']).trim_end_matches("*/"));
    Ok(format!(
        "meshoptimizer\n{}",
        lines.collect::<Vec<_>>().join("\n").trim()
    ))
}

/// Returns the text of a licence that the crate names without including it.
fn text_by_name(of: &Crate, apache: &str) -> Result<String> {
    if of.licence.contains("Apache-2.0") {
        return Ok(apache.into());
    }
    if of.licence.contains("MIT") {
        let holders = match &of.authors[..] {
            [] => format!("the authors of {}", of.name),
            authors => authors.join(", "),
        };
        return Ok(format!("Copyright (c) {holders}\n\n{MIT}"));
    }
    bail!(
        "{} {} has no text of its licence, {}",
        of.name,
        of.version,
        of.licence
    );
}
