//! Who may name whom: every path in `src/` that leaves its module is held to the layers that `src/lib.rs`
//! draws, and no two files import each other.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
};

/// What each module of the crate may name beside itself. A module that is missing here is a fault.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("atomic_file", &["error"]),
    ("config", &["atomic_file", "error", "scene"]),
    ("lab", &["accel", "config", "error", "gpu", "scene"]),
    (
        "render",
        &["accel", "config", "error", "gpu", "lab", "scene"],
    ),
    ("reference", &["accel", "error", "lab", "render", "scene"]),
    ("output", &["atomic_file", "error", "render", "scene"]),
    ("profile", &["error", "gpu", "output"]),
    ("provenance", &["config", "error", "output", "scene"]),
    (
        "cli",
        &[
            "accel",
            "config",
            "error",
            "gpu",
            "lab",
            "output",
            "profile",
            "provenance",
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
            "profile",
            "provenance",
            "render",
            "scene",
        ],
    ),
    ("main", &["app", "cli", "config", "error", "provenance"]),
];

/// The only parts of the program that may name the CPU twins: to measure them, to count their operations, to
/// compare with them.
const NAMES_TWINS: [[&str; 2]; 3] = [["cli", "bench"], ["cli", "lab"], ["cli", "selftest"]];

/// The folders of the renderer whose own file is no more than a list of passes.
const FOLDERS: [&str; 5] = ["ambient", "geometry", "light", "queries", "raster"];

/// Crates that only some modules may name.
const CRATES: &[(&str, &[&str])] = &[
    ("anyhow", &["main"]),
    ("canopy_bvh", &["app", "cli", "error", "lab", "render"]),
    ("canopy_scene", &["config", "error"]),
    ("clap", &["cli"]),
    ("egui", &["app"]),
    ("egui_wgpu", &["app"]),
    ("egui_winit", &["app"]),
    ("exr", &["output"]),
    ("jiff", &["app"]),
    ("nucleo_matcher", &["app"]),
    ("rfd", &["app"]),
    ("wgpu", &["app", "cli", "lab", "render"]),
    ("winit", &["app"]),
];

/// Paths of the crate's root that stand for what is in a module.
const ROOT_NAMES: &[(&str, &str)] = &[("Error", "error"), ("Result", "error")];

#[test]
fn the_source_keeps_to_its_layers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let passes = passes(&root.join("shaders"));
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

/// The renderer's passes: what has a shader with entry points of its own name, and the environment's.
fn passes(shaders: &Path) -> BTreeSet<String> {
    let is_of_the_renderer = |folder: &&PathBuf| {
        let others = ["bench", "bvh", "lab"];
        folder.is_dir() && !others.iter().any(|other| folder.ends_with(other))
    };
    let folders = entries(shaders);
    let files = folders.iter().filter(is_of_the_renderer);
    let files = files.flat_map(|folder| entries(folder));
    let is_pass = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        text.contains("\n@compute") || text.contains("\n@fragment")
    };
    let stem = |path: PathBuf| Some(path.file_stem()?.to_string_lossy().into_owned());
    let stems = files.filter(is_pass).filter_map(stem);
    stems.chain(["environment".into()]).collect()
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
    // A pass lies in a folder of the renderer, and may have files below its own.
    let pass_of = |path: &[String]| match path {
        [layer, rest @ ..] if layer == "render" => {
            rest.iter().find(|name| passes.contains(*name)).cloned()
        }
        _ => None,
    };
    let own_pass = pass_of(module);
    let mut faults = BTreeSet::new();
    for mut path in named(source, module) {
        // The modules of the tree's package count as the crate's own.
        let of_tree = ["accel", "gpu"].map(str::to_owned);
        if path.names.first().is_some_and(|n| n == "canopy_bvh")
            && path.names.get(1).is_some_and(|n| of_tree.contains(n))
        {
            path.names.remove(0);
            path.in_crate = true;
        }
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
        let names_twins = NAMES_TWINS
            .iter()
            .any(|part| module.starts_with(&part.map(str::to_owned)));
        let is_twin = target == "reference" && names_twins;
        if target != own && !allowed.contains(&target) && !is_twin {
            faults.insert(format!("{here} names crate::{text}"));
        }
        // Twins know the layouts of what they are twins of.
        let is_layout = path
            .names
            .get(1)
            .is_some_and(|n| ["data", "layout"].contains(&n.as_str()));
        if own == "reference" && ["accel", "lab", "render"].contains(&target) && !is_layout {
            faults.insert(format!("{here} names crate::{text}, which is no layout"));
        }
        if let Some(own_pass) = &own_pass {
            // All of `render` or of a folder in it, or a name for that, would hide which pass is meant.
            let is_folder = |names: &[String]| match names {
                [_] => true,
                [_, name] => FOLDERS.contains(&name.as_str()),
                _ => false,
            };
            let is_glob = path.names.last().is_some_and(|n| n == "*");
            let whole = target == "render" && (is_glob || is_folder(&path.names));
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
    /// Whether it starts at this crate's root; else it starts with another crate or with a name of the
    /// module's own.
    in_crate: bool,
    /// Whether it starts with `::`, and so with another crate.
    is_extern: bool,
    names: Vec<String>,
    /// The `use` that it belongs to.
    import: Option<Import>,
}

/// A name that a `use` declares.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Import {
    name: String,
    /// Whether other modules see it too.
    is_public: bool,
}

