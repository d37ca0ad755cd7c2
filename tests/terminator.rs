//! The terminator on smooth meshes: no steps, and no light on unlit sides.

use crate::common;
use canopy::{
    config::{Antialias, OcclusionMode, ShadowMode},
    gpu::Gpu,
    reference::{lbvh::triangles, lighting, trace::closest_hit},
    render::{Channel, View},
    scene::{
        AlphaMode, Image, Layers, LightKind, Material, Pose, Primitive, Projection, Sampler, Scene, Texture,
        TextureRef, Transform,
    },
};
use common::{
    gpu, rounds_corners_coarsely,
    scenes::{Stage, add_light, look_at, matte, quad, scene},
};
use glam::{Affine2, Mat4, Vec3};
use std::collections::HashMap;

const SIZE: [u32; 2] = [160, 160];

/// A smooth sphere of 20 · `cuts`² triangles: each triangle of an icosahedron is subdivided into `cuts`²
/// triangles, which are projected onto the sphere.
fn icosphere(center: Vec3, radius: f32, cuts: u32) -> Primitive {
    let golden = (1.0 + 5f32.sqrt()) / 2.0;
    let corners: Vec<Vec3> = (0..12)
        .map(|i| {
            let sign = |bit: i32| if i & bit == 0 { 1.0 } else { -1.0 };
            let v = [sign(1), sign(2) * golden, 0.0];
            let turn = (i / 4) as usize;
            Vec3::new(v[turn], v[(turn + 1) % 3], v[(turn + 2) % 3])
        })
        .collect();
    let mut out = Primitive::default();
    let mut numbers = HashMap::new();
    let mut vertex = |direction: Vec3| {
        let normal = direction.normalize();
        *numbers
            .entry((1e5 * normal).round().as_ivec3())
            .or_insert_with(|| {
                out.positions.push(center + radius * normal);
                out.normals.push(normal);
                out.tangents.push(normal.any_orthonormal_vector().extend(1.0));
                out.positions.len() as u32 - 1
            })
    };
    // Corners of an icosahedron are neighbours if they are 2 apart.
    let near = |a: usize, b: usize| corners[a].distance(corners[b]) < 2.1;
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if !(near(a, b) && near(b, c) && near(c, a)) {
                    continue;
                }
                let [a, mut b, mut c] = [a, b, c].map(|i| corners[i]);
                if (b - a).cross(c - a).dot(a) < 0.0 {
                    (b, c) = (c, b);
                }
                let mut at = |i: u32, j: u32| {
                    let share = |k: u32| k as f32 / cuts as f32;
                    vertex(a + share(i) * (b - a) + share(j) * (c - a))
                };
                for (i, j) in (0..cuts).flat_map(|i| (0..cuts - i).map(move |j| (i, j))) {
                    let [x, y, z] = [at(i, j), at(i + 1, j), at(i, j + 1)];
                    out.indices.push([x, y, z]);
                    if i + j + 2 <= cuts {
                        out.indices.push([y, at(i + 1, j + 1), z]);
                    }
                }
            }
        }
    }
    out
}

/// A parallel view of everything within a metre of the origin.
fn parallel(eye: Vec3) -> View {
    View {
        projection: Projection::Orthographic { half_height: 1.05 },
        ..look_at(eye, Vec3::ZERO, 20.0)
    }
}

fn lit_by_sun(to_light: Vec3, primitives: Vec<Primitive>, material: Material) -> Scene {
    let mut scene = scene(primitives, vec![material]);
    add_light(
        &mut scene,
        LightKind::Directional,
        3.0,
        5.0 * to_light,
        Vec3::ZERO,
    );
    scene
}

fn stage<'a>(gpu: &'a Gpu, scene: &'a Scene) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, SIZE);
    stage.config.shadows.mode = ShadowMode::Rays;
    stage.config.materials.multiple_scattering = false;
    stage.config.materials.glint_filter = false;
    stage.config.environment.color = [0.0; 3];
    stage.config.image.antialias = Antialias::Off;
    stage
}

/// Replaces the scene of a stage, so that passes are compiled only once.
fn enter<'a>(stage: &mut Stage<'a>, scene: &'a Scene) {
    let uploader = stage.renderer.uploader();
    stage.uploaded = uploader.upload(stage.gpu, scene, &stage.config).unwrap();
    stage.scene = scene;
}

