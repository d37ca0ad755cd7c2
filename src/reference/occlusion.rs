//! Twin of `occlusion_rays` and `occlusion_filter`: the same rays against every triangle and the same means,
//! in f64.

use super::{
    lbvh::Triangle,
    sampling,
    shadow_start::{Seen, ShadowStart},
};
use crate::gpu::layout::SAMPLE_OCCLUSION;
use glam::{DMat4, DVec2, DVec3, Vec3};

/// The direction of two numbers in [0, 1): cosine-distributed about a unit vector (basis: Duff et al. 2017).
pub fn direction(normal: Vec3, [u, v]: [f64; 2]) -> DVec3 {
    let n = normal.as_dvec3();
    let side = if n.z >= 0.0 { 1.0 } else { -1.0 };
    let a = -1.0 / (side + n.z);
    let b = n.x * n.y * a;
    let tangent = DVec3::new(1.0 + side * n.x * n.x * a, side * b, -side * n.x);
    let bitangent = DVec3::new(b, side + n.y * n.y * a, -n.y);
    let (sin, cos) = (std::f64::consts::TAU * u).sin_cos();
    v.sqrt() * (cos * tangent + sin * bitangent) + (1.0 - v).sqrt() * n
}

/// The origin of rays: moved towards the triangle's centre, so that rounding does not leave it outside.
fn start(seen: &Seen) -> ShadowStart {
    let mut start = seen.start();
    let [v0, v1, v2] = seen.triangle.map(Vec3::as_dvec3);
    let longest = (v1 - v0)
        .length()
        .max((v2 - v1).length())
        .max((v0 - v2).length());
    let height = (v1 - v0).cross(v2 - v0).length() / longest;
    let step = start.origin.distance(start.position);
    start.origin += (12.0 * step / height).min(1.0) * ((v0 + v1 + v2) / 3.0 - start.position);
    start
}

/// Occlusion of environment lighting.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Occlusion {
    /// Share of the rays that are blocked, 0 to 1.
    pub share: f64,
    /// Mean over all rays of the blocked directions, with zero for the others; shorter than 1.
    pub direction: DVec3,
}

impl Occlusion {
    fn add(&mut self, weight: f64, other: Self) {
        self.share += weight * other.share;
        self.direction += weight * other.direction;
    }

    fn scaled(self, by: f64) -> Self {
        Self {
            share: self.share * by,
            direction: self.direction * by,
        }
    }

    /// Bent normal (a unit vector) and ambient visibility.
    pub fn visibility(self, normal: Vec3) -> (DVec3, f64) {
        let normal = normal.as_dvec3();
        let rest = normal * 2.0 / 3.0 - self.direction;
        let bent = rest.dot(normal) > 1e-3;
        (
            if bent { rest.normalize() } else { normal },
            1.0 - self.share,
        )
    }
}

/// The occlusion that rays `first..first + count` of a pixel find within `reach` metres.
pub fn rays(
    triangles: &[Triangle],
    seen: &Seen,
    (mask, pixel): (&[u16], [u32; 2]),
    (first, count): (u32, u32),
    reach: f64,
) -> Occlusion {
    let start = start(seen);
    let horizon = start.horizon_normal;
    let mut blocked = Occlusion::default();
    for k in first..first + count {
        let mut along = direction(
            seen.normal,
            sampling::point(mask, pixel, k, SAMPLE_OCCLUSION),
        );
        // Directions below the horizon are mirrored.
        along -= (2.0 * along.dot(horizon)).min(0.0) * horizon;
        if start.is_blocked(triangles, along, reach) {
            let share = 1.0;
            let direction = along;
            blocked.add(1.0 / f64::from(count), Occlusion { share, direction });
        }
    }
    blocked
}

/// The surface at a pixel, as the history and the filter compare it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    /// World position.
    pub position: DVec3,
    /// World position in the last frame.
    pub last_position: DVec3,
    /// Normal of its triangle.
    pub normal: DVec3,
    /// Number of frames whose rays its mean has.
    pub frames: u32,
}

