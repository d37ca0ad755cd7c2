//! Structs and constants shared between Rust and the BVH's shaders.

use crate::gpu::{library::wgsl_constants, structs::gpu_structs};
use glam::DVec3;
use std::ops::Range;

wgsl_constants! {
    /// Top bit of a triangle's mesh index. If it is set, a hit counts only if the any-hit test (`bvh_accepts`
    /// in WGSL) accepts it.
    pub const ANY_HIT_TEST: u32 = 1 << 31;
    /// Mesh index of a [`Hit`] whose ray missed.
    pub const BVH_MISS: u32 = u32::MAX;
    /// Entries of the traversal stack. A level of four-wide nodes pushes at most three. A TLAS over more than
    /// this many meshes (n) has at most 16 + log2(n) / 2 levels as a radix tree, or PLOC_DEPTH / 2 as a PLOC
    /// tree.
    pub const STACK_SIZE: u32 = 96;
    /// Step of a node's quantisation grid, relative to the extent of the node's box.
    pub const NODE_STEP_SHARE: f64 = 0.003955;
    /// Minimum step of a node's grid, relative to the box's largest coordinate: 2^-22, or two ulp of it.
    pub const NODE_STEP_MIN: f64 = 2.384_185_791_015_625e-7;
    /// Absolute minimum step of a node's grid: 2^-100.
    pub const NODE_STEP_TINY: f64 = 7.888_609_052_210_118e-31;
    /// Minimum margin, in grid steps, of a quantised box around the exact box. It is more than the rounding
    /// error of traversal (see `bvh_intersect_children`).
    pub const NODE_SLACK: f64 = 0.015625;
    /// Words per mesh in the output of `bounds`. The scene's box follows the last mesh and takes half as
    /// many.
    pub const BOUNDS_WORDS: u32 = 12;
    /// Workgroup size of `bounds`.
    pub const BOUNDS_THREADS: u32 = 64;
    /// Workgroup size of `morton`.
    pub const MORTON_THREADS: u32 = 64;
    /// Triangles per thread of `morton`.
    pub const MORTON_RUN: u32 = 8;
    /// Workgroup size of the sort: one thread per digit.
    pub const SORT_BLOCK: u32 = 256;
    /// Key-value pairs per thread of a sorting workgroup.
    pub const SORT_ROUNDS: u32 = 16;
    /// Maximum number of blocks for the single-workgroup scan, in which each thread sums one digit's row
    /// serially.
    pub const SORT_SERIAL_BLOCKS: u32 = 4;
    /// Words of a code record of `morton`.
    pub const CODE_WORDS: u32 = 4;
    /// Items per workgroup of `hierarchy`, if there are several workgroups.
    pub const BLOCK: u32 = 512;
    /// Workgroup size of `hierarchy_across`.
    pub const ACROSS_THREADS: u32 = 64;
    /// Item count above which `hierarchy_across` uses 8 threads per block instead of 32. On an H100, 1 M
    /// triangles took 0.11 ms instead of 0.19 ms with 32 threads, and 10 M took 0.71 ms instead of 1.06 ms
    /// with 8.
    pub const ACROSS_MANY: u32 = 1 << 22;
    /// First pyramid level that is stored. Lower levels are recomputed from the leaves.
    pub const PYRAMID_FIRST_LEVEL: u32 = 3;
    /// Pyramid levels per dispatch of `pyramid`.
    pub const PYRAMID_STEP: u32 = 9;
    /// Leaves per thread of `hierarchy_serial`.
    pub const SERIAL_RUN: u32 = 512;
    /// Leaves per thread of `hierarchy_join`.
    pub const JOIN_RUN: u32 = 32;
    /// Runs that a thread joins in the later dispatches of `hierarchy_serial`.
    pub const SERIAL_FAN: u32 = 16;
    /// Maximum number of open segments per run. It is twice the number of δ values, because segments with a
    /// parent to the left and segments with a parent to the right each take any δ at most once.
    pub const SERIAL_SEGMENTS: u32 = 192;
    /// Stack size of a thread in `hierarchy_serial`, in segments. The stack cannot overflow: δ is −1 to 95
    /// and rises along it.
    pub const SERIAL_STACK: u32 = 97;
    /// Workgroup size of the kernels for software adapters.
    pub const SERIAL_THREADS: u32 = 8;
    /// Clusters per workgroup of `ploc`.
    pub const PLOC_BLOCK: u32 = 256;
    /// Workgroup size of `ploc`.
    pub const PLOC_THREADS: u32 = 64;
    /// Maximum number of clusters that a workgroup of `ploc` passes to the next level.
    pub const PLOC_MAX_OUTPUT: u32 = 32;
    /// Search radius of `ploc`, in clusters.
    pub const PLOC_RADIUS: u32 = 8;
    /// Maximum number of binary levels of a PLOC tree. In a TLAS over more than STACK_SIZE meshes, each level
    /// of four-wide nodes stands for two of them. It has at most PLOC_DEPTH / 2 levels, which push at most
    /// three stack entries each, so the traversal stack cannot overflow.
    pub const PLOC_DEPTH: u32 = 64;
    /// Rows of four words per cluster that is passed between levels of `ploc`.
    pub const PLOC_ROWS: u32 = 3;
    /// Workgroup count and workgroup size of `cost`.
    pub const COST_BLOCK: u32 = 256;
    /// Leaf type: triangles.
    pub const BVH_TRIANGLES: u32 = 0;
    /// Leaf type: boxes.
    pub const BVH_BOXES: u32 = 1;
    /// Leaf type: balls.
    pub const BVH_BALLS: u32 = 2;
    /// Region shape: box.
    pub const BVH_BOX: u32 = 0;
    /// Region shape: capsule.
    pub const BVH_CAPSULE: u32 = 1;
    /// Region shape: frustum.
    pub const BVH_FRUSTUM: u32 = 2;
    /// Workgroup size of `trace` and of the other queries.
    pub const TRACE_BLOCK: u32 = 64;
    /// Maximum number of levels that `pairs_descend` descends.
    pub const PAIR_LEVELS: u32 = 48;
    /// Capacity, in pairs, of each of the two lists of the first workgroup of `pairs_descend`.
    pub const DESCENT_CAPACITY: u32 = 16384;
    /// Points per thread of `nearest_sorted`.
    pub const NEAREST_RUN: u32 = 4;
    /// Numbers that one workgroup of `scan` sums.
    pub const SCAN_BLOCK: u32 = 1024;
    /// Coordinate of the empty box: its lower corner is at plus this value, its upper corner at minus this
    /// value.
    pub const EMPTY_BOX_EXTENT: f64 = 3.0e38;
    /// Factor on the computed exit distance of a ray from a box, against rounding: see
    /// `bvh_intersect_children`.
    pub const BVH_MARGIN: f64 = 1.000002;
    /// Rows of four words in a [`Node`].
    pub const NODE_ROWS: u32 = 4;
    /// Rows of four words in a [`LeafTriangle`].
    pub const TRIANGLE_ROWS: u32 = 3;
    /// Workgroup size of `ray_nodes`.
    pub const RAY_NODE_THREADS: u32 = 64;
    /// Top bit of a ray node's reference to leaves.
    pub const RAY_LEAVES: u32 = 1 << 31;
    /// Position of the five bits of such a reference that hold the number of leaves, less 1. The bits below
    /// hold the first leaf: a binding of less than 2^32 bytes has fewer than 2^26 nodes.
    pub const RAY_COUNT_SHIFT: u32 = 26;
    /// Maximum number of leaves of such a reference, and maximum leaf cutoff.
    pub const RAY_LEAVES_MAX: u32 = 32;
    /// Workgroup size of kernels that trace rays by `bvh/bvh_rays.wgsl`.
    pub const BVH_RAY_THREADS: u32 = 64;
    /// Entries of the traversal stack above which a ray tests leaf ranges instead of descending, with the
    /// entry that marks the end. In replays, occlusion and shadow rays needed 2 to 5 on average, and never
    /// more than 16.
    pub const RAY_STACK_ROOM: u32 = 16;
    /// The same limit for nodes of the TLAS, so that meshes have at least four entries.
    pub const RAY_TLAS_ROOM: u32 = 10;
    /// Entries of the traversal stack of a ray on GPUs: a node adds up to three.
    pub const RAY_STACK_SIZE: u32 = 19;
}