fn draw(stage: &mut Stage<'_>, view: View) {
    let pose = Pose::new(stage.scene, None, 0.0);
    stage.draw(&pose, view);
}

/// Differences between a picture of a unit sphere and the exact sphere.
#[derive(Debug, Default, PartialEq)]
struct Steps {
    /// Pixels whose shadow differs from the sphere's.
    pixels: usize,
    /// Light-dark transitions along rows and columns, in excess of the sphere's transitions.
    ends: usize,
    /// Largest difference in radiance, relative to the light's peak.
    radiance: f64,
    /// Number of compared pixels, and of lit ones among them.
    compared: [usize; 2],
}

fn steps(stage: &mut Stage<'_>, to_light: Vec3) -> Steps {
    let [position, shadow, lit] =
        [Channel::Position, Channel::Shadow, Channel::Lit].map(|c| stage.channel(c).texels);
    let to_eye = Vec3::Z;
    let mut steps = Steps::default();
    let sphere: Vec<_> = position
        .iter()
        .map(|at| (at[3] == 1.0).then(|| Vec3::from_slice(at).normalize()))
        .collect();
    let cosine = |i: usize| sphere[i].map(|normal: Vec3| normal.dot(to_light));
    for (i, normal) in sphere.iter().enumerate() {
        let Some(normal) = *normal else { continue };
        let n_dot_l = normal.dot(to_light);
        steps.compared[0] += 1;
        steps.compared[1] += usize::from(n_dot_l > 0.0);
        // The G-buffer's normals are precise to 1 in 30,000.
        let differs = (shadow[i][0] > 0.5) != (n_dot_l > 0.0) && n_dot_l.abs() > 2e-4;
        steps.pixels += usize::from(differs);
        let surface = lighting::Surface {
            position: normal,
            normal,
            smooth_normal: normal,
            albedo: Vec3::splat(0.8),
            occlusion: 1.0,
            emissive: Vec3::ZERO,
            roughness: 0.8,
            metallic: 0.0,
        };
        let brdf = |n_dot_l: f32| match n_dot_l > 0.0 {
            true => {
                let scattered = lighting::brdf(&surface, to_eye.as_dvec3(), to_light.as_dvec3(), None).x;
                3.0 * scattered * f64::from(n_dot_l)
            }
            false => 0.0,
        };
        let error = (f64::from(lit[i][0]) - brdf(n_dot_l)).abs();
        steps.radiance = steps.radiance.max(error / (3.0 * 0.8 / std::f64::consts::PI));
    }
    let ends = |line: Vec<usize>| {
        let both = line.windows(2).filter_map(|pair| {
            let (a, b) = (cosine(pair[0])?, cosine(pair[1])?);
            let found = (shadow[pair[0]][0] > 0.5) != (shadow[pair[1]][0] > 0.5);
            // An edge through a pixel's centre may fall on either side of it.
            let sure = a.abs().min(b.abs()) > 2e-4;
            Some(usize::from(found && sure && (a > 0.0) == (b > 0.0)))
        });
        both.sum::<usize>()
    };
    let [width, height] = SIZE.map(|side| side as usize);
    for y in 0..height {
        steps.ends += ends((0..width).map(|x| y * width + x).collect());
    }
    for x in 0..width {
        steps.ends += ends((0..height).map(|y| y * width + x).collect());
    }
    steps
}

/// Directions from the side, from behind and from in front.
const SUNS: [Vec3; 4] = [
    Vec3::new(0.93, 0.36, 0.08),
    Vec3::new(-0.1, -0.99, 0.02),
    Vec3::new(0.6, 0.2, -0.77),
    Vec3::new(-0.55, 0.45, 0.7),
];

const EYE: Vec3 = Vec3::new(0.0, 0.0, 5.0);

#[test]
fn the_terminator_of_spheres_is_smooth() {
    let gpu = gpu();
    let spheres = [(3, 180), (10, 2000), (32, 20480)].map(|(cuts, triangles)| {
        let sphere = icosphere(Vec3::ZERO, 1.0, cuts);
        assert_eq!(sphere.indices.len(), triangles);
        SUNS.map(Vec3::normalize).map(|to_light| {
            let sphere = vec![sphere.clone()];
            (to_light, lit_by_sun(to_light, sphere, matte(Vec3::splat(0.8))))
        })
    });
    let mut stage = stage(&gpu, &spheres[0][0].1);
    for (to_light, scene) in spheres.iter().flatten() {
        enter(&mut stage, scene);
        draw(&mut stage, parallel(EYE));
        let found = steps(&mut stage, *to_light);
        let [compared, lit] = found.compared;
        assert!(
            compared > 15_000 && lit > 1000 && lit < compared - 1000,
            "{found:?} tests little"
        );
        let triangles = stage.uploaded.buffers.triangle_count;
        assert!(
            found.pixels == 0 && found.ends == 0 && found.radiance < 1e-3,
            "{triangles} triangles lit from {to_light}: {found:?}"
        );
    }
}

