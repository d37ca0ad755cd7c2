//! Vertex positions of the last frame, for motion vectors.

use super::tree_policy::TreePlan;
use crate::frame::{Frame, recording::Recording};
use canopy_bvh::{Result, gpu::Array};

/// Copy of the merged positions, made before they change. From the first frame that needs it, it takes 12
/// bytes per vertex, or 24 on software adapters.
#[derive(Debug, Default)]
pub(crate) struct LastPositions {
    array: Option<Array>,
    /// True if the merged positions belong to a committed frame.
    is_drawn: bool,
}

impl LastPositions {
    /// Copies the positions of the last frame before `deform` overwrites them, if the frame needs motion.
    /// Returns them if they differ from this frame's.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub(crate) fn keep(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        plan: &TreePlan,
    ) -> Result<Option<&Array>> {
        let (gpu, positions) = (recording.gpu, &frame.buffers.positions);
        let moves = plan.changed.contains(&true);
        if !(self.is_drawn && moves && frame.motion) {
            return Ok(None);
        }
        let array = match self.array.take() {
            Some(array) => array,
            None => gpu.catch(|| Array::new(gpu, "deform.last_positions", 1, positions.len()))??,
        };
        // This includes the ground's vertices, which do not move.
        recording
            .scope
            .copy_buffer_to_buffer(positions.buffer(), 0, array.buffer(), 0, None);
        array.publish(&mut recording.scope, 0..array.len());
        self.array = Some(array);
        Ok(self.array.as_ref())
    }

    /// Commits a frame that has been recorded completely.
    pub(crate) fn commit(&mut self) {
        self.is_drawn = true;
    }

    /// Invalidates the positions, because the last frame may have run only in part.
    pub(crate) fn reset(&mut self) {
        self.is_drawn = false;
    }
}
