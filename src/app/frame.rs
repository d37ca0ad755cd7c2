//! One frame of the window: the panel, the scene where its picture changes, and what is presented.

use super::{
    graphics::Graphics,
    in_flight::{GPU_POLL, InFlight},
    pictures::{self, Picture},
    preparing::Preparation,
    schedule::{Activity, POLL, PictureKey, Readiness, RendererState, Scales},
    screen::{self, Paint},
    viewer::Viewer,
};
use crate::{
    Error, Result,
    config::{self, Antialias, Config},
    output,
    render::{
        Channel, FrameInput, View, compared_tree::ComparedTree, frame::may_reflect,
        lights::may_be_soft,
    },
    scene::Pose,
};
use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

impl Viewer {
    /// Draws the window, on a new device if the last one is lost.
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

    /// Goes on with another device: the scene, the settings and the view are still there.
    fn recover(&mut self) -> Result<()> {
        let scene = self.state.stage.as_ref().map(|stage| &stage.scene);
        let environment = self.environment.image();
        self.graphics
            .recover(&self.state.config, scene, environment.as_deref())?;
        let Graphics { gpu, renderer, .. } = &mut self.graphics;
        let compared = self.deviation.surface();
        let compared = compared.map(|surface| ComparedTree::new(gpu, surface));
        renderer.set_compared(compared.transpose()?.map(Arc::new));
        self.in_flight = None;
        self.selecting.forget();
        self.figures.forget();
        self.counted_trees.forget();
        self.traced_ray.forget();
        self.state.tree_view.path = None;
        self.preparation = Preparation::default();
        self.gui.forget_fonts();
        self.schedule.forget();
        if let Some(loading) = &self.loading {
            self.load(loading.files.clone());
        }
        self.state
            .notify("the GPU was lost; everything has been made anew");
        Ok(())
    }

    /// Goes on with the scene's frame on the GPU. Returns when to come back, or `None` where there is none.
    pub(super) fn poll_frame(&mut self) -> Option<Instant> {
        let Graphics {
            screen,
            gpu,
            renderer,
            part_times,
            ..
        } = &mut self.graphics;
        let in_flight = self.in_flight.as_mut()?;
        let timed_frames = renderer.stats().timed_frames;
        let Some(wall_ms) = in_flight.poll(gpu, renderer, part_times) else {
            if gpu.lost().is_some() {
                // Its end may never be told; drawing opens another device.
                self.draw_within(Duration::ZERO);
                return None;
            }
            return Some(Instant::now() + GPU_POLL);
        };
        // The wall clock also has what the frame waited for, such as the display. It is the measure of adapters
        // that have no other.
        let stats = renderer.stats();
        let frame_ms = match stats.frame_ms() {
            Some(gpu_ms) if stats.timed_frames > timed_frames => Some(gpu_ms as f32),
            _ if gpu.capabilities.timestamps => None,
            _ => {
                renderer.learn_wall_ms(wall_ms.into());
                Some(wall_ms)
            }
        };
        let frame = in_flight.frame;
        let [width, height] = in_flight.size();
        log::trace!("drew the scene in {wall_ms:.1} ms at {width} × {height}");
        if in_flight.is_parted {
            screen.show_next_picture();
            self.selecting.shown = Some(in_flight.picture.clone());
            self.profiling.drawn();
        }
        self.in_flight = None;
        // Where frames follow one another in time, the time between them is what was recorded.
        if self.schedule.since_last_frame(Instant::now()).is_none() {
            self.state.record_frame(wall_ms);
        }
        if let Some(frame_ms) = frame_ms.filter(|_| !frame.at_rest) {
            let budget_ms = match self.state.config.window.frame_ms {
                0.0 => self.graphics.gpu.capabilities.frame_ms,
                budget_ms => budget_ms,
            };
            self.resolution.learn(frame.scale, frame_ms, budget_ms);
        }
        self.draw_within(Duration::ZERO);
        None
    }

