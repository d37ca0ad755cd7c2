// What the history and the filter keep of a light, in a word: the mean share that is blocked, that times the width of
// the penumbra, and the frames whose rays the mean has.
//
// 14 bits of the share: an average of a thousand frames still moves it. 12 bits of the square root of the width, so
// that narrow penumbras are told apart.

struct BlockedLightMean {
    // From 0 to 1.
    share: f32,
    // That times the width in pixels.
    width: f32,
    // BLOCKED_FRAMES_ALL stands for as many as the surface has been visible.
    frames: f32,
}

const BLOCKED_FRAMES_ALL = 63.0;
// The bits of the share.
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
