//! The statements of an OBJ file.

use crate::{
    Error, Result,
    scene::load::{Budget, Load},
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
    /// Corners of all faces, points and lines.
    pub(super) corners: Vec<Corner>,
    /// Faces of three corners and more, all of whose positions exist.
    pub(super) faces: Vec<Face>,
    /// Points, each of one corner or more, all of whose positions exist.
    pub(super) points: Vec<Face>,
    /// Lines through two corners or more, all of whose positions exist.
    pub(super) lines: Vec<Face>,
    /// Names of objects, or of groups where there are no objects; the first is for faces before any.
    pub(super) objects: Vec<String>,
    /// Names of used materials.
    pub(super) materials: Vec<String>,
    /// What `mtllib` lines say.
    pub(super) libraries: Vec<String>,
}

/// A corner of a face.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corner {
    /// Into the positions; in range where a face is kept.
    pub(super) position: u32,
    /// Into the texture coordinates, or past their end.
    pub(super) uv: u32,
    /// Into the normals, or past their end.
    normal: u32,
}

/// A polygon; or points, or a line through several.
#[derive(Debug)]
pub(super) struct Face {
    /// Into the corners.
    pub(super) corners: Range<usize>,
    /// Into the objects.
    pub(super) object: u32,
    /// Into the materials.
    pub(super) material: Option<u32>,
    /// Whether it is in a smoothing group; so where the file says nothing.
    pub(super) smooth: bool,
}

impl Model {
    /// The normal of a corner, if the file gives it a direction.
    pub(super) fn normal(&self, corner: &Corner) -> Option<Vec3> {
        let normal = self.normals.get(corner.normal as usize)?;
        (*normal / normal.abs().max_element()).try_normalize()
    }

    /// The texture coordinates of a corner, v downwards as in glTF.
    pub(super) fn uv(&self, corner: &Corner) -> Option<Vec2> {
        let uv = self.uvs.get(corner.uv as usize)?;
        Some(Vec2::new(uv.x, 1.0 - uv.y))
    }

    /// The linear colour of a corner.
    pub(super) fn color(&self, corner: &Corner) -> Option<Vec3> {
        self.colors.get(corner.position as usize).copied().flatten()
    }
}

/// Bytes as UTF-8 or what is close enough to it for [`lines`]: UTF-16 is decoded, with or without its mark.
pub(super) fn utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        [a, 0, b, 0, ..] if *a > 0 && *b > 0 => u16::from_le_bytes,
        [0, a, 0, b, ..] if *a > 0 && *b > 0 => u16::from_be_bytes,
        _ => return Cow::Borrowed(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)),
    };
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .skip_while(|c| *c == '\u{feff}')
        .collect();
    Cow::Owned(text.into_bytes())
}

/// The lines of a file with their numbers, continued ones joined; what is not UTF-8 is read as Latin-1.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    let mut rest = Some(bytes);
    let mut number = 0;
    let mut one = move || {
        let text = rest?;
        let end = text.iter().position(|b| matches!(b, b'\n' | b'\r'));
        let line = &text[..end.unwrap_or(text.len())];
        rest = end.map(|end| {
            let after = &text[end..];
            after.strip_prefix(b"\r\n").unwrap_or(&after[1..])
        });
        number += 1;
        Some((number, line))
    };
    std::iter::from_fn(move || {
        let (number, line) = one()?;
        let Some(start) = line.strip_suffix(b"\\") else {
            return Some((number, decode(line)));
        };
        let mut joined = start.to_vec();
        while let Some((_, line)) = one() {
            joined.push(b' ');
            let next = line.strip_suffix(b"\\");
            joined.extend(next.unwrap_or(line));
            if next.is_none() {
                break;
            }
        }
        Some((number, decode(&joined).into_owned().into()))
    })
}

fn decode(line: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(line) => line.into(),
        Err(_) => line.iter().map(|&b| char::from(b)).collect(),
    }
}

/// What separates words. Other blanks may be parts of names.
pub(super) fn blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\x0b' | '\x0c' | '\0')
}

/// A statement's keyword and the rest, or `None` for comments and empty lines.
pub(super) fn statement(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_matches(blank);
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    Some(
        line.split_once(blank)
            .map_or((line, ""), |(keyword, rest)| {
                (keyword, rest.trim_matches(blank))
            }),
    )
}

