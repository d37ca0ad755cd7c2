//! The real window on a virtual display: its pixels and its keys.

#![cfg(all(target_os = "linux", feature = "viewer"))]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../common/folder.rs"]
#[expect(dead_code, reason = "a part of it is for other tests")]
mod folder;
#[path = "../common/gltf_builder.rs"]
#[expect(dead_code, reason = "a part of it is for other tests")]
mod gltf_builder;

mod cameras;
mod comparison;
mod display;
mod inside;
mod shaders;
mod slow_frames;

use display::{Display, OBJ, Screenshot, TIMEOUT};
use std::time::{Duration, Instant};

#[test]
fn a_scene_is_shown_and_keys_switch_its_shadows() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let mut canopy = display.canopy(&[
        "scene.obj",
        "--size",
        "640x480",
        "--eye",
        "2.5,3,3.5",
        "--target",
        "0,0.2,0",
        "--sun",
        "-0.4,-1,-0.3",
        "--set",
        "window.panel=false",
        "--set",
        "window.render_scale=1",
        "--set",
        "window.still_samples=1",
        "--set",
        "sun.angle=0",
        "--set",
        "keys.help=Alt+Shift+1",
    ]);
    let rays = display.settled("the scene", Screenshot::is_drawn);
    // The title names the file. Without a window manager, nothing else gives the window the keyboard.
    let found = ["search", "--onlyvisible", "--name", "scene.obj", "windowfocus"];
    assert!(display.xdotool(&found), "no window is named after the file");

    display.press("1");
    let off = display.settled("another picture without shadows", |now| *now != rays);
    let (darker, brighter) = off.darker_and_brighter(&rays);
    assert!(
        brighter > 0.01 && darker < 0.001,
        "without shadows {brighter} is brighter and {darker} darker"
    );

    display.press("2");
    let map = display.settled("another picture with shadow maps", |now| *now != off);
    let (darker, brighter) = map.darker_and_brighter(&off);
    assert!(
        darker > 0.01 && brighter < 0.001,
        "with maps {darker} is darker and {brighter} brighter"
    );

    display.press("3");
    let again = display.settled("the first picture again", |now| *now != map);
    assert!(again == rays, "rays give another picture the second time");
    let (darker, brighter) = map.darker_and_brighter(&rays);
    assert!(
        darker + brighter < 0.004,
        "maps and rays differ by {}",
        darker + brighter
    );

    display.press("Tab");
    let panel = display.settled("the panel", |now| *now != rays);
    display.press("h");
    display.press("alt+shift+1");
    display.settled("the help at the key of the settings", |now| *now != panel);

    display.press("ctrl+q");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = canopy.0.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < TIMEOUT, "Ctrl+Q does not end it");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(status.success(), "{status}");
}

#[test]
fn a_static_picture_is_the_mean_of_samples_then_drawing_stops() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let show = |samples: u32| {
        let samples = format!("window.still_samples={samples}");
        let line = "scene.obj --size 640x480 --eye 2.5,3,3.5 --target 0,0.2,0 --set window.panel=false --set";
        let mut arguments: Vec<_> = line.split(' ').collect();
        arguments.push(&samples);
        display.canopy(&arguments)
    };
    let canopy = show(1);
    let filtered = display.settled("the scene", Screenshot::is_drawn);
    drop(canopy);
    let canopy = show(16);
    let differs = |now: &Screenshot| now.is_drawn() && *now != filtered;
    let mean = display.settled("the mean of samples", differs);
    let (darker, brighter) = mean.darker_and_brighter(&filtered);
    assert!(
        darker + brighter < 0.02,
        "more than edges: {darker} is darker, {brighter} brighter"
    );
    let before = canopy.worked();
    std::thread::sleep(Duration::from_secs(2));
    let took = canopy.worked() - before;
    assert!(took < 40, "{took} hundredths of a second for two idle seconds");
}

