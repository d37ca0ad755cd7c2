//! Animations to clips.

use super::{
    File,
    accessor::{ANY, Accessor},
    container::Pointer,
    material, name_of,
    node::Hierarchy,
};
use crate::{
    Result,
    scene::{
        Channel, Clip, Interpolation, LightKind, Projection, Property, Scene, TextureSlot,
        Transform, UvPart,
        files::shorten,
        load::{Budget, Load},
    },
};
use ::gltf::json::{
    accessor::{ComponentType, Type},
    animation::{
        Animation, Channel as JsonChannel, Interpolation as JsonInterpolation,
        Property as JsonProperty,
    },
    validation::Checked,
};
use std::collections::HashMap;

/// Reads every animation; channels that move nothing in the scene are left out. `pointers` are the channels of KHR_animation_pointer.
pub(super) fn clips(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    pointers: &[Pointer],
    load: &mut Load<'_>,
    scene: &mut Scene,
) -> Result<()> {
    let pointed = Pointed::new(file, hierarchy, pointers, scene);
    for (index, json) in file.root.animations.iter().enumerate() {
        let mut clip = Clip {
            name: name_of(json.name.as_ref()),
            ..Clip::default()
        };
        for (number, channel) in json.channels.iter().enumerate() {
            let user = format!("channel {number} of animation {index}");
            let targets = target(file, hierarchy, scene, channel, &user)?;
            let sampler = channel.sampler.value();
            add(file, json, sampler, &targets, &user, load, &mut clip)?;
        }
        let first = pointers.partition_point(|pointer| pointer.animation < index);
        let of_clip = pointers[first..].iter();
        for pointer in of_clip.take_while(|pointer| pointer.animation == index) {
            load.progress().check()?;
            let user = format!("pointer channel {} of animation {index}", pointer.channel);
            let targets = pointed.targets(scene, &pointer.path);
            if targets.is_none() {
                file.warn(format!(
                    "{user} moves \"{}\", which canopy does not animate",
                    shorten(&pointer.path)
                ));
            }
            let targets = targets.unwrap_or_default();
            add(
                file,
                json,
                pointer.sampler,
                &targets,
                &user,
                load,
                &mut clip,
            )?;
        }
        for channel in &clip.channels {
            if matches!(
                channel.property,
                Property::Translation | Property::Rotation | Property::Scale
            ) {
                movable(file, scene, channel.target);
            }
        }
        // A pose collects what moves by number: in this order it never has to make room between.
        clip.channels.sort_by_key(|channel| channel.target);
        scene.clips.push(clip);
    }
    Ok(())
}

/// What a channel moves, with the accessor that this needs.
#[derive(Debug, Clone, Copy)]
struct Target {
    /// As in [`Channel::target`].
    target: usize,
    property: Property,
    components: usize,
    kind: Type,
}

/// Adds a channel for each of `targets`.
fn add(
    file: &File<'_>,
    animation: &Animation,
    sampler: usize,
    targets: &[Target],
    user: &str,
    load: &mut Load<'_>,
    clip: &mut Clip,
) -> Result<()> {
    for target in targets {
        load.progress().check()?;
        let channel = read_channel(file, animation, sampler, *target, user, load)?;
        let end = channel.times_secs.last().copied().unwrap_or_default();
        clip.duration_secs = clip.duration_secs.max(end);
        clip.channels.push(channel);
    }
    Ok(())
}

/// Clips move translations, rotations and scales, so a node that has a matrix gets these.
fn movable(file: &File<'_>, scene: &mut Scene, node: usize) {
    if let Transform::Matrix(matrix) = scene.nodes[node].transform {
        file.warn(format!(
            "node \"{}\" is animated and has a matrix; canopy takes it apart",
            scene.nodes[node].name
        ));
        let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
        let sound = scale.is_finite() && rotation.is_finite();
        let (scale, rotation) = if sound {
            (scale, rotation.normalize())
        } else {
            (glam::Vec3::ONE, glam::Quat::IDENTITY)
        };
        scene.nodes[node].transform = Transform::Trs {
            translation,
            rotation,
            scale,
        };
    }
}

