//! Environment cubes: conversion from an image, mip levels, prefiltered levels, and the split-sum table. Each
//! is compared with its twin.

use crate::common;
use canopy::{
    gpu::{
        Bind, Gpu, bind_group,
        pass::{self, Binding},
        profiler::{Profiler, Scope},
        shader,
    },
    reference::environment::{
        brdf_table as table_twin,
        cube_map::{Faces, direction, place, texel_direction, texel_solid_angle},
        cube_mips as mips_twin,
        equirect::{self as equirect_twin, Picture},
        prefilter as prefilter_twin,
    },
    render::{
        SHADERS,
        environment::{
            Cube,
            brdf_table::BrdfTable,
            cube_mips::CubeMips,
            equirect::{Equirect, EquirectImage},
            prefilter::{Prefilter, PrefilterSettings, samples},
        },
        layout::{BRDF_TABLE_COLUMNS, BRDF_TABLE_PAIRS, BRDF_TABLE_ROWS, PREFILTER_SAMPLES_MAX},
    },
    scene::environment::{EnvironmentImage, Shape},
};

use common::{Random, by_lane, gpu, portable_gpu};
use glam::{DVec2, DVec3};
use half::f16;
use std::f64::consts::{PI, TAU};
use wgpu::{BufferUsages as Buffer, TextureFormat as Format};

/// Half an ulp of a half float, doubled for sums in f32.
const HALF: f64 = 1.0 / 1024.0;

fn record(gpu: &Gpu, work: impl FnOnce(&mut Scope<'_>)) {
    let mut profiler = Profiler::new(gpu).unwrap();
    let mut encoder = gpu.encoder("test");
    work(&mut profiler.scope("test", &mut encoder));
    profiler.submit(gpu, encoder);
    gpu.wait().unwrap();
}

fn half(radiance: DVec3) -> [f16; 4] {
    let [r, g, b] = radiance.to_array().map(f16::from_f64);
    [r, g, b, f16::ONE]
}

fn rounded(radiance: DVec3) -> DVec3 {
    let [r, g, b, _] = half(radiance).map(f64::from);
    DVec3::new(r, g, b)
}

/// An image with these texels, by column and row, for the GPU and for the twin.
fn image(
    width: usize,
    height: usize,
    radiance: impl FnMut(usize, usize) -> DVec3,
) -> (EnvironmentImage, Picture) {
    let mut radiance = radiance;
    let texels: Vec<_> = (0..width * height)
        .map(|i| half(radiance(i % width, i / width)))
        .collect();
    let picture = Picture {
        width,
        height,
        texels: texels.iter().map(exact).collect(),
    };
    let image = EnvironmentImage {
        name: "test".into(),
        shape: Shape::Equirectangular,
        width: width as u32,
        height: height as u32,
        texels,
        scale: 1.0,
        sun: None,
        warnings: Vec::new(),
    };
    (image, picture)
}

fn exact(texel: &[f16; 4]) -> DVec3 {
    let [r, g, b, _] = texel.map(f64::from);
    DVec3::new(r, g, b)
}

fn noise(seed: u64) -> impl FnMut(usize, usize) -> DVec3 {
    let mut random = Random(seed);
    move |_, _| (0.5 * (random.cube() + 1.0)).as_dvec3()
}

/// Noise with a separate seed for each texel of a cube.
fn noisy_faces(size: usize, seed: u64) -> Faces {
    let mut random = Random(seed);
    let texels = (0..6 * size * size)
        .map(|_| rounded((0.5 * (random.cube() + 1.0)).as_dvec3()))
        .collect();
    Faces { size, texels }
}

/// A cube with faces of `face` texels, made from `image`.
fn cube_of(gpu: &Gpu, image: &EnvironmentImage, face: u32, levels: u32) -> Cube {
    let cube = Cube::new(gpu, "test", face, levels, Format::Rgba16Float).unwrap();
    let source = EquirectImage::new(gpu, image).unwrap();
    let equirect = Equirect::new(gpu);
    record(gpu, |scope| {
        equirect.record(gpu, scope, &source, &cube).unwrap();
    });
    cube
}

/// A cube that holds `faces`, with all its mip levels made on the GPU.
fn upload(gpu: &Gpu, faces: &Faces) -> Cube {
    let face = faces.size as u32;
    let levels = Cube::full_levels(face);
    let cube = cube_of(gpu, &cube_image(faces), face, levels);
    let mips = CubeMips::new(gpu);
    record(gpu, |scope| mips.record(gpu, scope, &cube).unwrap());
    cube
}

fn cube_image(faces: &Faces) -> EnvironmentImage {
    EnvironmentImage {
        name: "test".into(),
        shape: Shape::Cube,
        width: faces.size as u32,
        height: 6 * faces.size as u32,
        texels: faces.texels.iter().copied().map(half).collect(),
        scale: 1.0,
        sun: None,
        warnings: Vec::new(),
    }
}

/// Reads back a mip level.
fn read(gpu: &Gpu, cube: &Cube, level: u32) -> Faces {
    let size = (cube.face >> level).max(1);
    let row_bytes = (8 * size).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let bytes = u64::from(row_bytes) * u64::from(6 * size);
    let staging = gpu.buffer("faces", bytes, Buffer::COPY_DST | Buffer::COPY_SRC);
    let mut encoder = gpu.encoder("faces");
    encoder.copy_texture_to_buffer(
        wgpu::TexelCopyTextureInfo {
            mip_level: level,
            ..cube.texture.as_image_copy()
        },
        wgpu::TexelCopyBufferInfo {
            buffer: &staging,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row_bytes),
                rows_per_image: Some(size),
            },
        },
        wgpu::Extent3d {
            width: size,
            height: size,
            depth_or_array_layers: 6,
        },
    );
    gpu.queue.submit([encoder.finish()]);
    let bytes = gpu.read(&staging).unwrap();
    let rows = bytes.chunks(row_bytes as usize).take(6 * size as usize);
    let texels = rows.flat_map(|row| {
        let texels: Vec<[f16; 4]> = bytemuck::pod_collect_to_vec(&row[..8 * size as usize]);
        texels
    });
    let texels: Vec<_> = texels.collect();
    assert!(texels.iter().all(|texel| texel[3] == f16::ONE), "alpha");
    Faces {
        size: size as usize,
        texels: texels.iter().map(exact).collect(),
    }
}

