// Inscattering and transmittance of fog along a ray that does not start at the eye, from the light of the froxels. The
// importer binds `fog`, `fog_light` with the layers that fog_history writes, and `fog_sampler`.
#import "fog/fog.wgsl"

struct FogAlongRay {
    scattered: vec3f,
    transmittance: f32,
}

// Number of points at which the light is sampled.
const FOG_POINTS = 4u;

// Returns the light at a point, scattered towards the eye; w is 0 where it is unknown. Outside the image, the light at
// the border is used.
fn fog_light_at(position: vec3f) -> vec4f {
    let offset = position - frame.eye;
    let clip = frame.clip_from_offset * vec4f(offset, 1.0);
    let at = saturate(clip.xy / max(clip.w, 1.0e-6) * vec2f(0.5, -0.5) + 0.5);
    let share = fog_share_of(fog.far, dot(offset, frame.forward));
    let slice = u32(clamp(f32(fog.size.z) * share, 0.0, f32(fog.size.z - 1u)));
    let known = textureSampleLevel(fog_light, fog_sampler, fog_texel(fog, at), slice, 0.0);
    return vec4f(known.rgb, select(0.0, 1.0, known.a > 0.0));
}

// Returns the fog over `distance` metres along the unit vector `direction`. A distance above 1e20 counts as infinite.
fn fog_along_ray(origin: vec3f, direction: vec3f, distance: f32) -> FogAlongRay {
    let is_endless = distance > 1.0e20;
    let end = origin + select(distance, 0.0, is_endless) * direction;
    let depth = select(
        fog_optical_depth(origin, end),
        fog_optical_depth_beyond(origin, direction),
        is_endless,
    );
    let extinction = max(frame.fog_density * fog_share(origin.y), 1.0e-9);
    let reach = min(distance, min(3.0 / extinction, fog.far));
    var light = vec3f(0.0);
    var weights = 0.0;
    for (var i = 0u; i < FOG_POINTS; i++) {
        let along = reach * (f32(i) + 0.5) / f32(FOG_POINTS);
        let known = fog_light_at(origin + along * direction);
        let weight = known.w * fog_transmittance(extinction * along);
        light += weight * known.rgb;
        weights += weight;
    }
    let mean = fog.medium.albedo * light / max(weights, 1.0e-20);
    return FogAlongRay(mean * fog_opacity(depth), fog_transmittance(depth));
}
