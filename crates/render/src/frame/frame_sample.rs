//! Frames that a picture is the mean of.

use glam::Vec2;

/// Frames after which the picture is looked at for the first time.
pub(crate) const FIRST_LOOK: u32 = 8;

/// Frames of a picture that filters count on at least.
const FILTERED_FOR: u32 = 16;

/// Which of the frames of a supersampled picture this is. The frames look at different points of their
/// pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameSample {
    /// Number of the frame, from 0 on and in order.
    pub index: u32,
    /// Frames of the picture, the last of which shows the mean.
    pub count: u32,
}

impl FrameSample {
    /// A picture of one frame.
    pub const SINGLE: Self = Self::of(0, 1);

    /// Frame `index` of `count`, the last of which shows the mean.
    pub const fn of(index: u32, count: u32) -> Self {
        Self { index, count }
    }

    /// Frame `index` of at most `limit`, of a picture that is done once its noise is low. It shows the mean so far
    /// wherever the noise is estimated.
    pub const fn until_clean(index: u32, limit: u32) -> Self {
        let frames = index + 1;
        match is_estimated_after(frames) {
            true => Self::of(index, frames),
            false => Self::of(index, limit),
        }
    }

    /// True where the picture has frames enough for its noise to be estimated.
    pub fn is_estimated(self) -> bool {
        self.count > FIRST_LOOK
    }

    /// How many frames a filter within this one counts on. Later ones are filtered less, so that the mean of many
    /// converges to the unfiltered picture; it is the same function of the index whenever the picture is done.
    pub fn filtered_for(self) -> u32 {
        (self.index + 1).max(FILTERED_FOR)
    }

    /// The point that frame number `index` looks at, in pixels from their centres, x to the right and y down:
    /// from −½ to ½; the first frame looks at the centres.
    ///
    /// Points of the R₂ sequence (Roberts 2018, "The Unreasonable Effectiveness of Quasirandom Sequences")
    /// are spread evenly whatever their number, so the mean of the frames converges to the mean over the
    /// pixel's square.
    pub fn point(index: u32) -> Vec2 {
        // 1/φ and 1/φ² of the plastic number φ, the root of φ³ = φ + 1.
        let step = [0.754_877_666_246_692_7_f64, 0.569_840_290_998_053_2];
        let along = |step: f64| ((0.5 + f64::from(index) * step).fract() - 0.5) as f32;
        Vec2::from(step.map(along))
    }

    /// Whether the frame shows the picture.
    pub fn is_last(self) -> bool {
        self.index + 1 >= self.count
    }
}

/// Whether the noise of a picture is estimated after so many frames: after 12, 16, 24, 32, 48 and so on.
pub const fn is_estimated_after(frames: u32) -> bool {
    frames > FIRST_LOOK && is_looked_at(frames)
}

/// Whether the picture is compared with what it is later: after 8, 12, 16, 24, 32, 48 and so on.
pub(crate) const fn is_looked_at(frames: u32) -> bool {
    let odd = frames >> frames.trailing_zeros();
    frames >= FIRST_LOOK && odd <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_looked_at_after_half_as_many_frames_again() {
        let estimated: Vec<_> = (1..=200).filter(|n| is_estimated_after(*n)).collect();
        assert_eq!(estimated, [12, 16, 24, 32, 48, 64, 96, 128, 192]);
        assert!(is_looked_at(FIRST_LOOK) && !is_looked_at(6));
    }
}
