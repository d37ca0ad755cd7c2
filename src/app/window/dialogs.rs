//! Non-blocking file dialogs.

use crate::{
    app::{
        files::{
            browser::Kind,
            unsaved::{Place, Unsaved},
        },
        window::wake::{Wake, Waker},
    },
    scene::{environment, folder, picture},
};
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};
use winit::window::Window;

/// Time within which no user closes a dialog. An earlier end means that it could not be opened.
const SOON: Duration = Duration::from_millis(300);

/// File dialogs of the window. At most one is open at a time.
#[derive(Debug, Default)]
pub(in crate::app) struct Dialogs {
    is_open: bool,
}

impl Dialogs {
    /// Asks for files of `kind`. The result arrives as [`Wake::Chosen`]. Returns `false` if the result of
    /// another dialog is still pending.
    pub(in crate::app) fn ask_for(&mut self, kind: Kind, window: &Window, waker: &Waker) -> bool {
        let (title, files, extensions) = offered(kind);
        let dialog = rfd::AsyncFileDialog::new()
            .set_title(title)
            .add_filter(files, &extensions)
            .set_parent(window);
        self.ask(waker, dialog, kind)
    }

    /// Asks for the path of `unsaved`. The result arrives as [`Wake::Save`]. Returns `unsaved` if the result
    /// of another dialog is still pending.
    pub(in crate::app) fn ask_to_save(
        &mut self,
        window: &Window,
        waker: &Waker,
        unsaved: Unsaved,
    ) -> Option<Unsaved> {
        if std::mem::replace(&mut self.is_open, true) {
            return Some(unsaved);
        }
        let extension = unsaved.extension();
        let name = unsaved.fallback_path.file_name().unwrap_or_default();
        let mut dialog = rfd::AsyncFileDialog::new()
            .set_title(format!("Save {}", unsaved.what))
            .add_filter(extension.to_uppercase(), &[&extension])
            .set_file_name(name.to_string_lossy())
            .set_parent(window);
        let folder = std::path::absolute(&unsaved.fallback_path).ok();
        if let Some(folder) = folder.as_deref().and_then(std::path::Path::parent) {
            dialog = dialog.set_directory(folder);
        }
        let (waker, asked, answer) = (waker.clone(), Instant::now(), dialog.save_file());
        std::thread::spawn(move || {
            let chosen = pollster::block_on(answer).map(|file| file.path().to_owned());
            let place = place(chosen, asked.elapsed());
            waker.send(Wake::Save(unsaved, place));
        });
        None
    }

    /// Registers that the result of a dialog has arrived.
    pub(in crate::app) fn answered(&mut self) {
        self.is_open = false;
    }

    /// Shows `dialog` and waits for its result on a thread, because an unresponsive desktop portal may take
    /// any time.
    fn ask(&mut self, waker: &Waker, dialog: rfd::AsyncFileDialog, kind: Kind) -> bool {
        if std::mem::replace(&mut self.is_open, true) {
            return false;
        }
        // Only multiple selection distinguishes a cancelled dialog from one that could not be opened.
        let (waker, answer) = (waker.clone(), dialog.pick_files());
        std::thread::spawn(move || {
            let paths = |files: Vec<rfd::FileHandle>| {
                let paths = files.iter().map(|file| file.path().to_owned());
                paths.filter(|path| !path.as_os_str().is_empty()).collect()
            };
            let answer = files_or_failure(pollster::block_on(answer).map(paths));
            waker.send(Wake::Chosen(kind, answer));
        });
        true
    }
}

/// Interprets the result of [`rfd`]. With desktop portals and zenity, no list means that the dialog could not
/// be opened. On other systems a dialog always opens, and no list means that it was cancelled.
fn files_or_failure(answer: Option<Vec<PathBuf>>) -> Option<Vec<PathBuf>> {
    if cfg!(any(windows, target_os = "macos")) {
        Some(answer.unwrap_or_default())
    } else {
        answer
    }
}

/// Returns the title, description of the files, and their extensions.
fn offered(kind: Kind) -> (&'static str, &'static str, Vec<&'static str>) {
    match kind {
        Kind::Scenes => ("Open a scene", "Scenes", folder::EXTENSIONS.into()),
        Kind::Environments => (
            "Open an environment",
            "Environments",
            environment::EXTENSIONS.into(),
        ),
        Kind::Compared => (
            "Open a scene to measure the deviation from",
            "Scenes",
            folder::EXTENSIONS.into(),
        ),
        Kind::Edits => ("Load edits", "Edits", vec!["json"]),
        Kind::Sides => {
            let both = [&folder::EXTENSIONS[..], &picture::EXTENSIONS[..]].concat();
            ("Open a scene or a picture as side B", "Scenes and pictures", both)
        }
        Kind::Looks => ("Import a look", "Looks", vec!["toml"]),
    }
}

/// Interprets the result of a save dialog. Desktop portals and zenity do not report a dialog that could not
/// be opened. On other systems a dialog always opens.
fn place(chosen: Option<PathBuf>, after: Duration) -> Place {
    match chosen {
        Some(path) if !path.as_os_str().is_empty() => Place::At(path),
        _ if after < SOON && !cfg!(any(windows, target_os = "macos")) => Place::NoDialog,
        _ => Place::Nowhere,
    }
}