/// Every path in `source`, the file of `module`: those of `use`, group by group, and those with `::` anywhere
/// else. What stands under `#[cfg(test)]` is left out.
fn named(source: &str, module: &[String]) -> Vec<Named> {
    let tokens = without_tests(tokens(&code(source)));
    let mut found = Vec::new();
    // Modules written inside of the file, with the depth of their braces.
    let mut inner: Vec<(String, usize)> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at].as_str();
        let before = |back: usize| at.checked_sub(back).map_or("", |i| tokens[i].as_str());
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
            let is_extern = before(1) == "::";
            let before_path = if is_extern { 2 } else { 1 };
            let in_use = before(before_path) == "use";
            let is_public = ["pub", ")"].contains(&before(before_path + 1));
            let mut written = Vec::new();
            at = path(&tokens, at, &[], &mut written);
            let mut whole = module.to_vec();
            whole.extend(inner.iter().map(|(name, _)| name.clone()));
            let written = written.into_iter().filter(|(p, _)| p.len() > 1 || in_use);
            found.extend(written.map(|(path, name)| Named {
                is_extern,
                import: in_use.then_some(Import { name, is_public }),
                ..resolve(&path, &whole)
            }));
            continue;
        }
        at += 1;
    }
    found
}

/// A path, and the name that it has if a `use` declares it.
type Written = (Vec<String>, String);

/// Reads the path, or the group of paths, that begins at `at`; returns where it ends.
fn path(tokens: &[String], mut at: usize, prefix: &[String], out: &mut Vec<Written>) -> usize {
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
            // Of a cast this is the type, which nobody asks for.
            let last = names.last().map_or("", String::as_str);
            let name = if token(at) == "as" {
                token(at + 1)
            } else {
                last
            };
            let name = name.to_owned();
            out.push((names, name));
            return at;
        }
        at += 1;
    }
}

/// A path from the crate's root, where it begins with `crate`, `self` or `super` (or with `canopy`, in the
/// binary).
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
                is_extern: false,
                names: path.to_vec(),
                import: None,
            };
        }
    }
    names.extend_from_slice(rest);
    Named {
        in_crate: true,
        is_extern: false,
        names,
        import: None,
    }
}

