// Motion vectors: the screen-space motion of a pixel's surface since the last frame.
#import "frame/frame.wgsl"

struct MotionParams {
    // Frame.clip_from_offset without the sample jitter, of this frame and of the last one.
    clip_from_offset: mat4x4f,
    last_clip_from_offset: mat4x4f,
    last_eye: vec3f,
    // Number of triangles of the merged scene. Point and line indices come after the triangles' indices in the index
    // buffer.
    triangle_count: u32,
    // Sample jitter of this frame minus the jitter of the last frame, in pixels, y down.
    jitter: vec2f,
    // Nonzero if anything has moved since the last frame. Otherwise displacement_texture is invalid.
    moves: u32,
}

// Returns the world-space displacement of a pixel's surface since the last frame, from a texel of displacement_texture.
fn motion_displacement(params: MotionParams, texel: vec4f) -> vec3f {
    return select(vec3f(0.0), texel.xyz, params.moves != 0u);
}

// Returns the position in the picture, in pixels from its top-left corner. `clip` is in clip space.
fn motion_in_picture(clip: vec4f) -> vec2f {
    return (clip.xy / clip.w * vec2f(0.5, -0.5) + 0.5) * vec2f(frame.size);
}

// Returns the motion vector in pixels, x to the right and y down. `position` and `last` are the current and last
// positions of a point in front of both cameras. The jitter is not part of the motion.
fn motion_of_point(params: MotionParams, position: vec3f, last: vec3f) -> vec2f {
    let clip = params.clip_from_offset * vec4f(position - frame.eye, 1.0);
    let last_clip = params.last_clip_from_offset * vec4f(last - params.last_eye, 1.0);
    return motion_in_picture(clip) - motion_in_picture(last_clip);
}

// Returns the motion vector of a point at infinity along `direction`, or 0 in an orthographic projection.
fn motion_of_direction(params: MotionParams, direction: vec3f) -> vec2f {
    let clip = params.clip_from_offset * vec4f(direction, 0.0);
    let last_clip = params.last_clip_from_offset * vec4f(direction, 0.0);
    let moved = motion_in_picture(clip) - motion_in_picture(last_clip);
    return select(vec2f(0.0), moved, min(clip.w, last_clip.w) > 0.0);
}

// True if the point `last` was in front of the last frame's camera.
fn motion_had_in_front(params: MotionParams, last: vec3f) -> bool {
    return (params.last_clip_from_offset * vec4f(last - params.last_eye, 1.0)).w > 0.0;
}
