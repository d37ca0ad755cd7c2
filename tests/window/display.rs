//! A virtual display, canopy on it, and its pixels.

use crate::folder::isolate;
use std::{
    cell::RefCell,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

/// Time limit for every wait on the window. It guards against a hang, on a software adapter and a busy
/// machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// A floor with a card above it, and a mast.
pub(crate) const OBJ: &str = "o floor\nv -2 0 -2\nv 2 0 -2\nv 2 0 2\nv -2 0 2\nf 4 3 2 1\n\
                   o card\nv -0.7 0.8 -0.7\nv 0.7 0.8 -0.7\nv 0.7 0.8 0.7\nv -0.7 0.8 0.7\nf 8 7 6 5\n";

/// A process that does not outlive the test.
pub(crate) struct Guarded(pub(crate) Child);

impl Guarded {
    /// User and system time in hundredths of a second.
    pub(crate) fn worked(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11);
        let times = fields.take(2).map(|n| n.parse::<u64>().unwrap());
        times.sum()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A virtual display that keeps its pixels in a file.
pub(crate) struct Display {
    _server: Guarded,
    pub(crate) name: String,
    pub(crate) folder: tempfile::TempDir,
    /// Status of the canopy that was started last.
    status: RefCell<Arc<StatusReader>>,
}

/// The last line that canopy sent to `CANOPY_STATUS`.
#[derive(Default)]
struct StatusReader {
    last: Mutex<Status>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq)]
struct Status {
    events: u64,
    frames: u64,
    is_idle: bool,
}

impl StatusReader {
    /// Reads the status of the process that connects to `listener`, on a thread, until it ends.
    fn start(listener: TcpListener) -> Arc<Self> {
        let reader = Arc::new(Self::default());
        let written = reader.clone();
        std::thread::spawn(move || {
            let Ok((stream, _)) = listener.accept() else {
                return;
            };
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let fields: Vec<_> = line.split(' ').collect();
                *written.last.lock().unwrap() = Status {
                    events: fields[0].parse().unwrap(),
                    frames: fields[1].parse().unwrap(),
                    is_idle: fields[2] == "idle",
                };
                written.changed.notify_all();
            }
        });
        reader
    }

    fn last(&self) -> Status {
        *self.last.lock().unwrap()
    }

    /// Waits until the status is accepted or time is up.
    fn wait(&self, time: Duration, accept: impl Fn(Status) -> bool) {
        let last = self.last.lock().unwrap();
        let wait = self.changed.wait_timeout_while(last, time, |last| !accept(*last));
        drop(wait.unwrap());
    }
}

/// Rows of red, green, blue.
#[derive(Clone, PartialEq)]
pub(crate) struct Screenshot {
    pub(crate) width: usize,
    pub(crate) pixels: Vec<[u8; 3]>,
}

impl Display {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new("Xvfb")
            // Without `-noreset` the server restarts when its last client leaves, and refuses connections
            // meanwhile. This client may be an `xdotool` that is faster than canopy.
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
        // The welcome card would cover the picture.
        std::fs::create_dir(folder.path().join("canopy")).unwrap();
        std::fs::write(folder.path().join("canopy/panel.json"), r#"{"welcomed": true}"#).unwrap();
        Self {
            _server: Guarded(server),
            name: format!(":{}", number.trim()),
            folder,
            status: RefCell::default(),
        }
    }