#[test]
fn a_failed_load_shows_a_message_in_the_window() {
    let display = Display::start();
    std::fs::write(display.path("broken.glb"), b"glTF, but not really").unwrap();
    let mut canopy = display.canopy(&["broken.glb", "--size", "640x480"]);
    let message = display.settled("a message", Screenshot::is_drawn);
    assert!(canopy.0.try_wait().unwrap().is_none(), "the window is gone");
    // The box with the message is wide, and brighter or darker than the empty window around it.
    let middle = message.pixels[240 * message.width..241 * message.width].to_vec();
    let corner = message.pixels[479 * message.width + 2];
    assert!(
        middle.iter().take(640).filter(|p| **p != corner).count() > 100,
        "nothing is written in the window"
    );
}

/// A click on a section's title folds it for the next run too, and Escape dismisses the welcome card. A run
/// with a fixed number of frames saves nothing.
#[test]
fn the_panel_keeps_its_foldings_between_runs() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let state = display.path("state");
    let environment = [("XDG_STATE_HOME", state.to_str().unwrap())];
    let kept = state.join("canopy/panel.json");
    let line = "scene.obj --size 720x480 --set window.still_samples=1 --set window.render_scale=0.5";
    let arguments: Vec<_> = line.split(' ').collect();
    let counted = ["--exit-after", "1"];
    let mut once = display.canopy_with(&[&arguments[..], &counted].concat(), &environment);
    assert!(once.0.wait().unwrap().success());
    assert!(!kept.exists(), "a run that counts frames has written it");
    // A panel of the smallest width, and a broken file before that.
    let run = |before: &str| {
        std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
        std::fs::write(&kept, before).unwrap();
        let canopy = display.canopy_with(&arguments, &environment);
        (display.settled("the scene", Screenshot::is_drawn), canopy)
    };
    let (open, canopy) = run("{");
    display.xdotool(&["mousemove", "420", "232", "click", "1"]);
    let welcoming = display.settled("a folded group", |now| *now != open);
    display.focus("scene.obj");
    // The card with the first keys goes, and does not come back. Before that, Escape takes the focus from the
    // clicked title.
    display.press("Escape");
    display.press("Escape");
    let welcomed = display.settled("no card", |now| *now != welcoming);
    let foot = |picture: &Screenshot| picture.pixels[400 * 800..][..300].to_vec();
    assert!(foot(&welcomed) != foot(&welcoming), "no card was there");
    drop(canopy);
    let text = std::fs::read_to_string(&kept).unwrap();
    assert!(text.contains("\"Shadows\": false"), "{text}");
    // The first row below the title is hidden at once in the next run.
    let (folded, _canopy) = run(&text);
    let row = |picture: &Screenshot| picture.pixels[252 * 800 + 400..][..310].to_vec();
    assert!(row(&folded) != row(&open), "the group is open again");
    assert!(foot(&folded) == foot(&welcomed), "the card is back");
}

