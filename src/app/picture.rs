//! State of the picture: which channel it shows, and what is left out of it.

use crate::render::Channel;

/// The picture as it is shown.
#[derive(Debug, Default)]
pub(in crate::app) struct PictureState {
    /// The channel that is shown.
    pub(in crate::app) channel: Channel,
    /// Whether what passes through other meshes is counted while another channel is shown.
    pub(in crate::app) counts_intersections: bool,
    /// Density of the fog before it was cleared away by a key.
    pub(in crate::app) cleared_fog: Option<f32>,
    /// Whether the picture is shown alone.
    pub(in crate::app) presents: bool,
}
