//! Reflections by rays. Rays are compared with their twin, means with integrals, and mirrors with the view
//! from behind them.

use crate::common;
use canopy::{
    config::{Antialias, Background, HitOrder, RayListing, ReflectionMode, ShadowMode},
    gpu::Gpu,
    reference::{
        lbvh::{Triangle, triangles},
        lighting::{self, Surface},
        reflections,
        shadow_start::VisiblePoint,
    },
    render::{Channel, View, frame::blue_noise},
    scene::{
        AlphaMode, Image, Layers, LightKind, Material, Pose, Primitive, Projection, Sampler, Scene, Texture,
        TextureRef, Transform, Wrap,
    },
};

use common::{
    by_lane, gpu, portable_gpu,
    scenes::{Stage, add_light, glowing, look_at, matte, quad, scene, seen_at, sphere},
};
use glam::{Affine2, DVec3, Mat4, Vec3};
use std::{f64::consts::PI, ops::Range};

const SIZE: [u32; 2] = [60, 45];

/// A stage whose rays are neither averaged nor filtered.
fn stage<'a>(gpu: &'a Gpu, scene: &'a Scene, size: [u32; 2]) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, size);
    stage.config.image.antialias = Antialias::Off;
    stage.config.reflections.mode = ReflectionMode::Rays;
    stage.config.reflections.max_roughness = 1.0;
    stage.config.reflections.bounces = 1;
    stage.config.reflections.history = 1;
    stage.config.reflections.filter = false;
    stage
}

fn rest(scene: &Scene) -> Pose {
    Pose::new(scene, None, 0.0)
}

fn metal(color: Vec3, roughness: f32) -> Material {
    Material {
        metallic: 1.0,
        roughness,
        ..matte(color)
    }
}

fn glossy(color: Vec3, roughness: f32) -> Material {
    Material {
        roughness,
        ..matte(color)
    }
}

/// An opaque texture of 2 × 2 texels.
fn textured(scene: &mut Scene, name: &str, color: impl Fn(u32, u32) -> [u8; 3]) -> TextureRef {
    let texels = (0..2 * 2).flat_map(|i| {
        let [r, g, b] = color(i % 2, i / 2);
        [r, g, b, 255]
    });
    scene.images.push(Image::from_rgba8(name, 2, 2, texels.collect()));
    let sampler = Sampler {
        wrap_u: Wrap::Repeat,
        wrap_v: Wrap::Mirror,
        ..Sampler::default()
    };
    let image = scene.images.len() - 1;
    scene.textures.push(Texture { image, sampler });
    TextureRef {
        texture: scene.textures.len() - 1,
        uv_set: 0,
        texture_from_uv: Affine2::IDENTITY,
    }
}

/// A floor between glowing quads and spheres of several materials. Only glowing surfaces are bright.
fn glowing_things() -> Scene {
    let back = -2.0 * Vec3::Z;
    let mut two_sided = glowing(Vec3::new(0.2, 0.3, 3.0));
    two_sided.double_sided = true;
    scene(
        [
            quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0),
            quad(back - 2.0 * Vec3::X, 1.5 * Vec3::X, 2.0 * Vec3::Y, 1),
            // Its back is not visible.
            quad(back + 2.0 * Vec3::X, -1.5 * Vec3::X, 2.0 * Vec3::Y, 2),
            // Its back is visible.
            quad(1.2 * Vec3::X, 1.0 * Vec3::Y, 1.0 * Vec3::Z, 3),
            sphere(Vec3::new(-0.9, 0.6, 0.2), 0.6, 12, 4),
            sphere(Vec3::new(0.5, 0.5, 0.9), 0.5, 12, 5),
        ],
        vec![
            glossy(Vec3::splat(0.5), 0.3),
            glowing(Vec3::new(2.0, 0.5, 0.1)),
            glowing(Vec3::new(0.1, 4.0, 0.3)),
            two_sided,
            metal(Vec3::new(0.9, 0.6, 0.3), 0.0),
            metal(Vec3::new(0.4, 0.6, 0.9), 0.45),
        ],
    )
}

fn lit(stage: &mut Stage<'_>) -> Vec<Vec3> {
    let lit = stage.channel(Channel::Lit).texels;
    lit.iter().map(|texel| Vec3::from_slice(texel)).collect()
}

/// Radiance that the twin's single ray of each pixel adds to the emission. `None` if rounding decides the
/// visible surface.
fn twin(stage: &mut Stage<'_>, view: View, index: u32) -> Vec<Option<DVec3>> {
    let surfaces = stage.surfaces();
    let meshes = stage.channel(Channel::Mesh).texels;
    let merged = stage.merged();
    let soup: Vec<Triangle> = triangles(&merged.positions, &merged.indices);
    let mesh_of = |triangle: usize| {
        let holds = |range: &Range<u32>| range.contains(&(triangle as u32));
        merged.meshes.iter().position(holds).unwrap()
    };
    let material = |mesh: usize| {
        let scene = stage.scene;
        &scene.materials[scene.meshes[mesh].primitives[0].material]
    };
    let at = |(i, surface): (usize, &Option<Surface>)| {
        let surface = surface.as_ref()?;
        let mesh = meshes[i][0] as usize;
        let place = (surface.position, surface.normal, mesh);
        let seen: VisiblePoint = seen_at(&merged, &soup, place, view.eye())?;
        let pixel = [i as u32 % SIZE[0], i as u32 / SIZE[0]];
        let noise = (blue_noise::mask(), pixel);
        let roughness = f64::from(surface.roughness);
        let Some(sample) = reflections::sample(&seen, roughness, noise, index) else {
            return Some(DVec3::ZERO);
        };
        let is_seen = |triangle, back: bool| !back || material(mesh_of(triangle)).double_sided;
        let Some((hit, _)) = reflections::hit(&soup, &seen, sample.direction, is_seen) else {
            return Some(DVec3::ZERO);
        };
        let f0 = DVec3::splat(0.04).lerp(surface.albedo.as_dvec3(), surface.metallic.into());
        let fresnel = f0 + (DVec3::ONE - f0) * (1.0 - sample.v_dot_h).powi(5);
        Some(fresnel * sample.lobe * material(mesh_of(hit)).emissive.as_dvec3())
    };
    surfaces.iter().enumerate().map(at).collect()
}

/// Fraction of pixels whose radiance is not the sum of their emission and the twin's value.
fn wrong_share(stage: &mut Stage<'_>, view: View, index: u32) -> f64 {
    let twin = twin(stage, view, index);
    let own = stage.channel(Channel::Emissive).texels;
    let lit = lit(stage);
    let (mut wrong, mut bright, mut count) = (0.0, 0, 0.0);
    for ((lit, own), twin) in lit.iter().zip(&own).zip(twin) {
        let Some(twin) = twin else { continue };
        let expected = Vec3::from_slice(own).as_dvec3() + twin;
        let off = (lit.as_dvec3() - expected).abs().max_element();
        // Half floats have 11 bits, and a highlight's edge lies within a pixel's rounding.
        wrong += f64::from(u8::from(off > 3e-3 * expected.max_element().max(0.1)));
        bright += u32::from(twin != DVec3::ZERO);
        count += 1.0;
    }
    assert!(count > 1500.0 && bright > 80, "{count} {bright}");
    wrong / count
}

#[test]
fn ray_hits_match_the_cpu_reference() {
    for gpu in [gpu(), portable_gpu()] {
        let scene = glowing_things();
        let view = look_at(Vec3::new(0.3, 1.4, 4.0), Vec3::new(0.0, 0.5, 0.0), 50.0);
        let mut stage = stage(&gpu, &scene, SIZE);
        stage.config.materials.multiple_scattering = false;
        stage.darken();
        for frame in 0..2 {
            stage.draw(&rest(&scene), view);
            let wrong = wrong_share(&mut stage, view, frame);
            assert!(wrong < 0.004, "{wrong}");
            // The comparison must detect another frame.
            assert!(wrong_share(&mut stage, view, frame + 1) > 0.02);
        }
    }
}

