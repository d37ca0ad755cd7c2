//! NRRD, attached (`.nrrd`) and detached (`.nhdr` with a separate file of raw numbers).
//!
//! The format is defined by "Definition of NRRD File Format" of the Teem library.

use super::{
    Grid, inflate,
    placement::{affine, anatomical, checked},
    reading::Reading,
    scalar::{Finite, Scalar},
};
use crate::{Result, files::shorten};
use glam::{DMat3, DMat4, DVec3};
use std::{collections::HashMap, io::Read};

/// Magic bytes at the start of a file.
pub(super) const MAGIC: &[u8] = b"NRRD000";

/// Maximum size of a header in bytes.
const MAX_HEADER_BYTES: usize = 1 << 20;

/// Maximum number of axes of an array. canopy reads three spatial axes and one of components.
const MAX_AXES: usize = 4;

/// Reads the grid of a file.
pub(super) fn read(bytes: &[u8], reading: &mut Reading<'_, '_>) -> Result<Grid> {
    let header = Header::parse(bytes).map_err(|e| reading.error(e))?;
    let array = Array::of(&header).map_err(|e| reading.error(e))?;
    let placement = Placement::of(&header, &array).map_err(|e| reading.error(e))?;
    placement.warning.iter().for_each(|what| reading.warn(what));
    array.warning.iter().for_each(|what| reading.warn(what));
    let file;
    let data: &[u8] = match header.data_file().map_err(|e| reading.error(e))? {
        None => &bytes[header.length..],
        Some(name) => {
            let folder = reading.folder()?;
            file = folder.path(name).map_err(|e| reading.error(e))?;
            &file
        }
    };
    let values = values(&header, &array, data, reading)?;
    Ok(Grid {
        name: header.get("content").map_or_else(String::new, shorten),
        components: array.components,
        size: array.size,
        volume_from_voxel: placement.matrix,
        values,
        background: 0.0,
    })
}

/// Fields of a header.
#[derive(Debug)]
struct Header<'a> {
    /// Values of the fields, keyed by lower-case name.
    fields: HashMap<String, &'a str>,
    /// Offset of the data in bytes.
    length: usize,
}

impl<'a> Header<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        if !bytes.starts_with(MAGIC) {
            return Err("does not begin like an NRRD file".into());
        }
        let mut header = Self {
            fields: HashMap::new(),
            length: bytes.len(),
        };
        let mut at = 0;
        // The data begin after an empty line, or are in another file.
        while at < bytes.len() {
            let rest = &bytes[at..bytes.len().min(MAX_HEADER_BYTES)];
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            at += end + 1;
            if at > MAX_HEADER_BYTES {
                return Err("has a header of more than a megabyte".into());
            }
            let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
            if line.is_empty() {
                header.length = at.min(bytes.len());
                break;
            }
            let line = str::from_utf8(line).map_err(|_| "has a header that is not text")?;
            // Comments, the magic line, and user-defined keys.
            if line.starts_with('#') || line.starts_with("NRRD") || line.contains(":=") {
                continue;
            }
            let (name, value) = line
                .split_once(':')
                .ok_or_else(|| format!("has the header line \"{}\", which is not a field", shorten(line)))?;
            let name = name.trim().to_ascii_lowercase();
            header.fields.entry(name).or_insert(value.trim());
        }
        Ok(header)
    }

    /// Returns the value of a field, whose name may be written without its blanks.
    fn get(&self, name: &str) -> Option<&'a str> {
        let together = || self.fields.get(name.replace(' ', "").as_str());
        self.fields.get(name).or_else(together).copied()
    }

    fn need(&self, name: &str) -> Result<&'a str, String> {
        self.get(name).ok_or_else(|| format!("has no field \"{name}\""))
    }

    /// Returns the name of the data file, or `None` if the data follow the header.
    fn data_file(&self) -> Result<Option<&'a str>, String> {
        let Some(name) = self.get("data file") else {
            return Ok(None);
        };
        if name.starts_with("LIST") || name.contains('%') {
            return Err("has its data in several files; canopy reads one".into());
        }
        Ok(Some(name))
    }

    /// Returns an integer field, or 0 if it is missing.
    fn integer(&self, name: &str) -> Result<i64, String> {
        let value = self.get(name).unwrap_or("0");
        value
            .parse()
            .map_err(|_| format!("has the {name} \"{}\"", shorten(value)))
    }
}

