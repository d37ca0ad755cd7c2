// All lights of a frame, and a random selection among many. They follow the materials in `tables` of the merged scene:
// LIGHT_WORDS words per light, then, if there are too many lights to look at each, a binary tree over them
// (render/light/light_tree.rs).
//
// Each step of a walk down the tree goes to one of two children at random, in proportion to an estimate of the
// irradiance that they bring (Conty Estevez and Kulla 2018, "Importance Sampling of Many Lights with Adaptive Tree
// Splitting", without splitting).
#import "frame/frame.wgsl"
#import "frame/scene.wgsl"
#import "light/light.wgsl"
#import "math/pcg.wgsl"

fn light_at(index: u32) -> Light {
    let at = frame.lights_word + LIGHT_WORDS * index;
    return Light(
        bitcast<vec3f>(vec3u(tables[at], tables[at + 1u], tables[at + 2u])),
        tables[at + 3u],
        bitcast<vec3f>(vec3u(tables[at + 4u], tables[at + 5u], tables[at + 6u])),
        bitcast<f32>(tables[at + 7u]),
        bitcast<vec3f>(vec3u(tables[at + 8u], tables[at + 9u], tables[at + 10u])),
        tables[at + 11u],
        bitcast<f32>(tables[at + 12u]),
        bitcast<f32>(tables[at + 13u]),
        bitcast<f32>(tables[at + 14u]),
    );
}

// A light that a surface looks at.
struct LightCandidate {
    index: u32,
    // Factor on its contribution, which accounts for the lights that are not candidates. 0 if there is no light.
    weight: f32,
}

// Smallest factor on the estimate of lights below a surface's horizon. A clear coat has a horizon of its own, and rough
// transmission none.
const LIGHT_TREE_BELOW = 0.05;
// Upper bound of an estimate, so that sums are finite.
const LIGHT_TREE_MAX = 1.0e30;
// Squared distance of the light nearest to a point in a box of one light, over the square of its half diagonal.
const LIGHT_TREE_SPACING = 0.1;
// Factor on it in a box of half as many lights: the cube root of 4.
const LIGHT_TREE_HALVED = 1.5874011;
// Squared distance beyond which all boxes are as far away, so that products of two are finite.
const LIGHT_TREE_FAR = 1.0e19;

fn light_tree_is_used() -> bool {
    return frame.light_candidates < frame.light_count;
}

// Returns the usual squared distance of numbers of lights in a box, over the square of its half diagonal.
fn light_tree_spacing(lights: vec2u) -> vec2f {
    return LIGHT_TREE_SPACING * pow(vec2f(lights), vec2f(-0.6666667));
}

// A point at which lights are drawn, in units of the grid of the nodes' boxes.
struct LightTreePoint {
    position: vec3f,
    // The last component is 1 in media, which have no normal.
    normal: vec4f,
}

// Returns an estimate of the irradiance that the lights of a node bring to a point. It is 0 only if they bring none.
// `at` is the node's first word, and `spacing` that of light_tree_spacing.
//
// A box that holds the point may have a light close to it. The mean of 1 / d² over the box is then no good estimate, as
// such a light would be drawn too rarely for its weight. The product of the least and of the greatest distance is.
fn light_tree_estimate(at: u32, point: LightTreePoint, spacing: f32) -> f32 {
    let sides = vec3u(tables[at], tables[at + 1u], tables[at + 2u]);
    let low = vec3f(sides & vec3u(0xffffu)) - point.position;
    let high = vec3f(sides >> vec3u(16u)) - point.position;
    let strength_range = tables[at + 3u];
    let cone = unpack4x8snorm(tables[at + 4u]);
    let to_box = max(max(low, -high), vec3f(0.0));
    let to_far = max(abs(low), abs(high));
    let least2 = dot(to_box, to_box);
    let half = 0.5 * (high - low);
    let radius2 = dot(half, half);
    let offset = low + half;
    let by_distance = inverseSqrt(max(dot(offset, offset), 1.0e-20));
    // The angle to a light is smaller than that to the centre by at most the angle of the sphere around the box, and
    // cos(a − b) ≤ cos a + sin b. Within the sphere, every angle is possible.
    let sine = sqrt(radius2) * by_distance;
    let facing = dot(point.normal, vec4f(by_distance * offset, 1.0)) + sine;
    let range = bitcast<f32>(strength_range & 0xffff0000u);
    let is_in_cone = sine >= 1.0 || sine - by_distance * dot(cone.xyz, offset) >= cone.w;
    let is_lit = least2 <= range * range && is_in_cone;
    let near2 = max(least2, spacing * radius2);
    let estimate = bitcast<f32>(strength_range << 16u) * clamp(facing, LIGHT_TREE_BELOW, 1.0)
        * inverseSqrt(min(near2, LIGHT_TREE_FAR) * min(dot(to_far, to_far), LIGHT_TREE_FAR));
    return select(0.0, min(estimate, LIGHT_TREE_MAX), is_lit);
}

