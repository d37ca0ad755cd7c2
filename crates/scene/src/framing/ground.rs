//! Ground plane below a scene, and detection of scenes that have a floor of their own.

use super::extent::extent;
use crate::{animation::Pose, bounds::Aabb, deform::deformed, graph::Scene, settings::GroundMode};
use glam::{DVec3, Vec2, Vec3};

/// Radius of the visible ground, relative to the radius of the scene. The ground is large enough for the
/// shadow of an object as tall as the scene's diagonal, with the sun 14° above the horizon. The far plane of
/// every view lies beyond it.
const REACH: f32 = 4.0;
/// Distance of the ground below the scene, in radii of the scene. It avoids z-fighting with the faces that a
/// scene stands on.
const BELOW: f32 = 2e-4;

/// Horizontal plane below a scene, which receives its shadows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// Point of the plane below the scene's centre, in metres.
    pub middle: DVec3,
    /// Radius in metres within which it is visible.
    pub reach: f32,
    /// Distance of its grid lines in metres, a power of ten, or 0 if there is no grid. Every tenth line is
    /// stronger, and ten finer subdivisions are visible from close by.
    pub spacing: f32,
}

impl Ground {
    /// Places the ground below `bounds`. Returns `None` if they are empty.
    pub fn below(bounds: Aabb) -> Option<Self> {
        let radius = extent(bounds);
        let foot = bounds.center().with_y(bounds.min.y - BELOW * radius);
        let ground = Self {
            middle: foot.as_dvec3(),
            reach: REACH * radius,
            spacing: 0.0,
        };
        (!bounds.is_empty() && foot.is_finite() && ground.reach.is_finite()).then_some(ground)
    }

    /// Returns the ground in the form that `mode` asks for, if any, below a scene that may have a floor of
    /// its own.
    pub fn shown(self, mode: GroundMode, has_floor: bool) -> Option<Self> {
        let lines = 10f32.powf((self.reach / REACH).log10().floor());
        match mode {
            GroundMode::Auto => (!has_floor).then_some(self),
            GroundMode::Off => None,
            GroundMode::Shadow => Some(self),
            GroundMode::Grid => Some(Self {
                spacing: lines,
                ..self
            }),
        }
    }

    /// Returns the bounding box of its visible part.
    pub fn bounds(&self) -> Aabb {
        let half = Vec3::new(self.reach, 0.0, self.reach);
        Aabb {
            min: self.middle.as_vec3() - half,
            max: self.middle.as_vec3() + half,
        }
    }

    /// Formats the distance of the grid lines with a unit, such as "10 cm". Returns `None` without a grid.
    pub fn spacing_text(&self) -> Option<String> {
        // The spacing is a power of ten, which f32 may have rounded.
        let exponent = self.spacing.log10().round() as i32;
        let (unit, shift) = match exponent {
            ..=-4 => return (self.spacing > 0.0).then(|| format!("{:.0e} m", self.spacing)),
            -3 => ("mm", 3),
            -2..=-1 => ("cm", 2),
            0..=2 => ("m", 0),
            _ => ("km", -3),
        };
        Some(format!("{} {unit}", 10f32.powi(exponent + shift).round()))
    }

    /// Returns the ground translated by `offset`.
    pub fn translated(self, offset: Vec3) -> Self {
        Self {
            middle: self.middle + offset.as_dvec3(),
            ..self
        }
    }
}

/// Number of cells along each side of the floor map.
const CELLS: usize = 24;
/// Maximum total number of cells that triangles are tested against. Past it, only the centroid of a triangle
/// is used, because a file may have millions of triangles that cover the map.
const MAX_LOOKUPS: usize = 50_000_000;

/// Cell of a height map seen from above.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// Height of the lowest surface that faces up.
    floor: f32,
    /// Height of the lowest surface.
    lowest: f32,
}

