//! A coarse voxel grid over a scene. It finds the connected parts of the scene, and detects rooms that are
//! closed to the outside.

use crate::{animation::Pose, bounds::Aabb, deform::deformed, graph::Scene};
use glam::{IVec3, Vec3};
use std::ops::Range;

/// Number of cells along the longest side of the scene.
const SIDE: i32 = 48;

/// Maximum total number of triangle samples. A triangle has two samples per cell along each edge. Past the
/// maximum, it has only one, because a file may have millions of triangles that span the scene.
const MAX_SAMPLES: usize = 20_000_000;

/// Maximum fraction of the surface area that may lie outside the first view.
const STRAY_SHARE: f32 = 0.02;

/// Minimum fraction of the surface that faces the inside of a room. A car or a house also has an outside.
const INWARD_SHARE: f32 = 0.85;

/// Minimum fraction of the scene's bounding box that the inside of a room fills.
const ROOM_SHARE: f32 = 0.05;

/// Range of diagonals of rooms and buildings, in metres.
const ROOM_DIAGONALS: Range<f32> = 4.0..1e4;

/// Maximum ratio of a room's height to its longer side.
const MAX_ROOM_HEIGHT: f32 = 0.75;

/// Height of a person's eyes above the floor, in metres.
const EYE_HEIGHT: f32 = 1.6;

/// Surface data of a cell.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// True if a triangle sample or a triangle corner lies in it.
    is_filled: bool,
    /// Surface area in it, in square metres.
    area: f32,
    /// Area-weighted sum of its normals.
    normal: Vec3,
    /// True if a path through empty cells leads from outside to the cell.
    is_outside: bool,
}

/// A scene in cells, with a border of empty cells.
#[derive(Debug)]
pub(crate) struct Cells {
    cells: Vec<Cell>,
    size: IVec3,
    /// Minimum corner of the first cell.
    min: Vec3,
    /// Side of a cell in metres.
    side: f32,
}

/// Viewpoint inside a room.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct InsideView {
    pub(crate) eye: Vec3,
    pub(crate) direction: Vec3,
}

impl Cells {
    /// Voxelizes the scene in `pose`, whose bounds are `bounds`. Returns `None` if the scene has no extent.
    pub(crate) fn new(scene: &Scene, pose: &Pose, bounds: Aabb) -> Option<Self> {
        let extent = bounds.max - bounds.min;
        let side = extent.max_element() / SIDE as f32;
        if bounds.is_empty() || !side.is_normal() || !extent.is_finite() {
            return None;
        }
        let size = (extent / side).ceil().as_ivec3().max(IVec3::ONE) + 2;
        let mut cells = Self {
            cells: vec![Cell::default(); size.element_product() as usize],
            size,
            min: bounds.min - side,
            side,
        };
        let mut samples = 0;
        for part in deformed(scene, pose) {
            for triangle in part.triangles() {
                let corners = triangle.map(|vertex| part.positions[vertex as usize]);
                cells.add(corners, &mut samples);
            }
        }
        cells.reach_outside();
        Some(cells)
    }

    fn add(&mut self, [a, b, c]: [Vec3; 3], samples: &mut usize) {
        let doubled = (b - a).cross(c - a);
        if !doubled.is_finite() {
            return;
        }
        let longest = (b - a).length().max((c - a).length()).max((c - b).length());
        let wanted = (2.0 * longest / self.side).ceil().max(1.0) as usize;
        let steps = if *samples < MAX_SAMPLES { wanted } else { 1 };
        let count = steps * (steps + 1) / 2;
        *samples += count;
        let share = 0.5 * doubled / count as f32;
        // Corners are filled explicitly, because samples may fall into other cells.
        for corner in [a, b, c] {
            let at = self.index(self.cell_of(corner));
            self.cells[at].is_filled = true;
        }
        for i in 0..steps {
            for j in 0..steps - i {
                let [u, v] = [i, j].map(|k| (k as f32 + 1.0 / 3.0) / steps as f32);
                let cell = self.cell_of(a + (b - a) * u + (c - a) * v);
                let at = self.index(cell);
                self.cells[at].is_filled = true;
                self.cells[at].area += share.length();
                self.cells[at].normal += share;
            }
        }
    }

    /// Returns the size of the grid without its border, in metres. It exceeds the scene's size by up to a
    /// cell.
    fn extent(&self) -> Vec3 {
        self.side * (self.size - 2).as_vec3()
    }

