// Traversal stack in workgroup memory. Entries of one depth are contiguous, so that threads use different banks.
#import "lab/walk_stack.wgsl"

var<workgroup> lab_stack: array<u32, LAB_WORKGROUP_WORDS>;

fn lab_push(depth: u32, reference: u32) {
    lab_stack[depth * TRACE_BLOCK + lab_thread] = reference;
}

fn lab_pop(depth: u32) -> u32 {
    return lab_stack[depth * TRACE_BLOCK + lab_thread];
}
