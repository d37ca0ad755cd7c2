//! Inspection: meshes, materials, BVHs, textures, times.

use crate::{
    display::{Display, OBJ, Screenshot, TIMEOUT},
    folder::canopy_in,
};
use std::time::{Duration, Instant};

/// A click outlines the mesh and opens its card, and Escape removes both. A hidden mesh casts no shadow.
#[test]
fn a_click_selects_a_mesh_that_can_be_hidden() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --size 640x480 --eye 2.5,3,3.5 --target 0,0.2,0 --sun -0.4,-1,-0.3 --set window.panel=false \
                --set window.render_scale=1 --set window.still_samples=1 --set sun.angle=0";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let mut canopy = display.canopy(&arguments);
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    let click = |x: &str, y: &str| {
        assert!(display.xdotool(&["mousemove", x, y, "click", "1"]));
    };
    // Frames that converge may end a level apart.
    let same = |now: &Screenshot| {
        let (darker, brighter) = now.darker_and_brighter(&scene);
        darker + brighter < 1e-4
    };
    // The card is in the middle of the picture.
    click("320", "190");
    let selected = display.settled("an outline", |now| !same(now));
    let green = |now: &Screenshot| {
        let is_green = |p: &&[u8; 3]| p[1] > 200 && p[0] < 130 && p[2] < 180;
        now.pixels.iter().filter(is_green).count()
    };
    assert!(green(&selected) > green(&scene) + 300, "{}", green(&selected));
    display.press("Escape");
    display.settled("no outline", same);
    click("320", "190");
    display.settled("an outline again", |now| green(now) > green(&scene) + 300);
    display.press("shift+h");
    let hidden = display.settled("the floor alone", |now| green(now) == green(&scene));
    let (darker, brighter) = hidden.darker_and_brighter(&scene);
    assert!(
        darker + brighter > 0.02,
        "{darker} is darker, {brighter} brighter"
    );
    display.press("alt+h");
    display.settled("all meshes", same);
    // A click on the background selects nothing, and the program continues.
    click("20", "20");
    display.settled("the same picture", same);
    assert!(canopy.0.try_wait().unwrap().is_none(), "the window is gone");
}

