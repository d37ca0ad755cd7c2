//! Broken, odd or malicious files. Each loads or is refused as a table says. None is drawn in a way that
//! harms the GPU, none reads or writes other files, and none exceeds its limits of time and memory.
//! SECURITY.md promises this.

use crate::common::{
    self, draco, folder::isolate, fuzz, gltf_builder, hostile as cases, hostile_volumes, meshopt, mutate,
};
use canopy::{
    render::{Channel, View},
    scene::{self, Pose, Progress, Projection, Scene, bounds::Aabb, environment, framing::Viewpoint},
};
use cases::{Case, Outcome};
use common::{by_lane, scenes::Stage};
use gltf_builder::{Builder, F32};
use mutate::Mutator;
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Time limit for loading a small file on the slowest machine that runs tests.
const LONGEST: Duration = Duration::from_secs(20);

/// Writes a case into its own folder.
fn write(case: &Case) -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    for (name, bytes) in &case.beside {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let path = dir.path().join(case.file);
    fs::write(&path, &case.bytes).unwrap();
    (dir, path)
}

/// Loads a case. Returns the outcome if it is not the expected one.
fn outcome(case: &Case) -> Result<(), String> {
    let (dir, path) = write(case);
    let before = files_of(dir.path());
    let start = Instant::now();
    let loaded = scene::load(&[path], &fuzz::LIMITS, &Progress::default());
    let took = start.elapsed();
    if took > LONGEST {
        return Err(format!("took {took:?}"));
    }
    if files_of(dir.path()) != before {
        return Err(format!("wrote {:?}", files_of(dir.path())));
    }
    if let Ok(scene) = &loaded {
        fuzz::check(scene);
        if let Some(broken) = scene
            .warnings
            .iter()
            .find(|w| w.contains('\n') || !w.contains(case.file))
        {
            return Err(format!("warns with {broken:?}"));
        }
    }
    match (case.outcome, loaded) {
        (Outcome::Loads, Ok(scene)) if scene.warnings.is_empty() => Ok(()),
        (Outcome::Warns(part), Ok(scene)) if scene.warnings.iter().any(|w| w.contains(part)) => Ok(()),
        (Outcome::Fails(part), Err(error)) => {
            let line = error.to_string();
            let named = line.contains(case.file) && !line.contains('\n') && line.len() < 1000;
            if named && line.contains(part) {
                Ok(())
            } else {
                Err(format!("fails with {line:?}"))
            }
        }
        (_, Ok(scene)) => Err(format!("loads with {:?}", scene.warnings)),
        (_, Err(error)) => Err(format!("fails with {:?}", error.to_string())),
    }
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn every_scene_file_has_the_outcome_listed_in_the_table() {
    let cases: Vec<Case> = cases::cases()
        .into_iter()
        .chain(hostile_volumes::cases())
        .collect();
    assert!(cases.len() > 500, "{} cases", cases.len());
    let faults: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let fault = outcome(case).err()?;
            Some(format!(
                "{} ({}): {:?} is expected; it {fault}",
                case.name, case.file, case.outcome
            ))
        })
        .collect();
    assert!(
        faults.is_empty(),
        "{} of {}:\n{}",
        faults.len(),
        cases.len(),
        faults.join("\n")
    );
}

/// Loads an environment. Returns the outcome if it is not the expected one.
fn environment_outcome(case: &Case) -> Result<(), String> {
    let (_dir, path) = write(case);
    let start = Instant::now();
    let loaded = environment::load(&path, &fuzz::LIMITS, fuzz::MAX_TEXELS);
    if start.elapsed() > LONGEST {
        return Err(format!("took {:?}", start.elapsed()));
    }
    match (case.outcome, loaded) {
        (Outcome::Loads, Ok(image)) => {
            fuzz::check_environment(&image);
            Ok(())
        }
        (Outcome::Fails(part), Err(error)) => {
            let line = error.to_string();
            let named = line.contains(case.file) && !line.contains('\n') && line.len() < 1000;
            let as_expected = named && line.contains(part);
            as_expected.then_some(()).ok_or(format!("fails with {line:?}"))
        }
        (_, loaded) => Err(format!("ends with {:?}", loaded.map(|image| image.name))),
    }
}