/// Largest difference of a channel.
fn difference(a: &Faces, b: &Faces) -> f64 {
    assert_eq!((a.size, a.texels.len()), (b.size, b.texels.len()));
    let pairs = a.texels.iter().zip(&b.texels);
    let largest = |largest: f64, (a, b): (&DVec3, &DVec3)| {
        let d = (*a - *b).abs().max_element();
        // A NaN counts as the largest value.
        if d <= largest { largest } else { d }
    };
    pairs.fold(0.0, largest)
}

#[track_caller]
fn assert_near(a: &Faces, b: &Faces, tolerance: f64, what: &str) {
    let found = difference(a, b);
    assert!(found <= tolerance, "{what}: {found} > {tolerance}");
}

/// Mean of the image over each texel of the cube, by definition, from many points per texel of the image.
fn brute_force(picture: &Picture, size: usize) -> Faces {
    const POINTS: usize = 24;
    let mut sums = vec![(DVec3::ZERO, 0.0); 6 * size * size];
    let [columns, rows] = [picture.width, picture.height].map(|side| side * POINTS);
    for row in 0..rows {
        let colatitude = PI * (row as f64 + 0.5) / rows as f64;
        for column in 0..columns {
            let longitude = TAU * ((column as f64 + 0.5) / columns as f64 - 0.5);
            let sine = colatitude.sin();
            let along = DVec3::new(sine * longitude.cos(), colatitude.cos(), sine * longitude.sin());
            let (face, place) = place(along);
            let at = (0.5 * (place + 1.0) * size as f64).as_usizevec2();
            let [x, y] = at.to_array().map(|at| at.min(size - 1));
            let texel = picture.texels[row / POINTS * picture.width + column / POINTS];
            let sum = &mut sums[(face * size + y) * size + x];
            sum.0 += sine * texel;
            sum.1 += sine;
        }
    }
    Faces {
        size,
        texels: sums.iter().map(|(sum, weight)| *sum / *weight).collect(),
    }
}

/// Number of samples along a side of a texel, as the host chooses it.
fn equirect_samples(picture: &Picture, face: usize) -> usize {
    let texels = (2.0 * picture.height as f64).max(picture.width as f64) / (PI * face as f64);
    (texels.ceil() as usize + 1).max(3)
}

