//! The uniforms of materials and of their layers.

use super::{
    bindings::LAYER_TEXTURES,
    material_textures::{keeps_spread, layer_bindings, texture_refs},
};
use crate::{
    gpu::layout::{Material as GpuMaterial, MaterialLayers},
    scene::{AlphaMode, Material, Scene, TextureRef, TextureSupport},
};

/// The rows of `texture_from_uv`.
pub(super) fn uv_rows(texture: &TextureRef) -> [[f32; 4]; 2] {
    let m = texture.texture_from_uv;
    [
        [m.matrix2.x_axis.x, m.matrix2.y_axis.x, m.translation.x, 0.0],
        [m.matrix2.x_axis.y, m.matrix2.y_axis.y, m.translation.y, 0.0],
    ]
}

/// The uniform of a material. It depends on the material and on the formats of its textures alone.
pub(super) fn gpu_material(
    scene: &Scene,
    support: &TextureSupport,
    material: &Material,
) -> GpuMaterial {
    let layers = material.layers.as_deref();
    let coat_texture = layers.and_then(|layers| layers.clearcoat_normal_texture);
    let mut texture_from_uv = [[0.0; 4]; 10];
    let mut uv_sets = 0;
    for (slot, texture) in texture_refs(material).iter().enumerate() {
        if let Some(texture) = texture {
            texture_from_uv[2 * slot..2 * slot + 2].copy_from_slice(&uv_rows(texture));
            uv_sets |= (texture.uv_set + 1) << (2 * slot);
        }
    }
    GpuMaterial {
        base_color: material.base_color.to_array(),
        emissive: material.emissive.to_array(),
        normal_scale: material.normal_scale,
        metallic: material.metallic,
        roughness: material.roughness,
        occlusion_strength: material.occlusion_strength,
        alpha_cutoff: if material.alpha_mode == AlphaMode::Mask {
            material.alpha_cutoff
        } else {
            0.0
        },
        uv_sets,
        flags: u32::from(material.double_sided)
            | u32::from(material.unlit) << 1
            | u32::from(material.layers.is_some()) << 2
            | u32::from(material.layers.as_ref().is_some_and(|l| l.glossiness)) << 3
            | u32::from(material.alpha_mode == AlphaMode::Blend) << 4
            | u32::from(material.stand_in) << 5
            | u32::from(keeps_spread(scene, support, material.normal_texture)) << 6
            | u32::from(keeps_spread(scene, support, coat_texture)) << 7,
        texture_from_uv,
        ..GpuMaterial::default()
    }
}

/// The uniform of its layers.
pub(super) fn gpu_layers(material: &Material) -> MaterialLayers {
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
    // Black lets nothing through after any distance; its logarithm would be infinite.
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
        anisotropy_direction: [
            layers.anisotropy_rotation.cos(),
            layers.anisotropy_rotation.sin(),
        ],
        anisotropy: layers.anisotropy,
        transmission: layers.transmission,
        iridescence: layers.iridescence,
        iridescence_ior: layers.iridescence_ior,
        iridescence_thickness: [
            layers.iridescence_thickness_min,
            layers.iridescence_thickness_max,
        ],
        layer_slots,
        layer_from_uv,
    }
}
