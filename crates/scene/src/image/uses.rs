//! Uses of images by materials.

use crate::{graph::Scene, texture::TextureRef};

/// Role of a texture in a material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Colour data.
    Color,
    /// Non-colour data: normals or factors.
    Number,
}

/// Uses of an image that affect its decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Uses {
    /// True if used as colours, for which eight bits per channel are enough.
    pub(super) colors: bool,
    /// True if used as non-colour data.
    pub(crate) numbers: bool,
    /// True if used as normals.
    pub(crate) normals: bool,
    /// True if the loader itself reads the texels, which needs eight bits per channel.
    pub(super) texels: bool,
}

impl Uses {
    /// Returns the use in one role.
    pub(crate) fn of(role: Role) -> Self {
        Self {
            colors: role == Role::Color,
            numbers: role == Role::Number,
            ..Self::default()
        }
    }

    /// Returns the union of the two uses.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            colors: self.colors | other.colors,
            numbers: self.numbers | other.numbers,
            normals: self.normals | other.normals,
            texels: self.texels | other.texels,
        }
    }
}

/// Collects the uses of each texture of a scene.
pub(crate) fn uses(scene: &mut Scene) -> Vec<Uses> {
    let mut uses = vec![Uses::default(); scene.textures.len()];
    for material in &mut scene.materials {
        let number = |texture: Option<TextureRef>| texture.map(|t| t.texture);
        let layers = material.layers.as_deref();
        let glossiness = layers.is_some_and(|layers| layers.glossiness);
        let colors = [
            material.base_color_texture,
            material.emissive_texture,
            layers.and_then(|layers| layers.specular_color_texture),
            layers.and_then(|layers| layers.sheen_color_texture),
            material.metallic_roughness_texture.filter(|_| glossiness),
        ]
        .map(number);
        let normals = [
            material.normal_texture,
            layers.and_then(|layers| layers.clearcoat_normal_texture),
        ]
        .map(number);
        let all: Vec<usize> = material.textures_mut().map(|r| r.texture).collect();
        for &index in &all {
            let texture = Some(index);
            let as_colors = colors.iter().filter(|color| **color == texture).count();
            let here = Uses {
                colors: as_colors > 0,
                numbers: all.iter().filter(|other| **other == index).count() > as_colors,
                normals: normals.contains(&texture),
                texels: false,
            };
            uses[index] = uses[index].and(here);
        }
    }
    uses
}

/// Removes textures whose image is missing from materials, which then use only their factors. Colour textures
/// stay and show the placeholder.
pub(crate) fn forget_missing(scene: &mut Scene, missing: &[bool]) {
    if !missing.contains(&true) {
        return;
    }
    let textures = &scene.textures;
    let clear = |slot: &mut Option<TextureRef>| {
        slot.take_if(|of| missing[textures[of.texture].image]);
    };
    for material in &mut scene.materials {
        clear(&mut material.metallic_roughness_texture);
        clear(&mut material.normal_texture);
        clear(&mut material.occlusion_texture);
        let Some(layers) = material.layers.as_deref_mut() else {
            continue;
        };
        let colors = (layers.specular_color_texture, layers.sheen_color_texture);
        layers.slots_mut().into_iter().for_each(clear);
        (layers.specular_color_texture, layers.sheen_color_texture) = colors;
    }
}
