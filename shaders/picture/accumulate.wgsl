// accumulate: sums the frames of a supersampled picture; resolve: writes their mean.
//
// in   hdr and display of one frame, and the picture's exposure
// out  shown: sums of the linear light that a display emits, so that bright and dark edges are equally smooth;
//      premultiplied with coverage if the picture is transparent
//      radiance: sums of hdr plus the radiance equivalent of display
//      resolve writes the mean of shown, sRGB-encoded and dithered.
// The sums are in f32. accumulate: one thread per pixel. resolve: a full-screen triangle.
#import "frame/fullscreen.wgsl"
#import "frame/display.wgsl"
#import "frame/dither.wgsl"
#import "picture/exposure_params.wgsl"

struct AccumulateParams {
    // Same as TonemapParams.curve.
    curve: u32,
    // Number of the frame. Frame 0 overwrites the sums.
    index: u32,
    width: u32,
    // Same as TonemapParams.transparent.
    transparent: u32,
    // Same as TonemapParams.dither.
    dither: u32,
    // Same as Frame.unlit_radiance.
    unlit_radiance: f32,
}

@group(0) @binding(0) var<uniform> row_offset: u32;
@group(0) @binding(1) var<uniform> params: AccumulateParams;
@group(0) @binding(2) var hdr_texture: texture_2d<f32>;
@group(0) @binding(3) var<storage, read_write> shown: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> radiance: array<vec4f>;
@group(0) @binding(5) var<uniform> exposure: Exposure;
@group(0) @binding(6) var display_texture: texture_2d<f32>;

@group(0) @binding(0) var<storage, read> shown_sums: array<vec4f>;

@compute @workgroup_size(8, 8)
fn accumulate(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= textureDimensions(hdr_texture)) {
        return;
    }
    let hdr = textureLoad(hdr_texture, pixel, 0);
    let display = textureLoad(display_texture, pixel, 0);
    let covered = display_coverage(hdr.a, params.transparent);
    let toned = display_covered(hdr.rgb * exposure.scale, covered * display.a, params.curve);
    let light = vec4f(saturate(toned + display.rgb), covered);
    let lit = hdr + vec4f(display.rgb * params.unlit_radiance, 0.0);
    let at = pixel.y * params.width + pixel.x;
    if params.index == 0u {
        shown[at] = light;
        radiance[at] = lit;
    } else {
        shown[at] += light;
        radiance[at] += lit;
    }
}

@fragment
fn resolve(in: Corner) -> @location(0) vec4f {
    let at = vec2u(in.clip.xy);
    let mean = shown_sums[at.y * params.width + at.x] / f32(params.index + 1u);
    let encoded = srgb_encode(mean.rgb);
    return vec4f(select(encoded, dither(encoded, at), params.dither != 0u), mean.a);
}