    /// Sets a panel 300 points wide that starts with this tab, with open and folded groups.
    pub(crate) fn lay_out_panel(&self, tab: &str, open: &[&str], folded: &[&str]) {
        let open = open.iter().map(|name| format!("\"{name}\": true"));
        let folded = folded.iter().map(|name| format!("\"{name}\": false"));
        let groups: Vec<_> = open.chain(folded).collect();
        let layout = format!(
            "{{\"welcomed\": true, \"width\": 300, \"tab\": \"{tab}\", \"open\": {{{}}}}}",
            groups.join(", ")
        );
        std::fs::write(self.path("canopy/panel.json"), layout).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts canopy on this display, isolated from the user's settings.
    pub(crate) fn canopy(&self, arguments: &[&str]) -> Guarded {
        self.canopy_with(arguments, &[])
    }

    pub(crate) fn canopy_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Guarded {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        self.status.replace(StatusReader::start(listener));
        let mut command = Command::new(env!("CARGO_BIN_EXE_canopy"));
        isolate(&mut command, self.folder.path());
        // The studio's soft key light would take dozens of frames to converge.
        if !arguments.iter().any(|word| word.contains("environment.source")) {
            command.args(arguments).args(["--set", "environment.source=sky"]);
        } else {
            command.args(arguments);
        }
        let child = command
            // The tests compare pictures, so none of them may show a notice of a pressed key.
            .args(["--set", "window.notice_secs=0"])
            .env("CANOPY_STATUS", address.to_string())
            .env("DISPLAY", &self.name)
            .env("XDG_CONFIG_HOME", self.folder.path())
            .env("XDG_STATE_HOME", self.folder.path())
            // No desktop portal and no zenity, so file dialogs cannot open.
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
            .env("PATH", "/nowhere")
            .envs(environment.iter().copied())
            .stderr(std::fs::File::create(self.path("stderr")).unwrap())
            .spawn();
        Guarded(child.unwrap())
    }

    /// Runs xdotool, and waits until canopy has handled one of its events, 300 ms at most.
    pub(crate) fn xdotool(&self, arguments: &[&str]) -> bool {
        let status = self.status.borrow().clone();
        let before = status.last().events;
        let run = Command::new("xdotool")
            .args(arguments)
            .env("DISPLAY", &self.name)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let is_done = run
            .unwrap_or_else(|e| panic!("this test needs xdotool, which scripts/test installs: {e}"))
            .success();
        // Some input causes no event, such as a pointer that is already at its target.
        if is_done {
            status.wait(Duration::from_millis(300), |now| now.events > before);
        }
        is_done
    }

    /// The current display. The file is in the format of xwd, version 7: a header of big-endian words,
    /// colours, pixels.
    pub(crate) fn screenshot(&self) -> Screenshot {
        let bytes = std::fs::read(self.path("Xvfb_screen0")).unwrap();
        let word =
            |index: usize| u32::from_be_bytes(bytes[4 * index..4 * index + 4].try_into().unwrap()) as usize;
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

    /// The display once canopy has been idle for 0.1 s and the picture is accepted.
    pub(crate) fn settled(&self, what: &str, accept: impl Fn(&Screenshot) -> bool) -> Screenshot {
        let start = Instant::now();
        let status = self.status.borrow().clone();
        while start.elapsed() < TIMEOUT {
            let before = status.last();
            if before.is_idle {
                let now = self.screenshot();
                // The display may still copy the last picture, and input may be on its way.
                std::thread::sleep(Duration::from_millis(100));
                let is_still = status.last() == before && self.screenshot() == now;
                if is_still && accept(&now) {
                    return now;
                }
            }
            status.wait(Duration::from_millis(50), |now| now.is_idle && now != before);
        }
        let stderr = std::fs::read_to_string(self.path("stderr")).unwrap_or_default();
        panic!("the window never showed {what}; canopy said: {stderr}");
    }

    /// Waits for a window whose title holds `name`, and gives it the keyboard.
    pub(crate) fn focus(&self, name: &str) {
        let start = Instant::now();
        let found = ["search", "--onlyvisible", "--name", name, "windowfocus"];
        while !self.xdotool(&found) {
            let stderr = std::fs::read_to_string(self.path("stderr")).unwrap_or_default();
            assert!(start.elapsed() < TIMEOUT, "no window \"{name}\": {stderr}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn write(&self, text: &str) {
        assert!(self.xdotool(&["type", "--delay", "60", text]), "{text}");
    }

    pub(crate) fn press(&self, key: &str) {
        assert!(self.xdotool(&["key", key]), "{key} cannot be pressed");
    }

    /// Drags the mouse from one place to another in `steps`, faster than frames are drawn.
    pub(crate) fn drag(&self, from: [i32; 2], to: [i32; 2], steps: i32) {
        let place = |at: [i32; 2]| ["mousemove".to_owned(), at[0].to_string(), at[1].to_string()];
        let mut arguments = place(from).to_vec();
        arguments.extend(["mousedown".to_owned(), "1".to_owned()]);
        for step in 1..=steps {
            arguments.extend(place([0, 1].map(|i| from[i] + (to[i] - from[i]) * step / steps)));
        }
        arguments.extend(["mouseup".to_owned(), "1".to_owned()]);
        // Motion without a pressed button moves nothing.
        arguments.extend(place([60, 330]));
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        assert!(self.xdotool(&arguments));
    }
}

impl Screenshot {
    /// Fractions of the display's pixels that are darker and brighter than in `other`, by more than rounding.
    pub(crate) fn darker_and_brighter(&self, other: &Self) -> (f64, f64) {
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

    /// The pixels of these columns below the labels of a comparison.
    pub(crate) fn columns(&self, columns: std::ops::Range<usize>) -> Vec<[u8; 3]> {
        let rows = self.pixels.chunks(self.width).skip(80);
        rows.flat_map(|row| &row[columns.clone()]).copied().collect()
    }

    pub(crate) fn is_drawn(&self) -> bool {
        let first = self.pixels[self.width + 1];
        first != [0; 3] && self.pixels.iter().any(|p| *p != first && *p != [0; 3])
    }
}
