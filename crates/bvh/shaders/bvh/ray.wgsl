// A ray and what it hits.

struct Ray {
    origin: vec3f,
    t_min: f32,
    direction: vec3f,
    t_max: f32,
}

struct Hit {
    // Distance in units of the direction's length; the ray's t_max where nothing was hit.
    t: f32,
    // Weights of the triangle's second and third vertex.
    barycentric: vec2f,
    // The mesh; BVH_MISS where nothing was hit.
    mesh: u32,
    // The triangle, numbered within its mesh.
    triangle: u32,
}
