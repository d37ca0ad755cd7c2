//! Broken, odd or malicious volumes, each with its required outcome.

use super::{
    hostile::{
        Case,
        Outcome::{self, Fails, Loads, Warns},
    },
    volumes::{self, BESIDE, NIFTI, NRRD, SPARSE},
};
use flate2::{
    Compression,
    read::ZlibDecoder,
    write::{GzEncoder, ZlibEncoder},
};
use std::io::{Read as _, Write as _};

fn case(name: impl Into<String>, file: &'static str, bytes: impl Into<Vec<u8>>, outcome: Outcome) -> Case {
    Case {
        name: name.into(),
        file,
        bytes: bytes.into(),
        beside: Vec::new(),
        outcome,
    }
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let classes = [nrrd(), nifti(), openvdb(), nanovdb(), truncated()];
    classes.into_iter().flatten().collect()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An NRRD of 2 × 2 × 2 bytes with further fields. A field with the name of a usual one replaces it.
fn nrrd_with(fields: &[(&str, &str)], data: &[u8]) -> Vec<u8> {
    let usual = [
        ("type", "uchar"),
        ("dimension", "3"),
        ("sizes", "2 2 2"),
        ("encoding", "raw"),
    ];
    let mut text = String::from("NRRD0005\n");
    let replaced = |name: &str| fields.iter().any(|(field, _)| *field == name);
    let kept = usual.iter().filter(|(name, _)| !replaced(name));
    for (name, value) in fields.iter().chain(kept).filter(|(_, value)| !value.is_empty()) {
        text += &format!("{name}: {value}\n");
    }
    let mut bytes = text.into_bytes();
    bytes.push(b'\n');
    bytes.extend(data);
    bytes
}

fn nrrd() -> Vec<Case> {
    let eight = &[7; 8][..];
    let mut cases = Vec::new();
    let mut add = |name: &str, fields: &[(&str, &str)], data: &[u8], outcome| {
        cases.push(case(name, "test.nrrd", nrrd_with(fields, data), outcome));
    };
    add("sound", &[], eight, Loads);
    add("more bytes than needed", &[], &[7; 9], Loads);
    add("too few bytes", &[], &[7; 7], Fails("cut off"));
    for size in ["0 2 2", "-1 2 2", "x 2 2", "2.5 2 2", "99999999999999999999 2 2"] {
        add("sizes", &[("sizes", size)], eight, Fails("not positive numbers"));
    }
    add(
        "two sizes",
        &[("sizes", "2 2")],
        eight,
        Fails("declares 3 axes but gives 2 sizes"),
    );
    let huge = "18446744073709551615 18446744073709551615 2";
    add(
        "sizes past counting",
        &[("sizes", huge)],
        eight,
        Fails("voxels along an axis"),
    );
    let past = "4294967295 4294967295 4294967295";
    add(
        "a product past counting",
        &[("sizes", past)],
        eight,
        Fails("can be counted"),
    );
    add(
        "a million cubed",
        &[("sizes", "1000000 1000000 1000000")],
        eight,
        Fails("cut off"),
    );
    let large = vec![0; 1 << 19];
    add(
        "past the limit",
        &[("sizes", "128 128 32")],
        &large,
        Fails("load.max_voxels"),
    );
    let packed = gzip(&large);
    for (name, size, outcome) in [
        (
            "a gzip bomb past the limit",
            "128 128 32",
            Fails("load.max_voxels"),
        ),
        ("gzip that cannot hold it", "8192 8192 8192", Fails("cut off")),
        ("gzip with more than is needed", "2 2 2", Loads),
    ] {
        add(name, &[("encoding", "gzip"), ("sizes", size)], &packed, outcome);
    }
    let zipped = [("encoding", "gzip")];
    add("no gzip", &zipped, eight, Fails("cut off or broken"));
    add(
        "half of gzip",
        &zipped,
        &gzip(eight)[..11],
        Fails("cut off or broken"),
    );
    for dimension in ["0", "1", "2", "5", "4294967296", "-3", "many"] {
        add("dimension", &[("dimension", dimension)], eight, Fails(""));
    }
    for (field, value, what) in [
        ("type", "block", "type"),
        ("type", "complex", "type"),
        ("type", "", "no field \"type\""),
        ("sizes", "", "no field \"sizes\""),
        ("dimension", "", "no field \"dimension\""),
        ("encoding", "", "no field \"encoding\""),
        ("encoding", "bzip2", "bzip2"),
        ("encoding", "hex", "hex"),
        ("type", "short", "little endian"),
        ("kinds", "space space list", "three axes of space"),
        ("space directions", "(1,0,0) (0,1,0) none", "three axes of space"),
        ("space directions", "(1,0,0) (0,1,0)", "without a direction"),
        (
            "space directions",
            "(1,0,0) (0,1,0) (1,1,0)",
            "a transform without an inverse",
        ),
        ("space directions", "(1,0,0) (0,1,0) (nan,0,1)", "not finite"),
        ("space directions", "(1,0,0) (0,1,0) (0,0,1e999)", "not finite"),
        ("space directions", "(1,0) (0,1) (1,1)", "vectors of three"),
        ("space directions", "1 2 3", "vectors of three"),
        ("space origin", "(1,2", "vectors of three"),
        ("space origin", "none", "not a vector"),
        ("space origin", "(inf,0,0)", "not finite"),
        ("spacings", "1 0 1", "a transform without an inverse"),
        ("spacings", "1 inf 1", "not finite"),
        ("byte skip", "9223372036854775807", "cut off"),
        ("byte skip", "1", "cut off"),
        ("byte skip", "soon", "byte skip"),
        ("line skip", "9", "fewer lines"),
        ("no colon", "", ""),
    ] {
        if field != "no colon" {
            let what = if value == "short" { "cut off" } else { what };
            add(
                &format!("{field}: {value}"),
                &[(field, value)],
                eight,
                Fails(what),
            );
        }
    }
    let sixteen = &[0; 16][..];
    add("no endian", &[("type", "short")], sixteen, Fails("little endian"));
    add(
        "a strange endian",
        &[("type", "short"), ("endian", "middle")],
        sixteen,
        Fails("little endian"),
    );
    add(
        "spacings that are unknown",
        &[("spacings", "nan nan 2")],
        eight,
        Loads,
    );
    add(
        "an unknown space",
        &[("space", "hyperspace")],
        eight,
        Warns("hyperspace"),
    );
    add(
        "an unknown unit",
        &[("space units", "\"parsec\"")],
        eight,
        Warns("parsec"),
    );
    let strange = [f32::NAN, f32::INFINITY, 1.0, 2.0, 3.0, 4.0, 5.0, -0.0];
    let strange: Vec<u8> = strange.iter().flat_map(|value| value.to_le_bytes()).collect();
    let floats = [("type", "float"), ("endian", "little")];
    add(
        "numbers that are none",
        &floats,
        &strange,
        Warns("2 values are not finite"),
    );
    let text = [("encoding", "text")];
    add("text", &text, b"1 2 3 4 5 6 7 8", Loads);
    add("text that ends", &text, b"1 2 3 4 5 6 7", Fails("cut off"));
    add(
        "text that ends later",
        &text,
        b"1 2 3 4 5 6        7",
        Fails("it has 7 of 8"),
    );
    add(
        "words",
        &text,
        b"1 2 3 4 5 six 7 8",
        Fails("\"six\" instead of a number"),
    );
    add(
        "text that is not finite",
        &text,
        b"1 2 3 4 5 nan inf 8",
        Warns("2 values"),
    );
    let skipping = [("encoding", "gzip"), ("byte skip", "-1")];
    add(
        "a skip from the end of gzip",
        &skipping,
        &gzip(eight),
        Fails("byte skip of -1"),
    );
    for (name, outcome) in [
        ("../secret", Fails("leads out")),
        ("/etc/passwd", Fails("absolute path")),
        ("\\\\host\\x", Fails("absolute path")),
        ("missing.raw", Fails("missing.raw")),
        (".", Fails("is a folder")),
        ("LIST", Fails("several files")),
        ("slice%03d.raw 1 9 1", Fails("several files")),
        ("there.raw", Loads),
    ] {
        for field in ["data file", "datafile"] {
            let bytes = nrrd_with(&[(field, name)], &[]);
            let mut case = case(format!("{field} {name}"), "test.nhdr", bytes, outcome);
            case.beside.push(("there.raw", eight.to_vec()));
            cases.push(case);
        }
    }
    let long = format!("NRRD0005\n# {}\n", "x".repeat(1 << 20));
    cases.push(case("a long header", "test.nrrd", long, Fails("a megabyte")));
    cases.push(case("no header", "test.nrrd", "", Fails("does not begin")));
    cases.push(case("only a magic", "test.nrrd", "NRRD0005", Fails("no field")));
    let nameless = "NRRD0005\nsomething\n\n";
    cases.push(case("no colon", "test.nrrd", nameless, Fails("is not a field")));
    let binary = b"NRRD0005\ntype: \xff\xfe\n\n";
    cases.push(case("no text", "test.nrrd", *binary, Fails("not text")));
    cases
}

/// A NIfTI-1 header with these changes, and data.
fn nifti_with(changes: &[(usize, &[u8])], data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 352];
    let usual: [(usize, &[u8]); 5] = [
        (0, &348_i32.to_le_bytes()),
        (40, &[3, 0, 2, 0, 2, 0, 2, 0, 1, 0, 1, 0, 1, 0, 1, 0]),
        (70, &[2, 0, 8, 0]),
        (108, &352_f32.to_le_bytes()),
        (344, b"n+1\0"),
    ];
    for (at, new) in usual.iter().chain(changes) {
        bytes[*at..at + new.len()].copy_from_slice(new);
    }
    bytes.extend(data);
    bytes
}

