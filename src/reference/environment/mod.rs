//! Twins of the passes that turn an image of the sphere into light from all around, in f64.

pub mod brdf_table;
pub mod cube_map;
pub mod cube_mips;
pub mod equirect;
pub mod prefilter;
