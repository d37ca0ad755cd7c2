// sky: light that the atmosphere scatters towards an eye near the ground, in every direction of a cube, and the ground
// below. The sun's disc is not included.
//
// The method is Hillaire 2020, "A Scalable and Production Ready Sky and Atmosphere Rendering Technique". Three tables
// depend only on the atmosphere and are kept until it changes. Light is then integrated along a ray for each texel.
//
// sky_transmittance  transmittance along a ray from a height to space: one thread per texel
// sky_scattering     light scattered at least once that arrives at a height, taken as isotropic, per illuminance of the
//                    sun: one workgroup per texel, one thread per direction (section 5.5: Ψ = L_2nd / (1 − f))
// sky_irradiance     irradiance of the ground from the sky: one workgroup per texel, SKY_RAYS directions per thread
// sky                mip level 0 of the cube: one thread per texel
//
// Each is a separate dispatch. The later two tables are scaled by SKY_SCALE, so that half floats still resolve the
// night.
#import "environment/atmosphere.wgsl"
#import "environment/cube_map.wgsl"
#import "math/half_float.wgsl"

@group(0) @binding(0) var<uniform> params: SkyParams;
@group(0) @binding(1) var table: texture_storage_2d<rgba16float, write>;
@group(0) @binding(1) var cube: texture_storage_2d_array<rgba16float, write>;
@group(0) @binding(2) var smooth_sampler: sampler;
@group(0) @binding(3) var transmittance: texture_2d<f32>;
@group(0) @binding(4) var scattering: texture_2d<f32>;
@group(0) @binding(5) var irradiance: texture_2d<f32>;

const SKY_DIRECTIONS = 64u;

var<workgroup> gathered: array<vec4f, SKY_DIRECTIONS>;
var<workgroup> scattered: array<vec4f, SKY_DIRECTIONS>;

// Coordinates of a texel in the table being written.
fn table_coords(texel: vec2u) -> vec2f {
    return vec2f(texel) / max(vec2f(textureDimensions(table)) - 1.0, vec2f(1.0));
}

fn lookup(from_table: texture_2d<f32>, coords: vec2f) -> vec4f {
    let size = vec2f(textureDimensions(from_table));
    return textureSampleLevel(from_table, smooth_sampler, (coords * (size - 1.0) + 0.5) / size, 0.0);
}

// Returns the fraction of the sun's light that arrives at a height.
fn sunlight(height: f32, mu: f32) -> vec4f {
    let above = max(mu, -air_to_horizon(height) / (AIR_GROUND + height));
    return air_disc_share(height, mu) * lookup(transmittance, air_transmittance_coords(height, above));
}

// Returns the cosine of the sun to the zenith at the end of a ray. At the start of the ray it is `mu_sun`, and `nu` is
// the cosine between ray and sun.
fn sun_after(height: f32, mu_sun: f32, nu: f32, length: f32, end: f32) -> f32 {
    let mu = ((AIR_GROUND + height) * mu_sun + length * nu) / (AIR_GROUND + end);
    return clamp(mu, -1.0, 1.0);
}

// Radiance along a ray, and the transmittance to its end.
struct AtmosphereLight {
    light: vec4f,
    transmittance: vec4f,
}

// Returns the radiance that the atmosphere scatters towards an eye at `height` along a ray, and the transmittance of
// the ray. `mu` and `mu_sun` are the zenith cosines of the ray and of the sun, and `nu` is the cosine between them.
// `whole` is the length of the ray.
fn air_light(height: f32, mu: f32, mu_sun: f32, nu: f32, whole: f32) -> AtmosphereLight {
    let around = 1.0 + nu * nu;
    let rayleigh_phase = 3.0 / (16.0 * PI) * around;
    // Cornette and Shanks 1992, with g = 0.8.
    let toward = 1.64 - 1.6 * nu;
    let mie_phase = 3.0 / (8.0 * PI) * 0.36 / 2.64 * around / (toward * sqrt(toward));
    var light = vec4f(0.0);
    var through = vec4f(1.0);
    for (var i = 0u; i < SKY_STEPS; i++) {
        let ends = whole * air_step(i, SKY_STEPS);
        let length = 0.5 * (ends.x + ends.y);
        let at = air_height(height, mu, length);
        let mu_there = sun_after(height, mu_sun, nu, length, at);
        let air = air_at(at, params.haze);
        let once = sunlight(at, mu_there) * (air.rayleigh * rayleigh_phase + air.mie * mie_phase);
        let more = lookup(scattering, air_sun_coords(at, mu_there)) / f32(SKY_SCALE)
            * (air.rayleigh + air.mie);
        let kept = exp(-air.extinction * (ends.y - ends.x));
        light += through * (once + more) * (1.0 - kept) / max(air.extinction, vec4f(1.0e-9));
        through *= kept;
    }
    return AtmosphereLight(light, through);
}

// Returns the cosine between the sun and a ray, from their azimuth difference of at most π.
fn between(mu: f32, mu_sun: f32, azimuth: f32) -> f32 {
    return mu * mu_sun + sqrt(max((1.0 - mu * mu) * (1.0 - mu_sun * mu_sun), 0.0)) * cos(azimuth);
}

