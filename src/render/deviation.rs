//! `deviation`: how far what each pixel sees is from the surface that the scene is compared with.

use super::{
    compared_tree::{ComparedTree, LEAF_CUTOFF},
    edges::{GBuffer, fitted},
    frame::Frame,
    recording::Recording,
};
use crate::{
    Result,
    accel::Tree,
    gpu::{
        Gpu, GpuImage, Kernel, Needs, Uniform,
        layout::DeviationParams,
        pass::Binding::{self, Float, Store},
    },
};
use std::sync::Arc;
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

/// Distance in metres, and over the range of the colours.
const FORMAT: Format = Format::Rg32Float;

/// The pass. Its image has one texel until it is asked for.
#[derive(Debug)]
pub struct Deviation {
    kernel: Kernel,
    tree: wgpu::BindGroupLayout,
    params: Uniform<DeviationParams>,
    compared: Option<Arc<ComparedTree>>,
    output: GpuImage,
}

impl Deviation {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Self {
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let bindings = [Binding::Uniform, Float, Binding::Uniform, Store(FORMAT)];
        let path = "render/deviation.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, "deviation", &[(1, &tree)], &bindings),
            tree,
            params: Uniform::new(gpu, "deviation.params"),
            compared: None,
            output: image(gpu, [1, 1]),
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Measures from this surface from now on.
    pub fn set(&mut self, compared: Option<Arc<ComparedTree>>) {
        self.compared = compared;
    }

    /// What it measures from.
    pub fn compared(&self) -> Option<&Arc<ComparedTree>> {
        self.compared.as_ref()
    }

    /// Whether there is a surface to measure from.
    pub fn is_set(&self) -> bool {
        self.compared.is_some()
    }

    /// Measures all pixels where that `is_wanted`. Without a surface to measure from, the image has a texel.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        gbuffer: &GBuffer,
        is_wanted: bool,
    ) -> Result<&GpuImage> {
        let gpu = recording.gpu;
        let Some(compared) = self.compared.as_ref().filter(|_| is_wanted) else {
            if self.output.size() != [1, 1] {
                self.output = image(gpu, [1, 1]);
            }
            return Ok(&self.output);
        };
        if self.output.size() != frame.size {
            self.output = fitted(gpu, frame.size, || image(gpu, frame.size))?;
        }
        self.params.write(
            gpu,
            &DeviationParams {
                offset: (frame.buffers.origin - compared.origin).to_array(),
                leaf_cutoff: LEAF_CUTOFF,
                size: frame.size,
                range: frame.config.deviation.range(compared.size),
                rays: frame.rays(),
                ..DeviationParams::default()
            },
        );
        let tree = compared.tree.bind_group(gpu, &self.tree);
        recording.dispatch_pixels(
            "deviation",
            &self.kernel,
            &[(1, &tree)],
            &[&gbuffer.position, &self.params, &self.output],
            frame.size,
            recording.budget.pixels(),
        )?;
        Ok(&self.output)
    }

    /// What was measured last.
    pub fn output(&self) -> &GpuImage {
        &self.output
    }
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    GpuImage::new(gpu, "deviation", size, FORMAT, usage)
}
