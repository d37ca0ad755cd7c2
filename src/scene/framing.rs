//! The first view of a scene: a camera that sees all of it, clip planes that fit, an exposure, and the ground
//! below.

mod cells;
mod exposure;
mod extent;
mod ground;
mod viewpoint;

pub(super) use cells::{Cells, Inside};
pub use exposure::exposure_ev;
pub use extent::{extent, origin};
pub use ground::Ground;
pub(super) use ground::has_floor;
pub use viewpoint::{Look, Viewpoint};
