//! Redraw of the window: lays out the panel, draws the scene if its picture has changed, and presents both.

use crate::{
    Error, Result,
    app::{
        self,
        compare::side::{Plan, frame_input, renderer_state},
        features::FEATURES,
        files::pictures::{self, Picture},
        schedule::{
            Activity, POLL, PictureKey, Scales,
            in_flight::{FrameTimes, GPU_POLL, InFlight},
            of_picture,
            preparation::PipelineCompilation,
        },
        viewer::Viewer,
        window::{graphics::Graphics, screen::Paint},
    },
    config::{Antialias, Config, OcclusionMode, ReflectionMode, ShadowMode},
    gpu::PipelineSet,
    lab::LabView,
    output,
    provenance::{Omitted, SOFTWARE},
    render::{Attempt, Channel, View, frame},
    scene::Pose,
};
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

impl Viewer {
    /// Draws the window. If the device was lost, replaces it first. Returns an error only if the viewer has
    /// to end.
    pub(super) fn redraw_or_recover(&mut self) -> Result<()> {
        #[cfg(debug_assertions)]
        self.graphics.lose_on_demand(self.schedule.frames());
        if self.graphics.gpu.lost().is_some()
            && let Err(error) = self.recover()
        {
            if self.graphics.gives_up() {
                return Err(error);
            }
            self.draw_within(POLL);
            return Ok(());
        }
        let outcome = self.redraw();
        if outcome.is_err() && self.graphics.is_lost() {
            self.draw_within(Duration::ZERO);
            return Ok(());
        }
        outcome
    }

    /// Replaces the lost device, and restores the scene, the settings and the view on the new one.
    fn recover(&mut self) -> Result<()> {
        let scene = self.state.stage.as_ref().map(|stage| &stage.scene);
        let environment = self.environment.image();
        self.graphics
            .recover(&self.state.config, scene, environment.as_deref())?;
        self.in_flight = None;
        self.preparation = PipelineCompilation::default();
        self.gui.forget_fonts();
        self.schedule.reset();
        for feature in FEATURES {
            if let Err(error) = feature.device_lost(self) {
                self.report(error)?;
            }
        }
        self.state.notify("the GPU device was lost and has been replaced");
        Ok(())
    }

    /// Polls the frame of the scene that is in flight, or else that of side B. Returns when to poll again, or
    /// `None` if there is nothing to poll.
    pub(super) fn poll_frame(&mut self) -> Option<Instant> {
        let has_side = app::compare::task::draws_side(self);
        let Graphics {
            screen,
            gpu,
            renderer,
            part_times,
            ..
        } = &mut self.graphics;
        let Some(in_flight) = self.in_flight.as_mut() else {
            return app::compare::task::poll_side(self);
        };
        let timed_frames = renderer.stats().timed_frames;
        let Some(wall_ms) = in_flight.poll(gpu, renderer, part_times) else {
            if gpu.lost().is_some() {
                // The frame may never be reported as finished. The next redraw replaces the device.
                self.draw_within(Duration::ZERO);
                return None;
            }
            return Some(Instant::now() + GPU_POLL);
        };
        let times = FrameTimes::of(gpu, renderer, timed_frames, wall_ms);
        let frame = in_flight.frame;
        let [width, height] = in_flight.size();
        log::trace!("drew the scene in {wall_ms:.1} ms at {width} × {height}");
        if in_flight.is_split && has_side && frame.is_shown {
            // Both sides are shown at the same moment.
            self.comparing.holds_a = Some(in_flight.picture.clone());
        } else if in_flight.is_split && !has_side {
            if frame.is_shown {
                screen.show_next_picture();
                self.selecting.shown = Some(in_flight.picture.clone());
            }
            self.profiling.drawn();
        }
        if let Some(ms) = times.cost_ms {
            let picture = &in_flight.picture;
            let size = in_flight.size();
            self.comparing.costs.add(picture, size, ms.into());
        }
        self.comparing.is_stale |= frame.is_shown;
        self.has_drawn = true;
        self.in_flight = None;
        // While frames follow each other, `record_plan` records the interval between them instead.
        if self.schedule.since_last_frame(Instant::now()).is_none() {
            self.state.record_frame(wall_ms);
        }
        if let Some(frame_ms) = times.frame_ms.filter(|_| !frame.is_still) {
            let budget_ms = match self.state.config.window.frame_ms {
                0.0 => self.graphics.gpu.capabilities.frame_ms,
                budget_ms => budget_ms,
            };
            // Both sides share the frame budget.
            let side = self.comparing.side.as_ref();
            let of_b = side.and_then(|side| {
                let gpu_ms = side.renderer.stats().frame_ms();
                gpu_ms.map(|ms| ms as f32).or(side.wall_ms)
            });
            let both_ms = frame_ms + of_b.unwrap_or(0.0);
            self.resolution.update(frame.scale, both_ms, budget_ms);
        }
        self.draw_within(Duration::ZERO);
        has_side.then(Instant::now)
    }

