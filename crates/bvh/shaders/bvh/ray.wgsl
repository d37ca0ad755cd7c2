// Ray and hit.

struct Ray {
    origin: vec3f,
    t_min: f32,
    direction: vec3f,
    t_max: f32,
}

struct Hit {
    // Distance in units of the direction's length, or the ray's t_max for a miss.
    t: f32,
    // Barycentric weights of the triangle's second and third vertex.
    barycentric: vec2f,
    // Mesh index, or BVH_MISS for a miss.
    mesh: u32,
    // Index of the triangle within its mesh.
    triangle: u32,
}
