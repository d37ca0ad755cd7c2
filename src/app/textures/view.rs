//! View of the texture viewer: a list of the scene's textures, and one texture with its channels, mip levels
//! and UV layout.

use crate::app::ui::NARROW;
use crate::{
    app::{
        input::keys::Action,
        outline::model,
        state::State,
        textures::model::{Listed, TexelAt, Textures},
        ui::style::{accent, digits, grouped, line},
    },
    output::numbers::{bytes, significant},
    render::{DrawnTexture, layout::TextureViewParams},
    scene::{Scene, srgb},
};
use egui::{Button, Context, DragValue, Rect, RichText, ScrollArea, Sense, Stroke, TextEdit, Ui, pos2, vec2};
use glam::Vec2;

/// Width of the list in points.
const LIST: f32 = 190.0;
/// Initial size of the window in points.
const SIZE: [f32; 2] = [720.0, 480.0];
/// Minimum size of the window in points.
const MIN_SIZE: [f32; 2] = [420.0, 260.0];
/// Maximum number of listed users.
const MAX_USERS: usize = 12;
/// Change of the zoom's logarithm per scrolled point, and the range of the zoom.
const ZOOM_STEP: f32 = 0.0025;
const MAX_ZOOM: f32 = 256.0;
const MIN_ZOOM: f32 = 1.0 / 64.0;

/// Shows the viewer if it is open.
pub(in crate::app) fn show(ctx: &Context, room: Rect, state: &mut State) {
    if !state.inspect.textures.is_open {
        return;
    }
    let mut is_open = true;
    let keys = state.ui.keymap.keys_of(Action::Textures);
    let title = match keys.is_empty() {
        true => "Textures".to_owned(),
        false => format!("Textures ({keys})"),
    };
    let most = (room.size() - vec2(24.0, 48.0)).max(MIN_SIZE.into());
    egui::Window::new(title)
        // Narrow and wide windows remember separate sizes, because a size from a narrow window would
        // otherwise stay small.
        .id(egui::Id::unique(("textures", most.x < NARROW)))
        .open(&mut is_open)
        .default_pos(room.min + vec2(12.0, 12.0))
        .default_size(vec2(SIZE[0], SIZE[1]).min(most))
        .min_size(vec2(MIN_SIZE[0], MIN_SIZE[1]))
        .constrain_to(ctx.content_rect())
        .show(ctx, |ui| {
            let Some(stage) = &state.stage else {
                ui.label("No scene is open.");
                return;
            };
            let textures = &mut state.inspect.textures;
            if textures.list.is_empty() {
                ui.label("The scene has no textures.");
                return;
            }
            egui::Panel::left("textures.list")
                .resizable(true)
                .default_size(LIST)
                .size_range(110.0..=360.0)
                .show(ui, |ui| list(ui, textures));
            egui::CentralPanel::default_margins().show(ui, |ui| one(ui, textures, &stage.scene));
        });
    state.inspect.textures.is_open &= is_open;
}

/// Lists the textures that match the search.
fn list(ui: &mut Ui, textures: &mut Textures) {
    let search = TextEdit::singleline(&mut textures.search).hint_text("search");
    ui.add(search.desired_width(f32::INFINITY));
    let wanted = textures.search.to_lowercase();
    let all = textures.list.clone();
    let is_wanted = |listed: &Listed| listed.name.to_lowercase().contains(&wanted);
    let found = (0..).zip(all.iter()).filter(|(_, listed)| is_wanted(listed));
    let found: Vec<(usize, &Listed)> = found.collect();
    let total: u64 = all.iter().map(|listed| listed.texture.bytes()).sum();
    let text = format!("{} of {}, {}", found.len(), all.len(), bytes(total));
    line(ui, RichText::new(text).weak());
    let shared = shared_start(all.iter().map(|listed| listed.name.as_str()));
    let row = ui.spacing().interact_size.y;
    ScrollArea::vertical()
        .auto_shrink(false)
        .show_rows(ui, row, found.len(), |ui, rows| {
            for (index, listed) in &found[rows] {
                let is_chosen = textures.chosen == *index;
                let width = ui.available_width() - 2.0 * ui.spacing().button_padding.x;
                let name = ends_that_fit(ui, &short(&listed.name, shared), width);
                let button = Button::selectable(is_chosen, name).truncate();
                let tip = format!("{}\n{}", listed.name, description(listed));
                if ui.add(button).on_hover_text(tip).clicked() {
                    textures.choose(*index);
                }
            }
        });
}

