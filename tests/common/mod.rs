//! Shared parts of several tests: a device, triangles to build BVHs over, and the trees themselves.

pub(crate) mod appearance;
pub(crate) mod draco;
pub(crate) mod environments;
pub(crate) mod folder;
pub(crate) mod fuzz;
pub(crate) mod gltf_builder;
pub(crate) mod golden;
pub(crate) mod hostile;
pub(crate) mod hostile_volumes;
pub(crate) mod images;
pub(crate) mod meshopt;
pub(crate) mod mutate;
pub(crate) mod scenes;
pub(crate) mod stocked;
pub(crate) mod volumes;

use canopy::{
    accel::{Codes, Geometry, Lbvh, MeshRange, Ray, Tree, Work, tree::TreeData},
    config::Config,
    device::SHADERS,
    gpu::{Arrays, Gpu, Tier, profiler::Profiler},
};
use glam::Vec3;
use std::{
    ops::{Deref, DerefMut},
    sync::{Mutex, PoisonError},
};

/// `quick` in the default lane, `all` in the lane of `scripts/test --all`.
pub(crate) fn by_lane<T>(quick: T, all: T) -> T {
    match std::env::var_os("CANOPY_TEST_ALL") {
        Some(_) => all,
        None => quick,
    }
}

/// The adapter that the environment names, or the best one. On a machine without a GPU, it is Mesa's software
/// adapter. Features chosen automatically if rays are fast, such as occlusion and temporal anti-aliasing, are
/// off unless a test enables them. Pictures are therefore the same on all adapters, and do not depend on
/// earlier ones. `CANOPY_TEST_ARRAYS=buffers` makes all tests use the kernels of GPUs. scripts/test does this
/// once with the frames.
pub(crate) fn gpu() -> Shared {
    Shared::of("", own_gpu)
}

/// A device that no other test has used, for tests of compilation, or tests that break the device.
pub(crate) fn own_gpu() -> Gpu {
    let mut options = Config::default().gpu;
    if std::env::var("CANOPY_TEST_ARRAYS").is_ok_and(|arrays| arrays == "buffers") {
        options.arrays = canopy::config::ArrayMode::Buffers;
    }
    let gpu = Gpu::new(canopy::device::options(&options));
    let mut gpu = gpu.unwrap_or_else(|e| panic!("the tests need a graphics adapter: {e}"));
    gpu.capabilities.fast_rays = false;
    gpu
}

/// Distance in pixels by which corners of triangles may be drawn away from their positions. Vulkan promises
/// four bits of subpixel precision along each axis. If the G-buffer stores depths, points may be this far off
/// their triangles. Software adapters that store positions have the positions on the triangles.
pub(crate) fn subpixel(gpu: &Gpu) -> f32 {
    match gpu.capabilities.arrays {
        Arrays::Buffers => f32::sqrt(2.0) / 16.0,
        Arrays::Textures => 0.0,
    }
}

/// True if corners of triangles are rounded to a sixteenth of a pixel, the coarsest precision that Vulkan
/// allows. SwiftShader does this, while other drivers round them to a 256th.
pub(crate) fn rounds_corners_coarsely(gpu: &Gpu) -> bool {
    is_swiftshader(gpu)
}

/// True on SwiftShader, Google's software driver.
pub(crate) fn is_swiftshader(gpu: &Gpu) -> bool {
    gpu.info.driver.starts_with("SwiftShader")
}

/// Height, in metres, up to which a point of the G-buffer counts as one of the plane below it. Pixels of the tests
/// that ask are a few centimetres wide.
pub(crate) fn plane_height(gpu: &Gpu) -> f32 {
    if rounds_corners_coarsely(gpu) { 0.02 } else { 1e-4 }
}

/// Like [`gpu`], with exactly the limits and features that WebGPU guarantees.
pub(crate) fn portable_gpu() -> Shared {
    Shared::of("portable", || {
        let adapter = own_gpu().adapter.unwrap();
        let gpu = Gpu::open(&adapter, Tier::Portable, &SHADERS);
        let mut gpu = gpu.unwrap_or_else(|e| panic!("{e}"));
        gpu.capabilities.fast_rays = false;
        gpu
    })
}

