//! glTF 2.0. The `gltf` crate parses the JSON; everything after that is done here with checked indices and checked arithmetic,
//! for the crate's own readers panic on files that are broken.

mod accessor;
mod clip;
mod container;
mod draco;
mod layers;
mod material;
mod mesh;
mod meshopt;
mod node;

use super::{
    ExtensionUse, Scene, Treatment,
    files::{Bytes, Folder, clip},
    image,
    load::{Budget, Load},
};
use crate::{Error, Result};
use ::gltf::json::Root;
use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    path::Path,
    rc::Rc,
    thread,
};

/// Beyond this many lines a file's warnings are counted and not kept.
const MAX_WARNINGS: usize = 100;

/// A glTF file that is being read.
#[derive(Debug)]
struct File<'a> {
    path: &'a Path,
    root: Root,
    /// The extensions that the file says it cannot be shown without.
    required: HashSet<String>,
    /// Why a buffer has no data is an error only if something reads it.
    buffers: Vec<Result<Bytes, String>>,
    /// What compressed buffer views hold, by the file's numbers.
    views: Vec<Option<meshopt::Decoded>>,
    folder: Folder,
    /// Of the sparse accessors that were opened: thousands of primitives may share one.
    sparse_indices: RefCell<HashMap<usize, Rc<[u32]>>>,
    warnings: RefCell<Vec<String>>,
}

impl File<'_> {
    fn error(&self, what: impl Into<String>) -> Error {
        Error::scene(self.path, what)
    }

    /// Keeps a line about what was ignored or repaired; the same line only once.
    fn warn(&self, what: impl AsRef<str>) {
        // Names of any length come from the file.
        let line = format!("{}: {}", self.path.display(), clip(what.as_ref(), 300));
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

    /// Whether the file says that it cannot be shown without an extension.
    fn requires(&self, extension: &str) -> bool {
        self.required.contains(extension)
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

/// A fault that a file may have in thousands of places: the first is told, and how many more there are.
#[derive(Debug, Default)]
struct Tally {
    first: String,
    count: usize,
}

impl Tally {
    /// Counts one, which `what` describes.
    fn add(&mut self, what: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = what();
        }
        self.count += 1;
    }

    /// Warns, if there was any; `outcome` is what becomes of it.
    fn tell(self, file: &File<'_>, outcome: &str) {
        let first = self.first;
        match self.count {
            0 => {}
            1 => file.warn(format!("{first}; {outcome}")),
            count => file.warn(format!(
                "{first}; {outcome} (and {} more like it)",
                count - 1
            )),
        }
    }
}

/// Loads the glTF file `path`, whose bytes are `bytes`.
pub(super) fn load(path: &Path, bytes: &Bytes, load: &mut Load<'_>) -> Result<Scene> {
    let error = |what: String| Error::scene(path, what);
    let container = container::split(bytes).map_err(error)?;
    let mut repairs = Vec::new();
    // An object of a few bytes becomes a thousand in memory.
    let objects = container.json.iter().filter(|&&b| b == b'{').count() as u64;
    load.check(Budget::JsonObjects, objects, || path.display().to_string())?;
    let container::Parsed { root, pointers } =
        container::parse(container.json, &mut repairs).map_err(error)?;
    let folder = load.folder(path)?;
    let mut file = File {
        path,
        required: root.extensions_required.iter().cloned().collect(),
        root,
        buffers: Vec::new(),
        views: Vec::new(),
        folder,
        sparse_indices: RefCell::default(),
        warnings: RefCell::default(),
    };
    repairs.iter().for_each(|what| file.warn(what));
    let extensions = container::extensions(&file.root);
    for ExtensionUse { name, note, .. } in extensions
        .iter()
        .filter(|extension| extension.treatment == Treatment::Ignored)
    {
        file.warn(if file.requires(name) {
            format!("needs the extension {name}, which canopy does not read ({note}); what can be shown without it is shown")
        } else {
            format!("uses the extension {name}, which canopy ignores ({note})")
        });
    }
    load.enter(format!("reading the buffers of {}", path.display()), 0.05)?;
    file.buffers = buffers(&file, container.bin.and_then(|range| bytes.part(range)));
    file.views = meshopt::views(&file, load)?;

    let mut scene = Scene {
        extensions,
        ..Scene::default()
    };
    scene.variants = mesh::variant_names(&file)?;
    let hierarchy = node::hierarchy(&file, load)?;
    let used = node::nodes(&file, &hierarchy, load, &mut scene)?;
    material::materials(&file, &mut scene)?;
    let images = material::images(&file, &mut scene)?;
    let mut warnings = Vec::new();
    // Images are decoded while the geometry is read.
    let decoded = thread::scope(|threads| {
        let decoding = image::start(threads, &images, load)?;
        mesh::meshes(&file, &used, load, &mut scene)?;
        node::check_instances(&file, &used, &mut scene)?;
        clip::clips(&file, &hierarchy, &pointers, load, &mut scene)?;
        decoding.finish(load, &mut warnings)
    })?;
    scene.images = decoded.images;
    image::forget_missing(&mut scene, &decoded.missing);
    warnings.iter().for_each(|what| file.warn(what));
    scene.warnings.append(&mut file.warnings.into_inner());
    Ok(scene)
}

/// Every buffer's bytes. One without is no error unless something that is drawn reads it.
fn buffers(file: &File<'_>, bin: Option<Bytes>) -> Vec<Result<Bytes, String>> {
    let (mut missing, mut short) = (Tally::default(), Tally::default());
    let json = file.root.buffers.iter().enumerate();
    let buffers = json.map(|(index, buffer)| {
        let bytes = match (&buffer.uri, &bin) {
            (Some(uri), _) => file.folder.uri(uri),
            (None, Some(bin)) if index == 0 => Ok(bin.clone()),
            _ => Err("it has neither a uri nor a GLB chunk".into()),
        };
        let declared = buffer.byte_length.0;
        match &bytes {
            // What takes its place may be sound.
            Err(_) if meshopt::is_fallback(buffer) => {}
            Err(why) => missing.add(|| format!("buffer {index} has no data ({why})")),
            Ok(bytes) if (bytes.len() as u64) < declared => short.add(|| {
                let has = bytes.len();
                format!("buffer {index} declares {declared} bytes and has {has}")
            }),
            Ok(_) => {}
        }
        bytes
    });
    let buffers = buffers.collect();
    missing.tell(file, "nothing that is drawn reads it");
    short.tell(file, "what is drawn needs no more");
    buffers
}

/// A name as the scene keeps it.
fn name_of(name: Option<&String>) -> String {
    name.cloned().unwrap_or_default()
}
