// Parameters of one pass of the radix sort, eight bits at a time.

struct SortParams {
    count: u32,
    // Blocks of SORT_BLOCK · SORT_ROUNDS pairs, or runs of `run` pairs in the serial sort.
    block_count: u32,
    // First bit of the digit.
    shift: u32,
    // 1 if the values are the pairs' indices and are not in the buffer yet.
    implied_values: u32,
    run: u32,
    // Digits that one dispatch of sort_small sorts.
    digits: u32,
}

const DIGITS = 256u;

@group(0) @binding(0) var<uniform> params: SortParams;
