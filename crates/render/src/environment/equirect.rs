//! `equirect`: resamples an equirectangular image, or the faces of a cube map, into the finest level of a
//! cube.

use super::cube::Cube;
use crate::layout::EquirectParams;
use canopy_bvh::{
    Error, Result,
    gpu::{
        Gpu, Kernel, UniformArray, Workgroups,
        pass::Binding::{self, Float, FloatArray, StoreArray},
        profiler::Scope,
    },
};
use canopy_scene::environment::{EnvironmentImage, Shape, Sun};
use half::f16;
use std::f64::consts::PI;
use wgpu::TextureFormat as Format;

/// Maximum number of bytes that one queue write uploads.
const UPLOAD_BYTES: usize = 32 << 20;
/// Approximate number of image texels that a dispatch reads.
const DISPATCH_LOADS: u64 = 1 << 27;
/// Minimum number of samples along each side of a texel, so that a sun of a few texels keeps its energy.
const SAMPLES_MIN: u32 = 3;
/// Maximum number of rows of an image that a texel of a face may span.
const ROWS_PER_TEXEL_MAX: f64 = 512.0;

/// Environment image on the GPU.
#[derive(Debug)]
pub struct EquirectImage {
    /// Name for error messages.
    name: String,
    view: wgpu::TextureView,
    shape: Shape,
    size: [u32; 2],
    /// Factor from stored texels to radiance, for the image and for cubes made from it. It is a power of two.
    pub scale: f32,
    /// Sun that was removed from the image.
    pub sun: Option<Sun>,
}

impl EquirectImage {
    /// Uploads `image` in pieces.
    ///
    /// # Errors
    ///
    /// * [`Error::Limit`] if a side exceeds the adapter's texture limit.
    /// * [`Error::Gpu`] if the adapter runs out of memory.
    /// * [`Error::Argument`] if the number of texels does not match the image's sides.
    pub fn new(gpu: &Gpu, image: &EnvironmentImage) -> Result<Self> {
        let [width, height] = [image.width, image.height].map(|side| side as usize);
        let is_cube = image.shape == Shape::Cube;
        if width == 0 || height == 0 || image.texels.len() != width * height || is_cube && height != 6 * width
        {
            return Err(Error::Argument(format!(
                "{}: {} texels are no image of {width} × {height}",
                image.name,
                image.texels.len()
            )));
        }
        let near_poles = match image.shape {
            Shape::Equirectangular => pole_rows(image),
            Shape::Cube => Vec::new(),
        };
        let (rows, layers) = match image.shape {
            Shape::Equirectangular => (height + near_poles.len() / width, 1),
            Shape::Cube => (width, 6),
        };
        let limit = gpu.limits.max_texture_dimension_2d;
        if width.max(rows) > limit as usize {
            return Err(Error::Limit {
                what: format!("{}: a texture for {width} × {height} texels", image.name),
                needed: format!("{width} × {rows} texels"),
                allowed: format!("{limit} × {limit}"),
                by: format!("texture limit of {}", gpu.info.name),
            });
        }
        let texture = gpu.catch(|| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("equirect.source"),
                size: wgpu::Extent3d {
                    width: width as u32,
                    height: rows as u32,
                    depth_or_array_layers: layers,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: Format::Rgba16Float,
                usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
                view_formats: &[],
            })
        })?;
        let mut first = 0;
        for part in [&image.texels, &near_poles] {
            // No chunk crosses from one face to the next.
            for face in part.chunks(width * if is_cube { width } else { height }) {
                for chunk in face.chunks(width * (UPLOAD_BYTES / (8 * width)).max(1)) {
                    let at = [first % rows, first / rows].map(|at| at as u32);
                    gpu.catch(|| write_rows(gpu, &texture, at, chunk))?;
                    first += chunk.len() / width;
                }
            }
        }
        Ok(Self {
            name: image.name.clone(),
            view: texture.create_view(&wgpu::TextureViewDescriptor {
                label: Some("equirect.source"),
                dimension: is_cube.then_some(wgpu::TextureViewDimension::D2Array),
                ..Default::default()
            }),
            shape: image.shape,
            size: [image.width, image.height],
            scale: image.scale,
            sun: image.sun,
        })
    }

    /// Returns the number of texels along an edge of a face that preserves the image's resolution, up to
    /// `most`. For an equirectangular image, this is a quarter of the width.
    pub fn face(&self, most: u32) -> u32 {
        let full = match self.shape {
            Shape::Equirectangular => self.size[0].div_ceil(4),
            Shape::Cube => self.size[0],
        };
        full.min(most)
    }
}

/// Writes complete rows, starting at row `at[0]` of layer `at[1]`.
fn write_rows(gpu: &Gpu, texture: &wgpu::Texture, at: [u32; 2], texels: &[[f16; 4]]) {
    let width = texture.width();
    let rows = (texels.len() / width as usize) as u32;
    let destination = wgpu::TexelCopyTextureInfo {
        origin: wgpu::Origin3d {
            x: 0,
            y: at[0],
            z: at[1],
        },
        ..texture.as_image_copy()
    };
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(8 * width),
        rows_per_image: None,
    };
    let extent = wgpu::Extent3d {
        width,
        height: rows,
        depth_or_array_layers: 1,
    };
    let bytes = bytemuck::cast_slice(texels);
    gpu.queue.write_texture(destination, bytes, layout, extent);
    // An empty submission frees the staging memory once it has been copied.
    gpu.queue.submit([]);
}

