//! State that the panel shows and changes: settings, the scene and its time, the camera. Nothing in this
//! module is on the GPU.

use crate::{
    app::{
        camera::CameraMotion,
        camera::{arm::Arm, model::Camera},
        compare::model::{Compare, SideState},
        deviation::DeviationState,
        environment::EnvironmentState,
        environment::sun::{self, SunOfScene},
        files::FileState,
        files::offers::Suggestion,
        input::keys::{Action, ORBIT_STEPS},
        inspect::InspectState,
        palette::channels,
        picture::PictureState,
        profile::ProfileState,
        profile::model::ProfilerPanel,
        timeline::Playback,
        trees::TreeState,
        ui::model::{Failure, UiState},
        undo::UndoState,
        undo::{changes::Changes, model::Undo, renumbered::Renumbered},
    },
    config::{
        Antialias, CameraMode, Config, Environment, ExposureMode, Fog, GroundMode, ImageMode, OcclusionMode,
        ReflectionMode, ShadowMode, Sun, Switch, Tree, UpAxis,
    },
    profile::history::{self, History},
    render::{Channel, layout::LIGHT_LIMIT, light::scene_exposure::first_exposure_ev},
    scene::{
        Blend, Pose, Projection, Scene, UpHint,
        bounds::{Aabb, Bounds},
        edits::{AppliedEdits, SceneEdits},
        framing::{self, Ground, Look, Viewpoint},
        opened::{InitialState, OpenedScene, clip_points, scene_origin},
    },
};
use std::{
    collections::{BTreeSet, VecDeque},
    path::PathBuf,
    sync::Arc,
};

/// Headline of the error for settings that are invalid for the scene.
const MISFIT: &str = "A setting is invalid for this scene";

/// Maximum number of frame times in the history.
pub(super) const HISTORY: usize = 240;

/// Viewer state that involves neither the window nor the GPU.
#[derive(Debug)]
pub(super) struct State {
    /// Settings, edited in place.
    pub(super) config: Config,
    /// The scene that is shown, with its time.
    pub(super) stage: Option<Stage>,
    /// The camera that the scene is seen from.
    pub(super) camera: Camera,
    /// Comparison of the scene side by side with something else.
    pub(super) compare: Compare,
    /// Everything besides user input that moves the camera.
    pub(super) motion: CameraMotion,
    /// Playback of clips.
    pub(super) playback: Playback,
    /// Display state of the picture.
    pub(super) picture: PictureState,
    /// The environment that is shown, and the sun.
    pub(super) environment: EnvironmentState,
    /// The surface that the scene is compared with, and the distances to it.
    pub(super) deviation: DeviationState,
    /// Changed settings and edits, for undo.
    pub(super) edits: UndoState,
    /// State of selection, measurement and other inspection.
    pub(super) inspect: InspectState,
    /// State of the BVHs and of their visualisation.
    pub(super) trees: TreeState,
    /// Frame times, and the state of the profiler.
    pub(super) profile: ProfileState,
    /// State of opening and saving files.
    pub(super) files: FileState,
    /// State of panels and cards over the picture.
    pub(super) ui: UiState,
}

/// A scene and the time at which it is shown.
#[derive(Debug)]
pub(super) struct Stage {
    /// Files of the scene. Empty for the built-in scene.
    pub(super) files: Vec<PathBuf>,
    /// The scene.
    pub(super) scene: Scene,
    /// Bounds of the scene over time.
    pub(super) bounds: Bounds,
    /// The clip that plays. `None` for the rest pose.
    pub(super) clip: Option<usize>,
    /// Clips that are blended instead of playing `clip`, and morph weights that are set by hand.
    pub(super) blend: Arc<Blend>,
    /// The material variant.
    pub(super) variant: Option<usize>,
    /// Time in the clip, in seconds.
    pub(super) time: f32,
    /// Camera of the file that was last looked through.
    pub(super) camera: Option<usize>,
    /// Nodes whose meshes the user has hidden.
    pub(super) hidden: Arc<BTreeSet<usize>>,
    /// Edits of the scene by the user.
    pub(super) applied: AppliedEdits,
    /// Number of changes to `applied`.
    pub(super) edit_count: u64,
    /// Edited materials that have not been uploaded to the GPU.
    pub(super) changed_materials: BTreeSet<usize>,
    first: InitialState,
    /// The last exposure and the inputs that it was computed from.
    exposure: Option<(ExposureKey, f32)>,
    /// The last pose and the inputs that it was computed from.
    posed: Option<(PoseKey, Arc<Pose>)>,
}

/// Everything that the pose of a scene depends on.
#[derive(Debug, Clone, PartialEq)]
struct PoseKey {
    clip: Option<usize>,
    blend: Arc<Blend>,
    time: f32,
    hidden: Arc<BTreeSet<usize>>,
    edit_count: u64,
    world_from_file: glam::Mat4,
}

/// Everything that the exposure of a scene depends on.
#[derive(Debug, Clone, PartialEq)]
struct ExposureKey {
    sun: Sun,
    environment: Environment,
    mode: ExposureMode,
    /// Mean luminance of the environment file.
    file_luminance: f32,
}

impl Stage {
    pub(super) fn new(files: Vec<PathBuf>, opened: OpenedScene, time: f32) -> Self {
        Self {
            files,
            scene: opened.scene,
            bounds: opened.bounds,
            clip: opened.clip,
            blend: opened.blend.into(),
            variant: opened.variant,
            time,
            camera: None,
            hidden: Arc::default(),
            applied: AppliedEdits::default(),
            edit_count: 0,
            changed_materials: BTreeSet::new(),
            first: opened.first,
            exposure: None,
            posed: None,
        }
    }

