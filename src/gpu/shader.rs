//! The shader composer: `#import "common/bvh.wgsl"` lines, each file once, with errors that name file and
//! line.

use super::{capabilities::Arrays, device::Gpu, library::Library};
use crate::{Error, Result, error::one_line};
use std::{collections::HashSet, sync::Arc};

/// A shader with its imports in place.
#[derive(Debug, Clone)]
pub struct Composed {
    /// Plain WGSL.
    pub text: String,
    /// For each line of `text` the file and line (from 1) that it came from.
    origins: Vec<(Arc<str>, usize)>,
}

impl Composed {
    /// File and line (from 1) behind a line (from 1) of the text.
    pub fn origin(&self, line: usize) -> String {
        self.origins.get(line.wrapping_sub(1)).map_or_else(
            || "generated".into(),
            |(file, line)| format!("{file}:{line}"),
        )
    }
}

/// The shader at `path` of `library`, composed for an adapter that reads its arrays so.
pub fn compose(library: &Library, path: &str, arrays: Arrays) -> Result<Composed> {
    let mut composer = Composer::new(library, arrays);
    composer.import(path, "the host")?;
    Ok(composer.finish())
}

/// As [`compose`], `text` of the caller's own, called `name` in errors, that imports files of `library`.
pub fn compose_text(library: &Library, name: &str, text: &str, arrays: Arrays) -> Result<Composed> {
    let mut composer = Composer::new(library, arrays);
    composer.add(text, name)?;
    Ok(composer.finish())
}

/// As [`compose`], with text of the caller's in place of a file.
pub fn compose_with(
    library: &Library,
    path: &str,
    replaced: &Replaced,
    arrays: Arrays,
) -> Result<Composed> {
    let mut composer = Composer::new(library, arrays);
    composer.replaced = Some(replaced);
    composer.import(path, "the host")?;
    Ok(composer.finish())
}

/// Text of the caller's that stands in place of a file of the library.
#[derive(Debug, Clone)]
pub struct Replaced {
    /// The file.
    pub path: &'static str,
    /// What stands there instead.
    pub text: Arc<str>,
    /// Its name in errors.
    pub name: Arc<str>,
}

/// Text, file, line.
type Line = (String, Arc<str>, usize);

struct Composer<'a> {
    library: &'a Library,
    arrays: Arrays,
    /// A file in whose place text of the caller's stands.
    replaced: Option<&'a Replaced>,
    done: Vec<String>,
    /// Files that are being added, each imported by the one before.
    importing: Vec<String>,
    directives: Vec<Line>,
    body: Vec<Line>,
}