#[test]
fn a_lost_device_is_replaced_and_the_window_stays_open() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    // Side B comes back too.
    let line = "scene.obj --size 400x300 --set window.panel=false --set window.axes=false \
                --set window.still_samples=16 --occlusion off --set reflections.mode=off \
                --compare-with shadows.mode=off";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let found = ["search", "--onlyvisible", "--name", "scene.obj", "windowfocus"];
    let show = |environment: &[(&str, &str)], expected: Option<&Screenshot>| {
        let _canopy = display.canopy_with(&arguments, environment);
        let scene = display.settled("the scene", Screenshot::is_drawn);
        assert!(display.xdotool(&found), "no window is named after the file");
        // The help is text, so it shows that the fonts are there again.
        display.press("h");
        display.settled("the help over the scene", |now| {
            // The labels show times.
            let below = |shot: &Screenshot| shot.columns(0..640);
            below(now) != below(&scene) && expected.is_none_or(|expected| below(now) == below(expected))
        })
    };
    let whole = show(&[], None);
    // Both sides are shown as before the loss, and not only A.
    show(&[("CANOPY_LOSE_DEVICE", "12")], Some(&whole));
    let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
    assert!(stderr.contains("the GPU device was lost"), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// The largest value of `key` among samples.
fn largest(samples: &[serde_json::Value], key: &str) -> f64 {
    let values = samples.iter().filter_map(|sample| sample[key].as_f64());
    values.fold(0.0, f64::max)
}

/// An environment lights the first counted frame. If its file breaks later, this is reported once, and the
/// displayed environment stays.
#[test]
fn an_environment_lights_the_first_frame_and_survives_a_broken_file() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    // Red in all directions, as 2 × 1 texels without run lengths.
    let mut red = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n".to_vec();
    red.extend([[200, 0, 0, 128]; 2].as_flattened());
    std::fs::write(display.path("red.hdr"), &red).unwrap();
    let one_frame = [
        "--size",
        "320x240",
        "--exit-after",
        "1",
        "--screenshot",
        "first.png",
    ];
    let mut canopy = display.canopy(&[&["scene.obj", "--env", "red.hdr"][..], &one_frame].concat());
    let start = Instant::now();
    while canopy.0.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < TIMEOUT, "it never ends");
        std::thread::sleep(Duration::from_millis(50));
    }
    let picture = image::open(display.path("first.png")).unwrap().into_rgb8();
    let [r, g, b] = picture.get_pixel(8, 8).0;
    assert!(r > 150 && g < 60 && b < 60, "{r} {g} {b}");

    let canopy = display.canopy(&["scene.obj", "--env", "red.hdr", "--size", "640x480"]);
    let is_red = |screenshot: &Screenshot| {
        let [r, g, b] = screenshot.pixels[8 * screenshot.width + 8];
        r > 150 && g < 60 && b < 60
    };
    display.settled("the red environment", |screenshot| is_red(screenshot));
    std::fs::write(display.path("red.hdr"), &red[..20]).unwrap();
    let window = ["search", "--onlyvisible", "--name", "scene.obj"];
    display.xdotool(&[&window[..], &["windowfocus", "key", "F5"]].concat());
    let told = || std::fs::read_to_string(display.path("stderr")).unwrap();
    let start = Instant::now();
    while !told().contains("red.hdr") {
        assert!(start.elapsed() < TIMEOUT, "nothing is told: {}", told());
        std::thread::sleep(Duration::from_millis(50));
    }
    // Redraws do not read it repeatedly.
    for _ in 0..5 {
        display.xdotool(&["mousemove_relative", "--", "3", "2"]);
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(told().matches("red.hdr").count(), 1, "{}", told());
    display.settled("the red environment, still", |screenshot| is_red(screenshot));
    drop(canopy);
}

