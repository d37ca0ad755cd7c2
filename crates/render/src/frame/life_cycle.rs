//! Life cycle of the state that passes carry from frame to frame.

use crate::stats::FrameStats;

/// Steps around a frame. The renderer runs them for all of its passes in a loop. A pass without state between
/// frames keeps the defaults.
pub trait LifeCycle {
    /// Returns the parts that have a life cycle of their own. The default methods apply each step to them.
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        Vec::new()
    }

    /// Begins a frame, before any of it is recorded.
    fn begin(&mut self) {
        self.parts().into_iter().for_each(LifeCycle::begin);
    }

    /// Commits a frame that has been recorded completely. The next frame continues from it.
    fn commit(&mut self) {
        self.parts().into_iter().for_each(LifeCycle::commit);
    }

    /// Undoes what was recorded since [`LifeCycle::begin`]. The frame is dropped before its commit, and none
    /// of it runs. The next frame continues from the one before.
    fn abort(&mut self) {
        self.parts().into_iter().for_each(LifeCycle::abort);
    }

    /// Writes the statistics of the last frame into `stats`. It is called after the commit and whenever
    /// readbacks may have arrived. It never waits for them.
    fn report(&mut self, stats: &mut FrameStats) {
        for part in self.parts() {
            part.report(stats);
        }
    }

    /// Drops the history, so that the next frame is like the first one of a renderer.
    fn reset(&mut self) {
        self.parts().into_iter().for_each(LifeCycle::reset);
    }

    /// Invalidates the results of a committed frame that may have run only in part. Its buffers and images
    /// need not hold what it recorded.
    fn invalidate(&mut self) {
        self.parts().into_iter().for_each(LifeCycle::invalidate);
    }
}

/// State that a frame takes over from the last frame and passes to the next. State that describes images is
/// dropped when they are recreated ([`LifeCycle::reset`]).
#[derive(Debug)]
pub struct TemporalState<T> {
    last: Option<T>,
    pending: Option<T>,
}

impl<T> Default for TemporalState<T> {
    fn default() -> Self {
        Self {
            last: None,
            pending: None,
        }
    }
}

impl<T> TemporalState<T> {
    /// Returns the state from the last committed frame, if any.
    pub fn last(&self) -> Option<&T> {
        self.last.as_ref()
    }

    /// Returns this frame's state for the next frame, if it is already recorded.
    pub fn pending(&self) -> Option<&T> {
        self.pending.as_ref()
    }

    /// Sets the state for the next frame. If a frame sets none, the previous state stays.
    pub fn set_pending(&mut self, state: T) {
        self.pending = Some(state);
    }
}

impl<T> LifeCycle for TemporalState<T> {
    fn begin(&mut self) {
        self.pending = None;
    }

    fn commit(&mut self) {
        if let Some(state) = self.pending.take() {
            self.last = Some(state);
        }
    }

    fn abort(&mut self) {
        self.pending = None;
    }

    fn reset(&mut self) {
        (self.last, self.pending) = (None, None);
    }

    fn invalidate(&mut self) {
        self.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_frame_keeps_the_previous_state() {
        let mut carried = TemporalState::default();
        let mut frame = |state: Option<u32>, is_whole: bool| {
            carried.begin();
            let seen = carried.last().copied();
            if let Some(state) = state {
                carried.set_pending(state);
            }
            match is_whole {
                true => carried.commit(),
                false => carried.abort(),
            }
            seen
        };
        assert_eq!(frame(Some(1), false), None);
        assert_eq!(frame(Some(2), true), None);
        assert_eq!(frame(Some(3), false), Some(2));
        assert_eq!(frame(None, true), Some(2));
        assert_eq!(frame(Some(4), true), Some(2));
        assert_eq!(frame(None, false), Some(4));
        carried.reset();
        assert_eq!(carried.last(), None);
    }
}