/// Array of numbers with three spatial axes and one of components.
#[derive(Debug)]
struct Array {
    scalar: Scalar,
    /// Number of voxels along the spatial axes.
    size: [u32; 3],
    /// Indices of the spatial axes.
    space: [usize; 3],
    /// Number of components per voxel in the file.
    stored: u64,
    /// Number of components per voxel in the grid, which are the first of those in the file.
    components: usize,
    /// Stride between the components of a voxel, in numbers.
    stride: u64,
    /// Total number of numbers in the array.
    count: u64,
    warning: Option<String>,
}

impl Array {
    fn of(header: &Header<'_>) -> Result<Self, String> {
        let dimension: usize = header
            .need("dimension")?
            .parse()
            .map_err(|_| "has a dimension that is not a number")?;
        let sizes: Option<Vec<u64>> = header
            .need("sizes")?
            .split_ascii_whitespace()
            .map(|size| size.parse().ok().filter(|size| *size > 0))
            .collect();
        let sizes = sizes.ok_or("has sizes that are not positive numbers")?;
        if sizes.len() != dimension {
            return Err(format!(
                "declares {dimension} axes but gives {} sizes",
                sizes.len()
            ));
        }
        if !(3..=MAX_AXES).contains(&dimension) {
            return Err(format!(
                "has {dimension} axes; canopy reads 3, or 4 if one holds the components of a voxel"
            ));
        }
        let (other, is_color) = other_axis(header, &sizes)?;
        let space: Vec<usize> = (0..dimension).filter(|axis| Some(*axis) != other).collect();
        let space: [usize; 3] = space
            .try_into()
            .map_err(|_| "has fewer than three axes of space")?;
        let mut size = [0; 3];
        for (size, axis) in size.iter_mut().zip(space) {
            *size = u32::try_from(sizes[axis])
                .map_err(|_| format!("has {} voxels along an axis", sizes[axis]))?;
        }
        let product = |sizes: &[u64]| sizes.iter().try_fold(1_u64, |all, n| all.checked_mul(*n));
        let count = product(&sizes).ok_or("has more values than can be counted")?;
        let stored = other.map_or(1, |axis| sizes[axis]);
        let stride = other.and_then(|axis| product(&sizes[..axis])).unwrap_or(1);
        let components = if is_color && stored >= 3 { 3 } else { 1 };
        let warning = (stored != components as u64)
            .then(|| format!("has {stored} values in a voxel; canopy reads the first {components}"));
        Ok(Self {
            scalar: scalar(header.need("type")?)?,
            size,
            space,
            stored,
            components,
            stride,
            count,
            warning,
        })
    }

    /// Returns how many numbers to read from the file. If the last axis holds the components, the components
    /// at its end that canopy does not use are not read.
    fn read(&self) -> u64 {
        let per_voxel = self.stored * self.stride;
        if per_voxel == self.count {
            self.stride * self.components as u64
        } else {
            self.count
        }
    }

    /// Returns the index in the grid of the number at `index` of the file, if it is used.
    fn place(&self, index: u64) -> Option<usize> {
        let (block, within) = (
            index / (self.stride * self.stored),
            index % (self.stride * self.stored),
        );
        let (component, before) = (within / self.stride, within % self.stride);
        let components = self.components as u64;
        let voxel = block * self.stride + before;
        (component < components).then_some((voxel * components + component) as usize)
    }
}

