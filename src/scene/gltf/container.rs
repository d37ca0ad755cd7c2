//! From bytes to the JSON root: GLB chunks, versions, and the legal JSON that gltf-json would refuse.

use crate::scene::{
    ExtensionUse,
    Treatment::{self, Approximate, Full, Ignored},
    files::{clip, shorten},
};
use ::gltf::json::{Root, Value, deserialize};
use std::ops::Range;

/// Every extension that canopy knows, with how it is treated and what that means for the picture.
const KNOWN: &[(&str, Treatment, &str)] = &[
    // Compression and layout.
    (
        "EXT_mesh_gpu_instancing",
        Full,
        "every instance is one of the scene's",
    ),
    (
        "EXT_meshopt_compression",
        Full,
        "decompressed when it is loaded",
    ),
    (
        "KHR_draco_mesh_compression",
        Full,
        "decompressed when it is loaded",
    ),
    ("KHR_mesh_quantization", Full, "read as floats"),
    (
        "KHR_meshopt_compression",
        Full,
        "decompressed when it is loaded",
    ),
    // Textures.
    ("EXT_texture_webp", Full, "decoded when it is loaded"),
    (
        "KHR_texture_basisu",
        Full,
        "transcoded to what the adapter takes",
    ),
    ("KHR_texture_transform", Full, "on every texture"),
    ("MSFT_texture_dds", Full, "decoded when it is loaded"),
    // Materials.
    (
        "KHR_materials_anisotropy",
        Full,
        "stretched highlights of lights and reflections of what is around",
    ),
    ("KHR_materials_clearcoat", Full, "with its normal texture"),
    (
        "KHR_materials_diffuse_transmission",
        Ignored,
        "no light comes through",
    ),
    (
        "KHR_materials_dispersion",
        Ignored,
        "light is not split into colours",
    ),
    (
        "KHR_materials_emissive_strength",
        Full,
        "scales what is emitted",
    ),
    (
        "KHR_materials_ior",
        Full,
        "how much a dielectric reflects; nothing is bent",
    ),
    (
        "KHR_materials_iridescence",
        Full,
        "the film is evaluated at the viewing angle",
    ),
    (
        "KHR_materials_pbrSpecularGlossiness",
        Approximate,
        "read as a dielectric with that reflection",
    ),
    (
        "KHR_materials_sheen",
        Full,
        "with roughness of at least 0.07",
    ),
    (
        "KHR_materials_specular",
        Full,
        "strength and colour of what is reflected",
    ),
    (
        "KHR_materials_transmission",
        Approximate,
        "what lies behind is tinted, and neither bent nor blurred",
    ),
    (
        "KHR_materials_unlit",
        Full,
        "colours as they are given, without lights, exposure or tone curve",
    ),
    (
        "KHR_materials_variants",
        Full,
        "chosen by name in the panel or with --variant",
    ),
    (
        "KHR_materials_volume",
        Approximate,
        "tinted by the thickness of each instance, without refraction",
    ),
    // The scene.
    (
        "EXT_lights_image_based",
        Ignored,
        "the file's surroundings light nothing",
    ),
    (
        "KHR_animation_pointer",
        Approximate,
        "transforms, weights, visibility, factors of core materials and of emissive strength, texture transforms, lights and fields of view are animated; warnings name what is not",
    ),
    (
        "KHR_gaussian_splatting",
        Ignored,
        "splats are points, which canopy does not draw",
    ),
    ("KHR_interactivity", Ignored, "nothing reacts"),
    ("KHR_lights_punctual", Full, "all three kinds of lights"),
    (
        "KHR_node_hoverability",
        Ignored,
        "nothing is hovered over in canopy",
    ),
    (
        "KHR_node_selectability",
        Ignored,
        "nothing is selected in canopy",
    ),
    (
        "KHR_node_visibility",
        Full,
        "hidden nodes neither show nor cast shadows",
    ),
    (
        "KHR_xmp_json_ld",
        Ignored,
        "metadata, without effect on the picture",
    ),
    ("MSFT_lod", Ignored, "the finest level is always drawn"),
];

