//! Description of a scene as text: its files, its size, counts, then lists.

use super::describe::NodeRow;
use crate::output::numbers::{bytes, grouped, significant};
use serde_json::Value;
use std::fmt::Write;

/// Maximum number of lines of a list that is not printed whole.
pub(super) const LONGEST: usize = 20;

/// Formats the description and the node tree, with at most `longest` lines per list.
pub(super) fn text(description: &Value, tree: &[NodeRow<'_>], longest: usize) -> String {
    let mut text = String::new();
    for source in items(&description["sources"]) {
        writeln!(text, "{}", printable(&source_text(source))).ok();
    }
    counts(&mut text, description);
    let list = &description["list"];
    section(&mut text, "nodes", tree.len(), &node_lines(tree, longest));
    for (title, line) in [
        ("meshes", mesh_text as fn(&Value) -> String),
        ("materials", material_text),
        ("images", image_text),
        ("clips", clip_text),
        ("lights", light_text),
        ("cameras", camera_text),
        ("volumes", volume_text),
        ("variants", name_text),
    ] {
        let items = items(&list[title]);
        let shown = items.iter().enumerate().take(fitting(items.len(), longest));
        let lines = shown.map(|(index, item)| format!("{index:<4}{}", line(item)));
        section(&mut text, title, items.len(), &lines.collect::<Vec<_>>());
    }
    let extensions = items(&description["extensions"]);
    let lines: Vec<_> = extensions.iter().map(extension_text).collect();
    section(&mut text, "extensions", lines.len(), &lines);
    for warning in items(&description["warnings"]) {
        let warning = warning.as_str().unwrap_or_default();
        writeln!(text, "warning: {}", printable(warning)).ok();
    }
    text
}

/// Replaces line breaks and control characters with U+FFFD, because names in files may contain anything.
fn printable(line: &str) -> String {
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    line.chars().map(shown).collect()
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn word<'a>(item: &'a Value, key: &str) -> &'a str {
    item[key].as_str().unwrap_or_default()
}

/// Returns how many lines of a list of `count` to print. A list that is one line too long is printed whole,
/// because a note about omitted lines would take that line too.
fn fitting(count: usize, longest: usize) -> usize {
    if count <= longest.saturating_add(1) {
        count
    } else {
        longest
    }
}

/// Formats a title with the number of items, the lines that fit, and how many are left out.
fn section(text: &mut String, title: &str, count: usize, lines: &[String]) {
    if count == 0 {
        return;
    }
    writeln!(text, "\n{title} ({})", grouped(count as u64)).ok();
    for line in lines {
        writeln!(text, "  {}", printable(line.trim_end())).ok();
    }
    if lines.len() < count {
        let more = grouped((count - lines.len()) as u64);
        writeln!(text, "  … and {more} more; --all lists them").ok();
    }
}

fn source_text(source: &Value) -> String {
    let mut text = format!(
        "{}: {}, {}",
        word(source, "name"),
        word(source, "format"),
        bytes(count(&source["bytes"]))
    );
    for (key, before) in [("generator", "made by "), ("copyright", "copyright ")] {
        if let Some(value) = source[key].as_str() {
            write!(text, ", {before}{value}").ok();
        }
    }
    text
}

fn counts(text: &mut String, description: &Value) {
    if let Some([min, max]) = bounds(description) {
        let size: Vec<_> = (0..3).map(|axis| significant(max[axis] - min[axis])).collect();
        let corner = |corner: [f64; 3]| corner.map(significant).join(", ");
        writeln!(text, "  {:<14}{} m", "extent", size.join(" × ")).ok();
        let (min, max) = (corner(min), corner(max));
        writeln!(text, "  {:<14}({min}) to ({max}), at rest", "bounds").ok();
    }
    if let Some(up) = description["up"]["text"].as_str() {
        writeln!(text, "  {:<14}{up}", "up").ok();
    }
    for (key, of) in [
        ("geometry", "meshes"),
        ("images", "images"),
        ("volumes", "volumes"),
    ] {
        let size = count(&description["bytes"][key]);
        if size > 0 {
            let title = format!("{of} take");
            writeln!(text, "  {title:<14}{} in memory", bytes(size)).ok();
        }
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
        "volumes",
    ] {
        let number = count(&description[key]);
        // Basic counts are printed even if they are 0.
        if number > 0 || ["nodes", "meshes", "triangles", "materials"].contains(&key) {
            let name = key.replace('_', " ");
            writeln!(text, "  {name:<14}{:>13}", grouped(number)).ok();
        }
    }
}

