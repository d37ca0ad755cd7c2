//! Camera of the first view, and its clip planes.

use super::{
    extent::{NOTHING, distance, extent, or_unit_cube},
    ground::Ground,
};
use crate::{Result, animation::Pose, bounds::Aabb, camera::Projection, graph::Scene, settings};
use glam::{Mat4, Vec3};

/// Direction from a framed scene to the eye: from the front, slightly from the right and from above.
const FRAMING_DIRECTION: Vec3 = Vec3::new(0.62, 0.42, 1.0);

/// Margin around a framed scene, as a fraction of the image.
const FRAMING_MARGIN: f32 = 0.06;

/// A camera without its clip planes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewpoint {
    /// Camera transform without scale. The camera looks along its −Z.
    pub world_from_view: Mat4,
    /// Projection of the camera.
    pub projection: Projection,
}

/// Settings of the first view from the command line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Look {
    /// Eye position.
    pub eye: Option<Vec3>,
    /// Look-at point.
    pub target: Option<Vec3>,
    /// Complete view, which overrides `eye` and `target`.
    pub view: Option<Viewpoint>,
}

impl Viewpoint {
    /// Returns the first view. It comes from `look` if that is set, else from the camera that `config`
    /// selects. Otherwise it frames `points`, the positions of the scene in `pose`.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) if the scene has no such camera.
    pub fn first(
        scene: &Scene,
        pose: &Pose,
        points: &[Vec3],
        look: &Look,
        config: &settings::Camera,
        aspect: f32,
    ) -> Result<Self> {
        if let Some(view) = look.view {
            return Ok(view);
        }
        if *look == Look::default() {
            let camera = scene.camera(&config.name)?;
            if let Some(view) = camera.and_then(|camera| Self::of_camera(scene, pose, camera)) {
                return Ok(view);
            }
        }
        let projection = Projection::Perspective {
            fov_y: config.fov.to_radians(),
        };
        let framed = Self::framing(points, projection, aspect);
        let center = Aabb::from_points(points.iter().copied()).center();
        Ok(match (look.eye, look.target) {
            (None, None) => framed,
            (None, Some(target)) => {
                let eye = framed.eye() + (target - center);
                Self::look_to(eye, target - eye, Vec3::Y, projection)
            }
            (Some(eye), target) => {
                let target = target.unwrap_or(center);
                Self::look_to(eye, target - eye, Vec3::Y, projection)
            }
        })
    }

    /// Creates a view from `eye` along `direction`, with `up` as far up as possible.
    pub fn look_to(eye: Vec3, direction: Vec3, up: Vec3, projection: Projection) -> Self {
        let back = -direction.normalize_or(Vec3::NEG_Z);
        let right = up
            .cross(back)
            .try_normalize()
            .filter(|right| right.is_finite())
            .unwrap_or_else(|| Vec3::X.reject_from(back).normalize_or(Vec3::X));
        let up = back.cross(right);
        Self {
            world_from_view: Mat4::from_cols(
                right.extend(0.0),
                up.extend(0.0),
                back.extend(0.0),
                eye.extend(1.0),
            ),
            projection,
        }
    }

    /// Creates a view that centres `points` in a picture of this aspect ratio (width over height) and shows
    /// all of them.
    pub fn framing(points: &[Vec3], projection: Projection, aspect: f32) -> Self {
        Self::framing_from(points, FRAMING_DIRECTION, Vec3::Y, projection, aspect)
    }

    /// Creates a view like [`Self::framing`], seen from `direction` (from the scene to the eye), with `up` as
    /// far up as possible.
    pub fn framing_from(
        points: &[Vec3],
        direction: Vec3,
        up: Vec3,
        projection: Projection,
        aspect: f32,
    ) -> Self {
        let nothing = NOTHING.corners();
        let points = if points.is_empty() { &nothing } else { points };
        let bounds = Aabb::from_points(points.iter().copied());
        let mut view = Self::look_to(bounds.center(), -direction, up, projection);
        let view_from_world = view.world_from_view.inverse();
        let room = 1.0 - FRAMING_MARGIN;
        // A point lies within the right edge of the image while x − eye.x ≤ slope (eye.z − z), and likewise
        // for the other edges. So the extreme point along each edge's normal determines that edge, and two
        // opposite edges determine the eye.
        let slope = match projection {
            Projection::Perspective { fov_y } => (fov_y * 0.5).tan() * room,
            Projection::Orthographic { .. } => 0.0,
        };
        let slopes = [slope * aspect, slope];
        let mut edges = [[f32::NEG_INFINITY; 2]; 2];
        for point in points {
            let p = view_from_world.transform_point3(*point);
            for (axis, edge) in edges.iter_mut().enumerate() {
                edge[0] = edge[0].max(p[axis] + slopes[axis] * p.z);
                edge[1] = edge[1].max(-p[axis] + slopes[axis] * p.z);
            }
        }
        let [[right, left], [top, bottom]] = edges;
        let extent = extent(bounds);
        let distance = match &mut view.projection {
            Projection::Perspective { .. } => {
                let across = (right + left) / (2.0 * slopes[0]);
                across.max((top + bottom) / (2.0 * slopes[1]))
            }
            Projection::Orthographic { half_height } => {
                let half = ((top + bottom) * 0.5).max((right + left) * 0.5 / aspect);
                *half_height = half.max(extent * 1e-3) / room;
                2.0 * extent
            }
        };
        // Points on a line towards the eye have no extent in the image.
        let mut eye = Vec3::new(
            (right - left) * 0.5,
            (top - bottom) * 0.5,
            distance.max(extent * 0.5),
        );
        if matches!(projection, Projection::Perspective { .. }) {
            eye = centered(points, &view_from_world, eye);
        }
        let eye = view.world_from_view.transform_point3(eye);
        if eye.is_finite() {
            view.world_from_view.w_axis = eye.extend(1.0);
        }
        view
    }

