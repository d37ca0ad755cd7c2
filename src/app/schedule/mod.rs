//! Schedule of the window's frames. While something moves, frames follow each other at a resolution that fits
//! their time budget. At rest, the still picture is drawn at full resolution, sample by sample, and then
//! nothing. The schedule knows neither the window nor the GPU.

pub(in crate::app) mod in_flight;
pub(in crate::app) mod preparation;
pub(in crate::app) mod resolution;
pub(in crate::app) mod sample_pace;

use crate::{
    app::window::screen::Area,
    config::{self, Antialias, Config},
    render::{
        Channel, FrameSample, Noise, View,
        frame::{self, frame_sample::is_estimated_after},
    },
    scene::Blend,
};
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

/// Number of frames that are drawn after a change of the picture if its exposure is metered. The second frame
/// shows whether the exposure still changes.
const METERED_FRAMES: u32 = 2;

/// Time without a change after which the picture is still.
const REST: Duration = Duration::from_millis(150);

/// Interval at which progress is shown, and at which drawing to an unavailable window is tried again.
pub(super) const POLL: Duration = Duration::from_millis(50);

/// Everything that the scene's picture depends on. The picture stays the same as long as its key stays equal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PictureKey {
    /// Number of the scene, counted from the first scene that was shown.
    pub(super) scene: u64,
    /// Number of the environment, counted from the first one that was shown.
    pub(super) environment: u64,
    /// Number of the surface that the scene is compared with, counted from the first one.
    pub(super) comparison: u64,
    /// Number of the lab's acceleration structure that rays traverse, counted from the first one.
    pub(super) lab: u64,
    /// The camera.
    pub(super) view: View,
    /// All settings that the picture depends on.
    pub(super) config: Config,
    /// The clip that plays.
    pub(super) clip: Option<usize>,
    /// Clips that are blended instead of playing `clip`, and the morph weights.
    pub(super) blend: Arc<Blend>,
    /// The material variant.
    pub(super) variant: Option<usize>,
    /// Time in the clip, in seconds.
    pub(super) time: f32,
    /// Nodes whose meshes the user has hidden.
    pub(super) hidden: Arc<BTreeSet<usize>>,
    /// Number of edits to materials and lights.
    pub(super) edit_count: u64,
    /// The channel that is shown.
    pub(super) channel: Channel,
    /// True if intersections between meshes are counted in every channel.
    pub(super) counts_intersections: bool,
    /// Viewport of the scene within the window.
    pub(super) area: Area,
    /// Exposure in stops, used if it is not metered.
    pub(super) exposure_ev: f32,
}

impl PictureKey {
    /// True if the settings of both pictures need the same pipelines. Views, times and sizes may differ.
    pub(super) fn has_same_pipelines(&self, other: &Self) -> bool {
        let scene = |key: &Self| (key.scene, key.variant, key.edit_count, key.environment);
        let shown = |key: &Self| {
            let counts = key.counts_intersections;
            (key.channel, key.comparison, key.lab, counts)
        };
        scene(self) == scene(other) && shown(self) == shown(other) && self.config == other.config
    }

    /// True if every object has the same pose as in `other`.
    pub(super) fn has_same_pose(&self, other: &Self) -> bool {
        let pose = |key: &Self| (key.scene, key.clip, key.time, key.config.scene.up);
        let same_nodes = self.blend == other.blend && self.hidden == other.hidden;
        pose(self) == pose(other) && same_nodes
    }
}

#[cfg(test)]
impl PictureKey {
    /// Returns a lit, anti-aliased picture of four samples.
    pub(super) fn for_tests() -> Self {
        let mut config = Config::default();
        config.window.still_samples = 4;
        config.image.antialias = Antialias::Smaa;
        Self {
            scene: 1,
            environment: 0,
            comparison: 0,
            lab: 0,
            view: View {
                world_from_view: glam::Mat4::IDENTITY,
                projection: crate::scene::Projection::Perspective { fov_y: 1.0 },
                near: 0.1,
                far: 10.0,
            },
            config,
            clip: None,
            blend: Arc::default(),
            variant: None,
            time: 0.0,
            hidden: Arc::default(),
            edit_count: 0,
            channel: Channel::Lit,
            counts_intersections: false,
            area: Area::default(),
            exposure_ev: 0.0,
        }
    }
}

