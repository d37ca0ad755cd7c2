//! State of the ray that a click traces through the BVHs: its query, its readback, and its drawing.

use crate::{
    app::{inspect::clicks::Click, schedule::PictureKey, trees::figures::has_trees_of},
    render::{RayKind, RayPathCopy},
};

/// The ray that was traced last.
#[derive(Debug, Default)]
pub(in crate::app) struct TracedRay {
    /// The last click. It is traced again if another kind of ray is chosen.
    pub(in crate::app) click: Option<Click>,
    /// True if the query has not been submitted to the GPU yet.
    pub(in crate::app) is_asked: bool,
    /// Pending readback.
    pub(in crate::app) copy: Option<RayPathCopy>,
    /// Picture and ray kind of the readback.
    pub(in crate::app) of: Option<(PictureKey, RayKind)>,
    /// Picture and step that the path was drawn for.
    pub(in crate::app) drawn: Option<(PictureKey, usize)>,
}

impl TracedRay {
    /// Drops everything on the lost device.
    pub(in crate::app) fn reset(&mut self) {
        *self = Self::default();
    }

    /// True if the path was traced through the BVHs of `picture` with rays of kind `rays`. For shadow rays,
    /// the lights must be the same too.
    pub(in crate::app) fn is_of(&self, picture: &PictureKey, rays: RayKind) -> bool {
        self.of.as_ref().is_some_and(|(of, traced)| {
            let (a, b) = (&of.config, &picture.config);
            let is_lit_alike = || {
                let lights = (&a.shadows, &a.sun, &a.lights);
                lights == (&b.shadows, &b.sun, &b.lights)
            };
            *traced == rays && has_trees_of(of, picture) && (rays == RayKind::Camera || is_lit_alike())
        })
    }
}
