//! Volume files. Files written by other libraries are read like by these libraries, and have the right
//! position.

use crate::common::{folder::canopy_in, volumes};
use canopy::{
    config::{Config, Load},
    scene::{self, Grid, Pose, Progress, Scene, bounds::Aabb, deform},
};
use flate2::read::GzDecoder;
use glam::{DVec3, Mat4, Vec3};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};
use tempfile::TempDir;
use volumes::{BESIDE, NIFTI, NRRD, SPARSE};

fn limits() -> Load {
    Config::default().frame.opening.load
}

/// Loads files of these names, in one folder with `beside`.
fn load_with(files: &[(&str, &[u8])], beside: &[(&str, &[u8])]) -> scene::Result<Scene> {
    let folder = TempDir::new().unwrap();
    for (name, bytes) in beside.iter().chain(files) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
    scene::load(&paths, &limits(), &Progress::default())
}

fn load(files: &[(&str, &[u8])]) -> Scene {
    load_with(files, &[BESIDE]).unwrap()
}

fn truth(packed: &[u8]) -> Value {
    serde_json::from_reader(GzDecoder::new(packed)).unwrap()
}

fn numbers(list: &Value) -> Vec<f64> {
    let numbers = list.as_array().unwrap().iter();
    numbers.map(|number| number.as_f64().unwrap()).collect()
}

/// Difference of a grid from the values that a library read. `canopy_from_file` converts the positions.
fn difference(grid: &Grid, truth: &Value, canopy_from_file: impl Fn(DVec3) -> DVec3) -> Result<(), String> {
    let size = numbers(&truth["size"]);
    if size != grid.size.map(f64::from) {
        return Err(format!("{:?} voxels in place of {size:?}", grid.size));
    }
    let values = numbers(&truth["values"]);
    let voxels: usize = grid.size.iter().map(|n| *n as usize).product();
    if values.len() != voxels * grid.components || values.len() != grid.values.len() {
        return Err(format!(
            "{} numbers in place of {}",
            grid.values.len(),
            values.len()
        ));
    }
    for (index, (read, expected)) in grid.values.iter().zip(&values).enumerate() {
        if *read != *expected as f32 {
            return Err(format!("number {index} is {read} in place of {expected}"));
        }
    }
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    for (corner, position) in corners.into_iter().zip(truth["positions"].as_array().unwrap()) {
        let [x, y, z] = numbers(position)[..] else {
            return Err(format!("{position} is no position"));
        };
        let expected = canopy_from_file(DVec3::new(x, y, z));
        let read = grid.volume_from_voxel.transform_point3(corner).as_dvec3();
        if read.distance(expected) > 1e-6 * (1.0 + expected.length()) {
            return Err(format!("voxel {corner} is at {read} in place of {expected}"));
        }
    }
    Ok(())
}

#[test]
fn openvdb_and_nanovdb_files_match_the_reference_libraries() {
    let truth = truth(include_bytes!("common/volumes/vdb.json.gz"));
    for (name, bytes) in SPARSE {
        let scene = load(&[(name, bytes)]);
        assert_eq!(scene.warnings, [""; 0], "{name}");
        let grids = &scene.volumes[0].grids;
        let expected = truth[name].as_object().unwrap();
        assert_eq!(grids.len(), expected.len(), "{name}");
        for grid in grids {
            let truth = &expected[&grid.name];
            difference(grid, truth, |p| p).unwrap_or_else(|e| panic!("{name}, {}: {e}", grid.name));
            let background = truth["background"].as_f64().unwrap() as f32;
            assert_eq!(grid.background, background, "{name}, {}", grid.name);
        }
    }
    let blosc = load(&[("blosc.vdb", volumes::file("blosc.vdb"))]);
    let names: Vec<&str> = blosc.volumes[0].grids.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["surface", "density", "Cd"]);
    // Inside the surface is the negative background value.
    let surface = &blosc.volumes[0].grids[0];
    assert!(surface.background > 0.0 && surface.values.contains(&-surface.background));
    assert_eq!(blosc.sources[0].generator.as_deref(), Some("OpenVDB 10.0"));
}