/// Returns the lower and upper corner.
fn bounds(description: &Value) -> Option<[[f64; 3]; 2]> {
    let corner = |key: &str| -> Option<[f64; 3]> {
        let numbers = items(&description["bounds"][key]).iter();
        let numbers: Vec<f64> = numbers.filter_map(Value::as_f64).collect();
        numbers.try_into().ok()
    };
    Some([corner("min")?, corner("max")?])
}

/// Formats the node tree, with children indented below their parents.
fn node_lines(nodes: &[NodeRow<'_>], longest: usize) -> Vec<String> {
    // Limits the indentation of deep trees.
    const DEEPEST: usize = 12;
    let mut children = vec![Vec::new(); nodes.len()];
    let mut open = Vec::new();
    for (index, node) in nodes.iter().enumerate().rev() {
        match node.parent.and_then(|parent| children.get_mut(parent)) {
            Some(siblings) => siblings.push(index),
            None => open.push((index, 0)),
        }
    }
    let shown = fitting(nodes.len(), longest);
    let mut lines = Vec::with_capacity(shown);
    while let Some((index, depth)) = open.pop().filter(|_| lines.len() < shown) {
        let indent = "  ".repeat(depth.min(DEEPEST));
        lines.push(format!("{indent}{index} {}", node_text(&nodes[index])));
        open.extend(children[index].iter().map(|&child| (child, depth + 1)));
    }
    lines
}

fn node_text(node: &NodeRow<'_>) -> String {
    let numbers = [
        ("mesh", node.mesh),
        ("skin", node.skin),
        ("light", node.light),
        ("camera", node.camera),
        ("volume", node.volume),
    ];
    let numbers = numbers.map(|(what, index)| index.map(|index| format!("{what} {index}")));
    let flags = [("instance", node.instance), ("hidden", node.hidden)];
    let flags = flags.map(|(what, is_set)| is_set.then(|| what.to_owned()));
    joined(named(node.name), numbers.into_iter().chain(flags))
}

fn name_text(item: &Value) -> String {
    named(word(item, "name"))
}

fn named(name: &str) -> String {
    match name {
        "" => "(no name)".into(),
        name => name.to_owned(),
    }
}

/// Formats a count, such as "3 lines" or "1 line". Returns `None` if it is 0.
fn counted(item: &Value, key: &str) -> Option<String> {
    let number = count(&item[key]);
    let name = key.replace('_', " ");
    let name = match (number, name.as_str()) {
        (1, "vertices") => "vertex",
        (1, name) => name.trim_end_matches('s'),
        (_, name) => name,
    };
    (number > 0).then(|| format!("{} {name}", grouped(number)))
}

fn joined(name: String, others: impl IntoIterator<Item = Option<String>>) -> String {
    let others = others.into_iter().flatten();
    std::iter::once(name).chain(others).collect::<Vec<_>>().join(", ")
}

fn mesh_text(mesh: &Value) -> String {
    let keys = ["triangles", "lines", "points", "vertices", "morph_targets"];
    let parts = count(&mesh["primitives"]);
    let parts = (parts > 1).then(|| format!("{} primitives", grouped(parts)));
    let numbers = keys.into_iter().map(|key| counted(mesh, key));
    let size = Some(bytes(count(&mesh["bytes"])));
    joined(name_text(mesh), numbers.chain([parts, size]))
}

fn material_text(material: &Value) -> String {
    let number = |key: &str| {
        let value = material[key].as_f64().unwrap_or(0.0);
        format!("{key} {}", significant((value * 1e3).round() / 1e3))
    };
    let flag = |key: &str| (material[key] == true).then(|| key.replace('_', "-"));
    let alpha = word(material, "alpha");
    let alpha = (alpha != "opaque").then(|| alpha.to_owned());
    let textures: Vec<_> = items(&material["textures"])
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let textures = match &textures[..] {
        [] => None,
        [one] => Some(format!("texture: {one}")),
        several => Some(format!("textures: {}", several.join(" + "))),
    };
    joined(
        name_text(material),
        [
            Some(number("metallic")),
            Some(number("roughness")),
            alpha,
            flag("double_sided"),
            flag("unlit"),
            flag("layered"),
            textures,
        ],
    )
}

fn image_text(image: &Value) -> String {
    let size = format!("{} × {}", image["width"], image["height"]);
    let levels = count(&image["levels"]);
    let levels = (levels > 1).then(|| format!("{levels} levels"));
    let memory = Some(bytes(count(&image["bytes"])));
    joined(name_text(image), [Some(size), levels, memory])
}

fn clip_text(clip: &Value) -> String {
    let secs = significant(clip["duration_secs"].as_f64().unwrap_or(0.0));
    joined(
        name_text(clip),
        [Some(format!("{secs} s")), counted(clip, "channels")],
    )
}

fn light_text(light: &Value) -> String {
    let intensity = significant(light["intensity"].as_f64().unwrap_or(0.0));
    let (kind, unit) = (word(light, "kind"), word(light, "unit"));
    format!("{}, {kind}, {intensity} {unit}", name_text(light))
}

fn camera_text(camera: &Value) -> String {
    let kind = word(camera, "kind");
    let view = match (camera["fov_deg"].as_f64(), camera["half_height"].as_f64()) {
        (Some(degrees), _) => format!("{}° vertical field of view", significant(degrees)),
        (None, half) => format!("{} m high", significant(2.0 * half.unwrap_or(0.0))),
    };
    format!("{}, {kind}, {view}", name_text(camera))
}

/// Formats each grid: its type and size, voxel sizes, value range and bytes.
fn volume_text(volume: &Value) -> String {
    let list = |key: &Value, text: fn(f64) -> String| {
        let numbers = items(key).iter().filter_map(Value::as_f64);
        numbers.map(text).collect::<Vec<_>>()
    };
    let grid = |grid: &Value| {
        let kind = match count(&grid["components"]) {
            1 => "numbers",
            _ => "vectors",
        };
        let size = list(&grid["size"], |n| grouped(n as u64)).join(" × ");
        let mut edges = list(&grid["voxel_size_m"], significant);
        edges.dedup();
        let range = ["min", "max"].map(|key| significant(grid[key].as_f64().unwrap_or(0.0)));
        let name = named(word(grid, "name"));
        let (edges, memory) = (edges.join(" × "), bytes(count(&grid["bytes"])));
        format!(
            "{name}: {size} {kind}, {} to {}, voxels of {edges} m, {memory}",
            range[0], range[1]
        )
    };
    let grids = items(&volume["grids"]).iter().map(grid);
    let grids = grids.collect::<Vec<_>>().join("; ");
    format!("{}; {grids}", name_text(volume))
}

fn extension_text(extension: &Value) -> String {
    let required = if extension["required"] == true {
        ", required"
    } else {
        ""
    };
    let (name, treatment) = (word(extension, "name"), word(extension, "treatment"));
    format!("{name}: {treatment}{required} ({})", word(extension, "note"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn child_nodes_are_listed_below_their_parents() {
        let node = |name, parent, mesh, hidden| NodeRow {
            name,
            parent,
            mesh,
            hidden,
            skin: None,
            light: None,
            camera: None,
            volume: None,
            instance: false,
        };
        let nodes = [
            node("root", None, None, false),
            node("arm", Some(0), None, false),
            node("", None, Some(3), false),
            node("hand", Some(1), None, true),
            node("leg", Some(0), None, false),
        ];
        assert_eq!(
            node_lines(&nodes, usize::MAX),
            [
                "0 root",
                "  1 arm",
                "    3 hand, hidden",
                "  4 leg",
                "2 (no name), mesh 3"
            ]
        );
        assert_eq!(node_lines(&nodes, 2), ["0 root", "  1 arm"]);
    }

    #[test]
    fn control_characters_in_names_are_replaced() {
        let evil = "a\u{1b}[2Jb\nc";
        let description = json!({
            "sources": [{"name": evil, "format": "OBJ", "generator": evil}],
            "list": {"meshes": [{"name": evil}], "variants": [{"name": evil}]},
            "warnings": [evil],
        });
        let text = text(&description, &[], LONGEST);
        assert!(!text.contains('\u{1b}') && !text.contains("\nc"), "{text}");
        assert_eq!(text.matches("a\u{fffd}[2Jb\u{fffd}c").count(), 5, "{text}");
    }

    #[test]
    fn counts_of_one_are_singular() {
        let mesh = json!({"triangles": 1, "vertices": 1, "lines": 2});
        let text = |key: &str| counted(&mesh, key).unwrap();
        assert_eq!(text("triangles"), "1 triangle");
        assert_eq!(text("vertices"), "1 vertex");
        assert_eq!(text("lines"), "2 lines");
        assert_eq!(counted(&mesh, "points"), None);
    }

    #[test]
    fn long_lists_are_cut_unless_all_is_wanted() {
        let variants: Vec<_> = (0..1500).map(|i| json!({"name": format!("v{i}")})).collect();
        let description = json!({"list": {"variants": variants}, "triangles": 1_234_567});
        let short = text(&description, &[], LONGEST);
        assert!(short.contains("variants (1,500)"), "{short}");
        assert!(short.contains("… and 1,480 more; --all lists them"), "{short}");
        assert!(!short.contains("v20"), "{short}");
        assert!(short.contains("1,234,567"), "{short}");
        assert!(text(&description, &[], usize::MAX).contains("v1499"));
    }
}
