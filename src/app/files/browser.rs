//! State of the built-in file browser: a folder, a path field that filters it, and the list of matching rows.
//! Folders are read on threads.

use crate::{
    app::{environment::file, files::recent::Recent},
    scene::{folder, picture::is_picture},
};
use std::{
    path::{Path, PathBuf, is_separator},
    sync::mpsc,
};

/// Maximum number of entries that are read from a folder. Further entries are not listed.
const MAX_ENTRIES: usize = 200_000;

/// Maximum number of recent files that are listed while the path field is empty.
const FEW_RECENT: usize = 6;

/// Kind of file to browse for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Kind {
    Scenes,
    Environments,
    /// A scene that becomes the reference surface of the deviation.
    Compared,
    /// A file of scene edits.
    Edits,
    /// A scene or picture for a side-by-side comparison.
    Sides,
    /// A look file to import.
    Looks,
}

impl Kind {
    /// True if the extension of `path` is one of this kind of file.
    fn accepts(self, path: &Path) -> bool {
        match self {
            Self::Scenes | Self::Compared => folder::is_scene(path),
            Self::Environments => file::is_environment(path),
            Self::Edits => {
                let extension = path.extension();
                extension.is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
            }
            Self::Sides => folder::is_scene(path) || is_picture(path),
            Self::Looks => path.extension().is_some_and(|extension| extension == "toml"),
        }
    }
}

/// File or files that the user has chosen, with their purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Choice {
    /// Files of one scene.
    Scene(Vec<PathBuf>),
    Environment(PathBuf),
    Compared(PathBuf),
    Edits(PathBuf),
    Side(PathBuf),
    Look(PathBuf),
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Row {
    /// A recent entry: the files of one scene, or an environment.
    Recent(Vec<PathBuf>),
    /// The parent folder.
    Parent,
    /// A subfolder, by its name.
    Folder(String),
    /// A file in the folder, by its name.
    File(String),
}

/// Contents of a folder, or the reason why it could not be read.
#[derive(Debug, Default)]
struct Contents {
    folders: Vec<String>,
    files: Vec<String>,
    /// True if there are more than [`MAX_ENTRIES`] entries.
    is_cut: bool,
    error: Option<String>,
}

/// State of the open browser.
#[derive(Debug)]
pub(in crate::app) struct Browser {
    kind: Kind,
    /// Absolute path of the shown folder.
    folder: PathBuf,
    /// Folder that relative paths in the path field start from.
    origin: PathBuf,
    /// Text of the path field: a filter, or a path that ends in one.
    pub(in crate::app) text: String,
    recent: Vec<Vec<PathBuf>>,
    /// Explanation for the user if the browser has opened by itself.
    pub(in crate::app) note: Option<String>,
    contents: Contents,
    reading: Option<mpsc::Receiver<Contents>>,
    rows: Vec<Row>,
    /// Index of the row that Enter chooses.
    selected: usize,
    /// True if the list has to scroll to the selected row, because that has changed.
    pub(in crate::app) follows: bool,
    /// True if Enter was pressed and not handled yet. It is handled once the folder has been read.
    pub(in crate::app) accepts: bool,
    /// The user's home folder, for `~`.
    home: Option<PathBuf>,
}

impl Browser {
    /// Opens the browser at `folder`, which a thread starts to read. The thread calls `wake` when it is done.
    pub(in crate::app) fn new(
        kind: Kind,
        folder: &Path,
        recent: &Recent,
        wake: impl FnOnce() + Send + 'static,
    ) -> Self {
        let recent = match kind {
            Kind::Scenes => recent.scenes.clone(),
            Kind::Looks => Vec::new(),
            // Scenes of several files are left out, because only one file can be chosen.
            Kind::Compared | Kind::Sides => {
                let single = recent.scenes.iter().filter(|files| files.len() == 1);
                single.cloned().collect()
            }
            Kind::Environments => recent.environments.iter().map(|e| vec![e.clone()]).collect(),
            Kind::Edits => Vec::new(),
        };
        let mut browser = Self {
            kind,
            folder: PathBuf::new(),
            origin: PathBuf::new(),
            text: String::new(),
            recent,
            note: None,
            contents: Contents::default(),
            reading: None,
            rows: Vec::new(),
            selected: 0,
            follows: false,
            accepts: false,
            home: directories::UserDirs::new().map(|users| users.home_dir().to_owned()),
        };
        browser.go(folder, wake);
        browser
    }

