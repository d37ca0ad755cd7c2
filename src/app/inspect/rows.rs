//! Properties of scene objects for the inspector, as rows of text.

use crate::{
    app::{
        inspect::{
            measure::{four_digits, metres, triple},
            selection::{self, Rows, node_path},
        },
        outline::model::{Item, kind_name, shown, with_all_below},
        state::{Stage, State},
        textures::model::slots,
    },
    scene::{
        AlphaMode, LightKind, Material, Mesh, Pose, Primitive, Projection, Sampler, Scene, TexelFormat, Wrap,
        edits::{LightValue, MaterialValue, Value},
    },
};
use glam::{DMat4, DVec3, EulerRot};

/// Returns the title and the rows of an item of the scene tree. `None` if the scene has no such item.
pub(in crate::app) fn rows(state: &State, pose: &Pose, item: Item) -> Option<(String, Rows)> {
    let stage = state.stage.as_ref()?;
    let scene = &stage.scene;
    let name = state.inspect.outline.name(scene, item);
    let rows = match item {
        Item::Node(node) => node_rows(state, stage, pose, node),
        Item::Primitive(node, primitive) => {
            let mesh = scene.nodes.get(node)?.mesh?;
            primitive_rows(scene, scene.meshes[mesh].primitives.get(primitive)?)
        }
        Item::Material(index) => material_rows(stage, index),
        Item::Light(node) => light_rows(stage, pose, node),
        Item::Camera(index) => camera_rows(scene, index),
        Item::Clip(index) => {
            let clip = scene.clips.get(index)?;
            vec![
                ("length", format!("{:.3} s", clip.duration_secs)),
                ("channels", clip.channels.len().to_string()),
            ]
        }
        Item::Texture(index) => texture_rows(scene, index),
        Item::Note(index) => vec![("warning", scene.warnings.get(index)?.clone())],
    };
    Some((name, rows))
}

/// Formats the title and the rows of an item as text. Empty if the scene has no such item.
pub(in crate::app) fn text(state: &State, pose: &Pose, item: Item) -> String {
    rows(state, pose, item).map_or_else(String::new, |(title, rows)| selection::text(&title, &rows))
}

fn node_rows(state: &State, stage: &Stage, pose: &Pose, index: usize) -> Rows {
    let scene = &stage.scene;
    let Some(node) = scene.nodes.get(index) else {
        return Rows::new();
    };
    let mut rows = vec![("node", shown(&node_path(scene, index)))];
    let local = node.transform.matrix();
    rows.extend(placed(["position", "rotation", "scale"], local));
    if node.parent.is_some()
        && let Some(world) = pose.world_from_node.get(index)
    {
        rows.extend(placed(
            ["world position", "world rotation", "world scale"],
            *world,
        ));
    }
    let below = with_all_below(scene, index);
    let mut shown_here = pose.clone();
    for (node, is_visible) in shown_here.visible.iter_mut().enumerate() {
        *is_visible &= below.contains(&node);
    }
    let instances = scene.instances().filter(|(node, _)| below.contains(node));
    let meshes: Vec<usize> = instances.map(|(_, mesh)| mesh).collect();
    if !meshes.is_empty() {
        let bounds = stage.bounds.scene(scene, &shown_here);
        if shown_here.visible.contains(&true) && !bounds.is_empty() {
            let size = (bounds.max - bounds.min).as_dvec3();
            rows.push(("size", format!("{} m", triple(size))));
            rows.push(("centre", format!("{} m", triple(bounds.center().as_dvec3()))));
        }
        let counts = sums(meshes.iter().map(|mesh| &scene.meshes[*mesh]));
        if meshes.len() > 1 || below.len() > 1 {
            rows.push((
                "descendants",
                format!("{} nodes, {} meshes", below.len() - 1, meshes.len()),
            ));
            rows.push(("total", format!("{} triangles", counts.triangles)));
        }
    }
    if let Some(mesh) = node.mesh {
        rows.extend(mesh_rows(state, stage, index, mesh));
    }
    if let Some(skin) = node.skin.and_then(|skin| scene.skins.get(skin)) {
        rows.push(("skin", format!("{} joints", skin.joints.len())));
    }
    let things = [("light", node.light.is_some()), ("camera", node.camera.is_some())];
    for (name, _) in things.into_iter().filter(|(_, has)| *has) {
        rows.push((name, "yes".into()));
    }
    if !node.visible {
        rows.push(("visible", "no (hidden in the file)".into()));
    }
    rows
}

