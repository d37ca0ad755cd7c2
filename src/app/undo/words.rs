//! Descriptions of edit steps.

use crate::{
    app::{
        inspect::rows::{light_value_name, value_name, value_text},
        outline::model::{Item, Outline, shown},
        state::{Stage, counted},
        undo::edit_change::{EditChange, Sides},
    },
    scene::edits::{AddedLight, LightEdit, LightValue, Value},
};

/// Maximum number of values of an object that are named individually.
const NAMED: usize = 2;

/// Describes the effect of `change` on the scene, when done and when undone.
pub(in crate::app) fn words(stage: &Stage, outline: &Outline, change: &EditChange) -> [String; 2] {
    let mut lines = Vec::new();
    lines.extend(of_materials(stage, outline, change));
    lines.extend(of_lights(stage, change));
    for (node, [before, after]) in &change.places {
        let name = outline.name(&stage.scene, Item::Light(*node));
        let [before, after] = [before, after].map(|place| place.unwrap_or_default());
        lines.extend(placed(&name, before, after));
    }
    if let Some([before, after]) = &change.added {
        lines.extend(of_added(before, after));
    }
    lines.extend(of_hidden(stage, outline, change));
    [0, 1].map(|way| summed(lines.iter().map(|line| line[way].as_str()).collect()))
}

fn summed(lines: Vec<&str>) -> String {
    match lines[..] {
        [first, _, _, ..] => format!("{first}, and {} more edits", lines.len() - 1),
        _ => lines.join(", "),
    }
}

/// Returns `text` as the description for undo and for redo.
fn both(text: String) -> [String; 2] {
    [text.clone(), text]
}

/// Describes the change of a value. Colours are named without their values, which nobody would read.
fn changed(value: &str, name: &str, [before, after]: [Option<Value>; 2]) -> [String; 2] {
    let what = format!("{value} of {name}");
    match (before, after) {
        (Some(Value::Color(_) | Value::ColorWithAlpha(_)), _) => both(what),
        (Some(before), Some(after)) => {
            let [before, after] = [before, after].map(value_text);
            [
                format!("{what} {before} to {after}"),
                format!("{what} {after} to {before}"),
            ]
        }
        _ => both(what),
    }
}

/// Returns the descriptions of the changes to each object. Many values are counted rather than named.
fn by_thing(
    name: impl Fn(usize) -> String,
    values: Vec<(usize, &'static str, [Option<Value>; 2])>,
) -> Vec<[String; 2]> {
    let of_one = values.chunk_by(|a, b| a.0 == b.0);
    let lines = of_one.flat_map(|values| {
        let name = name(values[0].0);
        match values.len() {
            0..=NAMED => values
                .iter()
                .map(|(_, value, sides)| changed(value, &name, *sides))
                .collect(),
            count => vec![both(format!("{count} values of {name}"))],
        }
    });
    lines.collect()
}

fn of_materials(stage: &Stage, outline: &Outline, change: &EditChange) -> Vec<[String; 2]> {
    let (scene, applied) = (&stage.scene, &stage.applied);
    let values = change.materials.iter().map(|((index, value), sides)| {
        let of_file = applied.material_of_files(scene, *index);
        let of_file = of_file.and_then(|material| value.of(material));
        (*index, value_name(*value), sides.map(|side| side.or(of_file)))
    });
    let exists = |(index, ..): &(usize, _, _)| *index < scene.materials.len();
    let name = |index| outline.name(scene, Item::Material(index));
    by_thing(name, values.filter(exists).collect())
}

fn of_lights(stage: &Stage, change: &EditChange) -> Vec<[String; 2]> {
    let (scene, applied) = (&stage.scene, &stage.applied);
    let values = change.lights.iter().map(|((index, value), sides)| {
        let of_file = applied.light_of_files(scene, *index);
        let of_file = of_file.and_then(|light| value.of(light));
        let sides = sides.map(|side| side.or(of_file));
        (*index, light_value_name(*value), sides)
    });
    let name = |index: usize| match scene.lights.get(index).map(|light| light.name.as_str()) {
        Some("") | None => format!("light {index}"),
        Some(name) => shown(name),
    };
    by_thing(name, values.collect())
}

fn placed(name: &str, before: LightEdit, after: LightEdit) -> Vec<[String; 2]> {
    let mut lines = Vec::new();
    if before.is_removed != after.is_removed {
        let what = match after.is_removed {
            true => "removed",
            false => "back",
        };
        lines.push(both(format!("{name} {what}")));
    }
    if before.is_off != after.is_off {
        lines.push(both(switched(name, after.is_off)));
    }
    if before.file_from_light != after.file_from_light {
        lines.push(both(format!("{name} moved")));
    }
    lines
}

fn switched(name: &str, is_off: bool) -> String {
    let to = if is_off { "off" } else { "on" };
    format!("{name} switched {to}")
}

fn of_added(before: &[AddedLight], after: &[AddedLight]) -> Vec<[String; 2]> {
    if before.len() != after.len() {
        let (more, fewer, what) = match before.len() < after.len() {
            true => (after, before, "added"),
            false => (before, after, "removed"),
        };
        let alone: Vec<_> = more.iter().filter(|light| !fewer.contains(light)).collect();
        return vec![both(match alone[..] {
            [only] => format!("{} {what}", shown(&only.light.name)),
            _ => format!("{} {what}", counted((more.len() - fewer.len()) as u64, "light")),
        })];
    }
    let pairs = before.iter().zip(after).filter(|(a, b)| a != b);
    let lines = pairs.flat_map(|(a, b)| {
        let name = shown(&a.light.name);
        let mut lines = Vec::new();
        if a.is_off != b.is_off {
            lines.push(both(switched(&name, b.is_off)));
        }
        if a.file_from_light != b.file_from_light {
            lines.push(both(format!("{name} moved")));
        }
        for value in LightValue::ALL {
            let sides: Sides<Value> = [a, b].map(|added| value.of(&added.light));
            if sides[0] != sides[1] {
                lines.push(changed(light_value_name(value), &name, sides));
            }
        }
        lines
    });
    lines.collect()
}

fn of_hidden(stage: &Stage, outline: &Outline, change: &EditChange) -> Option<[String; 2]> {
    let scene = &stage.scene;
    let has_mesh = |node: &&usize| scene.nodes.get(**node).is_some_and(|n| n.mesh.is_some());
    let meshes: Vec<usize> = change.toggled.iter().filter(has_mesh).copied().collect();
    let hides = |node: &usize| stage.hidden.contains(node);
    let hidden = meshes.iter().filter(|node| hides(node)).count();
    let what = match (meshes.len() - hidden, hidden) {
        (0, 0) => return (!change.toggled.is_empty()).then(|| both("hidden nodes".into())),
        (_, 0) => "shown",
        (0, _) => "hidden",
        _ => return Some(both("other meshes shown".into())),
    };
    Some(both(match meshes[..] {
        [only] => format!("{} {what}", outline.name(scene, Item::Node(only))),
        _ => format!("{} meshes {what}", meshes.len()),
    }))
}
