//! Animations to clips.

use super::{
    File,
    accessor::{ANY, Accessor},
    name_of,
    node::Hierarchy,
};
use crate::{
    Result,
    scene::{Channel, Clip, Interpolation, Property, Scene, Transform, load::Load},
};
use ::gltf::json::{
    accessor::{ComponentType, Type},
    animation::{
        Animation, Channel as JsonChannel, Interpolation as JsonInterpolation,
        Property as JsonProperty,
    },
    validation::Checked,
};

/// Reads every animation; channels that move nothing in the scene are left out.
pub(super) fn clips(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    load: &mut Load<'_>,
    scene: &mut Scene,
) -> Result<()> {
    for (index, json) in file.root.animations.iter().enumerate() {
        let mut clip = Clip {
            name: name_of(json.name.as_ref()),
            ..Clip::default()
        };
        for (number, channel) in json.channels.iter().enumerate() {
            let user = format!("channel {number} of animation {index}");
            load.progress().check()?;
            let channel = read_channel(file, hierarchy, scene, json, channel, &user, load)?;
            let Some(channel) = channel else {
                continue;
            };
            if channel.property != Property::Weights {
                movable(file, scene, channel.node);
            }
            clip.duration_secs = channel
                .times_secs
                .iter()
                .copied()
                .fold(clip.duration_secs, f32::max);
            clip.channels.push(channel);
        }
        scene.clips.push(clip);
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

fn read_channel(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    scene: &Scene,
    animation: &Animation,
    json: &JsonChannel,
    user: &str,
    load: &mut Load<'_>,
) -> Result<Option<Channel>> {
    let sampler = file.get(&animation.samplers, "sampler", json.sampler.value(), || {
        user.to_owned()
    })?;
    let target = json.target.node.value();
    file.get(&file.root.nodes, "node", target, || user.to_owned())?;
    let Some(node) = hierarchy.place[target] else {
        return Ok(None);
    };
    let (property, components, kind) = match json.target.path {
        Checked::Valid(JsonProperty::Translation) => (Property::Translation, 3, Type::Vec3),
        Checked::Valid(JsonProperty::Rotation) => (Property::Rotation, 4, Type::Vec4),
        Checked::Valid(JsonProperty::Scale) => (Property::Scale, 3, Type::Vec3),
        Checked::Valid(JsonProperty::MorphTargetWeights) => {
            let mesh = scene.nodes[node]
                .mesh
                .and_then(|m| scene.meshes[m].primitives.first());
            (
                Property::Weights,
                mesh.map_or(0, |p| p.targets.len()),
                Type::Scalar,
            )
        }
        Checked::Invalid => {
            file.warn(format!("{user} has an unknown path and is ignored"));
            return Ok(None);
        }
    };
    if components == 0 {
        file.warn(format!(
            "{user} moves the morph targets of node {target}, which has none, and is ignored"
        ));
        return Ok(None);
    }
    let interpolation = match sampler.interpolation {
        Checked::Valid(JsonInterpolation::Step) => Interpolation::Step,
        Checked::Valid(JsonInterpolation::Linear) => Interpolation::Linear,
        Checked::Valid(JsonInterpolation::CubicSpline) => Interpolation::CubicSpline,
        Checked::Invalid => return Err(file.error(format!("{user} has an unknown interpolation"))),
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
    let bytes = (has as u64).saturating_mul(size_of::<f32>() as u64);
    load.take_animation_bytes(bytes, || format!("{}: {user}", file.path.display()))?;
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
    Ok(Some(Channel {
        node,
        property,
        interpolation,
        times_secs,
        values,
        components,
    }))
}
