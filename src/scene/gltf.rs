//! glTF 2.0. The `gltf` crate parses the JSON; everything after that is done here with checked indices and checked arithmetic,
//! for the crate's own readers panic on files that are broken.

mod accessor;
mod clip;
mod container;
mod draco;
mod layers;
mod material;
mod mesh;
mod node;

use super::{
    Scene,
    files::{Bytes, Folder, shorten},
    load::Load,
};
use crate::{Error, Result};
use ::gltf::json::Root;
use std::{cell::RefCell, path::Path, sync::Arc};

/// Beyond this many lines a file's warnings are counted and not kept.
const MAX_WARNINGS: usize = 100;

/// A glTF file that is being read.
#[derive(Debug)]
struct File<'a> {
    path: &'a Path,
    root: Root,
    /// `None` for a buffer without data, which is an error only if something reads it.
    buffers: Vec<Option<Bytes>>,
    folder: Folder,
    warnings: RefCell<Vec<String>>,
}

impl File<'_> {
    fn error(&self, what: impl Into<String>) -> Error {
        Error::scene(self.path, what)
    }

    /// Keeps a line about what was ignored or repaired; the same line only once.
    fn warn(&self, what: impl AsRef<str>) {
        let line = format!("{}: {}", self.path.display(), what.as_ref());
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() < MAX_WARNINGS && !warnings.contains(&line) {
            warnings.push(line);
            if warnings.len() == MAX_WARNINGS {
                warnings.push(format!(
                    "{}: further warnings are left out",
                    self.path.display()
                ));
            }
        }
    }

    /// The thing that an index found at `from` refers to.
    fn get<'t, T>(
        &self,
        things: &'t [T],
        kind: &str,
        index: usize,
        from: impl FnOnce() -> String,
    ) -> Result<&'t T> {
        things.get(index).ok_or_else(|| {
            let missing = if index == u32::MAX as usize {
                String::new()
            } else {
                format!(" {index}")
            };
            self.error(format!(
                "{} refers to {kind}{missing}, and the file has {}",
                from(),
                things.len()
            ))
        })
    }
}

/// Loads the glTF file `path`, whose bytes are `bytes`.
pub(super) fn load(path: &Path, bytes: &[u8], load: &mut Load<'_>) -> Result<Scene> {
    let error = |what: String| Error::scene(path, what);
    let container = container::split(bytes).map_err(error)?;
    let mut repairs = Vec::new();
    let root = container::parse(container.json, &mut repairs).map_err(error)?;
    let folder = Folder::of(path, load.limits.max_file_bytes)?;
    let mut file = File {
        path,
        root,
        buffers: Vec::new(),
        folder,
        warnings: RefCell::default(),
    };
    repairs.iter().for_each(|what| file.warn(what));
    for name in &file.root.extensions_used {
        if !container::SUPPORTED.contains(&name.as_str()) {
            file.warn(format!(
                "uses the extension {}, which canopy ignores",
                shorten(name)
            ));
        }
    }
    load.enter(format!("reading the buffers of {}", path.display()), 0.05)?;
    file.buffers = buffers(&file, container.bin)?;

    let mut scene = Scene::default();
    let hierarchy = node::hierarchy(&file, load)?;
    let used = node::nodes(&file, &hierarchy, &mut scene)?;
    material::materials(&file, &mut scene)?;
    mesh::meshes(&file, &used, load, &mut scene)?;
    node::check_instances(&file, &used, &mut scene)?;
    layers::scale_thicknesses(&mut scene);
    clip::clips(&file, &hierarchy, load, &mut scene)?;
    load.enter("decoding images", 0.5)?;
    material::images(&file, load, &mut scene)?;
    scene.warnings.append(&mut file.warnings.into_inner());
    Ok(scene)
}

/// Every buffer's bytes, as many as it declares.
fn buffers(file: &File<'_>, bin: Option<&[u8]>) -> Result<Vec<Option<Bytes>>> {
    let mut buffers = Vec::with_capacity(file.root.buffers.len());
    for (index, buffer) in file.root.buffers.iter().enumerate() {
        let bytes = match (&buffer.uri, bin) {
            (Some(uri), _) => Some(
                file.folder
                    .uri(uri)
                    .map_err(|why| file.error(format!("buffer {index}: {why}")))?,
            ),
            (None, Some(bin)) if index == 0 => Some(Arc::new(bin.to_vec())),
            _ => None,
        };
        if let Some(bytes) = bytes
            .as_ref()
            .filter(|b| (b.len() as u64) < buffer.byte_length.0)
        {
            let (declared, has) = (buffer.byte_length.0, bytes.len());
            return Err(file.error(format!(
                "buffer {index} declares {declared} bytes and has {has}"
            )));
        }
        buffers.push(bytes);
    }
    Ok(buffers)
}

/// A name as the scene keeps it.
fn name_of(name: Option<&String>) -> String {
    name.cloned().unwrap_or_default()
}
