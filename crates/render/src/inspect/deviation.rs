//! `deviation`: signed distance of each pixel's surface point from the surface that the scene is compared
//! with.

use super::compared_tree::{ComparedTree, LEAF_CUTOFF};
use crate::{
    aov::Channel,
    frame::{Frame, recording::Recording},
    layout::DeviationParams,
    resources::{GBuffer, try_create},
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

/// Format of a distance in metres, and of the distance over the range of the colours.
const FORMAT: Format = Format::Rg32Float;

/// Pipelines of the pass and its image, which has one texel until it is requested.
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
    /// Creates the pass without compiling its pipelines.
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

    /// Sets the reference surface.
    pub fn set(&mut self, compared: Option<Arc<ComparedTree>>) {
        self.compared = compared;
    }

    /// Returns the reference surface.
    pub fn compared(&self) -> Option<&Arc<ComparedTree>> {
        self.compared.as_ref()
    }

    /// True if a reference surface is set.
    pub fn is_set(&self) -> bool {
        self.compared.is_some()
    }

    /// Measures all pixels if the frame shows the channel. Without a reference surface, the image has one
    /// texel.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        gbuffer: &GBuffer,
    ) -> Result<&GpuImage> {
        let is_wanted = frame.needs_channel(Channel::Deviation);
        let gpu = recording.gpu;
        let Some(compared) = self.compared.as_ref().filter(|_| is_wanted) else {
            if self.output.size() != [1, 1] {
                self.output = image(gpu, [1, 1]);
            }
            return Ok(&self.output);
        };
        if self.output.size() != frame.size {
            self.output = try_create(gpu, frame.size, || image(gpu, frame.size))?;
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

    /// Returns the last measurement.
    pub fn output(&self) -> &GpuImage {
        &self.output
    }
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    GpuImage::new(gpu, "deviation", size, FORMAT, usage)
}
