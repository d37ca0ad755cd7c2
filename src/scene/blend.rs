//! Clips that are blended by weight, and morph weights that are set by hand.
//!
//! What is blended is what three.js's `AnimationMixer` blends: each property by itself, over the clips that
//! animate it. Where their weights sum to less than 1, the rest pose has the remaining share; where they sum to
//! more, they are divided by their sum. Numbers are weighted means. Rotations are weighted sums of quaternions,
//! each turned to the hemisphere of the first, and made unit again (Kavan and Žára 2005, "Spherical blend
//! skinning", section 4; for two it is the normalised linear interpolation).
//!
//! All clips are at the same time, which each wraps to its own length.

use super::{
    clip::{Channel, Property, unit},
    graph::Scene,
    rest,
};
use crate::{Error, Result};
use glam::Vec4;

/// What moves a scene beside a single clip.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Blend {
    /// Clips and their weights from 0 to 1, each clip once. While there is none, a single clip plays.
    pub clips: Vec<(usize, f32)>,
    /// Morph weights in place of those of clips.
    pub morphs: Vec<MorphWeight>,
}

/// A morph weight that is set by hand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MorphWeight {
    /// Index into [`Scene::nodes`].
    pub node: usize,
    /// Number of the morph target.
    pub target: usize,
    /// Its weight.
    pub weight: f32,
}

impl Blend {
    /// The clip, and the blend, that `text` names: a clip as [`Scene::clip`] knows it, or several with their
    /// weights, such as `Walk=0.5, Run=0.5`. The first of them is the clip.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a clip that the scene does not have, or a weight outside of 0 to 1.
    pub fn named(scene: &Scene, text: &str) -> Result<(Option<usize>, Self)> {
        let parts = weighted_names(text);
        let is_name = scene.clips.iter().any(|clip| clip.name == text);
        if is_name || parts.is_empty() {
            return Ok((scene.clip(text)?, Self::default()));
        }
        let mut blend = Self::default();
        for (name, weight) in parts {
            let Some(clip) = scene.clip(name)? else {
                let what = format!("clip \"{name}\": the rest pose has no weight of its own");
                return Err(Error::NotFound(what));
            };
            if !(0.0..=1.0).contains(&weight) {
                let what = format!("clip \"{name}\": {weight} is outside 0 to 1");
                return Err(Error::NotFound(what));
            }
            match blend.clips.iter_mut().find(|(known, _)| *known == clip) {
                Some((_, sum)) => *sum += weight,
                None => blend.clips.push((clip, weight)),
            }
        }
        Ok((blend.clips.first().map(|(clip, _)| *clip), blend))
    }

    /// What [`Blend::named`] reads back: the clip alone, or all with their weights, by number.
    pub fn text(&self, clip: Option<usize>) -> String {
        if self.clips.is_empty() {
            return clip.map_or_else(|| "none".into(), |clip| clip.to_string());
        }
        let parts = self.clips.iter();
        let parts: Vec<_> = parts.map(|(clip, weight)| format!("{clip}={weight}")).collect();
        parts.join(",")
    }

    /// The weight of a clip while several are blended.
    pub fn weight(&self, clip: usize) -> Option<f32> {
        let found = self.clips.iter().find(|(known, _)| *known == clip);
        found.map(|(_, weight)| *weight)
    }

    /// The morph weight of a target, where it is set by hand.
    pub fn morph(&self, node: usize, target: usize) -> Option<f32> {
        let is = |known: &&MorphWeight| (known.node, known.target) == (node, target);
        self.morphs.iter().find(is).map(|known| known.weight)
    }

    /// Sets the morph weight of a target by hand, or leaves it to the clips.
    pub fn set_morph(&mut self, node: usize, target: usize, weight: Option<f32>) {
        self.morphs
            .retain(|known| (known.node, known.target) != (node, target));
        self.morphs.extend(weight.map(|weight| MorphWeight {
            node,
            target,
            weight,
        }));
    }

    /// The morph weights that texts such as `face/smile=0.5` name: a node by its name or number, and a target of
    /// its mesh likewise.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] that names the text and what would match.
    pub fn set_morphs_named(&mut self, scene: &Scene, texts: &[String]) -> Result<()> {
        for text in texts {
            let (node, target, weight) = scene.morph_named(text)?;
            self.set_morph(node, target, Some(weight));
        }
        Ok(())
    }

    /// What [`Blend::set_morphs_named`] reads back.
    pub fn morph_texts(&self) -> impl Iterator<Item = String> + '_ {
        let text = |morph: &MorphWeight| format!("{}/{}={}", morph.node, morph.target, morph.weight);
        self.morphs.iter().map(text)
    }

    /// Length in seconds of the longest clip that has a weight, or of `clip` alone; 0 without one.
    pub fn duration_secs(&self, scene: &Scene, clip: Option<usize>) -> f32 {
        let length = |clip: usize| scene.clips.get(clip).map_or(0.0, |clip| clip.duration_secs);
        match &self.clips[..] {
            [] => clip.map_or(0.0, length),
            clips => {
                let shown = clips.iter().filter(|(_, weight)| *weight > 0.0);
                shown.map(|(clip, _)| length(*clip)).fold(0.0, f32::max)
            }
        }
    }
}

