// Bound materials (group 3), and the vertex shader that the G-buffer, the layered and the blended surfaces share.
//
// Vertices are pulled from the merged buffers, three per triangle, so that each fragment knows its triangle on every
// adapter. passes/gbuffer_indexed.wgsl draws indexed where the primitive index is available.
//
// The importer defines `material_sample(number: u32, texels: texture_2d<f32>, how: sampler, at: vec2f) -> vec4f`.
// `number` is the index of the texture's transform. For textures of layers, MATERIAL_TEXTURES is added.
// material/material_sample.wgsl defines it for fragments.
#import "material/material_surface.wgsl"

@group(3) @binding(0) var<uniform> material: Material;
@group(3) @binding(1) var base_color_texture: texture_2d<f32>;
@group(3) @binding(2) var metallic_roughness_texture: texture_2d<f32>;
@group(3) @binding(3) var normal_texture: texture_2d<f32>;
@group(3) @binding(4) var occlusion_texture: texture_2d<f32>;
@group(3) @binding(5) var emissive_texture: texture_2d<f32>;
@group(3) @binding(6) var base_color_sampler: sampler;
@group(3) @binding(7) var metallic_roughness_sampler: sampler;
@group(3) @binding(8) var normal_sampler: sampler;
@group(3) @binding(9) var occlusion_sampler: sampler;
@group(3) @binding(10) var emissive_sampler: sampler;

@vertex
fn merged_vertex(@builtin(vertex_index) corner: u32) -> Fragment {
    return merged_fragment(indices(corner), corner / 3u);
}

fn material_uv(texture: u32, uv: vec4f) -> vec2f {
    let raw = vec3f(select(uv.xy, uv.zw, material_uv_set(texture) == 2u), 1.0);
    return vec2f(
        dot(material.texture_from_uv[2u * texture].xyz, raw),
        dot(material.texture_from_uv[2u * texture + 1u].xyz, raw),
    );
}

// Samples the base colour. Every texture is bound, with a white one as placeholder, so that sampling needs no branch
// and stays in uniform control flow.
fn base_color_texel(uv: vec4f) -> vec4f {
    return material_sample(0u, base_color_texture, base_color_sampler, material_uv(0u, uv));
}

fn metallic_roughness_texel(uv: vec4f) -> vec4f {
    return material_sample(1u, metallic_roughness_texture, metallic_roughness_sampler, material_uv(1u, uv));
}

fn normal_texel(uv: vec4f) -> vec4f {
    return material_sample(2u, normal_texture, normal_sampler, material_uv(2u, uv));
}

fn occlusion_texel(uv: vec4f) -> vec4f {
    return material_sample(3u, occlusion_texture, occlusion_sampler, material_uv(3u, uv));
}

fn emissive_texel(uv: vec4f) -> vec4f {
    return material_sample(4u, emissive_texture, emissive_sampler, material_uv(4u, uv));
}
