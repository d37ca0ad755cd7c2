// What the kernels of bvh/build/ploc.wgsl hand to each other. Positions, and behind them the clusters that a level leaves
// to the next, are numbered as slots.
//
// scratch    [params.link_word + 2·slot …]   where a position or cluster went: the slot of the cluster of the next
//                                           level and the leaves before it there; or PLOC_DONE and a leaf
//            [params.count_word + 2·slot …]  of the binary node with that slot: its leaves, with PLOC_RIGHT if it is
//                                           a right child, which its parent writes; and those of its left child
//            behind those                    how many clusters each chunk left, level by level
// ploc_rows  [2·slot …]                      a binary node: its box, and in the fourth words the slots of its
//                                           children: of a leaf its position
//            behind those                    clusters between levels, PLOC_ROWS rows each
//
// A binary node's slot is the position of the first leaf of its right child. That is unique to it, as it is in any
// binary tree over leaves in a row. PLOC_NONE in count_word says that there is none: at the first leaf of a mesh.
#import "bvh/sorted.wgsl"

const PLOC_DONE = 0xffffffffu;
const PLOC_NONE = 0xffffffffu;
const PLOC_RIGHT = 0x80000000u;

// The leaf that a position became, after ploc_leaves.
fn ploc_leaf(position: u32) -> u32 {
    return scratch[params.link_word + 2u * position + 1u];
}

fn ploc_link(slot: u32, target_slot: u32, offset: u32) {
    let word = params.link_word + 2u * slot;
    scratch[word] = target_slot;
    scratch[word + 1u] = offset;
}
