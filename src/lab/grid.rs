//! Uniform grids, and grids of grids, on the CPU.

use super::{Triangle, layout::Built};
use crate::{Error, Result, scene::bounds::Aabb};
use glam::Vec3;

/// Cells for each triangle of a uniform grid.
const DENSITY: f32 = 4.0;
/// Cells for each triangle of the upper level of two, and of the lower.
const UPPER_DENSITY: f32 = 0.25;
const LOWER_DENSITY: f32 = 2.0;
/// Cells along an axis, at most.
const SIDE_MOST: f32 = 256.0;
const LOWER_SIDE_MOST: f32 = 64.0;
/// Cells and triangles in them, at most.
const LINKS_MOST: usize = 1 << 26;
/// Share of a cell by which triangles reach into the next one, for what rounding does to rays.
const SLACK: f32 = 1e-3;

/// A box in cells.
#[derive(Debug, Clone, Copy)]
struct Cells {
    bounds: Aabb,
    count: [u32; 3],
}

impl Cells {
    /// About `density` cells for each of `triangles`, as near to cubes as it goes.
    fn new(bounds: Aabb, triangles: usize, density: f32, most: f32) -> Self {
        let extent = bounds.max - bounds.min;
        let least = Vec3::splat(extent.max_element() * 1e-3).max(Vec3::splat(f32::MIN_POSITIVE));
        let extent = extent.max(least);
        let scale = (density * triangles as f32 / extent.element_product()).cbrt();
        let count = (extent * scale).round().clamp(Vec3::ONE, Vec3::splat(most));
        Self {
            bounds,
            count: count.to_array().map(|side| side as u32),
        }
    }

    fn len(&self) -> usize {
        self.count.map(|side| side as usize).iter().product()
    }

    fn size(&self) -> Vec3 {
        let count = Vec3::from(self.count.map(|side| side as f32));
        (self.bounds.max - self.bounds.min) / count
    }

    /// The cells that the box of a triangle touches.
    fn touched(&self, triangle: &Triangle) -> impl Iterator<Item = usize> + use<> {
        let (size, around) = (self.size(), Aabb::of(*triangle));
        let last = Vec3::from(self.count.map(|side| side as f32 - 1.0));
        let cell = |corner: Vec3, slack: f32| {
            let at = (corner - self.bounds.min) / size + slack;
            at.floor()
                .clamp(Vec3::ZERO, last)
                .to_array()
                .map(|i| i as usize)
        };
        let (first, end) = (cell(around.min, -SLACK), cell(around.max, SLACK));
        let [nx, ny, _] = self.count.map(|side| side as usize);
        (first[2]..=end[2]).flat_map(move |z| {
            (first[1]..=end[1])
                .flat_map(move |y| (first[0]..=end[0]).map(move |x| x + nx * (y + ny * z)))
        })
    }

    /// The triangles of each cell.
    fn fill(&self, triangles: &[Triangle], numbers: &[u32]) -> Result<Vec<Vec<u32>>> {
        let mut cells = vec![Vec::new(); self.len()];
        let mut count = 0;
        for number in numbers {
            for cell in self.touched(&triangles[*number as usize]) {
                cells[cell].push(*number);
                count += 1;
            }
            check_links(count)?;
        }
        Ok(cells)
    }

    /// The box of a cell.
    fn cell(&self, number: usize) -> Aabb {
        let [nx, ny, _] = self.count.map(|side| side as usize);
        let at = [number % nx, number / nx % ny, number / nx / ny].map(|i| i as f32);
        let size = self.size();
        let min = self.bounds.min + Vec3::from(at) * size;
        Aabb {
            min,
            max: min + size,
        }
    }
}

/// The box of a grid over `bounds`, a little larger, and not flat.
pub(super) fn around(bounds: Aabb) -> Aabb {
    let extent = (bounds.max - bounds.min).max_element().max(1e-30);
    let margin = 1e-4 * extent + 1e-6 * bounds.min.abs().max(bounds.max.abs()).max_element();
    Aabb {
        min: bounds.min - margin,
        max: bounds.max + margin,
    }
}

/// Fails for more links than a grid may have.
pub(super) fn check_links(count: usize) -> Result<()> {
    if count <= LINKS_MOST {
        return Ok(());
    }
    Err(Error::Limit {
        what: "triangles in cells".into(),
        needed: format!("more than {LINKS_MOST}"),
        allowed: format!("{LINKS_MOST}"),
        by: "the laboratory".into(),
    })
}

/// Where each cell's triangles begin, one more, and those triangles, for a list that begins at `first`.
fn links(cells: &[Vec<u32>], first: usize) -> Vec<u32> {
    let mut begin = (first + cells.len() + 1) as u32;
    let mut links = Vec::with_capacity(cells.len() + 1);
    for cell in cells {
        links.push(begin);
        begin += cell.len() as u32;
    }
    links.push(begin);
    links.extend(cells.iter().flatten());
    links
}

/// A uniform grid over `triangles`.
///
/// # Errors
///
/// [`Error::Limit`] where triangles lie in too many cells.
pub fn uniform(triangles: &[Triangle]) -> Result<Built> {
    let bounds = around(Aabb::of(triangles.iter().flatten().copied()));
    let cells = Cells::new(bounds, triangles.len(), DENSITY, SIDE_MOST);
    let numbers: Vec<u32> = (0..triangles.len() as u32).collect();
    let mut built = Built::in_order(bounds, cells.count, triangles.len());
    built.links = links(&cells.fill(triangles, &numbers)?, 0);
    built.node_bytes = 4;
    built.node_count = cells.len() as u32;
    Ok(built)
}

/// A grid of grids over `triangles`.
///
/// # Errors
///
/// As [`uniform`].
pub fn two_level(triangles: &[Triangle]) -> Result<Built> {
    let bounds = around(Aabb::of(triangles.iter().flatten().copied()));
    let cells = Cells::new(bounds, triangles.len(), UPPER_DENSITY, SIDE_MOST);
    let numbers: Vec<u32> = (0..triangles.len() as u32).collect();
    let mut built = Built::in_order(bounds, cells.count, triangles.len());
    built.node_count = cells.len() as u32;
    for (number, within) in cells.fill(triangles, &numbers)?.iter().enumerate() {
        if within.is_empty() {
            built.rows.push([0; 4]);
            continue;
        }
        let inner = Cells::new(
            cells.cell(number),
            within.len(),
            LOWER_DENSITY,
            LOWER_SIDE_MOST,
        );
        let [x, y, z] = inner.count;
        let first = built.links.len();
        built.rows.push([first as u32, x | y << 10 | z << 20, 0, 0]);
        built
            .links
            .extend(links(&inner.fill(triangles, within)?, first));
        built.node_count += inner.len() as u32;
        check_links(built.links.len())?;
    }
    built.node_bytes = 4;
    Ok(built)
}
