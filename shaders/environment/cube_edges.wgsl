// cube_edges: a draw to which a cube is bound. SwiftShader holds texels of the neighbouring faces around each face for
// its filter, and copies them there before a draw that reads the cube, never before a dispatch.
//
// in   cube, whose texels have changed
// out  nothing: a target of one pixel, which is not kept
#import "frame/cover.wgsl"

@group(0) @binding(0) var cube: texture_cube<f32>;

@fragment
fn cube_edges() -> @location(0) vec4f {
    return vec4f(f32(textureNumLevels(cube)));
}