#[test]
fn every_environment_file_has_the_outcome_listed_in_the_table() {
    let cases = cases::environments();
    assert!(cases.len() > 100, "{} cases", cases.len());
    let fault = |case: &Case| {
        let fault = environment_outcome(case).err()?;
        Some(format!(
            "{} ({}): {:?} is expected; it {fault}",
            case.name, case.file, case.outcome
        ))
    };
    let faults: Vec<String> = cases.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn wrong_rows_of_the_outcome_table_are_detected() {
    let mut cases = cases::shapes();
    cases[0].outcome = Outcome::Fails("nothing");
    cases[1].outcome = Outcome::Warns("nothing");
    cases[2].file = "test.obj.txt";
    cases[2].bytes = b"nothing".to_vec();
    for case in &cases[..3] {
        outcome(case).unwrap_err();
    }
    let mut cases = cases::environments();
    cases[0].outcome = Outcome::Fails("nothing");
    cases[1].bytes.clear();
    for case in &cases[..2] {
        environment_outcome(case).unwrap_err();
    }
}

// Frames.

fn view(scene: &Scene, pose: &Pose) -> View {
    let points = scene::deform::positions(scene, pose);
    let lens = Projection::Perspective { fov_y: 0.8 };
    let viewpoint = Viewpoint::framing(&points, lens, 1.5);
    View::new(&viewpoint, Aabb::from_points(points), f32::INFINITY, None)
}

#[test]
fn frames_of_odd_files_finish_without_nan() {
    let gpu = common::gpu();
    let odd = [
        "everything",
        "an empty scene",
        "no nodes",
        "points",
        "a scale of 0",
        "an enormous scale",
        "a denormal scale",
        "a singular matrix",
        "an accessor without data",
        "a position that is NaN",
        "enormous normals",
        "normals of NaN",
        "negative colours",
        "enormous weights",
        "singular inverse bind matrices",
        "planes at 0",
        "an infinite light",
        "a negative light",
        "500 lights",
        "a key at 1e30",
        "only points",
        "the vertex 1e38 -1e38 1e38",
        "a polygon of one point",
        "many objects",
        "enormous options",
        "roughness and metalness",
    ];
    let cases = cases::cases();
    let named = odd.iter().map(|name| {
        let found = cases.iter().find(|case| case.name == *name);
        found.unwrap_or_else(|| panic!("no case {name}"))
    });
    let mut drawn = 0;
    for case in named.chain(&cases::shapes()) {
        let (_dir, path) = write(case);
        let scene = scene::load(&[path], &fuzz::LIMITS, &Progress::default()).unwrap();
        let pose = Pose::new(&scene, (!scene.clips.is_empty()).then_some(0), 0.3);
        let mut stage = Stage::new(&gpu, &scene, [48, 34]);
        let start = Instant::now();
        let drew = gpu.catch(|| stage.draw(&pose, view(&scene, &pose)));
        let picture = drew.unwrap_or_else(|e| panic!("{}: {e}", case.name));
        assert_eq!(picture.len(), 48 * 34 * 4);
        for channel in [Channel::Lit, Channel::Shadow, Channel::Cost] {
            let image = stage.channel(channel);
            let finite = image.texels.iter().flatten().all(|value| value.is_finite());
            assert!(finite, "{}: {channel:?} is not finite", case.name);
        }
        assert!(
            start.elapsed() < 2 * LONGEST,
            "{}: {:?}",
            case.name,
            start.elapsed()
        );
        drawn += 1;
    }
    assert!(drawn > 40);
}

// Mutations.

/// Files below this size give more variants in the same time.
const SEED_BYTES: usize = 20_000;

/// Files of the table and their neighbours, by name.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let cases = cases::cases().into_iter().chain(cases::environments());
    let cases = cases.chain(hostile_volumes::cases());
    let files = cases.flat_map(|case| case.beside.into_iter().chain([(case.file, case.bytes)]));
    files.filter(|(_, bytes)| bytes.len() < SEED_BYTES).collect()
}