    /// Returns the display name of the scene.
    pub(super) fn name(&self) -> String {
        let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned());
        match (self.files.first().and_then(name), self.files.len()) {
            (Some(name), 1) => name,
            (Some(name), count) => format!("{name} and {} more", count - 1),
            (None, _) => "built-in scene".into(),
        }
    }

    /// Computes the current pose of the scene.
    pub(super) fn pose(&self) -> Pose {
        self.pose_at(self.clip, &self.blend, self.time, &self.hidden)
    }

    /// Returns the current pose, computed once and shared by all its users.
    pub(super) fn shared_pose(&mut self) -> Arc<Pose> {
        let key = PoseKey {
            clip: self.clip,
            blend: self.blend.clone(),
            time: self.time,
            hidden: self.hidden.clone(),
            edit_count: self.edit_count,
            world_from_file: self.scene.world_from_file,
        };
        if let Some((known, pose)) = &self.posed
            && *known == key
        {
            return pose.clone();
        }
        let pose = Arc::new(self.pose());
        self.posed = Some((key, pose.clone()));
        pose
    }

    /// Computes the pose at `time` of a clip with the given nodes hidden.
    pub(super) fn pose_at(
        &self,
        clip: Option<usize>,
        blend: &Blend,
        time: f32,
        hidden: &BTreeSet<usize>,
    ) -> Pose {
        let mut pose = Pose::blended(&self.scene, clip, blend, time);
        pose.hide(hidden);
        pose
    }

    /// Returns the ground below the scene if `mode` asks for it.
    pub(super) fn ground(&self, mode: GroundMode) -> Option<Ground> {
        self.first.ground(mode)
    }

    /// Returns the name of a ground mode together with its effect below this scene.
    pub(super) fn ground_name(&self, mode: GroundMode) -> String {
        let ground = self.ground(mode);
        let spacing = ground.and_then(|ground| ground.spacing_text());
        match (mode, spacing) {
            (GroundMode::Auto, _) if ground.is_some() => "auto (shadow)".into(),
            (GroundMode::Auto, _) => "auto (off)".into(),
            (_, Some(spacing)) => format!("{} ({spacing})", mode.name()),
            _ => mode.name().into(),
        }
    }

    /// Points that a view of the whole scene has to contain, relative to `origin`.
    fn points(&self, origin: glam::Vec3) -> Vec<glam::Vec3> {
        clip_points(&self.scene, (self.clip, &self.blend), self.time, origin)
    }

    /// Axis of the files that points up, given the setting `wanted`.
    pub(super) fn up_axis(&self, wanted: UpAxis) -> UpAxis {
        self.scene.up_axis(wanted)
    }

    /// Rotates the scene to the up axis `wanted`. Returns true if its orientation changed.
    pub(super) fn set_up_axis(&mut self, wanted: UpAxis) -> bool {
        let before = self.scene.world_from_file;
        self.scene.set_up_axis(wanted);
        if self.scene.world_from_file == before {
            return false;
        }
        let origin = scene_origin(&self.scene, &self.bounds);
        let points = self.points(origin);
        let clips = (self.clip, &*self.blend);
        let turned = (&points[..], origin);
        self.first = self.first.turned(&self.scene, clips, self.time, turned);
        self.exposure = None;
        true
    }

    /// Creates a camera at `viewpoint` whose pivot is at the scene's centre.
    fn camera_at(&self, viewpoint: &Viewpoint) -> Camera {
        let bounds = self.first.bounds;
        Camera::new(viewpoint, bounds.center(), framing::extent(bounds))
    }

    /// Returns the display name of a clip, or of the rest pose.
    pub(super) fn clip_name(&self, clip: Option<usize>) -> String {
        let Some(clip) = clip else {
            return "rest pose".into();
        };
        let name = self.scene.clips.get(clip).map(|clip| clip.name.as_str());
        named(name.unwrap_or_default(), "clip", clip)
    }

    /// Returns the display name of a camera of the file.
    pub(super) fn camera_name(&self, camera: usize) -> String {
        let found = self.scene.cameras.get(camera);
        named(found.map_or("", |camera| &camera.name), "camera", camera)
    }

    /// Returns the length in seconds of the clip that plays, or of the longest blended clip, or 0 without a
    /// clip.
    pub(super) fn duration(&self) -> f32 {
        self.blend.duration_secs(&self.scene, self.clip)
    }

    /// Returns the exposure in stops that `config` sets or that suits the lights. `file_luminance` is the
    /// mean luminance of the environment file.
    pub(super) fn exposure_ev(&mut self, config: &Config, file_luminance: f32) -> f32 {
        let key = ExposureKey {
            sun: config.sun.clone(),
            environment: config.environment.clone(),
            mode: config.image.exposure,
            file_luminance,
        };
        if let Some((known, ev)) = &self.exposure
            && *known == key
        {
            return *ev;
        }
        let limit = LIGHT_LIMIT as usize;
        // An edited or added light must change the picture but not its exposure.
        let edits = self.applied.edits().clone();
        self.applied.apply(&mut self.scene, &SceneEdits::default());
        let ev = first_exposure_ev(&self.scene, &self.first, config, file_luminance, limit);
        self.applied.apply(&mut self.scene, &edits);
        self.exposure = Some((key, ev));
        ev
    }

    /// Returns the exposure in stops of the last picture that was not metered, or 0 before the first one.
    pub(super) fn last_exposure(&self) -> f32 {
        self.exposure.as_ref().map_or(0.0, |(_, ev)| *ev)
    }
}

/// Returns `name`, or `noun` with the index if the name is empty.
fn named(name: &str, noun: &str, index: usize) -> String {
    match name {
        "" => format!("{noun} {index}"),
        name => name.to_owned(),
    }
}

