//! Binary trees on the CPU, and their layouts for traversals.

use super::{
    Triangle,
    layout::{Layout, StructureData},
};
use canopy_bvh::{
    Error, Result,
    accel::{layout::BVH_MISS, tree::TreeData},
};
use canopy_scene::bounds::Aabb;
use glam::{DVec3, Vec3};
use std::ops::Range;

/// Maximum number of triangles in a leaf. A reference stores the number minus 1 in three bits.
pub const LEAF_MAX: u32 = 8;
/// Exclusive limit of the triangle count. A reference stores a leaf index in 28 bits.
const TRIANGLES_MAX: usize = 1 << 28;
/// Leaf flag, the highest bit of a reference.
const LEAF: u32 = 1 << 31;

/// Binary tree. The root is the first node, and children come after their parents.
#[derive(Debug, Clone)]
pub struct BinaryTree {
    /// Inner nodes and leaves.
    pub nodes: Vec<BinaryNode>,
    /// Input triangle at each leaf index.
    pub order: Vec<u32>,
}

/// Node of a binary tree.
#[derive(Debug, Clone, PartialEq)]
pub struct BinaryNode {
    /// Bounding box of its triangles.
    pub bounds: Aabb,
    /// Range of its leaf indices.
    pub leaves: Range<u32>,
    /// Indices of the children, or `None` for a leaf.
    pub children: Option<[u32; 2]>,
}

/// Expected traversal cost of a ray: the surface area heuristic (SAH) and the end-point overlap (EPO).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// Expected number of nodes and triangles that a ray through the root's box visits. A box is hit with a
    /// probability proportional to its surface area (MacDonald and Booth 1990).
    pub sah: f64,
    /// Expected number of nodes and triangles that a ray visits in addition to those that contain its hit.
    /// This is the end-point overlap (Aila, Karras and Laine 2013): the area of all triangles inside nodes
    /// that they do not belong to, relative to the total area.
    pub epo: f64,
}

impl BinaryTree {
    /// Converts the tree that canopy has built over one mesh of `triangles`, down to nodes of one triangle.
    ///
    /// # Errors
    ///
    /// [`Error::Tree`] if `built` does not contain all triangles.
    pub fn from_data(built: &TreeData, triangles: &[Triangle]) -> Result<Self> {
        let count = triangles.len() as u32;
        let wrong = || Error::Tree("the tree does not hold all triangles".into());
        let leaves = built.triangles.get(..triangles.len()).ok_or_else(wrong)?;
        let order = leaves.iter().map(|leaf| leaf.triangle).collect();
        let mut tree = Self {
            nodes: vec![BinaryNode::new(0..count)],
            order,
        };
        let root = built.tlas.first().map_or(0, |mesh| mesh.node_offset);
        let mut pending = vec![(0, root)];
        while let Some((at, number)) = pending.pop() {
            let Range { start, end } = tree.nodes[at].leaves;
            if end - start <= 1 {
                continue;
            }
            let middle = built.middle(number, start, end);
            if middle <= start || middle >= end {
                return Err(wrong());
            }
            let first = tree.split(at, middle);
            pending.extend([(first, middle - 1), (first + 1, middle)]);
        }
        tree.fit(triangles);
        Ok(tree)
    }

    /// Splits node `at` into two children. The second child starts at leaf `middle`. Returns the index of the
    /// first child.
    pub(super) fn split(&mut self, at: usize, middle: u32) -> usize {
        let Range { start, end } = self.nodes[at].leaves;
        let first = self.nodes.len();
        self.nodes.push(BinaryNode::new(start..middle));
        self.nodes.push(BinaryNode::new(middle..end));
        self.nodes[at].children = Some([first as u32, first as u32 + 1]);
        first
    }

    /// Recomputes the boxes of all nodes, children before their parents.
    pub(super) fn fit(&mut self, triangles: &[Triangle]) {
        for at in (0..self.nodes.len()).rev() {
            self.nodes[at].bounds = match self.nodes[at].children {
                Some([a, b]) => self.nodes[a as usize].bounds.union(self.nodes[b as usize].bounds),
                None => {
                    let leaves = self.nodes[at].leaves.clone();
                    let leaves = leaves.map(|leaf| self.order[leaf as usize] as usize);
                    Aabb::from_points(leaves.flat_map(|triangle| triangles[triangle]))
                }
            };
        }
    }

    /// Copies the tree, and turns nodes of up to `most` triangles into leaves.
    pub fn with_leaves(&self, most: u32) -> Self {
        let most = most.clamp(1, LEAF_MAX);
        let mut tree = Self {
            nodes: vec![self.nodes[0].clone()],
            order: self.order.clone(),
        };
        let mut at = 0;
        while at < tree.nodes.len() {
            let node = &mut tree.nodes[at];
            if node.leaves.len() <= most as usize {
                node.children = None;
            }
            if let Some(children) = node.children {
                let first = tree.nodes.len() as u32;
                tree.nodes[at].children = Some([first, first + 1]);
                tree.nodes
                    .extend(children.map(|child| self.nodes[child as usize].clone()));
            }
            at += 1;
        }
        tree
    }

