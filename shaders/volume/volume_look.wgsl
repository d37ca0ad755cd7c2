// Scattering colour and emission of a volume at a point of its lattice. The importer binds `color_temperature_texture`
// in addition to the inputs of volume/volume.wgsl.
#import "volume/volume.wgsl"

// Returns the colour, and temperature in w.
fn volume_color_temperature(at: vec3f) -> vec4f {
    if (volume.flags & VOLUME_COLOR_TEMPERATURE) == 0u {
        return vec4f(1.0, 1.0, 1.0, 0.0);
    }
    return textureSampleLevel(color_temperature_texture, volume_sampler, at / volume.size, 0.0);
}

// Returns the black-body colour of a temperature relative to the temperature of the hottest voxel.
fn volume_glow(temperature: f32) -> vec3f {
    let place = saturate(temperature) * f32(VOLUME_TABLE - 1u);
    let low = u32(place);
    let high = min(low + 1u, VOLUME_TABLE - 1u);
    return mix(volume.blackbody[low], volume.blackbody[high], fract(place)).rgb;
}

// Returns the absorbed fraction of light for an optical depth, 1 − exp(−x), precise for small depths.
fn volume_taken(depth: f32) -> f32 {
    return select(1.0 - exp(-depth), depth * (1.0 - depth * (0.5 - depth / 6.0)), depth < 0.01);
}

// Returns the radiance that a step emits at its end. The step absorbs the fraction `taken` of light.
fn volume_emitted(look: vec4f, extinction: f32, width: f32, taken: f32) -> vec3f {
    return volume.emission * volume_glow(look.a)
        * select(width, taken / extinction, extinction * width > 1.0e-6);
}
