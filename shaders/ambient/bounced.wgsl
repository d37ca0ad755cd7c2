// Direct light that a surface reflects, at the hit of an ambient occlusion ray.
//
// At each hit, one light is chosen in proportion to its unshadowed contribution (weighted reservoir sampling of one
// light: Bitterli et al. 2020, section 2.4), and one ray is traced to it. The surface is Lambertian and has the mean
// colour of its texture.
#import "frame/frame.wgsl"
#import "frame/gbuffer_ids.wgsl"
#import "shadow/light_visibility.wgsl"
#import "math/color.wgsl"
#import "ambient/occlusion_hit.wgsl"
#import "math/sampling.wgsl"

// Returns the diffuse albedo of the surface.
fn scattered_share(triangle: LeafTriangle, weights: vec3f) -> vec3f {
    let is_bare = (frame.materials_without & MATERIALS_BASE_COLOR_TEXTURE) != 0u;
    let at = ALPHA_HEADER * triangle.payload + select(ALPHA_SCATTERS, ALPHA_SCATTERS_BARE, is_bare);
    let factor = vec3f(bitcast<f32>(alpha[at]), bitcast<f32>(alpha[at + 1u]), bitcast<f32>(alpha[at + 2u]));
    let i = 3u * triangle.triangle;
    let own = weights.x * scene_color(indices(i)).rgb + weights.y * scene_color(indices(i + 1u)).rgb
        + weights.z * scene_color(indices(i + 2u)).rgb;
    let color = select(own, vec3f(1.0), (frame.materials_without & MATERIALS_VERTEX_COLORS) != 0u);
    let clay = vec3f(MATERIALS_CLAY_ALBEDO);
    return select(factor * color, clay, (frame.materials_without & MATERIALS_CLAY) != 0u);
}

// Returns the radiance of the surface at a hit, towards the origin of the ray.
fn bounced(pixel: vec2u, index: u32, hit: OcclusionHit) -> vec3f {
    let triangle = tree_triangle(hit.leaf);
    let weights = vec3f(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    let position = weights.x * triangle.v0 + weights.y * triangle.v1 + weights.z * triangle.v2;
    let id = (triangle.triangle + 1u) | GBUFFER_HIT | select(0u, GBUFFER_BACK, hit.is_back);
    let start = shadow_ray_start(id, position);
    let normal = start.smooth_normal;
    var u = sampling_point(pixel, index, frame.first_dimension + SAMPLE_BOUNCED_CHOICE).x;
    var sum = 0.0;
    var chosen = 0u;
    var chosen_weight = 0.0;
    for (var i = 0u; i < frame.light_count; i++) {
        let sample = light_sample(lights[i], start.position);
        var weight = 0.0;
        if shadow_ray_needed(start, normal, sample) {
            // Bounded, so that the sum is finite.
            weight = min(luminance(sample.irradiance) * dot(normal, sample.to_light), 1.0e30);
        }
        if weight > 0.0 {
            sum += weight;
            let share = weight / sum;
            // Rescales the number, which is uniform again after the choice.
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
    let visible = light_visible_share(start, light, sample, pixel, 1u, frame.first_dimension + SAMPLE_BOUNCED_LIGHT);
    let arriving = sample.irradiance * (dot(normal, sample.to_light) * visible.share * sum / chosen_weight);
    return min(scattered_share(triangle, weights) * arriving / 3.14159265, vec3f(RADIANCE_MAX));
}