    /// Returns the view of a camera of the file, or `None` if no node carries it.
    pub fn of_camera(scene: &Scene, pose: &Pose, camera: usize) -> Option<Self> {
        let node = scene.nodes.iter().position(|n| n.camera == Some(camera))?;
        let world_from_node = pose.world_from_node.get(node)?;
        // Rebuilt without scale, because a mirrored camera would flip the image.
        let world_from_node = world_from_node.as_mat4();
        Some(Self::look_to(
            world_from_node.w_axis.truncate(),
            -world_from_node.z_axis.truncate(),
            world_from_node.y_axis.truncate(),
            pose.camera(scene, camera).projection,
        ))
    }

    /// Returns the same viewpoint relative to `origin`.
    pub fn relative_to(mut self, origin: Vec3) -> Self {
        self.world_from_view.w_axis -= origin.extend(0.0);
        self
    }

    /// Converts a viewpoint relative to `origin` to world space. Returns it with the rounding error of its
    /// f32 eye: exact position minus rounded one, in metres.
    pub fn in_world(mut self, origin: Vec3) -> (Self, Vec3) {
        let exact = self.eye().as_dvec3() + origin.as_dvec3();
        let rounded = exact.as_vec3();
        self.world_from_view.w_axis = rounded.extend(1.0);
        (self, (exact - rounded.as_dvec3()).as_vec3())
    }

    /// Returns the eye position.
    pub fn eye(&self) -> Vec3 {
        self.world_from_view.w_axis.truncate()
    }

    /// Returns the view direction.
    pub fn forward(&self) -> Vec3 {
        -self.world_from_view.z_axis.truncate()
    }

    /// Returns this view of `points`, or `other` if this view is hardly closer to them.
    pub(crate) fn or_if_not_closer(self, other: Self, points: &[Vec3]) -> Self {
        /// Maximum ratio of the distances at which the closer view is used.
        const CLOSER: f32 = 0.97;
        let middle = Aabb::from_points(points.iter().copied()).center();
        let [own, others] = [self, other].map(|view| view.eye().distance(middle));
        if own < CLOSER * others { self } else { other }
    }

    /// True if `point` lies within the image of this aspect ratio, ignoring occlusion.
    pub fn sees(&self, point: Vec3, aspect: f32) -> bool {
        let seen = self.world_from_view.inverse().transform_point3(point);
        let half_height = match self.projection {
            Projection::Perspective { fov_y } => -seen.z * (fov_y * 0.5).tan(),
            Projection::Orthographic { half_height } => half_height,
        };
        seen.z < 0.0 && seen.y.abs() < half_height && seen.x.abs() < aspect * half_height
    }

    /// Returns near and far planes in metres that enclose `bounds`, with margin for objects that move
    /// slightly out of them.
    ///
    /// `focus` is the distance in metres to the look-at point, which is never clipped. `ground` is never
    /// clipped either.
    pub fn clip_planes(&self, bounds: Aabb, focus: f32, ground: Option<&Ground>) -> (f32, f32) {
        let bounds = or_unit_cube(bounds);
        let reach = bounds.center().distance(self.eye()) + extent(bounds);
        // With reversed floating-point depth, a near plane this close costs no precision at a distance.
        let least = reach * 1e-7;
        let near = (distance(bounds, self.eye()) * 0.1).max(least);
        let to_ground = ground.map_or(f32::INFINITY, |g| distance(g.bounds(), self.eye()));
        let near = near.min((focus.min(to_ground) * 0.1).max(least));
        (near, reach * 4.0)
    }
}

