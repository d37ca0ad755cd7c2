// shadow_shafts: finds the pairs of a tile of 8 × 8 pixels and a light between which something has changed since the
// last frame.
//
// in   this frame's surfaces; old and new boxes of everything that has moved; lights, and bits of the lights that have
//      changed
// out  tiles_out: one texel per tile. x has a bit for each of the first 31 lights that something has moved in front of.
//      y has these bits and the bits of the changed lights. SHAFT_ALL in y asks for all rays. It is set in every tile
//      if materials or the number of lights have changed, and otherwise in each tile by turns.
// A tile in which a surface has moved has all bits set.
// One workgroup per tile. This is shaft culling (Haines and Wallace 1991, "Shaft Culling for Efficient Ray-Traced
// Radiosity"). A shaft is the box around the tile's surfaces, swept to the light. Equivalently, a line from the box's
// centre to the light is tested against boxes grown by the tile's and the light's size.
#import "frame/frame.wgsl"
#import "light/light.wgsl"
#import "shadow/shadow_edges_word.wgsl"
#import "denoise/signal.wgsl"

struct ShaftParams {
    // Number of boxes.
    count: u32,
    // Bits set in x and y of all tiles: all bits if it is not known what has moved.
    moved: u32,
    // Bits set in y of all tiles: lights that have changed, or all.
    changed: u32,
    // Each tile traces its rays again once in this many frames.
    retrace: u32,
    lows: array<vec4f, SHAFT_BOXES>,
    highs: array<vec4f, SHAFT_BOXES>,
}

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> params: ShaftParams;
#texels 1 2 surfaces: rgba32uint
@group(1) @binding(3) var tiles_out: texture_storage_2d<rg32uint, write>;

// Larger than any coordinate.
const FAR = 3.0e38;
// Relative tolerance for rounding.
const SLACK = 1.0e-5;

// Threads of a workgroup. The first eight each process a row of the tile.
const SHAFT_THREADS = 32u;

// Bounds of the surfaces of each row of the tile, then of the entire tile in the first element.
var<workgroup> lows: array<vec3f, 8>;
var<workgroup> highs: array<vec3f, 8>;
// One bit per light.
var<workgroup> moved: atomic<u32>;

// True if the line from `start` along `along` intersects a box within `end` times `along`.
fn line_meets(start: vec3f, along: vec3f, end: f32, low: vec3f, high: vec3f) -> bool {
    let inverse = 1.0 / select(along, vec3f(1.0e-20), abs(along) < vec3f(1.0e-20));
    let a = (low - start) * inverse;
    let b = (high - start) * inverse;
    let enter = min(a, b);
    let leave = max(a, b);
    return max(max(enter.x, enter.y), max(enter.z, 0.0)) <= min(min(leave.x, leave.y), min(leave.z, end));
}

// True if a line from the box with centre `middle` and half extents `half` to the light may intersect another box.
// Conservative.
fn shaft_meets(middle: vec3f, half: vec3f, light: Light, low: vec3f, high: vec3f) -> bool {
    let rounding = SLACK * (abs(middle) + abs(low) + abs(high) + half);
    if light.kind == LIGHT_DIRECTIONAL {
        let farthest = length(max(abs(low - middle), abs(high - middle)) + half);
        // The tangent of the disc's angle is less than twice its sine, up to 60°.
        let grown = half + rounding + 2.0 * light.radius * farthest;
        return line_meets(middle, -light.direction, FAR, low - grown, high + grown);
    }
    let grown = max(half, vec3f(light.radius)) + rounding;
    return line_meets(middle, light.position - middle, 1.0, low - grown, high + grown);
}

@compute @workgroup_size(SHAFT_THREADS)
fn shadow_shafts(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let first = 8u * workgroup.xy + vec2u(0u, row_offset);
    let tile = first / 8u;
    let boxes = params.count;
    if thread == 0u {
        atomicStore(&moved, 0u);
    }
    workgroupBarrier();
    let rows = select(0u, 8u, boxes > 0u);
    var low = vec3f(FAR);
    var high = vec3f(-FAR);
    if thread < rows {
        var any_moved = false;
        for (var column = 0u; column < 8u; column++) {
            let pixel = first + vec2u(column, thread);
            if any(pixel >= frame.size) {
                break;
            }
            let surface = signal_surface_unpack(textureLoad(surfaces, pixel, 0));
            let is_surface = surface.frames > 0u;
            low = select(low, min(low, surface.position), is_surface);
            high = select(high, max(high, surface.position), is_surface);
            any_moved = any_moved || surface.moved;
        }
        lows[thread] = low;
        highs[thread] = high;
        if any_moved {
            atomicOr(&moved, ~SHAFT_ALL);
        }
    }
    workgroupBarrier();
    if thread == 0u {
        for (var i = 1u; i < rows; i++) {
            low = min(low, lows[i]);
            high = max(high, highs[i]);
        }
        lows[0] = low;
        highs[0] = high;
    }
    workgroupBarrier();
    low = lows[0];
    high = highs[0];
    let tests = select(0u, boxes * min(frame.light_slots, 31u), low.x <= high.x);
    let middle = 0.5 * low + 0.5 * high;
    // Covers the rounding of the centre.
    let half = max(high - middle, middle - low);
    for (var i = thread; i < tests; i += SHAFT_THREADS) {
        let slot = i / boxes;
        let box = i % boxes;
        if shaft_meets(middle, half, first_lights[slot], params.lows[box].xyz, params.highs[box].xyz) {
            atomicOr(&moved, 1u << slot);
        }
    }
    workgroupBarrier();
    if thread == 0u {
        let turn = (tile.x + 3u * tile.y + frame.sample_index) % params.retrace == 0u;
        let found = atomicLoad(&moved) | params.moved;
        let traced = found | params.changed | select(0u, SHAFT_ALL, turn);
        textureStore(tiles_out, tile, vec4u(found, traced, 0u, 0u));
    }
}
