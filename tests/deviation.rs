//! Deviations. The command and the viewer share one implementation, which is compared with distances from a
//! box in f64. The viewer's results for meshes deformed on the GPU are compared with the command's.

use crate::{
    common::{self, gltf_builder},
    signs::{self, shells},
};
use canopy::{
    config::Config,
    gpu::Gpu,
    reference::queries,
    render::{
        Channel,
        geometry::visible::{VisibleGeometry, visible},
        inspect::compared_tree::{Batches, ComparedTree},
    },
    scene::{
        self, Pose, Progress,
        compared::ReferenceSurface,
        deviation::{SAMPLES, Statistics},
        surface_points,
    },
};

use common::{
    folder::canopy_in,
    gpu,
    scenes::{self, Stage, look_at, matte, quad},
};
use glam::{DVec3, Quat, Vec3};
use gltf_builder::Builder;
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Half side lengths of the reference box.
const HALF: Vec3 = Vec3::new(1.0, 0.5, 0.8);

/// A box with a position and a rotation.
struct Placed {
    rotation: Quat,
    middle: Vec3,
}

impl Placed {
    /// Triangles of the box with these half side lengths.
    fn triangles(&self, half: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let sign = |corner: u32, axis: u32| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
        let corner = |corner: u32| {
            let at = half * Vec3::new(sign(corner, 0), sign(corner, 1), sign(corner, 2));
            self.middle + self.rotation * at
        };
        let faces: [[u32; 4]; 6] = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let cut = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
        let triangles = faces.into_iter().flat_map(cut).collect();
        ((0..8).map(corner).collect(), triangles)
    }

    /// Signed distance from the box with the half side lengths [`HALF`].
    fn distance(&self, point: Vec3) -> f64 {
        let local = self.rotation.as_dquat().inverse() * (point - self.middle).as_dvec3();
        let over = local.abs() - HALF.as_dvec3();
        over.max(DVec3::ZERO).length() + over.max_element().min(0.0)
    }
}

/// Errors of `statistics` above `slack`, given the distances of vertices, and the areas and distances of
/// samples.
fn wrong(statistics: &Statistics, vertices: &[f64], samples: &[(f64, f64)], slack: f64) -> Vec<String> {
    let all = || vertices.iter().copied().chain(samples.iter().map(|s| s.1));
    let area: f64 = samples.iter().map(|s| s.0).sum();
    let mean = |of: &dyn Fn(f64) -> f64| samples.iter().map(|s| s.0 * of(s.1)).sum::<f64>() / area;
    let out = statistics.out.unwrap();
    let share = |is_out: &dyn Fn(f64) -> bool| mean(&|d| f64::from(u8::from(is_out(d))));
    let checks = [
        ("minimum", statistics.min.distance, all().fold(f64::MAX, f64::min)),
        ("maximum", statistics.max.distance, all().fold(f64::MIN, f64::max)),
        ("mean", statistics.mean, mean(&|d| d)),
        ("RMS", statistics.rms, mean(&|d| d * d).sqrt()),
        ("above", out.above, share(&|d| d > out.tolerance)),
        ("below", out.below, share(&|d| d < -out.tolerance)),
        ("histogram", statistics.histogram.iter().sum(), 1.0),
    ];
    let is_wrong = |(_, found, expected): &(&str, f64, f64)| (found - expected).abs() > slack;
    let wrong = checks.into_iter().filter(is_wrong);
    wrong.map(|check| format!("{check:?}")).collect()
}

/// Measures a box with the half side lengths `half` against the box with [`HALF`]. Returns the statistics and
/// their errors, with `fault` added to each expected distance.
fn compare(gpu: &Gpu, placed: &Placed, half: Vec3, fault: f64) -> (Statistics, Vec<String>) {
    let (positions, triangles) = placed.triangles(HALF);
    let size = f64::from(2.0 * HALF.length());
    let compared = Arc::new(ReferenceSurface::new(positions, triangles));
    assert!((compared.surface.size() / size - 1.0).abs() < 0.5);
    let tree = ComparedTree::new(gpu, compared).unwrap();
    let (positions, triangles) = placed.triangles(half);
    let of = (&positions[..], &triangles[..]);
    // Several batches, of which the last is not full.
    let batches = Batches::between_frames(gpu);
    let measured = tree.measure(gpu, of, 5000, Some(0.15), &batches).unwrap();
    let distance = |point: Vec3| placed.distance(point) + fault;
    let vertices: Vec<f64> = positions.iter().map(|p| distance(*p)).collect();
    assert_eq!(measured.vertices.len(), vertices.len());
    let samples = surface_points::samples(&positions, &triangles, 5000);
    let samples: Vec<_> = samples.iter().map(|s| (s.area, distance(s.position))).collect();
    assert_eq!(measured.statistics.samples, samples.len());
    let wrong = wrong(&measured.statistics, &vertices, &samples, 1e-5 * size);
    (measured.statistics, wrong)
}

