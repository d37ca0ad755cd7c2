//! Draco compression for the files of the builder.

use super::gltf_builder::{Builder, F32, U8, U16, U32};
use draco_core::{
    DataType, EncoderBuffer, EncoderOptions, GeometryAttributeType, Mesh, MeshEncoder, PointAttribute,
};
use serde_json::{Map, Value, json};

/// The extension's name.
pub(crate) const DRACO: &str = "KHR_draco_mesh_compression";

/// Compression of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Keeps the order of the vertices and every bit.
    Exact,
    /// Edgebreaker, which changes the order, and quantises floats to this many bits.
    Quantised(i32),
}

/// Returns `source` with its first primitive in a Draco stream and without any other bytes. Attributes get
/// the unique ids 0, 1, … in the order of their names.
pub(crate) fn compressed(source: &Builder, method: Method) -> Builder {
    let mut file = source.clone();
    let primitive = file.first_primitive().clone();
    let (stream, ids) = encode(source, &primitive, method);
    file.bin.clear();
    file.json["bufferViews"] = json!([]);
    for accessor in file.json["accessors"].as_array_mut().unwrap() {
        accessor.as_object_mut().unwrap().remove("bufferView");
    }
    let view = file.view(&stream);
    file.first_primitive()["extensions"] = json!({ DRACO: { "bufferView": view, "attributes": ids } });
    file.json["extensionsUsed"] = json!([DRACO]);
    file.json["extensionsRequired"] = json!([DRACO]);
    file
}

fn encode(source: &Builder, primitive: &Value, method: Method) -> (Vec<u8>, Map<String, Value>) {
    let mut mesh = Mesh::new();
    let mut options = EncoderOptions::new();
    let mut ids = Map::new();
    for (name, accessor) in primitive["attributes"].as_object().unwrap() {
        let id = mesh.add_attribute(attribute(source, name, accessor));
        ids.insert(name.clone(), json!(id));
        if let Method::Quantised(bits) = method {
            options.set_attribute_quantization(id, bits);
        }
    }
    let (accessor, bytes) = accessor(source, &primitive["indices"]);
    assert_eq!(accessor["componentType"], U16);
    let corners: Vec<u32> = bytes
        .chunks_exact(2)
        .map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])))
        .collect();
    mesh.set_num_faces(corners.len() / 3);
    mesh.set_faces_from_flat_indices(&corners);
    options.set_encoding_method(i32::from(method != Method::Exact));
    let mut encoder = MeshEncoder::new();
    encoder.set_mesh(mesh);
    let mut out = EncoderBuffer::new();
    encoder.encode(&options, &mut out).unwrap();
    (out.data().to_vec(), ids)
}

fn attribute(source: &Builder, name: &str, index: &Value) -> PointAttribute {
    let (accessor, bytes) = accessor(source, index);
    let kind = match name.split('_').next() {
        Some("POSITION") => GeometryAttributeType::Position,
        Some("NORMAL") => GeometryAttributeType::Normal,
        Some("TEXCOORD") => GeometryAttributeType::TexCoord,
        Some("COLOR") => GeometryAttributeType::Color,
        _ => GeometryAttributeType::Generic,
    };
    let component = match accessor["componentType"].as_u64().map(|c| c as u32) {
        Some(U8) => DataType::Uint8,
        Some(U16) => DataType::Uint16,
        Some(U32) => DataType::Uint32,
        Some(F32) => DataType::Float32,
        other => panic!("{other:?}"),
    };
    let components = match accessor["type"].as_str() {
        Some("VEC2") => 2,
        Some("VEC3") => 3,
        _ => 4,
    };
    let normalised = accessor["normalized"] == json!(true);
    let count = accessor["count"].as_u64().unwrap() as usize;
    let mut attribute = PointAttribute::new();
    attribute.init(kind, components, component, normalised, count);
    attribute.buffer_mut().write(0, bytes);
    attribute
}

/// An accessor and the bytes of its buffer view.
fn accessor<'a>(source: &'a Builder, index: &Value) -> (&'a Value, &'a [u8]) {
    let accessor = &source.json["accessors"][index.as_u64().unwrap() as usize];
    let view = &source.json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let number = |key: &str| view[key].as_u64().unwrap() as usize;
    (
        accessor,
        &source.bin[number("byteOffset")..][..number("byteLength")],
    )
}
