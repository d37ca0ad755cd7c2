//! `canopy bench` from the command line: its JSON, on inputs small enough for any adapter.

use crate::common::{by_lane, folder::Folder, gltf_builder::Builder};
use serde_json::{Value, json};
use std::process::Output;

const KINDS: [&str; 7] = ["soup", "terrain", "meshes", "slivers", "equal", "dense", "long"];

/// Runs `canopy bench` in a folder that holds scene.obj.
fn bench(line: &str) -> Output {
    Folder::new().canopy(&format!("bench {line}"))
}

/// Report of a suite, from two samples.
fn report(line: &str) -> Value {
    report_in(&Folder::new(), line)
}

fn report_in(folder: &Folder, line: &str) -> Value {
    let output = folder.canopy(&format!("bench {line} --json --samples 2 --warm-up 0"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {stderr}");
    assert!(stderr.is_empty(), "{line}: {stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["suite"], line.split(' ').next().unwrap());
    for key in ["name", "backend", "driver", "type"] {
        assert!(report["adapter"][key].is_string(), "{key}");
    }
    assert_eq!(report["skipped"], json!([]));
    for run in runs(&report) {
        check_times(run);
    }
    report
}

fn runs(report: &Value) -> &[Value] {
    report["runs"].as_array().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Times are ordered, and the stages add up to no more than the total.
fn check_times(run: &Value) {
    let [min, median, p95] = ["min", "median", "p95"].map(|key| number(&run["gpu_ms"][key]));
    assert!(0.0 < min && min <= median && median <= p95, "{run}");
    assert_eq!(run["samples"], 2);
    let stages = run["stages"].as_object().unwrap();
    assert!(!stages.is_empty() && stages.values().all(|ms| number(ms) >= 0.0));
}

fn names(report: &Value) -> Vec<&str> {
    runs(report)
        .iter()
        .map(|run| run["name"].as_str().unwrap())
        .collect()
}

#[test]
fn sort_reports_rates_of_every_kind_of_keys() {
    let report = report("sort --pairs 500,1K");
    assert!(number(&report["copy_gb_per_s"]) > 0.0);
    let expected = ["random", "sorted", "equal", "few"].map(|name| [name; 2]);
    assert_eq!(names(&report), expected.as_flattened());
    for run in runs(&report) {
        let rate = number(&run["pairs"]) / number(&run["gpu_ms"]["median"]) * 1e3;
        assert!((number(&run["pairs_per_s"]) / rate - 1.0).abs() < 1e-6);
        assert_eq!(run.get("scaling").is_some(), run["pairs"] == 1000);
        assert!(number(&run["share"]["sort"]) > 0.0);
    }
}

/// Each build is validated, so a broken tree fails the run.
#[test]
fn build_makes_valid_trees_for_every_kind() {
    let report = report("build scene.obj --triangles 300,600 --meshes 7");
    assert!(number(&report["copy_gb_per_s"]) > 0.0);
    let expected = KINDS.map(|name| [name; 2]);
    let expected = [&["scene.obj"], expected.as_flattened()].concat();
    assert_eq!(names(&report), expected);
    for run in runs(&report) {
        let (triangles, meshes) = (number(&run["triangles"]), number(&run["meshes"]));
        // Leaves hold up to two triangles, and some nodes are too small to be built.
        assert!(number(&run["nodes"]) <= triangles / 2.0, "{run}");
        assert!(number(&run["node_bytes_per_triangle"]) <= 48.0, "{run}");
        assert!(
            number(&run["depth"]) >= 1.0 || triangles / meshes < 100.0,
            "{run}"
        );
        assert!(number(&run["sah_cost"]) >= 0.0);
        assert!(number(&run["triangles_per_s"]) > 0.0);
        // Every stage has a known number of bytes, by name.
        let names = |key: &str| -> Vec<String> {
            let stages = run[key].as_object().unwrap();
            stages.keys().cloned().collect()
        };
        assert_eq!(names("share"), names("stages"));
        assert_eq!(run.get("scaling").is_some(), triangles == 600.0);
    }
    let meshes = |run: &Value| (run["name"] == "meshes").then(|| number(&run["meshes"]));
    let meshes: Vec<_> = runs(&report).iter().filter_map(meshes).collect();
    assert_eq!(meshes, [7.0, 7.0]);
}

#[test]
fn trace_reports_rates_visits_and_the_baseline() {
    let report = report("trace scene.obj --size 24x18");
    // Rays, queries and leaf cutoffs.
    assert_eq!(runs(&report).len(), 3 * 2 * 6);
    for rays in ["primary", "shadow", "ambient_occlusion"] {
        for query in ["closest_hit", "any_hit"] {
            let of = |run: &&Value| run["rays"] == rays && run["query"] == query;
            let runs: Vec<_> = runs(&report).iter().filter(of).collect();
            let cutoffs: Vec<_> = runs.iter().map(|run| number(&run["leaf_cutoff"])).collect();
            assert_eq!(cutoffs, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
            for run in runs {
                assert!(number(&run["rays_per_s"]) > 0.0 && number(&run["speedup"]) > 0.0);
                assert!(number(&run["nodes_per_ray"]) > 0.0);
                assert!(number(&run["lockstep_steps"]) > 0.0);
                // Visits on the GPU and on the CPU differ only by rounding.
                let replayed = number(&run["replayed_nodes_per_ray"]) / number(&run["nodes_per_ray"]);
                assert!((replayed - 1.0).abs() < 0.02, "{run}");
                assert!(number(&run["binary_nodes_per_ray"]) > 0.0);
                assert_eq!(run["hit_share"], report_hits(&report, run));
            }
        }
    }
    let primary = &runs(&report)[0];
    assert_eq!(primary["ray_count"], 24 * 18);
    assert!(number(&primary["hit_share"]) > 0.1);
}

/// Hit fraction of the first run with the same rays.
fn report_hits(report: &Value, of: &Value) -> Value {
    let same = |run: &&Value| run["rays"] == of["rays"];
    runs(report).iter().find(same).unwrap()["hit_share"].clone()
}

#[test]
fn trace_runs_on_every_kind() {
    // Creating a device per kind takes most of the time. The build test covers all kinds.
    let is_wanted = |kind: &&str| by_lane(["meshes", "equal", "long"].contains(kind), true);
    let kinds: Vec<_> = KINDS.into_iter().filter(is_wanted).collect();
    let report = report(&format!(
        "trace --kind {} --triangles 200 --meshes 3 --size 18x18 --leaf-cutoff 4",
        kinds.join(",")
    ));
    for kind in kinds {
        let of = |run: &&Value| run["name"] == kind && run["rays"] == "primary";
        let runs: Vec<_> = runs(&report).iter().filter(of).collect();
        assert_eq!(runs.len(), 2, "{kind}");
        assert!(number(&runs[0]["hit_share"]) > 0.0, "{kind}");
    }
}

#[test]
fn query_compares_ray_orders_and_query_kinds() {
    // The command itself fails if the results differ.
    let report = report("query scene.obj --kind soup --triangles 300 --queries 500 --leaf-cutoff 2");
    let ways: Vec<_> = runs(&report)
        .iter()
        .map(|run| ["name", "query", "order"].map(|key| run[key].as_str().unwrap()))
        .collect();
    let expected = ["scene.obj", "soup"].map(|name| {
        [
            [name, "nearest", "given"],
            [name, "nearest", "sorted"],
            [name, "one_pass", "given"],
            [name, "counted_first", "given"],
            [name, "one_pass", "sorted"],
            [name, "counted_first", "sorted"],
        ]
    });
    assert_eq!(ways, expected.as_flattened());
    for run in runs(&report) {
        assert!(number(&run["queries_per_s"]) > 0.0);
        let is_sorted = run["order"] == "sorted";
        assert_eq!(run.get("sorting_speedup").is_some(), is_sorted, "{run}");
        let is_counted = run["query"] == "counted_first";
        assert_eq!(run.get("to_one_pass").is_some(), is_counted, "{run}");
        assert!(run["query"] == "nearest" || run["name"] != "soup" || number(&run["found"]) > 0.0);
    }
}

#[test]
fn frame_reports_every_pass() {
    // In the quick lane, other suites cover files.
    let file = by_lane("", "scene.obj");
    let line = format!("frame {file} --kind meshes --triangles 200 --meshes 5 --size 34x24");
    let report = report(&line);
    let expected = [file, "meshes"].map(|name| [name; 3]);
    let expected = &expected.as_flattened()[by_lane(3, 0)..];
    assert_eq!(names(&report), expected);
    for (run, policy) in runs(&report)
        .iter()
        .zip(["frame", "changed", "refit"].iter().cycle())
    {
        assert_eq!(run["rebuild"], *policy);
        // Without a warm-up, the first of the two samples builds. These scenes do not move.
        assert_eq!(run["builds"], if *policy == "frame" { 2 } else { 1 });
        for pass in ["deform", "gbuffer", "shadow_rays", "lighting", "tonemap"] {
            assert!(run["stages"][pass].is_number(), "{pass}: {run}");
        }
        assert!(number(&run["cpu_record_ms"]["median"]) > 0.0);
        assert!(number(&run["wall_ms"]["median"]) > 0.0);
        assert!(number(&run["ray_count"]) > 0.0);
    }
    assert_eq!(runs(&report).last().unwrap()["meshes"], 5);
}

#[test]
fn pathtrace_runs_with_every_choice_of_kernels() {
    let folder = Folder::new();
    let mut coat = Builder::triangle();
    let layer = json!({ "KHR_materials_clearcoat": { "clearcoatFactor": 1 } });
    coat.push("materials", json!({ "extensions": layer }));
    coat.first_primitive()["material"] = json!(0);
    coat.write(folder.0.path(), "coat.glb");
    // Layers select the kernels of tests/paths.rs, so that the quick lane compiles one set.
    let files = by_lane("scene.obj coat.glb", "scene.obj");
    let line = format!("pathtrace {files} --size 24x18 --set paths.bounces=3");
    let report = report_in(&folder, &line);
    let variants: Vec<_> = runs(&report)
        .iter()
        .map(|run| [&run["kernels"], &run["sorted"]].map(|what| what.as_str().unwrap()))
        .collect();
    let expected = [["one", "no"], ["separate", "no"], ["separate", "yes"]];
    assert_eq!(variants, expected);
    for run in runs(&report) {
        let stages = run["stages"].as_object().unwrap();
        let is_one = run["kernels"] == "one";
        assert_eq!(stages.contains_key("path"), is_one, "{run}");
        assert_eq!(stages.contains_key("path_shade"), !is_one, "{run}");
        let rays = number(&run["rays_a_path"]);
        assert!((1.0..=4.0).contains(&rays), "{rays}");
        // No group waits for less than it traces, or for more than four rays per path.
        let waits = number(&run["lockstep"]);
        assert!((1.0..=4.0 / rays + 1e-6).contains(&waits), "{run}");
        assert!(number(&run["ratio"]) > 0.0);
    }
}

#[test]
fn compile_measures_every_entry_point_once() {
    // The quick lane leaves out the slowest shaders.
    let (shaders, lighting) = by_lane(
        ("passes/gbuffer.wgsl,bvh/query/trace.wgsl", 0),
        ("passes/gbuffer,passes/lighting,trace.wgsl", 1),
    );
    let line = format!("compile --json --only {shaders},serial,sort_small");
    let output = bench(&line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut names = names(&report);
    for run in runs(&report) {
        let parts = ["parse_ms", "make_ms", "first_use_ms"].map(|part| number(&run[part]));
        let sum: f64 = parts.iter().sum();
        assert!(parts.iter().all(|ms| *ms >= 0.0) && sum > 0.0, "{run}");
        assert!((number(&run["sum_ms"]) / sum - 1.0).abs() < 1e-6, "{run}");
        assert!(number(&run["expressions"]) > 0.0, "{run}");
    }
    let sums: Vec<_> = runs(&report).iter().map(|run| number(&run["sum_ms"])).collect();
    assert!(sums.is_sorted_by(|a, b| a >= b), "the slowest come first");
    // A traversal has more expressions than its entry point.
    let rays = runs(&report).iter().find(|run| run["name"] == "any_hit");
    assert!(number(&rays.unwrap()["expressions"]) > 200.0);
    for (name, expected) in [
        ("gbuffer", 1),
        ("opaque", 0),
        ("masked", 0),
        ("lighting", lighting),
        ("serial_leaves", 1),
        ("sort_small", 1),
    ] {
        assert_eq!(
            names.iter().filter(|known| **known == name).count(),
            expected,
            "{name}"
        );
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn irradiance_reports_times_and_errors_beside_the_cpu() {
    // Each size has its own kernels. The sky requires a power of two.
    let faces: Vec<u32> = by_lane(vec![32], vec![5, 32]);
    let listed: Vec<_> = faces.iter().map(u32::to_string).collect();
    let report = report(&format!("irradiance --faces {}", listed.join(",")));
    assert!(number(&report["copy_gb_per_s"]) > 0.0);
    let names = ["half floats", "half floats", "full floats", "full floats"];
    let (projections, sky) = runs(&report).split_at(4 * faces.len());
    let found = self::names(&report);
    assert_eq!(found[..projections.len()], names.repeat(faces.len()));
    assert_eq!(
        (sky.len(), &sky[0]["name"], &sky[0]["face"]),
        (1, &"moving sky".into(), &32.into())
    );
    for stage in ["sky", "cube_mips", "project_sh", "prefilter"] {
        assert!(sky[0]["stages"][stage].is_number(), "{stage}: {}", sky[0]);
    }
    for (i, run) in projections.iter().enumerate() {
        assert_eq!(run["face"], faces[i / 4]);
        assert_eq!(run["order"], [3, 5][i % 2]);
        for stage in ["project_sh", "sum_sh"] {
            assert!(run["stages"][stage].is_number(), "{stage}: {run}");
        }
        assert!(number(&run["share"]["project_sh"]) > 0.0);
        assert!((0.0..1e-5).contains(&number(&run["error"])), "{run}");
    }
}

#[test]
fn output_without_json_is_a_table() {
    let output = bench("sort --pairs 1K --samples 1 --warm-up 0");
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["GB/s", "keys", "median ms", "random", "1 K", "few"] {
        assert!(text.contains(word), "no \"{word}\" in {text}");
    }
}

/// No adapter binds 64 GB of nodes, so no such buffer is created.
#[test]
fn sizes_beyond_the_adapter_limits_are_skipped() {
    for suite in ["build", "frame"] {
        let line = format!("{suite} --triangles 1000M --kind soup --samples 1 --json");
        let output = bench(&line);
        assert!(output.status.success(), "{line}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(runs(&report).is_empty());
        let skipped = &report["skipped"][0];
        assert_eq!(skipped["triangles"], 1_000_000_000);
        assert!(skipped["reason"].as_str().unwrap().contains("allowed"));
    }
}

#[test]
fn impossible_options_are_wrong_usage() {
    for line in [
        "",
        "speed",
        "build --triangles 0",
        "build --triangles 1G",
        "build --kind cubes",
        "build --leaf-cutoff 4",
        "build --pairs 1K",
        "sort --triangles 1K",
        "sort scene.obj",
        "trace --leaf-cutoff 33",
        "frame --size 0x1",
        "sort --samples 0",
        "sort --faces 64",
        "irradiance --faces 0",
        "irradiance --pairs 1K",
        "irradiance --triangles 1K",
        "irradiance --size 10x10",
        "irradiance scene.obj",
        "compile scene.obj",
        "compile --size 10x10",
        "compile --only nothing",
        "sort --only sort",
    ] {
        let output = bench(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(output.stdout.is_empty(), "{line}");
    }
    let output = bench("build missing.glb");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("error: ") && stderr.contains("missing.glb"));
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

/// A camera path whose every frame is measured, a missing clip, and the page of a turntable.
#[test]
fn camera_paths_are_benchmarked_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let keys = r#"{"keys": [
        {"time": 0, "eye": [3, 2, 3], "target": [0, 0, 0]},
        {"time": 0.5, "eye": [-3, 2, 3], "target": [0, 0, 0], "fov": 60}
    ]}"#;
    std::fs::write(file("keys.json"), keys).unwrap();
    let line = format!(
        "path scene.obj --path {} --fps 10 --size 66x36 --warm-up 1 --json -o {}",
        file("keys.json"),
        file("report.html")
    );
    let output = bench(&line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["suite"], "path");
    let run = &runs(&report)[0];
    assert_eq!((&run["path"], &run["samples"]), (&"keys".into(), &6.into()));
    let frames = run["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 6);
    let gpu_ms: Vec<f64> = frames.iter().map(|f| number(&f["gpu_ms"])).collect();
    let most = gpu_ms.iter().copied().fold(0.0, f64::max);
    assert_eq!(number(&run["gpu_ms"]["max"]), most);
    let order = ["min", "median", "p95", "p99", "max"].map(|key| number(&run["gpu_ms"][key]));
    assert!(order.is_sorted() && order[0] > 0.0, "{order:?}");
    assert!(number(&frames[0]["passes"]["gbuffer"]) > 0.0);
    let page = std::fs::read_to_string(file("report.html")).unwrap();
    let adapter = report["adapter"]["name"].as_str().unwrap();
    for part in ["<svg", "gbuffer", "output.size", "keys.json", "p99", adapter] {
        assert!(page.contains(part), "no {part} in the page");
    }
    // The page and the JSON contain the same value.
    assert!(page.contains(&format!("<td>{most:.3}</td>")), "{most}");

    let turn = bench("path scene.obj --size 34x18 --frames 3 --warm-up 0");
    let text = String::from_utf8_lossy(&turn.stdout);
    assert!(turn.status.success() && text.contains("slowest frames"), "{text}");
    for (line, part) in [
        ("path scene.obj --clip Run", "Run"),
        ("path scene.obj --path nowhere.json", "nowhere.json"),
        ("path scene.obj --triangles 5", "--triangles is not an option"),
        ("build --fps 5", "--fps is not an option"),
        ("path scene.obj -o page.txt", "page.txt: unknown output format"),
    ] {
        let output = bench(line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && stderr.contains(part),
            "{line}: {stderr}"
        );
        assert_eq!(stderr.trim_end().lines().count(), 1, "{line}: {stderr}");
    }
}
