//! Start of the viewer, and its work in the event loop: wake-ups, actions, time steps and the panel.

use crate::{
    Result,
    app::{
        self,
        bookmarks::model::Bookmarks,
        camera::walker::Walker,
        compare::side::Comparing,
        deviation::{figures::DeviationStatistics, file::DeviationFile},
        environment::file::EnvironmentFile,
        features::FEATURES,
        files::{
            pictures::Picture,
            recent::{self, Opened, Recent},
            watch::Watches,
        },
        input::{keymap::Keymap, keys::Action, leaving::Leaving, pointer::Input},
        inspect::clicks::Selecting,
        lab::model::LabBuilder,
        looks::model::Looks,
        options::Options,
        profile::{frames::Profiling, memory::MemoryLog},
        rays::model::TracedRay,
        schedule::{
            Schedule, Wakeup,
            in_flight::{GPU_POLL, InFlight},
            preparation::PipelineCompilation,
            resolution::Resolution,
            sample_pace::SamplePace,
        },
        state::State,
        trees::figures::CountedTrees,
        ui::{self, layout::LayoutFile},
        viewer::Viewer,
        window::{
            dialogs::Dialogs,
            graphics::Graphics,
            gui::Gui,
            native,
            screen::{Area, Paint},
            status::{IDLE, Status, StatusStream},
            wake::{Wake, Waker},
        },
    },
    gpu,
    lab::LabView,
    profile::history::History,
};
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};
use winit::event_loop::{ActiveEventLoop, ControlFlow};

/// Maximum number of frames in a profile that is written when the viewer ends. A longer run keeps only its
/// last frames.
const MAX_PROFILED: usize = 20_000;

impl Viewer {
    /// Opens the window and starts to load.
    pub(super) fn new(event_loop: &ActiveEventLoop, options: Options, waker: Waker) -> Result<Self> {
        let config = &options.config;
        let window = native::open(event_loop, &config.window)?;
        let display = || Box::new(event_loop.owned_display_handle()) as _;
        let instance = gpu::instance(crate::device::options(&config.gpu), Some(&display))?;
        let graphics = Graphics::new(instance, window.clone(), config)?;
        let mut viewer = Self {
            gui: Gui::new(event_loop, &window, &graphics.gpu, &waker),
            state: State::new(config.clone()),
            schedule: Schedule::new(options.exit_after, Instant::now()),
            sample_pace: SamplePace::default(),
            in_flight: None,
            resolution: Resolution::new(graphics.gpu.capabilities.moving_scale),
            waker,
            window,
            graphics,
            input: Input::default(),
            walker: Walker::default(),
            dialogs: Dialogs::default(),
            loading: None,
            environment: EnvironmentFile::default(),
            deviation: DeviationFile::default(),
            figures: DeviationStatistics::default(),
            comparing: Comparing::default(),
            preparation: PipelineCompilation::default(),
            profiling: Profiling::default(),
            exporting: None,
            benchmark: None,
            says_preparing: false,
            hovering: false,
            layout_file: match options.exit_after {
                Some(_) => None,
                None => LayoutFile::of_the_user(),
            },
            dropped: Vec::new(),
            area: Area::default(),
            scenes: 0,
            environments: 0,
            comparisons: 0,
            labs: 0,
            memory: options.stats.is_some().then(MemoryLog::new),
            save: None,
            browser: None,
            asked: options.files.clone(),
            recent_file: recent::file().filter(|_| options.exit_after.is_none()),
            watches: Watches::default(),
            selecting: Selecting::default(),
            traced_ray: TracedRay::default(),
            texture_view: None,
            counted_trees: CountedTrees::default(),
            lab: LabBuilder::default(),
            has_polled: false,
            is_at_rest: false,
            events: 0,
            waiting: VecDeque::new(),
            awaits_panel: false,
            has_drawn: false,
            status: StatusStream::open(),
            presentation: None,
            leaving: Leaving::default(),
            is_visible: native::SHOWN_AT_ONCE,
            done: false,
            options,
        };
        if native::SHOWN_AT_ONCE {
            viewer.window.set_visible(true);
        }
        app::files::shaders::watch(&mut viewer);
        // A software adapter is too slow to play clips by itself. With a frame limit the clip plays anyway,
        // so that its frames are drawn.
        let has_gpu = viewer.graphics.gpu.capabilities.has_gpu;
        viewer.state.playback.clips_play = has_gpu || viewer.schedule.has_frame_limit();
        viewer.state.ui.keymap = Keymap::new(&viewer.options.config.keys)?.into();
        // In a narrow window the panel is a drawer, which would cover half of the first picture.
        let settings = &viewer.options.config.window;
        let points = settings.size[0] as f32 / ui::zoom(settings);
        let is_narrow = points < ui::NARROW;
        if is_narrow && std::mem::take(&mut viewer.state.ui.panel) {
            let keys = viewer.state.ui.keymap.keys_of(Action::Panel);
            viewer.state.notify(format!("{keys} opens the settings"));
        }
        if viewer.options.profile.is_some() {
            viewer.state.profile.history = History::new(MAX_PROFILED);
        }
        if let Some(file) = &mut viewer.layout_file {
            viewer.state.ui.layout = file.read();
            viewer.state.ui.keeps_layout = true;
        }
        viewer.state.files.looks = Looks::of_the_user();
        viewer.state.files.bookmarks = Bookmarks::of_the_user();
        viewer.set_title(None);
        let files = viewer.options.files.clone();
        viewer.load(files);
        Ok(viewer)
    }

