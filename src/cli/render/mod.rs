//! `canopy render`: renders pictures without a window.

mod args;
mod checkpoint;
mod outputs;
mod part;
mod samples;
mod stats;
mod video;

pub use args::{Frames, PictureFormat, RenderArgs};
pub use part::Part;

use super::{
    every_adapter,
    offscreen::{self, Drawn, Moment, Offscreen},
    path_draws::PathDraws,
    report::{Report, log_stage},
    route::Route,
};
use crate::{
    Error, Result,
    config::{Config, ImageMode},
    gpu::profiler::Stopwatch,
    output::path_part::PartInfo,
    profile::{self, history::History},
    provenance::PictureInputs,
    render::{Channel, FrameStats, materials::material_textures::texture_support},
    scene::{
        Scene,
        camera_path::CameraPath,
        compared::ReferenceSurface,
        framing::Viewpoint,
        opened::{OpenedScene, Span},
        saved_edits::SavedEdits,
        timeline::LoopRange,
    },
};

use checkpoint::Checkpoint;
use outputs::{Output, Written, check_lights, outputs};
use samples::Samples;
use stats::Times;
use std::{
    collections::BTreeSet,
    io::Write as _,
    ops::Range,
    path::{Path, PathBuf},
};
use video::{Video, VideoFile};

/// Maximum number of poses of a sequence that the first view is fitted to.
const MAX_POSES: u32 = 9;

/// Maximum number of frames in a profile. A long sequence keeps the last ones.
const MAX_PROFILED: usize = 100_000;

/// Renders the pictures.
///
/// # Errors
///
/// [`Error::Usage`] if an output cannot be written, before any work is done. Any error of loading and
/// drawing.
pub fn run(mut args: RenderArgs, mut config: Config, quiet: bool) -> Result<()> {
    args.read_edits()?;
    args.files.append(&mut args.volumes);
    let args = &args;
    args.apply(&mut config)?;
    config = config.for_still();
    let size = config.output.size;
    let video = match args.format {
        None => VideoFile::wanted(&args.output, size)?,
        Some(_) => None,
    };
    let path = args.path.as_deref();
    let path = path.map(|file| CameraPath::read(file, config.camera.fov));
    let path = path.transpose()?;
    let framed = framed_frames(args, &config, path.as_ref(), video.is_some());
    let mut frames = match &args.frames {
        Some(Frames::Range(range)) => Some(range.clone()),
        _ => framed.map(|frames| 0..frames),
    };
    let outputs = outputs(args, &config, frames.as_ref().unwrap_or(&(0..2)), video.is_some())?;
    check_shares(args, &config, video.is_some())?;
    let mut paths = 0..config.paths.samples;
    let samples = Samples::new(&config, video.is_some() || framed != Some(1));
    let is_one = frames.as_ref().is_some_and(|frames| frames.len() == 1);
    let writes_part = args.part.is_some() && is_one;
    if writes_part && config.image.mode != ImageMode::Path {
        let why = "--part: a single picture can only be split by samples; add --paths N or --frames N";
        return args::usage(why.into());
    }
    match (args.part, &mut frames) {
        (Some(part), Some(frames)) if frames.len() > 1 => *frames = part.share(frames, "frames")?,
        (Some(part), _) => paths = part.share(&paths, "samples")?,
        (None, _) => {}
    }
    if args.skip_existing
        && let Some(mut frames) = frames.clone()
        && frames.all(|frame| outputs.iter().all(|output| output.is_there(frame)))
    {
        Report::new(quiet).wrote("nothing: all pictures are there");
        return Ok(());
    }
    if let Some(path) = &args.profile {
        profile::check(path)?;
    }
    let report = Report::new(quiet);
    let gpu = every_adapter::open(&report, &config)?;
    // A sequence is framed once, for all of its pictures.
    let span = framed.map_or(Span::Clip, |frames| Span::Sequence {
        seconds: (frames - 1) as f32 * config.animation.speed / config.output.fps,
        poses: frames.min(MAX_POSES) as usize,
    });
    let support = texture_support(&gpu);
    let opened = offscreen::load(&report, &args.files, |files, progress| {
        Ok(OpenedScene::load(files, &config, support, span, progress)?)
    })?;
    let (mut opened, look) = (opened.checked()?, args.look.look());
    opened.edits = args.edits_of(&opened.scene);
    let (files, variant) = (opened.files.clone(), opened.variant);
    let contents = match args.part.is_some() || args.checkpoint.is_some() {
        true => contents(&opened.scene, &config)?,
        false => 0,
    };
    report.line.stage("uploading the scene");
    let mut offscreen = report.stage("upload", "the scene to the adapter", || {
        Offscreen::new(gpu, opened, &look, config)
    })?;
    let made_of = SceneInputs {
        files,
        variant,
        edits: SavedEdits::new(&offscreen.scene, &offscreen.edits, &BTreeSet::new()),
    };
    offscreen.reads = outputs.iter().map(|output| output.channel).collect();
    if offscreen.reads.contains(&Channel::Deviation) {
        let file = Path::new(&offscreen.config.deviation.file);
        let compared = report.stage("compare", "the file to measure from", || {
            ReferenceSurface::load(file, &offscreen.config)
        })?;
        offscreen.set_compared(compared)?;
    }
    offscreen.profile = args.profile.is_some().then(|| History::new(MAX_PROFILED));
    let mut times = Times::default();
    let sequence = Sequence {
        frames: frames.unwrap_or_else(|| 0..frames_of_clip(&offscreen)),
        skips: args.skip_existing,
        route: route(&mut offscreen, args, path),
        samples,
        paths,
        part: args.part.filter(|_| writes_part).unwrap_or(Part::WHOLE),
        writes_part,
        contents,
        checkpoint: args.checkpoint.clone().map(|path| (path, args.checkpoint_every)),
        time_limit: args.time_limit,
        reports_progress: args.progress,
        made_of,
    };
    let mut video = video
        .map(|file| file.start(size, offscreen.config.output.fps))
        .transpose()?;
    let (samples, stats, mut written) = draw(
        &mut offscreen,
        &sequence,
        &outputs,
        video.as_mut(),
        &mut times,
        &report,
    )?;
    if let Some(video) = video {
        report.line.stage("encoding the video");
        let draws = sequence.frames.len() as u64 * u64::from(sequence.samples.most);
        // A reader that closes the pipe cancels the video.
        let goes_on = || match args.progress {
            true => print_progress(draws, draws),
            false => Ok(()),
        };
        let (name, bytes) = video.finish(goes_on)?;
        written.add_video(name, bytes);
    }
    offscreen.gpu.save_pipelines();
    if let Some(path) = &args.stats {
        stats::write(path, &offscreen, &stats, &times, samples)?;
    }
    if let (Some(path), Some(history)) = (&args.profile, &offscreen.profile) {
        profile::write(path, history.frames(), &offscreen.gpu.info.name)?;
    }
    report.wrote(&written.text(offscreen.config.output.size));
    Ok(())
}

