// Paths between the kernels that follow them (path/path_generate.wgsl and its neighbours): rows of four words, each
// kind of row for all paths side by side. The importer binds `stage`.

struct PathStage {
    // Number of the surface that paths go to.
    bounce: u32,
    // Which rays are traced that ask for light: RAY_LIGHT, RAY_ENVIRONMENT or RAY_EMITTER.
    ray: u32,
    // Paths that there is room for.
    capacity: u32,
    // Bins that hits are sorted by; with one they are not sorted.
    bins: u32,
}

// The ray on which a path goes on: origin, and how far the hit is; direction, and the density of having been sent. Of a
// path that has ended, the number of surfaces, and PATH_ENDED.
const ROW_ORIGIN = 0u;
const ROW_DIRECTION = 1u;
// And whether the eye sees a surface.
const ROW_THROUGHPUT = 2u;
// And a bit for each ray of a surface that is wanted, by its number.
const ROW_RADIANCE = 3u;
// And 1 where the ray on which the path goes on shows an image.
const ROW_ASKED_FROM = 4u;
// PathHit without its distance.
const ROW_HIT = 5u;
const ROW_LIFT = 6u;
// From PATH_ASKED_ROW on two rows for each ray that asks for light: direction and distance; light.

// Instead of a density: the path has ended.
const PATH_ENDED = -2.0;
// Instead of what a ray has hit: there was none.
const PATH_NO_RAY = 0xffffffffu;
// Beside the bits of rays: a ray to a light that starts at the smooth surface could not start from the triangle.
const PATH_BELOW = 32u;

fn path_row(kind: u32, number: u32) -> u32 {
    return kind * stage.capacity + number;
}