/// Files compressed by Draco, and a file with all settings.
fn more_seeds(kind: &str) -> Vec<Vec<u8>> {
    match kind {
        "glb" => {
            let mut plain = cases::full();
            plain.first_primitive().as_object_mut().unwrap().remove("targets");
            let methods = [draco::Method::Exact, draco::Method::Quantised(11)];
            methods
                .map(|method| draco::compressed(&plain, method).glb())
                .into()
        }
        // For other kinds, only small files.
        "nvdb" => vec![hostile_volumes::plain_nanovdb()],
        "toml" => vec![include_bytes!("../config.toml").to_vec()],
        _ => Vec::new(),
    }
}

/// Name of each target, and the files that its variants are made from.
fn corpus() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let seeds = seeds();
    let of = |name, endings: &[&str]| {
        let ends_so = |file: &str| endings.iter().any(|ending| file.ends_with(ending));
        let named = seeds.iter().filter(|(file, _)| ends_so(file));
        let mut files: Vec<Vec<u8>> = named.map(|(_, bytes)| bytes.clone()).collect();
        files.extend(more_seeds(endings[0]));
        (name, files)
    };
    vec![
        of("gltf", &["gltf"]),
        of("glb", &["glb"]),
        of("obj", &["obj"]),
        of("mtl", &["mtl"]),
        of("config", &["toml"]),
        of("environment", &environment::EXTENSIONS),
        of("nrrd", &["nrrd"]),
        of("nifti", &["nii", "nii.gz"]),
        of("vdb", &["vdb"]),
        of("nvdb", &["nvdb"]),
    ]
}

/// Loads `CANOPY_FUZZ_ROUNDS` variants of the corpus for each target. The default is 150, or 300 in the long
/// lane. `CANOPY_FUZZ_SEED` selects others.
#[test]
fn mutated_corpus_files_load_or_fail_cleanly() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let rounds = number("CANOPY_FUZZ_ROUNDS", by_lane(150, 300));
    let mut mutator = Mutator(number("CANOPY_FUZZ_SEED", 1));
    let folder = TempDir::new().unwrap();
    for (target, files) in corpus() {
        assert!(!files.is_empty(), "{target}");
        let mut loaded = 0;
        for round in 0..rounds {
            let pick = |by: u64| &files[(round.wrapping_mul(by) % files.len() as u64) as usize];
            let bytes = mutator.mutate(pick(1), pick(7919));
            let start = Instant::now();
            let ended = std::panic::catch_unwind(|| match target {
                "gltf" => fuzz::gltf(&bytes).is_ok(),
                "glb" => fuzz::glb(&bytes).is_ok(),
                "obj" => fuzz::obj(&bytes).is_ok(),
                "mtl" => fuzz::mtl(folder.path(), &bytes).is_ok(),
                "environment" => fuzz::environment(&bytes).is_ok(),
                "nrrd" => fuzz::nrrd(&bytes).is_ok(),
                "nifti" => fuzz::nifti(&bytes).is_ok(),
                "vdb" => fuzz::vdb(&bytes).is_ok(),
                "nvdb" => fuzz::nvdb(&bytes).is_ok(),
                _ => fuzz::config(&bytes).is_ok(),
            });
            let took = start.elapsed();
            let sound = ended.as_ref().is_ok_and(|_| took < LONGEST);
            if !sound {
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{target}-{round}"));
                fs::write(&path, &bytes).unwrap();
                panic!("{target}, round {round}, {took:?}: {}", path.display());
            }
            loaded += u64::from(ended.unwrap());
        }
        // If all variants failed or all loaded, little would be tested. An MTL file is never refused.
        let most = if target == "mtl" { rounds } else { rounds - 1 };
        assert!(
            (1..=most).contains(&loaded),
            "{target}: {loaded} of {rounds} load"
        );
    }
}

