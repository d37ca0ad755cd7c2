//! Files to a [`Scene`].

use super::{
    Material, Primitive, PropertyOf, Scene, Treatment,
    files::{self, Bytes, Folder},
    gltf,
    image::Takes,
    obj,
};
use crate::{Error, Result, config};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

/// How far a load has come; shared between the thread that loads and the one that shows it.
#[derive(Debug, Default)]
pub struct Progress {
    stage: Mutex<String>,
    /// Bits of an `f32`.
    fraction: AtomicU32,
    cancelled: AtomicBool,
}

impl Progress {
    /// What is being done, for a person to read: "decoding image 3 of 15".
    pub fn stage(&self) -> String {
        self.stage
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The share that is done, 0 to 1.
    pub fn fraction(&self) -> f32 {
        f32::from_bits(self.fraction.load(Ordering::Relaxed))
    }

    /// Asks the load to stop: it soon returns [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Fails once the load is cancelled.
    pub(super) fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            Err(Error::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Says what is being done now, and fails once the load is cancelled.
    pub fn enter(&self, stage: impl Into<String>) -> Result<()> {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage.into();
        self.check()
    }

    fn set_fraction(&self, fraction: f32) {
        self.fraction
            .store(fraction.clamp(0.0, 1.0).to_bits(), Ordering::Relaxed);
    }
}

/// A load under way: what it may cost, what it has cost so far in all its files, and where it tells how far it is.
#[derive(Debug)]
pub(super) struct Load<'a> {
    /// What the files may cost.
    pub(super) limits: &'a config::Load,
    /// The images that can be shown.
    pub(super) takes: Takes,
    progress: &'a Progress,
    /// The file being read, and how many there are.
    file: (usize, usize),
    /// Whether there is a folder whose files may be read.
    on_disk: bool,
    /// By [`Budget`].
    used: [u64; Budget::COUNT],
}

impl<'a> Load<'a> {
    fn new(limits: &'a config::Load, takes: Takes, progress: &'a Progress, files: usize) -> Self {
        Self {
            limits,
            takes,
            progress,
            file: (0, files),
            on_disk: true,
            used: [0; Budget::COUNT],
        }
    }

    /// Shared with threads.
    pub(super) fn progress(&self) -> &'a Progress {
        self.progress
    }

    /// Where the relative paths in `file` lead.
    pub(super) fn folder(&self, file: &Path) -> Result<Folder> {
        if !self.on_disk {
            return Ok(Folder::none());
        }
        Folder::of(
            file,
            self.limits.max_file_bytes,
            self.limits.max_total_bytes,
        )
    }

    /// Says what is being done; `done` is the share of this file, 0 to 1. Fails once the load is cancelled.
    pub(super) fn enter(&self, stage: impl Into<String>, done: f32) -> Result<()> {
        let (file, files) = self.file;
        self.progress
            .set_fraction((file as f32 + done) / files.max(1) as f32);
        self.progress.enter(stage)
    }

    /// Takes `count` of a budget from what the limits allow; `what` asks for them.
    pub(super) fn take(
        &mut self,
        budget: Budget,
        count: u64,
        what: impl FnOnce() -> String,
    ) -> Result<()> {
        let used = self.used[budget as usize].saturating_add(count);
        self.used[budget as usize] = used;
        self.check(budget, used, what)
    }

    /// What has been taken of a budget.
    pub(super) fn used(&self, budget: Budget) -> u64 {
        self.used[budget as usize]
    }

    /// Whether the limits allow `count` of a budget at once.
    pub(super) fn check(
        &self,
        budget: Budget,
        count: u64,
        what: impl FnOnce() -> String,
    ) -> Result<()> {
        let (allowed, unit, by) = budget.limit(self.limits);
        if count <= allowed {
            return Ok(());
        }
        Err(Error::Limit {
            what: what(),
            needed: format!("{count} {unit}"),
            allowed: format!("{allowed} {unit}"),
            by: by.into(),
        })
    }

    /// Bytes that further images may take.
    pub(super) fn texture_bytes_left(&self) -> u64 {
        let (allowed, ..) = Budget::TextureBytes.limit(self.limits);
        allowed.saturating_sub(self.used[Budget::TextureBytes as usize])
    }
}

/// What files may use up.
#[derive(Debug, Clone, Copy)]
pub(super) enum Budget {
    Triangles,
    /// Lines, and points.
    Lines,
    Vertices,
    /// Of one mesh, where a file holds none of them and they read as zeros.
    EmptyVertices,
    /// Of one file.
    JsonObjects,
    Nodes,
    Joints,
    MorphTargets,
    /// Of morph targets, joint influences and clips: a file can refer to the same bytes any number of times.
    AnimationBytes,
    /// Of decoded images.
    TextureBytes,
    /// Of decompressed buffer views: together they may be what a file may be.
    DecodedBytes,
}

