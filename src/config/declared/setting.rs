//! A setting in the panel: its text, its control, and the conditions under which it has an effect.

use crate::config::{Config, Environment, explain::comment};
use std::{collections::HashMap, sync::LazyLock};

/// A tab of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// Shadows, sun, environment and indirect light.
    Light,
    /// Post-processing, from radiance to the screen.
    Picture,
    /// Files, clips and cameras.
    Scene,
    /// Timings, BVHs and rays.
    Analyse,
    /// Two scenes, cameras or pictures side by side.
    Compare,
    /// Exports and application settings.
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

    /// Returns the description in one sentence.
    pub fn help(self) -> &'static str {
        match self {
            Self::Light => "Shadows, sun, environment, reflections, fog and volumes",
            Self::Picture => "Exposure, anti-aliasing, lens, path tracer and materials",
            Self::Scene => "Clips, cameras, and the content of the file",
            Self::Analyse => "Channels, timings, BVH and rays",
            Self::Compare => "Two settings, scenes or pictures side by side",
            Self::Output => "Export, window, adapter and file limits",
        }
    }

    /// Returns the title of the tab.
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
    /// Tab that contains the group, or `None` for settings that are always visible.
    pub tab: Option<Tab>,
    /// Heading above the settings.
    pub title: &'static str,
    /// Description in one sentence.
    pub help: &'static str,
    /// Settings, in the order of the panel.
    pub settings: &'static [Setting],
    /// Less common settings, below `settings`.
    pub more: &'static [Setting],
}

impl Group {
    /// Returns all settings, in the order of the panel.
    pub fn all(&self) -> impl Iterator<Item = &'static Setting> {
        self.settings.iter().chain(self.more)
    }
}

/// A setting, or another part of the panel.
#[derive(Debug)]
pub struct Setting {
    /// `SECTION.KEY`, or for another part its name, which contains no dot.
    pub key: &'static str,
    /// Label beside the control.
    pub label: &'static str,
    /// Control that edits the setting.
    pub control: Control,
    /// Additional search words.
    pub words: &'static str,
    /// Actions of the keymap that change the setting.
    pub actions: &'static [&'static str],
    /// Conditions under which the setting has no effect.
    pub idle: &'static [InactiveReason],
}

/// Control that edits a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Control {
    /// Check box with a label.
    Switch(&'static str),
    /// Number field that you drag or type into.
    Number(Number),
    /// Width and height.
    Size,
    /// Two number fields. The second number is larger than the first by at least the given gap.
    Ascending(Number, f64),
    /// Slider over the given part of the range. Its number field accepts the whole range.
    Slider(Number, [f64; 2]),
    /// Buttons side by side.
    Choice(&'static [Choice]),
    /// Drop-down list.
    List(&'static [Choice]),
    /// Linear RGB colour.
    Color,
    /// Line of text, with a hint.
    Text(&'static str),
    /// Control with code of its own, outside this declaration.
    Own,
}

/// Format of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// Digits after the decimal point.
    pub decimals: usize,
    /// Unit after the number, with the space before it if there is one.
    pub unit: &'static str,
    /// Change of the value when it is dragged by one point. 0 makes it proportional to the value.
    pub speed: f64,
    /// True if a slider has a logarithmic scale.
    pub is_logarithmic: bool,
    /// Initial value when the user unchecks the box for 0, which means automatic. `None` if 0 has no such
    /// meaning.
    pub from_auto: Option<f64>,
}

/// A value to choose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Value in `config.toml`.
    pub value: &'static str,
    /// Text in the panel.
    pub label: &'static str,
}

/// A condition under which a setting has no effect.
#[derive(Debug, Clone, Copy)]
pub struct InactiveReason {
    /// Reason to show, such as "shadows are off".
    pub why: &'static str,
    /// True while the condition holds.
    pub holds: fn(&PanelState<'_>) -> bool,
}

/// State that decides which settings have an effect.
#[derive(Debug)]
pub struct PanelState<'a> {
    /// All settings, with `auto` resolved for the adapter.
    pub config: &'a Config,
    /// Environment that lights the scene, with `auto` resolved.
    pub lit: &'a Environment,
    /// True while the channel `cost` is shown.
    pub shows_cost: bool,
    /// True while the channel `lab` is shown.
    pub shows_lab: bool,
    /// True in walk mode.
    pub walks: bool,
    /// True while the view is orthographic.
    pub is_orthographic: bool,
    /// True if a scene is open.
    pub has_scene: bool,
    /// True if a clip or a blend is selected, even if it is paused.
    pub has_clip: bool,
    /// True if the scene has point or spot lights.
    pub has_lamps: bool,
    /// True if there is a file to measure the deviation from.
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

    pub(super) const fn idle(mut self, idle: &'static [InactiveReason]) -> Self {
        self.idle = idle;
        self
    }

    /// True if this is a key of `config.toml`.
    pub fn is_key(&self) -> bool {
        self.key.contains('.')
    }

    /// Returns the comment of the key in `config.toml`, or an empty text for other parts of the panel.
    pub fn help(&self) -> &'static str {
        static ALL: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
            let keys = Config::keys().into_iter();
            keys.map(|key| (key.clone(), help(&key))).collect()
        });
        ALL.get(self.key).map_or("", String::as_str)
    }

    /// Returns the reason why the setting has no effect, or `None` if it has an effect.
    pub fn inactive_reason(&self, situation: &PanelState<'_>) -> Option<&'static str> {
        let holds = |idle: &&InactiveReason| (idle.holds)(situation);
        self.idle.iter().find(holds).map(|idle| idle.why)
    }
}

