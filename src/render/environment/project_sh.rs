//! `project_sh`: the radiance of a cube to spherical harmonics, for diffuse surfaces (Ramamoorthi and Hanrahan 2001, "An Efficient Representation for
//! Irradiance Environment Maps").
//!
//! Two dispatches: `project_sh` adds up what mirrored texels share, by registers, subgroups (or workgroup memory) and workgroups; `sum_sh` adds
//! up the workgroups. Nothing is left to the order of atomics: the result is the same from run to run.

use super::Cube;
use crate::{
    Result,
    gpu::{
        Arrays, Gpu,
        pass::{
            self,
            Binding::{FloatArray, LoadArray, Read, Write},
        },
        profiler::Scope,
        shader,
    },
};
use wgpu::TextureFormat as Format;

/// Coefficients of the five bands that the result has room for.
pub const COEFFICIENTS: u32 = 25;
/// Columns of mirrored texels that a workgroup takes.
const COLUMNS: u32 = 64;
/// Workgroups that fill a large GPU.
const WORKGROUPS: u32 = 1024;
/// Workgroups that fill a processor.
const WORKGROUPS_SOFTWARE: u32 = 32;

/// The pass.
#[derive(Debug)]
pub struct ProjectSh {
    loaded: Road,
    /// Half floats on software adapters.
    stored: Option<Road>,
    sum_layout: wgpu::BindGroupLayout,
    sums: Orders,
    partials: wgpu::Buffer,
    workgroups: u32,
    /// `array<vec4f, 50>`: 25 coefficients of radiance, by ascending band and order of the orthonormal real basis, then 25 of irradiance, zero past
    /// the order (uniform, storage and copied from).
    pub result: wgpu::Buffer,
}

#[derive(Debug)]
struct Road {
    layout: wgpu::BindGroupLayout,
    pipelines: Orders,
}

/// Of three bands and of five.
type Orders = [wgpu::ComputePipeline; 2];

impl ProjectSh {
    /// Compiles it for the device's road.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Gpu`] where a shader does not compile.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let road = |name: &str, cube| -> Result<Road> {
            let layout = pass::compute_layout(gpu, name, &[cube, Write]);
            Ok(Road {
                pipelines: orders(gpu, name, &layout)?,
                layout,
            })
        };
        let software = gpu.arrays == Arrays::Textures;
        let loaded = match gpu.subgroup_size {
            Some(4..) if !software => "project_sh_subgroups",
            _ => "project_sh",
        };
        let stored = || road("project_sh_stored", LoadArray(Format::Rgba16Float));
        let sum_layout = pass::compute_layout(gpu, "sum_sh", &[Read, Write]);
        let storage = wgpu::BufferUsages::STORAGE;
        let workgroups = if software {
            WORKGROUPS_SOFTWARE
        } else {
            WORKGROUPS
        };
        // A face of any size takes three axes of columns.
        let widest = gpu.limits.max_texture_dimension_2d.div_ceil(2 * COLUMNS);
        let most = workgroups.max(3 * widest);
        Ok(Self {
            loaded: road(loaded, FloatArray)?,
            stored: software.then(stored).transpose()?,
            sums: orders(gpu, "sum_sh", &sum_layout)?,
            sum_layout,
            partials: gpu.buffer(
                "project_sh.partials",
                u64::from(most * COEFFICIENTS) * 16,
                storage,
            ),
            workgroups,
            result: gpu.buffer(
                "project_sh.result",
                u64::from(2 * COEFFICIENTS) * 16,
                storage | wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_SRC,
            ),
        })
    }

    /// Projects the finest level of `cube` onto 3 bands, or onto 5 where `order` is more, into [`ProjectSh::result`].
    pub fn record(&self, gpu: &Gpu, scope: &mut Scope<'_>, cube: &Cube, order: u32) {
        let bands = usize::from(order > 3);
        let stored = self
            .stored
            .as_ref()
            .filter(|_| cube.texture.format() == Format::Rgba16Float);
        let road = stored.unwrap_or(&self.loaded);
        let half = cube.face.div_ceil(2);
        let columns = half.div_ceil(COLUMNS);
        let parts = (self.workgroups / (3 * columns)).clamp(1, half);
        // As many parts of as many rows as there are.
        let parts = half.div_ceil(half.div_ceil(parts));
        let coefficients = [9, COEFFICIENTS][bands];
        let partials = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.partials,
            offset: 0,
            size: wgpu::BufferSize::new(u64::from(3 * columns * parts * coefficients) * 16),
        });
        let level = cube.level(0);
        let resources = [wgpu::BindingResource::TextureView(&level), partials.clone()];
        let project = pass::bind_group(gpu, "project_sh", &road.layout, &resources);
        let resources = [partials, self.result.as_entire_binding()];
        let sum = pass::bind_group(gpu, "sum_sh", &self.sum_layout, &resources);
        {
            let mut pass = scope.scoped_compute_pass("project_sh");
            pass.set_pipeline(&road.pipelines[bands]);
            pass.set_bind_group(0, &project, &[]);
            pass.dispatch_workgroups(columns, parts, 3);
        }
        let mut pass = scope.scoped_compute_pass("sum_sh");
        pass.set_pipeline(&self.sums[bands]);
        pass.set_bind_group(0, &sum, &[]);
        pass.dispatch_workgroups(COEFFICIENTS, 1, 1);
    }
}

fn orders(gpu: &Gpu, name: &str, layout: &wgpu::BindGroupLayout) -> Result<Orders> {
    let module = shader::module(gpu, &format!("render/environment/{name}.wgsl"))?;
    let pipeline = |order: f64| {
        let constants = [("ORDER", order)];
        pass::compute_pipeline_of(gpu, &module, name, Some(&[layout]), &constants)
    };
    Ok([pipeline(3.0)?, pipeline(5.0)?])
}
