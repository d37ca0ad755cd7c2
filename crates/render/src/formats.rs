//! Formats of the images that passes share.

use canopy_bvh::gpu::{Arrays, Gpu};
use wgpu::TextureFormat as Format;

/// Format of full world positions in a G-buffer. Ray hits always use it. Drawn surfaces use it on software
/// adapters only.
pub const POSITION_FORMAT: Format = Format::Rgba32Float;
/// Format of the G-buffer's other images.
pub const WORD_FORMAT: Format = Format::R32Uint;

/// Returns the position format of drawn surfaces (frame/gbuffer_position.wgsl). On GPUs it holds the view
/// depth instead of the position.
pub(super) fn drawn_position_format(gpu: &Gpu) -> Format {
    match gpu.capabilities.arrays {
        Arrays::Buffers => Format::Rg32Float,
        Arrays::Textures => POSITION_FORMAT,
    }
}

/// Returns the colour targets of the G-buffer, in the order of `GBufferTexel` in frame/gbuffer.wgsl.
pub(super) fn gbuffer_targets(gpu: &Gpu) -> Vec<wgpu::ColorTargetState> {
    let mut formats = [WORD_FORMAT; 5];
    formats[0] = drawn_position_format(gpu);
    formats.map(Into::into).into()
}

/// Formats of the lobe images, in the order of `PackedLobes` in material/lobes.wgsl.
pub const LOBE_FORMATS: [Format; 2] = [Format::Rgba32Uint, Format::Rg32Uint];
/// Format of depth. Depth is reversed: 1 is near, 0 is far.
pub const DEPTH_FORMAT: Format = Format::Depth32Float;
/// Format of radiance.
pub const HDR_FORMAT: Format = Format::Rgba16Float;
/// Format of the display-encoded picture that later passes still read.
pub const PICTURE_FORMAT: Format = Format::Rgba8Unorm;

/// Format of the fog's froxel images, which have an array layer per depth slice. RGB holds light or visible
/// fractions, and alpha holds a scalar such as the history length.
pub(super) const FROXEL_FORMAT: Format = Format::Rgba16Float;
