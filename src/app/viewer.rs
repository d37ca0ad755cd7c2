//! The window at work: events in, frames out.

use crate::app;
use crate::{
    Error, Result,
    app::{
        bookmarks::model::Bookmarks,
        camera::walker::Walker,
        compare::side::Comparing,
        deviation::{
            figures::DeviationFigures,
            file::{ComparedWith, DeviationFile},
        },
        environment::file::EnvironmentFile,
        export::process::Exporting,
        files::{
            browser::Browser,
            loading::Loading,
            pictures::Picture,
            recent::{self, Opened, Recent},
            watch::Watches,
        },
        input::{
            chord::Press,
            keymap::Keymap,
            keys::{self, Action},
            leaving::{Answer, Leaving},
            pointer::Input,
        },
        inspect::clicks::Selecting,
        lab::model::LabBuilder,
        looks::model::Looks,
        options::Options,
        presentation::model::Presentation,
        profile::{benchmark::Benchmark, frames::Profiling, memory::MemoryLog},
        rays::model::TracedRay,
        schedule::{
            Schedule, Wakeup,
            in_flight::{GPU_POLL, InFlight},
            preparation::Preparation,
            resolution::Resolution,
            sample_pace::SamplePace,
        },
        state::State,
        trees::figures::CountedTrees,
        ui::{self, layout::LayoutFile},
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
    render::{self, Channel, TextureView, UploadedScene, inspect::compared_tree::ComparedTree},
    scene::opened::OpenedScene,
};
use glam::Vec2;
use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use winit::{
    event::{ElementState, KeyEvent, WindowEvent},
    event_loop::{ActiveEventLoop, ControlFlow},
    keyboard::{Key, NamedKey, PhysicalKey},
    platform::modifier_supplement::KeyEventExtModifierSupplement as _,
    window::Window,
};

/// Most frames of a profile that is written when the viewer ends: of a long run the last ones.
const MOST_PROFILED: usize = 20_000;

/// Headline of errors of an environment's file.
const ENVIRONMENT_FAILED: &str = "The environment could not be read";

/// Headline of errors of the file that the scene is compared with.
const COMPARED_FAILED: &str = "The file to compare with could not be read";

/// Headline of the card for a frame that failed.
pub(super) const UNDRAWN: &str = "Drawing failed";

/// The window, the GPU, and what is shown.
pub(super) struct Viewer {
    pub(super) options: Options,
    pub(super) waker: Waker,
    pub(super) window: Arc<Window>,
    pub(super) graphics: Graphics,
    pub(super) gui: Gui,
    pub(super) state: State,
    pub(super) input: Input,
    /// The person of walk mode.
    pub(super) walker: Walker,
    pub(super) dialogs: Dialogs,
    pub(super) schedule: Schedule,
    sample_pace: SamplePace,
    /// The frame of the scene that the GPU works on.
    pub(super) in_flight: Option<InFlight>,
    /// The scale of frames while something moves.
    pub(super) resolution: Resolution,
    pub(super) loading: Option<Loading>,
    pub(super) environment: EnvironmentFile,
    pub(super) deviation: DeviationFile,
    pub(super) figures: DeviationFigures,
    /// Side B.
    pub(super) comparing: Comparing,
    pub(super) preparation: Preparation,
    pub(super) profiling: Profiling,
    /// The export that goes on.
    pub(super) exporting: Option<Exporting>,
    /// The benchmark while it runs.
    pub(super) benchmark: Option<Benchmark>,
    /// Whether the panel's last frame names the passes that are being compiled.
    pub(super) says_preparing: bool,
    /// Whether files hover over the window.
    pub(super) hovering: bool,
    /// Where the panel's layout is kept between runs; none under [`Options::exit_after`].
    pub(super) layout_file: Option<LayoutFile>,
    /// Files that were dropped since the last frame.
    pub(super) dropped: Vec<PathBuf>,
    /// The scene's part of the window.
    pub(super) area: Area,
    /// True once the scene has been drawn, or could not be.
    pub(super) has_drawn: bool,
    /// Number of scenes that have been shown.
    pub(super) scenes: u64,
    /// Number of environments that have been shown.
    pub(super) environments: u64,
    /// Number of times that another surface was compared with.
    pub(super) comparisons: u64,
    /// Structures of the laboratory that rays were traced through, or none, so far.
    pub(super) labs: u64,
    /// For [`Options::stats`].
    pub(super) memory: Option<MemoryLog>,
    /// What to save of the next frame as a picture.
    pub(super) save: Option<Picture>,
    /// The built-in file browser while it is open.
    pub(super) browser: Option<Browser>,
    /// The files that were opened last, also if they could not be loaded.
    pub(super) asked: Vec<PathBuf>,
    /// The file that lists recent files; `None` where that is not to be kept.
    pub(super) recent_file: Option<PathBuf>,
    pub(super) watches: Watches,
    /// What was clicked, and what is known of it.
    pub(super) selecting: Selecting,
    /// The ray that was traced.
    pub(super) traced_ray: TracedRay,
    /// Draws textures, once one was looked at.
    pub(super) texture_view: Option<TextureView>,
    /// Counts what the trees are like.
    pub(super) counted_trees: CountedTrees,
    /// What builds structures of the laboratory.
    pub(super) lab: LabBuilder,
    /// Whether the GPU was asked since the window was to be drawn last.
    has_polled: bool,
    /// True if the last redraw left nothing to draw or to load.
    pub(super) is_at_rest: bool,
    /// Events of the window that were handled.
    events: u64,
    /// Input that has come since an event that may have moved the keyboard, in order: it belongs to whatever has the
    /// keyboard once the panel has been drawn.
    waiting: VecDeque<WindowEvent>,
    /// Whether the panel has not been drawn since that event.
    awaits_panel: bool,
    status: Option<StatusStream>,
    /// The presentation while it goes on.
    pub(super) presentation: Option<Presentation>,
    /// When Escape quits.
    leaving: Leaving,
    /// Whether the window has been shown.
    pub(super) is_visible: bool,
    pub(super) done: bool,
}

/// True where `event` comes from the keyboard or the pointer, or ends what they hold.
fn is_input(event: &WindowEvent) -> bool {
    matches!(
        event,
        WindowEvent::KeyboardInput { .. }
            | WindowEvent::Ime(_)
            | WindowEvent::Focused(_)
            | WindowEvent::ModifiersChanged(_)
            | WindowEvent::CursorMoved { .. }
            | WindowEvent::CursorLeft { .. }
            | WindowEvent::MouseInput { .. }
            | WindowEvent::MouseWheel { .. }
    )
}

impl Viewer {
    /// Opens the window and starts to load.
    pub(super) fn new(
        event_loop: &ActiveEventLoop,
        options: Options,
        waker: Waker,
    ) -> Result<Self> {
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
            figures: DeviationFigures::default(),
            comparing: Comparing::default(),
            preparation: Preparation::default(),
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
        // Frames that are counted are those of the clip.
        let has_gpu = viewer.graphics.gpu.capabilities.has_gpu;
        viewer.state.playback.clips_play = has_gpu || viewer.schedule.counts_frames();
        viewer.state.ui.keymap = Keymap::new(&viewer.options.config.keys)?.into();
        // A drawer would hide half of the first picture.
        let settings = &viewer.options.config.window;
        let points = settings.size[0] as f32 / ui::zoom(settings);
        let is_narrow = points < ui::NARROW;
        if is_narrow && std::mem::take(&mut viewer.state.ui.panel) {
            let keys = viewer.state.ui.keymap.keys_of(Action::Panel);
            viewer.state.notify(format!("{keys} opens the settings"));
        }
        if viewer.options.profile.is_some() {
            viewer.state.profile.history = History::new(MOST_PROFILED);
        }
        if let Some(file) = &mut viewer.layout_file {
            viewer.state.ui.layout = file.read();
            viewer.state.ui.keeps_layout = true;
        }
        viewer.state.files.looks = Looks::of_the_user();
        viewer.state.files.bookmarks = Bookmarks::of_the_user();
        viewer.set_title(None);
        viewer.load(viewer.options.files.clone());
        Ok(viewer)
    }

    /// Whether the window is to be closed.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// When the event loop has to come back by itself.
    pub(super) fn control_flow(&mut self) -> ControlFlow {
        let wait = |time: Option<Instant>| match time {
            Some(time) => ControlFlow::WaitUntil(time),
            None => ControlFlow::Wait,
        };
        // A part that is submitted now would go before what is drawn next. Between two redraws there is
        // always room for one.
        let is_due = self.schedule.is_due(Instant::now());
        let poll = if is_due && std::mem::take(&mut self.has_polled) {
            Some(Instant::now() + GPU_POLL)
        } else {
            self.has_polled = true;
            self.poll_frame()
        };
        let poll = poll
            .into_iter()
            .chain(app::inspect::task::poll_selecting(self))
            .min();
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

    /// Tells whoever drives the window that the event loop waits for `wakeup`, or polls the GPU.
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

    /// Draws within `delay`.
    pub(super) fn draw_within(&mut self, delay: Duration) {
        self.schedule.draw_by(Instant::now() + delay);
    }

    /// A thread has woken the event loop.
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
                app::files::save::answered_where_to_save(self, &unsaved, place)
            }
            Wake::OpenNeighbour(found) => app::files::task::open_neighbour(self, found),
            Wake::SceneChanged => app::files::task::reload_changed(self),
            Wake::EnvironmentChanged => self.environment.reload(),
            Wake::ComparedChanged => self.deviation.reload(),
            Wake::ShadersChanged => app::files::shaders::reload(self),
        }
        self.draw_within(Duration::ZERO);
    }

    /// Something happened to the window, which is drawn by [`Viewer::redraw_or_recover`].
    pub(super) fn event(&mut self, event: WindowEvent) {
        match is_input(&event) {
            true => {
                self.waiting.push_back(event);
                self.take_input();
            }
            false => self.handle(&event),
        }
    }

    /// The panel has been drawn, so that it is known what has the keyboard.
    pub(super) fn drew_panel(&mut self) {
        self.awaits_panel = false;
        self.take_input();
    }

    /// Handles input up to the next event that may move the keyboard.
    fn take_input(&mut self) {
        while !self.awaits_panel
            && let Some(event) = self.waiting.pop_front()
        {
            let before = self.has_text_field();
            self.handle(&event);
            self.awaits_panel = self.may_move_keyboard(&event) || before != self.has_text_field();
            if self.awaits_panel {
                self.draw_within(Duration::ZERO);
            }
        }
    }

    /// Whether something is open that takes every key.
    fn has_text_field(&self) -> bool {
        self.browser.is_some()
            || self.state.ui.palette.is_some()
            || self.state.ui.finder.takes_keyboard
    }

    /// Whether widgets may take the keyboard, or give it up, once they have seen `event`.
    fn may_move_keyboard(&self, event: &WindowEvent) -> bool {
        match event {
            WindowEvent::KeyboardInput { event, .. } => {
                let moves = [NamedKey::Escape, NamedKey::Enter, NamedKey::Tab].map(Key::Named);
                let is_theirs = self.gui.wants_keyboard() || self.has_text_field();
                event.state == ElementState::Pressed
                    && moves.contains(&event.logical_key)
                    && is_theirs
            }
            WindowEvent::MouseInput { .. } => !self.is_in_scene(),
            _ => false,
        }
    }

    fn handle(&mut self, event: &WindowEvent) {
        self.events += 1;
        let is_tab = matches!(event, WindowEvent::KeyboardInput { event, .. }
            if event.logical_key == Key::Named(NamedKey::Tab));
        // egui would walk through its widgets with Tab, and then keep every other key to itself: it does once
        // one of them has the keyboard.
        let is_tab = is_tab && !self.has_text_field() && !self.gui.wants_keyboard();
        if !is_tab && self.gui.event(&self.window, event) {
            self.draw_within(Duration::ZERO);
        }
        match event {
            WindowEvent::CloseRequested => self.quit(),
            WindowEvent::HoveredFile(_) => self.hovering = true,
            WindowEvent::HoveredFileCancelled => self.hovering = false,
            WindowEvent::DroppedFile(path) => {
                self.hovering = false;
                self.dropped.push(path.clone());
            }
            WindowEvent::Focused(false) => {
                self.state.compare.is_held = false;
                self.input.release_all();
            }
            WindowEvent::MouseInput { state, button, .. }
                if app::compare::task::hold_line(self, *button, *state) => {}
            WindowEvent::ModifiersChanged(modifiers) => self.input.set_modifiers(modifiers.state()),
            WindowEvent::KeyboardInput {
                event,
                is_synthetic: false,
                ..
            } => self.key(event),
            WindowEvent::MouseInput { state, button, .. } => {
                let in_scene = self.is_in_scene();
                if let Some(beside) = self.input.set_button(*button, *state, in_scene) {
                    app::inspect::task::click(self, beside);
                }
            }
            WindowEvent::CursorMoved { position, .. } => {
                let pointer = Vec2::new(position.x as f32, position.y as f32);
                let height = self.area.size[1] as f32;
                self.input.set_pointer(pointer, height, &mut self.state);
                app::compare::task::drag_line(self);
                app::inspect::task::hover(self);
                app::presentation::task::wake_pointer(self);
            }
            WindowEvent::CursorLeft { .. } => {
                self.input.leave();
                app::inspect::task::leave_hover(self);
            }
            WindowEvent::MouseWheel { delta, .. } if self.is_in_scene() => {
                self.input.wheel(*delta, &mut self.state);
            }
            _ => {}
        }
    }

    /// Whether the pointer is over the scene, and nothing floats in between.
    pub(super) fn is_in_scene(&self) -> bool {
        let pointer = self.input.pointer();
        let is_inside = (0..2).all(|axis| {
            let start = self.area.origin[axis] as f32;
            // The panel's edge can be dragged from a little outside of it.
            (start..start + self.area.size[axis] as f32 - 6.0).contains(&pointer[axis])
        });
        is_inside && !self.gui.covers(pointer)
    }

    fn key(&mut self, event: &KeyEvent) {
        let pressed = event.state == ElementState::Pressed;
        let code = match event.physical_key {
            PhysicalKey::Code(code) => Some(code),
            PhysicalKey::Unidentified(_) => None,
        };
        let is_plain = self.input.modifiers() == Default::default();
        if let Some(code) = code.filter(|_| pressed && is_plain && !self.gui.wants_keyboard())
            && self.state.walk_outline(code)
        {
            self.draw_within(Duration::ZERO);
            return;
        }
        // A key that is bound does nothing else: it neither flies nor holds the sun.
        let action = self.state.ui.keymap.action(&Press {
            logical: event.logical_key.clone(),
            plain: event.key_without_modifiers(),
            code,
            modifiers: self.input.modifiers(),
        });
        let is_l =
            matches!(&event.logical_key, Key::Character(text) if text.eq_ignore_ascii_case("l"));
        if is_l {
            self.input.set_sun(pressed && action.is_none());
        }
        let is_escape = event.logical_key == Key::Named(NamedKey::Escape);
        // A control that has the keyboard takes the plain keys that move it, and a text all keys.
        let modifiers = self.input.modifiers();
        let is_plain = !modifiers.ctrl && !modifiers.alt && !code.is_some_and(keys::is_function);
        let moves_control = is_plain && code.is_some_and(keys::moves_control);
        let edits_text = self.gui.edits_text();
        // Its button has the keyboard from the start.
        let closes_card = is_escape && self.state.files.export.is_open && !edits_text;
        // The key that opens a dialog closes it, though the dialog's field has the keyboard.
        let closes_dialog = !is_plain
            && match action {
                Some(Action::Palette) => self.state.ui.palette.is_some(),
                Some(Action::Browse) => self.browser.is_some(),
                _ => false,
            };
        let typing = !closes_dialog
            && (self.gui.wants_keyboard() && (moves_control && !closes_card || edits_text)
                || self.has_text_field()
                || is_escape && self.gui.has_popup());
        if let Some(code) = code {
            self.input
                .set_key(code, pressed && !typing && action.is_none());
        }
        let Some(action) = action.filter(|_| pressed && !typing) else {
            return;
        };
        if !event.repeat
            || matches!(
                action,
                Action::Cutoff(_) | Action::Orbit(_) | Action::RayStep(_) | Action::StepFrame(_)
            )
        {
            self.perform(action);
        }
        self.draw_within(Duration::ZERO);
    }

    fn perform(&mut self, action: Action) {
        let aspect = self.aspect();
        let loaded_with = self.state.config.load.clone();
        let left = self.state.perform(action, aspect, &self.options.look);
        self.state.follow_changes(false);
        app::files::task::follow_load(self, &loaded_with);
        match left.and_then(|action| app::files::task::perform_on_files(self, action)) {
            Some(Action::Reload) => {
                self.state.notify("reading the files again");
                self.environment.reload();
                self.deviation.reload();
                app::files::task::reload_scene(self);
            }
            Some(Action::FocusPanel) => self.focus_panel(),
            Some(Action::Find) => {
                if self.state.picture.presents {
                    app::presentation::task::toggle(self);
                }
                self.state.ui.panel = true;
                self.state.ui.finder.takes_keyboard = true;
            }
            Some(Action::Present) => app::presentation::task::toggle(self),
            Some(Action::Fullscreen) => {
                native::toggle_fullscreen(&self.window);
                self.state.notify("full screen on or off");
            }
            // A name for the window's picture is for F12 too.
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
                        .fail("There is no picture to compare with", error.to_string());
                }
            }
            Some(Action::StartExport) => app::export::task::toggle(self),
            Some(Action::Leave) => self.leave(),
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

    /// Gives the keyboard to the first control of the panel, or back to the scene.
    fn focus_panel(&mut self) {
        if self.gui.wants_keyboard() {
            self.gui.surrender_keyboard();
        } else {
            self.state.ui.panel = true;
            self.gui.focus_first();
        }
    }

    /// Closes what is uppermost, and the window only when asked twice.
    fn leave(&mut self) {
        let now = Instant::now();
        if self.state.ui.error.take().is_some()
            || std::mem::take(&mut self.state.ui.help)
            || std::mem::take(&mut self.state.files.export.is_open)
        {
            // Closed.
        } else if self.state.picture.presents {
            app::presentation::task::toggle(self);
        } else if let Some(loading) = self.loading.take() {
            // Its thread ends by itself; nobody has to wait for that.
            loading.cancel();
            self.leaving.ended_load(now);
            self.state.notify("loading was cancelled");
        } else if self.environment.cancel(&mut self.state.config) {
            self.state.edits.undo.correct(&self.state.config);
            self.leaving.ended_load(now);
            self.state.notify("the environment stays as it is");
        } else if !std::mem::take(&mut self.state.files.offers).is_empty() {
            // Declined.
        } else if self.state.welcomes() {
            self.state.ui.layout.welcomed = true;
        } else if self.state.ui.panel && !self.state.ui.finder.text.is_empty() {
            self.state.ui.finder.text.clear();
        } else if !self.state.inspect.measure.points().is_empty() {
            self.state.inspect.measure.clear();
        } else if std::mem::take(&mut self.state.inspect.measure.is_on) {
            self.state.notify("measuring ended");
        } else if std::mem::take(&mut self.state.trees.view.traces) {
            self.state.notify("tracing ended");
        } else if std::mem::take(&mut self.state.inspect.textures.is_open)
            || std::mem::take(&mut self.state.profile.profiler.is_open)
            || std::mem::take(&mut self.state.inspect.outline.is_open)
        {
            // Closed.
        } else if !self.state.inspect.selection.is_empty()
            || self.state.inspect.outline.has_selection()
        {
            self.state.inspect.selection.clear();
            self.state.inspect.outline.select_nothing();
        } else if self.state.compare.other().is_some() {
            self.state.compare.end();
            self.state.notify("comparing ended");
        } else if self.window.fullscreen().is_some() {
            native::toggle_fullscreen(&self.window);
        } else {
            match self.leaving.ask(now) {
                Answer::Quit => self.quit(),
                Answer::AskAgain => self.state.notify("press Esc again to quit"),
                Answer::Ignore => {}
            }
        }
    }

    /// Ends the viewer. Where an export goes on, it has to be asked twice.
    fn quit(&mut self) {
        let is_sure = match self.exporting {
            Some(_) => self.leaving.gives_up_export(Instant::now()),
            None => true,
        };
        match is_sure {
            true => self.done = true,
            false => self.state.notify("an export goes on: quit again to end it"),
        }
    }

    pub(super) fn choose_environment(&mut self, file: &Path) {
        match file.to_str() {
            Some(name) => self.environment.choose(name.into()),
            None => {
                let what = "the name of an environment has to be Unicode";
                let error = Error::scene(file, what).to_string();
                self.state.fail(ENVIRONMENT_FAILED, error);
            }
        }
    }

    /// Reads the environment's file that the settings name, and shows one that has been read.
    pub(super) fn follow_environment(&mut self) -> Result<()> {
        let Graphics { gpu, renderer, .. } = &mut self.graphics;
        let most = render::environment::most_texels(gpu, &self.state.config);
        let wake = self.waker.redraw();
        self.environment.follow(&self.state.config, most, wake);
        let outcome = self.environment.poll(&mut self.state.config);
        if outcome.is_some() {
            self.leaving.ended_load(Instant::now());
        }
        match outcome {
            None => Ok(()),
            Some(Ok(image)) => {
                image.warnings.iter().for_each(|line| log::warn!("{line}"));
                self.state.environment.warnings.clone_from(&image.warnings);
                self.state.environment.sun_of_file = image.sun;
                let shown = renderer.set_environment(gpu, Some(&image));
                self.environments += 1;
                let file = &self.state.config.environment.file;
                app::files::task::remember(self, Opened::Environment(file.into()));
                shown.or_else(|error| self.report_as(ENVIRONMENT_FAILED, error))
            }
            Some(Err(error)) => {
                self.state.edits.undo.correct(&self.state.config);
                self.report_as(ENVIRONMENT_FAILED, error)
            }
        }
    }

    pub(super) fn choose_compared(&mut self, file: &Path) {
        match file.to_str() {
            Some(name) => self.state.config.deviation.file = name.into(),
            None => {
                let what = "the name of a file to compare with has to be Unicode";
                self.state
                    .fail(COMPARED_FAILED, Error::scene(file, what).to_string());
            }
        }
    }

    /// Reads the file that the settings compare the scene with, and shows the distance from one that has been
    /// read.
    pub(super) fn follow_deviation(&mut self) -> Result<()> {
        let wake = self.waker.redraw();
        let Graphics { gpu, renderer, .. } = &mut self.graphics;
        if self.deviation.follow(&self.state.config, wake) {
            self.comparisons += 1;
            self.state.deviation.compared = None;
            if self.state.picture.channel == Channel::Deviation {
                self.state.picture.channel = Channel::Lit;
            }
            renderer.set_compared(None);
            return Ok(());
        }
        let before = self.deviation.name().map(ToOwned::to_owned);
        match self.deviation.poll(&mut self.state.config) {
            None => Ok(()),
            Some(Ok(surface)) => {
                let tree = ComparedTree::new(gpu, surface.clone());
                let (tree, outcome) = match tree {
                    Ok(tree) => (Some(Arc::new(tree)), Ok(())),
                    Err(error) => (None, Err(error)),
                };
                renderer.set_compared(tree);
                self.comparisons += 1;
                self.state.deviation.compared = Some(ComparedWith::from(&*surface));
                // A file that was read again is shown as it was before.
                if before.as_deref() != self.deviation.name() {
                    self.state.picture.channel = Channel::Deviation;
                }
                outcome.or_else(|error| self.report_as(COMPARED_FAILED, error))
            }
            Some(Err(error)) => {
                self.state.edits.undo.correct(&self.state.config);
                self.report_as(COMPARED_FAILED, error)
            }
        }
    }

    /// Starts to load `files`, in place of what is being loaded.
    pub(super) fn load(&mut self, files: Vec<PathBuf>) {
        if let Some(loading) = &self.loading {
            loading.cancel();
        }
        let gpu = (self.graphics.gpu.clone(), self.graphics.renderer.uploader());
        let config = self.state.config.clone();
        let wake = self.waker.redraw();
        if files != self.asked {
            // They are those of other files.
            (self.options.look.view, self.options.reopens) = (None, None);
            self.options.edits = None;
        }
        self.asked.clone_from(&files);
        self.loading = Some(Loading::start(files, config, gpu, wake));
    }

    /// Shows a scene that has been loaded.
    pub(super) fn poll_loading(&mut self) -> Result<()> {
        let Some(loading) = &self.loading else {
            return Ok(());
        };
        // What was loaded for a lost device is loaded again for the next one.
        if self.graphics.gpu.lost().is_some() {
            return Ok(self.graphics.gpu.check()?);
        }
        let Some(outcome) = loading.poll() else {
            return Ok(());
        };
        if matches!(outcome, Err(Error::Gpu(_))) && self.graphics.is_lost() {
            return Ok(self.graphics.gpu.check()?);
        }
        let headline = format!("{} could not be opened", name_of(&loading.files));
        self.loading = None;
        self.leaving.ended_load(Instant::now());
        let shown = outcome.and_then(|(opened, uploaded)| self.show(opened, uploaded));
        shown.or_else(
            |error| match app::files::task::choose_among_scenes(self, error) {
                Some(error) => self.report_as(headline, error),
                None => Ok(()),
            },
        )
    }

    fn show(&mut self, mut opened: OpenedScene, uploaded: UploadedScene) -> Result<()> {
        if self.schedule.counts_frames() {
            opened = opened.checked()?;
        }
        let warnings = &opened.scene.warnings;
        warnings.iter().for_each(|line| log::warn!("{line}"));
        let aspect = self.aspect();
        let files = std::mem::take(&mut opened.files);
        self.asked.clone_from(&files);
        app::files::task::remember(self, Opened::Scene(files.clone()));
        let before = self.state.stage.as_ref();
        let variant = before.filter(|s| s.files == files).and_then(|s| s.variant);
        self.state.show(files, opened, &self.options.look, aspect);
        app::files::reopen::follow_picture(self);
        if let Some(edits) = self.options.edits.take() {
            self.state.lay_edits("the command line", &edits);
        }
        self.graphics.uploaded = Some(uploaded);
        self.scenes += 1;
        let stage = self.state.stage.as_ref();
        let variants = stage.map_or(0, |stage| stage.scene.variants.len());
        if variant.is_some_and(|variant| variant < variants) {
            self.perform(Action::Variant(variant));
        }
        if self.schedule.counts_frames() {
            self.state.files.offers.clear();
        }
        let name = self.state.stage.as_ref().map(|stage| stage.name());
        self.set_title(name.as_deref());
        app::compare::task::begin(self)
    }

    /// As [`Self::report_as`], for what happens while the scene is drawn.
    pub(super) fn report(&mut self, error: impl Into<Error>) -> Result<()> {
        self.report_as(UNDRAWN, error)
    }

    /// Shows an error under a headline that says what failed, or returns it where nobody is there to read it.
    pub(super) fn report_as(
        &mut self,
        headline: impl Into<String>,
        error: impl Into<Error>,
    ) -> Result<()> {
        let error = error.into();
        if self.schedule.counts_frames()
            || matches!(error, Error::Gpu(_)) && self.graphics.is_lost()
        {
            return Err(error);
        }
        log::error!("{error}");
        self.state.fail(headline, error.to_string());
        // This frame was drawn without the message.
        self.draw_within(Duration::ZERO);
        Ok(())
    }

    /// Names the scene and the adapter: that it is a software renderer has to be seen outside of the log too.
    fn set_title(&self, scene: Option<&str>) {
        let scene = scene.map(|name| format!("{name} — ")).unwrap_or_default();
        let title = format!("{scene}canopy — {}", self.graphics.adapter());
        self.window.set_title(&title);
    }

    pub(super) fn aspect(&self) -> f32 {
        let [width, height] = self.area.size;
        width.max(1) as f32 / height.max(1) as f32
    }

    /// Lets time pass.
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

    /// What is being loaded.
    fn load_progress(&self) -> Option<ui::LoadProgress> {
        let side = self.comparing.loading.as_ref().map(|(_, loading)| loading);
        let scene = self.loading.as_ref().or(side).map(|loading| {
            let (stage, share) = loading.progress();
            ui::LoadProgress {
                name: name_of(&loading.files),
                stage,
                share,
            }
        });
        let environment = || {
            Some(ui::LoadProgress {
                name: name_of(&[self.environment.loading()?.into()]),
                stage: "reading the environment".into(),
                share: 0.0,
            })
        };
        scene.or_else(environment)
    }

    /// Runs the panel and performs the actions of its buttons.
    pub(super) fn run_ui(&mut self, window: [u32; 2]) -> Paint {
        app::presentation::task::rest_pointer(self);
        let adapter = self.graphics.adapter();
        let pose = self.state.stage.as_mut().map(|stage| stage.shared_pose());
        let preparing = self.preparation.progress();
        self.says_preparing = preparing.is_some();
        let loading = self.load_progress();
        app::profile::task::take_timings(self);
        let stats = self.graphics.renderer.stats();
        self.sample_pace.follow(stats.path_samples, Instant::now());
        let capabilities = &self.graphics.gpu.capabilities;
        // The counts of a scene that was replaced stay until another one is drawn.
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
                Some(stage) => stage.exposure_ev(
                    &self.state.config,
                    self.environment.luminance(&self.state.config),
                ),
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
        // What is told, the panel knows as soon as it is laid out.
        self.state.deviation.tells_figures = false;
        self.state.motion.path.is_told = false;
        self.state.trees.view.tells_figures = false;
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
            // What they changed is not in this picture of the panel.
            self.draw_within(Duration::ZERO);
        }
        for action in actions {
            self.perform(action);
        }
        app::files::task::answered_in_browser(self, answer);
        match self.state.files.opens.take() {
            Some(Opened::Scene(files)) => self.load(files),
            Some(Opened::Environment(file)) => self.choose_environment(&file),
            None => {}
        }
        let aspect = self.aspect();
        self.state.follow_up_axis(&self.options.look, aspect);
        app::files::task::follow_watches(self);
        paint
    }
}

/// The scene's part of the window, in whole pixels.
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

fn name_of(files: &[PathBuf]) -> String {
    let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned());
    files
        .first()
        .and_then(name)
        .unwrap_or_else(|| "the built-in scene".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scene_has_whole_pixels_within_the_window() {
        let room = egui::Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(633.4, 400.0));
        let scene = area(room, 1.5, [1280, 500]);
        assert_eq!((scene.origin, scene.size), ([0, 0], [950, 500]));
        assert_eq!(area(egui::Rect::NOTHING, 1.0, [10, 10]).size, [0, 0]);
    }
}
