//! Reads a channel from its sampler, and tolerates the faults that occur in real files.

use super::target::ChannelTarget;
use crate::{
    Result,
    clip::{Channel, Clip, Interpolation, Property},
    gltf::{
        accessor::{ANY, Accessor},
        file::{File, Tally},
    },
    load::{Budget, Load},
};
use ::gltf::json::{
    accessor::{ComponentType, Type},
    animation::{Animation, Interpolation as JsonInterpolation},
    validation::Checked,
};

/// Faults of channels that other software tolerates.
#[derive(Debug, Default)]
pub(super) struct Faults {
    unordered: Tally,
    not_finite: Tally,
    plain_splines: Tally,
    short: Tally,
    long: Tally,
    empty: Tally,
}

impl Faults {
    pub(super) fn warn(self, file: &File<'_>) {
        for (tally, outcome) in [
            (self.unordered, "they are sorted"),
            (self.not_finite, "these keys are left out"),
            (self.plain_splines, "they are interpolated linearly"),
            (self.short, "the keys without values are left out"),
            (self.long, "the values beyond the keys are ignored"),
            (self.empty, "it moves nothing"),
        ] {
            tally.warn(file, outcome);
        }
    }
}

/// Reads the channels of one sampler.
pub(super) struct ChannelReader<'a> {
    pub(super) file: &'a File<'a>,
    pub(super) animation: &'a Animation,
    pub(super) sampler: usize,
    /// Name in messages, such as "channel 2 of animation 0".
    pub(super) user: String,
}

impl ChannelReader<'_> {
    /// Adds a channel for each of `targets`.
    pub(super) fn add(
        &self,
        targets: &[ChannelTarget],
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

    /// Reads the channel. Returns `None` if it has no keys.
    fn read(
        &self,
        ChannelTarget {
            target,
            property,
            components,
            kind,
        }: ChannelTarget,
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
        // Visibility is a boolean and cannot be interpolated.
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
        let (count, has) = (input.count, output.count as u128 * output.components as u128);
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
            tally.add(|| format!("{user} has {count} keys, which need {needs} values; its output has {has}"));
            // Weights for a different number of targets do not apply to these.
            let fits = if property == Property::Weights {
                0
            } else {
                has / per_key as u128
            };
            whole = whole.min(usize::try_from(fits).unwrap_or(count));
        }
        // The budget is checked before anything is read. A pointer may expand to any number of channels, and
        // an accessor without data may have any count.
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
                .add(|| format!("{user} has key times that do not increase"));
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

/// Keys sorted by time.
#[derive(Debug, Default)]
struct Keys {
    /// Times, strictly increasing, each with the index of the key in the file.
    kept: Vec<(f32, usize)>,
    /// True if the file has them in another order.
    unordered: bool,
    /// Number of keys that are left out because they are NaN or infinite.
    not_finite: usize,
}

impl Keys {
    /// Reads the first `count` keys of `times`. Keys at equal times make a jump: the first ends the interval
    /// before, and the last begins the interval after.
    fn read(times: &Accessor<'_>, count: usize, interpolation: Interpolation) -> Self {
        let mut keys = Self::default();
        for key in 0..count {
            let [time] = times.floats(key);
            // Maps −0 to +0, because they are equal times.
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

    /// Adds a key. Only the first and the last of a run of equal times are kept.
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

    /// Turns two equal times into a jump by moving the first to the previous representable time. The first is
    /// left out instead if interpolation is stepwise, or if no earlier key leads to it.
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
