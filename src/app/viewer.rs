//! The window, the GPU, and the state that features share.

use crate::{
    Error, Result,
    app::{
        camera::walker::Walker,
        compare::side::Comparing,
        deviation::{figures::DeviationStatistics, file::DeviationFile},
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
            Schedule, in_flight::InFlight, preparation::PipelineCompilation, resolution::Resolution,
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

/// Headline of the error card for a frame that failed.
pub(super) const UNDRAWN: &str = "Rendering failed";

/// The window, the GPU, and the state that features share.
pub(super) struct Viewer {
    pub(super) options: Options,
    pub(super) waker: Waker,
    pub(super) window: Arc<Window>,
    pub(super) graphics: Graphics,
    pub(super) gui: Gui,
    pub(super) state: State,
    pub(super) input: Input,
    /// The walker of walk mode.
    pub(super) walker: Walker,
    pub(super) dialogs: Dialogs,
    pub(super) schedule: Schedule,
    pub(super) sample_pace: SamplePace,
    /// The frame of the scene that the GPU works on.
    pub(super) in_flight: Option<InFlight>,
    /// Dynamic resolution while something moves.
    pub(super) resolution: Resolution,
    pub(super) loading: Option<Loading>,
    pub(super) environment: EnvironmentFile,
    pub(super) deviation: DeviationFile,
    pub(super) figures: DeviationStatistics,
    /// Side B of a comparison.
    pub(super) comparing: Comparing,
    pub(super) preparation: PipelineCompilation,
    pub(super) profiling: Profiling,
    /// The running export.
    pub(super) exporting: Option<Exporting>,
    /// The running benchmark.
    pub(super) benchmark: Option<Benchmark>,
    /// True if the last frame of the panel names the pipelines that are being compiled.
    pub(super) says_preparing: bool,
    /// True while files are dragged over the window.
    pub(super) hovering: bool,
    /// File that keeps the panel's layout between runs. `None` under [`Options::exit_after`].
    pub(super) layout_file: Option<LayoutFile>,
    /// Files that were dropped since the last frame.
    pub(super) dropped: Vec<PathBuf>,
    /// Viewport of the scene within the window.
    pub(super) area: Area,
    /// True once the scene has been drawn or has failed to draw.
    pub(super) has_drawn: bool,
    /// Number of scenes that have been shown.
    pub(super) scenes: u64,
    /// Number of environments that have been shown.
    pub(super) environments: u64,
    /// Number of surfaces that the scene has been compared with.
    pub(super) comparisons: u64,
    /// Number of times that the lab's structure was replaced or removed. Identifies the structure in
    /// `PictureKey::lab`.
    pub(super) labs: u64,
    /// Memory log for [`Options::stats`].
    pub(super) memory: Option<MemoryLog>,
    /// Part of the window to save with the next frame.
    pub(super) save: Option<Picture>,
    /// The built-in file browser while it is open.
    pub(super) browser: Option<Browser>,
    /// Files that were opened last, even if loading failed.
    pub(super) asked: Vec<PathBuf>,
    /// File that lists recent files. `None` if the list is not kept.
    pub(super) recent_file: Option<PathBuf>,
    pub(super) watches: Watches,
    /// Pending queries of frame geometry: clicks, the resting pointer and the outlines.
    pub(super) selecting: Selecting,
    /// The traced ray.
    pub(super) traced_ray: TracedRay,
    /// Renderer of the texture viewer, created with its first use.
    pub(super) texture_view: Option<TextureView>,
    /// Statistics of the BVHs.
    pub(super) counted_trees: CountedTrees,
    /// Builder of the lab's structures.
    pub(super) lab: LabBuilder,
    /// True if the GPU was polled since the last redraw was due.
    pub(super) has_polled: bool,
    /// True if the last redraw left nothing to draw or to load.
    pub(super) is_at_rest: bool,
    /// Number of window events that were handled.
    pub(super) events: u64,
    /// Queued input in order of arrival. An earlier event may have moved the keyboard focus, so the input is
    /// delivered once the panel has been drawn with the new focus.
    pub(super) waiting: VecDeque<WindowEvent>,
    /// True while the panel has not been drawn since the event that may have moved the focus.
    pub(super) awaits_panel: bool,
    pub(super) status: Option<StatusStream>,
    /// The running presentation.
    pub(super) presentation: Option<Presentation>,
    /// Confirmations by a second request: quitting with Escape, and quitting during an export.
    pub(super) leaving: Leaving,
    /// True once the window has been shown.
    pub(super) is_visible: bool,
    pub(super) done: bool,
}

impl Viewer {
    /// True if the window has to be closed.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Schedules a redraw within `delay`.
    pub(super) fn draw_within(&mut self, delay: Duration) {
        self.schedule.draw_by(Instant::now() + delay);
    }

    /// Ends the viewer. During an export it has to be requested twice.
    pub(super) fn quit(&mut self) {
        let is_sure = match self.exporting {
            Some(_) => self.leaving.gives_up_export(Instant::now()),
            None => true,
        };
        match is_sure {
            true => self.done = true,
            false => self.state.notify("an export is running: quit again to cancel it"),
        }
    }

    /// Reports an error that occurred while the scene was drawn, like [`Self::report_as`].
    pub(super) fn report(&mut self, error: impl Into<Error>) -> Result<()> {
        self.report_as(UNDRAWN, error)
    }

    /// Shows an error under a headline that names the failed operation.
    ///
    /// # Errors
    ///
    /// The error itself under a frame limit, because no user is there to read it, and a GPU error after the
    /// device was lost.
    pub(super) fn report_as(&mut self, headline: impl Into<String>, error: impl Into<Error>) -> Result<()> {
        let error = error.into();
        if self.schedule.has_frame_limit() || matches!(error, Error::Gpu(_)) && self.graphics.is_lost() {
            return Err(error);
        }
        log::error!("{error}");
        self.state.fail(headline, error.to_string());
        // The current frame was drawn without the message.
        self.draw_within(Duration::ZERO);
        Ok(())
    }

    /// Sets the title to the scene and the adapter. A software renderer has to be visible outside of the log
    /// too.
    pub(super) fn set_title(&self, scene: Option<&str>) {
        let scene = scene.map(|name| format!("{name} — ")).unwrap_or_default();
        let title = format!("{scene}canopy — {}", self.graphics.adapter());
        self.window.set_title(&title);
    }

    pub(super) fn aspect(&self) -> f32 {
        let [width, height] = self.area.size;
        width.max(1) as f32 / height.max(1) as f32
    }

    /// Starts to load `files` and cancels the current load.
    pub(super) fn load(&mut self, files: Vec<PathBuf>) {
        if let Some(loading) = &self.loading {
            loading.cancel();
        }
        let gpu = (self.graphics.gpu.clone(), self.graphics.renderer.uploader());
        let config = self.state.config.clone();
        let wake = self.waker.redraw();
        if files != self.asked {
            // The options for view, provenance and edits apply only to the first files.
            (self.options.look.view, self.options.reopens) = (None, None);
            self.options.edits = None;
        }
        self.asked.clone_from(&files);
        self.loading = Some(Loading::start(files, config, gpu, wake));
    }

    /// Adds opened files to the recent files. Files opened for a fixed number of frames are not listed,
    /// because no user opened them.
    pub(super) fn remember(&self, opened: Opened) {
        if let Some(file) = self.recent_file.as_deref() {
            recent::remember(file, opened);
        }
    }

    /// True if the pointer is over the scene and no floating panel covers it.
    pub(super) fn is_in_scene(&self) -> bool {
        let pointer = self.input.pointer();
        let is_inside = (0..2).all(|axis| {
            let start = self.area.origin[axis] as f32;
            // The panel's edge can be dragged from a few pixels outside of it.
            (start..start + self.area.size[axis] as f32 - 6.0).contains(&pointer[axis])
        });
        is_inside && !self.gui.covers(pointer)
    }
}
