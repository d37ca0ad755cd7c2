//! `deviation`: how far what each pixel sees is from the surface that the scene is compared with.

use super::{
    edges::{GBuffer, fitted},
    frame::Frame,
    recording::Recording,
};
use crate::{
    Result,
    accel::{Codes, Geometry, Lbvh, MeshRange, Tree, Work},
    gpu::{
        Gpu, GpuImage, Kernel, Needs, Uniform,
        layout::DeviationParams,
        pass::Binding::{self, Float, Read, Store},
    },
    scene::{bounds::Aabb, compared::Compared},
};
use glam::{DVec3, Vec2, Vec3};
use wgpu::{BufferUsages as Buffer, TextureFormat as Format, TextureUsages as Usage};

/// Distance in metres, and over the range of the colours.
const FORMAT: Format = Format::Rg32Float;
/// Triangles that are tested without going further down.
const LEAF_CUTOFF: u32 = 4;

/// The pass. Its image has one texel until it is asked for.
#[derive(Debug)]
pub struct Deviation {
    kernel: Kernel,
    tree: wgpu::BindGroupLayout,
    params: Uniform<DeviationParams>,
    compared: Option<OnGpu>,
    output: GpuImage,
}

/// The surface that is measured from.
#[derive(Debug)]
struct OnGpu {
    tree: Tree,
    pseudonormals: wgpu::Buffer,
    /// The point from which the tree's positions are counted.
    origin: Vec3,
    size: f32,
}

impl Deviation {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Self {
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let bindings = [
            Binding::Uniform,
            Float,
            Binding::Uniform,
            Read,
            Store(FORMAT),
        ];
        let path = "render/deviation.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, "deviation", &[(1, &tree)], &bindings),
            tree,
            params: Uniform::new(gpu, "deviation.params"),
            compared: None,
            output: image(gpu, [1, 1]),
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Measures from this surface from now on.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where it is too large for the adapter.
    pub fn set(&mut self, gpu: &Gpu, compared: Option<&Compared>) -> Result<()> {
        self.compared = None;
        self.compared = compared.map(|compared| on_gpu(gpu, compared)).transpose()?;
        Ok(())
    }

    /// Whether there is a surface to measure from.
    pub fn is_set(&self) -> bool {
        self.compared.is_some()
    }

    /// Measures all pixels where that `is_wanted`. Without a surface to measure from, the image has a texel.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        gbuffer: &GBuffer,
        is_wanted: bool,
    ) -> Result<&GpuImage> {
        let gpu = recording.gpu;
        let Some(compared) = self.compared.as_ref().filter(|_| is_wanted) else {
            if self.output.size() != [1, 1] {
                self.output = image(gpu, [1, 1]);
            }
            return Ok(&self.output);
        };
        if self.output.size() != frame.size {
            self.output = fitted(gpu, frame.size, || image(gpu, frame.size))?;
        }
        self.params.write(
            gpu,
            &DeviationParams {
                offset: (frame.buffers.origin - compared.origin).to_array(),
                leaf_cutoff: LEAF_CUTOFF,
                size: frame.size,
                range: frame.config.deviation.range(compared.size),
                ..DeviationParams::default()
            },
        );
        let tree = compared.tree.bind_group(gpu, &self.tree);
        recording.dispatch_pixels(
            "deviation",
            &self.kernel,
            &[(1, &tree)],
            &[
                &gbuffer.position,
                &self.params,
                &compared.pseudonormals,
                &self.output,
            ],
            frame.size,
            recording.budget.pixels(),
        )?;
        Ok(&self.output)
    }

    /// What was measured last.
    pub fn output(&self) -> &GpuImage {
        &self.output
    }
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    GpuImage::new(gpu, "deviation", size, FORMAT, usage)
}

/// Uploads a surface and builds its tree.
fn on_gpu(gpu: &Gpu, compared: &Compared) -> Result<OnGpu> {
    let triangles = compared.triangles.len();
    let bytes = triangles as u64 * size_of::<[u32; 7]>() as u64;
    gpu.check_binding(&format!("a surface of {triangles} triangles"), bytes)?;
    let bounds = Aabb::of(compared.positions.iter().copied().filter(|p| p.is_finite()));
    let origin = bounds.center();
    let positions: Vec<Vec3> = compared.positions.iter().map(|p| *p - origin).collect();
    let packed = |i| compared.surface.pseudonormals(i).map(octahedral);
    let pseudonormals: Vec<[u32; 7]> = (0..triangles).map(packed).collect();
    let (usage, read) = (Buffer::STORAGE | Buffer::COPY_SRC, Buffer::STORAGE);
    let (positions, indices, pseudonormals) = gpu.catch(|| {
        (
            gpu.buffer_with("deviation.positions", &positions, usage),
            gpu.buffer_with("deviation.indices", &compared.triangles, usage),
            gpu.buffer_with("deviation.pseudonormals", &pseudonormals, read),
        )
    })?;
    let geometry = Geometry {
        positions: &positions,
        indices: &indices,
        meshes: &[MeshRange {
            triangle_count: triangles as u32,
            ..MeshRange::default()
        }],
        triangle_info: None,
    };
    let lbvh = Lbvh::new(gpu);
    let mut tree = lbvh.tree(gpu, &geometry, Codes::Bits30)?;
    let mut encoder = gpu.encoder("deviation");
    lbvh.record(gpu, &mut encoder, &mut tree, Work::Rebuild)?;
    gpu.queue.submit([encoder.finish()]);
    Ok(OnGpu {
        tree,
        pseudonormals,
        origin,
        size: compared.surface.size() as f32,
    })
}

/// As `octahedral_pack` of common/octahedral.wgsl.
fn octahedral(normal: DVec3) -> u32 {
    let n = normal.normalize_or_zero().as_vec3();
    let p = Vec2::new(n.x, n.y) / n.abs().element_sum().max(1e-20);
    let folded = if n.z >= 0.0 {
        p
    } else {
        (1.0 - Vec2::new(p.y, p.x).abs()) * Vec2::new(1f32.copysign(p.x), 1f32.copysign(p.y))
    };
    let word = |x: f32| u32::from((x.clamp(-1.0, 1.0) * 32767.0).round() as i16 as u16);
    word(folded.x) | word(folded.y) << 16
}
