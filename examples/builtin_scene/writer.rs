//! Writer of binary glTF 2.0, with a single buffer and an accessor per array.

use crate::mesh::Mesh;
use glam::{Mat4, Vec2, Vec3, Vec4};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// `bufferView.target` of vertex attributes.
const ARRAY_BUFFER: u32 = 34962;
/// `bufferView.target` of indices.
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
const UNSIGNED_BYTE: u32 = 5121;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const FLOAT: u32 = 5126;

/// Joints and weights of each vertex.
pub(crate) struct Skinning {
    pub(crate) joints: Vec<[u8; 4]>,
    /// Weights in units of 1/255, with a sum of 255.
    pub(crate) weights: Vec<[u8; 4]>,
}

/// Offsets of one morph target.
pub(crate) struct Target {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) normals: Vec<Vec3>,
}

/// A primitive: triangles with a material, and their skinning and morph targets.
pub(crate) struct Part<'a> {
    pub(crate) mesh: &'a Mesh,
    pub(crate) material: usize,
    pub(crate) skinning: Option<&'a Skinning>,
    pub(crate) targets: &'a [Target],
}

impl<'a> Part<'a> {
    /// Creates a part that does not deform.
    pub(crate) fn rigid(mesh: &'a Mesh, material: usize) -> Self {
        Self {
            mesh,
            material,
            skinning: None,
            targets: &[],
        }
    }
}

/// Interpolation between the keys of a channel.
#[derive(Clone, Copy)]
pub(crate) enum Interpolation {
    Step,
    Linear,
    CubicSpline,
}

/// The file under construction.
#[derive(Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    images: Vec<Value>,
    nodes: Vec<Value>,
    roots: Vec<usize>,
    skins: Vec<Value>,
    cameras: Vec<Value>,
    lights: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
    /// Accessors of key times, shared between channels.
    times: HashMap<Vec<u8>, usize>,
    triangles: Vec<usize>,
}

