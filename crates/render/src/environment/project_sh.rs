//! `project_sh`: projects the radiance of a cube onto spherical harmonics for diffuse surfaces (Ramamoorthi
//! and Hanrahan 2001, "An Efficient Representation for Irradiance Environment Maps").
//!
//! There are two dispatches. `project_sh` shares work between mirrored texels and reduces over registers,
//! subgroups (or workgroup memory) and workgroups. `sum_sh` adds the partial sums of the workgroups. No sum
//! depends on the order of atomics, so the result is deterministic.

use super::cube::Cube;
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Cooperation, Gpu, Kernel, Workgroups,
        library::wgsl_constants,
        pass::Binding::{self, FloatArray, LoadArray, Read, Write},
        profiler::Scope,
    },
};
use wgpu::TextureFormat as Format;

/// Number of coefficients of the result's five bands.
pub const COEFFICIENTS: u32 = 25;
wgsl_constants! {
    /// Maximum number of threads in a workgroup.
    const MAX_THREADS: u32 = 64;
}

/// Division of the work for a kind of adapter.
#[derive(Debug)]
struct Cut {
    /// Threads per workgroup.
    threads: u32,
    /// Maximum number of workgroups. This many saturate the adapter.
    workgroups: u32,
    /// Minimum number of texels per workgroup.
    least_texels: u32,
}

const GPU: Cut = Cut {
    threads: MAX_THREADS,
    workgroups: 1024,
    least_texels: 1,
};
/// One SIMD vector of Mesa's llvmpipe per workgroup, because barriers and idle threads are expensive.
const SOFTWARE: Cut = Cut {
    threads: 8,
    workgroups: 48,
    least_texels: 1 << 15,
};

/// Pipelines of the pass and its result.
#[derive(Debug)]
pub struct ProjectSh {
    /// Kernels that read the cube as a sampled texture.
    loaded: Orders,
    /// Kernels that read a cube of half floats as a storage texture, on software adapters.
    stored: Option<Orders>,
    sums: Orders,
    partials: wgpu::Buffer,
    cut: Cut,
    /// Buffer of `array<vec4f, 50>`, with 25 coefficients of radiance by ascending band and order of the
    /// orthonormal real basis, then 25 of irradiance. Coefficients past the order are zero. The usages are
    /// uniform, storage and copy source.
    pub result: wgpu::Buffer,
}

/// Kernels for three bands and for five.
type Orders = [Kernel; 2];

impl ProjectSh {
    /// Label of the first dispatch in frame timings.
    pub const LABEL: &str = "project_sh";

    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu) -> Self {
        let software = gpu.capabilities.cooperation() == Cooperation::None;
        let cut = if software { SOFTWARE } else { GPU };
        let loaded = match gpu.capabilities.cooperation() {
            Cooperation::Subgroups(4..) if gpu.capabilities.one_subgroup_size => {
                ("project_sh_subgroups", "environment/project_sh_subgroups.wgsl")
            }
            _ => ("project_sh", "environment/project_sh.wgsl"),
        };
        let stored = || {
            let path = "environment/project_sh_stored.wgsl";
            let cube = LoadArray(Format::Rgba16Float);
            orders(gpu, "project_sh_stored", path, &[cube, Write], &cut)
        };
        let storage = wgpu::BufferUsages::STORAGE;
        let sum_path = "environment/sum_sh.wgsl";
        Self {
            loaded: orders(gpu, loaded.0, loaded.1, &[FloatArray, Write], &cut),
            stored: software.then(stored),
            sums: orders(gpu, "sum_sh", sum_path, &[Read, Write], &cut),
            partials: gpu.buffer(
                "project_sh.partials",
                u64::from(cut.workgroups * COEFFICIENTS) * 16,
                storage,
            ),
            cut,
            result: gpu.buffer(
                "project_sh.result",
                u64::from(2 * COEFFICIENTS) * 16,
                storage | wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_SRC,
            ),
        }
    }

    /// Returns the kernels that read a cube of this format.
    fn kernels(&self, format: Format) -> &Orders {
        let stored = self.stored.as_ref();
        let stored = stored.filter(|_| format == Format::Rgba16Float);
        stored.unwrap_or(&self.loaded)
    }

    /// Projects the finest level of `cube` into [`ProjectSh::result`], onto 5 bands if `order` is greater
    /// than 3, otherwise onto 3.
    pub fn record(&self, gpu: &Gpu, scope: &mut Scope<'_>, cube: &Cube, order: u32) -> Result<()> {
        let bands = usize::from(order > 3);
        let project = &self.kernels(cube.texture.format())[bands];
        let texels = 6 * u64::from(cube.face).pow(2) / u64::from(self.cut.least_texels);
        let workgroups = texels.min(u64::from(self.cut.workgroups)) as u32;
        let half = cube.face.div_ceil(2);
        let parts = (workgroups / 3).clamp(1, half);
        // Rounds up so that all parts have the same number of rows.
        let parts = half.div_ceil(half.div_ceil(parts));
        let coefficients = [9, COEFFICIENTS][bands];
        let partials = wgpu::BufferBinding {
            buffer: &self.partials,
            offset: 0,
            size: wgpu::BufferSize::new(u64::from(3 * parts * coefficients) * 16),
        };
        let level = cube.level(0);
        {
            let mut pass = scope.scoped_compute_pass(Self::LABEL);
            let own: &[&dyn Bind] = &[&level, &partials];
            let parts = Workgroups::Grid([parts, 3, 1]);
            project.dispatch(gpu, &mut pass, &[], own, parts)?;
        }
        let mut pass = scope.scoped_compute_pass("sum_sh");
        let own: &[&dyn Bind] = &[&partials, &self.result];
        let coefficients = Workgroups::Count(COEFFICIENTS);
        self.sums[bands].dispatch(gpu, &mut pass, &[], own, coefficients)
    }
}

fn orders(gpu: &Gpu, name: &'static str, path: &'static str, bindings: &[Binding], cut: &Cut) -> Orders {
    [3.0, 5.0].map(|order| {
        let constants = [("ORDER", order), ("THREADS", f64::from(cut.threads))];
        Kernel::with_constants(gpu, path, name, &[], bindings, &constants)
    })
}
