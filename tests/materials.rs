//! Materials and lights against an independent evaluation of the specifications in f64 (tests/common/appearance.rs), pixel by pixel in linear
//! radiance, and golden images of the same scenes with everything on.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common {
    #[expect(dead_code, reason = "extensions come with their tests")]
    pub(crate) mod appearance;
    #[expect(dead_code, reason = "each test binary uses its own part of this")]
    pub(crate) mod gltf_builder;
}

use canopy::{
    config::{Config, ShadowMode, Switch},
    gpu::{Gpu, pass},
    render::{Channel, FrameInput, Renderer, View},
    scene::{self, Pose, Progress, Projection, Scene},
};
use common::appearance::{
    Alpha, Beam, Lamp, Look, Map2, Seen, Shape, Slot, Specimen, Still, Texels,
};
use glam::{DVec2, DVec3, DVec4, Vec3};
use std::f64::consts::{FRAC_PI_2, PI};

const SIZE: [u32; 2] = [160, 120];

/// The largest error that is allowed, as a share of the peak of the specimen at hand: the peak of the image, or less.
const TOLERANCE: f64 = 0.005;

fn load(still: &Still) -> Scene {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("still.glb");
    std::fs::write(&path, still.glb()).unwrap();
    let scene = scene::load(&[path], &Config::default().load, &Progress::default()).unwrap();
    assert_eq!(scene.warnings, Vec::<String>::new());
    scene
}

/// Draws scenes with one set of pipelines.
struct Studio {
    gpu: Gpu,
    renderer: Renderer,
}

impl Studio {
    fn new() -> Self {
        let gpu = Gpu::new(&Config::default().gpu)
            .unwrap_or_else(|e| panic!("the tests need a graphics adapter: {e}"));
        let renderer = Renderer::new(&gpu).unwrap();
        Self { gpu, renderer }
    }

    /// The picture as bytes, and radiance.
    fn draw(&mut self, still: &Still, config: &Config) -> (Vec<u8>, Vec<[f32; 4]>) {
        let Self { gpu, renderer } = self;
        let scene = load(still);
        let buffers = renderer.uploader().upload(gpu, &scene, config).unwrap();
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let target = pass::target(gpu, "picture", SIZE, format, usage);
        let (eye, middle) = (still.eye.as_vec3(), still.target.as_vec3());
        let input = FrameInput {
            scene: &scene,
            buffers: &buffers,
            pose: &Pose::new(&scene, None, 0.0),
            view: View {
                world_from_view: glam::camera::rh::view::look_at_mat4(eye, middle, Vec3::Y)
                    .inverse(),
                projection: Projection::Perspective {
                    fov_y: still.fov as f32,
                },
                near: 0.05,
                far: 100.0,
            },
            config,
            exposure_ev: 0.0,
            channel: Channel::Lit,
            size: SIZE,
        };
        let mut encoder = gpu.encoder("test");
        let view = target.create_view(&wgpu::TextureViewDescriptor::default());
        renderer.record(gpu, &mut encoder, &input, &view).unwrap();
        renderer.submit(gpu, encoder);
        gpu.wait().unwrap();
        gpu.check().unwrap();
        let lit = renderer.read_channel(gpu, Channel::Lit, &buffers).unwrap();
        (gpu.read_texture(&target).unwrap(), lit.texels)
    }
}

/// Only the scene's own lights, without shadows.
fn bare() -> Config {
    let mut config = Config::default();
    config.shadows.mode = ShadowMode::Off;
    config.ambient.strength = 0.0;
    config.sun.enabled = Switch::Off;
    config.image.background = [0.0; 3];
    config
}

/// What was found of one specimen.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    pixels: usize,
    peak: f64,
    error: f64,
}

