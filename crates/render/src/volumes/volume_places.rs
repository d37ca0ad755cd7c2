//! Placement and settings of the volumes of a frame.

use super::{volume_grids::VolumeGrids, volume_params::params};
use crate::{frame::Frame, layout::VolumeParams};

/// Volume at a visible node.
#[derive(Debug)]
pub struct VolumePlace<'a> {
    /// Index of the node.
    pub node: usize,
    /// Index of the volume in the scene.
    pub volume: usize,
    /// Grids of the volume.
    pub grids: &'a VolumeGrids,
    /// Parameters for the passes.
    pub settings: VolumeParams,
}

/// Returns the visible volumes in the order of nodes, or none if volumes are disabled.
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
            (facts.has_color_temperature, facts.is_hot),
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
