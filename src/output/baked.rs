//! Files of a baked environment: spherical harmonics as JSON, cube maps as KTX2 or as OpenEXR faces.

use super::{check_writable, extension, picture, write as write_whole};
use crate::{
    Error, Result,
    render::{FloatImage, environment::prefilter::Prefilter},
};
use half::f16;
use ktx2::{Format, Header, Index, LevelIndex, dfd};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A baked environment. Coefficients use the orthonormal real basis in ascending (l, m), with m from −l to l.
#[derive(Debug, Clone, PartialEq)]
pub struct Baked {
    /// Number of bands of the spherical harmonics. Each list holds `order`² coefficients.
    pub order: u32,
    /// Radiance coefficients.
    pub radiance_sh: Vec<[f32; 3]>,
    /// Irradiance coefficients: radiance convolved with the cosine lobe.
    pub irradiance_sh: Vec<[f32; 3]>,
    /// Prefiltered radiance. Roughness increases with the mip level.
    pub prefiltered: CubeTexels,
    /// Irradiance by direction, with a single level.
    pub irradiance: CubeTexels,
}

/// Texels of a cube map.
#[derive(Debug, Clone, PartialEq)]
pub struct CubeTexels {
    /// Edge length of the finest level in texels.
    pub face: u32,
    /// Linear RGBA of the mip levels, the finest first. Each holds the faces +X, −X, +Y, −Y, +Z, −Z in that
    /// order, oriented as in Vulkan, D3D and KTX2.
    pub levels: Vec<Vec<[f16; 4]>>,
}

impl CubeTexels {
    /// Returns the edge length of a level in texels.
    fn side(&self, level: usize) -> usize {
        (self.face as usize).checked_shr(level as u32).unwrap_or(0).max(1)
    }
}

/// Names of the cube faces, in order.
const FACES: [&str; 6] = ["px", "nx", "py", "ny", "pz", "nz"];

/// Form of the output, selected by the extension of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A file with the spherical harmonics.
    Json,
    /// A file with the prefiltered cube, and one with the irradiance beside it.
    Ktx2,
    /// A folder with the cube faces and the spherical harmonics.
    Folder,
}

impl Form {
    fn of(out: &Path) -> Result<Self> {
        if out.is_dir() || (out.extension().is_none() && out.file_name().is_some()) {
            return Ok(Self::Folder);
        }
        match extension(out, &["json", "ktx2"]) {
            Ok("json") => Ok(Self::Json),
            Ok(_) => Ok(Self::Ktx2),
            Err(_) => Err(Error::Usage(format!(
                "{}: unknown output format; the name must end in .json or .ktx2, or have no extension, for a folder",
                out.display()
            ))),
        }
    }
}

/// Returns the path of the irradiance file beside the prefiltered cube `out`.
fn irradiance_path(out: &Path) -> PathBuf {
    let mut name = out.file_stem().unwrap_or_default().to_owned();
    name.push("-irradiance.ktx2");
    out.with_file_name(name)
}

/// Fails if [`write()`] would fail. Call it before any expensive work.
///
/// # Errors
///
/// [`Error::Usage`] if the name has an unknown extension, [`Error::Io`] if it cannot be written.
pub fn check(out: &Path) -> Result<()> {
    match Form::of(out)? {
        Form::Json => check_writable(out),
        Form::Ktx2 => check_writable(out).and_then(|()| check_writable(&irradiance_path(out))),
        Form::Folder if out.is_dir() => check_writable(&out.join("sh.json")),
        Form::Folder if out.exists() => Err(Error::io(out, std::io::ErrorKind::NotADirectory.into())),
        Form::Folder => check_writable(out),
    }
}

