//! Simulates ten thousand spheres that fall on a figure with moving arms, entirely on the GPU. Each step
//! skins the figure, and rebuilds the BVH over its skinned triangles and the BVH over the spheres. A shader
//! of this program queries both BVHs for contacts.
//!
//! ```text
//! cargo run --release --example falling_spheres -- spheres.obj
//! canopy spheres.obj
//! ```
//!
//! The figure and the spheres after two seconds are written to that file. The exit code is 1 if a sphere is
//! inside the figure by more than a fifth of its radius. It is also 1 if two spheres overlap by more than
//! half of the radius.

use canopy_bvh::{
    accel::{
        self, Codes, Geometry, Lbvh, MeshRange, ObjectGeometry, ObjectLbvh, Objects, OverlapPairs, Pairs,
        Search, Sign, SignedDistance, Tree, Work,
    },
    gpu::Gpu,
};
use glam::{Mat4, Vec3, Vec4};
use std::{f32::consts::TAU, fmt::Write as _, io::Write as _, process::ExitCode};
use wgpu::BufferUsages as Usage;

type Error = Box<dyn std::error::Error>;

const SPHERES: u32 = 10_000;
const RADIUS: f32 = 0.02;
/// Number of simulation steps of 0.01 s each.
const STEPS: u32 = 200;
/// Push iterations per step. The number is odd, so that the last iteration writes `pushed`.
const ROUNDS: u32 = 5;
/// Vertices around a limb, and rings along it.
const AROUND: u32 = 16;
const RINGS: u32 = 24;

/// Linear blend skinning with two bones per vertex.
const SKIN: &str = r"
struct Vertex { rest: vec3f, bones: u32, weight: f32 }
@group(0) @binding(0) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(1) var<storage, read> bones: array<mat4x4f>;
@group(0) @binding(2) var<storage, read_write> positions: array<f32>;

@compute @workgroup_size(64)
fn skin(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&vertices) { return; }
    let vertex = vertices[id.x];
    let a = bones[vertex.bones & 0xffu] * vec4f(vertex.rest, 1.0);
    let b = bones[vertex.bones >> 8u] * vec4f(vertex.rest, 1.0);
    let at = mix(a, b, vertex.weight);
    positions[3u * id.x] = at.x;
    positions[3u * id.x + 1u] = at.y;
    positions[3u * id.x + 2u] = at.z;
}";

/// Position-based dynamics (Müller et al. 2007): move, resolve contacts, and derive the velocity from the
/// change in position. This source is appended to the queries of the figure's tree. It moves each sphere up
/// to its first contact, and pushes it out of skin that has moved closer.
const FALL: &str = r"
@group(0) @binding(0) var<storage, read> before: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> after: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> velocities: array<vec4f>;

// Counts the closed limbs that contain the ray's origin: back faces that it passes through, minus front
// faces.
fn count_limbs(ray: BvhCrossingRay, depth: ptr<function, i32>) {
    var walk = bvh_walk_begin(4u);
    for (var leaf = bvh_crossing_next(&walk, ray); leaf != BVH_MISS; leaf = bvh_crossing_next(&walk, ray)) {
        *depth -= bvh_crossing(bvh_tree_triangle(leaf), ray);
    }
}

@compute @workgroup_size(64)
fn fall(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&before) { return; }
    let radius = before[id.x].w;
    var at = before[id.x].xyz;
    let velocity = 0.998 * velocities[id.x].xyz + vec3f(0.0, -0.0981, 0.0);
    let motion = 0.01 * velocity;
    let contact = bvh_sweep(BvhSweep(at, 0.98 * radius, at, motion), 4u);
    at += contact.t * motion;
    // The remaining motion continues along the surface.
    let left = (1.0 - contact.t) * motion;
    at += left - min(dot(left, contact.normal), 0.0) * contact.normal;
    // An arm may have moved over a sphere since. Then the direction out of the figure is reversed.
    let near = bvh_nearest(at, 3.0 * radius, 4u);
    if near.mesh != BVH_MISS {
        let ray = bvh_crossing_ray(BvhRay(at, 0.0, vec3f(0.0, 1.0, 0.0), 100.0));
        var depth = 0;
        count_limbs(ray, &depth);
        let outward = select(1.0, -1.0, depth > 0) * normalize(at - near.position + vec3f(0.0, 1.0e-9, 0.0));
        if depth > 0 || near.distance < radius {
            at = near.position + radius * outward;
        }
    }
    // The floor, with friction.
    if at.y < radius {
        let slid = mix(before[id.x].xz, at.xz, 0.5);
        at = vec3f(slid.x, radius, slid.y);
    }
    after[id.x] = vec4f(at, radius);
}";

