//! Materials and lights are compared, pixel by pixel in linear radiance, with an independent evaluation of
//! the specifications in f64 (tests/common/appearance.rs). Golden pictures show the same scenes with all
//! effects on.

use crate::common;

use canopy::{
    config::{Background, Config, EnvironmentSource, OcclusionMode, ReflectionMode, ShadowMode, Switch},
    gpu::{Gpu, GpuImage, Tier},
    reference::paths,
    render::{Channel, FrameInput, Renderer, View},
    scene::{self, Layers, Pose, Progress, Projection, Scene},
};
use common::appearance::{Alpha, Beam, Lamp, Look, Map2, Shape, Slot, Specimen, Still, Texels, reflected};
use common::by_lane;
use common::gltf_builder::{Builder, U32};
use common::golden::{compare_with_golden, difference};
use glam::{DVec2, DVec3, DVec4, Vec3};
use serde_json::{Value, json};
use std::f64::consts::{FRAC_PI_2, PI};

const SIZE: [u32; 2] = [160, 120];

/// Largest allowed error, as a fraction of the specimen's peak: the peak of the picture, or less.
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
        let gpu = Gpu::new(canopy::device::options(&whole().gpu))
            .unwrap_or_else(|e| panic!("the tests need a graphics adapter: {e}"));
        let renderer = Renderer::new(&gpu).unwrap();
        Self { gpu, renderer }
    }

    /// With exactly the limits and features that WebGPU guarantees.
    fn portable() -> Self {
        let adapter = Self::new().gpu.adapter.unwrap();
        let gpu = Gpu::open(&adapter, Tier::Portable, &canopy::device::SHADERS).unwrap();
        let renderer = Renderer::new(&gpu).unwrap();
        Self { gpu, renderer }
    }

    /// The picture as bytes, and its radiance.
    fn draw(&mut self, still: &Still, config: &Config) -> (Vec<u8>, Vec<[f32; 4]>) {
        let camera = Camera {
            eye: still.eye.as_vec3(),
            target: still.target.as_vec3(),
            fov: still.fov as f32,
        };
        self.draw_scene(&load(still), config, camera)
    }

    fn draw_scene(&mut self, scene: &Scene, config: &Config, camera: Camera) -> (Vec<u8>, Vec<[f32; 4]>) {
        self.draw_pose(scene, &Pose::new(scene, None, 0.0), config, camera)
    }

    fn draw_pose(
        &mut self,
        scene: &Scene,
        pose: &Pose,
        config: &Config,
        camera: Camera,
    ) -> (Vec<u8>, Vec<[f32; 4]>) {
        let Self { gpu, renderer } = self;
        let mut uploaded = renderer.uploader().upload(gpu, scene, config).unwrap();
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let target = GpuImage::new(gpu, "picture", SIZE, format, usage);
        let Camera {
            eye,
            target: middle,
            fov,
        } = camera;
        let input = FrameInput {
            scene,
            pose,
            view: View {
                world_from_view: glam::camera::rh::view::look_at_mat4(eye, middle, Vec3::Y).inverse(),
                projection: Projection::Perspective { fov_y: fov },
                near: 0.05,
                far: 100.0,
            },
            eye_rounding: Vec3::ZERO,
            config,
            exposure_ev: 0.0,
            elapsed_secs: f32::INFINITY,
            channel: Channel::Lit,
            size: SIZE,
            ground: None,
            reads: &[],
        };
        let encoder = renderer.record(gpu, &input, &mut uploaded, &target.view).unwrap();
        renderer.submit(gpu, encoder);
        gpu.wait().unwrap();
        gpu.check().unwrap();
        let lit = renderer
            .read_channel(gpu, Channel::Lit, &uploaded.buffers)
            .unwrap();
        (gpu.read_texture(&target.texture).unwrap(), lit.texels)
    }
}

/// Camera of a scene.
#[derive(Clone, Copy)]
struct Camera {
    eye: Vec3,
    target: Vec3,
    fov: f32,
}

/// All effects, the same on every adapter.
fn whole() -> Config {
    let mut config = Config::default();
    config.environment.source = EnvironmentSource::Sky;
    config.sun.angle = 0.0;
    config.lights.radius = 0.0;
    config.occlusion.mode = OcclusionMode::Off;
    config.reflections.mode = ReflectionMode::Off;
    config
}

/// Only the scene's own lights, without shadows.
fn bare() -> Config {
    let mut config = whole();
    config.materials.multiple_scattering = false;
    config.materials.glint_filter = false;
    config.shadows.mode = ShadowMode::Off;
    config.environment.intensity = 0.0;
    config.environment.background = Background::Color;
    config.sun.enabled = Switch::Off;
    config.image.background = [0.0; 3];
    config
}

