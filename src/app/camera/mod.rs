//! The camera, and everything that moves it.

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

/// Everything besides user input that moves the camera.
#[derive(Debug, Default)]
pub(in crate::app) struct CameraMotion {
    /// Spring arm of the orbiting camera.
    pub(in crate::app) arm: Arm,
    /// The camera as last placed by the file's camera. As long as the current camera equals it, the user has
    /// not moved it, and it follows a clip that animates the file's camera.
    pub(in crate::app) followed: Option<Camera>,
    /// The camera of the first view. As long as the current camera equals it, another clip may reframe it.
    pub(in crate::app) framed: Option<Camera>,
    /// True while the turntable turns the camera around the scene.
    pub(in crate::app) turntable: bool,
    /// Keys of the camera path.
    pub(in crate::app) path: PathKeys,
}
