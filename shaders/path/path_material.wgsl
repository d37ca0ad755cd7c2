// Materials of the path tracer, read from its table (path/path_table.wgsl). This defines the texture functions of
// material/material_surface.wgsl and material/layers.wgsl with texels of mip level 0. The importer binds `table` and
// `params`.
#import "material/alpha.wgsl"
#import "frame/display.wgsl"
#import "material/layered_surface.wgsl"
#import "path/path_table.wgsl"

// Material that the path has hit.
var<private> material: Material;
var<private> layered: MaterialLayers;
var<private> texels: array<vec4f, PATH_TEXTURES>;
var<private> texture_bits: u32;

const NO_LAYERS = 0xffffffffu;
// False in kernels for scenes whose materials have no layers.
override HAS_LAYERS: bool = true;

fn table_float(word: u32) -> f32 {
    return bitcast<f32>(table[word]);
}

fn table_vec3(word: u32) -> vec3f {
    return vec3f(table_float(word), table_float(word + 1u), table_float(word + 2u));
}

fn sheen_table_at(row: u32, column: u32) -> f32 {
    return table_float(params.sheen_word + row * SHEEN_TABLE + column);
}

fn base_color_texel(uv: vec4f) -> vec4f {
    return texels[0];
}

fn metallic_roughness_texel(uv: vec4f) -> vec4f {
    return texels[1];
}

fn normal_texel(uv: vec4f) -> vec4f {
    return texels[2];
}

fn occlusion_texel(uv: vec4f) -> vec4f {
    return texels[3];
}

fn emissive_texel(uv: vec4f) -> vec4f {
    return texels[4];
}

fn layer_slot(layer: u32) -> u32 {
    if !HAS_LAYERS {
        return 0u;
    }
    return (texture_bits >> (MATERIAL_TEXTURES + layer)) & 1u;
}

fn layer_sample(layer: u32, uv: vec4f) -> vec4f {
    if !HAS_LAYERS {
        return vec4f(1.0);
    }
    return texels[MATERIAL_TEXTURES + layer];
}

struct PathTexture {
    first: u32,
    size: vec2i,
    flags: u32,
}

fn path_texel(t: PathTexture, at: vec2i) -> vec4f {
    let x = alpha_wrap(at.x, t.size.x, t.flags & 3u);
    let y = alpha_wrap(at.y, t.size.y, (t.flags >> 2u) & 3u);
    let stored = unpack4x8unorm(table[t.first + u32(y * t.size.x + x)]);
    return select(stored, vec4f(srgb_decode(stored.rgb), stored.a), (t.flags & PATH_TEXEL_SRGB) != 0u);
}

// Samples a texture of a material at mip level 0. `record` is the word of its entry in the material's header, and
// `rows` the word of the transform of its UV coordinates.
fn path_sample(record: u32, rows: u32, uv: vec4f) -> vec4f {
    let t = PathTexture(
        table[record],
        vec2i(vec2u(table[record + 1u], table[record + 2u])),
        table[record + 3u],
    );
    let raw = vec3f(select(uv.xy, uv.zw, (t.flags & PATH_TEXEL_SECOND) != 0u), 1.0);
    let at = vec2f(dot(table_vec3(rows), raw), dot(table_vec3(rows + 4u), raw));
    // The same clamp as in material/alpha.wgsl.
    let texel = clamp(at * vec2f(t.size), vec2f(-1.0e9), vec2f(1.0e9));
    let is_linear = (t.flags & ALPHA_LINEAR) != 0u;
    let corner = floor(select(texel, texel - 0.5, is_linear));
    let weight = select(vec2f(0.0), texel - 0.5 - corner, is_linear);
    let c = vec2i(corner);
    var sum = vec4f(0.0);
    for (var i = 0u; i < 4u; i++) {
        let step = vec2u(i & 1u, i >> 1u);
        let shares = select(1.0 - weight, weight, step == vec2u(1u));
        let share = shares.x * shares.y;
        if share > 0.0 {
            sum += share * path_texel(t, c + vec2i(step));
        }
    }
    return sum;
}

