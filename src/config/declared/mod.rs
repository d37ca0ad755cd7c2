//! Every setting as people meet it: its label, its control, where it is in the panel, and when it has an effect.
//!
//! One declaration serves the panel, its filter, the palette, `canopy config` and docs/settings.md. Types and ranges
//! are those of the sections of `config.toml`, and the help is the comment in that file.

mod analyse;
mod compare;
mod light;
mod output;
mod picture;
mod scene;

use super::{Config, Environment, explain::comment};
use std::{collections::HashMap, sync::LazyLock};

/// A tab of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// Shadows, sun, environment, and light that bounces.
    Light,
    /// From radiance to the screen.
    Picture,
    /// Files, clips and cameras.
    Scene,
    /// Timings, trees and rays.
    Analyse,
    /// Two of anything.
    Compare,
    /// Exports, and the program itself.
    Output,
}

impl Tab {
    /// All tabs, from left to right.
    pub const ALL: [Self; 6] = [
        Self::Light,
        Self::Picture,
        Self::Scene,
        Self::Analyse,
        Self::Compare,
        Self::Output,
    ];

    /// The tab in a sentence.
    pub fn help(self) -> &'static str {
        match self {
            Self::Light => "Shadows, sun, environment, and light that bounces",
            Self::Picture => "From radiance to the screen: exposure, edges, lens, materials",
            Self::Scene => "Clips, cameras, and what is in the file",
            Self::Analyse => "Channels, timings, trees and rays",
            Self::Compare => "Two of anything, side by side",
            Self::Output => "Exports, and the program itself",
        }
    }

    /// The title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Light => "Light",
            Self::Picture => "Picture",
            Self::Scene => "Scene",
            Self::Analyse => "Analyse",
            Self::Compare => "Compare",
            Self::Output => "Output",
        }
    }
}

/// Settings under a heading.
#[derive(Debug)]
pub struct Group {
    /// The tab; `None` for what is always in sight.
    pub tab: Option<Tab>,
    /// The heading.
    pub title: &'static str,
    /// The heading in a sentence.
    pub help: &'static str,
    /// In the order of the panel.
    pub settings: &'static [Setting],
    /// Those that are used less often, below the others.
    pub more: &'static [Setting],
}

impl Group {
    /// All settings, in the order of the panel.
    pub fn all(&self) -> impl Iterator<Item = &'static Setting> {
        self.settings.iter().chain(self.more)
    }
}

/// A setting, or a part of the panel that edits something else.
#[derive(Debug)]
pub struct Setting {
    /// `SECTION.KEY`, or the name of a part, which has no point.
    pub key: &'static str,
    /// The name beside the control.
    pub label: &'static str,
    /// How it is edited.
    pub control: Control,
    /// More words by which it is found.
    pub words: &'static str,
    /// Actions of the keymap that change it.
    pub actions: &'static [&'static str],
    /// Reasons why it has no effect.
    pub idle: &'static [Idle],
}

