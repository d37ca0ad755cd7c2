//! What shaders are composed from: WGSL files, and constants that stand in front of them.

/// Shader files by their path under `shaders/`, and the constants that both sides need.
#[derive(Debug, Clone, Copy, Default)]
pub struct Library {
    /// Path and text of each file.
    pub files: &'static [(&'static str, &'static str)],
    /// The constants of each file that declares some.
    pub constants: &'static [&'static [Constant]],
    /// Beginnings of the paths of shaders whose indices and loops are proven to stay within bounds, given what
    /// the host has validated: see [`Gpu::set_unchecked`](super::Gpu::set_unchecked).
    pub proven: &'static [&'static str],
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

    /// The files that are compiled by themselves: those with compute or fragment shaders. Vertex shaders of other files are
    /// parts.
    pub fn entry_files(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        let has_entry_points = |text: &str| text.contains("\n@compute") || text.contains("\n@fragment");
        self.files().filter(move |(_, text)| has_entry_points(text))
    }

    /// The text of the file at `path`.
    pub fn file(&self, path: &str) -> Option<&'static str> {
        let mut files = self.files();
        files.find_map(|(known, text)| (known == path).then_some(text))
    }

    /// Whether the shader at `path` is proven to stay within bounds.
    pub fn is_proven(&self, path: &str) -> bool {
        let mut proven = self.chain().flat_map(|library| library.proven);
        proven.any(|beginning| path.starts_with(beginning))
    }

    /// All constants.
    pub fn constants(&self) -> impl Iterator<Item = Constant> + '_ {
        let lists = self.chain().flat_map(|library| library.constants);
        lists.copied().flatten().copied()
    }
}

/// A constant that Rust declares and WGSL needs too: it becomes a `const` of the shaders that name it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// Its name in WGSL.
    pub name: &'static str,
    value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    U32(u32),
    F64(f64),
    Vec4([f64; 4]),
}

impl Constant {
    /// A `u32`.
    pub const fn u32(name: &'static str, value: u32) -> Self {
        let value = Value::U32(value);
        Self { name, value }
    }

    /// An abstract float, which becomes an `f32` where it is used.
    pub const fn f64(name: &'static str, value: f64) -> Self {
        let value = Value::F64(value);
        Self { name, value }
    }

    /// A `vec4f`.
    pub const fn vec4(name: &'static str, value: [f64; 4]) -> Self {
        let value = Value::Vec4(value);
        Self { name, value }
    }

    /// The line of WGSL that declares it.
    pub fn wgsl(&self) -> String {
        let name = self.name;
        match self.value {
            Value::U32(value) => format!("const {name} = {value}u;"),
            Value::F64(value) => format!("const {name} = {value:?};"),
            Value::Vec4([x, y, z, w]) => {
                format!("const {name} = vec4f({x:?}, {y:?}, {z:?}, {w:?});")
            }
        }
    }
}

/// Declares `u32` and `f64` constants once for Rust and for WGSL, and lists them as `CONSTANTS`.
#[macro_export]
macro_rules! wgsl_constants {
    ($($(#[$doc:meta])* $vis:vis const $name:ident: $type:ident = $value:expr;)*) => {
        $($(#[$doc])* $vis const $name: $type = $value;)*

        /// Those that the shaders need.
        pub(crate) const CONSTANTS: &[$crate::gpu::Constant] =
            &[$($crate::gpu::Constant::$type(stringify!($name), $name)),*];
    };
}
pub use wgsl_constants;

/// Embeds shader files by their path under `shaders/`.
#[macro_export]
macro_rules! wgsl_files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $path)))),*]
    };
}
pub use wgsl_files;
