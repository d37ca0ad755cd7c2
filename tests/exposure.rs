//! Exposure by the picture histogram: compared with its twin, on pictures with known answers, and over time.

use crate::common;
use canopy::{
    config::{Antialias, ExposureMode, ShadowMode, Tonemap},
    gpu::{Gpu, profiler::Profiler},
    reference::{exposure as twin, tonemap},
    render::{
        Channel, View,
        layout::{EXPOSURE_BINS, Exposure as Used, ExposureBin, ExposureParams, LIGHT_LIMIT, TonemapParams},
        light::scene_exposure::exposure_ev,
        present::exposure::Exposure,
    },
    scene::{LightKind, Pose, Projection, Scene, bounds::Bounds},
};
use common::{
    Random, gpu, portable_gpu,
    scenes::{Stage, add_light, glowing, look_at, matte, quad, scene},
};
use glam::{DVec3, Mat4, Vec3};
use half::f16;

/// Parameters with which all pixels count and nothing is clamped.
const ALL: ExposureParams = ExposureParams {
    low: 0.0,
    high: 1.0,
    compensation: 0.0,
    min_ev: -64.0,
    max_ev: 64.0,
    fallback: 0.0,
    share: 1.0,
};

/// Parameters of the configuration.
const TRIMMED: ExposureParams = ExposureParams {
    low: 0.1,
    high: 0.9,
    ..ALL
};

/// The pass in isolation.
struct Meter<'a> {
    gpu: &'a Gpu,
    pass: Exposure,
}

/// Radiance in half floats.
struct Picture {
    size: [u32; 2],
    texels: Vec<[f32; 4]>,
}

impl<'a> Meter<'a> {
    fn new(gpu: &'a Gpu) -> Self {
        let pass = Exposure::new(gpu);
        Self { gpu, pass }
    }

    /// Exposure after one more frame.
    fn expose(&mut self, picture: &Picture, params: &ExposureParams) -> Used {
        let (gpu, size) = (self.gpu, picture.size);
        let image = canopy::gpu::GpuImage::new(
            gpu,
            "hdr",
            size,
            wgpu::TextureFormat::Rgba16Float,
            wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        );
        let halves: Vec<[f16; 4]> = picture.texels.iter().map(|t| t.map(f16::from_f32)).collect();
        gpu.queue.write_texture(
            image.texture.as_image_copy(),
            bytemuck::cast_slice(&halves),
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(8 * size[0]),
                rows_per_image: None,
            },
            image.texture.size(),
        );
        let mut profiler = Profiler::new(gpu).unwrap();
        let mut encoder = gpu.encoder("test");
        let mut scope = profiler.scope("test", &mut encoder);
        self.pass.record(gpu, &mut scope, params, &image.view).unwrap();
        drop(scope);
        profiler.submit(gpu, encoder);
        gpu.check().unwrap();
        let bytes = gpu.read(&self.pass.used).unwrap();
        bytemuck::pod_read_unaligned(&bytes[..size_of::<Used>()])
    }

    /// Bins of the last frame.
    fn bins(&self) -> Vec<ExposureBin> {
        let bytes = self.gpu.read(&self.pass.bins).unwrap();
        bytemuck::pod_collect_to_vec(&bytes[..EXPOSURE_BINS as usize * size_of::<ExposureBin>()])
    }
}

impl Picture {
    fn new(size: [u32; 2], mut texel: impl FnMut(u32) -> [f32; 3]) -> Self {
        let texels = (0..size[0] * size[1]).map(|i| {
            let [r, g, b] = texel(i).map(|channel| f16::from_f32(channel).to_f32());
            [r, g, b, 1.0]
        });
        Self {
            size,
            texels: texels.collect(),
        }
    }

    fn grey(size: [u32; 2], luminance: impl Fn(u32) -> f32) -> Self {
        Self::new(size, |i| [luminance(i); 3])
    }

    /// All values of half floats, including infinities and NaN.
    fn noise(size: [u32; 2]) -> Self {
        let mut random = Random(5);
        Self::new(size, |_| {
            let bits = [random.bits() as u16, random.bits() as u16, 0x7c00, 0x7e00, 0];
            let any = |bits: u16| f16::from_bits(bits).to_f32();
            match random.bits() % 16 {
                0 => [any(bits[0]), any(bits[1]), 1.0],
                1 => [any(bits[2]); 3],
                2 => [any(bits[3]), 1.0, 1.0],
                3 => [0.0; 3],
                _ => [any(bits[0] & 0x7bff), any(bits[1] & 0x7bff), 0.25],
            }
        })
    }
}

