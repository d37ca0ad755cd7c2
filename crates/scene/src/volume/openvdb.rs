//! OpenVDB (`.vdb`): trees of the usual configuration (5, 4, 3), converted to dense grids.
//!
//! The format is defined by OpenVDB's `io/Archive.cc`, `io/Compression.h` and `tree/*.h`, file versions 222
//! (OpenVDB 2.0) to 224. canopy has its own reader, because the crate `vdb-rs` 0.6 panics on broken files,
//! and allocates whatever sizes they declare.

use super::{
    Grid, blosc,
    cursor::Cursor,
    inflate::Inflater,
    reading::Reading,
    scalar::Scalar,
    sparse::{
        Dense, LEAF_EDGE, LEAF_VOXELS, LOWER, Part, ROOT_EDGE, UPPER, Value, VoxelBounds, child_origin,
        is_root_origin, is_set,
    },
};
use crate::{Result, files::shorten};
use glam::{DMat3, DMat4, DVec3};
use std::collections::HashSet;

/// Magic bytes at the start of a file.
pub(super) const MAGIC: &[u8] = b" BDV\0\0\0\0";

/// Supported file versions. Version 222 introduced node-mask compression.
const VERSIONS: std::ops::RangeInclusive<u32> = 222..=224;

/// Flag bits of a grid's compression.
const ZIP: u32 = 1;
const ACTIVE_MASK: u32 = 2;
const BLOSC: u32 = 4;

/// Separator between the name of a grid and its number among grids of the same name.
const NUMBERED: char = '\u{1e}';

/// Type suffix of a grid whose numbers are stored as half floats.
const AS_HALF: &str = "_HalfFloat";

/// Reads the grids of a file.
pub(super) fn read(bytes: &[u8], reading: &mut Reading<'_, '_>) -> Result<Vec<Grid>> {
    let mut cursor = Cursor::new(bytes);
    let header = Header::read(&mut cursor).map_err(|e| reading.error(e))?;
    reading.generator = Some(header.library);
    let mut grids = Vec::new();
    for _ in 0..header.grids {
        reading.check()?;
        let descriptor = Descriptor::read(&mut cursor, header.has_offsets).map_err(|e| reading.error(e))?;
        let name = shorten(&descriptor.name);
        let kind = match (Kind::of(&descriptor.kind), descriptor.is_instance) {
            (Some(kind), false) => kind,
            (kind, _) => {
                let why = match kind {
                    None => format!("is of the type {}", shorten(&descriptor.kind)),
                    Some(_) => "is an instance of another".into(),
                };
                reading.warn(format!("grid \"{name}\" {why}, which canopy does not read"));
                let Some(end) = descriptor.end else {
                    return Err(reading.error("cannot be read further: it does not store where grids end"));
                };
                cursor.seek(end).map_err(|e| reading.error(e))?;
                continue;
            }
        };
        if let Some(start) = descriptor.start {
            cursor.seek(start).map_err(|e| reading.error(e))?;
        }
        let in_grid = |e: String| format!("grid \"{name}\": {e}");
        let placed = GridHeader::read(&mut cursor).map_err(|e| reading.error(in_grid(e)))?;
        let tree = Tree {
            kind,
            compression: placed.compression,
        };
        grids.extend(tree.grid(&mut cursor, &name, &placed, reading)?);
        if let Some(end) = descriptor.end {
            // Grids must not overlap. Otherwise a malicious file could have the same bytes read again and
            // again.
            if cursor.position() as u64 > end {
                return Err(reading.error(format!("grid \"{name}\" goes on past its end")));
            }
            cursor.seek(end).map_err(|e| reading.error(e))?;
        }
    }
    Ok(grids)
}

/// File header.
#[derive(Debug)]
struct Header {
    /// Version of the library that wrote the file.
    library: String,
    has_offsets: bool,
    grids: u32,
}

impl Header {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, String> {
        const UUID: usize = 36;
        if cursor.take(MAGIC.len())? != MAGIC {
            return Err("does not begin like an OpenVDB file".into());
        }
        let version = cursor.u32()?;
        if !VERSIONS.contains(&version) {
            return Err(format!(
                "is of OpenVDB's file version {version}; canopy reads {} to {}",
                VERSIONS.start(),
                VERSIONS.end()
            ));
        }
        let [major, minor] = [cursor.u32()?, cursor.u32()?];
        let has_offsets = cursor.u8()? != 0;
        cursor.take(UUID)?;
        skip_metadata(cursor)?;
        Ok(Self {
            library: format!("OpenVDB {major}.{minor}"),
            has_offsets,
            grids: cursor.u32()?,
        })
    }
}

/// Reads a length and as many bytes.
fn string<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], String> {
    let length = cursor.u32()? as usize;
    cursor.take(length)
}