/// Finds the axis that is not spatial. The flag is true if its components form a colour or a vector.
fn other_axis(header: &Header<'_>, sizes: &[u64]) -> Result<(Option<usize>, bool), String> {
    let kinds: Vec<&str> = header
        .get("kinds")
        .map(|kinds| kinds.split_ascii_whitespace().collect())
        .unwrap_or_default();
    let is_space = |kind: &str| ["space", "domain", "none", "???"].contains(&kind);
    let mut others: Vec<usize> = (0..kinds.len().min(sizes.len()))
        .filter(|axis| !is_space(&kinds[*axis].to_ascii_lowercase()))
        .collect();
    if let Some(text) = header.get("space directions") {
        let directions = vectors(text)?;
        others.extend((0..directions.len()).filter(|axis| directions[*axis].is_none()));
        others.sort_unstable();
        others.dedup();
    }
    if sizes.len() == 4 && others.is_empty() {
        // Without metadata, a short first axis is taken as colours, and otherwise the last axis as time.
        others.push(if sizes[0] <= 4 { 0 } else { 3 });
    }
    match others[..] {
        [] => Ok((None, false)),
        [axis] if axis < sizes.len() => {
            let kind = kinds.get(axis).map(|kind| kind.to_ascii_lowercase());
            let is_list = kind.is_some_and(|kind| ["list", "time"].contains(&kind.as_str()));
            Ok((Some(axis), !is_list && sizes[axis] <= 4))
        }
        _ => Err("has fewer than three axes of space".into()),
    }
}

fn scalar(name: &str) -> Result<Scalar, String> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "signed char" | "int8" | "int8_t" => Scalar::I8,
        "uchar" | "unsigned char" | "uint8" | "uint8_t" => Scalar::U8,
        "short" | "short int" | "signed short" | "signed short int" | "int16" | "int16_t" => Scalar::I16,
        "ushort" | "unsigned short" | "unsigned short int" | "uint16" | "uint16_t" => Scalar::U16,
        "int" | "signed int" | "int32" | "int32_t" => Scalar::I32,
        "uint" | "unsigned int" | "uint32" | "uint32_t" => Scalar::U32,
        "longlong"
        | "long long"
        | "long long int"
        | "signed long long"
        | "signed long long int"
        | "int64"
        | "int64_t" => Scalar::I64,
        "ulonglong" | "unsigned long long" | "unsigned long long int" | "uint64" | "uint64_t" => Scalar::U64,
        "float" => Scalar::F32,
        "double" => Scalar::F64,
        _ => {
            return Err(format!(
                "has values of the type \"{}\", which canopy does not read",
                shorten(name)
            ));
        }
    })
}

/// Reads the values of the grid.
fn values(
    header: &Header<'_>,
    array: &Array,
    data: &[u8],
    reading: &mut Reading<'_, '_>,
) -> Result<Vec<f32>> {
    let integer = |name: &str| header.integer(name).map_err(|e| reading.error(e));
    let (lines, skipped) = (integer("line skip")?, integer("byte skip")?);
    let encoding = header.need("encoding").map_err(|e| reading.error(e))?;
    let encoding = encoding.to_ascii_lowercase();
    let mut data = data;
    for _ in 0..lines.max(0) {
        let Some(end) = memchr::memchr(b'\n', data) else {
            return Err(reading.error("is cut off: it has fewer lines than it says to skip"));
        };
        data = &data[end + 1..];
    }
    let gzip = match encoding.as_str() {
        "raw" | "txt" | "text" | "ascii" => false,
        "gz" | "gzip" => true,
        other => {
            return Err(reading.error(format!(
                "has the encoding \"{}\"; canopy reads raw, gzip and text",
                shorten(other)
            )));
        }
    };
    let read = array.read();
    let size = array.size.map(u64::from);
    let background = vec![0.0; array.components];
    let mut finite = Finite::default();
    let mut values;
    if !gzip && encoding != "raw" {
        // At least a digit and a blank per number.
        reading.can_hold(data.len() + 1, false, read.saturating_mul(2))?;
        values = reading.grid("", size, &background)?;
        text(data, read, reading, |index, value| {
            if let Some(place) = array.place(index) {
                values[place] = finite.of(value);
            }
        })?;
    } else {
        let needed = read.saturating_mul(array.scalar.bytes() as u64);
        let skipped = match u64::try_from(skipped) {
            Ok(skipped) => skipped,
            // The data are at the end of the file.
            Err(_) if !gzip => {
                let all = array.count.saturating_mul(array.scalar.bytes() as u64);
                (data.len() as u64).saturating_sub(all)
            }
            Err(_) => return Err(reading.error("is compressed and has a byte skip of -1")),
        };
        reading.can_hold(data.len(), gzip, needed.saturating_add(skipped))?;
        let big_endian = match header.get("endian").map(str::to_ascii_lowercase).as_deref() {
            Some("big") => true,
            Some("little") => false,
            None if array.scalar.bytes() == 1 => false,
            _ => return Err(reading.error("does not say whether its values are little endian")),
        };
        values = reading.grid("", size, &background)?;
        let mut from = inflate::reader(data, gzip);
        let passed = std::io::copy(&mut from.by_ref().take(skipped), &mut std::io::sink());
        if passed.ok() != Some(skipped) {
            return Err(reading.error("is cut off before its values"));
        }
        let scalar = array.scalar;
        reading.numbers(&mut from, scalar, big_endian, read, |index, value| {
            if let Some(place) = array.place(index) {
                values[place] = finite.of(value);
            }
        })?;
    }
    reading.warn_of(&finite);
    Ok(values)
}

