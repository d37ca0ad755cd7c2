//! First view of a scene: a camera that sees all of it, its clip planes, and the ground below.

mod cells;
mod extent;
mod ground;
mod viewpoint;

pub(super) use cells::{Cells, InsideView};
pub use extent::{distance, extent, or_unit_cube, origin};
pub use ground::Ground;
pub(super) use ground::has_floor;
pub use viewpoint::{Look, Viewpoint};
