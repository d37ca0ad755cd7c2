//! Uniforms of materials and of their layers.

use super::material_textures::{BASE_TEXTURES, layer_bindings, stores_normal_variance, texture_refs};
use crate::{
    bindings::LAYER_TEXTURES,
    layout::{Material as GpuMaterial, MaterialLayers},
};
use canopy_bvh::gpu::library::wgsl_constants;
use canopy_scene::{AlphaMode, LayerSlot, Material, Sampler, Scene, TextureRef, TextureSupport, Wrap};

wgsl_constants! {
    pub(crate) const ALPHA_WRAP_MIRROR: u32 = 1;
    pub(crate) const ALPHA_WRAP_CLAMP: u32 = 2;
    const ALPHA_LINEAR: u32 = 16;
    const MATERIAL_UNLIT: u32 = 2;
    const MATERIAL_LAYERED: u32 = 4;
    const MATERIAL_GLOSSINESS: u32 = 8;
    const MATERIAL_BLENDED: u32 = 16;
    const MATERIAL_PLACEHOLDER: u32 = 32;
    const MATERIAL_NORMALS_SPREAD: u32 = 64;
    const MATERIAL_COAT_NORMALS_SPREAD: u32 = 128;
    /// Factor that shifts the word of the base colour's sampler ([`super::alpha_table`]) above the flags.
    const MATERIAL_SAMPLER: u32 = 256;
    /// Number of textures of a material's base. The textures of layers are numbered after them.
    const MATERIAL_TEXTURES: u32 = BASE_TEXTURES as u32;
    const LAYER_SPECULAR: u32 = LayerSlot::Specular as u32;
    const LAYER_SPECULAR_COLOR: u32 = LayerSlot::SpecularColor as u32;
    const LAYER_CLEARCOAT: u32 = LayerSlot::Clearcoat as u32;
    const LAYER_CLEARCOAT_ROUGHNESS: u32 = LayerSlot::ClearcoatRoughness as u32;
    const LAYER_CLEARCOAT_NORMAL: u32 = LayerSlot::ClearcoatNormal as u32;
    const LAYER_SHEEN_COLOR: u32 = LayerSlot::SheenColor as u32;
    const LAYER_SHEEN_ROUGHNESS: u32 = LayerSlot::SheenRoughness as u32;
    const LAYER_ANISOTROPY: u32 = LayerSlot::Anisotropy as u32;
    const LAYER_IRIDESCENCE: u32 = LayerSlot::Iridescence as u32;
    const LAYER_IRIDESCENCE_THICKNESS: u32 = LayerSlot::IridescenceThickness as u32;
    const LAYER_TRANSMISSION: u32 = LayerSlot::Transmission as u32;
    const LAYER_THICKNESS: u32 = LayerSlot::Thickness as u32;
}

/// Wrap mode "repeat".
const ALPHA_WRAP_REPEAT: u32 = 0;

/// Returns the two rows of the matrix `texture_from_uv`, each with a zero as padding.
pub(crate) fn uv_rows(texture: &TextureRef) -> [[f32; 4]; 2] {
    let m = texture.texture_from_uv;
    [
        [m.matrix2.x_axis.x, m.matrix2.y_axis.x, m.translation.x, 0.0],
        [m.matrix2.x_axis.y, m.matrix2.y_axis.y, m.translation.y, 0.0],
    ]
}

