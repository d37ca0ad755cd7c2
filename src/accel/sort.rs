//! `sort`: a stable least-significant-digit radix sort of 32-bit keys with 32-bit values, on the GPU.
//!
//! Three roads give the same order: workgroups that rank by subgroup ballots or by a ballot in shared memory, with one dispatch in all for few
//! pairs; and on software adapters threads that each sort a run.

use crate::{
    Result,
    gpu::{
        Array, Arrays, Gpu,
        layout::{SORT_BLOCK, SORT_ROUNDS, SORT_SERIAL_BLOCKS, SORT_SMALL, SortParams},
        pass::{
            self,
            Binding::{ReadArray, Uniform, Write},
        },
        profiler::Scope,
        shader,
    },
};
use std::cell::Cell;

/// Dispatches of one eight-bit digit, where not all take place in one.
const DISPATCHES_PER_DIGIT: u32 = 3;

/// The sort's pipelines.
#[derive(Debug)]
pub struct RadixSort {
    histogram: wgpu::ComputePipeline,
    scan: wgpu::ComputePipeline,
    scatter: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    /// Buffers can be read and written in one dispatch; textures cannot.
    small: Option<wgpu::ComputePipeline>,
}

/// Pairs to be sorted, with what the sort needs beside them.
#[derive(Debug)]
pub struct SortBuffers {
    /// Keys, a word each, on two sides: each digit moves the pairs to the other one.
    pub keys: [Array; 2],
    /// Values, a word each.
    pub values: [Array; 2],
    counts: wgpu::Buffer,
    totals: wgpu::Buffer,
}

/// Consecutive digits of one sort.
#[derive(Debug)]
pub struct Digits {
    first_side: usize,
    count: Cell<u32>,
    params: Vec<(SortParams, wgpu::Buffer)>,
    groups: Vec<wgpu::BindGroup>,
    small: Option<wgpu::BindGroup>,
}

