//! The node hierarchy, with skins, lights and cameras.

use super::{File, Tally, accessor::Accessor, name_of};
use crate::{
    Error, Result,
    scene::{
        Camera, Light, LightKind, Mesh, Node, Projection, Scene, Skin, Transform,
        animation::BRIGHTEST_LIGHT as BRIGHTEST,
        load::{Budget, Load},
    },
};
use ::gltf::json::{
    accessor::{ComponentType, Type},
    camera::Type as CameraType,
    extensions::scene::khr_lights_punctual::{Light as JsonLight, Type as LightType},
    validation::Checked,
};
use glam::{Affine3A, Mat3, Mat4, Quat, Vec3, Vec4};
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    f32::consts::FRAC_PI_2,
};

const INSTANCING: &str = "EXT_mesh_gpu_instancing";

/// The extension's JSON on a node.
#[derive(Debug, Deserialize)]
struct Instancing {
    attributes: BTreeMap<String, usize>,
}

/// Which of the file's nodes are in the scene, parents before children.
#[derive(Debug)]
pub(super) struct Hierarchy {
    order: Vec<Placed>,
    /// The place in `order` of each of the file's nodes.
    pub(super) place: Vec<Option<usize>>,
    /// The parent of each of the file's nodes.
    parents: Vec<Option<usize>>,
}

#[derive(Debug, Clone, Copy)]
struct Placed {
    /// The file's number.
    node: usize,
    /// Place of the parent.
    parent: Option<usize>,
    /// Whether it is in the scene itself, or only moves a joint.
    shown: bool,
}

/// Meshes and skins that the scene's nodes use, as the file numbers them, in the scene's order.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// Mesh, and how many nodes show it.
    pub(super) meshes: Vec<(usize, u64)>,
    skins: Vec<usize>,
}

/// Orders the nodes as a forest. Those that are listed more often than once are in it once.
pub(super) fn hierarchy(file: &File<'_>, load: &mut Load<'_>) -> Result<Hierarchy> {
    let nodes = &file.root.nodes;
    load.take(Budget::Nodes, nodes.len() as u64, || {
        file.path.display().to_string()
    })?;
    let lists = lists(file)?;
    let chosen = match file.root.scene.map(|scene| scene.value()) {
        Some(scene) if scene >= file.root.scenes.len() => {
            let scenes = file.root.scenes.len();
            let instead = if scenes > 0 { "scene 0" } else { "every node" };
            file.warn(format!(
                "the default scene is scene {scene}, and the file has {scenes}; {instead} is shown"
            ));
            file.root.scenes.first()
        }
        scene => file.root.scenes.get(scene.unwrap_or(0)),
    };
    let roots: Vec<usize> = match chosen {
        Some(scene) => scene.nodes.iter().map(|n| n.value()).collect(),
        None => (0..nodes.len()).filter(|&n| lists[n] == 0).collect(),
    };
    let shown = below(file, &roots)?;
    let mut hierarchy = Hierarchy {
        order: Vec::new(),
        place: vec![None; nodes.len()],
        parents: parents(file, &shown),
    };
    let (mut twice, mut child_roots) = (Tally::default(), Tally::default());
    let mut listed = HashSet::new();
    for root in roots {
        if !listed.insert(root) {
            twice.add(|| format!("the scene lists node {root} twice"));
        } else if let Some(parent) = hierarchy.parents[root] {
            child_roots.add(|| {
                format!("the scene lists node {root} as a root, and it is a child of node {parent}")
            });
        }
        // What is another's child stands where that puts it.
        hierarchy.place(file, hierarchy.topmost(root), &shown);
    }
    twice.tell(file, "it is drawn once");
    child_roots.tell(file, "it is drawn once, where that puts it");
    // Joints may lie outside the scene; they still move it.
    let mut seen = HashSet::new();
    for (node, skin) in hierarchy.skinned(file) {
        if !seen.insert(skin) {
            continue;
        }
        let skin = file.get(&file.root.skins, "skin", skin, || format!("node {node}"))?;
        for &joint in &skin.joints {
            let joint = joint.value();
            file.get(nodes, "node", joint, || format!("a skin of node {node}"))?;
            hierarchy.place(file, hierarchy.topmost(joint), &shown);
        }
    }
    Ok(hierarchy)
}

