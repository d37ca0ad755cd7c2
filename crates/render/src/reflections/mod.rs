//! Traced reflections of glossy surfaces, if the settings enable them. Reflections of the G-buffer's surfaces
//! are averaged over frames and neighbours. Reflections of the blended surfaces in front of them are not.

pub(super) mod hit_dispatch;
pub mod lobes;
pub mod reflection_ambient;
pub mod reflection_bounces;
pub mod reflection_classify;
pub mod reflection_filter;
pub mod reflection_layers;
pub mod reflection_light;
pub mod reflection_list;
pub mod reflection_lobes;
pub mod reflection_rays;
pub mod reflection_sort;
pub mod reflection_surface;

use super::{
    bindings::Layouts,
    frame::{life_cycle::LifeCycle, may_reflect, recording::Recording},
    resources::{
        FogFroxels, GBuffer, ReflectedRadiance, ReflectionStart, UNUSED, VisibleSurfaces, try_create,
    },
    shadows::Shadows,
    stats::{FrameStats, ReflectionCounts},
    world::World,
};
use crate::settings::Settings;
use canopy_bvh::{
    Result,
    gpu::{Gpu, GpuImage},
};
use canopy_scene::{Pose, Scene};
use lobes::LobesPass;
use reflection_bounces::{BounceResources, Bounces};
use reflection_filter::ReflectionFilter;
use reflection_list::MEAN_FORMAT;
use wgpu::TextureUsages as Usage;

/// Reflection passes and their outputs.
#[derive(Debug)]
pub struct Reflections {
    lobes: LobesPass,
    bounces: Bounces,
    filter: ReflectionFilter,
    output: ReflectedRadiance,
    /// Reflections of the front-most blended surfaces.
    blended: ReflectedRadiance,
    /// Image that is bound instead of the means and the rays if they are not used.
    unused: GpuImage,
}

impl Reflections {
    /// Creates the passes without compiling their pipelines.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let usage = Usage::STORAGE_BINDING;
        Ok(Self {
            lobes: LobesPass::new(gpu, layouts),
            bounces: Bounces::new(gpu, layouts)?,
            filter: ReflectionFilter::new(gpu, layouts)?,
            output: ReflectedRadiance::new(gpu, None)?,
            blended: ReflectedRadiance::new(gpu, None)?,
            unused: GpuImage::new(gpu, "reflection.unused", UNUSED, MEAN_FORMAT, usage),
        })
    }

    /// Traces the reflections of the surfaces in `seen` and averages them, as far as the settings enable it.
    /// `shadows` traces the visibility of lights at the hits.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        seen: VisibleSurfaces<'_>,
        fog: FogFroxels<'_>,
        shadows: &mut Shadows,
    ) -> Result<&ReflectedRadiance> {
        let World { frame, geometry, .. } = world;
        let VisibleSurfaces { gbuffer, history, .. } = seen;
        let gpu = recording.gpu;
        let size = frame.traces_reflections.then_some(frame.size);
        if self.output.size() != size {
            self.output = try_create(gpu, frame.size, || ReflectedRadiance::new(gpu, size))??;
        }
        self.bounces.fit(recording, frame, geometry.buffers)?;
        let settings = &frame.config.reflections;
        if size.is_none() {
            self.filter.fit(gpu, UNUSED, false, 0)?;
            self.lobes.reset(gpu, ReflectionStart::Solid)?;
            shadows.free_hits(gpu)?;
            return Ok(&self.output);
        }
        let averaged = if settings.averages() { frame.size } else { UNUSED };
        let [mean, sent] = self.filter.fit(gpu, averaged, settings.filter, history.index)?;
        // Samples of an accumulated picture do not reuse their neighbours' rays.
        let sent = match frame.accumulates() {
            true => &self.unused,
            false => sent,
        };
        let start = ReflectionStart::Solid;
        let lobes = self.lobes.record(recording, world, gbuffer, start)?;
        let traced = BounceResources {
            start,
            gbuffer,
            lobes,
            reflected: &self.output,
            mean,
            sent,
            fog,
        };
        self.bounces.record(recording, world, shadows, traced)?;
        if settings.averages() {
            let (list, output) = (self.bounces.list(), &self.output);
            self.filter.record(recording, frame, seen, lobes, list, output)?;
        }
        Ok(&self.output)
    }

    /// Traces the reflections of the front-most blended surfaces if `gbuffer` contains any, from this frame's
    /// rays only. Call [`Reflections::record`] first.
    pub fn record_blended(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: Option<&GBuffer>,
        fog: FogFroxels<'_>,
        shadows: &mut Shadows,
    ) -> Result<&ReflectedRadiance> {
        let World { frame, .. } = world;
        let gpu = recording.gpu;
        let start = ReflectionStart::Blended;
        let size = gbuffer.map(GBuffer::size);
        if self.blended.size() != size {
            self.blended = try_create(gpu, frame.size, || ReflectedRadiance::new(gpu, size))??;
        }
        let Some(gbuffer) = gbuffer else {
            self.lobes.reset(gpu, start)?;
            return Ok(&self.blended);
        };
        let lobes = self.lobes.record(recording, world, gbuffer, start)?;
        let traced = BounceResources {
            start,
            gbuffer,
            lobes,
            reflected: &self.blended,
            mean: &self.unused,
            sent: &self.unused,
            fog,
        };
        self.bounces.record(recording, world, shadows, traced)?;
        Ok(&self.blended)
    }

    /// Returns the number of frames until the averages of a still picture converge, or 1 without averaging.
    pub fn frames_to_converge((scene, pose): (&Scene, &Pose), config: &Settings) -> u32 {
        let settings = &config.reflections;
        match settings.sends_rays() && may_reflect(scene, pose, config, |_| true) {
            true => settings.history,
            false => 1,
        }
    }

    /// Returns the reflections of the last frame.
    pub fn output(&self) -> &ReflectedRadiance {
        &self.output
    }
}

impl LifeCycle for Reflections {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.filter]
    }

    fn report(&mut self, stats: &mut FrameStats) {
        let counts = self.bounces.collect();
        stats.reflections = self.output.size().map_or(ReflectionCounts::default(), |_| counts);
    }
}
