//! Spherical harmonics of an environment: the pass compared with its twin, and the twin with known results.

use crate::common;
use canopy::{
    gpu::{Gpu, bind_group, pass, profiler::Profiler, shader},
    reference::environment::{
        cube_map,
        project_sh::{self as twin, COEFFICIENTS},
    },
    render::{
        SHADERS,
        environment::{Cube, ProjectSh},
    },
};
use common::{Random, gpu, implementations};
use glam::{DQuat, DVec3, Vec3};
use half::f16;
use std::f64::consts::PI;
use wgpu::TextureFormat as Format;

/// Sizes at and around the bounds of columns, workgroups and the centre of a face.
const SIZES: [u32; 11] = [1, 2, 3, 4, 5, 31, 32, 33, 64, 100, 257];

/// A cube on the GPU.
fn upload(gpu: &Gpu, face: u32, texels: &[[f32; 4]], format: Format) -> Cube {
    let cube = Cube::new(gpu, "test", face, 1, format).unwrap();
    let halves: Vec<[f16; 4]>;
    let bytes: &[u8] = if format == Format::Rgba16Float {
        halves = texels.iter().map(|texel| texel.map(f16::from_f32)).collect();
        bytemuck::cast_slice(&halves)
    } else {
        bytemuck::cast_slice(texels)
    };
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(bytes.len() as u32 / (6 * face)),
        rows_per_image: Some(face),
    };
    let size = cube.texture.size();
    gpu.queue
        .write_texture(cube.texture.as_image_copy(), bytes, layout, size);
    cube
}

/// Contents of the result buffer.
fn project(gpu: &Gpu, pass: &ProjectSh, cube: &Cube, order: u32) -> Vec<[f32; 4]> {
    let mut profiler = Profiler::new(gpu).unwrap();
    let mut encoder = gpu.encoder("test");
    pass.record(gpu, &mut profiler.scope("test", &mut encoder), cube, order)
        .unwrap();
    profiler.submit(gpu, encoder);
    let floats = bytemuck::pod_collect_to_vec(&gpu.read(&pass.result).unwrap());
    gpu.check().unwrap();
    floats
}

/// Noisy texels with a bright and a dark side, exact in half floats.
fn noise(face: u32, seed: u64) -> Vec<[f32; 4]> {
    let mut random = Random(seed);
    let texel = |i: u32| {
        let slope = (i % face) as f32 / face as f32 + (i / face / face) as f32;
        let texel = [random.unit(), 4.0 * random.unit() * slope, slope, random.unit()];
        texel.map(|channel| f16::from_f32(channel).to_f32())
    };
    (0..6 * face * face).map(texel).collect()
}

/// Error of a result's radiance or irradiance.
fn fault(result: &[[f32; 4]], expected: &[DVec3; COEFFICIENTS]) -> f64 {
    assert_eq!(result.len(), 2 * COEFFICIENTS);
    let (radiance, irradiance) = (colors(&result[..COEFFICIENTS]), colors(&result[COEFFICIENTS..]));
    let of_radiance = twin::error(&radiance, expected);
    of_radiance.max(twin::error(&irradiance, &twin::irradiance_sh(expected)))
}

fn colors(result: &[[f32; 4]]) -> Vec<DVec3> {
    let color = |[r, g, b, w]: &[f32; 4]| {
        assert_eq!(*w, 0.0);
        Vec3::new(*r, *g, *b).as_dvec3()
    };
    result.iter().map(color).collect()
}

#[test]
fn the_pass_matches_the_cpu_reference() {
    for (kernels, gpu) in implementations() {
        let pass = ProjectSh::new(&gpu);
        let mut worst: f64 = 0.0;
        for face in SIZES {
            let texels = noise(face, u64::from(face));
            for order in [3, 5] {
                let expected = twin::project_sh(&texels, face as usize, order as usize);
                for format in [Format::Rgba16Float, Format::Rgba32Float] {
                    let cube = upload(&gpu, face, &texels, format);
                    let error = fault(&project(&gpu, &pass, &cube, order), &expected);
                    worst = worst.max(error);
                    assert!(
                        error < 1e-6,
                        "{kernels}, {face}², order {order}, {format:?}: {error:e}"
                    );
                }
            }
        }
        println!("{kernels}: at most {worst:e}");
    }
}

/// Cube of a function of the direction, as floats.
fn cube_of(face: u32, radiance: impl Fn(DVec3) -> DVec3) -> Vec<[f32; 4]> {
    let face = face as usize;
    let texel = |i: usize| {
        let v = cube_map::nth_texel_direction(face, i);
        radiance(v).as_vec3().extend(1.0).to_array()
    };
    (0..6 * face * face).map(texel).collect()
}

