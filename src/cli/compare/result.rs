//! What `canopy compare` measures.

use super::side::Drawn;
use crate::{
    Error, Result,
    output::{
        numbers::significant,
        picture_error::{Metric, PictureError},
    },
};

/// All that was measured.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) a: Drawn,
    pub(super) b: Drawn,
    pub(super) metric: Metric,
    pub(super) error: PictureError,
    pub(super) tolerance: Option<f64>,
}

impl Comparison {
    /// Fails past the tolerance.
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

    /// What the mean is called.
    fn name(&self) -> &'static str {
        match self.metric {
            Metric::Flip { .. } => "mean FLIP",
            Metric::Rmse => "RMSE",
        }
    }
}
