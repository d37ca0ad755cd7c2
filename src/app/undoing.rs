//! Undo and redo of settings, as the viewer does it.

use super::{keys::Action, state::State};
use crate::{config::Config, scene::Blend};
use std::{sync::Arc, time::Instant};

impl State {
    /// Looks for settings that have changed.
    pub(super) fn follow_changes(&mut self, is_dragging: bool) {
        self.undo.follow(&self.config, is_dragging, Instant::now());
    }

    /// Takes `count` changes of settings back, or does them again, and tells which.
    pub(super) fn undo(&mut self, count: usize, forwards: bool) {
        self.follow_changes(false);
        let before = self.config.clone();
        let (mut told, mut steps) = (None, 0);
        while steps < count
            && let Some(text) = self.undo.step(&mut self.config, forwards)
        {
            (told, steps) = (Some(text), steps + 1);
        }
        self.follow_settings(&before);
        let what = if forwards { "done again" } else { "undone" };
        self.notify(match (told, steps) {
            (Some(text), 1) => format!("{what}: {text}"),
            (Some(_), steps) => format!("{what}: {steps} steps"),
            (None, _) if forwards => "there is nothing to do again".into(),
            (None, _) => "no setting was changed that could be undone".into(),
        });
    }

    /// Does what settings say at once of which the viewer keeps a copy, where they differ from `before`.
    pub(super) fn follow_settings(&mut self, before: &Config) {
        let (camera, animation) = (&self.config.camera, &self.config.animation);
        if camera.fov != before.camera.fov {
            self.camera.set_fov(camera.fov.to_radians());
        }
        if camera.mode != before.camera.mode {
            self.arm.release(&mut self.camera);
        }
        if self.config.window.panel != before.window.panel {
            self.panel = self.config.window.panel;
        }
        if animation.play != before.animation.play {
            self.playing = animation.play && self.stage.as_ref().is_some_and(|s| s.clip.is_some());
        }
        if let Some(stage) = &mut self.stage {
            if animation.clip != before.animation.clip
                && let Ok((clip, blend)) = Blend::named(&stage.scene, &animation.clip)
            {
                match blend.clips.is_empty() {
                    true => self.actions.push(Action::Clip(clip)),
                    false => {
                        stage.clip = clip;
                        Arc::make_mut(&mut stage.blend).clips = blend.clips;
                    }
                }
            }
            if animation.morphs != before.animation.morphs {
                let mut named = Blend::default();
                if named
                    .set_morphs_named(&stage.scene, &animation.morphs)
                    .is_ok()
                {
                    Arc::make_mut(&mut stage.blend).morphs = named.morphs;
                }
            }
            if self.config.scene.variant != before.scene.variant
                && let Ok(variant) = stage.scene.variant(&self.config.scene.variant)
            {
                self.actions.push(Action::Variant(variant));
            }
            if camera.name != before.camera.name
                && let Ok(Some(camera)) = stage.scene.camera(&camera.name)
            {
                self.actions.push(Action::Camera(camera));
            }
            if animation.time != before.animation.time {
                stage.time = animation.time;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{app::undo::MOST, config::ShadowMode, scene::framing::Look};
    use std::time::Duration;

    fn state() -> State {
        State::new(Config::default())
    }

    fn told(state: &State) -> &str {
        state.notice.as_ref().map_or("", |(text, _)| text)
    }

    #[test]
    fn changes_are_taken_back_and_done_again() {
        let mut state = state();
        state.config.exposure.compensation = 1.25;
        state.follow_changes(false);
        state.perform(Action::NextShadows, 1.0, &Look::default());
        state.follow_changes(false);
        // A look without a change is no step.
        state.follow_changes(false);
        let changed = state.config.clone();
        let undo = |state: &mut State, action| {
            state.perform(action, 1.0, &Look::default());
            told(state).to_owned()
        };
        assert_eq!(
            undo(&mut state, Action::Undo),
            "undone: shadows.mode off to rays"
        );
        assert_eq!(
            undo(&mut state, Action::Undo),
            "undone: exposure.compensation 1.25 to 0"
        );
        assert_eq!(state.config, Config::default());
        assert!(undo(&mut state, Action::Undo).starts_with("no setting"));
        assert_eq!(
            undo(&mut state, Action::Redo),
            "done again: exposure.compensation 0 to 1.25"
        );
        assert!(undo(&mut state, Action::Redo).contains("rays to off"));
        assert_eq!(state.config, changed);
        assert_eq!(
            undo(&mut state, Action::Redo),
            "there is nothing to do again"
        );
        // A new change leaves nothing to do again.
        undo(&mut state, Action::Undo);
        state.config.camera.fov = 30.0;
        state.follow_changes(false);
        assert_eq!(
            undo(&mut state, Action::Redo),
            "there is nothing to do again"
        );
        // Resetting everything is one step.
        undo(&mut state, Action::Reset);
        let text = undo(&mut state, Action::Undo);
        assert!(
            text.contains("camera.fov 45 to 30, exposure.compensation 0 to 1.25"),
            "{text}"
        );
        let fov = crate::scene::Projection::Perspective {
            fov_y: 30_f32.to_radians(),
        };
        assert_eq!(state.camera.projection, fov);
    }

    #[test]
    fn a_drag_is_one_step_and_so_is_a_key_that_is_held() {
        let mut state = state();
        for ev in [0.5, 1.0, 2.0] {
            state.config.exposure.compensation = ev;
            state.follow_changes(true);
        }
        state.follow_changes(false);
        assert_eq!(state.undo.steps().count(), 1);
        let start = Instant::now() + Duration::from_secs(9);
        for step in 1..=4 {
            state.config.tree.leaf_cutoff += 1;
            let now = start + Duration::from_millis(100) * step;
            state.undo.follow(&state.config, false, now);
        }
        // Words are never put together: each was chosen.
        for mode in [ShadowMode::Off, ShadowMode::Map] {
            state.config.shadows.mode = mode;
            let now = start + Duration::from_millis(450);
            state.undo.follow(&state.config, false, now);
        }
        let steps: Vec<_> = state.undo.steps().collect();
        let expected = [
            "shadows.mode off to map",
            "shadows.mode rays to off",
            "tree.leaf_cutoff 2 to 6",
            "exposure.compensation 0 to 2",
        ];
        assert_eq!(steps, expected);
        state.undo(3, false);
        assert_eq!(told(&state), "undone: 3 steps");
        assert_eq!(
            (
                state.config.tree.leaf_cutoff,
                state.config.exposure.compensation
            ),
            (2, 2.0)
        );
    }

    #[test]
    fn steps_are_bounded_and_what_no_person_changed_is_none() {
        let mut state = state();
        for step in 0..2 * MOST {
            state.config.environment.file = format!("{step}.hdr");
            state.follow_changes(false);
        }
        assert_eq!(state.undo.steps().count(), MOST);
        let mut state = self::state();
        state.config.deviation.file = "broken.obj".into();
        state.follow_changes(false);
        state.config.deviation.file.clear();
        state.undo.correct(&state.config);
        state.follow_changes(false);
        assert_eq!(state.undo.steps().count(), 0);
        // Nor is a named step that changes nothing, whose name is not left for the next one.
        state.undo.name("a look");
        state.follow_changes(false);
        state.config.sun.strength = 5.0;
        state.follow_changes(false);
        assert!(
            state
                .undo
                .steps()
                .all(|step| step.starts_with("sun.strength"))
        );
    }
}
