// occlusion_filter: applies the last filter round to ambient occlusion and packs the result for lighting.
//
// in   signal_texture, surfaces; the G-buffer's normals
// out  occlusion_words: an AmbientVisibility per pixel; ambient/bounced_filter.wgsl fills in its bounced light.
//      With all bounces, the first word is that of ambient_complete_pack.
// One thread per pixel. The earlier rounds are shared by all signals (denoise/signal_filter.wgsl).
#import "ambient/blocked_environment.wgsl"
#import "frame/ambient_visibility.wgsl"
#import "denoise/signal_smooth.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> params: SignalParams;
#texels 1 2 signal_texture: rg32uint
#texels 1 3 surfaces: rgba32uint
#texels 1 4 normal_texture: r32uint
@group(1) @binding(5) var<storage, read_write> occlusion_words: array<vec2u>;

fn signal_at(pixel: vec2u) -> vec4f {
    return signal_unpack(textureLoad(signal_texture, pixel, 0).xy);
}

@compute @workgroup_size(8, 8)
fn occlusion_filter(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    // Blocked fraction of the rays, and the mean over all rays of the blocked direction, or of `blocked_environment`.
    let blocked = signal_smoothed(pixel);
    let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
    let word = pixel.y * frame.size.x + pixel.x;
    if frame.all_bounces != 0u {
        occlusion_words[word].x = ambient_complete_pack(environment_share(blocked), 1.0 - blocked.x);
        return;
    }
    // The cosine-weighted mean of all directions of the hemisphere is two thirds of the normal.
    let rest = 2.0 / 3.0 * normal - blocked.yzw;
    let bent = select(normal, normalize(rest), dot(rest, normal) > 1.0e-3);
    occlusion_words[word] = ambient_visibility_pack(ambient_traced(bent, 1.0 - blocked.x, vec3f(0.0)));
}
