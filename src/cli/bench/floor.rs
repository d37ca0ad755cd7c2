//! Lower bound of the time: the minimum memory traffic of each stage, at the bandwidth of a plain copy.

use super::{copy::Copy, inputs::Input, timing::Meter};
use crate::{
    Result,
    accel::{Quality, Tree, layout::BLOCK},
    gpu::Gpu,
};

/// Measures the bandwidth of a plain copy in gigabytes per second, counting reads and writes. Takes the best
/// of several copies.
pub(super) fn copy_gb_per_s(meter: &mut Meter) -> Result<f64> {
    let copy = match &meter.copy {
        Some(copy) => copy.clone(),
        None => Copy::new(&meter.gpu)?,
    };
    let timings = meter.time(
        |_| {},
        |_: &Gpu, scope| {
            copy.record(&mut scope.scoped_compute_pass("copy"));
            Ok(())
        },
    )?;
    let best_ms = timings.gpu_ms.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(2.0 * copy.bytes() as f64 / best_ms / 1e6)
}

/// Input sizes of a build.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    triangles: u64,
    vertices: u64,
    meshes: u64,
    nodes: u64,
    /// Number of binary nodes that span several blocks.
    across: u64,
    /// True if Morton codes are stored in addition to the sort keys.
    has_records: bool,
    /// True for high-quality trees.
    is_high: bool,
}

impl Counts {
    /// Collects the sizes of an input and of its tree. `nodes` is the number of nodes built.
    pub(super) fn of(gpu: &Gpu, input: &Input, tree: &Tree, nodes: usize) -> Result<Self> {
        Ok(Self {
            nodes: nodes as u64,
            triangles: input.indices.len() as u64,
            vertices: input.positions.len() as u64,
            meshes: input.meshes.len() as u64,
            across: tree.nodes_across_blocks(gpu)?.unwrap_or(0).into(),
            has_records: tree.sort_count() > 1,
            is_high: tree.quality() == Quality::High,
        })
    }
}

/// Size of a triangle's vertex indices in bytes.
const INDICES: u64 = 12;
/// Size in bytes of a triangle's mesh index and payload.
const INFO: u64 = 8;
/// Size of a position in bytes.
const POSITION: u64 = 12;
/// Size of a box in bytes.
const BOX: u64 = 24;
/// Size of a key or a value in bytes.
const WORD: u64 = 4;
/// Size in bytes of a record of a Morton code and its mesh.
const CODE: u64 = 16;
/// Size of a triangle in leaf order in bytes.
const LEAF: u64 = 48;
/// Size of a node in bytes, wide or binary.
const NODE: u64 = 64;
/// Size of a binary node between `ploc` and `ploc_nodes` in bytes: a box, two children and two leaf counts.
const BINARY: u64 = 40;
/// Size of an item's or cluster's destination in bytes.
const LINK: u64 = 8;
/// Size of a cluster between two levels in bytes.
const CLUSTER: u64 = 48;
/// Size of a row of a node in bytes. It also marks a missing node.
const ROW: u64 = 16;

