//! Materials of an OBJ, from the MTL files that it refers to, and the images of these materials.

use super::{
    model::Model,
    mtl::{self, Map},
    sanitize,
};
use crate::{
    Result,
    files::{Bytes, Folder, shorten},
    graph::Scene,
    image::{self, EncodedImage, Image, Role, Uses},
    load::{Budget, Load},
    material::Material,
    texture::{Texture, TextureRef},
};
use std::{borrow::Cow, collections::HashMap, path::Path, rc::Rc};

/// Extensions of an image with the name of the OBJ, in the OBJ's folder. The first image found is used.
const OWN_IMAGES: [&str; 4] = ["png", "jpg", "jpeg", "webp"];

/// Materials that the MTL files define, and the subset that is used.
pub(super) struct Materials<'a> {
    folder: &'a Folder,
    /// Definitions in MTL files of the materials of `usemtl` statements, each with the folder of its file.
    /// Indexed by the model's index of the name.
    named: Vec<Option<Rc<(mtl::Material, String)>>>,
    /// Material of faces without a defined one, if not the default.
    unnamed: Option<Rc<(mtl::Material, String)>>,
    /// Indices into `used`, keyed by the model's material index.
    indices: HashMap<Option<u32>, usize>,
    /// Model's material index of each material of the scene.
    used: Vec<Option<u32>>,
}

