//! The vertices of the last frame, where the next one needs them.

use super::tree_policy::TreePlan;
use crate::frame::{Frame, recording::Recording};
use canopy_bvh::{Result, gpu::Array};

/// A copy of the merged positions, made when they are about to change. It takes 12 bytes a vertex, 24 on software
/// adapters, from the first frame on that asks for it.
#[derive(Debug, Default)]
pub(crate) struct LastPositions {
    array: Option<Array>,
    /// Whether the merged positions are those of a frame that was recorded whole.
    is_drawn: bool,
}

impl LastPositions {
    /// Keeps the positions of the last frame, before `deform` writes those of this one, where the frame asks for
    /// its motion, and returns them where they differ from this one's.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] where the adapter has no memory left.
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
        // The ground's too, which stays where it is.
        recording
            .scope
            .copy_buffer_to_buffer(positions.buffer(), 0, array.buffer(), 0, None);
        array.publish(&mut recording.scope, 0..array.len());
        self.array = Some(array);
        Ok(self.array.as_ref())
    }

    /// The frame has been recorded whole.
    pub(crate) fn commit(&mut self) {
        self.is_drawn = true;
    }

    /// The last frame may have run in part.
    pub(crate) fn forget(&mut self) {
        self.is_drawn = false;
    }
}
