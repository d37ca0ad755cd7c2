// cube_edges: a draw that binds a cube, as a workaround for SwiftShader. SwiftShader stores texels of the neighbouring
// faces around each face for its filter. It copies them before a draw that reads the cube, but never before a dispatch.
//
// in   cube, whose texels have changed
// out  nothing: a target of one pixel, which is discarded
#import "frame/fullscreen.wgsl"

@group(0) @binding(0) var cube: texture_cube<f32>;

@fragment
fn cube_edges() -> @location(0) vec4f {
    return vec4f(f32(textureNumLevels(cube)));
}
