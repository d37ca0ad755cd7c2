// A round of the spatial filter: an edge-avoiding à-trous filter (Dammertz et al. 2010) with 3 × 3 taps. The weight of
// a tap falls to 0 where the point of one surface is a pixel's width away from the plane of the other.
//
// The more rays a pixel has, the narrower its filter. Along each axis, a round of step s adds a variance of s² / 2
// square pixels for up to 64 / s² rays, and of 32 / n square pixels for more rays, n. The importer binds `surfaces` and
// `params`, and defines `signal_at(pixel: vec2u) -> vec4f`.
#import "denoise/signal.wgsl"

// Sums over the edge taps and the corner taps of the 3 × 3.
struct SignalRing {
    edges: vec4f,
    corners: vec4f,
    edge_weight: f32,
    corner_weight: f32,
}

struct SignalNeighbours {
    own: vec4f,
    ring: SignalRing,
    // Number of frames in the pixel's mean.
    frames: f32,
}

fn signal_neighbours(pixel: vec2u) -> SignalNeighbours {
    let surface = signal_surface_unpack(textureLoad(surfaces, pixel, 0));
    let own = signal_at(pixel);
    let near = 1.0 / signal_tolerance(surface.position);
    let most = params.max_history + 1u;
    let frames = min(max(surface.frames, 1u), most);
    var ring = SignalRing(vec4f(0.0), vec4f(0.0), 0.0, 0.0);
    for (var i = 0u; i < 9u; i++) {
        let step = vec2i(vec2u(i % 3u, i / 3u)) - 1;
        let tap = vec2i(pixel) + step * i32(params.step);
        let there = all(tap >= vec2i(0)) && all(tap < vec2i(frame.size)) && any(step != vec2i(0));
        let tap_texel = vec2u(select(vec2i(pixel), tap, there));
        let other = signal_surface_unpack(textureLoad(surfaces, tap_texel, 0));
        let off = other.position - surface.position;
        let away = max(abs(dot(off, surface.normal)), abs(dot(off, other.normal)));
        let alike = max(dot(other.normal, surface.normal), 0.0);
        let alike2 = alike * alike;
        let alike4 = alike2 * alike2;
        // A pixel with a shorter history is noisier.
        let trust = min(f32(min(other.frames, most)) / f32(frames), 1.0);
        let counts = there && other.frames > 0u && surface.frames > 0u;
        let weight = select(0.0, trust * alike4 * alike4 * max(1.0 - away * near, 0.0), counts);
        let found = weight * signal_at(tap_texel);
        let is_corner = step.x != 0 && step.y != 0;
        ring.edges += select(found, vec4f(0.0), is_corner);
        ring.corners += select(vec4f(0.0), found, is_corner);
        ring.edge_weight += select(weight, 0.0, is_corner);
        ring.corner_weight += select(0.0, weight, is_corner);
    }
    return SignalNeighbours(own, ring, f32(frames));
}

// Returns the maximum variance that the round may add, over s², for a pixel with this many rays.
fn signal_spread(rays: f32) -> f32 {
    let step = params.step;
    return select(min(0.5, 32.0 / (rays * f32(step * step))), 0.0, step == 0u);
}

// Returns the filtered mean for an added variance of `spread` × s² square pixels along each axis.
fn signal_mean(n: SignalNeighbours, spread: f32) -> vec4f {
    // Weight of an outer tap relative to the central one.
    let outer = 0.5 * spread / (1.0 - spread);
    let sum = n.own + outer * (n.ring.edges + outer * n.ring.corners);
    return sum / (1.0 + outer * (n.ring.edge_weight + outer * n.ring.corner_weight));
}

fn signal_smoothed(pixel: vec2u) -> vec4f {
    let n = signal_neighbours(pixel);
    return signal_mean(n, signal_spread(n.frames * f32(params.rays)));
}
