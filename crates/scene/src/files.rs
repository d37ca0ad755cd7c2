//! Reads the bytes of files that a scene refers to. Only regular files in the folder of the opened file are
//! read.

use crate::{Error, Result, settings};
use base64::{Engine as _, alphabet, engine};
use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    collections::{BTreeSet, HashMap},
    fs,
    io::{ErrorKind, Read as _},
    ops::{Deref, Range},
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// A byte range of a file, or the complete file. Buffers and images share one copy of the file.
#[derive(Debug, Clone)]
pub(super) struct Bytes {
    whole: Arc<Cow<'static, [u8]>>,
    /// Range of the part in `whole`, in bounds.
    range: Range<usize>,
}

impl Bytes {
    /// Returns the bytes at `range`, or `None` if the range is out of bounds.
    pub(super) fn part(&self, range: Range<usize>) -> Option<Self> {
        self.get(range.clone())?;
        let start = self.range.start;
        Some(Self {
            whole: self.whole.clone(),
            range: start + range.start..start + range.end,
        })
    }

    /// Returns the address and the length, which identify a part without a comparison of its bytes.
    pub(super) fn address(&self) -> (usize, usize) {
        (self.as_ptr() as usize, self.len())
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.whole[self.range.clone()]
    }
}

impl<T: Into<Cow<'static, [u8]>>> From<T> for Bytes {
    fn from(bytes: T) -> Self {
        let whole = bytes.into();
        Self {
            range: 0..whole.len(),
            whole: Arc::new(whole),
        }
    }
}

/// Reads `path`, which comes from the user, or standard input if [`is_stdin`] is true for it.
pub(super) fn read_file(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    if is_stdin(path) {
        return read_whole(Path::new(STDIN), std::io::stdin().lock(), max_bytes);
    }
    let size = fs::metadata(path).map_err(|e| Error::io(path, e))?;
    if !size.is_file() {
        return Err(Error::scene(
            path,
            if size.is_dir() {
                "is a folder"
            } else {
                "is not a regular file"
            },
        ));
    }
    if size.len() > max_bytes {
        return Err(too_large(path, size.len(), max_bytes));
    }
    let file = fs::File::open(path).map_err(|e| Error::io(path, e))?;
    read_whole(path, file, max_bytes)
}

/// Name of standard input in messages.
pub(super) const STDIN: &str = "standard input";

/// True if a file name means standard input: `-`.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads `from` to its end. `path` is its name in messages.
fn read_whole(path: &Path, from: impl std::io::Read, max_bytes: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte past the limit detects a file that has grown since its size was read, and a stream that never
    // ends.
    from.take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|e| Error::io(path, e))?;
    if bytes.len() as u64 > max_bytes {
        return Err(too_large(path, bytes.len() as u64, max_bytes));
    }
    Ok(bytes)
}

fn too_large(path: &Path, bytes: u64, max_bytes: u64) -> Error {
    Error::Limit {
        what: path.display().to_string(),
        needed: format!("{bytes} bytes"),
        allowed: format!("{max_bytes} bytes"),
        by: "load.max_file_bytes".into(),
    }
}

/// Paths of the files that a load has read or looked for in vain.
#[derive(Debug, Clone, Default)]
pub(super) struct Sources(Arc<Mutex<BTreeSet<PathBuf>>>);

impl Sources {
    /// Maximum number of listed paths. Later ones are dropped.
    const MAX_PATHS: usize = 4096;

    /// Adds the path of a file.
    pub(super) fn add(&self, path: PathBuf) {
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if paths.len() < Self::MAX_PATHS {
            paths.insert(path);
        }
    }

    /// Returns all paths, sorted.
    pub(super) fn list(&self) -> Vec<PathBuf> {
        let paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paths.iter().cloned().collect()
    }
}

/// The folder of an opened file, in which its relative URIs are resolved.
#[derive(Debug)]
pub(super) struct Folder {
    /// Canonical path; `None` for a scene that was loaded from bytes, which may open no files.
    root: Option<PathBuf>,
    /// True if symbolic links in the folder may lead out of it.
    follow_links: bool,
    /// Kind of the opened file, for messages.
    of: &'static str,
    max_bytes: u64,
    /// Number of bytes that may still be read.
    left_bytes: Cell<u64>,
    /// File names of the folders that have been searched, keyed by the lower-case name.
    names: RefCell<HashMap<PathBuf, HashMap<String, String>>>,
    /// Files that have been read. Each is read once, so that memory use cannot exceed what is on the disk.
    read: RefCell<HashMap<PathBuf, Bytes>>,
    sources: Sources,
}

