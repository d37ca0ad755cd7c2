//! Reads triangles, lines and points of every mode, and the vertices that they use.

use super::reader::PrimitiveReader;
use crate::{
    Result,
    gltf::accessor::Accessor,
    load::{Budget, Load},
    mesh::Primitive,
};
use ::gltf::json::mesh::Mode;
use glam::Vec3;

/// Vertices at the corners of a primitive: from its indices if it has any, otherwise all vertices in order.
struct Corners<'a> {
    reader: &'a PrimitiveReader<'a>,
    indices: Option<Accessor<'a>>,
    count: usize,
    vertices: usize,
}

impl Corners<'_> {
    /// Fails for more vertices than 32 bits can number, and for more vertices without data than the limits
    /// allow.
    fn check(&self, load: &Load<'_>) -> Result<()> {
        if let Some(accessor) = &self.indices {
            self.reader.check_empty(accessor, load)?;
        }
        if u32::try_from(self.vertices).is_err() && self.indices.is_none() {
            return Err(self.reader.error(&format!(
                "{} vertices are more than 32 bits can number",
                self.vertices
            )));
        }
        Ok(())
    }

    /// Returns the vertex at a corner.
    fn vertex(&self, at: usize) -> Result<u32> {
        let Some(accessor) = &self.indices else {
            return Ok(at as u32);
        };
        let [vertex] = accessor.integers(at);
        if (vertex as usize) < self.vertices {
            return Ok(vertex);
        }
        let index = self.reader.json.indices.map_or(0, |index| index.value());
        Err(self.reader.error(&format!(
            "index {vertex} (accessor {index}, element {at}) is past its {} vertices",
            self.vertices
        )))
    }
}

impl PrimitiveReader<'_> {
    /// Reads the triangles, and the indices in the file of the vertices that they use. Triangles index that
    /// list, because a primitive often uses a small part of a large accessor that thousands of others share.
    pub(super) fn triangles(
        &self,
        mode: Mode,
        vertices: usize,
        instances: u64,
        load: &mut Load<'_>,
    ) -> Result<(Vec<[u32; 3]>, Vec<u32>)> {
        if let Some(draco) = &self.draco {
            let mut triangles: Vec<[u32; 3]> = draco.triangles().collect();
            let past = |&&vertex: &&u32| vertex as usize >= vertices;
            if let Some(vertex) = triangles.as_flattened().iter().find(past) {
                return Err(self.error(&format!(
                    "index {vertex} of the Draco stream is past its {vertices} vertices"
                )));
            }
            let sources = compact(triangles.as_flattened_mut(), vertices);
            return Ok((triangles, sources));
        }
        let corners = self.corners(vertices)?;
        let count = elements_of(mode, corners.count);
        load.take(
            Budget::Triangles,
            (count as u64).saturating_mul(instances),
            || self.full_name(),
        )?;
        corners.check(load)?;
        let corner = |at: usize| corners.vertex(at);
        let mut triangles = Vec::with_capacity(count);
        for i in 0..count {
            let at = match mode {
                Mode::TriangleStrip => [i, i + 1 + i % 2, i + 2 - i % 2],
                Mode::TriangleFan => [i + 1, i + 2, 0],
                _ => [3 * i, 3 * i + 1, 3 * i + 2],
            };
            let triangle @ [a, b, c] = [corner(at[0])?, corner(at[1])?, corner(at[2])?];
            // Degenerate triangles join strips, and are not part of the surface.
            if mode == Mode::Triangles || (a != b && b != c && c != a) {
                triangles.push(triangle);
            }
        }
        let sources = compact(triangles.as_flattened_mut(), vertices);
        Ok((triangles, sources))
    }

    /// Reads the points or lines, and the indices in the file of the vertices that they use, like
    /// [`Self::triangles`].
    pub(super) fn lines(
        &self,
        mode: Mode,
        position: &Accessor<'_>,
        instances: u64,
        load: &mut Load<'_>,
    ) -> Result<(Primitive, Vec<u32>)> {
        let corners = self.corners(position.count)?;
        let count = elements_of(mode, corners.count);
        load.take(Budget::Lines, (count as u64).saturating_mul(instances), || {
            self.full_name()
        })?;
        corners.check(load)?;
        let mut ends = Vec::with_capacity(count);
        for i in 0..count {
            let at = match mode {
                Mode::Points => [i; 2],
                Mode::Lines => [2 * i, 2 * i + 1],
                _ => [i, (i + 1) % corners.count],
            };
            ends.push([corners.vertex(at[0])?, corners.vertex(at[1])?]);
        }
        let is_finite = |&v: &u32| Vec3::from(position.floats(v as usize)).is_finite();
        ends.retain(|line| line.iter().all(is_finite));
        if ends.len() < count {
            self.warn("has positions that are NaN or infinite; its points and lines there are left out");
        }
        let sources = compact(ends.as_flattened_mut(), position.count);
        let primitive = if mode == Mode::Points {
            Primitive {
                points: ends.into_iter().map(|[point, _]| point).collect(),
                ..Primitive::default()
            }
        } else {
            Primitive {
                lines: ends,
                ..Primitive::default()
            }
        };
        Ok((primitive, sources))
    }

    /// Opens the corners of a primitive whose accessors have `vertices` vertices.
    fn corners(&self, vertices: usize) -> Result<Corners<'_>> {
        let indices = self.indices()?;
        Ok(Corners {
            reader: self,
            count: indices.as_ref().map_or(vertices, |accessor| accessor.count),
            indices,
            vertices,
        })
    }
}

/// True if the mode is one of points or lines.
pub(super) fn is_thin(mode: Mode) -> bool {
    !matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan)
}

/// Returns the number of points, lines or triangles that `corners` corners make.
pub(super) fn elements_of(mode: Mode, corners: usize) -> usize {
    match mode {
        Mode::Points => corners,
        Mode::Lines => corners / 2,
        Mode::LineLoop if corners > 1 => corners,
        Mode::LineLoop | Mode::LineStrip => corners.saturating_sub(1),
        Mode::Triangles => corners / 3,
        Mode::TriangleStrip | Mode::TriangleFan => corners.saturating_sub(2),
    }
}

/// Removes triangles with a position that is not finite, and zeroes such positions.
pub(super) fn drop_not_finite(primitive: &mut Primitive) {
    let positions = &mut primitive.positions;
    primitive
        .indices
        .retain(|triangle| triangle.iter().all(|&v| positions[v as usize].is_finite()));
    for position in positions.iter_mut().filter(|p| !p.is_finite()) {
        *position = Vec3::ZERO;
    }
}

/// Renumbers `corners` to index the list of used vertices, which is returned in ascending order.
fn compact(corners: &mut [u32], vertices: usize) -> Vec<u32> {
    if vertices / 4 <= corners.len() {
        let mut index_of = vec![u32::MAX; vertices];
        corners.iter().for_each(|&v| index_of[v as usize] = 0);
        let used: Vec<u32> = (0..vertices as u32)
            .filter(|&v| index_of[v as usize] == 0)
            .collect();
        used.iter()
            .zip(0..)
            .for_each(|(&v, at)| index_of[v as usize] = at);
        corners.iter_mut().for_each(|v| *v = index_of[*v as usize]);
        return used;
    }
    let mut used = corners.to_vec();
    used.sort_unstable();
    used.dedup();
    corners
        .iter_mut()
        .for_each(|v| *v = used.partition_point(|u| u < v) as u32);
    used
}
