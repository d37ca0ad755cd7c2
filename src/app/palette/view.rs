//! View of the command palette, above everything else.

use crate::app::{
    palette::model::{Palette, Row},
    state::State,
    ui::style::card,
};
use egui::{
    Align, Context, Id, Key, Label, Layout, Modal, Modifiers, RichText, Role, ScrollArea, TextEdit, Ui, Vec2,
    WidgetInfo,
};

/// Minimum size in points. The window may be smaller for a moment.
const MIN_SIZE: Vec2 = Vec2::new(160.0, 100.0);

/// Maximum width in points.
const WIDTH: f32 = 620.0;

/// Maximum height of the list in points.
const LIST_HEIGHT: f32 = 420.0;

/// Number of rows that Page Up and Page Down move by.
const PAGE: isize = 10;

/// Row width in points below which only the name is shown.
const NARROW: f32 = 360.0;

/// Width of the kind column in points.
const SECTION_WIDTH: f32 = 84.0;

/// Shows the palette while it is open, and runs the chosen command.
pub(in crate::app) fn show(ctx: &Context, state: &mut State) {
    let Some(palette) = &mut state.ui.palette else {
        return;
    };
    let window = ctx.content_rect().size();
    let size = Vec2::new(window.x - 48.0, window.y - 32.0).clamp(MIN_SIZE, Vec2::new(WIDTH, f32::MAX));
    let frame = card(&ctx.global_style().visuals);
    let mut chosen = None;
    let shown = Modal::new(Id::unique("palette")).frame(frame).show(ctx, |ui| {
        ui.set_width(size.x);
        ui.set_max_height(size.y - 24.0);
        chosen = contents(ui, palette);
    });
    let closes = chosen.is_some() || shown.should_close();
    if closes {
        state.ui.palette = None;
        // Releases the focus for the next dialog.
        ctx.memory_mut(|memory| {
            if let Some(field) = memory.focused() {
                memory.surrender_focus(field);
            }
        });
    }
    if let Some(row) = chosen {
        state.run_command(row);
    }
}

fn contents(ui: &mut Ui, palette: &mut Palette) -> Option<Row> {
    // Keys are taken before the field can consume them.
    let (step, completes, accepts) = keys(ui);
    field(ui, palette);
    palette.find();
    if step != 0 {
        palette.step(step);
    }
    if completes {
        palette.complete();
    }
    let accepted = accepts.then(|| palette.accept()).flatten();
    let clicked = list(ui, palette);
    let remark = match palette.fault() {
        Some(fault) => RichText::new(fault).small().color(ui.visuals().warn_fg_color),
        None => {
            let keys = match ui.available_width() < NARROW {
                true => "Enter runs it, Esc closes",
                false => "Enter runs it, Tab completes, Esc closes. “shadows.mode rays” sets a setting",
            };
            RichText::new(keys).small().weak()
        }
    };
    ui.add(Label::new(remark).truncate());
    accepted.or(clicked)
}

/// Consumes the list's keys before the text field sees them. Returns the number of rows to move down, true to
/// complete the text, and true to run the selected row.
fn keys(ui: &Ui) -> (isize, bool, bool) {
    // In its first frame the field does not accept text yet.
    let is_ready = !ui.is_sizing_pass();
    let pressed = |key| is_ready && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let steps = [
        (Key::ArrowUp, -1),
        (Key::ArrowDown, 1),
        (Key::PageUp, -PAGE),
        (Key::PageDown, PAGE),
    ];
    let steps = steps.into_iter().filter(|(key, _)| pressed(*key));
    (
        steps.map(|(_, step)| step).sum(),
        pressed(Key::Tab),
        pressed(Key::Enter),
    )
}

