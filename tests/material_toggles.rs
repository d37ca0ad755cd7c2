//! Material feature toggles: a picture without a feature equals, bit by bit, the picture of a scene that
//! lacks it.

use crate::common;
use canopy::{
    config::{Antialias, Config, Materials, ReflectionMode, Switch},
    render::{Channel, View},
    scene::{AlphaMode, Image, Layers, LightKind, Material, Pose, Sampler, Scene, Texture, TextureRef},
};
use common::{
    gpu,
    scenes::{Stage, add_light, look_at, matte, quad, scene},
};
use glam::{Affine2, Vec3, Vec4};

const SIZE: [u32; 2] = [48, 36];
const TEXELS: u32 = 8;
const SHOWN: [Channel; 6] = [
    Channel::Normal,
    Channel::Albedo,
    Channel::Roughness,
    Channel::Metallic,
    Channel::Occlusion,
    Channel::Emissive,
];

fn view() -> View {
    look_at(Vec3::new(0.3, 0.4, 4.0), Vec3::ZERO, 100.0)
}

/// Texels of all colours. The alpha mask hides a quarter of them.
fn texels(seed: u32) -> Vec<u8> {
    (0..TEXELS * TEXELS)
        .flat_map(|i| {
            let [r, g, b] = [7, 13, 29].map(|step| ((i + seed) * step * 5 % 256) as u8);
            let alpha = if i % 4 == 0 { 0 } else { 255 };
            [r, g, b, alpha]
        })
        .collect()
}

/// A masked surface with a texture in every slot, vertex colours and a coat; a plain one next to it; a floor.
fn textured() -> Scene {
    let slot = |texture| {
        Some(TextureRef {
            texture,
            uv_set: 0,
            texture_from_uv: Affine2::IDENTITY,
        })
    };
    let full = Material {
        base_color: Vec4::new(0.9, 0.8, 0.7, 1.0),
        base_color_texture: slot(0),
        metallic: 0.7,
        roughness: 0.9,
        metallic_roughness_texture: slot(1),
        normal_texture: slot(2),
        occlusion_texture: slot(3),
        occlusion_strength: 0.8,
        emissive: Vec3::new(0.2, 0.1, 0.3),
        emissive_texture: slot(4),
        alpha_mode: AlphaMode::Mask,
        alpha_cutoff: 0.5,
        double_sided: true,
        ..Material::default()
    };
    let coated = Material {
        layers: Some(Box::new(Layers {
            clearcoat: 1.0,
            clearcoat_normal_texture: slot(2),
            ..Layers::default()
        })),
        alpha_mode: AlphaMode::Opaque,
        ..full.clone()
    };
    let mut colored = quad(Vec3::new(-1.3, -0.6, 0.0), Vec3::X, 1.2 * Vec3::Y, 0);
    let tints = [Vec4::new(1.0, 0.3, 0.2, 1.0), Vec4::new(0.2, 1.0, 0.9, 1.0)];
    colored.colors = tints.into_iter().cycle().take(6).collect();
    let plain = Material {
        emissive: Vec3::splat(0.1),
        ..matte(Vec3::new(0.2, 0.5, 0.3))
    };
    let mut scene = scene(
        [
            colored,
            quad(Vec3::new(-0.1, -0.6, 0.0), Vec3::X, 1.2 * Vec3::Y, 1),
            quad(Vec3::new(1.1, -0.6, 0.3), 0.4 * Vec3::X, Vec3::Y, 2),
            quad(Vec3::new(-2.0, -0.7, 1.0), 4.0 * Vec3::X, -2.0 * Vec3::Z, 2),
        ],
        vec![full, coated, plain],
    );
    for image in 0..5 {
        let name = format!("image {image}");
        let rgba8 = texels(11 * image);
        scene.images.push(Image::from_rgba8(name, TEXELS, TEXELS, rgba8));
        let sampler = Sampler::default();
        let image = image as usize;
        scene.textures.push(Texture { image, sampler });
    }
    let from = Vec3::new(1.0, 2.0, 3.0);
    add_light(&mut scene, LightKind::Point, 60.0, from, Vec3::ZERO);
    scene
}

