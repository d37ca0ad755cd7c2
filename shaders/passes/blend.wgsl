// blend: draws surfaces with alpha blending or transmission over the lit picture, from back to front.
//
// in   the merged scene (group 2), one material (group 3), lights and shadow maps (group 0), the BVHs with their nodes
//      for rays, the front-most blended surface of each pixel, its reflection, and fog and volumes in front of it
//      (group 1)
// out  hdr: `blend` alpha-blends radiance, `blend_behind` multiplies by the transmittance, `blend_layers` adds radiance
//      display: `blend` alpha-blends the colour of unlit surfaces, `blend_behind` multiplies by the transmittance
// Lights and shadow mode are the same as in `lighting`. In ray mode each fragment traces its own shadow rays. Surfaces
// with layers are drawn twice. `blend_behind` attenuates the background, and `blend_layers` adds the light that the
// surface scatters. Fragment shaders have no workgroup memory, so the stack of a ray is private.
#import "bvh/software/ray_stack.wgsl"
#import "material/blended.wgsl"
#import "material/cut_out.wgsl"
#import "light/light_choice.wgsl"
#import "light/light_table.wgsl"
#import "shadow/light_visibility.wgsl"
#import "material/material_layers.wgsl"
#import "material/material_sample.wgsl"
#import "reflections/reflected_at.wgsl"
#import "shadow/shadow_map.wgsl"
#import "shadow/shadow_ray.wgsl"
#import "volume/volume_ahead.wgsl"

@group(1) @binding(3) var front_ids: texture_storage_2d<r32uint, read>;
@group(1) @binding(4) var<storage, read> reflected_words: array<vec2u>;
@group(1) @binding(5) var<uniform> fog: FogParams;
@group(1) @binding(6) var fog_texture: texture_2d_array<f32>;
@group(1) @binding(7) var fog_sampler: sampler;
@group(1) @binding(8) var volume_layers: texture_storage_2d_array<rgba16float, read>;
@group(1) @binding(9) var volume_spans: texture_storage_2d_array<r32float, read>;

// Returns the traced reflection of the fragment, if it is the front-most blended surface.
fn fragment_reflected(pixel: vec2u, triangle: u32, s: Surface) -> TracedReflection {
    if any(pixel >= textureDimensions(front_ids)) || textureLoad(front_ids, pixel).r != triangle + 1u {
        return reflected_nothing();
    }
    return reflected_at(pixel, s);
}

// Returns the visibility of a light from a fragment. `i` is the number of the candidate.
fn visibility(i: u32, light: Light, pixel: vec2u, s: Surface, start: ShadowStart, sample: LightSample) -> f32 {
    let shadow_mode = frame.shadow_mode;
    if shadow_mode == SHADOWS_RAYS {
        if dot(start.horizon_normal, sample.to_light) <= 0.0 {
            return 0.0;
        }
        return light_visible_share(start, light, sample, pixel, light_rays(light), SAMPLE_BLENDED_LIGHTS + i).share;
    }
    if shadow_mode == SHADOWS_MAP {
        return shadow_map_visibility(light, sample, pixel, s.position, s.smooth_normal);
    }
    return 1.0;
}

// Random selection of lights, if rays to all of them would exceed the budget. Otherwise all have a weight of 1.
struct BlendedLights {
    choice: LightChoice,
    chooses: bool,
    // Number that draws the candidates.
    u: f32,
}

fn blended_weight(s: Surface, e: BrdfEye, to_eye: vec3f, sample: LightSample) -> f32 {
    return select(0.0, light_weight(s, e, to_eye, sample), light_reaches(sample));
}

fn blended_lights(pixel: vec2u, s: Surface, e: BrdfEye, to_eye: vec3f) -> BlendedLights {
    let chooses = frame.light_slots < frame.light_candidates;
    var u = sampling_point(pixel, frame.sample_index, SAMPLE_BLENDED_CHOICE);
    u.y = light_tree_number(u.y, pixel, frame.sample_index);
    var total = 0.0;
    if chooses {
        for (var i = 0u; i < frame.light_candidates; i++) {
            let candidate = light_candidate(i, frame.light_candidates, s.position, s.normal, u.y);
            let sample = light_sample(light_at(candidate.index), s.position);
            total += candidate.weight * blended_weight(s, e, to_eye, sample);
        }
    }
    return BlendedLights(light_choice_begin(total, u.x), chooses, u.y);
}

// Returns the factor on the contribution of the next candidate, or 0 if it is not chosen.
fn blended_take(
    all: ptr<function, BlendedLights>,
    s: Surface,
    e: BrdfEye,
    to_eye: vec3f,
    candidate: LightCandidate,
    sample: LightSample,
) -> f32 {
    if !(*all).chooses {
        return candidate.weight;
    }
    let weight = candidate.weight * blended_weight(s, e, to_eye, sample);
    var choice = (*all).choice;
    let count = light_choice_take(&choice, weight);
    (*all).choice = choice;
    return candidate.weight * f32(count) * choice.step / max(weight, 1.0e-38);
}