/// Light of a glowing rectangle that a surface reflects, from the midpoints of a grid over it.
fn integral(surface: &Surface, [corner, u, v]: [DVec3; 3], brdf: impl Fn(DVec3) -> DVec3) -> DVec3 {
    const STEPS: i32 = 300;
    let normal = u.cross(v).normalize();
    let area = u.cross(v).length() / f64::from(STEPS * STEPS);
    // Without diffuse light, only the lobe.
    let mut sum = DVec3::ZERO;
    for i in 0..STEPS * STEPS {
        let at = [i % STEPS, i / STEPS].map(|step| (f64::from(step) + 0.5) / f64::from(STEPS));
        let offset = corner + at[0] * u + at[1] * v - surface.position.as_dvec3();
        let to_light = offset.normalize();
        let facing = -normal.dot(to_light);
        let cosine = surface.normal.as_dvec3().dot(to_light);
        if facing > 0.0 && cosine > 0.0 {
            let solid_angle = area * facing / offset.length_squared();
            sum += brdf(to_light) * cosine * solid_angle;
        }
    }
    sum
}

#[test]
fn accumulated_reflections_match_the_integral() {
    let gpu = gpu();
    let panel = [Vec3::new(-0.6, 0.2, -1.0), 1.2 * Vec3::X, 1.1 * Vec3::Y];
    let [corner, u, v] = panel;
    for (color, metallic) in [(Vec3::ZERO, 0.0), (Vec3::new(0.9, 0.5, 0.2), 1.0)] {
        for roughness in [0.3, 0.0, 0.1, 0.6, 1.0].into_iter().take(by_lane(2, 5)) {
            let floor = Material {
                metallic,
                roughness,
                ..matte(color)
            };
            let scene = scene(
                [
                    quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0),
                    quad(corner, u, v, 1),
                ],
                vec![floor, glowing(Vec3::splat(5.0))],
            );
            // The angle is so small that a pixel sees a single point.
            let eye = Vec3::new(0.1, 1.0, 2.2);
            let view = View {
                projection: Projection::Perspective { fov_y: 0.02 },
                ..look_at(eye, Vec3::new(0.1, 0.0, 0.2), 50.0)
            };
            let mut stage = stage(&gpu, &scene, [12, 8]);
            stage.config.materials.multiple_scattering = false;
            stage.darken();
            let frames = if roughness == 0.0 { 1 } else { 256 };
            stage.supersampled(&rest(&scene), view, frames);
            let lit = lit(&mut stage);
            let surfaces = stage.surfaces();
            let mut mean = [DVec3::ZERO; 2];
            let mut worst = 0.0_f64;
            for (lit, surface) in lit.iter().zip(&surfaces) {
                let mut surface = *surface.as_ref().unwrap();
                surface.smooth_normal = surface.normal;
                let to_eye = (eye - surface.position).normalize().as_dvec3();
                let expected = match roughness {
                    // A mirror sees either the whole panel or none of it.
                    0.0 => {
                        let f0 = DVec3::splat(0.04).lerp(color.as_dvec3(), metallic.into());
                        f0 + (DVec3::ONE - f0) * (1.0 - to_eye.y).powi(5)
                    }
                    _ => integral(&surface, panel.map(Vec3::as_dvec3), |to_light| {
                        lighting::brdf(&surface, to_eye, to_light, None)
                    }),
                } * 5.0;
                worst = worst.max((lit.as_dvec3() - expected).abs().max_element());
                mean[0] += lit.as_dvec3();
                mean[1] += expected;
            }
            let [found, expected] = mean.map(|sum| sum / lit.len() as f64);
            let off = (found - expected).abs().max_element();
            let peak = 5.0 * if metallic > 0.0 { 0.9 } else { 0.09 };
            println!("{metallic} {roughness}: {found} {expected} {off} {worst} of {peak}");
            assert!(
                off < 0.005 * peak && worst < 0.05 * peak,
                "{metallic} {roughness}"
            );
        }
    }
}

/// A mirror of two triangles at z = 0 that faces +z, before a lit room with many textures. The room has more
/// materials than there are bins.
fn room_before_a_mirror() -> Scene {
    let mut scene = scene(
        [],
        vec![
            metal(Vec3::ONE, 0.0),
            matte(Vec3::new(0.8, 0.3, 0.2)),
            Material::default(),
        ],
    );
    let weave = textured(&mut scene, "weave", |x, y| {
        [250 - 100 * x as u8, 120, 90 * y as u8]
    });
    // All layers that trace no rays.
    let layers = Layers {
        specular_color: Vec3::new(0.4, 0.9, 1.0),
        clearcoat: 0.7,
        clearcoat_texture: Some(weave),
        clearcoat_roughness: 0.8,
        sheen_color: Vec3::new(0.3, 0.1, 0.5),
        sheen_color_texture: Some(weave),
        sheen_roughness: 0.6,
        anisotropy: 0.6,
        iridescence: 0.8,
        iridescence_thickness_max: 500.0,
        ..Layers::default()
    };
    scene.materials[2] = layered(
        Material {
            base_color_texture: Some(weave),
            metallic: 0.5,
            roughness: 0.7,
            ..matte(Vec3::ONE)
        },
        layers,
    );
    let mut things: Vec<Primitive> = vec![
        quad(Vec3::new(-4.0, -3.0, 0.0), 8.0 * Vec3::X, 6.0 * Vec3::Y, 0),
        sphere(Vec3::new(-0.5, 0.1, 2.5), 0.3, 16, 1),
        sphere(Vec3::new(0.4, -0.2, 2.4), 0.35, 24, 2),
    ];
    for i in 0..300_u32 {
        let reference = textured(&mut scene, &format!("{i}"), |x, y| {
            let shade = [60, 230][((x + y) % 2) as usize];
            [shade, (i % 20 * 12) as u8, (i / 20 * 16) as u8]
        });
        scene.materials.push(Material {
            base_color_texture: Some(reference),
            ..matte(Vec3::ONE)
        });
        let at = Vec3::new((i % 20) as f32 * 0.2 - 2.0, (i / 20) as f32 * 0.2 - 1.5, 3.0);
        // They face the mirror.
        things.push(quad(
            at + 0.18 * Vec3::X,
            -0.18 * Vec3::X,
            0.18 * Vec3::Y,
            3 + i as usize,
        ));
    }
    let materials = std::mem::take(&mut scene.materials);
    let (images, textures) = (scene.images, scene.textures);
    let mut scene = common::scenes::scene(things, materials);
    (scene.images, scene.textures) = (images, textures);
    // It shines past the mirror's edge, and not on the mirror.
    let to_light = Vec3::new(0.2, 1.0, -0.5);
    add_light(&mut scene, LightKind::Directional, 3.0, to_light, Vec3::ZERO);
    scene
}

#[test]
fn a_mirror_shows_the_mirrored_view() {
    let scene = room_before_a_mirror();
    let (eye, target) = (Vec3::new(0.2, 0.1, 1.8), Vec3::new(0.0, 0.0, 0.0));
    let behind = |v: Vec3| v * Vec3::new(1.0, 1.0, -1.0);
    let view = look_at(eye, target, 50.0);
    let from_behind = look_at(behind(eye), behind(target), 50.0);
    let size = [160, 120];
    // Portable devices also reflect in ray_hits_match_the_cpu_reference.
    for gpu in [gpu(), portable_gpu()].into_iter().take(by_lane(1, 2)) {
        for mode in [ShadowMode::Rays, ShadowMode::Map] {
            let mut stage = stage(&gpu, &scene, size);
            stage.config.shadows.mode = mode;
            // Matte surfaces trace no rays where they are seen directly, nor where they are hit.
            stage.config.reflections.max_roughness = 0.5;
            stage.config.environment.color = [0.3, 0.4, 0.6];
            stage.config.environment.background = Background::Environment;
            // Anisotropic filters sample along slopes, rays do not.
            stage.config.image.anisotropy = 1;
            let uploader = stage.renderer.uploader();
            stage.uploaded = uploader.upload(&gpu, &scene, &stage.config).unwrap();
            let mirror = stage.draw(&rest(&scene), view);
            let seen = stage.draw(&rest(&scene), from_behind);
            let (mut off, mut count) = (0, 0);
            for y in 0..size[1] {
                for x in 0..size[0] {
                    let at = |x: u32| 4 * (y * size[0] + x) as usize;
                    let (a, b) = (at(x), at(size[0] - 1 - x));
                    let differs = (0..3).any(|c| mirror[a + c].abs_diff(seen[b + c]) > 1);
                    off += u32::from(differs);
                    count += 1;
                }
            }
            let share = f64::from(off) / f64::from(count);
            println!("{mode:?}: {share}");
            // If corners are drawn at rounded positions, a pixel next to an edge shows another quad.
            let most = if common::rounds_corners_coarsely(&gpu) {
                0.04
            } else {
                0.005
            };
            assert!(share < most, "{mode:?}: {share}");
        }
    }
}

