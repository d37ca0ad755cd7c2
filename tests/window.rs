//! The real window on a virtual display: its pixels and its keys.

#![cfg(all(target_os = "linux", feature = "viewer"))]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/gltf_builder.rs"]
#[expect(dead_code, reason = "a part of it is for other tests")]
mod gltf_builder;

use std::{
    cell::Cell,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// How long the window may take for anything: a guard against a hang, on a software adapter and a busy
/// machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A floor with a card above it, and a mast.
const OBJ: &str = "o floor\nv -2 0 -2\nv 2 0 -2\nv 2 0 2\nv -2 0 2\nf 4 3 2 1\n\
                   o card\nv -0.7 0.8 -0.7\nv 0.7 0.8 -0.7\nv 0.7 0.8 0.7\nv -0.7 0.8 0.7\nf 8 7 6 5\n";

/// A process that does not outlive the test.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A virtual display that keeps its pixels in a file.
struct Display {
    _server: Guarded,
    name: String,
    folder: tempfile::TempDir,
    /// The process that was started last.
    canopy: Cell<u32>,
}

/// Rows of red, green, blue.
#[derive(Clone, PartialEq)]
struct Screenshot {
    width: usize,
    pixels: Vec<[u8; 3]>,
}

impl Display {
    fn start() -> Self {
        Self::start_with(&[])
    }

    fn start_with(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new("Xvfb")
            // Without `-noreset` the server starts anew when its last client leaves, such as an `xdotool`
            // that is faster than canopy, and refuses connections meanwhile.
            .args([
                "-noreset",
                "-displayfd",
                "1",
                "-screen",
                "0",
                "800x600x24",
                "-fbdir",
            ])
            .arg(folder.path())
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("this test needs Xvfb, which scripts/test installs: {e}"));
        let mut number = String::new();
        let stdout = server.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut number).unwrap();
        Self {
            _server: Guarded(server),
            name: format!(":{}", number.trim()),
            folder,
            canopy: Cell::new(0),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts canopy on this display, away from the settings of whoever runs the tests.
    fn canopy(&self, arguments: &[&str]) -> Guarded {
        self.canopy_with(arguments, &[])
    }

    fn canopy_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Guarded {
        let child = Command::new(env!("CARGO_BIN_EXE_canopy"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("DISPLAY", &self.name)
            .env_remove("WAYLAND_DISPLAY")
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path())
            .env("XDG_STATE_HOME", self.folder.path())
            // No desktop portal and no zenity: file dialogs cannot open.
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
            .env("PATH", "/nowhere")
            .envs(environment.iter().copied())
            .stderr(std::fs::File::create(self.path("stderr")).unwrap())
            .spawn();
        let child = child.unwrap();
        self.canopy.set(child.id());
        Guarded(child)
    }

    fn xdotool(&self, arguments: &[&str]) -> bool {
        let status = Command::new("xdotool")
            .args(arguments)
            .env("DISPLAY", &self.name)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status
            .unwrap_or_else(|e| panic!("this test needs xdotool, which scripts/test installs: {e}"))
            .success()
    }

    /// The display as it is. The file is in the format of xwd, version 7: a header of big-endian words,
    /// colours, pixels.
    fn screenshot(&self) -> Screenshot {
        let bytes = std::fs::read(self.path("Xvfb_screen0")).unwrap();
        let word = |index: usize| {
            u32::from_be_bytes(bytes[4 * index..4 * index + 4].try_into().unwrap()) as usize
        };
        let (width, height, row_bytes) = (word(4), word(5), word(12));
        let first = word(0) + 12 * word(19);
        let pixel = |i: usize| {
            let at = first + i / width * row_bytes + i % width * 4;
            [bytes[at + 2], bytes[at + 1], bytes[at]]
        };
        Screenshot {
            width,
            pixels: (0..width * height).map(pixel).collect(),
        }
    }

    /// User and system time of the process that was started last, in hundredths of a second.
    fn worked(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.canopy.get())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11);
        let times = fields.take(2).map(|n| n.parse::<u64>().unwrap());
        times.sum()
    }

    /// The display once canopy has been idle for a while and the picture is accepted. On a busy machine the
    /// picture may stand for a while although canopy still works on the next one.
    fn settled(&self, what: &str, accept: impl Fn(&Screenshot) -> bool) -> Screenshot {
        let start = Instant::now();
        let (mut last, mut worked) = (self.screenshot(), self.worked());
        while start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(700));
            let (now, works) = (self.screenshot(), self.worked());
            if now == last && works < worked + 4 && accept(&now) {
                return now;
            }
            (last, worked) = (now, works);
        }
        let stderr = std::fs::read_to_string(self.path("stderr")).unwrap_or_default();
        panic!("the window never showed {what}; canopy said: {stderr}");
    }

    /// Waits for a window whose title holds `name`, and gives it the keyboard.
    fn focus(&self, name: &str) {
        let start = Instant::now();
        let found = ["search", "--onlyvisible", "--name", name, "windowfocus"];
        while !self.xdotool(&found) {
            let stderr = std::fs::read_to_string(self.path("stderr")).unwrap_or_default();
            assert!(start.elapsed() < PATIENCE, "no window \"{name}\": {stderr}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn write(&self, text: &str) {
        assert!(self.xdotool(&["type", "--delay", "60", text]), "{text}");
    }

    /// Presses a key, and waits until the notice of what it did has gone.
    fn press(&self, key: &str) {
        assert!(self.xdotool(&["key", key]), "{key} cannot be pressed");
        std::thread::sleep(Duration::from_millis(2700));
    }
}

impl Screenshot {
    /// Shares of the display's pixels that are darker and brighter than in `other`, by more than rounding.
    fn darker_and_brighter(&self, other: &Self) -> (f64, f64) {
        let sum = |p: &[u8; 3]| p.iter().map(|c| i32::from(*c)).sum::<i32>();
        let steps = self
            .pixels
            .iter()
            .zip(&other.pixels)
            .map(|(a, b)| sum(a) - sum(b));
        let count = self.pixels.len() as f64;
        let (mut darker, mut brighter) = (0.0, 0.0);
        for step in steps {
            darker += f64::from(u8::from(step < -24)) / count;
            brighter += f64::from(u8::from(step > 24)) / count;
        }
        (darker, brighter)
    }

    fn is_drawn(&self) -> bool {
        let first = self.pixels[self.width + 1];
        first != [0; 3] && self.pixels.iter().any(|p| *p != first && *p != [0; 3])
    }
}

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
    // The title names the file; without a window manager nobody else gives the window the keyboard.
    let found = [
        "search",
        "--onlyvisible",
        "--name",
        "scene.obj",
        "windowfocus",
    ];
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
        assert!(start.elapsed() < PATIENCE, "Ctrl+Q does not end it");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(status.success(), "{status}");
}

