//! Environment lighting in whole frames: furnace tests, rotations, the background, and the sky with its sun.

use crate::common;
use canopy::{
    config::{Background, Config, EnvironmentSource, ImageMode, OcclusionMode, ShadowMode, Switch, Tonemap},
    gpu::Gpu,
    reference::{
        environment::{brdf_table, cube_map, project_sh},
        lighting,
    },
    render::{
        Channel, FloatImage, View,
        environment::daylight,
        light::{lights, scene_exposure::exposure_ev},
    },
    scene::{
        Layers, LightKind, Material, Pose, Projection, Scene,
        bounds::Bounds,
        environment::{EnvironmentImage, Shape},
        framing::Ground,
        srgb,
    },
};
use common::{
    by_lane,
    golden::{compare_with_golden, difference},
    gpu, portable_gpu,
    scenes::{Stage, add_light, look_at, matte, quad, scene, sphere},
};
use glam::{DVec3, Mat3, Vec3, Vec4};
use half::f16;
use std::f32::consts::PI;

/// Equirectangular image of the function `radiance` of the direction.
fn image(width: u32, height: u32, radiance: impl Fn(Vec3) -> Vec3) -> EnvironmentImage {
    let texel = |i: u32| {
        let (u, v) = (
            ((i % width) as f32 + 0.5) / width as f32,
            ((i / width) as f32 + 0.5) / height as f32,
        );
        let (azimuth, polar) = ((2.0 * u - 1.0) * PI, v * PI);
        let direction = Vec3::new(
            polar.sin() * azimuth.cos(),
            polar.cos(),
            polar.sin() * azimuth.sin(),
        );
        radiance(direction).extend(1.0).to_array().map(f16::from_f32)
    };
    EnvironmentImage {
        name: "made up".into(),
        shape: Shape::Equirectangular,
        width,
        height,
        texels: (0..width * height).map(texel).collect(),
        scale: 1.0,
        sun: None,
        warnings: Vec::new(),
    }
}

/// Brighter above, with a warm patch on one side and a cold one on another.
fn scenery(direction: Vec3) -> Vec3 {
    let patch = |towards: Vec3, color: Vec3| color * (6.0 * (direction.dot(towards.normalize()) - 1.0)).exp();
    Vec3::new(0.3, 0.4, 0.6) * (1.0 + 0.8 * direction.y)
        + patch(Vec3::new(1.0, 0.4, 0.2), Vec3::new(6.0, 3.0, 1.0))
        + patch(Vec3::new(-0.3, -0.5, 1.0), Vec3::new(0.2, 0.6, 2.0))
}

/// Coefficients of the irradiance, of order 3, projected through a cube.
fn irradiance_of(radiance: impl Fn(Vec3) -> Vec3) -> [DVec3; project_sh::COEFFICIENTS] {
    const FACE: usize = 48;
    let texels: Vec<[f32; 4]> = (0..6 * FACE * FACE)
        .map(|i| {
            let direction = cube_map::nth_texel_direction(FACE, i);
            radiance(direction.as_vec3()).extend(1.0).to_array()
        })
        .collect();
    project_sh::irradiance_sh(&project_sh::project_sh(&texels, FACE, 3))
}

/// Radiance that a rough mirror reflects along its normal, by the midpoint rule over GGX's normals, weighted
/// by the cosine (Karis 2013).
fn mirrored(normal: DVec3, roughness: f64, radiance: impl Fn(Vec3) -> Vec3) -> DVec3 {
    const STEPS: u32 = 40;
    let alpha = roughness * roughness;
    let middle = |i: u32| (f64::from(i) + 0.5) / f64::from(STEPS);
    let (tangent, bitangent) = normal.any_orthonormal_pair();
    let (mut sum, mut weights) = (DVec3::ZERO, 0.0);
    for i in 0..STEPS {
        let cosine2 = (1.0 - middle(i)) / (1.0 + (alpha * alpha - 1.0) * middle(i));
        let (cosine, sine) = (cosine2.sqrt(), (1.0 - cosine2).sqrt());
        for j in 0..STEPS {
            let (y, x) = (2.0 * std::f64::consts::PI * middle(j)).sin_cos();
            let half_vector = sine * (x * tangent + y * bitangent) + cosine * normal;
            let to_light = 2.0 * normal.dot(half_vector) * half_vector - normal;
            let weight = normal.dot(to_light).max(0.0);
            sum += weight * radiance(to_light.as_vec3()).as_dvec3();
            weights += weight;
        }
    }
    sum / weights
}

/// A row of spheres, one for each roughness.
fn row(roughness: &[f32], metallic: f32, color: Vec3) -> Scene {
    let material = |&roughness: &f32| Material {
        base_color: color.extend(1.0),
        metallic,
        roughness,
        ..Material::default()
    };
    let middle = 0.5 * (roughness.len() as f32 - 1.0);
    let ball = |i: usize| sphere(Vec3::X * (i as f32 - middle), 0.45, 32, i);
    scene(
        (0..roughness.len()).map(ball),
        roughness.iter().map(material).collect(),
    )
}

/// A stage lit only by `file`.
fn stage<'a>(gpu: &'a Gpu, scene: &'a Scene, size: [u32; 2], file: &EnvironmentImage) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, size);
    stage.config.shadows.mode = ShadowMode::Off;
    stage.config.environment.file = "made up".into();
    stage.config.environment.source = EnvironmentSource::Auto;
    stage.renderer.set_environment(gpu, Some(file)).unwrap();
    stage
}

fn draw(stage: &mut Stage<'_>, view: View) -> FloatImage {
    let pose = Pose::new(stage.scene, None, 0.0);
    stage.draw(&pose, view);
    stage.channel(Channel::Lit)
}

