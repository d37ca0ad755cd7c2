//! Videos: pipes every picture to `ffmpeg` as raw RGBA.

use super::args::usage;
use crate::{Error, Result, output};
use std::{
    ffi::OsString,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, SyncSender, TrySendError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Supported file extensions of videos.
pub(super) const EXTENSIONS: [&str; 2] = ["mp4", "webm"];

/// Maximum time for ffmpeg to accept a picture, and to finish after the last one. Slow machines need seconds
/// to encode large pictures.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Interval of checks for cancellation while a video is being finished.
const ASKS: Duration = Duration::from_millis(200);
/// Maximum number of pictures waiting for ffmpeg.
const QUEUE: usize = 2;
/// Maximum number of bytes of ffmpeg's messages to keep.
const MESSAGES: u64 = 64 << 10;

/// A video to write, checked before any work is done.
#[derive(Debug)]
pub(super) struct VideoFile {
    path: PathBuf,
    codec: &'static [&'static str],
}

impl VideoFile {
    /// Creates the video if the name has a video extension, otherwise returns `None`.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if ffmpeg is not installed, [`Error::Usage`] for a size that videos do not
    /// support, [`Error::Io`] if the file cannot be written.
    pub(super) fn wanted(path: &Path, size: [u32; 2]) -> Result<Option<Self>> {
        let extension = path.extension().and_then(|e| e.to_str());
        let codec: &[&str] = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("mp4") => &[
                "-c:v",
                "libx264",
                "-preset",
                "medium",
                "-crf",
                "18",
                "-movflags",
                "+faststart",
                "-f",
                "mp4",
            ],
            Some("webm") => &[
                "-c:v",
                "libvpx-vp9",
                "-crf",
                "24",
                "-b:v",
                "0",
                "-row-mt",
                "1",
                "-f",
                "webm",
            ],
            _ => return Ok(None),
        };
        let name = path.display();
        if size.iter().any(|side| !side.is_multiple_of(2)) {
            let [width, height] = size;
            return usage(format!(
                "{name}: videos need an even width and height, got {width}x{height}; add --size"
            ));
        }
        if program().is_none() {
            return Err(Error::NotFound(format!(
                "{name}: videos need ffmpeg, which is not on the PATH; install it, or write pictures with \
                 {{frame}} in their name"
            )));
        }
        output::check_writable(path)?;
        Ok(Some(Self {
            path: path.to_owned(),
            codec,
        }))
    }

    /// Starts ffmpeg for pictures of `size` at `fps` frames per second.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it does not start.
    pub(super) fn start(self, size: [u32; 2], fps: f32) -> Result<Video> {
        let program = program().unwrap_or_else(|| "ffmpeg".into());
        let target = std::path::absolute(&self.path).map_err(|e| Error::io(&self.path, e))?;
        let part = beside(&target);
        let mut file = OsString::from("file:");
        file.push(&part);
        let child = Command::new(&program)
            .args(arguments(size, fps))
            .args(self.codec)
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.map_err(|e| Error::io(&program, e))?;
        let (pictures, queue) = mpsc::sync_channel::<Vec<u8>>(QUEUE);
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let writer = thread::spawn(move || -> io::Result<()> {
            let Some(mut stdin) = stdin else {
                return Ok(());
            };
            queue.iter().try_for_each(|picture| stdin.write_all(&picture))
        });
        let messages = thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(mut stderr) = stderr {
                // Partial output is useful too.
                stderr.by_ref().take(MESSAGES).read_to_end(&mut text).ok();
                io::copy(&mut stderr, &mut io::sink()).ok();
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Video {
            path: self.path,
            target,
            part,
            child,
            pictures: Some(pictures),
            writer: Some(writer),
            messages: Some(messages),
            bytes: 0,
        })
    }
}

/// Returns the arguments of ffmpeg. The pictures are sRGB, and become BT.709 with limited range.
fn arguments([width, height]: [u32; 2], fps: f32) -> Vec<String> {
    let size = format!("{width}x{height}");
    let fps = fps.to_string();
    let all = [
        "-hide_banner",
        "-loglevel",
        "error",
        "-y",
        "-f",
        "rawvideo",
        "-pixel_format",
        "rgba",
        "-video_size",
        &size,
        "-framerate",
        &fps,
        "-i",
        "pipe:0",
        "-an",
        "-vf",
        "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p",
        "-colorspace",
        "bt709",
        "-color_primaries",
        "bt709",
        "-color_trc",
        "iec61966-2-1",
        "-color_range",
        "tv",
    ];
    all.map(str::to_owned).into()
}

