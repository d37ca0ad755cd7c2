//! The common form of a pass: a pipeline that is compiled on first use, its own bind group, and bind groups
//! that it shares with other passes.
//!
//! A pass declares its bindings once (`new`), and then supplies resources for them (`dispatch`, `draw`).
//! Bindings and resources are in the order of its shader.

use super::{
    bind::{Bind, bind_group},
    device::Gpu,
    lazy_pipeline::{LazyPipeline, PipelineSet},
    pass::{self, Binding},
    pipelines::PipelineKey,
    shader::{self, Replaced},
};
use crate::Result;
use std::{
    array,
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Compute entry point.
#[derive(Debug)]
pub struct Kernel {
    entry: &'static str,
    pipeline: LazyPipeline<wgpu::ComputePipeline>,
    layout: wgpu::BindGroupLayout,
    /// Index of its own bind group: the lowest index that no shared group has.
    own: u32,
}

/// Kernels of one entry point, one for each set of optional parts that it includes. A branch that no thread
/// takes may still cost registers on GPUs, and costs all its instructions on software adapters. Each part is
/// a `bool` `override` constant of the shader.
#[derive(Debug)]
pub struct Variants<const PARTS: usize> {
    /// Kernels by the set of included parts, with the first part as the lowest bit.
    kernels: Vec<Kernel>,
}

impl<const PARTS: usize> Variants<PARTS> {
    /// Creates all variants, which are compiled on first use. `kernel` creates the kernel with the given
    /// constants.
    pub fn new(parts: [&'static str; PARTS], kernel: impl Fn(&[(&'static str, f64)]) -> Kernel) -> Self {
        let has = |set: u32, part: usize| f64::from((set >> part) & 1);
        let constants = |set| array::from_fn::<_, PARTS, _>(|part| (parts[part], has(set, part)));
        let sets = 0..1 << PARTS;
        Self {
            kernels: sets.map(|set| kernel(&constants(set))).collect(),
        }
    }

    /// Returns the kernel with these parts.
    pub fn get(&self, has: [bool; PARTS]) -> &Kernel {
        let set = (0..PARTS).map(|part| usize::from(has[part]) << part);
        &self.kernels[set.sum::<usize>()]
    }
}

/// Number of workgroups in a dispatch.
#[derive(Debug, Clone, Copy)]
pub enum Workgroups<'a> {
    /// Total number of workgroups, laid out by [`pass::dispatch`].
    Count(u32),
    /// Number of workgroups along each axis.
    Grid([u32; 3]),
    /// Width and height in pixels, with one workgroup per tile of 8 × 8.
    Pixels([u32; 2]),
    /// Workgroup counts that the GPU has written at this byte offset of the buffer.
    Indirect(&'a wgpu::Buffer, u64),
}

impl Kernel {
    /// Creates a kernel from the compute shader `entry` of `path`, which is compiled on first use. `shared`
    /// are the layouts of bind groups that other kernels use too, by index. The kernel's own group, with the
    /// bindings `bindings`, gets the lowest free index. Other indices may stay without a group.
    pub fn new(
        gpu: &Gpu,
        path: &'static str,
        entry: &'static str,
        shared: &[(u32, &wgpu::BindGroupLayout)],
        bindings: &[Binding],
    ) -> Self {
        Self::with_constants(gpu, path, entry, shared, bindings, &[])
    }

