//! State of a volume file that is being read: its budgets and its warnings.

use super::scalar::{Finite, Scalar};
use crate::{
    Error, Result,
    files::{Folder, clip, one_line},
    load::{Budget, Load},
};
use std::{io::Read, path::Path};

/// Maximum number of warnings that are kept for a file.
const MAX_WARNINGS: usize = 100;

/// Number of bytes that are decoded at once, a multiple of the size of every number type.
const CHUNK: usize = 1 << 16;

/// Maximum expansion ratio of Deflate.
const MAX_INFLATED: u64 = 1032;

/// A file of a volume that is being read.
#[derive(Debug)]
pub(super) struct Reading<'a, 'l> {
    pub(super) path: &'a Path,
    load: &'a mut Load<'l>,
    /// Warnings about anything that was ignored or repaired, without the name of the file.
    pub(super) warnings: Vec<String>,
    /// Program that wrote the file.
    pub(super) generator: Option<String>,
}

impl<'a, 'l> Reading<'a, 'l> {
    pub(super) fn new(path: &'a Path, load: &'a mut Load<'l>) -> Self {
        Self {
            path,
            load,
            warnings: Vec::new(),
            generator: None,
        }
    }

    pub(super) fn error(&self, what: impl Into<String>) -> Error {
        Error::scene(self.path, what)
    }

    pub(super) fn warn(&mut self, what: impl AsRef<str>) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(clip(what.as_ref(), 300));
        }
    }

    /// Warns about numbers that were replaced by 0.
    pub(super) fn warn_of(&mut self, finite: &Finite) {
        if finite.replaced > 0 {
            let count = finite.replaced;
            self.warn(format!("{count} values are not finite; they are 0"));
        }
    }

    /// Opens the folder of the file.
    pub(super) fn folder(&self) -> Result<Folder> {
        self.load.folder(self.path)
    }

    /// Fails if the load has been cancelled.
    pub(super) fn check(&self) -> Result<()> {
        self.load.progress().check()
    }

    /// Allocates the numbers of a grid, filled with `background`. Fails if the limit is exceeded.
    pub(super) fn grid(&mut self, name: &str, size: [u64; 3], background: &[f32]) -> Result<Vec<f32>> {
        let [x, y, z] = size;
        if size.contains(&0) || background.is_empty() {
            return Err(self.error(format!("has a grid of {x} × {y} × {z} voxels")));
        }
        let voxels = x.saturating_mul(y).saturating_mul(z);
        let count = voxels.saturating_mul(background.len() as u64);
        let path = self.path;
        self.load.take(Budget::Voxels, count, || {
            let name = clip(name, 60);
            let grid = if name.is_empty() {
                String::new()
            } else {
                format!(", grid \"{name}\"")
            };
            format!("{}{grid} of {x} × {y} × {z} voxels", path.display())
        })?;
        let no_room = || {
            let bytes = count.saturating_mul(size_of::<f32>() as u64);
            self.error(format!(
                "needs {bytes} bytes for a grid of {x} × {y} × {z} voxels, which could not be allocated; open a \
                 smaller volume"
            ))
        };
        let mut values = Vec::new();
        if size.iter().any(|n| u32::try_from(*n).is_err()) {
            return Err(no_room());
        }
        let count = usize::try_from(count).map_err(|_| no_room())?;
        values.try_reserve_exact(count).map_err(|_| no_room())?;
        if background.iter().all(|value| *value == background[0]) {
            values.resize(count, background[0]);
        } else {
            values.extend(background.iter().cycle().take(count));
        }
        Ok(values)
    }

    /// Fails if `bytes` cannot contain `needed` bytes after decompression, so that nothing is allocated for
    /// data that a file does not have.
    pub(super) fn can_hold(&self, bytes: usize, is_deflated: bool, needed: u64) -> Result<()> {
        let bytes = bytes as u64;
        let most = if is_deflated {
            bytes.saturating_mul(MAX_INFLATED)
        } else {
            bytes
        };
        if most < needed {
            return Err(self.error(format!(
                "is cut off: its voxels need {needed} bytes, and it has {bytes}{}",
                if is_deflated { ", compressed" } else { "" }
            )));
        }
        Ok(())
    }

    /// Takes decompressed bytes, which are kept in memory, from the budget.
    pub(super) fn inflated(&mut self, bytes: u64) -> Result<()> {
        let path = self.path;
        self.load
            .take(Budget::DecodedBytes, bytes, || path.display().to_string())
    }

    /// Decodes `count` numbers, and calls `each` with the index and the value of each.
    pub(super) fn numbers(
        &self,
        from: &mut dyn Read,
        scalar: Scalar,
        big_endian: bool,
        count: u64,
        mut each: impl FnMut(u64, f64),
    ) -> Result<()> {
        let mut chunk = vec![0; CHUNK];
        let size = scalar.bytes() as u64;
        let mut index = 0;
        while index < count {
            self.check()?;
            let wanted = (count - index).saturating_mul(size).min(CHUNK as u64) as usize;
            let part = &mut chunk[..wanted];
            from.read_exact(part).map_err(|e| {
                let why = one_line(&e);
                self.error(format!(
                    "is cut off or broken: {count} values are needed, and reading those from {index} on \
                     failed: {why}"
                ))
            })?;
            for bytes in part.chunks_exact(scalar.bytes()) {
                each(index, scalar.decode(bytes, big_endian));
                index += 1;
            }
        }
        Ok(())
    }
}
