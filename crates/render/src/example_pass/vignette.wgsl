// vignette: darkens the picture towards its corners.
//
// in   hdr, display, and `strength`, the fraction of light that the corners lose
// out  hdr and display, each times 1 - strength r², where r is 0 at the centre of the picture and 1 in its corners
// A thread per pixel.
@group(0) @binding(0) var<uniform> row_offset: u32;
@group(0) @binding(1) var<uniform> strength: f32;
@group(0) @binding(2) var hdr_texture: texture_2d<f32>;
@group(0) @binding(3) var display_texture: texture_2d<f32>;
@group(0) @binding(4) var hdr_out: texture_storage_2d<rgba16float, write>;
@group(0) @binding(5) var display_out: texture_storage_2d<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn vignette(@builtin(global_invocation_id) thread: vec3u) {
    let pixel = vec2u(thread.x, thread.y + row_offset);
    let size = textureDimensions(hdr_texture);
    if any(pixel >= size) {
        return;
    }
    let from_middle = 2.0 * (vec2f(pixel) + 0.5) / vec2f(size) - 1.0;
    let kept = vec4f(vec3f(1.0 - 0.5 * strength * dot(from_middle, from_middle)), 1.0);
    textureStore(hdr_out, pixel, kept * textureLoad(hdr_texture, pixel, 0));
    textureStore(display_out, pixel, kept * textureLoad(display_texture, pixel, 0));
}
