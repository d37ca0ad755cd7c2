// The exposure of a picture.

struct Exposure {
    // Multiplies radiance.
    scale: f32,
    ev: f32,
    // EV that the picture's luminance calls for; `ev` adapts towards it.
    target_ev: f32,
}
