//! View state of the profiler panel: the visible frames, and whether they are frozen.

use crate::profile::history::{FRAMES, Frame, History};
use std::{collections::VecDeque, ops::Range};

/// Minimum number of visible frames.
const FEWEST: f64 = 8.0;

/// View state of the panel.
#[derive(Debug)]
pub(in crate::app) struct ProfilerPanel {
    /// True if the panel is shown.
    pub(in crate::app) is_open: bool,
    /// Copy of the frames at the time of freezing.
    frozen: Option<VecDeque<Frame>>,
    /// Number of visible frames.
    visible: f64,
    /// Number of frames between the last visible one and the latest.
    back: f64,
}

impl Default for ProfilerPanel {
    fn default() -> Self {
        Self {
            is_open: false,
            frozen: None,
            visible: FRAMES as f64,
            back: 0.0,
        }
    }
}

impl ProfilerPanel {
    /// True if the frames are frozen.
    pub(in crate::app) fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// Freezes the frames of `history`, or follows it again.
    pub(in crate::app) fn toggle_freeze(&mut self, history: &History) {
        self.frozen = match self.frozen.take() {
            Some(_) => None,
            None => Some(history.frames().clone()),
        };
        if self.frozen.is_none() {
            self.back = 0.0;
        }
    }

    /// Removes all frames and follows the new ones.
    pub(in crate::app) fn clear(&mut self, history: &mut History) {
        history.clear();
        *self = Self {
            is_open: self.is_open,
            ..Self::default()
        };
    }

    /// Returns the frozen frames, or the live ones if none are frozen.
    pub(in crate::app) fn frames<'a>(&'a self, history: &'a History) -> &'a VecDeque<Frame> {
        self.frozen.as_ref().unwrap_or_else(|| history.frames())
    }

    /// Returns the index range of the visible frames.
    pub(in crate::app) fn view(&self, history: &History) -> Range<usize> {
        let count = self.frames(history).len();
        let end = count.saturating_sub(self.back.round() as usize);
        end.saturating_sub(self.visible.round() as usize)..end
    }

    /// Shows `factor` times as many frames. The position `at`, from 0 at the left to 1, stays fixed.
    pub(in crate::app) fn zoom(&mut self, history: &History, factor: f64, at: f64) {
        let view = self.view(history);
        let most = (self.frames(history).len() as f64).max(FRAMES as f64);
        let before = self.visible.min(view.len().max(1) as f64);
        self.visible = (before * factor).clamp(FEWEST, most);
        self.pan(history, (before - self.visible) * (1.0 - at));
    }

    /// Moves the view into the past by `frames` frames.
    pub(in crate::app) fn pan(&mut self, history: &History, frames: f64) {
        let most = self.frames(history).len() as f64 - self.visible;
        self.back = (self.back + frames).clamp(0.0, most.max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(frames: u64) -> History {
        let mut history = History::new(FRAMES);
        for frame in 1..=frames {
            history.push(frame, 0.0);
        }
        history
    }

    #[test]
    fn zooming_keeps_the_pointer_position_and_the_frame_range() {
        let history = history(400);
        let mut panel = ProfilerPanel::default();
        assert_eq!(panel.view(&history), 0..400);
        panel.zoom(&history, 0.25, 0.5);
        assert_eq!(panel.view(&history), 150..250);
        panel.zoom(&history, 0.5, 0.0);
        assert_eq!(panel.view(&history), 150..200);
        panel.zoom(&history, 0.5, 1.0);
        assert_eq!(panel.view(&history), 175..200);
        panel.pan(&history, 1e9);
        assert_eq!(panel.view(&history), 0..25);
        panel.pan(&history, -1e9);
        assert_eq!(panel.view(&history), 375..400);
        (0..99).for_each(|_| panel.zoom(&history, 0.5, 0.5));
        assert_eq!(panel.view(&history).len(), FEWEST as usize);
        (0..99).for_each(|_| panel.zoom(&history, 2.0, 0.5));
        assert_eq!(panel.view(&history), 0..400);
        assert_eq!(panel.view(&History::new(3)), 0..0);
    }

    #[test]
    fn frozen_frames_do_not_change_until_resumed() {
        let mut history = history(20);
        let mut panel = ProfilerPanel::default();
        panel.toggle_freeze(&history);
        history.push(21, 0.0);
        assert_eq!(panel.frames(&history).len(), 20);
        panel.toggle_freeze(&history);
        assert_eq!(panel.frames(&history).len(), 21);
        panel.zoom(&history, 0.5, 0.0);
        panel.toggle_freeze(&history);
        panel.is_open = true;
        panel.clear(&mut history);
        assert!(!panel.is_frozen() && panel.is_open);
        assert_eq!(panel.view(&history), 0..0);
    }
}