/// Asserts equal bins and, except for rounding in f32, equal exposures.
fn check(meter: &mut Meter<'_>, picture: &Picture, params: &ExposureParams, before: Used) -> Used {
    let used = meter.expose(picture, params);
    let bins = meter.bins();
    assert!(bins == twin::histogram(&picture.texels), "{:?}", picture.size);
    let expected = twin::exposure(params, &bins, before);
    for (is, should) in [
        (used.ev, expected.ev),
        (used.target_ev, expected.target_ev),
        (used.scale / expected.scale, 1.0),
    ] {
        assert!((is - should).abs() < 2e-5, "{used:?} for {expected:?}");
    }
    used
}

#[test]
fn histogram_and_exposure_match_the_cpu_reference() {
    for gpu in [gpu(), portable_gpu()] {
        let mut meter = Meter::new(&gpu);
        let mut used = Used::default();
        let sizes = [
            [1, 1],
            [2, 2],
            [31, 33],
            [64, 64],
            [65, 63],
            [257, 130],
            [1, 4097],
        ];
        for size in sizes {
            for params in [ALL, TRIMMED] {
                let params = ExposureParams {
                    compensation: 0.7,
                    share: 0.3,
                    ..params
                };
                used = check(&mut meter, &Picture::noise(size), &params, used);
            }
        }
        let filled = meter.bins().iter().filter(|bin| bin.count > 0).count();
        assert!(filled > 100, "{filled} bins test little");
    }
}

/// Sums of positions in a bin that exceed 32 bits.
#[test]
fn bin_sums_exceed_32_bits_without_overflow() {
    let gpu = gpu();
    let mut meter = Meter::new(&gpu);
    let picture = Picture::grey([160, 128], |_| 1.12);
    check(&mut meter, &picture, &ALL, Used::default());
    let high: u32 = meter.bins().iter().map(|bin| bin.sum_high).sum();
    assert!(high > 3, "{high} words tests little");
}

#[test]
fn one_luminance_becomes_middle_grey() {
    let gpu = gpu();
    let mut meter = Meter::new(&gpu);
    for luminance in [2e-5, 1e-3, 0.18, 0.25, 1.0, 1.06, 3.3, 1000.0, 65504.0] {
        for params in [ALL, TRIMMED] {
            let picture = Picture::grey([31, 33], |_| luminance);
            let used = check(&mut meter, &picture, &params, Used::default());
            let grey = used.scale * picture.texels[0][0];
            assert!((grey / 0.18 - 1.0).abs() < 3e-5, "{luminance}: {grey}");
        }
    }
}

#[test]
fn only_pixels_between_the_percentiles_are_metered() {
    let gpu = gpu();
    let mut meter = Meter::new(&gpu);
    // A quarter of the picture is black, and half of the remaining pixels are dark.
    let tones = [0.0, 0.01, 1.0, 0.01, 1.0, 0.01, 1.0, 0.0];
    let picture = Picture::grey([64, 32], |i| tones[i as usize % 8]);
    for (low, high, mean) in [
        (0.5, 0.95, 1.0),
        (0.0, 0.5, 0.01),
        (0.0, 1.0, 0.1),
        // A third of the counted pixels is bright.
        (0.25, 0.625, 10f32.powf(-4.0 / 3.0)),
    ] {
        let params = ExposureParams { low, high, ..ALL };
        let used = meter.expose(&picture, &params);
        let expected = (0.18 / mean).log2();
        let error = (used.ev - expected).abs();
        // No half float equals 0.01.
        assert!(error < 2e-3, "{low} to {high}: {} for {expected}", used.ev);
    }
}

#[test]
fn a_few_extreme_pixels_change_nothing() {
    let gpu = gpu();
    let mut meter = Meter::new(&gpu);
    let lamp = |lamp: f32| Picture::grey([40, 40], move |i| if i == 777 { lamp } else { 0.3 });
    let plain = meter.expose(&lamp(0.3), &TRIMMED);
    for blazing in [40.0, 65504.0, f32::INFINITY] {
        assert_eq!(meter.expose(&lamp(blazing), &TRIMMED), plain, "{blazing}");
        assert_ne!(meter.expose(&lamp(blazing), &ALL), plain, "{blazing}");
    }
    let without = meter.expose(&lamp(f32::NAN), &ALL);
    assert!((without.ev - plain.ev).abs() < 1e-6, "{without:?}");
}

