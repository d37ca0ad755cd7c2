//! Volumes of a frame, with their placement, lighting and order. A frame without volumes has no cost.

pub mod volume_compose;
pub mod volume_grids;
pub mod volume_light;
pub mod volume_march;
pub mod volume_params;
pub mod volume_places;
pub mod volume_shadow;

use super::{
    aov::Channel,
    bindings::Layouts,
    frame::{Frame, life_cycle::LifeCycle, recording::Recording},
    layout::{Light, VolumeParams},
    resources::{FogFroxels, GBuffer, Radiance, Visibility, VolumeLayers},
    stats::TreeWork,
    upload::scene_buffers::SceneBuffers,
    world::World,
};
use crate::settings::ShadowMode;
use canopy_bvh::{
    Result,
    gpu::{Gpu, GpuImage},
};
use std::collections::BTreeMap;
use volume_compose::VolumeCompose;
use volume_grids::{LIGHT_FORMAT, PlacedVolume, VolumeGrids, sampler, texture_3d};
use volume_light::{VolumeLight, slabs};
use volume_march::VolumeMarch;
use volume_params::{Table, distance};
use volume_places::{VolumePlace, volume_places};
use volume_shadow::VolumeShadow;
use wgpu::{BufferUsages as Buffer, TextureUsages as Usage};

/// Maximum number of slices of a light grid over all of its slabs.
pub const SLICES: u32 = 1024;
/// Maximum number of light grids that the instances of one volume share.
const LIGHT_GRIDS: usize = 8;
/// Maximum number of volumes that are drawn in front of blended surfaces. The nearest volumes are drawn.
pub const LAYERS: usize = 8;

/// Passes and the resources of each volume.
#[derive(Debug)]
pub struct Volumes {
    light: VolumeLight,
    shadow: VolumeShadow,
    march: VolumeMarch,
    compose: VolumeCompose,
    sampler: wgpu::Sampler,
    /// Instances of the last frame, in the order of nodes.
    instances: Vec<Instance>,
    /// Resources that the instances of each volume share.
    shared: BTreeMap<usize, Shared>,
    /// Version of the scene buffers that `shared` belongs to.
    version: Option<u64>,
    /// Visible instances, the farthest first.
    order: Vec<usize>,
    /// True if the frame composes a total of all volumes.
    has_total: bool,
}

/// Volume at a node.
#[derive(Debug)]
struct Instance {
    node: usize,
    volume: usize,
    settings: VolumeParams,
    params: wgpu::Buffer,
    /// Index of its grid in [`Shared::lights`].
    light: usize,
}

/// Resources shared by the instances of one volume, so that many instances need little memory.
#[derive(Debug)]
struct Shared {
    /// Settings that `majorants` was computed for.
    fills: Fills,
    majorants: wgpu::TextureView,
    /// Light grids, at most [`LIGHT_GRIDS`]. With more instances, several fill the same grid one after
    /// another.
    lights: Vec<LightGrid>,
}

/// Light grid of a volume.
#[derive(Debug)]
struct LightGrid {
    size: [u32; 3],
    view: wgpu::TextureView,
    /// Inputs of the last submitted fill.
    lit: Option<Lit>,
    /// Inputs of this frame's fill.
    filled: Option<Lit>,
}

/// Settings that the largest extinction of a brick depends on.
type Fills = (f32, f32, f32, f32, u32, Table);

/// Inputs that a light grid is computed from, besides the BVHs.
#[derive(Debug, Clone, PartialEq)]
struct Lit {
    settings: VolumeParams,
    lights: Vec<Light>,
    shadows: ShadowMode,
}

