// blend: surfaces with alpha blending or transmission, drawn over the lit image from back to front. The
// lights and the shadow mode are the same; in ray mode each fragment traces its own shadow rays. Surfaces
// with layers are drawn twice: `blend_behind` attenuates the background, `blend_layers` adds the light that
// the surface itself scatters.
//
// in   the merged scene (group 2), one material (group 3), lights and shadow maps (group 0), the trees (group
//      1)
// out  hdr: alpha-blended by `blend`, multiplied by `blend_behind`, added to by `blend_layers`; display:
//      alpha-blended with the colour of unlit surfaces, multiplied, nothing added
#import "common/blended.wgsl"
#import "common/material_layers.wgsl"
#import "common/shadow_map.wgsl"
#import "common/shadow_ray.wgsl"
#import "common/unseen.wgsl"

fn visibility(i: u32, s: Surface, start: ShadowStart, sample: LightSample) -> f32 {
    let shadow_mode = unseen_zero(sample.distance) + frame.shadow_mode;
    if shadow_mode == SHADOWS_RAYS {
        if dot(start.horizon_normal, sample.to_light) <= 0.0 {
            return 0.0;
        }
        return select(0.0, 1.0, shadow_ray_visible(start, sample));
    }
    if shadow_mode == SHADOWS_MAP {
        return shadow_map_visibility(lights[i], sample, s.position, s.smooth_normal);
    }
    return 1.0;
}

@fragment
fn blend(in: Fragment, @builtin(front_facing) front: bool) -> Blended {
    let base_color = material_base_color(in.uv, in.color);
    let s = material_surface(in, base_color, front);
    let to_eye = frame_to_eye(s.position);
    var radiance = s.emissive;
    let zero = unseen_zero(in.clip.x);
    if zero + u32(s.unlit) == 0u {
        let start = shadow_ray_start(in.triangle, s.position);
        radiance += brdf_ambient(s, to_eye, ambient_unoccluded(s.normal));
        for (var i = 0u; i < zero + frame.light_count; i++) {
            let sample = light_sample(lights[i], s.position);
            if light_reaches(sample) && dot(s.normal, sample.to_light) > 0.0 {
                radiance += brdf_evaluate(s, to_eye, sample.to_light) * sample.irradiance
                    * visibility(i, s, start, sample);
            }
        }
    }
    let alpha = saturate(base_color.a);
    let shown = select(vec3f(0.0), saturate(s.albedo), s.unlit);
    return Blended(vec4f(min(radiance, vec3f(RADIANCE_MAX)), alpha), vec4f(shown, alpha));
}

// Coverage from alpha: masked surfaces are cut out, and only blended ones are partly transparent.
fn coverage(alpha: f32) -> f32 {
    if alpha < material.alpha_cutoff {
        discard;
    }
    return select(1.0, saturate(alpha), (material.flags & MATERIAL_BLENDED) != 0u);
}

@fragment
fn blend_behind(in: Fragment, @builtin(front_facing) front: bool) -> Blended {
    let base_color = material_base_color(in.uv, in.color);
    let s = material_surface(in, base_color, front);
    let l = material_layers(in, s, front);
    let covered = coverage(base_color.a);
    let through = vec4f(1.0 - covered + covered * layers_transmittance(s, l, frame_to_eye(s.position)), 1.0);
    return Blended(through, through);
}

@fragment
fn blend_layers(in: Fragment, @builtin(front_facing) front: bool) -> Blended {
    let base_color = material_base_color(in.uv, in.color);
    let s = material_surface(in, base_color, front);
    let l = material_layers(in, s, front);
    let covered = coverage(base_color.a);
    let to_eye = frame_to_eye(s.position);
    let start = shadow_ray_start(in.triangle, s.position);
    var radiance = layers_ambient(s, l, to_eye, ambient_unoccluded(s.normal));
    let light_count = unseen_zero(in.clip.x) + frame.light_count;
    for (var i = 0u; i < light_count; i++) {
        let sample = light_sample(lights[i], s.position);
        if !light_reaches(sample) {
            continue;
        }
        let visible = visibility(i, s, start, sample);
        if visible > 0.0 {
            radiance += layers_evaluate(s, l, to_eye, sample.to_light) * sample.irradiance * visible;
        }
    }
    return Blended(vec4f(min(radiance, vec3f(RADIANCE_MAX)) * covered, covered), vec4f(0.0));
}
