// Unshadowed inscattering of froxels from lights and from the sky. The importer binds `fog`.
#import "environment/environment.wgsl"
#import "fog/fog_last.wgsl"
#import "math/henyey_greenstein.wgsl"
#import "light/light.wgsl"

struct FogPoint {
    position: vec3f,
    // Unit vector from the eye.
    direction: vec3f,
    // Half the froxel's width or length, whichever is larger.
    half_width: f32,
}

fn fog_point(froxel: vec3u, depth: f32) -> FogPoint {
    let ray = fog_middle_ray(fog, froxel);
    let position = ray.origin + depth * ray.direction;
    let length = fog_slice_depth(fog, f32(froxel.z + 1u)) - fog_slice_depth(fog, f32(froxel.z));
    let width = frame_pixel_width(position) * f32(frame.size.x) / f32(fog.size.x);
    return FogPoint(position, normalize(ray.direction), 0.5 * max(width, length));
}

// Returns the inscattering from a light. Like all results of this file, it is divided by the extinction and the albedo.
fn fog_source(point: FogPoint, light: Light) -> vec3f {
    let sample = light_sample(light, point.position);
    // The mean of the inverse square over a ball around a punctual light equals its value at the ball's radius over √3.
    let least = max(0.577 * point.half_width, light.radius);
    let nearness = min(sample.distance / least, 1.0);
    return sample.irradiance * henyey_greenstein(fog.medium.anisotropy, dot(sample.to_light, point.direction))
        * select(nearness * nearness, 1.0, light.kind == LIGHT_DIRECTIONAL);
}

fn fog_sky(direction: vec3f) -> vec3f {
    return sh_scattered(environment_direction(direction), fog.medium.anisotropy) * frame.environment_scale;
}

fn fog_luminance(color: vec3f) -> f32 {
    return dot(color, vec3f(0.2126, 0.7152, 0.0722));
}