/// The words of a statement as far as a comment.
fn words(rest: &str) -> impl Iterator<Item = &str> {
    rest.split(blank)
        .filter(|word| !word.is_empty())
        .take_while(|word| !word.starts_with('#'))
}

/// A number, written with a point or a comma; what is none, as `1.#IND`, is NaN.
pub(super) fn number(word: &str) -> f32 {
    word.parse().unwrap_or_else(|_| {
        let point = word.replacen(',', ".", 1);
        point.parse().unwrap_or(f32::NAN)
    })
}

/// Up to `N` numbers from the start of `rest` as far as a comment, and how many there are.
pub(super) fn numbers<const N: usize>(rest: &str) -> ([f32; N], usize) {
    let mut out = [0.0; N];
    let mut count = 0;
    for (value, word) in out.iter_mut().zip(words(rest)) {
        *value = number(word);
        count += 1;
    }
    (out, count)
}

/// Something that happened in several lines.
#[derive(Default)]
struct Tally {
    count: usize,
    first_line: usize,
}

impl Tally {
    fn add(&mut self, line: usize) {
        if self.count == 0 {
            self.first_line = line;
        }
        self.count += 1;
    }

    fn tell(&self, what: &str, warnings: &mut Vec<String>) {
        if self.count > 0 {
            let (count, line) = (self.count, self.first_line);
            warnings.push(format!("{count} {what}, the first in line {line}"));
        }
    }
}

