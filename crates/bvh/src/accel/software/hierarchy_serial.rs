//! `hierarchy_serial`, `hierarchy_join`: build binary nodes from sorted items, one run of leaves per thread,
//! and collapse them to nodes of four children.

use crate::{
    Result,
    accel::{
        layout::{
            JOIN_RUN, NODE_ROWS, SERIAL_FAN, SERIAL_RUN, SERIAL_SEGMENTS, SERIAL_STACK, SERIAL_THREADS,
        },
        stages::{Bound, StageLayouts, Stages, TreeBuffers},
    },
    gpu::{
        Array, Bind, Gpu, Kernel, PipelineSet,
        capabilities::SERIAL_WORKGROUP_BYTES,
        pass::Binding::{Read, ReadArray, Uniform, Write},
    },
};
use std::sync::Arc;

const NAME: &str = "hierarchy_serial";

// The capabilities module does not know this kernel, so check its constant here: two rows of 16 bytes per
// segment.
const _: () = assert!(SERIAL_WORKGROUP_BYTES == 2 * 16 * SERIAL_STACK * SERIAL_THREADS);

/// Kernels of the serial build.
#[derive(Debug)]
pub(in crate::accel) struct HierarchySerial {
    leaves: Kernel,
    meshes: Kernel,
    nodes: Kernel,
    join_some: Kernel,
    join_all: Kernel,
}

/// Kernels with the bind groups for one scene's BVHs.
#[derive(Debug)]
pub(in crate::accel) struct SerialStages {
    kernels: Arc<HierarchySerial>,
    leaves: Bound,
    meshes: Bound,
    /// Number of runs over all items, and over triangles.
    runs: wgpu::Buffer,
    /// Joining dispatches until a single run is left, each with the number of runs that it joins.
    nodes: Vec<(Bound, wgpu::Buffer)>,
    join: Bound,
    binary: Array,
    /// Segments and their counts. The dispatches of `nodes` alternate between reading one list and writing
    /// the other.
    lists: [(Array, Array); 2],
    output: [Array; 2],
    /// Triangle count of all meshes.
    triangle_count: u32,
}

