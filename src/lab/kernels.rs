//! `trace` of the laboratory: the kernels of one triangle test and one walk.

use super::{Triangle, layout::Built, triangle_test::TriangleTest, walk::Walk};
use crate::{
    Error, Result,
    accel::{
        Query, Ray,
        layout::{TRACE_BLOCK, Visits},
    },
    gpu::{
        Arrays, Bind, Gpu, Kernel, Library, Recorder, Workgroups,
        layout::{LabHit, LabQuery},
        pass::Binding::{Read, Uniform, Write},
        shader::{self, Composed, Replaced},
    },
};

/// Workgroups of persistent threads: what fills a large GPU, and no more rays than that wait for each other.
pub const PERSISTENT_WORKGROUPS: u32 = 512;

/// Who takes which ray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// A thread a ray.
    PerRay,
    /// Persistent threads take rays from a counter (Aila and Laine 2009).
    Persistent,
}

impl Threads {
    /// Both.
    pub const ALL: [Self; 2] = [Self::PerRay, Self::Persistent];

    /// Name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::PerRay => "per-ray",
            Self::Persistent => "persistent",
        }
    }
}

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
    rays: wgpu::Buffer,
    hits: wgpu::Buffer,
    visits: wgpu::Buffer,
    next: wgpu::Buffer,
    count: u32,
}

/// Whether a shader file is a part of the laboratory, which makes no shader alone.
pub fn is_part(path: &str) -> bool {
    path.starts_with("lab/") && !["lab/grid.wgsl", "lab/trace.wgsl"].contains(&path)
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
    shader::compose_with(
        library,
        "lab/trace.wgsl",
        &parts(test, walk),
        Arrays::Buffers,
    )
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
        let kernel = match threads {
            Threads::PerRay => &self.per_ray[query as usize],
            Threads::Persistent => &self.persistent[query as usize],
        };
        dispatch(gpu, recorder, kernel, scene, list, threads)
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
    pub fn count(
        &self,
        gpu: &Gpu,
        scene: &Uploaded,
        list: &RayList,
        query: Query,
    ) -> Result<Vec<Visits>> {
        let mut encoder = gpu.encoder("lab");
        let kernel = &self.count[query as usize];
        dispatch(gpu, &mut encoder, kernel, scene, list, Threads::PerRay)?;
        gpu.queue.submit([encoder.finish()]);
        read(gpu, &list.visits, list.count)
    }
}

fn dispatch(
    gpu: &Gpu,
    recorder: &mut impl Recorder,
    kernel: &Kernel,
    scene: &Uploaded,
    list: &RayList,
    threads: Threads,
) -> Result<()> {
    let query = LabQuery {
        ray_count: list.count,
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
    let workgroups = list.count.div_ceil(TRACE_BLOCK);
    let workgroups = match threads {
        Threads::PerRay => workgroups,
        Threads::Persistent => workgroups.min(PERSISTENT_WORKGROUPS),
    };
    let mut pass = recorder.scoped_compute_pass("lab");
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
        let what = format!("a list of {} rays", rays.len());
        gpu.check_binding(&what, size_of_val(rays) as u64)?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let room = |label, bytes: usize| gpu.buffer(label, (rays.len() * bytes) as u64, usage);
        gpu.catch(|| Self {
            rays: gpu.buffer_with("lab.rays", rays, wgpu::BufferUsages::STORAGE),
            hits: room("lab.hits", size_of::<LabHit>()),
            visits: room("lab.visits", size_of::<Visits>()),
            next: gpu.buffer("lab.next", 4, usage | wgpu::BufferUsages::COPY_DST),
            count: rays.len() as u32,
        })
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

fn read<T: bytemuck::Pod>(gpu: &Gpu, buffer: &wgpu::Buffer, count: u32) -> Result<Vec<T>> {
    let bytes = gpu.read(buffer)?;
    Ok(bytemuck::pod_collect_to_vec(
        &bytes[..count as usize * size_of::<T>()],
    ))
}
