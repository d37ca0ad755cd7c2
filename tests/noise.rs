//! Noise estimate of pictures that are drawn until they have converged: compared with its twin, with the
//! statistics of random numbers, and with a picture of many more samples.

use crate::common;
use canopy::{
    gpu::profiler::Profiler,
    reference::noise as twin,
    render::{
        Noise,
        present::noise::{Mean, NoisePass},
    },
};

use common::{Random, folder::Folder, gpu};

const SIZE: [u32; 2] = [120, 90];

/// Sums of linear light after 12 and after 16 frames, with values uniform between 0 and twice `mean`.
fn sums(mean: f32) -> [Vec<[f32; 4]>; 2] {
    let mut random = Random(7);
    let pixels = (SIZE[0] * SIZE[1]) as usize;
    let mut add = |sums: &mut Vec<[f32; 4]>, frames: u32| {
        for sum in sums.iter_mut() {
            for _ in 0..frames {
                let value = 2.0 * mean * (random.bits() as f32 / u32::MAX as f32);
                sum[1] += value;
            }
            (sum[0], sum[2], sum[3]) = (sum[0] + mean * frames as f32, 0.0, sum[3] + frames as f32);
        }
    };
    let mut before = vec![[0.0; 4]; pixels];
    add(&mut before, 12);
    let mut shown = before.clone();
    add(&mut shown, 4);
    [before, shown]
}

fn estimated(before: &[[f32; 4]], shown: &[[f32; 4]]) -> Noise {
    let gpu = gpu();
    let mut pass = NoisePass::new(&gpu).unwrap();
    for (frames, sums) in [(12, before), (16, shown)] {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let buffer = gpu.buffer("sums", size_of_val(sums) as u64, usage);
        gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(sums));
        let mut profiler = Profiler::new(&gpu).unwrap();
        let mut encoder = gpu.encoder("test");
        let mut scope = profiler.scope("test", &mut encoder);
        let mean = Mean {
            shown: &buffer,
            size: SIZE,
            frames,
            summed: frames,
        };
        pass.estimate(&gpu, &mut scope, mean).unwrap();
        drop(scope);
        profiler.submit(&gpu, encoder);
        assert_eq!(pass.collect(), None, "it has not come back");
        gpu.wait().unwrap();
        gpu.check().unwrap();
    }
    pass.collect();
    gpu.wait().unwrap();
    pass.collect().unwrap()
}

#[test]
fn the_noise_estimate_matches_the_cpu_reference_and_the_distribution() {
    // Levels by which middle grey changes per relative change of its light: the derivative of the encoding.
    let mean: f64 = 0.216;
    let slope = 255.0 * 1.055 / 2.4 * mean.powf(1.0 / 2.4 - 1.0);
    for scale in [1.0, 0.25, 0.02] {
        // Only a part of the light is noisy.
        let [before, shown] = sums(mean as f32);
        let mixed = |sums: &[[f32; 4]], frames: f32| -> Vec<[f32; 4]> {
            let calm = |sum: f32| scale as f32 * sum + (1.0 - scale as f32) * mean as f32 * frames;
            sums.iter().map(|s| [s[0], calm(s[1]), s[2], s[3]]).collect()
        };
        let (before, shown) = (mixed(&before, 12.0), mixed(&shown, 16.0));
        let found = estimated(&before, &shown);
        let expected = twin::levels([&shown, &before], [16, 12]);
        assert_eq!(found.frames, 16);
        let above = f64::from(found.levels) - expected;
        let widest = match expected < 2.0 {
            true => 1.001 / 16.0,
            false => 0.19 * expected,
        };
        assert!(
            (-1e-4 * expected..widest).contains(&above),
            "{found:?} for {expected}"
        );
        // A uniform distribution has a standard deviation of its width over √12. 95 % of the means of 16
        // samples lie within 1.96 of their standard deviations.
        let known = 1.96 * slope * scale * 2.0 * mean / (12.0 * 16.0f64).sqrt();
        assert!((expected / known - 1.0).abs() < 0.06, "{expected} for {known}");
    }
}