fn text(cursor: &mut Cursor<'_>) -> Result<String, String> {
    Ok(String::from_utf8_lossy(string(cursor)?).into_owned())
}

/// Skips a map of names, types and values.
fn skip_metadata(cursor: &mut Cursor<'_>) -> Result<(), String> {
    for _ in 0..cursor.u32()? {
        for _ in ["name", "type", "value"] {
            string(cursor)?;
        }
    }
    Ok(())
}

/// Descriptor of a grid, which precedes it.
#[derive(Debug)]
struct Descriptor {
    name: String,
    kind: String,
    /// True if it shares the tree of another grid.
    is_instance: bool,
    /// Byte offsets of its start and end, if the file has them.
    start: Option<u64>,
    end: Option<u64>,
}

impl Descriptor {
    fn read(cursor: &mut Cursor<'_>, has_offsets: bool) -> Result<Self, String> {
        let name = text(cursor)?;
        let kind = text(cursor)?;
        let is_instance = !string(cursor)?.is_empty();
        let (mut start, mut end) = (None, None);
        if has_offsets {
            let [grid, _blocks, after] = [cursor.u64()?, cursor.u64()?, cursor.u64()?];
            // Offsets must not decrease. Otherwise a malicious file could be read forever.
            let at = cursor.position() as u64;
            if grid < at || after < grid {
                return Err(format!(
                    "has grid offsets that decrease: descriptor {at}, grid {grid}, end {after}"
                ));
            }
            (start, end) = (Some(grid), Some(after));
        }
        Ok(Self {
            name: name.split(NUMBERED).next().unwrap_or_default().to_owned(),
            kind,
            is_instance,
            start,
            end,
        })
    }
}

/// Compression and transform at the start of a grid.
#[derive(Debug)]
struct GridHeader {
    compression: u32,
    volume_from_index: DMat4,
}

impl GridHeader {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, String> {
        let compression = cursor.u32()?;
        skip_metadata(cursor)?;
        Ok(Self {
            compression,
            volume_from_index: map(cursor)?,
        })
    }
}

/// Reads the transform of a grid.
fn map(cursor: &mut Cursor<'_>) -> Result<DMat4, String> {
    let kind = text(cursor)?;
    // The scale is followed by voxel sizes, inverses and squares of it.
    let scale = |cursor: &mut Cursor<'_>| {
        let scale = DVec3::from(cursor.f64s::<3>()?);
        cursor.f64s::<12>()?;
        Ok::<_, String>(DMat3::from_diagonal(scale))
    };
    let from = |axes: DMat3, origin: DVec3| {
        let mut matrix = DMat4::from_mat3(axes);
        matrix.w_axis = origin.extend(1.0);
        matrix
    };
    Ok(match kind.as_str() {
        "UniformScaleMap" | "ScaleMap" => from(scale(cursor)?, DVec3::ZERO),
        "UniformScaleTranslateMap" | "ScaleTranslateMap" => {
            let origin = DVec3::from(cursor.f64s::<3>()?);
            from(scale(cursor)?, origin)
        }
        "TranslationMap" => from(DMat3::IDENTITY, cursor.f64s::<3>()?.into()),
        // OpenVDB multiplies row vectors from the left, so its matrix rows are the columns of these matrices.
        "AffineMap" | "UnitaryMap" => DMat4::from_cols_array(&cursor.f64s::<16>()?),
        other => {
            return Err(format!(
                "is placed by a {}, which canopy does not read",
                shorten(other)
            ));
        }
    })
}

/// Type of values.
#[derive(Debug, Clone, Copy)]
struct Kind {
    scalar: Scalar,
    components: usize,
    /// Type in which node values are stored.
    stored: Scalar,
}

impl Kind {
    /// Returns the type in the name of a tree, if it is supported.
    fn of(name: &str) -> Option<Self> {
        let (name, as_half) = match name.strip_suffix(AS_HALF) {
            Some(name) => (name, true),
            None => (name, false),
        };
        let value = name.strip_prefix("Tree_")?.strip_suffix("_5_4_3")?;
        let (scalar, components) = match value {
            "float" => (Scalar::F32, 1),
            "double" => (Scalar::F64, 1),
            "half" => (Scalar::F16, 1),
            "int32" => (Scalar::I32, 1),
            "int64" => (Scalar::I64, 1),
            "vec3s" => (Scalar::F32, 3),
            "vec3d" => (Scalar::F64, 3),
            "vec3i" => (Scalar::I32, 3),
            _ => return None,
        };
        let is_real = matches!(scalar, Scalar::F32 | Scalar::F64);
        let stored = if as_half && is_real { Scalar::F16 } else { scalar };
        Some(Self {
            scalar,
            components,
            stored,
        })
    }