fn field(ui: &mut Ui, palette: &mut Palette) {
    let id = ui.make_persistent_id("command");
    let length = palette.text.chars().count();
    // After a completion the cursor would stay in the middle of the text.
    let known = ui.data(|data| data.get_temp::<usize>(id));
    if known.is_some_and(|known| known != length)
        && let Some(mut edit) = TextEdit::load_state(ui.ctx(), id)
    {
        let end = egui::text::CCursorRange::one(egui::text::CCursor::new(length));
        edit.cursor.set_char_range(Some(end));
        TextEdit::store_state(ui.ctx(), id, edit);
    }
    let field = TextEdit::singleline(&mut palette.text)
        .id(id)
        .desired_width(f32::INFINITY)
        .hint_text("type an action, or a setting and its value")
        // Tab completes the text instead of moving the focus.
        .lock_focus(true);
    // The focus is requested before the field is shown, so that it accepts text in the first frame.
    ui.memory_mut(|memory| memory.request_focus(id));
    ui.add(field).accessible_name("command");
    let length = palette.text.chars().count();
    ui.data_mut(|data| data.insert_temp(id, length));
}

/// Draws the visible rows. Returns the clicked one.
fn list(ui: &mut Ui, palette: &mut Palette) -> Option<Row> {
    let row_height = ui.spacing().interact_size.y;
    let remark_height = ui.text_style_height(&egui::TextStyle::Small) + 8.0;
    let height = (ui.available_height() - remark_height).clamp(3.0 * row_height, LIST_HEIGHT);
    let mut area = ScrollArea::vertical()
        .auto_shrink(false)
        .max_height(height)
        .id_salt("commands");
    if std::mem::take(&mut palette.follows) {
        // Centres the selected row as far as the list allows.
        let step = row_height + ui.spacing().item_spacing.y;
        let top = (palette.selected() as f32 + 0.5) * step - 0.5 * height;
        area = area.vertical_scroll_offset(top.max(0.0));
    }
    let mut clicked = None;
    area.show_rows(ui, row_height, palette.rows().len(), |ui, range| {
        for index in range {
            let row = &palette.rows()[index];
            if row_button(ui, row, index == palette.selected(), row_height) {
                clicked = Some(index);
            }
        }
        if palette.rows().is_empty() {
            ui.weak("nothing matches");
        }
    });
    clicked.and_then(|index| palette.choose(index))
}

/// Draws a row of the list. Returns true if it was clicked.
fn row_button(ui: &mut Ui, row: &Row, is_selected: bool, height: f32) -> bool {
    let size = Vec2::new(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::click());
    let hint = match row.note.is_empty() {
        true => row.label(),
        false => format!("{}, {}", row.label(), row.note),
    };
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_selected, &hint));
    let visuals = ui.style().interact_selectable(&response, is_selected);
    if is_selected || response.hovered() {
        ui.painter().rect_filled(rect, 3.0, visuals.weak_bg_fill);
    }
    let inside = rect.shrink2(Vec2::new(6.0, 0.0));
    let builder = egui::UiBuilder::new().max_rect(inside);
    let mut line = ui.new_child(builder.layout(Layout::left_to_right(Align::Center)));
    line.set_max_width(inside.width());
    let part = |ui: &mut Ui, width: f32, text: RichText| {
        let size = Vec2::new(width, height);
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(width);
            ui.add(Label::new(text).truncate().selectable(false));
        });
    };
    let name = RichText::new(&row.name).color(visuals.text_color());
    if inside.width() < NARROW {
        part(&mut line, inside.width(), name);
        return response.on_hover_text(hint).clicked();
    }
    let section = RichText::new(row.section).small().color(visuals.text_color());
    part(&mut line, SECTION_WIDTH, section);
    part(
        &mut line,
        inside.width() * if row.note.is_empty() { 0.7 } else { 0.5 },
        name,
    );
    line.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let note = RichText::new(&row.note).small().color(visuals.text_color());
        ui.add(Label::new(note).truncate().selectable(false));
    });
    response.on_hover_text(hint).clicked()
}
