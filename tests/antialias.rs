//! Tests of antialiasing. The filter is compared with its twin, the filter and supersampling with a reference
//! of many samples. Some pictures must not be changed by either.

use crate::common;
use canopy::{
    config::{Antialias, ShadowMode, Tonemap},
    gpu::Gpu,
    reference::antialias::{self, Picture},
    render::{Channel, TreeWork, View},
    scene::{AlphaMode, Image, Material, Pose, Primitive, Projection, Sampler, Scene, Texture, TextureRef},
};
use common::{
    Random, by_lane, gpu, portable_gpu,
    scenes::{Stage, add_cutout, look_at, matte, quad, scene, sphere},
};
use glam::{Affine2, DVec3, Mat4, Vec2, Vec3, Vec4};

const SIZE: [u32; 2] = [120, 90];

/// View along −Z onto the plane z = 0, with one unit per pixel and (0, 0) in the centre.
fn flat_view(size: [u32; 2]) -> View {
    View {
        world_from_view: Mat4::from_translation(100.0 * Vec3::Z),
        projection: Projection::Orthographic {
            half_height: 0.5 * size[1] as f32,
        },
        near: 1.0,
        far: 200.0,
    }
}

/// The same view, rotated in its plane.
fn turned_view(degrees: f32) -> View {
    let mut view = flat_view(SIZE);
    view.world_from_view *= Mat4::from_rotation_z(degrees.to_radians());
    view
}

fn flat_color(color: Vec4) -> Material {
    Material {
        base_color: color,
        unlit: true,
        double_sided: true,
        ..matte(Vec3::ONE)
    }
}

const BRIGHT: Vec4 = Vec4::new(0.9, 0.8, 0.6, 1.0);

/// A rectangle around `center`, rotated by `angle`.
fn bar(center: Vec2, half: Vec2, angle: f32, material: usize) -> Primitive {
    let turn = Vec2::from_angle(angle);
    let (u, v) = (turn.rotate(Vec2::X * half.x), turn.rotate(Vec2::Y * half.y));
    let corner = (center - u - v).extend(0.0);
    let (u, v) = (2.0 * u.extend(0.0), 2.0 * v.extend(0.0));
    quad(corner, u, v, material)
}

fn stage<'a>(gpu: &'a Gpu, scene: &'a Scene) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, SIZE);
    stage.config.image.tonemap = Tonemap::None;
    stage.config.image.background = [0.02, 0.03, 0.05];
    stage
}

/// Stage for unlit materials, without passes that slow down hundreds of samples.
fn unlit<'a>(gpu: &'a Gpu, scene: &'a Scene) -> Stage<'a> {
    let mut stage = stage(gpu, scene);
    stage.config.shadows.mode = ShadowMode::Off;
    stage.reads.clear();
    stage
}

/// Draws with or without the filter.
fn draw(stage: &mut Stage<'_>, view: View, filter: Antialias) -> Vec<u8> {
    stage.config.image.antialias = filter;
    stage.draw(&Pose::new(stage.scene, None, 0.0), view)
}

/// Root mean square difference, in steps of 8 bits.
fn rmse(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len());
    let pairs = a.iter().zip(b);
    let squares = pairs.map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2));
    (squares.sum::<f64>() / a.len() as f64).sqrt()
}

/// Errors of pictures against a reference of many samples.
#[derive(Debug)]
struct Errors {
    off: f64,
    smaa: f64,
    four: f64,
    sixteen: f64,
}

fn errors(stage: &mut Stage<'_>, view: View) -> Errors {
    let pose = Pose::new(stage.scene, None, 0.0);
    let [many, four, sixteen] = [144, 4, 16].map(|count| stage.supersampled(&pose, view, count));
    let error = |picture: &[u8]| rmse(picture, &many);
    Errors {
        off: error(&draw(stage, view, Antialias::Off)),
        smaa: error(&draw(stage, view, Antialias::Smaa)),
        four: error(&four),
        sixteen: error(&sixteen),
    }
}

/// The filter at least halves the error, and more samples reduce it further.
fn check(errors: &Errors, what: &str) {
    let Errors {
        off,
        smaa,
        four,
        sixteen,
    } = *errors;
    assert!(off > 2.0, "{what}: {errors:?} tests little");
    assert!(smaa < 0.5 * off, "{what}: {errors:?}");
    assert!(four < 0.75 * off && sixteen < 0.6 * four, "{what}: {errors:?}");
}

