//! Names and descriptions of channels.

use crate::render::Channel;

/// Returns the name of a channel in lists and on the picture.
pub(in crate::app) fn title(channel: Channel) -> String {
    match channel {
        Channel::Lit => "lit picture".into(),
        Channel::Cost => "cost of rays".into(),
        Channel::Ambient => "ambient visibility".into(),
        Channel::Bounced => "bounced light".into(),
        Channel::Reflection => "reflected radiance".into(),
        Channel::ReflectionDistance => "reflection distance".into(),
        Channel::ReflectionTiles => "reflection tiles".into(),
        Channel::Lab => "laboratory".into(),
        Channel::Scattered => "scattered light".into(),
        other => other.name().into(),
    }
}

/// Returns the description of a channel in one sentence.
pub(in crate::app) fn meaning(channel: Channel) -> &'static str {
    match channel {
        Channel::Lit => "The lit picture",
        Channel::Position => "Position in metres, world space",
        Channel::Normal => "Shading normal, world space",
        Channel::Albedo => "Base colour",
        Channel::Roughness => "Perceptual roughness",
        Channel::Metallic => "Metalness",
        Channel::Occlusion => "Ambient occlusion of the material",
        Channel::Emissive => "Emitted radiance",
        Channel::Depth => "Distance along the view axis",
        Channel::Mesh => "A colour for each mesh",
        Channel::Material => "A colour for each material",
        Channel::Shadow => "Visibility of the first light",
        Channel::Cost => "Nodes and triangles that the shadow rays of a pixel visit, as a heat map",
        Channel::Ambient => "Visible fraction of the environment",
        Channel::Bounced => "Radiance that surrounding surfaces reflect",
        Channel::Motion => "Motion vectors since the last frame, up to 32 pixels",
        Channel::Reflection => "Radiance of traced reflections",
        Channel::ReflectionDistance => "Distance to the reflected surface",
        Channel::Deviation => "Signed distance from the surface of the deviation file",
        Channel::Intersections => "Triangles that intersect another mesh, in orange",
        Channel::Lab => "Rays through an acceleration structure of the laboratory",
        Channel::Transmittance => "Transmittance of fog and volumes",
        Channel::Scattered => "Radiance that fog and volumes scatter towards the eye",
        Channel::ReflectionTiles => "Fraction of each tile's pixels that trace reflection rays",
    }
}

/// Returns the search synonyms of a channel.
pub(in crate::app) fn synonyms(channel: Channel) -> &'static str {
    match channel {
        Channel::Normal => "normals",
        Channel::Albedo => "base color colour diffuse",
        Channel::Occlusion => "ao texture",
        Channel::Ambient => "ao ambient occlusion",
        Channel::Bounced => "gi indirect global illumination",
        Channel::Cost => "heat map heatmap bvh",
        Channel::Depth => "z buffer",
        Channel::Mesh | Channel::Material => "id ids object",
        Channel::Motion => "velocity vectors",
        Channel::Lit => "final beauty",
        _ => "",
    }
}
