//! Geometry of an OBJ, which tobj reads from the sanitized lines.

use super::sanitize::{self, ABSENT, Element, Sanitized, Shared};
use crate::{
    Error, Result,
    load::{Load, Progress},
    srgb,
};
use glam::{Vec2, Vec3};
use std::{
    io::{self, BufReader, Read},
    ops::Range,
    path::Path,
};
use tobj::{LoadError, LoadOptions};

/// Faces, points and lines of a file, which share its vertices.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Positions, all finite.
    pub(super) positions: Vec<Vec3>,
    /// Linear colours, one per position, or empty.
    colors: Vec<Option<Vec3>>,
    /// Texture coordinates with v up. The last element is a filler for corners without texture coordinates in
    /// a face where other corners have some.
    uvs: Vec<Vec2>,
    /// Unit normals, or zero for those without a direction.
    normals: Vec<Vec3>,
    /// Corners of all faces, points and lines.
    pub(super) corners: Vec<Corner>,
    /// Faces with at least three corners.
    pub(super) faces: Vec<Face>,
    /// Points, each with at least one corner.
    pub(super) points: Vec<Face>,
    /// Polylines with at least two corners.
    pub(super) lines: Vec<Face>,
    /// Names of objects, or of groups in a file without objects. The first is the unnamed one for faces
    /// before any.
    pub(super) objects: Vec<String>,
    /// Names of the used materials.
    pub(super) materials: Vec<String>,
    /// Arguments of `mtllib` statements.
    pub(super) libraries: Vec<String>,
}

/// A corner of a face.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corner {
    /// Index of the position, in range.
    pub(super) position: u32,
    /// Index of the texture coordinates, or [`ABSENT`].
    pub(super) uv: u32,
    /// Index of the normal, or [`ABSENT`].
    normal: u32,
}

/// A polygon, a polyline, or points.
#[derive(Debug)]
pub(super) struct Face {
    /// Range of its corners.
    pub(super) corners: Range<usize>,
    /// Index of its object.
    pub(super) object: u32,
    /// Index of its material.
    pub(super) material: Option<u32>,
    /// True if it is in a smoothing group.
    pub(super) smooth: bool,
}

/// Reads an OBJ. Broken statements are left out or replaced, with a warning. The only error is a file that is
/// no OBJ at all.
pub(super) fn read(
    path: &Path,
    bytes: &[u8],
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<Model> {
    let mut screened = sanitize::sanitize(path, bytes, load, warnings)?;
    let text = std::mem::take(&mut screened.text);
    let cancellable = Cancellable {
        text: &text,
        progress: load.progress(),
    };
    // With default options, faces keep their corners, and texture coordinates and normals keep their indices.
    // The text refers to no library, so tobj opens no file.
    let (models, _) = tobj::load_obj_buf(
        &mut BufReader::with_capacity(1 << 16, cancellable),
        &LoadOptions::default(),
        |_| Err(LoadError::OpenFileFailed),
    )
    .or_else(|why| {
        load.progress().check()?;
        let what =
            format!("cannot be read: the OBJ reader reports \"{why}\"; please report a bug with this file");
        Err(Error::scene(path, what))
    })?;
    drop(text);
    Model::join(path, models, screened, load.progress())
}

/// Reader that fails once the load is cancelled.
struct Cancellable<'a> {
    text: &'a [u8],
    progress: &'a Progress,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.progress.check().map_err(io::Error::other)?;
        self.text.read(buffer)
    }
}

impl Model {
    /// Joins tobj's models into one. Each of them numbers its own vertices, and the result uses the vertices
    /// of the file.
    fn join(path: &Path, models: Vec<tobj::Model>, screened: Sanitized, progress: &Progress) -> Result<Self> {
        let mut model = Self {
            positions: vec![Vec3::ZERO; screened.positions.count()],
            uvs: vec![Vec2::ZERO; screened.uvs.count()],
            objects: screened.objects,
            materials: screened.materials,
            libraries: screened.libraries,
            ..Self::default()
        };
        for tobj::Model { name, mesh } in models {
            progress.check()?;
            let number = name.parse::<usize>().ok();
            let Some((number, run)) = number.and_then(|n| Some((n, screened.runs.get(n)?))) else {
                // A file without elements has one model, whose name is not a run number.
                continue;
            };
            let next = screened.runs.get(number + 1);
            let positions = screened
                .positions
                .part(run.first_position, next.map(|run| run.first_position));
            let uvs = screened.uvs.part(run.first_uv, next.map(|run| run.first_uv));
            if mesh.positions.len() != 3 * positions.len() {
                return Err(Error::scene(
                    path,
                    "cannot be read: the OBJ reader found other vertices; please report a bug with this file",
                ));
            }
            model.add_vertices(&mesh, positions, uvs);
            model.add_elements(&mesh, &run.shared, positions, uvs);
        }
        Ok(model)
    }

