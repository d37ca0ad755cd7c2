//! `trace` of the laboratory: kernels of one triangle test and one traversal.

use super::{Triangle, layout::StructureData, triangle_test::TriangleTest, walk::Walk};
use crate::data::{LabHit, LabQuery};
use canopy_bvh::{
    Error, Result,
    accel::{
        Query, Ray,
        layout::{TRACE_BLOCK, Visits},
    },
    gpu::{
        Arrays, Bind, Gpu, Kernel, Library, Recorder, Workgroups,
        pass::Binding::{Read, Uniform, Write},
        shader::{self, Composed, Replaced},
    },
};
use std::ops::Range;

pub use crate::settings::LabThreads as Threads;

/// Number of workgroups of persistent threads. They fill a large GPU. The number of their threads is the
/// maximum number of rays in flight.
pub const PERSISTENT_WORKGROUPS: u32 = 512;

/// Label of the passes that trace rays.
pub const LABEL: &str = "lab";

/// Kernels of one triangle test and one traversal, each for closest-hit and any-hit queries.
#[derive(Debug)]
pub struct Kernels {
    per_ray: [Kernel; 2],
    persistent: [Kernel; 2],
    count: [Kernel; 2],
}

/// Structure and triangles in GPU memory.
#[derive(Debug)]
pub struct Uploaded {
    query: LabQuery,
    nodes: wgpu::Buffer,
    links: wgpu::Buffer,
    triangles: wgpu::Buffer,
}

/// Rays in GPU memory, with buffers for their results.
#[derive(Debug)]
pub struct RayList {
    /// Buffer of [`Ray`]s.
    pub rays: wgpu::Buffer,
    /// Buffer of [`LabHit`]s, one per ray.
    pub hits: wgpu::Buffer,
    /// Buffer of [`Visits`], one per ray.
    pub visits: wgpu::Buffer,
    next: wgpu::Buffer,
    count: u32,
}

/// True if `path` is a file of the laboratory that may compile only as an import of another shader.
pub fn is_part(path: &str) -> bool {
    let whole = ["lab/grid.wgsl", "lab/trace.wgsl", "lab/volume_orders.wgsl"];
    path.starts_with("lab/") && !whole.contains(&path)
}

/// Creates the file `lab/parts.wgsl`, which imports the shaders of a test and a traversal.
fn parts(test: TriangleTest, walk: Walk) -> Replaced {
    let (test, walk) = (test.shader(), walk.shader());
    Replaced {
        path: "lab/parts.wgsl",
        text: format!("#import \"{test}\"\n#import \"{walk}\"\n").into(),
        name: format!("{test} and {walk}").into(),
    }
}

/// Composes the WGSL of a test and a traversal from the program's `library`.
///
/// # Errors
///
/// Any error of a broken import line, with the file and line.
pub fn composed(library: &Library, test: TriangleTest, walk: Walk) -> Result<Composed> {
    shader::compose_with(library, "lab/trace.wgsl", &parts(test, walk), Arrays::Buffers)
}

impl Kernels {
    /// Creates the kernels, which are compiled when they are first needed.
    pub fn new(gpu: &Gpu, test: TriangleTest, walk: Walk) -> Self {
        let kernels = |entries: [&'static str; 2]| {
            entries.map(|entry| {
                let bindings = [Uniform, Read, Read, Read, Read, Write, Write, Write];
                let parts = Some(parts(test, walk));
                Kernel::with_text(gpu, "lab/trace.wgsl", entry, &[], &bindings, &[], parts)
            })
        };
        Self {
            per_ray: kernels(["lab_closest", "lab_any"]),
            persistent: kernels(["lab_persistent_closest", "lab_persistent_any"]),
            count: kernels(["lab_count_closest", "lab_count_any"]),
        }
    }

    fn kernel(&self, query: Query, threads: Threads) -> &Kernel {
        match threads {
            Threads::PerRay => &self.per_ray[query as usize],
            Threads::Persistent => &self.persistent[query as usize],
        }
    }

