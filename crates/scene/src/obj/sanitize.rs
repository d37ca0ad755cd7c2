//! Rewrites the lines of an OBJ so that tobj accepts all of them. Lines that it would refuse are left out or
//! replaced, with a warning.

use super::text::{decode, is_number, lines, push_number, statement, trim, words};
use crate::{
    Error, Result,
    load::{Budget, Load},
};
use std::{collections::HashMap, path::Path};

/// An OBJ file rewritten for tobj, with the data that tobj drops.
#[derive(Debug)]
pub(super) struct Sanitized {
    /// OBJ text: all vertices, then faces, points and lines, all written as `f` with absolute indices. `g N`
    /// precedes the elements of `runs[N]`.
    pub(super) text: Vec<u8>,
    /// Runs of elements. Each becomes one tobj model.
    pub(super) runs: Vec<Run>,
    /// Indices of the file's positions, in the order in which tobj numbers them in its models.
    pub(super) positions: FirstUses,
    /// Indices of the file's texture coordinates, in the same order. The index past the last one marks a
    /// corner without texture coordinates in a run where others have them.
    pub(super) uvs: FirstUses,
    /// Names of objects, or of groups in a file without objects. The first is the unnamed one for faces
    /// before any.
    pub(super) objects: Vec<String>,
    /// Material names of `usemtl` statements.
    pub(super) materials: Vec<String>,
    /// Arguments of `mtllib` statements.
    pub(super) libraries: Vec<String>,
}

/// Consecutive elements with the same [`Shared`] state.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) shared: Shared,
    /// Offset of its positions in [`Sanitized::positions`].
    pub(super) first_position: usize,
    /// Offset of its texture coordinates in [`Sanitized::uvs`].
    pub(super) first_uv: usize,
}

/// State that all elements of a run share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shared {
    /// Index into [`Sanitized::objects`].
    pub(super) object: u32,
    /// Index into [`Sanitized::materials`].
    pub(super) material: Option<u32>,
    /// True if the elements are in a smoothing group, which is the default.
    pub(super) smooth: bool,
    pub(super) element: Element,
    /// True if any corner has texture coordinates.
    pub(super) textured: bool,
    /// True if any corner has a normal.
    pub(super) normals: bool,
}

/// Kind of primitive that a statement draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Face,
    Points,
    Line,
}

impl Element {
    const fn fewest_corners(self) -> usize {
        match self {
            Self::Face => 3,
            Self::Points => 1,
            Self::Line => 2,
        }
    }

    /// Returns the budget and the cost of an element with `corners` corners.
    const fn cost(self, corners: usize) -> (Budget, u64) {
        match self {
            Self::Face => (Budget::Triangles, corners as u64 - 2),
            Self::Points => (Budget::Lines, corners as u64),
            Self::Line => (Budget::Lines, corners as u64 - 1),
        }
    }
}

/// Indices of the file in the order of their first use in each run. tobj numbers the vertices of a model in
/// this order.
#[derive(Debug)]
pub(super) struct FirstUses {
    indices: Vec<u32>,
    /// Last run that used each index.
    last_run: Vec<u32>,
}

impl FirstUses {
    fn new(count: usize) -> Self {
        Self {
            indices: Vec::new(),
            last_run: vec![u32::MAX; count],
        }
    }

    /// Returns the number of indices that exist in the file.
    pub(super) fn count(&self) -> usize {
        self.last_run.len()
    }

    /// Returns the indices from `first` up to `next`, the first index of the following run.
    pub(super) fn part(&self, first: usize, next: Option<usize>) -> &[u32] {
        &self.indices[first..next.unwrap_or(self.indices.len())]
    }

    fn add(&mut self, run: usize, index: u32) {
        let last_run = &mut self.last_run[index as usize];
        if *last_run != run as u32 {
            *last_run = run as u32;
            self.indices.push(index);
        }
    }
}

/// Maximum number of MTL files that are looked for. No known OBJ comes close.
pub(super) const MAX_LIBRARIES: usize = 1000;