/// A smooth torus about +Y, of radii 1 and `TUBE`.
fn torus(sectors: u32, across: u32) -> Primitive {
    let mut out = Primitive::default();
    for (i, j) in (0..sectors).flat_map(|i| (0..across).map(move |j| (i, j))) {
        let turn = |i: u32, n: u32| std::f32::consts::TAU * i as f32 / n as f32;
        let (sin, cos) = turn(i, sectors).sin_cos();
        let outwards = Vec3::new(cos, 0.0, -sin);
        let (height, out_) = turn(j, across).sin_cos();
        let normal = out_ * outwards + height * Vec3::Y;
        out.positions.push(outwards + TUBE * normal);
        out.normals.push(normal);
        out.tangents.push(Vec3::new(-sin, 0.0, -cos).extend(1.0));
        let at = |i: u32, j: u32| i % sectors * across + j % across;
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        out.indices.extend([[a, b, c], [a, c, d]]);
    }
    out
}

const TUBE: f32 = 0.4;

/// True if the exact torus, not its triangles, is lit at the point nearest to `at`. `None` if this is
/// uncertain.
fn torus_is_lit(at: Vec3, to_light: Vec3) -> Option<bool> {
    let ring = at.with_y(0.0).normalize();
    let normal = (at - ring).normalize();
    let n_dot_l = normal.dot(to_light);
    let distance = |at: Vec3| at.with_y(0.0).normalize_or(Vec3::X).distance(at) - TUBE;
    let (mut lit, mut dark) = (n_dot_l > 0.03, n_dot_l < -2e-4);
    for step in 1..300 {
        let t = 0.01 * step as f32;
        let clear = distance(ring + TUBE * normal + t * to_light);
        lit &= clear > 0.25 * (t * n_dot_l).min(0.04);
        dark |= clear < -0.03;
    }
    (lit || dark).then_some(lit)
}

/// The inner side of a torus is a saddle: concave in one direction and convex in the other.
#[test]
fn the_terminator_of_a_torus_shows_no_triangles() {
    let gpu = gpu();
    let suns = [[-1.0, 0.35, 0.3], [-0.3, 0.3, 0.9], [0.7, 0.25, -0.4]];
    let scenes = suns.map(|sun| {
        let to_light = Vec3::from(sun).normalize();
        (
            to_light,
            lit_by_sun(to_light, vec![torus(40, 16)], matte(Vec3::ONE)),
        )
    });
    let mut stage = stage(&gpu, &scenes[0].1);
    for (to_light, scene) in &scenes {
        enter(&mut stage, scene);
        let view = parallel(Vec3::new(0.8, 3.0, 2.0));
        let view = View {
            projection: Projection::Orthographic { half_height: 1.5 },
            ..view
        };
        draw(&mut stage, view);
        let position = stage.channel(Channel::Position).texels;
        let shadow = stage.channel(Channel::Shadow).texels;
        let (mut compared, mut lit, mut differing) = (0, 0, 0);
        for (at, shadow) in position.iter().zip(&shadow) {
            let expected = (at[3] == 1.0).then(|| torus_is_lit(Vec3::from_slice(at), *to_light));
            let Some(expected) = expected.flatten() else {
                continue;
            };
            compared += 1;
            lit += usize::from(expected);
            differing += usize::from(expected != (shadow[0] > 0.5));
        }
        assert!(
            compared > 5000 && lit > 500 && compared - lit > 500,
            "{lit} of {compared} lit from {to_light} test little"
        );
        // A triangle covers a hundred pixels or more.
        assert!(
            differing * 500 <= compared,
            "{differing} of {compared} from {to_light}"
        );
    }
}

