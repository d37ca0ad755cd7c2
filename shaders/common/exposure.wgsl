// How a picture is exposed.

struct Exposure {
    // Multiplies radiance.
    scale: f32,
    ev: f32,
    // Stops (EV) that the picture asks for, which `ev` goes towards.
    target_ev: f32,
}