/// Kernel that resolves half of each overlap between spheres, from the positions before this iteration. This
/// source is appended to the queries of the spheres' tree.
const PUSH: &str = r"
@group(0) @binding(0) var<storage, read> start: array<vec4f>;
@group(0) @binding(1) var<storage, read> before: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> after: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> velocities: array<vec4f>;

@compute @workgroup_size(64)
fn push(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&before) { return; }
    let ball = before[id.x];
    var moved = vec3f(0.0);
    var count = 0.0;
    // Spheres have moved slightly since the tree was built, so search a larger region.
    let region = bvh_region_ball(ball.xyz, 1.5 * ball.w);
    var walk = bvh_overlap_begin(region, 4u);
    for (var leaf = bvh_overlap_next(&walk, region); leaf != BVH_MISS; leaf = bvh_overlap_next(&walk, region)) {
        let other = bvh_walk_name(&walk, leaf).y;
        if other != id.x {
            let away = ball.xyz - before[other].xyz;
            let distance = max(length(away), 1.0e-6);
            let overlap = max(ball.w + before[other].w - distance, 0.0);
            moved += away * (overlap / distance);
            count += select(0.0, 1.0, overlap > 0.0);
        }
    }
    var at = ball.xyz + 0.6 * moved / max(count * 0.6, 1.0);
    at.y = max(at.y, ball.w);
    after[id.x] = vec4f(at, ball.w);
    velocities[id.x] = vec4f(clamp((at - start[id.x].xyz) / 0.01, vec3f(-4.0), vec3f(4.0)), 0.0);
}";

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Vertex {
    rest: Vec3,
    bones: u32,
    weight: f32,
    _pad: [u32; 3],
}

/// Returns a figure of closed limbs. Each limb is a tube that follows one bone at its beginning and another
/// at its end.
fn figure() -> (Vec<Vertex>, Vec<[u32; 3]>) {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    // Start, end, radius and bones of each limb.
    let limbs = [
        ([0.0, 0.8, 0.0], [0.0, 1.5, 0.0], 0.22, [0, 0]),
        ([0.0, 1.6, 0.0], [0.0, 1.9, 0.0], 0.14, [0, 0]),
        ([-0.2, 1.4, 0.0], [-1.0, 1.4, 0.0], 0.09, [1, 2]),
        ([0.2, 1.4, 0.0], [1.0, 1.4, 0.0], 0.09, [3, 4]),
        ([-0.12, 0.85, 0.0], [-0.2, 0.08, 0.0], 0.11, [0, 0]),
        ([0.12, 0.85, 0.0], [0.2, 0.08, 0.0], 0.11, [0, 0]),
    ];
    for (from, to, radius, [a, b]) in limbs {
        let (from, to) = (Vec3::from(from), Vec3::from(to));
        let along = (to - from).normalize();
        let across = along.any_orthonormal_vector();
        let first = vertices.len() as u32;
        for ring in 0..=RINGS {
            let t = ring as f32 / RINGS as f32;
            // Rounded at both ends.
            let round = (1.0 - (2.0 * t - 1.0).powi(8)).max(0.0).sqrt() * radius;
            for point in 0..AROUND {
                let angle = TAU * point as f32 / AROUND as f32;
                let out = across * angle.cos() + along.cross(across) * angle.sin();
                vertices.push(Vertex {
                    rest: from.lerp(to, t) + round * out,
                    bones: a | b << 8,
                    weight: ((t - 0.35) / 0.3).clamp(0.0, 1.0),
                    _pad: [0; 3],
                });
            }
        }
        for ring in 0..RINGS {
            for point in 0..AROUND {
                let at = |ring: u32, point: u32| first + ring * AROUND + point % AROUND;
                let [a, b] = [at(ring, point), at(ring, point + 1)];
                let [c, d] = [at(ring + 1, point), at(ring + 1, point + 1)];
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
    }
    (vertices, triangles)
}

/// Returns the bone matrices at a time: the arms wave, rotating about shoulders and elbows.
fn bones(secs: f32) -> Vec<Mat4> {
    let about = |joint: [f32; 3], angle: f32| {
        let joint = Vec3::from(joint);
        Mat4::from_translation(joint) * Mat4::from_rotation_z(angle) * Mat4::from_translation(-joint)
    };
    let wave = (2.0 * secs).sin();
    let left = about([-0.2, 1.4, 0.0], 0.5 * wave);
    let right = about([0.2, 1.4, 0.0], -0.5 * wave);
    let lower = |upper: Mat4, x: f32| upper * about([x, 1.4, 0.0], -1.2 * x * (1.0 + wave));
    vec![Mat4::IDENTITY, left, lower(left, -0.6), right, lower(right, 0.6)]
}

/// Records a dispatch of one entry point, with `own` at group 0 and the tree, if there is one, at group 1.
fn dispatch(
    (gpu, encoder): (&Gpu, &mut wgpu::CommandEncoder),
    pipeline: &wgpu::ComputePipeline,
    own: &[&wgpu::Buffer],
    tree: Option<&Tree>,
    threads: u32,
) {
    let resources = own.iter().map(|buffer| buffer.as_entire_binding());
    let entries = (0..).zip(resources);
    let entries = entries.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource });
    let own = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("falling spheres"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries.collect::<Vec<_>>(),
    });
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, &own, &[]);
    if let Some(tree) = tree {
        let group = tree.bind_group(gpu, &pipeline.get_bind_group_layout(1));
        pass.set_bind_group(1, &group, &[]);
    }
    pass.dispatch_workgroups(threads.div_ceil(64), 1, 1);
}

