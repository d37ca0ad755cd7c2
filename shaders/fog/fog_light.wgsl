// fog_light: visibility of the lights and of the sky at a point of each froxel.
//
// in   the BVHs (group 1), the merged scene (group 2), lights, shadow maps and environment (group 0), the G-buffer's
//      position, the mean of the last few frames
// out  noisy_out: this frame's result. The first layers hold the visible fraction of the light from punctual lights per
//      channel, and 1 in alpha if the point is visible. The next layers hold the visible fractions of distant lights
//      and of the sky.
//      recent_out: in the layout of noisy_out, the mean of the last few frames including this one; alpha is its number
//      of frames, at most 4
// One thread per froxel, which samples a visible point of the froxel and traces a ray to each light and to the sky
// (after Wronski 2014, "Volumetric Fog", and Hillaire 2015, "Physically Based and Unified Volumetric Rendering in
// Frostbite"). The points come from the shared sequence. A point behind the surface of its pixel is discarded, so that
// no light leaks through walls. The history holds visibilities rather than light, so that light from moving lights or a
// moving camera belongs to its frame.
#import "bvh/bvh_rays.wgsl"
#import "fog/fog_sources.wgsl"
#import "frame/gbuffer_position.wgsl"
#import "light/light_area.wgsl"
#import "light/light_choice.wgsl"
#import "shadow/shadow_map.wgsl"
#import "shadow/shadow_ray.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var<uniform> fog: FogParams;
@group(3) @binding(2) var position_texture: texture_2d<f32>;
@group(3) @binding(3) var last_recent: texture_2d_array<f32>;
@group(3) @binding(4) var fog_sampler: sampler;
@group(3) @binding(5) var noisy_out: texture_storage_2d_array<rgba16float, write>;
@group(3) @binding(6) var recent_out: texture_storage_2d_array<rgba16float, write>;

// Weight of this frame in the mean of the last few frames. After eight frames, less than 2 % of an old value is left.
const FOG_RECENT = 0.4;

// Visible fraction of the sources at a froxel: punctual lights per channel, distant lights and the sky by luminance.
struct FogVisible {
    lamps: vec3f,
    // Visible fraction of distant lights, and of the sky.
    far: vec2f,
}

fn map_visibility(light: Light, sample: LightSample, position: vec3f) -> f32 {
    if light.shadow_view == 0xffffffffu {
        return 1.0;
    }
    var layer = light.shadow_view;
    if light.kind == LIGHT_POINT {
        layer += shadow_map_face(-sample.to_light);
    }
    let view = shadow_views[layer];
    let texel = view.texel_size * mix(1.0, sample.distance, view.perspective);
    let at = shadow_map_point(view, position + texel * frame.depth_bias * sample.to_light);
    // One tap is enough, because the points of a froxel are spread.
    let lit = textureSampleCompareLevel(shadow_maps, shadow_sampler, at.uv, layer, at.depth);
    return select(1.0, lit, at.is_inside);
}

// Samples a direction from the phase function about a unit vector.
fn scattered_direction(direction: vec3f, u: vec2f) -> vec3f {
    let basis = basis_about(direction);
    let cosine = henyey_greenstein_cosine(fog.medium.anisotropy, u.x);
    let across = sqrt(max(1.0 - cosine * cosine, 0.0));
    let turn = 6.2831853 * u.y;
    return cosine * direction + across * (cos(turn) * basis.tangent + sin(turn) * basis.bitangent);
}