#[test]
fn the_exposure_is_always_a_number_within_its_range() {
    let gpu = gpu();
    let mut meter = Meter::new(&gpu);
    let steps = ExposureParams { share: 1e-9, ..ALL };
    let [start, next] = [50.0, 100.0].map(|l| Picture::grey([9, 7], move |_| l));
    meter.expose(&start, &ALL);
    let used = meter.expose(&next, &steps);
    assert_eq!(used.ev, used.target_ev, "steps that are too small end it");
    let params = ExposureParams {
        min_ev: -3.0,
        max_ev: 4.0,
        fallback: 1.5,
        ..TRIMMED
    };
    let inputs = [
        (0.0, 1.5),
        (-1.0, 1.5),
        (1e-6, 1.5),
        (f32::NAN, 1.5),
        (f32::INFINITY, -3.0),
        (65504.0, -3.0),
        (1e-4, 4.0),
    ];
    for (luminance, expected) in inputs {
        let used = meter.expose(&Picture::grey([9, 7], |_| luminance), &params);
        assert_eq!((used.ev, used.target_ev), (expected, expected), "{luminance}");
        assert!((used.scale / expected.exp2() - 1.0).abs() < 1e-5, "{used:?}");
    }
}

#[test]
fn compensation_is_in_stops() {
    let gpu = gpu();
    let mut meter = Meter::new(&gpu);
    let mut ev = |compensation| {
        let params = ExposureParams {
            compensation,
            ..TRIMMED
        };
        meter.expose(&Picture::grey([9, 7], |i| i as f32), &params).ev
    };
    let plain = ev(0.0);
    for stops in [-2.0, 0.5, 3.0] {
        assert!((ev(stops) - plain - stops).abs() < 1e-5, "{stops}");
    }
}

#[test]
fn the_same_picture_gives_the_same_bits() {
    let gpu = gpu();
    // Many workgroups add to few bins.
    let picture = Picture::grey([1600, 1200], |i| [0.1, 0.4, 3.0][i as usize % 3]);
    let run = || {
        let mut meter = Meter::new(&gpu);
        let used = meter.expose(&picture, &TRIMMED);
        (used, meter.bins())
    };
    let first = run();
    assert!(first.1 == twin::histogram(&picture.texels));
    for _ in 0..4 {
        assert!(run() == first);
    }
}

#[test]
fn adaptation_approaches_its_target_without_overshoot() {
    let gpu = gpu();
    for [dark, bright] in [[0.02, 7.0], [7.0, 0.02]] {
        let mut meter = Meter::new(&gpu);
        let [first, second] = [dark, bright].map(|l| Picture::grey([16, 16], move |_| l));
        let start = meter.expose(&first, &ALL);
        assert_eq!(start.ev, start.target_ev);
        let params = ExposureParams { share: 0.1, ..ALL };
        let mut before = start;
        let mut frames = 0;
        loop {
            let used = check(&mut meter, &second, &params, before);
            let (left, was_left) = (used.target_ev - used.ev, used.target_ev - before.ev);
            if left == 0.0 {
                break;
            }
            assert!(left / was_left > 0.0 && left / was_left < 0.91, "{used:?}");
            (before, frames) = (used, frames + 1);
            assert!(frames < 200, "{used:?} does not converge");
        }
        assert!(frames > 30, "{frames} frames are no adaptation");
    }
}

/// Squares that fill the view, lit only by two lights.
fn lit_squares(brightness: f32) -> Scene {
    let squares = (0..16).map(|i| {
        let corner = Vec3::new((i % 4) as f32 - 2.0, (i / 4) as f32 - 2.0, 0.0);
        quad(corner, Vec3::X, Vec3::Y, i)
    });
    let mut random = Random(9);
    let mut color = || Vec3::new(random.unit(), random.unit(), random.unit()) * 0.9;
    let materials = (0..16).map(|_| matte(color())).collect();
    let mut scene = scene(squares, materials);
    let above = Vec3::new(1.0, 0.5, 3.0);
    let kinds = [(LightKind::Directional, 6e3), (LightKind::Point, 3e4)];
    for (kind, intensity) in kinds {
        add_light(&mut scene, kind, brightness * intensity, above, Vec3::ZERO);
    }
    scene
}

fn facing() -> View {
    look_at(Vec3::new(0.0, 0.0, 2.0), Vec3::ZERO, 10.0)
}

fn metered<'a>(gpu: &'a Gpu, scene: &'a Scene, size: [u32; 2]) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, size);
    stage.config.image.exposure = ExposureMode::Histogram;
    stage.config.image.antialias = Antialias::Off;
    stage
}

/// Draws a frame and waits for its exposure figures.
fn draw(stage: &mut Stage<'_>, view: View) -> (Vec<u8>, f32) {
    let picture = stage.draw(&Pose::new(stage.scene, None, 0.0), view);
    stage.renderer.collect(stage.gpu);
    (picture, stage.renderer.stats().exposure_ev)
}