    /// Stores positions, texture coordinates and colours at their indices in the file.
    fn add_vertices(&mut self, mesh: &tobj::Mesh, positions: &[u32], uvs: &[u32]) {
        for (index, position) in positions.iter().zip(mesh.positions.as_chunks().0) {
            self.positions[*index as usize] = Vec3::from_array(*position);
        }
        for (index, uv) in uvs.iter().zip(mesh.texcoords.as_chunks().0) {
            self.uvs[*index as usize] = Vec2::from_array(*uv);
        }
        if !mesh.vertex_color.is_empty() {
            self.colors.resize(self.positions.len(), None);
        }
        for (index, color) in positions.iter().zip(mesh.vertex_color.as_chunks().0) {
            let color = Vec3::from_array(*color);
            self.colors[*index as usize] = color.is_finite().then(|| linear(color));
        }
    }

    /// Adds faces, points or lines, and the normals of their corners.
    fn add_elements(&mut self, mesh: &tobj::Mesh, shared: &Shared, positions: &[u32], uvs: &[u32]) {
        let filler = self.uvs.len() as u32 - 1;
        let first_normal = self.normals.len() as u32;
        let uv = |at: usize| {
            let index = *mesh.texcoord_indices.get(at)? as usize;
            uvs.get(index).copied().filter(|uv| *uv != filler)
        };
        let normal = |at: usize| mesh.normal_indices.get(at).filter(|_| shared.normals);
        let mut first = self.corners.len();
        self.corners
            .extend(mesh.indices.iter().enumerate().map(|(at, position)| Corner {
                position: positions[*position as usize],
                uv: uv(at).unwrap_or(ABSENT),
                normal: normal(at).map_or(ABSENT, |normal| first_normal + normal),
            }));
        if shared.normals {
            let normals = mesh.normals.as_chunks().0.iter();
            self.normals.extend(normals.map(|n| unit(Vec3::from_array(*n))));
        }
        let elements = match shared.element {
            Element::Face => &mut self.faces,
            Element::Points => &mut self.points,
            Element::Line => &mut self.lines,
        };
        let mut add = |corners: u32| {
            let corners = first..first + corners as usize;
            first = corners.end;
            elements.push(Face {
                corners,
                object: shared.object,
                material: shared.material,
                smooth: shared.smooth,
            });
        };
        if mesh.face_arities.is_empty() {
            (0..mesh.indices.len() / 3).for_each(|_| add(3));
        } else {
            mesh.face_arities.iter().copied().for_each(add);
        }
    }

    /// Returns the unit normal of a corner, if the file gives it a direction.
    pub(super) fn normal(&self, corner: &Corner) -> Option<Vec3> {
        let normal = self.normals.get(corner.normal as usize)?;
        Some(*normal).filter(|normal| *normal != Vec3::ZERO)
    }

    /// True if any corner has texture coordinates.
    pub(super) fn has_uvs(&self) -> bool {
        self.corners.iter().any(|corner| corner.uv != ABSENT)
    }

    /// Returns the texture coordinates of a corner, with v down like glTF.
    pub(super) fn uv(&self, corner: &Corner) -> Option<Vec2> {
        let uv = self.uvs.get(corner.uv as usize)?;
        Some(Vec2::new(uv.x, 1.0 - uv.y))
    }

    /// Returns the linear colour of a corner.
    pub(super) fn color(&self, corner: &Corner) -> Option<Vec3> {
        self.colors.get(corner.position as usize).copied().flatten()
    }
}

/// Normalises a vector. Returns zero if it has no direction.
fn unit(vector: Vec3) -> Vec3 {
    let scaled = vector / vector.abs().max_element();
    scaled.try_normalize().unwrap_or_default()
}

/// Converts an sRGB-encoded colour to a linear one (IEC 61966-2-1).
fn linear(displayed: Vec3) -> Vec3 {
    displayed.clamp(Vec3::ZERO, Vec3::ONE).map(srgb::decode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_fails_once_the_load_is_cancelled() {
        let progress = Progress::default();
        let mut text = Cancellable {
            text: b"v 0 0 0\n",
            progress: &progress,
        };
        assert_eq!(text.read(&mut [0; 2]).unwrap(), 2);
        progress.cancel();
        assert!(text.read(&mut [0; 2]).is_err());
        let mut reader = BufReader::new(text);
        let read = tobj::load_obj_buf(&mut reader, &LoadOptions::default(), |_| {
            Err(LoadError::OpenFileFailed)
        });
        assert!(matches!(read, Err(LoadError::ReadError)));
    }
}
