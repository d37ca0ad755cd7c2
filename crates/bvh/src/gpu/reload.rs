//! Recompiles shaders when their files change.

use super::{device::Gpu, shader, shader_folder::advance_edition};
use crate::Result;

impl Gpu {
    /// Re-reads the shaders that this device has compiled, and returns how many of them have changed,
    /// directly or through an import. Their pipelines are recompiled when a frame needs them. All others
    /// stay.
    ///
    /// # Errors
    ///
    /// The first error, with file and line. Then all shaders stay as they were.
    pub fn reload_shaders(&self) -> Result<usize> {
        let mut changed = Vec::new();
        for ((path, choices), known) in self.parsed() {
            let composed = shader::compose(self.shaders(), &path, choices)?;
            if composed.text_hash() != known {
                let module = shader::parsed(self, &path, &composed)?;
                changed.push(((path, choices), module));
            }
        }
        let count = changed.len();
        if count > 0 {
            let paths: Vec<_> = changed.iter().map(|((path, _), _)| path.clone()).collect();
            // This order matters: pipelines that other threads are compiling from the old text are not kept.
            self.replace_modules(changed);
            advance_edition();
            self.pipelines.invalidate(&paths);
        }
        Ok(count)
    }
}
