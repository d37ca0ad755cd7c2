//! The path tracer against closed forms and integrals in f64, and against the fast frame where both are
//! exact.

use crate::common::{self, appearance};
use appearance::{Look, reflected};
use canopy::{
    config::{
        Background, Config, EnvironmentSource, ImageMode, OcclusionMode, PathKernels, ReflectionMode, Switch,
    },
    reference::{
        lbvh::triangles,
        path::{self, PathMaterial, PathScene, PathView},
        paths,
    },
    render::{
        Channel, View,
        frame::blue_noise,
        layout::Light,
        paths::{
            MAX_ADDED,
            path_sums::{PATH_FRACTION, PATH_MAX_EXPONENT, PathSums},
        },
    },
    scene::{
        AlphaMode, Layers, LightKind, Material, Pose, Scene,
        environment::{EnvironmentImage, Shape},
    },
};
use common::{
    by_lane, gpu,
    scenes::{Stage, add_light, glowing, look_at, matte, primitive, quad, scene, sphere},
};
use glam::{DVec3, Vec3};
use half::f16;
use std::{f32::consts::PI, ops::Range};

/// The six sides of a cube of ±1, facing inwards, with these materials: right, left, top, bottom, front,
/// back.
fn room(materials: [usize; 6]) -> Vec<canopy::scene::Primitive> {
    let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| 2.0 * axis);
    let [right, left, top, bottom, front, back] = materials;
    vec![
        quad(Vec3::new(1.0, -1.0, -1.0), z, y, right),
        quad(Vec3::new(-1.0, -1.0, -1.0), y, z, left),
        quad(Vec3::new(-1.0, 1.0, -1.0), x, z, top),
        quad(Vec3::new(-1.0, -1.0, -1.0), z, x, bottom),
        quad(Vec3::new(-1.0, -1.0, 1.0), y, x, front),
        quad(Vec3::new(-1.0, -1.0, -1.0), x, y, back),
    ]
}

/// Checks that samples do not use more memory. Mesa before version 25 compiles a kernel again at each
/// dispatch, and keeps it, if the kernel branches on uniforms only.
#[cfg(target_os = "linux")]
fn samples_take_no_memory(stage: &mut Stage<'_>) {
    let pages = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        let resident = text.split_whitespace().nth(1).unwrap();
        resident.parse::<u64>().unwrap()
    };
    (stage.config.fog.density, stage.config.fog.noise) = (0.1, 0.5);
    stage.config.paths.kernels = PathKernels::One;
    // Plain materials use the kernel of tests/fog.rs.
    if by_lane(true, false) {
        enter(stage, keep(plate(matte(Vec3::ONE))));
    }
    let (scene, view) = (stage.scene, at_cosine(0.8));
    traced(stage, scene, view, 1);
    let before = pages();
    traced(stage, scene, view, MAX_ADDED);
    let grown = pages().saturating_sub(before) * 4096;
    assert!(grown < 100 << 20, "{grown} bytes");
}

/// A path-traced picture with the settings of the stage.
fn traced(stage: &mut Stage<'_>, scene: &Scene, view: View, samples: u32) -> Vec<[f32; 4]> {
    stage.config.image.mode = ImageMode::Path;
    stage.config.paths.samples = samples;
    stage.renderer.path_samples = MAX_ADDED;
    let pose = Pose::new(scene, None, 0.0);
    for _ in 0..samples.div_ceil(MAX_ADDED) {
        stage.draw(&pose, view);
    }
    assert_eq!(stage.renderer.stats().path_samples, Some(samples));
    stage.channel(Channel::Lit).texels
}

fn mean(texels: &[[f32; 4]]) -> DVec3 {
    let sum: DVec3 = texels.iter().map(|t| Vec3::from_slice(t).as_dvec3()).sum();
    sum / texels.len() as f64
}

#[track_caller]
fn close(what: &str, found: f64, expected: f64, share: f64) {
    assert!(
        (found / expected - 1.0).abs() <= share,
        "{what}: {found}, not {expected}"
    );
}

/// Replaces the scene of a stage.
fn enter<'a>(stage: &mut Stage<'a>, scene: &'a Scene) {
    let upload = stage.renderer.uploader().upload(stage.gpu, scene, &stage.config);
    (stage.scene, stage.uploaded) = (scene, upload.unwrap());
}

/// A scene that outlives every stage.
fn keep(scene: Scene) -> &'static Scene {
    Box::leak(Box::new(scene))
}

fn white(stage: &mut Stage<'_>) {
    stage.config.environment.intensity = 1.0;
    stage.config.environment.color = [1.0; 3];
    stage.config.environment.background = Background::Environment;
}

/// A square in the plane z = 0 that fills the view, seen at `cosine` from its normal.
fn plate(material: Material) -> Scene {
    let corner = Vec3::new(-500.0, -500.0, 0.0);
    let plate = quad(corner, 1000.0 * Vec3::X, 1000.0 * Vec3::Y, 0);
    scene([plate], vec![material])
}

fn at_cosine(cosine: f32) -> View {
    let eye = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
    let mut view = look_at(eye, Vec3::ZERO, 100.0);
    view.projection = canopy::scene::Projection::Orthographic { half_height: 0.01 };
    view
}

fn layered(base: Material, change: impl Fn(&mut Layers)) -> Material {
    let mut layers = Layers::default();
    change(&mut layers);
    Material {
        layers: Some(Box::new(layers)),
        ..base
    }
}

/// A material without a highlight.
fn dull(albedo: f32, glow: f32) -> Material {
    Material {
        emissive: Vec3::splat(glow),
        ..layered(matte(Vec3::splat(albedo)), |layers| layers.specular = 0.0)
    }
}