    /// Draws the window once.
    fn redraw(&mut self) -> Result<()> {
        let Graphics { screen, gpu, .. } = &mut self.graphics;
        let Some(window) = screen.follow_size(gpu)? else {
            return Ok(());
        };
        self.open_dropped();
        let began = Instant::now();
        self.tick();
        self.state.history.span("animate", began);
        let began = Instant::now();
        let paint = self.run_ui(window);
        self.state.history.span("panel", began);
        self.poll_loading()?;
        self.follow_environment()?;
        self.follow_deviation()?;
        if let Err(error) = self.ask_trees() {
            self.report(error)?;
        }
        self.hover();
        if let Err(error) = self.ask_geometry() {
            self.report(error)?;
        }
        if let Err(error) = self.measure_deviation() {
            self.report(error)?;
        }
        self.count_trees();
        if let Err(error) = self.redraw_path() {
            self.report(error)?;
        }
        let Graphics { screen, gpu, .. } = &mut self.graphics;
        screen.set_vsync(gpu, self.state.config.window.vsync)?;
        let mut encoder = gpu.encoder("window");
        let recorded = self.record_scene(&mut encoder)?;
        let frame = recorded.as_ref().map(|frame| self.profiled(frame));
        let presented = self.present(encoder, &paint, recorded)?;
        self.profiling
            .end(&mut self.state.history, frame, presented);
        self.step_benchmark(frame.is_some());
        self.finish_frame()
    }

    /// What the scene's picture would show now; `None` while there is nothing to show.
    fn picture(&mut self, pose: &Pose) -> Option<PictureKey> {
        let luminance = self.environment.luminance(&self.state.config);
        let stage = self.state.stage.as_ref()?;
        let bounds = stage.bounds.scene(&stage.scene, pose);
        let (viewpoint, focus) = self.state.viewpoint(bounds);
        let config = &self.state.config;
        let ground = stage.ground(config.scene.ground);
        let (near, far) = viewpoint.clip_planes(bounds, focus, ground.as_ref());
        let fast = self.graphics.gpu.capabilities.fast_rays;
        let occludes = config.occlusion.sends_rays(fast);
        let stage = self.state.stage.as_mut()?;
        // The first picture shows its environment.
        let is_read = self.environments > 0 || self.environment.loading().is_none();
        if self.area.size.contains(&0) || (config.environment.is_file() && !is_read) {
            return None;
        }
        // Nor does it lack the deviation.
        if self.comparisons == 0 && self.deviation.is_loading() {
            return None;
        }
        Some(PictureKey {
            scene: self.scenes,
            environment: self.environments,
            comparison: self.comparisons,
            view: View {
                world_from_view: viewpoint.world_from_view,
                projection: viewpoint.projection,
                near,
                far,
            },
            clip: stage.clip,
            variant: stage.variant,
            time: stage.time,
            hidden: stage.hidden.clone(),
            channel: self.state.channel,
            counts_intersections: self.state.counts_intersections,
            area: self.area,
            exposure_ev: stage.exposure_ev(config, luminance, occludes),
            config: of_picture(config, &self.state.initial),
        })
    }

