//! Read-only data for the panel.

use crate::{
    app::schedule::preparation::CompileProgress,
    config::AdapterTraits,
    lab::LabCounts,
    render::{FrameStats, IntersectionCounts, View},
    scene::Pose,
};

/// Read-only data for the panel.
pub(in crate::app) struct Facts<'a> {
    /// Statistics of the renderer.
    pub(in crate::app) stats: &'a FrameStats,
    /// Ray counts of the lab in the last frame.
    pub(in crate::app) lab: Option<LabCounts>,
    /// Intersections between the meshes of the open scene, if known.
    pub(in crate::app) intersections: Option<&'a IntersectionCounts>,
    /// Progress of the current load.
    pub(in crate::app) loading: Option<LoadProgress>,
    /// Progress of compiling pipelines.
    pub(in crate::app) preparing: Option<CompileProgress>,
    /// True while files are dragged over the window.
    pub(in crate::app) dropping: bool,
    /// Exposure of this frame in stops.
    pub(in crate::app) exposure_ev: f32,
    /// Name of the adapter.
    pub(in crate::app) adapter: &'a str,
    /// True if the adapter is a GPU.
    pub(in crate::app) has_gpu: bool,
    /// Traits of the adapter that `auto` settings depend on.
    pub(in crate::app) traits: AdapterTraits,
    /// Rendered size of the last frame divided by the viewport's size.
    pub(in crate::app) render_scale: f32,
    /// Loss of resolution and speed, if the picture is coarser than at rest.
    pub(in crate::app) moving: Option<Moving>,
    /// Width and height in pixels that are traced and shaded.
    pub(in crate::app) size: [u32; 2],
    /// Samples of the still picture: the number so far, and the maximum number.
    pub(in crate::app) samples: Option<[u32; 2]>,
    /// Seconds until a path-traced picture is done, if known.
    pub(in crate::app) path_secs_left: Option<f64>,
    /// Camera of the picture, if anything is drawn over the picture.
    pub(in crate::app) view: Option<View>,
    /// Pose of the scene. `None` without a scene.
    pub(in crate::app) pose: Option<&'a Pose>,
    /// True while the file browser is open.
    pub(in crate::app) browses: bool,
    /// True if the user has been waiting for a picture.
    pub(in crate::app) rendering: bool,
    /// True once the scene has been drawn or has failed to draw.
    pub(in crate::app) has_drawn: bool,
}

/// Loss of resolution and speed while something moves.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct Moving {
    /// Rendered size divided by the viewport's size.
    pub(in crate::app) scale: f32,
    /// True if frames still exceed their time budget.
    pub(in crate::app) is_late: bool,
}

/// Progress of a load.
pub(in crate::app) struct LoadProgress {
    /// Name of the file.
    pub(in crate::app) name: String,
    /// Current step.
    pub(in crate::app) stage: String,
    /// Completed fraction of all steps.
    pub(in crate::app) share: f32,
}