    /// Creates a kernel like [`Kernel::new`], with values for `override` constants of the shader.
    pub fn with_constants(
        gpu: &Gpu,
        path: &'static str,
        entry: &'static str,
        shared: &[(u32, &wgpu::BindGroupLayout)],
        bindings: &[Binding],
        constants: &[(&'static str, f64)],
    ) -> Self {
        Self::with_text(gpu, path, entry, shared, bindings, constants, None)
    }

    /// Creates a kernel like [`Kernel::with_constants`], with your source instead of a file of the library.
    pub fn with_text(
        gpu: &Gpu,
        path: &'static str,
        entry: &'static str,
        shared: &[(u32, &wgpu::BindGroupLayout)],
        bindings: &[Binding],
        constants: &[(&'static str, f64)],
        replaced: Option<Replaced>,
    ) -> Self {
        let layout = pass::compute_layout(gpu, entry, bindings);
        let mut own = 0;
        while shared.iter().any(|(index, _)| *index == own) {
            own += 1;
        }
        let last = shared.iter().map(|(index, _)| *index).fold(own, u32::max);
        let mut groups = vec![None; last as usize + 1];
        for (index, group) in shared {
            groups[*index as usize] = Some((*group).clone());
        }
        groups[own as usize] = Some(layout.clone());
        let constants = constants.to_vec();
        let pipeline = LazyPipeline::new(entry, move |gpu| {
            let layouts: Vec<_> = groups.iter().map(Option::as_ref).collect();
            let compile = |module: wgpu::ShaderModule| {
                pass::compute_pipeline_of(gpu, &module, entry, Some(&layouts), &constants)
            };
            if let Some(replaced) = &replaced {
                return compile(shader::module_with(gpu, path, replaced)?);
            }
            let text = format!("{path} {entry} {constants:?}");
            let key = PipelineKey::new(gpu.capabilities.shader_choices(), &groups, text);
            gpu.pipelines.compute(key, || compile(shader::module(gpu, path)?))
        });
        Self {
            entry,
            pipeline,
            layout,
            own,
        }
    }

    /// Adds its pipeline to the set of pipelines to compile.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        set.add(&self.pipeline);
    }

    /// Records one dispatch into `pass`, with the `shared` groups by index and `own` in the order of the
    /// bindings.
    ///
    /// # Errors
    ///
    /// A compilation error, if the pipeline was not compiled before.
    pub fn dispatch(
        &self,
        gpu: &Gpu,
        pass: &mut wgpu::ComputePass<'_>,
        shared: &[(u32, &wgpu::BindGroup)],
        own: &[&dyn Bind],
        workgroups: Workgroups<'_>,
    ) -> Result<()> {
        self.dispatch_bound(gpu, pass, shared, &self.bind(gpu, own), workgroups)
    }

    /// Creates its own bind group for [`Kernel::dispatch_bound`]. `own` is in the order of the bindings.
    pub fn bind(&self, gpu: &Gpu, own: &[&dyn Bind]) -> wgpu::BindGroup {
        bind_group(gpu, self.entry, &self.layout, own)
    }

    /// Records a dispatch like [`Kernel::dispatch`], with a bind group that was created before.
    ///
    /// # Errors
    ///
    /// The errors of [`Kernel::dispatch`].
    pub fn dispatch_bound(
        &self,
        gpu: &Gpu,
        pass: &mut wgpu::ComputePass<'_>,
        shared: &[(u32, &wgpu::BindGroup)],
        own: &wgpu::BindGroup,
        workgroups: Workgroups<'_>,
    ) -> Result<()> {
        let Some(pipeline) = self.pipeline.get_or_collect(gpu)? else {
            return Ok(());
        };
        pass.set_pipeline(&pipeline);
        for (index, group) in shared {
            pass.set_bind_group(*index, *group, &[]);
        }
        pass.set_bind_group(self.own, own, &[]);
        workgroups.dispatch(pass);
        Ok(())
    }
}

impl Workgroups<'_> {
    fn dispatch(self, pass: &mut wgpu::ComputePass<'_>) {
        match self {
            Self::Count(count) => pass::dispatch(pass, count),
            Self::Grid([x, y, z]) => pass.dispatch_workgroups(x, y, z),
            Self::Pixels([width, height]) => {
                pass.dispatch_workgroups(width.div_ceil(8), height.div_ceil(8), 1);
            }
            Self::Indirect(buffer, offset) => pass.dispatch_workgroups_indirect(buffer, offset),
        }
    }
}

/// Full-screen pass: a fragment entry point with a pipeline for each format of its single target.
#[derive(Debug)]
pub struct FullscreenPass {
    path: &'static str,
    entry: &'static str,
    layout: wgpu::BindGroupLayout,
    by_format: Mutex<HashMap<wgpu::TextureFormat, LazyPipeline<wgpu::RenderPipeline>>>,
}

impl FullscreenPass {
    /// Creates a full-screen pass from the fragment shader `entry` of `path`, whose vertex shader is
    /// `fullscreen`. It is compiled on first use. Group 0 has the bindings `bindings`.
    pub fn new(gpu: &Gpu, path: &'static str, entry: &'static str, bindings: &[Binding]) -> Self {
        let bindings: Vec<_> = bindings
            .iter()
            .map(|binding| (wgpu::ShaderStages::FRAGMENT, *binding))
            .collect();
        Self {
            path,
            entry,
            layout: pass::layout(gpu, entry, &bindings),
            by_format: Mutex::default(),
        }
    }

    /// Draws over the full target of `pass`, which has this `format`. `own` is in the order of the bindings.
    ///
    /// # Errors
    ///
    /// Any compilation error.
    pub fn draw(
        &self,
        gpu: &Gpu,
        pass: &mut wgpu::RenderPass<'_>,
        format: wgpu::TextureFormat,
        own: &[&dyn Bind],
    ) -> Result<()> {
        let group = bind_group(gpu, self.entry, &self.layout, own);
        if let Some(pipeline) = self.pipeline(format).get_or_collect(gpu)? {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.draw(0..3, 0..1);
        }
        Ok(())
    }

    /// Adds the pipeline for targets of `format` to the set of pipelines to compile.
    pub fn pipelines(&self, format: wgpu::TextureFormat, set: &mut PipelineSet) {
        set.add(&self.pipeline(format));
    }

    fn pipeline(&self, format: wgpu::TextureFormat) -> LazyPipeline<wgpu::RenderPipeline> {
        let mut by_format = self.by_format.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || pass::fullscreen_pipeline(self.path, self.entry, &self.layout, format);
        by_format.entry(format).or_insert_with(new).clone()
    }
}