fn front(width: f32) -> View {
    look_at(Vec3::new(0.0, 0.0, 1.3 * width), Vec3::ZERO, 40.0)
}

fn covered(image: &FloatImage) -> impl Iterator<Item = Vec3> {
    let covered = image.texels.iter().filter(|texel| texel[3] == 1.0);
    covered.map(|texel| Vec3::new(texel[0], texel[1], texel[2]))
}

const ROUGHNESS: [f32; 11] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.9, 1.0];

/// Furnace test: a surface that reflects all light is indistinguishable from a uniform white background.
#[test]
fn white_surfaces_vanish_in_a_white_furnace() {
    for gpu in [gpu(), portable_gpu()] {
        let white = image(64, 32, |_| Vec3::ONE);
        for (metallic, tolerance) in [(0.0, 0.0), (1.0, 0.005)] {
            let scene = row(&ROUGHNESS, metallic, Vec3::ONE);
            for order in [3, 5] {
                let mut stage = stage(&gpu, &scene, [330, 60], &white);
                stage.config.environment.order = order;
                stage.config.environment.background = Background::Environment;
                let lit = draw(&mut stage, front(5.0));
                let pixels: Vec<Vec3> = covered(&lit).collect();
                assert!(pixels.len() > 900, "{}", pixels.len());
                let worst = pixels.iter().map(|p| (*p - 1.0).abs().max_element());
                let worst = worst.fold(0.0, f32::max);
                assert!(worst <= tolerance, "metallic {metallic}: off by {worst}");
                let behind = lit.texels.iter().filter(|t| t[3] == 0.0);
                assert!(behind.clone().count() > 3000);
                assert!(behind.clone().all(|t| t[..3] == [1.0; 3]), "the background");
            }
        }
    }
}

/// A diffuse sphere without specular reflection is exactly white, to the last stored bit.
#[test]
fn a_white_diffuse_sphere_is_exactly_white() {
    let gpu = gpu();
    let scene = row(&[1.0], 0.0, Vec3::ONE);
    let white = image(64, 32, |_| Vec3::ONE);
    let mut stage = stage(&gpu, &scene, [80, 80], &white);
    let lit = draw(&mut stage, front(1.2));
    let pixels: Vec<Vec3> = covered(&lit).collect();
    assert!(pixels.len() > 1000);
    for pixel in pixels {
        assert_eq!(pixel, Vec3::ONE);
    }
    // A grey sphere is darker, so the comparison can fail.
    let scene = row(&[1.0], 0.0, Vec3::splat(0.9));
    let mut stage = self::stage(&gpu, &scene, [80, 80], &white);
    let lit = draw(&mut stage, front(1.2));
    assert!(covered(&lit).all(|pixel| pixel.max_element() < 0.95));
}

/// Colours, roughness and metalness under a detailed environment, compared with the twin, which uses the
/// coefficients and the cube of the reference.
#[test]
fn environment_lighting_matches_the_cpu_reference() {
    let gpu = gpu();
    let file = image(512, 256, scenery);
    for (metallic, color) in [
        (0.0, Vec3::new(0.8, 0.4, 0.1)),
        (0.5, Vec3::ONE),
        (1.0, Vec3::new(1.0, 0.7, 0.3)),
    ] {
        let scene = row(&[0.3, 0.6, 1.0], metallic, color);
        let mut stage = stage(&gpu, &scene, [192, 80], &file);
        stage.config.environment.intensity = 0.5;
        let view = front(1.8);
        let lit = draw(&mut stage, view);
        // Evaluates the function behind the image instead of the image.
        let coefficients = irradiance_of(scenery);
        let ambient = lighting::EnvironmentLight {
            diffuse: &|normal| 0.5 * project_sh::evaluate_sh(&coefficients, normal) / std::f64::consts::PI,
            mirrored: &|direction, roughness| 0.5 * mirrored(direction, roughness, scenery),
            split: &|n_dot_v, roughness| brdf_table::albedo(n_dot_v, roughness, 48),
            multiple_scattering: true,
        };
        let surfaces = stage.surfaces();
        let (mut compared, mut worst, mut sum) = (0, 0.0f64, 0.0);
        for (surface, lit) in surfaces.iter().zip(&lit.texels).step_by(7) {
            let Some(surface) = surface else { continue };
            let to_eye = (view.eye() - surface.position).normalize();
            let twin = lighting::lighting(surface, to_eye, &[], &ambient);
            let error = (Vec3::from_slice(lit).as_dvec3() - twin).abs();
            let error = error.max_element() / (twin.max_element() + 0.02);
            worst = worst.max(error);
            sum += error;
            compared += 1;
        }
        assert!(compared > 300, "{compared} pixels test little");
        // The cube has no levels in between. A roughness between two levels is a mix of both.
        let mean = sum / f64::from(compared);
        assert!(
            worst < 0.08 && mean < 0.014,
            "metallic {metallic}: {mean}, at worst {worst}"
        );
    }
}

