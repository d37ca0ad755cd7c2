//! Result of `canopy compare`.

use super::side::Drawn;
use crate::{
    Error, Result,
    output::{
        numbers::significant,
        picture_error::{Metric, PictureError},
    },
    scene::{picture::Picture, srgb},
};

/// Both sides, and the error between their pictures.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) a: Drawn,
    pub(super) b: Drawn,
    pub(super) metric: Metric,
    pub(super) error: PictureError,
    pub(super) tolerance: Option<f64>,
    /// Additional statistics if B is the reference of A.
    pub(super) truth: Option<ReferenceStats>,
}

/// Additional statistics of a real-time frame and its reference: all error metrics, and the mean luminance of
/// A and B.
#[derive(Debug)]
pub(super) struct ReferenceStats {
    /// Exposure of both, in stops.
    pub(super) exposure_ev: f32,
    /// Mean of FLIP.
    pub(super) flip: f64,
    /// RMSE of sRGB values.
    pub(super) rmse: f64,
    /// RMSE of linear radiance, before exposure.
    pub(super) radiance_rmse: f64,
    /// Mean luminance of A and B, before exposure and tone mapping.
    pub(super) mean_radiance: [f64; 2],
    /// Mean linear luminance of A and B as displayed, from 0 to 1.
    pub(super) mean_displayed: [f64; 2],
}

impl ReferenceStats {
    /// Computes the statistics of two scenes. Returns `None` if the radiance or exposure of a side is
    /// unknown.
    pub(super) fn new(a: &Drawn, b: &Drawn, pixels_per_degree: f32) -> Option<Self> {
        let [radiance_a, radiance_b] = [a.radiance.as_ref()?, b.radiance.as_ref()?];
        let flip = Metric::Flip { pixels_per_degree };
        let error = |metric, a, b| PictureError::new(metric, a, b).mean;
        Some(Self {
            exposure_ev: a.exposure_ev?,
            flip: error(flip, &a.picture, &b.picture),
            rmse: error(Metric::Rmse, &a.picture, &b.picture),
            radiance_rmse: error(Metric::Rmse, radiance_a, radiance_b),
            mean_radiance: [mean_luminance(radiance_a), mean_luminance(radiance_b)],
            mean_displayed: [mean_luminance(&a.picture), mean_luminance(&b.picture)],
        })
    }
}

/// Computes the mean linear luminance of a picture.
fn mean_luminance(picture: &Picture) -> f64 {
    let luminance = |pixel: &[f32; 3]| {
        let [r, g, b] = match picture.is_linear {
            true => *pixel,
            false => pixel.map(srgb::decode),
        }
        .map(f64::from);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let sum: f64 = picture.pixels.iter().map(luminance).sum();
    sum / picture.pixels.len().max(1) as f64
}

impl Comparison {
    /// Fails if the error exceeds the tolerance.
    pub(super) fn check(&self) -> Result<()> {
        let (mean, name) = (self.error.mean, self.name());
        match self.tolerance.filter(|tolerance| mean > *tolerance) {
            None => Ok(()),
            Some(tolerance) => Err(Error::WrongResult(format!(
                "{name} is {}, above the tolerance of {}",
                significant(mean),
                significant(tolerance)
            ))),
        }
    }

    /// Returns the name of the mean error in messages.
    fn name(&self) -> &'static str {
        match self.metric {
            Metric::Flip { .. } => "mean FLIP",
            Metric::Rmse => "RMSE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_luminance_is_computed_in_linear_light() {
        let picture = |is_linear| Picture {
            size: [2, 1],
            pixels: vec![[1.0; 3], [0.5, 0.0, 0.0]],
            is_linear,
        };
        assert!((mean_luminance(&picture(true)) - 0.553_15).abs() < 1e-6);
        // The linear value of sRGB 0.5 is 0.2140.
        assert!((mean_luminance(&picture(false)) - 0.522_75).abs() < 1e-5);
    }
}