#[test]
fn doubling_the_light_lowers_exposure_by_a_stop_and_keeps_the_picture() {
    let gpu = gpu();
    let scenes = [0.5, 1.0, 2.0].map(lit_squares);
    let drawn: Vec<_> = scenes
        .iter()
        .map(|scene| draw(&mut metered(&gpu, scene, [48, 48]), facing()))
        .collect();
    for pair in drawn.windows(2) {
        let stop = pair[0].1 - pair[1].1;
        assert!((stop - 1.0).abs() < 1e-3, "{stop}");
        let differs = |(a, b): (&u8, &u8)| a.abs_diff(*b) > 1;
        let differing = pair[0].0.iter().zip(&pair[1].0).filter(|(a, b)| differs((a, b)));
        assert_eq!(differing.count(), 0);
    }
    let levels: std::collections::BTreeSet<_> = drawn[0].0.iter().collect();
    assert!(levels.len() > 50, "{} levels test little", levels.len());
}

#[test]
fn the_frame_uses_the_metered_exposure() {
    let gpu = gpu();
    let scene = lit_squares(1.0);
    let mut stage = metered(&gpu, &scene, [48, 48]);
    stage.config.image.tonemap = Tonemap::None;
    let (picture, ev) = draw(&mut stage, facing());
    let lit = stage.channel(Channel::Lit);
    let used = twin::exposure(&TRIMMED, &twin::histogram(&lit.texels), Used::default());
    assert!((used.ev - ev).abs() < 2e-5 && ev < -5.0, "{ev} for {used:?}");
    for (pixel, texel) in picture.chunks(4).zip(&lit.texels) {
        let radiance = Vec3::from_slice(texel).as_dvec3();
        let params = TonemapParams::default();
        let expected = tonemap::tonemap(&params, &used, radiance, DVec3::ZERO) * 255.0;
        for axis in 0..3 {
            let error = (f64::from(pixel[axis]) - expected[axis]).abs();
            assert!(error < 0.6, "{pixel:?} of {texel:?}");
        }
    }
    let passes = |stage: &Stage<'_>| {
        let passes = stage.renderer.stats().passes.iter();
        passes.filter(|pass| pass.name == "exposure").count()
    };
    assert_eq!(passes(&stage), 1);
    // A channel view does not change the exposure. A fixed exposure replaces it without a pass.
    stage.shown = Channel::Depth;
    assert_eq!(draw(&mut stage, facing()).1, ev);
    assert_eq!(passes(&stage), 0);
    stage.shown = Channel::Lit;
    stage.config.image.exposure = ExposureMode::Stops(-11.0);
    stage.exposure_ev = -11.0;
    let (fixed, shown) = draw(&mut stage, facing());
    assert_eq!((passes(&stage), shown), (0, -11.0));
    let sum = |picture: &[u8]| picture.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    assert!(sum(&fixed) != sum(&picture));
}

#[test]
fn adaptation_depends_on_elapsed_seconds() {
    let gpu = gpu();
    let scene = lit_squares(1.0);
    let mut stage = metered(&gpu, &scene, [18, 18]);
    stage.elapsed_secs = f32::INFINITY;
    let (_, start) = draw(&mut stage, facing());
    stage.config.exposure.compensation = 3.0;
    stage.config.exposure.adaptation = 0.5;
    stage.elapsed_secs = 0.0;
    assert_eq!(draw(&mut stage, facing()).1, start, "no time has passed");
    stage.elapsed_secs = 0.5 / 8.0;
    let after: Vec<f32> = (0..8).map(|_| draw(&mut stage, facing()).1).collect();
    assert!(after.is_sorted());
    let left = (start + 3.0 - after[7]) / 3.0;
    assert!((left - (-1f32).exp()).abs() < 1e-3, "{left}");
    assert_eq!(stage.renderer.stats().exposure_target_ev, start + 3.0);
    // Single pictures, new scenes and disabled adaptation adapt at once.
    stage.elapsed_secs = f32::INFINITY;
    assert_eq!(draw(&mut stage, facing()).1, start + 3.0);
    stage.config.exposure.compensation = 1.0;
    stage.config.exposure.adaptation = 0.0;
    stage.elapsed_secs = 0.0;
    assert_eq!(draw(&mut stage, facing()).1, start + 1.0);
}

