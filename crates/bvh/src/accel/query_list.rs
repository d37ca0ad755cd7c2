//! Lists of queries in GPU memory.

use super::{
    query_order::{OrderBuffers, QueryOrder},
    tree::Tree,
};
use crate::{
    Result,
    gpu::{Array, Gpu, Recorder},
};
use bytemuck::Pod;
use std::marker::PhantomData;

/// Element of a query list: rows of four numbers. The first row begins with a position.
pub trait PositionedQuery: Pod {
    /// Index of the row that begins with a second position. Queries are sorted by the midpoint of the two
    /// positions. `None` if queries of this type cannot be sorted.
    #[doc(hidden)]
    const SECOND_POSITION_ROW: Option<u32>;
}

/// Point with a search radius.
impl PositionedQuery for [f32; 4] {
    const SECOND_POSITION_ROW: Option<u32> = Some(0);
}

/// Queries in GPU memory.
#[derive(Debug)]
pub struct Queries<Q> {
    /// Buffer of the queries.
    pub buffer: wgpu::Buffer,
    /// Number of queries to run, from the start of the buffer.
    pub count: u32,
    order: Option<OrderBuffers>,
    of: PhantomData<Q>,
}

impl<Q: PositionedQuery> Queries<Q> {
    /// Uploads `queries`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the queries exceed the device's limits.
    pub fn new(gpu: &Gpu, queries: &[Q]) -> Result<Self> {
        let what = format!("a list of {} queries", queries.len());
        gpu.check_binding(&what, size_of_val(queries) as u64)?;
        let usage = wgpu::BufferUsages::STORAGE;
        let buffer = gpu.catch(|| gpu.buffer_with("queries", queries, usage))?;
        // A binding holds less than 2^32 bytes.
        Ok(Self::from_buffer(buffer, queries.len() as u32))
    }

    /// Wraps the first `count` queries of your buffer, which needs the usage `STORAGE`.
    pub fn from_buffer(buffer: wgpu::Buffer, count: u32) -> Self {
        Self {
            buffer,
            count,
            order: None,
            of: PhantomData,
        }
    }

    /// Returns the same queries, to be sorted before each run, if this type can be sorted.
    pub(super) fn sorted(self, gpu: &Gpu, order: &QueryOrder) -> Result<Self> {
        let order = match Q::SECOND_POSITION_ROW {
            Some(_) => Some(order.buffers(gpu, self.count)?),
            None => None,
        };
        Ok(Self { order, ..self })
    }

    pub(super) fn is_sorted(&self) -> bool {
        self.order.is_some()
    }

    /// Records the sort, if these queries are to be sorted.
    pub(super) fn record_sort(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        order: &QueryOrder,
    ) -> Result<()> {
        let (Some(buffers), Some(far)) = (&self.order, Q::SECOND_POSITION_ROW) else {
            return Ok(());
        };
        let rows = [(size_of::<Q>() / 16) as u32, far];
        order.record(gpu, recorder, tree, &self.buffer, rows, buffers)
    }

    /// Returns the sorted order to bind. Unsorted queries get any array of words, because their kernels do
    /// not read it.
    pub(super) fn order<'a>(&'a self, tree: &'a Tree) -> &'a Array {
        let order = self.order.as_ref();
        order.map_or(tree.order(), OrderBuffers::order)
    }
}
