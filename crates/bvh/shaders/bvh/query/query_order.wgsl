// Assignment of queries to threads. With QUERIES_SORTED, it follows `order`, so that neighbouring threads get
// neighbouring queries.
override QUERIES_SORTED: bool;

#array read 0 2 order: u32

// Returns the query of a thread, or BVH_MISS for threads after the last of `count` queries.
fn query_of_thread(thread: u32, count: u32) -> u32 {
    if !QUERIES_SORTED || thread >= count {
        return select(thread, BVH_MISS, thread >= count);
    }
    return order(thread);
}