/// The parts of `A=0.5, B=0.5`; none where the text is not of that form. Names may have commas and equals signs.
fn weighted_names(text: &str) -> Vec<(&str, f32)> {
    let mut parts = Vec::new();
    let mut start = 0;
    let ends = text.match_indices(',').map(|(end, _)| end);
    for end in ends.chain([text.len()]) {
        let part = text[start..end].rsplit_once('=');
        let part = part.and_then(|(name, weight)| Some((name.trim(), weight.trim().parse().ok()?)));
        if let Some(part) = part {
            parts.push(part);
            start = (end + 1).min(text.len());
        }
    }
    match text[start..].trim() {
        "" => parts,
        _ => Vec::new(),
    }
}

/// The time within a clip of this length, which starts again at its end. The end itself is not the start.
pub fn wrapped(time_secs: f32, duration_secs: f32) -> f32 {
    if duration_secs > 0.0 && !(0.0..=duration_secs).contains(&time_secs) {
        time_secs.rem_euclid(duration_secs)
    } else {
        time_secs
    }
}

/// A channel of a clip that has a share of the pose.
struct Contribution<'a> {
    channel: &'a Channel,
    weight: f32,
    time_secs: f32,
}

/// Calls `set` with every property that any of `clips` animates, and its blended value. Allocates a list of the
/// channels and two values, whatever the number of clips.
pub(super) fn blended(
    scene: &Scene,
    clips: &[(usize, f32)],
    time_secs: f32,
    mut set: impl FnMut(&Channel, &[f32]),
) {
    let shown = clips.iter().filter(|(_, weight)| *weight > 0.0);
    let shown = shown.filter_map(|(clip, weight)| Some((scene.clips.get(*clip)?, *weight)));
    let mut all: Vec<Contribution<'_>> = Vec::new();
    for (clip, weight) in shown {
        let time_secs = wrapped(time_secs, clip.duration_secs);
        all.extend(clip.channels.iter().map(|channel| Contribution {
            channel,
            weight,
            time_secs,
        }));
    }
    let thing = |of: &Contribution<'_>| (of.channel.property.of() as usize, of.channel.target);
    // Stable: the first clip's hemisphere holds.
    all.sort_by_key(thing);
    let (mut value, mut sum) = (Vec::new(), Vec::new());
    for of_thing in all.chunk_by(|a, b| thing(a) == thing(b)) {
        for (index, first) in of_thing.iter().enumerate() {
            let property = first.channel.property;
            let same = |of: &&Contribution<'_>| of.channel.property == property;
            if of_thing[..index].iter().any(|of| same(&of)) {
                continue;
            }
            if mean(scene, &of_thing[index..], &mut value, &mut sum) {
                set(first.channel, &sum);
            }
        }
    }
}

/// Writes the weighted mean of what channels of one thing say of the property of the first of them to `sum`.
/// Returns whether any says something.
fn mean(
    scene: &Scene,
    of_thing: &[Contribution<'_>],
    value: &mut Vec<f32>,
    sum: &mut Vec<f32>,
) -> bool {
    let channel = of_thing[0].channel;
    let property = channel.property;
    let same = || of_thing.iter().filter(|of| of.channel.property == property);
    let is_alone = same().nth(1).is_none() && of_thing[0].weight >= 1.0;
    let mut first = None;
    let mut share = 0.0;
    sum.clear();
    let mut add = |value: &mut [f32], weight: f32| {
        sum.resize(value.len(), 0.0);
        if property == Property::Rotation && !is_alone {
            let rotation = Vec4::from(unit(Vec4::from_slice(value)));
            let first = *first.get_or_insert(rotation);
            let sign = if first.dot(rotation) < 0.0 { -1.0 } else { 1.0 };
            value.copy_from_slice(&(sign * rotation).to_array());
        }
        for (sum, value) in sum.iter_mut().zip(value) {
            *sum += weight * *value;
        }
    };
    for of in same() {
        of.channel.write_value(of.time_secs, value);
        // A spline may overshoot to infinity.
        if value.iter().all(|v| v.is_finite()) {
            let weight = if is_alone { 1.0 } else { of.weight };
            add(value, weight);
            share += weight;
        }
    }
    if share == 0.0 {
        return false;
    }
    if share < 1.0 && rest::write_value(scene, channel, value) {
        add(value, 1.0 - share);
        share = 1.0;
    }
    if share != 1.0 {
        sum.iter_mut().for_each(|sum| *sum /= share);
    }
    // What is not shown for the larger share is hidden.
    if property == Property::Visible {
        sum[0] = if sum[0] >= 0.5 { 1.0 } else { 0.0 };
    }
    true
}
