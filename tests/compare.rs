//! `canopy compare` and the errors that it measures.

use crate::common::{by_lane, folder};
use canopy::output::flip::{PIXELS_PER_DEGREE, flip};
use folder::Folder;
use image::{Rgb, RgbImage};
use serde_json::{Value, json};

/// A picture by a formula: sRGB-encoded bytes of each pixel.
type Formula = fn(u32, u32) -> [u32; 3];

const WAVES: Formula = |x, y| [(x * 7 + y * 3) % 256, x * y % 256, (255 + 256 * x - x * 5) % 256];
const SHIFTED: Formula = |x, y| WAVES(x + 1, y);
const CHECKER: Formula = |x, y| match (x / 4 + y / 4) % 2 {
    0 => [20, 40, 80],
    _ => [255; 3],
};
const BROWN: Formula = |_, _| [200, 60, 30];
const ROSE: Formula = |_, _| [190, 70, 60];
const GREEN: Formula = |_, _| [0, 255, 0];
const BLUE: Formula = |_, _| [0, 0, 255];
const DOT: Formula = |x, y| match (x, y) {
    (20, 12) => [255; 3],
    _ => BROWN(x, y),
};
const GREY: Formula = |_, _| [120; 3];
const EDGE: Formula = |x, _| [if x < 17 { 120 } else { 140 }; 3];

fn made([width, height]: [u32; 2], formula: Formula) -> Vec<[f32; 3]> {
    let pixel = |i: u32| formula(i % width, i / width).map(|c| c as f32 / 255.0);
    (0..width * height).map(pixel).collect()
}

/// Figures of NVIDIA's flip-evaluator 1.7: size, pictures, pixels per degree, mean, maximum, first pixel.
type Figures = ([u32; 2], [Formula; 2], f32, [f64; 3]);

#[rustfmt::skip]
const NVIDIA: [Figures; 22] = [
    ([48, 32], [WAVES, SHIFTED], PIXELS_PER_DEGREE, [0.298_544_3, 0.750_089_8, 0.100_698]),
    ([48, 32], [WAVES, SHIFTED], 20.0, [0.382_593_6, 0.989_888_9, 0.099_268]),
    ([48, 32], [WAVES, SHIFTED], 150.0, [0.186_763_5, 0.412_648_5, 0.109_712]),
    ([48, 32], [CHECKER, BROWN], PIXELS_PER_DEGREE, [0.942_377_9, 0.986_934_2, 0.980_424]),
    ([48, 32], [CHECKER, BROWN], 20.0, [0.986_703, 0.993_623, 0.954_428]),
    ([48, 32], [CHECKER, BROWN], 150.0, [0.960_992_9, 0.982_350_6, 0.868_857]),
    ([48, 32], [BROWN, ROSE], PIXELS_PER_DEGREE, [0.251_497_8, 0.251_501_9, 0.251_502]),
    ([48, 32], [BROWN, ROSE], 150.0, [0.251_497_8, 0.251_501_7, 0.251_502]),
    ([48, 32], [GREEN, BLUE], PIXELS_PER_DEGREE, [1.0, 1.0, 1.0]),
    ([48, 32], [BROWN, DOT], PIXELS_PER_DEGREE, [0.007_449_5, 0.582_262_1, 0.0]),
    ([48, 32], [BROWN, DOT], 20.0, [0.002_989_4, 0.985_903_2, 0.0]),
    ([48, 32], [BROWN, DOT], 150.0, [0.011_928_8, 0.243_776, 0.000_203]),
    ([48, 32], [GREY, EDGE], PIXELS_PER_DEGREE, [0.170_874_6, 0.318_053_2, 0.0]),
    ([48, 32], [GREY, EDGE], 20.0, [0.160_297_3, 0.335_056_8, 0.0]),
    ([48, 32], [GREY, EDGE], 150.0, [0.188_056_5, 0.318_456_3, 0.0]),
    ([48, 32], [WAVES, WAVES], PIXELS_PER_DEGREE, [0.0; 3]),
    ([7, 3], [WAVES, SHIFTED], PIXELS_PER_DEGREE, [0.088_717_8, 0.101_511_9, 0.101_512]),
    ([7, 3], [CHECKER, BROWN], PIXELS_PER_DEGREE, [0.983_675_1, 0.992_814_8, 0.980_017]),
    ([7, 3], [BROWN, ROSE], PIXELS_PER_DEGREE, [0.251_502, 0.251_501_9, 0.251_502]),
    ([1, 1], [WAVES, SHIFTED], PIXELS_PER_DEGREE, [0.097_081; 3]),
    ([1, 1], [CHECKER, BROWN], PIXELS_PER_DEGREE, [0.954_425_2; 3]),
    ([1, 1], [GREEN, BLUE], PIXELS_PER_DEGREE, [1.0; 3]),
];

