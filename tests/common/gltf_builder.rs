//! Builds small glTF files for tests. Tests may change the JSON, so that broken files are as easy to make as
//! valid ones.

use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Component types by their glTF numbers.
pub(crate) const I8: u32 = 5120;
pub(crate) const U8: u32 = 5121;
pub(crate) const I16: u32 = 5122;
pub(crate) const U16: u32 = 5123;
pub(crate) const U32: u32 = 5125;
pub(crate) const F32: u32 = 5126;

/// A glTF file under construction.
#[derive(Debug, Clone)]
pub(crate) struct Builder {
    /// The JSON of the file, without the buffer.
    pub(crate) json: Value,
    /// The bytes of buffer 0.
    pub(crate) bin: Vec<u8>,
}

impl Builder {
    /// An empty file.
    pub(crate) fn new() -> Self {
        Self {
            json: json!({ "asset": { "version": "2.0" } }),
            bin: Vec::new(),
        }
    }

    /// One triangle in the xy plane, (0,0) (1,0) (0,1), on one node.
    pub(crate) fn triangle() -> Self {
        let mut builder = Self::new();
        let position = builder.floats("VEC3", &[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
        builder.primitive(json!({ "attributes": { "POSITION": position } }));
        builder
    }

    /// Adds to an array of the root, and returns the index.
    pub(crate) fn push(&mut self, list: &str, value: Value) -> usize {
        if self.json.get(list).is_none() {
            self.json[list] = json!([]);
        }
        let values = self.json[list].as_array_mut().unwrap();
        values.push(value);
        values.len() - 1
    }

    /// A buffer view of `bytes`, four bytes aligned.
    pub(crate) fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let offset = self.bin.len();
        self.bin.extend(bytes);
        self.push(
            "bufferViews",
            json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }),
        )
    }

    /// An accessor over bytes of its own.
    pub(crate) fn accessor(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        self.push(
            "accessors",
            json!({ "bufferView": view, "type": kind, "componentType": component, "count": count }),
        )
    }

    /// An accessor of floats.
    pub(crate) fn floats(&mut self, kind: &str, values: &[f32]) -> usize {
        let components = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(kind, F32, values.len() / components, &bytes)
    }

    /// Adds a mesh of one primitive on a node of its own, and returns the node.
    pub(crate) fn primitive(&mut self, primitive: Value) -> usize {
        let mesh = self.push("meshes", json!({ "primitives": [primitive] }));
        self.push("nodes", json!({ "mesh": mesh }))
    }

    /// The first primitive of the first mesh.
    pub(crate) fn first_primitive(&mut self) -> &mut Value {
        &mut self.json["meshes"][0]["primitives"][0]
    }

    /// The file as GLB.
    pub(crate) fn glb(&self) -> Vec<u8> {
        let mut root = self.json.clone();
        if root.get("buffers").is_none() && !self.bin.is_empty() {
            root["buffers"] = json!([{ "byteLength": self.bin.len() }]);
        }
        let mut out = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
        for (kind, mut data, pad) in [
            (b"JSON", root.to_string().into_bytes(), b' '),
            (b"BIN\0", self.bin.clone(), 0),
        ] {
            data.resize(data.len().next_multiple_of(4), pad);
            out.extend((data.len() as u32).to_le_bytes());
            out.extend(kind);
            out.extend(data);
        }
        let length = out.len() as u32;
        out[8..12].copy_from_slice(&length.to_le_bytes());
        out
    }

    /// Writes the file as GLB.
    pub(crate) fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, self.glb()).unwrap();
        path
    }
}
