//! The texture viewer: which textures the scene has, which one is shown, and how.

use crate::{
    render::{SceneTexture, ShownTexture, TexelCopy},
    scene::{LayerSlot, Material, Scene, TextureRef},
};
use glam::{Affine2, Vec2};
use std::{collections::HashSet, sync::Arc};

/// Edges of triangles that are drawn at most.
pub(super) const MOST_EDGES: usize = 1 << 14;

/// What the viewer shows.
#[derive(Debug)]
pub(super) struct Textures {
    /// Whether it is open.
    pub(super) is_open: bool,
    /// Index into [`Scene::textures`] of the one to be shown.
    pub(super) asked: Option<usize>,
    /// What the person looks for.
    pub(super) search: String,
    /// The textures of the scene, and the number of that scene.
    pub(super) list: Arc<[Listed]>,
    pub(super) of_scene: Option<u64>,
    /// Index of the one that is shown.
    pub(super) chosen: usize,
    pub(super) level: u32,
    /// Red, green, blue and alpha.
    pub(super) channels: [bool; 4],
    pub(super) is_smooth: bool,
    /// Whether colours are shown as linear values.
    pub(super) is_linear: bool,
    /// Pixels per texel of the finest level; `None` fits the whole texture.
    pub(super) zoom: Option<f32>,
    /// The texel of the finest level that is in the middle.
    pub(super) middle: Vec2,
    pub(super) shows_uv: bool,
    /// The layout of texture coordinates, and of which texture.
    pub(super) layout: Option<(usize, Arc<UvLayout>)>,
    /// What is drawn, and which texture that is.
    pub(super) drawn: Option<(usize, Result<ShownTexture, String>)>,
    /// The texel under the pointer.
    pub(super) pointed: Option<TexelAt>,
    /// The texel whose value is known last.
    pub(super) value: Option<(TexelAt, Result<[f32; 4], String>)>,
    /// A texel that is on its way back.
    pub(super) copy: Option<(TexelAt, TexelCopy)>,
}

/// A texel of a level of a listed texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TexelAt {
    pub(super) texture: usize,
    pub(super) level: u32,
    pub(super) place: [u32; 2],
}

/// A texture of the scene.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) texture: SceneTexture,
    pub(super) users: Vec<User>,
}

/// A slot of a material that a texture is in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct User {
    pub(super) material: usize,
    pub(super) slot: &'static str,
    pub(super) uv_set: u32,
    pub(super) texture_from_uv: Affine2,
}

/// Edges of triangles in a texture.
#[derive(Debug, Default, PartialEq)]
pub(super) struct UvLayout {
    /// Their ends, where 1 is the side of the texture.
    pub(super) edges: Vec<[Vec2; 2]>,
    /// Triangles that there are.
    pub(super) triangles: usize,
    /// Those whose edges are among them.
    pub(super) drawn: usize,
}

impl Default for Textures {
    fn default() -> Self {
        Self {
            is_open: false,
            asked: None,
            search: String::new(),
            list: Arc::default(),
            of_scene: None,
            chosen: 0,
            level: 0,
            channels: [true, true, true, false],
            is_smooth: false,
            is_linear: false,
            zoom: None,
            middle: Vec2::ZERO,
            shows_uv: false,
            layout: None,
            drawn: None,
            pointed: None,
            value: None,
            copy: None,
        }
    }
}

impl Textures {
    /// Forgets all that was on the device, which is lost, or of a scene that is no more.
    pub(super) fn forget(&mut self) {
        *self = Self {
            is_open: self.is_open,
            asked: self.asked,
            search: std::mem::take(&mut self.search),
            channels: self.channels,
            is_smooth: self.is_smooth,
            is_linear: self.is_linear,
            shows_uv: self.shows_uv,
            ..Self::default()
        };
    }

    /// Shows the texture with this index in the list, whole.
    pub(super) fn choose(&mut self, index: usize) {
        self.chosen = index;
        (self.level, self.zoom, self.pointed) = (0, None, None);
    }

