//! Loading scenes: right values from files of every kind, and one clear line for every broken file.

use crate::common;

use ::meshopt::{
    EncodeExpMode, encode_filter_color, encode_filter_exp, encode_filter_oct, encode_filter_quat,
};
use canopy::{
    config::Load,
    reference::deform::deform,
    scene::{
        self, AlphaMode, Error, LightKind, Pose, Primitive, Progress, Projection, Scene, TextureRef,
        Transform, Treatment, Wrap, bounds::Bounds, deform::positions,
    },
};
use common::draco::{DRACO, Method, compressed};
use common::gltf_builder::{Builder, F32, I8, I16, U8, U16, U32};
use common::meshopt::{self, NAMES, compressed as packed};
use glam::{Affine2, DMat4, DVec3, Mat4, Quat, Vec2, Vec3, Vec4};
use serde_json::{Value, json};
use std::{fs, path::Path};
use tempfile::TempDir;

const LIMITS: Load = Load {
    follow_links: false,
    max_file_bytes: 1 << 24,
    max_total_bytes: 1 << 26,
    max_json_objects: 1_000_000,
    max_image_pixels: 1 << 16,
    max_environment_pixels: 1 << 16,
    max_texture_bytes: 1 << 20,
    max_triangles: 100_000,
    max_vertices: 300_000,
    max_empty_vertices: 1000,
    max_nodes: 200_000,
    max_joints: 1000,
    max_morph_targets: 100_000,
    max_morph_bytes: 1 << 20,
    max_voxels: 1 << 18,
    max_volume_nodes: 50,
    obj_texture: false,
};

fn load_files(files: &[&Path]) -> scene::Result<Scene> {
    let files: Vec<_> = files.iter().map(|f| f.to_path_buf()).collect();
    scene::load(&files, &LIMITS, &Progress::default())
}

fn try_bytes(name: &str, bytes: &[u8]) -> scene::Result<Scene> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    load_files(&[&path])
}

fn load(builder: &Builder) -> Scene {
    try_bytes("test.glb", &builder.glb()).unwrap()
}

/// The single line of the error for these bytes. It always contains the name of the file.
fn refusal(name: &str, bytes: &[u8]) -> String {
    let message = try_bytes(name, bytes).unwrap_err().to_string();
    assert!(message.contains(name) && !message.contains('\n'), "{message}");
    message
}

#[track_caller]
fn refused(builder: &Builder, parts: &[&str]) {
    let message = refusal("test.glb", &builder.glb());
    for part in parts {
        assert!(message.contains(part), "\"{part}\" is missing in: {message}");
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
    for (component, size, largest) in [(I8, 1, 127.), (U8, 1, 255.), (I16, 2, 32767.), (U16, 2, 65535.)] {
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
    let mut builder = Builder::new();
    let points = [-128, 0, 0, 0, -127, 0, 0, 0, 127];
    let position = builder.accessor("VEC3", I8, 3, &bytes(&points, 1));
    builder.json["accessors"][position]["normalized"] = json!(true);
    builder.primitive(json!({ "attributes": { "POSITION": position } }));
    assert_eq!(
        only(&load(&builder)).positions,
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
    let uv = builder.push(
        "accessors",
        json!({ "bufferView": view, "byteOffset": 12, "type": "VEC2",
        "componentType": F32, "count": 3 }),
    );
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
        let sparse = json!({ "count": 2, "indices": { "bufferView": indices, "componentType": U8 },
            "values": { "bufferView": values } });
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
    // A square as a strip, and as a fan, each with a triangle without area.
    for (mode, indices, expected) in [
        (5, vec![0, 1, 2, 3, 3], vec![[0, 1, 2], [1, 3, 2]]),
        (6, vec![0, 1, 3, 2, 2], vec![[1, 3, 0], [3, 2, 0]]),
        (4, vec![0, 1, 2, 1, 3, 2, 0], vec![[0, 1, 2], [1, 3, 2]]),
    ] {
        let mut builder = Builder::new();
        let position = builder.floats("VEC3", &[0., 0., 0., 1., 0., 0., 0., 1., 0., 1., 1., 0.]);
        let normal = builder.floats("VEC3", &[0., 0., 1., 0., 0., 1., 0., 0., 1., 0., 0., 1.]);
        let indices = builder.accessor("SCALAR", U8, indices.len(), &indices);
        builder.primitive(
            json!({ "mode": mode, "indices": indices, "attributes": { "POSITION": position,
            "NORMAL": normal } }),
        );
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
    builder
        .primitive(json!({ "indices": indices, "attributes": { "POSITION": position, "NORMAL": normal } }));
    let scene = load(&builder);
    assert_eq!(
        only(&scene).positions.iter().map(|p| p.x).collect::<Vec<_>>(),
        [30., 300., 2997.]
    );
    assert_eq!(only(&scene).indices, [[2, 0, 1]]);
}

#[test]
fn two_nodes_instance_one_mesh() {
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
    // The mirrored copy is turned over, so that its front stays on the side of the normal.
    assert_eq!(deformed.indices, [[0, 1, 2], [3, 5, 4]]);
    assert_eq!(deformed.normals, [Vec3::Z; 6]);
    assert_eq!(
        (deformed.meshes[1].first_triangle, deformed.meshes[1].first_vertex),
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
            .transform_point3(DVec3::ZERO)
            .abs_diff_eq(DVec3::new(0., 1., 3.), 1e-6)
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
        DMat4::IDENTITY
    );
}

#[test]
fn missing_normals_become_flat_normals() {
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
            tangent.truncate().dot(*normal).abs() < 1e-6 && (tangent.truncate().length() - 1.).abs() < 1e-6
        );
    }
}

#[test]
fn tangents_follow_the_texture_coordinates_of_normal_maps() {
    let mut builder = Builder::triangle();
    let normal = builder.floats("VEC3", &[0., 0., 1., 0., 0., 1., 0., 0., 1.]);
    // u increases along y, and v along −x, because it points down in glTF. The bitangent, which is up in the
    // image, is therefore +x.
    let uv = builder.floats("VEC2", &[0., 0., 0., -1., 1., 0.]);
    let view = builder.view(&png(2, 2, [128, 128, 255, 255]));
    builder.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
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
fn all_material_properties_are_read() {
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
    let moved = json!({ "KHR_texture_transform": { "offset": [0.25, 0.5],
        "rotation": std::f32::consts::FRAC_PI_2, "scale": [2, 3], "texCoord": 1 } });
    builder.push(
        "materials",
        json!({
            "name": "all", "doubleSided": true, "alphaMode": "MASK", "alphaCutoff": 0.25,
            "emissiveFactor": [1, 0.5, 0],
            "pbrMetallicRoughness": { "baseColorFactor": [0.1, 0.2, 0.3, 0.4], "metallicFactor": 0.5,
                "roughnessFactor": 0.25,
                "baseColorTexture": { "index": 0, "extensions": moved },
                "metallicRoughnessTexture": { "index": 1 } },
            "normalTexture": { "index": 1, "scale": 2, "extensions": moved },
            "occlusionTexture": { "index": 1, "strength": 0.5, "extensions": moved },
            "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 4 },
            "KHR_materials_unlit": {}, "VENDOR_x": 1 }
        }),
    );
    builder.json["extensionsUsed"] = json!(["VENDOR_x", "KHR_texture_transform"]);
    builder.first_primitive()["material"] = json!(0);
    let scene = load(&builder);
    let material = &scene.materials[0];
    assert_eq!(
        (material.name.as_str(), material.double_sided, material.unlit),
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
        let uv = texture.texture_from_uv.transform_point2(Vec2::new(0.5, 0.25));
        assert!(uv.abs_diff_eq(Vec2::new(0.25 + 0.75, 0.5 - 1.), 1e-6), "{uv}");
    }
    let sampler = scene.textures[material.base_color_texture.unwrap().texture].sampler;
    assert_eq!(
        (sampler.wrap_u, sampler.wrap_v, sampler.mag_linear),
        (Wrap::Clamp, Wrap::Mirror, false)
    );
    assert_eq!((sampler.min_linear, sampler.mip_linear), (true, Some(false)));
    assert_eq!(scene.images.len(), 1, "an image is decoded once");
    assert_eq!((scene.images[0].width, scene.images[0].height), (4, 2));
    assert_eq!(scene.images[0].rgba8()[..8], [10, 20, 30, 40, 10, 20, 30, 40]);
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
        let view = builder.json["accessors"][colors]["bufferView"].as_u64().unwrap() as usize;
        builder.json["bufferViews"][view]["byteStride"] = json!(stride);
        builder.first_primitive()["attributes"]["COLOR_0"] = json!(colors);
        let scene = load(&builder);
        assert!(
            only(&scene).colors.iter().all(|c| c.abs_diff_eq(expected, 1e-6)),
            "{:?}",
            only(&scene).colors
        );
    }
}

#[test]
fn extras_of_lights_state_their_size() {
    let mut builder = Builder::triangle();
    builder.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": [
        { "type": "point", "extras": { "radius": 0.25 } },
        { "type": "spot", "spot": {}, "extras": { "shadow_soft_size": 2, "other": [1, "x"] } },
        { "type": "directional", "extras": { "angle": 0.1, "radius": 3 } },
        { "type": "point", "extras": { "radius": -1 } },
        { "type": "point", "extras": { "radius": "large", "angle": 1 } },
        { "type": "point", "extras": [0.5] },
        { "type": "point", "extras": { "radius": 1e300 } },
        { "type": "point" } ] } });
    let radii: Vec<_> = load(&builder).lights.iter().map(|l| l.radius).collect();
    let stated = [Some(0.25), Some(2.0), Some(0.05)];
    assert_eq!(radii[..3], stated);
    assert_eq!(radii[3..], [None; 5]);
}

#[test]
fn settings_replace_the_size_of_lights() {
    let mut builder = Builder::triangle();
    builder.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": [
        { "type": "point", "extras": { "radius": 0.25 } }, { "type": "point" }, { "type": "point" },
        { "type": "directional" }, { "type": "directional", "extras": { "angle": 1 } } ] } });
    for light in 0..5 {
        let lit = json!({ "extensions": { "KHR_lights_punctual": { "light": light } } });
        builder.push("nodes", lit);
    }
    let scene = load(&builder);
    let mut config = canopy::config::Config::default();
    config.lights.radius = 0.5;
    config.lights.radii = vec![-1.0, 3.0];
    config.sun.angle = 60.0;
    let pose = Pose::new(&scene, None, 0.0);
    let lights = canopy::render::light::lights::gather(&scene, &pose, &config, 1e3);
    let radii: Vec<f32> = lights.iter().map(|light| light.radius).collect();
    assert_eq!(radii[..3], [0.25, 3.0, 0.5]);
    assert!((radii[3] - 0.5).abs() < 1e-6, "{radii:?}");
    assert!((radii[4] - 0.5_f32.sin()).abs() < 1e-6, "{radii:?}");
    // A scene of a centimetre would lie within a bulb.
    config.lights.radius = -1.0;
    for (scene_radius, bulb) in [(100.0, 0.05), (0.01, 2e-4)] {
        let lights = canopy::render::light::lights::gather(&scene, &pose, &config, scene_radius);
        assert_eq!([lights[0].radius, lights[1].radius], [0.25, 3.0]);
        assert!((lights[2].radius - bulb).abs() < 1e-7);
    }
}

#[test]
fn lights_and_cameras() {
    let mut builder = Builder::triangle();
    builder.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": [
        { "type": "directional", "intensity": 3 },
        { "type": "spot", "color": [1, 0.5, 0.25], "range": 7, "spot": { "innerConeAngle": 0.1,
        "outerConeAngle": 0.2 } } ] } });
    builder.push(
        "nodes",
        json!({ "extensions": { "KHR_lights_punctual": { "light": 1 } } }),
    );
    builder.push(
        "cameras",
        json!({ "type": "perspective", "perspective": { "yfov": 0.5, "znear": 0.1 } }),
    );
    builder.push(
        "cameras",
        json!({ "type": "orthographic", "name": "flat", "orthographic": { "xmag": 1,
        "ymag": 2, "znear": 0, "zfar": 1 } }),
    );
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
    assert_eq!((scene.nodes[1].light, scene.nodes[2].camera), (Some(1), Some(0)));
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

/// A triangle whose vertices are attached to joints 0, 1 and both, in two sets. Joint 1 is one unit up.
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
    builder.push("skins", json!({ "joints": [1, 2], "inverseBindMatrices": binds }));
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

