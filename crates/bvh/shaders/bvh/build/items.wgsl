// Items of a build: all items, or an ascending list of the items whose meshes have changed. The list also gives the
// leaf at sorted position k, because each mesh keeps its leaf range.
#import "bvh/geometry.wgsl"

@group(0) @binding(1) var<storage, read> items: array<u32>;

fn item(k: u32) -> u32 {
    if params.all_items != 0u {
        return k;
    }
    return items[k];
}
