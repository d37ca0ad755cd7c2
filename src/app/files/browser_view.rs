//! Modal dialog of the built-in file browser.

use crate::app::{
    files::browser::{Browser, Choice, Kind, Row},
    ui::style::card,
};
use egui::{Align, Key, Label, Layout, Modal, Modifiers, RichText, ScrollArea, TextEdit, Ui, Vec2};
use std::path::Path;

/// Minimum size in logical pixels, even if the window is smaller.
const MIN_SIZE: Vec2 = Vec2::new(160.0, 100.0);

/// Maximum width in logical pixels.
const WIDTH: f32 = 620.0;

/// Maximum height of the list in logical pixels.
const LIST_HEIGHT: f32 = 420.0;

/// Number of rows that Page Up and Page Down move by.
const PAGE: isize = 10;

/// Creates callbacks that request a redraw of the window.
pub(in crate::app) type Wakes<'a> = &'a dyn Fn() -> Box<dyn FnOnce() + Send>;

/// Response of the user to the browser.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::app) enum Answer {
    /// The browser stays open.
    None,
    Close,
    /// Another kind of file to browse for.
    Switch(Kind),
    Choose(Choice),
}

/// Shows the browser and returns the user's response.
pub(in crate::app) fn show(ctx: &egui::Context, browser: &mut Browser, wakes: Wakes<'_>) -> Answer {
    browser.poll();
    let window = ctx.content_rect().size();
    // The layout needs a minimum size, although the window may be tiny for a moment while it is resized.
    let size = Vec2::new(window.x - 48.0, window.y - 32.0).clamp(MIN_SIZE, Vec2::new(WIDTH, f32::MAX));
    // Unlike other cards, this one is opaque.
    let visuals = &ctx.global_style().visuals;
    let frame = card(visuals).fill(visuals.window_fill);
    let modal = Modal::new(egui::Id::unique("browser")).frame(frame);
    let mut answer = Answer::None;
    let shown = modal.show(ctx, |ui| {
        ui.set_width(size.x);
        ui.set_max_height(size.y - 24.0);
        answer = contents(ui, browser, wakes);
    });
    if shown.should_close() && answer == Answer::None {
        answer = Answer::Close;
    }
    answer
}

fn contents(ui: &mut Ui, browser: &mut Browser, wakes: Wakes<'_>) -> Answer {
    // Keys are taken before the path field can consume them.
    let keys = Keys::take(ui);
    let headed = header(ui, browser);
    path_field(ui, browser, wakes);
    let keyed = keys.apply(browser, wakes);
    if let Some(note) = &browser.note {
        ui.label(RichText::new(note).small());
    }
    let folder = RichText::new(browser.folder().display().to_string());
    ui.add(Label::new(folder.small().weak()).truncate())
        .on_hover_text("Current folder");
    let chosen = list(ui, browser, wakes);
    let remark = browser.remark().unwrap_or_else(|| {
        let keys = "Enter opens, Tab completes, Alt+Up goes to the folder above, Esc closes";
        if browser.is_reading() {
            "reading the folder…"
        } else {
            keys
        }
        .to_owned()
    });
    ui.add(Label::new(RichText::new(remark).small().weak()).truncate());
    [keyed, headed]
        .into_iter()
        .find(|answer| *answer != Answer::None)
        .unwrap_or_else(|| chosen.map_or(Answer::None, Answer::Choose))
}

/// Keys pressed in this frame that control the browser instead of the path field.
struct Keys {
    /// Rows to move down, or up if negative.
    step: isize,
    complete: bool,
    up: bool,
    accept: bool,
    close: bool,
}

impl Keys {
    fn take(ui: &Ui) -> Self {
        // In the sizing pass of the first frame the path field does not accept text yet, so keys wait too.
        let is_ready = !ui.is_sizing_pass();
        let pressed = |key| is_ready && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let up = ui.input_mut(|input| input.consume_key(Modifiers::ALT, Key::ArrowUp));
        let steps = [
            (Key::ArrowUp, -1),
            (Key::ArrowDown, 1),
            (Key::PageUp, -PAGE),
            (Key::PageDown, PAGE),
        ];
        let steps = steps.into_iter().filter(|(key, _)| pressed(*key));
        Self {
            step: steps.map(|(_, step)| step).sum(),
            complete: pressed(Key::Tab),
            up,
            accept: pressed(Key::Enter),
            close: pressed(Key::Escape),
        }
    }

