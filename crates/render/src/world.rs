//! The bundle that passes behind the trees read.

use super::{
    edges::{Geometry, Trees},
    environment::Environment,
    frame::Frame,
    geometry::tree_policy::TreePlan,
};

/// Inputs of every pass behind the trees.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    /// Settings, lights and uniforms.
    pub frame: &'a Frame<'a>,
    /// The merged vertices and triangles.
    pub geometry: Geometry<'a>,
    /// The trees over them.
    pub trees: Trees<'a>,
    /// Work of the frame on the trees.
    pub plan: &'a TreePlan,
    /// Light from all around.
    pub environment: &'a Environment,
}

impl<'a> World<'a> {
    /// Bundles them.
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

    /// The same as another frame sees it: that of the hits of a bounce.
    pub fn seen_by<'b>(self, frame: &'b Frame<'b>) -> World<'b>
    where
        'a: 'b,
    {
        World { frame, ..self }
    }
}
