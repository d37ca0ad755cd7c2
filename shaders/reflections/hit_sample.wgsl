// Samples textures of a material at hits. The mip level comes from the ray's width, while material/material_sample.wgsl
// uses screen-space derivatives.
#import "reflections/listed_hit.wgsl"
#import "material/material.wgsl"

// HitFragment.levels of the current hit.
var<private> hit_levels: vec2f;

// Samples a texture at the transformed UV coordinates `at`. `u` and `v` are the rows of the UV transform. `second`
// selects the mip level of the second UV set.
fn hit_sample(texels: texture_2d<f32>, how: sampler, at: vec2f, u: vec2f, v: vec2f, second: bool) -> vec4f {
    let texel = vec2f(textureDimensions(texels));
    let stretch = max(abs(u.x * v.y - u.y * v.x) * texel.x * texel.y, 1.0e-30);
    let level = select(hit_levels.x, hit_levels.y, second);
    return textureSampleLevel(texels, how, at, level + 0.5 * log2(stretch));
}
