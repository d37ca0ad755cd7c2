//! The camera, and whoever moves it.

pub(in crate::app) mod arm;
pub(in crate::app) mod model;
pub(in crate::app) mod motion;
pub(in crate::app) mod obstacles;
pub(in crate::app) mod path_keys;
pub(in crate::app) mod projector;
pub(in crate::app) mod walker;

use arm::Arm;
use model::Camera;
use path_keys::PathKeys;

/// Whatever moves the camera, beside the person.
#[derive(Debug, Default)]
pub(in crate::app) struct CameraMotion {
    /// What holds it up while it orbits.
    pub(in crate::app) arm: Arm,
    /// The camera as the file's camera placed it last. As long as the camera stands there, it follows a clip
    /// that moves the file's camera.
    pub(in crate::app) followed: Option<Camera>,
    /// The camera of the first view, which another clip may move.
    pub(in crate::app) framed: Option<Camera>,
    /// Whether the camera turns around the scene.
    pub(in crate::app) turntable: bool,
    /// The keys of a camera path.
    pub(in crate::app) path: PathKeys,
}
