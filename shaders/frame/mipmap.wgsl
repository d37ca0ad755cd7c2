// mipmap: computes a mip level of a texture from the next finer one, with a box filter.
//
// in   the finer level
// out  the coarser level
// sRGB formats are filtered in linear light. A side of 2n texels is halved. A side of 2n + 1 texels is cut into n equal
// parts, each over three texels with fractional outer weights (Guthe and Heckbert 2005, "Non-power-of-two mipmapping").
// `mipmap_cut` weights colours by alpha, so that transparent texels do not bleed into opaque texels. `mipmap_normals`
// averages directions and stores their spread. A minified normal map thus gets smoother and its surface rougher
// (Toksvig 2005, "Mipmapping Normal Maps").
#import "frame/fullscreen.wgsl"
@group(0) @binding(0) var finer: texture_2d<f32>;

// Returns the weights of the finer texels 2i, 2i + 1 and 2i + 2 in texel i, for a finer level of `size` texels.
fn mipmap_weights(i: u32, size: u32) -> vec3f {
    if size == 1u {
        return vec3f(1.0, 0.0, 0.0);
    }
    if (size & 1u) == 0u {
        return vec3f(0.5, 0.5, 0.0);
    }
    let n = size / 2u;
    return vec3f(f32(n - i), f32(n), f32(i + 1u)) / f32(size);
}

// Returns the filtered texel, and the alpha-weighted sum of colours.
fn mipmap_sums(clip: vec4f) -> array<vec4f, 2> {
    let size = textureDimensions(finer);
    let at = vec2u(clip.xy);
    let across = mipmap_weights(at.x, size.x);
    let down = mipmap_weights(at.y, size.y);
    // The third weight of an even side is zero.
    let taps = vec2u(2u) + (size & vec2u(1u));
    var sums = array<vec4f, 2>(vec4f(0.0), vec4f(0.0));
    for (var y = 0u; y < taps.y; y++) {
        for (var x = 0u; x < taps.x; x++) {
            let weight = across[x] * down[y];
            let texel = textureLoad(finer, min(2u * at + vec2u(x, y), size - 1u), 0);
            sums[0] += weight * texel;
            sums[1] += weight * texel.a * texel;
        }
    }
    return sums;
}

@fragment
fn mipmap(in: Corner) -> @location(0) vec4f {
    return mipmap_sums(in.clip)[0];
}

@fragment
fn mipmap_cut(in: Corner) -> @location(0) vec4f {
    let sums = mipmap_sums(in.clip);
    let alpha = sums[0].a;
    return vec4f(select(sums[0].rgb, sums[1].rgb / max(alpha, 1.0e-6), alpha > 0.0), alpha);
}

// Red, green and blue hold a unit vector. Alpha holds 1 − √(1 − L), where L is the length of the mean of all normals
// below the texel. At mip level 0, alpha is 1. This encoding resolves differences of 10⁻⁵ near L = 1, where most
// lengths are, with eight bits.
@fragment
fn mipmap_normals(in: Corner) -> @location(0) vec4f {
    let size = textureDimensions(finer);
    let at = vec2u(in.clip.xy);
    let across = mipmap_weights(at.x, size.x);
    let down = mipmap_weights(at.y, size.y);
    let taps = vec2u(2u) + (size & vec2u(1u));
    var mean = vec3f(0.0);
    for (var y = 0u; y < taps.y; y++) {
        for (var x = 0u; x < taps.x; x++) {
            let texel = textureLoad(finer, min(2u * at + vec2u(x, y), size - 1u), 0);
            let normal = texel.xyz * 2.0 - 1.0;
            let missing = 1.0 - texel.a;
            let share = (1.0 - missing * missing) / max(length(normal), 1.0e-3);
            mean += across[x] * down[y] * share * normal;
        }
    }
    let length = min(length(mean), 1.0);
    let normal = select(vec3f(0.0, 0.0, 1.0), mean / length, length > 1.0e-6);
    return vec4f(normal * 0.5 + 0.5, 1.0 - sqrt(1.0 - length));
}
