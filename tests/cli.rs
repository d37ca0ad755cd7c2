//! The program from the command line: exit codes, messages, and output files.

use crate::common::{by_lane, folder, gltf_builder, gpu, rounds_corners_coarsely};
use folder::{Folder, OBJ, canopy_in};
use gltf_builder::Builder;
use serde_json::json;
use std::{
    path::Path,
    process::{Command, Output},
};

impl Folder {
    /// Like [`Folder::run`], with `input` on standard input.
    fn run_with(&self, mut command: Command, input: &[u8]) -> Output {
        let path = self.0.path().join(".input");
        std::fs::write(&path, input).unwrap();
        command.stdin(std::fs::File::open(&path).unwrap());
        let output = command.output().unwrap();
        std::fs::remove_file(&path).unwrap();
        output
    }

    fn succeeds(&self, line: &str) -> String {
        let output = self.canopy(line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Asserts exit code 1 and a one-line message that contains `words`.
    fn fails(&self, line: &str, words: &[&str]) {
        self.fails_with(1, line, words);
    }

    fn fails_with(&self, code: i32, line: &str, words: &[&str]) {
        let output = self.canopy(line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
        assert!(stderr.starts_with("error: "), "{line}: {stderr}");
        assert!(!stderr.contains(".rs:"), "{line}: {stderr}");
        assert!(stderr.matches("os error").count() < 2, "{line}: {stderr}");
        assert_eq!(stderr.trim_end().lines().count(), 1, "{line}: {stderr}");
        for word in words {
            assert!(stderr.contains(word), "{line}: no \"{word}\" in {stderr}");
        }
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            // Drivers use this folder, and canopy stores pipelines in it.
            .filter(|name| name != ".cache")
            .collect();
        names.sort();
        names
    }
}

fn picture(path: &Path) -> image::DynamicImage {
    image::open(path).unwrap()
}

#[test]
fn help_and_version_succeed() {
    let folder = Folder::new();
    let help = folder.succeeds("--help");
    for command in [
        "view", "render", "bench", "export", "info", "adapters", "selftest",
    ] {
        assert!(help.contains(command), "{help}");
        assert!(folder.succeeds(&format!("{command} --help")).contains("--config"));
    }
    assert!(folder.succeeds("--version").starts_with("canopy "));
}

#[test]
fn shaders_are_listed_written_and_checked() {
    let folder = Folder::new();
    let listed = folder.succeeds("shaders shadow_rays --json");
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let shader = &listed[0];
    assert_eq!(shader["file"], "shadow/shadow_rays.wgsl");
    assert_eq!(shader["entry_points"][0]["stage"], "compute");
    let imports = shader["imports"].as_array().unwrap();
    assert!(imports.contains(&json!("bvh/bvh_rays.wgsl")), "{imports:?}");
    assert!(
        folder
            .succeeds("shaders tonemap")
            .starts_with("picture/tonemap.wgsl\n")
    );
    folder.fails("shaders nonsense", &["no shader", "nonsense"]);

    folder.succeeds("shaders --dump out shadow_rays sort_small");
    let read = |name: &str| std::fs::read(folder.path(&format!("out/{name}"))).unwrap();
    let text = String::from_utf8(read("shadow/shadow_rays.wgsl")).unwrap();
    assert!(text.contains("fn bvh_traverse(") && !text.contains("#import"));
    // The magic number of SPIR-V.
    let words = read("shadow/shadow_rays.shadow_rays.spv");
    assert_eq!(words[..4], 0x0723_0203_u32.to_le_bytes());

    folder.fails("shaders --check nowhere", &["nowhere"]);
    std::fs::create_dir_all(folder.path("mine/math")).unwrap();
    let basis = include_str!("../shaders/math/basis.wgsl");
    let edit = |text: &str| std::fs::write(folder.path("mine/math/basis.wgsl"), text).unwrap();
    edit(&format!("{basis}\nfn more() -> f32 {{ return 1.0; }}\n"));
    assert!(folder.succeeds("shaders --check mine").ends_with(" are valid\n"));
    edit(&format!("{basis}\nfn more() -> f32 {{ return nothing; }}\n"));
    let output = folder.canopy("shaders --check mine");
    assert_eq!(output.status.code(), Some(1));
    let line = basis.lines().count() + 2;
    let told = String::from_utf8(output.stdout).unwrap();
    let expected = format!("mine/math/basis.wgsl:{line}: ");
    assert!(told.starts_with(&expected), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");

    let mut command = canopy_in(folder.0.path(), "shaders --check mine");
    command.env("CANOPY_SHADERS", "out");
    let output = folder.run(command);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("CANOPY_SHADERS"), "{told}");
}

#[test]
fn wrong_usage_exits_with_code_2() {
    let folder = Folder::new();
    for line in [
        "--nonsense",
        "render scene.obj",
        "render scene.obj -o a.png --size 0x0",
        "render scene.obj -o a.png --frames 0",
        "render scene.obj -o a.png --samples 0",
        "render scene.obj -o a.png --samples 5000",
        "render scene.obj -o a.png --aov wood=a.exr",
        "render scene.obj -o a.png --transparent --background 0,0,0",
        "bake-env sky.hdr",
        "config shadows.modes",
    ] {
        assert_eq!(folder.canopy(line).status.code(), Some(2), "{line}");
    }
}

#[test]
fn failures_print_one_line_that_names_the_cause() {
    let folder = Folder::new();
    std::fs::write(folder.path("bad.toml"), "[shadows]\nmode = \"foo\"").unwrap();
    std::fs::write(folder.path("text.txt"), "no scene").unwrap();
    for (line, words) in [
        ("info missing.glb", &["missing.glb"][..]),
        ("info text.txt", &["text.txt", "glTF"]),
        ("info scene.obj --config none.toml", &["none.toml"]),
        (
            "info scene.obj --config bad.toml",
            &["bad.toml", "shadows.mode", "rays"],
        ),
        ("render scene.obj -o none/a.png", &["none"]),
        ("render scene.obj -o a.png --clip Run", &["clip", "Run"]),
        ("render scene.obj -o a.png --camera 3", &["camera", "3"]),
    ] {
        folder.fails(line, words);
    }
    assert_eq!(folder.names(), ["bad.toml", "scene.obj", "text.txt"]);
}

/// Errors come before the window opens, even without a display.
#[cfg(feature = "viewer")]
#[test]
fn invalid_key_bindings_are_reported_before_the_window_opens() {
    let folder = Folder::new();
    std::fs::write(folder.path("action.toml"), "[keys]\nnext_camra = \"F\"").unwrap();
    std::fs::write(folder.path("key.toml"), "[keys]\nframe = \"Ctlr+F\"").unwrap();
    let both = "[keys]\nframe = \"F9\"\nreset = \"F9\"";
    std::fs::write(folder.path("both.toml"), both).unwrap();
    for (name, words) in [
        ("action", ["keys.next_camra", "next_camera?"]),
        ("key", ["keys.frame", "\"Ctlr\""]),
        ("both", ["keys.reset", "frame"]),
    ] {
        let file = format!("{name}.toml");
        for command in ["scene.obj", "info scene.obj", "render -o a.png", "config"] {
            let line = format!("{command} --config {file}");
            folder.fails(&line, &[&file, words[0], words[1]]);
        }
    }
    let words = ["--set", "keys.frame", "Space"];
    for command in ["scene.obj", "info scene.obj", "adapters"] {
        folder.fails_with(2, &format!("{command} --set keys.frame=Spaec"), &words);
    }
}

#[test]
fn impossible_outputs_are_wrong_usage() {
    let folder = Folder::new();
    for (line, words) in [
        (
            "render scene.obj -o a.gif",
            &["a.gif", ".png, .jpg, .jpeg, .exr, .mp4 or .webm"][..],
        ),
        (
            "render scene.obj -o a.jpg --transparent",
            &["a.jpg", "transparency"],
        ),
        ("render scene.obj -o - --frames 2", &["-o -", "--frames"]),
        (
            "info scene.obj --set shadows.modes=map",
            &["--set", "shadows.modes", "shadows.mode?"],
        ),
        ("info scene.obj --set shadows", &["--set", "KEY=VALUE"]),
        (
            "info scene.obj --set tree.leaf_cutoff=99",
            &["tree.leaf_cutoff", "1 to 32"],
        ),
        (
            "info scene.obj --set shadows.map_resolution=big",
            &["expected a whole number from 64 to 8192, got \"big\""],
        ),
        // Channels that these settings do not compute are never white.
        (
            "render scene.obj -o a.png --aov ambient=b.png --occlusion off",
            &["ambient", "--occlusion rays"],
        ),
        (
            "render scene.obj -o a.png --aov shadow=b.png --shadows off",
            &["shadow", "--shadows rays"],
        ),
        (
            "render scene.obj -o a.png --aov cost=b.png --shadows map",
            &["cost", "--shadows rays"],
        ),
        ("render scene.obj -o a.png --frames 2", &["--frames 2", "{frame}"]),
        (
            "render scene.obj -o a.png --aov normal=a.png",
            &["a.png", "two outputs"],
        ),
        (
            "render scene.obj -o a.png --aov normal=../{here}/./a.png",
            &["a.png", "two outputs"],
        ),
        (
            "render scene.obj -o a{frame}.png --frames 1001 --aov normal=a{frame:4}.png",
            &["a0000.png", "two outputs"],
        ),
        (
            "render scene.obj -o a.json --format png --stats ./a.json",
            &["a.json", "two outputs"],
        ),
        ("render scene.obj -o a.png --stats a.txt", &["a.txt", ".json"]),
        ("export scene.obj -o a.stl", &["a.stl", ".obj"]),
    ] {
        let here = folder.0.path().file_name().unwrap().to_string_lossy();
        folder.fails_with(2, &line.replace("{here}", &here), words);
    }
    assert_eq!(folder.names(), ["scene.obj"]);
}

#[test]
fn unknown_adapters_and_backends_list_the_available_ones() {
    let folder = Folder::new();
    folder.fails(
        "render scene.obj -o a.png --adapter Voodoo2",
        &["Voodoo2", "found:"],
    );
    folder.fails("render scene.obj -o a.png --backend glide", &["glide", "vulkan"]);
    assert!(!folder.path("a.png").exists());
}

#[test]
fn canopy_toml_is_read_and_set_overrides_it() {
    let folder = Folder::new();
    std::fs::write(folder.path("canopy.toml"), "[load]\nmax_triangles = 1").unwrap();
    folder.fails("info scene.obj", &["load.max_triangles"]);
    folder.succeeds("info scene.obj --set load.max_triangles=100");
}

#[test]
fn a_scene_of_points_and_lines_is_counted_and_framed() {
    let folder = Folder::new();
    let text = "v 7 0 0\nv 9 0 0\nv 9 2 0\nv 8 1 1\nl 1 2 3\np 4\n";
    std::fs::write(folder.path("thin.obj"), text).unwrap();
    let info: serde_json::Value = serde_json::from_str(&folder.succeeds("info thin.obj --json")).unwrap();
    assert_eq!([&info["triangles"], &info["lines"], &info["points"]], [0, 2, 1]);
    assert_eq!(info["bounds"]["max"], serde_json::json!([9.0, 2.0, 1.0]));
    assert_eq!(info["warnings"].as_array().map(Vec::len), Some(1), "{info}");
    folder.succeeds(
        "render thin.obj -o a.png --size 34x34 --aov depth=a.exr --stats s.json \
         --set environment.background=color",
    );
    let picture = picture(&folder.path("a.png")).into_rgb8();
    let first = *picture.get_pixel(0, 0);
    let seen = picture.enumerate_pixels().filter(|(.., pixel)| **pixel != first);
    let rows: std::collections::BTreeSet<u32> = seen.map(|(_, y, _)| y).collect();
    assert!(rows.len() > 20, "{rows:?}");
    let stats = std::fs::read_to_string(folder.path("s.json")).unwrap();
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(
        [&stats["triangles"], &stats["lines"], &stats["points"]],
        [0, 2, 1]
    );
    // Only triangles are exported.
    folder.succeeds("export thin.obj -o out.obj");
    let out = std::fs::read_to_string(folder.path("out.obj")).unwrap();
    assert!(!out.contains("\nv ") && !out.contains("\nf "), "{out}");
}

#[test]
fn a_scene_without_triangles_is_an_empty_picture() {
    let folder = Folder::new();
    std::fs::write(folder.path("normals.obj"), "vn 0 0 1\n").unwrap();
    std::fs::write(folder.path("none.gltf"), r#"{"asset":{"version":"2.0"}}"#).unwrap();
    for file in ["normals.obj", "none.gltf"] {
        let text = folder.succeeds(&format!("info {file}"));
        assert!(text.contains("no triangles") && !text.contains("NaN"), "{text}");
        for shadows in ["rays", "map"] {
            folder.succeeds(&format!(
                "render {file} -o a.png --size 10x10 --shadows {shadows} --aov depth=a.exr \
                 --set environment.background=color"
            ));
            let picture = picture(&folder.path("a.png")).into_rgb8();
            let first = *picture.get_pixel(0, 0);
            assert!(picture.pixels().all(|pixel| *pixel == first), "{file}");
        }
        folder.succeeds(&format!("export {file} -o b.obj"));
        folder.succeeds("info b.obj");
        folder.succeeds(&format!("bench frame {file} --size 10x10 --json"));
    }
}

#[test]
fn info_lists_the_contents_of_files() {
    let folder = Folder::new();
    let json: serde_json::Value = serde_json::from_str(&folder.succeeds("info scene.obj --json")).unwrap();
    assert_eq!(json["triangles"], 3);
    assert_eq!(json["bounds"]["max"], serde_json::json!([1.0, 0.5, 1.0]));
    assert_eq!(json["sources"][0]["format"], "OBJ");
    assert_eq!(json["list"]["meshes"][0]["vertices"], 4);
    assert_eq!(json["tree"][1]["name"], "high");
    let text = folder.succeeds("info scene.obj");
    for part in [
        "scene.obj: OBJ, 115 bytes",
        "2 × 0.5 × 2 m",
        "bounds",
        "triangles                 3",
        "0 low quad, mesh 0",
        "high, 1 triangle, 3 vertices",
    ] {
        assert!(text.contains(part), "no \"{part}\" in {text}");
    }
}

#[test]
fn info_without_a_file_describes_the_built_in_scene() {
    let folder = Folder::new();
    let text = folder.succeeds("info");
    for part in [
        "the built-in scene: glTF 2.0 (binary)",
        "made by canopy",
        "MiB in memory",
        "--all lists them",
    ] {
        assert!(text.contains(part), "no \"{part}\" in {text}");
    }
    assert!(!folder.succeeds("info --all").contains("--all lists them"));
}

#[test]
fn mistyped_commands_are_suggested() {
    let folder = Folder::new();
    for (line, hint) in [
        ("rendr scene.obj -o a.png", "did you mean `render`?"),
        ("help rendr", "did you mean `render`?"),
        ("help teapot", "unknown command `teapot`"),
    ] {
        let output = folder.canopy(line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(hint), "{stderr}");
    }
    assert!(folder.succeeds("help render").contains("--transparent"));
    // An existing file is opened, whatever its name. Without a display, that fails differently.
    std::fs::write(folder.path("rendr"), OBJ).unwrap();
    assert_ne!(folder.canopy("rendr").status.code(), Some(2));
}

#[test]
fn settings_are_listed_with_their_origins() {
    let folder = Folder::new();
    assert!(folder.succeeds("config").contains("canopy.toml (not there)"));
    std::fs::write(folder.path("canopy.toml"), "[image]\ntonemap = \"aces\"").unwrap();
    let text = folder.succeeds("config --set camera.fov=30 --adapter x");
    for part in [
        "config.toml (read)",
        "canopy.toml (read)",
        "# canopy.toml",
        "# --set",
        "# --adapter",
        "# default",
        "[shadows]",
    ] {
        assert!(text.contains(part), "no \"{part}\" in {text}");
    }
    let text = folder.succeeds("config image.tonemap");
    for part in [
        "Khronos PBR Neutral",
        "default  \"neutral\"",
        "from     canopy.toml",
    ] {
        assert!(text.contains(part), "no \"{part}\" in {text}");
    }
    let json = folder.succeeds("config camera --json --set camera.fov=30");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["camera.fov"]["value"], 30.0);
    assert_eq!(json["camera.fov"]["from"], "--set");
    assert_eq!(json["camera.speed"]["from"], "default");
    let keys = "--set keys.frame=F9 --set keys.panel=";
    for line in ["config", "config keys"] {
        let text = folder.succeeds(&format!("{line} {keys}"));
        for part in ["[keys]\n", "frame = \"F9\"", "panel = \"\""] {
            assert!(text.contains(part), "no \"{part}\" in {text}");
        }
    }
    assert!(folder.succeeds("config keys").contains("None are set"));
    assert_eq!(folder.succeeds("config keys --json").trim(), "{}");
    let text = folder.succeeds("config keys.frame --set keys.frame=F9");
    for part in [
        "keys.frame = \"F9\"",
        "action `frame`",
        "with the viewer checks",
        "from     --set",
    ] {
        assert!(text.contains(part), "no \"{part}\" in {text}");
    }
    assert!(
        folder
            .succeeds("config keys.frame")
            .contains("keys.frame is not set")
    );
    let json = folder.succeeds(&format!("config --json {keys}"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["settings"]["keys.frame"]["value"], "F9");
    folder.fails_with(2, "config tonemap", &["did you mean image.tonemap?"]);
    // An error in the file is not a usage error.
    std::fs::write(folder.path("canopy.toml"), "[image]\ntonemap = 3").unwrap();
    folder.fails("config", &["canopy.toml", "expected none, reinhard, aces"]);
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.succeeds(&format!("completions {shell}"));
        assert!(
            script.contains("bake-env") && script.contains("transparent"),
            "{shell}"
        );
    }
    // Settings complete for `--set` and for `config`. The others take no words of an option.
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.succeeds(&format!("completions {shell}"));
        for words in ["shadows.map_resolution=", "load.max_voxels"] {
            assert!(script.contains(words), "{shell}: {words}");
        }
    }
    assert!(folder.succeeds("man").contains(".TH CANOPY 1"));
    folder.succeeds("man -o pages/man1");
    for (name, part) in [("canopy", "bake"), ("canopy-render", "transparent")] {
        let page = std::fs::read_to_string(folder.path(&format!("pages/man1/{name}.1"))).unwrap();
        assert!(page.starts_with(".") && page.contains(part), "{name}: {page}");
    }
    // Every man page that is referenced exists.
    let page = std::fs::read_to_string(folder.path("pages/man1/canopy.1")).unwrap();
    let named = page.lines().filter_map(|line| line.strip_suffix("(1)"));
    let named: Vec<_> = named.map(|name| name.replace('\\', "")).collect();
    assert!(named.len() > 8, "{named:?}");
    for name in named {
        assert!(folder.path(&format!("pages/man1/{name}.1")).exists(), "{name}");
    }
}

#[test]
fn scenes_are_read_from_stdin_and_pictures_written_to_stdout() {
    let folder = Folder::new();
    let run = |line: &str, input: &[u8]| folder.run_with(canopy_in(folder.0.path(), line), input);
    let glb = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/builtin.glb")).unwrap();
    for (input, format) in [(OBJ.as_bytes(), "OBJ"), (&glb, "glTF 2.0 (binary)")] {
        let info = String::from_utf8(run("info -", input).stdout).unwrap();
        assert!(info.starts_with(&format!("standard input: {format}, ")), "{info}");
    }
    let tiny = "--size 18x18 --shadows off --occlusion off --set environment.source=color";
    let output = run(&format!("render - -o - -q {tiny}"), OBJ.as_bytes());
    assert!(output.stderr.is_empty(), "{:?}", output.stderr);
    let picture = image::load_from_memory_with_format(&output.stdout, image::ImageFormat::Png);
    assert_eq!(picture.unwrap().into_rgba8().dimensions(), (18, 18));
    let output = run(&format!("render - -o - --format jpg {tiny}"), OBJ.as_bytes());
    let picture = image::load_from_memory_with_format(&output.stdout, image::ImageFormat::Jpeg);
    assert_eq!(picture.unwrap().into_rgb8().dimensions(), (18, 18));
    for (line, input, part) in [
        ("info -", &b"neither"[..], "standard input: is not a scene file"),
        (
            "info - --set load.max_file_bytes=20",
            OBJ.as_bytes(),
            "load.max_file_bytes",
        ),
    ] {
        let output = run(line, input);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    }
    assert_eq!(folder.names(), ["scene.obj"]);
}

#[test]
fn transparent_pictures_keep_their_colours_at_edges() {
    let folder = Folder::new();
    let line = "--size 34x24 --shadows off --occlusion off --transparent --sun 0,-1,0 --eye 0,4,0.01 \
                --target 0,0,0 --fov 40";
    for (name, samples) in [("smaa.png", 1), ("mean.png", 8)] {
        folder.succeeds(&format!("render scene.obj -o {name} {line} --samples {samples}"));
        let picture = picture(&folder.path(name)).into_rgba8();
        let inside = picture.get_pixel(16, 16).0;
        assert_eq!(picture.get_pixel(0, 0).0, [0; 4], "{name}");
        assert_eq!(inside[3], 255, "{name}");
        let edges = picture.pixels().filter(|pixel| (30..250).contains(&pixel.0[3]));
        let edges: Vec<_> = edges.collect();
        assert!(edges.len() > 3, "{name}: no edge is smooth");
        for pixel in edges {
            let near = pixel.0[..3].iter().zip(&inside);
            assert!(
                near.clone().all(|(a, b)| a.abs_diff(*b) < 24),
                "{name}: {pixel:?} {inside:?}"
            );
        }
    }
    folder.succeeds(&format!("render scene.obj -o mean.exr {line} --samples 8"));
    let floats = picture(&folder.path("mean.exr")).into_rgba32f();
    assert_eq!(floats.get_pixel(0, 0).0, [0.0; 4]);
    let inside = floats.get_pixel(16, 16).0;
    let edges = floats.pixels().filter(|pixel| (0.1..0.9).contains(&pixel.0[3]));
    let edges: Vec<_> = edges.collect();
    assert!(edges.len() > 3);
    for pixel in edges {
        // Colours are premultiplied.
        let own = pixel.0[1] / pixel.0[3];
        assert!((own / inside[1] - 1.0).abs() < 0.2, "{pixel:?} {inside:?}");
    }
}

#[test]
fn background_and_exposure_are_set_on_the_command_line() {
    let folder = Folder::new();
    let tiny = "--size 18x18 --shadows off --occlusion off --sun 0,-1,0";
    let draw = |more: &str| {
        folder.succeeds(&format!("render scene.obj -o a.png {tiny} --env sky {more}"));
        let picture = picture(&folder.path("a.png")).into_rgba8();
        let sum = |pixel: &image::Rgba<u8>| pixel.0[..3].iter().map(|&c| u32::from(c)).sum::<u32>();
        (picture.get_pixel(0, 0).0, picture.pixels().map(sum).sum::<u32>())
    };
    assert_eq!(draw("--background #ff8000").0, [255, 128, 0, 255]);
    assert_eq!(draw("--background 1,0,0").0, [255, 0, 0, 255]);
    let dark = draw("--background environment --exposure -6").1;
    let bright = draw("--exposure 2").1;
    assert!(2 * dark < bright, "{dark} {bright}");
}

/// Boxes of the BVHs are drawn into 8-bit pictures but not into float pictures. The cost channel uses the
/// settings' weights.
#[test]
fn tree_boxes_and_ray_costs_are_drawn() {
    let folder = Folder::new();
    let draw = |name: &str, options: &str| {
        let view = "--size 66x48 --eye 2.5,3,3.5 --target 0,0.2,0 --sun -0.4,-1,-0.3";
        folder.succeeds(&format!("render scene.obj -o {name} {view} {options}"));
        picture(&folder.path(name)).into_rgba32f()
    };
    let plain = draw("plain.png", "");
    let boxes = draw("boxes.png", "--tree-boxes leaves");
    assert_ne!(plain, boxes);
    assert_ne!(boxes, draw("top.png", "--tree-boxes 0 --set tree_boxes.hidden=1"));
    let floats = draw("plain.exr", "");
    assert_eq!(floats, draw("boxes.exr", "--tree-boxes leaves"));
    let cost = |name: &str, options: &str| {
        draw("unused.png", &format!("--aov cost={name} {options}"));
        picture(&folder.path(name)).into_rgba8()
    };
    let both = cost("both.png", "--set cost.range=8");
    assert_ne!(
        both,
        cost("triangles.png", "--set cost.range=8 --set cost.count=triangles")
    );
    assert_ne!(both, cost("auto.png", "--set cost.range=0"));
    folder.fails_with(
        2,
        "render scene.obj -o a.png --set cost.count=rays",
        &["cost.count", "both, nodes or triangles"],
    );
    folder.fails_with(
        2,
        "render scene.obj -o a.png --set tree_boxes.show=4-2",
        &["tree_boxes.show", "\"0-4\""],
    );
}

#[test]
fn auto_occlusion_is_the_same_on_every_adapter() {
    let folder = Folder::new();
    let draw = |name: &str, more: &str| {
        let line = "--size 18x18 --shadows off --set environment.source=color";
        folder.succeeds(&format!("render scene.obj -o {name}.png {line} {more}"));
        std::fs::read(folder.path(&format!("{name}.png"))).unwrap()
    };
    let auto = draw("auto", "--occlusion auto --aov ambient=ambient.exr");
    assert!(auto == draw("rays", "--occlusion rays"));
    assert!(auto != draw("off", "--occlusion off"));
    let ambient = picture(&folder.path("ambient.exr")).into_rgba32f();
    assert!(ambient.pixels().any(|p| p.0[3] == 1.0 && p.0[0] < 0.99));
}

#[test]
fn a_shadow_channel_without_lights_is_an_error() {
    let folder = Folder::new();
    let line = "render scene.obj -o a.png --size 18x18 --aov shadow=s.exr --set sun.enabled=off \
                --set environment.source=color";
    folder.fails(line, &["shadow", "--sun"]);
    assert_eq!(folder.names(), ["scene.obj"]);
}

/// If a clip hides the light, its shadow channel continues unshadowed.
#[test]
fn a_shadow_channel_outlives_its_light() {
    let folder = Folder::new();
    let mut scene: serde_json::Value = serde_json::from_str(&painted()).unwrap();
    let add = |scene: &mut serde_json::Value, list: &str, item: serde_json::Value| {
        let list = scene[list].as_array_mut().unwrap();
        list.push(item);
        list.len() - 1
    };
    // Times 0, 0.5 and 1, then visible once and hidden twice.
    let uri = "data:application/octet-stream;base64,AAAAAAAAAD8AAIA/AQAA";
    let buffer = add(
        &mut scene,
        "buffers",
        serde_json::json!({ "byteLength": 15, "uri": uri }),
    );
    let view = serde_json::json!({ "buffer": buffer, "byteLength": 15 });
    let view = add(&mut scene, "bufferViews", view);
    let times = serde_json::json!({ "bufferView": view, "componentType": 5126, "count": 3,
        "type": "SCALAR", "min": [0.0], "max": [1.0] });
    let times = add(&mut scene, "accessors", times);
    let states = serde_json::json!({ "bufferView": view, "byteOffset": 12, "componentType": 5121,
        "count": 3, "type": "SCALAR" });
    let states = add(&mut scene, "accessors", states);
    scene["extensions"]["KHR_lights_punctual"] = serde_json::json!({ "lights": [{ "type": "directional" }] });
    let light = serde_json::json!({ "extensions": {
        "KHR_lights_punctual": { "light": 0 }, "KHR_node_visibility": { "visible": true } } });
    let light = add(&mut scene, "nodes", light);
    let pointer = format!("/nodes/{light}/extensions/KHR_node_visibility/visible");
    scene["animations"] = serde_json::json!([{
        "samplers": [{ "input": times, "output": states, "interpolation": "STEP" }],
        "channels": [{ "sampler": 0, "target": { "path": "pointer",
            "extensions": { "KHR_animation_pointer": { "pointer": pointer } } } }],
    }]);
    std::fs::write(folder.path("a.gltf"), scene.to_string()).unwrap();
    folder.succeeds(
        "render a.gltf -o a{frame}.png --aov shadow=s{frame}.png --size 18x18 --frames 2 --fps 2 \
         --occlusion off --set sun.enabled=off --set environment.source=color --clip 0 --stats a.json",
    );
    let stats = std::fs::read_to_string(folder.path("a.json")).unwrap();
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(stats["lights"], 0, "the clip hides the light");
    assert!(folder.path("s1.png").exists());
}

#[test]
fn stats_cover_every_frame_of_a_sequence() {
    let folder = Folder::new();
    folder.succeeds(
        "render scene.obj -o f{frame}.png --size 18x18 --frames 3 --fps 2 --samples 2 --stats s.json --env sky",
    );
    let stats = std::fs::read(folder.path("s.json")).unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&stats).unwrap();
    let frames = stats["frames"].as_array().unwrap();
    let numbers: Vec<_> = frames.iter().map(|f| f["frame"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [0, 1, 2]);
    assert_eq!(frames[2]["time_secs"], 1.0);
    assert!(frames.iter().all(|f| f["wall_ms"].as_f64().unwrap() > 0.0));
    assert_eq!(stats["pictures"]["draws"], 6);
    let passes = stats["passes"].as_array().unwrap();
    let pass = |name: &str| passes.iter().find(|p| p["name"] == name).unwrap();
    for key in ["min", "median", "p95", "max", "gpu_ms"] {
        assert!(pass("gbuffer")[key].as_f64().unwrap() >= 0.0, "{key}");
    }
    assert_eq!(pass("gbuffer")["draws"], 6);
    // The statistics include passes that only the first frame runs.
    assert_eq!(pass("sky")["draws"], 1);
}

#[test]
fn the_last_line_names_the_written_files() {
    let folder = Folder::new();
    let line = "render scene.obj -o a.png --size 18x18 --shadows off --occlusion off";
    let stderr = |more: &str| {
        let output = folder.canopy(&format!("{line} {more}"));
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let last = stderr("");
    assert!(last.starts_with("wrote a.png (18 × 18 pixels, "), "{last}");
    assert_eq!(last.lines().count(), 1, "{last}");
    assert_eq!(stderr("-q"), "");
    let stages = stderr("-v");
    let begins = |stage: &str| stages.lines().any(|line| line.starts_with(stage));
    for stage in [
        "open ", "load ", "upload ", "compile ", "draw ", "write ", "wrote ",
    ] {
        assert!(begins(stage), "no {stage}in {stages}");
    }
    let all = stderr("-vvv");
    for foreign in ["wgpu", "naga", "\r"] {
        assert!(!all.contains(foreign), "{foreign}");
    }
    let output = folder.canopy("export scene.obj -o b.obj");
    let last = String::from_utf8(output.stderr).unwrap();
    assert!(last.starts_with("wrote b.obj (3 triangles, "), "{last}");
}

#[cfg(unix)]
#[test]
fn symbolic_links_out_of_the_folder_need_load_follow_links() {
    let folder = Folder::new();
    let mut scene: serde_json::Value = serde_json::from_str(&painted()).unwrap();
    let uri = scene["buffers"][0]["uri"].as_str().unwrap().to_owned();
    let bytes = {
        use base64::Engine as _;
        let data = uri.split_once(',').unwrap().1;
        base64::engine::general_purpose::STANDARD.decode(data).unwrap()
    };
    std::fs::write(folder.path("outside.bin"), bytes).unwrap();
    std::fs::create_dir(folder.path("in")).unwrap();
    std::os::unix::fs::symlink("../outside.bin", folder.path("in/link.bin")).unwrap();
    scene["buffers"][0]["uri"] = "link.bin".into();
    std::fs::write(folder.path("in/a.gltf"), scene.to_string()).unwrap();
    folder.fails("info in/a.gltf", &["link.bin", "load.follow_links"]);
    folder.succeeds("info in/a.gltf --set load.follow_links=true");
}

#[test]
fn adapters_are_listed() {
    let folder = Folder::new();
    let json: serde_json::Value = serde_json::from_str(&folder.succeeds("adapters --json")).unwrap();
    for adapter in json.as_array().unwrap() {
        assert!(adapter["name"].is_string() && adapter["usable"].is_boolean());
    }
}

/// On the adapter at hand, canopy's results are correct.
#[test]
fn the_selftest_passes_and_reports() {
    let folder = Folder::new();
    // The quick lane tests the chosen implementation; the long lane compares the trees of all
    // implementations.
    let (option, checked) = by_lane(("--chosen ", "chosen"), ("", "bit for bit"));
    let lines = folder.succeeds(&format!("selftest {option}-o report.txt"));
    for check in ["hierarchy", "rays, shared edges", checked, "lighting", "tonemap"] {
        assert!(lines.contains(check), "{check}: {lines}");
    }
    assert!(
        !lines.contains("FAILED") && lines.contains("checks hold"),
        "{lines}"
    );
    let report = std::fs::read_to_string(folder.path("report.txt")).unwrap();
    assert!(report.starts_with("canopy ") && report.contains("max_storage_buffer_binding_size"));
    assert!(
        lines
            .lines()
            .filter(|line| line.starts_with("ok"))
            .all(|line| report.contains(line))
    );
    folder.fails("selftest -o nowhere/report.txt", &["nowhere"]);
}

#[test]
fn view_without_a_display_suggests_render() {
    if cfg!(target_os = "linux") {
        Folder::new().fails("view scene.obj", &["canopy render"]);
    }
}

#[test]
fn render_writes_pictures_floats_and_figures() {
    let folder = Folder::new();
    let line = "render scene.obj -o lit.png --size 66x48 --sun 0,-1,0 --eye 0,4,0.01 --target 0,0,0 \
                --fov 40 --ground grid --stats s.json";
    let aovs = "--aov position=p.exr,normal=n.png --aov depth=d.exr --aov shadow=s.exr,mesh=m.exr,cost=c.png";
    folder.succeeds(&format!("{line} {aovs}"));
    let lit = picture(&folder.path("lit.png")).into_rgba8();
    assert_eq!(lit.dimensions(), (66, 48));
    let luma = |x, y| {
        lit.get_pixel(x, y).0[..3]
            .iter()
            .map(|c| u32::from(*c))
            .sum::<u32>()
    };
    assert_ne!(luma(0, 0), luma(33, 24), "the scene differs from the background");

    let float = |name: &str| picture(&folder.path(name)).into_rgba32f();
    let position = float("p.exr");
    let at = position.get_pixel(33, 24).0;
    assert!((at[1] - 0.5).abs() < 1e-4 && at[3] == 1.0, "{at:?}");
    assert!(position.get_pixel(0, 0).0[0].is_nan());
    assert!((float("d.exr").get_pixel(33, 24).0[0] - 3.5).abs() < 1e-2);
    assert_eq!(float("m.exr").get_pixel(33, 24).0[0], 1.0);
    // Straight above the upper triangle, it is lit, and only the lower quad's rim occludes its shadow rays.
    assert_eq!(float("s.exr").get_pixel(33, 24).0[0], 1.0);
    let up = picture(&folder.path("n.png")).into_rgba8().get_pixel(33, 24).0;
    assert!((127..=128).contains(&up[0]) && up[1] >= 254, "{up:?}");

    let stats = std::fs::read(folder.path("s.json")).unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&stats).unwrap();
    assert_eq!(stats["triangles"], 3);
    assert_eq!(stats["meshes"], 2);
    assert_eq!(stats["ground"]["grid_spacing"], 1.0);
    assert!((-0.01..0.0).contains(&stats["ground"]["height"].as_f64().unwrap()));
    assert_eq!(stats["tree_work"], "rebuild");
    assert_eq!(stats["tree_growth"], 1.0);
    assert!(stats["adapter"]["name"].is_string());
    assert!(!folder.names().iter().any(|name| name.contains("part")));
}

/// A picture records how it was made, and is reproduced bit by bit from this record. It does not record
/// where.
#[test]
fn pictures_are_reproduced_exactly_from_their_metadata() {
    let folder = Folder::new();
    let line = "render scene.obj --size 48x34 --samples 2 --sun -0.5,-1,-0.2 --eye 2.1,1.7,3.3 --set image.tonemap=aces";
    for name in ["a.png", "a.jpg", "a.exr"] {
        folder.succeeds(&format!("{line} -o {name}"));
        let again = format!("again-{name}");
        folder.succeeds(&format!("render --from {name} -o {again}"));
        let [first, second] = [name, &again].map(|name| std::fs::read(folder.path(name)).unwrap());
        assert!(first == second, "{name} is another picture");
        let text = String::from_utf8_lossy(&first).into_owned();
        assert!(text.contains("\"name\":\"scene.obj\""), "{name}");
        assert!(
            !text.contains(folder.0.path().to_str().unwrap()),
            "{name} tells its folder"
        );
    }
    // A picture with a bare name refers to folders below its own.
    std::fs::create_dir(folder.path("scenes")).unwrap();
    std::fs::copy(folder.path("scene.obj"), folder.path("scenes/other.obj")).unwrap();
    folder.succeeds("render scenes/other.obj -o below.png --size 24x18");
    folder.succeeds("render --from below.png -o again-below.png");
    let [first, second] = ["below.png", "again-below.png"].map(|name| picture(&folder.path(name)));
    assert_eq!(first, second);
    // Command-line options override the picture's settings, which override a look.
    folder.succeeds("render --from a.png -o b.png --look Fast --set shadows.mode=off --size 24x18");
    let text = String::from_utf8_lossy(&std::fs::read(folder.path("b.png")).unwrap()).into_owned();
    for told in [
        "\"shadows.mode\":\"off\"",
        "\"occlusion.mode\":\"off\"",
        "\"image.tonemap\":\"aces\"",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert_eq!(picture(&folder.path("b.png")).width(), 24);
    assert_ne!(
        picture(&folder.path("a.png")),
        picture(&folder.path("again-a.jpg"))
    );
    // Scene edits are recorded, and so are hidden nodes.
    let edits = r#"{"format": 1, "materials": [{"index": 0, "name": "", "values": {"base_color": [0.9, 0.1, 0.2, 1]}}],
        "added_lights": [{"name": "lamp", "kind": "point", "values": {"intensity": 40}, "matrix":
        [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0.5, 1.5, 2.5, 1]}]"#;
    let hidden = r#", "hidden": [{"node": 0, "name": "low quad"}]}"#;
    std::fs::write(folder.path("edits.json"), format!("{edits}}}")).unwrap();
    std::fs::write(folder.path("hidden.json"), format!("{edits}{hidden}")).unwrap();
    std::fs::write(folder.path("broken.json"), edits.replace("0.9", "-0.9") + "}").unwrap();
    let line = "render scene.obj --size 24x18 --sun -0.5,-1,-0.2 --eye 2.1,1.7,3.3";
    folder.succeeds(&format!("{line} -o unedited.png"));
    let mut before = picture(&folder.path("unedited.png"));
    for name in ["edits", "hidden"] {
        folder.succeeds(&format!("{line} --edits {name}.json -o {name}.png"));
        folder.succeeds(&format!("render --from {name}.png -o again-{name}.png"));
        let files = [name.to_owned(), format!("again-{name}")];
        let [first, second] = files.map(|name| std::fs::read(folder.path(&format!("{name}.png"))).unwrap());
        assert!(first == second, "{name} is another picture");
        let now = picture(&folder.path(&format!("{name}.png")));
        assert_ne!(now, before);
        before = now;
    }
    folder.succeeds("render scene.obj -o plain.png --size 10x10 --set output.metadata=false");
    std::fs::create_dir(folder.path("sent")).unwrap();
    std::fs::copy(folder.path("a.png"), folder.path("sent/a.png")).unwrap();
    for (line, words) in [
        (
            "render --from plain.png -o c.png",
            &["plain.png", "without canopy settings"][..],
        ),
        (
            "render --from sent/a.png -o c.png",
            &["sent/a.png", "scene.obj", "missing"],
        ),
        (
            "render --from scene.obj -o c.png",
            &["scene.obj", "without canopy settings"],
        ),
        ("render --from no.png -o c.png", &["no.png"]),
        (
            "render scene.obj --edits broken.json -o c.png",
            &["broken.json", "materials[0]: base_color must be"],
        ),
        ("render scene.obj --edits no.json -o c.png", &["no.json"]),
        (
            "render scene.obj --edits scene.obj -o c.png",
            &["scene.obj", "is not a file of edits"],
        ),
        ("view --edits broken.json", &["broken.json"]),
        ("view plain.png", &["plain.png", "without canopy settings"]),
        (
            "render scene.obj -o c.png --look teapot",
            &["teapot", "Fast, Misty morning, Outdoors, Quality, Studio"],
        ),
    ] {
        folder.fails(line, words);
    }
    // Names in a picture are resolved like those in a scene.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../scene.obj", folder.path("sent/scene.obj")).unwrap();
        let line = "render --from sent/a.png -o linked.png";
        folder.fails(line, &["sent/a.png", "scene.obj", "load.follow_links"]);
        folder.succeeds(&format!("{line} --set load.follow_links=true"));
        std::fs::remove_file(folder.path("sent/scene.obj")).unwrap();
    }
    folder.succeeds("render scene.obj --from sent/a.png -o sent/b.png");
    let [first, second] = ["a.png", "sent/b.png"].map(|name| picture(&folder.path(name)));
    assert_eq!(first, second);
    // An option overrides the picture's own environment, which no longer exists.
    for name in ["old.hdr", "new.hdr"] {
        std::fs::write(folder.path(name), hdr(|_| [128, 64, 32, 129])).unwrap();
    }
    folder.succeeds("render scene.obj --env old.hdr --size 10x10 -o lit.png");
    std::fs::remove_file(folder.path("old.hdr")).unwrap();
    folder.fails(
        "render --from lit.png -o c.png",
        &["lit.png", "old.hdr", "missing"],
    );
    std::fs::write(folder.path("own.toml"), "[environment]\nfile = \"new.hdr\"\n").unwrap();
    for option in [
        "--env new.hdr",
        "--set environment.file=new.hdr",
        "--config own.toml",
    ] {
        folder.succeeds(&format!("render --from lit.png {option} -o relit.png"));
        let [first, second] = ["lit.png", "relit.png"].map(|name| picture(&folder.path(name)));
        assert_eq!(first, second, "{option}");
    }
}

/// A home directory that is not a folder has no settings, and nothing is stored in it.
#[test]
fn render_works_with_an_unusable_home_folder() {
    let folder = Folder::new();
    let locked = folder.path("locked");
    std::fs::create_dir(&locked).unwrap();
    let mut permissions = std::fs::metadata(&locked).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&locked, permissions).unwrap();
    for home in [Path::new("/dev/null"), &locked] {
        let line = "render scene.obj -o a.png --size 16x16 --samples 1";
        let mut command = canopy_in(folder.0.path(), line);
        command.env("HOME", home).env_remove("XDG_CONFIG_HOME");
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {stderr}", home.display());
        std::fs::remove_file(folder.path("a.png")).unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn unwritable_folders_are_reported() {
    let folder = Folder::new();
    folder.fails(
        "render scene.obj -o /proc/a.png",
        &["/proc", "no file can be written"],
    );
}

/// `--from` searches for the scene's files among the recent files, like the viewer does.
#[test]
fn render_from_finds_the_scene_among_recent_files() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("pictures")).unwrap();
    folder.succeeds("render scene.obj -o pictures/a.png --size 16x16");
    let again = |state: &str| {
        let line = "render --from pictures/a.png -o b.png";
        let mut command = canopy_in(folder.0.path(), line);
        command.env("XDG_STATE_HOME", folder.path(state));
        command.output().unwrap()
    };
    let output = again("none");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("scene.obj"), "{stderr}");
    std::fs::create_dir_all(folder.path("state/canopy")).unwrap();
    let recent = json!({ "scenes": [[folder.path("scene.obj")]] });
    std::fs::write(folder.path("state/canopy/recent.json"), recent.to_string()).unwrap();
    let output = again("state");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let [first, second] = ["pictures/a.png", "b.png"].map(|name| picture(&folder.path(name)));
    assert_eq!(first, second);
}

