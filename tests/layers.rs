//! Who may name whom: every path in `src/` that leaves its module is held to the layers that `src/lib.rs` draws.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// What each module of the crate may name beside itself. A module that is missing here is a fault.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("config", &["error"]),
    ("scene", &["config", "error"]),
    ("gpu", &["error"]),
    ("accel", &["error", "gpu"]),
    ("render", &["accel", "config", "error", "gpu", "scene"]),
    ("reference", &["accel", "error", "gpu", "scene"]),
    ("output", &["error", "render"]),
    (
        "cli",
        &[
            "accel",
            "config",
            "error",
            "gpu",
            "output",
            "reference",
            "render",
            "scene",
        ],
    ),
    (
        "app",
        &[
            "config",
            "error",
            "gpu",
            "output",
            "reference",
            "render",
            "scene",
        ],
    ),
    ("main", &["app", "cli", "config", "error"]),
];

/// Crates that only some modules may name.
const CRATES: &[(&str, &[&str])] = &[
    ("anyhow", &["main"]),
    ("clap", &["cli"]),
    ("egui", &["app"]),
    ("egui_wgpu", &["app"]),
    ("egui_winit", &["app"]),
    ("rfd", &["app"]),
    ("wgpu", &["accel", "app", "cli", "gpu", "render"]),
    ("wgpu_profiler", &["gpu"]),
    ("winit", &["app"]),
];

/// Paths of the crate's root that stand for what is in a module.
const ROOT_NAMES: &[(&str, &str)] = &[("Error", "error"), ("Result", "error")];

#[test]
fn the_source_keeps_to_its_layers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let passes = passes(&root.join("shaders/render"));
    assert!(passes.contains("deform") && passes.len() > 5, "{passes:?}");
    let files = rust_files(&root.join("src"));
    assert!(files.len() > 30, "only {} files were found", files.len());
    let mut paths = 0;
    let mut faults = Vec::new();
    for file in &files {
        let source = std::fs::read_to_string(file).unwrap();
        let name = file.strip_prefix(root.join("src")).unwrap();
        let module = module_of(name);
        paths += named(&source, &module).len();
        faults.extend(check(&source, &module, &passes));
    }
    assert!(paths > 500, "only {paths} paths were read");
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// The module that a file under `src/` is.
fn module_of(file: &Path) -> Vec<String> {
    let mut module: Vec<String> = file
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if module.last().is_some_and(|name| name == "mod") || module == ["lib"] {
        module.pop();
    }
    module
}

/// What lies in `folder`.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        std::fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect()
    };
    read().unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
}

/// Every Rust file below `folder`.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<_>, Vec<_>) = entries(folder).into_iter().partition(|p| p.is_dir());
    let rust = |path: &PathBuf| path.extension().is_some_and(|e| e == "rs");
    let nested = folders.iter().flat_map(|folder| rust_files(folder));
    nested.chain(files.into_iter().filter(rust)).collect()
}

/// The renderer's passes: what has a shader, or a folder of them, of its own name.
fn passes(shaders: &Path) -> BTreeSet<String> {
    let stem = |path: &PathBuf| Some(path.file_stem()?.to_string_lossy().into_owned());
    entries(shaders).iter().filter_map(stem).collect()
}