/// Moves `eye` sideways until `points` are centred in the image. Applies Newton's method to the sum of the
/// largest and the smallest tangent along each axis.
fn centered(points: &[Vec3], view_from_world: &Mat4, mut eye: Vec3) -> Vec3 {
    for _ in 0..4 {
        // The largest and the smallest tangent along each axis, each with its depth.
        let mut ends = [[(f32::NEG_INFINITY, 1.0), (f32::INFINITY, 1.0)]; 2];
        for point in points {
            let p = view_from_world.transform_point3(*point) - eye;
            for (axis, [greatest, least]) in ends.iter_mut().enumerate() {
                let tangent = p[axis] / -p.z;
                if tangent > greatest.0 {
                    *greatest = (tangent, -p.z);
                }
                if tangent < least.0 {
                    *least = (tangent, -p.z);
                }
            }
        }
        for (axis, [greatest, least]) in ends.into_iter().enumerate() {
            let step = (greatest.0 + least.0) / (1.0 / greatest.1 + 1.0 / least.1);
            if step.is_finite() {
                eye[axis] += step;
            }
        }
    }
    eye
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENS: Projection = Projection::Perspective { fov_y: 0.8 };

    fn cuboid(center: Vec3, half: Vec3) -> Aabb {
        Aabb {
            min: center - half,
            max: center + half,
        }
    }

    /// Framing holds every corner within the image and between the clip planes, and fills the image well.
    /// Tested from a millimetre to 100 km, for wide and tall boxes, near the origin and off it.
    #[test]
    fn framing_holds_every_corner_at_every_scale() {
        for scale in [1e-3, 1.0, 1e5] {
            for half in [Vec3::ONE, Vec3::new(1.0, 0.01, 0.2), Vec3::new(0.1, 2.0, 0.0)] {
                for (offset, aspect) in [(Vec3::ZERO, 1.78), (Vec3::new(9.0, -7.0, 20.0), 0.5)] {
                    let bounds = cuboid(offset * scale, half * scale);
                    let view = Viewpoint::framing(&bounds.corners(), LENS, aspect);
                    let focus = distance(bounds, view.eye());
                    let (near, far) = view.clip_planes(bounds, focus, None);
                    let tan = 0.4_f32.tan();
                    let mut widest = 0.0_f32;
                    let mut sides = [f32::MAX, f32::MIN, f32::MAX, f32::MIN];
                    for corner in bounds.corners() {
                        let p = view.world_from_view.inverse().transform_point3(corner);
                        assert!((near..far).contains(&-p.z), "{near} {far} {p}");
                        let (x, y) = (p.x / -p.z / tan / aspect, p.y / -p.z / tan);
                        widest = widest.max(x.abs()).max(y.abs());
                        sides = [sides[0].min(x), sides[1].max(x), sides[2].min(y), sides[3].max(y)];
                    }
                    assert!((0.9..0.96).contains(&widest), "{widest} {bounds:?}");
                    assert!(
                        (sides[0] + sides[1]).abs() < 0.02 && (sides[2] + sides[3]).abs() < 0.02,
                        "{sides:?}"
                    );
                    assert!(far / near < 1e5, "{near} {far}");
                }
            }
        }
    }

    #[test]
    fn orthographic_framing_fits() {
        let bounds = cuboid(Vec3::ZERO, Vec3::ONE);
        let lens = Projection::Orthographic { half_height: 1.0 };
        let view = Viewpoint::framing_from(&bounds.corners(), Vec3::Z, Vec3::Y, lens, 1.0);
        let Projection::Orthographic { half_height } = view.projection else {
            panic!("the projection changed")
        };
        assert!((1.0..1.1).contains(&half_height));
        assert!(view.eye().z > 1.0);
    }

    #[test]
    fn no_view_direction_gives_a_degenerate_matrix() {
        for direction in [Vec3::Y, Vec3::NEG_Y, Vec3::ZERO, Vec3::X, Vec3::splat(1e-30)] {
            let m = Viewpoint::look_to(Vec3::ZERO, direction, Vec3::Y, LENS).world_from_view;
            assert!((m.determinant() - 1.0).abs() < 1e-4, "{direction}: {m}");
        }
    }

    #[test]
    fn an_empty_scene_is_framed_like_a_unit_cube() {
        let view = Viewpoint::framing(&[], LENS, 1.5);
        assert_eq!(view, Viewpoint::framing(&NOTHING.corners(), LENS, 1.5));
        let (near, far) = view.clip_planes(Aabb::EMPTY, view.eye().length(), None);
        assert!(0.0 < near && near < far && far < 100.0, "{near} {far}");
        assert_eq!(extent(Aabb::EMPTY), extent(NOTHING));
    }

    #[test]
    fn clip_planes_suit_views_from_inside_and_close_up() {
        let bounds = cuboid(Vec3::ZERO, Vec3::splat(10.0));
        let view = Viewpoint::look_to(Vec3::ZERO, Vec3::Z, Vec3::Y, LENS);
        let (near, far) = view.clip_planes(bounds, 1.0, None);
        assert!(near <= 0.01 && far > 17.4, "{near} {far}");
        assert!(view.clip_planes(bounds, 1e-3, None).0 <= 1.1e-4);
    }
}