/// How often each node is listed as a child. Fails where one is its own ancestor.
fn lists(file: &File<'_>) -> Result<Vec<usize>> {
    let nodes = &file.root.nodes;
    let mut lists = vec![0; nodes.len()];
    for parent in 0..nodes.len() {
        for child in children(file, parent) {
            file.get(nodes, "node", child, || format!("node {parent}"))?;
            lists[child] += 1;
        }
    }
    // What is left when nodes without parents are taken away, again and again, is on a cycle or below one.
    let mut left = lists.clone();
    let mut open: Vec<usize> = (0..nodes.len()).filter(|&n| left[n] == 0).collect();
    while let Some(node) = open.pop() {
        for child in children(file, node) {
            left[child] -= 1;
            if left[child] == 0 {
                open.push(child);
            }
        }
    }
    let Some(lost) = left.iter().position(|&n| n > 0) else {
        return Ok(lists);
    };
    let mut above = vec![lost; nodes.len()];
    for parent in (0..nodes.len()).filter(|&n| left[n] > 0) {
        children(file, parent).for_each(|child| above[child] = parent);
    }
    let on_cycle = (0..nodes.len()).fold(lost, |node, _| above[node]);
    Err(file.error(format!("node {on_cycle} is its own ancestor")))
}

/// Whether each node is one of `roots`, or below one.
fn below(file: &File<'_>, roots: &[usize]) -> Result<Vec<bool>> {
    let nodes = &file.root.nodes;
    let mut below = vec![false; nodes.len()];
    let mut open = Vec::new();
    for &root in roots {
        file.get(nodes, "node", root, || "the scene".into())?;
        open.push(root);
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut below[node], true) {
                open.extend(children(file, node));
            }
        }
    }
    Ok(below)
}

/// The parent of each node: the first that lists it, if there is one the first that is shown.
fn parents(file: &File<'_>, shown: &[bool]) -> Vec<Option<usize>> {
    let mut parents: Vec<Option<usize>> = vec![None; shown.len()];
    let mut again = Tally::default();
    for parent in 0..shown.len() {
        for child in children(file, parent) {
            let Some(first) = parents[child] else {
                parents[child] = Some(parent);
                continue;
            };
            again.add(|| {
                if first == parent {
                    format!("node {child} is a child of node {first} twice")
                } else {
                    format!("node {child} is a child of node {first} and of node {parent}")
                }
            });
            if shown[parent] && !shown[first] {
                parents[child] = Some(parent);
            }
        }
    }
    again.tell(file, "it is drawn once, below the first that is shown");
    parents
}

fn children(file: &File<'_>, node: usize) -> impl DoubleEndedIterator<Item = usize> {
    let children = file.root.nodes[node].children.iter().flatten();
    children.map(|child| child.value())
}

impl Hierarchy {
    /// The first of `node` and its ancestors that has its place, or the topmost of them.
    fn topmost(&self, node: usize) -> usize {
        let mut topmost = node;
        while let Some(parent) = self.parents[topmost].filter(|_| self.place[topmost].is_none()) {
            topmost = parent;
        }
        topmost
    }

    /// Adds a root with everything below it, unless it is there.
    fn place(&mut self, file: &File<'_>, root: usize, shown: &[bool]) {
        let mut open = vec![(root, None)];
        while let Some((node, parent)) = open.pop() {
            if self.place[node].is_some() {
                continue;
            }
            let place = self.order.len();
            self.place[node] = Some(place);
            self.order.push(Placed {
                node,
                parent,
                shown: shown[node],
            });
            let children = children(file, node).rev();
            let own = children.filter(|&child| self.parents[child] == Some(node));
            open.extend(own.map(|child| (child, Some(place))));
        }
    }

    /// Nodes that show a mesh with a skin, and the skin.
    fn skinned(&self, file: &File<'_>) -> Vec<(usize, usize)> {
        let shown = self
            .order
            .iter()
            .filter(|p| p.shown)
            .map(|p| (p.node, &file.root.nodes[p.node]));
        shown
            .filter(|(_, json)| json.mesh.is_some())
            .filter_map(|(node, json)| Some((node, json.skin?.value())))
            .collect()
    }
}