    /// Records the scene if its picture would differ from the one that is shown, and none is being drawn.
    /// Returns the frame.
    fn record_scene(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<Option<InFlight>> {
        let began = Instant::now();
        let Some(pose) = self.state.stage.as_ref().map(|stage| stage.pose()) else {
            return Ok(None);
        };
        self.state.follow(&pose);
        let Some(picture) = self.picture(&pose) else {
            return Ok(None);
        };
        self.state.history.span("animate", began);
        let began = Instant::now();
        if !self.abandon_outdated(&picture)? {
            return Ok(None);
        }
        let compiling = match self.preparation.poll(&picture) {
            Ok(compiling) => compiling,
            Err(error) => {
                self.schedule.give_up(picture);
                return self.report(error).map(|()| None);
            }
        };
        let now = Instant::now();
        let is_new = self.schedule.last().map(|last| last.scene) != Some(picture.scene);
        let fast = self.graphics.gpu.capabilities.fast_rays;
        let is_temporal = self.state.config.image.antialias.on(fast) == Antialias::Temporal;
        let scales = match self.state.config.window.render_scale {
            0.0 => Scales {
                moving: self.resolution.scale(),
                still: 1.0,
            },
            fixed => Scales {
                moving: fixed,
                // Frames that fill in the window's pixels would be sharper than samples that do not.
                still: if is_temporal { 1.0 } else { fixed },
            },
        };
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
        let stats = renderer.stats();
        let renderer_state = RendererState {
            fast_rays: gpu.capabilities.fast_rays,
            environment_is_pending: renderer.environment_is_pending(),
            exposure_changes: stats.exposure_ev != stats.exposure_target_ev,
            averages_shadows: picture.config.shadows.averages()
                && may_be_soft(&stage.scene, &picture.config),
            may_reflect: may_reflect(&stage.scene, &pose, &picture.config, |_| true),
        };
        let chosen = self.schedule.choose(&picture, renderer_state, scales, now);
        let Some(frame) = chosen else {
            return Ok(None);
        };
        let interval = self.schedule.since_last_frame(now);
        let input = FrameInput {
            scene: &stage.scene,
            pose: &pose,
            view: picture.view,
            config: &self.state.config,
            exposure_ev: picture.exposure_ev,
            elapsed_secs: match interval {
                _ if is_new => f32::INFINITY,
                Some(interval) => interval.as_secs_f32(),
                None => 0.0,
            },
            channel: picture.channel,
            size: frame.size(picture.area.size),
            ground: stage.ground(self.state.config.scene.ground),
            reads: match picture.counts_intersections {
                true => &[Channel::Intersections],
                false => &[],
            },
        };
        let drawn_to = (screen::FORMAT, picture.area.size);
        let mut needs = renderer.needs(gpu, &input, &uploaded.buffers, frame.sample, drawn_to);
        renderer.camera_needs(&input.config.camera, &mut needs);
        match self.schedule.readiness(needs.is_empty(), compiling) {
            Readiness::Ready => {}
            Readiness::Waits => return Ok(None),
            Readiness::Compile => {
                self.preparation.start(&picture, needs, gpu, &self.waker);
                return Ok(None);
            }
        }
        let pixels = |size: [u32; 2]| u64::from(size[0]) * u64::from(size[1]);
        let counted =
            |of: &PictureKey| of.counts_intersections || of.channel == Channel::Intersections;
        let begins_to_count = counted(&picture) && !self.schedule.last().is_some_and(counted);
        if begins_to_count || pixels(input.size) > pixels(self.schedule.size()) {
            // Nobody knows yet that it is short.
            renderer.budget.in_parts = true;
        }
        let target = screen.next_picture(gpu, picture.area.size)?;
        match renderer.record_sample(gpu, encoder, &input, uploaded, frame.sample, &target) {
            Ok(()) => {
                self.state.history.span("record", began);
                self.schedule.recorded(picture.clone(), frame, now);
                if let Some(interval) = interval {
                    self.state.record_frame(interval.as_secs_f32() * 1e3);
                }
                // Frames that are counted are shown with the panel that belongs to them.
                let is_parted = renderer.budget.in_parts && !self.schedule.counts_frames();
                Ok(Some(InFlight::new(picture, frame, is_parted, now)))
            }
            Err(error) => {
                self.schedule.give_up(picture);
                // What was recorded before the failure must not run.
                *encoder = gpu.encoder("window");
                renderer.withdraw();
                self.report(error).map(|()| None)
            }
        }
    }

    /// Whether the next frame may be recorded: no other one is being drawn. A frame at rest that is no longer
    /// wanted is abandoned. One of what moves is not, or none would ever be finished.
    fn abandon_outdated(&mut self, picture: &PictureKey) -> Result<bool> {
        let Some(in_flight) = &self.in_flight else {
            return Ok(true);
        };
        if in_flight.picture == *picture || !in_flight.frame.at_rest {
            return Ok(false);
        }
        self.in_flight = None;
        self.schedule.abandon();
        let Graphics {
            gpu,
            renderer,
            uploaded,
            ..
        } = &mut self.graphics;
        if let Some(uploaded) = uploaded {
            renderer.abandon(gpu, uploaded)?;
        }
        Ok(true)
    }

    /// Composes the window and shows it. A short frame of the scene is part of it. The parts of a long one are
    /// submitted behind it: until they are done, the window shows the picture before.
    fn present(
        &mut self,
        mut encoder: wgpu::CommandEncoder,
        paint: &Paint,
        mut recorded: Option<InFlight>,
    ) -> Result<Option<Instant>> {
        let began = Instant::now();
        match &recorded {
            Some(frame) if frame.is_parted => {
                let Graphics { gpu, renderer, .. } = &mut self.graphics;
                renderer.finish(std::mem::replace(&mut encoder, gpu.encoder("window")));
            }
            Some(frame) => {
                self.graphics.screen.show_next_picture();
                self.draw_outline(&mut encoder, &frame.picture)?;
                self.draw_path(&mut encoder, &frame.picture)?;
                self.selecting.shown = Some(frame.picture.clone());
            }
            None => {}
        }
        let (has_outline, has_path) = (self.has_outline(), self.has_path());
        let Graphics {
            screen,
            gpu,
            renderer,
            ..
        } = &mut self.graphics;
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
                if has_outline {
                    renderer.show_outline(gpu, encoder, target, origin)?;
                }
                match has_path {
                    true => renderer.show_path(gpu, encoder, target, origin),
                    false => Ok(()),
                }
            },
        )?;
        self.state.history.span("compose", began);
        let began = Instant::now();
        let image = screen.acquire(gpu)?;
        self.state.history.span("acquire", began);
        let began = Instant::now();
        match &image {
            Some(image) => screen.copy_to(gpu, &mut encoder, image),
            None => self.schedule.draw_by(Instant::now() + POLL),
        }
        match &mut recorded {
            Some(frame) if !frame.is_parted => {
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
        self.state.history.span("submit", began);
        let mut presented = None;
        if let Some(image) = image {
            // Once: an unmapped window keeps nothing of what is presented to it.
            if !std::mem::replace(&mut self.is_visible, true) {
                self.window.set_visible(true);
                self.schedule.draw_by(Instant::now());
            }
            self.window.pre_present_notify();
            let began = Instant::now();
            gpu.queue.present(image);
            self.state.history.span("present", began);
            presented = Some(Instant::now());
            if self.says_preparing {
                self.preparation.shown();
            }
        }
        match gpu.check() {
            // Nothing can be shown any more, not even the error.
            Err(error) if gpu.lost().is_some() => return Err(error),
            Err(error) => self.report(error)?,
            Ok(()) => {}
        }
        Ok(presented)
    }

    /// Saves the window if requested, and decides when to draw again.
    fn finish_frame(&mut self) -> Result<()> {
        let is_last = self.schedule.is_over();
        let last = (is_last && self.options.screenshot.is_some()).then_some(Picture::Window);
        let picture = self.save.take().or(last);
        if let Some(picture) = picture {
            match self.save_picture(picture) {
                Ok(path) => self.state.notify(format!("saved {}", path.display())),
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
        let clip_secs = self.state.stage.as_ref().map_or(0.0, |s| s.duration());
        let plays = self.state.playing && self.loading.is_none() && clip_secs > 0.0;
        if let Some(time) = self.in_flight.as_ref().and_then(InFlight::awaited_from) {
            self.schedule.draw_by(time);
        }
        let activity = Activity {
            moves: self.await_trees()
                || plays
                || self.benchmark.is_some()
                || self.input.is_flying(),
            compiles: self.preparation.names().is_some(),
            loads: self.loading.is_some() || self.environment.loading().is_some(),
            saved: picture.is_some(),
            draws: self.in_flight.is_some(),
        };
        if self.schedule.finish(activity, Instant::now()) {
            self.profiling.rest();
            self.graphics.gpu.save_pipelines();
        }
        if self.state.profiler.is_open || self.options.profile.is_some() {
            self.profiling
                .measure_memory(&mut self.state.history, &self.graphics.gpu);
        }
        Ok(())
    }

    /// Writes a picture to a file. Returns its path.
    fn save_picture(&self, picture: Picture) -> Result<PathBuf> {
        let path = self.options.screenshot.clone();
        let path = path.unwrap_or_else(|| pictures::new_path(&self.picture_name(), "png"));
        let (screen, gpu) = (&self.graphics.screen, &self.graphics.gpu);
        let (width, height, pixels) = match picture {
            Picture::Window => screen.read(gpu)?,
            Picture::Scene => screen.read_picture(gpu)?.ok_or_else(|| {
                let what = "no scene is shown yet, so there is no picture of it";
                Error::NotFound(what.into())
            })?,
        };
        output::write(&path, &output::picture::png(width, height, pixels)?)?;
        Ok(path)
    }

    /// The name of the scene without its extension.
    pub(super) fn picture_name(&self) -> String {
        let stage = self.state.stage.as_ref();
        let first = stage.and_then(|stage| stage.files.first());
        let stem = first.and_then(|file| file.file_stem());
        stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }
}

/// The settings that the picture depends on. Others leave it as it is, and are those of the start.
fn of_picture(config: &Config, initial: &Config) -> Config {
    let window = &config.window;
    let initial = initial.clone();
    Config {
        window: config::Window {
            still_samples: window.still_samples,
            render_scale: window.render_scale,
            ..initial.window
        },
        // The key holds the view and the time themselves.
        camera: config::Camera {
            mode: config.camera.mode,
            avoid_walls: config.camera.avoid_walls,
            ..initial.camera
        },
        animation: initial.animation,
        output: initial.output,
        load: initial.load,
        keys: initial.keys,
        ..config.clone()
    }
}
