//! `cube_mips`: the coarser levels of a cube, weighed by exact solid angles.

use super::Cube;
use crate::{
    Result,
    gpu::{
        Gpu,
        pass::{self, Binding},
        profiler::Scope,
        shader,
    },
};
use wgpu::{BindingResource as Resource, TextureFormat as Format};

/// The pass.
#[derive(Debug)]
pub struct CubeMips {
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
}

impl CubeMips {
    /// Compiles it.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let module = shader::module(gpu, "render/environment/cube_mips.wgsl")?;
        let layout = pass::compute_layout(
            gpu,
            "cube_mips",
            &[
                Binding::FloatArray,
                Binding::StoreArray(Format::Rgba16Float),
            ],
        );
        Ok(Self {
            pipeline: pass::compute_pipeline_with(gpu, &module, "cube_mips", Some(&[&layout]))?,
            layout,
        })
    }

    /// Fills every level of `cube`, which is of Rgba16Float, below the first. Faces of any size will do: where a side is odd, texels are shared.
    pub fn record(&self, gpu: &Gpu, scope: &mut Scope<'_>, cube: &Cube) {
        let levels: Vec<_> = (0..cube.levels).map(|level| cube.level(level)).collect();
        let mut pass = scope.scoped_compute_pass("cube_mips");
        pass.set_pipeline(&self.pipeline);
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
    }
}