/// Fills the scene's nodes, skins, lights and cameras. Meshes are numbered as in the result.
pub(super) fn nodes(
    file: &File<'_>,
    hierarchy: &Hierarchy,
    load: &mut Load<'_>,
    scene: &mut Scene,
) -> Result<Used> {
    lights(file, scene)?;
    cameras(file, scene)?;
    let mut used = Used::default();
    let (mut mesh_places, mut skin_places) = (HashMap::new(), HashMap::new());
    let mut instances = Vec::new();
    for placed in &hierarchy.order {
        let (number, json) = (placed.node, &file.root.nodes[placed.node]);
        let others = json.extensions.as_ref().map(|all| &all.others);
        let user = || format!("node {number}");
        let mut node = Node {
            name: name_of(json.name.as_ref()),
            parent: placed.parent,
            transform: transform(file, number)?,
            mesh: None,
            skin: None,
            weights: json.weights.clone().unwrap_or_default(),
            light: None,
            camera: None,
            visible: others
                .and_then(|all| all.get("KHR_node_visibility")?.get("visible")?.as_bool())
                .unwrap_or(true),
            instance: false,
        };
        if placed.shown {
            if let Some(mesh) = json.mesh.map(|m| m.value()) {
                file.get(&file.root.meshes, "mesh", mesh, user)?;
                let place = *mesh_places.entry(mesh).or_insert_with(|| {
                    used.meshes.push((mesh, 0));
                    used.meshes.len() - 1
                });
                let many = others.and_then(|all| all.get(INSTANCING));
                let many =
                    many.map_or(Ok(None), |value| read_instances(file, number, value, load))?;
                used.meshes[place].1 += many.as_ref().map_or(1, |many| many.len() as u64);
                match many {
                    Some(many) => instances.push((scene.nodes.len(), place, many)),
                    None => node.mesh = Some(place),
                }
                node.skin = json.skin.map(|skin| {
                    *skin_places.entry(skin.value()).or_insert_with(|| {
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
    // After all that the file numbers, and so after their parents.
    for (parent, mesh, transforms) in instances {
        scene
            .nodes
            .extend(transforms.into_iter().map(|transform| Node {
                parent: Some(parent),
                transform,
                mesh: Some(mesh),
                instance: true,
                ..Node::default()
            }));
    }
    for &skin in &used.skins {
        scene.skins.push(read_skin(file, skin, hierarchy)?);
    }
    for skin in scene.nodes.iter().filter_map(|node| node.skin) {
        let joints = scene.skins[skin].joints.len() as u64;
        load.take(Budget::Joints, joints, || file.path.display().to_string())?;
    }
    Ok(used)
}

/// Where the instances of node `number` are; `None` if it is to show its mesh as any other does.
fn read_instances(
    file: &File<'_>,
    number: usize,
    value: &Value,
    load: &mut Load<'_>,
) -> Result<Option<Vec<Transform>>> {
    let ignored = |why: &str| {
        file.warn(format!(
            "node {number}: {INSTANCING} {why}; its mesh is shown once"
        ));
        Ok(None)
    };
    if file.root.nodes[number].skin.is_some() {
        return ignored("moves nothing that has a skin");
    }
    match instance_transforms(file, number, value, load) {
        Err(Error::Scene { what, .. }) if !file.requires(INSTANCING) => {
            ignored(&format!("is broken ({what})"))
        }
        outcome => outcome.map(Some),
    }
}

fn instance_transforms(
    file: &File<'_>,
    number: usize,
    value: &Value,
    load: &mut Load<'_>,
) -> Result<Vec<Transform>> {
    let user = format!("node {number}: {INSTANCING}");
    let Instancing { attributes } =
        Instancing::deserialize(value).map_err(|why| file.error(format!("{user}: {why}")))?;
    let mut count = None;
    let mut open = |name: &str, kind: Type, components: &[ComponentType]| {
        let Some(&index) = attributes.get(name) else {
            return Ok(None);
        };
        let accessor =
            Accessor::open(file, index, &format!("{user}: {name}"), &[kind], components)?;
        let expected = *count.get_or_insert(accessor.count);
        if accessor.count != expected {
            return Err(file.error(format!(
                "{user}: {name} has {} elements where another attribute has {expected}",
                accessor.count
            )));
        }
        Ok(Some(accessor))
    };
    let translations = open("TRANSLATION", Type::Vec3, &[ComponentType::F32])?;
    let fractions = [ComponentType::F32, ComponentType::I8, ComponentType::I16];
    let rotations = open("ROTATION", Type::Vec4, &fractions)?.map(Accessor::normalized);
    let scales = open("SCALE", Type::Vec3, &[ComponentType::F32])?;
    let count = match (count, attributes.values().next()) {
        (Some(count), _) => count,
        // Attributes that shaders of the file's author would read; they say at least how many.
        (None, Some(&index)) => {
            file.get(&file.root.accessors, "accessor", index, || user.clone())?
                .count
                .0 as usize
        }
        (None, None) => return Err(file.error(format!("{user} has no attributes"))),
    };
    let name = || format!("{}: {user}", file.path.display());
    load.take(Budget::Nodes, count as u64, name)?;
    let transform = |at: usize| {
        let vector = |of: &Option<Accessor<'_>>, otherwise| {
            of.as_ref()
                .map_or(otherwise, |of| Vec3::from(of.floats(at)))
        };
        let rotation = rotations
            .as_ref()
            .map_or(Vec4::W, |of| Vec4::from(of.floats(at)));
        let (translation, scale) = (
            vector(&translations, Vec3::ZERO),
            vector(&scales, Vec3::ONE),
        );
        let finite = translation.is_finite() && scale.is_finite() && rotation.is_finite();
        let rotation = rotation.try_normalize();
        finite.then(|| Transform::Trs {
            translation,
            rotation: rotation.map_or(Quat::IDENTITY, Quat::from_vec4),
            scale,
        })
    };
    (0..count)
        .map(|at| {
            transform(at).ok_or_else(|| file.error(format!("{user}: instance {at} is not finite")))
        })
        .collect()
}

fn transform(file: &File<'_>, number: usize) -> Result<Transform> {
    let json = &file.root.nodes[number];
    let (finite, transform) = if let Some(matrix) = json.matrix {
        let matrix = Mat4::from_cols_array(&matrix);
        if matrix.is_finite() && !matrix.row(3).abs_diff_eq(Vec4::W, 1e-4) {
            return Err(file.error(format!("the matrix of node {number} is not affine")));
        }
        // What rounding has left in the last row would make w other than 1.
        let affine = Mat4::from_mat3_translation(Mat3::from_mat4(matrix), matrix.w_axis.truncate());
        (matrix.is_finite(), Transform::Matrix(affine))
    } else {
        let translation = json.translation.map_or(Vec3::ZERO, Vec3::from);
        let scale = json.scale.map_or(Vec3::ONE, Vec3::from);
        let rotation = json.rotation.map_or(Vec4::W, |r| Vec4::from(r.0));
        let finite = translation.is_finite() && scale.is_finite() && rotation.is_finite();
        let rotation = rotation
            .try_normalize()
            .map_or(Quat::IDENTITY, Quat::from_vec4);
        (
            finite,
            Transform::Trs {
                translation,
                rotation,
                scale,
            },
        )
    };
    if finite {
        Ok(transform)
    } else {
        Err(file.error(format!("the transform of node {number} is not finite")))
    }
}

fn read_skin(file: &File<'_>, number: usize, hierarchy: &Hierarchy) -> Result<Skin> {
    let json = &file.root.skins[number];
    let joints: Vec<usize> = json
        .joints
        .iter()
        .filter_map(|j| hierarchy.place[j.value()])
        .collect();
    let Some(index) = json.inverse_bind_matrices else {
        return Ok(Skin {
            joint_from_mesh: vec![Mat4::IDENTITY; joints.len()],
            joints,
        });
    };
    let user = format!("skin {number}");
    let accessor = Accessor::open(
        file,
        index.value(),
        &user,
        &[Type::Mat4],
        &[ComponentType::F32],
    )?;
    if accessor.count < joints.len() {
        let (has, needs) = (accessor.count, joints.len());
        return Err(file.error(format!(
            "{user}: accessor {index} has {has} inverse bind matrices for {needs} joints"
        )));
    }
    // The last row is to be 0 0 0 1, and nothing after this reckons with another.
    let affine = |m: Mat4| Mat4::from(Affine3A::from_mat4(m));
    let joint_from_mesh: Vec<Mat4> = (0..joints.len())
        .map(|j| affine(Mat4::from_cols_array(&accessor.floats(j))))
        .collect();
    match joint_from_mesh.iter().position(|m| !m.is_finite()) {
        Some(joint) => Err(file.error(format!(
            "{user}: accessor {index}: the inverse bind matrix of joint {joint} is not finite"
        ))),
        None => Ok(Skin {
            joints,
            joint_from_mesh,
        }),
    }
}

/// What only meshes, nodes and skins together show: joints within their skins, and a weight for every target.
pub(super) fn check_instances(file: &File<'_>, used: &Used, scene: &mut Scene) -> Result<()> {
    // Once for each mesh: any number of nodes may show it.
    let highest = |mesh: &Mesh| {
        mesh.primitives
            .iter()
            .flat_map(|p| &p.joints)
            .max()
            .copied()
    };
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
            file.warn(format!(
                "mesh {number} has {targets} morph targets and {count} weights"
            ));
        }
        // A mesh may have any number, and be shown any number of times.
        node.weights = weights.iter().copied().take(targets).collect();
        // The parent of instances holds the weights of them all.
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
        // A skin without joints in the mesh moves nothing.
        if primitives.iter().all(|p| p.joints.is_empty()) {
            node.skin = None;
        }
    }
    Ok(())
}

fn lights(file: &File<'_>, scene: &mut Scene) -> Result<()> {
    let json = file
        .root
        .extensions
        .as_ref()
        .and_then(|e| e.khr_lights_punctual.as_ref());
    for (index, json) in json.iter().flat_map(|l| &l.lights).enumerate() {
        let kind = light_kind(json)
            .ok_or_else(|| file.error(format!("light {index} is of an unknown type")))?;
        scene.lights.push(Light {
            name: name_of(json.name.as_ref()),
            kind,
            color: Vec3::from(json.color).clamp(Vec3::ZERO, Vec3::splat(BRIGHTEST)),
            intensity: json.intensity.clamp(0.0, BRIGHTEST),
            range: json.range.filter(|range| range.is_finite() && *range > 0.0),
        });
    }
    Ok(())
}

fn light_kind(json: &JsonLight) -> Option<LightKind> {
    match json.type_ {
        Checked::Valid(LightType::Directional) => Some(LightKind::Directional),
        Checked::Valid(LightType::Point) => Some(LightKind::Point),
        Checked::Valid(LightType::Spot) => {
            let (inner, outer) = json.spot.as_ref().map_or((0.0, FRAC_PI_2 / 2.0), |s| {
                (s.inner_cone_angle, s.outer_cone_angle)
            });
            Some(LightKind::spot(inner, outer))
        }
        Checked::Invalid => None,
    }
}

fn cameras(file: &File<'_>, scene: &mut Scene) -> Result<()> {
    for (index, json) in file.root.cameras.iter().enumerate() {
        let projection = match (json.type_, &json.perspective, &json.orthographic) {
            (Checked::Valid(CameraType::Perspective), Some(p), _) => {
                let sound = p.yfov > 0.0 && p.yfov < 2.0 * FRAC_PI_2;
                if !sound {
                    file.warn(format!(
                        "camera {index} has a yfov of {}; canopy takes 45 degrees",
                        p.yfov
                    ));
                }
                Projection::Perspective {
                    fov_y: if sound { p.yfov } else { FRAC_PI_2 / 2.0 },
                }
            }
            (Checked::Valid(CameraType::Orthographic), _, Some(o)) => {
                let half_height = o.ymag.abs();
                let sound = half_height > 0.0 && half_height.is_finite();
                if !sound {
                    file.warn(format!(
                        "camera {index} has a ymag of {}; canopy takes 1",
                        o.ymag
                    ));
                }
                Projection::Orthographic {
                    half_height: if sound { half_height } else { 1.0 },
                }
            }
            _ => {
                return Err(file.error(format!(
                    "camera {index} is of an unknown type, or lacks its values"
                )));
            }
        };
        scene.cameras.push(Camera {
            name: name_of(json.name.as_ref()),
            projection,
        });
    }
    Ok(())
}
