//! Hook for a channel that another package draws.

use crate::{
    aov::Heat,
    frame::{life_cycle::LifeCycle, recording::Recording},
    resources::GBuffer,
    world::World,
};
use canopy_bvh::{Result, gpu::GpuImage};
use std::{any::Any, fmt::Debug};

/// Pass of another package whose image the channel `lab` shows. Its settings belong to that package.
pub trait GuestPass: Any + Debug + LifeCycle + Send {
    /// Records the image, with four floats per pixel, if the frame shows the channel
    /// ([`FrameInput::needs_channel`](crate::FrameInput::needs_channel)). Otherwise frees the pass's
    /// resources.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](canopy_bvh::Error::Limit) and [`Error::Gpu`](canopy_bvh::Error::Gpu), like any pass.
    fn record(&mut self, recording: &mut Recording<'_>, world: World<'_>, gbuffer: &GBuffer) -> Result<()>;

    /// Returns the image of the last frame, or `None` if the frame did not show the channel.
    fn output(&self) -> Option<&GpuImage>;

    /// Returns the heat map of the image, or `None` if the image has colours of its own.
    fn heat(&self) -> Option<Heat>;
}
