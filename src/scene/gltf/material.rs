//! Materials, textures, samplers and the images behind them.

use super::{File, accessor::view_range, layers, name_of};
use crate::{
    Result,
    scene::{
        AlphaMode, Material, Sampler, Scene, Texture, TextureRef, Wrap,
        files::shorten,
        image::{self, Encoded, Source},
        load::Load,
    },
};
use ::gltf::json::{
    deserialize,
    extensions::texture::TextureTransform,
    material::AlphaMode as JsonAlphaMode,
    texture::{Info, MagFilter, MinFilter, WrappingMode},
    validation::Checked,
};
use glam::{Affine2, Vec2, Vec3, Vec4};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The brightest emission that is taken at its word: products with more leave the range of f32.
const BRIGHTEST: f32 = 1e9;

/// Reads the materials and the textures that they use. Until [`images`] has run, textures refer to images by the file's numbers.
pub(super) fn materials(file: &File<'_>, scene: &mut Scene) -> Result<()> {
    let mut textures = Textures {
        file,
        places: HashMap::new(),
        textures: Vec::new(),
    };
    for (index, json) in file.root.materials.iter().enumerate() {
        let user = |part: &str| format!("{part} of material {index}");
        let pbr = &json.pbr_metallic_roughness;
        let extensions = json.extensions.as_ref();
        let strength = extensions
            .and_then(|e| e.emissive_strength.as_ref())
            .map_or(1.0, |e| e.emissive_strength.0.clamp(0.0, BRIGHTEST));
        let normal_texture = json.normal_texture.as_ref().map(|t| {
            textures.with_map(
                t.index.value(),
                t.tex_coord,
                t.extensions.as_ref().map(|e| &e.others),
                &user("normalTexture"),
            )
        });
        let occlusion_texture = json.occlusion_texture.as_ref().map(|t| {
            textures.with_map(
                t.index.value(),
                t.tex_coord,
                t.extensions.as_ref().map(|e| &e.others),
                &user("occlusionTexture"),
            )
        });
        let Checked::Valid(alpha_mode) = json.alpha_mode else {
            return Err(file.error(format!("material {index} has an unknown alphaMode")));
        };
        let unlit = extensions.is_some_and(|e| e.unlit.is_some());
        let mut material = Material {
            name: name_of(json.name.as_ref()),
            base_color: Vec4::from(pbr.base_color_factor.0).clamp(Vec4::ZERO, Vec4::ONE),
            base_color_texture: textures
                .info(pbr.base_color_texture.as_ref(), &user("baseColorTexture"))?,
            metallic: pbr.metallic_factor.0.clamp(0.0, 1.0),
            roughness: pbr.roughness_factor.0.clamp(0.0, 1.0),
            metallic_roughness_texture: textures.info(
                pbr.metallic_roughness_texture.as_ref(),
                &user("metallicRoughnessTexture"),
            )?,
            normal_texture: normal_texture.transpose()?,
            normal_scale: json
                .normal_texture
                .as_ref()
                .map_or(1.0, |t| t.scale.clamp(-BRIGHTEST, BRIGHTEST)),
            occlusion_texture: occlusion_texture.transpose()?,
            occlusion_strength: json
                .occlusion_texture
                .as_ref()
                .map_or(1.0, |t| t.strength.0.clamp(0.0, 1.0)),
            emissive: (Vec3::from(json.emissive_factor.0) * strength)
                .clamp(Vec3::ZERO, Vec3::splat(BRIGHTEST)),
            emissive_texture: textures
                .info(json.emissive_texture.as_ref(), &user("emissiveTexture"))?,
            alpha_mode: match alpha_mode {
                JsonAlphaMode::Opaque => AlphaMode::Opaque,
                JsonAlphaMode::Mask => AlphaMode::Mask,
                JsonAlphaMode::Blend => AlphaMode::Blend,
            },
            alpha_cutoff: json
                .alpha_cutoff
                .map_or(0.5, |cutoff| cutoff.0.clamp(0.0, BRIGHTEST)),
            double_sided: json.double_sided,
            unlit,
            layers: None,
        };
        if let Some(extensions) = extensions.filter(|_| !unlit) {
            layers::read(&extensions.others, index, &mut textures, &mut material)?;
        }
        scene.materials.push(material);
    }
    scene.textures = textures.textures;
    Ok(())
}

/// Textures in the order in which materials first use them.
#[derive(Debug)]
pub(super) struct Textures<'a> {
    pub(super) file: &'a File<'a>,
    places: HashMap<usize, usize>,
    textures: Vec<Texture>,
}

