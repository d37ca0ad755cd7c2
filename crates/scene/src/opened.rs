//! Opens a scene: applies the settings to it and computes the view that it is first seen from.
//!
//! The viewer, `canopy render`, `canopy export` and the benchmarks all open their scenes here.

use super::{
    Blend, Pose, Progress, Projection, Scene, TextureSupport,
    bounds::{Aabb, Bounds},
    deform::{positions, positions_over},
    folder,
    framing::{self, Cells, Ground, InsideView, Look, Viewpoint},
    load_for,
    saved_edits::MatchedEdits,
};
use crate::{
    Error, Result,
    settings::{self, GroundMode, Settings},
};
use glam::Vec3;
use std::{ops::Range, path::PathBuf};

/// Length of occlusion rays in a closed room, relative to half of its diagonal.
const ROOM_OCCLUSION: f32 = 0.08;

/// Number of poses that are sampled when a clip is framed.
const CLIP_POSES: usize = 9;

/// A loaded scene with the clip and the variant that the settings select.
#[derive(Debug)]
pub struct OpenedScene {
    /// Scene files; empty for the built-in scene. If a folder was opened, this is the scene file in it.
    pub files: Vec<PathBuf>,
    /// The scene, with the materials of the selected variant.
    pub scene: Scene,
    /// Bounds of the scene at any time, for any pose.
    pub bounds: Bounds,
    /// Clip of the setting `animation.clip`.
    pub clip: Option<usize>,
    /// Clips to blend, if `animation.clip` has several, and the morph weights of `animation.morphs`.
    pub blend: Blend,
    /// Variant of the setting `scene.variant`.
    pub variant: Option<usize>,
    /// First moment, at `animation.time`.
    pub first: InitialState,
    /// Positions that the first view frames, in metres relative to [`InitialState::origin`].
    pub points: Vec<Vec3>,
    /// Edits to apply on top of the scene, which is as in its files. They change neither the first view nor
    /// the exposure.
    pub edits: MatchedEdits,
    /// First setting with something that the scene does not have. The first clip or no variant is used
    /// instead.
    pub setting_error: Option<Error>,
}

/// First moment of an opened scene, which determines the first view and the exposure.
#[derive(Debug)]
pub struct InitialState {
    /// Pose of the scene.
    pub pose: Pose,
    /// Bounding box of the points that the first view frames, in world space.
    pub bounds: Aabb,
    /// Origin of the first view's computations, in world space. See [`scene_origin`].
    pub origin: Vec3,
    ground: Option<Ground>,
    has_floor: bool,
    is_builtin: bool,
    /// Number of positions in the scene, and the ranges of those that the first view frames; `None` for all.
    positions: usize,
    main_part: Option<Vec<Range<usize>>>,
    /// Camera position in a closed room, relative to the origin.
    inside: Option<InsideView>,
}

/// View that a scene is first seen from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FirstView {
    /// Viewpoint at the first moment.
    pub viewpoint: Viewpoint,
    /// Rounding error of the viewpoint's eye: its exact position minus the f32 one, in metres.
    pub eye_rounding: Vec3,
    /// Camera of the file that this view is seen through. Clips may move it.
    pub camera: Option<usize>,
    origin: Vec3,
}

/// Time span over which the first view frames the scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Span {
    /// The full duration of the clip, even if it does not play.
    Clip,
    /// `poses` times, spread over `seconds` from the first time. With `poses` = 1, only the first time.
    Sequence {
        /// Duration in seconds; negative if time runs backwards.
        seconds: f32,
        /// Number of times, at least 1.
        poses: usize,
    },
}

impl Span {
    /// Only the first time.
    pub const MOMENT: Self = Self::Sequence {
        seconds: 0.0,
        poses: 1,
    };
}

impl OpenedScene {
    /// Loads `files`, or the built-in scene if there are none.
    ///
    /// # Errors
    ///
    /// Any error of [`load_for`].
    pub fn load(
        files: &[PathBuf],
        config: &Settings,
        support: TextureSupport,
        span: Span,
        progress: &Progress,
    ) -> Result<Self> {
        let files = folder::resolved(files)?;
        let scene = load_for(&files, &config.load, support, progress)?;
        let mut opened = Self::new(scene, config, span);
        opened.first.is_builtin = files.is_empty();
        opened.files = files;
        Ok(opened)
    }