/// Returns the comment of a key in `config.toml`, with its first letter capitalized.
fn help(key: &str) -> String {
    let Some((section, name)) = key.split_once('.') else {
        return String::new();
    };
    let text = comment(section, name);
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Declares a check box.
pub(super) const fn switch(key: &'static str, label: &'static str, text: &'static str) -> Setting {
    Setting::new(key, label, Control::Switch(text))
}

/// Declares a number.
pub(super) const fn number(key: &'static str, label: &'static str, number: Number) -> Setting {
    Setting::new(key, label, Control::Number(number))
}

/// Declares a slider from `low` to `high`.
pub(super) const fn slider(
    key: &'static str,
    label: &'static str,
    [low, high]: [f64; 2],
    number: Number,
) -> Setting {
    Setting::new(key, label, Control::Slider(number, [low, high]))
}

/// Declares buttons side by side.
pub(super) const fn choice(key: &'static str, label: &'static str, choices: &'static [Choice]) -> Setting {
    Setting::new(key, label, Control::Choice(choices))
}

/// Declares a drop-down list.
pub(super) const fn list(key: &'static str, label: &'static str, choices: &'static [Choice]) -> Setting {
    Setting::new(key, label, Control::List(choices))
}

/// Declares a colour.
pub(super) const fn color(key: &'static str, label: &'static str) -> Setting {
    Setting::new(key, label, Control::Color)
}

/// Declares a part with custom code.
pub(super) const fn own(key: &'static str, label: &'static str) -> Setting {
    Setting::new(key, label, Control::Own)
}

/// Declares a choice whose label is its value.
pub(super) const fn same(value: &'static str) -> Choice {
    Choice { value, label: value }
}

/// Declares a choice with its own label.
pub(super) const fn named(value: &'static str, label: &'static str) -> Choice {
    Choice { value, label }
}

/// Returns a format with the given number of decimals and a unit.
pub(super) const fn digits(decimals: usize, unit: &'static str) -> Number {
    Number {
        decimals,
        unit,
        speed: 0.0,
        is_logarithmic: false,
        from_auto: None,
    }
}

/// Returns a format of whole numbers with a unit.
pub const fn whole(unit: &'static str) -> Number {
    digits(0, unit)
}

/// Declares a condition under which a setting has no effect.
pub(super) const fn idle(why: &'static str, holds: fn(&PanelState<'_>) -> bool) -> InactiveReason {
    InactiveReason { why, holds }
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

    /// Adds a check box for 0, which means automatic. Unchecking it sets `from_auto`.
    pub(super) const fn or_auto(mut self, from_auto: f64) -> Self {
        self.from_auto = Some(from_auto);
        self
    }
}
