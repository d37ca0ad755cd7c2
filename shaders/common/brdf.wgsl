// glTF 2.0's metallic-roughness BRDF (appendix B): GGX, height-correlated Smith visibility, Schlick's Fresnel, Lambert.
#import "common/open.wgsl"

const PI = 3.14159265358979;

// Past this rgba16float, which takes the radiance, holds infinity.
const RADIANCE_MAX = 65504.0;

// Below this a highlight is smaller than a pixel and wider than f32 can hold.
const ROUGHNESS_MIN = 0.045;

// By |n × h|² in the place of 1 − (n · h)²: near a highlight's peak the difference would be all rounding.
fn brdf_ggx(normal: vec3f, half_vector: vec3f, alpha: f32) -> f32 {
    let sine = cross(normal, half_vector);
    let cosine = alpha * dot(normal, half_vector);
    let k = alpha / (dot(sine, sine) + cosine * cosine);
    return k * k / PI;
}

fn brdf_smith(n_dot_l: f32, n_dot_v: f32, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    let l = n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - a2) + a2);
    let v = n_dot_l * sqrt(n_dot_v * n_dot_v * (1.0 - a2) + a2);
    return 0.5 / max(l + v, 1.0e-7);
}

// BRDF × cosine, for unit vectors to the eye and to the light.
fn brdf_evaluate(s: Surface, to_eye: vec3f, to_light: vec3f) -> vec3f {
    let n_dot_l = dot(s.normal, to_light);
    if n_dot_l <= 0.0 {
        return vec3f(0.0);
    }
    let sum = to_eye + to_light;
    // Opposite directions have no half vector; the normal stands in for it.
    let half_vector = select(s.normal, normalize(sum), dot(sum, sum) > 1.0e-12);
    let n_dot_v = abs(dot(s.normal, to_eye)) + 1.0e-5;
    let v_dot_h = saturate(dot(to_eye, half_vector));
    let alpha = pow(max(s.roughness, ROUGHNESS_MIN), 2.0);
    // Schlick's Fresnel is linear in f0, so one evaluation serves the mix of dielectric and metal; what a dielectric does not reflect is
    // scattered.
    let grazing = pow(1.0 - v_dot_h, 5.0);
    let f0 = mix(vec3f(0.04), s.albedo, s.metallic);
    let fresnel = f0 + (1.0 - f0) * grazing;
    let specular = fresnel * brdf_ggx(s.normal, half_vector, alpha) * brdf_smith(n_dot_l, n_dot_v, alpha);
    let diffuse = (1.0 - s.metallic) * (0.96 - 0.96 * grazing) * s.albedo / PI;
    return (diffuse + specular) * n_dot_l;
}

// Light from everywhere: sky above, ground below.
fn brdf_ambient_light(up: f32) -> vec3f {
    return mix(frame.ambient_ground, frame.ambient_sky, up * 0.5 + 0.5);
}

// What of it lies along the mirror direction, the wider the rougher.
fn brdf_ambient_mirrored(normal: vec3f, to_eye: vec3f, roughness: f32) -> vec3f {
    return brdf_ambient_light(mix(reflect(-to_eye, normal).y, normal.y, roughness));
}

// What a surface reflects of light from everywhere, for reflectances of 1 at normal and at grazing incidence: Karis's fit of the
// split-sum table ("Physically Based Shading on Mobile", 2014).
fn brdf_split_sum(roughness: f32, n_dot_v: f32) -> vec2f {
    let r = roughness * vec4f(-1.0, -0.0275, -0.572, 0.022) + vec4f(1.0, 0.0425, 1.04, -0.04);
    let a004 = min(r.x * r.x, exp2(-9.28 * n_dot_v)) * r.x + r.y;
    return vec2f(-1.04, 1.04) * a004 + r.zw;
}

// Light from everywhere, as far as it is open: diffuse by the open direction, specular by the mirror direction.
fn brdf_ambient(s: Surface, to_eye: vec3f, open: Open) -> vec3f {
    let f0 = mix(vec3f(0.04), s.albedo, s.metallic);
    let n_dot_v = saturate(dot(s.normal, to_eye));
    let split = brdf_split_sum(s.roughness, n_dot_v);
    let specular = (f0 * split.x + split.y) * open_specular(open.share, n_dot_v, s.roughness);
    let diffuse = (1.0 - f0) * (1.0 - s.metallic) * s.albedo * open.share;
    let mirrored = brdf_ambient_mirrored(s.normal, to_eye, s.roughness);
    return (diffuse * brdf_ambient_light(open.direction.y) + specular * mirrored) * s.occlusion;
}
