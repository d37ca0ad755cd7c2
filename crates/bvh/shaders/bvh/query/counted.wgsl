// Queries with any number of results each: counted, and kept in passing, then collected; or appended in one go.
//
// numbers  how many results each query has; once they are summed up, where those of each begin
// kept     what was found while counting: query, how many the query had found before, leaf, and the first leaf of its
//          mesh. Where all of it found room, the collection puts it in place, and searches again otherwise.
// total    how many results were appended, or found no more room, of all queries: up to APPENDED_MOST
struct Kept {
    count: atomic<u32>,
    results: array<vec4u>,
}

@group(0) @binding(3) var<storage, read_write> numbers: array<u32>;
@group(0) @binding(4) var<storage, read_write> kept: Kept;

@group(0) @binding(3) var<storage, read_write> total: atomic<u32>;

// Threads between the test of `total` and its count are far fewer than what is left above.
const APPENDED_MOST = 0xf0000000u;

// Keeps a result. Returns whether there was room: a query that finds none does not ask again, so the count of what
// is kept does not come round to 0.
fn kept_add(query: u32, before: u32, leaf: u32, first: u32) -> bool {
    let at = atomicAdd(&kept.count, 1u);
    let has_room = at < arrayLength(&kept.results);
    if has_room {
        kept.results[at] = vec4u(query, before, leaf, first);
    }
    return has_room;
}

// Whether all results are kept.
fn kept_is_whole() -> bool {
    return atomicLoad(&kept.count) <= arrayLength(&kept.results);
}

// Where the results of a query begin.
fn counted_first(query: u32) -> u32 {
    return numbers[min(query, arrayLength(&numbers) - 1u)];
}
