//! Undo and redo of settings. Whoever changes a setting needs to know nothing of it: the settings are compared
//! with those of the last look.
//!
//! Settings alone are taken back: not the camera, the clip's time, a selection, or files that were opened.

use super::{keys::Action, state::State};
use crate::config::Config;
use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};
use toml::Value;

/// Most steps that are kept.
const MOST: usize = 200;

/// Numbers of the same keys that change again within this time are one step: a wheel, a key that is held.
const TOGETHER: Duration = Duration::from_millis(400);

/// Characters of a value that a line tells.
const LONGEST: usize = 32;

/// Keys that have changed, with their values before and after.
type Difference = BTreeMap<String, (Value, Value)>;

/// What can be taken back, and what was.
#[derive(Debug)]
pub(super) struct Undo {
    /// The settings at the last look.
    known: Config,
    /// The latest last.
    done: VecDeque<Step>,
    /// What was taken back, the next to be done again last.
    undone: Vec<Step>,
    /// What the next step is called, where that is more than its keys.
    label: Option<String>,
}

/// A change of settings.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    label: Option<String>,
    changes: Difference,
    at: Instant,
}

impl Step {
    /// What it changes, in words; backwards where it is taken back.
    fn text(&self, backwards: bool) -> String {
        let line = |(key, (before, after)): (&String, &(Value, Value))| {
            let (start, end) = match backwards {
                true => (after, before),
                false => (before, after),
            };
            format!("{key} {} → {}", short(start), short(end))
        };
        match (&self.label, self.changes.len()) {
            (Some(label), _) => label.clone(),
            (None, 0..=2) => self.changes.iter().map(line).collect::<Vec<_>>().join(", "),
            (None, count) => {
                let first = self.changes.iter().next().map(line).unwrap_or_default();
                format!("{first}, and {} more settings", count - 1)
            }
        }
    }

    fn is_of_numbers(&self) -> bool {
        let is_number = |value: &Value| match value {
            Value::Array(values) => values.iter().all(|v| v.is_float() || v.is_integer()),
            value => value.is_float() || value.is_integer(),
        };
        self.changes
            .values()
            .all(|(before, after)| is_number(before) && is_number(after))
    }

    fn keys_are_those_of(&self, other: &Self) -> bool {
        self.changes.keys().eq(other.changes.keys())
    }
}

/// A value as a line tells it: words without quotes, and what is long cut off.
fn short(value: &Value) -> String {
    let text = match value {
        Value::String(text) if text.is_empty() => "none".into(),
        Value::String(text) => text.clone(),
        // 4, not 4.0: it is how a person types it.
        Value::Float(number) => number.to_string(),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn difference(before: &Config, after: &Config) -> Difference {
    let mut after = after.values();
    let changed = before.values().into_iter().filter_map(|(key, before)| {
        let after = after.remove(&key)?;
        (before != after).then_some((key, (before, after)))
    });
    changed.collect()
}

impl Undo {
    /// Nothing has changed from `config` yet.
    pub(super) fn new(config: Config) -> Self {
        Self {
            known: config,
            done: VecDeque::new(),
            undone: Vec::new(),
            label: None,
        }
    }

    /// Compares `config` with the last look; what differs is a step. `is_dragging` puts that off: all of a drag
    /// is one step.
    pub(super) fn follow(&mut self, config: &Config, is_dragging: bool, now: Instant) {
        if is_dragging {
            return;
        }
        let label = self.label.take();
        if self.known == *config {
            return;
        }
        let step = Step {
            label,
            changes: difference(&self.known, config),
            at: now,
        };
        self.known = config.clone();
        if step.changes.is_empty() {
            return;
        }
        self.undone.clear();
        if let Some(last) = self.done.back_mut()
            && step.label.is_none()
            && last.label.is_none()
            && now.duration_since(last.at) < TOGETHER
            && step.keys_are_those_of(last)
            && step.is_of_numbers()
            && last.is_of_numbers()
        {
            last.at = now;
            for (key, (_, after)) in step.changes {
                if let Some(change) = last.changes.get_mut(&key) {
                    change.1 = after;
                }
            }
            last.changes.retain(|_, (before, after)| before != after);
            if last.changes.is_empty() {
                self.done.pop_back();
            }
            return;
        }
        self.done.push_back(step);
        if self.done.len() > MOST {
            self.done.pop_front();
        }
    }

    /// Names the step that the change which comes now makes.
    pub(super) fn name(&mut self, label: impl Into<String>) {
        self.label = Some(label.into());
    }

    /// `config` was changed by no person, such as by a file that could not be read. Where that takes the last
    /// step back, there is nothing to undo.
    pub(super) fn correct(&mut self, config: &Config) {
        let changes = difference(&self.known, config);
        if changes.is_empty() {
            return;
        }
        let inverse = |step: &Step| {
            let swapped = step.changes.iter();
            swapped
                .map(|(key, (before, after))| (key, (after, before)))
                .eq(changes
                    .iter()
                    .map(|(key, (before, after))| (key, (before, after))))
        };
        if self.done.back().is_some_and(inverse) {
            self.done.pop_back();
        }
        self.known = config.clone();
    }

    /// Takes the last step back, or does the next one again. Returns what that was, in words; `None` where
    /// there is nothing.
    fn step(&mut self, config: &mut Config, forwards: bool) -> Option<String> {
        let step = match forwards {
            true => self.undone.pop(),
            false => self.done.pop_back(),
        }?;
        for (key, (before, after)) in &step.changes {
            let value = if forwards { after } else { before };
            // It had this value.
            if let Err(error) = config.set("undo", key, value.clone()) {
                log::warn!("{error}");
            }
        }
        self.known = config.clone();
        let text = step.text(!forwards);
        match forwards {
            true => self.done.push_back(step),
            false => self.undone.push(step),
        }
        Some(text)
    }

    /// The steps that can be taken back in words, the latest first.
    pub(super) fn steps(&self) -> impl Iterator<Item = String> {
        self.done.iter().rev().map(|step| step.text(false))
    }
}

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
                && let Ok(clip) = stage.scene.clip(&animation.clip)
            {
                self.actions.push(Action::Clip(clip));
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
    use crate::{config::ShadowMode, scene::framing::Look};

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
            "undone: shadows.mode off → rays"
        );
        assert_eq!(
            undo(&mut state, Action::Undo),
            "undone: exposure.compensation 1.25 → 0"
        );
        assert_eq!(state.config, Config::default());
        assert!(undo(&mut state, Action::Undo).starts_with("no setting"));
        assert_eq!(
            undo(&mut state, Action::Redo),
            "done again: exposure.compensation 0 → 1.25"
        );
        assert!(undo(&mut state, Action::Redo).contains("rays → off"));
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
            text.contains("camera.fov 45 → 30, exposure.compensation 0 → 1.25"),
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
            "shadows.mode off → map",
            "shadows.mode rays → off",
            "tree.leaf_cutoff 2 → 6",
            "exposure.compensation 0 → 2",
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
