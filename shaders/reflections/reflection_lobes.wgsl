// reflection_lobes: packs the lobes of hits whose material has layers.
//
// in   the list of hits, sorted by material bins, and the range of one bin; the hits; the merged scene (group 2), a
//      material with its layers (group 3)
// out  layers, glass: packed as in material/lobes.wgsl
// One thread per hit of the range.
#import "bvh/dispatch.wgsl"
#import "reflections/hit_layers.wgsl"

@group(1) @binding(4) var layers_out: texture_storage_2d<rgba32uint, write>;
@group(1) @binding(5) var glass_out: texture_storage_2d<rg32uint, write>;

@compute @workgroup_size(RAY_BLOCK)
fn reflection_lobes(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let listed = listed_hit(RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread);
    if !listed_hit_is_shaded(listed) {
        return;
    }
    let hit = layered_hit(listed);
    let packed = lobes_pack(layer_lobes(hit.surface, hit.layers), hit.surface.normal);
    textureStore(layers_out, listed.pixel, packed.layers);
    textureStore(glass_out, listed.pixel, vec4u(packed.glass, 0u, 0u));
}
