//! Volumes in GPU memory. Their grids are uploaded once and shared by all instances.

use super::volume_params::{LatticeFacts, decode_range, most_extinction, texel};
use crate::layout::VolumeParams;
use canopy_bvh::{Error, Result, gpu::Gpu};
use canopy_scene::{
    Progress, Volume,
    volume_lattice::{Brick, VolumeLattice},
};
use half::f16;
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

/// Format of light grids.
pub const LIGHT_FORMAT: Format = Format::Rgba16Float;
/// Number of slices of a grid that are uploaded at once.
const SLICES: usize = 16;

/// Grids of a volume.
#[derive(Debug)]
pub struct VolumeGrids {
    /// Size, range and placement of the lattice.
    pub facts: LatticeFacts,
    /// Densities, as [`texel`] encodes them.
    pub density: wgpu::TextureView,
    /// Colour and temperature, or one texel if voxels have neither.
    pub color_temperature: wgpu::TextureView,
    /// Bricks of the lattice, with x varying fastest.
    pub bricks: Vec<Brick>,
    brick_counts: [u32; 3],
}

impl VolumeGrids {
    /// Uploads a volume. Returns `None` if it has no scalar grid.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if a side exceeds the adapter's limit for 3D textures, and [`Error::Cancelled`].
    pub fn new(gpu: &Gpu, volume: &Volume, progress: &Progress) -> Result<Option<Self>> {
        for grid in &volume.grids {
            check(gpu, &volume.name, grid.size)?;
        }
        let allowed = gpu.limits.max_texture_dimension_3d;
        let lattice = VolumeLattice::new(volume, allowed);
        let grids = lattice.map(|lattice| Self::upload(gpu, &volume.name, &lattice, progress));
        grids.transpose()
    }

    /// Uploads the lattice of the volume with this name.
    ///
    /// # Errors
    ///
    /// Any error of [`VolumeGrids::new`].
    pub fn upload(gpu: &Gpu, name: &str, lattice: &VolumeLattice, progress: &Progress) -> Result<Self> {
        check(gpu, name, lattice.size)?;
        let size = lattice.size;
        let of = decode_range(lattice.range);
        let texels: Vec<f16> = lattice.density.iter().map(|value| texel(of, *value)).collect();
        let density = uploaded(gpu, "volume.density", size, Format::R16Float, &texels, progress)?;
        let (look_size, color_temperature) = match &lattice.color_temperature {
            Some(color_temperature) => (size, color_temperature.as_flattened()),
            None => ([1; 3], &[0.0; 4][..]),
        };
        let color_temperature: Vec<f16> = color_temperature
            .iter()
            .map(|value| f16::from_f32(*value))
            .collect();
        let format = Format::Rgba16Float;
        let color_temperature = uploaded(
            gpu,
            "volume.look",
            look_size,
            format,
            &color_temperature,
            progress,
        )?;
        Ok(Self {
            facts: LatticeFacts::from(lattice),
            density,
            color_temperature,
            bricks: lattice.bricks(),
            brick_counts: lattice.brick_counts(),
        })
    }

    /// Returns a texture with the largest extinction of each brick under these settings, or 0 for an empty
    /// brick.
    pub fn majorant_texture(&self, gpu: &Gpu, params: &VolumeParams) -> wgpu::TextureView {
        let usage = Usage::TEXTURE_BINDING | Usage::COPY_DST;
        let size = self.brick_counts;
        let texture = texture_3d(gpu, "volume.skip", size, Format::R32Float, usage);
        let most = self.majorants(params, false);
        write(gpu, &texture, bytemuck::cast_slice(&most), size, 0);
        texture.create_view(&wgpu::TextureViewDescriptor::default())
    }