    /// Draws the window once, on a device that is not lost. Does nothing while the window has no area.
    fn redraw(&mut self) -> Result<()> {
        let Graphics { screen, gpu, .. } = &mut self.graphics;
        let Some(window) = screen.follow_size(gpu)? else {
            return Ok(());
        };
        app::files::task::open_dropped(self);
        let began = Instant::now();
        self.tick();
        self.state.profile.history.span("animate", began);
        let began = Instant::now();
        let paint = self.run_ui(window);
        app::input::events::panel_is_drawn(self);
        self.state.profile.history.span("panel", began);
        for feature in FEATURES {
            if let Err(error) = feature.follow(self) {
                self.report(error)?;
            }
        }
        let Graphics { screen, gpu, .. } = &mut self.graphics;
        screen.set_vsync(gpu, self.state.config.window.vsync)?;
        let gpu = gpu.clone();
        let (recorded, encoder) = self.record_scene()?.unzip();
        let encoder = encoder.unwrap_or_else(|| gpu.encoder("window"));
        let frame = recorded
            .as_ref()
            .map(|frame| app::profile::task::profiled(self, frame));
        let presented = self.present(encoder, &paint, recorded)?;
        self.profiling
            .end(&mut self.state.profile.history, frame, presented);
        app::profile::benchmark_task::step(self, frame.is_some());
        self.finish_frame()
    }

    /// Returns the settings that the scene is drawn with. The first lit picture has no ray tracing, because
    /// the ray-tracing kernels take longest to compile, and software drivers even compile them when they
    /// first run. Path tracing, comparisons and runs with a fixed number of frames are exempt.
    fn drawn_config(&self) -> Config {
        let (config, side) = self.state.compare.drawn(&self.state.config);
        let is_plain = side.is_none() && !frame::is_path_traced(&config, self.state.picture.channel);
        let is_rough = !self.has_drawn && self.state.picture.channel == Channel::Lit && is_plain;
        let mut config = config.into_owned();
        if is_rough && !self.schedule.has_frame_limit() {
            config.shadows.mode = ShadowMode::Off;
            config.occlusion.mode = OcclusionMode::Off;
            config.reflections.mode = ReflectionMode::Off;
        }
        config
    }

    /// Returns the key of the picture that the current state asks for. `None` while a part of it is missing,
    /// such as the scene or the environment.
    fn picture(&mut self, pose: &Pose) -> Option<PictureKey> {
        // With a fixed number of frames, each must show both sides of a comparison.
        if app::compare::task::awaits_side(self) {
            return None;
        }
        let luminance = self.environment.luminance(&self.state.config);
        let stage = self.state.stage.as_ref()?;
        let bounds = stage.bounds.scene(&stage.scene, pose);
        let (viewpoint, focus) = self.state.viewpoint(bounds);
        let config = &self.drawn_config();
        let ground = stage.ground(config.scene.ground);
        let stage = self.state.stage.as_mut()?;
        // The first picture must show its environment.
        let is_read = self.environments > 0 || self.environment.loading().is_none();
        if self.area.size.contains(&0) || (config.environment.is_file() && !is_read) {
            return None;
        }
        // The first picture must show the deviation too.
        if self.comparisons == 0 && self.deviation.is_loading() {
            return None;
        }
        Some(PictureKey {
            scene: self.scenes,
            environment: self.environments,
            comparison: self.comparisons,
            lab: self.labs,
            view: View::new(&viewpoint, bounds, focus, ground.as_ref()),
            clip: stage.clip,
            blend: stage.blend.clone(),
            variant: stage.variant,
            time: stage.time,
            hidden: stage.hidden.clone(),
            edit_count: stage.edit_count,
            channel: self.state.picture.channel,
            counts_intersections: self.state.picture.counts_intersections,
            area: self.area,
            exposure_ev: stage.exposure_ev(config, luminance),
            config: of_picture(config, &self.state.edits.initial),
        })
    }

