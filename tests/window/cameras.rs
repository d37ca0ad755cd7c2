//! Views, moving cameras, clips.

use crate::{
    display::{Display, OBJ, Screenshot, TIMEOUT},
    gltf_builder,
};
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

/// A person walks forward through the built-in scene while W is held. The camera stays at eye height.
#[test]
fn walk_mode_moves_through_the_built_in_scene_at_eye_height() {
    let display = Display::start();
    let log = [("RUST_LOG", "canopy::app=trace")];
    let arguments = "--size 640x480 --set window.panel=false --set window.still_samples=1 --set camera.mode=walk \
                     --set animation.play=false --set camera.walk_speed=1 --shadows off --occlusion off";
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let _canopy = display.canopy_with(&arguments, &log);
    let stands = display.settled("the scene", Screenshot::is_drawn);
    display.focus("canopy");
    let eyes = || -> Vec<[f32; 3]> {
        let log = std::fs::read_to_string(display.path("stderr")).unwrap_or_default();
        let places = log.lines().filter_map(|line| line.split("the eye is at ").nth(1));
        let numbers = |line: &str| -> Vec<f32> {
            line.split(", ")
                .filter_map(|number| number.trim().parse().ok())
                .collect()
        };
        places.filter_map(|line| numbers(line).try_into().ok()).collect()
    };
    let start = Instant::now();
    while eyes().is_empty() {
        assert!(start.elapsed() < TIMEOUT, "nobody walks");
        std::thread::sleep(Duration::from_millis(200));
    }
    let first = *eyes().last().unwrap();
    assert!(display.xdotool(&["keydown", "w"]));
    let far = |eye: &[f32; 3]| (eye[0] - first[0]).hypot(eye[2] - first[2]);
    while eyes().last().map_or(0.0, far) < 0.3 {
        assert!(start.elapsed() < TIMEOUT, "{:?} after {first:?}", eyes().last());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(display.xdotool(&["keyup", "w"]));
    let walked = display.settled("another picture", |now| *now != stands);
    assert!(walked.is_drawn());
    for eye in eyes() {
        assert!((eye[1] - first[1]).abs() < 0.4, "{eye:?} after {first:?}");
    }
    // In orbit mode again, the camera is at the walker's position.
    display.press("j");
    display.settled("a still window", Screenshot::is_drawn);
    // Actions requested while walking have ended with it.
    assert!(display.xdotool(&["keydown", "w"]));
    for _ in 0..5 {
        display.press("j");
    }
    assert!(display.xdotool(&["keyup", "w"]));
    display.press("Home");
    display.settled("rest after walking", Screenshot::is_drawn);
}

#[test]
fn views_have_keys_and_changed_files_are_reloaded() {
    let display = Display::start();
    std::fs::create_dir(display.path("model")).unwrap();
    let file = display.path("model/scene.obj");
    std::fs::write(&file, OBJ).unwrap();
    let options = "model --watch --size 320x240 --shadows off --set window.panel=false --set \
                   window.still_samples=1 --set window.render_scale=1";
    let _canopy = display.canopy(&options.split_whitespace().collect::<Vec<_>>());
    let first = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    let view = |key: &str, before: &Screenshot| {
        display.press(key);
        display.settled(key, |now| now != before)
    };
    let front = view("KP_1", &first);
    let top = view("ctrl+5", &front);
    assert!(view("ctrl+1", &top) == front, "both keys show the front");
    let orthographic = view("p", &front);
    // From the front, the whole scene is seen edge-on.
    let again = view("Home", &orthographic);

    // Editors write a file beside the original and rename it.
    let other = OBJ.replace("0.8", "1.6");
    std::fs::write(display.path("model/next"), other).unwrap();
    std::fs::rename(display.path("model/next"), &file).unwrap();
    display.settled("the other scene", |now| now.is_drawn() && *now != again);
}

/// A square that a clip of two seconds moves from x = −2 to 2. A morph target stretches it upwards.
fn sliding_square() -> gltf_builder::Builder {
    let mut builder = gltf_builder::Builder::new();
    let corners = [
        -0.4, -0.4, 0., 0.4, -0.4, 0., 0.4, 0.4, 0., -0.4, -0.4, 0., 0.4, 0.4, 0., -0.4, 0.4, 0.,
    ];
    let up = [
        0., 0., 0., 0., 0., 0., 0., 1.2, 0., 0., 0., 0., 0., 1.2, 0., 0., 1.2, 0.,
    ];
    let corners = builder.floats("VEC3", &corners);
    let up = builder.floats("VEC3", &up);
    let node = builder.primitive(serde_json::json!({
        "attributes": { "POSITION": corners },
        "targets": [{ "POSITION": up }],
    }));
    let times = builder.floats("SCALAR", &[0., 2.]);
    let moves = builder.floats("VEC3", &[-2., 0., 0., 2., 0., 0.]);
    builder.push(
        "animations",
        serde_json::json!({
            "name": "slide",
            "samplers": [{ "input": times, "output": moves }],
            "channels": [{ "sampler": 0, "target": { "node": node, "path": "translation" } }],
        }),
    );
    builder
}

/// The timeline scrubs, steps and repeats a part, and a switch of the panel sets a morph weight. Keys of a
/// camera path and an export of three pictures follow.
#[test]
fn a_clip_is_scrubbed_stepped_and_exported() {
    let display = Display::start();
    sliding_square().write(display.folder.path(), "scene.glb");
    let shown = ["Animation", "Animation, more"];
    display.lay_out_panel("Scene", &shown, &["Content", "Camera"]);
    let line = "scene.glb --size 780x590 --eye 0,0,8 --target 0,0,0 --background 101010 --shadows off --ground off \
                --set animation.play=false --set animation.frame_rate=2 --set window.render_scale=1 \
                --set window.still_samples=1 --set window.axes=false --set output.size=[48,36] --set output.fps=3";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let _canopy = display.canopy(&arguments);
    // Position of the square: its centre and its height, in pixels of the picture above the notices.
    let square = |shot: &Screenshot| {
        let bright = |p: &[u8; 3]| p[0] > 90;
        let rows = shot.pixels.chunks(shot.width).take(440).skip(40);
        let columns = rows.map(|row| row[..470].iter().enumerate().filter(|(_, p)| bright(p)));
        let columns: Vec<Vec<usize>> = columns.map(|row| row.map(|(x, _)| x).collect()).collect();
        let all: Vec<usize> = columns.iter().flatten().copied().collect();
        let height = columns.iter().filter(|row| !row.is_empty()).count();
        (all.iter().sum::<usize>() as f64 / all.len().max(1) as f64, height)
    };
    let at = |x: f64| move |shot: &Screenshot| (square(shot).0 - x).abs() < 3.0;
    let click = |at: [i32; 2]| {
        let [x, y] = at.map(|c| c.to_string());
        assert!(display.xdotool(&["mousemove", &x, &y, "click", "1"]));
    };
    // The panel reads the pointer once per frame.
    let slide = |from: [i32; 2], to: [i32; 2]| {
        let middle = [0, 1].map(|i| (from[i] + to[i]) / 2);
        let mut line = String::new();
        for ([x, y], then) in [(from, "mousedown 1"), (middle, ""), (to, "")] {
            line += &format!("mousemove {x} {y} {then} sleep 0.4 ");
        }
        line += "mouseup 1";
        let words: Vec<_> = line.split_whitespace().collect();
        assert!(display.xdotool(&words), "{line}");
    };
    let first = display.settled("the square at the left", |shot| square(shot).0 > 1.0);
    let (left, height) = square(&first);
    // The timeline is below the picture, which is 480 pixels wide, with its middle at 240.
    let scale = (240.0 - left) / 2.0;
    display.focus("scene.glb");
    click([240, 567]);
    display.settled("the middle of the clip", at(240.0));
    assert!(display.xdotool(&["key", "alt+Right"]));
    display.settled("a frame later", at(240.0 + scale));
    assert!(display.xdotool(&["key", "alt+Left", "alt+Left"]));
    display.settled("two frames back", at(240.0 - scale));
    // The right handle, which is the end of the loop, to the centre.
    slide([466, 580], [245, 580]);
    assert!(display.xdotool(&["key", "alt+End"]));
    let middle = display.settled("the end of the loop", at(240.0));
    // The slider of the clip's weight is the first in the panel. The switch of the morph target is below it.
    let column = |x: usize| middle.pixels.iter().skip(x).step_by(middle.width);
    let slider = column(640).position(|p| *p == [34, 98, 74]).unwrap() as i32;
    click([605, slider + 142]);
    slide([626, slider + 142], [720, slider + 142]);
    let tall = display.settled("a taller square", |shot| square(shot).1 > 2 * height);
    assert!(at(240.0)(&tall));
    assert!(display.xdotool(&["key", "alt+p"]));
    // The card is open, and nothing is written before its button is pressed.
    assert!(display.xdotool(&["key", "alt+e"]));
    display.settled("the card", |shot| *shot != tall);
    let is_picture = |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|e| e == "png");
    let files = std::fs::read_dir(display.folder.path()).unwrap();
    assert!(!files.flatten().any(is_picture), "the export has begun");
    assert!(display.xdotool(&["key", "Return"]));
    let start = Instant::now();
    let exported = || -> Vec<PathBuf> {
        let files = std::fs::read_dir(display.folder.path()).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|e| e == "png"));
        files.sort();
        files
    };
    while exported().len() < 3 {
        let stderr = std::fs::read_to_string(display.path("stderr")).unwrap_or_default();
        assert!(start.elapsed() < TIMEOUT, "no pictures: {stderr}");
        std::thread::sleep(Duration::from_millis(200));
    }
    // From the start to the end of the loop, at three pictures per second, as tall as displayed.
    let middles: Vec<f64> = exported()
        .iter()
        .map(|file| {
            let picture = image::open(file).unwrap().into_rgb8();
            assert_eq!(picture.dimensions(), (48, 36));
            let bright = picture.enumerate_pixels().filter(|(.., p)| p.0[0] > 90);
            let bright: Vec<(u32, u32)> = bright.map(|(x, y, _)| (x, y)).collect();
            assert!(bright.len() > 20, "{}", bright.len());
            let tall = bright.iter().filter(|(_, y)| *y < 14).count();
            assert!(tall * 3 > bright.len(), "{tall} of {}", bright.len());
            bright.iter().map(|(x, _)| f64::from(*x)).sum::<f64>() / bright.len() as f64
        })
        .collect();
    assert_eq!(middles.len(), 3);
    assert!(
        middles[0] + 3.0 < middles[1] && middles[1] + 3.0 < middles[2],
        "{middles:?}"
    );
}

