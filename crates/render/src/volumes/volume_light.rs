//! `volume_light`: visibility of the lights from each cell of a coarse grid in a volume, past surfaces and
//! through the volume itself.

use super::volume_grids::{LIGHT_FORMAT, PlacedVolume};
use crate::{
    bindings::Layouts,
    frame::{recording::Recording, slices},
    layout::VolumeParams,
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, Variants, Workgroups,
        pass::Binding::{Filtered3d, Float3d, Read, Sampler, Store3d, Uniform},
    },
};

/// Label of the pass in frame timings.
pub const LABEL: &str = "volume_light";
/// Number of rays that a cell of the first slab casts: in eight directions and to three lights.
const RAYS: u32 = 11;

/// Pipeline of the pass.
#[derive(Debug)]
pub struct VolumeLight {
    kernels: Variants<1>,
}

impl VolumeLight {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let out = Store3d(LIGHT_FORMAT);
        let bindings = [Uniform, Read, Filtered3d, Float3d, Sampler, out];
        Self {
            kernels: layouts.ray_kernels(gpu, "volume/volume_light.wgsl", LABEL, &bindings),
        }
    }

    /// Fills the light grid of a volume with these settings.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        volume: &PlacedVolume<'_>,
        params: &VolumeParams,
    ) -> Result<()> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let [columns, rows, slices] = params.cells;
        let slices = slices * slabs(params.lights);
        let nodes = trees.rays(recording)?;
        // Each dispatch covers as many slices of the grid as the adapter traces in the time budget of a part.
        let most = recording.budget.batch_rays / RAYS;
        for [first, count] in slices::slices([columns * rows, slices], most) {
            let first = recording.row_offset(first);
            let own: [&dyn Bind; 6] = [
                &first,
                volume.params,
                &volume.grids.density,
                volume.majorants,
                volume.sampler,
                volume.light,
            ];
            let groups = [columns, rows, count].map(|cells| cells.div_ceil(4));
            recording.dispatch(
                LABEL,
                self.kernels.get([geometry.buffers.tests_hits(recording.gpu)]),
                &[(0, &frame.group), (1, nodes), (2, geometry.group)],
                &own,
                Workgroups::Grid(groups),
            )?;
        }
        Ok(())
    }
}

/// Returns the number of slabs of a light grid. A slab holds four channels: one channel is for ambient light,
/// and one for each light.
pub fn slabs(lights: u32) -> u32 {
    lights / 4 + 1
}
