//! Projection of world-space points into the picture.

use crate::render::View;
use glam::{Mat4, Vec2, Vec3, Vec4};

/// Projection of a camera into a picture of a given size.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct Projector {
    clip_from_offset: Mat4,
    eye: Vec3,
    size: Vec2,
    /// Smallest clip-space w in front of the near plane.
    least_w: f32,
}

impl Projector {
    /// Creates a projector for a picture of `size` pixels or user-interface points.
    pub(in crate::app) fn new(view: &View, size: Vec2) -> Self {
        let size = size.max(Vec2::ONE);
        Self {
            clip_from_offset: view.clip_from_offset(size.x / size.y),
            eye: view.eye(),
            size,
            // In a parallel projection w is 1 everywhere.
            least_w: view.near.min(0.5),
        }
    }

    fn clip(&self, point: Vec3) -> Vec4 {
        self.clip_from_offset * (point - self.eye).extend(1.0)
    }

    fn pixel(&self, clip: Vec4) -> Vec2 {
        let ndc = Vec2::new(clip.x, -clip.y) / clip.w;
        (ndc * 0.5 + 0.5) * self.size
    }

    /// Returns the pixel of a world-space point, relative to the upper left corner. `None` for a point behind
    /// the near plane.
    pub(in crate::app) fn project(&self, point: Vec3) -> Option<Vec2> {
        let clip = self.clip(point);
        (clip.w >= self.least_w).then(|| self.pixel(clip))
    }

    /// Returns the world-space point at `pixel` that has the depth of `point`. `None` if `point` is behind
    /// the near plane.
    pub(in crate::app) fn moved(&self, point: Vec3, pixel: Vec2) -> Option<Vec3> {
        let clip = self.clip(point);
        let ndc = pixel / self.size * 2.0 - 1.0;
        let wanted = Vec4::new(ndc.x * clip.w, -ndc.y * clip.w, clip.z, clip.w);
        let offset = self.clip_from_offset.inverse() * wanted;
        let moved = self.eye + offset.truncate() / offset.w;
        (clip.w >= self.least_w && moved.is_finite()).then_some(moved)
    }

    /// Clips a segment at the near plane. Returns the pixels of the clipped ends, their parameters along the
    /// segment from 0 to 1, and their clip-space w. `None` if the whole segment is behind the near plane.
    fn segment_with_shares(&self, ends: [Vec3; 2]) -> Option<([Vec2; 2], [f32; 2], [f32; 2])> {
        let clips = ends.map(|end| self.clip(end));
        let [a, b] = clips;
        if !a.is_finite() || !b.is_finite() || a.w.max(b.w) < self.least_w {
            return None;
        }
        let cut = (self.least_w - a.w) / (b.w - a.w);
        let shares = [
            if a.w < self.least_w { cut } else { 0.0 },
            if b.w < self.least_w { cut } else { 1.0 },
        ];
        let at = shares.map(|share| a.lerp(b, share));
        Some((at.map(|clip| self.pixel(clip)), shares, at.map(|clip| clip.w)))
    }

    /// Returns the pixels of both ends of a segment after clipping at the near plane. `None` if the whole
    /// segment is behind it.
    pub(in crate::app) fn segment(&self, ends: [Vec3; 2]) -> Option<[Vec2; 2]> {
        self.segment_with_shares(ends).map(|(pixels, ..)| pixels)
    }

    /// Returns the world-space point of a segment that is nearest to `pixel` in the picture, and the distance
    /// in pixels. `None` if the whole segment is behind the near plane.
    pub(in crate::app) fn nearest_on_segment(&self, ends: [Vec3; 2], pixel: Vec2) -> Option<(Vec3, f32)> {
        let ([a, b], shares, w) = self.segment_with_shares(ends)?;
        let along = b - a;
        let length = along.length_squared();
        let s = match length > 0.0 {
            true => ((pixel - a).dot(along) / length).clamp(0.0, 1.0),
            false => 0.0,
        };
        let distance = pixel.distance(a.lerp(b, s));
        // Perspective-correct interpolation: 1 / w is linear in the picture, the parameter in world space is
        // not.
        let of_visible = s * w[0] / (s * w[0] + (1.0 - s) * w[1]);
        let share = shares[0] + of_visible * (shares[1] - shares[0]);
        Some((ends[0].lerp(ends[1], share), distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Projection;

    fn views() -> [View; 2] {
        let view = View {
            world_from_view: Mat4::from_translation(Vec3::new(100.0, 2.0, 5.0)),
            projection: Projection::Perspective { fov_y: 1.0 },
            near: 0.1,
            far: 100.0,
        };
        let projection = Projection::Orthographic { half_height: 2.0 };
        [view, View { projection, ..view }]
    }

    #[test]
    fn projecting_a_point_on_a_pixel_ray_gives_the_pixel() {
        for view in views() {
            let projector = Projector::new(&view, Vec2::new(320.0, 200.0));
            let pixel = Vec2::new(250.0, 40.0);
            let [origin, direction] = view.ray(pixel, [320, 200]);
            let back = projector.project(origin + 3.0 * direction).unwrap();
            assert!(back.distance(pixel) < 1e-2, "{back}");
        }
        let projector = Projector::new(&views()[0], Vec2::new(320.0, 200.0));
        assert_eq!(projector.project(Vec3::new(100.0, 2.0, 6.0)), None);
        assert_eq!(projector.moved(Vec3::new(100.0, 2.0, 6.0), Vec2::ZERO), None);
    }

    #[test]
    fn points_move_parallel_to_the_image_plane() {
        for view in views() {
            let projector = Projector::new(&view, Vec2::new(320.0, 200.0));
            let point = Vec3::new(100.5, 1.5, 1.0);
            let pixel = Vec2::new(250.0, 40.0);
            let moved = projector.moved(point, pixel).unwrap();
            assert!(
                projector.project(moved).unwrap().distance(pixel) < 1e-2,
                "{moved}"
            );
            assert!((moved.z - point.z).abs() < 1e-4, "{moved}");
            let still = projector.moved(point, projector.project(point).unwrap()).unwrap();
            assert!(still.distance(point) < 1e-4, "{still}");
        }
    }

    #[test]
    fn the_nearest_point_of_a_segment_projects_to_the_pixel() {
        for view in views() {
            let projector = Projector::new(&view, Vec2::new(320.0, 200.0));
            // A segment from behind the camera far into the picture.
            let ends = [Vec3::new(99.0, 1.0, 7.0), Vec3::new(101.0, 2.5, -8.0)];
            let on_line = ends[0].lerp(ends[1], 0.6);
            let pixel = projector.project(on_line).unwrap();
            let (found, distance) = projector.nearest_on_segment(ends, pixel).unwrap();
            assert!(found.distance(on_line) < 1e-2, "{found} {on_line}");
            assert!(distance < 0.1, "{distance}");
        }
        let projector = Projector::new(&views()[0], Vec2::new(320.0, 200.0));
        let behind = [Vec3::new(100.0, 0.0, 6.0), Vec3::new(100.0, 0.0, 9.0)];
        assert_eq!(projector.segment(behind), None);
    }
}
