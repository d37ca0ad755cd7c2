//! CPU references of the laboratory's traversals (shaders/lab/walk_….wgsl, which document the memory layout
//! of each structure), and of the nodes that they visit. Traversals with a stack are recursive on the CPU.

use super::lab_tests::TriangleHit;
use canopy_bvh::accel::layout::{BVH_MARGIN, BVH_MISS, EMPTY_BOX_EXTENT, Ray};
use glam::Vec3;

/// Acceleration structure, as traversals read it.
#[derive(Debug, Clone, Copy)]
pub struct Walked<'a> {
    /// Contents of the WGSL array `nodes`.
    pub rows: &'a [[u32; 4]],
    /// Contents of the WGSL array `links`: parents of binary nodes, or triangle lists of grids and kd-trees.
    pub links: &'a [u32],
    /// Data of each triangle for the test, in the order of the structure.
    pub triangles: &'a [[[f32; 4]; 3]],
    /// Lower and upper corners of the bounding box.
    pub bounds: [Vec3; 2],
    /// Reference of the root.
    pub root: u32,
    /// Number of cells of a grid along each axis.
    pub cells: [u32; 3],
}

/// Ray-triangle test.
pub type Test = fn(&[[f32; 4]; 3], &Ray) -> TriangleHit<f32>;

/// State of a ray's traversal.
#[derive(Debug)]
pub struct Walk<'a> {
    on: Walked<'a>,
    test: Test,
    ray: Ray,
    inverse: Vec3,
    any: bool,
    /// Distance and triangle of the hit. The triangle is `BVH_MISS` without a hit.
    pub hit: (f32, u32),
    /// Number of visited nodes or cells.
    pub nodes: u32,
    /// Number of tested triangles.
    pub triangles: u32,
}

/// Children and the distances at which the ray enters them, the nearer first.
type Children = [(u32, f32); 2];

impl<'a> Walk<'a> {
    /// Starts a traversal. With `any`, it ends at the first hit.
    pub fn new(on: Walked<'a>, test: Test, ray: Ray, any: bool) -> Self {
        let inverse = Vec3::from(ray.direction).to_array().map(|d| {
            let least = if d < 0.0 { -1e-20 } else { 1e-20 };
            1.0 / if d.abs() < 1e-20 { least } else { d }
        });
        Self {
            on,
            test,
            ray,
            inverse: inverse.into(),
            any,
            hit: (ray.t_max, BVH_MISS),
            nodes: 0,
            triangles: 0,
        }
    }

    fn enter(&self, lower: Vec3, upper: Vec3, t_max: f32) -> f32 {
        let origin = Vec3::from(self.ray.origin);
        let (a, b) = ((lower - origin) * self.inverse, (upper - origin) * self.inverse);
        let enter = a.min(b).max_element().max(self.ray.t_min);
        let leave = a.max(b).min_element().min(t_max) * BVH_MARGIN as f32;
        if enter <= leave {
            enter
        } else {
            EMPTY_BOX_EXTENT as f32
        }
    }

    /// Tests a triangle. Returns true if the traversal is over.
    fn tests(&mut self, triangle: u32) -> bool {
        self.triangles += 1;
        let ray = Ray {
            t_max: self.hit.0,
            ..self.ray
        };
        match (self.test)(&self.on.triangles[triangle as usize], &ray) {
            Some([t, ..]) => {
                self.hit = (t, triangle);
                self.any
            }
            None => false,
        }
    }

    fn leaf(&mut self, reference: u32) -> bool {
        let first = reference & 0x0fff_ffff;
        let count = (reference >> 28 & 7) + 1;
        (first..first + count).any(|triangle| self.tests(triangle))
    }

    fn corner(&self, row: u32) -> Vec3 {
        let [x, y, z, _] = self.on.rows[row as usize].map(f32::from_bits);
        Vec3::new(x, y, z)
    }

    fn children(&self, node: u32, t_max: f32) -> Children {
        let child = |number: u32| {
            let row = 4 * node + 2 * number;
            let reference = self.on.rows[(4 * node + number) as usize][3];
            let enter = self.enter(self.corner(row), self.corner(row + 1), t_max);
            (reference, enter)
        };
        let [first, second] = [child(0), child(1)];
        if second.1 < first.1 {
            [second, first]
        } else {
            [first, second]
        }
    }

    /// Traverses like `private-stack` and `workgroup-stack`.
    pub fn with_stack(&mut self) {
        self.below(self.on.root);
    }

    fn below(&mut self, reference: u32) -> bool {
        if is_leaf(reference) {
            return self.leaf(reference);
        }
        self.nodes += 1;
        let children = self.children(reference, self.hit.0);
        let entered = children.map(|(_, enter)| enter < EMPTY_BOX_EXTENT as f32);
        entered[0] && self.below(children[0].0) || entered[1] && self.below(children[1].0)
    }

