//! Collapsible parts of the panel, which keep the state that the user gave them.

use crate::app::state::State;
use egui::{RichText, Ui};

/// Shows the less used settings of a section, below the others.
pub(in crate::app) fn more(
    ui: &mut Ui,
    state: &mut State,
    section: &str,
    add: impl FnOnce(&mut Ui, &mut State),
) {
    let title = RichText::new("more").weak();
    let tip = "Advanced settings";
    fold(ui, state, &more_of(section), title, tip, false, add);
}

/// Returns the name of the fold with the less used settings of a section.
pub(in crate::app) fn more_of(section: &str) -> String {
    format!("{section}, more")
}

/// Shows a collapsible group that keeps the state that the user gave it.
pub(in crate::app) fn fold(
    ui: &mut Ui,
    state: &mut State,
    name: &str,
    title: RichText,
    tip: &str,
    open: bool,
    add: impl FnOnce(&mut Ui, &mut State),
) {
    let is_open = state.ui.layout.open.get(name).copied().unwrap_or(open);
    let header = egui::CollapsingHeader::new(title)
        .id_salt(name)
        .default_open(is_open)
        .open(Some(is_open))
        .show_unindented(ui, |ui| add(ui, state))
        .header_response
        .on_hover_text(tip);
    if header.clicked() {
        state.ui.layout.open.insert(name.into(), !is_open);
    }
}
