// Replacement of bvh/ray_stack.wgsl by private memory, for fragment shaders, which have no workgroup memory, and for
// devices with `gpu.ray_stack = "private"`. On RDNA, Mesa keeps it in registers.

const RAY_STACK_STEP = 1u;
const ray_stack_bottom = 0u;

var<private> ray_stack: array<u32, RAY_STACK_SIZE>;

fn bvh_ray_begin(thread: u32) {}
