//! `cube_mips`: the coarser levels of a cube, weighed by exact solid angles.

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

/// The pass.
#[derive(Debug)]
pub struct CubeMips {
    kernel: Kernel,
    edges: CubeEdges,
}

impl CubeMips {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Self {
        let path = "environment/cube_mips.wgsl";
        let bindings = [FloatArray, StoreArray(Format::Rgba16Float)];
        Self {
            kernel: Kernel::new(gpu, path, "cube_mips", &[], &bindings),
            edges: CubeEdges::new(gpu),
        }
    }

    /// Fills every level of `cube`, which is of Rgba16Float, below the first. Faces of any size will do:
    /// where a side is odd, texels are shared.
    pub fn record(&self, gpu: &Gpu, scope: &mut Scope<'_>, cube: &Cube) -> Result<()> {
        let levels: Vec<_> = (0..cube.levels).map(|level| cube.level(level)).collect();
        for (coarser, views) in (1..).zip(levels.windows(2)) {
            let groups = (cube.face >> coarser).max(1).div_ceil(8);
            let texels = Workgroups::Grid([groups, groups, 6]);
            // A pass a level: where one pass stores a level and reads it, wgpu 30 takes the second for what comes
            // first, and the level is in the wrong layout (wgpu's issue 10199).
            let mut pass = scope.scoped_compute_pass("cube_mips");
            self.kernel
                .dispatch(gpu, &mut pass, &[], &[&views[0], &views[1]], texels)?;
        }
        self.edges.record(gpu, scope, cube)
    }
}
