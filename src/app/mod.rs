//! The viewer: a window with the scene and a panel of settings. Only this module knows winit and egui.
//!
//! ```text
//! winit: keys, pointer ─► input, keymap ─► Action ─► State::perform     needs neither window nor GPU
//!                                            └─────► Viewer::perform    what is left: files, GPU, window
//! egui: panel, cards ────────────────────────────► fields of State      undo compares settings and edits
//!
//! State: settings, scene, camera, what is selected and shown
//!   └─► PictureKey      everything that a picture depends on, compared by ==
//!         └─► Schedule::choose    a moving frame, a sample of the still picture, or none
//!               └─► Viewer::record_scene    record, or compile what the frame lacks on threads
//!                     └─► Viewer::present   the scene as far as it is drawn, and the panel over it
//! ```
//!
//! Work in the background (loading, exports, figures) sends its outcome over a channel and wakes the loop;
//! `Viewer::redraw` looks at each channel once a frame. Where the device is lost, `Viewer::recover` makes everything
//! anew from the state.

mod applying_looks;
mod arm;
mod benchmark;
mod benchmarking;
mod between;
mod bookmarking;
mod bookmarks;
mod browse;
mod building_lab;
mod camera;
mod camera_motion;
mod changes;
mod channels;
mod chord;
mod clicks;
mod command_line;
mod commands;
mod compare;
mod comparing;
mod counting_trees;
mod deviation;
mod deviation_figures;
mod dialogs;
mod dropped;
mod edit_change;
mod edit_words;
mod environment;
mod export;
mod export_process;
mod exported;
mod exporting;
mod files;
mod frame;
mod graphics;
mod gui;
mod in_flight;
mod input;
mod inspect;
mod jump;
mod keymap;
mod keys;
mod lab;
mod leaving;
mod loading;
mod looks;
mod measure;
mod measuring_deviation;
mod memory;
mod mesh_gap;
mod offer;
mod options;
mod outline;
mod outline_actions;
mod overlay;
mod palette;
mod panel_layout;
mod path_keys;
mod pictures;
mod preparing;
mod presentation;
mod presenting;
mod profiler_panel;
mod profiles;
mod profiling;
mod projector;
mod recent;
mod renumbered;
mod reopening;
mod resolution;
mod sample_pace;
mod saving;
mod saving_edits;
mod schedule;
mod screen;
mod selected;
mod selecting;
mod selection;
mod shader_files;
mod showing_textures;
mod side;
mod side_costs;
mod stage_edits;
mod state;
mod status;
mod sun;
mod texture_actions;
mod textures;
mod thumbnails;
mod timeline;
mod traced_ray;
mod tracing_rays;
mod tree_actions;
mod tree_figures;
mod tree_view;
mod ui;
mod undo;
mod undoing;
mod unsaved;
mod viewer;
mod wake;
mod walker;
mod watch;
mod window;
mod write_edits;

pub use options::{CompareOptions, Options};

use crate::Result;
use keymap::Keymap;
use viewer::Viewer;
use wake::{Wake, Waker};
use winit::{
    application::ApplicationHandler,
    event::WindowEvent,
    event_loop::{ActiveEventLoop, ControlFlow, EventLoop},
    window::WindowId,
};

/// The files that the viewer has opened last: scenes, then environments.
pub fn recent_files() -> Vec<std::path::PathBuf> {
    let recent = recent::file().map(|file| recent::Recent::read(&file));
    recent.unwrap_or_default().into_files().collect()
}

/// Fails for an action or a key in `[keys]` that does not exist, and for a key that two actions have.
///
/// # Errors
///
/// [`Error::Config`](crate::Error::Config) or, for `--set`, [`Error::Usage`](crate::Error::Usage).
pub fn check_keys(keys: &crate::config::Keys) -> Result<()> {
    Keymap::new(keys).map(drop)
}

/// Opens the window and stays until it is closed.
///
/// # Errors
///
/// [`Error::Window`](crate::Error::Window) when there is no display, [`Error::Gpu`](crate::Error::Gpu) when
/// no adapter can draw to it, [`Error::Config`](crate::Error::Config) for a key or an action in `[keys]` that
/// does not exist, and any error under [`Options::exit_after`].
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
    // A mistyped key is an error without a display too.
    check_keys(&options.config.keys)?;
    let event_loop = EventLoop::<Wake>::with_user_event()
        .build()
        .map_err(window::no_window)?;
    event_loop.set_control_flow(ControlFlow::Wait);
    let mut app = App {
        waker: Waker(event_loop.create_proxy()),
        options,
        viewer: None,
        outcome: Ok(()),
    };
    event_loop.run_app(&mut app).map_err(window::no_window)?;
    app.outcome
}

/// Receives winit's events.
struct App {
    options: Options,
    waker: Waker,
    /// Made once winit allows windows.
    viewer: Option<Viewer>,
    outcome: Result<()>,
}

impl App {
    /// Runs `work`, and ends everything when it fails.
    fn with_viewer(
        &mut self,
        event_loop: &ActiveEventLoop,
        work: impl FnOnce(&mut Viewer) -> Result<()>,
    ) {
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
                viewer.event(event);
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
            && let Err(error) = viewer.write_profile()
            && self.outcome.is_ok()
        {
            self.outcome = Err(error);
        }
        // The surface must go before the event loop's connection to the display does.
        self.viewer = None;
    }
}
