//! Random numbers shared by all sampling passes.

use canopy::{
    reference::sampling,
    render::{
        frame::blue_noise::{self, BLUE_NOISE_SIDE as SIDE},
        layout::{SAMPLE_BLENDED_LIGHTS, SAMPLE_LIGHT_CHOICE, SAMPLE_LIGHTS, SAMPLE_OCCLUSION},
    },
};

const DIMENSIONS: [u32; 5] = [
    SAMPLE_OCCLUSION,
    SAMPLE_LIGHT_CHOICE,
    SAMPLE_LIGHTS,
    SAMPLE_LIGHTS + 1,
    SAMPLE_BLENDED_LIGHTS + 7,
];

fn point(pixel: [u32; 2], k: u32, dimension: u32) -> [f64; 2] {
    sampling::point(blue_noise::mask(), pixel, k, dimension)
}

#[test]
fn samples_of_a_pixel_are_stratified() {
    // Without the mask, which shifts all of a pixel's numbers around the square.
    let zeros = vec![0; (SIDE * SIDE) as usize];
    for dimension in DIMENSIONS {
        for [columns, rows] in [[16, 16], [64, 4], [1, 256]] {
            for first in [0, 256] {
                let mut cells = vec![0; 256];
                for k in first..first + 256 {
                    let [x, y] = sampling::point(&zeros, [7, 9], k, dimension);
                    let column = (x * f64::from(columns)) as usize;
                    cells[column * rows as usize + (y * f64::from(rows)) as usize] += 1;
                }
                let even = cells.iter().all(|&count| count == 1);
                assert!(even, "{columns} × {rows} in dimension {dimension}");
            }
        }
    }
}

#[test]
fn sample_dimensions_are_uncorrelated() {
    let numbers = |dimension| -> Vec<f64> {
        let pixels = (0..SIDE * SIDE).map(|i| [i % SIDE, i / SIDE]);
        let all = pixels.flat_map(|pixel| (0..16).flat_map(move |k| point(pixel, k, dimension)));
        all.map(|number| number - 0.5).collect()
    };
    let all = DIMENSIONS.map(numbers);
    for (i, a) in all.iter().enumerate() {
        for b in &all[..i] {
            let sum: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            let correlation = 12.0 * sum / a.len() as f64;
            assert!(correlation.abs() < 0.03, "{correlation}");
        }
    }
}

/// Blue noise has little power at low frequencies, so the mean of a few neighbours is near the mean of all.
#[test]
fn samples_of_neighbouring_pixels_are_blue_noise() {
    for dimension in DIMENSIONS {
        let mut power = 0.0;
        for (k, channel) in [(0, 0), (0, 1), (1, 0), (1, 1), (17, 0), (17, 1)] {
            for block in 0..256 {
                let corner = [block % 16 * 4 + 2, block / 16 * 4 + 2];
                let block = (0..16).map(|i| [corner[0] + i % 4, corner[1] + i / 4]);
                let sum: f64 = block.map(|at| point(at, k, dimension)[channel]).sum();
                power += (sum / 16.0 - 0.5).powi(2) / 6.0 / 256.0;
            }
        }
        let of_white_noise = 1.0 / 12.0 / 16.0;
        let share = power / of_white_noise;
        assert!(share < 0.33, "{share} in dimension {dimension}");
    }
}
