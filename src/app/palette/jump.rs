//! Finding a setting in the panel, and going to it: its tab and its group open, its row comes into sight, and its
//! control gets the keyboard.

/// A setting that the panel is to show.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct Jump {
    /// Its key.
    pub(in crate::app) key: String,
    /// True once its tab is shown, and its group is open.
    pub(in crate::app) is_placed: bool,
    /// True once its row was there.
    pub(in crate::app) is_found: bool,
    /// Seconds of the panel's clock since when its row is looked for: groups open over some frames.
    pub(in crate::app) since: Option<f64>,
}

impl Jump {
    pub(in crate::app) fn to(key: String) -> Self {
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
pub(in crate::app) struct Finder {
    /// The text of the field.
    pub(in crate::app) text: String,
    /// True where the field is to have the keyboard.
    pub(in crate::app) takes_keyboard: bool,
    /// True where the first control that was found is to have it.
    pub(in crate::app) enters: bool,
}
