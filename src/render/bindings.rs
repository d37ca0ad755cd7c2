//! Bind group layouts that several passes share: the frame (group 0), the scene (group 2), a material (group 3). The tree is group 1.

use crate::gpu::{
    Gpu,
    pass::{self, Binding},
};
use wgpu::ShaderStages;

/// The shared layouts.
#[derive(Debug)]
pub struct Layouts {
    /// `common/frame.wgsl`, `common/light.wgsl`, `common/shadow_map.wgsl`.
    pub frame: wgpu::BindGroupLayout,
    /// `common/bvh.wgsl`.
    pub tree: wgpu::BindGroupLayout,
    /// `common/scene.wgsl`.
    pub scene: wgpu::BindGroupLayout,
    /// `common/material.wgsl`.
    pub material: wgpu::BindGroupLayout,
}

impl Layouts {
    /// Makes them.
    pub fn new(gpu: &Gpu) -> Self {
        const ALL: ShaderStages = ShaderStages::VERTEX_FRAGMENT.union(ShaderStages::COMPUTE);
        const RAYS: ShaderStages = ShaderStages::FRAGMENT.union(ShaderStages::COMPUTE);
        let material = {
            let mut bindings = vec![(ShaderStages::FRAGMENT, Binding::Uniform)];
            bindings.extend([(ShaderStages::FRAGMENT, Binding::Filtered); 5]);
            bindings.extend([(ShaderStages::FRAGMENT, Binding::Sampler); 5]);
            pass::layout(gpu, "material", &bindings)
        };
        Self {
            frame: pass::layout(
                gpu,
                "frame",
                &[
                    (ALL, Binding::Uniform),
                    (RAYS, Binding::Uniform),
                    (RAYS, Binding::Uniform),
                    (RAYS, Binding::DepthArray),
                    (RAYS, Binding::Compare),
                ],
            ),
            tree: crate::accel::Tree::layout(gpu, RAYS),
            // Eight storage buffers a stage: frames are for vertices alone, so that rays have room for the trees and a counter.
            scene: pass::layout(
                gpu,
                "scene",
                &[
                    (ShaderStages::VERTEX | ShaderStages::COMPUTE, Binding::Read),
                    (ShaderStages::VERTEX, Binding::Read),
                    (ALL, Binding::Read),
                    (ALL, Binding::Read),
                    (RAYS, Binding::Read),
                ],
            ),
            material,
        }
    }
}
