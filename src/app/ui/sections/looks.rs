//! List of looks, with buttons that apply and edit them.

use crate::app::{
    input::keys::Action,
    state::State,
    ui::{facts::Facts, rows::Edits},
};
use egui::{TextEdit, Ui};

/// Request of a look's button.
enum LookCommand {
    Apply(String),
    Overwrite(String),
    Rename(String),
    AskToDelete(String),
    Delete(String),
}

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, _: &mut Edits) {
    let mut asked = None;
    let own = state.files.looks.of_user().to_vec();
    let tip = format!(
        "Applies this look and keeps all other settings. You can undo it{}",
        state.ui.keymap.hint(Action::Undo)
    );
    ui.horizontal_wrapped(|ui| {
        for name in state
            .files
            .looks
            .all()
            .into_iter()
            .filter(|name| !own.contains(name))
        {
            if ui.button(&name).on_hover_text(&tip).clicked() {
                asked = Some(LookCommand::Apply(name));
            }
        }
    });
    for name in own {
        ui.horizontal_wrapped(|ui| buttons(ui, state, (&name, &tip), &mut asked));
    }
    ui.horizontal(|ui| name_field(ui, state));
    ui.horizontal_wrapped(|ui| {
        for (text, tip, action) in [
            (
                "Import…",
                "Imports a look from a file, under the name of the file",
                Action::ImportLook,
            ),
            (
                "Export…",
                "Saves the light and picture settings in a file",
                Action::ExportLook,
            ),
        ] {
            if ui.button(text).on_hover_text(tip).clicked() {
                state.ui.actions.push(action);
            }
        }
    });
    match asked {
        Some(LookCommand::Apply(name)) => state.apply_look(&name),
        Some(LookCommand::Overwrite(name)) => state.overwrite_look(&name),
        Some(LookCommand::Rename(name)) => {
            state.files.looks.name.clone_from(&name);
            state.files.looks.renames = Some(name);
        }
        Some(LookCommand::AskToDelete(name)) => state.files.looks.deletes = Some(name),
        Some(LookCommand::Delete(name)) => state.delete_look(&name),
        None => {}
    }
}

/// Shows the buttons of a user's look, of which the first has this tooltip. Before a deletion, they ask for
/// confirmation.
fn buttons(ui: &mut Ui, state: &mut State, (name, tip): (&str, &str), asked: &mut Option<LookCommand>) {
    if state.files.looks.deletes.as_deref() == Some(name) {
        ui.label(format!("Delete {name}?"));
        let delete = ui
            .button("Delete")
            .on_hover_text("Deletes the file of this look permanently");
        if delete.clicked() {
            *asked = Some(LookCommand::Delete(name.into()));
        }
        if ui.button("Cancel").on_hover_text("Keeps the look").clicked() {
            state.files.looks.deletes = None;
        }
        return;
    }
    let mut button = |text: &str, tip: &str, what: fn(String) -> LookCommand| {
        if ui.button(text).on_hover_text(tip).clicked() {
            *asked = Some(what(name.into()));
        }
    };
    button(name, tip, LookCommand::Apply);
    button(
        "save",
        "Overwrites this look with the current settings",
        LookCommand::Overwrite,
    );
    button("rename", "Renames this look", LookCommand::Rename);
    button(
        "delete",
        "Deletes this look after you confirm",
        LookCommand::AskToDelete,
    );
}

fn name_field(ui: &mut Ui, state: &mut State) {
    let looks = &mut state.files.looks;
    let width = (ui.available_width() - 80.0).max(60.0);
    let field = TextEdit::singleline(&mut looks.name)
        .desired_width(width)
        .hint_text("name of a look");
    let field = ui
        .add(field)
        .on_hover_text("Name of the look")
        .accessible_name("name of a look");
    let enters = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    let (text, tip) = match &looks.renames {
        Some(_) => ("Rename", "Renames the look"),
        None => (
            "Save as",
            "Saves the light and picture settings as a look, in the folder looks beside your config.toml",
        ),
    };
    let has_name = !looks.name.trim().is_empty();
    let save = ui.add_enabled(has_name, egui::Button::new(text));
    let save = save
        .on_hover_text(tip)
        .on_disabled_hover_text("Enter a name first");
    if (save.clicked() || enters) && has_name {
        state.save_look();
    }
}
