// Properties of the fog as a medium, and the noise of its density.
#import "light/fog_medium.wgsl"

struct FogMedium {
    // Single-scattering albedo.
    albedo: vec3f,
    anisotropy: f32,
    // Origin of the frame's coordinates in the world.
    origin: vec3f,
    // Frequency of the noise per metre.
    noise_scale: f32,
}

// Returns a random value of a lattice cell, from −1 to 1.
fn fog_lattice(cell: vec3i) -> f32 {
    var h = (u32(cell.x) * 0x8da6b343u) ^ (u32(cell.y) * 0xd8163841u) ^ (u32(cell.z) * 0xcb1ab31fu);
    h = (h ^ (h >> 15u)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12u)) * 0x297a2d39u;
    return f32((h ^ (h >> 15u)) >> 8u) / 8388607.5 - 1.0;
}

fn fog_lattice_between(at: vec3f) -> f32 {
    let corner = vec3i(floor(at));
    let f = at - floor(at);
    let w = f * f * f * (f * (6.0 * f - 15.0) + 10.0);
    var rows: array<f32, 4>;
    for (var i = 0; i < 4; i++) {
        let from_x = corner + vec3i(0, i & 1, i >> 1u);
        rows[i] = mix(fog_lattice(from_x), fog_lattice(from_x + vec3i(1, 0, 0)), w.x);
    }
    return mix(mix(rows[0], rows[1], w.y), mix(rows[2], rows[3], w.y), w.z);
}

// Returns the factor of the noise on the density, with mean 1. Octaves with wavelengths below `width` metres are left
// out.
fn fog_noise(medium: FogMedium, position: vec3f, width: f32) -> f32 {
    if frame.fog_noise <= 0.0 {
        return 1.0;
    }
    var at = (position + medium.origin) * medium.noise_scale;
    var sum = 0.0;
    var weight = 1.0;
    var finest = 1.0 / medium.noise_scale;
    for (var octave = 0u; octave < 3u; octave++) {
        sum += weight * saturate(2.0 - 2.0 * width / finest) * fog_lattice_between(at);
        at = 2.0 * at + vec3f(17.0, 59.0, 83.0);
        weight *= 0.5;
        finest *= 0.5;
    }
    return 1.0 + frame.fog_noise * clamp(sum, -1.0, 1.0);
}
