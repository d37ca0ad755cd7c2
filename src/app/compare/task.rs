//! Runs the comparison: loads side B, draws it beside A, and composes both.

use crate::{
    Error, Result,
    app::{
        compare::{
            costs,
            model::{LINE_REACH, Mode, SavedPicture, SideB},
            side::{Pipelines, Plan, Side, Source, renderer_state},
        },
        feature::Feature,
        files::loading::Loading,
        schedule::{
            Activity, PictureKey, Scales, Schedule, Wakeup,
            in_flight::{FrameTimes, GPU_POLL, InFlight},
            of_picture,
        },
        state::Stage,
        viewer::Viewer,
        window::{graphics::Graphics, screen::Area},
    },
    config::Config,
    gpu::PipelineSet,
    render::{self, Attempt, Renderer, View, layout::CompareParams, present::compare::placed},
    scene::{Pose, is_stdin, picture::Picture},
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use winit::event::{ElementState, MouseButton};

/// Headline of errors of side B.
const FAILED: &str = "Side B cannot be shown";

/// Interval at which a pending readback of the errors is polled.
const AGAIN: Duration = Duration::from_millis(20);

/// Feature that loads and drops side B.
pub(in crate::app) struct CompareFeature;

impl Feature for CompareFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        follow(viewer)
    }

    fn device_lost(&self, viewer: &mut Viewer) -> Result<()> {
        reset(viewer);
        Ok(())
    }
}

/// Drops B after the device was lost or shaders have changed. The next frame rebuilds it.
pub(in crate::app) fn reset(viewer: &mut Viewer) {
    viewer.comparing.holds_a = None;
    drop_side(viewer);
}

/// Starts the comparison of the command line, once. The scene of A must have been shown.
pub(in crate::app) fn begin(viewer: &mut Viewer) -> Result<()> {
    let Some(options) = viewer.options.compare.take() else {
        return Ok(());
    };
    let (compare, config) = (&mut viewer.state.compare, &viewer.state.config);
    let mut begun = match &options.file {
        Some(file) => compare.open(file, config),
        None => Ok(()),
    };
    for text in &options.with {
        begun = begun.and_then(|()| compare.set(config, text));
    }
    begun.or_else(|error| end(viewer, error))
}

/// Compares with a copy of the current picture.
pub(in crate::app) fn with_picture(viewer: &mut Viewer) -> Result<()> {
    let Some((width, height, pixels)) = viewer.graphics.screen.read_picture(&viewer.graphics.gpu)? else {
        viewer.state.notify("nothing to keep as B: no scene is shown yet");
        return Ok(());
    };
    let picture = Picture::from_rgba8([width, height], &pixels);
    let name = "earlier picture".into();
    let saved = Arc::new(SavedPicture { name, picture });
    viewer.state.compare.begin(SideB::Picture(saved));
    viewer.state.notify("comparing with the current picture");
    Ok(())
}

/// Compares with a picture or scene file that the user has dropped or chosen. Shows an error if that fails.
pub(in crate::app) fn with_file(viewer: &mut Viewer, file: &std::path::Path) {
    let begun = viewer.state.compare.open(file, &viewer.state.config);
    if let Err(error) = begun {
        viewer.state.fail(FAILED, error.to_string());
    }
}

/// Ends the comparison because of `error`.
fn end(viewer: &mut Viewer, error: Error) -> Result<()> {
    viewer.state.compare.end();
    drop_side(viewer);
    viewer.report_as(FAILED, error)
}

/// Drops all GPU resources of B, and cancels loading it.
fn drop_side(viewer: &mut Viewer) {
    if let Some((_, loading)) = &viewer.comparing.loading {
        loading.cancel();
    }
    // The finished picture of A was held back for B.
    if let Some(shown) = viewer.comparing.holds_a.take() {
        viewer.graphics.screen.show_next_picture();
        viewer.selecting.shown = Some(shown);
    }
    viewer.comparing.drop_side();
}

