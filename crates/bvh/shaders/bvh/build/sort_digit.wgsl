// One pass of the radix sort, eight bits at a time.

struct SortParams {
    count: u32,
    // Blocks of the first passes: SORT_BLOCK · SORT_ROUNDS pairs each, or runs of `run` pairs.
    block_count: u32,
    // Bits below the digit.
    shift: u32,
    // 1 where the values are the indices of the pairs, not written yet.
    implied_values: u32,
    run: u32,
    // Digits that one dispatch of sort_small sorts.
    digits: u32,
}

const DIGITS = 256u;

@group(0) @binding(0) var<uniform> params: SortParams;
