//! `shadow_motion`: reprojects the shadows that each pixel sees into the last frame while something moves.

use crate::{
    bindings::Layouts,
    frame::recording::Recording,
    layout::FIRST_LIGHTS,
    light::lights,
    resources::{
        NOISY, POSITIONS, REPROJECTED, REPROJECTED_FORMAT, SURFACES, TILES, Visibility, VisibleSurfaces,
        WORDS, try_create,
    },
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel, PipelineSet, UniformArray,
        pass::Binding::{self, Read, ReadArray, Store},
    },
};
use wgpu::{BufferUsages, TextureUsages as Usage};

/// Label of the pass.
const LABEL: &str = "shadow_motion";

/// Pass and its images, which have one texel until something moves.
#[derive(Debug)]
pub struct ShadowMotion {
    /// Indexed by [`lights::filtered`] minus 1.
    kernels: [Kernel; 2],
    /// First light of each pair.
    pairs: UniformArray<[u32; 4]>,
    reprojected: [GpuImage; 2],
    /// Bit mask of the meshes that have moved.
    moved: wgpu::Buffer,
}

impl ShadowMotion {
    /// Creates the pass without compiling its pipelines.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let uniform = Binding::Uniform;
        let reprojected = Store(REPROJECTED_FORMAT);
        let bindings = [
            uniform,
            uniform,
            uniform,
            POSITIONS,
            WORDS,
            POSITIONS,
            ReadArray(1),
            NOISY,
            SURFACES,
            SURFACES,
            REPROJECTED,
            reprojected,
            reprojected,
            TILES,
            Read,
            Read,
        ];
        let shared = [(0, &layouts.frame), (2, &layouts.scene)];
        let kernel = |lights: u32| {
            let constants = [("SHADOW_LIGHTS", lights.into())];
            let path = "shadow/shadow_motion.wgsl";
            Kernel::with_constants(gpu, path, LABEL, &shared, &bindings, &constants)
        };
        let pairs = (0..FIRST_LIGHTS.div_ceil(2)).map(|pair| [2 * pair, 0, 0, 0]);
        Ok(Self {
            kernels: [1, 2].map(kernel),
            pairs: UniformArray::new(gpu, "shadow_motion.pairs", pairs)?,
            reprojected: reprojection_image(gpu, [1, 1]),
            moved: moved_meshes(gpu, 1),
        })
    }

    /// Reprojects the shadows of the two lights of a pair where something has moved, and the pixels' surfaces
    /// elsewhere. Only tiles that are set in `tiles` are searched.
    pub fn record<'a>(
        &'a mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        seen: VisibleSurfaces<'a>,
        tiles: &GpuImage,
        visibility: &Visibility,
        pair: usize,
    ) -> Result<[&'a GpuImage; 2]> {
        let World {
            frame,
            geometry,
            plan,
            ..
        } = world;
        let VisibleSurfaces {
            gbuffer,
            motion,
            history,
        } = seen;
        let gpu = recording.gpu;
        let lights = lights::filtered(lights::pair(&frame.lights, pair));
        let kernel = &self.kernels[lights - 1];
        let Some(last_positions) = motion.last_positions.filter(|_| visibility.has_blockers()) else {
            return Ok([history.reprojected; 2]);
        };
        if self.reprojected[0].size() != frame.size {
            self.reprojected = try_create(gpu, frame.size, || reprojection_image(gpu, frame.size))?;
        }
        let moved: Vec<u32> = plan.changed.chunks(32).map(bits).collect();
        if self.moved.size() < 4 * moved.len() as u64 {
            self.moved = gpu.catch(|| moved_meshes(gpu, moved.len()))?;
        }
        gpu.queue
            .write_buffer(&self.moved, 0, bytemuck::cast_slice(&moved));
        let [first, second] = &self.reprojected;
        recording.dispatch_pixels(
            LABEL,
            kernel,
            &[(0, &frame.group), (2, geometry.group)],
            &[
                motion.params,
                &self.pairs.at(pair),
                &gbuffer.position,
                &gbuffer.ids,
                motion.displacement,
                last_positions,
                &visibility.blocked,
                history.surfaces,
                history.last_surfaces,
                history.reprojected,
                first,
                second,
                tiles,
                &geometry.buffers.triangle_info,
                &self.moved,
            ],
            frame.size,
            recording.budget.pixels(),
        )?;
        Ok([first, second])
    }

    /// Adds the pipelines for a scene with at most `lights` lights.
    pub fn add_pipelines(&self, lights: u32, set: &mut PipelineSet) {
        let kernels = self.kernels.iter().take(lights as usize);
        kernels.for_each(|kernel| kernel.pipelines(set));
    }
}

/// Packs booleans into a word, the first in the lowest bit.
fn bits(set: &[bool]) -> u32 {
    let set = set.iter().enumerate();
    set.fold(0, |bits, (i, &is_set)| bits | u32::from(is_set) << i)
}

/// Allocates a buffer of `words` words.
fn moved_meshes(gpu: &Gpu, words: usize) -> wgpu::Buffer {
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
    gpu.buffer("shadow_motion.moved_meshes", 4 * words as u64, usage)
}

fn reprojection_image(gpu: &Gpu, size: [u32; 2]) -> [GpuImage; 2] {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    [(); 2].map(|()| GpuImage::new(gpu, "shadow_motion.reprojected", size, REPROJECTED_FORMAT, usage))
}
