// reflection_layers: shades the hits of reflection rays whose material has layers, and adds them to the reflections.
//
// in   the list of hits, sorted by material bins, and the range of one bin; the hits, their ambient visibility and the
//      visibility of lights from them; the merged scene (group 2), a material with its layers (group 3), lights and
//      environment (group 0)
// out  reflected_words: the radiance is added
// One thread per hit of the range. Shading matches `layers`. If another bounce follows, the part that it will trace is
// left out. If none follows, transmission shows the environment.
#import "bvh/dispatch.wgsl"
#import "reflections/hit_ambient.wgsl"
#import "reflections/hit_layers.wgsl"
#import "reflections/reflected.wgsl"
#import "shadow/visibility.wgsl"

@group(1) @binding(4) var<storage, read> shadow_words: array<u32>;
@group(1) @binding(5) var<storage, read_write> reflected_words: array<vec2u>;

@compute @workgroup_size(RAY_BLOCK)
fn reflection_layers(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let listed = listed_hit(RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread);
    if !listed_hit_is_shaded(listed) {
        return;
    }
    let pixel = listed.pixel;
    let hit = layered_hit(listed);
    let s = hit.surface;
    let l = hit.layers;
    let follows = select(0.0, 1.0, frame.reflect_below > 0.0);
    let traced = TracedReflection(vec3f(0.0), follows);
    let lobes = lobes_packed(layer_lobes(s, l), s);
    var ambient = ambient_unoccluded(s.normal);
    if frame.occlusion != 0u {
        ambient = hit_ambient_unpack(textureLoad(hits_texture, pixel, HITS_AMBIENT, 0), s.normal);
    }
    var radiance = layers_ambient(s, l, lobes, hit.to_eye, ambient, traced);
    let behind = environment_prefiltered(-hit.to_eye, s.roughness);
    radiance += (1.0 - follows) * layers_transmittance(s, l, hit.to_eye) * behind;
    for (var slot = 0u; slot < frame.light_slots; slot++) {
        let chosen = visibility_light(slot, pixel);
        let sample = light_sample(light_at(chosen.light), s.position);
        if !light_reaches(sample) {
            continue;
        }
        let visible = visibility(slot, chosen, pixel, s, sample);
        if visible > 0.0 {
            radiance += layers_evaluate_light(s, l, hit.to_eye, sample.to_light, 0.0) * sample.irradiance * visible;
        }
    }
    let word = pixel.y * frame.size.x + pixel.x;
    let found = reflected_unpack(reflected_words[word]);
    let carried = listed_ray(listed).carried;
    reflected_words[word] = reflected_pack(found.rgb + carried * min(radiance, vec3f(RADIANCE_MAX)), found.a);
}
