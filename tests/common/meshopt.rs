//! meshopt compression for the buffer views of the builder's files.

use super::gltf_builder::Builder;
use serde_json::json;
use std::sync::Mutex;

/// Both names of the extension.
pub(crate) const NAMES: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Lock for the index encoder's version, which is global to all threads.
static INDEX_VERSION: Mutex<()> = Mutex::new(());

/// Returns `source` with all its buffer views as streams of format `version` and without any other bytes.
pub(crate) fn compressed(source: &Builder, name: &str, version: i32) -> Builder {
    let mut file = source.clone();
    file.bin.clear();
    file.json["bufferViews"] = json!([]);
    let views = source.json["bufferViews"].as_array().unwrap();
    for (index, view) in views.iter().enumerate() {
        let number = |key: &str| view[key].as_u64().unwrap() as usize;
        let bytes = &source.bin[number("byteOffset")..][..number("byteLength")];
        let (mode, stride) = layout(source, index);
        let count = bytes.len() / stride;
        let stream = match mode {
            "ATTRIBUTES" => attributes(bytes, stride, version),
            _ => indices(bytes, stride, mode, version),
        };
        let view = stream_view(&mut file, name, &stream, mode, "NONE", [stride, count]);
        if mode == "ATTRIBUTES" {
            file.json["bufferViews"][view]["byteStride"] = json!(stride);
        }
    }
    file.json["extensionsUsed"] = json!([name]);
    file.json["extensionsRequired"] = json!([name]);
    place_buffers(&mut file, name);
    file
}

/// Adds a buffer view whose bytes are a stream. Buffer 1 would hold its plain bytes.
pub(crate) fn stream_view(
    file: &mut Builder,
    name: &str,
    stream: &[u8],
    mode: &str,
    filter: &str,
    [stride, count]: [usize; 2],
) -> usize {
    file.bin.resize(file.bin.len().next_multiple_of(4), 0);
    let offset = file.bin.len();
    file.bin.extend(stream);
    let extension = json!({
        "buffer": 0, "byteOffset": offset, "byteLength": stream.len(),
        "byteStride": stride, "count": count, "mode": mode, "filter": filter,
    });
    let length = stride * count;
    file.push(
        "bufferViews",
        json!({ "buffer": 1, "byteLength": length, "extensions": { name: extension } }),
    )
}

/// Declares buffer 0 with the streams and buffer 1 without bytes.
pub(crate) fn place_buffers(file: &mut Builder, name: &str) {
    file.json["buffers"] = json!([
        { "byteLength": file.bin.len() },
        { "byteLength": 1 << 20, "extensions": { name: { "fallback": true } } },
    ]);
}

/// The right mode for a view, and the bytes of its elements.
fn layout(source: &Builder, view: usize) -> (&'static str, usize) {
    let accessors = source.json["accessors"].as_array().unwrap();
    let of_view = accessors.iter().position(|a| a["bufferView"] == json!(view));
    let accessor = &accessors[of_view.unwrap()];
    let width = match accessor["componentType"].as_u64().unwrap() {
        5120 | 5121 => 1,
        5122 | 5123 => 2,
        _ => 4,
    };
    if accessor["type"] != "SCALAR" {
        let stride = source.json["bufferViews"][view]["byteStride"].as_u64();
        let components = match accessor["type"].as_str().unwrap() {
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        return ("ATTRIBUTES", stride.map_or(components * width, |s| s as usize));
    }
    let count = accessor["count"].as_u64().unwrap();
    let mode = if count.is_multiple_of(3) {
        "TRIANGLES"
    } else {
        "INDICES"
    };
    (mode, width)
}

/// A stream of elements of `stride` bytes.
pub(crate) fn attributes(bytes: &[u8], stride: usize, version: i32) -> Vec<u8> {
    fn encode<const N: usize>(bytes: &[u8], version: i32) -> Vec<u8> {
        let words = bytes.chunks_exact(4).map(|b| [b[0], b[1], b[2], b[3]]);
        let words: Vec<u32> = words.map(u32::from_le_bytes).collect();
        let elements: Vec<[u32; N]> = words.as_chunks::<N>().0.to_vec();
        meshopt::encode_vertex_buffer_level(&elements, 2, Some(version)).unwrap()
    }
    match stride {
        4 => encode::<1>(bytes, version),
        8 => encode::<2>(bytes, version),
        12 => encode::<3>(bytes, version),
        16 => encode::<4>(bytes, version),
        20 => encode::<5>(bytes, version),
        256 => encode::<64>(bytes, version),
        _ => panic!("{stride}"),
    }
}

/// A stream of indices of `width` bytes.
#[expect(unsafe_code, reason = "the crate has no other way to choose the version")]
pub(crate) fn indices(bytes: &[u8], width: usize, mode: &str, version: i32) -> Vec<u8> {
    let index = |b: &[u8]| b.iter().rev().fold(0, |all, b| all << 8 | u32::from(*b));
    let indices: Vec<u32> = bytes.chunks_exact(width).map(index).collect();
    let vertices = indices.iter().max().map_or(0, |most| *most as usize + 1);
    let _alone = INDEX_VERSION.lock().unwrap();
    // SAFETY: all code that encodes indices in this process holds the lock.
    unsafe { meshopt::encode_index_version(version) };
    match mode {
        "TRIANGLES" => meshopt::encode_index_buffer(&indices, vertices).unwrap(),
        _ => meshopt::encode_index_sequence(&indices, vertices).unwrap(),
    }
}
