//! `cube_mips`: the coarser levels of a cube, weighed by exact solid angles.

use super::Cube;
use crate::{
    Result,
    gpu::{
        Gpu, Needs, OnDemand,
        pass::{self, Binding},
        profiler::Scope,
    },
};
use wgpu::{BindingResource as Resource, TextureFormat as Format};

/// The pass.
#[derive(Debug)]
pub struct CubeMips {
    layout: wgpu::BindGroupLayout,
    pipeline: OnDemand<wgpu::ComputePipeline>,
}

impl CubeMips {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Self {
        let path = "render/environment/cube_mips.wgsl";
        let layout = pass::compute_layout(
            gpu,
            "cube_mips",
            &[
                Binding::FloatArray,
                Binding::StoreArray(Format::Rgba16Float),
            ],
        );
        Self {
            pipeline: pass::compute_on_demand(path, "cube_mips", &[&layout]),
            layout,
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&self.pipeline);
    }

    /// Fills every level of `cube`, which is of Rgba16Float, below the first. Faces of any size will do: where a side is odd, texels are shared.
    pub fn record(&self, gpu: &Gpu, scope: &mut Scope<'_>, cube: &Cube) -> Result<()> {
        let levels: Vec<_> = (0..cube.levels).map(|level| cube.level(level)).collect();
        let mut pass = scope.scoped_compute_pass("cube_mips");
        pass.set_pipeline(self.pipeline.get(gpu)?);
        for (coarser, views) in (1..).zip(levels.windows(2)) {
            let resources = [
                Resource::TextureView(&views[0]),
                Resource::TextureView(&views[1]),
            ];
            let group = pass::bind_group(gpu, "cube_mips", &self.layout, &resources);
            let groups = (cube.face >> coarser).max(1).div_ceil(8);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(groups, groups, 6);
        }
        Ok(())
    }
}
