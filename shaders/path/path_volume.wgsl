// Volumes on the way of a path, read from its table (path/path_table.wgsl). Scattering uses delta tracking (Woodcock et
// al. 1965). Transmittance to the light uses ratio tracking (Novák, Selle and Jarosz 2014). Both methods are unbiased.
// Each brick has its own majorant, so empty space costs one step per brick. The importer binds `table` and `params`.
//
// A volume in the table starts with the first words of its densities, colours and bricks, the level of its voxels, and
// the largest component of a colour. Its VolumeParams follow. A voxel of level n is the mean of 2ⁿ × 2ⁿ × 2ⁿ voxels.
// Values are fractions of the largest one, two per word. Each row of densities begins at a word.
#import "path/path_material.wgsl"
#import "path/path_random.wgsl"
#import "volume/volume_ray.wgsl"

// False in kernels for scenes without volumes.
override HAS_VOLUMES: bool = true;
// Maximum number of steps, each of which enters a brick or samples the density. Almost no ray needs as many.
const PATH_VOLUME_STEPS = 65536u;
// Transmittance below which Russian roulette applies.
const PATH_VOLUME_MIN = 0.1;

struct PathVolume {
    voxel_from_world: mat4x4f,
    // Size in voxels.
    size: vec3f,
    scale: f32,
    albedo: vec3f,
    base: f32,
    anisotropy: f32,
    step: f32,
    emission: f32,
    isovalue: f32,
    transfer_scale: f32,
    transfer_base: f32,
    flags: u32,
    // First words of the parts in the table.
    densities: u32,
    colors: u32,
    bricks: u32,
    tables: u32,
    // Size in stored voxels, and the width of a stored voxel in voxels.
    stored: vec3u,
    width: f32,
    brightest: f32,
}

var<private> volume: PathVolume;

fn path_volume_load(index: u32) {
    let header = params.volume_word + PATH_VOLUME * index;
    let at = header + PATH_VOLUME_HEADER;
    let level = table[header + 3u];
    let rows = at + PATH_VOLUME_ROWS;
    volume.densities = table[header];
    volume.colors = table[header + 1u];
    volume.bricks = table[header + 2u];
    volume.tables = at + PATH_VOLUME_TABLES;
    volume.voxel_from_world = mat4x4f(
        vec4f(table_vec3(at), 0.0),
        vec4f(table_vec3(at + 4u), 0.0),
        vec4f(table_vec3(at + 8u), 0.0),
        vec4f(table_vec3(at + 12u), 1.0),
    );
    volume.size = table_vec3(rows);
    volume.scale = table_float(rows + 3u);
    volume.albedo = table_vec3(rows + 4u);
    volume.base = table_float(rows + 7u);
    volume.anisotropy = table_float(rows + 12u);
    volume.step = table_float(rows + 13u);
    volume.emission = table_float(rows + 14u);
    volume.isovalue = table_float(rows + 15u);
    volume.transfer_scale = table_float(rows + 16u);
    volume.transfer_base = table_float(rows + 17u);
    volume.flags = table[rows + 18u];
    volume.stored = (vec3u(volume.size) + (1u << level) - 1u) >> vec3u(level);
    volume.width = f32(1u << level);
    volume.brightest = table_float(header + 4u);
}

fn volume_majorant(brick: vec3u) -> f32 {
    let counts = vec3u(ceil(volume.size / VOLUME_BRICK));
    return table_float(volume.bricks + (brick.z * counts.y + brick.y) * counts.x + brick.x);
}

// The eight voxels around a point, with trilinear weights.
struct VoxelsAround {
    low: vec3u,
    high: vec3u,
    share: vec3f,
}

fn path_voxels(at: vec3f) -> VoxelsAround {
    let last = vec3f(volume.stored) - 1.0;
    let place = clamp(at / volume.width - 0.5, vec3f(0.0), last);
    let low = vec3u(place);
    return VoxelsAround(low, min(low + 1u, vec3u(last)), place - vec3f(low));
}

fn path_voxel_share(around: VoxelsAround, corner: u32) -> f32 {
    let is_high = (vec3u(corner) & vec3u(1u, 2u, 4u)) != vec3u(0u);
    let shares = select(1.0 - around.share, around.share, is_high);
    return shares.x * shares.y * shares.z;
}

// Returns the row of a corner voxel, and its index in the row.
fn path_voxel_place(around: VoxelsAround, corner: u32) -> vec2u {
    let is_high = (vec3u(corner) & vec3u(1u, 2u, 4u)) != vec3u(0u);
    let voxel = select(around.low, around.high, is_high);
    return vec2u(voxel.z * volume.stored.y + voxel.y, voxel.x);
}

fn volume_texel(at: vec3f) -> f32 {
    let around = path_voxels(at);
    let row_words = (volume.stored.x + 1u) / 2u;
    var sum = 0.0;
    for (var corner = 0u; corner < 8u; corner++) {
        let place = path_voxel_place(around, corner);
        let pair = unpack2x16unorm(table[volume.densities + place.x * row_words + place.y / 2u]);
        sum += path_voxel_share(around, corner) * select(pair.x, pair.y, (place.y & 1u) != 0u);
    }
    return sum;
}