    fn cell_of(&self, point: Vec3) -> IVec3 {
        let cell = ((point - self.min) / self.side).floor().as_ivec3();
        cell.clamp(IVec3::ZERO, self.size - 1)
    }

    fn index(&self, cell: IVec3) -> usize {
        (cell.x + self.size.x * (cell.y + self.size.y * cell.z)) as usize
    }

    fn cell_at(&self, index: usize) -> IVec3 {
        let index = index as i32;
        let row = index / self.size.x;
        IVec3::new(index % self.size.x, row % self.size.y, row / self.size.y)
    }

    fn center(&self, cell: IVec3) -> Vec3 {
        self.min + self.side * (cell.as_vec3() + 0.5)
    }

    fn holds(&self, cell: IVec3) -> bool {
        cell.cmpge(IVec3::ZERO).all() && cell.cmplt(self.size).all()
    }

    /// Flood fill: returns the cells that can be reached from `start` through neighbours for which `passes`
    /// holds.
    fn connected(
        &self,
        start: usize,
        steps: &[IVec3],
        seen: &mut [bool],
        passes: impl Fn(&Cell) -> bool,
    ) -> Vec<usize> {
        let mut found = vec![start];
        seen[start] = true;
        let mut next = 0;
        while let Some(&at) = found.get(next) {
            next += 1;
            let cell = self.cell_at(at);
            for neighbour in steps.iter().map(|step| cell + *step) {
                if !self.holds(neighbour) {
                    continue;
                }
                let at = self.index(neighbour);
                if !seen[at] && passes(&self.cells[at]) {
                    seen[at] = true;
                    found.push(at);
                }
            }
        }
        found
    }

    /// Marks the cells that can be reached from the border through empty cells.
    fn reach_outside(&mut self) {
        let mut seen = vec![false; self.cells.len()];
        for at in self.connected(0, &sides(), &mut seen, |cell| !cell.is_filled) {
            self.cells[at].is_outside = true;
        }
    }

    /// Returns the ranges of `positions` that belong to the main part of the scene. Small, distant parts are
    /// left out, such as a piece next to its chess board. Returns `None` if there are none.
    pub(crate) fn main_part(&self, positions: &[Vec3]) -> Option<Vec<Range<usize>>> {
        let mut seen = vec![false; self.cells.len()];
        let mut parts = Vec::new();
        for start in 0..self.cells.len() {
            if self.cells[start].is_filled && !seen[start] {
                let part = self.connected(start, &neighbours(), &mut seen, |cell| cell.is_filled);
                let area: f32 = part.iter().map(|at| self.cells[*at].area).sum();
                parts.push((area, part));
            }
        }
        parts.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut left: f32 = STRAY_SHARE * parts.iter().map(|(area, _)| area).sum::<f32>();
        let mut is_stray = vec![false; self.cells.len()];
        for (area, part) in &parts {
            left -= area;
            if left < 0.0 {
                break;
            }
            part.iter().for_each(|at| is_stray[*at] = true);
        }
        let strays = |point: &Vec3| is_stray[self.index(self.cell_of(*point))];
        let is_whole = positions.is_empty() || !positions.iter().any(strays);
        if is_whole || positions.iter().all(strays) {
            return None;
        }
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for index in (0..positions.len()).filter(|index| !strays(&positions[*index])) {
            match ranges.last_mut() {
                Some(last) if last.end == index => last.end += 1,
                _ => ranges.push(index..index + 1),
            }
        }
        Some(ranges)
    }

    /// Returns a viewpoint inside if the scene is a room. A room has a typical size and shape, is closed to
    /// the outside, and has hardly any surface that faces outside. An object with inverted winding also faces
    /// its inside, but must be seen from outside.
    pub(crate) fn inside(&self) -> Option<InsideView> {
        let extent = self.extent();
        let is_like_a_room =
            ROOM_DIAGONALS.contains(&extent.length()) && extent.y < MAX_ROOM_HEIGHT * extent.x.max(extent.z);
        if !is_like_a_room {
            return None;
        }
        let [mut inward, mut outward] = [0.0; 2];
        for (at, cell) in self.cells.iter().enumerate() {
            let Some(normal) = cell.normal.try_normalize() else {
                continue;
            };
            let faced = self.center(self.cell_at(at)) + 1.8 * self.side * normal;
            let faced = self.cells[self.index(self.cell_of(faced))];
            if faced.is_filled {
                continue;
            }
            match faced.is_outside {
                true => outward += cell.normal.length(),
                false => inward += cell.normal.length(),
            }
        }
        let is_empty = |cell: &Cell| !cell.is_filled && !cell.is_outside;
        let mut seen = vec![false; self.cells.len()];
        let mut room = Vec::new();
        for start in 0..self.cells.len() {
            if is_empty(&self.cells[start]) && !seen[start] {
                let found = self.connected(start, &sides(), &mut seen, is_empty);
                if found.len() > room.len() {
                    room = found;
                }
            }
        }
        let whole = (self.size - 2).element_product() as f32;
        let is_room = inward > INWARD_SHARE * (inward + outward) && room.len() as f32 > ROOM_SHARE * whole;
        is_room.then(|| self.best_viewpoint(&room)).flatten()
    }

