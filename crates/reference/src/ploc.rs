//! CPU reference of `ploc`, `ploc_leaves` and `ploc_nodes`: builds BVHs by clustering the sorted leaves.

use super::lbvh::{Binary, collapse_to_four_wide, leaf_box};
use canopy_bvh::accel::layout::{
    LeafTriangle, MeshRange, Node, PLOC_BLOCK, PLOC_DEPTH, PLOC_MAX_OUTPUT, PLOC_RADIUS,
};
use canopy_scene::bounds::Aabb;

/// Positions in leaf order, and the binary nodes by their numbers.
#[derive(Debug)]
struct Clustered {
    order: Vec<usize>,
    binary: Vec<Option<Binary>>,
}

/// Binary tree over leaves.
#[derive(Debug)]
enum Tree {
    Leaf(usize),
    Join(Box<[Tree; 2]>),
}

#[derive(Debug)]
struct Cluster {
    bounds: Aabb,
    mesh: usize,
    leaves: u32,
    depth: u32,
    tree: Tree,
}

/// Reorders sorted leaves into tree order, and returns them with the nodes and their areas by number. `None`
/// marks a number without a node. `meshes` come from [`with_tlas`](super::lbvh::with_tlas).
pub fn hierarchy(
    sorted: &[LeafTriangle],
    meshes: &[MeshRange],
    leaf_cutoff: u32,
) -> (Vec<LeafTriangle>, Vec<Option<(Node, f64)>>) {
    let Clustered { order, binary } = cluster(sorted, meshes);
    let leaves = order.iter().map(|position| sorted[*position]);
    let nodes = collapse_to_four_wide(&binary, meshes, leaf_cutoff);
    (leaves.collect(), nodes)
}

/// Clusters leaves in chunks of PLOC_BLOCK, level by level.
fn cluster(sorted: &[LeafTriangle], meshes: &[MeshRange]) -> Clustered {
    let mut clusters = Vec::new();
    for (mesh, range) in meshes.iter().enumerate() {
        let first = range.first_triangle as usize;
        clusters.extend(
            (first..first + range.triangle_count as usize).map(|leaf| Cluster {
                bounds: leaf_box(&sorted[leaf]),
                mesh,
                leaves: 1,
                depth: 0,
                tree: Tree::Leaf(leaf),
            }),
        );
    }
    let mut whole: Vec<Option<Tree>> = meshes.iter().map(|_| None).collect();
    let mut finish = |cluster: Cluster| {
        let is_whole = cluster.leaves == meshes[cluster.mesh].triangle_count;
        if is_whole {
            whole[cluster.mesh] = Some(cluster.tree);
            return None;
        }
        Some(cluster)
    };
    let mut chunks = chunks_of(clusters, PLOC_BLOCK as usize);
    loop {
        let is_last = chunks.len() < 2;
        let rounds_after = rounds_after(chunks.len());
        for chunk in &mut chunks {
            join_chunk(chunk, is_last, rounds_after, &mut finish);
        }
        if is_last {
            break;
        }
        let mut groups = Vec::new();
        while !chunks.is_empty() {
            let count = chunks.len().min((PLOC_BLOCK / PLOC_MAX_OUTPUT) as usize);
            groups.push(chunks.drain(..count).flatten().collect());
        }
        chunks = groups;
    }
    let mut clustered = Clustered {
        order: Vec::new(),
        binary: (0..sorted.len()).map(|_| None).collect(),
    };
    for tree in whole.iter().flatten() {
        clustered.lay_out(tree, sorted, true);
    }
    clustered
}

fn chunks_of(clusters: Vec<Cluster>, size: usize) -> Vec<Vec<Cluster>> {
    let mut chunks = Vec::new();
    let mut clusters = clusters.into_iter().peekable();
    while clusters.peek().is_some() {
        chunks.push(clusters.by_ref().take(size).collect());
    }
    chunks
}