/// True if a scene within `bounds` stands on a floor of its own. Over four fifths of its footprint, surfaces
/// that face up must lie in its lowest fifth. Alternatively it is a single sheet with nothing below it, such
/// as a terrain. A scene that is taller than wide stands on a base and casts its shadow beyond it, so it
/// needs a ground.
pub(crate) fn has_floor(scene: &Scene, pose: &Pose, bounds: Aabb) -> bool {
    let size = bounds.max - bounds.min;
    let height = size.y;
    if (size.x * size.z).sqrt() < 0.75 * height {
        return false;
    }
    let cells = map(scene, pose, bounds);
    let of_all = |count: usize| count as f32 / cells.len() as f32;
    let low = bounds.min.y + 0.2 * height;
    let floors = cells.iter().filter(|cell| cell.floor <= low).count();
    let sheet = || {
        cells
            .iter()
            .filter(|cell| cell.floor.is_finite() && cell.floor == cell.lowest)
    };
    let mean = sheet().map(|cell| cell.floor).sum::<f32>() / sheet().count().max(1) as f32;
    let is_sheet = of_all(sheet().count()) > 0.95 && mean < bounds.min.y + 0.6 * height;
    of_all(floors) > 0.8 || is_sheet
}

/// Rasterizes a height map of the scene from above, in cells of its footprint.
fn map(scene: &Scene, pose: &Pose, bounds: Aabb) -> Vec<Cell> {
    let nothing = Cell {
        floor: f32::INFINITY,
        lowest: f32::INFINITY,
    };
    let mut cells = vec![nothing; CELLS * CELLS];
    let corner = Vec2::new(bounds.min.x, bounds.min.z);
    let size = Vec2::new(bounds.max.x, bounds.max.z) - corner;
    let per_metre = CELLS as f32 / size.max(Vec2::splat(f32::MIN_POSITIVE));
    let last = (CELLS - 1) as f32;
    let mut lookups = 0;
    for part in deformed(scene, pose) {
        for triangle in part.triangles() {
            let [a, b, c] = triangle.map(|vertex| part.positions[vertex as usize]);
            let normal = (b - a).cross(c - a);
            let faces_up = normal.y > 0.25 * normal.length();
            let [p, q, r] = [a, b, c].map(|v| (Vec2::new(v.x, v.z) - corner) * per_metre);
            if !(p + q + r).is_finite() {
                continue;
            }
            let mut see = |x: f32, y: f32, height: f32| {
                let cell = &mut cells[y as usize * CELLS + x as usize];
                cell.lowest = cell.lowest.min(height);
                if faces_up {
                    cell.floor = cell.floor.min(height);
                }
            };
            let first = (p.min(q).min(r) - 0.5).ceil().max(Vec2::ZERO);
            let end = (p.max(q).max(r) - 0.5).floor().min(Vec2::splat(last));
            let area = (q - p).perp_dot(r - p);
            let mut is_seen = false;
            let mut y = first.y;
            while y <= end.y && lookups < MAX_LOOKUPS {
                let mut x = first.x;
                while x <= end.x {
                    lookups += 1;
                    let at = Vec2::new(x, y) + 0.5;
                    let weights = Vec3::new(
                        (q - at).perp_dot(r - at),
                        (r - at).perp_dot(p - at),
                        (p - at).perp_dot(q - at),
                    ) / area;
                    if weights.cmpge(Vec3::ZERO).all() {
                        see(x, y, weights.dot(Vec3::new(a.y, b.y, c.y)));
                        is_seen = true;
                    }
                    x += 1.0;
                }
                y += 1.0;
            }
            if !is_seen {
                // The triangle is smaller than a cell, so its centroid represents it.
                let middle = ((p + q + r) / 3.0).floor().clamp(Vec2::ZERO, Vec2::splat(last));
                see(middle.x, middle.y, (a.y + b.y + c.y) / 3.0);
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mesh, Node, Primitive, Transform};
    use glam::Mat4;

    /// Returns a scene of triangles.
    fn scene(positions: Vec<Vec3>, transform: Mat4) -> Scene {
        let corners: Vec<u32> = (0..positions.len() as u32).collect();
        let primitive = Primitive {
            indices: corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(),
            positions,
            ..Primitive::default()
        };
        Scene {
            nodes: vec![Node {
                mesh: Some(0),
                transform: Transform::Matrix(transform.as_dmat4()),
                ..Node::default()
            }],
            meshes: vec![Mesh {
                name: String::new(),
                primitives: vec![primitive],
            }],
            ..Scene::default()
        }
    }

    fn stands_on_its_own(positions: Vec<Vec3>, transform: Mat4) -> bool {
        let scene = scene(positions, transform);
        let pose = Pose::new(&scene, None, 0.0);
        let bounds = Aabb::from_points(deformed(&scene, &pose).flat_map(|part| part.positions));
        has_floor(&scene, &pose, bounds)
    }

    /// Returns a rectangle at `height` that faces up or down.
    fn slab(half: f32, height: f32, up: bool) -> Vec<Vec3> {
        let corner = |x: f32, z: f32| Vec3::new(x * half, height, z * half);
        let mut corners = vec![
            corner(-1.0, -1.0),
            corner(-1.0, 1.0),
            corner(1.0, 1.0),
            corner(-1.0, -1.0),
            corner(1.0, 1.0),
            corner(1.0, -1.0),
        ];
        if !up {
            corners.reverse();
        }
        corners
    }

    #[test]
    fn floors_are_distinguished_from_objects() {
        let floor = || slab(2.0, 0.0, true);
        // A closed body whose top is as wide as its foot.
        let block = |foot: f32| [slab(1.0, foot, false), slab(1.0, foot + 2.0, true)].concat();
        let on_a_floor = || [floor(), block(0.5)].concat();
        let hills = |up: bool| -> Vec<Vec3> {
            let height = |p: Vec3| p.with_y(0.3 * (p.x * 3.0).sin() + 0.3 * (p.z * 2.0).cos());
            let tile = |i: usize| {
                let at = Vec3::new((i % 40) as f32, 0.0, (i / 40) as f32) * 0.1;
                slab(0.05, 0.0, up).into_iter().map(move |p| height(p + at))
            };
            (0..1600).flat_map(tile).collect()
        };
        let same = Mat4::IDENTITY;
        assert!(stands_on_its_own(floor(), same));
        assert!(stands_on_its_own(on_a_floor(), same));
        assert!(stands_on_its_own(hills(true), same));
        assert!(!stands_on_its_own(block(0.0), same));
        assert!(!stands_on_its_own(hills(false), same));
        assert!(!stands_on_its_own(Vec::new(), same));
        // The top of a table is wide but not at its foot.
        let table = [block(0.0), slab(0.1, -3.0, false)].concat();
        assert!(!stands_on_its_own(table, same));
        // A pillar on a base.
        let pillar = slab(0.2, 6.0, true);
        assert!(!stands_on_its_own([floor(), pillar].concat(), same));
        // A floor in a corner of a large scene is not the floor of the scene.
        let mut corner = floor();
        corner.extend(slab(0.1, 1.0, true).into_iter().map(|p| p + 20.0));
        assert!(!stands_on_its_own(corner, same));
        // A mirrored node flips the winding of its triangles once more.
        let mirror = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
        assert!(stands_on_its_own(floor(), mirror));
        assert!(!stands_on_its_own(block(0.0), mirror));
    }

    #[test]
    fn triangles_with_nan_corners_do_not_hide_a_floor() {
        let mut positions = slab(1.0, 0.0, true);
        positions.extend([Vec3::NAN, Vec3::INFINITY, Vec3::ZERO]);
        let scene = scene(positions, Mat4::IDENTITY);
        let pose = Pose::new(&scene, None, 0.0);
        let bounds = Aabb::from_points(slab(1.0, 0.0, true));
        assert!(has_floor(&scene, &pose, bounds));
    }

    #[test]
    fn grid_spacing_is_a_power_of_ten() {
        for (size, spacing, text) in [
            (3e-6, 1e-6, "1e-6 m"),
            (0.003, 0.001, "1 mm"),
            (0.03, 0.01, "1 cm"),
            (0.3, 0.1, "10 cm"),
            (1.5, 1.0, "1 m"),
            (70.0, 10.0, "10 m"),
            (50_000.0, 10_000.0, "10 km"),
        ] {
            let bounds = Aabb {
                min: Vec3::ZERO,
                max: Vec3::splat(2.0 * size / 3f32.sqrt()),
            };
            let ground = Ground::below(bounds).unwrap();
            let grid = ground.shown(GroundMode::Grid, true).unwrap();
            assert!((grid.spacing / spacing - 1.0).abs() < 1e-5, "{size}");
            assert_eq!(grid.spacing_text().as_deref(), Some(text));
            assert_eq!(ground.spacing_text(), None);
            assert_eq!(ground.shown(GroundMode::Auto, true), None);
            assert_eq!(ground.shown(GroundMode::Auto, false), Some(ground));
            assert_eq!(ground.shown(GroundMode::Off, false), None);
            assert!(ground.middle.y < 0.0 && ground.middle.y > -1e-3 * f64::from(size));
        }
        assert_eq!(Ground::below(Aabb::EMPTY), None);
    }
}