/// Pictures to render.
struct Sequence {
    frames: Range<u32>,
    /// True if pictures whose files exist are skipped.
    skips: bool,
    route: Route,
    samples: Samples,
    /// Range of path samples to trace.
    paths: Range<u32>,
    /// Part that the samples belong to.
    part: Part,
    /// True if the part is written with its sums, rather than the picture.
    writes_part: bool,
    /// Hash of the contents of the scene's files and of the environment file.
    contents: u32,
    /// Checkpoint file, and the seconds between saves.
    checkpoint: Option<(PathBuf, f64)>,
    /// Time limit of path tracing per picture, in seconds.
    time_limit: Option<f64>,
    /// True if every draw is reported on standard output.
    reports_progress: bool,
    /// Provenance data of its pictures.
    made_of: SceneInputs,
}

impl Sequence {
    /// Creates the checkpoint, if there is one.
    fn checkpoint(&self) -> Option<Checkpoint> {
        let (path, every_secs) = self.checkpoint.as_ref()?;
        Some(Checkpoint::new(path.clone(), *every_secs))
    }

    /// Describes this part of the picture of `shown`, of which `held` samples have been traced.
    fn about(&self, config: &Config, frame: u32, shown: &PictureInputs<'_>, held: u32) -> PartInfo {
        let of = part::identity(config, shown, self.contents);
        let samples = (&self.paths, held, config.paths.samples);
        PartInfo::new(self.part.of(), samples, (frame, of))
    }
}

/// Returns a hash of the contents of the scene's files and of the environment file.
fn contents(scene: &Scene, config: &Config) -> Result<u32> {
    let environment = &config.environment;
    let environment = environment.is_file().then(|| Path::new(&environment.file));
    let of_scene = scene.dependencies.iter().map(PathBuf::as_path);
    part::contents(of_scene.chain(environment))
}

