// What a ray tells of its way through the tree: nothing. `ray_path` has functions of its own in place of these
// (inspect/ray_steps.wgsl).

// A ray begins.
fn bvh_step_ray(ray: Ray) {}

// It visits a node, and enters its children at these distances.
fn bvh_step_node(number: u32, node: Node, enter: vec4f, t_max: f32) {}

// It is tested against a triangle, which it hits at `t` or misses.
fn bvh_step_triangle(leaf: u32, triangle: LeafTriangle, is_hit: bool, t: f32, t_max: f32) {}

// The any-hit test has answered for the triangle that was tested last.
fn bvh_step_answer(is_accepted: bool) {}