    /// Records the tracing of all rays of `list`. Call [`RayList::begin`] first, which resets the counter of
    /// persistent threads.
    ///
    /// # Errors
    ///
    /// Any error of compiling the kernel if it is not compiled yet.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        scene: &Uploaded,
        list: &RayList,
        query: Query,
        threads: Threads,
    ) -> Result<()> {
        let all = 0..list.count;
        self.record_part(gpu, recorder, scene, list, (query, threads), all)
    }

    /// Records the tracing of a range of the rays of `list`. The counter of persistent threads must be 0.
    ///
    /// # Errors
    ///
    /// Any error of [`Kernels::record`].
    pub fn record_part(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        scene: &Uploaded,
        list: &RayList,
        (query, threads): (Query, Threads),
        rays: Range<u32>,
    ) -> Result<()> {
        let kernel = self.kernel(query, threads);
        dispatch(gpu, recorder, (LABEL, kernel), scene, list, (rays, threads))
    }

    /// Records the counting of the nodes and triangles that a range of the rays of `list` visits. Leaves the
    /// hits of `list` unchanged.
    ///
    /// # Errors
    ///
    /// Any error of [`Kernels::record`].
    pub fn record_count(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        scene: &Uploaded,
        list: &RayList,
        query: Query,
        rays: Range<u32>,
    ) -> Result<()> {
        let kernel = ("lab_count", &self.count[query as usize]);
        dispatch(gpu, recorder, kernel, scene, list, (rays, Threads::PerRay))
    }

    /// Traces all rays of `list` and blocks until their hits arrive.
    ///
    /// # Errors
    ///
    /// Any error of [`Kernels::record`], and [`Error::Gpu`] if the device is lost.
    pub fn run(
        &self,
        gpu: &Gpu,
        scene: &Uploaded,
        list: &RayList,
        query: Query,
        threads: Threads,
    ) -> Result<Vec<LabHit>> {
        let mut encoder = gpu.encoder("lab");
        list.begin(&mut encoder);
        self.record(gpu, &mut encoder, scene, list, query, threads)?;
        gpu.queue.submit([encoder.finish()]);
        list.hits(gpu)
    }

    /// Counts the visits of all rays of `list` and blocks until they arrive.
    ///
    /// # Errors
    ///
    /// Any error of [`Kernels::run`].
    pub fn count(&self, gpu: &Gpu, scene: &Uploaded, list: &RayList, query: Query) -> Result<Vec<Visits>> {
        let mut encoder = gpu.encoder("lab");
        self.record_count(gpu, &mut encoder, scene, list, query, 0..list.count)?;
        gpu.queue.submit([encoder.finish()]);
        read(gpu, &list.visits, list.count)
    }
}