/// `material`, blended with the surfaces behind it.
fn blended(material: Material, alpha: f32) -> Material {
    Material {
        alpha_mode: AlphaMode::Blend,
        base_color: material.base_color.truncate().extend(alpha),
        ..material
    }
}

/// Largest difference of two pixels, and fraction of pixels that differ by more than a hundredth of their
/// value.
fn differences(a: &[Vec3], b: &[Vec3]) -> (f32, f64) {
    let off = |(a, b): (&Vec3, &Vec3)| {
        let off = (*a - *b).abs().max_element();
        off / a.max_element().max(b.max_element()).max(0.05)
    };
    let off: Vec<f32> = a.iter().zip(b).map(off).collect();
    let wrong = off.iter().filter(|off| **off > 0.01).count();
    let largest = off.iter().copied().fold(0.0, f32::max);
    (largest, wrong as f64 / off.len() as f64)
}

#[test]
fn blended_mirrors_match_opaque_mirrors() {
    let solid = room_before_a_mirror();
    let mirror = solid.materials[0].clone();
    let view = look_at(Vec3::new(0.2, 0.1, 1.8), Vec3::ZERO, 50.0);
    let mut cases = vec![(gpu(), 2)];
    if by_lane(false, true) {
        cases.extend([(gpu(), 1), (portable_gpu(), 2)]);
    }
    for (gpu, bounces) in cases {
        // From the second bounce on, a ball shows the room as well.
        let mut solid = solid.clone();
        if bounces > 1 {
            solid.materials[1] = metal(Vec3::new(0.9, 0.5, 0.4), 0.0);
        }
        let draw = |scene: &Scene, mode: ReflectionMode| {
            let mut stage = stage(&gpu, scene, [80, 60]);
            stage.config.reflections.bounces = bounces;
            stage.config.reflections.mode = mode;
            stage.config.reflections.max_roughness = 0.5;
            stage.config.environment.color = [0.3, 0.4, 0.6];
            stage.draw(&rest(scene), view);
            lit(&mut stage)
        };
        let with = |material: Material| {
            let mut scene = solid.clone();
            scene.materials[0] = material;
            scene
        };
        let expected = draw(&solid, ReflectionMode::Rays);
        let found = draw(&with(blended(mirror.clone(), 1.0)), ReflectionMode::Rays);
        let (largest, wrong) = differences(&found, &expected);
        println!("alpha 1: {largest}, {wrong}");
        assert!(wrong < 0.005, "{wrong}");
        // Half of the reflection, and half of the background.
        let found = draw(&with(blended(mirror.clone(), 0.5)), ReflectionMode::Rays);
        let behind = draw(&with(blended(mirror.clone(), 0.0)), ReflectionMode::Rays);
        let half = expected.iter().zip(&behind);
        let half: Vec<_> = half.map(|(a, b)| 0.5 * (*a + *b)).collect();
        let (largest, wrong) = differences(&found, &half);
        println!("alpha 0.5: {largest}, {wrong}");
        assert!(wrong < 0.005, "{wrong}");
        // The comparison must distinguish hits of rays from the environment.
        let cube = draw(&with(blended(mirror.clone(), 1.0)), ReflectionMode::Off);
        assert!(differences(&cube, &expected).1 > 0.2);
    }
}

#[test]
fn only_the_frontmost_blended_surface_traces_reflections() {
    let gpu = gpu();
    // Two panes before the back of a glowing wall. The glowing side is behind the eye.
    let pane = |z: f32| quad(Vec3::new(-2.0, -2.0, z), 4.0 * Vec3::X, 4.0 * Vec3::Y, 0);
    let mut lamp = glowing(Vec3::splat(4.0));
    lamp.double_sided = true;
    let lamp_at = quad(Vec3::new(-9.0, -9.0, 6.0), 18.0 * Vec3::X, 18.0 * Vec3::Y, 1);
    let glass = blended(metal(Vec3::ONE, 0.0), 0.25);
    let view = look_at(Vec3::new(0.0, 0.0, 3.0), Vec3::ZERO, 50.0);
    let draw = |panes: &[f32], frames: u32| {
        let things = panes.iter().map(|z| pane(*z)).chain([lamp_at.clone()]);
        let scene = scene(things, vec![glass.clone(), lamp.clone()]);
        let mut stage = stage(&gpu, &scene, SIZE);
        stage.darken();
        for _ in 0..frames {
            stage.draw(&rest(&scene), view);
        }
        lit(&mut stage)[(SIZE[0] * SIZE[1] / 2 + SIZE[0] / 2) as usize].x
    };
    // A quarter of 4. The second pane shows the dark environment.
    for panes in [&[0.0][..], &[0.0, -1.0], &[-1.0, 0.0]] {
        let found = draw(panes, 2);
        assert!((found - 1.0).abs() < 0.01, "{panes:?}: {found}");
    }
    assert_eq!(draw(&[], 1), 0.0);
}

#[test]
fn mirrors_show_blended_layered_surfaces() {
    let gpu = gpu();
    // The only material with layers is blended, and behind the eye.
    let mirror = quad(Vec3::new(-3.0, -3.0, -1.0), 6.0 * Vec3::X, 6.0 * Vec3::Y, 0);
    let wall = quad(Vec3::new(9.0, -9.0, 4.0), -18.0 * Vec3::X, 18.0 * Vec3::Y, 1);
    let coat = Layers {
        clearcoat: 1.0,
        clearcoat_roughness: 0.9,
        ..Layers::default()
    };
    let lamp = Material {
        emissive: Vec3::splat(3.0),
        ..glossy(Vec3::ZERO, 0.9)
    };
    let view = look_at(Vec3::new(0.0, 0.0, 3.0), Vec3::ZERO, 50.0);
    let draw = |material: Material| {
        let scene = scene(
            [mirror.clone(), wall.clone()],
            vec![metal(Vec3::ONE, 0.0), material],
        );
        let mut stage = stage(&gpu, &scene, SIZE);
        stage.darken();
        stage.draw(&rest(&scene), view);
        lit(&mut stage)
    };
    let solid = draw(layered(lamp.clone(), coat.clone()));
    let over = draw(blended(layered(lamp, coat), 1.0));
    assert!(solid.iter().all(|lit| lit.x > 2.0));
    assert!(differences(&over, &solid).0 < 0.01);
}

#[test]
fn blended_surfaces_reflect_from_both_sides_in_any_view_and_size() {
    let gpu = gpu();
    // Seen from behind, and from straight above with a parallel projection.
    let pane = quad(Vec3::new(-2.0, -2.0, 0.0), 4.0 * Vec3::X, 4.0 * Vec3::Y, 0);
    let lamp = |z: f32| quad(Vec3::new(-9.0, -9.0, z), 18.0 * Vec3::X, 18.0 * Vec3::Y, 1);
    let mut glass = blended(metal(Vec3::ONE, 0.0), 0.5);
    glass.double_sided = true;
    let mut glow = glowing(Vec3::splat(4.0));
    glow.double_sided = true;
    for side in [1.0, -1.0] {
        let scene = scene(
            [pane.clone(), lamp(6.0 * side)],
            vec![glass.clone(), glow.clone()],
        );
        let eye = 3.0 * side * Vec3::Z;
        let perspective = look_at(eye, Vec3::ZERO, 50.0);
        let parallel = View {
            projection: Projection::Orthographic { half_height: 1.0 },
            ..perspective
        };
        let mut stage = stage(&gpu, &scene, SIZE);
        stage.darken();
        for (view, size) in [(perspective, SIZE), (parallel, SIZE), (perspective, [40, 30])] {
            stage.size = size;
            stage.draw(&rest(&scene), view);
            let middle = lit(&mut stage)[(size[0] * size[1] / 2 + size[0] / 2) as usize].x;
            assert!((middle - 2.0).abs() < 0.01, "{side}, {size:?}: {middle}");
        }
    }
}

