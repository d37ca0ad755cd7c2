//! `antialias`: smooths the steps of edges in the finished picture by their shape.

use super::targets::{EDGES_FORMAT, PICTURE_FORMAT, Targets};
use crate::{
    Result,
    gpu::{
        Gpu,
        pass::{self, Binding},
        profiler::Scope,
        shader,
    },
};
use std::collections::HashMap;
use wgpu::{BindingResource as Resource, TextureFormat as Format};

/// The pass.
#[derive(Debug)]
pub struct Antialias {
    module: wgpu::ShaderModule,
    edges: Draw,
    weights: Draw,
    blend: Draw,
    stretch: Draw,
    sampler: wgpu::Sampler,
}

/// One of its draws, with a pipeline for each format it has drawn to.
#[derive(Debug)]
struct Draw {
    name: &'static str,
    entry: &'static str,
    layout: wgpu::BindGroupLayout,
    pipelines: HashMap<Format, wgpu::RenderPipeline>,
}

impl Antialias {
    /// Compiles it.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let module = shader::module(gpu, "render/antialias.wgsl")?;
        let draw = |name, entry, bindings: &[Binding], format| {
            let fragment = |binding: &Binding| (wgpu::ShaderStages::FRAGMENT, *binding);
            let bindings: Vec<_> = bindings.iter().map(fragment).collect();
            let mut draw = Draw {
                name,
                entry,
                layout: pass::layout(gpu, entry, &bindings),
                pipelines: HashMap::new(),
            };
            draw.compile(gpu, &module, format).map(|()| draw)
        };
        let float = Binding::Float;
        Ok(Self {
            edges: draw("edges", "edges", &[float], EDGES_FORMAT)?,
            weights: draw("weights", "weights", &[Binding::Uint], PICTURE_FORMAT)?,
            blend: draw("blend", "blend_neighbours", &[float; 2], PICTURE_FORMAT)?,
            stretch: draw(
                "stretch",
                "stretch",
                &[Binding::Filtered, Binding::Sampler],
                PICTURE_FORMAT,
            )?,
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("antialias"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            module,
        })
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
        self.blend
            .compile(gpu, &self.module, smoothed.texture().format())?;
        let Targets {
            picture,
            edges,
            weights,
            ..
        } = targets;
        let [picture, found, shares] =
            [picture, edges, weights].map(|target| Resource::TextureView(&target.view));
        self.edges
            .record(gpu, &mut scope, std::slice::from_ref(&picture), &edges.view);
        self.weights
            .record(gpu, &mut scope, &[found], &weights.view);
        self.blend
            .record(gpu, &mut scope, &[picture, shares], smoothed);
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
        self.stretch
            .compile(gpu, &self.module, target.texture().format())?;
        let resources = [
            Resource::TextureView(&targets.smoothed.view),
            Resource::Sampler(&self.sampler),
        ];
        self.stretch.record(gpu, scope, &resources, target);
        Ok(())
    }
}

impl Draw {
    fn compile(&mut self, gpu: &Gpu, module: &wgpu::ShaderModule, format: Format) -> Result<()> {
        if !self.pipelines.contains_key(&format) {
            let pipeline = pass::cover_pipeline(gpu, module, self.entry, &[&self.layout], format)?;
            self.pipelines.insert(format, pipeline);
        }
        Ok(())
    }

    fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        resources: &[Resource<'_>],
        target: &wgpu::TextureView,
    ) {
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
        pass.set_pipeline(&self.pipelines[&target.texture().format()]);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
    }
}
