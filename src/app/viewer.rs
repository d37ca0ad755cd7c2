//! The window at work: events in, frames out.

use super::{
    Options, Wake,
    environment::{EnvironmentFile, is_environment},
    input::Input,
    keys::{self, Action},
    loading::{Loaded, Loading},
    memory::MemoryLog,
    preparing::Preparing,
    screen::{self, Area, Paint, Screen},
    state::{Stage, State},
    ui,
};
use crate::{
    Error, Result,
    config::{Antialias, Config},
    gpu::{self, Gpu},
    output,
    render::{self, Channel, FrameInput, FrameSample, Renderer, UploadedScene, View},
    scene,
};
use glam::Vec2;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use winit::{
    dpi::LogicalSize,
    event::{ElementState, KeyEvent, WindowEvent},
    event_loop::{ActiveEventLoop, ControlFlow, EventLoopProxy},
    keyboard::{Key, NamedKey, PhysicalKey},
    window::{Fullscreen, Window},
};

/// Frames that are drawn after the last change, for the timings to come back.
const SETTLE_FRAMES: u32 = 3;

/// The same for an exposure that follows the picture: more frames than there are under way at once, so that it is known whether it goes on changing.
const METERED_FRAMES: u32 = 5;

/// Devices that may be lost one after another before canopy gives up; one that lasts for [`LASTING`] starts the count anew.
const LOSSES: u32 = 3;
const LASTING: Duration = Duration::from_secs(30);

/// How often the progress of a load is shown, and how soon a window that cannot be drawn to is tried again.
const POLL: Duration = Duration::from_millis(50);

/// The window, the GPU, and what is shown.
pub(super) struct Viewer {
    options: Options,
    proxy: EventLoopProxy<Wake>,
    window: Arc<Window>,
    screen: Screen,
    gpu: Arc<Gpu>,
    /// When it was opened, and how many were lost soon before it.
    opened: (Instant, u32),
    renderer: Renderer,
    /// The scene of the state, uploaded.
    uploaded: Option<UploadedScene>,
    egui: egui_winit::State,
    /// Whether the screen knows the fonts: a new one has to be told.
    has_fonts: bool,
    state: State,
    input: Input,
    loading: Option<Loading>,
    /// Whether the panel and what floats over the scene say that passes are being prepared.
    says_preparing: bool,
    /// Passes that the next picture needs, and what it shows.
    preparing: Option<(Preparing, Shot)>,
    environment: EnvironmentFile,
    /// Files that hover over the window, and files that were dropped since the last frame.
    hovering: bool,
    dropped: Vec<PathBuf>,
    /// Whether a file dialog is open.
    choosing: bool,
    /// The scene's part of the window.
    area: Area,
    /// What the scene's picture shows now, and how many more frames it is drawn anyway.
    shot: Option<Shot>,
    settle: u32,
    /// Frames of the still picture that are still to be summed.
    samples_left: u32,
    /// How many scenes have been shown, and how many environments.
    scenes: u64,
    environments: u64,
    /// Frames of the loaded scene.
    frames: u64,
    /// For [`Options::stats`].
    memory: Option<MemoryLog>,
    last_frame: Instant,
    /// Seconds that passed before this frame, as far as anything moved.
    passed_secs: f32,
    /// Whether this frame follows the last as soon as possible, so that the time between them says something.
    continuous: bool,
    /// When to draw next, if nothing happens before.
    next: Option<Instant>,
    save: bool,
    done: bool,
}

/// All that the scene's picture depends on: as long as it stays the same, so does the picture.
#[derive(Debug, Clone, PartialEq)]
struct Shot {
    scene: u64,
    environment: u64,
    view: View,
    config: Config,
    clip: Option<usize>,
    variant: Option<usize>,
    time: f32,
    channel: Channel,
    size: [u32; 2],
    area: Area,
    exposure_ev: f32,
}

