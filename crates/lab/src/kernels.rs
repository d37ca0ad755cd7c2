//! `trace` of the laboratory: the kernels of one triangle test and one walk.

use super::{Triangle, layout::Built, triangle_test::TriangleTest, walk::Walk};
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

/// Workgroups of persistent threads: what fills a large GPU, and no more rays than that wait for each other.
pub const PERSISTENT_WORKGROUPS: u32 = 512;

/// Name of the passes that trace rays.
pub const LABEL: &str = "lab";

/// Entry points, for both queries.
#[derive(Debug)]
pub struct Kernels {
    per_ray: [Kernel; 2],
    persistent: [Kernel; 2],
    count: [Kernel; 2],
}

/// A structure with its triangles in GPU memory.
#[derive(Debug)]
pub struct Uploaded {
    query: LabQuery,
    nodes: wgpu::Buffer,
    links: wgpu::Buffer,
    triangles: wgpu::Buffer,
}

/// Rays in GPU memory, with room for what they find.
#[derive(Debug)]
pub struct RayList {
    /// [`Ray`]s.
    pub rays: wgpu::Buffer,
    /// A [`LabHit`] a ray.
    pub hits: wgpu::Buffer,
    /// [`Visits`] a ray.
    pub visits: wgpu::Buffer,
    next: wgpu::Buffer,
    count: u32,
}

/// Whether a shader file is a part of the laboratory, which makes no shader alone.
pub fn is_part(path: &str) -> bool {
    let whole = ["lab/grid.wgsl", "lab/trace.wgsl", "lab/volume_orders.wgsl"];
    path.starts_with("lab/") && !whole.contains(&path)
}

/// The shader that joins a test and a walk.
fn parts(test: TriangleTest, walk: Walk) -> Replaced {
    let (test, walk) = (test.shader(), walk.shader());
    Replaced {
        path: "lab/parts.wgsl",
        text: format!("#import \"{test}\"\n#import \"{walk}\"\n").into(),
        name: format!("{test} and {walk}").into(),
    }
}

/// The WGSL of a test and a walk, from the program's `library`.
///
/// # Errors
///
/// A broken import line, with the file and line.
pub fn composed(library: &Library, test: TriangleTest, walk: Walk) -> Result<Composed> {
    shader::compose_with(library, "lab/trace.wgsl", &parts(test, walk), Arrays::Buffers)
}

impl Kernels {
    /// The kernels, compiled when they are first needed.
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

    /// Records all rays of `list`. The counter of persistent threads has to be 0: [`RayList::begin`].
    ///
    /// # Errors
    ///
    /// Those of compiling the kernel, where it was not compiled before.
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

    /// Records these rays of `list`. The counter of persistent threads has to be 0.
    ///
    /// # Errors
    ///
    /// As [`Kernels::record`].
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

    /// Records the count of what these rays of `list` go through, which leaves their hits as they are.
    ///
    /// # Errors
    ///
    /// As [`Kernels::record`].
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

    /// Traces all rays of `list` and waits for their hits.
    ///
    /// # Errors
    ///
    /// Those of [`Kernels::record`]; [`Error::Gpu`] where the device is lost.
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

    /// Traces all rays of `list` and waits for what each went through.
    ///
    /// # Errors
    ///
    /// As [`Kernels::run`].
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
    /// Uploads a structure over `triangles`, as `test` wants them.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the device does not hold it, or where the walk has no room for its levels;
    /// [`Error::Argument`] without a triangle.
    pub fn new(
        gpu: &Gpu,
        built: &Built,
        triangles: &[Triangle],
        test: TriangleTest,
        walk: Walk,
    ) -> Result<Self> {
        if triangles.is_empty() {
            return Err(Error::Argument("the laboratory needs a triangle".into()));
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
    /// [`Error::Limit`] where the device does not hold them.
    pub fn new(gpu: &Gpu, rays: &[Ray]) -> Result<Self> {
        check(gpu, rays.len())?;
        let usage = wgpu::BufferUsages::STORAGE;
        gpu.catch(|| Self::of(gpu, gpu.buffer_with("lab.rays", rays, usage), rays.len()))
    }

    /// Room for `count` rays that a kernel makes.
    ///
    /// # Errors
    ///
    /// As [`RayList::new`].
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

    /// The number of rays.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Sets the counter of persistent threads to 0.
    pub fn begin(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.next, 0, None);
    }

    /// The hits of the last kernel, waiting for them.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] where the device is lost.
    pub fn hits(&self, gpu: &Gpu) -> Result<Vec<LabHit>> {
        read(gpu, &self.hits, self.count)
    }
}

/// Fails for a list of rays that the device does not hold.
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
