//! Texture previews: every pixel against the twin, single texels against the uploaded bytes.

use crate::common;
use canopy::{
    gpu::Gpu,
    reference::texture_view::texture_view,
    render::{
        SceneTexture, TextureView, layout::TextureViewParams, queries::texture_view::environment_texture,
    },
    scene::{
        Image, Material, Sampler, Scene, TexelFormat, Texture, TextureRef,
        environment::{EnvironmentImage, Shape},
    },
};

use common::{
    gpu,
    scenes::{Stage, picture, quad, scene},
};
use glam::{Affine2, Vec3};
use half::f16;

const SIZE: [u32; 2] = [40, 28];
/// Texels along the sides of the image. Neither is a power of two.
const SIDE: [u32; 2] = [13, 9];

/// Bytes of all kinds.
fn texels() -> Vec<u8> {
    let count = 4 * SIDE[0] * SIDE[1];
    (0..count).map(|i| (i * 37 % 251) as u8).collect()
}

/// An image used as colours, as numbers and as normals, and an image of blocks.
fn textured() -> Scene {
    let slot = |texture| {
        Some(TextureRef {
            texture,
            uv_set: 0,
            texture_from_uv: Affine2::IDENTITY,
        })
    };
    let material = Material {
        base_color_texture: slot(0),
        metallic_roughness_texture: slot(0),
        normal_texture: slot(0),
        emissive_texture: slot(1),
        ..Material::default()
    };
    let mut scene = scene([quad(Vec3::ZERO, Vec3::X, Vec3::Y, 0)], vec![material]);
    let [width, height] = SIDE;
    scene
        .images
        .push(Image::from_rgba8("bytes", width, height, texels()));
    // A block of one colour, red 31 of 31, in 5, 6 and 5 bits.
    let block = [0x00, 0xf8, 0x00, 0xf8, 0, 0, 0, 0];
    scene.images.push(Image {
        name: "blocks".into(),
        width: 4,
        height: 4,
        format: TexelFormat::Bc1,
        levels: vec![block.to_vec(), block.to_vec(), block.to_vec()],
    });
    for image in 0..2 {
        let sampler = Sampler::default();
        scene.textures.push(Texture { image, sampler });
    }
    scene
}

fn draw(gpu: &Gpu, texture: &SceneTexture, params: &TextureViewParams) -> Vec<[u8; 4]> {
    let target = picture(gpu, SIZE);
    let passes = TextureView::new(gpu, wgpu::TextureFormat::Rgba8Unorm);
    let shown = passes.show(gpu, texture).unwrap();
    shown.place(&gpu.queue, params);
    let mut encoder = gpu.encoder("test");
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &target.view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations::default(),
        })],
        ..Default::default()
    });
    shown.draw(&mut pass);
    drop(pass);
    gpu.queue.submit([encoder.finish()]);
    let bytes = gpu.read_texture(&target.texture).unwrap();
    bytemuck::pod_collect_to_vec(&bytes)
}

fn texel(gpu: &Gpu, texture: &SceneTexture, level: u32, place: [u32; 2]) -> [f32; 4] {
    let passes = TextureView::new(gpu, wgpu::TextureFormat::Rgba8Unorm);
    let mut encoder = gpu.encoder("test");
    let copy = passes
        .copy_texel(gpu, &mut encoder, texture, (level, place))
        .unwrap();
    gpu.queue.submit([encoder.finish()]);
    copy.map();
    gpu.wait().unwrap();
    assert!(copy.is_done());
    copy.read().unwrap()
}

fn decoded(byte: u8) -> f64 {
    let c = f64::from(byte) / 255.0;
    match c <= 0.04045 {
        true => c / 12.92,
        false => ((c + 0.055) / 1.055).powf(2.4),
    }
}

/// Number of pixels that differ from the twin's by more than rounding.
fn differing(drawn: &[[u8; 4]], params: &TextureViewParams, is_srgb: bool) -> usize {
    let bytes = texels();
    let value = |[x, y]: [u32; 2]| {
        let at = 4 * (y * SIDE[0] + x) as usize;
        let stored = [0, 1, 2, 3].map(|channel| f64::from(bytes[at + channel]) / 255.0);
        match is_srgb {
            true => {
                let [r, g, b] = [0, 1, 2].map(|channel| decoded(bytes[at + channel]));
                [r, g, b, stored[3]]
            }
            false => stored,
        }
    };
    let differs = |(number, drawn): &(usize, &[u8; 4])| {
        let pixel = [*number as u32 % SIZE[0], *number as u32 / SIZE[0]];
        match texture_view(params, pixel, SIDE, value) {
            None => **drawn != [0; 4],
            Some(color) => {
                let near = |channel: usize| (255.0 * color[channel] - f64::from(drawn[channel])).abs() <= 1.0;
                drawn[3] != 255 || !(0..3).all(near)
            }
        }
    };
    drawn.iter().enumerate().filter(differs).count()
}

