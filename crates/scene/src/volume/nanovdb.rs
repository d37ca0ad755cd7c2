//! NanoVDB (`.nvdb`), converted to dense grids.
//!
//! The format is defined by `NanoVDB.h`, `PNanoVDB.h` and `util/IO.h` of NanoVDB 32.

use super::{
    Grid, blosc,
    cursor::Cursor,
    inflate::Inflater,
    reading::Reading,
    scalar::Scalar,
    sparse::{Dense, LEAF_VOXELS, LOWER, Part, ROOT_EDGE, UPPER, Value, VoxelBounds, child_origin, is_set},
};
use crate::{Result, files::shorten};
use glam::{DMat3, DMat4, DVec3};
use std::collections::HashSet;

/// Magic bytes of files of all versions, and of bare grids and files of later versions.
const MAGIC: &[u8] = b"NanoVDB0";
const MAGIC_OF_GRID: &[u8] = b"NanoVDB1";
const MAGIC_OF_FILE: &[u8] = b"NanoVDB2";

/// Major version of the supported layout.
const MAJOR: u32 = 32;

/// Size in bytes of the grid header before the tree, and of the tree header before its nodes.
const GRID_HEADER: usize = 672;
const TREE_HEADER: usize = 64;

/// Largest chunk that is compressed with Blosc at once, in bytes.
const BLOSC_PIECE: usize = 1 << 30;

/// True if the bytes begin like a NanoVDB file.
pub(super) fn is_nanovdb(bytes: &[u8]) -> bool {
    [MAGIC, MAGIC_OF_GRID, MAGIC_OF_FILE]
        .iter()
        .any(|magic| bytes.starts_with(magic))
}

/// Reads the grids of a file.
pub(super) fn read(bytes: &[u8], reading: &mut Reading<'_, '_>) -> Result<Vec<Grid>> {
    let mut grids = Vec::new();
    if bytes.starts_with(MAGIC_OF_GRID) {
        grids.extend(grid(bytes, reading)?);
        return Ok(grids);
    }
    let mut cursor = Cursor::new(bytes);
    let mut inflater = Inflater::default();
    while !cursor.rest().is_empty() {
        let pieces = segment(&mut cursor).map_err(|e| reading.error(e))?;
        for size in pieces.sizes {
            reading.check()?;
            let length =
                usize::try_from(size).map_err(|_| reading.error(format!("has a grid of {size} bytes")))?;
            if pieces.codec == Codec::None {
                let bytes = cursor.take(length).map_err(|e| reading.error(e))?;
                grids.extend(grid(bytes, reading)?);
                continue;
            }
            // LZ4 expands a byte to at most 255, and Deflate to four times as many.
            reading.can_hold(cursor.rest().len(), true, size)?;
            reading.inflated(size)?;
            let mut inflated = vec![0; length];
            unpack(&mut cursor, pieces.codec, &mut inflated, &mut inflater).map_err(|e| reading.error(e))?;
            grids.extend(grid(&inflated, reading)?);
        }
    }
    Ok(grids)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codec {
    None,
    Zip,
    Blosc,
}

/// Header of a segment of a file, which holds several grids.
#[derive(Debug)]
struct Segment {
    codec: Codec,
    /// Decompressed size of each grid, in bytes.
    sizes: Vec<u64>,
}

/// Reads the header of a segment.
fn segment(cursor: &mut Cursor<'_>) -> Result<Segment, String> {
    // Sizes of a grid's metadata: up to the length of its name, and after the length.
    const BEFORE_NAME: usize = 128;
    const AFTER_NAME: usize = 36;
    let magic = cursor.take(8)?;
    if magic != MAGIC && magic != MAGIC_OF_FILE {
        return Err("does not begin like a NanoVDB file".into());
    }
    check_version(cursor.u32()?)?;
    let count = cursor.u16()?;
    let codec = match cursor.u16()? {
        0 => Codec::None,
        1 => Codec::Zip,
        2 => Codec::Blosc,
        other => return Err(format!("uses NanoVDB codec {other}; canopy reads zip and Blosc")),
    };
    let mut sizes = Vec::new();
    for _ in 0..count {
        sizes.push(cursor.u64()?);
        cursor.take(BEFORE_NAME)?;
        let name = cursor.u32()? as usize;
        cursor.take(AFTER_NAME)?;
        cursor.take(name)?;
    }
    Ok(Segment { codec, sizes })
}

fn check_version(version: u32) -> Result<(), String> {
    let (major, minor) = (version >> 21, version >> 10 & 0x7ff);
    if major == MAJOR {
        return Ok(());
    }
    Err(format!(
        "is of NanoVDB {major}.{minor}; canopy reads version {MAJOR}"
    ))
}

/// Decompresses a grid into `output`.
fn unpack(
    cursor: &mut Cursor<'_>,
    codec: Codec,
    output: &mut [u8],
    inflater: &mut Inflater,
) -> Result<(), String> {
    let piece = match codec {
        Codec::Blosc => BLOSC_PIECE,
        _ => output.len().max(1),
    };
    for output in output.chunks_mut(piece) {
        let size = cursor.u64()?;
        let size = usize::try_from(size).map_err(|_| "has a grid that reaches past the end of the file")?;
        let input = cursor.take(size)?;
        match codec {
            Codec::Blosc => blosc::fill(input, output, inflater)?,
            _ => inflater.fill(input, output)?,
        }
    }
    Ok(())
}

/// Encoding of values in leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    /// Unquantized values.
    Plain,
    /// Steps above the minimum, quantized to this many bits each.
    Quantized(u32),
    /// Quantized, with the number of bits in each leaf.
    QuantizedByLeaf,
}