/// Scenes change and the window is resized all the time. `CANOPY_SOAK_FRAMES=20000` makes a long run of it.
#[test]
fn memory_stays_constant_while_scenes_and_window_sizes_change() {
    let frames = std::env::var("CANOPY_SOAK_FRAMES").map_or(500_u32, |n| n.parse().unwrap());
    let display = Display::start();
    let rows: String = (0..60)
        .map(|i| format!("v {i} 0 0\nv {i} 1 0\nv {i} 0 1\nf -3 -2 -1\n"))
        .collect();
    let scenes = [OBJ.to_owned(), format!("{OBJ}{rows}")];
    std::fs::write(display.path("scene.obj"), &scenes[0]).unwrap();
    let mut canopy = display.canopy(&[
        "scene.obj",
        "--size",
        "400x300",
        "--set",
        "window.render_scale=0.5",
        "--exit-after",
        &frames.to_string(),
        "--stats",
        "stats.json",
    ]);
    let start = Instant::now();
    let status = (1..)
        .find_map(|turn: usize| {
            // The file is replaced atomically, because it may be open for reading.
            std::fs::write(display.path("next.obj"), &scenes[turn % 2]).unwrap();
            std::fs::rename(display.path("next.obj"), display.path("scene.obj")).unwrap();
            let size = ["500", "400", "620"][turn % 3];
            let window = ["search", "--onlyvisible", "--name", "scene.obj"];
            let changes = ["windowfocus", "key", "F5", "windowsize", size, "300"];
            display.xdotool(&[&window[..], &changes].concat());
            // A load ends the one before. Some pauses are long enough for a busy machine to finish one.
            std::thread::sleep(Duration::from_millis(200 * (turn as u64 % 6 + 1)));
            let patience = TIMEOUT * 3 * (frames / 500).max(1);
            assert!(start.elapsed() < patience, "{frames} frames never end");
            canopy.0.try_wait().unwrap()
        })
        .unwrap();
    let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
    assert!(status.success(), "{stderr}");

    let text = std::fs::read_to_string(display.path("stats.json")).unwrap();
    let stats: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(stats["frames"], frames);
    assert!(stats["scenes"].as_u64().unwrap() > 2, "no scene was changed");
    let samples = stats["memory"].as_array().unwrap();
    let seconds = |sample: &serde_json::Value| sample["seconds"].as_f64().unwrap();
    let end = seconds(samples.last().unwrap());
    // Half of the frames, not of the time, because shaders may be compiled for seconds before the first one.
    let drawn = |sample: &serde_json::Value| sample["frames"].as_u64().unwrap();
    let half = samples.partition_point(|sample| drawn(sample) * 2 < u64::from(frames));
    let half = seconds(&samples[half.min(samples.len() - 1)]);
    let (warm, last) = (half.min(60.0), half.max(end - 60.0));
    let early = samples.partition_point(|sample| seconds(sample) <= warm);
    let late = samples.partition_point(|sample| seconds(sample) < last);
    // Otherwise a slow start would leave nothing to compare in the first part.
    let changed = samples[early - 1]["scenes"].as_u64().unwrap();
    assert!(
        changed > 2,
        "{changed} scenes in the first {warm:.0} s of {end:.0} s"
    );
    for key in ["process_bytes", "gpu_bytes"] {
        let [before, after] = [&samples[..early], &samples[late..]].map(|part| largest(part, key));
        println!("{key}: {before} until {warm:.0} s, {after} after {last:.0} s");
        assert!(
            before > 0.0 && after < before * 1.03 + 4e6,
            "{key} grows from {before} to {after}"
        );
    }
}

