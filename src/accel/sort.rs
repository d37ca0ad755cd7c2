//! `sort`: a stable least-significant-digit radix sort of 32-bit keys with 32-bit values, on the GPU.

use crate::{
    Result,
    gpu::{
        Gpu,
        layout::{SORT_BLOCK, SORT_ROUNDS, SORT_SERIAL_BLOCKS, SortParams},
        pass::{
            self,
            Binding::{Read, Uniform, Write},
        },
    },
};

/// Dispatches of one eight-bit digit.
pub const DISPATCHES_PER_DIGIT: u32 = 3;

/// The sort's pipelines.
#[derive(Debug)]
pub struct RadixSort {
    histogram: wgpu::ComputePipeline,
    scan: wgpu::ComputePipeline,
    scatter: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

/// Pairs to be sorted, with what the sort needs beside them.
#[derive(Debug)]
pub struct SortBuffers {
    /// Keys, one `u32` each: the input and, after an even number of digits, the output.
    pub keys: wgpu::Buffer,
    /// Values, one `u32` each.
    pub values: wgpu::Buffer,
    count: u32,
    digits: Vec<wgpu::BindGroup>,
}

impl RadixSort {
    /// Compiles the sort.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let module = crate::gpu::shader::module(gpu, "accel/sort.wgsl")?;
        let layout = pass::compute_layout(
            gpu,
            "sort",
            &[Uniform, Read, Read, Write, Write, Write, Write],
        );
        let pipeline = |entry| pass::compute_pipeline_with(gpu, &module, entry, Some(&[&layout]));
        Ok(Self {
            histogram: pipeline("histogram")?,
            scan: pipeline("scan")?,
            scatter: pipeline("scatter")?,
            layout,
        })
    }

    /// Buffers for `count` pairs, sorted by the lowest `bits` of their keys. The number of digits is made even, so that the result lies
    /// where the input was.
    pub fn buffers(&self, gpu: &Gpu, count: u32, bits: u32) -> SortBuffers {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let bytes = u64::from(count) * 4;
        let keys = gpu.buffer("sort.keys", bytes, usage);
        let values = gpu.buffer("sort.values", bytes, usage);
        let digits = self.digits(gpu, count, bits, &keys, &values);
        SortBuffers {
            keys,
            values,
            count,
            digits,
        }
    }

    /// Buffers to sort the values of `other` by other keys.
    pub fn buffers_for_values_of(&self, gpu: &Gpu, other: &SortBuffers, bits: u32) -> SortBuffers {
        let keys = gpu.buffer("sort.keys", other.keys.size(), other.keys.usage());
        let values = other.values.clone();
        let digits = self.digits(gpu, other.count, bits, &keys, &values);
        SortBuffers {
            keys,
            values,
            count: other.count,
            digits,
        }
    }

    fn digits(
        &self,
        gpu: &Gpu,
        count: u32,
        bits: u32,
        keys: &wgpu::Buffer,
        values: &wgpu::Buffer,
    ) -> Vec<wgpu::BindGroup> {
        let usage = wgpu::BufferUsages::STORAGE;
        let block_count = blocks(count);
        let keys_other = gpu.buffer("sort.keys_other", keys.size(), usage);
        let values_other = gpu.buffer("sort.values_other", values.size(), usage);
        let counts = gpu.buffer("sort.counts", u64::from(block_count) * 256 * 4, usage);
        let totals = gpu.buffer("sort.totals", 256 * 4, usage);
        (0..bits.div_ceil(8).next_multiple_of(2))
            .map(|digit| {
                let params = SortParams {
                    count,
                    block_count,
                    shift: 8 * digit,
                };
                let params = gpu.buffer_with("sort.params", &[params], wgpu::BufferUsages::UNIFORM);
                let there = [keys, values];
                let other = [&keys_other, &values_other];
                let (from, to) = if digit % 2 == 0 {
                    (there, other)
                } else {
                    (other, there)
                };
                let resources = [&params, from[0], from[1], to[0], to[1], &counts, &totals]
                    .map(wgpu::Buffer::as_entire_binding);
                pass::bind_group(gpu, "sort", &self.layout, &resources)
            })
            .collect()
    }

    /// Sorts `buffers` by their lowest `bits`; digits past them are dispatched empty, so that their number stays the same.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>, buffers: &SortBuffers, bits: u32) {
        let needed = bits.div_ceil(8).next_multiple_of(2) as usize;
        for (digit, group) in buffers.digits.iter().enumerate() {
            let live = digit < needed && buffers.count > 0;
            let blocks = if live { blocks(buffers.count) } else { 0 };
            let rows = match blocks {
                0 => 0,
                1..=SORT_SERIAL_BLOCKS => 1,
                _ => 256,
            };
            pass.set_bind_group(0, group, &[]);
            pass.set_pipeline(&self.histogram);
            pass::dispatch(pass, blocks);
            pass.set_pipeline(&self.scan);
            pass::dispatch(pass, rows);
            pass.set_pipeline(&self.scatter);
            pass::dispatch(pass, blocks);
        }
    }
}

/// Workgroups that cover `count` pairs.
fn blocks(count: u32) -> u32 {
    count.div_ceil(SORT_BLOCK * SORT_ROUNDS)
}
