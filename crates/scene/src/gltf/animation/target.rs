//! Resolves the targets of channels, by node or by JSON pointer.

use crate::{
    Result,
    camera::Projection,
    clip::{Property, UvPart},
    gltf::{container::Pointer, file::File, hierarchy::Hierarchy, texture::uv_transform},
    graph::Scene,
    light::LightKind,
    texture::TextureSlot,
};
use ::gltf::json::{
    accessor::Type,
    animation::{Channel as JsonChannel, Property as JsonProperty},
    validation::Checked,
};
use std::collections::HashMap;

/// Animated property of a channel, and the accessor type that its values need.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChannelTarget {
    /// Index of the animated object, with the meaning of [`crate::Channel::target`].
    pub(super) target: usize,
    pub(super) property: Property,
    /// Number of floats in a value.
    pub(super) components: usize,
    /// Required type of the accessor of the values.
    pub(super) kind: Type,
}

/// Resolves the target of a core glTF channel. The result is empty if its node is not in the scene.
pub(super) fn node_target(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    scene: &Scene,
    json: &JsonChannel,
    user: &str,
) -> Result<Vec<ChannelTarget>> {
    let node = json.target.node.value();
    file.get(&file.root.nodes, "node", node, || user.to_owned())?;
    let Some(index) = hierarchy.index_of[node] else {
        return Ok(Vec::new());
    };
    let path = match json.target.path {
        Checked::Valid(JsonProperty::Translation) => "translation",
        Checked::Valid(JsonProperty::Rotation) => "rotation",
        Checked::Valid(JsonProperty::Scale) => "scale",
        Checked::Valid(JsonProperty::MorphTargetWeights) => "weights",
        Checked::Invalid => {
            file.warn(format!("{user} has an unknown path and is ignored"));
            return Ok(Vec::new());
        }
    };
    let target = of_node(scene, index, &[path]);
    if target.is_none() {
        file.warn(format!(
            "{user} animates the morph targets of node {node}, which has none, and is ignored"
        ));
    }
    Ok(target.into_iter().collect())
}

/// Resolves the property of a node that `path` refers to.
fn of_node(scene: &Scene, node: usize, path: &[&str]) -> Option<ChannelTarget> {
    let mesh = scene.nodes[node].mesh;
    let primitive = mesh.and_then(|mesh| scene.meshes[mesh].primitives.first());
    // A node with instances keeps their weights, but has no mesh itself.
    let weights = primitive.map_or(scene.nodes[node].weights.len(), |p| p.targets.len());
    let (property, components, kind) = match path {
        ["translation"] => (Property::Translation, 3, Type::Vec3),
        ["rotation"] => (Property::Rotation, 4, Type::Vec4),
        ["scale"] => (Property::Scale, 3, Type::Vec3),
        ["weights"] if weights > 0 => (Property::Weights, weights, Type::Scalar),
        ["weights", weight] => {
            let weight = number(weight).filter(|weight| *weight < weights)?;
            (Property::Weight(weight), 1, Type::Scalar)
        }
        ["extensions", "KHR_node_visibility", "visible"] => (Property::Visible, 1, Type::Scalar),
        _ => return None,
    };
    Some(ChannelTarget {
        target: node,
        property,
        components,
        kind,
    })
}

/// Parses a number in a pointer, which has no sign and no leading zeros.
fn number(text: &str) -> Option<usize> {
    let plain = text == "0" || text.starts_with(|c: char| ('1'..='9').contains(&c));
    text.parse().ok().filter(|_| plain)
}

/// Resolves pointers into the glTF 2.0 Asset Object Model, as far as canopy animates them.
pub(super) struct Pointers<'a> {
    file: &'a File<'a>,
    hierarchy: &'a Hierarchy,
    /// Nodes that show each of the file's meshes and have no morph weights of their own.
    weighted: HashMap<usize, Vec<usize>>,
}

impl<'a> Pointers<'a> {
    pub(super) fn new(
        file: &'a File<'a>,
        hierarchy: &'a Hierarchy,
        pointers: &[Pointer],
        scene: &Scene,
    ) -> Self {
        let mut weighted: HashMap<usize, Vec<usize>> = HashMap::new();
        let nodes = file.root.nodes.iter().zip(&hierarchy.index_of);
        for (node, index) in nodes.filter(|_| !pointers.is_empty()) {
            if let (Some(mesh), None, Some(index)) = (node.mesh, &node.weights, index) {
                // A node with instances keeps their weights, but has no mesh itself.
                let shown = &scene.nodes[*index];
                if shown.mesh.is_some() || !shown.weights.is_empty() {
                    weighted.entry(mesh.value()).or_default().push(*index);
                }
            }
        }
        Self {
            file,
            hierarchy,
            weighted,
        }
    }

