//! Loading scenes: right values from files of every kind, and one clear line for every broken one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common {
    pub(crate) mod draco;
    pub(crate) mod gltf_builder;
}

use canopy::{
    Error,
    config::Load,
    reference::deform::deform,
    scene::{
        self, AlphaMode, LightKind, Pose, Primitive, Progress, Projection, Scene, Transform, Wrap,
    },
};
use common::draco::{DRACO, Method, compressed};
use common::gltf_builder::{Builder, F32, I8, I16, U8, U16, U32};
use glam::{Mat4, Vec2, Vec3, Vec4};
use serde_json::{Value, json};
use std::{fs, path::Path};
use tempfile::TempDir;

const LIMITS: Load = Load {
    max_file_bytes: 1 << 24,
    max_image_pixels: 1 << 16,
    max_texture_bytes: 1 << 20,
    max_triangles: 100_000,
    max_nodes: 200_000,
    max_morph_bytes: 1 << 20,
};

fn load_files(files: &[&Path]) -> canopy::Result<Scene> {
    let files: Vec<_> = files.iter().map(|f| f.to_path_buf()).collect();
    scene::load(&files, &LIMITS, &Progress::default())
}

fn try_bytes(name: &str, bytes: &[u8]) -> canopy::Result<Scene> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    load_files(&[&path])
}

fn load(builder: &Builder) -> Scene {
    try_bytes("test.glb", &builder.glb()).unwrap()
}

/// The one line that refuses some bytes; it always names the file.
fn refusal(name: &str, bytes: &[u8]) -> String {
    let message = try_bytes(name, bytes).unwrap_err().to_string();
    assert!(
        message.contains(name) && !message.contains('\n'),
        "{message}"
    );
    message
}

#[track_caller]
fn refused(builder: &Builder, parts: &[&str]) {
    let message = refusal("test.glb", &builder.glb());
    for part in parts {
        assert!(
            message.contains(part),
            "\"{part}\" is missing in: {message}"
        );
    }
}

#[track_caller]
fn warned(scene: &Scene, part: &str) {
    assert!(
        scene.warnings.iter().any(|w| w.contains(part)),
        "\"{part}\" is missing in {:?}",
        scene.warnings
    );
}

fn only(scene: &Scene) -> &Primitive {
    &scene.meshes[0].primitives[0]
}

fn png(width: u32, height: u32, rgba: [u8; 4]) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    image::RgbaImage::from_pixel(width, height, image::Rgba(rgba))
        .write_to(&mut out, image::ImageFormat::Png)
        .unwrap();
    out.into_inner()
}

// Values.

#[test]
fn reads_every_component_type() {
    let bytes = |values: &[i32], size: usize| -> Vec<u8> {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes()[..size].to_vec())
            .collect()
    };
    let points = [0, 0, 0, 100, 0, 0, 0, 127, 0];
    for (component, size, largest) in [
        (I8, 1, 127.),
        (U8, 1, 255.),
        (I16, 2, 32767.),
        (U16, 2, 65535.),
    ] {
        for normalized in [false, true] {
            let mut builder = Builder::new();
            let position = builder.accessor("VEC3", component, 3, &bytes(&points, size));
            builder.json["accessors"][position]["normalized"] = json!(normalized);
            builder.primitive(json!({ "attributes": { "POSITION": position } }));
            let scale = if normalized { 1. / largest } else { 1. };
            let expected = [Vec3::ZERO, Vec3::X * 100. * scale, Vec3::Y * 127. * scale];
            for (found, expected) in only(&load(&builder)).positions.iter().zip(expected) {
                assert!(
                    found.abs_diff_eq(expected, 1e-6),
                    "{component} {normalized}: {found} {expected}"
                );
            }
        }
    }
    // The most negative integer is −1, not less.
    let mut builder = Builder::triangle();
    let normal = builder.accessor(
        "VEC3",
        I8,
        3,
        &bytes(&[-128, 0, 0, 0, -127, 0, 0, 0, 127], 1),
    );
    builder.json["accessors"][normal]["normalized"] = json!(true);
    builder.first_primitive()["attributes"]["NORMAL"] = json!(normal);
    assert_eq!(
        only(&load(&builder)).normals,
        [Vec3::NEG_X, Vec3::NEG_Y, Vec3::Z]
    );
}