    /// Applies the keys. The path field must have been updated before, because on a slow machine text and
    /// Enter may arrive in the same frame.
    fn apply(&self, browser: &mut Browser, wakes: Wakes<'_>) -> Answer {
        if self.step != 0 {
            browser.step(self.step);
        }
        if self.complete {
            browser.complete(wakes());
        }
        if self.up {
            browser.up(wakes());
        }
        browser.accepts |= self.accept;
        if self.close {
            return Answer::Close;
        }
        // Matches are known only once the folder has been read.
        if browser.is_reading() || !std::mem::take(&mut browser.accepts) {
            return Answer::None;
        }
        let chosen = browser.accept(wakes());
        chosen.map_or(Answer::None, Answer::Choose)
    }
}

/// Draws the title, the tabs for the kinds of files, and the close button.
fn header(ui: &mut Ui, browser: &Browser) -> Answer {
    let mut answer = Answer::None;
    ui.horizontal(|ui| {
        ui.label(RichText::new("Open").heading());
        for (kind, name, hint) in [
            (
                Kind::Scenes,
                "scenes",
                "glTF (.gltf, .glb), OBJ and volumes (.vdb, .nvdb, .nrrd, .nii)",
            ),
            (
                Kind::Environments,
                "environments",
                "Environment maps: .hdr, .exr, .ktx2, .dds",
            ),
            (
                Kind::Compared,
                "compare with",
                "A scene to measure the deviation from",
            ),
            (Kind::Edits, "edits", "Saved edits of materials and lights: .json"),
            (
                Kind::Sides,
                "side B",
                "A scene, or a picture (.png, .jpg, .exr, .hdr), to compare with side by side",
            ),
            (Kind::Looks, "looks", "Looks to import: .toml"),
        ] {
            let is_shown = browser.kind() == kind;
            let tab = ui.selectable_label(is_shown, name).on_hover_text(hint);
            if tab.clicked() && !is_shown {
                answer = Answer::Switch(kind);
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui.button("Close").on_hover_text("Esc").clicked() {
                answer = Answer::Close;
            }
        });
    });
    answer
}

fn path_field(ui: &mut Ui, browser: &mut Browser, wakes: Wakes<'_>) {
    let id = ui.make_persistent_id("path");
    let before = browser.text.clone();
    let field = TextEdit::singleline(&mut browser.text)
        .id(id)
        .desired_width(f32::INFINITY)
        .hint_text("type to filter, or a path")
        // Tab completes the path instead of moving the focus.
        .lock_focus(true);
    // The focus is requested before the field is shown, so that it accepts text in the first frame.
    ui.memory_mut(|memory| memory.request_focus(id));
    ui.add(field).accessible_name("path, or text to filter by");
    if browser.text != before {
        browser.edited(wakes());
    }
    // After a completion egui leaves the cursor in the middle of the text, so it is moved to the end.
    let length = browser.text.chars().count();
    let cursor_id = id.with("length");
    let known = ui.data(|data| data.get_temp::<usize>(cursor_id));
    if known.is_some_and(|known| known != length)
        && before == browser.text
        && let Some(mut state) = TextEdit::load_state(ui.ctx(), id)
    {
        let end = egui::text::CCursor::new(length);
        let range = egui::text::CCursorRange::one(end);
        state.cursor.set_char_range(Some(range));
        TextEdit::store_state(ui.ctx(), id, state);
    }
    ui.data_mut(|data| data.insert_temp(cursor_id, length));
}

fn list(ui: &mut Ui, browser: &mut Browser, wakes: Wakes<'_>) -> Option<Choice> {
    let row_height = ui.spacing().interact_size.y;
    let remark_height = ui.text_style_height(&egui::TextStyle::Small) + 8.0;
    let height = (ui.available_height() - remark_height).clamp(3.0 * row_height, LIST_HEIGHT);
    let (mut clicked, follows) = (None, std::mem::take(&mut browser.follows));
    let mut area = ScrollArea::vertical()
        .auto_shrink(false)
        .max_height(height)
        .id_salt("rows");
    if follows {
        // Centres the selected row as far as the list allows.
        let step = row_height + ui.spacing().item_spacing.y;
        let top = (browser.selected() as f32 + 0.5) * step - 0.5 * height;
        area = area.vertical_scroll_offset(top.max(0.0));
    }
    area.show_rows(ui, row_height, browser.rows().len(), |ui, range| {
        for index in range {
            let row = &browser.rows()[index];
            if row_button(ui, row, index == browser.selected(), row_height) {
                clicked = Some(index);
            }
        }
        if browser.rows().is_empty() && !browser.is_reading() {
            ui.weak("nothing matches");
        }
    });
    clicked.and_then(|index| browser.choose(index, wakes()))
}

