//! A folder in which the program runs, isolated from the user's settings.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// canopy with the arguments of `line`, isolated in `folder`.
pub(crate) fn canopy_in(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_canopy"));
    isolate(command.args(line.split_whitespace()), folder);
    command
}

/// Folder of Mesa's compiled kernels, shared by all programs that tests start. By default it lies below
/// `HOME`, which differs from test to test.
fn shader_cache() -> PathBuf {
    let chosen = std::env::var_os("MESA_SHADER_CACHE_DIR").map(PathBuf::from);
    chosen.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("shaders"))
}

/// Makes `command` run in `folder`, without the display and with the settings of tests/settings instead of
/// the user's.
pub(crate) fn isolate<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    command
        .current_dir(folder)
        .env("HOME", folder)
        .env(
            "XDG_CONFIG_HOME",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/settings"),
        )
        // Mesa writes to standard error if it is not set.
        .env("XDG_RUNTIME_DIR", folder)
        .env("MESA_SHADER_CACHE_DIR", shader_cache())
        .env_remove("RUST_LOG")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
}

/// Two triangles, one above the other, so that the lower one is in shadow.
pub(crate) const OBJ: &str = "o low quad\nv -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 4 3 2 1\n\
                   o high\nv -0.3 0.5 -0.3\nv 0.3 0.5 -0.3\nv 0 0.5 0.3\nf 7 6 5\n";

/// A folder with a file `scene.obj`.
pub(crate) struct Folder(pub(crate) tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::write(folder.path("scene.obj"), OBJ).unwrap();
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs canopy in this folder.
    pub(crate) fn canopy(&self, line: &str) -> Output {
        canopy_in(self.0.path(), line).output().unwrap()
    }

    /// Runs a prepared command in this folder, isolated like [`Folder::canopy`].
    pub(crate) fn run(&self, mut command: Command) -> Output {
        isolate(&mut command, self.0.path()).output().unwrap()
    }
}
