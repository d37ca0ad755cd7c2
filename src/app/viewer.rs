//! The window, the GPU, and what is shown: fields that the features share.

use crate::{
    Error, Result,
    app::{
        camera::walker::Walker,
        compare::side::Comparing,
        deviation::{figures::DeviationFigures, file::DeviationFile},
        environment::file::EnvironmentFile,
        export::process::Exporting,
        files::{
            browser::Browser,
            loading::Loading,
            pictures::Picture,
            recent::{self, Opened},
            watch::Watches,
        },
        input::{leaving::Leaving, pointer::Input},
        inspect::clicks::Selecting,
        lab::model::LabBuilder,
        options::Options,
        presentation::model::Presentation,
        profile::{benchmark::Benchmark, frames::Profiling, memory::MemoryLog},
        rays::model::TracedRay,
        schedule::{
            Schedule, in_flight::InFlight, preparation::Preparation, resolution::Resolution,
            sample_pace::SamplePace,
        },
        state::State,
        trees::figures::CountedTrees,
        ui::layout::LayoutFile,
        window::{
            dialogs::Dialogs, graphics::Graphics, gui::Gui, screen::Area, status::StatusStream, wake::Waker,
        },
    },
    render::TextureView,
};
use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use winit::{event::WindowEvent, window::Window};

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
    pub(super) sample_pace: SamplePace,
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
    pub(super) has_polled: bool,
    /// True if the last redraw left nothing to draw or to load.
    pub(super) is_at_rest: bool,
    /// Events of the window that were handled.
    pub(super) events: u64,
    /// Input that has come since an event that may have moved the keyboard, in order: it belongs to whatever has the
    /// keyboard once the panel has been drawn.
    pub(super) waiting: VecDeque<WindowEvent>,
    /// Whether the panel has not been drawn since that event.
    pub(super) awaits_panel: bool,
    pub(super) status: Option<StatusStream>,
    /// The presentation while it goes on.
    pub(super) presentation: Option<Presentation>,
    /// When Escape quits.
    pub(super) leaving: Leaving,
    /// Whether the window has been shown.
    pub(super) is_visible: bool,
    pub(super) done: bool,
}

impl Viewer {
    /// Whether the window is to be closed.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Draws within `delay`.
    pub(super) fn draw_within(&mut self, delay: Duration) {
        self.schedule.draw_by(Instant::now() + delay);
    }

    /// Ends the viewer. Where an export goes on, it has to be asked twice.
    pub(super) fn quit(&mut self) {
        let is_sure = match self.exporting {
            Some(_) => self.leaving.gives_up_export(Instant::now()),
            None => true,
        };
        match is_sure {
            true => self.done = true,
            false => self.state.notify("an export goes on: quit again to end it"),
        }
    }

    /// As [`Self::report_as`], for what happens while the scene is drawn.
    pub(super) fn report(&mut self, error: impl Into<Error>) -> Result<()> {
        self.report_as(UNDRAWN, error)
    }

    /// Shows an error under a headline that says what failed, or returns it where nobody is there to read it.
    pub(super) fn report_as(&mut self, headline: impl Into<String>, error: impl Into<Error>) -> Result<()> {
        let error = error.into();
        if self.schedule.counts_frames() || matches!(error, Error::Gpu(_)) && self.graphics.is_lost() {
            return Err(error);
        }
        log::error!("{error}");
        self.state.fail(headline, error.to_string());
        // This frame was drawn without the message.
        self.draw_within(Duration::ZERO);
        Ok(())
    }

    /// Names the scene and the adapter: that it is a software renderer has to be seen outside of the log too.
    pub(super) fn set_title(&self, scene: Option<&str>) {
        let scene = scene.map(|name| format!("{name} — ")).unwrap_or_default();
        let title = format!("{scene}canopy — {}", self.graphics.adapter());
        self.window.set_title(&title);
    }

    pub(super) fn aspect(&self) -> f32 {
        let [width, height] = self.area.size;
        width.max(1) as f32 / height.max(1) as f32
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

    /// Lists what was opened among the recent files. Not what is opened for a count of frames: that is no
    /// person.
    pub(super) fn remember(&self, opened: Opened) {
        if let Some(file) = self.recent_file.as_deref() {
            recent::remember(file, opened);
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
}
