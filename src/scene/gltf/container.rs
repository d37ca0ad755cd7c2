//! From bytes to the JSON root: GLB chunks, versions, and the legal JSON that gltf-json would refuse.

use ::gltf::json::{Root, Value, deserialize};

/// Extensions that canopy reads.
pub(super) const SUPPORTED: [&str; 15] = [
    "KHR_draco_mesh_compression",
    "KHR_lights_punctual",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_volume",
    "KHR_mesh_quantization",
    "KHR_texture_transform",
];

/// The parts of a `.gltf` or `.glb` file.
#[derive(Debug)]
pub(super) struct Container<'a> {
    /// UTF-8 JSON, as yet unchecked.
    pub(super) json: &'a [u8],
    /// The binary chunk of a GLB.
    pub(super) bin: Option<&'a [u8]>,
}

/// Splits a GLB into its chunks (glTF 2.0, 4.4); anything else is JSON as a whole.
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
        return Err(format!(
            "is GLB of version {version}; canopy reads version 2"
        ));
    }
    // What follows the declared length is no part of the scene.
    let whole = bytes.get(..length as usize).ok_or_else(|| {
        format!(
            "is cut off: the GLB header promises {length} bytes and the file has {}",
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
                "is cut off: GLB chunk {chunk} promises {size} bytes and {} are left",
                rest.len() - 8
            )
        })?;
        match (chunk, kind) {
            (0, b"JSON") => json = Some(data),
            (0, _) => return Err("has a GLB whose first chunk is not JSON".into()),
            (1, b"BIN\0") => bin = Some(data),
            (_, b"JSON" | b"BIN\0") => {
                return Err(format!(
                    "has a second JSON or a misplaced BIN as GLB chunk {chunk}"
                ));
            }
            // Chunks of unknown types are to be ignored.
            _ => {}
        }
        rest = &rest[8 + data.len()..];
    }
    Ok(Container {
        json: json.ok_or("is a GLB without a JSON chunk")?,
        bin,
    })
}

/// Parses and checks the JSON as far as that needs nothing but the JSON; repairs are told to `warnings`.
pub(super) fn parse(json: &[u8], warnings: &mut Vec<String>) -> Result<Root, String> {
    let mut value: Value =
        deserialize::from_slice(json).map_err(|e| format!("is not valid JSON: {e}"))?;
    check_version(&value)?;
    for name in strings(&value, "extensionsRequired") {
        if !SUPPORTED.contains(&name) {
            return Err(format!(
                "needs the extension {name}, which canopy does not read"
            ));
        }
    }
    whole_numbers(&mut value);
    for scene in array(&mut value, "scenes").into_iter().flatten() {
        // A scene without nodes leaves the key out.
        if let Some(scene) = scene.as_object_mut() {
            scene
                .entry("nodes")
                .or_insert_with(|| Value::Array(Vec::new()));
        }
    }
    for (index, animation) in array(&mut value, "animations")
        .into_iter()
        .flatten()
        .enumerate()
    {
        let Some(channels) = array(animation, "channels") else {
            continue;
        };
        let before = channels.len();
        channels.retain(|channel| {
            channel
                .get("target")
                .is_none_or(|target| target.get("node").is_some())
        });
        if channels.len() < before {
            warnings.push(format!(
                "animation {index}: {} channels without a node are ignored",
                before - channels.len()
            ));
        }
    }
    deserialize::from_value(value).map_err(|e| format!("holds JSON that is not glTF 2.0: {e}"))
}

fn check_version(value: &Value) -> Result<(), String> {
    let asset = value
        .get("asset")
        .ok_or("is not glTF: its JSON has no \"asset\"")?;
    let part = |key: &str| {
        asset
            .get(key)
            .map(|v| v.as_str().unwrap_or("of a wrong type"))
    };
    let version = part("version").ok_or("is not glTF: asset.version is missing")?;
    if !version.starts_with("2.") {
        return Err(format!("is glTF {version}; canopy reads glTF 2.0"));
    }
    match part("minVersion") {
        Some(least) if least != "2.0" => Err(format!(
            "needs glTF {least} (asset.minVersion); canopy reads glTF 2.0"
        )),
        _ => Ok(()),
    }
}

fn strings<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    value
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// The array at `key`, if there is one.
fn array<'a>(value: &'a mut Value, key: &str) -> Option<&'a mut Vec<Value>> {
    value.get_mut(key).and_then(Value::as_array_mut)
}

/// Turns 3.0 into 3: the same number in JSON, and not to gltf-json. The parser has bounded the depth.
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let float = number
                .as_f64()
                .filter(|f| number.is_f64() && f.fract() == 0.0 && f.abs() < 9e15);
            if let Some(float) = float {
                *value = Value::from(float as i64);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(whole_numbers),
        Value::Object(values) => values.values_mut().for_each(whole_numbers),
        _ => {}
    }
}
