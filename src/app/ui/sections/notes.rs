//! Extensions and warnings.

use crate::{
    app::{
        state::State,
        ui::{facts::Facts, rows::Edits},
    },
    scene::{ExtensionUse, Treatment},
};
use egui::{RichText, Ui};

/// Maximum number of lines of each kind.
const MAX_NOTES: usize = 100;

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, _: &mut Edits) {
    let stage = state.stage.as_ref();
    let extensions = stage.map_or(&[][..], |stage| &stage.scene.extensions);
    if extensions.is_empty() {
        ui.weak("The files use no extensions.");
    }
    for extension in extensions.iter().take(MAX_NOTES) {
        show_extension(ui, extension);
    }
    let warnings: Vec<&String> = state.warnings().collect();
    if warnings.is_empty() {
        ui.weak("There are no warnings.");
    }
    let color = ui.visuals().warn_fg_color;
    for warning in warnings.iter().take(MAX_NOTES) {
        let text = RichText::new(warning.as_str()).small().color(color);
        ui.add(egui::Label::new(text).wrap());
    }
    if warnings.len() > MAX_NOTES {
        ui.weak(format!("… and {} more", warnings.len() - MAX_NOTES));
    }
}

fn show_extension(ui: &mut Ui, extension: &ExtensionUse) {
    let ExtensionUse {
        name,
        required,
        treatment,
        note,
    } = extension;
    let text = RichText::new(format!("{name}: {}", treatment.name())).small();
    let text = match treatment {
        Treatment::Ignored => text.color(ui.visuals().warn_fg_color),
        Treatment::Full | Treatment::Approximate => text,
    };
    let needs = match required {
        true => "; the file requires it",
        false => "",
    };
    let label = ui.add(egui::Label::new(text).wrap());
    label.on_hover_text(format!("{note}{needs}"));
}
