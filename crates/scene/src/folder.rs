//! Scene files in folders: the scene in a folder, and natural order of names.

use crate::{Error, Result};
use std::{
    cmp::Ordering,
    fs, io,
    path::{Path, PathBuf},
};

/// Extensions of scene files. If files differ only in their extension, the earliest one is preferred. The
/// last ones are volumes.
pub const EXTENSIONS: [&str; 9] = [
    "glb", "gltf", "obj", "vdb", "nvdb", "nrrd", "nhdr", "nii", "nii.gz",
];

/// Number of volume extensions at the end of [`EXTENSIONS`].
const VOLUMES: usize = 6;

/// Maximum depth of the search for scenes below an opened folder.
const DEEPEST: usize = 3;

/// Maximum number of folder entries that are visited in search of a scene.
const MAX_ENTRIES: usize = 20_000;

/// Maximum number of names in an error.
const MAX_NAMES: usize = 8;

/// True if `path` has the name of a scene file.
pub fn is_scene(path: &Path) -> bool {
    rank(path).is_some()
}

/// Returns the index of the file's extension in [`EXTENSIONS`].
fn rank(path: &Path) -> Option<usize> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    EXTENSIONS.iter().position(|known| {
        let stem = name.strip_suffix(known).and_then(|stem| stem.strip_suffix('.'));
        stem.is_some_and(|stem| !stem.is_empty())
    })
}

/// True if the file has the name of a volume.
fn is_volume(path: &Path) -> bool {
    rank(path).is_some_and(|rank| rank >= EXTENSIONS.len() - VOLUMES)
}

/// Lists the scene files directly in `folder`, in [`natural_order`].
///
/// # Errors
///
/// Any error of reading the folder.
pub fn scenes(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(or_current(folder))?;
    let files = entries.filter_map(|entry| Some(folder.join(entry.ok()?.file_name())));
    let mut scenes: Vec<PathBuf> = files.filter(|path| is_scene(path)).collect();
    scenes.retain(|path| path.is_file());
    scenes.sort_by(|a, b| natural_order(&name(a), &name(b)));
    Ok(scenes)
}

/// Maps the empty path, which is the parent of a name without folders, to the current folder.
fn or_current(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    }
}

/// Returns the scene after or before `file` in its folder, wrapping around at the ends, with its number from
/// 1 and the number of scenes. Returns `None` if there is no other scene.
///
/// # Errors
///
/// Any error of reading the folder.
pub fn neighbour(file: &Path, forward: bool) -> io::Result<Option<(PathBuf, usize, usize)>> {
    let scenes = scenes(file.parent().unwrap_or(Path::new("")))?;
    let count = scenes.len();
    let now = scenes
        .iter()
        .position(|path| path.file_name() == file.file_name());
    let next = match (now, forward) {
        (None, _) => 0,
        (Some(now), true) => (now + 1) % count,
        (Some(now), false) => (now + count - 1) % count,
    };
    let found = scenes.into_iter().nth(next);
    Ok(found
        .filter(|_| now != Some(next))
        .map(|path| (path, next + 1, count)))
}

/// Replaces each folder in `files` by the path of the only scene in it.
///
/// # Errors
///
/// [`Error::Io`] for a folder that cannot be read, [`Error::Scene`] for one without a scene, and
/// [`Error::SeveralScenes`] for one with several.
pub fn resolved(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let resolve = |path: &PathBuf| {
        if path.is_dir() {
            scene_of(path, MAX_ENTRIES)
        } else {
            Ok(path.clone())
        }
    };
    files.iter().map(resolve).collect()
}

/// Finds the scene in a folder. It must be the only scene in the folder, or else the only one on the nearest
/// level of subfolders that has scenes. Files that differ only in their extension are the same scene. Hidden
/// subfolders are skipped, and at most `most` entries are visited.
fn scene_of(folder: &Path, most: usize) -> Result<PathBuf> {
    let mut level = vec![folder.to_owned()];
    let mut entries_left = most;
    for depth in 0..=DEEPEST {
        let (mut found, mut below) = (Vec::new(), Vec::new());
        for inner in &level {
            // Subfolders that cannot be read are skipped. Only the opened folder must be readable.
            let entries = match fs::read_dir(inner) {
                Err(e) if depth == 0 => return Err(Error::io(inner, e)),
                entries => entries.into_iter().flatten().flatten(),
            };
            for entry in entries {
                let Some(left) = entries_left.checked_sub(1) else {
                    let what =
                        format!("is a folder with more than {most} entries; name the scene file in it");
                    return Err(Error::scene(folder, what));
                };
                entries_left = left;
                let path = entry.path();
                // Symbolic links to folders are not followed, because they may form cycles.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    if !name(&path).starts_with('.') {
                        below.push(path);
                    }
                } else if is_scene(&path) && path.is_file() {
                    found.push(path);
                }
            }
        }
        // Volumes in a scene's folder belong to the scene.
        if !found.iter().all(|path| is_volume(path)) {
            found.retain(|path| !is_volume(path));
        }
        if !found.is_empty() {
            return only(folder, found);
        }
        level = below;
    }
    Err(Error::scene(
        folder,
        "is a folder without a scene (.gltf, .glb or .obj) or a volume",
    ))
}