#[test]
fn reads_every_index_type() {
    for (component, bytes) in [
        (U8, vec![2, 1, 0]),
        (U16, vec![2, 0, 1, 0, 0, 0]),
        (U32, vec![2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
    ] {
        let mut builder = Builder::triangle();
        let indices = builder.accessor("SCALAR", component, 3, &bytes);
        builder.first_primitive()["indices"] = json!(indices);
        builder.first_primitive()["attributes"]["NORMAL"] = json!(0);
        assert_eq!(only(&load(&builder)).indices, [[2, 1, 0]], "{component}");
    }
}

#[test]
fn reads_interleaved_views() {
    let mut builder = Builder::new();
    let mut bytes = Vec::new();
    for v in 0..3_u8 {
        bytes.extend(
            [f32::from(v), f32::from(v == 2), 0., 0.5, f32::from(v)]
                .iter()
                .flat_map(|f| f.to_le_bytes()),
        );
    }
    let view = builder.view(&bytes);
    builder.json["bufferViews"][view]["byteStride"] = json!(20);
    let position = builder.push(
        "accessors",
        json!({ "bufferView": view, "type": "VEC3", "componentType": F32, "count": 3 }),
    );
    let uv = builder.push("accessors", json!({ "bufferView": view, "byteOffset": 12, "type": "VEC2", "componentType": F32, "count": 3 }));
    builder.primitive(json!({ "attributes": { "POSITION": position, "TEXCOORD_0": uv } }));
    let scene = load(&builder);
    assert_eq!(
        only(&scene).positions,
        [Vec3::ZERO, Vec3::X, Vec3::new(2., 1., 0.)]
    );
    assert_eq!(
        only(&scene).uv0,
        [Vec2::new(0.5, 0.), Vec2::new(0.5, 1.), Vec2::new(0.5, 2.)]
    );
}

#[test]
fn reads_sparse_accessors() {
    for with_base in [true, false] {
        let mut builder = Builder::triangle();
        let indices = builder.view(&[0, 2]);
        let values = builder.view(&[5., 0., 0., 0., 7., 0.].map(f32::to_le_bytes).concat());
        let sparse = json!({ "count": 2, "indices": { "bufferView": indices, "componentType": U8 }, "values": { "bufferView": values } });
        builder.json["accessors"][0]["sparse"] = sparse;
        if !with_base {
            builder.json["accessors"][0]
                .as_object_mut()
                .unwrap()
                .remove("bufferView");
        }
        let middle = if with_base { Vec3::X } else { Vec3::ZERO };
        assert_eq!(
            only(&load(&builder)).positions,
            [Vec3::X * 5., middle, Vec3::Y * 7.]
        );
    }
}

#[test]
fn turns_strips_and_fans_into_triangles() {
    // A square as a strip, joined by a triangle without area to nothing, and as a fan.
    for (mode, indices, expected) in [
        (5, vec![0, 1, 2, 3, 3], vec![[0, 1, 2], [1, 3, 2]]),
        (6, vec![0, 1, 3, 2, 2], vec![[1, 3, 0], [3, 2, 0]]),
        (4, vec![0, 1, 2, 1, 3, 2, 0], vec![[0, 1, 2], [1, 3, 2]]),
    ] {
        let mut builder = Builder::new();
        let position = builder.floats("VEC3", &[0., 0., 0., 1., 0., 0., 0., 1., 0., 1., 1., 0.]);
        let normal = builder.floats("VEC3", &[0., 0., 1., 0., 0., 1., 0., 0., 1., 0., 0., 1.]);
        let indices = builder.accessor("SCALAR", U8, indices.len(), &indices);
        builder.primitive(json!({ "mode": mode, "indices": indices, "attributes": { "POSITION": position, "NORMAL": normal } }));
        let scene = load(&builder);
        assert_eq!(only(&scene).indices, expected, "mode {mode}");
        let p = &only(&scene).positions;
        let up = |[a, b, c]: [u32; 3]| {
            (p[b as usize] - p[a as usize])
                .cross(p[c as usize] - p[a as usize])
                .z
                > 0.
        };
        assert!(expected.into_iter().all(up), "mode {mode} keeps its front");
    }
}

#[test]
fn points_and_lines_are_left_out_with_a_warning() {
    let mut builder = Builder::triangle();
    let lines = json!({ "mode": 1, "attributes": { "POSITION": 0 } });
    builder.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(lines);
    let scene = load(&builder);
    assert_eq!(scene.meshes[0].primitives.len(), 1);
    warned(&scene, "mesh 0 primitive 1");
}

#[test]
fn keeps_only_the_vertices_that_triangles_use() {
    let mut builder = Builder::new();
    let position = builder.floats("VEC3", &(0..3000).map(|i| i as f32).collect::<Vec<_>>());
    let normal = builder.floats("VEC3", &[0., 0., 1.].repeat(1000));
    let indices = builder.accessor(
        "SCALAR",
        U16,
        3,
        &[999_u16, 10, 100].map(u16::to_le_bytes).concat(),
    );
    builder.primitive(
        json!({ "indices": indices, "attributes": { "POSITION": position, "NORMAL": normal } }),
    );
    let scene = load(&builder);
    assert_eq!(
        only(&scene)
            .positions
            .iter()
            .map(|p| p.x)
            .collect::<Vec<_>>(),
        [30., 300., 2997.]
    );
    assert_eq!(only(&scene).indices, [[2, 0, 1]]);
}

#[test]
fn two_nodes_show_one_mesh() {
    let mut builder = Builder::triangle();
    builder.push(
        "nodes",
        json!({ "mesh": 0, "translation": [0, 0, 5], "scale": [-1, 1, 1] }),
    );
    let scene = load(&builder);
    assert_eq!(scene.meshes.len(), 1);
    assert_eq!(scene.instances().collect::<Vec<_>>(), [(0, 0), (1, 0)]);
    let deformed = deform(&scene, &Pose::new(&scene, None, 0.));
    assert_eq!(
        deformed.positions[3..],
        [Vec3::Z * 5., Vec3::new(-1., 0., 5.), Vec3::new(0., 1., 5.)]
    );
    // The mirrored copy is turned over, so that its front stays where the normal points.
    assert_eq!(deformed.indices, [[0, 1, 2], [3, 5, 4]]);
    assert_eq!(deformed.normals, [Vec3::Z; 6]);
    assert_eq!(
        (
            deformed.meshes[1].first_triangle,
            deformed.meshes[1].first_vertex
        ),
        (1, 3)
    );
}

#[test]
fn parents_come_before_children() {
    let mut builder = Builder::triangle();
    builder.json["nodes"] = json!([
        { "mesh": 0, "name": "leaf", "translation": [1.0, 0, 0] },
        { "children": [0], "rotation": [0, 0, 2, 2], "name": "middle" },
        { "children": [1], "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,3,1], "name": "root" },
        { "name": "elsewhere", "mesh": 0 }
    ]);
    builder.json["scenes"] = json!([{}, { "nodes": [2] }]);
    builder.json["scene"] = json!(1.0);
    let scene = load(&builder);
    let names: Vec<&str> = scene.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["root", "middle", "leaf"]);
    assert_eq!(scene.nodes[2].parent, Some(1));
    let Transform::Trs { rotation, .. } = scene.nodes[1].transform else {
        panic!()
    };
    assert!((rotation.length() - 1.).abs() < 1e-6, "made a unit");
    let pose = Pose::new(&scene, None, 0.);
    assert!(
        pose.world_from_node[2]
            .transform_point3(Vec3::ZERO)
            .abs_diff_eq(Vec3::new(0., 1., 3.), 1e-6)
    );
}

#[test]
fn a_chain_of_100_000_nodes_is_a_scene() {
    let mut builder = Builder::triangle();
    let count = 100_000;
    let nodes: Vec<Value> = (0..count)
        .map(|n| {
            if n + 1 < count {
                json!({ "children": [n + 1] })
            } else {
                json!({ "mesh": 0 })
            }
        })
        .collect();
    builder.json["nodes"] = json!(nodes);
    let scene = load(&builder);
    assert_eq!(scene.nodes.len(), count);
    assert_eq!(
        Pose::new(&scene, None, 0.).world_from_node[count - 1],
        Mat4::IDENTITY
    );
}

#[test]
fn flat_normals_where_there_are_none() {
    let mut builder = Builder::new();
    let position = builder.floats("VEC3", &[0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.]);
    let indices = builder.accessor("SCALAR", U8, 6, &[0, 1, 2, 0, 3, 1]);
    builder.primitive(json!({ "indices": indices, "attributes": { "POSITION": position } }));
    let scene = load(&builder);
    assert_eq!(
        only(&scene).normals,
        [Vec3::Z, Vec3::Z, Vec3::Z, Vec3::Y, Vec3::Y, Vec3::Y]
    );
    assert_eq!(only(&scene).indices, [[0, 1, 2], [3, 4, 5]]);
    for (tangent, normal) in only(&scene).tangents.iter().zip(&only(&scene).normals) {
        assert!(
            tangent.truncate().dot(*normal).abs() < 1e-6
                && (tangent.truncate().length() - 1.).abs() < 1e-6
        );
    }
}

#[test]
fn tangents_follow_the_texture_coordinates_of_normal_maps() {
    let mut builder = Builder::triangle();
    let normal = builder.floats("VEC3", &[0., 0., 1., 0., 0., 1., 0., 0., 1.]);
    // u goes up along y; v along −x, downwards as glTF has it: so the bitangent, which is up in the image, is +x.
    let uv = builder.floats("VEC2", &[0., 0., 0., -1., 1., 0.]);
    let view = builder.view(&png(2, 2, [128, 128, 255, 255]));
    builder.push(
        "images",
        json!({ "bufferView": view, "mimeType": "image/png" }),
    );
    builder.push("textures", json!({ "source": 0 }));
    builder.push("materials", json!({ "normalTexture": { "index": 0 } }));
    builder.first_primitive()["material"] = json!(0);
    builder.first_primitive()["attributes"]["NORMAL"] = json!(normal);
    builder.first_primitive()["attributes"]["TEXCOORD_0"] = json!(uv);
    let scene = load(&builder);
    for (tangent, normal) in only(&scene).tangents.iter().zip(&only(&scene).normals) {
        assert!(tangent.truncate().abs_diff_eq(Vec3::Y, 1e-5), "{tangent}");
        let bitangent = normal.cross(tangent.truncate()) * tangent.w;
        assert!(bitangent.abs_diff_eq(Vec3::X, 1e-5), "{bitangent}");
    }
}

#[test]
fn materials_have_everything() {
    let mut builder = Builder::triangle();
    let view = builder.view(&png(4, 2, [10, 20, 30, 40]));
    builder.push(
        "images",
        json!({ "bufferView": view, "mimeType": "image/png", "name": "tiny" }),
    );
    builder.push(
        "samplers",
        json!({ "wrapS": 33071, "wrapT": 33648, "magFilter": 9728, "minFilter": 9985 }),
    );
    builder.push("textures", json!({ "source": 0, "sampler": 0 }));
    builder.push("textures", json!({ "source": 0 }));
    let moved = json!({ "KHR_texture_transform": { "offset": [0.25, 0.5], "rotation": std::f32::consts::FRAC_PI_2, "scale": [2, 3], "texCoord": 1 } });
    builder.push("materials", json!({
        "name": "all", "doubleSided": true, "alphaMode": "MASK", "alphaCutoff": 0.25, "emissiveFactor": [1, 0.5, 0],
        "pbrMetallicRoughness": { "baseColorFactor": [0.1, 0.2, 0.3, 0.4], "metallicFactor": 0.5, "roughnessFactor": 0.25,
            "baseColorTexture": { "index": 0, "extensions": moved }, "metallicRoughnessTexture": { "index": 1 } },
        "normalTexture": { "index": 1, "scale": 2, "extensions": moved }, "occlusionTexture": { "index": 1, "strength": 0.5, "extensions": moved },
        "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 4 }, "KHR_materials_unlit": {}, "VENDOR_x": 1 }
    }));
    builder.json["extensionsUsed"] = json!(["VENDOR_x", "KHR_texture_transform"]);
    builder.first_primitive()["material"] = json!(0);
    let scene = load(&builder);
    let material = &scene.materials[0];
    assert_eq!(
        (
            material.name.as_str(),
            material.double_sided,
            material.unlit
        ),
        ("all", true, true)
    );
    assert_eq!(
        (material.alpha_mode, material.alpha_cutoff),
        (AlphaMode::Mask, 0.25)
    );
    assert_eq!(
        (material.base_color, material.emissive),
        (Vec4::new(0.1, 0.2, 0.3, 0.4), Vec3::new(4., 2., 0.))
    );
    assert_eq!(
        (
            material.metallic,
            material.roughness,
            material.normal_scale,
            material.occlusion_strength
        ),
        (0.5, 0.25, 2., 0.5)
    );
    for texture in [
        material.base_color_texture,
        material.normal_texture,
        material.occlusion_texture,
    ] {
        let texture = texture.unwrap();
        assert_eq!(texture.uv_set, 1);
        // Scale, then a quarter turn that takes v to u and u to −v, then offset.
        let uv = texture
            .texture_from_uv
            .transform_point2(Vec2::new(0.5, 0.25));
        assert!(
            uv.abs_diff_eq(Vec2::new(0.25 + 0.75, 0.5 - 1.), 1e-6),
            "{uv}"
        );
    }
    let sampler = scene.textures[material.base_color_texture.unwrap().texture].sampler;
    assert_eq!(
        (sampler.wrap_u, sampler.wrap_v, sampler.mag_linear),
        (Wrap::Clamp, Wrap::Mirror, false)
    );
    assert_eq!(
        (sampler.min_linear, sampler.mip_linear),
        (true, Some(false))
    );
    assert_eq!(scene.images.len(), 1, "an image is decoded once");
    assert_eq!((scene.images[0].width, scene.images[0].height), (4, 2));
    assert_eq!(
        scene.images[0].rgba8()[..8],
        [10, 20, 30, 40, 10, 20, 30, 40]
    );
    warned(&scene, "VENDOR_x");
    assert_eq!(scene.warnings.len(), 1);
}

#[test]
fn vertex_colors_of_every_kind() {
    for (kind, component, bytes, expected) in [
        ("VEC3", U8, vec![255, 0, 51], Vec4::new(1., 0., 0.2, 1.)),
        (
            "VEC4",
            U16,
            vec![255, 255, 0, 0, 0, 0, 0x33, 0x33],
            Vec4::new(1., 0., 0., 0.2),
        ),
        (
            "VEC4",
            F32,
            [0.5, 0.25, 2., 1.].map(f32::to_le_bytes).concat(),
            Vec4::new(0.5, 0.25, 2., 1.),
        ),
    ] {
        let mut builder = Builder::triangle();
        let mut bytes = bytes;
        let stride = bytes.len().next_multiple_of(4);
        bytes.resize(stride, 0);
        let colors = builder.accessor(kind, component, 3, &bytes.repeat(3));
        let view = builder.json["accessors"][colors]["bufferView"]
            .as_u64()
            .unwrap() as usize;
        builder.json["bufferViews"][view]["byteStride"] = json!(stride);
        builder.first_primitive()["attributes"]["COLOR_0"] = json!(colors);
        let scene = load(&builder);
        assert!(
            only(&scene)
                .colors
                .iter()
                .all(|c| c.abs_diff_eq(expected, 1e-6)),
            "{:?}",
            only(&scene).colors
        );
    }
}

#[test]
fn lights_and_cameras() {
    let mut builder = Builder::triangle();
    builder.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": [
        { "type": "directional", "intensity": 3 },
        { "type": "spot", "color": [1, 0.5, 0.25], "range": 7, "spot": { "innerConeAngle": 0.1, "outerConeAngle": 0.2 } } ] } });
    builder.push(
        "nodes",
        json!({ "extensions": { "KHR_lights_punctual": { "light": 1 } } }),
    );
    builder.push(
        "cameras",
        json!({ "type": "perspective", "perspective": { "yfov": 0.5, "znear": 0.1 } }),
    );
    builder.push("cameras", json!({ "type": "orthographic", "name": "flat", "orthographic": { "xmag": 1, "ymag": 2, "znear": 0, "zfar": 1 } }));
    builder.push("nodes", json!({ "camera": 0, "name": "eye" }));
    let scene = load(&builder);
    assert_eq!(
        (
            scene.lights[0].kind,
            scene.lights[0].intensity,
            scene.lights[0].range
        ),
        (LightKind::Directional, 3., None)
    );
    assert_eq!(
        scene.lights[1].kind,
        LightKind::Spot {
            inner_angle: 0.1,
            outer_angle: 0.2
        }
    );
    assert_eq!(
        (scene.nodes[1].light, scene.nodes[2].camera),
        (Some(1), Some(0))
    );
    assert_eq!(
        scene.cameras[0].projection,
        Projection::Perspective { fov_y: 0.5 }
    );
    assert_eq!(
        scene.cameras[1].projection,
        Projection::Orthographic { half_height: 2. }
    );
    assert_eq!(
        (
            scene.camera("eye").unwrap(),
            scene.camera("1").unwrap(),
            scene.camera("").unwrap()
        ),
        (Some(0), Some(1), None)
    );
    let message = scene.camera("nose").unwrap_err().to_string();
    assert!(
        message.contains("nose") && message.contains("eye") && message.contains("flat"),
        "{message}"
    );
}

