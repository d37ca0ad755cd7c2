//! `cube_mips`: downsamples a cube's mip levels, weighted by exact solid angles.

use super::{cube::Cube, cube_edges::CubeEdges};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, Kernel, Workgroups,
        pass::Binding::{FloatArray, StoreArray},
        profiler::Scope,
    },
};
use wgpu::TextureFormat as Format;

/// Pipelines of the pass.
#[derive(Debug)]
pub struct CubeMips {
    kernel: Kernel,
    edges: CubeEdges,
}

impl CubeMips {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu) -> Self {
        let path = "environment/cube_mips.wgsl";
        let bindings = [FloatArray, StoreArray(Format::Rgba16Float)];
        Self {
            kernel: Kernel::new(gpu, path, "cube_mips", &[], &bindings),
            edges: CubeEdges::new(gpu),
        }
    }

    /// Fills every mip level of `cube` (Rgba16Float) below the first. Any face size works, because coarser
    /// levels share the texels of an odd side.
    pub fn record(&self, gpu: &Gpu, scope: &mut Scope<'_>, cube: &Cube) -> Result<()> {
        let levels: Vec<_> = (0..cube.levels).map(|level| cube.level(level)).collect();
        for (coarser, views) in (1..).zip(levels.windows(2)) {
            let groups = (cube.face >> coarser).max(1).div_ceil(8);
            let texels = Workgroups::Grid([groups, groups, 6]);
            // One pass per mip level. If a pass stores a level and then reads it, wgpu 30 takes the read for
            // the first access. The level is then in the wrong layout (wgpu issue 10199).
            let mut pass = scope.scoped_compute_pass("cube_mips");
            self.kernel
                .dispatch(gpu, &mut pass, &[], &[&views[0], &views[1]], texels)?;
        }
        self.edges.record(gpu, scope, cube)
    }
}
