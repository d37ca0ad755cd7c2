//! All that the panel shows and changes: settings, the scene and its moment, the camera. Nothing here is on the GPU.

use super::{
    camera::Camera,
    keys::Action,
    loading::{Loaded, clip_points},
};
use crate::{
    config::{
        Antialias, Config, Environment, ExposureMode, OcclusionMode, ShadowMode, Sun, Switch, Tree,
    },
    gpu::layout::LIGHT_LIMIT,
    render::Channel,
    scene::{
        Pose, Projection, Scene,
        bounds::{Aabb, Bounds},
        framing::{self, Look, Viewpoint},
    },
};
use std::{collections::VecDeque, path::PathBuf};

/// Frames that the history remembers.
pub(super) const HISTORY: usize = 240;

/// The viewer, as far as it is not window or GPU.
#[derive(Debug)]
pub(super) struct State {
    /// Settings, edited in place.
    pub(super) config: Config,
    /// Settings as they were at the start.
    pub(super) initial: Config,
    /// The scene that is shown, if one is.
    pub(super) stage: Option<Stage>,
    /// From where.
    pub(super) camera: Camera,
    /// As it stood at the file's camera last: as long as it stands there, a clip that moves that one takes it along.
    followed: Option<Camera>,
    /// What of it.
    pub(super) channel: Channel,
    /// Whether the clip runs.
    pub(super) playing: bool,
    /// Whether the panel is open.
    pub(super) panel: bool,
    /// Whether the help is open.
    pub(super) help: bool,
    /// What is odd about the environment's file that is shown.
    pub(super) environment_warnings: Vec<String>,
    /// What went wrong, until it is closed.
    pub(super) error: Option<String>,
    /// What went right, for a moment.
    pub(super) notice: Option<(String, std::time::Instant)>,
    /// Milliseconds from one frame to the next, the latest last.
    pub(super) frame_ms: VecDeque<f32>,
    /// What the panel's buttons asked for.
    pub(super) actions: Vec<Action>,
}

/// A scene with its moment.
#[derive(Debug)]
pub(super) struct Stage {
    /// Where it came from; nothing for the built-in scene.
    pub(super) files: Vec<PathBuf>,
    /// The scene.
    pub(super) scene: Scene,
    /// To bound it at any time.
    pub(super) bounds: Bounds,
    /// The clip that plays.
    pub(super) clip: Option<usize>,
    /// The variant that its materials are of.
    pub(super) variant: Option<usize>,
    /// Where in the clip, in seconds.
    pub(super) time: f32,
    /// The file's camera that was last looked through.
    pub(super) camera: Option<usize>,
    /// The pose that it was first seen in, and the tight box around that.
    first: (Pose, Aabb),
    /// The exposure for some settings, so that it is not worked out for every frame.
    exposure: Option<((Sun, Environment, ExposureMode, f32), f32)>,
}

impl Stage {
    pub(super) fn new(files: Vec<PathBuf>, loaded: Loaded, time: f32) -> Self {
        Self {
            files,
            scene: loaded.scene,
            bounds: loaded.bounds,
            clip: loaded.clip,
            variant: loaded.variant,
            time,
            camera: None,
            first: (loaded.pose, Aabb::of(loaded.points)),
            exposure: None,
        }
    }