const SIZES: &[(usize, usize, usize)] = &[
    (1, 1, 1),
    (1, 1, 8),
    (2, 1, 2),
    (3, 2, 3),
    (8, 4, 31),
    (31, 16, 32),
    (33, 17, 33),
    (64, 32, 16),
    (64, 32, 7),
    (128, 64, 1),
    (16, 64, 9),
    (256, 16, 12),
];

#[test]
fn equirect_to_cube_matches_the_cpu_reference() {
    for gpu in [gpu(), portable_gpu()] {
        for &(width, height, face) in SIZES {
            let (image, picture) = image(width, height, noise(width as u64));
            let cube = read(&gpu, &cube_of(&gpu, &image, face as u32, 1), 0);
            let twin = equirect_twin::equirect(&picture, face, equirect_samples(&picture, face));
            let what = format!("{width} × {height} to {face}");
            assert_near(&cube, &twin, 2.0 * HALF, &what);
        }
    }
}

#[test]
fn an_image_is_averaged_over_each_texel() {
    let gpu = gpu();
    for (width, height, face, tolerance) in [
        (64, 32, 16, 0.04),
        (128, 64, 8, 0.02),
        (128, 64, 15, 0.02),
        (96, 48, 31, 0.06),
    ] {
        let (image, picture) = image(width, height, noise(7));
        let cube = read(&gpu, &cube_of(&gpu, &image, face as u32, 1), 0);
        let exact = brute_force(&picture, face);
        let pairs = cube.texels.iter().zip(&exact.texels);
        let square: f64 = pairs.map(|(a, b)| (*a - *b).length_squared() / 3.0).sum();
        let rms = (square / cube.texels.len() as f64).sqrt();
        let what = format!("{width} × {height} to {face}");
        println!(
            "{what}: rms {rms:.4} of noise of rms 0.29, largest {:.4}",
            difference(&cube, &exact)
        );
        assert!(rms < tolerance, "{what}: {rms}");
    }
}

/// Difference of two energies, relative to the second.
fn energy_error(a: DVec3, b: DVec3) -> f64 {
    ((a - b) / b).abs().max_element()
}

#[test]
fn an_image_keeps_its_energy() {
    let gpu = gpu();
    for (width, height, face) in [
        (64, 32, 16),
        (64, 32, 32),
        (128, 64, 16),
        (63, 31, 17),
        (256, 128, 64),
    ] {
        let (image, picture) = image(width, height, noise(3));
        let cube = read(&gpu, &cube_of(&gpu, &image, face, 1), 0);
        let error = energy_error(cube.energy(), picture.energy());
        println!("{width} × {height} to {face}: {error:.5}");
        assert!(error < 1e-3, "{width} × {height} to {face}: {error}");
    }
}

/// A sun in a dark sky at every height: the pole rows, those next to them, the equator, and the edges of the
/// cube.
#[test]
fn a_bright_texel_keeps_its_energy() {
    let gpu = gpu();
    for (face, tolerance) in [(8, 0.05), (16, 0.05), (32, 0.08)] {
        for row in [0, 1, 2, 8, 15, 16, 20, 30, 31] {
            for column in [0, 8, 33, 63] {
                let sun = DVec3::new(1000.0, 500.0, 20.0);
                let (image, picture) = image(
                    64,
                    32,
                    |x, y| {
                        if (x, y) == (column, row) { sun } else { DVec3::ZERO }
                    },
                );
                let cube = read(&gpu, &cube_of(&gpu, &image, face, 1), 0);
                let error = energy_error(cube.energy(), picture.energy());
                println!("{column}, {row} on {face}: {error:.4}");
                assert!(error < tolerance, "{column}, {row} on {face}: {error}");
            }
        }
    }
}

