//! Looks: named presets of lighting and image settings, stored as TOML files.

use super::{Config, Value, document, fault, layered::user_file, one_line, with_short_numbers};
use crate::{Error, Result, atomic_file};
use std::{
    fmt::Write as _,
    io::Read as _,
    path::{Path, PathBuf},
};

/// Sections that a look may set.
const SECTIONS: [&str; 10] = [
    "shadows",
    "lights",
    "occlusion",
    "reflections",
    "fog",
    "sun",
    "environment",
    "image",
    "exposure",
    "scene",
];

/// The only key of `[scene]` that belongs to a look. The section's other keys depend on the scene file.
const LOOK_SCENE_KEY: &str = "scene.ground";

/// Key of a section in [`SECTIONS`] that depends on the scene file and is therefore not part of a look.
const FILE_KEY: &str = "lights.radii";

/// Maximum size of a file in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Built-in looks, each with its name and file contents.
const BUILT_IN: [(&str, &str); 5] = [
    ("Fast", include_str!("../../assets/looks/fast.toml")),
    (
        "Misty morning",
        include_str!("../../assets/looks/misty-morning.toml"),
    ),
    ("Outdoors", include_str!("../../assets/looks/outdoors.toml")),
    ("Quality", include_str!("../../assets/looks/quality.toml")),
    ("Studio", include_str!("../../assets/looks/studio.toml")),
];

/// A preset of settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Keys that the look sets, `SECTION.KEY`, with their values.
    keys: Vec<(String, Value)>,
    /// File or name of the look, for messages.
    origin: String,
}

impl Look {
    /// Parses the TOML document `text`. Keys that it does not name are left unchanged by [`Self::apply`].
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if `text` is not valid TOML, or names a key or value that does not exist or a key
    /// that a look must not set.
    pub fn parse(origin: &str, text: &str) -> Result<Self> {
        let mut config = Config::default();
        let keys = document(&config, origin, text)?;
        for (key, value) in &keys {
            if !is_of_looks(key) {
                let sections = SECTIONS[..SECTIONS.len() - 1].join(", ");
                let what = format!(
                    "{key}: cannot be in a look; a look may set {LOOK_SCENE_KEY} and keys of \
                                    {sections}"
                );
                return Err(fault(origin, what));
            }
            config.set(origin, key, value.clone())?;
        }
        Ok(Self {
            keys,
            origin: origin.into(),
        })
    }

    /// Reads the look in the file at `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Argument`] if the file is too large, and any error of [`Self::parse`].
    pub fn read(path: &Path) -> Result<Self> {
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(|e| Error::io(path, e))?;
        let read = file.take(MAX_BYTES + 1).read_to_string(&mut text);
        if read.map_err(|e| Error::io(path, e))? as u64 > MAX_BYTES {
            let name = path.display();
            return Err(Error::Argument(format!(
                "{name}: a look has at most {MAX_BYTES} bytes"
            )));
        }
        Self::parse(&path.display().to_string(), &text)
    }

    /// Finds the user's or the built-in look called `name`. If `name` ends in `.toml` or contains a folder,
    /// it is the path of a file.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for an unknown name. The message lists the known names. Any error of
    /// [`Self::read`].
    pub fn find(name: &str, folder: Option<&Path>) -> Result<Self> {
        let is_file = name.ends_with(".toml") || Path::new(name).components().count() > 1;
        if is_file {
            return Self::read(Path::new(name));
        }
        let of_user = folder.and_then(|folder| path_of(folder, name));
        if let Some(path) = of_user.filter(|path| path.exists()) {
            return Self::read(&path);
        }
        let is_named = |(known, _): &&(&str, &str)| known.eq_ignore_ascii_case(name);
        match BUILT_IN.iter().find(is_named) {
            Some((known, text)) => Self::parse(known, text),
            None => {
                let mut names = folder.map(of_user_in).unwrap_or_default();
                names.extend(built_in().map(str::to_owned));
                let names = names.join(", ");
                Err(Error::NotFound(format!("no look \"{name}\"; looks are {names}")))
            }
        }
    }