/// The frame of the scene that is drawn next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NextFrame {
    /// Position of the frame among the samples of its picture.
    pub(super) sample: FrameSample,
    /// Rendered size divided by the size of the viewport.
    pub(super) scale: f32,
    /// True if `scale` is the scale at rest.
    pub(super) is_full_scale: bool,
    /// True if the frame is drawn because nothing moves.
    pub(super) is_still: bool,
    /// True if the window shows the finished frame. Among the samples of a picture, only those that complete
    /// a mean are shown.
    pub(super) is_shown: bool,
}

impl NextFrame {
    /// True if the frame is one sample of a still picture.
    pub(super) fn is_sample(self) -> bool {
        self.sample.count > 1
    }

    /// Returns the settings of the frame, given the window's settings `config`. Samples of a still picture
    /// have no frame rate to keep, so they use [`Config::for_still`].
    pub(super) fn settings(self, config: &Config) -> Config {
        match self.is_sample() {
            true => config.for_still(),
            false => config.clone(),
        }
    }

    /// Returns the width and height in pixels that are traced and shaded for a viewport of `area` pixels.
    pub(super) fn size(self, area: [u32; 2]) -> [u32; 2] {
        area.map(|pixels| ((pixels as f32 * self.scale).round() as u32).max(1))
    }
}

/// Rendered size divided by the size of the viewport.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scales {
    /// While something moves.
    pub(super) moving: f32,
    /// At rest.
    pub(super) still: f32,
}

/// State of the renderer that the schedule depends on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RendererState {
    /// True if the last frame was drawn before its environment was complete.
    pub(super) environment_is_pending: bool,
    /// True if the metered exposure still changes.
    pub(super) exposure_changes: bool,
    /// Number of single frames at rest after which all averages over frames have converged.
    pub(super) frames_to_converge: u32,
    /// Last noise estimate of the mean over the samples.
    pub(super) noise: Option<Noise>,
}

/// Pipelines that are being compiled on a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Compiling {
    /// True if they are ready.
    pub(super) is_done: bool,
    /// True if the next picture needs the same pipelines.
    pub(super) is_for_next: bool,
}

/// Work that goes on besides drawing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Activity {
    /// True while a clip plays or the camera flies.
    pub(super) moves: bool,
    /// True while pipelines are being compiled.
    pub(super) compiles: bool,
    /// True while a scene or an environment is being read.
    pub(super) loads: bool,
    /// True if the window was saved as a picture, so that a message has to be drawn.
    pub(super) saved: bool,
    /// True while the GPU works on a frame of the scene.
    pub(super) draws: bool,
}

/// Time at which the event loop has to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wakeup {
    /// At once, to draw.
    Draw,
    /// At this time, unless an event comes first.
    At(Instant),
    /// At the next event.
    Event,
}

/// Decides which frame is drawn when.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Frames of the loaded scene after which the viewer ends. Every one of them is drawn.
    exit_after: Option<u64>,
    /// Frames of the loaded scene that have been drawn.
    frames: u64,
    /// Picture and parameters of the last frame.
    last: Option<(PictureKey, NextFrame)>,
    /// True if the last frame was aborted, so that its picture does not exist.
    is_cancelled: bool,
    /// Time at which the picture last changed.
    changed: Instant,
    /// Frames that are due at once.
    frames_left: u32,
    /// Frames at the scale of rest that are due once the picture is still.
    full_frames_left: u32,
    /// Samples of the still picture: the number so far, and the maximum number.
    samples: [u32; 2],
    /// Samples of the picture that the window shows once the last frame is done.
    shown_samples: u32,
    /// True if the metered exposure of the last picture still changed.
    adapts: bool,
    /// True if frames follow each other without a pause, so that time advances from frame to frame.
    is_continuous: bool,
    last_redraw: Instant,
    last_frame: Option<Instant>,
    /// Time of the next redraw, if nothing happens before.
    next: Option<Instant>,
}