/// Finds the first ffmpeg in the PATH.
fn program() -> Option<PathBuf> {
    let name = format!("ffmpeg{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::var_os("PATH")?;
    let mut paths = std::env::split_paths(&folders).map(|folder| folder.join(&name));
    paths.find(|path| path.is_file())
}

/// Returns a path in the folder of the video for the incomplete file.
fn beside(target: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    target.with_file_name(name)
}

/// A video being encoded. Dropping it before the end leaves no file.
#[derive(Debug)]
pub(super) struct Video {
    /// Path as given by the user, for messages.
    path: PathBuf,
    target: PathBuf,
    part: PathBuf,
    child: Child,
    pictures: Option<SyncSender<Vec<u8>>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    messages: Option<JoinHandle<String>>,
    /// Size of the finished file in bytes.
    pub(super) bytes: u64,
}

impl Video {
    /// Queues a picture of RGBA with eight bits per channel.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if ffmpeg fails, with its messages, or if it does not accept the picture in time.
    pub(super) fn add(&mut self, mut picture: Vec<u8>) -> Result<()> {
        let until = Instant::now() + TIMEOUT;
        loop {
            let Some(pictures) = &self.pictures else {
                return Ok(());
            };
            picture = match pictures.try_send(picture) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(picture)) => picture,
                Err(TrySendError::Disconnected(_)) => return Err(self.failed()),
            };
            if Instant::now() > until {
                return Err(self.late());
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for ffmpeg to finish and renames the file. Returns its name and its size in bytes. Calls
    /// `goes_on` regularly. An error from it cancels the video, which leaves no file.
    ///
    /// # Errors
    ///
    /// Any error of [`Video::add`] and of `goes_on`.
    pub(super) fn finish(mut self, goes_on: impl Fn() -> Result<()>) -> Result<(String, u64)> {
        // Closing the input ends ffmpeg. The writer thread ends once it has written the queue.
        self.pictures = None;
        let Some(status) = self.wait(goes_on)? else {
            return Err(self.late());
        };
        let written = self.writer.take().map(JoinHandle::join);
        let is_whole = matches!(written, Some(Ok(Ok(()))));
        if !status.success() || !is_whole {
            return Err(self.failed());
        }
        let io = |e| Error::io(&self.path, e);
        self.bytes = std::fs::metadata(&self.part).map_err(io)?.len();
        std::fs::rename(&self.part, &self.target).map_err(io)?;
        Ok((self.path.display().to_string(), self.bytes))
    }

    /// Waits for the exit status, or returns `None` after [`TIMEOUT`].
    fn wait(&mut self, goes_on: impl Fn() -> Result<()>) -> Result<Option<ExitStatus>> {
        let until = Instant::now() + TIMEOUT;
        let mut asks = Instant::now() + ASKS;
        while Instant::now() < until {
            if Instant::now() > asks {
                goes_on()?;
                asks += ASKS;
            }
            let status = self.child.try_wait().map_err(|e| Error::io(&self.path, e))?;
            if status.is_some() {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(None)
    }

    fn late(&self) -> Error {
        let seconds = TIMEOUT.as_secs();
        self.error(&format!("ffmpeg did nothing for {seconds} s"))
    }

    /// Returns an error with ffmpeg's messages.
    fn failed(&mut self) -> Error {
        self.pictures = None;
        // ffmpeg has closed its input or exited, so its messages end soon. Otherwise it is killed.
        let ended = self.wait(|| Ok(()));
        if !matches!(ended, Ok(Some(_))) {
            self.child.kill().ok();
        }
        let text = self.messages.take().and_then(|thread| thread.join().ok());
        let text = text.unwrap_or_default();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let said: Vec<_> = lines.take(2).collect();
        match said.is_empty() {
            true => self.error("ffmpeg failed and does not say why"),
            false => self.error(&format!("ffmpeg: {}", said.join("; "))),
        }
    }

    fn error(&self, what: &str) -> Error {
        let what: String = what.chars().filter(|c| !c.is_control()).take(400).collect();
        Error::io(&self.path, io::Error::other(what))
    }
}

impl Drop for Video {
    fn drop(&mut self) {
        self.pictures = None;
        // Has no effect if ffmpeg has already ended. After a success there is no file to remove.
        self.child.kill().ok();
        self.child.wait().ok();
        std::fs::remove_file(&self.part).ok();
    }
}
