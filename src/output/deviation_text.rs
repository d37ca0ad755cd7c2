//! Statistics of deviations as text, for the command line and the panel.

use super::numbers::{percent, significant};
use crate::scene::deviation::{Extreme, Statistics};

/// Formats the statistics as lines, each terminated by a line break.
pub fn lines(statistics: &Statistics) -> String {
    let at = |extreme: &Extreme| {
        let [x, y, z] = extreme.position.to_array().map(significant);
        format!("{:<12} at {x}, {y}, {z}", significant(extreme.distance))
    };
    let mut text = String::new();
    for (name, value) in [
        ("minimum", at(&statistics.min)),
        ("maximum", at(&statistics.max)),
        ("mean", significant(statistics.mean)),
        ("RMS", significant(statistics.rms)),
    ] {
        text += &format!("{name:<18}{value}\n");
    }
    if let Some(out) = statistics.out {
        let [share, below, above] = [out.share(), out.below, out.above].map(percent);
        let tolerance = significant(out.tolerance);
        text +=
            &format!("out of tolerance  {share} of the area: {below} below -{tolerance}, {above} above it\n");
    }
    text
}