@fragment
fn blend(in: Fragment, @builtin(front_facing) front: bool) -> Blended {
    let base_color = material_base_color(in.uv, in.color);
    let s = material_surface(in, base_color, front);
    let to_eye = frame_to_eye(s.position);
    var radiance = s.emissive;
    if !s.unlit {
        let start = shadow_ray_start(in.triangle + 1u, s.position);
        let pixel = vec2u(in.clip.xy);
        let reflected = fragment_reflected(pixel, in.triangle, s);
        radiance += brdf_ambient(s, to_eye, ambient_unoccluded(s.normal), reflected);
        let eye = brdf_eye(s, to_eye, glint_growth(in.triangle + 1u, s.position));
        var all = blended_lights(pixel, s, eye, to_eye);
        for (var i = 0u; i < frame.light_candidates; i++) {
            let candidate = light_candidate(i, frame.light_candidates, s.position, s.normal, all.u);
            let light = light_at(candidate.index);
            let sample = light_sample(light, s.position);
            let weight = blended_take(&all, s, eye, to_eye, candidate, sample);
            if weight > 0.0 && light_reaches(sample) && dot(s.normal, sample.to_light) > 0.0 {
                radiance += brdf_evaluate(s, eye, to_eye, sample.to_light) * sample.irradiance
                    * (weight * visibility(i, light, pixel, s, start, sample));
            }
        }
    }
    let alpha = saturate(base_color.a);
    let media = media_in_front(vec2u(in.clip.xy), s.position);
    let seen = min(fog_applied(media, min(radiance, vec3f(RADIANCE_MAX))), vec3f(RADIANCE_MAX));
    let shown = select(vec3f(0.0), media.transmittance * saturate(s.albedo), s.unlit);
    return Blended(vec4f(seen, alpha), vec4f(shown, alpha));
}

// Returns the coverage of a fragment, and discards it if the alpha mask cuts it out. Only blended surfaces cover a
// fragment partly.
fn coverage(in: Fragment, alpha: f32) -> f32 {
    if is_cut_out(in) {
        discard;
    }
    return select(1.0, saturate(alpha), (material.flags & MATERIAL_BLENDED) != 0u);
}

@fragment
fn blend_behind(in: Fragment, @builtin(front_facing) front: bool) -> Blended {
    let base_color = material_base_color(in.uv, in.color);
    let s = material_surface(in, base_color, front);
    let to_eye = frame_to_eye(s.position);
    let l = material_layers(in, s, front, to_eye);
    let covered = coverage(in, base_color.a);
    let through = vec4f(1.0 - covered + covered * layers_transmittance(s, l, to_eye), 1.0);
    return Blended(through, through);
}

// Returns the inscattering of fog and volumes in front. `blend_behind` attenuates it together with the background, so
// this restores it.
fn inscattering_restored(media: FogSegment, covered: f32, transmittance: vec3f) -> vec3f {
    return covered * (1.0 - transmittance) * media.scattered;
}

@fragment
fn blend_layers(in: Fragment, @builtin(front_facing) front: bool) -> Blended {
    let base_color = material_base_color(in.uv, in.color);
    let s = material_surface(in, base_color, front);
    let to_eye = frame_to_eye(s.position);
    let l = material_layers(in, s, front, to_eye);
    let covered = coverage(in, base_color.a);
    let start = shadow_ray_start(in.triangle + 1u, s.position);
    let pixel = vec2u(in.clip.xy);
    let lobes = lobes_packed(material_lobes(s, l), s);
    let reflected = fragment_reflected(pixel, in.triangle, s);
    var radiance = layers_ambient(s, l, lobes, to_eye, ambient_unoccluded(s.normal), reflected);
    let eye = brdf_eye(s, to_eye, glint_growth(in.triangle + 1u, s.position));
    var all = blended_lights(pixel, s, eye, to_eye);
    for (var i = 0u; i < frame.light_candidates; i++) {
        let candidate = light_candidate(i, frame.light_candidates, s.position, s.normal, all.u);
        let light = light_at(candidate.index);
        let sample = light_sample(light, s.position);
        let weight = blended_take(&all, s, eye, to_eye, candidate, sample);
        if weight == 0.0 || !light_reaches(sample) {
            continue;
        }
        let visible = weight * visibility(i, light, pixel, s, start, sample);
        if visible > 0.0 {
            radiance += layers_evaluate_light(s, l, to_eye, sample.to_light, eye.growth) * sample.irradiance * visible;
        }
    }
    let media = media_in_front(pixel, s.position);
    radiance = covered * media.transmittance * min(radiance, vec3f(RADIANCE_MAX))
        + inscattering_restored(media, covered, layers_transmittance(s, l, to_eye));
    return Blended(vec4f(min(radiance, vec3f(RADIANCE_MAX)), covered), vec4f(0.0));
}
