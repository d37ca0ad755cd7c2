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
    // Nonzero if `occlusion_words` holds this frame's ambient visibility.
    occlusion: u32,
    sun_horizon: f32,
    // Slots per pixel for the lights that it casts shadow rays to. There are fewer slots than lights if lights are
    // chosen at random.
    light_slots: u32,
    // Shadow rays per light that has a size.
    light_rays: u32,
    // Index in the sampling sequence: the number of earlier frames.
    sample_index: u32,
    // Width of a pixel in metres at the eye, and its growth per metre of depth.
    pixel_side: vec2f,
    // Angular radius of the sun's disc, in radians.
    sun_radius: f32,
    // Mip level bias of textures.
    texture_bias: f32,
    // Albedo of the ground below the sky.
    ground_albedo: f32,
    // Nonzero if `shadow_words` holds the traversal cost.
    counts_cost: u32,
    // Perceptual roughness below which surfaces trace reflections; 0 if no surface does.
    reflect_below: f32,
    // Offset of the sampling dimensions of lights.
    first_dimension: u32,
    // Radiance that is displayed as 1 with a linear tone curve.
    unlit_radiance: f32,
    // Bit mask of disabled material features (MATERIALS_…).
    materials_without: u32,
    // Extinction of the fog per metre up to `fog_base`; 0 if there is no fog.
    fog_density: f32,
    // Height in metres up to which the fog is uniform, in the frame's coordinates.
    fog_base: f32,
    // Exponential height falloff above `fog_base`, per metre.
    fog_falloff: f32,
    // Amplitude of the density noise, as a fraction of the density.
    fog_noise: f32,
    // Nonzero if volumes attenuate shadow-mapped light. `shadow_words` then holds the blocked fractions.
    volume_shadows: u32,
    // Shadow rays per light at shadow edges with a short history.
    edge_light_rays: u32,
    shadow_mode: u32,
    pcf_width: u32,
    blended_cast: u32,
    // Nonzero if the surfaces are hits of reflection rays.
    at_hits: u32,
    // Index in the sampling sequence of the point at which masks are sampled. Constant while pixels are sampled at
    // their centres.
    cut_out_index: u32,
    // Factor on the plain background at the zenith.
    backdrop_top: f32,
    // Nonzero if `occlusion_words` holds all light that occluders reflect.
    all_bounces: u32,
    // Number of lights that a surface looks at: all, or as many as it draws from the tree of lights.
    light_candidates: u32,
    // Number of directional lights if there is a tree of lights. They come first.
    distant_lights: u32,
    // First word of the lights in the scene's tables.
    lights_word: u32,
    // Origin of the grid of the tree's boxes, and units of the grid per metre.
    light_grid: vec4f,
}

@group(0) @binding(0) var<uniform> frame: Frame;

// Returns the position of a pixel's centre in the picture, from 0 to 1 along each axis.
fn frame_place(pixel: vec2u) -> vec2f {
    return (vec2f(pixel) + 0.5) / vec2f(frame.size);
}

// Returns the unit vector of the view ray through a pixel.
fn frame_ray(pixel: vec2u) -> vec3f {
    return normalize(view_ray(frame.rays, frame_place(pixel)).direction);
}

// Returns the unit vector from a surface to the eye.
fn frame_to_eye(position: vec3f) -> vec3f {
    return select(normalize(frame.eye - position), -frame.forward, frame.orthographic != 0u);
}

// Returns the width of a pixel at a point, in metres.
fn frame_pixel_width(position: vec3f) -> f32 {
    return frame.pixel_side.x + frame.pixel_side.y * dot(position - frame.eye, frame.forward);
}
