//! Dependencies that packages cannot enforce: layers within the program, passes that do not name each other,
//! and files that do not import each other.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
};
use syn::{
    ext::IdentExt as _,
    visit::{self, Visit},
};

/// Modules of the program, and the packages and modules that each may name. A missing module is a fault.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", &["bvh", "scene"]),
    ("atomic_file", &["error"]),
    ("config", &["atomic_file", "error", "lab", "render", "scene"]),
    ("device", &["bvh", "config", "error", "lab", "render"]),
    ("output", &["atomic_file", "error", "render", "scene"]),
    ("profile", &["bvh", "error", "output"]),
    ("provenance", &["config", "error", "output", "scene"]),
    (
        "cli",
        &[
            "bvh",
            "config",
            "device",
            "error",
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
            "bvh",
            "config",
            "device",
            "error",
            "lab",
            "output",
            "profile",
            "provenance",
            "render",
            "scene",
        ],
    ),
    ("main", &["app", "cli", "config", "error", "provenance"]),
];

/// Names of the root that stand for a module or a package.
const ROOT_NAMES: &[(&str, &str)] = &[
    ("Error", "error"),
    ("Result", "error"),
    ("accel", "bvh"),
    ("gpu", "bvh"),
];

/// The only parts of the program that may name the CPU twins: to measure them, to count their operations, and
/// to compare with them.
const NAMES_TWINS: [[&str; 2]; 3] = [["cli", "bench"], ["cli", "lab"], ["cli", "selftest"]];

/// Crates that only some modules of the program may name.
const OWNERS: &[(&str, &[&str])] = &[
    ("anyhow", &["main"]),
    ("clap", &["cli"]),
    ("egui", &["app"]),
    ("egui_wgpu", &["app"]),
    ("egui_winit", &["app"]),
    ("exr", &["output"]),
    ("jiff", &["app"]),
    ("nucleo_matcher", &["app"]),
    ("rfd", &["app"]),
    ("wgpu", &["app", "cli"]),
    ("winit", &["app"]),
];