/// Grabs the dividing line when the left button is pressed near it, and lets go when the button is released.
/// Returns true if the event concerned the line.
pub(in crate::app) fn hold_line(viewer: &mut Viewer, button: MouseButton, state: ElementState) -> bool {
    if button != MouseButton::Left {
        return false;
    }
    if state == ElementState::Released {
        return std::mem::take(&mut viewer.state.compare.is_held);
    }
    let reach = LINE_REACH * viewer.window.scale_factor() as f32;
    let compare = &viewer.state.compare;
    let (at, side) = along_line(viewer);
    let is_near = (at - compare.line * side).abs() <= reach;
    let is_held = compare.has_line() && is_near && viewer.is_in_scene();
    viewer.state.compare.is_held = is_held;
    is_held
}

/// Moves the held line to the mouse.
pub(in crate::app) fn drag_line(viewer: &mut Viewer) {
    if viewer.state.compare.is_held {
        let (at, side) = along_line(viewer);
        viewer.state.compare.line = (at / side.max(1.0)).clamp(0.0, 1.0);
        viewer.draw_within(Duration::ZERO);
    }
}

/// Returns the distance in pixels of the mouse from the left or upper edge of the viewport, across the
/// dividing line, and the viewport's width or height.
fn along_line(viewer: &Viewer) -> (f32, f32) {
    let axis = usize::from(viewer.state.compare.is_horizontal);
    let at = viewer.input.pointer()[axis] - viewer.area.origin[axis] as f32;
    (at, viewer.area.size[axis] as f32)
}

/// Loads, updates or drops side B as the comparison requires, and passes measurements to the panel.
pub(in crate::app) fn follow(viewer: &mut Viewer) -> Result<()> {
    if let Err(error) = follow_side(viewer) {
        return end(viewer, error);
    }
    let told = &mut viewer.state.compare.figures;
    let before = (told.is_shown, told.costs);
    told.is_shown = viewer.comparing.shown().is_some();
    let gpu = &viewer.graphics.gpu;
    told.is_gpu_time = gpu.capabilities.timestamps && gpu.capabilities.has_gpu;
    let side = viewer.comparing.side.as_ref();
    told.costs = costs::comparable([
        viewer.comparing.costs.cost(),
        side.and_then(|side| side.costs.cost()),
    ]);
    // The panel of this frame shows the previous values, so another frame must follow.
    let mut has_news = (told.is_shown, told.costs) != before;
    if let Some(errors) = viewer.comparing.collect(gpu) {
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
        viewer.draw_within(Duration::ZERO);
    }
    Ok(())
}

