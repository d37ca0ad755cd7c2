//! A folder in which the program runs, away from the settings of whoever runs the tests.

use std::{
    path::PathBuf,
    process::{Command, Output},
};

/// Two triangles, one above the other, so that the lower one is in shadow.
pub(crate) const OBJ: &str = "o low quad\nv -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 4 3 2 1\n\
                   o high\nv -0.3 0.5 -0.3\nv 0.3 0.5 -0.3\nv 0 0.5 0.3\nf 7 6 5\n";

/// With a file `scene.obj`.
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

    /// Runs canopy in this folder, away from the settings of whoever runs the tests.
    pub(crate) fn canopy(&self, line: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_canopy"));
        command.args(line.split_whitespace());
        self.run(command)
    }

    /// As [`Folder::canopy`], with a command line of its own.
    pub(crate) fn run(&self, mut command: Command) -> Output {
        command
            .current_dir(self.0.path())
            .env("HOME", self.0.path())
            .env("XDG_CONFIG_HOME", self.0.path())
            // Mesa writes to standard error where it is not set.
            .env("XDG_RUNTIME_DIR", self.0.path())
            .env_remove("RUST_LOG")
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY");
        command.output().unwrap()
    }
}
