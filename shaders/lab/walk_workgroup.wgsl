// The stack in workgroup memory: entries of one depth side by side, so that threads use banks of their own.
#import "lab/walk_stack.wgsl"

var<workgroup> lab_stack: array<u32, LAB_WORKGROUP_WORDS>;

fn lab_push(depth: u32, reference: u32) {
    lab_stack[depth * TRACE_BLOCK + lab_thread] = reference;
}

fn lab_pop(depth: u32) -> u32 {
    return lab_stack[depth * TRACE_BLOCK + lab_thread];
}