// Returns the illuminance of the directional lights of a node, over the square of the grid's scale.
fn light_tree_distant(at: u32) -> f32 {
    let scale = frame.light_grid.w;
    return min(bitcast<f32>(tables[at + 3u] << 16u) / (scale * scale), LIGHT_TREE_MAX);
}

// Draws a light with a number `u` in [0, 1). A normal of zero stands for a medium.
fn light_tree_draw(position: vec3f, normal: vec3f, u: f32) -> LightCandidate {
    let grid = frame.light_grid;
    let is_medium = all(normal == vec3f(0.0));
    let point = LightTreePoint((position - grid.xyz) * grid.w, vec4f(normal, select(0.0, 1.0, is_medium)));
    let tree = frame.lights_word + LIGHT_WORDS * frame.light_count;
    var at = u;
    var chance = 1.0;
    var node = 0u;
    var first = 0u;
    var count = frame.light_count;
    var spacing = light_tree_spacing(vec2u(count));
    while count > 1u {
        var left = count / 2u;
        let are_mixed = first < frame.distant_lights && first + count > frame.distant_lights;
        if are_mixed {
            left = frame.distant_lights;
        }
        let children = vec2u(tree + 2u * LIGHT_NODE_WORDS * node) + vec2u(0u, LIGHT_NODE_WORDS);
        spacing *= vec2f(LIGHT_TREE_HALVED);
        if are_mixed {
            spacing = light_tree_spacing(vec2u(left, count - left));
        }
        var estimates = vec2f(
            light_tree_estimate(children.x, point, spacing.x),
            light_tree_estimate(children.y, point, spacing.y),
        );
        if first < frame.distant_lights {
            estimates.x = light_tree_distant(children.x);
            estimates.y = select(light_tree_distant(children.y), estimates.y, are_mixed);
        }
        let sum = estimates.x + estimates.y;
        if sum == 0.0 {
            return LightCandidate(0u, 0.0);
        }
        let share = estimates.x / sum;
        // Rounding must not lead to a light of no chance.
        let goes_left = at < share || share >= 1.0;
        chance *= select(1.0 - share, share, goes_left);
        at = select((at - share) / (1.0 - share), at / share, goes_left);
        node += select(left, 1u, goes_left);
        first += select(left, 0u, goes_left);
        spacing = vec2f(select(spacing.y, spacing.x, goes_left));
        count = select(count - left, left, goes_left);
    }
    return LightCandidate(first, 1.0 / chance);
}

// Refines a number of the sampling sequence, which has 12 bits. A tree of many lights needs more.
fn light_tree_number(u: f32, pixel: vec2u, index: u32) -> f32 {
    let low = pcg_hash(pixel.x + pcg_hash(pixel.y + pcg_hash(index)));
    return fract(u + f32(low >> 8u) / (16777216.0 * 4096.0));
}

// Returns light `i` of the `count` lights that a surface looks at: of all lights, or else drawn from the tree with a
// number `u` in [0, 1), which all draws of a point share.
fn light_candidate(i: u32, count: u32, position: vec3f, normal: vec3f, u: f32) -> LightCandidate {
    if !light_tree_is_used() {
        return LightCandidate(i, 1.0);
    }
    let drawn = light_tree_draw(position, normal, (f32(i) + u) / f32(count));
    return LightCandidate(drawn.index, drawn.weight / f32(count));
}

// Returns the number of lights to look at for a choice of one of them.
fn light_candidates_for_one() -> u32 {
    return select(frame.light_count, LIGHT_DRAWS_FOR_ONE, light_tree_is_used());
}