/// Evenly distributed unit vectors.
fn directions(count: u32) -> impl Iterator<Item = DVec3> {
    (0..count).map(move |i| {
        let z = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
        let angle = f64::from(i) * PI * (3.0 - 5f64.sqrt());
        let radius = (1.0 - z * z).sqrt();
        DVec3::new(radius * angle.cos(), radius * angle.sin(), z)
    })
}

/// Radiance and irradiance of a projection on the GPU.
fn project_floats(gpu: &Gpu, pass: &ProjectSh, texels: &[[f32; 4]], order: u32) -> [[DVec3; 25]; 2] {
    let face = (texels.len() / 6).isqrt() as u32;
    let cube = upload(gpu, face, texels, Format::Rgba32Float);
    let result = colors(&project(gpu, pass, &cube, order));
    let (radiance, irradiance) = result.split_at(COEFFICIENTS);
    [radiance.try_into().unwrap(), irradiance.try_into().unwrap()]
}

#[test]
fn the_comparison_detects_errors() {
    let texels = noise(8, 1);
    let expected = twin::project_sh(&texels, 8, 5);
    let all = expected.iter().copied().chain(twin::irradiance_sh(&expected));
    let mut result: Vec<[f32; 4]> = all.map(|c| c.as_vec3().extend(0.0).to_array()).collect();
    assert!(fault(&result, &expected) < 1e-7);
    for index in [0, 24, 25, 49] {
        let right = result[index];
        result[index][1] += 1e-4 * result[0][1];
        assert!(fault(&result, &expected) > 1e-5, "{index}");
        result[index][1] = f32::NAN;
        assert!(fault(&result, &expected) > 1e-5, "{index}");
        result[index] = right;
    }
}