    /// What to call it.
    pub(super) fn name(&self) -> String {
        let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned());
        match (self.files.first().and_then(name), self.files.len()) {
            (Some(name), 1) => name,
            (Some(name), count) => format!("{name} and {} more", count - 1),
            (None, _) => "built-in scene".into(),
        }
    }

    /// The scene as it is now.
    pub(super) fn pose(&self) -> Pose {
        Pose::new(&self.scene, self.clip, self.time)
    }

    /// What a view of it has to hold.
    fn points(&self, plays: bool) -> Vec<glam::Vec3> {
        clip_points(&self.scene, self.clip, plays, self.time)
    }

    /// Length of the clip that plays, in seconds; 0 without one.
    pub(super) fn duration(&self) -> f32 {
        let clip = self.clip.and_then(|clip| self.scene.clips.get(clip));
        clip.map_or(0.0, |clip| clip.duration_secs)
    }

    /// Moves on in the clip, and around its end.
    pub(super) fn advance(&mut self, seconds: f32) {
        let duration = self.duration();
        if duration > 0.0 {
            self.time = (self.time + seconds).rem_euclid(duration);
        }
    }

    /// The exposure in stops that `config` asks for or that suits the light; `file_luminance` is the mean of the environment's file.
    pub(super) fn exposure_ev(&mut self, config: &Config, file_luminance: f32) -> f32 {
        let asked = (
            config.sun.clone(),
            config.environment.clone(),
            config.image.exposure,
            file_luminance,
        );
        if let Some((answered, ev)) = &self.exposure
            && *answered == asked
        {
            return *ev;
        }
        let (pose, tight) = &self.first;
        let ev = framing::exposure_ev(
            &self.scene,
            pose,
            *tight,
            config,
            file_luminance,
            LIGHT_LIMIT as usize,
        );
        self.exposure = Some((asked, ev));
        ev
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
            followed: None,
            channel: Channel::Lit,
            playing: config.animation.play,
            panel: config.window.panel,
            help: false,
            environment_warnings: Vec::new(),
            error: None,
            notice: None,
            frame_ms: VecDeque::with_capacity(HISTORY),
            actions: Vec::new(),
            initial: config.clone(),
            config,
        }
    }

    /// Shows another scene from its first view, or the same files loaded again from where they were seen. What of the settings does not fit it becomes the error that is shown.
    pub(super) fn show(&mut self, files: Vec<PathBuf>, loaded: Loaded, look: &Look, aspect: f32) {
        if let Some(misfit) = &loaded.misfit {
            self.error = Some(misfit.to_string());
        }
        let points = loaded.points.clone();
        let stage = Stage::new(files, loaded, self.config.animation.time);
        self.playing = self.config.animation.play && stage.clip.is_some();
        let before = self.stage.replace(stage);
        match (before, &mut self.stage) {
            (Some(before), Some(stage)) if before.files == stage.files => {
                let there = |camera: &usize| *camera < stage.scene.cameras.len();
                stage.camera = before.camera.filter(there);
            }
            _ => self.start_from(&points, look, aspect),
        }
    }

    /// The view that the command line or the configuration asks for, else the whole scene.
    pub(super) fn first_view(&mut self, look: &Look, aspect: f32) {
        if let Some(stage) = &self.stage {
            let points = stage.points(self.playing);
            self.start_from(&points, look, aspect);
        }
    }

    fn start_from(&mut self, points: &[glam::Vec3], look: &Look, aspect: f32) {
        let Some(stage) = &mut self.stage else { return };
        let mut settings = self.config.camera.clone();
        let is_builtin = stage.files.is_empty();
        if is_builtin && settings.name.is_empty() && !stage.scene.cameras.is_empty() {
            settings.name = "0".into();
        }
        let (pose, tight) = &stage.first;
        let first = |look: &Look, settings: &_| {
            Viewpoint::first(&stage.scene, pose, points, look, settings, aspect)
        };
        let view = first(look, &settings).or_else(|misfit| {
            self.error = Some(misfit.to_string());
            settings.name.clear();
            first(look, &settings)
        });
        if let Ok(view) = view {
            self.camera = Camera::new(&view, tight.center(), framing::extent(*tight));
        }
        stage.camera = stage.scene.camera(&settings.name).ok().flatten();
        let stands_there =
            |camera| view.ok() == Viewpoint::of_camera(&stage.scene, &stage.first.0, camera);
        self.followed = stage
            .camera
            .filter(|&c| stands_there(c))
            .map(|_| self.camera);
    }

    /// Moves on with the file's camera at `pose`, unless the person has left it.
    pub(super) fn follow(&mut self, pose: &Pose) {
        let (Some(stage), Some(followed)) = (&self.stage, self.followed) else {
            return;
        };
        if self.camera != followed {
            self.followed = None;
            return;
        }
        let view = stage
            .camera
            .and_then(|c| Viewpoint::of_camera(&stage.scene, pose, c));
        if let Some(view) = view {
            let (_, tight) = &stage.first;
            self.camera = Camera::new(&view, tight.center(), framing::extent(*tight));
            self.followed = Some(self.camera);
        }
    }

    /// The whole scene, from the side that it is seen from now.
    pub(super) fn frame(&mut self, aspect: f32) {
        let Some(stage) = &self.stage else { return };
        let points = stage.points(self.playing);
        let projection = self.camera.projection;
        let view = Viewpoint::framing_from(&points, -self.camera.forward(), projection, aspect);
        let now = Aabb::of(points);
        self.camera = Camera::new(&view, now.center(), framing::extent(now));
    }

    /// Looks through a camera of the file.
    pub(super) fn look_through(&mut self, camera: usize) {
        let Some(stage) = &mut self.stage else { return };
        let pose = stage.pose();
        if let Some(view) = Viewpoint::of_camera(&stage.scene, &pose, camera) {
            let (_, tight) = &stage.first;
            self.camera = Camera::new(&view, tight.center(), framing::extent(*tight));
            stage.camera = Some(camera);
            self.followed = Some(self.camera);
        }
    }

    /// Plays another clip from its start.
    pub(super) fn play_clip(&mut self, clip: Option<usize>) {
        if let Some(stage) = &mut self.stage {
            stage.clip = clip.filter(|clip| *clip < stage.scene.clips.len());
            stage.time = 0.0;
        }
    }

    /// Does what needs neither window nor GPU; hands back what does.
    pub(super) fn perform(&mut self, action: Action, aspect: f32, look: &Look) -> Option<Action> {
        let cameras = self.stage.as_ref().map_or(0, |s| s.scene.cameras.len());
        match action {
            Action::Help => self.help = !self.help,
            Action::Panel => self.panel = !self.panel,
            Action::Frame => self.frame(aspect),
            Action::FirstView => self.first_view(look, aspect),
            Action::NextCamera if cameras > 0 => {
                let now = self.stage.as_ref().and_then(|s| s.camera);
                self.look_through(now.map_or(0, |now| (now + 1) % cameras));
            }
            Action::NextCamera => self.notify("the file has no cameras"),
            Action::Camera(camera) => self.look_through(camera),
            Action::Play => self.playing = !self.playing,
            Action::NextClip => {
                let clips = self.stage.as_ref().map_or(0, |s| s.scene.clips.len());
                let now = self.stage.as_ref().and_then(|s| s.clip);
                self.play_clip(now.map_or(Some(0), |now| Some((now + 1) % clips.max(1))));
            }
            Action::Clip(clip) => self.play_clip(clip),
            Action::Variant(variant) => {
                if let Some(stage) = &mut self.stage {
                    stage.scene.choose_variant(variant);
                    stage.variant = variant;
                }
                return Some(action);
            }
            Action::Shadows(mode) => self.config.shadows.mode = mode,
            Action::NextShadows => {
                self.config.shadows.mode = match self.config.shadows.mode {
                    ShadowMode::Off => ShadowMode::Map,
                    ShadowMode::Map => ShadowMode::Rays,
                    ShadowMode::Rays => ShadowMode::Off,
                }
            }
            Action::NextOcclusion => {
                let modes = OcclusionMode::ALL;
                let mode = &mut self.config.occlusion.mode;
                let now = modes.iter().position(|known| known == mode).unwrap_or(0);
                *mode = modes[(now + 1) % modes.len()];
                let name = mode.name();
                self.notify(format!("ambient occlusion: {name}"));
            }
            Action::Antialias => {
                let antialias = &mut self.config.image.antialias;
                *antialias = match *antialias {
                    Antialias::Off => Antialias::Smaa,
                    Antialias::Smaa => Antialias::Off,
                };
            }
            Action::Cutoff(step) => {
                let cutoff = &mut self.config.tree.leaf_cutoff;
                let (least, most) = Tree::LEAF_CUTOFF.into_inner();
                *cutoff = cutoff.saturating_add_signed(step).clamp(least, most);
            }
            Action::NextChannel => self.step_channel(1),
            Action::PreviousChannel => self.step_channel(Channel::ALL.len() - 1),
            Action::Reset => {
                self.config = self.initial.clone();
                self.camera.set_fov(self.config.camera.fov.to_radians());
                self.channel = Channel::Lit;
                self.notify("settings are as at the start");
            }
            Action::Open
            | Action::OpenEnvironment
            | Action::Reload
            | Action::Fullscreen
            | Action::Screenshot
            | Action::Leave
            | Action::Quit => return Some(action),
        }
        None
    }

    fn step_channel(&mut self, step: usize) {
        let channels = Channel::ALL;
        let now = channels.iter().position(|c| *c == self.channel);
        self.channel = channels[(now.unwrap_or(0) + step) % channels.len()];
        self.notify(format!("channel: {}", self.channel.name()));
    }

    /// Shows a line for a moment.
    pub(super) fn notify(&mut self, text: impl Into<String>) {
        self.notice = Some((text.into(), std::time::Instant::now()));
    }

    /// Turns the sun; `drag` in shares of the window's height.
    pub(super) fn drag_sun(&mut self, drag: glam::Vec2) {
        let (azimuth, elevation) = sun_angles(self.config.sun.direction);
        let turn = drag * 180.0;
        self.config.sun.direction = sun_direction(azimuth + turn.x, elevation - turn.y);
        self.config.sun.enabled = Switch::On;
    }

    /// Remembers how long a frame took.
    pub(super) fn record_frame(&mut self, ms: f32) {
        if self.frame_ms.len() == HISTORY {
            self.frame_ms.pop_front();
        }
        self.frame_ms.push_back(ms);
    }
}

