//! Formats of the images that passes hand each other.

use wgpu::TextureFormat as Format;

/// Formats of the G-buffer's images, in the order of `GBufferTexel` in common/gbuffer.wgsl.
pub const GBUFFER_FORMATS: [Format; 5] = [
    Format::Rgba32Float,
    Format::R32Uint,
    Format::R32Uint,
    Format::R32Uint,
    Format::R32Uint,
];
/// Formats of the images of lobes, in the order of `PackedLobes` in common/lobes.wgsl.
pub const LOBE_FORMATS: [Format; 2] = [Format::Rgba32Uint, Format::Rg32Uint];
/// Depth, which is reversed: 1 is near, 0 is far.
pub const DEPTH_FORMAT: Format = Format::Depth32Float;
/// Radiance.
pub const HDR_FORMAT: Format = Format::Rgba16Float;
/// The finished picture where a pass still reads it, encoded for the display.
pub const PICTURE_FORMAT: Format = Format::Rgba8Unorm;

/// Froxels of the fog, whose slices are layers of an image: light or what scatters it, and a number.
pub(super) const FROXEL_FORMAT: Format = Format::Rgba16Float;