impl Budget {
    /// How many there are.
    const COUNT: usize = Self::DecodedBytes as usize + 1;

    /// What is allowed, the unit, and the key that says so.
    fn limit(self, limits: &config::Load) -> (u64, &'static str, &'static str) {
        match self {
            Self::Triangles => (limits.max_triangles, "triangles", "load.max_triangles"),
            Self::Lines => (
                limits.max_triangles,
                "lines or points",
                "load.max_triangles",
            ),
            Self::Vertices => (limits.max_vertices, "vertices", "load.max_vertices"),
            Self::EmptyVertices => (
                limits.max_empty_vertices,
                "vertices without data",
                "load.max_empty_vertices",
            ),
            Self::JsonObjects => (
                limits.max_json_objects,
                "JSON objects",
                "load.max_json_objects",
            ),
            Self::Nodes => (limits.max_nodes, "nodes", "load.max_nodes"),
            Self::Joints => (limits.max_joints, "joints", "load.max_joints"),
            Self::MorphTargets => (
                limits.max_morph_targets,
                "morph targets",
                "load.max_morph_targets",
            ),
            Self::AnimationBytes => (limits.max_morph_bytes, "bytes", "load.max_morph_bytes"),
            Self::TextureBytes => (limits.max_texture_bytes, "bytes", "load.max_texture_bytes"),
            Self::DecodedBytes => (
                limits.max_file_bytes,
                "decompressed bytes",
                "load.max_file_bytes",
            ),
        }
    }
}

/// Said once of a file that holds any.
pub(super) const POINTS_AND_LINES: &str =
    "holds points or lines; they are one pixel wide, cast no shadows and send no rays";

/// What kind of scene file some bytes are.
#[derive(Debug, PartialEq, Eq)]
enum Format {
    Gltf,
    Obj,
}

impl Format {
    /// By content, which does not lie, then by extension.
    fn of(path: &Path, bytes: &[u8]) -> Option<Self> {
        let extension = path
            .extension()
            .map(|e| e.to_string_lossy().to_ascii_lowercase());
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.starts_with(b"glTF") || text.trim_ascii_start().starts_with(b"{") {
            return Some(Self::Gltf);
        }
        match extension.as_deref() {
            Some("obj") => Some(Self::Obj),
            Some("gltf" | "glb") => Some(Self::Gltf),
            _ => None,
        }
    }
}

/// The scene that is shown when no file is given.
const BUILT_IN: &[u8] = include_bytes!("../../assets/builtin.glb");

/// Loads `files` into one scene, or the built-in scene if there are none; its images have a byte a channel.
///
/// # Errors
///
/// [`Error::Io`] for a file that cannot be read, [`Error::Scene`] for one that is broken or asks for what canopy does not do,
/// [`Error::Limit`] for one that is larger than `limits`, and [`Error::Cancelled`] after [`Progress::cancel`]. What can be left
/// out or replaced without harm (a texture, an unknown extension) is a line in [`Scene::warnings`] instead.
pub fn load(files: &[PathBuf], limits: &config::Load, progress: &Progress) -> Result<Scene> {
    load_for(files, limits, Takes::default(), progress)
}

/// Like [`load`], with images as the one who shows them takes them.
///
/// # Errors
///
/// As for [`load`].
pub fn load_for(
    files: &[PathBuf],
    limits: &config::Load,
    takes: Takes,
    progress: &Progress,
) -> Result<Scene> {
    let mut load = Load::new(limits, takes, progress, files.len());
    let mut scene = Scene::default();
    for (index, path) in files.iter().enumerate() {
        load.file.0 = index;
        load.enter(format!("reading {}", path.display()), 0.0)?;
        let bytes = files::read_file(path, limits.max_file_bytes)?;
        append(&mut scene, parse(path, bytes.into(), &mut load)?);
    }
    if files.is_empty() {
        scene = parse(Path::new("builtin.glb"), BUILT_IN.into(), &mut load)?;
    }
    progress.set_fraction(1.0);
    progress.enter("loaded")?;
    Ok(scene)
}

/// Loads one scene from `bytes`, of the kind that they or the ending of `name` say. Nothing but these bytes is read: what they
/// refer to is missing, unless it is a data URI.
///
/// # Errors
///
/// As [`load`].
pub fn load_bytes(
    name: &str,
    bytes: &[u8],
    limits: &config::Load,
    progress: &Progress,
) -> Result<Scene> {
    let mut load = Load::new(limits, Takes::default(), progress, 1);
    load.on_disk = false;
    parse(Path::new(name), bytes.to_vec().into(), &mut load)
}

