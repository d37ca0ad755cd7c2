//! Textures: images with samplers, and references to them in materials.

use glam::{Affine2, Vec2};

/// An image with a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Texture {
    /// Index into [`super::Scene::images`].
    pub image: usize,
    /// Sampler of the image.
    pub sampler: Sampler,
}

/// Sampler of glTF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Wrap mode along u.
    pub wrap_u: Wrap,
    /// Wrap mode along v.
    pub wrap_v: Wrap,
    /// True if magnification is linear, false if nearest.
    pub mag_linear: bool,
    /// True if minification is linear, false if nearest.
    pub min_linear: bool,
    /// True if mip levels are interpolated; `None` without mipmaps.
    pub mip_linear: Option<bool>,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
            mag_linear: true,
            min_linear: true,
            mip_linear: Some(true),
        }
    }
}

/// Wrap mode of texture coordinates outside 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Repeats the texture.
    Repeat,
    /// Repeats the texture, mirrored every other time.
    Mirror,
    /// Clamps to the edge.
    Clamp,
}

/// Reference to a texture in a material.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextureRef {
    /// Index into [`super::Scene::textures`].
    pub texture: usize,
    /// Set of texture coordinates: 0 or 1.
    pub uv_set: u32,
    /// Matrix `texture_from_uv` (KHR_texture_transform).
    pub texture_from_uv: Affine2,
}

/// A texture slot of a material.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields of Material have these names")]
pub enum TextureSlot {
    BaseColor,
    MetallicRoughness,
    Normal,
    Occlusion,
    Emissive,
}

/// Transform of a texture (KHR_texture_transform).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UvTransform {
    /// Offset of the origin, in units of the texture size.
    pub offset: Vec2,
    /// Rotation in radians, counter-clockwise in an image whose v points down.
    pub rotation: f32,
    /// Scale per axis.
    pub scale: Vec2,
}

impl UvTransform {
    /// Returns `texture_from_uv`.
    pub fn matrix(self) -> Affine2 {
        Affine2::from_translation(self.offset)
            * Affine2::from_angle(-self.rotation)
            * Affine2::from_scale(self.scale)
    }
}