/// Shortens `text` in the middle to at most `width` points, because texture names may differ at either end.
fn ends_that_fit(ui: &Ui, text: &str, width: f32) -> String {
    let font = egui::TextStyle::Button.resolve(ui.style());
    let fits = |text: &str| {
        let color = ui.visuals().text_color();
        let galley = ui.painter().layout_no_wrap(text.to_owned(), font.clone(), color);
        galley.size().x <= width
    };
    if fits(text) {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let with = |kept: usize| -> String {
        let (start, end) = letters.split_at(kept / 2);
        let end = &end[end.len() - kept.div_ceil(2)..];
        start.iter().chain(&['…']).chain(end).collect()
    };
    let mut shorter = (0..letters.len()).rev().map(with);
    shorter.find(|text| fits(text)).unwrap_or_default()
}

/// Returns the length in bytes of the common prefix of all names, up to the end of a word.
fn shared_start<'a>(mut names: impl Iterator<Item = &'a str>) -> usize {
    let Some(first) = names.next() else {
        return 0;
    };
    let alike = |known: &'a str, name: &str| {
        let same = known.char_indices().zip(name.chars());
        let differs = same.into_iter().find(|((_, a), b)| a != b);
        let end = differs.map_or(known.len().min(name.len()), |((at, _), _)| at);
        &known[..end]
    };
    let shared = names.fold(None, |known: Option<&str>, name| {
        Some(alike(known.unwrap_or(first), name))
    });
    let is_end = |c: char| !c.is_alphanumeric();
    shared.map_or(0, |shared| shared.rfind(is_end).map_or(0, |at| at + 1))
}

/// Removes the common prefix from a name.
fn short(name: &str, shared: usize) -> String {
    match name.get(shared..) {
        Some(rest) if shared > 0 && !rest.is_empty() => format!("…{rest}"),
        _ => name.to_owned(),
    }
}

/// Describes size, format, mip levels and memory.
fn description(listed: &Listed) -> String {
    let texture = listed.texture.texture();
    format!(
        "{} × {}, {:?}, {} levels, {}, {}",
        texture.width(),
        texture.height(),
        texture.format(),
        texture.mip_level_count(),
        bytes(listed.texture.bytes()),
        listed.texture.used_as,
    )
}

fn one(ui: &mut Ui, textures: &mut Textures, scene: &Scene) {
    let list = textures.list.clone();
    let Some(listed) = list.get(textures.chosen) else {
        return;
    };
    buttons(ui, textures, listed);
    facts(ui, textures, listed, scene);
    let texel = ui.spacing().interact_size.y;
    let room = ui.available_size() - vec2(0.0, texel + ui.spacing().item_spacing.y);
    let (rect, response) = ui.allocate_exact_size(room.max(vec2(40.0, 40.0)), Sense::click_and_drag());
    let texture = listed.texture.texture();
    let size = Vec2::new(texture.width() as f32, texture.height() as f32);
    let pixels_per_point = ui.ctx().pixels_per_point();
    let placed = Placed::new(rect, size, textures, pixels_per_point);
    navigate(ui, &response, &placed, textures);
    let placed = Placed::new(rect, size, textures, pixels_per_point);
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0.0, ui.visuals().extreme_bg_color);
    match &textures.drawn {
        Some((of, Ok(shown))) if *of == textures.chosen => {
            let mut params = placed.params(size, textures, is_light(listed));
            if let Some(scale) = listed.radiance {
                params.exposure_ev = textures.exposure_ev + scale.log2();
            }
            let callback = Callback {
                shown: shown.clone(),
                params,
            };
            painter.add(egui_wgpu::Callback::new_paint_callback(rect, callback));
        }
        Some((_, Err(why))) => {
            painter.text(
                rect.center(),
                egui::Align2::CENTER_CENTER,
                why,
                egui::FontId::proportional(12.0),
                ui.visuals().error_fg_color,
            );
        }
        _ => {}
    }
    if textures.shows_uv
        && let Some(layout) = textures.layout(scene)
    {
        let stroke = Stroke::new(1.0, accent(ui.visuals()));
        for edge in &layout.edges {
            painter.line_segment(edge.map(|uv| placed.point_at(uv * size)), stroke);
        }
    }
    let pointer = response.hover_pos();
    let at = pointer.map(|pointer| placed.texel_at(pointer));
    let level = texture.mip_level_count().min(textures.level + 1) - 1;
    let side = size_of_level(listed, level);
    textures.pointed = at.and_then(|at| {
        let uv = at / size;
        let is_inside = uv.cmpge(Vec2::ZERO).all() && uv.cmplt(Vec2::ONE).all();
        let place = [0, 1].map(|axis| (uv[axis] * side[axis] as f32) as u32);
        is_inside.then_some(TexelAt {
            texture: textures.chosen,
            level,
            place,
        })
    });
    line(ui, digits(texel_text(textures, listed)));
}