/// A file that a name resolved to.
#[derive(Debug)]
struct ResolvedPath {
    /// Path relative to the folder, with upper and lower case as on the disk.
    inside: PathBuf,
    /// Absolute path without symbolic links.
    real: PathBuf,
}

impl Folder {
    /// Returns a folder in which every path is an error.
    pub(super) fn none() -> Self {
        Self {
            root: None,
            follow_links: false,
            of: "scene",
            max_bytes: 0,
            left_bytes: Cell::new(0),
            names: RefCell::default(),
            read: RefCell::default(),
            sources: Sources::default(),
        }
    }

    /// Opens the folder of `file` with these limits. Files that are read or missing are added to `sources`.
    pub(super) fn of(file: &Path, limits: &settings::Load, sources: Sources) -> Result<Self> {
        let parent = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let root = parent.canonicalize().map_err(|e| Error::io(parent, e))?;
        Ok(Self {
            root: Some(root),
            follow_links: limits.follow_links,
            max_bytes: limits.max_file_bytes,
            left_bytes: Cell::new(limits.max_total_bytes),
            sources,
            ..Self::none()
        })
    }

    /// Returns the bytes of a glTF URI, which is a percent-encoded relative path or a `data:` URI. Errors do
    /// not name the scene file.
    pub(super) fn uri(&self, uri: &str) -> Result<Bytes, String> {
        if let Some(data) = strip_prefix_ignore_case(uri, "data:") {
            return data_uri(data)
                .map(Bytes::from)
                .map_err(|why| format!("the data URI \"{}\" {why}", shorten(uri)));
        }
        if has_scheme(uri) {
            return Err(format!(
                "\"{}\" is not a relative path; canopy opens only files in the {}'s folder and below",
                shorten(uri),
                self.of
            ));
        }
        let decoded = percent_encoding::percent_decode_str(uri)
            .decode_utf8()
            .map_err(|_| {
                format!(
                    "\"{}\" is not UTF-8 once its percent escapes are decoded",
                    shorten(uri)
                )
            })?;
        self.path(&decoded)
    }

    /// Returns the bytes of the file that [`Self::find`] finds.
    pub(super) fn path(&self, path: &str) -> Result<Bytes, String> {
        let quoted = format!("\"{}\"", shorten(path));
        let ResolvedPath { real: found, .. } = self.find(path)?;
        if let Some(bytes) = self.read.borrow().get(&found) {
            return Ok(bytes.clone());
        }
        let bytes = read_file(&found, self.max_bytes)
            .map(Bytes::from)
            .map_err(|e| match e {
                Error::Io { source, .. } => format!("{quoted}: {source}"),
                Error::Scene { what, .. } => format!("{quoted} {what}"),
                other => other.to_string(),
            })?;
        let left = self.left_bytes.get().checked_sub(bytes.len() as u64);
        self.left_bytes.set(left.ok_or_else(|| {
            format!("{quoted} and the files before it hold more than load.max_total_bytes allows")
        })?);
        self.read.borrow_mut().insert(found, bytes.clone());
        Ok(bytes)
    }

    /// Resolves a relative path, written with `/` or `\`. An exact match comes first, then one that differs
    /// in case. Every name that comes out of a file is resolved by this function.
    fn find(&self, path: &str) -> Result<ResolvedPath, String> {
        let quoted = format!("\"{}\"", shorten(path));
        if path.is_empty() {
            return Err("an empty path".into());
        }
        if path.contains('\0') {
            return Err(format!("{quoted} holds a NUL"));
        }
        // Exporters on Windows write backslashes, which are rarely part of a file name elsewhere.
        let slashed = path.replace('\\', "/");
        let relative = Path::new(&slashed);
        let drive = slashed.as_bytes().get(1) == Some(&b':');
        if relative.is_absolute() || drive || slashed.starts_with('/') {
            return Err(format!(
                "{quoted} is an absolute path; canopy opens only files in the {}'s folder and below",
                self.of
            ));
        }
        let leads_out = format!("{quoted} leads out of the {}'s folder", self.of);
        let mut depth = 0_i64;
        for component in relative.components() {
            depth += match component {
                Component::ParentDir => -1,
                Component::CurDir => 0,
                _ => 1,
            };
            if depth < 0 {
                return Err(leads_out);
            }
        }
        let no_folder = || format!("{quoted} has no folder: the scene was read from bytes, not from a file");
        let root = self.root.as_ref().ok_or_else(no_folder)?;
        let joined = root.join(relative);
        let found = joined.canonicalize().map(|real| ResolvedPath {
            inside: relative.to_owned(),
            real,
        });
        let found = found.or_else(|why| {
            self.sources.add(joined);
            let found = (why.kind() == ErrorKind::NotFound)
                .then(|| self.in_other_case(root, relative))
                .flatten();
            found.ok_or_else(|| format!("{quoted}: {why}"))
        })?;
        // The path itself does not lead out of the folder, so a symbolic link does.
        if !self.may_read(root, &found.real) {
            return Err(format!(
                "{leads_out} by a symbolic link; load.follow_links = true would allow it"
            ));
        }
        self.sources.add(root.join(&found.inside));
        Ok(found)
    }

