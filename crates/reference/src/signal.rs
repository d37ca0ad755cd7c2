//! CPU reference of `reproject` and `signal_filter`, in f64: averages noisy signals over frames and
//! neighbours.

use super::temporal::cubic;
use glam::{DMat4, DVec2, DVec3};

/// Value that can be averaged.
pub trait Signal: Copy + Default {
    /// Adds `other` times `weight`.
    fn add(&mut self, weight: f64, other: Self);

    /// Returns a multiple of the value.
    fn scaled(self, by: f64) -> Self {
        let mut sum = Self::default();
        sum.add(by, self);
        sum
    }
}

/// Blocked light of a light source.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Blocked {
    /// Blocked fraction in [0, 1].
    pub share: f64,
    /// Share times the width of the penumbra in pixels.
    pub width: f64,
    /// Effective history length in frames.
    pub frames: f64,
}

impl Signal for Blocked {
    fn add(&mut self, weight: f64, other: Self) {
        self.share += weight * other.share;
        self.width += weight * other.width;
        self.frames += weight * other.frames;
    }
}

/// Surface of a pixel, for comparisons by the history and the filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    /// World position.
    pub position: DVec3,
    /// World position in the last frame.
    pub last_position: DVec3,
    /// Geometric normal of the triangle.
    pub normal: DVec3,
    /// Index of the mesh.
    pub mesh: usize,
    /// History length in frames.
    pub frames: u32,
}

/// Shadow at a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shadow {
    /// Position to reproject to in the last frame, or `None` to reproject the surface.
    pub last_position: Option<DVec3>,
    /// True if the shadow may have changed.
    pub moves: bool,
}

impl Blocked {
    /// Returns the maximum number of previous frames that count while the shadow moves.
    fn earlier_while_moving(self, point: &SurfacePoint) -> f64 {
        let width = self.width / self.share.max(1e-6);
        let least = f64::from(u8::from(point.position == point.last_position));
        least + 3.0 * width * width
    }
}

impl SurfacePoint {
    /// Returns the maximum of the distances of each point from the other's plane.
    fn away(&self, other: &Self) -> f64 {
        self.away_from(other, self.position)
    }

    /// True if `other` is this point at its position in the last frame.
    fn was_seen_as(&self, other: &Self, last_position: DVec3, now: &Eye) -> bool {
        self.away_from(other, last_position) < now.tolerance(self.position)
            && other.normal.dot(self.normal) > 0.9
            && other.mesh == self.mesh
    }

    /// Returns the distance like [`SurfacePoint::away`], with this point at `position`.
    fn away_from(&self, other: &Self, position: DVec3) -> f64 {
        let off = other.position - position;
        off.dot(self.normal).abs().max(off.dot(other.normal).abs())
    }
}

/// Pixels of a frame, row by row. `None` without a triangle.
pub type Frame<S> = Vec<Option<(SurfacePoint, S)>>;

/// View of a frame.
#[derive(Debug, Clone, Copy)]
pub struct Eye {
    /// Transform to clip space from offsets to the eye.
    pub clip_from_offset: DMat4,
    /// Position of the eye.
    pub position: DVec3,
    /// Unit vector of the view direction.
    pub forward: DVec3,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Size of a pixel in metres at the eye, and its increase per metre of depth.
    pub pixel_side: [f64; 2],
}

impl Eye {
    /// Returns the width of a pixel at a point, in metres.
    pub fn pixel_width(&self, at: DVec3) -> f64 {
        self.pixel_side[0] + self.pixel_side[1] * (at - self.position).dot(self.forward)
    }

    fn tolerance(&self, at: DVec3) -> f64 {
        self.pixel_width(at) + 9.536_743_2e-7 * at.abs().max_element()
    }

    /// Returns the projection of a position, in pixels from the upper left corner of the picture.
    fn in_picture(&self, at: DVec3) -> Option<DVec2> {
        let clip = self.clip_from_offset * (at - self.position).extend(1.0);
        let size = DVec2::new(self.size[0].into(), self.size[1].into());
        let at = clip.truncate().truncate() / clip.w * DVec2::new(0.5, -0.5) + 0.5;
        (clip.w > 0.0).then_some(at * size)
    }

