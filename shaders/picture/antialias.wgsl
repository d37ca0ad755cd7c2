// antialias: morphological antialiasing of the finished picture.
//
// in   picture: encoded for the display, 8 bits per channel; a transparent picture is premultiplied before the encoding
// out  edges: flags for an edge to the left and to the upper neighbour; weights: coverage of each of the two pixels at
//      an edge by the other pixel; then the smoothed picture, and the smoothed picture scaled to a larger target
// Four full-screen draws. The method is Jimenez et al. 2012, "SMAA: Enhanced Subpixel Morphological Antialiasing":
// edges and their local contrast (section 3.1); ends, turns and corners of edges, and diagonals (3.2, 3.3). Between two
// turns, an edge stands for a line from the centre of one turn to the centre of the edge and on to the centre of the
// other turn. The paper looks up the areas between line and edge in a table. This shader integrates them. Diagonals are
// treated similarly. They are stairs with steps of one pixel, between longer steps instead of turns.
#import "frame/fullscreen.wgsl"
#import "math/cubic.wgsl"
#import "frame/display.wgsl"

// Each draw binds its own inputs.
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(0) var edge_bits: texture_2d<u32>;
@group(0) @binding(1) var weights_texture: texture_2d<f32>;
@group(0) @binding(1) var linear_sampler: sampler;

const LEFT = 1u;
const ABOVE = 2u;

fn levels(at: vec2i) -> vec4i {
    let last = vec2i(textureDimensions(picture)) - 1;
    return vec4i(round(textureLoad(picture, clamp(at, vec2i(0), last), 0) * 255.0));
}

fn contrast(a: vec4i, b: vec4i) -> i32 {
    let difference = abs(a - b);
    return max(max(difference.r, difference.g), max(difference.b, difference.a));
}

@fragment
fn edges(in: Corner) -> @location(0) u32 {
    let at = vec2i(in.clip.xy);
    let here = levels(at);
    let left = levels(at - vec2i(1, 0));
    let above = levels(at - vec2i(0, 1));
    let found = vec2i(contrast(here, left), contrast(here, above));
    let least = i32(ANTIALIAS_CONTRAST);
    var bits = 0u;
    if any(found >= vec2i(least)) {
        // An edge next to one of more than twice its contrast is not visible.
        let right = contrast(here, levels(at + vec2i(1, 0)));
        let below = contrast(here, levels(at + vec2i(0, 1)));
        let farther_left = contrast(left, levels(at - vec2i(2, 0)));
        let farther_above = contrast(above, levels(at - vec2i(0, 2)));
        let beside = max(max(right, below), max(farther_left, farther_above));
        let largest = max(beside, max(found.x, found.y));
        let seen = (found >= vec2i(least)) & (2 * found >= vec2i(largest));
        bits = select(0u, LEFT, seen.x) | select(0u, ABOVE, seen.y);
    }
    return bits;
}

// Orientation of an edge. The edge lies between a pixel and the previous pixel across the axis.
struct Axis {
    along: vec2i,
    across: vec2i,
    // Bits of edges along the axis, and of the edges that cross it.
    run: u32,
    cross: u32,
}

fn has_edge(at: vec2i, bit: u32) -> bool {
    let size = vec2i(textureDimensions(edge_bits));
    return all(at >= vec2i(0)) && all(at < size) && (textureLoad(edge_bits, at, 0).r & bit) != 0u;
}

// Turns at the end of an edge, as a bit mask: towards the previous pixel and towards the next pixel.
const BEFORE = 1u;
const AFTER = 2u;

struct End {
    // Whole pixels to the end.
    distance: f32,
    turns: u32,
    // Factor on the area.
    kept: f32,
}

// Returns the factor on the area for a turn at the start or end of a pixel.
fn kept_at(at: vec2i, crossing: vec2i, axis: Axis, step: i32, turns: u32) -> f32 {
    if turns == (BEFORE | AFTER) {
        return 1.0;
    }
    // One pixel across, the outline may continue ahead. Otherwise it may continue farther across, or back.
    let side = select(-axis.across, axis.across, turns == AFTER);
    let goes_on = has_edge(at + step * axis.along + side, axis.run);
    let second = select(2 * side, side, turns == AFTER);
    let is_corner = has_edge(crossing + second, axis.cross) || has_edge(at + side, axis.run);
    return select(1.0, ANTIALIAS_CORNER, is_corner && !goes_on);
}