/// Radiance that a metal mirror reflects to the eye, rougher along `along` than across it. Uses the midpoint
/// rule over the microfacet normals, with D and V of KHR_materials_anisotropy. Energy lost between
/// microfacets is added back, so that a white surface passes the furnace test.
fn brushed(
    [normal, along, to_eye]: [DVec3; 3],
    [rough, smooth]: [f64; 2],
    radiance: impl Fn(Vec3) -> Vec3,
) -> DVec3 {
    const STEPS: u32 = 96;
    let across = normal.cross(along);
    let middle = |i: u32| (f64::from(i) + 0.5) / f64::from(STEPS);
    let stretch = |v: DVec3| DVec3::new(rough * along.dot(v), smooth * across.dot(v), normal.dot(v)).length();
    let (mut sum, mut weights) = (DVec3::ZERO, 0.0);
    for i in 0..STEPS {
        let slope = (middle(i) / (1.0 - middle(i))).sqrt();
        for j in 0..STEPS {
            let (y, x) = (2.0 * std::f64::consts::PI * middle(j)).sin_cos();
            let facet = (slope * (rough * x * along + smooth * y * across) + normal).normalize();
            let to_light = 2.0 * to_eye.dot(facet) * facet - to_eye;
            let (n_dot_l, n_dot_v) = (normal.dot(to_light), normal.dot(to_eye));
            if n_dot_l <= 0.0 {
                continue;
            }
            let visibility = 0.5 / (n_dot_l * stretch(to_eye) + n_dot_v * stretch(to_light));
            let weight = 4.0 * visibility * n_dot_l * to_eye.dot(facet) / normal.dot(facet);
            sum += weight * radiance(to_light.as_vec3()).as_dvec3();
            weights += weight;
        }
    }
    sum / weights
}

/// Anisotropy stretches reflections of the environment like highlights. They match the integral of the BRDF,
/// and not an isotropic mirror.
#[test]
fn anisotropy_stretches_reflections() {
    let gpu = gpu();
    let file = image(512, 256, scenery);
    for (roughness, strength, rotation) in [
        (0.2, 0.8, 0.0),
        (0.2, 0.8, 0.5 * PI),
        (0.3, 1.0, 0.7),
        (0.4, 0.5, 0.0),
    ] {
        let mut scene = row(&[roughness], 1.0, Vec3::ONE);
        scene.materials[0].layers = Some(Box::new(Layers {
            anisotropy: strength,
            anisotropy_rotation: rotation,
            ..Layers::default()
        }));
        let mut stage = stage(&gpu, &scene, [48, 48], &file);
        let view = front(1.0);
        let lit = draw(&mut stage, view);
        let (mut compared, mut drawn_out, mut plain) = (0, 0.0, 0.0);
        let surfaces = stage.surfaces();
        for (surface, lit) in surfaces.iter().zip(&lit.texels).step_by(11) {
            let Some(surface) = surface else { continue };
            let normal = surface.normal.as_dvec3();
            let to_eye = (view.eye() - surface.position).normalize().as_dvec3();
            // Towards the rim and the poles, the mesh and its tangents deviate from a sphere.
            if normal.dot(to_eye) < 0.4 || normal.y.abs() > 0.9 {
                continue;
            }
            let tangent = DVec3::new(normal.z, 0.0, -normal.x).normalize();
            let (sin, cos) = f64::from(rotation).sin_cos();
            let along = cos * tangent + sin * normal.cross(tangent);
            let smooth = f64::from(roughness).powi(2);
            let rough = smooth + (1.0 - smooth) * f64::from(strength).powi(2);
            let expected = brushed([normal, along, to_eye], [rough, smooth], scenery);
            let mirror = 2.0 * normal.dot(to_eye) * normal - to_eye;
            let error = |is: DVec3| (is - expected).length() / expected.length();
            drawn_out += error(Vec3::from_slice(lit).as_dvec3());
            plain += error(mirrored(mirror, roughness.into(), scenery));
            compared += 1;
        }
        assert!(compared > 30, "{compared} pixels test little");
        let [drawn_out, plain] = [drawn_out, plain].map(|sum| sum / f64::from(compared));
        let what = format!("roughness {roughness}, strength {strength}: {drawn_out}, not {plain}");
        assert!(drawn_out < 0.11 && plain > 0.15, "{what}");
    }
}

/// The placeholder material shows its shape under uniform lighting of any strength, and is neither black nor
/// white. A material from a file passes the furnace test.
#[test]
fn placeholder_materials_keep_visible_shading_in_any_environment() {
    let gpu = gpu();
    let own = Material {
        is_placeholder: false,
        ..Material::placeholder()
    };
    for light in [0.004, 1.0, 300.0] {
        let picture = |material: Material| {
            let ball = sphere(Vec3::ZERO, 0.9, 24, 0);
            let scene = scene([ball], vec![material]);
            let mut stage = Stage::new(&gpu, &scene, [40, 40]);
            stage.config.environment.color = [light; 3];
            stage.config.sun.enabled = Switch::Off;
            let pose = Pose::new(&scene, None, 0.0);
            let bounds = Bounds::new(&scene).scene(&scene, &pose);
            stage.exposure_ev = exposure_ev(&scene, &pose, bounds, &stage.config, 0.0, 256);
            let picture = stage.draw(&pose, look_at(Vec3::Z * 3.0, Vec3::ZERO, 10.0));
            let normals = stage.channel(Channel::Normal).texels;
            let inner = normals.iter().zip(picture.chunks(4));
            let inner = inner.filter(|(n, _)| n[3] == 1.0 && n[2] > 0.5);
            inner
                .map(|(n, pixel)| (Vec3::from_slice(n), pixel[1]))
                .collect::<Vec<_>>()
        };
        let levels = |of: &[(Vec3, u8)]| {
            let levels = of.iter().map(|(_, level)| *level);
            (levels.clone().min().unwrap(), levels.max().unwrap())
        };
        let (least, most) = levels(&picture(own.clone()));
        assert!(most - least < 20, "{light}: {least} to {most} without relief");
        let relief = picture(Material::placeholder());
        let (least, most) = levels(&relief);
        assert!(
            least > 60 && most < 240 && most - least > 40,
            "{light}: {least} to {most}"
        );
        // The slopes within each quarter of the sphere differ visibly.
        for quarter in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
            let there = |n: &Vec3| n.x * quarter.0 > 0.2 && n.y * quarter.1 > 0.2;
            let there: Vec<_> = relief.iter().filter(|(n, _)| there(n)).copied().collect();
            let (least, most) = levels(&there);
            assert!(most - least > 8, "{light} {quarter:?}: {least} to {most}");
        }
    }
}