    /// Returns when the event loop has to come back without an event.
    pub(super) fn control_flow(&mut self) -> ControlFlow {
        let wait = |time: Option<Instant>| match time {
            Some(time) => ControlFlow::WaitUntil(time),
            None => ControlFlow::Wait,
        };
        // A due redraw comes before the next poll, because a part that is submitted now would delay it. There
        // is always one poll between two redraws, so that the frame makes progress.
        let is_due = self.schedule.is_due(Instant::now());
        let poll = if is_due && std::mem::take(&mut self.has_polled) {
            Some(Instant::now() + GPU_POLL)
        } else {
            self.has_polled = true;
            self.poll_frame()
        };
        let poll = poll.into_iter().chain(self.poll_features()).min();
        let wakeup = self.schedule.wakeup(Instant::now());
        self.send_status(wakeup, poll.is_some());
        match wakeup {
            Wakeup::Draw => {
                self.is_at_rest = false;
                self.window.request_redraw();
                wait(poll)
            }
            Wakeup::At(time) => wait(Some(poll.map_or(time, |poll| poll.min(time)))),
            Wakeup::Event => wait(poll),
        }
    }

    /// Polls all features for GPU results. Returns when to poll again, or `None` if nothing is pending.
    fn poll_features(&mut self) -> Option<Instant> {
        let is_awaited = |viewer: &Self| FEATURES.iter().any(|feature| feature.is_awaited(viewer));
        if is_awaited(self) {
            self.graphics.gpu.device.poll(wgpu::PollType::Poll).ok();
            if self.graphics.gpu.lost().is_some() {
                // The next redraw opens another device.
                self.draw_within(Duration::ZERO);
                return None;
            }
        }
        for feature in FEATURES {
            feature.poll(self);
        }
        is_awaited(self).then(|| Instant::now() + GPU_POLL)
    }

    /// Sends the status to the program that drives the window, if there is one. `polls` is true while a GPU
    /// result is pending.
    fn send_status(&mut self, wakeup: Wakeup, polls: bool) {
        let Some(stream) = &mut self.status else {
            return;
        };
        let waits = match wakeup {
            Wakeup::Draw => false,
            Wakeup::At(time) => time > Instant::now() + IDLE,
            Wakeup::Event => true,
        };
        let is_heard = stream.send(Status {
            events: self.events,
            frames: self.schedule.frames(),
            is_idle: self.is_at_rest && waits && !polls,
        });
        if !is_heard {
            self.status = None;
        }
    }

    /// Handles a wake-up from a thread.
    pub(super) fn wake(&mut self, wake: Wake) {
        match wake {
            Wake::Redraw => {}
            Wake::RedrawAt(time) => {
                self.schedule.draw_by(time);
                return;
            }
            Wake::Accessibility(event) => self.gui.accessibility(event),
            Wake::Chosen(kind, files) => app::files::task::answered_in_dialog(self, kind, files),
            Wake::Save(unsaved, place) => {
                app::files::save::answered_where_to_save(self, &unsaved, place);
            }
            Wake::OpenNeighbour(found) => app::files::task::open_neighbour(self, found),
            Wake::SceneChanged => app::files::task::reload_changed(self),
            Wake::EnvironmentChanged => self.environment.reload(),
            Wake::ComparedChanged => self.deviation.reload(),
            Wake::ShadersChanged => app::files::shaders::reload(self),
        }
        self.draw_within(Duration::ZERO);
    }

