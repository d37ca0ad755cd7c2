//! Parameters shared by all list queries: the BVH to search, and the filter on its objects.

use super::{
    layout::{Objects, TRACE_BLOCK},
    query_list::{PositionedQuery, Queries},
    query_order::{QueryOrder, SORTED_FROM},
    tree::Tree,
};
use crate::{
    Error, Result,
    gpu::{
        Bind, Gpu, Kernel, PipelineSet, Recorder, Workgroups,
        pass::Binding::{self, Read, ReadArray, Uniform, Write},
        shader::Replaced,
    },
};
use bytemuck::Pod;
use wgpu::BufferUsages as Usage;

/// Search parameters of a query.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// Tree to search.
    pub tree: &'a Tree,
    /// Maximum number of objects in a range that is tested without descending further. Any number of at least
    /// 1 gives the same results.
    pub leaf_cutoff: u32,
    /// Filter on the objects. It accepts objects that have at least one of these bits in their `payload`, the
    /// second word of [`Geometry::triangle_info`](super::Geometry::triangle_info). 0 accepts everything. A
    /// [`Predicate`] may use the mask in any way.
    pub mask: u32,
    /// Bind group of the query's [`Predicate`], if it has one.
    pub predicate: Option<&'a wgpu::BindGroup>,
}

impl<'a> Search<'a> {
    /// Searches all objects of `tree`.
    pub fn new(tree: &'a Tree) -> Self {
        Self {
            tree,
            leaf_cutoff: 4,
            mask: 0,
            predicate: None,
        }
    }

    /// Restricts the search to objects that have one of the bits of `mask`.
    pub fn with_mask(self, mask: u32) -> Self {
        Self { mask, ..self }
    }
}

/// User-defined filter on objects, in WGSL. It replaces the test of [`Search::mask`].
///
/// The source defines `fn bvh_query_accepts(query: u32, object: LeafTriangle, mask: u32) -> bool`, which is
/// true if the query with this index accepts the object of a leaf (`bvh/tree.wgsl`). It may declare bindings
/// in bind group 2.
#[derive(Debug, Clone)]
pub struct Predicate {
    wgsl: Replaced,
    layout: Option<wgpu::BindGroupLayout>,
}

impl Predicate {
    /// Creates a predicate from the source `wgsl`, and the layout of its bind group 2 if it has one. Errors
    /// refer to the source as `name`.
    pub fn new(name: &str, wgsl: &str, layout: Option<wgpu::BindGroupLayout>) -> Self {
        let wgsl = Replaced {
            path: "bvh/predicate.wgsl",
            text: wgsl.into(),
            name: name.into(),
        };
        Self { wgsl, layout }
    }
}

/// Query kernel over a tree. Its own bindings are group 0.
#[derive(Debug)]
pub(super) struct QueryKernel {
    kernel: Kernel,
    tree: wgpu::BindGroupLayout,
}

impl QueryKernel {
    pub(super) fn new(
        gpu: &Gpu,
        (path, entry): (&'static str, &'static str),
        bindings: &[Binding],
        constants: &[(&'static str, f64)],
        predicate: Option<&Predicate>,
    ) -> Self {
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let mut shared = vec![(1, &tree)];
        let layout = predicate.and_then(|predicate| predicate.layout.as_ref());
        shared.extend(layout.map(|layout| (2, layout)));
        let replaced = predicate.map(|predicate| predicate.wgsl.clone());
        let kernel = Kernel::with_text(gpu, path, entry, &shared, bindings, constants, replaced);
        Self { kernel, tree }
    }

    pub(super) fn pipelines(&self, set: &mut PipelineSet) {
        self.kernel.pipelines(set);
    }

    /// Records one thread for each of `count` queries.
    pub(super) fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        label: &str,
        search: &Search<'_>,
        count: u32,
        own: &[&dyn Bind],
    ) -> Result<()> {
        let mut pass = recorder.scoped_compute_pass(label);
        self.dispatch(gpu, &mut pass, search, count, own)
    }

    /// Records like [`QueryKernel::record`], into an open pass.
    pub(super) fn dispatch(
        &self,
        gpu: &Gpu,
        pass: &mut wgpu::ComputePass<'_>,
        search: &Search<'_>,
        count: u32,
        own: &[&dyn Bind],
    ) -> Result<()> {
        let tree = search.tree.bind_group(gpu, &self.tree);
        let mut shared = vec![(1, &tree)];
        shared.extend(search.predicate.map(|group| (2, group)));
        let workgroups = Workgroups::Count(count.div_ceil(TRACE_BLOCK));
        self.kernel.dispatch(gpu, pass, &shared, own, workgroups)
    }
}

/// Query with the same number of results for each item of a list, in one dispatch.
#[derive(Debug)]
pub(super) struct ListQuery {
    label: &'static str,
    /// Kernels by kind of object, then unsorted and sorted.
    kernels: Vec<[QueryKernel; 2]>,
    order: QueryOrder,
}

impl ListQuery {
    /// Creates the query from the kernel `entry`, for trees over each of `objects`, which are in the order of
    /// [`Objects::ALL`].
    pub(super) fn new(
        gpu: &Gpu,
        path: &'static str,
        entry: &'static str,
        objects: &[Objects],
        predicate: Option<&Predicate>,
    ) -> Self {
        let kernel = |objects: Objects, sorted: u8| {
            let mut constants = vec![("QUERIES_SORTED", f64::from(sorted))];
            // Triangles are the default in the shader.
            if objects != Objects::Triangles {
                constants.push(("BVH_OBJECTS", objects.constant()));
            }
            let bindings = [Uniform, Read, ReadArray(1), Write];
            QueryKernel::new(gpu, (path, entry), &bindings, &constants, predicate)
        };
        let kernels = |objects: &Objects| [0, 1].map(|sorted| kernel(*objects, sorted));
        Self {
            label: entry,
            kernels: objects.iter().map(kernels).collect(),
            order: QueryOrder::new(gpu),
        }
    }

