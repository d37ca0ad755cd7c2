//! Walker of walk mode. The GPU moves it: each query advances it by the time since the previous one.

use crate::{
    app::camera::model::Camera,
    render::{
        layout::{WalkParams, WalkState},
        queries::walk,
    },
    scene::{
        bounds::Aabb,
        framing::{self, Ground},
    },
};
use glam::Vec3;

/// Range of scene extents in metres, from a small room to a city, in which the walker is 1.8 m tall. Outside
/// it the walker's height is proportional to the extent. The extent is half the scene's diagonal.
const HUMAN_SCENES: [f32; 2] = [2.0, 5000.0];

/// Ratio of running to walking speed.
const RUN: f32 = 3.0;

/// Time constant in seconds of the exponential smoothing of the eye height.
const EYE_SECS: f32 = 0.07;

/// Scene data and settings that a query needs.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct Surroundings {
    /// Number of the scene, which increases with every loaded scene.
    pub(in crate::app) scene: u64,
    /// World-space origin of the merged buffers. Queries and their results are relative to it.
    pub(in crate::app) origin: Vec3,
    /// Bounds of the scene in world space.
    pub(in crate::app) bounds: Aabb,
    /// Ground plane below the scene, if it is visible.
    pub(in crate::app) ground: Option<Ground>,
    /// Maximum number of triangles of a BVH leaf.
    pub(in crate::app) leaf_cutoff: u32,
    /// Height of the walker in metres as set, or 0 for automatic.
    pub(in crate::app) height: f32,
    /// Walking speed in metres per second of a walker 1.8 m tall. It scales with the height.
    pub(in crate::app) speed: f32,
}

/// A query to the GPU.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct WalkQuery {
    pub(in crate::app) params: WalkParams,
    /// True if the query searches for ground to start the walk on.
    pub(in crate::app) is_start: bool,
}

/// Outcome of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum WalkOutcome {
    /// The walker stands or walks.
    Walks,
    /// The walker has fallen out of the scene and is back at the start.
    IsBack,
    /// There is no surface to stand on.
    NoGround,
}

/// The walker. Outside of walk mode it is empty.
#[derive(Debug, Default)]
pub(in crate::app) struct Walker {
    person: Option<WalkerState>,
    /// Scene number and query that has been submitted, as long as its result is needed.
    pending: Option<(u64, WalkQuery)>,
    /// Time in seconds that the next query has to cover.
    elapsed_secs: f32,
    /// Held direction keys (right, up, back), and true if the walker runs.
    held: (Vec3, bool),
}

#[derive(Debug)]
struct WalkerState {
    scene: u64,
    origin: Vec3,
    /// Body parameters and motion state.
    params: WalkParams,
    /// Parameters at the start of the walk, to which a walker that falls out of the scene returns.
    start: WalkParams,
    /// Y coordinate relative to `origin` below which the walker has fallen out of the scene.
    lowest: f32,
    /// Half the scene's diagonal at the start, in metres.
    extent: f32,
    /// Upward offset of the eye in metres. It decays to 0 after a step, so that the eye follows smoothly.
    lag: f32,
    /// Eye position that the walker last gave the camera, in world space.
    eye: Vec3,
}

/// Returns the walker's height in metres: `set` if it is positive, or else one that suits the scene's
/// `extent`.
pub(in crate::app) fn person_height(set: f32, extent: f32) -> f32 {
    if set > 0.0 {
        return set;
    }
    let human = extent.clamp(HUMAN_SCENES[0], HUMAN_SCENES[1]);
    walk::PERSON_HEIGHT * (extent / human).clamp(1e-6, 1e6)
}

fn eye_height(height: f32) -> f32 {
    height * walk::EYE_HEIGHT / walk::PERSON_HEIGHT
}

impl Walker {
    /// Adds `seconds` to the time that the next query covers, and sets the held keys. `axes` are the
    /// directions (right, up, back).
    pub(in crate::app) fn pass(&mut self, seconds: f32, axes: Vec3, runs: bool) {
        self.elapsed_secs += seconds;
        self.held = (axes, runs);
    }

    /// True if the walker moves, a direction key is held, or a result is pending.
    pub(in crate::app) fn moves(&self) -> bool {
        let moves = |person: &WalkerState| !person.rests() || self.held.0 != Vec3::ZERO;
        self.pending.is_some() || self.person.as_ref().is_some_and(moves)
    }

    /// True if something other than the walker has moved the camera away from it.
    pub(in crate::app) fn was_left(&self, camera: &Camera, scene: u64) -> bool {
        let person = self.person.as_ref().filter(|person| person.scene == scene);
        person.is_some_and(|person| camera.eye() != person.eye)
    }

    /// Ends the walk.
    pub(in crate::app) fn leave(&mut self) {
        *self = Self::default();
    }

