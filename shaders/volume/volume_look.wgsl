// What a volume scatters and emits at a place of its lattice. The importer binds `look_texture` beside what
// volume/volume.wgsl asks for.
#import "volume/volume.wgsl"

// Colour and temperature of the voxels.
fn volume_look(at: vec3f) -> vec4f {
    if (volume.flags & VOLUME_LOOK) == 0u {
        return vec4f(1.0, 1.0, 1.0, 0.0);
    }
    return textureSampleLevel(look_texture, volume_sampler, at / volume.size, 0.0);
}

// Colours of a temperature over that of the hottest voxel.
fn volume_glow(temperature: f32) -> vec3f {
    let place = saturate(temperature) * f32(VOLUME_TABLE - 1u);
    let low = u32(place);
    let high = min(low + 1u, VOLUME_TABLE - 1u);
    return mix(volume.blackbody[low], volume.blackbody[high], fract(place)).rgb;
}

// The share of light that a step of this optical depth takes: 1 − exp(−x), without what rounding takes from small ones.
fn volume_taken(depth: f32) -> f32 {
    return select(1.0 - exp(-depth), depth * (1.0 - depth * (0.5 - depth / 6.0)), depth < 0.01);
}

// Radiance that a step emits to its end, which takes the share `taken` of light.
fn volume_emitted(look: vec4f, extinction: f32, width: f32, taken: f32) -> vec3f {
    return volume.emission * volume_glow(look.a)
        * select(width, taken / extinction, extinction * width > 1.0e-6);
}