    /// Shows the texture that was asked for, once the list is there.
    pub(super) fn choose_asked(&mut self, scene: &Scene) {
        let Some(asked) = self.asked.take() else {
            return;
        };
        let image = scene.textures.get(asked).map(|texture| texture.image);
        let mut listed = self.list.iter();
        if let Some(index) = listed.position(|listed| Some(listed.texture.image) == image) {
            self.search.clear();
            self.choose(index);
        }
    }

    /// The texture that is shown.
    pub(super) fn shown(&self) -> Option<&Listed> {
        self.list.get(self.chosen)
    }

    /// The edges of what uses the texture that is shown, found once.
    pub(super) fn layout(&mut self, scene: &Scene) -> Option<Arc<UvLayout>> {
        let chosen = self.chosen;
        if let Some((of, layout)) = &self.layout
            && *of == chosen
        {
            return Some(layout.clone());
        }
        let layout = Arc::new(uv_layout(scene, &self.shown()?.users));
        self.layout = Some((chosen, layout.clone()));
        Some(layout)
    }
}

/// The textures of `scene` that were uploaded.
pub(super) fn listed(scene: &Scene, uploaded: &[SceneTexture]) -> Arc<[Listed]> {
    let users = users(scene);
    uploaded
        .iter()
        .map(|texture| Listed {
            name: match scene.images[texture.image].name.as_str() {
                "" => format!("image {}", texture.image),
                name => name.to_owned(),
            },
            users: users
                .iter()
                .filter(|(image, _)| *image == texture.image)
                .map(|(_, user)| user.clone())
                .collect(),
            texture: texture.clone(),
        })
        .collect()
}

/// Every slot that has a texture, with the image.
fn users(scene: &Scene) -> Vec<(usize, User)> {
    let mut users = Vec::new();
    for (number, material) in scene.materials.iter().enumerate() {
        for Slot { name, texture, .. } in slots(material) {
            let user = User {
                material: number,
                slot: name,
                uv_set: texture.uv_set,
                texture_from_uv: texture.texture_from_uv,
            };
            users.push((scene.textures[texture.texture].image, user));
        }
    }
    users
}

/// A texture of a material.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) name: &'static str,
    pub(super) texture: TextureRef,
    /// Whether it holds sRGB colours, and not numbers.
    pub(super) is_color: bool,
}

/// The textures of a material.
pub(super) fn slots(material: &Material) -> impl Iterator<Item = Slot> {
    let base = [
        ("base colour", material.base_color_texture, true),
        (
            "metal and roughness",
            material.metallic_roughness_texture,
            false,
        ),
        ("normals", material.normal_texture, false),
        ("occlusion", material.occlusion_texture, false),
        ("emission", material.emissive_texture, true),
    ];
    let layers = material.layers.as_deref().map(|layers| {
        let all = LayerSlot::ALL.into_iter().zip(layers.slots());
        all.map(|(slot, texture)| {
            let is_color = matches!(slot, LayerSlot::SpecularColor | LayerSlot::SheenColor);
            (layer_name(slot), texture, is_color)
        })
    });
    let all = base.into_iter().chain(layers.into_iter().flatten());
    all.filter_map(|(name, texture, is_color)| {
        Some(Slot {
            name,
            texture: texture?,
            is_color,
        })
    })
}

fn layer_name(slot: LayerSlot) -> &'static str {
    match slot {
        LayerSlot::Specular => "specular",
        LayerSlot::SpecularColor => "specular colour",
        LayerSlot::Clearcoat => "clear coat",
        LayerSlot::ClearcoatRoughness => "roughness of the coat",
        LayerSlot::ClearcoatNormal => "normals of the coat",
        LayerSlot::SheenColor => "sheen",
        LayerSlot::SheenRoughness => "roughness of the sheen",
        LayerSlot::Anisotropy => "anisotropy",
        LayerSlot::Iridescence => "iridescence",
        LayerSlot::IridescenceThickness => "thickness of the film",
        LayerSlot::Transmission => "transmission",
        LayerSlot::Thickness => "thickness",
    }
}

