//! Reads textures, samplers and images.

use super::{accessor::view_range, file::File};
use crate::{
    Result,
    files::{Bytes, shorten},
    graph::Scene,
    image::{self, Candidate, EncodedImage, Uses},
    texture::{Sampler, Texture, TextureRef, TextureSlot, UvTransform, Wrap},
};
use ::gltf::json::{
    Image, Index,
    buffer::View,
    deserialize,
    extensions::texture::TextureTransform,
    texture::{Info, MagFilter, MinFilter, WrappingMode},
    validation::Checked,
};
use glam::Vec2;
use serde_json::{Map, Value};
use std::collections::{HashMap, hash_map::Entry};

/// Textures in the order of their first use by materials.
#[derive(Debug)]
pub(super) struct Textures<'a> {
    pub(super) file: &'a File<'a>,
    /// Indices into `textures`, keyed by index in the file.
    indices: HashMap<usize, usize>,
    pub(super) textures: Vec<Texture>,
}

impl<'a> Textures<'a> {
    pub(super) fn new(file: &'a File<'a>) -> Self {
        Self {
            file,
            indices: HashMap::new(),
            textures: Vec::new(),
        }
    }

    /// Resolves the texture of a material's slot, if it has one.
    pub(super) fn info(&mut self, info: Option<&Info>, user: &str) -> Result<Option<TextureRef>> {
        let Some(info) = info else { return Ok(None) };
        let transform = info
            .extensions
            .as_ref()
            .and_then(|e| e.texture_transform.clone())
            .unwrap_or_default();
        self.reference(info.index.value(), info.tex_coord, &transform, user)
            .map(Some)
    }

    /// Resolves a texture like [`Self::info`], for textures whose extensions gltf-json leaves as a map. These
    /// are normal textures, occlusion textures, and those in extensions that it does not know.
    pub(super) fn with_map(
        &mut self,
        texture: usize,
        uv_set: u32,
        extensions: Option<&Map<String, Value>>,
        user: &str,
    ) -> Result<TextureRef> {
        let transform = match extensions.and_then(|e| e.get("KHR_texture_transform")) {
            Some(json) => deserialize::from_value(json.clone())
                .map_err(|e| self.file.error(format!("{user}: KHR_texture_transform: {e}")))?,
            None => TextureTransform::default(),
        };
        self.reference(texture, uv_set, &transform, user)
    }

    fn reference(
        &mut self,
        texture: usize,
        uv_set: u32,
        transform: &TextureTransform,
        user: &str,
    ) -> Result<TextureRef> {
        let json = self
            .file
            .get(&self.file.root.textures, "texture", texture, || user.to_owned())?;
        let mut uv_set = transform.tex_coord.unwrap_or(uv_set);
        if uv_set > 1 {
            self.file.warn(format!(
                "{user} uses TEXCOORD_{uv_set}; canopy reads two sets and uses TEXCOORD_0"
            ));
            uv_set = 0;
        }
        let texture_from_uv = uv_transform_of(transform).matrix();
        if !texture_from_uv.is_finite() {
            return Err(self
                .file
                .error(format!("{user}: KHR_texture_transform is not finite")));
        }
        let index = match self.indices.get(&texture) {
            Some(&index) => index,
            None => {
                let sampler = json
                    .sampler
                    .map_or(Ok(Sampler::default()), |s| sampler(self.file, s.value(), texture))?;
                self.textures.push(Texture {
                    image: texture,
                    sampler,
                });
                self.indices.insert(texture, self.textures.len() - 1);
                self.textures.len() - 1
            }
        };
        Ok(TextureRef {
            texture: index,
            uv_set,
            texture_from_uv,
        })
    }
}

fn uv_transform_of(transform: &TextureTransform) -> UvTransform {
    UvTransform {
        offset: Vec2::from(transform.offset.0),
        rotation: transform.rotation.0,
        scale: Vec2::from(transform.scale.0),
    }
}

