//! CPU reference of `walk`: a walking character as a capsule, by brute force against every triangle. It
//! follows inspect/walk.wgsl step by step.

use super::lbvh::Triangle;
use canopy_bvh::accel::layout::BVH_MISS;
use canopy_render::layout::{WALK_STEPS, WalkParams, WalkState};

use glam::{Vec2, Vec3};

/// Maximum number of planes that a motion is clipped by.
const PLANES: usize = 4;
/// Terminal velocity, in heights per second.
const FASTEST_FALL: f32 = 20.0;

/// First contact of a motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
    /// Fraction of the motion, or 1 without a contact.
    pub t: f32,
    /// Unit vector from the contact towards the capsule.
    pub normal: Vec3,
    /// Walkable surface at the contact, with its height and its triangle. The triangle is `None` for the
    /// ground plane.
    pub carries: Option<(f32, Option<usize>)>,
}

/// End of a motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// Lowest point of the capsule.
    pub position: Vec3,
    /// True if something blocked the motion.
    pub is_blocked: bool,
    /// Surface that the motion has landed on, like [`Touch::carries`].
    pub landed: Option<(f32, Option<usize>)>,
}

/// Triangles for collisions.
#[derive(Debug, Clone, Copy)]
pub struct Solids<'a>(pub &'a [Triangle]);

/// Ends of the capsule's axis.
fn axis(params: &WalkParams, feet: Vec3) -> [Vec3; 2] {
    [params.radius, params.height - params.radius].map(|up| feet + up * Vec3::Y)
}

/// Returns the shortest vector from a triangle to a segment, and the position of its end along the segment.
fn gap(triangle: &Triangle, start: Vec3, segment: Vec3) -> (Vec3, f32) {
    let [a, b, c] = triangle.map(|corner| corner - start);
    let mut best = (Vec3::INFINITY, 0.0);
    let mut consider = |offset: Vec3, along: f32| {
        if offset.length_squared() < best.0.length_squared() {
            best = (offset, along);
        }
    };
    for (from, to) in [(a, b), (b, c), (c, a)] {
        let (offset, along) = segment_gap(segment, from, to - from);
        consider(offset, along);
    }
    for along in [0.0, 1.0] {
        if let Some(offset) = inside_gap([a, b, c], along * segment) {
            consider(offset, along);
        }
    }
    let normal = (b - a).cross(c - a);
    let (before, after) = (normal.dot(-a), normal.dot(segment - a));
    if (before < 0.0) != (after < 0.0) && before != after {
        let along = before / (before - after);
        if inside_gap([a, b, c], along * segment).is_some() {
            best = (Vec3::ZERO, along);
        }
    }
    best
}

/// Returns the shortest vector between two segments, one from `start` along `edge` and one from the origin
/// (Ericson 2005, section 5.1.9).
fn segment_gap(segment: Vec3, start: Vec3, edge: Vec3) -> (Vec3, f32) {
    let a = segment.length_squared().max(1e-30);
    let e = edge.length_squared().max(1e-30);
    let (b, c, f) = (segment.dot(edge), segment.dot(start), edge.dot(start));
    let parallel = a * e - b * b;
    let s = match parallel > 1e-7 * a * e {
        true => ((c * e - b * f) / parallel).clamp(0.0, 1.0),
        false => 0.0,
    };
    let t = ((b * s - f) / e).clamp(0.0, 1.0);
    let s = ((b * t + c) / a).clamp(0.0, 1.0);
    let t = ((b * s - f) / e).clamp(0.0, 1.0);
    (s * segment - (start + t * edge), s)
}

/// Returns the vector from the plane of a triangle to `point`, or `None` if the point is not above or below
/// the triangle.
fn inside_gap([a, b, c]: Triangle, point: Vec3) -> Option<Vec3> {
    let (ab, ac) = (b - a, c - a);
    let weights = weights([a, b, c], point)?;
    let is_over = weights.min_element() >= 0.0 && weights.x + weights.y <= 1.0;
    is_over.then(|| point - (a + weights.x * ab + weights.y * ac))
}

/// Returns the weights of the second and third corners at the point of a triangle's plane nearest to `point`,
/// or `None` for a degenerate triangle.
fn weights([a, b, c]: Triangle, point: Vec3) -> Option<Vec2> {
    let (ab, ac, to) = (b - a, c - a, point - a);
    let normal = ab.cross(ac);
    let squared = normal.length_squared();
    (squared > 1e-36).then(|| Vec2::new(to.cross(ac).dot(normal), ab.cross(to).dot(normal)) / squared)
}