#[test]
fn supersampling_smooths_the_picture_but_not_the_channels() {
    let folder = Folder::new();
    let render = |name: &str, more: &str| {
        folder.succeeds(&format!(
            "render scene.obj -o {name}.png --aov normal={name}-normal.exr,mesh={name}-mesh.png \
             --size 48x34 --occlusion off --stats {name}.json {more}"
        ));
        let bytes = |end: &str| std::fs::read(folder.path(&format!("{name}{end}"))).unwrap();
        [bytes(".png"), bytes("-normal.exr"), bytes("-mesh.png")]
    };
    let plain = render("plain", "");
    assert!(
        render("one", "--samples 1") == plain,
        "one sample is a plain picture"
    );
    let off = render("off", "--set image.antialias=off");
    let many = render("many", "--samples 16");
    let levels = |name: &str| {
        let picture = picture(&folder.path(name)).into_rgba8();
        let levels: std::collections::BTreeSet<_> = picture.pixels().map(|p| p.0).collect();
        levels.len()
    };
    assert!(
        levels("many.png") > levels("off.png"),
        "edges have no levels in between"
    );
    assert!(many[0] != plain[0] && off[0] != plain[0]);
    assert!(
        many[1..] == plain[1..] && off[1..] == plain[1..],
        "channels are those of the pixels' centres"
    );
    let stats = std::fs::read(folder.path("many.json")).unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&stats).unwrap();
    assert_eq!(stats["samples"], 16);

    folder.succeeds("render scene.obj -o many-{frame}.exr --frames 2 --samples 3 --size 48x34");
    let texels = picture(&folder.path("many-1.exr")).into_rgba32f();
    let partly = texels.pixels().filter(|p| p.0[3] > 0.1 && p.0[3] < 0.9).count();
    assert!(partly > 4, "alpha holds no coverage");
}

