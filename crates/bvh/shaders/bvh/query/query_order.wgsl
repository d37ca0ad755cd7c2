// Which query of a list a thread answers: with QUERIES_SORTED in the order of `order`, so that neighbours are side by
// side.
override QUERIES_SORTED: bool;

#array read 0 2 order: u32

// BVH_MISS for threads behind the last of `count` queries.
fn query_of_thread(thread: u32, count: u32) -> u32 {
    if !QUERIES_SORTED || thread >= count {
        return select(thread, BVH_MISS, thread >= count);
    }
    return order(thread);
}
