//! Frames of a supersampled picture, which is their mean.

use glam::Vec2;

/// Number of frames after which a picture is first stored, for comparison with a later state.
pub(crate) const FIRST_CHECKPOINT: u32 = 8;

/// Minimum number of frames that filters assume a picture has.
const FILTERED_FOR: u32 = 16;

/// Index of a frame within a supersampled picture. Each frame samples other positions within the pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameSample {
    /// Index of the frame, consecutive from 0.
    pub index: u32,
    /// Number of frames of the picture. The last one shows the mean.
    pub count: u32,
}

impl FrameSample {
    /// A picture of one frame.
    pub const SINGLE: Self = Self::of(0, 1);

    /// Returns frame `index` of `count`, the last of which shows the mean.
    pub const fn of(index: u32, count: u32) -> Self {
        Self { index, count }
    }

    /// Returns frame `index` of a picture that has at most `limit` frames and is finished once its noise is
    /// low. Frames after which the noise is estimated show the mean so far.
    pub const fn until_converged(index: u32, limit: u32) -> Self {
        let frames = index + 1;
        match is_estimated_after(frames) {
            true => Self::of(index, frames),
            false => Self::of(index, limit),
        }
    }

    /// True if the picture has enough frames for its noise to be estimated.
    pub fn is_estimated(self) -> bool {
        self.count > FIRST_CHECKPOINT
    }

    /// Returns the number of frames that a filter within this frame assumes. Later frames are filtered less,
    /// so that the mean of many converges to the unfiltered picture. It depends on the index only, not on
    /// when the picture is finished.
    pub fn filtered_for(self) -> u32 {
        (self.index + 1).max(FILTERED_FOR)
    }

    /// Returns the sample position of frame `index` relative to the pixel centre, in pixels from −½ to ½, x
    /// to the right and y down. The first frame samples the centres.
    ///
    /// The points of the R₂ sequence (Roberts 2018, "The Unreasonable Effectiveness of Quasirandom
    /// Sequences") are evenly spread whatever their number. The mean of the frames therefore converges to the
    /// mean over the pixel's square.
    pub fn point(index: u32) -> Vec2 {
        // 1/φ and 1/φ² for the plastic number φ, the root of φ³ = φ + 1.
        let step = [0.754_877_666_246_692_7_f64, 0.569_840_290_998_053_2];
        let along = |step: f64| ((0.5 + f64::from(index) * step).fract() - 0.5) as f32;
        Vec2::from(step.map(along))
    }

    /// True if the frame is the last of the picture and shows the mean.
    pub fn is_last(self) -> bool {
        self.index + 1 >= self.count
    }
}

/// True if the noise of a picture is estimated after this many frames: after 12, 16, 24, 32, 48 and so on.
pub const fn is_estimated_after(frames: u32) -> bool {
    frames > FIRST_CHECKPOINT && is_checkpoint(frames)
}

/// True if the picture is stored after this many frames, for comparison with a later state: after 8, 12, 16,
/// 24, 32, 48 and so on.
pub(crate) const fn is_checkpoint(frames: u32) -> bool {
    let odd = frames >> frames.trailing_zeros();
    frames >= FIRST_CHECKPOINT && odd <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_estimated_at_growing_intervals_of_frames() {
        let estimated: Vec<_> = (1..=200).filter(|n| is_estimated_after(*n)).collect();
        assert_eq!(estimated, [12, 16, 24, 32, 48, 64, 96, 128, 192]);
        assert!(is_checkpoint(FIRST_CHECKPOINT) && !is_checkpoint(6));
    }
}
