//! The kernels that dominate the frame stay within ceilings from the output of GPU compilers, in
//! benches/isa.toml.
//!
//! UPDATE_ISA=1 writes the ceilings of the drivers at hand.

use crate::common::folder::Folder;
use serde_json::Value;
use std::{collections::BTreeMap, fmt::Write as _, path::Path};

/// Chips to compile for, if a compiler is available. The default is the first two; CANOPY_TEST_ALL selects
/// all.
const GPUS: [&str; 6] = ["rdna2", "rdna3", "gfx1201", "m1", "adreno750", "ampere"];

/// Kernels that dominate the frame.
const FILES: &[&str] = &[
    "ambient/bounced_light.wgsl",
    "ambient/occlusion_filter.wgsl",
    "ambient/occlusion_rays.wgsl",
    "bvh/build/bounds.wgsl",
    "bvh/build/hierarchy.wgsl",
    "bvh/build/hierarchy_across.wgsl",
    "bvh/build/morton.wgsl",
    "bvh/build/ray_nodes.wgsl",
    "bvh/build/sort.wgsl",
    "bvh/build/sort_subgroups.wgsl",
    "bvh/query/trace.wgsl",
    "gi/bounced_cells.wgsl",
    "gi/cell_claims.wgsl",
    "gi/cell_rays.wgsl",
    "passes/blend.wgsl",
    "passes/gbuffer_indexed.wgsl",
    "passes/lighting.wgsl",
    "path/path_shade.wgsl",
    "path/path_shadow.wgsl",
    "path/path_trace.wgsl",
    "reflections/reflection_light.wgsl",
    "reflections/reflection_rays.wgsl",
    "shadow/shadow_filter.wgsl",
    "shadow/shadow_motion.wgsl",
    "shadow/shadow_rays.wgsl",
];

/// Figures that have ceilings.
const FIGURES: [&str; 5] = [
    "instructions",
    "registers",
    "lds_bytes",
    "scratch_bytes",
    "spills",
];

/// Factor by which a figure may exceed its ceiling.
const SLACK: f64 = 1.03;

/// Figures of kernels by name.
type Kernels = BTreeMap<String, BTreeMap<String, f64>>;

/// By the driver's name and version, then by the chip.
type Table = BTreeMap<String, BTreeMap<String, Kernels>>;

fn table_path() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/isa.toml"))
}