impl Volumes {
    /// Creates the passes without compiling their pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        Self {
            light: VolumeLight::new(gpu, layouts),
            shadow: VolumeShadow::new(gpu, layouts),
            march: VolumeMarch::new(gpu, layouts),
            compose: VolumeCompose::new(gpu),
            sampler: sampler(gpu),
            instances: Vec::new(),
            shared: BTreeMap::new(),
            version: None,
            order: Vec::new(),
            has_total: false,
        }
    }

    /// Prepares the volumes of a frame, and attenuates the light that surfaces receive through them.
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

    /// Composes the volumes of a frame over `radiance`, the farthest first. Also composes their total if a
    /// channel shows it.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        fog: FogFroxels<'_>,
        radiance: &Radiance,
    ) -> Result<VolumeLayers<'_>> {
        let World { frame, .. } = world;
        let wants_total =
            frame.needs_channel(Channel::Transmittance) || frame.needs_channel(Channel::Scattered);
        self.has_total = wants_total && !self.order.is_empty();
        let total_size = self.has_total.then_some(frame.size);
        self.compose.fit_total(recording.gpu, total_size)?;
        let count = self.order.len();
        // Blended surfaces are drawn between the layers.
        let layers = frame.draws_blended().then_some(count.min(LAYERS) as u32);
        let (size, layers) = match count {
            0 => ([1, 1], None),
            _ => (frame.size, layers),
        };
        self.march.fit(recording.gpu, size, layers)?;
        if count == 0 {
            return Ok(self.march.output());
        }
        for (place, index) in self.order.clone().into_iter().enumerate() {
            if frame.config.volumes.shadows {
                self.fill(recording, world, index)?;
            }
            let Some(placed) = self.placed(index, frame.buffers) else {
                continue;
            };
            // Volumes beyond the nearest ones use the first layer only until they are composed.
            let layer = match layers {
                Some(layers) => (place + layers as usize).saturating_sub(count),
                None => 0,
            };
            let march = &self.march;
            let seen = march.record(recording, frame, gbuffer, &placed, fog, layer)?;
            self.compose.record(recording, seen, radiance)?;
            if self.has_total {
                self.compose.add(recording, seen, place == 0)?;
            }
        }
        Ok(self.march.output())
    }

    /// Fills the light grid of an instance unless it already holds the result for these inputs.
    fn fill(&mut self, recording: &mut Recording<'_>, world: World<'_>, index: usize) -> Result<()> {
        let World { frame, plan, .. } = world;
        let instance = &self.instances[index];
        let lit = Lit {
            settings: instance.settings,
            lights: frame.lights.clone(),
            shadows: frame.config.shadows.mode,
        };
        let (volume, light) = (instance.volume, instance.light);
        let shared = self.shared.get(&volume);
        let grid = shared.and_then(|shared| shared.lights.get(light));
        // Another instance may have filled the grid in this frame.
        let held = grid.and_then(|grid| match (&grid.filled, plan.work) {
            (Some(filled), _) => Some(filled),
            (None, TreeWork::None) => grid.lit.as_ref(),
            (None, _) => None,
        });
        if held != Some(&lit)
            && let Some(placed) = self.placed(index, frame.buffers)
        {
            let settings = &instance.settings;
            self.light.record(recording, world, &placed, settings)?;
        }
        let shared = self.shared.get_mut(&volume);
        if let Some(grid) = shared.and_then(|shared| shared.lights.get_mut(light)) {
            grid.filled = Some(lit);
        }
        Ok(())
    }

    fn light_grids(&mut self) -> impl Iterator<Item = &mut LightGrid> {
        let shared = self.shared.values_mut();
        shared.flat_map(|shared| &mut shared.lights)
    }

    /// Returns the scattered and emitted radiance of all volumes of the last frame, and their transmittance.
    /// Returns `None` if there are no volumes or no channel shows them.
    pub fn total(&self) -> Option<&GpuImage> {
        self.has_total.then(|| self.compose.total())
    }

    /// True if [`Volumes::total`] covers all volumes of the last frame.
    pub fn is_known(&self) -> bool {
        self.has_total || self.order.is_empty()
    }

    fn placed<'a>(&'a self, index: usize, buffers: &'a SceneBuffers) -> Option<PlacedVolume<'a>> {
        let instance = self.instances.get(index)?;
        let shared = self.shared.get(&instance.volume)?;
        Some(PlacedVolume {
            grids: buffers.volumes.get(instance.volume)?.as_ref()?,
            params: &instance.params,
            majorants: &shared.majorants,
            light: &shared.lights.get(instance.light)?.view,
            sampler: &self.sampler,
        })
    }

    /// Updates the placement of the volumes of a frame.
    fn place(&mut self, gpu: &Gpu, frame: &Frame<'_>) -> Result<()> {
        let buffers = frame.buffers;
        if buffers.volumes.is_empty() || !frame.config.volumes.enabled {
            self.instances.clear();
            self.shared.clear();
            return Ok(());
        }
        if self.version != Some(buffers.version) {
            self.instances.clear();
            self.shared.clear();
            self.version = Some(buffers.version);
        }
        let mut before = std::mem::take(&mut self.instances).into_iter().peekable();
        let mut shared = std::mem::take(&mut self.shared);
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for place in volume_places(frame) {
            let VolumePlace {
                node,
                volume,
                grids,
                settings,
            } = place;
            while before.next_if(|instance| instance.node < node).is_some() {}
            let last = before.next_if(|instance| instance.node == node);
            let number = counts.entry(volume).or_default();
            let light = *number % LIGHT_GRIDS;
            *number += 1;
            if light + 1 == *number {
                let before = match self.shared.remove(&volume) {
                    Some(own) => Some(own),
                    None => shared.remove(&volume),
                };
                let own = Shared::of(gpu, grids, &settings, (before, *number))?;
                self.shared.insert(volume, own);
            }
            let instance = match last {
                Some(last) => last.with(gpu, light, settings),
                None => Instance::new(gpu, (node, volume), light, settings)?,
            };
            self.instances.push(instance);
        }
        // Removes grids of instances that no longer exist.
        for (volume, own) in &mut self.shared {
            own.lights.truncate(counts.get(volume).copied().unwrap_or(0));
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
    fn new(gpu: &Gpu, (node, volume): (usize, usize), light: usize, settings: VolumeParams) -> Result<Self> {
        let usage = Buffer::STORAGE | Buffer::COPY_DST;
        gpu.catch(|| Self {
            node,
            volume,
            settings,
            params: gpu.buffer_with("volume.params", bytemuck::bytes_of(&settings), usage),
            light,
        })
    }

    /// Returns the instance with this light grid and these settings.
    fn with(mut self, gpu: &Gpu, light: usize, settings: VolumeParams) -> Self {
        if self.settings != settings {
            gpu.queue
                .write_buffer(&self.params, 0, bytemuck::bytes_of(&settings));
        }
        (self.light, self.settings) = (light, settings);
        self
    }
}

impl Shared {
    /// Creates the resources for instances with these settings, which differ only in placement. Reuses
    /// matching resources of `before`. The result has at least `count` light grids.
    fn of(
        gpu: &Gpu,
        grids: &VolumeGrids,
        settings: &VolumeParams,
        (before, count): (Option<Self>, usize),
    ) -> Result<Self> {
        let VolumeParams {
            scale,
            base,
            emission,
            isovalue,
            flags,
            transfer,
            ..
        } = *settings;
        let fills = (scale, base, emission, isovalue, flags, transfer);
        let (majorants, mut lights) = match before {
            Some(before) if before.fills == fills => (Some(before.majorants), before.lights),
            Some(before) => (None, before.lights),
            None => (None, Vec::new()),
        };
        let size = grid_size(settings);
        lights.retain(|grid| grid.size == size);
        gpu.catch(|| {
            while lights.len() < count {
                lights.push(LightGrid::new(gpu, size));
            }
            Self {
                fills,
                majorants: majorants.unwrap_or_else(|| grids.majorant_texture(gpu, settings)),
                lights,
            }
        })
    }
}

impl LightGrid {
    fn new(gpu: &Gpu, size: [u32; 3]) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        let texture = texture_3d(gpu, "volume.light", size, LIGHT_FORMAT, usage);
        Self {
            size,
            view: texture.create_view(&wgpu::TextureViewDescriptor::default()),
            lit: None,
            filled: None,
        }
    }
}

/// Returns the size of the light grid in texels.
fn grid_size(params: &VolumeParams) -> [u32; 3] {
    let [x, y, z] = params.cells;
    match params.flags & volume_params::VOLUME_SHADOWED {
        0 => [1; 3],
        _ => [x, y, z * slabs(params.lights)],
    }
}

impl LifeCycle for Volumes {
    fn begin(&mut self) {
        self.order.clear();
        self.has_total = false;
    }

    fn commit(&mut self) {
        for grid in self.light_grids() {
            if grid.filled.is_some() {
                grid.lit = grid.filled.take();
            }
        }
    }

    fn abort(&mut self) {
        for grid in self.light_grids() {
            grid.filled = None;
        }
    }

    fn invalidate(&mut self) {
        for grid in self.light_grids() {
            (grid.lit, grid.filled) = (None, None);
        }
    }
}