    /// Returns the next query, which covers the time since the previous one. If the scene has no walker yet,
    /// the query searches for a start position instead.
    pub(in crate::app) fn next_query(&mut self, camera: &Camera, around: &Surroundings) -> WalkQuery {
        let extent = framing::extent(around.bounds);
        let elapsed = std::mem::take(&mut self.elapsed_secs);
        self.person.take_if(|person| person.scene != around.scene);
        // A clip that enlarges the scene must not change the walker's height.
        let first = self.person.as_ref().map_or(extent, |person| person.extent);
        let height = person_height(around.height, first);
        let floor = around
            .ground
            .map(|ground| (ground.middle.y - f64::from(around.origin.y)) as f32);
        let body = WalkParams {
            floor: floor.unwrap_or(walk::NO_FLOOR),
            leaf_cutoff: around.leaf_cutoff,
            ..walk::params_for_height(height)
        };
        let question = match &self.person {
            Some(person) => {
                let (axes, runs) = self.held;
                let along = Vec3::new(axes.x, 0.0, axes.z).clamp_length_max(1.0);
                let factor = if runs { RUN } else { 1.0 };
                let speed = around.speed * factor * height / walk::PERSON_HEIGHT;
                let (steps, step_secs) = walk::steps(elapsed);
                let jumps = axes.y > 0.0;
                let params = WalkParams {
                    desired_velocity: (camera.heading() * along * speed).to_array(),
                    jump: if jumps { walk::jump_speed(height) } else { 0.0 },
                    steps,
                    step_secs,
                    ..walk::from_state(body, &state_of(&person.params))
                };
                WalkQuery {
                    params,
                    is_start: false,
                }
            }
            None => {
                let feet = camera.eye() - around.origin - Vec3::Y * eye_height(height);
                let bounds = around.bounds;
                let far = 4.0 * extent + bounds.center().distance(camera.eye());
                let top = bounds.center().with_y(bounds.max.y + height) - around.origin;
                let params = WalkParams {
                    position: feet.to_array(),
                    view_offset: (camera.forward() * far).to_array(),
                    top: top.to_array(),
                    ..body
                };
                WalkQuery {
                    params,
                    is_start: true,
                }
            }
        };
        self.pending = Some((around.scene, question));
        question
    }

    /// Applies a result and moves `camera` to the walker's eyes. Returns `None` and leaves `camera` unchanged
    /// if the result belongs to another scene or the walk has ended.
    pub(in crate::app) fn apply_result(
        &mut self,
        state: &WalkState,
        camera: &mut Camera,
        around: &Surroundings,
    ) -> Option<WalkOutcome> {
        let (scene, question) = self.pending.take()?;
        if scene != around.scene {
            return None;
        }
        let is_number = Vec3::from(state.position).is_finite() && Vec3::from(state.velocity).is_finite();
        let mut params = walk::from_state(question.params, state);
        if question.is_start {
            if state.is_grounded == 0 || !is_number {
                self.leave();
                return Some(WalkOutcome::NoGround);
            }
            let lowest = (around.bounds.min.y - around.origin.y).min(state.position[1]);
            self.person = Some(WalkerState {
                scene,
                origin: around.origin,
                params,
                start: params,
                lowest: lowest - 10.0 * params.height,
                extent: framing::extent(around.bounds),
                lag: 0.0,
                eye: Vec3::ZERO,
            });
            camera.stand();
        }
        let person = self.person.as_mut()?;
        let mut news = WalkOutcome::Walks;
        if !is_number || state.position[1] < person.lowest {
            params = person.start;
            news = WalkOutcome::IsBack;
        }
        person.go_on(params, self.held.0);
        person.eye = person.origin + Vec3::from(person.params.position);
        person.eye.y += eye_height(person.params.height) + person.lag;
        camera.move_eye(person.eye);
        Some(news)
    }
}

impl WalkerState {
    /// True if the walker stands still and its eye height has settled. Input is not considered.
    fn rests(&self) -> bool {
        let speed = Vec3::from(self.params.velocity).length();
        let slow = 1e-3 * self.params.height;
        self.params.is_grounded != 0 && speed < slow && self.lag == 0.0
    }

    /// Moves to `next` and smooths the eye height. A walker that stands still keeps its position if `next`
    /// differs only by rounding, or the picture would never come to rest.
    fn go_on(&mut self, next: WalkParams, axes: Vec3) {
        let [before, after] = [&self.params, &next].map(|params| Vec3::from(params.position));
        let small = 1e-3 * next.height;
        let stood = self.params.is_grounded != 0 && next.is_grounded != 0;
        if stood && (after.y - before.y).abs() < 2.0 * next.step_height {
            self.lag += before.y - after.y;
        } else {
            self.lag = 0.0;
        }
        self.lag *= (-(next.steps as f32) * next.step_secs / EYE_SECS).exp();
        if self.lag.abs() < small {
            self.lag = 0.0;
        }
        let is_still = stood && axes == Vec3::ZERO && after.distance(before) < small;
        if is_still && Vec3::from(next.velocity).length() < small {
            self.params.velocity = [0.0; 3];
        } else {
            self.params = next;
        }
    }
}