/// True if the sampled values are linear light, which has to be encoded for the display.
fn is_light(listed: &Listed) -> bool {
    listed.radiance.is_some() || listed.texture.texture().format().is_srgb()
}

fn size_of_level(listed: &Listed, level: u32) -> [u32; 2] {
    let size = listed.texture.texture().size();
    let size = size.mip_level_size(level, wgpu::TextureDimension::D2);
    [size.width, size.height]
}

/// Returns the coordinates and values of the texel under the pointer, as read back from the GPU. Without a
/// texel there, returns a hint on the controls.
fn texel_text(textures: &Textures, listed: &Listed) -> String {
    let Some(at) = textures.pointed else {
        return "scroll to zoom, drag to pan, double-click to fit".into();
    };
    let [x, y] = at.place;
    let value = match &textures.value {
        Some((of, value)) if *of == at => value,
        _ => return format!("{x}, {y}: reading…"),
    };
    match value {
        Ok([r, g, b, _]) if let Some(scale) = listed.radiance => {
            let [r, g, b] = [r, g, b].map(|value| significant(f64::from(value * scale)));
            format!("{x}, {y}: radiance {r} {g} {b}  (from the GPU)")
        }
        Ok(value) => {
            let [r, g, b, a] = value.map(f64::from);
            let format = listed.texture.texture().format();
            let stored = [r, g, b].map(|value| match format.is_srgb() {
                true => 255.0 * f64::from(srgb::encode(value as f32)),
                false => 255.0 * value,
            });
            let [red, green, blue] = stored.map(|value| value.round());
            let alpha = (255.0 * a).round();
            format!(
                "{x}, {y}: {red} {green} {blue} {alpha}  linear {r:.4} {g:.4} {b:.4} {a:.4}  (from the GPU)"
            )
        }
        Err(why) => format!("{x}, {y}: {why}"),
    }
}

fn buttons(ui: &mut Ui, textures: &mut Textures, listed: &Listed) {
    ui.horizontal_wrapped(|ui| {
        let tips = [
            "Red",
            "Green",
            "Blue",
            "Alpha. With colours, shown over a checkerboard",
        ];
        for ((name, tip), channel) in ["R", "G", "B", "A"].iter().zip(tips).zip(0..4) {
            let tip = format!("{tip}. Right-click to show only this channel");
            let button = ui.toggle_value(&mut textures.channels[channel], *name);
            if button.on_hover_text(tip).secondary_clicked() {
                textures.channels = [false; 4];
                textures.channels[channel] = true;
            }
        }
        if ui.button("RGB").on_hover_text("All colours").clicked() {
            textures.channels = [true, true, true, false];
        }
        ui.separator();
        if ui.button("Fit").on_hover_text("The whole texture").clicked() {
            textures.zoom = None;
        }
        let whole = ui.button("1:1").on_hover_text("A pixel for each texel");
        if whole.clicked() {
            textures.zoom = Some(1.0);
            let texture = listed.texture.texture();
            textures.middle = 0.5 * Vec2::new(texture.width() as f32, texture.height() as f32);
        }
        ui.separator();
        ui.toggle_value(&mut textures.is_smooth, "smooth")
            .on_hover_text("Interpolates between texels, or shows each texel as a square");
        ui.toggle_value(&mut textures.is_linear, "linear")
            .on_hover_text("Shows the linear values that lighting reads instead of sRGB");
        ui.toggle_value(&mut textures.shows_uv, "UV").on_hover_text(
            "Draws the UV layout of the triangles that use the texture, with texture transforms",
        );
        ui.separator();
        let last = listed.texture.texture().mip_level_count() - 1;
        ui.horizontal(|ui| {
            ui.label("level");
            ui.add_enabled(
                last > 0,
                DragValue::new(&mut textures.level).range(0..=last).speed(0.05),
            )
            .on_hover_text("Mip level; 0 is the finest")
        });
        if listed.radiance.is_some() {
            ui.horizontal(|ui| {
                ui.label("exposure");
                let stops = DragValue::new(&mut textures.exposure_ev).range(-20.0..=20.0);
                ui.add(stops.speed(0.05).suffix(" EV"))
                    .on_hover_text("Exposure of the radiance, in stops (EV)")
            });
        }
    });
}