// Skins, morph targets, clips.

/// A triangle whose vertices hang on joints 0, 1 and both, in two sets; joint 1 is one up.
fn skinned(weights: &[f32]) -> Builder {
    let mut builder = Builder::triangle();
    let joints = builder.accessor("VEC4", U8, 3, &[0, 9, 9, 9, 1, 9, 9, 9, 0, 1, 9, 9]);
    let second = builder.accessor("VEC4", U16, 3, &[0; 24]);
    let weights = builder.floats("VEC4", weights);
    let nothing = builder.floats("VEC4", &[0.; 12]);
    let binds: Vec<f32> = [Mat4::IDENTITY, Mat4::from_translation(Vec3::NEG_Y)]
        .iter()
        .flat_map(|m| m.to_cols_array())
        .collect();
    let binds = builder.floats("MAT4", &binds);
    let attributes = &mut builder.first_primitive()["attributes"];
    attributes["JOINTS_0"] = json!(joints);
    attributes["WEIGHTS_0"] = json!(weights);
    attributes["JOINTS_1"] = json!(second);
    attributes["WEIGHTS_1"] = json!(nothing);
    builder.push("nodes", json!({ "children": [2] }));
    builder.push("nodes", json!({ "translation": [0, 1, 0] }));
    builder.push(
        "skins",
        json!({ "joints": [1, 2], "inverseBindMatrices": binds }),
    );
    builder.json["nodes"][0]["skin"] = json!(0);
    // A skinned mesh does not move with its node.
    builder.json["nodes"][0]["translation"] = json!([100, 0, 0]);
    builder
}

