//! `canopy shaders`: lists the shaders with what they import, writes them as GPUs' drivers get them, and checks edited ones.

use super::console::{json_text, print};
use crate::{
    Error, Result,
    gpu::{
        Arrays,
        shader::{self, Composed},
        shader_folder::{read_shaders_from, shader_folder},
    },
    output,
    render::SHADERS,
};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::{
    collections::BTreeSet,
    fmt::Write,
    path::{Path, PathBuf},
};
use wgpu::naga::{
    self, Module, ShaderStage,
    back::{
        pipeline_constants::process_overrides,
        spv::{self, WriterFlags},
    },
    proc::{BoundsCheckPolicies, BoundsCheckPolicy},
    valid::{Capabilities, ModuleInfo, ValidationFlags, Validator},
};

/// `canopy shaders`.
#[derive(Debug, Args)]
pub struct ShadersArgs {
    /// Parts of names of files or entry points; all if none
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Write composed WGSL, and entry points as SPIR-V
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub dump: Option<PathBuf>,
    /// Validate these files in place of those compiled in
    #[arg(long, value_name = "DIR", conflicts_with_all = ["dump", "json", "shaders"])]
    pub check: Option<PathBuf>,
    /// Arrays as on GPUs or in software
    #[arg(long, value_name = "KIND", default_value = "buffers")]
    pub arrays: ArraysArg,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// [`Arrays`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ArraysArg {
    /// [`Arrays::Buffers`].
    Buffers,
    /// [`Arrays::Textures`].
    Textures,
}

/// A shader that is compiled by itself.
struct Shader {
    path: &'static str,
    composed: Composed,
    module: Module,
    info: ModuleInfo,
}

/// Lists, writes or checks them.
///
/// # Errors
///
/// [`Error::NotFound`] where nothing has such a name, [`Error::Shader`] for broken shaders, those of reading and writing.
pub fn run(args: &ShadersArgs) -> Result<()> {
    if let Some(folder) = &args.check {
        read_from(folder)?;
    }
    let arrays = match args.arrays {
        ArraysArg::Buffers => Arrays::Buffers,
        ArraysArg::Textures => Arrays::Textures,
    };
    let mut shaders = Vec::new();
    let mut faults = BTreeSet::new();
    for (path, _) in SHADERS.entry_files() {
        match Shader::new(path, arrays) {
            Ok(shader) => shaders.push(shader),
            Err(Error::Shader(fault)) => {
                faults.insert(fault);
            }
            Err(other) => return Err(other),
        }
    }
    if !faults.is_empty() {
        // One broken part breaks all that import it.
        let lines: String = faults.iter().map(|fault| format!("{fault}\n")).collect();
        print(&lines)?;
        let count = faults.len();
        let ending = if count == 1 { "" } else { "s" };
        return Err(Error::Shader(format!("{count} fault{ending} in shaders")));
    }
    shaders.retain(|shader| shader.is_named(&args.names));
    if shaders.is_empty() {
        let names = args.names.join(", ");
        return Err(Error::NotFound(format!(
            "no shader or entry point has {names} in its name"
        )));
    }
    if let Some(folder) = &args.dump {
        return dump(&shaders, folder);
    }
    if args.check.is_some() {
        let entries: usize = shaders.iter().map(|s| s.module.entry_points.len()).sum();
        return print(&format!(
            "{} shaders with {entries} entry points are valid\n",
            shaders.len()
        ));
    }
    if args.json {
        let all: Vec<_> = shaders.iter().map(Shader::json).collect();
        return print(&json_text(&json!(all)));
    }
    print(&shaders.iter().map(Shader::text).collect::<String>())
}

/// Has shaders read from `folder`.
///
/// # Errors
///
/// [`Error::Io`] for a folder that cannot be read, [`Error::NotFound`] for one that holds no shader of canopy's.
pub(super) fn read_from(folder: &Path) -> Result<()> {
    std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?;
    if !SHADERS.files().any(|(path, _)| folder.join(path).is_file()) {
        let folder = folder.display();
        return Err(Error::NotFound(format!(
            "{folder}: no shader is there, such as {folder}/bvh/bvh.wgsl"
        )));
    }
    match read_shaders_from(folder.to_owned()) {
        true => Ok(()),
        false => Err(Error::Usage(
            "--check names a folder of shaders, and CANOPY_SHADERS another one".into(),
        )),
    }
}

/// Has development builds show edits of their own source, unless another folder of shaders is named.
pub fn read_source() {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders"));
    if cfg!(debug_assertions) && source.is_dir() {
        read_shaders_from(source.into());
    }
}

/// True where a shader's text may go without checks.
fn is_unchecked(path: &str) -> bool {
    SHADERS.is_proven(path) && shader_folder().is_none()
}