#[test]
fn a_uniform_image_stays_uniform_exactly() {
    let gpu = gpu();
    let gray = rounded(DVec3::new(0.7, 1.3, 4000.0));
    let uniform = |faces: &Faces| faces.texels.iter().all(|texel| *texel == gray);
    let mips = CubeMips::new(&gpu);
    let settings = PrefilterSettings::new(&gpu);
    let mut prefilter = Prefilter::new(&gpu, settings).unwrap();
    for &(width, height, face) in SIZES {
        let (image, _) = image(width, height, |_, _| gray);
        let face = face as u32;
        let cube = cube_of(&gpu, &image, face, Cube::full_levels(face));
        let levels = Prefilter::levels(face);
        let mirrored = Cube::new(&gpu, "test", face, levels, Format::Rgba16Float).unwrap();
        record(&gpu, |scope| {
            mips.record(&gpu, scope, &cube).unwrap();
            for step in 0..prefilter.steps(&mirrored) {
                prefilter
                    .record_step(&gpu, scope, &cube, &mirrored, step)
                    .unwrap();
            }
        });
        for (what, cube) in [("radiance", &cube), ("prefiltered", &mirrored)] {
            for level in 0..cube.levels {
                let found = read(&gpu, cube, level);
                assert!(
                    uniform(&found),
                    "{what} of {face}, level {level}: {:?}",
                    found.texels[0]
                );
            }
        }
    }
}

#[test]
fn a_turned_image_turns_the_cube() {
    let gpu = gpu();
    let (width, height) = (64, 32);
    let (image, picture) = image(width, height, noise(5));
    let turned = EnvironmentImage {
        texels: (0..width * height)
            .map(|i| half(picture.texels[i / width * width + (i + 3 * width / 4) % width]))
            .collect(),
        ..image.clone()
    };
    // In the middle of a face of odd size, samples straddle the seam of the image.
    for face in [12, 13] {
        let before = read(&gpu, &cube_of(&gpu, &image, face, 1), 0);
        let after = read(&gpu, &cube_of(&gpu, &turned, face, 1), 0);
        // A quarter turn from +X to +Z.
        let expected = Faces::new(face as usize, |f, x, y| {
            let along = texel_direction(face as usize, f, x, y);
            before.nearest(DVec3::new(along.z, along.y, -along.x))
        });
        assert!(difference(&before, &after) > 0.2, "the test turns nothing");
        assert_near(&after, &expected, 2.0 * HALF, &format!("turned, {face}"));
    }
}

#[test]
fn cube_conversion_mips_and_prefiltering_are_linear() {
    let gpu = gpu();
    let (width, height, face) = (32, 16, 16);
    let (one, a) = image(width, height, noise(8));
    let (other, b) = image(width, height, noise(9));
    let (both, _) = image(width, height, |x, y| {
        a.texels[y * width + x] + 4.0 * b.texels[y * width + x]
    });
    let stages = |image: &EnvironmentImage| {
        let cube = cube_of(&gpu, image, face, 5);
        let mirrored = Cube::new(&gpu, "test", face, 2, Format::Rgba16Float).unwrap();
        let mut prefilter = Prefilter::new(&gpu, PrefilterSettings::new(&gpu)).unwrap();
        record(&gpu, |scope| {
            CubeMips::new(&gpu).record(&gpu, scope, &cube).unwrap();
            for step in 0..prefilter.steps(&mirrored) {
                prefilter
                    .record_step(&gpu, scope, &cube, &mirrored, step)
                    .unwrap();
            }
        });
        [
            read(&gpu, &cube, 0),
            read(&gpu, &cube, 2),
            read(&gpu, &mirrored, 1),
        ]
    };
    let [one, other, both] = [one, other, both].map(|image| stages(&image));
    for ((one, other), both) in one.iter().zip(&other).zip(&both) {
        let sum = Faces {
            size: one.size,
            texels: one
                .texels
                .iter()
                .zip(&other.texels)
                .map(|(a, b)| *a + 4.0 * *b)
                .collect(),
        };
        assert_near(both, &sum, 5.0 * 4.0 * HALF, "sum");
    }
}

#[test]
fn cubes_of_the_same_size_are_copied_and_others_resampled() {
    let gpu = gpu();
    for (from, to) in [
        (1, 1),
        (2, 2),
        (33, 33),
        (32, 16),
        (32, 12),
        (7, 31),
        (1, 5),
        (33, 2),
        (31, 32),
    ] {
        let faces = noisy_faces(from, 11);
        let cube = read(&gpu, &cube_of(&gpu, &cube_image(&faces), to as u32, 1), 0);
        let twin = mips_twin::resample(&faces, to);
        let tolerance = if from == to { 1e-12 } else { HALF };
        assert_near(&cube, &twin, tolerance, &format!("{from} to {to}"));
        let error = energy_error(cube.energy(), faces.energy());
        assert!(error < 1e-3, "{from} to {to}: {error}");
    }
}