/// Pyramid levels within a block.
pub(super) const BLOCK_LEVELS: u32 = BLOCK.ilog2();

const _: () = assert!(3 * PLOC_DEPTH / 2 <= STACK_SIZE);
const _: () = assert!(RAY_STACK_ROOM + 3 <= RAY_STACK_SIZE);

/// Maximum number of pairs that one workgroup sorts in a single dispatch.
pub const SORT_SMALL: u32 = 2048;

gpu_structs! {
    /// Position of a mesh in the merged buffers.
    MeshRange {
        first_triangle: u32,
        triangle_count: u32,
        first_vertex: u32,
    }
    /// TLAS row: the position and box of a mesh.
    TlasEntry {
        /// Number of binary nodes. Only those with more triangles than the leaf cutoff are stored.
        node_count: u32,
        /// Index of the root node, if the mesh has one.
        node_offset: u32,
        vertex_offset: u32,
        index_offset: u32,
        box_min: [f32; 3],
        first_triangle: u32,
        box_max: [f32; 3],
        triangle_count: u32,
    }
    /// Node of up to four children, which are adjacent in leaf order. Child 0 has the leaves
    /// `first..ends[0]`, child 1 has `ends[0]..ends[1]`, and so on. A child with an empty range is missing. A
    /// child with more leaves than the tree's cutoff is a node, with the index of its first or of its last
    /// leaf.
    ///
    /// The children's boxes are quantised to a grid at `origin` with 255 steps per axis. Each step is a power
    /// of two.
    Node {
        origin: [f32; 3],
        /// Biased float exponents of the grid steps, x in the lowest byte. The highest byte has one bit per
        /// child, which is 1 if the child has the index of its first leaf.
        exponents: u32,
        /// Lower corners of the children in grid steps. One word per axis, first child in the lowest byte.
        lower: [u32; 3],
        first: u32,
        /// Upper corners of the children, packed in the same way.
        upper: [u32; 3],
        mesh: u32,
        ends: [u32; 4],
    }
    /// Triangle in leaf order.
    LeafTriangle {
        v0: [f32; 3],
        /// Triangle index in the merged index buffer.
        triangle: u32,
        v1: [f32; 3],
        /// User data of the triangle. canopy stores the material index.
        payload: u32,
        v2: [f32; 3],
        /// Mesh index, combined with [`ANY_HIT_TEST`].
        mesh: u32,
    }
    /// Sizes that traversal needs.
    TreeInfo {
        /// Number of triangles. Leaves from this index on belong to the TLAS.
        triangle_count: u32,
        mesh_count: u32,
        /// Maximum number of triangles in a range that has no node.
        leaf_cutoff: u32,
    }
    /// Sizes that every build stage needs.
    BuildParams {
        triangle_count: u32,
        mesh_count: u32,
        /// Items to sort: the triangles, followed by the meshes.
        item_count: u32,
        item_triangles: u32,
        /// 1 if all triangles and meshes are built, in their original order.
        all_items: u32,
        /// Bits of the codes along each axis: 10 or fewer, or 21 for codes of 63 bits.
        axis_bits: u32,
        /// Maximum number of triangles in a range that gets no node.
        leaf_cutoff: u32,
        /// Word offsets of the parts of the scratch buffer (`bvh/sorted.wgsl`).
        spans_word: u32,
        across_word: u32,
        list_word: u32,
        level_word: u32,
        /// Triangles per thread of `bounds`, and the stride between them.
        bounds_run: u32,
        bounds_step: u32,
        /// Word offsets of the `ploc` data in the scratch buffer.
        link_word: u32,
        count_word: u32,
        _pad: u32,
        /// Index of the first box of each pyramid level, four levels per row.
        level_offset: [[u32; 4]; 7],
    }
    /// Range of a mesh in the sorted items. `shift` is the offset from these positions to the leaves.
    Span {
        first: u32,
        count: u32,
        shift: u32,
    }
    /// Buffer offsets of one `ploc` level: its input clusters from the previous level, and its output
    /// clusters.
    PlocLevel {
        chunks: u32,
        first_slot: u32,
        row_offset: u32,
        first_word: u32,
        next_slot: u32,
        next_row: u32,
        next_word: u32,
        /// Minimum number of rounds that later levels need, or 0 for the last level.
        rounds_after: u32,
    }
    /// One pass of the radix sort.
    SortParams {
        count: u32,
        /// Blocks of SORT_BLOCK · SORT_ROUNDS pairs, or runs of `run` pairs on software adapters.
        block_count: u32,
        /// First bit of the digit.
        shift: u32,
        /// 1 if the values are the pairs' indices and are not in the buffer yet.
        implied_values: u32,
        run: u32,
        /// Digits that one dispatch of `sort_small` sorts.
        digits: u32,
    }
    /// Ray. Hits lie strictly between `t_min` and `t_max`, in units of the direction's length.
    Ray {
        origin: [f32; 3],
        t_min: f32,
        direction: [f32; 3],
        t_max: f32,
    }
    /// Result of a ray query.
    Hit {
        /// Distance in units of the direction's length, or the ray's `t_max` for a miss.
        t: f32,
        _pad: u32,
        /// Barycentric weights of the triangle's second and third vertex.
        barycentric: [f32; 2],
        /// Index of the mesh among the geometry's ranges, or [`BVH_MISS`] for a miss.
        mesh: u32,
        /// Index of the triangle within that mesh, in the order of the index buffer.
        triangle: u32,
    }
    /// Point on the BVH's triangles that is nearest to a query point.
    Nearest {
        position: [f32; 3],
        /// Distance to the query point, or the search radius if nothing was found.
        distance: f32,
        /// Barycentric weights of the triangle's second and third vertex.
        barycentric: [f32; 2],
        /// Index of the mesh among the geometry's ranges, or [`BVH_MISS`] if nothing was found.
        mesh: u32,
        /// Index of the triangle within that mesh, in the order of the index buffer.
        triangle: u32,
    }
    /// Box-shaped query region. If the lower corner is above the upper one, it touches nothing.
    BoxQuery {
        lower: [f32; 3],
        _pad0: u32,
        upper: [f32; 3],
        _pad1: u32,
    }
    /// Capsule-shaped query region: all points within `radius` of the segment from `a` to `b`. If both ends
    /// are equal, it is a ball. A capsule with a negative radius touches nothing.
    CapsuleQuery {
        a: [f32; 3],
        radius: f32,
        b: [f32; 3],
        _pad: u32,
    }
    /// Frustum of six planes. Each plane is an inward normal, not necessarily of unit length, and an offset.
    /// A point is inside if dot(normal, point) + offset is not negative for any plane.
    FrustumQuery {
        planes: [[f32; 4]; 6],
    }
    /// Object that a region touches.
    Touched {
        /// Index of the region.
        query: u32,
        mesh: u32,
        /// Index of the object within that mesh, in the order of the caller's buffer.
        object: u32,
    }
    /// Pair of touching objects.
    ObjectPair {
        mesh_a: u32,
        /// Index of the object within its mesh.
        object_a: u32,
        mesh_b: u32,
        object_b: u32,
    }
    /// Result of a k-nearest query.
    Neighbour {
        /// Distance from the query point to the object, or the search radius if fewer objects were found.
        distance: f32,
        /// Index of the mesh or set, or [`BVH_MISS`] if fewer objects were found.
        mesh: u32,
        object: u32,
    }
    /// Moving capsule, or a moving ball if `a` and `b` are equal.
    Sweep {
        /// One end of the capsule's axis at the start.
        a: [f32; 3],
        radius: f32,
        b: [f32; 3],
        _pad0: u32,
        /// Total translation of the capsule.
        motion: [f32; 3],
        _pad1: u32,
    }
    /// First contact of a moving capsule.
    Contact {
        /// Unit normal, from the object towards the capsule.
        normal: [f32; 3],
        /// Fraction of the motion at which they touch, or 1 if they do not.
        t: f32,
        /// Contact point on the object.
        position: [f32; 3],
        /// Index of the mesh or set, or [`BVH_MISS`] if nothing is touched.
        mesh: u32,
        object: u32,
        _pad0: u32,
        _pad1: u32,
        _pad2: u32,
    }
    /// Number of triangles that a ray passes through, by side.
    Crossings {
        /// Front faces, which are counterclockwise as seen from the ray's origin.
        fronts: u32,
        backs: u32,
    }
    /// Parameters of a pair query.
    PairQuery {
        count: u32,
        leaf_cutoff: u32,
        /// Capacity of the output, in pairs.
        capacity: u32,
        mask: u32,
        within: u32,
        distinct: u32,
        across: u32,
        descended: u32,
    }
    /// Parameters of one `pairs_descend` dispatch, which descends the tree levels `level..end`.
    DescentQuery {
        level: u32,
        end: u32,
        count: u32,
        within: u32,
        across: u32,
        capacity: u32,
    }
    /// Traversal cost of a ray: visited nodes and tested triangles.
    Visits {
        /// Visited nodes, including nodes of the TLAS.
        nodes: u32,
        triangles: u32,
    }
}

