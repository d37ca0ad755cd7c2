//! Where the volumes of a frame stand, and with which settings.

use super::{volume_grids::VolumeGrids, volume_params::params};
use crate::{frame::Frame, layout::VolumeParams};

/// A volume at a visible node.
#[derive(Debug)]
pub struct VolumePlace<'a> {
    /// The node.
    pub node: usize,
    /// Which of the scene's volumes it is.
    pub volume: usize,
    /// Its grids.
    pub grids: &'a VolumeGrids,
    /// What its passes are told.
    pub settings: VolumeParams,
}

/// The volumes that may be seen, in the order of nodes: none where they are switched off.
pub fn volume_places<'a>(frame: &'a Frame<'_>) -> impl Iterator<Item = VolumePlace<'a>> + 'a {
    let config = &frame.config.volumes;
    let nodes = frame.scene.nodes.iter().zip(&frame.pose.visible);
    let visible = nodes
        .enumerate()
        .filter(|(_, (_, is_visible))| config.enabled && **is_visible);
    visible.filter_map(|(node, (placed, _))| {
        let volume = placed.volume?;
        let grids = frame.buffers.volumes.get(volume)?.as_ref()?;
        let facts = &grids.facts;
        let settings = params(
            config,
            (facts.size, facts.range),
            (facts.has_look, facts.is_hot),
            (frame.pose.world_from_node[node] * facts.volume_from_lattice.as_dmat4()).as_mat4(),
            frame.lights.len(),
        )?;
        Some(VolumePlace {
            node,
            volume,
            grids,
            settings,
        })
    })
}