    /// Finds the viewpoint in `room` with the widest view. Candidates keep their distance from walls. Those
    /// at eye height above a floor are preferred.
    fn best_viewpoint(&self, room: &[usize]) -> Option<InsideView> {
        let is_free = |cell: IVec3, clearance: i32| {
            let steps = neighbours().into_iter().map(|step| step * clearance);
            let mut cells = steps.map(|step| cell + step);
            cells.all(|c| self.holds(c) && !self.cells[self.index(c)].is_filled)
        };
        let eye_height = EYE_HEIGHT.min(0.5 * self.extent().y);
        let candidates = |clearance: i32| -> Vec<IVec3> {
            let cells = room.iter().map(|at| self.cell_at(*at));
            cells.filter(|cell| is_free(*cell, clearance)).collect()
        };
        let places = [2, 1, 0].map(candidates);
        let places = places.iter().find(|places| !places.is_empty())?;
        let every = places.len().div_ceil(MAX_PLACES);
        let mut best: Option<(f32, InsideView)> = None;
        for cell in places.iter().step_by(every) {
            let above = self.distance(*cell, Vec3::NEG_Y);
            let unusual = (above - eye_height).abs() / eye_height.max(self.side);
            for turn in 0..TURNS {
                let angle = std::f32::consts::TAU * turn as f32 / TURNS as f32;
                let direction = Vec3::new(angle.sin(), -0.08, angle.cos());
                let aside = direction.cross(Vec3::Y) * 0.35;
                let lift = Vec3::Y * 0.25;
                let rays = [-2.0, -1.0, 0.0, 1.0, 2.0]
                    .into_iter()
                    .flat_map(|x| [-1.0, 0.0, 1.0].map(|y| direction + aside * x + lift * y));
                let seen: f32 = rays.map(|ray| self.distance(*cell, ray.normalize())).sum();
                let score = seen / (1.0 + unusual);
                if best.is_none_or(|(most, _)| score > most) {
                    let eye = self.center(*cell);
                    best = Some((score, InsideView { eye, direction }));
                }
            }
        }
        best.map(|(_, inside)| inside)
    }

    /// Returns the distance in metres from the centre of `cell` along `direction` to the next surface, or to
    /// the end of the grid.
    fn distance(&self, cell: IVec3, direction: Vec3) -> f32 {
        let from = self.center(cell);
        let step = 0.5 * self.side;
        let mut at = 0.0;
        loop {
            at += step;
            let point = (from + at * direction - self.min) / self.side;
            let cell = point.floor().as_ivec3();
            if !self.holds(cell) || self.cells[self.index(cell)].is_filled {
                return at;
            }
        }
    }
}

/// Maximum number of candidate positions, and number of directions at each.
const MAX_PLACES: usize = 300;
const TURNS: u32 = 16;

/// Returns the offsets of the neighbours that share a face.
fn sides() -> [IVec3; 6] {
    [
        IVec3::X,
        IVec3::NEG_X,
        IVec3::Y,
        IVec3::NEG_Y,
        IVec3::Z,
        IVec3::NEG_Z,
    ]
}

