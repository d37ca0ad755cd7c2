//! Edits as JSON, in files of their own and in pictures. Materials, lights and nodes are identified by index
//! and name, so that edits still apply to a file that has changed since.
//!
//! The text is untrusted: every number has a range and every list a maximum length.

use super::{
    edits::{AddedLight, AppliedEdits, LightEdit, LightValue, MaterialValue, SceneEdits, Value},
    files::read_file,
    graph::Scene,
    light::{BRIGHTEST_LIGHT, Light, LightKind},
    material::{AlphaMode, Material},
};
use crate::{Error, Result};
use glam::{Mat4, Vec3, Vec4};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

/// Version of the format. Later versions are refused.
const FORMAT: u32 = 1;

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Maximum length of each list of materials, lights and nodes.
const MAX_EDITS: usize = 100_000;

/// Maximum number of added lights, and maximum number of characters in the name of each.
const MAX_ADDED: usize = 1024;
const LONGEST_NAME: usize = 256;

/// Maximum absolute value of a matrix element.
const FARTHEST: f32 = 1e18;

/// Maximum deviation of the last row of a matrix from 0, 0, 0, 1.
const TOLERANCE: f32 = 1e-3;

/// Serialized edits and hidden nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedEdits {
    format: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    materials: Vec<Saved<MaterialValue>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lights: Vec<Saved<LightValue>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    light_places: Vec<SavedPlace>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    added_lights: Vec<SavedLight>,
    /// Nodes whose meshes are hidden.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hidden: Vec<SavedNode>,
}

/// Edited values of a material or of a light.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved<K: Ord> {
    index: usize,
    name: String,
    values: BTreeMap<K, Json>,
}

/// Edit of the light at a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedPlace {
    node: usize,
    name: String,
    /// `file_from_light`, column-major.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    matrix: Option<[f32; 16]>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    off: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
}

/// An added light.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLight {
    name: String,
    kind: SavedKind,
    values: BTreeMap<LightValue, Json>,
    /// `file_from_light`, column-major.
    matrix: [f32; 16],
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    off: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SavedKind {
    Directional,
    Point,
    Spot,
}

/// A hidden node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedNode {
    node: usize,
    name: String,
}

/// A value in its JSON form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Json {
    Switch(bool),
    Number(f32),
    Numbers(Vec<f32>),
    Word(String),
    Nothing(()),
}

/// Edits that were matched to a scene.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatchedEdits {
    /// Edits of materials and lights.
    pub edits: SceneEdits,
    /// Nodes whose meshes are hidden.
    pub hidden: BTreeSet<usize>,
    /// One message for each edit that refers to something that the scene does not have.
    pub unmatched: Vec<String>,
}

impl Default for SavedEdits {
    fn default() -> Self {
        Self {
            format: FORMAT,
            materials: Vec::new(),
            lights: Vec::new(),
            light_places: Vec::new(),
            added_lights: Vec::new(),
            hidden: Vec::new(),
        }
    }
}

impl SavedEdits {
    /// Serializes the edits that are applied to `scene`, and its hidden nodes.
    pub fn new(scene: &Scene, applied: &AppliedEdits, hidden: &BTreeSet<usize>) -> Self {
        let edits = applied.edits();
        let name_of = |node: usize| scene.nodes.get(node).map(|node| node.name.clone());
        let materials = edits.materials.iter().filter_map(|(index, values)| {
            let name = scene.materials.get(*index)?.name.clone();
            Some(Saved::new(*index, name, values))
        });
        let lights = edits.lights.iter().filter_map(|(index, values)| {
            let name = scene.lights.get(*index)?.name.clone();
            Some(Saved::new(*index, name, values))
        });
        let light_places = edits.places.iter().filter_map(|(node, place)| {
            Some(SavedPlace {
                node: *node,
                name: name_of(*node)?,
                matrix: place.file_from_light.map(|matrix| matrix.to_cols_array()),
                off: place.is_off,
                removed: place.is_removed,
            })
        });
        let hidden = hidden.iter().filter_map(|node| {
            Some(SavedNode {
                node: *node,
                name: name_of(*node)?,
            })
        });
        Self {
            format: FORMAT,
            materials: materials.collect(),
            lights: lights.collect(),
            light_places: light_places.collect(),
            added_lights: edits.added.iter().map(SavedLight::new).collect(),
            hidden: hidden.collect(),
        }
    }

