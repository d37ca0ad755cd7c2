//! The shader composer. It resolves `#import "bvh/bvh.wgsl"` lines, includes each file once, and reports
//! errors with file and line.

use super::{
    capabilities::{Arrays, RayBoxes, RayStack, ShaderChoices},
    device::{Gpu, Parsed},
    library::Library,
    private_uniforms, shader_folder,
};
use crate::{Error, Result, error::one_line};
use std::{
    borrow::Cow,
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    io::ErrorKind,
    path::{Component, Path},
    sync::Arc,
};
use wgpu::naga;

/// Shader with resolved imports.
#[derive(Debug, Clone)]
pub struct Composed {
    /// Plain WGSL.
    pub text: String,
    /// Paths of the included files, each after the files that it imports.
    pub files: Vec<String>,
    /// Source file and line (from 1) of each line of `text`.
    origins: Vec<(Arc<str>, usize)>,
}

impl Composed {
    pub(super) fn text_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.text.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the source file and line (from 1) of a line (from 1) of the text.
    pub fn origin(&self, line: usize) -> String {
        self.origins.get(line.wrapping_sub(1)).map_or_else(
            || "generated WGSL".into(),
            |(file, line)| format!("{file}:{line}"),
        )
    }
}

/// Composes the shader at `path` of `library`, for an adapter with these choices. Files in the folder of
/// [`shader_folder::read_shaders_from`] replace files of the library.
pub fn compose(library: &Library, path: &str, choices: impl Into<ShaderChoices>) -> Result<Composed> {
    let mut composer = Composer::new(library, choices.into());
    composer.folder = shader_folder::shader_folder();
    composer.import(path, "the host")?;
    Ok(composer.finish())
}

/// Composes your own source `text`, which may import files of `library`. Errors refer to it as `name`.
pub fn compose_text(
    library: &Library,
    name: &str,
    text: &str,
    choices: impl Into<ShaderChoices>,
) -> Result<Composed> {
    let mut composer = Composer::new(library, choices.into());
    composer.add(text, name)?;
    Ok(composer.finish())
}

/// Composes like [`compose`], with your own source instead of a file.
pub fn compose_with(
    library: &Library,
    path: &str,
    replaced: &Replaced,
    choices: impl Into<ShaderChoices>,
) -> Result<Composed> {
    let mut composer = Composer::new(library, choices.into());
    composer.folder = shader_folder::shader_folder();
    composer.replaced = Some(replaced);
    composer.import(path, "the host")?;
    Ok(composer.finish())
}

/// User-defined source that replaces a file of the library.
#[derive(Debug, Clone)]
pub struct Replaced {
    /// Path of the replaced file.
    pub path: &'static str,
    /// Source that replaces it.
    pub text: Arc<str>,
    /// Name of the source in errors.
    pub name: Arc<str>,
}

/// Returns the constants that tell shaders of the choices.
fn choice_constants(choices: ShaderChoices) -> [(&'static str, String); 3] {
    let are_textures = choices.arrays == Arrays::Textures;
    let are_bytes = choices.ray_boxes == RayBoxes::Bytes;
    let rows = choices.ray_boxes.rows();
    [
        ("ARRAYS_ARE_TEXTURES", are_textures.to_string()),
        ("RAY_BOXES_ARE_BYTES", are_bytes.to_string()),
        // Rows of four words in a node for rays.
        ("RAY_NODE_ROWS", format!("{rows}u")),
    ]
}

/// The file of private stacks.
const PRIVATE_STACK: &str = "bvh/software/ray_stack.wgsl";

/// Line of WGSL: its text, source file and line number.
type Line = (String, Arc<str>, usize);

struct Composer<'a> {
    library: &'a Library,
    choices: ShaderChoices,
    /// Folder whose files replace files of the library.
    folder: Option<&'a Path>,
    /// User-defined source that replaces a file.
    replaced: Option<&'a Replaced>,
    done: Vec<String>,
    /// Files being included, each imported by the previous one.
    importing: Vec<String>,
    directives: Vec<Line>,
    body: Vec<Line>,
    /// Textures that are storage textures on this adapter, which have no mip levels.
    without_levels: Vec<String>,
}