/// Folders of the renderer whose own file is only a list of passes.
const FOLDERS: [&str; 5] = ["ambient", "geometry", "light", "queries", "raster"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file of a package, with its module.
fn sources(package: &str) -> Vec<(Vec<String>, String)> {
    let folder = root().join(package);
    let read = |file: PathBuf| {
        let source = std::fs::read_to_string(&file).unwrap();
        (module_of(file.strip_prefix(&folder).unwrap()), source)
    };
    let files: Vec<_> = rust_files(&folder).into_iter().map(read).collect();
    assert!(files.len() > 10, "{package}");
    files
}

#[test]
fn the_program_keeps_to_its_layers() {
    let faults: Vec<_> = sources("src")
        .iter()
        .flat_map(|(module, source)| layer_faults(module, &parsed(module, source)))
        .collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn passes_do_not_depend_on_each_other() {
    let passes = passes(&root().join("shaders"));
    assert!(passes.contains("deform") && passes.len() > 50, "{passes:?}");
    let faults: Vec<_> = sources("crates/render/src")
        .iter()
        .flat_map(|(module, source)| pass_faults(module, &parsed(module, source), &passes))
        .collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// No two files import each other, directly or indirectly. A file imports the file that defines an item it
/// names, through any number of re-exports. A `mod` or `pub use` line by itself imports nothing, so a parent
/// may declare and re-export its children. It is a cycle if a child names an item of its parent while the
/// parent names an item of the child. Method calls are not considered.
#[test]
fn no_source_files_import_each_other_cyclically() {
    for package in ["bvh", "lab", "reference", "render", "scene"] {
        check_circles(&format!("crates/{package}/src"));
    }
    check_circles("src");
}

fn check_circles(package: &str) {
    let imports = Files::new(sources(package)).imports();
    let found = imports.values().map(BTreeSet::len).sum::<usize>();
    assert!(found > 10, "{package}: only {found} imports were found");
    let circles: Vec<_> = circles(&imports).iter().map(|c| c.join(" -> ")).collect();
    assert!(circles.is_empty(), "\n{}\n", circles.join("\n"));
}

/// The GPU core of canopy-bvh does not depend on the BVH.
#[test]
fn the_gpu_core_does_not_depend_on_the_tree() {
    let imports = Files::new(sources("crates/bvh/src")).imports();
    let of_core: Vec<_> = imports
        .iter()
        .filter(|(file, _)| file.starts_with("gpu"))
        .collect();
    assert!(of_core.len() > 20, "{of_core:?}");
    for (file, imported) in of_core {
        let tree = imported.iter().find(|name| name.starts_with("accel"));
        assert_eq!(tree, None, "{file}");
    }
}

/// Module of a file under `src/`.
fn module_of(file: &Path) -> Vec<String> {
    let text = |part: &std::ffi::OsStr| part.to_string_lossy().into_owned();
    let mut module: Vec<String> = file.with_extension("").iter().map(text).collect();
    if module.last().is_some_and(|name| name == "mod") || module == ["lib"] {
        module.pop();
    }
    module
}

/// Paths in `folder`.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    read.map(|entry| entry.unwrap().path()).collect()
}

/// Every Rust file below `folder`.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<_>, Vec<_>) = entries(folder).into_iter().partition(|p| p.is_dir());
    let rust = |path: &PathBuf| path.extension().is_some_and(|e| e == "rs");
    let nested = folders.iter().flat_map(|folder| rust_files(folder));
    nested.chain(files.into_iter().filter(rust)).collect()
}

/// Passes of the renderer: shaders with entry points, by the name of their file, and the environment.
fn passes(shaders: &Path) -> BTreeSet<String> {
    let is_of_the_renderer = |folder: &PathBuf| {
        let others = ["bench", "bvh", "lab"];
        folder.is_dir() && !others.iter().any(|other| folder.ends_with(other))
    };
    let folders = entries(shaders).into_iter().filter(is_of_the_renderer);
    let files = folders.flat_map(|folder| entries(&folder));
    let is_pass = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        text.contains("\n@compute") || text.contains("\n@fragment")
    };
    let stem = |path: PathBuf| Some(path.file_stem()?.to_string_lossy().into_owned());
    let stems = files.filter(is_pass).filter_map(stem);
    stems.chain(["environment".into()]).collect()
}

/// Paths in a file of the program that leave its layer, one line each.
fn layer_faults(module: &[String], names: &NamesOfFile) -> BTreeSet<String> {
    let here = module.join("::");
    let Some(own) = module.first() else {
        // lib.rs is above all layers.
        return BTreeSet::new();
    };
    let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| layer == own) else {
        return [format!("{here} belongs to no layer")].into();
    };
    let is_owner = |name: &str| {
        let owners = OWNERS.iter().find(|(owned, _)| *owned == name);
        owners.is_none_or(|(_, owners)| owners.contains(&own.as_str()))
    };
    let mut faults = BTreeSet::new();
    let names_twins = NAMES_TWINS
        .iter()
        .any(|part| module.starts_with(&part.map(str::to_owned)));
    for path in &names.paths {
        let first = path.names.first().map_or("*", String::as_str);
        let package = first.strip_prefix("canopy_").filter(|_| !path.in_crate);
        let first = package.unwrap_or(first);
        let stands_for = ROOT_NAMES.iter().find(|(name, _)| *name == first);
        let target = stands_for.map_or(first, |(_, target)| target);
        let is_allowed = match path.in_crate || package.is_some() {
            true => target == own || allowed.contains(&target) || target == "reference" && names_twins,
            false => is_owner(first),
        };
        if !is_allowed {
            faults.insert(format!("{here} names {}", path.names.join("::")));
        }
    }
    faults
}

