//! File dialogs, which do not hold up the window.

use super::wake::{Wake, Waker};
use crate::scene::{environment, folder};
use std::path::PathBuf;
use winit::window::Window;

/// The file dialogs of the window, of which one is open at a time.
#[derive(Debug, Default)]
pub(super) struct Dialogs {
    is_open: bool,
}

impl Dialogs {
    /// Asks for scene files; the answer is a [`Wake::OpenScene`]. `false` if a dialog is open already, or
    /// seems to be.
    pub(super) fn ask_for_scene(&mut self, window: &Window, waker: &Waker) -> bool {
        let dialog = rfd::AsyncFileDialog::new()
            .set_title("Open a scene")
            .add_filter("Scenes", &folder::EXTENSIONS)
            .set_parent(window);
        self.ask(waker, dialog, Wake::OpenScene)
    }

    /// Asks for a file to compare the scene with; the answer is a [`Wake::OpenCompared`]. `false` as above.
    pub(super) fn ask_for_compared(&mut self, window: &Window, waker: &Waker) -> bool {
        let dialog = rfd::AsyncFileDialog::new()
            .set_title("Compare with a scene")
            .add_filter("Scenes", &folder::EXTENSIONS)
            .set_parent(window);
        self.ask(waker, dialog, Wake::OpenCompared)
    }

    /// Asks for a file of edits; the answer is a [`Wake::OpenEdits`]. `false` as above.
    pub(super) fn ask_for_edits(&mut self, window: &Window, waker: &Waker) -> bool {
        let dialog = rfd::AsyncFileDialog::new()
            .set_title("Load edits")
            .add_filter("Edits", &["json"])
            .set_parent(window);
        self.ask(waker, dialog, Wake::OpenEdits)
    }

    /// Asks for an environment; the answer is a [`Wake::OpenEnvironment`]. `false` as above.
    pub(super) fn ask_for_environment(&mut self, window: &Window, waker: &Waker) -> bool {
        let dialog = rfd::AsyncFileDialog::new()
            .set_title("Open an environment")
            .add_filter("Environments", &environment::EXTENSIONS)
            .set_parent(window);
        self.ask(waker, dialog, Wake::OpenEnvironment)
    }

    /// The answer of a dialog has arrived.
    pub(super) fn answered(&mut self) {
        self.is_open = false;
    }

    /// Shows `dialog` and waits for its answer on a thread: a desktop portal that does not answer may take as
    /// long as it likes.
    fn ask(
        &mut self,
        waker: &Waker,
        dialog: rfd::AsyncFileDialog,
        wake: fn(Option<Vec<PathBuf>>) -> Wake,
    ) -> bool {
        if std::mem::replace(&mut self.is_open, true) {
            return false;
        }
        // Choosing several files tells a dialog that was closed from one that could not be opened.
        let (waker, answer) = (waker.clone(), dialog.pick_files());
        std::thread::spawn(move || {
            let paths = |files: Vec<rfd::FileHandle>| {
                let paths = files.iter().map(|file| file.path().to_owned());
                paths.filter(|path| !path.as_os_str().is_empty()).collect()
            };
            waker.send(wake(files_or_failure(
                pollster::block_on(answer).map(paths),
            )));
        });
        true
    }
}

/// What the answer of [`rfd`] means. With desktop portals and zenity, no list is a dialog that could not be
/// opened; elsewhere a dialog always opens, and no list is one that was closed.
fn files_or_failure(answer: Option<Vec<PathBuf>>) -> Option<Vec<PathBuf>> {
    if cfg!(any(windows, target_os = "macos")) {
        Some(answer.unwrap_or_default())
    } else {
        answer
    }
}
