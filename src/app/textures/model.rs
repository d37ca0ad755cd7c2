//! Model of the texture viewer: the scene's textures, the shown one, and its display options.

use crate::{
    render::{DrawnTexture, SceneTexture, TexelCopy, materials::material_textures::uses},
    scene::{LayerSlot, Material, Scene, TextureRef},
};

use glam::{Affine2, Vec2};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// Maximum number of drawn triangles of a UV layout. A larger layout draws every n-th triangle.
pub(in crate::app) const MAX_TRIANGLES: usize = 12_000;

/// State of the texture viewer.
#[derive(Debug)]
pub(in crate::app) struct Textures {
    /// True if it is open.
    pub(in crate::app) is_open: bool,
    /// Texture to show next.
    pub(in crate::app) asked: Option<TextureRequest>,
    /// Search text.
    pub(in crate::app) search: String,
    /// Textures of the scene, then the one of the environment. `of` holds the numbers of scene and
    /// environment that the list was made for.
    pub(in crate::app) list: Arc<[Listed]>,
    pub(in crate::app) of: Option<[u64; 2]>,
    /// Index of the shown texture.
    pub(in crate::app) chosen: usize,
    pub(in crate::app) level: u32,
    /// Visibility of red, green, blue and alpha.
    pub(in crate::app) channels: [bool; 4],
    pub(in crate::app) is_smooth: bool,
    /// True if colours are shown as linear values.
    pub(in crate::app) is_linear: bool,
    /// Window pixels per mip-0 texel. `None` fits the whole texture.
    pub(in crate::app) zoom: Option<f32>,
    /// Mip-0 texel at the centre.
    pub(in crate::app) middle: Vec2,
    /// Exposure of radiance in stops.
    pub(in crate::app) exposure_ev: f32,
    pub(in crate::app) shows_uv: bool,
    /// Cached UV layout, and the index of its texture in `list`.
    pub(in crate::app) layout: Option<(usize, Arc<UvLayout>)>,
    /// The texture that was drawn last, or the reason why it cannot be drawn, with its index in `list`.
    pub(in crate::app) drawn: Option<(usize, Result<DrawnTexture, String>)>,
    /// Texel under the pointer.
    pub(in crate::app) pointed: Option<TexelAt>,
    /// Texel whose value was read back last.
    pub(in crate::app) value: Option<(TexelAt, Result<[f32; 4], String>)>,
    /// Texel whose readback is pending.
    pub(in crate::app) copy: Option<(TexelAt, TexelCopy)>,
}

/// Request to show a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) struct TextureRequest {
    /// Index into [`Scene::textures`].
    pub(in crate::app) texture: usize,
    /// Use of the texture where it was requested. `None` for any use.
    pub(in crate::app) used_as: Option<&'static str>,
}

/// A texel of a mip level of a listed texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) struct TexelAt {
    pub(in crate::app) texture: usize,
    pub(in crate::app) level: u32,
    pub(in crate::app) place: [u32; 2],
}

/// A texture of the scene.
#[derive(Debug)]
pub(in crate::app) struct Listed {
    pub(in crate::app) name: String,
    pub(in crate::app) texture: SceneTexture,
    pub(in crate::app) users: Vec<User>,
    /// Factor that converts values to radiance. `None` if they are not radiance.
    pub(in crate::app) radiance: Option<f32>,
}

/// A material slot that uses a texture.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct User {
    pub(in crate::app) material: usize,
    pub(in crate::app) slot: &'static str,
    /// Index into [`Scene::textures`].
    texture: usize,
    pub(in crate::app) uv_set: u32,
    pub(in crate::app) texture_from_uv: Affine2,
}

/// Triangle edges in texture space.
#[derive(Debug, Default, PartialEq)]
pub(in crate::app) struct UvLayout {
    /// End points of the edges, where 1 is the side of the texture.
    pub(in crate::app) edges: Vec<[Vec2; 2]>,
    /// Number of triangles in the layout.
    pub(in crate::app) triangles: usize,
    /// Number of triangles whose edges are included.
    pub(in crate::app) drawn: usize,
}