/// A single test, because most of its time is the compilation of the path tracer.
#[test]
fn path_traced_light_matches_integrals() {
    let gpu = gpu();
    let grey = |albedo: f32| Material {
        metallic: 1.0,
        ..matte(Vec3::splat(albedo))
    };
    let rough = |roughness: f32, metallic: f32, albedo: f32| Material {
        roughness,
        metallic,
        ..grey(albedo)
    };

    // A plate under uniform light, against sums in f64.
    let specimens = [
        (0.3, 0.0, 0.5, 0.35),
        (0.15, 1.0, 0.5, 0.7),
        (1.0, 1.0, 0.9, 0.8),
        (0.5, 1.0, 1.0, 0.3),
        (0.6, 0.0, 0.8, 0.9),
    ];
    let plates = specimens.map(|(roughness, metallic, albedo, _)| plate(rough(roughness, metallic, albedo)));
    let mut stage = Stage::new(&gpu, &plates[0], [by_lane(18, 16); 2]);
    stage.config.materials.multiple_scattering = false;
    stage.config.materials.glint_filter = false;
    stage.darken();
    white(&mut stage);
    stage.config.paths.bounces = 2;
    let some = plates.iter().zip(specimens).take(by_lane(2, 5));
    for (scene, (roughness, metallic, albedo, cosine)) in some {
        enter(&mut stage, scene);
        let found = mean(&traced(&mut stage, scene, at_cosine(cosine), 256)).x;
        let [cosine, roughness] = [cosine, roughness].map(f64::from);
        let [metallic, albedo] = [metallic, albedo].map(f64::from);
        let expected = paths::reflected(cosine, roughness, metallic, albedo, 1024);
        let what = format!("plate of roughness {roughness}, metallic {metallic}");
        close(&what, found, expected, 0.005);
    }

    // Clear glass returns all light. Layers reflect the value of their BRDF, which has one bounce between
    // facets and loses the light of further bounces.
    let through = |change: &dyn Fn(&mut Layers)| {
        let clear = Material {
            roughness: 0.0,
            ..matte(Vec3::ONE)
        };
        layered(clear, |layers| {
            layers.transmission = 1.0;
            change(layers);
        })
    };
    let metal = |roughness: f64| Look {
        metallic: 1.0,
        roughness,
        ..Look::default()
    };
    let of_layers = [
        (
            "anisotropy",
            layered(rough(0.3, 1.0, 1.0), |l| l.anisotropy = 0.8),
            Some(Look {
                anisotropy: Some((0.8, 0.0)),
                ..metal(0.3)
            }),
        ),
        (
            "sheen",
            layered(matte(Vec3::ONE), |l| {
                (l.sheen_color, l.sheen_roughness) = (Vec3::ONE, 0.5);
            }),
            Some(Look {
                roughness: 0.8,
                sheen: Some((DVec3::ONE, 0.5)),
                ..Look::default()
            }),
        ),
        (
            "film",
            layered(rough(0.3, 1.0, 1.0), |l| {
                (l.iridescence, l.iridescence_ior) = (1.0, 1.4);
                (l.iridescence_thickness_min, l.iridescence_thickness_max) = (300.0, 300.0);
            }),
            Some(Look {
                iridescence: Some([1.0, 1.4, 300.0, 300.0]),
                ..metal(0.3)
            }),
        ),
        // The quick lane tests coats, surfaces without a highlight and glass further down.
        (
            "coat",
            layered(rough(0.4, 1.0, 1.0), |l| {
                (l.clearcoat, l.clearcoat_roughness) = (1.0, 0.2);
            }),
            Some(Look {
                clearcoat: Some((1.0, 0.2)),
                ..metal(0.4)
            }),
        ),
        (
            "specular",
            layered(matte(Vec3::ONE), |l| l.specular = 0.3),
            Some(Look {
                roughness: 0.8,
                specular: Some((0.3, DVec3::ONE)),
                ..Look::default()
            }),
        ),
        ("pane", through(&|_| ()), None),
    ];
    for (what, material, look) in of_layers.into_iter().take(by_lane(3, 6)) {
        let plate = keep(plate(Material {
            double_sided: true,
            ..material
        }));
        enter(&mut stage, plate);
        let found = mean(&traced(&mut stage, plate, at_cosine(0.8), 256)).x;
        // The integral for sheen computes its own scaling for each direction.
        let steps = if what == "sheen" { 40 } else { 512 };
        let sum = |look: &Look, cosine| reflected(look, cosine, steps).x;
        let expected = look.as_ref().map_or(1.0, |look| sum(look, 0.8));
        println!("{what}: {found:.4}, {expected:.4}");
        close(what, found, expected, 0.01);
        if what == "anisotropy" {
            // The comparison must detect another cosine and another layer.
            let other = look.unwrap();
            assert!((found / sum(&other, 0.6) - 1.0).abs() > 0.01);
            assert!((found / sum(&metal(0.3), 0.8) - 1.0).abs() > 0.01);
        }
    }

    // A ball of clear glass is invisible in uniform light.
    let glass = through(&|layers| (layers.thickness, layers.ior) = (1.0, 1.5));
    let ball = scene([sphere(Vec3::ZERO, 1.0, 24, 0)], vec![glass]);
    enter(&mut stage, &ball);
    stage.config.paths.bounces = 32;
    let front = look_at(Vec3::new(0.0, 0.0, 1.8), Vec3::ZERO, 100.0);
    close("glass", mean(&traced(&mut stage, &ball, front, 64)).x, 1.0, 0.01);

    // A blended plate covers part of the pixel.
    let veil = Material {
        base_color: Vec3::ZERO.extend(0.25),
        roughness: 1.0,
        alpha_mode: AlphaMode::Blend,
        ..layered(matte(Vec3::ZERO), |layers| layers.specular = 0.0)
    };
    let veil = plate(veil);
    enter(&mut stage, &veil);
    close(
        "veil",
        mean(&traced(&mut stage, &veil, at_cosine(0.8), 256)).x,
        0.75,
        0.005,
    );

    // A closed room whose walls all glow and reflect without a highlight: E / (1 − ρ).
    stage.darken();
    let furnace = scene(room([0; 6]), vec![dull(0.6, 0.4)]);
    enter(&mut stage, &furnace);
    stage.config.paths.bounces = 64;
    let inside = look_at(Vec3::new(0.3, 0.2, 0.8), Vec3::new(-0.2, -0.1, -1.0), 10.0);
    let texels = traced(&mut stage, &furnace, inside, 256);
    close("furnace", mean(&texels).y, 1.0, 0.005);

    // A room with a glowing ceiling.
    let cornell = scene(
        room([0, 1, 2, 3, 3, 3]),
        vec![dull(0.8, 0.0), dull(0.3, 0.0), dull(0.0, 1.0), dull(0.5, 0.0)],
    );
    enter(&mut stage, &cornell);
    let floor = {
        let mut view = look_at(Vec3::new(0.0, 0.9, 1e-4), Vec3::new(0.0, -1.0, 0.0), 10.0);
        view.projection = canopy::scene::Projection::Orthographic { half_height: 0.01 };
        view
    };
    // Light of many bounces, against radiosity. The quick lane tests the furnace.
    if by_lane(false, true) {
        let found = mean(&traced(&mut stage, &cornell, floor, 1024)).x;
        let albedos = [0.8, 0.3, 0.0, 0.5, 0.5, 0.5];
        close("room", found, floor_by_radiosity(albedos), 0.005);
    }

    // Direct light of a rectangle.
    stage.config.paths.bounces = 1;
    let found = mean(&traced(&mut stage, &cornell, floor, 256)).x;
    let [point, up] = [DVec3::NEG_Y, DVec3::Y];
    let ceiling = [DVec3::new(-1.0, 1.0, -1.0), 2.0 * DVec3::X, 2.0 * DVec3::Z];
    let expected = 0.5 * paths::rectangle_light((point, up), ceiling, 256);
    close("rectangle", found, expected, 0.005);

    // Lamps above a floor with a ball and a wall, compared with the fast frame.
    let mut lit = scene(
        [
            quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0),
            sphere(Vec3::new(-0.8, 0.5, 0.2), 0.5, 16, 1),
            primitive(
                &[[[0.4, 1.3, -0.5], [1.4, 1.3, -0.5], [0.9, 1.6, 0.6]].map(Vec3::from)],
                0,
            ),
        ],
        vec![
            Material {
                double_sided: true,
                ..matte(Vec3::ONE)
            },
            layered(rough(0.4, 0.0, 0.5), |layers| {
                (layers.clearcoat, layers.clearcoat_roughness) = (0.7, 0.3);
            }),
        ],
    );
    add_light(
        &mut lit,
        LightKind::Point,
        12.0,
        Vec3::new(0.8, 3.0, 1.0),
        Vec3::ZERO,
    );
    add_light(
        &mut lit,
        LightKind::Point,
        5.0,
        Vec3::new(-2.0, 2.0, -1.0),
        Vec3::ZERO,
    );
    enter(&mut stage, &lit);
    let above = above();
    noise_is_that_of_the_picture(&mut stage, &lit, above);
    let texels = traced(&mut stage, &lit, above, 256);
    stage.config.image.mode = ImageMode::Fast;
    stage.supersampled(&Pose::new(&lit, None, 0.0), above, 64);
    let fast = stage.channel(Channel::Lit).texels;
    close("lamps", mean(&texels).x, mean(&fast).x, 0.005);
    let average = mean(&fast).x;
    let error = |(a, b): (&[f32; 4], &[f32; 4])| f64::from((a[0] - b[0]).abs()) / average;
    let errors: Vec<f64> = texels.iter().zip(&fast).map(error).collect();
    let apart = errors.iter().filter(|error| **error > 0.06).count();
    println!("lamps: {apart} of {} pixels apart", errors.len());
    assert!(apart * 50 < errors.len(), "{apart}");

    // The same samples again, without any from before the picture changed.
    enter(&mut stage, &lit);
    let again = traced(&mut stage, &lit, above, 256);
    assert_eq!(again, texels);

    // Sums over many equal samples, all of which round in the same direction.
    let glow = plate(glowing(Vec3::splat(0.1)));
    enter(&mut stage, &glow);
    for texel in traced(&mut stage, &glow, at_cosine(1.0), by_lane(300, 2100)) {
        assert_eq!(texel[0], 0.1);
    }

    // Sums equal the twin's bit by bit, for any split of the samples.
    enter(&mut stage, &lit);
    let samples: Vec<_> = (3..8).map(|k| sums(&mut stage, above, k..k + 1)).collect();
    assert!(
        samples.windows(2).all(|pair| pair[0] != pair[1]),
        "samples differ"
    );
    let whole = sums(&mut stage, above, 3..8);
    assert!(whole == twin_sums(&samples));
    let early = sums(&mut stage, above, 3..5);
    let mut joined = sums(&mut stage, above, 5..8);
    assert_ne!(joined, early);
    joined.add(&early);
    assert!(joined == whole);
    stage.renderer.restore_paths(&gpu, &early, 2).unwrap();
    assert!(sums(&mut stage, above, 3..8) == whole, "goes on");
    assert_eq!(stage.renderer.stats().path_samples, Some(5));

    // From the smallest to the largest value.
    for glow in [1e-19, 1e-12, 3.3e-7, 1.0, 7e5, 1e11, 3e20] {
        let plate = Box::leak(Box::new(plate(glowing(Vec3::splat(glow)))));
        enter(&mut stage, plate);
        let sample = sums(&mut stage, at_cosine(1.0), 0..1);
        let expected = paths::fixed(glow, 60, 37);
        let found = sample.pixels[17].map(|word| word[0]);
        assert_eq!(
            found,
            [0, 1, 2, 3].map(|at| (expected >> (32 * at)) as u32),
            "{glow}"
        );
        assert!(
            sums(&mut stage, at_cosine(1.0), 0..7) == twin_sums(&vec![sample; 7]),
            "{glow}"
        );
    }

    stage.darken();
    stage.size = [by_lane(34, 32); 2];
    stage.config.paths.bounces = 1;
    paths_are_those_of_their_twin(&mut stage);
    separate_kernels_follow_the_same_paths(&mut stage);
    soft_shadows_are_those_of_paths(&mut stage);
    // The quick lane tests both together, in the check of occlusion at hits.
    if by_lane(false, true) {
        occlusion_is_that_of_paths(&mut stage);
        mirrors_show_what_paths_do(&mut stage);
    }
    white_surfaces_keep_all_light(&mut stage);
    hits_know_what_occludes_them(&mut stage);
    glints_are_filtered_alike(&mut stage);
    harmonics_light_as_paths_do(&mut stage);
    lamps_of_an_environment_are_chosen(&mut stage);
    #[cfg(target_os = "linux")]
    samples_take_no_memory(&mut stage);
}