#[test]
fn joints_move_vertices() {
    let mut builder = skinned(&[1., 0., 0., 0., 3., 0., 0., 0., 0.5, 0.5, 0., 0.]);
    builder.json["nodes"][2]["translation"] = json!([0, 3, 0]);
    let scene = load(&builder);
    let primitive = only(&scene);
    assert_eq!(primitive.influences_per_vertex, 8);
    assert_eq!(
        primitive.joints[8..12],
        [1, 0, 0, 0],
        "a joint without weight is 0"
    );
    assert_eq!(
        primitive.joint_weights[8..12],
        [1., 0., 0., 0.],
        "weights sum to 1"
    );
    let deformed = deform(&scene, &Pose::new(&scene, None, 0.));
    assert_eq!(
        deformed.positions,
        [Vec3::ZERO, Vec3::new(1., 2., 0.), Vec3::new(0., 2., 0.)]
    );
}

#[test]
fn weights_without_a_sum_go_to_the_first_joint() {
    let scene = load(&skinned(&[
        0.,
        0.,
        0.,
        0.,
        f32::NAN,
        1.,
        0.,
        0.,
        1.,
        0.,
        0.,
        0.,
    ]));
    assert_eq!(only(&scene).joint_weights[..4], [1., 0., 0., 0.]);
    assert_eq!(only(&scene).joint_weights[8..12], [1., 0., 0., 0.]);
    warned(&scene, "mesh 0 primitive 0");
    assert_eq!(scene.warnings.len(), 1);
}

#[test]
fn joints_past_the_skin_are_refused() {
    let mut builder = skinned(&[1., 0., 0., 0., 1., 0., 0., 0., 0.5, 0.5, 0., 0.]);
    builder.json["skins"][0]["joints"] = json!([1]);
    refused(&builder, &["mesh 0", "joint 1", "skin 0 has 1"]);
    builder.json["skins"][0]["joints"] = json!([1, 2, 1]);
    refused(&builder, &["skin 0", "accessor", "3 joints"]);
    builder.json["skins"][0]["joints"] = json!([1, 77]);
    refused(&builder, &["node 77"]);
}

#[test]
fn morph_targets_move_vertices() {
    let mut builder = Builder::triangle();
    let up = builder.floats("VEC3", &[0., 0., 1., 0., 0., 1., 0., 0., 2.]);
    // An accessor without bytes is zeros.
    let none = builder.push(
        "accessors",
        json!({ "type": "VEC3", "componentType": F32, "count": 3 }),
    );
    builder.first_primitive()["targets"] = json!([{ "POSITION": up }, { "POSITION": none }]);
    builder.json["meshes"][0]["weights"] = json!([0.5, 1]);
    let input = builder.floats("SCALAR", &[0., 2.]);
    let output = builder.floats("SCALAR", &[0., 0., 1., 0.5]);
    builder.push(
        "animations",
        json!({ "name": "swell", "samplers": [{ "input": input, "output": output }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }] }),
    );
    let scene = load(&builder);
    assert_eq!(
        deform(&scene, &Pose::new(&scene, None, 0.)).positions[2],
        Vec3::new(0., 1., 1.)
    );
    let pose = Pose::new(&scene, scene.clip("swell").unwrap(), 0.5);
    assert_eq!(pose.weights, [[0.25, 0.125]]);
    assert_eq!(deform(&scene, &pose).positions[2], Vec3::new(0., 1., 0.5));

    builder.json["accessors"][none]["count"] = json!(4);
    refused(&builder, &["morph target 1", "4 elements for 3 vertices"]);
}

#[test]
fn clips_are_chosen_by_name_and_number() {
    let scene = load(&Builder::triangle());
    assert_eq!(
        (scene.clip("none").unwrap(), scene.clip("0").unwrap()),
        (None, None)
    );
    assert!(scene.clip("walk").unwrap_err().to_string().contains("walk"));
    let mut builder = Builder::triangle();
    let input = builder.floats("SCALAR", &[1., 2.]);
    let output = builder.floats("VEC3", &[0., 0., 0., 4., 0., 0.]);
    for name in ["walk", "run"] {
        builder.push(
            "animations",
            json!({ "name": name, "samplers": [{ "input": input, "output": output }], "channels": [
            { "sampler": 0, "target": { "node": 0, "path": "translation" } },
            { "sampler": 0, "target": { "path": "translation" } },
            { "sampler": 0, "target": { "node": 0, "path": "colour" } } ] }),
        );
    }
    let scene = load(&builder);
    assert_eq!(
        (scene.clip("run").unwrap(), scene.clip("0").unwrap()),
        (Some(1), Some(0))
    );
    let message = scene.clip("2").unwrap_err().to_string();
    assert!(
        message.contains("walk") && message.contains("run"),
        "{message}"
    );
    assert_eq!(
        (scene.clips[0].channels.len(), scene.clips[0].duration_secs),
        (1, 2.)
    );
    warned(&scene, "animation 0: 1 channels without a node");
    warned(&scene, "unknown path");
    for (time, x) in [(0., 0.), (1., 0.), (1.5, 2.), (9., 4.)] {
        assert_eq!(
            Pose::new(&scene, Some(0), time).world_from_node[0].w_axis.x,
            x
        );
    }
}

#[test]
fn broken_animations_are_refused() {
    for (times, output, parts) in [
        ([0., 0.], 2, &["channel 0 of animation 0", "key 1"][..]),
        ([1., f32::NAN], 2, &["animation 0", "key 1"]),
        ([0., 1.], 3, &["animation 0", "2 keys"]),
    ] {
        let mut builder = Builder::triangle();
        let input = builder.floats("SCALAR", &times);
        let output = builder.floats("VEC3", &vec![0.; output * 3]);
        builder.push(
            "animations",
            json!({ "samplers": [{ "input": input, "output": output }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "scale" } }] }),
        );
        refused(&builder, parts);
    }
}

// Several files, and images.

