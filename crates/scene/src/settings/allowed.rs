//! Valid values of settings. The check of `config.toml`, the panel and the command line share one
//! declaration.

use std::{fmt::Display, ops::RangeInclusive};

/// Declaration of the valid values of a setting.
pub trait Allows<T> {
    /// Returns the reason why `value` is not allowed, if it is not.
    fn fault(&self, value: &T) -> Option<String>;

    /// Returns the declaration in words, in the form that `config.toml` documents it.
    fn text(&self) -> String;

    /// Returns the minimum and the maximum, if there are any.
    fn range(&self) -> Option<[f64; 2]> {
        None
    }

    /// Describes a valid value. `what` is its type in words.
    fn expected(&self, what: &str) -> String {
        format!("{what} from {}", self.text())
    }
}

impl<N: PartialOrd + Display + Copy + Into<f64>> Allows<N> for RangeInclusive<N> {
    fn fault(&self, value: &N) -> Option<String> {
        // NaN is outside every range.
        (!self.contains(value)).then(|| format!("{value} is outside {}", Allows::<N>::text(self)))
    }

    fn text(&self) -> String {
        format!("{} to {}", self.start(), self.end())
    }

    fn range(&self) -> Option<[f64; 2]> {
        Some([(*self.start()).into(), (*self.end()).into()])
    }
}

/// Every element must be in the range.
impl<N: PartialOrd + Display + Copy + Into<f64>, const COUNT: usize> Allows<[N; COUNT]>
    for RangeInclusive<N>
{
    fn fault(&self, value: &[N; COUNT]) -> Option<String> {
        value.iter().find_map(|element| self.fault(element))
    }

    fn range(&self) -> Option<[f64; 2]> {
        Allows::<N>::range(self)
    }

    fn text(&self) -> String {
        Allows::<N>::text(self)
    }
}

/// Every element must be in the range.
impl<N: PartialOrd + Display + Copy + Into<f64>> Allows<Vec<N>> for RangeInclusive<N> {
    fn fault(&self, value: &Vec<N>) -> Option<String> {
        value.iter().find_map(|element| self.fault(element))
    }

    fn text(&self) -> String {
        Allows::<N>::text(self)
    }
}

/// An explicit list of values.
impl<N: PartialEq + Display, const COUNT: usize> Allows<N> for [N; COUNT] {
    fn fault(&self, value: &N) -> Option<String> {
        (!self.contains(value)).then(|| format!("{value} is not one of {}", self.text()))
    }

    fn text(&self) -> String {
        let name = |value: &N| match value.to_string().as_str() {
            "0" => AUTOMATIC.to_owned(),
            text => text.to_owned(),
        };
        let names: Vec<String> = self.iter().map(name).collect();
        match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => String::new(),
        }
    }

    fn expected(&self, _what: &str) -> String {
        self.text().replace(" and ", " or ")
    }
}

const AUTOMATIC: &str = "0 (automatic)";

/// A range, or 0 if canopy chooses.
#[derive(Debug, Clone, PartialEq)]
pub struct ZeroOr<N>(pub RangeInclusive<N>);

impl<N: PartialOrd + Display + Default + Copy + Into<f64>> Allows<N> for ZeroOr<N> {
    fn fault(&self, value: &N) -> Option<String> {
        let allowed = *value == N::default() || self.0.contains(value);
        (!allowed).then(|| format!("{value} is neither {AUTOMATIC} nor within {}", self.text()))
    }

    fn text(&self) -> String {
        Allows::<N>::text(&self.0)
    }

    fn range(&self) -> Option<[f64; 2]> {
        Allows::<N>::range(&self.0)
    }

    fn expected(&self, what: &str) -> String {
        format!("{AUTOMATIC}, or {what} from {}", self.text())
    }
}

/// Groups of numbers within a range, with a fixed number per group.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// Range of all numbers.
    pub range: RangeInclusive<f32>,
    /// Numbers per group.
    pub of: usize,
}

impl Allows<Vec<f32>> for Groups {
    fn fault(&self, value: &Vec<f32>) -> Option<String> {
        let (count, of) = (value.len(), self.of);
        let is_whole = count.is_multiple_of(of);
        let parts = || format!("{count} numbers do not form groups of {of}");
        self.range.fault(value).or_else(|| (!is_whole).then(parts))
    }

    fn text(&self) -> String {
        Allows::<f32>::text(&self.range)
    }
}

/// Two numbers within a range. The second is at least `gap` above the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ascending {
    /// Range of each number.
    pub range: RangeInclusive<f32>,
    /// Minimum difference.
    pub gap: f32,
}

impl Allows<[f32; 2]> for Ascending {
    fn fault(&self, value: &[f32; 2]) -> Option<String> {
        let [low, high] = value;
        self.range.fault(value).or_else(|| {
            let rises = *high >= low + self.gap;
            (!rises).then(|| match self.gap {
                0.0 => format!("ends at {high}, below {low}"),
                gap => format!("{high} is not at least {gap} above {low}"),
            })
        })
    }

    fn text(&self) -> String {
        Allows::<f32>::text(&self.range)
    }

    fn range(&self) -> Option<[f64; 2]> {
        Allows::<f32>::range(&self.range)
    }

    fn expected(&self, what: &str) -> String {
        let order = match self.gap {
            0.0 => "the second not below the first".to_owned(),
            gap => format!("the second at least {gap} above the first"),
        };
        format!("{what} from {}, {order}", Allows::<[f32; 2]>::text(self))
    }
}

/// A vector that can be normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Direction;

impl Allows<[f32; 3]> for Direction {
    fn fault(&self, value: &[f32; 3]) -> Option<String> {
        let vector = glam::Vec3::from(*value);
        vector
            .try_normalize()
            .is_none()
            .then(|| format!("{vector} has no direction"))
    }

    fn text(&self) -> String {
        "a direction".into()
    }

    fn expected(&self, what: &str) -> String {
        format!("{what} that are not all 0")
    }
}