impl State {
    pub(super) fn new(config: Config) -> Self {
        let lens = Projection::Perspective {
            fov_y: config.camera.fov.to_radians(),
        };
        let unit = Aabb {
            min: glam::Vec3::splat(-0.5),
            max: glam::Vec3::splat(0.5),
        };
        let view = Viewpoint::framing(&unit.corners(), lens, 1.0);
        Self {
            stage: None,
            camera: Camera::new(&view, unit.center(), unit.radius()),
            motion: CameraMotion::default(),
            playback: Playback {
                clips_play: true,
                ..Playback::default()
            },
            picture: PictureState::default(),
            environment: EnvironmentState::default(),
            deviation: DeviationState::default(),
            compare: Compare::default(),
            edits: UndoState {
                initial: config.clone(),
                changes: Changes::default(),
                undo: Undo::new(config.clone()),
            },
            inspect: InspectState::default(),
            trees: TreeState::default(),
            profile: ProfileState {
                frame_ms: VecDeque::with_capacity(HISTORY),
                history: History::new(history::FRAMES),
                profiler: ProfilerPanel::default(),
            },
            files: FileState::default(),
            ui: UiState {
                panel: config.window.panel,
                ..UiState::default()
            },
            config,
        }
    }

    /// Shows another scene from its first view, or the same files again from the current view. A setting that
    /// is invalid for the scene is shown as an error.
    pub(super) fn show(&mut self, files: Vec<PathBuf>, mut opened: OpenedScene, look: &Look, aspect: f32) {
        if let Some(setting_error) = &opened.setting_error {
            self.fail(MISFIT, setting_error.to_string());
        }
        self.environment.sun_of_scene = SunOfScene::default();
        // Pending changes become an undo step of the previous scene.
        self.follow_changes(false);
        self.forget_clicks();
        self.files.bookmarks.show(&files);
        let points = std::mem::take(&mut opened.points);
        self.inspect.outline.reset_scene();
        let stage = Stage::new(files, opened, self.config.animation.time);
        let edits = self.stage.as_mut().map(Stage::take_edits);
        let before = self.stage.replace(stage);
        let (mut dropped, mut renumbered) = (0, None);
        match (before, &mut self.stage) {
            (Some(before), Some(stage)) if before.files == stage.files => {
                let to = Renumbered::new(&before.scene, &stage.scene);
                self.compare.change_edits(|edits| to.edits(edits, &stage.scene).0);
                dropped = stage.keep_edits(&to, &edits.unwrap_or_default());
                let exists = |camera: &usize| *camera < stage.scene.cameras.len();
                stage.camera = before.camera.filter(exists);
                let names = |scene: &Scene| -> Vec<String> {
                    scene.clips.iter().map(|clip| clip.name.clone()).collect()
                };
                if names(&before.scene) == names(&stage.scene) {
                    (stage.clip, stage.time) = (before.clip, before.time);
                    stage.blend = before.blend;
                }
                self.playback.playing &= stage.clip.is_some();
                if to.keeps_nodes() {
                    stage.hidden = before.hidden;
                }
                renumbered = Some(to);
            }
            (_, stage) => {
                self.compare.change_edits(|_| SceneEdits::default());
                let clip = stage.as_ref().and_then(|stage| stage.clip);
                self.playback.playing = clip.is_some() && self.plays_by_itself();
                self.playback.is_paused_still =
                    clip.is_some() && !self.playback.playing && self.config.animation.play == Switch::Auto;
                self.take_camera();
                self.motion.path.reset();
                self.start_from(&points, look, aspect);
                self.offer();
            }
        }
        let steps = self.follow_scene(renumbered.as_ref());
        self.tell_dropped(dropped, steps);
    }

    /// True if the welcome card is shown. That is the case only if a layout file can record its dismissal,
    /// and never together with the help, an error, an offer or a dialog.
    pub(super) fn welcomes(&self) -> bool {
        let is_covered =
            self.ui.help || self.ui.error.is_some() || self.ui.palette.is_some() || self.files.export.is_open;
        let is_new = self.ui.keeps_layout && !self.ui.layout.welcomed;
        is_new && self.stage.is_some() && self.files.offers.is_empty() && !is_covered
    }

    /// True if a clip of an opened scene plays at once.
    pub(super) fn plays_by_itself(&self) -> bool {
        match self.config.animation.play {
            Switch::Auto => self.playback.clips_play,
            play => play == Switch::On,
        }
    }

    /// Offers the likely corrections of the scene. A notice names the up axis that was chosen automatically,
    /// unless it is Y.
    fn offer(&mut self) {
        let Some(stage) = &self.stage else { return };
        self.files.offers = Suggestion::of(&stage.scene, &self.config);
        let axis = stage.up_axis(self.config.scene.up);
        if self.config.scene.up == UpAxis::Auto && axis != UpAxis::Y {
            let why = match stage.scene.up {
                UpHint::Stands(_) => "the scene is upright if",
                _ => "the file specifies that",
            };
            let axis = axis.name().to_uppercase();
            self.notify(format!("{why} {axis} points up; U selects the next axis"));
        }
    }

    /// Rotates the scene to the up axis of the settings. Frames it again if its orientation changed.
    pub(super) fn follow_up_axis(&mut self, look: &Look, aspect: f32) {
        let wanted = self.config.scene.up;
        if self.stage.as_mut().is_some_and(|s| s.set_up_axis(wanted)) {
            self.environment.sun_of_scene = SunOfScene::default();
            self.files
                .offers
                .retain(|offer| !matches!(offer, Suggestion::Up(_)));
            self.forget_clicks();
            self.first_view(look, aspect);
        }
    }

    /// Axis that the key U chooses: the offered one, or else the next one.
    fn next_up_axis(&self) -> UpAxis {
        let offered = self.files.offers.iter().find_map(|offer| match offer {
            Suggestion::Up(axis) => Some(*axis),
            Suggestion::Texture(_) => None,
        });
        let wanted = self.config.scene.up;
        let now = self.stage.as_ref().map(|stage| stage.up_axis(wanted));
        offered.unwrap_or_else(|| now.unwrap_or(UpAxis::Y).next())
    }

    /// Returns the extinction coefficient per metre at which the far side of the scene is still visible
    /// through the fog.
    pub(super) fn usual_fog_density(&self) -> f32 {
        let (_, most) = Fog::DENSITY.into_inner();
        (0.5 / self.camera.extent().max(1e-6)).min(most)
    }

