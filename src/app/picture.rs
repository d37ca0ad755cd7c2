//! Display state of the picture: its channel, and what is left out of it.

use crate::render::Channel;

/// Display state of the picture.
#[derive(Debug, Default)]
pub(in crate::app) struct PictureState {
    /// The channel that is shown.
    pub(in crate::app) channel: Channel,
    /// True if intersections between meshes are counted even while another channel is shown.
    pub(in crate::app) counts_intersections: bool,
    /// Density of the fog per metre before a key removed it.
    pub(in crate::app) cleared_fog: Option<f32>,
    /// True if the picture is shown without panels.
    pub(in crate::app) presents: bool,
}