/// Returns the offsets of the cell itself and all cells that touch it.
fn neighbours() -> [IVec3; 27] {
    std::array::from_fn(|i| {
        let i = i as i32;
        IVec3::new(i % 3, i / 3 % 3, i / 9) - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mesh, Node, Primitive};

    /// Returns a scene of boxes of 12 triangles each. Boxes of negative size face their inside.
    fn scene(boxes: &[(Vec3, Vec3)]) -> Scene {
        let mut primitive = Primitive::default();
        for (center, half) in boxes {
            let first = primitive.positions.len() as u32;
            let corner = |i: u32| {
                let bit = |axis: u32| if i >> axis & 1 == 1 { 1.0 } else { -1.0 };
                *center + *half * Vec3::new(bit(0), bit(1), bit(2))
            };
            primitive.positions.extend((0..8).map(corner));
            for [a, b, c, d] in [
                [0, 2, 3, 1],
                [4, 5, 7, 6],
                [0, 1, 5, 4],
                [2, 6, 7, 3],
                [0, 4, 6, 2],
                [1, 3, 7, 5],
            ] {
                let corners = [[a, b, c], [a, c, d]];
                let of = |triangle: [u32; 3]| triangle.map(|corner| first + corner);
                primitive.indices.extend(corners.map(of));
            }
        }
        Scene {
            nodes: vec![Node {
                mesh: Some(0),
                ..Node::default()
            }],
            meshes: vec![Mesh {
                name: String::new(),
                primitives: vec![primitive],
            }],
            ..Scene::default()
        }
    }

    fn cells(scene: &Scene) -> (Cells, Vec<Vec3>) {
        let pose = Pose::new(scene, None, 0.0);
        let positions: Vec<_> = deformed(scene, &pose).flat_map(|p| p.positions).collect();
        let bounds = Aabb::from_points(positions.iter().copied());
        (Cells::new(scene, &pose, bounds).unwrap(), positions)
    }

    #[test]
    fn only_small_distant_parts_are_outliers() {
        let board = (Vec3::ZERO, Vec3::new(1.0, 0.1, 1.0));
        let piece = |x: f32, half: f32| (Vec3::new(x, 0.0, 0.0), Vec3::splat(half));
        let main_part = |boxes: &[(Vec3, Vec3)]| {
            let scene = scene(boxes);
            let (cells, positions) = cells(&scene);
            let ranges = cells.main_part(&positions)?;
            let ends = ranges.iter().map(|range| [range.start, range.end]);
            Some(ends.collect::<Vec<_>>())
        };
        assert_eq!(main_part(&[board, piece(3.0, 0.05)]), Some(vec![[0, 8]]));
        assert_eq!(main_part(&[piece(3.0, 0.05), board]), Some(vec![[8, 16]]));
        assert_eq!(main_part(&[board, piece(3.0, 0.5)]), None, "large");
        assert_eq!(main_part(&[board, piece(1.02, 0.05)]), None, "near");
        assert_eq!(main_part(&[board]), None);
        // Wherever the piece lies in its cells, all of its corners are left out.
        for step in 0..40 {
            let x = 3.0 + 0.0037 * step as f32;
            let corners = main_part(&[board, piece(x, 0.02 + 0.0011 * step as f32)]);
            assert_eq!(corners, Some(vec![[0, 8]]), "{step}");
        }
        // A scene of many small parts has no main part.
        let houses: Vec<_> = (0..60).map(|i| piece(i as f32, 0.1)).collect();
        assert_eq!(main_part(&houses), None);
    }

    #[test]
    fn a_room_is_seen_from_inside_and_a_house_from_outside() {
        let walls = |sign: f32| (Vec3::ZERO, sign * Vec3::new(5.0, 2.0, 3.0));
        let table = (Vec3::new(0.0, -1.5, 0.0), Vec3::splat(0.5));
        let room = scene(&[walls(-1.0), table]);
        let inside = cells(&room).0.inside().unwrap();
        let half = Vec3::new(5.0, 2.0, 3.0);
        assert!(inside.eye.abs().cmplt(half).all(), "{inside:?}");
        let height = inside.eye.y + 2.0;
        assert!((1.0..2.5).contains(&height), "{inside:?}");
        // The viewpoint looks across the room, not at the nearest wall.
        let ahead = (-inside.eye).dot(inside.direction);
        assert!(ahead > 2.0, "{inside:?}");

        assert_eq!(cells(&scene(&[walls(1.0)])).0.inside(), None, "a block");
        let wound_wrongly = (Vec3::ZERO, -0.05 * half);
        let small = cells(&scene(&[wound_wrongly])).0.inside();
        assert_eq!(small, None, "it is an object");
        let tower = (Vec3::ZERO, Vec3::new(-2.0, -9.0, -2.0));
        assert_eq!(cells(&scene(&[tower])).0.inside(), None, "it is tall");
        let house = [(Vec3::ZERO, half * 1.1), walls(-1.0), table];
        assert_eq!(cells(&scene(&house)).0.inside(), None, "it has an outside");
        let mut open = scene(&[walls(-1.0), table]);
        open.meshes[0].primitives[0].indices.drain(0..2);
        assert_eq!(cells(&open).0.inside(), None, "a wall is missing");
    }
}