/// Returns the number of merge rounds in the levels after one of `chunks` chunks. These halve the clusters,
/// with one more round per level.
fn rounds_after(mut chunks: usize) -> u32 {
    let mut rounds = 0;
    while chunks > 1 {
        chunks = chunks.div_ceil((PLOC_BLOCK / PLOC_MAX_OUTPUT) as usize);
        let goal = if chunks > 1 { PLOC_MAX_OUTPUT } else { 1 };
        rounds += (PLOC_BLOCK / goal).ilog2() + 1;
    }
    rounds
}

fn join_chunk(
    clusters: &mut Vec<Cluster>,
    is_last: bool,
    rounds_after: u32,
    mut finish: impl FnMut(Cluster) -> Option<Cluster>,
) {
    let goal = if is_last { 0 } else { PLOC_MAX_OUTPUT as usize };
    let mut deepest = clusters.iter().map(|cluster| cluster.depth).max().unwrap_or(0);
    *clusters = clusters.drain(..).filter_map(&mut finish).collect();
    while clusters.len() > goal {
        let halvings = (clusters.len().div_ceil(goal.max(1))).next_power_of_two().ilog2() + 1;
        let by_distance = deepest + halvings + rounds_after < PLOC_DEPTH;
        let nearest: Vec<usize> = (0..clusters.len())
            .map(|i| find_nearest(clusters, i, by_distance))
            .collect();
        let mut old: Vec<_> = clusters.drain(..).map(Some).collect();
        for i in 0..old.len() {
            let partner = nearest[i];
            let right = (partner > i && nearest[partner] == i)
                .then(|| old[partner].take())
                .flatten();
            let Some(mut cluster) = old[i].take() else {
                continue;
            };
            if let Some(right) = right {
                cluster = join(cluster, right);
                deepest = deepest.max(cluster.depth);
                clusters.extend(finish(cluster));
            } else {
                clusters.push(cluster);
            }
        }
    }
}

/// Returns the nearest cluster of the same mesh within the search radius of cluster `i`, by the smallest
/// perimeter of the merged box. Ties go to the smallest i XOR j.
fn find_nearest(clusters: &[Cluster], i: usize, by_distance: bool) -> usize {
    let radius = PLOC_RADIUS as usize;
    let range = i.saturating_sub(radius)..(i + radius + 1).min(clusters.len());
    let distance = |j: usize| {
        let extent = clusters[i].bounds.union(clusters[j].bounds);
        let extent = extent.max - extent.min;
        if by_distance {
            (extent.x + extent.y + extent.z).max(0.0)
        } else {
            0.0
        }
    };
    range
        .filter(|j| *j != i && clusters[*j].mesh == clusters[i].mesh)
        .min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then((i ^ a).cmp(&(i ^ b))))
        .unwrap_or(i)
}

fn join(left: Cluster, right: Cluster) -> Cluster {
    Cluster {
        bounds: left.bounds.union(right.bounds),
        mesh: left.mesh,
        leaves: left.leaves + right.leaves,
        depth: 1 + left.depth.max(right.depth),
        tree: Tree::Join(Box::new([left.tree, right.tree])),
    }
}

impl Clustered {
    /// Appends the leaves of a tree and stores its nodes. Returns the tree's box.
    fn lay_out(&mut self, tree: &Tree, sorted: &[LeafTriangle], is_right: bool) -> Aabb {
        match tree {
            Tree::Leaf(position) => {
                self.order.push(*position);
                leaf_box(&sorted[*position])
            }
            Tree::Join(children) => {
                let first = self.order.len();
                let left = self.lay_out(&children[0], sorted, false);
                let split = self.order.len() - 1;
                let right = self.lay_out(&children[1], sorted, true);
                let last = self.order.len() - 1;
                self.binary[if is_right { first } else { last }] = Some(Binary {
                    first,
                    split,
                    last,
                    boxes: [left, right],
                });
                left.union(right)
            }
        }
    }
}