/// Names of extensions that a report keeps; a file can list any number.
const MOST_NAMES: usize = 100;

/// Whether canopy does something with an extension.
pub(super) fn reads(name: &str) -> bool {
    KNOWN
        .iter()
        .any(|(known, treatment, _)| *known == name && *treatment != Ignored)
}

/// The extensions that a file lists, and how each is treated.
pub(super) fn extensions(root: &Root) -> Vec<ExtensionUse> {
    let mut names: Vec<&String> = root.extensions_used.iter().collect();
    names.extend(&root.extensions_required);
    names.sort_unstable();
    names.dedup();
    let describe = |name: &String| {
        let known = KNOWN.iter().find(|(known, ..)| known == name);
        let (treatment, note) =
            known.map_or((Ignored, "not known to canopy"), |known| (known.1, known.2));
        ExtensionUse {
            name: shorten(name),
            required: root.extensions_required.contains(name),
            treatment,
            note,
        }
    };
    names.into_iter().take(MOST_NAMES).map(describe).collect()
}

/// A clip's channel of KHR_animation_pointer, which gltf-json does not hold.
#[derive(Debug)]
pub(super) struct Pointer {
    /// The file's number of the animation, of the channel in it and of its sampler.
    pub(super) animation: usize,
    pub(super) channel: usize,
    pub(super) sampler: usize,
    /// What is animated: `/nodes/0/rotation`.
    pub(super) path: String,
}

/// What JSON holds.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) root: Root,
    pub(super) pointers: Vec<Pointer>,
}

/// The parts of a `.gltf` or `.glb` file.
#[derive(Debug)]
pub(super) struct Container<'a> {
    /// UTF-8 JSON, as yet unchecked.
    pub(super) json: &'a [u8],
    /// Where the binary chunk of a GLB lies.
    pub(super) bin: Option<Range<usize>>,
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
            // Some exporters pad it with zeros, where blanks belong.
            (0, b"JSON") => json = Some(without_zeros(data)),
            (0, _) => return Err("has a GLB whose first chunk is not JSON".into()),
            (1, b"BIN\0") => {
                let start = whole.len() - rest.len() + 8;
                bin = Some(start..start + data.len());
            }
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

/// What comes before trailing zeros.
fn without_zeros(data: &[u8]) -> &[u8] {
    let end = data.iter().rposition(|byte| *byte != 0);
    &data[..end.map_or(0, |last| last + 1)]
}

/// Parses and checks the JSON as far as that needs nothing but the JSON; repairs are told to `warnings`.
pub(super) fn parse(json: &[u8], warnings: &mut Vec<String>) -> Result<Parsed, String> {
    let mut value: Value =
        deserialize::from_slice(json).map_err(|e| format!("is not valid JSON: {e}"))?;
    check_version(&value)?;
    simplify(&mut value);
    for scene in array(&mut value, "scenes").into_iter().flatten() {
        // A scene without nodes leaves the key out.
        if let Some(scene) = scene.as_object_mut() {
            scene
                .entry("nodes")
                .or_insert_with(|| Value::Array(Vec::new()));
        }
    }
    let mut pointers = Vec::new();
    for (index, animation) in array(&mut value, "animations")
        .into_iter()
        .flatten()
        .enumerate()
    {
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
        // It may quote a text of any length.
        let why = clip(&e.to_string(), 200);
        format!("holds JSON that is not glTF 2.0: {why}")
    })?;
    Ok(Parsed { root, pointers })
}

/// What a channel's pointer is, if it has one.
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
    let part = |key: &str| {
        asset
            .get(key)
            .map(|v| v.as_str().unwrap_or("of a wrong type"))
    };
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

/// The array at `key`, if there is one.
fn array<'a>(value: &'a mut Value, key: &str) -> Option<&'a mut Vec<Value>> {
    value.get_mut(key).and_then(Value::as_array_mut)
}

/// Turns 3.0 into 3, which is the same number in JSON and not to gltf-json, and takes away extras, which may be anything in glTF and not in
/// gltf-json. The parser has bounded the depth.
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
