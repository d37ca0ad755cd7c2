// Evaluates a material's surface at a point of a triangle, independently of the source of its parameters and texels.
//
// The importer defines `material: Material` and the functions that return texels, which are white if the material has
// no such texture: `base_color_texel(uv: vec4f) -> vec4f`, `metallic_roughness_texel`, `normal_texel`,
// `occlusion_texel` and `emissive_texel`. `uv` holds both UV sets. material/material.wgsl defines them for bound
// materials.
#import "frame/frame.wgsl"
#import "frame/gbuffer.wgsl"
#import "frame/scene.wgsl"

struct Material {
    base_color: vec4f,
    emissive: vec3f,
    normal_scale: f32,
    metallic: f32,
    roughness: f32,
    occlusion_strength: f32,
    alpha_cutoff: f32,
    uv_sets: u32,
    flags: u32,
    texture_from_uv: array<vec4f, 10>,
}

// Neutral texel of a normal texture.
const MATERIAL_FLAT = vec4f(0.5, 0.5, 1.0, 1.0);

struct Fragment {
    // Invariant, because `layers` draws with an equal-depth test over the G-buffer's depth.
    @invariant @builtin(position) clip: vec4f,
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) tangent: vec4f,
    @location(3) uv: vec4f,
    @location(4) color: vec4f,
    @location(5) @interpolate(flat, either) triangle: u32,
}

fn fragment_at(position: vec3f, normal: vec3f, tangent: vec4f, uv: vec4f, color: vec4f, triangle: u32) -> Fragment {
    let clip = frame.clip_from_offset * vec4f(position - frame.eye, 1.0);
    return Fragment(clip, position, normal, tangent, uv, color, triangle);
}

fn merged_fragment(vertex: u32, triangle: u32) -> Fragment {
    return fragment_at(
        scene_position(vertex),
        scene_normal(vertex),
        scene_tangent(vertex),
        vec4f(scene_uv(vertex, 0u), scene_uv(vertex, 1u)),
        scene_color(vertex),
        triangle,
    );
}

// Returns the UV set of a texture, counted from 1, or 0 if the material has no such texture.
fn material_uv_set(texture: u32) -> u32 {
    return (material.uv_sets >> (2u * texture)) & 3u;
}

fn material_base_color(uv: vec4f, color: vec4f) -> vec4f {
    let texel = base_color_texel(uv);
    let shown = select(texel, vec4f(1.0, 1.0, 1.0, texel.a), material_feature_is_off(MATERIALS_BASE_COLOR_TEXTURE));
    return material_tinted(material.base_color, color, shown);
}

// True if the settings disable this feature of all materials.
fn material_feature_is_off(part: u32) -> bool {
    return (frame.materials_without & part) != 0u;
}

// Returns the base colour from the factor, the vertex colour and the texel. Alpha is kept whatever the settings
// disable.
fn material_tinted(factor: vec4f, color: vec4f, texel: vec4f) -> vec4f {
    let own = select(color, vec4f(1.0, 1.0, 1.0, color.a), material_feature_is_off(MATERIALS_VERTEX_COLORS));
    let tinted = factor * own * texel;
    let clay = vec4f(vec3f(MATERIALS_CLAY_ALBEDO), tinted.a);
    return select(tinted, clay, material_feature_is_off(MATERIALS_CLAY));
}

// Returns only alpha, for passes without frame uniforms.
fn material_alpha(uv: vec4f, color: vec4f) -> f32 {
    return material.base_color.a * color.a * base_color_texel(uv).a;
}

// Returns the fragment normal without normal textures. Opposite vertex normals can cancel out; the direction to the eye
// then replaces them.
fn material_normal(in: Fragment) -> vec3f {
    return select(frame_to_eye(in.position), normalize(in.normal), dot(in.normal, in.normal) > 1.0e-20);
}

// Returns the fragment normal, perturbed by a normal texture.
fn material_mapped_normal(in: Fragment, texel: vec3f, scale: f32) -> vec3f {
    let bump = (texel * 2.0 - 1.0) * vec3f(scale, scale, 1.0);
    let bitangent = cross(in.normal, in.tangent.xyz) * sign(in.tangent.w);
    let mapped = bump.x * in.tangent.xyz + bump.y * bitangent + bump.z * in.normal;
    return select(material_normal(in), normalize(mapped), dot(mapped, mapped) > 1.0e-20);
}