impl Viewer {
    /// Opens the window and starts to load.
    pub(super) fn new(
        event_loop: &ActiveEventLoop,
        options: Options,
        proxy: EventLoopProxy<Wake>,
    ) -> Result<Self> {
        let config = &options.config;
        let [width, height] = config.window.size;
        let attributes = Window::default_attributes()
            .with_title("canopy")
            .with_inner_size(LogicalSize::new(width, height))
            .with_min_inner_size(LogicalSize::new(320, 200));
        let window = event_loop
            .create_window(attributes)
            .map_err(super::no_window)?;
        let window = Arc::new(window);
        let display = || Box::new(event_loop.owned_display_handle()) as _;
        let instance = gpu::instance(&config.gpu, Some(&display))?;
        let (screen, gpu) = Screen::new(instance, window.clone(), config)?;
        let mut renderer = Renderer::new(&gpu)?;
        renderer.spreads_environment = true;
        let egui = egui_state(&window, &gpu, &proxy);
        let mut viewer = Self {
            state: State::new(config.clone()),
            proxy,
            window,
            screen,
            gpu: Arc::new(gpu),
            opened: (Instant::now(), 0),
            renderer,
            uploaded: None,
            egui,
            has_fonts: true,
            input: Input::default(),
            loading: None,
            says_preparing: false,
            preparing: None,
            environment: EnvironmentFile::default(),
            hovering: false,
            dropped: Vec::new(),
            choosing: false,
            area: Area::default(),
            shot: None,
            settle: 0,
            samples_left: 0,
            scenes: 0,
            environments: 0,
            frames: 0,
            memory: options.stats.is_some().then(MemoryLog::new),
            last_frame: Instant::now(),
            passed_secs: 0.0,
            continuous: false,
            next: Some(Instant::now()),
            save: false,
            done: false,
            options,
        };
        viewer.set_title(None);
        viewer.load(viewer.options.files.clone());
        Ok(viewer)
    }

    /// Whether the window is to be closed.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// When the event loop is to come back by itself.
    pub(super) fn pace(&mut self) -> ControlFlow {
        match self.next {
            Some(next) if next <= Instant::now() => {
                self.next = None;
                self.window.request_redraw();
                ControlFlow::Wait
            }
            Some(next) => ControlFlow::WaitUntil(next),
            None => ControlFlow::Wait,
        }
    }

    /// Draws within `delay`.
    fn draw_within(&mut self, delay: Duration) {
        let wanted = Instant::now() + delay;
        self.next = Some(self.next.map_or(wanted, |next| next.min(wanted)));
    }

    /// A thread has something to say.
    pub(super) fn wake(&mut self, wake: Wake) {
        match wake {
            Wake::Look => {}
            Wake::Open(files) => {
                self.choosing = false;
                if !files.is_empty() {
                    self.load(files);
                }
            }
            Wake::OpenEnvironment(file) => {
                self.choosing = false;
                if let Some(file) = file {
                    self.choose_environment(&file);
                }
            }
        }
        self.draw_within(Duration::ZERO);
    }

