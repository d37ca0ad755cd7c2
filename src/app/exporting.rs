//! An export while it goes on: another process of this program draws it, as `canopy render`, so that the
//! window and its GPU queue wait for nothing.

use super::{pictures, viewer::Viewer};
use crate::{Error, Result, output};
use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Most bytes of its messages that are kept.
const MESSAGES: u64 = 64 << 10;
/// Longest time that it has to end by itself after it was cancelled.
const PATIENCE: Duration = Duration::from_secs(20);
/// Headline of its errors.
const FAILED: &str = "The export failed";

/// What the thread that reads the progress shares with the window.
#[derive(Debug, Default)]
struct Shared {
    done: AtomicU64,
    total: AtomicU64,
    is_cancelled: AtomicBool,
}

/// An export that goes on.
#[derive(Debug)]
pub(super) struct Exporting {
    child: Child,
    shared: Arc<Shared>,
    messages: JoinHandle<String>,
    /// The number of pictures.
    frames: u64,
    output: PathBuf,
    /// The file of the camera path.
    path: PathBuf,
    cancelled: Option<Instant>,
}

impl Exporting {
    /// Runs this program with `arguments`. `wake` is called when it has come further.
    fn start(
        arguments: &[String],
        frames: u64,
        [output, path]: [PathBuf; 2],
        wake: impl Fn() + Send + 'static,
    ) -> Result<Self> {
        let program =
            std::env::current_exe().map_err(|e| Error::io("the program's own file", e))?;
        let child = Command::new(&program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.map_err(|e| Error::io(&program, e))?;
        let shared = Arc::new(Shared::default());
        let (told, stdout, stderr) = (shared.clone(), child.stdout.take(), child.stderr.take());
        thread::spawn(move || {
            let lines = stdout
                .into_iter()
                .flat_map(|stdout| BufReader::new(stdout).lines());
            for line in lines.map_while(std::result::Result::ok) {
                let numbers = line.split_once('/');
                let number = |text: &str| text.parse().ok();
                if let Some((done, total)) = numbers.and_then(|(a, b)| number(a).zip(number(b))) {
                    told.done.store(done, Ordering::Relaxed);
                    told.total.store(total, Ordering::Relaxed);
                }
                wake();
                // The pipe closes, which ends the other side in an orderly way.
                if told.is_cancelled.load(Ordering::Relaxed) {
                    break;
                }
            }
            wake();
        });
        let messages = thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(mut stderr) = stderr {
                // What it says is of use even where it breaks off.
                stderr.by_ref().take(MESSAGES).read_to_end(&mut text).ok();
                std::io::copy(&mut stderr, &mut std::io::sink()).ok();
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Self {
            child,
            shared,
            messages,
            frames,
            output,
            path,
            cancelled: None,
        })
    }

    fn cancel(&mut self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
        self.cancelled.get_or_insert_with(Instant::now);
    }
}

impl Viewer {
    /// Starts an export, or cancels the one that goes on.
    pub(super) fn toggle_export(&mut self) {
        if let Some(exporting) = &mut self.exporting {
            exporting.cancel();
            return self.state.notify("the export ends with this picture");
        }
        if let Some(why) = self.state.no_export() {
            return self.state.notify(why);
        }
        let name = self.picture_name();
        let output = self
            .state
            .exported_file(|format| pictures::new_path(&name, format));
        match self.start_export(output) {
            Ok(exporting) => {
                self.exporting = Some(exporting);
                self.state.notify("the export goes on while you work");
            }
            Err(error) => self.state.fail(FAILED, error.to_string()),
        }
    }

    fn start_export(&self, output: PathBuf) -> Result<Exporting> {
        let name = format!("canopy-path-{}.json", std::process::id());
        let path = std::env::temp_dir().join(name);
        if let Some(keys) = self.state.path.path(self.state.config.camera.fov) {
            output::write(&path, keys.text().as_bytes())?;
        }
        let arguments = self.state.export_arguments(&output, &path);
        let waker = self.waker.clone();
        let wake = move || waker.redraw()();
        let frames = self.state.exported_frames().into();
        Exporting::start(&arguments, frames, [output, path], wake)
    }

    /// Follows the export that goes on.
    pub(super) fn poll_export(&mut self) {
        let Some(exporting) = &mut self.exporting else {
            return;
        };
        let number = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let shared = &exporting.shared;
        let (done, total) = (number(&shared.done), number(&shared.total).max(1));
        self.state.export.progress = Some([done, total, exporting.frames]);
        if exporting
            .cancelled
            .is_some_and(|since| since.elapsed() > PATIENCE)
        {
            exporting.child.kill().ok();
        }
        let status = match exporting.child.try_wait() {
            Ok(None) => return,
            Ok(Some(status)) => Ok(status),
            Err(error) => Err(error.to_string()),
        };
        let Some(exporting) = self.exporting.take() else {
            return;
        };
        self.state.export.progress = None;
        std::fs::remove_file(&exporting.path).ok();
        let told = exporting.messages.join().unwrap_or_default();
        let said = told.lines().rev().find(|line| line.starts_with("error: "));
        match status {
            _ if exporting.cancelled.is_some() => self.state.notify("the export was cancelled"),
            Ok(status) if status.success() => {
                let name = name_of(&exporting.output);
                self.state.notify(format!("exported {name}"));
            }
            Ok(status) => {
                let why = said.map_or_else(|| status.to_string(), |line| line[7..].to_owned());
                self.state.fail(FAILED, why);
            }
            Err(why) => self.state.fail(FAILED, why),
        }
    }
}

fn name_of(path: &Path) -> String {
    path.display().to_string()
}
