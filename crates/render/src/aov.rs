//! Channels of a frame that a picture can show (arbitrary output variables, AOVs).

use crate::settings::Settings;
use canopy_bvh::gpu::library::wgsl_constants;

/// Content of a picture: the lit picture, or a channel of the frame as floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Channel {
    /// Lit, tone-mapped picture.
    #[default]
    Lit,
    /// World position in metres; NaN at the background.
    Position,
    /// Shading normal in world space.
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
    /// 1 if the first light is visible.
    Shadow,
    /// Nodes and triangles visited by the pixel's shadow rays.
    Cost,
    /// Ambient visibility; 1 if it is not traced.
    Ambient,
    /// Bounced light of the surrounding surfaces: mean radiance over the cosine-weighted hemisphere.
    Bounced,
    /// Screen-space motion since the last frame in pixels: x to the right, y down.
    Motion,
    /// Reflected radiance found by rays, divided by the weight of all lobes of the surface.
    Reflection,
    /// Hit distance of the reflection ray in metres. It is about 65,536 for a miss, and 0 if no ray was cast.
    ReflectionDistance,
    /// Fraction of the tile's 64 pixels that cast reflection rays.
    ReflectionTiles,
    /// Signed distance in metres from the reference surface, and that distance divided by the tolerance.
    Deviation,
    /// 1 if the triangle intersects a triangle of another mesh, else 0. The second number is the absolute
    /// cosine between the surface normal and the direction to the camera.
    Intersections,
    /// Image of a guest ([`GuestPass`](crate::inspect::guest::GuestPass)), such as the laboratory's rays.
    Lab,
    /// Transmittance of the fog and the volumes in front of the surface.
    Transmittance,
    /// Radiance that the fog and the volumes in front of the surface scatter and emit to the eye.
    Scattered,
}

/// Mapping from the first two numbers of a channel to the colours of a heat map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heat {
    /// Weights of the two numbers, whose weighted sum selects the colour.
    pub weights: [f32; 2],
    /// Weighted sum that gets the brightest colour. If 0, it is the 99th percentile over the pixels.
    pub range: f32,
}

impl Channel {
    /// All channels, in the order in which lists show them.
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

    /// Returns the heat map that shows the channel, or `None` if the channel has other colours. Also `None`
    /// for [`Channel::Lab`], because the guest provides its own
    /// ([`GuestPass::heat`](crate::inspect::guest::GuestPass::heat)).
    pub fn heat(self, config: &Settings) -> Option<Heat> {
        (self == Self::Cost).then(|| Heat {
            weights: config.cost.count.weights(),
            range: config.cost.range,
        })
    }

    /// Returns the name for the command line and for lists, in lower case.
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