/// Picture, shadows and surfaces of `scene`.
fn drawn<'s>(
    stage: &mut Stage<'s>,
    scene: &'s Scene,
    set: impl FnOnce(&mut Config),
) -> (Vec<u8>, Vec<Vec<[f32; 4]>>) {
    let config = stage.config.clone();
    if !std::ptr::eq(stage.scene, scene) {
        let uploader = stage.renderer.uploader();
        stage.uploaded = uploader.upload(stage.gpu, scene, &config).unwrap();
        stage.scene = scene;
    }
    set(&mut stage.config);
    let picture = stage.draw(&Pose::new(scene, None, 0.0), view());
    let channels = [Channel::Shadow].into_iter().chain(SHOWN);
    let channels = channels.map(|channel| stage.channel(channel).texels);
    let channels = channels.collect();
    stage.config = config;
    (picture, channels)
}

/// Bits of all texels, because the background has NaN.
fn bits(channels: &[Vec<[f32; 4]>]) -> Vec<[u32; 4]> {
    let all = channels.iter().flatten();
    all.map(|texel| texel.map(f32::to_bits)).collect()
}

#[test]
fn disabling_a_material_part_equals_a_scene_without_it() {
    let gpu = gpu();
    let scene = textured();
    type Set = fn(&mut Materials);
    type Strip = fn(&mut Scene);
    let each = |scene: &mut Scene, strip: fn(&mut Material)| {
        scene.materials.iter_mut().for_each(strip);
    };
    let cases: [(&str, Set, Strip); 7] = [
        (
            "base colour",
            |m| m.base_color_texture = false,
            |scene| {
                // Alpha is kept.
                let texels = scene.images[0].levels[0].chunks_exact_mut(4);
                texels.for_each(|texel| texel[..3].fill(255));
            },
        ),
        (
            "normals",
            |m| m.normal_texture = false,
            |scene| {
                for material in &mut scene.materials {
                    material.normal_texture = None;
                    if let Some(layers) = &mut material.layers {
                        layers.clearcoat_normal_texture = None;
                    }
                }
            },
        ),
        (
            "metal",
            |m| m.metallic_roughness_texture = false,
            |scene| {
                let strip = |material: &mut Material| material.metallic_roughness_texture = None;
                scene.materials.iter_mut().for_each(strip);
            },
        ),
        (
            "occlusion",
            |m| m.occlusion_texture = false,
            |scene| {
                let strip = |material: &mut Material| material.occlusion_texture = None;
                scene.materials.iter_mut().for_each(strip);
            },
        ),
        (
            "emissive",
            |m| m.emissive_texture = false,
            |scene| {
                let strip = |material: &mut Material| material.emissive_texture = None;
                scene.materials.iter_mut().for_each(strip);
            },
        ),
        (
            "vertices",
            |m| m.vertex_colors = false,
            |scene| {
                scene.meshes[0].primitives[0].colors.clear();
            },
        ),
        (
            "emission",
            |m| m.emission = false,
            |scene| {
                let strip = |material: &mut Material| material.emissive = Vec3::ZERO;
                scene.materials.iter_mut().for_each(strip);
            },
        ),
    ];
    let bares: Vec<_> = cases
        .iter()
        .map(|(_, _, strip)| {
            let mut bare = scene.clone();
            strip(&mut bare);
            bare
        })
        .collect();
    let mut uncoated = scene.clone();
    each(&mut uncoated, |material| material.layers = None);
    let mut unlit = scene.clone();
    for node in &mut unlit.nodes {
        node.light = None;
    }
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    // SMAA finds edges by a threshold, which rounding may cross.
    stage.config.image.antialias = Antialias::Off;
    let whole = drawn(&mut stage, &scene, |_| ());
    for ((name, set, _), bare) in cases.into_iter().zip(&bares) {
        let without = drawn(&mut stage, &scene, |config| set(&mut config.materials));
        let bare = drawn(&mut stage, bare, |_| ());
        assert!(bits(&without.1) == bits(&bare.1), "{name}");
        assert!(without.0 == bare.0, "{name}");
        // The picture differs from the one with the feature. Shadows and cut-outs are the same, except where
        // surfaces face away from the light.
        assert!(without.0 != whole.0, "{name}");
        let is_same = bits(&without.1[..1]) == bits(&whole.1[..1]);
        assert!(is_same || name == "normals", "{name}");
    }
    // Clay: a uniform appearance, with the shape and the lights of the scene.
    let clay = drawn(&mut stage, &scene, |config| config.materials.clay = true);
    assert!(bits(&clay.1[..2]) == bits(&whole.1[..2]), "shadows and normals");
    assert!(bits(&clay.1[6..]) == bits(&whole.1[6..]), "emission");
    let channels = clay.1[2].iter().zip(&clay.1[3]).zip(&clay.1[4]);
    let seen = channels.filter(|((albedo, _), _)| albedo[3] == 1.0);
    let mut count = 0;
    for ((albedo, roughness), metallic) in seen {
        let near = |value: f32, wanted: f32| (value - wanted).abs() < 2e-3;
        assert!(albedo[..3].iter().all(|c| near(*c, 0.6)), "{albedo:?}");
        assert!(near(roughness[0], 0.8) && metallic[0] == 0.0);
        count += 1;
    }
    assert!(count > 300, "{count} pixels");
    // Coats become clay too.
    let without = drawn(&mut stage, &uncoated, |config| config.materials.clay = true);
    let pairs = clay.0.iter().zip(&without.0);
    let most = pairs.map(|(a, b)| a.abs_diff(*b)).max();
    assert!(most <= Some(2), "{most:?}");
    // Lights of the scene. Without them, the same sun shines.
    let dark = drawn(&mut stage, &scene, |config| config.lights.enabled = false);
    let bare = drawn(&mut stage, &unlit, |config| {
        config.sun.enabled = Switch::Off;
    });
    assert!(dark.0 == bare.0 && dark.0 != whole.0);
}