/// Edges of the triangles that these slots are on, each once for a primitive and a way to use it, at most
/// [`MOST_EDGES`].
fn uv_layout(scene: &Scene, users: &[User]) -> UvLayout {
    let mut layout = UvLayout::default();
    let mut ways: Vec<&User> = Vec::new();
    for user in users {
        let is_same = |way: &&User| {
            (way.material, way.uv_set, way.texture_from_uv)
                == (user.material, user.uv_set, user.texture_from_uv)
        };
        if !ways.iter().any(is_same) {
            ways.push(user);
        }
    }
    let primitives = scene.meshes.iter().flat_map(|mesh| &mesh.primitives);
    for primitive in primitives {
        for way in ways.iter().filter(|way| way.material == primitive.material) {
            let uvs = match way.uv_set {
                0 => &primitive.uv0,
                _ => &primitive.uv1,
            };
            layout.triangles += primitive.indices.len();
            let mut known = HashSet::new();
            for triangle in &primitive.indices {
                if layout.edges.len() + 3 > MOST_EDGES {
                    break;
                }
                layout.drawn += 1;
                for corner in 0..3 {
                    let [a, b] = [triangle[corner], triangle[(corner + 1) % 3]];
                    if known.insert([a.min(b), a.max(b)]) {
                        let at = |vertex: u32| {
                            let uv = uvs.get(vertex as usize).copied().unwrap_or_default();
                            way.texture_from_uv.transform_point2(uv)
                        };
                        layout.edges.push([at(a), at(b)]);
                    }
                }
            }
        }
    }
    layout
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Layers, Mesh, Primitive};

    fn texture(texture: usize, uv_set: u32) -> Option<TextureRef> {
        Some(TextureRef {
            texture,
            uv_set,
            texture_from_uv: Affine2::from_scale(Vec2::new(2.0, 1.0)),
        })
    }

    fn scene() -> Scene {
        let square = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
        let primitive = Primitive {
            uv0: square.to_vec(),
            uv1: square.map(|uv| 0.5 * uv).to_vec(),
            indices: vec![[0, 1, 2], [0, 2, 3]],
            ..Primitive::default()
        };
        let material = Material {
            base_color_texture: texture(1, 0),
            emissive_texture: texture(1, 0),
            layers: Some(Box::new(Layers {
                clearcoat_texture: texture(0, 1),
                ..Layers::default()
            })),
            ..Material::default()
        };
        let sampler = crate::scene::Sampler::default();
        let textures = [0, 1].map(|image| crate::scene::Texture { image, sampler });
        Scene {
            materials: vec![material],
            textures: textures.to_vec(),
            meshes: vec![Mesh {
                name: String::new(),
                primitives: vec![primitive],
            }],
            ..Scene::default()
        }
    }

    #[test]
    fn users_are_all_slots() {
        let users = users(&scene());
        let told: Vec<_> = users
            .iter()
            .map(|(image, user)| (*image, user.slot))
            .collect();
        let expected = [(1, "base colour"), (1, "emission"), (0, "clear coat")];
        assert_eq!(told, expected);
    }

    /// A quad has five edges, its diagonal once; the slot says which coordinates, and how they are transformed.
    #[test]
    fn layouts_follow_the_slot() {
        let scene = scene();
        let all = users(&scene);
        let of = |image: usize| {
            let users = all.iter().filter(|(of, _)| *of == image);
            let users: Vec<_> = users.map(|(_, user)| user.clone()).collect();
            uv_layout(&scene, &users)
        };
        let color = of(1);
        assert_eq!((color.edges.len(), color.triangles, color.drawn), (5, 2, 2));
        assert_eq!(color.edges[0], [Vec2::ZERO, Vec2::new(2.0, 0.0)]);
        assert_eq!(of(0).edges[0], [Vec2::ZERO, Vec2::X]);
        // Of too many triangles the first ones are drawn, and all are told.
        let mut large = scene.clone();
        let primitive = &mut large.meshes[0].primitives[0];
        primitive.indices = (0..20_000).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let users: Vec<_> = all.iter().map(|(_, user)| user.clone()).take(1).collect();
        let large = uv_layout(&large, &users);
        assert_eq!(large.triangles, 20_000);
        assert_eq!(
            (large.edges.len(), large.drawn),
            (3 * large.drawn, MOST_EDGES / 3)
        );
    }
}
