//! Baseline of traversal: the same BVH in textbook form (binary, one box per node, one triangle per leaf),
//! traversed without ordering.

use super::inputs::Input;
use crate::{
    Error, Result,
    accel::{
        layout::{TRACE_BLOCK, TlasEntry},
        trace::{Hit, Query, RayBatch},
        tree::TreeData,
    },
    device::baseline::{BASELINE_STACK, BaselineNode},
    gpu::{
        Gpu, Kernel, Scope, Workgroups,
        pass::Binding::{Read, Uniform, Write},
    },
};

/// Traversal pipelines of the baseline.
#[derive(Debug)]
pub(super) struct Baseline {
    closest_hit: Kernel,
    any_hit: Kernel,
}

/// A BVH in textbook form, in GPU memory.
#[derive(Debug)]
pub(super) struct Textbook {
    nodes: wgpu::Buffer,
    corners: wgpu::Buffer,
}

impl Baseline {
    /// Prepares both queries. They are compiled on first use.
    pub(super) fn new(gpu: &Gpu) -> Self {
        let kernel = |entry| {
            let bindings = [Uniform, Read, Read, Read, Write];
            Kernel::new(gpu, "bench/baseline.wgsl", entry, &[], &bindings)
        };
        Self {
            closest_hit: kernel("baseline_closest_hit"),
            any_hit: kernel("baseline_any_hit"),
        }
    }

    /// Records a query for all rays of `batch`.
    pub(super) fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        tree: &Textbook,
        batch: &RayBatch,
        query: Query,
    ) -> Result<()> {
        let params = [[batch.len(), 0, 0, 0]];
        let params = gpu.buffer_with("baseline.query", &params, wgpu::BufferUsages::UNIFORM);
        let kernel = match query {
            Query::ClosestHit => &self.closest_hit,
            Query::AnyHit => &self.any_hit,
        };
        let mut pass = scope.scoped_compute_pass("baseline");
        Ok(kernel.dispatch(
            gpu,
            &mut pass,
            &[],
            &[&params, &batch.rays, &tree.nodes, &tree.corners, &batch.hits],
            Workgroups::Count(batch.len().div_ceil(TRACE_BLOCK)),
        )?)
    }
}

impl Textbook {
    /// Converts the trees of `input` to textbook form and uploads them.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if a tree is deeper than the stack or larger than the adapter can bind.
    pub(super) fn new(gpu: &Gpu, tree: &TreeData, input: &Input) -> Result<Self> {
        let nodes = nodes(tree, input)?;
        let corners: Vec<[f32; 4]> = input
            .indices
            .as_flattened()
            .iter()
            .map(|vertex| {
                let [x, y, z] = input.positions[*vertex as usize];
                [x, y, z, 0.0]
            })
            .collect();
        gpu.check_binding("the baseline's nodes", size_of_val(nodes.as_slice()) as u64)?;
        gpu.check_binding("the baseline's triangles", size_of_val(corners.as_slice()) as u64)?;
        let storage = wgpu::BufferUsages::STORAGE;
        Ok(gpu.catch(|| Self {
            nodes: gpu.buffer_with("baseline.nodes", &nodes, storage),
            corners: gpu.buffer_with("baseline.corners", &corners, storage),
        })?)
    }
}

/// Part of canopy's trees that becomes a node of the textbook tree.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// Range `first..end` of the meshes that have triangles.
    Meshes(usize, usize),
    /// Binary node: its number, its first leaf, and one past its last leaf.
    Inner(u32, u32, u32),
    /// Leaf with a single triangle, by its leaf index.
    Leaf(u32),
}

/// Builds the nodes of a single tree. Meshes are split at the median, so that many meshes are no
/// disadvantage. Below a mesh, the splits are canopy's own. Children come after their parent.
fn nodes(tree: &TreeData, input: &Input) -> Result<Vec<BaselineNode>> {
    let mut meshes: Vec<&TlasEntry> = tree.tlas.iter().filter(|m| m.triangle_count > 0).collect();
    let mut nodes = vec![BaselineNode::default(); usize::from(!meshes.is_empty())];
    let mut pending = vec![(Part::Meshes(0, meshes.len()), 0, 1)];
    while let Some((part, at, depth)) = pending.pop() {
        if meshes.is_empty() {
            break;
        }
        if depth > BASELINE_STACK {
            return Err(Error::Limit {
                what: "the baseline's tree".into(),
                needed: format!("{depth} levels"),
                allowed: format!("{BASELINE_STACK} levels"),
                by: "its stack".into(),
            });
        }
        let children = match part {
            Part::Leaf(leaf) => {
                nodes[at] = leaf_node(tree.triangles[leaf as usize].triangle, input);
                continue;
            }
            Part::Inner(number, first, end) => {
                let middle = tree.middle(number, first, end);
                [part_of(middle - 1, first, middle), part_of(middle, middle, end)]
            }
            Part::Meshes(first, end) if end - first == 1 => {
                let mesh = meshes[first];
                let (first, count) = (mesh.first_triangle, mesh.triangle_count);
                let root = part_of(mesh.node_offset, first, first + count);
                pending.push((root, at, depth));
                continue;
            }
            Part::Meshes(first, end) => {
                let middle = split(&mut meshes[first..end]) + first;
                [Part::Meshes(first, middle), Part::Meshes(middle, end)]
            }
        };
        let left = nodes.len();
        nodes.resize(left + 2, BaselineNode::default());
        nodes[at].left = left as u32;
        nodes[at].right = left as u32 + 1;
        pending.extend([(children[0], left, depth + 1), (children[1], left + 1, depth + 1)]);
    }
    // Children come after their parent, so reverse order visits them first.
    for at in (0..nodes.len()).rev() {
        let BaselineNode { left, right, .. } = nodes[at];
        if right != 0 {
            let (a, b) = (nodes[left as usize], nodes[right as usize]);
            nodes[at].lower = std::array::from_fn(|i| a.lower[i].min(b.lower[i]));
            nodes[at].upper = std::array::from_fn(|i| a.upper[i].max(b.upper[i]));
        }
    }
    Ok(nodes)
}

