//! `overlap`: the triangles that each box of a list touches, counted first and then collected, or in one go.
//! Kernels of your own import `common/bvh_overlap.wgsl`.

pub use super::layout::{BoxQuery, Touched};
use super::{layout::TRACE_BLOCK, scan::Scan, tree::Tree};
use crate::{
    Error, Result,
    gpu::{
        Bind, Gpu, Kernel, Needs, Recorder, Workgroups,
        pass::Binding::{Read, Uniform, Write},
    },
};
use wgpu::BufferUsages as Usage;

/// The query.
#[derive(Debug)]
pub struct BoxOverlaps {
    count: Kernel,
    collect: Kernel,
    append: Kernel,
    scan: Scan,
    tree: wgpu::BindGroupLayout,
}

/// What boxes touch, in GPU memory.
#[derive(Debug)]
pub struct Overlaps {
    /// Where the triangles of each box begin in `names`, and how many there are in all: a `u32` each.
    pub offsets: wgpu::Buffer,
    /// Mesh and triangle of each, two `u32`; the triangles of a box are in no order.
    pub names: wgpu::Buffer,
    count: u32,
    total: u32,
}

impl Overlaps {
    /// How many triangles all boxes touch.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Offsets and names, waiting for them.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] where the device is lost.
    pub fn read(&self, gpu: &Gpu) -> Result<(Vec<u32>, Vec<[u32; 2]>)> {
        let (offsets, names) = (gpu.read(&self.offsets)?, gpu.read(&self.names)?);
        let used = 4 * (self.count as usize + 1);
        let named = 8 * self.total as usize;
        Ok((
            bytemuck::pod_collect_to_vec(&offsets[..used]),
            bytemuck::pod_collect_to_vec(&names[..named]),
        ))
    }
}

impl BoxOverlaps {
    /// The query, compiled when it is first needed.
    pub fn new(gpu: &Gpu) -> Self {
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let kernel = |entry, rest: &[_]| {
            let bindings = [&[Uniform, Read, Write], rest].concat();
            let shared = [(1, &tree)];
            Kernel::new(gpu, "accel/overlap.wgsl", entry, &shared, &bindings)
        };
        Self {
            count: kernel("overlap_count", &[]),
            collect: kernel("overlap_collect", &[Write]),
            append: kernel("overlap_append", &[Write]),
            scan: Scan::new(gpu),
            tree,
        }
    }

    /// Adds the kernels to what has to be compiled.
    pub fn needs(&self, needs: &mut Needs) {
        for kernel in [&self.count, &self.collect, &self.append] {
            kernel.needs(needs);
        }
        self.scan.needs(needs);
    }

    /// Uploads boxes for the other calls.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the device's limits do not hold them.
    pub fn upload(&self, gpu: &Gpu, boxes: &[BoxQuery]) -> Result<wgpu::Buffer> {
        let what = format!("a list of {} boxes", boxes.len());
        gpu.check_binding(&what, size_of_val(boxes) as u64)?;
        gpu.catch(|| gpu.buffer_with("overlap.boxes", boxes, Usage::STORAGE))
    }

