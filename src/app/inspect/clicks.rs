//! Pending picks in the shown picture, and other queries of its geometry.

use crate::{
    Result,
    app::{inspect::mesh_gap::MeshGap, schedule::PictureKey},
    render::{OUTLINES, PickQuery},
    scene::LightKind,
};
use std::{collections::VecDeque, sync::mpsc, thread::JoinHandle};

/// A click on the scene.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct Click {
    /// Number of the scene that was shown.
    pub(in crate::app) scene: u64,
    pub(in crate::app) query: PickQuery,
    /// True if the click selects a second mesh in addition to the selected one.
    pub(in crate::app) beside: bool,
    /// Kind of the light that is added at the surface instead of selecting a mesh. `None` for a click of the
    /// user.
    pub(in crate::app) adds: Option<LightKind>,
}

/// A query of the point under the pointer.
#[derive(Debug, Clone)]
pub(in crate::app) struct Hover {
    pub(in crate::app) click: Click,
    /// Key of the picture that was shown.
    pub(in crate::app) picture: PictureKey,
    /// Number of the submitted query. `None` before it is submitted and after its result has arrived.
    pub(in crate::app) number: Option<u64>,
}

/// Queries of the shown picture's geometry.
#[derive(Debug, Default)]
pub(in crate::app) struct Selecting {
    /// Clicks that have not been submitted to the GPU yet.
    pub(in crate::app) clicks: VecDeque<Click>,
    /// Submitted clicks with the numbers of their queries.
    pub(in crate::app) asked: Vec<(u64, Click)>,
    /// Last query of the point under the pointer. `None` unless a click would measure.
    pub(in crate::app) hovered: Option<Hover>,
    /// True if the query in `hovered` has not been submitted yet.
    pub(in crate::app) hovers: bool,
    /// Key of the picture that the window shows.
    pub(in crate::app) shown: Option<PictureKey>,
    /// Picture and mesh instances that the outlines were last drawn for.
    pub(in crate::app) outlined: Option<(PictureKey, [Option<usize>; OUTLINES])>,
    pub(in crate::app) gap: Option<MeshGap>,
    /// Result of the running pipeline compilation.
    pub(in crate::app) compiling: Option<mpsc::Receiver<Result<()>>>,
    pub(in crate::app) thread: Option<JoinHandle<()>>,
}

impl Selecting {
    /// Drops everything, because the device is lost.
    pub(in crate::app) fn reset(&mut self) {
        *self = Self::default();
    }
}

impl Drop for Selecting {
    fn drop(&mut self) {
        // The process must not end while the thread uses the driver.
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
