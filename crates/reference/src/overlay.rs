//! CPU reference of `overlay`: selects the lines of meshes to draw.

use canopy_render::layout::{
    OVERLAY_BITANGENTS, OVERLAY_FACE_NORMALS, OVERLAY_NORMALS, OVERLAY_TANGENTS, OVERLAY_WIREFRAME,
    OverlayParams,
};

use glam::{Vec3, Vec4};

/// Line between two points, or a dot if they are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Kind of the line, such as `OVERLAY_WIREFRAME`.
    pub kind: u32,
    /// World positions of the ends.
    pub ends: [Vec3; 2],
}

/// Merged vertex with world position, normal and tangent. The sign of the tangent's w is the sign of the
/// bitangent. Its magnitude is at most 1e-6 for hidden meshes.
pub type Vertex = (Vec3, Vec3, Vec4);

/// Returns the lines that these settings show, in the order of their instances. `None` for hidden meshes and
/// for triangles without area.
pub fn overlay(params: &OverlayParams, vertices: &[Vertex], triangles: &[[u32; 3]]) -> Vec<Option<Segment>> {
    let mut drawn = Vec::new();
    let mut first = 0;
    for (kind, [end, step, ..]) in (0..).zip(params.kinds) {
        drawn.extend((first..end).map(|instance| {
            let number = instance - first;
            let triangle = |number: u32| {
                let corners = triangles[(params.first_triangle + step * number) as usize];
                corners.map(|corner| vertices[corner as usize])
            };
            let ((position, normal, tangent), to) = match kind {
                OVERLAY_WIREFRAME => {
                    let corners = triangle(number / 3);
                    let corner = number as usize % 3;
                    (corners[corner], corners[(corner + 1) % 3].0)
                }
                OVERLAY_FACE_NORMALS => {
                    let [a, b, c] = triangle(number);
                    let normal = (b.0 - a.0).cross(c.0 - a.0).try_normalize()?;
                    let middle = (a.0 + b.0 + c.0) / 3.0;
                    ((middle, a.1, a.2), middle + params.length * normal)
                }
                _ => {
                    let vertex = vertices[(params.first_vertex + step * number) as usize];
                    (vertex, vertex.0)
                }
            };
            let to = match kind {
                OVERLAY_NORMALS => to + params.length * normal,
                OVERLAY_TANGENTS => to + params.length * tangent.truncate(),
                OVERLAY_BITANGENTS => {
                    let bitangent = normal.cross(tangent.truncate()) * tangent.w.signum();
                    to + params.length * bitangent
                }
                _ => to,
            };
            let ends = [position, to];
            (tangent.w.abs() > 1e-6).then_some(Segment { kind, ends })
        }));
        first = end;
    }
    drawn
}