/// Compares radiance with the evaluation, for each specimen by itself, and counts the pixels that an edge is too close to: of a shape, of a
/// texel, or of a cone of light.
fn compare(still: &Still, radiance: &[[f32; 4]]) -> (Vec<Found>, usize) {
    let mut found = vec![Found::default(); still.specimens.len()];
    let mut left_out = 0;
    for (i, lit) in (0..).zip(radiance) {
        let (x, y) = (f64::from(i % SIZE[0]) + 0.5, f64::from(i / SIZE[0]) + 0.5);
        let seen = still.look(SIZE, x, y);
        let around = |dx: f64, dy: f64| -> Seen { still.look(SIZE, x + 1.5 * dx, y + 1.5 * dy) };
        let steps = [-1.0, 0.0, 1.0];
        let parted = steps
            .iter()
            .flat_map(|dx| steps.map(|dy| (*dx, dy)))
            .any(|(dx, dy)| around(dx, dy).trail != seen.trail);
        if parted {
            left_out += 1;
            continue;
        }
        let Some(specimen) = seen.specimen else {
            assert_eq!(lit[..3], [0.0; 3], "something at {x}, {y}");
            continue;
        };
        let error = Vec3::from_slice(lit).as_dvec3() - seen.radiance;
        let entry = &mut found[specimen];
        entry.pixels += 1;
        entry.peak = entry.peak.max(seen.radiance.max_element());
        // NaN is the largest error there is.
        let error = error
            .abs()
            .to_array()
            .map(|e| if e.is_nan() { f64::INFINITY } else { e });
        entry.error = error.into_iter().fold(entry.error, f64::max);
    }
    (found, left_out)
}

/// Draws `still` and holds every specimen to the evaluation; at most `edges` of 100 pixels may be left out.
fn check(studio: &mut Studio, name: &str, still: &Still, edges: usize) {
    let (_, radiance) = studio.draw(still, &bare());
    let (found, left_out) = compare(still, &radiance);
    let pixels = (SIZE[0] * SIZE[1]) as usize;
    assert!(
        left_out * 100 <= edges * pixels,
        "{name}: {left_out} of {pixels} pixels are left out"
    );
    let faults: Vec<String> = found
        .iter()
        .enumerate()
        .filter(|(_, f)| f.pixels < 20 || f.error > TOLERANCE * f.peak || f.peak < 1e-3)
        .map(|(i, f)| {
            let share = 100.0 * f.error / f.peak;
            format!(
                "specimen {i}: {share:.2} % of its peak of {:.3} over {} pixels",
                f.peak, f.pixels
            )
        })
        .collect();
    assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
}

/// Rows of spheres, one for each look.
fn spheres<const COLUMNS: usize>(rows: &[[Look; COLUMNS]], beam: Beam) -> Still {
    let mut specimens = Vec::new();
    for (row, looks) in rows.iter().enumerate() {
        for (column, look) in looks.iter().enumerate() {
            let x = column as f64 - 0.5 * (COLUMNS as f64 - 1.0);
            let y = 0.5 * (rows.len() as f64 - 1.0) - row as f64;
            specimens.push(Specimen::new(
                Shape::Sphere {
                    center: DVec3::new(x, y, 0.0),
                    radius: 0.45,
                    rings: rings(look),
                },
                look.clone(),
            ));
        }
    }
    Still {
        specimens,
        beams: vec![beam],
        eye: DVec3::new(0.0, 0.0, 9.0),
        target: DVec3::ZERO,
        fov: 0.42 * (rows.len() as f64 / 3.0).max(COLUMNS as f64 / 4.0),
    }
}

/// Smaller highlights ask for smaller triangles.
fn rings(look: &Look) -> u32 {
    let coat = look.clearcoat.map_or(1.0, |(_, roughness)| roughness);
    let roughness = look.roughness.min(coat);
    if roughness < 0.15 {
        192
    } else if roughness < 0.35 {
        128
    } else {
        72
    }
}

fn sun() -> Beam {
    let from = DVec3::new(1.0, 1.2, 2.0);
    Beam::new(Lamp::Directional, 3.0, from, DVec3::ZERO)
}

fn bulb() -> Beam {
    let from = DVec3::new(-2.0, 2.5, 4.0);
    Beam::new(Lamp::Point, 60.0, from, DVec3::ZERO)
}

fn roughness_and_metallic() -> [[Look; 4]; 3] {
    [0.0, 0.5, 1.0].map(|metallic| {
        [0.1, 0.25, 0.5, 1.0].map(|roughness| Look {
            base_color: DVec4::new(0.9, 0.45, 0.15, 1.0),
            metallic,
            roughness,
            ..Look::default()
        })
    })
}