    /// Traverses like `four-wide`.
    pub fn wide(&mut self) {
        self.below_wide(self.on.root);
    }

    fn below_wide(&mut self, reference: u32) -> bool {
        if is_leaf(reference) {
            return self.leaf(reference);
        }
        self.nodes += 1;
        let row = 7 * reference as usize;
        let mut entered = Vec::new();
        for child in 0..4 {
            let of = |row: usize| f32::from_bits(self.on.rows[row][child]);
            let corner = |first| Vec3::new(of(first), of(first + 1), of(first + 2));
            let next = self.on.rows[row + 6][child];
            let enter = self.enter(corner(row), corner(row + 3), self.hit.0);
            if next != BVH_MISS && enter < EMPTY_BOX_EXTENT as f32 {
                entered.push(((enter.max(0.0).to_bits() & !3, child), next));
            }
        }
        entered.sort_unstable();
        entered.into_iter().any(|(_, next)| self.below_wide(next))
    }

    /// Traverses like `skip-links`.
    pub fn by_skip_links(&mut self) {
        let mut next = self.on.root;
        while next != BVH_MISS {
            self.nodes += 1;
            let (lower, upper) = (self.corner(2 * next), self.corner(2 * next + 1));
            let [behind, leaf] = [2 * next, 2 * next + 1].map(|row| self.on.rows[row as usize][3]);
            let is_entered = self.enter(lower, upper, self.hit.0) < EMPTY_BOX_EXTENT as f32;
            next = if is_entered && leaf == BVH_MISS {
                next + 1
            } else {
                behind
            };
            if is_entered && leaf != BVH_MISS && self.leaf(leaf) {
                return;
            }
        }
    }

    /// True if a box that is entered at this distance is beyond the hit.
    fn is_behind(&self, enter: f32) -> bool {
        enter > self.hit.0 * BVH_MARGIN as f32
    }

    /// Traverses like `parent-links`, which visits a node with two hit children again for the second.
    pub fn by_parent_links(&mut self) {
        self.below_twice(self.on.root);
    }

    fn below_twice(&mut self, reference: u32) -> bool {
        if is_leaf(reference) {
            return self.leaf(reference);
        }
        self.nodes += 1;
        // The two visits must agree, so the boxes are tested against the full length of the ray.
        let [first, second] = self.children(reference, self.ray.t_max);
        if !self.is_behind(first.1) && self.below_twice(first.0) {
            return true;
        }
        if second.1 >= EMPTY_BOX_EXTENT as f32 {
            return false;
        }
        self.nodes += 1;
        !self.is_behind(second.1) && self.below_twice(second.0)
    }

    /// Traverses like `short-stack`, with a bool for each level of the trail.
    pub fn with_restarts(&mut self) {
        let (mut next, mut level) = (self.on.root, 0);
        let mut trail = [false; 64];
        let mut stack: Vec<u32> = Vec::new();
        loop {
            let mut is_done = is_leaf(next);
            if is_done {
                if self.leaf(next) {
                    return;
                }
            } else {
                self.nodes += 1;
                let [first, second] = self.children(next, self.ray.t_max);
                let are_both_hit = second.1 < EMPTY_BOX_EXTENT as f32;
                let is_second = are_both_hit && trail[level];
                if are_both_hit && !is_second {
                    stack.push(second.0);
                    if stack.len() > 4 {
                        stack.remove(0);
                    }
                }
                trail[level] |= !are_both_hit;
                let (reference, enter) = if is_second { second } else { first };
                next = reference;
                level += 1;
                is_done = self.is_behind(enter);
            }
            if is_done {
                let Some(turn) = (0..level).rev().find(|level| !trail[*level]) else {
                    return;
                };
                trail[turn] = true;
                trail[turn + 1..].fill(false);
                level = turn + 1;
                next = stack.pop().unwrap_or_else(|| {
                    level = 0;
                    self.on.root
                });
            }
        }
    }

    /// Traverses like `cells`.
    pub fn cells(&mut self) {
        let [lower, upper] = self.on.bounds;
        let enter = self.enter(lower, upper, self.ray.t_max);
        if enter < EMPTY_BOX_EXTENT as f32 {
            self.through(
                Cells::new(lower, upper, self.on.cells, &self.ray, enter),
                enter,
                0,
            );
        }
    }

    /// Steps through cells, whose triangles are in `links` from cell `first` on.
    fn through(&mut self, mut cells: Cells, mut enter: f32, first: u32) -> bool {
        loop {
            if enter > self.hit.0 {
                return false;
            }
            self.nodes += 1;
            let number = (first + cells.number()) as usize;
            let [begin, end] = [self.on.links[number], self.on.links[number + 1]];
            let within = &self.on.links[begin as usize..end as usize];
            if within.iter().any(|triangle| self.tests(*triangle)) {
                return true;
            }
            match cells.advance(&self.ray, self.inverse) {
                (leave, true) => enter = leave,
                (_, false) => return false,
            }
        }
    }