/// Individual paths match their twin: a floor, a rough metal ball and a ball of clear glass below a lamp.
/// Different rounding may send a path past another edge, and then the whole path differs. This holds for at
/// most one path in fifty.
fn paths_are_those_of_their_twin(stage: &mut Stage<'_>) {
    const BOUNCES: u32 = 8;
    let glass = Material {
        roughness: 0.0,
        ..layered(matte(Vec3::splat(0.9)), |layers| {
            (layers.transmission, layers.thickness, layers.ior) = (1.0, 1.0, 1.5);
        })
    };
    let metal = Material {
        metallic: 1.0,
        roughness: 0.3,
        ..matte(Vec3::new(0.9, 0.6, 0.3))
    };
    let floor = matte(Vec3::new(0.5, 0.7, 0.3));
    let corner = Vec3::new(-3.0, 0.0, 3.0);
    let mut things = scene(
        [
            quad(corner, 6.0 * Vec3::X, -6.0 * Vec3::Z, 0),
            sphere(Vec3::new(-0.7, 0.6, 0.0), 0.6, 8, 1),
            sphere(Vec3::new(0.7, 0.7, 0.3), 0.6, 8, 2),
        ],
        vec![floor, metal, glass],
    );
    let lamp = Vec3::new(0.8, 3.0, 1.0);
    add_light(&mut things, LightKind::Point, 12.0, lamp, Vec3::ZERO);
    let things = keep(things);
    enter(stage, things);
    stage.config.paths.bounces = BOUNCES;
    let view = above();
    let found = traced(stage, things, view, 1);

    let merged = stage.merged();
    let triangles = triangles(&merged.positions, &merged.indices);
    let normals = merged.indices.iter();
    let normals: Vec<_> = normals
        .map(|corners| corners.map(|vertex| merged.normals[vertex as usize]))
        .collect();
    let mesh_of = |triangle: usize| {
        let holds = |range: &Range<u32>| range.contains(&(triangle as u32));
        merged.meshes.iter().position(holds).unwrap()
    };
    let material = |triangle| {
        let material = &things.materials[mesh_of(triangle)];
        PathMaterial {
            albedo: material.base_color.truncate(),
            roughness: material.roughness,
            metallic: material.metallic,
            glass: material.layers.as_ref().map(|layers| layers.ior.into()),
        }
    };
    let materials: Vec<_> = (0..triangles.len()).map(material).collect();
    let solid = triangles.iter().zip(&materials);
    let opaque: Vec<_> = solid
        .filter_map(|(triangle, material)| material.glass.is_none().then_some(*triangle))
        .collect();
    let light = Light {
        position: lamp.to_array(),
        kind: 1,
        intensity: [12.0; 3],
        ..Light::default()
    };
    let twin = PathScene {
        triangles: &triangles,
        normals: &normals,
        materials: &materials,
        opaque: &opaque,
        light: &light,
    };
    let eye = PathView {
        eye: view.eye().as_dvec3(),
        forward: view.forward().as_dvec3(),
        half_extents: view.half_extents(1.0).map(Vec3::as_dvec3),
        size: stage.size,
        near: view.near.into(),
    };
    // Fraction of paths that differ by more than rounding, among those not black in both.
    let differing = |index: u32| {
        let (mut lit, mut apart) = (0, 0);
        for (i, texel) in (0..).zip(&found) {
            let pixel = [i % stage.size[0], i / stage.size[0]];
            let mask = blue_noise::mask();
            let expected = path::radiance(&twin, &eye, (mask, pixel), (index, BOUNCES));
            let texel = Vec3::from_slice(texel).as_dvec3();
            let scale = expected.max(texel).max_element();
            lit += u32::from(scale > 0.0);
            apart += u32::from(texel.distance(expected) > 2e-3 * scale + 1e-6);
        }
        assert!(lit > 500, "{lit}");
        f64::from(apart) / f64::from(lit)
    };
    let [right, wrong] = [0, 1].map(differing);
    assert!(right < 0.02, "{right} of the paths differ");
    assert!(wrong > 0.5, "{wrong} of other paths differ");
    stage.config.paths.bounces = 1;
}

