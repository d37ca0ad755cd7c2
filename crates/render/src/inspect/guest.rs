//! Hook by which another package draws a channel.

use crate::{
    aov::Heat,
    edges::GBuffer,
    frame::{life_cycle::LifeCycle, recording::Recording},
    world::World,
};
use canopy_bvh::{Result, gpu::GpuImage};
use std::{any::Any, fmt::Debug};

/// A pass of another package, whose image the channel `lab` shows. Its settings are its own.
pub trait GuestPass: Any + Debug + LifeCycle + Send {
    /// Records the image of a frame that wants the channel ([`FrameInput::wants`](crate::FrameInput::wants)): four
    /// floats a pixel. Releases what it holds where the frame does not.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](canopy_bvh::Error::Limit) and [`Error::Gpu`](canopy_bvh::Error::Gpu), as for any pass.
    fn record(&mut self, recording: &mut Recording<'_>, world: World<'_>, gbuffer: &GBuffer) -> Result<()>;

    /// Image of the last frame; `None` where it was drawn without.
    fn output(&self) -> Option<&GpuImage>;

    /// Colours of magnitudes in which the image is shown; `None` where it has colours of its own.
    fn heat(&self) -> Option<Heat>;
}
