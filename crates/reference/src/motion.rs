//! CPU reference of `motion`, in f64: screen-space motion of the triangle point that a pixel shows.

use glam::{DMat3, DMat4, DVec2, DVec3};

/// A camera.
#[derive(Debug, Clone, Copy)]
pub struct Camera {
    /// Transform to clip space from offsets to the eye in world axes.
    pub clip_from_offset: DMat4,
    /// World position.
    pub eye: DVec3,
}

impl Camera {
    /// Returns the position in a picture of `size` in pixels from its upper left corner, or `None` behind the
    /// camera.
    pub fn in_picture(&self, position: DVec3, size: [u32; 2]) -> Option<DVec2> {
        let clip = self.clip_from_offset * (position - self.eye).extend(1.0);
        let size = DVec2::new(size[0].into(), size[1].into());
        let place = DVec2::new(0.5, -0.5) * clip.truncate().truncate() / clip.w + 0.5;
        (clip.w > 0.0).then_some(place * size)
    }
}

/// Returns the motion of a point in pixels, x to the right and y down. The point keeps its barycentric
/// coordinates in its triangle, whose corners were at `last_corners`. Returns `None` if the point is behind
/// one of the cameras.
pub fn motion(
    size: [u32; 2],
    [now, last]: [&Camera; 2],
    corners: [DVec3; 3],
    last_corners: [DVec3; 3],
    position: DVec3,
) -> Option<DVec2> {
    let weights = barycentric(corners, position);
    let last_position = DMat3::from_cols_array_2d(&last_corners.map(DVec3::into)) * weights;
    let was = last.in_picture(last_position, size)?;
    Some(now.in_picture(position, size)? - was)
}

/// Returns the barycentric coordinates of a point in the plane of a triangle.
pub fn barycentric([a, b, c]: [DVec3; 3], position: DVec3) -> DVec3 {
    let normal = (b - a).cross(c - a);
    let area = |p: DVec3, q: DVec3| (p - position).cross(q - position).dot(normal);
    DVec3::new(area(b, c), area(c, a), area(a, b)) / normal.length_squared()
}
