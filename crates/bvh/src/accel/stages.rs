//! What the stages of a build share: the buffers of the tree that they work on, and how a stage is recorded.

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
    /// Group 2, what was sorted: `bvh/sorted.wgsl`.
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

/// The buffers of a tree, as the stages that make its nodes need them.
#[derive(Debug)]
pub(super) struct Room<'a> {
    pub(super) triangle_count: u32,
    pub(super) mesh_count: u32,
    pub(super) params: &'a wgpu::Buffer,
    pub(super) tlas: &'a wgpu::Buffer,
    pub(super) nodes: &'a Array,
    pub(super) scratch: &'a wgpu::Buffer,
    pub(super) triangles: &'a Array,
    /// For [`StageLayouts::geometry`].
    pub(super) geometry: &'a wgpu::BindGroup,
    /// For [`StageLayouts::sorted`].
    pub(super) sorted: &'a wgpu::BindGroup,
}

impl Room<'_> {
    /// An array of `len` elements of `words` words.
    pub(super) fn array(&self, gpu: &Gpu, label: &str, words: u32, len: u64) -> Result<Array> {
        array(gpu, label, self.triangle_count, words, len)
    }

    /// The bind groups of a stage that reads the geometry and what was sorted.
    pub(super) fn bind(&self, gpu: &Gpu, kernel: &Kernel, own: &[&dyn Bind]) -> Bound {
        let shared = [(1, self.geometry), (2, self.sorted)];
        Bound::new(gpu, kernel, &shared, own)
    }
}

/// An array of zeros for the trees of so many triangles; the error names the limit that it does not fit.
pub(super) fn array(gpu: &Gpu, label: &str, triangles: u32, words: u32, len: u64) -> Result<Array> {
    let what = format!("{label} of {triangles} triangles");
    Array::new(gpu, &what, words, u32::try_from(len).unwrap_or(u32::MAX))
}

/// As [`array`], a buffer of `count` elements.
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

/// The bind groups of one stage: its own, and shared ones by index.
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

/// Records the stages of a build: all in one pass, unless each is timed.
pub(super) struct Stages<'a, 's> {
    pub(super) gpu: &'a Gpu,
    pub(super) passes: Passes<'a, Scope<'s>>,
    /// Dispatches so far.
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

    /// Lets later stages read the elements of `range` that a stage has written.
    pub(super) fn publish(&mut self, array: &Array, range: Range<u32>) {
        if array.has_texture() {
            array.publish(self.passes.recorder(), range);
        }
    }

    /// Lets shaders read all of `arrays`; where that is work, it has a scope of its own.
    pub(super) fn publish_all(&mut self, arrays: &[&Array]) {
        if arrays.iter().any(|array| array.has_texture()) {
            let mut scope = self.passes.recorder().scope("publish");
            for array in arrays {
                array.publish(&mut scope, 0..array.len());
            }
        }
    }
}