    /// Returns the number of levels of inner nodes.
    pub fn levels(&self) -> u32 {
        let mut levels = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            for child in node.children.into_iter().flatten() {
                levels[child as usize] = levels[at] + 1;
            }
        }
        levels.into_iter().max().unwrap_or(0)
    }

    /// Computes the [`Quality`] of the tree.
    pub fn quality(&self, triangles: &[Triangle]) -> Quality {
        let root_area = area(self.nodes[0].bounds);
        let weight = |node: &BinaryNode| match node.children {
            Some(_) => 1.0,
            None => node.leaves.len() as f64,
        };
        let sum: f64 = self
            .nodes
            .iter()
            .map(|node| weight(node) * area(node.bounds))
            .sum();
        let mut overlapped = 0.0;
        let mut whole = 0.0;
        for (leaf, triangle) in (0..).zip(&self.order) {
            let corners = triangles[*triangle as usize].map(Vec3::as_dvec3);
            whole += polygon_area(&corners);
            let mut pending = vec![(0_u32, corners.to_vec())];
            while let Some((at, polygon)) = pending.pop() {
                let node = &self.nodes[at as usize];
                if !node.leaves.contains(&leaf) {
                    overlapped += weight(node) * polygon_area(&polygon);
                }
                for child in node.children.into_iter().flatten() {
                    let inside = clipped(&polygon, self.nodes[child as usize].bounds);
                    if inside.len() > 2 {
                        pending.push((child, inside));
                    }
                }
            }
        }
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        Quality {
            sah: ratio(sum, root_area),
            epo: ratio(overlapped, whole),
        }
    }

    /// Creates a structure that has no nodes yet.
    fn without_nodes(&self, root: u32) -> StructureData {
        StructureData {
            root,
            levels: self.levels(),
            order: self.order.clone(),
            ..StructureData::in_order(self.nodes[0].bounds, [1; 3], 0)
        }
    }

    /// Lays the tree out as `layout`. Returns `None` for grids and kd-trees.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the tree has more triangles than references can address.
    pub fn laid_out(&self, layout: Layout) -> Result<Option<StructureData>> {
        Ok(Some(match layout {
            Layout::Binary => self.binary()?,
            Layout::Skip => self.skip()?,
            Layout::Wide => self.wide()?,
            Layout::Grid | Layout::TwoLevel | Layout::KdTree => return Ok(None),
        }))
    }

    /// Returns the reference to node `at`. `numbers` has the reference to each inner node.
    fn reference(&self, at: u32, numbers: &[u32]) -> u32 {
        let node = &self.nodes[at as usize];
        match node.children {
            Some(_) => numbers[at as usize],
            None => LEAF | (node.leaves.len() as u32 - 1) << 28 | node.leaves.start,
        }
    }

    /// Fails if references cannot address all triangles.
    fn check(&self) -> Result<()> {
        if self.order.len() < TRIANGLES_MAX {
            return Ok(());
        }
        Err(Error::Limit {
            what: "the laboratory's tree".into(),
            needed: format!("{} triangles", self.order.len()),
            allowed: format!("{TRIANGLES_MAX} triangles"),
            by: "its references".into(),
        })
    }

    /// Lays out binary nodes with links to parents (`lab/binary.wgsl`).
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the tree has more triangles than references can address.
    pub fn binary(&self) -> Result<StructureData> {
        self.check()?;
        let mut numbers = vec![BVH_MISS; self.nodes.len()];
        let inner = || {
            self.nodes
                .iter()
                .enumerate()
                .filter(|(_, node)| node.children.is_some())
        };
        for (number, (at, _)) in (0..).zip(inner()) {
            numbers[at] = number;
        }
        let mut built = self.without_nodes(self.reference(0, &numbers));
        built.links = vec![BVH_MISS; inner().count()];
        for (at, node) in inner() {
            for child in node.children.into_iter().flatten() {
                let bounds = self.nodes[child as usize].bounds;
                let reference = self.reference(child, &numbers);
                built.rows.push(row(bounds.min, reference));
                built.rows.push(row(bounds.max, 0));
                if self.nodes[child as usize].children.is_some() {
                    built.links[numbers[child as usize] as usize] = numbers[at];
                }
            }
            // The first two rows hold both references, so the second child's moves up from the third row.
            let last = built.rows.len();
            built.rows[last - 3][3] = built.rows[last - 2][3];
        }
        built.counts_nodes(64);
        Ok(built)
    }

    /// Lays out nodes in depth-first order with skip links (`lab/walk_skip.wgsl`).
    ///
    /// # Errors
    ///
    /// Any error of [`BinaryTree::binary`].
    pub fn skip(&self) -> Result<StructureData> {
        self.check()?;
        let mut built = self.without_nodes(0);
        // Number of nodes in each subtree, including its root.
        let mut sizes = vec![1_u32; self.nodes.len()];
        for at in (0..self.nodes.len()).rev() {
            for child in self.nodes[at].children.into_iter().flatten() {
                sizes[at] += sizes[child as usize];
            }
        }
        let mut pending = vec![0_u32];
        let all = sizes[0];
        while let Some(at) = pending.pop() {
            let node = &self.nodes[at as usize];
            let behind = built.rows.len() as u32 / 2 + sizes[at as usize];
            let skip = if behind == all { BVH_MISS } else { behind };
            let leaf = match node.children {
                Some(_) => BVH_MISS,
                None => self.reference(at, &[]),
            };
            built.rows.push(row(node.bounds.min, skip));
            built.rows.push(row(node.bounds.max, leaf));
            pending.extend(node.children.into_iter().flatten().rev());
        }
        built.counts_nodes(32);
        Ok(built)
    }

    /// Lays out four-wide nodes (`lab/walk_wide.wgsl`). Replaces the inner child of the largest area by its
    /// children until there are four.
    ///
    /// # Errors
    ///
    /// Any error of [`BinaryTree::binary`].
    pub fn wide(&self) -> Result<StructureData> {
        self.check()?;
        let mut numbers = vec![BVH_MISS; self.nodes.len()];
        let mut wide: Vec<(Vec<u32>, u32)> = Vec::new();
        let mut pending = vec![(0_u32, 1)];
        while let Some((at, level)) = pending.pop() {
            let Some(children) = self.nodes[at as usize].children else {
                continue;
            };
            let mut children = children.to_vec();
            while children.len() < 4 {
                let opens = |child: &u32| self.nodes[*child as usize].children.is_some();
                let size = |child: u32| area(self.nodes[child as usize].bounds);
                let largest = (0..children.len()).filter(|i| opens(&children[*i]));
                let largest = largest.max_by(|a, b| size(children[*a]).total_cmp(&size(children[*b])));
                let Some(largest) = largest else {
                    break;
                };
                let opened = children.remove(largest);
                children.extend(self.nodes[opened as usize].children.into_iter().flatten());
            }
            numbers[at as usize] = wide.len() as u32;
            pending.extend(children.iter().map(|child| (*child, level + 1)));
            wide.push((children, level));
        }
        let mut built = self.without_nodes(self.reference(0, &numbers));
        built.levels = wide.iter().map(|(_, level)| *level).max().unwrap_or(0);
        for (children, _) in &wide {
            let bounds = |child: usize| {
                let child = children.get(child);
                child.map_or(Aabb::EMPTY, |child| self.nodes[*child as usize].bounds)
            };
            for corner in [|b: Aabb| b.min, |b: Aabb| b.max] {
                for axis in 0..3 {
                    let side = |child| corner(bounds(child))[axis].clamp(-3e38, 3e38);
                    built
                        .rows
                        .push(std::array::from_fn(|child| side(child).to_bits()));
                }
            }
            let reference = |child: &u32| self.reference(*child, &numbers);
            built.rows.push(std::array::from_fn(|i| {
                children.get(i).map_or(BVH_MISS, reference)
            }));
        }
        built.counts_nodes(112);
        Ok(built)
    }
}

