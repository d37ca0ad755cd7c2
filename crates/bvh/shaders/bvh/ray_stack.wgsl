// Stack of references for rays on GPUs (bvh/bvh_rays.wgsl), in workgroup memory: most GPUs keep private arrays that are
// indexed dynamically in scratch memory. Workgroups have BVH_RAY_THREADS threads. `gpu.ray_stack` chooses the stack in
// private memory instead (bvh/software/ray_stack.wgsl).

// Distance between the entries of one thread.
const RAY_STACK_STEP = BVH_RAY_THREADS;

var<workgroup> ray_stack: array<u32, BVH_RAY_THREADS * RAY_STACK_SIZE>;
// First entry of this thread.
var<private> ray_stack_bottom: u32;

// Sets the index of this thread in its workgroup, whose part of the stack its rays use.
fn bvh_ray_begin(thread: u32) {
    ray_stack_bottom = thread;
}
