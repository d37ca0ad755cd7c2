//! The files that a desktop reads agree with each other and with the program. Where the validating tools are
//! installed, the files are well-formed.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"))
}

/// Value of a key of the desktop entry.
fn entry<'a>(desktop: &'a str, key: &str) -> &'a str {
    let mut lines = desktop.lines().filter_map(|line| line.split_once('='));
    let found = lines.find(|(name, _)| *name == key);
    found.unwrap_or_else(|| panic!("no {key}")).1
}

/// Every text between `before` and `after`.
fn between<'a>(text: &'a str, before: &str, after: &str) -> BTreeSet<&'a str> {
    let pieces = text.split(before).skip(1);
    pieces.map(|piece| piece.split(after).next().unwrap()).collect()
}

#[test]
fn desktop_entry_mime_types_and_metainfo_agree() {
    let desktop = read("packaging/canopy.desktop");
    let types = read("packaging/canopy-mime.xml");
    let metadata = read("packaging/canopy.metainfo.xml");
    let opened: BTreeSet<_> = entry(&desktop, "MimeType").split_terminator(';').collect();
    assert!(opened.len() >= 3, "{opened:?}");
    assert_eq!(between(&types, "<mime-type type=\"", "\""), opened);
    assert_eq!(between(&metadata, "<mediatype>", "<"), opened);
    let name = env!("CARGO_PKG_NAME");
    assert_eq!(entry(&desktop, "Exec"), format!("{name} view %F"));
    assert_eq!(entry(&desktop, "Icon"), name);
    // The window's class, which tests/monkey reads.
    assert_eq!(entry(&desktop, "StartupWMClass"), name);
    assert_eq!(
        entry(&desktop, "Comment"),
        *between(&metadata, "<summary>", "<").first().unwrap()
    );
    let categories: BTreeSet<_> = entry(&desktop, "Categories").split_terminator(';').collect();
    assert_eq!(between(&metadata, "<category>", "<"), categories);
    let licence = *between(&metadata, "<project_license>", "<").first().unwrap();
    assert!(read("Cargo.toml").contains(&format!("license = \"{licence}\"")));
    // The extensions that the program treats as scenes.
    for extension in canopy::scene::folder::EXTENSIONS {
        assert!(
            types.contains(&format!("pattern=\"*.{extension}\"")),
            "{extension}"
        );
    }
}

#[test]
fn icon_files_have_the_sizes_in_their_names() {
    for size in [16_u32, 24, 32, 48, 64, 128, 256, 512] {
        let bytes = std::fs::read(root().join(format!("assets/icon/canopy-{size}.png"))).unwrap();
        // The header of a PNG: signature, length and name of the first chunk, width, height.
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(&bytes[12..16], b"IHDR");
        assert_eq!([word(16), word(20)], [size; 2]);
    }
}

/// Runs a tool if it is installed, and fails if it reports an error.
fn check(tool: &str, arguments: &[&str], file: &str) {
    let path: PathBuf = root().join(file);
    let mut command = Command::new(tool);
    command.args(arguments).arg(&path).stdin(Stdio::null());
    match command.output() {
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(output.status.success(), "{tool}: {said}");
        }
        // scripts/test installs it where apt can.
        Err(e) => assert_eq!(e.kind(), std::io::ErrorKind::NotFound, "{tool}: {e}"),
    }
}

#[test]
fn validators_accept_the_files() {
    check("desktop-file-validate", &[], "packaging/canopy.desktop");
    for file in [
        "packaging/canopy-mime.xml",
        "packaging/canopy.metainfo.xml",
        "assets/icon/canopy.svg",
    ] {
        check("xmllint", &["--noout", "--nonet"], file);
    }
    for script in ["scripts/release", "scripts/icon"] {
        check("sh", &["-n"], script);
    }
}
