//! Undo and redo of settings. Whoever changes a setting needs to know nothing of it: the settings are compared
//! with those of the last look.
//!
//! Settings alone are taken back: not the camera, the clip's time, a selection, or files that were opened.

use crate::config::Config;
use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};
use toml::Value;

/// Most steps that are kept.
pub(super) const MOST: usize = 200;

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
            format!("{key} {} to {}", short(start), short(end))
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
    pub(super) fn step(&mut self, config: &mut Config, forwards: bool) -> Option<String> {
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
