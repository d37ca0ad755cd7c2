//! Finds faults in egui layouts: text that is cut off, overlaps or lacks glyphs, and widgets that overlap or
//! have no tooltip.

use egui::{Context, Event, FullOutput, LayerId, Order, Pos2, RawInput, Rect, Shape, Ui, vec2};
use std::sync::Arc;

/// Differences in points that are rounding to pixels rather than faults.
const TOLERANCE: f32 = 1.5;

/// A painted text and its clip rectangle.
struct PaintedText {
    galley: Arc<egui::Galley>,
    rect: Rect,
    clip: Rect,
}

/// A user interface that can be run repeatedly in a window of a fixed size.
pub(in crate::app) struct Run<'a> {
    ctx: Context,
    size: [f32; 2],
    pixels_per_point: f32,
    seconds: f64,
    /// Accessibility tree of the last frame.
    told: Option<egui::accesskit::TreeUpdate>,
    show: &'a mut dyn FnMut(&mut Ui),
}

impl<'a> Run<'a> {
    /// Creates a window of `size` logical pixels.
    pub(in crate::app) fn new(
        ctx: Context,
        size: [f32; 2],
        pixels_per_point: f32,
        show: &'a mut dyn FnMut(&mut Ui),
    ) -> Self {
        // Tooltips must appear at once.
        ctx.all_styles_mut(|style| {
            style.interaction.tooltip_delay = 0.0;
            style.interaction.show_tooltips_only_when_still = false;
        });
        Self {
            seconds: ctx.input(|input| input.time),
            ctx,
            size,
            pixels_per_point,
            told: None,
            show,
        }
    }

