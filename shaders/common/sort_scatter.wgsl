// The bindings of the passes over blocks, and what scatter does around its ranking.
#import "common/dispatch.wgsl"
#import "common/sort_block.wgsl"

#array read 0 1 keys_in: u32
#array read 0 2 values_in: u32
#array write 0 3 keys_out: u32
#array write 0 4 values_out: u32
@group(0) @binding(5) var<storage, read_write> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> totals: array<u32>;

// Where each digit's pairs of this block go.
fn scatter_begin(block: u32, thread: u32) {
    sums[thread] = totals[thread];
    clear_masks(thread);
    scan_sums(thread);
    if block < params.block_count {
        base[thread] = sums[thread] - totals[thread] + counts[thread * params.block_count + block];
    }
    workgroupBarrier();
}

fn scatter_pair(i: u32, key: u32, rank: u32) {
    keys_out(rank, key);
    var value = i;
    if params.implied_values == 0u {
        value = values_in(i);
    }
    values_out(rank, value);
}
