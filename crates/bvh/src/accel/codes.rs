//! Length of the Morton codes, chosen by how often the codes of a sample collide.

use super::layout::MeshRange;
use glam::Vec3;

/// Bits of the Morton codes of triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Codes {
    /// 30 bits. Scenes of many small meshes use fewer if that leaves room for the mesh index in the same
    /// word: see [`axis_bits`].
    #[default]
    Bits30,
    /// 63 bits, which takes eight sorting digits. For meshes whose detail is much finer than a thousandth of
    /// their size.
    Bits63,
}

/// Maximum number of triangles that are sampled per mesh.
const SAMPLE: usize = 4096;
/// Smaller samples never need long codes, because such meshes are cheap with any tree.
const MIN_SAMPLE: usize = 256;

/// Sample of the triangles that will share a tree.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Corners of the box around all vertices of the tree.
    pub bounds: [Vec3; 2],
    /// Centroids of up to 4,096 of its triangles.
    pub centroids: Vec<Vec3>,
}

impl Sample {
    /// Samples `count` triangles at evenly spaced indices.
    pub fn new(bounds: [Vec3; 2], count: usize, centroid: impl Fn(usize) -> Vec3) -> Self {
        let sampled = count.min(SAMPLE);
        let centroids = (0..sampled).map(|i| centroid(i * count / sampled)).collect();
        Self { bounds, centroids }
    }

    /// Returns the number of occupied cells in a grid over the bounds.
    fn distinct(&self, cells: u32) -> usize {
        let [lower, upper] = self.bounds;
        let scale = Vec3::splat(cells as f32) / (upper - lower).max(Vec3::splat(1e-30));
        let last = Vec3::splat((cells - 1) as f32);
        let cell = |p: &Vec3| ((*p - lower) * scale).min(last).as_uvec3().to_array();
        let mut filled: Vec<_> = self.centroids.iter().map(cell).collect();
        filled.sort_unstable();
        filled.dedup();
        filled.len()
    }
}

impl Codes {
    /// Returns the code length for `bits` of 30 or 63. Any other number chooses the length by
    /// [`Codes::choose`].
    pub fn of_bits(bits: u32, samples: impl IntoIterator<Item = Sample>) -> Self {
        match bits {
            30 => Self::Bits30,
            63 => Self::Bits63,
            _ => Self::choose(samples),
        }
    }

    /// Returns long codes if they pay off in any sample. The short codes must occupy fewer than half as many
    /// cells as there are centroids, and long codes must at least double the number of cells. A teapot in a
    /// stadium is such a case. Longer codes do not help where triangles simply coincide.
    pub fn choose(samples: impl IntoIterator<Item = Sample>) -> Self {
        let collide = |sample: Sample| {
            let (count, short) = (sample.centroids.len(), sample.distinct(1 << 10));
            count >= MIN_SAMPLE && 2 * short < count && sample.distinct(1 << 21) >= 2 * short
        };
        if samples.into_iter().any(collide) {
            Self::Bits63
        } else {
            Self::Bits30
        }
    }
}

/// Returns the number of bits of a mesh index. The TLAS counts as one more mesh.
pub(super) fn mesh_bits(mesh_count: u32) -> u32 {
    u32::BITS - mesh_count.leading_zeros()
}

/// True if a 32-bit key holds both the code and the mesh index.
pub(super) fn is_one_key(axis_bits: u32, mesh_count: u32) -> bool {
    3 * axis_bits + mesh_bits(mesh_count) <= u32::BITS
}

/// Returns the number of bits per axis of a code. The default is Karras's 10, which leaves two bits of a word
/// for the mesh index. With more meshes, fewer bits are used if that leaves room for the mesh index in the
/// same word and the cells stay fine enough. The cells must be four times finer than the largest mesh's
/// triangles, spread over a surface. They must be almost three times finer than the meshes, spread over the
/// scene's volume. This way a scene of many small meshes needs no more sorting digits than a large mesh.
pub fn axis_bits(meshes: &[MeshRange], codes: Codes) -> u32 {
    if codes == Codes::Bits63 {
        return 21;
    }
    let mesh_bits = mesh_bits(meshes.len() as u32);
    let room = (u32::BITS - mesh_bits) / 3;
    let largest = meshes.iter().map(|mesh| mesh.triangle_count).max();
    let over_surface = f64::from(largest.unwrap_or(0).max(1)).log2() / 2.0 + 2.0;
    let over_volume = f64::from(meshes.len().max(1) as u32).log2() / 3.0 + 1.5;
    if mesh_bits > 2 && f64::from(room) >= over_surface.max(over_volume) {
        room.min(10)
    } else {
        10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points in a ball of radius 1 inside a box of ±`size`.
    fn ball(count: usize, size: f32) -> Sample {
        let point = |i: usize| {
            let wave = |speed: f32| (i as f32 * speed).sin();
            Vec3::new(wave(1.1), wave(2.3), wave(3.7))
        };
        Sample::new([Vec3::splat(-size), Vec3::splat(size)], count, point)
    }

    #[test]
    fn long_codes_are_used_only_for_detail_below_the_short_codes_resolution() {
        assert_eq!(Codes::choose([ball(2000, 1.0)]), Codes::Bits30);
        assert_eq!(Codes::choose([ball(100, 1.0), ball(2000, 3e4)]), Codes::Bits63);
        // The first sample is too small to matter, the second is empty.
        assert_eq!(Codes::choose([ball(100, 3e4), ball(0, 1.0)]), Codes::Bits30);
        // All centroids coincide, so longer codes would not help.
        let same = Sample::new([Vec3::ZERO, Vec3::ONE], 2000, |_| Vec3::splat(0.5));
        assert_eq!(Codes::choose([same]), Codes::Bits30);
        let flat = Sample::new([Vec3::ZERO; 2], 2000, |_| Vec3::ZERO);
        assert_eq!(Codes::choose([flat]), Codes::Bits30);
        assert_eq!(Codes::of_bits(63, [ball(9, 1.0)]), Codes::Bits63);
        assert_eq!(Codes::of_bits(30, [ball(2000, 3e4)]), Codes::Bits30);
    }

    #[test]
    fn centroid_samples_span_the_whole_mesh() {
        let bounds = [Vec3::ZERO, Vec3::ONE];
        let all = Sample::new(bounds, 1_000_000, |i| Vec3::X * i as f32).centroids;
        assert_eq!((all.len(), all[0].x), (4096, 0.0));
        assert!(all[4095].x > 999_000.0);
    }
}
