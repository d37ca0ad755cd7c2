// Lookups of shadow maps. Both biases offset the receiver in world space by texels of the map, so they scale with the
// scene.
#import "math/basis.wgsl"
#import "light/light.wgsl"
#import "math/sampling.wgsl"

struct ShadowView {
    clip_from_world: mat4x4f,
    // Texel size in metres; for a perspective projection, at a distance of one metre.
    texel_size: f32,
    // 1 for a perspective projection, 0 for an orthographic one.
    perspective: f32,
    // Distances of the near and far plane in metres.
    near: f32,
    far: f32,
}

@group(0) @binding(2) var<uniform> shadow_views: array<ShadowView, SHADOW_VIEW_LIMIT>;
@group(0) @binding(3) var shadow_maps: texture_depth_2d_array;
@group(0) @binding(4) var shadow_sampler: sampler_comparison;

// Returns the cube face of a point light (+X, −X, +Y, −Y, +Z, −Z) for a direction.
fn shadow_map_face(direction: vec3f) -> u32 {
    let size = abs(direction);
    if size.x >= size.y && size.x >= size.z {
        return select(0u, 1u, direction.x < 0.0);
    }
    if size.y >= size.z {
        return select(2u, 3u, direction.y < 0.0);
    }
    return select(4u, 5u, direction.z < 0.0);
}

// Number of taps of the blocker search and of the comparison.
const SHADOW_MAP_SEARCH = 16u;
const SHADOW_MAP_TAPS = 32u;
// Greatest search and filter radius, as a fraction of the map.
const SHADOW_MAP_REACH = 0.125;

// Returns the distance in metres from the light, or from its plane, for a depth in a map.
fn shadow_map_distance(view: ShadowView, depth: f32) -> f32 {
    let span = view.far - view.near;
    let in_perspective = view.near * view.far / (view.near + depth * span);
    return select(view.far - depth * span, in_perspective, view.perspective != 0.0);
}

// Returns tap i of n on the unit disc, on a Vogel spiral (Vogel 1979).
fn shadow_map_tap(i: u32, n: u32, turn: f32) -> vec2f {
    let angle = 2.3999632 * f32(i) + turn;
    return sqrt((f32(i) + 0.5) / f32(n)) * vec2f(cos(angle), sin(angle));
}

struct ShadowMapPoint {
    uv: vec2f,
    depth: f32,
    is_inside: bool,
}

// Projects a world position into a layer.
fn shadow_map_point(view: ShadowView, position: vec3f) -> ShadowMapPoint {
    let clip = view.clip_from_world * vec4f(position, 1.0);
    let ndc = clip.xyz / clip.w;
    let is_inside = clip.w > 0.0 && all(abs(ndc.xy) <= vec2f(1.0)) && ndc.z > 0.0 && ndc.z <= 1.0;
    return ShadowMapPoint(vec2f(0.5, -0.5) * ndc.xy + 0.5, ndc.z, is_inside);
}

// Returns the gradient of depth over the receiver's plane. Depth is linear on a plane in either projection. Comparing
// offset taps with the plane avoids self-shadowing.
fn shadow_map_gradient(view: ShadowView, at: ShadowMapPoint, position: vec3f, normal: vec3f, texel: f32) -> vec2f {
    let basis = basis_about(normal);
    let a = shadow_map_point(view, position + 8.0 * texel * basis.tangent);
    let b = shadow_map_point(view, position + 8.0 * texel * basis.bitangent);
    let along_a = a.uv - at.uv;
    let along_b = b.uv - at.uv;
    let area = along_a.x * along_b.y - along_a.y * along_b.x;
    let rise = vec2f(a.depth, b.depth) - at.depth;
    let gradient = vec2f(along_b.y * rise.x - along_a.y * rise.y, along_a.x * rise.y - along_b.x * rise.x);
    return select(vec2f(0.0), gradient / area, abs(area) > 1.0e-20);
}

