// What a path does at a surface: it asks for direct light, and goes on. The importer binds `table` and `params`.
#import "common/background.wgsl"
#import "common/hit_fragment.wgsl"
#import "common/light.wgsl"
#import "common/light_area.wgsl"
#import "common/path_fog.wgsl"
#import "common/path_lobes.wgsl"
#import "common/path_material.wgsl"
#import "common/path_sources.wgsl"
#import "common/path_state.wgsl"
#import "common/shadow_start.wgsl"
#import "common/unseen.wgsl"

// Surfaces after which paths end by chance.
const SURE_BOUNCES = 3u;

// One of the lights, and a point of it.
fn path_ask_light(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> Asked {
    var choice = path_point(pixel, bounce, PATH_LIGHT).x;
    var total = 0.0;
    var chosen = 0u;
    var chosen_weight = 0.0;
    let lights_there = unseen_zero(f32(pixel.x)) + frame.light_count;
    for (var i = 0u; i < lights_there; i++) {
        let sample = light_sample(lights[i], p.s.position);
        let is_far = lights[i].kind == LIGHT_DIRECTIONAL;
        let sine = min(lights[i].radius / select(sample.distance, 1.0, is_far), 1.0);
        let facing = max(dot(p.s.normal, sample.to_light), dot(p.l.clearcoat_normal, sample.to_light));
        let weight = select(0.0, layers_max(sample.irradiance), p.is_fog || facing + sine > 0.0);
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
        // A light of even radiance: its solid angle, over that seen along its middle.
        spread = 2.0 / (1.0 + sqrt(1.0 - sine * sine));
    }
    asked.direction = ray.direction;
    asked.distance = ray.distance;
    if p.is_fog || dot(start.horizon_normal, ray.direction) > 0.0 {
        asked.light = path_scatters(p, ray.direction) * sample.irradiance * (spread * total / chosen_weight);
        if fog_is_mottled(pixel) && ray.distance < 1.0e20 {
            fog_begin(pixel, bounce, RAY_LIGHT);
            asked.light *= fog_noise_passes(start.origin, ray.direction, ray.distance);
        }
    }
    return asked;
}

fn path_ask_environment(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> Asked {
    let side = params.environment_face;
    var asked: Asked;
    // Black all around.
    if table_float(params.environment_word + 6u * side * side - 1u) <= 0.0 {
        return asked;
    }
    let sky = path_environment(path_point(pixel, bounce, PATH_ENVIRONMENT));
    asked.direction = sky.direction;
    asked.distance = 1.0e30;
    if (p.is_fog || dot(start.geometric_normal, sky.direction) > 0.0) && sky.density > 0.0 {
        let density = path_density(p, sky.direction);
        asked.light = path_scatters(p, sky.direction) * environment_prefiltered(sky.direction, 0.0)
            / (sky.density + density);
        if fog_is_there(f32(pixel.x)) && !p.is_fog && density > FOG_IMAGE {
            asked.light *= fog_passes(fog_optical_depth_beyond(start.origin, sky.direction));
            if fog_is_mottled(pixel) {
                fog_begin(pixel, bounce, RAY_ENVIRONMENT);
                asked.light *= fog_noise_passes(start.origin, sky.direction, 1.0e30);
            }
        }
    }
    return asked;
}

fn path_ask_emitter(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) -> Asked {
    var asked: Asked;
    let count = unseen_zero(f32(pixel.x)) + params.emitter_count;
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
    let i = vec3u(indices[3u * triangle], indices[3u * triangle + 1u], indices[3u * triangle + 2u]);
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
    // The light itself is not in the way.
    asked.distance = 0.9999 * sqrt(distance2);
    let index = table[params.emitter_word + 2u * count + chosen.index];
    let glows_behind = alpha[ALPHA_HEADER * index + ALPHA_DOUBLE_SIDED] != 0u;
    let is_seen = facing > 0.0 || (glows_behind && facing < 0.0);
    let is_above = p.is_fog || dot(start.geometric_normal, direction) > 0.0;
    if is_above && is_seen && chosen.chance > 0.0 && distance2 > 0.0 {
        let uv = w.x * vec4f(scene_uv(i.x, 0u), scene_uv(i.x, 1u)) + w.y * vec4f(scene_uv(i.y, 0u), scene_uv(i.y, 1u))
            + w.z * vec4f(scene_uv(i.z, 0u), scene_uv(i.z, 1u));
        let density = chosen.chance * distance2 / (0.5 * twice_area * abs(facing));
        asked.light = path_scatters(p, direction) * path_emission(index, uv)
            / (density + path_density(p, direction));
        if fog_is_there(f32(pixel.x)) {
            asked.light *= fog_passes(fog_optical_depth(start.origin, at));
            if fog_is_mottled(pixel) {
                fog_begin(pixel, bounce, RAY_EMITTER);
                asked.light *= fog_noise_passes(start.origin, direction, sqrt(distance2));
            }
        }
    }
    return asked;
}

fn fog_is_mottled(pixel: vec2u) -> bool {
    return unseen_zero(f32(pixel.x)) + u32(frame.fog_density > 0.0 && frame.fog_noise > 0.0) != 0u;
}

// Metres to where fog scatters the path, before it meets what is `distance` away; −1 where it does not.
fn path_fog_flight(pixel: vec2u, bounce: u32, distance: f32) -> f32 {
    if !fog_is_there(f32(pixel.x)) {
        return -1.0;
    }
    fog_begin(pixel, bounce, RAY_ON);
    return fog_flight(state.origin, state.direction, distance);
}

// Scatters the path in fog, `t` metres along its ray: as a surface does, in all directions. False where it ends there.
fn path_scatter(t: f32, pixel: vec2u, bounce: u32, bounces: u32) -> bool {
    state.cover = 1.0;
    state.throughput *= params.medium.albedo;
    state.is_lifted = false;
    asked = array<Asked, PATH_ASKED>();
    if bounce >= bounces {
        return false;
    }
    var p: PathSurface;
    p.is_fog = true;
    p.to_eye = -state.direction;
    p.s.position = state.origin + t * state.direction;
    var start: ShadowStart;
    start.origin = p.s.position;
    path_ask(p, start, pixel, bounce);
    state.asked_from = start.origin;
    state.origin = start.origin;
    state.t_min = 0.0;
    let u = path_point(pixel, bounce, PATH_DIRECTION);
    let cosine = henyey_greenstein_cosine(params.medium.anisotropy, u.x);
    let across = sqrt(max(1.0 - cosine * cosine, 0.0));
    let basis = basis_about(state.direction);
    let turn = 6.2831853 * u.y;
    let beside = cos(turn) * basis.tangent + sin(turn) * basis.bitangent;
    state.direction = normalize(cosine * state.direction + across * beside);
    state.sent_density = path_density(p, state.direction);
    state.shows_image = false;
    path_survive(pixel, bounce);
    return true;
}

// Asks for direct light.
fn path_ask(p: PathSurface, start: ShadowStart, pixel: vec2u, bounce: u32) {
    asked[0] = path_ask_light(p, start, pixel, bounce);
    asked[1] = path_ask_environment(p, start, pixel, bounce);
    asked[2] = path_ask_emitter(p, start, pixel, bounce);
    for (var i = 0u; i < PATH_ASKED; i++) {
        asked[i].light *= state.throughput;
    }
}

// Ends paths by chance, as often as they carry little.
fn path_survive(pixel: vec2u, bounce: u32) {
    if bounce >= SURE_BOUNCES {
        let goes_on = min(layers_max(state.throughput), 1.0);
        let ends = path_point(pixel, bounce, PATH_CHOICE).y >= goes_on;
        state.throughput *= select(1.0 / max(goes_on, 1.0e-20), 0.0, ends);
    }
}

// What a path finds where it meets nothing.
fn path_escape(bounce: u32) {
    if bounce == 0u {
        state.radiance = background_radiance(state.direction);
        return;
    }
    var weight = 1.0;
    if state.sent_density >= 0.0 {
        weight = state.sent_density / max(state.sent_density + path_environment_density(state.direction), 1.0e-30);
    }
    let light = state.throughput * environment_prefiltered(state.direction, 0.0) * weight;
    state.radiance += path_added(light, bounce - 1u);
}

// Takes the path to what its ray has hit, as its surface number `bounce`; false where it ends there.
fn path_meet(hit: PathHit, pixel: vec2u, bounce: u32, bounces: u32) -> bool {
    if hit.seen == 0u {
        if bounce == 0u || state.shows_image {
            let t = path_fog_flight(pixel, bounce, 1.0e30);
            if t >= 0.0 {
                return path_scatter(t, pixel, bounce, bounces);
            }
        }
        path_escape(bounce);
        return false;
    }
    let triangle = gbuffer_triangle(hit.seen);
    let v0 = scene_position(indices[3u * triangle]);
    let v1 = scene_position(indices[3u * triangle + 1u]);
    let v2 = scene_position(indices[3u * triangle + 2u]);
    let across = cross(v1 - v0, v2 - v0);
    let is_back = (hit.seen & GBUFFER_BACK) != 0u;
    let to_eye = -state.direction;
    let at = hit_fragment(hit.seen, hit.barycentric, state.direction, 0.0);
    path_load(hit.material, at.fragment.uv);
    var s = material_surface(at.fragment, material_base_color(at.fragment.uv, at.fragment.color), at.front);
    let l = material_layers(at.fragment, s, at.front, to_eye);
    let is_inside = is_back && l.volume_ior > 0.0 && l.transmission > 0.0;
    if !is_inside {
        let t = path_fog_flight(pixel, bounce, hit.t);
        if t >= 0.0 {
            return path_scatter(t, pixel, bounce, bounces);
        }
    }
    state.cover = 1.0;
    if s.unlit {
        state.radiance += state.throughput * s.albedo * frame.unlit_radiance;
        return false;
    }
    let start = shadow_ray_start(hit.seen, s.position);
    s.smooth_normal = start.smooth_normal;
    if is_inside {
        state.throughput *= exp(-l.absorption * hit.t);
    }
    let has_back = alpha[ALPHA_HEADER * hit.material + ALPHA_DOUBLE_SIDED] != 0u;
    if any(s.emissive > vec3f(0.0)) && (!is_back || has_back) {
        var weight = 1.0;
        if state.sent_density >= 0.0 {
            let offset = s.position - state.asked_from;
            let area = 0.5 * abs(dot(across, state.direction));
            let density = path_emitter_chance(triangle) * dot(offset, offset) / max(area, 1.0e-30);
            weight = state.sent_density / max(state.sent_density + density, 1.0e-30);
        }
        let under = 1.0 - layers_coat(l, to_eye);
        state.radiance += path_added(state.throughput * s.emissive * (under * weight), max(bounce, 1u) - 1u);
    }
    if bounce >= bounces {
        return false;
    }
    let p = path_surface(s, l, to_eye);
    let choices = path_point(pixel, bounce, PATH_CHOICE);
    let u = path_point(pixel, bounce, PATH_DIRECTION);
    asked = array<Asked, PATH_ASKED>();
    state.is_lifted = false;
    if !is_inside {
        path_ask(p, start, pixel, bounce);
        let cosine = dot(start.geometric_normal, asked[0].direction);
        state.lift = start.lift * saturate(1.0 - cosine / max(start.grazing, 1.0e-6));
        state.is_lifted = cosine < start.grazing;
        state.is_below = cosine <= 0.0;
    }
    state.asked_from = start.origin;
    state.t_min = 0.0;
    let through_from = 1.0 - p.chances.w;
    if is_inside || choices.x >= through_from {
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
        let weight = layers_evaluate(s, l, to_eye, state.direction) / max(state.sent_density, 1.0e-30);
        state.throughput *= select(vec3f(0.0), weight, is_above);
        state.origin = start.origin;
    }
    path_survive(pixel, bounce);
    return true;
}
