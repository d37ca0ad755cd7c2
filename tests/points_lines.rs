//! Points and lines: reading them from glTF and OBJ, and drawing them exactly to the pixel. Triangles in the
//! same scene do not change.

use crate::common::{self, gltf_builder};
use canopy::{
    config::{Config, Load, OcclusionMode, Rebuild, ShadowMode},
    gpu::Gpu,
    render::{Channel, FloatImage, View},
    scene::{
        self, AlphaMode, Material, Pose, Primitive, Progress, Projection, Scene, Shading, Transform, deform,
        framing::Viewpoint,
    },
};
use common::{
    gpu,
    scenes::{Stage, matte, node, quad, scene},
};
use glam::{Mat4, Vec3, Vec4};
use gltf_builder::{Builder, U8, U16};
use serde_json::{Value, json};

fn load_within(name: &str, bytes: &[u8], limits: &Load) -> scene::Result<Scene> {
    scene::load_bytes(name, bytes, limits, &Progress::default())
}

fn load(builder: &Builder) -> Scene {
    load_within("test.glb", &builder.glb(), &Config::default().load).unwrap()
}

fn obj(text: &str) -> Scene {
    load_within("test.obj", text.as_bytes(), &Config::default().load).unwrap()
}

fn warnings<'a>(scene: &'a Scene, part: &str) -> Vec<&'a String> {
    let holds = |line: &&String| line.contains(part);
    scene.warnings.iter().filter(holds).collect()
}

/// A file with a primitive of `mode` over this number of vertices, (0, 0, 0), (1, 0, 0), and so on, with the
/// additions of `more`.
fn along_x(mode: u32, vertices: u8, indices: Option<&[u8]>, more: &Value) -> Builder {
    let mut builder = Builder::new();
    let floats: Vec<f32> = (0..vertices).flat_map(|x| [f32::from(x), 0., 0.]).collect();
    let position = builder.floats("VEC3", &floats);
    let mut primitive = json!({ "mode": mode, "attributes": { "POSITION": position } });
    if let Some(indices) = indices {
        primitive["indices"] = json!(builder.accessor("SCALAR", U8, indices.len(), indices));
    }
    for (key, value) in more.as_object().into_iter().flatten() {
        primitive[key] = value.clone();
    }
    builder.primitive(primitive);
    builder
}

#[test]
fn every_mode_of_gltf_is_read() {
    type Case<'a> = (u32, u8, Option<&'a [u8]>, &'a [[u8; 2]]);
    // A point is listed as a line from a vertex to itself. The ends are x coordinates.
    let cases: [Case<'_>; 13] = [
        (0, 3, None, &[[0, 0], [1, 1], [2, 2]]),
        (0, 9, Some(&[7, 2, 7]), &[[7, 7], [2, 2], [7, 7]]),
        (1, 5, None, &[[0, 1], [2, 3]]),
        (1, 9, Some(&[8, 1, 1, 3, 5]), &[[8, 1], [1, 3]]),
        (1, 1, None, &[]),
        (2, 3, None, &[[0, 1], [1, 2], [2, 0]]),
        (2, 9, Some(&[8, 3, 5]), &[[8, 3], [3, 5], [5, 8]]),
        (2, 1, None, &[]),
        (3, 3, None, &[[0, 1], [1, 2]]),
        (3, 9, Some(&[8, 3, 8]), &[[8, 3], [3, 8]]),
        (3, 1, None, &[]),
        (0, 3, Some(&[]), &[]),
        (2, 3, Some(&[]), &[]),
    ];
    for (mode, vertices, indices, expected) in cases {
        let scene = load(&along_x(mode, vertices, indices, &json!({})));
        let case = format!("mode {mode}, {vertices} vertices, {indices:?}");
        let Some(primitive) = scene.meshes[0].primitives.first() else {
            assert!(expected.is_empty(), "{case}");
            assert_eq!(warnings(&scene, "holds no points or lines").len(), 1, "{case}");
            continue;
        };
        let x = |&vertex: &u32| primitive.positions[vertex as usize].x as u8;
        let points = primitive.points.iter().map(|point| [x(point); 2]);
        let lines = primitive.lines.iter().map(|line| line.each_ref().map(x));
        assert_eq!(points.chain(lines).collect::<Vec<_>>(), expected, "{case}");
        assert_eq!(primitive.points.is_empty(), mode != 0, "{case}");
        assert!(primitive.indices.is_empty(), "{case}");
        // Unused vertices are removed from the bounds and from memory.
        let mut used: Vec<u8> = expected.as_flattened().to_vec();
        used.sort_unstable();
        used.dedup();
        assert_eq!(primitive.positions.len(), used.len(), "{case}");
        assert_eq!(primitive.shading, Shading::Unlit, "{case}");
        assert!(warnings(&scene, "no triangles").is_empty(), "{case}");
    }
}

