//! The pass that CONTRIBUTING shows. Tests compile and run it; the program does not have it.

mod vignette;

use crate::{
    config::Config,
    gpu::{Gpu, Library, Options, pass, profiler::Profiler},
    render::{
        SHADERS,
        edges::Radiance,
        frame::{
            bands::FirstRows,
            recording::{FrameBudget, Recording},
        },
    },
};
use half::f16;
use vignette::Vignette;

static LIBRARY: Library = Library {
    files: &[("picture/vignette.wgsl", include_str!("vignette.wgsl"))],
    constants: &[],
    proven: &[],
    base: Some(&SHADERS),
};

/// The twin of the shader: what is kept of a colour.
fn kept(pixel: [u32; 2], size: [u32; 2], strength: f32) -> f32 {
    let from_middle = [0, 1].map(|i| 2.0 * (pixel[i] as f32 + 0.5) / size[i] as f32 - 1.0);
    1.0 - 0.5 * strength * from_middle.map(|d| d * d).iter().sum::<f32>()
}

#[test]
fn the_example_agrees_with_its_twin() {
    let options = Options {
        shaders: &LIBRARY,
        ..Options::from(&Config::default().gpu)
    };
    let gpu = Gpu::new(options).unwrap();
    let mut profiler = Profiler::new(&gpu).unwrap();
    let mut first_rows = FirstRows::new(&gpu).unwrap();
    let mut vignette = Vignette::new(&gpu);
    for (size, strength) in [([1, 1], 0.5), ([33, 257], 0.5), ([33, 257], 0.0)] {
        first_rows.fit(&gpu, size[1]).unwrap();
        let radiance = filled(&gpu, size);
        let mut encoder = gpu.encoder("example");
        let budget = FrameBudget::default();
        let mut recording = Recording::new(
            &gpu,
            &profiler,
            &first_rows,
            "example",
            &mut encoder,
            budget,
        );
        let darkened = vignette
            .record(&mut recording, strength, &radiance)
            .unwrap();
        let images = [&darkened.hdr, &darkened.display].map(|image| image.texture.clone());
        let (_, parts) = recording.finish();
        gpu.queue
            .submit(parts.into_iter().map(|part| part.commands));
        gpu.queue.submit([profiler.finish(encoder)]);
        for (image, value) in images.iter().zip([3.0, 0.5]) {
            let bytes = gpu.read_texture(image).unwrap();
            let halves = bytemuck::cast_slice::<u8, f16>(&bytes);
            for (i, texel) in (0..).zip(halves.chunks(4)) {
                let pixel = [i % size[0], i / size[0]];
                let expected = value * kept(pixel, size, strength);
                let found = texel[0].to_f32();
                assert!(
                    (found - expected).abs() <= 1e-3 * value,
                    "{pixel:?}: {found} {expected}"
                );
                assert_eq!(texel[3], f16::ONE, "{pixel:?}");
            }
        }
    }
}

/// Radiance of 3 under colours of 0.5.
fn filled(gpu: &Gpu, size: [u32; 2]) -> Radiance {
    let radiance = Radiance::new(gpu, size);
    let mut encoder = gpu.encoder("filled");
    for (image, value) in [(&radiance.hdr, 3.0), (&radiance.display, 0.5)] {
        let [r, g, b, a] = [value, value, value, 1.0];
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
