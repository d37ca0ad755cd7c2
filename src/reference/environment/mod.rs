//! Twins of the passes of `environment`: from an image of the sphere, or the air of the Earth, to light from all around.

pub mod brdf_table;
pub mod cube_map;
pub mod cube_mips;
pub mod equirect;
pub mod prefilter;
pub mod project_sh;
pub mod sky;
