//! `overlap`: the triangles that each box of a list touches, counted first and then collected, or in one go.
//! Kernels of your own import `common/bvh_overlap.wgsl`.

pub use super::layout::{BoxQuery, Touched};
use super::{
    layout::TRACE_BLOCK,
    query_order::{OrderBuffers, QueryOrder, SORTED_FROM},
    scan::Scan,
    tree::Tree,
};
use crate::{
    Error, Result,
    gpu::{
        Array, Bind, Gpu, Kernel, Needs, Recorder, Workgroups,
        pass::Binding::{Read, ReadArray, Uniform, Write},
    },
};
use wgpu::BufferUsages as Usage;

/// Boxes in GPU memory.
#[derive(Debug)]
pub struct BoxBatch {
    /// [`BoxQuery`]s.
    pub boxes: wgpu::Buffer,
    count: u32,
    order: Option<OrderBuffers>,
    /// What is bound where there is no order.
    no_order: Array,
}

impl BoxBatch {
    /// Uploads boxes.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the device's limits do not hold them.
    pub fn new(gpu: &Gpu, boxes: &[BoxQuery]) -> Result<Self> {
        let what = format!("a list of {} boxes", boxes.len());
        gpu.check_binding(&what, size_of_val(boxes) as u64)?;
        let no_order = Array::new(gpu, "overlap.no_order", 1, 1)?;
        gpu.catch(|| Self {
            boxes: gpu.buffer_with("overlap.boxes", boxes, Usage::STORAGE),
            // A binding holds less than 2^32 bytes.
            count: boxes.len() as u32,
            order: None,
            no_order,
        })
    }
}

/// The kernels of one order of the boxes.
#[derive(Debug)]
struct Kernels {
    count: Kernel,
    collect: Kernel,
    append: Kernel,
}

