//! The statements of an OBJ file.

use crate::{
    Error, Result,
    scene::{files::shorten, load::Load},
};
use glam::{Vec2, Vec3};
use std::{borrow::Cow, collections::HashMap, ops::Range, path::Path};

/// An OBJ file as its statements have it.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Finite.
    pub(super) positions: Vec<Vec3>,
    /// One per position, or shorter if the last ones have none.
    colors: Vec<Option<Vec3>>,
    uvs: Vec<Vec2>,
    normals: Vec<Vec3>,
    /// Corners of all faces.
    pub(super) corners: Vec<Corner>,
    /// Faces of three corners and more.
    pub(super) faces: Vec<Face>,
    /// Names of objects; the first is for faces before any.
    pub(super) objects: Vec<String>,
    /// Names of used materials.
    pub(super) materials: Vec<String>,
    /// What `mtllib` lines say.
    pub(super) libraries: Vec<String>,
}

/// A corner of a face.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corner {
    /// Into the positions; in range.
    pub(super) position: u32,
    /// Into the texture coordinates, if in range.
    pub(super) uv: Option<u32>,
    /// Into the normals, if in range.
    normal: Option<u32>,
    /// Whether its face is in a smoothing group; so where the file says nothing.
    pub(super) smooth: bool,
}

/// A polygon.
#[derive(Debug)]
pub(super) struct Face {
    /// Into the corners.
    pub(super) corners: Range<usize>,
    /// Into the objects.
    pub(super) object: usize,
    /// Into the materials.
    pub(super) material: Option<usize>,
}

impl Model {
    /// The normal of a corner, if the file gives it a direction.
    pub(super) fn normal(&self, corner: &Corner) -> Option<Vec3> {
        let normal = self.normals.get(corner.normal? as usize)?;
        (*normal / normal.abs().max_element()).try_normalize()
    }

    /// The texture coordinates of a corner, v downwards as in glTF.
    pub(super) fn uv(&self, corner: &Corner) -> Option<Vec2> {
        let uv = self.uvs.get(corner.uv? as usize)?;
        Some(Vec2::new(uv.x, 1.0 - uv.y))
    }

    /// The linear colour of a corner.
    pub(super) fn color(&self, corner: &Corner) -> Option<Vec3> {
        self.colors.get(corner.position as usize).copied().flatten()
    }
}

/// Bytes of any encoding as text with `\n` at the ends of lines, continued lines joined.
pub(super) fn text(bytes: &[u8]) -> String {
    let text: Cow<'_, str> =
        String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    // A joined line leaves an empty one behind, so that line numbers stay true.
    let mut out = String::with_capacity(text.len());
    let mut owed = 0;
    for line in text.lines() {
        match line.strip_suffix('\\') {
            Some(start) => {
                out.push_str(start);
                out.push(' ');
                owed += 1;
            }
            None => {
                out.push_str(line);
                (0..=owed).for_each(|_| out.push('\n'));
                owed = 0;
            }
        }
    }
    out
}

/// A statement's keyword and the rest, or `None` for comments and empty lines.
pub(super) fn statement(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    Some(
        line.split_once(char::is_whitespace)
            .map_or((line, ""), |(keyword, rest)| (keyword, rest.trim())),
    )
}

/// Up to `N` numbers from the start of `rest` as far as a comment, and how many there are.
pub(super) fn numbers<const N: usize>(rest: &str) -> Result<([f32; N], usize), String> {
    let mut out = [0.0; N];
    let mut count = 0;
    let words = rest.split_whitespace().take_while(|w| !w.starts_with('#'));
    for (value, word) in out.iter_mut().zip(words) {
        *value = word
            .parse()
            .map_err(|_| format!("\"{}\" is not a number", shorten(word)))?;
        count += 1;
    }
    Ok((out, count))
}

/// Parses an OBJ. Broken texture coordinates and normals are warned about; broken positions and faces are errors.
pub(super) fn parse(
    path: &Path,
    text: &str,
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<Model> {
    let mut parser = Parser {
        model: Model {
            objects: vec![String::new()],
            ..Model::default()
        },
        material_places: HashMap::new(),
        material: None,
        smooth: true,
        ignored: 0,
    };
    let mut faces_at = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((keyword, rest)) = statement(line) else {
            continue;
        };
        if number % 4096 == 0 {
            load.progress().check()?;
        }
        let at = |what: String| Error::scene(path, format!("line {}: {what}", number + 1));
        let before = parser.model.faces.len();
        parser.statement(keyword, rest).map_err(at)?;
        if let Some(face) = parser.model.faces.get(before) {
            load.take_triangles(face.corners.len() as u64 - 2, || path.display().to_string())?;
            faces_at.push(number + 1);
        }
    }
    let mut model = parser.model;
    // Only now is it known how many positions there are: a face may come before them.
    for (face, line) in model.faces.iter().zip(faces_at) {
        let count = model.positions.len();
        if let Some(corner) = model.corners[face.corners.clone()]
            .iter()
            .find(|c| c.position as usize >= count)
        {
            let vertex = u64::from(corner.position) + 1;
            return Err(Error::scene(
                path,
                format!("line {line}: a face refers to vertex {vertex}, and the file has {count}"),
            ));
        }
    }
    let (uvs, normals) = (model.uvs.len(), model.normals.len());
    let mut lost = 0;
    for corner in &mut model.corners {
        for (index, count) in [(&mut corner.uv, uvs), (&mut corner.normal, normals)] {
            if index.is_some_and(|i| i as usize >= count) {
                *index = None;
                lost += 1;
            }
        }
    }
    if lost > 0 {
        warnings.push(format!(
            "{lost} texture coordinates or normals of faces do not exist and are ignored"
        ));
    }
    if parser.ignored > 0 {
        warnings.push(format!(
            "{} points, lines, curves and surfaces are ignored",
            parser.ignored
        ));
    }
    Ok(model)
}