fn state_of(params: &WalkParams) -> WalkState {
    WalkState {
        position: params.position,
        velocity: params.velocity,
        is_grounded: params.is_grounded,
        ground_triangle: params.ground_triangle,
        ground_point: params.ground_point,
        ground_weights: params.ground_weights,
        ..WalkState::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Projection, framing::Viewpoint};

    fn around() -> Surroundings {
        Surroundings {
            scene: 1,
            origin: Vec3::new(0.0, 1.0, 0.0),
            bounds: Aabb {
                min: Vec3::splat(-5.0),
                max: Vec3::splat(5.0),
            },
            ground: None,
            leaf_cutoff: 2,
            height: 0.0,
            speed: 2.0,
        }
    }

    fn camera() -> Camera {
        let lens = Projection::Perspective { fov_y: 0.8 };
        let view = Viewpoint::look_to(Vec3::new(0.0, 4.0, 0.0), Vec3::X, Vec3::Y, lens);
        Camera::new(&view, Vec3::ZERO, 8.0)
    }

    /// Returns a walker whose feet are at the origin of the merged buffers.
    fn walker(camera: &mut Camera) -> Walker {
        let mut walker = Walker::default();
        let question = walker.next_query(camera, &around());
        assert!(question.is_start && walker.moves());
        assert!((question.params.position[1] - (4.0 - 1.0 - 1.65)).abs() < 1e-5);
        let state = WalkState {
            is_grounded: 1,
            ..WalkState::default()
        };
        assert_eq!(
            walker.apply_result(&state, camera, &around()),
            Some(WalkOutcome::Walks)
        );
        walker
    }

    #[test]
    fn the_person_height_scales_with_extreme_scenes() {
        assert_eq!(person_height(0.5, 1e9), 0.5);
        for extent in [2.0, 30.0, 5000.0] {
            assert_eq!(person_height(0.0, extent), 1.8);
        }
        assert!((person_height(0.0, 0.02) - 0.018).abs() < 1e-6);
        assert!((person_height(0.0, 50_000.0) - 18.0).abs() < 1e-3);
        assert!(person_height(0.0, 1e30).is_finite() && person_height(0.0, 1e-9) > 0.0);
    }

    #[test]
    fn the_eye_is_above_the_feet_and_keys_move_along_the_view() {
        let mut camera = camera();
        let mut walker = walker(&mut camera);
        assert!(camera.eye().distance(Vec3::new(0.0, 2.65, 0.0)) < 1e-5);
        assert!(!walker.moves() && !walker.was_left(&camera, 1));
        walker.pass(1.0 / 30.0, Vec3::NEG_Z, true);
        assert!(walker.moves());
        let params = walker.next_query(&camera, &around()).params;
        assert!(
            Vec3::from(params.desired_velocity).distance(6.0 * Vec3::X) < 1e-4,
            "{params:?}"
        );
        assert_eq!((params.steps, params.jump), (2, 0.0));
        // No query covers the same time twice.
        assert_eq!(walker.next_query(&camera, &around()).params.steps, 0);
        camera.move_eye(Vec3::ZERO);
        assert!(walker.was_left(&camera, 1) && !walker.was_left(&camera, 2));
        walker.leave();
        assert!(!walker.moves());
        assert_eq!(
            walker.apply_result(&WalkState::default(), &mut camera, &around()),
            None
        );
    }

    #[test]
    fn the_eye_height_is_smoothed_and_settles() {
        let mut camera = camera();
        let mut walker = walker(&mut camera);
        let mut go = |walker: &mut Walker, y: f32, seconds: f32| {
            walker.pass(seconds, Vec3::ZERO, false);
            walker.next_query(&camera, &around());
            let state = WalkState {
                position: [0.0, y, 0.0],
                is_grounded: 1,
                ..WalkState::default()
            };
            walker.apply_result(&state, &mut camera, &around()).unwrap();
            camera.eye().y - 2.65
        };
        let rises = go(&mut walker, 0.3, 0.02);
        assert!(rises > 0.01 && rises < 0.2, "{rises}");
        assert!(walker.moves());
        (0..60).for_each(|_| _ = go(&mut walker, 0.3, 0.02));
        assert_eq!(go(&mut walker, 0.3, 0.02), go(&mut walker, 0.3004, 0.02));
        assert!(!walker.moves());
    }

    #[test]
    fn falling_out_of_the_scene_or_nan_returns_to_the_start() {
        let mut camera = camera();
        let mut walker = walker(&mut camera);
        let eye = camera.eye();
        for position in [[0.0, -1e3, 0.0], [f32::NAN; 3], [f32::INFINITY; 3]] {
            walker.next_query(&camera, &around());
            let state = WalkState {
                position,
                ..WalkState::default()
            };
            let news = walker.apply_result(&state, &mut camera, &around());
            assert_eq!((news, camera.eye()), (Some(WalkOutcome::IsBack), eye));
        }
    }

    #[test]
    fn walking_needs_ground_and_an_unchanged_scene() {
        let mut camera = camera();
        let before = camera;
        let mut walker = Walker::default();
        walker.next_query(&camera, &around());
        let state = WalkState::default();
        let news = walker.apply_result(&state, &mut camera, &around());
        assert_eq!((news, camera), (Some(WalkOutcome::NoGround), before));
        walker.next_query(&camera, &around());
        let other = Surroundings { scene: 2, ..around() };
        assert_eq!(walker.apply_result(&state, &mut camera, &other), None);
    }
}
