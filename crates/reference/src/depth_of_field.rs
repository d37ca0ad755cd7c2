//! CPU reference of `depth_of_field`: circles of confusion of a thin lens, and the gather over neighbouring
//! pixels.

use canopy_render::layout::DepthOfFieldParams;

use std::f64::consts::{PI, TAU};

/// Largest radius of a circle of confusion, and side of a tile, in pixels.
pub const LIMIT: f64 = 32.0;
const SAMPLES: usize = 96;

/// Returns the radius in pixels of the circle of confusion at `depth` metres along the view, negative in
/// front of the focus. `middle` is the depth at the centre of the picture. Depths may be infinite.
pub fn circle(params: &DepthOfFieldParams, depth: f64, middle: f64) -> f64 {
    let [aperture, focal_length] = [params.aperture, params.focal_length].map(f64::from);
    let chosen = match params.focus {
        0.0 => middle.min(1e12),
        focus => f64::from(focus),
    };
    let focus = chosen.max(1.01 * focal_length);
    let scale = 0.5 * aperture * focal_length / (focus - focal_length);
    let share = 1.0 - focus / depth.max(1e-6);
    (scale * f64::from(params.pixels_per_metre) * share).clamp(-LIMIT, LIMIT)
}

/// Returns the largest circle of confusion that may cover each pixel, from its tile and the neighbouring
/// tiles.
pub fn reaches([width, height]: [usize; 2], circles: &[f64]) -> Vec<f64> {
    let side = LIMIT as usize;
    let tile = |pixel: usize| [pixel % width / side, pixel / width / side];
    let [columns, rows] = [width, height].map(|pixels| pixels.div_ceil(side));
    let mut largest = vec![0.0_f64; columns * rows];
    for (pixel, circle) in circles.iter().enumerate() {
        let [x, y] = tile(pixel);
        let known = &mut largest[y * columns + x];
        *known = known.max(circle.abs());
    }
    let around = |pixel: usize| {
        let [x, y] = tile(pixel);
        let of_rows = y.saturating_sub(1)..(y + 2).min(rows);
        of_rows
            .flat_map(|y| (x.saturating_sub(1)..(x + 2).min(columns)).map(move |x| y * columns + x))
            .fold(0.0, |most, tile| largest[tile].max(most))
    };
    (0..width * height).map(around).collect()
}

/// Returns the blurred picture.
pub fn depth_of_field(
    [width, height]: [usize; 2],
    circles: &[f64],
    sample_index: u32,
    picture: &[[f64; 4]],
) -> Vec<[f64; 4]> {
    let reaches = reaches([width, height], circles);
    let spread =
        |radius: f64, away: f64| (radius + 0.5 - away).clamp(0.0, 1.0) / (PI * radius * radius).max(1.0);
    let one = |pixel: usize| {
        let reach = reaches[pixel];
        if reach <= 0.5 {
            return picture[pixel];
        }
        let own = circles[pixel];
        let (x, y) = (pixel % width, pixel / width);
        let turn = turn(x as u32, y as u32, sample_index);
        let area = PI * reach * reach / SAMPLES as f64;
        let mut weight = spread(own.abs(), 0.0);
        let mut seen = picture[pixel].map(|value| weight * value);
        let (mut cover, mut front) = (0.0, [0.0; 4]);
        for i in 0..SAMPLES {
            let away = reach * ((i as f64 + 0.5) / SAMPLES as f64).sqrt();
            let angle = turn + i as f64 * (3.0 - 5_f64.sqrt()) * PI;
            let offset = [away * angle.cos(), away * angle.sin()].map(|side| side.round_ties_even());
            let at = [x as f64 + offset[0], y as f64 + offset[1]];
            let is_inside = (0.0..width as f64).contains(&at[0]) && (0.0..height as f64).contains(&at[1]);
            if !is_inside || offset == [0.0; 2] {
                continue;
            }
            let other = at[1] as usize * width + at[0] as usize;
            let circle = circles[other];
            let is_front = circle < own - 0.5;
            let radius = match is_front {
                true => circle.abs(),
                false => circle.abs().min(own.abs()),
            };
            let share = area * spread(radius, offset[0].hypot(offset[1]));
            let (sum, total) = match is_front {
                true => (&mut front, &mut cover),
                false => (&mut seen, &mut weight),
            };
            *total += share;
            for (sum, value) in sum.iter_mut().zip(picture[other]) {
                *sum += share * value;
            }
        }
        let share = cover.clamp(0.0, 1.0);
        std::array::from_fn(|channel| {
            let behind = seen[channel] / weight;
            behind + share * (front[channel] / cover.max(1e-6) - behind)
        })
    };
    (0..width * height).map(one).collect()
}

/// Returns an angle in radians that varies between neighbours and from frame to frame.
fn turn(x: u32, y: u32, sample_index: u32) -> f64 {
    let mut hash = (x + 1).wrapping_mul(0x9e37_79b9)
        ^ (y + 1).wrapping_mul(0x85eb_ca6b)
        ^ sample_index.wrapping_mul(0xc2b2_ae35);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x7feb_352d);
    hash = (hash ^ (hash >> 15)).wrapping_mul(0x846c_a68b);
    f64::from(hash >> 16) / 65536.0 * TAU
}
