//! `grow`: from sorted items to nodes on software adapters, where a thread joins a run of leaves by itself (accel/grow.wgsl).

use super::lbvh::{Room, Stages, bind, joined};
use crate::{
    Result,
    gpu::{
        Array, Gpu,
        layout::{GROW_FAN, GROW_RUN, GROW_SEGMENTS},
        pass,
        profiler::Scope,
    },
};

/// The pipelines.
#[derive(Debug)]
pub(super) struct Grow {
    leaves: wgpu::ComputePipeline,
    meshes: wgpu::ComputePipeline,
    nodes: wgpu::ComputePipeline,
}

/// What they need for one scene's trees.
#[derive(Debug)]
pub(super) struct Growing {
    leaves: wgpu::BindGroup,
    meshes: wgpu::BindGroup,
    /// How many runs there are: over all items, and over triangles.
    runs: wgpu::Buffer,
    /// Until one run is left: each with the number of runs that it joins.
    nodes: Vec<(wgpu::BindGroup, wgpu::Buffer)>,
    /// Segments and their counts, which are read and written in turns.
    lists: [(Array, Array); 2],
}

impl Grow {
    pub(super) fn new(gpu: &Gpu) -> Result<Self> {
        let pipeline = |entry| pass::compute_pipeline(gpu, "accel/grow.wgsl", entry);
        Ok(Self {
            leaves: pipeline("grow_leaves")?,
            meshes: pipeline("grow_meshes")?,
            nodes: pipeline("grow_nodes")?,
        })
    }

    pub(super) fn room(&self, gpu: &Gpu, room: &Room<'_>) -> Result<Growing> {
        let runs = runs(room.triangle_count, room.mesh_count).0.max(1);
        let list = |runs: u32| {
            let rows = 3 * u64::from(GROW_SEGMENTS) * u64::from(runs);
            let segments = room.array(gpu, "grow.segments", 4, rows)?;
            let counts = room.array(gpu, "grow.counts", 1, runs.into())?;
            Ok::<_, crate::Error>((segments, counts))
        };
        let lists = [list(runs)?, list(runs.div_ceil(GROW_FAN))?];
        let number = || {
            let usage = wgpu::BufferUsages::UNIFORM;
            gpu.buffer_with("grow.runs", &[[0u32; 4]], usage)
        };
        let items_runs = number();
        let out = [
            (8, room.nodes.write_binding()),
            (11, lists[0].0.write_binding()),
            (12, lists[0].1.write_binding()),
            (13, items_runs.as_entire_binding()),
        ];
        // Triangles are no business of the TLAS, and the other way round.
        let of_triangles = joined(&joined(&room.scene, &room.leaf[1..]), &out);
        let of_meshes = joined(&joined(&room.scene[..1], &room.leaf), &out);
        let mut nodes = Vec::new();
        let mut left = runs;
        while left > 1 {
            let runs = number();
            let (from, to) = (&lists[nodes.len() % 2], &lists[(nodes.len() + 1) % 2]);
            let entries = [
                (8, room.nodes.write_binding()),
                (9, from.0.read_binding()),
                (10, from.1.read_binding()),
                (11, to.0.write_binding()),
                (12, to.1.write_binding()),
                (13, runs.as_entire_binding()),
            ];
            nodes.push((bind(gpu, "grow_nodes", &self.nodes, &entries), runs));
            left = left.div_ceil(GROW_FAN);
        }
        Ok(Growing {
            leaves: bind(gpu, "grow_leaves", &self.leaves, &of_triangles),
            meshes: bind(gpu, "grow_meshes", &self.meshes, &of_meshes),
            runs: items_runs,
            nodes,
            lists,
        })
    }

    /// Grows over that many triangles and meshes, as [`Growing::set_counts`] was told.
    pub(super) fn record(
        &self,
        scope: &mut Scope<'_>,
        stages: &mut Stages,
        growing: &Growing,
        (triangles, meshes): (u32, u32),
    ) {
        let (mut runs, of_triangles) = runs(triangles, meshes);
        let of_meshes = runs - of_triangles;
        for (pipeline, group, runs) in [
            (&self.leaves, &growing.leaves, of_triangles),
            (&self.meshes, &growing.meshes, of_meshes),
        ] {
            stages.stage(scope, "grow", pipeline, group, runs.div_ceil(8));
        }
        for (step, (group, _)) in growing.nodes.iter().enumerate() {
            if runs < 2 {
                break;
            }
            let (segments, counts) = &growing.lists[step % 2];
            segments.publish(scope, 3 * GROW_SEGMENTS * runs);
            counts.publish(scope, runs);
            runs = runs.div_ceil(GROW_FAN);
            stages.stage(scope, "grow", &self.nodes, group, runs.div_ceil(8));
        }
    }
}

impl Growing {
    /// Grows over that many triangles and meshes from now on.
    pub(super) fn set_counts(&self, gpu: &Gpu, triangles: u32, meshes: u32) {
        let write = |buffer, words: &[u32]| {
            gpu.queue
                .write_buffer(buffer, 0, bytemuck::cast_slice(words));
        };
        let (mut all, of_triangles) = runs(triangles, meshes);
        write(&self.runs, &[all, of_triangles]);
        for (_, runs) in &self.nodes {
            write(runs, &[all]);
            all = all.div_ceil(GROW_FAN);
        }
    }
}

/// Runs over triangles and meshes: all, and those over triangles.
fn runs(triangles: u32, meshes: u32) -> (u32, u32) {
    let of_triangles = triangles.div_ceil(GROW_RUN);
    (of_triangles + meshes.div_ceil(GROW_RUN), of_triangles)
}
