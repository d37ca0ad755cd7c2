//! Pictures of the light from all around: equirectangular ones as Radiance HDR and OpenEXR, cube maps as KTX2 and DDS.
//!
//! Equirectangular: of a direction (x, y, z), u = ½ + atan2(z, x) / 2π to the right and v = acos(y) / π down. Cube maps: six faces +X, −X,
//! +Y, −Y, +Z, −Z as Vulkan, D3D and KTX2 have them. Values are radiance as stored: what a header says of exposure is left aside.

mod cube;
mod openexr;
mod radiance;
mod sun;
mod texels;

pub use sun::Sun;

use super::files::read_file;
use crate::{Error, Result, config, error::guarded};
use half::f16;
use std::path::Path;
use texels::{Rows, cube_row_weights, latitude_weight};

/// What the names of environments end in.
pub const EXTENSIONS: [&str; 4] = ["hdr", "exr", "ktx2", "dds"];

/// Radiance from all around.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvironmentImage {
    /// The file's name, without its folder.
    pub name: String,
    /// What lies where.
    pub shape: Shape,
    /// Texels in a row.
    pub width: u32,
    /// Rows; of a cube, those of its six faces one after another.
    pub height: u32,
    /// Red, green and blue, to be multiplied by `scale`, finite and not negative; and 1.
    pub texels: Vec<[f16; 4]>,
    /// A power of two.
    pub scale: f32,
    /// What [`EnvironmentImage::take_sun`] has taken out.
    pub sun: Option<Sun>,
    /// What was odd about the file, one line each, naming it.
    pub warnings: Vec<String>,
}

/// What a picture of all that is around looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Longitudes to the right, latitudes down.
    Equirectangular,
    /// Six square faces.
    Cube,
}

impl EnvironmentImage {
    /// The mean of luminance (of ITU-R BT.709's primaries) over the sphere, each texel by its solid angle; with the sun, if it was taken out.
    pub fn mean_luminance(&self) -> f32 {
        let luminance = |[red, green, blue, _]: &[f16; 4]| {
            0.2126 * f64::from(*red) + 0.7152 * f64::from(*green) + 0.0722 * f64::from(*blue)
        };
        let width = self.width.max(1) as usize;
        let (mut sum, mut weights) = (0.0, 0.0);
        let rows = self.texels.chunks_exact(width);
        match self.shape {
            Shape::Equirectangular => {
                for (y, row) in rows.enumerate() {
                    let weight = latitude_weight(y as u32, self.height);
                    sum += weight * row.iter().map(luminance).sum::<f64>();
                    weights += weight * width as f64;
                }
            }
            Shape::Cube => {
                let mut weight = Vec::new();
                for y in 0..width {
                    cube_row_weights(self.width, y as u32, &mut weight);
                    for row in rows.clone().skip(y).step_by(width) {
                        let texels = row.iter().zip(&weight);
                        sum += texels.map(|(texel, w)| w * luminance(texel)).sum::<f64>();
                        weights += weight.iter().sum::<f64>();
                    }
                }
            }
        }
        let mean = sum / f64::max(weights, f64::MIN_POSITIVE) * f64::from(self.scale);
        let sun = self
            .sun
            .map_or(0.0, |sun| sun::luminance(sun.illuminance.into()));
        (mean + sun / (4.0 * std::f64::consts::PI)) as f32
    }
}

/// Loads the environment at `path`; one with more than `most` texels along its longer side, or a quarter of that along a cube's face, is scaled
/// down to that.
///
/// A picture of any sides is stretched over the whole sphere, with a warning where it is not about twice as wide as high.
///
/// NaN and negative values become 0, infinities 65504, which halves of floats end at, and more than 2³² ends there.
///
/// # Errors
///
/// [`Error::Io`] for a file that cannot be read, [`Error::Limit`] for one larger than `limits`, and [`Error::Scene`] for one that is broken, is
/// no environment, or holds more pixels than `limits` allow.
pub fn load(path: &Path, limits: &config::Load, most: u32) -> Result<EnvironmentImage> {
    parse(path, &read_file(path, limits.max_file_bytes)?, limits, most)
}

