// A light that was chosen among many, in a word.

struct ChosenLight {
    light: u32,
    // What its light is multiplied with to stand for the lights that were not chosen; 0 for an empty slot.
    // Its last eight bits are not kept.
    weight: f32,
}

fn chosen_light_pack(chosen: ChosenLight) -> u32 {
    return (bitcast<u32>(chosen.weight) & 0xffffff00u) | chosen.light;
}

fn chosen_light_unpack(word: u32) -> ChosenLight {
    return ChosenLight(word & 0xffu, bitcast<f32>(word & 0xffffff00u));
}