    /// Records the next frames of the scene and of side B, if their pictures need any and no frame is in
    /// flight. Returns the frame of the scene and the encoder of its last part. The frame of B is left in
    /// `comparing`.
    fn record_scene(&mut self) -> Result<Option<(InFlight, wgpu::CommandEncoder)>> {
        let began = Instant::now();
        let Some(pose) = self.state.stage.as_mut().map(|stage| stage.shared_pose()) else {
            return Ok(None);
        };
        self.state.follow(&pose);
        let Some(picture) = self.picture(&pose) else {
            return Ok(None);
        };
        self.state.profile.history.span("animate", began);
        let is_free = self.drop_outdated(&picture)?;
        if !(app::compare::task::drop_outdated_side(self, &picture)? && is_free) {
            return Ok(None);
        }
        let compiling = match self.preparation.poll(&picture) {
            Ok(compiling) => compiling,
            Err(error) => {
                self.schedule.mark_failed(picture);
                self.has_drawn = true;
                return self.report(error).map(|()| None);
            }
        };
        let now = Instant::now();
        let adapter = (&self.graphics.gpu.capabilities).into();
        let is_temporal = self.state.config.resolved(adapter).image.antialias == Antialias::Temporal;
        let scales = match self.state.config.window.render_scale {
            0.0 => Scales {
                moving: self.resolution.scale(),
                still: 1.0,
            },
            fixed => Scales {
                moving: fixed,
                // Temporal anti-aliasing reconstructs the window's full resolution. Still samples at a lower
                // resolution would be less sharp.
                still: if is_temporal { 1.0 } else { fixed },
            },
        };
        let Graphics {
            gpu,
            renderer,
            uploaded: Some(_),
            ..
        } = &self.graphics
        else {
            return Ok(None);
        };
        let Some(stage) = &self.state.stage else {
            return Ok(None);
        };
        let renderer_state = renderer_state(gpu, renderer, stage, &pose, (&picture.config, picture.channel));
        let chosen = self.schedule.choose(&picture, renderer_state, scales, now);
        let side_plan = app::compare::task::plan_side(self, &picture, scales, now);
        let plan = chosen.map(|frame| Plan {
            config: frame.settings(&self.drawn_config()),
            picture,
            frame,
            pose,
        });
        let Some(picture) = plan.as_ref().or(side_plan.as_ref()).map(|p| &p.picture) else {
            return Ok(None);
        };
        if self.schedule.waits(compiling) {
            return Ok(None);
        }
        let picture = picture.clone();
        let counts = self.schedule.has_frame_limit();
        // Both sides of a comparison are drawn once the pipelines of both are compiled.
        let mut missing = match &side_plan {
            Some(plan) if !counts => app::compare::task::side_pipelines(self, plan, now)?,
            _ => PipelineSet::default(),
        };
        let recorded = match plan {
            Some(plan) => self.record_plan(plan, now, &mut missing)?,
            None => None,
        };
        if let Some(plan) = side_plan.as_ref().filter(|_| missing.is_empty()) {
            missing.append(app::compare::task::record_side(
                self,
                plan,
                recorded.is_some(),
                now,
            )?);
        }
        // Only one compilation runs at a time. One for another picture is completed first.
        let is_free = compiling.is_none_or(|of| of.is_done);
        if !missing.is_empty() && is_free {
            let gpu = &self.graphics.gpu;
            self.preparation.start(&picture, missing, gpu, &self.waker);
        }
        Ok(recorded)
    }

