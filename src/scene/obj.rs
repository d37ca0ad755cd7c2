//! OBJ with MTL, read by a parser of its own: every refusal names a line, and whatever can be made up for is only warned about.

mod mtl;
mod parse;
mod polygon;

use super::{
    Image, Material, Mesh, Node, Primitive, Scene, Texture, Transform,
    files::{Bytes, Folder, shorten},
    image::{self, Source},
    load::Load,
    surface,
};
use crate::{Error, Result};
use glam::{Quat, Vec2, Vec3};
use mtl::Map;
use parse::{Corner, Model};
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

/// Triangles whose normals are further apart than this have a hard edge between them, where the file gives no normals.
const CREASE_RADIANS: f32 = std::f32::consts::FRAC_PI_3;

/// Loads the OBJ file `path`, whose bytes are `bytes`.
pub(super) fn load(path: &Path, bytes: &[u8], load: &mut Load<'_>) -> Result<Scene> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Error::scene(
            path,
            "is UTF-16; canopy reads OBJ in ASCII and UTF-8",
        ));
    }
    let mut warnings = Vec::new();
    load.enter(format!("parsing {}", path.display()), 0.1)?;
    let model = parse::parse(path, &parse::text(bytes), load, &mut warnings)?;
    let folder = Folder::of(path, load.limits.max_file_bytes)?;
    let mut scene = Scene::default();
    load.enter("reading materials", 0.3)?;
    let mut materials = Materials::read(&model, &folder, &mut warnings);
    load.enter("building triangles", 0.4)?;
    meshes(&model, &mut materials, &mut scene, load, &mut warnings)?;
    load.enter("decoding images", 0.6)?;
    materials.finish(&mut scene, load, &mut warnings)?;
    for primitive in scene.meshes.iter_mut().flat_map(|m| &mut m.primitives) {
        load.progress().check()?;
        match scene.materials[primitive.material].normal_texture {
            Some(texture) => surface::tangents(primitive, texture.uv_set),
            None => primitive.tangents = surface::any_tangents(&primitive.normals),
        }
    }
    scene.warnings.extend(
        warnings
            .iter()
            .map(|what| format!("{}: {what}", path.display())),
    );
    Ok(scene)
}

/// Triangulates the faces, and sorts them into a mesh per object and a primitive per material.
fn meshes(
    model: &Model,
    materials: &mut Materials<'_>,
    scene: &mut Scene,
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    // Triangles by object and material, as corners of the model.
    let mut groups: BTreeMap<(usize, usize), Vec<[usize; 3]>> = BTreeMap::new();
    let mut unfinished = 0;
    for face in &model.faces {
        load.progress().check()?;
        let corners = &model.corners[face.corners.clone()];
        let outline: Vec<Vec3> = corners
            .iter()
            .map(|c| model.positions[c.position as usize])
            .collect();
        let (triangles, complete) = polygon::triangulate(&outline);
        unfinished += usize::from(!complete);
        let material = materials.place(face.material);
        let first = face.corners.start;
        groups
            .entry((face.object, material))
            .or_default()
            .extend(triangles.iter().map(|t| t.map(|c| first + c)));
    }
    if unfinished > 0 {
        warnings.push(format!(
            "{unfinished} polygons cross themselves or are too intricate, and are cut into fans"
        ));
    }
    let normals = generated_normals(model, groups.values().flatten());
    let mut object_before = None;
    for ((object, material), triangles) in &groups {
        load.progress().check()?;
        let primitive = primitive(model, *material, triangles, &normals);
        if object_before.replace(*object) != Some(*object) {
            let name = model.objects[*object].clone();
            load.take_nodes(1, || format!("object \"{}\"", shorten(&name)))?;
            scene.nodes.push(Node {
                name: name.clone(),
                parent: None,
                transform: Transform::Trs {
                    translation: Vec3::ZERO,
                    rotation: Quat::IDENTITY,
                    scale: Vec3::ONE,
                },
                mesh: Some(scene.meshes.len()),
                skin: None,
                weights: Vec::new(),
                light: None,
                camera: None,
            });
            scene.meshes.push(Mesh {
                name,
                primitives: Vec::new(),
            });
        }
        if let Some(mesh) = scene.meshes.last_mut() {
            mesh.primitives.push(primitive);
        }
    }
    Ok(())
}

/// Normals for the corners that have none in the file.
fn generated_normals<'a>(
    model: &Model,
    triangles: impl Iterator<Item = &'a [usize; 3]>,
) -> HashMap<usize, Vec3> {
    let missing = |corner: usize| model.normal(&model.corners[corner]).is_none();
    let open: Vec<[usize; 3]> = triangles
        .filter(|t| t.iter().any(|&c| missing(c)))
        .copied()
        .collect();
    let positions: Vec<[u32; 3]> = open
        .iter()
        .map(|t| t.map(|c| model.corners[c].position))
        .collect();
    let smooth: Vec<bool> = open.iter().map(|t| model.corners[t[0]].smooth).collect();
    let normals = surface::creased_normals(&model.positions, &positions, &smooth, CREASE_RADIANS);
    // A corner of a polygon is in several triangles; in the order of their making, the last one decides.
    open.as_flattened()
        .iter()
        .copied()
        .zip(normals.into_iter().flatten())
        .collect()
}

