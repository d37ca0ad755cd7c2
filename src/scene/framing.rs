//! The first view of a scene: a camera that sees all of it, clip planes that fit, and an exposure.

mod exposure;
mod extent;
mod viewpoint;

pub use exposure::exposure_ev;
pub use extent::{extent, origin};
pub use viewpoint::{Look, Viewpoint};
