//! Jump to a setting in the panel: opens its tab and group, scrolls to its row, and focuses its control.

/// Target of a jump in the panel.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct Jump {
    /// Key of the setting.
    pub(in crate::app) key: String,
    /// True once its tab is shown and its group is open.
    pub(in crate::app) is_placed: bool,
    /// True once its row has been shown.
    pub(in crate::app) is_found: bool,
    /// Panel time in seconds at which the search for the row started. Groups take several frames to open.
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

/// State of the search field for settings.
#[derive(Debug, Default)]
pub(in crate::app) struct Finder {
    /// Text of the field.
    pub(in crate::app) text: String,
    /// True if the field must be focused.
    pub(in crate::app) takes_keyboard: bool,
    /// True if the first control that was found must be focused.
    pub(in crate::app) enters: bool,
}
