//! Number of samples per picture.

use crate::{
    Result,
    cli::offscreen::Offscreen,
    config::{Antialias, Config},
    render::{FrameSample, Noise, frame::frame_sample::is_estimated_after, present::noise},
};

/// Samples per picture of a sequence. The number is the same for all, because otherwise their noise would
/// differ.
const OF_SEQUENCE: u32 = 8;

/// Number of samples of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Samples {
    /// Maximum number of samples.
    pub(super) most: u32,
    /// True to stop as soon as the noise is low enough.
    pub(super) until_clean: bool,
}

impl Samples {
    /// Reads the number from the settings. Without anti-aliasing there is one sample at the pixel centre, as
    /// in the window.
    pub(super) fn new(config: &Config, is_sequence: bool) -> Self {
        let (most, until_clean) = match config.output.samples {
            0 if config.image.antialias == Antialias::Off => (1, false),
            0 if is_sequence => (OF_SEQUENCE, false),
            0 => (noise::MAX_SAMPLES, true),
            samples => (samples, false),
        };
        Self { most, until_clean }
    }

    /// Returns sample `index` of the picture.
    pub(super) fn at(self, index: u32) -> FrameSample {
        match self.until_clean {
            true => FrameSample::until_converged(index, self.most),
            false => FrameSample::of(index, self.most),
        }
    }

    /// True if the first `drawn` samples are enough. They must be the most recent draws, because the noise is
    /// estimated from the last frame.
    pub(super) fn are_enough(self, offscreen: &mut Offscreen, drawn: u32) -> Result<bool> {
        let is_converged = is_estimated_after(drawn) && offscreen.noise()?.is_some_and(Noise::is_converged);
        Ok(drawn >= self.most || self.until_clean && is_converged)
    }

    /// Formats a sample, such as "sample 2 of 16".
    pub(super) fn text(self, index: u32) -> String {
        let of = if self.until_clean { "of at most" } else { "of" };
        format!("sample {} {of} {}", index + 1, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_pictures_sample_until_clean_and_sequences_a_fixed_number() {
        let mut config = Config::default();
        let of = |config: &Config, is_sequence| {
            let samples = Samples::new(config, is_sequence);
            (samples.most, samples.until_clean)
        };
        assert_eq!(of(&config, false), (64, true));
        assert_eq!(of(&config, true), (8, false));
        config.output.samples = 3;
        assert_eq!(of(&config, false), (3, false));
        assert_eq!(of(&config, true), (3, false));
        (config.output.samples, config.image.antialias) = (0, Antialias::Off);
        assert_eq!(of(&config, false), (1, false));
    }
}