impl Writer {
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()});
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend_from_slice(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(
        &mut self,
        bytes: &[u8],
        component: u32,
        shape: &str,
        count: usize,
        target: Option<u32>,
    ) -> usize {
        let view = self.view(bytes, target);
        self.accessors
            .push(json!({"bufferView": view, "componentType": component, "type": shape, "count": count}));
        self.accessors.len() - 1
    }

    fn positions(&mut self, positions: &[Vec3]) -> usize {
        let accessor = self.accessor(
            bytemuck::cast_slice(positions),
            FLOAT,
            "VEC3",
            positions.len(),
            Some(ARRAY_BUFFER),
        );
        let low = positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = positions.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        self.accessors[accessor]["min"] = json!(low.to_array());
        self.accessors[accessor]["max"] = json!(high.to_array());
        accessor
    }

    /// Adds texture coordinates, as normalized 16-bit integers if all are in 0..1, otherwise as floats.
    fn uvs(&mut self, uvs: &[Vec2]) -> usize {
        if uvs
            .iter()
            .all(|uv| uv.cmpge(Vec2::ZERO).all() && uv.cmple(Vec2::ONE).all())
        {
            let short: Vec<[u16; 2]> = uvs
                .iter()
                .map(|uv| uv.to_array().map(|x| (x * 65535.0).round() as u16))
                .collect();
            let bytes = bytemuck::cast_slice(&short);
            let accessor = self.accessor(bytes, UNSIGNED_SHORT, "VEC2", uvs.len(), Some(ARRAY_BUFFER));
            self.accessors[accessor]["normalized"] = json!(true);
            accessor
        } else {
            self.accessor(
                bytemuck::cast_slice(uvs),
                FLOAT,
                "VEC2",
                uvs.len(),
                Some(ARRAY_BUFFER),
            )
        }
    }

    /// Adds a PNG file as an image, with a texture of the same index.
    pub(crate) fn texture(&mut self, name: &str, png: &[u8]) -> usize {
        let view = self.view(png, None);
        self.images
            .push(json!({"name": name, "bufferView": view, "mimeType": "image/png"}));
        self.images.len() - 1
    }

    /// Adds a material.
    pub(crate) fn material(&mut self, material: Value) -> usize {
        self.materials.push(material);
        self.materials.len() - 1
    }

    /// Adds a mesh. Writes texture coordinates if the material has a texture, and colours unless all are
    /// white.
    pub(crate) fn mesh(&mut self, name: &str, parts: &[Part]) -> usize {
        let primitives: Vec<Value> = parts.iter().map(|part| self.primitive(part)).collect();
        let mut mesh = json!({"name": name, "primitives": primitives});
        let targets = parts.first().map_or(0, |part| part.targets.len());
        if targets > 0 {
            mesh["weights"] = json!(vec![0.0; targets]);
        }
        self.triangles
            .push(parts.iter().map(|part| part.mesh.indices.len() / 3).sum());
        self.meshes.push(mesh);
        self.meshes.len() - 1
    }

    fn primitive(&mut self, part: &Part) -> Value {
        let mesh = part.mesh;
        let count = mesh.positions.len();
        let mut attributes = Map::new();
        attributes.insert("POSITION".into(), json!(self.positions(&mesh.positions)));
        let normals = self.accessor(
            bytemuck::cast_slice(&mesh.normals),
            FLOAT,
            "VEC3",
            count,
            Some(ARRAY_BUFFER),
        );
        attributes.insert("NORMAL".into(), json!(normals));
        if self.materials[part.material].to_string().contains("Texture") {
            let uvs = self.uvs(&mesh.uvs);
            attributes.insert("TEXCOORD_0".into(), json!(uvs));
        }
        if mesh.colors.iter().any(|color| *color != Vec4::ONE) {
            let colors: Vec<[u8; 4]> = mesh
                .colors
                .iter()
                .map(|c| c.to_array().map(|x| (x.clamp(0.0, 1.0) * 255.0).round() as u8))
                .collect();
            let colors = self.accessor(
                bytemuck::cast_slice(&colors),
                UNSIGNED_BYTE,
                "VEC4",
                count,
                Some(ARRAY_BUFFER),
            );
            self.accessors[colors]["normalized"] = json!(true);
            attributes.insert("COLOR_0".into(), json!(colors));
        }
        if let Some(skinning) = part.skinning {
            let bytes = bytemuck::cast_slice(&skinning.joints);
            let joints = self.accessor(bytes, UNSIGNED_BYTE, "VEC4", count, Some(ARRAY_BUFFER));
            attributes.insert("JOINTS_0".into(), json!(joints));
            let bytes = bytemuck::cast_slice(&skinning.weights);
            let weights = self.accessor(bytes, UNSIGNED_BYTE, "VEC4", count, Some(ARRAY_BUFFER));
            self.accessors[weights]["normalized"] = json!(true);
            attributes.insert("WEIGHTS_0".into(), json!(weights));
        }
        let indices = if count <= usize::from(u16::MAX) {
            let short: Vec<u16> = mesh.indices.iter().map(|&i| i as u16).collect();
            let bytes = bytemuck::cast_slice(&short);
            self.accessor(
                bytes,
                UNSIGNED_SHORT,
                "SCALAR",
                short.len(),
                Some(ELEMENT_ARRAY_BUFFER),
            )
        } else {
            let bytes = bytemuck::cast_slice(&mesh.indices);
            self.accessor(
                bytes,
                UNSIGNED_INT,
                "SCALAR",
                mesh.indices.len(),
                Some(ELEMENT_ARRAY_BUFFER),
            )
        };
        let mut primitive = json!({"attributes": attributes, "indices": indices, "material": part.material});
        if !part.targets.is_empty() {
            let targets: Vec<Value> = part
                .targets
                .iter()
                .map(|target| {
                    let positions = self.positions(&target.positions);
                    let bytes = bytemuck::cast_slice(&target.normals);
                    let normals = self.accessor(bytes, FLOAT, "VEC3", count, Some(ARRAY_BUFFER));
                    json!({"POSITION": positions, "NORMAL": normals})
                })
                .collect();
            primitive["targets"] = json!(targets);
        }
        primitive
    }

    /// Adds a node under a parent, or as a root.
    pub(crate) fn node(&mut self, parent: Option<usize>, node: Value) -> usize {
        let index = self.nodes.len();
        self.nodes.push(node);
        match parent {
            None => self.roots.push(index),
            Some(parent) => match self.nodes[parent]["children"].as_array_mut() {
                Some(children) => children.push(json!(index)),
                None => self.nodes[parent]["children"] = json!([index]),
            },
        }
        index
    }

    /// Adds a skin.
    pub(crate) fn skin(&mut self, name: &str, joints: &[usize], joint_from_mesh: &[Mat4]) -> usize {
        let bytes: Vec<u8> = joint_from_mesh
            .iter()
            .flat_map(|m| bytemuck::bytes_of(m).to_vec())
            .collect();
        let matrices = self.accessor(&bytes, FLOAT, "MAT4", joint_from_mesh.len(), None);
        self.skins
            .push(json!({"name": name, "joints": joints, "inverseBindMatrices": matrices}));
        self.skins.len() - 1
    }

    /// Assigns a skin to a node with a mesh.
    pub(crate) fn set_skin(&mut self, node: usize, skin: usize) {
        self.nodes[node]["skin"] = json!(skin);
    }

    /// Adds a camera with a vertical field of view in degrees, as a node that looks from one point to
    /// another.
    pub(crate) fn camera(&mut self, name: &str, fov_y: f32, from: Vec3, to: Vec3) {
        let perspective = json!({
            "yfov": round(fov_y.to_radians()),
            "znear": 0.05,
            "zfar": 200.0,
            "aspectRatio": 1.777_8
        });
        self.cameras
            .push(json!({"name": name, "type": "perspective", "perspective": perspective}));
        let camera = self.cameras.len() - 1;
        let (translation, rotation) = (vec3(from), look(to - from));
        self.node(
            None,
            json!({"name": name, "camera": camera, "translation": translation, "rotation": rotation}),
        );
    }

    /// Adds a light as a node under a parent.
    pub(crate) fn light(&mut self, parent: Option<usize>, light: Value, position: Vec3, direction: Vec3) {
        let name = light["name"].clone();
        self.lights.push(light);
        let extension = json!({"KHR_lights_punctual": {"light": self.lights.len() - 1}});
        let node = json!({
            "name": name,
            "translation": vec3(position),
            "rotation": look(direction),
            "extensions": extension
        });
        self.node(parent, node);
    }

    /// Adds a channel to the clip. The values are those of the accessor, including the tangents of cubic
    /// splines.
    pub(crate) fn channel(
        &mut self,
        node: usize,
        path: &str,
        how: Interpolation,
        times: &[f32],
        values: &[f32],
    ) {
        let key: Vec<u8> = bytemuck::cast_slice(times).to_vec();
        let input = match self.times.get(&key) {
            Some(&accessor) => accessor,
            None => {
                let accessor = self.accessor(&key, FLOAT, "SCALAR", times.len(), None);
                self.accessors[accessor]["min"] = json!([times[0]]);
                self.accessors[accessor]["max"] = json!([times[times.len() - 1]]);
                self.times.insert(key, accessor);
                accessor
            }
        };
        let (shape, components) = match path {
            "rotation" => ("VEC4", 4),
            "weights" => ("SCALAR", 1),
            _ => ("VEC3", 3),
        };
        let output = self.accessor(
            bytemuck::cast_slice(values),
            FLOAT,
            shape,
            values.len() / components,
            None,
        );
        let interpolation = match how {
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
            Interpolation::CubicSpline => "CUBICSPLINE",
        };
        self.samplers
            .push(json!({"input": input, "output": output, "interpolation": interpolation}));
        let sampler = self.samplers.len() - 1;
        self.channels
            .push(json!({"sampler": sampler, "target": {"node": node, "path": path}}));
    }

    /// Returns the number of triangles in the scene, counting every instance, and the number of nodes with a
    /// mesh.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let shown = self.nodes.iter().filter_map(|node| node["mesh"].as_u64());
        shown.fold((0, 0), |(triangles, nodes), mesh| {
            (triangles + self.triangles[mesh as usize], nodes + 1)
        })
    }

    /// Returns the contents of the file.
    pub(crate) fn finish(mut self, clip: &str) -> Vec<u8> {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let textures: Vec<Value> = (0..self.images.len())
            .map(|image| json!({"source": image, "sampler": 0}))
            .collect();
        let document = json!({
            "asset": {"version": "2.0", "generator": "canopy builtin_scene"},
            "extensionsUsed": ["KHR_lights_punctual"],
            "extensions": {"KHR_lights_punctual": {"lights": self.lights}},
            "scene": 0,
            "scenes": [{"name": "garden", "nodes": self.roots}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "skins": self.skins,
            "materials": self.materials,
            "textures": textures,
            "images": self.images,
            "samplers": [{"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497}],
            "cameras": self.cameras,
            "animations": [{"name": clip, "samplers": self.samplers, "channels": self.channels}],
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": self.bytes.len()}],
        });
        let mut json = document.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut file = Vec::new();
        let word = |n: usize| (n as u32).to_le_bytes();
        file.extend(b"glTF");
        file.extend(word(2));
        file.extend(word(12 + 8 + json.len() + 8 + self.bytes.len()));
        file.extend(word(json.len()));
        file.extend(b"JSON");
        file.extend(json);
        file.extend(word(self.bytes.len()));
        file.extend(b"BIN\0");
        file.extend(self.bytes);
        file
    }
}

/// Rounds a number to keep the JSON short.
fn round(x: f32) -> f64 {
    (f64::from(x) * 1e5).round() / 1e5
}

/// Converts a vector to JSON with rounded numbers.
pub(crate) fn vec3(v: Vec3) -> Value {
    json!(v.to_array().map(round))
}

/// Returns the rotation that looks along a direction, as a quaternion in JSON.
fn look(direction: Vec3) -> Value {
    let back = -direction.normalize_or(Vec3::NEG_Z);
    let right = if back.y.abs() > 0.999 {
        Vec3::X
    } else {
        Vec3::Y.cross(back).normalize()
    };
    let rotation = glam::Quat::from_mat3(&glam::Mat3::from_cols(right, back.cross(right), back));
    json!(rotation.to_array())
}