/// Reflections show the same materials as the direct view.
#[test]
fn reflections_leave_out_disabled_material_parts_too() {
    let gpu = gpu();
    let mut scene = textured();
    // The floor is a mirror.
    let mirror = Material {
        metallic: 1.0,
        roughness: 0.0,
        ..matte(Vec3::ONE)
    };
    scene.materials.push(mirror);
    scene.meshes[3].primitives[0].material = 3;
    let all = Config::default().frame.materials;
    let none = Materials {
        base_color_texture: false,
        normal_texture: false,
        metallic_roughness_texture: false,
        occlusion_texture: false,
        emissive_texture: false,
        vertex_colors: false,
        emission: false,
        ..all
    };
    let mut bare = scene.clone();
    let texels = bare.images[0].levels[0].chunks_exact_mut(4);
    texels.for_each(|texel| texel[..3].fill(255));
    bare.meshes[0].primitives[0].colors.clear();
    for material in &mut bare.materials {
        material.normal_texture = None;
        material.metallic_roughness_texture = None;
        material.occlusion_texture = None;
        material.emissive = Vec3::ZERO;
        if let Some(layers) = &mut material.layers {
            layers.clearcoat_normal_texture = None;
        }
    }
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let mut traced = |of, materials: Materials| {
        let set = |config: &mut Config| {
            config.materials = materials;
            config.reflections.mode = ReflectionMode::Rays;
            config.reflections.filter = false;
        };
        drawn(&mut stage, of, set).0
    };
    let whole = traced(&scene, all.clone());
    let without = traced(&scene, none);
    let bare = traced(&bare, all);
    let differing = |a: &[u8], b: &[u8]| {
        let pairs = a.chunks(4).zip(b.chunks(4));
        let differs = |(a, b): &(&[u8], &[u8])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 2);
        pairs.filter(differs).count()
    };
    assert!(differing(&whole, &without) > 200);
    let wrong = differing(&without, &bare);
    assert!(wrong <= 3, "{wrong} pixels");
}
