// Alpha of a material at a point of a triangle, for any-hit tests. It is read from `tables` of the merged scene.
#import "frame/scene.wgsl"
#import "math/pcg.wgsl"

fn alpha_wrap(x: i32, size: i32, mode: u32) -> i32 {
    if mode == ALPHA_WRAP_CLAMP {
        return clamp(x, 0, size - 1);
    }
    if mode == ALPHA_WRAP_MIRROR {
        let period = 2 * size;
        let folded = ((x % period) + period) % period;
        return select(folded, period - 1 - folded, folded >= size);
    }
    return ((x % size) + size) % size;
}

fn alpha_texel(header: u32, x: i32, y: i32) -> f32 {
    let width = i32(tables[header + ALPHA_WIDTH]);
    let height = i32(tables[header + ALPHA_HEIGHT]);
    let modes = tables[header + ALPHA_SAMPLER];
    let at = u32(alpha_wrap(y, height, (modes >> 2u) & 3u) * width + alpha_wrap(x, width, modes & 3u));
    return unpack4x8unorm(tables[tables[header + ALPHA_FIRST_WORD] + at / 4u])[at % 4u];
}

// Returns the alpha of the texture at mip level 0.
fn alpha_sample(header: u32, uv: vec2f) -> f32 {
    let at = header + ALPHA_FROM_UV;
    let u =
        bitcast<f32>(tables[at]) * uv.x + bitcast<f32>(tables[at + 1u]) * uv.y + bitcast<f32>(tables[at + 2u]);
    let v = bitcast<f32>(tables[at + 3u]) * uv.x + bitcast<f32>(tables[at + 4u]) * uv.y
        + bitcast<f32>(tables[at + 5u]);
    let size = vec2f(f32(tables[header + ALPHA_WIDTH]), f32(tables[header + ALPHA_HEIGHT]));
    // Clamped to a range that is exact in i32. A texture that repeats 2^20 times has no distinguishable texels left.
    let texel = clamp(vec2f(u, v) * size, vec2f(-1.0e9), vec2f(1.0e9));
    if (tables[header + ALPHA_SAMPLER] & ALPHA_LINEAR) == 0u {
        let nearest = vec2i(floor(texel));
        return alpha_texel(header, nearest.x, nearest.y);
    }
    let corner = floor(texel - 0.5);
    let weight = texel - 0.5 - corner;
    let c = vec2i(corner);
    let top = mix(alpha_texel(header, c.x, c.y), alpha_texel(header, c.x + 1, c.y), weight.x);
    let bottom = mix(alpha_texel(header, c.x, c.y + 1), alpha_texel(header, c.x + 1, c.y + 1), weight.x);
    return mix(top, bottom, weight.y);
}

// Returns the alpha of the material whose header begins at word `header`, at a point of a triangle.
fn alpha_value(header: u32, triangle: u32, barycentric: vec2f) -> f32 {
    let i = vec3u(
        indices(3u * triangle),
        indices(3u * triangle + 1u),
        indices(3u * triangle + 2u),
    );
    let weights = vec3f(1.0 - barycentric.x - barycentric.y, barycentric);
    var value = bitcast<f32>(tables[header + ALPHA_FACTOR]);
    value *= dot(weights, vec3f(scene_color(i.x).a, scene_color(i.y).a, scene_color(i.z).a));
    let uv_set = tables[header + ALPHA_UV_SET];
    if uv_set < 2u {
        let uv = weights.x * scene_uv(i.x, uv_set) + weights.y * scene_uv(i.y, uv_set)
            + weights.z * scene_uv(i.z, uv_set);
        value *= alpha_sample(header, uv);
    }
    return value;
}

// True if a masked surface covers this point, or, at random, if a blended one stops a ray there. A blended surface does
// so with a probability of alpha, independently of other surfaces. `seed` is that of the ray.
fn alpha_stops(header: u32, triangle: u32, barycentric: vec2f, seed: u32) -> bool {
    let value = alpha_value(header, triangle, barycentric);
    let blends = tables[header + ALPHA_BLENDED] != 0u;
    let least = f32(pcg_hash(seed ^ pcg_hash(triangle)) >> 8u) / 16777216.0;
    return select(value >= bitcast<f32>(tables[header + ALPHA_CUTOFF]), value > least, blends);
}
