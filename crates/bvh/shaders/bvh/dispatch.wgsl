// Inverse of the folding in gpu::pass::dispatch, which may fold a long row of workgroups into two dimensions.

fn dispatch_workgroup(workgroup: vec3u, workgroups: vec3u) -> u32 {
    return workgroup.x + workgroup.y * workgroups.x;
}

// Returns the workgroups per axis of an indirect dispatch, folded in the same way.
fn dispatch_folded(groups: u32) -> vec3u {
    let rows = max((groups + 65534u) / 65535u, 1u);
    return vec3u((groups + rows - 1u) / rows, rows, 1u);
}