fn nifti() -> Vec<Case> {
    let eight = &[7; 8][..];
    let mut cases = Vec::new();
    let mut add = |name: &str, changes: &[(usize, &[u8])], data: &[u8], outcome| {
        let bytes = nifti_with(changes, data);
        let packed = gzip(&bytes);
        cases.push(case(name, "test.nii", bytes, outcome));
        cases.push(case(format!("{name}, gzip"), "test.nii.gz", packed, outcome));
    };
    add("sound", &[], eight, Loads);
    add("too few bytes", &[], &[7; 7], Fails("cut off"));
    add(
        "no voxels",
        &[(42, &[0, 0])],
        eight,
        Fails("0 voxels along axis 1"),
    );
    add(
        "fewer than none",
        &[(42, &[0xff, 0xff])],
        eight,
        Fails("-1 voxels"),
    );
    add("no axes", &[(40, &[0, 0])], eight, Fails("0 axes"));
    add("nine axes", &[(40, &[9, 0])], eight, Fails("9 axes"));
    let most = [0xff, 0x7f, 0xff, 0x7f, 0xff, 0x7f];
    add("the most voxels", &[(42, &most)], eight, Fails("cut off"));
    add("complex numbers", &[(70, &[32, 0])], eight, Fails("data type 32"));
    add("a pair", &[(344, b"ni1\0")], eight, Fails("half of a NIfTI pair"));
    add(
        "four volumes",
        &[(40, &[4, 0]), (48, &[4, 0])],
        eight,
        Warns("4 volumes"),
    );
    let nan = f32::NAN.to_le_bytes();
    add("a slope that is none", &[(112, &nan)], eight, Loads);
    add("an offset that is none", &[(108, &nan)], eight, Loads);
    let far = 1e30_f32.to_le_bytes();
    add("an offset that is far", &[(108, &far)], eight, Fails("cut off"));
    add(
        "sizes of voxels that are none",
        &[(80, &nan)],
        eight,
        Fails("not finite"),
    );
    add(
        "a flat matrix",
        &[(254, &[1, 0])],
        eight,
        Fails("a transform without an inverse"),
    );
    add(
        "a matrix that is none",
        &[(254, &[1, 0]), (280, &nan)],
        eight,
        Fails("not finite"),
    );
    let two = 2_f32.to_le_bytes();
    add("a long quaternion", &[(252, &[1, 0]), (256, &two)], eight, Loads);
    add(
        "a quaternion that is none",
        &[(252, &[1, 0]), (256, &nan)],
        eight,
        Fails("not finite"),
    );
    let strange = [f32::NAN, f32::INFINITY, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let strange: Vec<u8> = strange.iter().flat_map(|value| value.to_le_bytes()).collect();
    add(
        "numbers that are none",
        &[(70, &[16, 0])],
        &strange,
        Warns("2 values"),
    );
    let large = [128, 0, 128, 0, 32, 0];
    let zeros = vec![0; 1 << 19];
    add(
        "past the limit",
        &[(42, &large)],
        &zeros,
        Fails("load.max_voxels"),
    );
    let mut second = vec![0; 544];
    second[..4].copy_from_slice(&540_i32.to_le_bytes());
    second[4..8].copy_from_slice(b"n+2\0");
    second[12] = 2;
    for axis in 0..4 {
        let size = [3, i64::MAX, i64::MAX, i64::MAX][axis];
        second[16 + 8 * axis..24 + 8 * axis].copy_from_slice(&size.to_le_bytes());
    }
    cases.push(case(
        "huge sizes",
        "test.nii",
        second.clone(),
        Fails("voxels along axis 1"),
    ));
    second.truncate(400);
    cases.push(case(
        "half a header",
        "test.nii",
        second,
        Fails("cut off within its NIfTI header"),
    ));
    cases.push(case(
        "nothing",
        "test.nii",
        "",
        Fails("cut off within its NIfTI header"),
    ));
    cases.push(case("other bytes", "test.nii", [7; 400], Fails("does not begin")));
    cases
}

/// A tree of an OpenVDB file of one grid.
#[derive(Debug, Clone)]
struct Vdb {
    version: u32,
    grids: u32,
    kind: &'static str,
    map: &'static str,
    scale: f64,
    compression: u32,
    /// From the end of the grid.
    end: i64,
    buffers: u32,
    /// Origins of tiles of the root, with true if active.
    tiles: Vec<([i32; 3], bool)>,
    tile_count: Option<u32>,
    /// Origins of children of the root, each with a leaf of one active voxel.
    children: Vec<[i32; 3]>,
    /// Stored values of each leaf: one for the voxel.
    leaf: Vec<u8>,
    value: f32,
}

impl Default for Vdb {
    fn default() -> Self {
        Self {
            version: 224,
            grids: 1,
            kind: "Tree_float_5_4_3",
            map: "UniformScaleMap",
            scale: 1.0,
            compression: 2,
            end: 0,
            buffers: 1,
            tiles: Vec::new(),
            tile_count: None,
            children: vec![[0; 3]],
            leaf: 1_f32.to_le_bytes().into(),
            value: 1.0,
        }
    }
}

impl Vdb {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b" BDV\0\0\0\0".to_vec();
        let word = |bytes: &mut Vec<u8>, word: u32| bytes.extend(word.to_le_bytes());
        let text = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        for number in [self.version, 10, 0] {
            word(&mut bytes, number);
        }
        bytes.push(1);
        bytes.extend([b'u'; 36]);
        word(&mut bytes, 0);
        word(&mut bytes, self.grids);
        for name in ["density", self.kind, ""] {
            text(&mut bytes, name);
        }
        let offsets = bytes.len();
        bytes.extend([0; 24]);
        let start = bytes.len() as u64;
        word(&mut bytes, self.compression);
        word(&mut bytes, 0);
        text(&mut bytes, self.map);
        for _ in 0..15 {
            bytes.extend(self.scale.to_le_bytes());
        }
        word(&mut bytes, self.buffers);
        word(&mut bytes, 0);
        word(&mut bytes, self.tile_count.unwrap_or(self.tiles.len() as u32));
        word(&mut bytes, self.children.len() as u32);
        for (origin, active) in &self.tiles {
            origin.iter().for_each(|n| bytes.extend(n.to_le_bytes()));
            bytes.extend(self.value.to_le_bytes());
            bytes.push(u8::from(*active));
        }
        for origin in &self.children {
            origin.iter().for_each(|n| bytes.extend(n.to_le_bytes()));
            for mask in [4096, 512] {
                // One child, no active tile. Inactive values are the background.
                bytes.push(1);
                bytes.extend(vec![0; 2 * mask - 1]);
                bytes.push(0);
                if self.compression & 5 != 0 {
                    bytes.extend([0; 8]);
                }
            }
            bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
            bytes.extend([0; 56]);
        }
        for _ in &self.children {
            bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
            bytes.extend([0; 56]);
            bytes.push(0);
            bytes.extend(&self.leaf);
        }
        let end = bytes.len() as i64 + self.end;
        for (at, offset) in [start, start, end as u64].into_iter().enumerate() {
            bytes[offsets + 8 * at..][..8].copy_from_slice(&offset.to_le_bytes());
        }
        bytes
    }
}