/// A device that tests use in turn, with everything that it has compiled. If a test has changed or broken the
/// device, or has failed, it is dropped after that test.
#[derive(Debug)]
pub(crate) struct Shared {
    kind: &'static str,
    /// `None` only while it is dropped.
    gpu: Option<Gpu>,
    is_changed: bool,
}

/// Devices that no test uses now, by their kind.
static IDLE: Mutex<Vec<(&'static str, Gpu)>> = Mutex::new(Vec::new());

impl Shared {
    fn of(kind: &'static str, open: impl FnOnce() -> Gpu) -> Self {
        let taken = {
            let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            let found = idle.iter().rposition(|(other, _)| *other == kind);
            found.map(|index| idle.swap_remove(index).1)
        };
        Self {
            kind,
            gpu: Some(taken.unwrap_or_else(open)),
            is_changed: false,
        }
    }
}

impl Deref for Shared {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        self.gpu.as_ref().unwrap()
    }
}

impl DerefMut for Shared {
    fn deref_mut(&mut self) -> &mut Gpu {
        self.is_changed = true;
        self.gpu.as_mut().unwrap()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let gpu = self.gpu.take().unwrap();
        let is_whole = !self.is_changed && !std::thread::panicking() && gpu.wait().is_ok();
        if is_whole {
            let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push((self.kind, gpu));
        }
    }
}

/// A device with kernels of its own, after a `change` to it.
pub(crate) fn implementation(
    kind: &'static str,
    arrays: Arrays,
    subgroups: bool,
    change: fn(&mut Gpu),
) -> (&'static str, Shared) {
    let open = || {
        let mut gpu = own_gpu();
        let capabilities = &mut gpu.capabilities;
        capabilities.arrays = arrays;
        capabilities.subgroup_size = capabilities.subgroup_size.filter(|_| subgroups);
        change(&mut gpu);
        gpu
    };
    (kind, Shared::of(kind, open))
}

/// A device for each implementation of builds and rays. One has arrays in textures and a thread per run, like
/// software adapters. Others have arrays in buffers: with subgroups, without them, and without wgpu's checks.
/// The last has exactly the guarantees of WebGPU.
pub(crate) fn every_implementation() -> Vec<(&'static str, Shared)> {
    let mut all = vec![
        implementation("textures", Arrays::Textures, false, |_| {}),
        implementation("buffers", Arrays::Buffers, false, |_| {}),
        ("portable", portable_gpu()),
        implementation("unchecked", Arrays::Buffers, false, |gpu| {
            // SAFETY: the tests' indices are within the vertices.
            unsafe { gpu.disable_bounds_checks() };
        }),
    ];
    let subgroups = implementation("subgroups", Arrays::Buffers, true, |_| {});
    if subgroups.1.capabilities.subgroup_size.is_some() {
        all.push(subgroups);
        // Like a device whose subgroups cannot be used, which kernels detect by themselves.
        let unusable = |gpu: &mut Gpu| gpu.capabilities.sort_subgroup_size = 256;
        let kind = "unusable subgroups";
        all.push(implementation(kind, Arrays::Buffers, true, unusable));
    }
    all
}

/// Devices for most tests of builds and rays. The long lane has [`every_implementation`]. The quick lane has
/// two: arrays in textures, and arrays in buffers with subgroups if available. Compiling the kernels of all
/// implementations takes minutes.
pub(crate) fn implementations() -> Vec<(&'static str, Shared)> {
    if by_lane(false, true) {
        return every_implementation();
    }
    let textures = implementation("textures", Arrays::Textures, false, |_| {});
    let subgroups = implementation("subgroups", Arrays::Buffers, true, |_| {});
    let buffers = match subgroups.1.capabilities.subgroup_size {
        Some(_) => subgroups,
        None => implementation("buffers", Arrays::Buffers, false, |_| {}),
    };
    vec![textures, buffers]
}

/// A device for each way in which queries read their arrays: textures, and buffers without wgpu's checks.
/// Otherwise, implementations differ only in the build of the trees. The quick lane uses its two
/// implementations, whose trees already exist. Tests of many kernels, which take longer to compile than to
/// run, use only the first one.
pub(crate) fn ways() -> Vec<(&'static str, Shared)> {
    let mut ways = implementations();
    if by_lane(false, true) {
        ways.retain(|(name, _)| ["textures", "unchecked"].contains(name));
    }
    ways
}