/// Writes the environment. The extension of `out` selects the format:
///
/// - `.json`: the spherical harmonics.
/// - `.ktx2`: the prefiltered cube, with the irradiance beside it as `OUT-irradiance.ktx2`. Both contain the
///   harmonics in their key/value data.
/// - no extension: a folder of `.exr` faces (`prefiltered-m0-px.exr`, …, `irradiance-px.exr`, …) with
///   `sh.json`.
///
/// Each file appears complete or not at all.
///
/// # Errors
///
/// Any error of [`check`], and [`Error::Encode`].
pub fn write(baked: &Baked, out: &Path) -> Result<()> {
    match Form::of(out)? {
        Form::Json => write_whole(out, sh_json(baked)?.as_bytes()),
        Form::Ktx2 => {
            let pairs = pairs(baked)?;
            let prefiltered = cube_ktx2(&baked.prefiltered, &pairs)?;
            let irradiance = cube_ktx2(&baked.irradiance, &pairs)?;
            write_whole(&irradiance_path(out), &irradiance)?;
            write_whole(out, &prefiltered)
        }
        Form::Folder => {
            std::fs::create_dir_all(out).map_err(|e| Error::io(out, e))?;
            for level in 0..baked.prefiltered.levels.len() {
                let prefix = format!("prefiltered-m{level}");
                write_faces(out, &prefix, &baked.prefiltered, level)?;
            }
            remove_coarser(out, baked.prefiltered.levels.len())?;
            write_faces(out, "irradiance", &baked.irradiance, 0)?;
            write_whole(&out.join("sh.json"), sh_json(baked)?.as_bytes())
        }
    }
}

/// Deletes the levels from `levels` on, which an earlier bake with a larger face left in the folder.
fn remove_coarser(out: &Path, levels: usize) -> Result<()> {
    for level in levels..levels + 16 {
        for face in FACES {
            let path = out.join(format!("prefiltered-m{level}-{face}.exr"));
            match std::fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io(path, e));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Encodes the harmonics as `{"order", "radiance_sh": [[r, g, b], …], "irradiance_sh": […]}`, with enough
/// digits to reproduce every f32.
///
/// # Errors
///
/// [`Error::Encode`].
pub fn sh_json(baked: &Baked) -> Result<String> {
    #[derive(Serialize)]
    struct Harmonics<'a> {
        order: u32,
        radiance_sh: &'a [[f32; 3]],
        irradiance_sh: &'a [[f32; 3]],
    }
    let text = json(&Harmonics {
        order: baked.order,
        radiance_sh: &baked.radiance_sh,
        irradiance_sh: &baked.irradiance_sh,
    })?;
    Ok(text + "\n")
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| unencodable(&e))
}

fn unencodable(why: &dyn std::fmt::Display) -> Error {
    Error::Encode(format!("the environment cannot be encoded: {why}"))
}

/// Returns the perceptual roughness of each level.
fn roughness(prefiltered: &CubeTexels) -> Vec<f64> {
    let levels = prefiltered.levels.len() as u32;
    let of_level = |level| Prefilter::roughness(level, levels);
    (0..levels).map(of_level).collect()
}

/// Returns the key/value data of a KTX2 file.
fn pairs(baked: &Baked) -> Result<Vec<(&'static str, String)>> {
    Ok(vec![
        ("canopy.irradiance_sh", json(&baked.irradiance_sh)?),
        ("canopy.order", baked.order.to_string()),
        ("canopy.radiance_sh", json(&baked.radiance_sh)?),
        ("canopy.roughness", json(&roughness(&baked.prefiltered))?),
    ])
}

