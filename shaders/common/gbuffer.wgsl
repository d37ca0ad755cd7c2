// The G-buffer's encoding: 32 bytes a pixel, which is what every adapter can write in one pass.
//
// position  rgba32float  world position; w is 0 where nothing is, −1 on unlit surfaces, else 1 + roughness · 4096 + metallic (12 bits each)
// normal    r32uint      world normal as shaded, octahedral
// albedo    r32uint      base colour (square root, 3 × 8 bits) and occlusion (8 bits)
// emissive  r32uint      radiance, shared exponent (rgb9e5)
// ids       r32uint      number of the triangle in the merged index buffer, plus 1
#import "common/octahedral.wgsl"

struct Surface {
    position: vec3f,
    normal: vec3f,
    albedo: vec3f,
    occlusion: f32,
    emissive: vec3f,
    roughness: f32,
    metallic: f32,
    unlit: bool,
}

struct GBufferTexel {
    @location(0) position: vec4f,
    @location(1) normal: u32,
    @location(2) albedo: u32,
    @location(3) emissive: u32,
    @location(4) ids: u32,
}

// Shared-exponent colour with 9-bit mantissas, as in EXT_texture_shared_exponent.
fn rgb9e5_pack(color: vec3f) -> u32 {
    let c = clamp(color, vec3f(0.0), vec3f(65408.0));
    let largest = max(c.r, max(c.g, c.b));
    // floor(log2) from the exponent's bits, which is exact.
    var exponent = max(-16, i32(bitcast<u32>(largest) >> 23u) - 127) + 16;
    var scale = exp2(f32(24 - exponent));
    if u32(largest * scale + 0.5) > 511u {
        exponent++;
        scale *= 0.5;
    }
    let m = vec3u(c * scale + 0.5);
    return m.r | (m.g << 9u) | (m.b << 18u) | (u32(exponent) << 27u);
}

fn rgb9e5_unpack(packed: u32) -> vec3f {
    let mantissas = vec3f(vec3u(packed, packed >> 9u, packed >> 18u) & vec3u(511u));
    return mantissas * exp2(f32(packed >> 27u) - 24.0);
}

fn gbuffer_pack(s: Surface, triangle: u32) -> GBufferTexel {
    let levels = round(saturate(vec2f(s.roughness, s.metallic)) * 4095.0);
    let w = select(1.0 + levels.x * 4096.0 + levels.y, -1.0, s.unlit);
    return GBufferTexel(
        vec4f(s.position, w),
        octahedral_pack(s.normal),
        pack4x8unorm(vec4f(sqrt(saturate(s.albedo)), s.occlusion)),
        rgb9e5_pack(s.emissive),
        triangle + 1u,
    );
}

fn gbuffer_unpack(position: vec4f, normal: u32, albedo: u32, emissive: u32) -> Surface {
    let unlit = position.w < 0.0;
    let levels = select(u32(position.w) - 1u, 0u, unlit);
    let color = unpack4x8unorm(albedo);
    return Surface(
        position.xyz,
        octahedral_unpack(normal),
        color.rgb * color.rgb,
        color.a,
        rgb9e5_unpack(emissive),
        f32(levels / 4096u) / 4095.0,
        f32(levels % 4096u) / 4095.0,
        unlit,
    );
}
