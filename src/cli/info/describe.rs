//! Description of a scene as JSON, the data of `canopy info`.

use crate::{
    config::UpAxis,
    scene::{
        self, AlphaMode, ExtensionUse, LightKind, Pose, Primitive, Projection, Scene, TextureRef, UpHint,
        bounds::Aabb, deform,
    },
};
use serde::Serialize;
use serde_json::{Value, json};

/// Counts the objects of every kind. `canopy render --stats` uses it too.
pub(in crate::cli) fn counts(scene: &Scene) -> Value {
    let primitives = || scene.meshes.iter().flat_map(|m| &m.primitives);
    let placed = || {
        scene
            .instances()
            .flat_map(|(_, mesh)| &scene.meshes[mesh].primitives)
    };
    let [lines, points] = scene.line_and_point_counts();
    json!({
        "nodes": scene.nodes.len(),
        "instances": scene.instances().count(),
        "meshes": scene.meshes.len(),
        "primitives": primitives().count(),
        "triangles": placed().map(|p| p.indices.len()).sum::<usize>(),
        "lines": lines,
        "points": points,
        "vertices": placed().map(|p| p.positions.len()).sum::<usize>(),
        "materials": scene.materials.len(),
        "textures": scene.textures.len(),
        "images": scene.images.len(),
        "skins": scene.skins.len(),
        "joints": scene.skins.iter().map(|s| s.joints.len()).sum::<usize>(),
        "morph_targets": scene.meshes.iter().map(targets).sum::<usize>(),
        "clips": scene.clips.len(),
        "lights": scene.lights.len(),
        "cameras": scene.cameras.len(),
        "volumes": scene.volumes.len(),
    })
}

fn targets(mesh: &scene::Mesh) -> usize {
    mesh.primitives.first().map_or(0, |p| p.targets.len())
}

/// Describes a scene whose up axis has already been converted as `wanted` selects.
pub(super) fn describe(scene: &Scene, wanted: UpAxis) -> Value {
    let bounds = Aabb::from_points(deform::positions(scene, &Pose::new(scene, None, 0.0)));
    let mut report = counts(scene);
    if !bounds.is_empty() {
        report["bounds"] = json!({"min": bounds.min.to_array(), "max": bounds.max.to_array()});
    }
    report["bytes"] = json!({
        "geometry": scene.meshes.iter().map(mesh_bytes).sum::<u64>(),
        "images": scene.images.iter().map(image_bytes).sum::<u64>(),
        "volumes": scene.volumes.iter().map(volume_bytes).sum::<u64>(),
    });
    report["up"] = up(scene, wanted);
    report["sources"] = scene.sources.iter().map(source).collect();
    report["list"] = json!({
        "meshes": scene.meshes.iter().map(mesh).collect::<Vec<_>>(),
        "materials": scene.materials.iter().map(material).collect::<Vec<_>>(),
        "images": scene.images.iter().map(image).collect::<Vec<_>>(),
        "clips": scene.clips.iter().map(|c| json!({
            "name": c.name, "duration_secs": c.duration_secs, "channels": c.channels.len(),
        })).collect::<Vec<_>>(),
        "lights": scene.lights.iter().map(light).collect::<Vec<_>>(),
        "cameras": scene.cameras.iter().map(camera).collect::<Vec<_>>(),
        "volumes": scene.volumes.iter().map(volume).collect::<Vec<_>>(),
    });
    report["list"]["variants"] = scene.variants.iter().map(|v| json!({"name": v})).collect();
    let extension = |e: &ExtensionUse| {
        json!({
            "name": e.name,
            "treatment": e.treatment.name(),
            "required": e.required,
            "note": e.note,
        })
    };
    report["extensions"] = scene.extensions.iter().map(extension).collect();
    report["warnings"] = json!(scene.warnings);
    report
}

/// Returns the up axis of the files, and what determined it.
fn up(scene: &Scene, wanted: UpAxis) -> Value {
    let (from, why) = match (wanted, scene.up) {
        (UpAxis::Auto, UpHint::Stated(_)) => ("file", ", specified by the file".to_owned()),
        (UpAxis::Auto, UpHint::Stands(_)) => ("base", ", on which it stands".to_owned()),
        (UpAxis::Auto, UpHint::Likely(axis)) => {
            let hint = format!("; the shape stands on its base with scene.up={}", axis.name());
            ("default", hint)
        }
        (UpAxis::Auto, UpHint::None) => ("default", String::new()),
        _ => ("setting", ", set by scene.up".to_owned()),
    };
    let axis = scene.up_axis(wanted).name();
    json!({"axis": axis, "from": from, "text": format!("{axis}{why}")})
}

fn source(source: &scene::Source) -> Value {
    json!({
        "name": source.name,
        "format": source.format,
        "bytes": source.bytes,
        "generator": source.generator,
        "copyright": source.copyright,
    })
}

/// A row of the node tree. It is a struct rather than JSON, because a file of a few megabytes can have a
/// million nodes.
#[derive(Debug, Serialize)]
pub(super) struct NodeRow<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mesh: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skin: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) light: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) camera: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) volume: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) instance: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) hidden: bool,
}

