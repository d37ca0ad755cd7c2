//! Life cycle of what passes keep from frame to frame.

/// What a pass does with that around a frame. The renderer calls it for all passes ([`super::Renderer::passes`]).
pub trait LifeCycle {
    /// Begins a frame, before anything of it is recorded. Until [`LifeCycle::commit`] the next one has nothing to go on
    /// from.
    fn begin(&mut self) {}

    /// The frame has been recorded whole.
    fn commit(&mut self) {}

    /// What was recorded is not going to be submitted whole: it leaves nothing behind, and its counts never come back.
    fn abort(&mut self) {}
}
