//! `shadow_shafts`: finds the tiles and lights between which something has changed since the last frame.

use crate::{
    bindings::Layouts,
    frame::{
        FrameSetup,
        life_cycle::{LifeCycle, TemporalState},
        recording::Recording,
    },
    layout::{Light, SHAFT_BOXES, ShaftParams},
    resources::{Reprojection, SURFACES, TILES_FORMAT, UNUSED, try_create},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, Uniform,
        pass::Binding::{self, Store},
    },
};
use canopy_scene::{Material, Scene, bounds::Aabb};
use wgpu::TextureUsages as Usage;

/// Edge of a tile in pixels.
const TILE: u32 = 8;
/// Label of the pass.
const LABEL: &str = "shadow_shafts";

/// Pass and its image, which has [`UNUSED`] texels until it is needed.
#[derive(Debug)]
pub struct ShadowShafts {
    kernel: Kernel,
    params: Uniform<ShaftParams>,
    tiles: GpuImage,
    /// Mask with all bits set, for frames in which every tile counts as changed.
    all: GpuImage,
    last: TemporalState<Option<Last>>,
}

/// Scene state of the last frame. It is empty before the first frame.
#[derive(Debug, Default)]
struct Last {
    parts: Vec<Aabb>,
    lights: Vec<Light>,
    materials: Vec<(usize, Material)>,
}

impl ShadowShafts {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let uniform = Binding::Uniform;
        let (path, shared) = ("shadow/shadow_shafts.wgsl", [(0, &layouts.frame)]);
        let all = GpuImage::new(
            gpu,
            "shadow_shafts.all",
            UNUSED,
            TILES_FORMAT,
            Usage::TEXTURE_BINDING | Usage::COPY_DST,
        );
        gpu.queue.write_texture(
            all.texture.as_image_copy(),
            &[0xff; 8 * (UNUSED[0] * UNUSED[1]) as usize],
            wgpu::TexelCopyBufferLayout {
                bytes_per_row: Some(8 * UNUSED[0]),
                ..Default::default()
            },
            all.texture.size(),
        );
        Self {
            kernel: Kernel::new(
                gpu,
                path,
                LABEL,
                &shared,
                &[uniform, uniform, SURFACES, Store(TILES_FORMAT)],
            ),
            params: Uniform::new(gpu, "shadow_shafts.params"),
            tiles: image(gpu, UNUSED),
            all,
            last: TemporalState::default(),
        }
    }

    /// Marks, for each tile of 8 × 8 pixels, the lights with a change between them and the tile's surfaces.
    /// Does nothing unless shadows may settle.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        history: Reprojection<'_>,
        settles: bool,
    ) -> Result<()> {
        let World { frame, plan, .. } = world;
        let gpu = recording.gpu;
        let size = match settles {
            true => frame.size.map(|side| side.div_ceil(TILE)),
            false => UNUSED,
        };
        if self.tiles.size() != size {
            self.tiles = try_create(gpu, size, || image(gpu, size))?;
        }
        if !settles {
            self.last.set_pending(None);
            return Ok(());
        }
        let none = Last::default();
        let last = self.last.last().and_then(Option::as_ref).unwrap_or(&none);
        let boxes = last.boxes_of_moved(frame, &plan.changed);
        let mut params = ShaftParams {
            moved: if boxes.is_none() { !0 } else { 0 },
            changed: last.changed_lights(frame),
            retrace: frame.config.shadows.retrace,
            ..ShaftParams::default()
        };
        self.last.set_pending(Some(Last::of(frame)));
        let boxes = boxes.unwrap_or_default();
        params.count = boxes.len() as u32;
        for (i, moved) in boxes.iter().enumerate() {
            params.lows[i] = moved.min.extend(0.0).to_array();
            params.highs[i] = moved.max.extend(0.0).to_array();
        }
        self.params.write(gpu, &params);
        let own: &[&dyn Bind] = &[&self.params, history.surfaces, &self.tiles];
        let most = recording.budget.pixels();
        recording.dispatch_pixels(LABEL, &self.kernel, &[(0, &frame.group)], own, frame.size, most)
    }

    /// Returns the mask of [`ShadowShafts::record`], or the mask with all bits set if shadows may not settle.
    pub fn tiles(&self, settles: bool) -> &GpuImage {
        if settles { &self.tiles } else { &self.all }
    }
}