    /// Reads a value outside the compressed blocks.
    fn value(self, cursor: &mut Cursor<'_>) -> Result<Value, String> {
        let bytes = cursor.take(self.scalar.bytes() * self.components)?;
        Ok(self.decode(bytes, self.scalar))
    }

    fn decode(self, bytes: &[u8], scalar: Scalar) -> Value {
        let mut value = [0.0; 3];
        let numbers = bytes.chunks_exact(scalar.bytes());
        for (value, bytes) in value[..self.components].iter_mut().zip(numbers) {
            *value = scalar.decode(bytes, false);
        }
        value
    }
}

/// Scratch buffers for decompressing nodes.
#[derive(Debug, Default)]
struct Scratch {
    inflater: Inflater,
    bytes: Vec<u8>,
    values: Vec<Value>,
}

/// Value type and compression of a tree.
#[derive(Debug)]
struct Tree {
    kind: Kind,
    compression: u32,
}

impl Tree {
    /// Reads the dense grid of a tree. Returns `None` with a warning if none of its voxels is active.
    fn grid(
        &self,
        cursor: &mut Cursor<'_>,
        name: &str,
        placed: &GridHeader,
        reading: &mut Reading<'_, '_>,
    ) -> Result<Option<Grid>> {
        let in_grid = |e: String| format!("grid \"{name}\": {e}");
        let mut scratch = Scratch::default();
        let mut span = VoxelBounds::EMPTY;
        // The topology is read twice, and the first pass only determines the bounding box. Tiles are as large
        // as that box permits, and a byte may encode thousands of them.
        let background = self
            .topology(&mut cursor.clone(), &mut scratch, &mut |part| {
                span.add(&part);
            })
            .map_err(|e| reading.error(in_grid(e)))?;
        let components = self.kind.components;
        let Some(mut dense) = Dense::new(name, span, components, background, reading)? else {
            reading.warn(format!("grid \"{name}\" has no active voxels; it is left out"));
            return Ok(None);
        };
        let mut leaves = Vec::new();
        self.topology(cursor, &mut scratch, &mut |part| match part {
            Part::Tile {
                origin, edge, value, ..
            } => dense.fill(origin, edge, value),
            Part::Leaf { origin, .. } => leaves.push(origin),
        })
        .map_err(|e| reading.error(in_grid(e)))?;
        for origin in leaves {
            reading.check()?;
            let mask = cursor.mask::<8>();
            mask.and_then(|mask| self.values(cursor, &mask, background, &mut scratch))
                .map_err(|e| reading.error(in_grid(e)))?;
            dense.leaf(origin, |index| scratch.values[index]);
        }
        dense.grid(placed.volume_from_index, reading).map(Some)
    }

