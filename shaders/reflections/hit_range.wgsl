// Range of hits that one dispatch shades, contiguous in the sorted list. Range 0 holds all hits, and range 1 + i the
// hits of material bin i. Entries of the list are pixels, with x in the lower 16 bits.

// Entry of a ray that missed, if hits are not compacted.
const HIT_NONE = 0xffffffffu;

struct HitRange {
    // Workgroup counts of the dispatch.
    groups: vec3u,
    count: u32,
    // Index of the first entry in the list.
    first: u32,
    // Number of bins that have hits. Only set for range 0.
    bins: u32,
}
