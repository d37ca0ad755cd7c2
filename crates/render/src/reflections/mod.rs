//! What glossy surfaces reflect, by rays where the settings enable them: what the G-buffer shows, averaged
//! over frames and neighbours, and the blended surfaces in front of it.

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
    edges::{Air, GBuffer, Reflected, ReflectionStart, Seen, UNUSED, fitted},
    frame::{life_cycle::LifeCycle, may_reflect, recording::Recording},
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
use reflection_bounces::{Bounces, Traced};
use reflection_filter::ReflectionFilter;
use reflection_list::MEAN_FORMAT;
use wgpu::TextureUsages as Usage;

/// The passes, with what they hand each other.
#[derive(Debug)]
pub struct Reflections {
    lobes: LobesPass,
    bounces: Bounces,
    filter: ReflectionFilter,
    output: Reflected,
    /// What blended surfaces reflect.
    blended: Reflected,
    /// What stands for the means and the rays where nothing is averaged.
    unused: GpuImage,
}

impl Reflections {
    /// Ready to be compiled.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] where the adapter has no memory left.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let usage = Usage::STORAGE_BINDING;
        Ok(Self {
            lobes: LobesPass::new(gpu, layouts),
            bounces: Bounces::new(gpu, layouts)?,
            filter: ReflectionFilter::new(gpu, layouts)?,
            output: Reflected::new(gpu, None)?,
            blended: Reflected::new(gpu, None)?,
            unused: GpuImage::new(gpu, "reflection.unused", UNUSED, MEAN_FORMAT, usage),
        })
    }

    /// Traces what each pixel of `gbuffer` reflects, where the settings enable it. `shadows` finds which
    /// lights the hits see.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        seen: Seen<'_>,
        air: Air<'_>,
        shadows: &mut Shadows,
    ) -> Result<&Reflected> {
        let World { frame, geometry, .. } = world;
        let Seen { gbuffer, history, .. } = seen;
        let gpu = recording.gpu;
        let size = frame.traces_reflections.then_some(frame.size);
        if self.output.size() != size {
            self.output = fitted(gpu, frame.size, || Reflected::new(gpu, size))??;
        }
        self.bounces.fit(recording, frame, geometry.buffers)?;
        let settings = &frame.config.reflections;
        if size.is_none() {
            self.filter.fit(gpu, UNUSED, false, 0)?;
            self.lobes.forget(gpu, ReflectionStart::Solid)?;
            shadows.forget_hits(gpu)?;
            return Ok(&self.output);
        }
        let averaged = if settings.averages() { frame.size } else { UNUSED };
        let [mean, sent] = self.filter.fit(gpu, averaged, settings.filter, history.index)?;
        // The samples of a picture do without their neighbours' rays.
        let sent = match frame.accumulates() {
            true => &self.unused,
            false => sent,
        };
        let start = ReflectionStart::Solid;
        let lobes = self.lobes.record(recording, world, gbuffer, start)?;
        let traced = Traced {
            start,
            gbuffer,
            lobes,
            reflected: &self.output,
            mean,
            sent,
            air,
        };
        self.bounces.record(recording, world, shadows, traced)?;
        if settings.averages() {
            let (list, output) = (self.bounces.list(), &self.output);
            self.filter.record(recording, frame, seen, lobes, list, output)?;
        }
        Ok(&self.output)
    }

    /// Traces what the front-most blended surfaces reflect, where `gbuffer` shows any: by this frame's rays
    /// alone. [`Reflections::record`] comes first.
    pub fn record_blended(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: Option<&GBuffer>,
        air: Air<'_>,
        shadows: &mut Shadows,
    ) -> Result<&Reflected> {
        let World { frame, .. } = world;
        let gpu = recording.gpu;
        let start = ReflectionStart::Blended;
        let size = gbuffer.map(GBuffer::size);
        if self.blended.size() != size {
            self.blended = fitted(gpu, frame.size, || Reflected::new(gpu, size))??;
        }
        let Some(gbuffer) = gbuffer else {
            self.lobes.forget(gpu, start)?;
            return Ok(&self.blended);
        };
        let lobes = self.lobes.record(recording, world, gbuffer, start)?;
        let traced = Traced {
            start,
            gbuffer,
            lobes,
            reflected: &self.blended,
            mean: &self.unused,
            sent: &self.unused,
            air,
        };
        self.bounces.record(recording, world, shadows, traced)?;
        Ok(&self.blended)
    }

    /// Frames of a picture that rests, until what this pass averages over them is complete; 1 where it averages nothing.
    pub fn frames_to_converge((scene, pose): (&Scene, &Pose), config: &Settings) -> u32 {
        let settings = &config.reflections;
        match settings.sends_rays() && may_reflect(scene, pose, config, |_| true) {
            true => settings.history,
            false => 1,
        }
    }

    /// What the last frame reflects.
    pub fn output(&self) -> &Reflected {
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