    /// True if it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the text of the file that [`Self::read`] reads.
    pub fn text(&self) -> String {
        // Serialization cannot fail, because every field can be represented in JSON.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a file of edits.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read, and [`Error::Scene`] if its content is invalid.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = read_file(path, MAX_BYTES).map_err(|error| match error {
            Error::Limit { .. } => Error::scene(path, "is larger than 16 MiB, the limit for files of edits"),
            other => other,
        })?;
        let wrong = |what: String| Error::scene(path, what);
        let not_edits = |e: serde_json::Error| wrong(format!("is not a file of edits: {e}"));
        let read: Self = serde_json::from_slice(&bytes).map_err(not_edits)?;
        match read.fault() {
            Some(what) => Err(wrong(what)),
            None => Ok(read),
        }
    }

    /// Returns a description of the first invalid value, if there is one.
    pub fn fault(&self) -> Option<String> {
        if self.format != FORMAT {
            let format = self.format;
            return Some(format!(
                "the edits have format {format}; canopy reads format {FORMAT}"
            ));
        }
        let counts = [
            self.materials.len(),
            self.lights.len(),
            self.light_places.len(),
            self.hidden.len(),
        ];
        if counts.iter().any(|count| *count > MAX_EDITS) {
            return Some(format!("more than {MAX_EDITS} edits of one kind"));
        }
        if self.added_lights.len() > MAX_ADDED {
            return Some(format!("more than {MAX_ADDED} added lights"));
        }
        let values = |list: &str, index: usize, checked: Result<(), String>| {
            checked.err().map(|what| format!("{list}[{index}]: {what}"))
        };
        let materials = self.materials.iter().enumerate();
        let mut materials = materials
            .filter_map(|(at, saved)| values("materials", at, saved.each(material_value, |_, _| {})));
        let lights = self.lights.iter().enumerate();
        let mut lights =
            lights.filter_map(|(at, saved)| values("lights", at, saved.each(light_value, |_, _| {})));
        let places = self.light_places.iter().enumerate();
        let mut places = places.filter_map(|(at, place)| {
            let matrix = place.matrix.map_or(Ok(()), |m| matrix(&m).map(|_| ()));
            values("light_places", at, matrix)
        });
        let added = self.added_lights.iter().enumerate();
        let mut added = added.filter_map(|(at, light)| values("added_lights", at, light.light().map(|_| ())));
        let fault = materials.next().or_else(|| lights.next());
        fault.or_else(|| places.next()).or_else(|| added.next())
    }

    /// Returns the edits that can be matched to `scene`, which must be as in its files. A saved index is used
    /// if the element with this index has the saved name. Otherwise the only element with that name is used.
    pub fn find(&self, scene: &Scene) -> MatchedEdits {
        let mut found = MatchedEdits::default();
        let mut left = Vec::new();
        let materials = Names::new(scene.materials.iter().map(|m| m.name.as_str()));
        for saved in &self.materials {
            let Some(index) = materials.find(saved.index, &saved.name) else {
                left.push(not_there("material", saved.index, &saved.name));
                continue;
            };
            let of_file = &scene.materials[index];
            let mut wanted = of_file.clone();
            let set = saved.each(material_value, |value, to| {
                value.set(&mut wanted, to);
                if value.of(of_file).is_none() {
                    left.push(format!(
                        "the material {:?} has no layers; {} is ignored",
                        saved.name,
                        name_of(value)
                    ));
                }
            });
            left.extend(set.err());
            found.edits.set_material(index, of_file, &wanted);
        }
        let lights = Names::new(scene.lights.iter().map(|l| l.name.as_str()));
        for saved in &self.lights {
            let Some(index) = lights.find(saved.index, &saved.name) else {
                left.push(not_there("light", saved.index, &saved.name));
                continue;
            };
            let of_file = &scene.lights[index];
            let mut wanted = of_file.clone();
            let set = saved.each(light_value, |value, to| value.set(&mut wanted, to));
            left.extend(set.err());
            found.edits.set_light(index, of_file, &wanted);
        }
        let nodes = Names::new(scene.nodes.iter().map(|n| n.name.as_str()));
        for place in &self.light_places {
            let node = nodes.find(place.node, &place.name);
            match node.filter(|node| scene.nodes[*node].light.is_some()) {
                Some(node) => {
                    let matrix = place.matrix.and_then(|m| matrix(&m).ok());
                    let place = LightEdit {
                        file_from_light: matrix,
                        is_off: place.off,
                        is_removed: place.removed,
                    };
                    found.edits.places.insert(node, place);
                }
                None => left.push(not_there("node with a light", place.node, &place.name)),
            }
        }
        found.edits.added = self.added_lights.iter().filter_map(|l| l.light().ok()).collect();
        let mut missing = 0;
        for hidden in &self.hidden {
            match nodes.find(hidden.node, &hidden.name) {
                Some(node) => _ = found.hidden.insert(node),
                None => missing += 1,
            }
        }
        if missing > 0 {
            left.push(format!(
                "{missing} of the hidden nodes are not in the scene and are ignored"
            ));
        }
        found.unmatched = left;
        found
    }
}

