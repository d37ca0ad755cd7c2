//! `canopy compare`, and the errors that it measures.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

use canopy::output::flip::{PIXELS_PER_DEGREE, flip};

/// A picture by a formula: sRGB-encoded bytes of each pixel.
type Formula = fn(u32, u32) -> [u32; 3];

const WAVES: Formula = |x, y| {
    [
        (x * 7 + y * 3) % 256,
        x * y % 256,
        (255 + 256 * x - x * 5) % 256,
    ]
};
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

/// NVIDIA's figures (flip-evaluator 1.7): size, pictures, pixels per degree, mean, maximum, first pixel.
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

/// The largest difference of two triples.
fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    let differences = a.into_iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

#[test]
fn flip_is_that_of_its_authors() {
    for (index, (size, pictures, pixels_per_degree, theirs)) in NVIDIA.into_iter().enumerate() {
        let ours = figures(size, pictures, pixels_per_degree);
        println!("{index} {:e}", apart(ours, theirs));
        assert!(
            apart(ours, theirs) < 2e-5,
            "pair {index}: {ours:?} {theirs:?}"
        );
    }
}
