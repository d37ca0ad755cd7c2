// The disc of the sun, for backgrounds that are drawn sharp.

// Returns the radiance along `direction` of a sun with the angular radius `radius`, in radians, for an illuminance of
// one. Multiply it by the illuminance after attenuation by the atmosphere. `pixel` is the angle between neighbouring
// pixels, over which the limb and the horizon in front of it are antialiased. `horizon` is the sine of the horizon's
// elevation. `direction` and `to_sun` are unit vectors.
fn sky_sun_disc(direction: vec3f, to_sun: vec3f, radius: f32, pixel: f32, horizon: f32) -> f32 {
    // Compares chords, because f32 cannot resolve the cosine of an angle this small.
    let sine = sin(0.5 * radius);
    let inside = saturate((2.0 * sine - length(direction - to_sun)) / pixel + 0.5);
    let above = saturate((direction.y - horizon) / pixel + 0.5);
    return inside * above / (4.0 * PI * sine * sine);
}