// Returns the visibility at `position`. `point` is the froxel's centre, and `pixel` its index in the sampling sequence.
fn visible(point: FogPoint, position: vec3f, pixel: vec2u) -> FogVisible {
    let mode = frame.shadow_mode;
    let count = first_light_count();
    let chooses = frame.light_slots < first_light_count();
    var lamps_total = vec3f(0.0);
    var far_total = 0.0;
    for (var i = 0u; i < count; i++) {
        let source = fog_source(point, first_lights[i]);
        let is_far = first_lights[i].kind == LIGHT_DIRECTIONAL;
        lamps_total += select(source, vec3f(0.0), is_far);
        far_total += select(0.0, fog_luminance(source), is_far);
    }
    let total = fog_luminance(lamps_total) + far_total;
    var choice = light_choice_begin(total, sampling_point(pixel, frame.sample_index, SAMPLE_FOG_CHOICE).x);
    var lamps = vec3f(0.0);
    var far = 0.0;
    var sky = 1.0;
    // The last iteration is the sky. A single loop inlines the traversal code only once.
    for (var i = 0u; i <= count; i++) {
        var way = LightRay(vec3f(0.0), 0.0);
        var source = vec3f(0.0);
        var share = 1.0;
        let is_sky = i == count;
        if is_sky {
            if fog.sky_rays == 0u {
                break;
            }
            let u = sampling_point(pixel, frame.sample_index, SAMPLE_FOG_SKY);
            way = LightRay(scattered_direction(point.direction, u), 1.0e30);
            // The direction is sampled from the phase function, so divide its luminance by the phase-weighted mean.
            let there = fog_luminance(environment_prefiltered(way.direction, FOG_SKY_BLUR));
            share = there / max(fog_luminance(fog_sky(point.direction)), 1.0e-20);
        } else {
            let light = first_lights[i];
            source = fog_source(point, light);
            if chooses {
                let weight = fog_luminance(source);
                source *= f32(light_choice_take(&choice, weight)) * choice.step / max(weight, 1.0e-38);
            }
            if !any(source > vec3f(0.0)) {
                continue;
            }
            let sample = light_sample(light, position);
            if mode == SHADOWS_MAP {
                share = map_visibility(light, sample, position);
            } else if mode == SHADOWS_RAYS {
                let at = sampling_point(pixel, frame.sample_index, SAMPLE_FOG_LIGHTS + i);
                way = light_area_ray(light, sample, at);
            }
        }
        if way.distance > 0.0 {
            let ray = Ray(position, 0.0, way.direction, way.distance);
            share *= shadow_ray_share(ray);
        }
        if is_sky {
            sky = share;
        } else if first_lights[i].kind == LIGHT_DIRECTIONAL {
            far += share * fog_luminance(source);
        } else {
            lamps += share * source;
        }
    }
    let lamps_share = select(vec3f(1.0), lamps / lamps_total, lamps_total > vec3f(1.0e-20));
    return FogVisible(lamps_share, vec2f(select(1.0, far / far_total, far_total > 1.0e-20), sky));
}

@compute @workgroup_size(8, 8)
fn fog_light(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    bvh_ray_begin(index);
    let thread = id.xy + vec2u(0u, row_offset);
    if thread.x >= fog.size.x || thread.y >= fog.size.y * fog.size.z {
        return;
    }
    let froxel = fog_froxel(fog, thread);
    // Offsets each slice in the sampling mask.
    let pixel = froxel.xy + vec2u(froxel.z * 37u, froxel.z * 29u);
    let across = sampling_point(pixel, frame.sample_index, SAMPLE_FOG);
    let along = sampling_point(pixel, frame.sample_index, SAMPLE_FOG_DEPTH).x;
    // Moves the ray to a pixel's centre, where the visible depth is known.
    let at_pixel = min(vec2u(fog_place_of(fog, froxel, across) * vec2f(frame.size)), frame.size - 1u);
    let ray = view_ray(frame.rays, frame_place(at_pixel));
    let depth = fog_slice_depth(fog, f32(froxel.z) + along);
    let seen = textureLoad(position_texture, at_pixel, 0);
    let seen_depth = (1.0 - 1.0e-5) * gbuffer_depth(seen, frame.eye, frame.forward);
    let is_hidden = gbuffer_w(seen) != 0.0 && depth >= seen_depth;
    let point = fog_point(froxel, fog_slice_depth(fog, f32(froxel.z) + 0.5));

    let last = fog_last(fog, point.position);
    var recent: array<vec4f, 2>;
    for (var part = 0u; part < 2u; part++) {
        let first = part * fog.size.z;
        let before = mix(
            textureSampleLevel(last_recent, fog_sampler, last.texel, first + last.layers.x, 0.0),
            textureSampleLevel(last_recent, fog_sampler, last.texel, first + last.layers.y, 0.0),
            last.share,
        );
        recent[part] = select(vec4f(0.0), before, last.is_known);
    }
    let frames = recent[0].a;
    var noisy: array<vec4f, 2>;
    if !is_hidden {
        let found = visible(point, ray.origin + depth * ray.direction, pixel);
        noisy[0] = vec4f(found.lamps, 1.0);
        noisy[1] = vec4f(found.far, 0.0, 0.0);
        let share = select(max(FOG_RECENT, 1.0 / (frames + 1.0)), 1.0, frames < 0.5);
        recent[0] = vec4f(mix(recent[0].rgb, noisy[0].rgb, share), min(frames + 1.0, 4.0));
        recent[1] = mix(recent[1], noisy[1], share);
    } else {
        // A froxel that stays hidden loses its history.
        recent[0].a = max(frames - 1.0, 0.0);
    }
    for (var part = 0u; part < 2u; part++) {
        let layer = part * fog.size.z + froxel.z;
        textureStore(noisy_out, froxel.xy, layer, noisy[part]);
        textureStore(recent_out, froxel.xy, layer, recent[part]);
    }
}