/// Shows the properties of the texture, and the material slots that use it.
fn facts(ui: &mut Ui, textures: &mut Textures, listed: &Listed, scene: &Scene) {
    let mut text = description(listed);
    if textures.level > 0 {
        let [width, height] = size_of_level(listed, textures.level);
        text += &format!("; level {}: {width} × {height}", textures.level);
    }
    line(ui, RichText::new(text).weak());
    let named = |material: usize| match scene.materials[material].name.as_str() {
        "" => format!("material {material}"),
        name => model::shown(name),
    };
    let users = listed.users.iter().take(MAX_USERS);
    let users = users.map(|user| format!("{} ({}, UV {})", named(user.material), user.slot, user.uv_set));
    let mut text = users.collect::<Vec<_>>().join(", ");
    if let Some(more) = listed.users.len().checked_sub(MAX_USERS + 1) {
        text += &format!(" and {} more", more + 1);
    }
    if listed.radiance.is_some() {
        text = "the environment, as stored in its file".into();
    }
    line(ui, RichText::new(text).weak());
    if textures.shows_uv
        && listed.radiance.is_none()
        && let Some(layout) = textures.layout(scene)
    {
        let [drawn, all] = [layout.drawn, layout.triangles].map(|count| grouped(count as u64));
        let text = match layout.drawn == layout.triangles {
            true => format!("{all} triangles"),
            false => format!("{drawn} of {all} triangles, evenly chosen"),
        };
        line(ui, RichText::new(text).weak());
    }
}

/// Handles panning and zooming by the pointer.
fn navigate(ui: &Ui, response: &egui::Response, placed: &Placed, textures: &mut Textures) {
    if response.double_clicked() {
        textures.zoom = None;
        return;
    }
    let scrolled = match response.hover_pos() {
        Some(_) => ui.input(|input| input.smooth_scroll_delta().y),
        None => 0.0,
    };
    let dragged = response.drag_delta();
    if scrolled == 0.0 && dragged == egui::Vec2::ZERO {
        return;
    }
    let zoom = (placed.zoom * (ZOOM_STEP * scrolled).exp()).clamp(MIN_ZOOM, MAX_ZOOM);
    // The texel under the pointer stays fixed.
    let pointer = response.hover_pos().unwrap_or(placed.rect.center());
    let fixed = placed.texel_at(pointer);
    let offset = placed.pixels(pointer - placed.rect.center());
    textures.middle = fixed - (offset + placed.pixels(dragged)) / zoom;
    textures.zoom = Some(zoom);
    if scrolled == 0.0 {
        textures.middle = placed.middle - placed.pixels(dragged) / zoom;
    }
}

/// Placement of the mip-0 texels on the screen.
struct Placed {
    rect: Rect,
    /// Window pixels per texel.
    zoom: f32,
    /// Texel at the centre.
    middle: Vec2,
    pixels_per_point: f32,
}

impl Placed {
    fn new(rect: Rect, size: Vec2, textures: &Textures, pixels_per_point: f32) -> Self {
        let room = pixels_per_point * Vec2::new(rect.width(), rect.height());
        let (zoom, middle) = match textures.zoom {
            Some(zoom) => (zoom, textures.middle),
            None => ((room / size).min_element().max(1e-3), 0.5 * size),
        };
        Self {
            rect,
            zoom,
            middle,
            pixels_per_point,
        }
    }

