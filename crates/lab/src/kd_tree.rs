//! Binned SAH build of a kd-tree on the CPU (MacDonald and Booth 1990, and Wald and Havran 2006, with bins
//! instead of their exact planes).

use super::{
    Triangle,
    binary_tree::area,
    grid::{around, check_links},
    layout::StructureData,
};
use canopy_bvh::Result;
use canopy_scene::bounds::Aabb;

/// Number of candidate planes along an axis.
const PLANES: usize = 31;
/// Cost of a node, in triangle tests.
const NODE_COST: f64 = 1.0;
/// Factor on the tests if a split leaves one side empty. The node itself has its full cost. Without the
/// factor, thin slices of empty space around a single triangle would be split off repeatedly.
const EMPTY_SHARE: f64 = 0.8;
/// Fraction of the box's longest edge by which triangles are extended across a plane, against rounding errors
/// of rays.
const SLACK: f32 = 1e-5;
/// Value of the axis field that marks a leaf.
const LEAF: u32 = 3;

/// Builds the tree over `triangles`.
///
/// # Errors
///
/// [`Error::Limit`](canopy_bvh::Error::Limit) if triangles overlap too many leaves.
pub fn build(triangles: &[Triangle]) -> Result<StructureData> {
    let boxes: Vec<Aabb> = triangles.iter().map(|t| Aabb::from_points(*t)).collect();
    let bounds = around(Aabb::from_points(triangles.iter().flatten().copied()));
    let slack = SLACK * (bounds.max - bounds.min).max_element();
    let mut built = StructureData::in_order(bounds, [1; 3], triangles.len());
    let deepest = 8 + (1.3 * (triangles.len() as f32).log2()) as u32;
    let all: Vec<u32> = (0..triangles.len() as u32).collect();
    built.rows.push([0; 4]);
    let mut pending = vec![(0, bounds, all, 0)];
    while let Some((at, bounds, within, depth)) = pending.pop() {
        built.levels = built.levels.max(depth);
        let best = match depth < deepest {
            true => plane(bounds, &within, &boxes),
            false => None,
        };
        let Some((axis, at_plane)) = best else {
            let first = built.links.len() as u32;
            built.links.extend(&within);
            check_links(built.links.len())?;
            built.rows[at] = [LEAF, first, built.links.len() as u32, 0];
            continue;
        };
        let child = built.rows.len();
        built.rows.resize(child + 2, [0; 4]);
        built.rows[at] = [axis as u32, at_plane.to_bits(), child as u32, child as u32 + 1];
        let (mut below, mut above) = (bounds, bounds);
        below.max[axis] = at_plane;
        above.min[axis] = at_plane;
        let of = |reaches: &dyn Fn(&Aabb) -> bool| -> Vec<u32> {
            let reaching = within.iter().filter(|t| reaches(&boxes[**t as usize]));
            reaching.copied().collect()
        };
        let low = of(&|b: &Aabb| b.min[axis] <= at_plane + slack);
        let high = of(&|b: &Aabb| b.max[axis] >= at_plane - slack);
        pending.push((child, below, low, depth + 1));
        pending.push((child + 1, above, high, depth + 1));
    }
    built.counts_nodes(16);
    Ok(built)
}

/// Returns the axis and position of the best candidate plane through a node, if it costs less than a leaf.
fn plane(bounds: Aabb, within: &[u32], boxes: &[Aabb]) -> Option<(usize, f32)> {
    let whole = area(bounds);
    let count = within.len() as f64;
    let mut best = (count, None);
    for axis in 0..3 {
        let (low, extent) = (bounds.min[axis], bounds.max[axis] - bounds.min[axis]);
        let step = extent / (PLANES + 1) as f32;
        // A step below the float precision yields no plane, and neither does a box without area.
        if low + step <= low || whole <= 0.0 {
            continue;
        }
        // For each interval between planes, counts the triangles whose lower or upper end lies in it.
        let mut begins = [0_u32; PLANES + 2];
        let mut ends = [0_u32; PLANES + 2];
        for triangle in within {
            let b = &boxes[*triangle as usize];
            let behind = |at: f32| (((at - low) / step).ceil()).clamp(0.0, (PLANES + 1) as f32) as usize;
            begins[behind(b.min[axis])] += 1;
            ends[behind(b.max[axis])] += 1;
        }
        let (mut below, mut above) = (f64::from(begins[0]), count - f64::from(ends[0]));
        for number in 1..=PLANES {
            below += f64::from(begins[number]);
            above -= f64::from(ends[number]);
            let at = low + step * number as f32;
            let (mut left, mut right) = (bounds, bounds);
            left.max[axis] = at;
            right.min[axis] = at;
            let mut tests = (below * area(left) + above * area(right)) / whole;
            if below == 0.0 || above == 0.0 {
                tests *= EMPTY_SHARE;
            }
            let cost = NODE_COST + tests;
            if cost < best.0 {
                best = (cost, Some((axis, at)));
            }
        }
    }
    best.1
}
