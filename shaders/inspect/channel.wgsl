// channel: one channel of the frame as floats, for AOVs and for the debug views.
//
// in   G-buffer, visibility and cost of the shadow rays or the shadow maps, ambient visibility, hdr, display,
//      triangle_info, displacement since the last frame, deviation, bits of the triangles that pass through other
//      triangles, ray results of the laboratory, fog in front of the surface, volumes in front of the surface
// out  channel_out: up to three floats. Alpha is 1 on surfaces and 0 on the background. Position is NaN on the
//      background. Motion is NaN where the point was behind the last frame's camera.
// One thread per pixel. With shadow maps, the shadow channel applies its bias along the shading normal, while
// `lighting` uses the smooth normal. `render::Channel` numbers the channels.
#import "shadow/chosen_lights.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "fog/fog_air.wgsl"
#import "frame/frame.wgsl"
#import "light/light.wgsl"
#import "frame/gbuffer.wgsl"
#import "frame/motion.wgsl"
#import "ambient/occlusion.wgsl"
#import "reflections/reflected.wgsl"
#import "material/reflection.wgsl"
#import "shadow/shadow_map.wgsl"
#import "shadow/shadow_words.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var position_texture: texture_2d<f32>;
@group(1) @binding(2) var normal_texture: texture_2d<u32>;
@group(1) @binding(3) var albedo_texture: texture_2d<u32>;
@group(1) @binding(4) var emissive_texture: texture_2d<u32>;
@group(1) @binding(5) var ids_texture: texture_2d<u32>;
@group(1) @binding(6) var hdr_texture: texture_2d<f32>;
@group(1) @binding(7) var<storage, read> shadow_words: array<u32>;
@group(1) @binding(8) var<storage, read> triangle_info: array<vec2u>;
@group(1) @binding(9) var<storage, read> occlusion_words: array<vec2u>;
@group(1) @binding(10) var<uniform> params: ChannelParams;
@group(1) @binding(11) var channel_out: texture_storage_2d<rgba32float, write>;
@group(1) @binding(12) var display_texture: texture_2d<f32>;
@group(1) @binding(13) var<uniform> motion: MotionParams;
@group(1) @binding(14) var displacement_texture: texture_2d<f32>;
@group(1) @binding(15) var<storage, read> reflected_words: array<vec2u>;
@group(1) @binding(16) var deviation_texture: texture_2d<f32>;
// One bit per triangle.
@group(1) @binding(17) var<storage, read> intersecting_bits: array<u32>;
@group(1) @binding(18) var lab_texture: texture_2d<f32>;
@group(1) @binding(19) var<uniform> fog: FogParams;
@group(1) @binding(20) var fog_texture: texture_2d_array<f32>;
@group(1) @binding(21) var fog_sampler: sampler;
@group(1) @binding(22) var volume_texture: texture_2d<f32>;

struct ChannelParams {
    // World position of the frame's origin.
    origin: vec3f,
    channel: u32,
    // A NaN. WGSL has no literal for it.
    nan: f32,
    // Nonzero if volume_texture holds volumes.
    volumes: u32,
}

// Returns the visibility of the first light, or the mean visibility of the chosen lights if they are chosen at random.
fn shadow(pixel: vec2u, s: Surface) -> f32 {
    if frame.light_count == 0u {
        return 1.0;
    }
    if frame.shadow_mode == SHADOWS_RAYS {
        if frame.light_slots == frame.light_count {
            return shadow_share_unpack(shadow_words[shadow_word(0u, pixel)], 0u);
        }
        var visible = 0.0;
        var slots = 0.0;
        for (var slot = 0u; slot < frame.light_slots; slot++) {
            let is_filled = chosen_light(slot, shadow_words[chosen_light_word(slot, pixel)]).weight > 0.0;
            let share = shadow_share_unpack(shadow_words[shadow_word(slot, pixel)], slot);
            visible += select(0.0, share, is_filled);
            slots += select(0.0, 1.0, is_filled);
        }
        return select(1.0, visible / max(slots, 1.0), slots > 0.0);
    }
    let sample = light_sample(first_lights[0], s.position);
    if !light_reaches(sample) || dot(s.normal, sample.to_light) <= 0.0 {
        return 0.0;
    }
    if frame.shadow_mode == SHADOWS_MAP {
        let seen = shadow_map_visibility(first_lights[0], sample, pixel, s.position, s.normal);
        let taken = shadow_share_unpack(shadow_words[shadow_word(0u, pixel)], 0u);
        return seen * select(1.0, 1.0 - taken, frame.volume_shadows != 0u);
    }
    return 1.0;
}

// Returns the reflected radiance and hit distance. Zero where no ray was traced.
fn reflected(pixel: vec2u) -> vec4f {
    if frame.reflect_below <= 0.0 {
        return vec4f(0.0);
    }
    return reflected_unpack(reflected_words[pixel.y * frame.size.x + pixel.x]);
}

// Returns the fraction of the pixels of a tile that cast reflection rays.
fn sending_share(tile: vec2u) -> f32 {
    var sending = 0.0;
    for (var i = 0u; i < 64u; i++) {
        let pixel = 8u * tile + vec2u(i % 8u, i / 8u);
        if all(pixel < frame.size) {
            sending += select(0.0, 1.0, reflected(pixel).a > 0.0);
        }
    }
    return sending / 64.0;
}

