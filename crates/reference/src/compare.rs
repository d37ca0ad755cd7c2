//! CPU reference of `compare`: shows two pictures in one, and computes their errors.

use super::tonemap::tonemap;
use canopy_render::layout::{CompareParams, Exposure, TonemapParams};

use glam::{DVec3, Vec3};

/// Picture with red, green and blue, row by row.
#[derive(Debug, Clone, Copy)]
pub struct Pixels<'a> {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Pixels of the picture.
    pub pixels: &'a [Vec3],
}

const BACKDROP: Vec3 = Vec3::splat(0.1);

/// Returns the output of `compare` for its part of the target, row by row. `color` maps errors in [0, 1] to
/// colours.
pub fn composed(
    params: &CompareParams,
    a: Pixels<'_>,
    b: Pixels<'_>,
    color: impl Fn(f32) -> Vec3,
) -> Vec<Vec3> {
    each(params, |x, y| {
        let (of_a, of_b) = both(params, a, b, [x, y]);
        let along = if params.is_horizontal == 0 { x } else { y };
        if params.is_difference != 0 {
            return match (of_a, of_b) {
                (Some(a), Some(b)) => color(error(params, a, b) * params.gain),
                _ => BACKDROP,
            };
        }
        let is_a = along as f32 + 0.5 < params.line;
        let shown = if is_a { of_a } else { of_b };
        shown.unwrap_or(BACKDROP)
    })
}

/// Returns the result of `compare_errors`, as sum, largest error and number of pixels. Errors are in units of
/// 1/65535.
pub fn errors(params: &CompareParams, a: Pixels<'_>, b: Pixels<'_>) -> (u64, u32, u32) {
    let (mut sum, mut largest, mut count) = (0, 0, 0);
    each(params, |x, y| {
        if let (Some(a), Some(b)) = both(params, a, b, [x, y]) {
            let error = (error(params, a, b) * 65535.0 + 0.5) as u32;
            (sum, largest, count) = (sum + u64::from(error), error.max(largest), count + 1);
        }
    });
    (sum, largest, count)
}

fn each<T>(params: &CompareParams, mut of: impl FnMut(u32, u32) -> T) -> Vec<T> {
    let [width, height] = params.size;
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    places.map(|(x, y)| of(x, y)).collect()
}

/// Returns the colours of the two pictures at a pixel, if each contains it.
fn both(
    params: &CompareParams,
    a: Pixels<'_>,
    b: Pixels<'_>,
    [x, y]: [u32; 2],
) -> (Option<Vec3>, Option<Vec3>) {
    let at = |scale: f32, offset: [f32; 2]| {
        [
            (x as f32 + 0.5) * scale + offset[0],
            (y as f32 + 0.5) * scale + offset[1],
        ]
    };
    let of_a = filtered(a, at(params.scale_a, params.offset_a));
    let of_b = filtered(b, at(params.scale_b, params.offset_b));
    let is_radiance = params.b_exposure > 0.0;
    let shown = |c: Vec3| match is_radiance {
        true => {
            let toned = TonemapParams {
                curve: params.b_curve,
                ..TonemapParams::default()
            };
            let exposure = Exposure {
                scale: params.b_exposure,
                ..Exposure::default()
            };
            tonemap(&toned, &exposure, c.as_dvec3(), DVec3::ZERO).as_vec3()
        }
        false => c,
    };
    (of_a, of_b.map(shown))
}

fn filtered(picture: Pixels<'_>, [x, y]: [f32; 2]) -> Option<Vec3> {
    let [width, height] = picture.size.map(|side| side as f32);
    if !(0.0..width).contains(&x) || !(0.0..height).contains(&y) {
        return None;
    }
    let texel = |x: f32, y: f32| {
        let [x, y] = [x.clamp(0.0, width - 1.0), y.clamp(0.0, height - 1.0)];
        picture.pixels[y as usize * picture.size[0] as usize + x as usize]
    };
    let (left, top) = ((x - 0.5).floor(), (y - 0.5).floor());
    let (right, down) = (x - 0.5 - left, y - 0.5 - top);
    let above = texel(left, top).lerp(texel(left + 1.0, top), right);
    let below = texel(left, top + 1.0).lerp(texel(left + 1.0, top + 1.0), right);
    Some(above.lerp(below, down))
}

fn error(params: &CompareParams, a: Vec3, b: Vec3) -> f32 {
    let channels = match params.is_linear {
        0 => a - b,
        _ => a.map(decode) - b.map(decode),
    };
    channels.abs().max_element().clamp(0.0, 1.0)
}

fn decode(encoded: f32) -> f32 {
    match encoded <= 0.040_45 {
        true => encoded / 12.92,
        false => ((encoded + 0.055) / 1.055).powf(2.4),
    }
}
