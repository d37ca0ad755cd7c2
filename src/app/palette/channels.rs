//! Channels in words.

use crate::render::Channel;

/// The name of a channel in lists and on the picture.
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

/// The meaning of a channel, in a sentence.
pub(in crate::app) fn meaning(channel: Channel) -> &'static str {
    match channel {
        Channel::Lit => "The finished picture",
        Channel::Position => "World position in metres",
        Channel::Normal => "World normal, as shaded",
        Channel::Albedo => "Base colour",
        Channel::Roughness => "Perceptual roughness",
        Channel::Metallic => "Metalness",
        Channel::Occlusion => "Ambient occlusion of the material",
        Channel::Emissive => "Emitted radiance",
        Channel::Depth => "Distance along the view axis",
        Channel::Mesh => "A colour for each mesh",
        Channel::Material => "A colour for each material",
        Channel::Shadow => "Where the first light is visible",
        Channel::Cost => "Nodes and triangles that the rays of a pixel visit, as a heat map",
        Channel::Ambient => "How much of the environment a point sees",
        Channel::Bounced => "Radiance of lights that surfaces around a point send on to it",
        Channel::Motion => "How far a point has moved in the picture since the last frame, 32 pixels at most",
        Channel::Reflection => "Radiance that rays have found for glossy surfaces",
        Channel::ReflectionDistance => "Distance to what glossy surfaces reflect",
        Channel::Deviation => "Signed distance from the file that the scene is compared with",
        Channel::Intersections => "Orange where a triangle passes through one of another mesh. Shift+I",
        Channel::Lab => "Rays through a structure of the laboratory",
        Channel::Transmittance => "What fog and volumes let through of what is seen",
        Channel::Scattered => "Radiance that fog and volumes add to what is seen",
        Channel::ReflectionTiles => "The share of each tile's pixels that send reflection rays",
    }
}

/// Other words for a channel, by which it is found.
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
