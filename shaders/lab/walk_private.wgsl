// Traversal stack in the thread's private memory (Aila and Laine 2009).
#import "lab/walk_stack.wgsl"

var<private> lab_stack: array<u32, LAB_STACK>;

fn lab_push(depth: u32, reference: u32) {
    lab_stack[depth] = reference;
}

fn lab_pop(depth: u32) -> u32 {
    return lab_stack[depth];
}