fn openvdb() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, vdb: Vdb, outcome| {
        cases.push(case(name, "test.vdb", vdb.bytes(), outcome));
    };
    let usual = Vdb::default;
    let packed = |compression: u32, size: i64, data: &[u8]| {
        let mut leaf = size.to_le_bytes().to_vec();
        leaf.extend(data);
        Vdb {
            compression: compression | 2,
            leaf,
            ..usual()
        }
    };
    let zlib = |bytes: &[u8]| {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    add("sound", usual(), Loads);
    let one = 1_f32.to_le_bytes();
    add("stored", packed(1, -4, &one), Loads);
    add(
        "stored with a wrong size",
        packed(1, -5, &[0; 5]),
        Fails("5 bytes; expected 4"),
    );
    add("zlib", packed(1, 12, &zlib(&one)[..12]), Loads);
    let bomb = zlib(&vec![0; 1 << 20]);
    add(
        "a zlib bomb",
        packed(1, bomb.len() as i64, &bomb),
        Fails("broken zlib data"),
    );
    add("no zlib", packed(1, 4, &one), Fails("broken zlib data"));
    for size in [i64::MAX, i64::MIN, 1 << 40] {
        add("a size past the file", packed(1, size, &one), Fails("cut off"));
    }
    let header = |bytes: u32, block: u32| {
        let mut header = vec![2, 1, 0x30, 4];
        for word in [bytes, block, 16] {
            header.extend(word.to_le_bytes());
        }
        header
    };
    for (name, chunk, what) in [
        ("half a header", header(4, 4)[..9].to_vec(), "cut off"),
        ("another size", header(5, 4), "5 bytes; expected 4"),
        ("empty blocks", header(4, 0), "does not read"),
        ("no blocks", header(4, 4), "cut off"),
        (
            "a block far away",
            [header(4, 4), vec![0xff; 8]].concat(),
            "refers to byte",
        ),
        (
            "a strange codec",
            [
                vec![2, 1, 0xf0, 4],
                header(4, 4)[4..].to_vec(),
                vec![20, 0, 0, 0, 1, 0, 0, 0, 9],
            ]
            .concat(),
            "codec 7",
        ),
        (
            "broken LZ4",
            [header(4, 4), vec![20, 0, 0, 0, 3, 0, 0, 0, 0xff, 9, 9]].concat(),
            "broken LZ4",
        ),
    ] {
        add(
            &format!("Blosc: {name}"),
            packed(4, chunk.len() as i64, &chunk),
            Fails(what),
        );
    }
    for version in [0, 221, 225, u32::MAX] {
        add("a version", Vdb { version, ..usual() }, Fails("file version"));
    }
    add("no grids", Vdb { grids: 0, ..usual() }, Fails("no grid"));
    for grids in [2, u32::MAX] {
        add("too few grids", Vdb { grids, ..usual() }, Fails("cut off"));
    }
    let end = -9600;
    add(
        "an end before the start",
        Vdb { end, ..usual() },
        Fails("grid offsets that decrease"),
    );
    add(
        "an end within the grid",
        Vdb { end: -9, ..usual() },
        Fails("past its end"),
    );
    add(
        "an end past the file",
        Vdb { end: 1, ..usual() },
        Fails("refers to byte"),
    );
    for kind in [
        "Tree_bool_5_4_3",
        "Tree_float_3_3_3",
        "Tree_ptdataidx32_5_4_3",
        "x",
    ] {
        add(
            "a type",
            Vdb { kind, ..usual() },
            Fails("no grid that canopy reads"),
        );
    }
    for map in ["NonlinearFrustumMap", "?"] {
        add("a map", Vdb { map, ..usual() }, Fails("placed by a"));
    }
    for (scale, what) in [
        (0.0, "a transform without an inverse"),
        (f64::NAN, "not finite"),
        (1e300, "out of range"),
        (1e-300, "out of range"),
    ] {
        add("a scale", Vdb { scale, ..usual() }, Fails(what));
    }
    add(
        "no buffer",
        Vdb {
            buffers: 0,
            ..usual()
        },
        Fails("0 buffers"),
    );
    let tiles = |tiles: &[([i32; 3], bool)]| Vdb {
        tiles: tiles.to_vec(),
        ..usual()
    };
    add("an inactive tile", tiles(&[([4096, 0, 0], false)]), Loads);
    add(
        "an active tile",
        tiles(&[([4096, 0, 0], true)]),
        Fails("load.max_voxels"),
    );
    add(
        "a tile twice",
        tiles(&[([4096, 0, 0], false); 2]),
        Fails("two root entries"),
    );
    add(
        "a tile on a child",
        tiles(&[([0, 0, 0], false)]),
        Fails("two root entries"),
    );
    add(
        "a tile in between",
        tiles(&[([4096, 1, 0], false)]),
        Fails("misplaced"),
    );
    let ends = [([i32::MIN, 0, 0], true), ([i32::MAX - 4095, 0, 0], true)];
    add("tiles at the ends", tiles(&ends), Fails("load.max_voxels"));
    let tile_count = Some(u32::MAX);
    add(
        "missing tiles",
        Vdb {
            tile_count,
            ..usual()
        },
        Fails(""),
    );
    let children = |children: &[[i32; 3]]| Vdb {
        children: children.to_vec(),
        ..usual()
    };
    add("nothing active", children(&[]), Fails("no active voxels"));
    add("a child twice", children(&[[0; 3]; 2]), Fails("two root entries"));
    let far = [[i32::MIN; 3], [i32::MAX - 4095; 3]];
    add(
        "voxels that are far apart",
        children(&far),
        Fails("load.max_voxels"),
    );
    add("a voxel far away", children(&far[1..]), Loads);
    let leaf = f32::NAN.to_le_bytes().to_vec();
    add("a value that is none", Vdb { leaf, ..usual() }, Warns("1 values"));
    let unknown = {
        let mut bytes = usual().bytes();
        let stored = bytes.len() - 5;
        bytes[stored] = 9;
        bytes
    };
    cases.push(case(
        "an unknown encoding",
        "test.vdb",
        unknown,
        Fails("unknown encoding"),
    ));
    cases.push(case("nothing", "test.vdb", "", Fails("cut off")));
    cases.push(case("other bytes", "test.vdb", [7; 99], Fails("does not begin")));
    cases
}