/// By default, scenes are lit by the studio unless the settings or the scene name an environment. The
/// studio's key light is on unless the scene has lights or the settings' sun is on.
#[test]
fn the_default_environment_is_the_scenes_or_the_studio() {
    let mut config = Config::default();
    let has_key = |scene: &Scene, config: &Config| {
        let lights = lights::gather(scene, &Pose::new(scene, None, 0.0), config, 1.0);
        lights.iter().any(|light| light.radius > 0.1)
    };
    let thing = scene([], vec![]);
    let mut lit = thing.clone();
    add_light(&mut lit, LightKind::Point, 3.0, Vec3::Y, Vec3::ZERO);
    let outdoors = Scene {
        is_outdoors: true,
        ..Scene::default()
    };
    assert!(config.adapted_to(&thing).environment.is_studio() && has_key(&thing, &config));
    assert!(config.adapted_to(&lit).environment.is_studio() && !has_key(&lit, &config));
    assert!(config.adapted_to(&outdoors).environment.is_sky() && !has_key(&outdoors, &config));
    assert!(lights::has_sun(&outdoors, &config) && !lights::has_sun(&thing, &config));
    config.sun.enabled = Switch::On;
    assert!(lights::has_sun(&thing, &config) && !has_key(&thing, &config));
    config.environment.source = EnvironmentSource::Sky;
    assert!(config.adapted_to(&thing).environment.is_sky());
    config.environment.source = EnvironmentSource::Auto;
    config.environment.file = "a.hdr".into();
    assert!(config.adapted_to(&outdoors).environment.is_file());
}

/// A card of this colour that faces the view.
fn card_in_front(color: Vec3) -> (Scene, View) {
    let eye = Vec3::new(0.4, 0.25, 1.0).normalize() * 6.0;
    let right = Vec3::Y.cross(eye).normalize();
    let up = eye.cross(right).normalize();
    let card = quad(-0.5 * (right + up), right, up, 0);
    let view = look_at(eye, Vec3::ZERO, 100.0);
    (scene([card], vec![matte(color)]), view)
}

fn in_studio<'a>(gpu: &'a Gpu, scene: &'a Scene) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, [96, 72]);
    stage.config.environment.source = EnvironmentSource::Studio;
    stage.config.environment.background = Background::Environment;
    stage.config.image.tonemap = Tonemap::Neutral;
    stage.config.shadows.mode = ShadowMode::Rays;
    stage.config.shadows.rays = 16;
    stage.ground = Some(Ground {
        middle: DVec3::new(0.0, -0.5, 0.0),
        reach: 10.0,
        spacing: 0.0,
    });
    stage
}

/// CIE 1976 L*a*b* of linear sRGB, for D65.
fn lab(linear: Vec3) -> Vec3 {
    let xyz = Mat3::from_cols(
        Vec3::new(0.4124, 0.2126, 0.0193),
        Vec3::new(0.3576, 0.7152, 0.1192),
        Vec3::new(0.1805, 0.0722, 0.9505),
    ) * linear
        / Vec3::new(0.9505, 1.0, 1.089);
    let [x, y, z] = xyz.to_array().map(|t| match t > 216.0 / 24389.0 {
        true => t.cbrt(),
        false => (24389.0 / 27.0 * t + 16.0) / 116.0,
    });
    Vec3::new(116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z))
}

/// In the studio, paint keeps its colour within twice the just noticeable difference.
#[test]
fn the_studio_preserves_paint_colours() {
    let gpu = gpu();
    for paint in [
        Vec3::new(0.6, 0.06, 0.06),
        Vec3::new(0.05, 0.25, 0.5),
        Vec3::new(0.15, 0.45, 0.1),
    ] {
        let (mut card, view) = card_in_front(paint);
        card.materials[0].roughness = 0.5;
        let mut stage = in_studio(&gpu, &card);
        let picture = stage.supersampled(&Pose::new(&card, None, 0.0), view, 4);
        let middle = 4 * (96 * 36 + 48);
        let found = [0, 1, 2].map(|c| srgb::decode(f32::from(picture[middle + c]) / 255.0));
        let apart = lab(Vec3::from(found)).distance(lab(paint));
        println!("{apart:.1} from {paint}");
        assert!(apart <= 5.0, "{found:?}: {apart} from {paint}");
    }
}