/// Without the smooth terminator, shadows depend only on the triangles. A pixel is lit if its triangle and
/// its smooth normal face the light and nothing is in between. Rays in f64 start at the point that the pixel
/// shows.
#[test]
fn without_the_smooth_terminator_triangles_cast_their_own_shadows() {
    let gpu = gpu();
    if rounds_corners_coarsely(&gpu) {
        // A pixel's position is too far from its triangle to say what shadows it.
        return;
    }
    let to_light = Vec3::new(-1.0, 0.35, 0.3).normalize();
    let primitive = torus(40, 16);
    let triangles = triangles(&primitive.positions, &primitive.indices);
    let scene = lit_by_sun(to_light, vec![primitive], matte(Vec3::ONE));
    let mut stage = stage(&gpu, &scene);
    let eye = Vec3::new(0.8, 3.0, 2.0);
    let view = View {
        projection: Projection::Orthographic { half_height: 1.5 },
        ..look_at(eye, Vec3::ZERO, 20.0)
    };
    let mut differing = |smooth_terminator| {
        stage.config.materials.smooth_terminator = smooth_terminator;
        draw(&mut stage, view);
        let [position, normal, shadow] =
            [Channel::Position, Channel::Normal, Channel::Shadow].map(|c| stage.channel(c).texels);
        let (mut compared, mut lit, mut differing) = (0, 0, 0);
        for i in 0..position.len() {
            let at = Vec3::from_slice(&position[i]);
            // The G-buffer's normals are precise to 1 in 30,000.
            let n_dot_l = Vec3::from_slice(&normal[i]).dot(to_light);
            if position[i][3] != 1.0 || n_dot_l.abs() < 1e-4 {
                continue;
            }
            let Some((own, _)) = closest_hit(&triangles, at + eye, -eye, 0.0, 1e30) else {
                continue;
            };
            let [a, b, c] = triangles[own];
            let geometric = (b - a).cross(c - a).normalize();
            let geometric = geometric * geometric.dot(eye).signum();
            let faces = n_dot_l > 0.0 && geometric.dot(to_light) > 0.0;
            let origin = at + 1e-5 * geometric;
            let expected = faces && closest_hit(&triangles, origin, to_light, 0.0, 1e30).is_none();
            compared += 1;
            lit += usize::from(expected);
            differing += usize::from(expected != (shadow[i][0] > 0.5));
        }
        assert!(compared > 5000 && lit > 500 && compared - lit > 500);
        (differing, compared)
    };
    let (differing_smooth, _) = differing(true);
    let (differing_plain, compared) = differing(false);
    // Rounding decides at the edges of shadows.
    assert!(
        differing_plain * 2000 <= compared && differing_smooth > 20 * differing_plain.max(1),
        "{differing_plain} and {differing_smooth} of {compared}"
    );
}

/// The sphere is mirrored by its node, layered, blended, and seen through a double-sided surface.
#[test]
fn the_terminator_of_a_sphere_is_the_same_for_all_material_kinds() {
    let gpu = gpu();
    let to_light = SUNS[0].normalize();
    let sphere = || vec![icosphere(Vec3::ZERO, 1.0, 3)];
    let plain = matte(Vec3::splat(0.8));
    let mut mirrored = lit_by_sun(to_light, sphere(), plain.clone());
    mirrored.nodes[0].transform = Transform::Matrix(Mat4::from_scale(Vec3::new(1.0, -1.0, 1.0)).as_dmat4());
    let with = |change: fn(&mut Material)| {
        let mut material = plain.clone();
        change(&mut material);
        lit_by_sun(to_light, sphere(), material)
    };
    let scenes = [
        mirrored,
        with(|material| material.layers = Some(Box::<Layers>::default())),
        with(|material| material.double_sided = true),
        with(|material| material.alpha_mode = AlphaMode::Blend),
    ];
    let mut stage = stage(&gpu, &scenes[0]);
    for (number, scene) in scenes.iter().enumerate() {
        enter(&mut stage, scene);
        let blended = number == 3;
        if blended {
            // The surface is not in the G-buffer. The G-buffer of the last picture is compared with the
            // current lighting.
            let found = stage.channel(Channel::Lit).texels;
            draw(&mut stage, parallel(EYE));
            let lit = stage.channel(Channel::Lit).texels;
            let differs = |(a, b): &(&[f32; 4], &[f32; 4])| (a[0] - b[0]).abs() > 2e-3;
            assert_eq!(found.iter().zip(&lit).filter(differs).count(), 0);
            continue;
        }
        draw(&mut stage, parallel(EYE));
        let found = steps(&mut stage, to_light);
        assert!(
            found.pixels == 0 && found.ends == 0 && found.radiance < 2e-3,
            "{number}: {found:?}"
        );
    }
}