    /// Runs a frame and calls `look` before it ends.
    fn frame<R>(&mut self, events: Vec<Event>, mut look: impl FnMut(&Context) -> R) -> Option<R> {
        self.seconds += 0.4;
        let zoom = self.ctx.zoom_factor();
        let size = vec2(self.size[0], self.size[1]) / zoom;
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
            time: Some(self.seconds),
            events,
            ..RawInput::default()
        };
        let viewport = input.viewports.get_mut(&egui::ViewportId::ROOT)?;
        viewport.native_pixels_per_point = Some(self.pixels_per_point);
        let mut seen = None;
        let mut output: FullOutput = self.ctx.run_ui(input, |ui| {
            (self.show)(ui);
            seen = Some(look(ui.ctx()));
        });
        self.told = output.platform_output.accesskit_update.take();
        output.drop_without_applying_deltas();
        seen
    }

    /// Runs frames until sizes, folds and scrolling have settled, and returns the remaining faults. Text that
    /// contains one of `long` may be shortened.
    pub(in crate::app) fn faults(&mut self, long: &[&str]) -> Vec<String> {
        for _ in 0..4 {
            self.frame(Vec::new(), |_| ());
        }
        let look = |ctx: &Context| {
            let mut faults = overlaps_of_widgets(ctx);
            for layer in layers(ctx) {
                let texts = texts(ctx, layer);
                faults.extend(texts.iter().flat_map(|text| faults_of_text(ctx, text, long)));
                faults.extend(overlaps_of_texts(&texts));
            }
            faults
        };
        self.frame(Vec::new(), look).unwrap_or_default()
    }

    /// Returns the widgets that show no tooltip while the pointer is over them.
    pub(in crate::app) fn without_tooltip(&mut self) -> Vec<String> {
        for _ in 0..4 {
            self.frame(Vec::new(), |_| ());
        }
        let widgets = self.frame(Vec::new(), interactive).unwrap_or_default();
        let mut without = Vec::new();
        for (_, rect) in widgets {
            let at = rect.center();
            let moved = || vec![Event::PointerMoved(at)];
            self.frame(moved(), |_| ());
            let mut is_shown = || self.frame(Vec::new(), has_tooltip).unwrap_or(false);
            if !is_shown() && !is_shown() {
                let texts = self.frame(Vec::new(), |ctx| text_at(ctx, rect));
                without.push(format!("{:?} at {rect}", texts.unwrap_or_default()));
            }
        }
        without
    }

    /// Returns the focusable controls without an accessible name.
    pub(in crate::app) fn unnamed(&mut self) -> Vec<String> {
        self.ctx.enable_accesskit();
        for _ in 0..4 {
            self.frame(Vec::new(), |_| ());
        }
        let focusable = self.frame(Vec::new(), focusable).unwrap_or_default();
        let nodes = self.told.take().map(|told| told.nodes).unwrap_or_default();
        let named = |id: egui::Id| {
            let node = nodes.iter().find(|(known, _)| *known == id.accesskit_id());
            node.is_some_and(|(_, node)| {
                let has_label = node.label().is_some_and(|label| !label.trim().is_empty());
                has_label || !node.labelled_by().is_empty()
            })
        };
        let without = focusable.into_iter().filter(|(id, _)| !named(*id));
        let without: Vec<Rect> = without.map(|(_, rect)| rect).collect();
        let tell = |ctx: &Context| -> Vec<String> {
            let at = |rect: &Rect| format!("{:?} at {rect}", text_at(ctx, *rect));
            without.iter().map(at).collect()
        };
        self.frame(Vec::new(), tell).unwrap_or_default()
    }

    /// Returns all accessible names.
    pub(in crate::app) fn names(&mut self) -> Vec<String> {
        self.ctx.enable_accesskit();
        self.frame(Vec::new(), |_| ());
        self.frame(Vec::new(), |_| ());
        let nodes = self.told.take().map(|told| told.nodes).unwrap_or_default();
        let label = |(_, node): (_, egui::accesskit::Node)| node.label().map(ToOwned::to_owned);
        nodes.into_iter().filter_map(label).collect()
    }

    /// Returns the controls that Tab does not reach, and true if it returns to its start.
    pub(in crate::app) fn out_of_reach(&mut self) -> (Vec<String>, bool) {
        for _ in 0..4 {
            self.frame(Vec::new(), |_| ());
        }
        let all = self.frame(Vec::new(), focusable).unwrap_or_default();
        let mut reached = Vec::new();
        let mut comes_back = false;
        for _ in 0..2 * all.len() + 4 {
            self.press(egui::Key::Tab);
            let Some(focused) = self.ctx.memory(|memory| memory.focused()) else {
                continue;
            };
            if reached.first() == Some(&focused) {
                comes_back = true;
                break;
            }
            reached.push(focused);
        }
        let left: Vec<Rect> = all
            .iter()
            .filter(|(id, _)| !reached.contains(id))
            .map(|(_, rect)| *rect)
            .collect();
        let tell = |ctx: &Context| -> Vec<String> {
            let at = |rect: &Rect| format!("{:?} at {rect}", text_at(ctx, *rect));
            left.iter().map(at).collect()
        };
        (self.frame(Vec::new(), tell).unwrap_or_default(), comes_back)
    }

    /// Returns all shown texts.
    pub(in crate::app) fn texts(&mut self) -> Vec<String> {
        let all = |ctx: &Context| -> Vec<String> {
            let of = |layer| texts(ctx, layer);
            let texts = layers(ctx).into_iter().flat_map(of);
            texts.map(|text| text.galley.text().to_owned()).collect()
        };
        self.frame(Vec::new(), all).unwrap_or_default()
    }

    /// Returns the rectangle of a shown text.
    pub(in crate::app) fn find(&mut self, wanted: &str) -> Option<Rect> {
        let look = |ctx: &Context| {
            let of = |layer| texts(ctx, layer);
            let mut all = layers(ctx).into_iter().flat_map(of);
            all.find(|text| text.galley.text() == wanted)
                .map(|text| text.rect.intersect(text.clip))
        };
        self.frame(Vec::new(), look).flatten()
    }

    /// Moves the pointer, and returns all texts that are then shown, including tooltips.
    pub(in crate::app) fn hover(&mut self, at: Pos2) -> Vec<String> {
        self.frame(vec![Event::PointerMoved(at)], |_| ());
        self.frame(Vec::new(), |_| ());
        self.texts()
    }

    /// Moves the pointer to `at` and turns the wheel by `points`.
    pub(in crate::app) fn wheel(&mut self, at: Pos2, points: f32) {
        self.frame(vec![Event::PointerMoved(at)], |_| ());
        let wheel = Event::MouseWheel {
            source: egui::MouseWheelSource::Wheel,
            unit: egui::MouseWheelUnit::Point,
            delta: vec2(0.0, points),
            phase: egui::TouchPhase::Move,
            modifiers: egui::Modifiers::NONE,
        };
        self.frame(vec![wheel], |_| ());
        for _ in 0..8 {
            self.frame(Vec::new(), |_| ());
        }
    }

    /// Drags with the left button.
    pub(in crate::app) fn drag(&mut self, from: Pos2, to: Pos2) {
        let button = |pos, pressed| Event::PointerButton {
            pos,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: egui::Modifiers::NONE,
        };
        self.frame(vec![Event::PointerMoved(from)], |_| ());
        self.frame(vec![button(from, true)], |_| ());
        self.frame(vec![Event::PointerMoved(from.lerp(to, 0.5))], |_| ());
        self.frame(vec![Event::PointerMoved(to)], |_| ());
        self.frame(vec![button(to, false)], |_| ());
    }

    /// Types text.
    pub(in crate::app) fn write(&mut self, text: &str) {
        self.frame(vec![Event::Text(text.into())], |_| ());
        self.frame(Vec::new(), |_| ());
    }

    /// Presses and releases a key.
    pub(in crate::app) fn press(&mut self, key: egui::Key) {
        let event = |pressed| Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: egui::Modifiers::NONE,
        };
        self.frame(vec![event(true), event(false)], |_| ());
        self.frame(Vec::new(), |_| ());
    }

    /// Clicks `count` times in a row.
    pub(in crate::app) fn click(&mut self, at: Pos2, count: usize) {
        self.frame(vec![Event::PointerMoved(at)], |_| ());
        // The clicks of a double click follow each other faster than other frames.
        for _ in 0..count {
            self.seconds -= 0.3;
            let button = |pressed| Event::PointerButton {
                pos: at,
                button: egui::PointerButton::Primary,
                pressed,
                modifiers: egui::Modifiers::NONE,
            };
            self.frame(vec![button(true), button(false)], |_| ());
        }
        self.frame(Vec::new(), |_| ());
    }
}