/// How a setting is edited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Control {
    /// A check box with its text.
    Switch(&'static str),
    /// A number to drag or to type.
    Number(Number),
    /// Several of them, with what stands between.
    Numbers(Number, &'static str),
    /// A slider over a part of the range; its number takes all of that.
    Slider(Number, [f64; 2]),
    /// Values side by side.
    Choice(&'static [Choice]),
    /// Values in a list that opens.
    List(&'static [Choice]),
    /// A linear colour.
    Color,
    /// A line of text, with a hint.
    Text(&'static str),
    /// By code of its own.
    Own,
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// Digits behind the point.
    pub decimals: usize,
    /// The unit, with the space before it.
    pub unit: &'static str,
    /// The change by a drag of a point; 0 is in proportion to the value.
    pub speed: f64,
    /// True for a slider with equal room for each power of ten.
    pub is_logarithmic: bool,
    /// Where 0 is automatic: the value that the control starts with when it is not.
    pub from_auto: Option<f64>,
}

/// A value to choose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// As in `config.toml`.
    pub value: &'static str,
    /// As in the panel.
    pub label: &'static str,
}

/// A reason why a setting has no effect.
#[derive(Debug, Clone, Copy)]
pub struct Idle {
    /// The reason: "shadows are off".
    pub why: &'static str,
    /// True while it holds.
    pub holds: fn(&Situation<'_>) -> bool,
}

/// What decides whether settings have an effect.
#[derive(Debug)]
pub struct Situation<'a> {
    /// All settings.
    pub config: &'a Config,
    /// What lights the scene, with `auto` resolved.
    pub lit: &'a Environment,
    /// True on adapters that trace several rays a pixel fast.
    pub fast_rays: bool,
    /// True while the channel `cost` is shown.
    pub shows_cost: bool,
    /// True while the channel `lab` is shown.
    pub shows_lab: bool,
    /// True while the camera is the eye of a person who walks.
    pub walks: bool,
    /// True while the view is orthographic.
    pub is_orthographic: bool,
    /// True where there is a scene.
    pub has_scene: bool,
    /// True where something plays.
    pub has_clip: bool,
    /// True where the scene has point or spot lights.
    pub has_lamps: bool,
    /// True where a file is there to measure the deviation from.
    pub has_compared: bool,
}

/// All groups, in the order of the panel.
pub const GROUPS: [&[Group]; 7] = [
    light::PINNED,
    light::GROUPS,
    picture::GROUPS,
    scene::GROUPS,
    analyse::GROUPS,
    compare::GROUPS,
    output::GROUPS,
];

/// Every group.
pub fn groups() -> impl Iterator<Item = &'static Group> {
    GROUPS.into_iter().flatten()
}

/// The declaration of `key`, and the group that it stands in.
pub fn declared(key: &str) -> Option<(&'static Group, &'static Setting)> {
    groups().find_map(|group| Some((group, group.all().find(|setting| setting.key == key)?)))
}

impl Setting {
    const fn new(key: &'static str, label: &'static str, control: Control) -> Self {
        Self {
            key,
            label,
            control,
            words: "",
            actions: &[],
            idle: &[],
        }
    }

    const fn words(mut self, words: &'static str) -> Self {
        self.words = words;
        self
    }

    const fn keys(mut self, actions: &'static [&'static str]) -> Self {
        self.actions = actions;
        self
    }

    const fn idle(mut self, idle: &'static [Idle]) -> Self {
        self.idle = idle;
        self
    }

    /// True for a key of `config.toml`.
    pub fn is_key(&self) -> bool {
        self.key.contains('.')
    }

    /// What it does, as `config.toml` says it; empty for parts.
    pub fn help(&self) -> &'static str {
        static ALL: LazyLock<HashMap<&'static str, String>> = LazyLock::new(|| {
            let settings = groups().flat_map(Group::all);
            settings.map(|setting| (setting.key, help(setting.key))).collect()
        });
        ALL.get(self.key).map_or("", String::as_str)
    }

    /// Why it has no effect, if it has none.
    pub fn why_idle(&self, situation: &Situation<'_>) -> Option<&'static str> {
        let holds = |idle: &&Idle| (idle.holds)(situation);
        self.idle.iter().find(holds).map(|idle| idle.why)
    }
}

