// Undoes gpu::pass::dispatch, which may fold a long row of workgroups into two dimensions.

fn dispatch_workgroup(workgroup: vec3u, workgroups: vec3u) -> u32 {
    return workgroup.x + workgroup.y * workgroups.x;
}
