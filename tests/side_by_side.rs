//! Two pictures in one: the pass against its twin, and the output of two renderers side by side.

use crate::common;
use canopy::{
    gpu::{Gpu, GpuImage},
    output::magma::{self, MAGMA},
    reference::{
        compare::{self as twin, Pixels},
        tonemap::tonemap,
    },
    render::{
        layout::{CompareParams, Exposure, TonemapParams},
        present::compare::{Compare, Errors, placed},
    },
};

use common::{Random, gpu};
use glam::Vec3;
use half::f16;
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

/// Largest difference of a channel of the drawn picture: half a step of eight bits, and rounding.
const TOLERANCE: f32 = 0.75 / 255.0;

/// An image on both sides of the bus.
struct Picture {
    size: [u32; 2],
    pixels: Vec<Vec3>,
    image: GpuImage,
}

impl Picture {
    fn pixels(&self) -> Pixels<'_> {
        Pixels {
            size: self.size,
            pixels: &self.pixels,
        }
    }

    /// An image of eight bits per channel.
    fn encoded(gpu: &Gpu, size: [u32; 2], mut pixel: impl FnMut(u32) -> [u8; 3]) -> Self {
        let bytes: Vec<[u8; 3]> = (0..size[0] * size[1]).map(&mut pixel).collect();
        let of = |[r, g, b]: &[u8; 3]| [*r, *g, *b, 255];
        let texels: Vec<u8> = bytes.iter().flat_map(of).collect();
        Self {
            size,
            pixels: bytes
                .iter()
                .map(|b| Vec3::from(b.map(f32::from)) / 255.0)
                .collect(),
            image: image(gpu, size, Format::Rgba8Unorm, &texels),
        }
    }

    /// An image of half floats.
    fn linear(gpu: &Gpu, size: [u32; 2], mut pixel: impl FnMut(u32) -> [f32; 3]) -> Self {
        let halves = |i| pixel(i).map(f16::from_f32);
        let halves: Vec<[f16; 3]> = (0..size[0] * size[1]).map(halves).collect();
        let of = |[r, g, b]: &[f16; 3]| [*r, *g, *b, f16::ONE];
        let texels: Vec<f16> = halves.iter().flat_map(of).collect();
        Self {
            size,
            pixels: halves.iter().map(|h| Vec3::from(h.map(f16::to_f32))).collect(),
            image: image(gpu, size, Format::Rgba16Float, bytemuck::cast_slice(&texels)),
        }
    }
}

fn image(gpu: &Gpu, size: [u32; 2], format: Format, bytes: &[u8]) -> GpuImage {
    let usage = Usage::TEXTURE_BINDING | Usage::COPY_DST;
    let image = GpuImage::new(gpu, "test", size, format, usage);
    gpu.queue.write_texture(
        image.texture.as_image_copy(),
        bytes,
        wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(bytes.len() as u32 / size[1]),
            rows_per_image: None,
        },
        image.texture.size(),
    );
    image
}

/// Parameters for both pictures in a part of this size.
fn params(a: &Picture, b: &Picture, size: [u32; 2]) -> CompareParams {
    let (scale_a, offset_a) = placed(a.size, size);
    let (scale_b, offset_b) = placed(b.size, size);
    CompareParams {
        size,
        offset_a,
        offset_b,
        scale_a,
        scale_b,
        line: 0.5 * size[0] as f32,
        gain: 1.0,
        ..CompareParams::default()
    }
}