/// Only the first coefficient is nonzero, and a white surface is as bright as its surroundings. With few
/// texels, their centres cannot represent band 4, in the twin either.
#[test]
fn a_uniform_environment_has_only_the_first_coefficient() {
    for (kernels, gpu) in implementations() {
        let pass = ProjectSh::new(&gpu);
        for face in SIZES.into_iter().chain([128]) {
            let texels = vec![[1.0, 0.5, 8.0, 1.0]; 6 * (face * face) as usize];
            let white = DVec3::new(1.0, 0.5, 8.0);
            for order in [3, 5] {
                let [radiance, irradiance] = project_floats(&gpu, &pass, &texels, order);
                let first = radiance[0] / white / (4.0 * PI).sqrt();
                assert!(
                    (first - 1.0).abs().max_element() < 1e-6,
                    "{kernels} {face}: {first}"
                );
                let exact = twin::project_sh(&texels, face as usize, order as usize);
                for (i, rest) in radiance.iter().enumerate().skip(1) {
                    let expected = if i < 16 { DVec3::ZERO } else { exact[i] };
                    let error = ((*rest - expected) / white).abs().max_element();
                    assert!(error < 2e-6, "{kernels}, {face}², order {order}, {i}: {error:e}");
                    assert!(i < (order * order) as usize || *rest == DVec3::ZERO);
                }
                for n in directions(100) {
                    let furnace = twin::evaluate_sh(&irradiance, n) / (PI * white);
                    let error = (furnace - 1.0).abs().max_element();
                    let tolerance = match (order, face) {
                        (3, _) => 1e-6,
                        (_, 128..) => 2e-5,
                        (_, 31..) => 5e-4,
                        _ => continue,
                    };
                    assert!(error < tolerance, "{kernels}, {face}², order {order}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn projecting_a_bright_texel_gives_the_basis_in_its_direction() {
    for (kernels, gpu) in implementations() {
        let pass = ProjectSh::new(&gpu);
        let mut random = Random(3);
        for face in [1, 2, 5, 64, 257_usize] {
            let solid_angles = cube_map::solid_angles(face);
            for side in 0..6 {
                let (x, y) = (random.bits() as usize % face, random.bits() as usize % face);
                let mut texels = vec![[0.0; 4]; 6 * face * face];
                texels[(side * face + y) * face + x] = [1000.0, 1.0, 0.0, 0.0];
                let [radiance, _] = project_floats(&gpu, &pass, &texels, 5);
                let basis = twin::basis(cube_map::texel_direction(face, side, x, y));
                let weight = DVec3::new(1000.0, 1.0, 0.0) * solid_angles[y * face + x];
                let error = twin::error(&radiance, &basis.map(|basis| basis * weight));
                assert!(error < 2e-6, "{kernels}, {face}² {side} {x} {y}: {error:e}");
            }
        }
    }
}

/// Rotations about the axes map texels onto texels. Other rotations are compared as functions of five bands.
#[test]
fn a_rotated_environment_has_rotated_coefficients() {
    let gpu = gpu();
    let pass = ProjectSh::new(&gpu);
    let sky = |v: DVec3| environment(v, 60.0) + 0.2 * (7.0 * v.x).sin();
    let check = |turn: DQuat, face: u32, radiance: &dyn Fn(DVec3) -> DVec3, tolerance: f64| {
        let [still, _] = project_floats(&gpu, &pass, &cube_of(face, radiance), 5);
        let turned = cube_of(face, |v| radiance(turn.inverse() * v));
        let [turned, _] = project_floats(&gpu, &pass, &turned, 5);
        let first = still[0].max_element();
        for v in directions(200) {
            let difference = twin::evaluate_sh(&turned, turn * v) - twin::evaluate_sh(&still, v);
            let error = difference.abs().max_element() / first;
            assert!(error < tolerance, "{turn}: {error:e}");
        }
    };
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for quarters in 1..4 {
            let turn = DQuat::from_axis_angle(axis, f64::from(quarters) * 0.5 * PI);
            check(turn, 32, &sky, 3e-6);
        }
    }
    let smooth = |v: DVec3| {
        let [x, y, z] = v.to_array();
        DVec3::new(1.0 + x * y * z, 2.0 + x.powi(4) - z, 1.0 - y + x * z.powi(3))
    };
    let mut random = Random(9);
    for _ in 0..5 {
        let axis = random.cube().as_dvec3().normalize();
        check(
            DQuat::from_axis_angle(axis, 6.0 * f64::from(random.unit())),
            128,
            &smooth,
            1e-4,
        );
    }
}

#[test]
fn the_projection_is_linear() {
    let gpu = gpu();
    let pass = ProjectSh::new(&gpu);
    let (a, b) = (noise(50, 1), noise(50, 2));
    let add = |(a, b): (&[f32; 4], &[f32; 4])| std::array::from_fn(|i| a[i] + 2.0 * b[i]);
    let sum: Vec<[f32; 4]> = a.iter().zip(&b).map(add).collect();
    let [of_a, of_b, of_sum] = [a, b, sum].map(|texels| project_floats(&gpu, &pass, &texels, 5)[0]);
    let expected: [DVec3; 25] = std::array::from_fn(|i| of_a[i] + 2.0 * of_b[i]);
    assert!(twin::error(&of_sum, &expected) < 1e-6);
}

#[test]
fn the_result_is_the_same_from_run_to_run() {
    for (kernels, gpu) in implementations() {
        let texels = noise(200, 7);
        let cube = upload(&gpu, 200, &texels, Format::Rgba16Float);
        let runs = |order| {
            let pass = ProjectSh::new(&gpu);
            (0..4)
                .map(|_| project(&gpu, &pass, &cube, order))
                .collect::<Vec<_>>()
        };
        for order in [3, 5] {
            let all = [runs(order), runs(order)].concat();
            let bits = |run: &Vec<[f32; 4]>| bytemuck::cast_slice::<_, u8>(run).to_vec();
            assert!(
                all.iter().all(|run| bits(run) == bits(&all[0])),
                "{kernels}, order {order}"
            );
        }
    }
}

/// Earlier projections do not affect the next one. In the largest cube, workgroups process several rows with
/// all kernels.
#[test]
fn earlier_projections_do_not_affect_the_next() {
    let cases = [(257, 5), (1, 3), (64, 3), (2, 5), (700, 5), (3, 3)].map(|(face, order)| {
        let texels = noise(face, 4);
        let expected = twin::project_sh(&texels, face as usize, order as usize);
        (face, order, texels, expected)
    });
    for (kernels, gpu) in implementations() {
        let pass = ProjectSh::new(&gpu);
        for (face, order, texels, expected) in &cases {
            let cube = upload(&gpu, *face, texels, Format::Rgba16Float);
            let error = fault(&project(&gpu, &pass, &cube, *order), expected);
            assert!(error < 1e-6, "{kernels} {face}: {error:e}");
        }
    }
}

/// A sky with a sun of some degrees over a ground.
fn environment(v: DVec3, sun: f64) -> DVec3 {
    let middle = DVec3::new(0.5, 0.6, -0.4).normalize();
    let sky = DVec3::new(0.35, 0.55, 1.0).lerp(DVec3::ONE, (1.0 - v.y).powi(3));
    let glow = DVec3::new(1.0, 0.85, 0.7) * sun * ((v.dot(middle) - 0.99) * 160.0).clamp(0.0, 1.0);
    if v.y > 0.0 {
        sky + glow
    } else {
        DVec3::new(0.3, 0.25, 0.2)
    }
}

/// Mean and greatest difference from the integral over all texels, relative to its mean.
fn irradiance_errors(irradiance: &[DVec3; 25], exact: &[(DVec3, DVec3)]) -> (f64, f64) {
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / exact.len() as f64;
    let level = mean(&mut exact.iter().map(|(_, exact)| exact.element_sum() / 3.0));
    let error = |(n, exact): &(DVec3, DVec3)| {
        (twin::evaluate_sh(irradiance, *n).max(DVec3::ZERO) - exact)
            .abs()
            .element_sum()
            / 3.0
    };
    let worst = exact.iter().map(error).fold(0.0, f64::max);
    (mean(&mut exact.iter().map(error)) / level, worst / level)
}

/// Three bands are enough under a hazy sun. A clear sun, which outshines everything else, is beyond three
/// bands and beyond five.
#[test]
fn irradiance_approximates_the_integral() {
    let gpu = gpu();
    let pass = ProjectSh::new(&gpu);
    for (sun, tolerance) in [(6.0, 0.01), (60.0, 0.035)] {
        let texels = cube_of(48, |v| environment(v, sun));
        let exact: Vec<_> = directions(1000)
            .map(|n| (n, twin::irradiance(&texels, 48, n)))
            .collect();
        let [low, high] = [3, 5].map(|order| {
            let [_, irradiance] = project_floats(&gpu, &pass, &texels, order);
            irradiance_errors(&irradiance, &exact)
        });
        println!("sun of {sun}: order 3, mean and worst {low:?}; order 5 {high:?}");
        assert!(low.0 < tolerance && high.0 < 0.6 * low.0 && high.1 < low.1);
        // Without the cosine convolution, the difference would be large.
        let radiance = twin::project_sh(&texels, 48, 3);
        assert!(irradiance_errors(&radiance, &exact).0 > 0.1);
    }
}

/// The functions used by shading, compared with their twin.
#[test]
fn sh_evaluation_in_shading_matches_the_cpu_reference() {
    const TEST: &str = "
#import \"environment/sh.wgsl\"
@group(0) @binding(0) var<uniform> environment_sh: array<vec4f, 50>;
@group(0) @binding(1) var<storage, read_write> values: array<vec4f>;
@compute @workgroup_size(64)
fn evaluate(@builtin(global_invocation_id) id: vec3u) {
    let v = values[2u * id.x].xyz;
    values[2u * id.x] = vec4f(max(sh_sum(0u, v), vec3f(0.0)), 0.0);
    values[2u * id.x + 1u] = vec4f(sh_irradiance(v), 0.0);
}";
    let gpu = gpu();
    let text = shader::compose_text(&SHADERS, "test", TEST, gpu.capabilities.arrays)
        .unwrap()
        .text;
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let label = Some("evaluate");
    let module = gpu
        .device
        .create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
    let pipeline = pass::compute_pipeline_of(&gpu, &module, "evaluate", None, &[]).unwrap();
    let projection = ProjectSh::new(&gpu);
    // Dark except for one side, so that sums fall below zero. No axis points to the middle of that side, so
    // no coefficient is zero.
    let bright = DVec3::new(1.0, 2.0, 3.0).normalize();
    let texels = cube_of(16, |v| {
        DVec3::new(20.0, 10.0, 1.0) * (v.dot(bright) - 0.8).max(0.0)
    });
    let [radiance, irradiance] = project_floats(&gpu, &projection, &texels, 5);
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let vectors: Vec<[f32; 4]> = directions(128)
        .flat_map(|v| [v.as_vec3().extend(0.0).to_array(), [0.0; 4]])
        .collect();
    let values = gpu.buffer_with("values", &vectors, usage);
    let group = bind_group(
        &gpu,
        "evaluate",
        &pipeline.get_bind_group_layout(0),
        &[&projection.result, &values],
    );
    let mut encoder = gpu.encoder("test");
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(2, 1, 1);
    }
    gpu.queue.submit([encoder.finish()]);
    let found: Vec<[f32; 4]> = bytemuck::pod_collect_to_vec(&gpu.read(&values).unwrap());
    let mut clamped = 0;
    for (pair, v) in colors(&found).chunks_exact(2).zip(directions(128)) {
        for (found, coefficients) in pair.iter().zip([&radiance, &irradiance]) {
            let sum = twin::evaluate_sh(coefficients, v);
            clamped += usize::from(sum.min_element() < 0.0);
            let error = (*found - sum.max(DVec3::ZERO)).abs().max_element();
            assert!(error < 1e-6 * coefficients[0].max_element(), "{v}: {error:e}");
        }
    }
    assert!(clamped > 10, "{clamped}");
}