#[test]
fn mip_levels_match_the_cpu_reference_and_conserve_energy() {
    let gpu = gpu();
    for size in [1, 2, 3, 5, 31, 32, 33, 64, 100] {
        let faces = noisy_faces(size, size as u64);
        let cube = upload(&gpu, &faces);
        let mut finer = read(&gpu, &cube, 0);
        assert_near(&finer, &faces, 0.0, "uploaded");
        for level in 1..cube.levels {
            let found = read(&gpu, &cube, level);
            let what = format!("level {level} of {size}");
            assert_near(&found, &mips_twin::coarser(&finer), HALF, &what);
            let error = energy_error(found.energy(), faces.energy());
            assert!(error < 1e-3, "{what}: {error}");
            finer = found;
        }
    }
}

#[test]
fn a_bright_texel_keeps_its_energy_on_all_levels() {
    let gpu = gpu();
    for size in [32, 33] {
        for (face, x, y) in [(0, 0, 0), (2, 13, 7), (3, 31, 0), (5, 16, 16)] {
            let faces = Faces::new(size, |f, column, row| {
                let lit = (f, column, row) == (face, x, y);
                if lit {
                    DVec3::new(60000.0, 600.0, 6.0)
                } else {
                    DVec3::ZERO
                }
            });
            let cube = upload(&gpu, &faces);
            let energy = read(&gpu, &cube, 0).energy();
            for level in 1..cube.levels {
                let error = energy_error(read(&gpu, &cube, level).energy(), energy);
                // Each level rounds a texel once.
                let rounding = f64::from(level) / 2048.0;
                assert!(error < rounding, "{x}, {y} of {size}, level {level}: {error}");
            }
        }
    }
}

/// Prefiltered levels of `faces`, and the mip levels of its radiance.
fn prefiltered(gpu: &Gpu, faces: &Faces, settings: PrefilterSettings) -> (Vec<Faces>, Vec<Faces>) {
    let cube = upload(gpu, faces);
    let levels = Prefilter::levels(cube.face);
    let mirrored = Cube::new(gpu, "test", cube.face, levels, Format::Rgba16Float).unwrap();
    let mut prefilter = Prefilter::new(gpu, settings).unwrap();
    // In reverse order, because the order of the steps does not matter.
    for step in (0..prefilter.steps(&mirrored)).rev() {
        record(gpu, |scope| {
            prefilter.record_step(gpu, scope, &cube, &mirrored, step).unwrap();
        });
    }
    let all = |cube: &Cube| (0..cube.levels).map(|level| read(gpu, cube, level)).collect();
    (all(&cube), all(&mirrored))
}

#[test]
fn prefiltered_levels_match_the_cpu_reference() {
    for gpu in [gpu(), portable_gpu()] {
        for (size, count) in [(2, 8), (3, 9), (16, 32), (33, 31), (64, 48)] {
            let faces = noisy_faces(size, 21);
            let settings = PrefilterSettings {
                samples: count,
                step_samples: 10_000,
            };
            let (radiance, levels) = prefiltered(&gpu, &faces, settings);
            assert_near(&levels[0], &faces, 0.0, "the finest level");
            for (level, found) in (0..).zip(&levels).skip(1) {
                let roughness = Prefilter::roughness(level, levels.len() as u32);
                let count = count >> (levels.len() as u32 - 1 - level);
                let set = samples(roughness, count, size as u32);
                let twin = prefilter_twin::prefilter(&radiance, found.size, &set);
                // Texture filters have at least eight bits between texels.
                assert_near(found, &twin, 1.0 / 128.0, &format!("level {level} of {size}"));
            }
        }
    }
}

/// Mean over the lobe by definition, texel by texel.
fn lobe(faces: &Faces, size: usize, roughness: f64) -> Faces {
    let fine = faces.size;
    let lights: Vec<_> = (0..6 * fine * fine)
        .map(|i| {
            let (x, y) = (i % fine, i / fine % fine);
            let along = texel_direction(fine, i / (fine * fine), x, y);
            (along, texel_solid_angle(fine, x, y), faces.texels[i])
        })
        .collect();
    let alpha2 = roughness.powi(4);
    Faces::new(size, |face, x, y| {
        let normal = texel_direction(size, face, x, y);
        let mut sum = DVec3::ZERO;
        let mut weights = 0.0;
        for (along, solid_angle, radiance) in &lights {
            let n_dot_l = normal.dot(*along);
            if n_dot_l > 0.0 {
                let n_dot_h2 = 0.5 * (1.0 + n_dot_l);
                let d = alpha2 / (PI * (1.0 + (alpha2 - 1.0) * n_dot_h2).powi(2));
                let weight = 0.25 * d * n_dot_l * solid_angle;
                sum += weight * *radiance;
                weights += weight;
            }
        }
        sum / weights
    })
}