impl Textures<'_> {
    fn info(&mut self, info: Option<&Info>, user: &str) -> Result<Option<TextureRef>> {
        let Some(info) = info else { return Ok(None) };
        let transform = info
            .extensions
            .as_ref()
            .and_then(|e| e.texture_transform.clone())
            .unwrap_or_default();
        self.reference(info.index.value(), info.tex_coord, &transform, user)
            .map(Some)
    }

    /// For textures whose extensions gltf-json leaves as a map: of normals, of occlusion, and of its unknown extensions.
    pub(super) fn with_map(
        &mut self,
        texture: usize,
        uv_set: u32,
        extensions: Option<&Map<String, Value>>,
        user: &str,
    ) -> Result<TextureRef> {
        let transform = match extensions.and_then(|e| e.get("KHR_texture_transform")) {
            Some(json) => deserialize::from_value(json.clone()).map_err(|e| {
                self.file
                    .error(format!("{user}: KHR_texture_transform: {e}"))
            })?,
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
            .get(&self.file.root.textures, "texture", texture, || {
                user.to_owned()
            })?;
        let mut uv_set = transform.tex_coord.unwrap_or(uv_set);
        if uv_set > 1 {
            self.file.warn(format!(
                "{user} uses TEXCOORD_{uv_set}; canopy reads two sets and takes TEXCOORD_0"
            ));
            uv_set = 0;
        }
        let (offset, scale) = (
            Vec2::from(transform.offset.0),
            Vec2::from(transform.scale.0),
        );
        // The extension's rotation is counter-clockwise in an image whose v points down.
        let texture_from_uv = Affine2::from_translation(offset)
            * Affine2::from_angle(-transform.rotation.0)
            * Affine2::from_scale(scale);
        if !texture_from_uv.is_finite() {
            return Err(self
                .file
                .error(format!("{user}: KHR_texture_transform is not finite")));
        }
        let place = match self.places.get(&texture) {
            Some(&place) => place,
            None => {
                let sampler = json.sampler.map_or(Ok(Sampler::default()), |s| {
                    sampler(self.file, s.value(), texture)
                })?;
                self.textures.push(Texture {
                    image: json.source.value(),
                    sampler,
                });
                self.places.insert(texture, self.textures.len() - 1);
                self.textures.len() - 1
            }
        };
        Ok(TextureRef {
            texture: place,
            uv_set,
            texture_from_uv,
        })
    }
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
            file.warn(format!(
                "sampler {index} has an unknown wrapping; it repeats"
            ));
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

/// Decodes the images of the scene's textures, and turns the textures' file numbers into the scene's.
pub(super) fn images(file: &File<'_>, load: &mut Load<'_>, scene: &mut Scene) -> Result<()> {
    let mut places: HashMap<usize, usize> = HashMap::new();
    let mut sources: Vec<Source> = Vec::new();
    for texture in &mut scene.textures {
        let number = texture.image;
        texture.image = match places.get(&number) {
            Some(&place) => place,
            None => {
                sources.push(source(file, number)?);
                places.insert(number, sources.len() - 1);
                sources.len() - 1
            }
        };
    }
    let mut warnings = Vec::new();
    scene.images = image::decode_all(&sources, load, &mut warnings)?;
    warnings.iter().for_each(|what| file.warn(what));
    Ok(())
}

/// The bytes of an image. A reference past the end is an error; bytes that cannot be had are the image's own misfortune.
fn source(file: &File<'_>, index: usize) -> Result<Source> {
    // gltf-json's way of saying that a texture has no source, as with formats that an extension adds.
    if index == u32::MAX as usize {
        return Ok((
            String::new(),
            Err("a texture has no image that canopy reads".into()),
        ));
    }
    let json = file.get(&file.root.images, "image", index, || "a texture".into())?;
    let uri = json.uri.as_deref().filter(|uri| !uri.starts_with("data:"));
    let name = json
        .name
        .as_deref()
        .or(uri)
        .map_or_else(|| index.to_string(), shorten);
    let encoded = match (&json.uri, json.buffer_view) {
        (Some(uri), _) => file.folder.uri(uri).map(|bytes| Encoded {
            range: 0..bytes.len(),
            bytes,
        }),
        (None, Some(view)) => {
            let (buffer, range) = view_range(file, view, || format!("image {index}"))?;
            file.buffers[buffer]
                .clone()
                .map(|bytes| Encoded { bytes, range })
                .ok_or_else(|| "has no bytes".into())
        }
        (None, None) => Err("has neither a uri nor a buffer view".into()),
    };
    Ok((name, encoded))
}