impl<'a> Composer<'a> {
    fn new(library: &'a Library, choices: ShaderChoices) -> Self {
        Self {
            library,
            choices,
            folder: None,
            replaced: None,
            done: Vec::new(),
            importing: Vec::new(),
            directives: Vec::new(),
            body: Vec::new(),
            without_levels: Vec::new(),
        }
    }

    /// Includes the file at `path`, unless it is included already. On software adapters, which read arrays
    /// from textures, the file of the same name in the folder `software` replaces it. On other adapters, that
    /// file replaces it only if it is included already, or is the chosen stack.
    fn import(&mut self, path: &str, importer: &str) -> Result<()> {
        let in_software = match path.rsplit_once('/') {
            Some((folder, name)) => format!("{folder}/software/{name}"),
            None => String::new(),
        };
        let is_chosen = in_software == PRIVATE_STACK && self.choices.ray_stack == RayStack::Private;
        let is_replaced =
            self.choices.arrays == Arrays::Textures || is_chosen || self.done.contains(&in_software);
        let replacement = self.library.file(&in_software).filter(|_| is_replaced);
        let path = replacement.map_or(path, |_| &in_software);
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
                if let Some((name, text)) = self.of_folder(path)? {
                    self.add(&text, &name)?;
                } else {
                    let text = self.library.file(path).ok_or_else(|| {
                        Error::Shader(format!("{importer}: there is no shader file \"{path}\""))
                    })?;
                    self.add(text, &format!("shaders/{path}"))?;
                }
            }
        }
        self.importing.pop();
        self.done.push(path.into());
        Ok(())
    }

    /// Returns the name and source of the file at `path` in the folder, if there is one.
    fn of_folder(&self, path: &str) -> Result<Option<(String, String)>> {
        let is_below = Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let Some(folder) = self.folder.filter(|_| is_below) else {
            return Ok(None);
        };
        let file = folder.join(path);
        match std::fs::read_to_string(&file) {
            Ok(text) => Ok(Some((file.display().to_string(), text))),
            Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => Ok(None),
            Err(error) => Err(Error::Io {
                path: file,
                source: error,
            }),
        }
    }

    /// Adds the source `text`. Errors refer to it as `file`.
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
                        "{file}:{number}: write imports as #import \"folder/file.wgsl\""
                    ))
                })?;
                self.import(path, &format!("{file}:{number}"))?;
            } else if let Some(declaration) = trimmed.strip_prefix("#array ") {
                let text = array_text(declaration, self.choices.arrays).ok_or_else(|| {
                    Error::Shader(format!(
                        "{file}:{number}: write arrays as #array read|write GROUP BINDING name: \
                         u32|vec2u|vec4u"
                    ))
                })?;
                self.body.push((text, file.clone(), number));
            } else if let Some(declaration) = trimmed.strip_prefix("#texels ") {
                let texels = Texels::parse(declaration).ok_or_else(|| {
                    Error::Shader(format!(
                        "{file}:{number}: write texels as #texels GROUP BINDING name: FORMAT, or FORMAT array"
                    ))
                })?;
                self.body
                    .push((texels.text(self.choices.arrays), file.clone(), number));
                if self.choices.arrays == Arrays::Textures {
                    self.without_levels.push(texels.name.into());
                }
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

    /// Joins the text: directives first, then the constants in use, then everything else.
    fn finish(mut self) -> Composed {
        if !self.without_levels.is_empty() {
            for (text, ..) in &mut self.body {
                *text = without_levels(text, &self.without_levels);
            }
        }
        // Compare complete names, because a name may be part of another name.
        let is_apart = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let words = self.body.iter().flat_map(|(text, ..)| text.split(is_apart));
        let words: HashSet<&str> = words.collect();
        let mut constants = self
            .library
            .constants()
            .filter(|constant| words.contains(constant.name))
            .map(|constant| (constant.wgsl(), "generated constants".into(), 1))
            .collect::<Vec<Line>>();
        for (name, value) in choice_constants(self.choices) {
            if words.contains(name) {
                let text = format!("const {name} = {value};");
                constants.push((text, "generated constants".into(), 1));
            }
        }
        let lines = || self.directives.iter().chain(&constants).chain(&self.body);
        Composed {
            files: self.done,
            text: lines().map(|(text, ..)| format!("{text}\n")).collect(),
            origins: lines().map(|(_, file, line)| (file.clone(), *line)).collect(),
        }
    }
}

