// Reprojection of froxels to the last frame.
#import "fog/fog.wgsl"

struct FogLast {
    // Texture coordinates in the froxel images, from 0 to 1.
    texel: vec2f,
    // The two layers around the point, and the weight of the second.
    layers: vec2u,
    share: f32,
    is_known: bool,
}

fn fog_last(params: FogParams, position: vec3f) -> FogLast {
    let offset = position - params.last_eye;
    let clip = params.last_clip_from_offset * vec4f(offset, 1.0);
    let at = clip.xy / clip.w * vec2f(0.5, -0.5) + 0.5;
    let share = fog_share_of(params.last_far, dot(offset, params.last_forward));
    let slice = clamp(f32(params.size.z) * share - 0.5, 0.0, f32(params.size.z - 1u));
    let first = u32(slice);
    let is_seen = clip.w > 0.0 && all(at >= vec2f(0.0)) && all(at <= vec2f(1.0)) && share <= 1.0;
    return FogLast(
        fog_texel(params, at),
        vec2u(first, min(first + 1u, params.size.z - 1u)),
        slice - f32(first),
        is_seen && params.max_history != 0u,
    );
}

// Returns the froxel of a thread. `fog_light` and `fog_history` have a row of threads for each row of each slice.
fn fog_froxel(params: FogParams, thread: vec2u) -> vec3u {
    return vec3u(thread.x, thread.y % params.size.y, thread.y / params.size.y);
}

// Returns the position in the picture of a point in a froxel. `within` goes from 0 to 1 along each axis.
fn fog_place_of(params: FogParams, froxel: vec3u, within: vec2f) -> vec2f {
    let spaces = max(vec2f(params.size.xy) - 1.0, vec2f(1.0));
    return saturate((vec2f(froxel.xy) + within - 0.5) / spaces);
}

fn fog_middle_ray(params: FogParams, froxel: vec3u) -> ViewRay {
    return view_ray(frame.rays, fog_place_of(params, froxel, vec2f(0.5)));
}

fn fog_slice_depth(params: FogParams, slice: f32) -> f32 {
    return fog_depth_of(params, slice / f32(params.size.z));
}

fn fog_middle(params: FogParams, froxel: vec3u) -> vec3f {
    let ray = fog_middle_ray(params, froxel);
    return ray.origin + fog_slice_depth(params, f32(froxel.z) + 0.5) * ray.direction;
}
