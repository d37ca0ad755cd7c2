//! Paths of pictures and other files that are saved without a dialog.

use std::path::{Path, PathBuf};

/// Part of the window that a saved picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Picture {
    /// The scene without the panel.
    Scene,
    /// The whole window with the panel.
    Window,
}

/// Returns an unused path with the name of the scene and the current time, in the user's picture folder if
/// there is one, or else in the working directory.
pub(in crate::app) fn new_path(scene: &str, extension: &str) -> PathBuf {
    let users = directories::UserDirs::new();
    let folder = users.and_then(|users| users.picture_dir().map(PathBuf::from));
    let folder = folder.filter(|folder| folder.is_dir()).unwrap_or_default();
    let time = jiff::Zoned::now().strftime("%Y-%m-%d %H.%M.%S").to_string();
    unused(&folder, scene, &time, extension)
}

/// Formats `path` as an absolute path, with `~` for the user's home folder.
pub(in crate::app) fn shown_path(path: &Path) -> String {
    let home = directories::UserDirs::new().map(|users| users.home_dir().to_owned());
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    from_home(&whole, home.as_deref())
}

fn from_home(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    match below {
        Some(below) => Path::new("~").join(below).display().to_string(),
        None => path.display().to_string(),
    }
}

/// Returns a path in `folder` that does not exist, with `scene` and `time` in its name, and a number if that
/// name is taken.
fn unused(folder: &Path, scene: &str, time: &str, extension: &str) -> PathBuf {
    // Windows does not allow these characters in file names.
    let plain = |c: char| {
        if c.is_control() || "\\/:*?\"<>|".contains(c) {
            '_'
        } else {
            c
        }
    };
    let scene: String = scene.chars().take(80).map(plain).collect();
    let scene = if scene.is_empty() {
        String::new()
    } else {
        scene + " "
    };
    let name = format!("canopy {scene}{time}");
    let numbered = (2..).map(|number| format!("{name} ({number}).{extension}"));
    let names = std::iter::once(format!("{name}.{extension}")).chain(numbered);
    let mut paths = names.map(|name| folder.join(name));
    // The iterator is infinite, so there is always a result.
    paths.find(|path| !path.exists()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_named_by_scene_and_time_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |scene: &str| unused(folder.path(), scene, "2026-11-22 14.03.12", "png");
        let first = path("fox");
        assert_eq!(first, folder.path().join("canopy fox 2026-11-22 14.03.12.png"));
        std::fs::write(&first, "").unwrap();
        let second = path("fox");
        assert_eq!(
            second,
            folder.path().join("canopy fox 2026-11-22 14.03.12 (2).png")
        );
        std::fs::write(&second, "").unwrap();
        assert!(path("fox").ends_with("canopy fox 2026-11-22 14.03.12 (3).png"));
        assert!(path("").ends_with("canopy 2026-11-22 14.03.12.png"));
        assert!(path("a/b:c").ends_with("canopy a_b_c 2026-11-22 14.03.12.png"));
    }

    #[test]
    fn the_home_folder_is_abbreviated_in_paths() {
        let home = Some(Path::new("/home/ada"));
        let shown = |path: &str| from_home(Path::new(path), home);
        assert_eq!(shown("/home/ada/Pictures/a.png"), "~/Pictures/a.png");
        assert_eq!(shown("/home/adam/a.png"), "/home/adam/a.png");
        assert_eq!(from_home(Path::new("/a.png"), None), "/a.png");
        assert!(shown_path(Path::new("a.png")).ends_with("/a.png"));
    }

    #[test]
    fn picture_names_contain_the_time_in_digits() {
        let name = new_path("fox", "png")
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let figures = name.chars().filter(char::is_ascii_digit).count();
        assert!(figures >= 14 && name.starts_with("canopy fox 20"), "{name}");
    }
}
