//! Actions of the command palette on the viewer.

use crate::{
    app::{
        files::recent::Recent,
        input::keys::Action,
        palette::{
            channels,
            jump::Jump,
            model::{self, Command, MAX_RECENT, Palette, Row},
        },
        state::State,
    },
    render::Channel,
};

impl State {
    /// Opens the command palette.
    pub(in crate::app) fn open_palette(&mut self, recent: &Recent) {
        let mut rows = model::actions(&self.ui.keymap);
        rows.extend(self.scene_rows());
        rows.extend(self.channel_rows());
        let steps = self.edits.undo.steps().enumerate();
        rows.extend(steps.map(|(index, step)| {
            let note = match index {
                0 => "the last step".to_owned(),
                index => format!("{} steps", index + 1),
            };
            Row::new("undo", step, note, Command::Undo(index + 1))
        }));
        let looks = self.files.looks.all().into_iter();
        rows.extend(looks.map(|name| Row::new("look", name.clone(), "", Command::Look(name))));
        rows.extend(model::recent(recent));
        rows.extend(model::settings(&self.config));
        let recent = self.ui.layout.recent_commands.clone();
        self.ui.palette = Some(Palette::new(rows, recent, &self.config, &self.edits.initial));
    }

    /// Returns rows of the scene's clips, cameras and variants.
    fn scene_rows(&self) -> Vec<Row> {
        let Some(stage) = &self.stage else {
            return Vec::new();
        };
        let now = |is_now: bool| if is_now { "now" } else { "" };
        let mut rows = Vec::new();
        let mut add = |section, name: String, is_now, action| {
            rows.push(Row::new(section, name, now(is_now), Command::Action(action)));
        };
        let count = stage.scene.clips.len();
        for clip in (0..count).map(Some).chain((count > 0).then_some(None)) {
            let is_now = clip == stage.clip;
            add("clip", stage.clip_name(clip), is_now, Action::Clip(clip));
        }
        for camera in 0..stage.scene.cameras.len() {
            let is_now = self.camera_of_file() == Some(camera);
            add(
                "camera",
                stage.camera_name(camera),
                is_now,
                Action::Camera(camera),
            );
        }
        let count = stage.scene.variants.len();
        for variant in (0..count).map(Some).chain((count > 0).then_some(None)) {
            let name = match variant.and_then(|index| stage.scene.variants.get(index)) {
                Some(name) if !name.is_empty() => name.clone(),
                _ => variant.map_or("none".into(), |index| format!("variant {index}")),
            };
            let is_now = variant == stage.variant;
            add("variant", name, is_now, Action::Variant(variant));
        }
        rows
    }

    /// Returns rows of all channels.
    fn channel_rows(&self) -> impl Iterator<Item = Row> {
        Channel::ALL.into_iter().map(|channel| {
            let note = if channel == self.picture.channel {
                "now"
            } else {
                ""
            };
            let command = Command::Action(Action::Channel(channel));
            let mut row = Row::new("channel", channels::title(channel), note, command);
            let words = [channels::synonyms(channel), channels::meaning(channel)];
            row.about = words.join(" ");
            row
        })
    }

    /// Runs the command of a row and adds it to the recent commands.
    pub(in crate::app) fn run_command(&mut self, row: Row) {
        self.ui.palette = None;
        let recent = &mut self.ui.layout.recent_commands;
        let label = row.label();
        // The number of undo steps would have another meaning next time.
        if !matches!(row.command, Command::Undo(_) | Command::Show(_)) {
            recent.retain(|other| *other != label);
            recent.insert(0, label);
            recent.truncate(MAX_RECENT);
        }
        match row.command {
            Command::Action(action) => self.ui.actions.push(action),
            // The palette itself shows the values.
            Command::Setting(_) => {}
            Command::Show(key) => {
                self.ui.panel = true;
                self.ui.jump = Some(Jump::to(key));
            }
            Command::Set(text) => self.set_by_hand(&text),
            Command::Undo(count) => self.undo(count, false),
            Command::Look(name) => self.apply_look(&name),
            Command::Open(opened) => self.files.opens = Some(opened),
        }
    }

    /// Sets a key from `KEY=VALUE`. Shows its value or the error.
    pub(in crate::app) fn set_by_hand(&mut self, text: &str) {
        let before = self.config.clone();
        match self.config.set_text("palette", text) {
            Ok(key) => {
                self.follow_settings(&before);
                let value = model::value_text(&self.config, &key);
                let later = match key.split('.').next() {
                    Some("gpu") => " (applies at the next start)",
                    _ if key == "window.size" => " (applies at the next start)",
                    Some("load") => " (reloads the files)",
                    _ => "",
                };
                self.notify(format!("{key}: {value}{later}"));
            }
            Err(error) => self.fail("The setting was not changed", error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn channels_are_found_by_name_and_by_synonym() {
        let mut state = State::new(Config::default());
        state.open_palette(&Recent::default());
        let palette = state.ui.palette.as_mut().unwrap();
        for (typed, channel) in [
            ("heat", Channel::Cost),
            ("normal", Channel::Normal),
            ("ao", Channel::Ambient),
            ("depth", Channel::Depth),
            ("velocity", Channel::Motion),
        ] {
            palette.text = typed.into();
            palette.find();
            let found = palette.rows().iter().take(3).map(|row| &row.command);
            let wanted = Command::Action(Action::Channel(channel));
            let found: Vec<_> = found.collect();
            assert!(found.contains(&&wanted), "{typed}: {found:?}");
        }
    }
}
