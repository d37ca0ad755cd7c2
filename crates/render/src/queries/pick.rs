//! `pick`: what a ray from the camera hits first in the trees of the last frame, read back without a wait.

use crate::{
    bindings::Layouts,
    edges::GBuffer,
    layout::{PickHit, PickParams, ViewRays},
    upload::scene_state::UploadedScene,
    view::PickQuery,
};
use canopy_bvh::{
    Result,
    accel::layout::BVH_MISS,
    gpu::{
        Gpu, Kernel, Needs, Recorder, Workgroups,
        pass::Binding::{Float, Uint, Uniform, Write},
        readback::Counters,
    },
};
use glam::{Vec2, Vec3};

/// Words of a [`PickHit`].
const WORDS: usize = size_of::<PickHit>() / 4;
/// Pixels around the ray in which points and lines are found, which are one pixel wide.
const REACH: u32 = 4;

/// What is under a point of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Picked {
    /// Index of the mesh instance, in the order of [`Scene::instances`](canopy_scene::Scene::instances).
    pub mesh: usize,
    /// Index of the material.
    pub material: usize,
    /// World position, in metres.
    pub position: Vec3,
    /// The part of the mesh that is hit.
    pub element: Element,
}

/// A part of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Element {
    /// A triangle.
    Triangle {
        /// Its number within the mesh, from 0, in the order of `canopy export`.
        number: u32,
        /// World positions of its corners.
        corners: [Vec3; 3],
        /// Unit normal at the position, as interpolated; zero where opposite normals cancel out.
        normal: Vec3,
        /// Texture coordinates of the first set; zeros where the mesh has none.
        uv: Vec2,
    },
    /// A line, by its number within the mesh.
    Line(u32),
    /// A point, by its number within the mesh.
    Point(u32),
}

/// The pass.
#[derive(Debug)]
pub struct Pick {
    kernel: Kernel,
    readback: Counters<WORDS>,
}

impl Pick {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let shared = [(1, &layouts.tree), (2, &layouts.scene)];
        let bindings = [Uniform, Float, Uint, Write];
        Self {
            kernel: Kernel::new(gpu, "inspect/pick.wgsl", "pick", &shared, &bindings),
            readback: Counters::new(gpu, "pick.readback"),
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Asks for what `query` sees in the geometry of the last frame, which `gbuffer` saw along `rays`. Returns the
    /// number of the answer, or `None` where too many are under way.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernel, and of the adapter's memory.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        (gbuffer, rays): (&GBuffer, ViewRays),
        query: &PickQuery,
    ) -> Result<Option<u64>> {
        let buffers = &scene.buffers;
        let view = query.view.moved(-buffers.origin);
        let [origin, direction] = view.ray(query.pixel, query.size);
        let has_segments = !buffers.draws.segments.is_empty();
        let params = PickParams {
            origin: origin.to_array(),
            t_min: view.near,
            direction: direction.to_array(),
            t_max: view.far,
            eye: view.eye().to_array(),
            leaf_cutoff: scene.state.tree.leaf_cutoff(),
            forward: view.forward().to_array(),
            reach: if has_segments { REACH } else { 0 },
            pixel: query.pixel_of(gbuffer.size()),
            triangle_count: buffers.triangle_count,
            rays,
            ..PickParams::default()
        };
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let (params, picked) = gpu.catch(|| {
            (
                gpu.buffer_with("pick.params", &[params], wgpu::BufferUsages::UNIFORM),
                gpu.buffer("pick.picked", size_of::<PickHit>() as u64, usage),
            )
        })?;
        let mut pass = encoder.scoped_compute_pass("pick");
        self.kernel.dispatch(
            gpu,
            &mut pass,
            &[(1, &buffers.tree_group), (2, &buffers.scene_group)],
            &[&params, &gbuffer.position, &gbuffer.ids, &picked],
            Workgroups::Count(1),
        )?;
        drop(pass);
        let number = self.readback.next();
        Ok(self.readback.record(encoder, &picked).then_some(number))
    }

    /// After the submission: hands out the numbers and the answers that have arrived.
    pub fn collect(&mut self, mut arrived: impl FnMut(u64, PickHit)) {
        self.readback.collect_each(|number, words| {
            arrived(number, bytemuck::cast(words));
        });
    }
}

/// What `hit` is of the scene; `None` for nothing.
pub(crate) fn named(hit: &PickHit, scene: &UploadedScene) -> Option<Picked> {
    let buffers = &scene.buffers;
    let world = |position: [f32; 3]| buffers.origin + Vec3::from(position);
    if hit.segment > 0 {
        let number = (hit.segment - 1).checked_sub(buffers.triangle_count)?;
        let draws = &buffers.draws;
        let runs = || draws.segments.iter().chain(&draws.blended_segments);
        let run = runs().find(|run| (run.first..run.first + run.count).contains(&number))?;
        let is_before = |other: &&crate::raster::draw_lists::SegmentRun| {
            (other.mesh, other.is_points) == (run.mesh, run.is_points) && other.first < run.first
        };
        let before: u32 = runs().filter(is_before).map(|other| other.count).sum();
        let in_mesh = before + number - run.first;
        return Some(Picked {
            mesh: run.mesh as usize,
            material: run.material,
            position: world(hit.segment_position),
            element: match run.is_points {
                true => Element::Point(in_mesh),
                false => Element::Line(in_mesh),
            },
        });
    }
    if hit.mesh == BVH_MISS {
        return None;
    }
    let mesh = hit.mesh as usize;
    let corners = [hit.v0, hit.v1, hit.v2];
    let [b, c] = hit.barycentric.map(f64::from);
    let weights = [1.0 - b - c, b, c];
    let at = |axis: usize| {
        let terms = corners.iter().zip(weights);
        let sum: f64 = terms.map(|(corner, w)| f64::from(corner[axis]) * w).sum();
        sum as f32
    };
    Some(Picked {
        mesh,
        material: hit.material as usize,
        position: world([at(0), at(1), at(2)]),
        element: Element::Triangle {
            number: hit
                .triangle
                .checked_sub(buffers.meshes.get(mesh)?.first_triangle)?,
            corners: corners.map(world),
            normal: Vec3::from(hit.normal).normalize_or_zero(),
            uv: hit.uv.into(),
        },
    })
}
