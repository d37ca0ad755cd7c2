//! The first view of a scene: bounds, a camera that sees all of them, clip planes that fit, and an exposure.

use super::{Light, LightKind, Pose, Projection, Scene, bounds::Aabb};
use crate::{Result, config};
use glam::{Mat4, Vec3};

/// Half the diagonal in metres, never zero: a point has no size of its own, so it gets what its coordinates can tell apart.
pub fn extent(bounds: Aabb) -> f32 {
    let bounds = or_nothing(bounds);
    let radius = bounds.radius().max(bounds.center().length() * 1e-5);
    radius.clamp(1e-9, f32::MAX.sqrt())
}

/// What stands in for a scene in which there is nothing to see.
const NOTHING: Aabb = Aabb {
    min: Vec3::splat(-0.5),
    max: Vec3::splat(0.5),
};

/// `bounds`, or what stands in for them.
fn or_nothing(bounds: Aabb) -> Aabb {
    if bounds.is_empty() { NOTHING } else { bounds }
}

/// Where coordinates of what lies in `bounds` are best counted from. Far from the world's origin f32 has no room for the detail of a scene that is
/// small: there it is the scene's middle. Elsewhere it is the world's origin, and coordinates are what files say.
pub fn origin(bounds: Aabb) -> Vec3 {
    let center = bounds.center();
    let is_far = center.is_finite() && center.abs().max_element() > 64.0 * bounds.radius();
    if is_far { center } else { Vec3::ZERO }
}

/// Distance in metres from `point` to the box; 0 inside.
fn distance(bounds: Aabb, point: Vec3) -> f32 {
    point.max(bounds.min).min(bounds.max).distance(point)
}

/// Where the framed scene is seen from: the front, a little from the right and from above.
const FRAMING_DIRECTION: Vec3 = Vec3::new(0.62, 0.42, 1.0);

/// Room around a framed scene, as a share of the picture.
const FRAMING_MARGIN: f32 = 0.06;

/// A camera without its clip planes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewpoint {
    /// The camera, looking along its −Z; rotation and translation only.
    pub world_from_view: Mat4,
    /// How it sees.
    pub projection: Projection,
}

/// What a person asked of the first view on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Look {
    /// Stand here.
    pub eye: Option<Vec3>,
    /// Look there.
    pub target: Option<Vec3>,
}

impl Viewpoint {
    /// The view to start with: `look` if it says something, else the camera that `config` names, else all of `points`, which are
    /// those of the scene in `pose`.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) when the scene has no such camera.
    pub fn first(
        scene: &Scene,
        pose: &Pose,
        points: &[Vec3],
        look: &Look,
        config: &config::Camera,
        aspect: f32,
    ) -> Result<Self> {
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
        let center = Aabb::of(points.iter().copied()).center();
        Ok(match (look.eye, look.target) {
            (None, None) => framed,
            (None, Some(target)) => {
                let eye = framed.eye() + (target - center);
                Self::looking(eye, target - eye, Vec3::Y, projection)
            }
            (Some(eye), target) => {
                let target = target.unwrap_or(center);
                Self::looking(eye, target - eye, Vec3::Y, projection)
            }
        })
    }

