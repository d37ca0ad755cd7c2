//! The window compares: side B is loaded, drawn beside A, and both are composed.

use crate::{
    Error, Result,
    app::{
        compare::{
            costs,
            model::{LINE_REACH, Mode, Other, SavedPicture},
            side::{Pipelines, Plan, Side, Source, renderer_state},
        },
        files::loading::Loading,
        frame::of_picture,
        schedule::{
            Activity, PictureKey, Scales, Schedule, Wakeup,
            in_flight::{FrameTimes, GPU_POLL, InFlight},
        },
        state::Stage,
        viewer::Viewer,
        window::{graphics::Graphics, screen::Area},
    },
    config::Config,
    gpu::Needs,
    render::{self, Attempt, Renderer, View, layout::CompareParams, present::compare::placed},
    scene::{Pose, is_stdin, picture::Picture},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use winit::event::{ElementState, MouseButton};

/// Headline of errors of side B.
const FAILED: &str = "It cannot be compared with";

/// When the error that is measured is looked for again.
const AGAIN: Duration = Duration::from_millis(20);

impl Viewer {
    /// Compares with what `options` name, once there is a scene.
    pub(in crate::app) fn begin_to_compare(&mut self) -> Result<()> {
        let Some(options) = self.options.compare.take() else {
            return Ok(());
        };
        let (compare, config) = (&mut self.state.compare, &self.state.config);
        let mut begun = match &options.file {
            Some(file) => compare.open(file, config),
            None => Ok(()),
        };
        for text in &options.with {
            begun = begun.and_then(|()| compare.set(config, text));
        }
        begun.or_else(|error| self.end_comparison(error))
    }

    /// Compares with the picture of the scene that is shown.
    pub(in crate::app) fn compare_with_picture(&mut self) -> Result<()> {
        let Some((width, height, pixels)) =
            self.graphics.screen.read_picture(&self.graphics.gpu)?
        else {
            self.state
                .notify("no scene is shown yet, so there is no picture of it");
            return Ok(());
        };
        let picture = Picture::from_rgba8([width, height], &pixels);
        let name = "picture before".into();
        let saved = Arc::new(SavedPicture { name, picture });
        self.state.compare.begin(Other::Picture(saved));
        self.state
            .notify("comparing with the picture of this moment");
        Ok(())
    }

    /// Compares with a picture that was dropped.
    pub(in crate::app) fn compare_with_file(&mut self, file: &std::path::Path) {
        let begun = self.state.compare.open(file, &self.state.config);
        if let Err(error) = begun {
            self.state.fail(FAILED, error.to_string());
        }
    }

    /// Nothing is compared any more, because of `error`.
    fn end_comparison(&mut self, error: Error) -> Result<()> {
        self.state.compare.end();
        self.drop_comparison();
        self.report_as(FAILED, error)
    }

    /// Drops all that B has on the GPU.
    fn drop_comparison(&mut self) {
        if let Some((_, loading)) = &self.comparing.loading {
            loading.cancel();
        }
        // A was finished, and waited for B.
        if let Some(shown) = self.comparing.holds_a.take() {
            self.graphics.screen.show_next_picture();
            self.selecting.shown = Some(shown);
        }
        self.comparing.drop_side();
    }

    /// B was on a device that is lost.
    pub(in crate::app) fn forget_comparison(&mut self) {
        self.comparing.holds_a = None;
        self.drop_comparison();
    }

    /// Takes hold of the line where the mouse presses near it, and lets it go. Returns whether that was the
    /// line's.
    pub(in crate::app) fn hold_line(&mut self, button: MouseButton, state: ElementState) -> bool {
        if button != MouseButton::Left {
            return false;
        }
        if state == ElementState::Released {
            return std::mem::take(&mut self.state.compare.is_held);
        }
        let reach = LINE_REACH * self.window.scale_factor() as f32;
        let compare = &self.state.compare;
        let (at, side) = self.along_line();
        let is_near = (at - compare.line * side).abs() <= reach;
        let is_held = compare.has_line() && is_near && self.is_in_scene();
        self.state.compare.is_held = is_held;
        is_held
    }

    /// Moves the line that is held to the mouse.
    pub(in crate::app) fn drag_line(&mut self) {
        if self.state.compare.is_held {
            let (at, side) = self.along_line();
            self.state.compare.line = (at / side.max(1.0)).clamp(0.0, 1.0);
            self.draw_within(Duration::ZERO);
        }
    }

    /// How far the mouse is from the side that the line moves away from, and how far the line can, in pixels.
    fn along_line(&self) -> (f32, f32) {
        let axis = usize::from(self.state.compare.is_horizontal);
        let at = self.input.pointer()[axis] - self.area.origin[axis] as f32;
        (at, self.area.size[axis] as f32)
    }

    /// Makes what side B needs, and drops what it needs no more.
    pub(in crate::app) fn follow_comparison(&mut self) -> Result<()> {
        if let Err(error) = self.follow_side() {
            return self.end_comparison(error);
        }
        let told = &mut self.state.compare.told;
        let before = (told.is_shown, told.costs);
        told.is_shown = self.comparing.shown().is_some();
        let gpu = &self.graphics.gpu;
        told.is_gpu_time = gpu.capabilities.timestamps && gpu.capabilities.has_gpu;
        let side = self.comparing.side.as_ref();
        told.costs = costs::comparable([
            self.comparing.costs.cost(),
            side.and_then(|side| side.costs.cost()),
        ]);
        // The panel was laid out before.
        let mut has_news = (told.is_shown, told.costs) != before;
        if let Some(errors) = self.comparing.collect(gpu) {
            log::debug!(
                "the sides differ by {:.6} on average and by {:.6} at most, over {} pixels",
                errors.mean,
                errors.max,
                errors.pixels
            );
            told.errors = Some(errors);
            has_news = true;
        }
        if has_news {
            self.draw_within(Duration::ZERO);
        }
        Ok(())
    }

    fn follow_side(&mut self) -> Result<()> {
        let scene = match self.state.compare.other() {
            None => {
                if self.comparing.shown().is_some()
                    || self.comparing.side.is_some()
                    || self.comparing.loading.is_some()
                {
                    self.drop_comparison();
                }
                return Ok(());
            }
            Some(Other::Picture(saved)) => {
                let saved = saved.clone();
                if self.comparing.side.is_some() || self.comparing.loading.is_some() {
                    self.drop_comparison();
                }
                return self.comparing.show_picture(&self.graphics.gpu, &saved);
            }
            Some(Other::Scene(scene)) => scene,
        };
        let Some(stage) = &self.state.stage else {
            return Ok(());
        };
        let config = scene.config(&self.state.config);
        let is_same = scene
            .files
            .as_ref()
            .is_none_or(|files| *files == stage.files);
        let files = scene.files.clone().unwrap_or_else(|| stage.files.clone());
        if let Some(stdin) = files.iter().find(|file| is_stdin(file)) {
            let what = "standard input is read once: it cannot be shown twice";
            return Err(Error::scene(stdin, what));
        }
        self.comparing.drop_picture();
        let source = Source {
            files,
            load: config.load.clone(),
            code_bits: config.tree.code_bits,
            anisotropy: config.image.anisotropy,
            scene: is_same.then_some(self.scenes),
        };
        let is_there = self
            .comparing
            .side
            .as_ref()
            .is_some_and(|side| side.source == source);
        let loading = self.comparing.loading.as_ref();
        let is_coming = loading.is_some_and(|(coming, _)| *coming == source);
        if !is_there && !is_coming {
            self.drop_comparison();
            let gpu = self.graphics.gpu.clone();
            let uploader = self.graphics.renderer.uploader();
            let (files, wake) = (source.files.clone(), self.waker.redraw());
            let loading = Loading::start(files, config.clone(), (gpu, uploader), wake);
            self.comparing.loading = Some((source, loading));
        }
        self.take_loaded(&config)?;
        let wake = self.waker.redraw();
        let Some(side) = &mut self.comparing.side else {
            return Ok(());
        };
        side.stage.turn_up(config.scene.up);
        let shown = self.state.stage.as_ref().and_then(|stage| stage.variant);
        let now = side.stage.variant;
        let variant = match self.state.compare.scene() {
            Some(scene) => scene.variant(&side.stage.scene, (is_same, shown), now)?,
            None => now,
        };
        if now != variant {
            side.stage.scene.choose_variant(variant);
            side.stage.variant = variant;
            side.uploaded
                .write_variant(&self.graphics.gpu, &side.stage.scene);
        }
        let compared = self.graphics.renderer.compared();
        if side.renderer.compared().map(Arc::as_ptr) != compared.map(Arc::as_ptr) {
            side.renderer.set_compared(compared.cloned());
        }
        let gpu = &self.graphics.gpu;
        let most = render::environment::most_texels(gpu, &config);
        side.environment.follow(&config, most, wake);
        match side.environment.poll(&mut config.clone()) {
            None => Ok(()),
            Some(image) => {
                side.environments += 1;
                Ok(side.renderer.set_environment(gpu, Some(&*image?))?)
            }
        }
    }

    /// Takes over the scene of B once it is loaded.
    fn take_loaded(&mut self, config: &Config) -> Result<()> {
        let Some((_, loading)) = &self.comparing.loading else {
            return Ok(());
        };
        let Some(outcome) = loading.poll() else {
            return Ok(());
        };
        let Some((source, _)) = self.comparing.loading.take() else {
            return Ok(());
        };
        let (opened, uploaded) = outcome?;
        let gpu = &self.graphics.gpu;
        let mut renderer = Renderer::beside(gpu, self.graphics.renderer.uploader())?;
        renderer.spreads_environment = true;
        let stage = Stage::new(source.files.clone(), opened, config.animation.time);
        self.comparing.scenes += 1;
        let number = self.comparing.scenes;
        let schedule = Schedule::new(self.options.exit_after, Instant::now());
        let side = Side::new(source, renderer, (stage, uploaded), schedule, number);
        self.comparing.side = Some(Box::new(side));
        self.graphics.renderer.begin_anew();
        self.draw_within(Duration::ZERO);
        Ok(())
    }

    /// Whether frames that are counted wait for B.
    pub(in crate::app) fn awaits_side(&self) -> bool {
        let is_scene = self.state.compare.scene().is_some();
        let waits = self.options.compare.is_some() || is_scene && self.comparing.side.is_none();
        self.schedule.counts_frames() && waits
    }

    /// The picture of B that belongs to `a`, its pose and its settings; `None` where B cannot be drawn yet.
    fn side_picture(&mut self, a: &PictureKey) -> Option<(PictureKey, Arc<Pose>, Config)> {
        let config = self.state.compare.drawn(&self.state.config).1?;
        let side = self.comparing.side.as_mut()?;
        let is_read = side.environments > 0 || side.environment.loading().is_none();
        if config.environment.is_file() && !is_read {
            return None;
        }
        let is_same = side.source.scene.is_some();
        let clips = side.stage.scene.clips.len();
        side.stage.clip = a.clip.filter(|clip| *clip < clips);
        side.stage.blend = match is_same {
            true => a.blend.clone(),
            // The other file has clips and targets of its own.
            false => Arc::default(),
        };
        side.stage.time = a.time;
        side.stage.hidden = match is_same {
            true => a.hidden.clone(),
            false => Arc::default(),
        };
        let pose = side.stage.shared_pose();
        let bounds = side.stage.bounds.scene(&side.stage.scene, &pose);
        let (viewpoint, focus) = self.state.viewpoint(bounds);
        let ground = side.stage.ground(config.scene.ground);
        let (near, far) = viewpoint.clip_planes(bounds, focus, ground.as_ref());
        let luminance = side.environment.luminance(&config);
        let exposure_ev = side.stage.exposure_ev(&config, luminance);
        let picture = PictureKey {
            scene: side.number,
            environment: side.environments,
            view: View {
                world_from_view: viewpoint.world_from_view,
                projection: viewpoint.projection,
                near,
                far,
            },
            clip: side.stage.clip,
            blend: side.stage.blend.clone(),
            variant: side.stage.variant,
            counts_intersections: false,
            edition: side.stage.edition,
            exposure_ev,
            config: of_picture(&config, &self.state.edits.initial),
            ..a.clone()
        };
        Some((picture, pose, config))
    }

    /// The frame of B that belongs to the picture `a`; `None` where what is shown stays.
    pub(in crate::app) fn plan_side(
        &mut self,
        a: &PictureKey,
        scales: Scales,
        now: Instant,
    ) -> Option<Plan> {
        let (picture, pose, config) = self.side_picture(a)?;
        let side = self.comparing.side.as_mut()?;
        let gpu = &self.graphics.gpu;
        // Its noise may come back after its frame is done, and no other frame follows before.
        side.renderer.collect(gpu);
        let state = renderer_state(
            gpu,
            &side.renderer,
            &side.stage,
            &pose,
            (&picture.config, picture.channel),
        );
        let frame = side.schedule.choose(&picture, state, scales, now)?;
        Some(Plan {
            picture,
            frame,
            pose,
            config: frame.settings(&config),
        })
    }

    /// Returns what has to be compiled before the frame of B is recorded.
    pub(in crate::app) fn side_needs(&mut self, plan: &Plan, now: Instant) -> Result<Needs> {
        let gpu = self.graphics.gpu.clone();
        let Some(side) = &mut self.comparing.side else {
            return Ok(Needs::default());
        };
        match side.needs(&gpu, plan, now) {
            Ok(needs) => Ok(needs),
            Err(error) => self.end_comparison(error).map(|()| Needs::default()),
        }
    }

    /// Records the frame of B, `beside` one of A that has just been recorded. Returns what has to be compiled before.
    pub(in crate::app) fn record_side(
        &mut self,
        plan: &Plan,
        beside: bool,
        now: Instant,
    ) -> Result<Needs> {
        let gpu = self.graphics.gpu.clone();
        let Some(side) = &mut self.comparing.side else {
            return Ok(Needs::default());
        };
        // Both have the same noise. Alone, B needs noise of its own in every frame, or its history would not converge.
        side.renderer.sampled_as = beside.then(|| self.graphics.renderer.sampled());
        let pipelines = match self.schedule.counts_frames() {
            true => Pipelines::Compile,
            false => Pipelines::Require,
        };
        let encoder = match side.record(&gpu, plan, now, pipelines) {
            Ok(Attempt::Whole(encoder)) => encoder,
            Ok(Attempt::Missing(needs)) => return Ok(needs),
            Err(error) => return self.end_comparison(error).map(|()| Needs::default()),
        };
        let is_parted = side.renderer.budget.in_parts && !self.schedule.counts_frames();
        let frame = InFlight::new(plan.picture.clone(), plan.frame, is_parted, now);
        self.comparing.recorded = Some((frame, encoder));
        Ok(Needs::default())
    }

    /// Submits the frame of B that was recorded, or has its parts submitted behind the window and behind
    /// those of A.
    pub(in crate::app) fn submit_side(&mut self, is_parted: bool) {
        let Some((mut frame, encoder)) = self.comparing.recorded.take() else {
            return;
        };
        let Some(side) = &mut self.comparing.side else {
            return;
        };
        let gpu = &self.graphics.gpu;
        frame.is_parted = is_parted;
        if is_parted {
            side.renderer.finish(encoder);
        } else {
            side.renderer.submit(gpu, encoder);
            frame.submitted_whole(gpu, Instant::now());
            if frame.frame.is_shown {
                side.show_next_picture();
                self.comparing.is_stale = true;
            }
        }
        side.in_flight = Some(frame);
    }

    /// Goes on with the frame of B on the GPU, once that of A is done. Returns when to come back, or `None`
    /// where there is none.
    pub(in crate::app) fn poll_side(&mut self) -> Option<Instant> {
        let Graphics { screen, gpu, .. } = &mut self.graphics;
        let side = self.comparing.side.as_mut()?;
        let in_flight = side.in_flight.as_mut()?;
        in_flight.begin(Instant::now());
        let timed_frames = side.renderer.stats().timed_frames;
        let Some(wall_ms) = in_flight.poll(gpu, &mut side.renderer, &mut side.part_times) else {
            if gpu.lost().is_some() {
                self.draw_within(Duration::ZERO);
                return None;
            }
            return Some(Instant::now() + GPU_POLL);
        };
        let times = FrameTimes::of(gpu, &mut side.renderer, timed_frames, wall_ms);
        if let Some(ms) = times.cost_ms {
            let picture = &in_flight.picture;
            let size = in_flight.frame.size(picture.area.size);
            side.costs.add(picture, size, ms.into());
        }
        side.wall_ms = Some(wall_ms);
        let (is_parted, is_shown) = (in_flight.is_parted, in_flight.frame.is_shown);
        side.in_flight = None;
        if is_parted && is_shown {
            side.show_next_picture();
            self.comparing.is_stale = true;
        }
        if is_parted && let Some(shown) = self.comparing.holds_a.take() {
            screen.show_next_picture();
            self.selecting.shown = Some(shown);
        }
        self.draw_within(Duration::ZERO);
        None
    }

    /// Whether the GPU works on a frame of B.
    pub(in crate::app) fn draws_side(&self) -> bool {
        let side = self.comparing.side.as_ref();
        side.is_some_and(|side| side.in_flight.is_some())
    }

    /// Whether the next frame of B may be recorded, which belongs to the picture `a`. One at rest that is no
    /// longer wanted is abandoned.
    pub(in crate::app) fn abandon_outdated_side(&mut self, a: &PictureKey) -> Result<bool> {
        if !self.draws_side() {
            return Ok(true);
        }
        let wanted = self.side_picture(a).map(|(picture, ..)| picture);
        let Some(side) = &mut self.comparing.side else {
            return Ok(true);
        };
        let is_outdated =
            |drawn: &InFlight| drawn.frame.at_rest && Some(&drawn.picture) != wanted.as_ref();
        if !side.in_flight.as_ref().is_some_and(is_outdated) {
            return Ok(false);
        }
        side.in_flight = None;
        side.schedule.abandon();
        side.renderer
            .abandon(&self.graphics.gpu, &mut side.uploaded)?;
        Ok(true)
    }

    /// Ends a redraw for B: when it has to be drawn again.
    pub(in crate::app) fn finish_side(&mut self, activity: Activity) {
        let now = Instant::now();
        if self.comparing.is_measured {
            self.schedule.draw_by(now + AGAIN);
        }
        let Some(side) = &mut self.comparing.side else {
            return;
        };
        side.schedule.finish(activity, now);
        match side.schedule.wakeup(now) {
            Wakeup::Draw => self.schedule.draw_by(now),
            Wakeup::At(time) => self.schedule.draw_by(time),
            Wakeup::Event => {}
        }
    }

    /// How both sides are composed in `area`; `None` where B is not there yet.
    pub(in crate::app) fn composition(&self, area: Area) -> Option<CompareParams> {
        let compare = &self.state.compare;
        compare.other()?;
        let a = self.graphics.screen.picture()?;
        let b = self.comparing.shown()?;
        if area.size.contains(&0) {
            return None;
        }
        let (scale_a, offset_a) = placed([a.width(), a.height()], area.size);
        let (scale_b, offset_b) = placed(b.size(), area.size);
        let along = area.size[usize::from(compare.is_horizontal)] as f32;
        let stats = self.graphics.renderer.stats();
        Some(CompareParams {
            origin: area.origin,
            size: area.size,
            offset_a,
            offset_b,
            scale_a,
            scale_b,
            line: compare.shown_line() * along,
            is_horizontal: compare.is_horizontal.into(),
            is_difference: (compare.mode == Mode::Difference).into(),
            gain: compare.gain,
            is_linear: compare.is_linear.into(),
            b_exposure: match self.comparing.is_radiance() {
                true => stats.exposure_ev.exp2(),
                false => 0.0,
            },
            b_curve: match compare.is_untoned {
                true => 0,
                false => self.state.config.image.tonemap as u32,
            },
            ..CompareParams::default()
        })
    }
}