/// Results for one specimen.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    pixels: usize,
    peak: f64,
    error: f64,
}

/// Compares radiance with the evaluation, separately for each specimen. Also counts the pixels that are too
/// close to an edge of a shape, a texel or a light cone.
fn compare(still: &Still, radiance: &[[f32; 4]]) -> (Vec<Found>, usize) {
    let mut found = vec![Found::default(); still.specimens.len()];
    let mut left_out = 0;
    for (i, lit) in (0..).zip(radiance) {
        let (x, y) = (f64::from(i % SIZE[0]) + 0.5, f64::from(i / SIZE[0]) + 0.5);
        let trail = still.trail(SIZE, x, y);
        let steps = [-1.5, 0.0, 1.5];
        let parted = steps
            .iter()
            .flat_map(|dx| steps.map(|dy| (x + dx, y + dy)))
            .any(|(x, y)| still.trail(SIZE, x, y) != trail);
        if parted {
            left_out += 1;
            continue;
        }
        let seen = still.look(SIZE, x, y);
        let Some(specimen) = seen.specimen else {
            assert_eq!(lit[..3], [0.0; 3], "something at {x}, {y}");
            continue;
        };
        let error = Vec3::from_slice(lit).as_dvec3() - seen.radiance;
        let entry = &mut found[specimen];
        entry.pixels += 1;
        entry.peak = entry.peak.max(seen.radiance.max_element());
        // NaN counts as the largest error.
        let error = error
            .abs()
            .to_array()
            .map(|e| if e.is_nan() { f64::INFINITY } else { e });
        entry.error = error.into_iter().fold(entry.error, f64::max);
    }
    (found, left_out)
}

