//! Queries with a variable number of results. The results are counted, summed, and collected into buffers of
//! exactly the right size, or appended in one pass up to a capacity. While counting, results are kept up to a
//! limit, so that the collection rarely has to search again: `bvh/query/counted.wgsl`.

use super::{
    scan::Scan,
    search::{Predicate, QueryKernel, Search},
};
use crate::{
    Error, Result,
    gpu::{Bind, Gpu, PipelineSet, Recorder, pass::Binding},
};
use bytemuck::Pod;
use std::marker::PhantomData;
use wgpu::BufferUsages as Usage;

/// Average number of results that are kept per query.
pub(super) const KEPT: u64 = 8;
/// Size of a kept result in bytes. The header with the number of kept results is equally large.
const KEPT_BYTES: u64 = 16;
/// Maximum size of the kept results, in bytes.
const KEPT_MAX: u64 = 1 << 28;

/// Number of results of each query in a list, with the results that were kept while counting.
#[derive(Debug)]
pub struct Counts {
    /// Offset of each query's first result after collection, one `u32` each, followed by the total, which
    /// saturates at `u32::MAX`.
    pub offsets: wgpu::Buffer,
    kept: wgpu::Buffer,
    queries: u32,
}

impl Counts {
    /// Creates buffers for the counts of `queries` and for kept results: 8 per query on average, at 16 bytes
    /// each, up to 256 MiB.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the offsets exceed the device's limits, [`Error::Gpu`] if the device is out of
    /// memory.
    pub fn new(gpu: &Gpu, queries: u32) -> Result<Self> {
        Self::keeping_each(gpu, queries, KEPT)
    }

    /// Creates buffers like [`Counts::new`], with room to keep `each` results per query on average.
    pub(super) fn keeping_each(gpu: &Gpu, queries: u32, each: u64) -> Result<Self> {
        let most = KEPT_MAX.min(gpu.binding_limit()) / KEPT_BYTES - 1;
        let kept = (each * u64::from(queries)).min(most);
        Self::with_capacity(gpu, queries, kept as u32)
    }

    /// Creates buffers like [`Counts::new`], with room to keep `kept` results of all queries together. If
    /// there are more, the collection searches again.
    ///
    /// # Errors
    ///
    /// The errors of [`Counts::new`], and [`Error::Limit`] if the kept results exceed the device's limits.
    pub fn with_capacity(gpu: &Gpu, queries: u32, kept: u32) -> Result<Self> {
        let offset_bytes = 4 * (u64::from(queries) + 1);
        gpu.check_binding(&format!("the offsets of {queries} queries"), offset_bytes)?;
        let kept_bytes = KEPT_BYTES * (u64::from(kept) + 1);
        gpu.check_binding(&format!("{kept} results that are kept"), kept_bytes)?;
        let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
        gpu.catch(|| Self {
            offsets: gpu.buffer("query.offsets", offset_bytes, usage),
            kept: gpu.buffer("query.kept", kept_bytes, usage),
            queries,
        })
    }

    /// Returns the buffer of kept results.
    pub(super) fn kept(&self) -> &wgpu::Buffer {
        &self.kept
    }

    /// Checks that there is room for `queries`, and records the reset of the kept results.
    pub(super) fn begin(&self, recorder: &mut impl Recorder, queries: u32) -> Result<()> {
        self.check(queries)?;
        recorder.encoder().clear_buffer(&self.kept, 0, Some(4));
        Ok(())
    }

    fn check(&self, queries: u32) -> Result<()> {
        if queries <= self.queries {
            return Ok(());
        }
        Err(Error::Limit {
            what: format!("counting the results of {queries} queries"),
            needed: queries.to_string(),
            allowed: self.queries.to_string(),
            by: "the room for counts".into(),
        })
    }
}

/// Input of a query kernel: the search, the number of queries, and the resources for its first three
/// bindings.
pub(super) struct QueryInput<'a> {
    pub(super) search: &'a Search<'a>,
    pub(super) count: u32,
    pub(super) bound: [&'a dyn Bind; 3],
}

/// Kernels that count, collect and append the results of a query.
#[derive(Debug)]
pub(super) struct CountedQuery {
    label: &'static str,
    count: QueryKernel,
    collect: QueryKernel,
    append: QueryKernel,
}