/// Sanitizes an OBJ. Broken statements are left out or replaced, with a warning. The only error is a file
/// that is no OBJ at all.
pub(super) fn sanitize(
    path: &Path,
    bytes: &[u8],
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<Sanitized> {
    let mut vertices = Vertices::default();
    vertices.read(bytes, load)?;
    if vertices.lack_colors() {
        // tobj requires that all vertices have colours or that none has.
        vertices = Vertices {
            color_all: true,
            ..Vertices::default()
        };
        vertices.read(bytes, load)?;
    }
    let mut elements = Elements::new(path, vertices, load.limits.max_triangles.saturating_add(2));
    for (line, text) in lines(bytes) {
        match statement(&text) {
            Some((keyword, rest)) => elements.statement(line, keyword, rest, load)?,
            // A file that begins with a comment counts as OBJ even if nothing else follows.
            None => elements.known |= line == 1 && !trim(&text).is_empty(),
        }
        if line % 4096 == 0 {
            load.progress().check()?;
        }
    }
    if !elements.known {
        return Err(Error::scene(
            path,
            "is not an OBJ file: none of its lines begins with v, f or another keyword",
        ));
    }
    if !elements.has_elements {
        elements.draw_vertices(load)?;
    }
    elements.warn(warnings);
    Ok(Sanitized {
        text: elements.vertices.text,
        runs: elements.runs,
        positions: elements.positions,
        uvs: elements.uvs,
        objects: elements.objects.list,
        materials: elements.materials.list,
        libraries: elements.libraries.list,
    })
}

/// Vertices of a file. They are read in a first pass, because a face may precede the vertices that it refers
/// to.
#[derive(Default)]
struct Vertices {
    text: Vec<u8>,
    positions: usize,
    uvs: usize,
    normals: usize,
    /// Indices of positions that are NaN or infinite, ascending.
    unplaced: Vec<u32>,
    /// Number of vertices with a colour.
    colors: usize,
    /// True if vertices without a colour get a NaN colour.
    color_all: bool,
    bad_numbers: Tally,
}

impl Vertices {
    fn read(&mut self, bytes: &[u8], load: &Load<'_>) -> Result<()> {
        self.text.reserve(bytes.len());
        for (line, text) in lines(bytes) {
            if line % 4096 == 0 {
                load.progress().check()?;
            }
            if text.starts_with(b"f") {
                continue;
            }
            match statement(&text) {
                Some((b"v", rest)) => self.position(line, rest),
                Some((b"vt", rest)) => {
                    self.uvs += 1;
                    self.attribute::<2>(b"vt", rest);
                }
                Some((b"vn", rest)) => {
                    // A zero normal has no direction, so it is later replaced by one computed from the
                    // triangles.
                    self.normals += 1;
                    self.attribute::<3>(b"vn", rest);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn lack_colors(&self) -> bool {
        (1..self.positions).contains(&self.colors)
    }

    /// Writes a position and its colour. The colour follows the position or its w, which is ignored.
    fn position(&mut self, line: usize, rest: &[u8]) {
        let (numbers, count) = numbers::<7>(rest);
        let placed = numbers[..3].iter().all(Option::is_some);
        if count < 3 || !placed {
            self.bad_numbers.add(line);
        }
        if !placed {
            self.unplaced.push(self.positions as u32);
        }
        self.positions += 1;
        self.text.push(b'v');
        self.write(numbers[..3].iter().map(|n| n.unwrap_or(b"0")));
        let color = match count {
            6 => &numbers[3..6],
            7 => &numbers[4..7],
            _ => &[],
        };
        if !color.is_empty() && color.iter().all(Option::is_some) {
            self.colors += 1;
            self.write(color.iter().copied().flatten());
        } else if self.color_all {
            self.write([&b"nan"[..]; 3].into_iter());
        }
        self.text.push(b'\n');
    }

    /// Writes an attribute of `N` numbers, or zeros if any of them is invalid.
    fn attribute<const N: usize>(&mut self, keyword: &[u8], rest: &[u8]) {
        let numbers = numbers::<N>(rest).0;
        let sound = numbers.iter().all(Option::is_some);
        self.text.extend_from_slice(keyword);
        self.write(numbers.iter().map(|n| n.filter(|_| sound).unwrap_or(b"0")));
        self.text.push(b'\n');
    }

    fn write<'a>(&mut self, numbers: impl Iterator<Item = &'a [u8]>) {
        for number in numbers {
            self.text.push(b' ');
            push_number(&mut self.text, number);
        }
    }
}

/// Parses up to `N` numbers from the start of `rest`, and returns how many there were. Missing ones are 0.
/// `None` means NaN, infinite or not a number.
fn numbers<const N: usize>(rest: &[u8]) -> ([Option<&[u8]>; N], usize) {
    let mut out = [Some(&b"0"[..]); N];
    let mut count = 0;
    for (value, word) in out.iter_mut().zip(words(rest)) {
        *value = is_number(word).then_some(word);
        count += 1;
    }
    (out, count)
}

/// Count and first line of a fault that may occur many times.
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
}

/// Unique names in the order of their first use.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    indices: HashMap<String, u32>,
}

impl Names {
    /// Returns the index of `name`, adding it if it is new.
    fn index_of(&mut self, name: &[u8]) -> u32 {
        let name = decode(name);
        if let Some(index) = self.indices.get(&*name) {
            return *index;
        }
        let index = self.list.len() as u32;
        self.list.push(name.clone().into_owned());
        self.indices.insert(name.into_owned(), index);
        index
    }
}

/// Zero-based indices of the position, texture coordinates and normal of a corner; [`ABSENT`] for a missing
/// one.
type Corner = [u32; 3];

/// State of the second pass, which reads everything except vertices.
struct Elements<'a> {
    path: &'a Path,
    /// Vertices from the first pass. The rewritten elements are appended to their text.
    vertices: Vertices,
    /// Numbers of positions, texture coordinates and normals before this line. Negative indices count back
    /// from them.
    before: [usize; 3],
    /// Corners of the current line.
    corners: Vec<Corner>,
    /// Maximum number of corners to read per face. A face with more exceeds the triangle limit anyway.
    most_corners: u64,
    runs: Vec<Run>,
    positions: FirstUses,
    uvs: FirstUses,
    objects: Names,
    materials: Names,
    libraries: Names,
    object: u32,
    material: Option<u32>,
    smooth: bool,
    /// True if the file has objects, in which case groups are ignored.
    has_objects: bool,
    /// True if any statement was a known OBJ statement.
    known: bool,
    /// True if any statement draws something or would if it were supported.
    has_elements: bool,
    /// True if the text already has the filler attributes for corners that lack what other corners of their
    /// face have.
    has_fillers: bool,
    bad_faces: Tally,
    non_finite_faces: Tally,
    thin_faces: Tally,
    lost_attributes: Tally,
    bad_points_and_lines: Tally,
    unplaced_thin: Tally,
    ignored: Tally,
}

impl<'a> Elements<'a> {
    fn new(path: &'a Path, vertices: Vertices, most_corners: u64) -> Self {
        Self {
            path,
            before: [0; 3],
            corners: Vec::new(),
            most_corners,
            runs: Vec::new(),
            positions: FirstUses::new(vertices.positions),
            uvs: FirstUses::new(vertices.uvs + 1),
            vertices,
            objects: Names {
                list: vec![String::new()],
                ..Names::default()
            },
            materials: Names::default(),
            libraries: Names::default(),
            object: 0,
            material: None,
            smooth: true,
            has_objects: false,
            known: false,
            has_elements: false,
            has_fillers: false,
            bad_faces: Tally::default(),
            non_finite_faces: Tally::default(),
            thin_faces: Tally::default(),
            lost_attributes: Tally::default(),
            bad_points_and_lines: Tally::default(),
            unplaced_thin: Tally::default(),
            ignored: Tally::default(),
        }
    }

    fn statement(&mut self, line: usize, keyword: &[u8], rest: &[u8], load: &mut Load<'_>) -> Result<()> {
        match keyword {
            b"v" => self.before[0] += 1,
            b"vt" => self.before[1] += 1,
            b"vn" => self.before[2] += 1,
            b"f" | b"fo" => self.element(line, rest, Element::Face, load)?,
            b"p" => self.element(line, rest, Element::Points, load)?,
            b"l" => self.element(line, rest, Element::Line, load)?,
            b"o" => {
                self.has_objects = true;
                self.object = self.objects.index_of(rest);
            }
            b"g" if !self.has_objects => self.object = self.objects.index_of(rest),
            b"usemtl" => self.material = (!rest.is_empty()).then(|| self.materials.index_of(rest)),
            // The number is limited, because each library is looked up on the disk.
            b"mtllib" if !rest.is_empty() && self.libraries.list.len() < MAX_LIBRARIES => {
                self.libraries.index_of(rest);
            }
            b"s" => self.smooth = !matches!(rest, b"off" | b"0"),
            b"curv" | b"curv2" | b"surf" | b"bzp" | b"bsp" | b"cdc" | b"cdp" | b"res" => {
                self.has_elements = true;
                self.ignored.add(line);
            }
            b"g" | b"mtllib" | b"vp" | b"cstype" | b"deg" | b"bmat" | b"step" | b"parm" | b"trim"
            | b"hole" | b"scrv" | b"sp" | b"end" | b"con" | b"mg" | b"bevel" | b"c_interp" | b"d_interp"
            | b"lod" | b"maplib" | b"usemap" | b"shadow_obj" | b"trace_obj" | b"ctech" | b"stech" => {}
            _ => return Ok(()),
        }
        self.known = true;
        Ok(())
    }

    /// Writes a face, points or a line if all of its positions exist and are finite.
    fn element(&mut self, line: usize, rest: &[u8], element: Element, load: &mut Load<'_>) -> Result<()> {
        self.has_elements = true;
        self.corners.clear();
        // True if tobj can read the corners unchanged, which saves formatting them again.
        let mut plain = rest
            .iter()
            .all(|b| b.is_ascii_digit() || matches!(b, b'/' | b' '));
        for word in words(rest) {
            let (corner, more) = corner(word, self.before);
            plain &= more.is_empty();
            self.corners.push(corner);
            if self.corners.len() as u64 > self.most_corners {
                break;
            }
        }
        let short = self.corners.len() < element.fewest_corners();
        let broken = self.corners.iter().any(|c| c[0] >= ABSENT);
        let (bad, unplaced) = match element {
            Element::Face => (&mut self.bad_faces, &mut self.non_finite_faces),
            Element::Points | Element::Line => (&mut self.bad_points_and_lines, &mut self.unplaced_thin),
        };
        if short && !broken && element == Element::Face {
            self.thin_faces.add(line);
            return Ok(());
        }
        if short || broken {
            bad.add(line);
            return Ok(());
        }
        let (budget, cost) = element.cost(self.corners.len());
        load.take(budget, cost, || self.path.display().to_string())?;
        if self
            .corners
            .iter()
            .any(|c| c[0] as usize >= self.vertices.positions)
        {
            bad.add(line);
            return Ok(());
        }
        let not_finite = &self.vertices.unplaced;
        if !not_finite.is_empty()
            && self
                .corners
                .iter()
                .any(|c| not_finite.binary_search(&c[0]).is_ok())
        {
            unplaced.add(line);
            return Ok(());
        }
        let counts = [self.vertices.uvs, self.vertices.normals];
        let mut lost = false;
        for attributes in &mut self.corners {
            for (index, count) in attributes[1..].iter_mut().zip(counts) {
                if *index != ABSENT && *index as usize >= count {
                    *index = ABSENT;
                    lost = true;
                }
            }
        }
        if lost && element == Element::Face {
            self.lost_attributes.add(line);
        }
        self.write(element, Some(rest).filter(|_| plain && !lost));
        Ok(())
    }

    /// Draws the vertices as points, because a file with nothing but vertices is a point cloud.
    fn draw_vertices(&mut self, load: &mut Load<'_>) -> Result<()> {
        let not_finite = &self.vertices.unplaced;
        let all = 0..self.vertices.positions as u32;
        let placed: Vec<u32> = all
            .filter(|index| not_finite.binary_search(index).is_err())
            .collect();
        let (budget, cost) = Element::Points.cost(placed.len());
        load.take(budget, cost, || self.path.display().to_string())?;
        for part in placed.chunks(4096) {
            load.progress().check()?;
            self.corners.clear();
            self.corners
                .extend(part.iter().map(|index| [*index, ABSENT, ABSENT]));
            self.write(Element::Points, None);
        }
        Ok(())
    }

    /// Writes the corners, preceded by `g N` if their shared state differs from the state of the last run.
    /// `plain` is their text if tobj can read it unchanged.
    fn write(&mut self, element: Element, plain: Option<&[u8]>) {
        let any = |part: usize| self.corners.iter().any(|c| c[part] != ABSENT);
        let (textured, normals) = (any(1), any(2) && element == Element::Face);
        let all = |part: usize| self.corners.iter().all(|c| c[part] != ABSENT);
        let mixed = textured && !all(1) || normals && !all(2);
        let text = &mut self.vertices.text;
        if mixed && !self.has_fillers {
            // For a missing attribute, tobj would repeat the attribute of the previous corner, so such
            // corners refer to these fillers.
            self.has_fillers = true;
            text.extend_from_slice(b"vt nan nan\nvn 0 0 0\n");
        }
        let shared = Shared {
            object: self.object,
            material: self.material,
            smooth: self.smooth,
            element,
            textured,
            normals,
        };
        if self.runs.last().is_none_or(|run| run.shared != shared) {
            text.extend_from_slice(b"g ");
            write_number(text, self.runs.len() as u32);
            text.push(b'\n');
            self.runs.push(Run {
                shared,
                first_position: self.positions.indices.len(),
                first_uv: self.uvs.indices.len(),
            });
        }
        let run = self.runs.len();
        let fillers = [self.vertices.uvs, self.vertices.normals].map(|count| count as u32);
        for [position, uv, normal] in &mut self.corners {
            self.positions.add(run, *position);
            (*uv, *normal) = ((*uv).min(fillers[0]), (*normal).min(fillers[1]));
            if textured {
                self.uvs.add(run, *uv);
            }
        }
        text.push(b'f');
        if let Some(plain) = plain.filter(|_| !mixed && element == Element::Face) {
            text.push(b' ');
            text.extend_from_slice(plain);
        } else {
            for [position, uv, normal] in &self.corners {
                text.push(b' ');
                write_number(text, position + 1);
                if textured || normals {
                    text.push(b'/');
                }
                if textured {
                    write_number(text, uv + 1);
                }
                if normals {
                    text.push(b'/');
                    write_number(text, normal + 1);
                }
            }
        }
        text.push(b'\n');
    }

    fn warn(&self, warnings: &mut Vec<String>) {
        for (tally, what) in [
            (
                &self.vertices.bad_numbers,
                "vertices have missing or invalid numbers",
            ),
            (
                &self.bad_faces,
                "faces refer to vertices that do not exist and are left out",
            ),
            (
                &self.non_finite_faces,
                "faces have corners that are NaN or infinite and are left out",
            ),
            (
                &self.thin_faces,
                "faces have fewer than three corners and are left out",
            ),
            (
                &self.lost_attributes,
                "faces refer to texture coordinates or normals that do not exist and are read without them",
            ),
            (
                &self.bad_points_and_lines,
                "points and lines lack vertices, or refer to some that do not exist, and are left out",
            ),
            (
                &self.unplaced_thin,
                "points and lines have corners that are NaN or infinite and are left out",
            ),
            (&self.ignored, "curves and surfaces are ignored"),
        ] {
            if tally.count > 0 {
                warnings.push(format!(
                    "{} {what}, the first in line {}",
                    tally.count, tally.first_line
                ));
            }
        }
    }
}

/// Index that is out of range of every list.
const NOWHERE: u32 = u32::MAX;

/// Index of an attribute that a corner does not have.
pub(super) const ABSENT: u32 = u32::MAX - 1;

/// Parses the indices of a word such as `1/2/3`. Returns them with the unparsed rest.
fn corner(word: &[u8], before: [usize; 3]) -> (Corner, &[u8]) {
    let mut corner = [ABSENT; 3];
    let mut rest = word;
    for (index, count) in corner.iter_mut().zip(before) {
        let end = rest.iter().position(|b| *b == b'/').unwrap_or(rest.len());
        *index = resolve(&rest[..end], count);
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    (corner, rest)
}

/// Converts an OBJ index to a zero-based one. OBJ indices count from 1, or from −1 backwards from the last of
/// `count`. Returns [`NOWHERE`] for an index that precedes the first, exceeds 32 bits or is not a number.
fn resolve(part: &[u8], count: usize) -> u32 {
    if part.is_empty() {
        return ABSENT;
    }
    if let Some(index) = digits(part) {
        return index.checked_sub(1).unwrap_or(NOWHERE);
    }
    let index = std::str::from_utf8(part)
        .ok()
        .and_then(|part| part.parse::<i64>().ok());
    let from_zero = index.and_then(|index| {
        if index < 0 {
            (count as i64).checked_add(index)
        } else {
            index.checked_sub(1)
        }
    });
    from_zero.and_then(|i| u32::try_from(i).ok()).unwrap_or(NOWHERE)
}

/// Parses up to nine decimal digits, a fast path that covers most indices.
fn digits(part: &[u8]) -> Option<u32> {
    if !(1..10).contains(&part.len()) {
        return None;
    }
    let mut number = 0;
    for byte in part {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = 10 * number + u32::from(byte - b'0');
    }
    Some(number)
}

/// Writes a number in decimal digits. `write!` is several times slower.
fn write_number(text: &mut Vec<u8>, number: u32) {
    let mut digits = [0; 10];
    let mut first = digits.len();
    let mut left = number;
    loop {
        first -= 1;
        digits[first] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    text.extend(&digits[first..]);
}