/// The comment of a key, with a capital letter.
fn help(key: &str) -> String {
    let Some((section, name)) = key.split_once('.') else {
        return String::new();
    };
    let text = comment(section, name);
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// A check box.
const fn switch(key: &'static str, label: &'static str, text: &'static str) -> Setting {
    Setting::new(key, label, Control::Switch(text))
}

/// A number.
const fn number(key: &'static str, label: &'static str, number: Number) -> Setting {
    Setting::new(key, label, Control::Number(number))
}

/// A slider from `low` to `high`.
const fn slider(
    key: &'static str,
    label: &'static str,
    [low, high]: [f64; 2],
    number: Number,
) -> Setting {
    Setting::new(key, label, Control::Slider(number, [low, high]))
}

/// Values side by side.
const fn choice(key: &'static str, label: &'static str, choices: &'static [Choice]) -> Setting {
    Setting::new(key, label, Control::Choice(choices))
}

/// Values in a list.
const fn list(key: &'static str, label: &'static str, choices: &'static [Choice]) -> Setting {
    Setting::new(key, label, Control::List(choices))
}

/// A colour.
const fn color(key: &'static str, label: &'static str) -> Setting {
    Setting::new(key, label, Control::Color)
}

/// What has code of its own.
const fn own(key: &'static str, label: &'static str) -> Setting {
    Setting::new(key, label, Control::Own)
}

/// A value with the same label.
const fn same(value: &'static str) -> Choice {
    Choice {
        value,
        label: value,
    }
}

/// A value with another label.
const fn named(value: &'static str, label: &'static str) -> Choice {
    Choice { value, label }
}

/// A number with so many digits behind the point, and a unit.
const fn digits(decimals: usize, unit: &'static str) -> Number {
    Number {
        decimals,
        unit,
        speed: 0.0,
        is_logarithmic: false,
        from_auto: None,
    }
}

/// A whole number with a unit.
const fn whole(unit: &'static str) -> Number {
    digits(0, unit)
}

/// A reason why settings have no effect.
const fn idle(why: &'static str, holds: fn(&Situation<'_>) -> bool) -> Idle {
    Idle { why, holds }
}

impl Number {
    const fn speed(mut self, speed: f64) -> Self {
        self.speed = speed;
        self
    }

    const fn logarithmic(mut self) -> Self {
        self.is_logarithmic = true;
        self
    }

    /// With a check box for 0, which is automatic.
    const fn or_auto(mut self, from_auto: f64) -> Self {
        self.from_auto = Some(from_auto);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Each key of config.toml is declared once, and nothing else is.
    #[test]
    fn every_key_is_declared_once() {
        let mut declared = BTreeSet::new();
        for setting in groups().flat_map(Group::all) {
            assert!(declared.insert(setting.key), "{} twice", setting.key);
            assert!(
                !setting.is_key() || !setting.help().is_empty(),
                "{} has no help",
                setting.key
            );
        }
        declared.retain(|key| key.contains('.'));
        let keys = Config::keys();
        let keys: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
        assert_eq!(declared, keys);
    }

    /// No two headings are alike, nor two labels of a group.
    #[test]
    fn headings_and_labels_differ() {
        let mut titles: BTreeSet<&str> = Tab::ALL.into_iter().map(Tab::title).collect();
        for group in groups() {
            assert!(titles.insert(group.title), "{} twice", group.title);
            let mut labels = BTreeSet::new();
            for setting in group.all() {
                let is_new = labels.insert(setting.label);
                assert!(is_new, "{}: {} twice", group.title, setting.label);
            }
        }
    }

    /// Controls offer what their settings take, and all words that those know.
    #[test]
    fn controls_fit_their_settings() {
        let config = Config::default();
        for setting in groups().flat_map(Group::all).filter(|s| s.is_key()) {
            let takes = |value: &str| {
                let set = format!("{}={value}", setting.key);
                let taken = config.clone().set_text("test", &set);
                taken.unwrap_or_else(|error| panic!("{error}"));
            };
            match setting.control {
                Control::Switch(_) => ["true", "false"].into_iter().for_each(takes),
                Control::Choice(choices) | Control::List(choices) => {
                    choices.iter().for_each(|choice| takes(choice.value));
                    #[cfg(feature = "viewer")]
                    for known in config.candidates(setting.key) {
                        let is_there = choices.iter().any(|choice| choice.value == known);
                        let is_word = known.starts_with(char::is_alphabetic);
                        assert!(is_there || !is_word, "{}: {known}", setting.key);
                    }
                }
                Control::Slider(number, ends) => {
                    for end in ends {
                        takes(&format!("{end:.*}", number.decimals));
                    }
                }
                Control::Number(number) => {
                    if let Some(from_auto) = number.from_auto {
                        takes("0");
                        takes(&format!("{from_auto}"));
                    }
                }
                Control::Color => takes("[0, 0.5, 1]"),
                Control::Text(_) => takes("\"a\""),
                Control::Numbers(..) | Control::Own => {}
            }
        }
    }
}
