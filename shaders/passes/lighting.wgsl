// lighting: shades the G-buffer to radiance.
//
// in   G-buffer, the merged scene (group 2), lights and environment lighting, shadow ray visibility of the chosen
//      lights or shadow maps, ambient visibility, reflected radiance, the fog in front
// out  hdr: linear radiance, black where `layers` follows. Alpha is 1 on surfaces. On the background, which shows the
//      environment, it is the opacity of the fog. On the ground it also includes the light lost to shadows.
//      display: colours shown without exposure or tone mapping: of unlit surfaces, for which hdr holds only emission,
//      of the ground's grid, and of a plain background; black elsewhere. Alpha is the fraction of the background that
//      the ground's shadows leave, which the tone curve ignores. It is 1 elsewhere.
// One thread per pixel.
#import "environment/backdrop.wgsl"
#import "environment/background.wgsl"
#import "material/brdf.wgsl"
#import "fog/fog_air.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "light/light_table.wgsl"
#import "math/half_float.wgsl"
#import "math/sampling.wgsl"
#import "ambient/occlusion.wgsl"
#import "reflections/reflected_at.wgsl"
#import "shadow/shadow_start.wgsl"
#import "shadow/visibility.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
#texels 1 1 position_texture: rgba32float
#texels 1 2 normal_texture: r32uint
#texels 1 3 albedo_texture: r32uint
#texels 1 4 emissive_texture: r32uint
@group(1) @binding(5) var<storage, read> shadow_words: array<u32>;
@group(1) @binding(6) var<storage, read> occlusion_words: array<vec2u>;
@group(1) @binding(7) var hdr_out: texture_storage_2d<rgba16float, write>;
@group(1) @binding(8) var display_out: texture_storage_2d<rgba16float, write>;
#texels 1 9 ids_texture: r32uint
@group(1) @binding(10) var<storage, read> reflected_words: array<vec2u>;
@group(1) @binding(11) var<uniform> fog: FogParams;
@group(1) @binding(12) var fog_texture: texture_2d_array<f32>;
@group(1) @binding(13) var fog_sampler: sampler;

// False in the kernel for frames without a ground.
override HAS_GROUND: bool = true;

fn write_display(pixel: vec2u, color: vec3f, kept: f32) {
    textureStore(display_out, pixel, half_float_round(vec4f(color, kept)));
}

// Unattenuated background.
struct Backdrop {
    radiance: vec3f,
    // Shown without exposure or tone mapping.
    display: vec3f,
}

fn backdrop(pixel: vec2u) -> Backdrop {
    return Backdrop(
        min(background_radiance(frame_ray(pixel)), vec3f(RADIANCE_MAX)),
        backdrop_light(frame_ray(pixel)),
    );
}

// Returns the illumination of the ground, relative to its illumination without occluders.
fn ground_lit(pixel: vec2u, s: Surface) -> vec3f {
    let ambient = ambient_visibility_at(pixel, s.normal);
    let open = PI * environment_diffuse(s.normal);
    var unblocked = open;
    var arriving = open * ambient_bounced(ambient, vec3f(frame.ground_albedo));
    // These are the candidates of `light_choice`, so both sums are of the same lights.
    let number = sampling_point(pixel, frame.sample_index, frame.first_dimension + SAMPLE_LIGHT_CHOICE).y;
    let u = light_tree_number(number, pixel, frame.sample_index);
    for (var i = 0u; i < frame.light_candidates; i++) {
        let candidate = light_candidate(i, frame.light_candidates, s.position, s.normal, u);
        let sample = light_sample(light_at(candidate.index), s.position);
        unblocked += max(dot(s.normal, sample.to_light), 0.0) * sample.irradiance * candidate.weight;
    }
    for (var slot = 0u; slot < frame.light_slots; slot++) {
        let chosen = visibility_light(slot, pixel);
        let sample = light_sample(light_at(chosen.light), s.position);
        let cosine = dot(s.normal, sample.to_light);
        if light_reaches(sample) && cosine > 0.0 {
            arriving += cosine * sample.irradiance * visibility(slot, chosen, pixel, s, sample);
        }
    }
    return select(vec3f(1.0), arriving / max(unblocked, vec3f(1.0e-30)), unblocked > vec3f(1.0e-30));
}

