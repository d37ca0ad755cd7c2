// nearest_sign: on which side of the surface each point of a list lies, given what is nearest to it
// (accel/nearest.wgsl): inside, where the distance becomes negative, or outside.
//
// in   points, found; positions, indices and rows of the meshes; the tree (group 1)
// out  found: the sign of the distance
// By angle-weighted pseudonormals (Bærentzen and Aanæs 2005): where the nearest point is a corner or lies on an edge,
// the normals of all triangles that have that corner or edge are summed, a corner's by their angles there. Corners
// belong together where their positions are equal, of whichever mesh. It is right for closed surfaces whose corners
// go round counterclockwise from outside.
// One thread per point.
#import "common/bvh_region.wgsl"
#import "common/bvh_walk.wgsl"
#import "common/dispatch.wgsl"

struct Nearest {
    position: vec3f,
    distance: f32,
    barycentric: vec2f,
    mesh: u32,
    triangle: u32,
}

// The number of points; leaf_cutoff.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> points: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> found: array<Nearest>;
#array read 0 3 position_words: u32
#array read 0 4 index_words: u32
@group(0) @binding(5) var<storage, read> tlas: array<TlasEntry>;

// Weights below this are none: a point so near to an edge has the side that the edge gives.
const NO_WEIGHT = 2.0e-6;

fn corner_position(index: u32) -> vec3f {
    let first = 3u * index_words(index);
    let words = vec3u(position_words(first), position_words(first + 1u), position_words(first + 2u));
    return bitcast<vec3f>(words);
}

// Whether a corner is at `at`; the two others are set.
fn is_at(a: vec3f, b: vec3f, c: vec3f, at: vec3f, others: ptr<function, array<vec3f, 2>>) -> bool {
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

// Normals of the triangles with the corner `at`, by their angles there; or, with `has_edge`, of those that
// have the corner `edge_end` too.
fn pseudonormal(at: vec3f, edge_end: vec3f, has_edge: bool) -> vec3f {
    var sum = vec3f(0.0);
    var walk = bvh_walk_begin(at.x, query.y);
    loop {
        for (var number = bvh_walk_node(&walk, 1.0); number != BVH_MISS; number = bvh_walk_node(&walk, 1.0)) {
            let node = tree_node(number);
            bvh_walk_into_all(&walk, number, node, bvh_boxes_touch(node, at, at));
        }
        if bvh_walk_is_done(&walk) {
            break;
        }
        while !bvh_walk_is_done(&walk) {
            let triangle = tree_triangle(bvh_walk_leaf(&walk));
            var others: array<vec3f, 2>;
            let is_near = is_at(triangle.v0, triangle.v1, triangle.v2, at, &others);
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

@compute @workgroup_size(TRACE_BLOCK)
fn nearest_sign(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= min(query.x, min(arrayLength(&points), arrayLength(&found))) {
        return;
    }
    let near = found[i];
    if near.mesh == BVH_MISS {
        return;
    }
    let first = 3u * (tlas[near.mesh].first_triangle + near.triangle);
    let a = corner_position(first);
    let b = corner_position(first + 1u);
    let c = corner_position(first + 2u);
    let weights = vec3f(1.0 - near.barycentric.x - near.barycentric.y, near.barycentric);
    let is_used = weights > vec3f(NO_WEIGHT);
    var normal = cross(b - a, c - a);
    if !all(is_used) || dot(normal, normal) == 0.0 {
        // The edge from `at`, or the corner.
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
        normal = pseudonormal(at, edge_end, count > 1u);
    }
    if dot(points[i].xyz - near.position, normal) < 0.0 {
        found[i].distance = -near.distance;
    }
}