impl HierarchySerial {
    pub(in crate::accel) fn new(gpu: &Gpu, layouts: &StageLayouts, records: (&'static str, f64)) -> Self {
        let path = "bvh/software/hierarchy_serial.wgsl";
        let shared = [(1, &layouts.geometry), (2, &layouts.sorted)];
        let of_leaves = [Uniform, Uniform, Write, Write, Write, Write, Read];
        let of_nodes = [Uniform, Uniform, Write, Write, Write, ReadArray(4), ReadArray(1)];
        let leaves = |entry| Kernel::with_constants(gpu, path, entry, &shared, &of_leaves, &[records]);
        let join = |all: bool| {
            let path = "bvh/software/hierarchy_join.wgsl";
            let (entry, bindings) = ("hierarchy_join", [Uniform, ReadArray(4), Write]);
            let constants = [("JOIN_ALL", f64::from(u8::from(all))), records];
            Kernel::with_constants(gpu, path, entry, &shared, &bindings, &constants)
        };
        Self {
            leaves: leaves("serial_leaves"),
            meshes: leaves("serial_meshes"),
            nodes: Kernel::new(gpu, path, "serial_nodes", &[], &of_nodes),
            join_some: join(false),
            join_all: join(true),
        }
    }

    pub(in crate::accel) fn pipelines(&self, set: &mut PipelineSet) {
        let joins = [&self.join_some, &self.join_all];
        for kernel in [&self.leaves, &self.meshes, &self.nodes].into_iter().chain(joins) {
            kernel.pipelines(set);
        }
    }

    pub(in crate::accel) fn stages(
        self: &Arc<Self>,
        gpu: &Gpu,
        buffers: &TreeBuffers<'_>,
    ) -> Result<SerialStages> {
        let runs = runs(buffers.triangle_count, buffers.mesh_count).0.max(1);
        let list = |runs: u32| -> Result<(Array, Array)> {
            let rows = 3 * u64::from(SERIAL_SEGMENTS) * u64::from(runs);
            let segments = buffers.array(gpu, "hierarchy_serial.segments", 4, rows)?;
            let counts = buffers.array(gpu, "hierarchy_serial.counts", 1, runs.into())?;
            Ok((segments, counts))
        };
        let binary_rows = NODE_ROWS * (buffers.triangle_count + buffers.mesh_count);
        let binary = buffers.array(gpu, "hierarchy_serial.binary", 4, binary_rows.into())?;
        let lists = [list(runs)?, list(runs.div_ceil(SERIAL_FAN))?];
        let number = || {
            let usage = wgpu::BufferUsages::UNIFORM;
            gpu.buffer_with("hierarchy_serial.runs", &[[0u32; 4]], usage)
        };
        let item_runs = number();
        let of_leaves = |kernel| {
            let (segments, counts) = &lists[0];
            buffers.bind(
                gpu,
                kernel,
                &[
                    buffers.params,
                    &item_runs,
                    binary.buffer(),
                    segments.buffer(),
                    counts.buffer(),
                    buffers.triangles.buffer(),
                    buffers.tlas,
                ],
            )
        };
        let (leaves, meshes) = (of_leaves(&self.leaves), of_leaves(&self.meshes));
        let mut nodes = Vec::new();
        let mut left = runs;
        while left > 1 {
            let runs = number();
            let (from, to) = (&lists[nodes.len() % 2], &lists[(nodes.len() + 1) % 2]);
            let bound = Bound::new(
                gpu,
                &self.nodes,
                &[],
                &[
                    buffers.params,
                    &runs,
                    binary.buffer(),
                    to.0.buffer(),
                    to.1.buffer(),
                    &from.0,
                    &from.1,
                ],
            );
            nodes.push((bound, runs));
            left = left.div_ceil(SERIAL_FAN);
        }
        let join: [&dyn Bind; 3] = [buffers.params, &binary, buffers.nodes.buffer()];
        Ok(SerialStages {
            kernels: self.clone(),
            // `join_some` has the same bindings.
            join: buffers.bind(gpu, &self.join_all, &join),
            binary,
            leaves,
            meshes,
            runs: item_runs,
            nodes,
            lists,
            output: [buffers.triangles.clone(), buffers.nodes.clone()],
            triangle_count: buffers.triangle_count,
        })
    }
}

impl SerialStages {
    /// Records the nodes of these triangles and meshes, and publishes all nodes and leaves. Call
    /// [`SerialStages::set_counts`] with the same numbers first.
    pub(in crate::accel) fn record(
        &self,
        stages: &mut Stages<'_, '_>,
        triangles: u32,
        meshes: u32,
    ) -> Result<()> {
        let kernels = &self.kernels;
        let (mut runs, of_triangles) = runs(triangles, meshes);
        let of_meshes = runs - of_triangles;
        for (kernel, bound, runs) in [
            (&kernels.leaves, &self.leaves, of_triangles),
            (&kernels.meshes, &self.meshes, of_meshes),
        ] {
            stages.run(NAME, kernel, bound, runs.div_ceil(SERIAL_THREADS))?;
        }
        for (step, (bound, _)) in self.nodes.iter().enumerate() {
            if runs < 2 {
                break;
            }
            let (segments, counts) = &self.lists[step % 2];
            stages.publish(segments, 0..3 * SERIAL_SEGMENTS * runs);
            stages.publish(counts, 0..runs);
            runs = runs.div_ceil(SERIAL_FAN);
            stages.run(NAME, &kernels.nodes, bound, runs.div_ceil(SERIAL_THREADS))?;
        }
        stages.publish(&self.binary, 0..self.binary.len());
        let items = triangles + meshes;
        let workgroups = items.div_ceil(SERIAL_THREADS * JOIN_RUN);
        let join = if triangles == self.triangle_count {
            &kernels.join_all
        } else {
            &kernels.join_some
        };
        stages.run("hierarchy_join", join, &self.join, workgroups)?;
        let [triangles, nodes] = &self.output;
        stages.publish_all(&[triangles, nodes]);
        Ok(())
    }

    /// Sets the number of triangles and meshes for the next builds.
    pub(in crate::accel) fn set_counts(&self, gpu: &Gpu, triangles: u32, meshes: u32) {
        let write = |buffer, words: &[u32]| {
            gpu.queue.write_buffer(buffer, 0, bytemuck::cast_slice(words));
        };
        let (mut all, of_triangles) = runs(triangles, meshes);
        write(&self.runs, &[all, of_triangles]);
        for (_, runs) in &self.nodes {
            write(runs, &[all]);
            all = all.div_ceil(SERIAL_FAN);
        }
    }
}

/// Returns the number of runs over all items, and over triangles only.
fn runs(triangles: u32, meshes: u32) -> (u32, u32) {
    let of_triangles = triangles.div_ceil(SERIAL_RUN);
    (of_triangles + meshes.div_ceil(SERIAL_RUN), of_triangles)
}