/// Byte offsets in the nodes of a grid type, with the C alignment to 32 bytes.
#[derive(Debug, Clone, Copy)]
struct Layout {
    scalar: Scalar,
    components: usize,
    stored: Stored,
    background: usize,
    root: usize,
    root_tile: usize,
    root_tile_value: usize,
    /// Offset of the table and size of upper internal nodes.
    upper: [usize; 2],
    /// Offset of the table and size of lower internal nodes.
    lower: [usize; 2],
    /// Stride of the table entries in bytes.
    entry: usize,
    /// Offset of the values and size of a leaf. The size excludes the values if their number of bits varies.
    leaf: [usize; 2],
}

impl Layout {
    /// Returns the layout of a grid type, by its number in the file.
    fn of(kind: u32) -> Option<Self> {
        let of_4_bytes = Self {
            scalar: Scalar::F32,
            components: 1,
            stored: Stored::Plain,
            background: 28,
            root: 64,
            root_tile: 32,
            root_tile_value: 20,
            upper: [8256, 270_400],
            lower: [1088, 33_856],
            entry: 8,
            leaf: [96, 2144],
        };
        let of_8_bytes = Self {
            background: 32,
            root: 96,
            root_tile_value: 24,
            leaf: [128, 4224],
            ..of_4_bytes
        };
        let steps = |bits: usize| Self {
            stored: Stored::Quantized(bits as u32),
            leaf: [96, 96 + 64 * bits],
            ..of_4_bytes
        };
        Some(match kind {
            1 => of_4_bytes,
            2 => Self {
                scalar: Scalar::F64,
                ..of_8_bytes
            },
            3 => Self {
                scalar: Scalar::I16,
                leaf: [96, 1120],
                ..of_4_bytes
            },
            4 => Self {
                scalar: Scalar::I32,
                ..of_4_bytes
            },
            5 => Self {
                scalar: Scalar::I64,
                ..of_8_bytes
            },
            6 => Self {
                components: 3,
                root: 96,
                upper: [8256, 532_544],
                lower: [1088, 66_624],
                entry: 16,
                leaf: [128, 6272],
                ..of_4_bytes
            },
            7 => Self {
                scalar: Scalar::F64,
                components: 3,
                root: 128,
                root_tile: 64,
                upper: [8288, 794_720],
                lower: [1120, 99_424],
                entry: 24,
                leaf: [160, 12_448],
                ..of_8_bytes
            },
            9 => Self {
                scalar: Scalar::F16,
                leaf: [96, 1120],
                ..of_4_bytes
            },
            10 => Self {
                scalar: Scalar::U32,
                ..of_4_bytes
            },
            13 => steps(4),
            14 => steps(8),
            15 => steps(16),
            16 => Self {
                stored: Stored::QuantizedByLeaf,
                ..steps(0)
            },
            _ => return None,
        })
    }
}

/// Reads a grid. Returns `None` with a warning if canopy does not support it.
fn grid(bytes: &[u8], reading: &mut Reading<'_, '_>) -> Result<Option<Grid>> {
    let header = Header::read(bytes).map_err(|e| reading.error(e))?;
    let name = shorten(&header.name);
    let Some(layout) = Layout::of(header.kind) else {
        let kind = header.kind;
        reading.warn(format!(
            "grid \"{name}\" is of type {kind} of NanoVDB, which canopy does not read"
        ));
        return Ok(None);
    };
    let in_grid = |e: String| format!("grid \"{name}\": {e}");
    let tree = Tree {
        bytes,
        layout,
        root: header.root,
    };
    let mut span = VoxelBounds::EMPTY;
    let background = tree
        .visit(&mut |part| span.add(&part))
        .map_err(|e| reading.error(in_grid(e)))?;
    let components = layout.components;
    let Some(mut dense) = Dense::new(&name, span, components, background, reading)? else {
        reading.warn(format!("grid \"{name}\" has no active voxels; it is left out"));
        return Ok(None);
    };
    tree.visit(&mut |part| match part {
        Part::Tile {
            origin, edge, value, ..
        } => dense.fill(origin, edge, value),
        Part::Leaf { origin, at, .. } => dense.leaf(origin, |index| tree.leaf_value(at, index)),
    })
    .map_err(|e| reading.error(in_grid(e)))?;
    dense.grid(header.volume_from_index, reading).map(Some)
}

