//! Reads nodes, with their meshes, skins, lights and cameras.

use super::{
    camera::cameras,
    file::{File, name_of},
    hierarchy::Hierarchy,
    instancing,
    light::lights,
    skin,
};
use crate::{
    Result,
    graph::{Scene, WarningPlace},
    load::{Budget, Load},
    mesh::Mesh,
    node::{Node, Transform},
};
use glam::{DMat3, DMat4, DQuat, DVec3, DVec4, Mat4, Vec3, Vec4};
use std::collections::HashMap;

/// Indices in the file of the meshes and skins that nodes use, in the scene's order.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// Meshes, each with the number of nodes that show it.
    pub(super) meshes: Vec<(usize, u64)>,
    skins: Vec<usize>,
}

/// Reads the scene's nodes, skins, lights and cameras. Nodes refer to meshes by their index in the result.
pub(super) fn nodes(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    load: &mut Load<'_>,
    scene: &mut Scene,
) -> Result<Used> {
    lights(file, scene)?;
    cameras(file, scene)?;
    let mut used = Used::default();
    let (mut mesh_indices, mut skin_indices) = (HashMap::new(), HashMap::new());
    let mut instances = Vec::new();
    // Growing a list of a million nodes would need half as much memory again.
    scene.nodes.reserve_exact(hierarchy.order.len());
    for ordered in &hierarchy.order {
        let (number, json) = (ordered.node, &file.root.nodes[ordered.node]);
        let others = json.extensions.as_ref().map(|all| &all.others);
        let user = || format!("node {number}");
        file.place.set(Some(WarningPlace::Node(scene.nodes.len())));
        let mut node = Node {
            name: name_of(json.name.as_ref()),
            parent: ordered.parent,
            transform: transform(file, number)?,
            mesh: None,
            skin: None,
            weights: json.weights.clone().unwrap_or_default(),
            light: None,
            file_from_light: None,
            volume: None,
            camera: None,
            visible: others
                .and_then(|all| all.get("KHR_node_visibility")?.get("visible")?.as_bool())
                .unwrap_or(true),
            instance: false,
        };
        if ordered.shown {
            if let Some(mesh) = json.mesh.map(|m| m.value()) {
                file.get(&file.root.meshes, "mesh", mesh, user)?;
                let index = *mesh_indices.entry(mesh).or_insert_with(|| {
                    used.meshes.push((mesh, 0));
                    used.meshes.len() - 1
                });
                let many = others.and_then(|all| all.get(instancing::NAME));
                let many = many.map_or(Ok(None), |value| instancing::read(file, number, value, load))?;
                used.meshes[index].1 += many.as_ref().map_or(1, |many| many.len() as u64);
                match many {
                    Some(many) => instances.push((scene.nodes.len(), index, many)),
                    None => node.mesh = Some(index),
                }
                node.skin = json.skin.map(|skin| {
                    *skin_indices.entry(skin.value()).or_insert_with(|| {
                        used.skins.push(skin.value());
                        used.skins.len() - 1
                    })
                });
            }
            if let Some(light) = json
                .extensions
                .as_ref()
                .and_then(|e| e.khr_lights_punctual.as_ref())
                .map(|l| l.light.value())
            {
                file.get(&scene.lights, "light", light, user)?;
                node.light = Some(light);
            }
            if let Some(camera) = json.camera.map(|c| c.value()) {
                file.get(&scene.cameras, "camera", camera, user)?;
                if scene.cameras[camera].name.is_empty() {
                    scene.cameras[camera].name.clone_from(&node.name);
                }
                node.camera = Some(camera);
            }
        }
        scene.nodes.push(node);
    }
    file.place.set(None);
    // Instances come last, and thus after their parents.
    for (parent, mesh, transforms) in instances {
        scene.nodes.extend(transforms.into_iter().map(|transform| Node {
            parent: Some(parent),
            transform,
            mesh: Some(mesh),
            instance: true,
            ..Node::default()
        }));
    }
    for &skin in &used.skins {
        scene.skins.push(skin::read(file, skin, hierarchy)?);
    }
    for skin in scene.nodes.iter().filter_map(|node| node.skin) {
        let joints = scene.skins[skin].joints.len() as u64;
        load.take(Budget::Joints, joints, || file.path.display().to_string())?;
    }
    Ok(used)
}