/// Separate kernels for each step give the same paths. The picture has an edge that cuts tiles, all kinds of
/// rays and ends of paths, and materials with bins of their own. Compilers may round differently, and then a
/// path may pass another edge. This holds for at most one path in fifty.
fn separate_kernels_follow_the_same_paths(stage: &mut Stage<'_>) {
    let glass = Material {
        roughness: 0.0,
        ..layered(matte(Vec3::splat(0.9)), |layers| {
            (layers.transmission, layers.thickness, layers.ior) = (1.0, 1.0, 1.5);
        })
    };
    let coat = layered(matte(Vec3::new(0.2, 0.4, 0.9)), |layers| {
        (layers.clearcoat, layers.clearcoat_roughness) = (1.0, 0.2);
    });
    let veil = Material {
        base_color: Vec3::ONE.extend(0.4),
        alpha_mode: AlphaMode::Blend,
        double_sided: true,
        ..matte(Vec3::ONE)
    };
    let corner = Vec3::new(-3.0, 0.0, 3.0);
    let mut things = scene(
        [
            quad(corner, 6.0 * Vec3::X, -6.0 * Vec3::Z, 0),
            sphere(Vec3::new(-0.7, 0.6, 0.0), 0.6, 8, 1),
            sphere(Vec3::new(0.7, 0.7, 0.3), 0.6, 8, 2),
            quad(Vec3::new(-2.0, 0.1, 1.0), 1.2 * Vec3::X, Vec3::Y, 3),
            quad(Vec3::new(1.5, 0.1, -1.5), Vec3::X, Vec3::Y, 4),
        ],
        vec![
            matte(Vec3::new(0.5, 0.7, 0.3)),
            coat,
            glass,
            veil,
            glowing(Vec3::new(4.0, 2.0, 1.0)),
        ],
    );
    let lamp = Vec3::new(0.8, 3.0, 1.0);
    add_light(&mut things, LightKind::Point, 12.0, lamp, Vec3::ZERO);
    let things = keep(things);
    enter(stage, things);
    white(stage);
    stage.config.environment.intensity = 0.3;
    stage.config.lights.radius = 0.2;
    stage.config.paths.bounces = 5;
    let size = std::mem::replace(&mut stage.size, [37, 21]);
    let mut by = |kernels: PathKernels, sort: bool, first: u32| {
        (stage.config.paths.kernels, stage.config.paths.sort) = (kernels, sort);
        // Another upload starts again.
        enter(stage, things);
        sums(stage, above(), first..first + 3).mean(3)
    };
    let one = by(PathKernels::One, true, 0);
    let lit = one.iter().filter(|texel| texel[0] > 0.0).count();
    assert!(lit > 600, "{lit} pixels are lit");
    let apart = |other: &[[f32; 4]]| {
        let differs = |(a, b): &(&[f32; 4], &[f32; 4])| {
            let scale = a.iter().chain(*b).copied().fold(0.0, f32::max);
            let far = a.iter().zip(*b).map(|(a, b)| (a - b).abs());
            far.fold(0.0, f32::max) > 1e-4 * scale
        };
        one.iter().zip(other).filter(differs).count()
    };
    for sort in [true, false] {
        let apart = apart(&by(PathKernels::Separate, sort, 0));
        assert!(apart * 50 < one.len(), "{apart} pixels are apart");
    }
    let apart = apart(&by(PathKernels::Separate, true, 3));
    assert!(apart * 2 > one.len(), "{apart} pixels of other paths are");
    stage.darken();
    stage.size = size;
    stage.config.lights.radius = 0.0;
    stage.config.paths.bounces = 1;
    stage.config.paths.kernels = PathKernels::Auto;
}

