//! Pictures rendered by several processes, like on the machines of a render farm.

use crate::common::folder;
use folder::{Folder, canopy_in};
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const PICTURE: &str = "render scene.obj --size 18x12 --paths 7";

impl Folder {
    fn done(&self, line: &str) {
        let output = self.canopy(line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {stderr}");
    }

    /// Runs a line that must fail. Asserts the exit code, one line on standard error, and that `out.exr` does
    /// not exist.
    fn refused(&self, code: i32, line: &str) -> String {
        let output = self.canopy(line);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
        assert!(stderr.starts_with("error: "), "{line}: {stderr}");
        assert_eq!(stderr.trim_end().lines().count(), 1, "{line}: {stderr}");
        assert!(!self.path("out.exr").exists(), "{line}");
        stderr
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn copy(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.bytes(name);
        change(&mut bytes);
        std::fs::write(self.path("changed.exr"), bytes).unwrap();
    }
}

fn find(bytes: &[u8], text: &[u8]) -> usize {
    bytes.windows(text.len()).position(|at| at == text).unwrap()
}

/// Replaces `old` by `new`, which has the same length.
fn replace(bytes: &mut [u8], old: &str, new: &str) {
    assert_eq!(old.len(), new.len());
    let at = find(bytes, old.as_bytes());
    bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
}

#[test]
fn machines_share_the_samples_of_a_picture() {
    let folder = Folder::new();
    samples_join_to_the_picture_bit_by_bit(&folder);
    runs_that_were_ended_go_on(&folder);
}

#[test]
fn machines_share_the_frames_of_a_sequence() {
    let folder = Folder::new();
    frames_are_those_of_the_sequence(&folder);
    // Uses the same pictures.
    templates_make_the_picture(&folder);
}

fn samples_join_to_the_picture_bit_by_bit(folder: &Folder) {
    folder.done(&format!("{PICTURE} -o whole.exr"));
    let part = |of: &str, name: &str, more: &str| {
        folder.done(&format!("{PICTURE} -o {name}.exr --part {of} {more}"));
    };
    for (of, name) in [
        ("1/2", "a"),
        ("2/2", "b"),
        ("1/3", "c"),
        ("2/3", "d"),
        ("3/3", "e"),
    ] {
        part(of, name, "");
    }
    let whole = folder.bytes("whole.exr");
    for parts in [
        "a.exr b.exr",
        "b.exr a.exr",
        "e.exr c.exr d.exr",
        "d.exr c.exr e.exr",
    ] {
        folder.done(&format!("merge {parts} -o joined.exr"));
        assert!(folder.bytes("joined.exr") == whole, "{parts}");
    }
    // A part is itself a picture, of its own samples.
    let floats = |name: &str| image::open(folder.path(name)).unwrap().into_rgba32f();
    let [a, b, all] = ["a.exr", "b.exr", "whole.exr"].map(floats);
    assert_ne!(a, b);
    for ((a, b), all) in a.iter().zip(b.iter()).zip(all.iter()) {
        assert!(((3.0 * a + 4.0 * b) / 7.0 - all).abs() < 1e-5, "{a}, {b}: {all}");
    }

    // Missing parts and duplicates.
    let refused = |line: &str, words: &[&str]| {
        let error = folder.refused(1, line);
        for word in words {
            assert!(error.contains(word), "{line}: no {word:?} in {error}");
        }
    };
    refused(
        "merge c.exr e.exr -o out.exr",
        &["samples 3 to 4", "part 2/3", "--partial"],
    );
    refused("merge a.exr -o out.exr", &["samples 4 to 7", "part 2/2"]);
    refused(
        "merge a.exr b.exr a.exr -o out.exr",
        &["a.exr", "samples 1 to 3", "too"],
    );
    refused("merge a.exr d.exr -o out.exr", &["d.exr", "sample 3", "a.exr"]);
    folder.done("merge c.exr e.exr -o some.exr --partial");
    let (some, c, e) = (floats("some.exr"), floats("c.exr"), floats("e.exr"));
    for ((c, e), some) in c.iter().zip(e.iter()).zip(some.iter()) {
        assert!(
            ((2.0 * c + 3.0 * e) / 5.0 - some).abs() < 1e-5,
            "{c}, {e}: {some}"
        );
    }
    folder.done("render scene.obj --size 18x12 --paths 900000000 --part 1/2 --time-limit 0.001 -o early.exr");
    refused(
        "merge early.exr -o out.exr",
        &["early.exr", "ended before samples 2 to"],
    );

    // Parts of other pictures.
    part("2/2", "other", "--set sun.angle=20");
    refused(
        "merge a.exr other.exr -o out.exr",
        &["other.exr", "of other settings", "a.exr"],
    );
    part("2/2", "other", "--eye 1,2,3");
    refused("merge a.exr other.exr -o out.exr", &["of another view"]);
    folder.done("render scene.obj --size 18x14 --paths 7 -o other.exr --part 2/2");
    refused(
        "merge a.exr other.exr -o out.exr",
        &["18 × 14 pixels, not 18 × 12"],
    );
    folder.done("render scene.obj --size 18x12 --paths 8 -o other.exr --part 2/2");
    refused("merge a.exr other.exr -o out.exr", &["8 samples, not 7"]);
    let scene = String::from_utf8(folder.bytes("scene.obj")).unwrap();
    std::fs::write(folder.path("scene.obj"), scene + "# another file\n").unwrap();
    part("2/2", "other", "");
    refused("merge a.exr other.exr -o out.exr", &["of another scene"]);

    // Files that are not parts, and broken parts.
    refused(
        "merge a.exr whole.exr -o out.exr",
        &["whole.exr", "is not a part"],
    );
    refused(
        "merge scene.obj -o out.exr",
        &["scene.obj", "is not an OpenEXR file"],
    );
    refused("merge none.exr -o out.exr", &["none.exr"]);
    let length = folder.bytes("a.exr").len();
    for end in (0..length).step_by(length / 13).chain([length - 1]) {
        folder.copy("a.exr", |bytes| bytes.truncate(end));
        refused("merge changed.exr b.exr -o out.exr", &["changed.exr"]);
    }
    let hostile: [(&str, &str, &str); 7] = [
        ("\"held\":3", "\"held\":9", "invalid sample range"),
        ("\"held\":3", "\"held\":0", "invalid sample range"),
        ("\"held\":3", "\"held\":N", "broken"),
        ("\"total\":7", "\"total\":2", "invalid sample range"),
        ("\"samples\":[0,3]", "\"samples\":[3,0]", "invalid sample range"),
        // The other attribute has a format too.
        ("\"format\":1,\"part", "\"format\":7,\"part", "format 7"),
        ("sum0.A\0\0", "sum9.A\0\0", "channels"),
    ];
    for (old, new, word) in hostile {
        folder.copy("a.exr", |bytes| replace(bytes, old, new));
        refused("merge changed.exr b.exr -o out.exr", &["changed.exr", word]);
    }
    // Windows larger than any picture, and larger than the part specifies.
    for (side, word) in [(i32::MAX, "pixels"), (16 << 8, "")] {
        folder.copy("a.exr", |bytes| {
            let at = find(bytes, b"dataWindow\0box2i\0") + 17 + 4 + 8;
            bytes[at..at + 4].copy_from_slice(&side.to_le_bytes());
        });
        refused("merge changed.exr b.exr -o out.exr", &["changed.exr", word]);
    }

    // Wrong usage.
    for (line, word) in [
        ("merge a.exr b.exr -o out.png", ".exr"),
        ("render scene.obj -o out.exr --part 1/2", "--paths"),
        (
            "render scene.obj -o out{frame}.exr --frames 2 --part 3/3",
            "2 frames cannot be split into 3 parts",
        ),
        ("render scene.obj -o out.exr --frames 3-4", "{frame}"),
        ("render scene.obj -o out.exr --checkpoint c.exr", "--paths"),
        ("render scene.obj -o out.exr --paths 7 --checkpoint c.png", ".exr"),
        (
            "render scene.obj -o out.exr --paths 7 --checkpoint out.exr",
            "two outputs",
        ),
        (
            "render scene.obj -o - --format exr --skip-existing",
            "--skip-existing",
        ),
        ("render scene.obj -o out.png --paths 7 --part 1/2", ".exr"),
        (
            "render scene.obj -o out.exr --paths 7 --part 8/8",
            "7 samples cannot be split into 8 parts",
        ),
    ] {
        let error = folder.refused(2, line);
        assert!(error.contains(word), "{line}: {error}");
    }
}

const SEQUENCE: &str = "render scene.obj --size 18x12 --paths 2 --turntable 1 --fps 5";

fn frames_are_those_of_the_sequence(folder: &Folder) {
    folder.done(&format!("{SEQUENCE} -o s{{frame}}.exr"));
    let whole: Vec<_> = (0..5).map(|n| folder.bytes(&format!("s{n}.exr"))).collect();
    assert!(whole.windows(2).all(|pair| pair[0] != pair[1]));
    let drawn = |name: &str, more: &str, frames: std::ops::Range<usize>| {
        folder.done(&format!("{SEQUENCE} -o {name}{{frame}}.exr {more}"));
        for (n, picture) in whole.iter().enumerate() {
            let file = format!("{name}{n}.exr");
            match frames.contains(&n) {
                true => assert!(folder.bytes(&file) == *picture, "{file}"),
                false => assert!(!folder.path(&file).exists(), "{file}"),
            }
        }
    };
    drawn("a", "--part 1/2", 0..2);
    drawn("b", "--part 2/2", 2..5);
    drawn("c", "--frames 3-4", 3..5);
    drawn("d", "--frames 1-4 --part 3/3", 3..5);

    // Existing files are kept. An empty placeholder does not count as a picture.
    std::fs::write(folder.path("s3.exr"), "mine").unwrap();
    std::fs::write(folder.path("s2.exr"), "").unwrap();
    std::fs::remove_file(folder.path("s1.exr")).unwrap();
    let again = |words: &str| {
        let output = folder.canopy(&format!("{SEQUENCE} -o s{{frame}}.exr --skip-existing"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && stderr.contains(words), "{stderr}");
    };
    again("2 pictures, s1.exr to s2.exr");
    assert_eq!(folder.bytes("s3.exr"), b"mine");
    assert!(folder.bytes("s1.exr") == whole[1] && folder.bytes("s2.exr") == whole[2]);
    again("nothing: all pictures are there");
}

fn runs_that_were_ended_go_on(folder: &Folder) {
    let line = "render scene.obj --size 18x12 --paths 600";
    folder.done(&format!("{line} -o long.exr"));
    let kept = format!("{line} --checkpoint keep.exr --checkpoint-every 0.001");
    let killed = format!("{kept} -o killed.exr");
    let mut process = canopy_in(folder.0.path(), &killed)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !folder.path("keep.exr").exists() && began.elapsed() < Duration::from_secs(100) {
        std::thread::sleep(Duration::from_millis(1));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(
        !folder.path("killed.exr").exists(),
        "it was killed before its end"
    );
    folder.done("merge keep.exr -o preview.exr --partial");
    folder.done(&killed);
    let long = folder.bytes("long.exr");
    assert!(folder.bytes("killed.exr") == long);
    assert!(!folder.path("keep.exr").exists());

    folder.done(&format!("{kept} -o limited.exr --time-limit 0.001"));
    let error = folder.refused(1, "merge keep.exr -o out.exr");
    assert!(error.contains("ended before"), "{error}");
    for (more, word) in [
        ("--eye 1,2,3", "another view"),
        ("--set sun.angle=20", "other settings"),
        ("--part 1/2", "other samples"),
    ] {
        let error = folder.refused(1, &format!("{kept} {more} -o out.exr"));
        assert!(
            error.contains("keep.exr: is of") && error.contains(word),
            "{error}"
        );
    }
    let output = folder.canopy(&format!("{kept} -o limited.exr --progress"));
    let told = String::from_utf8(output.stdout).unwrap();
    let first = told.lines().next().unwrap();
    assert!(first.starts_with("2/"), "it goes on from a sample: {first}");
    assert!(folder.bytes("limited.exr") == long);
    std::fs::write(folder.path("keep.exr"), &long[..long.len() / 2]).unwrap();
    let error = folder.refused(1, &format!("{kept} -o out.exr"));
    assert!(error.contains("keep.exr: is "), "{error}");
    std::fs::remove_file(folder.path("keep.exr")).unwrap();
}

/// A job template.
fn template(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/farm");
    folder.join(name)
}

/// Runs a program that finds canopy, as a scheduler would with these variables.
fn scheduled(folder: &Folder, program: &str, args: &[&str], variables: &[(&str, &str)]) {
    let canopy = Path::new(env!("CARGO_BIN_EXE_canopy")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(canopy.to_owned()).chain(std::env::split_paths(&path));
    let mut command = Command::new(program);
    command.args(args).envs(variables.iter().copied());
    command.env("PATH", std::env::join_paths(folders).unwrap());
    let output = folder.run(command);
    let told = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&told)
    );
}

fn is_installed(program: &str, args: &[&str]) -> bool {
    let command = Command::new(program).args(args).output();
    command.is_ok_and(|output| output.status.success())
}

fn templates_make_the_picture(folder: &Folder) {
    folder.done(&format!("{PICTURE} -o now.exr"));
    let whole = folder.bytes("now.exr");
    let of_samples = [
        ("SCENE", "scene.obj"),
        ("PATHS", "7"),
        ("OPTIONS", "--size 18x12"),
    ];

    // Slurm.
    let script = |name: &str, task: &str, tasks: &str, variables: &[(&str, &str)]| {
        let path = template(name);
        let array = [("SLURM_ARRAY_TASK_ID", task), ("SLURM_ARRAY_TASK_MAX", tasks)];
        let variables = [variables, &array].concat();
        scheduled(folder, "sh", &[path.to_str().unwrap()], &variables);
    };
    let variables = [&of_samples[..], &[("OUTPUT", "slurm")]].concat();
    for task in ["2", "1", "3"] {
        script("samples.slurm.sh", task, "3", &variables);
    }
    folder.done("merge slurm.part-1.exr slurm.part-2.exr slurm.part-3.exr -o slurm.exr");
    assert!(folder.bytes("slurm.exr") == whole);
    let variables = [
        ("SCENE", "scene.obj"),
        ("OUTPUT", "slurm-{frame:4}.exr"),
        ("FRAMES", "5"),
        ("PATHS", "2"),
        ("OPTIONS", "--size 18x12 --turntable 1 --fps 5"),
    ];
    for task in ["1", "2"] {
        script("frames.slurm.sh", task, "2", &variables);
    }
    for n in [0, 1, 2, 4] {
        let [a, b] = [format!("s{n}.exr"), format!("slurm-000{n}.exr")];
        assert!(folder.bytes(&a) == folder.bytes(&b), "{b}");
    }

    // Kubernetes: requirements of batch/v1 for an indexed job.
    if is_installed("python3", &["-c", "import yaml"]) {
        let path = template("samples.kubernetes.yaml");
        let read = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
        let json = Command::new("python3")
            .args(["-c", read])
            .arg(path)
            .output()
            .unwrap();
        let job: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        assert_eq!([&job["apiVersion"], &job["kind"]], ["batch/v1", "Job"]);
        assert!(job["metadata"]["name"].is_string());
        let spec = &job["spec"];
        assert_eq!(spec["completionMode"], "Indexed");
        let pod = &spec["template"]["spec"];
        assert!(
            ["OnFailure", "Never"]
                .map(Into::into)
                .contains(&pod["restartPolicy"])
        );
        let container = &pod["containers"][0];
        let variables = container["env"].as_array().unwrap();
        let of = |name: &str| &variables.iter().find(|v| v["name"] == name).unwrap()["value"];
        let parts = spec["completions"].as_u64().unwrap();
        assert_eq!(*of("PARTS"), parts.to_string());
        assert!(variables.iter().all(|variable| variable["value"].is_string()));
        let mounted = &container["volumeMounts"][0]["name"];
        assert_eq!(*mounted, pod["volumes"][0]["name"]);
        assert_eq!(container["command"], serde_json::json!(["sh", "-c"]));
        let script = container["args"][0].as_str().unwrap();
        for index in ["0", "1"] {
            let own = [("OUTPUT", "pod"), ("PARTS", "2"), ("JOB_COMPLETION_INDEX", index)];
            scheduled(folder, "sh", &["-c", script], &[&of_samples[..], &own].concat());
        }
        folder.done("merge pod.part-2.exr pod.part-1.exr -o pod.exr");
        assert!(folder.bytes("pod.exr") == whole);
    }

    // Open Job Description, checked by its own tool.
    if is_installed("openjd", &["--version"]) {
        let [samples, frames] = ["samples.openjd.yaml", "frames.openjd.yaml"].map(template);
        let [samples, frames] = [&samples, &frames].map(|path| path.to_str().unwrap());
        for path in [samples, frames] {
            scheduled(folder, "openjd", &["check", path], &[]);
        }
        let here = |name: &str| folder.path(name).to_str().unwrap().to_owned();
        let scene = format!("Scene={}", here("scene.obj"));
        let output = format!("Output={}", here("ojd"));
        let args = [
            "run",
            samples,
            "--step",
            "Merge",
            "--run-dependencies",
            "-p",
            &scene,
            "-p",
            &output,
            "-p",
            "Parts=2",
            "-p",
            "Paths=7",
            "-p",
            "Options=--size 18x12",
        ];
        scheduled(folder, "openjd", &args, &[]);
        assert!(folder.bytes("ojd.exr") == whole);
    }
}
