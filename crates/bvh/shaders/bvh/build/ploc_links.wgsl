// Data that the kernels of bvh/build/ploc.wgsl pass to each other. A slot is a position, or, after all positions, a
// cluster that a level passes on.
//
// scratch    [params.link_word + 2·slot …]   target of a position or cluster: the slot of its cluster on the next level
//                                           and the number of leaves before it there; or PLOC_DONE and a leaf
//            [params.count_word + 2·slot …]  leaf count of the binary node with that slot, with PLOC_RIGHT if it is a
//                                           right child, written by its parent; then the leaf count of its left child
//            after those                     number of clusters that each chunk passed on, level by level
// ploc_rows  [2·slot …]                      binary node: its box, and in the fourth words the slots of its children,
//                                           or the position of a child that is a leaf
//            after those                     clusters between levels, PLOC_ROWS rows each
//
// A binary node's slot is the position of the first leaf of its right child. This is unique, as in any binary tree over
// a sequence of leaves. PLOC_NONE in count_word marks a slot without a node, at the first leaf of a mesh.
#import "bvh/sorted.wgsl"

const PLOC_DONE = 0xffffffffu;
const PLOC_NONE = 0xffffffffu;
const PLOC_RIGHT = 0x80000000u;

// Returns the leaf at a position, after ploc_leaves has run.
fn ploc_leaf(position: u32) -> u32 {
    return scratch[params.link_word + 2u * position + 1u];
}

fn ploc_link(slot: u32, target_slot: u32, offset: u32) {
    let word = params.link_word + 2u * slot;
    scratch[word] = target_slot;
    scratch[word + 1u] = offset;
}