/// Returns the base-2 logarithm of the number of columns that are averaged in a row near a pole. `from_pole`
/// is the distance from the pole in rows. Averaged texels are about as wide as they are high. Must match
/// equirect.wgsl.
fn pole_shift(width: u32, from_pole: u32) -> u32 {
    (width / (3 * (2 * from_pole + 1))).max(1).ilog2()
}

/// Returns the rows near the poles, resampled to fewer columns, for equirect.wgsl. Without them, a texel at a
/// pole would have to average complete rows.
fn pole_rows(image: &EnvironmentImage) -> Vec<[f16; 4]> {
    let [width, height] = [image.width as usize, image.height as usize];
    let reduced = |row: usize, shift: u32, out: &mut [[f16; 4]]| {
        let row = &image.texels[row * width..][..width];
        let columns = width >> shift;
        for (column, mean) in out[..columns].iter_mut().enumerate() {
            // Weights are in units of 1 / `columns` of a texel, so that a width that is not a power of two
            // divides exactly.
            let (low, high) = (column * width, (column + 1) * width);
            let mut sum = [0.0; 4];
            for (x, texel) in (low / columns..high.div_ceil(columns)).zip(&row[low / columns..]) {
                let share = high.min((x + 1) * columns) - low.max(x * columns);
                for (sum, channel) in sum.iter_mut().zip(texel) {
                    *sum += share as f64 * f64::from(*channel);
                }
            }
            *mean = sum.map(|sum| f16::from_f64(sum / width as f64));
        }
    };
    let mut rows = Vec::new();
    for from_pole in 0..height.div_ceil(2) {
        let shift = pole_shift(image.width, from_pole as u32);
        if shift == 0 {
            break;
        }
        let mut row = vec![[f16::ZERO; 4]; width];
        let (upper, lower) = row.split_at_mut(width / 2);
        reduced(from_pole, shift, upper);
        reduced(height - 1 - from_pole, shift, lower);
        rows.extend(row);
    }
    rows
}

/// Pipelines of the pass, for equirectangular images and for cubes.
#[derive(Debug)]
pub struct Equirect {
    equirect: Kernel,
    resample: Kernel,
}

impl Equirect {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu) -> Self {
        let kernel = |entry, source| {
            let path = "environment/equirect.wgsl";
            let bindings = [Binding::Uniform, source, StoreArray(Format::Rgba16Float)];
            Kernel::new(gpu, path, entry, &[], &bindings)
        };
        Self {
            equirect: kernel("equirect", Float),
            resample: kernel("resample", FloatArray),
        }
    }

    fn kernel(&self, source: &EquirectImage) -> &Kernel {
        match source.shape {
            Shape::Cube => &self.resample,
            Shape::Equirectangular => &self.equirect,
        }
    }

    /// Fills the finest level of `cube` (Rgba16Float) with the texels of `source`, without its scale.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the faces are so small that a texel would average thousands of the image's texels.
    /// Use the coarser levels of a larger cube instead.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        source: &EquirectImage,
        cube: &Cube,
    ) -> Result<()> {
        let [width, height] = source.size.map(f64::from);
        let is_cube = source.shape == Shape::Cube;
        // Texels are largest at the centre of a face.
        let texels = if is_cube {
            width / f64::from(cube.face)
        } else {
            (2.0 * height).max(width) / (PI * f64::from(cube.face))
        };
        if texels > ROWS_PER_TEXEL_MAX {
            return Err(Error::Limit {
                what: format!("{}: a cube of {} texels a side", source.name, cube.face),
                needed: format!("{texels:.0} texels of the image along a texel"),
                allowed: format!("{ROWS_PER_TEXEL_MAX}"),
                by: "the equirect pass".into(),
            });
        }
        let samples = if is_cube {
            1
        } else {
            (texels.ceil() as u32 + 1).max(SAMPLES_MIN)
        };
        let loads = if is_cube {
            (texels.ceil() as u64 + 1).pow(2)
        } else {
            6 * u64::from(samples).pow(2)
        };
        let row_loads = 6 * u64::from(cube.face) * loads;
        let rows = (DISPATCH_LOADS / row_loads).next_multiple_of(8).max(8) as u32;
        let row_offsets: Vec<_> = (0..cube.face).step_by(rows as usize).collect();
        let params = row_offsets.iter().map(|&row_offset| EquirectParams {
            size: source.size,
            row_offset,
            samples,
        });
        let params = UniformArray::new(gpu, "equirect.params", params)?;
        let faces = cube.level(0);
        let mut pass = scope.scoped_compute_pass("equirect");
        for (band, row_offset) in row_offsets.into_iter().enumerate() {
            let band_rows = rows.min(cube.face - row_offset);
            let texels = Workgroups::Grid([cube.face.div_ceil(8), band_rows.div_ceil(8), 6]);
            self.kernel(source).dispatch(
                gpu,
                &mut pass,
                &[],
                &[&params.at(band), &source.view, &faces],
                texels,
            )?;
        }
        Ok(())
    }
}
