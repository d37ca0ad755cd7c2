// nearest_sign: makes the distances of points inside the surface negative.
//
// in   points; found, their nearest points (bvh/query/nearest.wgsl); position_words, index_words, tlas; the BVH
//      (group 1)
// out  found: the sign of the distance
// The sign follows from the pseudonormal at the nearest point (bvh/bvh_pseudonormal.wgsl).
// One thread per point.
#import "bvh/bvh_pseudonormal.wgsl"
#import "bvh/dispatch.wgsl"

struct Nearest {
    position: vec3f,
    distance: f32,
    barycentric: vec2f,
    mesh: u32,
    triangle: u32,
}

// Number of points; leaf_cutoff.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> points: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> found: array<Nearest>;
#array read 0 3 position_words: u32
#array read 0 4 index_words: u32
@group(0) @binding(5) var<storage, read> tlas: array<TlasEntry>;

fn corner_position(index: u32) -> vec3f {
    let first = 3u * index_words(index);
    let words = vec3u(position_words(first), position_words(first + 1u), position_words(first + 2u));
    return bitcast<vec3f>(words);
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
    let normal = bvh_pseudonormal(a, b, c, near.barycentric, query.y);
    if dot(points[i].xyz - near.position, normal) < 0.0 {
        found[i].distance = -near.distance;
    }
}