/// A sky with a horizon, and a sun of a few texels.
fn sky(size: usize) -> Faces {
    Faces::new(size, |face, x, y| {
        let along = texel_direction(size, face, x, y);
        let sun = DVec3::new(0.48, 0.6, 0.64);
        let sky = if along.y > 0.0 {
            DVec3::new(0.4, 0.6, 1.0) * (1.2 - along.y)
        } else {
            DVec3::new(0.2, 0.15, 0.1)
        };
        let glow = 400.0 * (60.0 * (along.dot(sun) - 1.0) / 0.02).exp();
        rounded(sky + glow)
    })
}

#[test]
fn prefiltered_levels_approximate_the_ggx_lobe_and_conserve_energy() {
    let gpu = gpu();
    let faces = sky(64);
    let settings = PrefilterSettings {
        step_samples: 1 << 20,
        ..PrefilterSettings::new(&gpu)
    };
    let (_, levels) = prefiltered(&gpu, &faces, settings);
    for (level, found) in (0..).zip(&levels).skip(1) {
        let roughness = Prefilter::roughness(level, levels.len() as u32);
        let exact = lobe(&faces, found.size, roughness);
        let pairs = found.texels.iter().zip(&exact.texels);
        let square: f64 = pairs.map(|(a, b)| (*a - *b).length_squared()).sum();
        let whole: f64 = exact.texels.iter().map(|texel| texel.length_squared()).sum();
        let rms = (square / whole).sqrt();
        let error = energy_error(found.energy(), faces.energy());
        println!("level {level}, roughness {roughness:.3}: rms {rms:.4}, energy {error:.5}");
        assert!(rms < 0.03, "level {level}: {rms}");
        assert!(error < 0.015, "level {level}: {error}");
    }
}

#[test]
fn roughness_and_mip_level_map_to_each_other() {
    assert_eq!(
        [1, 2, 3, 8, 16, 33, 64, 256, 512, 2048].map(Prefilter::levels),
        [1, 2, 2, 2, 2, 3, 4, 6, 6, 6]
    );
    for levels in [2, 4, 6] {
        assert_eq!(Prefilter::roughness(0, levels), 0.0);
        assert_eq!(Prefilter::roughness(levels - 1, levels), 1.0);
    }
    let gpu = gpu();
    let queries: Vec<[f32; 2]> = (0..6)
        .flat_map(|level| {
            let levels = 6;
            [[Prefilter::roughness(level, levels) as f32, levels as f32]]
        })
        .chain([[-1.0, 4.0], [2.0, 4.0], [0.5, 1.0]])
        .collect();
    let text = "#import \"environment/environment.wgsl\"
        @group(0) @binding(0) var<storage, read> queries: array<vec2f>;
        @group(0) @binding(1) var<storage, read_write> answers: array<vec2f>;
        @compute @workgroup_size(1)
        fn probe(@builtin(global_invocation_id) id: vec3u) {
            let query = queries[id.x];
            answers[id.x] = vec2f(environment_lod(query.x, u32(query.y)), 0.0);
        }";
    let answers = probe(&gpu, text, &queries, None);
    let expected = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 3.0, 0.0];
    for (answer, expected) in answers.iter().zip(expected) {
        assert!((answer[0] - expected).abs() < 1e-5, "{answers:?}");
    }
}

