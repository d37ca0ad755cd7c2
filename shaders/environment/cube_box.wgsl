// Box filter between two sizes of a cube: the mean of the texels of `finer` over a texel of the target,
// weighted by the solid angles of the overlaps. It preserves the sum of radiance × solid angle over all
// texels.
//
// The importer binds `finer: texture_2d_array<f32>`, six layers of one level.
#import "environment/cube_map.wgsl"

fn cube_box(face: u32, texel: vec2u, size: u32) -> vec4f {
    let fine = textureDimensions(finer).x;
    let first = texel * fine / size;
    let end = ((texel + 1u) * fine + size - 1u) / size;
    // In texels of `finer`.
    let low = vec2f(texel * fine) / f32(size);
    let high = vec2f((texel + 1u) * fine) / f32(size);
    let step = 2.0 / f32(fine);
    var sum = vec4f(0.0);
    var weights = 0.0;
    for (var y = first.y; y < end.y; y++) {
        for (var x = first.x; x < end.x; x++) {
            let at = vec2f(f32(x), f32(y));
            let weight = cube_map_solid_angle(max(low, at) * step - 1.0, min(high, at + 1.0) * step - 1.0);
            sum += weight * textureLoad(finer, vec2u(x, y), face, 0);
            weights += weight;
        }
    }
    return sum / weights;
}