/// Fails if the arguments request parts, skipping or checkpoints for output that does not support them.
fn check_shares(args: &RenderArgs, config: &Config, is_video: bool) -> Result<()> {
    let is_path_traced = config.image.mode == ImageMode::Path;
    let what = if is_video && args.part.is_some() {
        "--part: a video cannot be split; write pictures with {frame} in their name"
    } else if is_video && args.skip_existing {
        "--skip-existing: a video cannot be continued; write pictures with {frame} in their name"
    } else if args.checkpoint.is_some() && !is_path_traced {
        "--checkpoint: needs --paths N"
    } else {
        return Ok(());
    };
    args::usage(what.into())
}

/// Returns the number of frames that the first view is framed for. It is the requested number, otherwise the
/// length of a camera path or an orbit, otherwise 1. Returns `None` if the length of the clip decides, for a
/// video of the clip and for a range of its frames. All ranges of a sequence are thereby framed alike.
fn framed_frames(
    args: &RenderArgs,
    config: &Config,
    path: Option<&CameraPath>,
    is_video: bool,
) -> Option<u32> {
    let fps = config.output.fps;
    let along = path.map(|path| path.frames(fps));
    let around = args
        .turntable
        .map(|seconds| (seconds * fps).round().max(1.0) as u32);
    let one = (!is_video).then_some(1);
    match args.frames {
        Some(Frames::Count(count)) => Some(count),
        Some(Frames::Range(_)) => along.or(around),
        None => along.or(around).or(one),
    }
}

/// Returns the number of frames from the start to the end of the playing part of the clip. If the clip plays
/// backwards or the start is not before that end, counts the whole part. Returns 1 if nothing plays.
fn frames_of_clip(offscreen: &Offscreen) -> u32 {
    let animation = &offscreen.config.animation;
    let range = LoopRange::new(animation, offscreen.duration_secs());
    let is_before = animation.speed > 0.0 && (0.0..range.to).contains(&animation.time);
    let from = if is_before { animation.time } else { range.from };
    let seconds = (range.to - from) / animation.speed.abs();
    match seconds.is_finite() {
        true => (seconds * offscreen.config.output.fps).round().clamp(1.0, 1e6) as u32,
        false => 1,
    }
}

/// Chooses the camera motion.
fn route(offscreen: &mut Offscreen, args: &RenderArgs, path: Option<CameraPath>) -> Route {
    match (path, args.turntable) {
        (Some(path), _) => Route::Keys(path),
        (None, None) => Route::Scene,
        (None, Some(seconds)) => {
            let moment = offscreen.moment(offscreen.config.animation.time);
            let is_clockwise = offscreen.config.camera.turntable < 0.0;
            Route::Turn {
                center: moment.bounds.center(),
                first: Viewpoint {
                    world_from_view: moment.view.world_from_view,
                    projection: moment.view.projection,
                },
                seconds: if is_clockwise { -seconds } else { seconds },
            }
        }
    }
}

/// Renders the sequence and writes its pictures. Returns the sample count of its last picture and the
/// statistics of its last frame.
fn draw(
    offscreen: &mut Offscreen,
    sequence: &Sequence,
    outputs: &[Output],
    mut video: Option<&mut Video>,
    times: &mut Times,
    report: &Report,
) -> Result<(u32, FrameStats, Written)> {
    let animation = &offscreen.config.animation;
    let (start, step) = (animation.time, animation.speed / offscreen.config.output.fps);
    let mut written = Written::default();
    let (mut samples, mut stats) = (1, FrameStats::default());
    let frames = sequence.frames.len() as u32;
    let mut checkpoint = sequence.checkpoint();
    let mut stages = Stages::default();
    report.line.stage("compiling shaders");
    for (number, frame) in (0..frames).zip(sequence.frames.clone()) {
        if sequence.skips && outputs.iter().all(|output| output.is_there(frame)) {
            written.left += 1;
            continue;
        }
        let time = time_of(offscreen, start, frame as f32 * step);
        times.begin(frame, time);
        let seconds = frame as f32 / offscreen.config.output.fps;
        let moment = offscreen.moment_from(time, sequence.route.view(seconds));
        if offscreen.reads.contains(&Channel::Lab) {
            report.line.stage("building a structure of the laboratory");
            offscreen.build_lab(&moment)?;
        }
        if offscreen.traces_paths() {
            let shown = sequence.made_of.shown(offscreen, &moment, 1);
            let mut about = sequence.about(&offscreen.config, frame, &shown, 0);
            stats = draw_paths(
                offscreen,
                sequence,
                (&moment, [number, frames]),
                (&mut about, checkpoint.as_mut()),
                outputs,
                (times, &mut stages),
                report,
            )?;
            let writing = Stopwatch::new();
            for output in outputs {
                let shown = sequence.made_of.shown(offscreen, &moment, 1);
                let part = sequence.writes_part.then_some(&about);
                output.write(offscreen, frame, shown, part, &mut written)?;
            }
            if let Some(checkpoint) = &checkpoint
                && about.held == sequence.paths.len() as u32
            {
                checkpoint.remove()?;
            }
            stages.write_ms += writing.ms();
        } else {
            (samples, stats) = draw_samples(
                offscreen,
                sequence,
                (&moment, [number, frames]),
                (frame, outputs, &mut written),
                (times, &mut stages),
                report,
            )?;
        }
        if let Some(video) = &mut video {
            let writing = Stopwatch::new();
            video.add(offscreen.picture()?)?;
            stages.write_ms += writing.ms();
        }
    }
    stages.log(frames, samples);
    Ok((samples, stats, written))
}