// Returns the visibility of a light that has a size, by percentage-closer soft shadows (Fernando 2005). A blocker
// search finds the mean distance of the blockers. The filter radius is the size of the penumbra that this distance
// gives.
fn shadow_map_soft(
    light: Light,
    layer: u32,
    turn: f32,
    at: ShadowMapPoint,
    gradient: vec2f,
) -> f32 {
    let view = shadow_views[layer];
    let size = vec2f(textureDimensions(shadow_maps));
    let receiver = shadow_map_distance(view, at.depth);
    // Size in metres of a texel at the receiver.
    let texel = view.texel_size * mix(1.0, receiver, view.perspective);
    // The search radius covers blockers farther from a punctual light than a third of the receiver's distance. Blockers
    // nearer to the light are found only by chance.
    let widest = light.radius * select(receiver - view.near, 2.0, view.perspective != 0.0);
    let most = SHADOW_MAP_REACH * size.x;
    let search = min(widest / texel, most);
    var blockers = 0.0;
    var distance = 0.0;
    for (var i = 0u; i < SHADOW_MAP_SEARCH; i++) {
        let offset = search * shadow_map_tap(i, SHADOW_MAP_SEARCH, turn);
        let tap = at.uv * size + offset;
        let held = textureLoad(shadow_maps, vec2i(clamp(tap, vec2f(0.0), size - 1.0)), layer, 0);
        let blocks = held > at.depth + dot(gradient, offset / size);
        blockers += select(0.0, 1.0, blocks);
        distance += select(0.0, shadow_map_distance(view, held), blocks);
    }
    if blockers == 0.0 {
        return 1.0;
    }
    let blocker = max(distance / blockers, 1.0e-6 * receiver);
    let width = light.radius * (receiver - blocker) * select(1.0, 1.0 / blocker, view.perspective != 0.0);
    let reach = clamp(width / texel, 0.5 * f32(frame.pcf_width), most);
    var sum = 0.0;
    for (var i = 0u; i < SHADOW_MAP_TAPS; i++) {
        let offset = reach / size * shadow_map_tap(i, SHADOW_MAP_TAPS, turn);
        let depth = saturate(at.depth + dot(gradient, offset));
        sum += textureSampleCompareLevel(shadow_maps, shadow_sampler, at.uv + offset, layer, depth);
    }
    return sum / f32(SHADOW_MAP_TAPS);
}

// Returns the visibility of the light. It is 1 where the map holds no occluder, and outside the map.
fn shadow_map_visibility(
    light: Light,
    sample: LightSample,
    pixel: vec2u,
    position: vec3f,
    normal: vec3f,
) -> f32 {
    if light.shadow_view == 0xffffffffu {
        return 1.0;
    }
    var layer = light.shadow_view;
    if light.kind == LIGHT_POINT {
        layer += shadow_map_face(-sample.to_light);
    }
    let view = shadow_views[layer];
    let texel = view.texel_size * mix(1.0, sample.distance, view.perspective);
    let slope = sqrt(saturate(1.0 - pow(dot(normal, sample.to_light), 2.0)));
    let receiver =
        position + texel * (frame.normal_bias * slope * normal + frame.depth_bias * sample.to_light);
    let at = shadow_map_point(view, receiver);
    if !at.is_inside {
        return 1.0;
    }
    if light.radius > 0.0 {
        let turn = 6.2831853 * sampling_point(pixel, frame.sample_index, frame.first_dimension + SAMPLE_SHADOW_MAPS).x;
        let gradient = shadow_map_gradient(view, at, receiver, normal, texel);
        return shadow_map_soft(light, layer, turn, at, gradient);
    }
    let step = 1.0 / vec2f(textureDimensions(shadow_maps));
    let width = frame.pcf_width;
    let reach = (f32(width) - 1.0) * 0.5;
    var sum = 0.0;
    for (var y = 0u; y < width; y++) {
        for (var x = 0u; x < width; x++) {
            let tap = at.uv + (vec2f(f32(x), f32(y)) - reach) * step;
            sum += textureSampleCompareLevel(shadow_maps, shadow_sampler, tap, layer, at.depth);
        }
    }
    return sum / f32(width * width);
}
