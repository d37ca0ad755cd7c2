// State of the shadow history and filter for one light, packed in a word: the mean blocked fraction, that fraction
// times the penumbra width, and the number of frames in the mean.
//
// The blocked fraction has 14 bits, so that an average over a thousand frames still changes. The width is stored as its
// square root in 12 bits, which keeps narrow penumbras distinct.

struct BlockedLightMean {
    // From 0 to 1.
    share: f32,
    // The blocked fraction times the penumbra width in pixels.
    width: f32,
    // BLOCKED_FRAMES_ALL means all frames in which the surface has been visible.
    frames: f32,
}

const BLOCKED_FRAMES_ALL = 63.0;
// Bits of the blocked fraction.
const BLOCKED_SHARE_MASK = 0x3fffu;

fn blocked_light_mean_pack(mean: BlockedLightMean) -> u32 {
    let share = u32(round(saturate(mean.share) * 16383.0));
    let width = u32(round(sqrt(saturate(mean.width / PENUMBRA_MAX)) * 4095.0));
    let frames = u32(round(clamp(mean.frames, 1.0, BLOCKED_FRAMES_ALL)));
    return share | (width << 14u) | (frames << 26u);
}

fn blocked_light_mean_unpack(word: u32) -> BlockedLightMean {
    let root = f32((word >> 14u) & 0xfffu) / 4095.0;
    return BlockedLightMean(f32(word & 0x3fffu) / 16383.0, PENUMBRA_MAX * root * root, f32(word >> 26u));
}