#[test]
fn normals_and_tangents_determine_the_shading_of_points_and_lines() {
    for (normals, tangents, shading) in [
        (false, false, Shading::Unlit),
        (false, true, Shading::Unlit),
        (true, false, Shading::Plain),
        (true, true, Shading::Mapped),
    ] {
        let mut builder = along_x(1, 2, None, &json!({}));
        if normals {
            let normal = builder.floats("VEC3", &[0., 0., 2., 1., 0., 0.]);
            builder.first_primitive()["attributes"]["NORMAL"] = json!(normal);
        }
        if tangents {
            let tangent = builder.floats("VEC4", &[0., 1., 0., -1.].repeat(2));
            builder.first_primitive()["attributes"]["TANGENT"] = json!(tangent);
        }
        let scene = load(&builder);
        let primitive = &scene.meshes[0].primitives[0];
        assert_eq!(primitive.shading, shading);
        assert_eq!(primitive.tangents.len(), 2);
        if normals {
            assert_eq!(primitive.normals, [Vec3::Z, Vec3::X]);
        }
        if shading == Shading::Mapped {
            assert_eq!(primitive.tangents[0], Vec4::new(0., 1., 0., -1.));
        }
    }
}

#[test]
fn a_file_with_many_points_and_lines_gives_one_warning() {
    let mut builder = Builder::triangle();
    for number in 0..11 {
        builder.primitive(json!({ "mode": number % 4, "attributes": { "POSITION": 0 } }));
    }
    let scene = load(&builder);
    assert_eq!(
        scene
            .meshes
            .iter()
            .filter(|mesh| mesh.primitives.len() == 1)
            .count(),
        12
    );
    assert_eq!(scene.warnings.len(), 1, "{:?}", scene.warnings);
    assert!(scene.warnings[0].starts_with("test.glb: holds points or lines"));
    // Points 3, 7 (3 each). Lines 1, 3, 2 in each of three modes, except the last loop and strip.
    assert_eq!(scene.line_and_point_counts(), [3 * (1 + 3 + 2) - 2, 3 * 3]);
    let scene = obj("v 0 0 0\nv 1 0 0\nv 1 1 0\np 1\nl 1 2\np 2 3\nl 1 2 3\nf 1 2 3\n");
    assert_eq!(scene.warnings.len(), 1, "{:?}", scene.warnings);
    assert!(load(&Builder::triangle()).warnings.is_empty());
}

#[test]
fn hostile_points_and_lines_give_a_one_line_error() {
    let refused = |builder: &Builder, limits: &Load, parts: &[&str]| {
        let message = load_within("test.glb", &builder.glb(), limits)
            .unwrap_err()
            .to_string();
        assert!(!message.contains('\n'), "{message}");
        for part in parts {
            assert!(message.contains(part), "\"{part}\" is missing in: {message}");
        }
    };
    let limits = Config::default().frame.opening.load;
    for mode in 0..4 {
        let past = along_x(mode, 3, Some(&[0, 1, 2, 3]), &json!({}));
        refused(
            &past,
            &limits,
            &["mesh 0 primitive 0", "index 3", "element 3", "3 vertices"],
        );
        // A primitive restart value is not an index.
        let restart = along_x(mode, 3, Some(&[0, 1, 255, 2]), &json!({}));
        refused(&restart, &limits, &["index 255"]);
        let few = Load {
            max_triangles: 5,
            ..limits.clone()
        };
        // Every instance counts.
        let mut copies = along_x(mode, 4, None, &json!({}));
        copies.json["nodes"] = json!(vec![json!({ "mesh": 0 }); 3]);
        refused(&copies, &few, &["lines or points", "load.max_triangles"]);
        let few = Load {
            max_vertices: 11,
            ..limits.clone()
        };
        refused(&copies, &few, &["12 vertices", "load.max_vertices"]);
    }
    let mut endless = along_x(0, 3, None, &json!({}));
    let zeros = json!({ "type": "SCALAR", "componentType": 5125, "count": 4_000_000_000_u32 });
    endless.first_primitive()["indices"] = json!(1);
    endless.push("accessors", zeros);
    refused(&endless, &limits, &["4000000000 lines or points"]);
    let stream = json!({ "bufferView": 0, "attributes": {} });
    let draco = json!({ "extensions": { "KHR_draco_mesh_compression": stream } });
    let mut streamed = along_x(1, 2, None, &draco);
    streamed.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    streamed.json["extensionsUsed"] = json!(["KHR_draco_mesh_compression"]);
    refused(&streamed, &limits, &["holds no points or lines"]);
    let message = load_within(
        "test.obj",
        b"v 0 0 0\nv 1 0 0\nl 1 2 1 2 1 2 1\n",
        &Load {
            max_triangles: 5,
            ..limits
        },
    );
    let message = message.unwrap_err().to_string();
    assert!(message.contains("6 lines or points"), "{message}");
}

