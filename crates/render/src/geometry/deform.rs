//! `deform`: applies skins and morph targets into the merged world-space buffers.

use super::tree_policy::TreePlan;
use crate::{
    frame::{Frame, life_cycle::LifeCycle, recording::Recording},
    resources::Geometry,
    stats::TreeWork,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, Kernel, Workgroups,
        pass::Binding::{Read, Write},
    },
};

/// Deformation pass. It writes into buffers that the scene owns.
#[derive(Debug)]
pub struct Deform {
    kernel: Kernel,
}

impl LifeCycle for Deform {}

impl Deform {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu) -> Self {
        let bindings = [Read, Read, Read, Read, Read, Read, Write, Write];
        Self {
            kernel: Kernel::new(gpu, "frame/deform.wgsl", "deform", &[], &bindings),
        }
    }

    /// Deforms every vertex by the written pose, if anything has moved.
    pub fn record<'a>(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'a>,
        plan: &TreePlan,
    ) -> Result<Geometry<'a>> {
        let buffers = frame.buffers;
        let bind_pose = &buffers.bind_pose;
        if plan.work != TreeWork::None {
            recording.dispatch(
                "deform",
                &self.kernel,
                &[],
                &[
                    &bind_pose.parts,
                    &bind_pose.part_of_vertex,
                    &bind_pose.sources,
                    &bind_pose.influences,
                    &bind_pose.deltas,
                    &bind_pose.pose,
                    buffers.positions.buffer(),
                    buffers.frames.buffer(),
                ],
                Workgroups::Count(buffers.vertex_count.div_ceil(256)),
            )?;
            for array in [&buffers.positions, &buffers.frames, &buffers.indices] {
                array.publish(&mut recording.scope, 0..array.len());
            }
        }
        Ok(Geometry {
            group: &buffers.scene_group,
            buffers,
        })
    }
}
