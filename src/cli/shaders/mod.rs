//! `canopy shaders`: lists the shaders with what they import, writes them as GPUs' drivers get them, checks edited ones, and
//! tells what compilers of GPUs make of them.

#[cfg(target_os = "linux")]
mod isa;
mod spirv;

use super::{
    console::{json_text, print},
    reflected::Reflected,
};
use crate::{
    Error, Result,
    gpu::{
        Arrays,
        shader::{self, Composed},
        shader_folder::read_shaders_from,
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
use wgpu::naga::{EntryPoint, ShaderStage};

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
    /// What compilers of GPUs make of them
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    pub isa: isa::IsaArgs,
}

/// [`Arrays`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ArraysArg {
    /// [`Arrays::Buffers`].
    Buffers,
    /// [`Arrays::Textures`].
    Textures,
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
    #[cfg(target_os = "linux")]
    if args.isa.isa {
        return isa::run(args, arrays);
    }
    let mut shaders = Vec::new();
    let mut faults = BTreeSet::new();
    for (path, composed) in candidates(arrays, &args.names)? {
        match Reflected::of(path, composed) {
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
        return Err(nothing_named(&args.names));
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
        let all: Vec<_> = shaders.iter().map(Reflected::json).collect();
        return print(&json_text(&json!(all)));
    }
    print(&shaders.iter().map(Reflected::text).collect::<String>())
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

/// Files that may have an entry point of these names, composed: it is parsing that takes time.
fn candidates(arrays: Arrays, names: &[String]) -> Result<Vec<(&'static str, Composed)>> {
    let mut files = Vec::new();
    for (path, _) in SHADERS.entry_files() {
        let composed = shader::compose(&SHADERS, path, arrays)?;
        let may_have = |name: &String| path.contains(name) || composed.text.contains(name);
        if names.is_empty() || names.iter().any(may_have) {
            files.push((path, composed));
        }
    }
    Ok(files)
}

fn nothing_named(names: &[String]) -> Error {
    let names = names.join(", ");
    Error::NotFound(format!("no shader or entry point has {names} in its name"))
}

impl Reflected {
    fn is_named(&self, names: &[String]) -> bool {
        self.has_named(self.module.entry_points.iter(), names)
    }

    /// Whether the file, or one of these of its entry points, has one of the names in its own.
    fn has_named<'a>(
        &self,
        entries: impl Iterator<Item = &'a EntryPoint>,
        names: &[String],
    ) -> bool {
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
            "is_unchecked": spirv::is_unchecked(self.path),
        })
    }
}

/// Writes them below `folder`: `shadow/shadow_rays.wgsl`, `shadow/shadow_rays.shadow_rays.spv`.
fn dump(shaders: &[Reflected], folder: &Path) -> Result<()> {
    let mut files = 0;
    for shader in shaders {
        let file = folder.join(shader.path);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(|e| Error::io(parent, e))?;
        }
        output::write(&file, shader.composed.text.as_bytes())?;
        for entry in &shader.module.entry_points {
            let words = spirv::words(shader, entry, &Vec::new())?;
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