/// What the file of `module` names and may not, one line each.
fn check(source: &str, module: &[String], passes: &BTreeSet<String>) -> Vec<String> {
    let here = module.join("::");
    let Some(own) = module.first() else {
        // lib.rs is above all layers.
        return Vec::new();
    };
    let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| layer == own) else {
        return vec![format!("{here} belongs to no layer")];
    };
    let pass_of = |path: &[String]| match path {
        [layer, pass, ..] if layer == "render" && passes.contains(pass) => Some(pass.clone()),
        _ => None,
    };
    let own_pass = pass_of(module);
    let mut faults = BTreeSet::new();
    for path in named(source, module) {
        let text = path.names.join("::");
        if !path.in_crate {
            let owners = CRATES.iter().find(|(name, _)| *name == path.names[0]);
            if owners.is_some_and(|(_, owners)| !owners.contains(&own.as_str())) {
                faults.insert(format!("{here} names {text}"));
            }
            continue;
        }
        let Some(first) = path.names.first().filter(|first| *first != "*") else {
            faults.insert(format!("{here} names the whole crate"));
            continue;
        };
        let stands_for = ROOT_NAMES.iter().find(|(name, _)| name == first);
        let target = stands_for.map_or(first.as_str(), |(_, module)| module);
        if target != own && !allowed.contains(&target) {
            faults.insert(format!("{here} names crate::{text}"));
        }
        let below = ["accel", "gpu"].contains(&target);
        if own == "reference" && below && path.names.get(1).is_none_or(|n| n != "layout") {
            faults.insert(format!("{here} names crate::{text}, which is no layout"));
        }
        if let Some(own_pass) = &own_pass {
            // All of `render`, or a name for it, would hide which pass is meant.
            let whole = target == "render" && path.names.get(1).is_none_or(|n| n == "*");
            if whole || pass_of(&path.names).is_some_and(|pass| pass != *own_pass) {
                faults.insert(format!("the pass {here} names crate::{text}"));
            }
        }
    }
    faults.into_iter().collect()
}

/// A path as a file writes it, resolved as far as it leaves the file's module.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    /// Whether it starts at this crate's root; else it starts with another crate or with a name of the module's own.
    in_crate: bool,
    names: Vec<String>,
}

/// Every path in `source`, the file of `module`: those of `use`, group by group, and those with `::` anywhere else. What stands under
/// `#[cfg(test)]` is left out.
fn named(source: &str, module: &[String]) -> Vec<Named> {
    let tokens = tokens(&code(source));
    let mut found = Vec::new();
    // Modules written inside of the file, with the depth of their braces.
    let mut inner: Vec<(String, usize)> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at].as_str();
        let before = |back: usize| at.checked_sub(back).map_or("", |i| tokens[i].as_str());
        if tokens[at..]
            .iter()
            .take(7)
            .eq(["#", "[", "cfg", "(", "test", ")", "]"])
        {
            at = end_of_item(&tokens, at + 7);
            continue;
        }
        if token == "{" {
            depth += 1;
            if before(2) == "mod" {
                inner.push((before(1).to_owned(), depth));
            }
        } else if token == "}" {
            inner.pop_if(|(_, opened)| *opened == depth);
            depth -= 1;
        } else if is_name(token) && !(before(1) == "::" && (is_name(before(2)) || before(2) == ">"))
        {
            let in_use = before(1) == "use" || before(2) == "use";
            let mut written = Vec::new();
            at = path(&tokens, at, &[], &mut written);
            let mut whole = module.to_vec();
            whole.extend(inner.iter().map(|(name, _)| name.clone()));
            let written = written.into_iter().filter(|p| p.len() > 1 || in_use);
            found.extend(written.map(|path| resolve(&path, &whole)));
            continue;
        }
        at += 1;
    }
    found
}

/// Reads the path, or the group of paths, that begins at `at`; returns where it ends.
fn path(tokens: &[String], mut at: usize, prefix: &[String], out: &mut Vec<Vec<String>>) -> usize {
    let mut names = prefix.to_vec();
    let token = |at: usize| tokens.get(at).map_or("", String::as_str);
    loop {
        if token(at) == "{" {
            at += 1;
            while !["}", ""].contains(&token(at)) {
                if is_name(token(at)) || ["*", "{"].contains(&token(at)) {
                    at = path(tokens, at, &names, out);
                    if token(at) == "as" {
                        at += 2;
                    }
                } else {
                    at += 1;
                }
            }
            return at + 1;
        }
        if token(at) == "self" && !names.is_empty() {
            // `{self}` is the group's own path.
        } else {
            names.push(token(at).to_owned());
        }
        at += 1;
        let goes_on = is_name(token(at + 1)) || ["*", "{"].contains(&token(at + 1));
        if token(at) != "::" || !goes_on {
            out.push(names);
            return at;
        }
        at += 1;
    }
}