/// JSON numbers are doubles. Nodes below a root a million metres away keep their millimetres, including skins
/// and animated nodes.
#[test]
fn nodes_are_composed_in_doubles() {
    let far = [500_000.123, 6_378_137.4, -31.7];
    let below = |root: [f64; 3]| {
        let mut builder = skinned(&[1., 0., 0., 0., 1., 0., 0., 0., 0.5, 0.5, 0., 0.]);
        builder.json["nodes"][2]["translation"] = json!([0.001, 1.3, 0.2]);
        let joint_root = builder.push("nodes", json!({}));
        builder.json["nodes"][joint_root] = json!({ "translation": root, "children": [0, 1] });
        builder.json["scenes"] = json!([{ "nodes": [joint_root] }]);
        let input = builder.floats("SCALAR", &[0., 1.]);
        let output = builder.floats("VEC3", &[0., 0., 0., 0.25, 0.003, 0.]);
        builder.push(
            "animations",
            json!({ "samplers": [{ "input": input, "output": output }],
                    "channels": [{ "sampler": 0, "target": { "node": 1, "path": "translation" } }] }),
        );
        load(&builder)
    };
    let [near, far_off] = [[0.; 3], far].map(below);
    for time in [0., 0.7, 1.] {
        let expected = deform(&near, &Pose::new(&near, Some(0), time));
        let pose = Pose::new(&far_off, Some(0), time).translated(-DVec3::from(far));
        let found = deform(&far_off, &pose);
        for (found, expected) in found.positions.iter().zip(&expected.positions) {
            assert!(found.abs_diff_eq(*expected, 1e-6), "{time}: {found} {expected}");
        }
    }
    // There and back, by translations and by matrices.
    let mut builder = Builder::triangle();
    let turned = std::f64::consts::FRAC_1_SQRT_2;
    builder.json["nodes"] = json!([
        { "translation": [far[0], 0, 0], "rotation": [0, 0, turned, turned], "children": [1, 2] },
        { "translation": [0.2, far[0], 0], "mesh": 0 },
        { "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, far[0] - 0.3, 0.1, 1], "mesh": 0 },
    ]);
    let scene = load(&builder);
    let pose = Pose::new(&scene, None, 0.);
    for (node, expected) in [(1, DVec3::new(0., 0.2, 0.)), (2, DVec3::new(0.3, 0., 0.1))] {
        let found = pose.world_from_node[node].w_axis.truncate();
        assert!(found.abs_diff_eq(expected, 1e-8), "{found}");
    }
}

#[test]
fn joint_weights_without_a_sum_go_to_the_first_joint() {
    let scene = load(&skinned(&[0., 0., 0., 0., f32::NAN, 1., 0., 0., 1., 0., 0., 0.]));
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
    // An accessor without bytes is all zeros.
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
    assert!(message.contains("walk") && message.contains("run"), "{message}");
    assert_eq!(
        (scene.clips[0].channels.len(), scene.clips[0].duration_secs),
        (1, 2.)
    );
    warned(&scene, "animation 0: 1 channels without a node");
    warned(&scene, "unknown path");
    for (time, x) in [(0., 0.), (1., 0.), (1.5, 2.), (9., 4.)] {
        assert_eq!(
            Pose::new(&scene, Some(0), time).world_from_node[0].w_axis.x as f32,
            x
        );
    }
}

/// A triangle whose node is moved along x, with keys of these times and values.
fn moved(interpolation: &str, times: &[f32], xs: &[f32]) -> Builder {
    let mut builder = Builder::triangle();
    let input = builder.floats("SCALAR", times);
    let values: Vec<f32> = xs.iter().flat_map(|&x| [x, 0., 0.]).collect();
    let output = builder.floats("VEC3", &values);
    builder.push(
        "animations",
        json!({
            "samplers": [{ "input": input, "output": output, "interpolation": interpolation }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }],
        }),
    );
    builder
}

/// Positions of the node at each of `times` in the clip of [`moved`].
fn xs(scene: &Scene, times: &[f32]) -> Vec<f32> {
    let pose = |&time: &f32| Pose::new(scene, Some(0), time);
    times
        .iter()
        .map(|time| pose(time).world_from_node[0].w_axis.x as f32)
        .collect()
}

#[test]
fn key_times_are_put_in_order() {
    let unordered = "channel 0 of animation 0 has key times that do not increase";
    // Back and forth, with each value kept at its time.
    let scene = load(&moved("LINEAR", &[2., 0., 1.], &[20., 0., 10.]));
    assert_eq!(scene.warnings.len(), 1);
    warned(&scene, unordered);
    assert_eq!(scene.clips[0].duration_secs, 2.);
    assert_eq!(scene.clips[0].channels[0].times_secs, [0., 1., 2.]);
    assert_eq!(xs(&scene, &[0., 0.5, 1.5, 2.]), [0., 5., 15., 20.]);
    // Two keys of one time are a jump from the first to the last of them.
    let scene = load(&moved("LINEAR", &[0., 1., 1., 1., 2.], &[0., 4., 7., 8., 9.]));
    warned(&scene, unordered);
    let [before, at, after] = xs(&scene, &[0.5, 1., 1.5])[..] else {
        panic!()
    };
    assert!((before - 2.).abs() < 1e-6, "{before}");
    assert_eq!((at, after), (8., 8.5));
    let scene = load(&moved("STEP", &[0., 1., 1., 2.], &[0., 4., 8., 9.]));
    assert_eq!(xs(&scene, &[0.5, 0.999, 1., 1.5, 2.]), [0., 0., 8., 8., 9.]);
    // One jump after another, and a jump at the first key.
    let next = 1_f32.next_up();
    let scene = load(&moved("LINEAR", &[1., 1., next, next], &[0., 4., 8., 9.]));
    assert_eq!(scene.clips[0].channels[0].times_secs, [1., next]);
    assert_eq!(xs(&scene, &[0., 1., 2.]), [4., 4., 9.]);
    // In a spline, the in-tangent, value and out-tangent stay together.
    let tangent = 3.;
    let spline = [0., 10., 0., 0., 0., tangent];
    let scene = load(&moved("CUBICSPLINE", &[1., 0.], &spline));
    warned(&scene, unordered);
    let channel = &scene.clips[0].channels[0];
    assert_eq!(channel.times_secs, [0., 1.]);
    assert_eq!(channel.values[6], tangent);
    let [middle] = xs(&scene, &[0.5])[..] else {
        panic!()
    };
    assert!((middle - (5. + tangent / 8.)).abs() < 1e-5, "{middle}");
    // Keys in order stay unchanged.
    let sound = load(&moved("LINEAR", &[-1., 0., 1e-30], &[0., 1., 2.]));
    assert!(sound.warnings.is_empty(), "{:?}", sound.warnings);
    assert_eq!(sound.clips[0].channels[0].times_secs, [-1., 0., 1e-30]);
}

#[test]
fn keys_without_a_time_or_a_value_are_left_out() {
    let scene = load(&moved(
        "LINEAR",
        &[0., f32::NAN, 1., f32::INFINITY, 2.],
        &[0., 5., 10., 5., f32::NAN],
    ));
    warned(&scene, "channel 0 of animation 0 has 3 keys with NaN or infinity");
    assert_eq!(scene.clips[0].channels[0].times_secs, [0., 1.]);
    assert_eq!(xs(&scene, &[0.5, 9.]), [5., 10.]);
    for (interpolation, times, values, part, expected) in [
        (
            "LINEAR",
            &[0., 1., 2.][..],
            &[0., 10.][..],
            "3 keys, which need 9 values; its output has 6",
            10.,
        ),
        (
            "LINEAR",
            &[0., 1.],
            &[0., 10., 90.],
            "2 keys, which need 6 values; its output has 9",
            10.,
        ),
        ("CUBICSPLINE", &[0., 1.], &[0., 10.], "without its tangents", 10.),
        (
            "CUBICSPLINE",
            &[0., 1.],
            &[0., 7., 0., 9.],
            "2 keys, which need 18 values",
            7.,
        ),
    ] {
        let scene = load(&moved(interpolation, times, values));
        warned(&scene, part);
        assert_eq!(xs(&scene, &[2.]), [expected], "{part}");
    }
    // A channel without any key moves nothing, and many of them give one line.
    let mut builder = moved("LINEAR", &[f32::NAN], &[1.]);
    let channel = builder.json["animations"][0]["channels"][0].clone();
    builder.json["animations"][0]["channels"] = json!(vec![channel; 500]);
    let scene = load(&builder);
    assert!(scene.clips[0].channels.is_empty());
    assert_eq!(scene.warnings.len(), 2, "{:?}", scene.warnings);
    warned(&scene, "it moves nothing (and 499 more like it)");
    // Weights for another number of targets are ignored.
    let mut builder = Builder::triangle();
    builder.first_primitive()["targets"] = json!([{}, {}]);
    let times = builder.floats("SCALAR", &[0., 1.]);
    let weights = builder.floats("SCALAR", &[1.; 6]);
    builder.push(
        "animations",
        json!({
            "samplers": [{ "input": times, "output": weights }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }],
        }),
    );
    let scene = load(&builder);
    assert!(scene.clips[0].channels.is_empty());
    warned(&scene, "2 keys, which need 4 values; its output has 6");
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
        (scene.nodes[6].parent, scene.nodes[4].mesh, scene.nodes[4].skin),
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
fn undecodable_images_are_replaced() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("cut off.png"), &png(64, 64, [1, 2, 3, 255])[..60]).unwrap();
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
        builder.push("materials", json!({ "emissiveTexture": { "index": index } }));
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
    for name in ["cut%20off.png", "page.png", "huge.png", "missing.png", "../x.png"] {
        warned(&scene, name);
    }
    assert_eq!(scene.warnings.len(), 7);
}

#[test]
fn missing_images_show_only_where_they_are_colours() {
    let texture = json!({ "index": 0 });
    let mut builder = Builder::triangle();
    builder.push("images", json!({ "uri": "lost.png" }));
    builder.push("images", json!({ "uri": "gone.png" }));
    builder.push("textures", json!({ "source": 0 }));
    builder.push("textures", json!({ "source": 1 }));
    let layers = json!({
        "KHR_materials_sheen": { "sheenColorTexture": texture, "sheenRoughnessTexture": texture },
        "KHR_materials_specular": { "specularTexture": texture, "specularColorTexture": texture },
        "KHR_materials_clearcoat": {
            "clearcoatTexture": texture, "clearcoatRoughnessTexture": texture,
            "clearcoatNormalTexture": texture,
        },
        "KHR_materials_transmission": { "transmissionTexture": texture },
    });
    builder.push(
        "materials",
        json!({
            "pbrMetallicRoughness": {
                "baseColorTexture": texture, "metallicRoughnessTexture": texture, "roughnessFactor": 0.25,
            },
            "normalTexture": texture,
            "occlusionTexture": texture,
            "emissiveTexture": texture,
            "extensions": layers,
        }),
    );
    builder.push("materials", json!({ "normalTexture": { "index": 1 } }));
    let scene = load(&builder);
    warned(&scene, "lost.png");
    warned(
        &scene,
        "a checkerboard replaces its colours, and its other channels are ignored",
    );
    warned(&scene, "gone.png");
    warned(&scene, "materials ignore it");
    let (material, other) = (&scene.materials[0], &scene.materials[1]);
    assert_eq!(other.normal_texture, None);
    let checker = |texture: Option<TextureRef>| {
        let image = &scene.images[scene.textures[texture.unwrap().texture].image];
        assert_eq!(image.rgba8()[..8], [255, 0, 255, 255, 0, 0, 0, 255]);
    };
    checker(material.base_color_texture);
    checker(material.emissive_texture);
    assert_eq!(material.roughness, 0.25);
    assert_eq!(material.metallic_roughness_texture, None);
    assert_eq!(material.normal_texture, None);
    assert_eq!(material.occlusion_texture, None);
    let layers = material.layers.as_deref().unwrap();
    checker(layers.sheen_color_texture);
    checker(layers.specular_color_texture);
    assert_eq!(layers.slots().iter().flatten().count(), 2);

    let dir = TempDir::new().unwrap();
    let maps = "map_Kd {}\nmap_Ke {}\nmap_d a{}\nmap_Pr {}\nmap_Pm a{}\nnorm {}\nPr 0.25\nPm 0.75\n";
    let mtl = format!("newmtl a\n{}", maps.replace("{}", "lost.png"));
    fs::write(dir.path().join("a.mtl"), mtl).unwrap();
    let path = dir.path().join("a.obj");
    fs::write(
        &path,
        "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n",
    )
    .unwrap();
    let scene = load_files(&[&path]).unwrap();
    let material = &scene.materials[0];
    assert!(material.base_color_texture.is_some() && material.emissive_texture.is_some());
    assert_eq!((material.roughness, material.metallic), (0.25, 0.75));
    assert_eq!(material.metallic_roughness_texture, None);
    assert_eq!(
        (material.normal_texture, material.alpha_mode),
        (None, AlphaMode::Opaque)
    );
    let color = material.base_color_texture.unwrap();
    assert_eq!(scene.textures[color.texture].image, 0);
    warned(&scene, "lost.png");
    warned(&scene, "alost.png");
}

// Bad files.