#[test]
fn nifti_and_nrrd_files_match_the_reference_libraries() {
    let truth = truth(include_bytes!("common/volumes/scans.json.gz"));
    // A person stands upright and looks towards +Z: right is −X, superior +Y, anterior +Z. Units are
    // millimetres.
    let ras = |p: DVec3| DVec3::new(-p.x, p.z, p.y) * 1e-3;
    let lps = |p: DVec3| DVec3::new(p.x, p.z, -p.y) * 1e-3;
    let plain = |p: DVec3| p * 1e-3;
    for (name, bytes) in NIFTI.iter().chain(NRRD) {
        let scene = load(&[(name, bytes)]);
        let warns = usize::from(*name == "times.nii.gz");
        assert_eq!(scene.warnings.len(), warns, "{name}: {:?}", scene.warnings);
        let turn = match *name {
            name if name.contains(".nii") => ras,
            "big.nrrd" => plain,
            _ => lps,
        };
        let [grid] = &scene.volumes[0].grids[..] else {
            panic!("{name} has several grids")
        };
        difference(grid, &truth[name], turn).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    let times = load(&[("times.nii.gz", volumes::file("times.nii.gz"))]);
    assert!(times.warnings[0].ends_with("has 2 volumes; canopy reads the first"));
    assert_eq!(times.volumes[0].name, "times");
}

#[test]
fn the_grid_comparison_detects_errors() {
    let scene = load(&[("big.nrrd", volumes::file("big.nrrd"))]);
    let truth = &truth(include_bytes!("common/volumes/scans.json.gz"))["big.nrrd"];
    let meters = |p: DVec3| p * 1e-3;
    let grid = &scene.volumes[0].grids[0];
    difference(grid, truth, meters).unwrap();
    let mut wrong = grid.clone();
    wrong.values.swap(3, 4);
    difference(&wrong, truth, meters).unwrap_err();
    let mut wrong = grid.clone();
    wrong.size.swap(0, 1);
    difference(&wrong, truth, meters).unwrap_err();
    let mut wrong = grid.clone();
    wrong.volume_from_voxel *= Mat4::from_translation(Vec3::X * 0.01);
    difference(&wrong, truth, meters).unwrap_err();
}

#[test]
fn colour_components_are_interleaved_for_any_axis_order() {
    let header = |sizes: &str, kinds: &str| {
        format!("NRRD0004\ntype: uchar\ndimension: 4\nsizes: {sizes}\nkinds: {kinds}\nencoding: text\n\n")
    };
    let words = |numbers: &[u32]| {
        let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
        words.join(" ")
    };
    for (sizes, kinds, numbers, expected) in [
        (
            "3 2 1 1",
            "RGB-color space space space",
            &[1, 2, 3, 4, 5, 6][..],
            &[1, 2, 3, 4, 5, 6][..],
        ),
        (
            "2 1 1 3",
            "space space space vector",
            &[1, 4, 2, 5, 3, 6],
            &[1, 2, 3, 4, 5, 6],
        ),
        (
            "2 3 1 1",
            "domain 3-vector domain domain",
            &[1, 4, 2, 5, 3, 6],
            &[1, 2, 3, 4, 5, 6],
        ),
        (
            "4 2 1 1",
            "RGBA-color space space space",
            &[1, 2, 3, 0, 4, 5, 6, 0],
            &[1, 2, 3, 4, 5, 6],
        ),
        ("2 1 1 3", "space space space list", &[1, 2, 3, 4, 5, 6], &[1, 2]),
        ("2 1 1 9", "space space space time", &[1, 2], &[1, 2]),
    ] {
        let text = format!("{}{}", header(sizes, kinds), words(numbers));
        let scene = load(&[("a.nrrd", text.as_bytes())]);
        let grid = &scene.volumes[0].grids[0];
        assert_eq!(grid.size, [2, 1, 1], "{sizes} {kinds}");
        let expected: Vec<f32> = expected.iter().map(|n| *n as f32).collect();
        assert_eq!(grid.values, expected, "{sizes} {kinds}");
        assert_eq!(grid.components, expected.len() / 2);
    }
}

#[test]
fn nrrd_units_and_byte_skips_are_applied() {
    let lines = [
        "NRRD0005",
        "# a comment",
        "type: short",
        "dimension: 3",
        "sizes: 1 1 2",
        "encoding: raw",
        "endian: little",
        "key:=value: of a user",
        "space: 3D-right-handed",
        "space units: \"cm\" \"cm\" \"cm\"",
        "spacedirections: (2,0,0) (0,3,0) (0,0,4)",
        "space origin: (1,0,0)",
        "byte skip: -1",
        "",
    ];
    for end in ["\n", "\r\n"] {
        let mut bytes = lines.map(|line| format!("{line}{end}")).concat().into_bytes();
        bytes.extend([9, 9, 9, 1, 0, 2, 0]);
        let scene = load(&[("a.nrrd", &bytes)]);
        let grid = &scene.volumes[0].grids[0];
        assert_eq!(grid.values, [1.0, 2.0]);
        let expected = Mat4::from_translation(Vec3::X * 0.01) * Mat4::from_scale(Vec3::new(0.02, 0.03, 0.04));
        assert!(grid.volume_from_voxel.abs_diff_eq(expected, 1e-9));
    }
}

/// Nodes that place volumes are counted before any file is read, for one name or for many.
#[test]
fn nodes_that_place_volumes_are_limited() {
    let text: String = "NRRD0001\ntype: uchar\ndimension: 3\nsizes: 1 1 1\nencoding: text\n\n9"
        .bytes()
        .map(|byte| format!("%{byte:02x}"))
        .collect();
    let data = format!("data:,{text}");
    for uri in ["zip.nvdb", "missing.nvdb", &data] {
        let node = json!({ "extras": { "canopy_volume": uri } });
        let load = |count: usize, allowed: u64| {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("a.gltf");
            fs::write(&path, gltf(&json!(vec![node.clone(); count]))).unwrap();
            fs::write(folder.path().join("zip.nvdb"), volumes::file("zip.nvdb")).unwrap();
            let limits = Load {
                max_volume_nodes: allowed,
                ..limits()
            };
            scene::load(&[path], &limits, &Progress::default())
        };
        let scene = load(3, 3).unwrap();
        assert_eq!(scene.nodes.len(), 3);
        let error = load(4, 3).unwrap_err().to_string();
        let says = |what: &str| error.contains(what);
        assert!(says("a.gltf") && says("load.max_volume_nodes"), "{error}");
        assert!(says("4 nodes with volumes") && says("allow"), "{error}");
    }
}

/// A glTF of nodes without meshes.
fn gltf(nodes: &Value) -> Vec<u8> {
    let roots: Vec<usize> = (0..nodes.as_array().unwrap().len()).collect();
    json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": roots }],
        "nodes": nodes,
    })
    .to_string()
    .into_bytes()
}

