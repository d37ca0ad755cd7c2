// A volume on its lattice: where a ray is in it, and what takes light from the ray. The importer binds
// `volume`, `density_texture`, `skip_texture` and `volume_sampler`.
#import "volume/volume_ray.wgsl"

struct VolumeParams {
    // From the frame's coordinates to the lattice, whose voxel i lies between i and i + 1 along each axis.
    voxel_from_world: mat4x4f,
    world_from_voxel: mat4x4f,
    // Voxels along each axis.
    size: vec3f,
    // Extinction per metre of a texel of 1, on top of the base.
    scale: f32,
    // Share of the extinction that scatters.
    albedo: vec3f,
    // Extinction per metre of a texel of 0.
    base: f32,
    // Cells of the light grid along each axis.
    cells: vec3u,
    // Lights that shine into the volume.
    lights: u32,
    anisotropy: f32,
    // Length of a step in voxels.
    step: f32,
    // Radiance per metre where the volume is hottest.
    emission: f32,
    // The texel at whose value a surface lies; negative for none.
    isovalue: f32,
    // From texels to places in the transfer function, from 0 to 1.
    transfer_scale: f32,
    transfer_base: f32,
    // VOLUME_…
    flags: u32,
    // Colours by temperature, from 0 to that of the hottest voxel.
    blackbody: array<vec4f, VOLUME_TABLE>,
    // Colour and opacity by value.
    transfer: array<vec4f, VOLUME_TABLE>,
}

// Something above 0 where a brick is not empty.
fn volume_most(brick: vec3u) -> f32 {
    return textureLoad(skip_texture, brick, 0).r;
}

// The texel at a place of the lattice.
fn volume_texel(at: vec3f) -> f32 {
    return textureSampleLevel(density_texture, volume_sampler, at / volume.size, 0.0).r;
}

// An entry of the transfer function.
fn volume_transfer(texel: f32) -> vec4f {
    let place = saturate(texel * volume.transfer_scale + volume.transfer_base) * f32(VOLUME_TABLE - 1u);
    let low = u32(place);
    let high = min(low + 1u, VOLUME_TABLE - 1u);
    return mix(volume.transfer[low], volume.transfer[high], fract(place));
}

// The share of light that comes through along a ray.
fn volume_transmittance(origin: vec3f, direction: vec3f, far: f32) -> f32 {
    let ray = volume_ray(origin, direction, far);
    var depth = 0.0;
    var k = 0.0;
    loop {
        if k >= ray.steps || depth > VOLUME_OPAQUE {
            break;
        }
        let step = volume_step(ray, k);
        let t = step.x + 0.5 * step.y;
        let at = ray.origin + t * ray.direction;
        let next = volume_skip(ray, at, k, t, 0.5);
        if next > k {
            k = next;
            continue;
        }
        let texel = volume_texel(at);
        if volume.isovalue >= 0.0 {
            depth += select(0.0, 2.0 * VOLUME_OPAQUE, texel >= volume.isovalue);
        } else {
            depth += step.y * volume_extinction(texel);
        }
        k += 1.0;
    }
    return select(exp(-depth), 0.0, depth > VOLUME_OPAQUE);
}