/// A random number generator with the same sequence on every machine (PCG, O'Neill 2014).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let word = ((self.0 >> 18 ^ self.0) >> 27) as u32;
        word.rotate_right((self.0 >> 59) as u32)
    }

    /// Uniform in 0..1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.bits() >> 8) as f32 / (1 << 24) as f32
    }

    /// Uniform in the cube of ±1.
    pub(crate) fn cube(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }
}

/// Rays from around the unit cube into it.
pub(crate) fn rays(count: usize, seed: u64) -> Vec<Ray> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| {
            let origin = random.cube() * 1.5;
            let direction = (random.cube() * 0.7 - origin).normalize();
            Ray {
                origin: origin.to_array(),
                t_min: 0.0,
                direction: direction.to_array(),
                t_max: 10.0,
            }
        })
        .collect()
}

/// Merged triangles on the CPU.
#[derive(Clone, Default)]
pub(crate) struct Soup {
    pub positions: Vec<Vec3>,
    pub indices: Vec<[u32; 3]>,
    pub info: Vec<[u32; 2]>,
    pub meshes: Vec<MeshRange>,
}

impl Soup {
    /// Adds a mesh.
    pub(crate) fn mesh(mut self, triangles: impl IntoIterator<Item = [Vec3; 3]>) -> Self {
        let (first_triangle, first_vertex) = (self.indices.len() as u32, self.positions.len() as u32);
        for triangle in triangles {
            let base = self.positions.len() as u32;
            self.positions.extend(triangle);
            self.info
                .push([self.meshes.len() as u32, self.indices.len() as u32]);
            self.indices.push([base, base + 1, base + 2]);
        }
        let triangle_count = self.indices.len() as u32 - first_triangle;
        self.meshes.push(MeshRange {
            first_triangle,
            triangle_count,
            first_vertex,
        });
        self
    }

    /// Small triangles spread evenly in a cube of ±1.
    pub(crate) fn random(triangles: usize, seed: u64) -> Self {
        Self::default().mesh(random_triangles(triangles, seed))
    }

    pub(crate) fn triangles(&self) -> Vec<[Vec3; 3]> {
        canopy::reference::lbvh::triangles(&self.positions, &self.indices)
    }

    /// The trees, built once.
    pub(crate) fn build(&self, gpu: &Gpu, lbvh: &Lbvh) -> Tree {
        self.build_with(gpu, lbvh, Codes::Bits30)
    }

    pub(crate) fn build_with(&self, gpu: &Gpu, lbvh: &Lbvh, codes: Codes) -> Tree {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let floats: Vec<[f32; 3]> = self.positions.iter().map(|p| p.to_array()).collect();
        let positions = gpu.buffer_with("positions", &floats, usage);
        let indices = gpu.buffer_with("indices", &self.indices, usage);
        let triangle_info = gpu.buffer_with("info", &self.info, usage);
        let geometry = Geometry {
            positions: &positions,
            indices: &indices,
            meshes: &self.meshes,
            triangle_info: Some(&triangle_info),
        };
        let mut tree = lbvh.tree(gpu, &geometry, codes).unwrap();
        record(gpu, lbvh, &mut tree, Work::Rebuild);
        tree
    }

    /// The trees of one build, read back.
    pub(crate) fn tree(&self, gpu: &Gpu, lbvh: &Lbvh) -> TreeData {
        self.build(gpu, lbvh).read(gpu).unwrap()
    }
}

/// Builds once more.
pub(crate) fn record(gpu: &Gpu, lbvh: &Lbvh, tree: &mut Tree, work: Work) {
    let mut profiler = Profiler::new(gpu).unwrap();
    let mut encoder = gpu.encoder("test");
    let recorded = lbvh.record(gpu, &mut profiler.scope("test", &mut encoder), tree, work);
    recorded.unwrap();
    profiler.submit(gpu, encoder);
    gpu.wait().unwrap();
}

pub(crate) fn random_triangles(count: usize, seed: u64) -> Vec<[Vec3; 3]> {
    let mut random = Random(seed);
    let size = 2.0 / (count.max(1) as f32).cbrt();
    (0..count)
        .map(|_| {
            let at = random.cube();
            [at, at + size * random.cube(), at + size * random.cube()]
        })
        .collect()
}
