//! CPU references of the passes of `environment`, from an equirectangular image or the Earth's atmosphere to
//! environment lighting.

pub mod brdf_table;
pub mod cube_map;
pub mod cube_mips;
pub mod equirect;
pub mod prefilter;
pub mod project_sh;
pub mod sky;
