//! Model of the command palette: a searchable list of actions, settings, channels, looks, files, and the
//! scene's clips, cameras and variants.

use crate::{
    app::{
        files::recent::{Opened, Recent},
        input::{
            keymap::Keymap,
            keys::{Action, BINDINGS},
        },
    },
    config::{Config, KeyDescription, declared::declared},
};
use nucleo_matcher::{
    Config as MatcherConfig, Matcher, Utf32Str,
    pattern::{AtomKind, CaseMatching, Normalization, Pattern},
};
use std::path::Path;

/// Maximum number of recent commands.
pub(in crate::app) const MAX_RECENT: usize = 12;

/// Score bonus of recent commands. It equals the score of one letter at the beginning of a word.
const RECENT_BONUS: u32 = 24;

/// Score difference between kinds of matches, more than matching letters can score.
const TIER: u32 = 10_000;

/// Command of a row.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) enum Command {
    Action(Action),
    /// Shows the values of a setting in the palette.
    Setting(String),
    /// Shows a setting in the panel.
    Show(String),
    /// Sets a key from `KEY=VALUE`.
    Set(String),
    /// Undoes this many steps.
    Undo(usize),
    Open(Opened),
    /// Applies a look.
    Look(String),
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct Row {
    /// Kind of the row.
    pub(in crate::app) section: &'static str,
    pub(in crate::app) name: String,
    /// Its keys, its value, or its location.
    pub(in crate::app) note: String,
    /// Further words to search, with less weight than the name.
    pub(in crate::app) about: String,
    pub(in crate::app) command: Command,
}

impl Row {
    pub(in crate::app) fn new(
        section: &'static str,
        name: impl Into<String>,
        note: impl Into<String>,
        command: Command,
    ) -> Self {
        Self {
            section,
            name: name.into(),
            note: note.into(),
            about: String::new(),
            command,
        }
    }

    /// Returns the label in the recent commands.
    pub(in crate::app) fn label(&self) -> String {
        format!("{}: {}", self.section, self.name)
    }
}

/// State of the open palette.
#[derive(Debug)]
pub(in crate::app) struct Palette {
    /// Typed text.
    pub(in crate::app) text: String,
    /// All rows.
    all: Vec<Row>,
    /// Matching rows, best first.
    found: Vec<Row>,
    /// Text that `found` belongs to.
    found_for: Option<String>,
    selected: usize,
    /// True if the list must scroll to the selected row.
    pub(in crate::app) follows: bool,
    /// Labels of the recent commands, latest first.
    recent: Vec<String>,
    /// Settings at the time at which the palette was opened.
    config: Config,
    initial: Config,
    /// Reason why the typed value cannot be set.
    fault: Option<String>,
    matcher: Matcher,
}

impl Palette {
    /// Creates a palette of the rows `all`. `recent` are the labels of the recent commands. `config` and
    /// `initial` are the current settings and those at the start.
    pub(in crate::app) fn new(all: Vec<Row>, recent: Vec<String>, config: &Config, initial: &Config) -> Self {
        let mut palette = Self {
            text: String::new(),
            all,
            found: Vec::new(),
            found_for: None,
            selected: 0,
            follows: false,
            recent,
            config: config.clone(),
            initial: initial.clone(),
            fault: None,
            matcher: Matcher::new(MatcherConfig::DEFAULT),
        };
        palette.find();
        palette
    }

    /// Returns the matching rows, best first.
    pub(in crate::app) fn rows(&self) -> &[Row] {
        &self.found
    }

    pub(in crate::app) fn selected(&self) -> usize {
        self.selected
    }

    /// Returns the reason why the typed value cannot be set, in one line.
    pub(in crate::app) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Moves the selection down by `rows` within the list, or up if negative.
    pub(in crate::app) fn step(&mut self, rows: isize) {
        let last = self.found.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(rows).min(last);
        self.follows = true;
    }

    /// Completes the text to the name of the selected setting or value.
    pub(in crate::app) fn complete(&mut self) {
        let Some(row) = self.found.get(self.selected) else {
            return;
        };
        self.text = match &row.command {
            Command::Setting(key) => format!("{key} "),
            _ => row.name.clone(),
        };
        self.find();
    }

