// Output of queries with a variable number of results. Either a first pass counts the results and keeps those that fit,
// and a second pass collects them in query order. Or a single pass appends them in any order.
//
// numbers  number of results of each query; after the prefix sum, the offset of each query's first result
// kept     results found while counting: query, index among the query's results, leaf, and the first leaf of its mesh.
//          If the buffer holds all of them, the collection moves them to their offsets. Otherwise it searches again.
// total    number of results of all queries, up to APPENDED_MAX; includes results beyond the end of the buffer
struct Kept {
    count: atomic<u32>,
    results: array<vec4u>,
}

@group(0) @binding(3) var<storage, read_write> numbers: array<u32>;
@group(0) @binding(4) var<storage, read_write> kept: Kept;

@group(0) @binding(3) var<storage, read_write> total: atomic<u32>;

// The number of threads between testing and incrementing `total` is far below the remaining range, so it cannot wrap.
const APPENDED_MAX = 0xf0000000u;

// Keeps a result. Returns false if the buffer is full. A query must not call this again after that, so that the count
// does not wrap to 0.
fn kept_add(query: u32, before: u32, leaf: u32, first: u32) -> bool {
    let at = atomicAdd(&kept.count, 1u);
    let has_room = at < arrayLength(&kept.results);
    if has_room {
        kept.results[at] = vec4u(query, before, leaf, first);
    }
    return has_room;
}

// True if all results are kept.
fn kept_is_whole() -> bool {
    return atomicLoad(&kept.count) <= arrayLength(&kept.results);
}

// Returns the offset of a query's first result.
fn counted_first(query: u32) -> u32 {
    return numbers[min(query, arrayLength(&numbers) - 1u)];
}
