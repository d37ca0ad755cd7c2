//! What threads tell the event loop.

use crate::app::files::{
    browser::Kind,
    unsaved::{Place, Unsaved},
};
use std::{io, path::PathBuf, time::Instant};
use winit::event_loop::EventLoopProxy;

/// The scene beside another in its folder, with its number from 1 and how many there are; `None` where there
/// is no other.
pub(in crate::app) type Neighbour = io::Result<Option<(PathBuf, usize, usize)>>;

/// What threads tell the event loop.
#[derive(Debug)]
pub(in crate::app) enum Wake {
    /// A screen reader asks for something.
    Accessibility(egui_winit::accesskit_winit::Event),
    /// Something may have changed: the window is to be drawn.
    Redraw,
    /// The window is to be drawn at this time.
    RedrawAt(Instant),
    /// The person chose these files in a dialog; none if they closed it, and `None` if no dialog could be
    /// opened.
    Chosen(Kind, Option<Vec<PathBuf>>),
    /// The person was asked where to save this.
    Save(Unsaved, Place),
    /// The next or previous scene of the folder was looked for.
    OpenNeighbour(Neighbour),
    /// Files of the scene have changed.
    SceneChanged,
    /// The environment's file has changed.
    EnvironmentChanged,
    /// Files of the surface that is compared with have changed.
    ComparedChanged,
    /// Files of shaders have changed.
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
    /// Sends `wake`, unless the window has been closed.
    pub(in crate::app) fn send(&self, wake: Wake) {
        self.0.send_event(wake).ok();
    }

    /// A callback that has the window drawn.
    pub(in crate::app) fn redraw(&self) -> impl FnOnce() + Send + 'static {
        let waker = self.clone();
        move || waker.send(Wake::Redraw)
    }
}