/// Header of a grid.
#[derive(Debug)]
struct Header {
    name: String,
    kind: u32,
    volume_from_index: DMat4,
    /// Byte offset of the root.
    root: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        const NAME_BYTES: usize = 256;
        const VERSION: u64 = 16;
        const NAME: u64 = 40;
        const MATRIX: u64 = 296 + 88;
        const ORIGIN: u64 = MATRIX + 2 * 72;
        const KIND: u64 = 636;
        const ROOT_OFFSET: u64 = GRID_HEADER as u64 + 24;
        let mut cursor = Cursor::new(bytes);
        let magic = cursor.take(8)?;
        if magic != MAGIC && magic != MAGIC_OF_GRID {
            return Err("has a grid without a NanoVDB header".into());
        }
        let mut at = |offset: u64| {
            cursor.seek(offset)?;
            Ok::<_, String>(cursor.clone())
        };
        check_version(at(VERSION)?.u32()?)?;
        let name = at(NAME)?.take(NAME_BYTES)?;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let rows: [f64; 9] = at(MATRIX)?.f64s()?;
        let origin = DVec3::from(at(ORIGIN)?.f64s::<3>()?);
        let mut volume_from_index = DMat4::from_mat3(DMat3::from_cols_array(&rows).transpose());
        volume_from_index.w_axis = origin.extend(1.0);
        let root = at(ROOT_OFFSET)?.u64()?;
        let root = usize::try_from(root)
            .ok()
            .and_then(|root| root.checked_add(GRID_HEADER))
            .filter(|root| (GRID_HEADER + TREE_HEADER..bytes.len()).contains(root))
            .ok_or_else(|| format!("has its root {root} bytes after the tree"))?;
        Ok(Self {
            name: String::from_utf8_lossy(name).into_owned(),
            kind: at(KIND)?.u32()?,
            volume_from_index,
            root,
        })
    }
}

/// A tree in the bytes of its grid.
#[derive(Debug)]
struct Tree<'a> {
    bytes: &'a [u8],
    layout: Layout,
    root: usize,
}

impl<'a> Tree<'a> {
    /// Visits all tiles and leaves. Returns the background.
    fn visit(&self, visit: &mut dyn FnMut(Part<'_>)) -> Result<Value, String> {
        let layout = self.layout;
        let root = self.node(self.root, layout.root)?;
        let background = self.value(&root[layout.background..], 0)?;
        let tiles = Cursor::new(&root[24..]).u32()?;
        // Nodes must not share their bytes. Otherwise a malicious file could take forever to read.
        let mut left = self.bytes.len();
        let mut spend = |bytes: usize| {
            left = left
                .checked_sub(bytes)
                .ok_or("has nodes that share their bytes")?;
            Ok::<_, String>(())
        };
        let mut known = HashSet::new();
        for index in 0..tiles as usize {
            let at = self.root + layout.root + index * layout.root_tile;
            spend(layout.root_tile)?;
            let mut tile = Cursor::new(self.node(at, layout.root_tile)?);
            let (key, child, state) = (tile.u64()?, tile.i64()?, tile.u32()?);
            let origin = root_origin(key);
            if !known.insert(origin) {
                return Err(format!("has two nodes at {origin:?}"));
            }
            if child == 0 {
                visit(Part::Tile {
                    origin,
                    edge: ROOT_EDGE,
                    value: self.value(self.node(at, layout.root_tile)?, layout.root_tile_value)?,
                    active: state != 0,
                });
                continue;
            }
            spend(layout.upper[1])?;
            let upper = self.child(self.root, child)?;
            for (origin, lower) in self.children::<512>(upper, layout.upper, UPPER, origin, visit)? {
                spend(layout.lower[1])?;
                for (origin, leaf) in self.children::<64>(lower, layout.lower, LOWER, origin, visit)? {
                    let bytes = self.leaf_bytes(leaf)?;
                    spend(bytes)?;
                    let active = &Cursor::new(&self.node(leaf, bytes)?[16..]).mask()?;
                    visit(Part::Leaf {
                        origin,
                        active,
                        at: leaf,
                    });
                }
            }
        }
        Ok(background)
    }

    /// Returns the bytes of a node.
    fn node(&self, at: usize, bytes: usize) -> Result<&'a [u8], String> {
        let node = at.checked_add(bytes).and_then(|end| self.bytes.get(at..end));
        node.ok_or_else(|| format!("is cut off, or has a node at byte {at} of its grid"))
    }

