// reflection_sort: compacts the hits of reflection rays and sorts them by the bin of their material
// (reflections/hit_sort.wgsl).
//
// reflection_count    in   the list of rays, hit_ids_texture, triangle_info, bins: the bin of each material
//                     out  counts
// reflection_scan     out  counts: exclusive prefix sums along each bin's row; ranges[1 + bin].count. One workgroup per
//                          bin
// reflection_ranges   out  ranges
// reflection_scatter  out  sorted: the pixels, by bin, and within a bin in the order of the list
//
// For cost comparisons, the other orders (reflections/reflection_params.wgsl) put all hits in one bin, and
// reflection_scatter_workgroup sorts the hits within each block.
#import "frame/gbuffer_ids.wgsl"
#import "reflections/hit_sort.wgsl"
#import "frame/ray_list.wgsl"
#import "reflections/reflection_params.wgsl"

@group(0) @binding(1) var list_texture: texture_2d<u32>;
@group(0) @binding(2) var hit_ids_texture: texture_2d<u32>;
@group(0) @binding(3) var<storage, read> triangle_info: array<vec2u>;
@group(0) @binding(4) var<storage, read> bins: array<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> ranges: array<HitRange, REFLECTION_BINS + 1u>;
@group(0) @binding(7) var<storage, read_write> sorted: array<u32>;
@group(0) @binding(8) var<uniform> bounce: ReflectionParams;

fn hit_sort_listed(number: u32, is_sorted: bool) -> ListedHit {
    var hit = ListedHit(HIT_NONE, NO_BIN);
    if number < params.count {
        let entry = textureLoad(list_texture, ray_list_texel(number), 0).r;
        let surface_id = textureLoad(hit_ids_texture, ray_list_pixel(entry), 0).r;
        if surface_id != 0u {
            let bin = bins[triangle_info[gbuffer_triangle(surface_id)].y];
            hit = ListedHit(entry, select(0u, bin, is_sorted));
        } else if bounce.order == ORDER_OFF {
            hit.bin = 0u;
        }
    }
    return hit;
}

fn hit_sort_store(at: u32, entry: u32) {
    sorted[at] = entry;
}

fn is_sorted() -> bool {
    return bounce.order == ORDER_MATERIAL;
}

@compute @workgroup_size(SORT_BLOCK)
fn reflection_count(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    hit_sort_count(dispatch_workgroup(workgroup, workgroups), params.block_count, thread, is_sorted());
}

@compute @workgroup_size(SORT_BLOCK)
fn reflection_scan(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    hit_sort_scan(workgroup.x, params.block_count, thread);
}

@compute @workgroup_size(SORT_BLOCK)
fn reflection_ranges(@builtin(local_invocation_index) thread: u32) {
    hit_sort_ranges(bounce.bins, thread);
}

@compute @workgroup_size(SORT_BLOCK)
fn reflection_scatter(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    hit_sort_scatter(dispatch_workgroup(workgroup, workgroups), params.block_count, thread, is_sorted());
}

@compute @workgroup_size(SORT_BLOCK)
fn reflection_scatter_workgroup(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups);
    hit_sort_tally(block, thread, true);
    let count = atomicLoad(&tally[thread]);
    sums[thread] = vec2u(count, 0u);
    scan_sums(thread);
    if block < params.block_count {
        // The other kernels put all hits in bin 0.
        atomicStore(&base[thread], counts[block] + sums[thread].x - count);
    }
    hit_sort_scatter_behind(block, thread, true);
}
