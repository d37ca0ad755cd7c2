// Level of the prefiltered cube for a roughness: lod = (levels − 1) · p^⅔. Smooth surfaces, whose reflections
// differ most, have more levels, and rough ones lie not too far between two. Prefilter::roughness of
// render/environment/prefilter.rs is the inverse.

// `levels` is textureNumLevels of the cube.
fn environment_lod(roughness: f32, levels: u32) -> f32 {
    let p = saturate(roughness);
    return f32(levels - 1u) * pow(p, 2.0 / 3.0);
}