#[test]
fn node_extras_place_volumes() {
    let placed = |uri: &str| json!({ "extras": { "canopy_volume": uri }, "translation": [5, 0, 0] });
    let uris = [
        "zip.nvdb",
        "scans/double.nhdr",
        "scans/gzip%2Enrrd",
        "./scans/../zip.nvdb",
        "data:,NRRD",
    ];
    let text = "NRRD0001\ntype: uchar\ndimension: 3\nsizes: 1 1 1\nencoding: text\n\n9";
    let text: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let mut nodes = uris.map(placed);
    nodes[4] = placed(&format!("data:,{text}"));
    let beside = [
        ("zip.nvdb", volumes::file("zip.nvdb")),
        ("scans/double.nhdr", volumes::file("double.nhdr")),
        ("scans/double.raw", BESIDE.1),
        ("scans/gzip.nrrd", volumes::file("gzip.nrrd")),
    ];
    let scene = load_with(&[("a.gltf", &gltf(&json!(nodes)))], &beside).unwrap();
    assert_eq!(scene.warnings, [""; 0]);
    let volumes: Vec<Option<usize>> = scene.nodes.iter().map(|node| node.volume).collect();
    assert_eq!(volumes, [Some(0), Some(1), Some(2), Some(0), Some(3)]);
    let names: Vec<&str> = scene.volumes.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["zip", "double", "gzip", "a"]);
    assert_eq!(scene.volumes[3].grids[0].values, [9.0]);
    // Nodes move them, and the bounds of the scene contain them.
    let pose = Pose::new(&scene, None, 0.0);
    let bounds = Aabb::from_points(deform::positions(&scene, &pose));
    let grid = &scene.volumes[0].grids[0];
    let far = Vec3::from(grid.size.map(|n| n as f32)) - 0.5;
    let corner = grid.volume_from_voxel.transform_point3(far) + 5.0 * Vec3::X;
    assert!(bounds.min.cmple(corner).all() && bounds.max.cmpge(corner).all());
    assert!(bounds.min.x > 1.0, "{bounds:?}");
}

#[test]
fn node_extras_cannot_name_files_outside_the_folder() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    fs::write(folder.path().join("secret.nrrd"), volumes::file("gzip.nrrd")).unwrap();
    let path = folder.path().join("in/a.gltf");
    for (uri, what) in [
        ("../secret.nrrd", "leads out"),
        ("%2e%2e/secret.nrrd", "leads out"),
        ("/etc/passwd", "absolute"),
        ("file:///etc/passwd", "not a relative path"),
        ("missing.vdb", "missing.vdb"),
        ("a.gltf", "not a volume file"),
        ("broken.vdb", "does not begin like an OpenVDB file"),
        ("out.nhdr", "leads out"),
    ] {
        let node = json!([{ "extras": { "canopy_volume": uri } }]);
        fs::write(&path, gltf(&node)).unwrap();
        fs::write(folder.path().join("in/broken.vdb"), [1; 64]).unwrap();
        let out = "NRRD0001\ntype: uchar\ndimension: 3\nsizes: 1 1 1\nencoding: raw\n\
            data file: ../secret.nrrd\n";
        fs::write(folder.path().join("in/out.nhdr"), out).unwrap();
        let scene = scene::load(std::slice::from_ref(&path), &limits(), &Progress::default());
        let scene = scene.unwrap();
        let found = scene
            .warnings
            .iter()
            .any(|line| line.contains("a.gltf: node 0: canopy_volume") && line.contains(what));
        assert!(found, "{uri}: {:?}", scene.warnings);
        assert!(scene.volumes.is_empty() && scene.nodes[0].volume.is_none());
    }
}