/// True if the picture is path-traced. Every frame then adds one path per pixel.
fn is_path_traced(picture: &PictureKey) -> bool {
    frame::is_path_traced(&picture.config, picture.channel)
}

/// Returns the maximum number of samples of the still picture.
fn wanted(picture: &PictureKey) -> u32 {
    match is_path_traced(picture) {
        true => picture.config.paths.samples,
        false => picture.config.window.still_samples,
    }
}

impl Schedule {
    /// Creates a schedule whose first frame is due `now`.
    pub(super) fn new(exit_after: Option<u64>, now: Instant) -> Self {
        Self {
            exit_after,
            frames: 0,
            last: None,
            is_cancelled: false,
            changed: now,
            frames_left: 0,
            full_frames_left: 0,
            samples: [0; 2],
            shown_samples: 1,
            adapts: false,
            is_continuous: false,
            last_redraw: now,
            last_frame: None,
            next: Some(now),
        }
    }

    /// True if the viewer ends after a number of frames. All of them are then drawn, and an error ends the
    /// viewer too.
    pub(super) fn has_frame_limit(&self) -> bool {
        self.exit_after.is_some()
    }

    /// Returns the number of frames of the loaded scene that have been drawn.
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// True if the last of the frames after which the viewer ends has been drawn.
    pub(super) fn is_over(&self) -> bool {
        self.exit_after.is_some_and(|frames| self.frames >= frames)
    }

    /// Returns the key of the picture that the last frame showed.
    pub(super) fn last(&self) -> Option<&PictureKey> {
        self.last.as_ref().map(|(picture, _)| picture)
    }

    /// Returns the rendered size of the last frame divided by the size of the viewport.
    pub(super) fn scale(&self) -> f32 {
        self.last.as_ref().map_or(1.0, |(_, frame)| frame.scale)
    }

    /// Returns the last frame's scale if its picture is coarser than at rest because something moves.
    pub(super) fn moving_scale(&self) -> Option<f32> {
        let (_, frame) = self.last.as_ref()?;
        (!frame.is_full_scale && !frame.is_still).then_some(frame.scale)
    }

    /// Returns the width and height in pixels that the last frame traced and shaded.
    pub(super) fn size(&self) -> [u32; 2] {
        let last = self.last.as_ref();
        last.map_or([0; 2], |(picture, frame)| frame.size(picture.area.size))
    }

    /// Returns the number of samples of the still picture so far, and the maximum number.
    pub(super) fn samples(&self) -> Option<[u32; 2]> {
        let (_, frame) = self.last.as_ref()?;
        frame.is_sample().then_some(self.samples)
    }

    /// Returns the number of samples of the picture that is shown, which is 1 for a single frame.
    pub(super) fn shown_samples(&self) -> u32 {
        self.shown_samples
    }

    /// True if samples of the still picture are due.
    fn lacks_samples(&self) -> bool {
        self.samples[0] < self.samples[1]
    }

    /// Schedules a redraw at `time` at the latest.
    pub(super) fn draw_by(&mut self, time: Instant) {
        self.next = Some(self.next.map_or(time, |next| next.min(time)));
    }