/// One vertex for every different combination of position, texture coordinates and normal.
fn primitive(
    model: &Model,
    material: usize,
    triangles: &[[usize; 3]],
    generated: &HashMap<usize, Vec3>,
) -> Primitive {
    let mut out = Primitive {
        material,
        ..Primitive::default()
    };
    let corner = |c: usize| &model.corners[c];
    let used = |has: &dyn Fn(&Corner) -> bool| triangles.iter().flatten().any(|&c| has(corner(c)));
    let textured = used(&|c| model.uv(c).is_some());
    let coloured = used(&|c| model.color(c).is_some());
    let mut known: HashMap<(u32, Option<u32>, [u32; 3]), u32> = HashMap::new();
    for triangle in triangles {
        out.indices.push(triangle.map(|c| {
            let at = corner(c);
            let normal = model
                .normal(at)
                .or_else(|| generated.get(&c).copied())
                .unwrap_or(Vec3::Y);
            *known
                .entry((at.position, at.uv, normal.to_array().map(f32::to_bits)))
                .or_insert_with(|| {
                    out.positions.push(model.positions[at.position as usize]);
                    out.normals.push(normal);
                    if textured {
                        out.uv0.push(model.uv(at).unwrap_or(Vec2::ZERO));
                    }
                    if coloured {
                        out.colors
                            .push(model.color(at).unwrap_or(Vec3::ONE).extend(1.0));
                    }
                    out.positions.len() as u32 - 1
                })
        }));
    }
    out
}

/// The materials of the MTL files, those that faces use, and the images behind them.
struct Materials<'a> {
    folder: &'a Folder,
    /// Those of the libraries that `usemtl` names, by the model's number of the name.
    named: Vec<Option<(mtl::Material, String)>>,
    /// Used materials by the model's number, and their places.
    places: HashMap<Option<usize>, usize>,
    used: Vec<Option<usize>>,
}

impl<'a> Materials<'a> {
    fn read(model: &Model, folder: &'a Folder, warnings: &mut Vec<String>) -> Self {
        let mut found: HashMap<String, (mtl::Material, String)> = HashMap::new();
        for library in &model.libraries {
            for (name, bytes) in open_library(library, folder, warnings) {
                let base = name
                    .rsplit_once(['/', '\\'])
                    .map_or(String::new(), |(base, _)| format!("{base}/"));
                for material in mtl::parse(&name, &parse::text(&bytes), warnings) {
                    found
                        .entry(material.name.clone())
                        .or_insert_with(|| (material, base.clone()));
                }
            }
        }
        let named = model.materials.iter().map(|name| {
            let material = found.get(name).cloned();
            if material.is_none() {
                warnings.push(format!(
                    "material \"{}\" is not defined; it is grey",
                    shorten(name)
                ));
            }
            material
        });
        Self {
            folder,
            named: named.collect(),
            places: HashMap::new(),
            used: Vec::new(),
        }
    }

    /// The scene's number of the material that the model numbers `material`.
    fn place(&mut self, material: Option<usize>) -> usize {
        *self.places.entry(material).or_insert_with(|| {
            self.used.push(material);
            self.used.len() - 1
        })
    }

    /// Decodes the images and fills the scene's materials, textures and images.
    fn finish(
        self,
        scene: &mut Scene,
        load: &mut Load<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let mut images = Images {
            folder: self.folder,
            sources: Vec::new(),
            places: HashMap::new(),
        };
        let used: Vec<_> = self
            .used
            .iter()
            .map(|number| number.and_then(|n| self.named[n].as_ref()))
            .collect();
        for (material, base) in used.iter().flatten() {
            material.maps().for_each(|map| images.add(base, map));
        }
        scene.images = image::decode_all(&images.sources, load, warnings)?;
        for (number, found) in self.used.iter().zip(&used) {
            let material = match found {
                Some((material, base)) => build(material, base, &images, scene, load, warnings)?,
                None => mtl::default_material(number.map_or("", |_| "undefined")),
            };
            scene.materials.push(material);
        }
        Ok(())
    }
}

/// The files of a `mtllib` line: one whose name holds spaces, or several.
fn open_library(line: &str, folder: &Folder, warnings: &mut Vec<String>) -> Vec<(String, Bytes)> {
    let whole = folder.path(line);
    if let Ok(bytes) = whole {
        return vec![(line.to_owned(), bytes)];
    }
    let names: Vec<&str> = line.split_whitespace().collect();
    let mut files = Vec::new();
    for name in names {
        match folder.path(name) {
            Ok(bytes) => files.push((name.to_owned(), bytes)),
            Err(why) => warnings.push(format!("mtllib: {why}; its materials are grey")),
        }
    }
    files
}

