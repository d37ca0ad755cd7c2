// Model of the Earth's atmosphere in f32. It is the model of crates/scene/src/atmosphere.rs, which cites its sources.
// Lengths are in kilometres. A vec4f holds light at 630, 570, 520 and 440 nm, relative to the sun's light above the
// atmosphere.
#import "environment/sky_disc.wgsl"

struct SkyParams {
    // Unit vector to the centre of the sun.
    to_sun: vec3f,
    // Factor on the density of the aerosols.
    haze: f32,
    // Illuminance of the sun above the atmosphere.
    illuminance: vec3f,
    ground_albedo: f32,
}

// Distance from the ground to the top of the atmosphere along the horizon.
const AIR_REACH = 1132.2544;

// Scattering and extinction of the air, per kilometre.
struct Air {
    // Scattering by molecules.
    rayleigh: vec4f,
    // Scattering by aerosols.
    mie: f32,
    // Scattering and absorption of all constituents.
    extinction: vec4f,
}

fn air_at(height: f32, haze: f32) -> Air {
    let rayleigh = AIR_RAYLEIGH * exp(-height / 8.0);
    let aerosols = haze * exp(-height / 1.2);
    let ozone = AIR_OZONE * max(1.0 - abs(height - 25.0) / 15.0, 0.0);
    return Air(rayleigh, AIR_MIE * aerosols, rayleigh + AIR_MIE_EXTINCTION * aerosols + ozone);
}

// f32 cannot resolve differences between squared distances from the centre of the Earth. Everything below is therefore
// written in heights.

// Returns the distance at which a ray from `height`, with the cosine `mu` to the zenith, leaves the atmosphere.
fn air_exit(height: f32, mu: f32) -> f32 {
    let across = (AIR_GROUND + height) * mu;
    let above = max(AIR_TOP - height, 0.0) * (2.0 * AIR_GROUND + AIR_TOP + height);
    return max(sqrt(across * across + above) - across, 0.0);
}

// Returns the distance at which that ray hits the ground; negative if it misses the ground.
fn air_ground(height: f32, mu: f32) -> f32 {
    let across = (AIR_GROUND + height) * mu;
    let below = height * (2.0 * AIR_GROUND + height);
    let square = across * across - below;
    let length = below / max(sqrt(max(square, 0.0)) - across, 1.0e-6);
    return select(-1.0, length, mu < 0.0 && square >= 0.0);
}

// Returns the height of that ray after a distance of `length`.
fn air_height(height: f32, mu: f32, length: f32) -> f32 {
    let radius = AIR_GROUND + height;
    let more = height * (2.0 * AIR_GROUND + height) + length * (2.0 * radius * mu + length);
    return max(more / (sqrt(AIR_GROUND * AIR_GROUND + more) + AIR_GROUND), 0.0);
}

// Returns the distance from `height` to the horizon.
fn air_to_horizon(height: f32) -> f32 {
    return sqrt(height * (2.0 * AIR_GROUND + height));
}

// Returns the start and end of an integration step along a ray of length one. Steps grow, because air thins out away
// from the ground.
fn air_step(step: u32, count: u32) -> vec2f {
    let ends = vec2f(f32(step), f32(step + 1u)) / f32(count);
    return ends * ends;
}

// Returns the visible fraction of the sun's disc above the horizon. `mu` is the cosine between its centre and the
// zenith.
fn air_disc_share(height: f32, mu: f32) -> f32 {
    let radius = AIR_GROUND + height;
    let reach = SUN_RADIUS * AIR_GROUND / radius;
    return smoothstep(-reach, reach, mu + air_to_horizon(height) / radius);
}

// Coordinates in tables run from 0 at the centre of the first texel to 1 at the centre of the last one.

// Coordinates in the transmittance table. x: distance to the top of the atmosphere, normalised between the shortest and
// the longest; y: distance to the horizon (Bruneton 2017).
fn air_transmittance_coords(height: f32, mu: f32) -> vec2f {
    let to_horizon = air_to_horizon(height);
    let shortest = AIR_TOP - height;
    let x = (air_exit(height, mu) - shortest) / max(to_horizon + AIR_REACH - shortest, 1.0e-6);
    return saturate(vec2f(x, to_horizon / AIR_REACH));
}

// Returns the height and cosine to the zenith at coordinates in the transmittance table.
fn air_transmittance_ray(coords: vec2f) -> vec2f {
    let to_horizon = AIR_REACH * coords.y;
    let height =
        to_horizon * to_horizon / (sqrt(to_horizon * to_horizon + AIR_GROUND * AIR_GROUND) + AIR_GROUND);
    let shortest = AIR_TOP - height;
    let length = mix(shortest, to_horizon + AIR_REACH, coords.x);
    let across = shortest * (2.0 * AIR_GROUND + AIR_TOP + height) - length * length;
    let mu = across / max(2.0 * (AIR_GROUND + height) * length, 1.0e-6);
    return vec2f(height, select(1.0, clamp(mu, -1.0, 1.0), length > 0.0));
}

// Coordinates in the tables that depend on the sun. x: signed square root of the cosine to the zenith, which gives
// twilight more texels; y: square root of the height.
fn air_sun_coords(height: f32, mu: f32) -> vec2f {
    return saturate(vec2f(0.5 + 0.5 * sign(mu) * sqrt(abs(mu)), sqrt(height / AIR_TOP)));
}

// Returns the height and cosine to the zenith at coordinates in these tables.
fn air_sun(coords: vec2f) -> vec2f {
    let root = 2.0 * coords.x - 1.0;
    return vec2f(AIR_TOP * coords.y * coords.y, root * abs(root));
}

// Returns the linear sRGB of the four bands. Negative components, which are out of gamut, are clipped.
fn air_rgb(bands: vec4f) -> vec3f {
    return max(vec3f(
        dot(bands, vec4f(0.79515, 0.66343, -0.51496, 0.05638)),
        dot(bands, vec4f(-0.03470, 0.43826, 0.67194, -0.07550)),
        dot(bands, vec4f(-0.00088, -0.19140, 0.28527, 0.90701)),
    ), vec3f(0.0));
}