/// `tokens` without the items under `#[cfg(test)]`.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let here = tokens[at..].iter().take(7);
        if here.eq(["#", "[", "cfg", "(", "test", ")", "]"]) {
            at = end_of_item(&tokens, at + 7);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
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

/// Modules in which files still import each other. One that has no circle any more has to leave the list.
const CIRCLES: &[&str] = &[];

/// No two files import each other, directly or around corners. A file imports the file in which an item is
/// defined that it names, however many re-exports lie between. A `mod` or `pub use` line alone imports
/// nothing, so a parent may declare and re-export its children; but a child that names an item of its parent,
/// while the parent names an item of the child, is a circle.
#[test]
fn no_files_import_each_other() {
    for (package, least) in [
        ("src", 300),
        ("crates/bvh/src", 50),
        ("crates/scene/src", 100),
    ] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(package);
        let sources = rust_files(&root).into_iter().map(|file| {
            let source = std::fs::read_to_string(&file).unwrap();
            (module_of(file.strip_prefix(&root).unwrap()), source)
        });
        let imports = Files::new(sources).imports();
        let count: usize = imports.values().map(BTreeSet::len).sum();
        assert!(count > least, "only {count} imports were found");
        let circles = circles(&imports);
        let faults = circle_faults(&circles, CIRCLES);
        assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
        // The core knows no tree.
        let of_core = imports.iter().filter(|(file, _)| file.starts_with("gpu"));
        for (file, imported) in of_core {
            let is_tree = |name: &&String| name.starts_with("accel");
            assert_eq!(imported.iter().find(is_tree), None, "{file}");
        }
    }
}

/// The circles that do not lie within one of the `known` modules, and those of the modules that have none; a
/// line each.
fn circle_faults(circles: &[Vec<String>], known: &[&str]) -> Vec<String> {
    let is_within = |circle: &[String], module: &str| {
        let mut files = circle.iter().map(|file| file.strip_prefix(module));
        files.all(|rest| rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::")))
    };
    let is_new = |circle: &&Vec<String>| !known.iter().any(|module| is_within(circle, module));
    let new = circles.iter().filter(is_new);
    let new = new.map(|circle| format!("a circle: {}", circle.join(" -> ")));
    let is_over = |module: &&&str| !circles.iter().any(|circle| is_within(circle, module));
    let over = known.iter().filter(is_over);
    new.chain(over.map(|module| format!("{module} has no circle any more")))
        .collect()
}

/// The files of a crate by their modules, with what each names.
struct Files(BTreeMap<Vec<String>, NamesOfFile>);

/// What a file names.
struct NamesOfFile {
    paths: Vec<Named>,
    /// The names in its code, outside of `use` and of paths.
    own: BTreeSet<String>,
}

impl Files {
    fn new(sources: impl IntoIterator<Item = (Vec<String>, String)>) -> Self {
        let names = |(module, source): (Vec<String>, String)| {
            let names = NamesOfFile {
                paths: named(&source, &module),
                own: own_names(&without_tests(tokens(&code(&source)))),
            };
            (module, names)
        };
        Self(sources.into_iter().map(names).collect())
    }

    /// The file in which the item of a path is defined: `None` for a module itself, and for items of other
    /// crates.
    fn defining(&self, module: &[String], path: &Named, most: usize) -> Option<Vec<String>> {
        let mut names = path.names.clone();
        if names.last().is_some_and(|name| name == "*") {
            // A glob names every item of the module.
            names.pop();
            let whole = self.absolute(module, path.in_crate, path.is_extern, names, most)?;
            return self.0.contains_key(&whole).then_some(whole);
        }
        let whole = self.absolute(module, path.in_crate, path.is_extern, names, most)?;
        let length = (0..=whole.len())
            .rev()
            .find(|n| self.0.contains_key(&whole[..*n]))?;
        let (file, item) = whole.split_at(length);
        let (first, rest) = item.split_first()?;
        match self.alias(file, first, most) {
            Some(target) => {
                let mut target = target.clone();
                target.names.extend_from_slice(rest);
                self.defining(file, &target, most - 1)
            }
            None => Some(file.to_vec()),
        }
    }

    /// A path of `module` from the crate's root.
    fn absolute(
        &self,
        module: &[String],
        in_crate: bool,
        is_extern: bool,
        names: Vec<String>,
        most: usize,
    ) -> Option<Vec<String>> {
        if in_crate {
            return Some(names);
        }
        let first = names.first().filter(|_| !is_extern)?;
        let child = [module, &names].concat();
        if self.0.contains_key(&child[..=module.len()]) {
            return Some(child);
        }
        let target = self.alias(module, first, most)?;
        let mut whole = target.names.clone();
        whole.extend_from_slice(&names[1..]);
        self.absolute(module, target.in_crate, target.is_extern, whole, most - 1)
    }

    /// The path behind a name that a `use` of `module` declares; no further than `most` of them.
    fn alias(&self, module: &[String], name: &str, most: usize) -> Option<&Named> {
        let of_name = |path: &&Named| {
            path.import
                .as_ref()
                .is_some_and(|import| import.name == name)
        };
        let target = self.0.get(module)?.paths.iter().find(of_name);
        // `use regex;` and the like lead nowhere.
        target.filter(|target| most > 0 && (target.in_crate || target.names.len() > 1))
    }

    /// The files that each file imports, by the names of their modules.
    fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let title = |module: &[String]| match module {
            [] => "lib".to_owned(),
            names => names.join("::"),
        };
        let of_file = |(module, names): (&Vec<String>, &NamesOfFile)| {
            let imported = |path: &&Named| match &path.import {
                Some(import) if import.is_public => names.own.contains(&import.name),
                _ => true,
            };
            let paths = names.paths.iter().filter(imported);
            let files = paths.filter_map(|path| self.defining(module, path, 8));
            let others = files.filter(|file| file != module);
            (title(module), others.map(|file| title(&file)).collect())
        };
        self.0.iter().map(of_file).collect()
    }
}

