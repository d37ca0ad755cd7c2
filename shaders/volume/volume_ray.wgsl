// Rays in the lattice of a volume, and their intersections. The importer defines `volume` with the fields of
// VolumeParams (volume/volume.wgsl) that this file uses, `volume_texel`, `volume_transfer`, and `volume_majorant`,
// which identifies empty bricks.

// A ray in lattice coordinates, parametrised by the distance in metres.
struct VolumeRay {
    origin: vec3f,
    direction: vec3f,
    // Distances at which the ray enters and leaves the lattice. If first ≥ end, it misses.
    first: f32,
    end: f32,
    // Step length in metres.
    step: f32,
    // Number of steps. The last step may be shorter.
    steps: f32,
}

fn volume_ray(origin: vec3f, direction: vec3f, far: f32) -> VolumeRay {
    let start = (volume.voxel_from_world * vec4f(origin, 1.0)).xyz;
    let along = (volume.voxel_from_world * vec4f(direction, 0.0)).xyz;
    // Avoids division by 0 for rays parallel to a face.
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

// Returns the start and length of step `k` of a ray.
fn volume_step(ray: VolumeRay, k: f32) -> vec2f {
    let first = ray.first + k * ray.step;
    return vec2f(first, min(ray.step, ray.end - first));
}

// Returns the first step whose sample lies beyond the empty brick around `at`. The sample is at the fraction `share` of
// its step, and step `k` is the current one. Returns `k` if the brick is not empty.
fn volume_skip(ray: VolumeRay, at: vec3f, k: f32, t: f32, share: f32) -> f32 {
    let brick = floor(clamp(at, vec3f(0.0), volume.size - 0.5) / VOLUME_BRICK);
    if volume_majorant(vec3u(brick)) > 0.0 {
        return k;
    }
    let faces = (brick + select(vec3f(0.0), vec3f(1.0), ray.direction > vec3f(0.0))) * VOLUME_BRICK;
    let distances = (faces - at) / ray.direction;
    let leaves = t + max(min(distances.x, min(distances.y, distances.z)), 0.0);
    return max(ceil((leaves - ray.first) / ray.step - share), k + 1.0);
}

// Returns the extinction per metre.
fn volume_extinction(texel: f32) -> f32 {
    if (bitcast<u32>(max(texel, 0.0)) >> 31u) + (volume.flags & VOLUME_TRANSFER) != 0u {
        return volume.scale * volume_transfer(texel).a;
    }
    return max(volume.base + volume.scale * texel, 0.0);
}

// Returns the single-scattering albedo.
fn volume_color(texel: f32, look: vec4f) -> vec3f {
    var color = volume.albedo * look.rgb;
    if (volume.flags & VOLUME_TRANSFER) != 0u {
        color *= volume_transfer(texel).rgb;
    }
    return color;
}

// Bisects the isosurface between two distances.
fn volume_surface(ray: VolumeRay, span: vec2f) -> f32 {
    var low = span.x;
    var high = span.y;
    for (var i = 0u; i < VOLUME_BISECTIONS; i++) {
        let middle = 0.5 * (low + high);
        let inside = volume_texel(ray.origin + middle * ray.direction) >= volume.isovalue;
        low = select(middle, low, inside);
        high = select(high, middle, inside);
    }
    return high;
}

fn volume_is_within(at: vec3f) -> bool {
    return all(at >= vec3f(0.0)) && all(at <= volume.size);
}

// Returns the texel inside the lattice, else 0, so that the volume has a surface at the lattice's border.
fn volume_texel_within(at: vec3f) -> f32 {
    return select(0.0, volume_texel(at), volume_is_within(at));
}

// Returns the isosurface's normal in world space, towards the eye. `at` is in lattice coordinates.
fn volume_normal(at: vec3f, to_eye: vec3f) -> vec3f {
    var gradient: vec3f;
    for (var axis = 0u; axis < 3u; axis++) {
        let along = select(vec3f(0.0), vec3f(1.0), vec3u(axis) == vec3u(0u, 1u, 2u));
        gradient[axis] = volume_texel_within(at + along) - volume_texel_within(at - along);
    }
    let towards = -(transpose(volume.voxel_from_world) * vec4f(gradient, 0.0)).xyz;
    let normal = select(to_eye, normalize(towards), dot(towards, towards) > 0.0);
    return normal * select(-1.0, 1.0, dot(normal, to_eye) >= 0.0);
}
