// Visibility of lights from a pixel's surface: traced by shadow rays (`shadow_words`, which the importer
// binds) or looked up in shadow maps.
#import "common/frame.wgsl"
#import "common/gbuffer.wgsl"
#import "common/light.wgsl"
#import "common/shadow_map.wgsl"
#import "common/shadow_words.wgsl"
#import "common/unseen.wgsl"

fn visibility(i: u32, pixel: vec2u, s: Surface, sample: LightSample) -> f32 {
    let shadow_mode = unseen_zero(sample.distance) + frame.shadow_mode;
    if shadow_mode == SHADOWS_RAYS {
        return f32((shadow_words[shadow_word(i, pixel)] >> (i % 32u)) & 1u);
    }
    if shadow_mode == SHADOWS_MAP {
        return shadow_map_visibility(lights[i], sample, s.position, s.smooth_normal);
    }
    return 1.0;
}
