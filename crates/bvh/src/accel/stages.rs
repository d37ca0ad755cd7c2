//! Data shared by the stages of a build: the buffers of the BVH, their bind groups, and the recorder of
//! stages.

use crate::{
    Result,
    gpu::{
        Array, Bind, Gpu, Kernel, Passes, Scope, Workgroups,
        pass::{self, Binding},
    },
};
use std::ops::Range;

/// Layouts of the bind groups that several stages share.
#[derive(Debug)]
pub(super) struct StageLayouts {
    /// Group 1, the merged geometry: `bvh/geometry.wgsl`.
    pub(super) geometry: wgpu::BindGroupLayout,
    /// Group 2, the sorted items: `bvh/sorted.wgsl`.
    pub(super) sorted: wgpu::BindGroupLayout,
}

impl StageLayouts {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let sorted = [Binding::ReadArray(1), Binding::ReadArray(1), Binding::Write];
        Self {
            geometry: pass::compute_layout(gpu, "geometry", &[1, 1, 2].map(Binding::ReadArray)),
            sorted: pass::compute_layout(gpu, "sorted", &sorted),
        }
    }
}

/// Buffers of a tree, for the stages that make its nodes.
#[derive(Debug)]
pub(super) struct TreeBuffers<'a> {
    pub(super) triangle_count: u32,
    pub(super) mesh_count: u32,
    pub(super) params: &'a wgpu::Buffer,
    pub(super) tlas: &'a wgpu::Buffer,
    pub(super) nodes: &'a Array,
    pub(super) scratch: &'a wgpu::Buffer,
    pub(super) triangles: &'a Array,
    /// Bind group of [`StageLayouts::geometry`].
    pub(super) geometry: &'a wgpu::BindGroup,
    /// Bind group of [`StageLayouts::sorted`].
    pub(super) sorted: &'a wgpu::BindGroup,
}

impl TreeBuffers<'_> {
    /// Creates an array of `len` elements of `words` words each.
    pub(super) fn array(&self, gpu: &Gpu, label: &str, words: u32, len: u64) -> Result<Array> {
        array(gpu, label, self.triangle_count, words, len)
    }

    /// Creates the bind groups of a stage that reads the geometry and the sorted items.
    pub(super) fn bind(&self, gpu: &Gpu, kernel: &Kernel, own: &[&dyn Bind]) -> Bound {
        let shared = [(1, self.geometry), (2, self.sorted)];
        Bound::new(gpu, kernel, &shared, own)
    }
}

/// Creates an array of zeros for the trees of `triangles` triangles. An error includes the exceeded limit.
pub(super) fn array(gpu: &Gpu, label: &str, triangles: u32, words: u32, len: u64) -> Result<Array> {
    let what = format!("{label} of {triangles} triangles");
    Array::new(gpu, &what, words, u32::try_from(len).unwrap_or(u32::MAX))
}

/// Creates a buffer of `count` elements of `bytes` bytes. An error includes the exceeded limit.
pub(super) fn buffer(
    gpu: &Gpu,
    label: &str,
    triangles: u32,
    count: u32,
    bytes: usize,
) -> Result<wgpu::Buffer> {
    let bytes = u64::from(count.max(1)) * bytes as u64;
    gpu.check_binding(&format!("{label} of {triangles} triangles"), bytes)?;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    Ok(gpu.buffer(label, bytes, usage))
}

/// Bind groups of one stage: its own, and shared ones by index.
#[derive(Debug)]
pub(super) struct Bound {
    own: wgpu::BindGroup,
    shared: Vec<(u32, wgpu::BindGroup)>,
}

impl Bound {
    pub(super) fn new(
        gpu: &Gpu,
        kernel: &Kernel,
        shared: &[(u32, &wgpu::BindGroup)],
        own: &[&dyn Bind],
    ) -> Self {
        let shared = shared.iter().map(|(index, group)| (*index, (*group).clone()));
        Self {
            own: kernel.bind(gpu, own),
            shared: shared.collect(),
        }
    }
}

/// Records the stages of a build, in a single pass unless stages are timed.
pub(super) struct Stages<'a, 's> {
    pub(super) gpu: &'a Gpu,
    pub(super) passes: Passes<'a, Scope<'s>>,
    /// Number of dispatches so far.
    pub(super) dispatches: u32,
}

impl Stages<'_, '_> {
    /// Records one dispatch.
    pub(super) fn run(&mut self, name: &str, kernel: &Kernel, bound: &Bound, workgroups: u32) -> Result<()> {
        let shared: Vec<_> = bound.shared.iter().map(|(i, group)| (*i, group)).collect();
        let workgroups = Workgroups::Count(workgroups);
        self.passes.record(name, |pass| {
            kernel.dispatch_bound(self.gpu, pass, &shared, &bound.own, workgroups)
        })?;
        self.dispatches += 1;
        Ok(())
    }

    /// Makes the elements of `range` that a stage has written readable by later stages.
    pub(super) fn publish(&mut self, array: &Array, range: Range<u32>) {
        if array.has_texture() {
            array.publish(self.passes.recorder(), range);
        }
    }

    /// Makes all of `arrays` readable by shaders. If that takes a copy, it gets a profiler scope of its own.
    pub(super) fn publish_all(&mut self, arrays: &[&Array]) {
        if arrays.iter().any(|array| array.has_texture()) {
            let mut scope = self.passes.recorder().scope("publish");
            for array in arrays {
                array.publish(&mut scope, 0..array.len());
            }
        }
    }
}