#[test]
fn edges_at_every_angle_approach_supersampling() {
    let gpu = gpu();
    let square = bar(Vec2::new(0.3, 0.1), Vec2::splat(34.0), 0.0, 0);
    let scene = scene([square], vec![flat_color(BRIGHT)]);
    let mut stage = unlit(&gpu, &scene);
    let angles = [
        2.0, 5.0, 11.0, 18.4, 22.5, 26.6, 31.0, 36.0, 40.0, 43.0, 44.0, 46.5, 51.0, 64.0, 77.0, 88.5,
    ];
    let (first, step) = by_lane((1, 4), (0, 1));
    for degrees in angles.into_iter().skip(first).step_by(step) {
        let errors = errors(&mut stage, turned_view(degrees));
        check(&errors, &format!("{degrees}°"));
    }
}

#[test]
fn thin_lines_masks_and_blended_edges_approach_supersampling() {
    let gpu = gpu();
    let fan = |width: f32| {
        let lines = (0..12).map(|i| {
            let angle = (7.3 + 30.0 * i as f32).to_radians();
            let at = 26.0 * Vec2::from_angle(angle);
            bar(at, Vec2::new(16.0, 0.5 * width), angle, 0)
        });
        scene(lines, vec![flat_color(BRIGHT)])
    };
    let leaf = flat_color(Vec4::new(0.4, 0.8, 0.2, 1.0));
    let leaves = (0..9).map(|i| {
        let at = Vec2::new((i % 3) as f32 - 1.0, (i / 3) as f32 - 1.0) * 28.0;
        bar(at, Vec2::splat(12.0), 0.4 * i as f32 + 0.2, 1)
    });
    let mut masked = scene(leaves, vec![leaf.clone(), leaf]);
    add_cutout(&mut masked);
    let glass = Material {
        alpha_mode: AlphaMode::Blend,
        ..flat_color(Vec4::new(0.1, 0.2, 0.9, 0.5))
    };
    let blended = scene(
        [
            bar(Vec2::ZERO, Vec2::new(40.0, 30.0), 0.5, 0),
            bar(Vec2::new(9.0, 3.0), Vec2::new(35.0, 25.0), 1.1, 1),
        ],
        vec![flat_color(BRIGHT), glass],
    );
    let scenes = [
        ("lines of 1.5 pixels", fan(1.5)),
        ("blended", blended),
        ("masked", masked),
        ("lines of 3 pixels", fan(3.0)),
    ];
    for (what, scene) in scenes.into_iter().take(by_lane(2, 4)) {
        check(&errors(&mut unlit(&gpu, &scene), flat_view(SIZE)), what);
    }
}

