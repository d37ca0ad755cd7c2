// A volume on its lattice: its parameters, lookups and transmittance. The importer binds `volume`, `density_texture`,
// `majorant_texture` and `volume_sampler`.
#import "volume/volume_ray.wgsl"

struct VolumeParams {
    // Transform from frame coordinates to voxel indices. Voxel i lies between i and i + 1 along each axis.
    voxel_from_world: mat4x4f,
    world_from_voxel: mat4x4f,
    // Size in voxels.
    size: vec3f,
    // Extinction per metre of a texel of 1, in addition to the base.
    scale: f32,
    // Single-scattering albedo.
    albedo: vec3f,
    // Extinction per metre of a texel of 0.
    base: f32,
    // Cells of the light grid along each axis.
    cells: vec3u,
    // Number of lights that shine into the volume.
    lights: u32,
    anisotropy: f32,
    // Step length in voxels.
    step: f32,
    // Radiance per metre at the hottest voxel.
    emission: f32,
    // Texel value of the isosurface; negative for none.
    isovalue: f32,
    // Mapping from texels to the transfer function's domain [0, 1].
    transfer_scale: f32,
    transfer_base: f32,
    // Bit mask of VOLUME_… flags.
    flags: u32,
    // Black-body colours by temperature, from 0 to the temperature of the hottest voxel.
    blackbody: array<vec4f, VOLUME_TABLE>,
    // Transfer function: colour and opacity by value.
    transfer: array<vec4f, VOLUME_TABLE>,
}

// Returns the largest extinction per metre in a brick, or 0 if the brick is empty.
fn volume_majorant(brick: vec3u) -> f32 {
    return textureLoad(majorant_texture, brick, 0).r;
}

// Returns the texel at a point of the lattice.
fn volume_texel(at: vec3f) -> f32 {
    return textureSampleLevel(density_texture, volume_sampler, at / volume.size, 0.0).r;
}

// Samples the transfer function.
fn volume_transfer(texel: f32) -> vec4f {
    let place = saturate(texel * volume.transfer_scale + volume.transfer_base) * f32(VOLUME_TABLE - 1u);
    let low = u32(place);
    let high = min(low + 1u, VOLUME_TABLE - 1u);
    return mix(volume.transfer[low], volume.transfer[high], fract(place));
}

// Returns the transmittance of the volume along a ray.
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
