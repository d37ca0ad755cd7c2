// Parameters shared by all passes of a reflection bounce.

struct ReflectionParams {
    // Number of the bounce, from 0.
    bounce: u32,
    // Offset of the sampling dimensions SAMPLE_REFLECTIONS and SAMPLE_LOBES for this bounce.
    dimension: u32,
    // Greatest number of rays in a batch.
    batch: u32,
    // Blur of a ray's hit, as a fraction of the lobe's width.
    blur: f32,
    // Nonzero for the last bounce.
    is_last: u32,
    // Pixels to list: pixels that cast a ray, all pixels of tiles that cast any, or all pixels.
    listing: u32,
    // Order of the hits: one of the ORDER_… constants below.
    order: u32,
    // Number of material bins.
    bins: u32,
}

const LIST_TILES = 1u;
const LIST_ALL = 2u;

// Sorted by the bin of the material.
const ORDER_MATERIAL = 0u;
// Sorted by the bin of the material, within each workgroup.
const ORDER_WORKGROUP = 1u;
// In the order of the ray list.
const ORDER_RAY = 2u;
// In the order of the ray list, including entries of misses.
const ORDER_OFF = 3u;