/// Returns the fraction of the motion at which a capsule touches a triangle, with the normal and the contact
/// point. An overlap at the start counts only if the capsule moves closer (bvh/bvh_sweep.wgsl).
fn contact(params: &WalkParams, triangle: &Triangle, feet: Vec3, motion: Vec3) -> Option<(f32, Vec3, Vec3)> {
    let [low, high] = axis(params, feet);
    let far = [low.abs(), high.abs(), motion.abs()];
    let far = far.iter().map(|v| v.max_element());
    let close = 4e-7 * far.fold(params.radius, f32::max);
    let speed = motion.length();
    let mut t = 0.0;
    for step in 0..32 {
        let start = low + t * motion;
        let (offset, along) = gap(triangle, start, high - low);
        let distance = offset.length();
        let backwards = -motion / speed.max(1e-30);
        let mut normal = match distance > close {
            true => offset / distance,
            false => backwards,
        };
        let approach = -normal.dot(motion);
        let is_leaving = approach.is_nan() || approach <= 1e-6 * speed;
        // Steps only approach the object, and at this distance rounding decides the normal.
        let is_unsure = t > 0.0 && distance <= 16.0 * close;
        if is_leaving && !is_unsure {
            return None;
        }
        if is_leaving {
            normal = backwards;
        }
        // A step that rounding has made too long is taken back. An overlap at the start has no earlier
        // position.
        let depth = params.radius - distance;
        if depth.abs() <= close || (depth > 0.0 && t == 0.0) || is_leaving || step == 31 {
            return Some((t, normal, start + along * (high - low) - offset));
        }
        // The step is shortened by the possible rounding error.
        let unsure = speed * close / distance.max(close);
        t = (t - (depth + 0.5 * close) / (approach + unsure)).max(0.0);
        if t.is_nan() || t >= 1.0 {
            return None;
        }
    }
    None
}

/// True if a triangle with this contact normal is walkable.
fn carries(params: &WalkParams, [a, b, c]: &Triangle, normal: Vec3) -> bool {
    let face = (b - a).cross(c - a);
    let is_level = face.y.abs() > params.walkable * face.length();
    normal.y >= params.walkable || (normal.y > 0.05 && is_level)
}

/// Clips `motion` by planes, the newest last.
pub fn cut(motion: Vec3, planes: &[Vec3]) -> Vec3 {
    let Some((normal, older)) = planes.split_last() else {
        return motion;
    };
    let mut left = motion - normal * motion.dot(*normal).min(0.0);
    for plane in older {
        if left.dot(*plane) < 0.0 {
            let corner = normal.cross(*plane);
            let squared = corner.length_squared();
            left = match squared > 1e-6 {
                true => corner * (left.dot(corner) / squared),
                false => Vec3::ZERO,
            };
        }
    }
    match older.iter().any(|plane| left.dot(*plane) < -1e-4 * left.length()) {
        true => Vec3::ZERO,
        false => left,
    }
}