    fn pixels(&self, points: egui::Vec2) -> Vec2 {
        self.pixels_per_point * Vec2::new(points.x, points.y)
    }

    /// Returns the texel at a point of the window.
    fn texel_at(&self, point: egui::Pos2) -> Vec2 {
        self.middle + self.pixels(point - self.rect.center()) / self.zoom
    }

    /// Returns the window point of a texel.
    fn point_at(&self, texel: Vec2) -> egui::Pos2 {
        let points = (texel - self.middle) * self.zoom / self.pixels_per_point;
        self.rect.center() + vec2(points.x, points.y)
    }

    fn params(&self, size: Vec2, textures: &Textures, is_srgb: bool) -> TextureViewParams {
        // The viewport starts at a whole pixel.
        let corner = self.rect.min * self.pixels_per_point;
        let origin = [corner.x.round(), corner.y.round()];
        let at = pos2(origin[0], origin[1]) / self.pixels_per_point;
        let channels = (0..4).zip(textures.channels);
        TextureViewParams {
            origin,
            first: self.texel_at(at).to_array(),
            size: size.to_array(),
            texels_per_pixel: 1.0 / self.zoom,
            level: textures.level,
            channels: channels.fold(0, |bits, (bit, is_kept)| bits | u32::from(is_kept) << bit),
            encodes: u32::from(is_srgb && !textures.is_linear),
            is_smooth: u32::from(textures.is_smooth),
            ..TextureViewParams::default()
        }
    }
}

/// Paint callback that draws a texture within egui.
struct Callback {
    shown: DrawnTexture,
    params: TextureViewParams,
}

impl egui_wgpu::CallbackTrait for Callback {
    fn prepare(
        &self,
        _: &wgpu::Device,
        queue: &wgpu::Queue,
        _: &egui_wgpu::ScreenDescriptor,
        _: &mut wgpu::CommandEncoder,
        _: &mut egui_wgpu::CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        self.shown.place(queue, &self.params);
        Vec::new()
    }

    fn paint(
        &self,
        _: egui::PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        _: &egui_wgpu::CallbackResources,
    ) {
        self.shown.draw(pass);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(textures: &Textures) -> Placed {
        let rect = Rect::from_min_size(pos2(10.0, 20.0), vec2(100.0, 50.0));
        Placed::new(rect, Vec2::new(64.0, 64.0), textures, 2.0)
    }

    #[test]
    fn textures_fit_the_view_or_keep_their_zoom_and_position() {
        let mut textures = Textures::default();
        let fit = placed(&textures);
        assert_eq!(fit.zoom, 100.0 / 64.0);
        assert_eq!(fit.texel_at(pos2(60.0, 45.0)), Vec2::splat(32.0));
        assert_eq!(fit.point_at(Vec2::new(32.0, 0.0)), pos2(60.0, 20.0));
        textures.zoom = Some(4.0);
        textures.middle = Vec2::new(10.0, 12.0);
        let near = placed(&textures);
        let point = pos2(33.0, 27.0);
        assert_eq!(near.point_at(near.texel_at(point)), point);
        textures.channels = [false, true, false, true];
        let params = near.params(Vec2::splat(64.0), &textures, true);
        assert_eq!((params.channels, params.encodes), (0b1010, 1));
        assert_eq!(params.origin, [20.0, 40.0]);
        assert_eq!(params.first, near.texel_at(pos2(10.0, 20.0)).to_array());
        textures.is_linear = true;
        assert_eq!(near.params(Vec2::splat(64.0), &textures, true).encodes, 0);
    }

    #[test]
    fn long_names_are_shortened_to_the_part_that_differs() {
        let names = ["Helmet_Mat_Glass_Color.png", "Helmet_Mat_Glue_Color.png"];
        let shared = shared_start(names.into_iter());
        assert_eq!(short(names[0], shared), "…Glass_Color.png");
        assert_eq!(shared_start(["a.png"].into_iter()), 0);
        assert_eq!(shared_start(["é1", "é2"].into_iter()), 0);
        assert_eq!(short("a.png", 0), "a.png");
    }
}