    /// Something happened to the window.
    pub(super) fn event(&mut self, event: &WindowEvent) -> Result<()> {
        let is_tab = matches!(event, WindowEvent::KeyboardInput { event, .. } if event.logical_key == Key::Named(NamedKey::Tab));
        // egui would walk through its widgets with Tab, and then keep every other key to itself.
        if !is_tab && *event != WindowEvent::RedrawRequested {
            let response = self.egui.on_window_event(&self.window, event);
            if response.repaint {
                self.draw_within(Duration::ZERO);
            }
        }
        match event {
            WindowEvent::RedrawRequested => return self.redraw_or_recover(),
            WindowEvent::CloseRequested => self.done = true,
            WindowEvent::HoveredFile(_) => self.hovering = true,
            WindowEvent::HoveredFileCancelled => self.hovering = false,
            WindowEvent::DroppedFile(path) => {
                self.hovering = false;
                self.dropped.push(path.clone());
            }
            WindowEvent::Focused(false) => self.input.release_all(),
            WindowEvent::ModifiersChanged(modifiers) => self.input.set_modifiers(modifiers.state()),
            WindowEvent::KeyboardInput {
                event,
                is_synthetic: false,
                ..
            } => self.key(event),
            WindowEvent::MouseInput { state, button, .. } => {
                let in_scene = self.is_in_scene();
                self.input.set_button(*button, *state, in_scene);
            }
            WindowEvent::CursorMoved { position, .. } => {
                let pointer = Vec2::new(position.x as f32, position.y as f32);
                let height = self.area.size[1] as f32;
                self.input.set_pointer(pointer, height, &mut self.state);
            }
            WindowEvent::MouseWheel { delta, .. } if self.is_in_scene() => {
                self.input.wheel(*delta, &mut self.state);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the pointer is over the scene, and nothing of egui's is between.
    fn is_in_scene(&self) -> bool {
        let pointer = self.input.pointer();
        let inside = (0..2).all(|axis| {
            let start = self.area.origin[axis] as f32;
            // The panel's edge can be dragged from a little outside of it.
            (start..start + self.area.size[axis] as f32 - 6.0).contains(&pointer[axis])
        });
        let context = self.egui.egui_ctx();
        let point = pointer / context.pixels_per_point();
        let layer = context.layer_id_at(egui::pos2(point.x, point.y));
        inside && layer.is_none_or(|layer| layer.order == egui::Order::Background)
    }

    fn key(&mut self, event: &KeyEvent) {
        let pressed = event.state == ElementState::Pressed;
        let is_l =
            matches!(&event.logical_key, Key::Character(text) if text.eq_ignore_ascii_case("l"));
        if is_l {
            self.input.set_sun(pressed);
        }
        let typing = self.egui.egui_ctx().egui_wants_keyboard_input();
        if let PhysicalKey::Code(code) = event.physical_key {
            self.input.set_key(code, pressed && !typing);
        }
        if !pressed || typing {
            return;
        }
        let Some(action) = keys::action(&event.logical_key, self.input.ctrl()) else {
            return;
        };
        if !event.repeat || matches!(action, Action::Cutoff(_)) {
            self.perform(action);
        }
        self.draw_within(Duration::ZERO);
    }

    fn perform(&mut self, action: Action) {
        let aspect = self.aspect();
        match self.state.perform(action, aspect, &self.options.look) {
            Some(Action::Open) => self.ask_for_files(),
            Some(Action::OpenEnvironment) => self.ask_for_environment(),
            Some(Action::Reload) => {
                self.environment.reload();
                if let Some(stage) = &self.state.stage {
                    self.load(stage.files.clone());
                }
            }
            Some(Action::Fullscreen) => {
                let full = self.window.fullscreen().is_none();
                let mode = full.then_some(Fullscreen::Borderless(None));
                self.window.set_fullscreen(mode);
            }
            Some(Action::Screenshot) => self.save = true,
            Some(Action::Leave) => self.leave(),
            Some(Action::Quit) => self.done = true,
            Some(Action::Variant(_)) => {
                if let (Some(stage), Some(uploaded)) = (&self.state.stage, &mut self.uploaded) {
                    uploaded.write_variant(&self.gpu, &stage.scene);
                }
            }
            _ => {}
        }
    }

    /// Closes what is uppermost, the window at last.
    fn leave(&mut self) {
        if let Some(loading) = self.loading.take() {
            // Its thread ends by itself; nobody has to wait for that.
            loading.cancel();
            self.state.notify("loading was cancelled");
        } else if self.state.error.take().is_some() || std::mem::take(&mut self.state.help) {
            // Closed.
        } else if self.window.fullscreen().is_some() {
            self.window.set_fullscreen(None);
        } else {
            self.done = true;
        }
    }

    /// Asks for scene files without holding up the window.
    fn ask_for_files(&mut self) {
        let dialog = rfd::AsyncFileDialog::new()
            .set_title("Open a scene")
            .add_filter("Scenes", &["gltf", "glb", "obj"])
            .set_parent(&self.window)
            .pick_files();
        self.ask(dialog, |files| {
            let files = files.unwrap_or_default();
            Wake::Open(files.iter().map(|file| file.path().to_owned()).collect())
        });
    }

    /// Asks for an environment without holding up the window.
    fn ask_for_environment(&mut self) {
        let dialog = rfd::AsyncFileDialog::new()
            .set_title("Open an environment")
            .add_filter("Environments", &scene::environment::EXTENSIONS)
            .set_parent(&self.window)
            .pick_file();
        self.ask(dialog, |file| {
            Wake::OpenEnvironment(file.map(|file| file.path().to_owned()))
        });
    }

    /// Waits on a thread for the answer of a dialog, of which there is one at a time.
    fn ask<T>(
        &mut self,
        dialog: impl Future<Output = T> + Send + 'static,
        answer: impl FnOnce(T) -> Wake + Send + 'static,
    ) {
        if std::mem::replace(&mut self.choosing, true) {
            return;
        }
        let proxy = self.proxy.clone();
        std::thread::spawn(move || {
            // The window may be gone by now.
            proxy.send_event(answer(pollster::block_on(dialog))).ok();
        });
    }

    fn choose_environment(&mut self, file: &Path) {
        match file.to_str() {
            Some(name) => self.environment.choose(name.into()),
            None => {
                let what = "the name of an environment has to be Unicode";
                self.state.error = Some(Error::scene(file, what).to_string());
            }
        }
    }

    /// Reads the environment's file that the settings name, and takes over what has been read.
    fn follow_environment(&mut self) -> Result<()> {
        let most = render::environment::most_texels(&self.gpu, &self.state.config);
        let proxy = self.proxy.clone();
        let wake = move || drop(proxy.send_event(Wake::Look));
        self.environment.follow(&self.state.config, most, wake);
        match self.environment.poll(&mut self.state.config) {
            None => Ok(()),
            Some(Ok(image)) => {
                image.warnings.iter().for_each(|line| log::warn!("{line}"));
                self.state.environment_warnings.clone_from(&image.warnings);
                let shown = self.renderer.set_environment(&self.gpu, Some(&image));
                self.environments += 1;
                shown.or_else(|error| self.report(error))
            }
            Some(Err(error)) => self.report(error),
        }
    }

    /// Starts to load `files`, in place of what is being loaded.
    fn load(&mut self, files: Vec<PathBuf>) {
        if let Some(loading) = &self.loading {
            loading.cancel();
        }
        let proxy = self.proxy.clone();
        let wake = move || drop(proxy.send_event(Wake::Look));
        let gpu = (self.gpu.clone(), self.renderer.uploader());
        let config = self.state.config.clone();
        self.loading = Some(Loading::start(files, config, gpu, wake));
    }

    /// Takes over a scene that has been loaded.
    fn poll_loading(&mut self) -> Result<()> {
        let Some(loading) = &self.loading else {
            return Ok(());
        };
        // What was loaded for a lost device is loaded again for the next one.
        if self.gpu.lost().is_some() {
            return self.gpu.check();
        }
        let Some(outcome) = loading.poll() else {
            return Ok(());
        };
        if matches!(outcome, Err(Error::Gpu(_))) && self.is_device_lost() {
            return self.gpu.check();
        }
        let files = loading.files.clone();
        self.loading = None;
        let shown = outcome.and_then(|(loaded, uploaded)| self.show(files, loaded, uploaded));
        match shown {
            Ok(()) => Ok(()),
            Err(error) => self.report(error),
        }
    }

    fn show(
        &mut self,
        files: Vec<PathBuf>,
        mut loaded: Loaded,
        uploaded: UploadedScene,
    ) -> Result<()> {
        if self.options.exit_after.is_some()
            && let Some(misfit) = loaded.misfit.take()
        {
            return Err(misfit);
        }
        for warning in &loaded.scene.warnings {
            log::warn!("{warning}");
        }
        let aspect = self.aspect();
        self.state.show(files, loaded, &self.options.look, aspect);
        self.uploaded = Some(uploaded);
        self.scenes += 1;
        let name = self.state.stage.as_ref().map(|stage| stage.name());
        self.set_title(name.as_deref());
        Ok(())
    }

    /// Shows an error, or ends with it where nobody is there to read it.
    fn report(&mut self, error: Error) -> Result<()> {
        if self.options.exit_after.is_some()
            || matches!(error, Error::Gpu(_)) && self.is_device_lost()
        {
            return Err(error);
        }
        log::error!("{error}");
        self.state.error = Some(error.to_string());
        // What was drawn of this frame does not say so.
        self.draw_within(Duration::ZERO);
        Ok(())
    }

    /// Names the scene and the adapter; that there is no GPU is not for the log alone.
    fn set_title(&self, scene: Option<&str>) {
        let scene = scene.map(|name| format!(" — {name}")).unwrap_or_default();
        let title = format!("canopy{scene} — {}", self.adapter());
        self.window.set_title(&title);
    }

    fn adapter(&self) -> String {
        let info = &self.gpu.info;
        let software = if !self.gpu.capabilities.has_gpu {
            " — software renderer"
        } else {
            ""
        };
        format!("{} ({}){software}", info.name, info.backend.to_str())
    }

    fn aspect(&self) -> f32 {
        let [width, height] = self.area.size;
        width.max(1) as f32 / height.max(1) as f32
    }

    /// Draws the window, on a new device where that of before is lost.
    fn redraw_or_recover(&mut self) -> Result<()> {
        #[cfg(debug_assertions)]
        self.lose_device_on_demand();
        if self.gpu.lost().is_some()
            && let Err(error) = self.recover()
        {
            if self.opened.1 >= LOSSES {
                return Err(error);
            }
            self.draw_within(POLL);
            return Ok(());
        }
        let outcome = self.redraw();
        if outcome.is_err() && self.is_device_lost() {
            self.draw_within(Duration::ZERO);
            return Ok(());
        }
        outcome
    }

    /// Whether what has failed did so because the device is lost, of which wgpu tells only once the queue rests.
    fn is_device_lost(&self) -> bool {
        self.gpu.wait().is_err() && self.gpu.lost().is_some()
    }

    /// For tests: the environment says in which frame of the loaded scene the device is to be lost.
    #[cfg(debug_assertions)]
    fn lose_device_on_demand(&self) {
        let frame = std::env::var("CANOPY_LOSE_DEVICE").ok();
        if frame.is_some_and(|frame| frame.parse() == Ok(self.frames) && self.opened.1 == 0) {
            self.gpu.device.destroy();
        }
    }

    /// Makes everything that was on the device anew on another one: the scene, the settings and the view are still there.
    fn recover(&mut self) -> Result<()> {
        let (opened, losses) = self.opened;
        let losses = 1 + if opened.elapsed() < LASTING {
            losses
        } else {
            0
        };
        if losses > LOSSES {
            return self.gpu.check();
        }
        self.opened = (Instant::now(), losses);
        let why = self.gpu.lost().unwrap_or_default();
        log::warn!("the GPU device was lost ({why}); canopy goes on with a new one");
        let config = &self.state.config;
        let gpu = self.screen.renew(config)?;
        self.renderer = Renderer::new(&gpu)?;
        self.renderer.spreads_environment = true;
        let image = self.environment.image();
        self.renderer.set_environment(&gpu, image.as_deref())?;
        let stage = self.state.stage.as_ref();
        let upload = |stage: &Stage| {
            let uploader = self.renderer.uploader();
            uploader.upload(&gpu, &stage.scene, config)
        };
        self.uploaded = stage.map(upload).transpose()?;
        self.preparing = None;
        self.gpu = Arc::new(gpu);
        self.has_fonts = false;
        self.shot = None;
        if let Some(loading) = &self.loading {
            self.load(loading.files.clone());
        }
        let notice = "the GPU was lost; everything has been made anew";
        self.state.notify(notice);
        Ok(())
    }

    /// Draws the window once.
    fn redraw(&mut self) -> Result<()> {
        let Some(window) = self.screen.follow_size(&self.gpu)? else {
            return Ok(());
        };
        let (environments, files): (Vec<_>, Vec<_>) = std::mem::take(&mut self.dropped)
            .into_iter()
            .partition(|path| is_environment(path));
        if !files.is_empty() {
            self.load(files);
        }
        if let Some(file) = environments.last() {
            self.choose_environment(file);
        }
        self.tick();
        let paint = self.run_ui(window);
        self.poll_loading()?;
        self.follow_environment()?;
        let vsync = self.state.config.window.vsync;
        self.screen.set_vsync(&self.gpu, vsync)?;
        let mut encoder = self.gpu.encoder("window");
        let recorded = self.record_scene(&mut encoder)?;
        self.present(encoder, &paint, recorded)?;
        if recorded {
            self.frames += 1;
        }
        self.finish_frame()
    }

    /// Lets time pass.
    fn tick(&mut self) {
        let elapsed = self.last_frame.elapsed();
        self.last_frame = Instant::now();
        if self.continuous {
            self.state.record_frame(elapsed.as_secs_f32() * 1e3);
        }
        let seconds = if self.continuous {
            elapsed.as_secs_f32().min(1.0)
        } else {
            0.0
        };
        self.passed_secs = seconds;
        if let Some(stage) = self.state.stage.as_mut().filter(|_| self.state.playing) {
            stage.advance(seconds * self.state.config.animation.speed);
        }
        self.input.fly(seconds, &mut self.state);
    }

    /// What is being loaded: names, what is being done, and the share that is done.
    fn loading_now(&self) -> Option<(String, String, f32)> {
        let scene = self.loading.as_ref().map(|loading| {
            let (stage, share) = loading.progress();
            (name_of(&loading.files), stage, share)
        });
        let environment = || {
            let name = name_of(&[self.environment.loading()?.into()]);
            Some((name, "reading the environment".into(), 0.0))
        };
        scene.or_else(environment)
    }

    /// Runs the panel and does what its buttons ask for.
    fn run_ui(&mut self, window: [u32; 2]) -> Paint {
        let input = self.egui.take_egui_input(&self.window);
        let context = self.egui.egui_ctx().clone();
        let adapter = self.adapter();
        let loading = self.loading_now();
        let preparing = self
            .preparing
            .as_ref()
            .map(|(preparing, _)| preparing.names());
        self.says_preparing = preparing.is_some();
        let stage = self.state.stage.as_mut();
        let facts = ui::Facts {
            stats: self.renderer.stats(),
            loading,
            preparing,
            dropping: self.hovering,
            exposure_ev: match stage {
                Some(_) if self.state.config.image.is_metered() => {
                    self.renderer.stats().exposure_ev
                }
                Some(stage) => stage.exposure_ev(&self.state.config, self.environment.luminance()),
                None => 0.0,
            },
            adapter: &adapter,
            has_gpu: self.gpu.capabilities.has_gpu,
            fast_rays: self.gpu.capabilities.fast_rays,
            render_scale: self.gpu.capabilities.render_scale,
            size: self.shot.as_ref().map_or([0, 0], |shot| shot.size),
        };
        let mut room = egui::Rect::NOTHING;
        let mut output = context.run_ui(input, |ui| room = ui::show(ui, &mut self.state, &facts));
        if !std::mem::replace(&mut self.has_fonts, true) {
            let image = context.fonts(|fonts| fonts.image());
            let fonts = egui::epaint::ImageDelta::full(image, egui::TextureOptions::LINEAR);
            let set = &mut output.textures_delta.set;
            set.insert(egui::TextureId::default(), [fonts].into_iter().collect());
        }
        self.egui
            .handle_platform_output(&self.window, output.platform_output);
        self.area = area(room, output.pixels_per_point, window);
        for action in std::mem::take(&mut self.state.actions) {
            self.perform(action);
        }
        Paint {
            triangles: context.tessellate(output.shapes, output.pixels_per_point),
            textures: output.textures_delta,
            pixels_per_point: output.pixels_per_point,
        }
    }

    /// Records the scene if its picture would be another one than it is.
    fn record_scene(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<bool> {
        let Some(pose) = self.state.stage.as_ref().map(|stage| stage.pose()) else {
            return Ok(false);
        };
        self.state.follow(&pose);
        let (Some(stage), Some(uploaded)) = (&mut self.state.stage, &mut self.uploaded) else {
            return Ok(false);
        };
        // The first picture has its light.
        let waits = self.environment.loading().is_some() && self.state.config.environment.is_file();
        let is_dark = self.environments == 0 && waits;
        if self.area.size.contains(&0) || is_dark {
            return Ok(false);
        }
        let bounds = stage.bounds.scene(&stage.scene, &pose);
        let viewpoint = self.state.camera.viewpoint();
        let (near, far) = viewpoint.clip_planes(bounds, self.state.camera.distance());
        let scale = match self.state.config.window.render_scale {
            0.0 => self.gpu.capabilities.render_scale,
            scale => scale,
        };
        let shot = Shot {
            scene: self.scenes,
            environment: self.environments,
            view: View {
                world_from_view: viewpoint.world_from_view,
                projection: viewpoint.projection,
                near,
                far,
            },
            clip: stage.clip,
            variant: stage.variant,
            time: stage.time,
            channel: self.state.channel,
            size: self
                .area
                .size
                .map(|side| ((side as f32 * scale).round() as u32).max(1)),
            area: self.area,
            exposure_ev: stage.exposure_ev(&self.state.config, self.environment.luminance()),
            config: self.state.config.clone(),
        };
        let counts_frames = self.options.exit_after.is_some();
        let before = self.shot.as_ref();
        let is_new = before.is_none_or(|before| before.scene != shot.scene);
        let is_metered = shot.config.image.is_metered();
        let stats = self.renderer.stats();
        if before != Some(&shot) || self.renderer.environment_is_pending() {
            self.settle = if is_metered {
                METERED_FRAMES
            } else {
                SETTLE_FRAMES
            };
            let smooths = shot.config.image.antialias != Antialias::Off;
            let sums = shot.channel == Channel::Lit && smooths && !counts_frames;
            let wanted = shot.config.window.still_samples;
            self.samples_left = if sums && wanted > 1 { wanted } else { 0 };
            // Where no samples follow, what rays find of the light from everywhere has to come together by itself.
            let occlusion = &shot.config.occlusion;
            let gathers = occlusion.sends_rays(self.gpu.capabilities.fast_rays);
            if gathers && self.samples_left == 0 {
                self.settle = self.settle.max(occlusion.history);
            }
        }
        let is_shown = is_metered && shot.channel == Channel::Lit;
        if is_shown && stats.exposure_ev != stats.exposure_target_ev {
            self.settle = self.settle.max(1);
        }
        // A picture that has come to rest is drawn anew from several samples, and shown once it has them all.
        let sample = match (self.settle, self.samples_left) {
            (0, 0) if !counts_frames => return Ok(false),
            (0, left @ 1..) => FrameSample {
                index: shot.config.window.still_samples.saturating_sub(left),
                count: shot.config.window.still_samples,
            },
            _ => FrameSample::SINGLE,
        };
        let input = FrameInput {
            scene: &stage.scene,
            pose: &pose,
            view: shot.view,
            config: &shot.config,
            exposure_ev: shot.exposure_ev,
            elapsed_secs: if is_new {
                f32::INFINITY
            } else {
                self.passed_secs
            },
            channel: shot.channel,
            size: shot.size,
        };
        if !counts_frames {
            let drawn_to = (screen::FORMAT, shot.area.size);
            let needs =
                self.renderer
                    .needs(&self.gpu, &input, &uploaded.buffers, sample.count, drawn_to);
            let preparing = self.preparing.as_ref();
            match preparing.map(|(preparing, what)| (preparing.poll(), *what == shot)) {
                // What is wanted by now has been compiled before.
                Some((None, false)) if needs.is_empty() => {}
                Some((None, _)) => return Ok(false),
                Some((Some(Err(error)), _)) => {
                    self.preparing = None;
                    self.shot = Some(shot);
                    (self.settle, self.samples_left) = (0, 0);
                    return self.report(error).map(|()| false);
                }
                Some((Some(Ok(())), _)) => self.preparing = None,
                None => {}
            }
            if !needs.is_empty() {
                let proxy = self.proxy.clone();
                let wake = move || drop(proxy.send_event(Wake::Look));
                let preparing = Preparing::start(needs, self.gpu.clone(), wake);
                self.preparing = Some((preparing, shot));
                return Ok(false);
            }
        }
        let target = self.screen.scene_view(&self.gpu, shot.area.size)?;
        if sample.count > 1 {
            self.samples_left -= 1;
        }
        self.settle = self.settle.saturating_sub(1);
        let recorded = self
            .renderer
            .record_sample(&self.gpu, encoder, &input, uploaded, sample, &target);
        self.shot = Some(shot);
        match recorded {
            Ok(()) => Ok(true),
            Err(error) => {
                (self.settle, self.samples_left) = (0, 0);
                // What was recorded before the failure must not run.
                *encoder = self.gpu.encoder("window");
                self.report(error).map(|()| false)
            }
        }
    }

    /// Composes the window and shows it.
    fn present(
        &mut self,
        mut encoder: wgpu::CommandEncoder,
        paint: &Paint,
        recorded: bool,
    ) -> Result<()> {
        // Before the first picture there is nothing to show of the scene.
        let drawn = self.uploaded.is_some() && self.shot.is_some();
        let area = drawn.then_some(self.area);
        let [r, g, b] = [0.055, 0.06, 0.068];
        let background = wgpu::Color { r, g, b, a: 1.0 };
        self.screen
            .compose(&self.gpu, &mut encoder, area, background, paint)?;
        let image = self.screen.acquire(&self.gpu)?;
        if let Some(image) = &image {
            self.screen.copy_to(&self.gpu, &mut encoder, image);
        } else {
            self.draw_within(POLL);
        }
        if recorded {
            self.renderer.submit(&self.gpu, encoder);
        } else {
            self.gpu.queue.submit([encoder.finish()]);
            self.renderer.collect(&self.gpu);
        }
        if let Some(image) = image {
            self.window.pre_present_notify();
            self.gpu.queue.present(image);
            if let Some((preparing, _)) = self.preparing.as_mut().filter(|_| self.says_preparing) {
                preparing.shown();
            }
        }
        match self.gpu.check() {
            // Nothing can be shown any more, not even the error.
            Err(error) if self.gpu.lost().is_some() => Err(error),
            Err(error) => self.report(error),
            Ok(()) => Ok(()),
        }
    }

    /// Saves the window if that was asked for, and decides when to draw again.
    fn finish_frame(&mut self) -> Result<()> {
        let last = self.options.exit_after.is_some_and(|n| self.frames >= n);
        let save = std::mem::take(&mut self.save) || (last && self.options.screenshot.is_some());
        if save {
            match self.save_window() {
                Ok(path) => self.state.notify(format!("saved {}", path.display())),
                Err(error) => self.report(error)?,
            }
        }
        self.done |= last;
        if let (Some(memory), Some(path)) = (&mut self.memory, &self.options.stats) {
            memory.tick(&self.gpu, self.frames, self.scenes);
            if last {
                memory.write(path, self.frames, self.scenes)?;
            }
        }
        let plays = self.state.playing
            && self.loading.is_none()
            && self
                .state
                .stage
                .as_ref()
                .is_some_and(|s| s.duration() > 0.0);
        let waits = self.preparing.is_none() && (self.settle > 0 || self.samples_left > 0);
        let busy = plays || waits || self.input.is_flying();
        self.continuous = busy || self.options.exit_after.is_some();
        if !self.continuous && self.preparing.is_none() {
            self.gpu.save_pipelines();
        }
        if self.continuous || save {
            self.draw_within(Duration::ZERO);
        } else if self.loading.is_some()
            || self.preparing.is_some()
            || self.environment.loading().is_some()
        {
            self.draw_within(POLL);
        }
        Ok(())
    }

    /// Writes the window to a file and says which.
    fn save_window(&self) -> Result<PathBuf> {
        let path = self.options.screenshot.clone().unwrap_or_else(picture_path);
        let (width, height, pixels) = self.screen.read(&self.gpu)?;
        output::write(&path, &output::picture::png(width, height, pixels)?)?;
        Ok(path)
    }
}

/// egui for this window; what it wants repainted later wakes the event loop.
fn egui_state(window: &Window, gpu: &Gpu, proxy: &EventLoopProxy<Wake>) -> egui_winit::State {
    let context = egui::Context::default();
    ui::set_style(&context);
    let proxy = std::sync::Mutex::new(proxy.clone());
    context.set_request_repaint_callback(move |request| {
        let proxy = proxy
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone();
        let wake = move || drop(proxy.send_event(Wake::Look));
        if request.delay.is_zero() {
            wake();
        } else if request.delay < Duration::from_secs(3600) {
            std::thread::spawn(move || {
                std::thread::sleep(request.delay);
                wake();
            });
        }
    });
    egui_winit::State::new(
        context,
        egui::ViewportId::ROOT,
        window,
        Some(window.scale_factor() as f32),
        None,
        Some(gpu.limits.max_texture_dimension_2d as usize),
    )
}

/// The scene's part of the window, in whole pixels.
fn area(room: egui::Rect, pixels_per_point: f32, window: [u32; 2]) -> Area {
    let pixel =
        |point: f32, side: u32| (point * pixels_per_point).round().clamp(0.0, side as f32) as u32;
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

/// A new name in the person's folder for pictures, or in the current one.
fn picture_path() -> PathBuf {
    let users = directories::UserDirs::new();
    let folder = users.and_then(|users| users.picture_dir().map(PathBuf::from));
    let folder = folder.filter(|folder| folder.is_dir()).unwrap_or_default();
    let since_1970 = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    folder.join(format!("canopy-{}.png", since_1970.as_millis()))
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
