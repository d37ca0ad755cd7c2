// Default filter on a query's objects: accepts objects whose payload has a bit of `mask`, or all if that is 0. Your own
// predicate replaces this file (accel::Predicate).

fn bvh_query_accepts(query: u32, object: LeafTriangle, mask: u32) -> bool {
    return mask == 0u || (object.payload & mask) != 0u;
}
