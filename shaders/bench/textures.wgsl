// textures: what hits on many materials cost to shade, by textures that each material binds for itself or by
// arrays of all of them.
//
// textures_own
// in   a range of hits, all of one material; its five textures
// out  sums
//
// textures_arrays
// in   a range of hits of any materials; all textures as layers of two arrays, and for each material the
//      layers and how much of a layer its textures fill
// out  sums
//
// One thread per hit. Both sample the same texels. Within arrays the shader wraps coordinates by itself, and
// stays half a texel within the bounds, so that no neighbour of the array bleeds in: at a seam it filters
// what a sampler would not.
#import "bvh/dispatch.wgsl"

struct TextureHit {
    uv: vec2f,
    level: f32,
    material: u32,
}

struct HitSpan {
    first: u32,
    count: u32,
}

// Of one material: which layers, and the sides of its textures in texels.
struct TextureBounds {
    colors: vec2u,
    numbers: vec3u,
    side: f32,
}

@group(0) @binding(0) var<uniform> span: HitSpan;
@group(0) @binding(1) var<storage, read> hits: array<TextureHit>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec4f>;
@group(0) @binding(3) var filtered: sampler;
@group(0) @binding(4) var texture_0: texture_2d<f32>;
@group(0) @binding(5) var texture_1: texture_2d<f32>;
@group(0) @binding(6) var texture_2: texture_2d<f32>;
@group(0) @binding(7) var texture_3: texture_2d<f32>;
@group(0) @binding(8) var texture_4: texture_2d<f32>;

@group(0) @binding(4) var<storage, read> bounds: array<TextureBounds>;
@group(0) @binding(5) var colors: texture_2d_array<f32>;
@group(0) @binding(6) var numbers: texture_2d_array<f32>;

@compute @workgroup_size(64)
fn textures_own(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = 64u * dispatch_workgroup(workgroup, workgroups) + thread;
    if number >= span.count {
        return;
    }
    let hit = hits[span.first + number];
    sums[span.first + number] = textureSampleLevel(texture_0, filtered, hit.uv, hit.level)
        + textureSampleLevel(texture_1, filtered, hit.uv, hit.level)
        + textureSampleLevel(texture_2, filtered, hit.uv, hit.level)
        + textureSampleLevel(texture_3, filtered, hit.uv, hit.level)
        + textureSampleLevel(texture_4, filtered, hit.uv, hit.level);
}

@compute @workgroup_size(64)
fn textures_arrays(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = 64u * dispatch_workgroup(workgroup, workgroups) + thread;
    if number >= span.count {
        return;
    }
    let hit = hits[span.first + number];
    let material = bounds[hit.material];
    let filled = material.side / f32(textureDimensions(colors).x);
    let within = 0.5 * exp2(ceil(hit.level)) / material.side;
    let at = clamp(fract(hit.uv), vec2f(within), vec2f(1.0 - within)) * filled;
    sums[span.first + number] = textureSampleLevel(colors, filtered, at, material.colors.x, hit.level)
        + textureSampleLevel(colors, filtered, at, material.colors.y, hit.level)
        + textureSampleLevel(numbers, filtered, at, material.numbers.x, hit.level)
        + textureSampleLevel(numbers, filtered, at, material.numbers.y, hit.level)
        + textureSampleLevel(numbers, filtered, at, material.numbers.z, hit.level);
}