/// A path from the crate's root, where it begins with `crate`, `self` or `super` (or with `canopy`, in the binary).
fn resolve(path: &[String], module: &[String]) -> Named {
    let mut names = module.to_vec();
    let mut rest = path;
    match path[0].as_str() {
        "crate" => {
            names.clear();
            rest = &path[1..];
        }
        "canopy" if module == ["main"] => {
            names.clear();
            rest = &path[1..];
        }
        "self" => rest = &path[1..],
        "super" => {
            while rest.first().is_some_and(|name| name == "super") {
                names.pop();
                rest = &rest[1..];
            }
        }
        _ => {
            return Named {
                in_crate: false,
                names: path.to_vec(),
            };
        }
    }
    names.extend_from_slice(rest);
    Named {
        in_crate: true,
        names,
    }
}

/// Where the item that begins at `at` ends: after its `;`, or after its braces.
fn end_of_item(tokens: &[String], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 && [";", "}"].contains(&tokens[at - 1].as_str()) {
            break;
        }
    }
    at
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_') && token != "as"
}

/// Names and numbers, `::`, and every other sign on its own.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(c) = rest.chars().next() {
        let length = if c.is_alphanumeric() || c == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            c.len_utf8()
        };
        // A raw identifier is the name behind its `r#`.
        if &rest[..length] != "r" || !rest[length..].starts_with('#') {
            tokens.push(rest[..length].to_owned());
        }
        rest = rest[length..].trim_start();
    }
    tokens
}

/// `source` with spaces in place of comments, strings and characters.
fn code(source: &str) -> String {
    let mut out = String::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let after_name = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if c == '"' {
            quoted(rest, '"')
        } else if c == '\'' {
            // A lifetime has no second quote after one character.
            let mut inside = rest[1..].chars();
            match (inside.next(), inside.next()) {
                (Some('\\'), _) | (Some(_), Some('\'')) => quoted(rest, '\''),
                _ => 0,
            }
        } else if !after_name {
            raw_string(rest).unwrap_or(0)
        } else {
            0
        };
        if length == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            out.push(' ');
            rest = &rest[length..];
        }
    }
    out
}

