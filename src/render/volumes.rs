//! The volumes of a frame: where they stand, how light gets into them, and in which order they are seen. A
//! frame without any pays nothing.

use super::{
    aov::Channel,
    bindings::Layouts,
    edges::{Air, GBuffer, Geometry, Radiance, Trees, Visibility, VolumeLayers},
    frame::{Frame, FrameInput},
    recording::Recording,
    scene_buffers::SceneBuffers,
    tree_policy::{TreePlan, TreeWork},
    volume_compose::VolumeCompose,
    volume_grids::{LIGHT_FORMAT, PlacedVolume, VolumeGrids, sampler, texture_3d},
    volume_light::{VolumeLight, slabs},
    volume_march::VolumeMarch,
    volume_params::distance,
    volume_places::{VolumePlace, volume_places},
    volume_shadow::VolumeShadow,
};
use crate::{
    Result,
    config::ShadowMode,
    gpu::{
        Gpu, GpuImage, Needs,
        layout::{Light, VolumeParams},
    },
};
use wgpu::{BufferUsages as Buffer, TextureUsages as Usage};

/// Most slices of a light grid, in all of its slabs.
pub const SLICES: u32 = 1024;
/// Most volumes, the nearest ones, that are seen in front of what is drawn over the picture.
pub const LAYERS: usize = 8;

/// What is kept of the volumes of a frame for later passes.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// What all of them do: [`Volumes::total`].
    pub total: bool,
    /// What each does, for things that are drawn over the picture.
    pub layers: bool,
}

/// The passes, with what they keep of each volume.
#[derive(Debug)]
pub struct Volumes {
    light: VolumeLight,
    shadow: VolumeShadow,
    march: VolumeMarch,
    compose: VolumeCompose,
    sampler: wgpu::Sampler,
    /// Those of the last frame, in the order of nodes.
    instances: Vec<Instance>,
    /// Which buffers they are of.
    version: Option<u64>,
    /// The instances that are seen, the farthest first.
    order: Vec<usize>,
    /// Whether it is kept what all of them do.
    has_total: bool,
}

/// A volume at a node.
#[derive(Debug)]
struct Instance {
    node: usize,
    volume: usize,
    settings: VolumeParams,
    params: wgpu::Buffer,
    skip: wgpu::TextureView,
    light: wgpu::TextureView,
    /// What the light grid was filled for, once that was submitted.
    lit: Option<Lit>,
    /// What this frame fills it for.
    lights: Option<Lit>,
}

/// What light grids depend on, beside the trees.
#[derive(Debug, Clone, PartialEq)]
struct Lit {
    settings: VolumeParams,
    lights: Vec<Light>,
    shadows: ShadowMode,
}