    /// Records the frame of `plan`. If pipelines are missing, adds them to `missing` and returns `None`,
    /// except in runs with a fixed number of frames, which compile them at once.
    fn record_plan(
        &mut self,
        plan: Plan,
        now: Instant,
        missing: &mut PipelineSet,
    ) -> Result<Option<(InFlight, wgpu::CommandEncoder)>> {
        let began = Instant::now();
        let Graphics {
            screen,
            gpu,
            renderer,
            uploaded,
            ..
        } = &mut self.graphics;
        let (Some(stage), Some(uploaded)) = (&self.state.stage, uploaded) else {
            return Ok(None);
        };
        let interval = self.schedule.since_last_frame(now);
        let input = frame_input(stage, &self.schedule, &plan, now);
        let Plan { picture, frame, .. } = &plan;
        let pixels = |size: [u32; 2]| u64::from(size[0]) * u64::from(size[1]);
        let counted = |of: &PictureKey| of.counts_intersections || of.channel == Channel::Intersections;
        let begins_to_count = counted(picture) && !self.schedule.last().is_some_and(counted);
        if begins_to_count || pixels(input.size) > pixels(self.schedule.size()) {
            // A frame that is larger or starts to count intersections may take long, so it is drawn in parts
            // at first.
            renderer.budget.in_parts = true;
        }
        let target = screen.next_picture(gpu, picture.area.size)?;
        LabView::follow(renderer, &plan.config.lab);
        let sample = frame.sample;
        let counts = self.schedule.has_frame_limit();
        if !counts {
            renderer.camera_pipelines(&plan.config.camera, missing);
        }
        let recorded = if counts {
            let recorded = renderer.record_sample(gpu, &input, uploaded, sample, &target);
            recorded.map(Attempt::Whole)
        } else if missing.is_empty() {
            renderer.record_compiled(gpu, &input, uploaded, sample, &target)
        } else {
            let missing = renderer.missing(gpu, &input, uploaded, sample, &target);
            missing.map(Attempt::Missing)
        };
        match recorded {
            Ok(Attempt::Missing(more)) => {
                missing.append(more);
                Ok(None)
            }
            Ok(Attempt::Whole(encoder)) => {
                self.state.profile.history.span("record", began);
                self.schedule.recorded(picture.clone(), *frame, now);
                if let Some(interval) = interval {
                    self.state.record_frame(interval.as_secs_f32() * 1e3);
                }
                // With a fixed number of frames, a frame is never split, so that it is presented with its own
                // panel.
                let is_split = renderer.budget.in_parts && !self.schedule.has_frame_limit();
                let frame = *frame;
                let in_flight = InFlight::new(plan.picture, frame, is_split, now);
                Ok(Some((in_flight, encoder)))
            }
            Err(error) => {
                self.schedule.mark_failed(plan.picture);
                self.has_drawn = true;
                self.report(error).map(|()| None)
            }
        }
    }

    /// Returns true if no frame is in flight, so that the next one may be recorded. A frame at rest of
    /// another picture than `picture` is aborted. A frame in motion is not, or continuous motion would never
    /// finish one.
    fn drop_outdated(&mut self, picture: &PictureKey) -> Result<bool> {
        let Some(in_flight) = &self.in_flight else {
            return Ok(true);
        };
        if in_flight.picture == *picture || !in_flight.frame.is_still {
            return Ok(false);
        }
        self.in_flight = None;
        self.schedule.cancel();
        let Graphics {
            gpu,
            renderer,
            uploaded,
            ..
        } = &mut self.graphics;
        if let Some(uploaded) = uploaded {
            renderer.cancel(gpu, uploaded)?;
        }
        Ok(true)
    }

