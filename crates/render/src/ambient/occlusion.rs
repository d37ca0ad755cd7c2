//! Traced ambient visibility of each pixel and the bounced light of the occluders, if the settings enable
//! them.

use super::{
    bounced_filter::BouncedFilter, bounced_light::BouncedLight, occlusion_filter::OcclusionFilter,
    occlusion_rays::OcclusionRays,
};
use crate::{
    bindings::Layouts,
    frame::{Bounced, life_cycle::LifeCycle, recording::Recording},
    gi::{bounced_cells::BouncedCells, bounced_paths::BouncedPaths, cells::Cells},
    paths::path_table::PathTable,
    resources::{AmbientVisibility, NOISY_FORMAT, UNUSED, VisibleSurfaces, try_create},
    settings::Settings,
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{Gpu, GpuImage},
};

/// Passes and the histories that they keep.
#[derive(Debug)]
pub struct Occlusion {
    rays: OcclusionRays,
    filter: OcclusionFilter,
    bounced: BouncedLight,
    paths: BouncedPaths,
    cells: Cells,
    bounced_cells: BouncedCells,
    /// Radiance that arrives at the pixels in this frame, in two layers.
    radiance: GpuImage,
    bounced_filter: BouncedFilter,
    output: AmbientVisibility,
}

impl Occlusion {
    /// Creates the passes without compiling their pipelines.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        Ok(Self {
            rays: OcclusionRays::new(gpu, layouts),
            filter: OcclusionFilter::new(gpu, layouts)?,
            bounced: BouncedLight::new(gpu, layouts),
            paths: BouncedPaths::new(gpu, layouts),
            cells: Cells::new(gpu, layouts),
            bounced_cells: BouncedCells::new(gpu, layouts),
            radiance: noisy_radiance(gpu, UNUSED),
            bounced_filter: BouncedFilter::new(gpu, layouts)?,
            output: AmbientVisibility::new(gpu, None)?,
        })
    }

    /// Traces rays into the hemisphere of each pixel and denoises the ambient visibility. Also lights the
    /// hits and denoises the bounced light. The output stays empty if the settings disable occlusion.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        seen: VisibleSurfaces<'_>,
        table: &PathTable,
    ) -> Result<&AmbientVisibility> {
        let World { frame, .. } = world;
        let VisibleSurfaces { gbuffer, history, .. } = seen;
        let gpu = recording.gpu;
        if frame.bounced != Bounced::Cells {
            self.cells.skip();
        }
        let traced = frame.samples_occlusion;
        let size = traced.then_some(frame.size);
        if self.output.size() != size {
            self.output = try_create(gpu, frame.size, || AmbientVisibility::new(gpu, size))??;
        }
        if !traced {
            return Ok(&self.output);
        }
        // Samples with all bounces have no history.
        let index = match frame.bounced {
            Bounced::Paths => frame.sample_index,
            _ => history.index,
        };
        let found = self.rays.record(recording, world, gbuffer, index)?;
        let output = &self.output;
        self.filter
            .record(recording, world, gbuffer, history, found.signal, output)?;
        if frame.bounced != Bounced::Off {
            if self.radiance.size() != frame.size {
                self.radiance = try_create(gpu, frame.size, || noisy_radiance(gpu, frame.size))?;
            }
            let bounced = &self.radiance;
            match frame.bounced {
                Bounced::Paths => {
                    let paths = &self.paths;
                    paths.record(recording, world, table, gbuffer, found, bounced)?;
                }
                Bounced::Cells => {
                    let light = (self.cells).record(recording, world, table, gbuffer, history, found)?;
                    let cells = &self.bounced_cells;
                    cells.record(recording, world, table, gbuffer, found, light, bounced)?;
                }
                _ => self.bounced.record(recording, world, found, bounced)?,
            }
            self.bounced_filter
                .record(recording, world, history, bounced, output)?;
        }
        Ok(output)
    }

    /// Returns the number of frames until the averages of a still picture converge, or 1 without averaging.
    pub fn frames_to_converge(config: &Settings) -> u32 {
        match config.occlusion.sends_rays() {
            true => config.occlusion.history,
            false => 1,
        }
    }

    /// Returns the world cache.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Returns the ambient visibility of the last frame.
    pub fn output(&self) -> &AmbientVisibility {
        &self.output
    }
}

fn noisy_radiance(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING;
    GpuImage::with_layers(gpu, "bounced.noisy", size, 2, NOISY_FORMAT, usage)
}

impl LifeCycle for Occlusion {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.filter, &mut self.cells, &mut self.bounced_filter]
    }
}
