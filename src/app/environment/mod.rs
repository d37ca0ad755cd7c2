//! The environment and the sun.

pub(in crate::app) mod file;
pub(in crate::app) mod sun;
pub(in crate::app) mod task;

use crate::{render::light::lights::EffectiveSun, scene::environment};
use sun::SunOfScene;

/// The shown environment, and the effective sun.
#[derive(Debug, Default)]
pub(in crate::app) struct EnvironmentState {
    /// Warnings about the shown environment file.
    pub(in crate::app) warnings: Vec<String>,
    /// Sun of the shown environment file, in the axes of the file.
    pub(in crate::app) sun_of_file: Option<environment::Sun>,
    /// Effective sun as of the last [`State::find_sun`].
    pub(in crate::app) sun: Option<EffectiveSun>,
    /// Cached sun of the scene's own lights.
    pub(in crate::app) sun_of_scene: SunOfScene,
}
