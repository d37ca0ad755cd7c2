//! Undo and redo of settings, scene edits and hidden nodes. Code that changes them needs to know nothing of
//! undo, because the state is compared with the last known one.
//!
//! The camera, the clip's time, the selection and opened files are not undoable.

use crate::{
    app::undo::{edit_change::EditChange, renumbered::Renumbered},
    config::Config,
    scene::edits::SceneEdits,
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};
use toml::Value;

/// Maximum number of steps that are kept.
pub(in crate::app) const MAX_STEPS: usize = 200;

/// Repeated changes of the same numbers within this time are one step, for example by a wheel or a held key.
const TOGETHER: Duration = Duration::from_millis(400);

/// Maximum number of characters of a value in a step's description.
const LONGEST: usize = 32;

/// Changed keys with their values before and after.
type Difference = BTreeMap<String, (Value, Value)>;

/// Undo and redo history.
#[derive(Debug)]
pub(in crate::app) struct Undo {
    /// Last known settings.
    known: Config,
    /// Last known edits of the scene, and hidden nodes.
    known_edits: SceneEdits,
    known_hidden: Arc<BTreeSet<usize>>,
    /// Steps that can be undone, latest last.
    done: VecDeque<Step>,
    /// Undone steps, with the one to redo first at the end.
    undone: Vec<Step>,
    /// Name of the next step. Replaces the description of its changes.
    label: Option<String>,
}

/// Current undoable state.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct Now<'a> {
    pub(in crate::app) config: &'a Config,
    pub(in crate::app) edits: &'a SceneEdits,
    pub(in crate::app) hidden: &'a Arc<BTreeSet<usize>>,
}

/// A change of settings and of the scene.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    label: Option<String>,
    changes: Difference,
    edits: EditChange,
    /// Description of the edits when done and when undone.
    words: [String; 2],
    at: Instant,
}

impl Step {
    /// Returns the description of the step. `backwards` describes its undoing.
    fn text(&self, backwards: bool) -> String {
        let line = |(key, (before, after)): (&String, &(Value, Value))| {
            let (start, end) = match backwards {
                true => (after, before),
                false => (before, after),
            };
            format!("{key} {} to {}", short(start), short(end))
        };
        if let Some(label) = &self.label {
            return label.clone();
        }
        let settings = match self.changes.len() {
            0..=2 => self.changes.iter().map(line).collect::<Vec<_>>().join(", "),
            count => {
                let first = self.changes.iter().next().map(line).unwrap_or_default();
                format!("{first}, and {} more settings", count - 1)
            }
        };
        let edits = self.words[usize::from(backwards)].clone();
        let parts = [settings, edits].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    }

    fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.edits.is_empty()
    }

    /// True if it changes the same numbers as `other`.
    fn goes_on_from(&self, other: &Self) -> bool {
        self.keys_are_those_of(other)
            && self.is_of_numbers()
            && other.is_of_numbers()
            && self.edits.goes_on_from(&other.edits)
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

/// Formats a value for a description: strings without quotes, long values truncated.
fn short(value: &Value) -> String {
    let text = match value {
        Value::String(text) if text.is_empty() => "none".into(),
        Value::String(text) => text.clone(),
        // Formats 4.0 as 4, as a user would type it.
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
    /// Creates an empty history that starts from `config`.
    pub(in crate::app) fn new(config: Config) -> Self {
        Self {
            known: config,
            known_edits: SceneEdits::default(),
            known_hidden: Arc::default(),
            done: VecDeque::new(),
            undone: Vec::new(),
            label: None,
        }
    }

    /// Compares `now` with the last known state and adds the difference as a step. `is_dragging` delays that,
    /// so that a whole drag is one step. Quick changes of the same numbers extend the last step. `words`
    /// describes edits when done and when undone.
    pub(in crate::app) fn follow(
        &mut self,
        now: Now<'_>,
        is_dragging: bool,
        at: Instant,
        words: impl Fn(&EditChange) -> [String; 2],
    ) {
        if is_dragging {
            return;
        }
        let label = self.label.take();
        let known = (&self.known_edits, &self.known_hidden);
        let edits = EditChange::between(known, (now.edits, now.hidden));
        let mut step = Step {
            label,
            changes: match self.known == *now.config {
                true => Difference::new(),
                false => difference(&self.known, now.config),
            },
            words: Default::default(),
            edits,
            at,
        };
        self.know(now);
        if step.is_empty() {
            return;
        }
        self.undone.clear();
        if let Some(last) = self.done.back_mut()
            && step.label.is_none()
            && last.label.is_none()
            && at.duration_since(last.at) < TOGETHER
            && step.goes_on_from(last)
        {
            last.at = at;
            for (key, (_, after)) in step.changes {
                if let Some(change) = last.changes.get_mut(&key) {
                    change.1 = after;
                }
            }
            last.changes.retain(|_, (before, after)| before != after);
            last.edits.extend(step.edits);
            if last.is_empty() {
                self.done.pop_back();
            } else if !last.edits.is_empty() {
                last.words = words(&last.edits);
            }
            return;
        }
        if !step.edits.is_empty() {
            step.words = words(&step.edits);
        }
        self.done.push_back(step);
        if self.done.len() > MAX_STEPS {
            self.done.pop_front();
        }
    }

    /// Names the step of the next change.
    pub(in crate::app) fn name(&mut self, label: impl Into<String>) {
        self.label = Some(label.into());
    }

    /// Registers that the program rather than the user has changed `config`, for example because a file could
    /// not be read. If that reverts the last step, the step is removed.
    pub(in crate::app) fn correct(&mut self, config: &Config) {
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

    /// Makes `now` the base of further steps without adding a step.
    pub(in crate::app) fn know(&mut self, now: Now<'_>) {
        if self.known != *now.config {
            self.known = now.config.clone();
        }
        if self.known_edits != *now.edits {
            self.known_edits = now.edits.clone();
        }
        self.known_hidden = now.hidden.clone();
    }

    /// Maps the steps to reloaded files and keeps edits of objects that still exist. Returns the number of
    /// steps that are dropped.
    pub(in crate::app) fn renumber(&mut self, to: &Renumbered) -> usize {
        self.retain(|edits| edits.renumbered(to))
    }

    /// Removes all edits from the steps because another scene is shown.
    pub(in crate::app) fn reset_scene(&mut self) {
        self.retain(|_| EditChange::default());
    }

    /// Replaces the edits of all steps. Returns the number of steps that are dropped because they change
    /// nothing any more.
    fn retain(&mut self, mut edits: impl FnMut(EditChange) -> EditChange) -> usize {
        let count = self.done.len() + self.undone.len();
        for step in self.done.iter_mut().chain(&mut self.undone) {
            if step.edits.is_empty() {
                continue;
            }
            step.edits = edits(std::mem::take(&mut step.edits));
            if step.edits.is_empty() {
                step.words = Default::default();
            }
        }
        self.done.retain(|step| !step.is_empty());
        self.undone.retain(|step| !step.is_empty());
        count - self.done.len() - self.undone.len()
    }

    /// Undoes the last step or redoes the next one. Returns its description, or `None` if there is no step.
    pub(in crate::app) fn step(
        &mut self,
        config: &mut Config,
        (edits, hidden): (&mut SceneEdits, &mut Arc<BTreeSet<usize>>),
        forwards: bool,
    ) -> Option<String> {
        let step = match forwards {
            true => self.undone.pop(),
            false => self.done.pop_back(),
        }?;
        for (key, (before, after)) in &step.changes {
            let value = if forwards { after } else { before };
            // The key had this value before, so it is valid.
            if let Err(error) = config.set("undo", key, value.clone()) {
                log::warn!("{error}");
            }
        }
        step.edits.apply(edits, hidden, forwards);
        self.know(Now {
            config,
            edits,
            hidden,
        });
        let text = step.text(!forwards);
        match forwards {
            true => self.done.push_back(step),
            false => self.undone.push(step),
        }
        Some(text)
    }

    /// Returns the descriptions of the undoable steps, latest first.
    pub(in crate::app) fn steps(&self) -> impl Iterator<Item = String> {
        self.done.iter().rev().map(|step| step.text(false))
    }
}