/// The query.
#[derive(Debug)]
pub struct BoxOverlaps {
    given: Kernels,
    sorted: Kernels,
    order: QueryOrder,
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
        let kernels = |sorted: bool| {
            let kernel = |entry, rest: &[_]| {
                let bindings = [&[Uniform, Read, ReadArray, Write], rest].concat();
                let (path, shared) = ("accel/overlap.wgsl", [(1, &tree)]);
                let constants = [("OVERLAP_SORTED", f64::from(u8::from(sorted)))];
                Kernel::with_constants(gpu, path, entry, &shared, &bindings, &constants)
            };
            Kernels {
                count: kernel("overlap_count", &[]),
                collect: kernel("overlap_collect", &[Write]),
                append: kernel("overlap_append", &[Write]),
            }
        };
        Self {
            given: kernels(false),
            sorted: kernels(true),
            order: QueryOrder::new(gpu),
            scan: Scan::new(gpu),
            tree,
        }
    }

    /// Adds the kernels to what has to be compiled.
    pub fn needs(&self, needs: &mut Needs) {
        for kernels in [&self.given, &self.sorted] {
            for kernel in [&kernels.count, &kernels.collect, &kernels.append] {
                kernel.needs(needs);
            }
        }
        self.order.needs(needs);
        self.scan.needs(needs);
    }

    /// As [`BoxBatch::new`], for queries that begin with a sort by Morton codes. It pays from some thousand boxes
    /// on that are in no order; what is found is the same.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn sorted_batch(&self, gpu: &Gpu, boxes: &[BoxQuery]) -> Result<BoxBatch> {
        let mut batch = BoxBatch::new(gpu, boxes)?;
        batch.order = Some(self.order.buffers(gpu, batch.count)?);
        Ok(batch)
    }

    /// Records how many triangles each of `batch` touches, and where those of each begin
    /// if they are collected, into `offsets`, which has room for one more: a `u32` each, and their sum, which
    /// is `u32::MAX` if it is not less.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernels, where they were not compiled before.
    pub fn record_count(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        batch: &BoxBatch,
        offsets: &wgpu::Buffer,
        leaf_cutoff: u32,
    ) -> Result<()> {
        self.sort(gpu, recorder, tree, batch)?;
        let query = [leaf_cutoff, 0];
        let kernel = &self.kernels(batch).count;
        self.dispatch(gpu, recorder, (kernel, query), tree, batch, &[offsets])?;
        self.scan.record(gpu, recorder, offsets, batch.count)
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
        batch: &BoxBatch,
        offsets: &wgpu::Buffer,
        names: &wgpu::Buffer,
        leaf_cutoff: u32,
    ) -> Result<()> {
        let query = [leaf_cutoff, 0];
        let kernel = &self.kernels(batch).collect;
        let own = [offsets, names];
        self.dispatch(gpu, recorder, (kernel, query), tree, batch, &own)
    }

    /// Records box, mesh and triangle ([`Touched`]) of what the boxes of `batch` touch, in one go, in
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
        batch: &BoxBatch,
        total: &wgpu::Buffer,
        touched: &wgpu::Buffer,
        leaf_cutoff: u32,
    ) -> Result<()> {
        let room = touched.size() / size_of::<Touched>() as u64;
        let query = [leaf_cutoff, u32::try_from(room).unwrap_or(u32::MAX)];
        recorder.encoder().clear_buffer(total, 0, Some(4));
        self.sort(gpu, recorder, tree, batch)?;
        let kernel = &self.kernels(batch).append;
        let own = [total, touched];
        self.dispatch(gpu, recorder, (kernel, query), tree, batch, &own)
    }

    /// Finds what `boxes` touch, in buffers of just the size: counts, waits for the sum, and collects. Many boxes
    /// are sorted first ([`BoxOverlaps::sorted_batch`]).
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
        let batch = if boxes.len() < SORTED_FROM {
            BoxBatch::new(gpu, boxes)?
        } else {
            self.sorted_batch(gpu, boxes)?
        };
        let count = batch.count;
        let usage = Usage::STORAGE | Usage::COPY_SRC;
        let bytes = 4 * (u64::from(count) + 1);
        let offsets = gpu.catch(|| gpu.buffer("overlap.offsets", bytes, usage))?;
        let mut encoder = gpu.encoder("overlap");
        self.record_count(gpu, &mut encoder, tree, &batch, &offsets, leaf_cutoff)?;
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
            &batch,
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

    fn kernels(&self, batch: &BoxBatch) -> &Kernels {
        match batch.order {
            Some(_) => &self.sorted,
            None => &self.given,
        }
    }

    /// Sorts the boxes of a batch that wants it.
    fn sort(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        batch: &BoxBatch,
    ) -> Result<()> {
        match &batch.order {
            Some(order) => self
                .order
                .record(gpu, recorder, tree, &batch.boxes, 2, order),
            None => Ok(()),
        }
    }

    fn dispatch(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        (kernel, [leaf_cutoff, room]): (&Kernel, [u32; 2]),
        tree: &Tree,
        batch: &BoxBatch,
        buffers: &[&wgpu::Buffer],
    ) -> Result<()> {
        let query = [[batch.count, leaf_cutoff.max(1), room, 0]];
        let query = gpu.buffer_with("overlap.query", &query, Usage::UNIFORM);
        let tree = tree.bind_group(gpu, &self.tree);
        let order = batch
            .order
            .as_ref()
            .map_or(&batch.no_order, OrderBuffers::order);
        let mut own: Vec<&dyn Bind> = vec![&query, &batch.boxes, order];
        own.extend(buffers.iter().map(|buffer| *buffer as &dyn Bind));
        let mut pass = recorder.scoped_compute_pass("overlap");
        let workgroups = Workgroups::Count(batch.count.div_ceil(TRACE_BLOCK));
        kernel.dispatch(gpu, &mut pass, &[(1, &tree)], &own, workgroups)
    }
}