/// Paths of a pass to other passes, one line each. Paths to a whole folder of passes count too, because they
/// hide which pass is meant.
fn pass_faults(module: &[String], names: &NamesOfFile, passes: &BTreeSet<String>) -> BTreeSet<String> {
    // A pass may have files below its own.
    let pass_of = |path: &[String]| path.iter().find(|name| passes.contains(*name)).cloned();
    let Some(own) = pass_of(module) else {
        return BTreeSet::new();
    };
    let is_fault = |names: &[String]| match names {
        [] => true,
        [folder] if FOLDERS.contains(&folder.as_str()) => true,
        names => names.last().is_some_and(|name| name == "*") || pass_of(names).is_some_and(|p| p != own),
    };
    let paths = names.paths.iter().filter(|path| path.in_crate);
    let faults = paths.filter(|path| is_fault(&path.names));
    let line = |path: &Named| format!("{} names {}", module.join("::"), path.names.join("::"));
    faults.map(line).collect()
}

/// A path as written in a file, resolved as far as it leaves the file's module.
#[derive(Debug, Clone)]
struct Named {
    /// True if it starts at this crate's root. Otherwise it starts with another crate or with a name of the
    /// module itself.
    in_crate: bool,
    /// True if it starts with `::`, and so with another crate.
    is_extern: bool,
    names: Vec<String>,
    /// The `use` that it belongs to.
    import: Option<Import>,
}

/// A name that a `use` declares.
#[derive(Debug, Clone)]
struct Import {
    name: String,
    /// True if other modules see it too.
    is_public: bool,
}

/// Names in a file, except those under `#[cfg(test)]`.
#[derive(Debug, Default)]
struct NamesOfFile {
    /// Paths of `use` items, and paths of several names anywhere else.
    paths: Vec<Named>,
    /// Names in its code, outside of `use` and not after `::`.
    own: BTreeSet<String>,
    /// The module, including modules written inline in the file.
    module: Vec<String>,
}

/// Names in `source`, the file of `module`.
fn parsed(module: &[String], source: &str) -> NamesOfFile {
    let file = syn::parse_file(source).unwrap_or_else(|e| panic!("{}: {e}", module.join("::")));
    let mut names = NamesOfFile {
        module: module.to_vec(),
        ..NamesOfFile::default()
    };
    names.visit_file(&file);
    names
}

/// True if the attributes restrict an item to tests.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let is_test = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        _ => false,
    };
    attributes.iter().any(is_test)
}

/// Attributes of the items that files have for tests.
fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

impl NamesOfFile {
    /// Adds a path. It is relative to the crate's root if it begins with `crate`, `self` or `super`, or with
    /// `canopy` in the binary.
    fn add(&mut self, names: Vec<String>, is_extern: bool, import: Option<Import>) {
        let first = names[0].as_str();
        let is_root = first == "crate" || (first == "canopy" && self.module == ["main"]);
        let in_crate = !is_extern && (is_root || first == "self" || first == "super");
        let ups = names.iter().take_while(|name| *name == "super").count();
        let names = match first {
            _ if !in_crate => names,
            _ if is_root => names[1..].to_vec(),
            "self" => [&self.module, &names[1..]].concat(),
            _ => {
                let depth = self.module.len().saturating_sub(ups);
                [&self.module[..depth], &names[ups..]].concat()
            }
        };
        self.paths.push(Named {
            in_crate,
            is_extern,
            names,
            import,
        });
    }

