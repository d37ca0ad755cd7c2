//! `--profile`, tested as a command. The trace, the table and `--stats` agree, and memory is reported by
//! kind.

use crate::common::{folder, gpu, is_swiftshader};
use folder::Folder;
use serde_json::Value;
use std::collections::BTreeMap;

fn run(folder: &Folder, line: &str) -> String {
    let output = folder.canopy(line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {stderr}");
    std::fs::read_to_string(folder.0.path().join(line.rsplit(' ').next().unwrap())).unwrap()
}

/// Total milliseconds of each name over all frames, for complete events of a category.
fn sums(trace: &Value, cat: &str) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for event in trace["traceEvents"].as_array().unwrap() {
        if event["ph"] == "X" && event["cat"] == cat {
            let name = event["name"].as_str().unwrap().to_owned();
            *sums.entry(name).or_default() += event["dur"].as_f64().unwrap() * 1e-3;
        }
    }
    sums
}

#[test]
fn a_trace_of_a_sequence_has_the_times_of_its_statistics() {
    let folder = Folder::new();
    let line = "render scene.obj -o f{frame}.png --size 34x18 --frames 3 --stats s.json --profile p.json";
    let trace: Value = serde_json::from_str(&run(&folder, line)).unwrap();
    let stats = std::fs::read(folder.0.path().join("s.json")).unwrap();
    let stats: Value = serde_json::from_slice(&stats).unwrap();
    // Memory by kind, on the GPU and in the process.
    let kinds = ["geometry", "trees", "textures", "targets", "other"];
    let bytes = kinds.map(|kind| stats["memory"]["gpu_bytes"][kind].as_u64().unwrap());
    assert!(bytes.iter().all(|bytes| *bytes > 0), "{bytes:?}");
    assert!(stats["memory"]["process_bytes"].as_u64().unwrap() > 1_000_000);
    let gpu = sums(&trace, "gpu");
    // Between the minimum and the maximum time in each of the draws with this pass.
    for name in ["frame", "deform", "gbuffer", "lighting"] {
        let passes = stats["passes"].as_array().unwrap();
        let pass = passes.iter().find(|pass| pass["name"] == name).unwrap();
        let [min, max, draws] = ["min", "max", "draws"].map(|key| pass[key].as_f64().unwrap());
        let (sum, bounds) = (gpu[name], [draws * min - 1e-6, draws * max + 1e-6]);
        assert!(sum >= bounds[0] && sum <= bounds[1], "{name}: {sum} {pass}");
    }
    let frames = stats["frames"].as_array().unwrap();
    let all: f64 = frames.iter().map(|frame| frame["gpu_ms"].as_f64().unwrap()).sum();
    assert!((gpu["frame"] - all).abs() < 1e-6, "{} {all}", gpu["frame"]);
    let cpu = sums(&trace, "cpu");
    let names: Vec<_> = cpu.keys().map(String::as_str).collect();
    assert_eq!(names, ["animate", "record", "submit", "wait"]);
    assert!(cpu["record"] > 0.0);
}

#[test]
fn a_table_has_a_row_for_each_frame_and_memory_by_kind() {
    let folder = Folder::new();
    let line = "render scene.obj -o f{frame}.png --size 256x144 --frames 2 --profile p.csv";
    let table = run(&folder, line);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 3);
    let cell = |row: usize, title: &str| -> f64 {
        let index = rows[0].iter().position(|cell| *cell == title);
        let index = index.unwrap_or_else(|| panic!("no {title} in {:?}", rows[0]));
        rows[row][index]
            .parse()
            .unwrap_or_else(|_| panic!("{title}: {}", rows[row][index]))
    };
    for row in [1, 2] {
        let frame_ms = cell(row, "gpu frame ms");
        assert!(frame_ms > 0.0 && cell(row, "gpu frame/gbuffer ms") <= frame_ms);
        let kinds = ["geometry", "trees", "textures", "targets", "other"];
        let bytes = kinds.map(|kind| cell(row, &format!("memory {kind} bytes")));
        assert!(bytes.iter().all(|bytes| *bytes > 0.0), "{bytes:?}");
        // All labels are assigned to a kind.
        let all: f64 = bytes.iter().sum();
        let most = if is_swiftshader(&gpu()) { 0.2 } else { 0.15 };
        assert!(bytes[4] < most * all, "{bytes:?}");
        assert!(cell(row, "process bytes") > 1e6);
    }
    assert_eq!(cell(2, "frame"), 2.0);
}

#[test]
fn invalid_profile_names_fail_before_rendering() {
    let folder = Folder::new();
    for (name, words) in [
        (
            "p.txt",
            "p.txt: unknown output format; the name must end in .json or .csv",
        ),
        ("nowhere/p.csv", "nowhere"),
    ] {
        let output = folder.canopy(&format!("render scene.obj -o a.png --profile {name}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(words), "{stderr}");
        assert!(!folder.0.path().join("a.png").exists());
    }
}
