// Lobes from which a surface's rays are sampled: its base, a clear coat over it, and transmission. Surfaces without
// layers have only the base. For surfaces with layers, two textures hold the other parameters:
//
// layers  rgba32uint  the coat's normal, octahedral; the base's reflectance at normal incidence (square root; 11, 11
//                     and 10 bits); its reflectance at grazing incidence (square root, 8 bits each) and the fraction of
//                     light that the sheen leaves, 8; coat, its roughness (square root), anisotropy and its direction,
//                     8 each
// glass   rg32uint    absorption, shared exponent (rgb9e5); transmission 16, index of refraction 16 (0 where thin)
#import "bvh/angle.wgsl"
#import "math/basis.wgsl"
#import "frame/gbuffer.wgsl"
#import "material/reflection.wgsl"

struct Lobes {
    // Schlick's Fresnel term of the base, at normal and at grazing incidence.
    f0: vec3f,
    f90: vec3f,
    // Fraction of light that passes the sheen to the base and back.
    under_sheen: f32,
    coat: f32,
    coat_roughness: f32,
    coat_normal: vec3f,
    // Direction of greatest roughness of the base, and the anisotropy (KHR_materials_anisotropy).
    along: vec3f,
    anisotropy: f32,
    // Fraction of light that enters through a dielectric base.
    transmission: f32,
    // Index of refraction of a volume, or 0 for a thin surface.
    ior: f32,
    // Absorption of the volume, per metre.
    absorption: vec3f,
}

struct PackedLobes {
    @location(0) layers: vec4u,
    @location(1) glass: vec2u,
}

// Returns the lobes of a surface without layers.
fn lobes_plain(s: Surface) -> Lobes {
    let f0 = mix(vec3f(0.04), s.albedo, s.metallic);
    let none = vec3f(0.0);
    return Lobes(f0, vec3f(1.0), 1.0, 0.0, 0.0, s.normal, none, 0.0, 0.0, 0.0, none);
}

fn lobes_have_coat(packed: PackedLobes) -> bool {
    return (packed.layers.w & 255u) != 0u;
}

fn lobes_transmit(packed: PackedLobes) -> bool {
    return (packed.glass.y & 0xffffu) != 0u;
}

fn lobes_coat_roughness(packed: PackedLobes) -> f32 {
    let root = unpack4x8unorm(packed.layers.w).y;
    return root * root;
}

// True if any of the lobes traces rays.
fn lobes_send(packed: PackedLobes, s: Surface) -> bool {
    let coat = lobes_have_coat(packed) && reflection_share_of(lobes_coat_roughness(packed)) > 0.0;
    let through = lobes_transmit(packed) && frame.reflect_below > 0.0;
    return reflection_share(s) > 0.0 || coat || through;
}

// Returns the roughness of the sharper of the base and the coat.
fn lobes_roughness(packed: PackedLobes, s: Surface) -> f32 {
    return select(s.roughness, min(s.roughness, lobes_coat_roughness(packed)), lobes_have_coat(packed));
}

fn lobes_pack(l: Lobes, normal: vec3f) -> PackedLobes {
    let f0 = vec3u(round(sqrt(saturate(l.f0)) * GBUFFER_ALBEDO));
    let f90 = pack4x8unorm(vec4f(sqrt(saturate(l.f90)), l.under_sheen));
    let basis = basis_about(normal);
    // Opposite directions are equivalent.
    let angle = angle_of(dot(l.along, basis.bitangent), dot(l.along, basis.tangent));
    let turn = u32(round(fract(angle / PI + 1.0) * 256.0)) & 255u;
    let levels = pack4x8unorm(vec4f(l.coat, sqrt(l.coat_roughness), l.anisotropy, 0.0));
    let ior = u32(round(clamp(l.ior * 16384.0, 0.0, 65535.0)));
    return PackedLobes(
        vec4u(
            octahedral_pack(l.coat_normal),
            f0.r | (f0.g << 11u) | (f0.b << 22u),
            f90,
            levels | (turn << 24u),
        ),
        vec2u(rgb9e5_pack(l.absorption), u32(round(saturate(l.transmission) * 65535.0)) | (ior << 16u)),
    );
}

// Unpacks lobes. `normal` is the surface's shading normal, which `lobes_pack` was given.
fn lobes_unpack(packed: PackedLobes, normal: vec3f) -> Lobes {
    let color = packed.layers.y;
    let f0 = vec3f(vec3u(color, color >> 11u, color >> 22u) & vec3u(2047u, 2047u, 1023u)) / GBUFFER_ALBEDO;
    let f90 = unpack4x8unorm(packed.layers.z);
    let word = packed.layers.w;
    let levels = unpack4x8unorm(word);
    let basis = basis_about(normal);
    let angle = f32(word >> 24u) * (PI / 256.0);
    let glass = packed.glass.y;
    return Lobes(
        f0 * f0,
        f90.rgb * f90.rgb,
        f90.a,
        levels.x,
        lobes_coat_roughness(packed),
        octahedral_unpack(packed.layers.x),
        cos(angle) * basis.tangent + sin(angle) * basis.bitangent,
        levels.z,
        f32(glass & 0xffffu) / 65535.0,
        f32(glass >> 16u) / 16384.0,
        rgb9e5_unpack(packed.glass.x),
    );
}