    fn add_use(&mut self, tree: &syn::UseTree, before: &[String], of: (bool, bool)) {
        let (is_extern, is_public) = of;
        let mut names = before.to_vec();
        let mut add = |names: Vec<String>, name: String| {
            let import = Import { name, is_public };
            self.add(names, is_extern, Some(import));
        };
        match tree {
            syn::UseTree::Path(path) => {
                names.push(path.ident.unraw().to_string());
                self.add_use(&path.tree, &names, of);
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(tree, before, of);
                }
            }
            syn::UseTree::Glob(_) => {
                names.push("*".into());
                add(names, "*".into());
            }
            syn::UseTree::Name(syn::UseName { ident }) => {
                let last = ident.unraw().to_string();
                if last != "self" || names.is_empty() {
                    names.push(last);
                }
                let name = names.last().cloned().unwrap_or_default();
                add(names, name);
            }
            syn::UseTree::Rename(syn::UseRename { ident, rename, .. }) => {
                let last = ident.unraw().to_string();
                if last != "self" || names.is_empty() {
                    names.push(last);
                }
                add(names, rename.unraw().to_string());
            }
        }
    }
}

impl<'ast> Visit<'ast> for NamesOfFile {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        let of = (item.leading_colon.is_some(), is_public);
        self.add_use(&item.tree, &[], of);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let ident = |segment: &syn::PathSegment| segment.ident.unraw().to_string();
        let names: Vec<String> = path.segments.iter().map(ident).collect();
        self.own.insert(names[0].clone());
        if names.len() > 1 {
            self.add(names, path.leading_colon.is_some(), None);
        }
        visit::visit_path(self, path);
    }

    /// Macro tokens are not parsed. Names with `::` between them are taken as paths.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        let text = call.tokens.to_string().replace(" :: ", "::");
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        for word in text.split(|c| !is_part(c)) {
            if let Ok(path) = syn::parse_str::<syn::Path>(word) {
                self.visit_path(&path);
            }
        }
    }
}

/// Files of a crate by module, with the names in each.
struct Files(BTreeMap<Vec<String>, NamesOfFile>);

impl Files {
    fn new(sources: impl IntoIterator<Item = (Vec<String>, String)>) -> Self {
        let names = |(module, source): (Vec<String>, String)| {
            let names = parsed(&module, &source);
            (module, names)
        };
        Self(sources.into_iter().map(names).collect())
    }

    /// File that defines the item of a path. `None` for a module itself, and for items of other crates.
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

    /// Resolves a path of `module` from the crate's root.
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

    /// The path behind a name that a `use` of `module` declares, through at most `most` of them.
    fn alias(&self, module: &[String], name: &str, most: usize) -> Option<&Named> {
        let of_name = |path: &&Named| path.import.as_ref().is_some_and(|import| import.name == name);
        let target = self.0.get(module)?.paths.iter().find(of_name);
        // `use regex;` and the like lead nowhere.
        target.filter(|target| most > 0 && (target.in_crate || target.names.len() > 1))
    }

