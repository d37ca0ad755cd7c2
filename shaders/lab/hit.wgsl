// Hit of a ray in the laboratory, and its visit counts.

struct LabHit {
    // Distance in units of the direction's length; the ray's t_max for a miss.
    t: f32,
    // Barycentric weights of the second and third corner.
    u: f32,
    v: f32,
    // Number of the triangle in the bound buffer; BVH_MISS for a miss.
    leaf: u32,
}

struct Visits {
    nodes: u32,
    triangles: u32,
}
