//! Where Mesa keeps compiled kernels.

use std::path::PathBuf;

/// Folder of compiled kernels that all processes of the tests share: by default Mesa keeps them below `HOME`, which
/// tests set to a folder of their own.
pub(crate) fn shader_cache() -> PathBuf {
    let chosen = std::env::var_os("MESA_SHADER_CACHE_DIR").map(PathBuf::from);
    chosen.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("shaders"))
}