    /// True if the window has to be drawn now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.next.is_some_and(|next| next <= now)
    }

    /// Returns when the event loop has to come back. A due frame is returned once.
    pub(super) fn wakeup(&mut self, now: Instant) -> Wakeup {
        match self.next {
            Some(next) if next <= now => {
                self.next = None;
                Wakeup::Draw
            }
            Some(next) => Wakeup::At(next),
            None => Wakeup::Event,
        }
    }

    /// Begins a redraw of the window. Returns the time since the last redraw, or `None` if nothing moved in
    /// between.
    pub(super) fn begin(&mut self, now: Instant) -> Option<Duration> {
        let elapsed = now.saturating_duration_since(self.last_redraw);
        self.last_redraw = now;
        self.is_continuous.then_some(elapsed)
    }

    /// Returns the time since the scene was last drawn, or `None` if nothing moved in between.
    pub(super) fn since_last_frame(&self, now: Instant) -> Option<Duration> {
        let last = self.last_frame.filter(|_| self.is_continuous)?;
        Some(now.saturating_duration_since(last))
    }

    /// Returns the frame of `picture` that is drawn now, or `None` if the shown picture stays.
    pub(super) fn choose(
        &mut self,
        picture: &PictureKey,
        renderer: RendererState,
        scales: Scales,
        now: Instant,
    ) -> Option<NextFrame> {
        let config = &picture.config;
        let is_metered = config.image.is_metered() && picture.channel == Channel::Lit;
        let is_drawn = self.last() == Some(picture) && !self.is_cancelled;
        if !is_drawn || renderer.environment_is_pending {
            self.changed = now;
            self.frames_left = if is_metered { METERED_FRAMES } else { 1 };
            let smooths = config.image.antialias != Antialias::Off || is_path_traced(picture);
            let samples = smooths && picture.channel == Channel::Lit && !self.has_frame_limit();
            let wanted = wanted(picture);
            self.samples = [0, if samples && wanted > 1 { wanted } else { 0 }];
            self.full_frames_left = match self.lacks_samples() {
                // This frame is shown until there are enough samples for a mean.
                true => u32::from(!is_path_traced(picture)),
                // Without samples, averages over frames have to converge over single frames.
                false => renderer.frames_to_converge,
            };
        }
        self.adapts = is_metered && renderer.exposure_changes;
        if self.adapts {
            self.frames_left = self.frames_left.max(1);
        }
        let single = |scale, is_still| NextFrame {
            sample: FrameSample::SINGLE,
            scale,
            is_full_scale: scale == scales.still,
            is_still,
            is_shown: true,
        };
        if self.has_frame_limit() {
            return Some(single(scales.still, false));
        }
        if self.frames_left > 0 {
            return Some(single(scales.moving, false));
        }
        if self.rests_at().is_none_or(|rest| now < rest) {
            return None;
        }
        if self.full_frames_left > 0 {
            return Some(single(scales.still, true));
        }
        let [index, most] = self.samples;
        let is_path_traced = is_path_traced(picture);
        if !is_path_traced && is_estimated_after(index) {
            // Waiting for this estimate keeps the number of samples independent of when the readback arrives.
            let noise = renderer.noise.filter(|noise| noise.frames == index)?;
            if noise.is_converged() {
                self.samples[1] = index;
                return None;
            }
        }
        let sample = FrameSample::until_converged(index, most);
        Some(NextFrame {
            sample,
            scale: scales.still,
            is_full_scale: true,
            is_still: true,
            is_shown: is_path_traced || sample.is_last(),
        })
    }

    /// Returns when the still picture is due, or `None` once it is drawn.
    fn rests_at(&self) -> Option<Instant> {
        (self.full_frames_left > 0 || self.lacks_samples()).then(|| self.changed + REST)
    }

    /// True if the next picture waits for its pipelines, which are being compiled. With a fixed number of
    /// frames nothing waits, because recording compiles the missing pipelines.
    pub(super) fn waits(&self, compiling: Option<Compiling>) -> bool {
        let is_under_way = |of: Compiling| of.is_for_next && !of.is_done;
        !self.has_frame_limit() && compiling.is_some_and(is_under_way)
    }

    /// Registers that a frame of `picture` was recorded.
    pub(super) fn recorded(&mut self, picture: PictureKey, frame: NextFrame, now: Instant) {
        self.frames += 1;
        self.frames_left = self.frames_left.saturating_sub(1);
        if frame.is_sample() {
            self.samples[0] += 1;
        } else if frame.is_full_scale {
            self.full_frames_left = self.full_frames_left.saturating_sub(1);
        }
        if frame.is_shown {
            self.shown_samples = frame.sample.index + 1;
        }
        self.is_cancelled = false;
        self.last_frame = Some(now);
        self.last = Some((picture, frame));
    }

    /// Registers that the last frame is not going to be finished.
    pub(super) fn cancel(&mut self) {
        self.is_cancelled = true;
    }

    /// Registers that drawing `picture` failed. It is not tried again before something changes.
    pub(super) fn mark_failed(&mut self, picture: PictureKey) {
        let frame = NextFrame {
            sample: FrameSample::SINGLE,
            scale: 1.0,
            is_full_scale: true,
            is_still: true,
            is_shown: true,
        };
        (self.last, self.is_cancelled) = (Some((picture, frame)), false);
        (self.frames_left, self.full_frames_left, self.samples) = (0, 0, [0; 2]);
    }

    /// Clears the last picture, for example because the device was lost.
    pub(super) fn reset(&mut self) {
        self.last = None;
    }

    /// Ends a redraw of the window and decides when the next one is due. Returns true if nothing is left to
    /// do.
    pub(super) fn finish(&mut self, activity: Activity, now: Instant) -> bool {
        // The exposure adapts over the time between frames.
        let is_due = activity.moves || self.adapts || self.frames_left > 0 || self.has_frame_limit();
        self.is_continuous = is_due && (activity.moves || !activity.compiles);
        let rests_at = self.rests_at();
        if activity.compiles || activity.loads {
            self.draw_by(now + POLL);
        }
        match rests_at {
            // The end of the frame that is being drawn triggers the next one.
            Some(rest) if !activity.draws => self.draw_by(rest),
            _ => {}
        }
        if activity.saved || self.is_continuous && !activity.draws {
            self.draw_by(now);
        }
        !is_due && rests_at.is_none() && !activity.compiles && !activity.draws
    }
}