#[test]
fn files_that_are_not_scenes_are_refused() {
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
            format!("{{\"asset\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000)).as_bytes()
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
    for obj in [&b""[..], b"<html>\n", b"L\x01\x03\0 .text"] {
        assert!(refusal("a.obj", obj).contains("is not an OBJ file"));
    }
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
fn supported_required_extensions_give_no_warning() {
    let mut builder = Builder::triangle();
    builder.json["extensionsRequired"] = json!([
        "KHR_mesh_quantization",
        "KHR_lights_punctual",
        "KHR_materials_unlit"
    ]);
    assert!(load(&builder).warnings.is_empty());
}

#[test]
fn accessors_beyond_their_buffers_are_refused() {
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
        ("byteOffset", json!(u64::MAX), "reaches past its buffer view 0"),
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
    warned(&load(&builder), "buffer 0 declares 1000 bytes and has 36");
    // Four billion vertices in a file of a few hundred bytes.
    let mut builder = triangle;
    builder.json["accessors"][0] =
        json!({ "type": "VEC3", "componentType": F32, "count": 4_000_000_000_u32 });
    refused(&builder, &["mesh 0 primitive 0", "load.max_empty_vertices"]);
}

#[test]
fn invalid_sparse_accessors_are_refused() {
    for (indices, count, part) in [
        (vec![0, 3], 2, "sparse indices"),
        (vec![1, 1], 2, "sparse indices"),
        (vec![0], 2, "reaches past"),
        (vec![0, 1], 4_000_000_000_u32, "reaches past"),
    ] {
        let mut builder = Builder::triangle();
        let indices = builder.view(&indices);
        let values = builder.view(&[0; 24]);
        builder.json["accessors"][0]["sparse"] = json!({ "count": count, "indices": { "bufferView": indices,
            "componentType": U8 }, "values": { "bufferView": values } });
        refused(&builder, &["accessor 0", part]);
    }
}

#[test]
fn out_of_range_indices_are_refused() {
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
            json!([{ "mesh": 0, "children": [1] }, { "children": [2] }, { "children": [1] }]),
            "is its own ancestor",
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
        [DMat4::IDENTITY]
    );
}

/// Positions of the visible meshes.
fn places(scene: &Scene) -> Vec<[f32; 3]> {
    let pose = Pose::new(scene, None, 0.);
    let origin = |node: usize| pose.world_from_node[node].w_axis.truncate().as_vec3();
    let instances = scene.instances();
    instances.map(|(node, _)| origin(node).to_array()).collect()
}

#[test]
fn nodes_listed_several_times_are_drawn_once() {
    let mut builder = Builder::triangle();
    builder.json["nodes"] = json!([
        { "translation": [1, 0, 0], "children": [1], "mesh": 0 },
        { "translation": [0, 2, 0], "mesh": 0 },
    ]);
    let child_root = "the scene lists node 1 as a root, and it is a child of node 0; it is drawn once, as \
                      that child";
    for roots in [json!([0, 1]), json!([1, 0])] {
        builder.json["scenes"] = json!([{ "nodes": roots }]);
        let scene = load(&builder);
        assert_eq!(places(&scene), [[1., 0., 0.], [1., 2., 0.]]);
        warned(&scene, child_root);
        assert_eq!(scene.warnings.len(), 1);
    }
    // A parent outside the scene contributes only its transform.
    builder.json["scenes"] = json!([{ "nodes": [1] }]);
    let scene = load(&builder);
    assert_eq!(places(&scene), [[1., 2., 0.]]);
    warned(&scene, child_root);
    builder.json["scenes"] = json!([{ "nodes": [0, 0] }]);
    let scene = load(&builder);
    assert_eq!(places(&scene), [[1., 0., 0.], [1., 2., 0.]]);
    warned(&scene, "the scene lists node 0 twice; it is drawn once");

    // A child of two parents belongs to the first visible one.
    builder.json["nodes"] = json!([
        { "translation": [1, 0, 0], "children": [2] },
        { "translation": [5, 0, 0], "children": [2, 2] },
        { "translation": [0, 2, 0], "mesh": 0 },
    ]);
    for (roots, place) in [(json!([0, 1]), 1.), (json!([1, 0]), 1.), (json!([1]), 5.)] {
        builder.json["scenes"] = json!([{ "nodes": roots }]);
        let scene = load(&builder);
        assert_eq!(places(&scene), [[place, 2., 0.]]);
        warned(
            &scene,
            "node 2 is a child of node 0 and of node 1; it is drawn once, below the first that is shown (and \
             1 more like it)",
        );
        assert_eq!(scene.warnings.len(), 1);
    }
}

#[test]
fn a_missing_default_scene_is_replaced_by_the_first() {
    let mut builder = Builder::triangle();
    builder.json["nodes"] = json!([{ "mesh": 0 }, { "mesh": 0, "translation": [7, 0, 0] }]);
    builder.json["scene"] = json!(3);
    let scene = load(&builder);
    assert_eq!(scene.instances().count(), 2);
    warned(
        &scene,
        "the default scene is scene 3, and the file has 0; every node is shown",
    );
    builder.json["scenes"] = json!([{ "nodes": [1] }]);
    let scene = load(&builder);
    assert_eq!(places(&scene), [[7., 0., 0.]]);
    warned(&scene, "the file has 1; scene 0 is shown");
}

#[test]
fn unused_buffers_need_no_data() {
    let mut builder = Builder::triangle();
    let length = builder.bin.len();
    builder.json["buffers"] = json!([
        { "byteLength": length },
        { "byteLength": 100, "uri": "lost.bin" },
        { "byteLength": 100 },
        { "byteLength": 100, "uri": "data:;base64,AAAA" },
    ]);
    let views: Vec<_> = (1..4)
        .map(|buffer| {
            let view = json!({ "buffer": buffer, "byteLength": 36 });
            builder.push("bufferViews", view)
        })
        .collect();
    let accessors: Vec<_> = views
        .iter()
        .map(|view| {
            let accessor = json!({ "bufferView": view, "type": "VEC3", "componentType": F32, "count": 3 });
            builder.push("accessors", accessor)
        })
        .collect();
    let scene = load(&builder);
    assert_eq!(only(&scene).positions[1], Vec3::X);
    assert_eq!(scene.warnings.len(), 2, "{:?}", scene.warnings);
    warned(&scene, "buffer 1 has no data (\"lost.bin\": ");
    warned(&scene, "no visible object reads it (and 1 more like it)");
    warned(
        &scene,
        "buffer 3 declares 100 bytes and has 3; visible objects need no more",
    );
    // An image in one is missing.
    builder.push("images", json!({ "bufferView": views[0] }));
    builder.push("textures", json!({ "source": 0 }));
    builder.push("materials", json!({ "emissiveTexture": { "index": 0 } }));
    warned(&load(&builder), "image 0: buffer 1: \"lost.bin\"");
    // Geometry needs its buffers.
    for (accessor, part) in accessors.into_iter().zip([
        "buffer 1: \"lost.bin\"",
        "buffer 2: it has neither a uri nor a GLB chunk",
        "reaches past buffer 3 (3 bytes of 100 that it declares)",
    ]) {
        let mut reads = builder.clone();
        reads.first_primitive()["attributes"]["POSITION"] = json!(accessor);
        refused(&reads, &[part]);
    }
}

#[test]
fn triangles_with_nan_or_infinite_corners_are_left_out() {
    for bad in [f32::NAN, f32::INFINITY] {
        let mut builder = Builder::new();
        let points = [0., 0., 0., 1., bad, 0., 0., 1., 0., 1., 0., 0.];
        let position = builder.floats("VEC3", &points);
        let indices = builder.accessor("SCALAR", U8, 6, &[0, 1, 2, 0, 3, 2]);
        builder.primitive(json!({ "indices": indices, "attributes": { "POSITION": position } }));
        let scene = load(&builder);
        assert_eq!(only(&scene).positions, [Vec3::ZERO, Vec3::X, Vec3::Y]);
        warned(
            &scene,
            "mesh 0 primitive 0 has positions that are NaN or infinite",
        );
        builder.json["accessors"][indices]["count"] = json!(3);
        warned(&load(&builder), "holds no triangles");
    }
    let mut builder = Builder::triangle();
    let offsets = builder.floats("VEC3", &[f32::NAN, 0., 0., 1., 0., 0., 0., f32::INFINITY, 0.]);
    builder.first_primitive()["targets"] = json!([{ "POSITION": offsets }]);
    let scene = load(&builder);
    assert_eq!(
        only(&scene).targets[0].positions,
        [Vec3::ZERO, Vec3::X, Vec3::ZERO]
    );
    warned(&scene, "morph target 0 that is not finite");
}

#[test]
fn a_scene_without_triangles_is_empty() {
    let mut builder = Builder::triangle();
    builder.json["nodes"] = json!([{}]);
    warned(&load(&builder), "holds no triangles");
    builder = Builder::new();
    builder.push("nodes", json!({ "camera": 0 }));
    builder.push(
        "cameras",
        json!({ "type": "perspective", "perspective": { "yfov": 1, "znear": 1 } }),
    );
    let scene = load(&builder);
    warned(&scene, "holds no triangles");
    assert_eq!(scene.cameras.len(), 1);
    warned(&load(&Builder::new()), "holds no triangles");
    warned(&obj("# nothing\n"), "holds no triangles");
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
fn load_limits_count_every_instance() {
    // The error names the first primitive beyond the limit, before the faults of any are found.
    let mut many = Builder::triangle();
    let indices = many.accessor("SCALAR", U8, 60_000, &[0, 1, 9].repeat(20_000));
    let mut primitive = many.first_primitive().clone();
    primitive["indices"] = json!(indices);
    many.json["meshes"][0]["primitives"] = json!(vec![primitive; 6]);
    refused(
        &many,
        &["mesh 0 primitive 5", "120000 triangles", "load.max_triangles"],
    );
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

/// The sheet of [`sheet`], with this number of squares along an edge.
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

/// Every corner of every triangle with all attributes of its vertex, in an order that Draco does not change.
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
            // A triangle may begin at another corner. The key is rounded, because quantisation changes the
            // values.
            let key = |v: &Vec<f32>| [v[0], v[2]].map(|c| (c * 16.).round() as i32);
            let first = (0..3).min_by_key(|&i| key(&vertices[i])).unwrap();
            (0..3).flat_map(|i| vertices[(first + i) % 3].clone()).collect()
        })
        .collect();
    triangles.sort_by_key(|t| {
        let stride = t.len() / 3;
        [0, 1, 2].map(|i| [t[i * stride], t[i * stride + 2]].map(|c| (c * 16.).round() as i32))
    });
    triangles
}

#[test]
fn draco_decoding_round_trips() {
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
            assert!((found - expected).abs() <= step, "{bits}: {found} {expected}");
        }
    }
    // Colours are fractions, independent of the accessor.
    let mut file = compressed(&source, Method::Exact);
    for normalized in [false, true] {
        let color = file.first_primitive()["attributes"]["COLOR_0"].as_u64().unwrap() as usize;
        file.json["accessors"][color]["normalized"] = json!(normalized);
        assert_eq!(only(&load(&file)).colors, only(&plain).colors);
    }
}

#[test]
fn attributes_missing_in_draco_come_from_accessors() {
    // An attribute that the stream lacks comes from its own accessor. Morph targets always do.
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
    // Unknown extensions of the primitive do not affect its geometry.
    file.first_primitive()["extensions"]["VENDOR_x"] = json!({});
    assert_eq!(load(&file).meshes[0].primitives.len(), 1);
    // A strip's stream holds triangles too.
    file.first_primitive()["mode"] = json!(5);
    assert_eq!(only(&load(&file)).indices.len(), 128);
}

