// path_sort: compacts the paths whose ray was traced and sorts them by the bin of the material they hit. A kernel of
// the wavefront path tracer (path_generate.wgsl).
//
// in   the list of paths and their hits; bins: the bin of each material
// out  counts, ranges; list_out: the paths whose ray was traced
// Misses go to the first bin. The sort is in reflections/hit_sort.wgsl.
#import "reflections/hit_sort.wgsl"
#import "path/path_rows.wgsl"
#import "frame/ray_list.wgsl"

@group(0) @binding(1) var<uniform> stage: PathStage;
@group(0) @binding(2) var<storage, read_write> paths: array<vec4u>;
@group(0) @binding(3) var<uniform> listed: array<HitRange, REFLECTION_BINS + 1u>;
@group(0) @binding(4) var list_texture: texture_2d<u32>;
@group(0) @binding(5) var<storage, read> bins: array<u32>;
@group(0) @binding(6) var<storage, read_write> counts: array<u32>;
@group(0) @binding(7) var<storage, read_write> ranges: array<HitRange, REFLECTION_BINS + 1u>;
@group(0) @binding(8) var list_out: texture_storage_2d<r32uint, write>;

fn hit_sort_listed(number: u32, is_sorted: bool) -> ListedHit {
    var hit = ListedHit(HIT_NONE, NO_BIN);
    if number < listed[0].count {
        hit.entry = textureLoad(list_texture, ray_list_texel(number), 0).r;
        let found = paths[path_row(ROW_HIT, hit.entry)];
        if found.x != PATH_NO_RAY {
            hit.bin = select(0u, bins[found.y], found.x != 0u && is_sorted);
        }
    }
    return hit;
}

fn hit_sort_store(at: u32, entry: u32) {
    textureStore(list_out, ray_list_texel(at), vec4u(entry));
}

@compute @workgroup_size(SORT_BLOCK)
fn path_count_hits(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    hit_sort_count(workgroup.x, params.block_count, thread, stage.bins > 1u);
}

@compute @workgroup_size(SORT_BLOCK)
fn path_scan_hits(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    hit_sort_scan(workgroup.x, params.block_count, thread);
}

@compute @workgroup_size(SORT_BLOCK)
fn path_ranges_of_hits(@builtin(local_invocation_index) thread: u32) {
    hit_sort_ranges(stage.bins, thread);
}

@compute @workgroup_size(SORT_BLOCK)
fn path_scatter_hits(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    hit_sort_scatter(workgroup.x, params.block_count, thread, stage.bins > 1u);
}
