//! Conversion of OpenVDB and NanoVDB trees to dense grids. Trees consist of constant tiles and leaves of 8 ×
//! 8 × 8 values.

use super::{
    Grid,
    placement::{affine, checked},
    reading::Reading,
    scalar::Finite,
};
use crate::Result;
use glam::{DMat4, DVec3};

/// Number of voxels along an edge of a leaf, and in a leaf.
pub(super) const LEAF_EDGE: i32 = 8;
pub(super) const LEAF_VOXELS: usize = 512;

/// Binary logarithms for the internal nodes: children along an edge, and voxels along an edge of a child.
pub(super) const LOWER: [u32; 2] = [4, 3];
pub(super) const UPPER: [u32; 2] = [5, 7];

/// Number of voxels along an edge of a child of the root.
pub(super) const ROOT_EDGE: i32 = 4096;

/// Components of a voxel. Unused ones are 0.
pub(super) type Value = [f64; 3];

/// A part of a tree.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// A cube with a constant value.
    Tile {
        /// Its first voxel.
        origin: [i32; 3],
        /// Number of voxels along its edge.
        edge: i32,
        value: Value,
        active: bool,
    },
    /// A leaf node with a value per voxel.
    Leaf {
        /// Its first voxel.
        origin: [i32; 3],
        /// Mask with a bit for each active voxel.
        active: &'a [u64; 8],
        /// Byte offset in the file, if the format has random access.
        at: usize,
    },
}

/// Returns the first voxel of child `index` of a node whose first voxel is `origin`.
pub(super) fn child_origin(origin: [i32; 3], [log2, child_log2]: [u32; 2], index: usize) -> [i32; 3] {
    let mask = (1 << log2) - 1;
    let steps = [index >> (2 * log2), index >> log2, index].map(|n| (n & mask) as i32);
    std::array::from_fn(|axis| origin[axis] + (steps[axis] << child_log2))
}

/// True if bit `index` of a mask is set.
pub(super) fn is_set(mask: &[u64], index: usize) -> bool {
    mask[index / 64] >> (index % 64) & 1 == 1
}

/// True if a voxel can be the origin of a child of the root.
pub(super) fn is_root_origin(origin: [i32; 3]) -> bool {
    origin.iter().all(|n| n.rem_euclid(ROOT_EDGE) == 0)
}

/// Bounding box of active voxels, inclusive at both ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct VoxelBounds {
    min: [i32; 3],
    max: [i32; 3],
}

impl VoxelBounds {
    pub(super) const EMPTY: Self = Self {
        min: [i32::MAX; 3],
        max: [i32::MIN; 3],
    };

    /// Extends the box to the active voxels of a part.
    pub(super) fn add(&mut self, part: &Part<'_>) {
        match *part {
            Part::Tile {
                origin,
                edge,
                active: true,
                ..
            } => self.include(origin, origin.map(|n| n + (edge - 1))),
            Part::Tile { .. } => {}
            Part::Leaf { origin, active, .. } => {
                for (x, &plane) in active.iter().enumerate() {
                    let mut left = plane;
                    while left != 0 {
                        let index = left.trailing_zeros() as i32;
                        let at = [x as i32, index / 8, index % 8];
                        let voxel: [i32; 3] = std::array::from_fn(|axis| origin[axis] + at[axis]);
                        self.include(voxel, voxel);
                        left &= left - 1;
                    }
                }
            }
        }
    }

    fn include(&mut self, min: [i32; 3], max: [i32; 3]) {
        for axis in 0..3 {
            self.min[axis] = self.min[axis].min(min[axis]);
            self.max[axis] = self.max[axis].max(max[axis]);
        }
    }

    /// Returns the number of voxels along the axes, or `None` if none are active.
    fn size(&self) -> Option<[u64; 3]> {
        let mut size = [0; 3];
        for (axis, size) in size.iter_mut().enumerate() {
            let count = i64::from(self.max[axis]) - i64::from(self.min[axis]) + 1;
            *size = u64::try_from(count).ok().filter(|count| *count > 0)?;
        }
        Some(size)
    }
}

/// A dense grid that is being filled.
#[derive(Debug)]
pub(super) struct Dense {
    name: String,
    span: VoxelBounds,
    size: [usize; 3],
    components: usize,
    background: Value,
    values: Vec<f32>,
    finite: Finite,
}

impl Dense {
    /// Creates a grid over `span`, filled with `background`. Returns `None` for an empty span.
    pub(super) fn new(
        name: &str,
        span: VoxelBounds,
        components: usize,
        background: Value,
        reading: &mut Reading<'_, '_>,
    ) -> Result<Option<Self>> {
        let Some(size) = span.size() else {
            return Ok(None);
        };
        let mut finite = Finite::default();
        let filled = background.map(|value| finite.of(value));
        let values = reading.grid(name, size, &filled[..components])?;
        Ok(Some(Self {
            name: name.into(),
            span,
            size: size.map(|n| n as usize),
            components,
            background,
            values,
            finite,
        }))
    }