    /// Returns the row at `index`, whose command the caller runs. A setting shows its values instead and
    /// returns `None`.
    pub(in crate::app) fn choose(&mut self, index: usize) -> Option<Row> {
        let row = self.found.get(index)?.clone();
        if let Command::Setting(key) = &row.command {
            self.text = format!("{key} ");
            self.find();
            return None;
        }
        Some(row)
    }

    /// Chooses the selected row, like [`Self::choose`].
    pub(in crate::app) fn accept(&mut self) -> Option<Row> {
        self.find();
        self.choose(self.selected)
    }

    /// Updates the matches if the text has changed.
    pub(in crate::app) fn find(&mut self) {
        if self.found_for.as_deref() == Some(self.text.as_str()) {
            return;
        }
        self.found_for = Some(self.text.clone());
        (self.selected, self.follows, self.fault) = (0, true, None);
        self.found = match setting_of(&self.text, &self.config) {
            Some((key, value)) => self.values(&key, &value),
            None => self.matches(),
        };
    }

    /// Returns the matching rows, best first. Without text it returns all rows, recent ones first.
    fn matches(&mut self) -> Vec<Row> {
        let text = self.text.trim();
        let pattern = |kind| Pattern::new(text, CaseMatching::Ignore, Normalization::Smart, kind);
        let (by_name, by_words) = (pattern(AtomKind::Fuzzy), pattern(AtomKind::Substring));
        let mut buffer = Vec::new();
        let mut scored = Vec::new();
        for (index, row) in self.all.iter().enumerate() {
            let mut score = |pattern: &Pattern, text: &str| {
                pattern.score(Utf32Str::new(text, &mut buffer), &mut self.matcher)
            };
            let label = row.label();
            // A label matches if it contains the typed letters in order. A description must contain the typed
            // words.
            let by_letters = score(&by_name, &label);
            let likeness = by_letters.or_else(|| score(&by_words, &row.about).map(|_| 0));
            let Some(likeness) = likeness else { continue };
            let tier = match by_letters {
                _ if begins_words(text, &label) => 3,
                _ if begins_words(text, &row.about) => 2,
                Some(_) => 1,
                None => 0,
            };
            let score = tier * TIER + likeness;
            let place = self.recent.iter().position(|label| *label == row.label());
            let bonus = match place {
                Some(place) if text.is_empty() => (2 * MAX_RECENT).saturating_sub(place) as u32,
                Some(_) => RECENT_BONUS,
                None => 0,
            };
            scored.push((std::cmp::Reverse(score + bonus), index));
        }
        // Equal scores keep the order of the rows.
        scored.sort();
        scored
            .into_iter()
            .map(|(_, index)| self.all[index].clone())
            .collect()
    }

    /// Returns rows that set `key` to the typed value, if it is valid, and to known values that begin with
    /// it. An invalid value sets `fault`.
    fn values(&mut self, key: &str, typed: &str) -> Vec<Row> {
        let now = value_text(&self.config, key);
        let start = value_text(&self.initial, key);
        let default = value_text(&Config::default(), key);
        let note = |value: &str| {
            let notes = [(&now, "now"), (&start, "at the start"), (&default, "default")];
            let notes = notes.iter().filter(|(known, _)| *known == value);
            notes.map(|(_, note)| *note).collect::<Vec<_>>().join(", ")
        };
        let row = |value: &str| {
            let command = Command::Set(format!("{key}={value}"));
            Row::new("set", format!("{key} {value}"), note(value), command)
        };
        let mut values = self.config.candidates(key);
        for known in [&now, &start, &default] {
            if !known.is_empty() && !values.contains(known) {
                values.push(known.clone());
            }
        }
        values.retain(|value| value.starts_with(typed));
        let is_exact = |values: &[String]| values.iter().any(|value| value == typed);
        if !typed.is_empty() && !is_exact(&values) {
            match self.config.clone().set_text("", &format!("{key}={typed}")) {
                Ok(_) => values.insert(0, typed.into()),
                Err(error) => self.fault = Some(without_origin(&error)),
            }
        }
        // An exact match precedes values that only begin with the text.
        values.sort_by_key(|value| value != typed);
        let mut rows: Vec<Row> = values.iter().map(|value| row(value)).collect();
        if typed.is_empty() {
            let command = Command::Show(key.into());
            let note = "shows its control";
            rows.push(Row::new("panel", format!("{key} in the panel"), note, command));
        }
        rows
    }
}