/// Returns the only scene among `found`.
fn only(folder: &Path, mut found: Vec<PathBuf>) -> Result<PathBuf> {
    found.sort_by(|a, b| {
        let order = natural_order(&name(&a.with_extension("")), &name(&b.with_extension("")));
        order.then_with(|| a.parent().cmp(&b.parent()))
    });
    let is_same = |a: &PathBuf, b: &PathBuf| a.with_extension("") == b.with_extension("");
    let all_same = found.windows(2).all(|pair| is_same(&pair[0], &pair[1]));
    match found.iter().min_by_key(|path| rank(path)) {
        Some(best) if all_same => Ok(best.clone()),
        _ => {
            let relative = |path: &PathBuf| {
                let path = path.strip_prefix(folder).unwrap_or(path);
                path.display().to_string()
            };
            let count = found.len();
            let mut names: Vec<String> = found.iter().take(MAX_NAMES).map(relative).collect();
            if count > names.len() {
                names.push("…".into());
            }
            Err(Error::SeveralScenes {
                folder: folder.to_owned(),
                count,
                names: names.join(", "),
            })
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Compares names in natural order: letters ignoring case, and numbers by value, so that `part2` comes before
/// `Part10`.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.chars().peekable(), b.chars().peekable());
    loop {
        let digits = |text: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut digits = String::new();
            while let Some(digit) = text.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            digits.trim_start_matches('0').to_owned()
        };
        let order = match (left.peek(), right.peek()) {
            (None, None) => return a.cmp(b),
            (None, _) => Ordering::Less,
            (_, None) => Ordering::Greater,
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (x, y) = (digits(&mut left), digits(&mut right));
                x.len().cmp(&y.len()).then_with(|| x.cmp(&y))
            }
            _ => {
                let lower = |c: Option<char>| c.map(|c| c.to_lowercase().collect::<String>());
                lower(left.next()).cmp(&lower(right.next()))
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    #[test]
    fn natural_order_compares_numbers_by_value() {
        let mut names = ["part10", "Part2", "part1", "a", "part02", "B", "part"];
        names.sort_by(|a, b| natural_order(a, b));
        let expected = ["a", "B", "part", "part1", "Part2", "part02", "part10"];
        assert_eq!(names, expected);
        let long = "9".repeat(50);
        assert_eq!(natural_order(&long, &format!("{long}0")), Ordering::Less);
    }

    #[test]
    fn neighbours_wrap_around_within_the_folder() {
        let folder = folder(&["b10.glb", "b9.OBJ", "a.gltf", "a.bin", "sub/c.glb"]);
        let step = |file: &str, forward| {
            let found = neighbour(&folder.path().join(file), forward).unwrap();
            found.map(|(path, number, count)| (name(&path), number, count))
        };
        let expect = |file: &str, number| Some((file.to_owned(), number, 3));
        assert_eq!(step("a.gltf", true), expect("b9.OBJ", 2));
        assert_eq!(step("b9.OBJ", true), expect("b10.glb", 3));
        assert_eq!(step("b10.glb", true), expect("a.gltf", 1));
        assert_eq!(step("a.gltf", false), expect("b10.glb", 3));
        assert_eq!(step("gone.glb", true), expect("a.gltf", 1));
        assert_eq!(step("sub/c.glb", true), None);
        assert!(neighbour(Path::new("/nowhere/at/all.glb"), true).is_err());
    }

    #[test]
    fn a_folder_resolves_to_its_only_scene() {
        for (files, expected) in [
            (&["Fox.glb", "readme.txt"][..], "Fox.glb"),
            (&["fox.obj", "fox.gltf", "fox.mtl"], "fox.gltf"),
            (&["source/model.GLB", "textures/a.png"], "source/model.GLB"),
            (&["a.glb", "low/b.glb"], "a.glb"),
            (&["room.glb", "smoke.vdb", "fog.nvdb"], "room.glb"),
            (&["brain.NII.GZ", "brain.txt"], "brain.NII.GZ"),
            (&[".vdb", "scan.nhdr", "scan.raw", "notes.gz"], "scan.nhdr"),
        ] {
            let folder = folder(files);
            let resolved = resolved(&[folder.path().to_owned()]).unwrap();
            assert_eq!(resolved, [folder.path().join(expected)], "{files:?}");
        }
        let files = ["not/a/folder.glb".into()];
        assert_eq!(resolved(&files).unwrap(), files);
    }

    #[test]
    fn several_scenes_or_none_in_a_folder_are_an_error() {
        let several = folder(&["b.glb", "a.obj", "c/d.glb"]);
        let error = resolved(&[several.path().to_owned()]).unwrap_err();
        assert!(matches!(error, Error::SeveralScenes { .. }));
        let text = error.to_string();
        assert!(
            text.ends_with("holds 2 scenes; name one of a.obj, b.glb"),
            "{text}"
        );
        let none = folder(&["a/b/c/d/e.glb", "x.txt"]);
        let text = resolved(&[none.path().to_owned()]).unwrap_err();
        assert!(text.to_string().contains("without a scene"), "{text}");
    }

    #[test]
    fn hidden_folders_are_not_searched() {
        let folder = folder(&[".git/a.glb", "x.txt"]);
        let text = resolved(&[folder.path().to_owned()]).unwrap_err();
        assert!(text.to_string().contains("without a scene"), "{text}");
        // A hidden folder that is given explicitly is opened.
        let hidden = folder.path().join(".git");
        let found = resolved(std::slice::from_ref(&hidden)).unwrap();
        assert_eq!(found, [hidden.join("a.glb")]);
    }

    #[test]
    fn an_incomplete_search_is_reported_as_such() {
        let folder = folder(&["a.txt", "b.txt", "c/d.glb"]);
        let text = scene_of(folder.path(), 3).unwrap_err().to_string();
        assert!(text.contains("more than 3 entries"), "{text}");
        let found = scene_of(folder.path(), 4).unwrap();
        assert_eq!(found, folder.path().join("c/d.glb"));
    }
}
