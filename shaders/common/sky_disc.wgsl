// The disc of the sun, for backgrounds that are drawn sharp.

// Solid angle of the sun in steradians.
const SUN_SOLID_ANGLE = 6.8017e-5;

// Radiance of the sun along `direction` for an illuminance of one: multiply it by the illuminance behind the
// atmosphere. `pixel` is the angle between neighbouring pixels, over which the limb and the horizon in front
// of it are softened; `horizon` is the sine of the horizon's elevation. Both directions have length one.
fn sky_sun_disc(direction: vec3f, to_sun: vec3f, pixel: f32, horizon: f32) -> f32 {
    // The chord equals the angle to one part in a million; f32 cannot resolve the cosine of an angle this
    // small.
    let inside = saturate((SUN_RADIUS - length(direction - to_sun)) / pixel + 0.5);
    let above = saturate((direction.y - horizon) / pixel + 0.5);
    return inside * above / SUN_SOLID_ANGLE;
}
