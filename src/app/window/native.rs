//! The window of the system.

use crate::{Error, Result, config};
use std::sync::Arc;
use winit::{
    dpi::LogicalSize,
    event_loop::ActiveEventLoop,
    window::{Fullscreen, Icon, Window, WindowAttributes},
};

/// The name of the `.desktop` file, by which Wayland and X11 find the icon and the menu's entry of a window.
#[cfg(target_os = "linux")]
const APP_ID: &str = "canopy";

/// For systems on which a window brings its icon: X11 and Windows.
const ICON: &[u8] = include_bytes!("../../../assets/icon/canopy-64.png");

/// Whether the window is shown before anything is drawn to it: Windows asks no hidden window to draw, and macOS
/// gives it no image to draw to.
pub(in crate::app) const SHOWN_AT_ONCE: bool = cfg!(any(windows, target_os = "macos"));

/// Opens the window.
///
/// # Errors
///
/// [`Error::Window`] when the system has none to give.
pub(in crate::app) fn open(event_loop: &ActiveEventLoop, settings: &config::Window) -> Result<Arc<Window>> {
    let [width, height] = settings.size;
    let attributes = Window::default_attributes()
        .with_title("canopy")
        .with_inner_size(LogicalSize::new(width, height))
        .with_min_inner_size(LogicalSize::new(320, 200))
        .with_window_icon(icon())
        // Screen readers are told of it before it is shown. Black until something is drawn: else it is shown with its
        // first picture.
        .with_visible(false);
    let window = event_loop.create_window(named(attributes)).map_err(no_window)?;
    Ok(Arc::new(window))
}

/// Gives the window the name of its application.
#[cfg(target_os = "linux")]
fn named(attributes: WindowAttributes) -> WindowAttributes {
    use winit::platform::{wayland, x11};
    let attributes = wayland::WindowAttributesExtWayland::with_name(attributes, APP_ID, APP_ID);
    x11::WindowAttributesExtX11::with_name(attributes, APP_ID, APP_ID)
}

/// Elsewhere the system knows the application by its file.
#[cfg(not(target_os = "linux"))]
fn named(attributes: WindowAttributes) -> WindowAttributes {
    attributes
}

/// The program's icon. A window without one works as well.
fn icon() -> Option<Icon> {
    let picture = image::load_from_memory(ICON).ok()?.into_rgba8();
    let (width, height) = picture.dimensions();
    Icon::from_rgba(picture.into_raw(), width, height).ok()
}

/// The error of a system that opens no window.
pub(in crate::app) fn no_window(error: impl std::fmt::Display) -> Error {
    let text = error.to_string();
    // winit's system errors begin with a line of its own source, which helps nobody.
    let cause = text
        .split_once(".rs:")
        .and_then(|(_, rest)| rest.split_once(": "));
    let cause = cause.map_or(&*text, |(_, cause)| cause).trim_end_matches('.');
    Error::Window(format!(
        "no window can be opened: {cause}; without a display, use `canopy render`"
    ))
}

/// Switches between full screen and a window.
pub(in crate::app) fn toggle_fullscreen(window: &Window) {
    let full = window.fullscreen().is_none();
    window.set_fullscreen(full.then_some(Fullscreen::Borderless(None)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_is_one() {
        assert!(icon().is_some());
    }
}
