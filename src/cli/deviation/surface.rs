//! A scene's triangles, to measure and to be measured from.

use crate::{
    Error, Result,
    gpu::Gpu,
    render::{
        geometry::shown::{Shown, ShownMeshes},
        inspect::compared_tree::{ComparedTree, is_in_tree},
    },
    scene::{compared::Compared, signed_surface::SignedSurface},
};

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// The triangles that a scene shows.
#[derive(Debug)]
pub(super) struct Surface {
    pub(super) path: PathBuf,
    /// Names of the triangles.
    pub(super) meshes: ShownMeshes,
    pub(super) tree: ComparedTree,
}

impl Surface {
    /// # Errors
    ///
    /// [`Error::Scene`] where no triangle is shown, [`Error::Limit`] where there are too many for the
    /// adapter.
    pub(super) fn new(gpu: &Gpu, path: &Path, shown: Shown) -> Result<Self> {
        let in_tree = |vertex: &u32| is_in_tree(shown.positions[*vertex as usize]);
        if !shown.indices.iter().any(|t| t.iter().all(in_tree)) {
            return Err(Error::scene(path, "shows no triangles to measure"));
        }
        let compared = Arc::new(Compared::new(shown.positions, shown.indices));
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