#[test]
fn a_still_picture_is_the_mean_of_samples_and_then_nothing_is_drawn() {
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
    let _canopy = show(16);
    let differs = |now: &Screenshot| now.is_drawn() && *now != filtered;
    let mean = display.settled("the mean of samples", differs);
    let (darker, brighter) = mean.darker_and_brighter(&filtered);
    assert!(
        darker + brighter < 0.02,
        "more than edges: {darker} is darker, {brighter} brighter"
    );
    let before = display.worked();
    std::thread::sleep(Duration::from_secs(2));
    let took = display.worked() - before;
    assert!(
        took < 40,
        "{took} hundredths of a second for two idle seconds"
    );
}

/// A click outlines the mesh and brings up its card, and Escape takes both away. A hidden mesh takes its
/// shadow along.
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
    assert!(
        green(&selected) > green(&scene) + 300,
        "{}",
        green(&selected)
    );
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
    // Where nothing is: no selection, and no end of the program.
    click("20", "20");
    display.settled("the same picture", same);
    assert!(canopy.0.try_wait().unwrap().is_none(), "the window is gone");
}

/// Alt+O opens the scene tree. A name is searched for and its row clicked, its mesh hidden; a material is
/// edited, a light added; and a click makes all of it what the file says.
#[test]
fn a_scene_is_looked_into_and_edited() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --size 640x480 --eye 2.5,3,3.5 --target 0,0.2,0 --sun -0.4,-1,-0.3 --set window.panel=false \
                --set window.render_scale=1 --set window.still_samples=1 --set sun.angle=0 --shadows rays \
                --set output.size=[340,480] --set window.axes=false";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let mut canopy = display.canopy(&arguments);
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    let click = |x: &str, y: &str| {
        assert!(display.xdotool(&["mousemove", x, y, "sleep", "0.3", "click", "1"]));
        // Nothing lights up under the pointer.
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
    // Below the list of nodes, the one that is found.
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
    // Side B keeps what is shown now, behind a line in the middle of the picture.
    display.press("k");
    let compared = display.settled("a line", |now| differ(now, &open) > 1e-4);
    let side_b = |shot: &Screenshot| -> Vec<[u8; 3]> {
        let row = |y: usize| shot.pixels[y * shot.width + 490..y * shot.width + 630].to_vec();
        (120..400).flat_map(row).collect()
    };
    assert!(side_b(&compared) == side_b(&open), "B is another picture");
    // The list of materials, the first of them, and the slider that makes it a metal.
    click("80", "40");
    assert!(display.xdotool(&["key", "ctrl+a", "key", "BackSpace"]));
    click("60", "154");
    click("60", "173");
    let drag =
        "mousemove 134 391 sleep 0.3 mousedown 1 sleep 0.5 mousemove 198 391 sleep 0.5 mouseup 1";
    assert!(display.xdotool(&drag.split(' ').collect::<Vec<_>>()));
    let half = display.settled("a metal on side A", |now| differ(now, &compared) > 0.05);
    assert!(side_b(&half) == side_b(&open), "the edit is on side B too");
    display.press("k");
    let metal = display.settled("a metal", |now| differ(now, &half) > 0.05);
    assert!(side_b(&metal) != side_b(&open));
    // A light that is added before what the middle of the picture shows.
    click("160", "16");
    click("160", "44");
    let lit = display.settled("a light", |now| differ(now, &metal) > 0.02);
    // The menu of all edits: the first entry resets them.
    click("240", "16");
    click("240", "44");
    display.settled("what the file says", |now| differ(now, &open) < 1e-3);
    // All of it is one history. The mark of a light that was added is another one while it is selected.
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
            let found =
                names.find(|name| name.starts_with("canopy scene 20") && name.ends_with(end));
            if let Some(name) = found {
                return name;
            }
            assert!(start.elapsed() < PATIENCE, "no {end} is saved");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    display.press("F12");
    let shown = saved(".png");
    display.press("alt+e");
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
    assert_eq!(pixels(&shown).dimensions(), (340, 480));
    // Edges are where the samples of a frame fall; a light that is missing changes far more.
    let far = |a: &image::RgbaImage, b: &image::RgbaImage| {
        let pairs = a.pixels().zip(b.pixels());
        let is_far = |(a, b): &(&image::Rgba<u8>, &image::Rgba<u8>)| {
            (0..3).any(|c| a.0[c].abs_diff(b.0[c]) > 3)
        };
        pairs.filter(is_far).count() as f64 / f64::from(a.width() * a.height())
    };
    let made_again = far(&again(""), &pixels(&shown));
    assert!(made_again < 0.01, "made again: {made_again}");
    let other = far(&again("--samples 16"), &pixels(&exported));
    assert!(other < 0.01, "the export: {other}");
}

