// What every part of the laboratory reads and writes: group 0 of lab/trace.wgsl. What `nodes` and `links`
// hold is the walk's; `triangles` holds three rows for each triangle, as the test wants them.
#import "bvh/ray.wgsl"
#import "lab/hit.wgsl"

struct LabQuery {
    // The box of all triangles.
    lower: vec3f,
    // The ray behind the last one.
    ray_count: u32,
    upper: vec3f,
    // Where walks begin: a reference (see lab/binary.wgsl).
    root: u32,
    // Cells of a grid along each axis.
    cells: vec3u,
    first_ray: u32,
}

@group(0) @binding(0) var<uniform> query: LabQuery;
@group(0) @binding(1) var<storage, read> rays: array<Ray>;
@group(0) @binding(2) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(3) var<storage, read> links: array<u32>;
@group(0) @binding(4) var<storage, read> triangles: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> hits: array<LabHit>;
@group(0) @binding(6) var<storage, read_write> visits: array<Visits>;
@group(0) @binding(7) var<storage, read_write> next_ray: atomic<u32>;

// The thread within its workgroup, and what it has visited: nodes or cells, and triangles.
var<private> lab_thread: u32;
var<private> lab_nodes_visited: u32;
var<private> lab_triangles_visited: u32;

fn lab_miss(ray: Ray) -> LabHit {
    return LabHit(ray.t_max, 0.0, 0.0, BVH_MISS);
}

// Finite, so that no product is NaN.
fn lab_inverse(direction: vec3f) -> vec3f {
    let tiny = vec3f(1.0e-20);
    let least = select(tiny, -tiny, direction < vec3f(0.0));
    return 1.0 / select(direction, least, abs(direction) < tiny);
}

// Where the ray enters a box before `t_max`; BOX_FAR where it does not.
fn lab_enter(lower: vec3f, upper: vec3f, ray: Ray, inverse: vec3f, t_max: f32) -> f32 {
    let a = (lower - ray.origin) * inverse;
    let b = (upper - ray.origin) * inverse;
    let near = min(a, b);
    let far = max(a, b);
    let enter = max(max(near.x, near.y), max(near.z, ray.t_min));
    let leave = min(min(far.x, far.y), min(far.z, t_max)) * BVH_MARGIN;
    return select(f32(BOX_FAR), enter, enter <= leave);
}
