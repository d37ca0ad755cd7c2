// Visibility of lights from a pixel's surface. It comes from shadow rays (`shadow_words`, which the importer binds) or
// from shadow maps, attenuated by volumes.
#import "shadow/chosen_lights.wgsl"
#import "frame/frame.wgsl"
#import "frame/gbuffer.wgsl"
#import "light/light_table.wgsl"
#import "shadow/shadow_map.wgsl"
#import "shadow/shadow_words.wgsl"

// False in kernels for frames that draw no shadow maps.
override HAS_SHADOW_MAPS: bool = true;

// Returns the visibility of the light in a slot, times the light's weight.
fn visibility(slot: u32, chosen: ChosenLight, pixel: vec2u, s: Surface, sample: LightSample) -> f32 {
    let shadow_mode = frame.shadow_mode;
    if shadow_mode == SHADOWS_RAYS {
        return chosen.weight * shadow_share_unpack(shadow_words[shadow_word(slot, pixel)], slot);
    }
    if HAS_SHADOW_MAPS && shadow_mode == SHADOWS_MAP {
        let light = light_at(chosen.light);
        let seen = chosen.weight * shadow_map_visibility(light, sample, pixel, s.position, s.smooth_normal);
        if frame.volume_shadows != 0u {
            return seen * (1.0 - shadow_share_unpack(shadow_words[shadow_word(slot, pixel)], slot));
        }
        return seen;
    }
    return chosen.weight;
}

// Returns the light in a slot of a pixel.
fn visibility_light(slot: u32, pixel: vec2u) -> ChosenLight {
    return chosen_light(slot, shadow_words[chosen_light_word(slot, pixel)]);
}
