//! The real window, on a virtual display: what a person would see and press.

#![cfg(all(target_os = "linux", feature = "viewer"))]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// How long the window may take for anything: a guard against a hang, on a software adapter and a busy machine.
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
}

/// Rows of red, green, blue.
#[derive(Clone, PartialEq)]
struct Screenshot {
    width: usize,
    pixels: Vec<[u8; 3]>,
}

impl Display {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "800x600x24", "-fbdir"])
            .arg(folder.path())
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
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts canopy on this display, away from the settings of whoever runs the tests.
    fn canopy(&self, arguments: &[&str]) -> Guarded {
        let child = Command::new(env!("CARGO_BIN_EXE_canopy"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("DISPLAY", &self.name)
            .env_remove("WAYLAND_DISPLAY")
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path())
            .stderr(std::fs::File::create(self.path("stderr")).unwrap())
            .spawn();
        Guarded(child.unwrap())
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

    /// The display as it is. The file is in the format of xwd, version 7: a header of big-endian words, colours, pixels.
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

    /// The display once it has been still for a while and is accepted.
    fn settled(&self, what: &str, accept: impl Fn(&Screenshot) -> bool) -> Screenshot {
        let start = Instant::now();
        let mut last = self.screenshot();
        while start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(700));
            let now = self.screenshot();
            if now == last && accept(&now) {
                return now;
            }
            last = now;
        }
        let stderr = std::fs::read_to_string(self.path("stderr")).unwrap_or_default();
        panic!("the window never showed {what}; canopy said: {stderr}");
    }

    fn press(&self, key: &str) {
        assert!(self.xdotool(&["key", key]), "{key} cannot be pressed");
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
    display.settled("the help", |now| *now != panel);

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
fn a_picture_that_has_come_to_rest_is_the_mean_of_samples_and_then_nothing_is_drawn() {
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
    // User and system time of the process, in hundredths of a second.
    let worked = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", canopy.0.id())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11);
        fields
            .take(2)
            .map(|n| n.parse::<u64>().unwrap())
            .sum::<u64>()
    };
    let before = worked();
    std::thread::sleep(Duration::from_secs(2));
    let took = worked() - before;
    assert!(took < 40, "{took} hundredths of a second for two of rest");
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
