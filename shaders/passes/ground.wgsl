// ground: draws the ground plane below the scene into the G-buffer.
//
// in   the four vertices and two triangles after all others of the merged scene (group 2). UV set 0: position relative
//      to the centre, in units of the plane's visible radius. UV set 1: position in grid lines, from the world's
//      origin. Alpha is 0 if there is no grid.
// out  the outputs of `gbuffer`, behind nearer surfaces. The position's w has the flag GBUFFER_GROUND, and albedo holds
//      the colour of the grid lines. `emissive` holds two fractions instead of emission: the visibility of the shadows,
//      and the pixel's coverage by lines.
// The ground only receives shadows. Where it is not in shadow, `lighting` shows the background.
#import "passes/gbuffer_drawn.wgsl"
#import "material/material.wgsl"
#import "material/material_sample.wgsl"

// Returns the coverage of a pixel by one-pixel-wide lines at all integers. `width` is the width of a pixel. Lines that
// are too dense fade out.
fn lines(at: vec2f, width: vec2f) -> f32 {
    let off = abs(fract(at + 0.5) - 0.5) / width;
    let covered = saturate(1.0 - off) * (1.0 - smoothstep(vec2f(0.08), vec2f(0.2), width));
    return max(covered.x, covered.y);
}

@fragment
fn ground(in: Fragment) -> GBufferTexel {
    let width = max(fwidth(in.uv.zw), vec2f(1.0e-20));
    let fine = 0.3 * lines(10.0 * in.uv.zw, 10.0 * width);
    let usual = 0.5 * lines(in.uv.zw, width);
    let strong = 0.8 * lines(0.1 * in.uv.zw, 0.1 * width);
    // The lines through the origin, along x and along z.
    let axes = 0.9 * saturate(1.0 - abs(in.uv.wz) / width.yx);
    let seen = 1.0 - smoothstep(0.5, 1.0, length(in.uv.xy));
    if seen == 0.0 {
        discard;
    }
    let axis = max(axes.x, axes.y);
    let covered = in.color.a * seen * max(max(fine, usual), max(strong, axis));
    let axis_color = select(vec3f(0.03, 0.09, 0.5), vec3f(0.5, 0.03, 0.03), axes.x >= axes.y);
    // Visible on both bright and dark backgrounds.
    let color = mix(vec3f(0.05), axis_color, step(max(strong, usual), axis) * step(1.0e-3, axis));
    let surface = Surface(
        in.position, in.normal, color, 1.0, vec3f(0.0), 1.0, 0.0, false, false, in.normal,
    );
    var texel = gbuffer_pack(surface, in.triangle);
    texel.position.w = bitcast<f32>(bitcast<u32>(texel.position.w) ^ (GBUFFER_SURFACE | GBUFFER_GROUND));
    texel.emissive = pack2x16unorm(vec2f(seen, covered));
    return gbuffer_drawn(texel);
}