/// Alt+O opens the scene tree. A name is searched, its row clicked and its mesh hidden. A material is edited
/// and a light added, and one click resets everything to the file.
#[test]
fn the_scene_tree_is_searched_and_edited() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --size 720x480 --eye 2.5,3,3.5 --target 0,0.2,0 --sun -0.4,-1,-0.3 --set window.panel=false \
                --set window.render_scale=1 --set window.still_samples=1 --set sun.angle=0 --shadows rays \
                --set output.size=[420,480] --set window.axes=false --occlusion off --set reflections.mode=off";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let mut canopy = display.canopy(&arguments);
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    let click = |x: &str, y: &str| {
        assert!(display.xdotool(&["mousemove", x, y, "sleep", "0.3", "click", "1"]));
        // Nothing is highlighted under the pointer.
        assert!(display.xdotool(&["sleep", "0.3", "mousemove", "630", "470"]));
    };
    // The picture right of the tree.
    let differ = |a: &Screenshot, b: &Screenshot| {
        let at = |shot: &Screenshot| -> Vec<[u8; 3]> {
            let row = |y: usize| shot.pixels[y * shot.width + 320..y * shot.width + 630].to_vec();
            (120..400).flat_map(row).collect()
        };
        let pairs = at(a).into_iter().zip(at(b));
        let far = |(a, b): &([u8; 3], [u8; 3])| (0..3).any(|c| a[c].abs_diff(b[c]) > 3);
        let count = pairs.filter(far).count();
        count as f64 / (310.0 * 280.0)
    };
    display.press("alt+o");
    let open = display.settled("the tree", |now| differ(now, &scene) > 0.05);
    let same = |now: &Screenshot| differ(now, &open) < 1e-4;
    click("80", "40");
    display.write("CAR");
    // The node found by the search, below the list of nodes.
    click("60", "116");
    let green = |now: &Screenshot| {
        let is_green = |p: &&[u8; 3]| p[1] > 200 && p[0] < 130 && p[2] < 180;
        let right = |y: usize| &now.pixels[y * now.width + 320..y * now.width + 630];
        (120..400).flat_map(right).filter(is_green).count()
    };
    display.settled("an outline", |now| green(now) > green(&open) + 100);
    display.press("shift+h");
    display.settled("the floor alone", |now| {
        green(now) == green(&open) && differ(now, &open) > 0.02
    });
    display.press("alt+h");
    display.settled("all meshes", same);
    // Side B keeps the current picture, to the right of a line at the centre of the picture.
    display.press("k");
    let compared = display.settled("a line", |now| differ(now, &open) > 1e-4);
    let side_b = |shot: &Screenshot| -> Vec<[u8; 3]> {
        let row = |y: usize| shot.pixels[y * shot.width + 530..y * shot.width + 700].to_vec();
        (120..400).flat_map(row).collect()
    };
    assert!(side_b(&compared) == side_b(&open), "B is another picture");
    // The list of materials, its first entry, and the slider that makes it a metal.
    click("80", "40");
    assert!(display.xdotool(&["key", "ctrl+a", "key", "BackSpace"]));
    click("60", "154");
    click("60", "173");
    let drag = "mousemove 134 391 sleep 0.3 mousedown 1 sleep 0.5 mousemove 198 391 sleep 0.5 mouseup 1";
    assert!(display.xdotool(&drag.split(' ').collect::<Vec<_>>()));
    let half = display.settled("a metal on side A", |now| differ(now, &compared) > 0.05);
    assert!(side_b(&half) == side_b(&open), "the edit is on side B too");
    display.press("k");
    let metal = display.settled("a metal", |now| differ(now, &half) > 0.05);
    assert!(side_b(&metal) != side_b(&open));
    // A light that is added in front of the surface in the middle of the picture.
    click("160", "16");
    click("160", "44");
    let lit = display.settled("a light", |now| differ(now, &metal) > 0.02);
    // The menu of all edits: the first entry resets them.
    click("240", "16");
    click("240", "44");
    display.settled("what the file says", |now| differ(now, &open) < 1e-3);
    // All edits are in one history. An added light has another marker while it is selected.
    for (key, what, expected, most) in [
        ("ctrl+z", "the light again", &lit, 0.01),
        ("ctrl+z", "no light", &metal, 1e-4),
        ("ctrl+z", "no metal", &open, 1e-4),
        ("ctrl+y", "a metal again", &metal, 1e-4),
    ] {
        display.press(key);
        display.settled(what, |now| differ(now, expected) < most);
    }
    // A picture keeps the edits, and so does an export, which another process draws.
    display.press("ctrl+y");
    display.settled("both again", |now| differ(now, &lit) < 0.01);
    let saved = |end: &str| {
        let start = Instant::now();
        loop {
            let files = std::fs::read_dir(display.folder.path()).unwrap();
            let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
            let found = names.find(|name| name.starts_with("canopy scene 20") && name.ends_with(end));
            if let Some(name) = found {
                return name;
            }
            assert!(start.elapsed() < TIMEOUT, "no {end} is saved");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    display.press("F12");
    let shown = saved(".png");
    let still = display.settled("the picture", Screenshot::is_drawn);
    display.press("alt+e");
    let card = display.settled("the card", |now| *now != still);
    // Its button has the keyboard focus, and the card still closes.
    display.press("alt+e");
    display.settled("the picture again", |now| *now != card);
    display.press("alt+e");
    display.settled("the card again", |now| *now != still);
    display.press("Return");
    let exported = saved("0000.png");
    assert!(canopy.0.try_wait().unwrap().is_none(), "the window is gone");
    drop(canopy);
    let pixels = |name: &str| image::open(display.path(name)).unwrap().to_rgba8();
    let again = |line: &str| {
        let mut arguments = vec!["render", "--from", shown.as_str(), "-o", "again.png"];
        arguments.extend(line.split_whitespace());
        assert!(display.canopy(&arguments).0.wait().unwrap().success());
        pixels("again.png")
    };
    assert_eq!(pixels(&shown).dimensions(), (420, 480));
    // Edges depend on the samples of a frame. A missing light changes far more.
    let far = |a: &image::RgbaImage, b: &image::RgbaImage| {
        let pairs = a.pixels().zip(b.pixels());
        let is_far =
            |(a, b): &(&image::Rgba<u8>, &image::Rgba<u8>)| (0..3).any(|c| a.0[c].abs_diff(b.0[c]) > 3);
        pairs.filter(is_far).count() as f64 / f64::from(a.width() * a.height())
    };
    let made_again = far(&again(""), &pixels(&shown));
    assert!(made_again < 0.01, "made again: {made_again}");
    let other = far(&again("--samples 16"), &pixels(&exported));
    assert!(other < 0.01, "the export: {other}");
}

/// Shift+I shows parts that intersect other meshes in orange. The panel counts them and lists the meshes, and
/// a click on an entry selects both.
#[test]
fn intersecting_meshes_are_shown_counted_and_selected() {
    let display = Display::start();
    let spike = "o spike\nv 0.2 -1 0.2\nv 0 1 0.2\nv 0.4 1 0.2\nf 9 10 11\n";
    std::fs::write(display.path("scene.obj"), format!("{OBJ}{spike}")).unwrap();
    let others = [
        "Channel",
        "Timings",
        "BVH",
        "Ray cost",
        "BVH boxes",
        "Mesh overlays",
    ];
    display.lay_out_panel("Analyse", &["Intersections"], &others);
    let line = "scene.obj --size 780x590 --eye 2.5,3,3.5 --target 0,0.2,0 --set window.render_scale=1 \
                --set window.still_samples=1 --shadows off";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let _canopy = display.canopy(&arguments);
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    let count =
        |now: &Screenshot, is: fn(&[u8; 3]) -> bool| now.pixels.iter().filter(|pixel| is(pixel)).count();
    let orange = |now: &Screenshot| count(now, |p| p[0] > 140 && p[1] > 80 && p[1] < 165 && p[2] < 5);
    // The name of a software adapter is orange too.
    let plain = orange(&scene);
    display.press("shift+i");
    // The floor's nearer half, half of the card, and the spike.
    let shown = display.settled("orange", |now| orange(now) > plain + 20_000);
    let green = |now: &Screenshot| count(now, |p| p[1] > 200 && p[0] < 130 && p[2] < 180);
    // The first row of the list.
    assert!(display.xdotool(&["mousemove", "560", "532", "click", "1"]));
    let selected = display.settled("outlines", |now| green(now) > green(&shown) + 300);
    assert!(selected != shown);
    display.press("Escape");
    // Counted while the lit picture is shown, so the list stays.
    assert!(display.xdotool(&["mousemove", "20", "580"]));
    display.press("shift+i");
    let lit = display.settled("the lit scene", |now| orange(now) == plain);
    assert!(display.xdotool(&["mousemove", "690", "484", "click", "1"]));
    assert!(display.xdotool(&["mousemove", "20", "580"]));
    let rows = |now: &Screenshot| -> Vec<_> {
        let row = |y: usize| now.pixels[y * now.width + 490..y * now.width + 640].to_vec();
        (520..568).flat_map(row).collect()
    };
    assert!(rows(&lit) != rows(&shown));
    let counted = display.settled("the same list", |now| rows(now) == rows(&shown));
    assert_eq!(orange(&counted), plain);
}

/// Lines of deviation statistics that canopy has reported so far, in order.
fn told_figures(display: &Display) -> Vec<String> {
    let log = std::fs::read_to_string(display.path("stderr")).unwrap();
    let lines = log.lines().filter_map(|line| {
        let (_, figures) = line.split_once("measured the deviation in ")?;
        Some(figures.split_once(" ms: ")?.1.to_owned())
    });
    lines.collect()
}

/// The statistics equal those of the command at the same time of a clip. New ones appear once the file that
/// the scene is compared with has changed.
#[test]
fn deviation_statistics_match_the_command_and_follow_its_file() {
    let display = Display::start();
    // The moving parts are in the built-in scene, which is compared with a plane.
    let builtin = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/builtin.glb");
    let plane = "v -9 0 -9\nv 9 0 -9\nv 9 0 9\nv -9 0 9\nf 4 3 2 1\n";
    std::fs::write(display.path("plane.obj"), plane).unwrap();
    let options = format!(
        "{builtin} --deviation plane.obj --time 0.5 --watch --size 500x400 --shadows off \
         --set window.panel=false \
         --set animation.play=false --set window.still_samples=1 --set window.render_scale=1 \
         --set deviation.tolerance=0.25"
    );
    let arguments: Vec<_> = options.split_whitespace().collect();
    let mut canopy = display.canopy_with(&arguments, &[("RUST_LOG", "canopy=debug")]);
    let wait_for = |count: usize| {
        let start = Instant::now();
        while told_figures(&display).len() < count {
            let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
            assert!(start.elapsed() < TIMEOUT, "no figures: {stderr}");
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    // The command prints the statistics of the window as text.
    let of_command = || {
        let line = format!("deviation {builtin} plane.obj -q --time 0.5 --tolerance 0.25");
        let output = canopy_in(display.folder.path(), &line).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let figures: Vec<_> = text.lines().skip(2).collect();
        assert!(figures.len() == 5, "{text}");
        figures.join("; ")
    };
    wait_for(1);
    let first = of_command();
    assert_eq!(told_figures(&display)[0].trim_end_matches("; "), first);
    display.settled("the figures", Screenshot::is_drawn);
    assert_eq!(told_figures(&display).len(), 1, "nothing has moved");

    std::fs::write(display.path("next"), plane.replace(" 0 ", " 0.5 ")).unwrap();
    std::fs::rename(display.path("next"), display.path("plane.obj")).unwrap();
    wait_for(2);
    let second = of_command();
    assert_ne!(second, first);
    assert_eq!(told_figures(&display)[1].trim_end_matches("; "), second);
    assert!(canopy.0.try_wait().unwrap().is_none(), "the window is gone");
}

/// A preview marks the point that a click would measure, and disappears once the pointer has left the
/// picture.
#[test]
fn the_measuring_point_is_previewed_under_the_pointer() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --size 640x480 --eye 2.5,3,3.5 --target 0,0.2,0 --set window.panel=false \
                --shadows off --set window.render_scale=1 --set window.still_samples=1";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let _canopy = display.canopy(&arguments);
    display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    let point_at = |x: &str, y: &str| assert!(display.xdotool(&["mousemove", x, y]));
    point_at("700", "550");
    display.press("shift+m");
    let away = display.settled("the card", Screenshot::is_drawn);
    // The colour of the measurement, around the pointer. The card lies elsewhere.
    let marks = |now: &Screenshot| {
        let is_mark = |p: &&[u8; 3]| p[0] > 240 && (225..250).contains(&p[1]) && (170..215).contains(&p[2]);
        let rows = now.pixels.chunks(now.width).skip(140).take(100);
        rows.flat_map(|row| &row[280..360]).filter(is_mark).count()
    };
    let none = marks(&away);
    point_at("320", "190");
    display.settled("a preview", |now| marks(now) > none + 20);
    // Outside the window, whose picture stays unchanged.
    point_at("700", "550");
    display.settled("no preview", |now| marks(now) == none);
    point_at("320", "190");
    display.settled("a preview again", |now| marks(now) > none + 20);
    // Over the card with the points, which is not the picture.
    point_at("60", "90");
    display.settled("no preview beside", |now| marks(now) == none);
}

/// Y draws boxes of the BVHs, and the panel counts them. Shift+R and a click trace a ray, and its steps can
/// be viewed.
#[test]
fn tree_boxes_and_ray_traversal_steps_are_shown() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let others = ["Channel", "Timings", "Ray cost", "BVH boxes", "Mesh overlays"];
    display.lay_out_panel("Analyse", &["BVH", "BVH, more"], &others);
    let line = "scene.obj --size 780x590 --eye 2.5,3,3.5 --target 0,0.2,0 --set window.render_scale=1 \
                --set window.still_samples=1 --shadows off --leaf-cutoff 1";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let _canopy = display.canopy_with(&arguments, &[("RUST_LOG", "canopy=debug")]);
    let log = || std::fs::read_to_string(display.path("stderr")).unwrap();
    // Only the picture, because the panel shows statistics, and notices come and go at its lower edge.
    let changed = |now: &Screenshot, before: &Screenshot| {
        let rows = now.pixels.chunks(now.width).zip(before.pixels.chunks(now.width));
        let pixels = rows.take(480).flat_map(|(a, b)| a.iter().zip(b).take(470));
        pixels.filter(|(a, b)| a != b).count()
    };
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    // Two triangles in each of two trees.
    display.settled("figures", |_| {
        log().contains("counted the BVHs: 2 nodes, 4 leaves")
    });
    display.press("y");
    let boxes = display.settled("boxes", |now| changed(now, &scene) > 1500);
    display.press("shift+y");
    display.settled("other boxes", |now| changed(now, &boxes) > 300);
    display.press("y");
    display.settled("no boxes", |now| changed(now, &scene) < 40);

    display.press("shift+r");
    // The card is above the middle of the picture.
    assert!(display.xdotool(&["mousemove", "240", "230", "click", "1"]));
    // Green rays and triangles, and the cyan box of the current step.
    let path = |now: &Screenshot| {
        let is_path = |p: &&[u8; 3]| p[1] > 200 && p[0] < 160;
        let rows = now.pixels.chunks(now.width).take(480);
        rows.flat_map(|row| &row[..470]).filter(is_path).count()
    };
    let traced = display.settled("a path", |now| changed(now, &scene) > 300);
    let told = log();
    assert!(
        told.contains("a ray visits 3 nodes and tests 2 triangles"),
        "{told}"
    );
    assert!(path(&traced) > path(&scene) + 50, "{}", path(&traced));
    for _ in 0..2 {
        display.press("comma");
    }
    let before = display.settled("a step before", |now| changed(now, &traced) > 50);
    display.press("period");
    display.settled("the next step", |now| changed(now, &before) > 20);
    display.press("Escape");
    display.settled("no path", |now| changed(now, &scene) < 40);
}

/// A key opens the profiler, which shows bars in the colours of passes, and freezes. The trace saved from it
/// and the one from `--profile` at the end hold the displayed frames, paced by the display.
#[test]
fn the_profiler_is_shown_and_a_trace_is_written() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --size 780x590 --set window.render_scale=0.25 --set window.panel=false --shadows off \
                --set window.still_samples=1 --set keys.freeze_profiler=F9 --profile all.json";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let mut canopy = display.canopy(&arguments);
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    // The legend's colour of lighting, which nothing else has.
    let lit = |now: &Screenshot| now.pixels.iter().filter(|p| **p == [213, 94, 0]).count();
    assert_eq!(lit(&scene), 0);
    // The camera turns, so that frames are drawn.
    display.drag([100, 100], [400, 120], 40);
    display.press("shift+p");
    let open = display.settled("the profiler", |now| lit(now) > 60);
    display.press("F9");
    display.drag([100, 100], [300, 120], 20);
    let frozen = display.settled("frozen frames", |now| lit(now) > 60);
    let charts = |now: &Screenshot| -> Vec<[u8; 3]> {
        // Right of the scale's numbers and below the buttons, left of the legend.
        (400..580)
            .flat_map(|y| now.pixels[y * now.width + 70..y * now.width + 560].to_vec())
            .collect()
    };
    assert!(charts(&open) == charts(&frozen), "the frozen chart has changed");
    assert!(open.pixels != frozen.pixels, "the scene stands still too");
    display.press("F9");
    display.settled("later frames", |now| charts(now) != charts(&frozen));
    // The button of the benchmark: a rotation around the scene.
    assert!(display.xdotool(&["mousemove", "407", "373", "click", "1"]));
    let page = || {
        let files = std::fs::read_dir(display.folder.path()).unwrap();
        let mut paths = files.map(|file| file.unwrap().path());
        paths.find(|path| path.extension().is_some_and(|e| e == "html"))
    };
    let start = Instant::now();
    while page().is_none() {
        assert!(start.elapsed() < TIMEOUT, "no report was saved");
        std::thread::sleep(Duration::from_millis(200));
    }
    let report = std::fs::read_to_string(page().unwrap()).unwrap();
    assert_eq!(report.matches("<title>frame ").count(), 2 * 120);
    assert!(report.contains("scene.obj") && report.contains("window.render_scale"));
    let after = display.settled("the view as it was", |now| lit(now) > 60);
    // Above the profiler. Averages over frames have a different history there.
    let scene_of = |now: &Screenshot| Screenshot {
        width: now.width,
        pixels: now.pixels[..340 * now.width].to_vec(),
    };
    let (darker, brighter) = scene_of(&after).darker_and_brighter(&scene_of(&frozen));
    assert!(
        darker + brighter < 0.01,
        "another view: {darker} is darker and {brighter} brighter"
    );
    display.press("shift+p");
    display.settled("the scene alone", |now| lit(now) == 0);
    display.press("ctrl+q");
    let status = canopy.0.wait().unwrap();
    assert!(status.success());
    let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
    let last = stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("wrote all.json ("), "{stderr}");
    let trace = std::fs::read(display.path("all.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&trace).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let count = |cat: &str, name: &str| {
        let same = |event: &&serde_json::Value| event["cat"] == cat && event["name"] == name;
        events.iter().filter(same).count()
    };
    let frames = count("gpu", "frame");
    assert!(frames > 20, "{frames} frames");
    for (cat, name) in [
        ("cpu", "panel"),
        ("cpu", "record"),
        ("cpu", "submit"),
        ("gpu", "gbuffer"),
    ] {
        let count = count(cat, name);
        assert!(count >= frames, "{count} of {name} in {frames} frames");
    }
    let paced = count("present", "picture");
    assert!(paced > frames / 2, "{paced} of {frames} frames follow another");
    assert!(count("memory", "process, bytes") > 0);
}

