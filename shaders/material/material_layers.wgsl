// Layers of a bound material (group 3, after its base): their uniform and textures.
//
// A material binds each texture once, even if several layers use it. The limit is eight textures: WebGPU guarantees 16
// sampled textures per shader stage, and the base and the other bind groups use eight.
#import "material/layered_surface.wgsl"
#import "material/material.wgsl"

@group(3) @binding(11) var layer_texture_0: texture_2d<f32>;
@group(3) @binding(12) var layer_texture_1: texture_2d<f32>;
@group(3) @binding(13) var layer_texture_2: texture_2d<f32>;
@group(3) @binding(14) var layer_texture_3: texture_2d<f32>;
@group(3) @binding(15) var layer_texture_4: texture_2d<f32>;
@group(3) @binding(16) var layer_texture_5: texture_2d<f32>;
@group(3) @binding(17) var layer_texture_6: texture_2d<f32>;
@group(3) @binding(18) var layer_texture_7: texture_2d<f32>;
@group(3) @binding(19) var layer_sampler_0: sampler;
@group(3) @binding(20) var layer_sampler_1: sampler;
@group(3) @binding(21) var layer_sampler_2: sampler;
@group(3) @binding(22) var layer_sampler_3: sampler;
@group(3) @binding(23) var layer_sampler_4: sampler;
@group(3) @binding(24) var layer_sampler_5: sampler;
@group(3) @binding(25) var layer_sampler_6: sampler;
@group(3) @binding(26) var layer_sampler_7: sampler;
@group(3) @binding(27) var<uniform> sheen_table: array<vec4f, 256>;
@group(3) @binding(28) var<uniform> layered: MaterialLayers;

fn sheen_table_at(row: u32, column: u32) -> f32 {
    let at = row * SHEEN_TABLE + column;
    return sheen_table[at / 4u][at % 4u];
}

// Returns the one-based index of the layer's texture, or 0 for none. Branches depend only on this index, because
// textures are sampled in uniform control flow.
fn layer_slot(layer: u32) -> u32 {
    return layered.layer_slots[layer / 4u][layer % 4u] & 255u;
}

fn layer_uv_set(layer: u32) -> u32 {
    return layered.layer_slots[layer / 4u][layer % 4u] >> 8u;
}

// Returns the texel of the layer; white if it has no texture.
fn layer_sample(layer: u32, uv: vec4f) -> vec4f {
    let number = MATERIAL_TEXTURES + layer;
    let raw = vec3f(select(uv.xy, uv.zw, layer_uv_set(layer) == 1u), 1.0);
    let at = vec2f(
        dot(layered.layer_from_uv[2u * layer].xyz, raw),
        dot(layered.layer_from_uv[2u * layer + 1u].xyz, raw),
    );
    switch layer_slot(layer) {
        case 1u: { return material_sample(number, layer_texture_0, layer_sampler_0, at); }
        case 2u: { return material_sample(number, layer_texture_1, layer_sampler_1, at); }
        case 3u: { return material_sample(number, layer_texture_2, layer_sampler_2, at); }
        case 4u: { return material_sample(number, layer_texture_3, layer_sampler_3, at); }
        case 5u: { return material_sample(number, layer_texture_4, layer_sampler_4, at); }
        case 6u: { return material_sample(number, layer_texture_5, layer_sampler_5, at); }
        case 7u: { return material_sample(number, layer_texture_6, layer_sampler_6, at); }
        case 8u: { return material_sample(number, layer_texture_7, layer_sampler_7, at); }
        default: { return vec4f(1.0); }
    }
}