    /// Resolves `pointer`. The result is empty if the target is not in the scene, and `None` if canopy does
    /// not animate it.
    pub(super) fn targets(&self, scene: &Scene, pointer: &str) -> Option<Vec<ChannelTarget>> {
        let parts: Vec<&str> = pointer.strip_prefix('/')?.split('/').collect();
        match &parts[..] {
            ["nodes", node, path @ ..] => {
                let Some(index) = *self.hierarchy.index_of.get(number(node)?)? else {
                    return Some(Vec::new());
                };
                of_node(scene, index, path).map(|target| vec![target])
            }
            ["meshes", mesh, "weights", ..] => {
                let mesh = number(mesh).filter(|mesh| *mesh < self.file.root.meshes.len())?;
                let nodes = self.weighted.get(&mesh).map_or(&[][..], Vec::as_slice);
                let of_node = |&index: &usize| of_node(scene, index, &parts[2..]);
                // All of the nodes show one mesh, so a weight that the first lacks is missing in all of them.
                match nodes.first() {
                    Some(first) => of_node(first).map(|_| nodes.iter().filter_map(of_node).collect()),
                    None => Some(Vec::new()),
                }
            }
            ["materials", material, path @ ..] => {
                let material = number(material)?;
                (material < self.file.root.materials.len()).then_some(())?;
                self.of_material(material, path).map(|target| vec![target])
            }
            ["extensions", "KHR_lights_punctual", "lights", light, path @ ..] => {
                let light = number(light)?;
                let is_spot = matches!(scene.lights.get(light)?.kind, LightKind::Spot { .. });
                let (property, components, kind) = match path {
                    ["color"] => (Property::LightColor, 3, Type::Vec3),
                    ["intensity"] => (Property::LightIntensity, 1, Type::Scalar),
                    ["range"] => (Property::LightRange, 1, Type::Scalar),
                    ["spot", "innerConeAngle"] if is_spot => (Property::InnerAngle, 1, Type::Scalar),
                    ["spot", "outerConeAngle"] if is_spot => (Property::OuterAngle, 1, Type::Scalar),
                    _ => return None,
                };
                Some(vec![ChannelTarget {
                    target: light,
                    property,
                    components,
                    kind,
                }])
            }
            ["cameras", camera, path @ ..] => {
                let camera = number(camera)?;
                let property = match (scene.cameras.get(camera)?.projection, path) {
                    (Projection::Perspective { .. }, ["perspective", "yfov"]) => Property::FovY,
                    (Projection::Orthographic { .. }, ["orthographic", "ymag"]) => Property::HalfHeight,
                    _ => return None,
                };
                Some(vec![ChannelTarget {
                    target: camera,
                    property,
                    components: 1,
                    kind: Type::Scalar,
                }])
            }
            _ => None,
        }
    }

    fn of_material(&self, material: usize, path: &[&str]) -> Option<ChannelTarget> {
        let scalar = |property| (property, 1, Type::Scalar);
        let (property, components, kind) = match path {
            ["pbrMetallicRoughness", "baseColorFactor"] => (Property::BaseColor, 4, Type::Vec4),
            ["pbrMetallicRoughness", "metallicFactor"] => scalar(Property::Metallic),
            ["pbrMetallicRoughness", "roughnessFactor"] => scalar(Property::Roughness),
            ["emissiveFactor"] => (Property::EmissiveFactor, 3, Type::Vec3),
            [
                "extensions",
                "KHR_materials_emissive_strength",
                "emissiveStrength",
            ] => scalar(Property::EmissiveStrength),
            ["alphaCutoff"] => scalar(Property::AlphaCutoff),
            ["normalTexture", "scale"] => scalar(Property::NormalScale),
            ["occlusionTexture", "strength"] => scalar(Property::OcclusionStrength),
            [texture @ .., "extensions", "KHR_texture_transform", part] => {
                let slot = match texture {
                    ["pbrMetallicRoughness", "baseColorTexture"] => TextureSlot::BaseColor,
                    ["pbrMetallicRoughness", "metallicRoughnessTexture"] => TextureSlot::MetallicRoughness,
                    ["normalTexture"] => TextureSlot::Normal,
                    ["occlusionTexture"] => TextureSlot::Occlusion,
                    ["emissiveTexture"] => TextureSlot::Emissive,
                    _ => return None,
                };
                let rest = uv_transform(self.file, material, slot)?;
                let (part, components, kind) = match *part {
                    "offset" => (UvPart::Offset, 2, Type::Vec2),
                    "rotation" => (UvPart::Rotation, 1, Type::Scalar),
                    "scale" => (UvPart::Scale, 2, Type::Vec2),
                    _ => return None,
                };
                (Property::Uv { slot, part, rest }, components, kind)
            }
            _ => return None,
        };
        Some(ChannelTarget {
            target: material,
            property,
            components,
            kind,
        })
    }
}
