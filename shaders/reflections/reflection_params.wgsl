// What all passes of a bounce of reflections know.

struct ReflectionParams {
    // Number of the bounce, from 0 on.
    bounce: u32,
    // Added to SAMPLE_REFLECTIONS and SAMPLE_LOBES.
    dimension: u32,
    // Most rays of a batch.
    batch: u32,
    // The part of a lobe's width that what a ray finds is blurred by.
    blur: f32,
    // Whether no bounce follows.
    is_last: u32,
    // Which pixels are listed: those that send a ray, all of tiles where any does, or all.
    listing: u32,
    // How hits are listed: one of the constants below.
    order: u32,
    // Bins of materials.
    bins: u32,
}

const LIST_TILES = 1u;
const LIST_ALL = 2u;

// By the bin of the material.
const ORDER_MATERIAL = 0u;
// The same, of each workgroup's hits.
const ORDER_WORKGROUP = 1u;
// As their rays are listed.
const ORDER_RAY = 2u;
// As their rays are listed, with the entries of those that hit nothing.
const ORDER_OFF = 3u;