/// Pixels that the pass draws into a target around the part, and the errors that it finds.
fn drawn(
    gpu: &Gpu,
    pass: &mut Compare,
    params: &CompareParams,
    [a, b]: [&Picture; 2],
) -> (Vec<Vec3>, Errors) {
    let around = [0, 1].map(|axis| params.origin[axis] + params.size[axis] + 3);
    let usage = Usage::RENDER_ATTACHMENT | Usage::COPY_SRC;
    let target = GpuImage::new(gpu, "target", around, Format::Rgba8Unorm, usage);
    let mut encoder = gpu.encoder("test");
    let views = [&a.image.view, &b.image.view];
    pass.record(gpu, &mut encoder, params, views, &target.view, true)
        .unwrap();
    gpu.queue.submit([encoder.finish()]);
    let texels = gpu.read_texture(&target.texture).unwrap();
    gpu.check().unwrap();
    let mut errors = pass.collect();
    while errors.is_none() {
        gpu.wait().unwrap();
        errors = pass.collect();
    }
    let (mut inside, mut outside) = (Vec::new(), 0);
    for (index, texel) in (0..).zip(texels.as_chunks::<4>().0) {
        let at = [index % around[0], index / around[0]];
        let within =
            |axis: usize| (params.origin[axis]..params.origin[axis] + params.size[axis]).contains(&at[axis]);
        let [r, g, b, _] = texel.map(|byte| f32::from(byte) / 255.0);
        match within(0) && within(1) {
            true => inside.push(Vec3::new(r, g, b)),
            false => outside += u32::from(*texel != [0; 4]),
        }
    }
    assert_eq!(outside, 0, "it draws beside its part");
    (inside, errors.unwrap())
}

fn most_apart(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len());
    let apart = a.iter().zip(b).map(|(a, b)| (*a - *b).abs().max_element());
    apart.fold(0.0, f32::max)
}

/// True if the errors equal those of the twin: exactly for sRGB values, and within a step of the powers for
/// linear light.
fn agree(errors: &Errors, (sum, max, count): (u64, u32, u32), is_exact: bool) -> bool {
    let count = f64::from(count);
    let steps = |value: f64| value * 65535.0;
    let off_by = [
        (steps(errors.mean) * count - sum as f64).abs() / count.max(1.0),
        (steps(errors.max) - f64::from(max)).abs(),
        (f64::from(errors.pixels) - count).abs() * 1e9,
    ];
    let most = if is_exact { 1e-6 } else { 4.0 };
    off_by.iter().all(|off| *off <= most)
}

#[test]
fn the_pass_matches_the_cpu_reference_in_every_mode_and_size() {
    let gpu = gpu();
    let mut pass = Compare::new(&gpu);
    let mut random = Random(7);
    let mut byte = move || random.bits() as u8;
    let sizes = [
        ([1, 1], [1, 1], [1, 1]),
        ([2, 31], [2, 31], [2, 31]),
        ([33, 32], [33, 32], [33, 32]),
        ([255, 3], [257, 3], [256, 3]),
        ([40, 24], [61, 12], [40, 24]),
        ([40, 24], [17, 48], [40, 24]),
    ];
    for (of_a, of_b, size) in sizes {
        let a = Picture::encoded(&gpu, of_a, |_| [byte(), byte(), byte()]);
        let b = Picture::encoded(&gpu, of_b, |_| [byte(), byte(), byte()]);
        let radiance = |_| [0; 3].map(|_| f32::from(byte()) / 64.0);
        let hdr = Picture::linear(&gpu, of_b, radiance);
        for (b, b_exposure, b_curve) in [(&b, 0.0, 3), (&hdr, 0.5, 0), (&hdr, 0.5, 2)] {
            for (is_difference, is_linear, is_horizontal) in [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 1, 0)] {
                let params = CompareParams {
                    origin: [3, 2],
                    is_difference,
                    is_linear,
                    is_horizontal,
                    b_exposure,
                    b_curve,
                    gain: 1.5,
                    line: 0.4 * size[is_horizontal as usize] as f32,
                    ..params(&a, b, size)
                };
                let (shown, errors) = drawn(&gpu, &mut pass, &params, [&a, b]);
                let of_twin = twin::composed(&params, a.pixels(), b.pixels(), magma::color);
                let off = most_apart(&shown, &of_twin);
                // A colour changes over a step of the map by as much as 35 of 255.
                let most = if is_difference == 1 { 2.0 } else { 1.0 } * TOLERANCE;
                assert!(off < most, "{params:?}: {off}");
                let summed = twin::errors(&params, a.pixels(), b.pixels());
                let same_size = of_a == size && of_b == size;
                let is_exact = is_linear == 0 && b_exposure == 0.0 && same_size;
                assert!(agree(&errors, summed, is_exact), "{errors:?} {summed:?}");
            }
        }
    }
}

