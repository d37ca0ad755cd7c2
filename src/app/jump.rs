//! Going to a setting in the panel: its section opens, its row comes into sight, and its control gets the
//! keyboard.

/// A setting that the panel is to show.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Jump {
    /// Its key.
    pub(super) key: String,
    /// Whether its section is known, and open.
    pub(super) is_placed: bool,
    /// Seconds of the panel's clock since when its row is there: sections open over some frames.
    pub(super) since: Option<f64>,
}

impl Jump {
    pub(super) fn to(key: String) -> Self {
        Self {
            key,
            is_placed: false,
            since: None,
        }
    }
}