impl<'a> Materials<'a> {
    /// Reads the MTL files of the OBJ at `path`.
    pub(super) fn read(path: &Path, model: &Model, folder: &'a Folder, warnings: &mut Vec<String>) -> Self {
        let mut found: HashMap<String, Rc<(mtl::Material, String)>> = HashMap::new();
        for library in &model.libraries {
            for (name, bytes) in read_library(path, library, folder, warnings) {
                let base = name
                    .rsplit_once(['/', '\\'])
                    .map_or(String::new(), |(base, _)| format!("{base}/"));
                let is_file = |path: &str| {
                    let beside_mtl = format!("{base}{path}");
                    folder.holds(&beside_mtl) || folder.holds(path)
                };
                for material in mtl::parse(&name, &bytes, &is_file, warnings) {
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
            unnamed: None,
            indices: HashMap::new(),
            used: Vec::new(),
        }
    }

    /// Returns the name of the image in the folder of the OBJ at `path` that has the OBJ's name. It is
    /// returned only for a model with texture coordinates, at most one material and no texture, so that a
    /// mistake is unlikely.
    pub(super) fn image_of_own_name(&self, path: &Path, model: &Model) -> Option<String> {
        let mut defined = self.named.iter().flatten();
        let has_maps = defined.any(|material| material.0.maps().next().is_some());
        if has_maps || self.named.len() > 1 || !model.has_uvs() {
            return None;
        }
        let stem = path.file_stem()?.to_str()?;
        let mut names = OWN_IMAGES.iter().map(|e| format!("{stem}.{e}"));
        names.find_map(|name| self.folder.named(&name))
    }

    /// Textures every face with the image `name` from the OBJ's folder.
    pub(super) fn color_all(&mut self, name: &str) {
        let textured = |material: Option<&(mtl::Material, String)>| {
            let material = material.map(|(material, _)| material.clone());
            let material = material.unwrap_or_default().colored_by(name);
            Some(Rc::new((material, String::new())))
        };
        for material in &mut self.named {
            *material = textured(material.as_deref());
        }
        self.unnamed = textured(None);
    }

    /// Returns the scene's index of the material with the index `material` in the model.
    pub(super) fn index_of(&mut self, material: Option<u32>) -> usize {
        *self.indices.entry(material).or_insert_with(|| {
            self.used.push(material);
            self.used.len() - 1
        })
    }

    /// Decodes the images, and fills the scene's materials, textures and images.
    pub(super) fn finish(
        self,
        scene: &mut Scene,
        load: &mut Load<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let mut images = Images {
            folder: self.folder,
            sources: Vec::new(),
            indices: HashMap::new(),
            missing: Vec::new(),
        };
        let used: Vec<_> = self
            .used
            .iter()
            .map(|number| {
                let named = number.and_then(|n| self.named[n as usize].as_deref());
                named.or(self.unnamed.as_deref())
            })
            .collect();
        for (material, base) in used.iter().copied().flatten() {
            for (role, map) in material.maps() {
                images.add(base, map, role, warnings);
            }
        }
        let decoded = image::decode_all(&images.sources, load, warnings)?;
        scene.images = decoded.images;
        images.missing = decoded.missing;
        let mut made = TextureCache::default();
        for (number, found) in self.used.iter().zip(&used) {
            load.progress().check()?;
            let material = match found {
                Some((material, base)) => build(material, base, &images, &mut made, scene, load, warnings)?,
                None => mtl::default_material(number.map_or("", |_| "undefined")),
            };
            scene.materials.push(material);
        }
        Ok(())
    }
}

/// Reads the files of a `mtllib` line, which may be one file whose name has spaces, or several. If a file is
/// missing, the MTL file with the name of the OBJ is used.
fn read_library(
    path: &Path,
    line: &str,
    folder: &Folder,
    warnings: &mut Vec<String>,
) -> Vec<(String, Bytes)> {
    let unquoted = |name: &str| name.trim_matches(['"', '\'']).to_owned();
    let read = |name: String| -> Result<(String, Bytes), String> {
        let (bytes, bare) = folder.path_or_beside(&name)?;
        Ok((bare.unwrap_or(name), bytes))
    };
    let why = match read(unquoted(line)) {
        Ok(file) => return vec![file],
        Err(why) => why,
    };
    let (files, faults): (Vec<_>, Vec<_>) = line
        .split_whitespace()
        .take(sanitize::MAX_LIBRARIES)
        .map(|name| read(unquoted(name)))
        .partition(Result::is_ok);
    let files: Vec<_> = files.into_iter().flatten().collect();
    if !files.is_empty() {
        let faults = faults.into_iter().filter_map(Result::err);
        warnings.extend(faults.map(|why| format!("mtllib: {why}; its materials are grey")));
        return files;
    }
    let own = path.with_extension("mtl");
    let own = own.file_name().and_then(|name| name.to_str());
    if let Some(Ok(file)) = own.map(|name| read(name.to_owned())) {
        warnings.push(format!("mtllib: {why}; {} is used", file.0));
        return vec![file];
    }
    warnings.push(format!("mtllib: {why}; its materials are grey"));
    Vec::new()
}

/// Images that materials use, without duplicates.
struct Images<'a> {
    folder: &'a Folder,
    sources: Vec<EncodedImage>,
    /// Indices into `sources`, keyed by folder and path.
    indices: HashMap<String, usize>,
    /// True for each image that could not be read, which is known once they are decoded.
    missing: Vec<bool>,
}

impl Images<'_> {
    fn add(&mut self, base: &str, map: &Map, role: Role, warnings: &mut Vec<String>) {
        let key = format!("{base}{}", map.path);
        if let Some(&index) = self.indices.get(&key) {
            let uses = &mut self.sources[index].uses;
            *uses = uses.and(Uses::of(role));
            return;
        }
        // Search relative to the MTL, relative to the OBJ, and by file name only for paths that were written
        // on another machine.
        let read = |path: &str| self.folder.path(path).ok();
        let bytes = match self.folder.path(&key) {
            Ok(bytes) => Ok(bytes),
            Err(why) => read(&map.path).map_or_else(
                || {
                    let name = map.path.rsplit(['/', '\\']).next().unwrap_or_default();
                    let beside_mtl = format!("{base}{name}");
                    let found = read(&beside_mtl).map(|bytes| (bytes, Some(beside_mtl)));
                    let found = found.or_else(|| self.folder.path_or_beside(name).ok());
                    let (bytes, taken) = found.ok_or(why)?;
                    let (path, taken) = (shorten(&map.path), taken.unwrap_or(name.to_owned()));
                    warnings.push(format!("image {path} is missing; {taken} is used"));
                    Ok(bytes)
                },
                Ok,
            ),
        };
        self.indices.insert(key, self.sources.len());
        self.sources
            .push(EncodedImage::plain(shorten(&map.path), bytes, role));
    }

