//! Twin of `cube_mips`: the coarser levels of a cube.

use super::cube_map::{Faces, solid_angle};
use glam::{DVec2, DVec3};

/// The next coarser level.
pub fn coarser(finer: &Faces) -> Faces {
    resample(finer, (finer.size / 2).max(1))
}

/// The cube in another size: means over the parts that texels have in common, by solid angle.
pub fn resample(finer: &Faces, size: usize) -> Faces {
    let fine = finer.size;
    let edge = |i: usize, size: usize| 2.0 * i as f64 / size as f64 - 1.0;
    // Texels of `finer`, and their intersections with texel `i`.
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