// Returns 1 if the triangle with this id passes through another triangle.
fn is_intersecting(id: u32) -> f32 {
    let triangle = gbuffer_triangle(id);
    let is_known = gbuffer_is_triangle(id) && triangle / 32u < arrayLength(&intersecting_bits);
    if is_known {
        return f32((intersecting_bits[triangle / 32u] >> (triangle % 32u)) & 1u);
    }
    return 0.0;
}

@compute @workgroup_size(8, 8)
fn channel(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let channel = params.channel;
    let position = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel);
    // The ground only receives shadows, occlusion and fog. For all other channels it counts as background.
    let shows_ground = channel == CHANNEL_SHADOW || channel == CHANNEL_COST || channel == CHANNEL_AMBIENT
        || channel == CHANNEL_BOUNCED || channel == CHANNEL_MOTION || channel == CHANNEL_TRANSMITTANCE
        || channel == CHANNEL_SCATTERED;
    let covered = position.w != 0.0 && (shows_ground || !gbuffer_is_ground(position.w));
    var value = vec3f(0.0);
    var alpha = select(0.0, 1.0, covered);
    if covered {
        let s = gbuffer_unpack(
            position,
            textureLoad(normal_texture, pixel, 0).r,
            textureLoad(albedo_texture, pixel, 0).r,
            textureLoad(emissive_texture, pixel, 0).r,
        );
        let id = textureLoad(ids_texture, pixel, 0).r;
        let info = triangle_info[(id & ~GBUFFER_NO_TRIANGLE) - 1u];
        switch channel {
            case CHANNEL_POSITION: { value = params.origin + s.position; }
            case CHANNEL_NORMAL: { value = s.normal; }
            case CHANNEL_ALBEDO: { value = s.albedo; }
            case CHANNEL_ROUGHNESS: { value = vec3f(s.roughness); }
            case CHANNEL_METALLIC: { value = vec3f(s.metallic); }
            case CHANNEL_OCCLUSION: { value = vec3f(s.occlusion); }
            case CHANNEL_EMISSIVE: { value = s.emissive; }
            case CHANNEL_DEPTH: { value = vec3f(dot(s.position - frame.eye, frame.forward)); }
            case CHANNEL_MESH: { value = vec3f(f32(info.x & ~ANY_HIT_TEST)); }
            case CHANNEL_MATERIAL: { value = vec3f(f32(info.y)); }
            case CHANNEL_SHADOW: { value = vec3f(shadow(pixel, s)); }
            case CHANNEL_COST: {
                // Only shadow rays have a cost.
                if frame.shadow_mode == SHADOWS_RAYS {
                    let cost = shadow_cost_word(pixel);
                    value = vec3f(f32(shadow_words[cost]), f32(shadow_words[cost + 1u]), 0.0);
                }
            }
            case CHANNEL_AMBIENT: { value = vec3f(ambient_visibility_at(pixel, s.normal).visibility); }
            case CHANNEL_BOUNCED: { value = ambient_visibility_at(pixel, s.normal).bounced; }
            case CHANNEL_MOTION: {
                let last = s.position - motion_displacement(motion, textureLoad(displacement_texture, pixel, 0));
                let moved = motion_of_point(motion, s.position, last);
                value = vec3f(select(vec2f(params.nan), moved, motion_had_in_front(motion, last)), 0.0);
            }
            case CHANNEL_DEVIATION: {
                // The deviation may have been measured for a picture of another size.
                if all(pixel < textureDimensions(deviation_texture)) {
                    value = vec3f(textureLoad(deviation_texture, pixel, 0).rg, 0.0);
                } else {
                    alpha = 0.0;
                }
            }
            case CHANNEL_INTERSECTIONS: {
                let facing = abs(dot(s.normal, frame_to_eye(s.position)));
                value = vec3f(is_intersecting(id), saturate(facing), 0.0);
            }
            case CHANNEL_REFLECTION: { value = reflected(pixel).rgb; }
            case CHANNEL_REFLECTION_DISTANCE: { value = vec3f(reflected(pixel).a); }
            case CHANNEL_REFLECTION_TILES: { value = vec3f(sending_share(pixel / 8u)); }
            default: {}
        }
    } else if channel == CHANNEL_POSITION {
        value = vec3f(params.nan);
    } else if channel == CHANNEL_MOTION {
        value = vec3f(motion_of_direction(motion, frame_ray(pixel)), 0.0);
    }
    if channel == CHANNEL_LIT {
        let lit = textureLoad(hdr_texture, pixel, 0);
        value = lit.rgb + textureLoad(display_texture, pixel, 0).rgb * frame.unlit_radiance;
        alpha = lit.a;
    }
    if channel == CHANNEL_TRANSMITTANCE || channel == CHANNEL_SCATTERED {
        var media = fog_in_front_of_background(pixel);
        if covered {
            media = fog_in_front_of(pixel, position.xyz);
        }
        if params.volumes != 0u {
            // The volume's radiance already includes the fog in front of the volume. Only the fog beyond the volume is
            // left to add.
            let seen = textureLoad(volume_texture, pixel, 0);
            media = FogSegment(seen.rgb + seen.a * media.scattered, seen.a * media.transmittance);
        }
        value = select(media.scattered, vec3f(media.transmittance), channel == CHANNEL_TRANSMITTANCE);
        alpha = 1.0;
    }
    if channel == CHANNEL_LAB {
        // The rays may have been traced for a picture of another size.
        let is_traced = all(textureDimensions(lab_texture) == frame.size);
        let found = textureLoad(lab_texture, pixel, 0);
        value = found.rgb;
        alpha = select(0.0, found.a, is_traced);
    }
    textureStore(channel_out, pixel, vec4f(value, alpha));
}
