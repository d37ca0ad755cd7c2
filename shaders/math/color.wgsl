// Luminance, and colours of filters.

// Linear Rec. 709 colours.
fn luminance(color: vec3f) -> f32 {
    return dot(color, vec3f(0.2126, 0.7152, 0.0722));
}

// Radiance among neighbours: what is bright counts less, as it does in the picture, so that a single bright sample is
// not smeared over its neighbours. What that takes away comes back as frames come together. `compression` is over the
// radiance that is shown like a colour of 1.
fn compressed(radiance: vec3f, compression: f32) -> vec3f {
    return radiance / (1.0 + luminance(radiance) * compression);
}

fn expanded(color: vec3f, compression: f32) -> vec3f {
    return color / max(1.0 - luminance(color) * compression, 1.0e-3);
}
