//! The panel: a fixed top, the filter, and the tabs.

use crate::{
    app::{
        input::keys::Action,
        palette::{
            channels::{meaning, synonyms, title},
            model::begins_words,
        },
        state::State,
        ui::{
            drawer::{Drawer, Side},
            facts::Facts,
            fold::more_of,
            header,
            rows::{Edits, first_control, widget_count},
            sections,
            style::line,
        },
    },
    config::{
        GroundMode, UpAxis,
        declared::{Group, PanelState, Setting, Tab, declared, groups},
    },
    render::Channel,
    scene::{LightKind, Projection},
};
use egui::{Align, Id, Layout, RichText, TextEdit, Ui, vec2};
use std::collections::HashMap;

/// Initial width of the panel in points.
pub(in crate::app) const PANEL_WIDTH: f32 = 330.0;
/// Minimum width of the panel in points.
const MIN_WIDTH: f32 = 280.0;

/// Shows the panel. Returns the width in points by which it covers the picture, or 0 if it lies beside it.
pub(in crate::app) fn show(ui: &mut Ui, is_narrow: bool, state: &mut State, facts: &Facts<'_>) -> f32 {
    let most = (ui.available_width() * 0.6).max(MIN_WIDTH);
    let wanted = state.ui.layout.width.unwrap_or(PANEL_WIDTH);
    place(state);
    let mut edits = edits(state, facts);
    let drawer = Drawer {
        name: "settings",
        side: Side::Right,
        width: wanted,
        widths: MIN_WIDTH..=most,
    };
    let rect = drawer.show(ui, is_narrow, |ui| contents(ui, state, facts, &mut edits));
    apply(state, &edits);
    if is_narrow {
        return rect.width();
    }
    // The width is not saved during a drag, which would save every step, or in a window that is too narrow.
    let is_dragged = ui.input(|input| input.pointer.any_down());
    if !is_dragged && wanted <= most && (rect.width() - wanted).abs() > 0.5 {
        state.ui.layout.width = Some(rect.width());
    }
    0.0
}

fn contents(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    header::show(ui, state, facts);
    sections::pinned(ui, state, facts, edits);
    ui.add_space(4.0);
    filter(ui, state);
    tabs(ui, state);
    ui.separator();
    egui::ScrollArea::vertical()
        .id_salt(state.ui.layout.tab().title())
        .auto_shrink(false)
        .show(ui, |ui| {
            let before = widget_count(ui);
            match state.ui.finder.text.trim() {
                "" => sections::tab(ui, state.ui.layout.tab(), state, facts, edits),
                _ => found(ui, state, facts, edits),
            }
            if std::mem::take(&mut state.ui.finder.enters)
                && let Some(first) = first_control(ui, before)
            {
                ui.memory_mut(|memory| memory.request_focus(first));
            }
            jump(ui, state, edits);
            follow_focus(ui);
        });
}

/// Collects the state of this frame's rows.
pub(in crate::app) fn edits(state: &mut State, facts: &Facts<'_>) -> Edits {
    Edits {
        changes: state.edits.changes.between(&state.edits.initial, &state.config),
        values: state.edits.changes.values(&state.config),
        keymap: state.ui.keymap.clone(),
        idle: idle(state, facts),
        in_force: in_force(state, facts),
        sets: Vec::new(),
        reset: Vec::new(),
        sought: state.ui.jump.as_ref().map(|jump| jump.key.clone()),
        found: None,
    }
}

