//! Card of the selection and measurement, and measured lengths that are drawn over the picture.

use crate::{
    app::{
        camera::projector::Projector,
        input::keys::Action,
        inspect::{
            measure::{Snap, metres},
            selection::{Gap, Rows, gap_rows, mesh_name, rows},
        },
        state::State,
        ui::{
            facts::Facts,
            floating::{MARGINS, wide},
            style::{accent, card, digits, line},
        },
    },
    scene::mesh_distance::MeshDistance,
};
use egui::{
    Align, Align2, Area, Color32, Context, FontId, Id, LayerId, Layout, Order, Painter, Pos2, Rect, RichText,
    Shape, Stroke, Ui, Vec2,
};
use glam::{DVec3, Vec3};

/// Width of the card in points.
const WIDTH: f32 = 270.0;
/// Width of the column of names on the card, in points.
const NAMES: f32 = 68.0;
/// Initial offset of the card from the upper left corner of the viewport, in points. The line of text in the
/// corner stays visible.
const BELOW_CORNER: Vec2 = Vec2::new(10.0, 48.0);
/// Dark colour behind lines and text, so that they stand out on any picture.
const DARK: Color32 = Color32::from_rgba_premultiplied(0, 0, 0, 170);
const LINE: Color32 = Color32::from_rgb(255, 240, 190);
/// Colours of the X, Y and Z axes.
const AXES: [Color32; 3] = [
    Color32::from_rgb(240, 96, 90),
    Color32::from_rgb(120, 210, 100),
    Color32::from_rgb(110, 165, 255),
];

/// Shows the card in `room` and draws measured lengths over `picture`, both in points.
pub(in crate::app) fn show(ctx: &Context, picture: Rect, room: Rect, state: &mut State, facts: &Facts<'_>) {
    if let Some(text) = state.ui.copied.take() {
        ctx.copy_text(text);
    }
    if let Some(view) = &facts.view {
        let size = glam::Vec2::new(picture.width(), picture.height());
        let layer = LayerId::new(Order::Background, Id::unique("measured"));
        let lines = Lines {
            painter: ctx.layer_painter(layer).with_clip_rect(picture),
            projector: Projector::new(view, size),
            origin: picture.min,
        };
        lines.measured(state);
        if let Gap::Known(gap) = &state.inspect.selection.gap {
            lines.gap(gap);
        }
    }
    // A selection that was made in the scene tree is shown by the inspector instead.
    let is_told = state.inspect.outline.is_open && state.inspect.outline.in_tree;
    if !state.inspect.selection.is_empty() && !is_told || state.inspect.measure.is_on {
        floating_card(ctx, room, state);
    }
}

fn floating_card(ctx: &Context, room: Rect, state: &mut State) {
    let room = wide(ctx, room, WIDTH + MARGINS);
    Area::new(Id::unique("selection"))
        .order(Order::Middle)
        .default_pos(room.left_top() + BELOW_CORNER)
        .movable(true)
        .constrain_to(room.shrink(10.0))
        .default_size(room.size())
        .fade_in(false)
        .show(ctx, |ui| {
            card(ui.visuals()).show(ui, |ui| {
                ui.set_width(WIDTH.min(room.width() - MARGINS));
                egui::ScrollArea::vertical()
                    .max_height((room.height() - 130.0).max(30.0))
                    .auto_shrink([false, true])
                    .show(ui, |ui| contents(ui, state));
                buttons(ui, state);
            });
        });
}

fn contents(ui: &mut Ui, state: &State) {
    if let Some(stage) = &state.stage {
        for selected in state.inspect.selection.meshes() {
            title(ui, &mesh_name(&stage.scene, selected.node));
            table(ui, &rows(&stage.scene, selected));
        }
    }
    if state.inspect.selection.meshes().len() > 1 {
        title(ui, "Nearest points");
        table(ui, &gap_rows(&state.inspect.selection.gap));
    }
    if state.inspect.measure.is_on {
        title(ui, "Measure");
        table(ui, &state.inspect.measure.rows());
        let hint = match state.inspect.measure.points().len() {
            0 => "Click the first point",
            1 => "Click the second point",
            2 => "A third point gives the angle",
            _ => "Click to start again",
        };
        ui.label(RichText::new(hint).weak());
    }
}

fn title(ui: &mut Ui, text: &str) {
    line(ui, RichText::new(text).strong().color(accent(ui.visuals())));
}

fn table(ui: &mut Ui, rows: &Rows) {
    for (name, value) in rows {
        ui.horizontal_top(|ui| {
            let size = Vec2::new(NAMES, 0.0);
            ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Min), |ui| {
                ui.set_min_width(NAMES);
                ui.label(RichText::new(*name).weak());
            });
            ui.add(egui::Label::new(digits(value)).wrap());
        });
    }
}

fn buttons(ui: &mut Ui, state: &mut State) {
    let has_mesh = !state.inspect.selection.is_empty();
    let has_hidden = state.stage.as_ref().is_some_and(|stage| !stage.hidden.is_empty());
    let has_points = !state.inspect.measure.points().is_empty();
    let all = [
        (
            has_mesh || has_points,
            "Copy",
            "Copies this card as text",
            Action::CopySelection,
        ),
        (
            has_mesh,
            "Hide",
            "Hides the mesh from view and from rays",
            Action::Hide,
        ),
        (has_mesh, "Isolate", "Hides all other meshes", Action::Isolate),
        (
            has_mesh,
            "Frame",
            "Brings the mesh into view",
            Action::FrameSelection,
        ),
        (has_hidden, "Show all", "Shows all hidden nodes", Action::ShowAll),
        (
            true,
            if state.inspect.measure.is_on {
                "End measuring"
            } else {
                "Measure"
            },
            "Clicks measure the distance between points",
            Action::Measure,
        ),
    ];
    ui.horizontal_wrapped(|ui| {
        for (_, name, tip, action) in all.into_iter().filter(|(shows, ..)| *shows) {
            let tip = format!("{tip}{}", state.ui.keymap.hint(action));
            if ui.button(name).on_hover_text(tip).clicked() {
                state.ui.actions.push(action);
            }
        }
    });
}