/// Bytes before the grid of `zip.nvdb` without compression.
const NANO_HEADER: usize = 16 + 176 + 8;

/// `zip.nvdb` without its compression.
pub(crate) fn plain_nanovdb() -> Vec<u8> {
    let packed = volumes::file("zip.nvdb");
    let mut bytes = packed[..NANO_HEADER].to_vec();
    bytes[14] = 0;
    ZlibDecoder::new(&packed[NANO_HEADER + 8..])
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    bytes[at..at + new.len()].copy_from_slice(new);
}

fn nanovdb() -> Vec<Case> {
    let plain = plain_nanovdb();
    let grid = NANO_HEADER;
    let word = |at: usize| u64::from_le_bytes(plain[at..at + 8].try_into().unwrap()) as usize;
    let root = grid + 672 + word(grid + 672 + 24);
    let tile = root + 64;
    let upper = root + word(tile + 8);
    let changed = |changes: &[(usize, &[u8])]| {
        let mut bytes = plain.clone();
        for (at, new) in changes {
            put(&mut bytes, *at, new);
        }
        bytes
    };
    let mut cases = Vec::new();
    let mut add = |name: &str, changes: &[(usize, &[u8])], outcome| {
        cases.push(case(name, "test.nvdb", changed(changes), outcome));
    };
    let most = u64::MAX.to_le_bytes();
    let old = (31_u32 << 21).to_le_bytes();
    add("sound", &[], Loads);
    add("an old file", &[(8, &old)], Fails("NanoVDB 31.0"));
    add("an old grid", &[(grid + 16, &old)], Fails("NanoVDB 31.0"));
    add("a codec", &[(14, &[9])], Fails("codec 9"));
    add("more grids", &[(12, &[2])], Fails(""));
    add("no grids", &[(12, &[0])], Fails(""));
    add("a size", &[(16, &most)], Fails(""));
    add("a name", &[(16 + 136, &[0xff; 4])], Fails("cut off"));
    add("no grid", &[(grid, &[0])], Fails("without a NanoVDB header"));
    add("a type", &[(grid + 636, &[11])], Fails("type 11"));
    add("another type", &[(grid + 636, &[6])], Fails(""));
    for offset in [0, 8, 1 << 40, u64::MAX] {
        add(
            "a root",
            &[(grid + 672 + 24, &offset.to_le_bytes())],
            Fails("has its root"),
        );
    }
    add("tiles past the file", &[(root + 24, &[0xff; 4])], Fails(""));
    add("no tiles", &[(root + 24, &[0; 4])], Fails("no active voxels"));
    let nan = f64::NAN.to_le_bytes();
    add(
        "a matrix that is none",
        &[(grid + 296 + 88, &nan)],
        Fails("not finite"),
    );
    add(
        "a flat matrix",
        &[(grid + 296 + 88, &[0; 72])],
        Fails("a transform without an inverse"),
    );
    for (name, offset) in [
        ("to itself", 0_i64),
        ("back", -64),
        ("far back", i64::MIN),
        ("far on", i64::MAX),
    ] {
        let outcome = if offset == 0 {
            Fails("load.max_voxels")
        } else {
            Fails("")
        };
        // A child at 0 is a tile.
        let active = [(tile + 8, &offset.to_le_bytes()[..]), (tile + 16, &[1])];
        add(&format!("a child {name}"), &active, outcome);
    }
    // All children of the root's child are the same node.
    let child = (0..32_768).find(|index| plain[upper + 32 + 4096 + index / 8] >> (index % 8) & 1 == 1);
    let table = upper + 8256;
    let lower = plain[table + 8 * child.unwrap()..][..8].to_vec();
    let mut shared = plain.clone();
    put(&mut shared, upper + 32 + 4096, &[0xff; 4096]);
    put(&mut shared, table, &lower.repeat(32_768));
    cases.push(case(
        "a child 32,768 times",
        "test.nvdb",
        shared.clone(),
        Fails("share their bytes"),
    ));
    put(&mut shared, table, &[0; 8 * 32_768]);
    cases.push(case("a node in itself", "test.nvdb", shared, Fails("")));
    let mut bare = plain[grid..].to_vec();
    put(&mut bare, 0, b"NanoVDB1");
    cases.push(case("a bare grid", "test.nvdb", bare, Loads));
    let packed = volumes::file("zip.nvdb");
    let mut bomb = packed.to_vec();
    put(&mut bomb, 16, &(1_u64 << 24).to_le_bytes());
    cases.push(case(
        "zlib that cannot hold it",
        "test.nvdb",
        bomb.clone(),
        Fails("cut off"),
    ));
    put(&mut bomb, 16, &(300_000_u64).to_le_bytes());
    cases.push(case(
        "zlib of another size",
        "test.nvdb",
        bomb,
        Fails("broken zlib data"),
    ));
    cases.push(case("nothing", "test.nvdb", "", Fails("no grid")));
    cases.push(case("other bytes", "test.nvdb", [7; 99], Fails("does not begin")));
    cases
}

/// Every valid file, truncated at several lengths.
fn truncated() -> Vec<Case> {
    const STEPS: usize = 12;
    let mut cases = Vec::new();
    let all = [SPARSE, NIFTI, NRRD].into_iter().flatten();
    // The first of several volumes may be complete.
    for (name, bytes) in all.filter(|(name, _)| *name != "times.nii.gz") {
        for step in 1..STEPS {
            let length = bytes.len() * step / STEPS;
            let what = format!("cut off after {length} bytes");
            let mut case = case(what, name, &bytes[..length], Fails(""));
            case.beside.push((BESIDE.0, BESIDE.1.to_vec()));
            cases.push(case);
        }
    }
    cases
}