fn not_there(noun: &str, index: usize, name: &str) -> String {
    let called = match name {
        "" => index.to_string(),
        name => format!("{name:?}"),
    };
    format!("there is no {noun} {called}; its edits are ignored")
}

/// Looks up indices by name.
struct Names<'a> {
    names: Vec<&'a str>,
    /// First index of each name, and true if the name is unique.
    first: HashMap<&'a str, (usize, bool)>,
}

impl<'a> Names<'a> {
    fn new(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.collect();
        let mut first = HashMap::new();
        for (index, name) in names.iter().enumerate() {
            let known = first.entry(*name).or_insert((index, true));
            known.1 = known.0 == index;
        }
        Self { names, first }
    }

    fn find(&self, index: usize, name: &str) -> Option<usize> {
        if self.names.get(index) == Some(&name) {
            return Some(index);
        }
        let only = self.first.get(name).filter(|(_, is_only)| *is_only);
        only.map(|(index, _)| *index).filter(|_| !name.is_empty())
    }
}

impl<K: Ord + Copy> Saved<K> {
    fn new(index: usize, name: String, values: &BTreeMap<K, Value>) -> Self {
        let values = values.iter().map(|(key, value)| (*key, Json::of(*value)));
        Self {
            index,
            name,
            values: values.collect(),
        }
    }

    /// Calls `set` with each value, and stops at the first invalid one.
    fn each(
        &self,
        value: impl Fn(K, &Json) -> Result<Value, String>,
        mut set: impl FnMut(K, Value),
    ) -> Result<(), String> {
        self.values
            .iter()
            .try_for_each(|(key, json)| value(*key, json).map(|value| set(*key, value)))
    }
}

impl SavedLight {
    fn new(added: &AddedLight) -> Self {
        let light = &added.light;
        let values = LightValue::ALL.into_iter();
        let values = values.filter_map(|value| Some((value, Json::of(value.of(light)?))));
        Self {
            name: light.name.chars().take(LONGEST_NAME).collect(),
            kind: match light.kind {
                LightKind::Directional => SavedKind::Directional,
                LightKind::Point => SavedKind::Point,
                LightKind::Spot { .. } => SavedKind::Spot,
            },
            values: values.collect(),
            matrix: added.file_from_light.to_cols_array(),
            off: added.is_off,
        }
    }

    fn light(&self) -> Result<AddedLight, String> {
        if self.name.chars().nth(LONGEST_NAME).is_some() {
            return Err(format!("the name has more than {LONGEST_NAME} characters"));
        }
        let mut light = Light {
            name: self.name.clone(),
            kind: match self.kind {
                SavedKind::Directional => LightKind::Directional,
                SavedKind::Point => LightKind::Point,
                SavedKind::Spot => LightKind::spot(0.3, 0.5),
            },
            color: Vec3::ONE,
            intensity: 1.0,
            range: None,
            radius: None,
        };
        for (key, json) in &self.values {
            key.set(&mut light, light_value(*key, json)?);
        }
        Ok(AddedLight {
            light,
            file_from_light: matrix(&self.matrix)?,
            is_off: self.off,
        })
    }
}

fn matrix(columns: &[f32; 16]) -> Result<Mat4, String> {
    let matrix = Mat4::from_cols_array(columns);
    let is_small = columns.iter().all(|number| number.abs() <= FARTHEST);
    match is_small && matrix.row(3).abs_diff_eq(Vec4::W, TOLERANCE) {
        true => Ok(matrix),
        false => Err("the matrix is not a valid transform".into()),
    }
}

impl Json {
    fn of(value: Value) -> Self {
        match value {
            Value::Number(number) if !number.is_finite() => Self::Nothing(()),
            Value::Number(number) => Self::Number(number),
            Value::Color(color) => Self::Numbers(color.to_array().into()),
            Value::ColorWithAlpha(color) => Self::Numbers(color.to_array().into()),
            Value::Mode(mode) => Self::Word(mode_name(mode).into()),
            Value::Switch(is_on) => Self::Switch(is_on),
            Value::Length(Some(length)) => Self::Number(length),
            Value::Length(None) => Self::Nothing(()),
            Value::Cone(angles) => Self::Numbers(angles.into()),
        }
    }