impl<'a> Composer<'a> {
    fn new(library: &'a Library, arrays: Arrays) -> Self {
        Self {
            library,
            arrays,
            replaced: None,
            done: Vec::new(),
            importing: Vec::new(),
            directives: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Adds the file at `path`, unless it is there already.
    fn import(&mut self, path: &str, importer: &str) -> Result<()> {
        if self.importing.iter().any(|importing| importing == path) {
            return Err(Error::Shader(format!(
                "{importer}: importing \"{path}\" closes a cycle: {} → {path}",
                self.importing.join(" → ")
            )));
        }
        if self.done.iter().any(|done| done == path) {
            return Ok(());
        }
        self.importing.push(path.into());
        match self.replaced.filter(|replaced| replaced.path == path) {
            Some(replaced) => self.add(&replaced.text, &replaced.name)?,
            None => {
                let text = self.library.file(path).ok_or_else(|| {
                    Error::Shader(format!("{importer}: there is no shader file \"{path}\""))
                })?;
                self.add(text, &format!("shaders/{path}"))?;
            }
        }
        self.importing.pop();
        self.done.push(path.into());
        Ok(())
    }

    /// Adds `text`, whose errors name `file`.
    fn add(&mut self, text: &str, file: &str) -> Result<()> {
        let file: Arc<str> = file.into();
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let trimmed = line.trim();
            if let Some(import) = trimmed.strip_prefix("#import") {
                let path = import
                    .trim()
                    .strip_prefix('"')
                    .and_then(|rest| rest.strip_suffix('"'));
                let path = path.ok_or_else(|| {
                    Error::Shader(format!(
                        "{file}:{number}: an import reads #import \"folder/file.wgsl\""
                    ))
                })?;
                self.import(path, &format!("{file}:{number}"))?;
            } else if let Some(declaration) = trimmed.strip_prefix("#array ") {
                let text = array_text(declaration, self.arrays).ok_or_else(|| {
                    Error::Shader(format!(
                        "{file}:{number}: an array reads #array read|write GROUP BINDING name: u32|vec2u|vec4u"
                    ))
                })?;
                self.body.push((text, file.clone(), number));
            } else if ["enable ", "requires ", "diagnostic("]
                .iter()
                .any(|directive| trimmed.starts_with(directive))
            {
                if !self.directives.iter().any(|(known, ..)| known == trimmed) {
                    self.directives.push((trimmed.into(), file.clone(), number));
                }
            } else {
                self.body.push((line.into(), file.clone(), number));
            }
        }
        Ok(())
    }

    /// Directives first, then the constants that are named, then all else.
    fn finish(self) -> Composed {
        // Whole names: one may stand within another.
        let is_apart = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let words = self.body.iter().flat_map(|(text, ..)| text.split(is_apart));
        let words: HashSet<&str> = words.collect();
        let constants = self
            .library
            .constants()
            .filter(|constant| words.contains(constant.name))
            .map(|constant| (constant.wgsl(), "constants".into(), 1))
            .collect::<Vec<Line>>();
        let lines = || self.directives.iter().chain(&constants).chain(&self.body);
        Composed {
            text: lines().map(|(text, ..)| format!("{text}\n")).collect(),
            origins: lines()
                .map(|(_, file, line)| (file.clone(), *line))
                .collect(),
        }
    }
}

/// The WGSL behind an `#array` line (see [`super::array`]), in one line, so that line numbers stay.
fn array_text(declaration: &str, arrays: Arrays) -> Option<String> {
    let (head, element) = declaration.split_once(':')?;
    let [access, group, binding, name] = head.split_whitespace().collect::<Vec<_>>()[..] else {
        return None;
    };
    let (element, width) = (element.trim(), Arrays::WIDTH);
    let components = match element {
        "u32" => "x",
        "vec2u" => "xy",
        "vec4u" => "xyzw",
        _ => return None,
    };
    let at = format!("@group({group}) @binding({binding}) var");
    let texel = format!("vec2u(i % {width}u, i / {width}u)");
    Some(match (access, arrays) {
        ("read", Arrays::Buffers) => format!(
            "{at}<storage, read> {name}_array: array<{element}>; fn {name}(i: u32) -> {element} {{ return {name}_array[i]; }}"
        ),
        ("read", Arrays::Textures) => format!(
            "{at} {name}_array: texture_2d<u32>; fn {name}(i: u32) -> {element} {{ return textureLoad({name}_array, {texel}, 0).{components}; }}"
        ),
        ("write", _) => format!(
            "{at}<storage, read_write> {name}_array: array<{element}>; fn {name}(i: u32, value: {element}) {{ {name}_array[i] = value; }}"
        ),
        _ => return None,
    })
}

/// The shader at `path` of the device's library, parsed and validated once.
pub fn module(gpu: &Gpu, path: &str) -> Result<wgpu::ShaderModule> {
    gpu.module(path, || {
        let composed = compose(gpu.shaders(), path, gpu.capabilities.arrays)?;
        create_module(gpu, path, &composed, gpu.shaders().is_proven(path))
    })
}

/// As [`module`], with text of the caller's in place of a file, and with all checks.
pub(crate) fn module_with(
    gpu: &Gpu,
    path: &str,
    replaced: &Replaced,
) -> Result<wgpu::ShaderModule> {
    let composed = compose_with(gpu.shaders(), path, replaced, gpu.capabilities.arrays)?;
    create_module(gpu, path, &composed, false)
}

/// Parses and validates a composed shader; one that is `proven` goes without checks where the device does
/// ([`Gpu::set_unchecked`]).
///
/// # Errors
///
/// The first one in the WGSL, with the file and line that it came from.
pub(crate) fn create_module(
    gpu: &Gpu,
    label: &str,
    composed: &Composed,
    proven: bool,
) -> Result<wgpu::ShaderModule> {
    let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: wgpu::ShaderSource::Wgsl(composed.text.as_str().into()),
    };
    let module = if proven && gpu.is_unchecked() {
        let checks = wgpu::ShaderRuntimeChecks {
            bounds_checks: false,
            // Mesa's software adapter (22.3) gives lanes that leave a loop by its only exit the values of
            // those that go on; the bound is a second exit.
            force_loop_bounding: !gpu.capabilities.has_gpu,
            ..wgpu::ShaderRuntimeChecks::checked()
        };
        // SAFETY: whoever left the checks out promised that the geometry is valid (`Gpu::set_unchecked`), and
        // the libraries name shaders only where indices and loops stay within bounds then
        // (`Library::proven`).
        unsafe { gpu.device.create_shader_module_trusted(descriptor, checks) }
    } else {
        gpu.device.create_shader_module(descriptor)
    };
    let Some(error) = pollster::block_on(scope.pop()) else {
        return Ok(module);
    };
    let info = pollster::block_on(module.get_compilation_info());
    let first = info.messages.iter().find_map(|message| {
        let line = message.location?.line_number as usize;
        Some(format!("{}: {}", composed.origin(line), message.message))
    });
    let message = first.unwrap_or_else(|| format!("{label}: {error}"));
    // A lost device shows here as well: recovery goes by this variant.
    Err(Error::Gpu(one_line(&message)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Constant;

    fn from(files: &'static [(&'static str, &'static str)], path: &str) -> Result<Composed> {
        let library = Library {
            files,
            ..Library::default()
        };
        compose(&library, path, Arrays::Buffers)
    }

    #[test]
    fn imports_once_and_keeps_origins() {
        let files = &[
            ("a", "#import \"b\"\n#import \"c\"\nfn a() {}"),
            ("b", "enable f16;\n#import \"c\"\nfn b() {}"),
            ("c", "enable f16;\nfn c() {}"),
        ];
        let composed = from(files, "a").unwrap();
        assert_eq!(
            composed.text,
            "enable f16;\nfn c() {}\nfn b() {}\nfn a() {}\n"
        );
        assert_eq!(composed.origin(2), "shaders/c:2");
        assert_eq!(composed.origin(4), "shaders/a:3");
        assert_eq!(composed.origin(99), "generated");
    }

    #[test]
    fn text_of_the_caller_imports_files_of_a_library_and_of_those_below() {
        static BASE: Library = Library {
            files: &[("b", "const B = A;")],
            // The last stands within "const".
            constants: &[&[
                Constant::u32("A", 7),
                Constant::f64("UNUSED", 8.0),
                Constant::u32("ons", 9),
            ]],
            proven: &[],
            base: None,
        };
        let library = Library {
            files: &[("c", "#import \"b\"\nconst C = B;")],
            base: Some(&BASE),
            ..Library::default()
        };
        let text = "#import \"c\"\n#array write 0 1 out: u32";
        let composed = compose_text(&library, "mine.wgsl", text, Arrays::Buffers).unwrap();
        assert!(
            composed
                .text
                .starts_with("const A = 7u;\nconst B = A;\nconst C = B;\n")
        );
        assert!(composed.text.contains("fn out(i: u32, value: u32)"));
        assert_eq!(composed.origin(1), "constants:1");
        assert_eq!(composed.origin(3), "shaders/c:2");
        assert_eq!(composed.origin(4), "mine.wgsl:2");
        let missing = compose_text(&library, "mine.wgsl", "#import \"d\"", Arrays::Buffers);
        assert_eq!(
            missing.unwrap_err().to_string(),
            "mine.wgsl:1: there is no shader file \"d\""
        );
    }

    #[test]
    fn names_cycles_missing_files_and_bad_imports() {
        let files = &[
            ("a", "#import \"b\""),
            ("b", "\n#import \"a\""),
            ("c", "#import \"nowhere\""),
            ("d", "#import b"),
            ("e", "#array read 0 numbers: u32"),
        ];
        assert_eq!(
            from(files, "a").unwrap_err().to_string(),
            "shaders/b:2: importing \"a\" closes a cycle: a → b → a"
        );
        assert_eq!(
            from(files, "c").unwrap_err().to_string(),
            "shaders/c:1: there is no shader file \"nowhere\""
        );
        assert!(
            from(files, "d")
                .unwrap_err()
                .to_string()
                .starts_with("shaders/d:1: an import reads")
        );
        assert!(
            from(files, "e")
                .unwrap_err()
                .to_string()
                .starts_with("shaders/e:1: an array reads")
        );
    }
}