    pub(super) fn perform(&mut self, action: Action) {
        let aspect = self.aspect();
        let loaded_with = self.state.config.load.clone();
        let left = self.state.perform(action, aspect, &self.options.look);
        self.state.follow_changes(false);
        app::files::task::follow_load(self, &loaded_with);
        match left.and_then(|action| app::files::task::perform_on_files(self, action)) {
            Some(Action::Reload) => {
                self.state.notify("reloading the files");
                self.environment.reload();
                self.deviation.reload();
                app::files::task::reload_scene(self);
            }
            Some(Action::FocusPanel) => app::input::events::focus_panel(self),
            Some(Action::Find) => {
                if self.state.picture.presents {
                    app::presentation::task::toggle(self);
                }
                self.state.ui.panel = true;
                self.state.ui.finder.takes_keyboard = true;
            }
            Some(Action::Present) => app::presentation::task::toggle(self),
            Some(Action::Fullscreen) => {
                let is_full = native::toggle_fullscreen(&self.window);
                let text = if is_full {
                    "full screen on"
                } else {
                    "full screen off"
                };
                self.state.notify(text);
            }
            // With the option `--screenshot`, this action also saves the whole window.
            Some(Action::Screenshot) if self.options.screenshot.is_none() => {
                self.save = Some(Picture::Scene);
            }
            Some(Action::Screenshot | Action::ScreenshotOfWindow) => {
                self.save = Some(Picture::Window);
            }
            Some(Action::Palette) if self.state.ui.palette.take().is_some() => {
                self.gui.surrender_keyboard();
            }
            Some(Action::Palette) => {
                let recent = self.recent_file.as_deref().map(Recent::read);
                self.state.open_palette(&recent.unwrap_or_default());
            }
            Some(Action::SaveProfile(extension)) => app::profile::task::save(self, extension),
            Some(Action::ExportLook) => app::files::save::export_look(self),
            Some(Action::Benchmark) => app::profile::benchmark_task::toggle(self),
            Some(Action::ComparePicture) => {
                if let Err(error) = app::compare::task::with_picture(self) {
                    self.state
                        .fail("The current picture cannot become side B", error.to_string());
                }
            }
            Some(Action::StartExport) => app::export::task::toggle(self),
            Some(Action::Leave) => app::input::events::leave(self),
            Some(Action::Quit) => self.quit(),
            Some(Action::Variant(_)) => {
                let Graphics { gpu, uploaded, .. } = &mut self.graphics;
                if let (Some(stage), Some(uploaded)) = (&self.state.stage, uploaded) {
                    uploaded.write_variant(gpu, &stage.scene);
                }
            }
            _ => {}
        }
    }

    /// Advances playback and camera motion by the time since the last redraw, at most one second. Switches
    /// the sides of a flickering comparison when that is due.
    pub(super) fn tick(&mut self) {
        let elapsed = self.schedule.begin(Instant::now());
        if let Some(wait) = self.state.compare.turn(Instant::now()) {
            self.draw_within(wait);
        }
        let seconds = elapsed.map_or(0.0, |elapsed| elapsed.as_secs_f32().min(1.0));
        self.state.play_for(seconds);
        self.state.move_camera_for(seconds);
        if self.state.walks() {
            let (axes, runs) = self.input.axes();
            self.walker.pass(seconds, axes, runs);
        } else {
            self.input.fly(seconds, &mut self.state);
        }
    }

