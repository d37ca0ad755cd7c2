//! Export of pictures and videos.

pub(in crate::app) mod model;
pub(in crate::app) mod pictures;
pub(in crate::app) mod process;
pub(in crate::app) mod task;
pub(in crate::app) mod view;
