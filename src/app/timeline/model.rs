//! Model of the timeline: the playing clips, the current time, and the loop range.

use crate::{
    app::{
        input::keys::Action,
        state::{Stage, State},
    },
    scene::timeline::{LoopRange, stepped},
};
use std::sync::Arc;

impl Stage {
    /// Returns the playing clips with their weights.
    pub(in crate::app) fn weights(&self) -> Vec<(usize, f32)> {
        match self.blend.clips.is_empty() {
            true => self.clip.map(|clip| (clip, 1.0)).into_iter().collect(),
            false => self.blend.clips.clone(),
        }
    }

    /// Sets the weight of a clip, which adds the clip if necessary. `None` removes it.
    pub(in crate::app) fn set_weight(&mut self, clip: usize, weight: Option<f32>) {
        let mut clips = self.weights();
        let known = clips.iter().position(|(known, _)| *known == clip);
        match (known, weight) {
            (Some(index), Some(weight)) => clips[index].1 = weight,
            (Some(index), None) => {
                clips.remove(index);
            }
            (None, Some(weight)) => clips.push((clip, weight)),
            (None, None) => {}
        }
        self.clip = clips.first().map(|(clip, _)| *clip);
        if matches!(clips[..], [(_, weight)] if weight == 1.0) {
            clips.clear();
        }
        Arc::make_mut(&mut self.blend).clips = clips;
        // The time is kept while nothing plays.
        let duration = self.duration();
        if duration > 0.0 {
            self.time = self.time.min(duration);
        }
    }

    /// Switches a clip of the blend on or off. If one clip had all the weight, it and the new clip each get
    /// half of it.
    pub(in crate::app) fn switch_clip(&mut self, clip: usize, is_on: bool) {
        let clips = self.weights();
        match (&clips[..], is_on) {
            ([(alone, 1.0)], true) if *alone != clip => {
                let alone = *alone;
                self.set_weight(clip, Some(0.5));
                self.set_weight(alone, Some(0.5));
            }
            ([], true) => self.set_weight(clip, Some(1.0)),
            (_, true) => self.set_weight(clip, Some(0.5)),
            (_, false) => self.set_weight(clip, None),
        }
    }

    /// Returns the name of the playing clip, or of all blended clips with their weights.
    pub(in crate::app) fn playing_name(&self) -> String {
        if self.blend.clips.is_empty() {
            return self.clip_name(self.clip);
        }
        let clips = self.blend.clips.iter();
        let names = clips.map(|(clip, weight)| format!("{} {weight:.2}", self.clip_name(Some(*clip))));
        names.collect::<Vec<_>>().join(" + ")
    }
}

impl State {
    /// True if the scene has clips or morph targets.
    pub(in crate::app) fn has_timeline(&self) -> bool {
        let Some(stage) = &self.stage else {
            return false;
        };
        !stage.scene.clips.is_empty() || stage.scene.morphed_nodes().next().is_some()
    }

    /// Returns the duration of the playing clips in seconds, or 0 without any.
    fn duration(&self) -> f32 {
        self.stage.as_ref().map_or(0.0, Stage::duration)
    }

    /// Returns the loop range in seconds, within the playing clips.
    pub(in crate::app) fn loop_range(&self) -> LoopRange {
        LoopRange::new(&self.config.animation, self.duration())
    }

    /// Sets the loop range in seconds, at least half a frame long. An end at the end of the clip is stored as
    /// 0, the end of any clip.
    pub(in crate::app) fn set_loop_range(&mut self, range: LoopRange) {
        let duration = self.duration();
        let shortest = (0.5 / self.config.animation.frame_rate).min(duration);
        let settings = &mut self.config.animation;
        settings.loop_from = range.from.clamp(0.0, duration - shortest);
        // Rounding may take the sum past the end.
        let least = (settings.loop_from + shortest).min(duration);
        let to = range.to.clamp(least, duration);
        settings.loop_to = if to >= duration { 0.0 } else { to };
    }

    /// True while a clip plays that is longer than 0 seconds.
    pub(in crate::app) fn plays(&self) -> bool {
        self.playback.playing && self.duration() > 0.0
    }

    /// Advances the clip by `seconds` times the playback speed. Stops at the end of the loop range unless
    /// clips repeat.
    pub(in crate::app) fn play_for(&mut self, seconds: f32) {
        if !self.plays() {
            return;
        }
        let range = self.loop_range();
        let settings = &self.config.animation;
        if let Some(stage) = &mut self.stage {
            let seconds = seconds * settings.speed;
            let (time, has_ended) = range.advance(stage.time, seconds, settings.repeat);
            stage.time = time;
            self.playback.playing &= !has_ended;
        }
    }

    /// Plays or pauses. If the clip has ended, it starts again.
    pub(in crate::app) fn toggle_playing(&mut self) {
        if self.duration() == 0.0 {
            return self.notify("there is no clip to play");
        }
        self.playback.playing = !self.playback.playing;
        self.playback.is_paused_still = false;
        let range = self.loop_range();
        let settings = &self.config.animation;
        if let Some(stage) = self
            .stage
            .as_mut()
            .filter(|_| self.playback.playing && !settings.repeat)
        {
            if settings.speed >= 0.0 && stage.time >= range.to {
                stage.time = range.from;
            } else if settings.speed < 0.0 && stage.time <= range.from {
                stage.time = range.to;
            }
        }
        let text = if self.playback.playing {
            "playing"
        } else {
            "paused"
        };
        self.notify(text);
    }