/// Difference of a fast picture from its reference, as fractions of the reference's mean.
#[derive(Debug)]
struct Apart {
    mean: f64,
    rms: f64,
}

impl Apart {
    fn new(fast: &[[f32; 4]], reference: &[[f32; 4]]) -> Self {
        let average = mean(reference).element_sum() / 3.0;
        let squares = fast.iter().zip(reference).map(|(a, b)| {
            let [a, b] = [a, b].map(|texel| Vec3::from_slice(texel).as_dvec3());
            a.distance_squared(b) / 3.0
        });
        Self {
            mean: mean(fast).element_sum() / (3.0 * average) - 1.0,
            rms: (squares.sum::<f64>() / fast.len() as f64).sqrt() / average,
        }
    }

    fn within(&self, [mean, rms]: [f64; 2]) -> bool {
        self.mean.abs() <= mean && self.rms <= rms
    }
}

/// Compares 64 fast frames with 256 paths per pixel. The mean and the root mean square must lie within these
/// fractions. With a wrong setting, they must not.
fn hold(stage: &mut Stage<'_>, (what, view): (&str, View), tolerance: [f64; 2], spoil: impl Fn(&mut Config)) {
    let scene = stage.scene;
    let reference = traced(stage, scene, view, 256);
    stage.config.image.mode = ImageMode::Fast;
    let pose = Pose::new(scene, None, 0.0);
    let apart = |stage: &mut Stage<'_>| {
        stage.supersampled(&pose, view, 64);
        Apart::new(&stage.channel(Channel::Lit).texels, &reference)
    };
    let right = apart(stage);
    assert!(right.within(tolerance), "{what}: {right:?}");
    // The long lane checks that the comparison can fail.
    if by_lane(false, true) {
        let settings = stage.config.clone();
        spoil(&mut stage.config);
        let wrong = apart(stage);
        stage.config = settings;
        assert!(!wrong.within(tolerance), "{what}, spoilt: {wrong:?}");
    }
}

/// A floor with a ball, and a roof above.
fn sheltered(albedo: f32) -> Scene {
    let roof = [[0.4, 1.3, -0.5], [1.4, 1.3, -0.5], [0.9, 1.6, 0.6]];
    scene(
        [
            quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0),
            sphere(Vec3::new(-0.8, 0.5, 0.2), 0.5, 16, 0),
            primitive(&[roof.map(Vec3::from)], 0),
        ],
        vec![Material {
            double_sided: true,
            ..dull(albedo, 0.0)
        }],
    )
}

fn above() -> View {
    look_at(Vec3::new(0.5, 2.6, 3.6), Vec3::new(0.0, 0.2, 0.0), 20.0)
}

/// The fast frame shades all of a light at its centre, while paths use each point. The cosines of a sun of
/// 12° have a mean 0.3 % below the cosine of its centre.
fn soft_shadows_are_those_of_paths(stage: &mut Stage<'_>) {
    let things = sheltered(0.8);
    let things = keep(things);
    enter(stage, things);
    stage.config.sun.enabled = Switch::On;
    stage.config.sun.direction = [-0.5, -1.0, -0.4];
    stage.config.sun.angle = 12.0;
    // The quick lane has a lamp with a size, and a sun without a size.
    if by_lane(false, true) {
        hold(stage, ("sun", above()), [0.005, 0.02], |c| {
            c.sun.angle = 0.0;
        });
    }
    stage.config.sun.enabled = Switch::Off;

    let mut lit = sheltered(0.8);
    let lamp = Vec3::new(0.8, 2.5, 1.0);
    add_light(&mut lit, LightKind::Point, 12.0, lamp, Vec3::ZERO);
    let lit = keep(lit);
    enter(stage, lit);
    stage.config.lights.radius = 0.3;
    hold(stage, ("lamp", above()), [0.005, 0.03], |c| {
        c.lights.radius = 0.0;
    });
    stage.config.lights.radius = 0.0;

    // A pane that transmits part of the light.
    let mut pane = sheltered(0.8);
    let material = Material {
        alpha_mode: AlphaMode::Blend,
        base_color: Vec3::splat(0.4).extend(0.6),
        double_sided: true,
        ..dull(0.4, 0.0)
    };
    pane.materials.push(material);
    let corner = Vec3::new(-1.2, 1.8, 1.0);
    let own = quad(corner, 1.5 * Vec3::X, -1.5 * Vec3::Z, pane.materials.len() - 1);
    pane.meshes[0].primitives.push(own);
    let pane = keep(pane);
    enter(stage, pane);
    stage.config.sun.enabled = Switch::On;
    stage.config.sun.angle = 0.0;
    hold(stage, ("pane", above()), [0.006, 0.05], |c| {
        c.shadows.blended_cast = false;
    });
    stage.config.sun.enabled = Switch::Off;
}

/// Both are the cosine-weighted unoccluded fraction of the hemisphere. Surfaces are so dark that the light
/// between them, which the fast frame estimates, is negligible. The remaining difference is the noise of
/// both, which falls with more rays.
fn occlusion_is_that_of_paths(stage: &mut Stage<'_>) {
    let things = sheltered(0.02);
    let things = keep(things);
    enter(stage, things);
    white(stage);
    stage.config.environment.background = Background::Color;
    stage.config.occlusion.mode = OcclusionMode::Rays;
    hold(stage, ("occlusion", above()), [0.005, 0.07], |c| {
        c.occlusion.radius = 0.5;
    });
    stage.config.occlusion.mode = OcclusionMode::Off;
    stage.darken();
}

/// Paths treat roughness below 0.045 as 0.045. This blurs edges by two thousandths of a radian.
fn mirrors_show_what_paths_do(stage: &mut Stage<'_>) {
    let mirror = Material {
        metallic: 1.0,
        roughness: 0.0,
        ..matte(Vec3::new(0.9, 0.7, 0.5))
    };
    let glow = |radiance| Material {
        double_sided: true,
        emissive: radiance,
        ..dull(0.0, 0.0)
    };
    let hall = scene(
        [
            quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0),
            quad(Vec3::new(-2.0, 0.2, -1.5), 1.8 * Vec3::X, 1.5 * Vec3::Y, 1),
            sphere(Vec3::new(0.8, 0.7, -0.3), 0.6, 12, 2),
        ],
        vec![
            mirror,
            glow(Vec3::new(2.0, 1.0, 0.5)),
            glow(Vec3::new(0.3, 0.8, 1.5)),
        ],
    );
    let hall = keep(hall);
    enter(stage, hall);
    stage.config.reflections.mode = ReflectionMode::Rays;
    hold(stage, ("mirror", above()), [0.005, 0.05], |c| {
        c.reflections.mode = ReflectionMode::Off;
    });
    stage.config.reflections.mode = ReflectionMode::Off;
}