// Returns the perceptual roughness of a surface whose normals vary within the texel. α² grows by twice the variance of
// their slopes (Toksvig 2005; Olano and Baker 2010, "LEAN Mapping"). `alpha` is written by mipmap_normals and valid if
// the material has the flag `spread`. `scale` is the scale of the normal texture.
fn material_roughened(roughness: f32, alpha: f32, scale: f32, spread: u32) -> f32 {
    let missing = min((1.0 - alpha) * (1.0 - alpha), 0.5);
    // Variance of normally distributed slopes, to second order.
    let ratio = missing / (1.0 - missing);
    let variance = ratio * (1.0 + 3.0 * ratio) * scale * scale;
    let squared = roughness * roughness;
    let roughened = sqrt(sqrt(min(squared * squared + 2.0 * variance, 1.0)));
    return select(roughness, roughened, variance > 0.0 && (material.flags & spread) != 0u);
}

// Returns the factor on the environment lighting of a placeholder material. It grows where the surface faces the eye
// and where it faces a fixed direction, so that all faces of a box differ. Under uniform lighting, a matte surface
// would have the same brightness at every angle and show no shape.
fn material_relief(normal: vec3f, to_eye: vec3f) -> f32 {
    let key = vec3f(0.35, 0.8, 0.49);
    return 0.35 + 0.3 * saturate(dot(normal, to_eye)) + 0.35 * (0.5 + 0.5 * dot(normal, key));
}

// Returns the surface at a fragment. `front` is false on back faces, whose normals are flipped.
fn material_surface(in: Fragment, base_color: vec4f, front: bool) -> Surface {
    let rough_texel = metallic_roughness_texel(in.uv);
    let bump_texel = normal_texel(in.uv);
    let cavity_texel = occlusion_texel(in.uv).r;
    let glow_texel = emissive_texel(in.uv).rgb;
    let metallic_roughness = select(
        rough_texel,
        vec4f(1.0),
        material_feature_is_off(MATERIALS_METALLIC_ROUGHNESS_TEXTURE),
    );
    let bump = select(bump_texel, MATERIAL_FLAT, material_feature_is_off(MATERIALS_NORMAL_TEXTURE));
    let occlusion = select(cavity_texel, 1.0, material_feature_is_off(MATERIALS_OCCLUSION_TEXTURE));
    let emissive = select(glow_texel, vec3f(1.0), material_feature_is_off(MATERIALS_EMISSIVE_TEXTURE));

    let smooth_normal = material_normal(in);
    let mapped = material_mapped_normal(in, bump.xyz, material.normal_scale);
    let normal = select(smooth_normal, mapped, material_uv_set(2u) != 0u);
    let gloss = (material.flags & MATERIAL_GLOSSINESS) != 0u;
    let unlit = (material.flags & MATERIAL_UNLIT) != 0u;
    let roughness = select(
        material.roughness * metallic_roughness.g,
        1.0 - (1.0 - material.roughness) * metallic_roughness.a,
        gloss,
    );
    let facing = select(-normal, normal, front);
    let is_stand_in = (material.flags & MATERIAL_PLACEHOLDER) != 0u;
    let relief = select(1.0, material_relief(facing, frame_to_eye(in.position)), is_stand_in);
    let clay = material_feature_is_off(MATERIALS_CLAY);
    let roughened = material_roughened(roughness, bump.a, material.normal_scale, MATERIAL_NORMALS_SPREAD);
    return Surface(
        in.position,
        facing,
        base_color.rgb,
        (1.0 + material.occlusion_strength * (occlusion - 1.0)) * relief,
        select(material.emissive * emissive, vec3f(0.0), unlit || material_feature_is_off(MATERIALS_EMISSION)),
        select(roughened, MATERIALS_CLAY_ROUGHNESS, clay),
        select(material.metallic * metallic_roughness.b, 0.0, clay),
        unlit,
        (material.flags & MATERIAL_LAYERED) != 0u,
        select(-smooth_normal, smooth_normal, front),
    );
}
