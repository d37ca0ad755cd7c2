// Interaction of a path with a surface or a medium: direct lighting and continuation. The importer binds `table` and
// `params`.
#import "environment/backdrop.wgsl"
#import "environment/background.wgsl"
#import "reflections/hit_fragment.wgsl"
#import "light/light.wgsl"
#import "light/light_area.wgsl"
#import "light/light_table.wgsl"
#import "path/path_emitters.wgsl"
#import "path/path_fog.wgsl"
#import "path/path_lobes.wgsl"
#import "path/path_material.wgsl"
#import "path/path_random.wgsl"
#import "path/path_sources.wgsl"
#import "path/path_state.wgsl"
#import "path/path_volume.wgsl"
#import "shadow/shadow_start.wgsl"

// Samples one of the lights and a point of it.
fn path_sample_light(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> DirectSample {
    let numbers = path_point(pixel, bounce, PATH_LIGHT);
    var choice = numbers.x;
    let drawn = light_tree_number(numbers.y, pixel, params.index * PATH_DIMENSIONS + bounce);
    var total = 0.0;
    var chosen = LightCandidate(0u, 0.0);
    var chosen_weight = 0.0;
    let normal = select(p.s.normal, vec3f(0.0), p.kind == PATH_MEDIUM);
    let candidates = light_candidates_for_one();
    for (var i = 0u; i < candidates; i++) {
        let candidate = light_candidate(i, candidates, p.s.position, normal, drawn);
        let light = light_at(candidate.index);
        let sample = light_sample(light, p.s.position);
        let is_far = light.kind == LIGHT_DIRECTIONAL;
        let sine = min(light.radius / select(sample.distance, 1.0, is_far), 1.0);
        let facing = max(dot(p.s.normal, sample.to_light), dot(p.l.clearcoat_normal, sample.to_light));
        let shines = p.kind == PATH_MEDIUM || facing + sine > 0.0;
        let weight = candidate.weight * select(0.0, layers_max(sample.irradiance), shines);
        if weight == 0.0 {
            continue;
        }
        total += weight;
        if choice * total < weight {
            chosen = candidate;
            chosen_weight = weight;
            choice = choice * total / weight;
        } else {
            choice = saturate((choice * total - weight) / max(total - weight, 1.0e-30));
        }
    }
    var direct: DirectSample;
    if chosen_weight == 0.0 {
        return direct;
    }
    let light = light_at(chosen.index);
    let sample = light_sample(light, p.s.position);
    var ray = LightRay(sample.to_light, sample.distance);
    var spread = 1.0;
    if light.radius > 0.0 {
        ray = light_area_ray(light, sample, path_point(pixel, bounce, PATH_LIGHT_POINT));
        let sine = min(light.radius / select(sample.distance, 1.0, light.kind == LIGHT_DIRECTIONAL), 1.0);
        // A light of uniform radiance: its solid angle, over the projected solid angle along its axis.
        spread = 2.0 / (1.0 + sqrt(1.0 - sine * sine));
    }
    direct.direction = ray.direction;
    direct.distance = ray.distance;
    if p.kind == PATH_MEDIUM || dot(start.horizon_normal, ray.direction) > 0.0 {
        let weight = chosen.weight * total / chosen_weight;
        direct.light = path_evaluate_light(p, ray.direction) * sample.irradiance * (spread * weight);
        direct.in_fog = select(0.0, ray.distance, ray.distance < 1.0e20);
    }
    return direct;
}

fn path_sample_environment(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> DirectSample {
    let side = params.environment_face;
    var direct: DirectSample;
    // A cumulative sum of 0 means that the environment is black.
    if table_float(params.environment_word + 6u * side * side - 1u) <= 0.0 {
        return direct;
    }
    let sky = path_environment(path_point(pixel, bounce, PATH_ENVIRONMENT));
    direct.direction = sky.direction;
    direct.distance = 1.0e30;
    if (p.kind == PATH_MEDIUM || dot(start.geometric_normal, sky.direction) > 0.0) && sky.density > 0.0 {
        let density = path_density(p, sky.direction);
        direct.light = path_evaluate(p, sky.direction) * environment_prefiltered(sky.direction, 0.0)
            / (sky.density + density);
        if fog_is_enabled() && p.kind != PATH_MEDIUM && density > FOG_IMAGE {
            direct.light *= fog_transmittance(fog_optical_depth_beyond(start.origin, sky.direction));
            direct.in_fog = direct.distance;
        }
    }
    return direct;
}

fn path_sample_emitter(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> DirectSample {
    var direct: DirectSample;
    let choice = path_point(pixel, bounce, PATH_EMITTER).x;
    let found = path_emitter(start.origin, choice, path_point(pixel, bounce, PATH_EMITTER_POINT));
    direct.direction = found.direction;
    direct.distance = found.distance;
    let is_above = p.kind == PATH_MEDIUM || dot(start.geometric_normal, found.direction) > 0.0;
    if is_above && found.density > 0.0 {
        direct.light = path_evaluate(p, found.direction) * path_emission(found.material, found.uv)
            / (found.density + path_density(p, found.direction));
        if fog_is_enabled() {
            direct.light *= fog_transmittance(fog_optical_depth(start.origin, found.position));
            direct.in_fog = distance(start.origin, found.position);
        }
    }
    return direct;
}

// Scattering event before a surface of the scene: the distance in metres, or −1, and the medium.
struct MediumEvent {
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
fn path_medium_event(pixel: vec2u, bounce: u32, distance: f32, has_fog: bool) -> MediumEvent {
    let volumes = path_volume_count();
    var event = MediumEvent(-1.0, PATH_IN_FOG);
    var reach = distance;
    path_random_begin(pixel, bounce, RAY_ON);
    // Media are independent, so the nearest of their collisions is the collision with their sum.
    if has_fog && fog_is_enabled() {
        event.t = fog_flight(state.origin, state.direction, reach);
        reach = select(event.t, reach, event.t < 0.0);
    }
    for (var i = 0u; i < volumes; i++) {
        path_volume_load(i);
        let way = path_volume_way(volume_ray(state.origin, state.direction, reach), true);
        if way.t >= 0.0 {
            event = MediumEvent(way.t, i);
            reach = way.t;
        }
    }
    for (var i = 0u; i < volumes; i++) {
        path_volume_load(i);
        if volume.emission > 0.0 && volume.isovalue < 0.0 {
            let emitted = path_volume_emitted(volume_ray(state.origin, state.direction, reach));
            state.radiance += path_contribution(state.throughput * emitted, max(bounce, 1u) - 1u);
        }
    }
    return event;
}

// Turns a scattering event into a surface, sets `start` to the start of its rays, and applies a medium's albedo.
fn path_medium(event: MediumEvent, start: ptr<function, ShadowStart>) -> PathSurface {
    let to_eye = -state.direction;
    let position = state.origin + event.t * state.direction;
    (*start).position = position;
    (*start).origin = position;
    var p: PathSurface;
    p.s.position = position;
    p.to_eye = to_eye;
    p.kind = PATH_MEDIUM;
    p.anisotropy = params.medium.anisotropy;
    if !HAS_VOLUMES || event.index == PATH_IN_FOG {
        state.throughput *= params.medium.albedo;
        return p;
    }
    path_volume_load(event.index);
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

// Fills `direct_samples`.
fn path_sample_direct(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) {
    direct_samples[0] = path_sample_light(p, start, pixel, bounce);
    direct_samples[1] = path_sample_environment(p, start, pixel, bounce);
    direct_samples[2] = path_sample_emitter(p, start, pixel, bounce);
    path_attenuate_direct(start, pixel, bounce);
}

// Attenuates `direct_samples` by the throughput, by volumes and by the noise of fog.
fn path_attenuate_direct(start: ShadowStart, pixel: vec2u, bounce: u32) {
    let volumes = path_volume_count();
    let is_mottled = fog_has_noise();
    for (var ray = RAY_LIGHT; ray <= RAY_EMITTER; ray++) {
        let wanted = direct_samples[ray - RAY_LIGHT];
        if !any(wanted.light > vec3f(0.0)) {
            continue;
        }
        path_random_begin(pixel, bounce, ray);
        var share = 1.0;
        if is_mottled && wanted.in_fog > 0.0 {
            share = fog_noise_transmittance(start.origin, wanted.direction, wanted.in_fog);
        }
        for (var i = 0u; i < volumes; i++) {
            path_volume_load(i);
            share *= path_volume_way(volume_ray(start.origin, wanted.direction, wanted.distance), false).share;
        }
        direct_samples[ray - RAY_LIGHT].light *= state.throughput * share;
    }
}

// Applies Russian roulette, with the largest channel of the throughput as survival probability.
fn path_roulette(pixel: vec2u, bounce: u32) {
    if bounce >= params.sure_bounces {
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
    if state.sampled_density >= 0.0 {
        let density = state.sampled_density + path_environment_density(state.direction);
        weight = state.sampled_density / max(density, 1.0e-30);
    }
    let light = state.throughput * environment_prefiltered(state.direction, 0.0) * weight;
    state.radiance += path_contribution(light, bounce - 1u);
}

// Triangle that a path has hit.
struct PathTriangle {
    s: Surface,
    l: Layers,
    index: u32,
    area: f32,
    is_back: bool,
    // True if the path comes from within a glass volume.
    is_inside: bool,
}

fn path_triangle(hit: PathHit) -> PathTriangle {
    var triangle: PathTriangle;
    triangle.index = gbuffer_triangle(hit.surface_id);
    let v0 = scene_position(indices(3u * triangle.index));
    let v1 = scene_position(indices(3u * triangle.index + 1u));
    let v2 = scene_position(indices(3u * triangle.index + 2u));
    triangle.area = 0.5 * abs(dot(cross(v1 - v0, v2 - v0), state.direction));
    triangle.is_back = (hit.surface_id & GBUFFER_BACK) != 0u;
    let at = hit_fragment(hit.surface_id, hit.barycentric, state.direction, 0.0);
    path_load(hit.material, at.fragment.uv);
    triangle.s = material_surface(at.fragment, material_base_color(at.fragment.uv, at.fragment.color), at.front);
    triangle.l = material_layers(at.fragment, triangle.s, at.front, -state.direction);
    triangle.is_inside = triangle.is_back && triangle.l.volume_ior > 0.0 && triangle.l.transmission > 0.0;
    return triangle;
}

// Adds the triangle's emission, with its MIS weight against emitter sampling.
fn path_add_emission(triangle: PathTriangle, material_index: u32, bounce: u32) {
    let has_back = tables[ALPHA_HEADER * material_index + ALPHA_DOUBLE_SIDED] != 0u;
    if !any(triangle.s.emissive > vec3f(0.0)) || (triangle.is_back && !has_back) {
        return;
    }
    var weight = 1.0;
    if state.sampled_density >= 0.0 {
        let offset = triangle.s.position - state.direct_origin;
        let density = path_emitter_chance(triangle.index) * dot(offset, offset) / max(triangle.area, 1.0e-30);
        weight = state.sampled_density / max(state.sampled_density + density, 1.0e-30);
    }
    let under = 1.0 - layers_coat(triangle.l, -state.direction);
    let emitted = state.throughput * triangle.s.emissive * (under * weight);
    state.radiance += path_contribution(emitted, max(bounce, 1u) - 1u);
}

// Advances the path to its hit, or to an earlier scattering event, as surface number `bounce`. Returns false if the
// path ends there.
fn path_interact(hit: PathHit, pixel: vec2u, bounce: u32, bounces: u32) -> bool {
    let is_hit = hit.surface_id != 0u;
    var triangle: PathTriangle;
    if is_hit {
        triangle = path_triangle(hit);
    }
    let has_fog = select(bounce == 0u || state.is_mirror_like, !triangle.is_inside, is_hit);
    let event = path_medium_event(pixel, bounce, select(1.0e30, hit.t, is_hit), has_fog);
    let is_triangle = event.t < 0.0;
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
        start = shadow_ray_start(hit.surface_id, triangle.s.position);
        triangle.s.smooth_normal = start.smooth_normal;
        if is_inside {
            state.throughput *= exp(-triangle.l.absorption * hit.t);
        }
        path_add_emission(triangle, hit.material, bounce);
        p = path_surface(triangle.s, triangle.l, -state.direction);
        if bounce == 0u {
            p.growth = glint_growth(hit.surface_id, triangle.s.position);
        }
    } else {
        p = path_medium(event, &start);
    }
    if bounce >= bounces {
        return false;
    }
    let choices = path_point(pixel, bounce, PATH_CHOICE);
    let u = path_point(pixel, bounce, PATH_DIRECTION);
    direct_samples = array<DirectSample, PATH_DIRECT>();
    state.is_lifted = false;
    if !is_inside {
        path_sample_direct(p, start, pixel, bounce);
    }
    if is_triangle && !is_inside {
        let cosine = dot(start.geometric_normal, direct_samples[0].direction);
        state.lift = start.lift * saturate(1.0 - cosine / max(start.grazing, 1.0e-6));
        state.is_lifted = cosine < start.grazing;
        state.is_below = cosine <= 0.0;
    }
    state.direct_origin = start.origin;
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
        state.sampled_density = path_density(p, state.direction);
        state.is_mirror_like = false;
    } else if is_inside || choices.x >= through_from {
        let choice = select((choices.x - through_from) / max(p.chances.w, 1.0e-20), choices.x, is_inside);
        let through = path_sample_transmission(p, is_inside, u, choice);
        let outward = select(start.geometric_normal, -start.geometric_normal, through.enters);
        state.origin = select(start.origin, 2.0 * start.position - start.origin, through.enters);
        state.throughput *= select(vec3f(0.0), through.weight, dot(through.direction, outward) > 0.0);
        state.direction = through.direction;
        state.sampled_density = -1.0;
        state.is_mirror_like = true;
    } else {
        state.direction = path_sample_reflection(p, u, choices.x);
        state.sampled_density = path_density(p, state.direction);
        state.is_mirror_like = state.sampled_density > FOG_IMAGE;
        let is_above = dot(state.direction, start.geometric_normal) > 0.0 && state.sampled_density > 0.0;
        let weight = path_evaluate(p, state.direction) / max(state.sampled_density, 1.0e-30);
        state.throughput *= select(vec3f(0.0), weight, is_above);
    }
    path_roulette(pixel, bounce);
    return true;
}