/// Reads the transform of a node in f64. A transform that overflows f32 is an error, because rendering rounds
/// it to f32.
fn transform(file: &File<'_>, number: usize) -> Result<Transform> {
    let json = &file.root.nodes[number];
    let (finite, transform) = if let Some(matrix) = json.matrix {
        let rounded = Mat4::from_cols_array(&matrix);
        if rounded.is_finite() && !rounded.row(3).abs_diff_eq(Vec4::W, 1e-4) {
            return Err(file.error(format!("the matrix of node {number} is not affine")));
        }
        let matrix = DMat4::from_cols_array(&doubles(file, (number, "matrix"), matrix));
        // Discards rounding errors in the last row, which would make w differ from 1.
        let affine = DMat4::from_mat3_translation(DMat3::from_mat4(matrix), matrix.w_axis.truncate());
        (rounded.is_finite(), Transform::Matrix(affine))
    } else {
        let of = |key, value: Option<[f32; 3]>, default| {
            let is_finite = value.is_none_or(|value| Vec3::from(value).is_finite());
            let value = value.map(|value| DVec3::from(doubles(file, (number, key), value)));
            (is_finite, value.unwrap_or(default))
        };
        let translation = of("translation", json.translation, DVec3::ZERO);
        let scale = of("scale", json.scale, DVec3::ONE);
        let rotation = json.rotation.as_ref().map_or(DVec4::W, |rotation| {
            DVec4::from(doubles(file, (number, "rotation"), rotation.0))
        });
        let finite = translation.0 && scale.0 && rotation.as_vec4().is_finite();
        let rotation = rotation.try_normalize().map_or(DQuat::IDENTITY, DQuat::from_vec4);
        (
            finite,
            Transform::Trs {
                translation: translation.1,
                rotation,
                scale: scale.1,
            },
        )
    };
    if finite {
        Ok(transform)
    } else {
        Err(file.error(format!("the transform of node {number} is not finite")))
    }
}

/// Returns the numbers of a node's transform: the file's f64 values where they differ from `rounded`.
fn doubles<const N: usize>(
    file: &File<'_>,
    (number, key): (usize, &'static str),
    rounded: [f32; N],
) -> [f64; N] {
    let exact = file.doubles.get(&(number, key));
    let exact = exact.and_then(|numbers| <[f64; N]>::try_from(&numbers[..]).ok());
    exact.unwrap_or_else(|| rounded.map(f64::from))
}

/// Checks meshes, nodes and skins against each other: joint indices are within their skins, and every morph
/// target has a weight.
pub(super) fn check(file: &File<'_>, used: &Used, scene: &mut Scene) -> Result<()> {
    // Computed once per mesh, because any number of nodes may show it.
    let highest = |mesh: &Mesh| mesh.primitives.iter().flat_map(|p| &p.joints).max().copied();
    let highest_joints: Vec<Option<u32>> = scene.meshes.iter().map(highest).collect();
    let mut meshes: Vec<Option<usize>> = scene.nodes.iter().map(|node| node.mesh).collect();
    for node in scene.nodes.iter().filter(|node| node.instance) {
        if let Some(parent) = node.parent {
            meshes[parent] = node.mesh;
        }
    }
    for (node, mesh) in scene.nodes.iter_mut().zip(meshes) {
        let Some(mesh) = mesh.filter(|_| !node.instance) else {
            node.weights.clear();
            continue;
        };
        let primitives = &scene.meshes[mesh].primitives;
        let targets = primitives.first().map_or(0, |p| p.targets.len());
        let number = used.meshes[mesh].0;
        let own = std::mem::take(&mut node.weights);
        let of_mesh = file.root.meshes[number].weights.as_deref();
        let weights = if own.is_empty() {
            of_mesh.unwrap_or_default()
        } else {
            &own
        };
        if !weights.is_empty() && weights.len() != targets && !primitives.is_empty() {
            let count = weights.len();
            file.place.set(Some(WarningPlace::Mesh(mesh)));
            file.warn(format!(
                "mesh {number} has {targets} morph targets and {count} weights"
            ));
            file.place.set(None);
        }
        // Truncated, because a mesh may have any number of weights, and be shown by any number of nodes.
        node.weights = weights.iter().copied().take(targets).collect();
        // The parent of instances holds the weights for all of them.
        if !node.weights.is_empty() || node.mesh.is_none() {
            node.weights.resize(targets, 0.0);
        }
        if node.weights.iter().any(|w| !w.is_finite()) {
            return Err(file.error(format!("the morph weights of mesh {number} are not finite")));
        }
        let Some(skin) = node.skin else { continue };
        let joints = scene.skins[skin].joints.len();
        if let Some(joint) = highest_joints[mesh].filter(|&joint| joint as usize >= joints) {
            let skin = used.skins[skin];
            return Err(file.error(format!(
                "mesh {number} refers to joint {joint}, and skin {skin} has {joints}"
            )));
        }
        // A skin has no effect on a mesh without joints.
        if primitives.iter().all(|p| p.joints.is_empty()) {
            node.skin = None;
        }
    }
    Ok(())
}
