//! The channels of a frame (arbitrary output variables, AOVs): what a picture can show.

use crate::settings::Settings;
use canopy_bvh::gpu::library::wgsl_constants;

/// What a picture shows: the lit image, or a channel of the frame as floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Channel {
    /// The finished picture.
    #[default]
    Lit,
    /// World position in metres; NaN where there is nothing.
    Position,
    /// World normal, as shaded.
    Normal,
    /// Base colour, linear.
    Albedo,
    /// Perceptual roughness.
    Roughness,
    /// Metalness.
    Metallic,
    /// Ambient occlusion from the material.
    Occlusion,
    /// Emitted radiance.
    Emissive,
    /// Distance along the view axis in metres.
    Depth,
    /// Index of the mesh instance.
    Mesh,
    /// Index of the material.
    Material,
    /// 1 where the first light is visible.
    Shadow,
    /// Nodes and triangles visited by the pixel's shadow rays.
    Cost,
    /// Ambient visibility; 1 where it is not traced.
    Ambient,
    /// Radiance of lights that surfaces around send on, in the mean over the cosine-weighted hemisphere.
    Bounced,
    /// How far what is seen has moved in the picture since the last frame, in pixels: x to the right, y down.
    Motion,
    /// Radiance that the surface reflects, as rays have found it: over the share of light that it reflects at once.
    Reflection,
    /// Metres from the surface to what its reflection ray has hit; about 65,536 where it has hit nothing, and 0 where none
    /// was sent.
    ReflectionDistance,
    /// The share of the 64 pixels of the tile that send reflection rays.
    ReflectionTiles,
    /// Signed distance in metres from the surface that the scene is compared with, and the same over the tolerance.
    Deviation,
    /// 1 where the triangle passes through a triangle of another mesh, else 0; then how much the surface faces the
    /// camera, from 0 to 1.
    Intersections,
    /// Image of a guest ([`GuestPass`](crate::inspect::guest::GuestPass)): rays of the laboratory.
    Lab,
    /// The share of what is seen that passes the fog and the volumes in front of it.
    Transmittance,
    /// Radiance that the fog and the volumes in front of what is seen scatter and emit to the eye.
    Scattered,
}

/// What of a channel's first two numbers is shown by the colours of magnitudes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heat {
    /// What each counts.
    pub weights: [f32; 2],
    /// What the brightest colour stands for; 0 for what 99 % of the pixels do not exceed.
    pub range: f32,
}

impl Channel {
    /// All channels, in the order of lists.
    pub const ALL: [Self; 24] = [
        Self::Lit,
        Self::Position,
        Self::Normal,
        Self::Albedo,
        Self::Roughness,
        Self::Metallic,
        Self::Occlusion,
        Self::Emissive,
        Self::Depth,
        Self::Mesh,
        Self::Material,
        Self::Shadow,
        Self::Cost,
        Self::Ambient,
        Self::Bounced,
        Self::Motion,
        Self::Reflection,
        Self::ReflectionDistance,
        Self::ReflectionTiles,
        Self::Deviation,
        Self::Intersections,
        Self::Lab,
        Self::Transmittance,
        Self::Scattered,
    ];

    /// Colours of magnitudes in which the channel is shown; `None` for one that has other colours, and for that of a
    /// guest, which knows its own.
    pub fn heat(self, config: &Settings) -> Option<Heat> {
        (self == Self::Cost).then(|| Heat {
            weights: config.cost.count.weights(),
            range: config.cost.range,
        })
    }

    /// The name on the command line and in lists, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lit => "lit",
            Self::Position => "position",
            Self::Normal => "normal",
            Self::Albedo => "albedo",
            Self::Roughness => "roughness",
            Self::Metallic => "metallic",
            Self::Occlusion => "occlusion",
            Self::Emissive => "emissive",
            Self::Depth => "depth",
            Self::Mesh => "mesh",
            Self::Material => "material",
            Self::Shadow => "shadow",
            Self::Cost => "cost",
            Self::Ambient => "ambient",
            Self::Bounced => "bounced",
            Self::Motion => "motion",
            Self::Reflection => "reflection",
            Self::ReflectionDistance => "reflection-distance",
            Self::ReflectionTiles => "reflection-tiles",
            Self::Deviation => "deviation",
            Self::Intersections => "intersections",
            Self::Lab => "lab",
            Self::Transmittance => "transmittance",
            Self::Scattered => "scattered",
        }
    }
}

wgsl_constants! {
    const CHANNEL_LIT: u32 = Channel::Lit as u32;
    const CHANNEL_POSITION: u32 = Channel::Position as u32;
    const CHANNEL_NORMAL: u32 = Channel::Normal as u32;
    const CHANNEL_ALBEDO: u32 = Channel::Albedo as u32;
    const CHANNEL_ROUGHNESS: u32 = Channel::Roughness as u32;
    const CHANNEL_METALLIC: u32 = Channel::Metallic as u32;
    const CHANNEL_OCCLUSION: u32 = Channel::Occlusion as u32;
    const CHANNEL_EMISSIVE: u32 = Channel::Emissive as u32;
    const CHANNEL_DEPTH: u32 = Channel::Depth as u32;
    const CHANNEL_MESH: u32 = Channel::Mesh as u32;
    const CHANNEL_MATERIAL: u32 = Channel::Material as u32;
    const CHANNEL_SHADOW: u32 = Channel::Shadow as u32;
    const CHANNEL_COST: u32 = Channel::Cost as u32;
    const CHANNEL_AMBIENT: u32 = Channel::Ambient as u32;
    const CHANNEL_BOUNCED: u32 = Channel::Bounced as u32;
    const CHANNEL_MOTION: u32 = Channel::Motion as u32;
    const CHANNEL_REFLECTION: u32 = Channel::Reflection as u32;
    const CHANNEL_REFLECTION_DISTANCE: u32 = Channel::ReflectionDistance as u32;
    const CHANNEL_REFLECTION_TILES: u32 = Channel::ReflectionTiles as u32;
    const CHANNEL_DEVIATION: u32 = Channel::Deviation as u32;
    const CHANNEL_INTERSECTIONS: u32 = Channel::Intersections as u32;
    const CHANNEL_LAB: u32 = Channel::Lab as u32;
    const CHANNEL_TRANSMITTANCE: u32 = Channel::Transmittance as u32;
    const CHANNEL_SCATTERED: u32 = Channel::Scattered as u32;
}
