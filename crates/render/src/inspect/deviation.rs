//! `deviation`: how far what each pixel sees is from the surface that the scene is compared with.

use super::compared_tree::{ComparedTree, LEAF_CUTOFF};
use crate::{
    aov::Channel,
    edges::{GBuffer, fitted},
    frame::{Frame, recording::Recording},
    layout::DeviationParams,
};
use canopy_bvh::{
    Result,
    accel::{Moments, Tree},
    gpu::{
        Bind, Gpu, GpuImage, Kernel, Uniform,
        pass::Binding::{self, Float, Read, Store},
    },
};
use std::sync::Arc;
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

/// Distance in metres, and over the range of the colours.
const FORMAT: Format = Format::Rg32Float;

/// The pass. Its image has one texel until it is asked for.
#[derive(Debug)]
pub struct Deviation {
    closed: Kernel,
    open: Kernel,
    tree: wgpu::BindGroupLayout,
    params: Uniform<DeviationParams>,
    compared: Option<Arc<ComparedTree>>,
    output: GpuImage,
}

impl Deviation {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Self {
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let kernel = |entry, moments: &[Binding]| {
            let bindings = [Binding::Uniform, Float, Binding::Uniform, Store(FORMAT)];
            let bindings = [&bindings, moments].concat();
            let path = "inspect/deviation.wgsl";
            Kernel::new(gpu, path, entry, &[(1, &tree)], &bindings)
        };
        Self {
            closed: kernel("deviation", &[Read]),
            open: kernel("deviation_open", &[]),
            tree,
            params: Uniform::new(gpu, "deviation.params"),
            compared: None,
            output: image(gpu, [1, 1]),
        }
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

    /// Measures all pixels where the frame wants it. Without a surface to measure from, the image has a texel.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        gbuffer: &GBuffer,
    ) -> Result<&GpuImage> {
        let is_wanted = frame.wants(Channel::Deviation);
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
                first_node: compared.moments.as_ref().map_or(0, Moments::first_node),
                rays: frame.rays(),
            },
        );
        let tree = compared.tree.bind_group(gpu, &self.tree);
        let mut own: Vec<&dyn Bind> = vec![&gbuffer.position, &self.params, &self.output];
        let kernel = match &compared.moments {
            Some(moments) => {
                own.push(moments.buffer());
                &self.closed
            }
            None => &self.open,
        };
        recording.dispatch_pixels(
            "deviation",
            kernel,
            &[(1, &tree)],
            &own,
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