    /// Returns the byte offset of the child of the node at `from`.
    fn child(&self, from: usize, offset: i64) -> Result<usize, String> {
        (from as u64)
            .checked_add_signed(offset)
            .and_then(|at| usize::try_from(at).ok())
            .ok_or_else(|| format!("has a node {offset} bytes from byte {from} of its grid"))
    }

    /// Reads the value at `offset` of `bytes`.
    fn value(&self, bytes: &[u8], offset: usize) -> Result<Value, String> {
        let size = self.layout.scalar.bytes();
        let bytes = bytes
            .get(offset..offset + size * self.layout.components)
            .ok_or("is cut off within a value")?;
        let mut value = [0.0; 3];
        for (value, bytes) in value.iter_mut().zip(bytes.chunks_exact(size)) {
            *value = self.layout.scalar.decode(bytes, false);
        }
        Ok(value)
    }

    /// Visits the tiles of the node at `at`, whose masks have `N` words. Returns the origins and the byte
    /// offsets of its children.
    fn children<const N: usize>(
        &self,
        at: usize,
        [table, bytes]: [usize; 2],
        shape: [u32; 2],
        origin: [i32; 3],
        visit: &mut dyn FnMut(Part<'_>),
    ) -> Result<Vec<([i32; 3], usize)>, String> {
        const MASKS: usize = 32;
        let node = self.node(at, bytes)?;
        let mut masks = Cursor::new(&node[MASKS..]);
        let [active, children] = [masks.mask::<N>()?, masks.mask::<N>()?];
        let mut found = Vec::new();
        for index in 0..64 * N {
            let origin = child_origin(origin, shape, index);
            let entry = &node[table + index * self.layout.entry..];
            if is_set(&children, index) {
                found.push((origin, self.child(at, Cursor::new(entry).i64()?)?));
            } else {
                visit(Part::Tile {
                    origin,
                    edge: 1 << shape[1],
                    value: self.value(entry, 0)?,
                    active: is_set(&active, index),
                });
            }
        }
        Ok(found)
    }

    /// Returns the size in bytes of the leaf at `at`.
    fn leaf_bytes(&self, at: usize) -> Result<usize, String> {
        let [values, bytes] = self.layout.leaf;
        if self.layout.stored != Stored::QuantizedByLeaf {
            return Ok(bytes);
        }
        let bits = bits_of(self.node(at, values)?);
        if bits > 16 {
            return Err(format!(
                "has a leaf with values of {bits} bits; expected at most 16"
            ));
        }
        Ok(values + LEAF_VOXELS * bits as usize / 8)
    }

    /// Returns a value of the leaf at `at`, which must be in range.
    fn leaf_value(&self, at: usize, index: usize) -> Value {
        const MIN: usize = 80;
        const STEP: usize = 84;
        let leaf = self.bytes.get(at..).unwrap_or_default();
        let values = leaf.get(self.layout.leaf[0]..).unwrap_or_default();
        let bits = match self.layout.stored {
            Stored::Plain => {
                let size = self.layout.scalar.bytes() * self.layout.components;
                return self.value(values, index * size).unwrap_or_default();
            }
            Stored::Quantized(bits) => bits,
            Stored::QuantizedByLeaf => bits_of(leaf),
        };
        let first = index * bits as usize;
        let word = values.get(first / 8..).unwrap_or_default();
        let word = match word {
            [low, high, ..] => u16::from_le_bytes([*low, *high]),
            [low] => u16::from(*low),
            [] => 0,
        };
        let steps = u32::from(word) >> (first % 8) & ((1 << bits) - 1);
        let number = |at: usize| Scalar::F32.decode(leaf.get(at..).unwrap_or_default(), false) as f32;
        // In single precision, like NanoVDB.
        let value = steps as f32 * number(STEP) + number(MIN);
        [f64::from(value), 0.0, 0.0]
    }
}

/// Returns the number of bits per value in a leaf, which its flags encode.
fn bits_of(leaf: &[u8]) -> u32 {
    const FLAGS: usize = 15;
    1 << (leaf.get(FLAGS).copied().unwrap_or_default() >> 5)
}

/// Returns the origin of a child of the root. Its key encodes 21 bits per axis.
fn root_origin(key: u64) -> [i32; 3] {
    [key >> 42, key >> 21, key].map(|n| ((n as u32 & 0x1f_ffff) << ROOT_EDGE.ilog2()) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_keys_decode_negative_origins() {
        let key = |[x, y, z]: [i32; 3]| {
            let part = |n: i32| u64::from(n as u32 >> 12);
            part(z) | part(y) << 21 | part(x) << 42
        };
        for origin in [[0, 4096, -4096], [i32::MIN, -8192, i32::MAX - 4095]] {
            assert_eq!(root_origin(key(origin)), origin);
        }
    }
}