#[test]
fn the_least_roughness_is_that_of_the_sharpest_lobe() {
    let texture = TextureRef {
        texture: 0,
        uv_set: 0,
        texture_from_uv: Affine2::IDENTITY,
    };
    let rough = glossy(Vec3::ONE, 0.8);
    assert_eq!(rough.least_roughness(), 0.8);
    let unlit = Material {
        unlit: true,
        ..rough.clone()
    };
    assert_eq!(unlit.least_roughness(), f32::INFINITY);
    let mut textured = Material {
        metallic_roughness_texture: Some(texture),
        ..rough.clone()
    };
    assert_eq!(textured.least_roughness(), 0.0);
    // Alpha that stores glossiness leaves the factor as the minimum.
    let glossiness = Layers {
        glossiness: true,
        ..Layers::default()
    };
    textured = layered(textured, glossiness);
    assert_eq!(textured.least_roughness(), 0.8);
    let coat = |clearcoat_roughness_texture| Layers {
        clearcoat: 0.5,
        clearcoat_roughness: 0.3,
        clearcoat_roughness_texture,
        ..Layers::default()
    };
    assert_eq!(layered(rough.clone(), coat(None)).least_roughness(), 0.3);
    assert_eq!(layered(rough.clone(), coat(Some(texture))).least_roughness(), 0.0);
    let glass = Layers {
        transmission: 0.1,
        ..Layers::default()
    };
    assert_eq!(layered(rough, glass).least_roughness(), 0.0);
}

#[test]
fn blended_coats_match_opaque_coats() {
    let gpu = gpu();
    let panel = quad(Vec3::new(-2.0, 0.2, -1.5), 4.0 * Vec3::X, 1.5 * Vec3::Y, 1);
    let floor = quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0);
    let coat = Layers {
        clearcoat: 1.0,
        // No transmission rays are traced, because the background is drawn already.
        transmission: 0.0,
        ..Layers::default()
    };
    let coated = layered(glossy(Vec3::new(0.2, 0.1, 0.3), 0.3), coat);
    let view = look_at(Vec3::new(0.0, 1.0, 2.5), Vec3::ZERO, 50.0);
    let mean = |material: Material| {
        let scene = scene(
            [floor.clone(), panel.clone()],
            vec![material, glowing(Vec3::splat(5.0))],
        );
        let mut stage = stage(&gpu, &scene, SIZE);
        stage.darken();
        stage.supersampled(&rest(&scene), view, 64);
        let meshes = stage.channel(Channel::Emissive).texels;
        let lit = lit(&mut stage);
        let dark = lit.iter().zip(&meshes).filter(|(_, own)| own[0] == 0.0);
        dark.map(|(lit, _)| f64::from(lit.x)).sum::<f64>()
    };
    let (solid, over) = (mean(coated.clone()), mean(blended(coated.clone(), 1.0)));
    println!("{solid} {over}");
    assert!(
        solid > 20.0 && (over / solid - 1.0).abs() < 0.02,
        "{solid} {over}"
    );
    // One that also transmits shows the same reflection.
    let mut clear = coated;
    if let Some(layers) = &mut clear.layers {
        layers.transmission = 0.9;
    }
    let clear = mean(blended(clear, 1.0));
    println!("{clear}");
    assert!((clear / solid - 1.0).abs() < 0.05, "{solid} {clear}");
}

#[test]
fn skipped_reflection_passes_change_no_pixel() {
    let gpu = gpu();
    let scene = room_before_a_mirror();
    let view = look_at(Vec3::new(0.9, 0.4, 1.6), Vec3::new(0.1, 0.0, 2.2), 50.0);
    let mut stage = stage(&gpu, &scene, [100, 60]);
    // Part of the picture traces no rays, and rays are traced in several batches.
    stage.config.reflections.max_roughness = 0.75;
    stage.config.reflections.bounces = 3;
    stage.config.environment.color = [0.3, 0.4, 0.6];
    let mut expected = None;
    for list in RayListing::ALL {
        for sort in HitOrder::ALL {
            stage.config.reflections.list = list;
            stage.config.reflections.sort = sort;
            stage.draw(&rest(&scene), view);
            let found = stage.channel(Channel::Reflection).texels;
            let sent = found.iter().filter(|texel| texel[..3] != [0.0; 3]);
            let share = sent.count() as f64 / found.len() as f64;
            assert!((0.1..0.95).contains(&share), "{share}");
            let expected = expected.get_or_insert_with(|| found.clone());
            for (pixel, (found, expected)) in found.iter().zip(expected).enumerate() {
                // Trees differ from frame to frame, so at an edge either triangle may be hit.
                let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 * (1.0 + b);
                let same = found.iter().zip(&*expected).all(near);
                assert!(
                    same,
                    "{list:?} {sort:?}, pixel {pixel}: {found:?}, not {expected:?}"
                );
            }
        }
    }
    let counts = stage.renderer.stats().reflections;
    println!("{counts:?}");
    assert_eq!(counts.rays, 100 * 60);
}

#[test]
fn mirrors_reflect_each_other_up_to_the_bounce_limit() {
    let gpu = gpu();
    // Two mirrors that face each other. The glowing surface is behind the eye, above the first mirror.
    let scene = scene(
        [
            quad(Vec3::new(-3.0, -3.0, 0.0), 6.0 * Vec3::X, 6.0 * Vec3::Y, 0),
            quad(Vec3::new(3.0, -3.0, 2.0), -6.0 * Vec3::X, 2.0 * Vec3::Y, 0),
            quad(Vec3::new(3.0, -1.0, 2.0), -6.0 * Vec3::X, 4.0 * Vec3::Y, 1),
        ],
        vec![metal(Vec3::splat(0.8), 0.0), glowing(Vec3::splat(3.0))],
    );
    let view = View {
        projection: Projection::Perspective { fov_y: 0.02 },
        ..look_at(Vec3::new(0.0, -1.8, 1.5), Vec3::new(0.0, -1.5, 0.0), 50.0)
    };
    // From the mirror at z = 0 to the lower one at z = 2, back, and to the glowing surface.
    let found = [1, 2, 3, 4].map(|bounces| {
        let mut stage = stage(&gpu, &scene, [8, 8]);
        stage.darken();
        stage.config.reflections.bounces = bounces;
        stage.draw(&rest(&scene), view);
        lit(&mut stage)[27].x
    });
    let fresnel = |cosine: f32| 0.8 + 0.2 * (1.0 - cosine).powi(5);
    let once = fresnel(1.5 / (1.5_f32 * 1.5 + 0.3 * 0.3).sqrt());
    println!("{found:?} {once}");
    assert!(found[0] < 1e-3 && found[1] < 1e-3, "{found:?}");
    for found in &found[2..] {
        assert!((found - 3.0 * once.powi(3)).abs() < 0.01, "{found}");
    }
}

#[test]
fn a_furnace_stays_white() {
    let gpu = gpu();
    let cases = [0.2, 1.0, 0.0, 0.05, 0.5, 0.8].into_iter();
    for roughness in cases.take(by_lane(2, 6)) {
        for metallic in [0.0, 1.0] {
            let material = Material {
                metallic,
                roughness,
                ..matte(Vec3::ONE)
            };
            let scene = scene([sphere(Vec3::ZERO, 1.0, 32, 0)], vec![material]);
            let view = look_at(3.0 * Vec3::Z, Vec3::ZERO, 50.0);
            let mut stage = stage(&gpu, &scene, [24, 24]);
            stage.darken();
            stage.config.environment.intensity = 1.0;
            stage.config.environment.color = [1.0; 3];
            stage.config.shadows.mode = ShadowMode::Off;
            stage.supersampled(&rest(&scene), view, 64);
            let lit = lit(&mut stage);
            let inside = |i: &usize| {
                let at = [i % 24, i / 24].map(|x| x as f32 - 11.5);
                at[0].hypot(at[1]) < 7.0
            };
            let inside: Vec<_> = (0..lit.len()).filter(inside).map(|i| lit[i].x).collect();
            let mean = inside.iter().sum::<f32>() / inside.len() as f32;
            println!("{metallic} {roughness}: {mean}");
            assert!((mean - 1.0).abs() < 0.005, "{metallic} {roughness}: {mean}");
        }
    }
}