fn path_rows(index: u32, slot: u32) -> u32 {
    let base = params.material_word + params.material_stride * index + PATH_MATERIAL_ROWS + 8u * slot;
    let layers = table[params.header_word + PATH_HEADER * index];
    let of_layer = params.layer_word + params.layer_stride * layers + PATH_LAYER_ROWS
        + 8u * (slot - MATERIAL_TEXTURES);
    return select(of_layer, base, slot < MATERIAL_TEXTURES);
}

// Loads a material and its texels at a point.
fn path_load(index: u32, uv: vec4f) {
    let at = params.material_word + params.material_stride * index;
    material.base_color = vec4f(table_vec3(at), table_float(at + 3u));
    material.emissive = table_vec3(at + 4u);
    material.normal_scale = table_float(at + 7u);
    material.metallic = table_float(at + 8u);
    material.roughness = table_float(at + 9u);
    material.occlusion_strength = table_float(at + 10u);
    material.alpha_cutoff = table_float(at + 11u);
    material.uv_sets = table[at + 12u];
    material.flags = table[at + 13u];
    let header = params.header_word + PATH_HEADER * index;
    let own = table[header];
    layered.specular_color = vec3f(1.0);
    layered.specular = 1.0;
    layered.sheen_color = vec3f(0.0);
    layered.sheen_roughness = 0.0;
    layered.absorption = vec3f(0.0);
    layered.thickness = 0.0;
    layered.reflectance = 0.04;
    layered.clearcoat = 0.0;
    layered.clearcoat_roughness = 0.0;
    layered.clearcoat_normal_scale = 1.0;
    layered.anisotropy_direction = vec2f(1.0, 0.0);
    layered.anisotropy = 0.0;
    layered.transmission = 0.0;
    layered.iridescence = 0.0;
    layered.iridescence_ior = 1.3;
    layered.iridescence_thickness = vec2f(0.0);
    layered.volume_ior = 0.0;
    if HAS_LAYERS && own != NO_LAYERS {
        let own_layers = params.layer_word + params.layer_stride * own;
        layered.specular_color = table_vec3(own_layers);
        layered.specular = table_float(own_layers + 3u);
        layered.sheen_color = table_vec3(own_layers + 4u);
        layered.sheen_roughness = table_float(own_layers + 7u);
        layered.absorption = table_vec3(own_layers + 8u);
        layered.thickness = table_float(own_layers + 11u);
        layered.reflectance = table_float(own_layers + 12u);
        layered.clearcoat = table_float(own_layers + 13u);
        layered.clearcoat_roughness = table_float(own_layers + 14u);
        layered.clearcoat_normal_scale = table_float(own_layers + 15u);
        layered.anisotropy_direction = vec2f(table_float(own_layers + 16u), table_float(own_layers + 17u));
        layered.anisotropy = table_float(own_layers + 18u);
        layered.transmission = table_float(own_layers + 19u);
        layered.iridescence = table_float(own_layers + 20u);
        layered.iridescence_ior = table_float(own_layers + 21u);
        layered.iridescence_thickness = vec2f(table_float(own_layers + 22u), table_float(own_layers + 23u));
        layered.volume_ior = table_float(own_layers + 24u);
    }
    texture_bits = table[header + 1u];
    for (var slot = 0u; slot < PATH_TEXTURES; slot++) {
        texels[slot] = vec4f(1.0);
    }
    var left = texture_bits;
    while left != 0u {
        let slot = firstTrailingBit(left);
        left &= left - 1u;
        let texel = path_sample(header + 4u + 4u * slot, path_rows(index, slot), uv);
        // A dynamic index would put the array into scratch memory. Most compilers for GPUs unroll this loop.
        for (var i = 0u; i < PATH_TEXTURES; i++) {
            texels[i] = select(texels[i], texel, i == slot);
        }
    }
}

// Returns the emission of a point on a triangle with this material, without the attenuation by a coat.
fn path_emission(index: u32, uv: vec4f) -> vec3f {
    let at = params.material_word + params.material_stride * index;
    let header = params.header_word + PATH_HEADER * index;
    let has_texture = (table[header + 1u] & 16u) != 0u && !material_feature_is_off(MATERIALS_EMISSIVE_TEXTURE);
    var texel = vec3f(1.0);
    if has_texture {
        texel = path_sample(header + 20u, path_rows(index, 4u), uv).rgb;
    }
    return select(table_vec3(at + 4u) * texel, vec3f(0.0), material_feature_is_off(MATERIALS_EMISSION));
}