    /// Pauses at `time` in seconds, limited to the clip.
    pub(in crate::app) fn scrub(&mut self, time: f32) {
        self.playback.is_paused_still = false;
        self.playback.playing = false;
        let duration = self.duration();
        if let Some(stage) = &mut self.stage {
            stage.time = time.clamp(0.0, duration);
        }
    }

    /// Performs a timeline action.
    pub(in crate::app) fn perform_on_timeline(&mut self, action: Action) {
        let duration = self.duration();
        let now = self.stage.as_ref().map_or(0.0, |stage| stage.time);
        let rate = self.config.animation.frame_rate;
        let time = match action {
            Action::Timeline => {
                let is_shown = &mut self.config.window.timeline;
                *is_shown = !*is_shown;
                return self.notify(match (self.has_timeline(), self.config.window.timeline) {
                    (false, _) => "the scene has neither clips nor morph targets",
                    (true, true) => "timeline on",
                    (true, false) => "timeline off",
                });
            }
            _ if duration == 0.0 => return self.notify("there is no clip to step through"),
            Action::StepFrame(frames) => stepped(now, frames, rate, duration),
            Action::ClipEnd => self.loop_range().to,
            _ => self.loop_range().from,
        };
        self.scrub(time);
        let frame = crate::scene::timeline::frame_number(time, rate);
        self.notify(format!("{time:.3} s, frame {frame}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Config,
        scene::{
            Clip, Scene,
            framing::Look,
            opened::{OpenedScene, Span},
        },
    };

    fn state() -> State {
        let clip = |name: &str, duration_secs| Clip {
            name: name.into(),
            duration_secs,
            ..Clip::default()
        };
        let scene = Scene {
            clips: vec![clip("Walk", 1.0), clip("Run", 2.0)],
            ..Scene::default()
        };
        let config = Config::default();
        let mut state = State::new(config.clone());
        let opened = OpenedScene::new(scene, &config, Span::Clip);
        state.show(vec!["a.glb".into()], opened, &Look::default(), 1.0);
        state
    }

    fn time(state: &State) -> f32 {
        state.stage.as_ref().unwrap().time
    }

    #[test]
    fn steps_pause_playback_and_jumps_go_to_the_range_ends() {
        let mut state = state();
        assert!(state.playback.playing);
        state.perform_on_timeline(Action::StepFrame(1));
        assert!(!state.playback.playing && (time(&state) - 1.0 / 30.0).abs() < 1e-6);
        state.set_loop_range(LoopRange { from: 0.25, to: 0.5 });
        state.perform_on_timeline(Action::ClipEnd);
        assert_eq!(time(&state), 0.5);
        state.perform_on_timeline(Action::ClipStart);
        assert_eq!(time(&state), 0.25);
        state.playback.playing = true;
        state.play_for(0.375);
        assert_eq!(time(&state), 0.375, "it begins again in the range");
        // An end at the clip's end applies to any clip.
        state.set_loop_range(LoopRange { from: -1.0, to: 7.0 });
        let settings = &state.config.animation;
        assert_eq!((settings.loop_from, settings.loop_to), (0.0, 0.0));
    }

    #[test]
    fn playback_without_repeat_stops_and_the_key_restarts_it() {
        let mut state = state();
        state.config.animation.repeat = false;
        state.play_for(3.0);
        assert!(!state.playback.playing && time(&state) == 1.0);
        state.toggle_playing();
        assert!(state.playback.playing && time(&state) == 0.0);
        state.scrub(9.0);
        assert!(!state.playback.playing && time(&state) == 1.0);
    }

    #[test]
    fn clips_are_added_to_a_blend_and_removed() {
        let mut state = state();
        let stage = state.stage.as_mut().unwrap();
        stage.switch_clip(1, true);
        assert_eq!(stage.weights(), [(0, 0.5), (1, 0.5)]);
        assert_eq!(
            (stage.duration(), stage.playing_name()),
            (2.0, "Walk 0.50 + Run 0.50".into())
        );
        stage.time = 1.5;
        stage.set_weight(1, Some(0.0));
        assert_eq!(
            (stage.duration(), stage.time),
            (1.0, 1.0),
            "what has no weight has no length"
        );
        stage.set_weight(1, Some(0.25));
        stage.switch_clip(0, false);
        assert_eq!((stage.clip, stage.weights()), (Some(1), vec![(1, 0.25)]));
        stage.set_weight(1, Some(1.0));
        assert!(stage.blend.clips.is_empty() && stage.clip == Some(1));
        stage.switch_clip(1, false);
        assert_eq!((stage.clip, stage.duration()), (None, 0.0));
        stage.switch_clip(0, true);
        assert_eq!((stage.clip, stage.weights()), (Some(0), vec![(0, 1.0)]));
        state.play_clip(Some(1));
        assert_eq!(state.stage.as_ref().unwrap().weights(), [(1, 1.0)]);
    }
}