/// Creates a pipeline from plain WGSL. wgpu derives the layouts, because each entry point uses all of the
/// bindings.
fn pipeline(gpu: &Gpu, entry: &str, text: String) -> wgpu::ComputePipeline {
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let label = Some(entry);
    let module = wgpu::ShaderModuleDescriptor { label, source };
    let module = gpu.device.create_shader_module(module);
    let pipeline = wgpu::ComputePipelineDescriptor {
        label,
        layout: None,
        module: &module,
        entry_point: label,
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    };
    gpu.device.create_compute_pipeline(&pipeline)
}

/// State of the simulation at the end.
struct Outcome {
    spheres: Vec<Vec4>,
    positions: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
    /// Maximum penetration of a sphere into the figure, and of a sphere into another, relative to its radius.
    deepest: [f32; 2],
    contacts: u32,
}

fn run() -> Result<Outcome, Error> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle().with_env());
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()))?;
    let gpu = Gpu::from_device(&device, &queue, &accel::SHADERS);

    let (vertices, triangles) = figure();
    let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
    let skin_vertices = gpu.buffer_with("vertices", &vertices, usage);
    let bone_matrices = gpu.buffer_with("bones", &bones(0.0), usage);
    let positions = gpu.buffer("positions", 12 * vertices.len() as u64, usage);
    let indices = gpu.buffer_with("indices", &triangles, usage);
    // Spheres in a grid above the figure, each slightly displaced.
    let place = |i: u32| {
        let [x, y, z] = [i % 40, i / 1000, i / 40 % 25].map(|n| n as f32);
        let off = |n: u32| 0.3 * ((i * n) % 97) as f32 / 97.0;
        let at = Vec3::new(x - 19.5 + off(31), y + off(57), z - 12.0 + off(83));
        (at * 2.6 * RADIUS + Vec3::Y * 2.2).extend(RADIUS)
    };
    let spheres: Vec<Vec4> = (0..SPHERES).map(place).collect();
    let start = gpu.buffer_with("spheres", &spheres, usage);
    let [fallen, pushed] =
        ["fallen", "pushed"].map(|label| gpu.buffer(label, 16 * u64::from(SPHERES), usage));
    let velocities = gpu.buffer("velocities", 16 * u64::from(SPHERES), usage);

    let meshes = [MeshRange {
        first_triangle: 0,
        triangle_count: triangles.len() as u32,
        first_vertex: 0,
    }];
    let lbvh = Lbvh::new(&gpu);
    let geometry = Geometry {
        positions: &positions,
        indices: &indices,
        meshes: &meshes,
        triangle_info: None,
    };
    let mut body = lbvh.tree(&gpu, &geometry, Codes::Bits30)?;
    let of_spheres = ObjectLbvh::new(&gpu);
    let geometry = ObjectGeometry {
        objects: Objects::Balls,
        buffer: &fallen,
        sets: &[SPHERES],
        object_info: None,
    };
    let mut crowd = of_spheres.tree(&gpu, &geometry, Codes::Bits30)?;
    let skin = pipeline(&gpu, "skin", SKIN.into());
    let fall = pipeline(&gpu, "fall", body.wgsl(&gpu, 1, None)? + FALL);
    let push = pipeline(&gpu, "push", crowd.tree.wgsl(&gpu, 1, None)? + PUSH);

    for step in 0..STEPS {
        queue.write_buffer(
            &bone_matrices,
            0,
            bytemuck::cast_slice(&bones(0.01 * step as f32)),
        );
        let mut encoder = gpu.encoder("step");
        let vertex_count = vertices.len() as u32;
        let into = [&skin_vertices, &bone_matrices, &positions];
        dispatch((&gpu, &mut encoder), &skin, &into, None, vertex_count);
        lbvh.record(&gpu, &mut encoder, &mut body, Work::Rebuild)?;
        let into = [&start, &fallen, &velocities];
        dispatch((&gpu, &mut encoder), &fall, &into, Some(&body), SPHERES);
        of_spheres.record(&gpu, &mut encoder, &mut crowd, Work::Rebuild)?;
        for round in 0..ROUNDS {
            let (from, to) = if round % 2 == 0 {
                (&fallen, &pushed)
            } else {
                (&pushed, &fallen)
            };
            let into = [&start, from, to, &velocities];
            let tree = Some(&crowd.tree);
            dispatch((&gpu, &mut encoder), &push, &into, tree, SPHERES);
        }
        encoder.copy_buffer_to_buffer(&pushed, 0, &start, 0, 16 * u64::from(SPHERES));
        queue.submit([encoder.finish()]);
    }

    let spheres: Vec<Vec4> = bytemuck::pod_collect_to_vec(&gpu.read(&pushed)?);
    let asked: Vec<[f32; 4]> = spheres
        .iter()
        .map(|s| s.truncate().extend(f32::INFINITY).into())
        .collect();
    let found = SignedDistance::new(&gpu).run(&gpu, &Search::new(&body), &asked, Sign::Winding)?;
    let into_figure = found
        .iter()
        .map(|near| 1.0 - near.distance / RADIUS)
        .fold(0.0, f32::max);
    let mut encoder = gpu.encoder("last");
    encoder.copy_buffer_to_buffer(&pushed, 0, &fallen, 0, 16 * u64::from(SPHERES));
    of_spheres.record(&gpu, &mut encoder, &mut crowd, Work::Rebuild)?;
    queue.submit([encoder.finish()]);
    let pairs = OverlapPairs::new(&gpu).run(&gpu, &Pairs::within(&crowd.tree))?;
    let (_, touching) = pairs.read(&gpu)?;
    let into_other = touching.iter().map(|pair| {
        let [a, b] = [pair.object_a, pair.object_b].map(|i| spheres[i as usize].truncate());
        1.0 - (a - b).length() / (2.0 * RADIUS)
    });
    Ok(Outcome {
        deepest: [into_figure, into_other.fold(0.0, f32::max)],
        contacts: pairs.total(),
        positions: bytemuck::pod_collect_to_vec(&gpu.read(&positions)?),
        spheres,
        triangles,
    })
}

