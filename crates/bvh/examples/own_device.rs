//! Uses only the BVH, in a program with its own device, buffers and shader.
//!
//! ```text
//! cargo run --example own_device
//! ```
//!
//! It opens a wgpu device as any program does, uploads two meshes, and lets canopy build a tree over those
//! buffers. Then it traces rays from its own compute shader, which imports canopy's traversal. Every hit is
//! compared with the nearest hit of a loop over all triangles on the CPU. The exit code is 1 if any differs.

use canopy_bvh::{
    accel::{self, Codes, Geometry, Lbvh, MeshRange, Tree, Work},
    gpu::Gpu,
};
use glam::{DVec3, Vec3};
use std::{f32::consts::TAU, io::Write, process::ExitCode};

type Error = Box<dyn std::error::Error>;

/// Rays along each side of the image that the shader traces.
const SIDE: u32 = 128;
/// Origin of the rays.
const EYE: Vec3 = Vec3::new(0.5, 2.0, 6.0);

/// Pinhole camera. The meshes have no triangles with an any-hit test, so `bvh_accepts` is never called.
const SHADER: &str = r#"
#import "bvh/bvh.wgsl"

struct Query {
    eye: vec3f,
    side: u32,
}

@group(0) @binding(0) var<uniform> query: Query;
@group(0) @binding(1) var<storage, read_write> hits: array<Hit>;

fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    return true;
}

@compute @workgroup_size(8, 8)
fn look(@builtin(global_invocation_id) pixel: vec3u) {
    if any(pixel.xy >= vec2u(query.side)) {
        return;
    }
    let at = (vec2f(pixel.xy) + 0.5) / f32(query.side) - 0.5;
    let ray = Ray(query.eye, 0.0, vec3f(at.x, -at.y - 0.25, -1.0), 1.0e4);
    hits[pixel.y * query.side + pixel.x] = bvh_closest_hit(ray, 4u);
}
"#;

/// Two meshes in one vertex and one index buffer, in the format that the BVH's builder reads.
#[derive(Default)]
struct Scene {
    positions: Vec<Vec3>,
    /// Absolute vertex indices of each triangle.
    indices: Vec<[u32; 3]>,
    meshes: Vec<MeshRange>,
}

impl Scene {
    /// Adds a grid of `columns` × `rows` cells with two triangles each. `surface` returns the position of
    /// each vertex.
    fn grid(&mut self, columns: u32, rows: u32, surface: impl Fn(f32, f32) -> Vec3) {
        let first_vertex = self.positions.len() as u32;
        let first_triangle = self.indices.len() as u32;
        for row in 0..=rows {
            for column in 0..=columns {
                let uv = (column as f32 / columns as f32, row as f32 / rows as f32);
                self.positions.push(surface(uv.0, uv.1));
            }
        }
        for row in 0..rows {
            for column in 0..columns {
                let a = first_vertex + row * (columns + 1) + column;
                let b = a + columns + 1;
                self.indices.extend([[a, b, a + 1], [a + 1, b, b + 1]]);
            }
        }
        self.meshes.push(MeshRange {
            first_triangle,
            triangle_count: 2 * columns * rows,
            first_vertex,
        });
    }

    /// Returns the distance at which a ray hits a triangle of a mesh (Möller and Trumbore 1997, in f64).
    /// Barycentric weights may be negative by up to `slack`.
    fn hit(&self, mesh: usize, triangle: u32, ray: [DVec3; 2], slack: f64) -> Option<f64> {
        let range = self.meshes.get(mesh)?;
        let corners = self.indices.get((range.first_triangle + triangle) as usize)?;
        let [a, b, c] = corners.map(|vertex| self.positions[vertex as usize].as_dvec3());
        let [origin, direction] = ray;
        let (ab, ac) = (b - a, c - a);
        let p = direction.cross(ac);
        let determinant = ab.dot(p);
        let s = origin - a;
        let q = s.cross(ab);
        let (u, v) = (s.dot(p) / determinant, direction.dot(q) / determinant);
        let t = ac.dot(q) / determinant;
        (u.min(v).min(1.0 - u - v) >= -slack && t > 0.0).then_some(t)
    }

    /// Returns the distance to the nearest triangle, by a loop over all triangles.
    fn closest_hit(&self, ray: [DVec3; 2]) -> Option<f64> {
        let triangles = (0..)
            .zip(&self.meshes)
            .flat_map(|(mesh, range)| (0..range.triangle_count).map(move |i| (mesh, i)));
        let hits = triangles.filter_map(|(mesh, triangle)| self.hit(mesh, triangle, ray, 0.0));
        hits.min_by(f64::total_cmp)
    }
}

/// Returns the direction of the ray through a pixel, as computed in the shader.
fn direction(pixel: u32) -> Vec3 {
    let at = |i: u32| (i as f32 + 0.5) / SIDE as f32 - 0.5;
    Vec3::new(at(pixel % SIDE), -at(pixel / SIDE) - 0.25, -1.0)
}

/// Opens a device with WebGPU's default limits, without canopy.
async fn open_device() -> Result<(wgpu::Device, wgpu::Queue), Error> {
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    let instance = wgpu::Instance::new(descriptor.with_env());
    let options = wgpu::RequestAdapterOptions::default();
    let adapter = instance.request_adapter(&options).await?;
    Ok(adapter.request_device(&wgpu::DeviceDescriptor::default()).await?)
}

