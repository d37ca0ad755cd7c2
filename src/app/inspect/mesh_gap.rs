//! Distance between two deformed meshes, computed on a thread after a readback from the GPU.

use crate::{
    app::schedule::PictureKey,
    render::GeometryCopy,
    scene::mesh_distance::{MeshDistance, mesh_distance},
};
use glam::Vec3;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc,
};

/// Query of the distance between two meshes.
#[derive(Debug)]
pub(in crate::app) struct MeshGap {
    /// Picture whose pose the meshes are in.
    pub(in crate::app) picture: PictureKey,
    /// Indices of the mesh instances.
    pub(in crate::app) meshes: [usize; 2],
    step: Step,
    cancelled: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Step {
    /// Both meshes are being read back.
    Reading([GeometryCopy; 2]),
    Searching(mpsc::Receiver<Option<MeshDistance>>),
    Done,
}

impl MeshGap {
    /// Creates a query for two mesh instances. The commands of their readbacks `copies` must have been
    /// submitted.
    pub(in crate::app) fn new(picture: PictureKey, meshes: [usize; 2], copies: [GeometryCopy; 2]) -> Self {
        copies.iter().for_each(GeometryCopy::map);
        Self {
            picture,
            meshes,
            step: Step::Reading(copies),
            cancelled: Arc::default(),
        }
    }

    /// True while the readback is pending, for which the GPU has to be polled.
    pub(in crate::app) fn is_reading(&self) -> bool {
        matches!(self.step, Step::Reading(_))
    }

    /// True if the result has been returned.
    pub(in crate::app) fn is_done(&self) -> bool {
        matches!(self.step, Step::Done)
    }

    /// Advances the query. Returns the result once. The inner `None` means that a mesh has no triangles or
    /// that the readback or the search has failed. The searching thread calls `wake` when it ends.
    pub(in crate::app) fn poll(
        &mut self,
        wake: impl FnOnce() + Send + 'static,
    ) -> Option<Option<MeshDistance>> {
        match &self.step {
            Step::Reading(copies) if copies.iter().all(GeometryCopy::is_done) => {
                let (Ok(first), Ok(second)) = (copies[0].read(), copies[1].read()) else {
                    self.step = Step::Done;
                    return Some(None);
                };
                let (sender, receiver) = mpsc::channel();
                let cancelled = self.cancelled.clone();
                std::thread::spawn(move || {
                    let found = mesh_distance(corners(&first), corners(&second), &cancelled);
                    // Sending fails if another query was made in the meantime.
                    sender.send(found).ok();
                    wake();
                });
                self.step = Step::Searching(receiver);
                None
            }
            Step::Searching(receiver) => {
                let answer = match receiver.try_recv() {
                    Err(mpsc::TryRecvError::Empty) => return None,
                    Err(mpsc::TryRecvError::Disconnected) => None,
                    Ok(found) => found,
                };
                self.step = Step::Done;
                Some(answer)
            }
            _ => None,
        }
    }
}

fn corners((positions, indices): &(Vec<Vec3>, Vec<[u32; 3]>)) -> impl Iterator<Item = [Vec3; 3]> + '_ {
    let corner = |vertex: u32| positions.get(vertex as usize).copied().unwrap_or(Vec3::NAN);
    indices.iter().map(move |triangle| triangle.map(corner))
}

impl Drop for MeshGap {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