/// Draws `still` and compares every specimen with the evaluation. At most `edges` percent of the pixels may
/// be left out.
fn check(studio: &mut Studio, name: &str, still: &Still, edges: usize) {
    let (_, radiance) = studio.draw(still, &bare());
    let (found, left_out) = compare(still, &radiance);
    let pixels = (SIZE[0] * SIZE[1]) as usize;
    let is_coarse = common::rounds_corners_coarsely(&studio.gpu);
    let tolerance = if is_coarse { 4.0 * TOLERANCE } else { TOLERANCE };
    assert!(
        left_out * 100 <= edges * pixels,
        "{name}: {left_out} of {pixels} pixels are left out"
    );
    let faults: Vec<String> = found
        .iter()
        .enumerate()
        .filter(|(_, f)| f.pixels < 20 || f.error > tolerance * f.peak || f.peak < 1e-3)
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

/// Smaller highlights need smaller triangles.
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
fn metallic_roughness_spheres_match_the_gltf_specification() {
    let mut studio = Studio::new();
    let beams = [("bulb", bulb()), ("sun", sun())];
    for (name, beam) in beams.into_iter().take(by_lane(1, 2)) {
        check(&mut studio, name, &spheres(&roughness_and_metallic(), beam), 40);
    }
}

/// The highlight of one sphere, so close that it fills the picture.
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

/// Below a roughness of 0.1, the 32 bits of the G-buffer's normal are not enough. The error is 1 % at 0.07
/// and 2 % at 0.05.
#[test]
fn highlights_of_smooth_spheres_match_the_gltf_specification() {
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

/// A wall of square rectangles that face the eye, each slightly tilted so that no two are lit alike.
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

/// A lamp near a wall, which lights it unevenly.
fn lamp() -> Beam {
    Beam {
        color: DVec3::new(1.0, 0.9, 0.7),
        ..Beam::new(Lamp::Point, 30.0, DVec3::new(-1.0, 1.5, 3.0), DVec3::ZERO)
    }
}

/// Sixteen different texels.
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
    // The colour behind them.
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

/// Four tilts, one texel each: to the right, up, to the left, down.
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
    // Mirrored in u, mirrored in v, rotated by a right angle in the second set, rotated in the first.
    set(&mut still, 1, 0, [DVec2::ONE, DVec2::NEG_X, DVec2::NEG_Y]);
    set(&mut still, 2, 0, [DVec2::ZERO, DVec2::X, DVec2::Y]);
    set(&mut still, 3, 1, [DVec2::ZERO, DVec2::Y, DVec2::X]);
    set(&mut still, 6, 0, [DVec2::ONE, DVec2::NEG_Y, DVec2::NEG_X]);
    // Seen from behind.
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
fn point_and_directional_lights_are_in_candela_and_lux() {
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

/// A dielectric and a metal as a base for layers.
fn plastic() -> Look {
    Look {
        base_color: DVec4::new(0.1, 0.35, 0.6, 1.0),
        roughness: 0.4,
        ..Look::default()
    }
}

fn gold() -> Look {
    Look {
        base_color: DVec4::new(0.9, 0.7, 0.3, 1.0),
        metallic: 1.0,
        roughness: 0.3,
        ..Look::default()
    }
}

/// Rows of spheres for every extension: its name, and four looks.
fn layered() -> Vec<(&'static str, [Look; 4])> {
    let warm = DVec3::new(0.9, 0.5, 0.2);
    // The coat also covers emission.
    let glowing = Look {
        emissive: DVec3::new(0.3, 0.1, 0.2),
        ..plastic()
    };
    let ior = |ior| Look {
        ior: Some(ior),
        ..plastic()
    };
    let specular = |base: Look, factor, color| Look {
        specular: Some((factor, color)),
        ..base
    };
    let clearcoat = |base: Look, factor, roughness| Look {
        clearcoat: Some((factor, roughness)),
        ..base
    };
    let sheen = |base: Look, color, roughness| Look {
        sheen: Some((color, roughness)),
        ..base
    };
    let anisotropy = |base: Look, strength, rotation| Look {
        anisotropy: Some((strength, rotation)),
        ..base
    };
    let film = |base: Look, film| Look {
        iridescence: Some(film),
        ..base
    };
    let glossy = |diffuse: DVec3, specular, glossiness| Look {
        specular_glossiness: Some((diffuse.extend(1.0), specular, glossiness)),
        ..Look::default()
    };
    vec![
        ("ior", [ior(1.0), ior(1.33), ior(2.4), ior(0.0)]),
        (
            "specular",
            [
                specular(plastic(), 0.3, DVec3::ONE),
                specular(plastic(), 1.0, warm),
                specular(ior(1.8), 0.6, DVec3::new(30.0, 2.0, 0.5)),
                specular(gold(), 0.0, warm),
            ],
        ),
        (
            "clearcoat",
            [
                clearcoat(plastic(), 1.0, 0.2),
                clearcoat(glowing, 0.5, 0.6),
                clearcoat(gold(), 1.0, 0.4),
                clearcoat(sheen(plastic(), warm, 0.5), 0.8, 0.3),
            ],
        ),
        (
            "sheen",
            [
                sheen(plastic(), warm, 0.25),
                sheen(plastic(), DVec3::ONE, 0.5),
                sheen(plastic(), warm, 1.0),
                sheen(gold(), DVec3::new(0.1, 0.2, 0.9), 0.4),
            ],
        ),
        (
            "anisotropy",
            [
                anisotropy(plastic(), 0.6, 0.0),
                anisotropy(gold(), 1.0, 0.8),
                anisotropy(gold(), 0.5, -FRAC_PI_2),
                anisotropy(ior(2.0), 0.8, 2.5),
            ],
        ),
        (
            "iridescence",
            [
                film(plastic(), [1.0, 1.3, 100.0, 400.0]),
                film(gold(), [1.0, 1.8, 100.0, 550.0]),
                film(plastic(), [0.5, 2.2, 0.0, 250.0]),
                film(specular(ior(1.4), 0.7, warm), [1.0, 1.33, 100.0, 700.0]),
            ],
        ),
        (
            "specular-glossiness",
            [
                glossy(DVec3::new(0.6, 0.2, 0.1), DVec3::splat(0.04), 0.5),
                glossy(DVec3::ZERO, DVec3::new(0.9, 0.7, 0.3), 0.7),
                glossy(DVec3::splat(0.3), DVec3::new(0.2, 0.3, 0.1), 0.2),
                glossy(DVec3::splat(0.8), DVec3::ZERO, 0.0),
            ],
        ),
    ]
}

#[test]
fn material_layers_match_their_gltf_specifications() {
    let mut studio = Studio::new();
    let extensions = layered();
    if by_lane(true, false) {
        // One look of each extension, which stays in its column.
        for (rows, beam) in [([3, 4, 1, 2], bulb()), ([5, 6, 0, 5], sun())] {
            let looks: [Look; 4] = std::array::from_fn(|i| extensions[rows[i]].1[i].clone());
            let name = format!("{rows:?}");
            check(&mut studio, &name, &spheres(&[looks], beam), 30);
        }
        return;
    }
    for (name, looks) in extensions {
        for (lamp, beam) in [("sun", sun()), ("bulb", bulb())] {
            let still = spheres(std::slice::from_ref(&looks), beam);
            check(&mut studio, &format!("{name}, {lamp}"), &still, 30);
        }
    }
}

/// Every texture of a layer, in the second UV set, offset and rotated.
fn layer_textures() -> Still {
    let map = |slot, texels| Map2 {
        uv_set: 1,
        offset: DVec2::new(0.1, 0.3),
        rotation: 0.3,
        scale: DVec2::splat(0.9),
        ..Map2::new(slot, texels)
    };
    let with = |base: Look, slots: &[Slot]| {
        let mut look = Look {
            roughness: 0.6,
            ..base
        };
        look.maps.extend(slots.iter().map(|slot| map(*slot, patches())));
        look
    };
    let specular = Look {
        specular: Some((1.0, DVec3::new(6.0, 9.0, 4.0))),
        ..plastic()
    };
    let coat = Look {
        clearcoat: Some((1.0, 0.9)),
        ..plastic()
    };
    // On a black surface, only the coat is visible.
    let mut tilted = Look {
        base_color: DVec4::ZERO.with_w(1.0),
        ior: Some(1.0),
        ..coat.clone()
    };
    tilted.maps.push(Map2 {
        uv_set: 1,
        normal_scale: 0.5,
        ..Map2::new(Slot::ClearcoatNormal, tilts())
    });
    let sheen = Look {
        sheen: Some((DVec3::ONE, 1.0)),
        ..plastic()
    };
    let brushed = Look {
        anisotropy: Some((1.0, 0.4)),
        ..gold()
    };
    let film = Look {
        iridescence: Some([1.0, 1.6, 150.0, 700.0]),
        ..gold()
    };
    let glossy = Look {
        specular_glossiness: Some((DVec4::new(0.9, 0.8, 0.7, 1.0), DVec3::splat(0.8), 0.7)),
        ..Look::default()
    };
    let mut still = wall(
        vec![
            with(specular.clone(), &[Slot::Specular]),
            with(specular, &[Slot::SpecularColor]),
            with(coat.clone(), &[Slot::Clearcoat, Slot::ClearcoatRoughness]),
            tilted,
            with(sheen.clone(), &[Slot::SheenColor]),
            with(sheen, &[Slot::SheenRoughness]),
            with(brushed, &[Slot::Anisotropy]),
            with(film, &[Slot::Iridescence, Slot::IridescenceThickness]),
            with(glossy, &[Slot::Diffuse, Slot::SpecularGlossiness]),
        ],
        3,
        lamp(),
    );
    for specimen in &mut still.specimens {
        let Shape::Quad { uvs, .. } = &mut specimen.shape else {
            panic!("no rectangle")
        };
        // The first UV set would give another result.
        uvs[0] = [DVec2::ZERO, DVec2::Y * 0.3, DVec2::X * 0.2];
    }
    still
}

#[test]
fn layer_textures_are_sampled_with_their_transforms() {
    // textures_beyond_the_slot_limit_are_left_out also draws layers on a portable device.
    let mut studio = by_lane::<fn() -> Studio>(Studio::new, Studio::portable)();
    check(&mut studio, "textures", &layer_textures(), 75);
}

/// Panes and balls of glass in front of a wall of emissive patches.
fn glass() -> Still {
    let clear = Look {
        base_color: DVec4::new(0.9, 0.6, 0.4, 1.0),
        roughness: 0.3,
        transmission: Some(1.0),
        ..Look::default()
    };
    let mut textured = clear.clone();
    textured.maps.push(Map2::new(Slot::Transmission, patches()));
    let mut thick = Look {
        volume: Some((0.8, 0.5, DVec3::new(0.2, 0.7, 0.9))),
        double_sided: true,
        ..clear.clone()
    };
    thick.maps.push(Map2::new(Slot::Thickness, patches()));
    let mut cut = Look {
        alpha: Alpha::Mask(0.5),
        ..clear.clone()
    };
    cut.maps.push(Map2::new(Slot::BaseColor, patches()));
    let mut still = wall(
        vec![
            clear.clone(),
            Look {
                transmission: Some(0.5),
                ior: Some(1.9),
                ..clear.clone()
            },
            textured,
            thick,
            cut,
            Look {
                alpha: Alpha::Blend,
                base_color: DVec4::new(0.9, 0.6, 0.4, 0.4),
                clearcoat: Some((1.0, 0.3)),
                ..clear.clone()
            },
            Look {
                metallic: 0.5,
                ..clear.clone()
            },
            Look {
                alpha: Alpha::Blend,
                base_color: DVec4::new(0.2, 0.6, 0.4, 0.6),
                sheen: Some((DVec3::splat(0.8), 0.5)),
                ..Look::default()
            },
        ],
        4,
        lamp(),
    );
    still.specimens.push(Specimen::new(
        Shape::Sphere {
            center: DVec3::new(0.0, 0.0, 1.2),
            radius: 0.4,
            rings: 128,
        },
        clear,
    ));
    let mut patched = Look {
        base_color: DVec4::ZERO.with_w(1.0),
        emissive: DVec3::splat(0.8),
        ..Look::default()
    };
    patched.maps.push(Map2::new(Slot::Emissive, patches()));
    still.specimens.push(Specimen::new(
        Shape::quad(DVec3::new(-3.0, -2.0, -0.8), 6.0 * DVec3::X, 4.0 * DVec3::Y),
        patched,
    ));
    still
}

#[test]
fn glass_tints_the_surfaces_behind_it() {
    check(&mut Studio::new(), "glass", &glass(), 60);
}

#[test]
fn layered_surfaces_take_shadows_and_clear_glass_casts_none() {
    let mut studio = Studio::new();
    let pane = |transmission| Look {
        transmission,
        ..plastic()
    };
    let mut floor = floor(Beam::new(Lamp::Directional, 3.0, DVec3::Y, DVec3::ZERO));
    floor.specimens[0].look.clearcoat = Some((1.0, 0.5));
    floor.eye = DVec3::new(0.0, 0.6, 5.0);
    let middle = (SIZE[1] / 2 * SIZE[0] + SIZE[0] / 2) as usize;
    for mode in [ShadowMode::Rays, ShadowMode::Map] {
        let mut config = bare();
        config.shadows.mode = mode;
        for (look, lit) in [
            (None, true),
            (Some(pane(None)), false),
            (Some(pane(Some(0.4))), false),
            (Some(pane(Some(0.6))), true),
        ] {
            let mut still = floor.clone();
            let corner = DVec3::new(-1.0, 1.0, 1.0);
            let shape = Shape::quad(corner, 2.0 * DVec3::X, -2.0 * DVec3::Z);
            let name = format!("{mode:?} under {look:?}");
            let above = look.map(|look| Specimen::new(shape, look));
            still.specimens.extend(above);
            let (_, radiance) = studio.draw(&still, &config);
            let seen = Vec3::from_slice(&radiance[middle]).max_element();
            assert_eq!(seen > 0.1, lit, "{name}: {seen}");
            assert!(lit || seen == 0.0, "{name}: {seen}");
        }
    }
}

/// All effects, with ray-traced shadows and environment lighting, compared with tests/golden/NAME.png.
#[test]
fn golden_images_of_materials() {
    let mut studio = Studio::new();
    let mut stills = vec![
        ("roughness_metallic", spheres(&roughness_and_metallic(), bulb())),
        ("alpha", alphas()),
        ("normals", normals()),
        ("transforms", transforms()),
        ("colors", colors()),
        ("layer_textures", layer_textures()),
        ("glass", glass()),
    ];
    let extensions = layered();
    let row = |i: usize| -> [Look; 7] { std::array::from_fn(|j| extensions[j].1[i].clone()) };
    stills.push(("layers", spheres(&[0, 1, 2, 3].map(row), bulb())));
    let mut pictures: Vec<Vec<u8>> = Vec::new();
    for (name, mut still) in stills {
        for specimen in &mut still.specimens {
            if let Shape::Sphere { rings, .. } = &mut specimen.shape {
                *rings = 40;
            }
        }
        let (picture, _) = studio.draw(&still, &whole());
        compare_with_golden(&studio.gpu, &format!("material_{name}"), &picture, SIZE);
        // A swapped image would be detected.
        for other in &pictures {
            assert!(difference(&picture, other).0 > 5.0, "{name} looks like another");
        }
        pictures.push(picture);
    }
}

/// A triangle whose material has `extensions`, and a texture.
fn with_extensions(extensions: &Value) -> scene::Result<Scene> {
    let mut file = Builder::triangle();
    let view = file.view(&canopy::output::picture::png(1, 1, vec![255; 4]).unwrap());
    file.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    for _ in 0..12 {
        file.push("textures", json!({ "source": 0 }));
    }
    file.push("materials", json!({ "extensions": extensions }));
    file.first_primitive()["material"] = json!(0);
    let folder = tempfile::TempDir::new().unwrap();
    let path = file.write(folder.path(), "layers.glb");
    scene::load(&[path], &Config::default().load, &Progress::default())
}

#[test]
fn layer_factors_are_clamped_and_invalid_ones_are_reported() {
    let scene = with_extensions(&json!({
        "KHR_materials_ior": { "ior": 0.3 },
        "KHR_materials_specular": { "specularFactor": 1e300, "specularColorFactor": [-1, 2, 1e300] },
        "KHR_materials_clearcoat": {
            "clearcoatFactor": -3.0,
            "clearcoatRoughnessFactor": "rough",
            "clearcoatNormalTexture": { "index": 0, "scale": -1e300 },
        },
        "KHR_materials_sheen": { "sheenColorFactor": [1, 1], "sheenRoughnessFactor": 7 },
        "KHR_materials_anisotropy": { "anisotropyStrength": 9, "anisotropyRotation": 1e300 },
        "KHR_materials_iridescence": {
            "iridescenceFactor": 2,
            "iridescenceIor": 0,
            "iridescenceThicknessMinimum": -1e9,
            "iridescenceThicknessMaximum": 1e300,
            "iridescenceTexture": { "texCoord": 1 },
        },
        "KHR_materials_transmission": { "transmissionFactor": 1e9 },
        "KHR_materials_volume": {
            "thicknessFactor": -1,
            "attenuationDistance": 0,
            "attenuationColor": [0, 0.5, 8],
        },
    }))
    .unwrap();
    let layers = scene.materials[0].layers.as_deref().unwrap();
    let expected = Layers {
        ior: 1.0,
        specular: 1.0,
        specular_color: Vec3::new(0.0, 2.0, 1e6),
        clearcoat_normal_texture: layers.clearcoat_normal_texture,
        clearcoat_normal_scale: -1e6,
        sheen_roughness: 1.0,
        anisotropy: 1.0,
        anisotropy_rotation: 1e6,
        iridescence: 1.0,
        iridescence_ior: 1.0,
        iridescence_thickness_min: 0.0,
        iridescence_thickness_max: 1e6,
        transmission: 1.0,
        attenuation_distance: 1e-6,
        attenuation_color: Vec3::new(0.0, 0.5, 1.0),
        ..Layers::default()
    };
    assert!(layers.clearcoat_normal_texture.is_some());
    assert_eq!(*layers, expected);
    for what in [
        "clearcoatRoughnessFactor of KHR_materials_clearcoat of material 0 has the wrong type",
        "sheenColorFactor of KHR_materials_sheen of material 0 has the wrong type",
        "iridescenceTexture of KHR_materials_iridescence of material 0 has no index",
    ] {
        let told = scene.warnings.iter().any(|warning| warning.contains(what));
        assert!(told, "{what}: {:?}", scene.warnings);
    }
    // No pixel becomes NaN.
    let mut studio = Studio::new();
    let (_, lit) = studio.draw_scene(
        &scene,
        &whole(),
        Camera {
            eye: Vec3::new(0.3, 0.3, 2.0),
            target: Vec3::new(0.3, 0.3, 0.0),
            fov: 0.8,
        },
    );
    assert!(lit.iter().flatten().all(|x| x.is_finite()));
}

/// KHR_materials_volume: "The value is given in the coordinate space of the mesh." The thickness of each
/// instance scales with its node along the surface's normal, also during an animation of the scale.
#[test]
fn every_instance_of_a_volume_has_a_thickness_of_its_own() {
    let mut file = Builder::new();
    // A pane that faces the eye.
    let corners = [-0.5, -0.5, 0.0, 0.5, -0.5, 0.0, 0.5, 0.5, 0.0, -0.5, 0.5, 0.0_f32];
    let positions = file.floats("VEC3", &corners);
    let normals = file.floats("VEC3", &[0.0, 0.0, 1.0].repeat(4));
    let bytes: Vec<u8> = [0u32, 1, 2, 0, 2, 3]
        .iter()
        .flat_map(|i| i.to_le_bytes())
        .collect();
    let indices = file.accessor("SCALAR", U32, 6, &bytes);
    let extensions = json!({
        "KHR_materials_transmission": { "transmissionFactor": 1 },
        "KHR_materials_volume": {
            "thicknessFactor": 0.4, "attenuationDistance": 0.7, "attenuationColor": [0.3, 0.6, 0.9]
        },
        // Without reflections, all visible light has passed through.
        "KHR_materials_specular": { "specularFactor": 0 },
    });
    file.push(
        "materials",
        json!({ "extensions": extensions, "pbrMetallicRoughness": { "metallicFactor": 0 } }),
    );
    file.push(
        "materials",
        json!({ "emissiveFactor": [1, 1, 1], "pbrMetallicRoughness": { "baseColorFactor": [0, 0, 0, 1] } }),
    );
    let pane = |material| {
        json!({ "primitives": [{
            "attributes": { "POSITION": positions, "NORMAL": normals },
            "indices": indices, "material": material,
        }] })
    };
    let [glass, wall] = [0, 1].map(|material| file.push("meshes", pane(material)));
    let scales = [
        [0.5, 0.5, 0.5],
        [0.5, 0.5, 2.0],
        [1.0, 1.0, 1.0],
        [-0.5, 0.5, 1.5],
    ];
    file.json["nodes"] = json!([]);
    for (i, scale) in (0..).zip(&scales) {
        let x = f64::from(i) - 1.5;
        let translation = [x, 0.0, 0.0];
        file.push(
            "nodes",
            json!({ "mesh": glass, "scale": scale, "translation": translation }),
        );
    }
    file.push(
        "nodes",
        json!({ "mesh": wall, "scale": [9, 9, 1], "translation": [0, 0, -1] }),
    );
    // The first one grows to three times its size.
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let sizes = file.floats("VEC3", &[0.5, 0.5, 0.5, 1.5, 1.5, 1.5]);
    file.push(
        "animations",
        json!({
            "samplers": [{ "input": times, "output": sizes }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "scale" } }],
        }),
    );
    let nodes: Vec<usize> = (0..=scales.len()).collect();
    file.json["scenes"] = json!([{ "nodes": nodes }]);
    let folder = tempfile::TempDir::new().unwrap();
    let path = file.write(folder.path(), "volumes.glb");
    let load = Config::default().frame.opening.load;
    let scene = scene::load(&[path], &load, &Progress::default()).unwrap();
    assert_eq!(scene.warnings, Vec::<String>::new());

    let mut studio = Studio::new();
    let camera = Camera {
        eye: Vec3::Z * 6.0,
        target: Vec3::ZERO,
        fov: 0.6,
    };
    for (clip, time, first) in [(None, 0.0, 0.5), (Some(0), 1.0, 1.5)] {
        let pose = Pose::new(&scene, clip, time);
        let (_, lit) = studio.draw_pose(&scene, &pose, &bare(), camera);
        for (i, scale) in (0..).zip(&scales) {
            let x = (f64::from(i) - 1.5) / (6.0 * 0.3f64.tan()) * 60.0 + 80.0;
            let seen = Vec3::from_slice(&lit[60 * 160 + x as usize]).as_dvec3();
            let length: f64 = if i == 0 { first } else { scale[2] };
            let expected = DVec3::new(0.3, 0.6, 0.9).powf(0.4 * length.abs() / 0.7);
            assert!(
                (seen - expected).abs().max_element() < 0.004,
                "{scale:?} at {time}: {seen} for {expected}"
            );
        }
    }
}

/// A bumpy floor of `count` texels in each direction, many per pixel, under a lamp.
fn bumps(count: u32, slope: f64) -> (Scene, Vec<DVec3>) {
    let mut state = 7_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    // Sums of random numbers are nearly normally distributed. This one has a variance of 1.
    let mut normal = || 2.0 * [(); 3].map(|()| random()).iter().sum::<f64>();
    let texels = Texels::new([count; 2], |_, _| [0; 4]);
    let rgba8: Vec<[u8; 4]> = (0..count * count)
        .map(|_| {
            let bump = DVec3::new(slope * normal(), slope * normal(), 1.0).normalize();
            let [x, y, z] = ((bump * 0.5 + 0.5) * 255.0).round().to_array().map(|c| c as u8);
            [x, y, z, 255]
        })
        .collect();
    let normals = rgba8.iter().map(|t| {
        let stored = DVec3::new(t[0].into(), t[1].into(), t[2].into());
        (stored / 127.5 - 1.0).normalize()
    });
    let normals = normals.collect();
    let map = Map2::new(Slot::Normal, Texels { rgba8, ..texels });
    let look = Look {
        metallic: 1.0,
        roughness: 0.3,
        maps: vec![map],
        ..Look::default()
    };
    let shape = Shape::quad(DVec3::new(-2.0, -1.5, 0.0), DVec3::X * 4.0, DVec3::Y * 3.0);
    let still = Still {
        specimens: vec![Specimen::new(shape, look)],
        beams: vec![Beam::new(
            Lamp::Directional,
            3.0,
            DVec3::new(0.3, 0.0, 1.0),
            DVec3::ZERO,
        )],
        eye: DVec3::Z * 5.0,
        target: DVec3::ZERO,
        fov: 0.5,
    };
    let mut scene = load(&still);
    // Filtered between mip levels, and repeated until no texel is visible.
    scene.textures[0].sampler = scene::Sampler::default();
    let reference = scene.materials[0].normal_texture.as_mut().unwrap();
    reference.texture_from_uv = glam::Affine2::from_scale(glam::Vec2::splat(128.0));
    (scene, normals)
}

/// From far away, bumps cannot be resolved and reflect like their mean. The reference is the mean over the
/// normals in f64, with the BRDF of the specification, as far as GGX can match the normal distribution of
/// these slopes. Without the roughening, the floor has the highlight of a smooth floor, at least four times
/// as bright at its centre.
#[test]
fn minified_normal_maps_increase_roughness() {
    let mut studio = Studio::new();
    let camera = Camera {
        eye: Vec3::Z * 5.0,
        target: Vec3::ZERO,
        fov: 0.5,
    };
    for slope in [0.0, 0.1, 0.25] {
        let (scene, normals) = bumps(128, slope);
        let (_, lit) = studio.draw_scene(&scene, &bare(), camera);
        let surface = |normal: DVec3| canopy::reference::lighting::Surface {
            position: Vec3::ZERO,
            normal: normal.as_vec3(),
            albedo: Vec3::ONE,
            occlusion: 1.0,
            emissive: Vec3::ZERO,
            roughness: 0.3,
            metallic: 1.0,
            smooth_normal: Vec3::Z,
        };
        let to_light = DVec3::new(0.3, 0.0, 1.0).normalize();
        let (mut peak, mut worst) = (0.0_f64, 0.0_f64);
        for x in (4..160).step_by(8) {
            let at = (f64::from(x) + 0.5 - 80.0) / 60.0 * 0.25f64.tan() * 5.0;
            let to_eye = (DVec3::Z * 5.0 - DVec3::X * at).normalize();
            let radiance = |normal: &DVec3| {
                let n_dot_l = normal.dot(to_light).max(0.0);
                let brdf = canopy::reference::lighting::brdf(&surface(*normal), to_eye, to_light, None);
                3.0 * n_dot_l * brdf.x
            };
            let expected = normals.iter().map(radiance).sum::<f64>() / normals.len() as f64;
            let seen = f64::from(lit[(60 * SIZE[0] + x) as usize][0]);
            peak = peak.max(expected);
            worst = worst.max((seen - expected).abs());
        }
        assert!(worst < 0.3 * peak, "slope {slope}: {worst} of {peak}");
    }
}

#[test]
fn missing_layer_textures_are_reported() {
    let error = with_extensions(&json!({
        "KHR_materials_sheen": { "sheenColorTexture": { "index": 12 } },
    }))
    .unwrap_err()
    .to_string();
    let what = "sheenColorTexture of KHR_materials_sheen of material 0 refers to texture 12";
    assert!(error.contains(what), "{error}");
}

#[test]
fn textures_beyond_the_slot_limit_are_left_out() {
    let texture = |index: u32| json!({ "index": index });
    let scene = with_extensions(&json!({
        "KHR_materials_specular": { "specularTexture": texture(0), "specularColorTexture": texture(1) },
        "KHR_materials_clearcoat": {
            "clearcoatFactor": 1,
            "clearcoatTexture": texture(2),
            "clearcoatRoughnessTexture": texture(3),
            "clearcoatNormalTexture": texture(4),
        },
        "KHR_materials_sheen": {
            "sheenColorFactor": [1, 1, 1],
            "sheenColorTexture": texture(5),
            "sheenRoughnessTexture": texture(6),
        },
        "KHR_materials_anisotropy": { "anisotropyStrength": 1, "anisotropyTexture": texture(7) },
        "KHR_materials_iridescence": {
            "iridescenceFactor": 1,
            "iridescenceTexture": texture(8),
            "iridescenceThicknessTexture": texture(9),
        },
        "KHR_materials_transmission": { "transmissionFactor": 0.4, "transmissionTexture": texture(10) },
        "KHR_materials_volume": { "thicknessFactor": 1, "thicknessTexture": texture(11) },
    }))
    .unwrap();
    let mut studio = Studio::portable();
    let camera = Camera {
        eye: Vec3::new(0.3, 0.3, 2.0),
        target: Vec3::new(0.3, 0.3, 0.0),
        fov: 0.8,
    };
    let (_, lit) = studio.draw_scene(&scene, &whole(), camera);
    assert!(lit.iter().flatten().all(|x| x.is_finite()));
}

#[test]
fn the_comparison_detects_errors() {
    let still = floor(Beam::new(Lamp::Point, 40.0, DVec3::Y * 2.0, DVec3::ZERO));
    let mut radiance: Vec<[f32; 4]> = (0..SIZE[0] * SIZE[1])
        .map(|i| {
            let (x, y) = (f64::from(i % SIZE[0]) + 0.5, f64::from(i / SIZE[0]) + 0.5);
            still.look(SIZE, x, y).radiance.as_vec3().extend(1.0).to_array()
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

/// The directional integral of the layered BRDF equals the integral of the plain BRDF over half vectors.
#[test]
fn integrals_over_directions_and_half_vectors_agree() {
    for (roughness, metallic, albedo, cosine) in
        [(1.0, 1.0, 0.9, 0.8), (0.3, 1.0, 0.6, 0.5), (0.5, 0.0, 0.7, 0.9)]
    {
        let look = Look {
            base_color: DVec4::new(albedo, albedo, albedo, 1.0),
            metallic,
            roughness,
            ..Look::default()
        };
        let expected = paths::reflected(cosine, roughness, metallic, albedo, 1024);
        let error = |cosine| (reflected(&look, cosine, 256).x / expected - 1.0).abs();
        assert!(error(cosine) < 1e-3, "{}", error(cosine));
        assert!(error(0.5 * cosine) > 2e-3, "another cosine is told apart");
    }
}
