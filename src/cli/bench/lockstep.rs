//! CPU simulation of rays in lockstep, as on a GPU. The 32 rays of a group wait for each other at the end of
//! every phase of `bvh_traverse`, both for nodes and for triangles.

use crate::accel::{
    Query, Ray,
    layout::{EMPTY_BOX_EXTENT, LeafTriangle},
    tree::TreeData,
};
use glam::DVec3;
use std::ops::Range;

/// Rays per group.
pub(super) const GROUP: usize = 32;
/// Maximum number of simulated groups, which are evenly spaced in the list of rays.
const GROUPS: usize = 2048;

/// A BVH, prepared for traversal on the CPU.
#[derive(Debug)]
pub(super) struct Replay<'a> {
    nodes: Vec<Vec<Child>>,
    triangles: &'a [LeafTriangle],
    root: Next,
}

/// Mean step counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Steps {
    /// Number of nodes visited per ray.
    pub(super) nodes: f64,
    /// Steps per group, where each phase takes as long as its slowest ray.
    pub(super) lockstep: f64,
    /// Steps of all groups, extrapolated from the simulated groups.
    pub(super) all: f64,
}

#[derive(Debug, Clone)]
struct Child {
    lower: DVec3,
    upper: DVec3,
    next: Next,
}

#[derive(Debug, Clone)]
enum Next {
    Nothing,
    Node(usize),
    Leaves(Range<u32>),
    /// A mesh that is a single leaf. Traversal orders it by distance, like a node.
    Mesh(Range<u32>),
}

/// Branching factor of the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// Binary radix tree, with exact boxes.
    Two,
    /// Four-wide nodes, as built.
    Four,
}

impl<'a> Replay<'a> {
    /// Prepares the trees of `data` for rays that treat up to `leaf_cutoff` triangles as a leaf. The trees
    /// must not have been built with a larger cutoff, and binary trees must have been built with a cutoff of
    /// 1.
    pub(super) fn new(data: &'a TreeData, leaf_cutoff: u32, width: Width) -> Self {
        let mut replay = Self {
            nodes: Vec::new(),
            triangles: &data.triangles,
            root: Next::Nothing,
        };
        let meshes = data.tlas.len() as u32;
        let first = data.triangles.len() as u32 - meshes;
        replay.root = match meshes {
            0 => Next::Nothing,
            1 => replay.mesh(data, first, leaf_cutoff, width),
            _ => {
                replay
                    .node(data, first, first..first + meshes, None, leaf_cutoff, width)
                    .1
            }
        };
        replay
    }

    /// Converts a leaf of the TLAS to the tree of its mesh.
    fn mesh(&mut self, data: &TreeData, leaf: u32, leaf_cutoff: u32, width: Width) -> Next {
        let mesh = &data.triangles[leaf as usize];
        let leaves = mesh.triangle..mesh.triangle + mesh.payload;
        if mesh.payload <= leaf_cutoff {
            return Next::Mesh(leaves);
        }
        self.node(data, leaves.start, leaves, Some(leaf_cutoff), leaf_cutoff, width)
            .1
    }

    /// Adds a node and its descendants. Returns its box and the node. It belongs to a mesh if there is a
    /// `cutoff`, otherwise to the TLAS.
    fn node(
        &mut self,
        data: &TreeData,
        number: u32,
        leaves: Range<u32>,
        cutoff: Option<u32>,
        leaf_cutoff: u32,
        width: Width,
    ) -> ([DVec3; 2], Next) {
        let at = self.nodes.len();
        self.nodes.push(Vec::new());
        let node = &data.nodes[number as usize];
        let parts: Vec<(u32, Range<u32>)> = match width {
            Width::Two => {
                let middle = data.middle(number, leaves.start, leaves.end);
                vec![(middle - 1, leaves.start..middle), (middle, middle..leaves.end)]
            }
            Width::Four => (0..4)
                .map(|child| (node.child(child), node.leaves(child)))
                .collect(),
        };
        let mut children = Vec::new();
        let mut around = NOTHING;
        for (child, (number, part)) in parts.into_iter().enumerate() {
            let exact = |part: Range<u32>| {
                let own = part.map(|leaf| leaf_box(&data.triangles[leaf as usize]));
                own.fold(NOTHING, join)
            };
            let (bounds, next) = match cutoff {
                _ if part.is_empty() => continue,
                None if part.len() == 1 => (
                    exact(part.clone()),
                    self.mesh(data, part.start, leaf_cutoff, width),
                ),
                Some(cutoff) if part.len() <= cutoff as usize => (exact(part.clone()), Next::Leaves(part)),
                _ => self.node(data, number, part, cutoff, leaf_cutoff, width),
            };
            if bounds == NOTHING {
                continue;
            }
            around = join(around, bounds);
            let [lower, upper] = match (width, node.child_box(child)) {
                (Width::Four, Some((lower, upper))) => [lower, upper],
                _ => bounds,
            };
            children.push(Child { lower, upper, next });
        }
        self.nodes[at] = children;
        (around, Next::Node(at))
    }

