//! What threads tell the event loop.

use std::path::PathBuf;
use winit::event_loop::EventLoopProxy;

/// What threads tell the event loop.
#[derive(Debug)]
pub(super) enum Wake {
    /// Something may have changed: the window is to be drawn.
    Redraw,
    /// The person chose these scene files in a dialog; none if they closed it.
    OpenScene(Vec<PathBuf>),
    /// The person chose this environment in a dialog; none if they closed it.
    OpenEnvironment(Option<PathBuf>),
}

/// Wakes the event loop from any thread.
#[derive(Debug, Clone)]
pub(super) struct Waker(pub(super) EventLoopProxy<Wake>);

impl Waker {
    /// Sends `wake`, unless the window has been closed.
    pub(super) fn send(&self, wake: Wake) {
        self.0.send_event(wake).ok();
    }

    /// A callback that has the window drawn.
    pub(super) fn redraw(&self) -> impl FnOnce() + Send + 'static {
        let waker = self.clone();
        move || waker.send(Wake::Redraw)
    }
}