/// A box around a point with shared corners, whose normals are the means of the faces', outwards or inwards.
fn smooth_box(center: Vec3, half: Vec3, outwards: bool) -> Primitive {
    let corner = |i: u32| {
        let sign = |bit: u32| if i & bit == 0 { -1.0 } else { 1.0 };
        Vec3::new(sign(1), sign(2), sign(4))
    };
    let faces: [[u32; 4]; 6] = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let facing = if outwards { 1.0 } else { -1.0 };
    let turned = |[a, b, c]: [u32; 3]| if outwards { [a, b, c] } else { [a, c, b] };
    Primitive {
        positions: (0..8).map(|i| center + half * corner(i)).collect(),
        normals: (0..8).map(|i| facing * corner(i).normalize()).collect(),
        tangents: vec![Vec3::X.extend(1.0); 8],
        indices: faces
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]].map(turned))
            .collect(),
        ..Primitive::default()
    }
}

/// A sphere with all normals tilted as far as possible, or flipped.
fn wild(mut sphere: Primitive) -> Primitive {
    let mut random = common::Random(11);
    for normal in &mut sphere.normals {
        *normal = random.cube().normalize_or(Vec3::Y);
    }
    sphere
}

/// A closed room with smooth corners, and objects that could lift ray origins through its walls. They are a
/// ball that touches one wall, a ball that penetrates one, a box with smooth corners close to two, and a ball
/// with arbitrary normals.
fn room() -> Vec<Primitive> {
    vec![
        smooth_box(Vec3::ZERO, Vec3::ONE, false),
        icosphere(Vec3::new(0.5, -0.2, 0.1), 0.5, 2),
        icosphere(Vec3::new(-0.95, 0.4, -0.2), 0.3, 2),
        smooth_box(Vec3::new(-0.6, -0.68, 0.55), Vec3::splat(0.3), true),
        wild(icosphere(Vec3::new(0.1, 0.7, 0.6), 0.28, 2)),
    ]
}

#[test]
fn no_light_leaks_into_a_closed_room() {
    let gpu = gpu();
    let suns = [
        [0.3, 1.0, 0.2],
        [-0.2, 1.0, 0.1],
        [-0.15, 0.3, 1.0],
        [0.05, -1.0, 0.6],
        [1.0, 0.02, -0.03],
        [-1.0, 0.1, -0.7],
    ]
    .map(Vec3::from);
    let material = Material {
        double_sided: true,
        ..matte(Vec3::ONE)
    };
    let scenes = suns.map(|sun| lit_by_sun(sun.normalize(), room(), material.clone()));
    let mut stage = stage(&gpu, &scenes[0]);
    stage.config.occlusion.mode = OcclusionMode::Rays;
    stage.config.occlusion.history = 1;
    stage.config.occlusion.filter = false;
    let views = [
        (Vec3::new(-0.1, -0.4, -0.9), Vec3::new(0.2, 0.0, 0.6)),
        (Vec3::new(-0.2, -0.1, 0.95), Vec3::new(-0.5, -0.6, 0.3)),
        (Vec3::new(0.97, 0.5, 0.9), Vec3::new(0.8, -0.3, 0.0)),
        (Vec3::new(-0.95, -0.95, 0.95), Vec3::new(-0.95, -0.3, 0.1)),
    ];
    for (number, scene) in scenes.iter().enumerate() {
        enter(&mut stage, scene);
        for (eye, target) in views {
            draw(&mut stage, look_at(eye, target, 10.0));
            let shadow = stage.channel(Channel::Shadow).texels;
            assert!(shadow.iter().all(|texel| texel[3] == 1.0), "it is closed");
            let lit = shadow.iter().filter(|texel| texel[0] != 0.0).count();
            let ambient = stage.channel(Channel::Ambient).texels;
            let unoccluded = ambient.iter().filter(|texel| texel[0] != 0.0).count();
            assert_eq!((lit, unoccluded), (0, 0), "sun {number} from {eye}");
        }
    }
}