#[test]
fn a_picture_equals_itself_and_differs_from_a_changed_one() {
    let gpu = gpu();
    let mut pass = Compare::new(&gpu);
    let mut random = Random(3);
    let mut byte = move || random.bits() as u8;
    let a = Picture::encoded(&gpu, [50, 30], |_| [byte(), byte(), byte()]);
    let of_a = a.pixels.clone();
    let bytes = |i: u32| (of_a[i as usize] * 255.0).round().to_array().map(|c| c as u8);
    let mut params = params(&a, &a, [50, 30]);
    (params.is_difference, params.gain) = (1, 1000.0);
    let (shown, errors) = drawn(&gpu, &mut pass, &params, [&a, &a]);
    assert_eq!((errors.mean, errors.max, errors.pixels), (0.0, 0.0, 1500));
    let black = Vec3::from(MAGMA[0].map(f32::from)) / 255.0;
    assert!(shown.iter().all(|pixel| *pixel == black));
    // One pixel differs by one step of one channel.
    let changed = Picture::encoded(&gpu, [50, 30], |i| {
        let [r, g, b] = bytes(i);
        if i == 777 { [r, g ^ 1, b] } else { [r, g, b] }
    });
    let (shown, errors) = drawn(&gpu, &mut pass, &params, [&a, &changed]);
    assert!((errors.max - 1.0 / 255.0).abs() < 1e-9, "{errors:?}");
    assert!((errors.mean - errors.max / 1500.0).abs() < 1e-12, "{errors:?}");
    let colored = shown.iter().filter(|pixel| **pixel != black).count();
    assert_eq!(colored, 1);
    // Both comparisons detect the difference.
    let summed = twin::errors(&params, a.pixels(), a.pixels());
    assert!(!agree(&errors, summed, true) && !agree(&errors, summed, false));
    let of_twin = twin::composed(&params, a.pixels(), a.pixels(), magma::color);
    assert!(most_apart(&shown, &of_twin) > 0.1);
}

/// Radiance as B looks the same as on a display, so it equals a picture that was tone-mapped before.
#[test]
fn radiance_equals_its_tone_mapped_image() {
    let gpu = gpu();
    let mut pass = Compare::new(&gpu);
    let radiance = |i: u32| [0.02 * i as f32, 1.5, 0.5 * (i % 9) as f32];
    let hdr = Picture::linear(&gpu, [20, 10], radiance);
    let stops = Exposure {
        scale: 0.6,
        ..Exposure::default()
    };
    for curve in 0..5 {
        let params = TonemapParams {
            curve,
            ..TonemapParams::default()
        };
        let shown = |i: u32| {
            let value = hdr.pixels[i as usize].as_dvec3();
            let toned = tonemap(&params, &stops, value, glam::DVec3::ZERO);
            (toned * 255.0).round().to_array().map(|c| c as u8)
        };
        let a = Picture::encoded(&gpu, [20, 10], shown);
        let same = CompareParams {
            is_difference: 1,
            b_exposure: stops.scale,
            b_curve: curve,
            ..self::params(&a, &hdr, [20, 10])
        };
        let (_, errors) = drawn(&gpu, &mut pass, &same, [&a, &hdr]);
        assert!(errors.max < 0.6 / 255.0, "curve {curve}: {errors:?}");
        let other = CompareParams {
            b_curve: (curve + 1) % 5,
            ..same
        };
        let (_, errors) = drawn(&gpu, &mut pass, &other, [&a, &hdr]);
        assert!(errors.max > 0.02, "curve {curve}: {errors:?}");
    }
}

#[test]
fn pictures_of_another_width_are_centred_and_of_another_height_scaled() {
    assert_eq!(placed([100, 50], [100, 50]), (1.0, [0.0, 0.0]));
    assert_eq!(placed([60, 50], [100, 50]), (1.0, [-20.0, 0.0]));
    // Half a texel would blur all of it.
    assert_eq!(placed([61, 50], [100, 50]), (1.0, [-20.0, 0.0]));
    assert_eq!(placed([200, 100], [100, 50]), (2.0, [0.0, 0.0]));
}
