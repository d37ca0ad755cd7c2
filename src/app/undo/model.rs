//! Undo and redo of settings, of edits of the scene, and of what is hidden. Whoever changes any of them needs
//! to know nothing of it: they are compared with those of the last look.
//!
//! The camera, the clip's time, a selection, and files that were opened are not taken back.

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

/// Most steps that are kept.
pub(in crate::app) const MOST: usize = 200;

/// Numbers of the same keys that change again within this time are one step: a wheel, a key that is held.
const TOGETHER: Duration = Duration::from_millis(400);

/// Characters of a value that a line tells.
const LONGEST: usize = 32;

/// Keys that have changed, with their values before and after.
type Difference = BTreeMap<String, (Value, Value)>;

/// What can be taken back, and what was.
#[derive(Debug)]
pub(in crate::app) struct Undo {
    /// The settings at the last look.
    known: Config,
    /// The edits of the scene, and its hidden nodes.
    known_edits: SceneEdits,
    known_hidden: Arc<BTreeSet<usize>>,
    /// The latest last.
    done: VecDeque<Step>,
    /// What was taken back, the next to be done again last.
    undone: Vec<Step>,
    /// What the next step is called, where that is more than its keys.
    label: Option<String>,
}

/// What can be taken back, as it is now.
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
    /// The edits in words: as they were done, and as they are taken back.
    words: [String; 2],
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

    /// Whether it changes the same numbers as `other`.
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

    /// Compares `now` with the last look; what differs is a step. `is_dragging` puts that off: all of a drag
    /// is one step. `words` tells edits in words, as they were done and as they are taken back.
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
        if self.done.len() > MOST {
            self.done.pop_front();
        }
    }

    /// Names the step that the change which comes now makes.
    pub(in crate::app) fn name(&mut self, label: impl Into<String>) {
        self.label = Some(label.into());
    }

    /// `config` was changed by no person, such as by a file that could not be read. Where that takes the last
    /// step back, there is nothing to undo.
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

    /// `now` is no step, but what further steps start from.
    pub(in crate::app) fn know(&mut self, now: Now<'_>) {
        if self.known != *now.config {
            self.known = now.config.clone();
        }
        if self.known_edits != *now.edits {
            self.known_edits = now.edits.clone();
        }
        self.known_hidden = now.hidden.clone();
    }

    /// The files of the scene were read again: steps keep the edits of what is still there. Returns how many
    /// are gone with what they had changed.
    pub(in crate::app) fn renumber(&mut self, to: &Renumbered) -> usize {
        self.retain(|edits| edits.renumbered(to))
    }

    /// Another scene is shown: edits of the one before cannot be taken back.
    pub(in crate::app) fn forget_scene(&mut self) {
        self.retain(|_| EditChange::default());
    }

    /// Gives all steps other edits. Returns the number of those that change nothing any more, and are
    /// dropped.
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

    /// Takes the last step back, or does the next one again. Returns what that was, in words; `None` where
    /// there is nothing.
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
            // It had this value.
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

    /// The steps that can be taken back in words, the latest first.
    pub(in crate::app) fn steps(&self) -> impl Iterator<Item = String> {
        self.done.iter().rev().map(|step| step.text(false))
    }
}
