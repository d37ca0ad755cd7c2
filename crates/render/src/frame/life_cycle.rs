//! Life cycle of what passes keep from frame to frame.

use crate::stats::FrameStats;

/// Steps around a frame. The renderer takes them for all of its passes in a loop; a pass that keeps nothing between frames
/// leaves them as they are.
pub trait LifeCycle {
    /// Parts that have a life cycle of their own, which takes the same steps.
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        Vec::new()
    }

    /// Begins a frame, before anything of it is recorded.
    fn begin(&mut self) {
        self.parts().into_iter().for_each(LifeCycle::begin);
    }

    /// The frame has been recorded whole: the next one goes on from it.
    fn commit(&mut self) {
        self.parts().into_iter().for_each(LifeCycle::commit);
    }

    /// Undoes what was recorded since [`LifeCycle::begin`]: it is dropped before a commit, and nothing of it runs. The next
    /// frame goes on from the one before.
    fn abort(&mut self) {
        self.parts().into_iter().for_each(LifeCycle::abort);
    }

    /// Writes what is known of the last frame into `stats`, after its commit and whenever counts may have come back: never
    /// waits for them.
    fn report(&mut self, stats: &mut FrameStats) {
        for part in self.parts() {
            part.report(stats);
        }
    }

    /// The next frame has no history, as the first one of a renderer.
    fn forget(&mut self) {
        self.parts().into_iter().for_each(LifeCycle::forget);
    }

    /// The last frame may have run in part, after its commit: buffers and images need not hold what it recorded.
    fn lose(&mut self) {
        self.parts().into_iter().for_each(LifeCycle::lose);
    }
}

/// State that a frame takes from the last one and leaves for the next. What describes images is forgotten when they are
/// made anew ([`LifeCycle::forget`]).
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
    /// State that the last whole frame has left, if any has.
    pub fn last(&self) -> Option<&T> {
        self.last.as_ref()
    }

    /// State that this frame leaves, as far as it is recorded.
    pub fn coming(&self) -> Option<&T> {
        self.coming.as_ref()
    }

    /// Leaves `state` for the next frame. A frame that leaves none keeps the last one.
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

    fn forget(&mut self) {
        (self.last, self.coming) = (None, None);
    }

    fn lose(&mut self) {
        self.forget();
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
        carried.forget();
        assert_eq!(carried.last(), None);
    }
}