#[test]
fn draco_streams_must_match_their_accessors() {
    let sound = compressed(&sheet(), Method::Exact);
    let attributes = sound.json["meshes"][0]["primitives"][0]["attributes"].clone();
    let accessor = |name: &str| attributes[name].as_u64().unwrap() as usize;
    let indices = sound.json["meshes"][0]["primitives"][0]["indices"]
        .as_u64()
        .unwrap() as usize;
    let (position, uv, joints) = (accessor("POSITION"), accessor("TEXCOORD_0"), accessor("JOINTS_0"));
    for (at, key, value, part) in [
        (position, "count", json!(80), "the accessors declare 80"),
        (position, "count", json!(82), "it has 81 vertices"),
        (position, "count", json!(u32::MAX), "load.max_triangles"),
        (indices, "count", json!(381), "more than the accessors declare"),
        (indices, "count", json!(387), "384 indices"),
        (indices, "count", json!(383), "383 indices do not form triangles"),
        (indices, "count", json!(u32::MAX), "load.max_triangles"),
        (uv, "count", json!(80), "80 elements for 81 vertices"),
        (uv, "componentType", json!(U8), "which is not a valid U8"),
        (joints, "type", json!("VEC3"), "VEC4"),
    ] {
        let mut file = sound.clone();
        file.json["accessors"][at][key] = value;
        refused(&file, &["mesh 0 primitive 0", part]);
    }
    // The values of `min` and `max` are ignored.
    let mut file = sound.clone();
    file.json["accessors"][position]["max"] = json!([4., 2., 2.]);
    assert!(load(&file).warnings.is_empty());
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
fn broken_draco_streams_never_panic() {
    for method in [Method::Exact, Method::Quantised(11)] {
        let sound = compressed(&sheet(), method);
        let length = sound.json["bufferViews"][0]["byteLength"].as_u64().unwrap() as usize;
        for cut in (0..length).step_by(71) {
            let mut file = sound.clone();
            file.json["bufferViews"][0]["byteLength"] = json!(cut);
            refused(&file, &["mesh 0 primitive 0", DRACO, "buffer view 0"]);
        }
        // Flipped bits may leave a stream that decodes, but must not cause a panic.
        let mut refusals = 0;
        for bit in (0..8 * length).step_by(101) {
            let mut file = sound.clone();
            file.bin[bit / 8] ^= 1 << (bit % 8);
            if let Err(error) = try_bytes("test.glb", &file.glb()) {
                let message = error.to_string();
                assert!(message.contains("mesh 0") && !message.contains('\n'), "{message}");
                refusals += 1;
            }
        }
        assert!(refusals > 10, "{refusals} refusals");
    }
}

// meshopt.

/// Description of the first primitive, independent of the first corner of each triangle. The codec of
/// triangles rotates them.
fn described(scene: &Scene) -> String {
    let mut primitive = only(scene).clone();
    for triangle in &mut primitive.indices {
        let first = (0..3).min_by_key(|&i| triangle[i]).unwrap();
        triangle.rotate_left(first);
    }
    format!("{primitive:?}")
}

#[test]
fn meshopt_decoding_round_trips() {
    let mut source = sheet();
    let plain = load(&source);
    for name in NAMES {
        for version in [0, 1] {
            let scene = load(&packed(&source, name, version));
            assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
            assert_eq!(described(&scene), described(&plain), "{name} {version}");
        }
    }
    // Indices of 32 bits, in a strip.
    let corners: Vec<u32> = only(&plain).indices.as_flattened()[..382].to_vec();
    let bytes: Vec<u8> = corners.iter().flat_map(|c| c.to_le_bytes()).collect();
    let indices = source.accessor("SCALAR", U32, corners.len(), &bytes);
    source.first_primitive()["indices"] = json!(indices);
    source.first_primitive()["mode"] = json!(5);
    let old = source.json["accessors"][8]["bufferView"].clone();
    assert_eq!(source.json["accessors"][8]["type"], "SCALAR", "{old}");
    let plain = load(&source);
    for version in [0, 1] {
        let scene = load(&packed(&source, NAMES[0], version));
        assert_eq!(described(&scene), described(&plain), "{version}");
    }
}

/// An accessor like [`Builder::accessor`], over a stream encoded with `filter`.
fn filtered(
    builder: &mut Builder,
    (kind, component, normalized): (&str, u32, bool),
    filter: &str,
    [stride, count]: [usize; 2],
    bytes: &[u8],
) -> usize {
    let stream = meshopt::attributes(bytes, stride, 1);
    let view = meshopt::stream_view(builder, NAMES[1], &stream, "ATTRIBUTES", filter, [stride, count]);
    builder.json["bufferViews"][view]["byteStride"] = json!(stride);
    builder.push(
        "accessors",
        json!({ "bufferView": view, "type": kind, "componentType": component, "count": count,
            "normalized": normalized }),
    )
}

fn bytes_of<T: bytemuck::NoUninit>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

#[test]
fn meshopt_filters_round_trip() {
    let plain = load(&sheet());
    let plain = only(&plain);
    let normals: Vec<[f32; 4]> = plain.normals.iter().map(|n| n.extend(0.).to_array()).collect();
    let colors: Vec<[f32; 4]> = plain.colors.iter().map(|c| c.to_array()).collect();
    let positions: Vec<[f32; 3]> = plain.positions.iter().map(|p| p.to_array()).collect();
    let turns: Vec<Quat> = (0..5).map(|i| Quat::from_rotation_y(0.4 * i as f32)).collect();
    let quaternions: Vec<[f32; 4]> = turns.iter().map(|q| q.to_array()).collect();
    for wide in [false, true] {
        let mut builder = Builder::new();
        let exponents = encode_filter_exp(&positions, 20, EncodeExpMode::Separate);
        let position = filtered(
            &mut builder,
            ("VEC3", F32, false),
            "EXPONENTIAL",
            [12, 81],
            &bytes_of(&exponents),
        );
        let (normal, color) = if wide {
            let normals = encode_filter_oct::<i16>(&normals, 14);
            let colors = encode_filter_color::<u16>(&colors, 14);
            (
                filtered(
                    &mut builder,
                    ("VEC3", I16, true),
                    "OCTAHEDRAL",
                    [8, 81],
                    &bytes_of(&normals),
                ),
                filtered(
                    &mut builder,
                    ("VEC4", U16, true),
                    "COLOR",
                    [8, 81],
                    &bytes_of(&colors),
                ),
            )
        } else {
            let normals = encode_filter_oct::<i8>(&normals, 8);
            let colors = encode_filter_color::<u8>(&colors, 8);
            (
                filtered(
                    &mut builder,
                    ("VEC3", I8, true),
                    "OCTAHEDRAL",
                    [4, 81],
                    &bytes_of(&normals),
                ),
                filtered(
                    &mut builder,
                    ("VEC4", U8, true),
                    "COLOR",
                    [4, 81],
                    &bytes_of(&colors),
                ),
            )
        };
        let rotations = encode_filter_quat(&quaternions, 14);
        let output = filtered(
            &mut builder,
            ("VEC4", I16, true),
            "QUATERNION",
            [8, 5],
            &bytes_of(&rotations),
        );
        let times = filtered(
            &mut builder,
            ("SCALAR", F32, false),
            "NONE",
            [4, 5],
            &bytes_of(&[0_f32, 1., 2., 3., 4.]),
        );
        let corners: Vec<u8> = plain.indices.as_flattened().iter().map(|c| *c as u8).collect();
        let corners: Vec<u16> = corners.iter().map(|c| u16::from(*c)).collect();
        let stream = meshopt::indices(&bytes_of(&corners), 2, "TRIANGLES", 1);
        let view = meshopt::stream_view(&mut builder, NAMES[1], &stream, "TRIANGLES", "NONE", [2, 384]);
        let indices = builder.push(
            "accessors",
            json!({ "bufferView": view, "type": "SCALAR", "componentType": U16, "count": 384 }),
        );
        builder.primitive(json!({ "indices": indices, "attributes": { "POSITION": position,
            "NORMAL": normal, "COLOR_0": color } }));
        builder.push(
            "animations",
            json!({ "samplers": [{ "input": times, "output": output }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "rotation" } }] }),
        );
        meshopt::place_buffers(&mut builder, NAMES[1]);
        let scene = load(&builder);
        let found = only(&scene);
        let step = if wide { 1e-3 } else { 0.03 };
        assert_eq!(found.indices.len(), plain.indices.len());
        for v in 0..81 {
            assert!(found.positions[v].abs_diff_eq(plain.positions[v], 1e-5), "{v}");
            assert!(
                found.normals[v].abs_diff_eq(plain.normals[v], step),
                "{v}: {}",
                found.normals[v]
            );
            assert!(
                found.colors[v].abs_diff_eq(plain.colors[v], step),
                "{v}: {} {}",
                found.colors[v],
                plain.colors[v]
            );
        }
        for (key, turn) in turns.iter().enumerate() {
            let pose = Pose::new(&scene, Some(0), key as f32);
            let found = Quat::from_mat4(&pose.world_from_node[0].as_mat4());
            assert!(found.dot(*turn).abs() > 1. - 1e-4, "{key}: {found} {turn}");
        }
    }
}

#[test]
fn invalid_meshopt_streams_are_refused() {
    let sound = packed(&sheet(), NAMES[0], 0);
    let views = sound.json["bufferViews"].as_array().unwrap();
    let mode = |view: usize| &views[view]["extensions"][NAMES[0]]["mode"];
    assert_eq!((mode(0), mode(7)), (&json!("ATTRIBUTES"), &json!("ATTRIBUTES")));
    assert_eq!(mode(8), &json!("TRIANGLES"));
    for (view, key, value, part) in [
        (0, "byteStride", json!(6), "elements of 6 bytes"),
        (0, "byteStride", json!(0), "elements of 0 bytes"),
        (0, "byteStride", json!(260), "elements of 260 bytes"),
        (0, "byteStride", json!(u64::MAX), "Attributes"),
        (0, "filter", json!("OCTAHEDRAL"), "Octahedral"),
        (0, "filter", json!("QUATERNION"), "Quaternion"),
        (0, "filter", json!("COLOR"), "Color"),
        (0, "filter", json!("SQUARE"), "SQUARE"),
        (0, "mode", json!("POINTS"), "POINTS"),
        (0, "mode", json!("TRIANGLES"), "elements of 12 bytes"),
        (0, "count", json!(4_000_000_000_u32), "do not fit"),
        (0, "count", json!(u64::MAX), "do not fit"),
        (0, "count", json!(80), "broken"),
        (0, "count", json!(-1), NAMES[0]),
        (0, "buffer", json!(1), "buffer 1 has no bytes"),
        (0, "buffer", json!(9), "buffer 9 has no bytes"),
        (0, "byteOffset", json!(u64::MAX), "reaches past buffer 0"),
        (0, "byteLength", json!(1 << 24), "reaches past buffer 0"),
        (0, "byteLength", json!(0), "do not fit"),
        (8, "byteStride", json!(1), "elements of 1 bytes"),
        (8, "count", json!(383), "383 elements"),
        (8, "count", json!(3_999_999_999_u32), "do not fit"),
        (8, "filter", json!("EXPONENTIAL"), "Exponential"),
        (8, "mode", json!("INDICES"), NAMES[0]),
    ] {
        let mut file = sound.clone();
        file.json["bufferViews"][view]["extensions"][NAMES[0]][key] = value;
        refused(&file, &[&format!("buffer view {view}"), NAMES[0], part]);
    }
    // Decoded indices are as untrusted as plain ones.
    let mut source = sheet();
    let indices = source.json["accessors"][8]["bufferView"].as_u64().unwrap() as usize;
    let at = source.json["bufferViews"][indices]["byteOffset"]
        .as_u64()
        .unwrap() as usize;
    source.bin[at] = 200;
    refused(
        &packed(&source, NAMES[0], 1),
        &["mesh 0 primitive 0", "index 200", "81 vertices"],
    );
}

#[test]
fn decoded_meshopt_bytes_count_towards_the_limit() {
    // A stream of a few bytes that holds 512 KiB of zeros, 33 times.
    let mut builder = Builder::triangle();
    let stream = meshopt::attributes(&vec![0; 1 << 19], 256, 1);
    assert!(stream.len() < 5000, "{}", stream.len());
    for _ in 0..33 {
        meshopt::stream_view(
            &mut builder,
            NAMES[0],
            &stream,
            "ATTRIBUTES",
            "NONE",
            [256, 1 << 11],
        );
    }
    refused(
        &builder,
        &["buffer view 33", "load.max_file_bytes", "decompressed bytes"],
    );
    builder.json["bufferViews"].as_array_mut().unwrap().pop();
    load(&builder);
}

#[test]
fn broken_meshopt_streams_never_panic() {
    let mut refusals = 0;
    for version in [0, 1] {
        let sound = packed(&sheet(), NAMES[1], version);
        let length = sound.bin.len();
        for bit in (0..8 * length).step_by(61) {
            let mut file = sound.clone();
            file.bin[bit / 8] ^= 1 << (bit % 8);
            if let Err(error) = try_bytes("test.glb", &file.glb()) {
                let message = error.to_string();
                assert!(
                    !message.contains('\n') && message.contains("test.glb"),
                    "{message}"
                );
                refusals += 1;
            }
        }
        let streams = sound.json["bufferViews"].as_array().unwrap().len();
        for view in 0..streams {
            let length = &sound.json["bufferViews"][view]["extensions"][NAMES[1]]["byteLength"];
            for cut in (0..length.as_u64().unwrap()).step_by(7) {
                let mut file = sound.clone();
                file.json["bufferViews"][view]["extensions"][NAMES[1]]["byteLength"] = json!(cut);
                refused(&file, &[&format!("buffer view {view}"), NAMES[1]]);
            }
        }
    }
    assert!(refusals > 20, "{refusals} refusals");
}

#[test]
fn optional_compression_falls_back_to_plain_bytes() {
    // meshopt: streams after the plain bytes of the same views.
    let source = sheet();
    let streams = packed(&source, NAMES[0], 0);
    let mut both = source.clone();
    let start = both.bin.len().next_multiple_of(4);
    both.bin.resize(start, 0);
    both.bin.extend(&streams.bin);
    for view in 0..9 {
        let mut extension = streams.json["bufferViews"][view]["extensions"].clone();
        let offset = &mut extension[NAMES[0]]["byteOffset"];
        *offset = json!(offset.as_u64().unwrap() as usize + start);
        both.json["bufferViews"][view]["extensions"] = extension;
    }
    both.json["extensionsUsed"] = json!([NAMES[0]]);
    let plain = described(&load(&source));
    assert!(load(&both).warnings.is_empty());
    assert_eq!(described(&load(&both)), plain);
    let mut broken = both.clone();
    broken.bin[start] = 0;
    let scene = load(&broken);
    assert_eq!(described(&scene), plain);
    warned(&scene, "buffer view 0: EXT_meshopt_compression");
    warned(&scene, "its plain bytes are read instead");
    broken.json["extensionsRequired"] = json!([NAMES[0]]);
    refused(&broken, &["buffer view 0", NAMES[0], "broken"]);

    // Draco: a stream beside plain accessors.
    let streams = compressed(&source, Method::Exact);
    let mut both = source.clone();
    let view = both.view(&streams.bin);
    let mut extension = streams.json["meshes"][0]["primitives"][0]["extensions"].clone();
    extension[DRACO]["bufferView"] = json!(view);
    both.first_primitive()["extensions"] = extension;
    both.json["extensionsUsed"] = json!([DRACO]);
    assert!(load(&both).warnings.is_empty());
    let at = both.json["bufferViews"][view]["byteOffset"].as_u64().unwrap() as usize;
    both.bin[at] = 0;
    let scene = load(&both);
    assert_eq!(described(&scene), plain);
    warned(&scene, "its plain accessors are read instead");
    both.json["extensionsRequired"] = json!([DRACO]);
    refused(&both, &["mesh 0 primitive 0", DRACO]);
}

#[test]
fn fallback_buffers_may_be_missing_and_images_compressed() {
    let mut file = packed(&sheet(), NAMES[0], 0);
    file.json["buffers"][1]["uri"] = json!("not shipped.bin");
    load(&file);
    file.json["buffers"][1]
        .as_object_mut()
        .unwrap()
        .remove("extensions");
    warned(&load(&file), "buffer 1 has no data (\"not shipped.bin\"");

    let mut builder = Builder::triangle();
    let mut image = png(3, 5, [1, 2, 3, 255]);
    image.resize(image.len().next_multiple_of(4), 0);
    let stream = meshopt::attributes(&image, 4, 0);
    let view = meshopt::stream_view(
        &mut builder,
        NAMES[0],
        &stream,
        "ATTRIBUTES",
        "NONE",
        [4, image.len() / 4],
    );
    builder.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    builder.push("textures", json!({ "source": 0 }));
    builder.push("materials", json!({ "emissiveTexture": { "index": 0 } }));
    meshopt::place_buffers(&mut builder, NAMES[0]);
    let scene = load(&builder);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    assert_eq!((scene.images[0].width, scene.images[0].height), (3, 5));
}

#[test]
fn sparse_accessors_work_with_compressed_and_strided_views() {
    // The base, the indices and the values are in streams, with elements of 12 bytes at a stride of 20. None
    // of them is at the beginning.
    let mut builder = Builder::new();
    let mut base = vec![0_u8; 20 * 4];
    for v in 0..3_usize {
        let position: Vec<u8> = [v as f32, 0., 0.].iter().flat_map(|f| f.to_le_bytes()).collect();
        base[4 + 20 * (v + 1) - 20..][..12].copy_from_slice(&position);
    }
    let view = |builder: &mut Builder, bytes: &[u8], stride: usize| {
        let stream = meshopt::attributes(bytes, stride, 0);
        let shape = [stride, bytes.len() / stride];
        meshopt::stream_view(builder, NAMES[0], &stream, "ATTRIBUTES", "NONE", shape)
    };
    let base = view(&mut builder, &base, 20);
    builder.json["bufferViews"][base]["byteStride"] = json!(20);
    let indices = view(&mut builder, &[9, 0, 2, 0, 9, 9, 9, 9], 4);
    let values: Vec<u8> = [7_f32, 7., 0., 5., 0.]
        .iter()
        .flat_map(|f| f.to_le_bytes())
        .collect();
    let values = view(&mut builder, &values, 4);
    let position = builder.push("accessors", json!({
        "bufferView": base, "byteOffset": 4, "type": "VEC3", "componentType": F32, "count": 3,
        "sparse": { "count": 1, "indices": { "bufferView": indices, "byteOffset": 2, "componentType": U16 },
            "values": { "bufferView": values, "byteOffset": 8 } },
    }));
    builder.primitive(json!({ "attributes": { "POSITION": position } }));
    meshopt::place_buffers(&mut builder, NAMES[0]);
    let expected = [Vec3::ZERO, Vec3::X, Vec3::new(0., 5., 0.)];
    assert_eq!(only(&load(&builder)).positions, expected);
    // Without a base the other elements are zeros. The values of `min` and `max` are ignored.
    let accessor = builder.json["accessors"][position].as_object_mut().unwrap();
    accessor.remove("bufferView");
    accessor.insert("min".into(), json!([3, 3, 3]));
    accessor.insert("max".into(), json!("large"));
    let scene = load(&builder);
    assert_eq!(
        only(&scene).positions,
        [Vec3::ZERO, Vec3::ZERO, Vec3::new(0., 5., 0.)]
    );
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
}

