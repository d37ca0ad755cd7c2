//! Side panels, which become drawers over the picture in narrow windows.

use egui::{Align2, Area, Frame, Id, Order, Panel, Rect, Ui};
use std::ops::RangeInclusive;

/// Window width in points below which panels cover the picture.
pub(in crate::app) const NARROW: f32 = 700.0;

/// A side of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Side {
    Left,
    Right,
}

/// A side panel.
pub(in crate::app) struct Drawer {
    pub(in crate::app) name: &'static str,
    pub(in crate::app) side: Side,
    /// Initial width in points.
    pub(in crate::app) width: f32,
    /// Minimum and maximum width in points.
    pub(in crate::app) widths: RangeInclusive<f32>,
}

impl Drawer {
    /// Shows the panel and returns its rectangle. It lies beside the contents that are added after it, or
    /// over them in a narrow window.
    pub(in crate::app) fn show(self, ui: &mut Ui, is_narrow: bool, add: impl FnOnce(&mut Ui)) -> Rect {
        let width = self.width.clamp(*self.widths.start(), *self.widths.end());
        if is_narrow {
            return self.over(ui, width, add);
        }
        let panel = match self.side {
            Side::Left => Panel::left(self.name),
            Side::Right => Panel::right(self.name),
        };
        let panel = panel.resizable(true).default_size(width).size_range(self.widths);
        panel.show(ui, add).response.rect
    }

    fn over(self, ui: &Ui, width: f32, add: impl FnOnce(&mut Ui)) -> Rect {
        let room = ui.available_rect_before_wrap();
        let (pivot, corner) = match self.side {
            Side::Left => (Align2::LEFT_TOP, room.left_top()),
            Side::Right => (Align2::RIGHT_TOP, room.right_top()),
        };
        let frame = Frame::side_top_panel(ui.style());
        let margin = frame.total_margin().sum();
        Area::new(Id::unique((self.name, "drawer")))
            .order(Order::Middle)
            .pivot(pivot)
            .fixed_pos(corner)
            .constrain_to(room)
            .fade_in(false)
            .show(ui.ctx(), |ui| {
                frame.show(ui, |ui| {
                    ui.set_width((width.min(room.width()) - margin.x).max(1.0));
                    ui.set_height((room.height() - margin.y).max(1.0));
                    add(ui);
                });
            })
            .response
            .rect
    }
}