/// What a channel of core glTF moves; nothing if it is not in the scene.
fn target(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    scene: &Scene,
    json: &JsonChannel,
    user: &str,
) -> Result<Vec<Target>> {
    let node = json.target.node.value();
    file.get(&file.root.nodes, "node", node, || user.to_owned())?;
    let Some(place) = hierarchy.place[node] else {
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
    let target = of_node(scene, place, &[path]);
    if target.is_none() {
        file.warn(format!(
            "{user} moves the morph targets of node {node}, which has none, and is ignored"
        ));
    }
    Ok(target.into_iter().collect())
}

/// What `path` is of a node of the scene.
fn of_node(scene: &Scene, node: usize, path: &[&str]) -> Option<Target> {
    let mesh = scene.nodes[node].mesh;
    let primitive = mesh.and_then(|mesh| scene.meshes[mesh].primitives.first());
    // A node with instances holds their weights, and no mesh.
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
    Some(Target {
        target: node,
        property,
        components,
        kind,
    })
}

/// A number in a pointer, without signs and leading zeros.
fn number(text: &str) -> Option<usize> {
    let plain = text == "0" || text.starts_with(|c: char| ('1'..='9').contains(&c));
    text.parse().ok().filter(|_| plain)
}

/// Where pointers lead: the glTF 2.0 Asset Object Model, as far as canopy animates it.
struct Pointed<'a> {
    file: &'a File<'a>,
    hierarchy: &'a Hierarchy,
    /// Of each of the file's meshes, the places of nodes that show it and have no morph weights of their own.
    weighted: HashMap<usize, Vec<usize>>,
}

impl<'a> Pointed<'a> {
    fn new(
        file: &'a File<'a>,
        hierarchy: &'a Hierarchy,
        pointers: &[Pointer],
        scene: &Scene,
    ) -> Self {
        let mut weighted: HashMap<usize, Vec<usize>> = HashMap::new();
        let nodes = file.root.nodes.iter().zip(&hierarchy.place);
        for (node, place) in nodes.filter(|_| !pointers.is_empty()) {
            if let (Some(mesh), None, Some(place)) = (node.mesh, &node.weights, place) {
                // A node with instances holds their weights, and no mesh.
                let shown = &scene.nodes[*place];
                if shown.mesh.is_some() || !shown.weights.is_empty() {
                    weighted.entry(mesh.value()).or_default().push(*place);
                }
            }
        }
        Self {
            file,
            hierarchy,
            weighted,
        }
    }