/// As [`load`], within the limits of `config`; its sun is taken out where `config` says so.
///
/// # Errors
///
/// As [`load`].
pub fn load_for(path: &Path, config: &config::Config, most: u32) -> Result<EnvironmentImage> {
    let mut image = load(path, &config.load, most)?;
    if config.environment.sun {
        image.take_sun();
    }
    Ok(image)
}

/// As [`load`], of a file that is in memory; `name` is for messages.
///
/// # Errors
///
/// As [`load`].
pub fn load_bytes(
    name: &str,
    bytes: &[u8],
    limits: &config::Load,
    most: u32,
) -> Result<EnvironmentImage> {
    parse(Path::new(name), bytes, limits, most)
}

fn parse(path: &Path, bytes: &[u8], limits: &config::Load, most: u32) -> Result<EnvironmentImage> {
    let max_pixels = limits.max_environment_pixels;
    let decoded = guarded(|| match Kind::of(bytes)? {
        Kind::Radiance => radiance::decode(bytes, max_pixels, most),
        Kind::OpenExr => openexr::decode(bytes, max_pixels, most),
        Kind::Ktx2 => cube::ktx2(bytes, max_pixels, most),
        Kind::Dds => cube::dds(bytes, max_pixels, most),
    });
    let broken = || Err("is broken in a way that its decoder did not expect".into());
    let decoded = decoded.unwrap_or_else(broken);
    let mut image = decoded.map_err(|what| Error::scene(path, what))?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    image.name = name.to_string_lossy().into_owned();
    for warning in &mut image.warnings {
        *warning = format!("{}: {warning}", path.display());
    }
    Ok(image)
}

/// The format of an environment's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Radiance,
    OpenExr,
    Ktx2,
    Dds,
}

impl Kind {
    /// By content, which does not lie.
    fn of(bytes: &[u8]) -> Result<Self, String> {
        let begins = [
            (&b"#?"[..], Self::Radiance),
            (openexr::MAGIC, Self::OpenExr),
            (&::ktx2::MAGIC, Self::Ktx2),
            (super::image::dds::MAGIC, Self::Dds),
        ];
        let kind = begins
            .into_iter()
            .find(|(magic, _)| bytes.starts_with(magic));
        match kind {
            Some((_, kind)) => Ok(kind),
            None if bytes.is_empty() => Err("is empty".into()),
            None => Err(
                "is no environment; canopy takes equirectangular pictures as Radiance HDR (.hdr) or OpenEXR (.exr), and cube maps as KTX2 \
                 (.ktx2) or DDS (.dds)"
                    .into(),
            ),
        }
    }
}

/// Fails before anything is decoded if a picture, or one of `faces`, has no pixels or all have too many.
fn check_size([width, height]: [u32; 2], faces: u64, max_pixels: u64) -> Result<(), String> {
    let pixels = (u64::from(width) * u64::from(height)).saturating_mul(faces);
    if pixels == 0 {
        return Err("holds no pixels".into());
    }
    if pixels > max_pixels {
        let times = if faces > 1 {
            format!("{faces}×")
        } else {
            String::new()
        };
        return Err(format!(
            "{times}{width}×{height} pixels are more than load.max_environment_pixels allows ({max_pixels})"
        ));
    }
    Ok(())
}

/// Why a picture may show something else than a sphere (a part of it, a cross of faces, a mirrored ball): it is not twice as wide as high, give
/// or take a texel or a tenth. It is stretched over all directions.
fn odd_sides([width, height]: [u32; 2]) -> Option<String> {
    let off = u64::from(width).abs_diff(2 * u64::from(height));
    (off > u64::from(height / 10).max(1)).then(|| {
        format!(
            "is {width}×{height} pixels; an equirectangular picture is twice as wide as high, and this one is stretched over the whole sphere"
        )
    })
}

/// A picture whose rows have all been added; its name is still to come.
fn image(shape: Shape, rows: Rows) -> EnvironmentImage {
    let ([width, height], (texels, scale)) = (rows.size(), rows.into_halves());
    EnvironmentImage {
        name: String::new(),
        shape,
        width,
        height: if shape == Shape::Cube {
            6 * height
        } else {
            height
        },
        texels,
        scale,
        sun: None,
        warnings: Vec::new(),
    }
}