/// Returns the figure, and an octahedron for each sphere, as OBJ text.
fn obj(outcome: &Outcome) -> String {
    let mut text = String::from("o figure\n");
    for [x, y, z] in &outcome.positions {
        writeln!(text, "v {x} {y} {z}").ok();
    }
    for [a, b, c] in outcome.triangles.iter().map(|t| t.map(|v| v + 1)) {
        writeln!(text, "f {a} {b} {c}").ok();
    }
    text += "o spheres\n";
    let mut first = outcome.positions.len() + 1;
    for sphere in &outcome.spheres {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            for end in [axis, -axis] {
                let at = sphere.truncate() + sphere.w * end;
                writeln!(text, "v {} {} {}", at.x, at.y, at.z).ok();
            }
        }
        for side in ["024", "214", "134", "304", "205", "125", "315", "035"] {
            let corner = |digit: u8| first + usize::from(digit - b'0');
            let corners = side.bytes().map(|digit| format!(" {}", corner(digit)));
            writeln!(text, "f{}", corners.collect::<String>()).ok();
        }
        first += 6;
    }
    text
}

fn main() -> ExitCode {
    let file = std::env::args_os().nth(1);
    let written = run().and_then(|outcome| {
        if let Some(file) = file {
            std::fs::write(file, obj(&outcome))?;
        }
        let [figure, other] = outcome.deepest;
        let line = format!(
            "{SPHERES} spheres, {} contacts among them; the deepest is {:.1} % of its radius inside of the figure, \
             {:.1} % inside of another",
            outcome.contacts,
            100.0 * figure,
            100.0 * other
        );
        match figure < 0.2 && other < 0.5 {
            true => Ok(line),
            false => Err(line.into()),
        }
    });
    match written {
        Ok(line) => {
            writeln!(std::io::stdout(), "{line}").ok();
            ExitCode::SUCCESS
        }
        Err(error) => {
            writeln!(std::io::stderr(), "error: {error}").ok();
            ExitCode::FAILURE
        }
    }
}