#[test]
fn a_furnace_stays_white_with_ray_reuse() {
    let gpu = gpu();
    for roughness in [0.3, 0.5, 0.7] {
        // A floor seen at all angles. Its far part reflects the fewest of its rays.
        let floor = quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0);
        let scene = scene([floor], vec![metal(Vec3::ONE, roughness)]);
        let view = look_at(Vec3::new(0.0, 1.0, 3.2), Vec3::new(0.0, 0.0, 0.5), 50.0);
        let mut stage = stage(&gpu, &scene, SIZE);
        stage.darken();
        stage.config.environment.intensity = 1.0;
        stage.config.environment.color = [1.0; 3];
        stage.config.shadows.mode = ShadowMode::Off;
        stage.config.reflections.filter = true;
        let (mut sum, mut count) = (0.0, 0.0);
        for _ in 0..16 {
            stage.draw(&rest(&scene), view);
            let found = stage.channel(Channel::Reflection).texels;
            let distances = stage.channel(Channel::ReflectionDistance).texels;
            for (found, distance) in found.iter().zip(&distances) {
                if distance[0] > 0.0 {
                    sum += f64::from(found[0]);
                    count += 1.0;
                }
            }
        }
        let mean = sum / count;
        println!("{roughness}: {mean}");
        assert!((mean - 1.0).abs() < 0.005, "{roughness}: {mean}");
    }
}

#[test]
fn rough_surfaces_trace_no_reflection_rays() {
    let gpu = gpu();
    let scene = scene(
        [
            quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0),
            sphere(Vec3::new(0.0, 0.5, 0.0), 0.5, 8, 1),
        ],
        vec![matte(Vec3::ONE), metal(Vec3::ONE, 0.2)],
    );
    let view = look_at(Vec3::new(0.0, 2.0, 3.0), Vec3::ZERO, 50.0);
    let mut stage = stage(&gpu, &scene, SIZE);
    stage.config.reflections.max_roughness = 0.6;
    // Counts come back a frame later.
    stage.draw(&rest(&scene), view);
    stage.draw(&rest(&scene), view);
    let [distances, roughness, tiles] = [
        Channel::ReflectionDistance,
        Channel::Roughness,
        Channel::ReflectionTiles,
    ]
    .map(|channel| stage.channel(channel).texels);
    let mut sent = 0;
    for (i, (distance, roughness)) in distances.iter().zip(&roughness).enumerate() {
        let is_sphere = roughness[3] == 1.0 && roughness[0] < 0.5;
        assert_eq!(distance[0] > 0.0, is_sphere, "{i}");
        assert!(!is_sphere || tiles[i][0] > 0.0);
        sent += u32::from(is_sphere);
    }
    assert!(sent > 100);
    let counts = stage.renderer.stats().reflections;
    assert_eq!(counts.rays, sent);
    // The sphere sees the floor and itself, which have no textures.
    assert!(counts.hits > 20 && counts.hits < counts.rays, "{counts:?}");
    assert_eq!(counts.bins, 1);
    // With another maximum roughness, no rays are traced.
    stage.config.reflections.max_roughness = 0.1;
    stage.draw(&rest(&scene), view);
    stage.draw(&rest(&scene), view);
    assert_eq!(stage.renderer.stats().reflections.rays, 0);
}

#[test]
fn no_reflection_pass_runs_without_glossy_materials() {
    let gpu = gpu();
    let view = look_at(Vec3::new(0.0, 2.0, 3.0), Vec3::ZERO, 50.0);
    let passes = |material: Material, channel: Channel| {
        let floor = quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0);
        let scene = scene([floor], vec![material]);
        let mut stage = stage(&gpu, &scene, [16, 16]);
        stage.config.reflections.max_roughness = 0.6;
        stage.shown = channel;
        for _ in 0..3 {
            stage.draw(&rest(&scene), view);
        }
        stage.renderer.collect(&gpu);
        let passes = &stage.renderer.stats().passes;
        assert!(passes.iter().any(|pass| pass.name == "gbuffer"));
        let of_reflections = |name: &str| name.starts_with("reflection");
        passes.iter().filter(|pass| of_reflections(&pass.name)).count()
    };
    assert_eq!(passes(glossy(Vec3::ONE, 0.7), Channel::Lit), 0);
    assert!(passes(glossy(Vec3::ONE, 0.5), Channel::Lit) > 0);
    // If this channel is requested, it reports that there are none.
    assert!(passes(glossy(Vec3::ONE, 0.7), Channel::ReflectionTiles) > 0);
    let coat = Layers {
        clearcoat: 1.0,
        clearcoat_roughness: 0.1,
        ..Layers::default()
    };
    let rough = glossy(Vec3::ONE, 0.9);
    assert!(passes(layered(rough.clone(), coat.clone()), Channel::Lit) > 0);
    let dull = Layers {
        clearcoat_roughness: 0.9,
        ..coat
    };
    assert_eq!(passes(layered(rough, dull), Channel::Lit), 0);
}

const CALM_SIZE: [u32; 2] = [192, 144];

/// Views on a circle about the origin, a degree apart.
fn circling(frame: u32) -> View {
    let (sine, cosine) = (frame as f32).to_radians().sin_cos();
    let eye = Vec3::new(4.0 * sine + 0.3, 1.6, 4.0 * cosine);
    look_at(eye, Vec3::new(0.0, 0.5, 0.0), 50.0)
}

/// Root mean square error of reflections as displayed, where bright radiance counts less.
fn error(found: &[[f32; 4]], converged: &[[f32; 4]]) -> f64 {
    let seen = |texel: &[f32; 4]| {
        let radiance = Vec3::from_slice(texel).as_dvec3();
        radiance / (1.0 + radiance.element_sum() / 3.0)
    };
    let pairs = found.iter().zip(converged);
    let sum: f64 = pairs
        .map(|(a, b)| (seen(a) - seen(b)).length_squared() / 3.0)
        .sum();
    (sum / found.len() as f64).sqrt()
}

/// Reflections after these frames of [`circling`].
fn in_motion(gpu: &Gpu, scene: &Scene, frames: Range<u32>, filter: bool) -> Vec<[f32; 4]> {
    let mut moving = stage(gpu, scene, CALM_SIZE);
    moving.config.reflections.max_roughness = 0.6;
    moving.config.reflections.filter = filter;
    moving.config.reflections.history = if filter { 32 } else { 1 };
    for frame in frames {
        moving.draw(&rest(scene), circling(frame));
    }
    moving.channel(Channel::Reflection).texels
}

/// Converged reflections in the view of this frame of [`circling`].
fn converged(gpu: &Gpu, scene: &Scene, frame: u32) -> Vec<[f32; 4]> {
    let mut still = stage(gpu, scene, CALM_SIZE);
    still.config.reflections.max_roughness = 0.6;
    still.config.reflections.history = 1000;
    for _ in 0..128 {
        still.draw(&rest(scene), circling(frame));
    }
    still.channel(Channel::Reflection).texels
}

#[test]
fn history_reduces_reflection_noise_in_motion() {
    let gpu = gpu();
    let scene = glowing_things();
    let still = converged(&gpu, &scene, 19);
    let later = error(&in_motion(&gpu, &scene, 0..20, true), &still);
    // Only the rays, either in the same view, which needs no other converged picture, or in the first view.
    let (alone, still, most) = match by_lane(true, false) {
        true => (19..20, still, 0.35),
        false => (0..1, converged(&gpu, &scene, 0), 0.25),
    };
    let raw = error(&in_motion(&gpu, &scene, alone, false), &still);
    println!("raw {raw}, in motion {later}");
    assert!(later < most * raw, "{later} of {raw}");
}

#[test]
fn ray_reuse_reduces_noise_in_the_first_frame() {
    let gpu = gpu();
    let mut scene = glowing_things();
    for material in [0, 4, 5] {
        scene.materials[material].roughness = 0.5;
    }
    let converged = converged(&gpu, &scene, 0);
    let [raw, first] = [false, true].map(|filter| in_motion(&gpu, &scene, 0..1, filter));
    let [raw, first] = [&raw, &first].map(|found| error(found, &converged));
    println!("raw {raw}, filtered {first}");
    // It is 0.26 if each pixel uses only its own ray.
    assert!(first < 0.22 * raw, "{first} of {raw}");
}