fn write_ground(pixel: vec2u, s: Surface, shares: vec2f) {
    let seen = shares.x;
    let line = shares.y;
    let lit = mix(vec3f(1.0), ground_lit(pixel, s), seen);
    let behind = backdrop(pixel);
    let media = fog_in_front_of(pixel, s.position);
    let fog_behind = fog_in_front_of_background(pixel);
    let kept = (1.0 - line) * dot(lit, vec3f(0.2126, 0.7152, 0.0722));
    // The ground attenuates the background, but not the inscattering in front of it.
    let from_behind = max(fog_applied(fog_behind, behind.radiance) - media.scattered, vec3f(0.0));
    let radiance = media.scattered + (1.0 - line) * lit * from_behind;
    let shown = (1.0 - line) * lit * fog_behind.transmittance * behind.display;
    write_display(pixel, shown + line * media.transmittance * s.albedo, kept);
    let covered = 1.0 - fog_behind.transmittance * kept;
    textureStore(hdr_out, pixel, half_float_round(vec4f(radiance, covered)));
}

@compute @workgroup_size(8, 8)
fn lighting(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let position = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel);
    if position.w == 0.0 {
        let behind = backdrop(pixel);
        let media = fog_in_front_of_background(pixel);
        let seen = min(fog_applied(media, behind.radiance), vec3f(RADIANCE_MAX));
        textureStore(hdr_out, pixel, half_float_round(vec4f(seen, 1.0 - media.transmittance)));
        write_display(pixel, media.transmittance * behind.display, 1.0);
        return;
    }
    let emissive = textureLoad(emissive_texture, pixel, 0).r;
    var s = gbuffer_unpack(
        position,
        textureLoad(normal_texture, pixel, 0).r,
        textureLoad(albedo_texture, pixel, 0).r,
        emissive,
    );
    if HAS_GROUND && gbuffer_is_ground(position.w) {
        write_ground(pixel, s, unpack2x16unorm(emissive));
        return;
    }
    let media = fog_in_front_of(pixel, s.position);
    write_display(pixel, select(vec3f(0.0), media.transmittance * s.albedo, s.unlit), 1.0);
    if s.layered {
        textureStore(hdr_out, pixel, vec4f(0.0, 0.0, 0.0, 1.0));
        return;
    }
    var radiance = s.emissive;
    if !s.unlit {
        let surface_id = textureLoad(ids_texture, pixel, 0).r;
        var reflected = reflected_nothing();
        if gbuffer_is_triangle(surface_id) {
            reflected = reflected_at(pixel, s);
            s.smooth_normal = shadow_ray_start(surface_id, s.position).smooth_normal;
        }
        let to_eye = frame_to_eye(s.position);
        radiance += brdf_ambient(s, to_eye, ambient_visibility_at(pixel, s.normal), reflected);
        let eye = brdf_eye(s, to_eye, glint_growth(surface_id, s.position));
        for (var slot = 0u; slot < frame.light_slots; slot++) {
            let chosen = visibility_light(slot, pixel);
            let sample = light_sample(light_at(chosen.light), s.position);
            var visible = 0.0;
            if light_reaches(sample) && dot(s.normal, sample.to_light) > 0.0 {
                visible = visibility(slot, chosen, pixel, s, sample);
            }
            if visible > 0.0 {
                radiance += brdf_evaluate(s, eye, to_eye, sample.to_light) * sample.irradiance * visible;
            }
        }
    }
    radiance = fog_applied(media, min(radiance, vec3f(RADIANCE_MAX)));
    textureStore(hdr_out, pixel, half_float_round(vec4f(min(radiance, vec3f(RADIANCE_MAX)), 1.0)));
}
