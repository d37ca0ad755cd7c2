// How far what a pixel shows has moved in the picture since the last frame.
#import "frame/frame.wgsl"

struct MotionParams {
    // Frame.clip_from_offset without the sample's shift, of this frame and of the last one.
    clip_from_offset: mat4x4f,
    last_clip_from_offset: mat4x4f,
    last_eye: vec3f,
    // Triangles of the merged scene: the vertices of lines stand behind theirs.
    triangle_count: u32,
    // Where this frame looks at in its pixels, less where the last one did in its, in pixels, y down.
    jitter: vec2f,
    // Whether anything has moved since the last frame: else displacement_texture holds something else.
    moves: u32,
}

// How far the point that a pixel shows has moved since the last frame, of a texel of displacement_texture.
fn motion_displacement(params: MotionParams, texel: vec4f) -> vec3f {
    return select(vec3f(0.0), texel.xyz, params.moves != 0u);
}

// Position in the picture, in pixels from its upper left corner. `clip` is in clip space.
fn motion_in_picture(clip: vec4f) -> vec2f {
    return (clip.xy / clip.w * vec2f(0.5, -0.5) + 0.5) * vec2f(frame.size);
}

// In pixels, x to the right and y down; `position` and `last` are where the point is and where it was in the last
// frame, in front of both cameras. The shift of the sample within its pixel is no motion.
fn motion_of_point(params: MotionParams, position: vec3f, last: vec3f) -> vec2f {
    let clip = params.clip_from_offset * vec4f(position - frame.eye, 1.0);
    let last_clip = params.last_clip_from_offset * vec4f(last - params.last_eye, 1.0);
    return motion_in_picture(clip) - motion_in_picture(last_clip);
}

// As above, of what is infinitely far away along `direction`; in a parallel projection that does not move.
fn motion_of_direction(params: MotionParams, direction: vec3f) -> vec2f {
    let clip = params.clip_from_offset * vec4f(direction, 0.0);
    let last_clip = params.last_clip_from_offset * vec4f(direction, 0.0);
    let moved = motion_in_picture(clip) - motion_in_picture(last_clip);
    return select(vec2f(0.0), moved, min(clip.w, last_clip.w) > 0.0);
}

// Whether the last camera had the point in front of it.
fn motion_had_in_front(params: MotionParams, last: vec3f) -> bool {
    return (params.last_clip_from_offset * vec4f(last - params.last_eye, 1.0)).w > 0.0;
}