    /// What `pointer` moves, which may be nothing of the scene; `None` for what canopy does not animate.
    fn targets(&self, scene: &Scene, pointer: &str) -> Option<Vec<Target>> {
        let parts: Vec<&str> = pointer.strip_prefix('/')?.split('/').collect();
        match &parts[..] {
            ["nodes", node, path @ ..] => {
                let Some(place) = *self.hierarchy.place.get(number(node)?)? else {
                    return Some(Vec::new());
                };
                of_node(scene, place, path).map(|target| vec![target])
            }
            ["meshes", mesh, "weights", ..] => {
                let mesh = number(mesh).filter(|mesh| *mesh < self.file.root.meshes.len())?;
                let nodes = self.weighted.get(&mesh).map_or(&[][..], Vec::as_slice);
                let of_node = |&place: &usize| of_node(scene, place, &parts[2..]);
                // They all show one mesh: what is no weight of the first is none of any.
                match nodes.first() {
                    Some(first) => {
                        of_node(first).map(|_| nodes.iter().filter_map(of_node).collect())
                    }
                    None => Some(Vec::new()),
                }
            }
            ["materials", material, path @ ..] => {
                let material = number(material)?;
                (material < self.file.root.materials.len()).then_some(())?;
                self.of_material(material, path).map(|target| vec![target])
            }
            [
                "extensions",
                "KHR_lights_punctual",
                "lights",
                light,
                path @ ..,
            ] => {
                let light = number(light)?;
                let is_spot = matches!(scene.lights.get(light)?.kind, LightKind::Spot { .. });
                let (property, components, kind) = match path {
                    ["color"] => (Property::LightColor, 3, Type::Vec3),
                    ["intensity"] => (Property::LightIntensity, 1, Type::Scalar),
                    ["range"] => (Property::LightRange, 1, Type::Scalar),
                    ["spot", "innerConeAngle"] if is_spot => {
                        (Property::InnerAngle, 1, Type::Scalar)
                    }
                    ["spot", "outerConeAngle"] if is_spot => {
                        (Property::OuterAngle, 1, Type::Scalar)
                    }
                    _ => return None,
                };
                Some(vec![Target {
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
                    (Projection::Orthographic { .. }, ["orthographic", "ymag"]) => {
                        Property::HalfHeight
                    }
                    _ => return None,
                };
                Some(vec![Target {
                    target: camera,
                    property,
                    components: 1,
                    kind: Type::Scalar,
                }])
            }
            _ => None,
        }
    }

    fn of_material(&self, material: usize, path: &[&str]) -> Option<Target> {
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
                    ["pbrMetallicRoughness", "metallicRoughnessTexture"] => {
                        TextureSlot::MetallicRoughness
                    }
                    ["normalTexture"] => TextureSlot::Normal,
                    ["occlusionTexture"] => TextureSlot::Occlusion,
                    ["emissiveTexture"] => TextureSlot::Emissive,
                    _ => return None,
                };
                let rest = material::uv_transform(self.file, material, slot)?;
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
        Some(Target {
            target: material,
            property,
            components,
            kind,
        })
    }
}

fn read_channel(
    file: &File<'_>,
    animation: &Animation,
    sampler: usize,
    Target {
        target,
        property,
        components,
        kind,
    }: Target,
    user: &str,
    load: &mut Load<'_>,
) -> Result<Channel> {
    let sampler = file.get(&animation.samplers, "sampler", sampler, || user.to_owned())?;
    let interpolation = match sampler.interpolation {
        Checked::Valid(JsonInterpolation::Step) => Interpolation::Step,
        Checked::Valid(JsonInterpolation::Linear) => Interpolation::Linear,
        Checked::Valid(JsonInterpolation::CubicSpline) => Interpolation::CubicSpline,
        Checked::Invalid => return Err(file.error(format!("{user} has an unknown interpolation"))),
    };
    let interpolation = match property {
        // There is nothing between shown and hidden.
        Property::Visible if interpolation == Interpolation::Linear => Interpolation::Step,
        _ => interpolation,
    };

    let input = Accessor::open(
        file,
        sampler.input.value(),
        user,
        &[Type::Scalar],
        &[ComponentType::F32],
    )?;
    let output = Accessor::open(file, sampler.output.value(), user, &[kind], &ANY)?;
    let per_key = if interpolation == Interpolation::CubicSpline {
        3 * components
    } else {
        components
    };
    // Checked before anything is allocated: an accessor without data has any count it likes.
    let (has, needs) = (
        output.count as u128 * output.components as u128,
        input.count as u128 * per_key as u128,
    );
    if has != needs || input.count == 0 {
        return Err(file.error(format!(
            "{user} has {} keys, which need {needs} values; its output has {has}",
            input.count
        )));
    }
    let mut times_secs: Vec<f32> = Vec::new();
    for key in 0..input.count {
        let [time] = input.floats(key);
        if !time.is_finite() || times_secs.last().is_some_and(|last| time <= *last) {
            let input = sampler.input;
            return Err(file.error(format!(
                "{user}: accessor {input}: the time of key {key} is not above the one before it"
            )));
        }
        times_secs.push(time);
    }
    // A pointer may become any number of channels.
    let floats = (has as u64).saturating_add(input.count as u64);
    let bytes = floats
        .saturating_mul(size_of::<f32>() as u64)
        .saturating_add(size_of::<Channel>() as u64);
    load.take(Budget::AnimationBytes, bytes, || {
        format!("{}: {user}", file.path.display())
    })?;
    let elements = (0..output.count).map(|e| output.floats::<4>(e));
    let values: Vec<f32> = elements
        .flat_map(|e| e.into_iter().take(output.components))
        .collect();
    if values.iter().any(|v| !v.is_finite()) {
        return Err(file.error(format!(
            "{user}: accessor {} holds NaN or infinity",
            sampler.output
        )));
    }
    Ok(Channel {
        target,
        property,
        interpolation,
        times_secs,
        values,
        components,
    })
}
