//! The presentation: the picture alone, over the whole screen where the window can.

use crate::app::{presentation::model::Presentation, viewer::Viewer, window::native};
use std::time::{Duration, Instant};

/// The pointer hides when it has not moved for so long.
const POINTER_RESTS: Duration = Duration::from_secs(2);

/// Begins or ends the presentation.
pub(in crate::app) fn toggle(viewer: &mut Viewer) {
    let is_full = viewer.window.fullscreen().is_some();
    let was_full = match viewer.presentation.take() {
        Some(presentation) => {
            viewer.window.set_cursor_visible(true);
            presentation.was_full
        }
        None => {
            viewer.presentation = Some(Presentation {
                was_full: is_full,
                moved: Some(Instant::now()),
            });
            viewer.draw_within(POINTER_RESTS);
            true
        }
    };
    viewer.state.picture.presents = viewer.presentation.is_some();
    if is_full != was_full {
        native::toggle_fullscreen(&viewer.window);
    }
}

/// The pointer has moved, and is seen again.
pub(in crate::app) fn wake_pointer(viewer: &mut Viewer) {
    let Some(presentation) = &mut viewer.presentation else {
        return;
    };
    if presentation.moved.replace(Instant::now()).is_none() {
        viewer.window.set_cursor_visible(true);
    }
    viewer.draw_within(POINTER_RESTS);
}

/// Hides the pointer once it has rested.
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
