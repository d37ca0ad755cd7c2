// Exposure of a picture.

struct Exposure {
    // Factor on radiance.
    scale: f32,
    ev: f32,
    // Metered exposure value, which `ev` adapts to.
    target_ev: f32,
}
