//! The shader composer: `#import "common/bvh.wgsl"` lines, each file once, with errors that name file and line.

use super::{Gpu, layout::CONSTANTS};
use crate::{Error, Result};
use std::borrow::Cow;

/// Embeds shader files by their path under `shaders/`.
macro_rules! sources {
    ($($path:literal),* $(,)?) => { &[$(($path, include_str!(concat!("../../shaders/", $path)))),*] };
}

/// Every shader file; a test holds that none is missing.
pub const SOURCES: &[(&str, &str)] = sources![
    "accel/bounds.wgsl",
    "accel/hierarchy.wgsl",
    "accel/leaves.wgsl",
    "accel/morton.wgsl",
    "accel/pyramid.wgsl",
    "accel/regroup.wgsl",
    "accel/sort.wgsl",
    "accel/tlas.wgsl",
    "accel/trace.wgsl",
    "common/box.wgsl",
    "common/brdf.wgsl",
    "common/bvh.wgsl",
    "common/cover.wgsl",
    "common/frame.wgsl",
    "common/gbuffer.wgsl",
    "common/geometry.wgsl",
    "common/dispatch.wgsl",
    "common/light.wgsl",
    "common/material.wgsl",
    "common/octahedral.wgsl",
    "common/pyramid.wgsl",
    "common/pyramid_store.wgsl",
    "common/ray_list.wgsl",
    "common/scene.wgsl",
    "common/shadow_map.wgsl",
    "common/shadow_ray.wgsl",
    "common/shadow_start.wgsl",
    "common/shadow_words.wgsl",
    "common/tree.wgsl",
    "render/blend.wgsl",
    "render/channel.wgsl",
    "render/deform.wgsl",
    "render/gbuffer.wgsl",
    "render/lighting.wgsl",
    "render/mipmap.wgsl",
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

/// The shader at `path` under `shaders/`, composed.
pub fn compose(path: &str) -> Result<Composed> {
    compose_from(
        &|path| {
            SOURCES
                .iter()
                .find(|(known, _)| *known == path)
                .map(|(_, text)| Cow::Borrowed(*text))
        },
        path,
    )
}

/// As [`compose`], with files from `source`.
pub fn compose_from(
    source: &dyn Fn(&str) -> Option<Cow<'static, str>>,
    path: &str,
) -> Result<Composed> {
    let mut composer = Composer {
        source,
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

/// Compiles the shader at `path` under `shaders/`.
pub fn module(gpu: &Gpu, path: &str) -> Result<wgpu::ShaderModule> {
    let composed = compose(path)?;
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
    }
}
