//! Slow frames.

use crate::display::{Display, OBJ, Screenshot, TIMEOUT};
use std::time::{Duration, Instant};

/// Milliseconds of the frames of the scene that canopy has reported so far.
fn frame_times(display: &Display) -> Vec<f64> {
    let log = std::fs::read_to_string(display.path("stderr")).unwrap();
    let times = log.lines().filter_map(|line| {
        let (_, rest) = line.split_once("drew the scene in ")?;
        rest.split_once(" ms")?.0.parse().ok()
    });
    times.collect()
}

/// The panel and the help are drawn over the last picture while the GPU works on a frame that takes seconds.
#[test]
fn keys_are_handled_while_a_long_frame_is_drawn() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let settings = [
        "scene.obj",
        "--size",
        "780x560",
        "--occlusion",
        "rays",
        "--set",
        "occlusion.rays=16",
        "--set",
        "window.still_samples=1000",
        "--set",
        "window.panel=false",
    ];
    let trace = [("RUST_LOG", "canopy::app=trace")];
    let mut canopy = display.canopy_with(&settings, &trace);
    display.focus("scene.obj");
    // Samples of the still picture follow one another, each a long frame.
    let start = Instant::now();
    let is_long = |times: &[f64]| times.len() > 3 && times.iter().rev().take(2).all(|ms| *ms > 400.0);
    while !is_long(&frame_times(&display)) {
        assert!(start.elapsed() < TIMEOUT, "{:?}", frame_times(&display));
        assert!(canopy.0.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(50));
    }
    // The help covers the middle of the window, and closes again.
    let middle = |shot: &Screenshot| shot.pixels[290 * shot.width + 300..][..180].to_vec();
    let mut latencies = Vec::new();
    for _ in 0..6 {
        let before = middle(&display.screenshot());
        assert!(display.xdotool(&["key", "h"]));
        let pressed = Instant::now();
        loop {
            let now = middle(&display.screenshot());
            let step = |(a, b): (&[u8; 3], &[u8; 3])| a[0].abs_diff(b[0]) > 24;
            if now.iter().zip(&before).filter(|pair| step(*pair)).count() > 90 {
                break;
            }
            assert!(pressed.elapsed() < TIMEOUT, "the help never came or went");
        }
        latencies.push(pressed.elapsed().as_secs_f64() * 1e3);
        std::thread::sleep(Duration::from_millis(300));
    }
    let frames = frame_times(&display);
    let frame_ms = frames[frames.len() - 1];
    latencies.sort_by(f64::total_cmp);
    let median = latencies[latencies.len() / 2];
    println!("latencies {latencies:.0?} ms, frames of {frame_ms:.0} ms");
    assert!(
        median < 0.5 * frame_ms,
        "{latencies:.0?} ms at frames of {frame_ms} ms"
    );
}

/// While the driver still has shaders to compile, the first picture is drawn without rays, whose kernels take
/// longest.
#[test]
fn the_first_picture_is_drawn_without_waiting_for_ray_kernels() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --env sky --size 640x480 --shadows rays --set sun.angle=0 --set window.panel=false --set window.still_samples=1 \
                --set window.render_scale=1";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let cache = display.path("cache");
    let is_cold = [("MESA_SHADER_CACHE_DIR", cache.to_str().unwrap())];
    let _canopy = display.canopy_with(&arguments, &is_cold);
    // On the floor, in the card's shadow, above the progress message.
    let shadow = |shot: &Screenshot| shot.pixels[182 * shot.width + 314];
    let start = Instant::now();
    while shadow(&display.screenshot())[0] < 120 {
        assert!(start.elapsed() < TIMEOUT, "no picture without a shadow");
        std::thread::sleep(Duration::from_millis(20));
    }
    display.settled("the shadow", |now| shadow(now)[0] < 60);
}

/// Width and height in pixels of the frames of the scene that canopy has reported so far.
fn frame_sizes(display: &Display) -> Vec<[u32; 2]> {
    let log = std::fs::read_to_string(display.path("stderr")).unwrap();
    let sizes = log.lines().filter_map(|line| {
        let (_, size) = line.split_once(" ms at ")?;
        let (width, height) = size.split_once(" × ")?;
        Some([width.parse().ok()?, height.trim().parse().ok()?])
    });
    sizes.collect()
}

/// Slow frames lose no part of a drag. They are coarse until the mouse rests, and show a notice that they are
/// slow.
#[test]
fn slow_frames_lose_no_drag_and_end_at_full_resolution() {
    let line = "scene.obj --size 640x360 --eye 2.5,3,3.5 --target 0,0.2,0 --occlusion rays --shadows rays \
                --background 303030 --set occlusion.rays=16 --set occlusion.history=4 --set window.still_samples=1 --set sun.angle=0 \
                --set window.panel=false";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let dragged = |to: [i32; 2], steps: i32| {
        let display = Display::start();
        std::fs::write(display.path("scene.obj"), OBJ).unwrap();
        let _canopy = display.canopy_with(&arguments, &[("RUST_LOG", "canopy::app=trace")]);
        display.focus("scene.obj");
        let before = display.settled("the scene", Screenshot::is_drawn);
        let first = frame_sizes(&display).len();
        display.drag([200, 200], to, steps);
        // The corner shows the background, and the notice for a while.
        let corner = |shot: &Screenshot| shot.pixels[25 * shot.width + 12..][..90].to_vec();
        let begun = Instant::now();
        let mut noted = false;
        while !noted && begun.elapsed() < Duration::from_secs(8) {
            noted = corner(&display.screenshot()) != corner(&before);
            std::thread::sleep(Duration::from_millis(5));
        }
        let after = display.settled("the turned scene", |now| *now != before);
        assert!(corner(&after) == corner(&before), "the note stays");
        (before, after, frame_sizes(&display).split_off(first), noted)
    };
    let (before, at_once, sizes, noted) = dragged([320, 240], 1);
    assert!(noted, "nothing says that it renders: {sizes:?}");
    assert_eq!(sizes.last(), Some(&[640, 360]), "{sizes:?}");
    let (_, in_steps, sizes, _) = dragged([320, 240], 12);
    assert!(sizes.iter().any(|size| size[0] < 640), "{sizes:?}");
    assert_eq!(sizes.last(), Some(&[640, 360]), "{sizes:?}");
    let changed = |a: &Screenshot, b: &Screenshot| {
        let (darker, brighter) = a.darker_and_brighter(b);
        darker + brighter
    };
    assert!(changed(&at_once, &before) > 0.05);
    let off = changed(&in_steps, &at_once);
    assert!(off < 0.01, "{off} of the picture differs");
}