    /// Returns the viewpoint for the renderer, and the distance to its pivot in metres, which must not be
    /// clipped. A camera of the file keeps its position in the file.
    pub(super) fn viewpoint(&self, bounds: Aabb) -> (Viewpoint, f32) {
        if self.motion.followed == Some(self.camera) {
            (self.camera.viewpoint(), self.camera.distance())
        } else {
            self.motion.arm.held(&self.camera).outside(bounds)
        }
    }

    /// Orbits the camera around its pivot. `drag` is a fraction of the picture's height.
    pub(super) fn orbit(&mut self, drag: glam::Vec2) {
        self.motion.arm.hold();
        self.camera.orbit(drag);
    }

    /// True in walk mode.
    pub(super) fn walks(&self) -> bool {
        self.config.camera.mode == CameraMode::Walk
    }

    fn toggle_walking(&mut self) {
        let walks = !self.walks();
        self.motion.arm.release(&mut self.camera);
        self.config.camera.mode = match walks {
            true => CameraMode::Walk,
            false => CameraMode::Orbit,
        };
        self.notify(match walks {
            true => "walking: W A S D to move, drag to look, E to jump",
            false => "orbiting and flying",
        });
    }

    /// Returns to the first view.
    pub(super) fn first_view(&mut self, look: &Look, aspect: f32) {
        if let Some(stage) = &self.stage {
            let points = stage.points(stage.first.origin);
            self.start_from(&points, look, aspect);
        }
    }

    fn start_from(&mut self, points: &[glam::Vec3], look: &Look, aspect: f32) {
        let Some(stage) = &mut self.stage else { return };
        let mut setting_error = None;
        let mut settings = self.config.camera.clone();
        let first = |settings: &_| {
            let (first, scene) = (&stage.first, &stage.scene);
            first.view(scene, points, look, settings, aspect)
        };
        let view = first(&settings).or_else(|error| {
            setting_error = Some(error.to_string());
            settings.name.clear();
            first(&settings)
        });
        if let Ok(view) = view {
            self.camera = stage.camera_at(&view.viewpoint);
            self.motion.followed = view.camera.map(|_| self.camera);
            self.motion.framed = Some(self.camera);
            stage.camera = view.camera;
        }
        if let Some(setting_error) = setting_error {
            self.fail(MISFIT, setting_error);
        }
    }

    /// Moves with the file's camera at `pose` until the user moves the view away from it.
    pub(super) fn follow(&mut self, pose: &Pose) {
        let (Some(stage), Some(followed)) = (&self.stage, self.motion.followed) else {
            return;
        };
        if self.camera != followed {
            self.motion.followed = None;
            return;
        }
        let view = stage
            .camera
            .and_then(|c| Viewpoint::of_camera(&stage.scene, pose, c));
        if let Some(view) = view {
            self.camera = stage.camera_at(&view);
            self.motion.followed = Some(self.camera);
        }
    }

    /// Returns the camera of the file that is looked through, until the user moves away from it.
    pub(super) fn camera_of_file(&self) -> Option<usize> {
        let is_followed = self.motion.followed == Some(self.camera);
        self.stage.as_ref()?.camera.filter(|_| is_followed)
    }

    /// Frames the whole scene from the current view direction.
    pub(super) fn frame(&mut self, aspect: f32) {
        let Some(stage) = &self.stage else { return };
        let points = stage.points(glam::Vec3::ZERO);
        let (projection, forward) = (self.camera.projection, self.camera.forward());
        // A view straight from above or below keeps its rotation. All others get a level horizon.
        let up = if forward.y.abs() > 0.99 {
            self.camera.up()
        } else {
            glam::Vec3::Y
        };
        let view = Viewpoint::framing_from(&points, -forward, up, projection, aspect);
        let now = Aabb::from_points(points);
        self.camera = Camera::new(&view, now.center(), framing::extent(now));
    }

    /// Looks at the scene from `view`, with the pivot `distance` metres ahead.
    pub(super) fn see(&mut self, view: &Viewpoint, distance: f32) {
        let Some(stage) = &self.stage else { return };
        let center = view.eye() + view.forward() * distance;
        self.motion.arm = Arm::default();
        self.camera = Camera::new(view, center, framing::extent(stage.first.bounds));
    }

    /// Looks through a camera of the file.
    pub(super) fn look_through(&mut self, camera: usize) {
        let Some(stage) = &mut self.stage else { return };
        let pose = stage.pose();
        if let Some(view) = Viewpoint::of_camera(&stage.scene, &pose, camera) {
            self.camera = stage.camera_at(&view);
            stage.camera = Some(camera);
            self.motion.followed = Some(self.camera);
        }
    }

    /// Switches to the start of another clip, or to the rest pose, and ends a blend of clips.
    pub(super) fn play_clip(&mut self, clip: Option<usize>) {
        if let Some(stage) = &mut self.stage {
            stage.clip = clip.filter(|clip| *clip < stage.scene.clips.len());
            Arc::make_mut(&mut stage.blend).clips.clear();
            stage.time = 0.0;
        }
    }

    /// Keeps the playing clip in view. A camera that is still at the first view moves to the first view of
    /// the new clip. Any other camera frames the scene if the clip's centre is out of view, unless it follows
    /// a camera of the file.
    fn frame_clip(&mut self, look: &Look, aspect: f32) {
        if self.motion.framed == Some(self.camera) {
            return self.first_view(look, aspect);
        }
        let Some(stage) = &self.stage else { return };
        let middle = Aabb::from_points(stage.points(glam::Vec3::ZERO)).center();
        let view = self.camera.viewpoint();
        if !view.sees(middle, aspect) && self.motion.followed != Some(self.camera) {
            self.frame(aspect);
        }
    }