impl BinaryNode {
    pub(super) fn new(leaves: Range<u32>) -> Self {
        Self {
            bounds: Aabb::EMPTY,
            leaves,
            children: None,
        }
    }
}

fn row(corner: Vec3, last: u32) -> [u32; 4] {
    let [x, y, z] = corner.to_array().map(f32::to_bits);
    [x, y, z, last]
}

/// Returns the surface area of a box, or 0 if it is empty.
pub(super) fn area(bounds: Aabb) -> f64 {
    let [x, y, z] = (bounds.max - bounds.min).as_dvec3().max(DVec3::ZERO).to_array();
    2.0 * (x * y + y * z + z * x)
}

fn polygon_area(corners: &[DVec3]) -> f64 {
    let fan = corners.windows(2).skip(1);
    let sum: DVec3 = fan
        .map(|pair| (pair[0] - corners[0]).cross(pair[1] - corners[0]))
        .sum();
    0.5 * sum.length()
}

/// Clips a convex polygon to a box (Sutherland and Hodgman 1974).
fn clipped(polygon: &[DVec3], bounds: Aabb) -> Vec<DVec3> {
    let mut polygon = polygon.to_vec();
    for axis in 0..3 {
        for (side, plane) in [(1.0, bounds.min[axis]), (-1.0, bounds.max[axis])] {
            let inside = |point: &DVec3| side * (point[axis] - f64::from(plane));
            let mut kept = Vec::with_capacity(polygon.len() + 1);
            for (i, b) in polygon.iter().enumerate() {
                let a = &polygon[(i + polygon.len() - 1) % polygon.len()];
                let (from_a, from_b) = (inside(a), inside(b));
                if from_a.min(from_b) < 0.0 && from_a.max(from_b) > 0.0 {
                    kept.push(*a + (*b - *a) * (from_a / (from_a - from_b)));
                }
                if from_b >= 0.0 {
                    kept.push(*b);
                }
            }
            polygon = kept;
        }
    }
    polygon
}