/// Checks the second picture of a scene that does not move.
#[test]
fn stats_report_the_tree_work() {
    let folder = Folder::new();
    for (policy, work) in [("frame", "rebuild"), ("changed", "none"), ("refit", "none")] {
        let line = "render scene.obj -o {frame}.png --frames 2 --size 18x18 --stats s.json";
        folder.succeeds(&format!("{line} --set tree.rebuild={policy}"));
        let stats = std::fs::read(folder.path("s.json")).unwrap();
        let stats: serde_json::Value = serde_json::from_slice(&stats).unwrap();
        assert_eq!(stats["tree_work"], work, "{policy}");
        assert_eq!(stats["tree_dispatches"] == 0, work == "none", "{policy}");
    }
}

#[test]
fn shadows_fall_in_every_mode_but_off() {
    let folder = Folder::new();
    let lit = |mode: &str| {
        // From beside the upper triangle and below it, the quad and its shadow are visible.
        let line = format!(
            "render scene.obj -o lit.png --size 66x48 --sun 0,-1,0 --eye 0,0.4,3 --target 0,0,0 \
             --fov 40 --shadows {mode}"
        );
        folder.succeeds(&format!("{line} --aov shadow={mode}.exr"));
        let shadow = picture(&folder.path(&format!("{mode}.exr"))).into_rgba32f();
        let dark = |p: &&image::Rgba<f32>| p.0[3] == 1.0 && p.0[0] < 0.5 && p.0[0] >= 0.0;
        shadow.pixels().filter(dark).count()
    };
    let [rays, map] = [lit("rays"), lit("map")];
    assert!(rays > 5 && map > 5, "{rays} {map}");
    assert!(rays.abs_diff(map) < rays.max(map), "{rays} {map}");
}

