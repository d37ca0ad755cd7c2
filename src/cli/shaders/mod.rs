//! `canopy shaders`: lists the shaders with their imports, writes them in the form that drivers receive,
//! checks edited ones, and compiles them for GPUs that are not installed.

mod args;
#[cfg(target_os = "linux")]
mod isa;
mod named;
mod spirv;

pub use args::{ArraysArg, IsaArgs, ShadersArgs};

use self::named::{candidates, nothing_named};
use super::{
    console::{json_text, print},
    reflected::{Reflected, stage_name},
};
use crate::{
    Error, Result,
    config::Config,
    device::SHADERS,
    gpu::{ShaderChoices, shader_folder::read_shaders_from},
    output,
};
use serde_json::json;
use std::{collections::BTreeSet, fmt::Write, path::Path};
use wgpu::naga::ShaderStage;

/// Lists, writes or checks shaders.
///
/// # Errors
///
/// [`Error::NotFound`] if no shader matches, [`Error::Shader`] for invalid shaders, and any error of reading
/// and writing.
pub fn run(args: &ShadersArgs, config: &Config) -> Result<()> {
    let choices = ShaderChoices {
        arrays: args.arrays.into(),
        ray_boxes: config.gpu.ray_boxes.into(),
        ray_stack: config.gpu.ray_stack.into(),
    };
    if let Some(folder) = &args.check {
        read_from(folder)?;
    }
    #[cfg(target_os = "linux")]
    if args.isa.isa {
        return isa::run(args, choices);
    }
    #[cfg(not(target_os = "linux"))]
    if args.isa.isa {
        return Err(Error::Usage("--isa works only on Linux".into()));
    }
    let mut shaders = Vec::new();
    let mut faults = BTreeSet::new();
    for (path, composed) in candidates(choices, &args.names) {
        let composed = composed.map_err(Error::from);
        match composed.and_then(|composed| Reflected::of(path, composed)) {
            Ok(shader) => shaders.push(shader),
            Err(Error::Shader(fault)) => {
                faults.insert(fault);
            }
            Err(other) => return Err(other),
        }
    }
    if !faults.is_empty() {
        // An invalid file breaks all files that import it.
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

/// Makes canopy read its shaders from `folder`.
///
/// # Errors
///
/// [`Error::Io`] if the folder cannot be read, [`Error::NotFound`] if it contains none of canopy's shaders.
pub(super) fn read_from(folder: &Path) -> Result<()> {
    std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?;
    if !SHADERS.files().any(|(path, _)| folder.join(path).is_file()) {
        let folder = folder.display();
        return Err(Error::NotFound(format!(
            "{folder}: holds none of canopy's shaders; expected for example {folder}/bvh/bvh.wgsl"
        )));
    }
    match read_shaders_from(folder.to_owned()) {
        true => Ok(()),
        false => Err(Error::Usage(
            "--check and CANOPY_SHADERS name different shader folders; set only one".into(),
        )),
    }
}

/// Makes development builds read shaders from their source folder, so that edits take effect, unless another
/// folder is given.
pub fn read_source() {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders"));
    if cfg!(debug_assertions) && source.is_dir() {
        read_shaders_from(source.into());
    }
}

impl Reflected {
    fn is_named(&self, names: &[String]) -> bool {
        self.has_named(self.module.entry_points.iter(), names)
    }

    /// Returns the files that it imports, directly or indirectly.
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

/// Writes the shaders below `folder`, such as `shadow/shadow_rays.wgsl` and
/// `shadow/shadow_rays.shadow_rays.spv`.
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
