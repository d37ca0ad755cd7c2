//! Row of a setting in the panel: a name, its widgets, and one tooltip for all of them.

use crate::{
    app::{
        input::{keymap::Keymap, keys::BINDINGS},
        ui::style::accent,
        undo::changes::StartValues,
    },
    config::declared::{Setting, declared},
};
use egui::{Align, Label, Layout, RichText, Sense, Ui};
use std::{
    collections::{BTreeMap, HashMap},
    ops::RangeInclusive,
    rc::Rc,
};

/// Width of the name column in points, including the dot of a changed value.
const NAME_WIDTH: f32 = 100.0;
/// Width of that dot in points.
const DOT_WIDTH: f32 = 9.0;
/// Width of the number beside a slider, in points.
const NUMBER_WIDTH: f32 = 74.0;

/// State of this frame's rows: inputs that they read, and changes by the user.
pub(in crate::app) struct Edits {
    /// Keys that have changed since the start.
    pub(in crate::app) changes: Rc<StartValues>,
    /// All settings.
    pub(in crate::app) values: Rc<BTreeMap<String, toml::Value>>,
    /// Keymap for the keys in tooltips.
    pub(in crate::app) keymap: Rc<Keymap>,
    /// Reasons why settings have no effect.
    pub(in crate::app) idle: HashMap<&'static str, &'static str>,
    /// Effective values of automatic settings.
    pub(in crate::app) in_force: HashMap<&'static str, String>,
    /// Settings that the user has changed, with their new values.
    pub(in crate::app) sets: Vec<(&'static str, toml::Value)>,
    /// Keys that the user resets to their values at the start.
    pub(in crate::app) reset: Vec<&'static str>,
    /// Key of the row to jump to.
    pub(in crate::app) sought: Option<String>,
    /// Rectangle of that row, and its first focusable control.
    pub(in crate::app) found: Option<(egui::Rect, Option<egui::Id>)>,
}

/// A setting: its name, its description, and the reason why it has no effect.
pub(in crate::app) struct Row<'a> {
    name: &'a str,
    tip: &'a str,
    keys: &'a [&'static str],
    idle: Option<String>,
    /// True for a row that acts on the open scene without changing the setting.
    is_action: bool,
}