fn dispatch(
    gpu: &Gpu,
    recorder: &mut impl Recorder,
    (label, kernel): (&'static str, &Kernel),
    scene: &Uploaded,
    list: &RayList,
    (rays, threads): (Range<u32>, Threads),
) -> Result<()> {
    let query = LabQuery {
        first_ray: rays.start,
        ray_count: rays.end,
        ..scene.query
    };
    let query = gpu.buffer_with("lab.query", &[query], wgpu::BufferUsages::UNIFORM);
    let own: [&dyn Bind; 8] = [
        &query,
        &list.rays,
        &scene.nodes,
        &scene.links,
        &scene.triangles,
        &list.hits,
        &list.visits,
        &list.next,
    ];
    let workgroups = (rays.end - rays.start).div_ceil(TRACE_BLOCK);
    let workgroups = match threads {
        Threads::PerRay => workgroups,
        Threads::Persistent => workgroups.min(PERSISTENT_WORKGROUPS),
    };
    let mut pass = recorder.scoped_compute_pass(label);
    kernel.dispatch(gpu, &mut pass, &[], &own, Workgroups::Count(workgroups))
}

impl Uploaded {
    /// Uploads a structure over `triangles` in the format of `test`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the structure exceeds a limit of the device or has too many levels for the
    /// traversal, and [`Error::Argument`] without a triangle.
    pub fn new(
        gpu: &Gpu,
        built: &StructureData,
        triangles: &[Triangle],
        test: TriangleTest,
        walk: Walk,
    ) -> Result<Self> {
        if triangles.is_empty() {
            return Err(Error::Argument(
                "the laboratory needs at least one triangle".into(),
            ));
        }
        if built.levels >= walk.most_levels() {
            return Err(Error::Limit {
                what: format!("the walk {}", walk.name()),
                needed: format!("{} levels", built.levels + 1),
                allowed: format!("{} levels", walk.most_levels()),
                by: "its stack".into(),
            });
        }
        let of = |triangle: &u32| test.rows(&triangles[*triangle as usize]);
        let rows: Vec<[[f32; 4]; 3]> = built.order.iter().map(of).collect();
        for (what, bytes) in [
            ("nodes", size_of_val(built.rows.as_slice())),
            ("links", size_of_val(built.links.as_slice())),
            ("triangles", size_of_val(rows.as_slice())),
        ] {
            gpu.check_binding(&format!("the laboratory's {what}"), bytes as u64)?;
        }
        let storage = wgpu::BufferUsages::STORAGE;
        gpu.catch(|| Self {
            query: LabQuery {
                lower: built.bounds.min.to_array(),
                upper: built.bounds.max.to_array(),
                root: built.root,
                cells: built.cells,
                ..LabQuery::default()
            },
            nodes: gpu.buffer_with("lab.nodes", &built.rows, storage),
            links: gpu.buffer_with("lab.links", &built.links, storage),
            triangles: gpu.buffer_with("lab.triangles", rows.as_flattened(), storage),
        })
    }
}

impl RayList {
    /// Uploads `rays`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the rays exceed a limit of the device.
    pub fn new(gpu: &Gpu, rays: &[Ray]) -> Result<Self> {
        check(gpu, rays.len())?;
        let usage = wgpu::BufferUsages::STORAGE;
        gpu.catch(|| Self::of(gpu, gpu.buffer_with("lab.rays", rays, usage), rays.len()))
    }

    /// Allocates a list for `count` rays that a kernel generates.
    ///
    /// # Errors
    ///
    /// Any error of [`RayList::new`].
    pub fn with_room(gpu: &Gpu, count: u32) -> Result<Self> {
        let count = count as usize;
        check(gpu, count)?;
        let bytes = (count * size_of::<Ray>()) as u64;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        gpu.catch(|| Self::of(gpu, gpu.buffer("lab.rays", bytes, usage), count))
    }

    fn of(gpu: &Gpu, rays: wgpu::Buffer, count: usize) -> Self {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let room = |label, bytes: usize| gpu.buffer(label, (count * bytes) as u64, usage);
        Self {
            rays,
            hits: room("lab.hits", size_of::<LabHit>()),
            visits: room("lab.visits", size_of::<Visits>()),
            next: gpu.buffer("lab.next", 4, usage | wgpu::BufferUsages::COPY_DST),
            count: count as u32,
        }
    }

    /// Returns the number of rays.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// True if there are no rays.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Resets the counter of persistent threads.
    pub fn begin(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.next, 0, None);
    }

    /// Reads back the hits of the last kernel and blocks until they arrive.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if the device is lost.
    pub fn hits(&self, gpu: &Gpu) -> Result<Vec<LabHit>> {
        read(gpu, &self.hits, self.count)
    }
}

/// Fails if a list of rays exceeds a limit of the device.
fn check(gpu: &Gpu, count: usize) -> Result<()> {
    let bytes = (count * size_of::<Ray>()) as u64;
    gpu.check_binding(&format!("a list of {count} rays"), bytes)
}

fn read<T: bytemuck::Pod>(gpu: &Gpu, buffer: &wgpu::Buffer, count: u32) -> Result<Vec<T>> {
    let bytes = gpu.read(buffer)?;
    Ok(bytemuck::pod_collect_to_vec(
        &bytes[..count as usize * size_of::<T>()],
    ))
}
