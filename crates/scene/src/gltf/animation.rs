//! Converts animations to clips.

mod channel;
mod target;

use super::{
    container::Pointer,
    file::{File, name_of},
    hierarchy::Hierarchy,
};
use crate::{
    Result,
    clip::{Clip, Property},
    files::shorten,
    graph::{Scene, WarningPlace},
    load::Load,
    node::Transform,
};
use channel::{ChannelReader, Faults};
use target::{Pointers, node_target};

/// Reads every animation. Channels that animate nothing in the scene are left out. `pointers` are the
/// channels of KHR_animation_pointer.
pub(super) fn clips(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    pointers: &[Pointer],
    load: &mut Load<'_>,
    scene: &mut Scene,
) -> Result<()> {
    let pointers_of_file = Pointers::new(file, hierarchy, pointers, scene);
    let mut faults = Faults::default();
    for (index, json) in file.root.animations.iter().enumerate() {
        file.place.set(Some(WarningPlace::Clip(index)));
        let mut clip = Clip {
            name: name_of(json.name.as_ref()),
            ..Clip::default()
        };
        for (number, channel) in json.channels.iter().enumerate() {
            let user = format!("channel {number} of animation {index}");
            let targets = node_target(file, hierarchy, scene, channel, &user)?;
            let sampler = channel.sampler.value();
            let reader = ChannelReader {
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
            let targets = pointers_of_file.targets(scene, &pointer.path);
            if targets.is_none() {
                file.warn(format!(
                    "{user} animates \"{}\", which canopy does not support",
                    shorten(&pointer.path)
                ));
            }
            let targets = targets.unwrap_or_default();
            let reader = ChannelReader {
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
                split_transform(file, scene, channel.target);
            }
        }
        // A pose keeps animated targets sorted by index, so in this order it only appends.
        clip.channels.sort_by_key(|channel| channel.target);
        scene.clips.push(clip);
    }
    file.place.set(None);
    faults.warn(file);
    Ok(())
}

/// Converts a node's matrix to translation, rotation and scale, because those are what clips animate.
fn split_transform(file: &File<'_>, scene: &mut Scene, node: usize) {
    if let Transform::Matrix(matrix) = scene.nodes[node].transform {
        file.warn(format!(
            "node \"{}\" is animated and has a matrix; canopy decomposes it",
            scene.nodes[node].name
        ));
        let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
        let sound = scale.is_finite() && rotation.is_finite();
        let (scale, rotation) = if sound {
            (scale, rotation.normalize())
        } else {
            (glam::DVec3::ONE, glam::DQuat::IDENTITY)
        };
        scene.nodes[node].transform = Transform::Trs {
            translation,
            rotation,
            scale,
        };
    }
}