    /// Applies the clip, morph weights, variant and up axis of `config` to a scene. The scene must not be the
    /// built-in one.
    pub fn new(mut scene: Scene, config: &Settings, span: Span) -> Self {
        let mut setting_error = None;
        let animation = &config.animation;
        let first_clip = (!scene.clips.is_empty()).then_some(0);
        let named = Blend::named(&scene, &animation.clip);
        let otherwise = (first_clip, Blend::default());
        let (clip, mut blend) = fitting(named, otherwise, &mut setting_error);
        let named = blend.set_morphs_named(&scene, &animation.morphs);
        fitting(named, (), &mut setting_error);
        let variant = fitting(scene.variant(&config.scene.variant), None, &mut setting_error);
        scene.choose_variant(variant);
        scene.set_up_axis(config.scene.up);
        let bounds = Bounds::new(&scene);
        let origin = scene_origin(&scene, &bounds);
        let (clips, time) = ((clip, &blend), animation.time);
        let points = match span {
            Span::Clip => clip_points(&scene, clips, time, origin),
            Span::Sequence { seconds, poses } => positions_over(&scene, clips, time, seconds, poses, origin),
        };
        let first = InitialState::new(&scene, clips, time, (&points, origin));
        let room = first
            .inside
            .map(|_| ROOM_OCCLUSION * framing::extent(first.bounds));
        scene.closed_room = room;
        Self {
            files: Vec::new(),
            bounds,
            clip,
            variant,
            first,
            blend,
            points,
            edits: MatchedEdits::default(),
            setting_error,
            scene,
        }
    }

    /// Returns the scene if it has everything that the settings select.
    ///
    /// # Errors
    ///
    /// [`OpenedScene::setting_error`], if there is one.
    pub fn checked(mut self) -> Result<Self> {
        self.setting_error.take().map_or(Ok(self), Err)
    }
}

/// Returns the value of `found`. On an error, returns `otherwise` and keeps the first error as the
/// setting error.
fn fitting<T>(found: Result<T>, otherwise: T, setting_error: &mut Option<Error>) -> T {
    found.unwrap_or_else(|error| {
        setting_error.get_or_insert(error);
        otherwise
    })
}

impl InitialState {
    /// Computes the moment at `time` of a scene that is not the built-in one. `points` are the positions that
    /// the first view frames, relative to `origin`.
    fn new(
        scene: &Scene,
        (clip, blend): (Option<usize>, &Blend),
        time: f32,
        (points, origin): (&[Vec3], Vec3),
    ) -> Self {
        let pose = Pose::blended(scene, clip, blend, time);
        let own = pose.translated(-origin.as_dvec3());
        let bounds = Aabb::from_points(points.iter().copied());
        let positions = positions(scene, &own);
        let filled = Aabb::from_points(positions.iter().copied());
        let cells = Cells::new(scene, &own, filled);
        Self {
            has_floor: framing::has_floor(scene, &own, filled),
            positions: positions.len(),
            main_part: cells.as_ref().and_then(|cells| cells.main_part(&positions)),
            inside: cells.and_then(|cells| cells.inside()),
            ground: Ground::below(bounds).map(|ground| ground.translated(origin)),
            pose,
            bounds: Aabb {
                min: bounds.min + origin,
                max: bounds.max + origin,
            },
            origin,
            is_builtin: false,
        }
    }

    /// Computes the same moment again after the scene has been turned.
    pub fn turned(
        &self,
        scene: &Scene,
        clips: (Option<usize>, &Blend),
        time: f32,
        points: (&[Vec3], Vec3),
    ) -> Self {
        Self {
            is_builtin: self.is_builtin,
            ..Self::new(scene, clips, time, points)
        }
    }

