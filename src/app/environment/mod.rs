//! The environment and its sun.

pub(in crate::app) mod file;
pub(in crate::app) mod sun;
pub(in crate::app) mod task;

use crate::{render::light::lights::SunInForce, scene::environment};
use sun::SunOfScene;

/// The environment that is shown, and the sun that shines.
#[derive(Debug, Default)]
pub(in crate::app) struct EnvironmentState {
    /// Warnings about the environment's file that is shown.
    pub(in crate::app) warnings: Vec<String>,
    /// The sun of the environment's file that is shown, in the axes of the file.
    pub(in crate::app) sun_of_file: Option<environment::Sun>,
    /// The sun that shines, as of the last [`State::find_sun`].
    pub(in crate::app) sun: Option<SunInForce>,
    /// Sun of the scene's own lights, found once.
    pub(in crate::app) sun_of_scene: SunOfScene,
}
