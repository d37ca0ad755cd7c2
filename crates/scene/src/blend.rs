//! Clips that are blended by weight, and morph weights that are set by hand.
//!
//! The rules are the same as in three.js's `AnimationMixer`. Each property is blended separately, over the
//! clips that animate it. If their weights sum to less than 1, the rest pose gets the remaining weight. If
//! they sum to more, they are divided by their sum.
//!
//! Numbers are weighted means. Rotations are normalised weighted sums of quaternions, each negated if needed
//! to lie in the hemisphere of the first (Kavan and Žára 2005, "Spherical blend skinning", section 4). For
//! two rotations this is nlerp.
//!
//! All clips are evaluated at the same time, which each wraps to its own duration.

use super::{
    clip::{Channel, Property, unit},
    graph::Scene,
    rest,
};
use crate::{Error, Result};
use glam::Vec4;

/// Blended clips and manual morph weights, which apply in addition to a single clip.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Blend {
    /// Clips with weights from 0 to 1, each clip once. If empty, a single clip plays.
    pub clips: Vec<(usize, f32)>,
    /// Morph weights that override the weights from clips.
    pub morphs: Vec<MorphWeight>,
}

/// A morph weight that was set by hand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MorphWeight {
    /// Index into [`Scene::nodes`].
    pub node: usize,
    /// Index of the morph target.
    pub target: usize,
    /// Weight of the morph target.
    pub weight: f32,
}

impl Blend {
    /// Parses a clip as [`Scene::clip`] does, or several with their weights, such as `Walk=0.5, Run=0.5`.
    /// Returns the first clip and the blend.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a clip that the scene does not have, or a weight outside 0 to 1.
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

    /// Formats text that [`Blend::named`] reads back: the index of a single clip, or the index and weight of
    /// each clip.
    pub fn text(&self, clip: Option<usize>) -> String {
        if self.clips.is_empty() {
            return clip.map_or_else(|| "none".into(), |clip| clip.to_string());
        }
        let parts = self.clips.iter();
        let parts: Vec<_> = parts.map(|(clip, weight)| format!("{clip}={weight}")).collect();
        parts.join(",")
    }

    /// Returns the morph weight of a target if it was set by hand.
    pub fn morph(&self, node: usize, target: usize) -> Option<f32> {
        let is = |known: &&MorphWeight| (known.node, known.target) == (node, target);
        self.morphs.iter().find(is).map(|known| known.weight)
    }

    /// Sets the morph weight of a target by hand. `None` returns it to the clips.
    pub fn set_morph(&mut self, node: usize, target: usize, weight: Option<f32>) {
        self.morphs
            .retain(|known| (known.node, known.target) != (node, target));
        self.morphs
            .extend(weight.map(|weight| MorphWeight { node, target, weight }));
    }

    /// Sets morph weights from texts such as `face/smile=0.5`. The node and the target of its mesh are given
    /// by name or index.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] with the text and what would match.
    pub fn set_morphs_named(&mut self, scene: &Scene, texts: &[String]) -> Result<()> {
        for text in texts {
            let (node, target, weight) = scene.morph_named(text)?;
            self.set_morph(node, target, Some(weight));
        }
        Ok(())
    }

    /// Formats the texts that [`Blend::set_morphs_named`] reads back.
    pub fn morph_texts(&self) -> impl Iterator<Item = String> + '_ {
        let text = |morph: &MorphWeight| format!("{}/{}={}", morph.node, morph.target, morph.weight);
        self.morphs.iter().map(text)
    }

    /// Returns the duration in seconds of the longest blended clip with a weight above 0. If no clips are
    /// blended, returns the duration of `clip`, or 0 without a clip.
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

/// Splits text of the form `A=0.5, B=0.5`. Returns an empty list if the text does not have that form. Names
/// may contain commas and equals signs.
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

/// Wraps a time to the duration of a clip. The end itself does not wrap to the start.
pub fn wrapped(time_secs: f32, duration_secs: f32) -> f32 {
    if duration_secs > 0.0 && !(0.0..=duration_secs).contains(&time_secs) {
        time_secs.rem_euclid(duration_secs)
    } else {
        time_secs
    }
}

/// A channel that contributes to a property, with its weight.
struct Contribution<'a> {
    channel: &'a Channel,
    weight: f32,
    time_secs: f32,
}

