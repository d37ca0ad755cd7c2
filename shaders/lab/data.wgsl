// Bindings shared by all parts of the laboratory: group 0 of lab/trace.wgsl. The walk defines the content of `nodes`
// and `links`. `triangles` holds three rows per triangle in the layout of the triangle test.
#import "bvh/ray.wgsl"
#import "lab/hit.wgsl"

struct LabQuery {
    // Bounds of all triangles.
    lower: vec3f,
    // Index after the last ray.
    ray_count: u32,
    upper: vec3f,
    // Reference at which walks begin (see lab/reference.wgsl).
    root: u32,
    // Number of cells of a grid along each axis.
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

// Index of the thread in its workgroup, and its counts of visited nodes or cells and of triangles.
var<private> lab_thread: u32;
var<private> lab_nodes_visited: u32;
var<private> lab_triangles_visited: u32;

fn lab_miss(ray: Ray) -> LabHit {
    return LabHit(ray.t_max, 0.0, 0.0, BVH_MISS);
}

// Returns the inverse of the direction, kept finite so that no product is NaN.
fn lab_inverse(direction: vec3f) -> vec3f {
    let tiny = vec3f(1.0e-20);
    let least = select(tiny, -tiny, direction < vec3f(0.0));
    return 1.0 / select(direction, least, abs(direction) < tiny);
}

// Returns the distance at which the ray enters a box before `t_max`; EMPTY_BOX_EXTENT for a miss.
fn lab_enter(lower: vec3f, upper: vec3f, ray: Ray, inverse: vec3f, t_max: f32) -> f32 {
    let a = (lower - ray.origin) * inverse;
    let b = (upper - ray.origin) * inverse;
    let near = min(a, b);
    let far = max(a, b);
    let enter = max(max(near.x, near.y), max(near.z, ray.t_min));
    let leave = min(min(far.x, far.y), min(far.z, t_max)) * BVH_MARGIN;
    return select(f32(EMPTY_BOX_EXTENT), enter, enter <= leave);
}
