// Which level of the prefiltered cube is for which roughness: lod = (levels − 1) · p^⅔, so that smooth surfaces, whose reflections differ
// most, have more of them, and rough ones lie not too far between two. Its inverse is Prefilter::roughness of render/environment/prefilter.rs.

// `levels` are those of the cube: textureNumLevels.
fn environment_lod(roughness: f32, levels: u32) -> f32 {
    let p = saturate(roughness);
    return f32(levels - 1u) * pow(p, 2.0 / 3.0);
}