#[test]
fn shadows_and_silhouettes_approach_supersampling() {
    let gpu = gpu();
    let floor = quad(Vec3::new(-4.0, -1.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0);
    let scene = scene([sphere(Vec3::ZERO, 1.0, 24, 0), floor], vec![matte(Vec3::ONE)]);
    let mut stage = stage(&gpu, &scene);
    let view = look_at(Vec3::new(2.0, 1.5, 3.0), Vec3::ZERO, 20.0);
    let modes = [ShadowMode::Rays, ShadowMode::Map, ShadowMode::Off];
    for mode in modes.into_iter().take(by_lane(1, 3)) {
        stage.config.shadows.mode = mode;
        check(&errors(&mut stage, view), &format!("{mode:?}"));
    }
}

/// Scene that shows exactly these pixels.
fn pixels(size: [u32; 2], level: impl Fn(u32, u32) -> [u8; 3]) -> Scene {
    let half = 0.5 * Vec2::new(size[0] as f32, size[1] as f32);
    let mut sheet = bar(Vec2::ZERO, half, 0.0, 0);
    // Picture rows start at the top.
    for uv in &mut sheet.uv0 {
        uv.y = 1.0 - uv.y;
    }
    let mut scene = scene([sheet], vec![flat_color(Vec4::ONE)]);
    let [width, height] = size;
    let rgba8 = (0..width * height).flat_map(|i| {
        let [r, g, b] = level(i % width, i / width);
        [r, g, b, 255]
    });
    let pixels = Image::from_rgba8("pixels", width, height, rgba8.collect());
    scene.images.push(pixels);
    let sampler = Sampler {
        mag_linear: false,
        min_linear: false,
        mip_linear: None,
        ..Sampler::default()
    };
    scene.textures.push(Texture { image: 0, sampler });
    scene.materials[0].base_color_texture = Some(TextureRef {
        texture: 0,
        uv_set: 0,
        texture_from_uv: Affine2::IDENTITY,
    });
    scene
}

/// The picture without and with the filter.
fn before_and_after(gpu: &Gpu, scene: &Scene, view: View, size: [u32; 2]) -> [Vec<u8>; 2] {
    let mut stage = stage(gpu, scene);
    stage.size = size;
    [Antialias::Off, Antialias::Smaa].map(|filter| draw(&mut stage, view, filter))
}

/// Number of pixels that the filter changes, and of pixels that differ from the twin by more than rounding.
fn against_twin([before, after]: &[Vec<u8>; 2], [width, height]: [u32; 2]) -> (usize, usize) {
    let (width, height) = (width as usize, height as usize);
    let picture = Picture {
        width,
        height,
        rgba8: before,
    };
    let weights = antialias::weights(width, height, &antialias::edges(&picture));
    let twin = antialias::blend(&picture, &weights);
    let differs = |(twin, pixel): &(&[f64; 4], &[u8])| {
        let channels = twin.iter().zip(pixel.iter());
        channels
            .map(|(a, b)| (a - f64::from(*b)).abs())
            .any(|step| step > 1.01)
    };
    let wrong = twin.iter().zip(after.chunks(4)).filter(differs).count();
    let changed = before.chunks(4).zip(after.chunks(4));
    (changed.filter(|(a, b)| a != b).count(), wrong)
}

#[test]
fn the_filter_matches_the_cpu_reference() {
    let gpu = gpu();
    let shapes = scene(
        (0..14).map(|i| {
            let at = Vec2::from_angle(2.4 * i as f32) * 3.2 * i as f32;
            bar(
                at,
                Vec2::new(3.0 + 1.3 * i as f32, 2.0 + i as f32),
                0.37 * i as f32,
                i % 2,
            )
        }),
        vec![flat_color(BRIGHT), flat_color(Vec4::new(0.3, 0.1, 0.5, 1.0))],
    );
    for degrees in [0.0, 17.0, 45.0, 80.0] {
        let pictures = before_and_after(&gpu, &shapes, turned_view(degrees), SIZE);
        let (changed, wrong) = against_twin(&pictures, SIZE);
        assert!(changed > 300, "{changed} pixels test little");
        assert_eq!(wrong, 0, "at {degrees}°");
    }
    // Noise with few levels contains every pattern of edges. Sizes down to one pixel contain every kind of
    // border.
    for size in [[97, 61], [33, 1], [1, 32], [2, 2], [1, 1]] {
        for levels in [2, 3, 40] {
            let noise = |x: u32, y: u32| {
                let mut random = Random(u64::from(x + 1000 * y));
                random.bits();
                [(); 3].map(|()| (random.bits() % levels * (255 / levels)) as u8)
            };
            let scene = pixels(size, noise);
            let pictures = before_and_after(&gpu, &scene, flat_view(size), size);
            let (changed, wrong) = against_twin(&pictures, size);
            assert!(changed > 0 || size[0] * size[1] < 100, "{size:?}");
            assert_eq!(wrong, 0, "{size:?}, {levels} levels");
        }
    }
}

#[test]
fn the_comparison_with_the_cpu_reference_detects_errors() {
    let size = [24, 24];
    let step = |x: u32, y: u32| if x > y / 3 + 4 { 230 } else { 20 };
    let before: Vec<u8> = (0..24 * 24)
        .flat_map(|i| [step(i % 24, i / 24), 90, 90, 255])
        .collect();
    let (changed, wrong) = against_twin(&[before.clone(), before], size);
    assert!(changed == 0 && wrong > 20, "{wrong}");
}

#[test]
fn flat_areas_grids_and_letters_stay_sharp() {
    let gpu = gpu();
    let gray = |level: u8| [level; 3];
    let share_and_change = |level: &dyn Fn(u32, u32) -> [u8; 3]| {
        let scene = pixels(SIZE, level);
        let [before, after] = before_and_after(&gpu, &scene, flat_view(SIZE), SIZE);
        let changed = before.chunks(4).zip(after.chunks(4)).filter(|(a, b)| a != b);
        let share = changed.count() as f64 / f64::from(SIZE[0] * SIZE[1]);
        let contrast = rmse(&before, &vec![128; before.len()]);
        (share, rmse(&before, &after) / contrast)
    };
    // The filter leaves flat areas, gentle gradients and pixel-sized detail unchanged.
    let checker = |x: u32, y: u32| gray(if (x + y) & 1 == 0 { 240 } else { 16 });
    let rows = |_: u32, y: u32| gray(if y & 1 == 0 { 240 } else { 16 });
    let columns = |x: u32, _: u32| gray(if x & 1 == 0 { 240 } else { 16 });
    let flat = |_: u32, _: u32| gray(240);
    let ramp = |x: u32, y: u32| gray((x + y) as u8);
    for (what, level) in [
        ("checker", &checker as &dyn Fn(u32, u32) -> [u8; 3]),
        ("rows", &rows),
        ("columns", &columns),
        ("flat", &flat),
        ("ramp", &ramp),
    ] {
        assert_eq!(share_and_change(level), (0.0, 0.0), "{what}");
    }
    // Boxes lose a little at their corners. Letters with strokes one pixel wide stay the same.
    let boxes = |x: u32, y: u32| gray(if x & 8 == 0 && y & 8 == 0 { 240 } else { 16 });
    let (share, change) = share_and_change(&boxes);
    assert!(share < 0.15 && change < 0.06, "{share} {change}");
    const LETTERS: [&str; 7] = [
        ".###..####...###..#...#.#####.",
        "#...#.#...#.#...#.#..#..#.....",
        "#...#.#...#.#.....#.#...#.....",
        "#####.####..#.....##....####..",
        "#...#.#...#.#.....#.#...#.....",
        "#...#.#...#.#...#.#..#..#.....",
        "#...#.####...###..#...#.#####.",
    ];
    let letters = |x: u32, y: u32| {
        let row = LETTERS.get((y % 10) as usize).map_or("", |row| row);
        let ink = row.as_bytes().get((x % 32) as usize) == Some(&b'#');
        gray(if ink { 16 } else { 240 })
    };
    let scene = pixels(SIZE, letters);
    let [before, after] = before_and_after(&gpu, &scene, flat_view(SIZE), SIZE);
    assert!(before != after);
    for (before, after) in before.iter().zip(&after) {
        let stays = if *before < 128 { 0..=170 } else { 200..=255 };
        assert!(stays.contains(after), "{before} becomes {after}");
    }
}

#[test]
fn only_the_lit_picture_is_smoothed() {
    let gpu = gpu();
    let scene = scene(
        [sphere(Vec3::ZERO, 1.0, 12, 0), sphere(Vec3::X, 0.6, 12, 0)],
        vec![matte(Vec3::ONE)],
    );
    let mut stage = stage(&gpu, &scene);
    let view = look_at(Vec3::new(1.0, 1.5, 3.0), Vec3::ZERO, 20.0);
    for channel in Channel::ALL {
        stage.shown = channel;
        let [off, smaa] = [Antialias::Off, Antialias::Smaa].map(|f| draw(&mut stage, view, f));
        assert_eq!(off != smaa, channel == Channel::Lit, "{channel:?}");
        assert!(smaa.chunks(4).all(|pixel| pixel[3] == 255));
    }
    // Float channels do not change.
    stage.shown = Channel::Lit;
    for channel in [Channel::Lit, Channel::Depth] {
        let [off, smaa] = [Antialias::Off, Antialias::Smaa].map(|filter| {
            draw(&mut stage, view, filter);
            stage.channel(channel).texels
        });
        assert_eq!(off, smaa);
    }
}

#[test]
fn samples_are_summed_in_light_and_trees_are_kept_meanwhile() {
    let gpu = gpu();
    let scene = scene(
        [bar(Vec2::ZERO, Vec2::new(40.0, 30.0), 0.4, 0)],
        vec![flat_color(BRIGHT)],
    );
    let mut stage = stage(&gpu, &scene);
    let pose = Pose::new(&scene, None, 0.0);
    let view = flat_view(SIZE);
    stage.draw(&pose, view);
    assert_eq!(stage.renderer.stats().tree_work, TreeWork::Rebuild);
    let single = stage.channel(Channel::Lit);
    let mut last = single.clone();
    for count in [2, 5, 9] {
        let picture = stage.supersampled(&pose, view, count);
        assert_eq!(stage.renderer.stats().tree_work, TreeWork::None);
        let mean = stage.channel(Channel::Lit);
        assert_ne!(mean.texels, last.texels);
        // Nothing is brighter than the display's white, so the picture is the encoded mean of the radiance.
        let params = canopy::render::layout::TonemapParams::default();
        let exposure = canopy::render::layout::Exposure {
            scale: 1.0,
            ..Default::default()
        };
        for (pixel, texel) in picture.chunks(4).zip(&mean.texels) {
            let radiance = Vec3::from_slice(texel).as_dvec3();
            let expected =
                canopy::reference::tonemap::tonemap(&params, &exposure, DVec3::ZERO, radiance) * 255.0;
            let error = (0..3).map(|i| (f64::from(pixel[i]) - expected[i]).abs());
            assert!(error.fold(0.0, f64::max) < 0.6, "{pixel:?} of {texel:?}");
            // Alpha is the coverage of the pixel, in steps of one sample.
            let covered = texel[3] * count as f32;
            assert!((covered - covered.round()).abs() < 1e-4, "{texel:?}");
        }
        last = mean;
    }
    // A single-frame picture does not depend on an earlier supersampled one.
    stage.draw(&pose, view);
    assert_eq!(stage.channel(Channel::Lit).texels, single.texels);
}

#[test]
fn samples_are_the_same_at_portable_limits() {
    let (gpu, portable) = (gpu(), portable_gpu());
    let scene = scene(
        [bar(Vec2::ZERO, Vec2::new(40.0, 30.0), 0.4, 0)],
        vec![flat_color(BRIGHT)],
    );
    let pose = Pose::new(&scene, None, 0.0);
    let pictures = [&gpu, &portable].map(|gpu| {
        let picture = stage(gpu, &scene).supersampled(&pose, flat_view(SIZE), 3);
        gpu.check().unwrap();
        picture
    });
    assert!(pictures[0] == pictures[1]);
}

#[test]
fn a_bright_edge_is_as_smooth_as_a_dark_one() {
    let gpu = gpu();
    let mut scene = scene(
        [bar(Vec2::ZERO, Vec2::new(80.0, 30.0), 0.3, 0)],
        vec![flat_color(Vec4::ONE)],
    );
    let mut levels = [1.0, 30.0].map(|strength| {
        scene.materials[0] = flat_color((strength * Vec3::ONE).extend(1.0));
        stage(&gpu, &scene).supersampled(&Pose::new(&scene, None, 0.0), flat_view(SIZE), 16)
    });
    let [plain, bright] = &mut levels;
    assert!(rmse(plain, bright) < 0.5);
}

/// A picture scaled by two with bicubic weights, without the corners of 4 × 4 pixels.
fn doubled(picture: &[u8], [width, height]: [u32; 2]) -> Vec<u8> {
    let level = |x: i64, y: i64, channel: usize| {
        let x = x.clamp(0, i64::from(width) - 1);
        let y = y.clamp(0, i64::from(height) - 1);
        f64::from(picture[4 * (y * i64::from(width) + x) as usize + channel])
    };
    // A pixel lies a quarter or three quarters past the second of four.
    let taps = |at: i64| {
        let first = (at - 1).div_euclid(2) - 1;
        let weights = match at.rem_euclid(2) {
            0 => [-0.0234375, 0.2265625, 0.8671875, -0.0703125],
            _ => [-0.0703125, 0.8671875, 0.2265625, -0.0234375],
        };
        (0..4).map(move |i| (first + i, i == 1 || i == 2, weights[i as usize]))
    };
    let mut out = Vec::new();
    for y in 0..2 * i64::from(height) {
        for x in 0..2 * i64::from(width) {
            for channel in 0..4 {
                let (mut sum, mut weights) = (0.0, 0.0);
                for (row, is_middle, down) in taps(y) {
                    for (column, _, across) in taps(x).filter(|tap| is_middle || tap.1) {
                        sum += down * across * level(column, row, channel);
                        weights += down * across;
                    }
                }
                out.push((sum / weights).round().clamp(0.0, 255.0) as u8);
            }
        }
    }
    out
}

#[test]
fn a_larger_target_gets_the_smooth_picture_stretched() {
    let gpu = gpu();
    let scene = scene(
        [bar(Vec2::ZERO, Vec2::new(40.0, 30.0), 0.4, 0)],
        vec![flat_color(BRIGHT)],
    );
    let mut stage = stage(&gpu, &scene);
    let pose = Pose::new(&scene, None, 0.0);
    let larger = SIZE.map(|side| 2 * side);
    for count in [1, 4] {
        let small = stage.supersampled(&pose, flat_view(SIZE), count);
        let large = stage.stretched(&pose, flat_view(SIZE), count, larger);
        let expected = doubled(&small, SIZE);
        let steps = large.iter().zip(&expected).map(|(a, b)| a.abs_diff(*b));
        let largest = steps.max().unwrap();
        assert!(largest <= 2, "{count} samples: {largest}");
    }
}