#[test]
fn spheres_of_roughness_and_metallic_are_those_of_the_specification() {
    let mut studio = Studio::new();
    for (name, beam) in [("sun", sun()), ("bulb", bulb())] {
        check(
            &mut studio,
            name,
            &spheres(&roughness_and_metallic(), beam),
            40,
        );
    }
}

/// The highlight of one sphere, from so near that it fills the picture.
fn highlight(look: Look) -> Still {
    let still = spheres(&[[look]], sun());
    let to_light = still.beams[0].from.normalize();
    let mut target = DVec3::ZERO;
    for _ in 0..8 {
        let to_eye = (still.eye - target).normalize();
        target = 0.45 * (to_eye + to_light).normalize();
    }
    Still {
        target,
        fov: 0.1 * still.specimens[0].look.roughness.powi(2),
        ..still
    }
}

/// Below a roughness of 0.1 the 32 bits of the G-buffer's normal are too few: 1 % at 0.07, 2 % at 0.05.
#[test]
fn the_highlights_of_smooth_spheres_are_those_of_the_specification() {
    let mut studio = Studio::new();
    for roughness in [0.1, 0.15, 0.25] {
        for metallic in [0.0, 1.0] {
            let look = Look {
                base_color: DVec4::new(0.9, 0.45, 0.15, 1.0),
                metallic,
                roughness,
                ..Look::default()
            };
            let name = format!("roughness {roughness}, metallic {metallic}");
            check(&mut studio, &name, &highlight(look), 0);
        }
    }
}

/// A wall of rectangles that face the eye, each a little tilted so that no two see the light alike, and square.
fn wall(looks: Vec<Look>, columns: usize, beam: Beam) -> Still {
    let rows = looks.len().div_ceil(columns);
    let mut specimens = Vec::new();
    for (i, look) in looks.into_iter().enumerate() {
        let (column, row) = ((i % columns) as f64, (i / columns) as f64);
        let x = column - 0.5 * columns as f64;
        let y = 0.5 * rows as f64 - row - 1.0;
        let u = DVec3::new(1.0, 0.0, 0.1 * (column - 1.0)).normalize();
        let v = DVec3::new(0.0, 1.0, 0.1 * row).reject_from_normalized(u);
        let corner = DVec3::new(x + 0.05, y + 0.05, 0.0);
        let shape = Shape::quad(corner, 0.9 * u, 0.9 * v.normalize());
        specimens.push(Specimen::new(shape, look));
    }
    Still {
        specimens,
        beams: vec![beam],
        eye: DVec3::new(0.0, 0.0, 6.0),
        target: DVec3::ZERO,
        fov: 2.0 * (0.6 * (rows as f64).max(columns as f64 * 0.75) / 6.0).atan(),
    }
}

/// A lamp near a wall, so that all of it is unevenly lit.
fn lamp() -> Beam {
    Beam {
        color: DVec3::new(1.0, 0.9, 0.7),
        ..Beam::new(Lamp::Point, 30.0, DVec3::new(-1.0, 1.5, 3.0), DVec3::ZERO)
    }
}

/// Sixteen texels that all differ.
fn patches() -> Texels {
    Texels::new([4, 4], |x, y| {
        [
            60 + 60 * x as u8,
            250 - 70 * y as u8,
            (40 + 30 * (x + y)) as u8,
            (16 * (4 * y + x) + 8) as u8,
        ]
    })
}

fn alphas() -> Still {
    let map = || vec![Map2::new(Slot::BaseColor, patches())];
    let look = |alpha, factor| Look {
        base_color: DVec4::new(0.8, 0.9, 1.0, factor),
        alpha,
        maps: map(),
        ..Look::default()
    };
    let mut still = wall(
        vec![
            look(Alpha::Opaque, 0.4),
            look(Alpha::Mask(0.5), 1.0),
            look(Alpha::Mask(0.25), 0.5),
            look(Alpha::Blend, 1.0),
            look(Alpha::Blend, 0.5),
            look(Alpha::Blend, 0.1),
        ],
        3,
        lamp(),
    );
    // What shows where they do not.
    still.specimens.push(Specimen::new(
        Shape::quad(DVec3::new(-2.5, -2.0, -0.8), 5.0 * DVec3::X, 4.0 * DVec3::Y),
        Look {
            base_color: DVec4::new(0.2, 0.5, 0.9, 1.0),
            roughness: 0.9,
            ..Look::default()
        },
    ));
    still
}

