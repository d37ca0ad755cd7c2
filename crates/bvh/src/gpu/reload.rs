//! Shaders that are compiled again when their files change.

use super::{device::Gpu, shader, shader_folder::advance_edition};
use crate::Result;

impl Gpu {
    /// Reads the shaders again that this device has compiled, and returns how many of them have changed, be it through an
    /// import. Their pipelines are compiled when a frame needs them; all others stay.
    ///
    /// # Errors
    ///
    /// The first fault, with file and line. Then all shaders stay as they were.
    pub fn reload_shaders(&self) -> Result<usize> {
        let mut changed = Vec::new();
        for ((path, arrays), known) in self.parsed() {
            let composed = shader::compose(self.shaders(), &path, arrays)?;
            if composed.text_hash() != known {
                let module = shader::parsed(self, &path, &composed)?;
                changed.push(((path, arrays), module));
            }
        }
        let count = changed.len();
        if count > 0 {
            let paths: Vec<_> = changed.iter().map(|((path, _), _)| path.clone()).collect();
            // In this order: what other threads are making of the old text is kept by nobody.
            self.replace_modules(changed);
            advance_edition();
            self.pipelines.forget(&paths);
        }
        Ok(count)
    }
}