    /// Returns the kind of file to browse for.
    pub(in crate::app) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the shown folder.
    pub(in crate::app) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the rows that match the path field.
    pub(in crate::app) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the index of the row that Enter chooses.
    pub(in crate::app) fn selected(&self) -> usize {
        self.selected
    }

    /// True while the folder is being read.
    pub(in crate::app) fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// Returns the reason why the folder cannot be read, or a note if it has too many entries to list. `None`
    /// otherwise.
    pub(in crate::app) fn remark(&self) -> Option<String> {
        let cut = || format!("only the first {MAX_ENTRIES} entries of this folder are listed");
        let contents = &self.contents;
        contents.error.clone().or_else(|| contents.is_cut.then(cut))
    }

    /// Makes `folder` the shown folder, and starts to read it on a thread.
    fn enter(&mut self, folder: &Path, wake: impl FnOnce() + Send + 'static) {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        self.folder = normal(&folder);
        self.contents = Contents::default();
        let (sender, receiver) = mpsc::channel();
        let (kind, folder) = (self.kind, self.folder.clone());
        std::thread::spawn(move || {
            // Sending fails if the user has changed to another folder in the meantime.
            sender.send(read(&folder, kind)).ok();
            wake();
        });
        self.reading = Some(receiver);
        self.filter();
    }

    /// Takes the contents of the folder once they have been read.
    pub(in crate::app) fn poll(&mut self) {
        let Some(reading) = &self.reading else { return };
        match reading.try_recv() {
            Ok(contents) => self.contents = contents,
            Err(mpsc::TryRecvError::Empty) => return,
            Err(mpsc::TryRecvError::Disconnected) => {
                self.contents.error = Some("this folder cannot be read".into());
            }
        }
        self.reading = None;
        self.filter();
    }

    /// Handles an edit of the path field. If the text up to its last separator names another folder, the
    /// browser changes to that folder. The rest of the text filters the list.
    pub(in crate::app) fn edited(&mut self, wake: impl FnOnce() + Send + 'static) {
        let (typed, _) = split(&self.text);
        let folder = normal(&self.expanded(typed));
        if folder != self.folder && folder.is_dir() {
            self.enter(&folder, wake);
        } else {
            self.filter();
        }
    }

