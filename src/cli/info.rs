//! `canopy info`: what files hold, and what of it canopy ignores.

use super::console::{json_text, print};
use crate::{
    Result,
    config::Config,
    scene::{
        self, AlphaMode, ExtensionUse, LightKind, Pose, Progress, Projection, Scene, bounds::Aabb,
        deform,
    },
};
use clap::Args;
use serde_json::{Value, json};
use std::{fmt::Write, path::PathBuf};

/// `canopy info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Scene files; several make one scene
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Loads the files and describes the scene.
///
/// # Errors
///
/// Those of [`scene::load`].
pub fn run(args: &InfoArgs, config: &Config, quiet: bool) -> Result<()> {
    let scene = scene::load(&args.files, &config.load, &Progress::default())?;
    let mut report = describe(&scene);
    let files: Vec<_> = args.files.iter().map(|f| f.display().to_string()).collect();
    report["files"] = json!(files);
    print(&if args.json {
        json_text(&report)
    } else {
        text(&report)
    })
}

/// The number of things of every kind, for `--stats` as well.
pub(super) fn counts(scene: &Scene) -> Value {
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
    })
}

fn targets(mesh: &scene::Mesh) -> usize {
    mesh.primitives.first().map_or(0, |p| p.targets.len())
}

fn describe(scene: &Scene) -> Value {
    let bounds = Aabb::of(deform::positions(scene, &Pose::new(scene, None, 0.0)));
    let mut report = counts(scene);
    if !bounds.is_empty() {
        report["bounds"] = json!({"min": bounds.min.to_array(), "max": bounds.max.to_array()});
    }
    report["list"] = json!({
        "meshes": scene.meshes.iter().map(|m| json!({
            "name": m.name,
            "primitives": m.primitives.len(),
            "triangles": m.primitives.iter().map(|p| p.indices.len()).sum::<usize>(),
            "lines": m.primitives.iter().map(|p| p.lines.len()).sum::<usize>(),
            "points": m.primitives.iter().map(|p| p.points.len()).sum::<usize>(),
            "morph_targets": targets(m),
        })).collect::<Vec<_>>(),
        "materials": scene.materials.iter().map(|m| json!({
            "name": m.name,
            "alpha": alpha(m.alpha_mode),
            "double_sided": m.double_sided,
            "unlit": m.unlit,
        })).collect::<Vec<_>>(),
        "images": scene.images.iter().map(|i| json!({
            "name": i.name, "width": i.width, "height": i.height,
        })).collect::<Vec<_>>(),
        "clips": scene.clips.iter().map(|c| json!({
            "name": c.name, "duration_secs": c.duration_secs, "channels": c.channels.len(),
        })).collect::<Vec<_>>(),
        "lights": scene.lights.iter().map(light).collect::<Vec<_>>(),
        "cameras": scene.cameras.iter().map(camera).collect::<Vec<_>>(),
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

/// The report as text: counts first, then what has a name.
fn text(report: &Value) -> String {
    let mut text = String::new();
    let none = Vec::new();
    for file in report["files"].as_array().unwrap_or(&none) {
        writeln!(text, "{}", file.as_str().unwrap_or_default()).ok();
    }
    for key in [
        "nodes",
        "instances",
        "meshes",
        "primitives",
        "triangles",
        "lines",
        "points",
        "vertices",
        "materials",
        "textures",
        "images",
        "skins",
        "joints",
        "morph_targets",
        "clips",
        "lights",
        "cameras",
    ] {
        writeln!(text, "  {:<14}{:>10}", key.replace('_', " "), report[key]).ok();
    }
    let corner = |key: &str| {
        let numbers = report["bounds"][key].as_array().unwrap_or(&none).iter();
        let numbers: Vec<_> = numbers
            .map(|n| format!("{:.4}", n.as_f64().unwrap_or(f64::NAN)))
            .collect();
        numbers.join(" ")
    };
    if report["bounds"].is_object() {
        let (min, max) = (corner("min"), corner("max"));
        writeln!(text, "  bounds at rest {min} to {max}").ok();
    }
    for (title, key) in [
        ("materials", "materials"),
        ("images", "images"),
        ("clips", "clips"),
        ("lights", "lights"),
        ("cameras", "cameras"),
        ("variants", "variants"),
    ] {
        let items = report["list"][key].as_array().unwrap_or(&none);
        if !items.is_empty() {
            writeln!(text, "{title}").ok();
        }
        for (index, item) in items.iter().enumerate() {
            writeln!(text, "  {index:<4}{}", item_text(item)).ok();
        }
    }
    let extensions = report["extensions"].as_array().unwrap_or(&none);
    if !extensions.is_empty() {
        writeln!(text, "extensions").ok();
    }
    for extension in extensions {
        let word = |key: &str| extension[key].as_str().unwrap_or_default();
        let required = match extension["required"] {
            Value::Bool(true) => ", required",
            _ => "",
        };
        let (name, treatment, note) = (word("name"), word("treatment"), word("note"));
        writeln!(text, "  {name}: {treatment}{required} ({note})").ok();
    }
    for warning in report["warnings"].as_array().unwrap_or(&none) {
        writeln!(text, "warning: {}", warning.as_str().unwrap_or_default()).ok();
    }
    text
}

/// The name of a thing, and its other fields.
fn item_text(item: &Value) -> String {
    let name = match item["name"].as_str() {
        None | Some("") => "(no name)",
        Some(name) => name,
    };
    let mut words = vec![name.to_owned()];
    for (key, value) in item.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("name" | "unit" | "height", _) | (_, Value::Bool(false)) => {}
            ("width", width) => words.push(format!("{width}×{}", item["height"])),
            ("intensity", value) => {
                let unit = item["unit"].as_str().unwrap_or_default();
                words.push(format!("{value} {unit}"));
            }
            ("duration_secs", value) => words.push(format!("{value} s")),
            ("fov_deg", value) => words.push(format!("{value}°")),
            (key, Value::Bool(true)) => words.push(key.replace('_', " ")),
            (_, Value::String(text)) => words.push(text.clone()),
            (key, value) => words.push(format!("{value} {}", key.replace('_', " "))),
        }
    }
    words.join(", ")
}
