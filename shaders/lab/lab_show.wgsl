// lab_show: converts the laboratory's ray results to pixels and sums.
//
// in   rays, hits and visits in tiles of 8 × 8 pixels; the normal of each triangle in the order of the hits; the hits
//      in canopy's own BVHs
// out  shown: a grey value of the hit, with red where canopy's own BVHs disagree; or the nodes and triangles that the
//      ray visited, and the steps of the slowest of its 32 neighbours; or the percentage of steps that threads wait for
//      the slowest thread, its steps, and the mean steps. Alpha is 0 if nothing is shown.
//      sums: pairs of words, low word first, which start at 0: rays, hits, nodes, triangles, steps of the slowest ray
//      of each 32, hits that differ
// One thread per ray, one workgroup per tile. The thread whose addition overflows a low word carries into the high
// word.
#import "bvh/dispatch.wgsl"
#import "math/octahedral.wgsl"
#import "bvh/ray.wgsl"
#import "lab/hit.wgsl"

struct LabShowParams {
    size: vec2u,
    // One of the LAB_SHOW_… constants.
    show: u32,
    // Nonzero if the rays go to a light and ask for any hit.
    is_shadow: u32,
    // Nonzero if the rays were also traced through canopy's own BVHs.
    is_checked: u32,
    // Absolute tolerance for equal hits, in addition to a ten-thousandth of their distance.
    slack: f32,
}

@group(0) @binding(0) var<uniform> params: LabShowParams;
@group(0) @binding(1) var<storage, read> rays: array<Ray>;
@group(0) @binding(2) var<storage, read> hits: array<LabHit>;
@group(0) @binding(3) var<storage, read> visits: array<Visits>;
@group(0) @binding(4) var<storage, read> normals: array<u32>;
@group(0) @binding(5) var<storage, read> own_hits: array<Hit>;
@group(0) @binding(6) var<storage, read_write> sums: array<atomic<u32>>;
@group(0) @binding(7) var shown: texture_storage_2d<rgba32float, write>;

const SENT = 1u;
const HIT = 2u;
const DIFFERS = 4u;

var<workgroup> visited: array<vec2u, 64>;
var<workgroup> marks: array<u32, 64>;

fn add(sum: u32, amount: u32) {
    let before = atomicAdd(&sums[2u * sum], amount);
    if before + amount < before {
        atomicAdd(&sums[2u * sum + 1u], 1u);
    }
}

fn differs(hit: LabHit, own: Hit) -> bool {
    let is_hit = hit.leaf != BVH_MISS;
    let is_own_hit = own.mesh != BVH_MISS;
    let is_far = abs(hit.t - own.t) > LAB_NEAR * abs(own.t) + params.slack;
    return is_hit != is_own_hit || (is_hit && params.is_shadow == 0u && is_far);
}

@compute @workgroup_size(64)
fn lab_show(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let columns = (params.size.x + 7u) / 8u;
    let number = dispatch_workgroup(workgroup, workgroups);
    let tile = vec2u(number % columns, number / columns);
    let pixel = 8u * tile + vec2u(thread % 8u, thread / 8u);
    let i = 64u * number + thread;
    let is_inside = all(pixel < params.size);
    var hit = LabHit(0.0, 0.0, 0.0, BVH_MISS);
    var ray = Ray(vec3f(0.0), 0.0, vec3f(0.0, 0.0, 1.0), 0.0);
    var own = vec2u(0u);
    var mark = 0u;
    if is_inside {
        ray = rays[i];
    }
    if ray.t_max > ray.t_min {
        hit = hits[i];
        own = vec2u(visits[i].nodes, visits[i].triangles);
        mark = SENT | select(0u, HIT, hit.leaf != BVH_MISS);
        if params.is_checked == 1u && differs(hit, own_hits[i]) {
            mark |= DIFFERS;
        }
    }
    visited[thread] = own;
    marks[thread] = mark;
    workgroupBarrier();
    // Half a tile is 32 consecutive rays of the list.
    let first = thread & 32u;
    var slowest = 0u;
    var all_visited = vec2u(0u);
    var counts = vec3u(0u);
    for (var k = 0u; k < 32u; k++) {
        let of_one = visited[first + k];
        slowest = max(slowest, of_one.x + of_one.y);
        all_visited += of_one;
        counts += (vec3u(marks[first + k]) >> vec3u(0u, 1u, 2u)) & vec3u(1u);
    }
    if thread == first && counts.x > 0u {
        add(0u, counts.x);
        add(1u, counts.y);
        add(2u, all_visited.x);
        add(3u, all_visited.y);
        add(4u, slowest);
        add(5u, counts.z);
    }
    if !is_inside {
        return;
    }
    var value = vec3f(0.0);
    var is_shown = (mark & SENT) != 0u;
    let steps = f32(all_visited.x + all_visited.y) / 32.0;
    switch params.show {
        case LAB_SHOW_NODES, LAB_SHOW_TRIANGLES, LAB_SHOW_BOTH: {
            value = vec3f(vec2f(own), f32(slowest));
        }
        case LAB_SHOW_DIVERGENCE: {
            let idle = 100.0 * (1.0 - steps / max(f32(slowest), 1.0));
            value = vec3f(select(0.0, idle, slowest > 0u), f32(slowest), steps);
        }
        default: {
            let is_hit = (mark & HIT) != 0u;
            if params.is_shadow == 1u {
                value = vec3f(select(LAB_LIT, LAB_BLOCKED, is_hit));
            } else if is_hit {
                let facing = abs(dot(octahedral_unpack(normals[hit.leaf]), ray.direction));
                value = vec3f(mix(LAB_GRAZING, LAB_LIT, saturate(facing)));
            } else {
                is_shown = false;
            }
            if (mark & DIFFERS) != 0u {
                value = vec3f(1.0, 0.0, 0.0);
                is_shown = true;
            }
        }
    }
    textureStore(shown, pixel, select(vec4f(0.0), vec4f(value, 1.0), is_shown));
}
