// sweep: finds the first contact of each moving capsule of a list.
//
// in   sweeps; the BVH (group 1)
// out  contacts, one per capsule
// One thread per capsule.
#import "bvh/predicate.wgsl"
#import "bvh/bvh_sweep.wgsl"
#import "bvh/dispatch.wgsl"
#import "bvh/query/query_order.wgsl"

struct Contact {
    normal: vec3f,
    t: f32,
    position: vec3f,
    mesh: u32,
    object: u32,
}

// Number of capsules; leaf_cutoff; unused; mask of accepted objects.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> sweeps: array<Sweep>;
@group(0) @binding(3) var<storage, read_write> contacts: array<Contact>;

@compute @workgroup_size(TRACE_BLOCK)
fn sweep(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let count = min(query.x, min(arrayLength(&sweeps), arrayLength(&contacts)));
    let i = query_of_thread(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, count);
    if i == BVH_MISS {
        return;
    }
    let moving = sweeps[i];
    let inverse = bvh_inverse(moving.motion);
    var walk = bvh_sweep_begin(moving, query.y);
    var first = BvhContact(1.0, vec3f(0.0), moving.a + moving.motion, BVH_MISS, 0u);
    var contact = first;
    while bvh_sweep_advance(&walk, moving, inverse, first.t) {
        while !bvh_walk_is_done(&walk) {
            let is_touched = bvh_sweep_leaf(&walk, moving, first.t, &contact);
            if is_touched && bvh_query_accepts(i, tree_triangle(contact.leaf), query.w) {
                first = contact;
            }
        }
    }
    var name = vec2u(BVH_MISS, 0u);
    if first.leaf != BVH_MISS {
        let object = tree_triangle(first.leaf);
        name = vec2u(object.mesh & ~ANY_HIT_TEST, object.triangle - first.first);
    }
    contacts[i] = Contact(first.normal, first.t, first.position, name.x, name.y);
}