/// A saved view is restored, also by the next run, and the axes look along one of them. The turntable turns
/// until it is stopped, and a lens blurs objects out of focus.
#[test]
fn views_are_saved_rotated_and_defocused() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let start = |eye: &str| {
        let line = format!(
            "scene.obj --size 640x480 --eye {eye} --target 0,0.2,0 --shadows off --set window.panel=false \
             --set window.render_scale=1 --set window.still_samples=1 --set depth_of_field.f_number=0.02 \
             --set depth_of_field.focus=1"
        );
        display.canopy(&line.split_whitespace().collect::<Vec<_>>())
    };
    let canopy = start("2.5,3,3.5");
    let first = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    let go = |key: &str, before: &Screenshot| {
        display.press(key);
        display.settled(key, |now| now != before)
    };
    display.press("ctrl+b");
    let front = go("KP_1", &first);
    assert!(go("alt+1", &front) == first, "the saved view is another one");

    // The green end of the axes belongs to Y. A click on it looks down.
    let corner = |(index, p): &(usize, &[u8; 3])| {
        let is_green = i32::from(p[1]) > 40 + i32::from(p[0].max(p[2]));
        is_green && index / first.width < 110 && (530..640).contains(&(index % first.width))
    };
    let ends: Vec<_> = first.pixels.iter().enumerate().filter(corner).collect();
    assert!(ends.len() > 20, "{} pixels are green", ends.len());
    let middle = |at: fn(usize, usize) -> usize| {
        let sum: usize = ends.iter().map(|(index, _)| at(*index, first.width)).sum();
        (sum / ends.len()).to_string()
    };
    let [x, y] = [
        middle(|index, width| index % width),
        middle(|index, width| index / width),
    ];
    assert!(display.xdotool(&["mousemove", &x, &y, "sleep", "0.5", "click", "1"]));
    assert!(display.xdotool(&["sleep", "0.5", "mousemove", "4", "470"]));
    let above = display.settled("the scene from above", |now| *now != first);
    let again = go("alt+1", &above);
    assert!(go("ctrl+5", &again) == above, "the axis is not that of the key");

    let again = go("alt+1", &above);
    display.press("alt+r");
    let begun = Instant::now();
    let mut turned = vec![again];
    while turned.len() < 4 {
        assert!(begun.elapsed() < TIMEOUT, "the turntable does not turn");
        std::thread::sleep(Duration::from_millis(50));
        let now = display.screenshot();
        if !turned.contains(&now) {
            turned.push(now);
        }
    }
    display.press("alt+r");
    let stopped = display.settled("a view beside the first", |now| *now != first);

    let sharp = go("alt+1", &stopped);
    let set = |value: &str, before: &Screenshot| {
        display.press("F2");
        display.write(&format!("depth_of_field.enabled {value}"));
        go("Return", before)
    };
    let blurred = set("true", &sharp);
    // The largest step between neighbours, below the axes.
    let edge = |shot: &Screenshot| {
        let rows = shot.pixels.chunks(shot.width).take(480).skip(130);
        let steps = rows.flat_map(|row| row[..640].windows(2).map(|p| p[0][1].abs_diff(p[1][1])));
        steps.max().unwrap_or(0)
    };
    let [sharp_edge, blurred_edge] = [&sharp, &blurred].map(edge);
    assert!(blurred_edge * 2 < sharp_edge, "{blurred_edge} of {sharp_edge}");
    assert!(
        set("false", &blurred) == sharp,
        "the lens leaves something behind"
    );

    drop(canopy);
    let _canopy = start("0,4,1");
    let other = display.settled("the next run", |now| now.is_drawn() && *now != first);
    display.focus("scene.obj");
    let (darker, brighter) = go("alt+1", &other).darker_and_brighter(&first);
    assert!(
        darker + brighter < 1e-3,
        "{darker} is darker, {brighter} brighter"
    );
}