/// Returns the settings that the picture depends on. All others have their value at the start.
pub(in crate::app) fn of_picture(config: &Config, initial: &Config) -> Config {
    let mut of_picture = config.clone();
    of_picture.window = config::Window {
        still_samples: config.window.still_samples,
        render_scale: config.window.render_scale,
        ..initial.window.clone()
    };
    // The key itself holds the view and the time.
    of_picture.camera = config::Camera {
        mode: config.camera.mode,
        avoid_walls: config.camera.avoid_walls,
        ..initial.camera.clone()
    };
    of_picture.animation = initial.animation.clone();
    of_picture.output = initial.output.clone();
    of_picture.load = initial.load.clone();
    of_picture.keys = initial.keys.clone();
    of_picture
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> PictureKey {
        PictureKey::for_tests()
    }

    const SOFTWARE: RendererState = RendererState {
        environment_is_pending: false,
        exposure_changes: false,
        frames_to_converge: 1,
        noise: None,
    };
    const HALF: Scales = Scales {
        moving: 0.5,
        still: 1.0,
    };

    /// A schedule and its clock.
    struct Clock {
        schedule: Schedule,
        now: Instant,
        renderer: RendererState,
    }

    impl Clock {
        fn new() -> Self {
            let now = Instant::now();
            let mut schedule = Schedule::new(None, now);
            assert_eq!(schedule.wakeup(now), Wakeup::Draw);
            Self {
                schedule,
                now,
                renderer: SOFTWARE,
            }
        }

        fn choose(&mut self, picture: &PictureKey, renderer: RendererState) -> Option<NextFrame> {
            self.schedule.choose(picture, renderer, HALF, self.now)
        }

        /// Draws the next frame, if one is due now.
        fn draw(&mut self, picture: &PictureKey) -> Option<(f32, u32, u32)> {
            let frame = self.choose(picture, self.renderer)?;
            self.schedule.recorded(picture.clone(), frame, self.now);
            Some((frame.scale, frame.sample.index, frame.sample.count))
        }

        /// Draws `picture` until nothing more is drawn. Returns scale, sample index and sample count of each
        /// frame.
        fn draw_all(&mut self, picture: &PictureKey) -> Vec<(f32, u32, u32)> {
            let mut drawn = Vec::new();
            loop {
                while let Some(frame) = self.draw(picture) {
                    drawn.push(frame);
                    assert!(drawn.len() < 1000, "it never rests");
                }
                if self.schedule.finish(Activity::default(), self.now) {
                    return drawn;
                }
                match self.schedule.wakeup(self.now) {
                    Wakeup::At(time) => self.now = time,
                    Wakeup::Draw => {}
                    Wakeup::Event => panic!("nothing is drawn, and nothing is waited for"),
                }
            }
        }
    }

    #[test]
    fn a_change_is_drawn_coarse_then_sampled_then_left_alone() {
        let (mut clock, mut picture) = (Clock::new(), picture());
        let samples = [0, 1, 2, 3].map(|index| (1.0, index, 4));
        let all = [&[(0.5, 0, 1), (1.0, 0, 1)], &samples[..]].concat();
        assert_eq!(clock.draw_all(&picture), all);
        assert_eq!(clock.draw_all(&picture), []);
        // A change restarts the picture, also in the middle of its samples.
        picture.time = 1.0;
        assert_eq!(clock.draw(&picture), Some(all[0]));
        assert_eq!(clock.draw(&picture), None, "it may still move");
        clock.now += REST;
        assert_eq!(clock.draw(&picture), Some(all[1]));
        assert_eq!(clock.schedule.samples(), None);
        assert_eq!(clock.draw(&picture), Some(all[2]));
        assert_eq!(clock.schedule.samples(), Some([1, 4]));
        picture.exposure_ev = 1.0;
        assert_eq!(clock.draw_all(&picture), all);
        assert_eq!(clock.schedule.samples(), Some([4, 4]));
        clock.schedule.cancel();
        assert_eq!(clock.draw_all(&picture), all);
        clock.schedule.reset();
        assert_eq!(clock.draw_all(&picture), all);
    }

    /// Samples end as soon as the picture has converged. Without a noise estimate they wait for it.
    #[test]
    fn samples_are_drawn_until_the_noise_is_low() {
        let (mut clock, mut picture) = (Clock::new(), picture());
        picture.config.window.still_samples = 64;
        assert_eq!(clock.draw(&picture), Some((0.5, 0, 1)));
        clock.now += REST;
        let mut shown = Vec::new();
        let mut draw_on = |clock: &mut Clock, levels| {
            for _ in 0..100 {
                let Some(frame) = clock.choose(&picture, clock.renderer) else {
                    return clock.schedule.samples();
                };
                clock.schedule.recorded(picture.clone(), frame, clock.now);
                let frames = frame.sample.index + 1;
                if frame.is_shown && frame.is_sample() {
                    shown.push(frames);
                }
                clock.renderer.noise = Some(Noise { frames, levels }).filter(|_| frames != 24);
            }
            panic!("there is no end");
        };
        assert_eq!(clock.schedule.shown_samples(), 1);
        assert_eq!(draw_on(&mut clock, 0.6), Some([24, 64]), "it is not known");
        assert_eq!(clock.schedule.shown_samples(), 24);
        let noise = |levels| Some(Noise { frames: 24, levels });
        clock.renderer.noise = noise(0.6);
        let next = clock.choose(&picture, clock.renderer).unwrap();
        assert!(!next.is_shown, "the mean of 25 is not");
        clock.renderer.noise = noise(0.5);
        assert_eq!(clock.choose(&picture, clock.renderer), None);
        assert_eq!(clock.schedule.samples(), Some([24, 24]));
        assert!(clock.schedule.finish(Activity::default(), clock.now));
        assert_eq!(shown, [12, 16, 24]);
    }

    #[test]
    fn a_moving_picture_is_drawn_only_at_the_motion_scale() {
        let (mut clock, mut picture) = (Clock::new(), picture());
        for step in 0..20 {
            picture.time = step as f32;
            assert_eq!(clock.draw(&picture), Some((0.5, 0, 1)));
            assert_eq!(clock.draw(&picture), None);
            clock.now += REST / 2;
        }
    }

    #[test]
    fn only_the_antialiased_picture_is_supersampled() {
        let changes: [fn(&mut PictureKey); 3] = [
            |picture| picture.channel = Channel::Normal,
            |picture| picture.config.image.antialias = Antialias::Off,
            |picture| picture.config.window.still_samples = 1,
        ];
        for change in changes {
            let mut picture = picture();
            change(&mut picture);
            let drawn = Clock::new().draw_all(&picture);
            assert_eq!(drawn, [(0.5, 0, 1), (1.0, 0, 1)]);
        }
    }

    #[test]
    fn a_fixed_render_scale_applies_to_every_frame() {
        let fixed = Scales {
            moving: 0.7,
            still: 0.7,
        };
        let (mut schedule, mut now) = (Schedule::new(None, Instant::now()), Instant::now());
        let mut picture = picture();
        picture.config.window.still_samples = 1;
        let frame = schedule.choose(&picture, SOFTWARE, fixed, now).unwrap();
        assert_eq!(frame.scale, 0.7);
        schedule.recorded(picture.clone(), frame, now);
        now += REST;
        assert_eq!(schedule.choose(&picture, SOFTWARE, fixed, now), None);
        assert_eq!(frame.size([100, 1]), [70, 1]);
    }

    #[test]
    fn without_samples_a_picture_is_drawn_until_it_has_converged() {
        let mut picture = picture();
        picture.config.window.still_samples = 1;
        let mut clock = Clock::new();
        clock.renderer.frames_to_converge = 20;
        let drawn = clock.draw_all(&picture);
        assert_eq!(drawn.len(), 1 + 20);
        assert!(drawn[1..].iter().all(|(scale, ..)| *scale == 1.0));
    }

    #[test]
    fn unfinished_pictures_are_drawn_again() {
        let (mut clock, mut picture) = (Clock::new(), picture());
        picture.config.window.still_samples = 1;
        clock.draw_all(&picture);
        let pending = RendererState {
            environment_is_pending: true,
            ..SOFTWARE
        };
        assert!(clock.choose(&picture, pending).is_some());
        assert_eq!(clock.draw_all(&picture).len(), 2);
        let changing = RendererState {
            exposure_changes: true,
            ..SOFTWARE
        };
        let unmetered = clock.choose(&picture, changing);
        assert_eq!(unmetered, None, "it is not metered");
        meter(&mut picture.config);
        assert_eq!(clock.draw_all(&picture).len() as u32, METERED_FRAMES + 1);
        let frame = clock.choose(&picture, changing).unwrap();
        assert_eq!((frame.scale, frame.sample), (0.5, FrameSample::SINGLE));
    }

    #[test]
    fn time_passes_while_the_exposure_adapts() {
        let (mut clock, mut picture) = (Clock::new(), picture());
        meter(&mut picture.config);
        clock.draw_all(&picture);
        clock.renderer.exposure_changes = true;
        for _ in 0..5 {
            assert!(clock.draw(&picture).is_some());
            assert!(!clock.schedule.finish(Activity::default(), clock.now));
            assert_eq!(clock.schedule.wakeup(clock.now), Wakeup::Draw);
            let drawn = clock.now;
            clock.now += REST;
            let elapsed = clock.schedule.since_last_frame(clock.now);
            assert_eq!(elapsed, Some(clock.now - drawn));
        }
        clock.renderer.exposure_changes = false;
        clock.draw_all(&picture);
        assert_eq!(clock.schedule.since_last_frame(clock.now), None);
    }

    fn meter(config: &mut Config) {
        config.set("test", "image.exposure", "histogram").unwrap();
    }

    #[test]
    fn the_schedule_ends_after_the_counted_frames() {
        let now = Instant::now();
        let mut schedule = Schedule::new(Some(20), now);
        let picture = picture();
        for number in 0..20 {
            assert!(!schedule.is_over(), "{number}");
            let frame = schedule.choose(&picture, SOFTWARE, HALF, now).unwrap();
            assert_eq!((frame.scale, frame.sample), (1.0, FrameSample::SINGLE));
            schedule.recorded(picture.clone(), frame, now);
            let is_quiet = schedule.finish(Activity::default(), now);
            assert!(!is_quiet && schedule.wakeup(now) == Wakeup::Draw);
        }
        assert!(schedule.is_over());
        let compiling = Compiling {
            is_done: false,
            is_for_next: true,
        };
        assert!(!schedule.waits(Some(compiling)));
    }

    #[test]
    fn a_failed_picture_is_not_retried() {
        let (mut clock, mut picture) = (Clock::new(), picture());
        assert!(clock.choose(&picture, SOFTWARE).is_some());
        clock.schedule.mark_failed(picture.clone());
        assert_eq!(clock.draw_all(&picture), []);
        picture.time = 1.0;
        assert!(clock.choose(&picture, SOFTWARE).is_some());
    }

    #[test]
    fn a_picture_waits_for_its_own_pipelines() {
        let schedule = Schedule::new(None, Instant::now());
        let compiling = |is_done, is_for_next| Some(Compiling { is_done, is_for_next });
        for (compiling, expected) in [
            (None, false),
            (compiling(false, true), true),
            // The user has switched to another picture, whose pipelines may all be ready.
            (compiling(false, false), false),
            (compiling(true, true), false),
        ] {
            assert_eq!(schedule.waits(compiling), expected, "{compiling:?}");
        }
    }

    #[test]
    fn wakeups_are_immediate_timed_or_on_events() {
        let start = Instant::now();
        let mut schedule = Schedule::new(None, start);
        assert_eq!(schedule.wakeup(start), Wakeup::Draw);
        assert_eq!(schedule.wakeup(start), Wakeup::Event, "once is enough");
        schedule.draw_by(start + 2 * POLL);
        schedule.draw_by(start + POLL);
        schedule.draw_by(start + 3 * POLL);
        assert_eq!(schedule.wakeup(start), Wakeup::At(start + POLL));
        assert_eq!(schedule.wakeup(start + POLL), Wakeup::Draw);

        let finish = |activity| {
            let mut schedule = Schedule::new(None, start);
            schedule.wakeup(start);
            let is_quiet = schedule.finish(activity, start);
            let since = schedule.begin(start + POLL);
            (schedule.wakeup(start), is_quiet, since)
        };
        let nothing = Activity::default();
        let (moves, loads, compiles, saved, draws) = (true, true, true, true, true);
        assert_eq!(finish(nothing), (Wakeup::Event, true, None));
        let moving = finish(Activity { moves, ..nothing });
        assert_eq!(moving, (Wakeup::Draw, false, Some(POLL)));
        let soon = Wakeup::At(start + POLL);
        assert_eq!(finish(Activity { loads, ..nothing }), (soon, true, None));
        let compiling = finish(Activity { compiles, ..nothing });
        assert_eq!(compiling, (soon, false, None));
        let saving = finish(Activity { saved, ..nothing });
        assert_eq!(saving, (Wakeup::Draw, true, None));
        // The end of the frame that is being drawn triggers the next one.
        let drawing = finish(Activity {
            moves,
            draws,
            ..nothing
        });
        assert_eq!(drawing, (Wakeup::Event, false, Some(POLL)));
    }

    #[test]
    fn waiting_for_pipelines_does_not_draw_continuously() {
        let start = Instant::now();
        let mut schedule = Schedule::new(None, start);
        schedule.choose(&picture(), SOFTWARE, HALF, start);
        let compiles = true;
        let activity = Activity {
            compiles,
            ..Activity::default()
        };
        schedule.wakeup(start);
        schedule.finish(activity, start);
        assert_eq!(schedule.wakeup(start), Wakeup::At(start + POLL));
        schedule.finish(Activity::default(), start);
        assert_eq!(schedule.wakeup(start), Wakeup::Draw);
    }
}
