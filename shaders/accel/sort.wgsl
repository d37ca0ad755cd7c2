// sort: one pass of a stable least-significant-digit radix sort of key-value pairs, eight bits at a time (reduce, then scan: no
// workgroup waits for another, and every meeting of workgroups has a dispatch boundary between).
//
// histogram   in keys_in             out counts[digit × block_count + block]: how often the block holds the digit
// scan        in counts              out counts: exclusive sums along each digit's row; totals[digit]: the row's sum
// scatter     in keys_in, values_in, counts, totals   out keys_out, values_out in the order of the digit, equal digits in input order
//
// A block is SORT_BLOCK threads × SORT_ROUNDS rounds of pairs. scan has one workgroup per digit; up to SORT_SERIAL_BLOCKS blocks it has one
// workgroup in all, with a thread per digit.
// scatter ranks the pairs of a round by a ballot in shared memory: each thread sets its bit in the mask of its digit, and counts the bits
// below its own. Nothing here depends on the subgroup size.
#import "common/dispatch.wgsl"

struct SortParams {
    count: u32,
    block_count: u32,
    // Of the digit, in bits.
    shift: u32,
}

const DIGITS = 256u;
const MASK_WORDS = SORT_BLOCK / 32u;

@group(0) @binding(0) var<uniform> params: SortParams;
@group(0) @binding(1) var<storage, read> keys_in: array<u32>;
@group(0) @binding(2) var<storage, read> values_in: array<u32>;
@group(0) @binding(3) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(4) var<storage, read_write> values_out: array<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> totals: array<u32>;

var<workgroup> tally: array<atomic<u32>, DIGITS>;
var<workgroup> sums: array<u32, DIGITS>;
var<workgroup> base: array<u32, DIGITS>;
var<workgroup> masks: array<atomic<u32>, DIGITS * MASK_WORDS>;

@compute @workgroup_size(SORT_BLOCK)
fn histogram(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u, @builtin(local_invocation_index) thread: u32) {
    let block = dispatch_workgroup(workgroup, workgroups);
    atomicStore(&tally[thread], 0u);
    workgroupBarrier();
    for (var round = 0u; round < SORT_ROUNDS; round++) {
        let i = (block * SORT_ROUNDS + round) * SORT_BLOCK + thread;
        if i < params.count {
            atomicAdd(&tally[(keys_in[i] >> params.shift) & 255u], 1u);
        }
    }
    workgroupBarrier();
    if block < params.block_count {
        counts[thread * params.block_count + block] = atomicLoad(&tally[thread]);
    }
}

// Inclusive sums of `sums`, by Hillis and Steele. Ends with a barrier.
fn scan_sums(thread: u32) {
    for (var step = 1u; step < DIGITS; step <<= 1u) {
        workgroupBarrier();
        var sum = sums[thread];
        if thread >= step {
            sum += sums[thread - step];
        }
        workgroupBarrier();
        sums[thread] = sum;
    }
    workgroupBarrier();
}

@compute @workgroup_size(SORT_BLOCK)
fn scan(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    if params.block_count <= SORT_SERIAL_BLOCKS {
        var sum = 0u;
        for (var block = 0u; block < params.block_count; block++) {
            let at = thread * params.block_count + block;
            let count = counts[at];
            counts[at] = sum;
            sum += count;
        }
        totals[thread] = sum;
        return;
    }
    let row = workgroup.x * params.block_count;
    var carry = 0u;
    for (var first = 0u; first < params.block_count; first += SORT_BLOCK) {
        let block = first + thread;
        var count = 0u;
        if block < params.block_count {
            count = counts[row + block];
        }
        sums[thread] = count;
        scan_sums(thread);
        if block < params.block_count {
            counts[row + block] = carry + sums[thread] - count;
        }
        carry += sums[DIGITS - 1u];
        workgroupBarrier();
    }
    if thread == 0u {
        totals[workgroup.x] = carry;
    }
}

@compute @workgroup_size(SORT_BLOCK)
fn scatter(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u, @builtin(local_invocation_index) thread: u32) {
    let block = dispatch_workgroup(workgroup, workgroups);
    sums[thread] = totals[thread];
    for (var word = 0u; word < MASK_WORDS; word++) {
        atomicStore(&masks[thread * MASK_WORDS + word], 0u);
    }
    scan_sums(thread);
    if block < params.block_count {
        base[thread] = sums[thread] - totals[thread] + counts[thread * params.block_count + block];
    }
    workgroupBarrier();

    let word = thread / 32u;
    let bit = 1u << (thread % 32u);
    for (var round = 0u; round < SORT_ROUNDS; round++) {
        let i = (block * SORT_ROUNDS + round) * SORT_BLOCK + thread;
        let present = i < params.count;
        var key = 0u;
        var digit = 0u;
        if present {
            key = keys_in[i];
            digit = (key >> params.shift) & 255u;
            atomicOr(&masks[digit * MASK_WORDS + word], bit);
        }
        workgroupBarrier();
        var below = 0u;
        var total = 0u;
        if present {
            for (var w = 0u; w < MASK_WORDS; w++) {
                let mask = atomicLoad(&masks[digit * MASK_WORDS + w]);
                total += countOneBits(mask);
                below += countOneBits(select(select(0u, mask & (bit - 1u), w == word), mask, w < word));
            }
            let place = base[digit] + below;
            keys_out[place] = key;
            values_out[place] = values_in[i];
        }
        workgroupBarrier();
        if present {
            if below == 0u {
                base[digit] += total;
            }
            atomicStore(&masks[digit * MASK_WORDS + word], 0u);
        }
        workgroupBarrier();
    }
}
