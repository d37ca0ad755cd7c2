//! Presentation mode: shows only the picture, in full screen if possible.

use crate::app::{presentation::model::Presentation, viewer::Viewer, window::native};
use std::time::{Duration, Instant};

/// Time without motion after which the pointer is hidden.
const POINTER_RESTS: Duration = Duration::from_secs(2);

/// Starts or ends the presentation.
pub(in crate::app) fn toggle(viewer: &mut Viewer) {
    let is_full_scale = viewer.window.fullscreen().is_some();
    let was_full = match viewer.presentation.take() {
        Some(presentation) => {
            viewer.window.set_cursor_visible(true);
            presentation.was_full
        }
        None => {
            viewer.presentation = Some(Presentation {
                was_full: is_full_scale,
                moved: Some(Instant::now()),
            });
            viewer.draw_within(POINTER_RESTS);
            true
        }
    };
    viewer.state.picture.presents = viewer.presentation.is_some();
    if is_full_scale != was_full {
        native::toggle_fullscreen(&viewer.window);
    }
}

/// Shows the pointer after it has moved.
pub(in crate::app) fn wake_pointer(viewer: &mut Viewer) {
    let Some(presentation) = &mut viewer.presentation else {
        return;
    };
    if presentation.moved.replace(Instant::now()).is_none() {
        viewer.window.set_cursor_visible(true);
    }
    viewer.draw_within(POINTER_RESTS);
}

/// Hides the pointer after it has not moved for a while.
pub(in crate::app) fn rest_pointer(viewer: &mut Viewer) {
    if let Some(presentation) = &mut viewer.presentation
        && presentation
            .moved
            .is_some_and(|moved| moved.elapsed() >= POINTER_RESTS)
    {
        presentation.moved = None;
        viewer.window.set_cursor_visible(false);
    }
}
