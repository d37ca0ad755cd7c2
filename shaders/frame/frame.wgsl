// Uniforms of a frame, for every pass (group 0).
#import "frame/view_ray.wgsl"

struct Frame {
    clip_from_offset: mat4x4f,
    eye: vec3f,
    light_count: u32,
    forward: vec3f,
    leaf_cutoff: u32,
    rays: ViewRays,
    background: vec3f,
    background_blur: f32,
    to_sun: vec3f,
    environment_scale: f32,
    sun_disc: vec3f,
    shows_environment: u32,
    environment_turn: vec2f,
    size: vec2u,
    depth_bias: f32,
    normal_bias: f32,
    orthographic: u32,
    // Whether `occlusion_words` holds this frame's ambient visibility.
    occlusion: u32,
    sun_horizon: f32,
    // Slots of a pixel for the lights that it sends shadow rays to; fewer than lights where they are chosen.
    light_slots: u32,
    // Shadow rays to a light that has a size.
    light_rays: u32,
    // Which rays of the sampling sequence these are: the number of frames before.
    sample_index: u32,
    // Width of a pixel in metres at the eye, and the width that each metre of depth adds.
    pixel_side: vec2f,
    // Half the angular diameter of the sun's disc, in radians.
    sun_radius: f32,
    // Added to the levels of textures.
    texture_bias: f32,
    // Of the ground below the sky.
    ground_albedo: f32,
    // Whether `shadow_words` hold what rays visit.
    counts_cost: u32,
    // Perceptual roughness below which surfaces trace what they reflect; 0 where none does.
    reflect_below: f32,
    // Added to the dimensions of the sampling sequence that lights are sampled in.
    first_dimension: u32,
    // Radiance that is shown like a colour of 1, where no tone curve bends it.
    unlit_radiance: f32,
    // What of materials is left out: MATERIALS_….
    materials_without: u32,
    // Extinction of the fog per metre up to `fog_base`; 0 where there is none.
    fog_density: f32,
    // Height in metres, in the frame's coordinates.
    fog_base: f32,
    // Per metre above it.
    fog_falloff: f32,
    // Most that noise adds to the density or takes from it, as a share.
    fog_noise: f32,
    // Whether shadow maps are dimmed by volumes: then `shadow_words` hold the shares that these take.
    volume_shadows: u32,
    // Shadow rays to a light at edges of its shadow that have little history.
    edge_light_rays: u32,
    shadow_mode: u32,
    pcf_width: u32,
    blended_cast: u32,
    // Whether the surfaces are hits of reflection rays.
    at_hits: u32,
    // Index in the sampling sequence of the point that masks are looked up at; constant while pixels look at their middles.
    cut_out_index: u32,
    // Factor on the plain background in the zenith.
    backdrop_top: f32,
}

@group(0) @binding(0) var<uniform> frame: Frame;

// The place of a pixel's middle, from 0 to 1 along rows and columns.
fn frame_place(pixel: vec2u) -> vec2f {
    return (vec2f(pixel) + 0.5) / vec2f(frame.size);
}

// Unit vector of the view ray through a pixel.
fn frame_ray(pixel: vec2u) -> vec3f {
    return normalize(view_ray(frame.rays, frame_place(pixel)).direction);
}

// Unit vector from a surface to the eye.
fn frame_to_eye(position: vec3f) -> vec3f {
    return select(normalize(frame.eye - position), -frame.forward, frame.orthographic != 0u);
}

// Width of a pixel at a point, in metres.
fn frame_pixel_width(position: vec3f) -> f32 {
    return frame.pixel_side.x + frame.pixel_side.y * dot(position - frame.eye, frame.forward);
}
