//! Comparison of two sides.

use crate::display::{Display, OBJ, Screenshot, TIMEOUT};
use std::time::{Duration, Instant};

/// The window's pixels after a few frames, with these arguments and the scene.
fn pictured(display: &Display, arguments: &str) -> Screenshot {
    let line = format!(
        "scene.obj --size 480x360 --eye 2.5,3,3.5 --target 0,0.2,0 --sun -0.4,-1,-0.3 --exit-after 3 \
         --screenshot shot.png --set window.panel=false --set window.axes=false --set window.render_scale=1 \
         {arguments}"
    );
    let arguments: Vec<_> = line.split_whitespace().collect();
    let mut canopy = display.canopy(&arguments);
    let start = Instant::now();
    while canopy.0.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < TIMEOUT, "it never ends");
        std::thread::sleep(Duration::from_millis(50));
    }
    let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
    assert!(canopy.0.wait().unwrap().success(), "{line}: {stderr}");
    let picture = image::open(display.path("shot.png")).unwrap().into_rgb8();
    Screenshot {
        width: picture.width() as usize,
        pixels: picture.pixels().map(|pixel| pixel.0).collect(),
    }
}

/// Each side of the line equals the picture of a separate window, bit by bit.
#[test]
fn each_side_of_a_comparison_equals_a_separate_window() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    std::fs::write(display.path("other.obj"), OBJ.replace("0.8", "0.4")).unwrap();
    let (left, right) = (0..225, 255..480);
    let a = pictured(&display, "");
    std::fs::rename(display.path("shot.png"), display.path("saved.png")).unwrap();
    for setting in ["shadows.mode=map", "tree.leaf_cutoff=1", "image.tonemap=aces"] {
        let both = pictured(&display, &format!("--compare-with {setting}"));
        let b = pictured(&display, &format!("--set {setting}"));
        assert!(both.columns(left.clone()) == a.columns(left.clone()), "{setting}");
        assert!(
            both.columns(right.clone()) == b.columns(right.clone()),
            "{setting}"
        );
        // The leaf cutoff changes only the cost.
        let is_same = a.columns(right.clone()) == b.columns(right.clone());
        assert_eq!(is_same, setting.starts_with("tree"), "{setting}");
        // The line and the labels are there.
        assert!(both.columns(225..255) != a.columns(225..255), "{setting}");
        assert!(both.pixels[..480 * 60] != a.pixels[..480 * 60], "{setting}");
    }
    let both = pictured(&display, "--compare other.obj");
    let b = pictured(&display, "");
    assert!(b == a, "the same again");
    assert!(both.columns(left.clone()) == a.columns(left.clone()));
    assert!(both.columns(right.clone()) != a.columns(right.clone()));
    // A picture of the window, which does not differ from the current one.
    let both = pictured(&display, "--compare saved.png");
    assert!(both.columns(left.clone()) == a.columns(left));
    assert!(both.columns(right.clone()) == a.columns(right));
}

/// The mean and largest differences that canopy has reported so far.
fn told_differences(display: &Display) -> Vec<[f64; 2]> {
    let log = std::fs::read_to_string(display.path("stderr")).unwrap();
    let lines = log.lines().filter_map(|line| {
        let (_, mean) = line.split_once("the sides differ by ")?;
        let (mean, rest) = mean.split_once(" on average and by ")?;
        let (max, _) = rest.split_once(" at most")?;
        Some([mean.parse().ok()?, max.parse().ok()?])
    });
    lines.collect()
}

/// While a clip plays, both sides show the same moment. With a setting that changes nothing, they are equal.
#[test]
fn both_sides_of_a_comparison_move_together() {
    let display = Display::start();
    let log = [("RUST_LOG", "canopy=debug")];
    let line = "--size 320x240 --set animation.play=on --set window.panel=false --set window.still_samples=1 --shadows map --occlusion off \
                --set reflections.mode=off --compare-with load.obj_texture=true";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let _canopy = display.canopy_with(&arguments, &log);
    display.focus("canopy");
    let start = Instant::now();
    while told_differences(&display).len() < 8 {
        let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
        assert!(start.elapsed() < TIMEOUT, "{stderr}");
        std::thread::sleep(Duration::from_millis(100));
    }
    // A busy machine may take seconds for a frame.
    let first = display.screenshot();
    let start = Instant::now();
    while first == display.screenshot() {
        assert!(start.elapsed() < TIMEOUT, "nothing moves");
        std::thread::sleep(Duration::from_millis(100));
    }
    for [mean, max] in told_differences(&display) {
        assert!(max < 1e-9 && mean < 1e-9, "{mean} {max}");
    }
}

