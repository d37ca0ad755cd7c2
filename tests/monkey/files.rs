//! Files that the monkey drops: small scenes and environments, valid and broken.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A floor with a card above it.
const OBJ: &str = "o floor\nv -2 0 -2\nv 2 0 -2\nv 2 0 2\nv -2 0 2\nf 4 3 2 1\n\
                   o card\nv -0.7 0.8 -0.7\nv 0.7 0.8 -0.7\nv 0.7 0.8 0.7\nv -0.7 0.8 0.7\nf 8 7 6 5\n";

/// Names, all of which start with "monkey". The first one is a scene without a clip, which comes to rest.
const NAMES: [&str; 9] = [
    "monkey-scene.obj",
    "monkey-rows.obj",
    "monkey-moving.gltf",
    "monkey-red.hdr",
    "monkey-broken.glb",
    "monkey-broken.gltf",
    "monkey-broken.hdr",
    "monkey-text.txt",
    "monkey-folder",
];

/// A folder of its own with the files.
pub(crate) struct Files(tempfile::TempDir);

impl Files {
    pub(crate) fn write() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        let rows: String = (0..60)
            .map(|i| format!("v {i} 0 0\nv {i} 1 0\nv {i} 0 1\nf -3 -2 -1\n"))
            .collect();
        // Red in all directions, as 2 × 1 texels without run lengths.
        let mut red = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n".to_vec();
        red.extend([[200, 0, 0, 128]; 2].as_flattened());
        let moving = moving();
        let contents: [&[u8]; 8] = [
            OBJ.as_bytes(),
            &[OBJ.as_bytes(), rows.as_bytes()].concat(),
            moving.as_bytes(),
            &red,
            b"glTF, but not really",
            b"{\"asset\": {\"version\": \"2.0\"}, \"meshes\": [{}]",
            &red[..20],
            b"no scene",
        ];
        for (name, content) in NAMES.iter().zip(contents) {
            std::fs::write(files.path(name), content).unwrap();
        }
        let folder = files.path("monkey-folder");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("monkey-inside.obj"), OBJ).unwrap();
        files
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A scene that comes to rest.
    pub(crate) fn first(&self) -> PathBuf {
        self.path(NAMES[0])
    }

    /// The file or folder with a number below [`Self::COUNT`].
    pub(crate) fn numbered(&self, number: usize) -> PathBuf {
        self.path(NAMES[number])
    }

    /// Number of files and folders.
    pub(crate) const COUNT: usize = NAMES.len();
}

/// A triangle that a clip moves, as glTF with its data inside.
fn moving() -> String {
    let positions: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let times: [f32; 2] = [0.0, 1.0];
    let moves: [f32; 6] = [0.0, 0.0, 0.0, 0.5, 0.0, 0.0];
    let floats = [&positions[..], &times, &moves].concat();
    let bytes: Vec<u8> = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
    let data = BASE64_STANDARD.encode(bytes);
    // Positions, times, moves.
    let accessors = [(3, "VEC3", 36), (2, "SCALAR", 8), (2, "VEC3", 24)];
    let mut offset = 0;
    let mut views = Vec::new();
    for (_, _, length) in accessors {
        views.push(json!({"buffer": 0, "byteOffset": offset, "byteLength": length}));
        offset += length;
    }
    let accessor = |(view, (count, kind, _))| {
        let components = if kind == "VEC3" { 3 } else { 1 };
        let (least, most) = ([0; 3], [1, 1, 0]);
        json!({"bufferView": view, "componentType": 5126, "count": count, "type": kind,
               "min": least[..components], "max": most[..components]})
    };
    let accessors: Vec<_> = accessors.into_iter().enumerate().map(accessor).collect();
    let uri = format!("data:application/octet-stream;base64,{data}");
    let document = json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "animations": [{
            "samplers": [{"input": 1, "output": 2}],
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}],
        }],
        "buffers": [{"byteLength": offset, "uri": uri}],
        "bufferViews": views,
        "accessors": accessors,
    });
    document.to_string()
}