/// Shift+I shows what passes through other meshes, in orange; the panel counts it and lists the meshes, and a
/// click on them selects both.
#[test]
fn what_passes_through_is_shown_counted_and_selected() {
    let display = Display::start();
    let spike = "o spike\nv 0.2 -1 0.2\nv 0 1 0.2\nv 0.4 1 0.2\nf 9 10 11\n";
    std::fs::write(display.path("scene.obj"), format!("{OBJ}{spike}")).unwrap();
    // All sections but this one are folded.
    let folded = ["Shadows", "Sun", "Environment", "Image", "Scene", "View"];
    let folded = folded.map(|name| format!("\"{name}\": false")).join(", ");
    let layout = format!("{{\"width\": 300, \"open\": {{\"Intersections\": true, {folded}}}}}");
    std::fs::create_dir_all(display.path("canopy")).unwrap();
    std::fs::write(display.path("canopy/panel.json"), layout).unwrap();
    let line = "scene.obj --size 780x590 --eye 2.5,3,3.5 --target 0,0.2,0 --set window.render_scale=1 \
                --set window.still_samples=1 --shadows off";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let _canopy = display.canopy(&arguments);
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    let count = |now: &Screenshot, is: fn(&[u8; 3]) -> bool| {
        now.pixels.iter().filter(|pixel| is(pixel)).count()
    };
    let orange =
        |now: &Screenshot| count(now, |p| p[0] > 140 && p[1] > 80 && p[1] < 165 && p[2] < 5);
    // The name of a software adapter is orange too.
    let plain = orange(&scene);
    display.press("shift+i");
    // The floor's nearer half, half of the card, and the spike.
    let shown = display.settled("orange", |now| orange(now) > plain + 20_000);
    let green = |now: &Screenshot| count(now, |p| p[1] > 200 && p[0] < 130 && p[2] < 180);
    // The first row of the list.
    assert!(display.xdotool(&["mousemove", "560", "544", "click", "1"]));
    let selected = display.settled("outlines", |now| green(now) > green(&shown) + 300);
    assert!(selected != shown);
    display.press("Escape");
    // Counted while the lit picture is shown: the list stays.
    assert!(display.xdotool(&["mousemove", "20", "580"]));
    display.press("shift+i");
    let lit = display.settled("the lit scene", |now| orange(now) == plain);
    assert!(display.xdotool(&["mousemove", "690", "496", "click", "1"]));
    assert!(display.xdotool(&["mousemove", "20", "580"]));
    let rows = |now: &Screenshot| -> Vec<_> {
        let row = |y: usize| now.pixels[y * now.width + 490..y * now.width + 640].to_vec();
        (532..580).flat_map(row).collect()
    };
    assert!(rows(&lit) != rows(&shown));
    let counted = display.settled("the same list", |now| rows(now) == rows(&shown));
    assert_eq!(orange(&counted), plain);
}

#[test]
fn a_file_that_does_not_load_leaves_a_message_in_the_window() {
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

/// A click on a section's title folds it for the next run too. A run that counts frames keeps nothing.
#[test]
fn the_panel_keeps_its_foldings_between_runs() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let state = display.path("state");
    let environment = [("XDG_STATE_HOME", state.to_str().unwrap())];
    let kept = state.join("canopy/panel.json");
    let arguments = ["scene.obj", "--size", "640x480"];
    let counted = ["--exit-after", "1"];
    let mut once = display.canopy_with(&[&arguments[..], &counted].concat(), &environment);
    assert!(once.0.wait().unwrap().success());
    assert!(!kept.exists(), "a run that counts frames has written it");
    // A panel as wide as the smallest, and a broken file before that.
    let run = |before: &str| {
        std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
        std::fs::write(&kept, before).unwrap();
        let canopy = display.canopy_with(&arguments, &environment);
        (display.settled("the scene", Screenshot::is_drawn), canopy)
    };
    let (open, canopy) = run("{");
    display.xdotool(&["mousemove", "340", "132", "click", "1"]);
    display.settled("a folded section", |now| *now != open);
    drop(canopy);
    let text = std::fs::read_to_string(&kept).unwrap();
    assert!(text.contains("\"Shadows\": false"), "{text}");
    // The first row below the title is gone at once in the next run.
    let (folded, _canopy) = run(&text);
    let row = |picture: &Screenshot| picture.pixels[150 * 800 + 320..][..310].to_vec();
    assert!(row(&folded) != row(&open), "the section is open again");
}