#[test]
fn all_samples_of_a_picture_share_the_exposure_of_the_first() {
    let gpu = gpu();
    // Bars much finer than pixels, so that every sample sees different ones.
    let mut random = Random(3);
    let mut radiance = || 2f32.powf(12.0 * random.unit() - 6.0);
    let materials = (0..64).map(|_| glowing(Vec3::splat(radiance())));
    let bars = (0..64).map(|i| {
        let corner = Vec3::new(i as f32 / 32.0 - 1.0, -1.0, -1.0);
        quad(corner, Vec3::X / 32.0, 2.0 * Vec3::Y, i)
    });
    let scene = scene(bars, materials.collect());
    let view = View {
        world_from_view: Mat4::IDENTITY,
        projection: Projection::Orthographic { half_height: 1.0 },
        near: 0.1,
        far: 10.0,
    };
    let mut stage = metered(&gpu, &scene, [5, 5]);
    stage.darken();
    stage.config.image.tonemap = Tonemap::Reinhard;
    stage.config.exposure.percentiles = [0.0, 100.0];
    let pose = Pose::new(&scene, None, 0.0);
    let (_, first) = draw(&mut stage, view);
    let picture = stage.supersampled(&pose, view, 5);
    stage.renderer.collect(&gpu);
    assert_eq!(stage.renderer.stats().exposure_ev, first);
    // The same picture with the first sample's exposure as a fixed one.
    let mean = stage.channel(Channel::Lit).texels;
    stage.config.image.exposure = ExposureMode::Stops(first);
    stage.exposure_ev = first;
    let fixed = stage.supersampled(&pose, view, 5);
    let worst = picture.iter().zip(&fixed).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(worst <= Some(1), "{worst:?}");
    let of_mean = twin::exposure(&ALL, &twin::histogram(&mean), Used::default());
    assert!((of_mean.ev - first).abs() > 0.3, "{first} says little");
}

/// Every curve accepts all half floats at any exposure setting.
#[test]
fn every_curve_handles_extremes() {
    let gpu = gpu();
    let radiance = [0.0, 1e-4, 1.0, 65504.0];
    let materials = radiance.map(|radiance| glowing(Vec3::splat(radiance)));
    let bars = (0..4).map(|i| {
        let corner = Vec3::new(i as f32 - 2.0, -2.0, 0.0);
        quad(corner, Vec3::X, 4.0 * Vec3::Y, i)
    });
    let scene = scene(bars, materials.into());
    let mut stage = Stage::new(&gpu, &scene, [16, 8]);
    stage.darken();
    stage.config.image.antialias = Antialias::Off;
    let curves = [
        Tonemap::None,
        Tonemap::Reinhard,
        Tonemap::Aces,
        Tonemap::Neutral,
        Tonemap::Agx,
    ];
    for (curve, ev, expected) in curves.into_iter().flat_map(|curve| {
        let bright = [0, 255, 255, 255];
        [(curve, 64.0, bright), (curve, -64.0, [0; 4])]
    }) {
        stage.config.image.tonemap = curve;
        stage.exposure_ev = ev;
        let (picture, _) = draw(&mut stage, facing());
        for (bar, level) in expected.into_iter().enumerate() {
            let at = 4 * (4 * 16 + 4 * bar + 2);
            let pixel = &picture[at..at + 3];
            assert!(
                pixel.iter().all(|c| c.abs_diff(level) <= 1),
                "{curve:?} {ev} {bar}: {pixel:?}"
            );
        }
    }
}

/// Ten thousand lights at one point all shine and are all metered, so the picture has the brightness of few.
#[test]
fn ten_thousand_lights_are_exposed_like_few() {
    let gpu = gpu();
    let lit_by = |count: u32| {
        let floor = quad(Vec3::splat(-2.0), Vec3::X * 4.0, Vec3::Y * 4.0, 0);
        let mut scene = scene([floor], vec![matte(Vec3::splat(0.5))]);
        for _ in 0..count {
            add_light(&mut scene, LightKind::Point, 20.0, Vec3::Z, Vec3::ZERO);
        }
        scene
    };
    let [some, all] = [256, 10_000].map(|count| {
        let scene = lit_by(count);
        let mut stage = Stage::new(&gpu, &scene, [18, 18]);
        stage.darken();
        stage.config.shadows.mode = ShadowMode::Off;
        let pose = Pose::new(&scene, None, 0.0);
        let bounds = Bounds::new(&scene).scene(&scene, &pose);
        let limit = LIGHT_LIMIT as usize;
        stage.exposure_ev = exposure_ev(&scene, &pose, bounds, &stage.config, 0.0, limit);
        draw(&mut stage, look_at(Vec3::Z * 2.0, Vec3::ZERO, 10.0)).0
    });
    for (a, b) in some.chunks(4).zip(all.chunks(4)) {
        assert!(a[0] > 100 && a[0].abs_diff(b[0]) <= 3, "{a:?} {b:?}");
    }
}
