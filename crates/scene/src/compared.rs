//! Reference surface that a scene is compared with, as triangles at one moment.

use super::{
    Progress, TextureSupport, deform,
    opened::{OpenedScene, Span},
    signed_surface::SignedSurface,
};
use crate::{Error, Result, settings::Settings};
use glam::Vec3;
use std::path::{Path, PathBuf};

/// Triangles of a file, in world space.
#[derive(Debug)]
pub struct ReferenceSurface {
    /// World positions in metres.
    pub positions: Vec<Vec3>,
    /// Vertex indices of the triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Signed surface of the same triangles, which tells inside from outside.
    pub surface: SignedSurface,
    /// All files that the triangles were read from.
    pub files: Vec<PathBuf>,
}

impl ReferenceSurface {
    /// Creates the surface of `triangles`, which are indices into `positions`.
    pub fn new(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        Self {
            surface: SignedSurface::new(&positions, &triangles),
            positions,
            triangles,
            files: Vec::new(),
        }
    }

    /// Reads `path` at the time of the settings. A setting of a clip that the file does not have is ignored.
    ///
    /// # Errors
    ///
    /// Any error of [`OpenedScene::load`], and [`Error::Scene`] for a file without triangles.
    pub fn load(path: &Path, config: &Settings) -> Result<Self> {
        let files = [path.to_owned()];
        let support = TextureSupport::default();
        let opened = OpenedScene::load(&files, config, support, Span::MOMENT, &Progress::default())?;
        let (positions, triangles) = deform::triangles(&opened.scene, &opened.first.pose);
        if triangles.is_empty() {
            return Err(Error::scene(path, "holds no triangles to measure from"));
        }
        Ok(Self {
            files: opened.scene.dependencies,
            ..Self::new(positions, triangles)
        })
    }
}
