//! `brdf_table`: tabulates the reflectance of rough surfaces under uniform white light, for
//! environment/brdf_table_lookup.wgsl.

use crate::layout::BRDF_TABLE_PAIRS;
use canopy_bvh::{
    Result,
    gpu::{Gpu, Kernel, Workgroups, pass::Binding::Write, profiler::Scope},
};
use wgpu::BufferUsages as Buffer;

/// Pipeline of the pass and its table.
#[derive(Debug)]
pub struct BrdfTable {
    kernel: Kernel,
    /// Table with two entries in each `vec4f`, for binding as the uniform `brdf_table`.
    pub buffer: wgpu::Buffer,
}

impl BrdfTable {
    /// Creates an empty table without compiling the pipeline.
    pub fn new(gpu: &Gpu) -> Self {
        let path = "environment/brdf_table.wgsl";
        let usage = Buffer::STORAGE | Buffer::UNIFORM | Buffer::COPY_SRC;
        let buffer = gpu.buffer("brdf_table", 16 * u64::from(BRDF_TABLE_PAIRS), usage);
        Self {
            kernel: Kernel::new(gpu, path, "brdf_table_pass", &[], &[Write]),
            buffer,
        }
    }

    /// Fills the table. It has no inputs, so a single run is enough.
    pub fn record(&self, gpu: &Gpu, scope: &mut Scope<'_>) -> Result<()> {
        let mut pass = scope.scoped_compute_pass("brdf_table");
        let pairs = Workgroups::Count(BRDF_TABLE_PAIRS.div_ceil(32));
        self.kernel.dispatch(gpu, &mut pass, &[], &[&self.buffer], pairs)
    }
}
