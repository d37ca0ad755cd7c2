//! Loads glTF 2.0. The `gltf` crate parses the JSON. This module does everything after that with checked
//! indices and checked arithmetic, because the crate's own readers panic on broken files.

mod accessor;
mod animation;
mod camera;
mod container;
mod draco;
mod extensions;
mod file;
mod hierarchy;
mod instancing;
mod layers;
mod light;
mod material;
mod mesh;
mod meshopt;
mod node;
mod skin;
mod texture;
mod variants;
mod volume;

use super::{
    files::Bytes,
    graph::{ExtensionUse, Scene, Treatment, WarningPlace},
    image,
    load::{Budget, Load},
};
use crate::{Error, Result};
use file::{File, Tally};
use hierarchy::Hierarchy;
use serde_json::{Map, Value};
use std::{
    cell::{Cell, RefCell},
    path::Path,
    thread,
};

/// Loads the glTF file `path` with the contents `bytes`. Also returns the generator and the copyright of its
/// asset.
pub(super) fn load(path: &Path, bytes: &Bytes, load: &mut Load<'_>) -> Result<(Scene, [Option<String>; 2])> {
    let error = |what: String| Error::scene(path, what);
    let container = container::split(bytes).map_err(error)?;
    let mut repairs = Vec::new();
    // Limited before parsing, because an object of a few bytes takes a thousand in memory.
    let objects = container.json.iter().filter(|&&b| b == b'{').count() as u64;
    load.check(Budget::JsonObjects, objects, || path.display().to_string())?;
    let container::Parsed {
        root,
        pointers,
        light_extras,
        target_names,
        node_volumes,
        doubles,
    } = container::parse(container.json, &mut repairs).map_err(error)?;
    let folder = load.folder(path)?;
    let mut file = File {
        path,
        required: root.extensions_required.iter().cloned().collect(),
        root,
        light_extras,
        target_names,
        node_volumes,
        doubles,
        buffers: Vec::new(),
        views: Vec::new(),
        folder,
        sparse_indices: RefCell::default(),
        warnings: RefCell::default(),
        place: Cell::default(),
        warning_places: RefCell::default(),
    };
    repairs.iter().for_each(|what| file.warn(what));
    let extensions = extensions::used(&file.root);
    let mut ignored = Vec::new();
    for ExtensionUse { name, note, .. } in extensions
        .iter()
        .filter(|extension| extension.treatment == Treatment::Ignored)
    {
        file.warn(if file.requires(name) {
            format!(
                "needs the extension {name}, which canopy does not read ({note}); the rest of the file is \
                 shown"
            )
        } else {
            format!("uses the extension {name}, which canopy ignores ({note})")
        });
        let warning = file.warnings.borrow().len().saturating_sub(1);
        ignored.push((name.clone(), warning));
    }
    load.enter(format!("reading the buffers of {}", path.display()), 0.05)?;
    file.buffers = buffers(&file, container.bin.and_then(|range| bytes.part(range)));
    file.views = meshopt::views(&file, load)?;

    let mut scene = Scene {
        extensions,
        ..Scene::default()
    };
    scene.variants = variants::names(&file)?;
    let hierarchy = hierarchy::read(&file, load)?;
    let used = node::nodes(&file, &hierarchy, load, &mut scene)?;
    material::materials(&file, &mut scene)?;
    record_ignored(&file, &hierarchy, &ignored);
    volume::volumes(&file, &hierarchy, load, &mut scene)?;
    let images = texture::images(&file, &mut scene)?;
    let mut warnings = Vec::new();
    // Images are decoded in parallel with reading the geometry.
    let decoded = thread::scope(|threads| {
        let decoding = image::start(threads, &images, load)?;
        mesh::meshes(&file, &used, load, &mut scene)?;
        node::check(&file, &used, &mut scene)?;
        animation::clips(&file, &hierarchy, &pointers, load, &mut scene)?;
        decoding.finish(load, &mut warnings)
    })?;
    scene.images = decoded.images;
    image::forget_missing(&mut scene, &decoded.missing);
    warnings.iter().for_each(|what| file.warn(what));
    scene.warnings.append(&mut file.warnings.into_inner());
    scene.warning_places = file.warning_places.into_inner();
    let asset = file.root.asset;
    Ok((scene, [asset.generator, asset.copyright]))
}

/// Records the objects that use ignored extensions. `ignored` has the name of each extension and the index of
/// its warning.
fn record_ignored(file: &File<'_>, hierarchy: &Hierarchy, ignored: &[(String, usize)]) {
    let add = |others: &Map<String, Value>, place: WarningPlace| {
        for (name, warning) in ignored {
            if others.contains_key(name) {
                file.add_place(*warning, place);
            }
        }
    };
    for (index, material) in file.root.materials.iter().enumerate() {
        if let Some(extensions) = &material.extensions {
            add(&extensions.others, WarningPlace::Material(index));
        }
    }
    for (index, ordered) in hierarchy.order.iter().enumerate() {
        if let Some(extensions) = &file.root.nodes[ordered.node].extensions {
            add(&extensions.others, WarningPlace::Node(index));
        }
    }
}

/// Reads the bytes of every buffer. A missing buffer is an error only if something that is drawn reads it.
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
            // The buffer is a fallback, and the compressed stream that replaces it may be intact.
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
    missing.warn(file, "no visible object reads it");
    short.warn(file, "visible objects need no more");
    buffers
}