#[test]
fn files_merge() {
    let dir = TempDir::new().unwrap();
    let mut builder = skinned(&[1., 0., 0., 0., 1., 0., 0., 0., 0.5, 0.5, 0., 0.]);
    let view = builder.view(&png(1, 1, [1, 2, 3, 4]));
    builder.push("images", json!({ "bufferView": view }));
    builder.push("textures", json!({ "source": 0 }));
    builder.push(
        "materials",
        json!({ "name": "m", "occlusionTexture": { "index": 0 } }),
    );
    builder.first_primitive()["material"] = json!(0);
    let glb = builder.write(dir.path(), "a.GLB");
    let obj = dir.path().join("b.OBJ");
    fs::write(&obj, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let scene = load_files(&[&glb, &obj, &glb]).unwrap();
    assert_eq!(
        (
            scene.nodes.len(),
            scene.meshes.len(),
            scene.materials.len(),
            scene.images.len()
        ),
        (7, 3, 3, 2)
    );
    assert_eq!(
        (
            scene.nodes[6].parent,
            scene.nodes[4].mesh,
            scene.nodes[4].skin
        ),
        (Some(5), Some(2), Some(1))
    );
    assert_eq!(scene.skins[1].joints, [5, 6]);
    let material = &scene.materials[scene.meshes[2].primitives[0].material];
    assert_eq!(
        (
            material.name.as_str(),
            material.occlusion_texture.unwrap().texture,
            scene.textures[1].image
        ),
        ("m", 1, 1)
    );
    let whole = deform(&scene, &Pose::new(&scene, None, 0.));
    assert_eq!((whole.positions.len(), whole.indices[2]), (9, [6, 7, 8]));
}

#[test]
fn images_that_do_not_decode_are_replaced() {
    let dir = TempDir::new().unwrap();
    fs::write(
        dir.path().join("cut off.png"),
        &png(64, 64, [1, 2, 3, 255])[..60],
    )
    .unwrap();
    fs::write(dir.path().join("page.png"), "<html>").unwrap();
    fs::write(dir.path().join("huge.png"), png(1000, 1000, [0; 4])).unwrap();
    fs::write(dir.path().join("sound.png"), png(1, 1, [9; 4])).unwrap();
    let mut builder = Builder::triangle();
    for (index, uri) in [
        "cut%20off.png",
        "page.png",
        "huge.png",
        "missing.png",
        "../x.png",
        "data:,nothing",
        "sound.png",
    ]
    .iter()
    .enumerate()
    {
        builder.push("images", json!({ "uri": uri }));
        builder.push("textures", json!({ "source": index }));
        builder.push(
            "materials",
            json!({ "emissiveTexture": { "index": index } }),
        );
    }
    builder.push("textures", json!({}));
    builder.push("materials", json!({ "emissiveTexture": { "index": 7 } }));
    let scene = load_files(&[&builder.write(dir.path(), "a.glb")]).unwrap();
    assert_eq!(scene.images.len(), 8);
    for (index, image) in scene.images.iter().enumerate() {
        if index == 6 {
            assert_eq!(*image.rgba8(), [9; 4]);
        } else {
            assert_eq!(
                (image.width, image.height, &image.rgba8()[..8]),
                (8, 8, &[255, 0, 255, 255, 0, 0, 0, 255][..]),
                "{index}"
            );
        }
    }
    for name in [
        "cut%20off.png",
        "page.png",
        "huge.png",
        "missing.png",
        "../x.png",
    ] {
        warned(&scene, name);
    }
    assert_eq!(scene.warnings.len(), 7);
}

// Bad files.

#[test]
fn files_that_are_no_scenes_are_refused() {
    let dir = TempDir::new().unwrap();
    let missing = dir.path().join("missing.gltf");
    assert!(
        load_files(&[&missing])
            .unwrap_err()
            .to_string()
            .contains("missing.gltf")
    );
    assert!(
        load_files(&[dir.path()])
            .unwrap_err()
            .to_string()
            .contains("folder")
    );
    assert!(refusal("a.fbx", b"Kaydara").contains(".gltf, .glb"));
    assert!(refusal("a.gltf", b"version https://git-lfs").contains("JSON"));
    for json in [
        &b"{"[..],
        b"{\"asset\": {\"version\": \"2.0\"}, \"nodes\": \"\xff\"}",
        b"{\"asset\": {\"version\": \"2.0\", \"x\": \"\\ud800\"}}",
    ] {
        assert!(refusal("a.gltf", json).contains("JSON"));
    }
    assert!(
        refusal(
            "a.gltf",
            format!(
                "{{\"asset\":{}1{}}}",
                "[".repeat(100_000),
                "]".repeat(100_000)
            )
            .as_bytes()
        )
        .contains("JSON")
    );
    assert!(refusal("a.gltf", b"{}").contains("asset"));
    for (asset, part) in [
        (json!({ "version": "1.0" }), "glTF 1.0"),
        (json!({ "version": "2.0", "minVersion": "2.9" }), "2.9"),
        (json!({}), "version"),
    ] {
        assert!(refusal("a.gltf", json!({ "asset": asset }).to_string().as_bytes()).contains(part));
    }
    assert!(refusal("a.gltf", b"{\"asset\": {\"version\": \"2.0\"}}").contains("no triangles"));
    assert!(refusal("a.obj", b"v 0 0 0\n").contains("no triangles"));
}

#[test]
fn broken_glbs_are_refused() {
    let glb = Builder::triangle().glb();
    for length in [3, 4, 11, 12, 19, 20, 40, glb.len() - 1] {
        refusal("a.glb", &glb[..length]);
    }
    for at in [4, 8, 12, 16] {
        for value in [0_u32, 1, 0x7fff_ffff, u32::MAX] {
            let mut broken = glb.clone();
            broken[at..at + 4].copy_from_slice(&value.to_le_bytes());
            refusal("a.glb", &broken);
        }
    }
}

#[test]
fn required_extensions_are_named() {
    let mut builder = Builder::triangle();
    builder.json["extensionsRequired"] = json!(["KHR_texture_transform", "KHR_future"]);
    refused(
        &builder,
        &["needs the extension KHR_future, which canopy does not read"],
    );
    builder.json["extensionsRequired"] = json!([
        "KHR_mesh_quantization",
        "KHR_lights_punctual",
        "KHR_materials_unlit"
    ]);
    assert!(load(&builder).warnings.is_empty());
}

#[test]
fn accessors_are_held_to_their_buffers() {
    let triangle = Builder::triangle();
    for (key, value, part) in [
        ("count", json!(4), "reaches past its buffer view 0"),
        (
            "count",
            json!(4_000_000_000_u32),
            "reaches past its buffer view 0",
        ),
        ("count", json!(u64::MAX), "accessor 0"),
        ("byteOffset", json!(4), "reaches past its buffer view 0"),
        (
            "byteOffset",
            json!(u64::MAX),
            "reaches past its buffer view 0",
        ),
        ("bufferView", json!(9), "buffer view 9"),
        ("type", json!("VEC2"), "VEC2"),
        ("type", json!("VEC9"), "accessor 0"),
        ("componentType", json!(1), "accessor 0"),
    ] {
        let mut builder = triangle.clone();
        builder.json["accessors"][0][key] = value;
        refused(&builder, &["mesh 0 primitive 0", part]);
    }
    for (key, value, part) in [
        ("byteLength", json!(u64::MAX), "buffer view 0"),
        ("byteOffset", json!(1), "buffer view 0"),
        ("byteStride", json!(8), "byteStride"),
        ("buffer", json!(3), "buffer 3"),
    ] {
        let mut builder = triangle.clone();
        builder.json["bufferViews"][0][key] = value;
        refused(&builder, &[part]);
    }
    let mut builder = triangle.clone();
    builder.json["buffers"] = json!([{ "byteLength": 1000 }]);
    refused(&builder, &["buffer 0 declares 1000 bytes"]);
    // Four billion vertices in a file of a few hundred bytes.
    let mut builder = triangle;
    builder.json["accessors"][0] =
        json!({ "type": "VEC3", "componentType": F32, "count": 4_000_000_000_u32 });
    refused(&builder, &["mesh 0 primitive 0", "load.max_triangles"]);
}

#[test]
fn sparse_accessors_are_held_to_their_counts() {
    for (indices, count, part) in [
        (vec![0, 3], 2, "sparse indices"),
        (vec![1, 1], 2, "sparse indices"),
        (vec![0], 2, "reaches past"),
        (vec![0, 1], 4_000_000_000_u32, "reaches past"),
    ] {
        let mut builder = Builder::triangle();
        let indices = builder.view(&indices);
        let values = builder.view(&[0; 24]);
        builder.json["accessors"][0]["sparse"] = json!({ "count": count, "indices": { "bufferView": indices, "componentType": U8 }, "values": { "bufferView": values } });
        refused(&builder, &["accessor 0", part]);
    }
}

#[test]
fn indices_are_held_to_their_lists() {
    let mut builder = Builder::triangle();
    let indices = builder.accessor("SCALAR", U8, 3, &[0, 1, 255]);
    builder.first_primitive()["indices"] = json!(indices);
    refused(&builder, &["mesh 0 primitive 0", "index 255", "3 vertices"]);
    for (list, key, value, part) in [
        ("nodes", "mesh", json!(5), "mesh 5"),
        ("nodes", "camera", json!(5), "camera 5"),
        ("nodes", "skin", json!(5), "skin 5"),
        ("nodes", "children", json!([5]), "node 5"),
        (
            "nodes",
            "extensions",
            json!({ "KHR_lights_punctual": { "light": 5 } }),
            "light 5",
        ),
    ] {
        let mut builder = Builder::triangle();
        builder.json[list][0][key] = value;
        refused(&builder, &[part]);
    }
    let mut builder = Builder::triangle();
    builder.first_primitive()["material"] = json!(2);
    refused(&builder, &["mesh 0 primitive 0", "material 2"]);
    let mut builder = Builder::triangle();
    builder.first_primitive()["attributes"]["POSITION"] = json!(7);
    refused(&builder, &["POSITION"]);
    let mut builder = Builder::triangle();
    builder.push("materials", json!({ "emissiveTexture": { "index": 4 } }));
    refused(&builder, &["material 0", "texture 4"]);
    builder.push("textures", json!({ "source": 3 }));
    builder.json["materials"][0]["emissiveTexture"]["index"] = json!(0);
    refused(&builder, &["image 3"]);
    builder.json["textures"][0] = json!({ "sampler": 3 });
    refused(&builder, &["sampler 3"]);
    let mut builder = Builder::triangle();
    builder.json["scene"] = json!(3);
    refused(&builder, &["scene 3"]);
    let mut builder = Builder::triangle();
    let normal = builder.floats("VEC3", &[0.; 6]);
    builder.first_primitive()["attributes"]["NORMAL"] = json!(normal);
    refused(&builder, &["NORMAL", "2 elements for 3 vertices"]);
}

#[test]
fn broken_hierarchies_are_refused() {
    for (nodes, part) in [
        (
            json!([{ "mesh": 0, "children": [0] }]),
            "node 0 is its own ancestor",
        ),
        (
            json!([{ "mesh": 0 }, { "children": [2] }, { "children": [1] }]),
            "is its own ancestor",
        ),
        (
            json!([{ "mesh": 0, "children": [2] }, { "children": [2] }, {}]),
            "node 2 has two parents, 0 and 1",
        ),
        (
            json!([{ "mesh": 0, "children": [1, 1] }, {}]),
            "node 1 has two parents",
        ),
        (
            json!([{ "mesh": 0, "scale": [1e39, 1, 1] }]),
            "node 0 is not finite",
        ),
        (
            json!([{ "mesh": 0, "matrix": [1,0,0,1, 0,1,0,0, 0,0,1,0, 0,0,0,1] }]),
            "node 0 is not affine",
        ),
    ] {
        let mut builder = Builder::triangle();
        builder.json["nodes"] = nodes;
        refused(&builder, &[part]);
    }
    let mut builder = Builder::triangle();
    builder.json["nodes"][0]["rotation"] = json!([0, 0, 0, 0]);
    assert_eq!(
        Pose::new(&load(&builder), None, 0.).world_from_node,
        [Mat4::IDENTITY]
    );
}

#[test]
fn positions_that_are_not_finite_are_refused() {
    for bad in [f32::NAN, f32::INFINITY] {
        let mut builder = Builder::new();
        let position = builder.floats("VEC3", &[0., 0., 0., 1., bad, 0., 0., 1., 0.]);
        builder.primitive(json!({ "attributes": { "POSITION": position } }));
        refused(&builder, &["mesh 0 primitive 0", "accessor 0", "vertex 1"]);
    }
}

#[test]
fn a_scene_without_triangles_is_refused() {
    let mut builder = Builder::triangle();
    builder.first_primitive()["mode"] = json!(0);
    refused(&builder, &["holds no triangles"]);
    builder.json["nodes"] = json!([{}]);
    refused(&builder, &["holds no triangles"]);
}

#[test]
fn uris_stay_in_the_folder() {
    for uri in [
        "../outside.bin",
        "%2e%2e/outside.bin",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://example.org/a.bin",
        "missing.bin",
    ] {
        let mut builder = Builder::triangle();
        builder.json["buffers"] = json!([{ "byteLength": 36, "uri": uri }]);
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("outside.bin"), &builder.bin).unwrap();
        fs::create_dir(dir.path().join("in")).unwrap();
        let message = load_files(&[&builder.write(&dir.path().join("in"), "a.glb")])
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("a.glb")
                && message.contains("buffer 0")
                && message.contains(&uri.replace("%2e", ".")),
            "{message}"
        );
    }
}