    /// Resolves a typed path relative to `origin`. A leading `~` is the user's home folder.
    fn expanded(&self, typed: &str) -> PathBuf {
        let after_tilde = typed.strip_prefix('~').filter(|rest| {
            let first = rest.chars().next();
            first.is_none_or(is_separator)
        });
        match (after_tilde, &self.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches(is_separator)),
            _ => self.origin.join(typed),
        }
    }

    /// Lists the entries that match the path field, and selects the row that Enter most likely means.
    fn filter(&mut self) {
        let (typed, wanted) = split(&self.text);
        let wanted = wanted.to_lowercase();
        let matches = |name: &str| {
            let is_hidden = name.starts_with('.') && !wanted.starts_with('.');
            !is_hidden && name.to_lowercase().contains(&wanted)
        };
        let mut rows = Vec::new();
        if typed.is_empty() {
            let recent = self.recent.iter().filter(|files| {
                let name = files.first().and_then(|file| file.file_name());
                name.is_some_and(|name| matches(&name.to_string_lossy()))
            });
            let most = if wanted.is_empty() { FEW_RECENT } else { usize::MAX };
            rows.extend(recent.take(most).cloned().map(Row::Recent));
        }
        if wanted.is_empty() && self.folder.parent().is_some() {
            rows.push(Row::Parent);
        }
        // Names that begin with the text precede those that contain it.
        let contents = &self.contents;
        let begins = |name: &&String| name.to_lowercase().starts_with(&wanted);
        for is_start in [true, false] {
            let of = |names: &Vec<String>, row: fn(String) -> Row| -> Vec<Row> {
                let names = names.iter().filter(|name| matches(name));
                let names = names.filter(|name| begins(name) == is_start);
                names.cloned().map(row).collect()
            };
            rows.extend(of(&contents.folders, Row::Folder));
            rows.extend(of(&contents.files, Row::File));
        }
        self.rows = rows;
        // With a filter, Enter prefers matches in the folder to recent files. Without one, it prefers recent
        // files and then files in the folder.
        let is_wanted = |row: &Row| match row {
            Row::File(_) => true,
            Row::Folder(_) => !wanted.is_empty(),
            Row::Recent(_) => wanted.is_empty(),
            Row::Parent => false,
        };
        self.selected = self.rows.iter().position(is_wanted).unwrap_or(0);
        self.follows = true;
    }

    /// Moves the selection by `step` rows, down if positive. It stops at the ends of the list.
    pub(in crate::app) fn step(&mut self, step: isize) {
        let last = self.rows.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(step).min(last);
        self.follows = true;
    }

    /// Completes the path field to the common prefix of all names that begin with the typed text. If that
    /// adds nothing, completes it to the selected name.
    pub(in crate::app) fn complete(&mut self, wake: impl FnOnce() + Send + 'static) {
        let (typed, wanted) = split(&self.text);
        let (typed, wanted) = (typed.to_owned(), wanted.to_owned());
        let lower = wanted.to_lowercase();
        let name = |row: &Row| match row {
            Row::Folder(name) => Some(format!("{name}{}", std::path::MAIN_SEPARATOR)),
            Row::File(name) => Some(name.clone()),
            Row::Recent(_) | Row::Parent => None,
        };
        let names: Vec<String> = self.rows.iter().filter_map(name).collect();
        let mut begin = names
            .iter()
            .filter(|name| name.to_lowercase().starts_with(&lower));
        let common = begin.next().cloned().map(|first| {
            begin.fold(first, |common, other| {
                let same = common.chars().zip(other.chars());
                let same = same.take_while(|(a, b)| a.to_lowercase().eq(b.to_lowercase()));
                same.map(|(a, _)| a).collect()
            })
        });
        let longer = common.filter(|common| common.chars().count() > wanted.chars().count());
        let selected = self.rows.get(self.selected).and_then(name);
        if let Some(name) = longer.or(selected) {
            self.text = typed + &name;
            self.edited(wake);
        }
    }

    /// Chooses a row. Returns `None` if the row is a folder, which the browser then shows, or does not exist.
    pub(in crate::app) fn choose(
        &mut self,
        row: usize,
        wake: impl FnOnce() + Send + 'static,
    ) -> Option<Choice> {
        let file = match self.rows.get(row)?.clone() {
            Row::Recent(files) => return self.choice(files),
            Row::File(name) => self.folder.join(name),
            Row::Folder(name) => {
                self.go(&self.folder.join(name), wake);
                return None;
            }
            Row::Parent => {
                self.up(wake);
                return None;
            }
        };
        self.choice(vec![file])
    }

    /// Handles Enter: chooses the file or folder that the path field names, or else the selected row. Returns
    /// `None` if that does not choose a file.
    pub(in crate::app) fn accept(&mut self, wake: impl FnOnce() + Send + 'static) -> Option<Choice> {
        let (typed, wanted) = split(&self.text);
        let named = self.expanded(typed).join(wanted);
        if !typed.is_empty() && !wanted.is_empty() && named.is_file() {
            return self.choice(vec![named]);
        }
        if !wanted.is_empty() && named.is_dir() {
            self.go(&named, wake);
            return None;
        }
        self.choose(self.selected, wake)
    }

    /// Changes to the parent folder.
    pub(in crate::app) fn up(&mut self, wake: impl FnOnce() + Send + 'static) {
        if let Some(parent) = self.folder.parent().map(Path::to_owned) {
            self.go(&parent, wake);
        }
    }

    /// Changes to a folder. Typed paths are then relative to it.
    fn go(&mut self, folder: &Path, wake: impl FnOnce() + Send + 'static) {
        self.text.clear();
        self.enter(folder, wake);
        self.origin.clone_from(&self.folder);
    }

    fn choice(&self, mut files: Vec<PathBuf>) -> Option<Choice> {
        match self.kind {
            Kind::Scenes => Some(Choice::Scene(files)),
            Kind::Environments => files.pop().map(Choice::Environment),
            Kind::Compared => files.pop().map(Choice::Compared),
            Kind::Edits => files.pop().map(Choice::Edits),
            Kind::Sides => files.pop().map(Choice::Side),
            Kind::Looks => files.pop().map(Choice::Look),
        }
    }
}