impl Shader {
    fn new(path: &'static str, arrays: Arrays) -> Result<Self> {
        let composed = shader::compose(&SHADERS, path, arrays)?;
        let at = |line: Option<u32>| match line {
            Some(line) => composed.origin(line as usize),
            None => path.into(),
        };
        let module = naga::front::wgsl::parse_str(&composed.text).map_err(|error| {
            let location = error.location(&composed.text);
            let line = at(location.map(|location| location.line_number));
            Error::Shader(format!("{line}: {}", error.message()))
        })?;
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
        let info = validator.validate(&module).map_err(|error| {
            let location = error.location(&composed.text);
            let line = at(location.map(|location| location.line_number));
            let mut cause: &dyn std::error::Error = error.as_inner();
            while let Some(below) = cause.source() {
                cause = below;
            }
            Error::Shader(format!("{line}: {cause}"))
        })?;
        Ok(Self {
            path,
            composed,
            module,
            info,
        })
    }

    fn is_named(&self, names: &[String]) -> bool {
        let entries = self.module.entry_points.iter();
        let mut own = entries.map(|entry| entry.name.as_str()).chain([self.path]);
        names.is_empty() || own.any(|own| names.iter().any(|name| own.contains(name.as_str())))
    }

    /// Files that it imports, directly or through others.
    fn imports(&self) -> impl Iterator<Item = &str> {
        let files = self.composed.files.iter().map(String::as_str);
        files.filter(|file| *file != self.path)
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.path);
        for entry in &self.module.entry_points {
            let threads = match entry.stage {
                ShaderStage::Compute => {
                    let [x, y, z] = entry.workgroup_size;
                    format!("  {x} × {y} × {z} threads")
                }
                _ => String::new(),
            };
            let stage = stage_name(entry.stage);
            writeln!(text, "  {stage:<9}{}{threads}", entry.name).ok();
        }
        let imports: Vec<_> = self.imports().collect();
        if !imports.is_empty() {
            writeln!(text, "  imports  {}", imports.join(" ")).ok();
        }
        text
    }

    fn json(&self) -> serde_json::Value {
        let entries = self.module.entry_points.iter().map(|entry| {
            json!({
                "name": entry.name,
                "stage": stage_name(entry.stage),
                "workgroup_size":
                    (entry.stage == ShaderStage::Compute).then_some(entry.workgroup_size),
            })
        });
        json!({
            "file": self.path,
            "entry_points": entries.collect::<Vec<_>>(),
            "imports": self.imports().collect::<Vec<_>>(),
            "is_unchecked": is_unchecked(self.path),
        })
    }

    /// The words of an entry point as wgpu makes them for Vulkan; constants without a value are 1.
    fn spirv(&self, stage: ShaderStage, entry: &str) -> Result<Vec<u32>> {
        let broken = |what: String| Error::Internal(format!("{} {entry}: {what}", self.path));
        let constants = self.module.overrides.iter();
        let constants = constants
            .filter(|(_, constant)| constant.init.is_none())
            .filter_map(|(_, constant)| Some((constant.name.clone()?, 1.0)))
            .collect();
        let (module, info) =
            process_overrides(&self.module, &self.info, Some((stage, entry)), &constants)
                .map_err(|e| broken(e.to_string()))?;
        let is_checked = !is_unchecked(self.path);
        let policy = match is_checked {
            true => BoundsCheckPolicy::Restrict,
            false => BoundsCheckPolicy::Unchecked,
        };
        let options = spv::Options {
            flags: WriterFlags::LABEL_VARYINGS | WriterFlags::DEBUG,
            bounds_check_policies: BoundsCheckPolicies {
                index: policy,
                buffer: policy,
                image_load: policy,
                binding_array: BoundsCheckPolicy::Unchecked,
            },
            force_loop_bounding: is_checked,
            ..spv::Options::default()
        };
        let pipeline = spv::PipelineOptions {
            shader_stage: stage,
            entry_point: entry.into(),
        };
        spv::write_vec(&module, &info, &options, Some(&pipeline)).map_err(|e| broken(e.to_string()))
    }
}

/// Writes them below `folder`: `shadow/shadow_rays.wgsl`, `shadow/shadow_rays.shadow_rays.spv`.
fn dump(shaders: &[Shader], folder: &Path) -> Result<()> {
    let mut files = 0;
    for shader in shaders {
        let file = folder.join(shader.path);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(|e| Error::io(parent, e))?;
        }
        output::write(&file, shader.composed.text.as_bytes())?;
        for entry in &shader.module.entry_points {
            let words = shader.spirv(entry.stage, &entry.name)?;
            let file = file.with_extension(format!("{}.spv", entry.name));
            output::write(&file, bytemuck::cast_slice(&words))?;
            files += 1;
        }
    }
    print(&format!(
        "wrote {} shaders and {files} entry points to {}\n",
        shaders.len(),
        folder.display()
    ))
}

fn stage_name(stage: ShaderStage) -> &'static str {
    match stage {
        ShaderStage::Vertex => "vertex",
        ShaderStage::Fragment => "fragment",
        _ => "compute",
    }
}