@compute @workgroup_size(8, 8)
fn sky_transmittance(@builtin(global_invocation_id) thread: vec3u) {
    let size = textureDimensions(table);
    if any(thread.xy >= size) {
        return;
    }
    let ray = air_transmittance_ray(table_coords(thread.xy));
    let whole = air_exit(ray.x, ray.y);
    var depth = vec4f(0.0);
    for (var i = 0u; i < SKY_STEPS; i++) {
        let ends = whole * air_step(i, SKY_STEPS);
        let at = air_height(ray.x, ray.y, 0.5 * (ends.x + ends.y));
        depth += (ends.y - ends.x) * air_at(at, params.haze).extinction;
    }
    textureStore(table, thread.xy, exp(-depth));
}

@compute @workgroup_size(SKY_DIRECTIONS)
fn sky_scattering(@builtin(workgroup_id) texel: vec3u, @builtin(local_invocation_index) thread: u32) {
    let there = air_sun(table_coords(texel.xy));
    // The sphere is symmetric about the sun's azimuth, so one half is enough.
    let mu = (f32(thread / 8u) + 0.5) / 4.0 - 1.0;
    let nu = between(mu, there.y, (f32(thread % 8u) + 0.5) / 8.0 * PI);
    let to_ground = air_ground(there.x, mu);
    let whole = select(air_exit(there.x, mu), to_ground, to_ground >= 0.0);
    var light = vec4f(0.0);
    var share = vec4f(0.0);
    var through = vec4f(1.0);
    for (var i = 0u; i < SKY_STEPS; i++) {
        let ends = whole * air_step(i, SKY_STEPS);
        let length = 0.5 * (ends.x + ends.y);
        let at = air_height(there.x, mu, length);
        let air = air_at(at, params.haze);
        let kept = exp(-air.extinction * (ends.y - ends.x));
        let seen = through * (air.rayleigh + air.mie) * (1.0 - kept) / max(air.extinction, vec4f(1.0e-9));
        light += seen * sunlight(at, sun_after(there.x, there.y, nu, length, at)) / (4.0 * PI);
        share += seen;
        through *= kept;
    }
    let mu_ground = sun_after(there.x, there.y, nu, whole, 0.0);
    let ground = params.ground_albedo / PI * sunlight(0.0, mu_ground) * max(mu_ground, 0.0);
    gathered[thread] = light + select(vec4f(0.0), through * ground, to_ground >= 0.0);
    scattered[thread] = share;
    workgroupBarrier();
    if thread > 0u {
        return;
    }
    for (var i = 1u; i < SKY_DIRECTIONS; i++) {
        gathered[0] += gathered[i];
        scattered[0] += scattered[i];
    }
    let count = f32(SKY_DIRECTIONS);
    textureStore(table, texel.xy, f32(SKY_SCALE) * gathered[0] / (count - scattered[0]));
}

@compute @workgroup_size(SKY_DIRECTIONS)
fn sky_irradiance(@builtin(workgroup_id) texel: vec3u, @builtin(local_invocation_index) thread: u32) {
    let mu_sun = air_sun(table_coords(texel.xy)).y;
    var light = vec4f(0.0);
    for (var ray = 0u; ray < SKY_RAYS; ray++) {
        // Evenly spread over the disc below the hemisphere, which gives cosine weighting.
        let mu = sqrt((f32(ray * 4u + thread / 16u) + 0.5) / f32(4u * SKY_RAYS));
        let nu = between(mu, mu_sun, (f32(thread % 16u) + 0.5) / 16.0 * PI);
        light += air_light(0.0, mu, mu_sun, nu, air_exit(0.0, mu)).light;
    }
    gathered[thread] = light;
    workgroupBarrier();
    if thread > 0u {
        return;
    }
    for (var i = 1u; i < SKY_DIRECTIONS; i++) {
        gathered[0] += gathered[i];
    }
    textureStore(table, texel.xy, f32(SKY_SCALE) * PI / f32(SKY_DIRECTIONS * SKY_RAYS) * gathered[0]);
}

@compute @workgroup_size(8, 8)
fn sky(@builtin(global_invocation_id) thread: vec3u) {
    let size = textureDimensions(cube);
    if any(thread.xy >= size) {
        return;
    }
    let coords = (2.0 * vec2f(thread.xy) + 1.0) / f32(size.x) - 1.0;
    let direction = normalize(cube_map_direction(thread.z, coords));
    let nu = clamp(dot(direction, params.to_sun), -1.0, 1.0);
    let to_ground = air_ground(SKY_EYE, direction.y);
    let is_ground = to_ground >= 0.0;
    let whole = select(air_exit(SKY_EYE, direction.y), to_ground, is_ground);
    let seen = air_light(SKY_EYE, direction.y, params.to_sun.y, nu, whole);
    let mu_ground = sun_after(SKY_EYE, params.to_sun.y, nu, whole, 0.0);
    let from_sky = lookup(irradiance, vec2f(air_sun_coords(0.0, mu_ground).x, 0.0)) / f32(SKY_SCALE);
    let ground = params.ground_albedo / PI * (sunlight(0.0, mu_ground) * max(mu_ground, 0.0) + from_sky);
    let light = seen.light + select(vec4f(0.0), seen.transmittance * ground, is_ground);
    let radiance = min(params.illuminance * air_rgb(light), vec3f(RADIANCE_MAX));
    textureStore(cube, thread.xy, thread.z, half_float_round(vec4f(radiance, 1.0)));
}