    /// Runs the panel and performs the actions of its buttons.
    pub(super) fn run_ui(&mut self, window: [u32; 2]) -> Paint {
        app::presentation::task::rest_pointer(self);
        let adapter = self.graphics.adapter();
        let pose = self.state.stage.as_mut().map(|stage| stage.shared_pose());
        let preparing = self.preparation.progress();
        self.says_preparing = preparing.is_some();
        let loading = app::files::scene::progress(self);
        app::profile::task::take_timings(self);
        let stats = self.graphics.renderer.stats();
        self.sample_pace.follow(stats.path_samples, Instant::now());
        let capabilities = &self.graphics.gpu.capabilities;
        // The counts of a replaced scene remain until another scene is drawn.
        let drawn = self.schedule.last().map(|picture| picture.scene);
        let counts = stats.intersections.as_deref();
        let facts = ui::Facts {
            stats,
            lab: LabView::of(&self.graphics.renderer).and_then(LabView::counts),
            intersections: counts.filter(|_| drawn == Some(self.scenes)),
            loading,
            preparing,
            dropping: self.hovering,
            exposure_ev: match &mut self.state.stage {
                Some(_) if self.state.config.image.is_metered() => stats.exposure_ev,
                Some(stage) => {
                    stage.exposure_ev(&self.state.config, self.environment.luminance(&self.state.config))
                }
                None => 0.0,
            },
            adapter: &adapter,
            has_gpu: capabilities.has_gpu,
            traits: capabilities.into(),
            render_scale: self.schedule.scale(),
            moving: self.schedule.moving_scale().map(|scale| ui::Moving {
                scale,
                is_late: self.resolution.is_late(),
            }),
            size: self.schedule.size(),
            samples: self.schedule.samples(),
            path_secs_left: self.sample_pace.secs_left(self.state.config.paths.samples),
            view: app::inspect::task::measured_view(self),
            pose: pose.as_deref(),
            rendering: self.in_flight.as_ref().is_some_and(InFlight::is_awaited),
            has_drawn: self.has_drawn,
            browses: self.browser.is_some(),
        };
        self.state.find_sun();
        // The panel sets these flags again as it is laid out.
        self.state.deviation.shows_figures = false;
        self.state.motion.path.is_in_panel = false;
        self.state.trees.view.shows_figures = false;
        let loaded_with = self.state.config.load.clone();
        let mut room = egui::Rect::NOTHING;
        let mut answer = ui::Answer::None;
        let mut is_dragging = false;
        let show = |ui: &mut egui::Ui| {
            room = ui::show(ui, &mut self.state, &facts);
            is_dragging = ui.input(|input| input.pointer.any_down());
            let browser = self.browser.as_mut().filter(|_| answer == ui::Answer::None);
            if let Some(browser) = browser {
                answer = ui::show_browser(ui.ctx(), browser, &|| Box::new(self.waker.redraw()));
            }
        };
        let paint = self.gui.run(&self.window, show);
        self.state.follow_changes(is_dragging);
        app::files::task::follow_load(self, &loaded_with);
        self.area = area(room, paint.pixels_per_point, window);
        if let Some(file) = &mut self.layout_file {
            file.follow(&self.state.ui.layout);
        }
        let actions = std::mem::take(&mut self.state.ui.actions);
        if !actions.is_empty() {
            // The current layout of the panel does not show the effect of the actions.
            self.draw_within(Duration::ZERO);
        }
        for action in actions {
            self.perform(action);
        }
        app::files::task::answered_in_browser(self, answer);
        match self.state.files.opens.take() {
            Some(Opened::Scene(files)) => self.load(files),
            Some(Opened::Environment(file)) => app::environment::task::choose(self, &file),
            None => {}
        }
        let aspect = self.aspect();
        self.state.follow_up_axis(&self.options.look, aspect);
        app::files::task::follow_watches(self);
        paint
    }
}

/// Returns the viewport of the scene in whole pixels.
fn area(room: egui::Rect, pixels_per_point: f32, window: [u32; 2]) -> Area {
    let pixel = |point: f32, most: u32| {
        let pixel = (point * pixels_per_point).round();
        pixel.clamp(0.0, most as f32) as u32
    };
    let origin = [pixel(room.min.x, window[0]), pixel(room.min.y, window[1])];
    let end = [pixel(room.max.x, window[0]), pixel(room.max.y, window[1])];
    Area {
        origin,
        size: std::array::from_fn(|axis| end[axis].saturating_sub(origin[axis])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_viewport_has_whole_pixels_within_the_window() {
        let room = egui::Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(633.4, 400.0));
        let scene = area(room, 1.5, [1280, 500]);
        assert_eq!((scene.origin, scene.size), ([0, 0], [950, 500]));
        assert_eq!(area(egui::Rect::NOTHING, 1.0, [10, 10]).size, [0, 0]);
    }
}