    /// Visits all tiles and leaves. Leaves are visited in the order in which their values follow. Returns the
    /// background.
    fn topology(
        &self,
        cursor: &mut Cursor<'_>,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(Part<'_>),
    ) -> Result<Value, String> {
        let buffers = cursor.u32()?;
        if buffers != 1 {
            return Err(format!("has {buffers} buffers; canopy reads one"));
        }
        let background = self.kind.value(cursor)?;
        let [tiles, children] = [cursor.u32()?, cursor.u32()?];
        let mut known = HashSet::new();
        let mut origin = |cursor: &mut Cursor<'_>| {
            let origin = [cursor.i32()?, cursor.i32()?, cursor.i32()?];
            if !is_root_origin(origin) {
                return Err(format!("has a misplaced root entry at {origin:?}"));
            }
            if !known.insert(origin) {
                return Err(format!("has two root entries at {origin:?}"));
            }
            Ok(origin)
        };
        for _ in 0..tiles {
            visit(Part::Tile {
                origin: origin(cursor)?,
                edge: ROOT_EDGE,
                value: self.kind.value(cursor)?,
                active: cursor.u8()? != 0,
            });
        }
        for _ in 0..children {
            let origin = origin(cursor)?;
            let children = self.node::<512>(cursor, origin, UPPER, background, scratch, visit)?;
            for origin in children {
                let leaves = self.node::<64>(cursor, origin, LOWER, background, scratch, visit)?;
                for origin in leaves {
                    let active = &cursor.mask()?;
                    visit(Part::Leaf {
                        origin,
                        active,
                        at: 0,
                    });
                }
            }
        }
        Ok(background)
    }

    /// Visits the tiles of a node whose mask has `N` words. Returns the origins of its children.
    fn node<const N: usize>(
        &self,
        cursor: &mut Cursor<'_>,
        origin: [i32; 3],
        shape: [u32; 2],
        background: Value,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(Part<'_>),
    ) -> Result<Vec<[i32; 3]>, String> {
        let [children, active] = [cursor.mask::<N>()?, cursor.mask::<N>()?];
        self.values(cursor, &active, background, scratch)?;
        let mut origins = Vec::new();
        for (index, value) in scratch.values.iter().enumerate() {
            let origin = child_origin(origin, shape, index);
            if is_set(&children, index) {
                origins.push(origin);
            } else {
                visit(Part::Tile {
                    origin,
                    edge: 1 << shape[1],
                    value: *value,
                    active: is_set(&active, index),
                });
            }
        }
        Ok(origins)
    }

    /// Reads the values of a node into the scratch buffers, one for each bit of `active`.
    fn values<const N: usize>(
        &self,
        cursor: &mut Cursor<'_>,
        active: &[u64; N],
        background: Value,
        scratch: &mut Scratch,
    ) -> Result<(), String> {
        // Encodings of inactive values, with OpenVDB's names.
        const NO_MASK_OR_INACTIVE_VALS: u8 = 0;
        const NO_MASK_AND_ONE_INACTIVE_VAL: u8 = 2;
        const MASK_AND_NO_INACTIVE_VALS: u8 = 3;
        const MASK_AND_ONE_INACTIVE_VAL: u8 = 4;
        const MASK_AND_TWO_INACTIVE_VALS: u8 = 5;
        const NO_MASK_AND_ALL_VALS: u8 = 6;
        let stored = cursor.u8()?;
        if stored > NO_MASK_AND_ALL_VALS {
            return Err(format!("has values in an unknown encoding, {stored}"));
        }
        let mut inactive = [background.map(|value| -value), background];
        if stored == NO_MASK_OR_INACTIVE_VALS {
            inactive[0] = background;
        }
        if [
            NO_MASK_AND_ONE_INACTIVE_VAL,
            MASK_AND_ONE_INACTIVE_VAL,
            MASK_AND_TWO_INACTIVE_VALS,
        ]
        .contains(&stored)
        {
            inactive[0] = self.kind.value(cursor)?;
        }
        if stored == MASK_AND_TWO_INACTIVE_VALS {
            inactive[1] = self.kind.value(cursor)?;
        }
        let selection = match stored {
            MASK_AND_NO_INACTIVE_VALS..=MASK_AND_TWO_INACTIVE_VALS => cursor.mask::<N>()?,
            _ => [0; N],
        };
        let all = 64 * N;
        let is_masked = self.compression & ACTIVE_MASK != 0 && stored != NO_MASK_AND_ALL_VALS;
        let count = if is_masked {
            active.iter().map(|word| word.count_ones() as usize).sum()
        } else {
            all
        };
        let size = self.kind.stored.bytes() * self.kind.components;
        let Scratch {
            inflater,
            bytes,
            values,
        } = scratch;
        bytes.resize(count * size, 0);
        // For zero half floats, not even the size is stored.
        if count > 0 || self.kind.stored == self.kind.scalar {
            self.bytes(cursor, bytes, inflater)?;
        }
        let mut read = bytes
            .chunks_exact(size)
            .map(|bytes| self.kind.decode(bytes, self.kind.stored));
        values.clear();
        values.extend((0..all).map(|index| {
            if !is_masked || is_set(active, index) {
                return read.next().unwrap_or_default();
            }
            inactive[usize::from(is_set(&selection, index))]
        }));
        Ok(())
    }

    /// Fills `output` from data that may be compressed.
    fn bytes(
        &self,
        cursor: &mut Cursor<'_>,
        output: &mut [u8],
        inflater: &mut Inflater,
    ) -> Result<(), String> {
        if self.compression & (ZIP | BLOSC) == 0 {
            output.copy_from_slice(cursor.take(output.len())?);
            return Ok(());
        }
        let size = cursor.i64()?;
        // Incompressible data are stored as they are, with a negative size.
        let is_stored = size <= 0;
        let past_the_end = "has a node that reaches past the end of the file";
        let size = usize::try_from(size.unsigned_abs()).map_err(|_| past_the_end)?;
        let input = cursor.take(size)?;
        if is_stored {
            if size != output.len() {
                return Err(format!("has a node of {size} bytes; expected {}", output.len()));
            }
            output.copy_from_slice(input);
            return Ok(());
        }
        if self.compression & BLOSC != 0 {
            return blosc::fill(input, output, inflater);
        }
        inflater.fill(input, output)
    }
}

// Masks of internal nodes have a bit for each child, and masks of leaves one for each voxel.
const _: () = {
    assert!(64 * 512 == 1 << (3 * UPPER[0]) && 64 * 64 == 1 << (3 * LOWER[0]));
    assert!(64 * 8 == LEAF_VOXELS && LEAF_EDGE == 1 << LOWER[1]);
};
