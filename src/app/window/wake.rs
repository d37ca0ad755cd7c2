//! Messages from threads to the event loop.

use crate::app::files::{
    browser::Kind,
    unsaved::{Place, Unsaved},
};
use std::{io, path::PathBuf, time::Instant};
use winit::event_loop::EventLoopProxy;

/// Path of the neighbouring scene in the folder, with its number from 1 and the number of scenes. `None` if
/// there is no other scene.
pub(in crate::app) type Neighbour = io::Result<Option<(PathBuf, usize, usize)>>;

/// Message to the event loop.
#[derive(Debug)]
pub(in crate::app) enum Wake {
    /// Request of a screen reader.
    Accessibility(egui_winit::accesskit_winit::Event),
    /// The window has to be redrawn because something may have changed.
    Redraw,
    /// The window has to be redrawn at this time.
    RedrawAt(Instant),
    /// Files that the user chose in a dialog. The list is empty if the dialog was cancelled, and `None` if it
    /// could not be opened.
    Chosen(Kind, Option<Vec<PathBuf>>),
    /// Data to save, and the place that the user chose for it in a dialog.
    Save(Unsaved, Place),
    /// Result of the search for the next or previous scene of the folder.
    OpenNeighbour(Neighbour),
    /// Files of the scene have changed.
    SceneChanged,
    /// The environment file has changed.
    EnvironmentChanged,
    /// Files of the compared surface have changed.
    ComparedChanged,
    /// Shader files have changed.
    ShadersChanged,
}

impl From<egui_winit::accesskit_winit::Event> for Wake {
    fn from(event: egui_winit::accesskit_winit::Event) -> Self {
        Self::Accessibility(event)
    }
}

/// Wakes the event loop from any thread.
#[derive(Debug, Clone)]
pub(in crate::app) struct Waker(pub(in crate::app) EventLoopProxy<Wake>);

impl Waker {
    /// Sends `wake` unless the window has been closed.
    pub(in crate::app) fn send(&self, wake: Wake) {
        self.0.send_event(wake).ok();
    }

    /// Returns a callback that requests a redraw.
    pub(in crate::app) fn redraw(&self) -> impl FnOnce() + Send + 'static {
        let waker = self.clone();
        move || waker.send(Wake::Redraw)
    }
}