/// Alt+T opens the texture viewer. One channel is grey, the last level is one colour, and edges of triangles
/// lie over the texture.
#[test]
fn the_texture_viewer_shows_channels_levels_and_uv_edges() {
    let display = Display::start();
    let line = "--size 780x590 --shadows off --occlusion off --set reflections.mode=off --set animation.play=false \
                --set window.panel=false --set window.still_samples=1 --set window.render_scale=0.25";
    let _canopy = display.canopy(&line.split_whitespace().collect::<Vec<_>>());
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.focus("canopy");
    let click = |x: &str, y: &str, button: &str| {
        assert!(display.xdotool(&["mousemove", x, y, "sleep", "0.4", "click", button]));
        // No tooltip lies over the texture, and the pointer is on no texel.
        assert!(display.xdotool(&["sleep", "0.2", "mousemove", "790", "595"]));
    };
    // The normal map of stone in the middle of the viewer.
    let texture = |shot: &Screenshot| -> Vec<[u8; 3]> {
        let row = |y: usize| &shot.pixels[y * shot.width + 320..y * shot.width + 610];
        (140..430).flat_map(row).copied().collect()
    };
    let share = |shot: &Screenshot, is: fn(&[u8; 3]) -> bool| {
        let texels = texture(shot);
        texels.iter().filter(|texel| is(texel)).count() as f64 / texels.len() as f64
    };
    let is_bluish = |p: &[u8; 3]| i32::from(p[2]) > i32::from(p[0]) + 40;
    assert!(share(&scene, is_bluish) < 0.9);
    assert!(display.xdotool(&["key", "alt+t", "mousemove", "790", "595"]));
    let normals = display.settled("normals", |now| share(now, is_bluish) > 0.99);
    click("227", "68", "3");
    let is_grey = |p: &[u8; 3]| p[0] == p[1] && p[1] == p[2];
    let red = display.settled("red alone", |now| share(now, is_grey) > 0.99);
    let varied = |shot: &Screenshot| {
        let texels = texture(shot);
        texels.iter().any(|texel| *texel != texels[0])
    };
    assert!(varied(&red));
    // Level 8 has one texel.
    assert!(display.xdotool(&["mousemove", "697", "68", "sleep", "0.4", "click", "1"]));
    assert!(display.xdotool(&["sleep", "0.4", "key", "ctrl+a"]));
    display.write("8");
    assert!(display.xdotool(&["key", "Return", "mousemove", "790", "595"]));
    display.settled("one texel", |now| share(now, is_grey) > 0.99 && !varied(now));
    // All colours again, and the layout of texture coordinates.
    click("348", "68", "1");
    display.settled("a colour", |now| share(now, is_bluish) > 0.99 && !varied(now));
    click("606", "68", "1");
    display.settled("edges", |now| {
        let plain = texture(&normals);
        let differ = texture(now).iter().zip(&plain).filter(|(a, b)| a != b).count();
        varied(now) && differ > 0
    });
    display.press("Escape");
    display.settled("the scene again", |now| share(now, is_bluish) < 0.9);
}