/// Painter for world-space geometry in the picture.
struct Lines {
    painter: Painter,
    projector: Projector,
    origin: Pos2,
}

impl Lines {
    fn pos(&self, pixel: glam::Vec2) -> Pos2 {
        self.origin + Vec2::new(pixel.x, pixel.y)
    }

    fn at(&self, point: Vec3) -> Option<Pos2> {
        self.projector.project(point).map(|pixel| self.pos(pixel))
    }

    fn line(&self, ends: [Vec3; 2], width: f32, color: Color32) {
        if let Some(ends) = self.projector.segment(ends) {
            let ends = ends.map(|end| self.pos(end));
            self.painter.line_segment(ends, Stroke::new(width + 2.0, DARK));
            self.painter.line_segment(ends, Stroke::new(width, color));
        }
    }

    /// Draws text above a world-space point.
    fn text(&self, point: Vec3, text: &str, color: Color32) {
        let Some(at) = self.at(point) else { return };
        let font = FontId::proportional(13.0);
        let galley = self.painter.layout_no_wrap(text.to_owned(), font, color);
        let rect = Align2::CENTER_BOTTOM.anchor_size(at - Vec2::new(0.0, 7.0), galley.size());
        self.painter
            .rect_filled(rect.expand2(Vec2::new(5.0, 2.0)), 3.0, DARK);
        self.painter.galley(rect.min, galley, color);
    }

    /// Draws a square at a vertex, a diamond on an edge, and a disc elsewhere.
    fn marker(&self, point: Vec3, snap: Snap) {
        let Some(at) = self.at(point) else { return };
        let around = |corners: [[f32; 2]; 4]| {
            let corner = |[x, y]: [f32; 2]| at + Vec2::new(x, y);
            let stroke = Stroke::new(1.5, DARK);
            Shape::convex_polygon(corners.map(corner).into(), LINE, stroke)
        };
        let shape = match snap {
            Snap::Vertex => around([[-4.0, -4.0], [4.0, -4.0], [4.0, 4.0], [-4.0, 4.0]]),
            Snap::Edge => around([[0.0, -6.0], [6.0, 0.0], [0.0, 6.0], [-6.0, 0.0]]),
            Snap::Surface | Snap::Element => {
                self.painter.circle_filled(at, 5.5, DARK);
                Shape::circle_filled(at, 4.0, LINE)
            }
        };
        self.painter.add(shape);
    }

    fn measured(&self, state: &State) {
        let points = state.inspect.measure.points();
        for (pair, delta) in points.windows(2).zip(state.inspect.measure.deltas()) {
            let [from, to] = [pair[0].position, pair[1].position];
            let mut corner = from;
            for (axis, color) in AXES.into_iter().enumerate() {
                let mut next = corner;
                next[axis] = to[axis];
                if next != corner {
                    self.line([corner, next], 1.2, color);
                }
                corner = next;
            }
            self.line([from, to], 1.8, LINE);
            self.text(from.midpoint(to), &metres(delta.length()), LINE);
        }
        if let (Some(angle), [a, b, c]) = (state.inspect.measure.angle_degrees(), points) {
            let corner = b.position.as_dvec3();
            let arms = [a, c].map(|end| end.position.as_dvec3() - corner);
            self.arc(corner, arms);
            let angle = crate::app::inspect::measure::four_digits(angle);
            self.text(b.position, &format!("{angle}°"), LINE);
        }
        for point in points {
            self.marker(point.position, point.snap);
        }
        if let Some(preview) = state.inspect.measure.preview {
            self.preview(preview.position, preview.snap);
        }
    }

    /// Draws a ring around the point that a click would measure, and the name of its kind.
    fn preview(&self, point: Vec3, snap: Snap) {
        self.marker(point, snap);
        if let Some(at) = self.at(point) {
            self.painter.circle_stroke(at, 10.0, Stroke::new(3.5, DARK));
            self.painter.circle_stroke(at, 10.0, Stroke::new(1.5, LINE));
        }
        self.text(point, snap.name(), LINE);
    }

    /// Draws the arc of the angle between the vectors `a` and `b` from `corner`. Its radius is a quarter of
    /// the shorter vector's length.
    fn arc(&self, corner: DVec3, [a, b]: [DVec3; 2]) {
        const STEPS: u32 = 24;
        let radius = 0.25 * a.length().min(b.length());
        let (x, y) = (a.normalize_or_zero(), b.normalize_or_zero());
        let side = (y - x * x.dot(y)).normalize_or_zero();
        let angle = x.cross(y).length().atan2(x.dot(y));
        let at = |step: u32| {
            let turned = angle * f64::from(step) / f64::from(STEPS);
            let (sin, cos) = turned.sin_cos();
            (corner + radius * (cos * x + sin * side)).as_vec3()
        };
        for step in 0..STEPS {
            self.line([at(step), at(step + 1)], 1.2, LINE);
        }
    }

    fn gap(&self, gap: &MeshDistance) {
        let ends = gap.points.map(|point| point.as_vec3());
        self.line(ends, 1.8, LINE);
        for end in ends {
            self.marker(end, Snap::Surface);
        }
        self.text(ends[0].midpoint(ends[1]), &metres(gap.distance), LINE);
    }
}
