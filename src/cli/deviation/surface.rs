//! Visible triangles of a scene with their BVH: one of the two surfaces of a measurement.

use crate::{
    Error, Result,
    gpu::Gpu,
    render::{
        geometry::visible::{VisibleGeometry, VisibleMeshes},
        inspect::compared_tree::{ComparedTree, is_in_tree},
    },
    scene::{compared::ReferenceSurface, signed_surface::SignedSurface},
};

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Visible triangles of a scene.
#[derive(Debug)]
pub(super) struct Surface {
    pub(super) path: PathBuf,
    /// Mesh and triangle numbers.
    pub(super) meshes: VisibleMeshes,
    pub(super) tree: ComparedTree,
}

impl Surface {
    /// Uploads the triangles and builds their BVH.
    ///
    /// # Errors
    ///
    /// [`Error::Scene`] if no triangle is visible, [`Error::Limit`] if there are too many for the adapter.
    pub(super) fn new(gpu: &Gpu, path: &Path, shown: VisibleGeometry) -> Result<Self> {
        let in_tree = |vertex: &u32| is_in_tree(shown.positions[*vertex as usize]);
        if !shown.indices.iter().any(|t| t.iter().all(in_tree)) {
            return Err(Error::scene(path, "has no visible triangles to measure"));
        }
        let compared = Arc::new(ReferenceSurface::new(shown.positions, shown.indices));
        Ok(Self {
            path: path.to_owned(),
            meshes: shown.meshes,
            tree: ComparedTree::new(gpu, compared)?,
        })
    }

    pub(super) fn triangles(&self) -> &[[u32; 3]] {
        &self.tree.compared.triangles
    }

    pub(super) fn signed(&self) -> &SignedSurface {
        &self.tree.compared.surface
    }
}
