//! NIfTI-1 and NIfTI-2 in a single file (`.nii`, `.nii.gz`).
//!
//! The formats are defined by `nifti1.h` and `nifti2.h` of the NIfTI Data Format Working Group.

use super::{
    Grid, inflate,
    placement::{affine, anatomical, checked},
    reading::Reading,
    scalar::{Finite, Scalar},
};
use crate::Result;
use glam::{DMat3, DMat4, DQuat, DVec3};
use std::io::Read;

/// Header sizes of the two versions in bytes, which are also the first numbers of the headers.
const HEADER_1: usize = 348;
const HEADER_2: usize = 540;

/// Intent code of vectors.
const INTENT_VECTOR: i64 = 1007;

/// True if the bytes begin like a NIfTI file, compressed or not.
pub(super) fn is_nifti(bytes: &[u8]) -> bool {
    let mut head = [0; HEADER_1];
    let mut from = inflate::reader(bytes, inflate::is_gzip(bytes));
    from.read_exact(&mut head).is_ok() && Version::of(&head).is_some()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    is_second: bool,
    /// True if the header is separate from its data, which are in an `.img` file.
    is_pair: bool,
    big_endian: bool,
}

impl Version {
    fn of(head: &[u8; HEADER_1]) -> Option<Self> {
        let [a, b, c, d, ..] = *head;
        let size = u32::from_le_bytes([a, b, c, d]) as usize;
        let swapped = u32::from_be_bytes([a, b, c, d]) as usize;
        let is = |wanted: usize| size == wanted || swapped == wanted;
        let (is_second, magic) = match () {
            () if is(HEADER_1) => (false, &head[344..348]),
            () if is(HEADER_2) => (true, &head[4..8]),
            () => return None,
        };
        let is_pair = match magic {
            b"n+1\0" | b"n+2\0" => false,
            b"ni1\0" | b"ni2\0" => true,
            _ => return None,
        };
        Some(Self {
            is_second,
            is_pair,
            big_endian: size != HEADER_1 && size != HEADER_2,
        })
    }
}

/// Fields of a header that canopy needs.
#[derive(Debug)]
struct Header<'a> {
    bytes: &'a [u8],
    version: Version,
}

impl Header<'_> {
    /// Reads a number of a field. Its offset and type are `first` in version 1 and `second` in version 2.
    fn number(&self, first: (usize, Scalar), second: (usize, Scalar), index: usize) -> f64 {
        let (at, scalar) = if self.version.is_second { second } else { first };
        let bytes = self.bytes.get(at + index * scalar.bytes()..);
        scalar.decode(bytes.unwrap_or_default(), self.version.big_endian)
    }

    /// Returns the sizes along the axes, or 1 for missing axes.
    fn sizes(&self) -> Result<[u64; 7], String> {
        let of = |index| self.number((40, Scalar::I16), (16, Scalar::I64), index);
        let axes = of(0);
        if !(1.0..=7.0).contains(&axes) {
            return Err(format!("has {axes} axes; NIfTI has 1 to 7"));
        }
        let mut sizes = [1; 7];
        for axis in 1..=axes as usize {
            let size = of(axis);
            if !(1.0..1e15).contains(&size) {
                return Err(format!(
                    "has {size} voxels along axis {axis}, which is not a valid size"
                ));
            }
            sizes[axis - 1] = size as u64;
        }
        Ok(sizes)
    }

    /// Returns the step along a spatial axis.
    fn step(&self, axis: usize) -> f64 {
        let step = self.number((76, Scalar::F32), (104, Scalar::F64), axis);
        if step == 0.0 { 1.0 } else { step }
    }

    /// Returns the transform from voxels to scanner space (right, anterior, superior), in the file's unit.
    fn scan_from_voxel(&self) -> DMat4 {
        let code = |first, second| self.number((first, Scalar::I16), (second, Scalar::I32), 0) > 0.0;
        if code(254, 348) {
            let row = |first, second| {
                [0, 1, 2, 3].map(|i| self.number((first, Scalar::F32), (second, Scalar::F64), i))
            };
            let rows = [row(280, 400), row(296, 432), row(312, 464)];
            let column = |i: usize| DVec3::from(rows.map(|row| row[i]));
            return affine([column(0), column(1), column(2)], column(3));
        }
        let steps = DVec3::from([1, 2, 3].map(|axis| self.step(axis)));
        if !code(252, 344) {
            return DMat4::from_scale(steps);
        }
        let [b, c, d] = [0, 1, 2].map(|i| self.number((256, Scalar::F32), (352, Scalar::F64), i));
        let a = (1.0 - (b * b + c * c + d * d)).max(0.0).sqrt();
        let turned = DMat3::from_quat(DQuat::from_xyzw(b, c, d, a).normalize());
        let is_flipped = self.number((76, Scalar::F32), (104, Scalar::F64), 0) < 0.0;
        let flip = DVec3::new(1.0, 1.0, if is_flipped { -1.0 } else { 1.0 });
        let axes = turned * DMat3::from_diagonal(steps * flip);
        let origin = [0, 1, 2].map(|i| self.number((268, Scalar::F32), (376, Scalar::F64), i));
        affine([axes.x_axis, axes.y_axis, axes.z_axis], origin.into())
    }

    /// Returns the size of the file's unit in metres. The default is a millimetre.
    fn meters(&self) -> f64 {
        let units = self.number((123, Scalar::U8), (500, Scalar::I32), 0) as i64;
        match units & 7 {
            1 => 1.0,
            3 => 1e-6,
            _ => 1e-3,
        }
    }
}