/// Within 1e-5 of the size, over faces, edges and corners, inside and outside.
#[test]
fn the_deviation_of_an_offset_box_equals_the_offset() {
    let gpu = gpu();
    let near = Placed {
        rotation: Quat::IDENTITY,
        middle: Vec3::ZERO,
    };
    let turned = Placed {
        rotation: Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 0.7),
        middle: Vec3::new(2.0, -3.0, 0.7),
    };
    for placed in [&near, &turned] {
        for offset in [-0.2f32, -0.1, 0.0, 0.1, 0.2] {
            let (found, wrong) = compare(&gpu, placed, HALF + offset, 0.0);
            assert!(wrong.is_empty(), "{offset}: {wrong:?}");
            assert!((found.min.distance - f64::from(offset)).abs() < 3e-5, "{found:?}");
            let out = found.out.unwrap();
            let expected = [offset > 0.15, offset < -0.15].map(|is| f64::from(u8::from(is)));
            // At 0.1, corners are out of tolerance and faces are not.
            let is_wrong = (out.above - expected[0]).abs() + (out.below - expected[1]).abs() > 1e-9;
            assert!(offset == 0.1 || !is_wrong, "{offset}: {out:?}");
        }
    }
    let (_, wrong) = compare(&gpu, &near, HALF + 0.1, 1e-4);
    assert!(
        ["minimum", "maximum", "mean", "RMS"]
            .iter()
            .all(|name| wrong.iter().any(|line| line.contains(name))),
        "{wrong:?}"
    );
}

/// The sign for a closed surface follows from its winding number, in figures and in pictures, whichever of
/// its shells is nearest.
#[test]
fn nested_and_touching_shells_have_the_sign_of_the_winding_number() {
    let gpu = gpu();
    // The measured surface: a sheet through the centre, seen from above.
    let sheet = quad(Vec3::new(-1.3, 0.05, 1.2), 2.6 * Vec3::X, -2.5 * Vec3::Z, 0);
    let sheet = scenes::scene([sheet], vec![matte(Vec3::ONE)]);
    let mut stage = Stage::new(&gpu, &sheet, [70, 66]);
    stage.reads.push(Channel::Deviation);
    let pose = Pose::new(&sheet, None, 0.0);
    for (name, triangles) in shells() {
        let positions = triangles.as_flattened().to_vec();
        let own = |t: u32| [3 * t, 3 * t + 1, 3 * t + 2];
        let indices = (0..triangles.len() as u32).map(own).collect();
        let compared = Arc::new(ReferenceSurface::new(positions, indices));
        assert_eq!(compared.surface.open_edges(), 0, "{name}");
        let tree = Arc::new(ComparedTree::new(&gpu, compared).unwrap());
        let expected = |point: Vec3| {
            let (distance, ..) = queries::nearest(&triangles, point).unwrap();
            let is_inside = queries::winding_number(&triangles, point) > 0.5;
            if is_inside { -distance } else { distance }
        };
        let points = signs::points(&triangles, 1000);
        let found = tree.nearest(&gpu, &points, &Batches::large()).unwrap();
        for (point, found) in points.iter().zip(found) {
            let (found, expected) = (found.unwrap().distance, expected(*point));
            assert!(
                (found - expected).abs() < 1e-5,
                "{name}: {point} {found} {expected}"
            );
        }
        stage.renderer.set_compared(Some(tree));
        let view = look_at(Vec3::new(0.1, 4.0, 0.3), Vec3::ZERO, 20.0);
        stage.draw(&pose, view);
        let [position, deviation] =
            [Channel::Position, Channel::Deviation].map(|channel| stage.channel(channel).texels);
        let mut told = [0; 2];
        for (at, found) in position.iter().zip(&deviation) {
            if at[3] == 0.0 {
                continue;
            }
            let (found, expected) = (f64::from(found[0]), expected(Vec3::from_slice(at)));
            assert!(
                (found - expected).abs() < 2e-5,
                "{name}: {at:?} {found} {expected}"
            );
            told[usize::from(found < 0.0)] += 1;
        }
        assert!(told.iter().all(|n| *n > 50), "{name}: {told:?}");
    }
}

/// A triangle that moves along z by 2 m in 1 s.
fn moving() -> Builder {
    let mut builder = Builder::triangle();
    let input = builder.floats("SCALAR", &[0.0, 1.0]);
    let output = builder.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    let target = json!({ "node": 0, "path": "translation" });
    builder.push(
        "animations",
        json!({ "name": "rise", "samplers": [{ "input": input, "output": output }],
                "channels": [{ "sampler": 0, "target": target }] }),
    );
    builder
}

