// Inscattering and transmittance of fog in front of a point. The importer binds `fog`, a uniform FogParams,
// `fog_texture` with the layers that fog_integrate writes, and `fog_sampler`, which is linear.
#import "fog/fog.wgsl"

struct FogSegment {
    // Radiance that is scattered towards the eye.
    scattered: vec3f,
    // Transmittance along the segment.
    transmittance: f32,
}

// Returns the fog between the eye and `depth` on the view ray at picture position `at`. `optical_depth` is the optical
// depth of that segment without noise.
fn fog_in_front_of_depth(at: vec2f, depth: f32, optical_depth: f32) -> FogSegment {
    let slice = f32(fog.size.z) * saturate(fog_share_of(fog.far, depth));
    let first = u32(slice);
    let second = min(first + 1u, fog.size.z);
    let texel = fog_texel(fog, at);
    let near = textureSampleLevel(fog_texture, fog_sampler, texel, first, 0.0);
    let far = textureSampleLevel(fog_texture, fog_sampler, texel, second, 0.0);
    let mean = mix(near, far, slice - f32(first));
    let through = mean.a * optical_depth;
    return FogSegment(mean.rgb * fog_opacity(through), fog_transmittance(through));
}

fn fog_none() -> FogSegment {
    return FogSegment(vec3f(0.0), 1.0);
}

// Returns the fog in front of the surface point of a pixel.
fn fog_in_front_of(pixel: vec2u, position: vec3f) -> FogSegment {
    if !fog_is_enabled() {
        return fog_none();
    }
    let at = frame_place(pixel);
    let depth = max(dot(position - frame.eye, frame.forward), 0.0);
    let origin = position - depth * view_ray(frame.rays, at).direction;
    return fog_in_front_of_depth(at, depth, fog_optical_depth(origin, position));
}

// Returns the fog in front of the background.
fn fog_in_front_of_background(pixel: vec2u) -> FogSegment {
    if !fog_is_enabled() {
        return fog_none();
    }
    let at = frame_place(pixel);
    let ray = view_ray(frame.rays, at);
    return fog_in_front_of_depth(at, fog.far, fog_optical_depth_beyond(ray.origin, normalize(ray.direction)));
}

// Applies the fog to the radiance beyond it.
fn fog_applied(media: FogSegment, radiance: vec3f) -> vec3f {
    return media.transmittance * radiance + media.scattered;
}
