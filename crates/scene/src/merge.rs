//! Merging of several scenes into one.

use super::{
    clip::PropertyOf,
    graph::{Scene, WarningPlace},
    material::Material,
};
use std::collections::HashMap;

/// Appends `other` to `scene`, with indices offset past the indices of `scene`.
pub(super) fn append(scene: &mut Scene, mut other: Scene) {
    let [nodes, meshes, skins, materials] = [
        scene.nodes.len(),
        scene.meshes.len(),
        scene.skins.len(),
        scene.materials.len(),
    ];
    // Variants with equal names are merged, so that choosing one affects all files.
    let named = |(number, name): (usize, &String)| (name.clone(), number);
    let mut known: HashMap<String, usize> = scene.variants.iter().enumerate().map(named).collect();
    let number = |name: String| {
        *known.entry(name).or_insert_with_key(|name| {
            scene.variants.push(name.clone());
            scene.variants.len() - 1
        })
    };
    let variants: Vec<usize> = other.variants.drain(..).map(number).collect();
    let [textures, images, lights, cameras, volumes] = [
        scene.textures.len(),
        scene.images.len(),
        scene.lights.len(),
        scene.cameras.len(),
        scene.volumes.len(),
    ];
    let moved = |index: &mut Option<usize>, by: usize| *index = index.map(|i| i + by);
    for node in &mut other.nodes {
        moved(&mut node.parent, nodes);
        moved(&mut node.mesh, meshes);
        moved(&mut node.skin, skins);
        moved(&mut node.light, lights);
        moved(&mut node.camera, cameras);
        moved(&mut node.volume, volumes);
    }
    for primitive in other.meshes.iter_mut().flat_map(|m| &mut m.primitives) {
        primitive.material += materials;
        for (variant, material) in &mut primitive.variants {
            *variant = variant.map(|variant| variants[variant]);
            *material += materials;
        }
    }
    for joint in other.skins.iter_mut().flat_map(|s| &mut s.joints) {
        *joint += nodes;
    }
    for reference in other.materials.iter_mut().flat_map(Material::textures_mut) {
        reference.texture += textures;
    }
    for texture in &mut other.textures {
        texture.image += images;
    }
    for channel in other.clips.iter_mut().flat_map(|c| &mut c.channels) {
        channel.target += match channel.property.of() {
            PropertyOf::Node => nodes,
            PropertyOf::Material => materials,
            PropertyOf::Light => lights,
            PropertyOf::Camera => cameras,
        };
    }
    let warnings = scene.warnings.len();
    for (warning, place) in &mut other.warning_places {
        *warning += warnings;
        match place {
            WarningPlace::Node(node) => *node += nodes,
            WarningPlace::Mesh(mesh) => *mesh += meshes,
            WarningPlace::Material(material) => *material += materials,
            WarningPlace::Camera(camera) => *camera += cameras,
            WarningPlace::Clip(clip) => *clip += scene.clips.len(),
        }
    }
    scene.warning_places.append(&mut other.warning_places);
    scene.nodes.append(&mut other.nodes);
    scene.meshes.append(&mut other.meshes);
    scene.skins.append(&mut other.skins);
    scene.materials.append(&mut other.materials);
    scene.textures.append(&mut other.textures);
    scene.images.append(&mut other.images);
    scene.clips.append(&mut other.clips);
    scene.lights.append(&mut other.lights);
    scene.cameras.append(&mut other.cameras);
    scene.volumes.append(&mut other.volumes);
    for extension in other.extensions {
        match scene.extensions.binary_search_by(|e| e.name.cmp(&extension.name)) {
            Ok(at) => scene.extensions[at].required |= extension.required,
            Err(at) => scene.extensions.insert(at, extension),
        }
    }
    scene.sources.append(&mut other.sources);
    scene.warnings.append(&mut other.warnings);
    scene.unused_texture = scene.unused_texture.take().or(other.unused_texture);
}
