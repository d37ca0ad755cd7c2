//! Child process that draws an export with `canopy render`.

use crate::{Error, Result};
use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Instant,
};

/// Maximum number of bytes that are kept of the process's standard error.
const MESSAGES: u64 = 64 << 10;

/// State that the window shares with the thread that reads the progress.
#[derive(Debug, Default)]
struct Shared {
    done: AtomicU64,
    total: AtomicU64,
    is_cancelled: AtomicBool,
}

/// A running export.
#[derive(Debug)]
pub(in crate::app) struct Exporting {
    pub(in crate::app) child: Child,
    shared: Arc<Shared>,
    messages: Option<JoinHandle<String>>,
    /// Number of pictures.
    pub(in crate::app) frames: u64,
    pub(in crate::app) output: PathBuf,
    /// Temporary input files of the process. They are removed when this is dropped.
    read: Vec<PathBuf>,
    pub(in crate::app) cancelled: Option<Instant>,
}

impl Exporting {
    /// Starts this program with `arguments`. `output` is the path of the exported files, and `read` are
    /// temporary input files. A thread calls `wake` on progress and at the end.
    pub(in crate::app) fn start(
        arguments: &[String],
        frames: u64,
        (output, read): (PathBuf, Vec<PathBuf>),
        wake: impl Fn() + Send + 'static,
    ) -> Result<Self> {
        let program = std::env::current_exe().map_err(|e| Error::io("the program's own file", e))?;
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
                // The pipe closes when the thread ends. The process then ends after its current sample.
                if told.is_cancelled.load(Ordering::Relaxed) {
                    break;
                }
            }
            wake();
        });
        let messages = thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(mut stderr) = stderr {
                // The messages are useful even if reading them fails in the middle.
                stderr.by_ref().take(MESSAGES).read_to_end(&mut text).ok();
                std::io::copy(&mut stderr, &mut std::io::sink()).ok();
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Self {
            child,
            shared,
            messages: Some(messages),
            frames,
            output,
            read,
            cancelled: None,
        })
    }

    /// Returns the number of finished samples, and of all samples, at least 1.
    pub(in crate::app) fn progress(&self) -> [u64; 2] {
        let number = |of: &AtomicU64| of.load(Ordering::Relaxed);
        [number(&self.shared.done), number(&self.shared.total).max(1)]
    }

    /// Returns the standard error of the process, at most 64 KiB. It waits for the end of the process, and
    /// later calls return an empty string.
    pub(in crate::app) fn messages(&mut self) -> String {
        let said = self.messages.take().and_then(|thread| thread.join().ok());
        said.unwrap_or_default()
    }

    /// Makes the process end after its current sample.
    pub(in crate::app) fn cancel(&mut self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
        self.cancelled.get_or_insert_with(Instant::now);
    }
}

impl Drop for Exporting {
    fn drop(&mut self) {
        for file in &self.read {
            std::fs::remove_file(file).ok();
        }
    }
}