/// A folder of several scenes opens the browser, and so does Ctrl+O if the system has no file dialog.
#[test]
fn the_built_in_browser_opens_files_without_a_file_dialog() {
    let display = Display::start();
    std::fs::create_dir(display.path("models")).unwrap();
    for name in ["one.obj", "two.obj"] {
        std::fs::write(display.path("models").join(name), OBJ).unwrap();
    }
    let _canopy = display.canopy(&["models", "--size", "780x400"]);
    let browser = display.settled("the browser", Screenshot::is_drawn);
    display.focus("canopy");
    // Its cursor blinks, so it never settles.
    display.write("TWO");
    display.press("Return");
    display.focus("two.obj");
    display.settled("the scene", |now| now.is_drawn() && *now != browser);

    display.press("F12");
    let saved = || {
        let files = std::fs::read_dir(display.folder.path()).unwrap();
        let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.find(|name| name.starts_with("canopy two 20") && name.ends_with(".png"))
    };
    let start = Instant::now();
    while saved().is_none() {
        assert!(start.elapsed() < TIMEOUT, "F12 saves nothing");
        std::thread::sleep(Duration::from_millis(50));
    }
    let picture = image::open(display.path(&saved().unwrap())).unwrap();
    assert_eq!(picture.height(), 400);
    assert!(picture.width() < 780, "the panel is in the picture");

    // Around the end of the folder.
    display.press("Next");
    display.focus("one.obj");
    let scene = display.settled("the next scene", Screenshot::is_drawn);
    display.press("ctrl+o");
    // The system dialog is tried first.
    let start = Instant::now();
    while display.screenshot().darker_and_brighter(&scene).0 < 0.15 {
        assert!(start.elapsed() < TIMEOUT, "Ctrl+O opens nothing");
        std::thread::sleep(Duration::from_millis(50));
    }
    display.write("two");
    display.press("Return");
    display.focus("two.obj");
    let start = Instant::now();
    let recent = || {
        let file = display.path("canopy").join("recent.json");
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let names = ["/scenes/0/0", "/scenes/1/0"].map(|at| {
            let path = json.pointer(at).and_then(|path| path.as_str());
            path.unwrap_or_default().rsplit('/').next().unwrap().to_owned()
        });
        names == ["two.obj", "one.obj"]
    };
    while !recent() {
        assert!(start.elapsed() < TIMEOUT, "recent files are not listed");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The window at rest shows the same picture as its saved file, `canopy render`, and a render from the saved
/// file. The scene is in the studio, whose shadows take many samples, with the number that its noise
/// requires.
#[test]
fn the_settled_window_and_render_show_the_same_picture() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --set environment.source=auto --size 320x200";
    let settings = " --set window.panel=false --set window.axes=false";
    let words: Vec<_> = line.split(' ').chain(settings.split_whitespace()).collect();
    let canopy = display.canopy(&words);
    display.focus("scene.obj");
    let shown = display.settled("the scene", Screenshot::is_drawn);
    display.press("F12");
    let pictures = || {
        let files = std::fs::read_dir(display.folder.path()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".png")).collect::<Vec<_>>()
    };
    let start = Instant::now();
    while pictures().is_empty() {
        assert!(start.elapsed() < TIMEOUT, "F12 saves nothing");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(canopy);
    let saved = pictures().remove(0);
    let run = |arguments: &str| {
        let words: Vec<_> = arguments.split(' ').collect();
        let words: Vec<_> = words.iter().map(|word| word.replace("SAVED", &saved)).collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        assert!(display.canopy(&words).0.wait().unwrap().success(), "{arguments}");
    };
    run(&format!("render {line} -o render.png --stats s.json"));
    run("render --from SAVED -o from.png --set environment.source=auto");
    let pixels = |name: &str| image::open(display.path(name)).unwrap().to_rgb8();
    let of_window = pixels(&saved);
    assert_eq!(of_window.dimensions(), (320, 200));
    let most = |other: &image::RgbImage| {
        let pairs = of_window.as_raw().iter().zip(other.as_raw());
        pairs.map(|(a, b)| a.abs_diff(*b)).max().unwrap()
    };
    let of_screen = image::RgbImage::from_fn(320, 200, |x, y| {
        image::Rgb(shown.pixels[y as usize * shown.width + x as usize])
    });
    assert!(most(&of_screen) <= 1, "the screen: {}", most(&of_screen));
    for name in ["render.png", "from.png"] {
        let other = most(&pixels(name));
        assert!(other <= 1, "{name}: {other}");
    }
    let stats = std::fs::read(display.path("s.json")).unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&stats).unwrap();
    let samples = stats["samples"].as_u64().unwrap();
    assert!((12..=64).contains(&samples), "{samples}");
}

/// Keys faster than frames go to the focused element after the effect of earlier keys. Escape closes the
/// palette, and F2 opens it again. The text typed then triggers no key of the scene. F2 closes it too.
#[test]
fn keys_keep_their_order_on_slow_frames() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --size 640x480 --set window.panel=false --set window.still_samples=1 --sun -0.4,-1,-0.3 \
                --set sun.angle=0";
    let _canopy = display.canopy(&line.split_whitespace().collect::<Vec<_>>());
    let first = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    display.press("F2");
    let open = display.settled("the palette", |now| *now != first);
    // Without a pause, so that all of them come before the next frame.
    let keys = ["key", "--delay", "0", "Escape", "F2", "1", "1", "1"];
    assert!(display.xdotool(&keys));
    let typed = display.settled("an entry", |now| *now != open && *now != first);
    display.press("F2");
    let closed = display.settled("the scene alone", |now| *now != typed);
    assert!(closed == first, "what was typed has changed the scene");
}

