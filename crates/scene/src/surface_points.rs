//! Sample points on a triangle surface, from which its distance to another surface is measured.

use glam::Vec3;

/// Sample point of a surface.
#[derive(Debug, Clone, Copy)]
pub struct SurfacePoint {
    /// World position in metres.
    pub position: Vec3,
    /// Area of the surface that it represents, in square metres.
    pub area: f64,
    /// Index of the triangle that it lies on.
    pub triangle: u32,
}

/// Returns the vertices of `triangles`, each once, in the order of `positions`. They represent no area.
pub fn vertices(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<SurfacePoint> {
    let mut of = vec![None; positions.len()];
    for (triangle, number) in triangles.iter().zip(0..) {
        for vertex in triangle {
            of[*vertex as usize].get_or_insert(number);
        }
    }
    let used = positions.iter().zip(of);
    used.filter_map(|(position, triangle)| {
        Some(SurfacePoint {
            position: *position,
            area: 0.0,
            triangle: triangle?,
        })
    })
    .collect()
}

/// Returns about `count` points, at least one on each triangle. Larger triangles are subdivided into n² equal
/// parts, each with a point at its centre.
pub fn samples(positions: &[Vec3], triangles: &[[u32; 3]], count: u32) -> Vec<SurfacePoint> {
    let corners = |t: &[u32; 3]| t.map(|vertex| positions[vertex as usize].as_dvec3());
    let area = |t: &[u32; 3]| {
        let [a, b, c] = corners(t);
        let area = 0.5 * (b - a).cross(c - a).length();
        if area.is_finite() { area } else { 0.0 }
    };
    let areas: Vec<f64> = triangles.iter().map(area).collect();
    let whole: f64 = areas.iter().sum();
    let mut points = Vec::new();
    for ((triangle, area), number) in triangles.iter().zip(areas).zip(0..) {
        let [a, b, c] = corners(triangle);
        let share = if whole > 0.0 { area / whole } else { 0.0 };
        let cuts = (share * f64::from(count)).sqrt().ceil().max(1.0);
        let mut add = |i: f64, j: f64| {
            let position = a + (b - a) * (i / cuts) + (c - a) * (j / cuts);
            points.push(SurfacePoint {
                position: position.as_vec3(),
                area: area / (cuts * cuts),
                triangle: number,
            });
        };
        let cuts = cuts as u32;
        for i in 0..cuts {
            for j in 0..cuts - i {
                let [i, j] = [i, j].map(f64::from);
                add(i + 1.0 / 3.0, j + 1.0 / 3.0);
                if i + j + 1.0 < f64::from(cuts) {
                    add(i + 2.0 / 3.0, j + 2.0 / 3.0);
                }
            }
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_lie_on_their_triangles_and_their_areas_sum_to_the_surface() {
        let positions = [Vec3::ZERO, Vec3::X * 3.0, Vec3::Y * 4.0, Vec3::Z, Vec3::NAN];
        let triangles = [[0, 1, 2], [0, 1, 3], [0, 0, 0], [0, 1, 4]];
        let samples = samples(&positions, &triangles, 100);
        let area = |of: u32| -> f64 {
            let of_triangle = samples.iter().filter(|point| point.triangle == of);
            of_triangle.map(|point| point.area).sum()
        };
        assert!((area(0) - 6.0).abs() < 1e-9 && (area(1) - 1.5).abs() < 1e-9);
        let count = |of: u32| samples.iter().filter(|point| point.triangle == of).count();
        assert_eq!([0, 1, 2, 3].map(count), [81, 25, 1, 1]);
        for point in samples.iter().filter(|point| point.triangle == 0) {
            let [x, y, z] = point.position.to_array();
            assert!(x > 0.0 && y > 0.0 && z == 0.0 && x / 3.0 + y / 4.0 < 1.0);
        }
        let used = vertices(&positions[..4], &triangles[..1]);
        assert_eq!(used.iter().map(|v| v.triangle).collect::<Vec<_>>(), [0; 3]);
    }
}
