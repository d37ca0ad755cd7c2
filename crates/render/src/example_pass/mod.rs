//! Example pass of CONTRIBUTING. Tests compile and run it, but the program does not contain it.

mod vignette;

use super::{
    SHADERS,
    frame::{
        recording::{FrameBudget, Recording},
        slices::RowOffsets,
    },
    resources::{HDR_FORMAT, Radiance},
};
use canopy_bvh::gpu::{Gpu, GpuImage, Library, Options, pass, profiler::Profiler};
use half::f16;
use vignette::Vignette;

static LIBRARY: Library = Library {
    files: &[("picture/vignette.wgsl", include_str!("vignette.wgsl"))],
    constants: &[],
    proven: &[],
    base: Some(&SHADERS),
};

/// CPU reference of the shader. Returns the factor for the colour of a pixel.
fn kept(pixel: [u32; 2], size: [u32; 2], strength: f32) -> f32 {
    let from_middle = [0, 1].map(|i| 2.0 * (pixel[i] as f32 + 0.5) / size[i] as f32 - 1.0);
    1.0 - 0.5 * strength * from_middle.map(|d| d * d).iter().sum::<f32>()
}

#[test]
fn the_example_pass_matches_the_cpu_reference() {
    let gpu = Gpu::new(Options::new(&LIBRARY)).unwrap();
    let mut profiler = Profiler::new(&gpu).unwrap();
    let mut row_offsets = RowOffsets::new(&gpu).unwrap();
    let mut vignette = Vignette::new(&gpu);
    let sizes = [[1, 1], [2, 31], [32, 33], [33, 257]];
    for (size, strength) in sizes.into_iter().zip([0.5, 0.0, 1.0, 0.5]) {
        row_offsets.fit(&gpu, size[1]).unwrap();
        let radiance = filled(&gpu, size);
        let mut encoder = gpu.encoder("example");
        let (budget, label) = (FrameBudget::default(), "example");
        let mut r = Recording::new(&gpu, &profiler, &row_offsets, label, &mut encoder, budget);
        let darkened = vignette.record(&mut r, strength, &radiance).unwrap();
        let views = [&darkened.hdr.view, &darkened.display.view].map(Clone::clone);
        let (_, parts) = r.finish();
        let parts = parts.into_iter().map(|part| part.commands);
        gpu.queue.submit(parts);
        gpu.queue.submit([profiler.finish(encoder)]);
        for (view, value) in views.iter().zip([HDR, DISPLAY]) {
            let texels = read(&gpu, view, size);
            assert_eq!(wrong_texels(&texels, size, value, strength), 0, "{size:?}");
            let other = wrong_texels(&texels, size, value, strength + 0.1);
            assert!(other > 0 || size == [1, 1], "{size:?}");
        }
    }
}

/// Returns the number of texels that differ from the reference by more than half-float precision, for images
/// filled with `value`.
fn wrong_texels(texels: &[[f16; 4]], size: [u32; 2], value: f32, strength: f32) -> usize {
    let is_wrong = |(i, texel): &(u32, &[f16; 4])| {
        let kept = value * kept([i % size[0], i / size[0]], size, strength);
        let expected = [kept, kept, kept, 1.0];
        let texel = texel.map(f16::to_f32);
        texel
            .iter()
            .zip(expected)
            .any(|(found, expected)| (found - expected).abs() > 1e-3 * value)
    };
    (0..).zip(texels).filter(is_wrong).count()
}

/// Radiance of every pixel.
const HDR: f32 = 3.0;
/// Display colour of every pixel, on top of the radiance.
const DISPLAY: f32 = 0.5;

fn filled(gpu: &Gpu, size: [u32; 2]) -> Radiance {
    let radiance = Radiance::new(gpu, size);
    let mut encoder = gpu.encoder("filled");
    for (image, value) in [(&radiance.hdr, HDR), (&radiance.display, DISPLAY)] {
        let [r, g, b, a] = [value, value, value, 1.0].map(f64::from);
        let clear = wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a });
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("filled"),
            color_attachments: &[Some(pass::color(&image.view, clear))],
            ..Default::default()
        });
    }
    gpu.queue.submit([encoder.finish()]);
    radiance
}

/// Reads the texels of an image without copy usage.
fn read(gpu: &Gpu, view: &wgpu::TextureView, size: [u32; 2]) -> Vec<[f16; 4]> {
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
    let copy = GpuImage::new(gpu, "copy", size, HDR_FORMAT, usage);
    let mut encoder = gpu.encoder("copy");
    let blitter = wgpu::util::TextureBlitter::new(&gpu.device, HDR_FORMAT);
    blitter.copy(&gpu.device, &mut encoder, view, &copy.view);
    gpu.queue.submit([encoder.finish()]);
    let bytes = gpu.read_texture(&copy.texture).unwrap();
    bytemuck::cast_slice::<u8, [f16; 4]>(&bytes).to_vec()
}
