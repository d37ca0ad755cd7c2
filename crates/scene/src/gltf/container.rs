//! Parses the container and the JSON root: GLB chunks, versions, and valid JSON that gltf-json would refuse.

use crate::files::clip;
use ::gltf::json::{Root, Value, deserialize};
use serde_json::Map;
use std::{collections::HashMap, ops::Range};

/// A channel of KHR_animation_pointer, which gltf-json cannot represent.
#[derive(Debug)]
pub(super) struct Pointer {
    /// Indices in the file: the animation, the channel in it, and its sampler.
    pub(super) animation: usize,
    pub(super) channel: usize,
    pub(super) sampler: usize,
    /// JSON pointer, such as `/nodes/0/rotation`.
    pub(super) path: String,
}

/// Parsed contents of the JSON.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) root: Root,
    pub(super) pointers: Vec<Pointer>,
    /// Extras of each light, which [`Root`] does not keep.
    pub(super) light_extras: Vec<Map<String, Value>>,
    /// Names of each mesh's morph targets, as far as the file gives them.
    pub(super) target_names: Vec<Vec<String>>,
    /// URIs of the volumes that nodes place, keyed by the node's index in the file.
    pub(super) node_volumes: HashMap<usize, String>,
    /// Transform numbers of nodes that [`Root`] would round to f32.
    pub(super) doubles: Doubles,
}

/// Transform numbers that f32 cannot represent, keyed by the node's index in the file and by property
/// (`translation`).
pub(super) type Doubles = HashMap<(usize, &'static str), Box<[f64]>>;

/// Parts of a `.gltf` or `.glb` file.
#[derive(Debug)]
pub(super) struct Container<'a> {
    /// JSON text, not validated yet.
    pub(super) json: &'a [u8],
    /// Range of a GLB's binary chunk.
    pub(super) bin: Option<Range<usize>>,
}

/// Splits a GLB into its chunks (glTF 2.0, 4.4). Any other file is taken as JSON.
pub(super) fn split(bytes: &[u8]) -> Result<Container<'_>, String> {
    let Some(header) = bytes.strip_prefix(b"glTF") else {
        return Ok(Container {
            json: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            bin: None,
        });
    };
    let word = |bytes: &[u8], at: usize| {
        bytes
            .get(at..at + 4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    };
    let (Some(version), Some(length)) = (word(header, 0), word(header, 4)) else {
        return Err("ends within the GLB header".into());
    };
    if version != 2 {
        return Err(format!("is GLB of version {version}; canopy reads version 2"));
    }
    // Bytes after the declared length are not part of the scene.
    let whole = bytes.get(..length as usize).ok_or_else(|| {
        format!(
            "is cut off: the GLB header declares {length} bytes and the file has {}",
            bytes.len()
        )
    })?;
    let mut rest = whole
        .get(12..)
        .ok_or_else(|| format!("declares a GLB length of {length}, less than its header"))?;
    let (mut json, mut bin) = (None, None);
    for chunk in 0.. {
        if rest.is_empty() {
            break;
        }
        let (Some(size), Some(kind)) = (word(rest, 0), rest.get(4..8)) else {
            return Err(format!("ends within the header of GLB chunk {chunk}"));
        };
        let data = rest[8..].get(..size as usize).ok_or_else(|| {
            format!(
                "is cut off: GLB chunk {chunk} declares {size} bytes and {} are left",
                rest.len() - 8
            )
        })?;
        match (chunk, kind) {
            // Some exporters pad the JSON chunk with zeros instead of spaces.
            (0, b"JSON") => json = Some(without_zeros(data)),
            (0, _) => return Err("has a GLB whose first chunk is not JSON".into()),
            (1, b"BIN\0") => {
                let start = whole.len() - rest.len() + 8;
                bin = Some(start..start + data.len());
            }
            (_, b"JSON") => return Err(format!("has a second JSON chunk as GLB chunk {chunk}")),
            (_, b"BIN\0") => return Err(format!("has a misplaced BIN chunk as GLB chunk {chunk}")),
            // The standard requires that chunks of unknown types are ignored.
            _ => {}
        }
        rest = &rest[8 + data.len()..];
    }
    Ok(Container {
        json: json.ok_or("is a GLB without a JSON chunk")?,
        bin,
    })
}

/// Strips trailing zeros.
fn without_zeros(data: &[u8]) -> &[u8] {
    let end = data.iter().rposition(|byte| *byte != 0);
    &data[..end.map_or(0, |last| last + 1)]
}

/// Parses the JSON and validates it on its own. Repairs are added to `warnings`.
pub(super) fn parse(json: &[u8], warnings: &mut Vec<String>) -> Result<Parsed, String> {
    let mut value: Value = deserialize::from_slice(json).map_err(|e| format!("is not valid JSON: {e}"))?;
    check_version(&value)?;
    let light_extras = light_extras(&value);
    let target_names = target_names(&value);
    let node_volumes = node_volumes(&value);
    let doubles = doubles(&value);
    simplify(&mut value);
    for scene in array(&mut value, "scenes").into_iter().flatten() {
        // gltf-json requires the key, but files may omit it for a scene without nodes.
        if let Some(scene) = scene.as_object_mut() {
            scene.entry("nodes").or_insert_with(|| Value::Array(Vec::new()));
        }
    }
    let mut pointers = Vec::new();
    for (index, animation) in array(&mut value, "animations").into_iter().flatten().enumerate() {
        let Some(channels) = array(animation, "channels") else {
            continue;
        };
        let (before, first) = (channels.len(), pointers.len());
        let mut channel = 0..;
        channels.retain(|json| {
            let pointer = pointer(json, index, channel.next().unwrap_or_default());
            let is_pointer = pointer.is_some();
            pointers.extend(pointer);
            let target = json.get("target");
            !is_pointer && target.is_none_or(|target| target.get("node").is_some())
        });
        let without = before - channels.len() - (pointers.len() - first);
        if without > 0 {
            warnings.push(format!(
                "animation {index}: {without} channels without a node are ignored"
            ));
        }
    }
    let root = deserialize::from_value(value).map_err(|e| {
        // The message may quote text of any length.
        let why = clip(&e.to_string(), 200);
        format!("holds JSON that is not glTF 2.0: {why}")
    })?;
    Ok(Parsed {
        root,
        pointers,
        light_extras,
        target_names,
        node_volumes,
        doubles,
    })
}