/// Declaration such as `#texels 1 8 surfaces: rgba32uint` (group 1, binding 8). It is a texture of 32-bit
/// numbers whose texels are only loaded from level 0. On software adapters it is a storage texture, whose
/// loads take a third of the instructions, because they look up a sampled texture's level lane by lane.
/// [`Binding::Texels`] binds it.
///
/// [`Binding::Texels`]: super::pass::Binding::Texels
struct Texels<'a> {
    group: &'a str,
    binding: &'a str,
    name: &'a str,
    format: &'a str,
    /// `_array` if the texture has layers.
    array: &'static str,
}

impl<'a> Texels<'a> {
    fn parse(declaration: &'a str) -> Option<Self> {
        let (head, format) = declaration.split_once(':')?;
        let [group, binding, name] = head.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        let (format, array) = match format.split_whitespace().collect::<Vec<_>>()[..] {
            [format] => (format, ""),
            [format, "array"] => (format, "_array"),
            _ => return None,
        };
        Some(Self {
            group,
            binding,
            name,
            format,
            array,
        })
    }

    fn text(&self, arrays: Arrays) -> String {
        let Self {
            group,
            binding,
            name,
            format,
            array,
        } = self;
        let kind = match (arrays, format.ends_with("uint")) {
            (Arrays::Buffers, true) => format!("texture_2d{array}<u32>"),
            (Arrays::Buffers, false) => format!("texture_2d{array}<f32>"),
            (Arrays::Textures, _) => format!("texture_storage_2d{array}<{format}, read>"),
        };
        format!("@group({group}) @binding({binding}) var {name}: {kind};")
    }
}

/// Replaces `textureLoad(name, at, 0)` in `line` by `textureLoad(name, at)`, for each of `names`.
fn without_levels(line: &str, names: &[String]) -> String {
    const CALL: &str = "textureLoad(";
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(CALL) {
        let (before, arguments) = rest.split_at(at + CALL.len());
        text.push_str(before);
        rest = arguments;
        let is_named = |name: &String| {
            let after = arguments.strip_prefix(name.as_str());
            after.is_some_and(|after| after.starts_with(','))
        };
        let Some(end) = end_of_call(arguments).filter(|_| names.iter().any(is_named)) else {
            continue;
        };
        if let Some(loaded) = arguments[..end].strip_suffix(", 0") {
            text.push_str(&without_levels(loaded, names));
            rest = &arguments[end..];
        }
    }
    text + rest
}

/// Returns the position of the parenthesis that closes a call, whose arguments start at the beginning of
/// `arguments`.
fn end_of_call(arguments: &str) -> Option<usize> {
    let mut open = 1;
    arguments.char_indices().find_map(|(at, c)| {
        open += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        (open == 0).then_some(at)
    })
}

