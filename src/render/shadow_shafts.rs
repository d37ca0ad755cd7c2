//! `shadow_shafts`: between which tiles of the picture and which lights something has changed since the last frame.

use super::{
    bindings::Layouts,
    edges::fitted,
    frame::{Frame, Prepared},
    history::Reprojection,
    recording::Recording,
    tree_policy::TreePlan,
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, Needs, Uniform,
        layout::{Light, SHAFT_BOXES, ShaftParams},
        pass::Binding::{self, Store, Uint},
    },
    scene::{Material, Scene, bounds::Aabb},
};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

const FORMAT: Format = Format::Rg32Uint;
/// Edge of a tile in pixels.
const TILE: u32 = 8;
/// Label of the pass.
const LABEL: &str = "shadow_shafts";

/// The pass. Its image has one texel until it is asked for.
#[derive(Debug)]
pub struct ShadowShafts {
    kernel: Kernel,
    params: Uniform<ShaftParams>,
    tiles: GpuImage,
    /// Says of every tile that all has changed.
    all: GpuImage,
    last: Option<Last>,
}

/// What the last frame drew.
#[derive(Debug)]
struct Last {
    parts: Vec<Aabb>,
    lights: Vec<Light>,
    materials: Vec<(usize, Material)>,
}

impl ShadowShafts {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let uniform = Binding::Uniform;
        let (path, shared) = ("render/shadow_shafts.wgsl", [(0, &layouts.frame)]);
        let all = GpuImage::new(
            gpu,
            "shadow_shafts.all",
            [1, 1],
            FORMAT,
            Usage::TEXTURE_BINDING | Usage::COPY_DST,
        );
        gpu.queue.write_texture(
            all.texture.as_image_copy(),
            &[0xff; 8],
            wgpu::TexelCopyBufferLayout::default(),
            all.texture.size(),
        );
        Self {
            kernel: Kernel::new(
                gpu,
                path,
                LABEL,
                &shared,
                &[uniform, uniform, Uint, Store(FORMAT)],
            ),
            params: Uniform::new(gpu, "shadow_shafts.params"),
            tiles: image(gpu, [1, 1]),
            all,
            last: None,
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Finds, for each tile of 8 × 8 pixels, which lights see something change between them and the tile's surfaces,
    /// where anything may settle.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Gpu`] where the adapter has no memory left.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        history: Reprojection<'_>,
        plan: &TreePlan,
        settles: bool,
    ) -> Result<()> {
        let gpu = recording.gpu;
        let size = match settles {
            true => frame.size.map(|side| side.div_ceil(TILE)),
            false => [1, 1],
        };
        if self.tiles.size() != size {
            self.tiles = fitted(gpu, size, || image(gpu, size))?;
        }
        let last = self.last.replace(Last::of(frame));
        if !settles {
            return Ok(());
        }
        let found = last.and_then(|last| last.changes(frame, &plan.changed));
        let (lights, boxes) = found.unwrap_or((!0, Vec::new()));
        let mut params = ShaftParams {
            count: boxes.len() as u32,
            changed: lights,
            retrace: frame.config.shadows.retrace,
            ..ShaftParams::default()
        };
        for (i, moved) in boxes.iter().enumerate() {
            params.lows[i] = moved.min.extend(0.0).to_array();
            params.highs[i] = moved.max.extend(0.0).to_array();
        }
        self.params.write(gpu, &params);
        let own: &[&dyn Bind] = &[&self.params, history.surfaces, &self.tiles];
        let most = recording.budget.pixels();
        recording.dispatch_pixels(
            LABEL,
            &self.kernel,
            &[(0, &frame.group)],
            own,
            frame.size,
            most,
        )
    }

    /// What [`ShadowShafts::record`] has found, or that everything has changed, where nothing may settle.
    pub fn tiles(&self, settles: bool) -> &GpuImage {
        if settles { &self.tiles } else { &self.all }
    }
}

impl Last {
    fn of(frame: &Prepared<'_>) -> Self {
        Self {
            parts: frame.parts.clone(),
            lights: frame.lights.clone(),
            materials: frame.pose.materials.clone(),
        }
    }

    /// A bit for each of the first 31 lights that has changed since this frame, and boxes around what has moved, where
    /// it was and where it is, at most [`SHAFT_BOXES`]; `None` where more has changed.
    fn changes(&self, frame: &Prepared<'_>, changed: &[bool]) -> Option<(u32, Vec<Aabb>)> {
        let same = self.materials == frame.pose.materials
            && self.parts.len() == frame.parts.len()
            && self.lights.len() == frame.lights.len();
        if !same {
            return None;
        }
        let lights = self.lights.iter().zip(&frame.lights).take(31);
        let lights = lights.enumerate().filter(|(_, (last, now))| last != now);
        let lights = lights.fold(0, |bits, (light, _)| bits | 1 << light);
        let moved = moved_parts(frame.scene, changed);
        let boxes = self.parts.iter().zip(&frame.parts).zip(moved);
        let boxes: Vec<_> = boxes
            .filter(|(_, moved)| *moved)
            .map(|((last, now), _)| last.union(*now))
            .filter(|moved| !moved.is_empty())
            .collect();
        let finite = boxes.iter().all(|b| b.min.is_finite() && b.max.is_finite());
        finite.then(|| (lights, joined(boxes, SHAFT_BOXES as usize)))
    }
}

/// Whether each part has changed, from whether each instance has.
fn moved_parts(scene: &Scene, changed: &[bool]) -> impl Iterator<Item = bool> {
    let instances = scene.instances().zip(changed);
    instances.flat_map(|((_, mesh), &changed)| {
        std::iter::repeat_n(changed, scene.meshes[mesh].primitives.len())
    })
}

/// Boxes around these, at most `most`: neighbours along the longest side of all share one.
fn joined(mut boxes: Vec<Aabb>, most: usize) -> Vec<Aabb> {
    if boxes.len() <= most {
        return boxes;
    }
    let all = Aabb::union_of_finite(&boxes);
    let axis = (all.max - all.min).max_position();
    boxes.sort_by(|a, b| a.center()[axis].total_cmp(&b.center()[axis]));
    let shared = boxes.chunks(boxes.len().div_ceil(most));
    shared.map(Aabb::union_of_finite).collect()
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    GpuImage::new(gpu, LABEL, size, FORMAT, usage)
}