/// The scene that one file holds.
fn parse(path: &Path, bytes: Bytes, load: &mut Load<'_>) -> Result<Scene> {
    let mut scene = match Format::of(path, &bytes) {
        Some(Format::Gltf) => gltf::load(path, &bytes, load)?,
        Some(Format::Obj) => obj::load(path, &bytes, load)?,
        None => {
            return Err(Error::scene(
                path,
                "is not a scene file; canopy opens glTF 2.0 (.gltf, .glb) and OBJ (.obj), and light from all around with --env",
            ));
        }
    };
    if scene.instances().all(|(_, mesh)| {
        let primitives = &scene.meshes[mesh].primitives;
        primitives.iter().all(Primitive::is_empty)
    }) {
        let mut required = scene.extensions.iter().filter(|e| e.required);
        if let Some(missing) = required.find(|e| e.treatment == Treatment::Ignored) {
            return Err(Error::scene(
                path,
                format!(
                    "holds no triangles without the extension {}, which canopy does not read",
                    missing.name
                ),
            ));
        }
        let line = format!(
            "{}: holds no triangles; there is nothing to see",
            path.display()
        );
        scene.warnings.push(line);
    }
    Ok(scene)
}

/// Adds `other` to `scene`, moving its indices past those that are there.
fn append(scene: &mut Scene, mut other: Scene) {
    let [nodes, meshes, skins, materials] = [
        scene.nodes.len(),
        scene.meshes.len(),
        scene.skins.len(),
        scene.materials.len(),
    ];
    // A variant of several files is one, so that it is chosen in all of them.
    let named = |(number, name): (usize, &String)| (name.clone(), number);
    let mut known: HashMap<String, usize> = scene.variants.iter().enumerate().map(named).collect();
    let number = |name: String| {
        *known.entry(name).or_insert_with_key(|name| {
            scene.variants.push(name.clone());
            scene.variants.len() - 1
        })
    };
    let variants: Vec<usize> = other.variants.drain(..).map(number).collect();
    let [textures, images, lights, cameras] = [
        scene.textures.len(),
        scene.images.len(),
        scene.lights.len(),
        scene.cameras.len(),
    ];
    let moved = |index: &mut Option<usize>, by: usize| *index = index.map(|i| i + by);
    for node in &mut other.nodes {
        moved(&mut node.parent, nodes);
        moved(&mut node.mesh, meshes);
        moved(&mut node.skin, skins);
        moved(&mut node.light, lights);
        moved(&mut node.camera, cameras);
    }
    for primitive in other.meshes.iter_mut().flat_map(|m| &mut m.primitives) {
        primitive.material += materials;
        for (variant, material) in &mut primitive.variants {
            *variant = variant.map(|variant| variants[variant]);
            *material += materials;
        }
    }
    for joint in other.skins.iter_mut().flat_map(|s| &mut s.joints) {
        *joint += nodes;
    }
    for reference in other.materials.iter_mut().flat_map(Material::textures_mut) {
        reference.texture += textures;
    }
    for texture in &mut other.textures {
        texture.image += images;
    }
    for channel in other.clips.iter_mut().flat_map(|c| &mut c.channels) {
        channel.target += match channel.property.of() {
            PropertyOf::Node => nodes,
            PropertyOf::Material => materials,
            PropertyOf::Light => lights,
            PropertyOf::Camera => cameras,
        };
    }
    scene.nodes.append(&mut other.nodes);
    scene.meshes.append(&mut other.meshes);
    scene.skins.append(&mut other.skins);
    scene.materials.append(&mut other.materials);
    scene.textures.append(&mut other.textures);
    scene.images.append(&mut other.images);
    scene.clips.append(&mut other.clips);
    scene.lights.append(&mut other.lights);
    scene.cameras.append(&mut other.cameras);
    for extension in other.extensions {
        match scene
            .extensions
            .binary_search_by(|e| e.name.cmp(&extension.name))
        {
            Ok(at) => scene.extensions[at].required |= extension.required,
            Err(at) => scene.extensions.insert(at, extension),
        }
    }
    scene.warnings.append(&mut other.warnings);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_go_by_content_then_extension() {
        for (path, bytes, format) in [
            ("a.GLB", &b"glTF..."[..], Some(Format::Gltf)),
            ("a.obj", b"glTF...", Some(Format::Gltf)),
            ("a", b" \n{}", Some(Format::Gltf)),
            ("a.txt", b"\xef\xbb\xbf{}", Some(Format::Gltf)),
            ("a.OBJ", b"v 0 0 0", Some(Format::Obj)),
            ("a.gltf", b"<html>", Some(Format::Gltf)),
            ("a.fbx", b"Kaydara", None),
            ("a", b"", None),
        ] {
            assert_eq!(Format::of(Path::new(path), bytes), format, "{path}");
        }
    }

    #[test]
    fn progress_is_cancelled_and_shared() {
        fn shared<T: Sync>(_: &T) {}
        let progress = Progress::default();
        shared(&progress);
        progress.enter("reading").unwrap();
        assert_eq!(progress.stage(), "reading");
        progress.cancel();
        assert!(matches!(progress.check(), Err(Error::Cancelled)));
    }
}
