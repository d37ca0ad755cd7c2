//! Queries with any number of results each: counted first, summed up, and collected into buffers of just the
//! size; or in one go, as far as there is room. What is found while counting is kept, as far as there is room, so
//! that the collection need not search again: `bvh/query/counted.wgsl`.

use super::{
    scan::Scan,
    search::{Predicate, QueryKernel, Search},
};
use crate::{
    Error, Result,
    gpu::{Bind, Gpu, Needs, Recorder, pass::Binding},
};
use bytemuck::Pod;
use std::marker::PhantomData;
use wgpu::BufferUsages as Usage;

/// Results that are kept for each query, in the mean.
pub(super) const KEPT: u64 = 8;
/// Bytes of a result that is kept, and of their count.
const KEPT_BYTES: u64 = 16;
/// Bytes of what is kept, at most.
const KEPT_MOST: u64 = 1 << 28;

/// How many results each query of a list has, and what was found while counting.
#[derive(Debug)]
pub struct Counts {
    /// Where the results of each query begin if they are collected, a `u32` each, and their sum, which is
    /// `u32::MAX` if it is not less.
    pub offsets: wgpu::Buffer,
    kept: wgpu::Buffer,
    queries: u32,
}

impl Counts {
    /// Room for the counts of `queries`, and to keep 8 results of each in the mean, 16 bytes a result and 256 MiB
    /// at most.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the device's limits do not hold the offsets, [`Error::Gpu`] where memory is short.
    pub fn new(gpu: &Gpu, queries: u32) -> Result<Self> {
        Self::keeping_each(gpu, queries, KEPT)
    }

    /// As [`Counts::new`], for `each` results of a query in the mean.
    pub(super) fn keeping_each(gpu: &Gpu, queries: u32, each: u64) -> Result<Self> {
        let most = KEPT_MOST.min(gpu.binding_limit()) / KEPT_BYTES - 1;
        let kept = (each * u64::from(queries)).min(most);
        Self::keeping(gpu, queries, kept as u32)
    }

    /// As [`Counts::new`], with room to keep that many results of all queries. Where there are more, the collection
    /// searches again.
    ///
    /// # Errors
    ///
    /// As there, and where they do not hold what is kept.
    pub fn keeping(gpu: &Gpu, queries: u32, kept: u32) -> Result<Self> {
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

    /// What is kept.
    pub(super) fn kept(&self) -> &wgpu::Buffer {
        &self.kept
    }

    /// Checks that there is room for `queries`, and keeps nothing yet.
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

/// A list of queries: where they search, how many they are, and what is bound.
pub(super) struct Asked<'a> {
    pub(super) search: &'a Search<'a>,
    pub(super) count: u32,
    pub(super) bound: [&'a dyn Bind; 3],
}

/// The three kernels of such a query.
#[derive(Debug)]
pub(super) struct CountedQuery {
    label: &'static str,
    count: QueryKernel,
    collect: QueryKernel,
    append: QueryKernel,
}

impl CountedQuery {
    /// Of the kernels `entries`, which count, collect and append. `asked`, three of them, is bound in front of the
    /// numbers and results.
    pub(super) fn new(
        gpu: &Gpu,
        (path, label): (&'static str, &'static str),
        entries: [&'static str; 3],
        asked: [Binding; 3],
        constants: &[(&'static str, f64)],
        predicate: Option<&Predicate>,
    ) -> Self {
        let kernel = |entry, outputs: usize| {
            let bindings = [&asked[..], &vec![Binding::Write; outputs]].concat();
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

    pub(super) fn needs(&self, needs: &mut Needs) {
        self.count.needs(needs);
        self.needs_results(needs);
    }

    /// What has to be compiled where another kernel counts.
    pub(super) fn needs_results(&self, needs: &mut Needs) {
        self.collect.needs(needs);
        self.append.needs(needs);
    }

    fn dispatch(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        kernel: &QueryKernel,
        asked: &Asked<'_>,
        results: &[&wgpu::Buffer],
    ) -> Result<()> {
        let mut own = asked.bound.to_vec();
        own.extend(results.iter().map(|buffer| *buffer as &dyn Bind));
        kernel.record(gpu, recorder, self.label, asked.search, asked.count, &own)
    }

    /// Records how many results each query has, and where those of each begin.
    pub(super) fn record_count(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        asked: &Asked<'_>,
        scan: &Scan,
        counts: &Counts,
    ) -> Result<()> {
        counts.begin(recorder, asked.count)?;
        let results = [&counts.offsets, &counts.kept];
        self.dispatch(gpu, recorder, &self.count, asked, &results)?;
        scan.record(gpu, recorder, &counts.offsets, asked.count)
    }

    pub(super) fn record_collect(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        asked: &Asked<'_>,
        counts: &Counts,
        results: &wgpu::Buffer,
    ) -> Result<()> {
        counts.check(asked.count)?;
        let results = [&counts.offsets, &counts.kept, results];
        self.dispatch(gpu, recorder, &self.collect, asked, &results)
    }

    pub(super) fn record_append(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        asked: &Asked<'_>,
        [total, results]: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        recorder.encoder().clear_buffer(total, 0, Some(4));
        self.dispatch(gpu, recorder, &self.append, asked, &[total, results])
    }

    /// Counts by `record_count`, waits for the sum, and collects.
    pub(super) fn run<F: Pod>(
        &self,
        gpu: &Gpu,
        asked: &Asked<'_>,
        counts: Counts,
        record_count: impl FnOnce(&mut wgpu::CommandEncoder, &Counts) -> Result<()>,
    ) -> Result<Found<F>> {
        let count = asked.count;
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
        self.record_collect(gpu, &mut encoder, asked, &counts, &results)?;
        gpu.queue.submit([encoder.finish()]);
        Ok(Found {
            offsets: counts.offsets,
            results,
            count,
            total,
            of: PhantomData,
        })
    }
}

/// What a query has found, in GPU memory.
#[derive(Debug)]
pub struct Found<F> {
    /// Where the results of each query begin, and how many there are in all: a `u32` each.
    pub offsets: wgpu::Buffer,
    /// The results; those of a query are in no order.
    pub results: wgpu::Buffer,
    count: u32,
    total: u32,
    of: PhantomData<F>,
}

impl<F: Pod> Found<F> {
    /// How many results all queries have.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Offsets and results, waiting for them.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] where the device is lost.
    pub fn read(&self, gpu: &Gpu) -> Result<(Vec<u32>, Vec<F>)> {
        let offsets = gpu.read_first(&self.offsets, self.count as usize + 1)?;
        Ok((offsets, gpu.read_first(&self.results, self.total as usize)?))
    }
}