#[test]
fn no_light_leaks_up_through_a_floor() {
    let gpu = gpu();
    let floor = quad(Vec3::new(-90.0, -0.5, 90.0), 180.0 * Vec3::X, -180.0 * Vec3::Z, 0);
    let things = || {
        vec![
            floor.clone(),
            icosphere(Vec3::new(-0.5, 0.0, 0.0), 0.5, 3),
            smooth_box(Vec3::new(0.6, -0.2, 0.0), Vec3::splat(0.3), true),
        ]
    };
    let suns = [[0.2, -1.0, 0.1], [1.0, -0.2, 0.3], [-0.5, -0.05, 1.0]].map(Vec3::from);
    let scenes = suns.map(|sun| lit_by_sun(sun.normalize(), things(), matte(Vec3::ONE)));
    let mut stage = stage(&gpu, &scenes[0]);
    for scene in &scenes {
        enter(&mut stage, scene);
        for eye in [Vec3::new(0.5, 0.3, 3.0), Vec3::new(2.0, -0.45, 1.0)] {
            draw(&mut stage, look_at(eye, Vec3::ZERO, 200.0));
            let shadow = stage.channel(Channel::Shadow).texels;
            let lit = shadow.iter().filter(|texel| texel[0] * texel[3] != 0.0);
            assert_eq!(lit.count(), 0, "from {eye}");
        }
    }
}

/// Every side of a box with smooth corners appears to bulge. The light ends where the smooth normal is
/// perpendicular to it, and sides that face away are dark.
#[test]
fn a_box_with_smooth_normals_is_lit_up_to_the_smooth_terminator() {
    let gpu = gpu();
    let box_ = || vec![smooth_box(Vec3::ZERO, Vec3::splat(0.6), true)];
    let scenes = SUNS.map(|sun| {
        let to_light = sun.normalize();
        (to_light, lit_by_sun(to_light, box_(), matte(Vec3::ONE)))
    });
    let mut stage = stage(&gpu, &scenes[0].1);
    for (to_light, scene) in &scenes {
        enter(&mut stage, scene);
        for eye in [Vec3::new(2.0, 1.5, 4.0), Vec3::new(-3.0, -2.0, 1.0)] {
            draw(&mut stage, parallel(eye));
            let normal = stage.channel(Channel::Normal).texels;
            let shadow = stage.channel(Channel::Shadow).texels;
            let (mut differing, mut compared) = (0, 0);
            for (normal, shadow) in normal.iter().zip(&shadow) {
                let n_dot_l = Vec3::from_slice(normal).dot(*to_light);
                if normal[3] == 1.0 && n_dot_l.abs() > 2e-4 {
                    compared += 1;
                    differing += usize::from((shadow[0] > 0.5) != (n_dot_l > 0.0));
                }
            }
            assert!(compared > 3000);
            assert_eq!(differing, 0, "{to_light} from {eye}");
        }
    }
}