#[test]
fn a_lost_device_is_replaced_and_the_window_goes_on() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    // Side B comes back too.
    let line = "scene.obj --size 640x480 --set window.panel=false --set window.axes=false \
                --set window.still_samples=16 --compare-with shadows.mode=off";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let found = [
        "search",
        "--onlyvisible",
        "--name",
        "scene.obj",
        "windowfocus",
    ];
    let show = |environment: &[(&str, &str)], expected: Option<&Screenshot>| {
        let _canopy = display.canopy_with(&arguments, environment);
        let scene = display.settled("the scene", Screenshot::is_drawn);
        assert!(display.xdotool(&found), "no window is named after the file");
        // The help is text: it shows that the fonts are there again.
        display.press("h");
        display.settled("the help over the scene", |now| {
            // The labels tell times.
            let below = |shot: &Screenshot| shot.columns(0..640);
            below(now) != below(&scene)
                && expected.is_none_or(|expected| below(now) == below(expected))
        })
    };
    let whole = show(&[], None);
    // Both sides were shown before, and neither is A alone.
    show(&[("CANOPY_LOSE_DEVICE", "12")], Some(&whole));
    let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
    assert!(stderr.contains("the GPU device was lost"), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// A person walks ahead through the built-in scene while W is held, and the camera stays at the height of
/// their eyes.
#[test]
fn a_person_walks_through_the_built_in_scene() {
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
        let places = log
            .lines()
            .filter_map(|line| line.split("the eye is at ").nth(1));
        let numbers = |line: &str| -> Vec<f32> {
            line.split(", ")
                .filter_map(|number| number.trim().parse().ok())
                .collect()
        };
        places
            .filter_map(|line| numbers(line).try_into().ok())
            .collect()
    };
    let start = Instant::now();
    while eyes().is_empty() {
        assert!(start.elapsed() < PATIENCE, "nobody walks");
        std::thread::sleep(Duration::from_millis(200));
    }
    let first = *eyes().last().unwrap();
    assert!(display.xdotool(&["keydown", "w"]));
    let far = |eye: &[f32; 3]| (eye[0] - first[0]).hypot(eye[2] - first[2]);
    while eyes().last().map_or(0.0, far) < 0.3 {
        assert!(
            start.elapsed() < PATIENCE,
            "{:?} after {first:?}",
            eyes().last()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(display.xdotool(&["keyup", "w"]));
    let walked = display.settled("another picture", |now| *now != stands);
    assert!(walked.is_drawn());
    for eye in eyes() {
        assert!((eye[1] - first[1]).abs() < 0.4, "{eye:?} after {first:?}");
    }
    // Orbiting again, the camera is where the person was.
    display.press("j");
    display.settled("a still window", Screenshot::is_drawn);
}

/// The largest value of `key` among samples.
fn largest(samples: &[serde_json::Value], key: &str) -> f64 {
    let values = samples.iter().filter_map(|sample| sample[key].as_f64());
    values.fold(0.0, f64::max)
}

/// An environment lights the first frame that counts; one that breaks later is told of, once, and what was
/// shown stays.
#[test]
fn an_environment_lights_the_first_frame_and_outlives_its_file() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    // Red in all directions, as 2 × 1 texels without run lengths.
    let mut red = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n".to_vec();
    red.extend([[200, 0, 0, 128]; 2].as_flattened());
    std::fs::write(display.path("red.hdr"), &red).unwrap();
    let one_frame = ["--exit-after", "1", "--screenshot", "first.png"];
    let mut canopy = display.canopy(&[&["scene.obj", "--env", "red.hdr"][..], &one_frame].concat());
    let start = Instant::now();
    while canopy.0.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "it never ends");
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
        assert!(start.elapsed() < PATIENCE, "nothing is told: {}", told());
        std::thread::sleep(Duration::from_millis(50));
    }
    // Redraws do not read it again and again.
    for _ in 0..5 {
        display.xdotool(&["mousemove_relative", "--", "3", "2"]);
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(told().matches("red.hdr").count(), 1, "{}", told());
    display.settled("the red environment, still", |screenshot| {
        is_red(screenshot)
    });
    drop(canopy);
}

/// Scenes change and the window is resized all the time; `CANOPY_SOAK_FRAMES=20000` makes a long run of it.
#[test]
fn memory_stays_level_while_scenes_and_sizes_change() {
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
        "--exit-after",
        &frames.to_string(),
        "--stats",
        "stats.json",
    ]);
    let start = Instant::now();
    let status = (1..)
        .find_map(|turn: usize| {
            // A file is swapped in whole: it may be being read.
            std::fs::write(display.path("next.obj"), &scenes[turn % 2]).unwrap();
            std::fs::rename(display.path("next.obj"), display.path("scene.obj")).unwrap();
            let size = ["500", "400", "620"][turn % 3];
            let window = ["search", "--onlyvisible", "--name", "scene.obj"];
            let changes = ["windowfocus", "key", "F5", "windowsize", size, "300"];
            display.xdotool(&[&window[..], &changes].concat());
            // A load ends the one before: some pauses are long enough for a busy machine to finish one.
            std::thread::sleep(Duration::from_millis(200 * (turn as u64 % 6 + 1)));
            let patience = PATIENCE * 3 * (frames / 500).max(1);
            assert!(start.elapsed() < patience, "{frames} frames never end");
            canopy.0.try_wait().unwrap()
        })
        .unwrap();
    let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
    assert!(status.success(), "{stderr}");

    let text = std::fs::read_to_string(display.path("stats.json")).unwrap();
    let stats: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(stats["frames"], frames);
    assert!(
        stats["scenes"].as_u64().unwrap() > 2,
        "no scene was changed"
    );
    let samples = stats["memory"].as_array().unwrap();
    let seconds = |sample: &serde_json::Value| sample["seconds"].as_f64().unwrap();
    let end = seconds(samples.last().unwrap());
    // Half of the frames, not of the time: shaders may be compiled for seconds before the first one.
    let drawn = |sample: &serde_json::Value| sample["frames"].as_u64().unwrap();
    let half = samples.partition_point(|sample| drawn(sample) * 2 < u64::from(frames));
    let half = seconds(&samples[half.min(samples.len() - 1)]);
    let (warm, last) = (half.min(60.0), half.max(end - 60.0));
    let early = samples.partition_point(|sample| seconds(sample) <= warm);
    let late = samples.partition_point(|sample| seconds(sample) < last);
    // Without this a slow start would leave the first part with nothing to compare.
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

