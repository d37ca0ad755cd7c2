// Hits of reflection rays that are shaded by one dispatch, side by side in the sorted list. Range 0 is that of all
// hits, and range 1 + i that of bin i of materials. Entries of the list are pixels, x in the lower 16 bits.

// The entry of a ray that has hit nothing, where hits are not compacted.
const HIT_NONE = 0xffffffffu;

struct HitRange {
    // Workgroups of that dispatch.
    groups: vec3u,
    count: u32,
    // Number of the first one in the list.
    first: u32,
    // Bins that have hits; of all hits only.
    bins: u32,
}
