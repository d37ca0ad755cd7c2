// Bindings of the passes over blocks, and the parts of scatter around its ranking. Pairs are reordered within the
// workgroup before they are stored, so that the pairs of a digit are written contiguously.
#import "bvh/dispatch.wgsl"
#import "bvh/build/sort_block.wgsl"

#array read 0 1 keys_in: u32
#array read 0 2 values_in: u32
#array write 0 3 keys_out: u32
#array write 0 4 values_out: u32
@group(0) @binding(5) var<storage, read_write> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> totals: array<u32>;

// Number of pairs staged in workgroup memory at a time: keys, then values, in the memory of the masks.
const STAGED = DIGITS * MASK_WORDS / 2u;

// For each digit, the offset from a pair's position in the sorted block to its destination.
var<workgroup> shift: array<u32, DIGITS>;

// Pairs of this thread, one per round. All loads are issued before the first barrier.
var<private> keys: array<u32, SORT_ROUNDS>;
var<private> values: array<u32, SORT_ROUNDS>;
// Sorted position of each pair within the block.
var<private> places: array<u32, SORT_ROUNDS>;

fn block_index(block: u32, round: u32, thread: u32) -> u32 {
    return (block * SORT_ROUNDS + round) * SORT_BLOCK + thread;
}

fn digit_of(key: u32) -> u32 {
    return (key >> params.shift) & (DIGITS - 1u);
}

// Loads all values at once. If they were loaded per staging step, each memory sector would be read several times.
fn load_values(block: u32, thread: u32) {
    for (var round = 0u; round < SORT_ROUNDS; round++) {
        let i = block_index(block, round, thread);
        values[round] = i;
        if params.implied_values == 0u && i < params.count {
            values[round] = values_in(i);
        }
    }
}

fn load_keys(block: u32, thread: u32) {
    for (var round = 0u; round < SORT_ROUNDS; round++) {
        keys[round] = 0u;
        let i = block_index(block, round, thread);
        if i < params.count {
            keys[round] = keys_in(i);
        }
    }
}

// Loads the keys. Sets `base` to the first index of each digit's pairs in the sorted block, and `shift` to the offset
// from there to their destination. The masks are zero afterwards.
fn scatter_begin(block: u32, thread: u32) {
    load_keys(block, thread);
    let total = totals[thread];
    var before = 0u;
    var here = 0u;
    if block < params.block_count {
        // A row holds exclusive sums, so the difference to the next entry, or to the row's total, is this block's
        // count.
        let at = thread * params.block_count + block;
        before = counts[at];
        here = total - before;
        if block + 1u < params.block_count {
            here = counts[at + 1u] - before;
        }
    }
    sums[thread] = vec2u(total, here);
    clear_masks(thread);
    scan_sums(thread);
    let first = sums[thread] - vec2u(total, here);
    atomicStore(&base[thread], first.y);
    shift[thread] = first.x + before - first.y;
    workgroupBarrier();
}

fn rank_rounds_by_masks(block: u32, thread: u32) {
    for (var round = 0u; round < SORT_ROUNDS; round++) {
        let present = block_index(block, round, thread) < params.count;
        places[round] = rank_by_masks(thread, digit_of(keys[round]), present);
    }
}

// Stores the block's pairs at their ranks.
fn scatter_end(block: u32, thread: u32) {
    let first = block * SORT_ROUNDS * SORT_BLOCK;
    let present = min(params.count, first + SORT_ROUNDS * SORT_BLOCK) - min(params.count, first);
    load_values(block, thread);
    for (var staged = 0u; staged < SORT_ROUNDS * SORT_BLOCK; staged += STAGED) {
        for (var round = 0u; round < SORT_ROUNDS; round++) {
            let i = block_index(block, round, thread);
            let place = places[round] - staged;
            if i < params.count && place < STAGED {
                atomicStore(&masks[place], keys[round]);
                atomicStore(&masks[STAGED + place], values[round]);
            }
        }
        workgroupBarrier();
        for (var place = thread; place < STAGED; place += SORT_BLOCK) {
            if staged + place < present {
                let key = atomicLoad(&masks[place]);
                let to = staged + place + shift[digit_of(key)];
                keys_out(to, key);
                values_out(to, atomicLoad(&masks[STAGED + place]));
            }
        }
        workgroupBarrier();
    }
}