// Quantisation.

/// `values` as integers of type `component`, with the same number for each of three vertices, in elements of
/// whole words.
fn quantised(builder: &mut Builder, kind: &str, component: u32, normalized: bool, values: &[i32]) -> usize {
    let width = if [I8, U8].contains(&component) { 1 } else { 2 };
    let components = values.len() / 3;
    let stride = (components * width).next_multiple_of(4);
    let mut bytes = vec![0xee; 3 * stride];
    for (v, element) in values.chunks(components).enumerate() {
        for (c, value) in element.iter().enumerate() {
            let at = v * stride + c * width;
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
    }
    let accessor = builder.accessor(kind, component, 3, &bytes);
    builder.json["accessors"][accessor]["normalized"] = json!(normalized);
    let view = builder.json["accessors"][accessor]["bufferView"]
        .as_u64()
        .unwrap() as usize;
    builder.json["bufferViews"][view]["byteStride"] = json!(stride);
    accessor
}

#[test]
fn quantised_attributes_and_targets_are_dequantised() {
    for (component, least, most) in [
        (I8, -127, 127),
        (U8, 0, 255),
        (I16, -32767, 32767),
        (U16, 0, 65535),
    ] {
        for normalized in [false, true] {
            let mut builder = Builder::new();
            let scale = if normalized { 1. / most as f32 } else { 1. };
            let label = format!("{component} {normalized}");
            let points = [0, 0, 0, most, 0, 0, 0, most, 5];
            let position = quantised(&mut builder, "VEC3", component, normalized, &points);
            let uv = quantised(
                &mut builder,
                "VEC2",
                component,
                normalized,
                &[0, 1, most, 2, least, 3],
            );
            let moved = quantised(
                &mut builder,
                "VEC3",
                component,
                normalized,
                &[1, 2, 3, least, 0, 0, 0, 0, most],
            );
            // Directions already have unit length. Floats here equal their integers as fractions.
            let signed = [I8, I16].contains(&component);
            let mut attributes = json!({ "POSITION": position, "TEXCOORD_0": uv, "TEXCOORD_1": uv });
            let mut target = json!({ "POSITION": moved });
            if signed {
                let normal = quantised(
                    &mut builder,
                    "VEC3",
                    component,
                    true,
                    &[0, 0, most, 0, least, 0, most, 0, 0],
                );
                let tangent = quantised(
                    &mut builder,
                    "VEC4",
                    component,
                    true,
                    &[most, 0, 0, most, most, 0, 0, least, 0, least, 0, least],
                );
                attributes["NORMAL"] = json!(normal);
                attributes["TANGENT"] = json!(tangent);
                target["NORMAL"] = json!(moved);
                target["TANGENT"] = json!(moved);
            }
            builder.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
            builder.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
            builder.primitive(json!({ "attributes": attributes, "targets": [target] }));
            let scene = load(&builder);
            assert!(scene.warnings.is_empty(), "{label}: {:?}", scene.warnings);
            let primitive = only(&scene);
            let near = |found: &[Vec3], integers: &[i32]| {
                let expected = integers
                    .chunks(3)
                    .map(|v| Vec3::new(v[0] as f32, v[1] as f32, v[2] as f32) * scale);
                assert_eq!(found.len(), 3, "{label}");
                for (found, expected) in found.iter().zip(expected) {
                    assert!(
                        found.abs_diff_eq(expected, 1e-6 * most as f32 * scale),
                        "{label}: {found} {expected}"
                    );
                }
            };
            near(&primitive.positions, &points);
            let of_target = [1, 2, 3, least, 0, 0, 0, 0, most];
            near(&primitive.targets[0].positions, &of_target);
            for uvs in [&primitive.uv0, &primitive.uv1] {
                let uvs: Vec<Vec3> = uvs.iter().map(|uv| uv.extend(0.)).collect();
                near(&uvs, &[0, 1, 0, most, 2, 0, least, 3, 0]);
            }
            if signed {
                assert_eq!(primitive.normals, [Vec3::Z, Vec3::NEG_Y, Vec3::X], "{label}");
                let tangents = [Vec3::X.extend(1.), Vec3::X.extend(-1.), Vec3::NEG_Y.extend(-1.)];
                assert_eq!(primitive.tangents, tangents, "{label}");
                near(&primitive.targets[0].normals, &of_target);
                near(&primitive.targets[0].tangents, &of_target);
            }
        }
    }
}

// Instances.

const INSTANCING: &str = "EXT_mesh_gpu_instancing";

/// A triangle with a morph target, in three instances, below an animated node.
fn instanced() -> Builder {
    let mut builder = Builder::triangle();
    let up = builder.floats("VEC3", &[0., 0., 1., 0., 0., 1., 0., 0., 1.]);
    builder.first_primitive()["targets"] = json!([{ "POSITION": up }]);
    let translation = builder.floats("VEC3", &[0., 0., 0., 10., 0., 0., 0., 10., 0.]);
    let half = (0.5_f32.sqrt() * 32767.).round() as i16;
    let turns: Vec<u8> = [[0, 0, 0, 32767], [0, 0, 0, 32767], [0, 0, half, half]]
        .as_flattened()
        .iter()
        .flat_map(|i: &i16| i.to_le_bytes())
        .collect();
    let rotation = builder.accessor("VEC4", I16, 3, &turns);
    builder.json["accessors"][rotation]["normalized"] = json!(true);
    let scale = builder.floats("VEC3", &[1., 1., 1., 2., 2., 2., 1., 1., 1.]);
    let custom = builder.floats("SCALAR", &[1., 2., 3.]);
    builder.json["nodes"][0]["extensions"] = json!({ INSTANCING: { "attributes": {
        "TRANSLATION": translation, "ROTATION": rotation, "SCALE": scale, "_ID": custom } } });
    builder.json["nodes"][0]["translation"] = json!([0, 0, 1]);
    builder.push("nodes", json!({ "children": [0], "translation": [100, 0, 0] }));
    builder.json["extensionsUsed"] = json!([INSTANCING]);
    builder.json["extensionsRequired"] = json!([INSTANCING]);
    let times = builder.floats("SCALAR", &[0., 1.]);
    let weights = builder.floats("SCALAR", &[0., 4.]);
    let moves = builder.floats("VEC3", &[100., 0., 0., 200., 0., 0.]);
    builder.push(
        "animations",
        json!({
        "samplers": [{ "input": times, "output": weights }, { "input": times, "output": moves }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } },
            { "sampler": 1, "target": { "node": 1, "path": "translation" } }] }),
    );
    builder
}

#[test]
fn instances_are_children_of_their_node() {
    let scene = load(&instanced());
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    assert_eq!((scene.meshes.len(), scene.instances().count()), (1, 3));
    let at = |time| deform(&scene, &Pose::new(&scene, Some(0), time)).positions;
    let first: Vec<Vec3> = [
        [0., 0., 1.],
        [1., 0., 1.],
        [0., 1., 1.],
        [10., 0., 1.],
        [12., 0., 1.],
        [10., 2., 1.],
        [0., 10., 1.],
        [0., 11., 1.],
        [-1., 10., 1.],
    ]
    .into_iter()
    .map(Vec3::from)
    .collect();
    for (found, expected) in at(0.).iter().zip(&first) {
        assert!(
            found.abs_diff_eq(*expected + Vec3::X * 100., 1e-3),
            "{found} {expected}"
        );
    }
    // Parents move all instances, and their node's weights apply to all: 4 up, and twice that where the scale
    // is 2.
    for (v, (found, expected)) in at(1.).iter().zip(&first).enumerate() {
        let up = if (3..6).contains(&v) { 8. } else { 4. };
        let expected = *expected + Vec3::new(200., 0., up);
        assert!(found.abs_diff_eq(expected, 1e-3), "{v}: {found} {expected}");
    }
    // Two such files.
    let dir = TempDir::new().unwrap();
    let path = instanced().write(dir.path(), "a.glb");
    let both = load_files(&[&path, &path]).unwrap();
    assert_eq!(both.instances().count(), 6);
}

#[test]
fn instances_are_counted_before_allocation() {
    let mut builder = instanced();
    let many = builder.push(
        "accessors",
        json!({ "type": "VEC3", "componentType": F32, "count": 4_000_000_000_u32 }),
    );
    builder.json["nodes"][0]["extensions"][INSTANCING]["attributes"] = json!({ "TRANSLATION": many });
    refused(&builder, &["node 0", INSTANCING, "load.max_nodes"]);
    builder.json["accessors"][many]["count"] = json!(150_000);
    refused(&builder, &["mesh 0 primitive 0", "load.max_triangles", "150000"]);
    builder.json["nodes"][0]["extensions"][INSTANCING]["attributes"] = json!({ "_ID": many });
    refused(&builder, &["load.max_triangles"]);
}

#[test]
fn broken_instances_are_refused_where_they_are_required() {
    let attributes =
        |builder: &Builder| builder.json["nodes"][0]["extensions"][INSTANCING]["attributes"].clone();
    for (key, value, part) in [
        ("TRANSLATION", json!(99), "accessor 99"),
        ("TRANSLATION", json!(0.5), INSTANCING),
        ("ROTATION", attributes(&instanced())["SCALE"].clone(), "VEC3"),
    ] {
        let mut builder = instanced();
        builder.json["nodes"][0]["extensions"][INSTANCING]["attributes"][key] = value;
        refused(&builder, &["node 0", INSTANCING, part]);
        builder.json["extensionsRequired"] = json!([]);
        let scene = load(&builder);
        warned(&scene, "its mesh is shown once");
        assert_eq!(scene.instances().count(), 1);
    }
    let mut builder = instanced();
    let two = builder.floats("VEC3", &[f32::NAN; 6]);
    builder.json["nodes"][0]["extensions"][INSTANCING]["attributes"]["SCALE"] = json!(two);
    refused(&builder, &["SCALE has 2 elements where another attribute has 3"]);
    builder.json["nodes"][0]["extensions"][INSTANCING]["attributes"] = json!({ "SCALE": two });
    refused(&builder, &["instance 0 is not finite"]);
    builder.json["nodes"][0]["extensions"][INSTANCING]["attributes"] = json!({});
    refused(&builder, &["no attributes"]);
    // A skinned mesh is placed by its joints.
    let mut builder = skinned(&[1., 0., 0., 0., 1., 0., 0., 0., 0.5, 0.5, 0., 0.]);
    builder.json["nodes"][0]["extensions"] = json!({ INSTANCING: { "attributes": { "TRANSLATION": 0 } } });
    let scene = load(&builder);
    warned(&scene, "skinned meshes");
    assert_eq!(scene.instances().count(), 1);
}

// Extensions.

#[test]
fn unknown_required_extensions_do_not_prevent_loading() {
    let mut builder = Builder::triangle();
    builder.json["extensionsUsed"] = json!([
        "KHR_texture_transform",
        "KHR_future",
        "KHR_materials_sheen",
        "KHR_materials_unlit"
    ]);
    builder.json["extensionsRequired"] = json!(["KHR_texture_transform", "KHR_future", "VENDOR_unlisted"]);
    let scene = load(&builder);
    warned(
        &scene,
        "needs the extension KHR_future, which canopy does not read",
    );
    warned(&scene, "needs the extension VENDOR_unlisted");
    let report: Vec<_> = scene
        .extensions
        .iter()
        .map(|e| (e.name.as_str(), e.required, e.treatment))
        .collect();
    assert_eq!(report[0], ("KHR_future", true, Treatment::Ignored));
    assert_eq!(report[1].0, "KHR_materials_sheen");
    assert_eq!(
        report[2..],
        [
            ("KHR_materials_unlit", false, Treatment::Full),
            ("KHR_texture_transform", true, Treatment::Full),
            ("VENDOR_unlisted", true, Treatment::Ignored),
        ]
    );
    // Over several files, an extension is named once.
    let dir = TempDir::new().unwrap();
    let first = builder.write(dir.path(), "a.glb");
    builder.json["extensionsRequired"] = json!(["KHR_materials_unlit"]);
    let second = builder.write(dir.path(), "b.glb");
    let scene = load_files(&[&first, &second]).unwrap();
    assert_eq!(scene.extensions.len(), 5);
    assert!(scene.extensions[2].required && scene.extensions[3].required);
}