/// Numbers of elements, summed over meshes or primitives.
#[derive(Default)]
struct Sums {
    vertices: usize,
    triangles: usize,
    lines: usize,
    points: usize,
}

fn sums<'a>(meshes: impl Iterator<Item = &'a Mesh>) -> Sums {
    let mut sums = Sums::default();
    for primitive in meshes.flat_map(|mesh| &mesh.primitives) {
        sums.vertices += primitive.positions.len();
        sums.triangles += primitive.indices.len();
        sums.lines += primitive.lines.len();
        sums.points += primitive.points.len();
    }
    sums
}

fn mesh_rows(state: &State, stage: &Stage, node: usize, index: usize) -> Rows {
    let scene = &stage.scene;
    let Some(mesh) = scene.meshes.get(index) else {
        return Rows::new();
    };
    let mut rows = Rows::new();
    let name = match mesh.name.as_str() {
        "" => format!("mesh {index}"),
        name => shown(name),
    };
    let users = scene.nodes.iter().filter(|node| node.mesh == Some(index));
    let users = match users.count() {
        0 | 1 => String::new(),
        users => format!(", at {users} nodes"),
    };
    rows.push(("mesh", format!("{name}{users}")));
    if mesh.primitives.len() > 1 {
        rows.push(("primitives", mesh.primitives.len().to_string()));
    }
    rows.extend(counts(&sums([mesh].into_iter())));
    let first = mesh.primitives.first();
    rows.extend(first.map(|primitive| ("attributes", attributes(primitive))));
    let mut instances = scene.instances();
    let instance = instances.position(|(shown, _)| shown == node);
    if let (Some(Ok(figures)), Some(instance)) = (&state.trees.view.figures, instance)
        && let Some(tree) = figures.meshes.get(instance)
    {
        let [nodes, depth] = [tree.nodes, tree.depth];
        rows.push(("tree", format!("{nodes} nodes, depth {depth}")));
    }
    rows
}

fn counts(sums: &Sums) -> Rows {
    let all = [
        ("vertices", sums.vertices),
        ("triangles", sums.triangles),
        ("lines", sums.lines),
        ("points", sums.points),
    ];
    let there = all.into_iter().filter(|(_, count)| *count > 0);
    there.map(|(name, count)| (name, count.to_string())).collect()
}

fn primitive_rows(scene: &Scene, primitive: &Primitive) -> Rows {
    let mesh = Sums {
        vertices: primitive.positions.len(),
        triangles: primitive.indices.len(),
        lines: primitive.lines.len(),
        points: primitive.points.len(),
    };
    let mut rows = counts(&mesh);
    rows.push(("attributes", attributes(primitive)));
    let material = scene.materials.get(primitive.material);
    let name = match material.map_or("", |material| material.name.as_str()) {
        "" => format!("material {}", primitive.material),
        name => shown(name),
    };
    rows.push(("material", name));
    rows
}

/// Returns the names of a primitive's vertex attributes. They may include normals and tangents that the file
/// lacks, because loading generates these.
fn attributes(primitive: &Primitive) -> String {
    let mut parts = vec!["positions".to_owned()];
    let has = [
        (!primitive.normals.is_empty(), "normals"),
        (!primitive.tangents.is_empty(), "tangents"),
        (!primitive.uv0.is_empty(), "UV 0"),
        (!primitive.uv1.is_empty(), "UV 1"),
        (!primitive.colors.is_empty(), "colours"),
    ];
    parts.extend(
        has.iter()
            .filter(|(has, _)| *has)
            .map(|(_, name)| (*name).to_owned()),
    );
    if primitive.influences_per_vertex > 0 {
        parts.push(format!("{} joints a vertex", primitive.influences_per_vertex));
    }
    if !primitive.targets.is_empty() {
        parts.push(format!("{} morph targets", primitive.targets.len()));
    }
    parts.join(", ")
}

