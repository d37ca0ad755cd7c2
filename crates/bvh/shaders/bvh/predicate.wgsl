// Which objects a query accepts: those whose payload has a bit of `mask`, or all where that is 0. A caller's own
// predicate stands in place of this file (accel::Predicate).

fn bvh_query_accepts(query: u32, object: LeafTriangle, mask: u32) -> bool {
    return mask == 0u || (object.payload & mask) != 0u;
}
