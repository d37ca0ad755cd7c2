// shadow_map: draws the depth of the merged scene as seen from a light, one layer per draw.
//
// in   positions and, for masked surfaces, UVs and colours as vertex buffers; the layer's matrix (group 1); the
//      material (group 3)
// out  depth (reversed: 1 near, 0 far)
// Opaque surfaces have no fragment shader. Blended ones are stippled: alpha is the fraction of texels drawn.
#import "material/cut_out.wgsl"
#import "frame/frame.wgsl"
#import "frame/gbuffer.wgsl"
#import "frame/scene.wgsl"
#import "material/material.wgsl"

@group(1) @binding(0) var<uniform> clip_from_world: mat4x4f;

// Samples without the frame's mip bias, because shadow map texels differ in size from the frame's pixels.
fn material_sample(number: u32, texels: texture_2d<f32>, how: sampler, at: vec2f) -> vec4f {
    return textureSample(texels, how, at);
}

@vertex
fn opaque(@location(0) position: vec3f) -> @builtin(position) vec4f {
    return clip_from_world * vec4f(position, 1.0);
}

struct Cut {
    @builtin(position) clip: vec4f,
    @location(0) uv: vec4f,
    @location(1) color: vec4f,
}

@vertex
fn masked(
    @location(0) position: vec3f,
    @location(1) uv0: vec2f,
    @location(2) uv1: vec2f,
    @location(3) color: vec4f,
) -> Cut {
    return Cut(clip_from_world * vec4f(position, 1.0), vec4f(uv0, uv1), color);
}

// Returns interleaved gradient noise in [0, 1) for a texel of the map (Jimenez 2014, "Next Generation Post Processing
// in Call of Duty: Advanced Warfare").
fn gradient_noise(at: vec2f) -> f32 {
    return fract(52.9829189 * fract(dot(at, vec2f(0.06711056, 0.00583715))));
}

@fragment
fn cut_out(in: Cut) {
    let at = in.clip.xy;
    let u = vec2f(gradient_noise(at), gradient_noise(at.yx + 47.0));
    let is_cut = cut_out_alpha(in.uv, in.color, u) < material.alpha_cutoff;
    // Decorrelates the stipple patterns of surfaces that lie behind each other.
    let moved = at + 64.0 * fract(in.clip.z * vec2f(1021.0, 1373.0));
    let is_clear = material_alpha(in.uv, in.color) <= gradient_noise(moved);
    let is_blended = (material.flags & MATERIAL_BLENDED) != 0u;
    if (is_clear && is_blended) || (is_cut && !is_blended) {
        discard;
    }
}
