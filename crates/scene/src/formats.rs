//! Detects the format of scene files, and loads one or several files into a [`Scene`].

use super::{
    files::{self, Bytes},
    folder, gltf,
    graph::{Scene, Source, Treatment, UpHint},
    image::TextureSupport,
    load::{Load, Progress},
    merge::append,
    mesh::Primitive,
    node::Node,
    obj,
    volume::load::{self as volume_load, VolumeFormat},
};
use crate::{Error, Result, settings};
use std::path::{Path, PathBuf};

/// Format of a scene file.
#[derive(Debug, PartialEq, Eq)]
enum SceneFileFormat {
    Gltf,
    Obj,
    Volume(VolumeFormat),
}

impl SceneFileFormat {
    /// Detects the format by content, or else by extension.
    fn of(path: &Path, bytes: &[u8]) -> Option<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.starts_with(b"glTF") || text.trim_ascii_start().starts_with(b"{") {
            return Some(Self::Gltf);
        }
        if let Some(format) = VolumeFormat::of(bytes) {
            return Some(Self::Volume(format));
        }
        match extension.as_deref() {
            Some("obj") => Some(Self::Obj),
            Some("gltf" | "glb") => Some(Self::Gltf),
            // Standard input has no extension.
            None if is_obj(text) => Some(Self::Obj),
            None => None,
            Some(extension) => VolumeFormat::of_extension(extension).map(Self::Volume),
        }
    }
}

/// True if the first line that is not a comment is a statement that OBJ files begin with.
fn is_obj(text: &[u8]) -> bool {
    const FIRST: [&[u8]; 9] = [b"v", b"vn", b"vt", b"o", b"g", b"s", b"mtllib", b"usemtl", b"f"];
    let mut lines = text.split(|&b| b == b'\n' || b == b'\r');
    let first = lines.find(|line| {
        let line = line.trim_ascii_start();
        !line.is_empty() && !line.starts_with(b"#")
    });
    let word = first.and_then(|line| line.trim_ascii().split(u8::is_ascii_whitespace).next());
    word.is_some_and(|word| FIRST.contains(&word))
}

/// Built-in scene, which is shown if no file is given.
const BUILT_IN: &[u8] = include_bytes!("../../../assets/builtin.glb");

/// Loads `files` into one scene, or the built-in scene if there are none. Its images have eight bits per
/// channel. For a folder, the scene in it is loaded ([`folder::resolved`]). The name `-` means standard
/// input.
///
/// # Errors
///
/// Any error of [`folder::resolved`], [`Error::Io`] for a file that cannot be read, and [`Error::Limit`] for
/// one that is larger than `limits`. [`Error::Scene`] for a file that is broken or needs unsupported
/// features. [`Error::Cancelled`] after [`Progress::cancel`].
///
/// Anything that can be left out or replaced without harm, such as a texture or an unknown extension, is a
/// line in [`Scene::warnings`] instead.
pub fn load(files: &[PathBuf], limits: &settings::Load, progress: &Progress) -> Result<Scene> {
    load_for(files, limits, TextureSupport::default(), progress)
}

/// Loads like [`load`], but with images in the formats that the renderer supports.
///
/// # Errors
///
/// Any error of [`load`].
pub fn load_for(
    files: &[PathBuf],
    limits: &settings::Load,
    supported: TextureSupport,
    progress: &Progress,
) -> Result<Scene> {
    let files = &folder::resolved(files)?;
    let mut load = Load::new(limits, supported, progress, files.len());
    let mut scene = Scene::default();
    let mut up_hints = Vec::new();
    for (index, path) in files.iter().enumerate() {
        load.file.0 = index;
        // Standard input has no folder with other files.
        load.on_disk = !files::is_stdin(path);
        let name = if load.on_disk {
            load.sources.add(path.clone());
            path
        } else {
            Path::new(files::STDIN)
        };
        load.enter(format!("reading {}", name.display()), 0.0)?;
        let bytes = files::read_file(path, limits.max_file_bytes)?;
        let part = parse(name, bytes.into(), &mut load)?;
        up_hints.push(part.up);
        append(&mut scene, part);
    }
    scene.up = UpHint::of_all(&up_hints);
    scene.dependencies = load.sources.list();
    if files.is_empty() {
        scene = parse(Path::new("the built-in scene"), BUILT_IN.into(), &mut load)?;
        scene.is_outdoors = true;
    }
    progress.set_fraction(1.0);
    progress.enter("loaded")?;
    Ok(scene)
}

