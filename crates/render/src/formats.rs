//! Formats of the images that passes hand each other.

use canopy_bvh::gpu::{Arrays, Gpu};
use wgpu::TextureFormat as Format;

/// Whole positions in the G-buffer, of hits everywhere and of what is drawn on software adapters.
pub const POSITION_FORMAT: Format = Format::Rgba32Float;
/// The G-buffer's other images.
pub const WORD_FORMAT: Format = Format::R32Uint;

/// What is drawn of positions: frame/gbuffer_position.wgsl.
pub(super) fn drawn_position_format(gpu: &Gpu) -> Format {
    match gpu.capabilities.arrays {
        Arrays::Buffers => Format::Rg32Float,
        Arrays::Textures => POSITION_FORMAT,
    }
}

/// What fragments of the G-buffer are drawn into, in the order of `GBufferTexel` in frame/gbuffer.wgsl.
pub(super) fn gbuffer_targets(gpu: &Gpu) -> Vec<wgpu::ColorTargetState> {
    let mut formats = [WORD_FORMAT; 5];
    formats[0] = drawn_position_format(gpu);
    formats.map(Into::into).into()
}

/// Formats of the images of lobes, in the order of `PackedLobes` in material/lobes.wgsl.
pub const LOBE_FORMATS: [Format; 2] = [Format::Rgba32Uint, Format::Rg32Uint];
/// Depth, which is reversed: 1 is near, 0 is far.
pub const DEPTH_FORMAT: Format = Format::Depth32Float;
/// Radiance.
pub const HDR_FORMAT: Format = Format::Rgba16Float;
/// The finished picture where a pass still reads it, encoded for the display.
pub const PICTURE_FORMAT: Format = Format::Rgba8Unorm;

/// Froxels of the fog, whose slices are layers of an image: light or what scatters it, and a number.
pub(super) const FROXEL_FORMAT: Format = Format::Rgba16Float;