/// White furnaces. Multiple scattering in microfacets and layers is compensated by the same rule in the fast
/// frame and by paths. The BRDF of glTF loses that light.
fn white_surfaces_keep_all_light(stage: &mut Stage<'_>) {
    let base = |roughness: f32, metallic: f32| Material {
        roughness,
        metallic,
        ..matte(Vec3::ONE)
    };
    let coated = |base: Material, roughness: f32| {
        layered(base, |l| {
            (l.clearcoat, l.clearcoat_roughness) = (1.0, roughness);
        })
    };
    let felt = layered(base(0.8, 0.0), |l| {
        (l.sheen_color, l.sheen_roughness) = (Vec3::ONE, 0.5);
    });
    let specimens = [
        ("metal of 1", base(1.0, 1.0)),
        ("coat of 0.7", coated(base(0.9, 1.0), 0.7)),
        ("half a metal", base(0.7, 0.5)),
        ("sheen", felt),
        ("metal of 0.6", base(0.6, 1.0)),
        ("metal of 0.2", base(0.2, 1.0)),
        ("dielectric of 1", base(1.0, 0.0)),
        ("dielectric of 0.3", base(0.3, 0.0)),
        ("coat of 0.1", coated(base(0.5, 0.0), 0.1)),
    ];
    white(stage);
    stage.config.paths.bounces = 2;
    // The plates above use equally few paths for the same tolerance.
    let size = stage.size;
    stage.size = by_lane([18; 2], size);
    for (name, material) in specimens.into_iter().take(by_lane(4, 9)) {
        let scene = keep(plate(material));
        enter(stage, scene);
        for cosine in [0.4, 0.9].into_iter().take(by_lane(1, 2)) {
            stage.config.materials.multiple_scattering = true;
            let by_paths = mean(&traced(stage, scene, at_cosine(cosine), 256)).x;
            close(&format!("{name}, {cosine}, paths"), by_paths, 1.0, 0.005);
            stage.config.image.mode = ImageMode::Fast;
            stage.draw(&Pose::new(scene, None, 0.0), at_cosine(cosine));
            let fast = mean(&stage.channel(Channel::Lit).texels).x;
            close(&format!("{name}, {cosine}, frame"), fast, 1.0, 0.005);
        }
        if name == "metal of 1" {
            stage.config.materials.multiple_scattering = false;
            let by_paths = mean(&traced(stage, scene, at_cosine(0.9), 256)).x;
            assert!(by_paths < 0.6, "{by_paths}");
        }
    }
    stage.size = size;
    stage.config.image.mode = ImageMode::Fast;
    stage.darken();
}

/// A metal ball in a box that is open at the top. Surfaces seen in reflections are occluded like those seen
/// directly.
fn hits_know_what_occludes_them(stage: &mut Stage<'_>) {
    let ball = Material {
        metallic: 1.0,
        roughness: 0.1,
        ..matte(Vec3::splat(0.9))
    };
    let [x, y, z] = [2.0 * Vec3::X, Vec3::Y, 2.0 * Vec3::Z];
    let sides = [
        quad(Vec3::new(1.0, -1.0, -1.0), z, y, 0),
        quad(Vec3::new(-1.0, -1.0, -1.0), y, z, 0),
        quad(Vec3::new(-1.0, -1.0, -1.0), z, x, 0),
        quad(Vec3::new(-1.0, -1.0, 1.0), y, x, 0),
        quad(Vec3::new(-1.0, -1.0, -1.0), x, y, 0),
        sphere(Vec3::new(0.0, -0.5, 0.0), 0.4, 24, 1),
    ];
    let open = keep(scene(sides, vec![dull(0.8, 0.0), ball]));
    enter(stage, open);
    white(stage);
    stage.config.materials.multiple_scattering = true;
    stage.config.paths.bounces = 16;
    stage.config.occlusion.mode = OcclusionMode::Rays;
    stage.config.reflections.mode = ReflectionMode::Rays;
    let view = look_at(Vec3::new(0.0, -0.4, 0.95), Vec3::new(0.0, -0.5, 0.0), 10.0);
    let side = stage.size[0] as usize;
    let middle = |texels: &[[f32; 4]]| {
        let inside = side / 2 - 6..side / 2 + 6;
        let rows = texels.chunks(side).skip(inside.start).take(inside.len());
        let texels: Vec<_> = rows.flat_map(|row| row[inside.clone()].to_vec()).collect();
        mean(&texels).x
    };
    let reference = middle(&traced(stage, open, view, by_lane(64, 256)));
    stage.config.image.mode = ImageMode::Fast;
    let mut apart = |occlusion| {
        stage.config.occlusion.mode = occlusion;
        stage.supersampled(&Pose::new(open, None, 0.0), view, by_lane(32, 64));
        middle(&stage.channel(Channel::Lit).texels) / reference - 1.0
    };
    let (known, unknown) = (apart(OcclusionMode::Rays), apart(OcclusionMode::Off));
    assert!(known.abs() < 0.1 && unknown > 0.15, "{known} {unknown}");
    stage.config.occlusion.mode = OcclusionMode::Off;
    stage.config.reflections.mode = ReflectionMode::Off;
    stage.darken();
}

/// Shiny balls as large as a pixel, below the sun. Highlights smaller than the sample spacing would be noise.
fn glints_are_filtered_alike(stage: &mut Stage<'_>) {
    let shiny = Material {
        metallic: 1.0,
        roughness: 0.1,
        ..matte(Vec3::splat(0.9))
    };
    let at = |i: u16| Vec3::new(f32::from(i % 12) - 5.5, f32::from(i / 12) - 5.5, 0.0);
    let balls = (0..144).map(|i| sphere(0.2 * at(i), 0.06, 8, 0));
    let balls = keep(scene(balls.collect::<Vec<_>>(), vec![shiny]));
    enter(stage, balls);
    stage.config.sun.enabled = Switch::On;
    stage.config.sun.direction = [-0.3, -0.4, -1.0];
    stage.config.paths.bounces = 1;
    stage.config.materials.glint_filter = true;
    let view = look_at(Vec3::new(0.0, 0.0, 4.0), Vec3::ZERO, 20.0);
    // If pixels are larger than balls, more of the remaining noise differs from pixel to pixel.
    hold(stage, ("glints", view), [0.02, by_lane(0.24, 0.16)], |c| {
        c.materials.glint_filter = false;
    });
    stage.config.sun.enabled = Switch::Off;
}

