//! Whole frames on the adapter at hand: deformation and BVHs of moving scenes, shadows compared with brute
//! force, and golden pictures.

use crate::common;
use canopy::{
    accel::Quality,
    config::{
        Antialias, Config, EnvironmentSource, ExposureMode, IndirectLight, OcclusionMode, Rebuild,
        ReflectionMode, ShadowMode, Switch, Tonemap, TreeQuality,
    },
    gpu::{Gpu, readback::Counters},
    reference::{
        deform::deform,
        environment::brdf_table,
        lbvh::{Triangle, triangles},
        lighting, tonemap,
        trace::{closest_hit, intersect},
    },
    render::{
        Channel, FloatImage, FrameInput, FrameSample, Merged, Renderer, TreeWork, Uploader, View,
        frame::recording::FrameBudget,
        layout::{Exposure, TonemapParams},
    },
    scene::{
        self, AlphaMode, LightKind, Pose, Progress, Projection, Scene,
        opened::{OpenedScene, Span},
    },
};

use common::{
    by_lane,
    golden::{compare_with_golden, difference},
    gpu, portable_gpu, random_triangles,
    scenes::{
        Stage, add_cutout, add_light, glowing, look_at, matte, picture, primitive, quad, scene, seen_at,
        sphere,
    },
};
use glam::{DVec3, Mat4, Vec3};

fn builtin() -> Scene {
    scene::load(&[], &Config::default().load, &Progress::default()).unwrap()
}

/// A ground of material 0, and an object of material 1 above it that casts a shadow onto it.
fn covered() -> Scene {
    let ground = quad(Vec3::new(-3.0, 0.0, 3.0), Vec3::X * 6.0, Vec3::Z * -6.0, 0);
    let cover = quad(Vec3::new(-1.0, 1.5, 1.0), Vec3::X * 2.0, Vec3::Z * -2.0, 1);
    let red = matte(Vec3::new(0.8, 0.1, 0.1));
    let mut scene = scene([ground, cover], vec![matte(Vec3::ONE), red]);
    add_cutout(&mut scene);
    scene.nodes[1].transform = scene::Transform::Matrix(Mat4::from_translation(Vec3::Y * 0.25).as_dmat4());
    scene
}

/// The picture of `scene` in each shadow mode, and for ray-traced shadows with each rebuild policy.
fn pictures(stage: &mut Stage<'_>, pose: &Pose) -> Vec<Vec<u8>> {
    let view = look_at(Vec3::new(2.0, 4.0, 5.0), Vec3::ZERO, 50.0);
    let modes = [
        (ShadowMode::Map, Rebuild::Frame),
        (ShadowMode::Rays, Rebuild::Frame),
        (ShadowMode::Rays, Rebuild::Changed),
        (ShadowMode::Rays, Rebuild::Refit),
    ];
    modes
        .into_iter()
        .map(|(mode, rebuild)| {
            stage.config.shadows.mode = mode;
            stage.config.tree.rebuild = rebuild;
            stage.draw(pose, view)
        })
        .collect()
}

/// Vertices pulled one by one, for adapters without a primitive index, and vertices of indexed draws.
#[test]
fn indexed_draws_give_the_same_picture() {
    let [mut indexing, mut pulling] = [gpu(), gpu()];
    let feature = wgpu::Features::PRIMITIVE_INDEX;
    if !indexing.device.features().contains(feature) {
        println!("skipped: {} does not number primitives", indexing.info.name);
        return;
    }
    indexing.capabilities.indexed_draws = true;
    pulling.capabilities.indexed_draws = false;
    let mut scene = builtin();
    // `layers` shades pixels where its own pulled vertices have exactly the depth of the G-buffer.
    for material in scene.materials.iter_mut().step_by(2) {
        material.layers = Some(Box::default());
    }
    let view = look_at(Vec3::new(7.0, 5.0, 9.0), Vec3::ZERO, 60.0);
    let draw = |gpu| {
        let mut stage = Stage::new(gpu, &scene, [160, 120]);
        // Draws in several parts.
        stage.renderer.budget.in_parts = true;
        let pose = Pose::new(&scene, Some(0), 1.3);
        let picture = stage.draw(&pose, view);
        let channels = [
            Channel::Mesh,
            Channel::Material,
            Channel::Normal,
            Channel::Position,
        ];
        let channels = channels.map(|channel| {
            let texels = stage.channel(channel).texels;
            texels
                .iter()
                .map(|texel| texel.map(f32::to_bits))
                .collect::<Vec<_>>()
        });
        (picture, channels)
    };
    let (indexed, pulled) = (draw(&indexing), draw(&pulling));
    assert!(indexed.0 == pulled.0);
    assert!(indexed.1 == pulled.1);
}

