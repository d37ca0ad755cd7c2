// Rays to points of a light with a size: a sphere, or a disc in the sky. They are uniform over the part of the light's
// solid angle above the surface's horizon. Light from below the horizon is already missing from the cosine of the
// light's centre, and a surface does not shadow itself.
#import "math/basis.wgsl"
#import "light/light.wgsl"
#import "math/sampling.wgsl"

struct LightRay {
    // Unit vector.
    direction: vec3f,
    // Distance in metres to the near side of the light; 0 if the surface lies within the light.
    distance: f32,
}

// Number of tries before a direction below the horizon is mirrored at it. The centre of the light is above the horizon,
// so each try succeeds with a probability of at least one half.
const LIGHT_AREA_TRIES = 8u;

// Maps the unit square to the unit disc. Concentric squares become circles, which keeps areas and, unlike polar
// coordinates, neighbours (Shirley and Chiu 1997).
fn disc_point(u: vec2f) -> vec2f {
    let at = 2.0 * u - 1.0;
    let is_wide = abs(at.x) > abs(at.y);
    let radius = select(at.y, at.x, is_wide);
    let ratio = select(at.x, at.y, is_wide) / select(radius, 1.0, radius == 0.0);
    let turn = 0.78539816 * ratio;
    let direction = vec2f(cos(turn), sin(turn));
    return radius * select(direction.yx, direction, is_wide);
}

fn light_area_ray(light: Light, sample: LightSample, u: vec2f) -> LightRay {
    let is_distant = light.kind == LIGHT_DIRECTIONAL;
    let sine = min(light.radius / select(sample.distance, 1.0, is_distant), 1.0);
    let sine2 = sine * sine;
    let at = disc_point(u);
    // One minus the cosine of the angle to the centre. For the sun, f32 could not hold the cosine itself.
    let part = dot(at, at) * sine2 / (1.0 + sqrt(1.0 - sine2));
    let away2 = part * (2.0 - part);
    let basis = basis_about(sample.to_light);
    let away = at.x * basis.tangent + at.y * basis.bitangent;
    let near = max(1.0 - part - sqrt(max(sine2 - away2, 0.0)), 0.0);
    return LightRay(
        sqrt(away2 / max(dot(at, at), 1.0e-20)) * away + (1.0 - part) * sample.to_light,
        sample.distance * select(select(near, 0.0, sine == 1.0), 1.0, is_distant),
    );
}

// Returns ray `k` of a pixel to a light whose centre is above the horizon.
fn light_area_ray_above(
    light: Light,
    sample: LightSample,
    horizon_normal: vec3f,
    pixel: vec2u,
    k: u32,
    dimension: u32,
) -> LightRay {
    if light.radius == 0.0 {
        return LightRay(sample.to_light, sample.distance);
    }
    var u = sampling_point(pixel, k, dimension);
    var ray = light_area_ray(light, sample, u);
    for (var i = 1u; i < LIGHT_AREA_TRIES && dot(ray.direction, horizon_normal) <= 0.0; i++) {
        // 1 / ρ and 1 / ρ² of the plastic number ρ.
        u = fract(u + vec2f(0.75487767, 0.56984029));
        ray = light_area_ray(light, sample, u);
    }
    let above = dot(ray.direction, horizon_normal);
    ray.direction -= min(2.0 * above, 0.0) * horizon_normal;
    return ray;
}
