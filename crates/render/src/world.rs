//! Bundle of inputs for the passes after the BVH build.

use super::{
    environment::Environment,
    frame::Frame,
    geometry::tree_policy::TreePlan,
    resources::{Geometry, Trees},
};

/// Inputs of every pass after the BVH build.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    /// Settings, lights and uniforms.
    pub frame: &'a Frame<'a>,
    /// Merged vertices and triangles.
    pub geometry: Geometry<'a>,
    /// BVHs over the triangles.
    pub trees: Trees<'a>,
    /// BVH updates of this frame.
    pub plan: &'a TreePlan,
    /// Environment lighting.
    pub environment: &'a Environment,
}

impl<'a> World<'a> {
    /// Bundles the inputs.
    pub fn new(
        frame: &'a Frame<'a>,
        geometry: Geometry<'a>,
        trees: Trees<'a>,
        plan: &'a TreePlan,
        environment: &'a Environment,
    ) -> Self {
        Self {
            frame,
            geometry,
            trees,
            plan,
            environment,
        }
    }

    /// Returns these inputs with another frame, for example the frame of the hits of a bounce.
    pub fn with_frame<'b>(self, frame: &'b Frame<'b>) -> World<'b>
    where
        'a: 'b,
    {
        World { frame, ..self }
    }
}