#[test]
fn alpha_is_ignored_cut_out_or_blended() {
    check(&mut Studio::new(), "alpha", &alphas(), 40);
}

/// The four tilts, one texel each: to the right, up, to the left, down.
fn tilts() -> Texels {
    Texels::new([2, 2], |x, y| match (x, y) {
        (0, 0) => [220, 128, 200, 255],
        (1, 0) => [128, 220, 200, 255],
        (0, _) => [36, 128, 200, 255],
        _ => [128, 36, 200, 255],
    })
}

fn normals() -> Still {
    let look = |edit: &dyn Fn(&mut Map2)| {
        let mut map = Map2::new(Slot::Normal, tilts());
        edit(&mut map);
        Look {
            base_color: DVec4::new(0.7, 0.7, 0.7, 1.0),
            roughness: 0.6,
            double_sided: true,
            maps: vec![map],
            ..Look::default()
        }
    };
    let mut still = wall(
        vec![
            look(&|_| {}),
            look(&|_| {}),
            look(&|_| {}),
            look(&|map| map.uv_set = 1),
            look(&|map| map.normal_scale = 0.4),
            look(&|map| {
                map.rotation = 0.5;
                map.scale = DVec2::new(1.5, -0.75);
            }),
            look(&|_| {}),
            look(&|_| {}),
        ],
        4,
        lamp(),
    );
    let set = |still: &mut Still, index: usize, set: usize, value: [DVec2; 3]| {
        let Shape::Quad { uvs, .. } = &mut still.specimens[index].shape else {
            panic!("no rectangle")
        };
        uvs[set] = value;
    };
    // Mirrored in u, mirrored in v, turned by a right angle in the second set, turned in the first.
    set(&mut still, 1, 0, [DVec2::ONE, DVec2::NEG_X, DVec2::NEG_Y]);
    set(&mut still, 2, 0, [DVec2::ZERO, DVec2::X, DVec2::Y]);
    set(&mut still, 3, 1, [DVec2::ZERO, DVec2::Y, DVec2::X]);
    set(&mut still, 6, 0, [DVec2::ONE, DVec2::NEG_Y, DVec2::NEG_X]);
    // From behind.
    let Shape::Quad { corner, u, .. } = &mut still.specimens[7].shape else {
        panic!("no rectangle")
    };
    *corner += *u;
    *u = -*u;
    still
}

#[test]
fn normal_maps_tilt_to_the_right_sides() {
    check(&mut Studio::new(), "normals", &normals(), 60);
}

fn transforms() -> Still {
    let look = |slot, edit: &dyn Fn(&mut Map2)| {
        let mut map = Map2::new(slot, patches());
        edit(&mut map);
        Look {
            base_color: DVec4::new(0.9, 0.9, 0.9, 1.0),
            metallic: 0.8,
            roughness: 0.9,
            emissive: DVec3::splat(if slot == Slot::Emissive { 1.0 } else { 0.0 }),
            emissive_strength: if slot == Slot::Emissive { 2.5 } else { 1.0 },
            maps: vec![map],
            ..Look::default()
        }
    };
    let offset = |map: &mut Map2| map.offset = DVec2::new(0.25, -0.5);
    let turned = |map: &mut Map2| map.rotation = 0.4;
    let all = |map: &mut Map2| {
        map.uv_set = 1;
        map.offset = DVec2::new(0.1, 0.7);
        map.rotation = -1.1;
        map.scale = DVec2::new(0.8, 1.3);
    };
    wall(
        vec![
            look(Slot::BaseColor, &offset),
            look(Slot::BaseColor, &turned),
            look(Slot::BaseColor, &all),
            look(Slot::MetallicRoughness, &turned),
            look(Slot::MetallicRoughness, &all),
            look(Slot::Emissive, &|map| {
                map.offset = DVec2::Y;
                map.rotation = FRAC_PI_2;
                map.scale = DVec2::splat(0.5);
            }),
            look(Slot::Emissive, &all),
            look(Slot::Emissive, &|map| map.scale = DVec2::new(1.0, -1.0)),
        ],
        4,
        lamp(),
    )
}

