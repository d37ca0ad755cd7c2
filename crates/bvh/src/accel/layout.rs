//! The structs and constants that the tree's shaders share with Rust.

use crate::gpu::{library::wgsl_constants, structs::gpu_structs};
use glam::DVec3;
use std::ops::Range;

wgsl_constants! {
    /// Top bit of a triangle's mesh: a hit counts only if the any-hit test (`bvh_accepts` in WGSL) accepts
    /// it.
    pub const ANY_HIT_TEST: u32 = 1 << 31;
    /// The mesh of a [`Hit`] of a ray that hit nothing.
    pub const BVH_MISS: u32 = u32::MAX;
    /// Entries of the traversal stack: three a level of nodes of four. A TLAS over n meshes, if those are more
    /// than this, has at most 16 + log2(n) / 2 levels, or PLOC_DEPTH / 2.
    pub const STACK_SIZE: u32 = 96;
    /// Steps of a node's grid within which its box lies, as the share of the box that one step is.
    pub const NODE_STEP_SHARE: f64 = 0.003955;
    /// The least step of a node's grid, as a share of the box's largest coordinate: 2^-22, two of its ulp.
    pub const NODE_STEP_LEAST: f64 = 2.384_185_791_015_625e-7;
    /// The least step of a node's grid: 2^-100.
    pub const NODE_STEP_TINY: f64 = 7.888_609_052_210_118e-31;
    /// Steps by which a box on the grid exceeds the box that it stands for, at least: more than traversal
    /// rounds (see `bvh_enter`).
    pub const NODE_SLACK: f64 = 0.015625;
    /// Words that `bounds` gathers per mesh; half as many follow for the scene.
    pub const BOUNDS_WORDS: u32 = 12;
    /// Threads of a workgroup of `bounds`.
    pub const BOUNDS_THREADS: u32 = 64;
    /// Threads of a workgroup of `morton`.
    pub const MORTON_THREADS: u32 = 64;
    /// Triangles per thread of `morton`.
    pub const MORTON_RUN: u32 = 8;
    /// Threads of a sorting workgroup: one per digit.
    pub const SORT_BLOCK: u32 = 256;
    /// Pairs per thread of a sorting workgroup.
    pub const SORT_ROUNDS: u32 = 16;
    /// Blocks up to which one workgroup scans all digits, whose threads add up a row each, one load after the other.
    pub const SORT_SERIAL_BLOCKS: u32 = 4;
    /// Words of a record of `morton`.
    pub const CODE_WORDS: u32 = 4;
    /// Items of a workgroup of `hierarchy`, where there are several.
    pub const BLOCK: u32 = 512;
    /// Threads of a workgroup of `hierarchy_across`.
    pub const ACROSS_THREADS: u32 = 64;
    /// Items up to which a block has 32 of them; with more items it has 8. On an H100, 1 M triangles took 0.11 ms
    /// instead of 0.19 with 32, and 10 M took 0.71 ms instead of 1.06 with 8.
    pub const ACROSS_MANY: u32 = 1 << 22;
    /// The first level of the pyramid that is kept; those below are made of leaves again.
    pub const PYRAMID_FIRST_LEVEL: u32 = 3;
    /// Levels that one dispatch of `pyramid` adds.
    pub const PYRAMID_STEP: u32 = 9;
    /// Leaves per thread of `hierarchy_serial`.
    pub const SERIAL_RUN: u32 = 512;
    /// Leaves per thread of `hierarchy_join`.
    pub const JOIN_RUN: u32 = 32;
    /// Runs that a thread of its later dispatches joins.
    pub const SERIAL_FAN: u32 = 16;
    /// Segments that a run can leave: twice the values of δ, once for those that wait for their left and once
    /// for those that wait for their right.
    pub const SERIAL_SEGMENTS: u32 = 192;
    /// Segments of a thread's stack in `hierarchy_serial`: more than it holds at a time, since δ is −1 to 95 and
    /// rises along it.
    pub const SERIAL_STACK: u32 = 97;
    /// Threads of a workgroup of the kernels for software adapters.
    pub const SERIAL_THREADS: u32 = 8;
    /// Clusters that a workgroup of `ploc` joins.
    pub const PLOC_BLOCK: u32 = 256;
    /// Its threads.
    pub const PLOC_THREADS: u32 = 64;
    /// Clusters that it leaves to the next level, at most.
    pub const PLOC_LEFT: u32 = 32;
    /// How far apart clusters are that it joins.
    pub const PLOC_RADIUS: u32 = 8;
    /// Binary levels of a clustered tree, at most. A TLAS over more than STACK_SIZE meshes has half as many levels of
    /// nodes of four, whose entries fit into a stack.
    pub const PLOC_DEPTH: u32 = 64;
    /// Rows of a cluster between levels.
    pub const PLOC_ROWS: u32 = 3;
    /// Workgroups of `cost`, and threads of each.
    pub const COST_BLOCK: u32 = 256;
    /// A tree's leaves are triangles.
    pub const BVH_TRIANGLES: u32 = 0;
    /// A tree's leaves are boxes.
    pub const BVH_BOXES: u32 = 1;
    /// A tree's leaves are balls.
    pub const BVH_BALLS: u32 = 2;
    /// A region is a box.
    pub const BVH_BOX: u32 = 0;
    /// A region is a capsule.
    pub const BVH_CAPSULE: u32 = 1;
    /// A region is a frustum.
    pub const BVH_FRUSTUM: u32 = 2;
    /// Threads of a workgroup of `trace` and of other queries.
    pub const TRACE_BLOCK: u32 = 64;
    /// Levels that `pairs_descend` goes down, at most.
    pub const PAIR_LEVELS: u32 = 48;
    /// Pairs in each of two lists that the first of its workgroups has.
    pub const DESCENT_ROOM: u32 = 16384;
    /// Points per thread of `nearest_sorted`.
    pub const NEAREST_RUN: u32 = 4;
    /// Numbers that a workgroup of `scan` sums.
    pub const SCAN_BLOCK: u32 = 1024;
    /// Coordinates of the empty box, whose lower corner is at plus this and whose upper one is at minus this.
    pub const BOX_FAR: f64 = 3.0e38;
    /// Factor by which a ray leaves a box later than computed: see `bvh_enter`.
    pub const BVH_MARGIN: f64 = 1.000002;
    /// Rows of four words in a [`Node`].
    pub const NODE_ROWS: u32 = 4;
    /// Rows of four words in a [`LeafTriangle`].
    pub const TRIANGLE_ROWS: u32 = 3;
}

