//! Queries with any number of results each: counted first, summed up, and collected into buffers of just the
//! size; or in one go, as far as there is room.

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

/// The three kernels of such a query.
#[derive(Debug)]
pub(super) struct CountedQuery {
    label: &'static str,
    count: QueryKernel,
    collect: QueryKernel,
    append: QueryKernel,
}

/// What is bound: in front of the results, and behind them.
pub(super) type Bound<'a> = (&'a [&'a dyn Bind], &'a [&'a dyn Bind]);

impl CountedQuery {
    /// Of the kernels `entries`, which count, collect and append. `before` is bound in front of the numbers and
    /// results, `after` behind them.
    pub(super) fn new(
        gpu: &Gpu,
        (path, label): (&'static str, &'static str),
        entries: [&'static str; 3],
        (before, after): (&[Binding], &[Binding]),
        constants: &[(&'static str, f64)],
        predicate: Option<&Predicate>,
    ) -> Self {
        let all = [before, &[Binding::Write, Binding::Write], after].concat();
        // Counting has no results, and needs none of what is bound behind them.
        let counts = [before, &[Binding::Write]].concat();
        let kernel = |entry, bindings: &[Binding]| {
            QueryKernel::new(gpu, (path, entry), bindings, constants, predicate)
        };
        let [count, collect, append] = entries;
        Self {
            label,
            count: kernel(count, &counts),
            collect: kernel(collect, &all),
            append: kernel(append, &all),
        }
    }

    pub(super) fn needs(&self, needs: &mut Needs) {
        for kernel in [&self.count, &self.collect, &self.append] {
            kernel.needs(needs);
        }
    }

    fn dispatch(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        kernel: &QueryKernel,
        (search, count): (&Search<'_>, u32),
        (before, after): Bound<'_>,
        results: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        let results = results.map(|buffer| buffer as &dyn Bind);
        let own = [before, &results, after].concat();
        kernel.record(gpu, recorder, self.label, search, count, &own)
    }

    /// Records how many results each of `count` queries has, and where those of each begin.
    pub(super) fn record_count(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        (search, count): (&Search<'_>, u32),
        bound: Bound<'_>,
        scan: &Scan,
        offsets: &wgpu::Buffer,
    ) -> Result<()> {
        let offsets_of: [&dyn Bind; 1] = [offsets];
        let own = [bound.0, &offsets_of].concat();
        self.count
            .record(gpu, recorder, self.label, search, count, &own)?;
        scan.record(gpu, recorder, offsets, count)
    }

    pub(super) fn record_collect(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        asked: (&Search<'_>, u32),
        bound: Bound<'_>,
        results: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        self.dispatch(gpu, recorder, &self.collect, asked, bound, results)
    }

    pub(super) fn record_append(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        asked: (&Search<'_>, u32),
        bound: Bound<'_>,
        [total, results]: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        recorder.encoder().clear_buffer(total, 0, Some(4));
        self.dispatch(gpu, recorder, &self.append, asked, bound, [total, results])
    }

    /// Counts, waits for the sum, and collects.
    pub(super) fn run<F: Pod>(
        &self,
        gpu: &Gpu,
        asked: (&Search<'_>, u32),
        bound: Bound<'_>,
        scan: &Scan,
    ) -> Result<Found<F>> {
        let count = asked.1;
        let usage = Usage::STORAGE | Usage::COPY_SRC;
        let bytes = 4 * (u64::from(count) + 1);
        gpu.check_binding(&format!("the offsets of {count} queries"), bytes)?;
        let offsets = gpu.catch(|| gpu.buffer("query.offsets", bytes, usage))?;
        let mut encoder = gpu.encoder(self.label);
        self.record_count(gpu, &mut encoder, asked, bound, scan, &offsets)?;
        let last = gpu.buffer("query.total", 4, Usage::COPY_DST | Usage::COPY_SRC);
        encoder.copy_buffer_to_buffer(&offsets, bytes - 4, &last, 0, 4);
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
        let results = gpu.catch(|| gpu.buffer("query.results", bytes, usage))?;
        let mut encoder = gpu.encoder(self.label);
        self.record_collect(gpu, &mut encoder, asked, bound, [&offsets, &results])?;
        gpu.queue.submit([encoder.finish()]);
        Ok(Found {
            offsets,
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
        let (offsets, results) = (gpu.read(&self.offsets)?, gpu.read(&self.results)?);
        let used = 4 * (self.count as usize + 1);
        let filled = size_of::<F>() * self.total as usize;
        Ok((
            bytemuck::pod_collect_to_vec(&offsets[..used]),
            bytemuck::pod_collect_to_vec(&results[..filled]),
        ))
    }
}
