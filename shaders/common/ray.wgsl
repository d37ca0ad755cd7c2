// A ray and what it hits, as accel/trace.rs declares them.

struct Ray {
    origin: vec3f,
    t_min: f32,
    direction: vec3f,
    t_max: f32,
}

struct Hit {
    // In units of the direction's length; the ray's t_max where nothing was hit.
    t: f32,
    // Weights of v1 and v2.
    barycentric: vec2f,
    // Place in leaf order; all ones where nothing was hit.
    place: u32,
}
