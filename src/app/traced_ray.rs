//! The ray that a click traces through the trees: asked, on its way back, and drawn step by step.

use super::{clicks::Click, schedule::PictureKey, tree_figures::has_trees_of};
use crate::render::{PathOf, RayPathCopy};

/// The ray that was traced last.
#[derive(Debug, Default)]
pub(super) struct TracedRay {
    /// The last click, which asks anew for another kind of ray.
    pub(super) click: Option<Click>,
    /// Whether the GPU does not know of it yet.
    pub(super) is_asked: bool,
    /// What was asked of the GPU.
    pub(super) copy: Option<RayPathCopy>,
    /// Of which picture that is, and which rays.
    pub(super) of: Option<(PictureKey, PathOf)>,
    /// The picture, and the step, that the path was drawn for.
    pub(super) drawn: Option<(PictureKey, usize)>,
}

impl TracedRay {
    /// Forgets all that was on the device, which is lost.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Whether the path is one through the trees of `picture`, of these rays.
    pub(super) fn is_of(&self, picture: &PictureKey, rays: PathOf) -> bool {
        self.of.as_ref().is_some_and(|(of, traced)| {
            let (a, b) = (&of.config, &picture.config);
            let is_lit_alike = || {
                let lights = (&a.shadows, &a.sun, &a.lights);
                lights == (&b.shadows, &b.sun, &b.lights)
            };
            *traced == rays
                && has_trees_of(of, picture)
                && (rays == PathOf::Camera || is_lit_alike())
        })
    }
}
