//! File dialogs, which do not hold up the window.

use super::wake::{Wake, Waker};
use crate::scene::environment;
use winit::window::Window;

/// The file dialogs of the window, of which one is open at a time.
#[derive(Debug, Default)]
pub(super) struct Dialogs {
    is_open: bool,
}

impl Dialogs {
    /// Asks for scene files; the answer is a [`Wake::OpenScene`].
    pub(super) fn ask_for_scene(&mut self, window: &Window, waker: &Waker) {
        let dialog = rfd::AsyncFileDialog::new()
            .set_title("Open a scene")
            .add_filter("Scenes", &["gltf", "glb", "obj"])
            .set_parent(window);
        self.ask(waker, dialog, rfd::AsyncFileDialog::pick_files, |files| {
            let files = files.unwrap_or_default();
            Wake::OpenScene(files.iter().map(|file| file.path().to_owned()).collect())
        });
    }

    /// Asks for an environment; the answer is a [`Wake::OpenEnvironment`].
    pub(super) fn ask_for_environment(&mut self, window: &Window, waker: &Waker) {
        let dialog = rfd::AsyncFileDialog::new()
            .set_title("Open an environment")
            .add_filter("Environments", &environment::EXTENSIONS)
            .set_parent(window);
        self.ask(waker, dialog, rfd::AsyncFileDialog::pick_file, |file| {
            Wake::OpenEnvironment(file.map(|file| file.path().to_owned()))
        });
    }

    /// The answer of a dialog has arrived.
    pub(super) fn answered(&mut self) {
        self.is_open = false;
    }

    /// Shows `dialog` by `pick` and waits for its answer on a thread.
    fn ask<F: Future + Send + 'static>(
        &mut self,
        waker: &Waker,
        dialog: rfd::AsyncFileDialog,
        pick: impl FnOnce(rfd::AsyncFileDialog) -> F,
        wake: impl FnOnce(F::Output) -> Wake + Send + 'static,
    ) {
        if std::mem::replace(&mut self.is_open, true) {
            return;
        }
        let (waker, answer) = (waker.clone(), pick(dialog));
        std::thread::spawn(move || waker.send(wake(pollster::block_on(answer))));
    }
}