    /// Records how many triangles each of the first `count` of `boxes` touches, and where those of each begin
    /// if they are collected, into `offsets`, which has room for one more: a `u32` each, and their sum, which
    /// is `u32::MAX` if it is not less.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernels, where they were not compiled before.
    #[expect(
        clippy::too_many_arguments,
        reason = "where to record, what is asked, and where its result goes"
    )]
    pub fn record_count(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        boxes: &wgpu::Buffer,
        count: u32,
        offsets: &wgpu::Buffer,
        leaf_cutoff: u32,
    ) -> Result<()> {
        let query = [count, leaf_cutoff, 0];
        self.dispatch(gpu, recorder, (&self.count, query), tree, &[boxes, offsets])?;
        self.scan.record(gpu, recorder, offsets, count)
    }

    /// Records mesh and triangle of what boxes touch, into `names` from each box's offset on.
    /// [`BoxOverlaps::record_count`] comes first, and `names` has room for as many as it has counted.
    ///
    /// # Errors
    ///
    /// As there.
    #[expect(
        clippy::too_many_arguments,
        reason = "where to record, what is asked, and where its result goes"
    )]
    pub fn record_collect(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        boxes: &wgpu::Buffer,
        count: u32,
        offsets: &wgpu::Buffer,
        names: &wgpu::Buffer,
        leaf_cutoff: u32,
    ) -> Result<()> {
        let query = [count, leaf_cutoff, 0];
        let own = [boxes, offsets, names];
        self.dispatch(gpu, recorder, (&self.collect, query), tree, &own)
    }

    /// Records box, mesh and triangle ([`Touched`]) of what the first `count` of `boxes` touch, in one go, in
    /// any order and as far as `touched` has room. The first word of `total`, which has COPY_DST, becomes how
    /// many there are, whatever has found room; from 0xf000_0000 on there may be more.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernel, where it was not compiled before.
    #[expect(
        clippy::too_many_arguments,
        reason = "where to record, what is asked, and where its result goes"
    )]
    pub fn record_append(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        boxes: &wgpu::Buffer,
        count: u32,
        total: &wgpu::Buffer,
        touched: &wgpu::Buffer,
        leaf_cutoff: u32,
    ) -> Result<()> {
        let room = touched.size() / size_of::<Touched>() as u64;
        let query = [count, leaf_cutoff, u32::try_from(room).unwrap_or(u32::MAX)];
        recorder.encoder().clear_buffer(total, 0, Some(4));
        let own = [boxes, total, touched];
        self.dispatch(gpu, recorder, (&self.append, query), tree, &own)
    }

    /// Finds what `boxes` touch, in buffers of just the size: counts, waits for the sum, and collects.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the device's limits do not hold the boxes or what they touch; those of
    /// compiling.
    pub fn run(
        &self,
        gpu: &Gpu,
        tree: &Tree,
        boxes: &[BoxQuery],
        leaf_cutoff: u32,
    ) -> Result<Overlaps> {
        let count = boxes.len() as u32;
        let buffer = self.upload(gpu, boxes)?;
        let usage = Usage::STORAGE | Usage::COPY_SRC;
        let bytes = 4 * (u64::from(count) + 1);
        let offsets = gpu.catch(|| gpu.buffer("overlap.offsets", bytes, usage))?;
        let mut encoder = gpu.encoder("overlap");
        self.record_count(
            gpu,
            &mut encoder,
            tree,
            &buffer,
            count,
            &offsets,
            leaf_cutoff,
        )?;
        let last = gpu.buffer("overlap.total", 4, Usage::COPY_DST | Usage::COPY_SRC);
        encoder.copy_buffer_to_buffer(&offsets, bytes - 4, &last, 0, 4);
        gpu.queue.submit([encoder.finish()]);
        let total: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&last)?);
        let total = total.first().copied().unwrap_or(0);
        let what = || format!("the triangles that {count} boxes touch");
        if total == u32::MAX {
            return Err(Error::Limit {
                what: what(),
                needed: "2^32 or more".into(),
                allowed: "less".into(),
                by: "the numbers of their offsets".into(),
            });
        }
        let bytes = 8 * u64::from(total.max(1));
        gpu.check_binding(&what(), bytes)?;
        let names = gpu.catch(|| gpu.buffer("overlap.names", bytes, usage))?;
        let mut encoder = gpu.encoder("overlap");
        self.record_collect(
            gpu,
            &mut encoder,
            tree,
            &buffer,
            count,
            &offsets,
            &names,
            leaf_cutoff,
        )?;
        gpu.queue.submit([encoder.finish()]);
        Ok(Overlaps {
            offsets,
            names,
            count,
            total,
        })
    }

    fn dispatch(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        (kernel, [count, leaf_cutoff, room]): (&Kernel, [u32; 3]),
        tree: &Tree,
        buffers: &[&wgpu::Buffer],
    ) -> Result<()> {
        let query = [[count, leaf_cutoff.max(1), room, 0]];
        let query = gpu.buffer_with("overlap.query", &query, Usage::UNIFORM);
        let tree = tree.bind_group(gpu, &self.tree);
        let mut own: Vec<&dyn Bind> = vec![&query];
        own.extend(buffers.iter().map(|buffer| *buffer as &dyn Bind));
        let mut pass = recorder.scoped_compute_pass("overlap");
        let workgroups = Workgroups::Count(count.div_ceil(TRACE_BLOCK));
        kernel.dispatch(gpu, &mut pass, &[(1, &tree)], &own, workgroups)
    }
}
