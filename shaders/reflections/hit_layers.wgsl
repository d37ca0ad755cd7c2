// Evaluation of a hit whose material has layers.
#import "reflections/hit_sample.wgsl"
#import "material/material_layers.wgsl"

fn material_sample(number: u32, texels: texture_2d<f32>, how: sampler, at: vec2f) -> vec4f {
    if number >= MATERIAL_TEXTURES {
        let layer = number - MATERIAL_TEXTURES;
        let u = layered.layer_from_uv[2u * layer].xy;
        let v = layered.layer_from_uv[2u * layer + 1u].xy;
        return hit_sample(texels, how, at, u, v, layer_uv_set(layer) == 1u);
    }
    let u = material.texture_from_uv[2u * number].xy;
    let v = material.texture_from_uv[2u * number + 1u].xy;
    return hit_sample(texels, how, at, u, v, material_uv_set(number) == 2u);
}

struct LayeredHit {
    surface: Surface,
    layers: Layers,
    to_eye: vec3f,
}

fn layered_hit(listed: ListedHit) -> LayeredHit {
    let ray = listed_ray(listed);
    let seen = listed_fragment(listed, ray);
    hit_levels = seen.levels;
    let base_color = material_base_color(seen.fragment.uv, seen.fragment.color);
    let s = material_surface(seen.fragment, base_color, seen.front);
    return LayeredHit(s, material_layers(seen.fragment, s, seen.front, -ray.direction), -ray.direction);
}