#[test]
fn removed_objects_leave_reflections_within_six_frames() {
    let gpu = gpu();
    // With glints of the sun, which few rays find, and without.
    for is_dark in [false, true].into_iter().take(by_lane(1, 2)) {
        let [before, first, sixth] = forgotten(&gpu, is_dark);
        println!("before {before}, then {first}, then {sixth}");
        assert!(
            first < 0.25 * before && sixth < 0.25 * before,
            "{first} {sixth} of {before}"
        );
    }
}

/// Error of the reflection of a quad that jumps up: before it is seen, in the first frame and in the sixth.
fn forgotten(gpu: &Gpu, is_dark: bool) -> [f64; 3] {
    let scene = glowing_things();
    // The blue quad jumps up, out of the floor's reflection.
    let mut other = scene.clone();
    other.nodes[3].transform = Transform::Matrix(Mat4::from_translation(6.0 * Vec3::Y).as_dmat4());
    let mut stage = stage(gpu, &scene, CALM_SIZE);
    if is_dark {
        stage.darken();
    }
    stage.config.reflections.max_roughness = 0.6;
    stage.config.reflections.filter = true;
    stage.config.reflections.history = 32;
    let view = circling(0);
    let mut draw = |pose: &Scene, frames: u32| {
        for _ in 0..frames {
            stage.draw(&rest(pose), view);
        }
        stage.channel(Channel::Reflection).texels
    };
    let before = draw(&scene, 20);
    let after = [draw(&other, 1), draw(&other, 5)];
    let still = draw(&other, by_lane(30, 60));
    [&before, &after[0], &after[1]].map(|found| error(found, &still))
}

#[test]
fn reflections_of_rare_bright_surfaces_lose_no_light() {
    let gpu = gpu();
    // The glowing quad is so small that a ray seldom finds it, and the rays of its neighbours do not.
    let scene = scene(
        [
            quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0),
            quad(Vec3::new(-0.1, 0.8, -0.6), 0.2 * Vec3::X, 0.2 * Vec3::Y, 1),
        ],
        vec![metal(Vec3::ONE, 0.5), glowing(Vec3::splat(20.0))],
    );
    let view = look_at(Vec3::new(0.0, 1.6, 3.0), Vec3::ZERO, 50.0);
    let sums = [false, true].map(|averages| {
        let mut stage = stage(&gpu, &scene, SIZE);
        stage.darken();
        stage.config.reflections.filter = averages;
        stage.config.reflections.history = if averages { 32 } else { 1 };
        stage.supersampled(&rest(&scene), view, 64);
        let meshes = stage.channel(Channel::Mesh).texels;
        let lit = lit(&mut stage);
        let floor = lit.iter().zip(&meshes).filter(|(_, mesh)| mesh[0] == 0.0);
        floor.map(|(lit, _)| f64::from(lit.x)).sum::<f64>()
    });
    let [plain, averaged] = sums;
    println!("{plain} {averaged}");
    assert!(
        plain > 20.0 && (averaged / plain - 1.0).abs() < 0.05,
        "{plain} {averaged}"
    );
}

#[test]
fn reflections_follow_a_light_change_within_six_frames() {
    let gpu = gpu();
    let scene = glowing_things();
    let mut stage = stage(&gpu, &scene, SIZE);
    stage.config.reflections.max_roughness = 0.6;
    stage.config.reflections.filter = true;
    stage.config.reflections.history = 1000;
    let view = circling(0);
    let mut draw = |color: f32, frames: u32| {
        stage.config.environment.color = [color; 3];
        for _ in 0..frames {
            stage.draw(&rest(&scene), view);
        }
        stage.channel(Channel::Reflection).texels
    };
    let before = draw(1.0, 20);
    let after = draw(0.1, 6);
    let still = draw(0.1, 60);
    let [before, after] = [&before, &after].map(|found| error(found, &still));
    println!("before {before}, then {after}");
    assert!(after < 0.25 * before, "{after} of {before}");
}

fn layered(base: Material, layers: Layers) -> Material {
    Material {
        layers: Some(Box::new(layers)),
        ..base
    }
}

/// Mean radiance of a picture so narrow that all its pixels see one point, over this number of frames.
fn point_radiance(gpu: &Gpu, scene: &Scene, [eye, target]: [Vec3; 2], frames: u32, bounces: u32) -> DVec3 {
    let view = View {
        projection: Projection::Perspective { fov_y: 1e-4 },
        ..look_at(eye, target, 50.0)
    };
    let mut stage = stage(gpu, scene, [12, 8]);
    stage.config.materials.multiple_scattering = false;
    stage.darken();
    stage.config.reflections.bounces = bounces;
    stage.supersampled(&rest(scene), view, frames);
    let lit = lit(&mut stage);
    lit.iter().map(|lit| lit.as_dvec3()).sum::<DVec3>() / lit.len() as f64
}

/// D × V of KHR_materials_anisotropy, with a height-correlated V that is stretched like D. `axes` are the
/// direction of the greatest roughness, the direction across it, and the normal.
fn stretched_ggx(axes: [DVec3; 3], alphas: [f64; 2], to_eye: DVec3, to_light: DVec3) -> f64 {
    let local = |v: DVec3| DVec3::from(axes.map(|axis| axis.dot(v)));
    let (h, v, l) = (
        local((to_eye + to_light).normalize()),
        local(to_eye),
        local(to_light),
    );
    let [a, b] = alphas;
    let scaled = DVec3::new(h.x / a, h.y / b, h.z).length_squared();
    let distribution = 1.0 / (PI * a * b * scaled * scaled);
    let reach = |v: DVec3| DVec3::new(a * v.x, b * v.y, v.z).length();
    distribution * 0.5 / (l.z * reach(v) + v.z * reach(l))
}

#[test]
fn coats_and_anisotropic_lobes_match_the_integral() {
    let gpu = gpu();
    let panel = [Vec3::new(-0.6, 0.2, -1.0), 1.2 * Vec3::X, 1.1 * Vec3::Y];
    let [eye, point] = [Vec3::new(0.1, 1.0, 2.2), Vec3::new(0.1, 0.0, 0.2)];
    let to_eye = (eye - point).normalize().as_dvec3();
    let glow = 5.0;
    // Clear coat and its roughness, anisotropy and its rotation.
    let cases = [
        (1.0, 0.2, 0.5, -1.1_f32),
        (1.0, 0.0, 0.0, 0.0),
        (1.0, 0.3, 0.0, 0.0),
        (0.0, 0.0, 0.8, 0.6),
    ];
    for (coat, coat_roughness, anisotropy, turn) in cases.into_iter().take(by_lane(1, 4)) {
        let layers = Layers {
            clearcoat: coat,
            clearcoat_roughness: coat_roughness,
            anisotropy,
            anisotropy_rotation: turn,
            ..Layers::default()
        };
        let (color, roughness) = (Vec3::new(0.9, 0.5, 0.2), 0.4_f32);
        let mut floor = quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0);
        floor.tangents.fill(Vec3::X.extend(1.0));
        let scene = scene(
            [floor, quad(panel[0], panel[1], panel[2], 1)],
            vec![
                layered(metal(color, roughness), layers),
                glowing(Vec3::splat(glow)),
            ],
        );
        let found = point_radiance(&gpu, &scene, [eye, point], 256, 1);
        let surface = Surface {
            position: point,
            normal: Vec3::Y,
            smooth_normal: Vec3::Y,
            albedo: color,
            occlusion: 1.0,
            emissive: Vec3::ZERO,
            roughness,
            metallic: 1.0,
        };
        let panel = panel.map(Vec3::as_dvec3);
        // The bitangent of a floor whose tangent is x.
        let (sine, cosine) = f64::from(turn).sin_cos();
        let along = DVec3::new(cosine, 0.0, -sine);
        let axes = [along, DVec3::Y.cross(along), DVec3::Y];
        let alpha = f64::from(roughness).powi(2);
        let strength = f64::from(anisotropy).powi(2);
        let alphas = [alpha + (1.0 - alpha) * strength, alpha];
        let base = integral(&surface, panel, |to_light| {
            let v_dot_h = to_eye.dot((to_eye + to_light).normalize());
            let f0 = color.as_dvec3();
            let fresnel = f0 + (DVec3::ONE - f0) * (1.0 - v_dot_h).powi(5);
            fresnel * stretched_ggx(axes, alphas, to_eye, to_light)
        });
        let over = match coat_roughness {
            0.0 => 1.0,
            roughness => {
                let alpha = f64::from(roughness).powi(2);
                let lobe = |to_light| stretched_ggx(axes, [alpha; 2], to_eye, to_light);
                integral(&surface, panel, |to_light| DVec3::splat(lobe(to_light))).x
            }
        };
        let share = f64::from(coat) * (0.04 + 0.96 * (1.0 - to_eye.y).powi(5));
        let expected = f64::from(glow) * base.lerp(DVec3::splat(over), share);
        let off = (found - expected).abs().max_element();
        println!("{coat} {coat_roughness} {anisotropy}: {found} {expected} {off}");
        // Relative to a mirror's value.
        assert!(off < 0.005 * 0.9 * f64::from(glow), "{off}");
        assert!(expected.max_element() > 0.3);
    }
}

