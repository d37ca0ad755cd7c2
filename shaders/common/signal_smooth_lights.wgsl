// A round of the filter over the light of two lamps that is blocked. The importer also binds `tiles`: for each 8 × 8
// pixels whether their means differ from each other, or from what is around them.
#import "common/blocked_light_width.wgsl"
#import "common/signal_smooth.wgsl"

// Whether no tap of any round reaches a pixel that differs: they reach 7 pixels together.
fn signal_is_even(pixel: vec2u) -> bool {
    let most = vec2i(textureDimensions(tiles)) - 1;
    var differs = 0u;
    for (var i = 0u; i < 9u; i++) {
        let tile = vec2i(pixel / 8u) + vec2i(vec2u(i % 3u, i / 3u)) - 1;
        differs |= textureLoad(tiles, clamp(tile, vec2i(0), most), 0).r;
    }
    return differs == 0u;
}

// Share of the width of a penumbra that is the standard deviation of its filter where there is one ray.
const SIGNAL_PENUMBRA_SHARE = 0.25;

// The variance over s² that this round adds to a filter as wide as the penumbra allows, and the narrower the
// more rays there are: near neighbours come first,
// so rounds of far ones add what those of near ones, up to (s² − 1) / 6 together, leave open. `blocked` sums
// up the share that is blocked, and that times the width of the penumbra.
fn signal_penumbra(blocked: vec2f, rays: f32) -> f32 {
    let width = PENUMBRA_MAX * blocked.y / max(blocked.x, 1.0e-6);
    let deviation = SIGNAL_PENUMBRA_SHARE * width;
    let square = f32(params.step * params.step);
    return max(deviation * deviation / rays - (square - 1.0) / 6.0, 0.0) / max(square, 1.0);
}

// As `signal_smoothed`, of two lights: no wider than their penumbras, so that contacts stay sharp.
fn signal_smoothed_lights(pixel: vec2u) -> vec4f {
    if signal_is_even(pixel) {
        return signal_unpack(textureLoad(signal_texture, pixel, 0).xy);
    }
    let n = signal_neighbours(pixel);
    let blocked = n.own + n.ring.edges + n.ring.corners;
    let first = signal_mean(n, min(n.spread, signal_penumbra(blocked.xy, n.rays)));
    let second = signal_mean(n, min(n.spread, signal_penumbra(blocked.zw, n.rays)));
    return vec4f(first.xy, second.zw);
}
