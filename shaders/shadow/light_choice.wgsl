// light_choice: chooses the lights that each pixel casts shadow rays to, if rays to all lights would exceed the budget.
//
// in   G-buffer, the merged scene (group 2) with the table of lights
// out  shadow_words: a ChosenLight per slot and pixel (shadow/chosen_lights.wgsl)
// One thread per pixel; the methods are in light/light_choice.wgsl, and in light/light_table.wgsl for many lights. A
// light that is chosen several times gets as many slots. If its rays would be identical, it gets one slot with the
// total weight.
#import "shadow/chosen_lights.wgsl"
#import "frame/gbuffer.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "light/light_choice.wgsl"
#import "light/light_table.wgsl"
#import "math/sampling.wgsl"
#import "shadow/shadow_start.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
#texels 1 1 position_texture: rgba32float
#texels 1 2 normal_texture: r32uint
#texels 1 3 albedo_texture: r32uint
#texels 1 4 ids_texture: r32uint
@group(1) @binding(5) var<storage, read_write> shadow_words: array<u32>;

// Returns the sampling weight of a light, or 0 if the surface casts no ray to it.
fn weight_of(s: Surface, e: BrdfEye, start: ShadowStart, to_eye: vec3f, light: Light) -> f32 {
    let sample = light_sample(light, s.position);
    let reaches = light_reaches(sample) && dot(start.horizon_normal, sample.to_light) > 0.0;
    return select(0.0, light_weight(s, e, to_eye, sample), reaches);
}

// Draws a light from the tree for each slot.
fn draw_lights(pixel: vec2u, position: vec4f, u: f32) {
    let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
    for (var slot = 0u; slot < frame.light_slots; slot++) {
        var drawn = LightCandidate(0u, 0.0);
        if position.w != 0.0 {
            drawn = light_candidate(slot, frame.light_slots, position.xyz, normal, u);
        }
        let word = chosen_light_pack(ChosenLight(drawn.index, drawn.weight));
        shadow_words[chosen_light_word(slot, pixel)] = word;
    }
}

@compute @workgroup_size(8, 8)
fn light_choice(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let position = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel);
    let u = sampling_point(pixel, frame.sample_index, frame.first_dimension + SAMPLE_LIGHT_CHOICE);
    if light_tree_is_used() {
        draw_lights(pixel, position, light_tree_number(u.y, pixel, frame.sample_index));
        return;
    }
    var s = gbuffer_unpack(
        position,
        textureLoad(normal_texture, pixel, 0).r,
        textureLoad(albedo_texture, pixel, 0).r,
        0u,
    );
    let surface_id = textureLoad(ids_texture, pixel, 0).r;
    var start = ShadowStart();
    start.horizon_normal = s.normal;
    if gbuffer_is_triangle(surface_id) {
        start = shadow_ray_start(surface_id, s.position);
        s.smooth_normal = start.smooth_normal;
    }
    let to_eye = frame_to_eye(s.position);
    let eye = brdf_eye(s, to_eye, 0.0);
    let candidates = select(frame.light_count, 0u, position.w == 0.0);
    var total = 0.0;
    for (var i = 0u; i < candidates; i++) {
        total += weight_of(s, eye, start, to_eye, light_at(i));
    }
    var choice = light_choice_begin(total, u.x);
    var slot = 0u;
    for (var i = 0u; i < candidates; i++) {
        let light = light_at(i);
        let weight = weight_of(s, eye, start, to_eye, light);
        let count = light_choice_take(&choice, weight);
        let slots = select(count, min(count, 1u), light.radius == 0.0);
        let each = choice.step / max(weight, 1.0e-38) * f32(count) / f32(max(slots, 1u));
        for (var end = slot + slots; slot < end; slot++) {
            let word = chosen_light_pack(ChosenLight(i, each));
            shadow_words[chosen_light_word(slot, pixel)] = word;
        }
    }
    for (; slot < frame.light_slots; slot++) {
        shadow_words[chosen_light_word(slot, pixel)] = 0u;
    }
}