/// Mean, maximum and first pixel of FLIP.
fn figures(size: [u32; 2], [a, b]: [Formula; 2], pixels_per_degree: f32) -> [f64; 3] {
    let errors = flip(size, &made(size, a), &made(size, b), pixels_per_degree);
    let errors: Vec<f64> = errors.into_iter().map(f64::from).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    [mean, errors.iter().copied().fold(0.0, f64::max), errors[0]]
}

/// Largest difference of two triples.
fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    let differences = a.into_iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

#[test]
fn flip_matches_the_reference_implementation() {
    for (index, (size, pictures, pixels_per_degree, theirs)) in NVIDIA.into_iter().enumerate() {
        let ours = figures(size, pictures, pixels_per_degree);
        assert!(apart(ours, theirs) < 2e-5, "pair {index}: {ours:?} {theirs:?}");
    }
}

/// The test is sensitive to the filter width, to the row order and to a colour.
#[test]
fn flip_test_values_are_sensitive_to_parameters_and_pixels() {
    let (size, pictures, pixels_per_degree, theirs) = NVIDIA[0];
    for wrong in [
        figures(size, pictures, 1.01 * pixels_per_degree),
        figures([size[1], size[0]], pictures, pixels_per_degree),
        figures(
            size,
            [WAVES, |x, y| [SHIFTED(x, y)[0], SHIFTED(x, y)[1], 0]],
            pixels_per_degree,
        ),
    ] {
        assert!(apart(wrong, theirs) > 2e-4, "{wrong:?} {theirs:?}");
    }
    // The order of the two pictures does not matter.
    let [a, b] = pictures;
    assert!(apart(figures(size, [b, a], pixels_per_degree), theirs) < 2e-5);
}

/// Sunlight only.
const PLAIN: &str = "--size 66x48 --occlusion off --reflections off --sun 0,-1,0.2 --eye 1.5,2,2";