/// Runs a shader over queries, with a uniform.
fn probe(
    gpu: &Gpu,
    text: &'static str,
    queries: &[[f32; 2]],
    uniform: Option<&wgpu::Buffer>,
) -> Vec<[f32; 2]> {
    let arrays = gpu.capabilities.arrays;
    let composed = shader::compose_text(&SHADERS, "probe", text, arrays).unwrap();
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("probe"),
        source: wgpu::ShaderSource::Wgsl(composed.text.into()),
    });
    let mut bindings = vec![Binding::Read, Binding::Write];
    let input = gpu.buffer_with("queries", queries, Buffer::STORAGE);
    let output = gpu.buffer(
        "answers",
        8 * queries.len() as u64,
        Buffer::STORAGE | Buffer::COPY_SRC,
    );
    let mut resources: Vec<&dyn Bind> = vec![&input, &output];
    if let Some(uniform) = uniform {
        bindings.push(Binding::Uniform);
        resources.push(uniform);
    }
    let layout = pass::compute_layout(gpu, "probe", &bindings);
    let pipeline = pass::compute_pipeline_of(gpu, &module, "probe", Some(&[Some(&layout)]), &[]).unwrap();
    let group = bind_group(gpu, "probe", &layout, &resources);
    record(gpu, |scope| {
        let mut pass = scope.scoped_compute_pass("probe");
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(queries.len() as u32, 1, 1);
    });
    let answers: Vec<[f32; 2]> = bytemuck::pod_collect_to_vec(&gpu.read(&output).unwrap());
    answers[..queries.len()].to_vec()
}

/// Scale and bias that a shader reads from the table, by roughness and cosine, and the table's entries.
fn table_answers(gpu: &Gpu, queries: &[[f32; 2]]) -> (Vec<[f32; 2]>, Vec<[f32; 2]>) {
    let table = BrdfTable::new(gpu);
    record(gpu, |scope| table.record(gpu, scope).unwrap());
    let text = "#import \"environment/brdf_table_lookup.wgsl\"
        @group(0) @binding(0) var<storage, read> queries: array<vec2f>;
        @group(0) @binding(1) var<storage, read_write> answers: array<vec2f>;
        @group(0) @binding(2) var<uniform> brdf_table: array<vec4f, BRDF_TABLE_PAIRS>;
        @compute @workgroup_size(1)
        fn probe(@builtin(global_invocation_id) id: vec3u) {
            answers[id.x] = brdf_table_at(queries[id.x].x, queries[id.x].y);
        }";
    let answers = probe(gpu, text, queries, Some(&table.buffer));
    let entries: Vec<[f32; 2]> = bytemuck::pod_collect_to_vec(&gpu.read(&table.buffer).unwrap());
    assert_eq!(entries.len(), 2 * BRDF_TABLE_PAIRS as usize);
    (answers, entries)
}

#[test]
fn the_brdf_table_matches_the_integral_everywhere() {
    let gpu = gpu();
    let mut queries = Vec::new();
    let rows = BRDF_TABLE_ROWS - 1;
    let columns = BRDF_TABLE_COLUMNS - 1;
    // At entries, and halfway between them along either axis and both. Step sizes are odd.
    for twice_row in (0..=2 * rows).step_by(by_lane(15, 3)) {
        let roughness = 0.045 + 0.955 * twice_row as f32 / (2 * rows) as f32;
        let steepness = 4.0 / (roughness * roughness);
        for twice_column in (0..=2 * columns).step_by(5) {
            let share = twice_column as f32 / (2 * columns) as f32;
            let cosine = ((share * steepness.ln_1p()).exp_m1() / steepness).clamp(1e-5, 1.0);
            queries.push([roughness, cosine]);
        }
    }
    queries.extend([[0.0, 1.0], [0.0, 0.3], [0.0, 0.01], [1.0, 1.0], [1.0, 0.0]]);
    let (answers, entries) = table_answers(&gpu, &queries);
    let mut worst = [(0.0, [0.0; 2]); 3];
    for (query, answer) in queries.iter().zip(&answers) {
        let [roughness, cosine] = query.map(f64::from);
        let twin = table_twin::lookup(&entries, roughness, cosine);
        let exact = table_twin::albedo(cosine.max(1e-6), roughness, 700);
        for channel in 0..2 {
            let found = f64::from(answer[channel]);
            assert!(
                (found - twin[channel]).abs() < 2e-4,
                "{query:?}: {answer:?}, the twin {twin:?}"
            );
        }
        let errors = [
            ((twin[0] + twin[1]) / (exact[0] + exact[1]) - 1.0).abs(),
            (twin[0] - exact[0]).abs(),
            (twin[1] - exact[1]).abs(),
        ];
        for (worst, error) in worst.iter_mut().zip(errors) {
            if error > worst.0 {
                *worst = (error, [roughness, cosine]);
            }
        }
    }
    println!("worst of the albedo, relative; of scale and bias: {worst:.5?}");
    assert!(worst.iter().all(|(error, _)| *error < 5e-3), "{worst:?}");
}

