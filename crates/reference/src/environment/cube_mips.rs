//! CPU reference of `cube_mips`: downsamples the mip levels of a cube.

use super::cube_map::{Faces, solid_angle};
use glam::{DVec2, DVec3};

/// Returns the next coarser mip level.
pub fn coarser(finer: &Faces) -> Faces {
    resample(finer, (finer.size / 2).max(1))
}

/// Resamples the cube to another size, with means weighted by the solid angles of the texels' overlaps.
pub fn resample(finer: &Faces, size: usize) -> Faces {
    let fine = finer.size;
    let edge = |i: usize, size: usize| 2.0 * i as f64 / size as f64 - 1.0;
    // Overlaps of the texels of `finer` with texel `i`.
    let shared = |i: usize| {
        let range = i * fine / size..((i + 1) * fine).div_ceil(size);
        range.map(move |j| {
            let low = edge(i, size).max(edge(j, fine));
            (j, low, edge(i + 1, size).min(edge(j + 1, fine)))
        })
    };
    Faces::new(size, |face, x, y| {
        let mut sum = DVec3::ZERO;
        let mut weights = 0.0;
        for (row, top, bottom) in shared(y) {
            for (column, left, right) in shared(x) {
                let weight = solid_angle(DVec2::new(left, top), DVec2::new(right, bottom));
                sum += weight * finer.texel(face, column, row);
                weights += weight;
            }
        }
        sum / weights
    })
}
