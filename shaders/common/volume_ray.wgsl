// Rays in the lattice of a volume. The importer has a `volume` with the fields of VolumeParams (common/volume.wgsl) that
// are named here, `volume_most`, which tells empty bricks, and `volume_transfer`.

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
    if volume_most(vec3u(brick)) > 0.0 {
        return k;
    }
    let faces = (brick + select(vec3f(0.0), vec3f(1.0), ray.direction > vec3f(0.0))) * VOLUME_BRICK;
    let distances = (faces - at) / ray.direction;
    let leaves = t + max(min(distances.x, min(distances.y, distances.z)), 0.0);
    return max(ceil((leaves - ray.first) / ray.step - share), k + 1.0);
}

// Extinction per metre.
fn volume_extinction(texel: f32) -> f32 {
    if (bitcast<u32>(max(texel, 0.0)) >> 31u) + (volume.flags & VOLUME_TRANSFER) != 0u {
        return volume.scale * volume_transfer(texel).a;
    }
    return max(volume.base + volume.scale * texel, 0.0);
}
