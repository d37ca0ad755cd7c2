//! `canopy render`: pictures without a window.

mod args;
mod outputs;
mod stats;

pub use args::{PictureFormat, RenderArgs};

use super::{
    every_adapter,
    offscreen::{self, Moment, Offscreen},
    report::{Report, log_stage},
};
use crate::{
    Result,
    config::Config,
    gpu::profiler::Stopwatch,
    profile::{self, history::History},
    provenance::Shown,
    render::{Channel, FrameSample, FrameStats, material_textures::texture_support},
    scene::{
        compared::Compared,
        framing::Viewpoint,
        opened::{OpenedScene, Span},
    },
};
use outputs::{Output, Written, check_lights, outputs};
use stats::Times;
use std::path::{Path, PathBuf};

/// Most poses of a sequence that the first view is fitted to.
const MOST_POSES: u32 = 9;

/// Most frames of a profile: of a long sequence the last ones.
const MOST_PROFILED: usize = 100_000;

/// Draws the pictures.
///
/// # Errors
///
/// [`Error::Usage`](crate::Error::Usage) for names that cannot be written to, before any work is done; those
/// of loading and drawing.
pub fn run(args: &RenderArgs, mut config: Config, quiet: bool) -> Result<()> {
    args.apply(&mut config)?;
    let outputs = outputs(args, &config)?;
    if let Some(path) = &args.profile {
        profile::check(path)?;
    }
    every_adapter::choose(&mut config);
    let report = Report::new(quiet);
    let gpu = every_adapter::open(&report, &config)?;
    // A sequence is framed once, for all of its pictures.
    let span = Span::Sequence {
        seconds: (args.frames - 1) as f32 * config.animation.speed / config.output.fps,
        poses: args.frames.min(MOST_POSES) as usize,
    };
    let support = texture_support(&gpu);
    let opened = offscreen::load(&report, &args.files, |files, progress| {
        OpenedScene::load(files, &config, support, span, progress)
    })?;
    let (opened, look) = (opened.checked()?, args.look.look());
    let made_of = MadeOf {
        files: opened.files.clone(),
        variant: opened.variant,
    };
    report.line.stage("uploading the scene");
    let mut offscreen = report.stage("upload", "the scene to the adapter", || {
        Offscreen::new(gpu, opened, &look, config)
    })?;
    offscreen.reads = outputs.iter().map(|output| output.channel).collect();
    if offscreen.reads.contains(&Channel::Deviation) {
        let file = Path::new(&offscreen.config.deviation.file);
        let compared = report.stage("compare", "the file to measure from", || {
            Compared::load(file, &offscreen.config)
        })?;
        offscreen.set_compared(compared)?;
    }
    offscreen.profile = args.profile.is_some().then(|| History::new(MOST_PROFILED));
    let mut times = Times::default();
    let (stats, written) = draw(
        &mut offscreen,
        args,
        &outputs,
        &made_of,
        &mut times,
        &report,
    )?;
    offscreen.gpu.save_pipelines();
    if let Some(path) = &args.stats {
        stats::write(path, &offscreen, &stats, &times, args.samples.unwrap_or(1))?;
    }
    if let (Some(path), Some(history)) = (&args.profile, &offscreen.profile) {
        profile::write(path, history.frames(), &offscreen.gpu.info.name)?;
    }
    report.wrote(&written.text(offscreen.config.output.size));
    Ok(())
}

/// Draws the sequence and writes its pictures. Returns the figures of its last frame.
fn draw(
    offscreen: &mut Offscreen,
    args: &RenderArgs,
    outputs: &[Output],
    made_of: &MadeOf,
    times: &mut Times,
    report: &Report,
) -> Result<(FrameStats, Written)> {
    let animation = &offscreen.config.animation;
    let (start, step) = (
        animation.time,
        animation.speed / offscreen.config.output.fps,
    );
    let mut written = Written::default();
    let mut stats = FrameStats::default();
    let (frames, count) = (args.frames, args.samples.unwrap_or(1));
    let mut stages = Stages::default();
    report.line.stage("compiling shaders");
    for frame in 0..frames {
        let time = wrapped(offscreen, start + frame as f32 * step, frame);
        times.begin(frame, time);
        let moment = offscreen.moment(time);
        for index in 0..count {
            let sample = FrameSample::of(index, count);
            stages.compile_ms += offscreen.compile(&moment, sample)?;
            let done = u64::from(frame) * u64::from(count) + u64::from(index);
            let total = u64::from(frames) * u64::from(count);
            report
                .line
                .step(done, total, step_text([frame, frames], [index, count]));
            let drawing = Stopwatch::new();
            let drawn = offscreen.draw(&moment, sample)?;
            // The time that reading channels back takes is not the frame's.
            stats = offscreen.stats().clone();
            times.add(&drawn, &stats.passes);
            stages.draw_ms += drawing.ms();
            if (frame, index) == (0, 0) {
                check_lights(outputs, stats.lights)?;
            }
            let writing = Stopwatch::new();
            for output in outputs
                .iter()
                .filter(|output| output.is_ready(index, count))
            {
                let shown = made_of.shown(offscreen, &moment, count);
                output.write(offscreen, frame, shown, &mut written)?;
            }
            stages.write_ms += writing.ms();
        }
    }
    stages.log(frames, count);
    Ok((stats, written))
}

/// What of a scene its pictures keep.
#[derive(Debug)]
struct MadeOf {
    files: Vec<PathBuf>,
    variant: Option<usize>,
}

impl MadeOf {
    fn shown(&self, offscreen: &Offscreen, moment: &Moment, samples: u32) -> Shown<'_> {
        let view = &moment.view;
        let viewpoint = Viewpoint {
            world_from_view: view.world_from_view,
            projection: view.projection,
        };
        Shown {
            files: &self.files,
            clip: offscreen.clip,
            time: moment.time,
            variant: self.variant,
            distance: viewpoint.eye().distance(moment.bounds.center()),
            viewpoint,
            size: offscreen.config.output.size,
            samples,
        }
    }
}

/// Time in the stages of drawing.
#[derive(Debug, Default)]
struct Stages {
    compile_ms: f64,
    draw_ms: f64,
    write_ms: f64,
}

impl Stages {
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

/// "frame 3 of 60, sample 2 of 16", without what there is one of.
fn step_text([frame, frames]: [u32; 2], [sample, samples]: [u32; 2]) -> String {
    let of = |what: &str, index: u32, count: u32| format!("{what} {} of {count}", index + 1);
    match (frames, samples) {
        (1, 1) => "drawing".into(),
        (1, _) => of("sample", sample, samples),
        (_, 1) => of("frame", frame, frames),
        _ => format!(
            "{}, {}",
            of("frame", frame, frames),
            of("sample", sample, samples)
        ),
    }
}

/// The time within the clip, which starts again at its end. The first frame is at the time that was given.
fn wrapped(offscreen: &Offscreen, time: f32, frame: u32) -> f32 {
    let clip = offscreen
        .clip
        .and_then(|clip| offscreen.scene.clips.get(clip));
    let duration = clip.map_or(0.0, |clip| clip.duration_secs);
    if frame > 0 && duration > 0.0 {
        time.rem_euclid(duration)
    } else {
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_name_what_there_are_several_of() {
        assert_eq!(step_text([0, 1], [0, 1]), "drawing");
        assert_eq!(step_text([0, 1], [1, 16]), "sample 2 of 16");
        assert_eq!(step_text([2, 60], [0, 1]), "frame 3 of 60");
        let both = step_text([2, 60], [1, 16]);
        assert_eq!(both, "frame 3 of 60, sample 2 of 16");
    }
}