impl Folder {
    /// Runs a command line and returns its exit code, standard output and standard error. Arguments contain
    /// no spaces.
    fn outcome(&self, line: &str) -> (i32, String, String) {
        let output = self.canopy(line);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    /// Figures of a successful comparison.
    fn compares(&self, line: &str) -> Value {
        let (code, stdout, stderr) = self.outcome(&format!("compare {line} --json"));
        assert_eq!(code, 0, "{line}: {stderr}");
        serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{line}: {e}: {stdout}"))
    }

    /// Asserts this exit code and a one-line message that contains `words`.
    fn refuses(&self, code: i32, line: &str, words: &[&str]) {
        let (found, _, stderr) = self.outcome(&format!("compare {line}"));
        assert_eq!(found, code, "{line}: {stderr}");
        assert!(stderr.starts_with("error: "), "{line}: {stderr}");
        assert_eq!(stderr.trim_end().lines().count(), 1, "{line}: {stderr}");
        for word in words {
            assert!(stderr.contains(word), "{line}: no \"{word}\" in {stderr}");
        }
    }

    /// Writes a picture of 48 × 32 pixels as PNG.
    fn picture(&self, name: &str, formula: Formula) {
        let pixel = |x, y| Rgb(formula(x, y).map(|c| c as u8));
        RgbImage::from_fn(48, 32, pixel).save(self.path(name)).unwrap();
    }

    /// Writes floats of 2 × 2 pixels as OpenEXR.
    fn floats(&self, name: &str, values: [f32; 12]) {
        let picture = image::Rgb32FImage::from_raw(2, 2, values.to_vec()).unwrap();
        picture.save(self.path(name)).unwrap();
    }
}

#[test]
fn image_errors_match_known_values() {
    let folder = Folder::new();
    folder.picture("waves.png", WAVES);
    folder.picture("shifted.png", SHIFTED);
    folder.picture("brown.png", BROWN);
    folder.picture("rose.png", ROSE);
    folder.picture("dot.png", DOT);

    let same = folder.compares("waves.png waves.png --tolerance 0");
    assert_eq!([&same["mean"], &same["max"], &same["differing"]], [0.0, 0.0, 0.0]);
    assert_eq!(same["size"], json!([48, 32]));
    let none = [&same["a"]["gpu_ms"], &same["a"]["adapter"], &same["b"]["wall_ms"]];
    assert_eq!(none, [&Value::Null; 3], "what is a picture has no cost");

    let flip = folder.compares("waves.png shifted.png");
    let found = [flip["mean"].as_f64().unwrap(), flip["max"].as_f64().unwrap(), 0.0];
    assert!(apart(found, [0.298_544_3, 0.750_089_8, 0.0]) < 2e-5, "{flip}");
    assert_eq!(
        [&flip["metric"], &flip["max_at"]],
        [&json!("flip"), &json!([8, 31])]
    );
    let near = folder.compares("waves.png shifted.png --ppd 20");
    assert!(
        (near["mean"].as_f64().unwrap() - 0.382_593_6).abs() < 2e-5,
        "{near}"
    );

    // (200, 60, 30) and (190, 70, 60).
    let rmse = folder.compares("brown.png rose.png --metric rmse");
    let expected = (1100.0_f64 / 3.0).sqrt() / 255.0;
    assert!((rmse["mean"].as_f64().unwrap() - expected).abs() < 1e-6, "{rmse}");
    assert_eq!(rmse["differing"], 1.0);
    let dot = folder.compares("brown.png dot.png --metric rmse");
    assert_eq!(dot["differing"], 1.0 / 1536.0);
    assert_eq!(dot["max_at"], json!([20, 12]));
}

#[test]
fn float_images_are_compared_unclamped() {
    let folder = Folder::new();
    let mut values = [0.5, 1.0, 2.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 100.0, 200.0, 400.0];
    folder.floats("a.exr", values);
    values[10] += 6.0;
    folder.floats("b.exr", values);
    values[0] = f32::NAN;
    folder.floats("nan.exr", values);
    let error = folder.compares("a.exr b.exr");
    assert_eq!(error["metric"], "rmse");
    assert!(
        (error["mean"].as_f64().unwrap() - 3.0_f64.sqrt()).abs() < 1e-6,
        "{error}"
    );
    assert_eq!(error["differing"], 0.25);
    // JSON has no infinity.
    assert_eq!(folder.compares("b.exr nan.exr")["mean"], Value::Null);
    assert_eq!(folder.compares("nan.exr nan.exr")["mean"], 0.0);
    folder.refuses(1, "b.exr nan.exr -q --tolerance 1000", &["RMSE is inf"]);
    folder.refuses(2, "a.exr", &["a.exr", "--with", "--reference"]);
    folder.refuses(2, "a.exr b.exr --metric flip", &["--metric flip", ".exr"]);
    folder.picture("a.png", WAVES);
    folder.refuses(2, "a.png a.exr", &["a.png", "a.exr", "linear"]);
    folder.compares("a.exr b.exr -o out.png");
    // Radiance HDR: 2 × 1 texels of 200 and 100, which the exponent scales to 1.5625 and 0.78125.
    let hdr = |name: &str, red: u8| {
        let mut bytes = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n".to_vec();
        bytes.extend([red, 100, 100, 129, 100, 100, 100, 129]);
        std::fs::write(folder.path(name), bytes).unwrap();
    };
    hdr("a.hdr", 100);
    hdr("b.hdr", 200);
    assert_eq!(folder.compares("a.hdr a.hdr")["mean"], 0.0);
    let error = folder.compares("a.hdr b.hdr");
    assert_eq!(
        (&error["metric"], &error["differing"]),
        (&json!("rmse"), &json!(0.5))
    );
    // One of six numbers differs by 100/128.
    let expected = (100.0_f64 / 128.0) / 6.0_f64.sqrt();
    assert!(
        (error["mean"].as_f64().unwrap() - expected).abs() < 1e-6,
        "{error}"
    );
    folder.refuses(2, "a.png a.hdr", &["a.png", "a.hdr", "linear"]);
    std::fs::write(folder.path("broken.hdr"), "#?RADIANCE\n\n-Y 9 +X 9\n1").unwrap();
    folder.refuses(1, "broken.hdr a.hdr", &["broken.hdr", "row 0"]);
    std::fs::write(folder.path("no.hdr"), "P6 1 1").unwrap();
    folder.refuses(1, "no.hdr a.hdr", &["no.hdr", "not OpenEXR or Radiance"]);
    // Three panels of at least 27 characters.
    let sheet = image::open(folder.path("out.png")).unwrap();
    assert!(sheet.width() > 600, "{}", sheet.width());
}

/// Transparent pixels are composited over the same grey in both pictures.
#[test]
fn transparent_pixels_are_composited_over_grey() {
    let folder = Folder::new();
    let save = |name: &str, pixel: [u8; 4]| {
        let picture = image::RgbaImage::from_pixel(8, 8, image::Rgba(pixel));
        picture.save(folder.path(name)).unwrap();
    };
    save("red.png", [255, 0, 0, 0]);
    save("blue.png", [0, 0, 255, 0]);
    save("solid.png", [255, 0, 0, 255]);
    assert_eq!(
        folder.compares("red.png blue.png --metric rmse")["differing"],
        0.0
    );
    let error = folder.compares("red.png solid.png --metric rmse");
    assert!((error["mean"].as_f64().unwrap() - 0.5).abs() < 1e-6, "{error}");
}

#[test]
fn tolerances_decide_the_exit_code() {
    let folder = Folder::new();
    folder.picture("a.png", BROWN);
    folder.picture("b.png", ROSE);
    // The mean is 0.2515.
    let (code, stdout, _) = folder.outcome("compare a.png b.png --tolerance 0.252");
    assert_eq!(code, 0);
    for line in ["mean        0.2515", "size        48×32", "differing   100.0 %"] {
        assert!(stdout.contains(line), "{stdout}");
    }
    folder.refuses(
        1,
        "a.png b.png --tolerance 0.251",
        &["mean FLIP is 0.2515", "0.251"],
    );
    folder.refuses(
        1,
        "a.png b.png --metric rmse --tolerance 0.05",
        &["RMSE is 0.07509"],
    );
    // The files are written nevertheless.
    folder.refuses(
        1,
        "a.png b.png -q --tolerance 0 -o error.json",
        &["tolerance of 0"],
    );
    let error: Value = serde_json::from_slice(&std::fs::read(folder.path("error.json")).unwrap()).unwrap();
    assert_eq!(error["tolerance"], 0.0);
}

#[test]
fn the_output_image_shows_both_inputs_and_the_error_map() {
    let folder = Folder::new();
    folder.picture("a.png", BROWN);
    folder.picture("b.png", DOT);
    let open = |name: &str| image::open(folder.path(name)).unwrap().into_rgb8();
    folder.compares("a.png b.png --map-only -o map.png");
    let map = open("map.png");
    assert_eq!(map.dimensions(), (48, 32));
    assert_eq!(map.get_pixel(0, 0).0, [0, 0, 4], "magma's black");
    // An error of 0.5823 is step 9.3 of 16.
    let [r, g, b] = map.get_pixel(20, 12).0;
    assert!((207..=230).contains(&r) && (65..=81).contains(&g) && (99..=112).contains(&b));

    folder.compares("a.png b.png -o sheet.png");
    let sheet = open("sheet.png");
    let brown: Vec<_> = sheet
        .enumerate_pixels()
        .filter(|(.., p)| p.0 == [200, 60, 30])
        .collect();
    let whole = 2 * 48 * 32 - 1;
    assert_eq!(brown.len(), whole, "A whole, and B without its dot");
    let pixels = |rows: std::ops::Range<u32>, is: fn(&[u8; 3]) -> bool| {
        let all = sheet.enumerate_pixels().filter(|(_, y, _)| rows.contains(y));
        all.filter(|(.., pixel)| is(&pixel.0)).count()
    };
    let top = brown.iter().map(|(_, y, _)| *y).min().unwrap();
    let is_dark = |p: &[u8; 3]| p.iter().all(|c| *c < 80);
    assert!(pixels(0..top, is_dark) > 100, "captions");
    let is_yellow = |p: &[u8; 3]| *p == [252, 253, 191];
    assert!(
        pixels(top + 32..sheet.height(), is_yellow) > 0,
        "the end of the legend"
    );
}

#[test]
fn scenes_are_compared_with_other_settings_and_with_pictures() {
    let folder = Folder::new();
    let with = |rest: &str| folder.compares(&format!("scene.obj {PLAIN} {rest}"));
    let told = |line: &str| {
        let found = with(&format!("--with {line}"));
        let (setting, _) = line.split_once(' ').unwrap();
        assert_eq!(found["b"]["with"], json!([setting]));
        for side in ["a", "b"] {
            assert!(found[side]["wall_ms"].as_f64().unwrap() > 0.0, "{found}");
            assert!(found[side]["frames"].as_u64().unwrap() > 0, "{found}");
            assert!(found[side]["adapter"]["name"].is_string(), "{found}");
        }
        found
    };
    let dark = told("shadows.mode=off --metric rmse");
    let share = dark["differing"].as_f64().unwrap();
    assert!((0.005..0.3).contains(&share), "the shadow alone: {share}");
    // A run of the program takes as long as many tests, so the quick lane makes three.
    let is_long = by_lane(false, true);
    if is_long {
        let same = told("tree.leaf_cutoff=1 --tolerance 0");
        assert_eq!([&same["mean"], &same["differing"]], [0.0, 0.0]);
        // The later option applies only to B and overrides the options for both.
        let both_off = with("--shadows off --with shadows.mode=off --metric rmse");
        assert_eq!(both_off["differing"], 0.0);
        let sampled = with("--samples 4 --with shadows.mode=off --metric rmse");
        assert_ne!(sampled["mean"], dark["mean"], "other points of the pixels");
    }

    let pictures = [("scene.exr", "rmse"), ("scene.png", "flip")];
    for (picture, metric) in pictures.into_iter().take(by_lane(1, 2)) {
        let (code, _, stderr) = folder.outcome(&format!("render scene.obj {PLAIN} -o {picture}"));
        assert_eq!(code, 0, "{stderr}");
        let look = PLAIN.replace("--size 66x48", "");
        let saved = folder.compares(&format!("{picture} scene.obj {look} --tolerance 0"));
        assert_eq!([&saved["metric"], &saved["mean"]], [&json!(metric), &json!(0.0)]);
        assert_eq!(saved["size"], json!([66, 48]));
        if is_long {
            let other = folder.compares(&format!("scene.obj {picture} {look} --shadows off"));
            assert!(other["mean"].as_f64().unwrap() > 0.001, "{other}");
        }
    }
    folder.refuses(2, "scene.obj scene.png --size 66x48", &["--size", "scene.png"]);
}

#[test]
fn invalid_comparisons_give_a_one_line_error() {
    let folder = Folder::new();
    folder.picture("a.png", WAVES);
    RgbImage::new(7, 5).save(folder.path("small.png")).unwrap();
    folder.refuses(1, "a.png small.png", &["a.png has 48×32", "small.png 7×5"]);
    folder.refuses(1, "a.png missing.png", &["missing.png"]);
    std::fs::write(folder.path("text.png"), "text").unwrap();
    folder.refuses(1, "a.png text.png", &["text.png", "not PNG or JPEG"]);
    std::fs::copy(folder.path("a.png"), folder.path("a.exr")).unwrap();
    folder.refuses(1, "a.exr a.exr", &["a.exr", "not OpenEXR"]);
    let whole = std::fs::read(folder.path("a.png")).unwrap();
    std::fs::write(folder.path("cut.png"), &whole[..whole.len() / 2]).unwrap();
    folder.refuses(1, "cut.png a.png", &["cut.png"]);
    folder.floats("floats.exr", [1.0; 12]);
    let whole = std::fs::read(folder.path("floats.exr")).unwrap();
    for length in [0, 3, 8, 60, whole.len() - 20] {
        std::fs::write(folder.path("cut.exr"), &whole[..length]).unwrap();
        folder.refuses(1, "cut.exr floats.exr", &["cut.exr"]);
    }
    let limit = "--set load.max_image_pixels=1000";
    folder.refuses(
        1,
        &format!("a.png a.png {limit}"),
        &["a.png", "load.max_image_pixels"],
    );
    folder.refuses(1, "a.png a.png -o no/out.png", &["no"]);

    folder.refuses(2, "a.png a.png --with shadows.mode=map", &["--with", "a.png"]);
    folder.refuses(
        2,
        "scene.obj --with shadows.mode=foo",
        &["--with", "shadows.mode"],
    );
    folder.refuses(2, "scene.obj --with shadows.mode", &["--with", "KEY=VALUE"]);
    folder.refuses(2, "a.png a.png -o out.gif", &["out.gif"]);
    folder.refuses(2, "a.png a.png -o a.png", &["a.png", "overwritten"]);
    folder.refuses(2, "a.png a.png -o b.png -o b.png", &["b.png", "two outputs"]);
    folder.refuses(2, "a.png a.png --map-only", &["--map-only"]);
    folder.refuses(2, "a.png a.png --metric rmse --ppd 67", &["--ppd"]);
    folder.refuses(2, "- -", &["standard input"]);
    let sizes = "scene.obj --size 66x48 --with output.size=[32,32]";
    folder.refuses(1, sizes, &["66×48", "32×32"]);
    for line in ["", "a.png", "a.png a.png --ppd 0", "a.png a.png --tolerance -1"] {
        assert_eq!(folder.outcome(&format!("compare {line}")).0, 2, "{line}");
    }
}

#[test]
fn the_last_frame_of_several_has_a_history() {
    let folder = Folder::new();
    let mean = |frames: u32, with: &str| {
        let line = format!("scene.obj --frames {frames} --with {with} {PLAIN} --set sun.angle=20");
        folder.compares(&format!("{line} --set shadows.history=32"))["mean"].clone()
    };
    assert_eq!(mean(4, "output.samples=0"), json!(0.0));
    assert_ne!(mean(4, "shadows.history=1"), json!(0.0));
    assert_ne!(mean(4, "shadows.history=1"), mean(2, "shadows.history=1"));
    let both = "compare scene.obj --with shadows.history=1 --frames 2 --samples 2";
    assert_eq!(folder.outcome(both).0, 2);
}

/// A single run, because compiling the path tracer takes long.
#[test]
fn a_frame_is_compared_with_its_reference() {
    let folder = Folder::new();
    let line = format!(
        "scene.obj --reference --paths 32 {PLAIN} --exposure histogram \
         --set environment.source=color --tolerance 0 -q -o truth.json -o truth.png"
    );
    folder.refuses(1, &line, &["mean FLIP is", "tolerance of 0"]);
    let truth: Value = serde_json::from_slice(&std::fs::read(folder.path("truth.json")).unwrap()).unwrap();
    assert_eq!(truth["b"]["with"], json!(["image.mode=path"]));
    assert_eq!(
        [&truth["a"]["paths"], &truth["b"]["paths"]],
        [&Value::Null, &json!(32)]
    );
    let figures = &truth["reference"];
    assert_eq!(figures["flip"], truth["mean"]);
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{truth:#}"));
    assert!(number(&figures["rmse"]) > 0.0 && number(&figures["radiance_rmse"]) > 0.0);
    // Both see the same light and use one exposure. Paths also find indirect light.
    for mean in ["mean_radiance", "mean_displayed"] {
        let [a, b] = [0, 1].map(|side| number(&figures[mean][side]));
        assert!(a > 0.0 && (b / a - 1.0).abs() < 0.05, "{mean}: {a}, {b}");
    }
    assert!(number(&figures["exposure_ev"]) != 0.0, "{figures}");
    let sheet = image::open(folder.path("truth.png")).unwrap();
    assert!(sheet.width() > 3 * 64, "{}", sheet.width());

    folder.picture("a.png", GREY);
    folder.refuses(2, "a.png --reference", &["--reference", "a.png", "scene"]);
    for option in ["--paths", "--time-limit"] {
        let line = format!("a.png a.png {option} 4");
        folder.refuses(2, &line, &[option, "needs --reference"]);
    }
}