/// A folder of several scenes opens the browser, and so does Ctrl+O where the system has no file dialog.
#[test]
fn files_are_found_without_a_file_dialog() {
    let display = Display::start();
    std::fs::create_dir(display.path("models")).unwrap();
    for name in ["one.obj", "two.obj"] {
        std::fs::write(display.path("models").join(name), OBJ).unwrap();
    }
    let _canopy = display.canopy(&["models", "--size", "640x400"]);
    let browser = display.settled("the browser", Screenshot::is_drawn);
    display.focus("canopy");
    // Its cursor blinks: it never settles.
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
        assert!(start.elapsed() < PATIENCE, "F12 saves nothing");
        std::thread::sleep(Duration::from_millis(50));
    }
    let picture = image::open(display.path(&saved().unwrap())).unwrap();
    assert_eq!(picture.height(), 400);
    assert!(picture.width() < 640, "the panel is in the picture");

    // Around the end of the folder.
    display.press("Next");
    display.focus("one.obj");
    let scene = display.settled("the next scene", Screenshot::is_drawn);
    display.press("ctrl+o");
    // The system is asked first.
    let start = Instant::now();
    while display.screenshot().darker_and_brighter(&scene).0 < 0.15 {
        assert!(start.elapsed() < PATIENCE, "Ctrl+O opens nothing");
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
            path.unwrap_or_default()
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned()
        });
        names == ["two.obj", "one.obj"]
    };
    while !recent() {
        assert!(start.elapsed() < PATIENCE, "recent files are not listed");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A setting is typed in the palette and taken back; a picture is opened again as it was made; the picture
/// fills the window alone.
#[test]
fn settings_are_typed_and_undone_and_a_picture_is_opened_again() {
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
    display.settled("no shadows", |now| {
        now.darker_and_brighter(&first).1 > 0.002
    });
    display.press("ctrl+z");
    display.settled("the shadows again", |now| *now == first);
    // From a view that is not the first one.
    display.press("KP_4");
    let other = display.settled("another view", |now| {
        now.darker_and_brighter(&first).0 > 0.01
    });
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
        assert!(start.elapsed() < PATIENCE, "F12 saves nothing");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(canopy);
    let picture = saved().unwrap();
    let _canopy = display.canopy(&[&[picture.as_str()][..], &size, &still].concat());
    let again = display.settled("the picture's scene", |now| {
        let (darker, brighter) = now.darker_and_brighter(&made);
        now.is_drawn() && darker + brighter < 0.005
    });
    // The picture alone has no axes.
    display.focus("scene.obj");
    display.press("F10");
    let alone = display.settled("the picture alone", |now| *now != again);
    assert!(alone.is_drawn());
    display.press("Escape");
    display.settled("the window again", |now| *now == again);
}

#[test]
fn views_have_keys_and_a_changed_file_is_loaded_again() {
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
        // The toast that names the view has to go.
        std::thread::sleep(Duration::from_secs(3));
        display.settled(key, |now| now != before)
    };
    let front = view("KP_1", &first);
    let top = view("ctrl+5", &front);
    assert!(view("ctrl+1", &top) == front, "both keys show the front");
    let orthographic = view("p", &front);

    // Editors write beside the file and rename.
    let other = OBJ.replace("0.8", "1.6");
    std::fs::write(display.path("model/next"), other).unwrap();
    std::fs::rename(display.path("model/next"), &file).unwrap();
    display.settled("the other scene", |now| *now != orthographic);
}

/// Milliseconds of the frames of the scene that canopy has told of so far.
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
fn a_key_is_answered_while_a_long_frame_is_drawn() {
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
    // Samples of the still picture follow one another, each of them a long frame.
    let start = Instant::now();
    let is_long =
        |times: &[f64]| times.len() > 3 && times.iter().rev().take(2).all(|ms| *ms > 400.0);
    while !is_long(&frame_times(&display)) {
        assert!(start.elapsed() < PATIENCE, "{:?}", frame_times(&display));
        assert!(canopy.0.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(50));
    }
    // The help covers the middle of the window, and goes again.
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
            assert!(pressed.elapsed() < PATIENCE, "the help never came or went");
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

/// Width and height in pixels of the frames of the scene that canopy has told of so far.
fn frame_sizes(display: &Display) -> Vec<[u32; 2]> {
    let log = std::fs::read_to_string(display.path("stderr")).unwrap();
    let sizes = log.lines().filter_map(|line| {
        let (_, size) = line.split_once(" ms at ")?;
        let (width, height) = size.split_once(" × ")?;
        Some([width.parse().ok()?, height.trim().parse().ok()?])
    });
    sizes.collect()
}

/// The mouse drags from its place to another in `steps`, faster than frames are drawn.
fn drag(display: &Display, from: [i32; 2], to: [i32; 2], steps: i32) {
    let place = |at: [i32; 2]| ["mousemove".to_owned(), at[0].to_string(), at[1].to_string()];
    let mut arguments = place(from).to_vec();
    arguments.extend(["mousedown".to_owned(), "1".to_owned()]);
    for step in 1..=steps {
        arguments.extend(place(
            [0, 1].map(|i| from[i] + (to[i] - from[i]) * step / steps),
        ));
    }
    arguments.extend(["mouseup".to_owned(), "1".to_owned()]);
    // What moves with no button held moves nothing.
    arguments.extend(place([60, 330]));
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    assert!(display.xdotool(&arguments));
}

/// Frames that take long lose no part of a drag. They are coarse until the mouse rests, and say that they
/// take long.
#[test]
fn a_drag_ends_where_the_mouse_ends_and_at_full_resolution() {
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
        drag(&display, [200, 200], to, steps);
        // The corner shows the background, and for a while the note.
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

/// A load that Esc ends leaves the window open, and what it showed.
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
    assert!(canopy.0.try_wait().unwrap().is_none(), "it quit");
    let stays = Instant::now();
    while stays.elapsed() < Duration::from_secs(12) {
        let shown = display.xdotool(&["search", "--onlyvisible", "--name", "vast.obj"]);
        assert!(!shown, "the load went on");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(display.xdotool(&["key", "Escape", "key", "Escape"]));
    let asked = Instant::now();
    while canopy.0.try_wait().unwrap().is_none() {
        assert!(asked.elapsed() < PATIENCE, "it never quits");
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
    ];
    let mut canopy = display.canopy(&settings);
    display.focus("scene.obj");
    display.settled("the scene", Screenshot::is_drawn);
    display.press("h");
    display.press("Escape");
    assert!(
        canopy.0.try_wait().unwrap().is_none(),
        "it closed the help alone"
    );
    display.press("Escape");
    assert!(canopy.0.try_wait().unwrap().is_none(), "once is not enough");
    assert!(display.xdotool(&["key", "Escape", "key", "Escape"]));
    let start = Instant::now();
    while canopy.0.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "it never quits");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(canopy.0.wait().unwrap().success());
}

/// On a white display, a window that is shown before anything is drawn to it would be black.
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
        assert!(start.elapsed() < PATIENCE, "the window never came");
        assert!(canopy.0.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(3));
    }
    assert!(black < Duration::from_millis(150), "black for {black:?}");
}