/// Parses an OBJ. What is broken is left out or replaced, and warned about; only what is no OBJ at all is an error.
pub(super) fn parse(
    path: &Path,
    bytes: &[u8],
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<Model> {
    let mut parser = Parser {
        model: Model {
            objects: vec![String::new()],
            ..Model::default()
        },
        most_corners: load.limits.max_triangles.saturating_add(2),
        smooth: true,
        ..Parser::default()
    };
    let (mut face_lines, mut thin_lines) = (Vec::new(), [Vec::new(), Vec::new()]);
    for (line, text) in lines(bytes) {
        let Some((keyword, rest)) = statement(&text) else {
            // What begins with a comment may hold nothing else.
            parser.known |= line == 1 && !text.trim_matches(blank).is_empty();
            continue;
        };
        if line % 4096 == 0 {
            load.progress().check()?;
        }
        let model = &parser.model;
        let before = [model.faces.len(), model.points.len(), model.lines.len()];
        parser.statement(line, keyword, rest);
        let (model, what) = (&parser.model, || path.display().to_string());
        if let Some(face) = model.faces.get(before[0]) {
            load.take(Budget::Triangles, face.corners.len() as u64 - 2, what)?;
            face_lines.push(line);
        }
        if let Some(points) = model.points.get(before[1]) {
            load.take(Budget::Lines, points.corners.len() as u64, what)?;
            thin_lines[0].push(line);
        }
        if let Some(through) = model.lines.get(before[2]) {
            load.take(Budget::Lines, through.corners.len() as u64 - 1, what)?;
            thin_lines[1].push(line);
        }
    }
    if !parser.known {
        return Err(Error::scene(
            path,
            "is no OBJ: none of its lines begins with v, f or another keyword",
        ));
    }
    parser.check_thin(&thin_lines);
    parser.check_corners(&face_lines);
    parser.tell(warnings);
    Ok(parser.model)
}

#[derive(Default)]
struct Parser {
    model: Model,
    /// Places of objects, materials and libraries by their names.
    object_places: HashMap<String, u32>,
    library_places: HashMap<String, u32>,
    material_places: HashMap<String, u32>,
    object: u32,
    material: Option<u32>,
    smooth: bool,
    /// Whether there are objects: then groups do not count.
    has_objects: bool,
    /// Whether any statement was one of OBJ.
    known: bool,
    /// A face of more is cut off: it is past the limit in any case.
    most_corners: u64,
    bad_numbers: Tally,
    bad_faces: Tally,
    unplaced_faces: Tally,
    thin_faces: Tally,
    lost_attributes: Tally,
    bad_thin: Tally,
    unplaced_thin: Tally,
    ignored: Tally,
}

impl Parser {
    fn statement(&mut self, line: usize, keyword: &str, rest: &str) {
        match keyword {
            "v" => self.vertex(line, rest),
            "vt" => {
                let uv = Vec2::from(numbers::<2>(rest).0);
                self.model
                    .uvs
                    .push(if uv.is_finite() { uv } else { Vec2::ZERO });
            }
            "vn" => {
                // A zero normal has no direction, and gives way to one from the triangles.
                let normal = Vec3::from(numbers::<3>(rest).0);
                self.model.normals.push(if normal.is_finite() {
                    normal
                } else {
                    Vec3::ZERO
                });
            }
            "f" | "fo" => self.face(line, rest),
            "p" => self.thin(line, rest, 1),
            "l" => self.thin(line, rest, 2),
            "o" => {
                self.has_objects = true;
                self.object = place(&mut self.object_places, &mut self.model.objects, rest);
            }
            "g" if !self.has_objects => {
                self.object = place(&mut self.object_places, &mut self.model.objects, rest);
            }
            "usemtl" if rest.is_empty() => self.material = None,
            "usemtl" => {
                let (places, names) = (&mut self.material_places, &mut self.model.materials);
                self.material = Some(place(places, names, rest));
            }
            // Every library is looked for on the disk.
            "mtllib" if !rest.is_empty() && self.model.libraries.len() < MOST_LIBRARIES => {
                place(&mut self.library_places, &mut self.model.libraries, rest);
            }
            "s" => self.smooth = !matches!(rest, "off" | "0"),
            "curv" | "curv2" | "surf" | "bzp" | "bsp" | "cdc" | "cdp" | "res" => {
                self.ignored.add(line);
            }
            "g" | "mtllib" | "vp" | "cstype" | "deg" | "bmat" | "step" | "parm" | "trim"
            | "hole" | "scrv" | "sp" | "end" | "con" | "mg" | "bevel" | "c_interp" | "d_interp"
            | "lod" | "maplib" | "usemap" | "shadow_obj" | "trace_obj" | "ctech" | "stech" => {}
            _ => return,
        }
        self.known = true;
    }

    fn vertex(&mut self, line: usize, rest: &str) {
        let (values, count) = numbers::<7>(rest);
        let position = Vec3::from_slice(&values);
        if count < 3 || !position.is_finite() {
            self.bad_numbers.add(line);
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
    }

    /// Adds the corners of an element, and says where.
    fn corners(&mut self, rest: &str) -> Range<usize> {
        let model = &mut self.model;
        let first = model.corners.len();
        for word in words(rest) {
            let mut parts = word.split('/');
            let mut index = |count: usize| resolve(parts.next().unwrap_or_default(), count);
            let corner = Corner {
                position: index(model.positions.len()),
                uv: index(model.uvs.len()),
                normal: index(model.normals.len()),
            };
            model.corners.push(corner);
            if (model.corners.len() - first) as u64 > self.most_corners {
                break;
            }
        }
        first..model.corners.len()
    }

    /// Points, or a line through them, of at least so many.
    fn thin(&mut self, line: usize, rest: &str, least: usize) {
        let corners = self.corners(rest);
        let model = &mut self.model;
        let all = &model.corners[corners.clone()];
        if corners.len() < least || all.iter().any(|c| c.position >= ABSENT) {
            model.corners.truncate(corners.start);
            self.bad_thin.add(line);
            return;
        }
        let list = if least == 1 {
            &mut model.points
        } else {
            &mut model.lines
        };
        list.push(Face {
            corners,
            object: self.object,
            material: self.material,
            smooth: self.smooth,
        });
    }

    fn face(&mut self, line: usize, rest: &str) {
        let corners = self.corners(rest);
        let (model, first) = (&mut self.model, corners.start);
        let broken = model.corners[first..].iter().any(|c| c.position >= ABSENT);
        if broken || corners.len() < 3 {
            model.corners.truncate(first);
            let tally = if broken {
                &mut self.bad_faces
            } else {
                &mut self.thin_faces
            };
            tally.add(line);
            return;
        }
        model.faces.push(Face {
            corners,
            object: self.object,
            material: self.material,
            smooth: self.smooth,
        });
    }

    /// As [`Self::check_corners`], for points and lines; it comes before, while positions may be NaN.
    fn check_thin(&mut self, [points, lines]: &[Vec<usize>; 2]) {
        let model = &mut self.model;
        let (positions, corners) = (&model.positions, &model.corners);
        for (list, lines) in [(&mut model.points, points), (&mut model.lines, lines)] {
            let mut lines = lines.iter();
            list.retain(|element| {
                let line = *lines.next().unwrap_or(&0);
                let all = &corners[element.corners.clone()];
                let place = |c: &Corner| positions.get(c.position as usize);
                if !all.iter().all(|c| place(c).is_some()) {
                    self.bad_thin.add(line);
                    return false;
                }
                if !all.iter().all(|c| place(c).is_some_and(|p| p.is_finite())) {
                    self.unplaced_thin.add(line);
                    return false;
                }
                true
            });
        }
    }

    /// Leaves out what refers to nothing. Only at the end is it known how much there is: a face may come before its vertices.
    fn check_corners(&mut self, face_lines: &[usize]) {
        let model = &mut self.model;
        let (positions, corners) = (&model.positions, &model.corners);
        let mut lines = face_lines.iter();
        model.faces.retain(|face| {
            let (line, face) = (*lines.next().unwrap_or(&0), &corners[face.corners.clone()]);
            let place = |c: &Corner| positions.get(c.position as usize);
            if !face.iter().all(|c| place(c).is_some()) {
                self.bad_faces.add(line);
                return false;
            }
            if !face.iter().all(|c| place(c).is_some_and(|p| p.is_finite())) {
                self.unplaced_faces.add(line);
                return false;
            }
            let lost = |index: u32, count: usize| index != ABSENT && index as usize >= count;
            let (uvs, normals) = (model.uvs.len(), model.normals.len());
            if face
                .iter()
                .any(|c| lost(c.uv, uvs) || lost(c.normal, normals))
            {
                self.lost_attributes.add(line);
            }
            true
        });
        for position in model.positions.iter_mut().filter(|p| !p.is_finite()) {
            *position = Vec3::ZERO;
        }
    }

    fn tell(&self, warnings: &mut Vec<String>) {
        for (tally, what) in [
            (
                &self.bad_numbers,
                "vertices lack numbers, or have some that are none",
            ),
            (
                &self.bad_faces,
                "faces refer to vertices that do not exist and are left out",
            ),
            (
                &self.unplaced_faces,
                "faces have corners that are NaN or infinite and are left out",
            ),
            (
                &self.thin_faces,
                "faces have fewer than three corners and are left out",
            ),
            (
                &self.lost_attributes,
                "faces refer to texture coordinates or normals that do not exist and do without",
            ),
            (
                &self.bad_thin,
                "points and lines lack vertices, or refer to some that do not exist, and are left out",
            ),
            (
                &self.unplaced_thin,
                "points and lines have corners that are NaN or infinite and are left out",
            ),
            (&self.ignored, "curves and surfaces are ignored"),
        ] {
            tally.tell(what, warnings);
        }
    }
}

/// The number of `name`, which joins `names` if it is new.
fn place(places: &mut HashMap<String, u32>, names: &mut Vec<String>, name: &str) -> u32 {
    if let Some(place) = places.get(name) {
        return *place;
    }
    let place = names.len() as u32;
    places.insert(name.to_owned(), place);
    names.push(name.to_owned());
    place
}

/// How many MTL files are looked for; no OBJ in use has nearly as many.
pub(super) const MOST_LIBRARIES: usize = 1000;

/// An index that no list reaches.
const NOWHERE: u32 = u32::MAX;

/// The index of what a corner does not have.
const ABSENT: u32 = u32::MAX - 1;

/// An index from 1 on, or from −1 back from the last of `count`, as one from 0 on. One that leads before the first, past what 32
/// bits hold, or is no number, leads nowhere.
fn resolve(part: &str, count: usize) -> u32 {
    if part.is_empty() {
        return ABSENT;
    }
    let from_zero = part.parse().ok().and_then(|index: i64| {
        if index < 0 {
            (count as i64).checked_add(index)
        } else {
            index.checked_sub(1)
        }
    });
    from_zero
        .and_then(|i| u32::try_from(i).ok())
        .unwrap_or(NOWHERE)
}
