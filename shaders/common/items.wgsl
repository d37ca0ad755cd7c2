// Which items a build sorts: all of them, or a list of those whose meshes have changed, ascending. The list also says at which place the
// item that was sorted to position k comes to lie, because each mesh keeps its places.
#import "common/geometry.wgsl"

@group(0) @binding(4) var<storage, read> items: array<u32>;

fn item(k: u32) -> u32 {
    if params.all_items != 0u {
        return k;
    }
    return items[k];
}
