// overlap: finds the objects of the BVH that each region of a list touches.
//
// in   regions: two rows for a box or a capsule, six for a frustum; the BVH (group 1)
// out  overlap_count: numbers, the number of objects that each region touches; kept
//      overlap_collect (numbers holds the offset of each region's first object): names, mesh and index of each object
//      overlap_append: total, the number of objects of all regions, which still counts when `touched` is full; touched,
//      region, mesh and index of each object, unordered
// One thread per region. Different workgroups communicate only through atomicAdd.
#import "bvh/predicate.wgsl"
#import "bvh/bvh_overlap.wgsl"
#import "bvh/query/counted.wgsl"
#import "bvh/dispatch.wgsl"
#import "bvh/query/query_order.wgsl"

struct BoxQuery {
    lower: vec3f,
    upper: vec3f,
}

struct CapsuleQuery {
    a: vec3f,
    radius: f32,
    b: vec3f,
}

struct FrustumQuery {
    planes: array<vec4f, 6>,
}

struct Touched {
    query: u32,
    mesh: u32,
    object: u32,
}

override REGION_SHAPE: u32;

// Number of regions; leaf_cutoff; capacity of `touched`; mask of accepted objects.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> regions: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> names: array<vec2u>;

@group(0) @binding(4) var<storage, read_write> touched: array<Touched>;

// Returns the region of a thread, or BVH_MISS. The buffers belong to the caller, so the count is clamped to their
// sizes.
fn overlap_query(thread: u32) -> u32 {
    let count = arrayLength(&regions) / select(2u, 6u, REGION_SHAPE == BVH_FRUSTUM);
    return query_of_thread(thread, min(query.x, count));
}

fn overlap_region(i: u32) -> BvhRegion {
    if REGION_SHAPE == BVH_FRUSTUM {
        let row = 6u * i;
        let frustum = FrustumQuery(array<vec4f, 6>(
            regions[row],
            regions[row + 1u],
            regions[row + 2u],
            regions[row + 3u],
            regions[row + 4u],
            regions[row + 5u],
        ));
        return bvh_region_frustum(frustum.planes);
    }
    let first = regions[2u * i];
    let second = regions[2u * i + 1u];
    if REGION_SHAPE == BVH_CAPSULE {
        let capsule = CapsuleQuery(first.xyz, first.w, second.xyz);
        return bvh_region_capsule(capsule.a, capsule.b, capsule.radius);
    }
    let box = BoxQuery(first.xyz, second.xyz);
    return bvh_region_box(box.lower, box.upper);
}

// True if the region touches a leaf's object and the predicate accepts it.
fn overlap_finds(i: u32, region: BvhRegion, leaf: u32) -> bool {
    let object = tree_triangle(leaf);
    return bvh_region_touches(region, object) && bvh_query_accepts(i, object, query.w);
}

@compute @workgroup_size(TRACE_BLOCK)
fn overlap_count(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = overlap_query(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread);
    if i == BVH_MISS {
        return;
    }
    let region = overlap_region(i);
    var walk = bvh_overlap_begin(region, query.y);
    var count = 0u;
    var is_kept = true;
    while bvh_overlap_advance(&walk, region) {
        while !bvh_walk_is_done(&walk) {
            let leaf = bvh_walk_leaf(&walk);
            for (var is_found = overlap_finds(i, region, leaf); is_found; is_found = false) {
                is_kept = is_kept && kept_add(i, count, leaf, walk.first);
                count++;
            }
        }
    }
    if i < arrayLength(&numbers) {
        numbers[i] = count;
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn overlap_collect(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if kept_is_whole() {
        let count = atomicLoad(&kept.count);
        for (var i = number; i < count; i += workgroups.x * workgroups.y * TRACE_BLOCK) {
            let result = kept.results[i];
            let at = counted_first(result.x) + result.y;
            if at < arrayLength(&names) {
                names[at] = bvh_leaf_name(result.z, result.w);
            }
        }
        return;
    }
    let i = overlap_query(number);
    if i == BVH_MISS {
        return;
    }
    let region = overlap_region(i);
    var walk = bvh_overlap_begin(region, query.y);
    var at = counted_first(i);
    while bvh_overlap_advance(&walk, region) {
        while !bvh_walk_is_done(&walk) {
            let leaf = bvh_walk_leaf(&walk);
            for (var is_found = overlap_finds(i, region, leaf); is_found; is_found = false) {
                if at < arrayLength(&names) {
                    names[at] = bvh_walk_name(&walk, leaf);
                }
                at++;
            }
        }
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn overlap_append(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = overlap_query(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread);
    if i == BVH_MISS {
        return;
    }
    let region = overlap_region(i);
    var walk = bvh_overlap_begin(region, query.y);
    while bvh_overlap_advance(&walk, region) && atomicLoad(&total) < APPENDED_MAX {
        while !bvh_walk_is_done(&walk) {
            let leaf = bvh_walk_leaf(&walk);
            for (var is_found = overlap_finds(i, region, leaf); is_found; is_found = false) {
                // Stop before the count wraps to 0.
                if atomicLoad(&total) >= APPENDED_MAX {
                    break;
                }
                let at = atomicAdd(&total, 1u);
                if at < min(query.z, arrayLength(&touched)) {
                    let name = bvh_walk_name(&walk, leaf);
                    touched[at] = Touched(i, name.x, name.y);
                }
            }
        }
    }
}
