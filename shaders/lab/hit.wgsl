// What a ray of the laboratory has hit, and what it has visited.

struct LabHit {
    // Distance in units of the direction's length; the ray's t_max where nothing was hit.
    t: f32,
    // Weights of the second and third corner.
    u: f32,
    v: f32,
    // Number of the triangle among those that are bound; BVH_MISS where nothing was hit.
    leaf: u32,
}

struct Visits {
    nodes: u32,
    triangles: u32,
}