/// Rendering stops by itself once the noise is below half a level, deterministically. The error to the
/// converged picture is as small as promised. All pictures of a sequence have the same number of samples.
#[test]
fn render_adds_samples_until_the_noise_is_low() {
    let folder = Folder::new();
    let line = "render scene.obj --size 96x72 -q --env sky --set sun.angle=12 --set output.samples=0 --set image.dither=false";
    let picture = |name: &str, more: &str| {
        let stats = format!("{name}.json");
        let output = folder.canopy(&format!("{line} -o {name}.png --stats {stats} {more}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        let bytes = std::fs::read(folder.path(&stats)).unwrap();
        let stats: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let pixels = image::open(folder.path(&format!("{name}.png"))).unwrap();
        (
            pixels.into_rgb8(),
            stats,
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let (clean, stats, told) = picture("clean", "--progress");
    let samples = stats["samples"].as_u64().unwrap();
    let noise = stats["noise"].as_f64().unwrap();
    assert!((12..=64).contains(&samples), "{samples}");
    assert!(noise <= 0.5, "{noise} after {samples}");
    assert!(told.ends_with(&format!("\n{samples}/{samples}\n")), "{told}");
    let (again, ..) = picture("again", "");
    assert!(again == clean, "the second picture is another one");
    let output = folder.canopy("render --from clean.png -o from.png -q");
    assert!(output.status.success());
    let from = image::open(folder.path("from.png")).unwrap();
    assert!(
        from.into_rgb8() == clean,
        "made again from its picture it is another one"
    );

    let (truth, ..) = picture("truth", "--samples 256");
    let error = |of: &image::RgbImage| {
        let mut errors: Vec<u8> = of
            .pixels()
            .zip(truth.pixels())
            .map(|(a, b)| (0..3).map(|c| a.0[c].abs_diff(b.0[c])).max().unwrap())
            .collect();
        errors.sort_unstable();
        errors[errors.len() * 95 / 100]
    };
    // Half a level of noise, and half a level of rounding.
    assert!(error(&clean) <= 1, "{}", error(&clean));
    let (plain, stats, _) = picture("plain", "--samples 1");
    let sum = |of: &image::RgbImage| -> u32 {
        let pairs = of.as_raw().iter().zip(truth.as_raw());
        pairs.map(|(a, b)| u32::from(a.abs_diff(*b))).sum()
    };
    assert!(sum(&plain) > 2 * sum(&clean), "{} {}", sum(&plain), sum(&clean));
    assert_eq!((&stats["samples"], stats["noise"].is_null()), (&1.into(), true));

    let output = folder.canopy(&format!(
        "{line} -o f-{{frame}}.png --frames 2 --stats sequence.json"
    ));
    assert!(output.status.success());
    let bytes = std::fs::read(folder.path("sequence.json")).unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(
        (&stats["samples"], &stats["pictures"]["draws"]),
        (&8.into(), &16.into())
    );
    // The other half of the sequence is rendered separately.
    let first = std::fs::read(folder.path("f-0.png")).unwrap();
    assert!(
        folder
            .canopy(&format!("{line} -o g-{{frame}}.png --frames 0-0"))
            .status
            .success()
    );
    let alone = image::open(folder.path("g-0.png")).unwrap();
    assert!(alone == image::load_from_memory(&first).unwrap());
}

/// A path-traced picture reports the noise of its last check, which may precede its last sample.
#[test]
fn a_picture_by_paths_reports_its_noise() {
    let folder = Folder::new();
    let output = folder.canopy("render scene.obj --size 64x48 -q --paths 64 -o p.png --stats p.json");
    assert!(output.status.success(), "{output:?}");
    let stats = std::fs::read(folder.path("p.json")).unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&stats).unwrap();
    let samples = stats["noise_samples"].as_u64().unwrap();
    assert!((12..=64).contains(&samples), "{samples}");
    let noise = stats["noise"].as_f64().unwrap();
    assert!((0.05..20.0).contains(&noise), "{noise}");
}
