//! The shader composer: `#import "common/bvh.wgsl"` lines, each file once, with errors that name file and line.

use super::{Gpu, array::Arrays, layout::CONSTANTS};
use crate::{Error, Result};
use std::{borrow::Cow, sync::PoisonError};

/// Embeds shader files by their path under `shaders/`.
macro_rules! sources {
    ($($path:literal),* $(,)?) => { &[$(($path, include_str!(concat!("../../shaders/", $path)))),*] };
}

/// Every shader file; a test holds that none is missing.
pub const SOURCES: &[(&str, &str)] = sources![
    "accel/baseline.wgsl",
    "accel/bounds.wgsl",
    "accel/grow.wgsl",
    "accel/copy.wgsl",
    "accel/cost.wgsl",
    "accel/hierarchy.wgsl",
    "accel/leaves.wgsl",
    "accel/morton.wgsl",
    "accel/pyramid.wgsl",
    "accel/regroup.wgsl",
    "accel/sort.wgsl",
    "accel/sort_serial.wgsl",
    "accel/sort_small.wgsl",
    "accel/sort_subgroups.wgsl",
    "accel/tlas.wgsl",
    "accel/trace.wgsl",
    "common/atmosphere.wgsl",
    "common/blended.wgsl",
    "common/occlusion_signal.wgsl",
    "common/box.wgsl",
    "common/brdf.wgsl",
    "common/brdf_table.wgsl",
    "common/bvh.wgsl",
    "common/cover.wgsl",
    "common/cube_box.wgsl",
    "common/cube_map.wgsl",
    "common/environment.wgsl",
    "common/environment_lod.wgsl",
    "common/exposure.wgsl",
    "common/frame.wgsl",
    "common/gbuffer.wgsl",
    "common/geometry.wgsl",
    "common/dispatch.wgsl",
    "common/display.wgsl",
    "common/half_float.wgsl",
    "common/items.wgsl",
    "common/layers.wgsl",
    "common/leaf.wgsl",
    "common/light.wgsl",
    "common/material.wgsl",
    "common/material_layers.wgsl",
    "common/mesh_bounds.wgsl",
    "common/morton.wgsl",
    "common/occlusion.wgsl",
    "common/octahedral.wgsl",
    "common/ambient_visibility.wgsl",
    "common/points_lines.wgsl",
    "common/pyramid.wgsl",
    "common/project_sh.wgsl",
    "common/project_sh_gather.wgsl",
    "common/ray.wgsl",
    "common/ray_list.wgsl",
    "common/scene.wgsl",
    "common/sh.wgsl",
    "common/sh_basis.wgsl",
    "common/shadow_map.wgsl",
    "common/shadow_ray.wgsl",
    "common/shadow_start.wgsl",
    "common/shadow_words.wgsl",
    "common/sky_disc.wgsl",
    "common/sort.wgsl",
    "common/sort_block.wgsl",
    "common/sort_scatter.wgsl",
    "common/tree.wgsl",
    "common/unseen.wgsl",
    "common/visibility.wgsl",
    "render/accumulate.wgsl",
    "render/antialias.wgsl",
    "render/blend.wgsl",
    "render/blend_points_lines.wgsl",
    "render/channel.wgsl",
    "render/deform.wgsl",
    "render/environment/brdf_table.wgsl",
    "render/environment/cube_mips.wgsl",
    "render/environment/equirect.wgsl",
    "render/environment/prefilter.wgsl",
    "render/environment/project_sh.wgsl",
    "render/environment/project_sh_stored.wgsl",
    "render/environment/project_sh_subgroups.wgsl",
    "render/environment/sky.wgsl",
    "render/environment/sum_sh.wgsl",
    "render/exposure.wgsl",
    "render/gbuffer.wgsl",
    "render/layers.wgsl",
    "render/lighting.wgsl",
    "render/mipmap.wgsl",
    "render/occlusion_filter.wgsl",
    "render/occlusion_rays.wgsl",
    "render/points_lines.wgsl",
    "render/shadow_classify.wgsl",
    "render/shadow_map.wgsl",
    "render/shadow_rays.wgsl",
    "render/tonemap.wgsl",
];

