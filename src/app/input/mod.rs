//! Keyboard and pointer input.

pub(in crate::app) mod chord;
pub(in crate::app) mod events;
pub(in crate::app) mod keymap;
pub(in crate::app) mod keys;
pub(in crate::app) mod leaving;
pub(in crate::app) mod pointer;
