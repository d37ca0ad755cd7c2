// Interaction of a path with a surface or a medium: direct lighting and continuation. The importer binds `table` and
// `params`.
#import "environment/backdrop.wgsl"
#import "environment/background.wgsl"
#import "reflections/hit_fragment.wgsl"
#import "light/light.wgsl"
#import "light/light_area.wgsl"
#import "path/path_fog.wgsl"
#import "path/path_lobes.wgsl"
#import "path/path_material.wgsl"
#import "path/path_random.wgsl"
#import "path/path_sources.wgsl"
#import "path/path_state.wgsl"
#import "path/path_volume.wgsl"
#import "shadow/shadow_start.wgsl"

// Number of surfaces before Russian roulette starts.
const SURE_BOUNCES = 3u;

// Samples one of the lights and a point of it.
fn path_ask_light(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> Asked {
    var choice = path_point(pixel, bounce, PATH_LIGHT).x;
    var total = 0.0;
    var chosen = 0u;
    var chosen_weight = 0.0;
    for (var i = 0u; i < frame.light_count; i++) {
        let sample = light_sample(lights[i], p.s.position);
        let is_far = lights[i].kind == LIGHT_DIRECTIONAL;
        let sine = min(lights[i].radius / select(sample.distance, 1.0, is_far), 1.0);
        let facing = max(dot(p.s.normal, sample.to_light), dot(p.l.clearcoat_normal, sample.to_light));
        let weight = select(0.0, layers_max(sample.irradiance), p.kind == PATH_MEDIUM || facing + sine > 0.0);
        total += weight;
        if weight > 0.0 && choice * total < weight {
            chosen = i;
            chosen_weight = weight;
            choice = choice * total / weight;
        } else {
            choice = saturate((choice * total - weight) / max(total - weight, 1.0e-30));
        }
    }
    var asked: Asked;
    if chosen_weight == 0.0 {
        return asked;
    }
    let light = lights[chosen];
    let sample = light_sample(light, p.s.position);
    var ray = LightRay(sample.to_light, sample.distance);
    var spread = 1.0;
    if light.radius > 0.0 {
        ray = light_area_ray(light, sample, path_point(pixel, bounce, PATH_LIGHT_POINT));
        let sine = min(light.radius / select(sample.distance, 1.0, light.kind == LIGHT_DIRECTIONAL), 1.0);
        // A light of uniform radiance: its solid angle, over the projected solid angle along its axis.
        spread = 2.0 / (1.0 + sqrt(1.0 - sine * sine));
    }
    asked.direction = ray.direction;
    asked.distance = ray.distance;
    if p.kind == PATH_MEDIUM || dot(start.horizon_normal, ray.direction) > 0.0 {
        asked.light = path_scatters_light(p, ray.direction) * sample.irradiance * (spread * total / chosen_weight);
        asked.in_fog = select(0.0, ray.distance, ray.distance < 1.0e20);
    }
    return asked;
}

fn path_ask_environment(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> Asked {
    let side = params.environment_face;
    var asked: Asked;
    // The environment is black.
    if table_float(params.environment_word + 6u * side * side - 1u) <= 0.0 {
        return asked;
    }
    let sky = path_environment(path_point(pixel, bounce, PATH_ENVIRONMENT));
    asked.direction = sky.direction;
    asked.distance = 1.0e30;
    if (p.kind == PATH_MEDIUM || dot(start.geometric_normal, sky.direction) > 0.0) && sky.density > 0.0 {
        let density = path_density(p, sky.direction);
        asked.light = path_scatters(p, sky.direction) * environment_prefiltered(sky.direction, 0.0)
            / (sky.density + density);
        if fog_is_there() && p.kind != PATH_MEDIUM && density > FOG_IMAGE {
            asked.light *= fog_passes(fog_optical_depth_beyond(start.origin, sky.direction));
            asked.in_fog = asked.distance;
        }
    }
    return asked;
}

fn path_ask_emitter(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> Asked {
    var asked: Asked;
    let count = params.emitter_count;
    let sums = params.emitter_word + count;
    if count == 0u {
        return asked;
    }
    if table_float(sums + count - 1u) <= 0.0 {
        return asked;
    }
    let chosen = path_choose(sums, count, path_point(pixel, bounce, PATH_EMITTER).x);
    let triangle = table[params.emitter_word + chosen.index];
    let u = path_point(pixel, bounce, PATH_EMITTER_POINT);
    let root = sqrt(u.x);
    let w = vec3f(1.0 - root, root * (1.0 - u.y), root * u.y);
    let i = vec3u(indices(3u * triangle), indices(3u * triangle + 1u), indices(3u * triangle + 2u));
    let v0 = scene_position(i.x);
    let v1 = scene_position(i.y);
    let v2 = scene_position(i.z);
    let across = cross(v1 - v0, v2 - v0);
    let twice_area = length(across);
    let at = w.x * v0 + w.y * v1 + w.z * v2;
    let offset = at - start.origin;
    let distance2 = dot(offset, offset);
    let direction = offset * inverseSqrt(max(distance2, 1.0e-30));
    let facing = dot(across, -direction) / max(twice_area, 1.0e-30);
    asked.direction = direction;
    // Stops short of the emitter, which would occlude itself.
    asked.distance = 0.9999 * sqrt(distance2);
    let index = table[params.emitter_word + 2u * count + chosen.index];
    let glows_behind = alpha[ALPHA_HEADER * index + ALPHA_DOUBLE_SIDED] != 0u;
    let is_seen = facing > 0.0 || (glows_behind && facing < 0.0);
    let is_above = p.kind == PATH_MEDIUM || dot(start.geometric_normal, direction) > 0.0;
    if is_above && is_seen && chosen.chance > 0.0 && distance2 > 0.0 {
        let uv = w.x * vec4f(scene_uv(i.x, 0u), scene_uv(i.x, 1u)) + w.y * vec4f(scene_uv(i.y, 0u), scene_uv(i.y, 1u))
            + w.z * vec4f(scene_uv(i.z, 0u), scene_uv(i.z, 1u));
        let density = chosen.chance * distance2 / (0.5 * twice_area * abs(facing));
        asked.light = path_scatters(p, direction) * path_emission(index, uv)
            / (density + path_density(p, direction));
        if fog_is_there() {
            asked.light *= fog_passes(fog_optical_depth(start.origin, at));
            asked.in_fog = sqrt(distance2);
        }
    }
    return asked;
}

// Scattering event before a surface of the scene: the distance in metres, or −1, and the medium.
struct MediumMet {
    t: f32,
    // Number of a volume, or PATH_IN_FOG.
    index: u32,
}

const PATH_IN_FOG = 0xffffffffu;

fn path_volume_count() -> u32 {
    if !HAS_VOLUMES {
        return 0u;
    }
    return params.volume_count;
}

// Finds the event that scatters the path within `distance`, and adds the emission of volumes up to it.
fn path_medium_met(pixel: vec2u, bounce: u32, distance: f32, has_fog: bool) -> MediumMet {
    let volumes = path_volume_count();
    var met = MediumMet(-1.0, PATH_IN_FOG);
    var reach = distance;
    path_random_begin(pixel, bounce, RAY_ON);
    // Media are independent, so the nearest of their collisions is the collision with their sum.
    if has_fog && fog_is_there() {
        met.t = fog_flight(state.origin, state.direction, reach);
        reach = select(met.t, reach, met.t < 0.0);
    }
    for (var i = 0u; i < volumes; i++) {
        path_volume_load(i);
        let way = path_volume_way(volume_ray(state.origin, state.direction, reach), true);
        if way.t >= 0.0 {
            met = MediumMet(way.t, i);
            reach = way.t;
        }
    }
    for (var i = 0u; i < volumes; i++) {
        path_volume_load(i);
        if volume.emission > 0.0 && volume.isovalue < 0.0 {
            let emitted = path_volume_emitted(volume_ray(state.origin, state.direction, reach));
            state.radiance += path_added(state.throughput * emitted, max(bounce, 1u) - 1u);
        }
    }
    return met;
}

// Turns a scattering event into a surface. `start` is the start of its rays.
fn path_medium(met: MediumMet, start: ptr<function, ShadowStart>) -> PathSurface {
    let to_eye = -state.direction;
    let position = state.origin + met.t * state.direction;
    (*start).position = position;
    (*start).origin = position;
    var p: PathSurface;
    p.s.position = position;
    p.to_eye = to_eye;
    p.kind = PATH_MEDIUM;
    p.anisotropy = params.medium.anisotropy;
    if !HAS_VOLUMES || met.index == PATH_IN_FOG {
        state.throughput *= params.medium.albedo;
        return p;
    }
    path_volume_load(met.index);
    let at = (volume.voxel_from_world * vec4f(position, 1.0)).xyz;
    let albedo = volume_color(volume_texel(at), path_volume_color(at));
    if volume.isovalue < 0.0 {
        state.throughput *= albedo;
        p.anisotropy = volume.anisotropy;
        return p;
    }
    let normal = volume_normal(at, to_eye);
    // Starts half a voxel in front of the isosurface, so that the march does not hit it again.
    let voxel = 1.0 / max(length((volume.voxel_from_world * vec4f(normal, 0.0)).xyz), 1.0e-20);
    (*start).origin = position + 0.5 * voxel * normal;
    (*start).geometric_normal = normal;
    (*start).horizon_normal = normal;
    (*start).grazing = -2.0;
    return path_matte(position, normal, albedo, to_eye);
}

// Samples direct light.
fn path_ask(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) {
    asked[0] = path_ask_light(p, start, pixel, bounce);
    asked[1] = path_ask_environment(p, start, pixel, bounce);
    asked[2] = path_ask_emitter(p, start, pixel, bounce);
    let volumes = path_volume_count();
    let is_mottled = fog_is_mottled();
    for (var ray = RAY_LIGHT; ray <= RAY_EMITTER; ray++) {
        let wanted = asked[ray - RAY_LIGHT];
        if !any(wanted.light > vec3f(0.0)) {
            continue;
        }
        path_random_begin(pixel, bounce, ray);
        var share = 1.0;
        if is_mottled && wanted.in_fog > 0.0 {
            share = fog_noise_passes(start.origin, wanted.direction, wanted.in_fog);
        }
        for (var i = 0u; i < volumes; i++) {
            path_volume_load(i);
            share *= path_volume_way(volume_ray(start.origin, wanted.direction, wanted.distance), false).share;
        }
        asked[ray - RAY_LIGHT].light *= state.throughput * share;
    }
}

// Russian roulette, with the throughput as survival probability.
fn path_survive(pixel: vec2u, bounce: u32) {
    if bounce >= SURE_BOUNCES {
        let goes_on = min(layers_max(state.throughput), 1.0);
        let ends = path_point(pixel, bounce, PATH_CHOICE).y >= goes_on;
        state.throughput *= select(1.0 / max(goes_on, 1.0e-20), 0.0, ends);
    }
}

// Adds the background or the environment for a path that leaves the scene.
fn path_escape(bounce: u32) {
    if bounce == 0u {
        let plain = backdrop_light(state.direction) * frame.unlit_radiance;
        state.radiance += background_radiance(state.direction) + plain;
        return;
    }
    var weight = 1.0;
    if state.sent_density >= 0.0 {
        weight = state.sent_density / max(state.sent_density + path_environment_density(state.direction), 1.0e-30);
    }
    let light = state.throughput * environment_prefiltered(state.direction, 0.0) * weight;
    state.radiance += path_added(light, bounce - 1u);
}

// Triangle that a path has hit.
struct TriangleMet {
    s: Surface,
    l: Layers,
    index: u32,
    area: f32,
    is_back: bool,
    // True if the path comes from within a glass volume.
    is_inside: bool,
}

fn path_triangle(hit: PathHit) -> TriangleMet {
    var met: TriangleMet;
    met.index = gbuffer_triangle(hit.seen);
    let v0 = scene_position(indices(3u * met.index));
    let v1 = scene_position(indices(3u * met.index + 1u));
    let v2 = scene_position(indices(3u * met.index + 2u));
    met.area = 0.5 * abs(dot(cross(v1 - v0, v2 - v0), state.direction));
    met.is_back = (hit.seen & GBUFFER_BACK) != 0u;
    let at = hit_fragment(hit.seen, hit.barycentric, state.direction, 0.0);
    path_load(hit.material, at.fragment.uv);
    met.s = material_surface(at.fragment, material_base_color(at.fragment.uv, at.fragment.color), at.front);
    met.l = material_layers(at.fragment, met.s, at.front, -state.direction);
    met.is_inside = met.is_back && met.l.volume_ior > 0.0 && met.l.transmission > 0.0;
    return met;
}

// Adds the triangle's emission, with its MIS weight against emitter sampling.
fn path_glow(met: TriangleMet, material_index: u32, bounce: u32) {
    let has_back = alpha[ALPHA_HEADER * material_index + ALPHA_DOUBLE_SIDED] != 0u;
    if !any(met.s.emissive > vec3f(0.0)) || (met.is_back && !has_back) {
        return;
    }
    var weight = 1.0;
    if state.sent_density >= 0.0 {
        let offset = met.s.position - state.asked_from;
        let density = path_emitter_chance(met.index) * dot(offset, offset) / max(met.area, 1.0e-30);
        weight = state.sent_density / max(state.sent_density + density, 1.0e-30);
    }
    let under = 1.0 - layers_coat(met.l, -state.direction);
    state.radiance += path_added(state.throughput * met.s.emissive * (under * weight), max(bounce, 1u) - 1u);
}

// Advances the path to its hit, or to an earlier scattering event, as surface number `bounce`. Returns false if the
// path ends there.
fn path_meet(hit: PathHit, pixel: vec2u, bounce: u32, bounces: u32) -> bool {
    let is_hit = hit.seen != 0u;
    var triangle: TriangleMet;
    if is_hit {
        triangle = path_triangle(hit);
    }
    let has_fog = select(bounce == 0u || state.shows_image, !triangle.is_inside, is_hit);
    let met = path_medium_met(pixel, bounce, select(1.0e30, hit.t, is_hit), has_fog);
    let is_triangle = met.t < 0.0;
    if is_triangle && !is_hit {
        path_escape(bounce);
        return false;
    }
    state.cover = 1.0;
    let is_inside = is_triangle && triangle.is_inside;
    var p: PathSurface;
    var start: ShadowStart;
    if is_triangle {
        if triangle.s.unlit {
            state.radiance += state.throughput * triangle.s.albedo * frame.unlit_radiance;
            return false;
        }
        start = shadow_ray_start(hit.seen, triangle.s.position);
        triangle.s.smooth_normal = start.smooth_normal;
        if is_inside {
            state.throughput *= exp(-triangle.l.absorption * hit.t);
        }
        path_glow(triangle, hit.material, bounce);
        p = path_surface(triangle.s, triangle.l, -state.direction);
        if bounce == 0u {
            p.growth = glint_growth(hit.seen, triangle.s.position);
        }
    } else {
        p = path_medium(met, &start);
    }
    if bounce >= bounces {
        return false;
    }
    let choices = path_point(pixel, bounce, PATH_CHOICE);
    let u = path_point(pixel, bounce, PATH_DIRECTION);
    asked = array<Asked, PATH_ASKED>();
    state.is_lifted = false;
    if !is_inside {
        path_ask(p, start, pixel, bounce);
    }
    if is_triangle && !is_inside {
        let cosine = dot(start.geometric_normal, asked[0].direction);
        state.lift = start.lift * saturate(1.0 - cosine / max(start.grazing, 1.0e-6));
        state.is_lifted = cosine < start.grazing;
        state.is_below = cosine <= 0.0;
    }
    state.asked_from = start.origin;
    state.origin = start.origin;
    state.t_min = 0.0;
    let through_from = 1.0 - p.chances.w;
    if p.kind == PATH_MEDIUM {
        let cosine = henyey_greenstein_cosine(p.anisotropy, u.x);
        let across = sqrt(max(1.0 - cosine * cosine, 0.0));
        let basis = basis_about(state.direction);
        let turn = 6.2831853 * u.y;
        let beside = cos(turn) * basis.tangent + sin(turn) * basis.bitangent;
        state.direction = normalize(cosine * state.direction + across * beside);
        state.sent_density = path_density(p, state.direction);
        state.shows_image = false;
    } else if is_inside || choices.x >= through_from {
        let choice = select((choices.x - through_from) / max(p.chances.w, 1.0e-20), choices.x, is_inside);
        let through = path_through(p, is_inside, u, choice);
        let outward = select(start.geometric_normal, -start.geometric_normal, through.enters);
        state.origin = select(start.origin, 2.0 * start.position - start.origin, through.enters);
        state.throughput *= select(vec3f(0.0), through.weight, dot(through.direction, outward) > 0.0);
        state.direction = through.direction;
        state.sent_density = -1.0;
        state.shows_image = true;
    } else {
        state.direction = path_reflect(p, u, choices.x);
        state.sent_density = path_density(p, state.direction);
        state.shows_image = state.sent_density > FOG_IMAGE;
        let is_above = dot(state.direction, start.geometric_normal) > 0.0 && state.sent_density > 0.0;
        let weight = path_scatters(p, state.direction) / max(state.sent_density, 1.0e-30);
        state.throughput *= select(vec3f(0.0), weight, is_above);
    }
    path_survive(pixel, bounce);
    return true;
}