/// The line is dragged, keys change the display of both sides, and a picture of the current frame equals it.
#[test]
fn a_comparison_is_dragged_flipped_and_ended() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --size 640x480 --eye 2.5,3,3.5 --target 0,0.2,0 --sun -0.4,-1,-0.3 \
                --set window.panel=false --set window.render_scale=1 --set window.still_samples=1 \
                --shadows map --set sun.angle=0 --compare-with shadows.mode=off";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let mut canopy = display.canopy_with(&arguments, &[("RUST_LOG", "canopy=debug")]);
    let seen = |shot: &Screenshot| -> Vec<[u8; 3]> {
        let rows = shot.pixels.chunks(shot.width).skip(90).take(310);
        rows.flat_map(|row| &row[..640]).copied().collect()
    };
    // The handle is white.
    let handle = |shot: &Screenshot, x: usize| {
        (-2..=2).all(|by| shot.pixels[240 * shot.width + (x as i32 + by) as usize] == [255; 3])
    };
    display.focus("scene.obj");
    // The pointer is drawn too, so it waits beside the window.
    assert!(display.xdotool(&["mousemove", "700", "550"]));
    let middle = display.settled("a line in the middle", |now| handle(now, 320));
    assert!(display.xdotool(&["mousemove", "323", "300", "mousedown", "1"]));
    for x in ["300", "250", "203"] {
        assert!(display.xdotool(&["mousemove", x, "310"]));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(display.xdotool(&["mouseup", "1", "mousemove", "700", "550"]));
    let dragged = display.settled("a line at the left", |now| {
        (195..210).any(|x| handle(now, x)) && !handle(now, 320)
    });
    // Between both positions there was A, and is B now. Elsewhere nothing has changed, and the camera stands
    // still.
    let column = |shot: &Screenshot, columns: std::ops::Range<usize>| shot.columns(columns);
    // Frames that converge may end some levels apart.
    let same = |a: &Screenshot, b: &Screenshot, columns: std::ops::Range<usize>| {
        let [a, b] = [a, b].map(|shot| column(shot, columns.clone()));
        let near = |(a, b): (&[u8; 3], &[u8; 3])| (0..3).all(|i| a[i].abs_diff(b[i]) <= 6);
        a.iter().zip(&b).all(near)
    };
    assert!(!same(&middle, &dragged, 225..305));
    assert!(same(&middle, &dragged, 340..640));
    assert!(same(&middle, &dragged, 0..180));
    // Alt+K shows only one side, then only the other side.
    display.press("alt+k");
    let one = display.settled("a side", |now| !(195..210).any(|x| handle(now, x)));
    display.press("alt+k");
    let other = display.settled("the other side", |now| seen(now) != seen(&one));
    assert!(seen(&other) != seen(&dragged));
    // The difference is black on unshaded pixels.
    display.press("shift+k");
    let is_dark = |shot: &Screenshot| {
        let dark = |p: &&[u8; 3]| p[0] < 12 && p[1] < 12 && p[2] < 24;
        seen(shot).iter().filter(dark).count() > 100_000
    };
    let difference = display.settled("the difference", is_dark);
    assert!(seen(&difference).iter().any(|p| p[0] > 120), "nothing differs");
    let [mean, max] = *told_differences(&display).last().unwrap();
    assert!(mean > 1e-3 && max > 0.05, "{mean} {max}");
    // The current frame, and a picture of it.
    display.press("ctrl+k");
    let start = Instant::now();
    while told_differences(&display).last() != Some(&[0.0, 0.0]) {
        assert!(start.elapsed() < TIMEOUT, "{:?}", told_differences(&display));
        std::thread::sleep(Duration::from_millis(100));
    }
    display.press("k");
    let ended = display.settled("A alone", |now| !is_dark(now));
    assert!(same(&ended, &middle, 0..180));
    assert!(canopy.0.try_wait().unwrap().is_none(), "the window is gone");
}

/// A file that cannot be compared gives one line: immediately if the file is missing, otherwise in the
/// window.
#[test]
fn invalid_comparisons_give_a_one_line_message() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    std::fs::write(display.path("broken.png"), b"no picture").unwrap();
    let start = "scene.obj --size 320x240 --exit-after 2 ";
    for (arguments, part) in [
        ("--compare no.png", "no.png"),
        ("--compare broken.png", "broken.png"),
        ("--compare-with shadow.mode=map", "did you mean shadows.mode"),
        (
            "--compare-with window.panel=true",
            "both sides use the value of A",
        ),
    ] {
        let line = format!("{start}{arguments}");
        let mut canopy = display.canopy(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(canopy.0.wait().unwrap().code(), Some(1), "{arguments}");
        let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
        let errors: Vec<_> = stderr
            .lines()
            .filter(|line| line.starts_with("error: "))
            .collect();
        assert!(errors.len() == 1 && errors[0].contains(part), "{stderr}");
    }
    // In an interactive run, the window stays open with a message.
    let line = "scene.obj --size 320x240 --set window.still_samples=1 --compare broken.png";
    let mut canopy = display.canopy(&line.split(' ').collect::<Vec<_>>());
    display.settled("a message", Screenshot::is_drawn);
    assert!(canopy.0.try_wait().unwrap().is_none(), "the window is gone");
    let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
    assert_eq!(stderr.matches("broken.png").count(), 1, "{stderr}");
}
