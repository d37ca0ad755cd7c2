// Lookups of shadow maps. Both biases move the receiver in world space by texels of the map, so they scale
// with the scene.
#import "common/unseen.wgsl"

struct ShadowView {
    clip_from_world: mat4x4f,
    // Metres; for a perspective projection at distance 1.
    texel_size: f32,
    perspective: f32,
}

@group(0) @binding(2) var<uniform> shadow_views: array<ShadowView, SHADOW_VIEW_LIMIT>;
@group(0) @binding(3) var shadow_maps: texture_depth_2d_array;
@group(0) @binding(4) var shadow_sampler: sampler_comparison;

// The face of a point light's cube (+X, −X, +Y, −Y, +Z, −Z) for a direction.
fn shadow_map_face(direction: vec3f) -> u32 {
    let size = abs(direction);
    if size.x >= size.y && size.x >= size.z {
        return select(0u, 1u, direction.x < 0.0);
    }
    if size.y >= size.z {
        return select(2u, 3u, direction.y < 0.0);
    }
    return select(4u, 5u, direction.z < 0.0);
}

// Visibility of the light: 1 where the map holds no occluder, and outside the map.
fn shadow_map_visibility(light: Light, sample: LightSample, position: vec3f, normal: vec3f) -> f32 {
    if light.shadow_view == 0xffffffffu {
        return 1.0;
    }
    var layer = light.shadow_view;
    if light.kind == LIGHT_POINT {
        layer += shadow_map_face(-sample.to_light);
    }
    let view = shadow_views[layer];
    let texel = view.texel_size * mix(1.0, sample.distance, view.perspective);
    let slope = sqrt(saturate(1.0 - pow(dot(normal, sample.to_light), 2.0)));
    let receiver =
        position + texel * (frame.normal_bias * slope * normal + frame.depth_bias * sample.to_light);
    let clip = view.clip_from_world * vec4f(receiver, 1.0);
    if clip.w <= 0.0 {
        return 1.0;
    }
    let ndc = clip.xyz / clip.w;
    if any(abs(ndc.xy) > vec2f(1.0)) || ndc.z <= 0.0 || ndc.z > 1.0 {
        return 1.0;
    }
    let uv = vec2f(0.5, -0.5) * ndc.xy + 0.5;
    let step = 1.0 / vec2f(textureDimensions(shadow_maps));
    let width = unseen_zero(texel) + frame.pcf_width;
    let reach = (f32(width) - 1.0) * 0.5;
    var sum = 0.0;
    for (var y = 0u; y < width; y++) {
        for (var x = 0u; x < width; x++) {
            let tap = uv + (vec2f(f32(x), f32(y)) - reach) * step;
            sum += textureSampleCompareLevel(shadow_maps, shadow_sampler, tap, layer, ndc.z);
        }
    }
    return sum / f32(width * width);
}