/// A shader with its imports in place.
#[derive(Debug, Clone)]
pub struct Composed {
    /// Plain WGSL.
    pub text: String,
    /// For each line of `text` the file and line (from 1) that it came from.
    origins: Vec<(Cow<'static, str>, usize)>,
}

impl Composed {
    /// File and line (from 1) behind a line (from 1) of the text.
    pub fn origin(&self, line: usize) -> String {
        self.origins.get(line.wrapping_sub(1)).map_or_else(
            || "generated".into(),
            |(file, line)| format!("shaders/{file}:{line}"),
        )
    }
}

/// The shader at `path` under `shaders/`, composed for an adapter that holds its arrays so.
pub fn compose(path: &str, arrays: Arrays) -> Result<Composed> {
    compose_from(
        &|path| {
            SOURCES
                .iter()
                .find(|(known, _)| *known == path)
                .map(|(_, text)| Cow::Borrowed(*text))
        },
        path,
        arrays,
    )
}

/// As [`compose`], with files from `source`.
pub fn compose_from(
    source: &dyn Fn(&str) -> Option<Cow<'static, str>>,
    path: &str,
    arrays: Arrays,
) -> Result<Composed> {
    let mut composer = Composer {
        source,
        arrays,
        done: Vec::new(),
        open: Vec::new(),
        directives: Vec::new(),
        body: Vec::new(),
    };
    composer.add(path, "the host")?;
    let used = |name: &str| composer.body.iter().any(|(text, ..)| text.contains(name));
    let constants = CONSTANTS
        .iter()
        .filter(|(name, _)| used(name))
        .map(|(name, value)| (format!("const {name} = {value}u;"), "constants".into(), 1));
    let lines: Vec<Line> = composer
        .directives
        .iter()
        .cloned()
        .chain(constants)
        .chain(composer.body.iter().cloned())
        .collect();
    Ok(Composed {
        text: lines.iter().map(|(text, ..)| format!("{text}\n")).collect(),
        origins: lines
            .into_iter()
            .map(|(_, file, line)| (file, line))
            .collect(),
    })
}

/// Text, file, line.
type Line = (String, Cow<'static, str>, usize);

struct Composer<'a> {
    source: &'a dyn Fn(&str) -> Option<Cow<'static, str>>,
    arrays: Arrays,
    done: Vec<String>,
    open: Vec<String>,
    directives: Vec<Line>,
    body: Vec<Line>,
}

impl Composer<'_> {
    fn add(&mut self, path: &str, importer: &str) -> Result<()> {
        if self.open.iter().any(|open| open == path) {
            return Err(Error::Gpu(format!(
                "{importer}: importing \"{path}\" closes a cycle: {} → {path}",
                self.open.join(" → ")
            )));
        }
        if self.done.iter().any(|done| done == path) {
            return Ok(());
        }
        let text = (self.source)(path)
            .ok_or_else(|| Error::Gpu(format!("{importer}: there is no shader file \"{path}\"")))?;
        self.open.push(path.into());
        let file: Cow<'static, str> = Cow::Owned(path.into());
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let trimmed = line.trim();
            if let Some(import) = trimmed.strip_prefix("#import") {
                let name = import
                    .trim()
                    .strip_prefix('"')
                    .and_then(|rest| rest.strip_suffix('"'));
                let name = name.ok_or_else(|| {
                    Error::Gpu(format!(
                        "shaders/{path}:{number}: an import reads #import \"folder/file.wgsl\""
                    ))
                })?;
                self.add(name, &format!("shaders/{path}:{number}"))?;
            } else if let Some(declaration) = trimmed.strip_prefix("#array ") {
                let text = array_text(declaration, self.arrays).ok_or_else(|| {
                    Error::Gpu(format!(
                        "shaders/{path}:{number}: an array reads #array read|write GROUP BINDING name: u32|vec2u|vec4u"
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
        self.open.pop();
        self.done.push(path.into());
        Ok(())
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

/// The shader at `path` under `shaders/`, parsed and validated once.
pub fn module(gpu: &Gpu, path: &str) -> Result<wgpu::ShaderModule> {
    let key = (path.to_owned(), gpu.arrays);
    let modules = || gpu.modules.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(module) = modules().get(&key) {
        return Ok(module.clone());
    }
    let module = parse(gpu, path)?;
    modules().insert(key, module.clone());
    Ok(module)
}

fn parse(gpu: &Gpu, path: &str) -> Result<wgpu::ShaderModule> {
    let composed = compose(path, gpu.arrays)?;
    let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let module = gpu
        .device
        .create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(path),
            source: wgpu::ShaderSource::Wgsl(composed.text.as_str().into()),
        });
    let Some(error) = pollster::block_on(scope.pop()) else {
        return Ok(module);
    };
    let info = pollster::block_on(module.get_compilation_info());
    let first = info.messages.iter().find_map(|message| {
        message.location.map(|at| {
            format!(
                "{}: {}",
                composed.origin(at.line_number as usize),
                message.message
            )
        })
    });
    Err(Error::Gpu(super::one_line(
        &first.unwrap_or_else(|| format!("shaders/{path}: {error}")),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(files: &'static [(&'static str, &'static str)], path: &str) -> Result<Composed> {
        compose_from(
            &move |path| {
                files
                    .iter()
                    .find(|(known, _)| *known == path)
                    .map(|(_, text)| Cow::Borrowed(*text))
            },
            path,
            Arrays::Buffers,
        )
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
