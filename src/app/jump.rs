//! Finding a setting in the panel, and going to it: its tab and its group open, its row comes into sight, and its
//! control gets the keyboard.

/// A setting that the panel is to show.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Jump {
    /// Its key.
    pub(super) key: String,
    /// True once its tab is shown, and its group is open.
    pub(super) is_placed: bool,
    /// True once its row was there.
    pub(super) is_found: bool,
    /// Seconds of the panel's clock since when its row is looked for: groups open over some frames.
    pub(super) since: Option<f64>,
}

impl Jump {
    pub(super) fn to(key: String) -> Self {
        Self {
            key,
            is_placed: false,
            is_found: false,
            since: None,
        }
    }
}

/// The field that finds settings.
#[derive(Debug, Default)]
pub(super) struct Finder {
    /// The text of the field.
    pub(super) text: String,
    /// True where the field is to have the keyboard.
    pub(super) takes_keyboard: bool,
    /// True where the first control that was found is to have it.
    pub(super) enters: bool,
}
