// volume_march: ray-marches a volume in front of the surfaces, one thread per pixel.
//
// in   the volume, its light grid (volume/volume_light.wgsl), position of the G-buffer, lights and the environment's
//      spherical harmonics
// out  volume_out: radiance that the volume scatters and emits towards the eye, and its transmittance
//      span_out, if surfaces are blended over the picture later: the distances between which the volume is visible, in
//      two layers, or zeros
// Marches front to back in steps from the lattice's box, with one sample per step. The shared sequence
// (math/sampling.wgsl) jitters the sample of a pixel in its steps. Within a step the medium is taken from the sample,
// and its absorption and scattering are integrated in closed form. For a homogeneous medium the result is exact,
// however long steps are. Empty bricks are skipped without shifting the samples. A ray ends when its transmittance is
// negligible.
//
// Ambient light is scattered with the spherical harmonics of the environment. Fog is applied up to the mean distance of
// the visible part of the volume.
#import "environment/environment.wgsl"
#import "fog/fog_air.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "math/half_float.wgsl"
#import "math/henyey_greenstein.wgsl"
#import "light/light.wgsl"
#import "math/sampling.wgsl"
#import "volume/volume_look.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<storage, read> volume: VolumeParams;
@group(1) @binding(2) var position_texture: texture_2d<f32>;
@group(1) @binding(3) var density_texture: texture_3d<f32>;
@group(1) @binding(4) var color_temperature_texture: texture_3d<f32>;
@group(1) @binding(5) var majorant_texture: texture_3d<f32>;
@group(1) @binding(6) var light_texture: texture_3d<f32>;
@group(1) @binding(7) var volume_sampler: sampler;
@group(1) @binding(8) var volume_out: texture_storage_2d<rgba16float, write>;
@group(1) @binding(9) var span_out: texture_storage_2d_array<r32float, write>;
@group(1) @binding(10) var<uniform> fog: FogParams;
@group(1) @binding(11) var fog_texture: texture_2d_array<f32>;
@group(1) @binding(12) var fog_sampler: sampler;

// Returns the view ray through a pixel's centre, with a unit direction.
fn eye_ray(pixel: vec2u) -> ViewRay {
    let ray = view_ray(frame.rays, frame_place(pixel));
    return ViewRay(ray.origin, normalize(ray.direction));
}

// Returns four channels of the light grid.
fn light_channels(at: vec3f, slab: u32) -> vec4f {
    if (volume.flags & VOLUME_SHADOWED) == 0u {
        return vec4f(1.0);
    }
    // Filtering must not reach into the next slab.
    let half_texel = 0.5 / f32(volume.cells.z);
    let slabs = f32(volume.lights / 4u + 1u);
    let z = (f32(slab) + clamp(at.z / volume.size.z, half_texel, 1.0 - half_texel)) / slabs;
    return textureSampleLevel(light_texture, volume_sampler, vec3f(at.xy / volume.size.xy, z), 0.0);
}

// Returns the radiance that a medium of albedo 1 scatters along a ray, over its extinction.
fn scattered(at: vec3f, position: vec3f, direction: vec3f, sky: vec3f) -> vec3f {
    var channels = light_channels(at, 0u);
    var sum = channels.x * sky;
    for (var i = 0u; i < volume.lights; i++) {
        let channel = (i + 1u) % 4u;
        if channel == 0u {
            channels = light_channels(at, (i + 1u) / 4u);
        }
        let sample = light_sample(first_lights[i], position);
        let phase = henyey_greenstein(volume.anisotropy, dot(sample.to_light, direction));
        sum += channels[channel] * phase * sample.irradiance;
    }
    return sum;
}

// Returns the radiance of the isosurface between two distances on a ray.
fn surface(ray: VolumeRay, eye: ViewRay, span: vec2f) -> vec3f {
    let high = volume_surface(ray, span);
    let at = ray.origin + high * ray.direction;
    let to_eye = -eye.direction;
    let normal = volume_normal(at, to_eye);
    let position = eye.origin + high * eye.direction;
    // Cells behind the surface are dark, so light is looked up in front of it. A face of the lattice may cut through
    // solid material. There are no cells in front of such a face, and no part of the volume either.
    let out = (volume.voxel_from_world * vec4f(normal, 0.0)).xyz;
    let cell = volume.size / vec3f(volume.cells);
    let lit_at = at + 1.75 * max(cell.x, max(cell.y, cell.z)) * normalize(out);
    let is_cut = high - ray.first < 0.01 * ray.step;
    let open = select(1.0, 0.0, volume_is_within(lit_at) && !is_cut);
    var channels = max(light_channels(lit_at, 0u), vec4f(open));
    var sum = channels.x * environment_diffuse(normal);
    for (var i = 0u; i < volume.lights; i++) {
        let channel = (i + 1u) % 4u;
        if channel == 0u {
            channels = max(light_channels(lit_at, (i + 1u) / 4u), vec4f(open));
        }
        let sample = light_sample(first_lights[i], position);
        sum += channels[channel] * max(dot(normal, sample.to_light), 0.0) / PI * sample.irradiance;
    }
    return volume_color(volume.isovalue, volume_color_temperature(at)) * sum;
}

@compute @workgroup_size(8, 8)
fn volume_march(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let seen = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel);
    let eye = eye_ray(pixel);
    let far = select(dot(seen.xyz - eye.origin, eye.direction), 1.0e30, seen.w == 0.0);
    let ray = volume_ray(eye.origin, eye.direction, far);
    let jitter = sampling_point(pixel, frame.sample_index, SAMPLE_VOLUMES).x;
    let sky = sh_scattered(environment_direction(eye.direction), volume.anisotropy) * frame.environment_scale;
    var radiance = vec3f(0.0);
    var through = 1.0;
    // Sum of distances, weighted by the light that the volume takes there.
    var middle = 0.0;
    var span = vec2f(0.0);
    var k = 0.0;
    loop {
        if k >= ray.steps || through < VOLUME_MIN {
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
        let texel = volume_texel(at);
        if volume.isovalue >= 0.0 {
            if texel >= volume.isovalue {
                radiance = surface(ray, eye, vec2f(max(t - ray.step, ray.first), t));
                middle = t;
                span = vec2f(t);
                through = 0.0;
            }
            continue;
        }
        let extinction = volume_extinction(texel);
        let look = volume_color_temperature(at);
        let taken = volume_taken(extinction * step.y);
        var added = volume_emitted(look, extinction, step.y, taken);
        if taken > 0.0 {
            let position = eye.origin + t * eye.direction;
            added += taken * volume_color(texel, look) * scattered(at, position, eye.direction, sky);
        }
        if taken > 0.0 || any(added > vec3f(0.0)) {
            span = vec2f(select(span.x, step.x, span.y == 0.0), step.x + step.y);
        }
        radiance += through * added;
        middle += through * taken * t;
        through *= 1.0 - taken;
    }
    if fog_is_enabled() {
        // Blending attenuates the inscattering in front together with the background, so this restores it.
        let taken = 1.0 - through;
        let distance = select(ray.first, middle / taken, taken > 1.0e-6);
        let media = fog_in_front_of(pixel, eye.origin + distance * eye.direction);
        radiance = media.transmittance * radiance + taken * media.scattered;
    }
    let shown = min(radiance, vec3f(RADIANCE_MAX));
    textureStore(volume_out, pixel, half_float_round(vec4f(shown, through)));
    if all(pixel < textureDimensions(span_out)) {
        textureStore(span_out, pixel, 0u, vec4f(span.x));
        textureStore(span_out, pixel, 1u, vec4f(span.y));
    }
}