/// The viewer's result for a frame equals the output of the command.
#[test]
fn deviation_of_a_deformed_frame_matches_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = moving().write(folder.path(), "a.glb");
    let still = "v -9 -9 0.25\nv 9 -9 0.25\nv 0 9 0.25\nf 1 2 3\n";
    let compared_path = folder.path().join("b.obj");
    std::fs::write(&compared_path, still).unwrap();
    let gpu = gpu();
    let config = Config::default();
    let scene = scene::load(&[path], &config.load, &Progress::default()).unwrap();
    let compared = ReferenceSurface::load(&compared_path, &config).unwrap();
    assert_eq!(compared.files, [compared_path]);
    let tree = ComparedTree::new(&gpu, Arc::new(compared)).unwrap();
    let mut stage = Stage::new(&gpu, &scene, [18, 18]);
    for time in [0.0f32, 0.3] {
        let pose = Pose::new(&scene, Some(0), time);
        let view = look_at(Vec3::Z * 5.0, Vec3::ZERO, 10.0);
        stage.draw(&pose, view);
        let mut encoder = gpu.encoder("test");
        let copy = stage.renderer.copy_geometry(&gpu, &mut encoder, &stage.uploaded);
        let copy = copy.unwrap().unwrap();
        gpu.queue.submit([encoder.finish()]);
        copy.map();
        gpu.wait().unwrap();
        let (positions, triangles) = copy.read().unwrap();
        let ranges = stage
            .uploaded
            .buffers
            .meshes
            .iter()
            .map(|mesh| mesh.first_triangle..mesh.first_triangle + mesh.triangle_count);
        let shown = VisibleGeometry::new(positions, &triangles, visible(&scene, &pose, ranges));
        let of = (&shown.positions[..], &shown.indices[..]);
        let batches = Batches::between_frames(&gpu);
        let measured = tree.measure(&gpu, of, SAMPLES, Some(0.1), &batches).unwrap();
        let found = measured.statistics;
        assert!(
            (found.mean - f64::from(2.0 * time - 0.25)).abs() < 1e-6,
            "{found:?}"
        );
        let line = format!("deviation a.glb b.obj -q -o s.json --tolerance 0.1 --time {time}");
        let output = canopy_in(folder.path(), &line).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = std::fs::read_to_string(folder.path().join("s.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let of = &json["a_to_b"];
        let out = found.out.unwrap();
        for (name, told, value) in [
            ("min", &of["min"]["distance"], found.min.distance),
            ("max", &of["max"]["distance"], found.max.distance),
            ("mean", &of["mean"], found.mean),
            ("rms", &of["rms"], found.rms),
            ("above", &of["above_tolerance"], out.above),
            ("below", &of["below_tolerance"], out.below),
            ("samples", &of["samples"], found.samples as f64),
        ] {
            let told = told.as_f64().unwrap();
            assert!(
                (told - value).abs() <= 1e-12 * value.abs(),
                "{name}: {told}, {value}"
            );
        }
    }
    let batches = Batches::large();
    batches.cancel();
    let point = [Vec3::ZERO];
    assert!(matches!(
        tree.nearest(&gpu, &point, &batches),
        Err(canopy_bvh::Error::Cancelled)
    ));
    // Without visible triangles, or with no finite position.
    let nowhere = [Vec3::NAN; 3];
    for of in [(&point[..], &[][..]), (&nowhere[..], &[[0, 1, 2]][..])] {
        let measured = tree.measure(&gpu, of, 10, None, &Batches::large());
        assert!(matches!(measured, Err(canopy_bvh::Error::NotFound(_))));
    }
}

/// A poll takes over the callbacks of everything that has arrived, and may be delayed before it runs them.
#[test]
fn readbacks_arrive_whichever_thread_polls() {
    let gpu = gpu();
    let words: Vec<u32> = (0..64).collect();
    let buffer = gpu.buffer_with("words", &words, wgpu::BufferUsages::COPY_SRC);
    let ended = AtomicBool::new(false);
    let hold_up = || {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        while !ended.load(Ordering::Relaxed) {
            let other = gpu.buffer("other", 64, usage);
            let told = |_| std::thread::sleep(Duration::from_millis(3));
            other.slice(..).map_async(wgpu::MapMode::Read, told);
            gpu.device.poll(wgpu::PollType::Poll).ok();
        }
    };
    let read = || -> Vec<String> {
        let read = |_| match gpu.read(&buffer) {
            Ok(bytes) => {
                assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&bytes), words);
                None
            }
            Err(error) => Some(error.to_string()),
        };
        (0..100).filter_map(read).collect()
    };
    std::thread::scope(|scope| {
        scope.spawn(hold_up);
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(read)).collect();
        let failures: Vec<_> = readers
            .into_iter()
            .flat_map(|reader| reader.join().unwrap())
            .collect();
        ended.store(true, Ordering::Relaxed);
        assert!(failures.is_empty(), "{} of 400: {failures:?}", failures.len());
    });
}