impl Solids<'_> {
    /// Returns the first contact of a capsule at `feet` that moves along `motion`.
    pub fn sweep(&self, params: &WalkParams, feet: Vec3, motion: Vec3) -> Touch {
        let tie = 0.1 * params.skin / motion.length().max(1e-30);
        let mut touch = Touch {
            t: 1.0,
            normal: Vec3::Y,
            carries: None,
        };
        let mut carried = (2.0, None);
        let below = (feet.y - params.floor) / (-motion.y).max(1e-30);
        if motion.y < 0.0 && feet.y > params.floor - params.skin && below < 1.0 {
            touch.t = below.max(0.0);
            carried = (touch.t, Some((params.floor, None)));
        }
        for (number, triangle) in self.0.iter().enumerate() {
            let Some((t, normal, point)) = contact(params, triangle, feet, motion) else {
                continue;
            };
            if t < touch.t {
                (touch.t, touch.normal) = (t, normal);
            }
            if t < carried.0 && carries(params, triangle, normal) {
                carried = (t, Some((point.y, Some(number))));
            }
        }
        if carried.0 <= touch.t + tie {
            touch.carries = carried.1;
        }
        touch
    }

    /// Moves and slides along obstacles. In a level motion, surfaces too steep to walk on count as vertical
    /// walls. Any other motion ends on a walkable surface.
    pub fn slide(&self, params: &WalkParams, start: Vec3, motion: Vec3, is_level: bool) -> Move {
        let mut moved = Move {
            position: start,
            is_blocked: false,
            landed: None,
        };
        let mut left = motion;
        let mut planes = Vec::with_capacity(PLANES);
        while planes.len() < PLANES {
            let way = left.length();
            if way.is_nan() || way <= 1e-3 * params.skin {
                break;
            }
            let reach = way + 2.0 * params.skin;
            let touch = self.sweep(params, moved.position, left * (reach / way));
            let approach = (-touch.normal.dot(left) / way).max(1e-3);
            let free = touch.t * reach - params.skin / approach;
            if touch.t >= 1.0 || free >= way {
                moved.position += left;
                break;
            }
            let gone = free.max(0.0) / way;
            moved.position += gone * left;
            left *= 1.0 - gone;
            if !is_level && touch.carries.is_some() && motion.y < 0.0 {
                moved.landed = touch.carries;
                break;
            }
            let is_wall = touch.normal.y < params.walkable;
            moved.is_blocked |= is_wall || !is_level;
            let flat = touch.normal.with_y(0.0);
            planes.push(match is_level && is_wall && flat.length_squared() > 1e-6 {
                true => flat.normalize(),
                false => touch.normal,
            });
            left = cut(left, &planes);
            if left.dot(motion) <= 0.0 {
                break;
            }
        }
        moved
    }

    /// Resolves overlaps, starting with the nearest triangle.
    pub fn free(&self, params: &WalkParams, start: Vec3) -> Vec3 {
        let mut feet = start;
        if feet.y < params.floor && feet.y > params.floor - params.height {
            feet.y = params.floor + params.skin;
        }
        for _ in 0..8 {
            let [low, high] = axis(params, feet);
            let mut nearest = params.radius;
            let mut push = Vec3::ZERO;
            for triangle in self.0 {
                let (offset, _) = gap(triangle, low, high - low);
                let distance = offset.length();
                if distance.is_nan() || distance >= nearest {
                    continue;
                }
                nearest = distance;
                let whole = params.radius + params.skin;
                push = offset * ((whole - distance) / distance.max(1e-30));
                if distance < 1e-3 * params.radius {
                    let [a, b, c] = *triangle;
                    let face = (b - a).cross(c - a).normalize_or_zero();
                    let side = face.dot(0.5 * (low + high) - a);
                    let normal = if side >= 0.0 { face } else { -face };
                    let behind = normal.dot(low - a).min(normal.dot(high - a));
                    push = normal * (whole - behind.min(0.0));
                }
            }
            if nearest >= params.radius {
                break;
            }
            feet += push;
        }
        feet
    }

    /// Returns the point of a triangle with these barycentric weights of its second and third corners.
    fn point(&self, triangle: usize, weights: [f32; 2]) -> Option<Vec3> {
        let [a, b, c] = *self.0.get(triangle)?;
        Some(a + weights[0] * (b - a) + weights[1] * (c - a))
    }

    /// Puts the body on a triangle, or on the ground plane below the scene.
    fn stand(&self, body: &mut WalkState, triangle: Option<usize>) {
        body.is_grounded = 1;
        body.ground_triangle = BVH_MISS;
        let feet = Vec3::from(body.position);
        let weights = triangle.and_then(|triangle| weights(*self.0.get(triangle)?, feet));
        if let (Some(triangle), Some(weights)) = (triangle, weights) {
            body.ground_triangle = triangle as u32;
            body.ground_weights = weights.to_array();
            let point = self.point(triangle, body.ground_weights);
            body.ground_point = point.unwrap_or_default().to_array();
        }
    }

    /// Advances by one time step.
    fn step(&self, params: &WalkParams, body: &mut WalkState) {
        let (start, dt) = (Vec3::from(body.position), params.step_secs);
        let mut is_grounded = body.is_grounded != 0;
        let mut level = Vec3::from(body.velocity).with_y(0.0);
        let change = Vec3::from(params.desired_velocity) - level;
        let hold = if is_grounded { 1.0 } else { 0.3 };
        let most = params.acceleration * dt * hold;
        level += change * (most / change.length().max(1e-30)).min(1.0);
        let mut fall = body.velocity[1] - params.gravity * dt;
        if is_grounded {
            fall = params.jump;
            is_grounded = params.jump <= 0.0;
        }
        fall = fall.max(-FASTEST_FALL * params.height);
        let ahead = level * dt;
        let moved = self.slide(params, start, ahead, true);
        let (mut place, mut is_blocked) = (moved.position, moved.is_blocked);
        if is_grounded
            && is_blocked
            && let Some(climbed) = self.climb(params, start, ahead, place)
        {
            (place, is_blocked) = (climbed, false);
        }
        let mut landed = None;
        if is_grounded {
            let down = -(params.step_height + 2.0 * params.skin) * Vec3::Y;
            let moved = self.slide(params, place, down, false);
            landed = moved.landed;
            fall = 0.0;
            if landed.is_some() {
                place = moved.position;
            }
        } else {
            let moved = self.slide(params, place, fall * dt * Vec3::Y, false);
            if moved.landed.is_some() {
                landed = moved.landed;
                fall = 0.0;
            } else if moved.is_blocked {
                fall = (moved.position.y - place.y) / dt;
            }
            place = moved.position;
        }
        if is_blocked {
            level = ((place - start) / dt).with_y(0.0);
        }
        body.position = place.to_array();
        body.velocity = (level + fall * Vec3::Y).to_array();
        body.is_grounded = 0;
        if let Some((_, triangle)) = landed {
            self.stand(body, triangle);
        }
    }

    /// Moves up a step, over it and down. Returns `None` if the result is no farther than `place`, or too
    /// high.
    pub fn climb(&self, params: &WalkParams, start: Vec3, ahead: Vec3, place: Vec3) -> Option<Vec3> {
        let risen = self
            .slide(params, start, params.step_height * Vec3::Y, false)
            .position;
        let over = self.slide(params, risen, ahead, true).position;
        let down = start.y - over.y - 2.0 * params.skin;
        let moved = self.slide(params, over, down * Vec3::Y, false);
        let (height, _) = moved.landed?;
        let further = (moved.position - place).dot(ahead) > 0.01 * ahead.length_squared();
        (height <= start.y + params.step_height && further).then_some(moved.position)
    }

    /// Moves the body with the surface that carries it, resolves overlaps, and advances by time steps.
    pub fn walk(&self, params: &WalkParams) -> WalkState {
        let mut body = WalkState {
            position: params.position,
            is_grounded: params.is_grounded,
            velocity: params.velocity,
            ground_triangle: params.ground_triangle,
            ground_point: params.ground_point,
            ground_weights: params.ground_weights,
            ..WalkState::default()
        };
        let mut feet = Vec3::from(body.position);
        let ground = self.point(body.ground_triangle as usize, body.ground_weights);
        if let (true, Some(ground)) = (body.is_grounded != 0, ground) {
            let carried = ground - Vec3::from(body.ground_point);
            if carried.length_squared() < params.height * params.height {
                feet += carried;
                body.ground_point = ground.to_array();
            }
        }
        body.position = self.free(params, feet).to_array();
        for _ in 0..params.steps.min(WALK_STEPS) {
            self.step(params, &mut body);
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> WalkParams {
        WalkParams {
            height: 1.8,
            radius: 0.3,
            step_height: 0.35,
            skin: 0.01,
            walkable: 50_f32.to_radians().cos(),
            floor: 0.0,
            gravity: 9.81,
            acceleration: 25.0,
            ground_triangle: BVH_MISS,
            is_grounded: 1,
            steps: 1,
            step_secs: 1.0 / 60.0,
            ..WalkParams::default()
        }
    }

    fn quad(corner: Vec3, u: Vec3, v: Vec3) -> [Triangle; 2] {
        let far = corner + u + v;
        [[corner, corner + u, far], [corner, far, corner + v]]
    }

    /// Returns the step that starts at x = 1, with its riser.
    fn ledge(height: f32) -> Vec<Triangle> {
        let corner = Vec3::new(1.0, height, -9.0);
        let along = 18.0 * Vec3::Z;
        let tread = quad(corner, along, 9.0 * Vec3::X);
        let riser = quad(corner, along, -2.0 * Vec3::Y);
        [tread, riser].concat()
    }

    #[test]
    fn motions_are_clipped_against_planes() {
        let motion = Vec3::new(1.0, -1.0, 0.5);
        assert_eq!(cut(motion, &[]), motion);
        assert_eq!(cut(motion, &[Vec3::Y]), Vec3::new(1.0, 0.0, 0.5));
        assert_eq!(cut(motion, &[Vec3::NEG_Y]), motion, "it leaves that one");
        // Two planes leave motion along their edge, and a corner of three planes leaves none.
        let edge = cut(motion, &[Vec3::Y, Vec3::NEG_X]);
        assert!(edge.distance(0.5 * Vec3::Z) < 1e-6, "{edge}");
        assert_eq!(cut(edge, &[Vec3::Y, Vec3::NEG_X, Vec3::NEG_Z]), Vec3::ZERO);
        // Two planes that face each other leave no motion across.
        let between = cut(Vec3::new(1.0, 0.0, 0.0), &[Vec3::X, Vec3::NEG_X]);
        assert_eq!(between, Vec3::ZERO);
    }

    #[test]
    fn motions_slide_along_walls_and_slopes() {
        let params = params();
        let wall = quad(Vec3::new(1.0, -1.0, -9.0), 18.0 * Vec3::Z, 5.0 * Vec3::Y);
        let feet = Vec3::new(0.0, 0.01, 0.0);
        let moved = Solids(&wall).slide(&params, feet, Vec3::new(2.0, 0.0, 1.0), true);
        let expected = Vec3::new(0.69, 0.01, 1.0);
        assert!(
            moved.is_blocked && moved.position.distance(expected) < 1e-3,
            "{moved:?}"
        );
        for (degrees, climbs) in [(49.0_f32, true), (51.0, false)] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let up = 5.0 * Vec3::new(cos, sin, 0.0);
            let slope = quad(Vec3::new(0.5, 0.0, -9.0), 18.0 * Vec3::Z, up);
            let moved = Solids(&slope).slide(&params, feet, Vec3::X, true);
            assert_eq!(
                (moved.position.y > 0.1, moved.is_blocked),
                (climbs, !climbs),
                "{degrees}"
            );
            let down = Solids(&slope).sweep(&params, Vec3::new(2.0, 3.0, 0.0), -5.0 * Vec3::Y);
            assert_eq!(down.carries.is_some(), climbs, "{degrees}");
        }
    }

    #[test]
    fn steps_are_climbed_up_to_their_height() {
        let params = params();
        let start = Vec3::new(0.68, 0.01, 0.0);
        for (height, climbs) in [(0.2, true), (0.34, true), (0.37, false), (0.5, false)] {
            let ledge = ledge(height);
            let climbed = Solids(&ledge).climb(&params, start, 0.05 * Vec3::X, start);
            assert_eq!(climbed.is_some(), climbs, "{height}: {climbed:?}");
            // A step that leads nowhere is not climbed.
            let beyond = start + Vec3::X;
            let climbed = Solids(&ledge).climb(&params, start, 0.05 * Vec3::X, beyond);
            assert_eq!(climbed, None, "{height}");
        }
    }

    #[test]
    fn overlapping_triangles_push_the_capsule_out() {
        let params = params();
        let wall = quad(Vec3::new(0.2, -1.0, -9.0), 18.0 * Vec3::Z, 5.0 * Vec3::Y);
        let feet = Solids(&wall).free(&params, 0.01 * Vec3::Y);
        assert!(feet.distance(Vec3::new(-0.11, 0.01, 0.0)) < 1e-4, "{feet}");
        // If a triangle crosses the axis, the push is upwards for a floor below the centre.
        let floor = quad(Vec3::new(-9.0, 0.7, -9.0), 18.0 * Vec3::Z, 18.0 * Vec3::X);
        let feet = Solids(&floor).free(&params, Vec3::ZERO);
        assert!(feet.distance(0.71 * Vec3::Y) < 1e-4, "{feet}");
        assert_eq!(Solids(&[]).free(&params, Vec3::X), Vec3::X);
    }

    #[test]
    fn time_steps_accelerate_fall_and_land() {
        let desired_velocity = [2.0, 0.0, 0.0];
        let mut params = WalkParams {
            desired_velocity,
            ..params()
        };
        params.position = [0.0, 0.01, 0.0];
        let state = Solids(&[]).walk(&params);
        assert!((state.velocity[0] - 25.0 / 60.0).abs() < 1e-5, "{state:?}");
        assert_eq!((state.is_grounded, state.ground_triangle), (1, BVH_MISS));
        (params.position, params.is_grounded, params.steps) = ([0.0, 5.0, 0.0], 0, 6);
        let state = Solids(&[]).walk(&params);
        assert!((state.velocity[1] + 0.981).abs() < 1e-3, "{state:?}");
        params.steps = 99;
        let state = Solids(&[]).walk(&params);
        assert!(
            (state.velocity[1] + 0.5 * 9.81).abs() < 1e-3,
            "no more than {WALK_STEPS} steps"
        );
        params.step_secs = 0.1;
        let state = Solids(&[]).walk(&params);
        assert!(state.is_grounded == 1 && (state.position[1] - 0.01).abs() < 1e-4);
    }
}