/// Kind of object that a tree is built over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Objects {
    /// Triangles: [`Lbvh`](super::Lbvh).
    #[default]
    Triangles,
    /// Boxes: [`ObjectLbvh`](super::ObjectLbvh).
    Boxes,
    /// Balls. Points are balls of radius 0.
    Balls,
}

impl Objects {
    /// Every kind, in the order of the shader constants.
    pub const ALL: [Self; 3] = [Self::Triangles, Self::Boxes, Self::Balls];

    /// Returns the value of `BVH_OBJECTS` in the shaders.
    pub fn constant(self) -> f64 {
        f64::from(self as u32)
    }
}

impl Node {
    /// Returns the leaf range of a child.
    pub fn leaves(&self, child: usize) -> Range<u32> {
        let first = match child {
            0 => self.first,
            _ => self.ends[child - 1],
        };
        first..self.ends[child]
    }

    /// Returns the node index of a child with several leaves, or the leaf index of a child with one leaf.
    pub fn child(&self, child: usize) -> u32 {
        let leaves = self.leaves(child);
        if self.exponents >> (24 + child) & 1 == 1 {
            leaves.start
        } else {
            leaves.end.wrapping_sub(1)
        }
    }

    /// Returns the corners of a child's dequantised box, which rays are tested against. `None` if the box is
    /// empty or the child is missing.
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
    /// True if the ray hit nothing.
    pub fn is_miss(&self) -> bool {
        self.mesh == BVH_MISS
    }
}