/// Collects the transform numbers of nodes that f32 cannot represent.
fn doubles(value: &Value) -> Doubles {
    let nodes = value.get("nodes").and_then(Value::as_array);
    let nodes = nodes.into_iter().flatten().enumerate();
    let keys = ["matrix", "translation", "rotation", "scale"];
    let of_node = |(number, node): (usize, &Value)| {
        let of_key = |key: &'static str| {
            let numbers = node.get(key)?.as_array()?;
            // No transform has more numbers.
            let numbers: Option<Box<[f64]>> = numbers.iter().take(16).map(Value::as_f64).collect();
            let is_rounded = |number: &f64| f64::from(*number as f32) != *number;
            let numbers = numbers.filter(|numbers| numbers.iter().any(is_rounded))?;
            Some(((number, key), numbers))
        };
        keys.map(of_key).into_iter().flatten()
    };
    nodes.flat_map(of_node).collect()
}

/// Key of a node's extra with the file of a volume to place at the node.
pub(super) const VOLUME: &str = "canopy_volume";

/// Collects the URIs of the volumes that nodes place, keyed by the node's index in the file.
fn node_volumes(value: &Value) -> HashMap<usize, String> {
    let nodes = value.get("nodes").and_then(Value::as_array);
    let nodes = nodes.into_iter().flatten().enumerate();
    nodes
        .filter_map(|(number, node)| {
            let uri = node.get("extras")?.get(VOLUME)?.as_str()?;
            Some((number, uri.to_owned()))
        })
        .collect()
}

/// Collects the names of each mesh's morph targets, which exporters write to its extras. There may be fewer
/// names than targets.
fn target_names(value: &Value) -> Vec<Vec<String>> {
    let meshes = value.get("meshes").and_then(Value::as_array);
    let names = |mesh: &Value| {
        let names = mesh.pointer("/extras/targetNames").and_then(Value::as_array);
        let name = |name: &Value| clip(name.as_str().unwrap_or_default(), 100).to_string();
        names.into_iter().flatten().map(name).collect()
    };
    meshes.into_iter().flatten().map(names).collect()
}

/// Collects the extras of each light. They are empty if the light has none.
fn light_extras(value: &Value) -> Vec<Map<String, Value>> {
    let lights = value.pointer("/extensions/KHR_lights_punctual/lights");
    let lights = lights.and_then(Value::as_array).into_iter().flatten();
    let extras = lights.map(|light| light.get("extras").and_then(Value::as_object).cloned());
    extras.map(Option::unwrap_or_default).collect()
}

/// Returns the animation pointer of a channel, if it has one.
fn pointer(json: &Value, animation: usize, channel: usize) -> Option<Pointer> {
    let target = json.get("target")?;
    let extension = target.get("extensions")?.get("KHR_animation_pointer")?;
    let is_pointer = target.get("path")?.as_str()? == "pointer";
    is_pointer.then_some(())?;
    Some(Pointer {
        animation,
        channel,
        sampler: usize::try_from(json.get("sampler")?.as_u64()?).ok()?,
        path: extension.get("pointer")?.as_str()?.to_owned(),
    })
}

fn check_version(value: &Value) -> Result<(), String> {
    let asset = value
        .get("asset")
        .ok_or("is not glTF: its JSON has no \"asset\"")?;
    let part = |key: &str| asset.get(key).map(|v| v.as_str().unwrap_or("of a wrong type"));
    let version = part("version").ok_or("is not glTF: asset.version is missing")?;
    if version != "2" && !version.starts_with("2.") {
        return Err(format!("is glTF {version}; canopy reads glTF 2.0"));
    }
    match part("minVersion") {
        Some(least) if least != "2.0" => Err(format!(
            "needs glTF {least} (asset.minVersion); canopy reads glTF 2.0"
        )),
        _ => Ok(()),
    }
}

/// Returns the array at `key`, if there is one.
fn array<'a>(value: &'a mut Value, key: &str) -> Option<&'a mut Vec<Value>> {
    value.get_mut(key).and_then(Value::as_array_mut)
}

/// Turns 3.0 into 3, because gltf-json distinguishes them and JSON does not. Also removes extras, which may
/// be any value in glTF but not in gltf-json. The recursion is safe because the parser has bounded the depth.
fn simplify(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let float = number
                .as_f64()
                .filter(|f| number.is_f64() && f.fract() == 0.0 && f.abs() < 9e15);
            if let Some(float) = float {
                *value = Value::from(float as i64);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(simplify),
        Value::Object(values) => {
            values.remove("extras");
            values.values_mut().for_each(simplify);
        }
        _ => {}
    }
}
