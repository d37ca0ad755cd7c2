//! Animations to clips.

use super::{
    File, Tally,
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
    let mut faults = Faults::default();
    for (index, json) in file.root.animations.iter().enumerate() {
        let mut clip = Clip {
            name: name_of(json.name.as_ref()),
            ..Clip::default()
        };
        for (number, channel) in json.channels.iter().enumerate() {
            let user = format!("channel {number} of animation {index}");
            let targets = target(file, hierarchy, scene, channel, &user)?;
            let sampler = channel.sampler.value();
            let reader = Reader {
                file,
                animation: json,
                sampler,
                user,
            };
            reader.add(&targets, load, &mut faults, &mut clip)?;
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
            let reader = Reader {
                file,
                animation: json,
                sampler: pointer.sampler,
                user,
            };
            reader.add(&targets, load, &mut faults, &mut clip)?;
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
    faults.tell(file);
    Ok(())
}

/// Channels with faults that others overlook.
#[derive(Debug, Default)]
struct Faults {
    unordered: Tally,
    not_finite: Tally,
    plain_splines: Tally,
    short: Tally,
    long: Tally,
    empty: Tally,
}

impl Faults {
    fn tell(self, file: &File<'_>) {
        for (tally, outcome) in [
            (self.unordered, "they are put in order"),
            (self.not_finite, "these keys are left out"),
            (self.plain_splines, "they are joined by lines"),
            (self.short, "the keys without values are left out"),
            (self.long, "what is past the keys is left out"),
            (self.empty, "it moves nothing"),
        ] {
            tally.tell(file, outcome);
        }
    }
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

/// Reads channels of one sampler.
struct Reader<'a> {
    file: &'a File<'a>,
    animation: &'a Animation,
    sampler: usize,
    /// "channel 2 of animation 0", for messages.
    user: String,
}

impl Reader<'_> {
    /// Adds a channel for each of `targets`.
    fn add(
        &self,
        targets: &[Target],
        load: &mut Load<'_>,
        faults: &mut Faults,
        clip: &mut Clip,
    ) -> Result<()> {
        for &target in targets {
            load.progress().check()?;
            let Some(channel) = self.read(target, load, faults)? else {
                faults
                    .empty
                    .add(|| format!("{} has no key with a time and a value", self.user));
                continue;
            };
            let end = channel.times_secs.last().copied().unwrap_or_default();
            clip.duration_secs = clip.duration_secs.max(end);
            clip.channels.push(channel);
        }
        Ok(())
    }

    /// `None` if it has no keys.
    fn read(
        &self,
        Target {
            target,
            property,
            components,
            kind,
        }: Target,
        load: &mut Load<'_>,
        faults: &mut Faults,
    ) -> Result<Option<Channel>> {
        let Self { file, user, .. } = self;
        let samplers = &self.animation.samplers;
        let sampler = file.get(samplers, "sampler", self.sampler, || user.clone())?;
        let mut interpolation = match sampler.interpolation {
            Checked::Valid(JsonInterpolation::Step) => Interpolation::Step,
            Checked::Valid(JsonInterpolation::Linear) => Interpolation::Linear,
            Checked::Valid(JsonInterpolation::CubicSpline) => Interpolation::CubicSpline,
            Checked::Invalid => {
                return Err(file.error(format!("{user} has an unknown interpolation")));
            }
        };
        // There is nothing between shown and hidden.
        if property == Property::Visible && interpolation == Interpolation::Linear {
            interpolation = Interpolation::Step;
        }
        let input = Accessor::open(
            file,
            sampler.input.value(),
            user,
            &[Type::Scalar],
            &[ComponentType::F32],
        )?;
        let output = Accessor::open(file, sampler.output.value(), user, &[kind], &ANY)?;
        let (count, has) = (
            input.count,
            output.count as u128 * output.components as u128,
        );
        let values = |per_key: usize| count as u128 * per_key as u128;
        if interpolation == Interpolation::CubicSpline && has == values(components) && count > 0 {
            faults
                .plain_splines
                .add(|| format!("{user} has the values of a spline without its tangents"));
            interpolation = Interpolation::Linear;
        }
        let per_key = match interpolation {
            Interpolation::CubicSpline => 3 * components,
            _ => components,
        };
        let needs = values(per_key);
        let mut whole = count;
        if has != needs {
            let tally = if has < needs {
                &mut faults.short
            } else {
                &mut faults.long
            };
            tally.add(|| {
                format!("{user} has {count} keys, which need {needs} values; its output has {has}")
            });
            // Weights of another number of targets say nothing of these.
            let fits = if property == Property::Weights {
                0
            } else {
                has / per_key as u128
            };
            whole = whole.min(usize::try_from(fits).unwrap_or(count));
        }
        // A pointer may become any number of channels. Counted before anything is read: an accessor without data has any count it likes.
        let floats = (whole as u64).saturating_mul(1 + per_key as u64);
        let bytes = floats
            .saturating_mul(size_of::<f32>() as u64)
            .saturating_add(size_of::<Channel>() as u64);
        load.take(Budget::AnimationBytes, bytes, || {
            format!("{}: {user}", file.path.display())
        })?;
        let elements = per_key / output.components;
        let value = |key: usize| {
            let elements = (elements * key..elements * (key + 1)).map(|e| output.floats::<4>(e));
            elements.flat_map(|e| e.into_iter().take(output.components))
        };
        let mut keys = Keys::read(&input, whole, interpolation);
        if keys.unordered {
            faults
                .unordered
                .add(|| format!("{user} has key times that stand still or go back"));
        }
        let mut values: Vec<f32> = keys.kept.iter().flat_map(|(_, key)| value(*key)).collect();
        if values.iter().any(|v| !v.is_finite()) {
            let before = keys.kept.len();
            keys.kept.retain(|(_, key)| value(*key).all(f32::is_finite));
            keys.not_finite += before - keys.kept.len();
            values = keys.kept.iter().flat_map(|(_, key)| value(*key)).collect();
        }
        if keys.not_finite > 0 {
            let lost = keys.not_finite;
            faults
                .not_finite
                .add(|| format!("{user} has {lost} keys with NaN or infinity"));
        }
        let times_secs: Vec<f32> = keys.kept.into_iter().map(|(time, _)| time).collect();
        Ok((!times_secs.is_empty()).then_some(Channel {
            target,
            property,
            interpolation,
            times_secs,
            values,
            components,
        }))
    }
}

/// Keys in the order of their times.
#[derive(Debug, Default)]
struct Keys {
    /// Times, strictly increasing, and the file's number of the key.
    kept: Vec<(f32, usize)>,
    /// Whether the file has another order.
    unordered: bool,
    /// How many are left out.
    not_finite: usize,
}

impl Keys {
    /// The first `count` keys of `times`. Of equal times the last holds from then on; what comes before it goes as far as the first.
    fn read(times: &Accessor<'_>, count: usize, interpolation: Interpolation) -> Self {
        let mut keys = Self::default();
        for key in 0..count {
            let [time] = times.floats(key);
            // Zeros of both signs are the same time.
            let time: f32 = time + 0.0;
            if !time.is_finite() {
                keys.not_finite += 1;
                continue;
            }
            keys.unordered |= keys.kept.last().is_some_and(|(last, _)| time <= *last);
            keys.push((time, key));
        }
        if keys.unordered {
            let mut unordered = std::mem::take(&mut keys.kept);
            unordered.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            unordered.into_iter().for_each(|key| keys.push(key));
            keys.part(interpolation);
        }
        keys
    }

    /// Adds a key. Of a run of equal times the first and the last are kept.
    fn push(&mut self, key: (f32, usize)) {
        if let [.., (first, _), (last, last_key)] = &mut self.kept[..]
            && *first == key.0
            && *last == key.0
        {
            *last_key = key.1;
        } else {
            self.kept.push(key);
        }
    }

    /// Makes a jump of two equal times: the first of them moves to the moment before, or gives way where there is none or nothing leads
    /// to it.
    fn part(&mut self, interpolation: Interpolation) {
        let pairs = std::mem::take(&mut self.kept);
        let mut keys = pairs.into_iter().peekable();
        while let Some((mut time, key)) = keys.next() {
            if keys.peek().is_some_and(|(next, _)| *next == time) {
                time = time.next_down();
                let before = self.kept.last().map(|(before, _)| *before);
                let leads = before.is_some_and(|before| before < time);
                if interpolation == Interpolation::Step || !leads {
                    continue;
                }
            }
            self.kept.push((time, key));
        }
    }
}
