// bounds: computes the bounds of the centres of each mesh's triangle boxes, the box of each mesh, and the scene's box.
//
// in   positions, indices, triangle_info, items
// out  mesh_bounds: twelve words per mesh (bounds of the centres, then the mesh's box), and then six for the scene's
//      box. A box is its lower corner, complemented, and its upper corner, as ordered integers. The buffer must be
//      cleared to 0 before, the identity of max, which reduces both corners.
// A thread reduces `params.bounds_run` triangles, usually every BOUNDS_THREADS-th, so that neighbouring threads read
// neighbouring triangles. If meshes are small, it reduces a contiguous run instead, which meets fewer meshes
// (accel::tree). Its result for the workgroup's first mesh is reduced in shared memory. Results for other meshes go
// directly to global memory. Different workgroups communicate only through atomicMax, whose result does not depend on
// the order. The atomicMax is skipped if it would change nothing. The next dispatch reads the result.
#import "bvh/dispatch.wgsl"
#import "bvh/build/items.wgsl"

@group(0) @binding(2) var<storage, read_write> mesh_bounds: array<atomic<u32>>;

var<workgroup> shared_words: array<u32, BOUNDS_THREADS * BOUNDS_WORDS>;

// Maps floats to integers in the same order. Every finite float maps to a number above 0.
fn ordered(x: vec3f) -> vec3u {
    let bits = bitcast<vec3u>(x);
    return select(bits | vec3u(0x80000000u), ~bits, (bits & vec3u(0x80000000u)) != vec3u(0u));
}

fn raise(word: u32, value: u32) {
    if value > atomicLoad(&mesh_bounds[word]) {
        atomicMax(&mesh_bounds[word], value);
    }
}

// Reduces one word of a mesh's bounds. The mesh's box also counts towards the scene's box.
fn add(mesh: u32, word: u32, value: u32) {
    raise(BOUNDS_WORDS * mesh + word, value);
    if word >= BOUNDS_BOX {
        raise(BOUNDS_WORDS * params.mesh_count + word - BOUNDS_BOX, value);
    }
}

struct SceneBounds {
    centroids: Box,
    whole: Box,
}

fn bounds_empty() -> SceneBounds {
    return SceneBounds(box_empty(), box_empty());
}

fn bounds_words(f: SceneBounds) -> array<vec3u, 4> {
    if f.whole.lower.x > f.whole.upper.x {
        return array<vec3u, 4>();
    }
    return array<vec3u, 4>(
        ~ordered(f.centroids.lower),
        ordered(f.centroids.upper),
        ~ordered(f.whole.lower),
        ordered(f.whole.upper),
    );
}

fn flush(mesh: u32, f: SceneBounds) {
    var words = bounds_words(f);
    for (var word = 0u; word < BOUNDS_WORDS; word++) {
        add(mesh, word, words[word / 3u][word % 3u]);
    }
}

@compute @workgroup_size(BOUNDS_THREADS)
fn bounds(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let first = dispatch_workgroup(workgroup, workgroups) * BOUNDS_THREADS * params.bounds_run;
    let first_mesh = geometry_mesh(item(min(first, max(params.item_triangles, 1u) - 1u)));
    var mesh = first_mesh;
    var found = bounds_empty();
    let step = params.bounds_step;
    var k = first + thread * select(1u, params.bounds_run, step == 1u);
    let end = min(k + params.bounds_run * step, params.item_triangles);
    if k < end {
        var triangle = item(k);
        mesh = geometry_mesh(triangle);
        loop {
            found = bounds_empty();
            var next_mesh = mesh;
            loop {
                let b = geometry_box(geometry_triangle(triangle));
                if b.lower.x <= b.upper.x {
                    let center = 0.5 * (b.lower + b.upper);
                    found = SceneBounds(box_union(found.centroids, Box(center, center)), box_union(found.whole, b));
                }
                k += step;
                triangle = item(min(k, end - 1u));
                next_mesh = geometry_mesh(triangle);
                if k >= end || next_mesh != mesh {
                    break;
                }
            }
            if k >= end && mesh == first_mesh {
                break;
            }
            flush(mesh, found);
            found = bounds_empty();
            if k >= end {
                break;
            }
            mesh = next_mesh;
        }
    }
    var words = bounds_words(found);
    for (var word = 0u; word < BOUNDS_WORDS; word++) {
        shared_words[BOUNDS_WORDS * thread + word] = words[word / 3u][word % 3u];
    }
    workgroupBarrier();
    if thread < BOUNDS_WORDS {
        var largest = 0u;
        for (var other = 0u; other < BOUNDS_THREADS; other++) {
            largest = max(largest, shared_words[BOUNDS_WORDS * other + thread]);
        }
        add(first_mesh, thread, largest);
    }
}