#[test]
fn points_and_lines_without_finite_positions_are_left_out() {
    let mut builder = Builder::new();
    let points = [0., 0., 0., f32::NAN, 0., 0., 2., 0., 0., 3., 0., 0.];
    let position = builder.floats("VEC3", &points);
    builder.primitive(json!({ "mode": 3, "attributes": { "POSITION": position } }));
    let scene = load(&builder);
    let primitive = &scene.meshes[0].primitives[0];
    assert_eq!(primitive.positions, [Vec3::X * 2., Vec3::X * 3.]);
    assert_eq!(primitive.lines, [[0, 1]]);
    assert_eq!(warnings(&scene, "NaN or infinite").len(), 1);
    let scene = obj("v 0 0 0\nv nan 0 0\nv 1 0 0\nl 1 2\nl 1\np 9\nl 3 1 0\np\np 1 2\nl 1 3\n");
    let primitive = &scene.meshes[0].primitives[0];
    assert_eq!((primitive.lines.len(), primitive.points.len()), (1, 0));
    assert_eq!(
        warnings(&scene, "4 points and lines lack vertices").len(),
        1,
        "{:?}",
        scene.warnings
    );
    assert_eq!(
        warnings(&scene, "2 points and lines have corners that are NaN").len(),
        1
    );
}

#[test]
fn obj_has_points_and_lines_of_every_form() {
    let scene = obj(
        "v 0 0 0\nv 1 0 0 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0.25 0.75\nf 1 2 3\nl 1/1 2/1 -1\np 1 3\n\
         usemtl none\nl 2 3\no other\np 4\n",
    );
    let [first, other] = &scene.meshes[..] else {
        panic!("{} meshes", scene.meshes.len());
    };
    assert_eq!(other.name, "other");
    assert_eq!(other.primitives[0].positions, [Vec3::Y]);
    let [surface, thin, of_none] = &first.primitives[..] else {
        panic!("{} primitives", first.primitives.len());
    };
    assert!(surface.lines.is_empty() && surface.points.is_empty());
    assert_eq!(surface.material, thin.material);
    assert_ne!(surface.material, of_none.material);
    let at = |&vertex: &u32| thin.positions[vertex as usize];
    let lines: Vec<_> = thin.lines.iter().map(|line| line.each_ref().map(at)).collect();
    assert_eq!(lines, [[Vec3::ZERO, Vec3::X], [Vec3::X, Vec3::Y]]);
    let points: Vec<_> = thin.points.iter().map(at).collect();
    assert_eq!(points, [Vec3::ZERO, Vec3::new(1., 1., 0.)]);
    // A vertex with a texture coordinate, and the same vertex without one.
    assert_eq!(thin.positions.len(), 5);
    assert_eq!(thin.uv0[thin.lines[0][0] as usize], glam::Vec2::splat(0.25));
    assert_eq!(thin.colors[thin.lines[0][1] as usize], Vec4::new(1., 0., 0., 1.));
    assert_eq!(thin.shading, Shading::Unlit);
    let near = scene.materials[thin.material].base_color.truncate();
    assert!(near.min_element() > 0.5, "undefined is grey, not black: {near}");
}

// Pictures.

const SIDE: usize = 16;

/// A view along −Z with one pixel per unit. The pixel in column x and row y (from the bottom) has its centre
/// at (x, y, z).
fn pixels() -> View {
    let middle = Vec3::new(0.5, 0.5, 0.0) * (SIDE as f32 - 1.0) + Vec3::Z * 50.0;
    View {
        world_from_view: Mat4::from_translation(middle),
        projection: Projection::Orthographic {
            half_height: SIDE as f32 / 2.0,
        },
        near: 1.0,
        far: 100.0,
    }
}

fn texel(image: &FloatImage, x: usize, y: usize) -> [f32; 4] {
    image.texels[(SIDE - 1 - y) * SIDE + x]
}

