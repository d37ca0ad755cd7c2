//! Twin of `ground`, and of what `lighting` makes of it, in f64.

use super::lighting::incident;
use canopy_render::layout::Light;

use glam::{DVec2, DVec3, Vec3};
use std::f64::consts::PI;

/// How much of the shadows is seen at `from_middle`, in units of the reach: all within half of it, nothing past
/// it.
pub fn seen(from_middle: DVec2) -> f64 {
    let t = (2.0 * from_middle.length() - 1.0).clamp(0.0, 1.0);
    1.0 - t * t * (3.0 - 2.0 * t)
}

/// The share of a pixel that the grid covers: the origin's lines, and every tenth line, every line and ten
/// lines between each two, the strongest of them. `at` is in lines from the world's origin, `width` what of
/// that a pixel measures.
pub fn grid(at: DVec2, width: DVec2) -> f64 {
    let lines = |scale: f64| {
        let covered = [(at.x, width.x), (at.y, width.y)].map(|(at, width)| {
            let off = (scale * at - (scale * at).round()).abs() / (scale * width);
            let t = ((scale * width - 0.08) / 0.12).clamp(0.0, 1.0);
            (1.0 - off).clamp(0.0, 1.0) * (1.0 - t * t * (3.0 - 2.0 * t))
        });
        covered[0].max(covered[1])
    };
    let axis = |at: f64, width: f64| (1.0 - at.abs() / width).clamp(0.0, 1.0);
    let axes = axis(at.x, width.x).max(axis(at.y, width.y));
    (0.3 * lines(10.0))
        .max(0.5 * lines(1.0))
        .max(0.8 * lines(0.1))
        .max(0.9 * axes)
}

/// Of the light that would fall on the ground at `position` below nothing, the share that does. `visible` are
/// the shares of `lights` that are seen from there, `diffuse` the radiance of a white surface that faces up
/// under the environment alone, and `ambient` the share of that which arrives.
pub fn lit(position: Vec3, lights: &[Light], visible: &[f64], diffuse: DVec3, ambient: DVec3) -> DVec3 {
    let (mut unblocked, mut arriving) = (PI * diffuse, PI * diffuse * ambient);
    for (light, visible) in lights.iter().zip(visible) {
        let (to_light, irradiance) = incident(light, position);
        let gives = to_light.y.max(0.0) * irradiance;
        unblocked += gives;
        arriving += *visible * gives;
    }
    DVec3::from_array([0, 1, 2].map(|c| match unblocked[c] > 0.0 {
        true => arriving[c] / unblocked[c],
        false => 1.0,
    }))
}