/// A setting is typed in the palette and undone. A picture is opened again with its settings. Only the
/// picture fills the window.
#[test]
fn settings_are_typed_and_undone_and_pictures_are_reopened() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let still = [
        "--set",
        "window.still_samples=1",
        "--set",
        "window.render_scale=1",
        "--set",
        "window.panel=false",
    ];
    let size = ["--size", "640x480"];
    let look = ["--sun", "-0.4,-1,-0.3", "--set", "sun.angle=0"];
    let canopy = display.canopy(&[&["scene.obj"][..], &size, &look, &still].concat());
    let first = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    display.press("F2");
    display.write("shadows.mode off");
    display.press("Return");
    display.settled("no shadows", |now| now.darker_and_brighter(&first).1 > 0.002);
    display.press("ctrl+z");
    display.settled("the shadows again", |now| *now == first);
    // From another view than the first.
    display.press("KP_4");
    let other = display.settled("another view", |now| now.darker_and_brighter(&first).0 > 0.01);
    display.press("ctrl+shift+z");
    let made = display.settled("that without shadows", |now| {
        now.darker_and_brighter(&other).1 > 0.002
    });
    display.press("F12");
    let saved = || {
        let files = std::fs::read_dir(display.folder.path()).unwrap();
        let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.find(|name| name.starts_with("canopy scene 20") && name.ends_with(".png"))
    };
    let start = Instant::now();
    while saved().is_none() {
        assert!(start.elapsed() < TIMEOUT, "F12 saves nothing");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(canopy);
    let picture = saved().unwrap();
    let _canopy = display.canopy(&[&[picture.as_str()][..], &size, &still].concat());
    let again = display.settled("the picture's scene", |now| {
        let (darker, brighter) = now.darker_and_brighter(&made);
        now.is_drawn() && darker + brighter < 0.005
    });
    // The presentation has no axes.
    display.focus("scene.obj");
    display.press("F10");
    let alone = display.settled("the picture alone", |now| *now != again);
    assert!(alone.is_drawn());
    display.press("Escape");
    display.settled("the window again", |now| *now == again);
}

/// After Esc cancels a load, the window stays open with its former scene.
#[test]
fn escape_cancels_a_load() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    // A grid that takes seconds to read.
    const SIDE: usize = 1200;
    let mut grid = String::new();
    for at in 0..SIDE * SIDE {
        grid += &format!("v {} 0 {}\n", at % SIDE, at / SIDE);
    }
    for row in 1..SIDE {
        for column in 1..SIDE {
            let corner = row * SIDE + column;
            let (left, below) = (corner + 1 - SIDE, corner + 1);
            grid += &format!("f {} {left} {below} {}\n", left - 1, below - 1);
        }
    }
    std::fs::write(display.path("vast.obj"), grid).unwrap();
    let line = "vast.obj --size 500x300 --set window.panel=false";
    let mut canopy = display.canopy(&line.split(' ').collect::<Vec<_>>());
    display.focus("canopy");
    display.press("Escape");
    let stays = Instant::now();
    while stays.elapsed() < Duration::from_secs(12) {
        assert!(canopy.0.try_wait().unwrap().is_none(), "it quit");
        let shown = display.xdotool(&["search", "--onlyvisible", "--name", "vast.obj"]);
        assert!(!shown, "the load went on");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(display.xdotool(&["key", "Escape", "key", "Escape"]));
    let asked = Instant::now();
    while canopy.0.try_wait().unwrap().is_none() {
        assert!(asked.elapsed() < TIMEOUT, "it never quits");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn escape_asks_before_it_quits() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let settings = [
        "scene.obj",
        "--size",
        "500x300",
        "--set",
        "window.still_samples=1",
        "--set",
        "window.panel=false",
    ];
    let mut canopy = display.canopy(&settings);
    display.focus("scene.obj");
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.press("h");
    display.settled("the help", |now| *now != scene);
    display.press("Escape");
    display.settled("the scene alone", |now| *now == scene);
    assert!(canopy.0.try_wait().unwrap().is_none(), "it quit");
    // For a second after a load, Escape refers to the load.
    std::thread::sleep(Duration::from_millis(1200));
    display.press("Escape");
    display.settled("a question", Screenshot::is_drawn);
    assert!(canopy.0.try_wait().unwrap().is_none(), "once is not enough");
    assert!(display.xdotool(&["key", "Escape", "key", "Escape"]));
    let start = Instant::now();
    while canopy.0.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < TIMEOUT, "it never quits");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(canopy.0.wait().unwrap().success());
}