    /// Returns the largest extinction of each brick under these settings, with x varying fastest, or 0 for an
    /// empty brick. If `is_spread` is true, the maximum includes the adjacent bricks. Voxels of coarser mip
    /// levels need this, because they extend into adjacent bricks.
    pub fn majorants(&self, params: &VolumeParams, is_spread: bool) -> Vec<f32> {
        let [columns, rows, slices] = self.brick_counts.map(|count| count as usize);
        let spread = |index: usize| {
            let place = [index % columns, index / columns % rows, index / columns / rows];
            let near =
                |axis: usize, count: usize| place[axis].saturating_sub(1)..(place[axis] + 2).min(count);
            let mut found = self.bricks[index];
            for z in near(2, slices) {
                for y in near(1, rows) {
                    for x in near(0, columns) {
                        found = found.with(&self.bricks[(z * rows + y) * columns + x]);
                    }
                }
            }
            found
        };
        let all = (0..self.bricks.len()).map(|index| match is_spread {
            true => spread(index),
            false => self.bricks[index],
        });
        all.map(|brick| most_extinction(params, self.facts.range, &brick))
            .collect()
    }
}

/// Fails if a volume exceeds the adapter's limit for 3D textures.
fn check(gpu: &Gpu, name: &str, size: [u32; 3]) -> Result<()> {
    let allowed = gpu.limits.max_texture_dimension_3d;
    if size.iter().all(|side| *side <= allowed) {
        return Ok(());
    }
    let [x, y, z] = size;
    Err(Error::Limit {
        what: match name {
            "" => "a volume".into(),
            name => format!("volume {name}"),
        },
        needed: format!("{x} × {y} × {z} voxels"),
        allowed: format!("{allowed} a side"),
        by: format!("texture limit of {}", gpu.info.name),
    })
}

/// Bindings of a volume instance.
#[derive(Debug)]
pub struct PlacedVolume<'a> {
    /// Grids of the volume.
    pub grids: &'a VolumeGrids,
    /// Buffer of [`VolumeParams`].
    pub params: &'a wgpu::Buffer,
    /// Texture of [`VolumeGrids::majorant_texture`].
    pub majorants: &'a wgpu::TextureView,
    /// Light grid.
    pub light: &'a wgpu::TextureView,
    /// Sampler made by [`sampler`].
    pub sampler: &'a wgpu::Sampler,
}

/// Returns a sampler for grids, which interpolates between voxels and clamps at the faces of the lattice.
pub fn sampler(gpu: &Gpu) -> wgpu::Sampler {
    gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("volumes"),
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        ..Default::default()
    })
}

/// Creates a 3D texture.
pub fn texture_3d(gpu: &Gpu, label: &str, size: [u32; 3], format: Format, usage: Usage) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: extent(size),
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D3,
        format,
        usage,
        view_formats: &[],
    })
}

fn extent([width, height, depth_or_array_layers]: [u32; 3]) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers,
    }
}

fn uploaded(
    gpu: &Gpu,
    label: &str,
    size: [u32; 3],
    format: Format,
    texels: &[f16],
    progress: &Progress,
) -> Result<wgpu::TextureView> {
    let usage = Usage::TEXTURE_BINDING | Usage::COPY_DST;
    let texture = gpu.catch(|| texture_3d(gpu, label, size, format, usage))?;
    let slice = texels.len() / size[2] as usize;
    for (first, slices) in (0..).step_by(SLICES).zip(texels.chunks(SLICES * slice)) {
        progress.check().map_err(|_| Error::Cancelled)?;
        let depth = (slices.len() / slice) as u32;
        let size = [size[0], size[1], depth];
        write(gpu, &texture, bytemuck::cast_slice(slices), size, first);
    }
    Ok(texture.create_view(&wgpu::TextureViewDescriptor::default()))
}

/// Writes complete slices, starting at slice `first`.
fn write(gpu: &Gpu, texture: &wgpu::Texture, bytes: &[u8], size: [u32; 3], first: u32) {
    let [_, rows, slices] = size;
    let destination = wgpu::TexelCopyTextureInfo {
        texture,
        mip_level: 0,
        origin: wgpu::Origin3d { x: 0, y: 0, z: first },
        aspect: wgpu::TextureAspect::All,
    };
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(bytes.len() as u32 / (rows * slices)),
        rows_per_image: Some(rows),
    };
    gpu.queue.write_texture(destination, bytes, layout, extent(size));
}