/// Reads the KHR_texture_transform of a texture of material `index`, which animations may set. Returns `None`
/// if it has no such extension.
pub(super) fn uv_transform(file: &File<'_>, index: usize, slot: TextureSlot) -> Option<UvTransform> {
    let material = file.root.materials.get(index)?;
    let of_info = |info: Option<&Info>| info?.extensions.as_ref()?.texture_transform.clone();
    let of_map = |others: &Map<String, Value>| {
        deserialize::from_value(others.get("KHR_texture_transform")?.clone()).ok()
    };
    let pbr = &material.pbr_metallic_roughness;
    let transform = match slot {
        TextureSlot::BaseColor => of_info(pbr.base_color_texture.as_ref()),
        TextureSlot::MetallicRoughness => of_info(pbr.metallic_roughness_texture.as_ref()),
        TextureSlot::Emissive => of_info(material.emissive_texture.as_ref()),
        TextureSlot::Normal => {
            let texture = material.normal_texture.as_ref()?;
            of_map(&texture.extensions.as_ref()?.others)
        }
        TextureSlot::Occlusion => {
            let texture = material.occlusion_texture.as_ref()?;
            of_map(&texture.extensions.as_ref()?.others)
        }
    };
    transform.as_ref().map(uv_transform_of)
}

fn sampler(file: &File<'_>, index: usize, texture: usize) -> Result<Sampler> {
    let json = file.get(&file.root.samplers, "sampler", index, || {
        format!("texture {texture}")
    })?;
    let wrap = |mode: Checked<WrappingMode>| match mode {
        Checked::Valid(WrappingMode::ClampToEdge) => Wrap::Clamp,
        Checked::Valid(WrappingMode::MirroredRepeat) => Wrap::Mirror,
        Checked::Valid(WrappingMode::Repeat) => Wrap::Repeat,
        Checked::Invalid => {
            file.warn(format!("sampler {index} has an unknown wrapping; it repeats"));
            Wrap::Repeat
        }
    };
    let min_filter = match json.min_filter {
        Some(Checked::Valid(filter)) => filter,
        _ => MinFilter::LinearMipmapLinear,
    };
    let (min_linear, mip_linear) = match min_filter {
        MinFilter::Nearest => (false, None),
        MinFilter::Linear => (true, None),
        MinFilter::NearestMipmapNearest => (false, Some(false)),
        MinFilter::LinearMipmapNearest => (true, Some(false)),
        MinFilter::NearestMipmapLinear => (false, Some(true)),
        MinFilter::LinearMipmapLinear => (true, Some(true)),
    };
    Ok(Sampler {
        wrap_u: wrap(json.wrap_s),
        wrap_v: wrap(json.wrap_t),
        mag_linear: !matches!(json.mag_filter, Some(Checked::Valid(MagFilter::Nearest))),
        min_linear,
        mip_linear,
    })
}

/// Extensions that provide a texture's image in another format, in ascending order of GPU memory use.
const IMAGE_EXTENSIONS: [&str; 3] = ["KHR_texture_basisu", "MSFT_texture_dds", "EXT_texture_webp"];

/// Collects the images of the scene's textures, not decoded yet. The images of textures change from texture
/// indices in the file to indices into the result.
pub(super) fn images(file: &File<'_>, scene: &mut Scene) -> Result<Vec<EncodedImage>> {
    let uses = image::uses(scene);
    let mut read = HashMap::new();
    // Images with the same bytes are merged.
    let mut indices: HashMap<Vec<_>, usize> = HashMap::new();
    let mut encoded_images: Vec<EncodedImage> = Vec::new();
    for (texture, uses) in scene.textures.iter_mut().zip(uses) {
        let encoded = encoded_image(file, texture.image, uses, &mut read)?;
        let address = |c: &Candidate| c.as_ref().map(Bytes::address).map_err(Clone::clone);
        let key: Vec<_> = encoded.candidates.iter().map(address).collect();
        texture.image = match indices.get(&key) {
            Some(&index) => {
                encoded_images[index].uses = encoded_images[index].uses.and(uses);
                index
            }
            None => {
                encoded_images.push(encoded);
                indices.insert(key, encoded_images.len() - 1);
                encoded_images.len() - 1
            }
        };
    }
    Ok(encoded_images)
}