/// Draws a row of the list. Returns true if it was clicked.
fn row_button(ui: &mut Ui, row: &Row, is_selected: bool, height: f32) -> bool {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let (text, note) = match row {
        Row::Recent(files) => {
            let first = files.first().map(|file| file.as_path()).unwrap_or(Path::new(""));
            let more = match files.len() {
                0 | 1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            let folder = first.parent().unwrap_or(Path::new(""));
            (name(first) + &more, format!("recent, {}", folder.display()))
        }
        Row::Parent => ("..".into(), "folder above".into()),
        Row::Folder(name) => (format!("{name}{}", std::path::MAIN_SEPARATOR), "folder".into()),
        Row::File(name) => (name.clone(), String::new()),
    };
    let size = Vec2::new(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::click());
    let visuals = ui.style().interact_selectable(&response, is_selected);
    if is_selected || response.hovered() {
        ui.painter().rect_filled(rect, 3.0, visuals.weak_bg_fill);
    }
    let inside = rect.shrink2(Vec2::new(6.0, 0.0));
    let mut line = ui.new_child(
        egui::UiBuilder::new()
            .max_rect(inside)
            .layout(Layout::left_to_right(Align::Center)),
    );
    let is_folder = matches!(row, Row::Folder(_) | Row::Parent);
    let text_color = if is_folder {
        ui.visuals().weak_text_color()
    } else {
        visuals.text_color()
    };
    line.set_max_width(inside.width());
    let shown = Label::new(RichText::new(&text).color(text_color)).truncate();
    // The name gets most of the width, and a long folder is truncated.
    let width = if note.is_empty() {
        inside.width()
    } else {
        inside.width() * 0.6
    };
    line.scope(|ui| {
        ui.set_max_width(width);
        ui.add(shown.selectable(false));
    });
    line.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let note = RichText::new(&note).small().weak();
        ui.add(Label::new(note).truncate().selectable(false));
    });
    let hint = if note.is_empty() {
        text
    } else {
        format!("{text}: {note}")
    };
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::ListBoxOption, true, is_selected, &hint));
    response.on_hover_text(hint).clicked()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::files::recent::Recent;

    /// On a slow machine, text and Enter may arrive in one frame before the folder is read. The typed file
    /// must be opened rather than the previously selected one.
    #[test]
    fn enter_accepts_text_typed_in_the_same_frame() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["one.obj", "two.obj"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let mut browser = Browser::new(Kind::Scenes, folder.path(), &Recent::default(), || {});
        let ctx = egui::Context::default();
        let size = Vec2::new(640.0, 400.0);
        let enter = egui::Event::Key {
            key: Key::Enter,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        let typed = vec![egui::Event::Text("two".into()), enter];
        let mut frames = [Vec::new(), typed].into_iter();
        let expected = Answer::Choose(Choice::Scene(vec![folder.path().join("two.obj")]));
        let start = std::time::Instant::now();
        loop {
            let input = egui::RawInput {
                screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size)),
                events: frames.next().unwrap_or_default(),
                ..Default::default()
            };
            let mut answer = Answer::None;
            let mut read = false;
            let output = ctx.run_ui(input, |ui| {
                if answer == Answer::None {
                    answer = show(ui.ctx(), &mut browser, &|| Box::new(|| {}));
                    read = !browser.is_reading();
                }
            });
            output.drop_without_applying_deltas();
            if answer != Answer::None {
                assert_eq!(answer, expected);
                return;
            }
            let is_typed = browser.text == "two";
            assert!(!(read && is_typed), "the folder is read and nothing is opened");
            assert!(start.elapsed().as_secs() < 60);
        }
    }
}
