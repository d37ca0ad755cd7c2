//! Pending clicks on the scene, and other queries of frame geometry.

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
    /// True if it selects a second mesh in addition to the selected one.
    pub(in crate::app) beside: bool,
    /// Kind of light to add there. No mesh is selected then.
    pub(in crate::app) adds: Option<LightKind>,
}

/// A position of the resting pointer in the picture.
#[derive(Debug, Clone)]
pub(in crate::app) struct Hover {
    pub(in crate::app) click: Click,
    /// Key of the picture that was shown.
    pub(in crate::app) picture: PictureKey,
    /// Number of the query until its result has arrived.
    pub(in crate::app) number: Option<u64>,
}

/// Queries of frame geometry.
#[derive(Debug, Default)]
pub(in crate::app) struct Selecting {
    /// Clicks that have not been submitted to the GPU yet.
    pub(in crate::app) clicks: VecDeque<Click>,
    /// Submitted clicks with the numbers of their queries.
    pub(in crate::app) asked: Vec<(u64, Click)>,
    /// Last query at the pointer, if a click would measure.
    pub(in crate::app) hovered: Option<Hover>,
    /// True if that query has not been submitted yet.
    pub(in crate::app) hovers: bool,
    /// Key of the picture in the window.
    pub(in crate::app) shown: Option<PictureKey>,
    /// Picture and meshes that the outlines were drawn for.
    pub(in crate::app) outlined: Option<(PictureKey, [Option<usize>; OUTLINES])>,
    pub(in crate::app) gap: Option<MeshGap>,
    /// Result of the running pipeline compilation.
    pub(in crate::app) compiling: Option<mpsc::Receiver<Result<()>>>,
    pub(in crate::app) thread: Option<JoinHandle<()>>,
}

impl Selecting {
    /// Drops everything on the lost device.
    pub(in crate::app) fn reset(&mut self) {
        *self = Self::default();
    }
}

impl Drop for Selecting {
    fn drop(&mut self) {
        // The driver must not be busy when the program ends.
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
