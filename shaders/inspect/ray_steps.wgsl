// Recorder of the steps of a ray through the BVH, for `ray_path`. It stores the first RAY_PATH_STEPS steps in order.
// The importer binds `path`.
#import "bvh/ray.wgsl"
#import "bvh/tree.wgsl"

struct RayStep {
    // For a node: entry distances of its children's boxes, negative where the ray misses. For a ray: its origin and
    // t_min. For a triangle: the hit distance, negative for a miss.
    values: vec4f,
    kind: u32,
    // By `kind`: node index, leaf index, or 1 if the candidate hit was accepted.
    number: u32,
    // Distance of the nearest hit so far, or of the ray's end. Anything farther away is culled.
    t_max: f32,
    // Rows of the node or of the triangle. For a ray, the first row holds its direction.
    rows: array<vec4u, 4>,
}

struct RayPathQuery {
    // The camera ray, with the fields of Ray.
    origin: vec3f,
    t_min: f32,
    direction: vec3f,
    t_max: f32,
    // G-buffer pixel that the ray goes through.
    pixel: vec2u,
    // Nonzero to trace the pixel's shadow rays instead of the camera ray.
    shadow: u32,
}

struct RayPathHead {
    // Total number of steps, of which the first RAY_PATH_STEPS are stored.
    steps: u32,
    nodes: u32,
    triangles: u32,
}

struct RayPath {
    query: RayPathQuery,
    head: RayPathHead,
    steps: array<RayStep, RAY_PATH_STEPS>,
}

var<private> ray_step_count: u32;

fn ray_step(step: RayStep) {
    if ray_step_count < RAY_PATH_STEPS {
        path.steps[ray_step_count] = step;
    }
    ray_step_count++;
}

fn ray_step_ray(ray: Ray) {
    let rows = array(tree_row(ray.direction, 0u), vec4u(0u), vec4u(0u), vec4u(0u));
    ray_step(RayStep(vec4f(ray.origin, ray.t_min), RAY_STEP_RAY, 0u, ray.t_max, rows));
}

fn ray_step_node(number: u32, node: Node, enter: vec4f, t_max: f32) {
    let rows = array(
        tree_row(node.origin, node.exponents),
        vec4u(node.lower, node.first),
        vec4u(node.upper, node.mesh),
        node.ends,
    );
    ray_step(RayStep(enter, RAY_STEP_NODE, number, t_max, rows));
}

fn ray_step_triangle(leaf: u32, triangle: LeafTriangle, is_hit: bool, t: f32, t_max: f32) {
    let rows = array(
        tree_row(triangle.v0, triangle.triangle),
        tree_row(triangle.v1, triangle.payload),
        tree_row(triangle.v2, triangle.mesh),
        vec4u(0u),
    );
    let hit = vec4f(select(-1.0, t, is_hit), 0.0, 0.0, 0.0);
    ray_step(RayStep(hit, RAY_STEP_TRIANGLE, leaf, t_max, rows));
}

fn ray_step_answer(is_accepted: bool) {
    let rows = array(vec4u(0u), vec4u(0u), vec4u(0u), vec4u(0u));
    ray_step(RayStep(vec4f(0.0), RAY_STEP_ANSWER, select(0u, 1u, is_accepted), 0.0, rows));
}
