//! OBJ with MTL, read by a parser of its own: every refusal names a line, and whatever can be made up for is only warned about.

mod mtl;
mod parse;
mod polygon;

use super::{
    Image, Material, Mesh, Node, Primitive, Scene, Texture, Transform,
    files::{Bytes, Folder, clip, shorten},
    image::{self, Source},
    load::{Budget, Load},
    surface,
};
use crate::Result;
use glam::{Quat, Vec2, Vec3};
use mtl::Map;
use parse::{Corner, Model};
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    path::Path,
    rc::Rc,
};

/// Triangles whose normals are further apart than this have a hard edge between them, where the file gives no normals.
const CREASE_RADIANS: f32 = std::f32::consts::FRAC_PI_3;

/// Beyond this many lines a file's warnings are counted and not kept.
const MAX_WARNINGS: usize = 100;

/// Triangles with the corners of the model that they lie between, and whether each is in a smoothing group.
type Triangles = Vec<([usize; 3], bool)>;

/// Loads the OBJ file `path`, whose bytes are `bytes`.
pub(super) fn load(path: &Path, bytes: &[u8], load: &mut Load<'_>) -> Result<Scene> {
    let mut warnings = Vec::new();
    load.enter(format!("parsing {}", path.display()), 0.1)?;
    let model = parse::parse(path, &parse::utf8(bytes), load, &mut warnings)?;
    let folder = load.folder(path)?;
    let mut scene = Scene::default();
    load.enter("reading materials", 0.3)?;
    let mut materials = Materials::read(path, &model, &folder, &mut warnings);
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

/// Triangulates the faces, and sorts them into a mesh per object and a primitive per material.
fn meshes(
    model: &Model,
    materials: &mut Materials<'_>,
    scene: &mut Scene,
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    // Triangles by object and material, as corners of the model.
    let mut groups: BTreeMap<(u32, usize), Triangles> = BTreeMap::new();
    let (mut unfinished, mut spare_tests) = (0, polygon::SPARE_TESTS);
    for face in &model.faces {
        load.progress().check()?;
        let corners = &model.corners[face.corners.clone()];
        let outline: Vec<Vec3> = corners
            .iter()
            .map(|c| model.positions[c.position as usize])
            .collect();
        let (triangles, complete) = polygon::triangulate(&outline, &mut spare_tests);
        unfinished += usize::from(!complete);
        let material = materials.place(face.material);
        let first = face.corners.start;
        groups.entry((face.object, material)).or_default().extend(
            triangles
                .iter()
                .map(|t| (t.map(|c| first + c), face.smooth)),
        );
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
        let vertices = primitive.positions.len() as u64;
        load.take(Budget::Vertices, vertices, || {
            format!("object \"{}\"", shorten(&model.objects[*object as usize]))
        })?;
        if object_before.replace(*object) != Some(*object) {
            let name = model.objects[*object as usize].clone();
            load.take(Budget::Nodes, 1, || {
                format!("object \"{}\"", shorten(&name))
            })?;
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
                ..Node::default()
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

/// Normals for the corners that have none in the file, by the corner; zero for the others.
fn generated_normals<'a>(
    model: &Model,
    triangles: impl Iterator<Item = &'a ([usize; 3], bool)>,
) -> Vec<Vec3> {
    let missing = |corner: usize| model.normal(&model.corners[corner]).is_none();
    let open: Triangles = triangles
        .filter(|(t, _)| t.iter().any(|&c| missing(c)))
        .copied()
        .collect();
    let positions: Vec<[u32; 3]> = open
        .iter()
        .map(|(t, _)| t.map(|c| model.corners[c].position))
        .collect();
    let smooth: Vec<bool> = open.iter().map(|(_, smooth)| *smooth).collect();
    let normals = surface::creased_normals(&model.positions, &positions, &smooth, CREASE_RADIANS);
    // A corner of a polygon is in several triangles; in the order of their making, the last one decides.
    let mut generated = vec![Vec3::ZERO; model.corners.len()];
    for ((corners, _), normals) in open.iter().zip(normals) {
        for (corner, normal) in corners.iter().zip(normals) {
            generated[*corner] = normal;
        }
    }
    generated
}

/// One vertex for every different combination of position, texture coordinates and normal.
fn primitive(
    model: &Model,
    material: usize,
    triangles: &[([usize; 3], bool)],
    generated: &[Vec3],
) -> Primitive {
    let mut out = Primitive {
        material,
        ..Primitive::default()
    };
    let corner = |c: usize| &model.corners[c];
    let used = |has: &dyn Fn(&Corner) -> bool| {
        let corners = triangles.iter().flat_map(|(t, _)| t);
        corners.into_iter().any(|&c| has(corner(c)))
    };
    let textured = used(&|c| model.uv(c).is_some());
    let coloured = used(&|c| model.color(c).is_some());
    let mut known: HashMap<(u32, u32, [u32; 3]), u32> = HashMap::new();
    for (triangle, _) in triangles {
        out.indices.push(triangle.map(|c| {
            let at = corner(c);
            let normal = model.normal(at).unwrap_or(generated[c]);
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
    named: Vec<Option<Rc<(mtl::Material, String)>>>,
    /// Used materials by the model's number, and their places.
    places: HashMap<Option<u32>, usize>,
    used: Vec<Option<u32>>,
}

impl<'a> Materials<'a> {
    fn read(path: &Path, model: &Model, folder: &'a Folder, warnings: &mut Vec<String>) -> Self {
        let mut found: HashMap<String, Rc<(mtl::Material, String)>> = HashMap::new();
        for library in &model.libraries {
            for (name, bytes) in open_library(path, library, folder, warnings) {
                let base = name
                    .rsplit_once(['/', '\\'])
                    .map_or(String::new(), |(base, _)| format!("{base}/"));
                for material in mtl::parse(&name, &bytes, warnings) {
                    found
                        .entry(material.name.clone())
                        .or_insert_with(|| Rc::new((material, base.clone())));
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
    fn place(&mut self, material: Option<u32>) -> usize {
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
            .map(|number| number.and_then(|n| self.named[n as usize].as_deref()))
            .collect();
        for (material, base) in used.iter().copied().flatten() {
            for map in material.maps() {
                images.add(base, map, warnings);
            }
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

/// The files of a `mtllib` line: one whose name holds spaces, or several. One that is not there gives way to the file that is called
/// as the OBJ is.
fn open_library(
    path: &Path,
    line: &str,
    folder: &Folder,
    warnings: &mut Vec<String>,
) -> Vec<(String, Bytes)> {
    let unquoted = |name: &str| name.trim_matches(['"', '\'']).to_owned();
    let open = |name: String| -> Result<(String, Bytes), String> {
        let (bytes, bare) = folder.beside(&name)?;
        Ok((bare.unwrap_or(name), bytes))
    };
    let why = match open(unquoted(line)) {
        Ok(file) => return vec![file],
        Err(why) => why,
    };
    let (files, faults): (Vec<_>, Vec<_>) = line
        .split_whitespace()
        .take(parse::MOST_LIBRARIES)
        .map(|name| open(unquoted(name)))
        .partition(Result::is_ok);
    let files: Vec<_> = files.into_iter().flatten().collect();
    if !files.is_empty() {
        let faults = faults.into_iter().filter_map(Result::err);
        warnings.extend(faults.map(|why| format!("mtllib: {why}; its materials are grey")));
        return files;
    }
    let own = path.with_extension("mtl");
    let own = own.file_name().and_then(|name| name.to_str());
    if let Some(Ok(file)) = own.map(|name| open(name.to_owned())) {
        warnings.push(format!("mtllib: {why}; {} is taken", file.0));
        return vec![file];
    }
    warnings.push(format!("mtllib: {why}; its materials are grey"));
    Vec::new()
}

/// Images that materials use, each once.
struct Images<'a> {
    folder: &'a Folder,
    sources: Vec<Source>,
    places: HashMap<String, usize>,
}

impl Images<'_> {
    fn add(&mut self, base: &str, map: &Map, warnings: &mut Vec<String>) {
        let key = format!("{base}{}", map.path);
        if self.places.contains_key(&key) {
            return;
        }
        // Beside the MTL, beside the OBJ, and, for paths from another machine, by the bare name.
        let open = |path: &str| self.folder.path(path).ok();
        let bytes = match self.folder.path(&key) {
            Ok(bytes) => Ok(bytes),
            Err(why) => open(&map.path).map_or_else(
                || {
                    let name = map.path.rsplit(['/', '\\']).next().unwrap_or_default();
                    let beside_mtl = format!("{base}{name}");
                    let found = open(&beside_mtl).map(|bytes| (bytes, Some(beside_mtl)));
                    let found = found.or_else(|| self.folder.beside(name).ok());
                    let (bytes, taken) = found.ok_or(why)?;
                    let (path, taken) = (shorten(&map.path), taken.unwrap_or(name.to_owned()));
                    warnings.push(format!("image {path} is not there; {taken} is taken"));
                    Ok(bytes)
                },
                Ok,
            ),
        };
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
    if let Some(map) = from.roughness_map.as_ref().or(from.metallic_map.as_ref()) {
        let (roughness, metallic) = (&from.roughness_map, &from.metallic_map);
        let packed = matches!((roughness, metallic), (Some(r), Some(m)) if r.path == m.path);
        let mut image = images.place(base, map);
        if !packed {
            let channel = |map: &Option<Map>, value: f32| match map {
                Some(map) => {
                    let image = &scene.images[images.place(base, map)];
                    Grey::Image(image, image.rgba8())
                }
                None => Grey::Value((value * 255.0).round() as u8),
            };
            let joined = roughness_metallic(
                &channel(roughness, from.roughness()),
                &channel(metallic, from.metallic()),
            );
            load.take(Budget::TextureBytes, joined.rgba8().len() as u64, || {
                format!("image {}", joined.name)
            })?;
            image = scene.images.len();
            scene.images.push(joined);
        }
        material.metallic_roughness_texture = add(scene, map, image);
        (material.roughness, material.metallic) = (1.0, 1.0);
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
            load.take(Budget::TextureBytes, masked.rgba8().len() as u64, || {
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

/// A grey image, or one value everywhere.
enum Grey<'a> {
    Image(&'a Image, Cow<'a, [u8]>),
    Value(u8),
}

impl Grey<'_> {
    /// The value at a texel of an image of another size.
    fn at(&self, [x, y]: [u32; 2], [width, height]: [u32; 2]) -> u8 {
        match self {
            Self::Value(value) => *value,
            Self::Image(image, rgba8) => {
                let scaled = |at: u32, from: u32, to: u32| {
                    (u64::from(at) * u64::from(to) / u64::from(from)) as usize
                };
                let row = scaled(y, height, image.height) * image.width as usize;
                rgba8[(row + scaled(x, width, image.width)) * 4]
            }
        }
    }
}

/// Roughness in green and metalness in blue, as glTF has them.
fn roughness_metallic(roughness: &Grey<'_>, metallic: &Grey<'_>) -> Image {
    let images = [roughness, metallic].map(|grey| match grey {
        Grey::Image(image, _) => Some(*image),
        Grey::Value(_) => None,
    });
    let sizes = || images.iter().flatten();
    let name = sizes().next().map(|image| image.name.clone());
    let width = sizes().map(|image| image.width).max().unwrap_or(1);
    let height = sizes().map(|image| image.height).max().unwrap_or(1);
    let texel = |i: u64| {
        let at = [i % u64::from(width), i / u64::from(width)].map(|place| place as u32);
        let [green, blue] = [roughness, metallic].map(|grey| grey.at(at, [width, height]));
        [255, green, blue, 255]
    };
    let rgba8 = (0..u64::from(width) * u64::from(height))
        .flat_map(texel)
        .collect();
    Image::from_rgba8(name.unwrap_or_default(), width, height, rgba8)
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