/// True if each word of `typed` is the beginning of a word of `text`.
pub(in crate::app) fn begins_words(typed: &str, text: &str) -> bool {
    fn words(text: &str) -> impl Iterator<Item = &str> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| !word.is_empty())
    }
    let (typed, text) = (typed.to_lowercase(), text.to_lowercase());
    let mut typed = words(&typed).peekable();
    typed.peek().is_some() && typed.all(|typed| words(&text).any(|word| word.starts_with(typed)))
}

/// Returns the error message of a setting without its origin, because no file has set it.
fn without_origin(error: &crate::Error) -> String {
    match error {
        crate::Error::Config { what, .. } => what.clone(),
        other => other.to_string(),
    }
}

/// Formats the value of a key the way a user types it. Empty for an unknown key.
pub(in crate::app) fn value_text(config: &Config, key: &str) -> String {
    match config.value(key) {
        Some(toml::Value::String(text)) => text,
        Some(toml::Value::Float(number)) => number.to_string(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// Splits `shadows.mode rays` or `shadows.mode = rays` into the key and the beginning of a value. `None` if
/// the first word is not a key.
fn setting_of(text: &str, config: &Config) -> Option<(String, String)> {
    let (key, value) = text.trim_start().split_once([' ', '='])?;
    config.value(key)?;
    let value = value.trim_start_matches([' ', '=']).trim_end();
    Some((key.into(), value.into()))
}

/// Returns rows of all actions with their keys.
pub(in crate::app) fn actions(keymap: &Keymap) -> Vec<Row> {
    let bound = BINDINGS
        .iter()
        .filter(|binding| binding.action != Action::Palette);
    let bound = bound.map(|binding| {
        let mut row = Row::new(
            "action",
            binding.what,
            keymap.keys_of(binding.action),
            Command::Action(binding.action),
        );
        row.about = binding.name.replace('_', " ");
        row
    });
    let others = [
        ("open a file to measure the deviation from", Action::OpenCompared),
        (
            "save edits of materials and lights, and hidden nodes",
            Action::SaveEdits,
        ),
        ("load saved edits", Action::LoadEdits),
        ("compare with the scene without edits", Action::CompareUnedited),
        ("open a scene or a picture as side B", Action::OpenSide),
        ("import a look", Action::ImportLook),
        ("export the settings as a look", Action::ExportLook),
        ("start or stop the benchmark", Action::Benchmark),
        ("save the profile as a trace (JSON)", Action::SaveProfile("json")),
        ("save the profile as a table (CSV)", Action::SaveProfile("csv")),
    ];
    let others = others.map(|(what, action)| Row::new("action", what, "", Command::Action(action)));
    bound.chain(others).collect()
}

/// Returns rows of all settings with their values.
pub(in crate::app) fn settings(config: &Config) -> Vec<Row> {
    let values = config.values();
    let row = |KeyDescription { key, comment, .. }| {
        let note = values.get(&key).map(toml::Value::to_string);
        let mut row = Row::new(
            "setting",
            key.clone(),
            note.unwrap_or_default(),
            Command::Setting(key),
        );
        if let Some((group, setting)) = declared(&row.name) {
            row.about = format!("{} {} {} ", setting.label, setting.words, group.title);
        }
        row.about += &comment;
        row
    };
    Config::described().into_iter().map(row).collect()
}

/// Returns rows of recently opened files.
pub(in crate::app) fn recent(recent: &Recent) -> Vec<Row> {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let folder = |path: &Path| {
        let folder = path.parent().unwrap_or(Path::new(""));
        folder.display().to_string()
    };
    let scenes = recent.scenes.iter().filter_map(|files| {
        let first = files.first()?;
        let more = match files.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let command = Command::Open(Opened::Scene(files.clone()));
        Some(Row::new("open", name(first) + &more, folder(first), command))
    });
    let environments = recent.environments.iter().map(|file| {
        let command = Command::Open(Opened::Environment(file.clone()));
        Row::new("environment", name(file), folder(file), command)
    });
    scenes.chain(environments).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn palette() -> Palette {
        let config = Config::default();
        let mut rows = actions(&Keymap::default());
        rows.extend(settings(&config));
        Palette::new(rows, Vec::new(), &config, &config)
    }

    fn names(palette: &mut Palette, text: &str) -> Vec<String> {
        palette.text = text.into();
        palette.find();
        palette.rows().iter().map(|row| row.name.clone()).collect()
    }

    #[test]
    fn rows_are_found_by_parts_of_names_and_words_of_descriptions() {
        let mut palette = palette();
        assert!(names(&mut palette, "").len() > 180);
        assert_eq!(names(&mut palette, "FULL scr")[0], "full screen");
        assert_eq!(palette.rows()[0].note, "F11");
        assert_eq!(names(&mut palette, "shadowsm")[0], "shadows.mode");
        assert_eq!(names(&mut palette, "envhaze")[0], "environment.haze");
        // The word occurs in no name but in a description.
        assert_eq!(names(&mut palette, "symbolic links"), ["load.follow_links"]);
        assert_eq!(names(&mut palette, "xyzzy"), [""; 0]);
        palette.step(3);
        assert_eq!((palette.selected(), palette.accept()), (0, None));
    }

    #[test]
    fn settings_are_typed_with_their_values() {
        let mut palette = palette();
        names(&mut palette, "shadows.m");
        assert_eq!(palette.accept(), None);
        assert_eq!(palette.text, "shadows.mode ");
        let of = |value: &str| format!("shadows.mode {value}");
        assert_eq!(
            names(&mut palette, "shadows.mode "),
            ["off", "map", "rays", "in the panel"].map(of)
        );
        assert_eq!(palette.rows()[2].note, "now, at the start, default");
        assert_eq!(names(&mut palette, "shadows.mode r"), [of("rays")]);
        let row = palette.accept().unwrap();
        assert_eq!(row.command, Command::Set("shadows.mode=rays".into()));
        assert_eq!(names(&mut palette, "shadows.mode teapot"), [""; 0]);
        let fault = palette.fault().unwrap();
        assert_eq!(fault, "shadows.mode: expected off, map or rays, got \"teapot\"");
        assert_eq!(names(&mut palette, "camera.fov=33.5"), ["camera.fov 33.5"]);
        assert_eq!(
            names(&mut palette, "camera.fov 1"),
            ["camera.fov 1", "camera.fov 170"]
        );
        assert_eq!(
            names(&mut palette, "environment.file a b.hdr"),
            ["environment.file a b.hdr"]
        );
        palette.text = "sun.dir".into();
        palette.find();
        palette.complete();
        assert_eq!(palette.text, "sun.direction ");
    }

    #[test]
    fn recently_used_commands_come_first() {
        let config = Config::default();
        let recent = vec!["setting: sun.haze".to_owned(), "action: quit".into()];
        let rows = actions(&Keymap::default());
        let mut palette = Palette::new(rows, recent, &config, &config);
        assert_eq!(palette.rows()[0].name, "quit");
        // Recent commands do not displace an exact match.
        assert_eq!(names(&mut palette, "full screen")[0], "full screen");
    }

    /// Every typed letter searches the whole list.
    #[test]
    fn a_thousand_rows_are_searched_within_half_a_second() {
        let mut rows = Vec::new();
        for number in 0..1000 {
            let name = format!("clip number {number} of a scene with many of them");
            rows.push(Row::new("clip", name, "", Command::Undo(number)));
        }
        let config = Config::default();
        let mut palette = Palette::new(rows, Vec::new(), &config, &config);
        let start = std::time::Instant::now();
        assert_eq!(
            names(&mut palette, "clip 987")[0],
            "clip number 987 of a scene with many of them"
        );
        let took = start.elapsed();
        println!("1000 rows in {took:?}");
        assert!(took.as_millis() < 500, "{took:?}");
    }
}
