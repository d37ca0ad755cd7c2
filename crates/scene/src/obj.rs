//! OBJ with MTL, read by the crate tobj.
//!
//! tobj reads the numbers, the indices and the vertex colours of an OBJ, and the statements of an MTL.
//!
//! canopy rewrites the lines before tobj reads them (`sanitize`, and the first half of `mtl`), because tobj
//! has these limits:
//!
//! - It refuses a file because of a single line that it does not understand.
//! - It reads only UTF-8, divides positions by their w, and skips points.
//! - It does not report the smoothing group of a face, nor which corners have texture coordinates and
//!   normals.
//!
//! So canopy decodes the text and joins continued lines. Lines that tobj would refuse are left out, with a
//! warning about the line. All vertices are written first, because a face may precede its vertices, and
//! therefore relative indices become absolute. `g N` is written wherever the object, group, smoothing group,
//! material or kind of element changes. N is a row in a table of these. Each model that tobj returns is thus
//! uniform, and its name identifies its row. `model` joins the models, so that faces share the vertices of
//! the file.
//!
//! canopy also finds and reads all files (`materials`), because tobj would open any path. It triangulates
//! polygons (`polygon`) and computes missing normals (`meshes`), because tobj makes fans and no normals.

mod materials;
mod meshes;
mod model;
mod mtl;
mod polygon;
mod sanitize;
mod text;

use super::{
    files::clip,
    graph::{Scene, UpHint},
    load::Load,
    surface, up,
};
use crate::Result;
use materials::Materials;
use std::path::Path;

/// Maximum number of warnings for a file. Further ones are only counted.
const MAX_WARNINGS: usize = 100;

/// Returns the comment in the first line, which usually contains the exporter's name.
pub(super) fn first_comment(bytes: &[u8]) -> Option<String> {
    const MAX_BYTES: usize = 800;
    let start = text::utf8(&bytes[..bytes.len().min(MAX_BYTES)]);
    let line = start.split(|&b| b == b'\n' || b == b'\r').next()?;
    let comment = line.trim_ascii_start().strip_prefix(b"#")?;
    let comment = String::from_utf8_lossy(comment);
    Some(comment.trim_start_matches('#').into())
}

/// Loads the OBJ file `path` with the contents `bytes`.
pub(super) fn load(path: &Path, bytes: &[u8], load: &mut Load<'_>) -> Result<Scene> {
    let mut warnings = Vec::new();
    load.enter(format!("parsing {}", path.display()), 0.1)?;
    let (model, stated) = {
        let text = text::utf8(bytes);
        let model = model::read(path, &text, load, &mut warnings)?;
        (model, up::stated(&text))
    };
    let folder = load.folder(path)?;
    let mut scene = Scene::default();
    load.enter("reading materials", 0.3)?;
    let mut materials = Materials::read(path, &model, &folder, &mut warnings);
    if let Some(image) = materials.image_of_own_name(path, &model) {
        if load.limits.obj_texture {
            materials.color_all(&image);
        } else {
            scene.unused_texture = Some(image);
        }
    }
    load.enter("building triangles", 0.4)?;
    meshes::build(&model, &mut materials, &mut scene, load, &mut warnings)?;
    load.enter("decoding images", 0.6)?;
    materials.finish(&mut scene, load, &mut warnings)?;
    for primitive in scene.meshes.iter_mut().flat_map(|m| &mut m.primitives) {
        load.progress().check()?;
        match scene.materials[primitive.material].normal_texture {
            Some(texture) if !primitive.indices.is_empty() => {
                surface::tangents(primitive, texture.uv_set);
            }
            _ => primitive.tangents = surface::any_tangents(&primitive.normals),
        }
    }
    scene.up = match stated {
        Some(axis) => UpHint::Stated(axis),
        None => up::stands(&scene),
    };
    let more = warnings.len().saturating_sub(MAX_WARNINGS);
    warnings.truncate(MAX_WARNINGS);
    if more > 0 {
        warnings.push(format!("{more} further warnings are left out"));
    }
    scene.warnings.extend(
        warnings
            .iter()
            .map(|what| format!("{}: {}", path.display(), clip(what, 300))),
    );
    Ok(scene)
}
