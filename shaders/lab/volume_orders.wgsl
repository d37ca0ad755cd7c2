// volume_orders (laboratory): marches a list of rays through a volume under uniform light of 1 without shadows, front
// to back or back to front.
//
// in   rays; the volume
// out  seen, one per ray: radiance that the volume scatters and emits, the transmittance, and the number of samples
// One thread per ray, with a sample at the centre of each step. From front to back, a ray ends when its transmittance
// is negligible. From back to front, every step counts. Both orders skip empty bricks and sample at the same points. A
// ray whose t_max is not above its t_min is the placeholder of a pixel without a ray.
#import "bvh/dispatch.wgsl"
#import "bvh/ray.wgsl"
#import "volume/volume_look.wgsl"

struct LabMarchResult {
    radiance: vec3f,
    transmittance: f32,
    samples: u32,
}

@group(0) @binding(0) var<storage, read> rays: array<Ray>;
@group(0) @binding(1) var<storage, read> volume: VolumeParams;
@group(0) @binding(2) var density_texture: texture_3d<f32>;
@group(0) @binding(3) var color_temperature_texture: texture_3d<f32>;
@group(0) @binding(4) var majorant_texture: texture_3d<f32>;
@group(0) @binding(5) var volume_sampler: sampler;
@group(0) @binding(6) var<storage, read_write> seen: array<LabMarchResult>;

const MIDDLE = 0.5;

struct Step {
    added: vec3f,
    kept: f32,
}

// Returns the radiance that a step adds, and its transmittance. An isosurface has a transmittance of 0.
fn step_at(ray: VolumeRay, t: f32, width: f32) -> Step {
    let at = ray.origin + t * ray.direction;
    let texel = volume_texel(at);
    if volume.isovalue >= 0.0 {
        if texel < volume.isovalue {
            return Step(vec3f(0.0), 1.0);
        }
        let high = volume_surface(ray, vec2f(max(t - ray.step, ray.first), t));
        let look = volume_color_temperature(ray.origin + high * ray.direction);
        return Step(volume_color(volume.isovalue, look), 0.0);
    }
    let extinction = volume_extinction(texel);
    let look = volume_color_temperature(at);
    let taken = volume_taken(extinction * width);
    let emitted = volume_emitted(look, extinction, width, taken);
    return Step(emitted + taken * volume_color(texel, look), 1.0 - taken);
}

// Returns the last step whose sample lies in front of the empty brick around `at`. Step `k` is the current one. Returns
// `k` if the brick is not empty.
fn volume_skip_back(ray: VolumeRay, at: vec3f, k: f32, t: f32) -> f32 {
    let brick = floor(clamp(at, vec3f(0.0), volume.size - 0.5) / VOLUME_BRICK);
    if volume_majorant(vec3u(brick)) > 0.0 {
        return k;
    }
    let faces = (brick + select(vec3f(1.0), vec3f(0.0), ray.direction > vec3f(0.0))) * VOLUME_BRICK;
    let distances = (faces - at) / ray.direction;
    let enters = t + min(max(distances.x, max(distances.y, distances.z)), 0.0);
    return min(floor((enters - ray.first) / ray.step - MIDDLE), k - 1.0);
}

fn march_of(i: u32) -> VolumeRay {
    let ray = rays[i];
    var march = volume_ray(ray.origin, ray.direction, ray.t_max);
    march.steps = select(0.0, march.steps, ray.t_max > ray.t_min);
    return march;
}

@compute @workgroup_size(TRACE_BLOCK)
fn volume_front_to_back(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= arrayLength(&rays) {
        return;
    }
    let ray = march_of(i);
    var all = LabMarchResult(vec3f(0.0), 1.0, 0u);
    var k = 0.0;
    loop {
        if k >= ray.steps || all.transmittance < VOLUME_MIN {
            break;
        }
        let step = volume_step(ray, k);
        let t = step.x + MIDDLE * step.y;
        let next = volume_skip(ray, ray.origin + t * ray.direction, k, t, MIDDLE);
        if next > k {
            k = next;
            continue;
        }
        let one = step_at(ray, t, step.y);
        all.radiance += all.transmittance * one.added;
        all.transmittance *= one.kept;
        all.samples += 1u;
        k += 1.0;
    }
    seen[i] = all;
}

@compute @workgroup_size(TRACE_BLOCK)
fn volume_back_to_front(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= arrayLength(&rays) {
        return;
    }
    let ray = march_of(i);
    var all = LabMarchResult(vec3f(0.0), 1.0, 0u);
    var k = ray.steps - 1.0;
    loop {
        if k < 0.0 {
            break;
        }
        let step = volume_step(ray, k);
        let t = step.x + MIDDLE * step.y;
        let next = volume_skip_back(ray, ray.origin + t * ray.direction, k, t);
        if next < k {
            k = next;
            continue;
        }
        let one = step_at(ray, t, step.y);
        all.radiance = one.kept * all.radiance + one.added;
        all.transmittance *= one.kept;
        all.samples += 1u;
        k -= 1.0;
    }
    seen[i] = all;
}