    /// Performs the part of an action that needs neither window nor GPU. Returns the action if the caller has
    /// to perform another part.
    pub(super) fn perform(&mut self, action: Action, aspect: f32, look: &Look) -> Option<Action> {
        match action {
            Action::Help => self.ui.help = !self.ui.help,
            Action::Panel => {
                self.ui.panel = !self.ui.panel;
                self.notify(format!("settings panel {}", on_off(self.ui.panel)));
            }
            Action::Profiler => {
                self.profile.profiler.is_open = !self.profile.profiler.is_open;
                self.notify(format!("profiler {}", on_off(self.profile.profiler.is_open)));
            }
            Action::FreezeProfiler => {
                self.profile.profiler.toggle_freeze(&self.profile.history);
                self.notify(match self.profile.profiler.is_frozen() {
                    true => "profiler frozen",
                    false => "profiler running",
                });
            }
            Action::Outline => self.toggle_outline(),
            Action::Face(view) => {
                self.camera.face(view);
                self.notify(format!("{} view", view.name()));
            }
            Action::Orbit([left, up]) => {
                let steps = glam::Vec2::new(f32::from(left), f32::from(up));
                self.orbit(steps / f32::from(ORBIT_STEPS));
            }
            Action::Projection => {
                let fov = self.config.camera.fov.to_radians();
                self.camera.switch_projection(fov);
                self.notify(match self.camera.projection {
                    Projection::Perspective { .. } => "perspective projection",
                    Projection::Orthographic { .. } => "orthographic projection",
                });
            }
            Action::NextUpAxis => {
                let axis = self.next_up_axis();
                self.config.scene.up = axis;
                let axis = axis.name().to_uppercase();
                self.notify(format!("{axis} of the file points up"));
            }
            Action::Frame => {
                self.frame(aspect);
                self.notify("the whole scene is in view");
            }
            Action::FirstView => {
                self.first_view(look, aspect);
                self.notify("back to the first view");
            }
            Action::Export => {
                self.files.export.is_open = !self.files.export.is_open;
                self.files.export.takes_keyboard = self.files.export.is_open;
            }
            Action::Walk => self.toggle_walking(),
            Action::NextCamera => self.next_camera(),
            Action::Bookmark => self.bookmark(),
            Action::GoToBookmark(index) => self.go_to_bookmark(index),
            Action::Camera(camera) => self.look_through(camera),
            Action::Play => self.toggle_playing(),
            Action::NextClip => {
                self.next_clip();
                self.frame_clip(look, aspect);
            }
            Action::Timeline | Action::StepFrame(_) | Action::ClipStart | Action::ClipEnd => {
                self.perform_on_timeline(action);
            }
            Action::Turntable => self.toggle_turntable(),
            Action::PathKey => self.add_path_key(),
            Action::Clip(clip) => {
                self.play_clip(clip);
                self.frame_clip(look, aspect);
            }
            Action::Variant(variant) => {
                if let Some(stage) = &mut self.stage {
                    stage.scene.choose_variant(variant);
                    stage.variant = variant;
                }
                return Some(action);
            }
            Action::Shadows(mode) => self.choose_shadows(mode),
            Action::NextShadows => self.choose_shadows(match self.config.shadows.mode {
                ShadowMode::Off => ShadowMode::Map,
                ShadowMode::Map => ShadowMode::Rays,
                ShadowMode::Rays => ShadowMode::Off,
            }),
            Action::NextOcclusion => {
                let modes = OcclusionMode::ALL;
                let mode = &mut self.config.occlusion.mode;
                let now = modes.iter().position(|known| known == mode).unwrap_or(0);
                *mode = modes[(now + 1) % modes.len()];
                let name = mode.name();
                self.notify(format!("ambient occlusion: {name}"));
            }
            Action::Fog => {
                let usual = self.usual_fog_density();
                let density = &mut self.config.fog.density;
                let notice = match *density {
                    0.0 => {
                        *density = self.picture.cleared_fog.take().unwrap_or(usual);
                        format!("fog: {density:.4} per metre")
                    }
                    cleared => {
                        self.picture.cleared_fog = Some(cleared);
                        *density = 0.0;
                        "fog: none".into()
                    }
                };
                self.notify(notice);
            }
            Action::Paths => {
                let mode = &mut self.config.image.mode;
                let (next, name) = match mode {
                    ImageMode::Fast => (ImageMode::Path, "path tracer"),
                    ImageMode::Path => (ImageMode::Fast, "fast"),
                };
                *mode = next;
                self.notify(format!("render mode: {name}"));
            }
            Action::NextReflections => {
                let modes = ReflectionMode::ALL;
                let mode = &mut self.config.reflections.mode;
                let now = modes.iter().position(|known| known == mode).unwrap_or(0);
                *mode = modes[(now + 1) % modes.len()];
                let name = mode.name();
                self.notify(format!("reflections: {name}"));
            }
            Action::NextEnvironment => self.next_environment(),
            Action::NextGround => {
                let modes = GroundMode::ALL;
                let mode = &mut self.config.scene.ground;
                let now = modes.iter().position(|known| known == mode).unwrap_or(0);
                *mode = modes[(now + 1) % modes.len()];
                let name = self
                    .stage
                    .as_ref()
                    .map_or(mode.name().into(), |s| s.ground_name(*mode));
                self.notify(format!("ground: {name}"));
            }
            Action::Antialias => {
                let antialias = &mut self.config.image.antialias;
                let (next, name) = match *antialias {
                    Antialias::Off => (Antialias::Smaa, "SMAA"),
                    Antialias::Smaa => (Antialias::Temporal, "temporal"),
                    Antialias::Temporal | Antialias::Auto => (Antialias::Off, "off"),
                };
                *antialias = next;
                self.notify(format!("anti-aliasing: {name}"));
            }
            Action::Cutoff(step) => self.step_cutoff(step),
            Action::Channel(channel) => self.show_channel(channel),
            Action::NextChannel => self.step_channel(1),
            Action::PreviousChannel => self.step_channel(Channel::ALL.len() - 1),
            Action::Intersections => self.toggle_intersections(),
            Action::Compare => {
                let now = self.shown();
                let text = self.compare.toggle(now);
                self.notify(text);
            }
            Action::CompareUnedited => {
                self.compare.begin_without_edits();
                self.notify("comparing with the scene without edits");
            }
            Action::CompareMode => {
                let name = self.compare.next_mode();
                self.notify(format!("comparing by {name}"));
            }
            Action::CompareFlip => {
                let side = self.compare.flip();
                self.notify(format!("side {side}"));
            }
            Action::Undo => self.undo(1, false),
            Action::Redo => self.undo(1, true),
            Action::Reset => {
                self.config = self.edits.initial.clone();
                self.camera.set_fov(self.config.camera.fov.to_radians());
                self.picture.channel = Channel::Lit;
                self.trees.view.of_selection = false;
                self.trees.overlay_of_selection = false;
                self.notify("all settings are reset");
            }
            Action::TreeBoxes | Action::NextTreeBoxes | Action::TraceRay | Action::RayStep(_) => {
                return self.perform_on_trees(action);
            }
            Action::Textures => self.toggle_textures(),
            Action::Wireframe | Action::Normals => self.perform_on_overlay(action),
            Action::Measure
            | Action::FrameSelection
            | Action::Hide
            | Action::Isolate
            | Action::ShowAll
            | Action::CopySelection => return self.perform_on_selection(action, aspect),
            Action::Open
            | Action::OpenEnvironment
            | Action::OpenCompared
            | Action::SaveEdits
            | Action::LoadEdits
            | Action::OpenSide
            | Action::ImportLook
            | Action::ExportLook
            | Action::Palette
            | Action::FocusPanel
            | Action::Find
            | Action::Present
            | Action::Browse
            | Action::NextFile
            | Action::PreviousFile
            | Action::Reload
            | Action::Watch
            | Action::ObjTexture
            | Action::Fullscreen
            | Action::Screenshot
            | Action::ScreenshotOfWindow
            | Action::SaveProfile(_)
            | Action::Benchmark
            | Action::ComparePicture
            | Action::StartExport
            | Action::Leave
            | Action::Quit => return Some(action),
        }
        None
    }

