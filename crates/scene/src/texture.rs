//! Textures: an image with a sampler, and how a material uses it.

use glam::{Affine2, Vec2};

/// An image with a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Texture {
    /// Index into [`super::Scene::images`].
    pub image: usize,
    /// How it is sampled.
    pub sampler: Sampler,
}

/// glTF's sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Horizontal wrapping.
    pub wrap_u: Wrap,
    /// Vertical wrapping.
    pub wrap_v: Wrap,
    /// Whether the filter is linear, not nearest, when magnified.
    pub mag_linear: bool,
    /// Whether the filter is linear, not nearest, when minified.
    pub min_linear: bool,
    /// Whether mipmap levels are interpolated; `None` without mipmaps.
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

/// How texture coordinates outside 0..1 wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The texture repeats.
    Repeat,
    /// The texture repeats, mirrored every other time.
    Mirror,
    /// The edge continues.
    Clamp,
}

/// A texture as a material uses it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextureRef {
    /// Index into [`super::Scene::textures`].
    pub texture: usize,
    /// The set of texture coordinates: 0 or 1.
    pub uv_set: u32,
    /// `texture_from_uv` (KHR_texture_transform).
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

/// The transform of a texture (KHR_texture_transform).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UvTransform {
    /// Offset of the origin, in texture sizes.
    pub offset: Vec2,
    /// Rotation in radians, counter-clockwise in an image whose v points down.
    pub rotation: f32,
    /// Scale per axis.
    pub scale: Vec2,
}

impl UvTransform {
    /// `texture_from_uv`.
    pub fn matrix(self) -> Affine2 {
        Affine2::from_translation(self.offset)
            * Affine2::from_angle(-self.rotation)
            * Affine2::from_scale(self.scale)
    }
}
