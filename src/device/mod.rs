//! Devices as the program opens them: with all of its shaders, and as the settings choose them.

pub(crate) mod baseline;

use crate::{
    Result, accel, config,
    gpu::{Arrays, Gpu, Library, Options, library::wgsl_files, structs::StructLayout},
    lab, render,
};

/// Every shader file: those of the benchmarks, over those of the laboratory, the renderer and the tree. A test holds that
/// none is missing.
pub static SHADERS: Library = Library {
    files: wgsl_files!["bench/baseline.wgsl", "bench/copy.wgsl"],
    constants: &[baseline::CONSTANTS],
    proven: &[],
    base: Some(&lab::SHADERS),
};

/// Every struct that shaders share with Rust.
pub fn structs() -> impl Iterator<Item = &'static StructLayout> {
    let packages = [
        accel::layout::STRUCTS,
        render::layout::STRUCTS,
        lab::data::STRUCTS,
        baseline::STRUCTS,
    ];
    packages.into_iter().flatten()
}

/// Options of the device that the settings choose.
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
        pipeline_cache: config.pipeline_cache.then(cache_folder).flatten(),
        shaders: &SHADERS,
    }
}

/// The device that the settings choose, for drawing without a window.
///
/// # Errors
///
/// [`Error::NotFound`](crate::Error::NotFound) where no adapter matches, and [`Error::Gpu`](crate::Error::Gpu).
pub fn open(config: &config::Gpu) -> Result<Gpu> {
    Ok(as_set(Gpu::new(options(config))?, config))
}

/// `gpu` without checks in proven shaders, where it is a GPU and the settings allow it.
pub(crate) fn as_set(mut gpu: Gpu, config: &config::Gpu) -> Gpu {
    if gpu.capabilities.has_gpu && !config.shader_checks {
        // SAFETY: the program makes trees over scenes that its loader has checked, and over triangles that it
        // generates itself. It writes to no buffer of a tree.
        unsafe { gpu.set_unchecked() };
    }
    gpu
}