impl<'a> Row<'a> {
    /// Creates a row that edits these keys of `config.toml`, if any.
    pub(in crate::app) fn new(name: &'a str, keys: &'a [&'static str], tip: &'a str) -> Self {
        Self {
            name,
            tip,
            keys,
            idle: None,
            is_action: false,
        }
    }

    /// Creates the row of a declared setting.
    pub(in crate::app) fn of(setting: &'static Setting, edits: &Edits) -> Row<'static> {
        Row {
            name: setting.label,
            tip: setting.help(),
            keys: std::slice::from_ref(&setting.key),
            idle: edits.idle.get(setting.key).map(|why| (*why).to_owned()),
            is_action: false,
        }
    }

    /// Creates the row of the setting `key`.
    pub(in crate::app) fn key(key: &'static str, edits: &Edits) -> Row<'static> {
        match declared(key) {
            Some((_, setting)) => Row::of(setting, edits),
            None => Row::new(key, &[], ""),
        }
    }

    /// Makes the row act on the open scene. It has its own tooltip and no start value.
    pub(in crate::app) fn acts(mut self, tip: &'a str) -> Self {
        (self.tip, self.is_action) = (tip, true);
        self
    }

    /// Overrides the name of the setting.
    pub(in crate::app) fn named(mut self, name: &'a str) -> Self {
        self.name = name;
        self
    }

    /// Disables the row if there is a reason why it has no effect.
    pub(in crate::app) fn idle(mut self, why: Option<impl Into<String>>) -> Self {
        self.idle = why.map(Into::into);
        self
    }

    /// Shows the name and the widgets that `add` adds beside it.
    pub(in crate::app) fn show<R>(self, ui: &mut Ui, edits: &mut Edits, add: impl FnOnce(&mut Ui) -> R) -> R {
        let is_sought = edits.found.is_none()
            && edits
                .sought
                .as_ref()
                .is_some_and(|key| self.keys.contains(&key.as_str()));
        let mut control = None;
        let row = ui.horizontal(|ui| {
            self.show_name(ui, edits);
            ui.spacing_mut().item_spacing.x = 3.0;
            let room = ui.available_width();
            ui.spacing_mut().slider_width = (room - NUMBER_WIDTH).clamp(40.0, 400.0);
            let before = widget_count(ui);
            let added = ui.add_enabled_ui(self.idle.is_none(), add).inner;
            name_widgets(ui, self.name.trim(), before);
            if is_sought {
                control = first_control(ui, before);
            }
            added
        });
        if is_sought {
            edits.found = Some((row.response.rect, control));
        }
        row.response.on_hover_ui(|ui| {
            // Same width as tooltips that consist only of text.
            ui.set_max_width(ui.spacing().tooltip_width);
            ui.add(Label::new(self.tooltip(edits)));
        });
        row.inner
    }

    /// Shows the name, with a dot if the value has changed. A double click resets the value.
    fn show_name(&self, ui: &mut Ui, edits: &mut Edits) {
        let size = egui::vec2(NAME_WIDTH, ui.spacing().interact_size.y);
        let layout = Layout::left_to_right(Align::Center);
        let cell = ui.allocate_ui_with_layout(size, layout, |ui| {
            ui.set_min_width(NAME_WIDTH);
            ui.add_space(DOT_WIDTH);
            let text = RichText::new(self.name);
            let text = if self.idle.is_some() { text.weak() } else { text };
            let label = Label::new(text).truncate().show_tooltip_when_elided(false);
            ui.add(label);
        });
        let rect = cell.response.rect;
        if self.keys.is_empty() || self.is_action {
            return;
        }
        let name = ui.interact(rect, cell.response.id.with("name"), Sense::CLICK);
        if self.changed(edits).next().is_some() {
            let dot = rect.left_center() + egui::vec2(DOT_WIDTH * 0.4, 0.0);
            ui.painter().circle_filled(dot, 2.5, accent(ui.visuals()));
        }
        if name.double_clicked() {
            edits
                .reset
                .extend(self.keys.iter().filter(|key| key.contains('.')));
        }
    }

    /// Returns the changed keys with their values at the start.
    fn changed<'e>(&'e self, edits: &'e Edits) -> impl Iterator<Item = (&'e str, &'e str)> {
        let value = |key: &&'static str| Some((*key, edits.changes.get(*key)?.as_str()));
        let keys = if self.is_action { &[][..] } else { self.keys };
        keys.iter().filter_map(value)
    }

    fn tooltip(&self, edits: &Edits) -> String {
        let mut text = self.tip.to_owned();
        for key in self.keys {
            let actions = declared(key).map_or(&[][..], |(_, setting)| setting.actions);
            if key.contains('.') && !self.is_action {
                text += &format!("\n\n{key}");
            }
            let bound = BINDINGS.iter().filter(|binding| actions.contains(&binding.name));
            for binding in bound {
                let keys = edits.keymap.keys_of(binding.action);
                if !keys.is_empty() {
                    text += &format!("\n{keys}: {}", binding.what);
                }
            }
        }
        if let Some(why) = &self.idle {
            text += &format!("\n\nNo effect now: {why}.");
        }
        for (key, value) in self.changed(edits) {
            text += &format!("\n\n{key} was {value} at the start. Double-click the name to reset it.");
        }
        text
    }
}

/// Returns the number of widgets in the layer so far.
pub(in crate::app) fn widget_count(ui: &Ui) -> usize {
    let layer = ui.layer_id();
    ui.ctx()
        .viewport(|viewport| viewport.this_pass.widgets.get_layer(layer).count())
}

/// Returns the first focusable control among the widgets after the first `before` ones.
pub(in crate::app) fn first_control(ui: &Ui, before: usize) -> Option<egui::Id> {
    let layer = ui.layer_id();
    ui.ctx().viewport(|viewport| {
        let added = viewport.this_pass.widgets.get_layer(layer).skip(before);
        let mut controls = added.filter(|widget| widget.enabled && widget.sense.is_focusable());
        controls.next().map(|widget| widget.id)
    })
}

/// Sets the accessible names of the widgets after the first `before` ones to the name of the row's setting.
fn name_widgets(ui: &Ui, name: &str, before: usize) {
    if name.is_empty() {
        return;
    }
    let (ctx, layer) = (ui.ctx(), ui.layer_id());
    let added: Vec<egui::Id> = ctx.viewport(|viewport| {
        let widgets = viewport.this_pass.widgets.get_layer(layer);
        widgets.skip(before).map(|widget| widget.id).collect()
    });
    for id in added.into_iter().filter(|id| ctx.has_accesskit_node(*id)) {
        ctx.accesskit_node_builder(id, |node| {
            if node.role() == egui::Role::Label {
                return;
            }
            let label = match node.label() {
                Some(own) if !own.is_empty() => format!("{name}: {own}"),
                _ => name.to_owned(),
            };
            node.set_label(label);
        });
    }
}

/// Number format.
#[derive(Clone, Copy)]
pub(in crate::app) struct Digits {
    pub(in crate::app) decimals: usize,
    pub(in crate::app) suffix: &'static str,
}

/// Returns a format with two decimals.
pub(in crate::app) const fn hundredths(suffix: &'static str) -> Digits {
    Digits { decimals: 2, suffix }
}

/// Format for whole degrees.
pub(in crate::app) const DEGREES: Digits = Digits {
    decimals: 0,
    suffix: "°",
};

impl Digits {
    /// Stores a number that a widget has changed, and returns true if it did. Widgets round their numbers,
    /// and rounding is not a change.
    fn take(self, value: &mut f32, shown: f32, allowed: RangeInclusive<f32>) -> bool {
        let step = 10_f32.powi(-(self.decimals as i32));
        let is_changed = (shown - *value).abs() > 0.501 * step;
        if is_changed {
            *value = shown.clamp(*allowed.start(), *allowed.end());
        }
        is_changed
    }
}

/// Shows a slider over a part of the allowed range and a number field over all of it. Returns true if the
/// user changed the value.
pub(in crate::app) fn slide(
    ui: &mut Ui,
    value: &mut f32,
    part: RangeInclusive<f32>,
    allowed: RangeInclusive<f32>,
    digits: Digits,
) -> bool {
    let mut shown = *value;
    let slider = egui::Slider::new(&mut shown, part)
        .suffix(digits.suffix)
        .fixed_decimals(digits.decimals)
        .clamping(egui::SliderClamping::Never);
    ui.add(slider);
    digits.take(value, shown, allowed)
}

/// Shows a number to drag or type. Returns true if the user changed it.
pub(in crate::app) fn number(
    ui: &mut Ui,
    value: &mut f32,
    speed: f32,
    allowed: RangeInclusive<f32>,
    digits: Digits,
) -> bool {
    let mut shown = *value;
    let drag = egui::DragValue::new(&mut shown)
        .speed(speed)
        .range(allowed.clone())
        .clamp_existing_to_range(false)
        .suffix(digits.suffix)
        .fixed_decimals(digits.decimals)
        .update_while_editing(false);
    ui.add(drag);
    digits.take(value, shown, allowed)
}

/// Shows a few choices side by side, each with its description.
pub(in crate::app) fn choose<T: PartialEq + Copy>(ui: &mut Ui, value: &mut T, choices: &[(T, &str, &str)]) {
    for (choice, name, tip) in choices {
        ui.selectable_value(value, *choice, *name).on_hover_text(*tip);
    }
}

/// Edits a colour. Returns true if the user changed it. Only then is it written, because the picker rounds.
pub(in crate::app) fn color(ui: &mut Ui, value: &mut [f32; 3]) -> bool {
    let mut picked = *value;
    let changed = ui.color_edit_button_rgb(&mut picked).changed();
    if changed {
        *value = picked;
    }
    changed
}

/// Shows a drop-down list as wide as the row minus `left`. Returns the clicked choice.
pub(in crate::app) fn list<T: PartialEq + Copy>(
    ui: &mut Ui,
    id: &str,
    left: f32,
    now: T,
    choices: &[(T, String, &str)],
) -> Option<T> {
    let name = choices.iter().find(|(choice, _, _)| *choice == now);
    let mut clicked = None;
    egui::ComboBox::from_id_salt(id)
        .width((ui.available_width() - left).clamp(60.0, 220.0))
        .height(320.0)
        .selected_text(name.map_or("", |(_, name, _)| name))
        .truncate()
        .show_ui(ui, |ui| {
            for (choice, name, tip) in choices {
                let entry = ui.selectable_label(*choice == now, name).on_hover_text(*tip);
                if entry.clicked() {
                    clicked = Some(*choice);
                }
            }
        });
    clicked
}
