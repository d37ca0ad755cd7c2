//! CPU reference of `shadow_motion`, in f64: reprojects the shadow at a pixel into the last frame.

use super::signal::{Shadow, SurfacePoint};
use glam::{DMat3, DVec3};

/// Placement of a light's centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Middle {
    /// Infinitely far away in the direction of this unit vector.
    Towards(DVec3),
    /// At a position.
    At(DVec3),
}

/// Triangle that blocks light, with its corners now and in the last frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Blocker {
    /// Corners.
    pub corners: [DVec3; 3],
    /// Corners in the last frame.
    pub last_corners: [DVec3; 3],
}

impl Middle {
    fn direction_from(self, point: DVec3) -> DVec3 {
        match self {
            Self::Towards(direction) => direction,
            Self::At(position) => position - point,
        }
    }

    /// Projects a point from the light onto a plane through `position`. Returns `position` if the light
    /// grazes the plane.
    fn shadow_on_plane(self, point: DVec3, position: DVec3, normal: DVec3) -> DVec3 {
        let along = -self.direction_from(point);
        let approach = along.dot(normal);
        match approach.abs() > 0.02 * along.length() {
            true => point + (position - point).dot(normal) / approach * along,
            false => position,
        }
    }
}

impl Blocker {
    fn has_moved(&self) -> bool {
        self.corners != self.last_corners
    }

    /// Returns the point of the triangle that casts its shadow at `position`, now and in the last frame.
    fn caster(&self, middle: Middle, position: DVec3) -> [DVec3; 2] {
        let along = middle.direction_from(position);
        let [a, b, c] = self.corners.map(|corner| corner - position);
        let areas = [b.cross(c), c.cross(a), a.cross(b)].map(|area| area.dot(along));
        let area: f64 = areas.iter().sum();
        let inside = DVec3::from(areas.map(|part| (part / area).clamp(0.0, 1.0)));
        let weights = inside / inside.element_sum();
        [self.corners, self.last_corners].map(|[a, b, c]| DMat3::from_cols(a, b, c) * weights)
    }
}

/// Returns the shadow of a light at every pixel. Pixels are in rows of `width`. Each has its surface with the
/// normal of the last frame, and the blocker of its ray.
pub fn shadows(
    middle: Middle,
    width: usize,
    surfaces: &[Option<(SurfacePoint, DVec3)>],
    blockers: &[Option<Blocker>],
) -> Vec<Shadow> {
    let height = surfaces.len() / width;
    let shadow = |index: usize| {
        let (point, last_normal) = surfaces[index].as_ref()?;
        let moved = point.position != point.last_position;
        let [x, y] = [index % width, index / width];
        let (mut nearest, mut any_moved) = (None, false);
        for (i, j) in (0..25).map(|i| (i % 5, i / 5)) {
            let at = |at: usize, step: usize, side: usize| (at + step).saturating_sub(2).min(side - 1);
            let blocker = blockers[at(y, j, height) * width + at(x, i, width)].as_ref();
            let Some(blocker) = blocker else { continue };
            any_moved |= blocker.has_moved();
            let away = i.abs_diff(2).pow(2) + j.abs_diff(2).pow(2);
            if (moved || blocker.has_moved()) && nearest.is_none_or(|(least, _)| away < least) {
                nearest = Some((away, blocker));
            }
        }
        let blocker = blockers[index].as_ref().or(nearest.map(|(_, blocker)| blocker));
        let moves = moved || any_moved;
        if !moved && !blocker.is_some_and(Blocker::has_moved) {
            let last_position = None;
            return Some(Shadow { last_position, moves });
        }
        let still = [point.position; 2];
        let [caster, last] = blocker.map_or(still, |blocker| blocker.caster(middle, point.position));
        let now = middle.shadow_on_plane(caster, point.position, point.normal);
        let was = middle.shadow_on_plane(last, point.last_position, *last_normal);
        Some(Shadow {
            last_position: Some(was - (now - point.position)),
            moves,
        })
    };
    let still = Shadow {
        last_position: None,
        moves: false,
    };
    (0..surfaces.len())
        .map(|index| shadow(index).unwrap_or(still))
        .collect()
}