    /// True if `real`, a path without links, lies in the folder, or if links may lead out of it.
    fn may_read(&self, root: &Path, real: &Path) -> bool {
        self.follow_links || real.starts_with(root)
    }

    /// Finds the file whose path differs from `relative` only in case.
    fn in_other_case(&self, root: &Path, relative: &Path) -> Option<ResolvedPath> {
        let mut inside = PathBuf::new();
        for component in relative.components() {
            let next = inside.join(component);
            if root.join(&next).exists() {
                inside = next;
                continue;
            }
            let Component::Normal(name) = component else {
                return None;
            };
            let folder = root.join(&inside).canonicalize().ok()?;
            if !self.may_read(root, &folder) {
                return None;
            }
            let mut names = self.names.borrow_mut();
            let names = names.entry(folder).or_insert_with_key(|folder| list(folder));
            inside.push(names.get(&name.to_str()?.to_lowercase())?);
        }
        let real = root.join(&inside).canonicalize().ok()?;
        Some(ResolvedPath { inside, real })
    }

    /// Returns the relative path to the file at `path`, with upper and lower case as on the disk.
    pub(super) fn path_on_disk(&self, path: &str) -> Option<PathBuf> {
        Some(self.find(path).ok()?.inside)
    }

    /// True if there is a file at a relative path.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.find(path).is_ok()
    }

    /// Resolves paths like [`Self::path`], but accepts paths that were written on another machine. If the
    /// path does not resolve, the file of that name in the scene's folder is used, and its name is returned.
    /// An error is about the original path.
    pub(super) fn path_or_beside(&self, path: &str) -> Result<(Bytes, Option<String>), String> {
        let why = match self.path(path) {
            Ok(bytes) => return Ok((bytes, None)),
            Err(why) => why,
        };
        let bare = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = self.named(bare).ok_or(why)?;
        Ok((self.path(&name)?, Some(name)))
    }

    /// Returns the name of the file directly in the folder that matches `bare`, ignoring case.
    pub(super) fn named(&self, bare: &str) -> Option<String> {
        let inside = self.find(bare).ok()?.inside;
        inside.into_os_string().into_string().ok()
    }
}

/// Lists the names in a folder, keyed by lower case. If two differ only in case, the last one in sorted order
/// is kept.
fn list(folder: &Path) -> HashMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<_> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let names = names.into_iter();
    names.map(|name| (name.to_lowercase(), name)).collect()
}

/// Resolves `name`, which the picture at `picture` refers to, in the folder of the picture. Returns `None` if
/// there is no such file.
///
/// # Errors
///
/// A message with the reason why the name is refused.
pub fn find_beside(picture: &Path, name: &str, limits: &settings::Load) -> Result<Option<PathBuf>, String> {
    let folder = Folder::of(picture, limits, Sources::default()).map_err(|e| e.to_string())?;
    let folder = Folder {
        of: "picture",
        ..folder
    };
    let from = picture.parent().unwrap_or(Path::new(""));
    match folder.find(name) {
        // Returned relative to the path that the user gave for the picture.
        Ok(found) => Ok(Some(from.join(found.inside))),
        Err(why) if from.join(name).exists() => Err(why),
        Err(_) => Ok(None),
    }
}

/// Shortens a name for a one-line message.
pub(super) fn shorten(text: &str) -> String {
    clip(text, 120)
}

/// Returns the first `longest` characters of `text`, with control characters replaced by `?`.
pub(super) fn clip(text: &str, longest: usize) -> String {
    let clean = |c: char| if c.is_control() { '?' } else { c };
    let mut clipped: String = text.chars().take(longest).map(clean).collect();
    if text.chars().nth(longest).is_some() {
        clipped.push('…');
    }
    clipped
}