/// Calls `each` with `count` numbers that are written as text.
fn text(data: &[u8], count: u64, reading: &Reading<'_, '_>, mut each: impl FnMut(u64, f64)) -> Result<()> {
    let mut words = data
        .split(|byte| byte.is_ascii_whitespace() || *byte == b',')
        .filter(|word| !word.is_empty());
    for index in 0..count {
        if index.is_multiple_of(1 << 16) {
            reading.check()?;
        }
        let word = words
            .next()
            .ok_or_else(|| reading.error(format!("is cut off: it has {index} of {count} values")))?;
        let word = String::from_utf8_lossy(word);
        let value: f64 = word
            .parse()
            .map_err(|_| reading.error(format!("has \"{}\" instead of a number", shorten(&word))))?;
        each(index, value);
    }
    Ok(())
}

/// Placement of the voxels in space.
#[derive(Debug)]
struct Placement {
    matrix: glam::Mat4,
    warning: Option<String>,
}

impl Placement {
    fn of(header: &Header<'_>, array: &Array) -> Result<Self, String> {
        let mut axes = [DVec3::X, DVec3::Y, DVec3::Z];
        if let Some(text) = header.get("space directions") {
            let directions = vectors(text)?;
            for (axis, index) in axes.iter_mut().zip(array.space) {
                *axis = directions
                    .get(index)
                    .copied()
                    .flatten()
                    .ok_or("has an axis of space without a direction")?;
            }
        } else if let Some(text) = header.get("spacings") {
            let spacings: Vec<f64> = text
                .split_ascii_whitespace()
                .map(|word| word.parse().unwrap_or(f64::NAN))
                .collect();
            for (axis, index) in axes.iter_mut().zip(array.space) {
                // NaN means "unknown".
                let spacing = spacings.get(index).copied().filter(|s| !s.is_nan());
                *axis *= spacing.unwrap_or(1.0);
            }
        }
        let origin = match header.get("space origin") {
            Some(text) => match vectors(text)?[..] {
                [Some(origin)] => origin,
                _ => return Err("has a space origin that is not a vector".into()),
            },
            None => DVec3::ZERO,
        };
        let mut warning = None;
        let basis = match header.get("space") {
            Some(space) => basis(space).unwrap_or_else(|| {
                warning = Some(format!(
                    "has the space \"{}\", which canopy does not know; its axes are kept",
                    shorten(space)
                ));
                DMat3::IDENTITY
            }),
            None => DMat3::IDENTITY,
        };
        let meters = basis * meters(header.get("space units"), &mut warning);
        let matrix = DMat4::from_mat3(meters) * affine(axes, origin);
        Ok(Self {
            matrix: checked(matrix)?,
            warning,
        })
    }
}

