// Empty callbacks of a ray's traversal. `ray_path` replaces them by its own (inspect/ray_steps.wgsl).

// Called when a ray begins.
fn bvh_step_ray(ray: Ray) {}

// Called when the ray visits a node, with the entry distances of the node's children.
fn bvh_step_node(number: u32, node: Node, enter: vec4f, t_max: f32) {}

// Called when the ray is tested against a triangle, which it hits at `t` or misses.
fn bvh_step_triangle(leaf: u32, triangle: LeafTriangle, is_hit: bool, t: f32, t_max: f32) {}

// Called with the any-hit test's answer for the last tested triangle.
fn bvh_step_answer(is_accepted: bool) {}
