//! Looks: sets of settings of light and picture, under names, as files that can be read and sent.

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

/// The one key of `[scene]` that is of a look: the others are of a file.
const OF_SCENE: &str = "scene.ground";

/// Keys of a look that are of a file after all.
const OF_A_FILE: &str = "lights.radii";

/// Bytes of a file, at most.
const MOST_BYTES: u64 = 1 << 20;

/// Looks that come with canopy: names and files.
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

/// A set of settings under a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Its keys with their values.
    keys: Vec<(String, Value)>,
    /// For messages: its file, or its name.
    origin: String,
}

impl Look {
    /// The look of the TOML document `text`. What it does not name stays as it is when it is applied.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for what is no TOML, for keys and values that do not exist, and for keys that are of
    /// no look.
    pub fn parse(origin: &str, text: &str) -> Result<Self> {
        let mut config = Config::default();
        let keys = document(&config, origin, text)?;
        for (key, value) in &keys {
            if !is_of_looks(key) {
                let sections = SECTIONS[..SECTIONS.len() - 1].join(", ");
                let what = format!("{key}: is of no look; a look may set {OF_SCENE} and keys of {sections}");
                return Err(fault(origin, what));
            }
            config.set(origin, key, value.clone())?;
        }
        Ok(Self {
            keys,
            origin: origin.into(),
        })
    }

    /// The look in the file at `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Argument`] for a file that is too large, and those of [`Self::parse`].
    pub fn read(path: &Path) -> Result<Self> {
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(|e| Error::io(path, e))?;
        let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
        if read.map_err(|e| Error::io(path, e))? as u64 > MOST_BYTES {
            let name = path.display();
            return Err(Error::Argument(format!(
                "{name}: a look has at most {MOST_BYTES} bytes"
            )));
        }
        Self::parse(&path.display().to_string(), &text)
    }

    /// The look of this name, of the user or built in; or the file of this name, where it ends in `.toml` or
    /// has a folder.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a name that no look has; it lists those there are. Those of [`Self::read`].
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
                Err(Error::NotFound(format!("no look \"{name}\"; there are {names}")))
            }
        }
    }

    /// Sets its keys in `config`.
    ///
    /// # Errors
    ///
    /// Those of [`Config::set`]; then nothing has changed.
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
        "scene" => key == OF_SCENE,
        section => SECTIONS.contains(&section) && key != OF_A_FILE,
    }
}

/// Names of the looks that come with canopy.
pub fn built_in() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// The folder of the user's looks, which need not exist.
pub fn user_folder() -> Option<PathBuf> {
    Some(user_file()?.parent()?.join("looks"))
}

/// Names of the looks in a folder, in alphabetical order.
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

/// The file of a look of this name; `None` for a name that no file can have everywhere.
fn path_of(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_plain = |c: char| !c.is_control() && !"\\/:*?\"<>|".contains(c);
    let is_name = !name.trim().is_empty() && name == name.trim() && name.chars().all(is_plain);
    (is_name && name.len() <= 80 && !name.starts_with('.')).then(|| folder.join(format!("{name}.toml")))
}

fn named(folder: &Path, name: &str) -> Result<PathBuf> {
    path_of(folder, name).ok_or_else(|| {
        let name = one_line(name);
        Error::Argument(format!("\"{name}\" can be no name of a file, which a look is"))
    })
}

/// Saves what a look may set of `config` as the look `name` in `folder`, in place of one of that name.
///
/// # Errors
///
/// [`Error::Argument`] for a name that no file can have, [`Error::Io`].
pub fn save(folder: &Path, name: &str, config: &Config) -> Result<PathBuf> {
    let path = named(folder, name)?;
    let text = text(config);
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    atomic_file::write(&path, text.as_bytes())?;
    Ok(path)
}

/// What a look may set of `config`, as the text of its file.
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

/// The name of the file of a look; `None` for a name that no file can have everywhere.
pub fn file_name(name: &str) -> Option<PathBuf> {
    path_of(Path::new(""), name)
}

/// Keeps the look in the file at `path` in `folder`, under the name of its file. Returns that name.
///
/// # Errors
///
/// Those of [`Look::read`]; [`Error::Argument`] for a name that no file can have everywhere or another look
/// has; [`Error::Io`].
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

/// The error for a name that another look has.
fn taken(name: &str) -> Error {
    Error::Argument(format!("there is a look \"{name}\" already"))
}

/// The value of a key as it means the same in any folder.
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
/// [`Error::Argument`] for a name that no file can have or another look has, [`Error::Io`].
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
/// [`Error::Argument`] for a name that no file can have, [`Error::Io`].
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
        // All of a look is set; what is of a person or a file is not.
        let mut expected = config.clone();
        expected.window.theme = Theme::Dark;
        expected.lights.radii = Vec::new();
        assert_eq!(other, expected);
        // The file is one for `--config` too.
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
            "no look \"teapot\"; there are c, Fast, Misty morning, Outdoors, Quality, Studio"
        );
    }

    #[test]
    fn a_broken_look_is_one_line_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        for (text, what) in [
            ("[sun]\nstrength = \"much\"", "sun.strength: expected a number"),
            ("[window]\nvsync = false", "window.vsync: is of no look"),
            ("[gpu]\nadapter = \"x\"", "gpu.adapter: is of no look"),
            ("[scene]\nup = \"z\"", "scene.up: is of no look"),
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
    fn built_in_looks_differ_from_the_defaults_and_from_each_other() {
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
