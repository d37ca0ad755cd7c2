// Undoes gpu::pass::dispatch: a long row of workgroups may have been folded into two dimensions.

fn dispatch_workgroup(workgroup: vec3u, workgroups: vec3u) -> u32 {
    return workgroup.x + workgroup.y * workgroups.x;
}
