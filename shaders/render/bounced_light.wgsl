// bounced_light: light that surfaces around a pixel's send on to it: one bounce of all lights.
//
// in   hits_texture: what one ray of each pixel's ambient occlusion hit first; lights, the merged scene (group 2), the
//      trees (group 1), a band of rows
// out  fresh_out: radiance towards the pixel, in two layers of words (common/rgb16.wgsl); 0 where nothing was hit
// One thread per pixel. The rays are distributed by the cosine, so the mean of what they find, times the albedo, is
// what the pixel's surface sends on. Surfaces at hits are matte, and have the mean colour of their texture.
//
// One light is chosen at each hit, as often as its share of what all would give unshadowed (weighted reservoir
// sampling of one light: Bitterli et al. 2020, section 2.4), and one ray sent to it.
#import "common/frame.wgsl"
#import "common/gbuffer_ids.wgsl"
#import "common/light_visibility.wgsl"
#import "common/luminance.wgsl"
#import "common/occlusion_hit.wgsl"
#import "common/rgb16.wgsl"
#import "common/sampling.wgsl"
#import "common/unseen.wgsl"

@group(3) @binding(0) var<uniform> first_row: u32;
@group(3) @binding(1) var hits_texture: texture_2d<u32>;
@group(3) @binding(2) var<uniform> params: OcclusionParams;
@group(3) @binding(3) var fresh_out: texture_storage_2d_array<r32uint, write>;

// The share of light that the surface scatters.
fn scattered_share(triangle: LeafTriangle, weights: vec3f) -> vec3f {
    let is_bare = (frame.materials_without & MATERIALS_BASE_COLOR_TEXTURE) != 0u;
    let at = ALPHA_HEADER * triangle.payload + select(ALPHA_SCATTERS, ALPHA_SCATTERS_BARE, is_bare);
    let factor = vec3f(bitcast<f32>(alpha[at]), bitcast<f32>(alpha[at + 1u]), bitcast<f32>(alpha[at + 2u]));
    let i = 3u * triangle.triangle;
    let own = weights.x * scene_color(indices(i)).rgb + weights.y * scene_color(indices(i + 1u)).rgb
        + weights.z * scene_color(indices(i + 2u)).rgb;
    let color = select(own, vec3f(1.0), (frame.materials_without & MATERIALS_VERTEX_COLORS) != 0u);
    let clay = vec3f(MATERIALS_CLAY_ALBEDO);
    return select(factor * color, clay, (frame.materials_without & MATERIALS_OWN_LOOK) != 0u);
}

// Radiance of the surface at a hit, towards where the ray came from.
fn bounced(pixel: vec2u, hit: OcclusionHit) -> vec3f {
    let triangle = tree_triangle(hit.leaf);
    let weights = vec3f(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    let position = weights.x * triangle.v0 + weights.y * triangle.v1 + weights.z * triangle.v2;
    let id = (triangle.triangle + 1u) | GBUFFER_HIT | select(0u, GBUFFER_BACK, hit.is_back);
    let start = shadow_ray_start(id, position);
    let normal = start.smooth_normal;
    var u = sampling_point(pixel, params.index, SAMPLE_BOUNCED_CHOICE).x;
    var sum = 0.0;
    var chosen = 0u;
    var chosen_weight = 0.0;
    let count = unseen_zero(position.x) + frame.light_count;
    for (var i = 0u; i < count; i++) {
        let sample = light_sample(lights[i], start.position);
        var weight = 0.0;
        if shadow_ray_needed(start, normal, sample) {
            // Bounded, so that the sum is finite.
            weight = min(luminance(sample.irradiance) * dot(normal, sample.to_light), 1.0e30);
        }
        if weight > 0.0 {
            sum += weight;
            let share = weight / sum;
            // What is left of the number is spread evenly again.
            let takes = u < share;
            u = select((u - share) / max(1.0 - share, 1.0e-9), u / share, takes);
            chosen = select(chosen, i, takes);
            chosen_weight = select(chosen_weight, weight, takes);
        }
    }
    if chosen_weight == 0.0 {
        return vec3f(0.0);
    }
    let light = lights[chosen];
    let sample = light_sample(light, start.position);
    let seen = light_visible_share(start, light, sample, pixel, 1u, SAMPLE_BOUNCED_LIGHT);
    let arriving = sample.irradiance * (dot(normal, sample.to_light) * seen.share * sum / chosen_weight);
    return min(scattered_share(triangle, weights) * arriving / 3.14159265, vec3f(RADIANCE_MAX));
}

@compute @workgroup_size(8, 8)
fn bounced_light(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= frame.size) {
        return;
    }
    let words = textureLoad(hits_texture, pixel, 0).xy;
    var radiance = vec3f(0.0);
    if words.x != OCCLUSION_UNHIT.x {
        radiance = bounced(pixel, occlusion_hit_unpack(words));
    }
    let packed = rgb16_pack(radiance, 0u);
    textureStore(fresh_out, pixel, 0u, vec4u(packed.x, 0u, 0u, 0u));
    textureStore(fresh_out, pixel, 1u, vec4u(packed.y, 0u, 0u, 0u));
}
