// Encoding of the G-buffer. It takes 24 bytes per pixel on GPUs and 32 on software adapters. Every adapter can
// write it in one pass.
//
// position  rg32float, or rgba32float
//                        position of the surface (frame/gbuffer_position.wgsl), and w; w is 0 on the background,
//                        otherwise its bits are
//                        31 unlit, 30 the ground or 29 a surface (exactly one of them, so that every value is a
//                        normal float),
//                        28 layered, 27–15 roughness (square root), 14–7 metallic, 6–0 occlusion
// normal    r32uint      shading normal in world space, octahedral
// albedo    r32uint      base colour (square root; 11, 11 and 10 bits); the colour of an unlit surface
// emissive  r32uint      radiance, shared exponent (rgb9e5); for the ground, two fractions (passes/ground.wgsl)
// ids       r32uint      the triangle, point or line (frame/gbuffer_ids.wgsl)
#import "frame/gbuffer_ids.wgsl"
#import "math/octahedral.wgsl"
#import "math/rgb9e5.wgsl"

struct Surface {
    position: vec3f,
    normal: vec3f,
    albedo: vec3f,
    occlusion: f32,
    emissive: vec3f,
    roughness: f32,
    metallic: f32,
    unlit: bool,
    // True if `layers` lights the surface instead of `lighting`.
    layered: bool,
    // Interpolated normal without normal textures. The G-buffer does not hold it, so unpacking sets it to `normal`.
    smooth_normal: vec3f,
}

const GBUFFER_UNLIT = 0x80000000u;
// The plane below the scene, which `ground` draws. Everything else is a surface.
const GBUFFER_GROUND = 0x40000000u;
const GBUFFER_SURFACE = 0x20000000u;
const GBUFFER_LAYERED = 0x10000000u;
// Quantisation levels of the square roots of red, green and blue.
const GBUFFER_ALBEDO = vec3f(2047.0, 2047.0, 1023.0);

struct GBufferTexel {
    @location(0) position: vec4f,
    @location(1) normal: u32,
    @location(2) albedo: u32,
    @location(3) emissive: u32,
    @location(4) ids: u32,
}

fn gbuffer_pack(s: Surface, triangle: u32) -> GBufferTexel {
    // A highlight depends on the fourth power of roughness. Storing the square root limits the quantisation error of a
    // small roughness to half a percent.
    let rough = u32(round(sqrt(saturate(s.roughness)) * 8191.0));
    let levels = vec2u(round(saturate(vec2f(s.metallic, s.occlusion)) * vec2f(255.0, 127.0)));
    let flags = select(0u, GBUFFER_UNLIT, s.unlit) | select(0u, GBUFFER_LAYERED, s.layered);
    let word = flags | GBUFFER_SURFACE | (rough << 15u) | (levels.x << 7u) | levels.y;
    let color = vec3u(round(sqrt(saturate(s.albedo)) * GBUFFER_ALBEDO));
    return GBufferTexel(
        vec4f(s.position, bitcast<f32>(word)),
        octahedral_pack(s.normal),
        color.r | (color.g << 11u) | (color.b << 22u),
        rgb9e5_pack(s.emissive),
        triangle + 1u,
    );
}

// True if the position's w marks the ground.
fn gbuffer_is_ground(w: f32) -> bool {
    return (bitcast<u32>(w) & GBUFFER_GROUND) != 0u;
}

fn gbuffer_unpack(position: vec4f, normal: u32, albedo: u32, emissive: u32) -> Surface {
    let word = bitcast<u32>(position.w);
    let rough = f32((word >> 15u) & 8191u) / 8191.0;
    let levels = vec3u(albedo, albedo >> 11u, albedo >> 22u) & vec3u(2047u, 2047u, 1023u);
    let color = vec3f(levels) / GBUFFER_ALBEDO;
    return Surface(
        position.xyz,
        octahedral_unpack(normal),
        color * color,
        f32(word & 127u) / 127.0,
        rgb9e5_unpack(emissive),
        rough * rough,
        f32((word >> 7u) & 255u) / 255.0,
        (word & GBUFFER_UNLIT) != 0u,
        (word & GBUFFER_LAYERED) != 0u,
        octahedral_unpack(normal),
    );
}
