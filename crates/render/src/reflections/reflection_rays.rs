//! `reflection_rays`: traces reflection rays through the BVHs.

use super::reflection_list::{Bounce, SENT_FORMAT};
use crate::{bindings::Layouts, frame::recording::Recording, resources::FogFroxels, world::World};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Variants, Workgroups,
        pass::Binding::{Float, Store, StoreArray, Uint, UintArray, Uniform, Write},
    },
};
use wgpu::TextureFormat as Format;

/// Label of the pass in frame timings.
pub const LABEL: &str = "reflection_rays";

/// Pipeline of the pass.
#[derive(Debug)]
pub struct ReflectionRays {
    kernels: Variants<1>,
}

impl ReflectionRays {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [
            Uniform,
            Uniform,
            Uint,
            Float,
            Uint,
            Uint,
            Uint,
            Uint,
            Uint,
            UintArray,
            Write,
            Store(Format::R32Uint),
            StoreArray(Format::Rgba32Uint),
            Store(SENT_FORMAT),
        ];
        let bindings = [&bindings[..], &FogFroxels::BINDINGS].concat();
        Self {
            kernels: layouts.ray_kernels(gpu, "reflections/reflection_rays.wgsl", LABEL, &bindings),
        }
    }

    /// Traces the rays of the bounce's list into its `hits`. Rays that hit nothing add the environment to
    /// `reflected`. At the first bounce, `sent` receives the rays that neighbours may reuse.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        bounce: Bounce<'_>,
        sent: &GpuImage,
        fog: FogFroxels<'_>,
    ) -> Result<()> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let Bounce {
            gbuffer,
            lobes,
            list,
            hits,
            ..
        } = bounce;
        let shared = [
            (0, &frame.group),
            (1, trees.rays(recording)?),
            (2, geometry.group),
        ];
        let kernel = self.kernels.get([geometry.buffers.tests_hits(recording.gpu)]);
        let params = list.params(bounce.start, bounce.number);
        for (batch, offset) in list.batches() {
            let own: &[&dyn Bind] = &[
                &params,
                &batch,
                &list.entries,
                &gbuffer.position,
                &gbuffer.normal,
                &gbuffer.albedo,
                &gbuffer.ids,
                &lobes.layers,
                &lobes.glass,
                bounce.found,
                &bounce.reflected.words,
                &hits.gbuffer.ids,
                &hits.found,
                sent,
                fog.params,
                fog.light,
                fog.sampler,
            ];
            let listed = Workgroups::Indirect(&list.arguments, offset);
            recording.dispatch(LABEL, kernel, &shared, own, listed)?;
        }
        Ok(())
    }
}
