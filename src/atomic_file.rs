//! Atomic file writes: a file appears complete or not at all.

use crate::{Error, Result};
use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// Writes `bytes` to a temporary file beside `path` and renames it to `path`, so that `path` never holds
/// partial data. Writes through symbolic links. A device or a pipe is written to directly.
///
/// # Errors
///
/// [`Error::Io`].
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = if is_stream(path) {
        let stream = fs::OpenOptions::new().write(true).open(path);
        stream.and_then(|mut stream| stream.write_all(bytes))
    } else {
        replace(&target(path), bytes)
    };
    written.map_err(|e| Error::io(path, e))
}

/// Fails if `path` cannot be written. Call it before any expensive work. It does not open devices and pipes,
/// because the reader of a pipe would see its end.
///
/// # Errors
///
/// [`Error::Io`].
pub fn check_writable(path: &Path) -> Result<()> {
    if path.is_dir() {
        let is_folder = io::Error::from(ErrorKind::IsADirectory);
        return Err(Error::io(path, is_folder));
    }
    if is_stream(path) {
        return Ok(());
    }
    let target = target(path);
    let folder = folder(&target);
    let (probe, _) = create_beside(&target).map_err(|e| {
        // In /proc, for example, the folder exists, but creating a file in it fails with `NotFound`.
        let takes_none = e.kind() == ErrorKind::NotFound && folder.is_dir();
        let told = takes_none.then(|| io::Error::other("no file can be written in this folder"));
        Error::io(folder, told.unwrap_or(e))
    })?;
    fs::remove_file(&probe).map_err(|e| Error::io(folder, e))
}

/// True if `path` is a device, a pipe or a socket.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|what| !what.is_file() && !what.is_dir())
}

/// Resolves `path` if it is a symbolic link, so that writing keeps the link.
fn target(path: &Path) -> PathBuf {
    let followed = path.is_symlink().then(|| fs::canonicalize(path).ok());
    followed.flatten().unwrap_or_else(|| path.to_owned())
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (part, mut file) = create_beside(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    drop(file);
    written.and_then(|()| fs::rename(&part, path)).inspect_err(|_| {
        // A failure to delete is ignored, because the first error is the one to report.
        fs::remove_file(&part).ok();
    })
}

/// Creates a file beside `path`, under a name that no other thread or process uses.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let process = std::process::id();
    loop {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{process}.{count}.part"));
        let part = folder(path).join(name);
        match File::create_new(&part) {
            // An earlier process with the same id was killed and left its file.
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (part, file)),
        }
    }
}

/// Returns the folder that contains `path`.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_atomic() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let missing = folder.path().join("none").join("a.png");
        assert!(write(&missing, b"x").is_err());
        let message = check_writable(&missing).unwrap_err().to_string();
        assert!(
            message.starts_with(&folder.path().join("none").display().to_string()),
            "{message}"
        );
        assert!(check_writable(folder.path()).is_err());
        check_writable(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn concurrent_writes_do_not_interleave() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::thread::scope(|scope| {
            for text in [[b'a'; 5000], [b'b'; 5000], [b'c'; 5000]] {
                let path = &path;
                scope.spawn(move || (0..20).for_each(|_| write(path, &text).unwrap()));
            }
        });
        let read = fs::read(&path).unwrap();
        assert!(read.len() == 5000 && read.iter().all(|byte| *byte == read[0]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn writes_follow_symbolic_links_and_keep_them() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("real")).unwrap();
        let real = folder.path().join("real/a.toml");
        let link = folder.path().join("link.toml");
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink("real/a.toml", &link).unwrap();
        check_writable(&link).unwrap();
        write(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_written_in_place() {
        use std::os::unix::fs::FileTypeExt as _;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        // The pipe has no reader yet, so opening it would block.
        check_writable(&pipe).unwrap();
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read(pipe).unwrap())
        };
        write(&pipe, b"whole").unwrap();
        assert_eq!(reader.join().unwrap(), b"whole");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let null = Path::new("/dev/null");
        check_writable(null).unwrap();
        write(null, b"nothing").unwrap();
        assert!(!null.is_file());
    }
}