/// The studio shows a middle-grey card as middle grey, in front of a backdrop, with a visible shadow on the
/// ground. The path tracer finds the same light.
#[test]
fn the_studio_shows_a_grey_card_as_middle_grey() {
    let gpu = gpu();
    let (card, view) = card_in_front(Vec3::splat(0.216));
    let mut stage = in_studio(&gpu, &card);
    let pose = Pose::new(&card, None, 0.0);
    let picture = stage.supersampled(&pose, view, 4);
    let pixel = |picture: &[u8], x: usize, y: usize| {
        let at = 4 * (96 * y + x);
        [picture[at], picture[at + 1], picture[at + 2]]
    };
    let grey = pixel(&picture, 48, 36);
    assert!(grey.iter().all(|level| (118..=138).contains(level)), "{grey:?}");
    // The backdrop is grey, lighter at the bottom, and has no horizon.
    let column: Vec<_> = (0..72).map(|y| pixel(&picture, 4, y)).collect();
    assert!(column.iter().all(|[r, g, b]| r == g && g == b), "{column:?}");
    let steps_are_small = column
        .windows(2)
        .all(|pair| (0..=2).contains(&(i32::from(pair[1][0]) - i32::from(pair[0][0]))));
    assert!(steps_are_small && column[71][0] > column[0][0] + 4, "{column:?}");
    // The darkest point of the ground in the shadow.
    let linear = |level: u8| srgb::decode(f32::from(level) / 255.0);
    let card = stage.channel(Channel::Position).texels;
    let around = (1..95).flat_map(|x| (1..71).map(move |y| (x, y)));
    let is_free = |(x, y): &(usize, usize)| {
        let near = |at: usize| [96 * (at - 1), 96 * at, 96 * (at + 1)];
        let texels = near(*y).map(|row| [x - 1, *x, x + 1].map(|x| card[row + x][3]));
        texels.as_flattened().iter().all(|alpha| *alpha == 0.0)
    };
    let free = around.filter(is_free);
    let darkest = free.map(|(x, y)| pixel(&picture, x, y)).min().unwrap();
    let share = linear(darkest[0]) / linear(column[60][0]);
    assert!((0.35..0.8).contains(&share), "{share}");
    assert!(darkest[0].abs_diff(darkest[2]) <= 1, "{darkest:?}");
    stage.config.image.mode = ImageMode::Path;
    let paths = stage.supersampled(&pose, view, 64);
    for (x, y) in [(48, 36), (4, 4), (4, 40)] {
        let (fast, paths) = (pixel(&picture, x, y)[1], pixel(&paths, x, y)[1]);
        assert!(fast.abs_diff(paths) <= 4, "{x} {y}: {fast} {paths}");
    }
}

/// Rotating the environment rotates its lighting and the background.
#[test]
fn rotation_turns_the_light_and_the_background() {
    let gpu = gpu();
    let scene = row(&[0.1, 0.5, 1.0], 0.5, Vec3::ONE);
    let angle = 0.7f32;
    let turned = image(256, 128, |d| {
        // Direction that was visible along d before the rotation by `angle` about +Y.
        let (sin, cos) = angle.sin_cos();
        scenery(Vec3::new(cos * d.x - sin * d.z, d.y, sin * d.x + cos * d.z))
    });
    let picture = |file: &EnvironmentImage, degrees: f32| {
        let mut stage = stage(&gpu, &scene, [160, 90], file);
        stage.config.environment.rotation = degrees;
        stage.config.environment.background = Background::Environment;
        draw(&mut stage, front(1.8)).texels
    };
    let straight = image(256, 128, scenery);
    let expected = picture(&turned, 0.0);
    let found = picture(&straight, angle.to_degrees());
    let distance = |a: &[[f32; 4]], b: &[[f32; 4]]| {
        let pairs = a.iter().flatten().zip(b.iter().flatten());
        pairs.map(|(a, b)| (a - b).abs()).sum::<f32>() / a.len() as f32
    };
    let unturned = picture(&straight, 0.0);
    let (same, other) = (distance(&found, &expected), distance(&unturned, &expected));
    assert!(same < 0.01 && other > 0.1, "{same}, {other}");
}

/// Each of six colours is visible along its axis, in perspective and orthographic views, and also off-centre.
#[test]
fn the_background_lies_along_the_ray_of_each_pixel() {
    let gpu = gpu();
    let scene = row(&[1.0], 0.0, Vec3::ONE);
    let axes = [
        (Vec3::X, Vec3::new(1.0, 0.0, 0.0)),
        (Vec3::NEG_X, Vec3::new(0.0, 1.0, 0.0)),
        (Vec3::Y, Vec3::new(0.0, 0.0, 1.0)),
        (Vec3::NEG_Y, Vec3::new(1.0, 1.0, 0.0)),
        (Vec3::Z, Vec3::new(0.0, 1.0, 1.0)),
        (Vec3::NEG_Z, Vec3::new(1.0, 0.0, 1.0)),
    ];
    let color = |d: Vec3| {
        let nearest = axes.iter().max_by(|a, b| a.0.dot(d).total_cmp(&b.0.dot(d)));
        nearest.unwrap().1
    };
    let mut stage = stage(&gpu, &scene, [96, 64], &image(512, 256, color));
    stage.config.environment.background = Background::Environment;
    for (axis, expected) in axes {
        // The view is from beside the sphere, which then is behind the eye.
        let up = if axis.y == 0.0 { Vec3::Y } else { Vec3::X };
        for fov in [Some(1.0), None] {
            let eye = 5.0 * axis;
            let view = View {
                world_from_view: glam::camera::rh::view::look_at_mat4(eye, 2.0 * eye, up).inverse(),
                projection: fov.map_or(Projection::Orthographic { half_height: 2.0 }, |fov_y| {
                    Projection::Perspective { fov_y }
                }),
                near: 0.1,
                far: 100.0,
            };
            let lit = draw(&mut stage, view);
            assert!(lit.texels.iter().all(|t| t[3] == 0.0));
            let middle = Vec4::from(lit.texels[32 * 96 + 48]).truncate();
            assert!((middle - expected).abs().max_element() < 0.01, "{axis}: {middle}");
            // Every pixel shows the environment along its own ray.
            let [right, above] = view.half_extents(1.5);
            let mut wrong = 0;
            for (i, texel) in (0..).zip(&lit.texels) {
                let x = ((i % 96) as f32 + 0.5) / 48.0 - 1.0;
                let y = 1.0 - ((i / 96) as f32 + 0.5) / 32.0;
                let ray = view.forward() + x * right + y * above;
                let off = Vec4::from(*texel).truncate() - color(ray.normalize());
                wrong += u32::from(off.abs().max_element() > 0.02);
            }
            assert!(wrong < 200, "{axis}: {wrong} pixels");
        }
    }
    // With full blur, the background is nearly uniform. A colour as the background is exactly that colour.
    let view = front(-3.0);
    stage.config.environment.blur = 1.0;
    let blurred = draw(&mut stage, view);
    let [r, g, b, _] = blurred.texels[0];
    assert!(r > 0.2 && g > 0.2 && b > 0.2, "{r} {g} {b}");
    stage.config.environment.background = Background::Color;
    stage.config.image.background = [0.25, 0.5, 0.75];
    assert_eq!(draw(&mut stage, view).texels[0], [0.25, 0.5, 0.75, 0.0]);
}