#[test]
fn sequences_are_numbered() {
    let folder = Folder::new();
    folder.succeeds("render scene.obj -o f{frame:3}.png --size 18x18 --frames 2 --aov depth=d{frame}.exr");
    assert_eq!(
        folder.names(),
        ["d0.exr", "d1.exr", "f000.png", "f001.png", "scene.obj"]
    );
}

/// A triangle with constant clips. `left` and `right` move and rotate it to either side; in the rest pose it
/// is above.
fn two_clips() -> Builder {
    let mut builder = Builder::new();
    let corners = builder.floats("VEC3", &[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
    let node = builder.primitive(json!({ "attributes": { "POSITION": corners } }));
    builder.json["nodes"][node]["translation"] = json!([0., 4., 0.]);
    builder.push("scenes", json!({ "nodes": [node] }));
    let times = builder.floats("SCALAR", &[0., 1.]);
    for (name, x, degrees) in [("left", -3_f32, -60_f32), ("right", 1., 20.)] {
        let moves = builder.floats("VEC3", &[x, 0., 0., x, 0., 0.]);
        let (sin, cos) = (degrees.to_radians() / 2.0).sin_cos();
        let turns = builder.floats("VEC4", &[0., 0., sin, cos, 0., 0., -sin, -cos]);
        builder.push(
            "animations",
            json!({
                "name": name,
                "samplers": [{ "input": times, "output": moves }, { "input": times, "output": turns }],
                "channels": [
                    { "sampler": 0, "target": { "node": node, "path": "translation" } },
                    { "sampler": 1, "target": { "node": node, "path": "rotation" } },
                ],
            }),
        );
    }
    builder
}

/// The GPU draws a blend of clips as its mean, computed here in f64. The picture equals the picture of a node
/// with this transform.
#[test]
fn blended_clips_match_their_mean_transform() {
    let folder = Folder::new();
    two_clips().write(&folder.path(""), "two.glb");
    // Weights of the clips and of the rest pose.
    let (left, right, rest) = (0.5, 0.25, 0.25);
    let half = |degrees: f64| (degrees / 2.0).to_radians();
    let parts = [(left, half(-60.0)), (right, half(20.0)), (rest, 0.0)];
    let sum = |of: fn(f64) -> f64| -> f64 { parts.iter().map(|(w, a)| w * of(*a)).sum() };
    let angle = 2.0 * sum(f64::sin).atan2(sum(f64::cos));
    let (x, y) = (-3.0 * left + right, 4.0 * rest);
    let exported = |file: &str, clip: &str| -> Vec<[f64; 3]> {
        folder.succeeds(&format!("export {file} -o out.obj -q {clip}"));
        let text = std::fs::read_to_string(folder.path("out.obj")).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("v "));
        let vertex =
            |line: &str| -> Vec<f64> { line.split_whitespace().map(|n| n.parse().unwrap()).collect() };
        lines.map(|line| vertex(line)[..3].try_into().unwrap()).collect()
    };
    let expected = [
        [x, y],
        [x + angle.cos(), y + angle.sin()],
        [x - angle.sin(), y + angle.cos()],
    ];
    let apart = |found: &[[f64; 3]]| {
        let pairs = found.iter().zip(expected);
        let distance = |(a, b): (&[f64; 3], [f64; 2])| (a[0] - b[0]).hypot(a[1] - b[1]) + a[2].abs();
        pairs.map(distance).fold(0.0, f64::max)
    };
    let blend = "--clip left=0.5,right=0.25 --time 0.5";
    let found = exported("two.glb", blend);
    assert!(
        found.len() == 3 && apart(&found) < 1e-5,
        "{found:?}, expected {expected:?}"
    );
    assert!(
        apart(&exported("two.glb", "--clip left")) > 1.0,
        "another pose is apart"
    );
    let mut still = two_clips();
    still.json["nodes"][0]["translation"] = json!([x, y, 0.0]);
    still.json["nodes"][0]["rotation"] = json!([0.0, 0.0, (angle / 2.0).sin(), (angle / 2.0).cos()]);
    still.json["animations"] = json!([]);
    still.write(&folder.path(""), "still.glb");
    let render = |file: &str, clip: &str| {
        let view = "--size 66x48 --eye 0,1,8 --target=-1,1,0 --occlusion off --aov position=p.exr -q";
        folder.succeeds(&format!("render {file} -o a.png {view} {clip}"));
        let floats = image::open(folder.path("p.exr")).unwrap().into_rgba32f();
        floats.pixels().map(|pixel| pixel.0).collect::<Vec<_>>()
    };
    let differ = |a: &[[f32; 4]], b: &[[f32; 4]]| {
        let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-3 || a.is_nan() && b.is_nan();
        let same = |(a, b): (&[f32; 4], &[f32; 4])| a.iter().zip(b).all(near);
        a.iter().zip(b).filter(|pair| !same(*pair)).count()
    };
    let blended = render("two.glb", blend);
    assert!(blended.iter().filter(|texel| !texel[0].is_nan()).count() > 20);
    assert!(differ(&blended, &render("still.glb", "")) <= 2);
    assert!(differ(&blended, &render("two.glb", "--clip right")) > 20);
    folder.fails(
        "export two.glb -o a.obj --clip left=0.5,up=0.5",
        &["up", "0 \"left\""],
    );
    folder.fails(
        "export two.glb -o a.obj --set animation.morphs=[\"x/y=1\"]",
        &["animation.morphs", "x/y=1"],
    );
}

/// Morph targets have the names of the file, and setting a weight moves the vertices that it should.
#[test]
fn morph_weights_are_set_by_name() {
    let folder = Folder::new();
    let mut builder = Builder::new();
    let corners = builder.floats("VEC3", &[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
    let lift = builder.floats("VEC3", &[0., 0., 2., 0., 0., 2., 0., 0., 2.]);
    let node = builder.primitive(json!({
        "attributes": { "POSITION": corners },
        "targets": [{ "POSITION": lift }],
    }));
    builder.json["nodes"][node]["name"] = json!("face");
    builder.json["meshes"][0]["extras"] = json!({ "targetNames": ["smile", 3, "more"] });
    builder.write(&folder.path(""), "face.glb");
    for (weight, height) in [("smile=0.5", 1.0), ("0=-1", -2.0)] {
        folder.succeeds(&format!(
            "export face.glb -o out.obj -q --set animation.morphs=[\"face/{weight}\"]"
        ));
        let text = std::fs::read_to_string(folder.path("out.obj")).unwrap();
        let heights = text.lines().filter_map(|line| line.strip_prefix("v "));
        let heights = heights.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap());
        assert_eq!(heights.collect::<Vec<_>>(), [height; 3], "{weight}");
    }
    let line = "export face.glb -o out.obj --set animation.morphs=[\"face/frown=1\"]";
    folder.fails(line, &["frown", "smile"]);
}

/// Pictures along a camera path match its keys, and a turntable ends where it began.
#[test]
fn cameras_follow_paths_and_turntables() {
    let folder = Folder::new();
    let path = r#"{"keys": [
        {"time": 3, "eye": [0, 2, 4], "target": [0, 0, 0], "fov": 50},
        {"time": 4, "eye": [4, 2, 0], "target": [0, 0.25, 0], "fov": 40}
    ]}"#;
    std::fs::write(folder.path("path.json"), path).unwrap();
    let more = "--size 34x24 --occlusion off --shadows off -q --set output.metadata=false";
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    folder.succeeds(&format!(
        "render scene.obj -o p{{frame}}.png --path path.json --fps 2 {more}"
    ));
    let view = "--eye 4,2,0 --target 0,0.25,0 --fov 40";
    folder.succeeds(&format!("render scene.obj -o last.png {view} {more}"));
    assert!(bytes("p2.png") == bytes("last.png") && bytes("p0.png") != bytes("last.png"));
    folder.succeeds(&format!(
        "render scene.obj -o t{{frame}}.png --turntable 1 --fps 4 {more}"
    ));
    folder.succeeds(&format!("render scene.obj -o first.png {more}"));
    assert!(bytes("t0.png") == bytes("first.png") && bytes("t1.png") != bytes("first.png"));
    let pictures: Vec<_> = folder
        .names()
        .into_iter()
        .filter(|name| name.ends_with("png"))
        .collect();
    assert_eq!(
        pictures,
        [
            "first.png",
            "last.png",
            "p0.png",
            "p1.png",
            "p2.png",
            "t0.png",
            "t1.png",
            "t2.png",
            "t3.png"
        ]
    );
    for (line, words) in [
        ("-o a.png --path path.json", ["31 frames", "{frame}"]),
        ("-o a{frame}.png --turntable 0", ["--turntable", "seconds"]),
    ] {
        let output = folder.canopy(&format!("render scene.obj {line}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(words.iter().all(|word| stderr.contains(word)), "{stderr}");
    }
    std::fs::write(folder.path("bad.json"), r#"{"keys": []}"#).unwrap();
    folder.fails(
        "render scene.obj -o a.png --path bad.json",
        &["bad.json", "at least one key"],
    );
}

/// Replaces ffmpeg by a program that records its arguments and its input, or fails.
#[cfg(unix)]
#[test]
fn videos_are_encoded_by_ffmpeg() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let fake = |script: &str| {
        std::fs::create_dir_all(folder.path("bin")).unwrap();
        let program = folder.path("bin/ffmpeg");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let usual = std::env::var("PATH").unwrap();
    let run = |output: &str, path: &str| {
        let more = "--frames 3 --fps 12.5 --size 34x24 --occlusion off --shadows off";
        let line = format!("render scene.obj -o {output} --turntable 1 {more}");
        let mut command = canopy_in(folder.0.path(), &line);
        command.env("PATH", path).output().unwrap()
    };
    let with_fake = format!("{}:{usual}", folder.path("bin").display());
    fake("for last; do :; done; printf '%s\\n' \"$@\" > arguments; cat > \"${last#file:}\"");
    let output = run("a'b c.mp4".replace(' ', "_").as_str(), &with_fake);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    assert!(told.contains("a'b_c.mp4"), "{told}");
    let raw = std::fs::read(folder.path("a'b_c.mp4")).unwrap();
    assert!(run("f{frame}.png", &usual).status.success());
    let pictures: Vec<u8> = (0..3)
        .flat_map(|frame| {
            picture(&folder.path(&format!("f{frame}.png")))
                .into_rgba8()
                .into_raw()
        })
        .collect();
    assert!(raw == pictures, "the video has the pixels of the pictures");
    let arguments = std::fs::read_to_string(folder.path("arguments")).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    let follows = |key: &str| {
        arguments
            .iter()
            .position(|a| *a == key)
            .map(|at| arguments[at + 1])
    };
    for (key, value) in [
        ("-video_size", "34x24"),
        ("-framerate", "12.5"),
        ("-pixel_format", "rgba"),
        ("-i", "pipe:0"),
        ("-c:v", "libx264"),
    ] {
        assert_eq!(follows(key), Some(value), "{arguments:?}");
    }
    assert!(run("b.webm", &with_fake).status.success());
    let arguments = std::fs::read_to_string(folder.path("arguments")).unwrap();
    assert!(arguments.contains("libvpx-vp9"), "{arguments}");
    // A failure prints one line and leaves no file.
    let fails = |output: Output, words: &[&str]| {
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        let error = told.lines().last().unwrap_or_default();
        assert!(error.starts_with("error: "), "{told}");
        assert!(words.iter().all(|word| error.contains(word)), "{told}");
        let made = folder.names().into_iter().find(|name| name.contains("bad"));
        assert_eq!(made, None);
    };
    fake("for last; do :; done; echo half > \"${last#file:}\"; echo 'no such encoder' >&2; exit 3");
    fails(run("bad.mp4", &with_fake), &["bad.mp4", "no such encoder"]);
    fails(
        run("bad.mp4", "/nowhere"),
        &["bad.mp4", "ffmpeg, which is not on the PATH"],
    );
    let odd = folder.canopy("render scene.obj -o bad.mp4 --size 33x24");
    assert_eq!(odd.status.code(), Some(2));
    // If the encoder stops reading, rendering ends, like a cancelled export.
    fake("for last; do :; done; cat > \"${last#file:}\"");
    let line = "render scene.obj -o bad.mp4 --frames 200 --size 34x24 --shadows off --progress -q";
    let mut command = canopy_in(folder.0.path(), line);
    command
        .env("PATH", &with_fake)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut told = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    std::io::BufRead::read_line(&mut told, &mut first).unwrap();
    assert_eq!(first, "1/200\n");
    drop(told);
    fails(child.wait_with_output().unwrap(), &["standard output"]);
    // No file is left either if ffmpeg has received all pictures and is still busy.
    fake("for last; do :; done; cat > \"${last#file:}\"; exec sleep 60");
    let line = "render scene.obj -o bad.mp4 --size 34x24 --shadows off --progress -q";
    let mut child = canopy_in(folder.0.path(), line)
        .env("PATH", &with_fake)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut lines = String::new();
    // The second line is printed while the video is being finished.
    for _ in 0..2 {
        std::io::BufRead::read_line(&mut told, &mut lines).unwrap();
    }
    assert_eq!(lines, "1/1\n1/1\n");
    assert!(folder.names().iter().any(|name| name.contains("bad")));
    drop(told);
    fails(child.wait_with_output().unwrap(), &["standard output"]);
    // Runs the real ffmpeg if it is installed. Its decoded output is close to the pictures.
    let has_ffmpeg = Command::new("ffmpeg").arg("-version").output().is_ok();
    if !has_ffmpeg {
        return;
    }
    for name in ["real.mp4", "real.webm"] {
        let output = run(name, &usual);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let mut decode = Command::new("ffmpeg");
        decode.args([
            "-v", "error", "-i", name, "-f", "rawvideo", "-pix_fmt", "rgba", "-",
        ]);
        let decoded = folder.run(decode).stdout;
        assert_eq!(decoded.len(), pictures.len(), "{name}");
        let apart = |(a, b): (&u8, &u8)| f64::from(a.abs_diff(*b));
        let mean = |a: &[u8], b: &[u8]| a.iter().zip(b).map(apart).sum::<f64>() / a.len() as f64;
        assert!(
            mean(&decoded, &pictures) < 4.0,
            "{name}: {}",
            mean(&decoded, &pictures)
        );
        let black = vec![0; pictures.len()];
        assert!(mean(&black, &pictures) > 40.0);
    }
}

#[test]
fn exported_obj_files_load_again() {
    let folder = Folder::new();
    folder.succeeds("export scene.obj -o out.obj");
    let text = std::fs::read_to_string(folder.path("out.obj")).unwrap();
    assert_eq!(text.lines().filter(|l| l.starts_with("f ")).count(), 3);
    assert_eq!(text.lines().filter(|l| l.starts_with("o ")).count(), 2);
    assert!(text.contains("v -0.3 0.5 -0.3\n"), "{text}");
    assert!(text.contains("o low_quad\n") || text.contains("o low"), "{text}");
    folder.succeeds("info out.obj");
}

/// The rows of a CSV file as numbers, with NaN for empty fields.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let number = |field: &str| field.parse().unwrap_or(f64::NAN);
    let lines = text.lines().skip(1);
    lines.map(|line| line.split(',').map(number).collect()).collect()
}

#[test]
fn query_answers_in_the_order_of_its_questions() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| std::fs::write(folder.path(name), text).unwrap();
    // Above the low quad, beside both, and under the high triangle.
    write("p.csv", "x,y,z\n0.9,0.25,0.9\n3,0,0\n0,0.4,0\n");
    let text = folder.succeeds("query scene.obj --nearest p.csv -o -");
    assert!(
        text.starts_with("distance,x,y,z,mesh,triangle,inside\n"),
        "{text}"
    );
    assert!(text.lines().skip(1).all(|line| line.ends_with(",false")));
    let expected = [
        [0.25, 0.9, 0.0, 0.9, 0.0],
        [2.0, 1.0, 0.0, 0.0, 0.0],
        [0.1, 0.0, 0.5, 0.0, 1.0],
    ];
    for (found, expected) in rows(&text).iter().zip(expected) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{text}");
        }
    }
    // One box over both objects, an empty one, and one at a corner of the low quad.
    let boxes = "min_x,min_y,min_z,max_x,max_y,max_z\n-2,-1,-2,2,1,2\n5,5,5,6,6,6\n0.9,-1,0.9,1,1,1\n";
    write("b.csv", boxes);
    let text = folder.succeeds("query scene.obj --overlap b.csv -o -");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[..3], ["count,triangles", "3,0:0 0:1 1:0", "0,"]);
    assert_eq!(lines[3], "1,0:0");
    // Down onto the high triangle, down beside it, and away. The output is a JSON file.
    write(
        "r.csv",
        "x,y,z,dx,dy,dz\n0,2,0,0,-1,0\n0.9,2,0.9,0,-2,0\n0,2,0,0,1,0\n",
    );
    folder.succeeds("query scene.obj --rays r.csv -o r.json");
    let json = std::fs::read_to_string(folder.path("r.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json[0]["distance"].as_f64(), json[0]["mesh"].as_u64()),
        (Some(1.5), Some(1))
    );
    assert_eq!(
        (json[1]["distance"].as_f64(), json[1]["mesh"].as_u64()),
        (Some(1.0), Some(0))
    );
    assert!(json[2].is_null());
    // No queries give no answers.
    write("p.csv", "x,y,z\n");
    assert_eq!(
        rows(&folder.succeeds("query scene.obj --nearest p.csv -o -")).len(),
        0
    );
}

