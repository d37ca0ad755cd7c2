// The disc of the sun, for backgrounds that are drawn sharp.

// Half the angle that the sun fills, in radians: 0.2666°. `SUN_RADIUS` of scene/atmosphere.rs.
const SUN_RADIUS = 0.004653;
// What it fills, in steradians.
const SUN_SOLID_ANGLE = 6.8017e-5;

// Radiance of the sun along `direction`, where its illuminance is one; `pixel` is the angle between neighbouring pixels, over which the limb and the
// horizon in front of it, of this sine, are softened. Multiply by the illuminance that has come through the air. Both directions have length one.
fn sky_sun_disc(direction: vec3f, to_sun: vec3f, pixel: f32, horizon: f32) -> f32 {
    // The chord is the angle to one part in a million; its cosine would be none at all.
    let inside = saturate((SUN_RADIUS - length(direction - to_sun)) / pixel + 0.5);
    let above = saturate((direction.y - horizon) / pixel + 0.5);
    return inside * above / SUN_SOLID_ANGLE;
}