/// A surface whose normal texture tilts it by 50 degrees. The light on it matches the twin, and fades to zero
/// at the horizon of the surface itself.
#[test]
fn light_on_normal_maps_fades_to_zero_at_the_surface_horizon() {
    let gpu = gpu();
    let mut ground = quad(Vec3::new(-1.0, 0.0, 1.0), 2.0 * Vec3::X, -2.0 * Vec3::Z, 0);
    ground.tangents = vec![Vec3::X.extend(1.0); ground.positions.len()];
    let (sin, cos) = 50_f32.to_radians().sin_cos();
    let texel = [sin, 0.0, cos, 1.0].map(|x| ((x * 0.5 + 0.5) * 255.0).round() as u8);
    let lit = |height: f32, mode| {
        let to_light = Vec3::new(height.cos(), height.sin(), 0.0);
        let mut scene = lit_by_sun(to_light, vec![ground.clone()], matte(Vec3::splat(0.8)));
        let image = Image::from_rgba8("tilt", 1, 1, texel.to_vec());
        scene.images.push(image);
        scene.textures.push(Texture {
            image: 0,
            sampler: Sampler::default(),
        });
        scene.materials[0].normal_texture = Some(TextureRef {
            texture: 0,
            uv_set: 0,
            texture_from_uv: Affine2::IDENTITY,
        });
        (to_light, scene, mode)
    };
    let modes = [ShadowMode::Rays, ShadowMode::Map, ShadowMode::Off];
    let heights = [-0.3, 0.01, 0.05, 0.2, 0.5, 1.0, 1.5];
    // With shadow maps, a surface at grazing light shadows itself.
    let has = |&(height, mode): &(f32, _)| mode != ShadowMode::Map || !(0.0..0.1).contains(&height);
    let cases: Vec<_> = modes
        .into_iter()
        .flat_map(|mode| heights.map(|height| (height, mode)))
        .filter(has)
        .map(|(height, mode)| lit(height, mode))
        .collect();
    let mut stage = stage(&gpu, &cases[0].1);
    for (to_light, scene, mode) in &cases {
        enter(&mut stage, scene);
        stage.config.shadows.mode = *mode;
        draw(&mut stage, parallel(Vec3::new(0.0, 4.0, 0.1)));
        let middle = (SIZE[1] / 2 * SIZE[0] + SIZE[0] / 2) as usize;
        let surface = stage.surfaces()[middle].unwrap();
        assert!(surface.normal.dot(Vec3::Y) < 0.7, "{}", surface.normal);
        let surface = lighting::Surface {
            smooth_normal: Vec3::Y,
            ..surface
        };
        let to_eye = Vec3::new(0.0, 4.0, 0.1).normalize();
        let [to_eye, to_light] = [to_eye, *to_light].map(Vec3::as_dvec3);
        let n_dot_l = surface.normal.as_dvec3().dot(to_light);
        let expected = 3.0
            * lighting::brdf(&surface, to_eye, to_light, None).x
            * n_dot_l
            * lighting::terminator(&surface, to_light);
        let found = f64::from(stage.channel(Channel::Lit).texels[middle][0]);
        assert!(
            (found - expected).abs() < 2e-3 * (expected + 0.1),
            "{mode:?}, {to_light}: {found} for {expected}"
        );
        assert_eq!(to_light.y <= 0.0, found == 0.0);
        // The setting turns the fading off, above the smooth surface's horizon.
        if to_light.y > 0.0 {
            stage.config.materials.normal_terminator = false;
            draw(&mut stage, parallel(Vec3::new(0.0, 4.0, 0.1)));
            stage.config.materials.normal_terminator = true;
            let expected = expected / lighting::terminator(&surface, to_light);
            let found = f64::from(stage.channel(Channel::Lit).texels[middle][0]);
            assert!(
                (found - expected).abs() < 2e-3 * (expected + 0.1),
                "unfaded, {mode:?}, {to_light}: {found} for {expected}"
            );
        }
    }
}

/// Identical normals that lean towards the light do not bend a triangle that faces away from it. It is
/// uniformly dark, without specks.
#[test]
fn equal_leaning_normals_do_not_bend_a_triangle() {
    let gpu = gpu();
    let mut leaning = quad(Vec3::new(-1.0, -1.0, 0.0), Vec3::X * 2.0, Vec3::Y * 2.0, 0);
    leaning.normals.fill(Vec3::new(0.61, 0.37, 0.7).normalize());
    let scene = lit_by_sun(Vec3::new(0.8, 0.5, -0.14), vec![leaning], matte(Vec3::ONE));
    let mut stage = stage(&gpu, &scene);
    draw(&mut stage, parallel(Vec3::new(0.3, 0.2, 4.0)));
    let shadow = stage.channel(Channel::Shadow).texels;
    let seen = || shadow.iter().filter(|texel| texel[3] == 1.0);
    assert!(seen().count() > 10_000);
    assert_eq!(seen().filter(|texel| texel[0] > 0.5).count(), 0);
}

/// Normals that lean below their triangle do not cause self-shadowing. Rays start on the visible side of the
/// triangle.
#[test]
fn normals_below_a_triangle_cause_no_self_shadowing() {
    let gpu = gpu();
    let mut below = quad(Vec3::new(-1.0, -1.0, 0.0), Vec3::X * 2.0, Vec3::Y * 2.0, 0);
    below.normals.fill(Vec3::new(0.9, 0.3, -0.2).normalize());
    let scene = lit_by_sun(Vec3::new(0.8, 0.3, 0.4), vec![below], matte(Vec3::ONE));
    let mut stage = stage(&gpu, &scene);
    draw(&mut stage, parallel(Vec3::new(0.3, 0.2, 4.0)));
    let shadow = stage.channel(Channel::Shadow).texels;
    let seen = || shadow.iter().filter(|texel| texel[3] == 1.0);
    assert!(seen().count() > 10_000);
    assert_eq!(seen().filter(|texel| texel[0] < 0.5).count(), 0);
}