    /// Traverses like `cells-of-cells`.
    pub fn cells_of_cells(&mut self) {
        let [lower, upper] = self.on.bounds;
        let mut enter = self.enter(lower, upper, self.ray.t_max);
        if enter >= EMPTY_BOX_EXTENT as f32 {
            return;
        }
        let mut cells = Cells::new(lower, upper, self.on.cells, &self.ray, enter);
        while enter <= self.hit.0 {
            self.nodes += 1;
            let [first, sides, ..] = self.on.rows[cells.number() as usize];
            if sides != 0 {
                let lower = cells.lower + Vec3::from(cells.cell.map(|i| i as f32)) * cells.size;
                let count = [0, 10, 20].map(|shift| sides >> shift & 1023);
                let inner = Cells::new(lower, lower + cells.size, count, &self.ray, enter);
                if self.through(inner, enter, first) {
                    return;
                }
            }
            match cells.advance(&self.ray, self.inverse) {
                (leave, true) => enter = leave,
                (_, false) => return,
            }
        }
    }

    /// Traverses like `kd-short-stack`.
    pub fn kd_tree(&mut self) {
        let [lower, upper] = self.on.bounds;
        let mut enter = self.enter(lower, upper, self.ray.t_max);
        if enter >= EMPTY_BOX_EXTENT as f32 {
            return;
        }
        let origin = Vec3::from(self.ray.origin);
        let far = ((lower - origin) * self.inverse).max((upper - origin) * self.inverse);
        let end = far.min_element() * BVH_MARGIN as f32;
        let (mut next, mut leave) = (self.on.root, end);
        let mut stack: Vec<(u32, f32)> = Vec::new();
        while enter <= self.hit.0 {
            self.nodes += 1;
            let [axis, plane, below, above] = self.on.rows[next as usize];
            if axis == 3 {
                let within = &self.on.links[plane as usize..below as usize];
                if within.iter().any(|triangle| self.tests(*triangle)) || leave >= end {
                    return;
                }
                enter = leave;
                (next, leave) = stack.pop().unwrap_or((self.on.root, end));
                continue;
            }
            let axis = axis as usize;
            let t = (f32::from_bits(plane) - origin[axis]) * self.inverse[axis];
            let [near, beyond] = match self.inverse[axis] > 0.0 {
                true => [below, above],
                false => [above, below],
            };
            if t <= enter {
                next = beyond;
            } else if t >= leave {
                next = near;
            } else {
                stack.push((beyond, leave));
                if stack.len() > 4 {
                    stack.remove(0);
                }
                (next, leave) = (near, t);
            }
        }
    }
}

fn is_leaf(reference: u32) -> bool {
    reference >> 31 == 1
}

/// Position of a ray in a grid of cells.
struct Cells {
    lower: Vec3,
    size: Vec3,
    count: [i32; 3],
    cell: [i32; 3],
}

impl Cells {
    fn new(lower: Vec3, upper: Vec3, count: [u32; 3], ray: &Ray, t: f32) -> Self {
        let count = count.map(|side| side.max(1) as i32);
        let size = (upper - lower) / Vec3::from(count.map(|side| side as f32));
        let at = (Vec3::from(ray.origin) + t * Vec3::from(ray.direction) - lower) / size;
        let cell = |axis: usize| (at[axis].floor() as i32).clamp(0, count[axis] - 1);
        Self {
            lower,
            size,
            count,
            cell: [0, 1, 2].map(cell),
        }
    }

    fn number(&self) -> u32 {
        let [[x, y, z], [nx, ny, _]] = [self.cell, self.count];
        (x + nx * (y + ny * z)) as u32
    }

    /// Moves to the next cell. Returns the distance at which the ray leaves the cell, and whether the next
    /// cell exists.
    fn advance(&mut self, ray: &Ray, inverse: Vec3) -> (f32, bool) {
        let ahead = |axis: usize| (self.cell[axis] + i32::from(inverse[axis] > 0.0)) as f32;
        let ahead = Vec3::new(ahead(0), ahead(1), ahead(2));
        let leave = (self.lower + ahead * self.size - Vec3::from(ray.origin)) * inverse;
        let first = leave.min_element();
        let axis = (0..2).find(|axis| leave[*axis] == first).unwrap_or(2);
        self.cell[axis] += if inverse[axis] > 0.0 { 1 } else { -1 };
        (first, (0..self.count[axis]).contains(&self.cell[axis]))
    }
}