/// The environment is rebuilt when it changes, and only then.
#[test]
fn the_environment_is_rebuilt_only_when_it_changes() {
    let gpu = gpu();
    let scene = row(&[0.5], 0.0, Vec3::ONE);
    let mut stage = stage(&gpu, &scene, [48, 48], &image(64, 32, scenery));
    let passes = |stage: &mut Stage<'_>| {
        stage.draw(&Pose::new(stage.scene, None, 0.0), front(1.2));
        stage.renderer.collect(&gpu);
        let names = stage.renderer.stats().passes.iter();
        let names: Vec<String> = names.map(|pass| pass.name.clone()).collect();
        ["equirect", "sky", "project_sh", "prefilter"]
            .map(|stage| names.iter().any(|name| name.starts_with(stage)))
    };
    assert_eq!(passes(&mut stage), [true, false, true, true]);
    assert_eq!(passes(&mut stage), [false; 4]);
    stage.config.environment.rotation = 90.0;
    stage.config.environment.intensity = 2.0;
    stage.config.environment.blur = 0.5;
    assert_eq!(passes(&mut stage), [false; 4]);
    stage.config.environment.order = 5;
    assert_eq!(passes(&mut stage), [false, false, true, false]);
    stage.config.environment.source = EnvironmentSource::Sky;
    assert_eq!(passes(&mut stage), [false, true, true, true]);
    stage.config.sun.direction = [0.3, -0.5, 0.1];
    assert_eq!(passes(&mut stage), [false, true, true, true]);
    assert_eq!(passes(&mut stage), [false; 4]);
}

/// On slow adapters, a new environment is built over several frames. The result is the same.
#[test]
fn an_environment_built_in_steps_is_the_same() {
    let gpu = gpu();
    let scene = row(&[0.1, 0.5, 1.0], 1.0, Vec3::ONE);
    let old = image(64, 32, |_| Vec3::ONE);
    for scale in [1.0, 8.0] {
        let mut new = image(128, 64, scenery);
        new.scale = scale;
        let seen = |stage: &mut Stage<'_>| {
            stage.config.environment.background = Background::Environment;
            draw(stage, front(1.8)).texels
        };
        let expected = seen(&mut stage(&gpu, &scene, [96, 48], &new));
        let mut stage = stage(&gpu, &scene, [96, 48], &old);
        stage.renderer.spreads_environment = true;
        let first = seen(&mut stage);
        let is_pending = stage.renderer.environment_is_pending();
        assert!(!is_pending, "the first picture has its light");
        stage.renderer.set_environment(&gpu, Some(&new)).unwrap();
        let mut frames = 0;
        let last = loop {
            stage.renderer.budget.in_parts = true;
            let picture = seen(&mut stage);
            frames += 1;
            if !stage.renderer.environment_is_pending() {
                break picture;
            }
            assert!(frames < 1000, "it never comes");
            // Until then, the background is the old one, not a mix.
            let pairs = picture.iter().zip(&first);
            let behind = pairs.filter(|(texel, _)| texel[3] == 0.0);
            assert!(behind.clone().count() > 1000);
            assert!(behind.clone().all(|(now, then)| now == then), "frame {frames}");
        };
        // An environment of another scale cannot replace it temporarily, so the new one is built at once.
        assert_eq!(frames > 1, scale == 1.0, "{frames} frames");
        assert!(last == expected && first != expected);
    }
}

