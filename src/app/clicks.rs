//! Clicks on the scene that have not been answered, and what else is asked of the geometry of frames.

use super::{mesh_gap::MeshGap, schedule::PictureKey};
use crate::{
    Result,
    render::{OUTLINES, PickQuery},
    scene::LightKind,
};
use std::{collections::VecDeque, sync::mpsc, thread::JoinHandle};

/// A click on the scene.
#[derive(Debug, Clone, Copy)]
pub(super) struct Click {
    /// The scene that was shown.
    pub(super) scene: u64,
    pub(super) query: PickQuery,
    /// Whether it selects a mesh beside the one that is selected.
    pub(super) beside: bool,
    /// The kind of light that is added there; no mesh is selected then.
    pub(super) adds: Option<LightKind>,
}

/// A place in the picture that the pointer rests over.
#[derive(Debug, Clone)]
pub(super) struct Hover {
    pub(super) click: Click,
    /// The picture that was shown.
    pub(super) picture: PictureKey,
    /// The number of its answer, until that has come.
    pub(super) number: Option<u64>,
}

/// What is asked of the geometry of the frames.
#[derive(Debug, Default)]
pub(super) struct Selecting {
    /// Clicks that the GPU does not know of yet.
    pub(super) clicks: VecDeque<Click>,
    /// Those that it does, with the numbers of their answers.
    pub(super) asked: Vec<(u64, Click)>,
    /// What was asked of the pointer last, where a click would measure.
    pub(super) hovered: Option<Hover>,
    /// Whether the GPU does not know of that yet.
    pub(super) hovers: bool,
    /// What the window shows.
    pub(super) shown: Option<PictureKey>,
    /// What the outlines were drawn for.
    pub(super) outlined: Option<(PictureKey, [Option<usize>; OUTLINES])>,
    pub(super) gap: Option<MeshGap>,
    /// The passes while they are being compiled.
    pub(super) compiling: Option<mpsc::Receiver<Result<()>>>,
    pub(super) thread: Option<JoinHandle<()>>,
}

impl Selecting {
    /// Forgets all that was on the device, which is lost.
    pub(super) fn forget(&mut self) {
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