/// Levels of the pyramid within a block.
pub(super) const BLOCK_LEVELS: u32 = BLOCK.ilog2();

const _: () = assert!(3 * PLOC_DEPTH / 2 <= STACK_SIZE);

/// Pairs that one workgroup sorts in one dispatch.
pub const SORT_SMALL: u32 = 2048;

gpu_structs! {
    /// Where a mesh lies in the merged buffers.
    MeshRange {
        first_triangle: u32,
        triangle_count: u32,
        first_vertex: u32,
    }
    /// A row of the TLAS: where a mesh lies, and its box.
    TlasEntry {
        /// Its binary nodes; those of more triangles than the leaf cutoff have a node.
        node_count: u32,
        /// The root, where there is one.
        node_offset: u32,
        vertex_offset: u32,
        index_offset: u32,
        box_min: [f32; 3],
        first_triangle: u32,
        box_max: [f32; 3],
        triangle_count: u32,
    }
    /// A node of up to four children, which are neighbours in leaf order: the first has the leaves from
    /// `first` to before `ends[0]`, the next those to before `ends[1]`, and so on; one without leaves is
    /// missing. A child of more leaves than the tree's cutoff is a node, whose number is that of its first
    /// or of its last leaf.
    ///
    /// The children's boxes lie on a grid from `origin`, of 255 steps an axis, each step a power of two.
    Node {
        origin: [f32; 3],
        /// The exponents of the steps, biased as in floats, x in the lowest byte. In the highest byte a bit per
        /// child: 1 where its number is that of its first leaf.
        exponents: u32,
        /// Lower corners in steps, a word an axis, the first child in the lowest byte.
        lower: [u32; 3],
        first: u32,
        /// Upper corners.
        upper: [u32; 3],
        mesh: u32,
        ends: [u32; 4],
    }
    /// A triangle in leaf order.
    LeafTriangle {
        v0: [f32; 3],
        /// Its number in the merged index buffer.
        triangle: u32,
        v1: [f32; 3],
        /// The caller's word for this triangle (canopy: the material).
        payload: u32,
        v2: [f32; 3],
        /// The mesh, with [`ANY_HIT_TEST`].
        mesh: u32,
    }
    /// Sizes that traversal needs.
    TreeInfo {
        /// Leaves from here on are those of the TLAS.
        triangle_count: u32,
        mesh_count: u32,
        /// Ranges of so many triangles or fewer have no node.
        leaf_cutoff: u32,
    }
    /// Sizes that every stage of a build needs.
    BuildParams {
        triangle_count: u32,
        mesh_count: u32,
        /// Items that are sorted: triangles, then meshes.
        item_count: u32,
        item_triangles: u32,
        /// 1 where those are all, in order.
        all_items: u32,
        /// Bits of the codes along each axis: 10 or fewer, or 21 for codes of 63 bits.
        axis_bits: u32,
        /// Ranges of so many triangles or fewer get no node.
        leaf_cutoff: u32,
        /// Where the parts of the words for making nodes begin, in words.
        spans_word: u32,
        across_word: u32,
        list_word: u32,
        level_word: u32,
        /// Triangles per thread of `bounds`, and how far apart they are.
        bounds_run: u32,
        bounds_step: u32,
        /// Where the words of `ploc` begin.
        link_word: u32,
        count_word: u32,
        _pad: u32,
        /// First box of each level of the pyramid, four levels a row.
        level_offset: [[u32; 4]; 7],
    }
    /// The positions of a mesh among the items of a build, and how far its leaves lie behind them.
    Span {
        first: u32,
        count: u32,
        shift: u32,
    }
    /// One level of `ploc`: what the level before left, and where this one leaves the same.
    PlocLevel {
        chunks: u32,
        first_slot: u32,
        first_row: u32,
        first_word: u32,
        next_slot: u32,
        next_row: u32,
        next_word: u32,
        /// Rounds that later levels need at least; 0 for the last level.
        rounds_after: u32,
    }
    /// One pass of the radix sort.
    SortParams {
        count: u32,
        /// Blocks of SORT_BLOCK · SORT_ROUNDS pairs, or runs of `run`.
        block_count: u32,
        /// First bit of the digit.
        shift: u32,
        /// 1 where values are the pairs' own numbers, not yet written.
        implied_values: u32,
        run: u32,
        /// Digits that one dispatch of sort_small sorts.
        digits: u32,
    }
    /// A ray. Hits lie strictly between `t_min` and `t_max`, in units of the direction's length.
    Ray {
        origin: [f32; 3],
        t_min: f32,
        direction: [f32; 3],
        t_max: f32,
    }
    /// What a ray hit.
    Hit {
        /// Distance in units of the direction's length; the ray's `t_max` for a miss.
        t: f32,
        _pad: u32,
        /// Weights of the triangle's second and third vertex.
        barycentric: [f32; 2],
        /// Index of the mesh among the ranges of the geometry; [`BVH_MISS`] for a miss.
        mesh: u32,
        /// Index of the triangle within that mesh, in the order of the index buffer.
        triangle: u32,
    }
    /// The point of the tree's triangles that is nearest to a point.
    Nearest {
        position: [f32; 3],
        /// From there to the point; how far was looked, where nothing is as near.
        distance: f32,
        /// Weights of the triangle's second and third vertex.
        barycentric: [f32; 2],
        /// Index of the mesh among the ranges of the geometry; [`BVH_MISS`] where nothing is as near.
        mesh: u32,
        /// Index of the triangle within that mesh, in the order of the index buffer.
        triangle: u32,
    }
    /// A box that objects are looked for in. One whose lower corner is above its upper one touches nothing.
    BoxQuery {
        lower: [f32; 3],
        _pad0: u32,
        upper: [f32; 3],
        _pad1: u32,
    }
    /// All that is within `radius` of the segment from `a` to `b`: a capsule, or a ball where they are equal. One
    /// whose radius is negative touches nothing.
    CapsuleQuery {
        a: [f32; 3],
        radius: f32,
        b: [f32; 3],
        _pad: u32,
    }
    /// Six planes: the normal, which points inwards and need not have length 1, and what is added to its product
    /// with a point to give a number that is not negative inside.
    FrustumQuery {
        planes: [[f32; 4]; 6],
    }
    /// An object that a region touches.
    Touched {
        /// Index of the region.
        query: u32,
        mesh: u32,
        /// Index of the object within that mesh, in the order of the caller's buffer.
        object: u32,
    }
    /// Two objects that touch.
    ObjectPair {
        mesh_a: u32,
        /// Index within its mesh.
        object_a: u32,
        mesh_b: u32,
        object_b: u32,
    }
    /// One of the objects that are nearest to a point.
    Neighbour {
        /// From the point to the object; how far was looked, where there is no further object.
        distance: f32,
        /// Index of the mesh or set; [`BVH_MISS`] where there is no further object.
        mesh: u32,
        object: u32,
    }
    /// A capsule that moves, or a ball where `a` and `b` are equal.
    Sweep {
        /// An end of its axis, at first.
        a: [f32; 3],
        radius: f32,
        b: [f32; 3],
        _pad0: u32,
        /// Where it moves to, from there.
        motion: [f32; 3],
        _pad1: u32,
    }
    /// What a moving capsule touches first.
    Contact {
        /// From the object towards the capsule, of length 1.
        normal: [f32; 3],
        /// The share of the motion after which they touch; 1 where they do not.
        t: f32,
        /// The object's point that is touched.
        position: [f32; 3],
        /// Index of the mesh or set; [`BVH_MISS`] where nothing is touched.
        mesh: u32,
        object: u32,
        _pad0: u32,
        _pad1: u32,
        _pad2: u32,
    }
    /// How often a ray passes through triangles.
    Crossings {
        /// Through their fronts, from where corners go round counterclockwise.
        fronts: u32,
        backs: u32,
    }
    /// What a query of pairs needs.
    PairQuery {
        count: u32,
        leaf_cutoff: u32,
        /// Room for pairs.
        room: u32,
        mask: u32,
        within: u32,
        distinct: u32,
        across: u32,
        descended: u32,
    }
    /// Which levels of two trees `pairs_descend` goes down, to before `end`.
    DescentQuery {
        level: u32,
        end: u32,
        count: u32,
        within: u32,
        across: u32,
        room: u32,
    }
    /// What a ray went through: nodes, and triangles that were tested.
    Visits {
        /// Nodes of the trees and of the TLAS.
        nodes: u32,
        triangles: u32,
    }
}