#[test]
fn a_cancelled_load_stops() {
    let dir = TempDir::new().unwrap();
    let progress = Progress::default();
    progress.cancel();
    let path = Builder::triangle().write(dir.path(), "a.glb");
    assert!(matches!(
        scene::load(&[path], &LIMITS, &progress),
        Err(Error::Cancelled)
    ));
}

#[test]
fn limits_count_every_copy() {
    let mut builder = Builder::triangle();
    let indices = builder.accessor("SCALAR", U8, 60_000, &[0, 1, 2].repeat(20_000));
    builder.first_primitive()["indices"] = json!(indices);
    builder.json["nodes"] = json!(vec![json!({ "mesh": 0 }); 6]);
    refused(&builder, &["load.max_triangles", "120000"]);
    builder.json["nodes"] = json!(vec![json!({}); 200_001]);
    refused(&builder, &["load.max_nodes"]);
    let mut builder = Builder::triangle();
    builder.first_primitive()["targets"] = json!(vec![json!({}); 20_000]);
    refused(&builder, &["load.max_morph_bytes", "morph target"]);
}

// Draco.

/// A bent sheet of 8 × 8 squares with every attribute, on two joints.
fn sheet() -> Builder {
    sheet_of(8)
}

/// As [`sheet`], of so many squares along an edge.
fn sheet_of(squares: u16) -> Builder {
    let mut builder = Builder::new();
    let side = squares + 1;
    let points: Vec<[f32; 2]> = (0..side * side)
        .map(|i| [i % side, i / side].map(|place| f32::from(place) / f32::from(squares)))
        .collect();
    let floats = |of: &dyn Fn(f32, f32) -> Vec<f32>| -> Vec<f32> {
        points.iter().flat_map(|&[u, v]| of(u, v)).collect()
    };
    let bytes = |of: &dyn Fn(f32, f32) -> [u8; 4]| -> Vec<u8> {
        points.iter().flat_map(|&[u, v]| of(u, v)).collect()
    };
    let position = builder.floats("VEC3", &floats(&|u, v| vec![4. * u, u * u + v, 3. * v]));
    builder.json["accessors"][position]["min"] = json!([0., 0., 0.]);
    builder.json["accessors"][position]["max"] = json!([4., 2., 3.]);
    let unit = |u: f32, v: f32| Vec3::new(-u, 1., v).normalize();
    let count = points.len();
    let color = bytes(&|u, v| [(200. * u) as u8, (100. * v) as u8, 7, 255]);
    let color = builder.accessor("VEC4", U8, count, &color);
    builder.json["accessors"][color]["normalized"] = json!(true);
    let joints = builder.accessor("VEC4", U8, count, &bytes(&|_, _| [0, 1, 0, 0]));
    let attributes = json!({
        "POSITION": position,
        "NORMAL": builder.floats("VEC3", &floats(&|u, v| unit(u, v).to_array().into())),
        "TANGENT": builder.floats("VEC4", &floats(&|u, v| {
            unit(u, v).any_orthonormal_vector().extend(-1.).to_array().into()
        })),
        "TEXCOORD_0": builder.floats("VEC2", &floats(&|u, v| vec![u, 1. - v])),
        "TEXCOORD_1": builder.floats("VEC2", &floats(&|u, v| vec![2. * v, u])),
        "COLOR_0": color,
        "JOINTS_0": joints,
        "WEIGHTS_0": builder.floats("VEC4", &floats(&|u, _| vec![u, 1. - u, 0., 0.])),
    });
    let count = squares * squares;
    let firsts = (0..count).map(|i| i % squares + i / squares * side);
    let corners = firsts.flat_map(|a| [a, a + 1, a + side, a + 1, a + side + 1, a + side]);
    let corners: Vec<u8> = corners.flat_map(u16::to_le_bytes).collect();
    let indices = builder.accessor("SCALAR", U16, 6 * usize::from(count), &corners);
    let node = builder.primitive(json!({ "attributes": attributes, "indices": indices }));
    builder.push("skins", json!({ "joints": [node, node] }));
    builder.json["nodes"][node]["skin"] = json!(0);
    builder
}

