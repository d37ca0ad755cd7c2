//! Native window, its surface, and egui in it.

pub(in crate::app) mod dialogs;
pub(in crate::app) mod graphics;
pub(in crate::app) mod gui;
pub(in crate::app) mod native;
pub(in crate::app) mod screen;
pub(in crate::app) mod status;
pub(in crate::app) mod wake;