#[test]
fn pixels_match_the_cpu_reference() {
    let gpu = gpu();
    let scene = textured();
    let stage = Stage::new(&gpu, &scene, SIZE);
    let textures = &stage.uploaded.buffers.materials.textures;
    let told: Vec<_> = textures.iter().map(|t| (t.image, t.used_as)).collect();
    let uses = [(0, "colors"), (0, "normals"), (0, "numbers"), (1, "colors")];
    let uses = uses.map(|(image, used_as)| (Some(image), used_as));
    assert_eq!(told, uses);
    assert_eq!(textures[0].texture().mip_level_count(), 4);
    // 13 × 9, 6 × 4, 3 × 2 and 1.
    assert_eq!(textures[0].bytes(), 4 * (117 + 24 + 6 + 1));
    for (texture, is_srgb) in [(&textures[0], true), (&textures[2], false)] {
        for channels in 0..16 {
            let params = TextureViewParams {
                origin: [3.0, 2.0],
                first: [-1.25, 0.5],
                size: SIDE.map(|side| side as f32),
                texels_per_pixel: 0.4,
                channels,
                exposure_ev: channels as f32 / 8.0 - 1.0,
                encodes: u32::from(is_srgb && channels % 3 != 0),
                ..TextureViewParams::default()
            };
            let drawn = draw(&gpu, texture, &params);
            let wrong = differing(&drawn, &params, is_srgb);
            assert_eq!(wrong, 0, "channels {channels:04b}, sRGB {is_srgb}");
            // The comparison must detect other channels and another position.
            let moved = TextureViewParams {
                first: [-0.25, 0.5],
                channels: channels | 1,
                ..params
            };
            assert!(channels == 0 || differing(&drawn, &moved, is_srgb) > 50);
            // It must also detect another exposure, if colours are shown.
            let exposure_ev = params.exposure_ev + 0.5;
            let brighter = TextureViewParams {
                exposure_ev,
                ..params
            };
            assert!(channels & 7 == 0 || differing(&drawn, &brighter, is_srgb) > 50);
        }
    }
    // Smooth images differ from squares, and a coarser level from the finest.
    let params = TextureViewParams {
        size: SIDE.map(|side| side as f32),
        texels_per_pixel: 0.3,
        channels: 7,
        encodes: 1,
        ..TextureViewParams::default()
    };
    let plain = draw(&gpu, &textures[0], &params);
    let (is_smooth, level) = (1, 1);
    let smooth = draw(&gpu, &textures[0], &TextureViewParams { is_smooth, ..params });
    let coarse = draw(&gpu, &textures[0], &TextureViewParams { level, ..params });
    for other in [smooth, coarse] {
        assert!(differing(&other, &params, true) > 200);
    }
    assert_eq!(differing(&plain, &params, true), 0);
}

/// The image of an environment is read back as its half floats.
#[test]
fn environment_images_are_shown_as_textures() {
    let gpu = gpu();
    let value = |i: u32| [i as f32, 0.5 * i as f32, 1000.0, 1.0].map(f16::from_f32);
    let mut image = EnvironmentImage {
        name: "sky.hdr".into(),
        shape: Shape::Equirectangular,
        width: 6,
        height: 3,
        texels: (0..18).map(value).collect(),
        scale: 4.0,
        sun: None,
        warnings: Vec::new(),
    };
    let texture = environment_texture(&gpu, &image).unwrap();
    assert_eq!((texture.image, texture.used_as), (None, "radiance"));
    assert_eq!((texture.texture().width(), texture.bytes()), (6, 18 * 8));
    for (place, at) in [([0, 0], 0), ([5, 1], 11), ([2, 2], 14)] {
        let found = texel(&gpu, &texture, 0, place);
        assert_eq!(found, value(at).map(f16::to_f32));
    }
    // An image larger than the device's textures is an error.
    (image.width, image.texels) = (gpu.limits.max_texture_dimension_2d + 1, Vec::new());
    assert!(environment_texture(&gpu, &image).is_err());
}

#[test]
fn texels_equal_the_uploaded_bytes() {
    let gpu = gpu();
    let scene = textured();
    let stage = Stage::new(&gpu, &scene, SIZE);
    let textures = &stage.uploaded.buffers.materials.textures;
    let bytes = texels();
    for place in [[0, 0], [12, 0], [5, 7], [12, 8]] {
        let at = 4 * (place[1] * SIDE[0] + place[0]) as usize;
        let stored = &bytes[at..at + 4];
        let numbers = texel(&gpu, &textures[2], 0, place);
        for channel in 0..4 {
            assert_eq!((255.0 * numbers[channel]).round() as u8, stored[channel]);
        }
        let colors = texel(&gpu, &textures[0], 0, place);
        for channel in 0..3 {
            let error = f64::from(colors[channel]) - decoded(stored[channel]);
            // Drivers decode sRGB with a table of their own.
            assert!(error.abs() < 2e-3, "{place:?}: {error}");
        }
        assert_eq!((255.0 * colors[3]).round() as u8, stored[3]);
    }
    // The last level is one texel, near the mean. Blocks are decoded.
    let mean = bytes.iter().step_by(4).map(|byte| f64::from(*byte)).sum::<f64>();
    let last = texel(&gpu, &textures[2], 3, [0, 0]);
    assert!((mean / 117.0 / 255.0 - f64::from(last[0])).abs() < 0.05);
    // SwiftShader loads zeros from BC1.
    if !common::is_swiftshader(&gpu) {
        assert_eq!(texel(&gpu, &textures[3], 0, [2, 3]), [1.0, 0.0, 0.0, 1.0]);
    }
}
