//! Raster passes that fill the G-buffer.

pub mod draw_lists;
pub(super) mod frustum;
pub mod gbuffer;
pub mod ground;
pub mod motion;
pub mod points_lines;
pub(super) mod segments;
