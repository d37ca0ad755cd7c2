//! Sources of the shader composer: WGSL files, and constants that are prepended to them.

/// Shader files by their path under `shaders/`, and the constants that Rust and WGSL share.
#[derive(Debug, Clone, Copy, Default)]
pub struct Library {
    /// Path and source of each file.
    pub files: &'static [(&'static str, &'static str)],
    /// Constants, one list per Rust module that declares some.
    pub constants: &'static [&'static [Constant]],
    /// Path prefixes of shaders whose indices and loops are proven to stay within bounds, given the host's
    /// validation: see [`Gpu::disable_bounds_checks`](super::Gpu::disable_bounds_checks).
    pub proven: &'static [&'static str],
    /// Library whose files and constants are included in this one.
    pub base: Option<&'static Library>,
}

impl Library {
    /// Returns this library and its base libraries.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |library| library.base)
    }

    /// Returns the path and source of all files.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        self.chain().flat_map(|library| library.files).copied()
    }

    /// Returns the files that are compiled by themselves: those with compute or fragment shaders. Files with
    /// only vertex shaders are imported by others.
    pub fn entry_files(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        let has_entry_points = |text: &str| text.contains("\n@compute") || text.contains("\n@fragment");
        // A variant of a shader is a file that imports it after a replacement.
        let is_variant = move |line: &str| {
            let path = line
                .strip_prefix("#import \"")
                .and_then(|rest| rest.strip_suffix('"'));
            path.and_then(|path| self.file(path))
                .is_some_and(has_entry_points)
        };
        self.files()
            .filter(move |(_, text)| has_entry_points(text) || text.lines().any(is_variant))
    }

    /// Returns the source of the file at `path`.
    pub fn file(&self, path: &str) -> Option<&'static str> {
        let mut files = self.files();
        files.find_map(|(known, text)| (known == path).then_some(text))
    }

    /// True if the shader at `path` is proven to stay within bounds.
    pub fn is_proven(&self, path: &str) -> bool {
        let mut proven = self.chain().flat_map(|library| library.proven);
        proven.any(|beginning| path.starts_with(beginning))
    }

    /// Returns all constants.
    pub fn constants(&self) -> impl Iterator<Item = Constant> + '_ {
        let lists = self.chain().flat_map(|library| library.constants);
        lists.copied().flatten().copied()
    }
}

/// Constant declared in Rust and shared with WGSL. It becomes a `const` in the shaders that use its name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// Name of the constant in WGSL.
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
    /// Creates a `u32` constant.
    pub const fn u32(name: &'static str, value: u32) -> Self {
        let value = Value::U32(value);
        Self { name, value }
    }

    /// Creates an abstract float constant, which becomes an `f32` at its use.
    pub const fn f64(name: &'static str, value: f64) -> Self {
        let value = Value::F64(value);
        Self { name, value }
    }

    /// Creates a `vec4f` constant.
    pub const fn vec4(name: &'static str, value: [f64; 4]) -> Self {
        let value = Value::Vec4(value);
        Self { name, value }
    }

    /// Returns the WGSL declaration.
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

        /// Constants shared with the shaders.
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
