// reflection_sort: the hits of reflection rays, compacted, and sorted by the bin of their material: a stable
// counting sort (reduce, then scan: no workgroup waits for another).
//
// reflection_count    in   the list of rays, hit_ids, triangle_info, bins: the bin of each material
//                     out  counts[bin × block_count + block]: how many of the block's rays hit the bin
// reflection_scan     out  counts: exclusive sums along each bin's row; ranges[1 + bin].count. A workgroup per bin
// reflection_ranges   out  ranges: where each bin lies, and the workgroups of its dispatch; first those of all hits
// reflection_scatter  out  sorted: the pixels, by bin, and those of a bin in the order of the list
//
// Blocks are those of the radix sort (common/sort_block.wgsl), a thread per bin in the last two. Rays that hit
// nothing have no place, so that sorting compacts too.
//
// For comparison, other orders (common/reflection_params.wgsl) leave all hits in one bin, and
// reflection_scatter_workgroup sorts those of each block by themselves.
#import "common/dispatch.wgsl"
#import "common/gbuffer_ids.wgsl"
#import "common/hit_range.wgsl"
#import "common/ray_list.wgsl"
#import "common/reflection_params.wgsl"
#import "common/sort_block.wgsl"
#import "common/unseen.wgsl"

@group(0) @binding(1) var list_texture: texture_2d<u32>;
@group(0) @binding(2) var hit_ids_texture: texture_2d<u32>;
@group(0) @binding(3) var<storage, read> triangle_info: array<vec2u>;
@group(0) @binding(4) var<storage, read> bins: array<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> ranges: array<HitRange, REFLECTION_BINS + 1u>;
@group(0) @binding(7) var<storage, read_write> sorted: array<u32>;
@group(0) @binding(8) var<uniform> bounce: ReflectionParams;

const NO_BIN = 0xffffffffu;

struct ListedHit {
    entry: u32,
    // NO_BIN where nothing is hit that is listed.
    bin: u32,
}

// The bin is 0 unless it `is_sorted`.
fn listed_hit(block: u32, round: u32, thread: u32, is_sorted: bool) -> ListedHit {
    let ray = (block * SORT_ROUNDS + round) * SORT_BLOCK + thread;
    var hit = ListedHit(HIT_NONE, NO_BIN);
    if ray < params.count {
        let entry = textureLoad(list_texture, ray_list_texel(ray), 0).r;
        let seen = textureLoad(hit_ids_texture, ray_list_pixel(entry), 0).r;
        if seen != 0u {
            let bin = bins[triangle_info[gbuffer_triangle(seen)].y];
            hit = ListedHit(entry, select(0u, bin, is_sorted));
        } else if bounce.order == ORDER_OFF {
            hit.bin = 0u;
        }
    }
    return hit;
}

fn is_sorted() -> bool {
    return bounce.order == ORDER_MATERIAL;
}

fn tally_hits(block: u32, thread: u32, is_sorted: bool) {
    atomicStore(&tally[thread], 0u);
    workgroupBarrier();
    for (var round = 0u; round < SORT_ROUNDS; round++) {
        let hit = listed_hit(block, round, thread, is_sorted);
        if hit.bin != NO_BIN {
            atomicAdd(&tally[hit.bin], 1u);
        }
    }
    workgroupBarrier();
}

// Each hit goes behind `base` of its bin.
fn scatter(block: u32, thread: u32, is_sorted: bool) {
    clear_masks(thread);
    workgroupBarrier();
    for (var round = 0u; round < SORT_ROUNDS; round++) {
        let hit = listed_hit(block, round, thread, is_sorted);
        let is_hit = hit.bin != NO_BIN;
        let at = rank_by_masks(thread, select(0u, hit.bin, is_hit), is_hit);
        if is_hit {
            sorted[at] = hit.entry;
        }
    }
}

@compute @workgroup_size(SORT_BLOCK)
fn reflection_count(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups);
    tally_hits(block, thread, is_sorted());
    if block < params.block_count {
        counts[thread * params.block_count + block] = atomicLoad(&tally[thread]);
    }
}

@compute @workgroup_size(SORT_BLOCK)
fn reflection_scan(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let row = workgroup.x * params.block_count;
    let blocks = unseen_zero(f32(thread)) + params.block_count;
    var carry = 0u;
    for (var first = 0u; first < blocks; first += SORT_BLOCK) {
        let block = first + thread;
        var count = 0u;
        if block < params.block_count {
            count = counts[row + block];
        }
        sums[thread] = vec2u(count, 0u);
        scan_sums(thread);
        if block < params.block_count {
            counts[row + block] = carry + sums[thread].x - count;
        }
        carry += sums[DIGITS - 1u].x;
        workgroupBarrier();
    }
    if thread == 0u {
        ranges[1u + workgroup.x].count = carry;
    }
}

fn hit_range(first: u32, count: u32) -> HitRange {
    return HitRange(dispatch_folded((count + RAY_BLOCK - 1u) / RAY_BLOCK), count, first, 0u);
}

@compute @workgroup_size(SORT_BLOCK)
fn reflection_ranges(@builtin(local_invocation_index) thread: u32) {
    let count = select(0u, ranges[1u + thread].count, thread < bounce.bins);
    sums[thread] = vec2u(count, min(count, 1u));
    scan_sums(thread);
    ranges[1u + thread] = hit_range(sums[thread].x - count, count);
    if thread == DIGITS - 1u {
        ranges[0] = hit_range(0u, sums[thread].x);
        ranges[0].bins = sums[thread].y;
    }
}

@compute @workgroup_size(SORT_BLOCK)
fn reflection_scatter(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups);
    if block < params.block_count {
        atomicStore(&base[thread], ranges[1u + thread].first + counts[thread * params.block_count + block]);
    }
    scatter(block, thread, is_sorted());
}

@compute @workgroup_size(SORT_BLOCK)
fn reflection_scatter_workgroup(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups);
    tally_hits(block, thread, true);
    let count = atomicLoad(&tally[thread]);
    sums[thread] = vec2u(count, 0u);
    scan_sums(thread);
    if block < params.block_count {
        // All hits are of bin 0 for the other kernels.
        atomicStore(&base[thread], counts[block] + sums[thread].x - count);
    }
    scatter(block, thread, true);
}