    /// Adds the kernels for trees over `objects` to the set of pipelines to compile.
    pub(super) fn pipelines(&self, objects: Objects, set: &mut PipelineSet) {
        for kernel in self.kernels.get(objects as usize).into_iter().flatten() {
            kernel.pipelines(set);
        }
        self.order.pipelines(set);
    }

    /// Returns the same queries, to be sorted before each run.
    pub(super) fn sorted<Q: PositionedQuery>(&self, gpu: &Gpu, queries: Queries<Q>) -> Result<Queries<Q>> {
        queries.sorted(gpu, &self.order)
    }

    /// Records the kernel for `queries`, after their sort if they are sorted. It writes the results to
    /// `found`. `number` is passed to the kernel, for example the k of [`NearestK`](super::NearestK).
    pub(super) fn record<Q: PositionedQuery>(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        queries: &Queries<Q>,
        number: u32,
        found: &wgpu::Buffer,
    ) -> Result<()> {
        let objects = search.tree.objects();
        let kernels = self
            .kernels
            .get(objects as usize)
            .ok_or_else(|| Error::Tree(format!("{} does not support trees over {objects:?}", self.label)))?;
        queries.record_sort(gpu, recorder, search.tree, &self.order)?;
        let count = queries.count;
        let query = [[count, search.leaf_cutoff.max(1), number, search.mask]];
        let query = gpu.buffer_with(self.label, &query, Usage::UNIFORM);
        let own: [&dyn Bind; 4] = [&query, &queries.buffer, queries.order(search.tree), found];
        let kernel = &kernels[usize::from(queries.is_sorted())];
        kernel.record(gpu, recorder, self.label, search, count, &own)
    }

    /// Uploads `queries`, records them, and waits for `each` results per query. Large lists are sorted first.
    pub(super) fn run<Q: PositionedQuery, F: Pod>(
        &self,
        gpu: &Gpu,
        search: &Search<'_>,
        queries: &[Q],
        (each, number): (usize, u32),
    ) -> Result<Vec<F>> {
        let len = queries.len() * each;
        if len == 0 {
            return Ok(Vec::new());
        }
        let what = format!("what {} finds for {} queries", self.label, queries.len());
        let bytes = (len * size_of::<F>()) as u64;
        gpu.check_binding(&what, bytes)?;
        let usage = Usage::STORAGE | Usage::COPY_SRC;
        let found = gpu.catch(|| gpu.buffer(self.label, bytes, usage))?;
        let mut queries = Queries::new(gpu, queries)?;
        if queries.count >= SORTED_FROM {
            queries = self.sorted(gpu, queries)?;
        }
        let mut encoder = gpu.encoder(self.label);
        self.record(gpu, &mut encoder, search, &queries, number, &found)?;
        gpu.queue.submit([encoder.finish()]);
        Ok(bytemuck::pod_collect_to_vec(&gpu.read(&found)?[..bytes as usize]))
    }
}
