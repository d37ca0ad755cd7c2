//! What shaders are composed from: WGSL files, and constants that stand in front of them.

/// Shader files by their path under `shaders/`, and the constants that both sides need.
#[derive(Debug, Clone, Copy, Default)]
pub struct Library {
    /// Path and text of each file.
    pub files: &'static [(&'static str, &'static str)],
    /// Name and value of each constant; it becomes a `const` of the shaders that name it.
    pub constants: &'static [(&'static str, u32)],
    /// A library whose files and constants belong to this one as well.
    pub base: Option<&'static Library>,
}

impl Library {
    /// This library and those below it.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |library| library.base)
    }

    /// All files: path and text.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        self.chain().flat_map(|library| library.files).copied()
    }

    /// The text of the file at `path`.
    pub fn file(&self, path: &str) -> Option<&'static str> {
        let mut files = self.files();
        files.find_map(|(known, text)| (known == path).then_some(text))
    }

    /// All constants: name and value.
    pub fn constants(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        self.chain().flat_map(|library| library.constants).copied()
    }
}

/// Embeds shader files by their path under `shaders/`.
macro_rules! wgsl_files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $path)))),*]
    };
}
pub(crate) use wgsl_files;