/// Calls `set` with every property that any of `clips` animates, and its blended value. Allocates a list of
/// the channels and two values, for any number of clips.
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
    // Stable, so that the first clip determines the hemisphere.
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

/// Writes the weighted mean of the property of the first channel to `sum`. The mean is over all channels of
/// one target that animate this property. Returns true if any of them has a value.
fn mean(scene: &Scene, of_thing: &[Contribution<'_>], value: &mut Vec<f32>, sum: &mut Vec<f32>) -> bool {
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
    // A node is visible if clips with at least half of the weight make it visible.
    if property == Property::Visible {
        sum[0] = if sum[0] >= 0.5 { 1.0 } else { 0.0 };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clip, Interpolation, Mesh, MorphTarget, Node, Pose, Primitive, Transform};
    use glam::{DQuat, DVec3, Mat4, Quat, Vec3};

    const REST: Transform = Transform::Trs {
        translation: DVec3::new(0.0, 8.0, 0.0),
        rotation: DQuat::IDENTITY,
        scale: DVec3::ONE,
    };

    fn channel(property: Property, values: &[f32]) -> Channel {
        Channel {
            target: 0,
            property,
            interpolation: Interpolation::Linear,
            times_secs: vec![0.0],
            values: values.to_vec(),
            components: values.len(),
        }
    }

    fn clip(name: &str, duration_secs: f32, channels: Vec<Channel>) -> Clip {
        Clip {
            name: name.into(),
            channels,
            duration_secs,
        }
    }

    /// Returns a scene whose node has two morph targets, with clips that do not move.
    fn scene(clips: Vec<Clip>) -> Scene {
        let target = |name: &str| MorphTarget {
            name: name.into(),
            positions: vec![Vec3::X],
            ..MorphTarget::default()
        };
        Scene {
            nodes: vec![Node {
                name: "face".into(),
                transform: REST,
                mesh: Some(0),
                weights: vec![0.5, 0.0],
                ..Node::default()
            }],
            meshes: vec![Mesh {
                name: String::new(),
                primitives: vec![Primitive {
                    positions: vec![Vec3::ZERO],
                    targets: vec![target("smile"), target("")],
                    ..Primitive::default()
                }],
            }],
            clips,
            world_from_file: Mat4::IDENTITY,
            ..Scene::default()
        }
    }

    fn pose(scene: &Scene, clips: &[(usize, f32)], time: f32) -> Pose {
        let blend = Blend {
            clips: clips.to_vec(),
            morphs: Vec::new(),
        };
        Pose::blended(scene, Some(0), &blend, time)
    }

    /// Returns translation, rotation about z in degrees, scale and weights of a pose.
    fn parts(pose: &Pose) -> ([f32; 3], f64, f32, [f32; 2]) {
        let (scale, rotation, translation) =
            pose.world_from_node[0].as_mat4().to_scale_rotation_translation();
        let angle = 2.0 * f64::from(rotation.z).atan2(f64::from(rotation.w));
        let weights = [pose.weights[0][0], pose.weights[0][1]];
        (translation.to_array(), angle.to_degrees(), scale.x, weights)
    }

    fn turned(degrees: f32) -> Channel {
        let rotation = Quat::from_rotation_z(degrees.to_radians());
        channel(Property::Rotation, &rotation.to_array())
    }

    /// Returns the angle of the normalised sum of half angles, in f64.
    fn mean_angle(parts: &[(f64, f64)]) -> f64 {
        let sum = |of: fn(f64) -> f64| -> f64 {
            let terms = parts.iter();
            terms
                .map(|(weight, degrees)| weight * of((degrees / 2.0).to_radians()))
                .sum()
        };
        2.0 * sum(f64::sin).atan2(sum(f64::cos)).to_degrees()
    }

    fn two() -> Scene {
        let turned_away = {
            let mut channel = turned(90.0);
            // Negated, which is the same rotation in the other hemisphere.
            channel.values.iter_mut().for_each(|v| *v = -*v);
            channel
        };
        scene(vec![
            clip(
                "Walk",
                1.0,
                vec![
                    turned(20.0),
                    channel(Property::Translation, &[4.0, 0.0, 0.0]),
                    channel(Property::Weights, &[1.0, 0.0]),
                ],
            ),
            clip(
                "Run",
                2.0,
                vec![
                    turned_away,
                    channel(Property::Translation, &[0.0, 0.0, 4.0]),
                    channel(Property::Scale, &[3.0, 3.0, 3.0]),
                    channel(Property::Weights, &[0.0, 0.25]),
                ],
            ),
        ])
    }

    #[test]
    fn blends_match_f64_and_the_rest_pose_has_the_remaining_weight() {
        let scene = two();
        for (weights, translation, angle, scale, morphs) in [
            // Each clip has half of the weight. Only one has a scale, so the rest pose contributes the other
            // half of the scale.
            (
                [0.5, 0.5],
                [2.0, 0.0, 2.0],
                mean_angle(&[(0.5, 20.0), (0.5, 90.0)]),
                2.0,
                [0.5, 0.125],
            ),
            // The rest pose contributes a quarter, and three quarters of the scale.
            (
                [0.5, 0.25],
                [2.0, 2.0, 1.0],
                mean_angle(&[(0.5, 20.0), (0.25, 90.0), (0.25, 0.0)]),
                1.5,
                [0.5 + 0.25 * 0.5, 0.0625],
            ),
            // Weights that sum to more than 1 are divided by their sum.
            (
                [1.0, 0.25],
                [3.2, 0.0, 0.8],
                mean_angle(&[(0.8, 20.0), (0.2, 90.0)]),
                1.5,
                [0.8, 0.05],
            ),
            ([0.0, 1.0], [0.0, 0.0, 4.0], 90.0, 3.0, [0.0, 0.25]),
            ([0.0, 0.0], [0.0, 8.0, 0.0], 0.0, 1.0, [0.5, 0.0]),
        ] {
            let found = parts(&pose(&scene, &[(0, weights[0]), (1, weights[1])], 0.0));
            let near = |a: f32, b: f32| (a - b).abs() < 1e-5;
            assert!(
                (0..3).all(|i| near(found.0[i], translation[i]))
                    && (found.1 - angle).abs() < 1e-3
                    && (found.2 - scale).abs() < 1e-5
                    && (0..2).all(|i| near(found.3[i], morphs[i])),
                "{weights:?}: {found:?}, expected {translation:?} {angle} {scale} {morphs:?}"
            );
        }
    }

    #[test]
    fn a_clip_blended_with_itself_equals_the_clip() {
        let mut scene = two();
        // Quaternions that are not normalised, and a time between keys.
        for clip in &mut scene.clips {
            for channel in &mut clip.channels {
                channel.times_secs = vec![0.0, 0.7];
                let moved = channel.values.clone().into_iter().map(|v| 0.3 + 1.1 * v);
                channel.values.extend(moved);
            }
        }
        for (text, clip) in [("Run=0.5, Run=0.5", 1), ("Walk=1", 0), ("1=0.75,Run=0.75", 1)] {
            let (first, blend) = Blend::named(&scene, text).unwrap();
            assert_eq!(first, Some(clip), "{text}");
            let blended = Pose::blended(&scene, first, &blend, 0.43);
            assert_eq!(blended, Pose::new(&scene, Some(clip), 0.43), "{text}");
            assert_ne!(blended, Pose::new(&scene, Some(1 - clip), 0.43), "{text}");
        }
    }

    /// Each clip is evaluated at the same time, wrapped to its own duration.
    #[test]
    fn times_wrap_to_each_clip() {
        let moving = |length: f32| Channel {
            times_secs: vec![0.0, length],
            values: vec![0.0, 0.0, 0.0, length, 0.0, 0.0],
            components: 3,
            ..channel(Property::Translation, &[])
        };
        let scene = scene(vec![
            clip("a", 1.0, vec![moving(1.0)]),
            clip("b", 4.0, vec![moving(4.0)]),
        ]);
        for (time, x) in [
            (0.5, 0.5),
            (1.0, 1.0),
            (2.5, 1.5),
            (4.0, 2.0),
            (5.25, 0.75),
            (-0.5, 2.0),
        ] {
            let found = parts(&pose(&scene, &[(0, 0.5), (1, 0.5)], time)).0[0];
            assert!((found - x).abs() < 1e-5, "{time}: {found}");
        }
        let blend = Blend::named(&scene, "a=0.5,b=0.5").unwrap().1;
        assert_eq!(blend.duration_secs(&scene, Some(0)), 4.0);
        assert_eq!(Blend::default().duration_secs(&scene, Some(0)), 1.0);
        assert_eq!(wrapped(7.0, 0.0), 7.0);
    }

    #[test]
    fn a_node_hidden_with_half_of_the_weight_is_shown() {
        let visible = |value: f32| vec![channel(Property::Visible, &[value])];
        let scene = scene(vec![clip("a", 1.0, visible(0.0)), clip("b", 1.0, visible(1.0))]);
        let is_shown = |a, b| pose(&scene, &[(0, a), (1, b)], 0.0).visible[0];
        assert!(is_shown(0.5, 0.5) && is_shown(0.25, 0.75) && !is_shown(0.75, 0.25));
        assert!(is_shown(0.25, 0.0), "the rest pose shows it");
    }

    #[test]
    fn blend_texts_are_parsed_and_faults_are_reported() {
        let mut scene = two();
        scene.clips.push(clip("a, b=c", 1.0, Vec::new()));
        scene.clips.push(clip("x=0.5", 1.0, Vec::new()));
        let named = |text: &str| Blend::named(&scene, text).map(|(clip, blend)| (clip, blend.clips));
        assert_eq!(named("Run").unwrap(), (Some(1), vec![]));
        assert_eq!(named("none").unwrap(), (None, vec![]));
        assert_eq!(named("x=0.5").unwrap(), (Some(3), vec![]), "a name comes first");
        let both = (Some(1), vec![(1, 0.25), (0, 0.5)]);
        assert_eq!(named("Run=0.25, Walk = 0.5").unwrap(), both);
        assert_eq!(
            named("a, b=c=0.5,Run=1").unwrap(),
            (Some(2), vec![(2, 0.5), (1, 1.0)])
        );
        for (text, words) in [
            ("Walk=0.5,Fly=0.5", ["Fly", "0 \"Walk\""]),
            ("Walk=0.5,Run", ["Walk=0.5,Run", "1 \"Run\""]),
            ("Walk=2", ["Walk", "outside 0 to 1"]),
            ("none=1", ["none", "rest pose"]),
            ("Walk=nan", ["Walk", "outside 0 to 1"]),
        ] {
            let why = named(text).unwrap_err().to_string();
            assert!(words.iter().all(|word| why.contains(word)), "{text}: {why}");
        }
        let (clip, blend) = Blend::named(&scene, "Run=0.25,Walk=0.5").unwrap();
        assert_eq!(Blend::named(&scene, &blend.text(clip)).unwrap(), (clip, blend));
        assert_eq!(Blend::default().text(None), "none");
    }

    #[test]
    fn manual_morph_weights_override_the_clip() {
        let scene = two();
        let mut blend = Blend::default();
        let texts = ["face/smile=0.75".to_owned(), "0/1=2".to_owned()];
        blend.set_morphs_named(&scene, &texts[..1]).unwrap();
        let weights = |blend: &Blend| Pose::blended(&scene, Some(1), blend, 0.0).weights[0].clone();
        assert_eq!(weights(&blend), [0.75, 0.25]);
        blend.set_morphs_named(&scene, &texts).unwrap();
        assert_eq!(weights(&blend), [0.75, 2.0]);
        let again: Vec<_> = blend.morph_texts().collect();
        let mut read = Blend::default();
        read.set_morphs_named(&scene, &again).unwrap();
        assert_eq!(read, blend);
        blend.set_morph(0, 0, None);
        assert_eq!((weights(&blend), blend.morph(0, 0)), (vec![0.0, 2.0], None));
        for (text, words) in [
            ("smile=1", ["smile=1", "NODE/TARGET=WEIGHT"]),
            ("face/smile", ["face/smile", "NODE/TARGET=WEIGHT"]),
            ("head/smile=1", ["head", "0 \"face\""]),
            ("face/grin=1", ["grin", "smile, target 1"]),
            ("face/2=1", ["\"2\"", "smile, target 1"]),
        ] {
            let why = blend.set_morphs_named(&scene, &[text.to_owned()]);
            let why = why.unwrap_err().to_string();
            assert!(words.iter().all(|word| why.contains(word)), "{text}: {why}");
        }
    }
}
