//! The viewer: a window with the scene and a panel of settings. The only place that knows winit and egui.

mod camera;
mod environment;
mod input;
mod keys;
mod loading;
mod memory;
mod preparing;
mod screen;
mod state;
mod ui;
mod viewer;

use crate::{Error, Result, config::Config, scene::framing::Look};
use std::path::PathBuf;
use viewer::Viewer;
use winit::{
    application::ApplicationHandler,
    event::WindowEvent,
    event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy},
    window::WindowId,
};

/// What the viewer starts with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Scene files; several make one scene, none is the built-in one.
    pub files: Vec<PathBuf>,
    /// Settings, which the panel then changes.
    pub config: Config,
    /// Where the first view is asked to be from.
    pub look: Look,
    /// Leave after so many frames of the loaded scene; then a fault ends the viewer with an error instead of being shown.
    pub exit_after: Option<u64>,
    /// Where the picture of the window goes.
    pub screenshot: Option<PathBuf>,
    /// Where the figures go when [`Options::exit_after`] leaves.
    pub stats: Option<PathBuf>,
}

/// What threads tell the event loop.
#[derive(Debug)]
enum Wake {
    /// Something may have changed.
    Look,
    /// These files were chosen.
    Open(Vec<PathBuf>),
    /// This environment was chosen, if any.
    OpenEnvironment(Option<PathBuf>),
}

/// Opens the window and stays until it is closed.
///
/// # Errors
///
/// [`Error::Gpu`] when there is no display or no adapter that can draw to it, and what goes wrong under
/// [`Options::exit_after`].
pub fn run(options: Options) -> Result<()> {
    if let Some(path) = &options.screenshot {
        crate::output::extension(path, &["png"])?;
        crate::output::check_writable(path)?;
    }
    if let Some(path) = &options.stats {
        crate::output::check_writable(path)?;
    }
    let event_loop = EventLoop::<Wake>::with_user_event()
        .build()
        .map_err(no_window)?;
    event_loop.set_control_flow(ControlFlow::Wait);
    let mut app = App {
        proxy: event_loop.create_proxy(),
        options,
        viewer: None,
        outcome: Ok(()),
    };
    event_loop.run_app(&mut app).map_err(no_window)?;
    app.outcome
}

fn no_window(error: impl std::fmt::Display) -> Error {
    let text = error.to_string();
    // winit's system errors begin with a line of its own source, which tells nobody what to do.
    let cause = text
        .split_once(".rs:")
        .and_then(|(_, rest)| rest.split_once(": "));
    let cause = cause
        .map_or(&*text, |(_, cause)| cause)
        .trim_end_matches('.');
    Error::Gpu(format!(
        "no window can be opened: {cause}; without a display, use `canopy render`"
    ))
}

/// What winit calls.
struct App {
    options: Options,
    proxy: EventLoopProxy<Wake>,
    /// There once winit lets windows be made.
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
        match Viewer::new(event_loop, self.options.clone(), self.proxy.clone()) {
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
        self.with_viewer(event_loop, |viewer| viewer.event(&event));
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        if let Some(viewer) = &mut self.viewer {
            event_loop.set_control_flow(viewer.pace());
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        // The surface must go before the event loop's connection to the display does.
        self.viewer = None;
    }
}