impl Volumes {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        Self {
            light: VolumeLight::new(gpu, layouts),
            shadow: VolumeShadow::new(gpu, layouts),
            march: VolumeMarch::new(gpu, layouts),
            compose: VolumeCompose::new(gpu),
            sampler: sampler(gpu),
            instances: Vec::new(),
            version: None,
            order: Vec::new(),
            has_total: false,
        }
    }

    /// What frames of `input` compile.
    pub fn needs(&self, input: &FrameInput<'_>, buffers: &SceneBuffers, needs: &mut Needs) {
        if !is_on(input, buffers) {
            return;
        }
        self.march.needs(needs);
        self.compose.needs(wants_total(input), needs);
        if input.config.volumes.shadows {
            self.light.needs(needs);
            if input.config.shadows.mode != ShadowMode::Off {
                self.shadow.needs(needs);
            }
        }
    }

    /// Before a frame is recorded: until then it has no volumes.
    pub fn begin(&mut self) {
        self.order.clear();
        self.has_total = false;
    }

    /// Finds the volumes of a frame, and dims the light that surfaces see by them.
    pub fn shade(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        gbuffer: &GBuffer,
        visibility: &Visibility,
    ) -> Result<()> {
        self.place(recording.gpu, frame)?;
        if !frame.config.volumes.shadows || visibility.is_empty() {
            return Ok(());
        }
        for index in &self.order {
            if let Some(placed) = self.placed(*index, frame.buffers) {
                self.shadow
                    .record(recording, frame, gbuffer, &placed, visibility)?;
            }
        }
        Ok(())
    }

    /// Lays the volumes of a frame over `radiance`, the farthest first, and over each other where that is
    /// wanted.
    #[expect(clippy::too_many_arguments, reason = "they are the edges of the frame")]
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        trees: Trees<'_>,
        gbuffer: &GBuffer,
        plan: &TreePlan,
        air: Air<'_>,
        radiance: &Radiance,
        kept: Kept,
    ) -> Result<VolumeLayers<'_>> {
        self.has_total = kept.total && !self.order.is_empty();
        let total_size = self.has_total.then_some(frame.size);
        self.compose.fit_total(recording.gpu, total_size)?;
        let count = self.order.len();
        let layers = kept.layers.then_some(count.min(LAYERS) as u32);
        let (size, layers) = match count {
            0 => ([1, 1], None),
            _ => (frame.size, layers),
        };
        self.march.fit(recording.gpu, size, layers)?;
        if count == 0 {
            return Ok(self.march.output());
        }
        if frame.config.volumes.shadows {
            self.fill(recording, frame, geometry, trees, plan)?;
        }
        for (place, index) in self.order.iter().enumerate() {
            let instance = &self.instances[*index];
            let Some(grids) = grids(frame.buffers, instance.volume) else {
                continue;
            };
            let placed = instance.placed(grids, &self.sampler);
            // Those past the nearest ones are in the first layer only until they are composed.
            let layer = match layers {
                Some(layers) => (place + layers as usize).saturating_sub(count),
                None => 0,
            };
            let march = &self.march;
            let seen = march.record(recording, frame, gbuffer, &placed, air, layer)?;
            self.compose.record(recording, seen, radiance)?;
            if self.has_total {
                self.compose.add(recording, seen, place == 0)?;
            }
        }
        Ok(self.march.output())
    }

    /// Fills the light grids that something has changed for.
    fn fill(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        trees: Trees<'_>,
        plan: &TreePlan,
    ) -> Result<()> {
        for index in self.order.clone() {
            let instance = &self.instances[index];
            let lit = Lit {
                settings: instance.settings,
                lights: frame.lights.clone(),
                shadows: frame.config.shadows.mode,
            };
            let stays = plan.work == TreeWork::None && instance.lit.as_ref() == Some(&lit);
            if !stays && let Some(placed) = self.placed(index, frame.buffers) {
                let settings = &instance.settings;
                self.light
                    .record(recording, frame, geometry, trees, &placed, settings)?;
            }
            let instance = &mut self.instances[index];
            (instance.lit, instance.lights) = (None, Some(lit));
        }
        Ok(())
    }

    /// The frame was recorded whole.
    pub fn settle(&mut self) {
        for instance in &mut self.instances {
            if instance.lights.is_some() {
                instance.lit = instance.lights.take();
            }
        }
    }

    /// The last frame is not going to be submitted whole.
    pub fn abandon(&mut self) {
        for instance in &mut self.instances {
            (instance.lit, instance.lights) = (None, None);
        }
    }

    /// What all volumes of the last frame scatter and emit to the eye, and the share of the light from behind
    /// that comes through them. `None` without any, and where nothing has asked for it.
    pub fn total(&self) -> Option<&GpuImage> {
        self.has_total.then(|| self.compose.total())
    }

    /// Whether [`Volumes::total`] tells of all volumes of the last frame.
    pub fn is_known(&self) -> bool {
        self.has_total || self.order.is_empty()
    }

    fn placed<'a>(&'a self, index: usize, buffers: &'a SceneBuffers) -> Option<PlacedVolume<'a>> {
        let instance = self.instances.get(index)?;
        let grids = grids(buffers, instance.volume)?;
        Some(instance.placed(grids, &self.sampler))
    }

    /// Finds where the volumes of a frame are.
    fn place(&mut self, gpu: &Gpu, frame: &Frame<'_>) -> Result<()> {
        let buffers = frame.buffers;
        if buffers.volumes.is_empty() || !frame.config.volumes.enabled {
            self.instances.clear();
            return Ok(());
        }
        if self.version != Some(buffers.version) {
            self.instances.clear();
            self.version = Some(buffers.version);
        }
        let mut before = std::mem::take(&mut self.instances).into_iter().peekable();
        for place in volume_places(frame) {
            let VolumePlace {
                node,
                volume,
                grids,
                settings,
            } = place;
            while before.next_if(|instance| instance.node < node).is_some() {}
            let last = before.next_if(|instance| instance.node == node);
            let instance = match last {
                Some(last) => last.with(gpu, grids, settings)?,
                None => Instance::new(gpu, grids, (node, volume), settings)?,
            };
            self.instances.push(instance);
        }
        let eye = frame.view.eye();
        let far = |index: &usize| distance(&self.instances[*index].settings, eye);
        let mut order: Vec<_> = (0..self.instances.len()).collect();
        order.sort_by(|a, b| far(b).total_cmp(&far(a)));
        self.order = order;
        Ok(())
    }
}

