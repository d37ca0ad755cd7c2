// Workgroup functions of the parallel sort: counting, scanning, and ranking by a ballot in workgroup memory, which
// depends on no subgroup size.
#import "bvh/build/sort_digit.wgsl"

const MASK_WORDS = SORT_BLOCK / 32u;

var<workgroup> tally: array<atomic<u32>, DIGITS>;
// Two sums are computed at once, because barriers dominate the cost.
var<workgroup> sums: array<vec2u, DIGITS>;
// Destination of each digit's next pair.
var<workgroup> base: array<atomic<u32>, DIGITS>;
// Ballot masks: for each digit, one bit per thread of the round. The words of all digits are interleaved, so that
// digits lie in different banks.
var<workgroup> masks: array<atomic<u32>, DIGITS * MASK_WORDS>;

// Computes the inclusive prefix sums of `sums` (Hillis and Steele). Begins and ends with a barrier.
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

fn clear_masks(thread: u32) {
    for (var word = 0u; word < MASK_WORDS; word++) {
        atomicStore(&masks[word * DIGITS + thread], 0u);
    }
}

// Returns the destination of this thread's pair: the digit's base, plus the number of lower threads with the same
// digit. Then advances the base. The masks must be zero before, and are zero afterwards. Takes three barriers.
fn rank_by_masks(thread: u32, digit: u32, present: bool) -> u32 {
    let word = thread / 32u;
    let bit = 1u << (thread % 32u);
    if present {
        atomicOr(&masks[word * DIGITS + digit], bit);
    }
    workgroupBarrier();
    var below = 0u;
    var total = 0u;
    var rank = 0u;
    if present {
        for (var w = 0u; w < MASK_WORDS; w++) {
            let mask = atomicLoad(&masks[w * DIGITS + digit]);
            total += countOneBits(mask);
            below += countOneBits(select(select(0u, mask & (bit - 1u), w == word), mask, w < word));
        }
        rank = atomicLoad(&base[digit]) + below;
    }
    workgroupBarrier();
    if present {
        if below == 0u {
            atomicAdd(&base[digit], total);
        }
        atomicStore(&masks[word * DIGITS + digit], 0u);
    }
    workgroupBarrier();
    return rank;
}
