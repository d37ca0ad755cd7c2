// Global fog: the froxel grid in which its lighting is computed. The centres of the first and last froxel of a row lie
// on the picture border, so that interpolation never leaves the grid.
#import "fog/fog_scatter.wgsl"

struct FogParams {
    // Frame.clip_from_offset of the last frame, without the sample jitter.
    last_clip_from_offset: mat4x4f,
    last_eye: vec3f,
    // FogParams.far of the last frame.
    last_far: f32,
    last_forward: vec3f,
    // Depth in metres at which the froxels end.
    far: f32,
    medium: FogMedium,
    // Number of froxels along the picture's width and height, and in depth.
    size: vec3u,
    // Maximum history length in frames, without this one. 0 restarts the history.
    max_history: u32,
    // Nonzero if the visibility of the sky is traced.
    sky_rays: u32,
}

// Returns the depth at a fraction of the froxels' range. Slices grow exponentially with distance; at the eye they are
// e⁻⁴ times as thick as the last.
fn fog_depth_of(params: FogParams, share: f32) -> f32 {
    return params.far * (exp(FOG_GROWTH * share) - 1.0) / FOG_SPAN;
}

fn fog_share_of(far: f32, depth: f32) -> f32 {
    return log(1.0 + FOG_SPAN * max(depth, 0.0) / far) / FOG_GROWTH;
}

// Returns the texture coordinates in the froxel images for a position in the picture.
fn fog_texel(params: FogParams, at: vec2f) -> vec2f {
    let columns = vec2f(params.size.xy);
    return (at * (columns - 1.0) + 0.5) / columns;
}
