//! `antialias`: smooths the steps of edges in the finished picture by their shape.

use super::targets::{EDGES_FORMAT, PICTURE_FORMAT, Targets};
use crate::{
    Result,
    gpu::{
        Gpu, Needs,
        pass::{self, Binding, CoverPipelines},
        profiler::Scope,
    },
};
use wgpu::{BindingResource as Resource, TextureFormat as Format};

/// The pass.
#[derive(Debug)]
pub struct Antialias {
    edges: Draw,
    weights: Draw,
    blend: Draw,
    stretch: Draw,
    sampler: wgpu::Sampler,
}

/// One of its draws.
#[derive(Debug)]
struct Draw {
    name: &'static str,
    entry: &'static str,
    layout: wgpu::BindGroupLayout,
    pipelines: CoverPipelines,
}

impl Antialias {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Self {
        let draw = |name, entry, bindings: &[Binding]| {
            let fragment = |binding: &Binding| (wgpu::ShaderStages::FRAGMENT, *binding);
            let bindings: Vec<_> = bindings.iter().map(fragment).collect();
            let layout = pass::layout(gpu, entry, &bindings);
            Draw {
                name,
                entry,
                pipelines: CoverPipelines::new("render/antialias.wgsl", entry, &layout),
                layout,
            }
        };
        let float = Binding::Float;
        let stretched = [Binding::Filtered, Binding::Sampler];
        Self {
            edges: draw("edges", "edges", &[float]),
            weights: draw("weights", "weights", &[Binding::Uint]),
            blend: draw("blend", "blend_neighbours", &[float; 2]),
            stretch: draw("stretch", "stretch", &stretched),
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("antialias"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
        }
    }

    /// What it compiles to smooth a picture into a target of `format`, which may be `stretched`.
    pub fn needs(&mut self, format: Format, stretched: bool, needs: &mut Needs) {
        needs.add(self.edges.pipelines.of(EDGES_FORMAT));
        needs.add(self.weights.pipelines.of(PICTURE_FORMAT));
        let smoothed = if stretched { PICTURE_FORMAT } else { format };
        needs.add(self.blend.pipelines.of(smoothed));
        if stretched {
            self.needs_stretch(format, needs);
        }
    }

    /// What it compiles to stretch a picture into a target of `format`.
    pub fn needs_stretch(&mut self, format: Format, needs: &mut Needs) {
        needs.add(self.stretch.pipelines.of(format));
    }

    /// Smooths the picture of `targets` into `target`, which may be larger.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        targets: &Targets,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let mut scope = scope.scope("antialias");
        let same_size = targets.fits(target);
        let smoothed = if same_size {
            target
        } else {
            &targets.smoothed.view
        };
        let Targets {
            picture,
            edges,
            weights,
            ..
        } = targets;
        let [picture, found, shares] =
            [picture, edges, weights].map(|target| Resource::TextureView(&target.view));
        self.edges
            .record(gpu, &mut scope, std::slice::from_ref(&picture), &edges.view)?;
        self.weights
            .record(gpu, &mut scope, &[found], &weights.view)?;
        self.blend
            .record(gpu, &mut scope, &[picture, shares], smoothed)?;
        if same_size {
            return Ok(());
        }
        self.stretch(gpu, &mut scope, targets, target)
    }

    /// Brings what is smooth already to a larger `target`.
    pub fn stretch(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        targets: &Targets,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let resources = [
            Resource::TextureView(&targets.smoothed.view),
            Resource::Sampler(&self.sampler),
        ];
        self.stretch.record(gpu, scope, &resources, target)
    }
}

impl Draw {
    fn record(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        resources: &[Resource<'_>],
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let pipeline = self.pipelines.of(target.texture().format()).get(gpu)?;
        let group = pass::bind_group(gpu, self.entry, &self.layout, resources);
        let mut pass = scope.scoped_render_pass(
            self.name,
            wgpu::RenderPassDescriptor {
                label: Some(self.entry),
                color_attachments: &[Some(pass::color(
                    target,
                    wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                ))],
                ..Default::default()
            },
        );
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
        Ok(())
    }
}
