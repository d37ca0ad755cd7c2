//! `bounced_paths`: light that arrives along one occlusion ray of each pixel of a still picture, by path tracing.

use crate::{
    bindings::Layouts,
    frame::recording::Recording,
    layout::PathParams,
    paths::path_table::{PATH_PARTS, PathTable, path_parts},
    resources::{GBuffer, NOISY_FORMAT, NoisyOcclusion, POSITIONS, WORDS},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel, Uniform, Variants,
        pass::Binding::{StoreArray, Uint, Uniform as OfUniform},
    },
};

/// Label of the pass in frame timings.
const LABEL: &str = "bounced_paths";

/// Pipelines of the pass.
#[derive(Debug)]
pub struct BouncedPaths {
    kernels: Variants<{ PATH_PARTS.len() }>,
    params: Uniform<PathParams>,
}

impl BouncedPaths {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let shared = [(0, &layouts.frame), (1, &layouts.tree), (2, &layouts.scene)];
        let noisy = StoreArray(NOISY_FORMAT);
        let own = [
            OfUniform,
            OfUniform,
            PathTable::BINDING,
            Uint,
            POSITIONS,
            WORDS,
            WORDS,
            noisy,
        ];
        Self {
            kernels: Variants::new(PATH_PARTS, |constants| {
                Kernel::with_constants(gpu, "gi/bounced_paths.wgsl", LABEL, &shared, &own, constants)
            }),
            params: Uniform::new(gpu, "bounced_paths.params"),
        }
    }

    /// Writes the radiance that arrives from each hit in `found` to `output`.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        table: &PathTable,
        gbuffer: &GBuffer,
        found: NoisyOcclusion<'_>,
        output: &GpuImage,
    ) -> Result<()> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let params = PathParams {
            sure_bounces: 1,
            ..table.params(frame, frame.sample_index)
        };
        self.params.write(recording.gpu, &params);
        let nodes = trees.rays(recording)?;
        // A pixel casts several rays for each surface along a path.
        let most = recording.budget.pixels() / (2 * params.bounces.max(1));
        recording.dispatch_pixels(
            LABEL,
            self.kernels.get(path_parts(&frame.config, geometry.buffers)),
            &[(0, &frame.group), (1, nodes), (2, geometry.group)],
            &[
                &self.params,
                &table.buffer,
                found.hits,
                &gbuffer.position,
                &gbuffer.normal,
                &gbuffer.ids,
                output,
            ],
            frame.size,
            most,
        )
    }
}