/// The covered pixels, as (x, y).
fn covered(image: &FloatImage) -> Vec<[usize; 2]> {
    let all = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| [x, y]));
    all.filter(|&[x, y]| texel(image, x, y)[3] == 1.0).collect()
}

/// Points or lines with vertices at `positions` and normals along +Z, unlit.
fn thin(positions: &[[f32; 3]], lines: &[[u32; 2]], points: &[u32], material: usize) -> Primitive {
    let count = positions.len();
    Primitive {
        material,
        positions: positions.iter().map(|&p| Vec3::from(p)).collect(),
        normals: vec![Vec3::Z; count],
        tangents: vec![Vec4::new(1.0, 0.0, 0.0, 1.0); count],
        lines: lines.to_vec(),
        points: points.to_vec(),
        shading: Shading::Unlit,
        ..Primitive::default()
    }
}

fn draw(stage: &mut Stage<'_>) -> Vec<u8> {
    let pose = Pose::new(stage.scene, None, 0.0);
    stage.draw(&pose, pixels())
}

const MODES: [(ShadowMode, bool); 4] = [
    (ShadowMode::Off, true),
    (ShadowMode::Map, true),
    (ShadowMode::Rays, true),
    (ShadowMode::Rays, false),
];

#[test]
fn unlit_points_and_lines_are_a_pixel_wide_in_their_colour() {
    let gpu = gpu();
    let mut dots = thin(&[[3., 4., 0.], [9., 4., 0.]], &[], &[0, 1], 1);
    dots.colors = vec![Vec4::new(0.5, 1., 1., 1.), Vec4::ONE];
    let strokes = thin(
        &[[2., 8., 0.], [12., 8., 0.], [5., 10., 0.], [5., 14., 0.]],
        &[[0, 1], [2, 3]],
        &[],
        0,
    );
    let colored = Material {
        base_color: Vec4::new(0.5, 0.25, 1.0, 1.0),
        emissive: Vec3::new(0.0, 0.5, 0.0),
        metallic: 1.0,
        ..Material::default()
    };
    let scene = scene([strokes, dots], vec![Material::default(), colored]);
    // Within a step of the G-buffer's albedo.
    let near = |a: [f32; 4], b: [f32; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
    let mut stage = Stage::new(&gpu, &scene, [SIDE as u32; 2]);
    for (mode, compact) in MODES {
        (stage.config.shadows.mode, stage.config.shadows.compact_rays) = (mode, compact);
        draw(&mut stage);
        let lit = stage.channel(Channel::Lit);
        let seen = covered(&lit);
        let row = |y: usize| seen.iter().filter(move |pixel| pixel[1] == y);
        let column = |x: usize| seen.iter().filter(move |pixel| pixel[0] == x);
        // Adapters differ in the pixels that the ends of a line cover.
        assert!((10..=11).contains(&row(8).count()), "{seen:?}");
        assert!(row(8).all(|&[x, _]| (2..=12).contains(&x)), "{seen:?}");
        assert!(
            (4..=5).contains(&column(5).filter(|p| p[1] > 8).count()),
            "{seen:?}"
        );
        assert_eq!(row(4).collect::<Vec<_>>(), [&[3, 4], &[9, 4]]);
        assert_eq!(
            seen.len(),
            row(8).count() + 2 + column(5).filter(|p| p[1] > 8).count()
        );
        assert_eq!(texel(&lit, 7, 8), [1., 1., 1., 1.]);
        // Factor × colour + emission.
        assert!(near(texel(&lit, 3, 4), [0.25, 0.75, 1., 1.]));
        assert!(near(texel(&lit, 9, 4), [0.5, 0.75, 1., 1.]));
        for (channel, dot, stroke) in [
            (Channel::Mesh, 1.0, 0.0),
            (Channel::Material, 1.0, 0.0),
            (Channel::Depth, 50.0, 50.0),
            (Channel::Albedo, 0.25, 1.0),
            (Channel::Shadow, 1.0, 1.0),
            (Channel::Cost, 0.0, 0.0),
        ] {
            let image = stage.channel(channel);
            let found = [texel(&image, 3, 4)[0], texel(&image, 7, 8)[0]];
            let off = (found[0] - dot).abs().max((found[1] - stroke).abs());
            assert!(off < 1e-3, "{channel:?} {mode:?}: {found:?}");
            assert_eq!(covered(&image), seen, "{channel:?} {mode:?}");
        }
        let position = texel(&stage.channel(Channel::Position), 9, 4);
        assert!((Vec3::from_slice(&position) - Vec3::new(9., 4., 0.)).length() < 1e-4);
    }
    assert_eq!(stage.renderer.stats().rays, 0);
    let stats = stage.renderer.stats();
    assert_eq!((stats.triangles, stats.lines, stats.points), (0, 2, 2));
    // The same lines with other materials.
    let mut other = scene.clone();
    other.meshes[0].primitives[0].material = 1;
    stage.scene = &other;
    stage.uploaded.write_variant(&gpu, &other);
    draw(&mut stage);
    let lit = texel(&stage.channel(Channel::Lit), 7, 8);
    assert!(near(lit, [0.5, 0.75, 1., 1.]), "{lit:?}");
    assert_eq!(texel(&stage.channel(Channel::Material), 7, 8)[0], 1.0);
}

#[test]
fn lines_are_depth_tested_against_surfaces() {
    let gpu = gpu();
    let wall = quad(Vec3::new(-10., -10., 0.), Vec3::X * 15.5, Vec3::Y * 40., 0);
    let ends = [[1., 4., 1.], [14., 4., 1.], [1., 8., -1.], [14., 8., -1.]];
    let cut = thin(&ends, &[[0, 1], [2, 3]], &[], 1);
    let mut faint = cut.clone();
    faint.material = 2;
    faint.positions.iter_mut().for_each(|p| p.y += 2.0);
    let masked = Material {
        alpha_mode: AlphaMode::Mask,
        base_color: Vec4::new(1., 1., 1., 0.4),
        ..Material::default()
    };
    let scene = scene(
        [wall, cut, faint],
        vec![matte(Vec3::ONE), Material::default(), masked],
    );
    let mut stage = Stage::new(&gpu, &scene, [SIDE as u32; 2]);
    draw(&mut stage);
    let mesh = stage.channel(Channel::Mesh);
    assert_eq!([3, 8, 12].map(|x| texel(&mesh, x, 4)[0]), [1., 1., 1.]);
    assert_eq!([3, 8, 12].map(|x| texel(&mesh, x, 8)[0]), [0., 1., 1.]);
    assert_eq!(texel(&mesh, 12, 6)[3], 0.0, "alpha below the cutoff is cut out");
}

#[test]
fn blended_lines_are_composited_in_order_with_blended_surfaces() {
    let gpu = gpu();
    let blended = |color: Vec4| Material {
        alpha_mode: AlphaMode::Blend,
        base_color: color,
        unlit: true,
        ..Material::default()
    };
    // A green pane with a line in front of it and one behind it.
    let pane = quad(Vec3::new(-10., -10., 0.), Vec3::X * 40., Vec3::Y * 40., 0);
    let front = thin(&[[1., 4., 1.], [14., 4., 1.]], &[[0, 1]], &[], 1);
    let back = thin(&[[3., 8., -1.], [9., 8., -1.]], &[], &[0, 1], 1);
    let materials = vec![
        blended(Vec4::new(0., 1., 0., 0.5)),
        blended(Vec4::new(1., 0., 0., 0.25)),
    ];
    let scene = scene([pane, front, back], materials);
    let mut stage = Stage::new(&gpu, &scene, [SIDE as u32; 2]);
    stage.config.image.background = [0.0, 0.0, 1.0];
    for (mode, _) in MODES {
        stage.config.shadows.mode = mode;
        draw(&mut stage);
        let lit = stage.channel(Channel::Lit);
        let rgb = |x, y| Vec3::from_slice(&texel(&lit, x, y));
        assert_eq!(rgb(2, 2), Vec3::new(0., 0.5, 0.5));
        assert_eq!(rgb(7, 4), Vec3::new(0.25, 0.375, 0.375), "over the pane");
        assert_eq!(rgb(9, 8), Vec3::new(0.125, 0.5, 0.375), "behind it");
        assert_eq!(texel(&stage.channel(Channel::Mesh), 7, 4)[3], 0.0);
    }
}

#[test]
fn points_and_lines_with_normals_are_lit_like_surfaces() {
    let gpu = gpu();
    let mut lit = thin(&[[3., 4., 0.], [9., 4., 0.]], &[], &[0, 1], 0);
    lit.normals = vec![Vec3::new(0., 0.6, 0.8), Vec3::new(0., 0.6, 0.8)];
    lit.tangents = vec![Vec4::new(1., 0., 0., 1.); 2];
    lit.uv0 = vec![glam::Vec2::ZERO; 2];
    // A surface with the same normal beside it.
    let (u, v) = (Vec3::X * 4., Vec3::new(0., 4., -3.));
    let surface = quad(Vec3::new(4., 9., 0.), u, v, 1);
    let mut scene = scene([lit, surface], vec![matte(Vec3::new(0.8, 0.4, 0.2)); 2]);
    // A normal tilted by 45° along the tangent.
    scene.images.push(scene::Image::from_rgba8(
        "leaning",
        1,
        1,
        vec![218, 128, 218, 255],
    ));
    scene.textures.push(scene::Texture {
        image: 0,
        sampler: scene::Sampler::default(),
    });
    scene.materials[0].normal_texture = Some(scene::TextureRef {
        texture: 0,
        uv_set: 0,
        texture_from_uv: glam::Affine2::IDENTITY,
    });
    scene.materials[0].layers = Some(Box::new(scene::Layers {
        clearcoat: 1.0,
        ..scene::Layers::default()
    }));
    for (mode, compact) in MODES {
        for (shading, normal) in [
            (Shading::Plain, Vec3::new(0., 0.6, 0.8)),
            (Shading::Mapped, Vec3::new(0.707, 0.4243, 0.5657)),
        ] {
            scene.meshes[0].primitives[0].shading = shading;
            let mut stage = Stage::new(&gpu, &scene, [SIDE as u32; 2]);
            (stage.config.shadows.mode, stage.config.shadows.compact_rays) = (mode, compact);
            // Ambient occlusion rays find no occluder either.
            stage.config.occlusion.mode = OcclusionMode::Rays;
            draw(&mut stage);
            let seen = Vec3::from_slice(&texel(&stage.channel(Channel::Normal), 3, 4));
            assert!((seen - normal).length() < 0.01, "{shading:?} {mode:?}: {seen}");
            let lit = stage.channel(Channel::Lit);
            let (dot, surface) = (texel(&lit, 3, 4), texel(&lit, 5, 10));
            assert_eq!(texel(&stage.channel(Channel::Mesh), 5, 10)[0], 1.0);
            let away = (Vec3::from_slice(&dot) - Vec3::from_slice(&surface))
                .abs()
                .max_element();
            if shading == Shading::Plain {
                assert!(surface[0] > 0.05 && away < 2e-3, "{mode:?} {dot:?} {surface:?}");
            } else {
                assert!(away > 0.01, "{mode:?} {dot:?}");
            }
            assert_eq!(texel(&stage.channel(Channel::Ambient), 3, 4)[0], 1.0);
        }
    }
}

/// The occlusion of a wall does not darken a point in front of it, although the filter reads the wall's
/// pixels around it. The wall is at the position that the zero words of a pixel without rays decode to:
/// through the origin, facing −Z.
#[test]
fn occlusion_around_a_point_does_not_darken_it() {
    let gpu = gpu();
    let wall = quad(Vec3::new(40., -40., 0.), Vec3::X * -80., Vec3::Y * 80., 0);
    let lid = quad(Vec3::new(-400., -400., -60.), Vec3::X * 800., Vec3::Y * 800., 0);
    let mut dot = thin(&[[8., 8., -1.]], &[], &[0], 0);
    dot.normals = vec![Vec3::NEG_Z];
    dot.shading = Shading::Plain;
    let scene = scene([wall, lid, dot], vec![matte(Vec3::ONE)]);
    let mut stage = Stage::new(&gpu, &scene, [SIDE as u32; 2]);
    stage.config.occlusion.mode = OcclusionMode::Rays;
    let behind = Mat4::from_translation(Vec3::new(7.5, 7.5, -50.0));
    let view = View {
        world_from_view: behind * Mat4::from_rotation_y(std::f32::consts::PI),
        ..pixels()
    };
    stage.draw(&Pose::new(&scene, None, 0.0), view);
    let (mesh, ambient) = (stage.channel(Channel::Mesh), stage.channel(Channel::Ambient));
    for x in 6..=9 {
        let [mesh, ambient] = [texel(&mesh, x, 8)[0], texel(&ambient, x, 8)[0]];
        assert_eq!(mesh, if x == 7 { 2.0 } else { 0.0 });
        assert!(
            if x == 7 { ambient == 1.0 } else { ambient < 0.2 },
            "{x}: {ambient}"
        );
    }
}

#[test]
fn points_and_lines_follow_nodes_skins_morphs_and_visibility() {
    let gpu = gpu();
    let mut dot = thin(&[[1., 1., 0.]], &[], &[0], 0);
    dot.targets = vec![scene::MorphTarget {
        positions: vec![Vec3::Y * 2.0],
        ..scene::MorphTarget::default()
    }];
    let mut skinned = thin(&[[1., 1., 0.]], &[], &[0], 0);
    skinned.joints = vec![0, 0, 0, 0];
    skinned.joint_weights = vec![1.0, 0.0, 0.0, 0.0];
    skinned.influences_per_vertex = 4;
    let mut scene = scene([dot, skinned], vec![Material::default()]);
    scene.nodes[0].transform = Transform::Matrix(Mat4::from_translation(Vec3::new(4., 0., 0.)).as_dmat4());
    scene.nodes[0].weights = vec![3.0];
    scene
        .nodes
        .push(node(Mat4::from_translation(Vec3::new(9., 8., 0.))));
    scene.nodes[1].skin = Some(0);
    scene.skins.push(scene::Skin {
        joints: vec![2],
        joint_from_mesh: vec![Mat4::IDENTITY],
    });
    let rest = Pose::new(&scene, None, 0.0);
    let mut moved = rest.clone();
    moved.weights[0] = vec![0.5];
    moved.visible[1] = false;
    // A static tile. Only the trees of moving meshes are built then, and they have no triangles.
    let mut beside = scene.clone();
    let tile = quad(Vec3::new(0.5, 12.5, 0.), Vec3::X, Vec3::Y, 0);
    beside.nodes.push(node(Mat4::IDENTITY));
    beside.nodes[3].mesh = Some(2);
    beside.meshes.push(scene::Mesh {
        name: String::new(),
        primitives: vec![tile],
    });
    for (scene, tile) in [(&scene, &[][..]), (&beside, &[[1, 13]])] {
        let mut stage = Stage::new(&gpu, scene, [SIDE as u32; 2]);
        stage.config.shadows.mode = ShadowMode::Rays;
        for rebuild in [Rebuild::Frame, Rebuild::Changed, Rebuild::Refit] {
            stage.config.tree.rebuild = rebuild;
            for (pose, dots) in [(&rest, &[[5, 7], [10, 9]][..]), (&moved, &[[5, 2]])] {
                let mut pose = pose.clone();
                pose.world_from_node
                    .resize(scene.nodes.len(), glam::DMat4::IDENTITY);
                pose.weights.resize(scene.nodes.len(), Vec::new());
                pose.visible.resize(scene.nodes.len(), true);
                stage.draw(&pose, pixels());
                let seen = covered(&stage.channel(Channel::Lit));
                assert_eq!(seen, [dots, tile].concat(), "{rebuild:?}");
            }
        }
    }
}

#[test]
fn points_and_lines_do_not_affect_the_lighting_of_triangles() {
    let gpu = gpu();
    let wall = quad(Vec3::new(-10., -10., 0.), Vec3::X * 40., Vec3::Y * 40., 0);
    let cover = quad(Vec3::new(4., 4., 3.), Vec3::X * 6., Vec3::Y * 6., 1);
    let bare = scene([wall, cover], vec![matte(Vec3::ONE); 3]);
    let mut mixed = bare.clone();
    // Points and lines between and in front of the triangles, far away, and across the sun's path to the
    // wall.
    let ends = [
        [1., 2., 1.],
        [14., 13., 1.],
        [0., 6., 4.],
        [15., 6., 4.],
        [-900., 0., 700.],
        [3., 12., 5.],
    ];
    let mut lines = thin(&ends, &[[0, 1], [2, 3], [0, 4]], &[5], 2);
    lines.shading = Shading::Plain;
    let mut blended = bare.materials[2].clone();
    blended.alpha_mode = AlphaMode::Blend;
    mixed.materials.push(blended);
    let mut faint = thin(&[[0., 0., 9.], [700., 12., 9.]], &[[0, 1]], &[], 3);
    faint.shading = Shading::Plain;
    for (number, primitive) in [lines, faint].into_iter().enumerate() {
        let mut holder = node(Mat4::IDENTITY);
        // In the file, before the triangles as well as after them.
        holder.mesh = Some(mixed.meshes.len());
        mixed.nodes.insert(2 * number, holder);
        mixed.meshes.push(scene::Mesh {
            name: String::new(),
            primitives: vec![primitive],
        });
    }
    let taken = |scene: &Scene, (mode, compact)| {
        let mut stage = Stage::new(&gpu, scene, [SIDE as u32; 2]);
        (stage.config.shadows.mode, stage.config.shadows.compact_rays) = (mode, compact);
        stage.config.occlusion.mode = OcclusionMode::Rays;
        stage.config.occlusion.filter = false;
        let config = &mut stage.config;
        config.sun.direction = [0.3, -0.2, -1.0];
        draw(&mut stage);
        let rays = stage.renderer.stats().rays;
        (
            CHANNELS.map(|channel| stage.channel(channel)),
            stage.merged(),
            rays,
        )
    };
    for mode in MODES {
        let ((with, merged, rays), (without, merged_bare, rays_bare)) =
            (taken(&mixed, mode), taken(&bare, mode));
        let mut same = 0;
        for i in 0..SIDE * SIDE {
            // The meshes of the scene without points and lines are the second and the third instance of the
            // mixed one.
            let both = [&with, &without].map(|images| images[0].texels[i][0]);
            if both[0] != both[1] + 1.0 || blended_over(i) {
                continue;
            }
            same += 1;
            for (channel, (a, b)) in CHANNELS.iter().zip(with.iter().zip(&without)).skip(1) {
                assert_eq!(a.texels[i], b.texels[i], "{channel:?} at {i} {mode:?}");
            }
        }
        assert!((SIDE * SIDE / 2..SIDE * SIDE).contains(&same), "{same}");
        assert_eq!(merged.indices.len(), merged_bare.indices.len());
        assert!(rays <= rays_bare, "{rays} {rays_bare}");
    }
}

const CHANNELS: [Channel; 6] = [
    Channel::Mesh,
    Channel::Lit,
    Channel::Shadow,
    Channel::Ambient,
    Channel::Cost,
    Channel::Normal,
];

/// True if a pixel is covered by the blended line of the scene above, or possibly covered because it is near
/// the line.
fn blended_over(index: usize) -> bool {
    SIDE - 1 - index / SIDE <= 1
}

#[test]
fn a_file_of_only_lines_is_framed_and_drawn() {
    let gpu = gpu();
    let edges: Vec<u8> = (0..8_u8)
        .flat_map(|i| [1, 2, 4].map(move |bit| [i, i ^ bit]))
        .filter(|[a, b]| a < b)
        .flatten()
        .collect();
    let mut builder = Builder::new();
    let corner = |i: u8| [1, 2, 4].map(|bit| if i & bit == 0 { 100.0 } else { 104.0_f32 });
    let corners: Vec<f32> = (0..8).flat_map(corner).collect();
    let position = builder.floats("VEC3", &corners);
    let indices = builder.accessor(
        "SCALAR",
        U16,
        24,
        &edges.iter().flat_map(|&e| [e, 0]).collect::<Vec<_>>(),
    );
    let color = builder.accessor("VEC4", U8, 8, &[255, 0, 0, 255].repeat(8));
    builder.json["accessors"][color]["normalized"] = json!(true);
    builder.primitive(json!({
        "mode": 1, "indices": indices, "attributes": { "POSITION": position, "COLOR_0": color },
    }));
    let scene = load(&builder);
    assert_eq!(scene.line_and_point_counts(), [12, 0]);
    let pose = Pose::new(&scene, None, 0.0);
    let points = deform::positions(&scene, &pose);
    let lens = Projection::Perspective { fov_y: 0.8 };
    let framed = Viewpoint::framing(&points, lens, 1.0);
    let bounds = scene::bounds::Bounds::new(&scene).scene(&scene, &pose);
    assert_eq!((bounds.min, bounds.max), (Vec3::splat(100.), Vec3::splat(104.)));
    let view = View::new(&framed, bounds, f32::INFINITY, None);
    let seen = |gpu: &Gpu| {
        let mut stage = Stage::new(gpu, &scene, [64, 64]);
        stage.config.shadows.mode = ShadowMode::Rays;
        stage.draw(&pose, view);
        stage.channel(Channel::Lit)
    };
    let lit = seen(&gpu);
    let covered = || (0..64 * 64).filter(|i| lit.texels[*i][3] == 1.0);
    assert!(
        covered().all(|i| lit.texels[i] == [1., 0., 0., 1.]),
        "{:?}",
        covered().map(|i| lit.texels[i]).collect::<Vec<_>>()
    );
    let (columns, rows) = (covered().map(|i| i % 64), covered().map(|i| i / 64));
    let span = |covered: Vec<usize>| covered.iter().max().unwrap() - covered.iter().min().unwrap();
    let spans = [span(columns.collect()), span(rows.collect())];
    assert!(
        spans[0].max(spans[1]) > 54 && spans[0].min(spans[1]) > 40,
        "{spans:?}"
    );
    // The edges, without anything between them.
    assert!((300..900).contains(&covered().count()), "{}", covered().count());
    assert_eq!(seen(&common::portable_gpu()).texels, lit.texels, "anywhere");
}