/// What trees are built over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Objects {
    /// Triangles: [`Lbvh`](super::Lbvh).
    #[default]
    Triangles,
    /// Boxes: [`ObjectLbvh`](super::ObjectLbvh).
    Boxes,
    /// Balls, or points where their radius is 0.
    Balls,
}

impl Objects {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Triangles, Self::Boxes, Self::Balls];

    /// The constant of the shaders.
    pub fn constant(self) -> f64 {
        f64::from(self as u32)
    }
}

impl Node {
    /// The leaves of one of the four children.
    pub fn leaves(&self, child: usize) -> Range<u32> {
        let first = match child {
            0 => self.first,
            _ => self.ends[child - 1],
        };
        first..self.ends[child]
    }

    /// The number of the node that a child of several leaves is; of a child of one leaf, that leaf.
    pub fn child(&self, child: usize) -> u32 {
        let leaves = self.leaves(child);
        if self.exponents >> (24 + child) & 1 == 1 {
            leaves.start
        } else {
            leaves.end.wrapping_sub(1)
        }
    }

    /// Corners of a child's box, as rays meet it; `None` where the box is empty or the child is missing.
    pub fn child_box(&self, child: usize) -> Option<(DVec3, DVec3)> {
        let corner = |steps: [u32; 3]| {
            let axis = |axis: usize| {
                let steps = steps[axis] >> (8 * child) & 255;
                let step = f32::from_bits((self.exponents >> (8 * axis) & 255) << 23);
                f64::from(self.origin[axis]) + f64::from(steps) * f64::from(step)
            };
            DVec3::new(axis(0), axis(1), axis(2))
        };
        let (lower, upper) = (corner(self.lower), corner(self.upper));
        (lower.x <= upper.x).then_some((lower, upper))
    }
}

impl Hit {
    /// Whether the ray hit nothing.
    pub fn is_miss(&self) -> bool {
        self.mesh == BVH_MISS
    }
}