#[test]
fn layered_materials_stay_white_in_a_furnace() {
    let gpu = gpu();
    let coated = |coat_roughness, base| {
        let layers = Layers {
            clearcoat: 1.0,
            clearcoat_roughness: coat_roughness,
            ..Layers::default()
        };
        layered(base, layers)
    };
    let glass = |ior, thickness, roughness| {
        let layers = Layers {
            ior,
            thickness,
            transmission: 1.0,
            ..Layers::default()
        };
        layered(glossy(Vec3::ONE, roughness), layers)
    };
    let stretched = Layers {
        anisotropy: 0.7,
        ..Layers::default()
    };
    let materials = [
        coated(0.1, glossy(Vec3::ONE, 0.4)),
        glass(1.33, 1.0, 0.2),
        coated(0.0, metal(Vec3::ONE, 0.3)),
        coated(0.3, metal(Vec3::ONE, 0.0)),
        glass(1.5, 0.0, 0.0),
        glass(1.5, 1.0, 0.0),
        layered(metal(Vec3::ONE, 0.2), stretched),
    ];
    let materials = materials.into_iter().take(by_lane(2, 7));
    for (number, material) in materials.enumerate() {
        let scene = scene([sphere(Vec3::ZERO, 1.0, 32, 0)], vec![material]);
        let view = look_at(3.0 * Vec3::Z, Vec3::ZERO, 50.0);
        let mut stage = stage(&gpu, &scene, [24, 24]);
        stage.darken();
        stage.config.environment.intensity = 1.0;
        stage.config.environment.color = [1.0; 3];
        stage.config.shadows.mode = ShadowMode::Off;
        // Light may be reflected repeatedly within glass.
        stage.config.reflections.bounces = 4;
        stage.supersampled(&rest(&scene), view, 64);
        let lit = lit(&mut stage);
        let inside = |i: &usize| {
            let at = [i % 24, i / 24].map(|x| x as f32 - 11.5);
            at[0].hypot(at[1]) < 7.0
        };
        let inside: Vec<_> = (0..lit.len()).filter(inside).map(|i| lit[i].x).collect();
        let mean = inside.iter().sum::<f32>() / inside.len() as f32;
        println!("{number}: {mean}");
        // The reflectance of stretched lobes is not tabulated. The table has isotropic lobes with nearly the
        // same sum.
        let allowed = if number == 6 { 0.015 } else { 0.005 };
        assert!((mean - 1.0).abs() < allowed, "{number}: {mean}");
    }
}

/// Transmission only. The only reflection is total internal reflection.
fn clear(ior: f32, thickness: f32) -> Layers {
    Layers {
        ior,
        thickness,
        specular: 0.0,
        transmission: 1.0,
        attenuation_distance: 0.5,
        attenuation_color: Vec3::new(0.9, 0.5, 0.3),
        ..Layers::default()
    }
}

/// A closed prism over the polygon of these corners in x and y, counter-clockwise, from z = −2 to z = 2.
fn prism(corners: &[[f32; 2]], material: usize) -> Primitive {
    let at = |corner: [f32; 2], z: f32| Vec3::new(corner[0], corner[1], z);
    let next = |i: usize| corners[(i + 1) % corners.len()];
    let mut triangles = Vec::new();
    for (i, corner) in corners.iter().enumerate() {
        let [a, b] = [*corner, next(i)];
        triangles.push([at(a, 2.0), at(a, -2.0), at(b, -2.0)]);
        triangles.push([at(a, 2.0), at(b, -2.0), at(b, 2.0)]);
        triangles.push([at(corners[0], 2.0), at(a, 2.0), at(b, 2.0)]);
        triangles.push([at(corners[0], -2.0), at(b, -2.0), at(a, -2.0)]);
    }
    common::scenes::primitive(&triangles, material)
}

#[test]
fn volumes_refract_by_snells_law_and_absorb_by_distance() {
    let gpu = gpu();
    // Colours along x identify the end of a ray: a slab from y = 0 to 1, and a ramp of stripes below it.
    let ior = 1.5_f64;
    let (eye, point) = (Vec3::new(-2.0, 3.0, 0.1), Vec3::new(0.0, 1.0, 0.0));
    let direction = (point - eye).normalize().as_dvec3();
    let sine = (1.0 - direction.y * direction.y).sqrt();
    let within = sine / ior;
    let cosine = (1.0 - within * within).sqrt();
    // The point where the ray leaves the slab, and the point where it meets y = −1.
    let planar = DVec3::new(direction.x, 0.0, direction.z) / sine;
    let leaves = point.as_dvec3() + planar * (within / cosine) - DVec3::Y;
    let ends = leaves - direction / direction.y;
    let straight = point.as_dvec3() - 2.0 * direction / direction.y;
    assert!((ends.x - straight.x).abs() > 0.3);
    for (thickness, end) in [(1.0, ends), (0.0, straight)] {
        // The glowing part ends a hundredth of a metre behind the end of the ray, or before it.
        for (edge, is_lit) in [(end.x + 0.01, true), (end.x - 0.01, false)] {
            let slab = match thickness {
                0.0 => quad(Vec3::new(-4.0, 1.0, 2.0), 8.0 * Vec3::X, -4.0 * Vec3::Z, 0),
                _ => prism(&[[-4.0, 0.0], [4.0, 0.0], [4.0, 1.0], [-4.0, 1.0]], 0),
            };
            let from = Vec3::new(edge as f32, -1.0, 2.0);
            let scene = scene(
                [slab, quad(from, -4.0 * Vec3::X, -4.0 * Vec3::Z, 1)],
                vec![
                    layered(
                        glossy(Vec3::new(0.8, 0.9, 1.0), 0.0),
                        clear(ior as f32, thickness),
                    ),
                    Material {
                        double_sided: true,
                        ..glowing(Vec3::splat(2.0))
                    },
                ],
            );
            let found = point_radiance(&gpu, &scene, [eye, point], 1, 3);
            let color = DVec3::new(0.8, 0.9, 1.0);
            // Both surfaces of the slab tint, and its inside absorbs.
            let kept = match thickness {
                0.0 => color,
                _ => color * color * DVec3::new(0.9, 0.5, 0.3).powf(1.0 / cosine / 0.5),
            };
            let expected = if is_lit { 2.0 * kept } else { DVec3::ZERO };
            println!("{thickness} {edge}: {found} {expected}");
            assert!(
                (found - expected).abs().max_element() < 0.004,
                "{found} {expected}"
            );
        }
    }
}