    fn at<S: Copy>(&self, frame: &Frame<S>, at: [i64; 2]) -> Option<(SurfacePoint, S)> {
        let inside = at
            .iter()
            .zip(self.size)
            .all(|(&at, side)| (0..i64::from(side)).contains(&at));
        let index = || (at[1] * i64::from(self.size[0]) + at[0]) as usize;
        inside.then(|| frame[index()]).flatten()
    }
}

/// Reprojects the point of pixel `index` into the last frame, in pixels from the centre of the first pixel.
fn place_in_last(
    (index, point, last_position): (usize, &SurfacePoint, DVec3),
    now: &Eye,
    before: &Eye,
) -> Option<DVec2> {
    let pixel = DVec2::new(
        (index as u32 % now.size[0]).into(),
        (index as u32 / now.size[0]).into(),
    );
    let here = now.in_picture(point.position)?;
    Some(pixel + before.in_picture(last_position)? - here)
}

/// CPU reference of `reproject`: the last frame's mean at the reprojected surface of pixel `index`, and its
/// history length, limited to `max_history`.
fn history<S: Signal>(
    (index, point, last_position): (usize, &SurfacePoint, DVec3),
    now: &Eye,
    last: &Frame<S>,
    before: &Eye,
    max_history: u32,
) -> Option<(S, u32)> {
    let at = place_in_last((index, point, last_position), now, before)?;
    let part = at - at.floor();
    let (mut sum, mut frames, mut weights) = (S::default(), 0.0, 0.0);
    for [x, y] in [[0, 0], [1, 0], [0, 1], [1, 1]] {
        let tap = [at.x.floor() as i64 + x, at.y.floor() as i64 + y];
        let Some((other, found)) = before.at(last, tap) else {
            continue;
        };
        let same = point.was_seen_as(&other, last_position, now);
        let side = |step: i64, part: f64| if step == 1 { part } else { 1.0 - part };
        let weight = side(x, part.x) * side(y, part.y) * f64::from(u8::from(same));
        sum.add(weight, found);
        frames += weight * f64::from(other.frames);
        weights += weight;
    }
    let earlier = ((frames / weights).round() as u32).min(max_history);
    (weights > 0.01).then(|| (sum.scaled(1.0 / weights), earlier))
}

/// CPU reference of `signal_accumulate`: means over `noisy` and up to `max_history` previous frames.
pub fn accumulate<S: Signal>(
    noisy: &Frame<S>,
    now: &Eye,
    last: &Frame<S>,
    before: &Eye,
    max_history: u32,
) -> Frame<S> {
    let mean = |index: usize| {
        let (mut point, found) = noisy[index]?;
        let Some((mean, earlier)) = history(
            (index, &point, point.last_position),
            now,
            last,
            before,
            max_history,
        ) else {
            point.frames = 1;
            return Some((point, found));
        };
        point.frames = earlier + 1;
        Some((point, mixed(mean, found, 1.0 / f64::from(earlier + 1))))
    };
    (0..noisy.len()).map(mean).collect()
}

/// Returns the fraction and width in the last frame, filtered bicubically and clamped to the four nearest
/// pixels. Returns `None` if any of those shows another surface.
fn sharp_history(
    (index, point, place): (usize, &SurfacePoint, DVec3),
    now: &Eye,
    last: &Frame<Blocked>,
    before: &Eye,
) -> Option<(f64, f64)> {
    let at = place_in_last((index, point, place), now, before)?;
    let corner = [at.x.floor(), at.y.floor()].map(|side| side as i64);
    let [across, down] = [at.x - at.x.floor(), at.y - at.y.floor()].map(|f| cubic(f, 0.5));
    let (mut sum, mut least, mut most) = (DVec2::ZERO, DVec2::INFINITY, DVec2::ZERO);
    for (y, down) in (-1..).zip(down) {
        for (x, across) in (-1..).zip(across) {
            let inside = |at: i64, side: u32| at.clamp(0, i64::from(side) - 1);
            let tap = [
                inside(corner[0] + x, before.size[0]),
                inside(corner[1] + y, before.size[1]),
            ];
            let seen = before.at(last, tap);
            let found = seen.map_or(DVec2::ZERO, |(_, found)| DVec2::new(found.share, found.width));
            sum += across * down * found;
            if (0..2).contains(&x) && (0..2).contains(&y) {
                seen.filter(|(other, _)| point.was_seen_as(other, place, now))?;
                (least, most) = (least.min(found), most.max(found));
            }
        }
    }
    let sum = sum.clamp(least, most);
    Some((sum.x, sum.y))
}