/// Returns the nodes, with parents before their children.
pub(super) fn nodes(scene: &Scene) -> impl Iterator<Item = NodeRow<'_>> + Clone {
    scene.nodes.iter().map(|node| NodeRow {
        name: &node.name,
        parent: node.parent,
        mesh: node.mesh,
        skin: node.skin,
        light: node.light,
        camera: node.camera,
        volume: node.volume,
        instance: node.instance,
        hidden: !node.visible,
    })
}

/// Output of `--json`: the description and the node tree.
#[derive(Debug, Serialize)]
pub(super) struct Whole<'a> {
    #[serde(flatten)]
    pub(super) description: &'a Value,
    pub(super) tree: Vec<NodeRow<'a>>,
}

fn mesh(mesh: &scene::Mesh) -> Value {
    let sum = |count: fn(&Primitive) -> usize| mesh.primitives.iter().map(count).sum::<usize>();
    json!({
        "name": mesh.name,
        "primitives": mesh.primitives.len(),
        "triangles": sum(|p| p.indices.len()),
        "lines": sum(|p| p.lines.len()),
        "points": sum(|p| p.points.len()),
        "vertices": sum(|p| p.positions.len()),
        "morph_targets": targets(mesh),
        "bytes": mesh_bytes(mesh),
    })
}

/// Returns the memory of a mesh's attributes and indices in bytes.
fn mesh_bytes(mesh: &scene::Mesh) -> u64 {
    let of_primitive = |p: &Primitive| {
        let targets = p.targets.iter().map(|t| {
            size_of_val(&t.positions[..]) + size_of_val(&t.normals[..]) + size_of_val(&t.tangents[..])
        });
        size_of_val(&p.positions[..])
            + size_of_val(&p.normals[..])
            + size_of_val(&p.tangents[..])
            + size_of_val(&p.uv0[..])
            + size_of_val(&p.uv1[..])
            + size_of_val(&p.colors[..])
            + size_of_val(&p.indices[..])
            + size_of_val(&p.lines[..])
            + size_of_val(&p.points[..])
            + size_of_val(&p.joints[..])
            + size_of_val(&p.joint_weights[..])
            + targets.sum::<usize>()
    };
    mesh.primitives.iter().map(|p| of_primitive(p) as u64).sum()
}

fn material(material: &scene::Material) -> Value {
    let textures: [(&str, &Option<TextureRef>); 5] = [
        ("base colour", &material.base_color_texture),
        ("metallic-roughness", &material.metallic_roughness_texture),
        ("normal", &material.normal_texture),
        ("occlusion", &material.occlusion_texture),
        ("emissive", &material.emissive_texture),
    ];
    let textures = textures.iter().filter(|(_, texture)| texture.is_some());
    json!({
        "name": material.name,
        "alpha": alpha(material.alpha_mode),
        "base_color": material.base_color.to_array(),
        "metallic": material.metallic,
        "roughness": material.roughness,
        "double_sided": material.double_sided,
        "unlit": material.unlit,
        "layered": material.layers.is_some(),
        "textures": textures.map(|(name, _)| *name).collect::<Vec<_>>(),
    })
}

fn image(image: &scene::Image) -> Value {
    json!({
        "name": image.name,
        "width": image.width,
        "height": image.height,
        "levels": image.levels.len(),
        "bytes": image_bytes(image),
    })
}

/// Returns the size of a decoded image's levels in bytes.
fn image_bytes(image: &scene::Image) -> u64 {
    image.levels.iter().map(|level| level.len() as u64).sum()
}

fn volume(volume: &scene::Volume) -> Value {
    json!({
        "name": volume.name,
        "bytes": volume_bytes(volume),
        "grids": volume.grids.iter().map(grid).collect::<Vec<_>>(),
    })
}

fn grid(grid: &scene::Grid) -> Value {
    let matrix = grid.volume_from_voxel;
    let steps = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let [least, most] = grid
        .values
        .iter()
        .fold([f32::MAX, f32::MIN], |[least, most], value| {
            [least.min(*value), most.max(*value)]
        });
    json!({
        "name": grid.name,
        "components": grid.components,
        "size": grid.size,
        "voxel_size_m": steps.map(|step| step.truncate().length()),
        "min": least,
        "max": most,
        "background": grid.background,
        "bytes": size_of_val(&grid.values[..]),
    })
}

/// Returns the memory of a volume's values in bytes.
fn volume_bytes(volume: &scene::Volume) -> u64 {
    let grids = volume.grids.iter();
    grids.map(|grid| size_of_val(&grid.values[..]) as u64).sum()
}

fn alpha(mode: AlphaMode) -> &'static str {
    match mode {
        AlphaMode::Opaque => "opaque",
        AlphaMode::Mask => "mask",
        AlphaMode::Blend => "blend",
    }
}

fn light(light: &scene::Light) -> Value {
    let (kind, unit) = match light.kind {
        LightKind::Directional => ("directional", "lux"),
        LightKind::Point => ("point", "candela"),
        LightKind::Spot { .. } => ("spot", "candela"),
    };
    json!({"name": light.name, "kind": kind, "intensity": light.intensity, "unit": unit})
}

fn camera(camera: &scene::Camera) -> Value {
    match camera.projection {
        Projection::Perspective { fov_y } => {
            json!({"name": camera.name, "kind": "perspective", "fov_deg": fov_y.to_degrees()})
        }
        Projection::Orthographic { half_height } => {
            json!({"name": camera.name, "kind": "orthographic", "half_height": half_height})
        }
    }
}
