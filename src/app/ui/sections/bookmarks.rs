//! Saved views.

use crate::app::{
    input::keys::Action,
    state::State,
    ui::{
        facts::Facts,
        rows::{Edits, Row},
    },
};
use egui::{TextEdit, Ui};

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let tip = "Your saved views of this scene. Alt+1 to Alt+9 go to the first nine";
    Row::new("saved views", &["saved views"], tip).show(ui, edits, |ui| {
        let tip = format!("Saves the current view{}", state.ui.keymap.hint(Action::Bookmark));
        let save = ui.button("Save this view").on_hover_text(tip);
        if save.clicked() {
            state.ui.actions.push(Action::Bookmark);
        }
    });
    for index in 0..state.files.bookmarks.list().len() {
        Row::new("", &[], "A saved view").show(ui, edits, |ui| view(ui, state, index));
    }
}

fn view(ui: &mut Ui, state: &mut State, index: usize) {
    let Some(bookmark) = state.files.bookmarks.list().get(index).cloned() else {
        return;
    };
    if let Some((_, name)) = state
        .files
        .bookmarks
        .renames
        .as_mut()
        .filter(|(renamed, _)| *renamed == index)
    {
        let width = (ui.available_width() - 60.0).max(40.0);
        let field = ui.add(TextEdit::singleline(name).desired_width(width));
        let field = field
            .on_hover_text("New name of the view")
            .accessible_name("new name of the view");
        let enters = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        if ui.button("Rename").on_hover_text("Renames the view").clicked() || enters {
            state.files.bookmarks.rename();
        }
        return;
    }
    let name = egui::Button::new(&bookmark.name).truncate();
    let go = ui.add_sized(
        [70.0_f32.min(ui.available_width()), ui.spacing().interact_size.y],
        name,
    );
    if go.on_hover_text("Goes to this view").clicked() {
        state.go_to_bookmark(index);
    }
    if ui
        .small_button("copy")
        .on_hover_text("Copies the view as --eye, --target and --fov")
        .clicked()
    {
        ui.ctx().copy_text(bookmark.options());
        state.notify("copied --eye, --target and --fov");
    }
    if ui
        .small_button("rename")
        .on_hover_text("Renames this view")
        .clicked()
    {
        state.files.bookmarks.renames = Some((index, bookmark.name.clone()));
    }
    if ui
        .small_button("delete")
        .on_hover_text("Deletes this view")
        .clicked()
    {
        state.files.bookmarks.delete(index);
    }
}
