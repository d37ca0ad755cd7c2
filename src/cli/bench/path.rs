//! `canopy bench path`: every frame of a clip, of a camera path, or of an orbit around the scene.

use super::{
    report::{Column, Format, Run, Stage},
    session::Session,
    timing::check_timestamps,
};
use crate::{
    Error, Result,
    cli::{bench::args::BenchArgs, offscreen::Offscreen, route::Route},
    output,
    profile::{
        history::{Frame, History},
        html,
        table::{Row, Summary, Table},
        text,
    },
    render::{FrameSample, materials::material_textures::texture_support},
    scene::{
        Progress,
        camera_path::CameraPath,
        framing::{Look, Viewpoint},
        opened::{OpenedScene, Span},
    },
};

use serde_json::{Value, json};

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("name", "name", Format::Text),
    ("path", "path", Format::Text),
    ("triangles", "triangles", Format::Count),
    ("frames", "samples", Format::Count),
    ("min ms", "gpu_ms/min", Format::Ms),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("p95 ms", "gpu_ms/p95", Format::Ms),
    ("p99 ms", "gpu_ms/p99", Format::Ms),
    ("max ms", "gpu_ms/max", Format::Ms),
    ("CPU ms", "cpu_ms/median", Format::Ms),
];

/// Number of frames of an orbit.
const TURN: u32 = 120;

/// Returns the name of a route in reports.
fn route_name(route: &Route) -> &'static str {
    match route {
        Route::Scene => "clip",
        Route::Keys(_) => "keys",
        Route::Turn { .. } => "turn",
    }
}

/// Renders every frame once and reports the time of each.
pub(super) fn run(session: &mut Session<'_>) -> Result<()> {
    let args = session.args;
    let software: [u32; 2] = [640, 360];
    let size = if session.software { software } else { [1920, 1080] };
    let mut config = session.config.clone();
    config.output.size = args.size.unwrap_or(size);
    if let Some(clip) = &args.clip {
        config.set("--clip", "animation.clip", clip.as_str())?;
    }
    if let Some(fps) = args.fps {
        config.set("--fps", "output.fps", fps)?;
    }
    if let Some(file) = &args.output {
        output::extension(file, &["html"])?;
        output::check_writable(file)?;
    }
    let keys = args.path.as_deref();
    let keys = keys.map(|file| CameraPath::read(file, config.camera.fov));
    let keys = keys.transpose()?;
    let gpu = crate::device::open(&config.gpu)?;
    check_timestamps(&gpu)?;
    let progress = Progress::default();
    let opened = OpenedScene::load(&args.files, &config, texture_support(&gpu), Span::Clip, &progress)?;
    let mut offscreen = Offscreen::new(gpu, opened.checked()?, &Look::default(), config)?;
    let fps = offscreen.config.output.fps;
    let clip_secs = offscreen.duration_secs();
    let start = offscreen.config.animation.time;
    let moment = offscreen.moment(start);
    let route = match (keys, &args.clip) {
        (Some(path), _) => Route::Keys(path),
        (None, Some(_)) if clip_secs > 0.0 => Route::Scene,
        (None, Some(clip)) => {
            let what = format!("--clip {clip}: the scene has no clip with a duration");
            return Err(Error::Usage(what));
        }
        (None, None) => Route::Turn {
            center: moment.bounds.center(),
            seconds: args.frames.unwrap_or(TURN).max(1) as f32 / fps,
            first: Viewpoint {
                world_from_view: moment.view.world_from_view,
                projection: moment.view.projection,
            },
        },
    };
    let whole = match &route {
        Route::Scene => (clip_secs * fps).ceil() as u32,
        Route::Keys(path) => (path.duration_secs() * fps).floor() as u32 + 1,
        Route::Turn { .. } => TURN,
    };
    let frames = args.frames.unwrap_or(whole).max(1);
    let moment_of = |offscreen: &mut Offscreen, frame: u32| {
        let seconds = frame as f32 / fps;
        let time = start + seconds * offscreen.config.animation.speed;
        let time = match frame > 0 && clip_secs > 0.0 {
            true => time.rem_euclid(clip_secs),
            false => time,
        };
        offscreen.moment_from(time, route.view(seconds))
    };
    for _ in 0..args.warm_up().max(1) {
        let moment = moment_of(&mut offscreen, 0);
        offscreen.draw(&moment, FrameSample::SINGLE)?;
    }
    offscreen.profile = Some(History::new(frames as usize));
    let mut progress = session.progress(frames as usize);
    for frame in 0..frames {
        progress.step("frame");
        let moment = moment_of(&mut offscreen, frame);
        offscreen.draw(&moment, FrameSample::SINGLE)?;
    }
    drop(progress);
    report(session, &offscreen, &route)
}

