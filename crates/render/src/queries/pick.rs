//! `pick`: finds the closest hit of a camera ray in the BVHs of the last frame, with an asynchronous
//! readback.

use crate::{
    bindings::Layouts,
    layout::{PickHit, PickParams, ViewRays},
    resources::GBuffer,
    upload::scene_state::UploadedScene,
    view::PickQuery,
};
use canopy_bvh::{
    Result,
    accel::layout::BVH_MISS,
    gpu::{
        Gpu, Kernel, PipelineSet, Recorder, Workgroups,
        pass::Binding::{Float, Uint, Uniform, Write},
        readback::Counters,
    },
};
use glam::{Vec2, Vec3};

/// Number of words of a [`PickHit`].
const WORDS: usize = size_of::<PickHit>() / 4;
/// Search radius around the ray in pixels for points and lines, which are one pixel wide.
const REACH: u32 = 4;

/// Object at a point of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Picked {
    /// Index of the mesh instance, in the order of [`Scene::instances`](canopy_scene::Scene::instances).
    pub mesh: usize,
    /// Index of the material.
    pub material: usize,
    /// World position, in metres.
    pub position: Vec3,
    /// Element of the mesh that is hit.
    pub element: Element,
}

/// Element of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Element {
    /// Triangle.
    Triangle {
        /// Index within the mesh, from 0, in the order of `canopy export`.
        number: u32,
        /// World positions of its vertices.
        corners: [Vec3; 3],
        /// Interpolated unit normal at the position, or zero if opposite normals cancel out.
        normal: Vec3,
        /// Texture coordinates of the first set; zeros if the mesh has none.
        uv: Vec2,
    },
    /// Line, by its index within the mesh.
    Line(u32),
    /// Point, by its index within the mesh.
    Point(u32),
}

/// Picking pass.
#[derive(Debug)]
pub struct Pick {
    kernel: Kernel,
    readback: Counters<WORDS>,
}

impl Pick {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let shared = [(1, &layouts.tree), (2, &layouts.scene)];
        let bindings = [Uniform, Float, Uint, Write];
        Self {
            kernel: Kernel::new(gpu, "inspect/pick.wgsl", "pick", &shared, &bindings),
            readback: Counters::new(gpu, "pick.readback"),
        }
    }

    /// Adds its pipeline.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        self.kernel.pipelines(set);
    }

    /// Records `query` on the geometry of the last frame, whose G-buffer has the camera rays `rays`. Returns
    /// the number of the answer, or `None` if too many are pending.
    ///
    /// # Errors
    ///
    /// Any error of compiling the kernel, or [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        (gbuffer, rays): (&GBuffer, ViewRays),
        query: &PickQuery,
    ) -> Result<Option<u64>> {
        let buffers = &scene.buffers;
        let view = query.view.translated(-buffers.origin);
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

    /// Passes the numbers and answers that have arrived to `arrived`. Call it after the submission.
    pub fn collect(&mut self, mut arrived: impl FnMut(u64, PickHit)) {
        self.readback.collect_each(|number, words| {
            arrived(number, bytemuck::cast(words));
        });
    }
}

/// Returns the object of the scene that `hit` refers to; `None` for a miss.
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
