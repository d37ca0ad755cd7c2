//! Writing files where the person says.

use crate::{
    app::{
        files::{
            pictures::{self, told},
            unsaved::{Place, Unsaved},
        },
        viewer::Viewer,
    },
    config::looks,
    output,
};

impl Viewer {
    /// Asks where `unsaved` is to be, and writes it there: [`Viewer::save_at`] follows. While a dialog is
    /// open, or the system takes its time, it is written beside the pictures.
    pub(in crate::app) fn ask_to_save(&mut self, unsaved: Unsaved) {
        let left = self.dialogs.ask_to_save(&self.window, &self.waker, unsaved);
        match left {
            None => self.state.notify("the system's file dialog opens"),
            Some(unsaved) => self.save_at(&unsaved, Place::NoDialog),
        }
    }

    /// The answer of a dialog has come.
    pub(in crate::app) fn answered_where_to_save(&mut self, unsaved: &Unsaved, place: Place) {
        self.dialogs.answered();
        self.save_at(unsaved, place);
    }

    fn save_at(&mut self, unsaved: &Unsaved, place: Place) {
        let path = match unsaved.target(place) {
            Ok(path) => path,
            Err(why) => return self.state.notify(why),
        };
        match output::write(&path, &unsaved.bytes) {
            Ok(()) => {
                let text = format!("{}saved {}", unsaved.note, told(&path));
                self.state.notify(text);
            }
            Err(error) => {
                let headline = format!("{} could not be saved", unsaved.what);
                self.state.fail(headline, error.to_string());
            }
        }
    }

    /// Saves the settings of now as a look, where the person says.
    pub(in crate::app) fn export_look(&mut self) {
        let name = match self.state.files.looks.name.trim() {
            "" => "look",
            name => name,
        };
        let unasked = pictures::new_path(name, "toml");
        let file = looks::file_name(name).unwrap_or_else(|| "look.toml".into());
        self.ask_to_save(Unsaved {
            what: "the look",
            bytes: looks::text(&self.state.config).into_bytes(),
            note: String::new(),
            // The look is named by its file.
            unasked: match unasked.with_file_name(&file) {
                taken if taken.exists() => unasked,
                free => free,
            },
        });
    }
}
