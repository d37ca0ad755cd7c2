// What every pass of a frame may ask for (group 0).

struct Frame {
    clip_from_offset: mat4x4f,
    eye: vec3f,
    light_count: u32,
    forward: vec3f,
    leaf_cutoff: u32,
    ambient_sky: vec3f,
    shadow_mode: u32,
    ambient_ground: vec3f,
    pcf_width: u32,
    background: vec3f,
    blended_cast: u32,
    size: vec2u,
    depth_bias: f32,
    normal_bias: f32,
    orthographic: u32,
    // Whether occlusion_words holds anything.
    occlusion: u32,
}

const SHADOWS_OFF = 0u;
const SHADOWS_MAP = 1u;
const SHADOWS_RAYS = 2u;

@group(0) @binding(0) var<uniform> frame: Frame;

// Unit vector from a surface to the eye.
fn frame_to_eye(position: vec3f) -> vec3f {
    return select(normalize(frame.eye - position), -frame.forward, frame.orthographic != 0u);
}