    /// From `eye` along `direction`, with `up` upwards as far as it can be.
    pub fn looking(eye: Vec3, direction: Vec3, up: Vec3, projection: Projection) -> Self {
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

    /// All of `points`, as large as they fit into a picture of this `aspect` (width over height), and in its middle.
    pub fn framing(points: &[Vec3], projection: Projection, aspect: f32) -> Self {
        Self::framing_from(points, FRAMING_DIRECTION, projection, aspect)
    }

    /// As [`Self::framing`], seen from `direction` (from the scene to the eye).
    pub fn framing_from(
        points: &[Vec3],
        direction: Vec3,
        projection: Projection,
        aspect: f32,
    ) -> Self {
        let nothing = NOTHING.corners();
        let points = if points.is_empty() { &nothing } else { points };
        let bounds = Aabb::of(points.iter().copied());
        let mut view = Self::looking(bounds.center(), -direction, Vec3::Y, projection);
        let view_from_world = view.world_from_view.inverse();
        let room = 1.0 - FRAMING_MARGIN;
        // A point lies inside the picture's right edge while x − eye.x ≤ slope (eye.z − z), and so on for the other edges. So
        // the farthest point along each edge's normal says where that edge has to be, and two edges where the eye has to be.
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
        // Points on a line towards the eye need no room at all.
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

    /// The camera of the file with this index; `None` when no node carries it.
    pub fn of_camera(scene: &Scene, pose: &Pose, camera: usize) -> Option<Self> {
        let node = scene.nodes.iter().position(|n| n.camera == Some(camera))?;
        let world_from_node = pose.world_from_node.get(node)?;
        // Scale means nothing to a camera, and a mirrored one would turn the picture over.
        Some(Self::looking(
            world_from_node.w_axis.truncate(),
            -world_from_node.z_axis.truncate(),
            world_from_node.y_axis.truncate(),
            pose.camera(scene, camera).projection,
        ))
    }

    /// Where it stands.
    pub fn eye(&self) -> Vec3 {
        self.world_from_view.w_axis.truncate()
    }

    /// Where it looks.
    pub fn forward(&self) -> Vec3 {
        -self.world_from_view.z_axis.truncate()
    }

    /// Near and far planes in metres that hold `bounds`, and what moves a little out of them.
    ///
    /// `focus` is the distance in metres to what is looked at, and never clipped.
    pub fn clip_planes(&self, bounds: Aabb, focus: f32) -> (f32, f32) {
        let bounds = or_nothing(bounds);
        let reach = bounds.center().distance(self.eye()) + extent(bounds);
        // Depth is reversed floats: a near plane this close costs no precision far away.
        let least = reach * 1e-7;
        let near = (distance(bounds, self.eye()) * 0.1).max(least);
        let near = near.min((focus * 0.1).max(least));
        (near, reach * 4.0)
    }
}

/// `eye` moved sideways until what it sees of `points` is in the middle of the picture; Newton's method on the sum of the greatest
/// and the least tangent, along each axis.
fn centered(points: &[Vec3], view_from_world: &Mat4, mut eye: Vec3) -> Vec3 {
    for _ in 0..4 {
        // For each axis the greatest and the least tangent, and how far away they are.
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

/// What light is exposed for, in lux.
const USUAL_LUX: f32 = 3.0;

/// Light at the scene's centre, in lux, that needs no other exposure: half of what is usual to twice as much, and then some.
const FITTING_LUX: std::ops::RangeInclusive<f32> = 0.5..=6.0;

/// The same where nothing in the scene has a material of its own. What stands in for them is bright: under more light, curves press its shades
/// together.
const FITTING_LUX_OF_STAND_INS: std::ops::RangeInclusive<f32> = 0.5..=3.0;

/// What surfaces that face the brighter side of a sky, or of an environment's file, get of it, over the mean of all.
const BRIGHTER_SIDE: f32 = 2.0;

/// The exposure in stops: what `config` says, or if that is `auto`, what the scene's lights ask for.
///
/// glTF counts light in lux and candela, and files hold anything from 1 to 100,000 lux. The light at the scene's centre is
/// the sum of the directional lights' lux and the other lights' candela over squared distance (of at least a quarter of
/// the scene's radius), weighted by luminance. Between 0.5 and 6 lux the exposure is 0 EV; outside of that it maps the light
/// to 3 lux. Light from all around counts with what it gives a surface on the average; `file_luminance` is the mean of the environment's
/// file. Where no primitive has a material of its own, light from 3 lux on is mapped to 3, and what counts of a sky or a file is its brighter
/// side. Lights past the first `light_limit` do not shine, and those whose range or cone ends short of the scene do not arrive: neither count.
pub fn exposure_ev(
    scene: &Scene,
    pose: &Pose,
    bounds: Aabb,
    config: &config::Config,
    file_luminance: f32,
    light_limit: usize,
) -> f32 {
    if let Some(ev) = config.image.exposure_ev() {
        return ev;
    }
    let has_sun = config.has_sun(scene.nodes.iter().any(|node| node.light.is_some()));
    let mut lux = around_lux(config, file_luminance);
    let mut fitting = FITTING_LUX;
    if lacks_materials(scene) {
        fitting = FITTING_LUX_OF_STAND_INS;
        if config.environment.is_file() || config.environment.is_sky() {
            lux *= BRIGHTER_SIDE;
        }
    }
    if has_sun {
        lux += config.sun.strength * luminance(config.sun.color.into());
    }
    let placed = scene.nodes.iter().zip(&pose.world_from_node);
    let shining = placed
        .zip(&pose.visible)
        .filter(|(_, shows)| **shows)
        .filter_map(|((node, matrix), _)| Some((pose.light(scene, node.light?), matrix)))
        .take(light_limit.saturating_sub(usize::from(has_sun)));
    lux += shining
        .map(|(light, world_from_light)| lux_of(light, world_from_light, bounds))
        .sum::<f32>();
    if lux > 0.0 && lux.is_finite() && !fitting.contains(&lux) {
        (USUAL_LUX / lux).log2()
    } else {
        0.0
    }
}

/// Whether there is something to see, and none of it has a material of its own.
fn lacks_materials(scene: &Scene) -> bool {
    let primitives = || scene.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let stands_in = |material: usize| scene.materials.get(material).is_some_and(|m| m.stand_in);
    primitives().next().is_some() && primitives().all(|p| stands_in(p.material))
}

/// What a light gives the scene's centre, in lux; nothing where it ends short of `bounds`.
fn lux_of(light: &Light, world_from_light: &Mat4, bounds: Aabb) -> f32 {
    let power = light.intensity * luminance(light.color);
    let axis = -world_from_light.z_axis.truncate();
    let to_center = bounds.center() - world_from_light.w_axis.truncate();
    let (reach, radius) = (to_center.length(), extent(bounds));
    let cone = match light.kind {
        LightKind::Directional => return power,
        LightKind::Point => std::f32::consts::PI,
        LightKind::Spot { outer_angle, .. } => outer_angle,
    };
    // A range of 0 has no end.
    let ends = light.range.filter(|range| *range > 0.0);
    let is_far = ends
        .is_some_and(|range| distance(or_nothing(bounds), bounds.center() - to_center) >= range);
    // The angle between the cone's axis and the nearest part of the sphere around the scene.
    let misses = reach > radius && axis.angle_between(to_center) - (radius / reach).asin() >= cone;
    if is_far || misses {
        return 0.0;
    }
    let distance = reach.max(radius * 0.25);
    power / (distance * distance)
}

/// Mean luminance of a clear sky and its ground by day, as a share of what its sun gives.
const SKY_SHARE: f32 = 0.05;

/// What the environment gives a surface on the average.
fn around_lux(config: &config::Config, file_luminance: f32) -> f32 {
    let environment = &config.environment;
    let around = if environment.is_file() {
        file_luminance
    } else if environment.is_sky() {
        SKY_SHARE * config.sun.strength * luminance(config.sun.color.into())
    } else {
        luminance(environment.color.into())
    };
    std::f32::consts::PI * around * environment.intensity
}

/// Luminance of a linear colour (Rec. 709).
fn luminance(color: Vec3) -> f32 {
    color.dot(Vec3::new(0.2126, 0.7152, 0.0722))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Material, Mesh, Node, Primitive, Transform};

    const LENS: Projection = Projection::Perspective { fov_y: 0.8 };

    fn cuboid(center: Vec3, half: Vec3) -> Aabb {
        Aabb {
            min: center - half,
            max: center + half,
        }
    }

    /// From a millimetre to 100 km, wide and tall, near the origin and off it: all corners inside the picture and between the
    /// planes, and the picture well filled.
    #[test]
    fn framing_holds_every_corner_at_every_scale() {
        for scale in [1e-3, 1.0, 1e5] {
            for half in [
                Vec3::ONE,
                Vec3::new(1.0, 0.01, 0.2),
                Vec3::new(0.1, 2.0, 0.0),
            ] {
                for (offset, aspect) in [(Vec3::ZERO, 1.78), (Vec3::new(9.0, -7.0, 20.0), 0.5)] {
                    let bounds = cuboid(offset * scale, half * scale);
                    let view = Viewpoint::framing(&bounds.corners(), LENS, aspect);
                    let (near, far) = view.clip_planes(bounds, distance(bounds, view.eye()));
                    let tan = 0.4_f32.tan();
                    let mut widest = 0.0_f32;
                    let mut sides = [f32::MAX, f32::MIN, f32::MAX, f32::MIN];
                    for corner in bounds.corners() {
                        let p = view.world_from_view.inverse().transform_point3(corner);
                        assert!((near..far).contains(&-p.z), "{near} {far} {p}");
                        let (x, y) = (p.x / -p.z / tan / aspect, p.y / -p.z / tan);
                        widest = widest.max(x.abs()).max(y.abs());
                        sides = [
                            sides[0].min(x),
                            sides[1].max(x),
                            sides[2].min(y),
                            sides[3].max(y),
                        ];
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
        let view = Viewpoint::framing_from(&bounds.corners(), Vec3::Z, lens, 1.0);
        let Projection::Orthographic { half_height } = view.projection else {
            panic!("the projection changed")
        };
        assert!((1.0..1.1).contains(&half_height));
        assert!(view.eye().z > 1.0);
    }

    #[test]
    fn no_direction_is_degenerate() {
        for direction in [
            Vec3::Y,
            Vec3::NEG_Y,
            Vec3::ZERO,
            Vec3::X,
            Vec3::splat(1e-30),
        ] {
            let m = Viewpoint::looking(Vec3::ZERO, direction, Vec3::Y, LENS).world_from_view;
            assert!((m.determinant() - 1.0).abs() < 1e-4, "{direction}: {m}");
        }
    }

    #[test]
    fn nothing_is_framed_as_a_cube() {
        let view = Viewpoint::framing(&[], LENS, 1.5);
        assert_eq!(view, Viewpoint::framing(&NOTHING.corners(), LENS, 1.5));
        let (near, far) = view.clip_planes(Aabb::EMPTY, view.eye().length());
        assert!(0.0 < near && near < far && far < 100.0, "{near} {far}");
        assert_eq!(extent(Aabb::EMPTY), extent(NOTHING));
    }

    #[test]
    fn planes_hold_inside_and_close_up() {
        let bounds = cuboid(Vec3::ZERO, Vec3::splat(10.0));
        let view = Viewpoint::looking(Vec3::ZERO, Vec3::Z, Vec3::Y, LENS);
        let (near, far) = view.clip_planes(bounds, 1.0);
        assert!(near <= 0.01 && far > 17.4, "{near} {far}");
        assert!(view.clip_planes(bounds, 1e-3).0 <= 1.1e-4);
    }

    #[test]
    fn a_point_has_an_extent() {
        for point in [Vec3::ZERO, Vec3::splat(3.0), Vec3::splat(1e30)] {
            let bounds = cuboid(point, Vec3::ZERO);
            assert!(extent(bounds) > 0.0 && extent(bounds).is_finite());
        }
    }

    fn lit(kind: LightKind, intensity: f32, translation: Vec3) -> (Scene, Pose) {
        let scene = Scene {
            nodes: vec![Node {
                name: String::new(),
                parent: None,
                transform: Transform::Matrix(Mat4::IDENTITY),
                mesh: None,
                skin: None,
                weights: Vec::new(),
                light: Some(0),
                camera: None,
                ..Node::default()
            }],
            lights: vec![Light {
                name: String::new(),
                kind,
                color: Vec3::ONE,
                intensity,
                range: None,
            }],
            ..Scene::default()
        };
        let pose = Pose {
            world_from_node: vec![Mat4::from_translation(translation)],
            weights: vec![Vec::new()],
            visible: vec![true],
            ..Pose::default()
        };
        (scene, pose)
    }

    #[test]
    fn exposure_follows_the_light() {
        let bounds = cuboid(Vec3::ZERO, Vec3::ONE);
        let mut config = config::Config::default();
        config.environment.intensity = 0.0;
        let ev = |(scene, pose): (Scene, Pose), config: &_| {
            exposure_ev(&scene, &pose, bounds, config, 0.0, 256)
        };
        assert_eq!(ev((Scene::default(), Pose::default()), &config), 0.0);
        assert_eq!(
            ev(lit(LightKind::Directional, 3.0, Vec3::ZERO), &config),
            0.0
        );
        assert_eq!(
            ev(lit(LightKind::Directional, 12.0, Vec3::ZERO), &config),
            -2.0
        );
        assert_eq!(
            ev(lit(LightKind::Point, 1200.0, Vec3::X * 10.0), &config),
            -2.0
        );
        assert!(ev(lit(LightKind::Point, 0.01, Vec3::ZERO), &config) > 2.0);
        assert_eq!(
            ev(lit(LightKind::Directional, 0.0, Vec3::ZERO), &config),
            0.0
        );
        config.image.exposure = "1.5".into();
        assert_eq!(
            ev(lit(LightKind::Directional, 12.0, Vec3::ZERO), &config),
            1.5
        );
    }
    /// As many lights as one node says, all in the same place.
    fn many(kind: LightKind, count: usize, intensity: f32, translation: Vec3) -> (Scene, Pose) {
        let (mut scene, mut pose) = lit(kind, intensity, translation);
        scene.nodes = vec![scene.nodes[0].clone(); count];
        pose.world_from_node = vec![pose.world_from_node[0]; count];
        (pose.weights, pose.visible) = (vec![Vec::new(); count], vec![true; count]);
        (scene, pose)
    }

    #[test]
    fn lights_that_do_not_shine_do_not_count() {
        let bounds = cuboid(Vec3::ZERO, Vec3::ONE);
        let mut config = config::Config::default();
        config.environment.intensity = 0.0;
        let ev = |(scene, pose): (Scene, Pose), config: &_| {
            exposure_ev(&scene, &pose, bounds, config, 0.0, 256)
        };
        let above = Vec3::Y * 4.0;
        let [some, all] =
            [256, 10_000].map(|count| ev(many(LightKind::Point, count, 4.0, above), &config));
        assert_eq!(some, (3.0_f32 / 64.0).log2());
        assert_eq!(all, some);
        // The sun takes the room of one.
        config.sun.enabled = config::Switch::On;
        config.sun.strength = 0.25;
        config.sun.color = [1.0; 3];
        let with_sun = ev(many(LightKind::Point, 10_000, 4.0, above), &config);
        assert_eq!(with_sun, some);
        // Hidden ones take none.
        config.sun.enabled = config::Switch::Off;
        let (scene, mut pose) = many(LightKind::Point, 300, 8.0, above);
        pose.visible[..280].fill(false);
        assert_eq!(ev((scene, pose), &config), (3.0_f32 / 10.0).log2());
    }

    /// Where nothing has a material the curve's shoulder is left to highlights: 0.8 grey stays below it, whatever lights it.
    #[test]
    fn scenes_without_materials_are_exposed_for_grey() {
        let bounds = cuboid(Vec3::ZERO, Vec3::ONE);
        let mut config = config::Config::default();
        let scene = |material: Material| {
            let primitive = Primitive::default();
            let mesh = Mesh {
                name: String::new(),
                primitives: vec![primitive],
            };
            Scene {
                meshes: vec![mesh],
                materials: vec![material],
                ..Scene::default()
            }
        };
        let [own, none] = [Material::default(), Material::stand_in()].map(scene);
        let ev = |scene: &Scene, config: &_, file_luminance| {
            exposure_ev(scene, &Pose::default(), bounds, config, file_luminance, 256)
        };
        // Sky and sun, then a file of as much light.
        assert_eq!(ev(&own, &config, 0.0), 0.0);
        assert!((-1.0..-0.5).contains(&ev(&none, &config, 0.0)));
        config.environment.file = "there".into();
        assert_eq!(ev(&own, &config, 1.0), 0.0);
        let lux = 2.0 * std::f32::consts::PI;
        assert_eq!(ev(&none, &config, 1.0), (3.0 / lux).log2());
        assert!(ev(&none, &config, 0.01) > 4.0);
    }

    #[test]
    fn lights_that_do_not_arrive_do_not_count() {
        let bounds = cuboid(Vec3::ZERO, Vec3::ONE);
        let mut config = config::Config::default();
        config.environment.intensity = 0.0;
        let ev = |kind, range, world_from_light: Mat4| {
            let (mut scene, mut pose) = lit(kind, 1e6, Vec3::ZERO);
            scene.lights[0].range = range;
            pose.world_from_node[0] = world_from_light;
            exposure_ev(&scene, &pose, bounds, &config, 0.0, 256)
        };
        let above = Mat4::from_translation(Vec3::Y * 10.0);
        let down = above * Mat4::from_rotation_x(-std::f32::consts::FRAC_PI_2);
        let spot = LightKind::spot(0.2, 0.4);
        for (kind, range, at, arrives) in [
            (LightKind::Point, None, above, true),
            (LightKind::Point, Some(0.0), above, true),
            (LightKind::Point, Some(9.5), above, true),
            (LightKind::Point, Some(8.5), above, false),
            (spot, None, above, false),
            (spot, None, down, true),
            (spot, Some(5.0), down, false),
        ] {
            let ev = ev(kind, range, at);
            assert_eq!(ev < -3.0, arrives, "{kind:?} {range:?} {at}: {ev}");
            assert!(arrives || ev == 0.0);
        }
    }
}