impl RadixSort {
    /// Compiles the sort for the device's road.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let layout = pass::compute_layout(
            gpu,
            "sort",
            &[Uniform, ReadArray, ReadArray, Write, Write, Write, Write],
        );
        let pipeline = |path: &str, entry: &str| {
            let module = shader::module(gpu, path)?;
            pass::compute_pipeline_with(gpu, &module, entry, Some(&[&layout]))
        };
        let [histogram, scan, scatter] = match gpu.arrays {
            Arrays::Textures => ["histogram", "scan", "scatter"]
                .map(|pass| ("accel/sort_serial.wgsl", format!("{pass}_serial"))),
            Arrays::Buffers => {
                let parallel =
                    ["histogram", "scan", "scatter"].map(|pass| ("accel/sort.wgsl", pass.into()));
                match gpu.subgroup_size {
                    // A byte of the digit's words for each subgroup, and eight words.
                    Some(8..=128) => {
                        let [histogram, scan, _] = parallel;
                        [
                            histogram,
                            scan,
                            ("accel/sort_subgroups.wgsl", "scatter_subgroups".into()),
                        ]
                    }
                    _ => parallel,
                }
            }
        };
        let small = match gpu.arrays {
            Arrays::Buffers => Some(pass::compute_pipeline(
                gpu,
                "accel/sort_small.wgsl",
                "sort_small",
            )?),
            Arrays::Textures => None,
        };
        Ok(Self {
            histogram: pipeline(histogram.0, &histogram.1)?,
            scan: pipeline(scan.0, &scan.1)?,
            scatter: pipeline(scatter.0, &scatter.1)?,
            layout,
            small,
        })
    }

    /// Room for up to `capacity` pairs.
    pub fn buffers(&self, gpu: &Gpu, capacity: u32) -> Result<SortBuffers> {
        let array = |label| Array::new(gpu, label, 1, capacity.max(1));
        // Fewer pairs may lie in as many as 256 runs.
        let blocks = blocks(gpu, capacity).0.max(256);
        let counts_bytes = u64::from(blocks) * 256 * 4;
        gpu.check_binding("sort.counts", counts_bytes)?;
        let storage = wgpu::BufferUsages::STORAGE;
        Ok(SortBuffers {
            keys: [array("sort.keys")?, array("sort.keys_other")?],
            values: [array("sort.values")?, array("sort.values_other")?],
            counts: gpu.buffer("sort.counts", counts_bytes, storage),
            totals: gpu.buffer("sort.totals", 256 * 4, storage),
        })
    }

    /// As many digits as hold the lowest `bits` of the keys, of pairs that lie on `side`. With `implied_values` the pairs' values are their own
    /// numbers, whatever the buffer holds.
    pub fn digits(
        &self,
        gpu: &Gpu,
        buffers: &SortBuffers,
        side: usize,
        bits: u32,
        implied_values: bool,
    ) -> Digits {
        let digits = bits.div_ceil(8).max(1);
        let params: Vec<_> = (0..digits)
            .map(|digit| {
                let params = SortParams {
                    shift: 8 * digit,
                    implied_values: u32::from(implied_values && digit == 0),
                    digits,
                    ..SortParams::default()
                };
                (
                    params,
                    gpu.buffer_with("sort.params", &[params], wgpu::BufferUsages::UNIFORM),
                )
            })
            .collect();
        let groups = (0..)
            .zip(&params)
            .map(|(digit, (_, params))| {
                let from = (side + digit) % 2;
                let resources = [
                    params.as_entire_binding(),
                    buffers.keys[from].read_binding(),
                    buffers.values[from].read_binding(),
                    buffers.keys[1 - from].write_binding(),
                    buffers.values[1 - from].write_binding(),
                    buffers.counts.as_entire_binding(),
                    buffers.totals.as_entire_binding(),
                ];
                pass::bind_group(gpu, "sort", &self.layout, &resources)
            })
            .collect();
        let small = self.small.as_ref().map(|small| {
            let resources = [
                params[0].1.as_entire_binding(),
                buffers.keys[side].write_binding(),
                buffers.values[side].write_binding(),
                buffers.keys[1 - side].write_binding(),
                buffers.values[1 - side].write_binding(),
            ];
            pass::bind_group(
                gpu,
                "sort_small",
                &small.get_bind_group_layout(0),
                &resources,
            )
        });
        Digits {
            first_side: side,
            count: Cell::new(0),
            params,
            groups,
            small,
        }
    }

    /// Sorts the pairs on the first side, which have been published to readers, as the values on the last side are afterwards; returns the number
    /// of dispatches.
    pub fn record(&self, scope: &mut Scope<'_>, buffers: &SortBuffers, digits: &Digits) -> u32 {
        let count = digits.count.get();
        let serial = self.small.is_none();
        let (block_count, _) = blocks_of(serial, count);
        if let (Some(pipeline), Some(group)) = (&self.small, &digits.small)
            && count <= SORT_SMALL
        {
            let mut pass = scope.scoped_compute_pass("sort");
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass::dispatch(&mut pass, u32::from(count > 0));
            return 1;
        }
        let (groups, rows) = match (serial, block_count) {
            (true, _) => (block_count.div_ceil(8), 256 / 8),
            (false, ..=SORT_SERIAL_BLOCKS) => (block_count, 1),
            (false, _) => (block_count, 256),
        };
        let digit = |pass: &mut wgpu::ComputePass<'_>, group| {
            pass.set_bind_group(0, group, &[]);
            for (pipeline, groups) in [
                (&self.histogram, groups),
                (&self.scan, rows),
                (&self.scatter, groups),
            ] {
                pass.set_pipeline(pipeline);
                pass::dispatch(pass, groups);
            }
        };
        if serial {
            // Publishing ends a pass.
            for (number, group) in digits.groups.iter().enumerate() {
                digit(&mut scope.scoped_compute_pass("sort"), group);
                let to = (digits.first_side + number + 1) % 2;
                if number + 1 < digits.groups.len() {
                    buffers.keys[to].publish(scope, count);
                }
                buffers.values[to].publish(scope, count);
            }
        } else {
            let mut pass = scope.scoped_compute_pass("sort");
            for group in &digits.groups {
                digit(&mut pass, group);
            }
        }
        DISPATCHES_PER_DIGIT * digits.groups.len() as u32
    }
}

impl Digits {
    /// Sorts the first `count` pairs from now on.
    pub fn set_count(&self, gpu: &Gpu, count: u32) {
        if self.count.replace(count) == count {
            return;
        }
        let (block_count, run) = blocks(gpu, count);
        for (params, buffer) in &self.params {
            let params = SortParams {
                count,
                block_count,
                run,
                ..*params
            };
            gpu.queue
                .write_buffer(buffer, 0, bytemuck::bytes_of(&params));
        }
    }

    /// The side on which the pairs lie at first.
    pub fn first_side(&self) -> usize {
        self.first_side
    }

    /// The side on which the sorted pairs lie.
    pub fn last_side(&self) -> usize {
        (self.first_side + self.groups.len()) % 2
    }
}

fn blocks(gpu: &Gpu, count: u32) -> (u32, u32) {
    blocks_of(gpu.arrays == Arrays::Textures, count)
}

/// Blocks that cover `count` pairs, and the pairs of one. Runs of threads are as long as leaves work for 256 of them, so that counting the digits
/// of each does not cost more than sorting its pairs.
fn blocks_of(serial: bool, count: u32) -> (u32, u32) {
    let size = if serial {
        count.div_ceil(256).clamp(256, 8192)
    } else {
        SORT_BLOCK * SORT_ROUNDS
    };
    (count.div_ceil(size), size)
}
