//! Reads a primitive from its accessors.

use super::{
    reader::PrimitiveReader,
    topology::{drop_not_finite, elements_of, is_thin},
};
use crate::{
    Result,
    gltf::{accessor::ANY, draco},
    load::{Budget, Load, POINTS_AND_LINES},
    mesh::Primitive,
    surface,
};
use ::gltf::json::{
    accessor::Type,
    mesh::{Mode, Semantic},
    validation::Checked,
};
use glam::Vec3;

/// Lower bounds for the numbers of elements and vertices of a primitive.
#[derive(Debug, Default)]
pub(super) struct Declared {
    pub(super) triangles: u64,
    /// Number of lines and points.
    pub(super) lines: u64,
    pub(super) vertices: u64,
}

impl PrimitiveReader<'_> {
    /// Reads the primitive. Returns `None` for one that canopy does not draw.
    pub(super) fn read(
        &self,
        tangent_uv_set: Option<u32>,
        instances: u64,
        load: &mut Load<'_>,
    ) -> Result<Option<Primitive>> {
        if let Some(extension) = self.unreadable() {
            self.warn(&format!(
                "needs the extension {extension} for its geometry, which canopy does not read, and is left \
                 out"
            ));
            return Ok(None);
        }
        let mode = match self.json.mode {
            Checked::Valid(mode) => mode,
            Checked::Invalid => {
                return Err(self.file.error(format!("{} has an unknown mode", self.name)));
            }
        };
        let Some(position) = self.attribute(Semantic::Positions, &[Type::Vec3], &ANY, None)? else {
            self.warn("has no POSITION and is ignored");
            return Ok(None);
        };
        self.check_empty(&position, load)?;
        let is_thin = is_thin(mode);
        let (mut primitive, sources) = if is_thin {
            self.lines(mode, &position, instances, load)?
        } else {
            let (indices, sources) = self.triangles(mode, position.count, instances, load)?;
            let triangles = Primitive {
                indices,
                ..Primitive::default()
            };
            (triangles, sources)
        };
        // Without normals, each triangle gets vertices of its own.
        let smooth = Checked::Valid(Semantic::Normals);
        let vertices = if is_thin || self.json.attributes.contains_key(&smooth) {
            sources.len()
        } else {
            3 * primitive.indices.len()
        };
        load.take(
            Budget::Vertices,
            (vertices as u64).saturating_mul(instances),
            || self.full_name(),
        )?;
        let read = |&vertex: &u32| Vec3::from(position.floats(vertex as usize));
        primitive.positions = sources.iter().map(read).collect();
        if !primitive.positions.iter().all(|p| p.is_finite()) {
            self.warn("has positions that are NaN or infinite; their triangles are left out");
            drop_not_finite(&mut primitive);
        }
        if primitive.is_empty() {
            self.warn(if is_thin {
                "holds no points or lines and is ignored"
            } else {
                "holds no triangles and is ignored"
            });
            return Ok(None);
        }
        let count = Some(position.count);
        primitive.uv0 = self.texture_coordinates(0, &sources, count)?;
        primitive.uv1 = self.texture_coordinates(1, &sources, count)?;
        self.colors(&mut primitive, &sources, count)?;
        self.joints(&mut primitive, &sources, count, load)?;
        self.targets(&mut primitive, &sources, count, instances, load)?;
        self.normals(&mut primitive, &sources, count)?;
        if is_thin {
            self.file.warn(POINTS_AND_LINES);
            if primitive.tangents.is_empty() {
                primitive.tangents = surface::any_tangents(&primitive.normals);
            }
        }
        if primitive.tangents.is_empty() {
            match tangent_uv_set {
                Some(uv_set) => surface::tangents(&mut primitive, uv_set),
                None => primitive.tangents = surface::any_tangents(&primitive.normals),
            }
        }
        Ok(Some(primitive))
    }

    /// Returns the counts that the accessors declare, or zeros for a primitive that is not drawn.
    pub(super) fn declared(&self, load: &Load<'_>) -> Result<Declared> {
        let Checked::Valid(mode) = self.json.mode else {
            return Ok(Declared::default());
        };
        let elements = if draco::is_streamed(self.json) {
            draco::declared_triangles(self.file, self.json, &self.name)
        } else if self.unreadable().is_some() {
            0
        } else {
            let Some(position) = self.attribute(Semantic::Positions, &[Type::Vec3], &ANY, None)? else {
                return Ok(Declared::default());
            };
            self.check_empty(&position, load)?;
            let indices = self.indices()?;
            let corners = indices.map_or(position.count, |indices| indices.count);
            elements_of(mode, corners) as u64
        };
        if is_thin(mode) {
            return Ok(Declared {
                lines: elements,
                ..Declared::default()
            });
        }
        let triangles = elements;
        let has_normals = {
            let normals = Checked::Valid(Semantic::Normals);
            self.json.attributes.contains_key(&normals)
        };
        // Strips and fans may have degenerate triangles, which are left out. With normals, triangles may
        // share vertices.
        let separate = mode == Mode::Triangles && !has_normals;
        Ok(Declared {
            triangles,
            lines: 0,
            vertices: if separate { triangles.saturating_mul(3) } else { 0 },
        })
    }
}
