//! Things that are clicked, and the card and rows that tell of them.

pub(in crate::app) mod actions;
pub(in crate::app) mod card;
pub(in crate::app) mod clicks;
pub(in crate::app) mod light;
pub(in crate::app) mod light_marks;
pub(in crate::app) mod material;
pub(in crate::app) mod measure;
pub(in crate::app) mod mesh_gap;
pub(in crate::app) mod rows;
pub(in crate::app) mod selection;
pub(in crate::app) mod task;
pub(in crate::app) mod view;