/// Every corner of every triangle, with all that a vertex has, in an order that Draco does not change.
fn corners(primitive: &Primitive) -> Vec<Vec<f32>> {
    let mut triangles: Vec<Vec<f32>> = primitive
        .indices
        .iter()
        .map(|triangle| {
            let vertices = triangle.map(|v| {
                let v = v as usize;
                let mut all = primitive.positions[v].to_array().to_vec();
                all.extend(primitive.normals[v].to_array());
                all.extend(primitive.tangents[v].to_array());
                all.extend(primitive.uv0[v].to_array());
                all.extend(primitive.uv1[v].to_array());
                all.extend(primitive.colors[v].to_array());
                all.extend(primitive.joints[4 * v..][..4].iter().map(|&j| j as f32));
                all.extend(&primitive.joint_weights[4 * v..][..4]);
                all
            });
            // A triangle may begin at another corner; rounded, for quantisation moves what is compared.
            let key = |v: &Vec<f32>| [v[0], v[2]].map(|c| (c * 16.).round() as i32);
            let first = (0..3).min_by_key(|&i| key(&vertices[i])).unwrap();
            (0..3)
                .flat_map(|i| vertices[(first + i) % 3].clone())
                .collect()
        })
        .collect();
    triangles.sort_by_key(|t| {
        let stride = t.len() / 3;
        [0, 1, 2].map(|i| [t[i * stride], t[i * stride + 2]].map(|c| (c * 16.).round() as i32))
    });
    triangles
}

#[test]
fn draco_holds_what_was_compressed() {
    let source = sheet();
    let plain = load(&source);
    let exact = load(&compressed(&source, Method::Exact));
    assert!(exact.warnings.is_empty(), "{:?}", exact.warnings);
    assert_eq!(format!("{:?}", only(&exact)), format!("{:?}", only(&plain)));
    for bits in [12, 16] {
        let scene = load(&compressed(&source, Method::Quantised(bits)));
        assert_eq!(only(&scene).positions.len(), 81);
        let (found, expected) = (corners(only(&scene)), corners(only(&plain)));
        assert_eq!(found.len(), 128);
        let step = 8. / f32::from(1_u16 << (bits - 1));
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!(
                (found - expected).abs() <= step,
                "{bits}: {found} {expected}"
            );
        }
    }
    // Colours are fractions, whatever the accessor says.
    let mut file = compressed(&source, Method::Exact);
    for normalized in [false, true] {
        let color = file.first_primitive()["attributes"]["COLOR_0"]
            .as_u64()
            .unwrap() as usize;
        file.json["accessors"][color]["normalized"] = json!(normalized);
        assert_eq!(only(&load(&file)).colors, only(&plain).colors);
    }
}

#[test]
fn draco_leaves_the_rest_to_accessors() {
    // An attribute that the stream lacks comes from its own accessor, and morph targets do always.
    let source = sheet();
    let mut file = compressed(&source, Method::Exact);
    let uv = file.floats("VEC2", &[0.5; 162]);
    let target = file.floats("VEC3", &[0.25; 243]);
    file.first_primitive()["attributes"]["TEXCOORD_0"] = json!(uv);
    file.first_primitive()["targets"] = json!([{ "POSITION": target }]);
    let ids = &mut file.first_primitive()["extensions"][DRACO]["attributes"];
    ids.as_object_mut().unwrap().remove("TEXCOORD_0");
    let scene = load(&file);
    assert_eq!(only(&scene).uv0, [Vec2::splat(0.5); 81]);
    assert_eq!(only(&scene).targets[0].positions, [Vec3::splat(0.25); 81]);
    assert_eq!(only(&scene).uv1, only(&load(&source)).uv1);
    // A strip's stream holds triangles too.
    file.first_primitive()["mode"] = json!(5);
    assert_eq!(only(&load(&file)).indices.len(), 128);
}

#[test]
fn draco_is_held_to_its_accessors() {
    let sound = compressed(&sheet(), Method::Exact);
    let attributes = sound.json["meshes"][0]["primitives"][0]["attributes"].clone();
    let accessor = |name: &str| attributes[name].as_u64().unwrap() as usize;
    let indices = sound.json["meshes"][0]["primitives"][0]["indices"]
        .as_u64()
        .unwrap() as usize;
    let (position, uv, joints) = (
        accessor("POSITION"),
        accessor("TEXCOORD_0"),
        accessor("JOINTS_0"),
    );
    for (at, key, value, part) in [
        (position, "count", json!(80), "the accessors declare 80"),
        (position, "count", json!(82), "it has 81 vertices"),
        (position, "count", json!(u32::MAX), "load.max_triangles"),
        (
            indices,
            "count",
            json!(381),
            "more than the accessors declare",
        ),
        (indices, "count", json!(387), "384 indices"),
        (indices, "count", json!(383), "383 indices are no triangles"),
        (indices, "count", json!(u32::MAX), "load.max_triangles"),
        (uv, "count", json!(80), "80 elements for 81 vertices"),
        (uv, "componentType", json!(U8), "which is no U8"),
        (joints, "type", json!("VEC3"), "VEC4"),
        (position, "max", json!([4., 2., 2.]), "from 0 to 2"),
        (position, "min", json!([0.5, 0., 0.]), "from 0.5 to 4"),
    ] {
        let mut file = sound.clone();
        file.json["accessors"][at][key] = value;
        refused(&file, &["mesh 0 primitive 0", part]);
    }
    let mut file = sound.clone();
    file.json["accessors"][accessor("COLOR_0")]["type"] = json!("VEC3");
    refused(&file, &["COLOR_0", "has 3 components", "has 4"]);
    for (key, value, part) in [
        ("attributes", json!({ "POSITION": 99 }), "no such attribute"),
        ("attributes", json!({ "POSITION": 1 }), "POSITION"),
        ("attributes", json!({ "POSITION": -1 }), DRACO),
        ("attributes", json!(3), DRACO),
        ("bufferView", json!(9), "buffer view 9"),
        ("bufferView", json!(null), DRACO),
    ] {
        let mut file = sound.clone();
        file.first_primitive()["extensions"][DRACO][key] = value;
        refused(&file, &["mesh 0 primitive 0", part]);
    }
    let mut file = sound;
    file.first_primitive()["mode"] = json!(6);
    refused(&file, &["mesh 0 primitive 0", "fan"]);
}

#[test]
fn draco_cannot_ask_for_more_seams_than_attributes() {
    let mut file = compressed(&sheet_of(64), Method::Quantised(8));
    assert_eq!(only(&load(&file)).indices.len(), 8192);
    // After the header, the traversal, and the counts of vertices and triangles in two bytes each.
    assert_eq!(file.bin[16], 7);
    file.bin[16] = 255;
    refused(&file, &["mesh 0 primitive 0", "seams for 255 attributes"]);
}

#[test]
fn broken_draco_streams_are_refused_or_loaded_and_nothing_else() {
    for method in [Method::Exact, Method::Quantised(11)] {
        let sound = compressed(&sheet(), method);
        let length = sound.json["bufferViews"][0]["byteLength"].as_u64().unwrap() as usize;
        for cut in (0..length).step_by(71) {
            let mut file = sound.clone();
            file.json["bufferViews"][0]["byteLength"] = json!(cut);
            refused(&file, &["mesh 0 primitive 0", DRACO, "buffer view 0"]);
        }
        // Flipped bits may leave a stream that decodes; what it may not do is panic.
        let mut refusals = 0;
        for bit in (0..8 * length).step_by(101) {
            let mut file = sound.clone();
            file.bin[bit / 8] ^= 1 << (bit % 8);
            if let Err(error) = try_bytes("test.glb", &file.glb()) {
                let message = error.to_string();
                assert!(
                    message.contains("mesh 0") && !message.contains('\n'),
                    "{message}"
                );
                refusals += 1;
            }
        }
        assert!(refusals > 20, "{refusals} refusals");
    }
}