/// The report; `None` if no driver compiles for `gpu`.
fn compiled(gpu: &str, files: &[&str], options: &str) -> Option<Value> {
    let folder = Folder::new();
    let line = format!("shaders --isa --json --gpu {gpu} {} {options}", files.join(" "));
    let output = folder.canopy(&line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && stderr.starts_with("error: no compiler for ") {
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        return None;
    }
    assert!(output.status.success(), "{stderr}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn kernels(report: &Value) -> Kernels {
    let mut kernels = Kernels::new();
    for row in report["entry_points"].as_array().unwrap() {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        let mut name = format!("{} {}", text("file"), text("entry"));
        for (constant, value) in row["constants"].as_object().into_iter().flatten() {
            write!(name, " {constant}={}", value.as_f64().unwrap()).unwrap();
        }
        let known = FIGURES
            .iter()
            .filter_map(|figure| Some(((*figure).into(), row[*figure].as_f64()?)));
        kernels.insert(name, known.collect());
    }
    kernels
}

/// Limits on the instructions of a node's step, with boxes of halves and of bytes, any hit.
const MAX_NODE: [f64; 2] = [140.0, 155.0];

/// Limit on the instructions of a triangle's step.
const MAX_TRIANGLE: f64 = 115.0;

/// The report of a traversal contains its loops: over nodes, over the two sides of a subtree that the stack
/// has no room for, and over triangles. Steps are short.
fn has_loops(report: &Value, max_node: f64) {
    let mut rows = report["entry_points"].as_array().unwrap().iter();
    let any_hit = rows.find(|row| row["entry"] == "any_hit").unwrap();
    let walk = &any_hit["loops"][0];
    let steps = walk["loops"].as_array().unwrap();
    let count = |of: &Value| of["instructions"].as_f64().unwrap();
    let within: f64 = steps.iter().map(count).sum();
    assert_eq!(steps.len(), 4, "{any_hit}");
    for (step, most) in [(&steps[0], max_node), (&steps[3], MAX_TRIANGLE)] {
        assert!(count(step) <= most, "{step} of {any_hit}");
    }
    assert!(count(walk) + within < count(any_hit), "{any_hit}");
}

/// True if this is Debian 12 with RADV, which compiles for RDNA2 and RDNA3.
fn must_compile() -> bool {
    let system = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let files = std::fs::read_dir("/usr/share/vulkan/icd.d").into_iter().flatten();
    let is_radv = |file: &std::fs::DirEntry| file.file_name().to_string_lossy().starts_with("radeon_icd");
    system.contains("VERSION_CODENAME=bookworm") && files.flatten().any(|file| is_radv(&file))
}

/// Formats a table with one kernel per line. Zeros are left out.
fn text(table: &Table) -> String {
    let mut text = String::from(
        "# Ceilings of the kernels that decide the frame, as compilers of GPUs make them: tests/isa.rs.\n",
    );
    for (driver, gpus) in table {
        for (gpu, kernels) in gpus {
            write!(text, "\n[\"{driver}\".{gpu}]\n").unwrap();
            for (name, figures) in kernels {
                let figures: Vec<_> = FIGURES
                    .iter()
                    .filter_map(|figure| Some((figure, figures.get(*figure).filter(|value| **value > 0.0)?)))
                    .map(|(figure, value)| format!("{figure} = {value}"))
                    .collect();
                writeln!(text, "\"{name}\" = {{ {} }}", figures.join(", ")).unwrap();
            }
        }
    }
    text
}

#[test]
fn compiled_kernels_stay_within_their_recorded_limits() {
    let mut table: Table = toml::from_str(&std::fs::read_to_string(table_path()).unwrap()).unwrap();
    let is_set = |name| std::env::var_os(name).is_some();
    let updates = is_set("UPDATE_ISA");
    let tests_all = is_set("CANOPY_TEST_ALL");
    let mut exceeded = String::new();
    for gpu in &GPUS[..if tests_all { GPUS.len() } else { 2 }] {
        let Some(report) = compiled(gpu, FILES, "") else {
            let is_missing = gpu.starts_with("rdna") && must_compile();
            assert!(!is_missing, "RADV does not compile for {gpu}");
            println!("{gpu}: no compiler");
            continue;
        };
        let driver = report["driver"].as_str().unwrap();
        let kernels = kernels(&report);
        if updates {
            let gpus = table.entry(driver.into()).or_default();
            gpus.insert((*gpu).into(), kernels);
            continue;
        }
        let Some(ceilings) = table.get(driver).and_then(|gpus| gpus.get(*gpu)) else {
            assert!(
                !tests_all,
                "{gpu}: no ceilings for {driver}: UPDATE_ISA=1 writes them"
            );
            println!("{gpu}: no ceilings for {driver}");
            continue;
        };
        if gpu.starts_with("rdna") {
            has_loops(&report, MAX_NODE[0]);
            let trace = |options| compiled(gpu, &["bvh/query/trace.wgsl"], options).unwrap();
            let bytes = trace("--set gpu.ray_boxes=bytes");
            has_loops(&bytes, MAX_NODE[1]);
            assert_ne!(bytes["entry_points"], trace("")["entry_points"]);
        }
        println!("{gpu}: {} kernels by {driver}", kernels.len());
        let target = format!("{gpu}, {driver}");
        compare(&target, &kernels, ceilings, &mut exceeded);
    }
    if updates {
        std::fs::write(table_path(), text(&table)).unwrap();
    }
    assert!(exceeded.is_empty(), "{exceeded}");
}

fn compare(target: &str, kernels: &Kernels, ceilings: &Kernels, exceeded: &mut String) {
    for name in ceilings.keys().filter(|name| !kernels.contains_key(*name)) {
        writeln!(exceeded, "{target}: {name} is gone").unwrap();
    }
    for (name, figures) in kernels {
        let Some(ceilings) = ceilings.get(name) else {
            writeln!(exceeded, "{target}: {name} has no ceiling").unwrap();
            continue;
        };
        for (figure, value) in figures {
            let ceiling = ceilings.get(figure).copied().unwrap_or_default();
            if *value > ceiling * SLACK {
                writeln!(exceeded, "{target}: {name}: {figure} {value}, ceiling {ceiling}").unwrap();
            }
        }
    }
}

#[test]
fn kernels_beyond_their_recorded_limits_are_reported() {
    let kernels = |instructions: f64| {
        let figures = [
            ("instructions".to_owned(), instructions),
            ("spills".to_owned(), 0.0),
        ];
        Kernels::from([("rays".to_owned(), figures.into())])
    };
    let told = |value: f64| {
        let mut told = String::new();
        compare("rdna3", &kernels(value), &kernels(100.0), &mut told);
        told
    };
    assert_eq!(told(103.0), "");
    assert_eq!(told(103.5), "rdna3: rays: instructions 103.5, ceiling 100\n");
    let mut gone = String::new();
    compare("rdna3", &Kernels::new(), &kernels(100.0), &mut gone);
    assert_eq!(gone, "rdna3: rays is gone\n");
}