    /// Traces up to [`GROUPS`] groups of `rays`. `None` is a thread without a ray, which idles while its
    /// group runs.
    pub(super) fn run(&self, rays: impl IntoIterator<Item = Option<Ray>>, query: Query) -> Steps {
        let rays: Vec<_> = rays.into_iter().collect();
        let groups: Vec<_> = rays.chunks(GROUP).collect();
        let stride = groups.len().div_ceil(GROUPS).max(1);
        let all = groups.len() as f64;
        let (mut nodes, mut lockstep, mut ray_count, mut group_count) = (0.0, 0.0, 0.0, 0.0);
        for group in groups.into_iter().step_by(stride) {
            let sent = group.iter().flatten();
            let rounds: Vec<_> = sent.map(|ray| self.trace(ray, query)).collect();
            ray_count += rounds.len() as f64;
            group_count += 1.0;
            nodes += rounds
                .iter()
                .flatten()
                .map(|[nodes, _]| f64::from(*nodes))
                .sum::<f64>();
            for round in 0..rounds.iter().map(Vec::len).max().unwrap_or(0) {
                for phase in 0..2 {
                    let of = |rounds: &Vec<[u32; 2]>| rounds.get(round).map_or(0, |r| r[phase]);
                    lockstep += f64::from(rounds.iter().map(of).max().unwrap_or(0));
                }
            }
        }
        Steps {
            nodes: nodes / ray_count,
            lockstep: lockstep / group_count,
            all: lockstep / f64::max(group_count, 1.0) * all,
        }
    }

    /// Returns, for each round of a ray, the nodes visited in its node phase and the triangles tested in its
    /// triangle phase.
    fn trace(&self, ray: &Ray, query: Query) -> Vec<[u32; 2]> {
        let mut rounds = Vec::new();
        let mut stack = Vec::new();
        let mut next = &self.root;
        let (origin, direction) = (
            DVec3::from(ray.origin.map(f64::from)),
            DVec3::from(ray.direction.map(f64::from)),
        );
        let mut t_max = f64::from(ray.t_max);
        loop {
            let mut counts = [0, 0];
            let mut ranges = Vec::new();
            while ranges.is_empty() {
                match next {
                    Next::Nothing => break,
                    Next::Leaves(leaves) | Next::Mesh(leaves) => {
                        ranges.push(leaves.clone());
                        next = stack.pop().unwrap_or(&Next::Nothing);
                    }
                    Next::Node(at) => {
                        counts[0] += 1;
                        let mut hits = Vec::new();
                        for child in &self.nodes[*at] {
                            let near = f64::from(ray.t_min);
                            let Some(t) = enter(child, origin, direction, near, t_max) else {
                                continue;
                            };
                            match &child.next {
                                Next::Leaves(leaves) => ranges.push(leaves.clone()),
                                next => hits.push((t, next)),
                            }
                        }
                        hits.sort_by(|(a, _), (b, _)| b.total_cmp(a));
                        stack.extend(hits.into_iter().map(|(_, next)| next));
                        next = stack.pop().unwrap_or(&Next::Nothing);
                    }
                }
            }
            let is_done = ranges.is_empty();
            let mut is_hit = false;
            for leaf in ranges.into_iter().flatten() {
                if is_hit && query == Query::AnyHit {
                    break;
                }
                counts[1] += 1;
                let t = intersect(&self.triangles[leaf as usize], origin, direction);
                if let Some(t) = t.filter(|t| *t > f64::from(ray.t_min) && *t < t_max) {
                    t_max = t;
                    is_hit = true;
                }
            }
            rounds.push(counts);
            if is_done || (is_hit && query == Query::AnyHit) {
                return rounds;
            }
        }
    }
}

/// Empty box, the identity of [`join`].
const NOTHING: [DVec3; 2] = [DVec3::INFINITY, DVec3::NEG_INFINITY];

fn join([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> [DVec3; 2] {
    [a.min(c), b.max(d)]
}

fn corners(leaf: &LeafTriangle) -> [DVec3; 3] {
    [leaf.v0, leaf.v1, leaf.v2].map(|v| DVec3::from(v.map(f64::from)))
}

fn leaf_box(leaf: &LeafTriangle) -> [DVec3; 2] {
    let [a, b, c] = corners(leaf);
    if leaf.v0[0] == EMPTY_BOX_EXTENT as f32 {
        return NOTHING;
    }
    [a.min(b).min(c), a.max(b).max(c)]
}

/// Returns the distance at which a ray enters a child's box, if it hits the box between `t_min` and `t_max`.
fn enter(child: &Child, origin: DVec3, direction: DVec3, t_min: f64, t_max: f64) -> Option<f64> {
    let (mut near, mut far) = (t_min, t_max);
    for axis in 0..3 {
        let inverse = 1.0 / direction[axis];
        let a = (child.lower[axis] - origin[axis]) * inverse;
        let b = (child.upper[axis] - origin[axis]) * inverse;
        near = near.max(a.min(b));
        far = far.min(a.max(b));
    }
    (near <= far).then_some(near)
}

/// Returns the distance at which a ray hits a triangle (Möller and Trumbore 1997).
fn intersect(leaf: &LeafTriangle, origin: DVec3, direction: DVec3) -> Option<f64> {
    let [v0, v1, v2] = corners(leaf);
    let (edge1, edge2) = (v1 - v0, v2 - v0);
    let p = direction.cross(edge2);
    let determinant = edge1.dot(p);
    let from_v0 = origin - v0;
    let u = from_v0.dot(p) / determinant;
    let q = from_v0.cross(edge1);
    let v = direction.dot(q) / determinant;
    let inside = u >= 0.0 && v >= 0.0 && u + v <= 1.0;
    inside.then(|| edge2.dot(q) / determinant)
}