    /// Returns the settings, edits and variant that a frozen side B keeps.
    pub(super) fn shown(&self) -> SideState {
        let stage = self.stage.as_ref();
        let edits = stage.map(|stage| stage.applied.edits().clone());
        SideState {
            config: self.config.clone(),
            edits: edits.unwrap_or_default(),
            variant: stage.and_then(|stage| stage.variant),
        }
    }

    fn next_camera(&mut self) {
        let Some(stage) = &self.stage else { return };
        let count = stage.scene.cameras.len();
        if count == 0 {
            return self.notify("the file has no cameras");
        }
        let next = stage.camera.map_or(0, |now| (now + 1) % count);
        let name = stage.camera_name(next);
        self.look_through(next);
        self.notify(format!("camera: {name}"));
    }

    fn next_clip(&mut self) {
        let Some(stage) = &self.stage else { return };
        let count = stage.scene.clips.len();
        if count == 0 {
            return self.notify("the scene has no clips");
        }
        let next = stage.clip.map_or(0, |now| (now + 1) % count);
        let name = stage.clip_name(Some(next));
        self.play_clip(Some(next));
        self.notify(format!("clip: {name}"));
    }

    fn choose_shadows(&mut self, mode: ShadowMode) {
        self.config.shadows.mode = mode;
        let name = match mode {
            ShadowMode::Off => "off",
            ShadowMode::Map => "maps",
            ShadowMode::Rays => "rays",
        };
        self.notify(format!("shadows: {name}"));
    }

    fn step_cutoff(&mut self, step: i32) {
        let cutoff = &mut self.config.tree.leaf_cutoff;
        let (least, most) = Tree::LEAF_CUTOFF.into_inner();
        *cutoff = cutoff.saturating_add_signed(step).clamp(least, most);
        let text = format!("leaf cutoff: {}", counted(u64::from(*cutoff), "triangle"));
        self.notify(text);
    }

    fn step_channel(&mut self, step: usize) {
        let channels = Channel::ALL;
        let now = channels.iter().position(|c| *c == self.picture.channel);
        self.show_channel(channels[(now.unwrap_or(0) + step) % channels.len()]);
    }

    fn show_channel(&mut self, channel: Channel) {
        self.picture.channel = channel;
        self.notify(format!("channel: {}", channels::title(channel)));
    }

    pub(super) fn toggle_intersections(&mut self) {
        self.show_channel(match self.picture.channel {
            Channel::Intersections => Channel::Lit,
            _ => Channel::Intersections,
        });
    }

    /// Warnings about the scene and the environment.
    pub(super) fn warnings(&self) -> impl Iterator<Item = &String> {
        let of_scene = self.stage.iter().flat_map(|stage| &stage.scene.warnings);
        of_scene.chain(&self.environment.warnings)
    }

    /// Shows a short notice for a moment.
    pub(super) fn notify(&mut self, text: impl Into<String>) {
        self.ui.notice = Some((text.into(), std::time::Instant::now()));
    }

    /// Shows an error until the user closes it.
    pub(super) fn fail(&mut self, headline: impl Into<String>, text: impl Into<String>) {
        self.ui.error = Some(Failure {
            headline: headline.into(),
            text: text.into(),
        });
    }

    /// Clears the cached sun after the scene's lights have changed.
    pub(super) fn forget_sun(&mut self) {
        self.environment.sun_of_scene = SunOfScene::default();
    }

    /// Determines the effective sun.
    pub(super) fn find_sun(&mut self) {
        self.environment.sun = match &self.stage {
            Some(stage) => {
                let moment = (stage.clip, stage.blend.clone(), stage.time);
                let of_file = self.environment.sun_of_file;
                self.environment
                    .sun_of_scene
                    .in_force(&stage.scene, moment, &self.config, of_file)
            }
            None => None,
        };
    }

    /// Rotates the sun. `drag` is a fraction of the viewport's height.
    pub(super) fn drag_sun(&mut self, drag: glam::Vec2) {
        self.find_sun();
        let turn = drag * 180.0;
        sun::turn(&mut self.config, self.environment.sun, turn.x, -turn.y);
        self.find_sun();
        if let Some(sun) = self.environment.sun {
            self.notify(sun::toast(&sun));
        }
    }

