//! The presentation: the picture alone, over the whole screen where the window can.

use crate::app::{presentation::model::Presentation, viewer::Viewer, window::native};
use std::time::{Duration, Instant};

/// The pointer hides when it has not moved for so long.
const POINTER_RESTS: Duration = Duration::from_secs(2);

impl Viewer {
    /// Begins or ends the presentation.
    pub(in crate::app) fn toggle_presentation(&mut self) {
        let is_full = self.window.fullscreen().is_some();
        let was_full = match self.presentation.take() {
            Some(presentation) => {
                self.window.set_cursor_visible(true);
                presentation.was_full
            }
            None => {
                self.presentation = Some(Presentation {
                    was_full: is_full,
                    moved: Some(Instant::now()),
                });
                self.draw_within(POINTER_RESTS);
                true
            }
        };
        self.state.picture.presents = self.presentation.is_some();
        if is_full != was_full {
            native::toggle_fullscreen(&self.window);
        }
    }

    /// The pointer has moved, and is seen again.
    pub(in crate::app) fn wake_pointer(&mut self) {
        let Some(presentation) = &mut self.presentation else {
            return;
        };
        if presentation.moved.replace(Instant::now()).is_none() {
            self.window.set_cursor_visible(true);
        }
        self.draw_within(POINTER_RESTS);
    }

    /// Hides the pointer once it has rested.
    pub(in crate::app) fn rest_pointer(&mut self) {
        if let Some(presentation) = &mut self.presentation
            && presentation
                .moved
                .is_some_and(|moved| moved.elapsed() >= POINTER_RESTS)
        {
            presentation.moved = None;
            self.window.set_cursor_visible(false);
        }
    }
}