    /// Returns the numbers if there are exactly `N`.
    fn numbers<const N: usize>(&self) -> Option<[f32; N]> {
        match self {
            Self::Numbers(numbers) => numbers.as_slice().try_into().ok(),
            _ => None,
        }
    }
}

const MODES: [AlphaMode; 3] = [AlphaMode::Opaque, AlphaMode::Mask, AlphaMode::Blend];

fn mode_name(mode: AlphaMode) -> &'static str {
    match mode {
        AlphaMode::Opaque => "opaque",
        AlphaMode::Mask => "mask",
        AlphaMode::Blend => "blend",
    }
}

/// Returns the name of a value in the JSON.
fn name_of(value: impl Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    name.as_ref()
        .and_then(|name| name.as_str())
        .unwrap_or_default()
        .to_owned()
}

/// Parses and checks a value of a material.
fn material_value(of: MaterialValue, json: &Json) -> Result<Value, String> {
    let range = of.range();
    let (least, most) = (*range.start(), *range.end());
    let is_within = |numbers: &[f32]| numbers.iter().all(|number| range.contains(number));
    let wrong = |what: String| format!("{} must be {what}", name_of(of));
    let sample = Material {
        layers: Some(Box::default()),
        ..Material::default()
    };
    let from_to = format!("from {least} to {most}");
    match of.of(&sample) {
        Some(Value::Number(_)) => match json {
            Json::Number(number) if number.is_finite() && range.contains(number) => {
                Ok(Value::Number(*number))
            }
            Json::Nothing(()) if most.is_infinite() => Ok(Value::Number(f32::INFINITY)),
            _ => Err(wrong(format!("a number {from_to}"))),
        },
        Some(Value::Color(_)) => match json.numbers::<3>().filter(|n| is_within(n)) {
            Some(color) => Ok(Value::Color(color.into())),
            None => Err(wrong(format!("three numbers {from_to}"))),
        },
        Some(Value::ColorWithAlpha(_)) => match json.numbers::<4>().filter(|n| is_within(n)) {
            Some(color) => Ok(Value::ColorWithAlpha(color.into())),
            None => Err(wrong(format!("four numbers {from_to}"))),
        },
        Some(Value::Mode(_)) => {
            let named = |mode: &AlphaMode| *json == Json::Word(mode_name(*mode).into());
            let mode = MODES.into_iter().find(named).map(Value::Mode);
            mode.ok_or_else(|| wrong("opaque, mask or blend".into()))
        }
        _ => match json {
            Json::Switch(is_on) => Ok(Value::Switch(*is_on)),
            _ => Err(wrong("true or false".into())),
        },
    }
}

/// Parses and checks a value of a light.
fn light_value(of: LightValue, json: &Json) -> Result<Value, String> {
    let range = 0.0..=BRIGHTEST_LIGHT;
    let is_within = |numbers: &[f32]| numbers.iter().all(|number| range.contains(number));
    let wrong = |what: &str| format!("{} must be {what} from 0 to {BRIGHTEST_LIGHT}", name_of(of));
    match (of, json) {
        (LightValue::Color, _) => match json.numbers::<3>().filter(|n| is_within(n)) {
            Some(color) => Ok(Value::Color(color.into())),
            None => Err(wrong("three numbers")),
        },
        (LightValue::Intensity, Json::Number(number)) if range.contains(number) => Ok(Value::Number(*number)),
        (LightValue::Intensity, _) => Err(wrong("a number")),
        (LightValue::Range | LightValue::Radius, Json::Nothing(())) => Ok(Value::Length(None)),
        // A light whose range is zero would illuminate nothing.
        (LightValue::Range, Json::Number(0.0)) => Ok(Value::Length(None)),
        (LightValue::Range | LightValue::Radius, Json::Number(length)) if range.contains(length) => {
            Ok(Value::Length(Some(*length)))
        }
        (LightValue::Range | LightValue::Radius, _) => Err(wrong("null, or a number")),
        (LightValue::Cone, _) => match json.numbers::<2>().filter(|n| is_within(n)) {
            Some([inner, outer]) => match LightKind::spot(inner, outer) {
                LightKind::Spot {
                    inner_angle,
                    outer_angle,
                } => Ok(Value::Cone([inner_angle, outer_angle])),
                LightKind::Directional | LightKind::Point => Err(wrong("two angles")),
            },
            None => Err(wrong("two angles in radians")),
        },
    }
}

#[cfg(test)]
mod tests;