/// Returns the exponential moving average of `history` and `noisy`, where `gain` is the weight of `noisy`.
fn mixed<S: Signal>(history: S, noisy: S, gain: f64) -> S {
    let mut mean = history.scaled(1.0 - gain);
    mean.add(gain, noisy);
    mean
}

/// CPU reference of `shadow_accumulate`, like [`accumulate`] but for blocked light. The history is
/// reprojected by the shadow's motion and clamped to the current 5 × 5 pixels. It counts less if the current
/// 3 × 3 pixels deviate from it, and is short where the shadow moves.
pub fn accumulate_blocked(
    noisy: &Frame<Blocked>,
    now: &Eye,
    last: &Frame<Blocked>,
    before: &Eye,
    shadows: &[Shadow],
    max_history: u32,
) -> Frame<Blocked> {
    let [width, height] = now.size.map(|side| side as usize);
    let of = |index: usize| {
        let (point, _) = noisy[index].as_ref()?;
        let at = |place| history((index, point, place), now, last, before, max_history);
        let (_, visible) = at(point.last_position)?;
        let shadow = shadows[index].last_position.filter(|place| at(*place).is_some());
        let place = shadow.unwrap_or(point.last_position);
        let linear = at(place)?.0;
        let cubic = shadows[index]
            .moves
            .then(|| sharp_history((index, point, place), now, last, before));
        Some((
            cubic.flatten().map_or(linear, |(share, width)| Blocked {
                share,
                width,
                ..linear
            }),
            visible,
        ))
    };
    let histories: Vec<Option<(Blocked, u32)>> = (0..noisy.len()).map(of).collect();
    let share = |x: usize, y: usize| noisy[y * width + x].map_or(0.0, |(_, found)| found.share);
    let mean = |index: usize| {
        let (mut point, found) = noisy[index]?;
        let Some((mut mean, earlier)) = histories[index] else {
            point.frames = 1;
            return Some((point, found));
        };
        let (x, y) = (index % width, index / width);
        // The 3 × 3 pixels stay within the tile of 8 × 8.
        let middle = |at: usize| at / 8 * 8 + (at % 8).clamp(1, 6);
        let (mut change, mut variance) = (0.0, 0.25);
        for (i, j) in (0..9).map(|i| (middle(x) + i % 3 - 1, middle(y) + i / 3 - 1)) {
            if i < width
                && j < height
                && let (Some((_, found)), Some((mean, _))) = (noisy[j * width + i], histories[j * width + i])
            {
                change += found.share - mean.share;
                variance += mean.share * (1.0 - mean.share);
            }
        }
        let deviations = (change.abs() / variance.sqrt() - 2.5) / 2.5;
        let changed = deviations.clamp(0.0, 1.0);
        let changed = changed * changed * (3.0 - 2.0 * changed);
        let around = (0..25).map(|i| {
            let at = |at: usize, step: usize, side: usize| (at + step).saturating_sub(2).min(side - 1);
            share(at(x, i % 5, width), at(y, i / 5, height))
        });
        let (least, most) = around.fold((1.0_f64, 0.0_f64), |(a, b), s| (a.min(s), b.max(s)));
        let limited = mean.share.clamp(least, most);
        mean.width *= (limited / mean.share.max(1e-6)).min(1.0);
        mean.share = limited;
        point.frames = earlier + 1;
        let most = match shadows[index].moves {
            true => mean.earlier_while_moving(&point).min(earlier.into()),
            false => earlier.into(),
        };
        let gain = (1.0 / (mean.frames.min(most) + 1.0)).max(changed);
        let frames = 1.0 / gain;
        Some((
            point,
            Blocked {
                frames,
                ..mixed(mean, found, gain)
            },
        ))
    };
    (0..noisy.len()).map(mean).collect()
}