    /// Composes the window and presents it. A frame of the scene that is not split is submitted together with
    /// the window. The parts of a split one are submitted later, and the window shows the previous picture
    /// until they are done. Returns the time of the presentation, or `None` if the surface had no image.
    fn present(
        &mut self,
        mut encoder: wgpu::CommandEncoder,
        paint: &Paint,
        mut recorded: Option<InFlight>,
    ) -> Result<Option<Instant>> {
        let began = Instant::now();
        let is_side_parted = self.comparing.recorded.as_ref().map(|(frame, _)| frame.is_split);
        if let (Some(frame), Some(is_split)) = (&mut recorded, is_side_parted) {
            // Both sides are shown at the same moment.
            frame.is_split |= is_split;
        }
        let is_split = recorded.as_ref().map(|frame| frame.is_split).or(is_side_parted);
        app::compare::task::submit_side(self, is_split.unwrap_or(false));
        let is_whole = |frame: &InFlight| !frame.is_split && frame.frame.is_shown;
        self.comparing.is_stale |= recorded.as_ref().is_some_and(is_whole);
        match &recorded {
            Some(frame) if frame.is_split => {
                let Graphics { gpu, renderer, .. } = &mut self.graphics;
                renderer.finish(std::mem::replace(&mut encoder, gpu.encoder("window")));
            }
            Some(frame) if frame.frame.is_shown => {
                self.graphics.screen.show_next_picture();
                app::inspect::task::draw_outline(self, &mut encoder, &frame.picture)?;
                app::rays::task::draw(self, &mut encoder, &frame.picture)?;
                self.selecting.shown = Some(frame.picture.clone());
            }
            Some(_) | None => {}
        }
        let (has_outline, has_path) = (
            app::inspect::task::has_outline(self),
            app::rays::task::is_shown(self),
        );
        let composition = app::compare::task::composition(self, self.area);
        let Graphics {
            screen,
            gpu,
            renderer,
            ..
        } = &mut self.graphics;
        let picture = screen
            .picture()
            .map(|picture| picture.create_view(&Default::default()));
        let compared = composition.zip(picture);
        let comparing = &mut self.comparing;
        let [r, g, b] = [0.055, 0.06, 0.068];
        let background = wgpu::Color { r, g, b, a: 1.0 };
        let origin = self.area.origin;
        screen.compose(
            gpu,
            &mut encoder,
            self.area,
            background,
            paint,
            |encoder, target| {
                if let Some((params, a)) = &compared {
                    comparing.draw(gpu, encoder, params, a, target)?;
                }
                if has_outline {
                    renderer.show_outline(gpu, encoder, target, origin)?;
                }
                match has_path {
                    true => Ok(renderer.show_path(gpu, encoder, target, origin)?),
                    false => Ok(()),
                }
            },
        )?;
        self.state.profile.history.span("compose", began);
        let began = Instant::now();
        let image = screen.acquire(gpu)?;
        self.state.profile.history.span("acquire", began);
        let began = Instant::now();
        match &image {
            Some(image) => screen.copy_to(gpu, &mut encoder, image),
            None => self.schedule.draw_by(Instant::now() + POLL),
        }
        match &mut recorded {
            Some(frame) if !frame.is_split => {
                renderer.submit(gpu, encoder);
                frame.submitted_whole(gpu, Instant::now());
            }
            _ => {
                gpu.queue.submit([encoder.finish()]);
                renderer.collect(gpu);
            }
        }
        if recorded.is_some() {
            self.in_flight = recorded;
        }
        self.state.profile.history.span("submit", began);
        let mut presented = None;
        if let Some(image) = image {
            // The window becomes visible with its first image, and is then drawn again, because an unmapped
            // window does not keep what is presented to it.
            if !std::mem::replace(&mut self.is_visible, true) {
                self.window.set_visible(true);
                self.schedule.draw_by(Instant::now());
            }
            self.window.pre_present_notify();
            let began = Instant::now();
            gpu.queue.present(image);
            self.state.profile.history.span("present", began);
            presented = Some(Instant::now());
            if self.says_preparing {
                self.preparation.shown();
            }
        }
        match gpu.check() {
            // A lost device cannot even show the error.
            Err(error) if gpu.lost().is_some() => return Err(error.into()),
            Err(error) => self.report(error)?,
            Ok(()) => {}
        }
        Ok(presented)
    }

