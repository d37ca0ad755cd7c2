// layers: shades surfaces with layered materials where the G-buffer shows them.
//
// in   the merged scene (group 2), one material with its layers (group 3), the G-buffer's ids and the results of
//      shadow, occlusion and reflection rays and the fog in front of the surface (group 1), lights and shadow maps
//      (group 0)
// out  hdr: linear radiance
// `lighting` leaves these pixels black.
#import "fog/fog_air.wgsl"
#import "material/material_layers.wgsl"
#import "material/material_sample.wgsl"
#import "ambient/occlusion.wgsl"
#import "reflections/reflected_at.wgsl"
#import "shadow/visibility.wgsl"

@group(1) @binding(0) var ids_texture: texture_storage_2d<r32uint, read>;
@group(1) @binding(1) var<storage, read> shadow_words: array<u32>;
@group(1) @binding(2) var<storage, read> occlusion_words: array<vec2u>;
@group(1) @binding(3) var<storage, read> reflected_words: array<vec2u>;
@group(1) @binding(4) var<uniform> fog: FogParams;
@group(1) @binding(5) var fog_texture: texture_2d_array<f32>;
@group(1) @binding(6) var fog_sampler: sampler;

@fragment
fn layers(in: Fragment, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let pixel = vec2u(in.clip.xy);
    if textureLoad(ids_texture, pixel).r != in.triangle + 1u {
        discard;
    }
    let base_color = material_base_color(in.uv, in.color);
    let s = material_surface(in, base_color, front);
    let to_eye = frame_to_eye(s.position);
    let l = material_layers(in, s, front, to_eye);
    let lobes = lobes_packed(layer_lobes(s, l), s);
    let ambient = ambient_visibility_at(pixel, s.normal);
    var radiance = layers_ambient(s, l, lobes, to_eye, ambient, reflected_at(pixel, s));
    let growth = glint_growth(in.triangle + 1u, s.position);
    for (var slot = 0u; slot < frame.light_slots; slot++) {
        let chosen = visibility_light(slot, pixel);
        let sample = light_sample(light_at(chosen.light), s.position);
        if !light_reaches(sample) {
            continue;
        }
        let visible = visibility(slot, chosen, pixel, s, sample);
        if visible > 0.0 {
            radiance += layers_evaluate_light(s, l, to_eye, sample.to_light, growth) * sample.irradiance * visible;
        }
    }
    let seen = fog_applied(fog_in_front_of(pixel, s.position), min(radiance, vec3f(RADIANCE_MAX)));
    return vec4f(min(seen, vec3f(RADIANCE_MAX)), 1.0);
}
