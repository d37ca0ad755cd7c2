// A light chosen at random among many, packed in a word.

struct ChosenLight {
    light: u32,
    // Factor on the light's radiance that also accounts for the lights that were not chosen. It is 0 for an empty slot.
    // Packing rounds it to eight bits after the leading one.
    weight: f32,
}

fn chosen_light_pack(chosen: ChosenLight) -> u32 {
    return (((bitcast<u32>(chosen.weight) + 0x4000u) << 1u) & 0xffff0000u) | chosen.light;
}

fn chosen_light_unpack(word: u32) -> ChosenLight {
    return ChosenLight(word & 0xffffu, bitcast<f32>((word & 0xffff0000u) >> 1u));
}