/// The names in code that belong to no `use`, are no later part of a path, and are no method or field.
fn own_names(tokens: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut in_use = false;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |i| tokens[i].as_str());
        match token.as_str() {
            "use" => in_use = true,
            ";" => in_use = false,
            name if is_name(name) && !in_use && ![".", "::", "mod"].contains(&before) => {
                names.insert(name.to_owned());
            }
            _ => {}
        }
    }
    names
}

/// A shortest circle through each group of files that import each other; its first file is its last, too.
fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let mut circles: Vec<Vec<String>> = Vec::new();
    for start in imports.keys() {
        if circles.iter().any(|circle| circle.contains(start)) {
            continue;
        }
        let mut from: BTreeMap<&str, &str> = BTreeMap::new();
        let mut queue = VecDeque::from([start.as_str()]);
        while let Some(file) = queue.pop_front() {
            for next in imports.get(file).into_iter().flatten() {
                if !from.contains_key(next.as_str()) {
                    from.insert(next, file);
                    queue.push_back(next);
                }
            }
        }
        if !from.contains_key(start.as_str()) {
            continue;
        }
        let mut circle = vec![start.clone()];
        let mut at = from[start.as_str()];
        while at != start {
            circle.push(at.to_owned());
            at = from[at];
        }
        circle.push(start.clone());
        circle.reverse();
        circles.push(circle);
    }
    circles
}

