//! The viewer: a window with the scene and a panel of settings. Only this module knows winit and egui.
//!
//! ```text
//! winit: keys, pointer ─► input::events, keymap ─► Action ─► State::perform    needs no window and no GPU
//!                                                   └──────► Viewer::perform   all others: files, GPU, window
//! egui: panel, cards ──────────────────────────────────────► fields of State   undo compares settings and edits
//!
//! State: settings, scene, camera and the features' own state
//!   └─► PictureKey      all inputs of a picture, compared by ==
//!         └─► Schedule::choose    a frame in motion, a still sample, or none
//!               └─► Viewer::record_scene    records, or compiles missing pipelines on threads
//!                     └─► Viewer::present   composes the last finished picture and the panel
//! ```
//!
//! Each folder is a feature. Its `model` holds the state, `view` the egui code, `actions` the effects of keys
//! and buttons, and `task` the work on threads and on the GPU.
//!
//! Features whose work spans several frames implement the trait in `feature.rs`, and `features.rs` lists
//! them. They react to changes once per frame, take GPU results when the loop polls the device, and drop the
//! resources of a lost device. `viewer.rs` holds the shared state, `run.rs` the loop, and `frame.rs` a frame
//! of the window.

mod bookmarks;
mod camera;
mod compare;
mod deviation;
mod edits;
mod environment;
mod export;
mod feature;
mod features;
mod files;
mod frame;
mod input;
mod inspect;
mod lab;
mod looks;
mod options;
mod outline;
mod palette;
mod picture;
mod presentation;
mod profile;
mod rays;
mod run;
mod schedule;
mod state;
mod textures;
mod timeline;
mod trees;
mod ui;
mod undo;
mod viewer;
mod window;

pub use options::{CompareOptions, Options};

use crate::{
    Result,
    app::{
        input::keymap::Keymap,
        viewer::Viewer,
        window::wake::{Wake, Waker},
    },
};
use winit::{
    application::ApplicationHandler,
    event::WindowEvent,
    event_loop::{ActiveEventLoop, ControlFlow, EventLoop},
    window::WindowId,
};

/// Returns recently opened files: scenes, then environments.
pub fn recent_files() -> Vec<std::path::PathBuf> {
    let recent = files::recent::file().map(|file| files::recent::Recent::read(&file));
    recent.unwrap_or_default().into_files().collect()
}

/// Checks the key bindings in `[keys]`.
///
/// # Errors
///
/// [`Error::Config`](crate::Error::Config) or, for `--set`, [`Error::Usage`](crate::Error::Usage) for an
/// action or a key that does not exist, and for a key that two actions share.
pub fn check_keys(keys: &crate::config::Keys) -> Result<()> {
    Keymap::new(keys).map(drop)
}

/// Opens the window and runs until it is closed.
///
/// # Errors
///
/// - [`Error::Window`](crate::Error::Window) if there is no display.
/// - [`Error::Gpu`](crate::Error::Gpu) if no adapter can draw to it.
/// - [`Error::Config`](crate::Error::Config) for a key or an action in `[keys]` that does not exist.
/// - [`Error::Usage`](crate::Error::Usage) for an output file with an unsupported extension.
/// - [`Error::Io`](crate::Error::Io) if an output file cannot be written.
/// - Any error if [`Options::exit_after`] is set.
pub fn run(options: Options) -> Result<()> {
    if let Some(path) = &options.screenshot {
        crate::output::extension(path, &["png"])?;
        crate::output::check_writable(path)?;
    }
    if let Some(path) = &options.stats {
        crate::output::check_writable(path)?;
    }
    if let Some(path) = &options.profile {
        crate::profile::check(path)?;
    }
    // A mistyped key must be reported even without a display.
    check_keys(&options.config.keys)?;
    let event_loop = EventLoop::<Wake>::with_user_event()
        .build()
        .map_err(window::native::no_window)?;
    event_loop.set_control_flow(ControlFlow::Wait);
    let mut app = App {
        waker: Waker(event_loop.create_proxy()),
        options,
        viewer: None,
        outcome: Ok(()),
    };
    event_loop.run_app(&mut app).map_err(window::native::no_window)?;
    app.outcome
}

/// Receives winit's events.
struct App {
    options: Options,
    waker: Waker,
    /// Created on winit's first `resumed` event.
    viewer: Option<Viewer>,
    outcome: Result<()>,
}

impl App {
    /// Runs `work`, and ends the program if it fails.
    fn with_viewer(&mut self, event_loop: &ActiveEventLoop, work: impl FnOnce(&mut Viewer) -> Result<()>) {
        let Some(viewer) = &mut self.viewer else {
            return;
        };
        if let Err(error) = work(viewer) {
            self.outcome = Err(error);
            event_loop.exit();
        }
        if viewer.is_done() {
            event_loop.exit();
        }
    }
}

impl ApplicationHandler<Wake> for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.viewer.is_some() {
            return;
        }
        match Viewer::new(event_loop, self.options.clone(), self.waker.clone()) {
            Ok(viewer) => self.viewer = Some(viewer),
            Err(error) => {
                self.outcome = Err(error);
                event_loop.exit();
            }
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, wake: Wake) {
        self.with_viewer(event_loop, |viewer| {
            viewer.wake(wake);
            Ok(())
        });
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        self.with_viewer(event_loop, |viewer| match event {
            WindowEvent::RedrawRequested => viewer.redraw_or_recover(),
            event => {
                input::events::event(viewer, event);
                Ok(())
            }
        });
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        if let Some(viewer) = &mut self.viewer {
            event_loop.set_control_flow(viewer.control_flow());
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        if let Some(viewer) = &mut self.viewer
            && let Err(error) = profile::task::write(viewer)
            && self.outcome.is_ok()
        {
            self.outcome = Err(error);
        }
        // The surface must be dropped before the event loop's connection to the display.
        self.viewer = None;
    }
}