/// The sun in the sky is warm and dim when low, and gone at night. The environment lighting follows.
#[test]
fn the_sky_follows_its_sun() {
    let gpu = gpu();
    let scene = row(&[1.0], 0.0, Vec3::ONE);
    let mut stage = Stage::new(&gpu, &scene, [48, 48]);
    stage.config.environment.source = EnvironmentSource::Sky;
    stage.config.environment.background = Background::Environment;
    stage.config.sun.color = [1.0; 3];
    let mut at = |degrees: f32, strength: f32| {
        stage.config.sun.strength = strength;
        let (sin, cos) = degrees.to_radians().sin_cos();
        stage.config.sun.direction = [-cos, -sin, 0.0];
        let pose = Pose::new(&scene, None, 0.0);
        let sun = Vec3::from(lights::gather(&scene, &pose, &stage.config, 1.0)[0].intensity);
        // Without the sun's direct light.
        stage.config.sun.enabled = Switch::Off;
        let lit = draw(&mut stage, front(1.2));
        stage.config.sun.enabled = Switch::Auto;
        let ambient: Vec3 = covered(&lit).sum();
        (sun, ambient)
    };
    let (noon, noon_sky) = at(90.0, 4.0);
    let (evening, evening_sky) = at(8.0, 4.0);
    assert!((noon - 4.0).abs().max_element() < 1e-3, "{noon}");
    assert!(evening.x < noon.x && evening.z / evening.x < 0.7, "{evening}");
    assert!(noon_sky.z > noon_sky.x && evening_sky.max_element() < noon_sky.max_element());
    // Twilight is a millionth of noon, and scales with the sun's strength.
    let (dusk, dusk_sky) = at(-6.0, 4.0);
    let (_, bright_dusk) = at(-6.0, 1e5);
    assert_eq!(dusk, Vec3::ZERO);
    let to_sun = |degrees: f32| Vec3::new(degrees.to_radians().cos(), degrees.to_radians().sin(), 0.0);
    let expected = daylight(to_sun(-6.0)) / daylight(to_sun(90.0));
    // At noon, most of the light on the ground is direct sunlight.
    let share = dusk_sky.y / noon_sky.y / expected;
    assert!((1.0..40.0).contains(&share), "{share}");
    let ratio = bright_dusk / dusk_sky / (1e5 / 4.0);
    assert!((ratio - 1.0).abs().max_element() < 0.02, "{ratio}");
    let (_, night_sky) = at(-30.0, 4.0);
    assert!(night_sky.max_element() < 1e-6 * noon_sky.max_element());
    stage.config.sun.strength = 4.0;
    // A light of the scene, an environment file or a colour do not affect the sun of the settings.
    stage.config.environment.source = EnvironmentSource::Color;
    stage.config.sun.color = [0.5, 0.25, 1.0];
    let [sun] = lights::gather(&scene, &Pose::new(&scene, None, 0.0), &stage.config, 1.0)[..] else {
        panic!("one sun")
    };
    assert_eq!(sun.intensity, [2.0, 1.0, 4.0]);
    let mut lit = row(&[1.0], 0.0, Vec3::ONE);
    add_light(&mut lit, LightKind::Point, 1.0, Vec3::Y, Vec3::ZERO);
    assert!(!lights::has_sun(&lit, &stage.config));
    stage.config.environment.file = "some.hdr".into();
    stage.config.environment.source = EnvironmentSource::Auto;
    assert!(!lights::has_sun(&scene, &stage.config));
}

/// A sun below the horizon has no shadow map.
#[test]
fn a_sun_below_the_horizon_draws_no_shadow_map() {
    let gpu = gpu();
    let scene = row(&[1.0], 0.0, Vec3::ONE);
    let mut stage = Stage::new(&gpu, &scene, [48, 48]);
    stage.config.environment.source = EnvironmentSource::Sky;
    stage.config.shadows.mode = ShadowMode::Map;
    let mut layers = |height: f32| {
        stage.config.sun.direction = [-1.0, -height, 0.0];
        stage.draw(&Pose::new(&scene, None, 0.0), front(1.2));
        stage.renderer.collect(&gpu);
        let passes = stage.renderer.stats().passes.iter();
        passes.filter(|pass| pass.name.starts_with("layer ")).count()
    };
    assert_eq!([layers(0.5), layers(-0.5), layers(0.5)], [1, 0, 1]);
}

/// A scene with a sun gets the sky of that sun, with its strength.
#[test]
fn the_sky_has_the_sun_of_the_scene() {
    let gpu = gpu();
    let bare = row(&[1.0], 0.0, Vec3::ONE);
    let mut sunny = row(&[1.0], 0.0, Vec3::ONE);
    let from = Vec3::new(3.0, 1.0, -2.0);
    add_light(&mut sunny, LightKind::Directional, 5.0, from, Vec3::ZERO);
    add_light(&mut sunny, LightKind::Directional, 2.0, Vec3::Y, Vec3::ZERO);
    // A light from below is no sun, however bright.
    add_light(&mut sunny, LightKind::Directional, 9.0, -Vec3::Y, Vec3::ZERO);
    let sky = |scene: &Scene, direction: Vec3, strength: f32| {
        let mut stage = Stage::new(&gpu, scene, [48, 48]);
        stage.config.environment.source = EnvironmentSource::Sky;
        stage.config.environment.background = Background::Environment;
        stage.config.sun.direction = direction.to_array();
        stage.config.sun.strength = strength;
        stage.config.sun.color = [1.0; 3];
        let seen = draw(&mut stage, front(1.2));
        let behind = seen.texels.into_iter().filter(|texel| texel[3] == 0.0);
        behind.collect::<Vec<_>>()
    };
    let own = sky(&sunny, Vec3::NEG_Y, 1.0);
    let expected = sky(&bare, -from.normalize(), 5.0);
    assert!(own.len() > 500 && own.len() == expected.len());
    let pairs = own.iter().flatten().zip(expected.iter().flatten());
    let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 2e-3, "{worst}");
    assert!(own != sky(&bare, Vec3::NEG_Y, 1.0));
}