    /// Resets a key to its value at the start.
    pub(super) fn reset(&mut self, key: &str) {
        let Some(value) = self.edits.initial.value(key) else {
            return;
        };
        if let Err(error) = self.config.set("the settings at the start", key, value) {
            log::error!("{error}");
        }
        if key == "camera.fov" {
            self.camera.set_fov(self.config.camera.fov.to_radians());
        }
    }

    /// Adds a frame time in milliseconds to the history.
    pub(super) fn record_frame(&mut self, ms: f32) {
        if self.profile.frame_ms.len() == HISTORY {
            self.profile.frame_ms.pop_front();
        }
        self.profile.frame_ms.push_back(ms);
    }
}

fn on_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

/// Formats a number with its noun, such as `1 warning` and `2 warnings`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        app::camera::model::StandardView,
        scene::{self, Clip, Interpolation, Node, Property, Transform, opened::Span},
    };

    /// Every action of a key that changes something shows a notice.
    #[test]
    fn actions_of_keys_show_a_notice() {
        let mut state = State::new(Config::default());
        let opened = OpenedScene::new(Scene::default(), &Config::default(), Span::Clip);
        state.show(vec!["a.glb".into()], opened, &Look::default(), 1.0);
        for action in [
            Action::Panel,
            Action::Profiler,
            Action::FreezeProfiler,
            Action::Outline,
            Action::Frame,
            Action::FirstView,
            Action::Walk,
            Action::NextCamera,
            Action::Play,
            Action::NextClip,
            Action::Timeline,
            Action::StepFrame(1),
            Action::ClipStart,
            Action::ClipEnd,
            Action::Turntable,
            Action::PathKey,
            Action::Shadows(ShadowMode::Map),
            Action::NextShadows,
            Action::NextOcclusion,
            Action::Fog,
            Action::Paths,
            Action::NextReflections,
            Action::NextEnvironment,
            Action::NextGround,
            Action::Antialias,
            Action::Cutoff(1),
            Action::NextChannel,
            Action::PreviousChannel,
            Action::TreeBoxes,
            Action::NextTreeBoxes,
            Action::Wireframe,
            Action::Normals,
            Action::Textures,
            Action::TraceRay,
            Action::RayStep(1),
            Action::TraceRay,
            Action::Compare,
            Action::CompareMode,
            Action::CompareFlip,
            Action::CompareUnedited,
            Action::Measure,
            Action::FrameSelection,
            Action::Hide,
            Action::Isolate,
            Action::ShowAll,
            Action::CopySelection,
            Action::Reset,
        ] {
            state.ui.notice = None;
            state.perform(action, 1.0, &Look::default());
            assert!(state.ui.notice.is_some(), "{action:?}");
        }
        state.ui.notice = None;
        state.drag_sun(glam::Vec2::X);
        assert!(state.ui.notice.is_some(), "a drag of the sun");
    }

    #[test]
    fn counts_of_one_are_singular() {
        assert_eq!(counted(0, "warning"), "0 warnings");
        assert_eq!(counted(1, "warning"), "1 warning");
        assert_eq!(counted(2, "extension"), "2 extensions");
    }

    /// The view follows an animated camera of the file until the user moves it.
    #[test]
    fn an_animated_camera_is_followed_until_the_user_moves_it() {
        let channel = scene::Channel {
            target: 0,
            property: Property::Translation,
            interpolation: Interpolation::Linear,
            times_secs: vec![0.0, 1.0],
            values: vec![0.0, 0.0, 0.0, 4.0, 0.0, 0.0],
            components: 3,
        };
        let scene = Scene {
            nodes: vec![Node {
                camera: Some(0),
                transform: Transform::Trs {
                    translation: glam::DVec3::ZERO,
                    rotation: glam::DQuat::IDENTITY,
                    scale: glam::DVec3::ONE,
                },
                ..Node::default()
            }],
            cameras: vec![scene::Camera {
                name: "eye".into(),
                projection: Projection::Perspective { fov_y: 1.0 },
            }],
            clips: vec![Clip {
                channels: vec![channel],
                duration_secs: 1.0,
                ..Clip::default()
            }],
            ..Scene::default()
        };
        let opened = OpenedScene::new(scene, &Config::default(), Span::Clip);
        let mut state = State::new(Config::default());
        state.show(vec!["a.glb".into()], opened, &Look::default(), 1.0);
        let later = |state: &State| Pose::new(&state.stage.as_ref().unwrap().scene, Some(0), 0.5);
        let framed = state.camera;
        state.follow(&later(&state));
        assert_eq!(state.camera, framed, "it is not looked through");
        state.look_through(0);
        state.follow(&later(&state));
        assert_eq!(state.camera.viewpoint().eye().x, 2.0);
        state.camera.pan(glam::Vec2::X);
        let left = state.camera;
        state.follow(&later(&state));
        assert_eq!(state.camera, left);
    }

    /// The other clips move the scene by ten or a hundred metres.
    #[test]
    fn switching_the_clip_frames_the_scene_again() {
        let clip = |metres: f32| Clip {
            channels: vec![scene::Channel {
                target: 0,
                property: Property::Translation,
                interpolation: Interpolation::Linear,
                times_secs: vec![0.0, 1.0],
                values: vec![metres, 0.0, 0.0, metres, 0.0, 0.0],
                components: 3,
            }],
            duration_secs: 1.0,
            ..Clip::default()
        };
        let primitive = scene::Primitive {
            positions: vec![glam::Vec3::NEG_ONE, glam::Vec3::ONE],
            ..Default::default()
        };
        let trs = Transform::Trs {
            translation: glam::DVec3::ZERO,
            rotation: glam::DQuat::IDENTITY,
            scale: glam::DVec3::ONE,
        };
        let scene = Scene {
            nodes: vec![Node {
                mesh: Some(0),
                transform: trs,
                ..Node::default()
            }],
            meshes: vec![scene::Mesh {
                name: String::new(),
                primitives: vec![primitive],
            }],
            clips: vec![clip(0.0), clip(10.0), clip(100.0)],
            ..Scene::default()
        };
        let look = Look::default();
        let opened = OpenedScene::new(scene, &Config::default(), Span::Clip);
        let mut state = State::new(Config::default());
        state.show(vec!["a.glb".into()], opened, &look, 1.0);
        let sees = |state: &State, x: f32| {
            let view = state.camera.viewpoint();
            view.sees(glam::Vec3::X * x, 1.0)
        };
        assert!(sees(&state, 0.0) && !sees(&state, 10.0));
        let first = state.camera;
        state.perform(Action::Clip(Some(1)), 1.0, &look);
        assert!(sees(&state, 10.0) && !sees(&state, 0.0));
        state.perform(Action::NextClip, 1.0, &look);
        assert!(sees(&state, 100.0));
        state.perform(Action::NextClip, 1.0, &look);
        assert_eq!(state.camera, first);
        // The user has moved the camera to a view that also shows another clip.
        state.camera.zoom(-20.0);
        let far = state.camera;
        state.perform(Action::Clip(Some(1)), 1.0, &look);
        assert!(sees(&state, 10.0));
        assert_eq!(state.camera, far);
        state.camera.zoom(20.0);
        state.perform(Action::Clip(Some(2)), 1.0, &look);
        assert!(sees(&state, 100.0));
    }

    #[test]
    fn actions_change_settings_within_their_ranges() {
        let mut state = State::new(Config::default());
        let mut perform = |action| state.perform(action, 1.0, &Look::default());
        (0..99).for_each(|_| assert_eq!(perform(Action::Cutoff(1)), None));
        perform(Action::Shadows(ShadowMode::Rays));
        perform(Action::NextShadows);
        perform(Action::PreviousChannel);
        perform(Action::NextClip);
        perform(Action::NextCamera);
        perform(Action::Frame);
        assert_eq!(perform(Action::Quit), Some(Action::Quit));
        assert_eq!(state.config.tree.leaf_cutoff, 32);
        assert_eq!(state.config.shadows.mode, ShadowMode::Off);
        assert_eq!(state.picture.channel, Channel::Scattered);
        // The key removes the fog and restores it.
        state.config.fog.density = 0.25;
        for density in [0.0, 0.25, 0.0] {
            state.perform(Action::Fog, 1.0, &Look::default());
            assert_eq!(state.config.fog.density, density);
        }
        state.picture.channel = Channel::Intersections;
        state.perform(Action::Intersections, 1.0, &Look::default());
        assert_eq!(state.picture.channel, Channel::Lit);
        state.perform(Action::Intersections, 1.0, &Look::default());
        assert_eq!(state.picture.channel, Channel::Intersections);
        state.perform(Action::Reset, 1.0, &Look::default());
        assert_eq!(state.config, Config::default());
    }

    fn lying_scene() -> OpenedScene {
        let scene = Scene {
            nodes: vec![Node {
                mesh: Some(0),
                ..Node::default()
            }],
            meshes: vec![scene::Mesh {
                name: String::new(),
                primitives: vec![scene::Primitive {
                    positions: vec![glam::Vec3::ZERO, glam::Vec3::new(1.0, 2.0, 9.0)],
                    ..Default::default()
                }],
            }],
            up: UpHint::Likely(UpAxis::Z),
            unused_texture: Some("a.png".into()),
            ..Scene::default()
        };
        OpenedScene::new(scene, &Config::default(), Span::Clip)
    }

    #[test]
    fn a_lying_scene_offers_an_up_axis_and_the_key_applies_it() {
        let mut state = State::new(Config::default());
        let look = Look::default();
        state.show(vec!["a.obj".into()], lying_scene(), &look, 1.0);
        let texture = Suggestion::Texture("a.png".into());
        assert_eq!(state.files.offers, [Suggestion::Up(UpAxis::Z), texture.clone()]);
        let lying = state.camera;
        state.perform(Action::NextUpAxis, 1.0, &look);
        state.follow_up_axis(&look, 1.0);
        assert_eq!(state.config.scene.up, UpAxis::Z);
        assert_eq!(state.files.offers, [texture]);
        let stage = state.stage.as_ref().unwrap();
        assert_eq!(stage.first.bounds.max.y, 9.0);
        assert!(state.camera != lying, "it is framed anew");
        let upright = state.camera;
        state.follow_up_axis(&look, 1.0);
        assert_eq!(state.camera, upright);
        state.perform(Action::NextUpAxis, 1.0, &look);
        assert_eq!(state.config.scene.up, UpAxis::X);
        for _ in 0..5 {
            state.perform(Action::NextUpAxis, 1.0, &look);
        }
        assert_eq!(state.config.scene.up, UpAxis::Z, "around all six");
    }

    #[test]
    fn a_reload_keeps_view_and_time() {
        let mut state = State::new(Config::default());
        let look = Look::default();
        state.show(vec!["a.obj".into()], lying_scene(), &look, 1.0);
        state.perform(Action::Face(StandardView::Top), 1.0, &look);
        state.perform(Action::Projection, 1.0, &look);
        let camera = state.camera;
        state.stage.as_mut().unwrap().time = 0.7;
        state.files.offers.clear();
        state.show(vec!["a.obj".into()], lying_scene(), &look, 1.0);
        assert_eq!((state.camera, state.stage.as_ref().unwrap().time), (camera, 0.7));
        assert_eq!(state.files.offers, [], "it was answered");
        // A framed view from above keeps its rotation.
        state.perform(Action::Orbit([2, 0]), 1.0, &look);
        let up = state.camera.up();
        state.perform(Action::Frame, 1.0, &look);
        assert!(state.camera.up().distance(up) < 1e-4);
        state.show(vec!["b.obj".into()], lying_scene(), &look, 1.0);
        assert!(state.camera != camera && !state.files.offers.is_empty());
    }
}