/// Writes the corpus for cargo-fuzz into the folder that `CANOPY_FUZZ_CORPUS` names.
#[test]
fn the_corpus_can_be_written() {
    let temporary = TempDir::new().unwrap();
    let named = std::env::var_os("CANOPY_FUZZ_CORPUS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| temporary.path().to_owned());
    for (target, files) in corpus() {
        fs::create_dir_all(folder.join(target)).unwrap();
        for (number, bytes) in files.iter().enumerate() {
            fs::write(folder.join(target).join(number.to_string()), bytes).unwrap();
        }
        assert_eq!(files_of(&folder.join(target)).len(), files.len());
    }
}

// Promises about the machine.

/// Runs canopy with no more than `megabytes` of address space. Panics unless it exits with 0, or with 1 and
/// one line.
fn canopy(megabytes: u64, folder: &Path, args: &[&str]) -> Output {
    let limit = format!("ulimit -v {}; exec \"$0\" \"$@\"", megabytes * 1024);
    let mut command = Command::new("sh");
    command
        .args(["-c", &limit, env!("CARGO_BIN_EXE_canopy")])
        .args(args);
    let mut child = isolate(&mut command, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Output must be read, because a full pipe blocks the program.
    let mut stdout = child.stdout.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut stdout, &mut bytes).map(|_| bytes)
    });
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > 6 * LONGEST {
            child.kill().unwrap();
            panic!("{args:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut output = child.wait_with_output().unwrap();
    output.stdout = reading.join().unwrap().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let sound = match output.status.code() {
        Some(0) => !stderr.contains("panicked"),
        Some(1) => stderr.starts_with("error: ") && stderr.trim_end().lines().count() == 1,
        _ => false,
    };
    assert!(sound, "{args:?}: {}: {stderr}", output.status);
    output
}

/// The default limits bound the memory that a small file can request.
#[cfg(target_os = "linux")]
#[test]
fn small_files_take_little_memory() {
    let folder = TempDir::new().unwrap();
    let mut bombs = bombs();
    // Debug builds take seconds for each of them.
    if by_lane(false, true) {
        bombs.extend(larger_bombs());
    }
    for (name, bytes, loads) in bombs {
        let file = if name.starts_with("OBJ") { "a.obj" } else { "a.glb" };
        fs::write(folder.path().join(file), &bytes).unwrap();
        let megabytes = 700 + 60 * (bytes.len() as u64 >> 20);
        let start = Instant::now();
        let output = canopy(megabytes, folder.path(), &["info", "--json", file]);
        assert_eq!(
            output.status.success(),
            loads,
            "{name}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(start.elapsed() < 2 * LONGEST, "{name}: {:?}", start.elapsed());
    }
}

/// A file that requests a lot of memory: a description, its bytes, and whether it is within the default
/// limits nevertheless.
type Bomb = (&'static str, Vec<u8>, bool);

/// A `.gltf` file with this text.
fn gltf_of(text: &str) -> Vec<u8> {
    format!("{{\"asset\":{{\"version\":\"2.0\"}},{text}}}").into_bytes()
}

/// Bombs that are small, or quick to read.
fn bombs() -> Vec<Bomb> {
    let empty = |kind: &str, count: u64| json!({ "type": kind, "componentType": F32, "count": count });
    let vertices = |count: u64| {
        let mut builder = Builder::triangle();
        builder.json["accessors"][0] = empty("VEC3", count);
        builder
    };
    let mut keys = Builder::triangle();
    let input = keys.push("accessors", empty("SCALAR", 1 << 40));
    let output = keys.push("accessors", empty("VEC3", 1 << 40));
    keys.push(
        "animations",
        json!({
            "samplers": [{ "input": input, "output": output }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "scale" } }],
        }),
    );
    let mut matrices = cases::full();
    matrices.json["skins"][0]["inverseBindMatrices"] =
        json!(matrices.json["accessors"].as_array().unwrap().len());
    matrices.push("accessors", empty("MAT4", 1 << 40));
    let mut joints = cases::full();
    joints.json["skins"][0] = json!({ "joints": vec![1; 100_000] });
    let node = joints.json["nodes"][0].clone();
    joints.json["nodes"]
        .as_array_mut()
        .unwrap()
        .extend(vec![json!({ "mesh": 0, "skin": node["skin"] }); 1000]);
    joints.json.as_object_mut().unwrap().remove("scenes");
    joints.json.as_object_mut().unwrap().remove("scene");
    let mut targets = vertices(1_000_000);
    targets.first_primitive()["targets"] = json!(vec![json!({ "POSITION": 0 }); 1000]);
    let mut sets = vertices(1_000_000);
    let joint = sets.push(
        "accessors",
        json!({ "type": "VEC4", "componentType": 5121, "count": 1_000_000 }),
    );
    for set in 0..1000 {
        sets.first_primitive()["attributes"][format!("JOINTS_{set}")] = json!(joint);
        sets.first_primitive()["attributes"][format!("WEIGHTS_{set}")] = json!(joint);
    }
    let mut copies = Builder::triangle();
    let all = copies.accessor("SCALAR", gltf_builder::U8, 30_000, &[0, 1, 2].repeat(10_000));
    copies.first_primitive()["indices"] = json!(all);
    let mut parts = copies.clone();
    let part = parts.first_primitive().clone();
    parts.json["meshes"][0]["primitives"] = json!(vec![part; 3000]);
    copies.json["nodes"] = json!(vec![json!({ "mesh": 0 }); 3000]);
    let variant = |number| json!({ "name": format!("variant {number}") });
    let variants: Vec<_> = (0..100_000).map(variant).collect();
    let mut many_variants = Builder::triangle();
    many_variants.json["extensions"] = json!({ "KHR_materials_variants": { "variants": variants } });
    let mut weights = Builder::triangle();
    weights.json["meshes"][0]["weights"] = json!(vec![0; 400_000]);
    weights.json["nodes"] = json!(vec![json!({ "mesh": 0 }); 4000]);
    let mut pointers = Builder::triangle();
    let times = pointers.accessor("SCALAR", F32, 1, &[0; 4]);
    let pointer = json!({ "KHR_animation_pointer": { "pointer": "/meshes/0/weights/0" } });
    let channel = json!({ "sampler": 0, "target": { "path": "pointer", "extensions": pointer } });
    pointers.json["nodes"] = json!(vec![json!({ "mesh": 0 }); 30_000]);
    pointers.json["animations"] = json!([{
        "samplers": [{ "input": times, "output": times }],
        "channels": vec![channel; 30_000],
    }]);
    for builder in [&mut weights, &mut pointers] {
        let root = builder.json.as_object_mut().unwrap();
        root.remove("scenes");
        root.remove("scene");
    }
    vec![
        ("4,000,000,000 vertices", vertices(4_000_000_000).glb(), false),
        ("2^60 vertices", vertices(1 << 60).glb(), false),
        ("1,000,000 vertices", vertices(1_000_000).glb(), true),
        ("2^40 keys", keys.glb(), false),
        ("2^40 matrices", matrices.glb(), true),
        ("100,000,000 joints", joints.glb(), false),
        ("1,000 targets of 1,000,000 vertices", targets.glb(), false),
        ("1,000 joint sets of 1,000,000 vertices", sets.glb(), false),
        ("30,000,000 triangles", copies.glb(), false),
        ("30,000,000 triangles in 3,000 primitives", parts.glb(), false),
        ("100,000 variants", many_variants.glb(), true),
        ("400,000 weights of 4,000 nodes", weights.glb(), true),
        ("30,000 pointers to 30,000 nodes", pointers.glb(), true),
        (
            "1,000,000 nodes",
            gltf_of(&format!("\"nodes\":[{}{{}}]", "{},".repeat(999_999))),
            true,
        ),
        (
            "OBJ of 400,000 faces, each unlike the one before",
            [
                &b"v 0 0 0\nvt 0 0\n"[..],
                &b"f 1 1 1\nf 1/1 1/1 1/1\n".repeat(200_000),
            ]
            .concat(),
            true,
        ),
        ("OBJ of 1,000,000 objects", b"o\n".repeat(1_000_000), true),
    ]
}

/// Bombs that are larger, or slow to create.
fn larger_bombs() -> Vec<Bomb> {
    let mut streams = Builder::triangle();
    let stream = meshopt::attributes(&vec![0; 32 << 20], 256, 1);
    let layout = [256, 128 << 10];
    let view = meshopt::stream_view(
        &mut streams,
        meshopt::NAMES[0],
        &stream,
        "ATTRIBUTES",
        "NONE",
        layout,
    );
    let view = streams.json["bufferViews"][view].clone();
    let views = streams.json["bufferViews"].as_array_mut().unwrap();
    views.extend(vec![view; 64]);
    let mut pictures = cases::full();
    let view = pictures.view(&cases::png(8192, 8192));
    pictures.json["images"][0]["bufferView"] = json!(view);
    let image = pictures.json["images"][0].clone();
    let mut many_pictures = pictures.clone();
    many_pictures.json["images"] = json!(vec![image; 300]);
    many_pictures.json["textures"] = (0..300).map(|source| json!({ "source": source })).collect();
    many_pictures.json["materials"] = (0..300)
        .map(|index| json!({ "emissiveTexture": { "index": index } }))
        .collect();
    vec![
        ("65 streams of 32 MiB", streams.glb(), false),
        ("300 pictures of 8,192 x 8,192", many_pictures.glb(), true),
        (
            "10,000,000 nodes",
            gltf_of(&format!("\"nodes\":[{}{{}}]", "{},".repeat(9_999_999))),
            false,
        ),
        (
            "10,000,000 numbers",
            gltf_of(&format!("\"extras\":[{}0]", "0,".repeat(9_999_999))),
            true,
        ),
        (
            "10,000,000 arrays",
            gltf_of(&format!("\"extras\":[{}0]", "[],".repeat(9_999_999))),
            true,
        ),
        ("OBJ of 2,000,000 empty vertices", b"v\n".repeat(2_000_000), true),
        (
            "OBJ of 500,000 faces",
            [&b"v 0 0 0\n"[..], &b"f 1 1 1\n".repeat(500_000)].concat(),
            true,
        ),
        (
            "OBJ of 400,000 smoothing groups",
            [
                &b"v 0 0 0\n"[..],
                &b"s 1\nf 1 1 1\ns 0\nf 1 1 1\n".repeat(200_000),
            ]
            .concat(),
            true,
        ),
        (
            "OBJ of a polygon of 4,000,000 corners",
            [&b"v 0 0 0\nf"[..], &b" 1".repeat(4_000_000)].concat(),
            true,
        ),
        (
            "OBJ of 30,000,000 corners",
            [&b"v 0 0 0\nf"[..], &b" 1".repeat(30_000_000)].concat(),
            false,
        ),
    ]
}

/// A file outside the folder, or one that is not a regular file, is not opened by any reference.
#[cfg(unix)]
#[test]
fn only_files_in_the_scene_folder_are_read() {
    use std::os::unix::fs::symlink;
    let outside = TempDir::new().unwrap();
    let inside = outside.path().join("in");
    fs::create_dir_all(inside.join("sub")).unwrap();
    let bin = Builder::triangle().bin;
    fs::write(outside.path().join("a.bin"), &bin).unwrap();
    fs::write(outside.path().join("a.mtl"), "newmtl a\nKd 1 0 0\n").unwrap();
    fs::write(outside.path().join("a.png"), cases::png(2, 2)).unwrap();
    fs::write(inside.join("sub/b.bin"), &bin).unwrap();
    symlink(outside.path().join("a.bin"), inside.join("file.bin")).unwrap();
    symlink("../a.bin", inside.join("relative.bin")).unwrap();
    symlink(outside.path(), inside.join("dir")).unwrap();
    symlink("loop.bin", inside.join("loop.bin")).unwrap();
    symlink("/dev/zero", inside.join("zero.bin")).unwrap();
    symlink("../a.mtl", inside.join("link.mtl")).unwrap();
    symlink("../a.png", inside.join("link.png")).unwrap();
    symlink("sub/b.bin", inside.join("good.bin")).unwrap();
    let fifo = Command::new("mkfifo").arg(inside.join("fifo")).status().unwrap();
    assert!(fifo.success());
    let with = |uri: &str| {
        let mut builder = Builder::triangle();
        builder.json["buffers"] = json!([{ "byteLength": bin.len(), "uri": uri }]);
        fs::write(inside.join("a.gltf"), builder.json.to_string()).unwrap();
        canopy(4000, &inside, &["info", "--json", "a.gltf"])
            .status
            .success()
    };
    for uri in [
        "../a.bin",
        "%2e%2e/a.bin",
        "sub/../../a.bin",
        "..\\a.bin",
        "file.bin",
        "relative.bin",
        "dir/a.bin",
        "dir/in/sub/../../a.bin",
        "loop.bin",
        "zero.bin",
        "fifo",
        "sub",
        "/dev/zero",
        "/dev/stdin",
        "/proc/self/environ",
    ] {
        assert!(!with(uri), "{uri} is read");
    }
    let absolute = outside.path().join("a.bin").display().to_string();
    assert!(!with(&absolute) && !with(&format!("file://{absolute}")));
    for uri in ["good.bin", "sub/b.bin", "sub/../sub/b.bin"] {
        assert!(with(uri), "{uri} is not read");
    }
    // An OBJ file, its libraries and its images.
    let warnings = |obj: &str, mtl: &str| {
        fs::write(inside.join("b.mtl"), mtl).unwrap();
        fs::write(
            inside.join("a.obj"),
            format!("{obj}\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
        )
        .unwrap();
        let output = canopy(4000, &inside, &["info", "--json", "a.obj"]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["warnings"].to_string()
    };
    for path in [
        "../a.mtl",
        "link.mtl",
        "dir/a.mtl",
        "fifo",
        "/dev/zero",
        "..\\a.mtl",
        "sub",
    ] {
        let found = warnings(&format!("mtllib {path}"), "");
        assert!(
            found.contains("material \\\"a\\\" is not defined"),
            "{path}: {found}"
        );
    }
    for path in [
        "../a.png",
        "link.png",
        "dir/a.png",
        "fifo",
        "/dev/zero",
        "..\\a.png",
        "sub",
    ] {
        let found = warnings(
            "mtllib b.mtl",
            &format!("newmtl a\nmap_Kd {path}\nmap_Bump -bm 1 {path}\n"),
        );
        assert!(found.contains("a checkerboard replaces it"), "{path}: {found}");
    }
    assert_eq!(warnings("mtllib b.mtl", "newmtl a\n"), "[]");
    // Files named on the command line may be links, but not pipes.
    symlink("sub/../a.obj", inside.join("named.obj")).unwrap();
    assert!(canopy(4000, &inside, &["info", "named.obj"]).status.success());
    for name in ["fifo", "/dev/zero", "sub", "loop.bin"] {
        assert!(
            !canopy(4000, &inside, &["info", name]).status.success(),
            "{name} is read"
        );
    }
}

/// Only files named by `-o` and similar options are written, and never partially.
#[test]
fn only_requested_output_files_are_written() {
    let folder = TempDir::new().unwrap();
    let scene = folder.path().join("scene");
    fs::create_dir(&scene).unwrap();
    fs::write(scene.join("a.glb"), cases::full().glb()).unwrap();
    fs::write(scene.join("b.glb"), b"glTF").unwrap();
    let run = |file: &str| {
        let args = [
            "render",
            file,
            "-o",
            "out.png",
            "--size",
            "16x16",
            "--stats",
            "stats.json",
            "--aov",
            "depth=depth.exr",
        ];
        canopy(64_000, folder.path(), &args).status.success()
    };
    let names = |folder: &Path| -> Vec<_> {
        let files = files_of(folder).into_iter();
        files.map(|path| path.file_name().unwrap().to_owned()).collect()
    };
    assert!(!run("scene/b.glb"));
    let clean = |names: Vec<std::ffi::OsString>| -> Vec<_> {
        // Mesa stores its shader cache below HOME.
        names
            .into_iter()
            .filter(|name| !name.to_string_lossy().starts_with(['.', 'm']))
            .collect()
    };
    assert_eq!(clean(names(folder.path())), ["scene"]);
    assert!(run("scene/a.glb"));
    assert_eq!(
        clean(names(folder.path())),
        ["depth.exr", "out.png", "scene", "stats.json"]
    );
    assert_eq!(names(&scene), ["a.glb", "b.glb"]);
}