/// Splits a typed path after its last separator into a folder and a name. A lone `~` is a folder.
fn split(text: &str) -> (&str, &str) {
    match text.rfind(is_separator) {
        Some(at) => text.split_at(at + 1),
        None if text == "~" => (text, ""),
        None => ("", text),
    }
}

/// Removes `.` and `..` from `path` lexically, without resolving links.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::ParentDir => {
                normal.pop();
            }
            std::path::Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// Reads the names of the subfolders and of the files of this kind in a folder, in natural order.
fn read(folder: &Path, kind: Kind) -> Contents {
    let mut contents = Contents::default();
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            contents.error = Some(format!("{}: {error}", folder.display()));
            return contents;
        }
    };
    for (index, entry) in entries.flatten().enumerate() {
        if index == MAX_ENTRIES {
            contents.is_cut = true;
            break;
        }
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = Path::new(&name);
        // A symbolic link to a folder counts as a folder. Only links need a system call for each entry.
        let file_type = entry.file_type();
        let is_link = file_type.as_ref().is_ok_and(|kind| kind.is_symlink());
        let is_folder = match file_type {
            Ok(_) if is_link => folder.join(path).is_dir(),
            kind => kind.is_ok_and(|kind| kind.is_dir()),
        };
        if is_folder {
            contents.folders.push(name);
        } else if kind.accepts(path) {
            contents.files.push(name);
        }
    }
    for names in [&mut contents.folders, &mut contents.files] {
        names.sort_by(|a, b| folder::natural_order(a, b));
    }
    contents
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn wait(browser: &mut Browser) {
        let start = Instant::now();
        while browser.is_reading() {
            assert!(start.elapsed() < Duration::from_secs(60), "it is never read");
            std::thread::sleep(Duration::from_millis(2));
            browser.poll();
        }
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["models/deep", "music", ".hidden"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        for name in [
            "fox.glb",
            "Fox2.glb",
            "fox10.obj",
            "box.gltf",
            "notes.txt",
            "sky.hdr",
            "sky.exr",
            ".fox.glb",
            "models/dragon.obj",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        folder
    }

    fn opened(kind: Kind, folder: &Path, recent: &Recent) -> Browser {
        let mut browser = Browser::new(kind, folder, recent, || {});
        wait(&mut browser);
        browser
    }

    fn names(browser: &Browser) -> Vec<String> {
        let name = |row: &Row| match row {
            Row::Recent(files) => format!("recent {}", files[0].display()),
            Row::Parent => "..".into(),
            Row::Folder(name) => format!("{name}/"),
            Row::File(name) => name.clone(),
        };
        browser.rows().iter().map(name).collect()
    }

    fn type_text(browser: &mut Browser, text: &str) {
        browser.text = text.into();
        browser.edited(|| {});
        wait(browser);
    }

    #[test]
    fn folders_come_first_and_files_are_in_natural_order() {
        let folder = folder();
        let browser = opened(Kind::Scenes, folder.path(), &Recent::default());
        let expected = [
            "..",
            "models/",
            "music/",
            "box.gltf",
            "fox.glb",
            "Fox2.glb",
            "fox10.obj",
        ];
        assert_eq!(names(&browser), expected);
        assert_eq!(browser.selected(), 3, "the first file");
        let browser = opened(Kind::Environments, folder.path(), &Recent::default());
        assert_eq!(names(&browser), ["..", "models/", "music/", "sky.exr", "sky.hdr"]);
    }

    #[test]
    fn typing_filters_the_list_and_enter_opens_a_file() {
        let folder = folder();
        let recent = Recent {
            scenes: vec![vec!["/old/foxy.glb".into()], vec!["/old/cat.glb".into()]],
            ..Recent::default()
        };
        let mut browser = opened(Kind::Scenes, folder.path(), &recent);
        assert_eq!(
            names(&browser)[..2],
            ["recent /old/foxy.glb", "recent /old/cat.glb"]
        );
        type_text(&mut browser, "FOX");
        let matching = ["recent /old/foxy.glb", "fox.glb", "Fox2.glb", "fox10.obj"];
        assert_eq!(names(&browser), matching);
        let fox = Choice::Scene(vec![folder.path().join("fox.glb")]);
        assert_eq!(browser.accept(|| {}), Some(fox), "recent ones come second");
        browser.step(-9);
        let old = Choice::Scene(vec!["/old/foxy.glb".into()]);
        assert_eq!(browser.accept(|| {}), Some(old));
        browser.step(99);
        assert_eq!(browser.selected(), 3);
        type_text(&mut browser, "nothing like it");
        assert_eq!((browser.rows().len(), browser.accept(|| {})), (0, None));
        type_text(&mut browser, ".f");
        assert_eq!(names(&browser), [".fox.glb"]);
    }

    #[test]
    fn typed_paths_are_followed_and_completed() {
        let folder = folder();
        let mut browser = opened(Kind::Scenes, folder.path(), &Recent::default());
        browser.home = Some(folder.path().to_owned());
        let separator = std::path::MAIN_SEPARATOR;
        type_text(&mut browser, "mo");
        browser.complete(|| {});
        wait(&mut browser);
        assert_eq!(browser.text, format!("models{separator}"));
        assert_eq!(names(&browser), ["..", "deep/", "dragon.obj"]);
        browser.text += "dr";
        browser.edited(|| {});
        browser.complete(|| {});
        assert_eq!(browser.text, format!("models{separator}dragon.obj"));
        let dragon = folder.path().join("models/dragon.obj");
        assert_eq!(browser.accept(|| {}), Some(Choice::Scene(vec![dragon.clone()])));
        // Without a folder in the text, the browser returns to the folder in which typing began.
        type_text(&mut browser, "mod");
        assert_eq!(names(&browser), ["models/"]);
        type_text(&mut browser, "~");
        assert_eq!(browser.folder(), folder.path());
        type_text(&mut browser, "~/models/deep/");
        assert_eq!(names(&browser), [".."]);
        browser.up(|| {});
        wait(&mut browser);
        assert_eq!(
            (browser.folder(), &*browser.text),
            (&*folder.path().join("models"), "")
        );
        let absolute = folder.path().join("fo");
        type_text(&mut browser, &absolute.display().to_string());
        assert_eq!(names(&browser), ["fox.glb", "Fox2.glb", "fox10.obj"]);
        browser.complete(|| {});
        let common = folder.path().join("fox").display().to_string();
        assert_eq!(browser.text, common, "what all of them begin with");
    }

    #[test]
    fn unreadable_folders_are_reported_and_large_folders_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let mut browser = opened(Kind::Scenes, &folder.path().join("gone"), &Recent::default());
        assert!(browser.remark().unwrap().contains("gone"));
        browser.up(|| {});
        wait(&mut browser);
        assert_eq!(browser.remark(), None);
        for i in 0..3000 {
            std::fs::write(folder.path().join(format!("{i}.obj")), "").unwrap();
        }
        let start = Instant::now();
        let browser = opened(Kind::Scenes, folder.path(), &Recent::default());
        assert_eq!(browser.rows().len(), 3001);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
}
