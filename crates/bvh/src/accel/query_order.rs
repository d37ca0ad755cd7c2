//! `query_codes` and a sort: order queries by their Morton codes, so that neighbouring threads visit the same
//! nodes.

use super::{
    layout::TRACE_BLOCK,
    sort::{Digits, RadixSort, SortBuffers},
    tree::Tree,
};
use crate::{
    Result,
    gpu::{
        Array, Bind, Gpu, Kernel, PipelineSet, Recorder, Workgroups,
        pass::Binding::{Read, Uniform, Write},
    },
};

/// Number of queries from which sorting them pays off.
pub(super) const SORTED_FROM: u32 = 4096;

/// Bits of a query's Morton code.
const CODE_BITS: u32 = 30;

/// Kernels that sort queries.
#[derive(Debug)]
pub(super) struct QueryOrder {
    codes: Kernel,
    sort: RadixSort,
    tree: wgpu::BindGroupLayout,
}

/// Buffers for the order of a list of queries.
#[derive(Debug)]
pub(super) struct OrderBuffers {
    pairs: SortBuffers,
    digits: Digits,
    count: u32,
}

impl OrderBuffers {
    /// Returns the indices of the queries in sorted order.
    pub(super) fn order(&self) -> &Array {
        &self.pairs.values[self.digits.output()]
    }
}

impl QueryOrder {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let (path, entry) = ("bvh/query/query_codes.wgsl", "query_codes");
        let codes = Kernel::new(gpu, path, entry, &[(1, &tree)], &[Uniform, Read, Write]);
        let sort = RadixSort::new(gpu);
        Self { codes, sort, tree }
    }

    pub(super) fn pipelines(&self, set: &mut PipelineSet) {
        self.codes.pipelines(set);
        self.sort.pipelines(set);
    }

    pub(super) fn buffers(&self, gpu: &Gpu, count: u32) -> Result<OrderBuffers> {
        let pairs = self.sort.buffers(gpu, count)?;
        let mut digits = self.sort.digits(gpu, &pairs, 0, CODE_BITS, true);
        digits.set_count(gpu, count);
        Ok(OrderBuffers { pairs, digits, count })
    }

    /// Records the sort of queries of `rows` rows of four floats each. A query's position is the midpoint of
    /// its first row and row `far`: see `query_codes.wgsl`.
    pub(super) fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        queries: &wgpu::Buffer,
        [rows, far]: [u32; 2],
        order: &OrderBuffers,
    ) -> Result<()> {
        let query = [[order.count, rows, far, 0]];
        let query = gpu.buffer_with("query_codes.query", &query, wgpu::BufferUsages::UNIFORM);
        let tree = tree.bind_group(gpu, &self.tree);
        let keys = &order.pairs.keys[order.digits.input()];
        {
            let mut pass = recorder.scoped_compute_pass("query_codes");
            let workgroups = Workgroups::Count(order.count.div_ceil(TRACE_BLOCK));
            let own: [&dyn Bind; 3] = [&query, queries, keys.buffer()];
            self.codes
                .dispatch(gpu, &mut pass, &[(1, &tree)], &own, workgroups)?;
        }
        keys.publish(recorder.encoder(), 0..order.count);
        let (pairs, digits) = (&order.pairs, &order.digits);
        self.sort.record(gpu, recorder, pairs, digits).map(drop)
    }
}