    /// Computes the first view. It comes from `look` if that is set, else from the camera that `settings`
    /// select. Otherwise it frames `points` without small, distant parts. `points` are relative to
    /// [`InitialState::origin`], and `aspect` is the image's width over its height.
    ///
    /// The built-in scene is meant to be seen through its camera. Closed rooms are seen through their first
    /// camera, or else from a position inside.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if the scene has no such camera.
    pub fn view(
        &self,
        scene: &Scene,
        points: &[Vec3],
        look: &Look,
        settings: &settings::Camera,
        aspect: f32,
    ) -> Result<FirstView> {
        let mut settings = settings.clone();
        let has_own_view = self.is_builtin || self.inside.is_some();
        if has_own_view && settings.name.is_empty() && !scene.cameras.is_empty() {
            settings.name = "0".into();
        }
        let origin = self.origin;
        let pose = self.pose.translated(-origin.as_dvec3());
        let look = Look {
            eye: look.eye.map(|eye| eye - origin),
            target: look.target.map(|target| target - origin),
            view: look.view.map(|view| view.relative_to(origin)),
        };
        let own = match self.inside {
            Some(inside) if look == Look::default() && settings.name.is_empty() => {
                let projection = Projection::Perspective {
                    fov_y: settings.fov.to_radians(),
                };
                Viewpoint::look_to(inside.eye, inside.direction, Vec3::Y, projection)
            }
            _ => {
                let first = |points| Viewpoint::first(scene, &pose, points, &look, &settings, aspect);
                let whole = first(points)?;
                match self.main_points(points) {
                    Some(held) => first(&held)?.or_if_not_closer(whole, &held),
                    None => whole,
                }
            }
        };
        let is_seen_through = |camera: &usize| Viewpoint::of_camera(scene, &pose, *camera) == Some(own);
        let named = scene.camera(&settings.name).ok().flatten();
        let (viewpoint, eye_rounding) = own.in_world(origin);
        Ok(FirstView {
            viewpoint,
            eye_rounding,
            camera: named.filter(is_seen_through),
            origin,
        })
    }

    /// Filters `points`, which hold the scene's positions at one time after another, to the main part of the
    /// scene. Small parts far from it are left out. Returns `None` if all points belong to the main part.
    fn main_points(&self, points: &[Vec3]) -> Option<Vec<Vec3>> {
        let ranges = self.main_part.as_ref()?;
        let times = points.chunks_exact(self.positions);
        let at_one_time = |points: &'_ [Vec3]| -> Vec<Vec3> {
            let held = ranges.iter().map(|range| &points[range.clone()]);
            held.flatten().copied().collect()
        };
        let is_whole = times.remainder().is_empty();
        is_whole.then(|| times.flat_map(at_one_time).collect())
    }

    /// Returns the ground plane below the scene if `mode` asks for one. It lies at the lowest point that the
    /// first view frames, so that nothing sinks below it while a clip plays.
    pub fn ground(&self, mode: GroundMode) -> Option<Ground> {
        self.ground.and_then(|ground| ground.shown(mode, self.has_floor))
    }

    /// Returns the pose and the bounding box of the scene relative to [`InitialState::origin`].
    pub fn from_origin(&self) -> (Pose, Aabb) {
        let bounds = Aabb {
            min: self.bounds.min - self.origin,
            max: self.bounds.max - self.origin,
        };
        (self.pose.translated(-self.origin.as_dvec3()), bounds)
    }
}

impl FirstView {
    /// Returns the view at `pose` and the rounding error of its eye. It is the view of its camera, or the
    /// unchanged view if it has no camera.
    pub fn at(&self, scene: &Scene, pose: &Pose) -> (Viewpoint, Vec3) {
        let of_camera = self.camera.and_then(|camera| {
            let own = pose.translated(-self.origin.as_dvec3());
            Viewpoint::of_camera(scene, &own, camera)
        });
        of_camera.map_or((self.viewpoint, self.eye_rounding), |own| {
            own.in_world(self.origin)
        })
    }
}

/// Returns the point in world space that a scene is drawn and framed from: [`framing::origin`] of its rest
/// pose.
pub fn scene_origin(scene: &Scene, bounds: &Bounds) -> Vec3 {
    framing::origin(bounds.scene(scene, &Pose::new(scene, None, 0.0)))
}

