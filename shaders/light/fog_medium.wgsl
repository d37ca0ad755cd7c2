// Density of the fog: uniform up to a height, with exponential falloff above it.
//
// The light of the sun and of the sky is taken as it arrives in the scene. Fog does not attenuate it before that,
// because endless uniform fog would absorb all of it. Fog does attenuate the light of punctual lights and the view
// through the fog.
#import "frame/frame.wgsl"

// False in kernels for scenes without fog.
override HAS_FOG: bool = true;

fn fog_is_enabled() -> bool {
    return HAS_FOG && frame.fog_density > 0.0;
}

// Returns the density at a height, relative to the density at the base.
fn fog_share(height: f32) -> f32 {
    return exp(-frame.fog_falloff * max(height - frame.fog_base, 0.0));
}

// Returns the integral of fog_share over the height, from the base on.
fn fog_share_integral(height: f32) -> f32 {
    let above = height - frame.fog_base;
    let x = frame.fog_falloff * above;
    let mean = select((1.0 - exp(-x)) / x, 1.0 - 0.5 * x, x < 1.0e-3);
    return above * select(mean, 1.0, above <= 0.0);
}

// Returns the optical depth between two points, without noise.
fn fog_optical_depth(a: vec3f, b: vec3f) -> f32 {
    let rise = b.y - a.y;
    let is_level = frame.fog_falloff * abs(rise) < 1.0e-3;
    let between = fog_share_integral(b.y) - fog_share_integral(a.y);
    let mean = select(between / rise, fog_share(0.5 * (a.y + b.y)), is_level);
    return frame.fog_density * distance(a, b) * mean;
}

// Returns the optical depth from a point along a unit vector to infinity; very large if it does not converge.
fn fog_optical_depth_beyond(a: vec3f, direction: vec3f) -> f32 {
    let climb = direction.y * frame.fog_falloff;
    let below = frame.fog_falloff * max(frame.fog_base - a.y, 0.0);
    let depth = frame.fog_density * (below + fog_share(a.y)) / climb;
    return min(select(1.0e30, depth, climb > 1.0e-20), 1.0e30);
}

// Returns the inverse of fog_optical_depth: distance in metres along a unit vector, or a very large number if the
// optical depth is never reached.
fn fog_distance_of(a: vec3f, direction: vec3f, depth: f32) -> f32 {
    let level = depth / max(frame.fog_density * fog_share(a.y), 1.0e-30);
    let is_level = abs(direction.y) * frame.fog_falloff * level < 1.0e-3;
    let integral = fog_share_integral(a.y) + depth * direction.y / max(frame.fog_density, 1.0e-30);
    let x = frame.fog_falloff * integral;
    let stretched = select(-log(max(1.0 - x, 1.0e-30)) / x, 1.0 + 0.5 * x, x < 1.0e-3);
    let above = integral * select(stretched, 1.0, integral <= 0.0);
    let along = (above + frame.fog_base - a.y) / direction.y;
    return select(select(max(along, 0.0), 1.0e30, x >= 1.0), level, is_level);
}

// Returns the transmittance of an optical depth.
fn fog_transmittance(depth: f32) -> f32 {
    return exp(-min(depth, 80.0));
}

// Returns one minus the transmittance, precise for small depths.
fn fog_opacity(depth: f32) -> f32 {
    return select(1.0 - fog_transmittance(depth), depth * (1.0 - 0.5 * depth), depth < 1.0e-3);
}