/// A frame that is recorded and dropped, for example because a pipeline is missing, does not affect other
/// frames. Histories, trees, motion, fog and the environment continue as if it had never been recorded.
#[test]
fn dropped_frames_do_not_affect_other_frames() {
    let gpu = gpu();
    let mut scene = covered();
    scene.materials[0].roughness = 0.3;
    let rest = Pose::new(&scene, None, 0.0);
    let mut moved = rest.clone();
    moved.world_from_node[1].w_axis.x += 0.5;
    let view = look_at(Vec3::new(2.0, 4.0, 5.0), Vec3::ZERO, 50.0);
    let stage = || {
        let mut stage = Stage::new(&gpu, &scene, [61, 43]);
        let config = &mut stage.config;
        config.environment.source = EnvironmentSource::Sky;
        config.sun.angle = 3.0;
        config.shadows.mode = ShadowMode::Rays;
        config.occlusion.mode = OcclusionMode::Rays;
        config.occlusion.bounce = IndirectLight::One;
        config.reflections.mode = ReflectionMode::Rays;
        config.image.antialias = Antialias::Temporal;
        config.fog.density = 0.05;
        config.tree.rebuild = Rebuild::Changed;
        stage
    };
    type Change = fn(&mut Stage<'_>);
    let dropped: [Change; 5] = [
        |_| {},
        |stage| stage.config.image.exposure = ExposureMode::Histogram,
        |stage| stage.config.overlay.wireframe = true,
        |stage| {
            stage.config.sun.direction = [0.3, -0.5, 0.1];
            stage.config.environment.order = 4;
        },
        |stage| {
            stage.config.tree.leaf_cutoff = 1;
            stage.config.tree.quality = TreeQuality::High;
        },
    ];
    let mut missing = 0;
    let mut draw = |drops: bool| {
        let mut stage = stage();
        let frames = [&rest, &rest, &rest, &moved, &moved, &rest, &rest, &rest];
        let pictures = frames.into_iter().enumerate().map(|(number, pose)| {
            if drops && number > 0 {
                let config = stage.config.clone();
                dropped[number % dropped.len()](&mut stage);
                missing += stage.missing(pose, view).names().len();
                stage.config = config;
            }
            (stage.draw(pose, view), stage.renderer.stats().tree_work)
        });
        pictures.collect::<Vec<_>>()
    };
    let expected = draw(false);
    for (number, (found, expected)) in draw(true).iter().zip(&expected).enumerate() {
        assert_eq!(found.1, expected.1, "the trees of frame {number}");
        assert!(found.0 == expected.0, "frame {number}");
    }
    assert!(missing > 3, "{missing} pipelines");
    gpu.check().unwrap();
}

/// Readbacks of counts whose commands are dropped free their slots. A submitted one arrives.
#[test]
fn readbacks_of_dropped_commands_free_their_slots() {
    let gpu = gpu();
    let mut counters = Counters::<2>::new(&gpu, "test");
    let counts = gpu.buffer_with("test", &[7_u32, 9], wgpu::BufferUsages::COPY_SRC);
    for _ in 0..20 {
        let mut encoder = gpu.encoder("test");
        assert!(counters.record(&mut encoder, &counts));
    }
    let mut encoder = gpu.encoder("test");
    assert!(counters.record(&mut encoder, &counts));
    counters.collect();
    assert_eq!(counters.last(), [0, 0], "nothing was submitted");
    gpu.queue.submit([encoder.finish()]);
    gpu.wait().unwrap();
    counters.collect();
    assert_eq!(counters.last(), [7, 9]);
}

/// A picture at rest has converged once the slowest of its means has.
#[test]
fn a_picture_converges_with_its_slowest_pass() {
    let gpu = gpu();
    let scene = covered();
    let pose = Pose::new(&scene, None, 0.0);
    let stage = Stage::new(&gpu, &scene, [8, 8]);
    let frames = |change: fn(&mut Config), channel| {
        let mut config = stage.config.clone();
        change(&mut config);
        let of = (&*config, channel);
        stage.renderer.frames_to_converge(&gpu, (&scene, &pose), of)
    };
    let lit = Channel::Lit;
    assert_eq!(frames(|_| {}, lit), 1);
    let occlusion = |config: &mut Config| {
        config.occlusion.mode = OcclusionMode::Rays;
        config.occlusion.history = 20;
    };
    assert_eq!(frames(occlusion, lit), 20);
    let soft = |config: &mut Config| {
        (config.sun.angle, config.shadows.history) = (2.0, 21);
    };
    assert_eq!(frames(soft, lit), 21);
    let sharp = |config: &mut Config| config.shadows.history = 21;
    assert_eq!(frames(sharp, lit), 1);
    let reflections = |config: &mut Config| {
        config.reflections.mode = ReflectionMode::Rays;
        (config.reflections.history, config.reflections.max_roughness) = (22, 1.0);
    };
    assert_eq!(frames(reflections, lit), 22);
    let fog = |config: &mut Config| (config.fog.density, config.fog.history) = (0.1, 23);
    assert_eq!(frames(fog, lit), 23);
    let temporal = |config: &mut Config| config.image.antialias = Antialias::Temporal;
    assert_eq!(frames(temporal, lit), 12);
    assert_eq!(frames(temporal, Channel::Depth), 1);
    let several = |config: &mut Config| {
        config.image.antialias = Antialias::Temporal;
        (config.fog.density, config.fog.history) = (0.1, 24);
    };
    assert_eq!(frames(several, lit), 24);
}

/// Automatic quality: high at rest, and fast once something has moved.
#[test]
fn trees_of_any_quality_give_the_same_picture() {
    let mut gpu = gpu();
    gpu.capabilities.better_trees = true;
    let scene = covered();
    let rest = Pose::new(&scene, None, 0.0);
    let mut moved = rest.clone();
    moved.world_from_node[1].w_axis.x += 0.5;
    let view = look_at(Vec3::new(2.0, 4.0, 5.0), Vec3::ZERO, 50.0);
    let stage = |quality| {
        let mut stage = Stage::new(&gpu, &scene, [96, 66]);
        stage.config.shadows.mode = ShadowMode::Rays;
        stage.config.occlusion.mode = OcclusionMode::Rays;
        stage.config.tree.rebuild = Rebuild::Changed;
        stage.config.tree.quality = quality;
        stage
    };
    let mut stages = [TreeQuality::Fast, TreeQuality::High, TreeQuality::Auto].map(stage);
    let (rebuild, partial, none) = (TreeWork::Rebuild, TreeWork::Partial, TreeWork::None);
    for (pose, work, quality) in [
        (&rest, rebuild, Quality::High),
        (&moved, partial, Quality::Fast),
        (&moved, none, Quality::Fast),
        (&rest, partial, Quality::Fast),
    ] {
        let [fast, others @ ..] = &mut stages;
        let expected = fast.draw(pose, view);
        for stage in others {
            assert!(stage.draw(pose, view) == expected, "{work:?}");
            assert_eq!(stage.renderer.stats().tree_work, work);
            let data = stage.uploaded.state.tree.read(&gpu).unwrap();
            data.validate(&stage.uploaded.buffers.meshes).unwrap();
        }
        let built = stages.each_ref().map(|stage| stage.uploaded.state.tree.quality());
        assert_eq!(built, [Quality::Fast, Quality::High, quality], "{work:?}");
    }
    // Meshes that have moved once are built fast, even if all trees are rebuilt.
    let [.., auto] = &mut stages;
    auto.config.tree.leaf_cutoff = 1;
    auto.draw(&rest, view);
    assert_eq!(auto.renderer.stats().tree_work, rebuild);
    assert_eq!(auto.uploaded.state.tree.quality(), Quality::Fast);
    // Another quality is built at once.
    let [fast, high, _] = &mut stages;
    let expected = high.draw(&rest, view);
    fast.config.tree.quality = TreeQuality::High;
    assert!(fast.draw(&rest, view) == expected);
    assert_eq!(fast.renderer.stats().tree_work, rebuild);
    assert_eq!(fast.uploaded.state.tree.quality(), Quality::High);
}

#[test]
fn hidden_nodes_are_neither_drawn_nor_cast_shadows() {
    let gpu = gpu();
    let scene = covered();
    let mut bare = covered();
    bare.nodes[1].mesh = None;
    let at_rest = |scene: &Scene| Pose::new(scene, None, 0.0);
    let without = pictures(&mut Stage::new(&gpu, &bare, [96, 66]), &at_rest(&bare));
    let mut stage = Stage::new(&gpu, &scene, [96, 66]);
    let with = pictures(&mut stage, &at_rest(&scene));
    assert!(with.iter().zip(&without).all(|(a, b)| a != b), "it shows");
    let mut hidden = at_rest(&scene);
    hidden.visible[1] = false;
    for _ in 0..2 {
        assert!(pictures(&mut stage, &hidden) == without, "it does not");
        assert!(pictures(&mut stage, &at_rest(&scene)) == with, "again");
    }
    stage.draw(&hidden, look_at(Vec3::ONE, Vec3::ZERO, 50.0));
    let (merged, twin) = (stage.merged(), deform(&scene, &hidden));
    assert!(merged.positions == twin.positions && merged.indices == twin.indices);
}

#[test]
fn switching_a_variant_equals_a_new_upload() {
    let gpu = gpu();
    let mut scene = covered();
    let blended = scene::Material {
        alpha_mode: AlphaMode::Blend,
        base_color: glam::Vec4::new(0.1, 0.3, 0.9, 0.5),
        ..scene.materials[0].clone()
    };
    scene.materials.push(blended);
    scene.meshes[1].primitives[0].variants = vec![(None, 1), (Some(0), 0), (Some(1), 2)];
    let with = |variant| {
        let mut scene = scene.clone();
        scene.choose_variant(variant);
        scene
    };
    let scenes = [with(None), with(Some(0)), with(Some(1))];
    let pose = Pose::new(&scene, None, 0.0);
    let expected = scenes
        .each_ref()
        .map(|scene| pictures(&mut Stage::new(&gpu, scene, [96, 66]), &pose));
    assert!(expected[0] != expected[1] && expected[1] != expected[2]);
    let mut stage = Stage::new(&gpu, &scenes[0], [96, 66]);
    for variant in [0, 1, 2, 1, 0] {
        stage.scene = &scenes[variant];
        stage.uploaded.write_variant(&gpu, stage.scene);
        assert!(pictures(&mut stage, &pose) == expected[variant], "{variant}");
    }
    // Trees are rebuilt although nothing has moved, because their leaves hold materials.
    let view = look_at(Vec3::new(2.0, 4.0, 5.0), Vec3::ZERO, 50.0);
    for variant in [0, 1, 2] {
        stage.draw(&pose, view);
        stage.scene = &scenes[variant];
        stage.uploaded.write_variant(&gpu, stage.scene);
        assert!(stage.draw(&pose, view) == expected[variant][3], "{variant} refit");
    }
}

#[test]
fn animated_materials_equal_a_new_upload() {
    let gpu = gpu();
    let scene = covered();
    let rest = Pose::new(&scene, None, 0.0);
    let mut stage = Stage::new(&gpu, &scene, [96, 66]);
    let still = pictures(&mut stage, &rest);
    // Changes of colour and emission, and of a mask's alpha cutoff and texture transform, which rays look up
    // themselves.
    type Change = fn(&mut scene::Material);
    let changes: [Change; 3] = [
        |material| {
            material.base_color = glam::Vec4::new(0.1, 0.9, 0.2, 1.0);
            material.emissive = Vec3::new(0.2, 0.0, 0.0);
        },
        |material| material.alpha_cutoff = 0.0,
        |material| {
            let texture = material.base_color_texture.as_mut().unwrap();
            texture.texture_from_uv = glam::Affine2::from_translation(glam::Vec2::new(0.4, 0.2));
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut changed = scene.clone();
        change(&mut changed.materials[1]);
        let expected = pictures(&mut Stage::new(&gpu, &changed, [96, 66]), &rest);
        let mut pose = rest.clone();
        pose.materials = vec![(1, changed.materials[1].clone())];
        assert!(expected.iter().zip(&still).all(|(a, b)| a != b), "{number} shows");
        assert!(pictures(&mut stage, &pose) == expected, "{number}");
    }
    assert!(pictures(&mut stage, &rest) == still, "and rests again");
}

/// Largest distance between two lists of points.
fn largest_distance(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (*a - *b).length())
        .fold(0.0, f32::max)
}

#[test]
fn deform_matches_the_cpu_reference_and_animated_trees_are_valid() {
    let gpu = gpu();
    let scene = builtin();
    assert!(
        scene.skins.len() == 1 && !scene.clips.is_empty(),
        "the built-in scene moves"
    );
    let mut stage = Stage::new(&gpu, &scene, [18, 18]);
    let mut earlier: Option<Vec<Vec3>> = None;
    for time in [0.0, 0.7, 2.9] {
        let pose = Pose::new(&scene, Some(0), time);
        stage.draw(&pose, look_at(Vec3::splat(5.0), Vec3::ZERO, 50.0));
        let (merged, twin) = (stage.merged(), deform(&scene, &pose));
        assert!(
            largest_distance(&merged.positions, &twin.positions) < 2e-5,
            "positions at {time}"
        );
        assert!(
            largest_distance(&merged.normals, &twin.normals) < 1e-4,
            "normals at {time}"
        );
        let tangents = |list: &[glam::Vec4]| list.iter().map(|t| t.truncate()).collect::<Vec<_>>();
        assert!(
            largest_distance(&tangents(&merged.tangents), &tangents(&twin.tangents)) < 1e-4,
            "tangents at {time}"
        );
        assert!(
            merged
                .tangents
                .iter()
                .zip(&twin.tangents)
                .all(|(a, b)| a.w == b.w)
        );
        let scales = merged.scales.iter().zip(&twin.scales);
        assert!(scales.clone().all(|(a, b)| (a / b - 1.0).abs() < 1e-5));
        assert!(merged.indices == twin.indices, "indices at {time}");
        if let Some(earlier) = earlier.replace(merged.positions.clone()) {
            assert!(
                largest_distance(&earlier, &merged.positions) > 0.01,
                "nothing moves"
            );
        }
        let data = stage.uploaded.state.tree.read(&gpu).unwrap();
        let report = data.validate(&stage.uploaded.buffers.meshes).unwrap();
        assert!(report.nodes > merged.indices.len() / 16, "{report:?}");
        // The tree holds the triangles of the current merged buffers.
        let merged_triangles = triangles(&merged.positions, &merged.indices);
        assert!(data.triangles[..merged_triangles.len()].iter().all(|leaf| {
            [leaf.v0, leaf.v1, leaf.v2].map(Vec3::from) == merged_triangles[leaf.triangle as usize]
        }));
    }
}

#[test]
fn mirroring_scales_flip_the_winding() {
    let gpu = gpu();
    let mut scene = scene([sphere(Vec3::ZERO, 1.0, 8, 0)], vec![matte(Vec3::ONE)]);
    for scale in [Vec3::ONE, Vec3::new(-1.0, 1.0, 1.0), Vec3::new(2.0, 0.5, 3.0)] {
        scene.nodes[0].transform = scene::Transform::Matrix(Mat4::from_scale(scale).as_dmat4());
        let mut stage = Stage::new(&gpu, &scene, [34, 34]);
        stage.draw(
            &Pose::new(&scene, None, 0.0),
            look_at(Vec3::new(0.0, 0.0, 8.0), Vec3::ZERO, 20.0),
        );
        let merged = stage.merged();
        for [a, b, c] in triangles(&merged.positions, &merged.indices) {
            let normal = (b - a).cross(c - a);
            assert!(
                normal.dot(a + b + c) > 0.0,
                "a triangle faces inwards at scale {scale}"
            );
        }
        let nearest = stage.channel(Channel::Depth).texels[17 * 34 + 17][0];
        assert!(
            (nearest - (8.0 - scale.z)).abs() < 0.05 * scale.z,
            "the front is culled: {nearest}"
        );
    }
}

#[test]
fn a_clip_may_turn_a_mesh_inside_out_and_back() {
    let gpu = gpu();
    let scene = scene([sphere(Vec3::ZERO, 1.0, 8, 0)], vec![matte(Vec3::ONE)]);
    let mut stage = Stage::new(&gpu, &scene, [34, 34]);
    for x in [1.0, -1.0, 1.0] {
        let mut pose = Pose::new(&scene, None, 0.0);
        pose.world_from_node[0] = Mat4::from_scale(Vec3::new(x, 1.0, 1.0)).as_dmat4();
        stage.draw(&pose, look_at(Vec3::new(0.0, 0.0, 8.0), Vec3::ZERO, 20.0));
        assert_eq!(stage.merged().indices, deform(&scene, &pose).indices);
    }
}

/// A box on either side of `x = 0`, each a closed surface. The left one is bound to joint 0, the right one to
/// joint 1. A morph target makes both longer.
fn two_boxes() -> scene::Primitive {
    let mut out = scene::Primitive::default();
    let mut longer = Vec::new();
    for (joint, middle) in [(0, -1.5f32), (1, 1.5)] {
        for (axis, side) in (0..6).map(|face| (face / 2, [1.0, -1.0][face % 2])) {
            let [normal, u, v] = [0, 1, 2].map(|k| Vec3::AXES[(axis + k) % 3]);
            let (normal, u) = (side * normal, side * u);
            let corner = Vec3::new(middle, 0.0, 0.0) + normal - u - v;
            let face = quad(corner, 2.0 * u, 2.0 * v, 0);
            let base = out.positions.len() as u32;
            let moved = face.indices.iter().map(|t| t.map(|vertex| base + vertex));
            out.indices.extend(moved);
            longer.extend(face.positions.iter().map(|p| Vec3::Z * p.z));
            out.positions.extend(face.positions);
            out.normals.extend(face.normals);
            out.tangents.extend(face.tangents);
            out.joints.extend([joint, 0, 0, 0].repeat(6));
            out.joint_weights.extend([1.0, 0.0, 0.0, 0.0].repeat(6));
        }
    }
    out.influences_per_vertex = 4;
    out.targets.push(scene::MorphTarget {
        positions: longer,
        ..scene::MorphTarget::default()
    });
    out
}

/// A root with two joints below it, and [`two_boxes`] bound to them. The arguments are the matrices of the
/// root, of the mesh's node, and of each joint with its inverse bind matrix.
fn skinned_boxes(root: Mat4, body: Mat4, joints: [[Mat4; 2]; 2]) -> Scene {
    let mut scene = scene([two_boxes()], vec![matte(Vec3::ONE)]);
    let below = |matrix: Mat4| scene::Node {
        parent: Some(0),
        transform: scene::Transform::Matrix(matrix.as_dmat4()),
        ..scene::Node::default()
    };
    scene.nodes = vec![
        scene::Node {
            transform: scene::Transform::Matrix(root.as_dmat4()),
            ..scene::Node::default()
        },
        below(joints[0][0]),
        below(joints[1][0]),
        scene::Node {
            mesh: Some(0),
            skin: Some(0),
            weights: vec![0.5],
            ..below(body)
        },
    ];
    scene.skins.push(scene::Skin {
        joints: vec![1, 2],
        joint_from_mesh: vec![joints[0][1], joints[1][1]],
    });
    scene
}

/// Signed volume enclosed by triangles, in f64: the sum over the tetrahedra to the origin.
fn signed_volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let volume = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|vertex| positions[vertex as usize].as_dvec3());
        a.dot(b.cross(c)) / 6.0
    };
    triangles.iter().map(volume).sum()
}