/// On a white display, a window shown before its first frame would be black.
#[test]
fn the_window_is_never_black() {
    let display = Display::start_with(&["-wr"]);
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let mut canopy = display.canopy(&["scene.obj", "--size", "800x600"]);
    let start = Instant::now();
    let share = |shot: &Screenshot, color: [u8; 3]| {
        let count = shot.pixels.iter().filter(|pixel| **pixel == color).count();
        count as f64 / shot.pixels.len() as f64
    };
    let mut black = Duration::ZERO;
    let mut last = Instant::now();
    loop {
        let shot = display.screenshot();
        if share(&shot, [0; 3]) > 0.3 {
            black += last.elapsed();
        }
        last = Instant::now();
        if share(&shot, [255; 3]) < 0.5 && share(&shot, [0; 3]) < 0.1 {
            break;
        }
        assert!(start.elapsed() < TIMEOUT, "the window never came");
        assert!(canopy.0.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(3));
    }
    assert!(black < Duration::from_millis(150), "black for {black:?}");
}

/// The palette goes to a setting in the panel by keyboard alone, and arrows change it. The search field for
/// settings does the same.
#[test]
fn settings_can_be_found_and_changed_by_keyboard_alone() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --size 780x590 --eye 2.5,3,3.5 --target 0,0.2,0 --shadows off --set window.panel=false \
                --set window.render_scale=1 --set window.still_samples=1 --set window.axes=false \
                --set image.exposure=histogram --set exposure.adaptation=0";
    let _canopy = display.canopy(&line.split_whitespace().collect::<Vec<_>>());
    display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    display.press("F2");
    display.write("exposure.compensation");
    assert!(display.xdotool(&[
        "key", "Return", "sleep", "0.5", "key", "Next", "Next", "sleep", "0.5"
    ]));
    assert!(display.xdotool(&["key", "Return", "sleep", "2"]));
    // The scene left of the panel.
    let scene = |shot: &Screenshot| Screenshot {
        width: 420,
        pixels: shot
            .pixels
            .chunks(shot.width)
            .flat_map(|row| &row[..420])
            .copied()
            .collect(),
    };
    let before = scene(&display.settled("the panel", |_| true));
    for _ in 0..4 {
        assert!(display.xdotool(&["key", "Right", "sleep", "0.2"]));
    }
    display.settled("a brighter scene", |now| {
        scene(now).darker_and_brighter(&before).1 > 0.1
    });
    // The field above the tabs finds another setting, and Enter goes to its control.
    let before = scene(&display.settled("at rest", |_| true));
    display.press("Escape");
    display.press("ctrl+f");
    display.write("clay");
    for key in ["Return", "space"] {
        display.press(key);
    }
    display.settled("clay", |now| scene(now) != before);
}