/// Returns the settings that have no effect, with the reasons.
fn idle(state: &State, facts: &Facts<'_>) -> HashMap<&'static str, &'static str> {
    let config = &state.config.resolved(facts.traits);
    let stage = state.stage.as_ref();
    let lit = stage.map(|stage| config.adapted_to(&stage.scene));
    let lamps = stage.is_some_and(|stage| {
        let mut lights = stage.scene.lights.iter();
        lights.any(|light| light.kind != LightKind::Directional)
    });
    let situation = PanelState {
        config,
        lit: lit.as_ref().map_or(&config.environment, |lit| &lit.environment),
        shows_cost: state.picture.channel == Channel::Cost,
        shows_lab: state.picture.channel == Channel::Lab,
        walks: state.walks(),
        is_orthographic: matches!(state.camera.projection, Projection::Orthographic { .. }),
        has_scene: stage.is_some(),
        has_clip: stage.is_some_and(|stage| stage.duration() > 0.0),
        has_lamps: lamps,
        has_compared: state.deviation.compared.is_some(),
    };
    let settings = groups().flat_map(Group::all);
    settings
        .filter_map(|setting| Some((setting.key, setting.inactive_reason(&situation)?)))
        .collect()
}

/// Returns the effective values of automatic settings, by key.
fn in_force(state: &State, facts: &Facts<'_>) -> HashMap<&'static str, String> {
    let mut all = HashMap::new();
    if let Some(stage) = &state.stage {
        let up = stage.up_axis(UpAxis::Auto);
        all.insert("scene.up", up.name().to_uppercase());
        let ground = match stage.ground(GroundMode::Auto) {
            Some(_) => "shadow",
            None => "off",
        };
        all.insert("scene.ground", ground.to_owned());
    }
    if let Some(found) = facts.stats.cost_range {
        for key in ["cost.range", "lab.range"] {
            all.insert(key, found.range.to_string());
        }
    }
    all
}

/// Applies the changes that the user has made in the rows.
pub(in crate::app) fn apply(state: &mut State, edits: &Edits) {
    if edits.reset.is_empty() && edits.sets.is_empty() {
        return;
    }
    let before = state.config.clone();
    for key in &edits.reset {
        state.reset(key);
    }
    for (key, value) in &edits.sets {
        if let Err(error) = state.config.set("panel", key, value.clone()) {
            state.fail("The setting was not changed", error.to_string());
        }
    }
    state.follow_settings(&before);
}

const TIP: &str = "Finds settings by name, by key in config.toml, or by synonym. Enter goes to the first one";

/// Shows the search field for settings.
fn filter(ui: &mut Ui, state: &mut State) {
    let is_empty = state.ui.finder.text.is_empty();
    let keys = state.ui.keymap.keys_of(Action::Find);
    let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
    // The button is placed first, so that the field takes the remaining width.
    let layout = Layout::right_to_left(Align::Center);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        let tip = "Shows the tabs again (Esc)";
        if !is_empty && ui.button("×").on_hover_text(tip).clicked() {
            state.ui.finder.text.clear();
        }
        let field = TextEdit::singleline(&mut state.ui.finder.text)
            // A fixed id, so that the button that appears beside the field does not change it.
            .id(Id::unique("find a setting"))
            .hint_text(format!("find a setting ({keys})"))
            // The field adds its own margins.
            .desired_width(ui.available_width() - 8.0);
        let field = ui.add(field).on_hover_text(TIP);
        let field = field.accessible_name("find a setting");
        state.ui.finder.enters |= field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        if std::mem::take(&mut state.ui.finder.takes_keyboard) {
            field.request_focus();
        }
    });
}

/// Shows the titles of the tabs. A click selects a tab and clears the search.
fn tabs(ui: &mut Ui, state: &mut State) {
    ui.horizontal_wrapped(|ui| {
        // All titles fit on one line at the initial panel width.
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().button_padding.x = 4.0;
        for tab in Tab::ALL {
            let is_shown = state.ui.finder.text.is_empty() && state.ui.layout.tab() == tab;
            let title = ui.selectable_label(is_shown, tab.title());
            let response = title.on_hover_text(tab.help());
            ui.ctx().accesskit_node_builder(response.id, |node| {
                node.set_role(egui::accesskit::Role::Tab);
            });
            if response.clicked() {
                state.ui.layout.show_tab(tab);
                state.ui.finder.text.clear();
            }
        }
    });
}

