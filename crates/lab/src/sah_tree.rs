//! Binned SAH build of a binary tree on the CPU (Wald 2007).

use super::{
    Triangle,
    binary_tree::{BinaryNode, BinaryTree, area},
};
use canopy_scene::bounds::Aabb;
use glam::Vec3;

/// Number of bins along an axis.
const BINS: usize = 16;

/// Builds the tree over `triangles`, which must not be empty, down to leaves of one triangle.
pub fn build(triangles: &[Triangle]) -> BinaryTree {
    let boxes: Vec<Aabb> = triangles.iter().map(|t| Aabb::from_points(*t)).collect();
    let count = triangles.len() as u32;
    let mut tree = BinaryTree {
        nodes: vec![BinaryNode::new(0..count)],
        order: (0..count).collect(),
    };
    let mut pending = vec![0];
    while let Some(at) = pending.pop() {
        let leaves = tree.nodes[at].leaves.clone();
        if leaves.len() <= 1 {
            continue;
        }
        let start = leaves.start;
        let order = &mut tree.order[start as usize..leaves.end as usize];
        let middle = start + partition(order, &boxes) as u32;
        let first = tree.split(at, middle);
        pending.extend([first, first + 1]);
    }
    tree.fit(triangles);
    tree
}

/// Partitions `order` at the cheapest split, or into halves if the centroids coincide. Returns the size of
/// the first part.
fn partition(order: &mut [u32], boxes: &[Aabb]) -> usize {
    let center = |triangle: &u32| boxes[*triangle as usize].center();
    let centers = Aabb::from_points(order.iter().map(center));
    let extent = centers.max - centers.min;
    let bin = |center: Vec3, axis: usize| {
        let share = (center[axis] - centers.min[axis]) / extent[axis];
        ((share * BINS as f32) as usize).min(BINS - 1)
    };
    let mut best = (f64::INFINITY, 0, 0);
    for axis in (0..3).filter(|axis| extent[*axis] > 0.0) {
        let mut bins = [(Aabb::EMPTY, 0); BINS];
        for triangle in order.iter() {
            let (bounds, count) = &mut bins[bin(center(triangle), axis)];
            *bounds = bounds.union(boxes[*triangle as usize]);
            *count += 1;
        }
        let swept = |bins: &mut dyn Iterator<Item = &(Aabb, u32)>| -> Vec<f64> {
            let mut all = (Aabb::EMPTY, 0);
            let mut costs = Vec::with_capacity(BINS);
            for (bounds, count) in bins {
                all = (all.0.union(*bounds), all.1 + count);
                costs.push(area(all.0) * f64::from(all.1));
            }
            costs
        };
        let below = swept(&mut bins.iter());
        let above = swept(&mut bins.iter().rev());
        for plane in 1..BINS {
            let cost = below[plane - 1] + above[BINS - 1 - plane];
            if below[plane - 1] > 0.0 && above[BINS - 1 - plane] > 0.0 && cost < best.0 {
                best = (cost, axis, plane);
            }
        }
    }
    let (_, axis, plane) = best;
    let mut middle = 0;
    if plane > 0 {
        for i in 0..order.len() {
            if bin(center(&order[i]), axis) < plane {
                order.swap(i, middle);
                middle += 1;
            }
        }
    }
    match middle {
        0 => order.len() / 2,
        middle if middle == order.len() => order.len() / 2,
        middle => middle,
    }
}