impl CountedQuery {
    /// Creates the kernels `entries`, which count, collect and append. Their first three bindings are
    /// `input`. Output buffers follow: two for counting, three for collecting and two for appending.
    pub(super) fn new(
        gpu: &Gpu,
        (path, label): (&'static str, &'static str),
        entries: [&'static str; 3],
        input: [Binding; 3],
        constants: &[(&'static str, f64)],
        predicate: Option<&Predicate>,
    ) -> Self {
        let kernel = |entry, outputs: usize| {
            let bindings = [&input[..], &vec![Binding::Write; outputs]].concat();
            QueryKernel::new(gpu, (path, entry), &bindings, constants, predicate)
        };
        let [count, collect, append] = entries;
        Self {
            label,
            count: kernel(count, 2),
            collect: kernel(collect, 3),
            append: kernel(append, 2),
        }
    }

    pub(super) fn pipelines(&self, set: &mut PipelineSet) {
        self.count.pipelines(set);
        self.result_pipelines(set);
    }

    /// Adds the kernels that collect and append, but not the one that counts, because another kernel replaces
    /// it.
    pub(super) fn result_pipelines(&self, set: &mut PipelineSet) {
        self.collect.pipelines(set);
        self.append.pipelines(set);
    }

    fn dispatch(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        kernel: &QueryKernel,
        input: &QueryInput<'_>,
        results: &[&wgpu::Buffer],
    ) -> Result<()> {
        let mut own = input.bound.to_vec();
        own.extend(results.iter().map(|buffer| *buffer as &dyn Bind));
        kernel.record(gpu, recorder, self.label, input.search, input.count, &own)
    }

    /// Records the number of results of each query, and the offsets of their first results.
    pub(super) fn record_count(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        input: &QueryInput<'_>,
        scan: &Scan,
        counts: &Counts,
    ) -> Result<()> {
        counts.begin(recorder, input.count)?;
        let results = [&counts.offsets, &counts.kept];
        self.dispatch(gpu, recorder, &self.count, input, &results)?;
        scan.record(gpu, recorder, &counts.offsets, input.count)
    }

    pub(super) fn record_collect(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        input: &QueryInput<'_>,
        counts: &Counts,
        results: &wgpu::Buffer,
    ) -> Result<()> {
        counts.check(input.count)?;
        let results = [&counts.offsets, &counts.kept, results];
        self.dispatch(gpu, recorder, &self.collect, input, &results)
    }

    pub(super) fn record_append(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        input: &QueryInput<'_>,
        [total, results]: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        recorder.encoder().clear_buffer(total, 0, Some(4));
        self.dispatch(gpu, recorder, &self.append, input, &[total, results])
    }

    /// Counts with `record_count`, waits for the total, and collects.
    pub(super) fn run<F: Pod>(
        &self,
        gpu: &Gpu,
        input: &QueryInput<'_>,
        counts: Counts,
        record_count: impl FnOnce(&mut wgpu::CommandEncoder, &Counts) -> Result<()>,
    ) -> Result<QueryResults<F>> {
        let count = input.count;
        let mut encoder = gpu.encoder(self.label);
        record_count(&mut encoder, &counts)?;
        let last = gpu.buffer("query.total", 4, Usage::COPY_DST | Usage::COPY_SRC);
        encoder.copy_buffer_to_buffer(&counts.offsets, 4 * u64::from(count), &last, 0, 4);
        gpu.queue.submit([encoder.finish()]);
        let total: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&last)?);
        let total = total.first().copied().unwrap_or(0);
        let what = || format!("the results of {}, for {count} queries", self.label);
        if total == u32::MAX {
            return Err(Error::Limit {
                what: what(),
                needed: "2^32 or more".into(),
                allowed: "less".into(),
                by: "the numbers of their offsets".into(),
            });
        }
        let bytes = size_of::<F>() as u64 * u64::from(total.max(1));
        gpu.check_binding(&what(), bytes)?;
        let usage = Usage::STORAGE | Usage::COPY_SRC;
        let results = gpu.catch(|| gpu.buffer("query.results", bytes, usage))?;
        let mut encoder = gpu.encoder(self.label);
        self.record_collect(gpu, &mut encoder, input, &counts, &results)?;
        gpu.queue.submit([encoder.finish()]);
        Ok(QueryResults {
            offsets: counts.offsets,
            results,
            count,
            total,
            of: PhantomData,
        })
    }
}

/// Results of a query in GPU memory.
#[derive(Debug)]
pub struct QueryResults<F> {
    /// Offset of each query's first result, followed by the total: one `u32` each.
    pub offsets: wgpu::Buffer,
    /// Results of all queries. Those of one query are in no particular order.
    pub results: wgpu::Buffer,
    count: u32,
    total: u32,
    of: PhantomData<F>,
}

impl<F: Pod> QueryResults<F> {
    /// Returns the total number of results.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Reads back the offsets and results, and waits for them.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if the device is lost.
    pub fn read(&self, gpu: &Gpu) -> Result<(Vec<u32>, Vec<F>)> {
        let offsets = gpu.read_first(&self.offsets, self.count as usize + 1)?;
        Ok((offsets, gpu.read_first(&self.results, self.total as usize)?))
    }
}