impl SurfacePoint {
    /// The greater distance of either point from the other's plane.
    fn away(&self, other: &Self) -> f64 {
        self.away_from(other, self.position)
    }

    /// The same of this point where it is at `position`.
    fn away_from(&self, other: &Self, position: DVec3) -> f64 {
        let off = other.position - position;
        off.dot(self.normal).abs().max(off.dot(other.normal).abs())
    }
}

/// The pixels of a frame, row by row; `None` where there is no triangle.
pub type Frame = Vec<Option<(SurfacePoint, Occlusion)>>;

/// The view of a frame.
#[derive(Debug, Clone, Copy)]
pub struct Eye {
    /// Clip space from offsets to the eye.
    pub clip_from_offset: DMat4,
    /// Position of the eye.
    pub position: DVec3,
    /// Direction of view, a unit vector.
    pub forward: DVec3,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Size of a pixel in metres at the eye, and its increase per metre of depth.
    pub pixel_side: [f64; 2],
}

impl Eye {
    fn tolerance(&self, at: DVec3) -> f64 {
        let depth = (at - self.position).dot(self.forward);
        self.pixel_side[0] + self.pixel_side[1] * depth + 9.536_743_2e-7 * at.abs().max_element()
    }

    /// Projection of a position, in pixels from the upper left corner of the picture.
    fn in_picture(&self, at: DVec3) -> Option<DVec2> {
        let clip = self.clip_from_offset * (at - self.position).extend(1.0);
        let size = DVec2::new(self.size[0].into(), self.size[1].into());
        let at = clip.truncate().truncate() / clip.w * DVec2::new(0.5, -0.5) + 0.5;
        (clip.w > 0.0).then_some(at * size)
    }

    fn at(&self, frame: &Frame, at: [i64; 2]) -> Option<(SurfacePoint, Occlusion)> {
        let inside = at
            .iter()
            .zip(self.size)
            .all(|(&at, side)| (0..i64::from(side)).contains(&at));
        let index = || (at[1] * i64::from(self.size[0]) + at[0]) as usize;
        inside.then(|| frame[index()]).flatten()
    }
}

/// Twin of `occlusion_accumulate`: the means over `fresh` and up to `remembered` frames before it.
pub fn accumulate(fresh: &Frame, now: &Eye, last: &Frame, before: &Eye, remembered: u32) -> Frame {
    let mean = |index: usize| {
        let (mut point, found) = fresh[index]?;
        let pixel = DVec2::new(
            (index as u32 % now.size[0]).into(),
            (index as u32 / now.size[0]).into(),
        );
        let here = now.in_picture(point.position);
        let there = before.in_picture(point.last_position);
        let at = here.zip(there).map(|(here, there)| pixel + there - here);
        let (mut sum, mut frames, mut weights) = (Occlusion::default(), 0.0, 0.0);
        for [x, y] in [[0, 0], [1, 0], [0, 1], [1, 1]] {
            let Some(at) = at else { continue };
            let part = at - at.floor();
            let tap = [at.x.floor() as i64 + x, at.y.floor() as i64 + y];
            let Some((other, blocked)) = before.at(last, tap) else {
                continue;
            };
            let same = point.away_from(&other, point.last_position) < now.tolerance(point.position)
                && other.normal.dot(point.normal) > 0.9;
            let side = |step: i64, part: f64| if step == 1 { part } else { 1.0 - part };
            let weight = side(x, part.x) * side(y, part.y) * f64::from(u8::from(same));
            sum.add(weight, blocked);
            frames += weight * f64::from(other.frames);
            weights += weight;
        }
        if weights <= 0.01 {
            point.frames = 1;
            return Some((point, found));
        }
        let earlier = ((frames / weights).round() as u32).min(remembered);
        let gain = 1.0 / f64::from(earlier + 1);
        let mut mean = sum.scaled((1.0 - gain) / weights);
        mean.add(gain, found);
        point.frames = earlier + 1;
        Some((point, mean))
    };
    (0..fresh.len()).map(mean).collect()
}

