// intersections: finds the triangles of the frame that pass through triangles of other meshes.
//
// in   the BVH (group 1), first_leaf
// out  through_bits: one bit per triangle of the merged buffers
//      found: the number of intersecting pairs of triangles, the number of such triangles, the number of pairs whose
//      meshes have no row, then rows in no order. A row holds two mesh numbers, each plus 1, and their number of pairs.
//      Both buffers are cleared before the dispatch.
// One thread per leaf, in leaf order. Workgroups share data only through atomics. Each of the two words with a row's
// meshes is written once. A thread that finds other meshes in a row tries the next row. So no two rows have the same
// meshes, regardless of the order of execution.
#import "bvh/bvh_pairs.wgsl"
#import "bvh/dispatch.wgsl"

@group(0) @binding(1) var<uniform> first_leaf: u32;
@group(0) @binding(2) var<storage, read_write> through_bits: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> found: array<atomic<u32>>;

// Number of rows that are tried for a pair of meshes, by linear probing.
const ROWS_TRIED = 64u;
// The pair count saturates at this value, before it can wrap to 0.
const PAIRS_MAX = 0xf0000000u;

fn mark(triangle: u32) {
    let bit = 1u << (triangle % 32u);
    let word = triangle / 32u;
    if word < arrayLength(&through_bits) && (atomicOr(&through_bits[word], bit) & bit) == 0u {
        atomicAdd(&found[1], 1u);
    }
}

// Claims a word for a mesh. Returns true if the word already had this mesh or has it now.
fn claim(word: u32, name: u32) -> bool {
    var known = atomicLoad(&found[word]);
    // A weak exchange may fail spuriously.
    while known == 0u {
        let exchange = atomicCompareExchangeWeak(&found[word], 0u, name);
        known = select(exchange.old_value, name, exchange.exchanged);
    }
    return known == name;
}

fn add(number: u32, word: u32) {
    if atomicLoad(&found[word]) < PAIRS_MAX {
        atomicAdd(&found[word], number);
    }
}

// Adds `number` pairs of triangles to the row of two meshes.
fn count_pairs(one: u32, other: u32, number: u32) {
    if number == 0u {
        return;
    }
    add(number, 0u);
    let a = min(one, other);
    let b = max(one, other);
    var row = a * 0x9e3779b1u ^ b * 0x85ebca77u;
    row ^= row >> 15u;
    for (var i = 0u; i < ROWS_TRIED; i++) {
        let word = INTERSECTION_HEADER + INTERSECTION_WORDS * ((row + i) % INTERSECTION_MESHES);
        if claim(word, a + 1u) && claim(word + 1u, b + 1u) {
            add(number, word + 2u);
            return;
        }
    }
    add(number, 2u);
}

@compute @workgroup_size(TRACE_BLOCK)
fn intersections(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = first_leaf + dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= query.count {
        return;
    }
    let own = tree_triangle(i);
    var walk: BvhWalk;
    let search = pairs_begin(i, own, &walk);
    // Triangles of one mesh are adjacent in leaf order.
    var mesh = BVH_MISS;
    var number = 0u;
    while pairs_advance(&walk, search) {
        while !bvh_walk_is_done(&walk) {
            let leaf = bvh_walk_leaf(&walk);
            for (var is_found = pairs_accept(search, leaf); is_found; is_found = false) {
                let object = tree_triangle(leaf);
                let of_mesh = object.mesh & ~ANY_HIT_TEST;
                if of_mesh != mesh {
                    count_pairs(own.mesh & ~ANY_HIT_TEST, mesh, number);
                    mesh = of_mesh;
                    number = 0u;
                }
                number++;
                mark(own.triangle);
                mark(object.triangle);
            }
        }
    }
    count_pairs(own.mesh & ~ANY_HIT_TEST, mesh, number);
}
