//! The ray that a click traces through the trees: asked, on its way back, and drawn step by step.

use crate::{
    app::{inspect::clicks::Click, schedule::PictureKey, trees::figures::has_trees_of},
    render::{PathOf, RayPathCopy},
};

/// The ray that was traced last.
#[derive(Debug, Default)]
pub(in crate::app) struct TracedRay {
    /// The last click, which asks anew for another kind of ray.
    pub(in crate::app) click: Option<Click>,
    /// Whether the GPU does not know of it yet.
    pub(in crate::app) is_asked: bool,
    /// What was asked of the GPU.
    pub(in crate::app) copy: Option<RayPathCopy>,
    /// Of which picture that is, and which rays.
    pub(in crate::app) of: Option<(PictureKey, PathOf)>,
    /// The picture, and the step, that the path was drawn for.
    pub(in crate::app) drawn: Option<(PictureKey, usize)>,
}

impl TracedRay {
    /// Forgets all that was on the device, which is lost.
    pub(in crate::app) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Whether the path is one through the trees of `picture`, of these rays.
    pub(in crate::app) fn is_of(&self, picture: &PictureKey, rays: PathOf) -> bool {
        self.of.as_ref().is_some_and(|(of, traced)| {
            let (a, b) = (&of.config, &picture.config);
            let is_lit_alike = || {
                let lights = (&a.shadows, &a.sun, &a.lights);
                lights == (&b.shadows, &b.sun, &b.lights)
            };
            *traced == rays && has_trees_of(of, picture) && (rays == PathOf::Camera || is_lit_alike())
        })
    }
}
