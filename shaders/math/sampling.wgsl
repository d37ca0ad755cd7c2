// Random numbers of all sampling passes. They share one low-discrepancy sequence, in which every pass has its own
// dimensions (SAMPLE_…), so that passes are uncorrelated.
//
// Ray k of a pixel gets point k of the (0, 2)-sequence (Kollig and Keller 2002). It is offset by two values of a
// blue-noise mask, so that the errors of neighbours differ as much as possible (Georgiev and Fajardo 2016). Each
// dimension takes the points in its own order, by a nested uniform shuffle (Burley 2020, section 3), and shifts the
// mask by its own offsets. All arithmetic is in integers until the last step, which gives the same numbers on every
// adapter.

// The mask in row order, two values per word.
@group(0) @binding(9) var<uniform> blue_noise: array<vec4u, BLUE_NOISE_ROWS>;

// Returns a value of the mask, scaled to 32 bits. The mask is shifted by the number with index `place` of the R₂
// sequence (Roberts 2018).
fn sampling_offset(pixel: vec2u, place: u32) -> u32 {
    let begin = (vec2u(place) * vec2u(3242174889u, 2447445414u)) >> vec2u(16u);
    let at = (pixel + begin) % BLUE_NOISE_SIDE;
    let i = at.y * BLUE_NOISE_SIDE + at.x;
    let word = blue_noise[i / 8u][i / 2u % 4u];
    return ((word >> (16u * (i % 2u))) & 0xffffu) << 20u;
}

fn sampling_hash(dimension: u32) -> u32 {
    var h = dimension * 0x9e3779b9u;
    h = (h ^ (h >> 16u)) * 0x85ebca6bu;
    h = (h ^ (h >> 13u)) * 0xc2b2ae35u;
    return h ^ (h >> 16u);
}

// Flips each bit depending on the bits above it and the seed. Aligned blocks of 2ⁿ numbers stay together.
fn sampling_shuffle(k: u32, seed: u32) -> u32 {
    var v = reverseBits(k);
    v += seed;
    v ^= v * 0x6c50b47cu;
    v ^= v * 0xb82f1e52u;
    v ^= v * 0xc7afe638u;
    v ^= v * 0x8d22f6e6u;
    return reverseBits(v);
}

// Returns the second coordinate of the sequence: the bits of k times Pascal's triangle modulo 2.
fn sampling_second(k: u32) -> u32 {
    var v = k;
    v ^= v >> 16u;
    v ^= (v & 0xff00ff00u) >> 8u;
    v ^= (v & 0xf0f0f0f0u) >> 4u;
    v ^= (v & 0xccccccccu) >> 2u;
    v ^= (v & 0xaaaaaaaau) >> 1u;
    return reverseBits(v);
}

// Returns two numbers in [0, 1) for ray k of a pixel.
fn sampling_point(pixel: vec2u, k: u32, dimension: u32) -> vec2f {
    let seed = sampling_hash(dimension);
    let index = sampling_shuffle(k, seed);
    let moved = vec2u(sampling_offset(pixel, 2u * dimension), sampling_offset(pixel, 2u * dimension + 1u));
    let bits = vec2u(reverseBits(index), sampling_second(index)) + moved;
    return vec2f(bits >> vec2u(8u)) / 16777216.0;
}
