//! Row of a declared setting with the control that its declaration specifies.

use crate::{
    app::ui::rows::{Edits, Row},
    config::{
        Config,
        declared::{Choice, Control, Number, Setting, whole},
    },
};
use egui::{DragValue, Slider, Ui};
use std::ops::RangeInclusive;
use toml::Value;

/// Shows the row of a setting. A change is added to [`Edits::sets`].
pub(in crate::app) fn show(ui: &mut Ui, setting: &'static Setting, edits: &mut Edits) {
    let Some(value) = edits.values.get(setting.key).cloned() else {
        return;
    };
    let in_force = edits.in_force.get(setting.key).cloned();
    let row = Row::of(setting, edits);
    let set = row.show(ui, edits, |ui| control(ui, setting, &value, in_force.as_deref()));
    edits.sets.extend(set.map(|set| (setting.key, set)));
}

/// Draws the control. Returns the new value if the user has changed it.
fn control(ui: &mut Ui, setting: &Setting, value: &Value, in_force: Option<&str>) -> Option<Value> {
    let range = Config::range(setting.key);
    match setting.control {
        Control::Switch(text) => {
            let mut is_on = value.as_bool()?;
            let is_changed = ui.checkbox(&mut is_on, text).changed();
            is_changed.then_some(Value::Boolean(is_on))
        }
        Control::Number(number) => match number.from_auto {
            Some(from_auto) => or_auto(ui, value, (number, from_auto), range, in_force),
            None => drag(ui, value, number, range),
        },
        Control::Size => numbers(ui, value, whole(""), "×", |_, _| range),
        Control::Ascending(number, gap) => numbers(ui, value, number, "to", |index, values| {
            let [low, high] = range?;
            let other = float(values.get(1 - index)?)?;
            Some(match index {
                0 => [low, other - gap],
                _ => [other + gap, high],
            })
        }),
        Control::Slider(number, part) => slide(ui, value, number, part, range),
        Control::Choice(choices) => choose(ui, value, choices),
        Control::List(choices) => list(ui, setting.key, value, choices, in_force),
        Control::Color => color(ui, value),
        Control::Text(hint) => {
            let mut text = value.as_str()?.to_owned();
            let field = egui::TextEdit::singleline(&mut text)
                .hint_text(hint)
                .desired_width(ui.available_width() - 8.0);
            let is_changed = ui.add(field).changed();
            is_changed.then_some(Value::String(text))
        }
        Control::Own => None,
    }
}