/// Mirroring skins have the winding of their triangles flipped, whichever of their matrices mirrors. The
/// mesh's node does not matter.
#[test]
fn mirroring_skins_flip_the_winding() {
    let gpu = gpu();
    let same = Mat4::IDENTITY;
    let mirror = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    let squeeze = Mat4::from_scale(Vec3::new(1.0, -0.5, 1.0));
    let cases = [
        ("nothing", same, same, [[same; 2]; 2]),
        ("the root", mirror, same, [[same; 2]; 2]),
        ("the mesh's node", same, mirror, [[same; 2]; 2]),
        ("both joints", same, same, [[mirror, same]; 2]),
        ("root and joints", mirror, same, [[squeeze, same]; 2]),
        ("the binding", same, same, [[same, mirror]; 2]),
        ("joints and bindings", same, same, [[mirror, squeeze]; 2]),
        ("one joint", same, same, [[same, same], [squeeze, same]]),
        ("one binding", mirror, same, [[same, squeeze], [same, same]]),
    ];
    for (what, root, body, joints) in cases {
        let scene = skinned_boxes(root, body, joints);
        let pose = Pose::new(&scene, None, 0.0);
        let mut stage = Stage::new(&gpu, &scene, [34, 34]);
        stage.draw(&pose, look_at(Vec3::new(1.5, 0.0, 12.0), Vec3::X * 1.5, 50.0));
        let merged = stage.merged();
        // Each box is 2 × 2 × 3, times the determinant of its scale.
        let expected: f64 = joints
            .iter()
            .map(|joint| 12.0 * f64::from((root * joint[0] * joint[1]).determinant().abs()))
            .sum();
        let volume = signed_volume(&merged.positions, &merged.indices);
        assert!(
            (volume - expected).abs() < 1e-3,
            "{what}: {volume}, not {expected}"
        );
        assert_eq!(merged.indices, deform(&scene, &pose).indices, "{what}");
        let (positions, turned) = scene::deform::triangles(&scene, &pose);
        assert_eq!(turned, merged.indices, "{what}");
        assert_eq!(positions.len(), merged.positions.len());
        // The side that faces the eye is visible, 10.5 m away, and its normal faces the eye.
        let middle = 17 * 34 + 17;
        let depth = stage.channel(Channel::Depth).texels[middle][0];
        assert!((depth - 10.5).abs() < 0.01, "{what}: {depth}");
        let normal = stage.channel(Channel::Normal).texels[middle];
        assert!(normal[2] > 0.999, "{what}: {normal:?}");
    }
}

/// A scale that passes through zero during motion flips the triangles of skins at once, and back again.
/// Hiding does not.
#[test]
fn joints_may_turn_inside_out_and_back_in_motion() {
    let gpu = gpu();
    let same = Mat4::IDENTITY;
    let scene = skinned_boxes(same, same, [[same; 2]; 2]);
    let mut stage = Stage::new(&gpu, &scene, [34, 34]);
    let view = look_at(Vec3::new(1.5, 0.0, 12.0), Vec3::X * 1.5, 50.0);
    for (left, right, visible) in [
        (1.0, 1.0, true),
        (-1.0, -1.0, true),
        (-1.0, 1.0, true),
        (-1.0, 1.0, false),
        (1.0, -1.0, true),
        (1.0, 1.0, true),
    ] {
        let mut moved = scene.clone();
        for (node, x) in [(1, left), (2, right)] {
            let scale = Mat4::from_scale(Vec3::new(x, 1.0, 1.0)).as_dmat4();
            moved.nodes[node].transform = scene::Transform::Matrix(scale);
        }
        moved.nodes[3].visible = visible;
        let pose = Pose::new(&moved, None, 0.0);
        stage.draw(&pose, view);
        let merged = stage.merged();
        assert_eq!(merged.indices, deform(&scene, &pose).indices);
        if visible {
            let volume = signed_volume(&merged.positions, &merged.indices);
            assert!((volume - 24.0).abs() < 1e-3, "{left} {right}: {volume}");
            let data = stage.uploaded.state.tree.read(&gpu).unwrap();
            let own = triangles(&merged.positions, &merged.indices);
            assert!(
                data.triangles[..own.len()].iter().all(|leaf| {
                    [leaf.v0, leaf.v1, leaf.v2].map(Vec3::from) == own[leaf.triangle as usize]
                })
            );
        }
    }
}

