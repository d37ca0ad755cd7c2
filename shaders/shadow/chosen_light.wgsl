// A light chosen at random among many, packed in a word.

struct ChosenLight {
    light: u32,
    // Factor on the light's radiance that also accounts for the lights that were not chosen. It is 0 for an empty slot.
    // The last eight bits are lost in packing.
    weight: f32,
}

fn chosen_light_pack(chosen: ChosenLight) -> u32 {
    return (bitcast<u32>(chosen.weight) & 0xffffff00u) | chosen.light;
}

fn chosen_light_unpack(word: u32) -> ChosenLight {
    return ChosenLight(word & 0xffu, bitcast<f32>(word & 0xffffff00u));
}
