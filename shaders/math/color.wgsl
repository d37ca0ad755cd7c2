// Luminance, and compression of colours in filters.

// Returns the luminance of a linear Rec. 709 colour.
fn luminance(color: vec3f) -> f32 {
    return dot(color, vec3f(0.2126, 0.7152, 0.0722));
}

// Compresses radiance for averaging over neighbours, so that a single bright sample is not smeared over its neighbours.
// `expanded` is the inverse. The energy that this loses comes back as frames accumulate. `compression` is one over the
// radiance that is displayed as 1, times a strength.
fn compressed(radiance: vec3f, compression: f32) -> vec3f {
    return radiance / (1.0 + luminance(radiance) * compression);
}

fn expanded(color: vec3f, compression: f32) -> vec3f {
    return color / max(1.0 - luminance(color) * compression, 1.0e-3);
}