/// Adds the run to the suite's report, and writes the page.
fn report(session: &mut Session<'_>, offscreen: &Offscreen, route: &Route) -> Result<()> {
    let Some(history) = &offscreen.profile else {
        return Ok(());
    };
    let frames = history.frames();
    let table = Table::of(frames);
    let args = session.args;
    let mut run = Run::new(json!({"name": name(args), "path": route_name(route)}));
    run.set("size", offscreen.config.output.size.to_vec());
    run.set("fps", offscreen.config.output.fps);
    run.set("samples", frames.len());
    let stats = offscreen.stats();
    run.set("triangles", stats.triangles);
    run.set("meshes", stats.meshes);
    run.set("lights", stats.lights);
    run.set("gpu_ms", summary_json(frames.iter().filter_map(Frame::gpu_ms)));
    run.set("cpu_ms", summary_json(frames.iter().map(Frame::cpu_ms)));
    let cpu = table.cpu.iter();
    let cpu = cpu.map(|row| (row.name.clone(), summary_json(row.ms.iter().flatten().copied())));
    run.set("cpu", cpu.collect::<Value>());
    let frame = |frame: &Frame| {
        let passes = frame.passes().iter().filter(|pass| pass.depth == 1);
        let mut times = serde_json::Map::new();
        for pass in passes {
            let known = times.get(&pass.name).and_then(Value::as_f64);
            times.insert(pass.name.clone(), json!(known.unwrap_or(0.0) + pass.last_ms));
        }
        json!({
            "frame": frame.number,
            "time_secs": frame.time_secs,
            "gpu_ms": frame.gpu_ms(),
            "cpu_ms": frame.cpu_ms(),
            "passes": times,
        })
    };
    run.set("frames", frames.iter().map(frame).collect::<Value>());
    if let Some(memory) = history.memory() {
        let gpu = memory.gpu_total().map(|_| memory.kinds_json());
        run.set("memory", json!({"gpu": gpu, "process": memory.process_bytes}));
    }
    let stage = |row: &Row| {
        Some(Stage {
            name: row.name.clone(),
            ms: row.summary()?.median_ms,
            share: None,
        })
    };
    run.stages = table.top().filter_map(stage).collect();
    let notes = &mut session.report.notes;
    notes.push(text::text(frames));
    notes.push("slowest frames: number, time in the clip, GPU ms, CPU ms".into());
    for frame in html::slowest_frames(frames) {
        let gpu_ms = frame.gpu_ms().unwrap_or(0.0);
        let Frame {
            number, time_secs, ..
        } = frame;
        let cpu_ms = frame.cpu_ms();
        notes.push(format!(
            "{number:>6}  {time_secs:>7.3} s  {gpu_ms:>8.3}  {cpu_ms:>8.3}"
        ));
    }
    if session.software {
        notes.push("On a software adapter trust the totals only: passes overlap.".into());
    }
    if let Some(file) = &args.output {
        let page = html::text(&page(args, offscreen, route), frames);
        output::write(file, page.as_bytes())?;
    }
    session.report.runs.push(run);
    Ok(())
}

/// Returns the contents of the page apart from its frames.
fn page(args: &BenchArgs, offscreen: &Offscreen, route: &Route) -> html::Report {
    let [width, height] = offscreen.config.output.size;
    let stats = offscreen.stats();
    let path = match (route, &args.path) {
        (Route::Keys(_), Some(file)) => format!("camera path {}", file.display()),
        (Route::Scene, _) => format!("clip {}", args.clip.as_deref().unwrap_or_default()),
        _ => "a rotation around the scene".into(),
    };
    let settings = offscreen.config.not_default().into_iter();
    let mut facts = vec![
        ("scene", name(args)),
        ("path", path),
        (
            "frames",
            format!(
                "{width} × {height} pixels, {} a second",
                offscreen.config.output.fps
            ),
        ),
        (
            "geometry",
            format!(
                "{} triangles, {} meshes, {} lights",
                stats.triangles, stats.meshes, stats.lights
            ),
        ),
    ];
    facts.extend(html::facts_of(&offscreen.gpu));
    html::Report {
        title: format!("canopy bench path: {}", name(args)),
        facts,
        settings: settings.map(|(key, value)| (key, value.to_string())).collect(),
    }
}

/// Returns the name of the scene.
fn name(args: &BenchArgs) -> String {
    let file_name = |file: &std::path::PathBuf| {
        let name = file.file_name();
        name.map_or_else(
            || file.display().to_string(),
            |name| name.to_string_lossy().into(),
        )
    };
    match &args.files[..] {
        [] => "builtin".into(),
        files => files.iter().map(file_name).collect::<Vec<String>>().join(" + "),
    }
}

fn summary_json(times: impl IntoIterator<Item = f64>) -> Value {
    let Some(summary) = Summary::of(times) else {
        return Value::Null;
    };
    let [min, median, p95, p99, max] = summary.all();
    json!({"min": min, "median": median, "p95": p95, "p99": p99, "max": max})
}