fn placed([at, turned, scaled]: [&'static str; 3], matrix: DMat4) -> Rows {
    let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
    let (y, x, z) = rotation.to_euler(EulerRot::YXZ);
    let degrees = DVec3::new(x, y, z).map(f64::to_degrees);
    let mut rows = vec![(at, format!("{} m", triple(translation)))];
    if degrees.is_finite() && degrees.abs().max_element() > 1e-3 {
        rows.push((turned, format!("{}°", triple(degrees))));
    }
    if !scale.abs_diff_eq(DVec3::ONE, 1e-5) {
        rows.push((scaled, triple(scale)));
    }
    rows
}

fn material_rows(stage: &Stage, index: usize) -> Rows {
    let scene = &stage.scene;
    let (Some(material), Some(of_file)) = (
        scene.materials.get(index),
        stage.applied.material_of_files(scene, index),
    ) else {
        return Rows::new();
    };
    let mut rows = Rows::new();
    for value in MaterialValue::ALL {
        let Some(now) = value.of(material) else {
            continue;
        };
        let file = value.of(of_file).filter(|file| *file != now);
        let now = match file {
            Some(file) => format!("{} (file: {})", value_text(now), value_text(file)),
            None => value_text(now),
        };
        rows.push((value_name(value), now));
    }
    for slot in slots(material) {
        rows.push((slot.name, image_name(scene, slot.texture.texture)));
    }
    rows
}

/// Formats the value of a material or a light, without a unit except for angles.
pub(in crate::app) fn value_text(value: Value) -> String {
    let number = |number: f32| four_digits(number.into());
    match value {
        Value::Number(value) => {
            let sign = if value < 0.0 { "−" } else { "" };
            format!("{sign}{}", number(value.abs()))
        }
        Value::Color(color) => triple(color.as_dvec3()),
        Value::ColorWithAlpha(color) => {
            let alpha = number(color.w);
            format!("{}, alpha {alpha}", triple(color.truncate().as_dvec3()))
        }
        Value::Mode(mode) => mode_name(mode).into(),
        Value::Switch(is_on) => if is_on { "yes" } else { "no" }.into(),
        Value::Length(length) => length.map_or("automatic".into(), number),
        Value::Cone(angles) => {
            let [inner, outer] = angles.map(f32::to_degrees);
            format!("{inner:.1}° to {outer:.1}°")
        }
    }
}

/// Returns the name of an alpha mode.
pub(in crate::app) fn mode_name(mode: AlphaMode) -> &'static str {
    match mode {
        AlphaMode::Opaque => "opaque",
        AlphaMode::Mask => "mask",
        AlphaMode::Blend => "blend",
    }
}

/// Returns the name of a light's value.
pub(in crate::app) fn light_value_name(value: LightValue) -> &'static str {
    match value {
        LightValue::Color => "colour",
        LightValue::Intensity => "intensity",
        LightValue::Range => "range",
        LightValue::Radius => "radius",
        LightValue::Cone => "cone",
    }
}

/// Returns the name of a material's value.
pub(in crate::app) fn value_name(value: MaterialValue) -> &'static str {
    match value {
        MaterialValue::BaseColor => "base colour",
        MaterialValue::Metallic => "metallic",
        MaterialValue::Roughness => "roughness",
        MaterialValue::EmissiveFactor => "emission",
        MaterialValue::EmissiveStrength => "emission ×",
        MaterialValue::NormalScale => "normal scale",
        MaterialValue::OcclusionStrength => "occlusion",
        MaterialValue::AlphaMode => "alpha mode",
        MaterialValue::AlphaCutoff => "alpha cutoff",
        MaterialValue::DoubleSided => "double-sided",
        MaterialValue::Unlit => "unlit",
        MaterialValue::Ior => "IOR",
        MaterialValue::Specular => "specular",
        MaterialValue::SpecularColor => "specular colour",
        MaterialValue::Clearcoat => "clear coat",
        MaterialValue::ClearcoatRoughness => "coat rough",
        MaterialValue::ClearcoatNormalScale => "coat normals",
        MaterialValue::SheenColor => "sheen",
        MaterialValue::SheenRoughness => "sheen rough",
        MaterialValue::Anisotropy => "anisotropy",
        MaterialValue::AnisotropyRotation => "anisotropy rot.",
        MaterialValue::Iridescence => "iridescence",
        MaterialValue::IridescenceIor => "film IOR",
        MaterialValue::IridescenceThicknessMin => "film min",
        MaterialValue::IridescenceThicknessMax => "film max",
        MaterialValue::Transmission => "transmission",
        MaterialValue::Thickness => "thickness",
        MaterialValue::AttenuationDistance => "att. distance",
        MaterialValue::AttenuationColor => "att. colour",
    }
}

/// Returns the name of a texture's image, or `texture` and the texture's index if the image has no name.
pub(in crate::app) fn image_name(scene: &Scene, texture: usize) -> String {
    let image = scene.textures.get(texture);
    let image = image.and_then(|texture| scene.images.get(texture.image));
    match image.map(|image| image.name.as_str()) {
        Some("") | None => format!("texture {texture}"),
        Some(name) => shown(name),
    }
}