    /// Ends a redraw: saves the requested picture, updates the statistics and schedules the next redraw.
    fn finish_frame(&mut self) -> Result<()> {
        let is_last = self.schedule.is_over();
        let last = (is_last && self.options.screenshot.is_some()).then_some(Picture::Window);
        let picture = self.save.take().or(last);
        if let Some(picture) = picture {
            match self.save_picture(picture) {
                Ok((path, left)) => {
                    let left = left.map(|left| format!(", which {}", left.text()));
                    let (path, left) = (pictures::shown_path(&path), left.unwrap_or_default());
                    self.state.notify(format!("saved {path}{left}"));
                }
                Err(error) => self.report_as("The picture could not be saved", error)?,
            }
        }
        self.done |= is_last;
        if let (Some(memory), Some(path)) = (&mut self.memory, &self.options.stats) {
            let frames = self.schedule.frames();
            memory.tick(&self.graphics.gpu, frames, self.scenes);
            if is_last {
                memory.write(path, frames, self.scenes)?;
            }
        }
        let plays = self.loading.is_none() && (self.state.plays() || self.state.moves_camera());
        if let Some(time) = self.in_flight.as_ref().and_then(InFlight::awaited_from) {
            self.schedule.draw_by(time);
        }
        let activity = Activity {
            moves: app::camera::obstacles::wait(self)
                || plays
                || self.benchmark.is_some()
                || self.input.is_flying(),
            compiles: self.preparation.progress().is_some(),
            loads: self.loading.is_some()
                || self.exporting.is_some()
                || self.comparing.loading.is_some()
                || self.environment.loading().is_some(),
            saved: picture.is_some(),
            draws: self.in_flight.is_some() || app::compare::task::draws_side(self),
        };
        log::trace!("a redraw ends with {activity:?}");
        app::compare::task::finish_side(self, activity);
        let is_quiet = self.schedule.finish(activity, Instant::now());
        self.is_at_rest = is_quiet && !activity.loads && !self.deviation.is_loading();
        if is_quiet {
            self.profiling.rest();
            self.graphics.gpu.save_pipelines();
        }
        if self.state.profile.profiler.is_open || self.options.profile.is_some() {
            self.profiling
                .measure_memory(&mut self.state.profile.history, &self.graphics.gpu);
        }
        Ok(())
    }

    /// Writes a picture to a PNG file. Returns the path, and the parts of the provenance that were too large
    /// to embed.
    fn save_picture(&self, picture: Picture) -> Result<(PathBuf, Option<Omitted>)> {
        let path = self.options.screenshot.clone();
        let path = path.unwrap_or_else(|| pictures::new_path(&self.picture_name(), "png"));
        let (screen, gpu) = (&self.graphics.screen, &self.graphics.gpu);
        let (width, height, pixels) = match picture {
            Picture::Window => screen.read(gpu)?,
            Picture::Scene => screen.read_picture(gpu)?.ok_or_else(|| {
                let what = "no scene is shown yet";
                Error::NotFound(what.into())
            })?,
        };
        let mut bytes =
            output::picture::png(width, height, pixels).map_err(|error| error.with_output(path.display()))?;
        let made = match picture {
            Picture::Scene => app::files::reopen::provenance(self, path.parent()),
            Picture::Window => None,
        };
        let (text, left) = made.map_or((None, None), |made| made.text_within(output::embedded::MAX_BYTES));
        if let Some(text) = text {
            bytes = output::embedded::into_png(&bytes, &text, SOFTWARE);
        }
        output::write(&path, &bytes)?;
        Ok((path, left))
    }

    /// Returns the name of the scene's first file without its extension. Empty without a scene.
    pub(super) fn picture_name(&self) -> String {
        let stage = self.state.stage.as_ref();
        let first = stage.and_then(|stage| stage.files.first());
        let stem = first.and_then(|file| file.file_stem());
        stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }
}
