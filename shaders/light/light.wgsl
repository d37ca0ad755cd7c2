// Punctual lights (KHR_lights_punctual) in world space.
#import "light/fog_medium.wgsl"

struct Light {
    position: vec3f,
    // LIGHT_DIRECTIONAL, LIGHT_POINT or LIGHT_SPOT.
    kind: u32,
    // Direction in which the light travels.
    direction: vec3f,
    // Range in metres; 0 for no limit.
    range: f32,
    // Linear colour × lux or candela.
    intensity: vec3f,
    // First layer of its shadow maps; all ones if it has none.
    shadow_view: u32,
    spot_scale: f32,
    spot_offset: f32,
    // Radius in metres; for a directional light, the sine of its angular radius. 0 for a point.
    radius: f32,
}

// The first lights of the frame, for fog, volumes and the laboratory. With a tree of lights, they are directional
// lights, then the strongest. All lights are in light/light_table.wgsl.
@group(0) @binding(1) var<uniform> first_lights: array<Light, FIRST_LIGHTS>;

fn first_light_count() -> u32 {
    return min(frame.light_count, FIRST_LIGHTS);
}

struct LightSample {
    // Unit vector to the light.
    to_light: vec3f,
    // Distance in metres; very large for directional lights.
    distance: f32,
    // Irradiance in lux of a surface that faces the light. It is zero out of range and outside the cone.
    irradiance: vec3f,
}

fn light_sample(light: Light, position: vec3f) -> LightSample {
    if light.kind == LIGHT_DIRECTIONAL {
        return LightSample(-light.direction, 1.0e30, light.intensity);
    }
    let offset = light.position - position;
    let distance = max(length(offset), 1.0e-20);
    let to_light = offset / distance;
    var falloff = 1.0 / (distance * distance);
    if light.range > 0.0 {
        let ratio = distance / light.range;
        falloff *= saturate(1.0 - ratio * ratio * ratio * ratio);
    }
    if light.kind == LIGHT_SPOT {
        let cone = saturate(dot(-to_light, light.direction) * light.spot_scale + light.spot_offset);
        falloff *= cone * cone;
    }
    if fog_is_enabled() {
        falloff *= fog_transmittance(fog_optical_depth(position, light.position));
    }
    return LightSample(to_light, distance, light.intensity * falloff);
}

// True if the light illuminates the surface when unoccluded.
fn light_reaches(sample: LightSample) -> bool {
    return any(sample.irradiance > vec3f(0.0));
}
