// State of paths between the kernels of the wavefront path tracer (path/path_generate.wgsl and its neighbours). A path
// has rows of four words, and the same row of all paths is contiguous. The importer binds `stage`.

struct PathStage {
    // Index of the surface that the paths go to.
    bounce: u32,
    // Kind of shadow ray to trace: RAY_LIGHT, RAY_ENVIRONMENT or RAY_EMITTER.
    ray: u32,
    // Capacity in paths.
    capacity: u32,
    // Number of bins that hits are sorted by. With one bin they are not sorted.
    bins: u32,
}

// Continuation ray: origin and hit distance; direction and sampling density. A path that has ended holds its number of
// surfaces and PATH_ENDED in the direction row.
const ROW_ORIGIN = 0u;
const ROW_DIRECTION = 1u;
// Throughput, and 1 if the eye sees a surface.
const ROW_THROUGHPUT = 2u;
// Radiance, and a bit mask of the surface's wanted rays, by ray number.
const ROW_RADIANCE = 3u;
// Start of the shadow rays, and 1 if the continuation ray shows a mirror image.
const ROW_DIRECT_ORIGIN = 4u;
// PathHit without its distance.
const ROW_HIT = 5u;
const ROW_LIFT = 6u;
// From PATH_DIRECT_ROW on follow two rows per shadow ray: direction and distance; light.

// Stored instead of a density if the path has ended.
const PATH_ENDED = -2.0;
// Stored instead of a hit if no ray was traced.
const PATH_NO_RAY = 0xffffffffu;
// Flag next to the ray bits. The ray to a light points below the triangle, so it must start at the smooth surface, not
// at the triangle.
const PATH_BELOW = 32u;

fn path_row(kind: u32, number: u32) -> u32 {
    return kind * stage.capacity + number;
}