// OBJ.

fn obj(text: &str) -> Scene {
    try_bytes("test.obj", text.as_bytes()).unwrap()
}

#[test]
fn obj_reads_faces_of_every_form() {
    let scene = obj(
        "\u{feff}# a square\r\nv 0 0 0\r\nv 1 0 0\r\nv 1 1 0\r\nv 0 1 0\r\nvt 0.25 0.75\r\nvn 0 0 2\r\nf 1/1/1 2//1 \\\r\n 3/1 -1 # quad\r\n",
    );
    let primitive = only(&scene);
    assert_eq!(primitive.indices, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(primitive.positions[3], Vec3::Y);
    assert_eq!(primitive.normals, [Vec3::Z; 4]);
    assert_eq!(
        primitive.uv0,
        [Vec2::splat(0.25), Vec2::ZERO, Vec2::splat(0.25), Vec2::ZERO]
    );
    assert_eq!(
        (scene.materials[0].roughness, scene.materials[0].metallic),
        (0.6, 0.)
    );
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
}

#[test]
fn obj_smooths_where_edges_are_soft() {
    // Two sides of a roof: nearly flat, then steep, then told to be flat.
    let roof = |height: f32, smoothing: &str| {
        obj(&format!(
            "v 0 {height} 0\nv 0 {height} 1\nv -1 0 0\nv 1 0 0\n{smoothing}f 1 3 2\nf 1 2 4\n"
        ))
    };
    let soft = roof(0.2, "");
    assert_eq!(only(&soft).positions.len(), 4);
    assert!(
        only(&soft)
            .normals
            .iter()
            .any(|n| n.abs_diff_eq(Vec3::Y, 1e-6))
    );
    assert_eq!(only(&roof(2., "")).positions.len(), 6);
    assert_eq!(only(&roof(0.2, "s off\n")).positions.len(), 6);
}

#[test]
fn obj_reads_materials() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("my textures")).unwrap();
    fs::write(dir.path().join("my textures/a b.png"), png(1, 1, [7; 4])).unwrap();
    fs::write(
        dir.path().join("my textures/mask.png"),
        png(2, 2, [64, 64, 64, 255]),
    )
    .unwrap();
    fs::write(
        dir.path().join("the materials.mtl"),
        b"Kd 1 1 1\nnewmtl plain\nKd 0.5\nNs 30\nd 0.25\nKs 1\nKd\nnewmtl image\nKd 0 0 0\nmap_Kd -s 2 2 2 -o 0.5 -clamp on my textures\\a b.png\r\n\
          Pm 1\nPr 0.125\nKe 1 2 3\nnewmtl cut\nmap_Kd C:\\elsewhere\\a b.png\nmap_d my textures/mask.png\nmap_bump -bm 0.5 my textures/mask.png\n# \xff\xfe\n",
    )
    .unwrap();
    let path = dir.path().join("a.obj");
    let text = "mtllib the materials.mtl\nmtllib none.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl plain\nf 1 2 3\nusemtl image\nf 1/1 2/1 3/1\n\
                usemtl cut\nf 1/1 2/1 3/1\nusemtl unknown\nf 1 2 3\no second\nusemtl plain\nf 3 2 1\n";
    fs::write(&path, text).unwrap();
    let scene = load_files(&[&path]).unwrap();
    assert_eq!(
        (
            scene.meshes.len(),
            scene.meshes[0].primitives.len(),
            scene.meshes[1].name.as_str()
        ),
        (2, 4, "second")
    );
    let [plain, image, cut, unknown] = &scene.materials[..] else {
        panic!("{:?}", scene.materials)
    };
    assert_eq!(
        (plain.base_color, plain.alpha_mode),
        (Vec4::new(0.5, 0.5, 0.5, 0.25), AlphaMode::Blend)
    );
    assert!((plain.roughness - 0.5).abs() < 1e-6);
    assert_eq!(
        (
            image.base_color,
            image.metallic,
            image.roughness,
            image.emissive
        ),
        (Vec4::ONE, 1., 0.125, Vec3::new(1., 2., 3.))
    );
    let texture = image.base_color_texture.unwrap();
    assert_eq!(scene.textures[texture.texture].sampler.wrap_u, Wrap::Clamp);
    // (u, v) = (0.25, 0.25) with v up is (0.25, 0.75) with v down, and goes to (1, 0.5) with v up.
    assert!(
        texture
            .texture_from_uv
            .transform_point2(Vec2::new(0.25, 0.75))
            .abs_diff_eq(Vec2::new(1., 0.5), 1e-6)
    );
    assert_eq!(
        (cut.alpha_mode, cut.normal_texture),
        (AlphaMode::Mask, None)
    );
    warned(&scene, "height map");
    warned(&scene, "none.mtl");
    warned(&scene, "unknown");
    assert_eq!(unknown.roughness, 0.6);
}

#[test]
fn broken_objs_are_refused_by_line() {
    for (text, parts) in [
        ("v 0 0\n", &["line 1", "2 numbers"][..]),
        ("v 0 0 0\nv nan 0 0\n", &["line 2", "NaN"]),
        ("v 1,5 0 0\n", &["line 1", "1,5"]),
        ("v 1.#IND 0 0\n", &["line 1"]),
        ("v 0 0 0\nf 1 1 2\n", &["line 2", "vertex 2"]),
        ("v 0 0 0\nf 1 1 0\n", &["line 2"]),
        ("v 0 0 0\nf 1 1 -2\n", &["line 2", "-2"]),
        ("v 0 0 0\nf 1 1 -9223372036854775808\n", &["line 2"]),
        ("v 0 0 0\nf 1 1 99999999999999999999\n", &["line 2"]),
        ("v 0 0 0\nf 1 1 /1\n", &["line 2"]),
    ] {
        let message = refusal("a.obj", text.as_bytes());
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    assert!(refusal("a.obj", b"\xff\xfev\0").contains("UTF-16"));
    let scene = obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/5/5 2/-3/1 3/4294967296\nl 1 2\np 1\n");
    assert_eq!(only(&scene).indices.len(), 1);
    warned(&scene, "do not exist");
    warned(&scene, "2 points, lines");
}

#[test]
fn shared_bytes_count_as_often_as_they_are_read() {
    let mut builder = Builder::triangle();
    let count = 1000;
    let input = builder.floats("SCALAR", &(0..count).map(|i| i as f32).collect::<Vec<_>>());
    let output = builder.floats("VEC4", &vec![1.; 4 * count]);
    let channel = json!({ "sampler": 0, "target": { "node": 0, "path": "rotation" } });
    builder.push("animations", json!({ "samplers": [{ "input": input, "output": output }], "channels": vec![channel; 70] }));
    refused(
        &builder,
        &["channel 65 of animation 0", "load.max_morph_bytes"],
    );

    let mut builder = Builder::triangle();
    let joints = builder.accessor("VEC4", U8, 3, &[0; 12]);
    let attributes = &mut builder.first_primitive()["attributes"];
    for set in 0..11_000 {
        attributes[format!("JOINTS_{set}")] = json!(joints);
        attributes[format!("WEIGHTS_{set}")] = json!(joints);
    }
    refused(
        &builder,
        &["mesh 0 primitive 0: joints", "load.max_morph_bytes"],
    );
}
