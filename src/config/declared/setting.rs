//! A setting in the panel: its words, its control, and the conditions under which it has an effect.

use crate::config::{Config, Environment, explain::comment};
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
    /// Settings that are used less often, below the others.
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
    /// The way in which it is edited.
    pub control: Control,
    /// More words by which it is found.
    pub words: &'static str,
    /// Actions of the keymap that change it.
    pub actions: &'static [&'static str],
    /// Reasons why it has no effect.
    pub idle: &'static [Idle],
}

/// The way in which a setting is edited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Control {
    /// A check box with its text.
    Switch(&'static str),
    /// A number to drag or to type.
    Number(Number),
    /// A width and a height.
    Size,
    /// Two numbers, the second above the first by a gap at least.
    Rising(Number, f64),
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

/// The form of a number.
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
    /// The value that the control starts with when it is no longer 0, which is automatic; `None` where 0 is not.
    pub from_auto: Option<f64>,
}

/// A value to choose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The value in `config.toml`.
    pub value: &'static str,
    /// The text in the panel.
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

/// The state on which it depends whether settings have an effect.
#[derive(Debug)]
pub struct Situation<'a> {
    /// All settings, with the meaning of `auto` on the adapter.
    pub config: &'a Config,
    /// The environment that lights the scene, with `auto` resolved.
    pub lit: &'a Environment,
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
    /// True while something plays.
    pub has_clip: bool,
    /// True where the scene has point or spot lights.
    pub has_lamps: bool,
    /// True where a file is there to measure the deviation from.
    pub has_compared: bool,
}

impl Setting {
    pub(super) const fn new(key: &'static str, label: &'static str, control: Control) -> Self {
        Self {
            key,
            label,
            control,
            words: "",
            actions: &[],
            idle: &[],
        }
    }

    pub(super) const fn words(mut self, words: &'static str) -> Self {
        self.words = words;
        self
    }

    pub(super) const fn keys(mut self, actions: &'static [&'static str]) -> Self {
        self.actions = actions;
        self
    }

    pub(super) const fn idle(mut self, idle: &'static [Idle]) -> Self {
        self.idle = idle;
        self
    }

    /// True for a key of `config.toml`.
    pub fn is_key(&self) -> bool {
        self.key.contains('.')
    }

    /// Its comment in `config.toml`; empty for parts.
    pub fn help(&self) -> &'static str {
        static ALL: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
            let keys = Config::keys().into_iter();
            keys.map(|key| (key.clone(), help(&key))).collect()
        });
        ALL.get(self.key).map_or("", String::as_str)
    }

    /// The reason why it has no effect, if it has none.
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
pub(super) const fn switch(key: &'static str, label: &'static str, text: &'static str) -> Setting {
    Setting::new(key, label, Control::Switch(text))
}

/// A number.
pub(super) const fn number(key: &'static str, label: &'static str, number: Number) -> Setting {
    Setting::new(key, label, Control::Number(number))
}

/// A slider from `low` to `high`.
pub(super) const fn slider(
    key: &'static str,
    label: &'static str,
    [low, high]: [f64; 2],
    number: Number,
) -> Setting {
    Setting::new(key, label, Control::Slider(number, [low, high]))
}

/// Values side by side.
pub(super) const fn choice(key: &'static str, label: &'static str, choices: &'static [Choice]) -> Setting {
    Setting::new(key, label, Control::Choice(choices))
}

/// Values in a list.
pub(super) const fn list(key: &'static str, label: &'static str, choices: &'static [Choice]) -> Setting {
    Setting::new(key, label, Control::List(choices))
}

/// A colour.
pub(super) const fn color(key: &'static str, label: &'static str) -> Setting {
    Setting::new(key, label, Control::Color)
}

/// A part with code of its own.
pub(super) const fn own(key: &'static str, label: &'static str) -> Setting {
    Setting::new(key, label, Control::Own)
}

/// A value with the same label.
pub(super) const fn same(value: &'static str) -> Choice {
    Choice { value, label: value }
}

/// A value with another label.
pub(super) const fn named(value: &'static str, label: &'static str) -> Choice {
    Choice { value, label }
}

/// A number with so many digits behind the point, and a unit.
pub(super) const fn digits(decimals: usize, unit: &'static str) -> Number {
    Number {
        decimals,
        unit,
        speed: 0.0,
        is_logarithmic: false,
        from_auto: None,
    }
}

/// A whole number with a unit.
pub const fn whole(unit: &'static str) -> Number {
    digits(0, unit)
}

/// A reason why settings have no effect.
pub(super) const fn idle(why: &'static str, holds: fn(&Situation<'_>) -> bool) -> Idle {
    Idle { why, holds }
}

impl Number {
    pub(super) const fn speed(mut self, speed: f64) -> Self {
        self.speed = speed;
        self
    }

    pub(super) const fn logarithmic(mut self) -> Self {
        self.is_logarithmic = true;
        self
    }

    /// With a check box for 0, which is automatic.
    pub(super) const fn or_auto(mut self, from_auto: f64) -> Self {
        self.from_auto = Some(from_auto);
        self
    }
}