/// Encodes a cube map as KTX 2.0 with the format VK_FORMAT_R16G16B16A16_SFLOAT. `pairs` are key/value data in
/// addition to the standard ones.
///
/// # Errors
///
/// [`Error::Encode`] if the levels do not form a cube.
pub fn cube_ktx2(cube: &CubeTexels, pairs: &[(&str, String)]) -> Result<Vec<u8>> {
    let levels = &cube.levels;
    let is_whole = |(level, texels): (usize, &Vec<_>)| texels.len() == 6 * cube.side(level).pow(2);
    let full = (u32::BITS - cube.face.leading_zeros()) as usize;
    if levels.is_empty() || levels.len() > full || !levels.iter().enumerate().all(is_whole) {
        return Err(unencodable(&"too few texels came back"));
    }
    let format = Format::R16G16B16A16_SFLOAT;
    let (descriptor, type_size) = dfd::Basic::from_format(format).map_err(|e| unencodable(&e))?;
    let descriptor = dfd::Block::Basic(descriptor).to_vec();
    let keys = key_value_data(pairs);
    let dfd_at = Header::LENGTH + levels.len() * LevelIndex::LENGTH;
    let dfd_bytes = 4 + descriptor.len();
    let header = Header {
        format: Some(format),
        type_size,
        pixel_width: cube.face,
        pixel_height: cube.face,
        pixel_depth: 0,
        layer_count: 0,
        face_count: 6,
        level_count: levels.len() as u32,
        supercompression_scheme: None,
        index: Index {
            dfd_byte_offset: dfd_at as u32,
            dfd_byte_length: dfd_bytes as u32,
            kvd_byte_offset: (dfd_at + dfd_bytes) as u32,
            kvd_byte_length: keys.len() as u32,
            sgd_byte_offset: 0,
            sgd_byte_length: 0,
        },
    };
    // The finest level is first in the index and last in the file. Each level is aligned to the size of a
    // texel.
    let mut index = vec![[0; LevelIndex::LENGTH]; levels.len()];
    let mut at = dfd_at + dfd_bytes + keys.len();
    for (entry, level) in index.iter_mut().zip(levels).rev() {
        at = at.next_multiple_of(TEXEL_BYTES);
        let bytes = (level.len() * TEXEL_BYTES) as u64;
        *entry = LevelIndex {
            byte_offset: at as u64,
            byte_length: bytes,
            uncompressed_byte_length: bytes,
        }
        .as_bytes();
        at += level.len() * TEXEL_BYTES;
    }
    let mut out = Vec::with_capacity(at);
    out.extend(header.as_bytes());
    out.extend(index.as_flattened());
    out.extend((dfd_bytes as u32).to_le_bytes());
    out.extend(descriptor);
    out.extend(keys);
    for level in levels.iter().rev() {
        out.resize(out.len().next_multiple_of(TEXEL_BYTES), 0);
        out.extend(level.as_flattened().iter().flat_map(|c| c.to_le_bytes()));
    }
    Ok(out)
}

const TEXEL_BYTES: usize = 8;

/// Encodes key/value pairs in ascending order of the keys, each pair padded to four bytes (KTX 2.0, section
/// 3.11).
fn key_value_data(pairs: &[(&str, String)]) -> Vec<u8> {
    let writer = concat!("canopy ", env!("CARGO_PKG_VERSION"));
    let own = [("KTXorientation", "rd"), ("KTXwriter", writer)];
    let given = pairs.iter().map(|(key, value)| (*key, value.as_str()));
    let mut pairs: Vec<_> = own.into_iter().chain(given).collect();
    pairs.sort_unstable();
    let mut out = Vec::new();
    for (key, value) in pairs {
        let bytes = key.len() + value.len() + 2;
        out.extend((bytes as u32).to_le_bytes());
        for text in [key, value] {
            out.extend(text.as_bytes());
            out.push(0);
        }
        out.resize(out.len().next_multiple_of(4), 0);
    }
    out
}

/// Writes the faces of a level as `PREFIX-FACE.exr`.
fn write_faces(folder: &Path, prefix: &str, cube: &CubeTexels, level: usize) -> Result<()> {
    let side = cube.side(level);
    let texels = cube.levels.get(level).map_or(&[][..], Vec::as_slice);
    for (face, name) in FACES.iter().enumerate() {
        let texels = texels.iter().skip(face * side * side).take(side * side);
        let image = FloatImage {
            width: side as u32,
            height: side as u32,
            texels: texels.map(|texel| texel.map(f32::from)).collect(),
        };
        let path = folder.join(format!("{prefix}-{name}.exr"));
        write_whole(&path, &picture::exr(&image)?)?;
    }
    Ok(())
}