/// Shows the channels and settings that match the search text. Descriptions are searched only if no setting
/// matches by name.
fn found(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let text = state.ui.finder.text.trim().to_owned();
    let channels = Channel::ALL
        .into_iter()
        .filter(|channel| begins_words(&text, &format!("{} {}", title(*channel), synonyms(*channel))));
    let channels: Vec<_> = channels.collect();
    if !channels.is_empty() {
        line(ui, RichText::new("Channels").strong());
        ui.horizontal_wrapped(|ui| {
            for channel in channels {
                let entry = ui.selectable_label(state.picture.channel == channel, title(channel));
                if entry.on_hover_text(meaning(channel)).clicked() {
                    state.picture.channel = channel;
                }
            }
        });
        ui.separator();
    }
    let by_name = |group: &Group, setting: &Setting| {
        let words = format!(
            "{} {} {} {}",
            setting.key, setting.label, setting.words, group.title
        );
        begins_words(&text, &words)
    };
    let needle = text.to_lowercase();
    let by_help = |_: &Group, setting: &Setting| setting.help().to_lowercase().contains(&needle);
    let any = listed(ui, &by_name, state, facts, edits) || listed(ui, &by_help, state, facts, edits);
    if !any {
        line(ui, RichText::new("no setting has these words").weak());
    }
}

/// Shows the matching settings under the headings of their groups. Returns false if there are none.
fn listed(
    ui: &mut Ui,
    matches: &dyn Fn(&Group, &Setting) -> bool,
    state: &mut State,
    facts: &Facts<'_>,
    edits: &mut Edits,
) -> bool {
    let mut any = false;
    for group in groups() {
        let mut settings = group.all().filter(|setting| matches(group, setting)).peekable();
        if settings.peek().is_none() {
            continue;
        }
        let heading = match group.tab {
            Some(tab) => format!("{}: {}", tab.title(), group.title),
            None => group.title.to_owned(),
        };
        line(ui, RichText::new(heading).strong());
        for setting in settings {
            sections::one(ui, setting, state, facts, edits);
        }
        any = true;
    }
    any
}

/// Opens the tab and the group of the setting to jump to.
fn place(state: &mut State) {
    let Some(jump) = state.ui.jump.as_mut().filter(|jump| !jump.is_placed) else {
        return;
    };
    jump.is_placed = true;
    let Some((group, _)) = declared(&jump.key) else {
        let key = jump.key.clone();
        state.ui.jump = None;
        state.notify(format!("{key} has no control in the panel"));
        return;
    };
    state.ui.finder.text.clear();
    if let Some(tab) = group.tab {
        state.ui.layout.show_tab(tab);
    }
    for name in [group.title.to_owned(), more_of(group.title)] {
        state.ui.layout.open.insert(name, true);
    }
}

/// Scrolls to the row of the jump and focuses its control. A notice appears if the panel has no such row.
fn jump(ui: &Ui, state: &mut State, edits: &Edits) {
    /// Duration in seconds of a group's opening animation.
    const OPENS: f64 = 0.4;
    let Some(jump) = state.ui.jump.as_mut() else {
        return;
    };
    ui.ctx().request_repaint();
    let now = ui.input(|input| input.time);
    let is_first = jump.since.is_none();
    let is_over = now - *jump.since.get_or_insert(now) > OPENS;
    if let Some((rect, control)) = edits.found {
        if let Some(control) = control.filter(|_| is_first || !jump.is_found) {
            ui.memory_mut(|memory| memory.request_focus(control));
        }
        jump.is_found = true;
        ui.scroll_to_rect(rect, Some(Align::Center));
    }
    if is_over {
        let (key, is_found) = (jump.key.clone(), jump.is_found);
        state.ui.jump = None;
        if !is_found {
            state.notify(format!("{key} has no control in the panel now"));
        }
    }
}

/// Scrolls to the control that Tab has focused.
fn follow_focus(ui: &Ui) {
    let focused = ui.memory(|memory| memory.focused());
    if let Some(reached) = focused.and_then(|id| ui.ctx().read_response(id))
        && reached.gained_focus()
        && reached.layer_id == ui.layer_id()
    {
        ui.scroll_to_rect(reached.rect, None);
    }
}
