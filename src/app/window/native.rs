//! Native window.

use crate::{Error, Result, config};
use std::sync::Arc;
use winit::{
    dpi::LogicalSize,
    event_loop::ActiveEventLoop,
    window::{Fullscreen, Icon, Window, WindowAttributes},
};

/// Name of the `.desktop` file. Wayland and X11 use it to find the icon and the menu entry of a window.
#[cfg(target_os = "linux")]
const APP_ID: &str = "canopy";

/// Icon for systems where a window provides its own: X11 and Windows.
const ICON: &[u8] = include_bytes!("../../../assets/icon/canopy-64.png");

/// True if the window must be visible before the first frame. Windows sends no redraw requests to a hidden
/// window, and macOS gives it no image.
pub(in crate::app) const SHOWN_AT_ONCE: bool = cfg!(any(windows, target_os = "macos"));

/// Opens the window.
///
/// # Errors
///
/// [`Error::Window`] if the system cannot provide one.
pub(in crate::app) fn open(event_loop: &ActiveEventLoop, settings: &config::Window) -> Result<Arc<Window>> {
    let [width, height] = settings.size;
    let attributes = Window::default_attributes()
        .with_title("canopy")
        .with_inner_size(LogicalSize::new(width, height))
        .with_min_inner_size(LogicalSize::new(320, 200))
        .with_window_icon(icon())
        // Accessibility must be set up before the window is shown. A window that is not shown at once appears
        // with its first picture instead of black.
        .with_visible(false);
    let window = event_loop.create_window(named(attributes)).map_err(no_window)?;
    Ok(Arc::new(window))
}

/// Sets the application name of the window.
#[cfg(target_os = "linux")]
fn named(attributes: WindowAttributes) -> WindowAttributes {
    use winit::platform::{wayland, x11};
    let attributes = wayland::WindowAttributesExtWayland::with_name(attributes, APP_ID, APP_ID);
    x11::WindowAttributesExtX11::with_name(attributes, APP_ID, APP_ID)
}

/// Other systems identify the application by its executable.
#[cfg(not(target_os = "linux"))]
fn named(attributes: WindowAttributes) -> WindowAttributes {
    attributes
}

/// Returns the icon of the program. A window also works without one.
fn icon() -> Option<Icon> {
    let picture = image::load_from_memory(ICON).ok()?.into_rgba8();
    let (width, height) = picture.dimensions();
    Icon::from_rgba(picture.into_raw(), width, height).ok()
}

/// Returns the error of a system that opens no window.
pub(in crate::app) fn no_window(error: impl std::fmt::Display) -> Error {
    let text = error.to_string();
    // winit's system errors start with a source location, which does not help users.
    let cause = text
        .split_once(".rs:")
        .and_then(|(_, rest)| rest.split_once(": "));
    let cause = cause.map_or(&*text, |(_, cause)| cause).trim_end_matches('.');
    Error::Window(format!(
        "cannot open a window: {cause}; without a display, use `canopy render`"
    ))
}

/// Toggles full screen. Returns true if it is now on.
pub(in crate::app) fn toggle_fullscreen(window: &Window) -> bool {
    let is_full = window.fullscreen().is_none();
    window.set_fullscreen(is_full.then_some(Fullscreen::Borderless(None)));
    is_full
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_icon_decodes() {
        assert!(icon().is_some());
    }
}