/// Loads one scene from `bytes`, whose format is detected from the bytes or the extension of `name`. No file
/// is read, so files that the bytes refer to are missing. Data URIs work.
///
/// # Errors
///
/// Any error of [`load`].
pub fn load_bytes(name: &str, bytes: &[u8], limits: &settings::Load, progress: &Progress) -> Result<Scene> {
    let mut load = Load::new(limits, TextureSupport::default(), progress, 1);
    load.on_disk = false;
    parse(Path::new(name), bytes.to_vec().into(), &mut load)
}

/// Loads the scene of one file.
fn parse(path: &Path, bytes: Bytes, load: &mut Load<'_>) -> Result<Scene> {
    let is_binary = bytes.starts_with(b"glTF");
    let (mut scene, format, made) = match SceneFileFormat::of(path, &bytes) {
        Some(SceneFileFormat::Gltf) => {
            let (scene, made) = gltf::load(path, &bytes, load)?;
            let format = if is_binary {
                "glTF 2.0 (binary)"
            } else {
                "glTF 2.0"
            };
            (scene, format, made)
        }
        Some(SceneFileFormat::Obj) => {
            let made = [obj::first_comment(&bytes), None];
            (obj::load(path, &bytes, load)?, "OBJ", made)
        }
        Some(SceneFileFormat::Volume(format)) => {
            let loaded = volume_load::load(path, &bytes, format, load)?;
            let scene = Scene {
                nodes: vec![Node {
                    name: loaded.volume.name.clone(),
                    volume: Some(0),
                    ..Node::default()
                }],
                volumes: vec![loaded.volume],
                warnings: loaded
                    .warnings
                    .iter()
                    .map(|what| format!("{}: {what}", path.display()))
                    .collect(),
                ..Scene::default()
            };
            (scene, format.name(), [loaded.generator, None])
        }
        None => {
            return Err(Error::scene(
                path,
                "is not a scene file; canopy opens glTF 2.0 (.gltf, .glb), OBJ (.obj) and volumes (.vdb, \
                 .nvdb, .nrrd, .nhdr, .nii, .nii.gz), and environments with --env",
            ));
        }
    };
    let [generator, copyright] = made.map(|text| text.map(|text| files::shorten(text.trim())));
    scene.sources.push(Source {
        name: path.display().to_string(),
        format,
        bytes: bytes.len() as u64,
        generator: generator.filter(|text| !text.is_empty()),
        copyright: copyright.filter(|text| !text.is_empty()),
    });
    let has_triangles = scene.instances().any(|(_, mesh)| {
        let primitives = &scene.meshes[mesh].primitives;
        !primitives.iter().all(Primitive::is_empty)
    });
    if !has_triangles && scene.volumes.is_empty() {
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
        let line = format!("{}: holds no triangles; there is nothing to see", path.display());
        scene.warnings.push(line);
    }
    Ok(scene)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_name_their_generator() {
        let limits = settings::Settings::default().load;
        let load = |name: &str, bytes: &[u8]| {
            let scene = load_bytes(name, bytes, &limits, &Progress::default()).unwrap();
            scene.sources[0].clone()
        };
        let source = load("a.obj", b"# Blender 4.2\nv 0 0 0\n");
        assert_eq!(source.generator.as_deref(), Some("Blender 4.2"));
        assert_eq!((source.format, source.bytes), ("OBJ", 22));
        let json = br#"{"asset":{"version":"2.0","generator":"a tool","copyright":" "}}"#;
        let source = load("b.gltf", json);
        assert_eq!(source.generator.as_deref(), Some("a tool"));
        assert_eq!((source.name.as_str(), source.copyright), ("b.gltf", None));
    }

    #[test]
    fn formats_are_detected_by_content_then_by_extension() {
        for (path, bytes, format) in [
            ("a.GLB", &b"glTF..."[..], Some(SceneFileFormat::Gltf)),
            ("a.obj", b"glTF...", Some(SceneFileFormat::Gltf)),
            ("a", b" \n{}", Some(SceneFileFormat::Gltf)),
            ("a.txt", b"\xef\xbb\xbf{}", Some(SceneFileFormat::Gltf)),
            ("a.OBJ", b"v 0 0 0", Some(SceneFileFormat::Obj)),
            ("a.gltf", b"<html>", Some(SceneFileFormat::Gltf)),
            ("a.fbx", b"Kaydara", None),
            (
                "a",
                b"# made by hand\r\n\r\nmtllib a.mtl\n",
                Some(SceneFileFormat::Obj),
            ),
            (
                "standard input",
                b"\xef\xbb\xbfv 0 0 0",
                Some(SceneFileFormat::Obj),
            ),
            ("a.txt", b"v 0 0 0", None),
            ("a", b"very different", None),
            ("a", b"", None),
        ] {
            assert_eq!(SceneFileFormat::of(Path::new(path), bytes), format, "{path}");
        }
    }
}
