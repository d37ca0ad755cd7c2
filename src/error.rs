//! Error type of the library. Each message is a single line that names the file, key or object at fault.

use std::path::PathBuf;

/// Result with this library's error type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can fail. Messages say how to fix the problem where that is known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A scene, an environment or a file of queries is invalid, or needs a feature that canopy does not
    /// support.
    #[error("{}: {what}", path.display())]
    Scene {
        /// File that was opened.
        path: PathBuf,
        /// Description of the problem, which names the accessor, node or key.
        what: String,
    },
    /// A folder that holds several scenes was opened.
    #[error("{}: holds {count} scenes; name one of {names}", folder.display())]
    SeveralScenes {
        /// Path of the folder.
        folder: PathBuf,
        /// Number of scenes in the folder.
        count: usize,
        /// Names of the first scenes in the folder, for the message.
        names: String,
    },
    /// A configuration key or its value is wrong.
    #[error("{origin}: {what}")]
    Config {
        /// File or command-line option, such as `--set` or `--size`.
        origin: String,
        /// Description of the problem, which names the key.
        what: String,
    },
    /// The command line is wrong, independently of any file. Exit code 2.
    #[error("{0}")]
    Usage(String),
    /// A named object does not exist in the scene or on this machine, such as a clip, a camera or an adapter.
    #[error("{0}")]
    NotFound(String),
    /// The scene is larger than the adapter supports or the configuration allows.
    #[error("{what}: {needed} needed, {allowed} allowed ({by})")]
    Limit {
        /// Resource that did not fit.
        what: String,
        /// Amount needed, with a unit.
        needed: String,
        /// Amount allowed, with a unit.
        allowed: String,
        /// Source of the limit: the adapter or a configuration key.
        by: String,
    },
    /// A BVH cannot be built over this geometry, or lacks required data.
    #[error("{0}")]
    Tree(String),
    /// A shader cannot be composed or validated. The message names its file and line.
    #[error("{0}")]
    Shader(String),
    /// A function of the library was called with an invalid argument.
    #[error("{0}")]
    Argument(String),
    /// No usable adapter, a lost device, or an error that wgpu reported.
    #[error("{0}")]
    Gpu(String),
    /// The system cannot open a window, for example without a display.
    #[error("{0}")]
    Window(String),
    /// A picture or an environment cannot be encoded in its file format.
    #[error("{0}")]
    Encode(String),
    /// A result of the GPU failed its check, or a comparison exceeded its tolerance.
    #[error("{0}")]
    WrongResult(String),
    /// A bug in canopy.
    #[error("{0}; please report this bug")]
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
    /// Creates an [`Error::Io`] for `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source,
        }
    }

    /// Puts the name of the output before the message of an [`Error::Encode`]. Other errors are unchanged.
    pub(crate) fn with_output(self, name: impl std::fmt::Display) -> Self {
        match self {
            Self::Encode(what) => Self::Encode(format!("{name}: {what}")),
            other => other,
        }
    }

    /// True if the command line is wrong, independently of any file.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Usage(_) => true,
            // The origin is the path of a settings file or an option.
            Self::Config { origin, .. } => origin.starts_with("--"),
            _ => false,
        }
    }

    /// Creates an [`Error::Scene`] for `path`. The message is one line of limited length without control
    /// characters, regardless of the file's contents.
    pub fn scene(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        canopy_scene::Error::scene(path, what).into()
    }
}