/// Returns the image of a texture in every format that the file has.
fn encoded_image(
    file: &File<'_>,
    texture: usize,
    uses: Uses,
    read: &mut HashMap<usize, Candidate>,
) -> Result<EncodedImage> {
    let json = &file.root.textures[texture];
    let extensions = json.extensions.as_ref().map(|e| &e.others);
    let mut names = Vec::new();
    let mut candidates = Vec::new();
    let mut bytes = |image: &Image, number: usize| -> Result<Candidate> {
        Ok(match read.entry(number) {
            Entry::Occupied(entry) => entry.get().clone(),
            Entry::Vacant(entry) => entry.insert(bytes(file, image, number)?).clone(),
        })
    };
    for extension in IMAGE_EXTENSIONS {
        let Some(extended) = extensions.and_then(|e| e.get(extension)) else {
            continue;
        };
        let number = extended.get("source").and_then(Value::as_u64);
        let image = number.and_then(|n| file.root.images.get(usize::try_from(n).ok()?));
        candidates.push(match (number, image) {
            (Some(number), Some(image)) => {
                names.push(name(image, number as usize));
                bytes(image, number as usize)?
            }
            _ => Err(format!("{extension} refers to no image of the file")),
        });
    }
    // gltf-json represents a missing source as `u32::MAX`.
    if json.source.value() != u32::MAX as usize {
        let number = json.source.value();
        let image = file.get(&file.root.images, "image", number, || "a texture".into())?;
        names.push(name(image, number));
        candidates.push(bytes(image, number)?);
    }
    if candidates.is_empty() {
        let other = extensions.and_then(|extensions| extensions.iter().next());
        candidates.push(Err(match other {
            Some((extension, _)) => format!(
                "a texture has its image in {} only, which canopy does not read",
                shorten(extension)
            ),
            None => "a texture has no image".into(),
        }));
        let number = other.and_then(|(_, extended)| extended.get("source")?.as_u64());
        let number = number.and_then(|number| usize::try_from(number).ok());
        let image = number.and_then(|number| Some((file.root.images.get(number)?, number)));
        names.extend(image.map(|(image, number)| name(image, number)));
    }
    let first = names.into_iter().next();
    Ok(EncodedImage {
        name: first.unwrap_or_else(|| format!("of texture {texture}")),
        candidates,
        uses,
    })
}

fn name(image: &Image, number: usize) -> String {
    let is_shown = |name: &&str| !name.trim().is_empty();
    let uri = image.uri.as_deref().filter(|uri| !uri.starts_with("data:"));
    let name = image.name.as_deref().filter(is_shown).or(uri);
    name.filter(is_shown).map_or_else(|| number.to_string(), shorten)
}

/// Returns the bytes of an image. A reference that is out of range is an error. Missing bytes make the image
/// missing.
fn bytes(file: &File<'_>, image: &Image, number: usize) -> Result<Candidate> {
    Ok(match (&image.uri, image.buffer_view) {
        (Some(uri), _) => file.folder.uri(uri),
        (None, Some(view)) => {
            if let Some(why) = missing_buffer(file, view) {
                return Ok(Err(why));
            }
            let (bytes, range) = view_range(file, view, || format!("image {number}"))?;
            bytes.part(range).ok_or_else(|| "has no bytes".into())
        }
        (None, None) => Err("has neither a uri nor a buffer view".into()),
    })
}

/// Returns the reason why the buffer of an uncompressed view has no data, if it has none.
fn missing_buffer(file: &File<'_>, view: Index<View>) -> Option<String> {
    let decoded = file.views.get(view.value()).is_some_and(Option::is_some);
    let buffer = file.root.buffer_views.get(view.value())?.buffer.value();
    let why = file.buffers.get(buffer)?.as_ref().err()?;
    (!decoded).then(|| format!("buffer {buffer}: {why}"))
}