/// Returns the uniform of a material. It depends only on the material and on the formats of its textures.
pub(crate) fn gpu_material(scene: &Scene, support: &TextureSupport, material: &Material) -> GpuMaterial {
    let layers = material.layers.as_deref();
    let coat_texture = layers.and_then(|layers| layers.clearcoat_normal_texture);
    let spread = |texture| stores_normal_variance(scene, support, texture);
    let mut texture_from_uv = [[0.0; 4]; 10];
    let mut uv_sets = 0;
    for (slot, texture) in texture_refs(material).iter().enumerate() {
        if let Some(texture) = texture {
            texture_from_uv[2 * slot..2 * slot + 2].copy_from_slice(&uv_rows(texture));
            uv_sets |= (texture.uv_set + 1) << (2 * slot);
        }
    }
    let base_sampler = material.base_color_texture.map_or(0, |texture| {
        alpha_sampler(&scene.textures[texture.texture].sampler)
    });
    GpuMaterial {
        base_color: material.base_color.to_array(),
        emissive: material.emissive.to_array(),
        normal_scale: material.normal_scale,
        metallic: material.metallic,
        roughness: material.roughness,
        occlusion_strength: material.occlusion_strength,
        alpha_cutoff: alpha_cutoff(material),
        uv_sets,
        flags: [
            (material.unlit, MATERIAL_UNLIT),
            (layers.is_some(), MATERIAL_LAYERED),
            (layers.is_some_and(|l| l.glossiness), MATERIAL_GLOSSINESS),
            (material.alpha_mode == AlphaMode::Blend, MATERIAL_BLENDED),
            (material.is_placeholder, MATERIAL_PLACEHOLDER),
            (spread(material.normal_texture), MATERIAL_NORMALS_SPREAD),
            (spread(coat_texture), MATERIAL_COAT_NORMALS_SPREAD),
        ]
        .into_iter()
        .fold(MATERIAL_SAMPLER * base_sampler, |flags, (is_set, flag)| {
            if is_set { flags | flag } else { flags }
        }),
        texture_from_uv,
        ..GpuMaterial::default()
    }
}

/// Packs the sampler of alpha at mip level 0: the wrap modes of u and v in two bits each, and a bit for a
/// linear filter.
pub(crate) fn alpha_sampler(sampler: &Sampler) -> u32 {
    let wrap = |wrap| match wrap {
        Wrap::Repeat => ALPHA_WRAP_REPEAT,
        Wrap::Mirror => ALPHA_WRAP_MIRROR,
        Wrap::Clamp => ALPHA_WRAP_CLAMP,
    };
    wrap(sampler.wrap_u) | (wrap(sampler.wrap_v) << 2) | (ALPHA_LINEAR * u32::from(sampler.mag_linear))
}

/// Returns the minimum alpha of a visible fragment.
pub(crate) fn alpha_cutoff(material: &Material) -> f32 {
    match material.alpha_mode {
        AlphaMode::Mask => material.alpha_cutoff,
        AlphaMode::Opaque | AlphaMode::Blend => 0.0,
    }
}

/// Returns the uniform of a material's layers.
pub(crate) fn gpu_layers(material: &Material) -> MaterialLayers {
    let Some(layers) = material.layers.as_deref() else {
        return MaterialLayers::default();
    };
    let mut layer_slots = [[0; 4]; 3];
    let mut layer_from_uv = [[0.0; 4]; 24];
    let indices = layer_bindings(material).indices;
    for (slot, (texture, index)) in layers.slots().iter().zip(indices).enumerate() {
        if let (Some(texture), Some(index)) = (texture, index.filter(|i| *i < LAYER_TEXTURES)) {
            layer_slots[slot / 4][slot % 4] = (index as u32 + 1) | (texture.uv_set << 8);
            layer_from_uv[2 * slot..2 * slot + 2].copy_from_slice(&uv_rows(texture));
        }
    }
    let reflectance = if layers.ior == 0.0 {
        1.0
    } else {
        ((layers.ior - 1.0) / (layers.ior + 1.0)).powi(2)
    };
    // Black absorbs everything at any distance; its logarithm would be infinite.
    let absorption = |color: f32| -color.max(1e-6).ln() / layers.attenuation_distance;
    MaterialLayers {
        specular_color: layers.specular_color.to_array(),
        specular: layers.specular,
        sheen_color: layers.sheen_color.to_array(),
        sheen_roughness: layers.sheen_roughness,
        absorption: layers.attenuation_color.to_array().map(absorption),
        thickness: layers.thickness,
        reflectance,
        clearcoat: layers.clearcoat,
        clearcoat_roughness: layers.clearcoat_roughness,
        clearcoat_normal_scale: layers.clearcoat_normal_scale,
        anisotropy_direction: [layers.anisotropy_rotation.cos(), layers.anisotropy_rotation.sin()],
        anisotropy: layers.anisotropy,
        transmission: layers.transmission,
        iridescence: layers.iridescence,
        iridescence_ior: layers.iridescence_ior,
        iridescence_thickness: [layers.iridescence_thickness_min, layers.iridescence_thickness_max],
        // An index of 0 stands for a mirror, which transmits nothing.
        volume_ior: match material.is_volume() {
            true => layers.ior.max(1.0),
            false => 0.0,
        },
        layer_slots,
        layer_from_uv,
        ..MaterialLayers::default()
    }
}