/// Bytes of the comment, and of those inside of it.
fn block_comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        let here = &text.as_bytes()[at..];
        if here.starts_with(b"/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if here.starts_with(b"*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// Bytes up to the closing quote, past every backslash's next sign.
fn quoted(text: &str, quote: char) -> usize {
    let mut signs = text.char_indices().skip(1);
    while let Some((at, c)) = signs.next() {
        if c == '\\' {
            signs.next();
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}

/// Bytes of a raw string such as `r#"…"#`, if one begins here.
fn raw_string(text: &str) -> Option<usize> {
    let start = ["r", "br", "cr"]
        .iter()
        .find(|start| text.starts_with(**start))?;
    let hashes = text[start.len()..]
        .chars()
        .take_while(|c| *c == '#')
        .count();
    let open = start.len() + hashes;
    let close = format!("\"{}", "#".repeat(hashes));
    let inside = text[open..].strip_prefix('"')?;
    let end = inside.find(&close).unwrap_or(inside.len());
    Some((open + 1 + end + close.len()).min(text.len()))
}

mod tests_of_this_test {
    use super::*;

    fn faults(file: &str, source: &str) -> Vec<String> {
        let passes = ["deform", "gbuffer", "blend"].map(str::to_owned).into();
        check(source, &module_of(Path::new(file)), &passes)
    }

    /// Each of these breaks a layer, however it is written.
    #[test]
    fn forbidden_paths_are_reported() {
        for (file, source, expected) in [
            (
                "scene/mod.rs",
                "use wgpu::Buffer;",
                "scene names wgpu::Buffer",
            ),
            (
                "scene/a/b.rs",
                "fn f(_: &::wgpu::Buffer) {}",
                "scene::a::b names wgpu::Buffer",
            ),
            ("scene/mod.rs", "use wgpu;", "scene names wgpu"),
            ("scene/mod.rs", "use wgpu as w;", "scene names wgpu"),
            (
                "accel/sort.rs",
                "use crate::scene::Scene;",
                "accel::sort names crate::scene::Scene",
            ),
            (
                "accel/sort.rs",
                "use super::super::scene;",
                "accel::sort names crate::scene",
            ),
            (
                "accel/mod.rs",
                "use super::scene;",
                "accel names crate::scene",
            ),
            (
                "gpu/pass.rs",
                "use crate::{\n    Error, // x, {\n    gpu::{self, layout::{Node, Ray}},\n    render::{\n        deform::{self as d},\n    },\n};",
                "gpu::pass names crate::render::deform",
            ),
            (
                "gpu/mod.rs",
                "fn f() -> usize { crate::accel::lbvh::DISPATCHES }",
                "gpu names crate::accel::lbvh::DISPATCHES",
            ),
            (
                "gpu/mod.rs",
                "mod inner { use super::super::accel; }",
                "gpu names crate::accel",
            ),
            ("gpu/mod.rs", "use crate::*;", "gpu names the whole crate"),
            (
                "gpu/mod.rs",
                "use crate::{self as everything};",
                "gpu names the whole crate",
            ),
            (
                "render/mod.rs",
                "use crate::app;",
                "render names crate::app",
            ),
            (
                "cli/mod.rs",
                "use crate::app::run;",
                "cli names crate::app::run",
            ),
            ("cli/mod.rs", "use egui::Ui;", "cli names egui::Ui"),
            (
                "reference/lbvh.rs",
                "use crate::gpu::{Gpu, layout::Node};",
                "reference::lbvh names crate::gpu::Gpu, which is no layout",
            ),
            (
                "render/blend.rs",
                "use super::{FrameInput, gbuffer::merged_pipeline};",
                "the pass render::blend names crate::render::gbuffer::merged_pipeline",
            ),
            (
                "render/blend.rs",
                "use crate::render::{self, targets};",
                "the pass render::blend names crate::render",
            ),
            (
                "render/blend.rs",
                "use super::*;",
                "the pass render::blend names crate::render::*",
            ),
            (
                "render/deform/skin.rs",
                "use super::super::blend;",
                "the pass render::deform::skin names crate::render::blend",
            ),
            (
                "config.rs",
                "use anyhow::Result;",
                "config names anyhow::Result",
            ),
            ("extra/mod.rs", "", "extra belongs to no layer"),
            ("gpu/mod.rs", "use crate::extra;", "gpu names crate::extra"),
            (
                "main.rs",
                "use canopy::render::Renderer;",
                "main names crate::render::Renderer",
            ),
        ] {
            assert_eq!(faults(file, source), [expected], "{file}: {source}");
        }
    }

    #[test]
    fn what_is_allowed_is_not_reported() {
        for (file, source) in [
            ("lib.rs", "pub use error::{Error, Result};"),
            (
                "scene/mod.rs",
                "// use wgpu::Buffer;\n/* use /* crate:: */ wgpu::X; */ fn f<'a>(x: &'a str) { let _ = (\"use wgpu::A; \\\" wgpu::B\", r#\"wgpu::C \"wgpu::D\"#, '\\'', '\"', b'\"'); }",
            ),
            ("scene/mod.rs", "use crate::{Error, Result, config};"),
            (
                "accel/mod.rs",
                "#[cfg(test)]\nmod tests { use crate::scene::Scene; fn f() { if true { } } }",
            ),
            ("accel/mod.rs", "#[cfg(test)]\nuse crate::scene::Scene;"),
            (
                "render/mod.rs",
                "use deform::Deform; use self::gbuffer::GBuffer; use crate::accel::{Lbvh, lbvh};",
            ),
            (
                "render/blend.rs",
                "use super::{FrameInput, bindings::Layouts, blend::X, targets::{HDR_FORMAT, Targets}};",
            ),
            (
                "reference/lbvh.rs",
                "use crate::{gpu::layout::{Node, TlasEntry}, scene::bounds::Aabb};",
            ),
            (
                "app/mod.rs",
                "use winit::window::Window; use crate::render::Renderer;",
            ),
            ("main.rs", "use canopy::cli::{self, Cli};"),
        ] {
            assert_eq!(faults(file, source), [""; 0], "{file}: {source}");
        }
    }

    /// After what is left out, the next item counts again.
    #[test]
    fn only_tests_are_left_out() {
        let source = "#[cfg(test)]\nmod tests { fn f() {} }\nuse crate::scene::Scene;";
        assert_eq!(
            faults("accel/mod.rs", source),
            ["accel names crate::scene::Scene"]
        );
    }
}
