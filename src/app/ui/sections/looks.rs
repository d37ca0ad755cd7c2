//! Looks.

use crate::app::{
    input::keys::Action,
    state::State,
    ui::{facts::Facts, rows::Edits},
};
use egui::{TextEdit, Ui};

/// What a button of a look asks for.
enum Asked {
    Apply(String),
    Overwrite(String),
    Rename(String),
    AskToDelete(String),
    Delete(String),
}

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, _: &mut Edits) {
    let mut asked = None;
    let own = state.files.looks.of_user().to_vec();
    ui.horizontal_wrapped(|ui| {
        for name in state
            .files
            .looks
            .all()
            .into_iter()
            .filter(|name| !own.contains(name))
        {
            let tip = "Sets what this look is made of, and leaves all else. Ctrl+Z takes it back";
            if ui.button(&name).on_hover_text(tip).clicked() {
                asked = Some(Asked::Apply(name));
            }
        }
    });
    for name in own {
        ui.horizontal_wrapped(|ui| buttons(ui, state, &name, &mut asked));
    }
    ui.horizontal(|ui| name_field(ui, state));
    ui.horizontal_wrapped(|ui| {
        for (text, tip, action) in [
            (
                "Import…",
                "Keeps the look in a file, under the name of that file",
                Action::ImportLook,
            ),
            (
                "Export…",
                "Saves settings of light and picture in a file of your choice",
                Action::ExportLook,
            ),
        ] {
            if ui.button(text).on_hover_text(tip).clicked() {
                state.ui.actions.push(action);
            }
        }
    });
    match asked {
        Some(Asked::Apply(name)) => state.apply_look(&name),
        Some(Asked::Overwrite(name)) => state.overwrite_look(&name),
        Some(Asked::Rename(name)) => {
            state.files.looks.name.clone_from(&name);
            state.files.looks.renames = Some(name);
        }
        Some(Asked::AskToDelete(name)) => state.files.looks.deletes = Some(name),
        Some(Asked::Delete(name)) => state.delete_look(&name),
        None => {}
    }
}

/// The buttons of a look of the user.
fn buttons(ui: &mut Ui, state: &mut State, name: &str, asked: &mut Option<Asked>) {
    if state.files.looks.deletes.as_deref() == Some(name) {
        ui.label(format!("Delete {name}?"));
        let delete = ui.button("Delete").on_hover_text("Deletes its file for good");
        if delete.clicked() {
            *asked = Some(Asked::Delete(name.into()));
        }
        if ui.button("Keep").on_hover_text("Does nothing").clicked() {
            state.files.looks.deletes = None;
        }
        return;
    }
    let mut button = |text: &str, tip: &str, what: fn(String) -> Asked| {
        if ui.button(text).on_hover_text(tip).clicked() {
            *asked = Some(what(name.into()));
        }
    };
    button(
        name,
        "Sets all that is of looks. Ctrl+Z takes it back",
        Asked::Apply,
    );
    button(
        "save",
        "Saves the settings of now in place of this look",
        Asked::Overwrite,
    );
    button("rename", "Gives it another name", Asked::Rename);
    button("delete", "Deletes it; asks first", Asked::AskToDelete);
}

fn name_field(ui: &mut Ui, state: &mut State) {
    let looks = &mut state.files.looks;
    let width = (ui.available_width() - 80.0).max(60.0);
    let field = TextEdit::singleline(&mut looks.name)
        .desired_width(width)
        .hint_text("name of a look");
    let field = ui
        .add(field)
        .on_hover_text("The name under which these settings are saved")
        .accessible_name("name of a look");
    let enters = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    let (text, tip) = match &looks.renames {
        Some(_) => ("Rename", "Gives the look this name"),
        None => (
            "Save as",
            "Saves settings of light and picture as a look: a file in the folder looks beside your config.toml",
        ),
    };
    let has_name = !looks.name.trim().is_empty();
    let save = ui.add_enabled(has_name, egui::Button::new(text));
    let save = save
        .on_hover_text(tip)
        .on_disabled_hover_text("Type a name first");
    if (save.clicked() || enters) && has_name {
        state.save_look();
    }
}