/// Returns the type and the number of components of a voxel.
fn voxel(datatype: i64) -> Result<(Scalar, u64), String> {
    Ok(match datatype {
        2 => (Scalar::U8, 1),
        4 => (Scalar::I16, 1),
        8 => (Scalar::I32, 1),
        16 => (Scalar::F32, 1),
        64 => (Scalar::F64, 1),
        128 => (Scalar::U8, 3),
        256 => (Scalar::I8, 1),
        512 => (Scalar::U16, 1),
        768 => (Scalar::U32, 1),
        1024 => (Scalar::I64, 1),
        1280 => (Scalar::U64, 1),
        2304 => (Scalar::U8, 4),
        other => {
            return Err(format!(
                "has voxels of data type {other}, which canopy does not read"
            ));
        }
    })
}

/// Reads the first volume of a file.
pub(super) fn read(bytes: &[u8], reading: &mut Reading<'_, '_>) -> Result<Grid> {
    let gzip = inflate::is_gzip(bytes);
    let mut from = inflate::reader(bytes, gzip);
    let mut head = [0; HEADER_2];
    from.read_exact(&mut head[..HEADER_1])
        .map_err(|_| reading.error("is cut off within its NIfTI header"))?;
    let version = head
        .first_chunk()
        .and_then(Version::of)
        .ok_or_else(|| reading.error("does not begin like a NIfTI file"))?;
    if version.is_pair {
        let what = "is half of a NIfTI pair (.hdr and .img); canopy reads single files (.nii, .nii.gz)";
        return Err(reading.error(what));
    }
    let mut passed = HEADER_1 as u64;
    if version.is_second {
        from.read_exact(&mut head[HEADER_1..])
            .map_err(|_| reading.error("is cut off within its NIfTI header"))?;
        passed = HEADER_2 as u64;
    }
    let header = &Header {
        bytes: &head[..passed as usize],
        version,
    };
    let number = |first, second| header.number(first, second, 0);
    let sizes = header.sizes().map_err(|e| reading.error(e))?;
    let datatype = number((70, Scalar::I16), (12, Scalar::I16)) as i64;
    let (scalar, in_voxel) = voxel(datatype).map_err(|e| reading.error(e))?;
    let intent = number((68, Scalar::I16), (504, Scalar::I32)) as i64;
    let [x, y, z, times, vector, rest @ ..] = sizes;
    let is_vector = intent == INTENT_VECTOR && times == 1 && vector == 3 && in_voxel == 1;
    let components = if is_vector || in_voxel > 1 { 3 } else { 1 };
    if !is_vector && [times, vector, rest[0], rest[1]].iter().any(|n| *n > 1) {
        let volumes = [times, vector, rest[0], rest[1]]
            .iter()
            .fold(1_u64, |all, n| all.saturating_mul(*n));
        reading.warn(format!("has {volumes} volumes; canopy reads the first"));
    }
    let slope = number((112, Scalar::F32), (176, Scalar::F64));
    let inter = number((116, Scalar::F32), (184, Scalar::F64));
    // Colours are bytes.
    let (slope, inter) = match () {
        () if in_voxel > 1 => (1.0 / 255.0, 0.0),
        () if slope == 0.0 || !slope.is_finite() || !inter.is_finite() => (1.0, 0.0),
        () => (slope, inter),
    };
    let to_canopy = ['R', 'A', 'S'].map(|axis| anatomical(axis).unwrap_or_default());
    let turn = DMat3::from_cols_array_2d(&to_canopy.map(|axis| axis.to_array())) * header.meters();
    let matrix = DMat4::from_mat3(turn) * header.scan_from_voxel();
    let volume_from_voxel = checked(matrix).map_err(|e| reading.error(e))?;

    let voxels = x.saturating_mul(y).saturating_mul(z);
    let count = voxels.saturating_mul(if is_vector { 3 } else { in_voxel });
    let offset = number((108, Scalar::F32), (168, Scalar::I64));
    let skipped = (offset.max(0.0) as u64).saturating_sub(passed);
    let needed = count.saturating_mul(scalar.bytes() as u64);
    let total = needed.saturating_add(skipped).saturating_add(passed);
    reading.can_hold(bytes.len(), gzip, total)?;
    let mut values = reading.grid("", [x, y, z], &vec![0.0; components])?;
    let gone = std::io::copy(&mut from.by_ref().take(skipped), &mut std::io::sink());
    if gone.ok() != Some(skipped) {
        return Err(reading.error("is cut off before its voxels"));
    }
    let mut finite = Finite::default();
    reading.numbers(&mut from, scalar, version.big_endian, count, |index, value| {
        // Vectors are stored component by component, colours voxel by voxel.
        let (voxel, component) = if is_vector {
            (index % voxels, index / voxels)
        } else {
            (index / in_voxel, index % in_voxel)
        };
        if component < components as u64 {
            let place = voxel as usize * components + component as usize;
            values[place] = finite.of(value * slope + inter);
        }
    })?;
    reading.warn_of(&finite);
    let size = [x, y, z].map(|n| n as u32);
    Ok(Grid {
        name: String::new(),
        components,
        size,
        volume_from_voxel,
        values,
        background: 0.0,
    })
}
