//! The nearest points of two meshes, found on a thread from what the GPU has deformed.

use super::schedule::PictureKey;
use crate::{
    render::MeshCopy,
    scene::{
        Primitive,
        mesh_distance::{MeshDistance, mesh_distance},
    },
};
use glam::Vec3;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc,
};

/// A question for the distance of two meshes.
#[derive(Debug)]
pub(super) struct MeshGap {
    /// The pose that it is asked of.
    pub(super) picture: PictureKey,
    /// Indices of the mesh instances.
    pub(super) meshes: [usize; 2],
    step: Step,
    cancelled: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Step {
    /// The vertices are being read back; with the triangles of both meshes.
    Reading([(MeshCopy, Vec<[u32; 3]>); 2]),
    Searching(mpsc::Receiver<Option<MeshDistance>>),
    Done,
}

/// Triangles over the vertices of all primitives, one primitive after another.
pub(super) fn triangles(primitives: &[Primitive]) -> Vec<[u32; 3]> {
    let mut base = 0;
    let mut triangles = Vec::new();
    for primitive in primitives {
        let moved = |triangle: &[u32; 3]| triangle.map(|vertex| base + vertex);
        triangles.extend(primitive.indices.iter().map(moved));
        base += primitive.positions.len() as u32;
    }
    triangles
}

impl MeshGap {
    /// For meshes whose copies have been submitted.
    pub(super) fn new(
        picture: PictureKey,
        meshes: [usize; 2],
        copies: [(MeshCopy, Vec<[u32; 3]>); 2],
    ) -> Self {
        copies.iter().for_each(|(copy, _)| copy.map());
        Self {
            picture,
            meshes,
            step: Step::Reading(copies),
            cancelled: Arc::default(),
        }
    }

    /// Whether the GPU has to be polled.
    pub(super) fn is_reading(&self) -> bool {
        matches!(self.step, Step::Reading(_))
    }

    /// Whether the answer was handed out.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.step, Step::Done)
    }

    /// Goes on. Hands the answer out once; that is `None` where a mesh has no triangles. `wake` is called when a
    /// thread has found it.
    pub(super) fn poll(
        &mut self,
        wake: impl FnOnce() + Send + 'static,
    ) -> Option<Option<MeshDistance>> {
        match &self.step {
            Step::Reading(copies) if copies.iter().all(|(copy, _)| copy.is_done()) => {
                let read = |(copy, indices): &(MeshCopy, Vec<[u32; 3]>)| {
                    copy.read().map(|positions| (positions, indices.clone()))
                };
                let (Ok(first), Ok(second)) = (read(&copies[0]), read(&copies[1])) else {
                    self.step = Step::Done;
                    return Some(None);
                };
                let (sender, receiver) = mpsc::channel();
                let cancelled = self.cancelled.clone();
                std::thread::spawn(move || {
                    let found = mesh_distance(corners(&first), corners(&second), &cancelled);
                    // Nobody listens any more once something else was asked.
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

fn corners(
    (positions, indices): &(Vec<Vec3>, Vec<[u32; 3]>),
) -> impl Iterator<Item = [Vec3; 3]> + '_ {
    let corner = |vertex: u32| positions.get(vertex as usize).copied().unwrap_or(Vec3::NAN);
    indices.iter().map(move |triangle| triangle.map(corner))
}

impl Drop for MeshGap {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_count_on_over_primitives() {
        let primitive = |vertices: usize, indices: Vec<[u32; 3]>| Primitive {
            positions: vec![Vec3::ZERO; vertices],
            indices,
            ..Primitive::default()
        };
        let primitives = [
            primitive(3, vec![[0, 1, 2]]),
            primitive(4, vec![[0, 1, 2], [3, 2, 1]]),
        ];
        assert_eq!(triangles(&primitives), [[0, 1, 2], [3, 4, 5], [6, 5, 4]]);
        assert_eq!(triangles(&[]), [[0; 3]; 0]);
    }
}
