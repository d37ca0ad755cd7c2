// Direct light that a surface reflects, at the hit of an ambient occlusion ray.
//
// At each hit, one light is chosen in proportion to its unshadowed contribution (weighted reservoir sampling of one
// light: Bitterli et al. 2020, section 2.4), and one ray is traced to it. The surface is Lambertian and has the mean
// colour of its texture.
#import "ambient/occlusion_hit.wgsl"
#import "ambient/scattered_share.wgsl"
#import "frame/frame.wgsl"
#import "frame/gbuffer_ids.wgsl"
#import "light/light_table.wgsl"
#import "math/color.wgsl"
#import "math/sampling.wgsl"
#import "shadow/light_visibility.wgsl"

// Returns the light of one light that arrives at a surface: the mean radiance over the cosine-weighted hemisphere.
fn light_arriving(start: ShadowStart, normal: vec3f, pixel: vec2u, index: u32) -> vec3f {
    let numbers = sampling_point(pixel, index, frame.first_dimension + SAMPLE_BOUNCED_CHOICE);
    var u = numbers.x;
    let drawn = light_tree_number(numbers.y, pixel, index);
    var sum = 0.0;
    var chosen = LightCandidate(0u, 0.0);
    var chosen_weight = 0.0;
    let candidates = light_candidates_for_one();
    for (var i = 0u; i < candidates; i++) {
        let candidate = light_candidate(i, candidates, start.position, normal, drawn);
        let sample = light_sample(light_at(candidate.index), start.position);
        var weight = 0.0;
        if shadow_ray_needed(start, normal, sample) {
            // Bounded, so that the sum is finite.
            let irradiance = luminance(sample.irradiance) * dot(normal, sample.to_light);
            weight = min(candidate.weight * irradiance, 1.0e30);
        }
        if weight > 0.0 {
            sum += weight;
            let share = weight / sum;
            // Rescales the number, which is uniform again after the choice.
            let takes = u < share;
            u = select((u - share) / max(1.0 - share, 1.0e-9), u / share, takes);
            chosen.index = select(chosen.index, candidate.index, takes);
            chosen.weight = select(chosen.weight, candidate.weight, takes);
            chosen_weight = select(chosen_weight, weight, takes);
        }
    }
    if chosen_weight == 0.0 {
        return vec3f(0.0);
    }
    let light = light_at(chosen.index);
    let sample = light_sample(light, start.position);
    let visible = light_visible_share(start, light, sample, pixel, 1u, frame.first_dimension + SAMPLE_BOUNCED_LIGHT);
    let weight = chosen.weight * sum / chosen_weight;
    let arriving = sample.irradiance * (dot(normal, sample.to_light) * visible.share * weight);
    return min(arriving / 3.14159265, vec3f(RADIANCE_MAX));
}

// Returns the radiance of the surface at a hit, towards the origin of the ray.
fn bounced(pixel: vec2u, index: u32, hit: OcclusionHit) -> vec3f {
    let triangle = tree_triangle(hit.leaf);
    let weights = vec3f(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    let position = weights.x * triangle.v0 + weights.y * triangle.v1 + weights.z * triangle.v2;
    let id = (triangle.triangle + 1u) | GBUFFER_HIT | select(0u, GBUFFER_BACK, hit.is_back);
    let start = shadow_ray_start(id, position);
    return scattered_share(triangle, weights) * light_arriving(start, start.smooth_normal, pixel, index);
}
