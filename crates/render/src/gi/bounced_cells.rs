//! `bounced_cells`: light that arrives along one occlusion ray of each pixel, with the help of the world cache.

use crate::{
    bindings::Layouts,
    frame::recording::Recording,
    layout::PathParams,
    paths::path_table::PathTable,
    resources::{GBuffer, NOISY_FORMAT, NoisyOcclusion, POSITIONS, WORDS},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Uniform, Variants,
        pass::Binding::{StoreArray, Uint, Uniform as OfUniform},
    },
};

/// Label of the pass in frame timings.
const LABEL: &str = "bounced_cells";

/// Pipelines of the pass.
#[derive(Debug)]
pub struct BouncedCells {
    kernels: Variants<1>,
    params: Uniform<PathParams>,
}

impl BouncedCells {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [
            OfUniform,
            OfUniform,
            OfUniform,
            PathTable::BINDING,
            Uint,
            Uint,
            POSITIONS,
            WORDS,
            WORDS,
            StoreArray(NOISY_FORMAT),
        ];
        Self {
            kernels: layouts.ray_kernels(gpu, "gi/bounced_cells.wgsl", LABEL, &bindings),
            params: Uniform::new(gpu, "bounced_cells.params"),
        }
    }

    /// Writes the radiance that arrives from each hit in `found` to `output`: light of lights, emission, and
    /// `cell_light`, which the cache knows.
    #[expect(clippy::too_many_arguments, reason = "each is the output of another pass")]
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        table: &PathTable,
        gbuffer: &GBuffer,
        found: NoisyOcclusion<'_>,
        cell_light: &GpuImage,
        output: &GpuImage,
    ) -> Result<()> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let gpu = recording.gpu;
        self.params.write(gpu, &table.params(frame, frame.sample_index));
        let nodes = trees.rays(recording)?;
        recording.dispatch_pixels(
            LABEL,
            self.kernels.get([geometry.buffers.tests_hits(gpu)]),
            &[(0, &frame.group), (1, nodes), (2, geometry.group)],
            &[
                found.params,
                &self.params,
                &table.buffer,
                found.hits,
                cell_light,
                &gbuffer.position,
                &gbuffer.normal,
                &gbuffer.ids,
                output,
            ],
            frame.size,
            recording.budget.occlusion_pixels(1),
        )
    }
}
