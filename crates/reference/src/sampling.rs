//! CPU reference of math/sampling.wgsl: random numbers of all sampling passes.

/// Returns two numbers in [0, 1) for ray `k` of a pixel in one dimension of the sequence. The numbers are
/// from the (0, 2)-sequence of Kollig and Keller 2002 ("Efficient Multidimensional Sampling"), shuffled for
/// each dimension (Burley 2020, "Practical Hash-based Owen Scrambling", section 3). A blue-noise mask of 64 ×
/// 64 pixels rotates the two numbers. Its offsets are points of the R₂ sequence (Roberts 2018).
pub fn point(mask: &[u16], pixel: [u32; 2], k: u32, dimension: u32) -> [f64; 2] {
    let k = shuffle(k, hash(dimension));
    let (mut second, mut column) = (0_u32, 1_u32 << 31);
    for bit in 0..32 {
        if k >> bit & 1 == 1 {
            second ^= column;
        }
        column ^= column >> 1;
    }
    let offset = |place: u32| {
        let begin = [3_242_174_889_u32, 2_447_445_414].map(|step| place.wrapping_mul(step) >> 16);
        let [x, y] = [0, 1].map(|axis| (pixel[axis] + begin[axis]) % 64);
        u32::from(mask[(64 * y + x) as usize]) << 20
    };
    let moved = |bits: u32, place| bits.wrapping_add(offset(place)) >> 8;
    [
        moved(k.reverse_bits(), 2 * dimension),
        moved(second, 2 * dimension + 1),
    ]
    .map(|bits| f64::from(bits) / f64::from(1 << 24))
}

fn hash(dimension: u32) -> u32 {
    let mut h = dimension.wrapping_mul(0x9e37_79b9);
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

fn shuffle(k: u32, seed: u32) -> u32 {
    let mut v = k.reverse_bits().wrapping_add(seed);
    for factor in [0x6c50_b47c, 0xb82f_1e52, 0xc7af_e638, 0x8d22_f6e6_u32] {
        v ^= v.wrapping_mul(factor);
    }
    v.reverse_bits()
}
