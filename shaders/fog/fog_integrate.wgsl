// fog_integrate: integrates the fog from the eye to each slice of the froxels.
//
// in   the light of each froxel
// out  fog_out: for the near side of each slice, and for the far side of the last slice: the mean radiance that the fog
//      in front scatters, weighted by its transmittance to the eye; and the factor that noise applies to the optical
//      depth. The radiance and the factor vary slowly and are independent of the amount of fog. Each pixel gets its fog
//      from them in closed form (fog/fog_air.wgsl).
// One thread per column of froxels, front to back.
#import "fog/fog_last.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> fog: FogParams;
@group(1) @binding(2) var light_texture: texture_2d_array<f32>;
@group(1) @binding(3) var fog_out: texture_storage_2d_array<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn fog_integrate(@builtin(global_invocation_id) id: vec3u) {
    let column = id.xy + vec2u(0u, row_offset);
    if any(column >= fog.size.xy) {
        return;
    }
    let ray = fog_middle_ray(fog, vec3u(column, 0u));
    let slices = fog.size.z;
    var light = vec3f(0.0);
    var weighted = vec3f(0.0);
    var weights = 0.0;
    var passes = 1.0;
    var plain_depth = 0.0;
    var optical_depth = 0.0;
    var noise = 1.0;
    var near = ray.origin;
    for (var slice = 0u; slice < slices; slice++) {
        let known = textureLoad(light_texture, column, slice, 0);
        // Behind the visible surfaces, the last known light is extended.
        light = select(light, known.rgb, known.a > 0.0);
        let far = ray.origin + fog_slice_depth(fog, f32(slice + 1u)) * ray.direction;
        let middle = 0.5 * (near + far);
        let length = distance(near, far);
        let width = max(length, frame_pixel_width(middle) * f32(frame.size.x) / f32(fog.size.x));
        noise = fog_noise(fog.medium, middle, width);
        if slice == 0u {
            textureStore(fog_out, column, 0u, vec4f(min(light * fog.medium.albedo, vec3f(RADIANCE_MAX)), noise));
        }
        let plain = fog_optical_depth(near, far);
        let depth = plain * noise;
        let weight = passes * fog_opacity(depth);
        weighted += weight * light;
        weights += weight;
        passes *= fog_transmittance(depth);
        plain_depth += plain;
        optical_depth += depth;
        let mean = select(light, weighted / weights, weights > 1.0e-20);
        let factor = select(noise, optical_depth / plain_depth, plain_depth > 1.0e-20);
        let media = vec4f(min(mean * fog.medium.albedo, vec3f(RADIANCE_MAX)), factor);
        textureStore(fog_out, column, slice + 1u, media);
        near = far;
    }
}