fn find_end(first: vec2i, axis: Axis, step: i32) -> End {
    let forward = step > 0;
    let last = vec2i(textureDimensions(edge_bits)) - 1;
    // A pixel stores the crossing edges at its start; the next pixel stores those at its end.
    let ahead = select(vec2i(0), axis.along, forward);
    let available = select(dot(first, axis.along) + 1, dot(last - first, axis.along), forward);
    let count = min(available, i32(ANTIALIAS_SEARCH_DISTANCE));
    for (var distance = 0; distance < count; distance++) {
        // Both reads are inside the picture, because an edge lies between two rows.
        let at = first + distance * step * axis.along;
        let after = textureLoad(edge_bits, at + ahead, 0).r;
        let before = textureLoad(edge_bits, at + ahead - axis.across, 0).r;
        if !forward && (after & axis.run) == 0u {
            return End(f32(distance - 1), 0u, 1.0);
        }
        let turns = select(0u, BEFORE, (before & axis.cross) != 0u)
            | select(0u, AFTER, (after & axis.cross) != 0u);
        if turns != 0u {
            return End(f32(distance), turns, kept_at(at, at + ahead, axis, step, turns));
        }
        if forward && (after & axis.run) == 0u {
            return End(f32(distance), 0u, 1.0);
        }
    }
    let runs_on = forward || has_edge(first - count * axis.along, axis.run);
    return End(f32(select(count - 1, count, runs_on)), 0u, 1.0);
}

// Returns the area between line and edge in the pixel that is `distance` pixels from the end of an edge of `length`
// pixels. The line runs from a point half a pixel off the end to the centre of the edge.
fn ramp(distance: f32, length: f32) -> f32 {
    let first = min(distance, 0.5 * length);
    let last = min(distance + 1.0, 0.5 * length);
    return 0.5 * ((last - last * last / length) - (first - first * first / length));
}

// True if there is an edge between a pixel corner and the next corner in a direction.
fn has_segment(corner: vec2i, direction: vec2i) -> bool {
    return has_edge(min(corner, corner + direction), select(LEFT, ABOVE, direction.x != 0));
}

struct Longer {
    // Distance in segments of one pixel. Every other segment crosses the axis.
    distance: f32,
    // 1 if the longer segment crosses the axis, −1 if it runs along it, 0 if the stairs end without one.
    crosses: f32,
}

// Follows stairs from a corner, in two alternating directions.
fn find_longer(corner: vec2i, across: vec2i, along: vec2i) -> Longer {
    var at = corner;
    for (var distance = 1u; distance < 2u * ANTIALIAS_SEARCH_DISTANCE; distance++) {
        let crosses = (distance & 1u) != 0u;
        let direction = select(along, across, crosses);
        at += direction;
        if has_segment(at, direction) {
            return Longer(f32(distance), select(-1.0, 1.0, crosses));
        }
        if !has_segment(at, select(across, along, crosses)) {
            return Longer(f32(distance), 0.0);
        }
    }
    return Longer(f32(2u * ANTIALIAS_SEARCH_DISTANCE), 0.0);
}

// Returns the result of `areas` for a step of stairs: a segment of one pixel that turns to one side at its start and to
// the other side at its end. The line goes through the centres of the segments and drifts by half a pixel towards a
// longer segment. It cuts a triangle off each of the two pixels.
fn diagonal_areas(at: vec2i, axis: Axis, turns_after: bool) -> vec2f {
    let down = select(-axis.across, axis.across, turns_after);
    let start = find_longer(at, -down, -axis.along);
    let end = find_longer(at + axis.along, down, axis.along);
    let length = start.distance + end.distance;
    // Drift towards `down`, half a segment from the centre, at the end and at the start.
    let drift = vec2f(
        end.crosses * max(0.0, 1.0 - 2.0 * (end.distance - 0.5) / length)
            - start.crosses * max(0.0, 1.0 - 2.0 * (start.distance + 0.5) / length),
        end.crosses * max(0.0, 1.0 - 2.0 * (end.distance + 0.5) / length)
            - start.crosses * max(0.0, 1.0 - 2.0 * (start.distance - 0.5) / length),
    );
    // The line cuts the pixel towards `down` at the end, and the other pixel at the start.
    let legs = 0.5 + 0.5 * vec2f(drift.x, -drift.y);
    let cut = 0.5 * legs * legs;
    return select(cut.yx, cut, turns_after);
}