#[test]
fn total_internal_reflection_occurs_beyond_the_critical_angle() {
    let gpu = gpu();
    // In at the left of a prism with a right angle, reflected by its slope, out at its bottom. At 30° the
    // slope transmits.
    for (slope, is_total) in [([1.0, 0.0], true), ([1.0, -0.732], false)] {
        let [x, y]: [f32; 2] = slope;
        let corners = [[0.0, y], [x, y], [0.0, 1.0]];
        let below = quad(Vec3::new(-4.0, -2.0, 2.0), 8.0 * Vec3::X, -4.0 * Vec3::Z, 1);
        let beside = quad(Vec3::new(3.0, -4.0, 2.0), -4.0 * Vec3::Z, 8.0 * Vec3::Y, 2);
        let two_sided = |color: Vec3| Material {
            double_sided: true,
            ..glowing(color)
        };
        let glass = Layers {
            attenuation_distance: f32::INFINITY,
            ..clear(1.5, 1.0)
        };
        let scene = scene(
            [prism(&corners, 0), below, beside],
            vec![
                layered(glossy(Vec3::ONE, 0.0), glass),
                two_sided(Vec3::new(3.0, 0.0, 0.0)),
                two_sided(Vec3::new(0.0, 3.0, 0.0)),
            ],
        );
        let at = [Vec3::new(-2.0, 0.4, 0.0), Vec3::new(0.0, 0.4, 0.0)];
        let found = point_radiance(&gpu, &scene, at, 1, 3);
        let expected = match is_total {
            true => DVec3::new(3.0, 0.0, 0.0),
            false => DVec3::new(0.0, 3.0, 0.0),
        };
        println!("{is_total}: {found}");
        assert!(
            (found - expected).abs().max_element() < 0.03,
            "{is_total}: {found}"
        );
    }
}

/// A closed octahedron whose corners lie on the axes.
fn gem(material: usize) -> Primitive {
    let mut triangles = Vec::new();
    for (x, y, z) in [
        (1.0, 1.0, 1.0),
        (-1.0, 1.0, 1.0),
        (1.0, -1.0, 1.0),
        (1.0, 1.0, -1.0),
        (-1.0, -1.0, 1.0),
        (-1.0, 1.0, -1.0),
        (1.0, -1.0, -1.0),
        (-1.0, -1.0, -1.0),
    ] {
        let [a, b, c] = [x * Vec3::X, y * Vec3::Y, z * Vec3::Z];
        let is_front: bool = x * y * z > 0.0;
        triangles.push(if is_front { [a, b, c] } else { [a, c, b] });
    }
    common::scenes::primitive(&triangles, material)
}

/// In a white environment, no ray finds more than 1. Total reflection within glass is never chosen at random.
/// A random choice has the weight of the chosen part.
#[test]
fn no_ray_through_glass_exceeds_the_furnace_radiance() {
    let gpu = gpu();
    let bar = |corners: &[[f32; 2]]| prism(corners, 0);
    let cube = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let slab = [[-3.0, -0.2], [3.0, -0.2], [3.0, 0.2], [-3.0, 0.2]];
    let wedge = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]];
    let ahead = Vec3::new(2.5, 1.8, 5.0);
    let shapes = [
        ("cube", bar(&cube), 1.5, ahead),
        ("prism", bar(&wedge), 1.5, ahead),
        ("slab", bar(&slab), 1.33, Vec3::new(3.5, 1.0, 1.5)),
        ("gem", gem(0), 2.4, 0.6 * ahead),
        ("ball", sphere(Vec3::ZERO, 1.0, 24, 0), 1.5, 0.6 * ahead),
    ];
    let coats = [
        ("bare", Layers::default()),
        (
            "coated",
            Layers {
                clearcoat: 0.7,
                clearcoat_roughness: 0.1,
                ..Layers::default()
            },
        ),
    ];
    let mut cases = Vec::new();
    for shape in &shapes {
        for roughness in [0.0, 0.2, 0.5] {
            cases.extend(coats.iter().map(|coat| (shape, roughness, coat)));
        }
    }
    // Every fifth case includes each shape, and each roughness with and without a coat.
    let (first, step) = by_lane((1, 5), (0, 1));
    let cases = cases.into_iter().skip(first).step_by(step);
    for ((what, shape, ior, eye), roughness, (coat, layers)) in cases {
        let glass = Layers {
            ior: *ior,
            thickness: 1.0,
            transmission: 1.0,
            ..layers.clone()
        };
        let material = layered(glossy(Vec3::ONE, roughness), glass);
        let scene = scene([shape.clone()], vec![material]);
        let mut stage = stage(&gpu, &scene, [20, 15]);
        stage.darken();
        stage.config.environment.intensity = 1.0;
        stage.config.environment.color = [1.0; 3];
        stage.config.environment.background = Background::Environment;
        stage.config.shadows.mode = ShadowMode::Off;
        stage.config.reflections.bounces = 6;
        let view = look_at(*eye, Vec3::ZERO, 50.0);
        let (mut most, mut sum, mut count) = (0.0_f32, 0.0, 0.0);
        for _ in 0..24 {
            stage.draw(&rest(&scene), view);
            let shows = stage.channel(Channel::Position).texels;
            for (lit, shows) in lit(&mut stage).iter().zip(&shows) {
                if shows[3] == 1.0 {
                    most = most.max(lit.max_element());
                    sum += f64::from(lit.x);
                    count += 1.0;
                }
            }
        }
        let mean = sum / count;
        println!("{what}, {roughness}, {coat}: mean {mean}, most {most}");
        // Multiple scattering of the coat is a factor on the light that its facets mask.
        let bound = if *coat == "bare" { 1.02 } else { 1.3 };
        assert!(most < bound, "{what}, {roughness}, {coat}: {most}");
        // Rays that are still inside after the last bounce are lost.
        assert!(
            mean > 0.975 && mean < 1.005,
            "{what}, {roughness}, {coat}: {mean}"
        );
    }
}

/// An unlit surface has the same radiance seen directly, in a mirror, in a mean of samples and by paths. This
/// is the radiance that the exposure displays as its colour. The same holds for a plain background.
#[test]
fn unlit_surfaces_have_the_same_radiance_in_mirrors() {
    use canopy::config::ImageMode;
    let gpu = gpu();
    let color = Vec3::new(0.2, 0.5, 0.8);
    let wall = quad(Vec3::new(-2.0, 0.0, -1.0), 4.0 * Vec3::X, 2.0 * Vec3::Y, 0);
    let floor = quad(Vec3::new(-2.0, 0.0, 2.0), 4.0 * Vec3::X, -3.0 * Vec3::Z, 1);
    let unlit = Material {
        unlit: true,
        ..matte(color)
    };
    let scene = scene([wall, floor], vec![unlit, metal(Vec3::ONE, 0.0)]);
    let view = look_at(Vec3::new(0.0, 1.0, 3.0), Vec3::new(0.0, 0.6, -1.0), 20.0);
    let background = Vec3::new(0.3, 0.1, 0.6);
    let mut stage = stage(&gpu, &scene, [60, 45]);
    stage.darken();
    stage.config.environment.background = Background::Color;
    stage.config.image.background = background.to_array();
    stage.config.paths.samples = 4;
    stage.config.paths.bounces = 2;
    for ev in [0.0, 3.0, -2.0] {
        stage.exposure_ev = ev;
        for (mode, samples) in [(ImageMode::Fast, 1), (ImageMode::Fast, 3), (ImageMode::Path, 1)] {
            stage.config.image.mode = ImageMode::Fast;
            stage.draw(&rest(&scene), view);
            let position = stage.channel(Channel::Position).texels;
            stage.config.image.mode = mode;
            let picture = stage.supersampled(&rest(&scene), view, samples);
            let lit = stage.channel(Channel::Lit).texels;
            let mut seen = [0; 3];
            for (i, (at, lit)) in position.iter().zip(&lit).enumerate() {
                let part = match Vec3::from_slice(at) {
                    _ if at[3] == 0.0 && i < 60 * 2 => 0,
                    p if p.x.abs() < 1.0 && p.z < -0.99 && p.y > 0.3 && p.y < 1.5 => 1,
                    p if p.x.abs() < 1.0 && p.y < 0.01 && p.z > -0.8 && p.z < -0.3 => 2,
                    _ => continue,
                };
                seen[part] += 1;
                let expected = [background, color, color][part];
                let found = Vec3::from_slice(lit) * ev.exp2();
                assert!(
                    found.abs_diff_eq(expected, 4e-3),
                    "{mode:?} {samples} {ev}, {part}: {found}, not {expected}"
                );
                if part == 0 {
                    let shown = (0..3).map(|c| f32::from(picture[4 * i + c]) / 255.0);
                    for (shown, linear) in shown.zip(expected.to_array()) {
                        let encoded = 1.055 * linear.powf(1.0 / 2.4) - 0.055;
                        assert!((shown - encoded).abs() < 0.003, "{mode:?} {ev}: {shown}");
                    }
                }
            }
            assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
        }
    }
}