/// Returns the weighted sums over the neighbours of a pixel, for those in its row or column and for those at
/// the corners.
fn neighbours<S: Signal>(frame: &Frame<S>, eye: &Eye, index: usize, step: u32) -> [(S, f64); 2] {
    let mut sums = [(S::default(), 0.0); 2];
    let Some((point, _)) = frame[index] else {
        return sums;
    };
    let [x, y] = [index as u32 % eye.size[0], index as u32 / eye.size[0]].map(i64::from);
    for (i, j) in (-1..=1).flat_map(|j| (-1..=1).map(move |i| (i, j))) {
        let tap = [x + i * i64::from(step), y + j * i64::from(step)];
        let Some((other, found)) = eye.at(frame, tap).filter(|_| (i, j) != (0, 0)) else {
            continue;
        };
        let trust = (f64::from(other.frames) / f64::from(point.frames)).min(1.0);
        let alike = other.normal.dot(point.normal).max(0.0).powi(8);
        let near = 1.0 - point.away(&other) / eye.tolerance(point.position);
        let weight = trust * alike * near.max(0.0);
        let (sum, weights) = &mut sums[usize::from(i != 0 && j != 0)];
        sum.add(weight, found);
        *weights += weight;
    }
    sums
}

/// Returns the mean of a pixel and its neighbours, for a kernel variance of `spread` over the square of their
/// distance.
fn mean<S: Signal>(own: S, [edges, corners]: [(S, f64); 2], spread: f64) -> S {
    let outer = 0.5 * spread / (1.0 - spread);
    let mut sum = own;
    sum.add(outer, edges.0);
    sum.add(outer * outer, corners.0);
    sum.scaled(1.0 / (1.0 + outer * edges.1 + outer * outer * corners.1))
}

/// Returns the largest kernel variance of a round over the square of `step`, for pixels with this many rays.
fn spread(rays: f64, step: u32) -> f64 {
    (32.0 / (rays * f64::from(step * step))).min(0.5)
}

/// CPU reference of `signal_filter`, with taps `step` pixels apart, for pixels with `rays` rays a frame.
pub fn filter<S: Signal>(frame: &Frame<S>, eye: &Eye, rays: u32, step: u32) -> Frame<S> {
    let smoothed = |index: usize| {
        let (point, own) = frame[index]?;
        let around = neighbours(frame, eye, index, step);
        Some((
            point,
            mean(own, around, spread(f64::from(point.frames * rays), step)),
        ))
    };
    (0..frame.len()).map(smoothed).collect()
}

/// CPU reference of `shadow_smooth`, like [`filter`] but no wider than the penumbra, and only where taps
/// differ.
pub fn filter_blocked(frame: &Frame<Blocked>, eye: &Eye, rays: u32, step: u32) -> Frame<Blocked> {
    let smoothed = |index: usize| {
        let (point, own) = frame[index]?;
        // Precision of a fraction in a packed word.
        let held = |share: f64| (share.clamp(0.0, 1.0) * 16383.0).round() as u32;
        let [x, y] = [index as u32 % eye.size[0], index as u32 / eye.size[0]].map(i64::from);
        let varies = (-1..=1)
            .flat_map(|j| (-1..=1).map(move |i| [i, j]))
            .any(|[i, j]| {
                let tap = [x + i * i64::from(step), y + j * i64::from(step)];
                let [width, height] = eye.size.map(i64::from);
                let there = (0..width).contains(&tap[0]) && (0..height).contains(&tap[1]);
                let share = eye.at(frame, tap).map_or(0.0, |(_, blocked)| blocked.share);
                there && held(share) != held(own.share)
            });
        if !varies {
            return Some((point, own));
        }
        let around = neighbours(frame, eye, index, step);
        let mut blocked = own;
        around.iter().for_each(|(sum, _)| blocked.add(1.0, *sum));
        let width = blocked.width / blocked.share.max(1e-6);
        let rays = f64::from(point.frames).min(own.frames) * f64::from(rays);
        let square = f64::from(step * step);
        let wanted = (0.25 * width).powi(2) / rays - (square - 1.0) / 6.0;
        let spread = spread(rays, step).min(wanted.max(0.0) / square);
        let frames = own.frames;
        Some((
            point,
            Blocked {
                frames,
                ..mean(own, around, spread)
            },
        ))
    };
    (0..frame.len()).map(smoothed).collect()
}