/// Parses the vectors of "(1,0,0) (0,1,0) none", in which `none` becomes `None`.
fn vectors(text: &str) -> Result<Vec<Option<DVec3>>, String> {
    let wrong = || format!("has \"{}\" instead of vectors of three numbers", shorten(text));
    let mut vectors = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() && vectors.len() <= MAX_AXES {
        if let Some(after) = rest.strip_prefix("none") {
            vectors.push(None);
            rest = after.trim_start();
            continue;
        }
        let inside = rest.strip_prefix('(').ok_or_else(wrong)?;
        let (inside, after) = inside.split_once(')').ok_or_else(wrong)?;
        let numbers: Vec<f64> = inside
            .split(',')
            .map(|number| number.trim().parse().map_err(|_| wrong()))
            .collect::<Result<_, String>>()?;
        let [x, y, z] = numbers[..] else {
            return Err(wrong());
        };
        vectors.push(Some(DVec3::new(x, y, z)));
        rest = after.trim_start();
    }
    Ok(vectors)
}

/// Returns the axes of a space in canopy's convention.
fn basis(space: &str) -> Option<DMat3> {
    let space = space.trim_matches('"').to_ascii_lowercase();
    let of = |letters: [char; 3]| {
        let [x, y, z] = letters.map(anatomical);
        Some(DMat3::from_cols(x?, y?, z?))
    };
    let first = |word: &str| word.chars().next();
    match space.trim_end_matches("-time") {
        "3d-right-handed" => Some(DMat3::IDENTITY),
        "3d-left-handed" => Some(DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0))),
        "scanner-xyz" => of(['R', 'A', 'S']),
        words if words.contains('-') => {
            let letters: Option<Vec<char>> = words.split('-').map(first).collect();
            of(letters?.try_into().ok()?)
        }
        letters => {
            let letters: Vec<char> = letters.trim_end_matches('t').chars().collect();
            of(letters.try_into().ok()?)
        }
    }
}

/// Returns the size of a unit of the file in metres. The default is a millimetre, which is usual for scans.
fn meters(units: Option<&str>, warning: &mut Option<String>) -> f64 {
    let Some(units) = units else { return 1e-3 };
    let first = units.split('"').find(|unit| !unit.trim().is_empty());
    match first.unwrap_or_default().trim() {
        "m" | "meter" | "metre" | "meters" => 1.0,
        "cm" => 1e-2,
        "" | "mm" | "millimeter" | "millimetre" => 1e-3,
        "um" | "µm" | "μm" | "micron" | "microns" | "micrometer" => 1e-6,
        "nm" => 1e-9,
        other => {
            *warning = Some(format!(
                "has the unit \"{}\", which canopy reads as millimetres",
                shorten(other)
            ));
            1e-3
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nrrd_spaces_map_to_y_up() {
        for (space, x, y, z) in [
            ("right-anterior-superior", DVec3::NEG_X, DVec3::Z, DVec3::Y),
            ("RAS", DVec3::NEG_X, DVec3::Z, DVec3::Y),
            ("left-posterior-superior", DVec3::X, DVec3::NEG_Z, DVec3::Y),
            ("LPST", DVec3::X, DVec3::NEG_Z, DVec3::Y),
            ("left-anterior-superior-time", DVec3::X, DVec3::Z, DVec3::Y),
            ("3D-right-handed", DVec3::X, DVec3::Y, DVec3::Z),
            ("3D-left-handed", DVec3::X, DVec3::Y, DVec3::NEG_Z),
        ] {
            assert_eq!(basis(space), Some(DMat3::from_cols(x, y, z)), "{space}");
        }
        for space in ["", "sideways", "LP", "a-b-c", "left-posterior"] {
            assert_eq!(basis(space), None, "{space}");
        }
    }

    #[test]
    fn nrrd_vectors_are_parsed_or_refused() {
        let read = vectors("(1,0,0.5) none (0, -1e1 ,0)").unwrap();
        let expected = [
            Some(DVec3::new(1.0, 0.0, 0.5)),
            None,
            Some(DVec3::new(0.0, -10.0, 0.0)),
        ];
        assert_eq!(read, expected);
        for text in ["(1,2)", "(1,2,3", "1,2,3", "(a,b,c)", "()"] {
            vectors(text).unwrap_err();
        }
    }
}
