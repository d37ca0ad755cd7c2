//! What the panel shows and cannot change.

use crate::{
    app::schedule::preparation::CompileProgress,
    config::AdapterTraits,
    lab::LabCounts,
    render::{FrameStats, IntersectionCounts, View},
    scene::Pose,
};

/// What the panel shows and cannot change.
pub(in crate::app) struct Facts<'a> {
    /// Figures of the renderer.
    pub(in crate::app) stats: &'a FrameStats,
    /// Rays of the laboratory in the last frame.
    pub(in crate::app) lab: Option<LabCounts>,
    /// What passes through what in the scene that is open, where it is known.
    pub(in crate::app) intersections: Option<&'a IntersectionCounts>,
    /// What is being loaded.
    pub(in crate::app) loading: Option<LoadProgress>,
    /// The progress of compiling.
    pub(in crate::app) preparing: Option<CompileProgress>,
    /// Whether files hover over the window.
    pub(in crate::app) dropping: bool,
    /// The exposure of this frame in stops.
    pub(in crate::app) exposure_ev: f32,
    /// Name of the adapter.
    pub(in crate::app) adapter: &'a str,
    /// Whether the adapter is a GPU.
    pub(in crate::app) has_gpu: bool,
    /// Traits of the adapter on which the meaning of `auto` depends.
    pub(in crate::app) traits: AdapterTraits,
    /// Rendered size of the last frame over the window's.
    pub(in crate::app) render_scale: f32,
    /// What moving costs, where the picture is coarser than at rest.
    pub(in crate::app) moving: Option<Moving>,
    /// Pixels that are traced and shaded.
    pub(in crate::app) size: [u32; 2],
    /// Samples that the still picture has, and is to have.
    pub(in crate::app) samples: Option<[u32; 2]>,
    /// Seconds until a picture of paths is done, where it is known.
    pub(in crate::app) path_secs_left: Option<f64>,
    /// The camera of the picture, where anything is drawn over it.
    pub(in crate::app) view: Option<View>,
    /// The scene's pose; `None` without a scene.
    pub(in crate::app) pose: Option<&'a Pose>,
    /// True while the browser for files is open.
    pub(in crate::app) browses: bool,
    /// Whether a picture has been waited for.
    pub(in crate::app) rendering: bool,
    /// True once the scene has been drawn, or could not be.
    pub(in crate::app) has_drawn: bool,
}

/// What a picture pays for moving.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct Moving {
    /// Rendered size over that at rest.
    pub(in crate::app) scale: f32,
    /// Whether its frames take longer than they should all the same.
    pub(in crate::app) is_late: bool,
}

/// How far a load has come.
pub(in crate::app) struct LoadProgress {
    /// Name of the file.
    pub(in crate::app) name: String,
    /// The step that is being done.
    pub(in crate::app) stage: String,
    /// The share of all steps that is done.
    pub(in crate::app) share: f32,
}