/// Images that materials use, each once.
struct Images<'a> {
    folder: &'a Folder,
    sources: Vec<Source>,
    places: HashMap<String, usize>,
}

impl Images<'_> {
    fn add(&mut self, base: &str, map: &Map) {
        let key = format!("{base}{}", map.path);
        if self.places.contains_key(&key) {
            return;
        }
        // Beside the MTL, beside the OBJ, and, for paths from another machine, by the bare name.
        let name = map.path.rsplit(['/', '\\']).next().unwrap_or_default();
        let first = self.folder.path(&key);
        let others = [map.path.clone(), format!("{base}{name}"), name.to_owned()];
        let bytes = first.or_else(|why| {
            others
                .iter()
                .find_map(|path| self.folder.path(path).ok())
                .ok_or(why)
        });
        self.places.insert(key, self.sources.len());
        self.sources.push(Source::plain(shorten(&map.path), bytes));
    }

    fn place(&self, base: &str, map: &Map) -> usize {
        self.places
            .get(&format!("{base}{}", map.path))
            .copied()
            .unwrap_or(0)
    }
}

/// A material with its textures, which are added to the scene.
fn build(
    from: &mtl::Material,
    base: &str,
    images: &Images<'_>,
    scene: &mut Scene,
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<Material> {
    let mut material = from.to_material();
    let add = |scene: &mut Scene, map: &Map, image: usize| {
        let texture = Texture {
            image,
            sampler: map.sampler(),
        };
        let place = scene
            .textures
            .iter()
            .position(|t| *t == texture)
            .unwrap_or_else(|| {
                scene.textures.push(texture);
                scene.textures.len() - 1
            });
        Some(map.reference(place))
    };
    if let Some(map) = &from.emissive_map {
        material.emissive_texture = add(scene, map, images.place(base, map));
    }
    if let Some(map) = &from.normal_map {
        let image = images.place(base, map);
        let grey = scene.images[image]
            .rgba8()
            .chunks_exact(4)
            .all(|t| t[0] == t[1] && t[1] == t[2]);
        if grey {
            warnings.push(format!(
                "{} of material \"{}\" is a height map, which canopy ignores",
                map.path, from.name
            ));
        } else {
            material.normal_texture = add(scene, map, image);
        }
    }
    let color = from.color_map.as_ref().map(|map| images.place(base, map));
    match (&from.color_map, &from.alpha_map) {
        (Some(map), Some(alpha)) if map.path == alpha.path => {
            material.base_color_texture = add(scene, map, images.place(base, map));
        }
        (map, Some(alpha)) => {
            let masked = with_alpha(
                color.map(|c| &scene.images[c]),
                &scene.images[images.place(base, alpha)],
            );
            load.take_texture_bytes(masked.rgba8().len() as u64, || {
                format!("image {}", masked.name)
            })?;
            scene.images.push(masked);
            material.base_color_texture =
                add(scene, map.as_ref().unwrap_or(alpha), scene.images.len() - 1);
        }
        (Some(map), None) => material.base_color_texture = add(scene, map, images.place(base, map)),
        (None, None) => {}
    }
    Ok(material)
}

/// `color`, or white, with the alpha of a `map_d`: its alpha channel if it has one, else its brightness.
fn with_alpha(color: Option<&Image>, alpha: &Image) -> Image {
    let alphas = alpha.rgba8();
    let colors = color.map(Image::rgba8);
    let has_alpha = alphas.chunks_exact(4).any(|t| t[3] < 255);
    let size = color.unwrap_or(alpha);
    let (width, height) = (size.width as usize, size.height as usize);
    let mut rgba8 = Vec::with_capacity(width * height * 4);
    for y in 0..height {
        for x in 0..width {
            let [ax, ay] = [
                x * alpha.width as usize / width,
                y * alpha.height as usize / height,
            ];
            let a = &alphas[(ay * alpha.width as usize + ax) * 4..][..4];
            let rgb = colors.as_ref().map_or([255; 3], |c| {
                let t = &c[(y * width + x) * 4..];
                [t[0], t[1], t[2]]
            });
            rgba8.extend(rgb);
            rgba8.push(if has_alpha { a[3] } else { a[0] });
        }
    }
    Image::from_rgba8(&size.name, size.width, size.height, rgba8)
}

/// A colour as displayed to a linear one (IEC 61966-2-1).
fn linear(srgb: Vec3) -> Vec3 {
    let channel = |c: f32| {
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    };
    srgb.clamp(Vec3::ZERO, Vec3::ONE).map(channel)
}