/// Cube with edges of length 2 · `half` and its centre at `middle`.
fn cube_obj(half: f32, middle: [f32; 3]) -> String {
    let mut text = String::from("o cube\n");
    for corner in 0..8 {
        let at = |axis: usize| middle[axis] + if corner >> axis & 1 == 1 { half } else { -half };
        text += &format!("v {} {} {}\n", at(0), at(1), at(2));
    }
    text + "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"
}

#[test]
fn query_lists_intersecting_triangle_pairs() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| std::fs::write(folder.path(name), text).unwrap();
    // A spike through the first half of a floor, another one that stands on the second half, and a third one
    // beside it.
    write(
        "scene.obj",
        "o floor\nv -2 0 -2\nv 2 0 -2\nv 2 0 2\nv -2 0 2\nf 1 4 3\nf 1 3 2\n\
         o spikes\nv -1 -1 1\nv -1.1 1 1\nv -0.9 1 1\nf 5 6 7\n\
         v 1 0 -1\nv 1.1 1 -1\nv 0.9 1 -1\nf 8 9 10\n\
         o aside\nv 3 -1 0\nv 3 1 0\nv 3 1 1\nf 11 12 13\n",
    );
    let header = "mesh_a,triangle_a,mesh_b,triangle_b\n";
    let text = folder.succeeds("query scene.obj --pairs -o -");
    assert_eq!(text, format!("{header}0,0,1,0\n"));
    folder.succeeds("query scene.obj --pairs -o pairs.json");
    let json = std::fs::read_to_string(folder.path("pairs.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let pair = serde_json::json!({ "mesh_a": 0, "triangle_a": 0, "mesh_b": 1, "triangle_b": 0 });
    assert_eq!(json, serde_json::json!([pair]));
    // Numbers match the numbers of `canopy export`.
    folder.succeeds("export scene.obj -o out.obj");
    let again = folder.succeeds("query out.obj --pairs -o -");
    assert_eq!(again, text);
    // One mesh, and no mesh.
    write("cube.obj", &cube_obj(1.0, [0.0; 3]));
    assert_eq!(folder.succeeds("query cube.obj --pairs -o -"), header);
    write("empty.obj", "v 0 0 0\np 1\n");
    assert_eq!(folder.succeeds("query empty.obj --pairs -o -"), header);
    // Each face of a cube that intersects a face of the other cube, from both files.
    write("other.obj", &cube_obj(0.9, [1.0, 0.7, 0.6]));
    folder.succeeds("query cube.obj other.obj --pairs -o pairs.csv");
    let found = rows(&std::fs::read_to_string(folder.path("pairs.csv")).unwrap());
    assert!(found.len() > 8, "{found:?}");
    assert!(found.is_sorted() && found.iter().all(|row| [row[0], row[2]] == [0.0, 1.0]));
    let wrong = folder.canopy("query cube.obj --pairs --rays r.csv -o -");
    assert_eq!(wrong.status.code(), Some(2));
}

/// A clip moves a plate through another one.
#[test]
fn intersecting_pairs_follow_an_animation_clip() {
    let folder = Folder::new();
    let mut builder = Builder::new();
    let flat = builder.floats("VEC3", &[-1., 0., -1., 1., 0., -1., 0., 0., 1.]);
    builder.primitive(json!({ "attributes": { "POSITION": flat } }));
    let upright = builder.floats("VEC3", &[-0.3, 0.5, 0., 0.3, 0.5, 0., 0., 1.5, 0.]);
    let node = builder.primitive(json!({ "attributes": { "POSITION": upright } }));
    let times = builder.floats("SCALAR", &[0., 2.]);
    let moves = builder.floats("VEC3", &[0., 0., 0., 0., -2., 0.]);
    builder.push("scenes", json!({ "nodes": [0, node] }));
    builder.push(
        "animations",
        json!({
            "name": "fall",
            "samplers": [{ "input": times, "output": moves }],
            "channels": [{ "sampler": 0, "target": { "node": node, "path": "translation" } }],
        }),
    );
    builder.write(&folder.path(""), "plates.glb");
    for (time, count) in [(0.0, 0), (1.0, 1), (2.0, 0)] {
        let line = format!("query plates.glb --pairs -o - --clip fall --time {time}");
        let pairs = rows(&folder.succeeds(&line));
        assert_eq!(pairs.len(), count, "{time}");
        let line = format!(
            "render plates.glb -o a.png --aov intersections=i.exr --aov intersections=i.png --size 66x66 \
             --clip fall --time {time} --shadows off --occlusion off -q"
        );
        folder.succeeds(&line);
        let floats = image::open(folder.path("i.exr")).unwrap().into_rgba32f();
        let through = floats.pixels().filter(|pixel| pixel.0[0] == 1.0).count();
        assert_eq!(through > 20, count > 0, "{time}: {through}");
        let picture = image::open(folder.path("i.png")).unwrap().into_rgb8();
        let is_orange = |pixel: &&image::Rgb<u8>| pixel.0[0] > 120 && pixel.0[2] == 0;
        let orange = picture.pixels().filter(is_orange).count();
        assert_eq!(orange, through, "{time}");
    }
}

#[test]
fn query_reports_whether_points_are_inside() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| std::fs::write(folder.path(name), text).unwrap();
    let cube = |half, x| cube_obj(half, [x, 0.0, 0.0]);
    write("cube.obj", &cube(1.0, 0.0));
    // The smaller cube lies within the larger one. The nearest surface to a point between them is the outer
    // side of the smaller cube.
    write("small.obj", &cube(0.3, 0.0));
    // The cube without its last face.
    let cube = cube(1.0, 0.0);
    let open: Vec<_> = cube.trim_end().lines().collect();
    write("open.obj", &open[..open.len() - 1].join("\n"));
    // Two shells in one object, with the second flipped or not, and halves that touch.
    let second = |text: &str, is_turned: bool| {
        let line = |line: &str| match line.split_once(' ') {
            Some(("f", corners)) => {
                let numbers = corners.split(' ').map(|n| n.parse::<u32>().unwrap() + 8);
                let mut numbers: Vec<_> = numbers.map(|n| n.to_string()).collect();
                if is_turned {
                    numbers.reverse();
                }
                format!("f {}\n", numbers.join(" "))
            }
            Some(("v", _)) => format!("{line}\n"),
            _ => String::new(),
        };
        text.lines().map(line).collect::<String>()
    };
    let small = cube_obj(0.3, [0.0; 3]);
    write("nested.obj", &(cube.clone() + &second(&small, false)));
    write("hollow.obj", &(cube.clone() + &second(&small, true)));
    let left = cube_obj(1.0, [0.0; 3]).replace("v 1 ", "v 0.4 ");
    let right = cube_obj(1.0, [0.0; 3]).replace("v -1 ", "v 0.4 ");
    write("halves.obj", &(left + &second(&right, false)));
    // Inside, near a corner inside, near that corner outside, outside.
    write("p.csv", "x,y,z\n0.5,0,0\n0.9,0.9,0.8\n1.1,1.2,1.3\n0,-2,0\n");
    let expected = [true, true, false, false];
    for files in [
        "cube.obj",
        "cube.obj small.obj",
        "open.obj",
        "nested.obj",
        "hollow.obj",
        "halves.obj",
    ] {
        let text = folder.succeeds(&format!("query {files} --nearest p.csv --signed -o -"));
        for (line, is_inside) in text.lines().skip(1).zip(expected) {
            assert!(line.ends_with(&format!(",{is_inside}")), "{files}: {text}");
            assert_eq!(line.starts_with('-'), is_inside, "{files}: {text}");
        }
        assert_eq!(text.lines().count(), 5);
    }
    // Close to the inner shell, on either side of it.
    write("q.csv", "x,y,z\n0.29,0,0\n0.31,0,0\n");
    for (files, expected) in [("nested.obj", [true, true]), ("hollow.obj", [false, true])] {
        let text = folder.succeeds(&format!("query {files} --nearest q.csv -o -"));
        let inside = text.lines().skip(1).map(|line| line.ends_with(",true"));
        assert_eq!(inside.collect::<Vec<_>>(), expected, "{files}: {text}");
    }
    let text = folder.succeeds("query cube.obj --nearest p.csv -o -");
    assert!(!text.contains("\n-") && text.contains(",true"), "{text}");
    folder.succeeds("query cube.obj --nearest p.csv --signed -o p.json");
    let json = std::fs::read_to_string(folder.path("p.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["inside"].as_bool(), Some(true));
    assert_eq!(json[0]["distance"].as_f64(), Some(-0.5));
}

/// A few triangles 20 cm apart, below a root node.
fn squares_below(root: [f64; 3], child: [f64; 3]) -> Vec<u8> {
    let mut builder = Builder::triangle();
    let square = |number: usize| {
        let step = 0.2 * number as f64;
        let at = [child[0] + step, child[1] + 0.5 * step, child[2] - step];
        json!({ "mesh": 0, "scale": [0.15, 0.15, 0.15], "translation": at })
    };
    let mut nodes: Vec<_> = (0..5).map(square).collect();
    nodes.push(json!({ "translation": root, "children": [0, 1, 2, 3, 4] }));
    builder.json["nodes"] = json!(nodes);
    builder.json["scenes"] = json!([{ "nodes": [5] }]);
    builder.glb()
}

/// A scene with map coordinates is framed, drawn and exported like one at the world's origin.
#[test]
fn scenes_with_map_coordinates_lose_no_precision() {
    let folder = Folder::new();
    let (far, none) = ([500_000.3, 5_400_000.7, 120.0], [0.0; 3]);
    let back = far.map(|x: f64| -x);
    let files = [
        ("near", squares_below(none, none), none),
        ("far", squares_below(far, none), far),
        ("back", squares_below(far, back), none),
        (
            "split",
            squares_below(far.map(|x| 3.0 * x), back),
            far.map(|x| 2.0 * x),
        ),
    ];
    let mut pictures = Vec::new();
    for (name, bytes, at) in &files {
        std::fs::write(folder.path(&format!("{name}.glb")), bytes).unwrap();
        folder.succeeds(&format!("export {name}.glb -o {name}.obj -q"));
        let text = std::fs::read_to_string(folder.path(&format!("{name}.obj"))).unwrap();
        let vertices: Vec<Vec<f64>> = text
            .lines()
            .filter_map(|line| line.strip_prefix("v "))
            .map(|line| line.split(' ').map(|x| x.parse().unwrap()).collect())
            .collect();
        assert_eq!(vertices.len(), 15);
        for (number, first) in vertices.iter().step_by(3).enumerate() {
            let step = 0.2 * number as f64;
            for (axis, offset) in [step, 0.5 * step, -step].into_iter().enumerate() {
                let found = first[axis] - at[axis];
                assert!((found - offset).abs() < 1e-6, "{name}: {first:?}");
            }
        }
        folder.succeeds(&format!("render {name}.glb -o {name}.png -q --size 130x98"));
        pictures.push(picture(&folder.path(&format!("{name}.png"))).into_rgb8());
    }
    let seen = |picture: &image::RgbImage| {
        let background = *picture.get_pixel(0, 0);
        picture.pixels().filter(|pixel| **pixel != background).count()
    };
    assert!(seen(&pictures[0]) > 500);
    for (picture, (name, ..)) in pictures.iter().zip(&files).skip(1) {
        let apart = |(a, b): (&u8, &u8)| f64::from(a.abs_diff(*b));
        let sum: f64 = pictures[0].iter().zip(picture.iter()).map(apart).sum();
        let mean = sum / picture.len() as f64;
        assert!(mean < 0.3, "{name}: {mean} of 255");
    }
}

/// Sphere of triangles, coarse enough to have visible edges.
fn sphere_obj(radius: f32) -> String {
    use std::f32::consts::{PI, TAU};
    const RINGS: u32 = 12;
    const SEGMENTS: u32 = 18;
    let mut text = format!("o sphere\nv 0 {radius} 0\nv 0 {} 0\n", -radius);
    for ring in 1..RINGS {
        for segment in 0..SEGMENTS {
            let (polar, around) = (
                PI * ring as f32 / RINGS as f32,
                TAU * segment as f32 / SEGMENTS as f32,
            );
            let [x, y, z] = [
                polar.sin() * around.cos(),
                polar.cos(),
                -polar.sin() * around.sin(),
            ]
            .map(|c| c * radius);
            text += &format!("v {x} {y} {z}\n");
        }
    }
    let number = |ring: u32, segment: u32| match ring {
        0 => 1,
        RINGS => 2,
        ring => 3 + (ring - 1) * SEGMENTS + segment % SEGMENTS,
    };
    for ring in 0..RINGS {
        for segment in 0..SEGMENTS {
            let [a, b] = [number(ring, segment), number(ring, segment + 1)];
            let [c, d] = [number(ring + 1, segment), number(ring + 1, segment + 1)];
            if ring > 0 {
                text += &format!("f {a} {c} {b}\n");
            }
            if ring + 1 < RINGS {
                text += &format!("f {b} {c} {d}\n");
            }
        }
    }
    text
}

/// The deviation of an offset copy equals its offset, with its sign, within 1e-5 of its size.
#[test]
fn deviation_measures_the_offset_of_a_copy() {
    let folder = Folder::new();
    let write = |name: &str, text: String| std::fs::write(folder.path(name), text).unwrap();
    let far = [20.0, -3.0, 7.0];
    write("cube.obj", cube_obj(1.0, far));
    write("smaller.obj", cube_obj(0.9, far));
    write("sphere.obj", sphere_obj(1.0));
    write("larger.obj", sphere_obj(1.02));
    write(
        "plane.obj",
        "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 4 3 2 1\n".into(),
    );
    write(
        "lifted.obj",
        "v -1 0.01 -1\nv 1 0.01 -1\nv 1 0.01 1\nv -1 0.01 1\nf 4 3 2 1\n".into(),
    );
    for (a, b, offset, vertices) in [
        ("smaller.obj", "cube.obj", -0.1, 8),
        ("larger.obj", "sphere.obj", 0.02, 2 + 11 * 18),
        ("lifted.obj", "plane.obj", 0.01, 4),
        ("plane.obj", "lifted.obj", -0.01, 4),
        ("cube.obj", "cube.obj", 0.0, 8),
    ] {
        folder.succeeds(&format!("deviation {a} {b} -q -o v.csv -o s.json --samples 1000"));
        let text = std::fs::read_to_string(folder.path("v.csv")).unwrap();
        let rows: Vec<&str> = text.lines().skip(1).collect();
        // Vertices at edges have several normals.
        assert!(rows.len() >= vertices, "{a}: {}", rows.len());
        for row in rows {
            let distance: f64 = row.split(',').nth(3).unwrap().parse().unwrap();
            assert!((distance - offset).abs() < 2e-5, "{a}, {b}: {row}");
        }
        let text = std::fs::read_to_string(folder.path("s.json")).unwrap();
        let statistics: serde_json::Value = serde_json::from_str(&text).unwrap();
        let found = |name: &str| statistics["a_to_b"][name].as_f64().unwrap();
        // Between the vertices of a coarse sphere, distances are smaller.
        let slack = if a == "larger.obj" { 0.001 } else { 2e-5 };
        assert!((found("mean") - offset).abs() < slack, "{a}, {b}: {text}");
        assert!((found("rms") - offset.abs()).abs() < slack, "{a}, {b}: {text}");
        assert!(
            statistics["b_to_a"].is_null() && statistics["tolerance"].is_null(),
            "{text}"
        );
    }
}

#[test]
fn deviation_counts_and_draws_the_area_out_of_tolerance() {
    let folder = Folder::new();
    // A step. Half of its area lies 0.1 above the plane, half in the plane.
    let step = "v -1 0 -1\nv 0 0 -1\nv 0 0 1\nv -1 0 1\nf 4 3 2 1\n\
                v 0 0.1 -1\nv 1 0.1 -1\nv 1 0.1 1\nv 0 0.1 1\nf 8 7 6 5\n";
    std::fs::write(folder.path("step.obj"), step).unwrap();
    let line = "deviation step.obj scene.obj -o s.json -o d.png --size 800x480 --tolerance 0.05 --both \
                --eye 0,4,0.01 --target 0,0,0";
    std::fs::write(folder.path("scene.obj"), OBJ.split("o high").next().unwrap()).unwrap();
    let output = folder.canopy(line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stderr}");
    for open in [
        "warning: scene.obj: the surface is open (4 edges)",
        "warning: step.obj",
    ] {
        assert!(stderr.contains(open), "{stderr}");
    }
    for words in [
        "50.0 % of the area: 0.0 % below -0.05, 50.0 % above",
        "Hausdorff         0.1",
    ] {
        assert!(stdout.contains(words), "{stdout}");
    }
    let text = std::fs::read_to_string(folder.path("s.json")).unwrap();
    let statistics: serde_json::Value = serde_json::from_str(&text).unwrap();
    let of = &statistics["a_to_b"];
    for (name, value) in [
        ("out_of_tolerance", 0.5),
        ("above_tolerance", 0.5),
        ("mean", 0.05),
    ] {
        assert!(
            (of[name].as_f64().unwrap() - value).abs() < 1e-6,
            "{name}: {text}"
        );
    }
    let shares = of["histogram"]["shares"].as_array().unwrap();
    let sum: f64 = shares.iter().map(|share| share.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9 && shares.len() == 40, "{text}");
    let picture = picture(&folder.path("d.png")).into_rgb8();
    assert_eq!(picture.dimensions(), (800, 480));
    // Left of the view's centre is the plane, at distance 0. Right of it is the part above the tolerance.
    let count = |is: &dyn Fn([u8; 3]) -> bool| picture.pixels().filter(|p| is(p.0)).count();
    let grey = count(&|[r, g, b]| (210..=222).contains(&r) && r == g && g == b);
    let yellow = count(&|[r, g, b]| r > 230 && g > 190 && b < 20);
    assert!(grey > 5000 && yellow > 5000, "{grey} grey, {yellow} yellow");
    let ink = count(&|[r, g, b]| r < 60 && g < 60 && b < 60);
    assert!(ink > 500, "{ink} dark pixels of text");
}

/// The shader finds the same distance and sign over faces, edges and corners.
#[test]
fn the_deviation_channel_measures_the_offset_of_a_copy() {
    let folder = Folder::new();
    let write = |name: &str, text: String| std::fs::write(folder.path(name), text).unwrap();
    let far = [20.0, -3.0, 7.0];
    write("cube.obj", cube_obj(1.0, far));
    write("smaller.obj", cube_obj(0.9, far));
    write("larger.obj", cube_obj(1.1, far));
    let nearest = |[x, y, z]: [f32; 3]| {
        let over = [x, y, z].map(|c| (f64::from(c).abs() - 1.0).max(0.0));
        over.iter().map(|c| c * c).sum::<f64>().sqrt()
    };
    let gpu = gpu();
    for (name, sign) in [("smaller", -1.0), ("larger", 1.0)] {
        folder.succeeds(&format!(
            "render {name}.obj -o a.png -q --size 66x66 --deviation cube.obj --shadows off --occlusion off \
             --aov deviation=d.exr --aov deviation=d.png --aov position=p.exr --set deviation.tolerance=0.05"
        ));
        let [deviation, position] = ["d.exr", "p.exr"].map(|name| picture(&folder.path(name)).into_rgba32f());
        let mut seen = 0;
        for (found, at) in deviation.pixels().zip(position.pixels()) {
            if found.0[3] == 0.0 {
                continue;
            }
            seen += 1;
            let local = [0, 1, 2].map(|axis| at.0[axis] - far[axis]);
            let expected = if sign < 0.0 { -0.1 } else { nearest(local) };
            let distance = f64::from(found.0[0]);
            let tolerance = if rounds_corners_coarsely(&gpu) { 2e-3 } else { 2e-5 };
            assert!(
                (distance - expected).abs() < tolerance,
                "{name}: {found:?} at {local:?}"
            );
            assert!((found.0[1] - found.0[0] / 0.05).abs() < 1e-4, "{found:?}");
        }
        assert!(seen > 500, "{name}: {seen}");
        let middle = picture(&folder.path("d.png")).into_rgb8().get_pixel(32, 32).0;
        let outside = if sign < 0.0 { [38, 0, 66] } else { [255, 214, 0] };
        assert_eq!(middle, outside, "{name}");
    }
    folder.fails_with(
        2,
        "render cube.obj -o a.png --aov deviation=d.exr",
        &["--deviation FILE"],
    );
    let line = "render cube.obj -o a.png --aov deviation=d.exr --deviation no.obj";
    folder.fails(line, &["no.obj"]);
}

#[test]
fn deviation_reports_invalid_input() {
    let folder = Folder::new();
    std::fs::write(folder.path("empty.obj"), "v 0 0 0\n").unwrap();
    for tolerance in ["nan", "-1", "0", "inf", "thin"] {
        let output = folder.canopy(&format!("deviation scene.obj scene.obj --tolerance {tolerance}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains("expected a distance in metres above 0"),
            "{stderr}"
        );
    }
    assert_eq!(folder.canopy("deviation scene.obj").status.code(), Some(2));
    for (code, line, words) in [
        (1, "missing.obj scene.obj", &["missing.obj"][..]),
        (1, "scene.obj missing.obj", &["missing.obj"]),
        (1, "empty.obj scene.obj", &["empty.obj"]),
        (1, "scene.obj empty.obj", &["empty.obj"]),
        (1, "scene.obj scene.obj -o no/such/a.csv", &["no/such"]),
        (1, "scene.obj scene.obj --clip Run", &["Run"]),
        (
            2,
            "scene.obj scene.obj -o a.exr",
            &["a.exr", ".png, .csv or .json"],
        ),
        (
            2,
            "scene.obj scene.obj -o a.csv -o a.csv",
            &["a.csv", "two outputs"],
        ),
        (2, "- -", &["standard input"]),
    ] {
        folder.fails_with(code, &format!("deviation {line}"), words);
    }
    assert_eq!(folder.names(), ["empty.obj", "scene.obj"]);
}

#[test]
fn query_reports_invalid_input() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| std::fs::write(folder.path(name), text).unwrap();
    write("p.csv", "x,y,z\n1,2,3\n4,five,6\n");
    write("b.csv", "min_x,min_y,min_z,max_x,max_y,max_z\n0,0,0,1,-1,1\n");
    write("r.csv", "x,y,z,dx,dy,dz\n0,0,0,0,0,0\n");
    write("n.csv", "min_x,min_y,min_z,max_x,max_y,max_z\nnan,0,0,1,1,1\n");
    std::fs::write(folder.path("w.csv"), [0xff, 0xfe, 0x00]).unwrap();
    for (line, wrong) in [
        ("--nearest p.csv", "p.csv: line 3: y: \"five\" is not a number"),
        (
            "--overlap b.csv",
            "b.csv: line 2: a lower corner above the upper one",
        ),
        ("--overlap n.csv", "n.csv: line 2: min_x: \"nan\" is not a number"),
        ("--rays r.csv", "r.csv: line 2: a ray without a direction"),
        ("--rays p.csv", "p.csv: the first line must be x,y,z,dx,dy,dz"),
        ("--nearest w.csv", "w.csv: not UTF-8 text"),
        ("--nearest missing.csv", "missing.csv: "),
    ] {
        let output = folder.canopy(&format!("query scene.obj {line} -o out.csv"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {stderr}");
        assert!(stderr.starts_with(&format!("error: {wrong}")), "{line}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{line}: {stderr}");
        assert!(!folder.path("out.csv").exists());
    }
    let none = folder.canopy("query scene.obj -o out.csv");
    assert_eq!(none.status.code(), Some(2));
}

/// On Linux, a process can be limited in memory.
#[cfg(target_os = "linux")]
#[test]
fn a_picture_without_memory_for_it_is_an_error() {
    let folder = Folder::new();
    let canopy = env!("CARGO_BIN_EXE_canopy");
    let line = "ulimit -v 6000000; exec \"$0\" render -o a.png --size 16384x16384 --shadows off \
                --occlusion off";
    let mut command = Command::new("sh");
    command.args(["-c", line, canopy]);
    let output = folder.run(command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let begins = match gpu().limits.max_texture_dimension_2d {
        16384.. => "error: a picture of 16384 × 16384 pixels does not fit",
        _ => "error: the picture: 16384×16384 pixels needed",
    };
    assert!(stderr.starts_with(begins), "{stderr}");
    assert_eq!(folder.names(), ["scene.obj"]);
}

/// A triangle in front of a camera that a clip moves away. It is green by itself, and red or blue as a
/// variant.
fn painted() -> String {
    use base64::Engine as _;
    let floats: Vec<u8> = [
        // Positions, times, and positions of the camera.
        -9., -9., 0., 9., -9., 0., 0., 9., 0., 0., 1., 0., 0., 5., 0., 0., 900.,
    ]
    .iter()
    .flat_map(|f: &f32| f.to_le_bytes())
    .collect();
    let bytes = base64::engine::general_purpose::STANDARD.encode(&floats);
    let unlit = |color: [u8; 4]| {
        serde_json::json!({ "extensions": { "KHR_materials_unlit": {} },
            "pbrMetallicRoughness": { "baseColorFactor": color } })
    };
    serde_json::json!({
        "asset": { "version": "2.0" },
        "extensionsUsed": [
            "KHR_materials_variants", "KHR_materials_unlit", "KHR_animation_pointer", "VENDOR_x",
        ],
        "extensionsRequired": ["VENDOR_x"],
        "extensions": {
            "KHR_materials_variants": { "variants": [{ "name": "red" }, { "name": "deep blue" }] },
        },
        "buffers": [{ "byteLength": 68, "uri": format!("data:;base64,{bytes}") }],
        "bufferViews": [{ "buffer": 0, "byteLength": 68 }],
        "accessors": [
            { "bufferView": 0, "type": "VEC3", "componentType": 5126, "count": 3 },
            { "bufferView": 0, "byteOffset": 36, "type": "SCALAR", "componentType": 5126, "count": 2 },
            { "bufferView": 0, "byteOffset": 44, "type": "VEC3", "componentType": 5126, "count": 2 },
        ],
        "materials": [unlit([0, 1, 0, 1]), unlit([1, 0, 0, 1]), unlit([0, 0, 1, 1])],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "material": 0, "extensions": {
            "KHR_materials_variants": { "mappings": [
                { "material": 1, "variants": [0] }, { "material": 2, "variants": [1] },
            ] } } }] }],
        "cameras": [{ "type": "perspective", "perspective": { "yfov": 0.5, "znear": 0.1 } }],
        "nodes": [{ "mesh": 0 }, { "camera": 0, "translation": [0, 0, 5] }],
        "animations": [{ "samplers": [{ "input": 1, "output": 2 }], "channels": [{ "sampler": 0,
            "target": { "path": "pointer", "extensions": {
                "KHR_animation_pointer": { "pointer": "/nodes/1/translation" } } } }] }],
    })
    .to_string()
}

#[test]
fn variants_extensions_and_animated_cameras_work_in_render_and_info() {
    let folder = Folder::new();
    std::fs::write(folder.path("a.gltf"), painted()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&folder.succeeds("info a.gltf --json")).unwrap();
    assert_eq!(json["list"]["variants"][1]["name"], "deep blue");
    let of = |name: &str| {
        let mut all = json["extensions"].as_array().unwrap().iter();
        all.find(|e| e["name"] == name).unwrap().clone()
    };
    let unknown = of("VENDOR_x");
    assert_eq!(
        (&unknown["treatment"], &unknown["required"]),
        (&"ignored".into(), &true.into())
    );
    assert_eq!(of("KHR_animation_pointer")["treatment"], "approximate");
    let text = folder.succeeds("info a.gltf");
    for part in [
        "deep blue",
        "KHR_materials_variants: full",
        "VENDOR_x: ignored, required",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let most = |name: &str| {
        let image = image::open(folder.path(name)).unwrap().into_rgb8();
        let pixel = image.get_pixel(8, 8).0;
        (0..3).max_by_key(|&channel| pixel[channel])
    };
    for (line, channel) in [
        ("", 1),
        (" --variant red", 0),
        (" --variant 1", 2),
        (" --set scene.variant=red", 0),
    ] {
        folder.succeeds(&format!("render a.gltf -o a.png --size 18x18 --camera 0{line}"));
        assert_eq!(most("a.png"), Some(channel), "{line}");
    }
    for command in ["render a.gltf -o b.png", "export a.gltf -o b.obj"] {
        folder.fails(
            &format!("{command} --variant green"),
            &["green", "red", "deep blue"],
        );
    }
    // Invisible nodes are not exported.
    let mut hidden: serde_json::Value = serde_json::from_str(&painted()).unwrap();
    hidden["nodes"].as_array_mut().unwrap().insert(
        0,
        serde_json::json!({ "mesh": 0,
        "extensions": { "KHR_node_visibility": { "visible": false } } }),
    );
    hidden["animations"] = serde_json::json!([]);
    std::fs::write(folder.path("hidden.gltf"), hidden.to_string()).unwrap();
    folder.succeeds("export hidden.gltf -o hidden.obj");
    let obj = std::fs::read_to_string(folder.path("hidden.obj")).unwrap();
    let lines = |start: &str| obj.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!(
        [lines("v "), lines("vn "), lines("o "), lines("f ")],
        [3, 3, 1, 1],
        "{obj}"
    );
    assert!(obj.contains("f 1//1 2//2 3//3"), "{obj}");
    // From far away, the triangle is a speck in the centre.
    folder.succeeds(
        "render a.gltf -o a{frame}.png --size 18x18 --camera 0 --frames 2 --fps 1.25 --variant red",
    );
    let corner = |name: &str| {
        *image::open(folder.path(name))
            .unwrap()
            .into_rgb8()
            .get_pixel(2, 13)
    };
    assert!(corner("a0.png") != corner("a1.png"), "the camera stands still");
}

/// A small equirectangular image, with each texel as stored in the file: red, green, blue and their exponent.
fn hdr(texel: impl Fn(usize) -> [u8; 4]) -> Vec<u8> {
    // Seven columns or fewer are never run-length encoded.
    let mut file = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 3 +X 6\n".to_vec();
    file.extend((0..18).flat_map(texel));
    file
}

#[test]
fn bake_env_writes_harmonics_and_cubes() {
    let folder = Folder::new();
    // Radiance of 1, 0.5 and 0.25 from all directions.
    std::fs::write(folder.path("even.hdr"), hdr(|_| [128, 64, 32, 129])).unwrap();
    for order in [3, 5] {
        folder.succeeds(&format!("bake-env even.hdr -o even.json --order {order}"));
        let text = std::fs::read_to_string(folder.path("even.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["order"], order);
        let list = |name: &str| -> Vec<[f64; 3]> { serde_json::from_value(json[name].clone()).unwrap() };
        let (radiance, irradiance) = (list("radiance_sh"), list("irradiance_sh"));
        assert_eq!([radiance.len(), irradiance.len()], [order * order; 2]);
        for (i, (radiance, irradiance)) in radiance.iter().zip(&irradiance).enumerate() {
            for (channel, color) in [1.0, 0.5, 0.25].into_iter().enumerate() {
                let pi = std::f64::consts::PI;
                // ∫ Y₀₀ over the sphere is 2√π. All other coefficients of a uniform environment are 0.
                let expected = if i == 0 { color * 2.0 * pi.sqrt() } else { 0.0 };
                assert!((radiance[channel] - expected).abs() < 5e-5, "{i} {radiance:?}");
                assert!(
                    (irradiance[channel] - pi * expected).abs() < 2e-4,
                    "{i} {irradiance:?}"
                );
            }
        }
    }
    folder.succeeds("bake-env even.hdr -o even.ktx2 --face 32");
    let limits = canopy::config::Config::default().frame.opening.load;
    for (name, expected) in [("even.ktx2", 1.0), ("even-irradiance.ktx2", std::f32::consts::PI)] {
        let cube = canopy::scene::environment::load(&folder.path(name), &limits, 4096).unwrap();
        assert_eq!((cube.width, cube.height), (32, 192), "{name}");
        for texel in &cube.texels {
            let [r, g, b, _] = texel.map(|channel| channel.to_f32() * cube.scale);
            let off = [r - expected, g - 0.5 * expected, b - 0.25 * expected];
            assert!(off.iter().all(|off| off.abs() < 2e-3), "{name}: {r} {g} {b}");
        }
    }
    folder.succeeds("bake-env even.hdr -o even --face 32");
    for name in [
        "sh.json",
        "prefiltered-m0-px.exr",
        "prefiltered-m1-nz.exr",
        "irradiance-ny.exr",
    ] {
        assert!(folder.path("even").join(name).is_file(), "{name}");
    }
    // A baked cube loads as an environment again.
    folder.succeeds("render scene.obj -o lit.png --size 34x24 --env even.ktx2");
}

#[test]
fn broken_environments_give_a_one_line_error() {
    let folder = Folder::new();
    let whole = hdr(|i| [10 * i as u8, 20, 30, 128]);
    std::fs::write(folder.path("cut.hdr"), &whole[..whole.len() - 9]).unwrap();
    std::fs::write(folder.path("words.hdr"), "this is no picture").unwrap();
    for line in [
        "render scene.obj -o out.png --size 34x24 --env",
        "bake-env -o out.json",
    ] {
        folder.fails(&format!("{line} cut.hdr"), &["cut.hdr"]);
        folder.fails(&format!("{line} words.hdr"), &["words.hdr"]);
        folder.fails(&format!("{line} missing.hdr"), &["missing.hdr"]);
    }
    folder.fails_with(2, "bake-env cut.hdr -o out.png", &["out.png", ".json"]);
    folder.fails("bake-env cut.hdr -o none/out.json", &["none"]);
    assert!(!folder.path("out.png").exists() && !folder.path("out.json").exists());
}

/// A folder stands for the scene in it. The up axis rotates both export and rendering.
#[test]
fn every_command_accepts_folders_and_an_up_axis() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("model/source")).unwrap();
    let lying = "# Up axis: Z\nv 0 0 0\nv 1 0 0\nv 0 0 3\nf 1 2 3\n";
    std::fs::write(folder.path("model/source/lying.obj"), lying).unwrap();
    let highest = |line: &str| {
        folder.succeeds(line);
        let text = std::fs::read_to_string(folder.path("out.obj")).unwrap();
        let heights = text.lines().filter_map(|line| {
            let mut words = line.strip_prefix("v ")?.split(' ');
            words.nth(1)?.parse::<f32>().ok()
        });
        heights.fold(f32::MIN, f32::max)
    };
    assert_eq!(highest("export model -o out.obj"), 3.0);
    assert_eq!(highest("export model -o out.obj --set scene.up=y"), 0.0);
    assert_eq!(highest("export model -o out.obj --set scene.up=x"), 1.0);
    let info = folder.succeeds("info model");
    assert!(info.contains("z, specified by the file"), "{info}");
    assert!(info.contains("(0, 0, 0) to (1, 3, 0), at rest"), "{info}");
    let info = folder.succeeds("info model --set scene.up=y");
    assert!(info.contains("y, set by scene.up"), "{info}");
    assert!(info.contains("(0, 0, 0) to (1, 0, 3), at rest"), "{info}");
    let [up, lying] = ["z", "-z"].map(|axis| {
        let line = format!("render model -o a.png --size 48x34 --shadows off --up {axis}");
        folder.succeeds(&line);
        picture(&folder.path("a.png"))
    });
    assert!(up != lying);
    let wrong = folder.canopy("render model -o a.png --up w");
    assert_eq!(wrong.status.code(), Some(2));

    std::fs::write(folder.path("model/a.obj"), OBJ).unwrap();
    std::fs::write(folder.path("model/b.obj"), OBJ).unwrap();
    folder.fails("info model", &["model", "2 scenes", "a.obj, b.obj"]);
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.fails("info empty", &["empty", "without a scene"]);
}
