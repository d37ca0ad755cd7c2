// Compacts hits of rays and sorts them by the bin of their material. This is a stable counting sort in the form reduce,
// then scan, so no workgroup waits for another. Blocks are the blocks of the radix sort (bvh/build/sort_block.wgsl).
// Rays without a listed hit get no entry, so the sort also compacts.
//
// The importer binds
//     counts   one per bin and block: the block's hits of the bin, then their exclusive prefix sums along the bin's row
//     ranges   first the range of all hits, then the range of each bin, with the workgroup counts of its dispatch
// and defines the input and the output:
//     fn hit_sort_listed(number: u32, is_sorted: bool) -> ListedHit    hit of ray `number`; bin 0 unless sorted
//     fn hit_sort_store(at: u32, entry: u32)
#import "bvh/dispatch.wgsl"
#import "reflections/hit_range.wgsl"
#import "bvh/build/sort_block.wgsl"

const NO_BIN = 0xffffffffu;

struct ListedHit {
    entry: u32,
    // NO_BIN if there is no listed hit.
    bin: u32,
}

fn hit_sort_ray(block: u32, round: u32, thread: u32) -> u32 {
    return (block * SORT_ROUNDS + round) * SORT_BLOCK + thread;
}

// Counts the block's hits of each bin in `tally`.
fn hit_sort_tally(block: u32, thread: u32, is_sorted: bool) {
    atomicStore(&tally[thread], 0u);
    workgroupBarrier();
    for (var round = 0u; round < SORT_ROUNDS; round++) {
        let hit = hit_sort_listed(hit_sort_ray(block, round, thread), is_sorted);
        if hit.bin != NO_BIN {
            atomicAdd(&tally[hit.bin], 1u);
        }
    }
    workgroupBarrier();
}

// Stores the counts of a block, one thread per bin.
fn hit_sort_count(block: u32, block_count: u32, thread: u32, is_sorted: bool) {
    hit_sort_tally(block, thread, is_sorted);
    if block < block_count {
        counts[thread * block_count + block] = atomicLoad(&tally[thread]);
    }
}

// Replaces a bin's counts by their exclusive prefix sums. One workgroup per bin.
fn hit_sort_scan(bin: u32, block_count: u32, thread: u32) {
    let row = bin * block_count;
    var carry = 0u;
    for (var first = 0u; first < block_count; first += SORT_BLOCK) {
        let block = first + thread;
        var count = 0u;
        if block < block_count {
            count = counts[row + block];
        }
        sums[thread] = vec2u(count, 0u);
        scan_sums(thread);
        if block < block_count {
            counts[row + block] = carry + sums[thread].x - count;
        }
        carry += sums[DIGITS - 1u].x;
        workgroupBarrier();
    }
    if thread == 0u {
        ranges[1u + bin].count = carry;
    }
}

fn hit_range(first: u32, count: u32) -> HitRange {
    return HitRange(dispatch_folded((count + RAY_BLOCK - 1u) / RAY_BLOCK), count, first, 0u);
}

// Computes the range of each bin. One workgroup with one thread per bin.
fn hit_sort_ranges(bins: u32, thread: u32) {
    let count = select(0u, ranges[1u + thread].count, thread < bins);
    sums[thread] = vec2u(count, min(count, 1u));
    scan_sums(thread);
    ranges[1u + thread] = hit_range(sums[thread].x - count, count);
    if thread == DIGITS - 1u {
        ranges[0] = hit_range(0u, sums[thread].x);
        ranges[0].bins = sums[thread].y;
    }
}

// Scatters each hit to the next free index after `base` of its bin.
fn hit_sort_scatter_behind(block: u32, thread: u32, is_sorted: bool) {
    clear_masks(thread);
    workgroupBarrier();
    for (var round = 0u; round < SORT_ROUNDS; round++) {
        let hit = hit_sort_listed(hit_sort_ray(block, round, thread), is_sorted);
        let is_hit = hit.bin != NO_BIN;
        let at = rank_by_masks(thread, select(0u, hit.bin, is_hit), is_hit);
        if is_hit {
            hit_sort_store(at, hit.entry);
        }
    }
}

fn hit_sort_scatter(block: u32, block_count: u32, thread: u32, is_sorted: bool) {
    if block < block_count {
        atomicStore(&base[thread], ranges[1u + thread].first + counts[thread * block_count + block]);
    }
    hit_sort_scatter_behind(block, thread, is_sorted);
}