/// Returns the WGSL for an `#array` line (see [`super::array`]) as a single line, which preserves line
/// numbers.
fn array_text(declaration: &str, arrays: Arrays) -> Option<String> {
    let (head, element) = declaration.split_once(':')?;
    let [access, group, binding, name] = head.split_whitespace().collect::<Vec<_>>()[..] else {
        return None;
    };
    let (element, width) = (element.trim(), Arrays::WIDTH);
    let (components, format) = match element {
        "u32" => ("x", Some("r32uint")),
        "vec2u" => ("xy", None),
        "vec4u" => ("xyzw", Some("rgba32uint")),
        _ => return None,
    };
    let at = format!("@group({group}) @binding({binding}) var");
    let texel = format!("vec2u(i % {width}u, i / {width}u)");
    Some(match (access, arrays) {
        ("read", Arrays::Buffers) => format!(
            "{at}<storage, read> {name}_array: array<{element}>; fn {name}(i: u32) -> {element} {{ return {name}_array[i]; }}"
        ),
        ("read", Arrays::Textures) => {
            let (kind, level) = match format {
                Some(format) => (format!("texture_storage_2d<{format}, read>"), ""),
                None => ("texture_2d<u32>".into(), ", 0"),
            };
            format!(
                "{at} {name}_array: {kind}; fn {name}(i: u32) -> {element} {{ return textureLoad({name}_array, {texel}{level}).{components}; }}"
            )
        }
        ("write", _) => format!(
            "{at}<storage, read_write> {name}_array: array<{element}>; fn {name}(i: u32, value: {element}) {{ {name}_array[i] = value; }}"
        ),
        _ => return None,
    })
}

/// Returns the shader at `path` of the device's library. It is parsed and validated only once.
pub fn module(gpu: &Gpu, path: &str) -> Result<wgpu::ShaderModule> {
    gpu.module(path, || {
        let composed = compose(gpu.shaders(), path, gpu.capabilities.shader_choices())?;
        parsed(gpu, path, &composed)
    })
}

/// Parses the shader at `path` of the device's library, whose source is `composed`.
pub(super) fn parsed(gpu: &Gpu, path: &str, composed: &Composed) -> Result<Parsed> {
    // Edited shaders are not proven.
    let is_proven = gpu.shaders().is_proven(path) && shader_folder::shader_folder().is_none();
    Ok(Parsed {
        module: create_module(gpu, path, composed, is_proven)?,
        text_hash: composed.text_hash(),
    })
}

/// Returns the shader like [`module`], with your own source instead of a file, and with all checks.
pub fn module_with(gpu: &Gpu, path: &str, replaced: &Replaced) -> Result<wgpu::ShaderModule> {
    let composed = compose_with(gpu.shaders(), path, replaced, gpu.capabilities.shader_choices())?;
    create_module(gpu, path, &composed, false)
}

/// Returns the shader with copies of its uniforms, if the driver needs that. A broken shader returns `None`,
/// so that wgpu reports the error.
fn private(gpu: &Gpu, text: &str) -> Option<naga::Module> {
    if !gpu.capabilities.private_uniforms {
        return None;
    }
    let mut module = naga::front::wgsl::parse_str(text).ok()?;
    private_uniforms::make_private(&mut module)?;
    Some(module)
}