// Returns the coverage of the pixel after the edge by the pixel before it, and the reverse.
fn areas(at: vec2i, axis: Axis) -> vec2f {
    let start = find_end(at, axis, -1);
    let end = find_end(at, axis, 1);
    let both = BEFORE | AFTER;
    let is_step = start.distance + end.distance == 0.0 && (start.turns ^ end.turns) == both;
    if is_step && start.turns != 0u && end.turns != 0u {
        return diagonal_areas(at, axis, end.turns == AFTER);
    }
    // If one end turns to both sides, the turn at the other end decides the direction of the line.
    let start_turns = select(start.turns, end.turns ^ both, start.turns == both && end.turns != 0u);
    let end_turns = select(end.turns, start.turns ^ both, end.turns == both && start.turns != 0u);
    let length = start.distance + end.distance + 1.0;
    let at_start = start.kept * ramp(start.distance, length);
    let at_end = end.kept * ramp(end.distance, length);
    return select(0.0, at_start, start_turns == AFTER) * vec2f(1.0, 0.0)
        + select(0.0, at_end, end_turns == AFTER) * vec2f(1.0, 0.0)
        + select(0.0, at_start, start_turns == BEFORE) * vec2f(0.0, 1.0)
        + select(0.0, at_end, end_turns == BEFORE) * vec2f(0.0, 1.0);
}

@fragment
fn weights(in: Corner) -> @location(0) vec4f {
    let at = vec2i(in.clip.xy);
    let bits = textureLoad(edge_bits, at, 0).r;
    var found = vec4f(0.0);
    // All pixels with one edge run a single iteration, whichever edge it is, which avoids divergence.
    for (var rest = bits; rest != 0u; rest &= rest - 1u) {
        let is_above = (rest & LEFT) == 0u;
        let x = vec2i(1, 0);
        let y = vec2i(0, 1);
        let axis = Axis(
            select(y, x, is_above),
            select(x, y, is_above),
            select(LEFT, ABOVE, is_above),
            select(ABOVE, LEFT, is_above),
        );
        let shares = areas(at, axis);
        found = select(vec4f(found.xy, shares), vec4f(shares, found.zw), is_above);
    }
    return found;
}

// Returns linear light, premultiplied with alpha like the picture.
fn linear(encoded: vec4f) -> vec4f {
    return vec4f(srgb_decode(encoded.rgb), encoded.a);
}

@fragment
fn blend_neighbours(in: Corner) -> @location(0) vec4f {
    let at = vec2i(in.clip.xy);
    let last = vec2i(textureDimensions(picture)) - 1;
    let here = textureLoad(picture, at, 0);
    let own = textureLoad(weights_texture, at, 0);
    let below = textureLoad(weights_texture, min(at + vec2i(0, 1), last), 0).y * f32(at.y < last.y);
    let right = textureLoad(weights_texture, min(at + vec2i(1, 0), last), 0).w * f32(at.x < last.x);
    // Blends along the axis with more coverage only. Counting it along both axes would count a slanted edge twice.
    let along_y = max(own.x, below) >= max(own.z, right);
    let shares = select(vec2f(own.z, right), vec2f(own.x, below), along_y);
    var blended = here;
    if any(shares != vec2f(0.0)) {
        let axis = select(vec2i(1, 0), vec2i(0, 1), along_y);
        let before = linear(textureLoad(picture, max(at - axis, vec2i(0)), 0));
        let after = linear(textureLoad(picture, min(at + axis, last), 0));
        // Area that both neighbours cover must not count twice. Neither neighbour gets more than it would without the
        // other.
        let taken = shares * shares / (shares.x + shares.y);
        let mixed = (1.0 - taken.x - taken.y) * linear(here) + taken.x * before + taken.y * after;
        blended = vec4f(srgb_encode(mixed.rgb), mixed.a);
    }
    return blended;
}

// Scales with a bicubic filter, because bilinear filtering shows the pixels of the smaller picture as diamonds.
@fragment
fn stretch(in: Corner) -> @location(0) vec4f {
    let size = vec2f(textureDimensions(picture));
    let places = cubic_taps(in.uv * size, size, 0.5);
    var sum = vec4f(0.0);
    var weights = 0.0;
    for (var i = 0u; i < 5u; i++) {
        let place = places[i];
        sum += place.z * textureSampleLevel(picture, linear_sampler, place.xy, 0.0);
        weights += place.z;
    }
    return saturate(sum / weights);
}