/// Returns the positions that a view of the scene frames, in metres relative to `origin`. They cover the full
/// duration of the clip, so that the scene stays in view while it plays. A clip without duration contributes
/// its pose at `time`. If the clip would have too many positions, only the positions at its start are used.
pub fn clip_points(
    scene: &Scene,
    (clip, blend): (Option<usize>, &Blend),
    time: f32,
    origin: Vec3,
) -> Vec<Vec3> {
    let length = blend.duration_secs(scene, clip);
    let (start, poses) = if length > 0.0 {
        (0.0, CLIP_POSES)
    } else {
        (time, 1)
    };
    positions_over(scene, (clip, blend), start, length, poses, origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Camera, Clip, Node, Transform, settings::Switch};

    /// Returns a scene with a camera at x = 3 and a clip.
    fn scene() -> Scene {
        Scene {
            nodes: vec![Node {
                camera: Some(0),
                transform: Transform::Matrix(glam::DMat4::from_translation(glam::DVec3::X * 3.0)),
                ..Node::default()
            }],
            cameras: vec![Camera {
                name: "eye".into(),
                projection: Projection::Perspective { fov_y: 1.0 },
            }],
            clips: vec![Clip::default()],
            variants: vec!["red".into()],
            ..Scene::default()
        }
    }

    #[test]
    fn invalid_clips_and_variants_are_replaced_and_reported() {
        let mut config = Settings::default();
        config.animation.clip = "run".into();
        config.scene.variant = "blue".into();
        let opened = OpenedScene::new(scene(), &config, Span::MOMENT);
        assert_eq!((opened.clip, opened.variant), (Some(0), None));
        let told = opened.checked().unwrap_err().to_string();
        assert!(told.contains("run"), "{told}");
        config.animation.clip = "none".into();
        config.scene.variant = "red".into();
        let opened = OpenedScene::new(scene(), &config, Span::MOMENT).checked();
        let opened = opened.unwrap();
        assert_eq!((opened.clip, opened.variant), (None, Some(0)));
    }

    /// A point that a clip carries ten metres to the right is framed there too, even if the clip does not
    /// play.
    #[test]
    fn framing_covers_the_whole_length_of_a_clip() {
        let mut scene = scene();
        scene.nodes[0].mesh = Some(0);
        scene.nodes[0].transform = Transform::Trs {
            translation: glam::DVec3::ZERO,
            rotation: glam::DQuat::IDENTITY,
            scale: glam::DVec3::ONE,
        };
        let primitive = crate::Primitive {
            positions: vec![Vec3::ZERO],
            ..Default::default()
        };
        scene.meshes.push(crate::Mesh {
            name: String::new(),
            primitives: vec![primitive],
        });
        scene.clips[0] = Clip {
            duration_secs: 2.0,
            channels: vec![crate::Channel {
                target: 0,
                property: crate::Property::Translation,
                interpolation: crate::Interpolation::Linear,
                times_secs: vec![0.0, 2.0],
                values: vec![0.0, 0.0, 0.0, 10.0, 0.0, 0.0],
                components: 3,
            }],
            ..Clip::default()
        };
        let mut config = Settings::default();
        for play in [Switch::On, Switch::Off] {
            config.animation.play = play;
            let opened = OpenedScene::new(scene.clone(), &config, Span::Clip);
            let bounds = opened.first.bounds;
            assert_eq!((bounds.min.x, bounds.max.x), (0.0, 10.0), "{play:?}");
        }
        let moment = OpenedScene::new(scene, &config, Span::MOMENT);
        assert_eq!(moment.first.bounds.max.x, 0.0);
    }

    #[test]
    fn the_first_view_names_its_camera() {
        let mut config = Settings::default();
        let mut opened = OpenedScene::new(scene(), &config, Span::Clip);
        let mut view = |name: &str, look: &Look, is_builtin| {
            config.camera.name = name.into();
            opened.first.is_builtin = is_builtin;
            let (first, points) = (&opened.first, &opened.points);
            first.view(&opened.scene, points, look, &config.camera, 1.0)
        };
        let nowhere = Look::default();
        assert_eq!(view("", &nowhere, false).unwrap().camera, None);
        let named = view("eye", &nowhere, false).unwrap();
        assert_eq!((named.camera, named.viewpoint.eye().x), (Some(0), 3.0));
        assert_eq!(view("", &nowhere, true).unwrap(), named);
        let aside = Look {
            eye: Some(Vec3::Y),
            target: None,
            ..Look::default()
        };
        assert_eq!(view("eye", &aside, false).unwrap().camera, None);
        assert!(view("ear", &nowhere, false).is_err());
    }
}
