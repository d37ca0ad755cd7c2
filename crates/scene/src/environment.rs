//! Environments: equirectangular images in Radiance HDR and OpenEXR, and cube maps in KTX2 and DDS.
//!
//! In equirectangular images a direction (x, y, z) is at u = ½ + atan2(z, x) / 2π to the right and v =
//! acos(y) / π down. Cube maps have the faces +X, −X, +Y, −Y, +Z, −Z of Vulkan, D3D and KTX2. Values are
//! linear radiance with the primaries of Rec. 709, to which other primaries are converted. The exposure and
//! colour correction in the header of a Radiance image are divided out.

mod chromaticities;
mod cube;
pub mod cube_map;
pub mod harmonics;
mod image;
pub(super) mod openexr;
pub(super) mod radiance;
pub mod studio;
mod sun;
mod texels;

pub use image::{EnvironmentImage, Shape, Sun};

use super::files::read_file;
use crate::{Error, Result, error::guarded, settings};
use std::path::Path;

/// File name extensions of environments.
pub const EXTENSIONS: [&str; 4] = ["hdr", "exr", "ktx2", "dds"];

/// Loads the environment at `path`. It is scaled down if its longer side exceeds `most` texels, or if the
/// edge of a cube face exceeds a quarter of `most`.
///
/// An image of any aspect ratio is stretched over the sphere, with a warning if it is not about twice as wide
/// as high. NaN and negative values become 0, and infinities 65504, the largest half float. Larger values are
/// clamped to 2³².
///
/// # Errors
///
/// [`Error::Io`] for a file that cannot be read, and [`Error::Limit`] for one larger than `limits`.
/// [`Error::Scene`] for one that is broken, is not an environment, or has more pixels than `limits` allow.
pub fn load(path: &Path, limits: &settings::Load, most: u32) -> Result<EnvironmentImage> {
    parse(path, &read_file(path, limits.max_file_bytes)?, limits, most)
}

/// Loads an environment like [`load`], from a file in memory. `name` is for messages.
///
/// # Errors
///
/// Any error of [`load`], except [`Error::Io`].
pub fn load_bytes(name: &str, bytes: &[u8], limits: &settings::Load, most: u32) -> Result<EnvironmentImage> {
    parse(Path::new(name), bytes, limits, most)
}

fn parse(path: &Path, bytes: &[u8], limits: &settings::Load, most: u32) -> Result<EnvironmentImage> {
    let max_pixels = limits.max_environment_pixels;
    let decoded = guarded(|| match EnvironmentFileFormat::of(bytes)? {
        EnvironmentFileFormat::Radiance => radiance::decode(bytes, max_pixels, most),
        EnvironmentFileFormat::OpenExr => openexr::decode(bytes, max_pixels, most),
        EnvironmentFileFormat::Ktx2 => cube::ktx2(bytes, max_pixels, most),
        EnvironmentFileFormat::Dds => cube::dds(bytes, max_pixels, most),
    });
    let broken = || Err("is broken: its decoder failed unexpectedly".into());
    let decoded = decoded.unwrap_or_else(broken);
    let mut image = decoded.map_err(|what| Error::scene(path, what))?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    image.name = name.to_string_lossy().into_owned();
    for warning in &mut image.warnings {
        *warning = format!("{}: {warning}", path.display());
    }
    Ok(image)
}

/// File format of an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EnvironmentFileFormat {
    Radiance,
    OpenExr,
    Ktx2,
    Dds,
}

impl EnvironmentFileFormat {
    /// Detects the format by content.
    fn of(bytes: &[u8]) -> Result<Self, String> {
        let begins = [
            (&b"#?"[..], Self::Radiance),
            (openexr::MAGIC, Self::OpenExr),
            (&::ktx2::MAGIC, Self::Ktx2),
            (super::image::dds::MAGIC, Self::Dds),
        ];
        let format = begins.into_iter().find(|(magic, _)| bytes.starts_with(magic));
        match format {
            Some((_, format)) => Ok(format),
            None if bytes.is_empty() => Err("is empty".into()),
            None => Err(
                "is not an environment map; canopy reads equirectangular pictures as Radiance HDR (.hdr) or \
                 OpenEXR (.exr), and cube maps as KTX2 (.ktx2) or DDS (.dds)"
                    .into(),
            ),
        }
    }
}