/// Converts an integer or float value to a float.
fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(whole) => Some(*whole as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// Converts `number` to the same type as `like`.
fn number_like(like: &Value, number: f64) -> Value {
    match like {
        Value::Integer(_) => Value::Integer(number.round() as i64),
        _ => Value::Float(number),
    }
}

/// Returns `shown` if it differs from `value` as displayed. Widgets round their numbers, and rounding is not
/// a change.
fn changed(value: &Value, shown: f64, number: Number, range: Option<[f64; 2]>) -> Option<Value> {
    let now = float(value)?;
    let step = 10_f64.powi(-(number.decimals as i32));
    let [low, high] = range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    let is_changed = (shown - now).abs() > 0.501 * step && low <= high;
    is_changed.then(|| number_like(value, shown.clamp(low, high)))
}

fn drag(ui: &mut Ui, value: &Value, number: Number, range: Option<[f64; 2]>) -> Option<Value> {
    let mut shown = float(value)?;
    let speed = match (number.speed, value) {
        (0.0, Value::Integer(_)) => (0.005 * shown.abs()).max(0.1),
        (0.0, _) => 0.01 * shown.abs().max(0.01),
        (speed, _) => speed,
    };
    let [low, high] = range.unwrap_or([0.0, i64::MAX as f64]);
    let drag = DragValue::new(&mut shown)
        .speed(speed)
        .range(low..=high)
        .clamp_existing_to_range(false)
        .suffix(number.unit)
        .fixed_decimals(number.decimals)
        .update_while_editing(false);
    ui.add(drag);
    changed(value, shown, number, Some([low, high]))
}

/// Shortens the slider if its number is wider than usual.
fn make_room(ui: &mut Ui, number: Number, largest: f64) {
    let text = format!("{largest:.*}{}", number.decimals, number.unit);
    let font = egui::TextStyle::Button.resolve(ui.style());
    let color = egui::Color32::PLACEHOLDER;
    let galley = ui.painter().layout_no_wrap(text, font, color);
    let spacing = ui.spacing();
    let width = galley.size().x + 2.0 * spacing.button_padding.x + 2.0 * spacing.item_spacing.x;
    let room = (ui.available_width() - width).max(40.0);
    let spacing = ui.spacing_mut();
    spacing.slider_width = spacing.slider_width.min(room);
}

fn slide(
    ui: &mut Ui,
    value: &Value,
    number: Number,
    [low, high]: [f64; 2],
    range: Option<[f64; 2]>,
) -> Option<Value> {
    let mut shown = float(value)?;
    let part: RangeInclusive<f64> = low..=high;
    make_room(ui, number, shown.abs().max(high));
    let mut slider = Slider::new(&mut shown, part)
        .suffix(number.unit)
        .fixed_decimals(number.decimals)
        .logarithmic(number.is_logarithmic)
        .clamping(egui::SliderClamping::Never);
    if value.is_integer() {
        slider = slider.step_by(1.0);
    }
    ui.add(slider);
    changed(value, shown, number, range)
}

/// Draws a check box for the automatic value 0 in front of the number. While automatic, the number is shown
/// only if the effective value is known.
fn or_auto(
    ui: &mut Ui,
    value: &Value,
    (number, from_auto): (Number, f64),
    range: Option<[f64; 2]>,
    in_force: Option<&str>,
) -> Option<Value> {
    let mut is_auto = float(value)? == 0.0;
    let in_force: Option<f64> = in_force.and_then(|text| text.parse().ok());
    if ui.checkbox(&mut is_auto, "auto").changed() {
        let number = if is_auto {
            0.0
        } else {
            in_force.unwrap_or(from_auto)
        };
        return Some(number_like(value, number));
    }
    match (is_auto, in_force) {
        (false, _) => drag(ui, value, number, range),
        (true, Some(in_force)) => {
            let shown = number_like(value, in_force);
            ui.add_enabled_ui(false, |ui| drag(ui, &shown, number, range));
            None
        }
        (true, None) => None,
    }
}

/// Draws several numbers side by side, each with its range.
fn numbers(
    ui: &mut Ui,
    value: &Value,
    number: Number,
    between: &str,
    range: impl Fn(usize, &[Value]) -> Option<[f64; 2]>,
) -> Option<Value> {
    let values = value.as_array()?;
    let mut set = None;
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            ui.label(between);
        }
        if let Some(changed) = drag(ui, value, number, range(index, values)) {
            let mut all = values.clone();
            all[index] = changed;
            set = Some(Value::Array(all));
        }
    }
    set
}

/// True if `choice` equals the value.
fn is_now(value: &Value, choice: &Choice) -> bool {
    match value {
        Value::String(text) => text == choice.value,
        other => other.to_string() == choice.value,
    }
}

/// Converts a choice to the same type as `like`.
fn chosen(like: &Value, choice: &Choice) -> Value {
    match (like, choice.value.parse()) {
        (Value::Integer(_), Ok(number)) => Value::Integer(number),
        _ => Value::String(choice.value.into()),
    }
}

fn choose(ui: &mut Ui, value: &Value, choices: &[Choice]) -> Option<Value> {
    let mut set = None;
    for choice in choices {
        let button = ui.selectable_label(is_now(value, choice), choice.label);
        if button.clicked() {
            set = Some(chosen(value, choice));
        }
    }
    set
}

fn list(ui: &mut Ui, key: &str, value: &Value, choices: &[Choice], in_force: Option<&str>) -> Option<Value> {
    let label = |choice: &Choice| match in_force {
        Some(now) if choice.value == "auto" => format!("auto ({now})"),
        _ => choice.label.to_owned(),
    };
    let now = choices.iter().find(|choice| is_now(value, choice));
    let now = now.map_or_else(|| value.to_string(), label);
    let mut set = None;
    egui::ComboBox::from_id_salt(key)
        .width(ui.available_width().clamp(60.0, 220.0))
        .height(320.0)
        .selected_text(now)
        .truncate()
        .show_ui(ui, |ui| {
            for choice in choices {
                let entry = ui.selectable_label(is_now(value, choice), label(choice));
                if entry.clicked() {
                    set = Some(chosen(value, choice));
                }
            }
        });
    set
}

/// Edits a linear colour. It is written only when the user changes it, because the picker rounds.
fn color(ui: &mut Ui, value: &Value) -> Option<Value> {
    let parts = value.as_array()?;
    let mut picked = [0.0; 3];
    for (picked, part) in picked.iter_mut().zip(parts) {
        *picked = float(part)? as f32;
    }
    let is_changed = ui.color_edit_button_rgb(&mut picked).changed();
    let parts = picked.map(|part| Value::Float(part.into()));
    is_changed.then(|| Value::Array(parts.to_vec()))
}
