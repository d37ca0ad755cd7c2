// The lights that a pixel sends shadow rays to: all of them, or, where that would be more rays than the
// budget allows, those that `light_choice` has chosen, as words behind the results of shadow rays.
#import "shadow/chosen_light.wgsl"
#import "frame/frame.wgsl"
#import "shadow/shadow_words.wgsl"

// The light in a slot, of which `word` is what shadow_words hold at `chosen_light_word`.
fn chosen_light(slot: u32, word: u32) -> ChosenLight {
    if frame.light_slots == frame.light_count {
        return ChosenLight(slot, 1.0);
    }
    return chosen_light_unpack(word);
}

// The word that holds the slot's light; any word where all lights have slots.
fn chosen_light_word(slot: u32, pixel: vec2u) -> u32 {
    let row = (2u * frame.counts_cost + slot) * frame.size.y + pixel.y;
    let word = shadow_words_end() + row * frame.size.x + pixel.x;
    return select(word, 0u, frame.light_slots == frame.light_count);
}
