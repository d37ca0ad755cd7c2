//! State of a load in progress: its progress, and the budgets of its files.

use super::{
    files::{Folder, Sources},
    image::TextureSupport,
};
use crate::{Error, Result, settings};
use std::{
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

/// Progress of a load, shared by the loading thread and the one that displays it.
#[derive(Debug, Default)]
pub struct Progress {
    stage: Mutex<String>,
    /// Bits of an `f32` from 0 to 1.
    fraction: AtomicU32,
    cancelled: AtomicBool,
}

impl Progress {
    /// Returns a description of the stage, such as "decoding image 3 of 15".
    pub fn stage(&self) -> String {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the fraction that is done, from 0 to 1.
    pub fn fraction(&self) -> f32 {
        f32::from_bits(self.fraction.load(Ordering::Relaxed))
    }

    /// Cancels the load, which soon returns [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Fails if the load has been cancelled.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`].
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            Err(Error::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Publishes a stage. Fails if the load has been cancelled.
    pub fn enter(&self, stage: impl Into<String>) -> Result<()> {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage.into();
        self.check()
    }

    /// Publishes the fraction that is done.
    pub fn set_fraction(&self, fraction: f32) {
        self.fraction
            .store(fraction.clamp(0.0, 1.0).to_bits(), Ordering::Relaxed);
    }
}

/// A load in progress: its limits, how much of them has been used, and its progress.
#[derive(Debug)]
pub(super) struct Load<'a> {
    /// Limits of the files.
    pub(super) limits: &'a settings::Load,
    /// Texture formats that the renderer supports.
    pub(super) supported: TextureSupport,
    progress: &'a Progress,
    /// Index of the file that is being read, and the number of files.
    pub(super) file: (usize, usize),
    /// True if the files of a folder may be read.
    pub(super) on_disk: bool,
    /// Files that have been read or were missing.
    pub(super) sources: Sources,
    /// Amount used of each [`Budget`].
    used: [u64; Budget::COUNT],
}

impl<'a> Load<'a> {
    pub(super) fn new(
        limits: &'a settings::Load,
        supported: TextureSupport,
        progress: &'a Progress,
        files: usize,
    ) -> Self {
        Self {
            limits,
            supported,
            progress,
            file: (0, files),
            on_disk: true,
            sources: Sources::default(),
            used: [0; Budget::COUNT],
        }
    }

    /// Returns the progress, which threads share.
    pub(super) fn progress(&self) -> &'a Progress {
        self.progress
    }

    /// Opens the folder in which relative paths in `file` are resolved.
    pub(super) fn folder(&self, file: &Path) -> Result<Folder> {
        if !self.on_disk {
            return Ok(Folder::none());
        }
        Folder::of(file, self.limits, self.sources.clone())
    }

    /// Publishes the stage. `done` is the fraction of this file, from 0 to 1. Fails if the load has been
    /// cancelled.
    pub(super) fn enter(&self, stage: impl Into<String>, done: f32) -> Result<()> {
        let (file, files) = self.file;
        self.progress
            .set_fraction((file as f32 + done) / files.max(1) as f32);
        self.progress.enter(stage)
    }

    /// Takes `count` from a budget. Fails if the limit is exceeded. `what` describes the object that needs
    /// that amount.
    pub(super) fn take(&mut self, budget: Budget, count: u64, what: impl FnOnce() -> String) -> Result<()> {
        let used = self.used[budget as usize].saturating_add(count);
        self.used[budget as usize] = used;
        self.check(budget, used, what)
    }

    /// Returns the amount used of a budget.
    pub(super) fn used(&self, budget: Budget) -> u64 {
        self.used[budget as usize]
    }

    /// Fails if `count` exceeds the limit of a budget, regardless of the amount used so far.
    pub(super) fn check(&self, budget: Budget, count: u64, what: impl FnOnce() -> String) -> Result<()> {
        let (allowed, unit, by) = budget.limit(self.limits);
        if count <= allowed {
            return Ok(());
        }
        Err(Error::Limit {
            what: what(),
            needed: format!("{count} {unit}"),
            allowed: format!("{allowed} {unit}"),
            by: by.into(),
        })
    }

    /// Returns the number of bytes that are left for images.
    pub(super) fn texture_bytes_left(&self) -> u64 {
        let (allowed, ..) = Budget::TextureBytes.limit(self.limits);
        allowed.saturating_sub(self.used[Budget::TextureBytes as usize])
    }
}

/// A limited resource of files.
#[derive(Debug, Clone, Copy)]
pub(super) enum Budget {
    Triangles,
    /// Lines and points.
    Lines,
    Vertices,
    /// Vertices of one mesh that have no data in the file and read as zeros.
    EmptyVertices,
    /// JSON objects of one file.
    JsonObjects,
    Nodes,
    Joints,
    MorphTargets,
    /// Bytes of morph targets, joint influences and clips. A file can refer to the same bytes any number of
    /// times.
    AnimationBytes,
    /// Bytes of decoded images.
    TextureBytes,
    /// Numbers in all grids of volumes.
    Voxels,
    /// Nodes that place volumes. Each has its own buffers and passes.
    VolumeNodes,
    /// Bytes of decompressed buffer views. Their limit is the limit of a file's size.
    DecodedBytes,
}

impl Budget {
    /// Number of budgets.
    const COUNT: usize = Self::DecodedBytes as usize + 1;

    /// Returns the limit, its unit, and its settings key.
    fn limit(self, limits: &settings::Load) -> (u64, &'static str, &'static str) {
        match self {
            Self::Triangles => (limits.max_triangles, "triangles", "load.max_triangles"),
            Self::Lines => (limits.max_triangles, "lines or points", "load.max_triangles"),
            Self::Vertices => (limits.max_vertices, "vertices", "load.max_vertices"),
            Self::EmptyVertices => (
                limits.max_empty_vertices,
                "vertices without data",
                "load.max_empty_vertices",
            ),
            Self::JsonObjects => (limits.max_json_objects, "JSON objects", "load.max_json_objects"),
            Self::Nodes => (limits.max_nodes, "nodes", "load.max_nodes"),
            Self::Joints => (limits.max_joints, "joints", "load.max_joints"),
            Self::MorphTargets => (
                limits.max_morph_targets,
                "morph targets",
                "load.max_morph_targets",
            ),
            Self::AnimationBytes => (limits.max_morph_bytes, "bytes", "load.max_morph_bytes"),
            Self::TextureBytes => (limits.max_texture_bytes, "bytes", "load.max_texture_bytes"),
            Self::Voxels => (limits.max_voxels, "numbers", "load.max_voxels"),
            Self::VolumeNodes => (
                limits.max_volume_nodes,
                "nodes with volumes",
                "load.max_volume_nodes",
            ),
            Self::DecodedBytes => (limits.max_file_bytes, "decompressed bytes", "load.max_file_bytes"),
        }
    }
}

/// Warning for a file that has points or lines.
pub(super) const POINTS_AND_LINES: &str =
    "holds points or lines; they are one pixel wide, cast no shadows and send no rays";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_cancelled_and_shared() {
        fn shared<T: Sync>(_: &T) {}
        let progress = Progress::default();
        shared(&progress);
        progress.enter("reading").unwrap();
        assert_eq!(progress.stage(), "reading");
        progress.cancel();
        assert!(matches!(progress.check(), Err(Error::Cancelled)));
    }
}