/// Returns the minimum number of bytes that a stage of the build has to move, or `None` for an unknown stage.
/// Each input counts once, however often threads read it.
pub(super) fn build_bytes(stage: &str, counts: Counts) -> Option<u64> {
    let Counts {
        triangles,
        vertices,
        meshes,
        nodes,
        across,
        has_records,
        is_high,
    } = counts;
    let code = if has_records { CODE } else { 0 };
    let sorted_code = if has_records { CODE } else { WORD };
    // Levels from the third on need a quarter of a box per triangle.
    let kept_boxes = triangles / 4 * BOX;
    let geometry = triangles * (INDICES + INFO) + vertices * POSITION;
    Some(match stage {
        // Reads the geometry, writes a box per mesh.
        "bounds" => geometry + meshes * BOX,
        // Reads the geometry and the mesh boxes, writes the key, and the code if keys do not contain it.
        "morton" => geometry + meshes * BOX + triangles * (code + WORD),
        // A key is 30 bits of Morton code plus the mesh number.
        "sort" => {
            let mesh_bits = u64::BITS - meshes.saturating_sub(1).leading_zeros();
            // The first digit's values are the item numbers, which need not be read.
            sort_bytes(triangles, 30 + mesh_bits) - triangles * WORD
        }
        // Reads the order and the codes, writes a key.
        "regroup" => triangles * (WORD + CODE + WORD),
        // Reads the order and the rows of meshes, writes their leaves.
        "tlas_leaves" => meshes * (WORD + 48 + LEAF),
        // Reads the order, the codes and the geometry. Writes triangles, areas, boxes and the nodes of
        // blocks.
        "hierarchy" => {
            geometry
                + triangles * (WORD + sorted_code + LEAF + WORD)
                + kept_boxes
                + (nodes - nodes.min(across)) * NODE
        }
        // Reads and writes a box per block.
        "pyramid" => triangles / u64::from(BLOCK) * 2 * BOX,
        // Reads the listed nodes and four boxes per node, writes the nodes.
        "hierarchy_across" => across * (WORD + 4 * BOX + NODE),
        // Reads the order, the codes and the geometry. Writes binary nodes, the destination of each item and
        // cluster, and clusters. The next level reads the clusters: an eighth as many, then an eighth of
        // those, and so on.
        "ploc" => {
            let clusters = triangles / 7;
            geometry - triangles * INFO
                + triangles * (WORD + sorted_code + BINARY)
                + (triangles + clusters) * LINK
                + 2 * clusters * CLUSTER
        }
        // Reads the order, the codes, the geometry and the destinations of items. Writes triangles, and their
        // leaves.
        "ploc_leaves" => geometry + triangles * (WORD + sorted_code + 2 * LINK + LEAF) + triangles / 7 * LINK,
        // Reads the binary nodes with their leaves, the codes and the triangles. Writes areas and nodes.
        "ploc_nodes" => triangles * (BINARY + WORD + sorted_code + LEAF + WORD) + nodes * NODE,
        // Reads the order, the codes and the geometry. Writes triangles and binary nodes.
        "hierarchy_serial" => geometry + triangles * (WORD + sorted_code + LEAF + ROW) + nodes * (NODE - ROW),
        // Reads the binary nodes. Writes an area per triangle, and the nodes.
        "hierarchy_join" => triangles * (ROW + WORD) + nodes * (2 * NODE - ROW),
        // Copies the geometry, the triangles and the allocated nodes to textures. Fast trees also copy binary
        // nodes.
        "publish" => {
            let kinds = if is_high { 1 } else { 2 };
            2 * (geometry + triangles * (LEAF + kinds * NODE))
        }
        // Reads the range and the box of each mesh, writes its row.
        "tlas" => meshes * (12 + BOX + 48),
        _ => return None,
    })
}

/// Returns the minimum number of bytes that a radix sort by eight-bit digits has to move. For each digit it
/// reads the keys to count them, then reads and writes keys and values.
pub(super) fn sort_bytes(pairs: u64, key_bits: u32) -> u64 {
    u64::from(key_bits.div_ceil(8)) * pairs * 5 * WORD
}

/// Returns the bandwidth of `bytes` in `ms` as a fraction of the bandwidth of a copy.
pub(super) fn share(bytes: u64, ms: f64, copy_gb_per_s: f64) -> f64 {
    bytes as f64 / (ms * 1e6) / copy_gb_per_s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_counts_follow_the_input_counts() {
        assert_eq!(sort_bytes(1000, 32), 80_000);
        assert_eq!(sort_bytes(1000, 33), 100_000);
        let counts = Counts {
            triangles: 100,
            vertices: 300,
            meshes: 1,
            nodes: 40,
            across: 2,
            has_records: false,
            is_high: false,
        };
        assert_eq!(build_bytes("bounds", counts), Some(2000 + 3600 + 24));
        assert_eq!(build_bytes("sort", counts), Some(8000 - 400));
        assert_eq!(build_bytes("hierarchy_across", counts), Some(2 * 164));
        assert_eq!(build_bytes("nap", counts), None);
        assert_eq!(share(8_000_000, 2.0, 8.0), 0.5);
    }

    /// A closed mesh, whose vertices have six triangles each, at the leaf cutoff that canopy builds with.
    #[test]
    fn builds_move_at_most_280_bytes_per_triangle_or_480_in_high_quality() {
        let counts = Counts {
            triangles: 1_000_000,
            vertices: 500_000,
            meshes: 1,
            nodes: 640_000,
            across: 20_000,
            has_records: false,
            is_high: false,
        };
        let stages = [
            "bounds",
            "tlas",
            "morton",
            "sort",
            "tlas_leaves",
            "hierarchy",
            "pyramid",
            "hierarchy_across",
        ];
        let of = |stages: &[&str]| {
            let bytes = stages.iter().map(|stage| build_bytes(stage, counts));
            let bytes: u64 = bytes.map(|bytes| bytes.unwrap_or(u64::MAX)).sum();
            bytes as f64 / 1e6
        };
        let fast = of(&stages);
        assert!((240.0..=280.0).contains(&fast), "{fast}");
        let high = of(&stages[..4]) + of(&["ploc", "ploc_leaves", "ploc_nodes"]);
        assert!((400.0..=480.0).contains(&high), "{high}");
    }
}