#[test]
fn volumes_are_merged_with_other_files() {
    let room = gltf(&json!([{ "name": "a" }, { "extras": { "canopy_volume": "zip.nvdb" } }]));
    let files = [
        ("color.nii", volumes::file("color.nii")),
        ("room.gltf", &room),
        ("zip.vdb", volumes::file("zip.vdb")),
    ];
    let beside = [("zip.nvdb", volumes::file("zip.nvdb"))];
    let scene = load_with(&files, &beside).unwrap();
    let placed: Vec<_> = scene.nodes.iter().map(|n| (n.name.as_str(), n.volume)).collect();
    let expected = [("color", Some(0)), ("a", None), ("", Some(1)), ("zip", Some(2))];
    assert_eq!(placed, expected);
    let formats: Vec<_> = scene.sources.iter().map(|source| source.format).collect();
    assert_eq!(formats, ["NIfTI", "glTF 2.0", "OpenVDB"]);
    assert_eq!(scene.volumes[1], {
        let alone = load_with(&[("zip.nvdb", beside[0].1)], &[]).unwrap();
        alone.volumes[0].clone()
    });
    // The limit applies to all files together.
    let one = Load {
        max_voxels: 900,
        ..limits()
    };
    let folder = TempDir::new().unwrap();
    let paths: Vec<PathBuf> = files[2..]
        .iter()
        .chain([&beside[0]])
        .map(|(name, bytes)| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            path
        })
        .collect();
    scene::load(&paths[..1], &one, &Progress::default()).unwrap();
    let error = scene::load(&paths, &one, &Progress::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("zip.nvdb, grid \"density\"") && error.contains("load.max_voxels"),
        "{error}"
    );
    // So does the limit of decompressed bytes.
    let small = Load {
        max_file_bytes: beside[0].1.len() as u64,
        ..limits()
    };
    let error = scene::load(&paths[1..], &small, &Progress::default()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("zip.nvdb") && error.contains("decompressed bytes"),
        "{error}"
    );
}

#[test]
fn info_lists_volume_grids() {
    let folder = TempDir::new().unwrap();
    for name in ["blosc.vdb", "color.nii"] {
        fs::write(folder.path().join(name), volumes::file(name)).unwrap();
    }
    let info = |args: &[&str]| {
        let line = format!("info -q {}", args.join(" "));
        let output = canopy_in(folder.path(), &line).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let all = ["color.nii", "--volume", "blosc.vdb"];
    let json: Value = serde_json::from_str(&info(&[&["--json"][..], &all].concat())).unwrap();
    assert_eq!(json["volumes"], 2);
    assert_eq!(json["files"], json!(["color.nii", "blosc.vdb"]));
    let grids = &json["list"]["volumes"][1]["grids"];
    assert_eq!(grids[2]["name"], "Cd");
    assert_eq!(
        (&grids[2]["size"], &grids[2]["components"]),
        (&json!([3, 5, 4]), &json!(3))
    );
    assert_eq!(
        (&grids[2]["min"], &grids[2]["max"]),
        (&json!(-0.1875), &json!(2.375))
    );
    assert_eq!(grids[2]["voxel_size_m"], json!([0.25, 0.25, 0.25]));
    let bytes: u64 = grids
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(json["list"]["volumes"][1]["bytes"], bytes);
    assert_eq!(json["tree"][1]["volume"], 1);
    let text = info(&all);
    for part in [
        "blosc.vdb: OpenVDB, ",
        "made by OpenVDB 10.0",
        "volumes (2)",
        "Cd: 3 × 5 × 4 vectors, -0.1875 to 2.375, voxels of 0.25 m",
        "1 blosc, volume 1",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// A volume brings no material, and the ground below it is still drawn.
#[test]
fn a_scene_of_only_volumes_is_drawn() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.vdb"), volumes::file("zip.vdb")).unwrap();
    let line = "render -q a.vdb -o a.png --size 24x16 --ground grid";
    let output = canopy_in(folder.path(), line).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    assert!(folder.path().join("a.png").is_file());
}