/// Renders the samples of a picture, and writes `outputs` as number `frame`. Returns the sample count and the
/// statistics of the last sample.
fn draw_samples(
    offscreen: &mut Offscreen,
    sequence: &Sequence,
    (moment, [number, frames]): (&Moment, [u32; 2]),
    (frame, outputs, written): (u32, &[Output], &mut Written),
    (times, stages): (&mut Times, &mut Stages),
    report: &Report,
) -> Result<(u32, FrameStats)> {
    let samples = sequence.samples;
    let mut write = |offscreen: &mut Offscreen, drawn, is_last, stages: &mut Stages| {
        let writing = Stopwatch::new();
        for output in outputs.iter().filter(|o| o.is_of_last_sample() == is_last) {
            let shown = sequence.made_of.shown(offscreen, moment, drawn);
            output.write(offscreen, frame, shown, None, written)?;
        }
        stages.write_ms += writing.ms();
        Ok::<_, Error>(())
    };
    let mut drawn = 0;
    loop {
        let sample = samples.at(drawn);
        let before = u64::from(number) * u64::from(samples.most) + u64::from(drawn);
        let total = u64::from(frames) * u64::from(samples.most);
        let text = (samples.most > 1).then(|| samples.text(drawn));
        report.line.step(before, total, step_text([number, frames], text));
        let drawing = Stopwatch::new();
        let took = offscreen.draw(moment, sample)?;
        drawn += 1;
        let is_done = samples.are_enough(offscreen, drawn)?;
        // Copied before channels are read back, because the time of the readback does not belong to the
        // frame.
        let stats = offscreen.stats().clone();
        if sequence.reports_progress {
            let is_early = is_done && drawn < samples.most;
            print_progress(before + 1, if is_early { before + 1 } else { total })?;
        }
        times.add(&took, &stats.passes);
        stages.add(&took, &drawing);
        if drawn == 1 {
            if frame == 0 {
                check_lights(outputs, stats.lights)?;
            }
            write(offscreen, drawn, false, stages)?;
        }
        if is_done {
            write(offscreen, drawn, true, stages)?;
            return Ok((drawn, stats));
        }
    }
}

/// Traces the paths of a picture. Returns the statistics of its last draw.
fn draw_paths(
    offscreen: &mut Offscreen,
    sequence: &Sequence,
    (moment, [frame, frames]): (&Moment, [u32; 2]),
    (about, mut checkpoint): (&mut PartInfo, Option<&mut Checkpoint>),
    outputs: &[Output],
    (times, stages): (&mut Times, &mut Stages),
    report: &Report,
) -> Result<FrameStats> {
    offscreen.set_path_part(sequence.paths.clone());
    let done = match &mut checkpoint {
        Some(checkpoint) => checkpoint.restore(offscreen, about)?,
        None => 0,
    };
    let wanted = sequence.paths.len() as u32;
    let mut draws = PathDraws::new(offscreen, [done, wanted], sequence.time_limit);
    let mut stats = FrameStats::default();
    while draws.goes_on() {
        let before = draws.done;
        let of_all = |done| u64::from(frame) * u64::from(wanted) + u64::from(done);
        let total = u64::from(frames) * u64::from(wanted);
        let text = (wanted > 1).then(|| format!("sample {} of {wanted}", before + 1));
        let text = step_text([frame, frames], text);
        report.line.step(of_all(before), total, text);
        let drawing = Stopwatch::new();
        let drawn = draws.draw(offscreen, moment)?;
        stats = offscreen.stats().clone();
        times.add(&drawn, &stats.passes);
        stages.add(&drawn, &drawing);
        about.held = draws.done;
        if before == 0 && about.frame == 0 {
            check_lights(outputs, stats.lights)?;
        }
        if sequence.reports_progress {
            print_progress(of_all(draws.done), total)?;
        }
        if let Some(checkpoint) = checkpoint.as_deref_mut().filter(|_| draws.done < wanted) {
            checkpoint.keep(offscreen, about, !draws.goes_on())?;
        }
    }
    stats.noise = offscreen.noise()?;
    Ok(stats)
}

