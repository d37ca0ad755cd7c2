//! The documentation: links resolve, command lines parse, and the named settings exist.

use canopy::{
    accel,
    cli::Cli,
    config::Config,
    gpu::{Arrays, shader},
};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// Pages outside of `docs/` and its subfolders.
const PAGES: &[&str] = &[
    "README.md",
    "BENCHMARKS.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "crates/bvh/README.md",
    "fuzz/README.md",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page with its text.
fn pages() -> Vec<(PathBuf, String)> {
    let in_docs = ["docs", "docs/usage", "docs/benchmarks"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(root().join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"));
    let mut paths: Vec<_> = PAGES.iter().map(|page| root().join(page)).collect();
    paths.extend(in_docs);
    let text = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        (path, text)
    };
    paths.into_iter().map(text).collect()
}

/// Lines of a page, and whether each lies in a code block.
fn lines(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut in_block = false;
    text.lines().filter_map(move |line| {
        let is_fence = line.starts_with("```");
        in_block ^= is_fence;
        (!is_fence).then_some((in_block, line))
    })
}

/// Anchors that a page's headings have on the web: lower case, spaces to dashes, punctuation removed.
fn anchors(text: &str) -> Vec<String> {
    let headings = lines(text).filter(|(in_block, line)| !in_block && line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        title.chars().filter(kept).collect::<String>().replace(' ', "-")
    };
    headings.map(|(_, line)| anchor(line)).collect()
}

/// Link targets of a page, except those on other hosts.
fn links(text: &str) -> Vec<&str> {
    let targets = lines(text)
        .filter(|(in_block, _)| !in_block)
        .flat_map(|(_, line)| {
            let after = line.split("](").skip(1);
            after.filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
        });
    targets.filter(|target| !target.starts_with("http")).collect()
}

/// Link targets of a page that do not exist.
fn broken_links(path: &Path, text: &str) -> Vec<String> {
    let broken = |target: &&str| {
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let file = match file {
            "" => path.to_owned(),
            file => path.parent().unwrap().join(file),
        };
        !file.exists()
            || !anchor.is_empty()
                && !anchors(&std::fs::read_to_string(&file).unwrap()).contains(&anchor.to_owned())
    };
    links(text)
        .into_iter()
        .filter(broken)
        .map(str::to_owned)
        .collect()
}

/// Command lines in a page's code blocks that begin with `canopy`, without comments.
fn commands(text: &str) -> Vec<&str> {
    let commands = lines(text)
        .filter(|(in_block, line)| *in_block && (line.starts_with("canopy ") || *line == "canopy"));
    commands
        .map(|(_, line)| line.split_once(" #").map_or(line, |(command, _)| command).trim())
        .collect()
}

/// True if canopy accepts a command line.
fn parses(command: &str) -> bool {
    Cli::parse_from_os(command.split_whitespace().map(OsString::from)).is_ok()
}

/// Names of the form SECTION.KEY in a page's code that are not settings.
fn unknown_settings(text: &str) -> Vec<String> {
    let settings = toml::Table::try_from(Config::default()).unwrap();
    let is_file = |key: &str| {
        [
            "cpp", "exr", "glb", "gltf", "h", "json", "md", "obj", "png", "rs", "toml", "wgsl",
        ]
        .contains(&key)
    };
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_' || c == '.';
    text.split(|c: char| !is_part(c))
        .filter_map(|word| word.split_once('.').map(|parts| (word, parts)))
        .filter(|(_, (_, key))| !key.is_empty() && !key.contains('.') && !is_file(key))
        .filter_map(|(word, (section, key))| Some((word, settings.get(section)?.as_table()?, key)))
        .filter(|(_, section, key)| !section.contains_key(*key))
        .map(|(word, ..)| word.to_owned())
        .collect()
}

#[test]
fn no_link_is_broken() {
    let mut count = 0;
    let mut faults = Vec::new();
    for (path, text) in pages() {
        count += links(&text).len();
        let broken = broken_links(&path, &text);
        faults.extend(
            broken
                .iter()
                .map(|target| format!("{}: {target}", path.display())),
        );
    }
    assert!(count > 100, "only {count} links were found");
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn commands_parse_and_settings_exist() {
    let mut count = 0;
    for (path, text) in pages() {
        for command in commands(&text) {
            count += 1;
            assert!(parses(command), "{}: {command}", path.display());
        }
        assert_eq!(unknown_settings(&text), [""; 0], "{}", path.display());
    }
    assert!(count > 20, "only {count} commands were found");
}

/// Short pages are read.
#[test]
fn pages_for_users_stay_short() {
    for (path, text) in pages() {
        let max_kib = match path.strip_prefix(root()).unwrap() {
            page if page == Path::new("README.md") => 10,
            page if page == Path::new("BENCHMARKS.md") => 15,
            page if page.starts_with("docs/usage") => 12,
            _ => continue,
        };
        assert!(
            text.len() <= max_kib * 1024,
            "{}: {} bytes",
            path.display(),
            text.len()
        );
    }
}

/// The example pass in CONTRIBUTING is the one that is compiled and tested.
#[test]
fn the_example_pass_is_compiled() {
    let read = |path| std::fs::read_to_string(root().join(path)).unwrap();
    let code = read("crates/render/src/example_pass/vignette.rs");
    assert!(read("CONTRIBUTING.md").contains(&format!("```rust\n{code}```\n")));
}

/// The shader in the README of canopy-bvh is valid WGSL.
#[test]
fn the_shader_of_the_tree_is_composed() {
    let readme = std::fs::read_to_string(root().join("crates/bvh/README.md")).unwrap();
    let code = readme.split("```wgsl\n").nth(1).unwrap();
    let code = code.split("```").next().unwrap();
    let composed = shader::compose_text(&accel::SHADERS, "README.md", code, Arrays::Buffers);
    let text = composed.unwrap().text;
    naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
}

#[test]
fn broken_links_commands_and_settings_are_detected() {
    let page = "# A page: `x`, y\n[a](README.md) [b](nowhere.md) [c](#a-page-x-y) [d](#elsewhere)\n\
                ```sh\n[e](code.md)\ncanopy render a.glb -o a.png # draw\ncanopy paint\n```\n\
                `tree.leaf_cutoff` `tree.leaf_cut` `scene.rs`";
    let path = root().join("page.md");
    assert_eq!(
        links(page),
        ["README.md", "nowhere.md", "#a-page-x-y", "#elsewhere"]
    );
    assert_eq!(anchors(page), ["a-page-x-y"]);
    let [first, second] = commands(page)[..] else {
        panic!("{:?}", commands(page))
    };
    assert!(parses(first) && parses("canopy"), "{first}");
    // A word that is not a command is a file to view, so only its options can be wrong.
    assert!(parses(second) && !parses("canopy paint --nothing"), "{second}");
    assert_eq!(unknown_settings(page), ["tree.leaf_cut"]);
    let missing = "[a](README.md) [b](nowhere.md)";
    assert_eq!(broken_links(&path, missing), ["nowhere.md"]);
    let readme = root().join("README.md");
    assert_eq!(
        broken_links(&readme, "[a](#elsewhere) [b](#keys)"),
        ["#elsewhere"]
    );
}