/// Uploads `contents` into a buffer that the program owns.
fn upload<T: bytemuck::NoUninit>(
    (device, queue): (&wgpu::Device, &wgpu::Queue),
    label: &str,
    usage: wgpu::BufferUsages,
    contents: &[T],
) -> wgpu::Buffer {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: size_of_val(contents) as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytemuck::cast_slice(contents));
    buffer
}

/// Creates the program's own pipeline. Its bindings are group 0, the tree is group 1.
fn pipeline(device: &wgpu::Device, gpu: &Gpu) -> Result<wgpu::ComputePipeline, Error> {
    let module = accel::shader_module(gpu, "look.wgsl", SHADER)?;
    let binding = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let hits = wgpu::BufferBindingType::Storage { read_only: false };
    let own = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("look"),
        entries: &[binding(0, wgpu::BufferBindingType::Uniform), binding(1, hits)],
    });
    let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("look"),
        bind_group_layouts: &[Some(&own), Some(&tree)],
        immediate_size: 0,
    });
    Ok(device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("look"),
        layout: Some(&layout),
        module: &module,
        entry_point: Some("look"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    }))
}

/// Traces a ray through every pixel. Returns the number of hits, or the first pixel that differs from the
/// CPU's result.
fn run() -> Result<usize, Error> {
    let (device, queue) = pollster::block_on(open_device())?;
    let gpu = Gpu::from_device(&device, &queue, &accel::SHADERS);

    let mut scene = Scene::default();
    scene.grid(40, 40, |u, v| {
        let height = 0.2 * (TAU * u).sin() * (2.0 * TAU * v).cos();
        Vec3::new(8.0 * u - 4.0, height, 8.0 * v - 4.0)
    });
    scene.grid(48, 24, |u, v| {
        let (ring, angle) = (TAU * u, TAU * v);
        let radius = 1.0 + 0.4 * angle.cos();
        Vec3::new(radius * ring.cos(), 1.2 + radius * ring.sin(), 0.4 * angle.sin())
    });
    let positions: Vec<[f32; 3]> = scene.positions.iter().map(Vec3::to_array).collect();
    let on = (&device, &queue);
    let geometry = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let vertices = geometry | wgpu::BufferUsages::VERTEX;
    let vertices = upload(on, "vertices", vertices, &positions);
    let indices = geometry | wgpu::BufferUsages::INDEX;
    let indices = upload(on, "indices", indices, &scene.indices);
    let query = [EYE.x.to_bits(), EYE.y.to_bits(), EYE.z.to_bits(), SIDE];
    let query = upload(on, "query", wgpu::BufferUsages::UNIFORM, &query);
    let hits = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("hits"),
        size: u64::from(SIDE * SIDE) * size_of::<accel::Hit>() as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });

    let lbvh = Lbvh::new(&gpu);
    let geometry = Geometry {
        positions: &vertices,
        indices: &indices,
        meshes: &scene.meshes,
        triangle_info: None,
    };
    let mut tree = lbvh.tree(&gpu, &geometry, Codes::Bits30)?;
    let pipeline = pipeline(&device, &gpu)?;
    let own = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("look"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry {
                binding: 0,
                resource: query.as_entire_binding(),
            },
            wgpu::BindGroupEntry {
                binding: 1,
                resource: hits.as_entire_binding(),
            },
        ],
    });
    let tree_group = tree.bind_group(&gpu, &pipeline.get_bind_group_layout(1));

    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    lbvh.record(&gpu, &mut encoder, &mut tree, Work::Rebuild)?;
    {
        let descriptor = wgpu::ComputePassDescriptor::default();
        let mut pass = encoder.begin_compute_pass(&descriptor);
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &own, &[]);
        pass.set_bind_group(1, &tree_group, &[]);
        pass.dispatch_workgroups(SIDE.div_ceil(8), SIDE.div_ceil(8), 1);
    }
    queue.submit([encoder.finish()]);
    let hits: Vec<accel::Hit> = bytemuck::pod_collect_to_vec(&gpu.read(&hits)?);
    compare(&scene, &hits)
}

/// Compares every hit with the CPU's. Returns the number of rays that hit anything.
fn compare(scene: &Scene, hits: &[accel::Hit]) -> Result<usize, Error> {
    let mut found = 0;
    for (pixel, hit) in (0..).zip(hits) {
        let ray = [EYE, direction(pixel)].map(|v| v.as_dvec3());
        let expected = scene.closest_hit(ray);
        // A ray along an edge may hit either of its triangles.
        let named = scene.hit(hit.mesh as usize, hit.triangle, ray, 1e-5);
        let agrees = match expected {
            None => hit.is_miss(),
            Some(t) => {
                found += 1;
                let near = |other: f64| (other - t).abs() < 1e-4 * t;
                near(hit.t.into()) && named.is_some_and(near)
            }
        };
        if !agrees {
            return Err(format!("pixel {pixel}: {hit:?}, and the CPU finds {expected:?}").into());
        }
    }
    Ok(found)
}

fn main() -> ExitCode {
    let (line, code) = match run() {
        Ok(found) => {
            let rays = SIDE * SIDE;
            (
                format!("{found} of {rays} rays hit, all as on the CPU"),
                ExitCode::SUCCESS,
            )
        }
        Err(error) => (format!("error: {error}"), ExitCode::FAILURE),
    };
    writeln!(std::io::stdout(), "{line}").ok();
    code
}