impl Default for Textures {
    fn default() -> Self {
        Self {
            is_open: false,
            asked: None,
            search: String::new(),
            list: Arc::default(),
            of: None,
            chosen: 0,
            level: 0,
            channels: [true, true, true, false],
            is_smooth: false,
            is_linear: false,
            zoom: None,
            middle: Vec2::ZERO,
            exposure_ev: 0.0,
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
    /// Drops everything on a lost device or of a replaced scene.
    pub(in crate::app) fn reset(&mut self) {
        *self = Self {
            is_open: self.is_open,
            asked: self.asked,
            search: std::mem::take(&mut self.search),
            channels: self.channels,
            is_smooth: self.is_smooth,
            is_linear: self.is_linear,
            exposure_ev: self.exposure_ev,
            shows_uv: self.shows_uv,
            ..Self::default()
        };
    }

    /// Shows the whole texture with this index in the list.
    pub(in crate::app) fn choose(&mut self, index: usize) {
        self.chosen = index;
        (self.level, self.zoom, self.pointed) = (0, None, None);
    }

    /// Shows the requested texture once the list exists.
    pub(in crate::app) fn choose_asked(&mut self, scene: &Scene) {
        let Some(asked) = self.asked.take() else {
            return;
        };
        if let Some(index) = found(&self.list, scene, asked) {
            self.search.clear();
            self.choose(index);
        }
    }

    /// Returns the shown texture.
    pub(in crate::app) fn shown(&self) -> Option<&Listed> {
        self.list.get(self.chosen)
    }

    /// Returns the cached UV layout of the shown texture's users.
    pub(in crate::app) fn layout(&mut self, scene: &Scene) -> Option<Arc<UvLayout>> {
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

/// Returns the index in `list` of the requested texture. An image with two uses is listed twice. A match of
/// the requested use counts most, then a match of the texture itself.
fn found(list: &[Listed], scene: &Scene, asked: TextureRequest) -> Option<usize> {
    let image = scene.textures.get(asked.texture)?.image;
    let of_image = (0..).zip(list).filter(|(_, of)| of.texture.image == Some(image));
    let fit = |of: &Listed| {
        let has_use = asked.used_as == Some(of.texture.used_as);
        let has_texture = of.users.iter().any(|user| user.texture == asked.texture);
        2 * u32::from(has_use) + u32::from(has_texture)
    };
    // Among equal matches the first one wins.
    let best = of_image.max_by_key(|(index, of)| (fit(of), std::cmp::Reverse(*index)));
    best.map(|(index, _)| index)
}

/// Lists the uploaded textures of `scene`, and the texture of the environment.
pub(in crate::app) fn listed(
    scene: &Scene,
    uploaded: &[SceneTexture],
    environment: Option<Listed>,
) -> Arc<[Listed]> {
    let mut users = users(scene);
    let of_scene = uploaded.iter().filter_map(|texture| {
        let image = texture.image?;
        Some(Listed {
            name: match scene.images[image].name.as_str() {
                "" => format!("image {image}"),
                name => name.to_owned(),
            },
            users: users.remove(&(image, texture.used_as)).unwrap_or_default(),
            texture: texture.clone(),
            radiance: None,
        })
    });
    of_scene.chain(environment).collect()
}

/// Returns all material slots that have a texture, by image index and use.
fn users(scene: &Scene) -> HashMap<(usize, &'static str), Vec<User>> {
    let mut users: HashMap<_, Vec<User>> = HashMap::new();
    for (number, material) in scene.materials.iter().enumerate() {
        for slot in slots(material) {
            let user = User {
                material: number,
                slot: slot.name,
                texture: slot.texture.texture,
                uv_set: slot.texture.uv_set,
                texture_from_uv: slot.texture.texture_from_uv,
            };
            let image = scene.textures[user.texture].image;
            users.entry((image, slot.used_as)).or_default().push(user);
        }
    }
    users
}

/// A texture slot of a material.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct Slot {
    pub(in crate::app) name: &'static str,
    /// Use of the image.
    pub(in crate::app) used_as: &'static str,
    pub(in crate::app) texture: TextureRef,
    /// True if it holds sRGB colours rather than data.
    pub(in crate::app) is_color: bool,
}

/// Returns the texture slots of a material.
pub(in crate::app) fn slots(material: &Material) -> impl Iterator<Item = Slot> {
    let base = [
        ("base colour", material.base_color_texture, true),
        ("metal and roughness", material.metallic_roughness_texture, false),
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
    let slot = |((name, texture, is_color), used_as): ((_, Option<TextureRef>, _), _)| {
        Some(Slot {
            name,
            used_as,
            texture: texture?,
            is_color,
        })
    };
    all.zip(uses(material)).filter_map(slot)
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

/// Returns the edges of the triangles of `users`, once for each primitive, UV set and UV transform. Above
/// [`MAX_TRIANGLES`] only every n-th triangle is drawn.
fn uv_layout(scene: &Scene, users: &[User]) -> UvLayout {
    // Users of each material with distinct UV sets and transforms.
    let mut ways: HashMap<usize, Vec<&User>> = HashMap::new();
    for user in users {
        let of_material = ways.entry(user.material).or_default();
        let way = (user.uv_set, user.texture_from_uv);
        // A linear search is enough, because a material has only a few slots.
        if !of_material
            .iter()
            .any(|known| (known.uv_set, known.texture_from_uv) == way)
        {
            of_material.push(user);
        }
    }
    let primitives = || scene.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let used = || {
        primitives().flat_map(|primitive| {
            let of_material = ways.get(&primitive.material).into_iter().flatten();
            of_material.map(move |way| (primitive, *way))
        })
    };
    let mut layout = UvLayout {
        triangles: used().map(|(primitive, _)| primitive.indices.len()).sum(),
        ..UvLayout::default()
    };
    let step = layout.triangles.div_ceil(MAX_TRIANGLES).max(1);
    // The count runs over all primitives, so that each contributes in proportion to its triangles.
    let mut number = 0;
    for (primitive, way) in used() {
        let uvs = match way.uv_set {
            0 => &primitive.uv0,
            _ => &primitive.uv1,
        };
        let first = (step - number % step) % step;
        number += primitive.indices.len();
        let mut known = HashSet::new();
        for triangle in primitive.indices.iter().skip(first).step_by(step) {
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
    fn material_slots_are_grouped_by_image_and_usage() {
        let mut scene = scene();
        // The colour image holds data too.
        scene.materials[0].occlusion_texture = texture(1, 0);
        let users = users(&scene);
        let told = |image: usize, used_as: &'static str| -> Vec<_> {
            let users = users.get(&(image, used_as)).into_iter().flatten();
            users.map(|user| user.slot).collect()
        };
        assert_eq!(told(1, "colors"), ["base colour", "emission"]);
        assert_eq!(told(1, "numbers"), ["occlusion"]);
        assert_eq!(told(0, "numbers"), ["clear coat"]);
        assert_eq!(users.len(), 3);
    }

    /// A quad has five edges, with its diagonal once. The slot determines the UV set and its transform.
    #[test]
    fn uv_layouts_use_the_uv_set_and_transform_of_the_slot() {
        let scene = scene();
        let all = users(&scene);
        let color = uv_layout(&scene, &all[&(1, "colors")]);
        assert_eq!((color.edges.len(), color.triangles, color.drawn), (5, 2, 2));
        assert_eq!(color.edges[0], [Vec2::ZERO, Vec2::new(2.0, 0.0)]);
        let coat = uv_layout(&scene, &all[&(0, "numbers")]);
        assert_eq!(coat.edges[0], [Vec2::ZERO, Vec2::X]);
    }

    /// If there are too many triangles, a uniform sample of every primitive is drawn. The count includes all
    /// triangles.
    #[test]
    fn large_layouts_are_sampled_evenly() {
        let mut scene = scene();
        let primitive = &mut scene.meshes[0].primitives[0];
        let count = 20_001;
        primitive.indices = (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let corner = |i: u32| Vec2::new(i as f32, 0.0);
        primitive.uv0 = (0..3 * count).map(corner).collect();
        let mut small = primitive.clone();
        small.indices.truncate(7);
        small.uv0.iter_mut().for_each(|uv| uv.y = 1.0);
        let primitives = &mut scene.meshes[0].primitives;
        primitives.push(small);
        let users = &users(&scene)[&(1, "colors")][..1];
        let layout = uv_layout(&scene, users);
        assert_eq!((layout.triangles, layout.drawn), (20_008, 10_004));
        assert_eq!(layout.edges.len(), 3 * layout.drawn);
        let triangles = layout.edges.chunks(3).map(|edges| edges[0][0]);
        let drawn: Vec<_> = triangles.map(|at| (at.x as u32 / 6, at.y)).collect();
        let (large, small) = drawn.split_at(10_001);
        let every_second: Vec<u32> = large.iter().map(|(triangle, _)| triangle / 2).collect();
        assert_eq!(every_second, (0..10_001).collect::<Vec<_>>());
        assert_eq!(small.iter().map(|(_, y)| *y).collect::<Vec<_>>(), [1.0; 3]);
        // One triangle too many leads to a sample, while the maximum number is drawn completely.
        scene.meshes[0].primitives.truncate(1);
        scene.meshes[0].primitives[0].indices.truncate(MAX_TRIANGLES);
        let layout = uv_layout(&scene, users);
        assert_eq!((layout.triangles, layout.drawn), (MAX_TRIANGLES, MAX_TRIANGLES));
    }

    /// Ten times the materials and primitives take about ten times as long, not a hundred times.
    #[test]
    fn many_materials_are_listed_in_linear_time() {
        let many = |count: usize| {
            let mut scene = scene();
            let (material, primitive) = (scene.materials[0].clone(), scene.meshes[0].primitives[0].clone());
            scene.materials = vec![material; count];
            let primitives = (0..count).map(|material| Primitive {
                material,
                ..primitive.clone()
            });
            scene.meshes[0].primitives = primitives.collect();
            scene
        };
        let steps = |count: usize| {
            let scene = many(count);
            let start = std::time::Instant::now();
            let users = users(&scene);
            let layout = uv_layout(&scene, &users[&(1, "colors")]);
            assert_eq!(layout.triangles, 2 * count);
            start.elapsed()
        };
        let [few, many] = [2_000, 20_000].map(|count| (0..3).map(|_| steps(count)).min().unwrap());
        assert!(
            many < 40 * few.max(std::time::Duration::from_millis(1)),
            "{few:?} {many:?}"
        );
    }
}
