// The steps of a ray through the tree, as `ray_path` keeps them: each in its order, as many as there is room for. The
// importer binds `path`.
#import "bvh/ray.wgsl"
#import "bvh/tree.wgsl"

struct RayStep {
    // Of a node where its children's boxes are entered, negative where they are missed. Of a ray its origin and, of a
    // triangle, the hit: its distance, negative where it is missed.
    values: vec4f,
    kind: u32,
    // Number of the node; leaf of the triangle; 1 where a hit was accepted.
    number: u32,
    // What is farther away is not looked at: the nearest hit so far.
    t_max: f32,
    // The node's rows, or the triangle's, or in the first of them the ray's direction.
    rows: array<vec4u, 4>,
}

struct RayPathQuery {
    // The camera's ray, as a Ray.
    origin: vec3f,
    t_min: f32,
    direction: vec3f,
    t_max: f32,
    // The pixel of the G-buffer that it goes through.
    pixel: vec2u,
    // Whether the pixel's shadow rays are traced instead.
    shadow: u32,
}

struct RayPathHead {
    // Steps there were, of which the first are kept.
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