/// A room with a doorway, with a matte and a shiny ball on its floor, and a ball outside.
fn room() -> Scene {
    let wall = |corner: Vec3, u: Vec3, v: Vec3| quad(corner, u, v, 0);
    let (x, y, z) = (Vec3::X, Vec3::Y, Vec3::Z);
    let parts = [
        // The ground inside and outside, then the left, back and right walls and the ceiling.
        wall(Vec3::new(-3.0, 0.0, 3.0), 6.0 * x, -5.0 * z),
        wall(Vec3::new(-1.5, 0.0, 1.0), -3.0 * z, 2.0 * y),
        wall(Vec3::new(-1.5, 0.0, -2.0), 3.0 * x, 2.0 * y),
        wall(Vec3::new(1.5, 0.0, -2.0), 3.0 * z, 2.0 * y),
        wall(Vec3::new(-1.5, 2.0, -2.0), 3.0 * x, 3.0 * z),
        sphere(Vec3::new(-0.6, 0.5, -0.6), 0.5, 24, 1),
        sphere(Vec3::new(0.6, 0.5, -0.6), 0.5, 24, 2),
        sphere(Vec3::new(2.2, 0.5, 1.6), 0.5, 24, 2),
    ];
    let shiny = Material {
        base_color: Vec4::new(1.0, 0.8, 0.5, 1.0),
        metallic: 1.0,
        roughness: 0.25,
        ..Material::default()
    };
    let mut walls = matte(Vec3::splat(0.75));
    walls.double_sided = true;
    scene(parts, vec![walls, matte(Vec3::new(0.7, 0.2, 0.15)), shiny])
}

/// The sky over a room, with and without ambient occlusion rays. The walls block the sky's light.
#[test]
fn golden_images_with_and_without_occlusion() {
    let gpu = gpu();
    let scene = room();
    let mut stage = Stage::new(&gpu, &scene, [240, 135]);
    stage.config.environment.source = EnvironmentSource::Sky;
    stage.config.environment.background = Background::Environment;
    stage.config.environment.intensity = 2.0;
    stage.config.sun.direction = [-0.6, -1.0, -0.8];
    let view = look_at(Vec3::new(1.6, 1.9, 5.2), Vec3::new(0.2, 0.8, 0.0), 40.0);
    let pose = Pose::new(&scene, None, 0.0);
    let mut pictures = Vec::new();
    for (name, mode) in [
        ("unoccluded", OcclusionMode::Off),
        ("occluded", OcclusionMode::Rays),
    ] {
        stage.config.occlusion.mode = mode;
        let picture = stage.supersampled(&pose, view, 16);
        compare_with_golden(&gpu, &format!("room_{name}"), &picture, stage.size);
        pictures.push(picture);
    }
    let (mean, _) = difference(&pictures[0], &pictures[1]);
    assert!(mean > 5.0, "rays make a difference of {mean}");
    let brightness = |picture: &[u8]| picture.iter().map(|byte| f64::from(*byte)).sum::<f64>();
    assert!(brightness(&pictures[1]) < brightness(&pictures[0]));
}

/// The sun of an environment file becomes a light. The lighting looks as before, but now the sun casts
/// shadows, and it rotates with the environment.
#[test]
fn the_sun_of_a_file_is_a_light() {
    let gpu = gpu();
    let to_sun = Vec3::new(0.5, 0.8, 0.4).normalize();
    let whole = image(720, 360, |d| {
        let sun = if d.dot(to_sun) > 0.9998 { 3000.0 } else { 0.0 };
        scenery(d) * 0.3 + sun
    });
    let mut parted = whole.clone();
    parted.take_sun();
    let sun = parted.sun.unwrap();
    assert!(sun.to_sun.dot(to_sun) > 0.99999);
    let ground = quad(Vec3::new(-2.0, 0.0, 2.0), Vec3::X * 4.0, Vec3::Z * -4.0, 0);
    let cover = quad(Vec3::new(-0.5, 1.0, 0.5), Vec3::X, -Vec3::Z, 0);
    let mut white = matte(Vec3::splat(0.8));
    (white.double_sided, white.roughness) = (true, 1.0);
    let scene = scene([ground, cover], vec![white]);
    let above = look_at(Vec3::new(0.01, 6.0, 0.0), Vec3::ZERO, 40.0);
    let at = |image: &FloatImage, x: u32, y: u32| {
        let [r, g, b, _] = image.texels[(y * 96 + x) as usize];
        Vec3::new(r, g, b)
    };
    for degrees in [90.0f32, 0.0].into_iter().take(by_lane(1, 2)) {
        let mut pictures = [&whole, &parted].map(|file| {
            let mut stage = stage(&gpu, &scene, [96, 96], file);
            stage.config.shadows.mode = ShadowMode::Rays;
            stage.config.environment.rotation = degrees;
            // In this view, the upper edge of the picture points towards +X.
            (draw(&mut stage, above), stage.channel(Channel::Shadow))
        });
        let [(blurred, _), (sharp, shadow)] = &mut pictures;
        // Lit areas look alike in both pictures. Three bands represent a sun's cosine to a few percent.
        let lit = (4, 90);
        let (before, after) = (at(blurred, lit.0, lit.1), at(sharp, lit.0, lit.1));
        assert!(
            (before / after - 1.0).abs().max_element() < 0.12,
            "{before} {after}"
        );
        // Under the cover, only one picture is dark. The shadow points away from the sun, which is rotated by
        // `degrees`.
        let turned = glam::Quat::from_rotation_y(degrees.to_radians()) * to_sun;
        let middle = Vec3::ZERO - turned * (1.0 / turned.y) + Vec3::Y;
        let dark = (0..96 * 96).filter(|i| shadow.texels[*i][0] == 0.0 && shadow.texels[*i][3] == 1.0);
        let position = {
            let mut stage = stage(&gpu, &scene, [96, 96], &parted);
            draw(&mut stage, above);
            stage.channel(Channel::Position)
        };
        let shadowed: Vec<Vec3> = dark
            .map(|i| Vec3::from_slice(&position.texels[i]))
            .filter(|point| point.y < 0.5)
            .collect();
        assert!(shadowed.len() > 100, "{degrees}: {} dark pixels", shadowed.len());
        for point in shadowed {
            let off = (point - middle).abs();
            assert!(off.x < 0.56 && off.z < 0.56, "{degrees}: {point} for {middle}");
        }
    }
}
