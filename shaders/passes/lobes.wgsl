// lobes: packs the lobes of surfaces with layers where the G-buffer shows them.
//
// in   the merged scene (group 2), one material with its layers (group 3), the G-buffer's ids (group 1)
// out  layers, glass: packed as in material/lobes.wgsl
#import "material/material_layers.wgsl"
#import "material/material_sample.wgsl"

@group(1) @binding(0) var ids_texture: texture_2d<u32>;

@fragment
fn lobes(in: Fragment, @builtin(front_facing) front: bool) -> PackedLobes {
    if textureLoad(ids_texture, vec2u(in.clip.xy), 0).r != in.triangle + 1u {
        discard;
    }
    let base_color = material_base_color(in.uv, in.color);
    let s = material_surface(in, base_color, front);
    return lobes_pack(material_lobes(s, material_layers(in, s, front, frame_to_eye(s.position))), s.normal);
}
