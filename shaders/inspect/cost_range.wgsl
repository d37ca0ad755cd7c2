// cost_range: finds the cost that the brightest colour of the `cost` channel stands for.
//
// cost_histogram: one thread per pixel
// in   the channel: nodes and triangles visited by the pixel's shadow rays; alpha 0 on the background
// out  bins: number of pixels with each cost; the last bin counts all larger costs
// cost_range: one thread
// out  range: the smallest cost that at most 1 % of the pixels exceed, but at least 1; then the largest cost, clamped
//      to the cost of the last bin
// Workgroups share data only through atomicAdd.

struct CostRangeParams {
    // Weights of nodes and triangles in the cost.
    weights: vec2f,
}

@group(0) @binding(0) var<uniform> params: CostRangeParams;
@group(0) @binding(1) var channel_texture: texture_2d<f32>;
@group(0) @binding(2) var<storage, read_write> bins: array<atomic<u32>, COST_BINS>;
@group(0) @binding(3) var<storage, read_write> range: vec4f;

@compute @workgroup_size(8, 8)
fn cost_histogram(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= textureDimensions(channel_texture)) {
        return;
    }
    let texel = textureLoad(channel_texture, id.xy, 0);
    if texel.a != 0.0 {
        let count = u32(dot(texel.rg, params.weights));
        atomicAdd(&bins[min(count, COST_BINS - 1u)], 1u);
    }
}

@compute @workgroup_size(1)
fn cost_range() {
    var pixels = 0u;
    var most = 0u;
    for (var bin = 0u; bin < COST_BINS; bin++) {
        let count = atomicLoad(&bins[bin]);
        pixels += count;
        most = select(most, bin, count > 0u);
    }
    var within = 0u;
    var bin = 0u;
    while bin < COST_BINS {
        within += atomicLoad(&bins[bin]);
        if pixels - within <= pixels / 100u {
            break;
        }
        bin++;
    }
    range = vec4f(f32(max(bin, 1u)), f32(most), 0.0, 0.0);
}
