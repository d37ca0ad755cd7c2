//! Broken, odd or malicious files by class, each with its required outcome.

use super::{
    environments::{Exr, Runs, hdr, hdr_header},
    gltf_builder::{Builder, F32, U8, U16, U32},
    images::{Ktx2, dds, zstd, zstd_bomb},
};
use Outcome::{Fails, Loads, Warns};
use serde_json::{Value, json};

/// Required outcome for a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    /// The file loads without a warning.
    Loads,
    /// The file loads, with a warning that contains this text.
    Warns(&'static str),
    /// The file is refused, in one line that contains this text.
    Fails(&'static str),
}

/// A file, and the files beside it.
#[derive(Debug)]
pub(crate) struct Case {
    /// The fault or oddity.
    pub(crate) name: String,
    /// The name of the file.
    pub(crate) file: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// Other files in the folder.
    pub(crate) beside: Vec<(&'static str, Vec<u8>)>,
    pub(crate) outcome: Outcome,
}

fn case(name: impl Into<String>, file: &'static str, bytes: impl Into<Vec<u8>>, outcome: Outcome) -> Case {
    Case {
        name: name.into(),
        file,
        bytes: bytes.into(),
        beside: Vec::new(),
        outcome,
    }
}

fn glb(name: impl Into<String>, builder: &Builder, outcome: Outcome) -> Case {
    case(name, "test.glb", builder.glb(), outcome)
}

fn obj(name: impl Into<String>, text: impl Into<Vec<u8>>, outcome: Outcome) -> Case {
    case(name, "test.obj", text, outcome)
}

/// One triangle of an OBJ, and more lines.
const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

fn triangle_and(more: &str) -> String {
    format!("{TRIANGLE}{more}")
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for class in [
        json,
        versions,
        containers,
        references,
        graphs,
        accessors,
        sparse,
        primitives,
        skins,
        morphs,
        clips,
        images,
        uris,
        cameras_and_lights,
        names,
        obj_faces,
        obj_text,
        obj_vertices,
        mtl,
        shapes,
    ] {
        cases.extend(class());
    }
    cases
}

/// Environments: valid ones of each format, and faults of others.
pub(crate) fn environments() -> Vec<Case> {
    let texel = |x, y| [128 + x as u8, 200, y as u8, 129];
    let rows = |runs| hdr([32, 16], runs, texel);
    let exr = Exr::new([16, 8]);
    let float = |x: i32, y: i32| [x as f32, y as f32, 0.5];
    let cube = |format, side, bytes: usize| Ktx2 {
        faces: 6,
        ..Ktx2::plain(format, [side; 2], &[vec![0x3a; bytes]])
    };
    let direct = |dxgi, size, bytes: usize| {
        let mut file = dds(dxgi, size, 1, 1, &vec![0x3a; bytes]);
        file[136] = 4;
        file
    };
    let packed = |level: Vec<u8>, side: u32| Ktx2 {
        supercompression: 2,
        levels: vec![(level, u64::from(side * side) * 48)],
        ..cube(97, side, 0)
    };
    let sized = |size: &str| case(size, "a.hdr", hdr_header(size), Fails("a.hdr"));
    let window = |name: &str, data, outcome| {
        let exr = Exr { data, ..exr.clone() };
        case(name, "a.exr", exr.write(float), outcome)
    };
    let with = |name: &str, attribute, outcome| {
        let exr = Exr {
            more: vec![attribute],
            ..exr.clone()
        };
        case(name, "a.exr", exr.write(float), outcome)
    };
    let ints = |values: &[i32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let squeezed = |compression, side: i32, bytes: &[u8]| {
        let exr = Exr {
            compression,
            lines: 1,
            data: [0, 0, side, 0],
            squeezed: Some(bytes.to_vec()),
            ..exr.clone()
        };
        let what = format!("compression {compression} of {side} from {bytes:?}");
        case(what, "a.exr", exr.write(float), Fails("a.exr"))
    };
    let mut run = rows(Runs::New);
    let at = run.len() - 1;
    run[at - 1] = 255;
    let mut forever = hdr_header("-Y 16 +X 32");
    forever.extend([[200; 4], [1, 1, 1, 0]].concat());
    forever.extend([1, 1, 1, 0].repeat(1000));
    let mut cases = vec![
        case("flat", "a.hdr", rows(Runs::Flat), Loads),
        case("old runs", "a.hdr", rows(Runs::Old), Loads),
        case("new runs", "a.hdr", rows(Runs::New), Loads),
        case("floats", "a.exr", exr.write(float), Loads),
        case("half floats", "a.ktx2", cube(97, 4, 768).write(), Loads),
        case(
            "Zstandard",
            "a.ktx2",
            packed(zstd(&[0x3a; 768]), 4).write(),
            Loads,
        ),
        case("blocks", "a.dds", direct(95, [4; 2], 96), Loads),
        case("shared exponents", "a.dds", direct(67, [4; 2], 384), Loads),
        case("empty", "a.hdr", "", Fails("is empty")),
        case(
            "HTML",
            "a.exr",
            "<!DOCTYPE html>",
            Fails("is not an environment map"),
        ),
        case("a PNG", "a.hdr", png(2, 1), Fails("is not an environment map")),
        case(
            "a scene",
            "a.exr",
            full().glb(),
            Fails("is not an environment map"),
        ),
        sized("-Y 100000 +X 200000"),
        sized("-Y 4294967295 +X 4294967295"),
        sized("-Y 99999999999999999999 +X 8"),
        sized("-Y 0 +X 0"),
        sized("-Y 0 +X 8"),
        sized("-Y -8 +X 16"),
        sized("+X 16 -Y 8"),
        sized("-Y 8"),
        sized(""),
        case("only a beginning", "a.hdr", "#?", Fails("a.hdr")),
        case(
            "an endless header",
            "a.hdr",
            [b"#?RADIANCE\n", &b"x\n".repeat(1 << 20)[..]].concat(),
            Fails("a.hdr"),
        ),
        case(
            "other colours",
            "a.hdr",
            "#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 2\n",
            Fails("a.hdr"),
        ),
        case("a run past the row", "a.hdr", run, Fails("row 15 of 16")),
        case(
            "a run without a texel",
            "a.hdr",
            [hdr_header("-Y 1 +X 2"), vec![1; 8]].concat(),
            Fails("row 0 of 1"),
        ),
        case("runs of nothing", "a.hdr", forever, Fails("a.hdr")),
        window(
            "an enormous window",
            [0, 0, i32::MAX - 1, i32::MAX - 1],
            Fails("max_environment_pixels"),
        ),
        window(
            "a window over all numbers",
            [i32::MIN, i32::MIN, i32::MAX, i32::MAX],
            Fails("max_environment_pixels"),
        ),
        window("a window from its end", [5, 5, 4, 4], Fails("a.exr")),
        window(
            "an enormous window from its end",
            [1 << 26, 0, 0, 0],
            Fails("max_environment_pixels"),
        ),
        window("a window elsewhere", [1000, 1000, 1015, 1007], Loads),
        with(
            "a window twice",
            ("dataWindow", "box2i", ints(&[0, 0, 1 << 20, 1 << 20])),
            Fails("max_environment_pixels"),
        ),
        with(
            "enormous tiles",
            ("tiles", "tiledesc", [ints(&[1 << 30, 1 << 30]), vec![0]].concat()),
            Fails("a.exr"),
        ),
        with(
            "tiles of nothing",
            ("tiles", "tiledesc", [ints(&[0, 0]), vec![0]].concat()),
            Fails("a.exr"),
        ),
        with(
            "tiles of less than nothing",
            ("tiles", "tiledesc", [ints(&[-1, -1]), vec![0]].concat()),
            Fails("a.exr"),
        ),
        with("an attribute of any kind", ("x", "y", vec![7; 1000]), Loads),
        case(
            "a header without an end",
            "a.exr",
            [&b"\x76\x2f\x31\x01\x02\0\0\0"[..], &[b'a'; 1 << 20]].concat(),
            Fails("header"),
        ),
        case(
            "an attribute of -1 bytes",
            "a.exr",
            b"\x76\x2f\x31\x01\x02\0\0\0a\0b\0\xff\xff\xff\xff".to_vec(),
            Fails("header"),
        ),
        case(
            "parts of nothing",
            "a.exr",
            b"\x76\x2f\x31\x01\x02\x10\0\0\0\0\0\0".to_vec(),
            Fails("no pixels"),
        ),
        case(
            "an enormous cube",
            "a.ktx2",
            cube(97, 1 << 20, 64).write(),
            Fails("max_environment_pixels"),
        ),
        case(
            "a cube of all numbers",
            "a.ktx2",
            cube(97, u32::MAX, 64).write(),
            Fails("max_environment_pixels"),
        ),
        case(
            "a cube of nothing",
            "a.ktx2",
            cube(97, 0, 64).write(),
            Fails("a.ktx2"),
        ),
        case(
            "a cube that ends",
            "a.ktx2",
            cube(97, 4, 767).write(),
            Fails("ends within"),
        ),
        case(
            "a cube with another format",
            "a.ktx2",
            cube(2_000_000_000, 4, 768).write(),
            Fails("VkFormat"),
        ),
        case(
            "a picture",
            "a.ktx2",
            Ktx2::plain(97, [4; 2], &[vec![0; 128]]).write(),
            Fails("not a cube map"),
        ),
        case(
            "a bomb",
            "a.ktx2",
            packed(zstd_bomb(768, 100_000), 4).write(),
            Loads,
        ),
        case(
            "more than it says",
            "a.ktx2",
            packed(zstd_bomb(768, 1), 4).write(),
            Loads,
        ),
        case(
            "an enormous cube of blocks",
            "a.dds",
            direct(95, [1 << 20; 2], 96),
            Fails("max_environment_pixels"),
        ),
        case(
            "faces of nothing",
            "a.dds",
            direct(95, [0; 2], 96),
            Fails("a.dds"),
        ),
        case("faces that end", "a.dds", direct(95, [4; 2], 95), Fails("a.dds")),
        case(
            "oblong faces",
            "a.dds",
            direct(95, [8, 4], 1000),
            Fails("must be square"),
        ),
        case(
            "one face",
            "a.dds",
            dds(95, [4; 2], 1, 1, &[0; 16]),
            Fails("not a cube map"),
        ),
    ];
    // ZIP, PIZ and B44 of more than a line allocate a whole block.
    for compression in [1, 2, 3, 4, 5, 6, 7, 8, 9, 200] {
        for bytes in [&[1][..], &[0x78, 1, 3, 0, 0, 0, 0, 1], &[0; 40], &[255; 40]] {
            cases.extend([15, 60_000].map(|side| squeezed(compression, side, bytes)));
        }
    }
    for (file, sound) in [
        ("a.hdr", rows(Runs::New)),
        ("a.exr", exr.write(float)),
        ("a.ktx2", cube(97, 4, 768).write()),
        ("a.dds", direct(95, [4; 2], 96)),
    ] {
        let cuts = (0..sound.len()).step_by(29);
        cases.extend(cuts.map(|length| {
            let what = format!("{file} cut after {length} bytes");
            case(what, file, &sound[..length], Fails(file))
        }));
    }
    cases
}

fn json() -> Vec<Case> {
    let utf16: Vec<u8> = "{\"asset\":{}}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let text = |text: &str| format!("{{\"asset\":{{\"version\":\"2.0\"}},{text}}}");
    let deep = format!("\"x\":{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_objects = format!("\"x\":{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let many = format!("\"nodes\":[{}{{}}]", "{},".repeat(1_100_000));
    let long = format!("\"extras\":\"{}\"", "x".repeat(10_000_000));
    vec![
        case("empty", "a.gltf", "", Fails("JSON")),
        case("a NUL", "a.gltf", "\0", Fails("JSON")),
        case("cut", "a.gltf", "{\"asset\":{\"ver", Fails("JSON")),
        case("not an object", "a.gltf", "[]", Fails("asset")),
        case("HTML", "a.gltf", "<!DOCTYPE html>", Fails("JSON")),
        case("a ZIP", "a.glb", b"PK\x03\x04".to_vec(), Fails("JSON")),
        case("UTF-16", "a.gltf", utf16, Fails("JSON")),
        case(
            "a BOM",
            "a.gltf",
            format!("\u{feff}{}", text("\"x\":1")),
            Warns("no triangles"),
        ),
        case(
            "not UTF-8",
            "a.gltf",
            b"{\"asset\":{\"version\":\"2.0\",\"x\":\"\xff\"}}".to_vec(),
            Fails("JSON"),
        ),
        case(
            "half a surrogate",
            "a.gltf",
            text("\"x\":\"\\ud800\""),
            Fails("JSON"),
        ),
        case("1e400", "a.gltf", text("\"x\":1e400"), Fails("JSON")),
        case("the word NaN", "a.gltf", text("\"x\":NaN"), Fails("JSON")),
        case("a trailing comma", "a.gltf", text("\"x\":[1,]"), Fails("JSON")),
        case(
            "a key twice",
            "a.gltf",
            text("\"nodes\":[{}],\"nodes\":[]"),
            Warns("no triangles"),
        ),
        case("100,000 arrays deep", "a.gltf", text(&deep), Fails("JSON")),
        case(
            "100,000 objects deep",
            "a.gltf",
            text(&deep_objects),
            Fails("JSON"),
        ),
        case(
            "1,100,000 objects",
            "a.gltf",
            text(&many),
            Fails("load.max_json_objects"),
        ),
        case(
            "extras of any kind",
            "a.gltf",
            text("\"nodes\":[{\"extras\":[1,{}]},{\"extras\":null}],\"extras\":7"),
            Warns("no triangles"),
        ),
        case(
            "a list that is a string of 10 MB",
            "a.gltf",
            text(&long.replace("extras", "nodes")),
            Fails("not glTF 2.0"),
        ),
        case("a string of 10 MB", "a.gltf", text(&long), Warns("no triangles")),
        case(
            "numbers with fractions of nothing",
            "a.gltf",
            text("\"nodes\":[{}],\"scenes\":[{\"nodes\":[0.0]}],\"scene\":0.0"),
            Warns("no triangles"),
        ),
    ]
}

fn versions() -> Vec<Case> {
    let asset = |asset: Value| json!({ "asset": asset }).to_string();
    let mut used = Builder::triangle();
    used.json["extensionsUsed"] = json!(["VENDOR_future"]);
    vec![
        case("no asset", "a.gltf", "{}", Fails("asset")),
        case("no version", "a.gltf", asset(json!({})), Fails("version")),
        case("1.0", "a.gltf", asset(json!({ "version": "1.0" })), Fails("1.0")),
        case("3.0", "a.gltf", asset(json!({ "version": "3.0" })), Fails("3.0")),
        case(
            "a version of 1 MB, in lines",
            "a.gltf",
            asset(json!({ "version": "1\n".repeat(1 << 19) })),
            Fails("is glTF 1?1"),
        ),
        case(
            "no number",
            "a.gltf",
            asset(json!({ "version": "banana" })),
            Fails("banana"),
        ),
        case(
            "no text",
            "a.gltf",
            asset(json!({ "version": 2.0 })),
            Fails("wrong type"),
        ),
        case(
            "2.9 at least",
            "a.gltf",
            asset(json!({ "version": "2.0", "minVersion": "2.9" })),
            Fails("2.9"),
        ),
        case(
            "2.1",
            "a.gltf",
            asset(json!({ "version": "2.1" })),
            Warns("no triangles"),
        ),
        glb("an unknown extension", &used, Warns("VENDOR_future")),
    ]
}

fn containers() -> Vec<Case> {
    let sound = Builder::triangle().glb();
    let json_length = u32::from_le_bytes(sound[12..16].try_into().unwrap()) as usize;
    let bin_at = 20 + json_length;
    let mut cases: Vec<Case> = (0..sound.len())
        .step_by(7)
        .chain([4, 8, 11, 12, 16, 19, 20, bin_at, bin_at + 4, bin_at + 8])
        .map(|length| {
            let what = if length < 4 { "" } else { "a.glb" };
            case(
                format!("cut after {length} bytes"),
                "a.glb",
                &sound[..length],
                Fails(what),
            )
        })
        .collect();
    for (what, at) in [
        ("the version", 4),
        ("the length", 8),
        ("the JSON's length", 12),
        ("the BIN's length", bin_at),
    ] {
        let before = u32::from_le_bytes(sound[at..at + 4].try_into().unwrap());
        for value in [0, before - 1, before + 4, 0x7fff_ffff, u32::MAX - 3, u32::MAX] {
            let mut bytes = sound.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            cases.push(case(format!("{what} is {value}"), "a.glb", bytes, Fails("a.glb")));
        }
    }
    // Names of four lengths, so that each padding occurs.
    for name in ["", "a", "ab", "abc"] {
        let mut named = Builder::triangle();
        named.json["nodes"][0]["name"] = json!(name);
        let mut bytes = named.glb();
        let end = 20 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        for byte in bytes[..end].iter_mut().rev().take_while(|byte| **byte == b' ') {
            *byte = 0;
        }
        cases.push(case("JSON padded with zeros", "a.glb", bytes, Loads));
    }
    let mut swapped = sound.clone();
    swapped[16..20].copy_from_slice(b"BIN\0");
    cases.push(case("BIN comes first", "a.glb", swapped, Fails("first chunk")));
    let chunk = |kind: &[u8; 4], data: &[u8]| [&(data.len() as u32).to_le_bytes()[..], kind, data].concat();
    let with = |more: &[u8]| {
        let mut bytes = [&sound[..], more].concat();
        let length = bytes.len() as u32;
        bytes[8..12].copy_from_slice(&length.to_le_bytes());
        bytes
    };
    cases.extend([
        case(
            "a second JSON",
            "a.glb",
            with(&chunk(b"JSON", b"{}  ")),
            Fails("second JSON"),
        ),
        case(
            "a second BIN",
            "a.glb",
            with(&chunk(b"BIN\0", b"1234")),
            Fails("misplaced BIN"),
        ),
        case("an unknown chunk", "a.glb", with(&chunk(b"ABCD", b"1234")), Loads),
        case("an empty chunk", "a.glb", with(&chunk(b"ABCD", b"")), Loads),
        case(
            "bytes after the end",
            "a.glb",
            [&sound[..], &[7; 100]].concat(),
            Loads,
        ),
        case("a GLB that is called .gltf", "a.gltf", sound.clone(), Loads),
        case("a GLB that is called .obj", "a.obj", sound.clone(), Loads),
        case("a GLB in capitals", "A.GLB", sound, Loads),
        case(
            "only a header",
            "a.glb",
            b"glTF\x02\0\0\0\x0c\0\0\0".to_vec(),
            Fails("without a JSON chunk"),
        ),
    ]);
    let mut padded = Builder::triangle();
    padded.json["buffers"] = json!([{ "byteLength": padded.bin.len() }]);
    padded.bin.extend([0; 3]);
    cases.push(glb("three bytes of padding", &padded, Loads));
    padded.json["buffers"] = json!([{ "byteLength": 4_000_000_000_u32 }]);
    cases.push(glb(
        "a buffer that is shorter than it says",
        &padded,
        Warns("buffer 0 declares 4000000000 bytes and has 40"),
    ));
    padded.json["bufferViews"][0]["byteLength"] = json!(41);
    cases.push(glb(
        "a buffer that is shorter than is read",
        &padded,
        Fails("of 4000000000 that it declares"),
    ));
    cases
}

fn references() -> Vec<Case> {
    let mut cases = Vec::new();
    let bad = [
        json!(99),
        json!(-1),
        json!(0.5),
        json!(4_294_967_295_u32),
        json!(u64::MAX),
        json!("0"),
        json!(null),
        json!([0]),
    ];
    let full = full();
    for place in [
        "/scene",
        "/scenes/0/nodes/0",
        "/nodes/0/mesh",
        "/nodes/0/skin",
        "/nodes/0/camera",
        "/nodes/0/children/0",
        "/nodes/0/extensions/KHR_lights_punctual/light",
        "/meshes/0/primitives/0/attributes/POSITION",
        "/meshes/0/primitives/0/attributes/NORMAL",
        "/meshes/0/primitives/0/attributes/TEXCOORD_0",
        "/meshes/0/primitives/0/attributes/COLOR_0",
        "/meshes/0/primitives/0/attributes/JOINTS_0",
        "/meshes/0/primitives/0/indices",
        "/meshes/0/primitives/0/material",
        "/meshes/0/primitives/0/targets/0/POSITION",
        "/accessors/0/bufferView",
        "/bufferViews/0/buffer",
        "/skins/0/joints/0",
        "/skins/0/inverseBindMatrices",
        "/animations/0/channels/0/sampler",
        "/animations/0/channels/0/target/node",
        "/animations/0/samplers/0/input",
        "/animations/0/samplers/0/output",
        "/materials/0/pbrMetallicRoughness/baseColorTexture/index",
        "/textures/0/source",
        "/textures/0/sampler",
        "/images/0/bufferView",
    ] {
        for value in &bad {
            let mut broken = full.clone();
            *broken
                .json
                .pointer_mut(place)
                .unwrap_or_else(|| panic!("{place}")) = value.clone();
            // Optional values may be null too.
            if value.is_null() {
                continue;
            }
            let none = value.as_u64().is_some_and(|v| v >= u64::from(u32::MAX));
            let past = value.is_u64();
            let outcome = match place {
                "/textures/0/source" if none => Warns("no image"),
                "/scene" if past => Warns("and the file has 1; scene 0 is shown"),
                _ => Fails("test.glb"),
            };
            cases.push(glb(format!("{place} is {value}"), &broken, outcome));
        }
    }
    cases.push(glb("everything", &full, Loads));
    cases
}

/// A file with one item of each kind.
pub(crate) fn full() -> Builder {
    let mut builder = Builder::triangle();
    let attributes = json!({
        "POSITION": 0,
        "NORMAL": builder.floats("VEC3", &[0., 0., 1., 0., 0., 1., 0., 0., 1.]),
        "TANGENT": builder.floats("VEC4", &[1., 0., 0., 1., 1., 0., 0., 1., 1., 0., 0., 1.]),
        "TEXCOORD_0": builder.floats("VEC2", &[0., 0., 1., 0., 0., 1.]),
        "COLOR_0": builder.floats("VEC4", &[1.; 12]),
        "JOINTS_0": builder.accessor("VEC4", U8, 3, &[0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0]),
        "WEIGHTS_0": builder.floats("VEC4", &[0.5, 0.5, 0., 0., 1., 0., 0., 0., 1., 0., 0., 0.]),
    });
    let indices = builder.accessor("SCALAR", U16, 3, &[0, 0, 1, 0, 2, 0]);
    let target = builder.floats("VEC3", &[0., 0., 1., 0., 0., 0., 0., 0., 0.]);
    *builder.first_primitive() = json!({
        "attributes": attributes, "indices": indices, "material": 0, "targets": [{ "POSITION": target }],
    });
    let identity: Vec<f32> = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.].repeat(2);
    let matrices = builder.floats("MAT4", &identity);
    builder.push(
        "skins",
        json!({ "joints": [1, 2], "inverseBindMatrices": matrices }),
    );
    builder.push(
        "cameras",
        json!({ "type": "perspective", "perspective": { "yfov": 0.8, "znear": 0.1 } }),
    );
    builder.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": [{ "type": "point" }] } });
    builder.json["extensionsUsed"] = json!(["KHR_lights_punctual"]);
    builder.json["nodes"] = json!([
        { "mesh": 0, "skin": 0, "camera": 0, "weights": [0.5], "children": [1], "extensions": { "KHR_lights_punctual": { "light": 0 } } },
        { "children": [2], "rotation": [0, 0, 0, 1] },
        { "translation": [0, 1, 0] },
    ]);
    builder.json["scenes"] = json!([{ "nodes": [0] }]);
    builder.json["scene"] = json!(0);
    let times = builder.floats("SCALAR", &[0., 1.]);
    let turns = builder.floats("VEC4", &[0., 0., 0., 1., 0., 0., 1., 0.]);
    let weights = builder.floats("SCALAR", &[0., 1.]);
    builder.push("animations", json!({
        "samplers": [{ "input": times, "output": turns }, { "input": times, "output": weights, "interpolation": "STEP" }],
        "channels": [
            { "sampler": 0, "target": { "node": 1, "path": "rotation" } },
            { "sampler": 1, "target": { "node": 0, "path": "weights" } },
        ],
    }));
    let view = builder.view(&png(2, 2));
    builder.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    builder.push("samplers", json!({ "wrapS": 33071 }));
    builder.push("textures", json!({ "source": 0, "sampler": 0 }));
    builder.push("materials", json!({
        "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } }, "alphaMode": "MASK", "normalTexture": { "index": 0 },
    }));
    builder
}

/// A PNG of this size.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    let pixel = image::Rgba([128, 128, 255, 255]);
    let picture = image::RgbaImage::from_pixel(width, height, pixel);
    picture.write_to(&mut out, image::ImageFormat::Png).unwrap();
    out.into_inner()
}

fn graphs() -> Vec<Case> {
    let with = |nodes: Value| {
        let mut builder = Builder::triangle();
        builder.json["nodes"] = nodes;
        builder
    };
    let chain = |count: usize| -> Vec<Value> {
        let mut nodes: Vec<Value> = (1..count).map(|child| json!({ "children": [child] })).collect();
        nodes.push(json!({ "mesh": 0 }));
        nodes
    };
    let mut cycle = chain(1000);
    cycle[999] = json!({ "mesh": 0, "children": [0] });
    // Every node has both of the next layer as children, which gives 2^60 ways from the top to the bottom.
    let diamonds: Vec<Value> = (0..60)
        .flat_map(|layer| vec![json!({ "children": [2 * layer + 2, 2 * layer + 3] }); 2])
        .chain([json!({ "mesh": 0 }), json!({ "mesh": 0 })])
        .collect();
    let wide: Vec<Value> = std::iter::once(json!({ "children": (1..100_000).collect::<Vec<_>>() }))
        .chain((1..100_000).map(|node| {
            if node == 7 {
                json!({ "mesh": 0 })
            } else {
                json!({})
            }
        }))
        .collect();
    let mut two_scenes = with(json!([{ "mesh": 0, "children": [1] }, {}]));
    two_scenes.json["scenes"] = json!([{ "nodes": [0] }, { "nodes": [0] }]);
    let mut child_root = two_scenes.clone();
    child_root.json["scenes"] = json!([{ "nodes": [0, 1] }]);
    let mut twice = two_scenes.clone();
    twice.json["scenes"] = json!([{ "nodes": [0, 0] }]);
    let mut chain_roots = with(json!(chain(100_000)));
    let backwards: Vec<_> = (0..100_000).rev().collect();
    chain_roots.json["scenes"] = json!([{ "nodes": backwards }]);
    let mut nothing = Builder::triangle();
    nothing.json["scenes"] = json!([{}]);
    let mut cases = vec![
        glb(
            "its own child",
            &with(json!([{ "mesh": 0, "children": [0] }])),
            Fails("its own ancestor"),
        ),
        glb("a long cycle", &with(json!(cycle)), Fails("its own ancestor")),
        glb(
            "two parents",
            &with(json!([{ "mesh": 0, "children": [2] }, { "children": [2] }, {}])),
            Warns("node 2 is a child of node 0 and of node 1; it is drawn once"),
        ),
        glb(
            "a child twice",
            &with(json!([{ "mesh": 0, "children": [1, 1] }, {}])),
            Warns("node 1 is a child of node 0 twice; it is drawn once"),
        ),
        glb(
            "2^60 ways",
            &with(json!(diamonds)),
            Warns("(and 119 more like it)"),
        ),
        glb(
            "a cycle below a second parent",
            &with(json!([{ "mesh": 0, "children": [1] }, { "children": [2] }, { "children": [1] }])),
            Fails("its own ancestor"),
        ),
        glb("100,000 deep", &with(json!(chain(100_000))), Loads),
        glb("100,000 wide", &with(json!(wide)), Loads),
        glb("two scenes with one root", &two_scenes, Loads),
        glb(
            "a child that is a root",
            &child_root,
            Warns("lists node 1 as a root, and it is a child of node 0; it is drawn once"),
        ),
        glb("a root twice", &twice, Warns("the scene lists node 0 twice")),
        glb(
            "100,000 roots of one chain",
            &chain_roots,
            Warns("(and 99998 more like it)"),
        ),
        glb("an empty scene", &nothing, Warns("no triangles")),
        glb("no nodes", &with(json!([])), Warns("no triangles")),
    ];
    for (name, key, value, outcome) in [
        ("a scale of 0", "scale", json!([0, 0, 0]), Loads),
        ("a mirroring scale", "scale", json!([-1, 1, 1]), Loads),
        ("an enormous scale", "scale", json!([1e30, 1e30, 1e30]), Loads),
        ("a denormal scale", "scale", json!([1e-44, 1e-44, 1e-44]), Loads),
        (
            "a scale past f32",
            "scale",
            json!([1e39, 1, 1]),
            Fails("not finite"),
        ),
        ("a rotation of 0", "rotation", json!([0, 0, 0, 0]), Loads),
        (
            "a rotation that is no unit",
            "rotation",
            json!([3, 0, 0, 4]),
            Loads,
        ),
        (
            "a translation of three texts",
            "translation",
            json!(["0", 0, 0]),
            Fails("glTF 2.0"),
        ),
        (
            "a translation of two numbers",
            "translation",
            json!([0, 0]),
            Fails("glTF 2.0"),
        ),
        (
            "a singular matrix",
            "matrix",
            json!([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            Loads,
        ),
        (
            "a projective matrix",
            "matrix",
            json!([1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
            Fails("not affine"),
        ),
        (
            "a matrix past f32",
            "matrix",
            json!([1e39, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
            Fails("not finite"),
        ),
    ] {
        cases.push(glb(name, &with(json!([{ "mesh": 0, key: value }])), outcome));
    }
    cases
}

fn accessors() -> Vec<Case> {
    let mut cases = Vec::new();
    let change = |list: &str, key: &str, value: Value| {
        let mut builder = Builder::triangle();
        builder.json[list][0][key] = value;
        builder
    };
    for (key, value, part) in [
        ("count", json!(4), "reaches past"),
        ("count", json!(0), "test.glb"),
        ("count", json!(4_000_000_000_u32), "reaches past"),
        ("count", json!(u64::MAX), "accessor 0"),
        ("count", json!(-1), "glTF 2.0"),
        ("count", json!(null), "glTF 2.0"),
        ("byteOffset", json!(4), "reaches past"),
        ("byteOffset", json!(u64::MAX), "reaches past"),
        ("byteOffset", json!(u64::MAX - 35), "reaches past"),
        ("type", json!("VEC2"), "VEC2"),
        ("type", json!("MAT4"), "MAT4"),
        ("type", json!("VEC9"), "accessor 0"),
        ("componentType", json!(1), "accessor 0"),
    ] {
        let broken = change("accessors", key, value.clone());
        // A mesh without vertices is left out, and the rest is not refused.
        let outcome = if key == "count" && value == 0 {
            Warns("no triangles")
        } else {
            Fails(part)
        };
        cases.push(glb(format!("accessor with {key} {value}"), &broken, outcome));
    }
    for (key, value, part) in [
        ("byteLength", json!(35), "reaches past"),
        ("byteLength", json!(0), "reaches past"),
        ("byteLength", json!(37), "buffer view 0"),
        ("byteLength", json!(u64::MAX), "buffer view 0"),
        ("byteOffset", json!(1), "buffer view 0"),
        ("byteOffset", json!(u64::MAX), "buffer view 0"),
        ("byteStride", json!(4), "byteStride"),
        ("byteStride", json!(16), "reaches past"),
        ("byteStride", json!(u32::MAX), "reaches past"),
    ] {
        let broken = change("bufferViews", key, value.clone());
        cases.push(glb(
            format!("buffer view with {key} {value}"),
            &broken,
            Fails(part),
        ));
    }
    let mut shifted = Builder::triangle();
    shifted.bin.insert(0, 7);
    shifted.json["bufferViews"][0]["byteOffset"] = json!(1);
    cases.push(glb("misaligned", &shifted, Loads));
    let mut shared = Builder::triangle();
    shared.first_primitive()["attributes"]["NORMAL"] = json!(0);
    shared.push(
        "bufferViews",
        json!({ "buffer": 0, "byteOffset": 0, "byteLength": 36 }),
    );
    cases.push(glb(
        "views that overlap",
        &shared,
        Warns("normals without direction"),
    ));
    let lying = change("accessors", "max", json!([0, 0, 0]));
    cases.push(glb("a max that lies", &lying, Loads));
    let mut zeros = Builder::triangle();
    zeros.json["accessors"][0] = json!({ "type": "VEC3", "componentType": F32, "count": 3 });
    cases.push(glb("an accessor without data", &zeros, Loads));
    for count in [
        10_001_u64,
        20_000_000,
        4_000_000_000,
        u64::from(u32::MAX),
        u64::MAX / 12,
    ] {
        zeros.json["accessors"][0]["count"] = json!(count);
        cases.push(glb(
            format!("{count} vertices without data"),
            &zeros,
            Fails("load.max_empty_vertices"),
        ));
    }
    let mut indices = Builder::triangle();
    let index = indices.push(
        "accessors",
        json!({ "type": "SCALAR", "componentType": U32, "count": 4_000_000_000_u32 }),
    );
    indices.first_primitive()["indices"] = json!(index);
    cases.push(glb(
        "4,000,000,000 indices without data",
        &indices,
        Fails("load.max_triangles"),
    ));
    indices.json["accessors"][index]["count"] = json!(30_000);
    cases.push(glb(
        "30,000 indices without data",
        &indices,
        Fails("load.max_empty_vertices"),
    ));
    cases
}

fn sparse() -> Vec<Case> {
    let with = |indices: &[u8], count: u64, values: usize| {
        let mut builder = Builder::triangle();
        let indices = builder.view(indices);
        let values = builder.view(&vec![0; values]);
        builder.json["accessors"][0]["sparse"] = json!({
            "count": count, "indices": { "bufferView": indices, "componentType": U8 }, "values": { "bufferView": values },
        });
        builder
    };
    let mut bomb = with(&[0], 1, 12);
    let place = bomb.json["accessors"][0].as_object_mut().unwrap();
    place.remove("bufferView");
    place.insert("count".into(), json!(60_000_000));
    let mut bad_type = with(&[0], 1, 12);
    bad_type.json["accessors"][0]["sparse"]["indices"]["componentType"] = json!(F32);
    let mut bad_view = with(&[0], 1, 12);
    bad_view.json["accessors"][0]["sparse"]["values"]["bufferView"] = json!(99);
    vec![
        glb("a sparse part", &with(&[0, 2], 2, 24), Loads),
        glb("no sparse elements", &with(&[0], 0, 12), Loads),
        glb(
            "a sparse index past the end",
            &with(&[0, 3], 2, 24),
            Fails("sparse indices"),
        ),
        glb(
            "sparse indices that fall",
            &with(&[2, 1], 2, 24),
            Fails("sparse indices"),
        ),
        glb(
            "a sparse index twice",
            &with(&[1, 1], 2, 24),
            Fails("sparse indices"),
        ),
        glb(
            "too few sparse indices",
            &with(&[0], 2, 24),
            Fails("reaches past"),
        ),
        glb(
            "too few sparse values",
            &with(&[0, 1], 2, 23),
            Fails("reaches past"),
        ),
        glb(
            "4,000,000,000 sparse values",
            &with(&[0, 1], 4_000_000_000, 24),
            Fails("reaches past"),
        ),
        glb(
            "2^64 sparse values",
            &with(&[0, 1], u64::MAX, 24),
            Fails("reaches past"),
        ),
        glb(
            "one sparse value of 60,000,000",
            &bomb,
            Fails("load.max_empty_vertices"),
        ),
        glb("sparse indices that are floats", &bad_type, Fails("sparse")),
        glb("sparse values of nowhere", &bad_view, Fails("buffer view 99")),
    ]
}

fn primitives() -> Vec<Case> {
    let with = |key: &str, value: Value| {
        let mut builder = Builder::triangle();
        builder.first_primitive()[key] = value;
        builder
    };
    let attribute = |name: &str, kind: &str, values: &[f32]| {
        let mut builder = Builder::triangle();
        let accessor = builder.floats(kind, values);
        builder.first_primitive()["attributes"][name] = json!(accessor);
        builder
    };
    let indexed = |component: u32, count: usize, bytes: &[u8]| {
        let mut builder = Builder::triangle();
        let accessor = builder.accessor("SCALAR", component, count, bytes);
        builder.first_primitive()["indices"] = json!(accessor);
        builder
    };
    let mut two = Builder::triangle();
    two.json["accessors"][0]["count"] = json!(2);
    let mut float_indices = Builder::triangle();
    let accessor = float_indices.floats("SCALAR", &[0., 1., 2.]);
    float_indices.first_primitive()["indices"] = json!(accessor);
    let mut no_primitives = Builder::triangle();
    no_primitives.json["meshes"][0]["primitives"] = json!([]);
    let mut cases = vec![
        glb(
            "no POSITION",
            &with("attributes", json!({})),
            Warns("no POSITION"),
        ),
        glb("no primitives", &no_primitives, Warns("no triangles")),
        glb("points", &with("mode", json!(0)), Warns("points or lines")),
        glb("lines", &with("mode", json!(1)), Warns("points or lines")),
        glb("an unknown mode", &with("mode", json!(7)), Fails("mode")),
        glb("two vertices", &two, Warns("no triangles")),
        glb("no indices", &indexed(U8, 0, &[]), Warns("no triangles")),
        glb("two indices", &indexed(U8, 2, &[0, 1]), Warns("no triangles")),
        glb("four indices", &indexed(U8, 4, &[0, 1, 2, 0]), Loads),
        glb(
            "an index past the end",
            &indexed(U8, 3, &[0, 1, 3]),
            Fails("past its 3 vertices"),
        ),
        glb(
            "a restart of 16 bits",
            &indexed(U16, 3, &[0, 0, 1, 0, 255, 255]),
            Fails("past its 3 vertices"),
        ),
        glb(
            "a restart of 32 bits",
            &indexed(U32, 3, &[0, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255]),
            Fails("past its 3 vertices"),
        ),
        glb("indices that are floats", &float_indices, Fails("F32")),
        glb("the same vertex thrice", &indexed(U8, 3, &[1, 1, 1]), Loads),
        glb(
            "two normals",
            &attribute("NORMAL", "VEC3", &[0.; 6]),
            Fails("2 elements for 3 vertices"),
        ),
        glb(
            "normals of 0",
            &attribute("NORMAL", "VEC3", &[0.; 9]),
            Warns("normals without direction"),
        ),
        glb(
            "normals of NaN",
            &attribute("NORMAL", "VEC3", &[f32::NAN; 9]),
            Warns("normals without direction"),
        ),
        glb(
            "enormous normals",
            &attribute("NORMAL", "VEC3", &[3e38; 9]),
            Loads,
        ),
        glb(
            "texture coordinates of NaN",
            &attribute("TEXCOORD_0", "VEC2", &[f32::NAN; 6]),
            Warns("texture coordinates"),
        ),
        glb(
            "texture coordinates of 4",
            &attribute("TEXCOORD_0", "VEC4", &[0.; 12]),
            Fails("VEC4"),
        ),
        glb(
            "colours of infinity",
            &attribute("COLOR_0", "VEC4", &[f32::INFINITY; 12]),
            Warns("vertex colours"),
        ),
        glb(
            "negative colours",
            &attribute("COLOR_0", "VEC3", &[-1.; 9]),
            Loads,
        ),
        glb(
            "an attribute of its own",
            &attribute("_THING", "VEC3", &[1.; 9]),
            Loads,
        ),
        glb("an attribute of no name", &attribute("", "VEC3", &[1.; 9]), Loads),
    ];
    for (name, bad) in [("NaN", f32::NAN), ("infinite", f32::INFINITY)] {
        let mut builder = Builder::new();
        let accessor = builder.floats("VEC3", &[0., 0., 0., 1., bad, 0., 0., 1., 0.]);
        builder.primitive(json!({ "attributes": { "POSITION": accessor } }));
        cases.push(glb(
            format!("a position that is {name}"),
            &builder,
            Warns("NaN or infinite"),
        ));
    }
    let mut shared = Builder::new();
    let points: Vec<f32> = (0..30_000).map(|i| (i % 97) as f32).collect();
    let position = shared.floats("VEC3", &points);
    let normal = shared.floats("VEC3", &[0., 0., 1.].repeat(10_000));
    let indices = shared.accessor("SCALAR", U16, 3, &[0, 0, 1, 0, 14, 39]);
    let primitive = json!({ "indices": indices, "attributes": { "POSITION": position, "NORMAL": normal } });
    shared.push("meshes", json!({ "primitives": vec![primitive; 5000] }));
    shared.push("nodes", json!({ "mesh": 0 }));
    cases.push(glb("5,000 primitives of one accessor", &shared, Loads));
    shared.json["accessors"][indices] =
        json!({ "type": "SCALAR", "componentType": U16, "count": 30, "bufferView": 0 });
    cases.push(glb(
        "indices that are positions",
        &shared,
        Fails("past its 10000 vertices"),
    ));
    let mut copies = Builder::triangle();
    let all = copies.accessor("SCALAR", U8, 30_000, &[0, 1, 2].repeat(10_000));
    copies.first_primitive()["indices"] = json!(all);
    copies.json["nodes"] = json!(vec![json!({ "mesh": 0 }); 1000]);
    cases.push(glb(
        "10,000,000 triangles in 40 KB",
        &copies,
        Fails("load.max_triangles"),
    ));
    let mut materials = Builder::triangle();
    materials.json["materials"] = json!(vec![json!({}); 70_000]);
    cases.push(glb("70,000 materials", &materials, Loads));
    cases
}

fn skins() -> Vec<Case> {
    let with = |change: &dyn Fn(&mut Builder)| {
        let mut builder = full();
        change(&mut builder);
        builder
    };
    let joints = |bytes: &[u8]| {
        let mut builder = full();
        let accessor = builder.accessor("VEC4", U8, 3, bytes);
        builder.first_primitive()["attributes"]["JOINTS_0"] = json!(accessor);
        builder
    };
    let weights = |value: f32| {
        let mut builder = full();
        let accessor = builder.floats("VEC4", &[value; 12]);
        builder.first_primitive()["attributes"]["WEIGHTS_0"] = json!(accessor);
        builder
    };
    let matrices = |values: &[f32]| {
        let mut builder = full();
        let accessor = builder.floats("MAT4", values);
        builder.json["skins"][0]["inverseBindMatrices"] = json!(accessor);
        builder
    };
    let mut cases = vec![
        glb(
            "a joint past the skin",
            &joints(&[0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            Fails("joint 2"),
        ),
        glb(
            "no inverse bind matrices",
            &with(&|b| b.json["skins"][0] = json!({ "joints": [1, 2] })),
            Loads,
        ),
        glb(
            "one inverse bind matrix",
            &matrices(&[1.; 16]),
            Fails("1 inverse bind matrices for 2"),
        ),
        glb("singular inverse bind matrices", &matrices(&[0.; 32]), Loads),
        glb(
            "inverse bind matrices of NaN",
            &matrices(&[f32::NAN; 32]),
            Fails("not finite"),
        ),
        glb(
            "no joints",
            &with(&|b| b.json["skins"][0] = json!({ "joints": [] })),
            Fails("joint"),
        ),
        glb(
            "a skeleton of nowhere",
            &with(&|b| b.json["skins"][0]["skeleton"] = json!(0)),
            Loads,
        ),
        glb(
            "a joint twice",
            &with(&|b| b.json["skins"][0]["joints"] = json!([1, 1])),
            Loads,
        ),
        glb(
            "joints outside of the scene",
            &with(&|b| b.json["scenes"][0]["nodes"] = json!([0])),
            Loads,
        ),
        glb(
            "joints without weights",
            &with(&|b| {
                b.first_primitive()["attributes"]
                    .as_object_mut()
                    .unwrap()
                    .remove("WEIGHTS_0");
            }),
            Warns("only one of JOINTS_0 and WEIGHTS_0"),
        ),
        glb(
            "a skin that nothing has",
            &with(&|b| {
                b.json["nodes"][0].as_object_mut().unwrap().remove("skin");
            }),
            Loads,
        ),
    ];
    for (value, outcome) in [
        (0., Warns("do not sum")),
        (-1., Warns("do not sum")),
        (3., Loads),
        (3e38, Warns("do not sum")),
        (f32::NAN, Warns("do not sum")),
    ] {
        cases.push(glb(format!("weights of {value}"), &weights(value), outcome));
    }
    let mut large = full();
    large.json["skins"][0] = json!({ "joints": vec![1; 5000] });
    cases.push(glb("5,000 joints", &large, Loads));
    let node = large.json["nodes"][0].clone();
    for _ in 0..3 {
        let mut copy = node.clone();
        copy.as_object_mut().unwrap().remove("children");
        let index = large.push("nodes", copy);
        large.json["scenes"][0]["nodes"]
            .as_array_mut()
            .unwrap()
            .push(json!(index));
    }
    cases.push(glb(
        "20,000 joints in four copies",
        &large,
        Fails("load.max_joints"),
    ));
    cases
}

fn morphs() -> Vec<Case> {
    let with = |targets: Value| {
        let mut builder = Builder::triangle();
        builder.first_primitive()["targets"] = targets;
        builder
    };
    let mut short = Builder::triangle();
    let accessor = short.floats("VEC3", &[0.; 6]);
    short.first_primitive()["targets"] = json!([{ "POSITION": accessor }]);
    let mut nan = Builder::triangle();
    let accessor = nan.floats("VEC3", &[f32::NAN; 9]);
    nan.first_primitive()["targets"] = json!([{ "POSITION": accessor }]);
    let mut differ = Builder::triangle();
    let plain = differ.first_primitive().clone();
    differ.first_primitive()["targets"] = json!([{}]);
    differ.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(plain);
    let weights = |count: usize, value: Value| {
        let mut builder = with(json!([{}, {}]));
        builder.json["meshes"][0]["weights"] = json!(vec![value; count]);
        builder
    };
    vec![
        glb("targets without anything", &with(json!([{}, {}])), Loads),
        glb(
            "a target of two offsets",
            &short,
            Fails("2 elements for 3 vertices"),
        ),
        glb("a target of NaN", &nan, Warns("not finite")),
        glb(
            "primitives with other targets",
            &differ,
            Fails("number of morph targets"),
        ),
        glb(
            "one weight for two targets",
            &weights(1, json!(1)),
            Warns("2 morph targets and 1 weights"),
        ),
        glb(
            "nine weights for two targets",
            &weights(9, json!(1)),
            Warns("2 morph targets and 9 weights"),
        ),
        glb("enormous weights", &weights(2, json!(1e38)), Loads),
        glb("weights past f32", &weights(2, json!(1e39)), Fails("not finite")),
        glb(
            "20,000 targets",
            &with(json!(vec![json!({}); 20_000])),
            Fails("load.max_morph_targets"),
        ),
    ]
}

fn clips() -> Vec<Case> {
    let keys = |times: &[f32], values: &[f32], interpolation: &str| {
        let mut builder = Builder::triangle();
        let input = builder.floats("SCALAR", times);
        let output = builder.floats("VEC3", values);
        builder.push(
            "animations",
            json!({
                "samplers": [{ "input": input, "output": output, "interpolation": interpolation }],
                "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }],
            }),
        );
        builder
    };
    let channel = |key: &str, value: Value| {
        let mut builder = keys(&[0., 1.], &[0.; 6], "LINEAR");
        builder.json["animations"][0]["channels"][0]["target"][key] = value;
        builder
    };
    let mut nothing = keys(&[0.], &[0.; 3], "STEP");
    nothing.json["animations"][0]["channels"][0]["target"] = json!({ "path": "translation" });
    let mut long = keys(&[0.], &[0.; 3], "STEP");
    long.json["accessors"][1] = json!({ "type": "SCALAR", "componentType": F32, "count": 4_000_000_000_u32 });
    long.json["accessors"][2] = json!({ "type": "VEC3", "componentType": F32, "count": 4_000_000_000_u32 });
    vec![
        glb("one key", &keys(&[0.], &[1., 2., 3.], "LINEAR"), Loads),
        glb("a key at 1e30", &keys(&[0., 1e30], &[0.; 6], "LINEAR"), Loads),
        glb("keys before 0", &keys(&[-2., -1.], &[0.; 6], "LINEAR"), Loads),
        glb(
            "equal keys",
            &keys(&[1., 1.], &[0.; 6], "LINEAR"),
            Warns("key times that do not increase; they are sorted"),
        ),
        glb(
            "falling keys",
            &keys(&[1., 0.], &[0.; 6], "LINEAR"),
            Warns("channel 0 of animation 0 has key times that do not increase"),
        ),
        glb(
            "equal keys at the ends of f32",
            &keys(
                &[f32::MIN, f32::MIN, f32::MAX, f32::MAX],
                &[0.; 36],
                "CUBICSPLINE",
            ),
            Warns("key times that do not increase"),
        ),
        glb(
            "zeros of both signs",
            &keys(&[0., -0., 0.], &[0.; 9], "STEP"),
            Warns("key times that do not increase"),
        ),
        glb(
            "keys of NaN",
            &keys(&[0., f32::NAN], &[0.; 6], "LINEAR"),
            Warns("1 keys with NaN or infinity; these keys are left out"),
        ),
        glb(
            "only keys of infinity",
            &keys(&[f32::INFINITY, f32::NEG_INFINITY], &[0.; 6], "LINEAR"),
            Warns("no key with a time and a value; it moves nothing"),
        ),
        glb(
            "values of NaN",
            &keys(&[0., 1.], &[f32::NAN; 6], "LINEAR"),
            Warns("2 keys with NaN or infinity"),
        ),
        glb("no keys", &keys(&[], &[], "LINEAR"), Warns("no key")),
        glb(
            "a value too few",
            &keys(&[0., 1.], &[0.; 3], "LINEAR"),
            Warns("its output has 3; the keys without values are left out"),
        ),
        glb(
            "a value too many",
            &keys(&[0.], &[0.; 6], "LINEAR"),
            Warns("its output has 6; the values beyond the keys are ignored"),
        ),
        glb(
            "splines without tangents",
            &keys(&[0., 1.], &[0.; 6], "CUBICSPLINE"),
            Warns("a spline without its tangents; they are interpolated linearly"),
        ),
        glb(
            "an unknown interpolation",
            &keys(&[0., 1.], &[0.; 6], "WAVY"),
            Fails("interpolation"),
        ),
        glb(
            "a node that does not exist",
            &channel("node", json!(9)),
            Fails("node 9"),
        ),
        glb(
            "an unknown path",
            &channel("path", json!("colour")),
            Warns("unknown path"),
        ),
        glb(
            "weights of no targets",
            &channel("path", json!("weights")),
            Warns("morph targets of node 0"),
        ),
        glb("no node", &nothing, Warns("without a node")),
        glb(
            "4,000,000,000 keys without data",
            &long,
            Fails("load.max_morph_bytes"),
        ),
    ]
}

/// A PNG that declares this size, and holds one row of nothing.
fn png_of(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = png(1, 1);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    // The header's checksum (PNG, annex D).
    let crc = bytes[12..29].iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| {
            (c >> 1) ^ if c & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    });
    bytes[29..33].copy_from_slice(&(!crc).to_be_bytes());
    bytes
}

fn images() -> Vec<Case> {
    let textured = |bytes: &[u8]| {
        let mut builder = Builder::triangle();
        let view = builder.view(bytes);
        builder.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
        builder.push("textures", json!({ "source": 0 }));
        builder.push("materials", json!({ "emissiveTexture": { "index": 0 } }));
        builder.first_primitive()["material"] = json!(0);
        builder
    };
    let sound = png(8, 8);
    let mut flipped = sound.clone();
    flipped[20] ^= 1;
    let mut sourceless = textured(&sound);
    sourceless.json["textures"][0] = json!({});
    let mut nowhere = textured(&sound);
    nowhere.json["images"][0] = json!({});
    let mut many = textured(&sound);
    let image = many.json["images"][0].clone();
    many.json["images"] = json!(vec![image; 300]);
    let mut cases = vec![
        glb("an empty image", &textured(b""), Warns("checker")),
        glb("a web page", &textured(b"<html>"), Warns("checker")),
        glb("a wrong checksum", &textured(&flipped), Warns("checker")),
        glb("0 x 0 pixels", &textured(&png_of(0, 0)), Warns("checker")),
        glb("1 x 0 pixels", &textured(&png_of(1, 0)), Warns("checker")),
        glb(
            "65,535 x 65,535 pixels",
            &textured(&png_of(65535, 65535)),
            Warns("load.max_image_pixels"),
        ),
        glb(
            "2^31 x 2^31 pixels",
            &textured(&png_of(0x7fff_ffff, 0x7fff_ffff)),
            Warns("checker"),
        ),
        glb("a texture without an image", &sourceless, Warns("no image")),
        glb("an image from nowhere", &nowhere, Warns("checker")),
        glb("300 references to one image", &many, Loads),
    ];
    for length in [8, 20, 33, sound.len() / 2, sound.len() - 16] {
        cases.push(glb(
            format!("a PNG of {length} bytes"),
            &textured(&sound[..length]),
            Warns("checker"),
        ));
    }
    cases
}

fn uris() -> Vec<Case> {
    let mut cases = Vec::new();
    let bytes = Builder::triangle().bin;
    let with = |uri: &str| {
        let mut builder = Builder::triangle();
        builder.json["buffers"] = json!([{ "byteLength": bytes.len(), "uri": uri }]);
        builder.json.to_string()
    };
    for uri in [
        "../a.bin",
        "%2e%2e/a.bin",
        "..%2fa.bin",
        "%252e%252e/a.bin",
        "sub/../../a.bin",
        "..\\a.bin",
        "..%5ca.bin",
        "/a.bin",
        "/etc/passwd",
        "/dev/zero",
        "//host/a.bin",
        "\\\\host\\a.bin",
        "C:/a.bin",
        "C:\\a.bin",
        "file:///a.bin",
        "file:a.bin",
        "http://127.0.0.1:1/a.bin",
        "https://127.0.0.1:1/a.bin",
        "ftp://a/b",
        "javascript:0",
        "a%00.bin",
        "%ff.bin",
        "",
        ".",
        "./",
        "missing.bin",
        "data:;base64,@@@",
        "data:,short",
        "data:",
        "$(touch hacked)",
        "|touch hacked",
    ] {
        cases.push(case(
            format!("the uri {uri}"),
            "a.gltf",
            with(uri),
            Fails("buffer 0"),
        ));
    }
    cases.push(case(
        "a uri of 1 MB",
        "a.gltf",
        with(&"a".repeat(1 << 20)),
        Fails("buffer 0"),
    ));
    for (uri, name) in [
        ("a.bin", "a.bin"),
        ("./a.bin", "a.bin"),
        ("a%20b.bin", "a b.bin"),
        ("a b.bin", "a b.bin"),
        ("%C3%BC.bin", "ü.bin"),
        ("ü.bin", "ü.bin"),
        ("100%25.bin", "100%.bin"),
        ("x/../a.bin", "a.bin"),
    ] {
        let mut sound = case(format!("the uri {uri}"), "a.gltf", with(uri), Loads);
        sound.beside = vec![(name, bytes.clone()), ("x/y", Vec::new())];
        cases.push(sound);
    }
    cases
}

fn cameras_and_lights() -> Vec<Case> {
    let camera = |value: Value| {
        let mut builder = Builder::triangle();
        builder.push("cameras", value);
        builder.json["nodes"][0]["camera"] = json!(0);
        builder
    };
    let light = |value: Value, count: usize| {
        let mut builder = Builder::triangle();
        builder.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": vec![value; count] } });
        builder.json["nodes"] = (0..count)
            .map(|light| json!({ "mesh": 0, "extensions": { "KHR_lights_punctual": { "light": light } } }))
            .collect();
        builder
    };
    let eye = |yfov: f64, near: f64| json!({ "type": "perspective", "perspective": { "yfov": yfov, "znear": near, "zfar": near } });
    vec![
        glb("a yfov of 0", &camera(eye(0., 1.)), Warns("yfov")),
        glb("a yfov of pi", &camera(eye(3.15, 1.)), Warns("yfov")),
        glb("planes at 0", &camera(eye(1., 0.)), Loads),
        glb(
            "a flat picture",
            &camera(
                json!({ "type": "orthographic", "orthographic": { "xmag": 0, "ymag": 0, "znear": 0, "zfar": 0 } }),
            ),
            Warns("ymag"),
        ),
        glb(
            "a camera without values",
            &camera(json!({ "type": "perspective" })),
            Fails("camera 0"),
        ),
        glb(
            "an unknown camera",
            &camera(json!({ "type": "fisheye" })),
            Fails("camera 0"),
        ),
        glb(
            "an infinite light",
            &light(
                json!({ "type": "point", "intensity": 1e38, "color": [1e38, 1, 1] }),
                1,
            ),
            Loads,
        ),
        glb(
            "a negative light",
            &light(
                json!({ "type": "spot", "intensity": -5, "range": -1, "spot": { "innerConeAngle": 9, "outerConeAngle": 0 } }),
                1,
            ),
            Loads,
        ),
        glb(
            "an unknown light",
            &light(json!({ "type": "area" }), 1),
            Fails("light 0"),
        ),
        glb("500 lights", &light(json!({ "type": "point" }), 500), Loads),
    ]
}

fn names() -> Vec<Case> {
    let with = |name: &str| {
        let mut builder = Builder::triangle();
        builder.json["nodes"][0]["name"] = json!(name);
        builder
    };
    let sound = Builder::triangle().glb();
    let long = with(&"x".repeat(1 << 20));
    vec![
        glb("a name of control characters", &with("a\nb\u{1b}[31m\0"), Loads),
        glb("a name of 1 MB", &long, Loads),
        glb("a name in Unicode", &with("\u{202e}ü漢字🌳"), Loads),
        case(
            "a file name with spaces",
            "my scene (1).glb",
            sound.clone(),
            Loads,
        ),
        case("a file name in Unicode", "漢字 'ü'.glb", sound.clone(), Loads),
        case("no ending", "scene", sound, Loads),
        case(
            "an unknown ending",
            "scene.fbx",
            "Kaydara FBX Binary",
            Fails("not a scene file"),
        ),
    ]
}

fn obj_faces() -> Vec<Case> {
    let ring = |count: usize, radius: &dyn Fn(usize) -> f32| {
        let corner = |i: usize| {
            let angle = i as f32 / count as f32 * std::f32::consts::TAU;
            format!("v {} {} 0\n", radius(i) * angle.cos(), radius(i) * angle.sin())
        };
        let vertices: String = (0..count).map(corner).collect();
        let face: String = (1..=count).map(|i| format!(" {i}")).collect();
        format!("{vertices}f{face}\n")
    };
    let mut cases = vec![
        obj("no faces", "v 0 0 0\nv 1 0 0\n", Warns("points or lines")),
        obj(
            "index 0",
            triangle_and("f 1 2 0\n"),
            Warns("1 faces refer to vertices that do not exist and are left out, the first in line 5"),
        ),
        obj("only index 0", "v 0 0 0\nf 0 0 0\n", Warns("no triangles")),
        obj(
            "an index past the end",
            triangle_and("f 1 2 4\n"),
            Warns("do not exist"),
        ),
        obj(
            "an index before the start",
            triangle_and("f 1 2 -4\n"),
            Warns("do not exist"),
        ),
        obj(
            "an index of -2^63",
            triangle_and("f 1 2 -9223372036854775808\n"),
            Warns("do not exist"),
        ),
        obj(
            "an index past 64 bits",
            triangle_and("f 1 2 99999999999999999999\n"),
            Warns("do not exist"),
        ),
        obj(
            "an index of 2^32",
            triangle_and("f 1 2 4294967296\n"),
            Warns("do not exist"),
        ),
        obj(
            "an index of 2^32 + 1",
            triangle_and("f 1 2 4294967297\n"),
            Warns("do not exist"),
        ),
        obj("no position", triangle_and("f 1 2 /1\n"), Warns("do not exist")),
        obj("words", triangle_and("f one two three\n"), Warns("do not exist")),
        obj(
            "texture coordinates past the end",
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/5/5 2/-3/1 3/4294967296\n",
            Warns("texture coordinates or normals that do not exist"),
        ),
        obj(
            "negative indices",
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n",
            Loads,
        ),
        obj(
            "a face before its vertices",
            "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n",
            Loads,
        ),
        obj(
            "an index with more slashes",
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1///1 2/ 3//\n",
            Loads,
        ),
        obj(
            "an index with a sign",
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nf +1 +2 +3\n",
            Loads,
        ),
        obj(
            "one corner",
            triangle_and("f 1\n"),
            Warns("fewer than three corners"),
        ),
        obj(
            "two corners",
            triangle_and("f 1 2\n"),
            Warns("fewer than three corners"),
        ),
        obj(
            "no corner",
            triangle_and("f\n"),
            Warns("fewer than three corners"),
        ),
        obj("the same corner thrice", triangle_and("f 1 1 1\n"), Loads),
        obj(
            "points and lines",
            triangle_and("p 1 2\nl 1 2 3\n"),
            Warns("holds points or lines"),
        ),
        obj("only points", "v 0 0 0\np 1\n", Warns("points or lines")),
        obj(
            "curves and surfaces",
            triangle_and("vp 0 0\ncstype bezier\ndeg 1\ncurv 0 1 1 2\nparm u 0 1\nend\n"),
            Warns("curves"),
        ),
        obj(
            "a collinear polygon",
            "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nf 1 2 3 4\n",
            Loads,
        ),
        obj(
            "a polygon that crosses itself",
            "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 4\n",
            Loads,
        ),
        obj("a polygon of one point", "v 1 1 1\nf 1 1 1 1 1 1\n", Loads),
        obj("a convex polygon of 1,000 corners", ring(1000, &|_| 1.0), Loads),
        obj(
            "a star of 1,000 corners",
            ring(1000, &|i| 1.0 + (i % 2) as f32),
            Loads,
        ),
        obj(
            "a star of 90,000 corners",
            ring(90_000, &|i| 1.0 + (i % 2) as f32),
            Loads,
        ),
        obj(
            "a polygon of 600,000 corners",
            ring(600_000, &|i| 1.0 + (i % 5) as f32),
            Fails("load.max_triangles"),
        ),
        obj(
            "50,000 groups",
            (0..50_000).fold(TRIANGLE.to_owned(), |text, g| text + &format!("g {g}\n")) + "f 1 2 3\n",
            Loads,
        ),
    ];
    let billion = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nf {}\n", "1 2 3 ".repeat(1_000_000));
    cases.push(obj(
        "a polygon of 3,000,000 corners",
        billion,
        Fails("load.max_triangles"),
    ));
    let mut crossing = String::from("v 0 0 0\n");
    for i in 0..20_000_u32 {
        let [x, y] = [
            i.wrapping_mul(2_654_435_761) >> 12,
            i.wrapping_mul(2_246_822_519) >> 12,
        ];
        crossing += &format!("v {x} {y} 0\n");
    }
    let corners: String = (1..=20_000).map(|i| format!(" {i}")).collect();
    cases.push(obj(
        "a tangle of 20,000 corners",
        format!("{crossing}f{corners}\n"),
        Warns("intersect themselves"),
    ));
    cases
}

fn obj_text() -> Vec<Case> {
    let utf16 = |bytes: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
        format!("{mark}{TRIANGLE}")
            .encode_utf16()
            .flat_map(bytes)
            .collect()
    };
    vec![
        obj("empty", "", Fails("is not an OBJ file")),
        obj("only a comment", "# exported by nobody", Warns("no triangles")),
        obj("HTML", "<!DOCTYPE html>\n<html>\n", Fails("is not an OBJ file")),
        obj(
            "an LFS pointer",
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            Fails("is not an OBJ file"),
        ),
        obj(
            "object code",
            b"\x64\x86\x02\0\0\0\0\0.text\0\0\0".to_vec(),
            Fails("is not an OBJ file"),
        ),
        obj(
            "object code for Linux",
            b"\x7fELF\x02\x01\x01\0\0\0".to_vec(),
            Fails("is not an OBJ file"),
        ),
        obj("CRLF", TRIANGLE.replace('\n', "\r\n"), Loads),
        obj("CR", TRIANGLE.replace('\n', "\r"), Loads),
        obj("tabs", TRIANGLE.replace(' ', "\t"), Loads),
        obj("vertical tabs", TRIANGLE.replace(' ', "\x0b"), Loads),
        obj(
            "many blanks",
            TRIANGLE.replace(' ', "   \t ").replace('\n', "  \n\n   "),
            Loads,
        ),
        obj("no final newline", TRIANGLE.trim_end(), Loads),
        obj("a BOM", format!("\u{feff}{TRIANGLE}"), Loads),
        obj("UTF-16", utf16(u16::to_le_bytes, "\u{feff}"), Loads),
        obj(
            "UTF-16, the other way",
            utf16(u16::to_be_bytes, "\u{feff}"),
            Loads,
        ),
        obj("UTF-16 without a mark", utf16(u16::to_le_bytes, ""), Loads),
        obj(
            "half a UTF-16",
            [&utf16(u16::to_le_bytes, "\u{feff}")[..], &[0]].concat(),
            Loads,
        ),
        obj(
            "Latin-1",
            [b"# \xe4\xf6\xfc\ng \xff\n", TRIANGLE.as_bytes()].concat(),
            Loads,
        ),
        obj("NUL", [TRIANGLE.as_bytes(), b"\0\0\0\n\0g\0"].concat(), Loads),
        obj("a ^Z at the end", triangle_and("\x1a"), Loads),
        obj(
            "continued lines",
            "v 0 0 0\nv 1 \\\n0 0\nv 0 1 \\\r\n0\nf 1 2\\\n 3\n",
            Loads,
        ),
        obj("a continued last line", triangle_and("g x \\"), Loads),
        obj(
            "only continuations",
            format!("{TRIANGLE}{}", "\\\n".repeat(100_000)),
            Loads,
        ),
        obj(
            "a line of 8 MB",
            format!("# {}\n{TRIANGLE}", "x".repeat(8 << 20)),
            Loads,
        ),
        obj(
            "comments in statements",
            "v 0 0 0 # a\nv 1 0 0 #b\nv 0 1 0\nf 1 2 3 # 4\n",
            Loads,
        ),
        obj(
            "unknown statements",
            triangle_and("frobnicate 1\ncall x.obj\ncsh touch hacked\nusemap a\nlod 1\n"),
            Loads,
        ),
        obj(
            "groups without names",
            "g\ns\no\nusemtl\nmtllib\n".to_owned() + TRIANGLE,
            Loads,
        ),
        obj(
            "smoothing groups",
            "s 1\n".to_owned() + TRIANGLE + "s off\nf 1 2 3\ns 0\nf 1 2 3\ns 4294967296\nf 1 2 3\n",
            Loads,
        ),
        obj(
            "many objects",
            (0..2000)
                .map(|i| format!("o {i}\n{}", TRIANGLE.replace("f 1 2 3", "f -3 -2 -1")))
                .collect::<String>(),
            Loads,
        ),
    ]
}

fn obj_vertices() -> Vec<Case> {
    let mut cases = Vec::new();
    for (vertex, outcome) in [
        ("0 0", Warns("have missing or invalid numbers")),
        ("", Warns("have missing or invalid numbers")),
        ("0 0 0 1", Loads),
        ("0 0 0 0", Loads),
        ("0 0 0 1 0.5 0", Loads),
        ("0 0 0 1 1 0.5 0", Loads),
        ("0 0 0 1 2 3 4 5 6 7 8 9", Loads),
        ("nan 0 0", Warns("NaN or infinite")),
        ("inf 0 0", Warns("NaN or infinite")),
        ("-Infinity 0 0", Warns("NaN or infinite")),
        ("1.#IND 0 0", Warns("NaN or infinite")),
        ("-1.#QNAN 0 1.#INF", Warns("NaN or infinite")),
        ("1e400 0 0", Warns("NaN or infinite")),
        ("1e-400 0 0", Loads),
        ("1e38 -1e38 1e38", Loads),
        ("+1.e+0 .5 -.5E-1", Loads),
        ("1,5 0,25 0", Loads),
        ("1,000,000 0 0", Warns("NaN or infinite")),
        ("0x10 0 0", Warns("NaN or infinite")),
        ("one 0 0", Warns("NaN or infinite")),
        ("0;0;0", Warns("have missing or invalid numbers")),
    ] {
        let text = format!("v {vertex}\nv 5 0 0\nv 0 5 0\nv 5 5 0\nf 1 2 3\nf 2 4 3\n");
        cases.push(obj(format!("the vertex {vertex}"), text, outcome));
    }
    let long = format!("v 0.{} 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "3".repeat(1_000_000));
    cases.push(obj("a number of 1,000,000 digits", long, Loads));
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    for attribute in [
        "vt 1",
        "vt 1 1 1",
        "vt",
        "vt nan inf",
        "vt x",
        "vn 0 0 0",
        "vn 1e38 1e38 1e38",
        "vn 1",
        "vn nan 0 1",
        "vn",
    ] {
        let text = format!("{corners}{attribute}\nf 1/1/1 2/1/1 3/1/1\n");
        let outcome = if attribute.starts_with("vt") {
            Warns("normals that do not exist")
        } else {
            Warns("texture coordinates or normals that do not exist")
        };
        cases.push(obj(format!("the attribute {attribute}"), text, outcome));
    }
    let colored = "v 0 0 0 1 0 0\nv 1 0 0\nv 0 1 0 nan 0 0\nf 1 2 3\n";
    cases.push(obj("colours of some vertices", colored, Loads));
    cases
}

fn mtl() -> Vec<Case> {
    let mut cases = Vec::new();
    let used = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl a\nf 1/1 2/1 3/1\n";
    let mut with = |name: &str, mtl: &[u8], outcome| {
        let mut case = obj(name, used, outcome);
        case.beside = vec![
            ("a.mtl", mtl.to_vec()),
            ("pic.png", png(2, 2)),
            ("x y/a b.png", png(2, 2)),
            ("Ü.png", png(2, 2)),
        ];
        cases.push(case);
    };
    with("an empty MTL", b"", Warns("is not defined"));
    with(
        "an MTL that includes itself",
        b"mtllib a.mtl\nnewmtl a\nmtllib a.mtl\n",
        Loads,
    );
    with(
        "a material without a name",
        b"newmtl\nKd 1 1 1\n",
        Warns("is not defined"),
    );
    with(
        "a material twice",
        b"newmtl a\nKd 1 0 0\nnewmtl a\nKd 0 1 0\n",
        Loads,
    );
    with("statements before a material", b"Kd 1 1 1\nnewmtl a\n", Loads);
    with("one number", b"newmtl a\nKd 0.5\nKe 1 1\n", Loads);
    with(
        "no numbers",
        b"newmtl a\nKd\nNs\nd\nmap_Kd\n",
        Warns("a.mtl line 2"),
    );
    with(
        "numbers that are none",
        b"newmtl a\nKd nan 0 0\nKe inf 0 0\nNs 1.#IND\nd x\n",
        Warns("a.mtl line 4"),
    );
    with(
        "numbers out of range",
        b"newmtl a\nKd -5 1e30 2\nNs -1e30\nd 7\nPr 1e30\nPm -1\nKe 1e38 0 0\n",
        Loads,
    );
    with(
        "spectral colours",
        b"newmtl a\nKd spectral a.rfl\nKs xyz 1 1 1\n",
        Warns("is not a colour"),
    );
    with(
        "a BOM, CR and Latin-1",
        b"\xef\xbb\xbfnewmtl a\rKd 1 1 1\rmap_Kd \xdc.png\r",
        Loads,
    );
    with("backslashes", b"newmtl a\nmap_Kd x y\\a b.png\n", Loads);
    with("quotes", b"newmtl a\nmap_Kd \"x y/a b.png\"\n", Loads);
    with("options", b"newmtl a\nmap_Kd -blendu on -blendv off -cc off -clamp on -mm 0 1 -o 0 0 0 -s 2 2 2 -t 0 0 0 -texres 5 -boost 1 pic.png\n", Loads);
    with(
        "options without a file",
        b"newmtl a\nmap_Kd -s 1 1 1\nmap_d -bm\nbump -bm 1 -\n",
        Warns("a checkerboard replaces"),
    );
    with(
        "enormous options",
        b"newmtl a\nmap_Kd -s 1e38 nan inf -o -1e38 0 0 pic.png\n",
        Loads,
    );
    with(
        "bump with a factor",
        b"newmtl a\nmap_Bump -bm 0.5 pic.png\n",
        Loads,
    );
    with(
        "a displacement",
        b"newmtl a\ndisp pic.png\n",
        Warns("does not read disp"),
    );
    with(
        "roughness and metalness",
        b"newmtl a\nPr 0.5\nPm 0.5\nmap_Pr pic.png\nmap_Pm x y/a b.png\n",
        Loads,
    );
    with(
        "sheen and clearcoat",
        b"newmtl a\nPs 0\nPc 0.5\n",
        Warns("does not read Pc"),
    );
    with(
        "a path of Windows",
        b"newmtl a\nmap_Kd C:\\Users\\me\\pic.png\n",
        Warns("pic.png is used"),
    );
    with(
        "another case",
        b"newmtl a\nmap_Kd Textures/PIC.PNG\n",
        Warns("PIC.PNG is used"),
    );
    with(
        "a path out of the folder",
        b"newmtl a\nmap_Kd ../../etc/passwd\n",
        Warns("leads out of the scene's folder"),
    );
    with(
        "an absolute path",
        b"newmtl a\nmap_Kd /etc/passwd\n",
        Warns("is an absolute path"),
    );
    with(
        "a device",
        b"newmtl a\nmap_Kd /dev/zero\nmap_d /dev/stdin\n",
        Warns("is an absolute path"),
    );
    with(
        "a picture that is none",
        b"newmtl a\nmap_Kd a.mtl\n",
        Warns("a checkerboard replaces"),
    );
    with(
        "a missing picture",
        b"newmtl a\nmap_Kd nothing.png\n",
        Warns("a checkerboard replaces"),
    );
    with(
        "a folder as a picture",
        b"newmtl a\nmap_Kd x y\nmap_Ke .\n",
        Warns("is a folder"),
    );
    with(
        "100,000 wrong lines",
        "newmtl a\n"
            .to_owned()
            .as_bytes()
            .iter()
            .copied()
            .chain(b"Kd\n".repeat(100_000))
            .collect::<Vec<_>>()
            .as_slice(),
        Warns("further warnings"),
    );
    for (library, outcome) in [
        ("mtllib missing.mtl", Warns("mtllib: \"missing.mtl\"")),
        ("mtllib ../a.mtl", Warns("leads out")),
        ("mtllib /etc/passwd", Warns("is an absolute path")),
        ("mtllib /dev/zero", Warns("is an absolute path")),
        ("mtllib C:\\work\\b.mtl", Loads),
        ("mtllib B.MTL", Loads),
        ("mtllib \"b.mtl\"", Loads),
        ("mtllib c.mtl b.mtl", Warns("\"c.mtl\"")),
        ("mtllib the materials.mtl", Loads),
        ("mtllib test.obj b.mtl", Loads),
    ] {
        let mut case = obj(
            library,
            format!("{library}\n{TRIANGLE}usemtl b\nf 3 2 1\n"),
            outcome,
        );
        let material = b"newmtl b\nKd 1 0 0\n".to_vec();
        case.beside = vec![("b.mtl", material.clone()), ("the materials.mtl", material)];
        cases.push(case);
    }
    let mut own = obj(
        "an MTL that is called as the OBJ",
        format!("mtllib gone.mtl\nusemtl b\n{TRIANGLE}"),
        Warns("test.mtl is used"),
    );
    own.beside = vec![("test.mtl", b"newmtl b\n".to_vec())];
    cases.push(own);
    let many: String = (0..20_000).map(|i| format!("mtllib {i}.mtl\n")).collect();
    cases.push(obj(
        "20,000 libraries",
        many + TRIANGLE,
        Warns("further warnings"),
    ));
    let unknown: String = (0..20_000).map(|i| format!("usemtl {i}\n")).collect();
    cases.push(obj(
        "20,000 unknown materials",
        unknown + TRIANGLE,
        Warns("further warnings"),
    ));
    cases
}

/// Triangles that are difficult for trees and rays. All of them load.
pub(crate) fn shapes() -> Vec<Case> {
    let soup = |name: &str, triangles: &[[f32; 9]]| {
        let mut builder = Builder::new();
        let position = builder.floats("VEC3", triangles.as_flattened());
        builder.primitive(json!({ "attributes": { "POSITION": position } }));
        glb(name, &builder, Loads)
    };
    let one = [0., 0., 0., 1., 0., 0., 0., 1., 0.];
    let scaled = |factor: f32| one.map(|c| c * factor);
    let about_origin = |i: usize| {
        let a = i as f32;
        let (x, y) = (a.cos(), a.sin());
        [x, y, 0., -x, -y, 1., 0., 0., -1.]
    };
    let row = |i: usize| {
        let mut triangle = one;
        (0..3).for_each(|corner| triangle[3 * corner] += i as f32 * 2.);
        triangle
    };
    let far = |by: f32| {
        let mut triangle = one;
        triangle.iter_mut().for_each(|c| *c += by);
        triangle
    };
    vec![
        soup("a single triangle", &[one]),
        soup("two triangles", &[one, row(1)]),
        soup("three triangles", &[one, row(1), row(2)]),
        soup(
            "1,023 triangles in a row",
            &(0..1023).map(row).collect::<Vec<_>>(),
        ),
        soup(
            "1,025 triangles in a row",
            &(0..1025).map(row).collect::<Vec<_>>(),
        ),
        soup(
            "all centroids equal",
            &(0..4096).map(about_origin).collect::<Vec<_>>(),
        ),
        soup("33,000 identical triangles", &vec![one; 33_000]),
        soup("a triangle that is a point", &[[1.; 9]]),
        soup(
            "triangles that are lines",
            &[[0., 0., 0., 1., 1., 1., 2., 2., 2.]; 40],
        ),
        soup(
            "triangles without area beside one",
            &[one, [5.; 9], [0., 0., 0., 0., 0., 0., 1., 0., 0.]],
        ),
        soup("denormal positions", &[scaled(1e-40), scaled(1e-44)]),
        soup("tiny positions", &[scaled(1e-30); 3]),
        soup("enormous positions", &[scaled(1e30), scaled(3e38), scaled(-3e38)]),
        soup("one triangle far away", &[one, far(1e20)]),
        soup("one triangle 1e38 away", &[one, far(1e38)]),
        soup("far from the origin", &[far(1e7), far(1e7 + 3.)]),
    ]
}
