//! Benchmark of the profiler panel. It renders the playing clip once, or a rotation around the scene, frame
//! by frame however long each takes. Its report is an HTML page.

use crate::app;
use crate::{
    app::{
        files::{pictures, unsaved::Unsaved},
        profile::benchmark::Benchmark,
        viewer::Viewer,
    },
    profile::{history::Frame, html},
};

/// Number of frames of a full rotation around the scene.
const TURN: u32 = 120;
/// Orbit step per frame, where 1 is 180°.
const STEP: glam::Vec2 = glam::Vec2::new(2.0 / TURN as f32, 0.0);
/// Maximum number of frames of a clip.
const MAX_FRAMES: f32 = 600.0;

/// Starts a benchmark of the clip if one plays, or else of a rotation. Cancels a running benchmark.
pub(in crate::app) fn toggle(viewer: &mut Viewer) {
    if viewer.benchmark.is_some() {
        end(viewer);
        viewer.state.notify("benchmark cancelled");
        return;
    }
    let Some(stage) = &mut viewer.state.stage else {
        return viewer.state.notify("there is no scene to measure");
    };
    let plays = viewer.state.playback.playing && stage.duration() > 0.0;
    let fps = plays.then_some(viewer.state.config.output.fps);
    viewer.benchmark = Some(Benchmark {
        done: 0,
        frames: fps.map_or(TURN, |fps| {
            (stage.duration() * fps).ceil().clamp(1.0, MAX_FRAMES) as u32
        }),
        fps,
        camera: viewer.state.camera,
        time: stage.time,
        playing: viewer.state.playback.playing,
    });
    // The first frame must differ from the shown picture, or it would not be drawn.
    match fps {
        Some(fps) if stage.time == 0.0 => stage.time = 0.5 / fps,
        Some(_) => stage.time = 0.0,
        None => viewer.state.orbit(STEP),
    }
    viewer.state.playback.playing = false;
    viewer
        .state
        .profile
        .profiler
        .clear(&mut viewer.state.profile.history);
    viewer.state.notify("running the benchmark");
}

/// Advances the benchmark after a redraw. A recorded frame leads to the next one, and the last frame to the
/// report.
pub(in crate::app) fn step(viewer: &mut Viewer, is_recorded: bool) {
    let Some(benchmark) = viewer.benchmark.as_mut().filter(|_| is_recorded) else {
        return;
    };
    benchmark.done += 1;
    if benchmark.done < benchmark.frames {
        match (benchmark.fps, &mut viewer.state.stage) {
            (Some(fps), Some(stage)) => {
                let time = benchmark.done as f32 / fps;
                stage.time = time.min(stage.duration());
            }
            _ => viewer.state.orbit(STEP),
        }
        return;
    }
    let what = match benchmark.fps {
        Some(_) => "the clip",
        None => "a rotation around the scene",
    };
    let frames = benchmark.frames as usize;
    end(viewer);
    report(viewer, what, frames);
}

/// Ends the benchmark. Restores the camera, the time and the playback.
fn end(viewer: &mut Viewer) {
    let Some(benchmark) = viewer.benchmark.take() else {
        return;
    };
    viewer.state.camera = benchmark.camera;
    viewer.state.playback.playing = benchmark.playing;
    if let Some(stage) = &mut viewer.state.stage {
        stage.time = benchmark.time;
    }
}

/// Saves the report on the last frames at a path that the user chooses.
fn report(viewer: &mut Viewer, what: &str, frames: usize) {
    app::profile::task::wait_for_timings(viewer);
    let name = viewer.picture_name();
    let scene = viewer.state.stage.as_ref().map(|stage| stage.name());
    let [width, height] = viewer.schedule.size();
    let mut facts = vec![
        ("scene", scene.unwrap_or_default()),
        ("path", what.to_owned()),
        ("last frame", format!("{width} × {height} pixels")),
    ];
    facts.extend(html::facts_of(&viewer.graphics.gpu));
    let settings = viewer.state.config.not_default().into_iter();
    let report = html::Report {
        title: format!("canopy: {name}"),
        facts,
        settings: settings.map(|(key, value)| (key, value.to_string())).collect(),
    };
    let history = viewer.state.profile.history.frames();
    let measured = history.range(history.len().saturating_sub(frames)..);
    let path = pictures::new_path(&name, "html");
    let page = html::text(&report, measured.clone());
    let mut times: Vec<f64> = measured.map(Frame::frame_ms).collect();
    times.sort_by(f64::total_cmp);
    let median_ms = crate::profile::table::percentile(&times, 0.5);
    app::files::save::ask_to_save(
        viewer,
        Unsaved {
            what: "the report",
            bytes: page.into_bytes(),
            note: format!("median {median_ms:.1} ms a frame; "),
            fallback_path: path,
        },
    );
}
