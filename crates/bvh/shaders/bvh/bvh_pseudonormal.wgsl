// Pseudonormal of a surface at the point of a triangle that is nearest to a query point. It tells the sides of the
// surface apart. The BVH is in bind group 1 (bvh/tree_read.wgsl).
//
// Angle-weighted pseudonormals (Bærentzen and Aanæs 2005): if the nearest point is a vertex or on an edge, the normals
// of all triangles with that vertex or edge are summed. At a vertex, they are weighted by the triangles' angles there.
// Vertices with equal positions count as the same vertex, also across meshes. This is correct for closed surfaces whose
// front faces (counterclockwise vertices) point outwards.
#import "bvh/bvh_overlap.wgsl"

// Largest barycentric weight that counts as zero. If the nearest point is this close to an edge or a vertex, the
// normals of all triangles around that edge or vertex are summed.
const BVH_NO_WEIGHT = 2.0e-6;

// True if a vertex is at `at`. Then sets `others` to the two other vertices, in cyclic order.
fn bvh_is_at(a: vec3f, b: vec3f, c: vec3f, at: vec3f, others: ptr<function, array<vec3f, 2>>) -> bool {
    if all(a == at) {
        *others = array<vec3f, 2>(b, c);
        return true;
    }
    if all(b == at) {
        *others = array<vec3f, 2>(c, a);
        return true;
    }
    *others = array<vec3f, 2>(a, b);
    return all(c == at);
}

// Returns the angle-weighted sum of the normals of all triangles with a vertex at `at`. With `has_edge`, it is the
// unweighted sum over the triangles that also have a vertex at `edge_end`.
fn bvh_normals_around(at: vec3f, edge_end: vec3f, has_edge: bool, cutoff: u32) -> vec3f {
    var sum = vec3f(0.0);
    let corner = bvh_region_box(at, at);
    var walk = bvh_overlap_begin(corner, cutoff);
    while bvh_overlap_advance(&walk, corner) {
        while !bvh_walk_is_done(&walk) {
            let triangle = tree_triangle(bvh_walk_leaf(&walk));
            var others: array<vec3f, 2>;
            let is_near = bvh_is_at(triangle.v0, triangle.v1, triangle.v2, at, &others);
            let normal = cross(others[0] - at, others[1] - at);
            let is_of_edge = all(others[0] == edge_end) || all(others[1] == edge_end);
            let counts = is_near && (is_of_edge || !has_edge);
            if counts && dot(normal, normal) > 0.0 {
                let sides = dot(others[0] - at, others[1] - at);
                let angle = select(atan2(length(normal), sides), 1.0, has_edge);
                sum += angle * normalize(normal);
            }
        }
    }
    return sum;
}

// Returns the pseudonormal of the triangle a, b, c at the point where `barycentric` are the weights of its second and
// third vertex. It is not normalised.
fn bvh_pseudonormal(a: vec3f, b: vec3f, c: vec3f, barycentric: vec2f, cutoff: u32) -> vec3f {
    let weights = vec3f(1.0 - barycentric.x - barycentric.y, barycentric);
    let is_used = weights > vec3f(BVH_NO_WEIGHT);
    var normal = cross(b - a, c - a);
    if !all(is_used) || dot(normal, normal) == 0.0 {
        // The edge that begins at `at`, or the vertex at `at`.
        var at = a;
        var edge_end = b;
        if is_used.y && !is_used.x {
            at = b;
            edge_end = c;
        }
        if is_used.z && !is_used.y {
            at = c;
            edge_end = a;
        }
        let count = u32(is_used.x) + u32(is_used.y) + u32(is_used.z);
        normal = bvh_normals_around(at, edge_end, count > 1u, cutoff);
    }
    return normal;
}
