//! `accumulate`: the frames of a supersampled picture, summed, and their mean.

use super::{FrameInput, targets::Targets};
use crate::{
    Result,
    gpu::{
        Gpu, Needs, OnDemand,
        layout::AccumulateParams,
        pass::{self, Binding, CoverPipelines},
        profiler::Scope,
    },
};
use glam::Vec2;
use wgpu::{BindingResource as Resource, BufferUsages as Buffer, TextureFormat as Format};

/// Which of the frames of a picture this is. Frames of one picture differ by where in their pixels they look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// From 0; they come in order.
    pub index: u32,
    /// Frames of the picture.
    pub count: u32,
}

impl Sample {
    /// A picture of one frame.
    pub const SINGLE: Self = Self { index: 0, count: 1 };

    /// Where the frame looks, in pixels from their middles, x to the right and y down: from −½ to ½, and the first at 0.
    ///
    /// Points of the R₂ sequence (Roberts 2018, "The Unreasonable Effectiveness of Quasirandom Sequences"): any number of them is spread evenly,
    /// so their mean goes towards that over the pixel's square.
    pub fn offset(self) -> Vec2 {
        // 1/φ and 1/φ² of the plastic number φ, the root of φ³ = φ + 1.
        let step = [0.754_877_666_246_692_7_f64, 0.569_840_290_998_053_2];
        let along = |step: f64| ((0.5 + f64::from(self.index) * step).fract() - 0.5) as f32;
        Vec2::from(step.map(along))
    }

    /// Whether the picture is done with this frame.
    pub fn is_last(self) -> bool {
        self.index + 1 >= self.count
    }
}

/// The pass, with its sums.
#[derive(Debug)]
pub struct Accumulate {
    layout: wgpu::BindGroupLayout,
    pipeline: OnDemand<wgpu::ComputePipeline>,
    resolve_layout: wgpu::BindGroupLayout,
    resolve: CoverPipelines,
    exposure: wgpu::Buffer,
    sums: Sums,
}

/// Two floats of four a pixel, however many frames there are.
#[derive(Debug)]
struct Sums {
    size: [u32; 2],
    shown: wgpu::Buffer,
    radiance: wgpu::Buffer,
}

impl Accumulate {
    /// Ready to be compiled, for pictures that are exposed as `exposure` says.
    pub fn new(gpu: &Gpu, exposure: &wgpu::Buffer) -> Result<Self> {
        let path = "render/accumulate.wgsl";
        let layout = pass::compute_layout(
            gpu,
            "accumulate",
            &[
                Binding::Uniform,
                Binding::Float,
                Binding::Write,
                Binding::Write,
                Binding::Uniform,
                Binding::Float,
            ],
        );
        let fragment = wgpu::ShaderStages::FRAGMENT;
        let shown = [(fragment, Binding::Uniform), (fragment, Binding::Read)];
        let resolve_layout = pass::layout(gpu, "resolve", &shown);
        Ok(Self {
            pipeline: pass::compute_on_demand(path, "accumulate", &[&layout]),
            layout,
            resolve: CoverPipelines::new(path, "resolve", &resolve_layout),
            resolve_layout,
            exposure: exposure.clone(),
            sums: Sums::new(gpu, [1, 1])?,
        })
    }

    /// What it compiles, for a mean that goes to targets of `format`.
    pub fn needs(&mut self, format: Format, needs: &mut Needs) {
        needs.add(&self.pipeline);
        needs.add(self.resolve.of(format));
    }

    /// Adds the frame in `targets`.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        input: &FrameInput<'_>,
        sample: Sample,
        targets: &Targets,
    ) -> Result<()> {
        if self.sums.size != targets.size {
            self.sums = Sums::new(gpu, targets.size)?;
        }
        let params = params(gpu, input, sample, targets);
        let resources = [
            params.as_entire_binding(),
            Resource::TextureView(&targets.hdr.view),
            self.sums.shown.as_entire_binding(),
            self.sums.radiance.as_entire_binding(),
            self.exposure.as_entire_binding(),
            Resource::TextureView(&targets.display.view),
        ];
        let group = pass::bind_group(gpu, "accumulate", &self.layout, &resources);
        let mut pass = scope.scoped_compute_pass("accumulate");
        pass.set_pipeline(self.pipeline.get(gpu)?);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(targets.size[0].div_ceil(8), targets.size[1].div_ceil(8), 1);
        Ok(())
    }

    /// Draws the mean to `target`, which has the frames' size.
    pub fn resolve(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        input: &FrameInput<'_>,
        sample: Sample,
        targets: &Targets,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let pipeline = self.resolve.of(target.texture().format()).get(gpu)?;
        let params = params(gpu, input, sample, targets);
        let resources = [
            params.as_entire_binding(),
            self.sums.shown.as_entire_binding(),
        ];
        let group = pass::bind_group(gpu, "resolve", &self.resolve_layout, &resources);
        let mut pass = scope.scoped_render_pass(
            "resolve",
            wgpu::RenderPassDescriptor {
                label: Some("resolve"),
                color_attachments: &[Some(pass::color(
                    target,
                    wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                ))],
                ..Default::default()
            },
        );
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
        Ok(())
    }

    /// The mean radiance of `frames` frames, waiting for it: four floats a pixel.
    pub fn read(&self, gpu: &Gpu, frames: u32) -> Result<Vec<[f32; 4]>> {
        let [width, height] = self.sums.size.map(|side| side as usize);
        let bytes = gpu.read(&self.sums.radiance)?;
        let sums: Vec<[f32; 4]> = bytemuck::pod_collect_to_vec(&bytes[..16 * width * height]);
        let mean = |sum: &[f32; 4]| sum.map(|channel| channel / frames as f32);
        Ok(sums.iter().map(mean).collect())
    }
}

impl Sums {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self> {
        let bytes = 16 * u64::from(size[0]) * u64::from(size[1]);
        let what = format!("the sums of {} × {} pixels' samples", size[0], size[1]);
        gpu.check_binding(&what, bytes)?;
        let usage = Buffer::STORAGE | Buffer::COPY_SRC;
        gpu.catch(|| Self {
            size,
            shown: gpu.buffer("accumulate.shown", bytes, usage),
            radiance: gpu.buffer("accumulate.radiance", bytes, usage),
        })
    }
}

fn params(gpu: &Gpu, input: &FrameInput<'_>, sample: Sample, targets: &Targets) -> wgpu::Buffer {
    let params = AccumulateParams {
        curve: input.config.image.tonemap as u32,
        index: sample.index,
        width: targets.size[0],
    };
    gpu.buffer_with("accumulate.params", &[params], Buffer::UNIFORM)
}
