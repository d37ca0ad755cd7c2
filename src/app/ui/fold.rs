//! Parts of the panel that fold, and stay as the person leaves them.

use crate::app::state::State;
use egui::{RichText, Ui};

/// The less used settings of a section. They keep their place below the others.
pub(in crate::app) fn more(
    ui: &mut Ui,
    state: &mut State,
    section: &str,
    add: impl FnOnce(&mut Ui, &mut State),
) {
    let title = RichText::new("more").weak();
    let tip = "Settings that are used less often";
    fold(ui, state, &more_of(section), title, tip, false, add);
}

/// The name of the less used settings of a section.
pub(in crate::app) fn more_of(section: &str) -> String {
    format!("{section}, more")
}

/// What can be folded, and stays as the person leaves it.
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