struct Parser {
    model: Model,
    material_places: HashMap<String, usize>,
    material: Option<usize>,
    smooth: bool,
    /// Elements that canopy does not draw.
    ignored: usize,
}

impl Parser {
    fn statement(&mut self, keyword: &str, rest: &str) -> Result<(), String> {
        match keyword {
            "v" => self.vertex(rest)?,
            "vt" => {
                let uv = numbers::<2>(rest).map_or(Vec2::ZERO, |(uv, _)| uv.into());
                self.model
                    .uvs
                    .push(if uv.is_finite() { uv } else { Vec2::ZERO });
            }
            "vn" => {
                // A zero normal has no direction, and gives way to one from the triangles.
                let normal = numbers::<3>(rest).map_or(Vec3::ZERO, |(normal, _)| normal.into());
                self.model.normals.push(if normal.is_finite() {
                    normal
                } else {
                    Vec3::ZERO
                });
            }
            "f" | "fo" => self.face(rest)?,
            "o" => self.model.objects.push(rest.to_owned()),
            "usemtl" => {
                let materials = &mut self.model.materials;
                self.material = Some(*self.material_places.entry(rest.to_owned()).or_insert_with(
                    || {
                        materials.push(rest.to_owned());
                        materials.len() - 1
                    },
                ));
            }
            "mtllib" if !self.model.libraries.iter().any(|l| l == rest) => {
                self.model.libraries.push(rest.to_owned());
            }
            "s" => self.smooth = !matches!(rest, "off" | "0"),
            "p" | "l" | "curv" | "curv2" | "surf" => self.ignored += 1,
            _ => {}
        }
        Ok(())
    }

    fn vertex(&mut self, rest: &str) -> Result<(), String> {
        let (values, count) = numbers::<7>(rest)?;
        if count < 3 {
            return Err(format!("a vertex has {count} numbers and needs 3"));
        }
        let position = Vec3::from_slice(&values);
        if !position.is_finite() {
            return Err("a vertex is NaN or infinite".into());
        }
        let color = match count {
            6 => Some(Vec3::from_slice(&values[3..])),
            7 => Some(Vec3::from_slice(&values[4..])),
            _ => None,
        };
        if let Some(color) = color.filter(|c| c.is_finite()) {
            self.model.colors.resize(self.model.positions.len(), None);
            self.model.colors.push(Some(super::linear(color)));
        }
        self.model.positions.push(position);
        Ok(())
    }

    fn face(&mut self, rest: &str) -> Result<(), String> {
        let first = self.model.corners.len();
        for word in rest.split_whitespace().take_while(|w| !w.starts_with('#')) {
            let mut parts = word.split('/');
            let broken = || format!("\"{}\" is no corner of a face", shorten(word));
            let index = |part: Option<&str>, count: usize| match part {
                None | Some("") => Ok(None),
                Some(part) => resolve(part, count).map(Some).ok_or_else(broken),
            };
            let position = index(parts.next(), self.model.positions.len())?;
            let uv = index(parts.next(), self.model.uvs.len())?;
            let normal = index(parts.next(), self.model.normals.len())?;
            let position = position.filter(|p| *p != NOWHERE).ok_or_else(broken)?;
            self.model.corners.push(Corner {
                position,
                uv,
                normal,
                smooth: self.smooth,
            });
        }
        let corners = first..self.model.corners.len();
        if corners.len() < 3 {
            self.model.corners.truncate(first);
            self.ignored += 1;
            return Ok(());
        }
        let object = self.model.objects.len() - 1;
        self.model.faces.push(Face {
            corners,
            object,
            material: self.material,
        });
        Ok(())
    }
}

/// An index that no list reaches.
const NOWHERE: u32 = u32::MAX;

/// An index from 1 on, or from −1 back from the last of `count`, as one from 0 on. One that leads before the first, or past what 32
/// bits hold, leads nowhere; what is not a number is `None`.
fn resolve(part: &str, count: usize) -> Option<u32> {
    let index: i64 = part.parse().ok()?;
    let from_zero = if index < 0 {
        (count as i64).checked_add(index)
    } else {
        index.checked_sub(1)
    };
    Some(
        from_zero
            .and_then(|i| u32::try_from(i).ok())
            .unwrap_or(NOWHERE),
    )
}