impl Last {
    fn of(frame: &FrameSetup<'_>) -> Self {
        Self {
            parts: frame.parts.clone(),
            lights: frame.lights.clone(),
            materials: frame.pose.materials.clone(),
        }
    }

    /// Returns the bit mask of the first 31 lights that have changed since this frame. All bits are set if a
    /// material or the number of lights has changed.
    fn changed_lights(&self, frame: &FrameSetup<'_>) -> u32 {
        if self.materials != frame.pose.materials || self.lights.len() != frame.lights.len() {
            return !0;
        }
        let lights = self.lights.iter().zip(&frame.lights).take(31).enumerate();
        let changed = lights.filter(|(_, (last, now))| last != now);
        changed.fold(0, |bits, (light, _)| bits | 1 << light)
    }

    /// Returns at most [`SHAFT_BOXES`] boxes around the old and new bounds of the parts that have moved since
    /// this frame. Returns `None` if some bounds are not finite or the parts differ in number.
    fn boxes_of_moved(&self, frame: &FrameSetup<'_>, changed: &[bool]) -> Option<Vec<Aabb>> {
        if self.parts.len() != frame.parts.len() {
            return None;
        }
        let moved = moved_parts(frame.scene, changed);
        let boxes = self.parts.iter().zip(&frame.parts).zip(moved);
        let boxes: Vec<_> = boxes
            .filter(|(_, moved)| *moved)
            .map(|((last, now), _)| last.union(*now))
            .filter(|moved| !moved.is_empty())
            .collect();
        let finite = boxes.iter().all(|b| b.min.is_finite() && b.max.is_finite());
        finite.then(|| joined(boxes, SHAFT_BOXES as usize))
    }
}

/// Expands changes of instances to the parts of their meshes.
fn moved_parts(scene: &Scene, changed: &[bool]) -> impl Iterator<Item = bool> {
    let instances = scene.instances().zip(changed);
    instances
        .flat_map(|((_, mesh), &changed)| std::iter::repeat_n(changed, scene.meshes[mesh].primitives.len()))
}

/// Merges `boxes` into at most `most`, by the bin of their centres along the longest axis of the scene.
fn joined(boxes: Vec<Aabb>, most: usize) -> Vec<Aabb> {
    if boxes.len() <= most {
        return boxes;
    }
    let all = Aabb::union_of_finite(&boxes);
    let axis = (all.max - all.min).max_position();
    let (least, length) = (all.min[axis], (all.max - all.min)[axis]);
    let mut shared = vec![Aabb::EMPTY; most];
    for one in boxes {
        let part = (one.center()[axis] - least) / length * most as f32;
        let part = &mut shared[(part as usize).min(most - 1)];
        *part = part.union(one);
    }
    shared.retain(|part| !part.is_empty());
    shared
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    GpuImage::new(gpu, LABEL, size, TILES_FORMAT, usage)
}

impl LifeCycle for ShadowShafts {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.last]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn merged_boxes_contain_all_boxes() {
        let at = |i: u32| Vec3::new((i * 37 % 100) as f32, (i % 3) as f32, 0.0);
        for (count, length) in [(5, 1.0), (32, 1.0), (500, 1.0), (500, 0.0)] {
            let boxes: Vec<_> = (0..count)
                .map(|i| Aabb::from_points([length * at(i), length * at(i) + Vec3::ONE]))
                .collect();
            let shared = joined(boxes.clone(), 32);
            assert!(shared.len() <= 32 && shared.len() >= boxes.len().min(32) / 32);
            let holds = |one: &Aabb| shared.iter().any(|s| s.union(*one) == *s);
            assert!(boxes.iter().all(holds), "{count}");
            // If the boxes are apart, they must not merge into a single box.
            let widest = shared.iter().map(|s| s.max.x - s.min.x).fold(0.0, f32::max);
            assert!(widest <= 6.0, "{widest}");
        }
    }
}