/// Returns the part with the leaves `first..end`: a leaf if there is only one, otherwise binary node
/// `number`.
fn part_of(number: u32, first: u32, end: u32) -> Part {
    if end - first == 1 {
        Part::Leaf(first)
    } else {
        Part::Inner(number, first, end)
    }
}

fn leaf_node(triangle: u32, input: &Input) -> BaselineNode {
    let corners = input.indices[triangle as usize].map(|v| input.positions[v as usize]);
    let of = |pick: fn(f32, f32) -> f32| {
        std::array::from_fn(|i| pick(pick(corners[0][i], corners[1][i]), corners[2][i]))
    };
    BaselineNode {
        lower: of(f32::min),
        left: triangle,
        upper: of(f32::max),
        right: 0,
    }
}

/// Partitions meshes at the median along the widest axis of their centres. Returns the first index of the
/// second half.
fn split(meshes: &mut [&TlasEntry]) -> usize {
    let center = |mesh: &TlasEntry, axis: usize| mesh.box_min[axis] + mesh.box_max[axis];
    let extent = |axis: &usize| {
        let centers = meshes.iter().map(|mesh| center(mesh, *axis));
        let (low, high) = centers.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), c| {
            (low.min(c), high.max(c))
        });
        high - low
    };
    let widest = (0..3).max_by(|a, b| extent(a).total_cmp(&extent(b)));
    let axis = widest.unwrap_or(0);
    let middle = meshes.len() / 2;
    meshes.select_nth_unstable_by(middle, |a, b| center(a, axis).total_cmp(&center(b, axis)));
    middle
}

/// Fails if more than a few hits differ. A few may differ at triangle edges.
pub(super) fn check(ours: &[Hit], baseline: &[Hit], query: Query, what: &str) -> Result<()> {
    let differ = |(a, b): &(&Hit, &Hit)| {
        let hits = [a, b].map(|hit| !hit.is_miss());
        let far = (a.t - b.t).abs() > 1e-3 * a.t.abs().max(b.t.abs());
        hits[0] != hits[1] || (query == Query::ClosestHit && hits[0] && far)
    };
    let count = ours.iter().zip(baseline).filter(differ).count();
    if ours.len() != baseline.len() || count > 2 + ours.len() / 1000 {
        return Err(Error::WrongResult(format!(
            "{count} of {} {what} rays have hits that differ from the baseline",
            ours.len()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        accel::layout::{LeafTriangle, Node},
        cli::bench::inputs::{TriangleKind, generate},
    };

    /// Returns the trees that canopy would build over meshes of one and two triangles.
    fn built(input: &Input) -> TreeData {
        let leaf = |triangle| LeafTriangle {
            triangle,
            ..LeafTriangle::default()
        };
        let count = input.indices.len() as u32;
        let entry = |mesh: &crate::accel::MeshRange| TlasEntry {
            node_count: mesh.triangle_count.saturating_sub(1),
            node_offset: mesh.first_triangle,
            first_triangle: mesh.first_triangle,
            triangle_count: mesh.triangle_count,
            ..TlasEntry::default()
        };
        let root = Node {
            first: 0,
            ends: [1, 2, 2, 2],
            ..Node::default()
        };
        TreeData {
            leaf_cutoff: 1,
            tlas: input.meshes.iter().map(entry).collect(),
            nodes: vec![root; count as usize],
            node_areas: vec![0.0; count as usize],
            triangles: (0..count).map(leaf).collect(),
        }
    }

    #[test]
    fn baseline_trees_hold_every_triangle_in_nested_boxes() {
        // Two triangles in the first mesh, one in each of the others, none in the last two.
        let input = generate(TriangleKind::Meshes, 6, 5, 1);
        let mut input = input.divided(5);
        input.meshes.resize(7, Default::default());
        let nodes = nodes(&built(&input), &input).unwrap();
        assert_eq!(nodes.len(), 2 * 6 - 1);
        let mut seen = Vec::new();
        for node in &nodes {
            if node.right == 0 {
                seen.push(node.left);
                continue;
            }
            for child in [node.left, node.right].map(|child| nodes[child as usize]) {
                for axis in 0..3 {
                    assert!(node.lower[axis] <= child.lower[axis]);
                    assert!(node.upper[axis] >= child.upper[axis]);
                }
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn an_empty_input_has_no_nodes() {
        let input = Input::default();
        assert!(nodes(&built(&input), &input).unwrap().is_empty());
    }

    #[test]
    fn wrong_hits_are_detected() {
        let hit = |t, mesh| Hit {
            t,
            mesh,
            ..Hit::default()
        };
        let expected = vec![hit(2.0, 7); 10];
        let differ = |wrong: Hit, count, query| {
            let mut ours = expected.clone();
            ours[..count].fill(wrong);
            check(&ours, &expected, query, "test").is_err()
        };
        let (any, closest) = (Query::AnyHit, Query::ClosestHit);
        // A different triangle at the same distance, or a farther one for an any-hit query, does not count as
        // a difference.
        assert!(!differ(hit(2.0, 8), 10, closest) && !differ(hit(3.0, 8), 10, any));
        assert!(differ(hit(2.1, 7), 3, closest) && !differ(hit(2.1, 7), 2, closest));
        assert!(differ(hit(9.0, u32::MAX), 3, any));
        assert!(check(&expected[1..], &expected, any, "test").is_err());
    }
}