/// Parses and validates a composed shader. A `proven` shader is compiled without checks, if the device allows
/// it ([`Gpu::disable_bounds_checks`]).
///
/// # Errors
///
/// The first error in the WGSL, with its source file and line.
pub fn create_module(
    gpu: &Gpu,
    label: &str,
    composed: &Composed,
    proven: bool,
) -> Result<wgpu::ShaderModule> {
    let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: match private(gpu, &composed.text) {
            Some(module) => wgpu::ShaderSource::Naga(Cow::Owned(module)),
            None => wgpu::ShaderSource::Wgsl(composed.text.as_str().into()),
        },
    };
    let module = if proven && gpu.is_unchecked() {
        let checks = wgpu::ShaderRuntimeChecks {
            bounds_checks: false,
            // When lanes leave a loop by its only exit, llvmpipe (Mesa 22.3) gives them the values of the
            // lanes that continue. The loop bound is a second exit.
            force_loop_bounding: !gpu.capabilities.has_gpu,
            ..wgpu::ShaderRuntimeChecks::checked()
        };
        // SAFETY: the caller of `Gpu::disable_bounds_checks` promised that the geometry is valid. The
        // libraries only mark shaders whose indices and loops stay within bounds in that case
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
    // A lost device can cause this error too, and recovery depends on this variant.
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
        assert_eq!(composed.text, "enable f16;\nfn c() {}\nfn b() {}\nfn a() {}\n");
        assert_eq!(composed.origin(2), "shaders/c:2");
        assert_eq!(composed.origin(4), "shaders/a:3");
        assert_eq!(composed.origin(99), "generated WGSL");
    }

    #[test]
    fn software_adapters_and_earlier_imports_replace_a_file() {
        let library = Library {
            files: &[
                ("a/rays", "gpu"),
                ("a/software/rays", "software"),
                ("b/entry", "#import \"a/rays\"\nentry"),
                ("b/portable", "#import \"a/software/rays\"\n#import \"b/entry\""),
            ],
            ..Library::default()
        };
        let text = |path, arrays| compose(&library, path, arrays).unwrap().text;
        assert_eq!(text("b/entry", Arrays::Buffers), "gpu\nentry\n");
        assert_eq!(text("b/entry", Arrays::Textures), "software\nentry\n");
        assert_eq!(text("b/portable", Arrays::Buffers), "software\nentry\n");
        assert_eq!(text("b/portable", Arrays::Textures), "software\nentry\n");
    }

    #[test]
    fn caller_shaders_import_from_a_library_and_the_libraries_below_it() {
        static BASE: Library = Library {
            files: &[("b", "const B = A;")],
            // The last name is a part of "const".
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
        assert_eq!(composed.origin(1), "generated constants:1");
        assert_eq!(composed.origin(3), "shaders/c:2");
        assert_eq!(composed.origin(4), "mine.wgsl:2");
        let missing = compose_text(&library, "mine.wgsl", "#import \"d\"", Arrays::Buffers);
        assert_eq!(
            missing.unwrap_err().to_string(),
            "mine.wgsl:1: there is no shader file \"d\""
        );
    }

    #[test]
    fn texels_directive_gives_sampled_or_storage_textures_without_levels() {
        let text = "#texels 1 2 a: rgba32float\n#texels 1 3 bs: r32uint array\n\
            fn f(x: vec2u) -> vec4f {\n\
            return textureLoad(a, min(x, textureLoad(bs, x, i, 0).xy), 0) + textureLoad(aa, x, 0); }";
        let composed = |arrays| {
            let composed = compose_text(&Library::default(), "mine.wgsl", text, arrays);
            composed.unwrap().text
        };
        assert_eq!(
            composed(Arrays::Buffers),
            "@group(1) @binding(2) var a: texture_2d<f32>;\n\
             @group(1) @binding(3) var bs: texture_2d_array<u32>;\n\
             fn f(x: vec2u) -> vec4f {\n\
             return textureLoad(a, min(x, textureLoad(bs, x, i, 0).xy), 0) + textureLoad(aa, x, 0); }\n"
        );
        assert_eq!(
            composed(Arrays::Textures),
            "@group(1) @binding(2) var a: texture_storage_2d<rgba32float, read>;\n\
             @group(1) @binding(3) var bs: texture_storage_2d_array<r32uint, read>;\n\
             fn f(x: vec2u) -> vec4f {\n\
             return textureLoad(a, min(x, textureLoad(bs, x, i).xy)) + textureLoad(aa, x, 0); }\n"
        );
    }

    #[test]
    fn cycles_missing_files_and_bad_imports_are_reported() {
        let files = &[
            ("a", "#import \"b\""),
            ("b", "\n#import \"a\""),
            ("c", "#import \"nowhere\""),
            ("d", "#import b"),
            ("e", "#array read 0 numbers: u32"),
            ("f", "#texels 0 1 numbers: r32uint layers"),
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
                .starts_with("shaders/d:1: write imports as")
        );
        assert!(
            from(files, "e")
                .unwrap_err()
                .to_string()
                .starts_with("shaders/e:1: write arrays as")
        );
        assert!(
            from(files, "f")
                .unwrap_err()
                .to_string()
                .starts_with("shaders/f:1: write texels as")
        );
    }
}
