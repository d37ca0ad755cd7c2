//! The environment and the sun.

pub(in crate::app) mod file;
pub(in crate::app) mod sun;
pub(in crate::app) mod task;

use crate::{render::light::lights::EffectiveSun, scene::environment};
use sun::SunOfScene;

/// Properties of the environment that the panel shows, and the effective sun.
#[derive(Debug, Default)]
pub(in crate::app) struct EnvironmentState {
    /// Warnings of loading the environment file.
    pub(in crate::app) warnings: Vec<String>,
    /// Sun that was extracted from the environment file, in the axes of the file.
    pub(in crate::app) sun_of_file: Option<environment::Sun>,
    /// Effective sun as of the last `State::find_sun`.
    pub(in crate::app) sun: Option<EffectiveSun>,
    /// Cache of the sun among the scene's own lights.
    pub(in crate::app) sun_of_scene: SunOfScene,
}