/// Where the sun stands, in degrees: azimuth from +Z towards +X, elevation above the horizon.
pub(super) fn sun_angles(direction: [f32; 3]) -> (f32, f32) {
    let to_sun = -glam::Vec3::from(direction).normalize_or(glam::Vec3::NEG_Y);
    let azimuth = to_sun.x.atan2(to_sun.z).to_degrees();
    (azimuth, to_sun.y.clamp(-1.0, 1.0).asin().to_degrees())
}

/// The direction in which the light of a sun at these angles (in degrees) travels.
pub(super) fn sun_direction(azimuth: f32, elevation: f32) -> [f32; 3] {
    // Straight overhead, the azimuth would be lost.
    let (azimuth, elevation) = (
        azimuth.to_radians(),
        elevation.clamp(-89.5, 89.5).to_radians(),
    );
    let (sin, cos) = elevation.sin_cos();
    [-cos * azimuth.sin(), -sin, -cos * azimuth.cos()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{self, Clip, Interpolation, Node, Property, Transform};

    #[test]
    fn sun_angles_come_back() {
        for (azimuth, elevation) in [(0.0, 45.0), (-120.0, 10.0), (170.0, -30.0), (30.0, 89.0)] {
            let (a, e) = sun_angles(sun_direction(azimuth, elevation));
            assert!(
                (a - azimuth).abs() < 1e-2 && (e - elevation).abs() < 1e-2,
                "{a} {e}"
            );
        }
        assert_eq!(sun_angles([0.0, -1.0, 0.0]).1, 90.0);
    }

    /// A camera of the file that a clip moves takes the person along, until they go their own way.
    #[test]
    fn the_file_s_camera_is_followed_until_it_is_left() {
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
                    translation: glam::Vec3::ZERO,
                    rotation: glam::Quat::IDENTITY,
                    scale: glam::Vec3::ONE,
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
        let loaded = Loaded {
            bounds: Bounds::new(&scene),
            clip: Some(0),
            variant: None,
            pose: Pose::new(&scene, Some(0), 0.0),
            points: vec![glam::Vec3::ZERO, glam::Vec3::ONE],
            misfit: None,
            scene,
        };
        let mut state = State::new(Config::default());
        state.show(vec!["a.glb".into()], loaded, &Look::default(), 1.0);
        let later = |state: &State| Pose::new(&state.stage.as_ref().unwrap().scene, Some(0), 0.5);
        let framed = state.camera;
        state.follow(&later(&state));
        assert_eq!(state.camera, framed, "nobody looks through it");
        state.look_through(0);
        state.follow(&later(&state));
        assert_eq!(state.camera.viewpoint().eye().x, 2.0);
        state.camera.pan(glam::Vec2::X);
        let left = state.camera;
        state.follow(&later(&state));
        assert_eq!(state.camera, left);
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
        assert_eq!(state.channel, Channel::Ambient);
        state.perform(Action::Reset, 1.0, &Look::default());
        assert_eq!(state.config, Config::default());
    }
}