    fn index_of(&self, base: &str, map: &Map) -> usize {
        self.indices
            .get(&format!("{base}{}", map.path))
            .copied()
            .unwrap_or(0)
    }
}

/// Cache of textures and images that were created for materials, because thousands may share them.
#[derive(Debug, Default)]
struct TextureCache {
    textures: HashMap<Texture, usize>,
    /// True for each normal map that is grey, keyed by image.
    grey: HashMap<usize, bool>,
    /// Combined images of roughness and metalness, keyed by the image or the value of each.
    joined: HashMap<[(Option<usize>, u8); 2], usize>,
    /// Combined images of colour and alpha, keyed by the image of each.
    masked: HashMap<(Option<usize>, usize), usize>,
}

impl TextureCache {
    /// Returns a reference to a texture, adding it to the scene if it is new.
    fn texture(&mut self, scene: &mut Scene, map: &Map, image: usize) -> TextureRef {
        let texture = Texture {
            image,
            sampler: map.sampler(),
        };
        let index = *self.textures.entry(texture).or_insert_with(|| {
            scene.textures.push(texture);
            scene.textures.len() - 1
        });
        map.reference(index)
    }
}

/// Adds an image that was computed from others.
fn add_image(scene: &mut Scene, load: &mut Load<'_>, image: Image) -> Result<usize> {
    let bytes = image.rgba8().len() as u64;
    load.take(Budget::TextureBytes, bytes, || format!("image {}", image.name))?;
    scene.images.push(image);
    Ok(scene.images.len() - 1)
}

/// Builds a material and adds its textures to the scene.
fn build(
    from: &mtl::Material,
    base: &str,
    images: &Images<'_>,
    made: &mut TextureCache,
    scene: &mut Scene,
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<Material> {
    let from = &from
        .clone()
        .without(|map| images.missing[images.index_of(base, map)]);
    let mut material = from.to_material();
    let image_of = |map: &Map| images.index_of(base, map);
    if let Some(map) = &from.emissive_map {
        material.emissive_texture = Some(made.texture(scene, map, image_of(map)));
    }
    if let Some(map) = &from.normal_map {
        let image = image_of(map);
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
            Some(map) => (Some(image_of(map)), 0),
            None => (None, (value * 255.0).round() as u8),
        };
        let channels = [
            channel(roughness, from.roughness()),
            channel(metallic, from.metallic()),
        ];
        let image = match made.joined.get(&channels) {
            _ if packed => image_of(map),
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
        (Some(map), Some(alpha)) if map.path == alpha.path => Some((map, image_of(map))),
        (map, Some(alpha)) => {
            let key = (map.as_ref().map(image_of), image_of(alpha));
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
        (Some(map), None) => Some((map, image_of(map))),
        (None, None) => None,
    };
    material.base_color_texture = base_color.map(|(map, image)| made.texture(scene, map, image));
    Ok(material)
}

/// Combines `color`, or white, with the alpha of a `map_d`. Alpha is the alpha channel of that image if it
/// has one, else its brightness.
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

/// A grey image, or a constant value.
enum Grey<'a> {
    Image(&'a Image, Cow<'a, [u8]>),
    Value(u8),
}

impl Grey<'_> {
    /// Returns the value at a texel of an image of another size.
    fn at(&self, [x, y]: [u32; 2], [width, height]: [u32; 2]) -> u8 {
        match self {
            Self::Value(value) => *value,
            Self::Image(image, rgba8) => {
                let scaled =
                    |at: u32, from: u32, to: u32| (u64::from(at) * u64::from(to) / u64::from(from)) as usize;
                let row = scaled(y, height, image.height) * image.width as usize;
                rgba8[(row + scaled(x, width, image.width)) * 4]
            }
        }
    }
}

/// Combines roughness in green and metalness in blue, like glTF.
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
        let at = [i % u64::from(width), i / u64::from(width)].map(|texel| texel as u32);
        let [green, blue] = [roughness, metallic].map(|grey| grey.at(at, [width, height]));
        [255, green, blue, 255]
    };
    let rgba8 = (0..u64::from(width) * u64::from(height))
        .flat_map(texel)
        .collect();
    Image::from_rgba8(name.unwrap_or_default(), width, height, rgba8)
}
