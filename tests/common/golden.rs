//! Comparison of pictures with those in tests/golden/, which UPDATE_GOLDEN=1 writes.

use crate::common::rounds_corners_coarsely;
use canopy::gpu::Gpu;
use std::path::Path;

/// Mean difference of two pictures' bytes, and the largest.
pub(crate) fn difference(a: &[u8], b: &[u8]) -> (f64, u8) {
    assert_eq!(a.len(), b.len(), "the pictures have other sizes");
    let steps = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b));
    let sum: f64 = steps.clone().map(f64::from).sum();
    (sum / a.len() as f64, steps.max().unwrap_or(0))
}

/// Compares a picture with tests/golden/NAME.png. The mean difference may be 0.5 of 255. Between adapters,
/// edges and highlights may move by a pixel, and shadows must not. The difference may be 1 if all edges move.
pub(crate) fn compare_with_golden(gpu: &Gpu, name: &str, picture: &[u8], [width, height]: [u32; 2]) {
    let most = if rounds_corners_coarsely(gpu) { 1.0 } else { 0.5 };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.png"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        image::save_buffer(&path, picture, width, height, image::ColorType::Rgba8).unwrap();
    }
    let golden = image::open(&path)
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        .into_rgba8();
    let (mean, largest) = difference(picture, golden.as_raw());
    if mean >= most {
        let actual = std::env::temp_dir().join(format!("canopy-{name}.png"));
        image::save_buffer(&actual, picture, width, height, image::ColorType::Rgba8).unwrap();
        panic!(
            "{name}: mean difference {mean:.2}, largest {largest}; see {}",
            actual.display()
        );
    }
}
