//! OBJ with MTL, read by a parser of its own: every refusal names a line, and whatever can be made up for is only warned about.

mod mtl;
mod parse;
mod polygon;

use super::{
    Image, Material, Mesh, Node, Primitive, Scene, Shading, Texture, TextureRef, Transform,
    files::{Bytes, Folder, clip, shorten},
    image::{self, EncodedImage, Role, Uses},
    load::{Budget, Load, POINTS_AND_LINES},
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
            Some(texture) if !primitive.indices.is_empty() => {
                surface::tangents(primitive, texture.uv_set);
            }
            _ => primitive.tangents = surface::any_tangents(&primitive.normals),
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

/// What an object has of a material, as corners of the model.
#[derive(Default)]
struct Group {
    triangles: Triangles,
    lines: Vec<[usize; 2]>,
    points: Vec<usize>,
}

/// Triangulates the faces, and sorts them into a mesh per object and a primitive per material, with another one for lines and points.
fn meshes(
    model: &Model,
    materials: &mut Materials<'_>,
    scene: &mut Scene,
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let mut groups: BTreeMap<(u32, usize), Group> = BTreeMap::new();
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
        let group = groups.entry((face.object, material)).or_default();
        group.triangles.extend(
            triangles
                .iter()
                .map(|t| (t.map(|c| first + c), face.smooth)),
        );
    }
    for points in &model.points {
        let key = (points.object, materials.place(points.material));
        groups
            .entry(key)
            .or_default()
            .points
            .extend(points.corners.clone());
    }
    for line in &model.lines {
        let key = (line.object, materials.place(line.material));
        let pairs = line.corners.clone().zip(line.corners.clone().skip(1));
        let pairs = pairs.map(|(from, to)| [from, to]);
        groups.entry(key).or_default().lines.extend(pairs);
    }
    if !(model.points.is_empty() && model.lines.is_empty()) {
        warnings.push(POINTS_AND_LINES.into());
    }
    if unfinished > 0 {
        warnings.push(format!(
            "{unfinished} polygons cross themselves or are too intricate, and are cut into fans"
        ));
    }
    let normals = generated_normals(model, groups.values().flat_map(|group| &group.triangles));
    let mut object_before = None;
    for ((object, material), group) in &groups {
        load.progress().check()?;
        let surface = primitive(model, *material, &group.triangles, &normals);
        let thin = lines_and_points(model, *material, group);
        let vertices = (surface.positions.len() + thin.positions.len()) as u64;
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
            let primitives = [surface, thin].into_iter();
            mesh.primitives.extend(primitives.filter(|p| !p.is_empty()));
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
    let mut positions: Vec<[u32; 3]> = open
        .iter()
        .map(|(t, _)| t.map(|c| model.corners[c].position))
        .collect();
    surface::weld(&model.positions, &mut positions);
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

/// One vertex for every different combination of position and texture coordinates; there are no normals.
fn lines_and_points(model: &Model, material: usize, group: &Group) -> Primitive {
    let corners = || group.lines.as_flattened().iter().chain(&group.points);
    let corner = |c: &usize| &model.corners[*c];
    let textured = corners().any(|c| model.uv(corner(c)).is_some());
    let coloured = corners().any(|c| model.color(corner(c)).is_some());
    let mut out = Primitive {
        material,
        shading: Shading::Unlit,
        ..Primitive::default()
    };
    let mut known: HashMap<(u32, u32), u32> = HashMap::new();
    let mut vertex = |c: &usize| {
        let at = corner(c);
        *known.entry((at.position, at.uv)).or_insert_with(|| {
            out.positions.push(model.positions[at.position as usize]);
            out.normals.push(Vec3::Y);
            if textured {
                out.uv0.push(model.uv(at).unwrap_or(Vec2::ZERO));
            }
            if coloured {
                out.colors
                    .push(model.color(at).unwrap_or(Vec3::ONE).extend(1.0));
            }
            out.positions.len() as u32 - 1
        })
    };
    let lines = group
        .lines
        .iter()
        .map(|line| line.each_ref().map(&mut vertex))
        .collect();
    let points = group.points.iter().map(&mut vertex).collect();
    Primitive {
        lines,
        points,
        ..out
    }
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
            missing: Vec::new(),
        };
        let used: Vec<_> = self
            .used
            .iter()
            .map(|number| number.and_then(|n| self.named[n as usize].as_deref()))
            .collect();
        for (material, base) in used.iter().copied().flatten() {
            for (role, map) in material.maps() {
                images.add(base, map, role, warnings);
            }
        }
        let decoded = image::decode_all(&images.sources, load, warnings)?;
        scene.images = decoded.images;
        images.missing = decoded.missing;
        let mut made = Made::default();
        for (number, found) in self.used.iter().zip(&used) {
            load.progress().check()?;
            let material = match found {
                Some((material, base)) => {
                    build(material, base, &images, &mut made, scene, load, warnings)?
                }
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
    sources: Vec<EncodedImage>,
    places: HashMap<String, usize>,
    /// Of each whether there is none, once they are decoded.
    missing: Vec<bool>,
}

impl Images<'_> {
    fn add(&mut self, base: &str, map: &Map, role: Role, warnings: &mut Vec<String>) {
        let key = format!("{base}{}", map.path);
        if let Some(&place) = self.places.get(&key) {
            let uses = &mut self.sources[place].uses;
            *uses = uses.and(Uses::of(role));
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
        self.sources
            .push(EncodedImage::plain(shorten(&map.path), bytes, role));
    }

    fn place(&self, base: &str, map: &Map) -> usize {
        self.places
            .get(&format!("{base}{}", map.path))
            .copied()
            .unwrap_or(0)
    }
}

/// What materials were made of; thousands may share it.
#[derive(Debug, Default)]
struct Made {
    textures: HashMap<Texture, usize>,
    /// Of normal maps, whether they are grey.
    grey: HashMap<usize, bool>,
    /// Of roughness and metalness, each of an image or a value.
    joined: HashMap<[(Option<usize>, u8); 2], usize>,
    /// Of a colour's image and an alpha's.
    masked: HashMap<(Option<usize>, usize), usize>,
}

impl Made {
    /// The number of a texture, which joins the scene if it is new.
    fn texture(&mut self, scene: &mut Scene, map: &Map, image: usize) -> TextureRef {
        let texture = Texture {
            image,
            sampler: map.sampler(),
        };
        let place = *self.textures.entry(texture).or_insert_with(|| {
            scene.textures.push(texture);
            scene.textures.len() - 1
        });
        map.reference(place)
    }
}

/// Adds an image that was made of others.
fn add_image(scene: &mut Scene, load: &mut Load<'_>, image: Image) -> Result<usize> {
    let bytes = image.rgba8().len() as u64;
    load.take(Budget::TextureBytes, bytes, || {
        format!("image {}", image.name)
    })?;
    scene.images.push(image);
    Ok(scene.images.len() - 1)
}

/// A material with its textures, which are added to the scene.
fn build(
    from: &mtl::Material,
    base: &str,
    images: &Images<'_>,
    made: &mut Made,
    scene: &mut Scene,
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<Material> {
    let from = &from
        .clone()
        .without(|map| images.missing[images.place(base, map)]);
    let mut material = from.to_material();
    let place = |map: &Map| images.place(base, map);
    if let Some(map) = &from.emissive_map {
        material.emissive_texture = Some(made.texture(scene, map, place(map)));
    }
    if let Some(map) = &from.normal_map {
        let image = place(map);
        let grey = *made.grey.entry(image).or_insert_with(|| {
            let texels = scene.images[image].rgba8();
            texels.chunks_exact(4).all(|t| t[0] == t[1] && t[1] == t[2])
        });
        if grey {
            warnings.push(format!(
                "{} of material \"{}\" is a height map, which canopy ignores",
                map.path, from.name
            ));
        } else {
            material.normal_texture = Some(made.texture(scene, map, image));
        }
    }
    let (roughness, metallic) = (&from.roughness_map, &from.metallic_map);
    if let Some(map) = roughness.as_ref().or(metallic.as_ref()) {
        let packed = matches!((roughness, metallic), (Some(r), Some(m)) if r.path == m.path);
        let channel = |map: &Option<Map>, value: f32| match map {
            Some(map) => (Some(place(map)), 0),
            None => (None, (value * 255.0).round() as u8),
        };
        let channels = [
            channel(roughness, from.roughness()),
            channel(metallic, from.metallic()),
        ];
        let image = match made.joined.get(&channels) {
            _ if packed => place(map),
            Some(&image) => image,
            None => {
                let [roughness, metallic] = channels.map(|(image, value)| match image {
                    Some(image) => {
                        let image = &scene.images[image];
                        Grey::Image(image, image.rgba8())
                    }
                    None => Grey::Value(value),
                });
                let joined = roughness_metallic(&roughness, &metallic);
                let image = add_image(scene, load, joined)?;
                made.joined.insert(channels, image);
                image
            }
        };
        material.metallic_roughness_texture = Some(made.texture(scene, map, image));
        (material.roughness, material.metallic) = (1.0, 1.0);
    }
    let (color, alpha) = (&from.color_map, &from.alpha_map);
    let base_color = match (color, alpha) {
        (Some(map), Some(alpha)) if map.path == alpha.path => Some((map, place(map))),
        (map, Some(alpha)) => {
            let key = (map.as_ref().map(place), place(alpha));
            let image = match made.masked.get(&key) {
                Some(&image) => image,
                None => {
                    let color = key.0.map(|color| &scene.images[color]);
                    let masked = with_alpha(color, &scene.images[key.1]);
                    let image = add_image(scene, load, masked)?;
                    made.masked.insert(key, image);
                    image
                }
            };
            Some((map.as_ref().unwrap_or(alpha), image))
        }
        (Some(map), None) => Some((map, place(map))),
        (None, None) => None,
    };
    material.base_color_texture = base_color.map(|(map, image)| made.texture(scene, map, image));
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
