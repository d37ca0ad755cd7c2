//! Life cycle of the state that passes keep from frame to frame.

use crate::stats::FrameStats;

/// Steps around a frame. The renderer runs them for all of its passes in a loop. A pass without state between
/// frames keeps the defaults.
pub trait LifeCycle {
    /// Returns the parts that have a life cycle of their own. They take the same steps.
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
    fn lose(&mut self) {
        self.parts().into_iter().for_each(LifeCycle::lose);
    }
}

/// State that a frame takes over from the last one and leaves for the next. State that describes images is
/// dropped when they are recreated ([`LifeCycle::reset`]).
#[derive(Debug)]
pub struct Carried<T> {
    last: Option<T>,
    coming: Option<T>,
}

impl<T> Default for Carried<T> {
    fn default() -> Self {
        Self {
            last: None,
            coming: None,
        }
    }
}

impl<T> Carried<T> {
    /// Returns the state that the last committed frame has left, if any.
    pub fn last(&self) -> Option<&T> {
        self.last.as_ref()
    }

    /// Returns the state that this frame leaves, if it is already recorded.
    pub fn coming(&self) -> Option<&T> {
        self.coming.as_ref()
    }

    /// Leaves `state` for the next frame. A frame that leaves none keeps the previous state.
    pub fn leave(&mut self, state: T) {
        self.coming = Some(state);
    }
}

impl<T> LifeCycle for Carried<T> {
    fn begin(&mut self) {
        self.coming = None;
    }

    fn commit(&mut self) {
        if let Some(state) = self.coming.take() {
            self.last = Some(state);
        }
    }

    fn abort(&mut self) {
        self.coming = None;
    }

    fn reset(&mut self) {
        (self.last, self.coming) = (None, None);
    }

    fn lose(&mut self) {
        self.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_is_dropped_leaves_what_was_before() {
        let mut carried = Carried::default();
        let mut frame = |state: Option<u32>, is_whole: bool| {
            carried.begin();
            let seen = carried.last().copied();
            if let Some(state) = state {
                carried.leave(state);
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