/// Alt+G draws the picture by paths, with the set number of them, and again after a change. It can be
/// compared with the fast frame side by side.
#[test]
fn path_tracing_runs_and_is_compared_with_the_rasterized_frame() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --size 320x240 --eye 2.5,3,3.5 --target 0,0.2,0 --sun -0.4,-1,-0.3 --ground off \
                --set window.panel=false --set window.axes=false --set window.render_scale=1 \
                --set window.still_samples=1 --set paths.samples=6 --set sun.angle=0";
    let _canopy = display.canopy(&line.split_whitespace().collect::<Vec<_>>());
    let fast = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    let go = |key: &str, before: &Screenshot| {
        display.press(key);
        display.settled(key, |now| now != before)
    };
    // Six paths per pixel, and then drawing stops.
    let paths = go("alt+g", &fast);
    let mean = |shot: &Screenshot, columns: std::ops::Range<usize>| {
        let rows = shot.pixels.chunks(shot.width).take(240).skip(60);
        let values = rows.flat_map(|row| &row[columns.clone()]);
        let values: Vec<f64> = values.map(|p| p.iter().map(|c| f64::from(*c)).sum()).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let [of_paths, of_fast] = [&paths, &fast].map(|shot| mean(shot, 0..320));
    assert!(
        (of_paths / of_fast - 1.0).abs() < 0.15,
        "{of_paths} beside {of_fast}"
    );
    // Light over several paths is noisy where the fast frame is smooth.
    let (darker, brighter) = paths.darker_and_brighter(&fast);
    assert!(darker + brighter > 0.001, "no path is to be seen");
    // Side B keeps the former picture.
    let both = go("k", &paths);
    display.press("alt+g");
    let right = |shot: &Screenshot| -> Vec<[u8; 3]> {
        let rows = shot.pixels.chunks(shot.width).take(240).skip(60);
        rows.flat_map(|row| row[170..320].to_vec()).collect()
    };
    let left = |shot: &Screenshot| -> Vec<[u8; 3]> {
        let rows = shot.pixels.chunks(shot.width).take(240).skip(60);
        rows.flat_map(|row| row[..150].to_vec()).collect()
    };
    let compared = display.settled("the fast frame beside the paths", |now| left(now) != left(&both));
    assert!(left(&compared) == left(&fast), "side A is not the fast frame");
    assert!(right(&compared) == right(&paths), "side B is not what was traced");
    // A change restarts the paths.
    display.press("k");
    let again = display.settled("the fast frame alone", |now| *now == fast);
    let traced = go("alt+g", &again);
    assert!(traced == paths, "the same paths give another picture");
    let turned = go("KP_1", &traced);
    assert!(turned.is_drawn());
}