// Returns the colour, and temperature in w.
fn path_volume_color(at: vec3f) -> vec4f {
    if volume.colors == PATH_NO_VOXELS {
        return vec4f(1.0, 1.0, 1.0, 0.0);
    }
    let around = path_voxels(at);
    var sum = vec4f(0.0);
    for (var corner = 0u; corner < 8u; corner++) {
        let place = path_voxel_place(around, corner);
        let word = volume.colors + 2u * (place.x * volume.stored.x + place.y);
        let color = vec4f(unpack2x16unorm(table[word]), unpack2x16unorm(table[word + 1u]));
        sum += path_voxel_share(around, corner) * color;
    }
    return vec4f(volume.brightest * sum.rgb, sum.a);
}

// Samples a table of VOLUME_TABLE entries at t in [0, 1].
fn path_volume_entry(word: u32, share: f32) -> vec4f {
    let place = saturate(share) * f32(VOLUME_TABLE - 1u);
    let low = word + 4u * u32(place);
    let high = min(low + 4u, word + 4u * (VOLUME_TABLE - 1u));
    let a = vec4f(table_vec3(low), table_float(low + 3u));
    let b = vec4f(table_vec3(high), table_float(high + 3u));
    return mix(a, b, fract(place));
}

fn volume_transfer(texel: f32) -> vec4f {
    let transfer = volume.tables + 4u * VOLUME_TABLE;
    return path_volume_entry(transfer, texel * volume.transfer_scale + volume.transfer_base);
}

// Result of tracking a ray through a volume: distance in metres to the event that stops it, or −1, and the
// transmittance.
struct PathVolumeWay {
    t: f32,
    share: f32,
}

// Tracks a ray. With `is_path`, it finds the scattering event; otherwise it estimates the transmittance.
fn path_volume_way(ray: VolumeRay, is_path: bool) -> PathVolumeWay {
    if ray.first >= ray.end {
        return PathVolumeWay(-1.0, 1.0);
    }
    if volume.isovalue >= 0.0 {
        let t = path_volume_surface(ray);
        return PathVolumeWay(t, select(0.0, 1.0, t < 0.0));
    }
    let start = ray.origin + ray.first * ray.direction;
    let ahead = select(vec3f(0.0), vec3f(1.0), ray.direction > vec3f(0.0));
    let last = ceil(volume.size / VOLUME_BRICK) - 1.0;
    var brick = clamp(floor(start / VOLUME_BRICK), vec3f(0.0), last);
    var t = ray.first;
    var share = 1.0;
    for (var step = 0u; step < PATH_VOLUME_STEPS; step++) {
        let faces = ((brick + ahead) * VOLUME_BRICK - ray.origin) / ray.direction;
        let leaves = min(faces.x, min(faces.y, faces.z));
        let most = volume_majorant(vec3u(brick));
        let next = t - log(path_random()) / max(most, 1.0e-30);
        if next >= min(leaves, ray.end) {
            // Free flights have no memory, so the distance to the next collision is drawn anew in each brick.
            if leaves >= ray.end {
                return PathVolumeWay(-1.0, share);
            }
            t = max(leaves, t);
            brick += select(vec3f(0.0), 2.0 * ahead - 1.0, faces == vec3f(leaves));
            if any(brick < vec3f(0.0)) || any(brick > last) {
                return PathVolumeWay(-1.0, share);
            }
            continue;
        }
        t = next;
        let meets = volume_extinction(volume_texel(ray.origin + t * ray.direction)) / most;
        if is_path {
            if path_random() < meets {
                return PathVolumeWay(t, 0.0);
            }
            continue;
        }
        share *= 1.0 - meets;
        if share < PATH_VOLUME_MIN {
            if path_random() * PATH_VOLUME_MIN >= share {
                return PathVolumeWay(t, 0.0);
            }
            share = PATH_VOLUME_MIN;
        }
    }
    return PathVolumeWay(-1.0, share);
}

// Returns the distance in metres to the isosurface, or −1. Marches in steps and bisects the step that crosses the
// surface.
fn path_volume_surface(ray: VolumeRay) -> f32 {
    let jitter = path_random();
    var k = 0.0;
    loop {
        if k >= ray.steps {
            break;
        }
        let step = volume_step(ray, k);
        let t = step.x + jitter * step.y;
        let at = ray.origin + t * ray.direction;
        let next = volume_skip(ray, at, k, t, jitter);
        if next > k {
            k = next;
            continue;
        }
        if volume_texel(at) >= volume.isovalue {
            return volume_surface(ray, vec2f(max(t - ray.step, ray.first), t));
        }
        k += 1.0;
    }
    return -1.0;
}

// Returns the emission of a volume towards the start of a ray. It is not attenuated, because the path is known to reach
// this far. Takes one sample per step, with the same jitter for all steps.
fn path_volume_emitted(ray: VolumeRay) -> vec3f {
    let jitter = path_random();
    var sum = vec3f(0.0);
    var k = 0.0;
    loop {
        if k >= ray.steps {
            break;
        }
        let step = volume_step(ray, k);
        let t = step.x + jitter * step.y;
        let at = ray.origin + t * ray.direction;
        let next = volume_skip(ray, at, k, t, jitter);
        if next > k {
            k = next;
            continue;
        }
        k += 1.0;
        sum += step.y * path_volume_entry(volume.tables, path_volume_color(at).a).rgb;
    }
    return volume.emission * sum;
}