mod tests_of_circles {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let sources = files.iter().map(|(file, source)| {
            let module = module_of(Path::new(file));
            (module, (*source).to_owned())
        });
        let circles = circles(&Files::new(sources).imports());
        circles.iter().map(|circle| circle.join(" -> ")).collect()
    }

    #[test]
    fn circles_are_found() {
        for (files, expected) in [
            (
                &[
                    ("a.rs", "use crate::b::B;"),
                    ("b.rs", "fn f(_: super::a::A) {}"),
                ][..],
                "a -> b -> a",
            ),
            (
                &[
                    ("a.rs", "use crate::b::B;"),
                    ("b.rs", "use crate::c::C;"),
                    ("c.rs", "use crate::{d::D};"),
                    ("d.rs", "use crate::a::A;"),
                ],
                "a -> b -> c -> d -> a",
            ),
            // A child names what its parent defines, and the parent what the child does.
            (
                &[
                    ("a/mod.rs", "mod b; struct A; fn f() { b::g(); }"),
                    ("a/b.rs", "use super::A; pub fn g() {}"),
                ],
                "a -> a::b -> a",
            ),
            (
                &[
                    ("a/mod.rs", "mod b; pub use b::B; struct A(B);"),
                    ("a/b.rs", "use super::A;"),
                ],
                "a -> a::b -> a",
            ),
            // Through re-exports, names of modules, new names and globs.
            (
                &[
                    ("lib.rs", "pub use x::{A as Renamed}; mod x; mod y;"),
                    ("x.rs", "use crate::y; fn f() { y::g(); }"),
                    ("y.rs", "use crate::Renamed; pub fn g() {}"),
                ],
                "x -> y -> x",
            ),
            (
                &[
                    ("a.rs", "use crate::b::*;"),
                    ("b.rs", "use super::a as c; fn f() { c::A; }"),
                ],
                "a -> b -> a",
            ),
            (
                &[
                    ("p/mod.rs", "mod a; mod b; use b::B;"),
                    ("p/a.rs", "use super::B;"),
                    ("p/b.rs", "use super::a::A;"),
                ],
                "p::a -> p::b -> p::a",
            ),
        ] {
            assert_eq!(circles_of(files), [expected], "{files:?}");
        }
    }

    #[test]
    fn known_circles_lie_within_a_module_and_leave_the_list() {
        let circles = [
            ["a::b", "a", "a::b"].map(str::to_owned).to_vec(),
            ["ab", "a::c", "ab"].map(str::to_owned).to_vec(),
        ];
        assert_eq!(
            circle_faults(&circles, &["a", "d"]),
            ["a circle: ab -> a::c -> ab", "d has no circle any more"]
        );
        assert_eq!(circle_faults(&circles[..1], &["a"]), [""; 0]);
    }

    #[test]
    fn what_is_no_circle_is_not_reported() {
        for files in [
            // A parent that only declares and re-exports.
            &[
                (
                    "p/mod.rs",
                    "mod a; mod b; pub use a::A; pub(crate) use b::{B, c as d};",
                ),
                ("p/a.rs", "use super::B; use crate::p::d;"),
                ("p/b.rs", "use std::fmt;"),
            ][..],
            // Tests may look at everything.
            &[
                ("a.rs", "use crate::b::B;"),
                ("b.rs", "#[cfg(test)] mod tests { use crate::a::A; }"),
            ],
            // Another crate has the name of a child.
            &[("a.rs", "mod b; use ::b::B;"), ("a/b.rs", "use super::A;")],
            // A method has the name of a re-export.
            &[
                (
                    "a/mod.rs",
                    "mod b; pub use b::load; struct A; fn f(x: X) { x.load(); }",
                ),
                ("a/b.rs", "use super::A; pub fn load() {}"),
            ],
            // Two parts of one file.
            &[("a.rs", "mod b { use super::A; } use b::B;")],
        ] {
            assert_eq!(circles_of(files), [""; 0], "{files:?}");
        }
    }
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
                "config/sort.rs",
                "use crate::scene::Scene;",
                "config::sort names crate::scene::Scene",
            ),
            (
                "config/sort.rs",
                "use super::super::scene;",
                "config::sort names crate::scene",
            ),
            (
                "config/mod.rs",
                "use super::scene;",
                "config names crate::scene",
            ),
            (
                "scene/pass.rs",
                "use crate::{\n    Error, // x, {\n    config::{self, declared::{Tab, Group}},\n    \
                 render::geometry::{\n        deform::{self as d},\n    },\n};",
                "scene::pass names crate::render::geometry::deform",
            ),
            (
                "scene/mod.rs",
                "fn f() -> usize { crate::render::lbvh::DISPATCHES }",
                "scene names crate::render::lbvh::DISPATCHES",
            ),
            (
                "scene/mod.rs",
                "mod inner { use super::super::render; }",
                "scene names crate::render",
            ),
            (
                "scene/mod.rs",
                "use canopy_bvh::gpu::Gpu;",
                "scene names crate::gpu::Gpu",
            ),
            (
                "scene/mod.rs",
                "use crate::*;",
                "scene names the whole crate",
            ),
            (
                "scene/mod.rs",
                "use crate::{self as everything};",
                "scene names the whole crate",
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
                "use crate::render::{Renderer, layout::Light};",
                "reference::lbvh names crate::render::Renderer, which is no layout",
            ),
            (
                "render/light/blend.rs",
                "use crate::render::{FrameInput, raster::gbuffer::merged_pipeline};",
                "the pass render::light::blend names crate::render::raster::gbuffer::merged_pipeline",
            ),
            (
                "render/light/blend.rs",
                "use crate::render::{self, targets};",
                "the pass render::light::blend names crate::render",
            ),
            (
                "render/light/blend.rs",
                "use super::*;",
                "the pass render::light::blend names crate::render::light::*",
            ),
            (
                "render/light/blend.rs",
                "use crate::render::raster;",
                "the pass render::light::blend names crate::render::raster",
            ),
            (
                "render/geometry/deform/skin.rs",
                "use crate::render::light::blend;",
                "the pass render::geometry::deform::skin names crate::render::light::blend",
            ),
            (
                "cli/render.rs",
                "use crate::reference::deform;",
                "cli::render names crate::reference::deform",
            ),
            (
                "app/loading.rs",
                "use crate::reference::deform;",
                "app::loading names crate::reference::deform",
            ),
            (
                "output/mod.rs",
                "use crate::reference;",
                "output names crate::reference",
            ),
            (
                "config.rs",
                "use anyhow::Result;",
                "config names anyhow::Result",
            ),
            ("extra/mod.rs", "", "extra belongs to no layer"),
            (
                "scene/mod.rs",
                "use crate::extra;",
                "scene names crate::extra",
            ),
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
                "// use wgpu::Buffer;\n/* use /* crate:: */ wgpu::X; */ fn f<'a>(x: &'a str) { let _ = \
                 (\"use wgpu::A; \\\" wgpu::B\", r#\"wgpu::C \"wgpu::D\"#, '\\'', '\"', b'\"'); }",
            ),
            ("scene/mod.rs", "use crate::{Error, Result, config};"),
            (
                "config/mod.rs",
                "#[cfg(test)]\nmod tests { use crate::scene::Scene; fn f() { if true { } } }",
            ),
            ("config/mod.rs", "#[cfg(test)]\nuse crate::scene::Scene;"),
            (
                "render/mod.rs",
                "use geometry::deform::Deform; use self::raster::gbuffer::GBuffer; use crate::accel::{Lbvh, lbvh};",
            ),
            (
                "render/light/blend.rs",
                "use crate::render::{FrameInput, bindings::Layouts, light::blend::X, targets::{HDR_FORMAT, Targets}};",
            ),
            (
                "reference/lbvh.rs",
                "use crate::{accel::layout::{Node, TlasEntry}, render::layout::Light, scene::bounds::Aabb};",
            ),
            (
                "app/mod.rs",
                "use winit::window::Window; use crate::render::Renderer;",
            ),
            ("main.rs", "use canopy::cli::{self, Cli};"),
            ("cli/bench/rays.rs", "use crate::reference::lbvh;"),
        ] {
            assert_eq!(faults(file, source), [""; 0], "{file}: {source}");
        }
    }

    /// After what is left out, the next item counts again.
    #[test]
    fn only_tests_are_left_out() {
        let source = "#[cfg(test)]\nmod tests { fn f() {} }\nuse crate::scene::Scene;";
        assert_eq!(
            faults("config/mod.rs", source),
            ["config names crate::scene::Scene"]
        );
    }
}