    /// Fills a cube with a constant value.
    pub(super) fn fill(&mut self, origin: [i32; 3], edge: i32, value: Value) {
        if value == self.background {
            return;
        }
        let value = value.map(|value| self.finite.of(value));
        let span = self.span;
        let ranges: [std::ops::Range<i64>; 3] = std::array::from_fn(|axis| {
            let [min, max, first] = [span.min[axis], span.max[axis], origin[axis]].map(i64::from);
            first.max(min) - min..(first + i64::from(edge)).min(max + 1) - min
        });
        let [xs, ys, zs] = ranges;
        if xs.is_empty() {
            return;
        }
        for z in zs {
            for y in ys.clone() {
                let row = (z as usize * self.size[1] + y as usize) * self.size[0];
                let row = row + xs.start as usize..row + xs.end as usize;
                let row = row.start * self.components..row.end * self.components;
                for voxel in self.values[row].chunks_exact_mut(self.components) {
                    voxel.copy_from_slice(&value[..self.components]);
                }
            }
        }
    }

    /// Fills a leaf. `value` returns its values by index.
    pub(super) fn leaf(&mut self, origin: [i32; 3], value: impl Fn(usize) -> Value) {
        for index in 0..LEAF_VOXELS {
            let at = child_origin(origin, [3, 0], index);
            let inside = (0..3).all(|axis| (self.span.min[axis]..=self.span.max[axis]).contains(&at[axis]));
            if !inside {
                continue;
            }
            let [x, y, z] =
                std::array::from_fn(|axis| (i64::from(at[axis]) - i64::from(self.span.min[axis])) as usize);
            let first = ((z * self.size[1] + y) * self.size[0] + x) * self.components;
            let numbers = &mut self.values[first..first + self.components];
            for (number, value) in numbers.iter_mut().zip(value(index)) {
                *number = self.finite.of(value);
            }
        }
    }

    /// Finishes the grid, whose tree is placed by `volume_from_index`.
    pub(super) fn grid(mut self, volume_from_index: DMat4, reading: &mut Reading<'_, '_>) -> Result<Grid> {
        reading.warn_of(&self.finite);
        let first = affine(
            [DVec3::X, DVec3::Y, DVec3::Z],
            DVec3::from(self.span.min.map(f64::from)),
        );
        let volume_from_voxel = checked(volume_from_index * first)
            .map_err(|e| reading.error(format!("grid \"{}\" {e}", self.name)))?;
        let [background, ..] = self.background;
        Ok(Grid {
            name: self.name,
            components: self.components,
            size: self.size.map(|n| n as u32),
            volume_from_voxel,
            values: self.values,
            background: self.finite.of(background),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_tight_around_active_voxels() {
        let mut span = VoxelBounds::EMPTY;
        assert_eq!(span.size(), None);
        let mut active = [0; 8];
        active[2] = 1 << (8 * 3 + 4);
        active[5] = 1 << (8 + 6);
        let origin = [-8, 0, 16];
        span.add(&Part::Leaf {
            origin,
            active: &active,
            at: 0,
        });
        assert_eq!((span.min, span.max), ([-6, 1, 20], [-3, 3, 22]));
        let mut tile = |active| {
            span.add(&Part::Tile {
                origin: [i32::MAX - 7, 0, 0],
                edge: 8,
                value: [1.0; 3],
                active,
            });
            span.size()
        };
        assert_eq!(tile(false), Some([4, 3, 3]));
        assert_eq!(tile(true), Some([i32::MAX as u64 + 7, 8, 23]));
        let whole = VoxelBounds {
            min: [i32::MIN; 3],
            max: [i32::MAX; 3],
        };
        assert_eq!(whole.size(), Some([1 << 32; 3]));
    }

    #[test]
    fn child_offsets_vary_fastest_in_z() {
        assert_eq!(child_origin([0; 3], LOWER, 1), [0, 0, 8]);
        assert_eq!(child_origin([0; 3], LOWER, 16), [0, 8, 0]);
        assert_eq!(child_origin([0; 3], LOWER, 256), [8, 0, 0]);
        let last = [i32::MAX - 4095; 3];
        assert_eq!(child_origin(last, UPPER, 32_767), [i32::MAX - 127; 3]);
        assert!(is_root_origin([-4096, 0, 8192]) && !is_root_origin([1, 0, 0]));
    }
}
