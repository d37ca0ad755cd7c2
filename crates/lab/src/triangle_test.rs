//! Storage of triangles, and ray-triangle tests.

use super::Triangle;
use glam::{DVec3, Vec3};

pub use crate::settings::LabTest as TriangleTest;

impl TriangleTest {
    /// Returns the path of the test's shader.
    pub fn shader(self) -> &'static str {
        match self {
            Self::Areas => "lab/test_areas.wgsl",
            Self::MollerTrumbore => "lab/test_moller_trumbore.wgsl",
            Self::BaldwinWeber => "lab/test_baldwin_weber.wgsl",
            Self::UnitTriangle => "lab/test_unit_triangle.wgsl",
            Self::Plucker => "lab/test_plucker.wgsl",
            Self::Watertight => "lab/test_watertight.wgsl",
        }
    }

    /// Returns the number of bytes of a triangle that the test needs, out of three rows of 16 bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Self::MollerTrumbore | Self::Plucker | Self::Watertight => 36,
            Self::BaldwinWeber => 40,
            Self::Areas | Self::UnitTriangle => 48,
        }
    }

    /// Returns three rows of a triangle. Values are computed in f64 and rounded once. A degenerate triangle
    /// gets rows that no ray hits.
    pub fn rows(self, triangle: &Triangle) -> [[f32; 4]; 3] {
        match self {
            Self::MollerTrumbore | Self::Plucker | Self::Watertight => {
                triangle.map(|corner| corner.extend(0.0).to_array())
            }
            Self::Areas => {
                let [a, b, c] = triangle.map(Vec3::as_dvec3);
                let normal = (b - a).cross(c - a).normalize_or_zero().to_array();
                std::array::from_fn(|i| triangle[i].extend(normal[i] as f32).to_array())
            }
            Self::UnitTriangle => unit_triangle(triangle),
            Self::BaldwinWeber => baldwin_weber(triangle),
        }
    }
}

fn unit_triangle(triangle: &Triangle) -> [[f32; 4]; 3] {
    let [v0, v1, v2] = triangle.map(Vec3::as_dvec3);
    let (edge1, edge2) = (v1 - v0, v2 - v0);
    let normal = edge1.cross(edge2);
    // Inverse of the matrix with these columns, by cross products.
    let determinant = normal.length_squared();
    if determinant == 0.0 {
        return [[0.0; 4]; 3];
    }
    let rows = [edge2.cross(normal), normal.cross(edge1), normal];
    rows.map(|row| {
        let row = row / determinant;
        row.extend(-row.dot(v0)).as_vec4().to_array()
    })
}

fn baldwin_weber(triangle: &Triangle) -> [[f32; 4]; 3] {
    let corners = triangle.map(Vec3::as_dvec3);
    let [v0, v1, v2] = corners;
    let normal = (v1 - v0).cross(v2 - v0);
    let size = normal.abs();
    let axis = match size.max_element() {
        most if most == size.x => 0,
        most if most == size.y => 1,
        _ => 2,
    };
    if normal[axis] == 0.0 {
        // The map has no zeros for a plane that rays never approach in floats, so the triangle is moved far
        // away.
        return [[0.0, 0.0, -1.0, 2.0], [0.0, 0.0, -1.0, 0.0], [0.0; 4]];
    }
    let turned = |v: DVec3| DVec3::new(v[(axis + 1) % 3], v[(axis + 2) % 3], v[axis]);
    let [v0, v1, v2] = corners.map(turned);
    let (edge1, edge2) = (v1 - v0, v2 - v0);
    let area = edge1.x * edge2.y - edge1.y * edge2.x;
    let u = [edge2.y / area, -edge2.x / area];
    let v = [-edge1.y / area, edge1.x / area];
    let normal = turned(normal) / turned(normal).z;
    let row = |[x, y]: [f64; 2], offset: f64, last: f64| [x, y, offset, last].map(|x| x as f32);
    [
        row(u, -(u[0] * v0.x + u[1] * v0.y), axis as f64),
        row(v, -(v[0] * v0.x + v[1] * v0.y), 0.0),
        row([normal.x, normal.y], -normal.dot(v0), 0.0),
    ]
}
