//! Opens GPU devices with the program's shaders, as the settings choose.

pub(crate) mod baseline;

use crate::{
    Result, accel, config,
    gpu::{Arrays, Gpu, Library, Options, RayBoxes, RayStack, library::wgsl_files, structs::StructLayout},
    lab, render,
};

/// Library of every shader file: the files of the benchmarks, on top of the libraries of canopy-lab,
/// canopy-render and canopy-bvh. A test checks that none is missing.
pub static SHADERS: Library = Library {
    files: wgsl_files!["bench/baseline.wgsl", "bench/copy.wgsl"],
    constants: &[baseline::CONSTANTS],
    proven: &[],
    base: Some(&lab::SHADERS),
};

/// Returns the layout of every struct that shaders share with Rust.
pub fn structs() -> impl Iterator<Item = &'static StructLayout> {
    let packages = [
        accel::layout::STRUCTS,
        render::layout::STRUCTS,
        lab::data::STRUCTS,
        baseline::STRUCTS,
    ];
    packages.into_iter().flatten()
}

impl From<config::RayBoxes> for RayBoxes {
    fn from(boxes: config::RayBoxes) -> Self {
        match boxes {
            config::RayBoxes::Halves => Self::Halves,
            config::RayBoxes::Bytes => Self::Bytes,
        }
    }
}

impl From<config::RayStack> for RayStack {
    fn from(stack: config::RayStack) -> Self {
        match stack {
            config::RayStack::Workgroup => Self::Workgroup,
            config::RayStack::Private => Self::Private,
        }
    }
}

/// Returns the device options that the settings choose.
pub fn options(config: &config::Gpu) -> Options {
    let cache_folder = || {
        let folders = directories::ProjectDirs::from("", "", "canopy")?;
        Some(folders.cache_dir().to_owned())
    };
    Options {
        adapter: config.adapter.clone(),
        backend: config.backend.clone(),
        arrays: match config.arrays {
            config::ArrayMode::Auto => None,
            config::ArrayMode::Buffers => Some(Arrays::Buffers),
            config::ArrayMode::Textures => Some(Arrays::Textures),
        },
        ray_boxes: config.ray_boxes.into(),
        ray_stack: config.ray_stack.into(),
        pipeline_cache: config.pipeline_cache.then(cache_folder).flatten(),
        shaders: &SHADERS,
    }
}

/// Opens the device that the settings choose, for rendering without a window.
///
/// # Errors
///
/// [`Error::NotFound`](crate::Error::NotFound) if no adapter matches, and [`Error::Gpu`](crate::Error::Gpu).
pub fn open(config: &config::Gpu) -> Result<Gpu> {
    Ok(as_set(Gpu::new(options(config))?, config))
}

/// Disables runtime checks in proven shaders if `gpu` is a GPU and the settings allow it.
pub(crate) fn as_set(mut gpu: Gpu, config: &config::Gpu) -> Gpu {
    if gpu.capabilities.has_gpu && !config.shader_checks {
        // SAFETY: the program only builds trees over scenes that its loader has checked and over triangles
        // that it generates itself. It writes to no buffer of a tree.
        unsafe { gpu.disable_bounds_checks() };
    }
    gpu
}