/// What canopy has told of deviations so far: the lines of figures, the last one last.
fn told_figures(display: &Display) -> Vec<String> {
    let log = std::fs::read_to_string(display.path("stderr")).unwrap();
    let lines = log.lines().filter_map(|line| {
        let (_, figures) = line.split_once("measured the deviation in ")?;
        Some(figures.split_once(" ms: ")?.1.to_owned())
    });
    lines.collect()
}

/// The figures are those of the command at the same time of a clip, and new ones once the file that the scene
/// is compared with has changed.
#[test]
fn the_deviation_has_the_figures_of_the_command_and_its_file_is_watched() {
    let display = Display::start();
    // What moves is of the built-in scene; it is compared with a plane.
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
            assert!(start.elapsed() < PATIENCE, "no figures: {stderr}");
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    // The command prints as text what the window tells.
    let of_command = || {
        let line = format!("deviation {builtin} plane.obj -q --time 0.5 --tolerance 0.25");
        let output = Command::new(env!("CARGO_BIN_EXE_canopy"))
            .args(line.split_whitespace())
            .current_dir(display.folder.path())
            .env("HOME", display.folder.path())
            .env("XDG_CONFIG_HOME", display.folder.path())
            .output()
            .unwrap();
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

/// Where a click would measure is shown under the pointer, and no longer once that has left the picture.
#[test]
fn the_point_that_a_click_would_measure_is_shown_before() {
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
    // The colour of what is measured, around the pointer; the card lies elsewhere.
    let marks = |now: &Screenshot| {
        let is_mark =
            |p: &&[u8; 3]| p[0] > 240 && (225..250).contains(&p[1]) && (170..215).contains(&p[2]);
        let rows = now.pixels.chunks(now.width).skip(140).take(100);
        rows.flat_map(|row| &row[280..360]).filter(is_mark).count()
    };
    let none = marks(&away);
    point_at("320", "190");
    display.settled("a preview", |now| marks(now) > none + 20);
    // Out of the window, whose picture stays as it was.
    point_at("700", "550");
    display.settled("no preview", |now| marks(now) == none);
    point_at("320", "190");
    display.settled("a preview again", |now| marks(now) > none + 20);
    // Over the card that tells the points, which is not the picture.
    point_at("60", "90");
    display.settled("no preview beside", |now| marks(now) == none);
}

/// Y draws boxes of the trees, the section counts them, and Shift+R and a click trace a ray whose steps are
/// gone through.
#[test]
fn trees_are_looked_at() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    // All sections but this one are folded.
    let folded = ["Shadows", "Sun", "Environment", "Image", "Scene", "View"];
    let folded = folded.map(|name| format!("\"{name}\": false")).join(", ");
    let layout = format!("{{\"width\": 300, \"open\": {{\"Trees\": true, {folded}}}}}");
    std::fs::create_dir_all(display.path("canopy")).unwrap();
    std::fs::write(display.path("canopy/panel.json"), layout).unwrap();
    let line = "scene.obj --size 780x590 --eye 2.5,3,3.5 --target 0,0.2,0 --set window.render_scale=1 \
                --set window.still_samples=1 --shadows off --leaf-cutoff 1";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let _canopy = display.canopy_with(&arguments, &[("RUST_LOG", "canopy=debug")]);
    let log = || std::fs::read_to_string(display.path("stderr")).unwrap();
    // The picture alone: the panel tells figures, and notices come and go at its lower edge.
    let changed = |now: &Screenshot, before: &Screenshot| {
        let rows = now
            .pixels
            .chunks(now.width)
            .zip(before.pixels.chunks(now.width));
        let pixels = rows.take(480).flat_map(|(a, b)| a.iter().zip(b).take(470));
        pixels.filter(|(a, b)| a != b).count()
    };
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    // Two triangles in each of two trees.
    display.settled("figures", |_| {
        log().contains("counted the trees: 2 nodes, 4 leaves")
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

/// A square that a clip of two seconds moves from x = −2 to 2, and that grows upwards by a morph target.
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

/// The timeline scrubs, steps and repeats a part; a switch of the panel sets a morph weight; keys of a camera
/// path and an export of three pictures follow.
#[test]
fn a_clip_is_scrubbed_stepped_and_exported() {
    let display = Display::start();
    sliding_square().write(display.folder.path(), "scene.glb");
    let folded = ["Shadows", "Sun", "Environment", "Image", "Scene", "View"];
    let folded = folded.map(|name| format!("\"{name}\": false")).join(", ");
    let layout = format!("{{\"width\": 300, \"open\": {{\"Animation\": true, {folded}}}}}");
    std::fs::create_dir_all(display.path("canopy")).unwrap();
    std::fs::write(display.path("canopy/panel.json"), layout).unwrap();
    let line = "scene.glb --size 780x590 --eye 0,0,8 --target 0,0,0 --background 101010 --shadows off --ground off \
                --set animation.play=false --set animation.frame_rate=2 --set window.render_scale=1 \
                --set window.still_samples=1 --set window.axes=false --set output.size=[48,36] --set output.fps=3";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let _canopy = display.canopy(&arguments);
    // Where the square is: its middle and its height, in pixels of the picture above the notices.
    let square = |shot: &Screenshot| {
        let bright = |p: &[u8; 3]| p[0] > 90;
        let rows = shot.pixels.chunks(shot.width).take(440).skip(40);
        let columns = rows.map(|row| row[..470].iter().enumerate().filter(|(_, p)| bright(p)));
        let columns: Vec<Vec<usize>> = columns.map(|row| row.map(|(x, _)| x).collect()).collect();
        let all: Vec<usize> = columns.iter().flatten().copied().collect();
        let height = columns.iter().filter(|row| !row.is_empty()).count();
        (
            all.iter().sum::<usize>() as f64 / all.len().max(1) as f64,
            height,
        )
    };
    let at = |x: f64| move |shot: &Screenshot| (square(shot).0 - x).abs() < 3.0;
    let click = |at: [i32; 2]| {
        let [x, y] = at.map(|c| c.to_string());
        assert!(display.xdotool(&["mousemove", &x, &y, "click", "1"]));
    };
    // The panel sees the pointer once a frame.
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
    // The timeline is below the picture, which is 480 pixels wide; the picture's middle is at 240.
    let scale = (240.0 - left) / 2.0;
    display.focus("scene.glb");
    click([240, 567]);
    display.settled("the middle of the clip", at(240.0));
    assert!(display.xdotool(&["key", "alt+Right"]));
    display.settled("a frame later", at(240.0 + scale));
    assert!(display.xdotool(&["key", "alt+Left", "alt+Left"]));
    display.settled("two frames back", at(240.0 - scale));
    // The right handle to the middle: the end of what repeats.
    slide([466, 580], [245, 580]);
    assert!(display.xdotool(&["key", "alt+End"]));
    let middle = display.settled("the end of the loop", at(240.0));
    // The slider of the clip's weight is the first in the panel; the switch of the morph target is below it.
    let column = |x: usize| middle.pixels.iter().skip(x).step_by(middle.width);
    let slider = column(640).position(|p| *p == [34, 98, 74]).unwrap() as i32;
    click([605, slider + 118]);
    slide([626, slider + 118], [720, slider + 118]);
    let tall = display.settled("a taller square", |shot| square(shot).1 > 2 * height);
    assert!(at(240.0)(&tall));
    assert!(display.xdotool(&["key", "alt+p"]));
    assert!(display.xdotool(&["key", "alt+e"]));
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
        assert!(start.elapsed() < PATIENCE, "no pictures: {stderr}");
        std::thread::sleep(Duration::from_millis(200));
    }
    // From the start to the end of the loop, at three a second, as tall as it is shown.
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

/// The profiler is opened by a key, shows bars in the colours of passes, and freezes; what is saved from it
/// and what `--profile` writes at the end are traces of the frames that were shown, paced by the display.
#[test]
fn the_profiler_is_shown_and_a_trace_is_written() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    let line = "scene.obj --size 780x590 --set window.render_scale=0.5 --set window.panel=false \
                --set window.still_samples=1 --set keys.freeze_profiler=F9 --profile all.json";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let mut canopy = display.canopy(&arguments);
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.focus("scene.obj");
    // The key's colour of lighting, which nothing else has.
    let lit = |now: &Screenshot| now.pixels.iter().filter(|p| **p == [213, 94, 0]).count();
    assert_eq!(lit(&scene), 0);
    // Frames to see: the camera turns.
    drag(&display, [100, 100], [400, 120], 40);
    display.press("shift+p");
    let open = display.settled("the profiler", |now| lit(now) > 60);
    display.press("F9");
    drag(&display, [100, 100], [300, 120], 20);
    let frozen = display.settled("frozen frames", |now| lit(now) > 60);
    let charts = |now: &Screenshot| -> Vec<[u8; 3]> {
        // Right of the scale's numbers and below the buttons, left of the key.
        (400..580)
            .flat_map(|y| now.pixels[y * now.width + 70..y * now.width + 560].to_vec())
            .collect()
    };
    assert!(
        charts(&open) == charts(&frozen),
        "the frozen chart has changed"
    );
    assert!(open.pixels != frozen.pixels, "the scene stands still too");
    display.press("F9");
    display.settled("later frames", |now| charts(now) != charts(&frozen));
    // The button of the benchmark: a turn around the scene.
    assert!(display.xdotool(&["mousemove", "407", "373", "click", "1"]));
    let page = || {
        let files = std::fs::read_dir(display.folder.path()).unwrap();
        let mut paths = files.map(|file| file.unwrap().path());
        paths.find(|path| path.extension().is_some_and(|e| e == "html"))
    };
    let start = Instant::now();
    while page().is_none() {
        assert!(start.elapsed() < PATIENCE, "no report was saved");
        std::thread::sleep(Duration::from_millis(200));
    }
    let report = std::fs::read_to_string(page().unwrap()).unwrap();
    assert_eq!(report.matches("<title>frame ").count(), 2 * 120);
    assert!(report.contains("scene.obj") && report.contains("window.render_scale"));
    let after = display.settled("the view as it was", |now| lit(now) > 60);
    // Above the profiler; what is averaged over frames has come here another way.
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
    assert!(
        paced > frames / 2,
        "{paced} of {frames} frames follow another"
    );
    assert!(count("memory", "process, bytes") > 0);
}

/// Alt+T opens the texture viewer; one channel is grey, the last level is one colour, and edges of triangles
/// lie over the texture.
#[test]
fn textures_are_looked_at() {
    let display = Display::start();
    let line = "--size 780x590 --shadows off --occlusion off --set reflections.mode=off --set animation.play=false \
                --set window.panel=false --set window.still_samples=1 --set window.render_scale=0.25";
    let _canopy = display.canopy(&line.split_whitespace().collect::<Vec<_>>());
    let scene = display.settled("the scene", Screenshot::is_drawn);
    display.focus("canopy");
    let click = |x: &str, y: &str, button: &str| {
        assert!(display.xdotool(&["mousemove", x, y, "sleep", "0.4", "click", button]));
        // No tooltip lies over the texture, and no texel is pointed at.
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
    display.settled("one texel", |now| {
        share(now, is_grey) > 0.99 && !varied(now)
    });
    // All colours again, and the layout of texture coordinates.
    click("348", "68", "1");
    display.settled("a colour", |now| {
        share(now, is_bluish) > 0.99 && !varied(now)
    });
    click("606", "68", "1");
    display.settled("edges", |now| {
        let plain = texture(&normals);
        let differ = texture(now)
            .iter()
            .zip(&plain)
            .filter(|(a, b)| a != b)
            .count();
        varied(now) && differ > 0
    });
    display.press("Escape");
    display.settled("the scene again", |now| share(now, is_bluish) < 0.9);
}

/// By keyboard alone: the palette goes to a setting in the panel, and arrows change it.
#[test]
fn a_setting_is_reached_and_changed_by_keyboard_alone() {
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
}

/// The window's pixels after a few frames with these arguments beside the scene.
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
        assert!(start.elapsed() < PATIENCE, "it never ends");
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

impl Screenshot {
    /// The pixels of these columns below the labels of a comparison.
    fn columns(&self, columns: std::ops::Range<usize>) -> Vec<[u8; 3]> {
        let rows = self.pixels.chunks(self.width).skip(80);
        rows.flat_map(|row| &row[columns.clone()])
            .copied()
            .collect()
    }
}

/// Each side of the line is, bit by bit, what a window of its own shows.
#[test]
fn the_sides_of_a_comparison_are_what_each_would_be_alone() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    std::fs::write(display.path("other.obj"), OBJ.replace("0.8", "0.4")).unwrap();
    let (left, right) = (0..225, 255..480);
    let a = pictured(&display, "");
    std::fs::rename(display.path("shot.png"), display.path("saved.png")).unwrap();
    for setting in [
        "shadows.mode=map",
        "tree.leaf_cutoff=1",
        "image.tonemap=aces",
    ] {
        let both = pictured(&display, &format!("--compare-with {setting}"));
        let b = pictured(&display, &format!("--set {setting}"));
        assert!(
            both.columns(left.clone()) == a.columns(left.clone()),
            "{setting}"
        );
        assert!(
            both.columns(right.clone()) == b.columns(right.clone()),
            "{setting}"
        );
        // The leaf cutoff changes the cost alone.
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
    // A picture of the window, beside which nothing differs.
    let both = pictured(&display, "--compare saved.png");
    assert!(both.columns(left.clone()) == a.columns(left));
    assert!(both.columns(right.clone()) == a.columns(right));
}

/// The mean and largest differences that canopy has told of so far.
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

/// While a clip plays, both sides show the same moment: with a setting that changes nothing, they are
/// equal.
#[test]
fn both_sides_of_a_comparison_move_together() {
    let display = Display::start();
    let log = [("RUST_LOG", "canopy=debug")];
    let line = "--size 320x240 --set window.panel=false --set window.still_samples=1 --shadows map --occlusion off \
                --set reflections.mode=off --compare-with load.obj_texture=true";
    let arguments: Vec<_> = line.split_whitespace().collect();
    let _canopy = display.canopy_with(&arguments, &log);
    display.focus("canopy");
    let start = Instant::now();
    while told_differences(&display).len() < 8 {
        let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
        assert!(start.elapsed() < PATIENCE, "{stderr}");
        std::thread::sleep(Duration::from_millis(100));
    }
    let moves = |shot: &Screenshot| *shot != display.screenshot();
    let first = display.screenshot();
    std::thread::sleep(Duration::from_millis(1500));
    assert!(moves(&first), "nothing moves");
    for [mean, max] in told_differences(&display) {
        assert!(max < 1e-9 && mean < 1e-9, "{mean} {max}");
    }
}

/// The line is dragged, keys change how both sides are shown, and a picture of now equals now.
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
    // The pointer is drawn too: it waits beside the window.
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
    // Between both places there was A, and is B now; elsewhere nothing has changed: the camera stands.
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
    // Alt+K shows one side alone, then the other.
    display.press("alt+k");
    let one = display.settled("a side", |now| !(195..210).any(|x| handle(now, x)));
    display.press("alt+k");
    let other = display.settled("the other side", |now| seen(now) != seen(&one));
    assert!(seen(&other) != seen(&dragged));
    // The difference is black where nothing shades.
    display.press("shift+k");
    let is_dark = |shot: &Screenshot| {
        let dark = |p: &&[u8; 3]| p[0] < 12 && p[1] < 12 && p[2] < 24;
        seen(shot).iter().filter(dark).count() > 100_000
    };
    let difference = display.settled("the difference", is_dark);
    assert!(
        seen(&difference).iter().any(|p| p[0] > 120),
        "nothing differs"
    );
    let [mean, max] = *told_differences(&display).last().unwrap();
    assert!(mean > 1e-3 && max > 0.05, "{mean} {max}");
    // Now and a picture of now.
    display.press("ctrl+k");
    let start = Instant::now();
    while told_differences(&display).last() != Some(&[0.0, 0.0]) {
        assert!(
            start.elapsed() < PATIENCE,
            "{:?}",
            told_differences(&display)
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    display.press("k");
    let ended = display.settled("A alone", |now| !is_dark(now));
    assert!(same(&ended, &middle, 0..180));
    assert!(canopy.0.try_wait().unwrap().is_none(), "the window is gone");
}

/// What cannot be compared with is one line: at once where the file is missing, else in the window.
#[test]
fn what_cannot_be_compared_is_told_in_a_line() {
    let display = Display::start();
    std::fs::write(display.path("scene.obj"), OBJ).unwrap();
    std::fs::write(display.path("broken.png"), b"no picture").unwrap();
    let start = "scene.obj --size 320x240 --exit-after 2 ";
    for (arguments, part) in [
        ("--compare no.png", "no.png"),
        ("--compare broken.png", "broken.png"),
        (
            "--compare-with shadow.mode=map",
            "did you mean shadows.mode",
        ),
        ("--compare-with window.panel=true", "both sides share it"),
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
    // With a person, the window stays and tells.
    let line = "scene.obj --size 320x240 --set window.still_samples=1 --compare broken.png";
    let mut canopy = display.canopy(&line.split(' ').collect::<Vec<_>>());
    display.settled("a message", Screenshot::is_drawn);
    assert!(canopy.0.try_wait().unwrap().is_none(), "the window is gone");
    let stderr = std::fs::read_to_string(display.path("stderr")).unwrap();
    assert_eq!(stderr.matches("broken.png").count(), 1, "{stderr}");
}