#[test]
fn geometry_with_an_unknown_compression_is_left_out_with_a_warning() {
    let future = "KHR_future_mesh_compression";
    let mut builder = Builder::triangle();
    let none = builder.push(
        "accessors",
        json!({ "type": "VEC3", "componentType": F32, "count": 99 }),
    );
    let other = json!({ "attributes": { "POSITION": none }, "extensions": { future: {} } });
    builder.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(other);
    builder.json["extensionsRequired"] = json!([future]);
    let scene = load(&builder);
    assert_eq!(scene.meshes[0].primitives.len(), 1);
    warned(
        &scene,
        "mesh 0 primitive 1 needs the extension KHR_future_mesh_compression",
    );
    builder.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .remove(0);
    refused(
        &builder,
        &["holds no triangles without the extension KHR_future_mesh_compression"],
    );

    // The same for a compressed buffer view without its plain bytes.
    let mut builder = Builder::triangle();
    let view = builder.push(
        "bufferViews",
        json!({ "buffer": 1, "byteLength": 36, "extensions": { "EXT_zip": { "buffer": 0 } } }),
    );
    let position = builder.push(
        "accessors",
        json!({ "bufferView": view, "type": "VEC3", "componentType": F32, "count": 3 }),
    );
    builder.primitive(json!({ "attributes": { "POSITION": position } }));
    builder.json["buffers"] = json!([{ "byteLength": 36 }, { "byteLength": 36 }]);
    let scene = load(&builder);
    warned(&scene, "mesh 1 primitive 0 needs the extension EXT_zip");
    assert_eq!(only(&scene).indices.len(), 1);
}

// Variants.

const VARIANTS: &str = "KHR_materials_variants";

/// A triangle with material 0, and with materials 1 and 2 in the variants "red" and "blue". A second triangle
/// always has material 0.
fn variants() -> Builder {
    let mut builder = Builder::triangle();
    builder.primitive(json!({ "attributes": { "POSITION": 0 }, "material": 0 }));
    for name in ["plain", "crimson", "navy"] {
        builder.push("materials", json!({ "name": name }));
    }
    builder.json["extensions"] = json!({ VARIANTS: { "variants": [{ "name": "red" }, { "name": "blue" },
        { "name": "bare" }] } });
    builder.first_primitive()["material"] = json!(0);
    builder.first_primitive()["extensions"] = json!({ VARIANTS: { "mappings": [
        { "material": 1, "variants": [0] }, { "material": 2, "variants": [1] } ] } });
    builder
}

fn names_of_materials(scene: &Scene) -> Vec<&str> {
    let primitives = scene.meshes.iter().flat_map(|m| &m.primitives);
    primitives
        .map(|p| scene.materials[p.material].name.as_str())
        .collect()
}

#[test]
fn variants_are_chosen_by_name_and_number() {
    let mut scene = load(&variants());
    assert_eq!(scene.variants, ["red", "blue", "bare"]);
    for (name, first) in [
        ("blue", "navy"),
        ("0", "crimson"),
        ("bare", "plain"),
        ("red", "crimson"),
        ("", "plain"),
    ] {
        scene.choose_variant(scene.variant(name).unwrap());
        assert_eq!(names_of_materials(&scene), [first, "plain"], "{name}");
    }
    let message = scene.variant("green").unwrap_err().to_string();
    assert!(
        message.contains("green") && message.contains("red") && message.contains("blue"),
        "{message}"
    );
    // Variants of the same name in several files are one variant.
    let dir = TempDir::new().unwrap();
    let first = variants().write(dir.path(), "a.glb");
    let mut other = variants();
    other.json["extensions"][VARIANTS]["variants"] = json!([{ "name": "blue" }, { "name": "odd" }]);
    let second = other.write(dir.path(), "b.glb");
    let mut scene = load_files(&[&first, &second]).unwrap();
    assert_eq!(scene.variants, ["red", "blue", "bare", "odd"]);
    for (name, found) in [
        ("blue", ["navy", "plain", "crimson", "plain"]),
        ("odd", ["plain", "plain", "navy", "plain"]),
    ] {
        scene.choose_variant(scene.variant(name).unwrap());
        assert_eq!(names_of_materials(&scene), found, "{name}");
    }
}

#[test]
fn broken_variants_are_refused() {
    for (mapping, part) in [
        (json!({ "material": 9, "variants": [0] }), "material 9"),
        (json!({ "material": 1, "variants": [7] }), "variant 7"),
        (json!({ "material": 1 }), VARIANTS),
    ] {
        let mut builder = variants();
        builder.first_primitive()["extensions"][VARIANTS]["mappings"] = json!([mapping]);
        refused(&builder, &["mesh 0 primitive 0", part]);
    }
}

// Visibility and pointers.

/// Adds an animation with a channel of KHR_animation_pointer for each pair of a pointer and values, with keys
/// at 0 s and 1 s.
fn point(builder: &mut Builder, channels: &[(&str, &str, &[f32])]) {
    let times = builder.floats("SCALAR", &[0., 1.]);
    let mut animation = json!({ "samplers": [], "channels": [] });
    for (number, (pointer, kind, values)) in channels.iter().enumerate() {
        let output = builder.floats(kind, values);
        animation["samplers"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "input": times, "output": output }));
        animation["channels"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "sampler": number,
            "target": { "path": "pointer",
            "extensions": { "KHR_animation_pointer": { "pointer": pointer } } } }));
    }
    builder.push("animations", animation);
}

#[test]
fn visibility_is_inherited_and_animated() {
    let hidden = json!({ "KHR_node_visibility": { "visible": false } });
    let mut builder = Builder::triangle();
    builder.json["nodes"] = json!([
        { "mesh": 0 },
        { "children": [2], "extensions": hidden, "translation": [50, 0, 0] },
        { "mesh": 0, "extensions": { "KHR_node_visibility": { "visible": true },
        "KHR_lights_punctual": { "light": 0 } } },
    ]);
    builder.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": [{ "type": "point" }] } });
    point(
        &mut builder,
        &[(
            "/nodes/1/extensions/KHR_node_visibility/visible",
            "SCALAR",
            &[0., 1.],
        )],
    );
    let scene = load(&builder);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    let bounds = Bounds::new(&scene);
    for (clip, time, shows) in [
        (None, 0., false),
        (Some(0), 0., false),
        (Some(0), 0.9, false),
        (Some(0), 1., true),
    ] {
        let pose = Pose::new(&scene, clip, time);
        assert_eq!(pose.visible, [true, shows, shows], "{time}");
        // Framing and bounds ignore hidden nodes.
        let far = if shows { 51. } else { 1. };
        assert_eq!(bounds.scene(&scene, &pose).max.x, far);
        assert_eq!(positions(&scene, &pose).len(), if shows { 6 } else { 3 });
        // Its triangles remain, without area.
        let deformed = deform(&scene, &pose);
        let corner = if shows {
            Vec3::new(51., 0., 0.)
        } else {
            Vec3::X * 50.
        };
        assert_eq!((deformed.indices.len(), deformed.positions[4]), (2, corner));
        let lights =
            canopy::render::light::lights::gather(&scene, &pose, &canopy::config::Config::default(), 1.0);
        assert_eq!(lights.len(), usize::from(shows));
    }
    // If nothing is visible, there is still a place to look at.
    builder.json["nodes"][0]["extensions"] = hidden;
    let scene = load(&builder);
    let pose = Pose::new(&scene, None, 0.);
    assert!(Bounds::new(&scene).scene(&scene, &pose).max.is_finite());
    assert!(!positions(&scene, &pose).is_empty());
}

#[test]
fn pointers_move_nodes_weights_lights_and_cameras() {
    let mut builder = Builder::triangle();
    let up = builder.floats("VEC3", &[0., 0., 1., 0., 0., 1., 0., 0., 1.]);
    builder.first_primitive()["targets"] = json!([{ "POSITION": up }, { "POSITION": up }]);
    builder.push("nodes", json!({ "mesh": 0, "weights": [5, 5] }));
    builder.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": [
        { "type": "spot", "spot": { "innerConeAngle": 0.1, "outerConeAngle": 0.5 } }] } });
    builder.push(
        "nodes",
        json!({ "extensions": { "KHR_lights_punctual": { "light": 0 } } }),
    );
    builder.push(
        "cameras",
        json!({ "type": "perspective", "perspective": { "yfov": 0.5, "znear": 0.1 } }),
    );
    builder.push(
        "cameras",
        json!({ "type": "orthographic", "orthographic": { "xmag": 1, "ymag": 2,
        "znear": 0, "zfar": 1 } }),
    );
    builder.push("nodes", json!({ "camera": 0 }));
    let light = "/extensions/KHR_lights_punctual/lights/0";
    point(
        &mut builder,
        &[
            ("/nodes/0/translation", "VEC3", &[0., 0., 0., 2., 0., 0.]),
            ("/nodes/0/rotation", "VEC4", &[0., 0., 0., 1., 0., 0., 1., 0.]),
            ("/nodes/0/scale", "VEC3", &[1., 1., 1., 3., 1., 1.]),
            ("/nodes/1/weights", "SCALAR", &[0., 1., 2., 3.]),
            ("/meshes/0/weights/1", "SCALAR", &[0., 8.]),
            (&format!("{light}/color"), "VEC3", &[0., 0., 0., 1., 0.5, -1.]),
            (&format!("{light}/intensity"), "SCALAR", &[0., 6.]),
            (&format!("{light}/range"), "SCALAR", &[1., 3.]),
            (&format!("{light}/spot/innerConeAngle"), "SCALAR", &[0., 0.4]),
            (&format!("{light}/spot/outerConeAngle"), "SCALAR", &[0.2, 0.6]),
            ("/cameras/0/perspective/yfov", "SCALAR", &[0.5, 1.5]),
            ("/cameras/1/orthographic/ymag", "SCALAR", &[1., 3.]),
        ],
    );
    let scene = load(&builder);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    let pose = Pose::new(&scene, Some(0), 0.5);
    let matrix = Mat4::from_scale_rotation_translation(
        Vec3::new(2., 1., 1.),
        Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
        Vec3::X,
    );
    assert!(
        pose.world_from_node[0].as_mat4().abs_diff_eq(matrix, 1e-5),
        "{}",
        pose.world_from_node[0]
    );
    assert_eq!(pose.weights[..2], [vec![0., 4.], vec![1., 2.]]);
    let moved = pose.light(&scene, 0);
    assert_eq!(
        (moved.color, moved.intensity, moved.range),
        (Vec3::new(0.5, 0.25, 0.), 3., Some(2.))
    );
    let LightKind::Spot {
        inner_angle,
        outer_angle,
    } = moved.kind
    else {
        panic!("{:?}", moved.kind)
    };
    assert!((inner_angle - 0.2).abs() < 1e-6 && (outer_angle - 0.4).abs() < 1e-6);
    assert_eq!(
        pose.camera(&scene, 0).projection,
        Projection::Perspective { fov_y: 1. }
    );
    assert_eq!(
        pose.camera(&scene, 1).projection,
        Projection::Orthographic { half_height: 2. }
    );
    // At rest, the pose stores no copies of lights, cameras and materials.
    let rest = Pose::new(&scene, None, 0.5);
    assert!(rest.lights.is_empty() && rest.cameras.is_empty() && rest.materials.is_empty());
    assert_eq!(rest.light(&scene, 0).intensity, 1.);
    assert_eq!(rest.weights[..2], [[0., 0.], [5., 5.]]);
    // Two files: the second file's clip moves the second file's objects.
    let dir = TempDir::new().unwrap();
    let path = builder.write(dir.path(), "a.glb");
    let both = load_files(&[&path, &path]).unwrap();
    let pose = Pose::new(&both, Some(1), 0.5);
    assert_eq!(
        (pose.light(&both, 0).intensity, pose.light(&both, 1).intensity),
        (1., 3.)
    );
    assert_eq!(
        pose.camera(&both, 2).projection,
        Projection::Perspective { fov_y: 1. }
    );
    assert_eq!(pose.world_from_node[0], DMat4::IDENTITY);
}

#[test]
fn pointers_move_materials() {
    let mut builder = Builder::triangle();
    let moved = json!({ "KHR_texture_transform": { "offset": [0.25, 0], "rotation": 0.5, "scale": [2,
        -1] } });
    let view = builder.view(&png(1, 1, [128, 128, 255, 255]));
    builder.push("images", json!({ "bufferView": view }));
    builder.push("textures", json!({ "source": 0 }));
    builder.push("materials", json!({ "name": "still" }));
    builder.push(
        "materials",
        json!({
            "alphaMode": "MASK", "emissiveFactor": [1, 0.5, 0],
            "pbrMetallicRoughness": { "baseColorTexture": { "index": 0, "extensions": moved } },
            "normalTexture": { "index": 0, "extensions": moved }, "occlusionTexture": { "index": 0 },
            "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 4 } },
        }),
    );
    let placed = "extensions/KHR_texture_transform";
    point(
        &mut builder,
        &[
            (
                "/materials/1/pbrMetallicRoughness/baseColorFactor",
                "VEC4",
                &[0., 0., 0., 0., 1., 0.5, 3., 1.],
            ),
            (
                "/materials/1/pbrMetallicRoughness/metallicFactor",
                "SCALAR",
                &[0., 0.5],
            ),
            (
                "/materials/1/pbrMetallicRoughness/roughnessFactor",
                "SCALAR",
                &[1., 0.5],
            ),
            ("/materials/1/alphaCutoff", "SCALAR", &[0., 1.]),
            ("/materials/1/normalTexture/scale", "SCALAR", &[0., 4.]),
            ("/materials/1/occlusionTexture/strength", "SCALAR", &[0., 1.]),
            ("/materials/1/emissiveFactor", "VEC3", &[0., 0., 0., 1., 1., 1.]),
            (
                "/materials/1/extensions/KHR_materials_emissive_strength/emissiveStrength",
                "SCALAR",
                &[0., 8.],
            ),
            (
                &format!("/materials/1/pbrMetallicRoughness/baseColorTexture/{placed}/offset"),
                "VEC2",
                &[0., 0., 1., 2.],
            ),
            (
                &format!("/materials/1/pbrMetallicRoughness/baseColorTexture/{placed}/rotation"),
                "SCALAR",
                &[0., 2.],
            ),
            (
                &format!("/materials/1/normalTexture/{placed}/scale"),
                "VEC2",
                &[1., 1., 3., 5.],
            ),
        ],
    );
    let scene = load(&builder);
    let unread: Vec<_> = scene.warnings.iter().filter(|w| w.contains("animate")).collect();
    assert!(unread.is_empty(), "{unread:?}");
    let pose = Pose::new(&scene, Some(0), 0.5);
    assert_eq!(pose.materials.len(), 1);
    assert_eq!(pose.material(&scene, 0).name, "still");
    let material = pose.material(&scene, 1);
    assert_eq!(
        material.base_color,
        Vec4::new(0.5, 0.25, 1., 0.5),
        "factors stay within their range"
    );
    assert_eq!(
        (material.metallic, material.roughness, material.alpha_cutoff),
        (0.25, 0.75, 0.5)
    );
    assert_eq!((material.normal_scale, material.occlusion_strength), (2., 0.5));
    assert_eq!(material.emissive, Vec3::splat(0.5 * 4.));
    // The parts that do not move stay unchanged.
    let matrix = |offset: [f32; 2], rotation: f32, scale: [f32; 2]| {
        Affine2::from_translation(offset.into())
            * Affine2::from_angle(-rotation)
            * Affine2::from_scale(scale.into())
    };
    let found = material.base_color_texture.unwrap().texture_from_uv;
    assert!(
        found.abs_diff_eq(matrix([0.5, 1.], 1., [2., -1.]), 1e-6),
        "{found}"
    );
    let found = material.normal_texture.unwrap().texture_from_uv;
    assert!(
        found.abs_diff_eq(matrix([0.25, 0.], 0.5, [2., 3.]), 1e-6),
        "{found}"
    );
}

