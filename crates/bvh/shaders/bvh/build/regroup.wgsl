// regroup: makes the keys of a further sort from the bits that the previous keys had no room for.
//
// in   values (the order so far), code_words (the codes of morton.wgsl)
// out  keys[k] for values[k]
// With wide codes, the second key is the high word with the mesh's lowest bit above it. The last key holds the
// remaining bits of the mesh index, which brings each mesh's items together again.
// One thread per item. REGROUP_MESH_SHIFT is the first bit of the mesh index that is not sorted yet.
#import "bvh/dispatch.wgsl"
#import "bvh/geometry.wgsl"

override REGROUP_MESH_SHIFT: u32;
override REGROUP_BY_CODE: bool;

#array read 0 1 values: u32
#array read 0 2 code_words: u32
#array write 0 3 keys: u32

@compute @workgroup_size(256)
fn regroup(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let k = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if k >= params.item_count {
        return;
    }
    let word = CODE_WORDS * values(k);
    let mesh = code_words(word + 2u);
    if REGROUP_BY_CODE {
        keys(k, code_words(word) | (mesh << 31u));
    } else {
        keys(k, mesh >> REGROUP_MESH_SHIFT);
    }
}