/// Twin of a pass of `occlusion_filter`, with taps `step` pixels apart, for pixels with `rays` rays a frame.
pub fn filter(frame: &Frame, eye: &Eye, rays: u32, step: u32) -> Frame {
    let smoothed = |index: usize| {
        let (point, own) = frame[index]?;
        let [x, y] = [index as u32 % eye.size[0], index as u32 / eye.size[0]].map(i64::from);
        let spread = (32.0 / f64::from(point.frames * rays * step * step)).min(0.5);
        let outer = 0.5 * spread / (1.0 - spread);
        let (mut sum, mut weights) = (own, 1.0);
        for (i, j) in (-1..=1).flat_map(|j| (-1..=1).map(move |i| (i, j))) {
            let tap = [x + i * i64::from(step), y + j * i64::from(step)];
            let Some((other, blocked)) = eye.at(frame, tap).filter(|_| (i, j) != (0, 0)) else {
                continue;
            };
            let kernel = outer.powi((i.abs() + j.abs()) as i32);
            let trust = (f64::from(other.frames) / f64::from(point.frames)).min(1.0);
            let alike = other.normal.dot(point.normal).max(0.0).powi(8);
            let near = 1.0 - point.away(&other) / eye.tolerance(point.position);
            let weight = kernel * trust * alike * near.max(0.0);
            sum.add(weight, blocked);
            weights += weight;
        }
        Some((point, sum.scaled(1.0 / weights)))
    };
    (0..frame.len()).map(smoothed).collect()
}

/// Unpacks a word of the result: bent normal (a unit vector) and ambient visibility.
pub fn unpack_visibility(word: u32) -> (Vec3, f32) {
    let level = |shift: u32| (word >> shift & 2047) as f32 / 1023.0 - 1.0;
    let (x, y) = (level(0), level(11));
    let z = 1.0 - x.abs() - y.abs();
    let fold = |a: f32, b: f32| {
        if z >= 0.0 {
            a
        } else {
            (1.0 - b.abs()).copysign(a)
        }
    };
    let direction = Vec3::new(fold(x, y), fold(y, x), z).normalize();
    (direction, (word >> 22) as f32 / 1023.0)
}

/// Share of diffuse environment light that arrives in the end, straight or by way of neighbours of this
/// albedo.
pub fn bounced(visibility: f64, albedo: f64) -> f64 {
    let a = 2.0404 * albedo - 0.3324;
    let b = -4.7951 * albedo + 0.6417;
    let c = 2.7552 * albedo + 0.6903;
    let cubic = ((visibility * a + b) * visibility + c) * visibility;
    visibility.max(cubic).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first 4^n points of a pixel lie one to a cell, however the square is cut into 4^n equal cells.
    #[test]
    fn directions_have_the_mean_and_the_length_of_a_cosine() {
        for normal in [Vec3::Y, Vec3::Z, Vec3::NEG_Z, Vec3::new(0.36, -0.48, -0.8)] {
            let all =
                (0..4096).map(|k| direction(normal, sampling::point(&[0; 4096], [3, 5], k, 0)));
            let sum: DVec3 = all
                .inspect(|d| {
                    assert!((d.length() - 1.0).abs() < 1e-6 && d.dot(normal.as_dvec3()) >= 0.0);
                })
                .sum();
            let mean = normal.as_dvec3() * 2.0 / 3.0;
            assert!((sum / 4096.0 - mean).length() < 1e-3, "{normal}");
        }
    }

    #[test]
    fn words_are_read() {
        assert_eq!(
            unpack_visibility(1023 << 22 | 1023 | 2046 << 11),
            (Vec3::Y, 1.0)
        );
        assert_eq!(unpack_visibility(1023 | 1023 << 11), (Vec3::Z, 0.0));
        let (direction, share) = unpack_visibility(512 << 22);
        assert!((direction - Vec3::new(0.0, 0.0, -1.0)).length() < 1e-6);
        assert!((share - 0.5).abs() < 1e-3);
    }
}
