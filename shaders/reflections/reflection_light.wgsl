// reflection_light: shades the hits of reflection rays whose material has no layers, and adds them to the reflections.
//
// in   the list of hits; their G-buffer, rays, ambient visibility and the visibility of lights from them; the merged
//      scene (group 2), lights and environment (group 0)
// out  reflected_words: the radiance is added
// One thread per hit. Shading matches `lighting`. If another bounce follows, the part that it will trace is left out.
// Hits with layers are left to reflection_layers.
#import "material/brdf.wgsl"
#import "bvh/dispatch.wgsl"
#import "reflections/hit_ambient.wgsl"
#import "reflections/hit_range.wgsl"
#import "frame/ray_list.wgsl"
#import "reflections/reflected.wgsl"
#import "reflections/reflection_ray.wgsl"
#import "shadow/shadow_start.wgsl"
#import "shadow/visibility.wgsl"

@group(1) @binding(0) var<uniform> ranges: array<HitRange, REFLECTION_BINS + 1u>;
@group(1) @binding(1) var<storage, read> sorted: array<u32>;
@group(1) @binding(2) var<storage, read> shadow_words: array<u32>;
@group(1) @binding(3) var<storage, read_write> reflected_words: array<vec2u>;
@group(1) @binding(4) var position_texture: texture_2d<f32>;
@group(1) @binding(5) var normal_texture: texture_2d<u32>;
@group(1) @binding(6) var albedo_texture: texture_2d<u32>;
@group(1) @binding(7) var emissive_texture: texture_2d<u32>;
@group(1) @binding(8) var ids_texture: texture_2d<u32>;
@group(1) @binding(9) var hits_texture: texture_2d_array<u32>;

@compute @workgroup_size(RAY_BLOCK)
fn reflection_light(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread;
    if number >= ranges[0].count {
        return;
    }
    let entry = sorted[number];
    if entry == HIT_NONE {
        return;
    }
    let pixel = ray_list_pixel(entry);
    var s = gbuffer_unpack(
        textureLoad(position_texture, pixel, 0),
        textureLoad(normal_texture, pixel, 0).r,
        textureLoad(albedo_texture, pixel, 0).r,
        textureLoad(emissive_texture, pixel, 0).r,
    );
    if s.layered {
        return;
    }
    let ray = reflection_ray_unpack(textureLoad(hits_texture, pixel, HITS_RAY, 0));
    let to_eye = -ray.direction;
    var radiance = s.emissive;
    if s.unlit {
        radiance = s.albedo * frame.unlit_radiance;
    } else {
        let surface_id = textureLoad(ids_texture, pixel, 0).r;
        s.smooth_normal = shadow_ray_start(surface_id, s.position).smooth_normal;
        var ambient = ambient_unoccluded(s.normal);
        if frame.occlusion != 0u {
            ambient = hit_ambient_unpack(textureLoad(hits_texture, pixel, HITS_AMBIENT, 0), s.normal);
        }
        let traced = TracedReflection(vec3f(0.0), reflection_share(s));
        radiance += brdf_ambient(s, to_eye, ambient, traced);
        let eye = brdf_eye(s, to_eye, 0.0);
        for (var slot = 0u; slot < frame.light_slots; slot++) {
            let chosen = visibility_light(slot, pixel);
            let sample = light_sample(light_at(chosen.light), s.position);
            if light_reaches(sample) && dot(s.normal, sample.to_light) > 0.0 {
                radiance += brdf_evaluate(s, eye, to_eye, sample.to_light) * sample.irradiance
                    * visibility(slot, chosen, pixel, s, sample);
            }
        }
    }
    let word = pixel.y * frame.size.x + pixel.x;
    let found = reflected_unpack(reflected_words[word]);
    reflected_words[word] = reflected_pack(found.rgb + ray.carried * min(radiance, vec3f(RADIANCE_MAX)), found.a);
}