#[test]
fn texture_transforms_move_turn_and_scale() {
    check(&mut Studio::new(), "transforms", &transforms(), 75);
}

fn colors() -> Still {
    let mut still = wall(vec![Look::default(), Look::default()], 2, lamp());
    for (specimen, metallic) in still.specimens.iter_mut().zip([0.0, 1.0]) {
        specimen.look.metallic = metallic;
        specimen.look.base_color = DVec4::new(1.0, 0.8, 0.6, 1.0);
        specimen.colors = Some([
            DVec4::new(0.1, 0.9, 0.3, 1.0),
            DVec4::new(0.8, -0.7, 0.0, 0.0),
            DVec4::new(0.0, 0.0, 0.6, 0.0),
        ]);
    }
    still
}

#[test]
fn vertex_colours_are_linear_and_multiply() {
    check(&mut Studio::new(), "colours", &colors(), 40);
}

/// A floor below one light.
fn floor(beam: Beam) -> Still {
    Still {
        specimens: vec![Specimen::new(
            Shape::quad(DVec3::new(-4.0, 0.0, 4.0), 8.0 * DVec3::X, -8.0 * DVec3::Z),
            Look {
                base_color: DVec4::new(0.6, 0.7, 0.8, 1.0),
                roughness: 0.7,
                ..Look::default()
            },
        )],
        beams: vec![beam],
        eye: DVec3::new(0.5, 5.0, 6.0),
        target: DVec3::ZERO,
        fov: 0.9,
    }
}

#[test]
fn lights_shine_in_candela_and_lux() {
    let mut studio = Studio::new();
    let from = DVec3::new(0.5, 2.0, -0.5);
    let lights = [
        ("lux", Beam::new(Lamp::Directional, 5.0, from, DVec3::ZERO)),
        ("candela", Beam::new(Lamp::Point, 40.0, from, DVec3::ZERO)),
        ("far", Beam::new(Lamp::Point, 4e4, 30.0 * from, DVec3::ZERO)),
        (
            "range",
            Beam {
                range: Some(3.5),
                ..Beam::new(Lamp::Point, 40.0, from, DVec3::ZERO)
            },
        ),
        (
            "cone",
            Beam::new(Lamp::Spot(0.3, 0.7), 40.0, from, DVec3::new(-0.5, 0.0, 0.5)),
        ),
        (
            "narrow cone",
            Beam {
                color: DVec3::new(1.0, 0.5, 0.25),
                range: Some(5.0),
                ..Beam::new(Lamp::Spot(0.0, PI / 4.0), 40.0, from, DVec3::X)
            },
        ),
    ];
    for (name, beam) in lights {
        check(&mut studio, name, &floor(beam), 10);
    }
}

#[test]
fn the_comparison_can_fail() {
    let still = floor(Beam::new(Lamp::Point, 40.0, DVec3::Y * 2.0, DVec3::ZERO));
    let mut radiance: Vec<[f32; 4]> = (0..SIZE[0] * SIZE[1])
        .map(|i| {
            let (x, y) = (f64::from(i % SIZE[0]) + 0.5, f64::from(i / SIZE[0]) + 0.5);
            still
                .look(SIZE, x, y)
                .radiance
                .as_vec3()
                .extend(1.0)
                .to_array()
        })
        .collect();
    let (found, left_out) = compare(&still, &radiance);
    assert!(found[0].error < 1e-6 * found[0].peak && found[0].pixels > 5000);
    assert!(left_out < 1000, "{left_out}");
    let middle = (60 * SIZE[0] + 80) as usize;
    radiance[middle][1] *= 1.02;
    let (off, _) = compare(&still, &radiance);
    assert!(off[0].error > TOLERANCE * off[0].peak * 0.5);
    radiance[middle][1] = f32::NAN;
    assert!(compare(&still, &radiance).0[0].error.is_infinite());
}