    /// Sets the keys of the look in `config`.
    ///
    /// # Errors
    ///
    /// Any error of [`Config::set`]. `config` is then unchanged.
    pub fn apply(&self, config: &mut Config) -> Result<()> {
        let mut set = config.clone();
        for (key, value) in &self.keys {
            set.set(&self.origin, key, value.clone())?;
        }
        *config = set;
        Ok(())
    }
}

fn is_of_looks(key: &str) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    match section {
        "scene" => key == LOOK_SCENE_KEY,
        section => SECTIONS.contains(&section) && key != FILE_KEY,
    }
}

/// Returns the names of the built-in looks.
pub fn built_in() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// Returns the folder of the user's looks, which may not exist.
pub fn user_folder() -> Option<PathBuf> {
    Some(user_file()?.parent()?.join("looks"))
}

/// Returns the names of the looks in a folder, in alphabetical order. A missing folder has none.
pub fn of_user_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: std::fs::DirEntry| {
        let path = entry.path();
        let is_look = path.extension().is_some_and(|extension| extension == "toml");
        is_look.then(|| Some(path.file_stem()?.to_str()?.to_owned()))?
    };
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort_by_key(|name| name.to_lowercase());
    names
}

/// Returns the path of the look `name`, or `None` if the name is not a valid file name on every platform.
fn path_of(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_plain = |c: char| !c.is_control() && !"\\/:*?\"<>|".contains(c);
    let is_name = !name.trim().is_empty() && name == name.trim() && name.chars().all(is_plain);
    (is_name && name.len() <= 80 && !name.starts_with('.')).then(|| folder.join(format!("{name}.toml")))
}

fn named(folder: &Path, name: &str) -> Result<PathBuf> {
    path_of(folder, name).ok_or_else(|| {
        let name = one_line(name);
        Error::Argument(format!(
            "\"{name}\" cannot be the name of a look, because it is not a valid file \
                                 name"
        ))
    })
}

/// Saves the settings of `config` that belong to a look as `name` in `folder`. Replaces an existing look of
/// that name.
///
/// # Errors
///
/// [`Error::Argument`] if the name is not a valid file name, [`Error::Io`].
pub fn save(folder: &Path, name: &str, config: &Config) -> Result<PathBuf> {
    let path = named(folder, name)?;
    let text = text(config);
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    atomic_file::write(&path, text.as_bytes())?;
    Ok(path)
}

/// Returns the file contents of a look with the settings of `config`.
pub fn text(config: &Config) -> String {
    let mut text =
        String::from("# A look of canopy: `canopy view --look NAME`, or Picture: Looks in the panel.\n");
    let table = config.table();
    for section in SECTIONS {
        let Some(Value::Table(keys)) = table.get(section) else {
            continue;
        };
        writeln!(text, "\n[{section}]").ok();
        for (name, value) in keys {
            let key = format!("{section}.{name}");
            if is_of_looks(&key) {
                let value = absolute(&key, with_short_numbers(value.clone()));
                writeln!(text, "{name} = {value}").ok();
            }
        }
    }
    text
}

/// Returns the file name of the look `name`, or `None` if the name is not a valid file name on every
/// platform.
pub fn file_name(name: &str) -> Option<PathBuf> {
    path_of(Path::new(""), name)
}

