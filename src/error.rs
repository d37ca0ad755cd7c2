//! The library's error type: each error is a single line that names the file, key or thing at fault.

use std::path::PathBuf;

/// Shorthand for results of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can fail. Messages say what to do, as far as that is known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A scene, an environment or a file of questions is broken, or needs what canopy does not support.
    #[error("{}: {what}", path.display())]
    Scene {
        /// The file that was opened.
        path: PathBuf,
        /// What is wrong with it; names the accessor, node or key.
        what: String,
    },
    /// A folder was opened that holds several scenes.
    #[error("{}: holds {count} scenes; name one of {names}", folder.display())]
    SeveralScenes {
        /// The folder.
        folder: PathBuf,
        /// The number of its scenes.
        count: usize,
        /// Names of the first ones.
        names: String,
    },
    /// A configuration key or its value is wrong.
    #[error("{origin}: {what}")]
    Config {
        /// The file, or the command-line option: `--set`, `--size`, ….
        origin: String,
        /// What is wrong; names the key.
        what: String,
    },
    /// The command line is wrong, whatever the files hold: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// Something that was named does not exist in the scene or on this machine: a clip, a camera, an adapter.
    #[error("{0}")]
    NotFound(String),
    /// The scene is larger than the adapter supports or the configuration allows.
    #[error("{what}: {needed} needed, {allowed} allowed ({by})")]
    Limit {
        /// What did not fit.
        what: String,
        /// How much it needs, with a unit.
        needed: String,
        /// How much is allowed, with a unit.
        allowed: String,
        /// What sets the limit: the adapter, or a configuration key.
        by: String,
    },
    /// Trees cannot be built over this geometry, or do not hold what they must.
    #[error("{0}")]
    Tree(String),
    /// A shader that cannot be composed, with its file and line.
    #[error("{0}")]
    Shader(String),
    /// An argument that a function of the library does not accept.
    #[error("{0}")]
    Argument(String),
    /// No usable adapter, a lost device, or an error that wgpu reported.
    #[error("{0}")]
    Gpu(String),
    /// The system opens no window, as without a display.
    #[error("{0}")]
    Window(String),
    /// A picture or an environment cannot be encoded in the format of its file.
    #[error("{0}")]
    Encode(String),
    /// A result of the GPU failed its check.
    #[error("{0}")]
    WrongResult(String),
    /// A fault of canopy itself.
    #[error("{0}; please report this")]
    Internal(String),
    /// The user cancelled the work.
    #[error("cancelled")]
    Cancelled,
}

impl From<canopy_bvh::Error> for Error {
    fn from(error: canopy_bvh::Error) -> Self {
        match error {
            canopy_bvh::Error::Io { path, source } => Self::Io { path, source },
            canopy_bvh::Error::Limit {
                what,
                needed,
                allowed,
                by,
            } => Self::Limit {
                what,
                needed,
                allowed,
                by,
            },
            canopy_bvh::Error::Tree(what) => Self::Tree(what),
            canopy_bvh::Error::Shader(what) => Self::Shader(what),
            canopy_bvh::Error::NotFound(what) => Self::NotFound(what),
            canopy_bvh::Error::Argument(what) => Self::Argument(what),
            canopy_bvh::Error::Cancelled => Self::Cancelled,
            canopy_bvh::Error::Gpu(what) => Self::Gpu(what),
            error => Self::Internal(error.to_string()),
        }
    }
}

impl From<canopy_scene::Error> for Error {
    fn from(error: canopy_scene::Error) -> Self {
        use canopy_scene::Error as SceneError;
        match error {
            SceneError::Io { path, source } => Self::Io { path, source },
            SceneError::Scene { path, what } => Self::Scene { path, what },
            SceneError::SeveralScenes { folder, count, names } => {
                Self::SeveralScenes { folder, count, names }
            }
            SceneError::NotFound(what) => Self::NotFound(what),
            SceneError::Limit {
                what,
                needed,
                allowed,
                by,
            } => Self::Limit {
                what,
                needed,
                allowed,
                by,
            },
            SceneError::Cancelled => Self::Cancelled,
            error => Self::Internal(error.to_string()),
        }
    }
}

impl Error {
    /// An [`Error::Io`] for `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source,
        }
    }

    /// Whether the command line is wrong, whatever the files hold.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Usage(_) => true,
            // A settings file's origin is its path.
            Self::Config { origin, .. } => origin.starts_with("--"),
            _ => false,
        }
    }

    /// An [`Error::Scene`] for `path`, on one line of limited length without control characters, whatever the
    /// file contains.
    pub fn scene(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        canopy_scene::Error::scene(path, what).into()
    }
}