fn layers(ctx: &Context) -> Vec<LayerId> {
    ctx.memory(|memory| memory.layer_ids().collect())
}

fn has_tooltip(ctx: &Context) -> bool {
    let visible = ctx.memory(|memory| memory.areas().visible_layer_ids());
    visible.iter().any(|layer| layer.order == Order::Tooltip)
}

/// Returns the texts of a layer.
fn texts(ctx: &Context, layer: LayerId) -> Vec<PaintedText> {
    let mut texts = Vec::new();
    ctx.graphics(|graphics| {
        let entries = graphics
            .get(layer)
            .into_iter()
            .flat_map(|list| list.all_entries());
        for entry in entries {
            collect(&entry.shape, entry.clip_rect, &mut texts);
        }
    });
    texts
}

fn collect(shape: &Shape, clip: Rect, texts: &mut Vec<PaintedText>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, clip, texts)),
        Shape::Text(text) => texts.push(PaintedText {
            galley: text.galley.clone(),
            rect: text.galley.rect.translate(text.pos.to_vec2()),
            clip,
        }),
        _ => {}
    }
}

fn faults_of_text(ctx: &Context, text: &PaintedText, long: &[&str]) -> Vec<String> {
    let PaintedText { galley, rect, clip } = text;
    let mut faults = Vec::new();
    let shown = galley.text();
    if galley.elided && !long.iter().any(|long| shown.contains(long)) {
        faults.push(format!("{shown:?} is shortened"));
    }
    let room = clip.intersect(ctx.content_rect());
    let is_seen = rect.intersects(room);
    let is_inside = rect.left() > room.left() - TOLERANCE && rect.right() < room.right() + TOLERANCE;
    if is_seen && !is_inside {
        faults.push(format!("{shown:?} at {rect} is cut off by {room}"));
    }
    for section in &galley.job.sections {
        let lacks = |c: &char| {
            !c.is_control() && !ctx.fonts_mut(|fonts| fonts.has_glyph(&section.format.font_id, *c))
        };
        let missing: String = shown.chars().filter(lacks).collect();
        if !missing.is_empty() {
            faults.push(format!("{shown:?}: the font lacks {missing:?}"));
        }
    }
    faults
}

