//! Uniform and two-level grids on the CPU.

use super::{Triangle, layout::StructureData};
use crate::data::{GRID_LOWER_DENSITY, GRID_LOWER_SIDE, GRID_MIN, GRID_SLACK};
use canopy_bvh::{Error, Result};
use canopy_scene::bounds::Aabb;
use glam::Vec3;

/// Cells per triangle of a uniform grid.
const DENSITY: f32 = 4.0;
/// Cells per triangle of the upper level of a two-level grid.
const UPPER_DENSITY: f32 = 0.25;
/// Maximum number of cells along an axis.
const SIDE_MAX: f32 = 256.0;
/// Maximum number of cells, and of triangle references in all cells.
const LINKS_MAX: usize = 1 << 26;

/// Box that is divided into a grid of equal cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cells {
    bounds: Aabb,
    pub(super) count: [u32; 3],
}

impl Cells {
    /// Divides `bounds` into about `density` cells per triangle, as close to cubes as possible, with at most
    /// `most` cells along an axis.
    fn new(bounds: Aabb, triangles: usize, density: f32, most: f32) -> Self {
        let extent = bounds.max - bounds.min;
        let least = Vec3::splat(extent.max_element() * 1e-3).max(Vec3::splat(GRID_MIN as f32));
        let extent = extent.max(least);
        let scale = (density * triangles as f32 / extent.element_product()).cbrt();
        let count = (extent * scale).round().clamp(Vec3::ONE, Vec3::splat(most));
        Self {
            bounds,
            count: count.to_array().map(|side| side as u32),
        }
    }

    /// Creates the cells of a uniform grid.
    pub(super) fn uniform(bounds: Aabb, triangles: usize) -> Self {
        Self::new(bounds, triangles, DENSITY, SIDE_MAX)
    }

    /// Creates the cells of the upper level of a two-level grid.
    pub(super) fn upper(bounds: Aabb, triangles: usize) -> Self {
        Self::new(bounds, triangles, UPPER_DENSITY, SIDE_MAX)
    }

    pub(super) fn len(&self) -> usize {
        self.count.map(|side| side as usize).iter().product()
    }

    fn size(&self) -> Vec3 {
        let count = Vec3::from(self.count.map(|side| side as f32));
        (self.bounds.max - self.bounds.min) / count
    }

    /// Creates the inner cells of cell `number`, which contains `triangles` triangles.
    pub(super) fn lower(&self, number: usize, triangles: usize) -> Self {
        let (density, most) = (GRID_LOWER_DENSITY as f32, GRID_LOWER_SIDE as f32);
        Self::new(self.cell(number), triangles, density, most)
    }

    /// Returns the number of cells that the box of a triangle overlaps.
    pub(super) fn touched_count(&self, triangle: &Triangle) -> usize {
        let [first, end] = self.span(triangle);
        (0..3).map(|axis| end[axis] - first[axis] + 1).product()
    }

    /// Returns the first and last cell along each axis that the box of a triangle overlaps.
    fn span(&self, triangle: &Triangle) -> [[usize; 3]; 2] {
        let (around, slack) = (Aabb::from_points(*triangle), GRID_SLACK as f32);
        let count = Vec3::from(self.count.map(|side| side as f32));
        let (scale, last) = (count / (self.bounds.max - self.bounds.min), count - 1.0);
        let cell = |corner: Vec3, slack: f32| {
            let at = (corner - self.bounds.min) * scale + slack;
            at.floor().clamp(Vec3::ZERO, last).to_array().map(|i| i as usize)
        };
        [cell(around.min, -slack), cell(around.max, slack)]
    }

    /// Returns the cells that the box of a triangle overlaps.
    fn touched(&self, triangle: &Triangle) -> impl Iterator<Item = usize> + use<> {
        let [first, end] = self.span(triangle);
        let [nx, ny, _] = self.count.map(|side| side as usize);
        (first[2]..=end[2]).flat_map(move |z| {
            (first[1]..=end[1]).flat_map(move |y| (first[0]..=end[0]).map(move |x| x + nx * (y + ny * z)))
        })
    }

    /// Returns the triangles of each cell.
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

    /// Returns the box of a cell.
    fn cell(&self, number: usize) -> Aabb {
        let [nx, ny, _] = self.count.map(|side| side as usize);
        let at = [number % nx, number / nx % ny, number / nx / ny].map(|i| i as f32);
        let size = self.size();
        let min = self.bounds.min + Vec3::from(at) * size;
        Aabb { min, max: min + size }
    }
}

/// Returns the box of a grid over `bounds`, enlarged a little so that it is not flat.
pub(super) fn around(bounds: Aabb) -> Aabb {
    let extent = (bounds.max - bounds.min).max_element().max(1e-30);
    let margin = 1e-4 * extent + 1e-6 * bounds.min.abs().max(bounds.max.abs()).max_element();
    Aabb {
        min: bounds.min - margin,
        max: bounds.max + margin,
    }
}

/// Fails if a grid would exceed [`LINKS_MAX`] references.
pub(super) fn check_links(count: usize) -> Result<()> {
    if count <= LINKS_MAX {
        return Ok(());
    }
    Err(Error::Limit {
        what: "triangles in cells".into(),
        needed: format!("more than {LINKS_MAX}"),
        allowed: format!("{LINKS_MAX}"),
        by: "the laboratory".into(),
    })
}

/// Concatenates the triangle lists of all cells. First come the offset of each list and the end of the last
/// list, then the lists.
fn links(cells: &[Vec<u32>]) -> Vec<u32> {
    let mut begin = (cells.len() + 1) as u32;
    let mut links = Vec::with_capacity(cells.len() + 1);
    for cell in cells {
        links.push(begin);
        begin += cell.len() as u32;
    }
    links.push(begin);
    links.extend(cells.iter().flatten());
    links
}

/// Builds a uniform grid over `triangles`.
///
/// # Errors
///
/// [`Error::Limit`] if triangles overlap too many cells.
pub fn uniform(triangles: &[Triangle]) -> Result<StructureData> {
    let bounds = around(Aabb::from_points(triangles.iter().flatten().copied()));
    let cells = Cells::uniform(bounds, triangles.len());
    let numbers: Vec<u32> = (0..triangles.len() as u32).collect();
    let mut built = StructureData::in_order(bounds, cells.count, triangles.len());
    built.links = links(&cells.fill(triangles, &numbers)?);
    built.node_bytes = 4;
    built.node_count = cells.len() as u32;
    Ok(built)
}

/// Builds a two-level grid over `triangles`.
///
/// # Errors
///
/// Any error of [`uniform`].
pub fn two_level(triangles: &[Triangle]) -> Result<StructureData> {
    let bounds = around(Aabb::from_points(triangles.iter().flatten().copied()));
    let cells = Cells::upper(bounds, triangles.len());
    let numbers: Vec<u32> = (0..triangles.len() as u32).collect();
    let mut built = StructureData::in_order(bounds, cells.count, triangles.len());
    let mut all_within = Vec::new();
    for (number, within) in cells.fill(triangles, &numbers)?.iter().enumerate() {
        if within.is_empty() {
            built.rows.push([0; 4]);
            continue;
        }
        let inner = cells.lower(number, within.len());
        let [x, y, z] = inner.count;
        let first = all_within.len() as u32;
        built.rows.push([first, x | y << 10 | z << 20, 0, 0]);
        all_within.extend(inner.fill(triangles, within)?);
        check_links(all_within.len())?;
    }
    built.links = links(&all_within);
    check_links(built.links.len())?;
    built.node_count = (cells.len() + all_within.len()) as u32;
    built.node_bytes = 4;
    Ok(built)
}