/// Irradiance from nine coefficients is exact for radiance without any others.
fn harmonics_light_as_paths_do(stage: &mut Stage<'_>) {
    let radiance = |d: Vec3| {
        let (slope, bend) = (0.5 * d.y + 0.3 * d.x, 0.4 * d.x * d.z + 0.2 * d.y * d.y);
        Vec3::new(1.0 + slope, 0.8 + bend, 1.2 - 0.6 * d.z + 0.5 * bend)
    };
    let (width, height) = (128, 64);
    let texel = |i: u32| {
        let along = |index: u32, count: u32| (index as f32 + 0.5) / count as f32;
        let azimuth = (2.0 * along(i % width, width) - 1.0) * PI;
        let polar = along(i / width, height) * PI;
        let (sine, cosine) = polar.sin_cos();
        let direction = Vec3::new(sine * azimuth.cos(), cosine, sine * azimuth.sin());
        radiance(direction).extend(1.0).to_array().map(f16::from_f32)
    };
    let image = EnvironmentImage {
        name: "nine coefficients".into(),
        shape: Shape::Equirectangular,
        width,
        height,
        texels: (0..width * height).map(texel).collect(),
        scale: 1.0,
        sun: None,
        warnings: Vec::new(),
    };
    let ball = scene([sphere(Vec3::ZERO, 1.0, 32, 0)], vec![dull(0.8, 0.0)]);
    let ball = keep(ball);
    enter(stage, ball);
    stage.renderer.set_environment(stage.gpu, Some(&image)).unwrap();
    white(stage);
    stage.config.environment.file = "nine coefficients".into();
    stage.config.environment.source = EnvironmentSource::Auto;
    stage.config.environment.background = Background::Color;
    let view = look_at(Vec3::new(0.5, 1.0, 2.6), Vec3::ZERO, 10.0);
    hold(stage, ("harmonics", view), [0.005, 0.03], |c| {
        c.environment.rotation = 90.0;
    });
}

/// Paths find lamps of one texel each at any place: at a pole, at the seam of the image, next to each other,
/// and near edges of the cube's faces. The filter of the lookup spreads them over the texels around them.
fn lamps_of_an_environment_are_chosen(stage: &mut Stage<'_>) {
    let (width, height) = (128, 64);
    let lamps = [
        [64, 12],
        [0, 20],
        [127, 33],
        [40, 0],
        [16, 16],
        [17, 16],
        [80, 31],
        [100, 45],
    ];
    let texel = |i: u32| {
        let is_lamp = lamps.contains(&[i % width, i / width]);
        let radiance = if is_lamp { 2000.0 } else { 0.02 };
        [radiance, radiance, radiance, 1.0].map(f16::from_f32)
    };
    let image = EnvironmentImage {
        name: "lamps".into(),
        shape: Shape::Equirectangular,
        width,
        height,
        texels: (0..width * height).map(texel).collect(),
        scale: 1.0,
        sun: None,
        warnings: Vec::new(),
    };
    let ball = scene([sphere(Vec3::ZERO, 1.0, 32, 0)], vec![dull(0.8, 0.0)]);
    let ball = keep(ball);
    enter(stage, ball);
    let renderer = &mut stage.renderer;
    renderer.set_environment(stage.gpu, Some(&image)).unwrap();
    stage.config.environment.file = "lamps".into();
    stage.config.paths.bounces = 1;
    let view = look_at(Vec3::new(0.5, 1.0, 2.6), Vec3::ZERO, 10.0);
    let mut noise = |face| {
        stage.config.environment.face = face;
        // The same picture continues from 16 paths to many.
        let few = traced(stage, ball, view, 16);
        Apart::new(&few, &traced(stage, ball, view, by_lane(256, 1024)))
    };
    let (chosen, fine) = (noise(0), noise(512));
    // Weights of single texels would make it nine times as noisy.
    assert!(chosen.rms < 2.0 * fine.rms, "{chosen:?}, {fine:?}");
    assert!(chosen.mean.abs() < 0.02, "{chosen:?}");
    stage.config.environment.face = 0;
}

/// Radiance of the centre of the floor in a room of ±1 whose ceiling has a radiance of 1. Walls consist of
/// uniform parts.
fn floor_by_radiosity(albedos: [f64; 6]) -> f64 {
    const SIDE: u32 = 12;
    let sides = [
        [DVec3::new(1.0, -1.0, -1.0), DVec3::Z, DVec3::Y],
        [DVec3::new(-1.0, -1.0, -1.0), DVec3::Y, DVec3::Z],
        [DVec3::new(-1.0, 1.0, -1.0), DVec3::X, DVec3::Z],
        [DVec3::new(-1.0, -1.0, -1.0), DVec3::Z, DVec3::X],
        [DVec3::new(-1.0, -1.0, 1.0), DVec3::Y, DVec3::X],
        [DVec3::new(-1.0, -1.0, -1.0), DVec3::X, DVec3::Y],
    ];
    let step = 2.0 / f64::from(SIDE);
    let parts: Vec<(usize, [DVec3; 3])> = (0..6)
        .flat_map(|side| {
            (0..SIDE * SIDE).map(move |i| {
                let [corner, u, v] = sides[side];
                let at = corner + f64::from(i % SIDE) * step * u + f64::from(i / SIDE) * step * v;
                (side, [at, step * u, step * v])
            })
        })
        .collect();
    let middle = |[corner, u, v]: [DVec3; 3]| (corner + 0.5 * (u + v), u.cross(v).normalize());
    let seen_from = |at: (DVec3, DVec3), steps| -> Vec<f64> {
        let shares = parts.iter();
        let shares = shares.map(|(_, part)| paths::rectangle_light(at, *part, steps));
        shares.collect()
    };
    // No light leaves a closed room, so the form factors of a part add up to 1.
    let closed = |shares: Vec<f64>| -> Vec<f64> {
        let sum: f64 = shares.iter().sum();
        shares.iter().map(|share| share / sum).collect()
    };
    let factors: Vec<_> = parts
        .iter()
        .map(|(_, part)| closed(seen_from(middle(*part), 4)))
        .collect();
    let emitted: Vec<f64> = parts
        .iter()
        .map(|(side, _)| f64::from(u8::from(*side == 2)))
        .collect();
    let albedo: Vec<f64> = parts.iter().map(|(side, _)| albedos[*side]).collect();
    let sent = paths::radiosity(&emitted, &albedo, &factors);
    let floor = seen_from((DVec3::NEG_Y, DVec3::Y), 16);
    albedos[3] * floor.iter().zip(&sent).map(|(f, b)| f * b).sum::<f64>()
}