impl Instance {
    fn new(
        gpu: &Gpu,
        grids: &VolumeGrids,
        (node, volume): (usize, usize),
        settings: VolumeParams,
    ) -> Result<Self> {
        let usage = Buffer::STORAGE | Buffer::COPY_DST;
        gpu.catch(|| Self {
            node,
            volume,
            settings,
            params: gpu.buffer_with("volume.params", bytemuck::bytes_of(&settings), usage),
            skip: grids.skip(gpu, &settings),
            light: light_grid(gpu, &settings),
            lit: None,
            lights: None,
        })
    }

    /// The same with these settings.
    fn with(mut self, gpu: &Gpu, grids: &VolumeGrids, settings: VolumeParams) -> Result<Self> {
        let before = self.settings;
        if before == settings {
            return Ok(self);
        }
        gpu.queue
            .write_buffer(&self.params, 0, bytemuck::bytes_of(&settings));
        self.settings = settings;
        let fills = |of: &VolumeParams| {
            let VolumeParams {
                scale,
                base,
                emission,
                isovalue,
                flags,
                transfer,
                ..
            } = *of;
            (scale, base, emission, isovalue, flags, transfer)
        };
        if fills(&before) != fills(&settings) {
            self.skip = gpu.catch(|| grids.skip(gpu, &settings))?;
        }
        if grid_size(&before) != grid_size(&settings) {
            self.light = gpu.catch(|| light_grid(gpu, &settings))?;
            self.lit = None;
        }
        Ok(self)
    }

    fn placed<'a>(
        &'a self,
        grids: &'a VolumeGrids,
        sampler: &'a wgpu::Sampler,
    ) -> PlacedVolume<'a> {
        PlacedVolume {
            grids,
            params: &self.params,
            skip: &self.skip,
            light: &self.light,
            sampler,
        }
    }
}

/// Whether channels show what all volumes do.
pub fn wants_total(input: &FrameInput<'_>) -> bool {
    input.wants(Channel::Transmittance) || input.wants(Channel::Scattered)
}

/// Whether any volume may be seen.
fn is_on(input: &FrameInput<'_>, buffers: &SceneBuffers) -> bool {
    input.config.volumes.enabled && buffers.has_volumes()
}

fn grids(buffers: &SceneBuffers, volume: usize) -> Option<&VolumeGrids> {
    buffers.volumes.get(volume)?.as_ref()
}

/// Texels of the light grid.
fn grid_size(params: &VolumeParams) -> [u32; 3] {
    let [x, y, z] = params.cells;
    match params.flags & super::volume_params::VOLUME_SHADOWED {
        0 => [1; 3],
        _ => [x, y, z * slabs(params.lights)],
    }
}

fn light_grid(gpu: &Gpu, params: &VolumeParams) -> wgpu::TextureView {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    let texture = texture_3d(gpu, "volume.light", grid_size(params), LIGHT_FORMAT, usage);
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}
