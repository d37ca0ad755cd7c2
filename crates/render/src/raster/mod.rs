//! Raster passes, their draw lists, and frustum culling.

pub mod blend_gbuffer;
pub mod draw_lists;
pub(super) mod drawn;
pub(super) mod frustum;
pub mod gbuffer;
pub mod ground;
pub mod points_lines;
pub(super) mod segments;
