//! Life cycle of what passes keep from frame to frame.

/// Steps around a frame of a pass that keeps anything. The renderer takes them for all of its passes in a loop.
pub trait LifeCycle {
    /// Begins a frame, before anything of it is recorded. Until [`LifeCycle::commit`] the next one has nothing to go on
    /// from.
    fn begin(&mut self) {}

    /// The frame has been recorded whole.
    fn commit(&mut self) {}

    /// Undoes what was recorded, because it is not going to be submitted whole: its counts never come back.
    fn abort(&mut self) {}
}