#[test]
fn unsupported_animation_pointers_are_reported() {
    let mut builder = Builder::triangle();
    builder.push("materials", json!({}));
    let pointers = [
        "/materials/0/extensions/KHR_future/factor",
        "/materials/7/alphaCutoff",
        "/materials/00/alphaCutoff",
        "/materials/+0/alphaCutoff",
        "/materials/0/pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform/offset",
        "/nodes/0/weights",
        "/nodes/0/weights/0",
        "/nodes/9/translation",
        "/nodes/0",
        "/cameras/0/perspective/yfov",
        "/extensions/KHR_lights_punctual/lights/0/color",
        "nodes/0/translation",
        "/",
        "",
    ];
    let channels = pointers.map(|pointer| (pointer, "SCALAR", &[0., 1.][..]));
    point(&mut builder, &channels);
    let scene = load(&builder);
    for pointer in pointers {
        warned(
            &scene,
            &format!("animates \"{pointer}\", which canopy does not support"),
        );
    }
    assert!(scene.clips[0].channels.is_empty());
    // A broken sampler of a valid pointer is an error like any other.
    let mut builder = Builder::triangle();
    point(&mut builder, &[("/nodes/0/translation", "SCALAR", &[0., 1.])]);
    refused(&builder, &["pointer channel 0 of animation 0", "SCALAR"]);
    builder.json["animations"][0]["channels"][0]["sampler"] = json!(4);
    refused(&builder, &["pointer channel 0 of animation 0", "sampler 4"]);
}

// OBJ.

fn obj(text: &str) -> Scene {
    try_bytes("test.obj", text.as_bytes()).unwrap()
}

#[test]
fn obj_reads_faces_of_every_form() {
    let scene = obj(
        "\u{feff}# a square\r\nv 0 0 0\r\nv 1 0 0\r\nv 1 1 0\r\nv 0 1 0\r\nvt 0.25 0.75\r\nvn 0 0 2\r\n\
         f 1/1/1 2//1 \\\r\n 3/1 -1 # quad\r\n",
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
        (0.65, 0.)
    );
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
}

/// Scanners write vertices alone.
#[test]
fn obj_with_only_vertices_shows_points() {
    let cloud = obj("# a scan\no scan\nv 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv nan 0 0\nvn 0 0 1\nv 0 1 0 0 0 1\n");
    let primitive = only(&cloud);
    assert_eq!(primitive.points.len(), 3);
    assert!(primitive.indices.is_empty() && primitive.lines.is_empty());
    let at = |point: usize| primitive.points[point] as usize;
    assert_eq!(primitive.positions[at(2)], Vec3::Y);
    assert_eq!(primitive.colors[at(1)], Vec4::new(0., 1., 0., 1.));
    assert_eq!(cloud.meshes[0].name, "scan");
    warned(&cloud, "points or lines");
    assert!(!cloud.warnings.iter().any(|line| line.contains("nothing to see")));
    // More vertices than one element of the text holds, without colours.
    let many: String = (0..10_000).map(|i| format!("v {i} 0 0\n")).collect();
    let scene = obj(&many);
    assert_eq!(only(&scene).points.len(), 10_000);
    assert!(only(&scene).colors.is_empty());
    // Vertices with a reference are not points, even if the referring element is left out.
    for more in ["f 1 2\n", "f 7 8 9\n", "p 9\n", "l 1\n", "surf 0 1 0 1 1 2\n"] {
        let scene = obj(&format!("v 0 0 0\nv 1 0 0\n{more}"));
        assert!(scene.meshes.is_empty(), "{more}");
        warned(&scene, "nothing to see");
    }
    warned(&obj("v nan 0 0\n"), "nothing to see");
    let files = [("cloud.obj", many)];
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(files[0].0);
    fs::write(&path, &files[0].1).unwrap();
    let few = Load {
        max_triangles: 9_999,
        ..LIMITS
    };
    let error = scene::load(&[path], &few, &Progress::default()).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
}

/// Files from Windows and macOS name other files in letters of any case. All formats follow one rule.
#[test]
fn referenced_file_names_match_in_any_case() {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    fs::create_dir(dir.path().join("Textures")).unwrap();
    write("Textures/Wood.PNG", &png(1, 1, [9, 8, 7, 255]));
    write("A.MTL", b"newmtl m\nmap_Kd textures\\wood.png -clamp on\n");
    let mut builder = Builder::triangle();
    write("Data.BIN", &builder.bin);
    let bytes = builder.bin.len();
    builder.json["buffers"] = json!([{ "uri": "data.bin", "byteLength": bytes }]);
    builder.push("images", json!({ "uri": "TEXTURES/wood.png" }));
    builder.push("textures", json!({ "source": 0 }));
    builder.push(
        "materials",
        json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }),
    );
    builder.first_primitive()["material"] = json!(0);
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl m\nf 1/1 2/1 3/1\n";
    write("a.gltf", builder.json.to_string().as_bytes());
    write("a.obj", format!("mtllib a.mtl\n{corners}").as_bytes());
    for name in ["a.gltf", "a.obj"] {
        let path = dir.path().join(name);
        let scene = load_files(&[&path]).unwrap();
        assert!(scene.warnings.is_empty(), "{name}: {:?}", scene.warnings);
        assert_eq!(only(&scene).indices.len(), 1);
        assert_eq!(scene.images[0].rgba8()[..3], [9, 8, 7], "{name}");
        let is_listed = |path: &std::path::PathBuf| path.ends_with("Textures/Wood.PNG");
        assert!(scene.dependencies.iter().any(is_listed), "{name}");
    }
}

/// A file whose name looks like options is that file.
#[test]
fn obj_reads_map_options_before_and_after_names() {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    write("my tex.png", &png(1, 1, [1, 2, 3, 255]));
    write("tex.png -clamp on", &png(1, 1, [4, 5, 6, 255]));
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl m\nf 1/1 2/1 3/1\n";
    write("a.obj", format!("mtllib a.mtl\n{corners}").as_bytes());
    for (map, texel, wrap) in [
        ("my tex.png -clamp on", [1, 2, 3], Wrap::Clamp),
        ("-clamp on my tex.png", [1, 2, 3], Wrap::Clamp),
        ("my tex.png -s 1 1 1", [1, 2, 3], Wrap::Repeat),
        ("-colorspace sRGB my tex.png", [1, 2, 3], Wrap::Repeat),
        ("tex.png -clamp on", [4, 5, 6], Wrap::Repeat),
    ] {
        write("a.mtl", format!("newmtl m\nmap_Kd {map}\n").as_bytes());
        let scene = load_files(&[&dir.path().join("a.obj")]).unwrap();
        assert!(scene.warnings.is_empty(), "{map}: {:?}", scene.warnings);
        assert_eq!(scene.images[0].rgba8()[..3], texel, "{map}");
        assert_eq!(scene.textures[0].sampler.wrap_u, wrap, "{map}");
    }
}

/// An image with the name of the OBJ is offered, or used with `load.obj_texture`. It is never used if the
/// file has textures, several materials or no texture coordinates.
#[test]
fn obj_uses_an_image_of_the_same_name_only_on_request() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("spot.obj");
    fs::write(dir.path().join("Spot.PNG"), png(2, 2, [200, 10, 10, 255])).unwrap();
    fs::write(dir.path().join("other.png"), png(1, 1, [1, 2, 3, 255])).unwrap();
    let mtl = "newmtl grey\nKd 0.2 0.2 0.2\nnewmtl own\nmap_Kd other.png\n";
    fs::write(dir.path().join("a.mtl"), mtl).unwrap();
    let taken = Load {
        obj_texture: true,
        ..LIMITS
    };
    let try_obj = |text: &str| {
        fs::write(&path, text).unwrap();
        let load = |limits| {
            let files = std::slice::from_ref(&path);
            scene::load(files, limits, &Progress::default()).unwrap()
        };
        (load(&LIMITS), load(&taken))
    };
    let points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n";
    for head in ["", "mtllib a.mtl\nusemtl grey\n", "usemtl lost\n"] {
        let (offered, used) = try_obj(&format!("{points}{head}f 1/1 2/2 3/3\n"));
        assert_eq!(offered.unused_texture.as_deref(), Some("Spot.PNG"), "{head}");
        assert_eq!(offered.materials[0].base_color_texture, None, "{head}");
        assert_eq!(used.unused_texture, None);
        assert_eq!(used.materials[0].base_color, Vec4::ONE, "{head}");
        let texture = used.materials[0].base_color_texture.unwrap();
        let image = &used.images[used.textures[texture.texture].image];
        assert_eq!((image.width, image.rgba8()[0]), (2, 200), "{head}");
        assert!(used.dependencies.iter().any(|path| path.ends_with("Spot.PNG")));
    }
    for text in [
        format!("{points}f 1 2 3\n"),
        format!("mtllib a.mtl\n{points}usemtl own\nf 1/1 2/2 3/3\n"),
        format!("mtllib a.mtl\n{points}usemtl grey\nf 1/1 2/2 3/3\nusemtl x\nf 1/1 2/2 3/3\n"),
    ] {
        let (offered, used) = try_obj(&text);
        assert_eq!(
            (offered.unused_texture, used.unused_texture),
            (None, None),
            "{text}"
        );
        let spot = used.dependencies.iter().any(|path| path.ends_with("Spot.PNG"));
        assert!(!spot, "{text}");
    }
}

#[test]
fn obj_smooths_only_across_soft_edges() {
    // Two sides of a roof: nearly flat, then steep, then declared flat.
    let roof = |height: f32, smoothing: &str| {
        obj(&format!(
            "v 0 {height} 0\nv 0 {height} 1\nv -1 0 0\nv 1 0 0\n{smoothing}f 1 3 2\nf 1 2 4\n"
        ))
    };
    let soft = roof(0.2, "");
    assert_eq!(only(&soft).positions.len(), 4);
    assert!(only(&soft).normals.iter().any(|n| n.abs_diff_eq(Vec3::Y, 1e-6)));
    assert_eq!(only(&roof(2., "")).positions.len(), 6);
    assert_eq!(only(&roof(0.2, "s off\n")).positions.len(), 6);
}

#[test]
fn obj_smooths_across_patches_without_shared_vertices() {
    // A bent sheet in two patches, each with vertices of its own along the seam x = 0. The patches are in two
    // groups, then in one.
    let sheet = |between: &str| {
        obj(&format!(
            "v -1 0 0\nv 0 0.2 0\nv 0 0.2 1\nv -1 0 1\nf 1 4 3 2\n{between}v -0 0.2 0\nv 1 0 0\nv 1 0 1\n\
             v 0 0.2 1\nf 5 8 7 6\n"
        ))
    };
    for between in ["", "g second\n", "usemtl other\n"] {
        let scene = sheet(between);
        let primitives = scene.meshes.iter().flat_map(|m| &m.primitives);
        // By z, the normals of both patches at the seam.
        let mut at_seam = [Vec::new(), Vec::new()];
        for primitive in primitives {
            for (position, normal) in primitive.positions.iter().zip(&primitive.normals) {
                if position.x == 0. {
                    at_seam[position.z as usize].push(*normal);
                } else {
                    assert!(normal.x.abs() > 0.15, "{between}: {normal}");
                }
            }
        }
        for normals in at_seam {
            assert_eq!(normals.len(), 2, "{between}");
            assert_eq!(normals[0], normals[1], "{between}");
            assert!(normals[0].x.abs() < 0.1 && normals[0].y > 0.99, "{between}");
        }
    }
    // The two sides of a sheet are not neighbours.
    let sides = obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 4 6 5\n");
    let normals = &only(&sides).normals;
    assert_eq!(normals[..3], [Vec3::Z; 3]);
    assert_eq!(normals[3..], [Vec3::NEG_Z; 3]);
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
        b"Kd 1 1 1\nnewmtl plain\nKd 0.5\nNs 30\nd 0.25\nKs 1\nKd\nnewmtl image\nKd 0 0 0\n\
            map_Kd -s 2 2 2 -o 0.5 0.125 -clamp on my textures\\a b.png\r\n\
          Pm 1\nPr 0.125\nKe 1 2 3\nnewmtl cut\nmap_Kd C:\\elsewhere\\a b.png\nmap_d my textures/mask.png\n\
          map_bump -bm 0.5 my textures/mask.png\n# \xff\xfe\n",
    )
    .unwrap();
    let path = dir.path().join("a.obj");
    let text = "mtllib the materials.mtl\nmtllib none.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl plain\n\
        f 1 2 3\nusemtl image\nf 1/1 2/1 3/1\n\
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
        (image.base_color, image.metallic, image.roughness, image.emissive),
        (Vec4::ONE, 1., 0.125, Vec3::new(1., 2., 3.))
    );
    let texture = image.base_color_texture.unwrap();
    assert_eq!(scene.textures[texture.texture].sampler.wrap_u, Wrap::Clamp);
    // (u, v) = (0.25, 0.25) with v up is (0.25, 0.75) with v down, and goes to (1, 0.625) with v up.
    assert!(
        texture
            .texture_from_uv
            .transform_point2(Vec2::new(0.25, 0.75))
            .abs_diff_eq(Vec2::new(1., 0.375), 1e-6)
    );
    assert_eq!((cut.alpha_mode, cut.normal_texture), (AlphaMode::Mask, None));
    warned(&scene, "height map");
    warned(&scene, "none.mtl");
    warned(&scene, "unknown");
    assert_eq!(unknown.roughness, 0.65);
}