/// Prints the number of finished draws for a controlling program. Fails if the pipe is closed, because then
/// nobody needs the remaining draws.
fn print_progress(done: u64, total: u64) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = writeln!(stdout, "{done}/{total}").and_then(|()| stdout.flush());
    written.map_err(|e| Error::io("standard output", e))
}

/// Scene data for the provenance of pictures.
#[derive(Debug)]
struct SceneInputs {
    files: Vec<PathBuf>,
    variant: Option<usize>,
    edits: SavedEdits,
}

impl SceneInputs {
    fn shown(&self, offscreen: &Offscreen, moment: &Moment, samples: u32) -> PictureInputs<'_> {
        let view = &moment.view;
        let viewpoint = Viewpoint {
            world_from_view: view.world_from_view,
            projection: view.projection,
        };
        PictureInputs {
            files: &self.files,
            clip: offscreen.clip,
            blend: offscreen.blend.clone(),
            time: moment.time,
            variant: self.variant,
            distance: viewpoint.eye().distance(moment.bounds.center()),
            viewpoint,
            size: offscreen.config.output.size,
            samples,
            edits: self.edits.clone(),
            hidden: offscreen.hidden.iter().copied().collect(),
        }
    }
}

/// Total time of each stage.
#[derive(Debug, Default)]
struct Stages {
    compile_ms: f64,
    draw_ms: f64,
    write_ms: f64,
}

impl Stages {
    /// Adds a draw. `drawing` measures its total time, which includes compiling.
    fn add(&mut self, drawn: &Drawn, drawing: &Stopwatch) {
        self.compile_ms += drawn.compile_ms;
        self.draw_ms += drawing.ms() - drawn.compile_ms;
    }

    fn log(&self, frames: u32, samples: u32) {
        log_stage("compile", self.compile_ms, "shaders");
        let drawn = match (frames, samples) {
            (1, 1) => "1 frame".to_owned(),
            (1, samples) => format!("{samples} samples"),
            (frames, 1) => format!("{frames} frames"),
            (frames, samples) => format!("{frames} frames of {samples} samples"),
        };
        log_stage("draw", self.draw_ms, &drawn);
        log_stage("write", self.write_ms, "encoding and writing");
    }
}

/// Formats a step such as "frame 3 of 60, sample 2 of 16". Leaves out counts of one.
fn step_text([frame, frames]: [u32; 2], sample: Option<String>) -> String {
    let of_frames = format!("frame {} of {frames}", frame + 1);
    match (frames, sample) {
        (1, None) => "drawing".into(),
        (1, Some(sample)) => sample,
        (_, None) => of_frames,
        (_, Some(sample)) => format!("{of_frames}, {sample}"),
    }
}

/// Returns the clip time `seconds` after the start, wrapped within the looping part of the clip. The first
/// frame is exactly at `start`.
fn time_of(offscreen: &Offscreen, start: f32, seconds: f32) -> f32 {
    if seconds == 0.0 {
        return start;
    }
    let animation = &offscreen.config.animation;
    let range = LoopRange::new(animation, offscreen.duration_secs());
    match range.to > range.from {
        true => range.advance(start, seconds, animation.repeat).0,
        false => start + seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_texts_name_frames_and_samples_only_if_several() {
        let sample = |until_clean| {
            Some(
                Samples {
                    most: 16,
                    until_clean,
                }
                .text(1),
            )
        };
        assert_eq!(step_text([0, 1], None), "drawing");
        assert_eq!(step_text([0, 1], sample(true)), "sample 2 of at most 16");
        assert_eq!(step_text([2, 60], None), "frame 3 of 60");
        let both = step_text([2, 60], sample(false));
        assert_eq!(both, "frame 3 of 60, sample 2 of 16");
    }
}
