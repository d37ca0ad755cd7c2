// Which items a build sorts: all of them, or a list of those whose meshes have changed, ascending. The list
// also names the leaf that the item sorted to position k becomes, because each mesh keeps its leaves.
#import "bvh/geometry.wgsl"

@group(0) @binding(1) var<storage, read> items: array<u32>;

fn item(k: u32) -> u32 {
    if params.all_items != 0u {
        return k;
    }
    return items[k];
}