/// A floor, a sphere, a mast and a cloud of triangles above, scaled and moved.
fn shadow_scene(scale: f32, offset: Vec3) -> Scene {
    let cloud: Vec<_> = random_triangles(160, 5)
        .into_iter()
        .map(|t| t.map(|v| v * Vec3::new(2.0, 0.5, 2.0) + Vec3::Y * 2.0))
        .collect();
    let mast = Vec3::new(0.02, 0.0, 0.0);
    let mut scene = scene(
        [
            quad(Vec3::new(-4.0, 0.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0),
            sphere(Vec3::new(0.5, 0.6, 0.5), 0.6, 12, 0),
            quad(Vec3::new(-1.5, 0.0, 1.0), mast, 1.5 * Vec3::Y, 0),
            primitive(&cloud, 0),
        ],
        vec![scene::Material {
            double_sided: true,
            ..matte(Vec3::ONE)
        }],
    );
    for node in &mut scene.nodes {
        let matrix = Mat4::from_translation(offset) * Mat4::from_scale(Vec3::splat(scale));
        node.transform = scene::Transform::Matrix(matrix.as_dmat4());
    }
    scene
}

/// If the G-buffer holds depths, moves the visible points along their view rays onto the triangles, like
/// shadow rays do (see [`common::subpixel`]). Pixels at silhouettes that show something else there become
/// background.
fn on_triangles(gpu: &Gpu, triangles: &[Triangle], mut position: FloatImage, eye: Vec3) -> FloatImage {
    if common::subpixel(gpu) > 0.0 {
        for texel in &mut position.texels {
            let along = Vec3::from_slice(texel) - eye;
            let hit = closest_hit(triangles, eye, along, 0.9, 1.1).filter(|_| texel[3] != 0.0);
            *texel = hit.map_or([0.0; 4], |(_, t)| (eye + along * t as f32).extend(1.0).into());
        }
    }
    position
}

/// Visibility of a light at `to_light` (a point, or with w = 0 a direction) from each pixel, tested against
/// every triangle in f64. `None` where rounding decides because a triangle's edge or the terminator is too
/// close to the ray.
fn brute_force(
    triangles: &[Triangle],
    position: &FloatImage,
    normal: &FloatImage,
    to_light: glam::Vec4,
    accepts: impl Fn(usize, Vec3) -> bool,
) -> Vec<Option<bool>> {
    let lit = |(p, n): (&[f32; 4], &[f32; 4])| {
        if p[3] == 0.0 {
            return None;
        }
        let (p, n) = (Vec3::from_slice(p), Vec3::from_slice(n));
        let ray = to_light.truncate() - p * to_light.w;
        if n.dot(ray.normalize()) < 1e-3 {
            return None;
        }
        // Rays hit the surface's own triangles at distance zero, up to the rounding of the position.
        let own = 4e-6 * (p.abs().max_element() + 1e-30) / ray.length();
        let occluded = triangles.iter().enumerate().any(|(number, triangle)| {
            intersect(p, ray, triangle).is_some_and(|t| {
                t > f64::from(own) && (to_light.w == 0.0 || t < 1.0) && accepts(number, p + ray * t as f32)
            })
        });
        Some(!occluded)
    };
    position.texels.iter().zip(&normal.texels).map(lit).collect()
}

/// Replaces the result for pixels of smooth meshes by the twin's. Its rays start at the smooth surface.
fn brute_force_on_smooth(
    brute: &mut [Option<bool>],
    merged: &Merged,
    [position, normal, mesh]: [&FloatImage; 3],
    eye: Vec3,
    to_light: glam::Vec4,
) {
    let soup = triangles(&merged.positions, &merged.indices);
    for (i, brute) in brute.iter_mut().enumerate().filter(|(_, b)| b.is_some()) {
        let position = Vec3::from_slice(&position.texels[i]);
        let normal = Vec3::from_slice(&normal.texels[i]);
        let mesh = mesh.texels[i][0] as usize;
        let Some(seen) = seen_at(merged, &soup, (position, normal, mesh), eye) else {
            *brute = None;
            continue;
        };
        let start = seen.start();
        if start.grazing.is_none() {
            continue;
        }
        let ray = (to_light.truncate() - position * to_light.w).as_dvec3();
        let distance = if to_light.w == 0.0 { 1e30 } else { ray.length() };
        *brute = Some(!start.is_blocked(&soup, ray.normalize(), distance));
    }
}

/// Number of pixels whose traced shadow differs from brute force, and number of compared pixels.
fn differing(shadow: &FloatImage, brute: &[Option<bool>]) -> (usize, usize) {
    let compared = shadow.texels.iter().zip(brute);
    let compared: Vec<_> = compared.filter_map(|(s, b)| Some((s[0] > 0.5, (*b)?))).collect();
    (compared.iter().filter(|(a, b)| a != b).count(), compared.len())
}

const SIZE: [u32; 2] = [120, 80];

/// Shadows of one light by rays and by maps, compared with brute force. With rays, one in 1,000 pixels may
/// differ. With maps, whose edges are as wide as their filter, one in 14 may. The spot's cone is so wide that
/// its single map is coarse and does not cover its rim.
fn check_shadows(gpu: &Gpu, scene: &Scene, view: View, to_light: glam::Vec4, name: &str) {
    // Rays start on the triangle itself. If visible points lie off the triangle, the start is off by as much.
    let rays = if common::subpixel(gpu) > 0.0 { 200 } else { 1000 };
    for (mode, one_in) in [(ShadowMode::Rays, rays), (ShadowMode::Map, 14)] {
        check_shadows_by(mode, one_in, gpu, scene, view, to_light, name);
    }
}

fn check_shadows_by(
    mode: ShadowMode,
    one_in: usize,
    gpu: &Gpu,
    scene: &Scene,
    view: View,
    to_light: glam::Vec4,
    name: &str,
) {
    let mut stage = Stage::new(gpu, scene, SIZE);
    stage.config.shadows.mode = mode;
    stage.config.sun.enabled = Switch::Auto;
    if to_light.w == 0.0 {
        stage.config.sun.direction = (-to_light.truncate()).to_array();
    }
    stage.draw(&Pose::new(scene, None, 0.0), view);
    let (position, normal) = (stage.channel(Channel::Position), stage.channel(Channel::Normal));
    let merged = stage.merged();
    let soup = triangles(&merged.positions, &merged.indices);
    let position = on_triangles(gpu, &soup, position, view.eye());
    let mut brute = brute_force(&soup, &position, &normal, to_light, |_, _| true);
    let mesh = stage.channel(Channel::Mesh);
    let seen = [&position, &normal, &mesh];
    brute_force_on_smooth(&mut brute, &merged, seen, view.eye(), to_light);
    let shadow = stage.channel(Channel::Shadow);
    let (differing, compared) = differing(&shadow, &brute);
    let lit = brute.iter().flatten().filter(|lit| **lit).count();
    assert!(
        compared > 2000 && lit > compared / 10 && lit < compared * 9 / 10,
        "{name}: {lit} of {compared} lit tests little"
    );
    assert!(
        differing * one_in <= compared,
        "{name}, {mode:?}: {differing} of {compared} pixels differ from brute force"
    );
}

#[test]
fn traced_shadows_match_brute_force_at_every_scale() {
    let gpu = gpu();
    let sun = Vec3::new(0.5, 1.0, 0.35).extend(0.0);
    for (name, scale, offset) in [
        ("metres", 1.0, Vec3::ZERO),
        ("a centimetre", 1e-3, Vec3::ZERO),
        ("ten kilometres", 1e3, Vec3::ZERO),
        ("far from the origin", 1.0, Vec3::new(80.0, 0.0, -80.0)),
    ] {
        let scene = shadow_scene(scale, offset);
        let view = look_at(offset + scale * Vec3::new(3.0, 4.0, 5.0), offset, 40.0 * scale);
        check_shadows(&gpu, &scene, view, sun, name);
    }
}

#[test]
fn point_and_spot_shadows_match_brute_force() {
    let gpu = gpu();
    let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
    let at = Vec3::new(0.3, 3.2, -0.4);
    let mut with_point = shadow_scene(1.0, Vec3::ZERO);
    add_light(&mut with_point, LightKind::Point, 20.0, at, Vec3::ZERO);
    check_shadows(&gpu, &with_point, view, at.extend(1.0), "point");
    let mut with_spot = shadow_scene(1.0, Vec3::ZERO);
    let cone = LightKind::Spot {
        inner_angle: 1.2,
        outer_angle: 1.5,
    };
    add_light(&mut with_spot, cone, 20.0, at, Vec3::new(0.2, 0.0, 0.1));
    check_shadows(&gpu, &with_spot, view, at.extend(1.0), "spot");
}

#[test]
fn a_large_tilted_ground_has_no_shadow_acne() {
    let gpu = gpu();
    let tilt = glam::Quat::from_euler(glam::EulerRot::XYZ, 0.2, 0.0, 0.3);
    for half_size in [10.0, 1e3, 1e4] {
        let corner = tilt * Vec3::new(-half_size, 0.0, half_size);
        let (u, v) = (tilt * Vec3::X, tilt * Vec3::NEG_Z);
        let ground = quad(corner, 2.0 * half_size * u, 2.1 * half_size * v, 0);
        let unlit = scene::Material {
            unlit: true,
            ..matte(Vec3::ONE)
        };
        for material in [matte(Vec3::ONE), unlit] {
            let scene = scene([ground.clone()], vec![material]);
            let mut stage = Stage::new(&gpu, &scene, SIZE);
            let mut view = look_at(Vec3::new(1.0, 4.0, 2.0), Vec3::ZERO, 2.0 * half_size);
            view.near = 0.1;
            stage.draw(&Pose::new(&scene, None, 0.0), view);
            let shadow = stage.channel(Channel::Shadow);
            let covered = shadow.texels.iter().filter(|s| s[3] == 1.0);
            let dark = covered.clone().filter(|s| s[0] == 0.0).count();
            assert!(covered.count() > 3000, "the ground is out of sight");
            assert_eq!(dark, 0, "acne on a ground of ±{half_size} m");
        }
    }
}

#[test]
fn the_shadow_comparison_detects_errors() {
    let image = |values: &[f32]| FloatImage {
        width: values.len() as u32,
        height: 1,
        texels: values.iter().map(|v| [*v, *v, *v, 1.0]).collect(),
    };
    let brute = [Some(true), Some(false), None, Some(true)];
    assert_eq!(differing(&image(&[1.0, 0.0, 1.0, 1.0]), &brute), (0, 3));
    assert_eq!(differing(&image(&[0.0, 0.0, 1.0, 1.0]), &brute), (1, 3));
    assert_eq!(differing(&image(&[1.0, 1.0, 0.0, 0.5]), &brute), (2, 3));
}

#[test]
fn no_light_reaches_out_of_range_or_out_of_the_cone() {
    let gpu = gpu();
    let floor = || quad(Vec3::new(-4.0, 0.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0);
    let view = look_at(Vec3::new(0.0, 7.0, 0.1), Vec3::ZERO, 40.0);
    let mut scene = scene([floor()], vec![matte(Vec3::ONE)]);
    let cone = LightKind::Spot {
        inner_angle: 0.3,
        outer_angle: 0.5,
    };
    add_light(&mut scene, cone, 20.0, 2.0 * Vec3::Y, Vec3::ZERO);
    for range in [None, Some(1.9)] {
        scene.lights[0].range = range;
        let mut stage = Stage::new(&gpu, &scene, SIZE);
        stage.draw(&Pose::new(&scene, None, 0.0), view);
        let (position, shadow) = (stage.channel(Channel::Position), stage.channel(Channel::Shadow));
        for (p, s) in position
            .texels
            .iter()
            .zip(&shadow.texels)
            .filter(|(p, _)| p[3] == 1.0)
        {
            let off_axis = (p[0].hypot(p[2]) / 2.0).atan();
            let expected = f32::from(u8::from(range.is_none() && off_axis < 0.5));
            assert!(
                s[0] == expected || (off_axis - 0.5).abs() < 1e-3,
                "{p:?} has {s:?}"
            );
        }
        stage.renderer.collect(&gpu);
        let rays = stage.renderer.stats().rays;
        let lit = shadow.texels.iter().filter(|s| s[0] == 1.0).count();
        assert_eq!(rays, lit as u64, "rays are traced where no light can reach");
    }
}

/// Results and cost of the shadow rays.
#[derive(PartialEq)]
struct Traced {
    visibility: Vec<u32>,
    cost: Vec<[f32; 4]>,
    rays: u64,
}

/// Draws with compacted rays, and with one thread per pixel.
fn traced(stage: &mut Stage<'_>, pose: &Pose, view: View) -> [Traced; 2] {
    [true, false].map(|compact| {
        stage.config.shadows.compact_rays = compact;
        stage.draw(pose, view);
        stage.renderer.collect(stage.gpu);
        stage.gpu.check().unwrap();
        let stats = stage.renderer.stats();
        assert!(stats.sending_tiles <= stats.tiles && (stats.tiles > 0) == compact);
        // Several batches share one row of timings.
        let rows = |name| stats.passes.iter().filter(|pass| pass.name == name).count();
        assert!(rows("shadow_classify") <= 1 && rows("shadow_rays") <= 1);
        let rays = stats.rays;
        Traced {
            visibility: stage.renderer.read_visibility(stage.gpu).unwrap(),
            cost: stage.channel(Channel::Cost).texels,
            rays,
        }
    })
}

/// Differences between the two results.
fn traced_fault([compact, by_pixel]: &[Traced; 2]) -> Option<String> {
    if compact.rays != by_pixel.rays {
        return Some(format!("{} rays for {}", compact.rays, by_pixel.rays));
    }
    let count = |differs: Vec<bool>| differs.into_iter().filter(|differs| *differs).count();
    let words = compact.visibility.iter().zip(&by_pixel.visibility);
    let words = count(words.map(|(a, b)| a != b).collect());
    let costs = compact.cost.iter().zip(&by_pixel.cost);
    let costs = count(costs.map(|(a, b)| a != b).collect());
    (words + costs > 0).then(|| format!("{words} words of visibility and {costs} costs differ"))
}

#[test]
fn ray_visits_are_counted_only_if_the_cost_channel_is_read() {
    let gpu = gpu();
    let mut scene = shadow_scene(1.0, Vec3::ZERO);
    add_lights(&mut scene, 6);
    let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
    let pose = Pose::new(&scene, None, 0.0);
    let stage = |max_rays, compact, reads: &[Channel], shown| {
        let mut stage = Stage::new(&gpu, &scene, [66, 48]);
        stage.config.shadows.max_rays = max_rays;
        stage.config.shadows.compact_rays = compact;
        (stage.reads, stage.shown) = (reads.to_vec(), shown);
        let picture = stage.draw(&pose, view);
        (stage, picture)
    };
    // The words of chosen lights follow those of the cost.
    for (max_rays, compact) in [(1024, true), (1024, false), (2, true), (2, false)] {
        let case = format!("{max_rays}, {compact}");
        let (mut counted, picture) = stage(max_rays, compact, &[Channel::Cost], Channel::Lit);
        let costs = counted.channel(Channel::Cost).texels;
        assert!(costs.iter().filter(|cost| cost[0] > 1.0).count() > 500);
        let (mut plain, plain_picture) = stage(max_rays, compact, &[], Channel::Lit);
        assert!(plain_picture == picture, "{case}");
        let visibility = counted.renderer.read_visibility(&gpu).unwrap();
        assert!(
            plain.renderer.read_visibility(&gpu).unwrap() == visibility,
            "{case}"
        );
        let buffers = &plain.uploaded.buffers;
        let cost = plain.renderer.read_channel(&gpu, Channel::Cost, buffers);
        assert!(cost.unwrap_err().to_string().contains("without counting"));
        let (mut shown, _) = stage(max_rays, compact, &[], Channel::Cost);
        assert!(shown.channel(Channel::Cost).texels == costs, "{case}");
    }
}

/// Adds `count` lights of every kind around a scene.
fn add_lights(scene: &mut Scene, count: usize) {
    let mut random = common::Random(7);
    for i in 0..count {
        let from = 4.0 * random.cube() + 4.0 * Vec3::Y;
        let kind = match i % 3 {
            0 => LightKind::Directional,
            1 => LightKind::Point,
            _ => LightKind::Spot {
                inner_angle: 0.3,
                outer_angle: 0.8,
            },
        };
        add_light(scene, kind, 5.0, from, random.cube());
    }
}

#[test]
fn compacted_rays_match_the_rays_of_every_pixel() {
    // On portable devices, the_frame_is_the_same_at_portable_limits tests compaction too.
    for gpu in [gpu(), portable_gpu()].into_iter().take(by_lane(1, 2)) {
        let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
        // Several words and batches; a word and one more; one light; a full word; a full batch, and one more.
        for lights in [70, 5, 1, 4, 16, 17].into_iter().take(by_lane(2, 6)) {
            let mut scene = shadow_scene(1.0, Vec3::ZERO);
            add_lights(&mut scene, lights);
            // Tiles, and workgroups of eight tiles, that extend past the right and lower edges.
            let mut stage = Stage::new(&gpu, &scene, [117, 83]);
            let both = traced(&mut stage, &Pose::new(&scene, None, 0.0), view);
            assert_eq!(traced_fault(&both), None, "{lights} lights");
            assert_eq!(both[0].visibility.len(), 117 * 83 * lights.div_ceil(4));
            let arriving: u32 = both[0].visibility.iter().map(|word| word.count_ones() / 8).sum();
            let (arriving, rays) = (u64::from(arriving), both[0].rays);
            assert!(arriving > 1000, "{arriving} of {rays} rays reach {lights} lights");
            assert!(
                arriving < rays * 19 / 20,
                "{arriving} of {rays} rays reach the light"
            );
            // Every pixel that traced a ray has visited a node.
            assert!(both[0].cost.iter().any(|cost| cost[0] > 0.0 && cost[1] > 0.0));
        }
    }
}

#[test]
fn compacted_rays_are_right_at_masks_and_in_the_builtin_scene() {
    let gpu = gpu();
    let mut cutout = cutout_scene();
    add_lights(&mut cutout, 5);
    let mut stage = Stage::new(&gpu, &cutout, SIZE);
    stage.config.sun.enabled = Switch::On;
    let view = look_at(Vec3::new(1.6, 1.4, 2.2), Vec3::ZERO, 20.0);
    let both = traced(&mut stage, &Pose::new(&cutout, None, 0.0), view);
    assert_eq!(traced_fault(&both), None, "cut-outs");

    let builtin = builtin();
    let mut stage = Stage::new(&gpu, &builtin, [240, 135]);
    let view = look_at(Vec3::new(6.0, 4.0, 8.0), Vec3::Y, 100.0);
    for time in [0.0, 1.5] {
        let pose = Pose::new(&builtin, Some(0), time);
        let both = traced(&mut stage, &pose, view);
        assert_eq!(traced_fault(&both), None, "the built-in scene at {time}");
        assert!(both[0].rays > 1000);
    }
}

#[test]
fn ray_lists_beyond_65535_workgroups_are_traced_completely() {
    let gpu = gpu();
    let floor = quad(Vec3::new(-9.0, 0.0, 9.0), 18.0 * Vec3::X, -18.0 * Vec3::Z, 0);
    let mut scene = scene([floor], vec![matte(Vec3::ONE)]);
    for _ in 0..16 {
        add_light(&mut scene, LightKind::Directional, 1.0, Vec3::Y, Vec3::ZERO);
    }
    let size = [600, 440];
    let mut stage = Stage::new(&gpu, &scene, size);
    stage.renderer.budget.batch_rays = FrameBudget::MAX_RAYS;
    let view = look_at(Vec3::new(0.0, 4.0, 0.01), Vec3::ZERO, 20.0);
    stage.draw(&Pose::new(&scene, None, 0.0), view);
    let visibility = stage.renderer.read_visibility(&gpu).unwrap();
    stage.renderer.collect(&gpu);
    assert!(visibility.iter().all(|word| *word == u32::MAX), "lights are lost");
    let (pixels, stats) = (u64::from(size[0] * size[1]), stage.renderer.stats());
    assert!(stats.rays == 16 * pixels && stats.rays > 64 * 65_535);
    assert_eq!((stats.tiles, stats.sending_tiles), (75 * 55, 75 * 55));
}

#[test]
fn tiles_without_geometry_or_facing_away_from_the_light_trace_nothing() {
    let gpu = gpu();
    let floor = quad(Vec3::new(-1.0, 0.0, 1.0), 2.0 * Vec3::X, -2.0 * Vec3::Z, 0);
    let scene = scene([floor], vec![matte(Vec3::ONE)]);
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let pose = Pose::new(&scene, None, 0.0);
    let above = Vec3::new(0.0, 8.0, 0.01);
    // The floor in the centre; then the sun below the horizon; then the floor out of view.
    for (target, sun, sends) in [
        (Vec3::ZERO, [0.0, -1.0, 0.0], true),
        (Vec3::ZERO, [0.0, 1.0, 0.0], false),
        (2.0 * above, [0.0, -1.0, 0.0], false),
    ] {
        stage.config.sun.direction = sun;
        let both = traced(&mut stage, &pose, look_at(above, target, 20.0));
        assert_eq!(traced_fault(&both), None);
        assert_eq!(both[0].rays > 0, sends);
        stage.config.shadows.compact_rays = true;
        let picture = stage.draw(&pose, look_at(above, target, 20.0));
        stage.renderer.collect(&gpu);
        let stats = stage.renderer.stats();
        assert_eq!((stats.tiles, stats.sending_tiles > 0), (15 * 10, sends));
        assert!(stats.sending_tiles < 15 * 10 / 2 && picture.len() == 4 * 120 * 80);
    }
    // Without a light, there is nothing to list.
    stage.config.sun.enabled = Switch::Off;
    stage.config.shadows.compact_rays = true;
    stage.draw(&pose, look_at(above, Vec3::ZERO, 20.0));
    stage.renderer.collect(&gpu);
    gpu.check().unwrap();
    let stats = stage.renderer.stats();
    assert_eq!((stats.rays, stats.tiles), (0, 0));
}

#[test]
fn the_comparison_of_traced_rays_detects_errors() {
    let traced = |word, nodes, rays| Traced {
        visibility: vec![0, word],
        cost: vec![[nodes, 1.0, 0.0, 1.0]],
        rays,
    };
    let fault = |other| traced_fault(&[traced(3, 2.0, 2), other]);
    assert_eq!(fault(traced(3, 2.0, 2)), None);
    assert!(fault(traced(1, 2.0, 2)).is_some(), "other visibility passes");
    assert!(fault(traced(3, 3.0, 2)).is_some(), "another cost passes");
    assert!(
        fault(traced(3, 2.0, 3)).is_some(),
        "another number of rays passes"
    );
}

#[test]
fn images_too_large_for_the_shadow_ray_list_are_refused() {
    let gpu = portable_gpu();
    let mut scene = shadow_scene(1.0, Vec3::ZERO);
    add_lights(&mut scene, 5);
    let mut stage = Stage::new(&gpu, &scene, [18, 18]);
    let pose = Pose::new(&scene, None, 0.0);
    let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
    stage.draw(&pose, view);
    let input = FrameInput {
        scene: &scene,
        pose: &pose,
        view,
        eye_rounding: Vec3::ZERO,
        config: &stage.config,
        exposure_ev: 0.0,
        elapsed_secs: f32::INFINITY,
        channel: Channel::Lit,
        size: [4096, 2560],
        ground: None,
        reads: &[Channel::Cost],
    };
    let picture = canopy::gpu::GpuImage::new(
        &gpu,
        "picture",
        [1, 1],
        wgpu::TextureFormat::Rgba8Unorm,
        wgpu::TextureUsages::RENDER_ATTACHMENT,
    );
    let uploaded = &mut stage.uploaded;
    let refused = stage.renderer.record(&gpu, &input, uploaded, &picture.view);
    let message = refused.unwrap_err().to_string();
    assert!(
        message.starts_with(
            "shadow rays for 4096 × 2560 pixels and 5 lights: 160.0 MiB needed, 128.0 MiB allowed"
        ),
        "{message}"
    );
}

/// A floor below a card with a round hole.
fn cutout_scene() -> Scene {
    let floor = quad(Vec3::new(-2.0, 0.0, 2.0), 4.0 * Vec3::X, -4.0 * Vec3::Z, 0);
    let card = quad(Vec3::new(-1.0, 1.0, 1.0), 2.0 * Vec3::X, -2.0 * Vec3::Z, 1);
    let mut scene = scene([floor, card], vec![matte(Vec3::ONE), matte(Vec3::X)]);
    add_cutout(&mut scene);
    scene
}

#[test]
fn masked_surfaces_are_cut_out_in_camera_view_rays_and_shadow_maps() {
    let gpu = gpu();
    let scene = cutout_scene();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.config.sun.direction = [0.0, -1.0, 0.0];
    let view = look_at(Vec3::new(1.6, 0.4, 2.2), Vec3::new(0.0, 0.2, 0.0), 20.0);
    for mode in [ShadowMode::Rays, ShadowMode::Map] {
        stage.config.shadows.mode = mode;
        stage.draw(&Pose::new(&scene, None, 0.0), view);
        let (position, shadow) = (stage.channel(Channel::Position), stage.channel(Channel::Shadow));
        let (mut in_hole, mut under_card, mut around) = (0, 0, 0);
        for (p, s) in position
            .texels
            .iter()
            .zip(&shadow.texels)
            .filter(|(p, _)| p[3] == 1.0 && p[1] < 1e-3)
        {
            let (radius, side) = (p[0].hypot(p[2]), p[0].abs().max(p[2].abs()));
            // The hole's radius is 0.6 m. Filters blur its border, which is left out.
            let expected = if radius < 0.55 {
                in_hole += 1;
                1.0
            } else if radius > 0.65 && side < 0.95 {
                under_card += 1;
                0.0
            } else if side > 1.05 {
                around += 1;
                1.0
            } else {
                continue;
            };
            assert_eq!(s[0], expected, "{mode:?} at {p:?}");
        }
        assert!(
            in_hole > 50 && under_card > 50 && around > 50,
            "{in_hole} {under_card} {around}"
        );
    }
    // From above, the floor is visible through the hole.
    stage.draw(
        &Pose::new(&scene, None, 0.0),
        look_at(Vec3::new(0.0, 4.0, 0.01), Vec3::ZERO, 20.0),
    );
    let position = stage.channel(Channel::Position);
    let heights: Vec<f32> = position
        .texels
        .iter()
        .filter(|p| p[0].hypot(p[2]) < 0.5)
        .map(|p| p[1])
        .collect();
    assert!(heights.len() > 50 && heights.iter().all(|y| y.abs() < 1e-3));
}

#[test]
fn every_leaf_cutoff_gives_the_same_picture() {
    let gpu = gpu();
    let mut scene = shadow_scene(1.0, Vec3::ZERO);
    add_light(
        &mut scene,
        LightKind::Point,
        20.0,
        Vec3::new(0.3, 3.2, -0.4),
        Vec3::ZERO,
    );
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.config.sun.enabled = Switch::On;
    let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
    let mut pictures = (1..=32).map(|leaf_cutoff| {
        stage.config.tree.leaf_cutoff = leaf_cutoff;
        stage.draw(&Pose::new(&scene, None, 0.0), view)
    });
    let first = pictures.next().unwrap();
    for (cutoff, picture) in (2..).zip(pictures) {
        let differing = picture
            .chunks(4)
            .zip(first.chunks(4))
            .filter(|(a, b)| a != b)
            .count();
        assert_eq!(differing, 0, "leaf cutoff {cutoff}");
    }
}

#[test]
fn blended_surfaces_are_composited_in_depth_order() {
    let gpu = gpu();
    let glass = |color: Vec3| scene::Material {
        base_color: color.extend(0.5),
        alpha_mode: AlphaMode::Blend,
        unlit: true,
        ..matte(color)
    };
    let wall = |z: f32, material| quad(Vec3::new(-2.0, -2.0, z), 4.0 * Vec3::X, 4.0 * Vec3::Y, material);
    let opaque = scene::Material {
        unlit: true,
        ..matte(Vec3::ONE)
    };
    // The nearer pane comes first in the file.
    let scene = scene(
        [wall(1.0, 1), wall(0.0, 2), wall(-1.0, 0)],
        vec![opaque, glass(Vec3::X), glass(Vec3::Y)],
    );
    let mut stage = Stage::new(&gpu, &scene, [18, 18]);
    stage.draw(
        &Pose::new(&scene, None, 0.0),
        look_at(Vec3::new(0.0, 0.0, 4.0), Vec3::ZERO, 20.0),
    );
    let lit = stage.channel(Channel::Lit);
    let expected = 0.5 * Vec3::X + 0.5 * (0.5 * Vec3::Y + 0.5 * Vec3::ONE);
    let seen = Vec3::from_slice(&lit.texels[9 * 18 + 9]);
    assert!(
        (seen - expected).abs().max_element() < 0.01,
        "{seen} for {expected}"
    );
}

#[test]
fn lighting_equals_the_cpu_reference_for_all_surfaces_and_lights() {
    let gpu = gpu();
    let mut materials = Vec::new();
    let mut balls = Vec::new();
    for (i, roughness) in [0.0, 0.2, 0.5, 1.0].into_iter().enumerate() {
        for (j, metallic) in [0.0, 0.4, 1.0].into_iter().enumerate() {
            let center = Vec3::new(i as f32 - 1.5, j as f32 - 1.0, 0.0);
            balls.push(sphere(center, 0.45, 24, materials.len()));
            materials.push(scene::Material {
                base_color: glam::Vec4::new(0.9, 0.5, 0.1 * i as f32, 1.0),
                roughness,
                metallic,
                emissive: Vec3::new(0.0, 0.0, 0.05 * j as f32),
                ..scene::Material::default()
            });
        }
    }
    let mut scene = scene(balls, materials);
    let from = Vec3::new(1.0, 2.0, 2.5);
    add_light(&mut scene, LightKind::Directional, 2.0, from, Vec3::ZERO);
    add_light(
        &mut scene,
        LightKind::Point,
        6.0,
        Vec3::new(-2.0, 0.5, 1.5),
        Vec3::ZERO,
    );
    scene.lights[1].range = Some(4.0);
    let cone = LightKind::Spot {
        inner_angle: 0.2,
        outer_angle: 0.6,
    };
    add_light(&mut scene, cone, 20.0, Vec3::new(1.0, -1.0, 3.0), Vec3::ZERO);
    let mut stage = Stage::new(&gpu, &scene, [192, 144]);
    // The twin has no triangles to derive the glint filter from.
    stage.config.materials.glint_filter = false;
    stage.config.shadows.mode = ShadowMode::Off;
    let pose = Pose::new(&scene, None, 0.0);
    let view = look_at(Vec3::new(0.0, 0.0, 4.5), Vec3::ZERO, 20.0);
    stage.draw(&pose, view);
    let lights = canopy::render::light::lights::gather(&scene, &pose, &stage.config, 1.0);
    // Uniform lighting. tests/environment.rs covers environments that vary with direction.
    let color = Vec3::from(stage.config.environment.color).as_dvec3();
    let ambient = lighting::EnvironmentLight {
        diffuse: &|_| color,
        mirrored: &|_, _| color,
        split: &|n_dot_v, roughness| brdf_table::albedo(n_dot_v, roughness, 96),
        multiple_scattering: true,
    };
    let lit = stage.channel(Channel::Lit);
    let (mut compared, mut brightest, mut worst) = (0, 0.0f64, 0.0f64);
    // The twin is slow. The quick lane evaluates it for a fifth of the pixels, and for all highlights.
    let every = by_lane(5, 1);
    let surfaces = stage.surfaces();
    let pixels = surfaces.iter().zip(&lit.texels).enumerate();
    let pixels = pixels.filter(|(i, (_, lit))| i.is_multiple_of(every) || lit[0] > 4.0);
    for (_, (surface, lit)) in pixels {
        let Some(surface) = surface else { continue };
        let to_eye = (view.eye() - surface.position).normalize();
        let twin = lighting::lighting(surface, to_eye, &lights, &ambient);
        let error = (Vec3::from_slice(lit).as_dvec3() - twin).abs().max_element();
        // Radiance is stored in half floats, which have 11 bits. At a tiny highlight, rounding in f32 exceeds
        // that.
        worst = worst.max(error / (twin.max_element() + 0.05));
        brightest = brightest.max(twin.max_element());
        compared += 1;
    }
    assert!(
        compared > 5000 / every && brightest > 5.0,
        "{compared} pixels up to {brightest} test little"
    );
    assert!(
        // Multiple scattering divides by an albedo whose table is precise to 0.3 %.
        worst < 0.01,
        "the largest error is {worst} of the twin's radiance"
    );
}

#[test]
fn tonemap_matches_the_cpu_reference_for_every_curve() {
    let gpu = gpu();
    // Bands of emission from black far into the highlights, in colours that the curves treat differently.
    let mut materials = Vec::new();
    let mut bands = Vec::new();
    for band in 0..24 {
        let radiance = 2f32.powf(band as f32 * 0.5 - 7.0);
        let tint = [Vec3::ONE, Vec3::new(1.0, 0.3, 0.02), Vec3::new(0.1, 0.2, 1.0)][band % 3];
        let corner = Vec3::new(band as f32 / 6.0 - 2.0, -1.0, 0.0);
        bands.push(quad(corner, Vec3::X / 6.0, 2.0 * Vec3::Y, band));
        materials.push(glowing(radiance * tint));
    }
    let scene = scene(bands, materials);
    let mut stage = Stage::new(&gpu, &scene, [96, 24]);
    stage.darken();
    let view = look_at(Vec3::new(0.0, 0.0, 1.2), Vec3::ZERO, 10.0);
    let curves = [
        Tonemap::None,
        Tonemap::Reinhard,
        Tonemap::Aces,
        Tonemap::Neutral,
        Tonemap::Agx,
    ];
    for (number, curve) in (0..).zip(curves) {
        let params = TonemapParams {
            curve: number,
            ..TonemapParams::default()
        };
        let exposure = Exposure {
            scale: 1.0,
            ..Exposure::default()
        };
        stage.config.image.tonemap = curve;
        stage.config.image.antialias = Antialias::Off;
        let picture = stage.draw(&Pose::new(&scene, None, 0.0), view);
        let lit = stage.channel(Channel::Lit);
        let mut levels = std::collections::BTreeSet::new();
        for (pixel, lit) in picture.chunks(4).zip(&lit.texels) {
            let twin = tonemap::tonemap(&params, &exposure, Vec3::from_slice(lit).as_dvec3(), DVec3::ZERO);
            for axis in 0..3 {
                let expected = twin[axis] * 255.0;
                let error = (f64::from(pixel[axis]) - expected).abs();
                assert!(error < 1.01, "{curve:?} of {lit:?}: {pixel:?} for {twin}");
            }
            levels.insert(pixel[0]);
        }
        assert!(
            levels.len() > 12,
            "{curve:?}: {} levels test little",
            levels.len()
        );
    }
}

/// A ramp over four levels of eight bits, near black, in the middle and near white. With dithering, rows of
/// neighbours have the mean that they would have with more bits. Without it they do not.
#[test]
fn dithering_keeps_the_mean_of_neighbours() {
    const STEPS: usize = 250;
    let gpu = gpu();
    for lowest in [0.0, 100.0, 251.0] {
        let radiance = |step: usize| {
            let encoded = (lowest + 4.0 * step as f32 / (STEPS - 1) as f32) / 255.0;
            if encoded <= 0.04045 {
                encoded / 12.92
            } else {
                ((encoded + 0.055) / 1.055).powf(2.4)
            }
        };
        let materials = (0..STEPS).map(|step| glowing(Vec3::splat(radiance(step))));
        let quads = (0..STEPS).map(|step| {
            let corner = Vec3::new(step as f32 - 0.5 * STEPS as f32, -1.0, 0.0);
            quad(corner, Vec3::X, 2.0 * Vec3::Y, step)
        });
        let scene = scene(quads, materials.collect());
        let mut stage = Stage::new(&gpu, &scene, [4 * STEPS as u32, 4]);
        stage.darken();
        stage.config.image.tonemap = Tonemap::None;
        let view = View {
            projection: Projection::Orthographic { half_height: 0.5 },
            ..look_at(Vec3::Z, Vec3::ZERO, 10.0)
        };
        let pose = Pose::new(&scene, None, 0.0);
        // Greatest error, in levels, of the mean of 50 neighbours.
        let mut error = |dither: bool, samples: u32| {
            stage.config.image.dither = dither;
            let picture = stage.supersampled(&pose, view, samples);
            let lit = stage.channel(Channel::Lit);
            let of_fifty = |(bytes, lit): (&[u8], &[[f32; 4]])| {
                let stored: f64 = bytes.iter().step_by(4).map(|&level| f64::from(level)).sum();
                let exact = |lit: &[f32; 4]| {
                    let radiance = Vec3::from_slice(lit).as_dvec3();
                    let exposure = Exposure {
                        scale: 1.0,
                        ..Exposure::default()
                    };
                    let params = TonemapParams::default();
                    255.0 * tonemap::tonemap(&params, &exposure, radiance, DVec3::ZERO).x
                };
                (stored - lit.iter().map(exact).sum::<f64>()).abs() / 50.0
            };
            let fifties = picture.chunks(200).zip(lit.texels.chunks(50));
            fifties.map(of_fifty).fold(0.0, f64::max)
        };
        for samples in [1, 3] {
            let (dithered, rounded) = (error(true, samples), error(false, samples));
            println!("from {lowest}, {samples} samples: {dithered:.3} levels, {rounded:.3} without");
            assert!(dithered < 0.1, "from {lowest}, {samples} samples: {dithered}");
            assert!(rounded > 0.3, "from {lowest}, {samples} samples: {rounded}");
        }
    }
}

/// Dithering only affects values between two levels.
#[test]
fn dithering_keeps_exact_8_bit_colours() {
    let gpu = gpu();
    let colors = [[17, 130, 250], [128, 128, 128], [1, 2, 3], [255, 0, 77]];
    let background = [60_u8, 200, 9];
    let linear = |color: [u8; 3]| {
        Vec3::from(color.map(|level| {
            let encoded = f32::from(level) / 255.0;
            if encoded <= 0.04045 {
                encoded / 12.92
            } else {
                ((encoded + 0.055) / 1.055).powf(2.4)
            }
        }))
    };
    let materials = colors.map(|color| scene::Material {
        unlit: true,
        ..matte(linear(color))
    });
    let quads = (0..4).map(|i| quad(Vec3::new(i as f32 - 2.0, -1.0, 0.0), Vec3::X, Vec3::Y, i));
    let scene = scene(quads, materials.into());
    let mut stage = Stage::new(&gpu, &scene, [40, 20]);
    stage.config.image.dither = true;
    stage.config.image.background = linear(background).to_array();
    let view = View {
        projection: Projection::Orthographic { half_height: 1.0 },
        ..look_at(Vec3::Z * 4.0, Vec3::ZERO, 20.0)
    };
    let picture = stage.draw(&Pose::new(&scene, None, 0.0), view);
    for (at, pixel) in picture.chunks(4).enumerate() {
        let (x, y) = (at % 40, at / 40);
        let expected = if y < 10 { background } else { colors[x / 10] };
        // Edges are antialiased.
        if !(x + 1).is_multiple_of(10) && !x.is_multiple_of(10) && !(8..12).contains(&y) {
            assert_eq!(pixel[..3], expected, "at {x}, {y}");
        }
    }
}

/// KHR_materials_unlit, and a background of one colour. The display shows the given colour, whatever the
/// exposure and the tone curve.
#[test]
fn unlit_surfaces_and_plain_backgrounds_keep_their_colours() {
    let gpu = gpu();
    // Includes saturated colours, whose darkest channel the G-buffer must preserve next to the brightest.
    let colors = [
        Vec3::new(1.0, 0.2, 0.002),
        Vec3::new(0.02, 0.4, 0.9),
        Vec3::ONE,
        Vec3::splat(0.18),
    ];
    let background = [0.9, 0.05, 0.3];
    let unlit = |color: Vec3| scene::Material {
        unlit: true,
        ..matte(color)
    };
    let pane = scene::Material {
        base_color: glam::Vec4::new(0.1, 0.6, 1.0, 0.5),
        alpha_mode: AlphaMode::Blend,
        ..unlit(Vec3::ONE)
    };
    let mut materials: Vec<_> = colors.map(unlit).into();
    materials.push(pane.clone());
    let mut quads: Vec<_> = (0..4)
        .map(|i| quad(Vec3::new(i as f32 - 2.0, -1.0, 0.0), Vec3::X, Vec3::Y, i))
        .collect();
    quads.push(quad(Vec3::new(-2.0, -1.0, 1.0), Vec3::X * 4.0, Vec3::Y * 0.5, 4));
    let scene = scene(quads, materials);
    let mut stage = Stage::new(&gpu, &scene, [40, 20]);
    stage.config.image.background = background;
    let view = View {
        projection: Projection::Orthographic { half_height: 1.0 },
        ..look_at(Vec3::Z * 4.0, Vec3::ZERO, 20.0)
    };
    let expected = |x: usize, y: usize| {
        let below = match y {
            0..10 => Vec3::from(background),
            _ => colors[x / 10],
        };
        let over = pane.base_color.truncate();
        let light = if y < 15 { below } else { 0.5 * (over + below) };
        tonemap::tonemap(
            &TonemapParams::default(),
            &Exposure::default(),
            DVec3::ZERO,
            light.as_dvec3(),
        )
    };
    let check = |picture: &[u8], what: &str| {
        // At the centres of the compared areas.
        for (x, y) in (0..4).flat_map(|i| [3, 12, 17].map(|y| (10 * i + 5, y))) {
            let pixel = &picture[4 * (40 * y + x)..][..3];
            let wanted = expected(x, y) * 255.0;
            for axis in 0..3 {
                let error = (f64::from(pixel[axis]) - wanted[axis]).abs();
                assert!(error < 0.9, "{what} at {x}, {y}: {pixel:?} for {wanted}");
            }
        }
    };
    let pose = Pose::new(&scene, None, 0.0);
    for curve in [
        Tonemap::None,
        Tonemap::Reinhard,
        Tonemap::Aces,
        Tonemap::Neutral,
        Tonemap::Agx,
    ] {
        for ev in [-4.0, 0.0, 5.0] {
            stage.config.image.tonemap = curve;
            stage.exposure_ev = ev;
            check(&stage.draw(&pose, view), &format!("{curve:?} {ev}"));
        }
    }
    check(&stage.supersampled(&pose, view, 3), "samples");
    check(&stage.supersampled(&pose, view, 1), "smaa");
    // The channel holds the radiance that is displayed as these colours.
    for samples in [1, 3] {
        stage.supersampled(&pose, view, samples);
        let lit = stage.channel(Channel::Lit).texels;
        let shown = |x: usize, y: usize| Vec3::from_slice(&lit[40 * y + x]) * 5.0_f32.exp2();
        assert!(shown(5, 12).abs_diff_eq(colors[0], 2e-3));
        assert!(shown(5, 3).abs_diff_eq(background.into(), 2e-3));
        let over = 0.5 * (pane.base_color.truncate() + colors[1]);
        assert!(shown(15, 17).abs_diff_eq(over, 2e-3), "{}", shown(15, 17));
        assert_eq!(lit[40 * 3 + 5][3], 0.0);
    }
    // The histogram counts light only, and there is none here.
    stage.config.image.exposure = ExposureMode::Histogram;
    stage.config.exposure.compensation = 1.5;
    check(&stage.draw(&pose, view), "histogram");
    stage.renderer.collect(&gpu);
    assert_eq!(stage.renderer.stats().exposure_ev, 5.0 + 1.5);
}

#[test]
fn the_gbuffer_matches_brute_force_rays() {
    let gpu = gpu();
    let scene = shadow_scene(1.0, Vec3::ZERO);
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
    stage.draw(&Pose::new(&scene, None, 0.0), view);
    let merged = stage.merged();
    let soup = triangles(&merged.positions, &merged.indices);
    let (position, mesh) = (stage.channel(Channel::Position), stage.channel(Channel::Mesh));
    let corners = view.corners(SIZE[0] as f32 / SIZE[1] as f32);
    let (subpixel, pixel_side) = (common::subpixel(&gpu), view.pixel_side(SIZE[1])[1]);
    let (mut differing, mut covered) = (0, 0);
    for (i, (p, m)) in position.texels.iter().zip(&mesh.texels).enumerate() {
        let x = (i as u32 % SIZE[0]) as f32 + 0.5;
        let y = (i as u32 / SIZE[0]) as f32 + 0.5;
        let (x, y) = (x / SIZE[0] as f32, 1.0 - y / SIZE[1] as f32);
        // Near corners: bottom left, bottom right, top left.
        let same = |[right, up]: [f32; 2]| {
            let (x, y) = (x + right / SIZE[0] as f32, y + up / SIZE[1] as f32);
            let through = corners[0] + x * (corners[1] - corners[0]) + y * (corners[2] - corners[0]);
            let direction = (through - view.eye()).normalize();
            match closest_hit(&soup, view.eye(), direction, 0.0, 100.0) {
                None => p[3] == 0.0,
                Some((triangle, t)) => {
                    let at = view.eye() + direction * t as f32;
                    let of = merged
                        .meshes
                        .iter()
                        .position(|range| range.contains(&(triangle as u32)));
                    let [a, b, c] = soup[triangle];
                    let normal = (b - a).cross(c - a).normalize();
                    let off = Vec3::from_slice(p) - at;
                    // A vertex that is rasterised off its position moves the plane by as much.
                    let reach = subpixel * pixel_side * t as f32;
                    let is_near = if reach > 0.0 {
                        off.dot(normal).abs() < 1e-3 + reach
                    } else {
                        off.length() < 1e-3
                    };
                    p[3] == 1.0 && is_near && of == Some(m[0] as usize)
                }
            }
        };
        covered += usize::from(p[3] == 1.0);
        let d = subpixel / f32::sqrt(2.0);
        let places = [[0.0, 0.0], [-d, -d], [d, -d], [-d, d], [d, d]];
        let places = &places[..if subpixel > 0.0 { 5 } else { 1 }];
        differing += usize::from(!places.iter().any(|place| same(*place)));
    }
    // Silhouettes may fall on either side of a pixel's centre.
    assert!(covered > 4000, "{covered} pixels test little");
    assert!(
        differing * 500 <= covered,
        "{differing} of {covered} pixels differ"
    );
}

#[test]
fn golden_images_in_every_shadow_mode() {
    let gpu = gpu();
    let scene = builtin();
    let mut stage = Stage::new(&gpu, &scene, [240, 135]);
    let pose = Pose::new(&scene, Some(0), 1.5);
    let (node, _) = scene
        .nodes
        .iter()
        .enumerate()
        .find(|(_, node)| node.camera == Some(0))
        .unwrap();
    let view = View {
        world_from_view: pose.world_from_node[node].as_mat4(),
        projection: scene.cameras[0].projection,
        near: 0.1,
        far: 100.0,
    };
    let mut pictures = Vec::new();
    let modes = [
        ("rays", ShadowMode::Rays),
        ("map", ShadowMode::Map),
        ("off", ShadowMode::Off),
    ];
    for (name, mode) in modes.into_iter().take(by_lane(1, 3)) {
        stage.config.shadows.mode = mode;
        let picture = stage.supersampled(&pose, view, 8);
        compare_with_golden(&gpu, &format!("builtin_{name}"), &picture, stage.size);
        pictures.push(picture);
    }
    let [rays, map, off] = &pictures[..] else {
        return;
    };
    // The tolerance must distinguish the modes, so they must differ by more.
    assert!(difference(rays, off).0 > 2.0, "shadows make no difference");
    assert!(
        difference(rays, map).0 > 0.5,
        "the golden test would take a map for rays"
    );
    assert!(difference(rays, map).0 < 6.0, "map and rays disagree");
}

#[test]
fn the_frame_is_the_same_at_portable_limits() {
    let (gpu, portable) = (gpu(), portable_gpu());
    let mut scene = cutout_scene();
    scene.materials[0].alpha_mode = AlphaMode::Blend;
    add_light(
        &mut scene,
        LightKind::Point,
        5.0,
        Vec3::new(0.5, 2.0, 0.5),
        Vec3::ZERO,
    );
    let view = look_at(Vec3::new(1.6, 1.4, 2.2), Vec3::ZERO, 20.0);
    let modes = [ShadowMode::Rays, ShadowMode::Map];
    for mode in modes.into_iter().take(by_lane(1, 2)) {
        let pictures = [&gpu, &portable].map(|gpu| {
            let mut stage = Stage::new(gpu, &scene, SIZE);
            stage.config.shadows.mode = mode;
            let picture = stage.draw(&Pose::new(&scene, None, 0.0), view);
            gpu.check().unwrap();
            picture
        });
        // The two implementations of `project_sh` add in different orders, so a value may round to the next
        // step of 255.
        let (mean, largest) = difference(&pictures[0], &pictures[1]);
        assert!(mean < 0.001 && largest <= 1, "{mode:?}: {mean}, {largest}");
    }
}

/// Tree work of a frame, and the visibility found by its shadow rays.
#[derive(Debug)]
struct Drawn {
    work: TreeWork,
    growth: f32,
    visibility: Vec<u32>,
}

/// Draws with a policy and checks the trees.
fn drawn(stage: &mut Stage<'_>, policy: Rebuild, pose: &Pose, view: View) -> Drawn {
    stage.config.tree.rebuild = policy;
    stage.draw(pose, view);
    stage.renderer.collect(stage.gpu);
    stage.gpu.check().unwrap();
    let data = stage.uploaded.state.tree.read(stage.gpu).unwrap();
    let valid = data.validate(&stage.uploaded.buffers.meshes);
    valid.unwrap_or_else(|e| panic!("{policy:?}: {e}"));
    let stats = stage.renderer.stats();
    let works = stats.tree_work != TreeWork::None;
    assert_eq!(stats.tree_dispatches > 0, works);
    for pass in ["deform", "lbvh"] {
        let took = stats.passes.iter().any(|timing| timing.name == pass);
        assert!(took == works || stats.passes.is_empty(), "{pass}");
    }
    Drawn {
        work: stats.tree_work,
        growth: stats.tree_growth,
        visibility: stage.renderer.read_visibility(stage.gpu).unwrap(),
    }
}

/// Draws every pose with its policy, and once more with trees rebuilt every frame. Both must give the same
/// shadows. Returns the tree work of the first series.
fn works(scene: &Scene, frames: &[(Rebuild, Pose)], view: View) -> Vec<TreeWork> {
    let gpu = gpu();
    let [mut stage, mut every] = [(); 2].map(|()| Stage::new(&gpu, scene, [96, 66]));
    stage.config.tree.refit_growth = 100.0;
    let mut shadows: Vec<Vec<u32>> = Vec::new();
    let mut works = Vec::new();
    for (number, (policy, pose)) in frames.iter().enumerate() {
        let expected = drawn(&mut every, Rebuild::Frame, pose, view);
        let found = drawn(&mut stage, *policy, pose, view);
        assert_eq!(expected.work, TreeWork::Rebuild);
        assert!(
            found.visibility == expected.visibility,
            "{policy:?}: other shadows in frame {number}"
        );
        if !shadows.contains(&found.visibility) {
            shadows.push(found.visibility);
        }
        works.push(found.work);
    }
    // Stale trees would have been visible.
    let moves = frames.windows(2).filter(|w| w[0].1 != w[1].1).count();
    assert!(
        shadows.len() > moves,
        "{} shadows of {moves} moves",
        shadows.len()
    );
    works
}

#[test]
fn every_rebuild_policy_gives_the_same_shadows() {
    use TreeWork::{None as Kept, Partial, Rebuild as All, Refit};
    let scene = builtin();
    let view = look_at(Vec3::new(6.0, 5.0, 6.0), Vec3::Y, 60.0);
    let policies = [
        (Rebuild::Changed, [All, Partial, Kept, Partial, Partial]),
        (Rebuild::Refit, [All, Refit, Kept, Refit, Refit]),
        (Rebuild::Frame, [All, All, All, All, All]),
    ];
    // trees_are_rebuilt_when_the_policy_changes covers all of them.
    for (policy, expected) in policies.into_iter().take(by_lane(1, 3)) {
        let frames = [0.0, 0.7, 0.7, 2.9, 1.6].map(|time| (policy, Pose::new(&scene, Some(0), time)));
        assert_eq!(works(&scene, &frames, view), expected, "{policy:?}");
    }
}

#[test]
fn trees_are_rebuilt_when_the_policy_changes() {
    use TreeWork::{None as Kept, Partial, Rebuild as All, Refit};
    let scene = builtin();
    let view = look_at(Vec3::new(6.0, 5.0, 6.0), Vec3::Y, 60.0);
    let frames = [
        (Rebuild::Frame, 0.0, All),
        (Rebuild::Refit, 0.5, All),
        (Rebuild::Refit, 1.1, Refit),
        (Rebuild::Changed, 1.1, All),
        (Rebuild::Changed, 1.6, Partial),
        (Rebuild::Refit, 1.6, All),
        (Rebuild::Refit, 2.2, Refit),
        (Rebuild::Frame, 2.2, All),
        (Rebuild::Frame, 2.2, All),
        (Rebuild::Changed, 2.2, All),
        (Rebuild::Changed, 2.2, Kept),
    ];
    let frames = &frames[..by_lane(7, 11)];
    let pose = |(policy, time, _): &(_, f32, _)| (*policy, Pose::new(&scene, Some(0), *time));
    let posed: Vec<_> = frames.iter().map(pose).collect();
    let expected: Vec<_> = frames.iter().map(|(_, _, work)| *work).collect();
    assert_eq!(works(&scene, &posed, view), expected);
}

/// Motion by matrices alone, and a scale that flips triangles.
#[test]
fn only_trees_of_moved_meshes_are_rebuilt() {
    use TreeWork::{None as Kept, Partial, Rebuild as All};
    let scene = shadow_scene(1.0, Vec3::ZERO);
    let pose = |matrices: &[(usize, Mat4)]| {
        let mut pose = Pose::new(&scene, None, 0.0);
        for (node, matrix) in matrices {
            pose.world_from_node[*node] = matrix.as_dmat4();
        }
        pose
    };
    let raised = Mat4::from_translation(Vec3::new(0.4, 0.5, 0.1));
    let turned = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    let everything = [0, 1, 2, 3].map(|node| (node, raised * turned));
    let frames = [
        (pose(&[]), All),
        (pose(&[(1, raised)]), Partial),
        (pose(&[(1, raised)]), Kept),
        (pose(&[(1, raised), (3, turned)]), Partial),
        (pose(&everything), All),
    ];
    let posed = frames
        .each_ref()
        .map(|(pose, _)| (Rebuild::Changed, pose.clone()));
    let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
    assert_eq!(works(&scene, &posed, view), frames.map(|(_, work)| work));
}

#[test]
fn trees_of_a_static_scene_are_built_once() {
    let gpu = gpu();
    let scene = shadow_scene(1.0, Vec3::ZERO);
    let pose = Pose::new(&scene, None, 0.0);
    for (policy, later) in [
        (Rebuild::Frame, TreeWork::Rebuild),
        (Rebuild::Changed, TreeWork::None),
        (Rebuild::Refit, TreeWork::None),
    ] {
        // A new scene starts with new trees.
        let mut stage = Stage::new(&gpu, &scene, [48, 34]);
        for frame in 0..6u8 {
            // Uniform lighting.
            let eye = Vec3::new(3.0, 4.0, 2.0 + f32::from(frame));
            let found = drawn(&mut stage, policy, &pose, look_at(eye, Vec3::ZERO, 40.0));
            let expected = if frame == 0 { TreeWork::Rebuild } else { later };
            assert_eq!(found.work, expected, "{policy:?}, frame {frame}");
            assert_eq!(found.growth, 1.0);
        }
    }
}

/// Triangles that a morph target shuffles, above a floor.
fn shuffled_scene() -> Scene {
    let cloud = random_triangles(300, 5).into_iter();
    let cloud: Vec<_> = cloud.map(|t| t.map(|v| v + 1.5 * Vec3::Y)).collect();
    let mut cloud = primitive(&cloud, 0);
    let elsewhere = |vertex: usize| (vertex + 3 * 7 * (vertex / 3)) % (3 * 300);
    let offsets =
        (0..cloud.positions.len()).map(|vertex| cloud.positions[elsewhere(vertex)] - cloud.positions[vertex]);
    cloud.targets.push(scene::MorphTarget {
        positions: offsets.collect(),
        ..scene::MorphTarget::default()
    });
    scene(
        [
            cloud,
            quad(Vec3::new(-4.0, 0.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0),
        ],
        vec![matte(Vec3::ONE)],
    )
}

#[test]
fn refitted_trees_are_rebuilt_once_their_cost_has_grown() {
    use TreeWork::{None as Kept, Rebuild as All, Refit};
    let gpu = gpu();
    let scene = shuffled_scene();
    let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
    for (limit, ages) in [(1.5, true), (100.0, false)] {
        let [mut stage, mut every] = [(); 2].map(|()| Stage::new(&gpu, &scene, [66, 48]));
        stage.config.tree.refit_growth = limit;
        let mut found = Vec::new();
        for weight in [0.0, 0.002, 0.004, 0.006, 0.006, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0] {
            let mut pose = Pose::new(&scene, None, 0.0);
            pose.weights[0] = vec![weight];
            let expected = drawn(&mut every, Rebuild::Frame, &pose, view);
            let drawn = drawn(&mut stage, Rebuild::Refit, &pose, view);
            assert!(drawn.visibility == expected.visibility, "{weight}");
            found.push((drawn.work, drawn.growth));
        }
        let works = |range: std::ops::Range<usize>| found[range].iter().map(|(work, _)| *work);
        assert!(
            works(0..6).eq([All, Refit, Refit, Refit, Kept, Refit]),
            "{found:?}"
        );
        // The measured cost of the shuffled mesh arrives a few frames later.
        let all: Vec<_> = (6..found.len()).filter(|at| found[*at].0 == All).collect();
        if ages {
            assert!(all.len() == 1 && all[0] < 10, "{found:?}");
            assert!(found[all[0]].1 > limit, "{found:?}");
            assert!((found[found.len() - 1].1 - 1.0).abs() < 1e-6, "{found:?}");
        } else {
            assert!(all.is_empty(), "{found:?}");
            assert!(found[found.len() - 1].1 > 1.5, "{found:?}");
        }
    }
}

#[test]
fn a_frame_in_parts_and_batches_is_the_same_frame() {
    let gpu = gpu();
    let mut scene = shadow_scene(1.0, Vec3::ZERO);
    add_lights(&mut scene, 5);
    let pose = Pose::new(&scene, None, 0.0);
    let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
    let frame = |batch_rays, in_parts, part_pixels| {
        let mut stage = Stage::new(&gpu, &scene, [117, 83]);
        stage.config.occlusion.mode = OcclusionMode::Rays;
        let budget = FrameBudget {
            batch_rays,
            occlusion_rays: batch_rays / 4,
            in_parts,
            part_pixels,
        };
        stage.renderer.budget = budget;
        // Antialiased, and the mean of two frames.
        let smoothed = stage.draw(&pose, view);
        stage.renderer.budget = budget;
        let mean = stage.supersampled(&pose, view, 2);
        stage.renderer.budget = budget;
        stage.draw(&pose, view);
        stage.renderer.collect(&gpu);
        gpu.check().unwrap();
        let stats = stage.renderer.stats().clone();
        let mut names: Vec<_> = stats.passes.iter().map(|pass| &pass.name).collect();
        names.sort();
        let passes = names.len();
        names.dedup();
        assert_eq!(names.len(), passes, "a pass has two rows");
        let pixels: Vec<_> = stage.channel(Channel::Lit).texels.into_iter().flatten().collect();
        (
            pixels.into_iter().map(f32::to_bits).collect::<Vec<_>>(),
            stats.rays,
            passes,
            smoothed,
            mean,
        )
    };
    let bands = 117 * 24;
    let whole = frame(FrameBudget::MAX_RAYS, false, bands);
    assert!(whole.1 > 1000 && whole.3 != whole.4);
    for (batch_rays, in_parts, part_pixels) in [
        (FrameBudget::MAX_RAYS, true, bands),
        (1 << 12, false, bands),
        (1, true, bands),
        // Parts of many passes, like on fast adapters.
        (FrameBudget::MAX_RAYS, true, 1 << 20),
    ] {
        assert!(
            frame(batch_rays, in_parts, part_pixels) == whole,
            "{batch_rays} {in_parts} {part_pixels}"
        );
    }
}

/// Nodes for rays are made by the first frame that traces rays. If that frame is cancelled, the next one makes them.
#[test]
fn a_cancelled_first_frame_with_rays_does_not_affect_the_next() {
    let gpu = gpu();
    let scene = shadow_scene(1.0, Vec3::ZERO);
    let pose = Pose::new(&scene, None, 0.0);
    let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
    let without_rays = || {
        let mut stage = Stage::new(&gpu, &scene, [61, 43]);
        stage.config.tree.rebuild = Rebuild::Changed;
        stage.config.shadows.mode = ShadowMode::Off;
        let unshadowed = stage.draw(&pose, view);
        stage.config.shadows.mode = ShadowMode::Rays;
        (stage, unshadowed)
    };
    let (mut stage, unshadowed) = without_rays();
    let expected = stage.draw(&pose, view);
    assert!(expected != unshadowed);
    let (mut stage, _) = without_rays();
    stage.renderer.budget.in_parts = true;
    let target = picture(&gpu, stage.size);
    let encoder = stage.record_only(&pose, view, FrameSample::SINGLE, &target);
    stage.renderer.finish(encoder);
    let Stage {
        renderer, uploaded, ..
    } = &mut stage;
    renderer.cancel(&gpu, uploaded).unwrap();
    assert!(stage.draw(&pose, view) == expected);
}

/// The viewer drops the remaining parts of an obsolete frame. The next frame is not affected.
#[test]
fn a_cancelled_frame_does_not_affect_the_next() {
    let gpu = gpu();
    let mut scene = shadow_scene(1.0, Vec3::ZERO);
    add_lights(&mut scene, 3);
    let (pose, mut moved) = (Pose::new(&scene, None, 0.0), Pose::new(&scene, None, 0.0));
    for world_from_node in &mut moved.world_from_node {
        world_from_node.w_axis.x += 0.3;
    }
    let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
    let stage = || {
        let mut stage = Stage::new(&gpu, &scene, [61, 43]);
        stage.config.occlusion.mode = OcclusionMode::Rays;
        stage.config.tree.rebuild = Rebuild::Changed;
        stage
    };
    let expected = stage().draw(&moved, view);
    for submitted in [0, 1, 3, 9] {
        let mut stage = stage();
        assert!(stage.draw(&pose, view) != expected);
        stage.renderer.budget.in_parts = true;
        let target = picture(&gpu, stage.size);
        let encoder = stage.record_only(&moved, view, FrameSample::SINGLE, &target);
        stage.renderer.finish(encoder);
        for _ in 0..submitted {
            assert!(!stage.renderer.submit_part(&gpu), "it has more parts");
        }
        let Stage {
            renderer, uploaded, ..
        } = &mut stage;
        renderer.cancel(&gpu, uploaded).unwrap();
        // Neither the pose nor the trees nor a history come from the dropped frame.
        let after = stage.draw(&moved, view);
        assert!(after == expected, "after {submitted} parts");
        gpu.check().unwrap();
    }
}

#[test]
fn a_lost_device_is_an_error_and_no_panic() {
    let gpu = gpu();
    let scene = shadow_scene(1.0, Vec3::ZERO);
    let pose = Pose::new(&scene, None, 0.0);
    let view = look_at(Vec3::new(3.0, 4.0, 5.0), Vec3::ZERO, 40.0);
    let mut stage = Stage::new(&gpu, &scene, [66, 66]);
    stage.draw(&pose, view);
    gpu.device.destroy();
    let renderer = &mut stage.renderer;
    let message = renderer
        .read_channel(&gpu, Channel::Depth, &stage.uploaded.buffers)
        .unwrap_err()
        .to_string();
    assert!(message.starts_with("the GPU device was lost"), "{message}");
    assert!(gpu.lost().is_some());
    let again = renderer.uploader().upload(&gpu, &scene, &stage.config);
    assert!(gpu.check().is_err() && gpu.wait().is_err());
    drop(again);
}

/// Ten quads on a device whose bindings hold the vertices of two quads and of the ground.
#[test]
fn scenes_beyond_the_limits_report_the_allowed_size() {
    let quad = || quad(Vec3::ZERO, Vec3::X, Vec3::Y, 0);
    let mut many = scene([quad()], vec![matte(Vec3::ONE)]);
    let node = many.nodes[0].clone();
    many.nodes.resize(10, node);
    let mut gpu = gpu();
    let uploader = Uploader::new(&gpu);
    let config = Config::default();
    let fault = |gpu: &Gpu, scene: &Scene, config: &Config| {
        uploader.upload(gpu, scene, config).unwrap_err().to_string()
    };
    gpu.limits.max_storage_buffer_binding_size = 64 * 7;
    let line = fault(&gpu, &many, &config);
    let expected = "the scene: 20 triangles in 10 instances needed, 4 triangles in 2 instances allowed \
        (the merged normals and tangents are ";
    assert!(line.starts_with(expected), "{line}");
    assert!(line.contains(&gpu.info.name) && !line.contains('\n'), "{line}");
    // For a single instance, the message contains the fraction that is within the limit.
    let one = scene([quad()], vec![matte(Vec3::ONE)]);
    gpu.limits.max_storage_buffer_binding_size = 200;
    let line = fault(&gpu, &one, &config);
    assert!(line.contains("about 1 triangles allowed"), "{line}");
    // The configuration's limit is reported in the same way.
    let gpu = common::gpu();
    let mut config = Config::default();
    config.load.max_triangles = 7;
    assert_eq!(
        fault(&gpu, &many, &config),
        "the scene: 20 triangles in 10 instances needed, 6 triangles in 3 instances allowed \
            (load.max_triangles)"
    );
}

/// The first of several coincident surfaces is visible. The other surfaces are not even shaded, because they
/// are no nearer.
#[test]
fn the_first_of_coincident_surfaces_is_visible() {
    let gpu = gpu();
    let sheet = |material| quad(Vec3::new(-1.0, -1.0, 0.0), Vec3::X * 2.0, Vec3::Y * 2.0, material);
    let colors = [Vec3::X, Vec3::Y, Vec3::Z].map(matte).to_vec();
    let scene = scene([sheet(1), sheet(0), sheet(2)], colors);
    let mut stage = Stage::new(&gpu, &scene, [18, 18]);
    let pose = Pose::new(&scene, None, 0.0);
    stage.draw(&pose, look_at(Vec3::Z * 2.0, Vec3::ZERO, 30.0));
    let seen = stage.channel(Channel::Material);
    assert!(seen.texels.iter().all(|texel| texel[0] == 1.0));
}

/// All materials share one buffer, and those with layers another. Each surface is drawn with its own
/// material, in any order.
#[test]
fn every_surface_has_its_own_material_among_many() {
    let gpu = gpu();
    let count = 16;
    let color = |i: usize| Vec3::new(i as f32 / count as f32, 0.5, 1.0 - i as f32 / count as f32);
    let column = |i: usize| {
        let left = Vec3::new(i as f32 - 0.5 * count as f32, -8.0, 0.0);
        quad(left, Vec3::X, Vec3::Y * 16.0, count - 1 - i)
    };
    let materials = (0..count).map(|i| {
        let mut material = glowing(100.0 * color(i));
        material.alpha_mode = [AlphaMode::Opaque, AlphaMode::Mask][i % 2];
        if i % 3 == 0 {
            // Layers without effect, so the base stays the same.
            material.layers = Some(Box::default());
        }
        material
    });
    let scene = scene((0..count).map(column), materials.collect());
    let mut stage = Stage::new(&gpu, &scene, [count as u32, 4]);
    let pose = Pose::new(&scene, None, 0.0);
    let camera = View {
        projection: Projection::Orthographic { half_height: 2.0 },
        ..look_at(Vec3::Z * 4.0, Vec3::ZERO, 30.0)
    };
    stage.draw(&pose, camera);
    let lit = stage.channel(Channel::Lit);
    for i in 0..count {
        // Reflections of the surroundings are small in comparison.
        let seen = Vec3::from_slice(&lit.texels[i]) / 100.0;
        let off = (seen - color(count - 1 - i)).abs().max_element();
        assert!(off < 0.01, "column {i}: {seen}");
    }
}

/// A separate program draws the first frame of an opened scene. The scene fills the picture and is lit.
#[test]
fn the_first_frame_shows_the_opened_scene() {
    let gpu = gpu();
    let mut settings = Config::default();
    settings.occlusion.mode = OcclusionMode::Off;
    settings.reflections.mode = ReflectionMode::Off;
    let opened = OpenedScene::new(shadow_scene(1.0, Vec3::ZERO), &settings, Span::MOMENT);
    let mut renderer = Renderer::new(&gpu).unwrap();
    let mut uploaded = renderer
        .uploader()
        .upload(&gpu, &opened.scene, &settings)
        .unwrap();
    let input = FrameInput::first(&opened, &settings, SIZE).unwrap();
    let target = picture(&gpu, SIZE);
    let encoder = renderer
        .record(&gpu, &input, &mut uploaded, &target.view)
        .unwrap();
    renderer.submit(&gpu, encoder);
    let mut read = |channel| {
        renderer
            .read_channel(&gpu, channel, &uploaded.buffers)
            .unwrap()
            .texels
    };
    let covered = read(Channel::Position)
        .iter()
        .filter(|texel| texel[3] != 0.0)
        .count();
    let pixels = (SIZE[0] * SIZE[1]) as usize;
    assert!((pixels / 10..pixels).contains(&covered), "{covered} of {pixels}");
    let shown = gpu.read_texture(&target.texture).unwrap();
    let lightest = shown.chunks(4).map(|pixel| pixel[1]).max().unwrap();
    assert!(lightest > 100, "{lightest}");
}