    /// Files that each file imports, by module name.
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

/// A shortest cycle through each group of files that import each other. Its first file is also its last.
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
    fn import_cycles_are_detected() {
        for (files, expected) in [
            (
                &[("a.rs", "use crate::b::B;"), ("b.rs", "fn f(_: super::a::A) {}")][..],
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
            // A child names an item of its parent, and the parent names an item of the child.
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
            // Through re-exports, module names, renames and globs.
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
    fn acyclic_imports_are_not_reported() {
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
            // Tests may import everything.
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
        let module = module_of(Path::new(file));
        let names = parsed(&module, source);
        layer_faults(&module, &names).into_iter().collect()
    }

    /// Each of these violates a layer, in a different notation.
    #[test]
    fn layer_violations_are_reported() {
        for (file, source, expected) in [
            (
                "output/a/b.rs",
                "fn f(_: &::wgpu::Buffer) {}",
                "output::a::b names wgpu::Buffer",
            ),
            ("output/mod.rs", "use wgpu;", "output names wgpu"),
            ("output/mod.rs", "use wgpu as w;", "output names wgpu"),
            (
                "config/a.rs",
                "use super::super::output;",
                "config::a names output",
            ),
            ("config/mod.rs", "use super::output;", "config names output"),
            (
                "config/a.rs",
                "use crate::{\n    Error, // x, {\n    scene::{self, Scene},\n    output::flip::{self as f},\n};",
                "config::a names output::flip",
            ),
            (
                "config/mod.rs",
                "fn f() -> usize { crate::output::N }",
                "config names output::N",
            ),
            (
                "config/mod.rs",
                "fn f() { vec![crate::output::N]; }",
                "config names output::N",
            ),
            (
                "config/mod.rs",
                "mod inner { use super::super::output; }",
                "config names output",
            ),
            ("config/mod.rs", "use crate::*;", "config names *"),
            (
                "config/mod.rs",
                "use crate::{self as everything};",
                "config names ",
            ),
            ("cli/mod.rs", "use crate::app::run;", "cli names app::run"),
            ("cli/mod.rs", "use egui::Ui;", "cli names egui::Ui"),
            (
                "app/loading.rs",
                "use crate::reference::deform;",
                "app::loading names reference::deform",
            ),
            (
                "app/a.rs",
                "use canopy_reference::deform;",
                "app::a names canopy_reference::deform",
            ),
            (
                "cli/render.rs",
                "use crate::reference::deform;",
                "cli::render names reference::deform",
            ),
            (
                "profile/a.rs",
                "use canopy_render::Channel;",
                "profile::a names canopy_render::Channel",
            ),
            ("config.rs", "use anyhow::Result;", "config names anyhow::Result"),
            ("extra/mod.rs", "", "extra belongs to no layer"),
            ("config/mod.rs", "use crate::extra;", "config names extra"),
            ("main.rs", "use canopy::output::flip;", "main names output::flip"),
            (
                "config/mod.rs",
                "#[cfg(test)]\nmod tests { fn f() {} }\nuse crate::output::X;",
                "config names output::X",
            ),
        ] {
            assert_eq!(faults(file, source), [expected], "{file}: {source}");
        }
    }

    #[test]
    fn allowed_paths_are_not_reported() {
        for (file, source) in [
            ("lib.rs", "pub use error::{Error, Result};"),
            (
                "output/mod.rs",
                "// use wgpu::Buffer;\nconst A: &str = \"use wgpu::A;\";",
            ),
            (
                "config/mod.rs",
                "use crate::{Error, Result, scene::Scene, render::Channel};",
            ),
            (
                "config/mod.rs",
                "#[cfg(test)]\nmod tests { use crate::output::X; }",
            ),
            ("config/mod.rs", "#[cfg(test)]\nuse crate::output::X;"),
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

    fn faults_of_pass(file: &str, source: &str) -> Vec<String> {
        let passes = ["deform", "gbuffer", "blend"].map(str::to_owned).into();
        let module = module_of(Path::new(file));
        let names = parsed(&module, source);
        pass_faults(&module, &names, &passes).into_iter().collect()
    }

    #[test]
    fn dependencies_between_passes_are_reported() {
        for (file, source, expected) in [
            (
                "light/blend.rs",
                "use crate::{FrameInput, raster::gbuffer::merged};",
                "light::blend names raster::gbuffer::merged",
            ),
            ("light/blend.rs", "use super::*;", "light::blend names light::*"),
            (
                "light/blend.rs",
                "use crate::raster;",
                "light::blend names raster",
            ),
            (
                "geometry/deform/skin.rs",
                "use crate::light::blend;",
                "geometry::deform::skin names light::blend",
            ),
        ] {
            assert_eq!(faults_of_pass(file, source), [expected], "{file}: {source}");
        }
        for (file, source) in [
            (
                "lib.rs",
                "use geometry::deform::Deform; use raster::gbuffer::GBuffer;",
            ),
            (
                "light/blend.rs",
                "use crate::{FrameInput, edges::Radiance, light::blend::X};",
            ),
        ] {
            assert_eq!(faults_of_pass(file, source), [""; 0], "{file}: {source}");
        }
    }
}