/// Joins the lines of a decoder's message into one.
pub(super) fn one_line(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn strip_prefix_ignore_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// True if `uri` begins with `scheme:` (RFC 3986, 3.1) or with `//host`.
fn has_scheme(uri: &str) -> bool {
    let scheme = uri.split_once(':').map_or("", |(head, _)| head);
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    named || uri.starts_with("//")
}

/// Decodes the part of a data URI after `data:`.
fn data_uri(rest: &str) -> Result<Vec<u8>, String> {
    let (kind, data) = rest.split_once(',').ok_or("has no comma")?;
    if kind.to_ascii_lowercase().ends_with(";base64") {
        // Some exporters omit the padding.
        let config = engine::GeneralPurposeConfig::new()
            .with_decode_padding_mode(engine::DecodePaddingMode::Indifferent);
        let base64 = engine::GeneralPurpose::new(&alphabet::STANDARD, config);
        base64
            .decode(data.trim_end())
            .map_err(|e| format!("is not base64: {e}"))
    } else {
        Ok(percent_encoding::percent_decode_str(data).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("in/sub dir")).unwrap();
        fs::write(dir.path().join("secret"), b"no").unwrap();
        fs::write(dir.path().join("in/a.bin"), b"abc").unwrap();
        fs::write(dir.path().join("in/sub dir/ü %.bin"), b"def").unwrap();
        let file = dir.path().join("in/scene.gltf");
        let folder = Folder::of(&file, &limits(), Sources::default()).unwrap();
        (dir, folder)
    }

    fn limits() -> settings::Load {
        settings::Load {
            max_file_bytes: 10,
            max_total_bytes: 40,
            ..settings::Settings::default().load
        }
    }

    #[test]
    fn opens_files_within_the_folder() {
        let (_dir, folder) = folder();
        for uri in ["a.bin", "./a.bin", "sub dir/../a.bin", "sub%20dir/%2E%2E/a.bin"] {
            assert_eq!(*folder.uri(uri).unwrap(), *b"abc", "{uri}");
        }
        for uri in ["sub%20dir/%C3%BC%20%25.bin", "sub dir/ü %25.bin"] {
            assert_eq!(*folder.uri(uri).unwrap(), *b"def", "{uri}");
        }
        assert_eq!(*folder.path("sub dir\\ü %.bin").unwrap(), *b"def");
    }

    /// `sources` lists the files that were read and those that were missing, because a change of either
    /// changes the scene.
    #[test]
    fn sources_list_files_that_were_read_or_missing() {
        let (dir, folder) = folder();
        folder.uri("a.bin").unwrap();
        folder.path("later.png").unwrap_err();
        folder.path("../secret").unwrap_err();
        folder.uri("data:,x").unwrap();
        let root = dir.path().join("in").canonicalize().unwrap();
        let expected = ["a.bin", "later.png"].map(|name| root.join(name));
        assert_eq!(folder.sources.list(), expected);
    }

    #[test]
    fn decodes_data_uris() {
        let (_dir, folder) = folder();
        for uri in [
            "data:application/octet-stream;base64,YWI=",
            "data:;base64,YWI",
            "DATA:,ab",
            "data:text/plain,a%62",
        ] {
            assert_eq!(*folder.uri(uri).unwrap(), *b"ab", "{uri}");
        }
        assert!(folder.uri("data:;base64,@@").unwrap_err().contains("base64"));
        assert!(folder.uri("data:nothing").unwrap_err().contains("comma"));
    }

    #[test]
    fn refuses_files_outside_the_folder() {
        let (_dir, folder) = folder();
        for uri in [
            "../secret",
            "..\\secret",
            "%2e%2e/secret",
            "..%2Fsecret",
            "sub dir/../../secret",
            "nowhere/../../in/a.bin",
            "/etc/passwd",
            "//host/x",
            "file:///etc/passwd",
            "http://example.org/x",
            "C:/x",
            "C:\\x",
            "\\\\host\\x",
            "a%00b",
            "",
            "%ff.bin",
            ".",
            "sub dir",
            "missing.bin",
        ] {
            let why = folder.uri(uri).unwrap_err();
            assert!(!why.contains('\n') && !why.is_empty(), "{uri}: {why}");
        }
        assert!(folder.uri("../secret").unwrap_err().contains("../secret"));
    }

    #[test]
    fn refuses_large_files() {
        let (dir, folder) = folder();
        fs::write(dir.path().join("in/large"), [0; 11]).unwrap();
        assert!(folder.uri("large").unwrap_err().contains("load.max_file_bytes"));
    }

    #[test]
    fn refuses_files_beyond_the_total_size_limit() {
        let (dir, folder) = folder();
        for name in ["1", "2", "3", "4"] {
            fs::write(dir.path().join("in").join(name), [0; 10]).unwrap();
            folder.uri(name).unwrap();
        }
        folder.uri("1").unwrap();
        assert!(folder.uri("a.bin").unwrap_err().contains("load.max_total_bytes"));
    }

    #[test]
    fn absolute_paths_of_other_machines_resolve_beside_the_scene() {
        let (_dir, folder) = folder();
        for path in ["C:\\work\\A.bin", "/etc/a.bin", "../../a.BIN", "no/A.BIN"] {
            let (bytes, name) = folder.path_or_beside(path).unwrap();
            assert_eq!((&*bytes, name.as_deref()), (&b"abc"[..], Some("a.bin")));
        }
        for path in ["a.bin", "A.BIN"] {
            assert_eq!(folder.path_or_beside(path).unwrap().1, None);
        }
        for path in ["../secret", "/etc/passwd", "sub dir", "x/", ".."] {
            folder.path_or_beside(path).unwrap_err();
        }
    }

    #[test]
    fn names_match_in_any_case_unless_an_exact_match_exists() {
        let (dir, folder) = folder();
        for uri in ["A.bin", "./A.BIN", "SUB%20dir/../a.BIN", "sub dir/../A.bin"] {
            assert_eq!(*folder.uri(uri).unwrap(), *b"abc", "{uri}");
        }
        for path in ["Sub Dir/Ü %.BIN", "SUB DIR\\ü %.bin"] {
            assert_eq!(*folder.path(path).unwrap(), *b"def", "{path}");
        }
        for path in ["../SECRET", "A.bin/x", "SUB DIR/A.bin", "b.bin", "../IN/a.bin"] {
            folder.path(path).unwrap_err();
        }
        // An exact match comes first.
        fs::write(dir.path().join("in/B.BIN"), b"B").unwrap();
        fs::write(dir.path().join("in/b.bin"), b"b").unwrap();
        let folder = Folder::of(&dir.path().join("in/x"), &limits(), Sources::default()).unwrap();
        let read = ["b.bin", "B.BIN"].map(|path| folder.path(path).unwrap()[0]);
        let is_one_file = fs::read(dir.path().join("in/B.BIN")).unwrap() == b"b";
        assert!(is_one_file || read == *b"bB");
        assert!(folder.path("B.bin").is_ok());
    }

    #[test]
    fn bytes_without_a_file_have_no_folder() {
        let folder = Folder::none();
        assert!(folder.uri("a.bin").unwrap_err().contains("no folder"));
        folder.path_or_beside("a.bin").unwrap_err();
        assert_eq!(*folder.uri("data:,ab").unwrap(), *b"ab");
    }

    #[cfg(unix)]
    #[test]
    fn refuses_symbolic_links_out_of_the_folder() {
        let (dir, folder) = folder();
        std::os::unix::fs::symlink(dir.path().join("secret"), dir.path().join("in/link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("in/zero")).unwrap();
        std::os::unix::fs::symlink("loop", dir.path().join("in/loop")).unwrap();
        std::os::unix::fs::symlink("a.bin", dir.path().join("in/inside")).unwrap();
        let refused = folder.uri("link").unwrap_err();
        assert!(refused.contains("leads out") && refused.contains("load.follow_links"));
        assert!(folder.uri("zero").unwrap_err().contains("leads out"));
        folder.uri("loop").unwrap_err();
        assert_eq!(*folder.uri("inside").unwrap(), *b"abc");
        let limits = settings::Load {
            follow_links: true,
            ..limits()
        };
        let file = dir.path().join("in/scene.gltf");
        let following = Folder::of(&file, &limits, Sources::default()).unwrap();
        assert_eq!(*following.uri("link").unwrap(), *b"no");
        for uri in ["../secret", "/etc/passwd", "zero", "loop"] {
            following.uri(uri).unwrap_err();
        }
        // Links are followed in any case, but errors reveal nothing about folders outside.
        std::os::unix::fs::symlink(dir.path(), dir.path().join("in/out")).unwrap();
        for uri in ["LINK", "Link"] {
            assert!(folder.uri(uri).unwrap_err().contains("load.follow_links"));
            assert_eq!(*following.uri(uri).unwrap(), *b"no");
        }
        let [missing, there] = ["out/nothing", "out/SECRET"].map(|uri| folder.uri(uri).unwrap_err());
        assert_eq!(missing.replace("nothing", "SECRET"), there);
        assert_eq!(*following.uri("OUT/SECRET").unwrap(), *b"no");
        assert!(
            read_file(Path::new("/dev/null"), 10)
                .unwrap_err()
                .to_string()
                .contains("regular file")
        );
    }
}