/// Copies the look in the file at `path` into `folder`, named after the file. Returns that name.
///
/// # Errors
///
/// Any error of [`Look::read`]. [`Error::Argument`] if the name is not a valid file name on every platform,
/// or is taken. [`Error::Io`].
pub fn import(folder: &Path, path: &Path) -> Result<String> {
    Look::read(path)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let target = named(folder, &name)?;
    if target.exists() {
        return Err(taken(&name));
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    atomic_file::write(&target, &bytes)?;
    Ok(name.into_owned())
}

/// Creates the error for a name that another look already has.
fn taken(name: &str) -> Error {
    Error::Argument(format!("a look \"{name}\" exists already"))
}

/// Makes a path absolute if `key` names a file, so that it does not depend on the current folder. Returns
/// other values unchanged.
pub(super) fn absolute(key: &str, value: Value) -> Value {
    match value.as_str() {
        Some(file) if key.ends_with(".file") && !file.is_empty() => {
            let absolute = std::path::absolute(file).ok();
            let text = absolute.and_then(|path| path.to_str().map(str::to_owned));
            text.map_or(value, Value::String)
        }
        _ => value,
    }
}

/// Renames a look.
///
/// # Errors
///
/// [`Error::Argument`] if the new name is not a valid file name or is taken, [`Error::Io`].
pub fn rename(folder: &Path, name: &str, wanted: &str) -> Result<()> {
    let (path, wanted_path) = (named(folder, name)?, named(folder, wanted)?);
    if wanted_path.exists() {
        return Err(taken(wanted));
    }
    std::fs::rename(&path, wanted_path).map_err(|e| Error::io(path, e))
}

/// Deletes a look.
///
/// # Errors
///
/// [`Error::Argument`] if the name is not a valid file name, [`Error::Io`].
pub fn delete(folder: &Path, name: &str) -> Result<()> {
    let path = named(folder, name)?;
    std::fs::remove_file(&path).map_err(|e| Error::io(path, e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{OcclusionMode, ShadowMode, Theme};

    #[test]
    fn looks_are_saved_found_renamed_and_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new/looks");
        let mut config = Config::default();
        config.shadows.mode = ShadowMode::Map;
        config.sun.strength = 0.1;
        config.window.theme = Theme::Light;
        config.lights.radii = vec![0.5];
        save(&folder, "at night", &config).unwrap();
        assert_eq!(of_user_in(&folder), ["at night"]);
        let mut other = Config::default();
        other.image.dither = false;
        Look::find("at night", Some(&folder))
            .unwrap()
            .apply(&mut other)
            .unwrap();
        // The look sets all of its keys, and none that belong to the window or to a scene file.
        let mut expected = config.clone();
        expected.window.theme = Theme::Dark;
        expected.lights.radii = Vec::new();
        assert_eq!(other, expected);
        // The file is also valid for `--config`.
        let text = std::fs::read_to_string(folder.join("at night.toml")).unwrap();
        Config::default().merge("f", &text).unwrap();

        save(&folder, "b", &config).unwrap();
        assert!(
            rename(&folder, "b", "at night")
                .unwrap_err()
                .to_string()
                .contains("already")
        );
        rename(&folder, "b", "c").unwrap();
        delete(&folder, "at night").unwrap();
        assert_eq!(of_user_in(&folder), ["c"]);
        for name in [
            "",
            " ",
            "a/b",
            "..",
            ".hidden",
            "a\\b",
            " a",
            "a:b",
            "a\n",
            &"x".repeat(99),
        ] {
            assert!(save(&folder, name, &config).is_err(), "{name:?}");
        }
        let missing = Look::find("teapot", Some(&folder)).unwrap_err().to_string();
        assert_eq!(
            missing,
            "no look \"teapot\"; looks are c, Fast, Misty morning, Outdoors, Quality, Studio"
        );
    }

    #[test]
    fn a_broken_look_gives_a_one_line_error_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        for (text, what) in [
            ("[sun]\nstrength = \"much\"", "sun.strength: expected a number"),
            ("[window]\nvsync = false", "window.vsync: cannot be in a look"),
            ("[gpu]\nadapter = \"x\"", "gpu.adapter: cannot be in a look"),
            ("[scene]\nup = \"z\"", "scene.up: cannot be in a look"),
            ("[sun\n", "line 1"),
            ("[teapot]\nx = 1", "unknown section"),
            (&"# much\n".repeat(1 << 18), "a look has at most 1048576 bytes"),
        ] {
            let path = folder.path().join("bad.toml");
            std::fs::write(&path, text).unwrap();
            let found = Look::find(path.to_str().unwrap(), None);
            let message = found.unwrap_err().to_string();
            assert!(
                message.contains("bad.toml: ") && message.contains(what),
                "{message}"
            );
            assert!(!message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn built_in_looks_differ_from_the_defaults_and_each_other() {
        let applied = |name| {
            let mut config = Config::default();
            Look::find(name, None).unwrap().apply(&mut config).unwrap();
            config
        };
        let all: Vec<Config> = built_in().map(applied).collect();
        for (index, look) in all.iter().enumerate() {
            assert!(*look != Config::default() && !all[..index].contains(look));
        }
        assert_eq!(applied("fast").occlusion.mode, OcclusionMode::Off);
    }
}