/// Returns the rows of a texture. Empty if it does not exist.
pub(in crate::app) fn texture_rows(scene: &Scene, index: usize) -> Rows {
    let Some(texture) = scene.textures.get(index) else {
        return Rows::new();
    };
    let mut rows = vec![("image", image_name(scene, index))];
    if let Some(image) = scene.images.get(texture.image) {
        let levels = match image.levels.len() {
            0 | 1 => "1 in the file".into(),
            levels => format!("{levels} in the file"),
        };
        rows.push(("size", format!("{} × {}", image.width, image.height)));
        rows.push(("format", format_name(image.format).into()));
        rows.push(("levels", levels));
    }
    rows.push(("sampler", sampler_text(&texture.sampler)));
    let uses = |material: &&Material| slots(material).any(|slot| slot.texture.texture == index);
    let users = scene.materials.iter().filter(uses).count();
    rows.push(("used by", crate::app::state::counted(users as u64, "material")));
    rows
}

fn format_name(format: TexelFormat) -> &'static str {
    match format {
        TexelFormat::Rgba8 => "RGBA, 8 bits",
        TexelFormat::Rgba16 => "RGBA, 16 bits",
        TexelFormat::Bc1 => "BC1",
        TexelFormat::Bc2 => "BC2",
        TexelFormat::Bc3 => "BC3",
        TexelFormat::Bc7 => "BC7",
    }
}

fn sampler_text(sampler: &Sampler) -> String {
    let wrap = |wrap| match wrap {
        Wrap::Repeat => "repeat",
        Wrap::Mirror => "mirror",
        Wrap::Clamp => "clamp",
    };
    let filter = |is_linear| if is_linear { "linear" } else { "nearest" };
    let mips = match sampler.mip_linear {
        Some(is_linear) => format!("mips {}", filter(is_linear)),
        None => "no mips".into(),
    };
    let (u, v) = (wrap(sampler.wrap_u), wrap(sampler.wrap_v));
    let (near, far) = (filter(sampler.mag_linear), filter(sampler.min_linear));
    format!("{u}, {v}; {near}, {far}; {mips}")
}

/// Returns the unit of the intensity of a kind of light, with a space before it.
pub(in crate::app) fn unit(kind: LightKind) -> &'static str {
    match kind {
        LightKind::Directional => " lx",
        LightKind::Point | LightKind::Spot { .. } => " cd",
    }
}

fn light_rows(stage: &Stage, pose: &Pose, node: usize) -> Rows {
    let Some(light) = stage.light(node) else {
        return Rows::new();
    };
    let place = stage.world_from_light(node, pose);
    let direction = (-place.z_axis.truncate()).normalize_or_zero();
    let mut rows = vec![
        ("kind", kind_name(light.kind).to_owned()),
        ("colour", triple(light.color.as_dvec3())),
        (
            "intensity",
            format!("{}{}", four_digits(light.intensity.into()), unit(light.kind)),
        ),
    ];
    if light.kind != LightKind::Directional {
        let at = place.w_axis.truncate().as_dvec3();
        rows.push(("position", format!("{} m", triple(at))));
        let range = light
            .range
            .map_or("unlimited".into(), |range| metres(range.into()));
        rows.push(("range", range));
    }
    if light.kind != LightKind::Point {
        rows.push(("direction", triple(direction.as_dvec3())));
    }
    if let LightKind::Spot {
        inner_angle,
        outer_angle,
    } = light.kind
    {
        let [inner, outer] = [inner_angle, outer_angle].map(f32::to_degrees);
        rows.push(("cone", format!("{inner:.1}° to {outer:.1}°")));
    }
    if stage.light_is_off(node) {
        rows.push(("switched", "off".into()));
    }
    rows
}

fn camera_rows(scene: &Scene, index: usize) -> Rows {
    let Some(camera) = scene.cameras.get(index) else {
        return Rows::new();
    };
    let projection = match camera.projection {
        Projection::Perspective { fov_y } => {
            format!("perspective, {:.1}° vertical", fov_y.to_degrees())
        }
        Projection::Orthographic { half_height } => {
            format!("orthographic, {} high", metres(f64::from(half_height) * 2.0))
        }
    };
    let node = scene.nodes.iter().position(|node| node.camera == Some(index));
    let node = node.map(|node| ("node", shown(&node_path(scene, node))));
    [("projection", projection)].into_iter().chain(node).collect()
}
