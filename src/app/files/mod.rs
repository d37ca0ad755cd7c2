//! Files that are opened, watched and saved.

pub(in crate::app) mod browser;
pub(in crate::app) mod browser_view;
pub(in crate::app) mod command_line;
pub(in crate::app) mod dropped;
pub(in crate::app) mod loading;
pub(in crate::app) mod offers;
pub(in crate::app) mod offers_view;
pub(in crate::app) mod pictures;
pub(in crate::app) mod recent;
pub(in crate::app) mod reopen;
pub(in crate::app) mod save;
pub(in crate::app) mod shaders;
pub(in crate::app) mod task;
pub(in crate::app) mod unsaved;
pub(in crate::app) mod watch;