/// Sums of these samples.
fn sums(stage: &mut Stage<'_>, view: View, part: Range<u32>) -> PathSums {
    stage.renderer.path_part = Some(part);
    let pose = Pose::new(stage.scene, None, 0.0);
    stage.draw(&pose, view);
    stage.renderer.path_part = None;
    stage.renderer.read_path_sums(stage.gpu).unwrap()
}

/// The noise estimated from few samples equals their distance from the mean of many.
fn noise_is_that_of_the_picture(stage: &mut Stage<'_>, scene: &Scene, view: View) {
    let pose = Pose::new(scene, None, 0.0);
    stage.config.image.mode = ImageMode::Path;
    stage.config.paths.samples = 256;
    let mut add = |samples: u32| {
        stage.renderer.path_samples = samples;
        let picture = stage.supersampled(&pose, view, 1);
        (picture, stage.renderer.read_noise(stage.gpu).unwrap())
    };
    let (_, early) = add(8);
    assert_eq!(early, None);
    let (few, noise) = add(16);
    let (many, later) = add(MAX_ADDED);
    let noise = noise.unwrap();
    assert_eq!((noise.frames, noise.is_converged()), (24, false), "{noise:?}");
    assert!(later.unwrap().levels < noise.levels, "{later:?}, {noise:?}");
    let pixels = |picture: &[u8]| picture.as_chunks::<4>().0.to_vec();
    let apart = |(few, many): (&[u8; 4], &[u8; 4])| {
        let apart = |channel: usize| few[channel].abs_diff(many[channel]);
        (0..4).map(apart).max()
    };
    let (few, many) = (pixels(&few), pixels(&many));
    let mut errors: Vec<_> = few.iter().zip(&many).filter_map(apart).collect();
    errors.sort_unstable();
    let error = f32::from(errors[errors.len() * 19 / 20]);
    let share = noise.levels / error;
    assert!((0.5..2.0).contains(&share), "{noise:?}, {error}");
}

/// Sums of samples from the twin.
fn twin_sums(samples: &[PathSums]) -> PathSums {
    let mut whole = PathSums::new(samples[0].size);
    let most = PATH_MAX_EXPONENT as i32 - 126;
    let means: Vec<_> = samples.iter().map(|sample| sample.mean(1)).collect();
    for (pixel, words) in whole.pixels.iter_mut().enumerate() {
        for channel in 0..4 {
            let fixed = means
                .iter()
                .map(|mean| paths::fixed(mean[pixel][channel], PATH_FRACTION as i32, most));
            let total: u128 = fixed.sum();
            for (at, word) in words.iter_mut().enumerate() {
                word[channel] = (total >> (32 * at)) as u32;
            }
        }
    }
    whole
}

/// A day of samples loses nothing in these sums, as it would in a sum of f32.
#[test]
fn path_sums_stay_exact_for_a_day_of_samples() {
    let mut random = common::Random(1);
    let (mut sum, mut exact, mut plain) = (0, 0.0, 0.0_f32);
    const COUNT: u32 = 6_000_000;
    for _ in 0..COUNT {
        let sample = random.unit() + 0.37;
        // A sum with this number of digits is exact in f64.
        exact += f64::from(sample);
        plain += sample;
        sum += paths::fixed(sample, 60, 37);
    }
    assert_eq!(sum as f64 / 2_f64.powi(60), exact);
    assert!((f64::from(plain) / exact - 1.0).abs() > 1e-5, "{plain}, {exact}");
    assert_eq!(paths::fixed(-0.5, 2, 37), 0);
    assert_eq!(paths::fixed(0.375, 2, 37), 2, "rounded");
    let largest = paths::fixed(f32::INFINITY, 2, 37);
    assert_eq!(
        [paths::fixed(f32::NAN, 2, 37), paths::fixed(1e30, 2, 37)],
        [largest; 2]
    );
    assert_eq!(largest, (1 << 39) - (1 << 15));
}

/// Kernels with an unused part draw the same picture as kernels without it.
#[test]
fn unused_kernel_parts_change_no_picture() {
    let gpu = gpu();
    let spare = layered(matte(Vec3::ONE), |layers| layers.clearcoat = 1.0);
    let of = |spare: &[Material]| {
        let colors = [Vec3::X, Vec3::Y, Vec3::ONE, Vec3::splat(0.4)];
        let materials = [&colors.map(matte)[..], spare].concat();
        let mut scene = scene(room([0, 1, 2, 3, 3, 3]), materials);
        add_light(&mut scene, LightKind::Point, 3.0, Vec3::Y, Vec3::ZERO);
        scene
    };
    let (plain, layers) = (of(&[]), of(&[spare]));
    let view = look_at(Vec3::new(0.3, 0.2, 0.8), Vec3::new(-0.2, -0.1, -1.0), 10.0);
    let picture = |scene, density: f32, mode, kernels| {
        let mut stage = Stage::new(&gpu, scene, [24, 18]);
        stage.darken();
        stage.config.fog.density = density;
        stage.config.paths.kernels = kernels;
        let texels = match mode {
            ImageMode::Path => traced(&mut stage, scene, view, 4),
            ImageMode::Fast => {
                stage.draw(&Pose::new(scene, None, 0.0), view);
                stage.channel(Channel::Lit).texels
            }
        };
        assert!(mean(&texels).min_element() > 0.01, "the picture is black");
        texels
    };
    let [one, separate] = [PathKernels::One, PathKernels::Separate];
    // Separate kernels for each step take long to compile. The quick lane compares them with a single kernel
    // above, and not in this test.
    let separate = by_lane(one, separate);
    for (mode, kernels, what, with, density) in [
        // Fog too thin to change any float.
        (ImageMode::Fast, one, "fog", &plain, 1e-30),
        (ImageMode::Path, one, "fog", &plain, 1e-30),
        (ImageMode::Path, separate, "layers", &layers, 0.0),
    ] {
        let without = picture(&plain, 0.0, mode, kernels);
        let with = picture(with, density, mode, kernels);
        if mode == ImageMode::Fast {
            assert!(picture(&plain, 0.3, mode, kernels) != without, "no fog");
        }
        // With different rounding by compilers, a path may take another direction.
        let differ = |(a, b): &(&[f32; 4], &[f32; 4])| {
            let mut pairs = a.iter().zip(*b);
            pairs.any(|(a, b)| (a - b).abs() > 1e-4 * a.abs().max(1.0))
        };
        let count = without.iter().zip(&with).filter(differ).count();
        println!("{mode:?} {what}: {count} of {} pixels", with.len());
        assert!(count <= 3, "{mode:?}, {what}: {count} pixels differ");
    }
}