/// A metal with a reflectance of 1 under uniform lighting, including multiple scattering (Fdez-Agüera 2019).
#[test]
fn a_white_metal_in_white_light_is_white() {
    let gpu = gpu();
    let queries: Vec<[f32; 2]> = (0..=40)
        .flat_map(|i| (0..=40).map(move |j| [i as f32 / 40.0, j as f32 / 40.0]))
        .collect();
    let (answers, _) = table_answers(&gpu, &queries);
    let mut least = 1.0_f32;
    for (query, [scale, bias]) in queries.iter().zip(answers) {
        let albedo = scale + bias;
        assert!(
            scale >= 0.0 && bias >= 0.0 && albedo <= 1.0 + 1e-5,
            "{query:?}: {scale}, {bias}"
        );
        let (f0, lost) = (1.0, 1.0 - albedo);
        let single = f0 * scale + bias;
        let average = f0 + (1.0 - f0) / 21.0;
        let multiple = single * average / (1.0 - average * lost) * lost;
        assert!((single + multiple - 1.0).abs() < 1e-5, "{query:?}");
        least = least.min(single);
    }
    assert!(least < 0.5, "nothing is scattered more than once: {least}");
}

#[test]
fn oversized_images_are_refused() {
    let gpu = portable_gpu();
    let (wide, _) = image(8193, 1, |_, _| DVec3::ONE);
    let error = EquirectImage::new(&gpu, &wide).unwrap_err();
    assert!(matches!(error, canopy_bvh::Error::Limit { .. }), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("test: a texture for 8193 × 1 texels"),
        "{error}"
    );
    let (mut short, _) = image(4, 2, |_, _| DVec3::ONE);
    short.texels.pop();
    assert!(EquirectImage::new(&gpu, &short).is_err());
    let (not_six, _) = image(4, 2, |_, _| DVec3::ONE);
    let not_six = EnvironmentImage {
        shape: Shape::Cube,
        ..not_six
    };
    assert!(EquirectImage::new(&gpu, &not_six).is_err());
    let (fine, _) = image(2048, 1024, |_, _| DVec3::ONE);
    let source = EquirectImage::new(&gpu, &fine).unwrap();
    assert_eq!((source.face(1024), source.face(100)), (512, 100));
    let tiny = Cube::new(&gpu, "tiny", 1, 1, Format::Rgba16Float).unwrap();
    let equirect = Equirect::new(&gpu);
    record(&gpu, |scope| {
        let error = equirect.record(&gpu, scope, &source, &tiny).unwrap_err();
        assert!(matches!(error, canopy_bvh::Error::Limit { .. }), "{error}");
    });
    for samples in [0, PREFILTER_SAMPLES_MAX + 1] {
        let settings = PrefilterSettings {
            samples,
            step_samples: 1,
        };
        assert!(Prefilter::new(&gpu, settings).is_err());
    }
}

/// Rows are staged in pieces of 32 MiB. An image of more than one piece is uploaded completely.
#[test]
fn a_large_image_is_uploaded_in_pieces() {
    let gpu = gpu();
    let (image, picture) = image(4096, 2048, |x, y| DVec3::new(x as f64, y as f64, 1.0) / 2048.0);
    let cube = read(&gpu, &cube_of(&gpu, &image, 64, 1), 0);
    let expected = Faces::new(64, |face, x, y| {
        let at = DVec2::new(x as f64, y as f64) + 0.5;
        let along = direction(face, at / 32.0 - 1.0).normalize();
        let u = 0.5 + along.z.atan2(along.x) / TAU;
        let v = along.y.acos() / PI;
        picture.texels[(v * 2048.0) as usize * 4096 + (u * 4096.0) as usize]
    });
    for (i, (found, expected)) in cube.texels.iter().zip(&expected.texels).enumerate() {
        let d = (*found - *expected).abs();
        // Longitudes wrap behind the viewer, and change fast near the poles.
        let face = i / (64 * 64);
        assert!(
            d.y < 0.02 && (d.x < 0.04 || face > 0 && face < 4),
            "{i}: {found} {expected}"
        );
    }
}