#[test]
fn obj_groups_are_meshes_if_there_are_no_objects() {
    const CORNERS: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let names = |text: &str| -> Vec<String> {
        let scene = obj(&format!("{CORNERS}{text}"));
        scene.meshes.iter().map(|mesh| mesh.name.clone()).collect()
    };
    assert_eq!(
        names("g a b\nf 1 2 3\ng c\nf 1 2 3\ng a b\nf 3 2 1\n"),
        ["a b", "c"]
    );
    assert_eq!(
        names("o x\ng a\nf 1 2 3\ng b\nf 1 2 3\no y\nf 1 2 3\n"),
        ["x", "y"]
    );
    assert_eq!(names("f 1 2 3\n"), [""]);
}

#[test]
fn obj_reads_decimal_commas_and_latin_1_names() {
    let scene = obj("v 0,5 0 0\nv 1,25 0 0\nv 0 1,0 0\nf 1 2 3\n");
    assert_eq!(only(&scene).positions, [Vec3::X * 0.5, Vec3::X * 1.25, Vec3::Y]);
    // Latin-1 in the OBJ, UTF-8 on the disk.
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("Gr\u{fc}n.mtl"), "newmtl gr\u{fc}n\nKd 0 1 0\n").unwrap();
    let path = dir.path().join("a.obj");
    let text = b"mtllib gr\xfcn.MTL\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl gr\xfcn\nf 1 2 3\nusemtl\nf 3 2 1\n";
    fs::write(&path, text).unwrap();
    let scene = load_files(&[&path]).unwrap();
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    let colors: Vec<Vec4> = scene.materials.iter().map(|m| m.base_color).collect();
    assert_eq!(colors, [Vec4::new(0., 1., 0., 1.), Vec4::new(0.6, 0.6, 0.6, 1.)]);
}

#[test]
fn obj_shares_vertices_between_faces_with_equal_attributes() {
    // With and without texture coordinates and normals, smooth and flat, in one mesh of one material.
    let scene = obj(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1\nvt 0.5 0.25\nf 1/1/1 2/1/1 3/1/1\ns off\nf 1//1 2//1 3//1\n\
         f 1 2 3\ns 1\nf -3/-1 -2/-1 -1/-1\nf 1//1 2/1/1 3\n",
    );
    let primitive = only(&scene);
    // The triangle's own normal equals the one in the file.
    let [plain, textured] = [[0, 1, 2], [3, 4, 5]];
    assert_eq!(
        primitive.indices,
        [plain, textured, plain, plain, textured, [0, 4, 2]]
    );
    assert_eq!(primitive.uv0[..3], [Vec2::ZERO; 3]);
    assert_eq!(primitive.uv0[3..], [Vec2::new(0.5, 0.75); 3]);
    assert_eq!(primitive.normals, [Vec3::Z; 6]);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
}

#[test]
fn obj_keeps_the_order_of_faces_and_the_vertices_of_the_file() {
    // The first face comes before its last vertex. The line and the point are not corners of faces, and two
    // vertices coincide.
    let scene = obj(
        "v 0 0 0\nv 1 0 0\nf 1 2 3\ng other\nf 4 2 1\nl 1 2 4\nv 0 1 0\nv 0 1 0\ng\nf -4 -3 -1\np -1\nf 1 2 3\n",
    );
    let [first, other, last] = &scene.meshes[..] else {
        panic!("{:?}", scene.meshes)
    };
    assert_eq!(["", "other", ""], [&first.name[..], &other.name, &last.name]);
    assert_eq!(first.primitives[0].indices, [[0, 1, 2]]);
    assert_eq!(other.primitives[0].positions, [Vec3::Y, Vec3::X, Vec3::ZERO]);
    assert_eq!(other.primitives[1].lines, [[0, 1], [1, 2]]);
    assert_eq!(last.primitives[0].indices, [[0, 1, 2], [0, 1, 3]]);
    assert_eq!(last.primitives[1].positions, [Vec3::Y]);
}

#[test]
fn obj_reads_vertex_colours() {
    let colors = |vertices: [&str; 3]| {
        let vertices = vertices.map(|v| format!("v {v}\n")).concat();
        only(&obj(&format!("{vertices}f 1 2 3\n"))).colors.clone()
    };
    // Displayed values become linear. A value beyond white is white, and so is a vertex without a colour.
    let grey = Vec4::new(0.214_041, 0.214_041, 0.214_041, 1.);
    let all = colors(["0 0 0 0.5 0.5 0.5", "1 0 0 1 1 0,5 0.5", "0 1 0 -1 2 0"]);
    assert!(all[0].abs_diff_eq(grey, 1e-6), "{}", all[0]);
    assert!(
        all[1].abs_diff_eq(Vec4::new(1., grey.y, grey.y, 1.), 1e-6),
        "{}",
        all[1]
    );
    assert_eq!(all[2], Vec4::new(0., 1., 0., 1.));
    let some = ["0 0 0", "1 0 0 0 0 1", "0 1 0 nan 0 0"];
    assert_eq!(colors(some), [Vec4::ONE, Vec4::new(0., 0., 1., 1.), Vec4::ONE]);
    // Neither w alone nor two numbers are a colour.
    assert!(colors(["0 0 0 0", "1 0 0 1 1", "0 1 0"]).is_empty());
    // A colour of a vertex elsewhere does not affect this mesh.
    let apart = obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 1 0 1 0 0\ng a\nf 1 2 3\ng b\nf 1 2 4\n");
    let colored = apart
        .meshes
        .iter()
        .map(|mesh| !mesh.primitives[0].colors.is_empty());
    assert_eq!(colored.collect::<Vec<_>>(), [false, true]);
}

#[test]
fn obj_positions_are_not_divided_by_w() {
    let scene = obj("v 2 0 0 2\nv 0 3 0 0\nv 0 0 4 0.5\nf 1 2 3\n");
    assert_eq!(only(&scene).positions, [Vec3::X * 2., Vec3::Y * 3., Vec3::Z * 4.]);
}

#[test]
fn obj_warnings_name_the_first_line() {
    let scene = obj(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan 0 0\nf 1 2 9\nf 1 2 0\nf 1 2 3\nf 1 2 \\\n4\nf 1 2 4\nl 1 4\np 4\nf 1/1 2 3//2\n",
    );
    for line in [
        "1 vertices have missing or invalid numbers, the first in line 4",
        "2 faces refer to vertices that do not exist and are left out, the first in line 5",
        "2 faces have corners that are NaN or infinite and are left out, the first in line 8",
        "2 points and lines have corners that are NaN or infinite and are left out, the first in line 11",
        "1 faces refer to texture coordinates or normals that do not exist and are read without them, the \
         first in line 13",
    ] {
        warned(&scene, line);
    }
    assert_eq!(only(&scene).indices, [[0, 1, 2]; 2]);
}

#[test]
fn obj_unused_vertices_change_nothing() {
    let roof = "v 0 0.2 0\nv 0 0.2 1\nv -1 0 0\nv 1 0 0\nf 1 3 2\nf 1 2 4\n";
    let far = format!("{roof}v 3e38 0 0\nvt 1 1\nvn 0 0 1\n");
    assert_eq!(only(&obj(roof)).normals, only(&obj(&far)).normals);
}

#[test]
fn mtl_names_and_numbers_are_read_literally() {
    let dir = TempDir::new().unwrap();
    // A name may end in a blank that does not separate words, and a material may have no name.
    let mtl = "newmtl a\u{a0}\nKd 0,5 1 # 1\nd -halo 0,25\nPr 0,5\nnewmtl\nKd 1 0 0\nnewmtl b\nPm 1\nPm x\nTr 2\nTr 0\n";
    fs::write(dir.path().join("a.mtl"), mtl).unwrap();
    let path = dir.path().join("a.obj");
    let faces = "usemtl a\u{a0}\nf 1 2 3\nusemtl b\nf 1 2 3\n";
    fs::write(&path, format!("mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n{faces}")).unwrap();
    let scene = load_files(&[&path]).unwrap();
    let [a, b] = &scene.materials[..] else {
        panic!("{:?}", scene.materials)
    };
    assert_eq!(
        (&a.name[..], a.base_color, a.roughness),
        ("a\u{a0}", Vec4::new(0.5, 1., 1., 0.25), 0.5)
    );
    assert_eq!((&b.name[..], b.metallic, b.base_color.w), ("b", 1., 1.));
    assert_eq!(scene.warnings.len(), 2, "{:?}", scene.warnings);
    warned(&scene, "a.mtl line 9: \"x\" is not a number");
    warned(&scene, "material \"b\" has Tr 1");
}

#[test]
fn obj_joins_maps_of_roughness_and_metalness() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("rough.png"), png(2, 1, [64, 64, 64, 255])).unwrap();
    fs::write(dir.path().join("metal.png"), png(1, 4, [200, 200, 200, 255])).unwrap();
    fs::write(dir.path().join("both.png"), png(1, 1, [0, 50, 150, 255])).unwrap();
    let mtl = "newmtl a\nPr 0.3\nmap_Pr rough.png\nmap_Pm metal.png\nnewmtl b\nmap_Pr both.png\n\
        map_Pm both.png\n\
               newmtl c\nPm 1\nmap_Pr rough.png\nnewmtl d\nd 0.5\nTr 0.9\nnewmtl e\nTr 0.25\n";
    fs::write(dir.path().join("a.mtl"), mtl).unwrap();
    let faces: String = ["a", "b", "c", "d", "e"]
        .map(|name| format!("usemtl {name}\nf 1 2 3\n"))
        .concat();
    let path = dir.path().join("a.obj");
    let text = format!("mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n{faces}");
    fs::write(&path, text).unwrap();
    let scene = load_files(&[&path]).unwrap();
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    for (material, size, texel) in [
        (0, (2, 4), [255, 64, 200, 255]),
        (1, (1, 1), [0, 50, 150, 255]),
        (2, (2, 1), [255, 64, 255, 255]),
    ] {
        let material = &scene.materials[material];
        let texture = material.metallic_roughness_texture.unwrap().texture;
        let image = &scene.images[scene.textures[texture].image];
        assert_eq!((material.roughness, material.metallic), (1., 1.));
        assert_eq!((image.width, image.height), size);
        assert!(image.rgba8().chunks(4).all(|found| found == texel));
    }
    // Materials with the same request share an image.
    let shared =
        mtl.replace("newmtl ", "newmtl x") + "newmtl y\nmap_d metal.png\nnewmtl z\nmap_d metal.png\n";
    fs::write(dir.path().join("a.mtl"), [mtl, &shared].concat()).unwrap();
    let names = ["a", "b", "c", "xa", "xb", "xc", "y", "z"];
    let faces = names.map(|name| format!("usemtl {name}\nf 1 2 3\n")).concat();
    fs::write(&path, format!("mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n{faces}")).unwrap();
    let both = load_files(&[&path]).unwrap();
    assert_eq!((both.images.len(), both.textures.len()), (6, 4));
    for (one, other) in [(0, 3), (1, 4), (2, 5)] {
        let texture = |at: usize| both.materials[at].metallic_roughness_texture;
        assert_eq!(texture(one), texture(other));
    }
    let masked = both.materials[6].base_color_texture;
    assert!(masked.is_some() && masked == both.materials[7].base_color_texture);
    // d takes precedence over Tr.
    assert_eq!(scene.materials[3].base_color.w, 0.5);
    assert_eq!(scene.materials[4].base_color.w, 0.75);
}

#[test]
fn shared_accessors_count_towards_limits_each_time_they_are_read() {
    let mut builder = Builder::triangle();
    let count = 1000;
    let input = builder.floats("SCALAR", &(0..count).map(|i| i as f32).collect::<Vec<_>>());
    let output = builder.floats("VEC4", &vec![1.; 4 * count]);
    let channel = json!({ "sampler": 0, "target": { "node": 0, "path": "rotation" } });
    builder.push(
        "animations",
        json!({ "samplers": [{ "input": input, "output": output }],
        "channels": vec![channel; 70] }),
    );
    refused(&builder, &["channel 52 of animation 0", "load.max_morph_bytes"]);

    // A pointer to a mesh's weights moves the weights of every node with this mesh.
    let mut builder = Builder::triangle();
    builder.first_primitive()["targets"] = json!([{}]);
    builder.json["nodes"] = json!(vec![json!({ "mesh": 0 }); 300]);
    point(
        &mut builder,
        &[("/meshes/0/weights", "SCALAR", &[0., 1.][..]); 40],
    );
    refused(&builder, &["of animation 0", "load.max_morph_bytes"]);

    let mut builder = Builder::triangle();
    let joints = builder.accessor("VEC4", U8, 3, &[0; 12]);
    let attributes = &mut builder.first_primitive()["attributes"];
    for set in 0..11_000 {
        attributes[format!("JOINTS_{set}")] = json!(joints);
        attributes[format!("WEIGHTS_{set}")] = json!(joints);
    }
    refused(&builder, &["mesh 0 primitive 0: joints", "load.max_morph_bytes"]);
}
