// A volume on its lattice: where a ray is in it, and what takes light from the ray. The importer binds
// `volume`, `density_texture`, `skip_texture` and `volume_sampler`; `volume` is a storage buffer, because
// loops depend on it (common/unseen.wgsl).

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

// A ray in the lattice: positions are those of the distance in metres.
struct VolumeRay {
    origin: vec3f,
    direction: vec3f,
    // Distances between which the ray is in the lattice; it is not where they fall.
    first: f32,
    end: f32,
    // Metres of a step.
    step: f32,
    // Steps, of which the last may be shorter.
    steps: f32,
}

fn volume_ray(origin: vec3f, direction: vec3f, far: f32) -> VolumeRay {
    let start = (volume.voxel_from_world * vec4f(origin, 1.0)).xyz;
    let along = (volume.voxel_from_world * vec4f(direction, 0.0)).xyz;
    // Rays along a face are in the lattice or not; no division by 0.
    let safe = select(along, vec3f(1.0e-20), abs(along) < vec3f(1.0e-20));
    let to_low = -start / safe;
    let to_high = (volume.size - start) / safe;
    let near_faces = min(to_low, to_high);
    let far_faces = max(to_low, to_high);
    let first = max(max(near_faces.x, max(near_faces.y, near_faces.z)), 0.0);
    let end = min(min(far_faces.x, min(far_faces.y, far_faces.z)), far);
    let step = volume.step / max(length(along), 1.0e-20);
    let steps = select(0.0, ceil((end - first) / step), end > first);
    return VolumeRay(start, safe, first, end, step, min(steps, VOLUME_STEPS_MAX));
}

// The step `k` of a ray: where it begins and how long it is.
fn volume_step(ray: VolumeRay, k: f32) -> vec2f {
    let first = ray.first + k * ray.step;
    return vec2f(first, min(ray.step, ray.end - first));
}

// The number of the first step whose sample, `share` of a step behind its beginning, is not before the end of
// the empty brick around `at`, which step `k` has met; `k` where there is something.
fn volume_skip(ray: VolumeRay, at: vec3f, k: f32, t: f32, share: f32) -> f32 {
    let brick = floor(clamp(at, vec3f(0.0), volume.size - 0.5) / VOLUME_BRICK);
    if textureLoad(skip_texture, vec3u(brick), 0).r > 0.0 {
        return k;
    }
    let faces = (brick + select(vec3f(0.0), vec3f(1.0), ray.direction > vec3f(0.0))) * VOLUME_BRICK;
    let distances = (faces - at) / ray.direction;
    let leaves = t + max(min(distances.x, min(distances.y, distances.z)), 0.0);
    return max(ceil((leaves - ray.first) / ray.step - share), k + 1.0);
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

// Extinction per metre.
fn volume_extinction(texel: f32) -> f32 {
    if (bitcast<u32>(max(texel, 0.0)) >> 31u) + (volume.flags & VOLUME_TRANSFER) != 0u {
        return volume.scale * volume_transfer(texel).a;
    }
    return max(volume.base + volume.scale * texel, 0.0);
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
