//! The window of the system.

use crate::{Error, Result, config};
use std::sync::Arc;
use winit::{
    dpi::LogicalSize,
    event_loop::ActiveEventLoop,
    window::{Fullscreen, Window},
};

/// Opens the window.
///
/// # Errors
///
/// [`Error::Window`] when the system has none to give.
pub(super) fn open(event_loop: &ActiveEventLoop, settings: &config::Window) -> Result<Arc<Window>> {
    let [width, height] = settings.size;
    let attributes = Window::default_attributes()
        .with_title("canopy")
        .with_inner_size(LogicalSize::new(width, height))
        .with_min_inner_size(LogicalSize::new(320, 200))
        // Black until something is drawn: it is shown with its first picture.
        .with_visible(false);
    let window = event_loop.create_window(attributes).map_err(no_window)?;
    Ok(Arc::new(window))
}

/// The error of a system that opens no window.
pub(super) fn no_window(error: impl std::fmt::Display) -> Error {
    let text = error.to_string();
    // winit's system errors begin with a line of its own source, which helps nobody.
    let cause = text
        .split_once(".rs:")
        .and_then(|(_, rest)| rest.split_once(": "));
    let cause = cause
        .map_or(&*text, |(_, cause)| cause)
        .trim_end_matches('.');
    Error::Window(format!(
        "no window can be opened: {cause}; without a display, use `canopy render`"
    ))
}

/// Switches between full screen and a window.
pub(super) fn toggle_fullscreen(window: &Window) {
    let full = window.fullscreen().is_none();
    window.set_fullscreen(full.then_some(Fullscreen::Borderless(None)));
}
