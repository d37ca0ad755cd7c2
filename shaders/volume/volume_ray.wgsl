// Rays in the lattice of a volume, and what they meet there. The importer has a `volume` with the fields of VolumeParams
// (volume/volume.wgsl) that are named here, its `volume_texel` and `volume_transfer`, and `volume_most`, which tells empty
// bricks.

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

// Share of the extinction that scatters.
fn volume_color(texel: f32, look: vec4f) -> vec3f {
    var color = volume.albedo * look.rgb;
    if (volume.flags & VOLUME_TRANSFER) != 0u {
        color *= volume_transfer(texel).rgb;
    }
    return color;
}

// The distance between two at which texels reach `isovalue`.
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

// The texel where there is a volume, else 0: where it ends it has a surface.
fn volume_texel_within(at: vec3f) -> f32 {
    return select(0.0, volume_texel(at), volume_is_within(at));
}

// The normal of a surface at a place of the lattice, on the side of the eye.
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
