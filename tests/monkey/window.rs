//! canopy's window on a virtual display, driven through the X protocol.

use crate::folder::isolate;
use std::{
    collections::VecDeque,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use x11rb::{
    CURRENT_TIME, NONE,
    connection::Connection as _,
    protocol::{
        Event,
        damage::{ConnectionExt as _, ReportLevel},
        xproto::{
            Atom, AtomEnum, BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ClientMessageEvent, ConfigureWindowAux,
            ConnectionExt as _, CreateWindowAux, EventMask, InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
            MOTION_NOTIFY_EVENT, MapState, PropMode, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent,
            SelectionRequestEvent, WindowClass,
        },
        xtest::ConnectionExt as _,
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

/// Time limit for every wait on the window. It guards against a hang, on a software adapter and a busy
/// machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// The first size of the window.
pub(crate) const SIZE: [u16; 2] = [640, 400];

// Key symbols of X. The symbol of an ASCII character is the character.
pub(crate) const BACKSPACE: u32 = 0xff08;
pub(crate) const TAB: u32 = 0xff09;
pub(crate) const RETURN: u32 = 0xff0d;
pub(crate) const ESCAPE: u32 = 0xff1b;
pub(crate) const HOME: u32 = 0xff50;
pub(crate) const LEFT: u32 = 0xff51;
pub(crate) const UP: u32 = 0xff52;
pub(crate) const RIGHT: u32 = 0xff53;
pub(crate) const DOWN: u32 = 0xff54;
pub(crate) const PAGE_UP: u32 = 0xff55;
pub(crate) const PAGE_DOWN: u32 = 0xff56;
pub(crate) const F1: u32 = 0xffbe;
pub(crate) const F9: u32 = 0xffc6;
pub(crate) const SHIFT: u32 = 0xffe1;
pub(crate) const CTRL: u32 = 0xffe3;
pub(crate) const ALT: u32 = 0xffe9;
pub(crate) const DELETE: u32 = 0xffff;

/// Number of events that a failure lists.
const REMEMBERED: usize = 40;

/// A process that does not outlive the test.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

x11rb::atom_manager! {
    /// Names of the drag-and-drop protocol.
    Atoms: AtomsCookie {
        XdndSelection,
        XdndEnter,
        XdndPosition,
        XdndStatus,
        XdndLeave,
        XdndDrop,
        XdndFinished,
        XdndActionCopy,
        UriList: b"text/uri-list",
        _NET_WM_ICON,
    }
}

/// The window, and its display.
pub(crate) struct Window {
    canopy: Guarded,
    _server: Guarded,
    folder: PathBuf,
    connection: RustConnection,
    atoms: Atoms,
    root: u32,
    window: u32,
    /// The window that drops come from.
    source: u32,
    /// Key symbols by keycode, without modifiers.
    keys: Vec<(u8, u32)>,
    size: [u16; 2],
    /// The dragged files, as text/uri-list.
    carried: Vec<u8>,
    /// Answers to drops.
    answers: Vec<Atom>,
    frames: u64,
    /// Time of the last frame, by the server.
    last_frame: u32,
    said: VecDeque<String>,
}

impl Window {
    /// Starts a display and canopy on it, and waits for the first scene.
    pub(crate) fn open(folder: &Path) -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1000x700x24"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("this test needs Xvfb, which scripts/test installs: {e}"));
        let mut number = String::new();
        let stdout = server.stdout.take().unwrap();
        let server = Guarded(server);
        BufReader::new(stdout).read_line(&mut number).unwrap();
        let name = format!(":{}", number.trim());
        let size = format!("{}x{}", SIZE[0], SIZE[1]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_canopy"));
        let canopy = isolate(&mut command, folder)
            .env("XDG_CONFIG_HOME", folder)
            .args(["monkey-scene.obj", "--size", &size])
            // The monkey can neither quit nor open a system dialog.
            .args([
                "--set",
                "keys.quit=",
                "--set",
                "keys.cancel=",
                "--set",
                "keys.reset=F9",
            ])
            // An export that it starts must end while the window comes to rest.
            .args(["--set", "output.size=[64,36]", "--set", "output.fps=1"])
            .env("DISPLAY", &name)
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
            .env("PATH", "")
            .env("XDG_STATE_HOME", folder)
            .env("XDG_DATA_HOME", folder)
            .stderr(std::fs::File::create(folder.join("stderr")).unwrap())
            .spawn();
        let canopy = Guarded(canopy.unwrap());

        let (connection, screen) = x11rb::connect(Some(&name)).unwrap();
        let root = connection.setup().roots[screen].root;
        let atoms = Atoms::new(&connection).unwrap().reply().unwrap();
        connection.damage_query_version(1, 1).unwrap().reply().unwrap();
        let source = connection.generate_id().unwrap();
        let class = WindowClass::INPUT_ONLY;
        let aux = CreateWindowAux::new();
        connection
            .create_window(0, source, root, -9, -9, 1, 1, 0, class, 0, &aux)
            .unwrap();
        let (first, last) = (connection.setup().min_keycode, connection.setup().max_keycode);
        let mapping = connection.get_keyboard_mapping(first, last - first + 1).unwrap();
        let mapping = mapping.reply().unwrap();
        let by_code = mapping.keysyms.chunks(mapping.keysyms_per_keycode.into());
        let keys = (first..=last).zip(by_code.map(|symbols| symbols[0])).collect();
        let mut window = Self {
            canopy,
            _server: server,
            folder: folder.into(),
            connection,
            atoms,
            root,
            window: NONE,
            source,
            keys,
            size: SIZE,
            carried: Vec::new(),
            answers: Vec::new(),
            frames: 0,
            last_frame: 0,
            said: VecDeque::new(),
        };
        window.wait("a window that is named after the file", |window| {
            window.window = window.named("monkey-scene.obj").unwrap_or(NONE);
            window.window != NONE
        });
        let damage = window.connection.generate_id().unwrap();
        let level = ReportLevel::RAW_RECTANGLES;
        window
            .connection
            .damage_create(damage, window.window, level)
            .unwrap();
        // The window appears with its first picture. Only a visible window takes the keyboard.
        window.wait("a window that is shown", Self::is_shown);
        window
            .connection
            .set_input_focus(InputFocus::PARENT, window.window, CURRENT_TIME)
            .unwrap()
            .check()
            .unwrap();
        window
    }

    fn is_shown(&mut self) -> bool {
        let attributes = self.connection.get_window_attributes(self.window);
        let attributes = attributes.unwrap().reply().unwrap();
        attributes.map_state == MapState::VIEWABLE
    }

    /// The window whose title contains `text`.
    fn named(&self, text: &str) -> Option<u32> {
        let children = self
            .connection
            .query_tree(self.root)
            .unwrap()
            .reply()
            .ok()?
            .children;
        children.into_iter().find(|child| {
            let name = AtomEnum::WM_NAME;
            let title = self
                .connection
                .get_property(false, *child, name, AtomEnum::ANY, 0, 256);
            let title = title.unwrap().reply();
            title.is_ok_and(|title| String::from_utf8_lossy(&title.value).contains(text))
        })
    }

    /// Class of the window, and width and height of its icon.
    pub(crate) fn class_and_icon(&self) -> (String, Vec<u32>) {
        let property = |name: Atom, kind: AtomEnum, words: u32| {
            let reply = self
                .connection
                .get_property(false, self.window, name, kind, 0, words);
            reply.unwrap().reply().unwrap()
        };
        let class = property(AtomEnum::WM_CLASS.into(), AtomEnum::STRING, 64);
        let icon = property(self.atoms._NET_WM_ICON, AtomEnum::CARDINAL, 2);
        let size = icon.value32().into_iter().flatten().collect();
        (String::from_utf8_lossy(&class.value).into_owned(), size)
    }

    /// Records an event for the report of a failure.
    pub(crate) fn say(&mut self, what: String) {
        if self.said.len() == REMEMBERED {
            self.said.pop_front();
        }
        self.said.push_back(what);
    }

    /// `what`, with canopy's messages and the last events.
    pub(crate) fn context(&self, what: &str) -> String {
        let said: Vec<_> = self.said.iter().map(String::as_str).collect();
        format!(
            "{what}\ncanopy said: {}\nlast events:\n{}",
            self.told(),
            said.join("\n")
        )
    }

    /// Text that canopy wrote to standard error.
    pub(crate) fn told(&self) -> String {
        std::fs::read_to_string(self.folder.join("stderr")).unwrap_or_default()
    }

    pub(crate) fn size(&self) -> [u16; 2] {
        self.size
    }

    /// Number of displayed frames.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// Handles pending events, and checks that canopy is running.
    fn poll(&mut self) {
        self.connection.flush().unwrap();
        while let Some(event) = self.connection.poll_for_event().unwrap() {
            match event {
                // A frame may arrive in several rectangles.
                Event::DamageNotify(event) if event.timestamp != self.last_frame => {
                    self.last_frame = event.timestamp;
                    self.frames += 1;
                }
                Event::SelectionRequest(event) => self.hand_over(&event),
                Event::ClientMessage(event) => self.answers.push(event.type_),
                _ => {}
            }
        }
        if let Some(status) = self.canopy.0.try_wait().unwrap() {
            panic!("{}", self.context(&format!("canopy has ended: {status}")));
        }
    }

    /// Lets `time` pass.
    pub(crate) fn pause(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.poll();
            std::thread::sleep(Duration::from_millis(2));
        }
        self.poll();
    }

    /// Waits for a required condition.
    pub(crate) fn wait(&mut self, what: &str, mut happened: impl FnMut(&mut Self) -> bool) {
        let start = Instant::now();
        while !happened(self) {
            let waited = start.elapsed();
            assert!(
                waited < TIMEOUT,
                "{}",
                self.context(&format!("no {what} in {waited:?}"))
            );
            self.pause(Duration::from_millis(20));
        }
    }

    /// User and system time of canopy, in hundredths of a second.
    fn worked(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.canopy.0.id())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11);
        fields.take(2).map(|n| n.parse::<u64>().unwrap()).sum()
    }

    /// Waits until canopy neither works nor draws.
    pub(crate) fn rest(&mut self, what: &str) {
        let mut before = (self.frames, self.worked());
        self.wait(what, |window| {
            window.pause(Duration::from_millis(700));
            let now = (window.frames, window.worked());
            let rests = now.0 == before.0 && now.1 < before.1 + 6;
            before = now;
            rests
        });
    }

    /// Resident memory of canopy in bytes.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.canopy.0.id())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        let kib = line.trim().trim_end_matches("kB").trim();
        kib.parse::<u64>().unwrap() << 10
    }

    fn input(&self, kind: u8, detail: u8, [x, y]: [i16; 2]) {
        self.connection
            .xtest_fake_input(kind, detail, CURRENT_TIME, self.root, x, y, 0)
            .unwrap();
    }

    fn code(&self, key: u32) -> u8 {
        let known = self.keys.iter().find(|(_, symbol)| *symbol == key);
        known.unwrap_or_else(|| panic!("no key has the number {key:x}")).0
    }

    fn press(&self, key: u32) {
        self.input(KEY_PRESS_EVENT, self.code(key), [0, 0]);
    }

    fn release(&self, key: u32) {
        self.input(KEY_RELEASE_EVENT, self.code(key), [0, 0]);
    }

    /// Presses and releases a key while `held` are held.
    pub(crate) fn tap(&mut self, held: &[u32], key: u32) {
        held.iter().for_each(|key| self.press(*key));
        self.press(key);
        self.release(key);
        held.iter().rev().for_each(|key| self.release(*key));
        self.poll();
    }

    /// Holds a key for a while.
    pub(crate) fn hold(&mut self, key: u32, time: Duration) {
        self.press(key);
        self.pause(time);
        self.release(key);
    }

    /// Clicks in the window, or turns the wheel, whose buttons are 4 and 5.
    pub(crate) fn click(&mut self, button: u8, at: [i16; 2]) {
        self.input(MOTION_NOTIFY_EVENT, 0, at);
        self.input(BUTTON_PRESS_EVENT, button, at);
        self.pause(Duration::from_millis(4));
        self.input(BUTTON_RELEASE_EVENT, button, at);
    }

    /// Drags over `path` while `held` are held.
    pub(crate) fn drag(&mut self, button: u8, held: &[u32], path: &[[i16; 2]]) {
        self.input(MOTION_NOTIFY_EVENT, 0, path[0]);
        held.iter().for_each(|key| self.press(*key));
        self.input(BUTTON_PRESS_EVENT, button, path[0]);
        for at in path {
            self.input(MOTION_NOTIFY_EVENT, 0, *at);
            self.pause(Duration::from_millis(12));
        }
        self.input(BUTTON_RELEASE_EVENT, button, path[0]);
        held.iter().rev().for_each(|key| self.release(*key));
        self.poll();
    }

    /// Releases keys and buttons that a failed step may have left pressed.
    pub(crate) fn release_all(&mut self) {
        (1..=3).for_each(|button| self.input(BUTTON_RELEASE_EVENT, button, [0, 0]));
        [SHIFT, CTRL, ALT].iter().for_each(|key| self.release(*key));
        self.poll();
    }

    pub(crate) fn resize(&mut self, size: [u16; 2]) {
        self.size = size;
        let aux = ConfigureWindowAux::new()
            .width(u32::from(size[0]))
            .height(u32::from(size[1]));
        self.connection.configure_window(self.window, &aux).unwrap();
        self.poll();
    }

    /// Sends a message of the drag-and-drop protocol.
    fn tell(&self, kind: Atom, mut data: [u32; 5]) {
        data[0] = self.source;
        let message = ClientMessageEvent::new(32, self.window, kind, data);
        self.connection
            .send_event(false, self.window, EventMask::NO_EVENT, message)
            .unwrap();
    }

    /// Answers a request for the dragged data.
    fn hand_over(&self, request: &SelectionRequestEvent) {
        self.connection
            .change_property8(
                PropMode::REPLACE,
                request.requestor,
                request.property,
                request.target,
                &self.carried,
            )
            .unwrap();
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: request.requestor,
            selection: request.selection,
            target: request.target,
            property: request.property,
        };
        self.connection
            .send_event(false, request.requestor, EventMask::NO_EVENT, answer)
            .unwrap();
        self.connection.flush().unwrap();
    }

    /// Drags files over the window.
    fn carry(&mut self, files: &[&PathBuf], [x, y]: [i16; 2]) {
        let lines = files.iter().map(|file| format!("file://{}\r\n", file.display()));
        self.carried = lines.collect::<String>().into_bytes();
        self.answers.clear();
        self.connection
            .set_selection_owner(self.source, self.atoms.XdndSelection, CURRENT_TIME)
            .unwrap();
        self.tell(self.atoms.XdndEnter, [0, 5 << 24, self.atoms.UriList, 0, 0]);
        let at = u32::from(x as u16) << 16 | u32::from(y as u16);
        let position = [0, 0, at, CURRENT_TIME, self.atoms.XdndActionCopy];
        self.tell(self.atoms.XdndPosition, position);
        let status = self.atoms.XdndStatus;
        self.wait("answer to files over the window", |window| {
            window.answers.contains(&status)
        });
    }

    /// Drops files on the window.
    pub(crate) fn drop_files(&mut self, files: &[&PathBuf], at: [i16; 2]) {
        self.carry(files, at);
        self.tell(self.atoms.XdndDrop, [0, 0, CURRENT_TIME, 0, 0]);
        let finished = self.atoms.XdndFinished;
        self.wait("end of a drop", |window| window.answers.contains(&finished));
    }

    /// Drags files over the window and away.
    pub(crate) fn hover(&mut self, files: &[&PathBuf], at: [i16; 2]) {
        self.carry(files, at);
        self.pause(Duration::from_millis(30));
        self.tell(self.atoms.XdndLeave, [0; 5]);
    }
}