fn overlap(a: Rect, b: Rect) -> bool {
    let common = a.intersect(b);
    common.width() > TOLERANCE && common.height() > TOLERANCE
}

fn overlaps_of_texts(texts: &[PaintedText]) -> Vec<String> {
    let seen = |text: &PaintedText| text.rect.intersect(text.clip);
    let mut faults = Vec::new();
    for (index, a) in texts.iter().enumerate() {
        for b in &texts[..index] {
            if overlap(seen(a), seen(b)) {
                faults.push(format!("{:?} overlaps {:?}", a.galley.text(), b.galley.text()));
            }
        }
    }
    faults
}

/// Returns the clickable and draggable widgets with their visible rectangles. Containers such as scroll areas
/// are left out.
fn interactive(ctx: &Context) -> Vec<(LayerId, Rect)> {
    let widgets = ctx.viewport(|viewport| viewport.this_pass.widgets.clone());
    let mut found: Vec<(LayerId, Rect)> = Vec::new();
    for (layer, widgets) in widgets.layers() {
        let area = ctx.memory(|memory| memory.area_rect(layer.id));
        let seen =
            |widget: &&egui::WidgetRect| widget.sense.interactive() && widget.interact_rect.is_positive();
        let all: Vec<Rect> = widgets.iter().filter(seen).map(|w| w.interact_rect).collect();
        let is_area =
            |rect: &Rect| area.is_some_and(|area| (area.size() - rect.size()).abs().max_elem() < TOLERANCE);
        let holds = |rect: &Rect| {
            let inside = |other: &&Rect| *other != rect && rect.contains_rect(**other);
            all.iter().filter(inside).count() > 1
        };
        // Scroll bars and resize handles are narrow.
        let is_widget = |rect: &&Rect| rect.width() > 10.0 && rect.height() > 10.0;
        let widgets = all.iter().filter(is_widget);
        let widgets = widgets.filter(|rect| !holds(rect) && !is_area(rect));
        found.extend(widgets.map(|rect| (*layer, *rect)));
    }
    found
}

/// Returns the focusable controls.
fn focusable(ctx: &Context) -> Vec<(egui::Id, Rect)> {
    let widgets = ctx.viewport(|viewport| viewport.this_pass.widgets.clone());
    let mut found = Vec::new();
    for (_, widgets) in widgets.layers() {
        let able = widgets
            .iter()
            .filter(|widget| widget.enabled && widget.sense.is_focusable());
        found.extend(able.map(|widget| (widget.id, widget.rect)));
    }
    found
}

fn overlaps_of_widgets(ctx: &Context) -> Vec<String> {
    let all = interactive(ctx);
    let mut faults = Vec::new();
    for (index, (layer, a)) in all.iter().enumerate() {
        for (other, b) in &all[..index] {
            // Equal rectangles belong to one widget with two interactions.
            if layer == other && a != b && overlap(*a, *b) {
                let names = [text_at(ctx, *a), text_at(ctx, *b)];
                faults.push(format!("the widgets {names:?} at {a} and {b} overlap"));
            }
        }
    }
    faults
}

fn text_at(ctx: &Context, rect: Rect) -> String {
    let of = |layer| texts(ctx, layer);
    let all = layers(ctx).into_iter().flat_map(of);
    let inside = all.filter(|text| overlap(text.rect, rect));
    inside
        .map(|text| text.galley.text().to_owned())
        .collect::<Vec<_>>()
        .join(", ")
}
