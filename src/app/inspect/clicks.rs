//! Clicks on the scene that have not been answered, and what else is asked of the geometry of frames.

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
    /// The scene that was shown.
    pub(in crate::app) scene: u64,
    pub(in crate::app) query: PickQuery,
    /// Whether it selects a mesh beside the one that is selected.
    pub(in crate::app) beside: bool,
    /// The kind of light that is added there; no mesh is selected then.
    pub(in crate::app) adds: Option<LightKind>,
}

/// A place in the picture that the pointer rests over.
#[derive(Debug, Clone)]
pub(in crate::app) struct Hover {
    pub(in crate::app) click: Click,
    /// The picture that was shown.
    pub(in crate::app) picture: PictureKey,
    /// The number of its answer, until that has come.
    pub(in crate::app) number: Option<u64>,
}

/// What is asked of the geometry of the frames.
#[derive(Debug, Default)]
pub(in crate::app) struct Selecting {
    /// Clicks that the GPU does not know of yet.
    pub(in crate::app) clicks: VecDeque<Click>,
    /// Those that it does, with the numbers of their answers.
    pub(in crate::app) asked: Vec<(u64, Click)>,
    /// What was asked of the pointer last, where a click would measure.
    pub(in crate::app) hovered: Option<Hover>,
    /// Whether the GPU does not know of that yet.
    pub(in crate::app) hovers: bool,
    /// What the window shows.
    pub(in crate::app) shown: Option<PictureKey>,
    /// What the outlines were drawn for.
    pub(in crate::app) outlined: Option<(PictureKey, [Option<usize>; OUTLINES])>,
    pub(in crate::app) gap: Option<MeshGap>,
    /// The passes while they are being compiled.
    pub(in crate::app) compiling: Option<mpsc::Receiver<Result<()>>>,
    pub(in crate::app) thread: Option<JoinHandle<()>>,
}

impl Selecting {
    /// Forgets all that was on the device, which is lost.
    pub(in crate::app) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Drop for Selecting {
    fn drop(&mut self) {
        // Nothing may be left in the driver when the program ends.
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
