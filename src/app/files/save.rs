//! Saves files to paths that the user chooses.

use crate::{
    app::{
        files::{
            pictures::{self, shown_path},
            unsaved::{Place, Unsaved},
        },
        viewer::Viewer,
    },
    config::looks,
    output,
};

/// Opens a dialog for the path of `unsaved`. [`answered_where_to_save`] handles its result. If a dialog is
/// already open or seems to be, the file is written to its fallback path instead.
pub(in crate::app) fn ask_to_save(viewer: &mut Viewer, unsaved: Unsaved) {
    let left = viewer.dialogs.ask_to_save(&viewer.window, &viewer.waker, unsaved);
    match left {
        None => viewer.state.notify("opening the system's file dialog"),
        Some(unsaved) => save_at(viewer, &unsaved, Place::NoDialog),
    }
}

/// Handles the result of a save dialog: writes the file, unless the user has cancelled.
pub(in crate::app) fn answered_where_to_save(viewer: &mut Viewer, unsaved: &Unsaved, place: Place) {
    viewer.dialogs.answered();
    save_at(viewer, unsaved, place);
}

fn save_at(viewer: &mut Viewer, unsaved: &Unsaved, place: Place) {
    let path = match unsaved.target(place) {
        Ok(path) => path,
        Err(why) => return viewer.state.notify(why),
    };
    match output::write(&path, &unsaved.bytes) {
        Ok(()) => {
            let text = format!("{}saved {}", unsaved.note, shown_path(&path));
            viewer.state.notify(text);
        }
        Err(error) => {
            let headline = format!("{} could not be saved", unsaved.what);
            viewer.state.fail(headline, error.to_string());
        }
    }
}

/// Saves the current settings as a look at a path that the user chooses.
pub(in crate::app) fn export_look(viewer: &mut Viewer) {
    let name = match viewer.state.files.looks.name.trim() {
        "" => "look",
        name => name,
    };
    let fallback_path = pictures::new_path(name, "toml");
    let file = looks::file_name(name).unwrap_or_else(|| "look.toml".into());
    ask_to_save(
        viewer,
        Unsaved {
            what: "the look",
            bytes: looks::text(&viewer.state.config).into_bytes(),
            note: String::new(),
            // The file name becomes the name of the look, so it is preferred to one with the time.
            fallback_path: match fallback_path.with_file_name(&file) {
                taken if taken.exists() => fallback_path,
                free => free,
            },
        },
    );
}