fn follow_side(viewer: &mut Viewer) -> Result<()> {
    let scene = match viewer.state.compare.other() {
        None => {
            if viewer.comparing.shown().is_some()
                || viewer.comparing.side.is_some()
                || viewer.comparing.loading.is_some()
            {
                drop_side(viewer);
            }
            return Ok(());
        }
        Some(SideB::Picture(saved)) => {
            let saved = saved.clone();
            if viewer.comparing.side.is_some() || viewer.comparing.loading.is_some() {
                drop_side(viewer);
            }
            return viewer.comparing.show_picture(&viewer.graphics.gpu, &saved);
        }
        Some(SideB::Scene(scene)) => scene,
    };
    let Some(stage) = &viewer.state.stage else {
        return Ok(());
    };
    let config = scene.config(&viewer.state.config);
    let is_same = scene.files.as_ref().is_none_or(|files| *files == stage.files);
    let files = scene.files.clone().unwrap_or_else(|| stage.files.clone());
    if let Some(stdin) = files.iter().find(|file| is_stdin(file)) {
        let what = "standard input can be read only once, so it cannot be on both sides";
        return Err(Error::scene(stdin, what));
    }
    viewer.comparing.drop_picture();
    let source = Source {
        files,
        load: config.load.clone(),
        code_bits: config.tree.code_bits,
        anisotropy: config.image.anisotropy,
        scene: is_same.then_some(viewer.scenes),
    };
    let is_there = viewer
        .comparing
        .side
        .as_ref()
        .is_some_and(|side| side.source == source);
    let loading = viewer.comparing.loading.as_ref();
    let is_coming = loading.is_some_and(|(coming, _)| *coming == source);
    if !is_there && !is_coming {
        drop_side(viewer);
        let gpu = viewer.graphics.gpu.clone();
        let uploader = viewer.graphics.renderer.uploader();
        let (files, wake) = (source.files.clone(), viewer.waker.redraw());
        let loading = Loading::start(files, config.clone(), (gpu, uploader), wake);
        viewer.comparing.loading = Some((source, loading));
    }
    take_loaded(viewer, &config)?;
    let wake = viewer.waker.redraw();
    let Some(side) = &mut viewer.comparing.side else {
        return Ok(());
    };
    side.stage.set_up_axis(config.scene.up);
    let shown = viewer.state.stage.as_ref().and_then(|stage| stage.variant);
    let now = side.stage.variant;
    let variant = match viewer.state.compare.scene() {
        Some(scene) => scene.variant(&side.stage.scene, (is_same, shown), now)?,
        None => now,
    };
    if now != variant {
        side.stage.scene.choose_variant(variant);
        side.stage.variant = variant;
        side.uploaded
            .write_variant(&viewer.graphics.gpu, &side.stage.scene);
    }
    let compared = viewer.graphics.renderer.compared();
    if side.renderer.compared().map(Arc::as_ptr) != compared.map(Arc::as_ptr) {
        side.renderer.set_compared(compared.cloned());
    }
    let gpu = &viewer.graphics.gpu;
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

/// Makes the scene of B the shown one once it is loaded.
fn take_loaded(viewer: &mut Viewer, config: &Config) -> Result<()> {
    let Some((_, loading)) = &viewer.comparing.loading else {
        return Ok(());
    };
    let Some(outcome) = loading.poll() else {
        return Ok(());
    };
    let Some((source, _)) = viewer.comparing.loading.take() else {
        return Ok(());
    };
    let (opened, uploaded) = outcome?;
    let gpu = &viewer.graphics.gpu;
    let mut renderer = Renderer::with_uploader(gpu, viewer.graphics.renderer.uploader())?;
    renderer.spreads_environment = true;
    let stage = Stage::new(source.files.clone(), opened, config.animation.time);
    viewer.comparing.scenes += 1;
    let number = viewer.comparing.scenes;
    let schedule = Schedule::new(viewer.options.exit_after, Instant::now());
    let side = Side::new(source, renderer, (stage, uploaded), schedule, number);
    viewer.comparing.side = Some(Box::new(side));
    viewer.graphics.renderer.reset_history();
    viewer.draw_within(Duration::ZERO);
    Ok(())
}

/// True if a run with a fixed number of frames has to wait until B is loaded, because each of its frames
/// shows both sides.
pub(in crate::app) fn awaits_side(viewer: &Viewer) -> bool {
    let is_scene = viewer.state.compare.scene().is_some();
    let waits = viewer.options.compare.is_some() || is_scene && viewer.comparing.side.is_none();
    viewer.schedule.has_frame_limit() && waits
}

/// Returns the key, the pose and the settings of the picture of B that belongs to the picture `a`. `None` if
/// B is not a scene or cannot be drawn yet.
fn side_picture(viewer: &mut Viewer, a: &PictureKey) -> Option<(PictureKey, Arc<Pose>, Config)> {
    let config = viewer.state.compare.drawn(&viewer.state.config).1?;
    let side = viewer.comparing.side.as_mut()?;
    let is_read = side.environments > 0 || side.environment.loading().is_none();
    if config.environment.is_file() && !is_read {
        return None;
    }
    let is_same = side.source.scene.is_some();
    let clips = side.stage.scene.clips.len();
    side.stage.clip = a.clip.filter(|clip| *clip < clips);
    side.stage.blend = match is_same {
        true => a.blend.clone(),
        // Another file has its own clips and morph targets.
        false => Arc::default(),
    };
    side.stage.time = a.time;
    side.stage.hidden = match is_same {
        true => a.hidden.clone(),
        false => Arc::default(),
    };
    let pose = side.stage.shared_pose();
    let bounds = side.stage.bounds.scene(&side.stage.scene, &pose);
    let (viewpoint, focus) = viewer.state.viewpoint(bounds);
    let ground = side.stage.ground(config.scene.ground);
    let luminance = side.environment.luminance(&config);
    let exposure_ev = side.stage.exposure_ev(&config, luminance);
    let picture = PictureKey {
        scene: side.number,
        environment: side.environments,
        view: View::new(&viewpoint, bounds, focus, ground.as_ref()),
        clip: side.stage.clip,
        blend: side.stage.blend.clone(),
        variant: side.stage.variant,
        counts_intersections: false,
        edit_count: side.stage.edit_count,
        exposure_ev,
        config: of_picture(&config, &viewer.state.edits.initial),
        ..a.clone()
    };
    Some((picture, pose, config))
}

/// Plans the frame of B that belongs to the picture `a`. `None` if the shown picture of B stays.
pub(in crate::app) fn plan_side(
    viewer: &mut Viewer,
    a: &PictureKey,
    scales: Scales,
    now: Instant,
) -> Option<Plan> {
    let (picture, pose, config) = side_picture(viewer, a)?;
    let side = viewer.comparing.side.as_mut()?;
    let gpu = &viewer.graphics.gpu;
    // The noise estimate may arrive after its frame is done, when no other frame follows to collect it.
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

/// Returns the pipelines that are missing for the frame of B. An error ends the comparison.
pub(in crate::app) fn side_pipelines(viewer: &mut Viewer, plan: &Plan, now: Instant) -> Result<PipelineSet> {
    let gpu = viewer.graphics.gpu.clone();
    let Some(side) = &mut viewer.comparing.side else {
        return Ok(PipelineSet::default());
    };
    match side.pipelines(&gpu, plan, now) {
        Ok(missing) => Ok(missing),
        Err(error) => end(viewer, error).map(|()| PipelineSet::default()),
    }
}

/// Records the frame of B, or returns the missing pipelines. `beside` is true if a frame of A has just been
/// recorded. An error ends the comparison.
pub(in crate::app) fn record_side(
    viewer: &mut Viewer,
    plan: &Plan,
    beside: bool,
    now: Instant,
) -> Result<PipelineSet> {
    let gpu = viewer.graphics.gpu.clone();
    let Some(side) = &mut viewer.comparing.side else {
        return Ok(PipelineSet::default());
    };
    // Frames recorded together use the same sample index, so that their noise is the same. Without a frame of
    // A, the index must advance on its own, or the history of B would not converge.
    side.renderer.sample_index_override = beside.then(|| viewer.graphics.renderer.sampled());
    let pipelines = match viewer.schedule.has_frame_limit() {
        true => Pipelines::Compile,
        false => Pipelines::Require,
    };
    let encoder = match side.record(&gpu, plan, now, pipelines) {
        Ok(Attempt::Whole(encoder)) => encoder,
        Ok(Attempt::Missing(missing)) => return Ok(missing),
        Err(error) => return end(viewer, error).map(|()| PipelineSet::default()),
    };
    let is_split = side.renderer.budget.in_parts && !viewer.schedule.has_frame_limit();
    let frame = InFlight::new(plan.picture.clone(), plan.frame, is_split, now);
    viewer.comparing.recorded = Some((frame, encoder));
    Ok(PipelineSet::default())
}

/// Submits the recorded frame of B as a whole. If `is_split`, it only queues the parts of the frame, which
/// run after the window and the parts of A.
pub(in crate::app) fn submit_side(viewer: &mut Viewer, is_split: bool) {
    let Some((mut frame, encoder)) = viewer.comparing.recorded.take() else {
        return;
    };
    let Some(side) = &mut viewer.comparing.side else {
        return;
    };
    let gpu = &viewer.graphics.gpu;
    frame.is_split = is_split;
    if is_split {
        side.renderer.finish(encoder);
    } else {
        side.renderer.submit(gpu, encoder);
        frame.submitted_whole(gpu, Instant::now());
        if frame.frame.is_shown {
            side.show_next_picture();
            viewer.comparing.is_stale = true;
        }
    }
    side.in_flight = Some(frame);
}

/// Polls the frame of B. It is called once the frame of A is done. Returns when to poll again, or `None` if B
/// has no frame or it is finished.
pub(in crate::app) fn poll_side(viewer: &mut Viewer) -> Option<Instant> {
    let Graphics { screen, gpu, .. } = &mut viewer.graphics;
    let side = viewer.comparing.side.as_mut()?;
    let in_flight = side.in_flight.as_mut()?;
    in_flight.begin(Instant::now());
    let timed_frames = side.renderer.stats().timed_frames;
    let Some(wall_ms) = in_flight.poll(gpu, &mut side.renderer, &mut side.part_times) else {
        if gpu.lost().is_some() {
            viewer.draw_within(Duration::ZERO);
            return None;
        }
        return Some(Instant::now() + GPU_POLL);
    };
    let times = FrameTimes::of(gpu, &mut side.renderer, timed_frames, wall_ms);
    if let Some(ms) = times.cost_ms {
        let picture = &in_flight.picture;
        let size = in_flight.size();
        side.costs.add(picture, size, ms.into());
    }
    side.wall_ms = Some(wall_ms);
    let (is_split, is_shown) = (in_flight.is_split, in_flight.frame.is_shown);
    side.in_flight = None;
    if is_split && is_shown {
        side.show_next_picture();
        viewer.comparing.is_stale = true;
    }
    if is_split && let Some(shown) = viewer.comparing.holds_a.take() {
        screen.show_next_picture();
        viewer.selecting.shown = Some(shown);
    }
    viewer.draw_within(Duration::ZERO);
    None
}

/// True if a frame of B is in flight.
pub(in crate::app) fn draws_side(viewer: &Viewer) -> bool {
    let side = viewer.comparing.side.as_ref();
    side.is_some_and(|side| side.in_flight.is_some())
}

/// Returns true if no frame of B is in flight, so that the next one may be recorded. A frame at rest that
/// does not belong to the picture `a` is aborted.
pub(in crate::app) fn drop_outdated_side(viewer: &mut Viewer, a: &PictureKey) -> Result<bool> {
    if !draws_side(viewer) {
        return Ok(true);
    }
    let wanted = side_picture(viewer, a).map(|(picture, ..)| picture);
    let Some(side) = &mut viewer.comparing.side else {
        return Ok(true);
    };
    let is_outdated = |drawn: &InFlight| drawn.frame.is_still && Some(&drawn.picture) != wanted.as_ref();
    if !side.in_flight.as_ref().is_some_and(is_outdated) {
        return Ok(false);
    }
    side.in_flight = None;
    side.schedule.cancel();
    side.renderer.cancel(&viewer.graphics.gpu, &mut side.uploaded)?;
    Ok(true)
}

/// Ends a redraw of the window for B, and schedules the next one if B needs it.
pub(in crate::app) fn finish_side(viewer: &mut Viewer, activity: Activity) {
    let now = Instant::now();
    if viewer.comparing.is_measured {
        viewer.schedule.draw_by(now + AGAIN);
    }
    let Some(side) = &mut viewer.comparing.side else {
        return;
    };
    side.schedule.finish(activity, now);
    match side.schedule.wakeup(now) {
        Wakeup::Draw => viewer.schedule.draw_by(now),
        Wakeup::At(time) => viewer.schedule.draw_by(time),
        Wakeup::Event => {}
    }
}

/// Returns the parameters that compose both sides in `area`. `None` if either side has no picture.
pub(in crate::app) fn composition(viewer: &Viewer, area: Area) -> Option<CompareParams> {
    let compare = &viewer.state.compare;
    compare.other()?;
    let a = viewer.graphics.screen.picture()?;
    let b = viewer.comparing.shown()?;
    if area.size.contains(&0) {
        return None;
    }
    let (scale_a, offset_a) = placed([a.width(), a.height()], area.size);
    let (scale_b, offset_b) = placed(b.size(), area.size);
    let along = area.size[usize::from(compare.is_horizontal)] as f32;
    let stats = viewer.graphics.renderer.stats();
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
        b_exposure: match viewer.comparing.is_radiance() {
            true => stats.exposure_ev.exp2(),
            false => 0.0,
        },
        b_curve: match compare.is_untoned {
            true => 0,
            false => viewer.state.config.image.tonemap as u32,
        },
        ..CompareParams::default()
    })
}
