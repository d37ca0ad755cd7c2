// Fog of the whole scene: the froxels in which its light is found. The middles of the first and the last of a row lie on
// the edges of the picture, so that what lies between is never beyond them.
#import "fog/fog_scatter.wgsl"

struct FogParams {
    // Frame.clip_from_offset of the last frame, without the sample's shift.
    last_clip_from_offset: mat4x4f,
    last_eye: vec3f,
    // FogParams.far of the last frame.
    last_far: f32,
    last_forward: vec3f,
    // Depth in metres at which the froxels end.
    far: f32,
    medium: FogMedium,
    // Froxels along the picture's rows and columns, and in depth.
    size: vec3u,
    // Frames before that count at most; 0 where the history begins.
    remembered: u32,
    // Whether rays find how much of the sky is seen.
    sky_rays: u32,
}

// Depth at a share of the froxels' range: slices grow with the distance, from e⁻⁴ of the last one at the eye.
fn fog_depth_of(params: FogParams, share: f32) -> f32 {
    return params.far * (exp(FOG_GROWTH * share) - 1.0) / FOG_SPAN;
}

fn fog_share_of(far: f32, depth: f32) -> f32 {
    return log(1.0 + FOG_SPAN * max(depth, 0.0) / far) / FOG_GROWTH;
}

// Where the images of froxels have a place of the picture.
fn fog_texel(params: FogParams, at: vec2f) -> vec2f {
    let columns = vec2f(params.size.xy);
    return (at * (columns - 1.0) + 0.5) / columns;
}
