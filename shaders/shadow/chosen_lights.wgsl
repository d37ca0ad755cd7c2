// The lights that a pixel casts shadow rays to. These are all lights, or the lights that `light_choice` chose if rays
// to all lights would exceed the budget. Chosen lights are stored as words after the results of the shadow rays.
#import "shadow/chosen_light.wgsl"
#import "frame/frame.wgsl"
#import "shadow/shadow_words.wgsl"

// Returns the light in a slot. `word` is the word of shadow_words at `chosen_light_word`.
fn chosen_light(slot: u32, word: u32) -> ChosenLight {
    if frame.light_slots == frame.light_count {
        return ChosenLight(slot, 1.0);
    }
    return chosen_light_unpack(word);
}

// Returns the index of the word that holds the slot's light. It has no meaning if all lights have slots.
fn chosen_light_word(slot: u32, pixel: vec2u) -> u32 {
    let row = (2u * frame.counts_cost + slot) * frame.size.y + pixel.y;
    let word = shadow_words_end() + row * frame.size.x + pixel.x;
    return select(word, 0u, frame.light_slots == frame.light_count);
}
